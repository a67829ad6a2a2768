/* flops.h: floating-point operations of an instruction, for rooflines. Additions and multiplications count one, a
 * multiply-add two, a packed instruction those of both halves. Comparisons, conversions, minima, roundings and
 * transcendental functions count nothing, as in the counts of NVIDIA instructions. */
#ifndef ISA_AMD_FLOPS_H
#define ISA_AMD_FLOPS_H

#include "isa/amd/amd.h"

typedef enum amd_flops_type { AMD_FLOPS_HALF, AMD_FLOPS_SINGLE, AMD_FLOPS_DOUBLE } amd_flops_type;

typedef struct amd_flops {
    uint8_t count; /* of one lane; 0: none */
    amd_flops_type type;
} amd_flops;

amd_flops amd_op_flops(amd_op op);

#endif

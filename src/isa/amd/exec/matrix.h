/* matrix.h: what matrix instructions (v_mfma_*, v_smfmac_*) do. */
#ifndef ISA_AMD_EXEC_MATRIX_H
#define ISA_AMD_EXEC_MATRIX_H

#include "isa/amd/exec/wave.h"

/* The shape of one instruction, from matrix.def. */
typedef struct amd_matrix {
    uint8_t m, n, k; /* D is m x n; k is the length of the products. 0: no such instruction */
    uint8_t blocks;  /* independent products beside each other */
    uint8_t a, b, c; /* matrix_type of A, B, and of C and D */
    bool sparse;     /* A holds two of every four values along k; the third source says which */
} amd_matrix;

/* The shape of an operation, or NULL if it is no matrix instruction. */
const amd_matrix *amd_matrix_of(unsigned op);

/* All lanes take part, whatever EXEC says. */
void amd_matrix_body(amd_wave *wave, const amd_inst *inst);

#endif

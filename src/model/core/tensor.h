/* tensor.h: how long matrix instructions take: from their shape and types and the platform's peak rates.
 *
 * A sub-core has its share of the SM's multiply-adds per cycle (FMA). An instruction of one warp (HMMA, IMMA,
 * DMMA, BMMA, QMMA) takes M * N * K of them. A sparse one takes half, because the K in its name is that of the
 * dense matrix. Its result comes base + pass_cycles per 128 bits of K later, and not before its interval + 2.
 * A warp-group instruction (HGMMA, ...) is M = 64 for four warps, one in each sub-core. It also reads B, and A
 * unless that is in registers, from shared memory. It takes as long as the slower of both, and its result
 * comes at its end. */
#ifndef CORE_TENSOR_H
#define CORE_TENSOR_H

#include "isa/inst.h"

#include <stdbool.h>

typedef enum tensor_groups { TENSOR_GROUPS_WARPS, TENSOR_GROUPS_LOCKSTEP } tensor_groups;

typedef struct tensor_spec {
    uint64_t fma[LS_TENSOR_TYPES]; /* multiply-adds per cycle and SM, by type; 0: no rate, the class counts */
    uint64_t warp_percent;         /* of fma, what instructions of one warp reach */
    uint64_t base_cycles, pass_cycles;
    uint32_t groups; /* tensor_groups */
} tensor_spec;

typedef struct tensor_cost {
    uint32_t latency, interval;
} tensor_cost;

/* In 1/65536 cycles per multiply-add. */
typedef struct tensor_rates {
    uint32_t warp[LS_TENSOR_TYPES], group[LS_TENSOR_TYPES];
    uint32_t base, pass, shared_bytes, latency_max;
} tensor_rates;

void tensor_init(tensor_rates *rates, const tensor_spec *spec, uint32_t sub_cores,
                 uint32_t shared_bytes_per_cycle, uint32_t latency_max);
/* False if the class's numbers count: no matrix instruction, a shape or type that is not known, or no rate. */
bool tensor_cost_of(const tensor_rates *rates, const ls_inst *inst, tensor_cost *out);
/* Cycles for which a warp-group instruction reads its operands from shared memory; 0 for others. */
uint32_t tensor_reads(const tensor_rates *rates, const ls_inst *inst);

#endif

/* tensor.c: see tensor.h. */
#include "model/core/tensor.h"

#define ONE 65536u
#define PASS_BITS 128u /* of K that tensor cores take at a time */
#define DRAIN 2u       /* cycles from the end of an interval to its result: huerta's simulator, 32 + 2 */

void tensor_init(tensor_rates *rates, const tensor_spec *spec, uint32_t sub_cores,
                 uint32_t shared_bytes_per_cycle, uint32_t latency_max)
{
    *rates = (tensor_rates){ .base = (uint32_t)spec->base_cycles,
                             .pass = (uint32_t)spec->pass_cycles,
                             .shared_bytes = shared_bytes_per_cycle,
                             .latency_max = latency_max };
    for (uint32_t type = 0; type < LS_TENSOR_TYPES; type++) {
        uint64_t fma = spec->fma[type];
        /* Doubles have no warp-group instruction: those of a warp reach the whole rate. */
        uint64_t percent = type == LS_TENSOR_FP64 ? 100 : spec->warp_percent;
        if (fma == 0)
            continue;
        rates->group[type] = (uint32_t)(ONE / fma > 0 ? ONE / fma : 1);
        rates->warp[type] = (uint32_t)((uint64_t)ONE * sub_cores * 100 / (fma * percent));
        rates->warp[type] = rates->warp[type] > 0 ? rates->warp[type] : 1;
    }
}

static uint32_t rounded(uint64_t cycles)
{
    uint64_t whole = (cycles + ONE / 2) / ONE;
    return whole > 0 ? (uint32_t)whole : 1;
}

uint32_t tensor_reads(const tensor_rates *rates, const ls_inst *inst)
{
    const uint32_t kind = inst->tensor_kind, sparse = (kind & LS_TENSOR_SPARSE) != 0;
    if ((kind & LS_TENSOR_GROUP) == 0)
        return 0;
    const uint32_t n = inst->tensor_n8 * 8u;
    const uint32_t k_bits = inst->tensor_k4 * 4u * tensor_bits(kind & LS_TENSOR_TYPE_MASK);
    const uint32_t a_bytes = (kind & LS_TENSOR_A_REGISTERS) != 0 ? 0 : (64 * k_bits / 8) >> sparse;
    return (a_bytes + n * k_bits / 8 + rates->shared_bytes - 1) / rates->shared_bytes;
}

bool tensor_cost_of(const tensor_rates *rates, const ls_inst *inst, tensor_cost *out)
{
    if (!ls_inst_is_tensor(inst))
        return false;
    const uint32_t kind = inst->tensor_kind, type = kind & LS_TENSOR_TYPE_MASK;
    const uint32_t rate = (kind & LS_TENSOR_GROUP) != 0 ? rates->group[type] : rates->warp[type];
    if (rate == 0)
        return false;
    const uint32_t sparse = (kind & LS_TENSOR_SPARSE) != 0, n = inst->tensor_n8 * 8u, k = inst->tensor_k4 * 4u;
    const uint32_t k_bits = k * tensor_bits(type);
    if ((kind & LS_TENSOR_GROUP) != 0) {
        const uint32_t read = tensor_reads(rates, inst);
        const uint32_t computed = rounded((uint64_t)((64 * n * k) >> sparse) * rate);
        out->interval = read > computed ? read : computed;
        out->latency = out->interval;
    } else {
        const uint32_t m = (kind & LS_TENSOR_M16) != 0 ? 16 : 8;
        uint32_t fma = (m * n * k) >> sparse;
        /* Volta: HMMA.884 is 1024 multiply-adds in 4 steps with FP32 sums, in 2 with FP16 sums. */
        if (m == 8 && k == 4 && type == LS_TENSOR_FP16_SUM16)
            fma *= 2;
        out->interval = rounded((uint64_t)fma * rate);
        const uint32_t passes = ((k_bits >> sparse) + PASS_BITS - 1) / PASS_BITS;
        out->latency = rates->base + rates->pass * passes;
        if (out->latency < out->interval + DRAIN)
            out->latency = out->interval + DRAIN;
    }
    if (out->latency > rates->latency_max)
        out->latency = rates->latency_max;
    return true;
}

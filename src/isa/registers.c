/* registers.c: the part of registers.h that few instructions need. */
#include "isa/registers.h"

/* No general register, which long operands are, is in the set: the common case while a warp waits for others. */
static inline bool without_general(const uint64_t set[REG_WORDS])
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < LS_REG_UNIFORM / 64; i++)
        all |= set[i];
    return all == 0;
}

/* The operand i of the sources may lie in several words. Apart, so that the common way saves no registers for it. */
static __attribute__((noinline)) uint32_t first_span_from(const ls_inst *inst, const uint64_t set[REG_WORDS],
                                                          uint32_t i)
{
    for (; i < inst->src_count; i++) {
        const uint32_t first = reg_set_first(set, inst->src[i], inst_src_end(inst, i, true));
        if (first != LS_REG_COUNT)
            return first;
    }
    for (i = 0; i < inst->dst_count; i++)
        if (reg_set_has(set, inst->dst[i]))
            return inst->dst[i];
    return inst->dst_count > 0 && inst->dst_span > 1
               ? reg_set_first(set, inst->dst[0] + 1u, inst_dst_end(inst, 0, true))
               : LS_REG_COUNT;
}

uint32_t inst_first_span_in_set(const ls_inst *inst, const uint64_t set[REG_WORDS])
{
    const bool others = without_general(set);
    for (uint32_t i = 0; i < inst->src_count; i++) {
        const uint32_t reg = inst->src[i], shift = reg & 63;
        if (others && reg_is_general(reg))
            continue;
        const uint32_t count = inst_src_end(inst, i, true) - reg;
        if (shift + count > 63)
            return first_span_from(inst, set, i);
        const uint64_t found = set[reg >> 6] >> shift & ((UINT64_C(1) << count) - 1);
        if (found != 0)
            return reg + (uint32_t)__builtin_ctzll(found);
    }
    const uint32_t results = inst->dst_count;
    if (results > 0 && !(results == 1 && others && reg_is_general(inst->dst[0])))
        return first_span_from(inst, set, inst->src_count);
    return LS_REG_COUNT;
}

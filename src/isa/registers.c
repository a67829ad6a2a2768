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

uint32_t inst_first_span_in_set(const ls_inst *inst, const uint64_t set[REG_WORDS])
{
    const bool others = without_general(set);
    for (uint32_t i = 0; i < inst->src_count; i++) {
        const uint32_t reg = inst->src[i];
        if (others && reg_is_general(reg))
            continue;
        if (reg_set_has(set, reg))
            return reg;
        if (inst->src_span[i] > 1) {
            uint32_t more = reg_set_first(set, reg + 1, inst_src_end(inst, i, true));
            if (more != LS_REG_COUNT)
                return more;
        }
    }
    for (uint32_t i = 0; i < inst->dst_count; i++)
        if (reg_set_has(set, inst->dst[i]))
            return inst->dst[i];
    if (inst->dst_count > 0 && inst->dst_span > 1 && !(others && reg_is_general(inst->dst[0])))
        return reg_set_first(set, inst->dst[0] + 1u, inst_dst_end(inst, 0, true));
    return LS_REG_COUNT;
}

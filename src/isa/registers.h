/* registers.h: the one place for the rules about registers of an instruction (lockstep/inst.h): which ones an
 * operand covers, which of them never change, and sets of them. Decoder, cores and profiler use these rules. */
#ifndef ISA_REGISTERS_H
#define ISA_REGISTERS_H

#include "lockstep/inst.h"
#include "lockstep/version.h"

#include <stdbool.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------- one register */

static inline bool reg_is_general(uint32_t reg)
{
    return reg < LS_REG_UNIFORM;
}

static inline bool reg_is_predicate(uint32_t reg) /* of a lane or of the warp */
{
    return reg >= LS_REG_PREDICATE;
}

/* The zero registers and the true predicates: a write to one has no effect. */
static inline bool reg_is_constant(uint32_t reg)
{
    return reg == LS_REG_ZERO || reg == LS_REG_UNIFORM_ZERO || reg == LS_REG_PREDICATE_TRUE ||
           reg == LS_REG_UNIFORM_PREDICATE_TRUE;
}

/* The number of registers that an operand of `span` registers from `reg` on can cover. It is 1 for constants
 * and predicates, and no operand reaches the zero register at the end of its file. */
static inline uint8_t reg_clamp_span(uint32_t reg, uint8_t span)
{
    uint32_t end = reg <= LS_REG_ZERO ? LS_REG_ZERO : reg <= LS_REG_UNIFORM_ZERO ? LS_REG_UNIFORM_ZERO : 0;
    if (reg >= end)
        return 1;
    return span > end - reg ? (uint8_t)(end - reg) : span;
}

/* The bank of the register file. Warps start at different banks. */
static inline uint32_t reg_bank(uint32_t reg, uint32_t warp, uint32_t banks)
{
    return (reg + 1 + warp) % banks;
}

/* Registers, and bytes of LDS, are given out in units: how many units hold `count`. A unit of 0: no limit, no units. */
static inline uint32_t allocation_units(uint64_t count, uint64_t unit)
{
    return unit == 0 ? 0 : (uint32_t)((count + unit - 1) / unit);
}

/* ---------------------------------------------------------------------------------------- of an instruction */

/* Source i reads the registers from src[i] to the one before this. Without `spans` each operand is one
 * register. */
static inline uint32_t inst_src_end(const ls_inst *inst, uint32_t i, bool spans)
{
    uint32_t end = inst->src[i] + (spans && inst->src_span[i] > 1 ? inst->src_span[i] : 1u);
    return end < LS_REG_COUNT ? end : LS_REG_COUNT;
}

/* The same for result i. The first result alone can cover more than one register. */
static inline uint32_t inst_dst_end(const ls_inst *inst, uint32_t i, bool spans)
{
    uint32_t end = inst->dst[i] + (spans && i == 0 && inst->dst_span > 1 ? inst->dst_span : 1u);
    return end < LS_REG_COUNT ? end : LS_REG_COUNT;
}

/* An earlier source is the same register: it is read once. */
static inline bool inst_src_again(const ls_inst *inst, uint32_t i)
{
    bool again = false;
    for (uint32_t j = 0; j < i; j++)
        again |= inst->src[j] == inst->src[i];
    return again;
}

/* ---------------------------------------------------------------------------------------- sets of registers */

#define REG_SHORT 8u                         /* registers that are faster one by one */
#define REG_WORDS ((LS_REG_COUNT + 63) / 64) /* a bit per register */

static inline bool reg_set_has(const uint64_t set[REG_WORDS], uint32_t reg)
{
    return (set[reg >> 6] >> (reg & 63)) & 1;
}

static inline void reg_set_add(uint64_t set[REG_WORDS], uint32_t reg)
{
    set[reg >> 6] |= UINT64_C(1) << (reg & 63);
}

static inline void reg_set_remove(uint64_t set[REG_WORDS], uint32_t reg)
{
    set[reg >> 6] &= ~(UINT64_C(1) << (reg & 63));
}

/* All words of the set in one: bit reg & 63 is set for each register in it. */
static inline uint64_t reg_set_any(const uint64_t set[REG_WORDS])
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < REG_WORDS; i++)
        all |= set[i];
    return all;
}

static inline bool reg_set_empty(const uint64_t set[REG_WORDS])
{
    return reg_set_any(set) == 0;
}

/* The bits of word i that stand for registers from `from` to the one before `end`. */
static inline uint64_t reg_set_part(uint32_t i, uint32_t from, uint32_t end)
{
    uint64_t above = from > i * 64 ? UINT64_MAX << (from - i * 64) : UINT64_MAX;
    uint64_t below = end < (i + 1) * 64 ? ~(UINT64_MAX << (end & 63)) : UINT64_MAX;
    return above & below;
}

/* The same for all registers from `from` to the one before `end`, which is behind it: matrix instructions have a hundred. */
static inline void reg_set_add_range(uint64_t set[REG_WORDS], uint32_t from, uint32_t end)
{
    for (uint32_t i = from >> 6; i <= (end - 1) >> 6; i++)
        set[i] |= reg_set_part(i, from, end);
}

static inline void reg_set_remove_range(uint64_t set[REG_WORDS], uint32_t from, uint32_t end)
{
    for (uint32_t i = from >> 6; i <= (end - 1) >> 6; i++)
        set[i] &= ~reg_set_part(i, from, end);
}

/* The first one of them in the set; LS_REG_COUNT if there is none. There may be no registers: end is not below `from`. */
static inline uint32_t reg_set_first(const uint64_t set[REG_WORDS], uint32_t from, uint32_t end)
{
    for (uint32_t i = from >> 6; i <= (end - 1) >> 6; i++) {
        if (set[i] == 0)
            continue;
        uint64_t found = set[i] & reg_set_part(i, from, end);
        if (found != 0)
            return i * 64 + (uint32_t)__builtin_ctzll(found);
    }
    return LS_REG_COUNT;
}

/* Some operand is more than one register. */
static inline bool inst_has_spans(const ls_inst *inst)
{
    uint64_t spans;
    _Static_assert(sizeof spans == sizeof inst->src_span, "one word for all sources");
    memcpy(&spans, inst->src_span, sizeof spans);
    return (spans & ~UINT64_C(0x0101010101010101)) != 0 || inst->dst_span > 1;
}

/* As inst_first_in_set() with spans. */
uint32_t inst_first_span_in_set(const ls_inst *inst, const uint64_t set[REG_WORDS]);

/* A register of the set that the instruction reads or writes; LS_REG_COUNT if there is none. Sources come
 * first, then the first register of each result, then the rest of the first result. */
static inline uint32_t inst_first_in_set(const ls_inst *inst, const uint64_t set[REG_WORDS], bool spans)
{
    if (LS_UNLIKELY(inst_has_spans(inst)) && spans)
        return inst_first_span_in_set(inst, set);
    for (uint32_t i = 0; i < inst->src_count; i++)
        if (reg_set_has(set, inst->src[i]))
            return inst->src[i];
    for (uint32_t i = 0; i < inst->dst_count; i++)
        if (reg_set_has(set, inst->dst[i]))
            return inst->dst[i];
    return LS_REG_COUNT;
}

#endif

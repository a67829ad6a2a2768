/* front_issue.h: instruction buffers, scoreboard, warp scheduling and issue: stages of the cycle that is in cycle.c, as
 * functions for this file only. */
#ifndef MODEL_CORE_FRONT_ISSUE_H
#define MODEL_CORE_FRONT_ISSUE_H

#include "model/core/front.h"
#include "model/core/wgmma.h"

/* --------------------------------------------------------------------------------------------- scoreboard */

static inline void mark(warp_state *w, uint32_t reg, bool memory)
{
    reg_set_add(w->pending, reg);
    if (memory)
        reg_set_add(w->from_memory, reg);
}

/* Most results have one register: the first register of each has a short loop of its own, here and in front_release(). */
static void reserve(const core *c, warp_state *w, const ls_inst *inst)
{
    bool memory = inst->mem_op != LS_MEM_NONE;
    for (uint32_t i = 0; i < inst->dst_count; i++)
        if (!constant_register(c, inst->dst[i]))
            mark(w, inst->dst[i], memory);
    if (inst->dst_span > 1 && inst->dst_count > 0 && c->spec->track_spans &&
        !constant_register(c, inst->dst[0])) {
        uint32_t reg = inst->dst[0] + 1u, end = inst_dst_end(inst, 0, true);
        if (LS_UNLIKELY(inst->dst_span > REG_SHORT && reg < end)) {
            reg_set_add_range(w->pending, reg, end);
            if (memory)
                reg_set_add_range(w->from_memory, reg, end);
            return;
        }
        for (; reg < end; reg++)
            mark(w, reg, memory);
    }
}

/* The instruction at w->next becomes the one to issue. The warp is not among the blocked ones. */
static inline void new_head(core *c, front_sub *s, warp_state *w, uint32_t bit)
{
    const ls_inst *inst = &w->insts[w->next->inst];
    w->head = inst;
    s->wants[c->pipes.ways[inst->class_].unit] |= bit;
    s->buffered |= bit;
    if (!reg_set_empty(w->pending))
        front_check_head(c, s, w, bit);
}

/* -------------------------------------------------------------------------------------------------- fetch */

/* Two instructions per warp are buffered; a warp fetches again when both are gone. In each round one warp is
 * decoded that was fetched in the round before. */
static inline void decode(core *c, uint32_t warp)
{
    warp_state *w = c->front.warp[warp];
    if (!w->resident)
        return;
    size_t left = (size_t)(w->end - w->next);
    w->buffered = (uint8_t)(left < 2 ? left : 2);
    if (OPTION_ON(c->options.icache) && w->buffered == 2 && icache_splits(c, warp))
        w->buffered = 1;
    if (w->buffered > 0) {
        const uint32_t sub = warp_sub(c, warp);
        new_head(c, c->front.at[sub], w, warp_bit(c, warp));
        c->front.changed |= 1u << sub;
    }
}

static inline void front_fetch_held(core *c)
{
    while (c->front.held_count > 0 && c->front.held[c->front.held_count - 1] >> 6 <= c->now)
        c->front.need_fetch |= UINT64_C(1) << (c->front.held[--c->front.held_count] & 63);
}

static inline void front_fetch(core *c)
{
    uint64_t fetched = c->front.fetched, need = c->front.need_fetch;
    for (uint64_t round = c->spec->fetch_rounds; round > 0; round--) {
        if (fetched != 0)
            decode(c, (uint32_t)__builtin_ctzll(fetched));
        fetched = 0;
        if (need == 0)
            break;
        /* Round robin from the warp after the last one. */
        const uint64_t later = need & (~UINT64_C(1) << c->front.last_fetched);
        const uint64_t warps = later != 0 ? later : need;
        const uint32_t warp = (uint32_t)__builtin_ctzll(warps);
        need ^= UINT64_C(1) << warp;
        c->front.last_fetched = warp;
        if (!OPTION_ON(c->options.icache) || icache_fetch(c, warp))
            fetched = UINT64_C(1) << warp;
    }
    c->front.fetched = fetched;
    c->front.need_fetch = need;
}

/* -------------------------------------------------------------------------------------------------- issue */

/* place: of the warp in its sub-core. */
static inline void issue_warp(core *c, front_sub *s, pipe_sub *p, warp_state *w, uint32_t warp, uint32_t sub,
                              uint32_t place)
{
    const uint32_t bit = warp_bit(c, warp);
    const ls_inst *inst = w->head;
    const uint32_t unit = c->pipes.ways[inst->class_].unit;
    const uint16_t index = flight_take(c, warp, sub, inst, w->next);
    pipes_issue(c, p, warp, inst, index);
    w->next++;
    if (!wgmma_waits_by_group(c, inst))
        reserve(c, w, inst);
    s->wants[unit] &= ~bit;
    if (inst->class_ == LS_CLASS_branch && c->spec->branch_cycles > 1 && w->next != w->end &&
        front_jumped(inst, &w->insts[w->next->inst])) {
        w->buffered = 0; /* instructions fetched after the branch are not executed */
        s->buffered &= ~bit;
        front_hold(c, warp, c->now + c->spec->branch_cycles - 1);
    } else if (--w->buffered > 0) {
        new_head(c, s, w, bit);
    } else {
        s->buffered &= ~bit;
        if (w->next != w->end)
            c->front.need_fetch |= UINT64_C(1) << warp;
    }
    s->last_issued = (uint8_t)place;
    count_and_tell(c, index, LS_TAP_BEGIN, LS_STEP_ISSUE);
    c->n.issued++;
    c->n.by_class[inst->class_]++;
    if (inst->flags != 0 || inst->mem_op > LS_MEM_STORE)
        front_special(c, warp, inst, &c->flights.at[index]);
}

/* Issues at most one instruction. True: it did. */
static inline bool look_at(core *c, uint32_t sub)
{
    front_sub *s = c->front.at[sub];
    pipe_sub *p = c->pipes.at[sub];
    const uint32_t ready = s->buffered & ~(s->barrier | s->fence | s->async | s->blocked);
    uint32_t can = ready;
    front_count_sub_stalls(c, s, c->now);
    if (ready != 0) {
        for (uint32_t set = p->issue_mask; set != 0; set &= set - 1)
            can &= ~s->wants[(uint32_t)__builtin_ctz(set)];
        if (can != 0 && !flights_full(c)) {
            const uint32_t place = front_choose(c, s, sub, can);
            s->counted_until = c->now + 1;
            const uint32_t warp = place * c->sub_count + sub;
            issue_warp(c, s, p, c->front.warp[warp], warp, sub, place);
            return true;
        }
        c->front.ready |= p->bit;
    }
    s->counted_until = c->now;
    front_stalled(s, ready);
    if (LS_UNLIKELY(c->apart))
        core_counts_stalled(c, s, sub, ready);
    return false;
}

/* The sub-cores that come after this one. */
static __attribute__((noinline)) uint32_t front_behind(const core *c, uint32_t sub)
{
    uint32_t behind = 0;
    while ((sub = sub + 1 == c->sub_count ? 0 : sub + 1) != c->front.turn)
        behind |= 1u << sub;
    return behind;
}

static inline void front_issue(core *c)
{
    /* The other schedulers are in the state they were in, unless one that issues before them releases a
     * barrier. */
    const uint32_t look = front_look(c);
    const uint32_t *const order = c->front.order[c->front.turn];
    uint32_t issued = 0;
    c->pipes.freed = 0;
    c->front.changed = 0;
    c->front.ready &= ~look;
    for (uint32_t rest = order[look], sub; (sub = rest & 15u) != FRONT_LAST;) {
        rest >>= 4;
        if (look_at(c, sub))
            issued |= c->pipes.at[sub]->bit;
        if (LS_UNLIKELY(c->front.changed != 0))
            rest = order[(look | c->front.changed) & front_behind(c, sub)];
    }
    c->front.changed |= issued;
}

#endif

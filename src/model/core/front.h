/* front.h: what the schedulers of all models of the pipeline share: which warp goes first, and how stalls are counted.
 * For front.c and hybrid.c only. */
#ifndef MODEL_CORE_FRONT_H
#define MODEL_CORE_FRONT_H

#include "model/core/core.h"

/* The first of the candidates in the order of the policy. */
static inline uint32_t front_choose(const core *c, const sub_core *s, uint32_t sub, uint32_t ready)
{
    uint32_t last = s->last_issued;
    switch ((core_scheduler)c->spec->scheduler) {
    case SCHED_TWO_LEVEL: {
        /* The inner group is the warps around the last issued one; it is left only when none of it is ready. */
        uint32_t group = (uint32_t)c->spec->two_level_active;
        uint32_t inner = group >= 32 ? UINT32_MAX : ((1u << group) - 1) << (last / group * group);
        if ((ready & inner) != 0)
            ready &= inner;
    }
    /* fallthrough */
    case SCHED_LRR: {
        uint32_t after = last >= 31 ? 0 : ready & (~1u << last);
        return (uint32_t)__builtin_ctz(after != 0 ? after : ready);
    }
    case SCHED_GTO:
        if ((ready >> last & 1) != 0)
            return last;
        /* fallthrough */
    case SCHED_OLDEST:
        break;
    }
    uint32_t oldest = (uint32_t)__builtin_ctz(ready);
    for (uint32_t set = ready & (ready - 1); set != 0; set &= set - 1) {
        uint32_t local = (uint32_t)__builtin_ctz(set);
        if (c->warps[local * c->sub_count + sub].age < c->warps[oldest * c->sub_count + sub].age)
            oldest = local;
    }
    return oldest;
}

/* Everything that keeps warps of the sub-core from issuing, a bit per reason. A warp has the one that it meets first:
 * it is at a barrier, it waits for its accesses, it has no instruction, a register is missing, its unit is taken. */
static inline uint32_t front_reasons(const sub_core *s, uint32_t unit_taken)
{
    if (s->resident == 0)
        return 1u << STALL_IDLE;
    uint32_t held = s->barrier | s->fence | s->async, rest = s->resident & ~held;
    uint32_t blocked = rest & s->buffered & s->blocked;
    return (uint32_t)((s->barrier & s->resident) != 0) << STALL_BARRIER |
           (uint32_t)((s->fence & s->resident) != 0) << STALL_FENCE |
           (uint32_t)((s->async & s->resident) != 0) << STALL_ASYNC |
           (uint32_t)((rest & ~s->buffered) != 0) << STALL_FETCH |
           (uint32_t)((blocked & s->memory_blocked) != 0) << STALL_MEMORY |
           (uint32_t)((blocked & ~s->memory_blocked) != 0) << STALL_DEPENDENCE |
           (uint32_t)(unit_taken != 0) << STALL_UNIT;
}

static inline stall_reason front_reason(const sub_core *s, bool unit_taken)
{
    uint32_t blocked = s->blocked & s->buffered;
    if (unit_taken)
        return STALL_UNIT;
    if (s->resident == 0)
        return STALL_IDLE;
    if (blocked != 0)
        return (blocked & s->memory_blocked) != 0 ? STALL_MEMORY : STALL_DEPENDENCE;
    if ((s->barrier & s->resident) != 0)
        return STALL_BARRIER;
    if ((s->fence & s->resident) != 0)
        return STALL_FENCE;
    return (s->async & s->resident) != 0 ? STALL_ASYNC : STALL_FETCH;
}

/* Stalls are booked by interval: from the last look at the sub-core to this one it had the reasons it had then. */
static inline void front_book_sub(core *c, sub_core *s, ls_cycle until)
{
    uint64_t cycles = until - s->booked;
    if (cycles == 0)
        return;
    c->n.stalls[s->reason] += cycles;
    for (uint32_t set = s->reasons; set != 0; set &= set - 1)
        c->n.stack[__builtin_ctz(set)] += cycles;
    s->booked = until;
}

/* The sub-core does not issue in this cycle. `ready`: the warps that could but for their units. */
static inline void front_stalled(sub_core *s, uint32_t ready)
{
    s->reason = front_reason(s, ready != 0);
    s->reasons = front_reasons(s, ready);
}

#endif

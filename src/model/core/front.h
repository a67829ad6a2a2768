/* front.h: functions of the schedulers of both pipelines: the choice of a warp, the counting of stalls, and the release of
 * registers. For front.c, cycle.c and flow*.c only. */
#ifndef MODEL_CORE_FRONT_H
#define MODEL_CORE_FRONT_H

#include "model/core/core.h"

/* The warp that issues, one of `ready`, in the order of the scheduler. */
static inline uint32_t front_choose(const core *c, const front_sub *s, uint32_t sub, uint32_t ready)
{
    /* Where there is no choice, those that are built in are not asked. */
    if ((ready & (ready - 1)) == 0 && c->front.scheduler_kind != SCHED_FOREIGN)
        return (uint32_t)__builtin_ctz(ready);
    if (c->front.scheduler_kind == SCHED_GTO && (ready >> s->last_issued & 1) != 0)
        return s->last_issued;
    const ls_scheduler_view view = { .now = c->now,
                                     .sub_core = sub,
                                     .last = s->last_issued,
                                     .ready = ready,
                                     .resident = s->resident,
                                     .memory = s->resident & s->blocked & s->memory_blocked,
                                     .age = s->age };
    uint32_t warp = scheduler_choose(c->front.scheduler_kind, &c->front.scheduler, &view);
    if (LS_UNLIKELY(warp >= LS_SCHEDULER_WARPS || (ready >> warp & 1) == 0)) {
        ls_domain_fail(c->domain, "the model of slot 'core.scheduler' chose a warp that is not ready");
        return (uint32_t)__builtin_ctz(ready);
    }
    return warp;
}

/* Everything that keeps warps of the sub-core from issuing, a bit per reason. A warp has the first reason that
 * applies: it is at a barrier, it waits for its accesses, it has no instruction, a register is missing, its
 * unit is taken. */
static inline uint32_t front_reasons(const front_sub *s, uint32_t unit_taken)
{
    if (s->resident == 0)
        return 1u << STALL_IDLE;
    uint32_t held = s->barrier | s->fence | s->async, rest = s->resident & ~held, reasons = 0;
    uint32_t blocked = rest & s->buffered & s->blocked;
    if ((held & s->resident) != 0) {
        if (LS_UNLIKELY((s->barrier & s->resident) != 0))
            reasons |= 1u << STALL_BARRIER;
        if (LS_UNLIKELY((s->fence & s->resident) != 0))
            reasons |= 1u << STALL_FENCE;
        if ((s->async & s->resident) != 0)
            reasons |= 1u << STALL_ASYNC;
        if (LS_UNLIKELY(s->mbarrier != 0))
            reasons = (reasons & ~(1u << STALL_ASYNC)) | 1u << STALL_MBARRIER |
                      (uint32_t)((s->async & ~s->mbarrier & s->resident) != 0) << STALL_ASYNC;
    }
    if ((rest & ~s->buffered) != 0)
        reasons |= 1u << STALL_FETCH;
    if (blocked != 0) {
        const uint32_t memory = blocked & s->memory_blocked;
        if (LS_UNLIKELY(memory != 0))
            reasons |= 1u << STALL_MEMORY;
        if (memory != blocked)
            reasons |= 1u << STALL_DEPENDENCE;
    }
    if (unit_taken != 0)
        reasons |= 1u << STALL_UNIT;
    return reasons;
}

static inline stall_reason front_reason(const front_sub *s, bool unit_taken)
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
    if ((s->async & s->resident) != 0)
        return (s->async & ~s->mbarrier & s->resident) != 0 ? STALL_ASYNC : STALL_MBARRIER;
    return STALL_FETCH;
}

/* Stalls are counted by interval: from the last look at the sub-core to this one it had the reasons it had
 * then. */
static inline void front_count_sub_stalls(core *c, front_sub *s, ls_cycle until)
{
    uint64_t cycles = until - s->counted_until;
    if (cycles == 0)
        return;
    c->n.stalls[s->reason] += cycles;
    for (uint32_t set = s->reasons; set != 0; set &= set - 1)
        c->n.stack[(uint32_t)__builtin_ctz(set)] += cycles;
    if (LS_UNLIKELY(s->charged != NULL))
        s->charged->stalls[s->reason] += cycles;
    s->counted_until = until;
}

/* The largest possible work of the units in the cycles counted so far; a multiply-add of a lane is two. */
static inline void front_count_peak(core *c)
{
    const core_class *fma = &c->spec->classes[LS_CLASS_fp32];
    c->n.peak_flops =
        c->n.resident_cycles * c->sub_count * 64 / (fma->interval_cycles > 0 ? fma->interval_cycles : 1);
}

/* The sub-core does not issue in this cycle. `ready`: the warps that could but for their units. */
static inline void front_stalled(front_sub *s, uint32_t ready)
{
    s->reason = front_reason(s, ready != 0);
    s->reasons = front_reasons(s, ready);
}

/* An instruction that is counted or does more than write its registers later issues. */
void front_special(core *c, uint32_t warp, const ls_inst *inst, flight *f);
/* Looks whether the next instruction of a warp has to wait for registers. Done when the instruction becomes
 * the next one and when the register that it waits for is released, never by polling. */
static inline void front_check_head(const core *c, front_sub *s, warp_state *w, uint32_t bit)
{
    /* Constant registers are never pending. */
    const uint32_t reg = inst_first_in_set(w->head, w->pending, c->spec->track_spans);
    if (reg == LS_REG_COUNT) {
        s->blocked &= ~bit;
        s->memory_blocked &= ~bit;
        return;
    }
    w->blocked_by = (uint16_t)reg;
    s->blocked |= bit;
    if (reg_set_has(w->from_memory, reg))
        s->memory_blocked |= bit;
    else
        s->memory_blocked &= ~bit;
}

/* The register that the warp waited for is there, but others are not. */
void front_check_again(core *c, front_sub *s, uint32_t warp, uint32_t sub);

/* Something that the warp waited for may be there. */
static inline void front_registers_ready(core *c, uint32_t warp, uint32_t sub)
{
    const uint32_t bit = warp_bit(c, warp);
    front_sub *s = c->front.at[sub];
    warp_state *w = c->front.warp[warp];
    if ((s->blocked & bit) != 0 && !reg_set_has(w->pending, w->blocked_by)) {
        if (reg_set_empty(w->pending)) { /* mostly it was the last one */
            s->blocked &= ~bit;
            s->memory_blocked &= ~bit;
            c->front.changed |= 1u << sub;
        } else {
            front_check_again(c, s, warp, sub);
        }
    }
    if ((s->fence & bit) != 0 && reg_set_empty(w->pending) && w->atomics == 0) {
        s->fence &= ~bit;
        c->front.changed |= 1u << sub;
    }
}

static inline void front_unmark(warp_state *w, uint32_t reg)
{
    reg_set_remove(w->pending, reg);
    reg_set_remove(w->from_memory, reg);
}

/* The results of an instruction are there. */
static inline void front_release(core *c, const flight *f)
{
    const ls_inst *inst = f->inst;
    warp_state *w = c->front.warp[f->warp];
    for (uint32_t i = 0; i < inst->dst_count; i++)
        front_unmark(w, inst->dst[i]);
    if (inst->dst_span > 1 && inst->dst_count > 0 && c->spec->track_spans) {
        uint32_t reg = inst->dst[0] + 1u, end = inst_dst_end(inst, 0, true);
        if (LS_UNLIKELY(inst->dst_span > REG_SHORT && reg < end)) {
            reg_set_remove_range(w->pending, reg, end);
            reg_set_remove_range(w->from_memory, reg, end);
        } else {
            for (; reg < end; reg++)
                front_unmark(w, reg);
        }
    }
    front_registers_ready(c, f->warp, f->sub);
}

#endif

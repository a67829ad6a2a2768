/* flow_warp.c: effects of instructions of flow.c on their warp beside its registers: fences, asynchronous
 * copies, barriers, the end. May touch its core only. */
#include "model/core/cga.h"
#include "model/core/flow.h"

void flow_leave_barrier(core *c, uint32_t warp, ls_cycle at)
{
    flow *f = c->flow;
    uint32_t sub = warp_sub(c, warp), bit = warp_bit(c, warp);
    if (f->simulated != NULL) {
        if (c->front.warps[warp].next != c->front.warps[warp].end) {
            flow_park(c, warp, flow_later(f->warps[warp].wake, at + 1));
            flow_look_again(c, warp);
        }
        return;
    }
    c->front.subs[sub].blocked |= bit;
    flow_sleep_until(&f->subs[sub], bit, flow_later(f->warps[warp].wake, at + 1));
    ls_cycle next = flow_soonest(&f->subs[sub]);
    f->next[sub] = next < f->next[sub] ? next : f->next[sub];
}

void flow_release_barrier(core *c, uint32_t slot)
{
    flow *f = c->flow;
    cta_state *cta = &c->blocks.at[slot];
    if (LS_UNLIKELY(cta->named_used != 0))
        cta_release_named(c, cta);
    if (cta->at_barrier == 0 || cta->at_barrier < cta->warps_left)
        return;
    cta->at_barrier = 0;
    for (uint32_t warp = cta->first_warp; warp < (uint32_t)cta->first_warp + cta->warp_count; warp++) {
        uint32_t sub = warp_sub(c, warp), bit = warp_bit(c, warp);
        if ((c->front.subs[sub].barrier & bit) == 0 || c->front.warps[warp].barrier_name != 0)
            continue;
        c->front.subs[sub].barrier &= ~bit;
        flow_leave_barrier(c, warp, f->barrier_at[slot]);
    }
}

/* A warp of the block ends at `end`: barriers for all its warps may be over then. */
static void note_end(core *c, uint32_t slot, ls_cycle end)
{
    cta_state *cta = &c->blocks.at[slot];
    c->flow->barrier_at[slot] = flow_later(c->flow->barrier_at[slot], end);
    for (uint32_t left = cta->named_used; left != 0; left &= left - 1) {
        uint32_t id = (uint32_t)__builtin_ctz(left);
        if (cta->named_need[id] == 0)
            cta->named_at[id] = flow_later(cta->named_at[id], end);
    }
    flow_release_barrier(c, slot);
}

void flow_left_barrier(core *c, uint32_t slot)
{
    note_end(c, slot, c->now);
}

void flow_end_warp(core *c, uint32_t warp, ls_cycle now)
{
    flow *f = c->flow;
    warp_state *w = &c->front.warps[warp];
    if (f->simulated != NULL) { /* accesses may be under way: cta_warp_maybe_done() ends it */
        w->busy_until = flow_later(w->busy_until, now + 1);
        f->simulated->ending |= UINT64_C(1) << warp;
        return;
    }
    front_sub *s = &c->front.subs[warp_sub(c, warp)];
    uint32_t bit = warp_bit(c, warp), slot = w->cta;
    cta_state *cta = &c->blocks.at[slot];
    ls_cycle end = flow_later(w->busy_until, now + 1);
    c->n.resident_warps += end - f->warps[warp].started;
    w->resident = false;
    if (ls_tap_wants(c->tap, LS_TAP_WARP))
        core_tap_warp(c, warp, LS_TAP_END, end);
    c->blocks.warps--;
    cta->warps_left--;
    s->resident &= ~bit;
    s->buffered &= ~bit;
    if ((s->barrier & bit) != 0)
        cta_leave_at_end(c, cta, warp);
    f->cta_end[slot] = flow_later(f->cta_end[slot], end);
    if (cta->warps_left == 0) {
        f->ended |= 1u << slot;
        return;
    }
    note_end(c, slot, end);
}

/* Atomics and copies whose end only memory knows. */
static void note_accesses(core *c, uint32_t warp, const ls_inst *inst, uint32_t mask, ls_cycle now)
{
    const flow_warp *fw = &c->flow->warps[warp];
    warp_state *w = &c->front.warps[warp];
    front_sub *s = &c->front.subs[warp_sub(c, warp)];
    uint32_t bit = warp_bit(c, warp);
    bool atomic = inst->mem_op == LS_MEM_ATOMIC || inst->mem_op == LS_MEM_REDUCTION;
    if ((inst->flags & LS_INST_FENCE) != 0 && fw->loads > 0)
        s->fence |= bit;
    if (OPTION_ON(c->options.fences))
        fences_begin(c, warp, inst, now);
    if (atomic && mask != 0 && inst->space != LS_SPACE_SHARED) {
        w->atomics++;
        s->fence |= bit;
    }
    if (inst->mem_op == LS_MEM_ASYNC_COPY && fw->flight != NO_FLIGHT) {
        c->flights.at[fw->flight].group = w->async_open;
        if (mask != 0)
            w->async_pending[w->async_open % ASYNC_GROUPS]++;
    }
}

bool flow_has_warp_op(const core *c, const ls_inst *inst)
{
    if ((inst->flags & LS_INST_ASYNC_OP) == 0 || c->flow->simulated == NULL)
        return false;
    switch (inst->async_op) {
    case LS_ASYNC_CLUSTER_ARRIVE:
    case LS_ASYNC_CLUSTER_WAIT:
        return cga_is_on(c);
    case LS_ASYNC_DEPENDENTS:
    case LS_ASYNC_DEPENDS:
        return c->async != NULL;
    default:
        return false;
    }
}

/* Returns the first cycle in which the next instruction may issue. The warp may be stopped as well (flow_waits()). */
static ls_cycle warp_op(core *c, uint32_t warp, const ls_inst *inst, ls_cycle now)
{
    const uint32_t slot = c->front.warps[warp].cta;
    switch (inst->async_op) {
    case LS_ASYNC_CLUSTER_ARRIVE:
        cga_arrive(c, warp, now);
        break;
    case LS_ASYNC_CLUSTER_WAIT:
        return flow_later(now + 1, cga_wait(c, warp));
    case LS_ASYNC_DEPENDENTS:
        cta_signal(c, slot);
        break;
    default:
        if (c->blocks.at[slot].launch.depends == LS_DEPENDS)
            front_stop(c, warp, FRONT_WAIT_KERNEL);
        break;
    }
    return now + 1;
}

/* Effects of the instruction on its warp beside its registers. Returns the first cycle in which the next one
 * may issue; LS_CYCLE_MAX: unknown, it waits at a barrier. */
ls_cycle flow_effects(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, ls_cycle now,
                      ls_cycle done)
{
    uint32_t mask = dyn->mask;
    flow *f = c->flow;
    flow_warp *fw = &f->warps[warp];
    warp_state *w = &c->front.warps[warp];
    front_sub *s = &c->front.subs[warp_sub(c, warp)];
    uint32_t bit = warp_bit(c, warp);
    ls_cycle soon = now + 1;
    if ((inst->flags & LS_INST_FENCE) != 0)
        soon = flow_later(soon, flow_later(fw->alu_until, fw->memory_until));
    if (LS_UNLIKELY((inst->flags & LS_INST_ASYNC_OP) != 0) && flow_has_warp_op(c, inst))
        return warp_op(c, warp, inst, now);
    bool atomic = inst->mem_op == LS_MEM_ATOMIC || inst->mem_op == LS_MEM_REDUCTION;
    if (f->simulated != NULL)
        note_accesses(c, warp, inst, mask, now);
    else if (atomic && mask != 0 && inst->space != LS_SPACE_SHARED)
        soon = flow_later(soon, done);
    if (soon > now + 1)
        s->fence |= bit;
    if (inst->mem_op == LS_MEM_ASYNC_COPY) {
        ls_cycle *copied = &fw->copied[w->async_open % ASYNC_GROUPS];
        *copied = flow_later(*copied, done);
    }
    w->async_open = (uint8_t)(w->async_open + ((inst->flags & LS_INST_ASYNC_COMMIT) != 0));
    if (OPTION_ON(c->async) && async_effects(c, warp, inst, dyn, fw->flight, now))
        return soon;
    if ((inst->flags & LS_INST_ASYNC_WAIT) != 0) {
        /* Waits for all groups but the newest imm. */
        uint8_t end = w->async_wait = core_async_end(w, inst);
        if (f->simulated != NULL && core_async_open(w))
            s->async |= bit;
        for (uint8_t g = core_async_first(w); g != end; g++)
            if (fw->copied[g % ASYNC_GROUPS] > soon) {
                soon = fw->copied[g % ASYNC_GROUPS];
                s->async |= bit;
            }
    }
    if ((inst->flags & (LS_INST_BARRIER | LS_INST_ARRIVE)) != 0) {
        cta_state *cta = &c->blocks.at[w->cta];
        bool waits = (inst->flags & LS_INST_ARRIVE) == 0 || c->spec->accelsim_rules;
        uint32_t id = cta_barrier_name(c, cta, inst, dyn);
        if (LS_UNLIKELY(id != CORE_NAMED)) {
            cta->named_at[id] = flow_later(cta->named_at[id], now);
            cta_arrive_named(c, cta, warp, id, inst->barrier_warps, waits);
        } else {
            f->barrier_at[w->cta] = flow_later(f->barrier_at[w->cta], now);
            cta->at_barrier++;
        }
        if (!waits)
            return soon;
        s->barrier |= bit;
        fw->wake = soon;
        return LS_CYCLE_MAX;
    }
    return soon;
}

/* async.c: see async.h: coming effects in the order of time, warps that sleep and wake, and the instructions that
 * reach the machine. May touch its core only. */
#include "model/core/cga.h"
#include "model/core/flow.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void async_fail(core *c, const char *fmt, ...)
{
    core_async *a = c->async;
    if (a->failure[0] == '\0') {
        va_list args;
        va_start(args, fmt);
        vsnprintf(a->failure, sizeof a->failure, fmt, args);
        va_end(args);
    }
    ls_domain_fail(c->domain, a->failure);
}

/* ------------------------------------------------------------------------------------------ coming effects */

void async_look(core *c, ls_cycle at)
{
    core_async *a = c->async;
    if (a->running || at == LS_CYCLE_MAX)
        return;
    ls_cycle soonest = ls_region_now(c->region) + 1;
    at = at < soonest ? soonest : at;
    if (ls_event_scheduled(&a->event)) {
        if (a->event.cycle <= at)
            return;
        ls_cancel(&a->event);
    }
    ls_schedule_at(c->region, &a->event, at);
}

void async_later(core *c, ls_cycle at, async_what what, uint32_t warp, uint32_t dyn)
{
    core_async *a = c->async;
    if (a->act_tail - a->act_head == ASYNC_ACTS) {
        async_fail(c, "more than %u operations on mbarriers of one core are under way", ASYNC_ACTS);
        return;
    }
    uint32_t i = a->act_tail++;
    for (; i != a->act_head && a->acts[(i - 1) % ASYNC_ACTS].at > at; i--)
        a->acts[i % ASYNC_ACTS] = a->acts[(i - 1) % ASYNC_ACTS];
    a->acts[i % ASYNC_ACTS] =
        (async_act){ .at = at, .dyn = dyn, .warp = (uint8_t)warp, .what = (uint8_t)what };
    async_look(c, at);
}

static void act(core *c, const async_act *what, ls_cycle now)
{
    if (what->what != ASYNC_WAKE && cga_is_on(c) && !cga_can_send(c, 32)) { /* one message for each lane */
        async_later(c, now + 1, (async_what)what->what, what->warp, what->dyn);
        return;
    }
    switch ((async_what)what->what) {
    case ASYNC_OPERATE:
        mbarrier_operate(c, what->warp, async_dyn_at(c, what->warp, what->dyn), now);
        async_release(c, what->warp);
        break;
    case ASYNC_WAKE:
        async_resume(c, what->warp, now);
        async_release(c, what->warp);
        break;
    case ASYNC_FILLED:
        tma_filled(c, what->dyn, now);
        break;
    }
}

/* When the next effect comes. */
static inline ls_cycle next_act(const core_async *a)
{
    return a->act_head != a->act_tail ? a->acts[a->act_head % ASYNC_ACTS].at : LS_CYCLE_MAX;
}

/* Apart, so that the common way saves no registers for it. */
static __attribute__((noinline)) void run_acts(core *c, ls_cycle now)
{
    core_async *a = c->async;
    while (next_act(a) <= now) {
        const async_act next = a->acts[a->act_head++ % ASYNC_ACTS];
        act(c, &next, now);
        ls_domain_progress(c->domain);
    }
}

static void async_event(void *self, ls_cycle now)
{
    core *c = self;
    core_async *a = c->async;
    a->running = true;
    if (next_act(a) <= now)
        run_acts(c, now);
    ls_cycle next = tma_cycle(c, now), next_effect = next_act(a);
    a->running = false;
    next = next_effect < next ? next_effect : next;
    if (next != LS_CYCLE_MAX) /* it is not scheduled while it runs, and all of this cycle is done */
        ls_schedule_at(c->region, &a->event, next);
}

/* --------------------------------------------------------------------------------------------------- warps */

uint32_t async_dyn(const core *c, uint32_t warp, const ls_dyn *dyn)
{
    return (uint32_t)(dyn - c->blocks.at[c->front.warps[warp].cta].launch.cta->dyns);
}

const ls_dyn *async_dyn_at(const core *c, uint32_t warp, uint32_t dyn)
{
    return &c->blocks.at[c->front.warps[warp].cta].launch.cta->dyns[dyn];
}

void async_sleep(core *c, uint32_t warp, bool at_mbarrier)
{
    front_sub *s = &c->front.subs[warp_sub(c, warp)];
    uint32_t bit = warp_bit(c, warp);
    s->async |= bit;
    s->elsewhere |= bit;
    s->mbarrier |= at_mbarrier ? bit : 0;
}

void async_resume(core *c, uint32_t warp, ls_cycle now)
{
    uint32_t sub = warp_sub(c, warp), bit = warp_bit(c, warp);
    front_sub *s = &c->front.subs[sub];
    s->elsewhere &= ~bit;
    s->mbarrier &= ~bit;
    c->async->warps[warp].mbarrier = 0;
    if (c->flow == NULL) {
        s->async &= ~bit;
        c->front.changed |= 1u << sub;
    } else {
        flow_warp *fw = &c->flow->warps[warp];
        fw->wake = flow_later(fw->wake, now);
        flow_look_again(c, warp);
    }
    ls_ticker_wake(&c->ticker);
}

void async_hold(core *c, uint32_t warp)
{
    c->front.warps[warp].in_flight++;
}

void async_release(core *c, uint32_t warp)
{
    warp_state *w = &c->front.warps[warp];
    w->in_flight--;
    if (w->next != w->end || w->in_flight != 0)
        return;
    if (c->flow != NULL) /* its last result may be still to come */
        c->flow->simulated->ending |= UINT64_C(1) << warp;
    else
        cta_warp_maybe_done(c, warp);
    ls_ticker_wake(&c->ticker);
}

/* -------------------------------------------------------------------------------------------- instructions */

bool async_models(const core *c, const ls_inst *inst)
{
    if (c->async == NULL)
        return false;
    if ((inst->flags & LS_INST_MBARRIER) != 0)
        return inst->mbarrier_op != LS_MBARRIER_NONE;
    return (inst->flags & LS_INST_BULK) != 0 && inst->bulk_op != LS_BULK_NONE &&
           (inst->bulk_op != LS_BULK_SHARED || cga_is_on(c));
}

static void issue_mbarrier(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, ls_cycle at)
{
    switch ((ls_mbarrier_op)inst->mbarrier_op) {
    case LS_MBARRIER_INIT: /* before anything that a later instruction does to it */
        mbarrier_operate(c, warp, dyn, at);
        return;
    case LS_MBARRIER_ASYNC_ARRIVE:
    case LS_MBARRIER_ASYNC_COMPLETE:
        async_hold(c, warp);
        mbarrier_arrive_later(c, warp, dyn, at);
        return;
    case LS_MBARRIER_WAIT:
    case LS_MBARRIER_TEST:
        async_sleep(c, warp, true);
        async_hold(c, warp); /* until it goes on */
        break;
    default:
        break;
    }
    async_hold(c, warp);
    async_later(c, at + c->async->spec->mbarrier.act_cycles, ASYNC_OPERATE, warp, async_dyn(c, warp, dyn));
}

void async_issue(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, ls_cycle at)
{
    if (!async_models(c, inst))
        return;
    if ((inst->flags & LS_INST_BULK) != 0)
        tma_issue(c, warp, inst, dyn, at);
    else if (dyn->mask != 0)
        issue_mbarrier(c, warp, inst, dyn, at);
}

bool async_effects(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, uint16_t flight_index,
                   ls_cycle at)
{
    if ((inst->flags & (LS_INST_MBARRIER | LS_INST_BULK)) != 0)
        async_issue(c, warp, inst, dyn, at);
    else if (inst->mem_op == LS_MEM_ASYNC_COPY && dyn->mask != 0 && flight_index != NO_FLIGHT)
        mbarrier_copy_begins(c, warp, flight_index);
    if ((inst->flags & LS_INST_ASYNC_COMMIT) != 0)
        c->async->tma.warps[warp].committed = false;
    return (inst->flags & LS_INST_ASYNC_WAIT) != 0 && tma_wait_groups(c, warp, inst);
}

/* -------------------------------------------------------------------------------------------- other blocks */

void async_remote(core *c, uint32_t slot, uint32_t rank, uint32_t address, ls_mbarrier_op op, uint64_t value,
                  uint64_t written, ls_cycle now)
{
    if (!cga_is_on(c) || rank >= cga_size(c, slot)) {
        async_fail(c, "block %llu uses the mbarrier at 0x%x of block %u of its cluster, which is not there",
                   (unsigned long long)c->blocks.at[slot].launch.cta->index, address, rank);
        return;
    }
    uint64_t cycles = (written + CGA_LINE - 1) / CGA_LINE;
    const cga_message message = { .kind = CGA_MBARRIER,
                                  .op = (uint8_t)op,
                                  .cycles = (uint16_t)(cycles < UINT16_MAX ? cycles : UINT16_MAX),
                                  .address = address,
                                  .count = (uint32_t)value };
    cga_send(c, slot, rank, &message, now);
}

static void receive_operation(core *c, uint32_t slot, const cga_message *message, ls_cycle now)
{
    if (message->cycles > 0)
        (void)ldst_port_take(c, now, message->cycles);
    mbarrier_apply(c, slot, message->address, (ls_mbarrier_op)message->op, message->count, now);
}

static void receive_data(core *c, uint32_t slot, const cga_message *message, ls_cycle now)
{
    (void)ldst_port_take(c, now, message->cycles > 0 ? message->cycles : 1);
    mbarrier_apply(c, slot, message->address, LS_MBARRIER_COMPLETE, message->bytes, now);
}

void async_attach(core *c)
{
    static const cga_hooks hooks = { .mbarrier = receive_operation, .data = receive_data };
    if (c->async != NULL && cga_is_on(c))
        cga_set_hooks(c, &hooks);
}

/* -------------------------------------------------------------------------------------------------- set-up */

bool async_init(core *c)
{
    c->async = ls_domain_alloc(c->domain, sizeof *c->async);
    if (c->async == NULL)
        return false;
    c->async->spec = &c->spec->async;
    ls_event_init(&c->async->event, async_event, c);
    tma_init(c);
    return true;
}

void async_start_cta(core *c, uint32_t slot)
{
    const cta_state *cta = &c->blocks.at[slot];
    memset(&c->async->warps[cta->first_warp], 0, cta->warp_count * sizeof *c->async->warps);
    memset(&c->async->tma.warps[cta->first_warp], 0, cta->warp_count * sizeof *c->async->tma.warps);
}

void async_end_cta(core *c, uint32_t slot)
{
    mbarrier_end_cta(c, slot);
}

/* flow.c: alu: issue: from issue to issue, without cycles in between. May touch its core only; see flow.h.
 *
 * Sub-cores take their turns in the order of time, so that what they share (the load/store unit, barriers) sees
 * them in that order. Here are the turns, the start of warps, and one look of a core whose memory is a formula;
 * flow_simulated.c has that of the others. */
#include "model/core/flow.h"

#include "model/core/front.h"

/* Few of the sets occur: most are passed over eight at a time. */
static void count_reasons(core *c)
{
    uint64_t *reasons = c->flow->reasons;
    for (uint32_t first = 0; first < FLOW_REASONS; first += 8) {
        uint64_t any = 0;
        for (uint32_t set = first; set < first + 8; set++)
            any |= reasons[set];
        if (any == 0)
            continue;
        for (uint32_t set = first; set < first + 8; set++) {
            for (uint32_t rest = set; rest != 0; rest &= rest - 1)
                c->n.stack[__builtin_ctz(rest)] += reasons[set];
            reasons[set] = 0;
        }
    }
}

/* ----------------------------------------------------------------------------------------------- one look */

/* The warp arrives now and fetches in cycle `fetch`. */
static void start_warp(core *c, uint32_t warp, ls_cycle now, ls_cycle fetch)
{
    flow *f = c->flow;
    uint32_t sub = warp_sub(c, warp);
    warp_state *w = &c->front.warps[warp];
    flow_sub *fs = &f->subs[sub];
    const core_launch *launch = &c->blocks.at[w->cta].launch;
    if (launch->kernel != f->kernel || launch->insts != f->kernel_insts) {
        /* Another kernel may have its program where the last one had its own. */
        f->kernel = launch->kernel;
        f->kernel_insts = launch->insts;
        flow_forget(c);
        for (uint32_t i = 0; f->shaped && i < FLOW_SHAPES; i++)
            f->shapes[i].inst = NULL;
        f->shaped = false;
    }
    /* Its registers are those of a warp that has ended: all of them are there. */
    f->warps[warp] = (flow_warp){ .key = ((uint64_t)launch->number + 1) << 32,
                                  .launch = launch,
                                  .addrs = launch->cta->addrs,
                                  .moves = launch->cta->moves,
                                  .started = now };
    f->cta_end[w->cta] = f->barrier_at[w->cta] = 0;
    const flow_inst *d = flow_head(c, warp);
    w->head = d->inst;
    c->front.subs[sub].wants[d->unit] |= warp_bit(c, warp);
    fs->time = flow_later(fs->time, now);
    /* It is fetched, and decoded in the next round. */
    flow_sleep_until(fs, warp_bit(c, warp), fetch + (c->spec->fetch_rounds > 1 ? 1 : 2));
    ls_cycle next = flow_soonest(fs);
    f->next[sub] = next < f->next[sub] ? next : f->next[sub];
}

void flow_start_warps(core *c, ls_cycle now)
{
    for (uint64_t set = c->front.need_fetch; set != 0; set &= set - 1)
        start_warp(c, (uint32_t)__builtin_ctzll(set), now, now);
    c->front.need_fetch = 0;
    for (uint32_t i = c->front.held_count; i > 0; i--)
        start_warp(c, c->front.held[i - 1] & 63, now, c->front.held[i - 1] >> 6);
    c->front.held_count = 0;
}

static void count_cycles(core *c, ls_cycle now)
{
    flow *f = c->flow;
    if (f->busy) {
        c->n.resident_cycles += now - f->counted;
        c->n.issue_slots += (now - f->counted) * c->sub_count;
    }
    f->counted = now;
}

void flow_settle(core *c, ls_cycle now)
{
    for (uint32_t sub = 0; sub < c->sub_count; sub++)
        flow_count_stalls(c, &c->front.subs[sub], now);
    flow_forget(c);
    count_reasons(c);
    front_count_peak(c);
}

static void finish_blocks(core *c, ls_cycle now)
{
    flow *f = c->flow;
    for (uint32_t set = f->ended; set != 0; set &= set - 1) {
        uint32_t slot = (uint32_t)__builtin_ctz(set);
        if (f->cta_end[slot] > now)
            continue;
        f->ended &= ~(1u << slot);
        cta_finish(c, slot);
    }
    if (f->busy && c->blocks.resident == 0)
        flow_settle(c, now);
}

/* How far the core may run ahead: blocks that start meanwhile want their share of the schedulers. */
static ls_cycle horizon(const core *c, ls_cycle now)
{
    const flow *f = c->flow;
    ls_cycle start = ahead_next(c), limit = now + FLOW_AHEAD;
    if (ahead_expects(c) && c->blocks.last_start + FLOW_EXPECTED > now)
        limit = now + FLOW_EXPECT;
    if (ahead_has_next(c))
        for (uint32_t set = f->ended; set != 0; set &= set - 1) {
            ls_cycle next = f->cta_end[__builtin_ctz(set)] + ahead_delay(c);
            start = next < start ? next : start;
        }
    return start <= limit ? flow_later(start, now + 1) - 1 : limit;
}

static bool tick(void *self, ls_cycle now)
{
    core *c = self;
    flow *f = c->flow;
    count_cycles(c, now);
    c->now = c->last_tick = now;
    finish_blocks(c, now);
    if (!f->busy && c->blocks.resident > 0)
        front_count_stalls_from(c, now);
    f->busy = c->blocks.resident > 0;
    if ((c->front.need_fetch | c->front.held_count) != 0)
        flow_start_warps(c, now);
    f->horizon = horizon(c, now);
    while (flow_run(c))
        f->horizon = horizon(c, now);
    formula_count(c);
    ls_domain_progress(c->domain);
    c->now = now;
    ls_cycle next = LS_CYCLE_MAX;
    for (uint32_t i = 0; i < c->sub_count; i++)
        next = f->next[i] < next ? f->next[i] : next;
    for (uint32_t set = f->ended; set != 0; set &= set - 1) {
        ls_cycle end = f->cta_end[__builtin_ctz(set)];
        next = end < next ? end : next;
    }
    return core_sleep(c, next);
}

static bool init(core *c)
{
    flow *f = ls_domain_alloc(c->domain, sizeof *f);
    if (f == NULL)
        return false;
    c->flow = f;
    f->insts = ls_domain_alloc(c->domain, FLOW_INSTS * sizeof *f->insts);
    if (f->insts == NULL)
        return false;
    f->steps = (uint32_t)c->spec->collect_steps;
    f->banks = (uint32_t)c->spec->register_banks;
    f->collectors = (uint32_t)c->spec->collectors;
    while (1u << f->port_shift < f->steps * f->banks)
        f->port_shift++;
    f->port_mask = (1u << f->port_shift) - 1;
    for (uint32_t i = 0; i < CORE_SUBS_MAX; i++)
        f->next[i] = LS_CYCLE_MAX;
    if (c->analytic == NULL)
        return flow_simulated_init(c);
    f->unit = analytic_unit(c);
    return true;
}

/* Nothing is released and nothing written at a time of its own. */
static void release(core *c, const flight *f)
{
    (void)c;
    (void)f;
}

static bool take_banks(core *c, const flight *f)
{
    (void)c;
    (void)f;
    return true;
}

const core_alu core_alu_flow = { .init = init, .tick = tick, .release = release, .take_banks = take_banks };
const core_alu core_alu_flow_simulated = { .init = init,
                                           .tick = flow_simulated_tick,
                                           .release = flow_release,
                                           .take_banks = take_banks,
                                           .reply = flow_reply,
                                           .resume = flow_look_again };

/* flow_simulated.c: alu: issue with memory: cycle: where issues meet the cycles of the load/store unit. May touch
 * its core only; see flow.h.
 *
 * Memory instructions wait in one queue for the load/store unit, which takes them in the order in which they have
 * their operands. While it has not taken them they hold operand collectors of their sub-core, and at last the
 * issue register of the unit. The core is awake only in cycles in which the load/store unit has something to do
 * or a warp issues. */
#include "model/core/flow.h"
#include "model/core/front.h"
#include "model/core/options_state.h"

/* ------------------------------------------------------------------------------ warps that wait for answers */

bool flow_waits(const core *c, uint32_t warp)
{
    const front_sub *s = &c->front.subs[warp_sub(c, warp)];
    const warp_state *w = &c->front.warps[warp];
    uint32_t bit = warp_bit(c, warp);
    return ((s->fence & bit) != 0 && (w->atomics > 0 || c->flow->warps[warp].loads > 0)) ||
           ((s->async & bit) != 0 && ((s->elsewhere & bit) != 0 || core_async_open(w)));
}

void flow_park(core *c, uint32_t warp, ls_cycle soon)
{
    uint32_t sub = warp_sub(c, warp), bit = warp_bit(c, warp);
    front_sub *s = &c->front.subs[sub];
    c->flow->subs[sub].parked |= bit;
    c->flow->warps[warp].wake = soon;
    if (((s->fence | s->async) & bit) != 0)
        return;
    s->blocked |= bit;
    s->memory_blocked |= bit;
}

void flow_look_again(core *c, uint32_t warp)
{
    flow *f = c->flow;
    uint32_t sub = warp_sub(c, warp), bit = warp_bit(c, warp);
    flow_sub *fs = &f->subs[sub];
    if ((fs->parked & bit) == 0 || flow_waits(c, warp))
        return;
    ls_cycle need = flow_ready_at(c, warp, flow_head(c, warp));
    if (need == LS_CYCLE_MAX)
        return;
    fs->parked &= ~bit;
    ls_cycle soon = flow_later(f->warps[warp].wake, c->last_tick); /* c->now runs ahead while warps issue */
    flow_sleep_until(fs, bit, flow_later(need, soon));
    ls_cycle next = flow_soonest(fs);
    f->next[sub] = next < f->next[sub] ? next : f->next[sub];
}

void flow_let_go(core *c, uint32_t warp, ls_cycle at)
{
    flow_warp *fw = &c->flow->warps[warp];
    c->front.subs[warp_sub(c, warp)].elsewhere &= ~warp_bit(c, warp);
    fw->wake = flow_later(fw->wake, at);
    flow_look_again(c, warp);
    ls_ticker_wake(&c->ticker);
}

static flow_inst *inst_of(core *c, const flight *f)
{
    const flow_warp *fw = &c->flow->warps[f->warp];
    uint32_t place = (uint32_t)(f->inst - c->front.warps[f->warp].insts);
    flow_inst *d = &c->flow->insts[place % FLOW_INSTS];
    if (LS_UNLIKELY(d->key != fw->key + place))
        flow_decode(c, d, fw->launch, place, fw->key + place);
    return d;
}

/* The registers of the instruction are written in cycle `done`. */
static void written(core *c, const flight *f, ls_cycle done)
{
    const flow_inst *d = inst_of(c, f);
    if (d->written > 0) {
        flow_set_results(c, f->warp, d, done);
        c->flow->warps[f->warp].loads--;
    }
    flow_look_again(c, f->warp);
}

void flow_release(core *c, const flight *f)
{
    written(c, f, c->now);
}

/* --------------------------------------------------------------------- in front of the load/store unit */

static void close_units(flow_sub *fs, uint32_t units)
{
    fs->closed |= units;
    fs->taken |= units;
    for (uint32_t set = units; set != 0; set &= set - 1)
        fs->issue_free[__builtin_ctz(set)] = LS_CYCLE_MAX;
}

#define MEMORY_BIT (1u << UNIT_memory)
#define OTHER_BITS (((1u << UNIT_COUNT) - 1) & ~MEMORY_BIT)

/* One instruction stands in the register before the unit, the next ones have a collector each, the last one
 * waits in the issue register. */
static uint32_t units_closed(const core *c, const flow_sub *fs)
{
    uint32_t collectors = c->flow->collectors;
    return (fs->waiting > collectors ? OTHER_BITS : 0) |
           (fs->waiting > collectors + 1 || c->flow->simulated->starved ? MEMORY_BIT : 0);
}

/* Units that are open again take instructions from now on. */
static void open_units(core *c, uint32_t sub)
{
    flow *f = c->flow;
    flow_sub *fs = &f->subs[sub];
    uint32_t opened = fs->closed & ~units_closed(c, fs);
    if (opened == 0)
        return;
    fs->closed &= ~opened;
    for (uint32_t set = opened; set != 0; set &= set - 1)
        fs->issue_free[__builtin_ctz(set)] = c->now;
    if (fs->ready == 0)
        return;
    ls_cycle next = flow_later(fs->time, c->now);
    f->next[sub] = next < f->next[sub] ? next : f->next[sub];
}

void flow_enqueue(core *c, uint32_t warp, const flow_inst *d, const ls_dyn *dyn, ls_cycle ready)
{
    flow *f = c->flow;
    flow_simulated *m = f->simulated;
    flow_sub *fs = &f->subs[warp_sub(c, warp)];
    uint16_t index = flight_take(c, warp, warp_sub(c, warp), d->inst, dyn);
    if (ls_tap_wants(c->tap, LS_TAP_INSTRUCTION))
        core_tap_instruction(c, index, LS_TAP_BEGIN, LS_STEP_ISSUE);
    f->warps[warp].flight = index;
    uint32_t i = m->tail++;
    for (; i != m->head && m->queue[(i - 1) % FLOW_QUEUE].ready > ready; i--)
        m->queue[i % FLOW_QUEUE] = m->queue[(i - 1) % FLOW_QUEUE];
    m->queue[i % FLOW_QUEUE] = (flow_wait){ .ready = ready, .flight = index };
    fs->waiting++;
    m->starved = flights_full(c);
    if (LS_UNLIKELY(m->starved))
        for (uint32_t sub = 0; sub < c->sub_count; sub++)
            close_units(&f->subs[sub], MEMORY_BIT);
    close_units(fs, units_closed(c, fs) & ~fs->closed);
}

static ls_cycle shared_done(core *c, const ls_inst *inst, uint32_t mask, ls_cycle left)
{
    flow_simulated *m = c->flow->simulated;
    if (inst->mem_op == LS_MEM_STORE || mask == 0)
        return left;
    /* One result per cycle leaves the pipeline, and is written a cycle later. */
    ls_cycle leaves = left + c->spec->shared_latency_cycles;
    leaves = leaves > m->shared_written ? leaves : m->shared_written + 1;
    m->shared_written = leaves;
    return leaves + (c->spec->network_width == 1);
}

ls_cycle flow_reserve_shared(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, ls_cycle start)
{
    const flight f = { .inst = inst,
                       .dyn = dyn,
                       .mask = dyn->mask,
                       .warp = (uint8_t)warp,
                       .sub = (uint8_t)warp_sub(c, warp),
                       .space = LS_SPACE_SHARED };
    ls_cycle left = start + ldst_shared_cycles(c, &f);
    c->flow->simulated->unit_free = left;
    return shared_done(c, inst, dyn->mask, left);
}

/* The unit has an access to shared memory: from here on everything is known. */
static void take_shared(core *c, uint16_t index)
{
    const flight *f = &c->flights.at[index];
    uint32_t warp = f->warp;
    warp_state *w = &c->front.warps[warp];
    c->ldst.dispatch = NO_FLIGHT;
    c->flow->simulated->unit_free = c->ldst.dispatch_until;
    ls_cycle done = shared_done(c, f->inst, f->mask, c->ldst.dispatch_until);
    c->flow->warps[warp].memory_until = flow_later(c->flow->warps[warp].memory_until, done);
    w->busy_until = flow_later(w->busy_until, done);
    bool atomic = f->inst->mem_op == LS_MEM_ATOMIC || f->inst->mem_op == LS_MEM_REDUCTION;
    if (atomic && f->inst->space != LS_SPACE_SHARED && f->mask != 0)
        w->atomics--;
    written(c, f, done);
    count_for(c, warp);
    c->n.warp_instructions++;
    c->n.thread_instructions += lane_count(f->mask);
    w->in_flight--;
    flight_free(c, index);
    if (w->next == w->end)
        c->flow->simulated->ending |= UINT64_C(1) << warp;
}

static void take_next(core *c)
{
    flow_simulated *m = c->flow->simulated;
    while (m->head != m->tail && c->ldst.dispatch == NO_FLIGHT && m->unit_free <= c->now &&
           m->queue[m->head % FLOW_QUEUE].ready <= c->now) {
        uint16_t index = m->queue[m->head++ % FLOW_QUEUE].flight;
        uint32_t sub = c->flights.at[index].sub;
        c->flow->subs[sub].waiting--;
        ldst_take(c, index);
        const flight *f = &c->flights.at[index];
        if (f->space == LS_SPACE_SHARED && f->requests == 0) /* else answers of other blocks end it */
            take_shared(c, index);
        else
            c->ldst.memory_next = ldst_next(c);
        open_units(c, sub);
    }
}

/* ------------------------------------------------------------------------------------ answers of memory */

/* Sectors of a load that others follow, and stores that no warp waits for. */
static bool is_quiet(core *c, const ls_sector_message *message)
{
    if (message->kind == LS_SECTOR_WRITE) {
        if (message->token >= TMA_STORE_TOKEN)
            return message->token == SECTOR_CACHE_NONE; /* a line that L1 wrote back; else of a bulk copy */
        warp_state *w = &c->front.warps[message->token & STORE_WARP];
        if (w->stores == 1 && w->next == w->end)
            return false;
        w->stores--;
        return true;
    }
    if (message->token >= READONLY_TOKEN || c->flights.at[message->token].requests == 1)
        return false;
    flight_came_from(c, message->token, (ls_sector_level)message->level);
    c->flights.at[message->token].requests--;
    return true;
}

/* A sector for L1. True: nothing has to look at it before the next cycle. */
static bool fill_quietly(core *c, const ls_sector_message *message, ls_cycle now)
{
    if (c->ldst.l1 == NULL || message->token != SECTOR_CACHE_NONE || c->ldst.next_wb != NO_FLIGHT ||
        sector_cache_has_ready(c->ldst.l1))
        return false;
    count_for_all(c); /* several may have asked for it */
    sector_cache_fill_from(c->ldst.l1, message->address, message->level);
    if (LS_UNLIKELY(!sector_cache_has_ready(c->ldst.l1))) /* a prefetch */
        return true;
    uint32_t token = sector_cache_peek_ready(c->ldst.l1);
    if (c->flights.at[token].requests > 1) {
        flight_came_from(c, token, (ls_sector_level)message->level);
        c->flights.at[token].requests--;
        (void)sector_cache_next_ready(c->ldst.l1, &token);
    }
    if (sector_cache_has_ready(c->ldst.l1)) { /* the last sector of a load, or of several loads */
        c->ldst.memory_next = c->ldst.memory_next <= now ? c->ldst.memory_next : now + 1;
        ls_ticker_wake(&c->ticker);
    }
    return true;
}

/* An answer that changes nothing but a number needs no look at the core: it only has its turn. */
bool flow_reply(core *c, const ls_sector_message *message, ls_cycle now)
{
    flow_simulated *m = c->flow->simulated;
    uint64_t width = c->spec->network_width, turn = now * width;
    turn = turn > m->reply_turn ? turn : m->reply_turn;
    m->reply_turn = turn + 1;
    if (is_quiet(c, message))
        return true;
    if (ring_empty(&m->late_ring) && turn < (now + 1) * width)
        return ring_empty(&c->ldst.reply_ring) && fill_quietly(c, message, now);
    if (ring_full(&m->late_ring))
        return false;
    uint32_t at = ring_push(&m->late_ring);
    m->late[at].message = *message;
    m->late[at].at = width == 1 ? turn : turn / width;
    ls_ticker_wake(&c->ticker);
    return true;
}

/* Those whose turn has come. */
static void take_late(core *c)
{
    flow_simulated *m = c->flow->simulated;
    while (!ring_empty(&m->late_ring) && !ring_full(&c->ldst.reply_ring)) {
        uint32_t front = ring_front(&m->late_ring);
        if (m->late[front].at > c->now)
            return;
        c->ldst.replies[ring_push(&c->ldst.reply_ring)] = m->late[ring_pop(&m->late_ring)].message;
        c->ldst.memory_next = 0;
    }
}

/* ---------------------------------------------------------------------------------------------- one look */

/* As core_count_sleep(): the schedulers count their stalls themselves. */
static void count_cycles(core *c, ls_cycle now)
{
    uint64_t slept = now - c->last_tick - 1;
    if (c->resident_warps_then == 0) {
        slept = 0;
        if (c->blocks.warps > 0)
            front_count_stalls_from(c, now);
    }
    c->n.resident_cycles += slept + (c->blocks.warps > 0);
    c->n.issue_slots += slept * c->sub_count;
    c->n.resident_warps += slept * c->resident_warps_then + c->blocks.warps;
}

/* Warps at the end of their stream; those that wait for memory after that are ended by ldst.c. */
static void end_warps(core *c)
{
    flow_simulated *m = c->flow->simulated;
    for (uint64_t set = m->ending; set != 0; set &= set - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(set);
        if (c->front.warps[warp].busy_until > c->now)
            continue;
        m->ending &= ~(UINT64_C(1) << warp);
        cta_warp_maybe_done(c, warp);
    }
}

static void run_unit(core *c)
{
    flow_simulated *m = c->flow->simulated;
    if (!ring_empty(&m->late_ring))
        take_late(c);
    if (ldst_due(c)) {
        ldst_cycle(c);
        c->ldst.memory_next = ldst_next(c);
    }
    if (m->head != m->tail)
        take_next(c);
    if (LS_UNLIKELY(m->starved) && !flights_full(c)) {
        m->starved = false;
        for (uint32_t sub = 0; sub < c->sub_count; sub++)
            open_units(c, sub);
    }
}

static ls_cycle next_look(const core *c)
{
    const flow *f = c->flow;
    const flow_simulated *m = f->simulated;
    ls_cycle next = c->ldst.memory_next;
    for (uint32_t i = 0; i < c->sub_count; i++)
        next = f->next[i] < next ? f->next[i] : next;
    if (m->head != m->tail && c->ldst.dispatch == NO_FLIGHT) {
        ls_cycle take = flow_later(m->queue[m->head % FLOW_QUEUE].ready, m->unit_free);
        next = take < next ? take : next;
    }
    for (uint64_t set = m->ending; set != 0; set &= set - 1) {
        ls_cycle end = c->front.warps[__builtin_ctzll(set)].busy_until;
        next = end < next ? end : next;
    }
    if (!ring_empty(&m->late_ring)) {
        ls_cycle late = m->late[ring_front(&m->late_ring)].at;
        next = late < next ? late : next;
    }
    if (!options_idle(c)) {
        ls_cycle optional = options_next(c);
        next = optional < next ? optional : next;
    }
    return next <= c->now ? c->now + 1 : next;
}

bool flow_simulated_tick(void *self, ls_cycle now)
{
    core *c = self;
    flow *f = c->flow;
    count_cycles(c, now);
    c->now = c->last_tick = now;
    if (!options_idle(c))
        options_cycle(c);
    run_unit(c);
    if (f->simulated->ending != 0)
        end_warps(c);
    if ((c->front.need_fetch | c->front.held_count) != 0)
        flow_start_warps(c, now);
    if (c->blocks.warps > 0) {
        c->n.issue_slots += c->sub_count;
        f->horizon = now + FLOW_AHEAD_SIMULATED;
        uint64_t issued = c->n.issued;
        (void)flow_run(c);
        if (c->n.issued != issued)
            ls_domain_progress(c->domain);
        c->now = now;
    } else if (c->resident_warps_then > 0) {
        flow_settle(c, now);
    }
    c->resident_warps_then = c->blocks.warps;
    return core_sleep(c, next_look(c));
}

bool flow_simulated_init(core *c)
{
    c->flow->simulated = ls_domain_alloc(c->domain, sizeof *c->flow->simulated);
    if (c->flow->simulated == NULL)
        return false;
    ring_init(&c->flow->simulated->late_ring, FLOW_LATE);
    return true;
}

/* hybrid.c: alu: hybrid: warps are scheduled cycle by cycle, but an instruction is looked at once, when it
 * issues.
 *
 * Issue knows when the result will be there (hybrid_pipe.c) and writes that cycle beside the register. A warp
 * whose next instruction needs it sleeps until then; nothing happens at a write-back. Instructions are
 * decoded as in front.c, but always fetched in time.
 * Memory instructions go through the load/store unit as in every model: their registers have no known cycle
 * until release(). */
#include "model/core/front.h"
#include "model/core/hybrid_book.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------- the wheel */

void hybrid_look_at(core *c, ls_cycle cycle)
{
    hybrid *h = c->hybrid;
    if (cycle <= c->now)
        return;
    uint32_t slot = (uint32_t)(cycle - c->now >= CORE_WHEEL ? c->now - 1 : cycle) % CORE_WHEEL;
    h->wake_used[slot >> 6] |= UINT64_C(1) << (slot & 63);
    h->wake_words |= 1u << (slot >> 6);
}

static inline ls_cycle next_wake(const core *c)
{
    const hybrid *h = c->hybrid;
    if (h->wake_words == 0)
        return LS_CYCLE_MAX;
    uint32_t from = (uint32_t)(c->now + 1) % CORE_WHEEL, word = from >> 6;
    uint64_t here = h->wake_used[word] >> (from & 63);
    if (here != 0)
        return c->now + 1 + (uint32_t)__builtin_ctzll(here);
    uint32_t later = h->wake_words & (~1u << word);
    word = (uint32_t)__builtin_ctz(later != 0 ? later : h->wake_words);
    uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(h->wake_used[word]);
    return c->now + 1 + (slot - from) % CORE_WHEEL;
}

/* ---------------------------------------------------------------------------------------------- registers */

ls_cycle hybrid_wide_ready(const core *c, uint32_t warp, const hybrid_inst *d)
{
    const ls_cycle *ready = c->hybrid->ready[warp];
    const ls_inst *inst = d->inst;
    bool spans = c->spec->track_spans;
    ls_cycle need = 0;
    for (uint32_t i = 0; i < inst->src_count; i++)
        for (uint32_t k = 0; k < (spans && inst->src_span[i] > 1 ? inst->src_span[i] : 1u); k++)
            if (inst->src[i] + k < LS_REG_COUNT && ready[inst->src[i] + k] > need)
                need = ready[inst->src[i] + k];
    for (uint32_t i = 0; i < inst->dst_count; i++)
        for (uint32_t k = 0; k < (spans && i == 0 && inst->dst_span > 1 ? inst->dst_span : 1u); k++)
            if (inst->dst[i] + k < LS_REG_COUNT && ready[inst->dst[i] + k] > need)
                need = ready[inst->dst[i] + k];
    return need;
}

void hybrid_wide_results(core *c, uint32_t warp, const hybrid_inst *d, ls_cycle done)
{
    ls_cycle *ready = c->hybrid->ready[warp];
    const ls_inst *inst = d->inst;
    bool zero = c->spec->accelsim_rules;
    for (uint32_t i = 0; i < inst->dst_count; i++)
        if (zero || (inst->dst[i] != LS_REG_ZERO && inst->dst[i] < LS_REG_UNIFORM_ZERO))
            for (uint32_t k = 0;
                 k < (c->spec->track_spans && i == 0 && inst->dst_span > 1 ? inst->dst_span : 1u); k++)
                if (inst->dst[i] + k < LS_REG_COUNT)
                    ready[inst->dst[i] + k] = done;
}

bool hybrid_pending(const core *c, uint32_t warp)
{
    return c->hybrid->loads[warp] > 0 || c->warps[warp].busy_until > c->now;
}

/* Something that the warp waits for may be there. */
static void look_again(core *c, uint32_t warp)
{
    warp_state *w = &c->warps[warp];
    uint32_t sub = warp_sub(c, warp), bit = warp_bit(c, warp);
    sub_core *s = &c->subs[sub];
    if (!w->resident)
        return;
    if ((s->fence & bit) != 0 && w->atomics == 0) {
        if (!hybrid_pending(c, warp))
            s->fence &= ~bit;
        else if (w->busy_until > c->now)
            hybrid_wake_at(c, warp, w->busy_until);
    }
    if ((s->buffered & s->blocked & bit) != 0)
        hybrid_set_need(c, s, warp, hybrid_ready_at(c, warp, hybrid_head(c, warp)), c->now);
    c->front_changed |= 1u << sub;
}

static inline const hybrid_inst *decode_flight(core *c, const flight *f)
{
    const ls_inst *insts = c->warps[f->warp].insts;
    return hybrid_decode(c, f->warp, insts, (uint32_t)(f->inst - insts));
}

static void release(core *c, const flight *f)
{
    const hybrid_inst *d = decode_flight(c, f);
    if (f->inst->dst_count > 0) {
        hybrid_set_results(c, f->warp, d, c->now);
        c->hybrid->loads[f->warp]--;
    }
    look_again(c, f->warp);
}

void hybrid_result(core *c, uint32_t warp, const hybrid_inst *d, ls_cycle done)
{
    warp_state *w = &c->warps[warp];
    hybrid_set_results(c, warp, d, done);
    w->in_flight--;
    w->busy_until = done > w->busy_until ? done : w->busy_until;
    c->hybrid->alu_until[warp] = done > c->hybrid->alu_until[warp] ? done : c->hybrid->alu_until[warp];
    look_again(c, warp);
    if (w->next == w->end && w->busy_until > c->now)
        hybrid_wake_at(c, warp, w->busy_until);
}

static bool take_banks(core *c, const flight *f)
{
    hybrid_written(c, f->sub, f->warp, decode_flight(c, f));
    return true;
}

/* -------------------------------------------------------------------------------------------------- warps */

static void end_bursts(core *c)
{
    hybrid *h = c->hybrid;
    h->burst_next = LS_CYCLE_MAX;
    for (uint32_t set = h->bursting; set != 0; set &= set - 1) {
        uint32_t sub = (uint32_t)__builtin_ctz(set);
        ls_cycle end = h->subs[sub].burst_end;
        if (end <= c->now) {
            h->bursting &= ~(1u << sub);
            c->front_changed |= 1u << sub;
        } else {
            h->burst_next = end < h->burst_next ? end : h->burst_next;
        }
    }
}

static void decode(core *c, uint32_t warp)
{
    warp_state *w = &c->warps[warp];
    size_t left = (size_t)(w->end - w->next);
    sub_core *s = &c->subs[warp_sub(c, warp)];
    if (w->head ==
        NULL) /* its first: the registers of the slot are those of a warp that has ended, so all are there */
        c->hybrid->key[warp] = hybrid_key(c->ctas[w->cta].launch.number);
    w->buffered = left < 2 ? 1 : 2;
    s->buffered |= warp_bit(c, warp);
    c->front_changed |= 1u << warp_sub(c, warp);
    const hybrid_inst *d = hybrid_head(c, warp);
    hybrid_set_head(c, s, warp, d, hybrid_ready_at(c, warp, d));
}

/* As front.c: two instructions at a time, so many warps per cycle, one round after another. */
static void fetch(core *c)
{
    for (uint64_t round = 0; round < c->spec->fetch_rounds; round++) {
        if (c->fetched >= 0) {
            decode(c, (uint32_t)c->fetched);
            c->fetched = -1;
        }
        if (c->need_fetch == 0)
            return;
        uint64_t later = c->last_fetched >= 63 ? 0 : c->need_fetch & (~UINT64_C(1) << c->last_fetched);
        uint32_t warp = (uint32_t)__builtin_ctzll(later != 0 ? later : c->need_fetch);
        c->need_fetch &= ~(UINT64_C(1) << warp);
        c->last_fetched = warp;
        c->fetched = (int32_t)warp;
    }
}

/* ---------------------------------------------------------------------------------------------- one cycle */

static void wake_warps(core *c)
{
    hybrid *h = c->hybrid;
    uint32_t slot = (uint32_t)c->now % CORE_WHEEL;
    h->wake_used[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
    if (h->wake_used[slot >> 6] == 0)
        h->wake_words &= ~(1u << (slot >> 6));
    uint64_t set = h->wake[slot];
    h->wake[slot] = 0;
    for (; set != 0; set &= set - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(set), sub = warp_sub(c, warp), bit = warp_bit(c, warp);
        sub_core *s = &c->subs[sub];
        warp_state *w = &c->warps[warp];
        if ((s->buffered & s->blocked & bit) != 0 && (s->fence & bit) == 0 && h->head_ready[warp] <= c->now) {
            s->blocked &= ~bit;
            c->front_changed |= 1u << sub;
        } else if (w->resident && w->next == w->end) {
            if (w->busy_until > c->now)
                hybrid_wake_at(c, warp, w->busy_until);
            else
                cta_warp_maybe_done(c, warp);
        } else {
            look_again(c, warp);
        }
    }
}

/* An access to shared memory that came through the queue: from here on everything is known. */
static void access_shared(core *c, uint16_t index)
{
    hybrid *h = c->hybrid;
    flight *f = &c->flights[index];
    uint32_t warp = f->warp, bit = warp_bit(c, warp);
    warp_state *w = &c->warps[warp];
    sub_core *s = &c->subs[f->sub];
    c->dispatch = NO_FLIGHT;
    h->unit_until = c->dispatch_until;
    ls_cycle done = hybrid_shared_done(c, f, h->unit_until);
    if (f->inst->dst_count > 0) {
        const hybrid_inst *d = decode_flight(c, f);
        hybrid_set_results(c, warp, d, done);
        h->loads[warp]--;
    }
    w->busy_until = done > w->busy_until ? done : w->busy_until;
    w->in_flight--;
    count_for(c, warp);
    c->n.warp_instructions++;
    c->n.thread_instructions += lane_count(f->mask);
    flight_free(c, index);
    if ((s->buffered & s->blocked & bit) != 0)
        hybrid_set_need(c, s, warp, hybrid_ready_at(c, warp, hybrid_head(c, warp)), c->now);
    if (w->next == w->end || (s->fence & bit) != 0)
        hybrid_wake_at(c, warp, w->busy_until);
}

/* The load/store unit is one for all: the oldest instruction goes first. */
static void take_oldest(core *c)
{
    hybrid *h = c->hybrid;
    uint32_t from = CORE_SUBS_MAX;
    uint16_t oldest = NO_FLIGHT;
    for (uint32_t set = h->waiting; set != 0; set &= set - 1) {
        uint32_t sub = (uint32_t)__builtin_ctz(set);
        const hybrid_wait *w = &h->subs[sub].queue[h->subs[sub].head % HYBRID_QUEUE];
        if (w->ready <= c->now &&
            (oldest == NO_FLIGHT || c->flights[w->flight].uid < c->flights[oldest].uid)) {
            oldest = w->flight;
            from = sub;
        }
    }
    if (oldest == NO_FLIGHT)
        return;
    hybrid_took(c, from);
    ldst_take(c, oldest);
    if (c->flights[oldest].space != LS_SPACE_SHARED) {
        c->memory_next = ldst_next(c);
        return;
    }
    access_shared(c, oldest);
    for (uint32_t set = h->waiting; set != 0; set &= set - 1) {
        uint32_t sub = (uint32_t)__builtin_ctz(set);
        if (h->subs[sub].queue[h->subs[sub].head % HYBRID_QUEUE].ready <= h->unit_until) {
            hybrid_look_at(c, h->unit_until);
            return;
        }
    }
}

static void load_store(core *c)
{
    hybrid *h = c->hybrid;
    if (ldst_due(c)) {
        ldst_cycle(c);
        c->memory_next = ldst_next(c);
    }
    if (h->waiting == 0 || c->dispatch != NO_FLIGHT)
        return;
    if (h->unit_until <= c->now)
        take_oldest(c);
    else
        hybrid_look_at(c, h->unit_until);
}

/* Sectors of a load that others follow, and stores that nobody waits for. */
static bool is_quiet(core *c, const ls_sector_message *message)
{
    if (message->kind == LS_SECTOR_WRITE) {
        if (message->token == SECTOR_CACHE_NONE) /* a line that L1 wrote back */
            return true;
        warp_state *w = &c->warps[message->token & STORE_WARP];
        if (w->stores == 1 && w->next == w->end)
            return false;
        w->stores--;
        return true;
    }
    if (message->token >= READONLY_TOKEN || c->flights[message->token].requests == 1)
        return false;
    c->flights[message->token].requests--;
    return true;
}

/* A sector for L1. True: nobody has to look at it before the next cycle. */
static bool fill_quietly(core *c, const ls_sector_message *message, ls_cycle now)
{
    if (c->l1 == NULL || message->token != SECTOR_CACHE_NONE || c->next_wb != NO_FLIGHT ||
        sector_cache_has_ready(c->l1))
        return false;
    count_for_all(c); /* several may have asked for it */
    sector_cache_fill(c->l1, message->address);
    if (LS_UNLIKELY(!sector_cache_has_ready(c->l1))) /* a prefetch */
        return true;
    uint32_t token = sector_cache_peek_ready(c->l1);
    if (c->flights[token].requests > 1) {
        c->flights[token].requests--;
        (void)sector_cache_next_ready(c->l1, &token);
    }
    if (sector_cache_has_ready(c->l1)) { /* the last sector of a load, or of several loads */
        c->memory_next = c->memory_next <= now ? c->memory_next : now + 1;
        ls_ticker_wake(&c->ticker);
    }
    return true;
}

/* An answer that changes nothing but a number needs no look at the core: it only has its turn. */
static bool reply(core *c, const ls_sector_message *message, ls_cycle now)
{
    hybrid *h = c->hybrid;
    uint64_t width = c->spec->network_width, turn = now * width;
    turn = turn > h->reply_turn ? turn : h->reply_turn;
    h->reply_turn = turn + 1;
    if (is_quiet(c, message))
        return true;
    if (ring_empty(&h->late_ring) && turn < (now + 1) * width)
        return ring_empty(&c->reply_ring) && fill_quietly(c, message, now);
    if (ring_full(&h->late_ring))
        return false;
    uint32_t at = ring_push(&h->late_ring);
    h->late[at].message = *message;
    h->late[at].at = width == 1 ? turn : turn / width;
    ls_ticker_wake(&c->ticker);
    return true;
}

/* Those whose turn has come. */
static void take_late(core *c)
{
    hybrid *h = c->hybrid;
    while (!ring_empty(&h->late_ring) && !ring_full(&c->reply_ring)) {
        uint32_t front = ring_front(&h->late_ring);
        if (h->late[front].at > c->now) {
            hybrid_look_at(c, h->late[front].at);
            return;
        }
        c->replies[ring_push(&c->reply_ring)] = h->late[ring_pop(&h->late_ring)].message;
    }
}

static bool tick(void *self, ls_cycle now)
{
    core *c = self;
    hybrid *h = c->hybrid;
    if (now != c->last_tick + 1 || c->resident_warps_then == 0)
        core_book_sleep(c, now);
    c->now = now;
    c->last_tick = now;
    if (c->resident_warps > 0) {
        c->n.resident_cycles++;
        c->n.resident_warps += c->resident_warps;
    }
    uint32_t slot = (uint32_t)now % CORE_WHEEL;
    if ((h->wake_used[slot >> 6] >> (slot & 63) & 1) != 0)
        wake_warps(c);
    if (OPTION_ON(c->options.any))
        options_cycle(c);
    if (!ring_empty(&h->late_ring))
        take_late(c);
    if (h->waiting != 0 || ldst_due(c))
        load_store(c);
    if (h->burst_next <= now)
        end_bursts(c);
    if (c->resident_warps > 0) {
        c->n.issue_slots += c->sub_count;
        if ((c->front_changed & ~h->bursting) != 0 || h->retry <= now)
            hybrid_issue(c);
        if (++c->turn == c->sub_count)
            c->turn = 0;
        if (c->held_count != 0)
            front_fetch_held(c);
        if ((c->need_fetch | (uint64_t)(c->fetched >= 0)) != 0)
            fetch(c);
    } else if (c->resident_warps_then > 0) {
        front_book(c, now);
    }
    c->resident_warps_then = c->resident_warps;
    uint32_t changed = c->front_changed & ~h->bursting;
    if (c->resident_warps > 0 && (c->need_fetch | changed | (uint64_t)(c->fetched >= 0)) != 0)
        return true;
    ls_cycle next = next_wake(c), held = front_next_held(c);
    next = held < next ? held : next;
    next = c->memory_next < next ? c->memory_next : next;
    if (OPTION_ON(c->options.any)) {
        ls_cycle optional = options_next(c);
        next = optional < next ? optional : next;
    }
    return core_sleep(c, next <= now ? now + 1 : next);
}

static bool init(core *c)
{
    hybrid *h = ls_domain_alloc(c->domain, sizeof *h);
    if (h == NULL)
        return false;
    c->hybrid = h;
    h->steps = (uint32_t)c->spec->collect_steps;
    h->banks = (uint32_t)c->spec->register_banks;
    h->collectors = (uint32_t)c->spec->collectors;
    h->result_buses = (uint32_t)c->spec->result_buses;
    h->retry = h->burst_next = LS_CYCLE_MAX;
    ring_init(&h->late_ring, HYBRID_LATE);
    h->usual = h->steps == HYBRID_USUAL.steps && h->banks == HYBRID_USUAL.banks &&
               h->collectors == HYBRID_USUAL.collectors;
    for (uint32_t warp = 0; warp < CORE_WARPS_MAX; warp++)
        h->bank_shift[warp] = (uint8_t)(warp % h->banks);
    return true;
}

const core_alu core_alu_hybrid = {
    .init = init, .tick = tick, .release = release, .take_banks = take_banks, .reply = reply
};

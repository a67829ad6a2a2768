/* partition_cycle.c: a cycle of the L2 slices of a channel (partition.c), in the order of a pipeline emptied from its end. */
#include "model/memory/partition_impl.h"
#include "model/memory/partition_tap.h"

/* Functions with `special` are made twice: for partitions that are, and for those that are not. */
#define MADE_TWICE static inline __attribute__((always_inline))

MADE_TWICE void answer(partition *p, slice *s, uint32_t i, bool special)
{
    partition_put(p, &s->output, i);
    if (special && s->output.count == 1 && !s->output_waiting)
        s->answer_at = partition_line_answer_at(p, s);
    if (special && s->coalesce != NULL && p->requests[i].entry != COALESCE_NONE)
        partition_coalesce_answer(p, s, i);
}

/* A port that reaches less than its width is busy for longer with each answer. */
static inline bool port_open(const partition *p, const slice *s)
{
    return s->port_free < (p->now + 1) * 100;
}

/* False if the network has no room, or if it has not come to the last of several sectors. */
MADE_TWICE bool send_answer(partition *p, slice *s, bool special)
{
    uint32_t i = s->output.list.first;
    pending_request *r = &p->requests[i];
    uint32_t sectors = special ? r->message.sectors : 0;
    if (special && sectors != 0 && r->ready > p->now)
        return false;
    ls_link *link = special && r->message.half ? p->ways[PARTITION_HALF_ANSWER] : p->to_core[r->message.core];
    ls_sector_message *message = ls_link_send(link, 1);
    if (LS_UNLIKELY(message == NULL)) {
        p->n.output_stalls++;
        s->output_waiting = true;
        ls_link_wait(link, &s->output_event);
        return false;
    }
    *message = r->message;
    if (LS_UNLIKELY(r->message.number != 0))
        tap_request(p->tap, p->region, &r->message, LS_STEP_REPLY);
    (void)partition_take(p, &s->output);
    uint32_t cost = p->port_cost;
    if (special && sectors != 0) {
        uint32_t count = ls_sector_count(&r->message);
        cost = count * (cost != 0 ? cost : 100 / p->width);
        p->n.replies += count - 1;
    }
    if (cost != 0)
        s->port_free = (s->port_free > p->now * 100 ? s->port_free : p->now * 100) + cost;
    index_pool_give(&p->request_pool, INDEX_LINKS(p->requests, next), i);
    p->n.replies++;
    ls_domain_pending(p->domain, -1);
    ls_domain_progress(p->domain);
    return true;
}

void partition_output_event(void *self, ls_cycle now)
{
    slice *s = self;
    (void)now;
    s->output_waiting = false;
    s->answer_at = 0;
    partition_wake_now(s->owner, s);
}

MADE_TWICE bool has_look_up(const slice *s, bool special)
{
    return s->input.count > 0 || sector_cache_has_retry(&s->l2) || (special && s->home.count > 0);
}

/* The oldest request; requests that stalled at a full MSHR come first when that is free. False if the cache
 * cannot take it now. A stalled request keeps its buffer entry of the link. */
MADE_TWICE bool look_up(partition *p, slice *s, bool special)
{
    bool again = sector_cache_has_retry(&s->l2);
    queue *from = special && s->home.count > 0 ? &s->home : &s->input;
    uint32_t i = again ? sector_cache_peek_retry(&s->l2) : from->list.first;
    pending_request *r = &p->requests[i];
    sector_cache_outcome outcome;
    uint32_t bytes = r->message.byte_mask;
    if (special && p->halves && !again) {
        half_step step = partition_half_look(p, s, i);
        if (step != HALF_HERE)
            return step == HALF_GONE;
    }
    if (special && r->message.semaphore) {
        if (r->message.kind == LS_SECTOR_READ && !again && !partition_semaphore(p, s, from, i))
            return true;
        bytes = SEMAPHORE_BYTES;
    }
    sector_cache_set_global(&s->l2, r->message.global);
    if (special && p->spec->ideal)
        sector_cache_warm(&s->l2, r->message.address, r->message.local);
    if (special && r->message.sectors != 0) {
        outcome = partition_line_look_up(p, s, i);
    } else if (r->message.kind == LS_SECTOR_WRITE) {
        outcome = sector_cache_stall_write(&s->l2, r->message.address, i);
        if (LS_LIKELY(outcome == SECTOR_CACHE_HIT))
            outcome = sector_cache_write(&s->l2, r->message.address, r->message.local, bytes, i);
    } else {
        outcome = sector_cache_read(&s->l2, r->message.address, r->message.local, i,
                                    r->message.kind == LS_SECTOR_ATOMIC);
    }
    if (outcome == SECTOR_CACHE_FAIL)
        return false;
    if (LS_UNLIKELY(again))
        sector_cache_pop_retry(&s->l2);
    else
        (void)partition_take(p, from);
    if (special && r->message.away && outcome == SECTOR_CACHE_MISS && r->message.sectors == 0)
        s->away_reads++;
    if (LS_UNLIKELY(r->message.number != 0))
        tap_look_up(p->tap, p->region, &p->told, &r->message, outcome);
    if (LS_UNLIKELY(outcome == SECTOR_CACHE_STALLED))
        return true;
    if (special && r->message.semaphore && r->message.kind != LS_SECTOR_READ)
        (void)partition_semaphore(p, s, from, i);
    ls_link_release(r->link, 1);
    if (r->message.kind == LS_SECTOR_WRITE || outcome == SECTOR_CACHE_HIT)
        answer(p, s, i, special);
    return true;
}

/* Several sectors have come. */
static void fill_several(partition *p, slice *s, uint64_t filled)
{
    uint32_t sectors = (uint32_t)(filled >> FILL_SECTORS_SHIFT);
    uint64_t address = filled & ((UINT64_C(1) << FILL_SECTORS_SHIFT) - SECTOR_CACHE_LINE_BYTES);
    sector_cache_fill_part(&s->l2, address, sectors, filled & 3);
    s->fill_at = p->now + (ls_sector_bits(sectors) + p->width - 1) / p->width;
    while (sector_cache_has_ready(&s->l2) && s->output.count < p->spec->output_queue) {
        uint32_t token = sector_cache_peek_ready(&s->l2);
        if (p->requests[token].message.sectors == 0)
            break;
        uint8_t level = sector_cache_ready_level(&s->l2);
        (void)sector_cache_next_ready(&s->l2, &token);
        if (partition_line_filled(p, token, level)) {
            p->requests[token].ready = p->now + 2; /* a cycle to be answered, and one to leave */
            answer(p, s, token, true);
        }
    }
}

/* In the order of a pipeline emptied from its end; each stage moves up to `width` requests. Returns the next
 * cycle with something to do. */
static inline ls_cycle run_plain(partition *p, slice *s)
{
    const partition_spec *spec = p->spec;
    uint32_t token, left = p->width;
    while (s->output.count > 0 && !s->output_waiting && port_open(p, s) && send_answer(p, s, false) &&
           --left > 0) {
    }
    left = p->width;
    while (sector_cache_has_ready(&s->l2) && s->output.count < spec->output_queue) {
        uint8_t level = sector_cache_ready_level(&s->l2);
        if (!sector_cache_next_ready(&s->l2, &token))
            break;
        p->requests[token].message.level = (unsigned)level & 3u;
        answer(p, s, token, false);
        if (--left == 0)
            break;
    }
    left = p->width;
    while (!ring_empty(&s->fill_ring)) {
        uint64_t filled = s->fills[ring_pop(&s->fill_ring)]; /* with its level in the lowest bits */
        sector_cache_fill_from(&s->l2, filled & ~(uint64_t)(SECTOR_BYTES - 1), filled & (SECTOR_BYTES - 1));
        if (--left == 0)
            break;
    }
    left = p->width;
    const sector_cache_miss *miss;
    while ((miss = sector_cache_front_miss(&s->l2)) != NULL) {
        /* Often it does not, for many cycles. */
        bool ready =
            ((const ls_dram_ops *)p->dram.ops)->ready(p->dram.self, miss->kind != SECTOR_CACHE_MISS_READ);
        if (!ready || !partition_send_to_dram(p, s, miss, true)) {
            p->n.dram_stalls++;
            break;
        }
        sector_cache_pop_miss(&s->l2);
        if (--left == 0)
            break;
    }
    left = p->width;
    /* At the end of the cycle before: so nobody has to look in that one. */
    for (uint32_t moved = 0; s->delay.count > 0 && p->requests[s->delay.list.first].ready < p->now; moved++) {
        if (moved == p->width)
            break;
        if (s->input.count >= spec->input_queue) {
            p->n.input_stalls++;
            break;
        }
        partition_put(p, &s->input, partition_take(p, &s->delay));
    }
    while (has_look_up(s, false) && s->output.count < spec->output_queue && look_up(p, s, false) &&
           --left > 0) {
    }
    if (has_look_up(s, false) || (s->output.count > 0 && !s->output_waiting) || !ring_empty(&s->fill_ring) ||
        sector_cache_has_ready(&s->l2) || sector_cache_front_miss(&s->l2) != NULL)
        return p->now + 1;
    if (s->delay.count == 0)
        return LS_CYCLE_MAX;
    ls_cycle ready = p->requests[s->delay.list.first].ready;
    return ready < p->now ? p->now + 1 : ready + 1;
}

/* ------------------------------------------------------------------ slices with requests for several sectors
 *
 * The same stages. Each has the cycle from which on it may have something to do, so that the others cost one comparison. */

static void send_answers(partition *p, slice *s)
{
    uint32_t left = p->width;
    while (s->output.count > 0 && !s->output_waiting && port_open(p, s) && send_answer(p, s, true) &&
           --left > 0) {
    }
    s->answer_at = s->output.count > 0 && !s->output_waiting ? partition_line_answer_at(p, s) : LS_CYCLE_MAX;
}

static void answer_ready(partition *p, slice *s)
{
    uint32_t token, left = p->width;
    while (sector_cache_has_ready(&s->l2) && s->output.count < p->spec->output_queue) {
        uint8_t level = sector_cache_ready_level(&s->l2);
        if (!sector_cache_next_ready(&s->l2, &token))
            break;
        if (p->requests[token].message.sectors != 0) {
            if (partition_line_filled(p, token, level))
                answer(p, s, token, true);
            continue; /* the way out takes them as slowly as it has to */
        }
        p->requests[token].message.level = (unsigned)level & 3u;
        answer(p, s, token, true);
        if (--left == 0)
            break;
    }
}

static void take_fills(partition *p, slice *s)
{
    uint32_t left = p->width;
    while (!ring_empty(&s->fill_ring) && s->fill_at <= p->now) {
        uint64_t filled = s->fills[ring_pop(&s->fill_ring)]; /* with its level in the lowest bits */
        if (filled >> FILL_SECTORS_SHIFT != 0) {
            fill_several(p, s, filled);
            break;
        }
        sector_cache_fill_from(&s->l2, filled & ~(uint64_t)(SECTOR_BYTES - 1), filled & (SECTOR_BYTES - 1));
        if (--left == 0)
            break;
    }
}

static void send_misses(partition *p, slice *s)
{
    uint32_t left = p->width;
    const sector_cache_miss *miss;
    while ((miss = sector_cache_front_miss(&s->l2)) != NULL) {
        if (!partition_send_to_dram(p, s, miss, false)) {
            p->n.dram_stalls++;
            break;
        }
        sector_cache_pop_miss(&s->l2);
        if (--left == 0)
            break;
    }
}

/* All whose delay is over, at the end of the cycle before: so nobody has to look in that one. */
static inline void take_arrivals(partition *p, slice *s)
{
    for (uint32_t moved = 0; s->arrive_at <= p->now; moved++) {
        if (s->input.count >= p->spec->input_queue) {
            p->n.input_stalls += moved < p->width;
            s->stalled_at = p->now;
            return;
        }
        partition_put(p, &s->input, partition_take(p, &s->delay));
        s->arrive_at = s->delay.count > 0 ? p->requests[s->delay.list.first].ready + 1 : LS_CYCLE_MAX;
    }
}

/* The oldest request that waited for an entry of the coalescer arrives; true if others still wait. */
static __attribute__((noinline)) bool take_held(partition *p, slice *s)
{
    uint32_t i = partition_coalesce_next(p, s);
    if (i == COALESCE_NONE)
        return false;
    partition_arrive(p, s, i, p->now, true);
    return s->held.count > 0;
}

/* The next cycle with something to do. */
static inline ls_cycle next_of(const partition *p, const slice *s)
{
    ls_cycle soon = p->now + 1, next = s->answer_at;
    bool room = s->output.count < p->spec->output_queue;
    if ((sector_cache_has_ready(&s->l2) && room) || sector_cache_front_miss(&s->l2) != NULL)
        return soon;
    if (has_look_up(s, true) && room && s->look_at < next)
        next = s->look_at > soon ? s->look_at : soon;
    if (!ring_empty(&s->fill_ring) && s->fill_at < next)
        next = s->fill_at > soon ? s->fill_at : soon;
    /* One that has arrived already waits for the input queue. */
    return s->arrive_at > p->now && s->arrive_at < next ? s->arrive_at : next;
}

static inline ls_cycle run_lines(partition *p, slice *s)
{
    const ls_cycle now = p->now;
    uint32_t left = p->width;
    if (s->stalled_at != 0) { /* the queue was full in the cycles without a look as well */
        p->n.input_stalls += now - s->stalled_at - 1;
        s->stalled_at = 0;
    }
    if (s->answer_at <= now)
        send_answers(p, s);
    if (sector_cache_has_ready(&s->l2))
        answer_ready(p, s);
    if (!ring_empty(&s->fill_ring))
        take_fills(p, s);
    if (sector_cache_front_miss(&s->l2) != NULL)
        send_misses(p, s);
    take_arrivals(p, s);
    while (s->look_at <= now && has_look_up(s, true) && s->output.count < p->spec->output_queue &&
           look_up(p, s, true) && --left > 0) {
    }
    if (s->held.count > 0 && take_held(p, s))
        return now + 1;
    return next_of(p, s);
}

MADE_TWICE bool tick(partition *p, ls_cycle now, bool special)
{
    p->now = now;
    ls_cycle next = LS_CYCLE_MAX;
    for (uint32_t i = 0; i < p->slice_count; i++) {
        slice *s = &p->slices[i];
        if (s->next <= now)
            s->next = special ? run_lines(p, s) : run_plain(p, s);
        next = s->next < next ? s->next : next;
    }
    p->awake = next == now + 1;
    if (!p->awake && next != LS_CYCLE_MAX)
        partition_wake_at(p, next);
    return p->awake;
}

/* Until now nobody has kept these cycles. */
void partition_become_special(partition *p)
{
    p->special = true;
    for (uint32_t i = 0; i < p->slice_count; i++) {
        slice *s = &p->slices[i];
        s->answer_at = s->output.count > 0 && !s->output_waiting ? 0 : LS_CYCLE_MAX;
        s->arrive_at = s->delay.count > 0 ? p->requests[s->delay.list.first].ready + 1 : LS_CYCLE_MAX;
    }
}

/* Apart, so that slices without all this have nothing of it in their way. */
static __attribute__((noinline)) bool tick_special(partition *p, ls_cycle now)
{
    return tick(p, now, true);
}

bool partition_tick(void *self, ls_cycle now)
{
    partition *p = self;
    return LS_UNLIKELY(p->special) ? tick_special(p, now) : tick(p, now, false);
}

void partition_timer(void *self, ls_cycle now)
{
    partition *p = self;
    (void)now;
    p->awake = true;
    ls_ticker_wake(&p->ticker);
}

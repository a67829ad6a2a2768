/* partition.c: the L2 slices of one memory channel. Lives in the L2 clock's region of the partition's domain;
 * its DRAM lives in the other.
 *
 * A request passes: arrival (sectors_per_cycle per slice: the output port of the request crossbar), a fixed
 * delay, the input queue, the cache, and on a miss the DRAM. Its answer passes the output queue and enters the
 * reply network, again sectors_per_cycle per slice. */
#include "model/keys.h"
#include "model/memory/partition_impl.h"
#include "model/memory/partition_tap.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------- queues */

static inline void put(partition *p, queue *q, uint32_t i)
{
    index_list_append(&q->list, INDEX_LINKS(p->requests, next), i);
    q->count++;
}

static inline uint32_t take(partition *p, queue *q)
{
    q->count--;
    return index_list_pop(&q->list, INDEX_LINKS(p->requests, next));
}

static inline index_links dram_links(const partition *p)
{
    return (index_links){ .first = p->dram_next, .stride = sizeof *p->dram_next };
}

/* While it sleeps. */
static void wake_at(partition *p, ls_cycle at)
{
    if (ls_event_scheduled(&p->timer)) {
        if (p->timer.cycle <= at)
            return;
        ls_cancel(&p->timer);
    }
    ls_schedule_at(p->region, &p->timer, at);
}

static void wake_now(partition *p, slice *s)
{
    s->next = 0;
    p->awake = true;
    ls_ticker_wake(&p->ticker);
}

/* A request is at the slice: the output port of the crossbar lets `width` through per cycle. */
static inline void arrive(partition *p, slice *s, uint32_t i, ls_cycle now)
{
    pending_request *r = &p->requests[i];
    if (s->last_arrival < now) {
        s->last_arrival = now;
        s->arrived = 0;
    } else if (s->arrived == p->width) {
        s->last_arrival++;
        s->arrived = 0;
    }
    s->arrived++;
    r->ready = s->last_arrival + p->spec->delay_cycles;
    put(p, &s->delay, i);
    s->next = r->ready < s->next ? r->ready + 1 : s->next;
}

static inline void receive(partition *p, ls_link *link, const ls_sector_message *message, ls_cycle now)
{
    uint32_t i = index_pool_take(&p->request_pool, INDEX_LINKS(p->requests, next));
    pending_request *r = &p->requests[i];
    slice *s = &p->slices[message->slice];
    r->message = *message;
    r->link = link;
    p->n.requests++;
    ls_domain_pending(p->domain, 1);
    if (LS_UNLIKELY(p->special || message->sectors != 0 || message->semaphore)) {
        p->special = true;
        p->n.requests += ls_sector_count(message) - 1;
        if (s->coalesce != NULL && !partition_coalesce(p, s, i))
            return; /* the coalescer has it */
    }
    arrive(p, s, i, now);
    if (!p->awake)
        wake_at(p, r->ready + 1);
}

/* Apart, so that the common way saves no registers for it. */
static __attribute__((noinline)) void tell_and_receive(partition *p, ls_link *link,
                                                       const ls_sector_message *message, ls_cycle now)
{
    tap_request(p->tap, p->region, message, LS_STEP_ARRIVE);
    receive(p, link, message, now);
}

static void partition_receive(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    const ls_sector_message *message = payload;
    if (LS_UNLIKELY(message->number != 0))
        tell_and_receive(state, link, message, now);
    else
        receive(state, link, message, now);
}

/* --------------------------------------------------------------------------------------------------- DRAM */

static const ls_dram_ops *dram_of(const partition *p)
{
    return p->dram.ops;
}

static bool reply_ready(void *state, uint32_t token)
{
    const partition *p = state;
    return token == SECTOR_CACHE_NONE || !ring_full(&p->slices[token % p->slice_count].fill_ring);
}

static inline void fill(partition *p, uint32_t token)
{
    slice *s = &p->slices[token % p->slice_count];
    s->fills[ring_push(&s->fill_ring)] = p->dram_reads[token / p->slice_count] | LS_SECTOR_DRAM;
    index_pool_give(&p->dram_pool, dram_links(p), token / p->slice_count);
    wake_now(p, s);
}

static __attribute__((noinline)) void tell_and_fill(partition *p, uint32_t token)
{
    tap_dram(p->tap, p->region, p->told,
             p->dram_reads[token / p->slice_count] & ((UINT64_C(1) << FILL_SECTORS_SHIFT) - 1),
             LS_STEP_L2_TAG);
    fill(p, token);
}

static void reply_done(void *state, uint32_t token, bool write)
{
    partition *p = state;
    if (write)
        return;
    uint8_t *left = &p->dram_left[token / p->slice_count];
    if (LS_UNLIKELY(*left != 0) && --*left != 0)
        return;
    if (LS_UNLIKELY(p->told != NULL))
        tell_and_fill(p, token);
    else
        fill(p, token);
}

static const ls_dram_reply_ops reply_ops = { .ready = reply_ready, .done = reply_done };

/* Functions with `special` are made twice: for partitions that are, and for those that are not. */
#define MADE_TWICE static inline __attribute__((always_inline))

/* Sectors of a line are reads of their own with one token, so that DRAM's queue holds as many of them as of others. Those
 * that find no room follow. */
static bool read_line(partition *p, slice *s)
{
    const ls_dram_ops *dram = dram_of(p);
    sector_cache_miss *miss = &s->l2.misses[s->l2.miss_head & s->l2.miss_mask];
    if (s->line_token == 0) {
        if (index_pool_empty(&p->dram_pool, p->dram_tokens))
            return false;
        uint32_t taken = index_pool_take(&p->dram_pool, dram_links(p));
        p->dram_reads[taken] = partition_fill_of(miss->address, miss->sectors);
        p->dram_left[taken] = (uint8_t)ls_sector_bits(miss->sectors);
        s->line_token = taken + 1;
        if (LS_UNLIKELY(p->told != NULL))
            tap_dram(p->tap, p->region, p->told, miss->address, LS_STEP_DRAM);
    }
    uint32_t token = (s->line_token - 1) * p->slice_count + (uint32_t)(s - p->slices);
    for (; miss->sectors != 0; miss->sectors &= (uint8_t)(miss->sectors - 1)) {
        if (!dram->ready(p->dram.self, false))
            return false;
        uint64_t offset = (uint64_t)(uint32_t)__builtin_ctz(miss->sectors) * SECTOR_BYTES;
        ls_dram_place at = mem_map_dram(&p->map, miss->address + offset);
        dram->push(p->dram.self,
                   &(ls_dram_request){ .bank = at.bank, .row = at.row, .column = at.column, .token = token });
    }
    s->line_token = 0;
    return true;
}

/* ready: DRAM takes it, as the caller knows. */
static __attribute__((noinline)) bool send_to_dram(partition *p, slice *s, const sector_cache_miss *miss,
                                                   bool ready)
{
    const ls_dram_ops *dram = dram_of(p);
    bool write = miss->kind != SECTOR_CACHE_MISS_READ;
    if (LS_UNLIKELY(p->halves) && !write && partition_half_ask(p, s, miss))
        return true;
    if (!ready && !dram->ready(p->dram.self, write))
        return false;
    if (!write && miss->sectors != 0)
        return read_line(p, s);
    if (!write) {
        if (index_pool_empty(&p->dram_pool, p->dram_tokens))
            return false;
        uint32_t token = index_pool_take(&p->dram_pool, dram_links(p));
        p->dram_reads[token] = miss->address;
        if (LS_UNLIKELY(p->told != NULL))
            tap_dram(p->tap, p->region, p->told, miss->address, LS_STEP_DRAM);
        ls_dram_place at = mem_map_dram(&p->map, miss->address);
        dram->push(p->dram.self,
                   &(ls_dram_request){ .bank = at.bank,
                                       .row = at.row,
                                       .column = at.column,
                                       .token = token * p->slice_count + (uint32_t)(s - p->slices) });
        return true;
    }
    sector_cache_miss *rest = &s->l2.misses[s->l2.miss_head & s->l2.miss_mask];
    if (p->spec->write_lines && rest->sectors != 0 && p->line_in_row) {
        ls_dram_place at = mem_map_dram(&p->map, rest->address);
        dram->push(p->dram.self, &(ls_dram_request){ .bank = at.bank,
                                                     .row = at.row,
                                                     .column = at.column,
                                                     .token = SECTOR_CACHE_NONE,
                                                     .write = true,
                                                     .atoms = (uint8_t)__builtin_popcount(rest->sectors) });
        return true;
    }
    /* A dirty line leaves sector by sector; sectors that found no room follow. */
    while (rest->sectors != 0) {
        if (!dram->ready(p->dram.self, true))
            return false;
        uint32_t sector = (uint32_t)__builtin_ctz(rest->sectors);
        ls_dram_place at = mem_map_dram(&p->map, rest->address + (uint64_t)sector * SECTOR_BYTES);
        dram->push(p->dram.self, &(ls_dram_request){ .bank = at.bank,
                                                     .row = at.row,
                                                     .column = at.column,
                                                     .token = SECTOR_CACHE_NONE,
                                                     .write = true });
        rest->sectors &= (uint8_t)(rest->sectors - 1);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------ a cycle */

MADE_TWICE void answer(partition *p, slice *s, uint32_t i, bool special)
{
    put(p, &s->output, i);
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
    (void)take(p, &s->output);
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

static void output_event(void *self, ls_cycle now)
{
    slice *s = self;
    (void)now;
    s->output_waiting = false;
    wake_now(s->owner, s);
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
        (void)take(p, from);
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

/* The next cycle with something to do, for slices that may have requests for several sectors. */
static ls_cycle next_of(const partition *p, const slice *s)
{
    ls_cycle soon = p->now + 1, next = LS_CYCLE_MAX, at;
    bool room = s->output.count < p->spec->output_queue;
    if ((sector_cache_has_ready(&s->l2) && room) || sector_cache_front_miss(&s->l2) != NULL)
        return soon;
    if (has_look_up(s, true) && room)
        next = s->look_at > soon ? s->look_at : soon;
    if (s->output.count > 0 && !s->output_waiting && (at = partition_line_answer_at(p, s)) < next)
        next = at;
    if (!ring_empty(&s->fill_ring) && s->fill_at < next)
        next = s->fill_at > soon ? s->fill_at : soon;
    if (s->delay.count == 0)
        return next;
    at = p->requests[s->delay.list.first].ready + 1;
    if (at <= p->now) /* it waits for the input queue */
        return next;
    return at < next ? at : next;
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
MADE_TWICE ls_cycle run_slice(partition *p, slice *s, bool special)
{
    const partition_spec *spec = p->spec;
    uint32_t token, left = p->width;
    if (special && s->stalled_at != 0) { /* the queue was full in the cycles without a look as well */
        p->n.input_stalls += p->now - s->stalled_at - 1;
        s->stalled_at = 0;
    }
    while (s->output.count > 0 && !s->output_waiting && port_open(p, s) && send_answer(p, s, special) &&
           --left > 0) {
    }
    left = p->width;
    while (sector_cache_has_ready(&s->l2) && s->output.count < spec->output_queue) {
        uint8_t level = sector_cache_ready_level(&s->l2);
        if (!sector_cache_next_ready(&s->l2, &token))
            break;
        if (special && p->requests[token].message.sectors != 0) {
            if (partition_line_filled(p, token, level))
                answer(p, s, token, special);
            continue; /* the way out takes them as slowly as it has to */
        }
        p->requests[token].message.level = (unsigned)level & 3u;
        answer(p, s, token, special);
        if (--left == 0)
            break;
    }
    left = p->width;
    while (!ring_empty(&s->fill_ring) && (!special || s->fill_at <= p->now)) {
        uint64_t filled = s->fills[ring_pop(&s->fill_ring)]; /* with its level in the lowest bits */
        if (special && filled >> FILL_SECTORS_SHIFT != 0) {
            fill_several(p, s, filled);
            break;
        }
        sector_cache_fill_from(&s->l2, filled & ~(uint64_t)(SECTOR_BYTES - 1), filled & (SECTOR_BYTES - 1));
        if (--left == 0)
            break;
    }
    left = p->width;
    const sector_cache_miss *miss;
    while ((miss = sector_cache_front_miss(&s->l2)) != NULL) {
        /* Often it does not, for many cycles. */
        bool ready = !special && dram_of(p)->ready(p->dram.self, miss->kind != SECTOR_CACHE_MISS_READ);
        if ((!special && !ready) || !send_to_dram(p, s, miss, ready)) {
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
        if (moved == p->width && !special)
            break;
        if (s->input.count >= spec->input_queue) {
            if (!special || moved < p->width)
                p->n.input_stalls++;
            if (special)
                s->stalled_at = p->now;
            break;
        }
        put(p, &s->input, take(p, &s->delay));
    }
    while (has_look_up(s, special) && (!special || s->look_at <= p->now) &&
           s->output.count < spec->output_queue && look_up(p, s, special) && --left > 0) {
    }
    if (special && s->held.count > 0) {
        uint32_t i = partition_coalesce_next(p, s);
        if (i != COALESCE_NONE)
            arrive(p, s, i, p->now);
        if (i != COALESCE_NONE && s->held.count > 0)
            return p->now + 1;
    }
    if (special)
        return next_of(p, s);
    if (has_look_up(s, special) || (s->output.count > 0 && !s->output_waiting) || !ring_empty(&s->fill_ring) ||
        sector_cache_has_ready(&s->l2) || sector_cache_front_miss(&s->l2) != NULL)
        return p->now + 1;
    if (s->delay.count == 0)
        return LS_CYCLE_MAX;
    ls_cycle ready = p->requests[s->delay.list.first].ready;
    return ready < p->now ? p->now + 1 : ready + 1;
}

MADE_TWICE bool tick(partition *p, ls_cycle now, bool special)
{
    p->now = now;
    ls_cycle next = LS_CYCLE_MAX;
    for (uint32_t i = 0; i < p->slice_count; i++) {
        slice *s = &p->slices[i];
        if (s->next <= now)
            s->next = run_slice(p, s, special);
        next = s->next < next ? s->next : next;
    }
    p->awake = next == now + 1;
    if (!p->awake && next != LS_CYCLE_MAX)
        wake_at(p, next);
    return p->awake;
}

/* Apart, so that slices without all this have nothing of it in their way. */
static __attribute__((noinline)) bool tick_special(partition *p, ls_cycle now)
{
    return tick(p, now, true);
}

static bool partition_tick(void *self, ls_cycle now)
{
    partition *p = self;
    return LS_UNLIKELY(p->special) ? tick_special(p, now) : tick(p, now, false);
}

static void partition_timer(void *self, ls_cycle now)
{
    partition *p = self;
    (void)now;
    p->awake = true;
    ls_ticker_wake(&p->ticker);
}

/* ------------------------------------------------------------------------------------------------- set-up */

static ls_status partition_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    partition *p = state;
    p->spec = spec;
    p->region = ls_block_region(block);
    p->domain = ls_region_domain(p->region);
    p->tap = ls_block_tap(block);
    if ((p->spec->l2.sets & (p->spec->l2.sets - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "l2.sets is %llu, it must be a power of two",
                       (unsigned long long)p->spec->l2.sets);
    ls_event_init(&p->timer, partition_timer, p);
    return ls_ticker_add(p->region, &p->ticker, partition_tick, p, err);
}

/* For prefetches: the address in the same slice as `near`. */
static uint64_t address_of(void *self, uint64_t local, uint64_t near_address)
{
    const partition *p = self;
    ls_sector_place place = mem_map_place(&p->map, near_address);
    place.local = local;
    return mem_map_address(&p->map, &place);
}

static ls_status partition_attach(void *state, const ls_l2_wiring *wiring, ls_error *err)
{
    partition *p = state;
    const mem_map *map = wiring->map;
    /* A request returns its buffer entry when the cache has taken it, and stays until it is answered. So
     * requests that wait for a fill or for the network come in addition to those in the links. */
    uint32_t requests_max = wiring->requests_max +
                            map->slices_per_channel *
                                (sector_cache_waiters_max(&p->spec->l2) + (uint32_t)p->spec->output_queue + 2);
    p->channel = wiring->channel;
    p->halves = wiring->halves;
    p->special = p->halves || p->spec->coalesce_entries != 0 || p->spec->ideal;
    p->away_most = (uint32_t)(p->spec->l2.mshr_entries / 2);
    for (int way = 0; way < PARTITION_HALF_ANSWER && p->halves; way++)
        requests_max += partition_half.credits(p, (partition_half_way)way, wiring->core_count, wiring->slices);
    requests_max += wiring->slices * (uint32_t)(p->spec->coalesce_entries * (p->spec->coalesce_requests - 1));
    p->map = *map;
    p->slice_count = map->slices_per_channel;
    p->width = (uint32_t)p->spec->width;
    p->line_in_row = mem_map_line_in_row(map);
    p->port_cost =
        p->spec->port_percent == 100 ? 0 : (uint32_t)(10000 / (p->spec->port_percent * p->spec->width));
    if (p->slice_count > SLICES_MAX)
        return ls_fail(err, LS_ERR_INPUT, "%u L2 slices per channel, at most %d are possible", p->slice_count,
                       SLICES_MAX);
    p->to_core = ls_domain_alloc(p->domain, wiring->core_count * sizeof(ls_link *));
    p->request_count = (uint32_t)requests_max;
    p->requests = ls_domain_alloc(p->domain, requests_max * sizeof *p->requests);
    p->dram_tokens = p->slice_count * (uint32_t)p->spec->l2.mshr_entries;
    p->dram_reads = ls_domain_alloc(p->domain, p->dram_tokens * sizeof *p->dram_reads);
    p->dram_next = ls_domain_alloc(p->domain, p->dram_tokens * sizeof *p->dram_next);
    p->dram_left = ls_domain_alloc(p->domain, p->dram_tokens * sizeof *p->dram_left);
    bool ok = p->to_core != NULL && p->requests != NULL && p->dram_reads != NULL && p->dram_next != NULL &&
              p->dram_left != NULL && partition_semaphore_init(p);
    for (uint32_t i = 0; i < p->slice_count && ok; i++) {
        slice *s = &p->slices[i];
        s->owner = p;
        s->next = LS_CYCLE_MAX;
        s->delay.list = s->input.list = s->output.list = s->parked.list = s->home.list = s->held.list =
            INDEX_LIST_EMPTY;
        ls_event_init(&s->output_event, output_event, s);
        uint32_t fills = (uint32_t)p->spec->fill_queue;
        if (p->halves && p->spec->l2.mshr_entries > fills) /* room for each sector on its way */
            fills = (uint32_t)p->spec->l2.mshr_entries;
        ring_init(&s->fill_ring, fills);
        s->fills = ls_domain_alloc(p->domain, ring_size_for(fills) * sizeof *s->fills);
        ok = s->fills != NULL && partition_coalesce_init(p, s);
        if (ok && sector_cache_init(&s->l2, &p->spec->l2, &p->n.l2, p->domain, err) != LS_OK)
            return ls_error_prefix(err, "%s: l2", ls_domain_name(p->domain));
        sector_cache_set_addresses(&s->l2, address_of, p);
        if (ok && p->spec->ideal && s->l2.prefetch != NULL)
            return ls_fail(err, LS_ERR_INPUT,
                           "l2: an ideal cache has nothing to prefetch: l2.ideal or l2.prefetch");
    }
    if (!ok)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for memory partition '%s'", ls_domain_name(p->domain));
    memcpy(p->to_core, wiring->to_core, wiring->core_count * sizeof(ls_link *));
    p->request_pool = p->dram_pool = INDEX_POOL_NEW;
    return LS_OK;
}

static void partition_warm(void *state, uint64_t address)
{
    partition *p = state;
    ls_sector_place place = mem_map_place(&p->map, address);
    sector_cache_warm(&p->slices[place.slice].l2, address, place.local);
}

/* Dirty lines are lost without traffic, as in Accel-Sim. */
static void partition_flush(void *state)
{
    partition *p = state;
    for (uint32_t i = 0; i < p->slice_count && p->spec->flush; i++) {
        sector_cache *l2 = &p->slices[i].l2;
        if (sector_cache_pending_fills(l2) == 0)
            sector_cache_invalidate(l2);
        else if (l2->prefetch != NULL)
            sector_cache_invalidate_later(l2);
    }
}

static void partition_get_shape(const void *state, partition_shape *out)
{
    const partition_spec *spec = ((const partition *)state)->spec;
    *out = (partition_shape){ .l2 = spec->l2,
                              .delay_cycles = spec->delay_cycles,
                              .percent = spec->width * spec->port_percent };
}

/* Prefetchers and coalescers look at sectors one by one. */
static bool partition_takes_lines(const void *state)
{
    const partition_spec *spec = ((const partition *)state)->spec;
    return spec->l2.prefetch.kind == PREFETCH_NONE && spec->coalesce_entries == 0 && !spec->ideal;
}

static const ls_l2_ops l2_ops = { .attach = partition_attach,
                                  .receive = partition_receive,
                                  .warm = partition_warm,
                                  .takes_lines = partition_takes_lines };
static const partition_profile_ops profile_ops = { .shape = partition_get_shape, .flush = partition_flush };

static const char *const merge_stall_names[] = { "slice", "request", NULL }; /* as sector_cache_merge_stall */

/* clang-format off */
#define KEY_SPEC partition_spec

static const ls_param params[] = {
    KEY("delay_cycles", delay_cycles, "cycles", "100", 1, 2000, "fixed time of a request before the tags"),
    KEY("sectors_per_cycle", width, "sectors", "1", 1, 8, "requests taken and answers sent, per slice and cycle"),
    KEY("port_percent", port_percent, "", "100", 10, 100, "of sectors_per_cycle, what answers reach on average"),
    KEY_FLAG("write_lines", write_lines, "false", "a dirty line goes to DRAM as one request instead of sector by sector"),
    KEY_FLAG("ideal", ideal, "false", "every access hits, and nothing goes to DRAM"),
    KEY_FLAG("flush", flush, "false", "L2 is emptied without traffic at the end of a kernel, if no other one runs"),
    KEY("input_queue", input_queue, "requests", "64", 1, 4096, "requests waiting for the tags, per slice"),
    KEY("output_queue", output_queue, "replies", "64", 1, 4096, "answers waiting for the network, per slice"),
    KEY("fill_queue", fill_queue, "sectors", "64", 1, 4096, "sectors from DRAM waiting to be filled, per slice"),
    KEY("coalesce_entries", coalesce_entries, "sectors", "0", 0, 4096,
        "whose reads meet in front of a slice and are answered together, per slice; 0: none do"),
    KEY("coalesce_requests", coalesce_requests, "reads", "4", 1, 64, "that meet at one entry; the next one has its own"),
    KEY("sets", l2.sets, "", "64", 1, 65536, "sets of a slice (a power of two)"),
    KEY("ways", l2.ways, "", "16", 1, 256, "lines of 128 bytes per set"),
    KEY("mshr_entries", l2.mshr_entries, "sectors", "192", 1, 4096, "sectors on their way from DRAM, per slice"),
    KEY("mshr_merge", l2.mshr_merge, "requests", "4", 1, 1024, "requests per sector on its way"),
    KEY_CHOICE("merge_stall", l2.merge_stall, "request", merge_stall_names,
               "what waits when mshr_merge is reached: that request, or all of its slice (Accel-Sim)"),
    KEY("miss_queue", l2.miss_queue, "requests", "32", 2, 1024, "requests waiting for DRAM, per slice"),
    KEY("dirty_limit_percent", l2.dirty_limit_percent, "%", "0", 0, 100,
        "dirty lines are spared from eviction while fewer than this share is dirty"),
    KEY_CHOICE("write_policy", l2.write_policy, "back", write_policy_names, "treatment of stores"),
    SECTOR_CACHE_POLICY_PARAMS(partition_spec, l2, "", "ipoly"),
};

/* Memory by formula has hit rates and bandwidths of L2, no queues. */
static const ls_need needs[] = {
    SECTOR_CACHE_POLICY_NEEDS("", "/core.memory=cycle"),
    { "coalesce_requests", "coalesce_entries!=0 /core.memory=cycle" },
    { "coalesce_entries", "/core.memory=cycle" },
    { "ideal", "/core.memory=cycle" },               { "flush", "/core.memory=cycle" },
    { "write_lines", "/core.memory=cycle" },         { "*_queue", "/core.memory=cycle" },
    { "mshr_*", "/core.memory=cycle" },              { "merge_stall", "/core.memory=cycle" },
    { "dirty_limit_percent", "/core.memory=cycle" }, { "write_policy", "/core.memory=cycle" },
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(partition_counters, requests, "requests", "sector requests from cores"),
    LS_METRIC_COUNTER(partition_counters, replies, "replies", "answers to cores"),
    LS_METRIC_COUNTER(partition_counters, input_stalls, "cycles", "a request found the input queue full"),
    LS_METRIC_COUNTER(partition_counters, output_stalls, "times", "an answer had to wait for the network"),
    LS_METRIC_COUNTER(partition_counters, dram_stalls, "cycles", "a miss had to wait for DRAM"),
    LS_METRIC_COUNTER(partition_counters, coalesced, "reads", "met another one in front of their slice"),
    LS_METRIC_COUNTER(partition_counters, coalesce_stalls, "requests", "waited for an entry in front of their slice"),
    LS_METRIC_COUNTER(partition_counters, far_reads, "sectors", "asked of the other half of L2"),
    LS_METRIC_COUNTER(partition_counters, far_others, "sectors", "writes and atomics passed to the other half of L2"),
    LS_METRIC_COUNTER(partition_counters, far_drops, "sectors", "copies that the other half of L2 had to forget"),
    LS_METRIC_COUNTER(partition_counters, parked, "reads", "waited for the value of a semaphore"),
#define METRICS_TYPE partition_counters
#define METRICS_FIELD l2
#define METRICS_PREFIX ""
#define METRICS_LABEL ""
#include "model/cache/sector_cache_metrics.def"
};
/* clang-format on */

static const ls_port_decl ports[] = {
    { .name = LS_L2_PORT, .interface = LS_L2_INTERFACE, .ops = &l2_ops },
    { .name = PARTITION_PROFILE_PORT, .interface = PARTITION_PROFILE_INTERFACE, .ops = &profile_ops },
    { .name = PARTITION_HALF_PORT, .interface = PARTITION_HALF_INTERFACE, .ops = &partition_half },
    { .name = "dram", .interface = LS_DRAM_INTERFACE, .offset = offsetof(partition, dram) },
    { .name = "reply", .interface = LS_DRAM_REPLY_INTERFACE, .ops = &reply_ops },
};

static const ls_block_type l2_cycle = {
    .abi = LS_ABI_VERSION,
    .slot = LS_L2_SLOT,
    .name = "cycle",
    .help = "sectored write-back slices with queues, simulated cycle by cycle",
    .spec_size = sizeof(partition_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .state_size = sizeof(partition),
    .rows = partition_rows,
    .row_count = PARTITION_ROWS,
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(partition, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = partition_init,
};
LS_REGISTER_BLOCK(l2_cycle);

bool partition_is_model(const ls_block_type *model)
{
    return model == &l2_cycle;
}

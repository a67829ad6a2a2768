/* remote_l2.c: see remote_l2.h. A request passes an arrival of `width` per cycle, a fixed delay, the input queue and the cache,
 * as in a slice for the own memory, so that a hit takes as long. */
#include "model/gpu/remote_l2_state.h"
#include "model/gpu/remote_tap.h"

#define SECTOR_MASK (~(uint64_t)(SECTOR_BYTES - 1))

static index_links links_of(const remote_l2 *r)
{
    return INDEX_LINKS(r->requests, next);
}

static void put(remote_l2 *r, remote_queue *q, uint32_t i)
{
    index_list_append(&q->list, links_of(r), i);
    q->count++;
}

static uint32_t take(remote_l2 *r, remote_queue *q)
{
    q->count--;
    return index_list_pop(&q->list, links_of(r));
}

/* ------------------------------------------------------------------------------------------------- arrivals */

static void wake_at(remote_l2 *r, ls_cycle at)
{
    if (ls_event_scheduled(&r->timer)) {
        if (r->timer.cycle <= at)
            return;
        ls_cancel(&r->timer);
    }
    ls_schedule_at(r->region, &r->timer, at);
}

static void wake_now(remote_l2 *r, remote_slice *s)
{
    s->next = 0;
    r->awake = true;
    ls_ticker_wake(&r->ticker);
}

void remote_l2_timer(void *self, ls_cycle now)
{
    remote_l2 *r = self;
    (void)now;
    r->awake = true;
    ls_ticker_wake(&r->ticker);
}

void remote_l2_receive(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    remote_l2 *r = state;
    const ls_sector_message *m = payload;
    if (LS_LIKELY(!m->remote)) {
        ((const ls_l2_ops *)r->l2.ops)->receive(r->l2.self, link, payload, now);
        return;
    }
    uint32_t i = index_pool_take(&r->pool, links_of(r));
    remote_request *request = &r->requests[i];
    remote_slice *s = &r->slices[m->slice];
    request->m = *m;
    remote_tap(r->tap, r->region, m, LS_STEP_ARRIVE);
    request->link = link;
    if (s->last_arrival < now) {
        s->last_arrival = now;
        s->arrived = 0;
    } else if (s->arrived == r->spec->l2.width) {
        s->last_arrival++;
        s->arrived = 0;
    }
    s->arrived++;
    request->ready = s->last_arrival + r->spec->l2.delay_cycles;
    put(r, &s->delay, i);
    r->n.requests++;
    ls_domain_pending(r->domain, 1);
    s->next = request->ready < s->next ? request->ready : s->next;
    if (!r->awake)
        wake_at(r, request->ready);
}

/* Of another GPU. */
void remote_l2_receive_answer(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    remote_l2 *r = state;
    const ls_sector_message *m = payload;
    uint32_t i = m->token;
    remote_slice *s;
    (void)now;
    ls_link_release(link, 1);
    if (i < r->request_total) { /* a request that passed */
        s = &r->slices[r->requests[i].m.slice];
        s->passing--;
        r->requests[i].m.level = LS_SECTOR_REMOTE;
        put(r, &s->output, i);
    } else {
        s = &r->slices[i - r->request_total];
        if (m->kind == LS_SECTOR_WRITE)
            s->write_backs--;
        else
            sector_cache_fill(&s->cache, m->address);
    }
    wake_now(r, s);
}

/* ------------------------------------------------------------------------------------------ to other GPUs */

void remote_l2_peer_ready(void *self, ls_cycle now)
{
    remote_l2 *r = self;
    (void)now;
    r->peer_waits = false;
    for (uint32_t i = 0; i < r->slice_count; i++)
        wake_now(r, &r->slices[i]);
}

/* False: the link has no room, and the block is woken when it has. */
static bool has_room(remote_l2 *r)
{
    if (!r->peer_waits && !ls_link_ready(r->to_peer)) {
        r->n.peer_stalls++;
        r->peer_waits = true;
        ls_link_wait(r->to_peer, &r->peer_ready);
    }
    return !r->peer_waits;
}

/* After has_room(). */
static void send(remote_l2 *r, uint64_t address, uint32_t byte_mask, uint32_t token, ls_sector_kind kind,
                 bool global)
{
    ls_sector_message *slot = ls_link_send(r->to_peer, 1);
    *slot = (ls_sector_message){ .address = address,
                                 .byte_mask = byte_mask,
                                 .token = token,
                                 .core = (uint16_t)r->channel,
                                 .slice = LS_SECTOR_SLICE(ls_address_owner(r->owners, address)->owner),
                                 .kind = (uint8_t)kind,
                                 .global = global };
    r->n.reads_out += kind == LS_SECTOR_READ;
    r->n.writes_out += kind == LS_SECTOR_WRITE;
    r->n.atomics_out += kind == LS_SECTOR_ATOMIC;
}

/* The oldest miss or a sector of the oldest write-back. */
static bool send_miss(remote_l2 *r, remote_slice *s)
{
    const sector_cache_miss *miss = sector_cache_front_miss(&s->cache);
    uint32_t token = r->request_total + (uint32_t)(s - r->slices), bytes;
    if (!has_room(r))
        return false;
    if (miss->kind == SECTOR_CACHE_MISS_READ) {
        send(r, miss->address, 0, token, LS_SECTOR_READ, true);
        sector_cache_pop_miss(&s->cache);
        return true;
    }
    uint64_t address = sector_cache_pop_sector(&s->cache, &bytes);
    s->write_backs++;
    send(r, address, bytes, token, LS_SECTOR_WRITE, true);
    return true;
}

/* -------------------------------------------------------------------------------------------------- look-ups */

static bool passes(const remote_l2 *r, const ls_sector_message *m)
{
    return r->spec->cache == RDMA_NEVER || m->kind == LS_SECTOR_ATOMIC || m->system ||
           (m->kind == LS_SECTOR_WRITE && r->spec->cache == RDMA_READ_ONLY);
}

/* The request is performed at the owner, after everything that was sent there before. A sector that is kept here goes
 * first. False: not now. */
static bool pass(remote_l2 *r, remote_slice *s, uint32_t i)
{
    const ls_sector_message *m = &r->requests[i].m;
    uint32_t dirty = 0;
    if (sector_cache_front_miss(&s->cache) != NULL || !has_room(r))
        return false;
    if (s->passing == r->spec->l2.l2.mshr_entries) {
        r->n.in_flight_stalls++;
        return false;
    }
    if (r->spec->cache != RDMA_NEVER && !sector_cache_drop(&s->cache, m->address, &dirty))
        return false;
    if (dirty != 0) {
        s->write_backs++;
        send(r, m->address & SECTOR_MASK, dirty, r->request_total + (uint32_t)(s - r->slices), LS_SECTOR_WRITE,
             m->global);
        if (!has_room(r)) /* the rest comes later: the sector is clean now */
            return false;
    }
    send(r, m->address, m->byte_mask, i, (ls_sector_kind)m->kind, m->global);
    s->passing++;
    r->n.passed++;
    return true;
}

/* True: the flush at the head of the queue has ended. Fills come first, then write-backs, then all is forgotten. */
static bool flush(remote_l2 *r, remote_slice *s)
{
    if (!s->flushing) {
        s->flushing = true;
        s->flush_since = r->now;
        s->cursor = 0;
    }
    if (sector_cache_pending_fills(&s->cache) != 0)
        return false;
    if (sector_cache_clean(&s->cache, &s->cursor) || sector_cache_front_miss(&s->cache) != NULL ||
        s->write_backs != 0)
        return false;
    s->flushing = false;
    r->n.flushes++;
    r->n.flush_cycles += r->now - s->flush_since;
    r->n.forgotten += s->cache.touched;
    sector_cache_invalidate(&s->cache);
    return true;
}

static bool has_look_up(const remote_slice *s)
{
    return s->input.count > 0 || sector_cache_has_retry(&s->cache);
}

/* The oldest request; requests that stalled at a full MSHR come first when that is free. False: not now. */
static bool look_up(remote_l2 *r, remote_slice *s)
{
    bool again = sector_cache_has_retry(&s->cache), done;
    uint32_t i = again ? sector_cache_peek_retry(&s->cache) : s->input.list.first;
    remote_request *request = &r->requests[i];
    const ls_sector_message *m = &request->m;
    sector_cache_outcome outcome = SECTOR_CACHE_HIT;
    sector_cache_set_global(&s->cache, m->global);
    if (m->kind == LS_SECTOR_FLUSH) {
        done = flush(r, s);
    } else if (passes(r, m)) {
        done = pass(r, s, i);
        outcome = SECTOR_CACHE_MISS;
    } else if (m->kind == LS_SECTOR_WRITE) {
        outcome = sector_cache_stall_write(&s->cache, m->address, i);
        if (outcome == SECTOR_CACHE_HIT) {
            outcome = sector_cache_write(&s->cache, m->address, m->local, m->byte_mask, i);
            if (outcome == SECTOR_CACHE_MISS)
                outcome = SECTOR_CACHE_HIT; /* both mean that it is done */
        }
        done = outcome != SECTOR_CACHE_FAIL;
    } else {
        outcome = sector_cache_read(&s->cache, m->address, m->local, i, false);
        done = outcome != SECTOR_CACHE_FAIL;
    }
    if (!done)
        return false;
    if (again)
        sector_cache_pop_retry(&s->cache);
    else
        (void)take(r, &s->input);
    remote_tap(r->tap, r->region, m,
               outcome == SECTOR_CACHE_HIT    ? LS_STEP_L2_TAG
               : outcome == SECTOR_CACHE_MISS ? LS_STEP_REMOTE
                                              : LS_STEP_MSHR);
    if (outcome == SECTOR_CACHE_STALLED)
        return true;
    ls_link_release(request->link, 1);
    if (outcome == SECTOR_CACHE_HIT)
        put(r, &s->output, i);
    return true;
}

/* --------------------------------------------------------------------------------------------------- answers */

void remote_l2_output_ready(void *self, ls_cycle now)
{
    remote_slice *s = self;
    (void)now;
    s->output_waits = false;
    wake_now(s->owner, s);
}

static bool send_answer(remote_l2 *r, remote_slice *s)
{
    uint32_t i = s->output.list.first;
    ls_link *link = r->to_core[r->requests[i].m.core];
    ls_sector_message *slot = ls_link_send(link, 1);
    if (slot == NULL) {
        r->n.output_stalls++;
        s->output_waits = true;
        ls_link_wait(link, &s->output_ready);
        return false;
    }
    *slot = r->requests[i].m;
    remote_tap(r->tap, r->region, slot, LS_STEP_REPLY);
    (void)take(r, &s->output);
    index_pool_give(&r->pool, links_of(r), i);
    r->n.replies++;
    ls_domain_pending(r->domain, -1);
    ls_domain_progress(r->domain);
    return true;
}

/* ------------------------------------------------------------------------------------------------- one cycle */

/* A later cycle may bring something on without any message. stuck: the oldest request waits for one. */
static bool is_busy(const remote_l2 *r, const remote_slice *s, bool stuck)
{
    bool sends = sector_cache_front_miss(&s->cache) != NULL && !r->peer_waits;
    return (has_look_up(s) && !stuck) || (s->output.count > 0 && !s->output_waits) ||
           sector_cache_has_ready(&s->cache) || sends;
}

/* In the order of a pipeline that is emptied from its end. Returns the next cycle with something to do. */
static ls_cycle slice_cycle(remote_l2 *r, remote_slice *s)
{
    const partition_spec *spec = &r->spec->l2;
    uint32_t token, width = (uint32_t)spec->width;
    bool stuck = false;
    for (uint32_t n = width; n > 0 && s->output.count > 0 && !s->output_waits && send_answer(r, s); n--) {
    }
    for (uint32_t n = width; n > 0 && s->output.count < spec->output_queue &&
                             sector_cache_has_ready(&s->cache) && sector_cache_next_ready(&s->cache, &token);
         n--) {
        r->requests[token].m.level = LS_SECTOR_REMOTE;
        put(r, &s->output, token);
    }
    for (uint32_t n = width; n > 0 && sector_cache_front_miss(&s->cache) != NULL && send_miss(r, s); n--) {
    }
    for (uint32_t n = width; n > 0 && has_look_up(s) && s->output.count < spec->output_queue && !stuck; n--)
        stuck = !look_up(r, s);
    for (uint32_t n = width; n > 0 && s->delay.count > 0 && s->input.count < spec->input_queue &&
                             r->requests[s->delay.list.first].ready <= r->now;
         n--)
        put(r, &s->input, take(r, &s->delay));
    if (is_busy(r, s, stuck))
        return r->now + 1;
    if (s->delay.count == 0)
        return LS_CYCLE_MAX;
    ls_cycle ready = r->requests[s->delay.list.first].ready;
    return ready <= r->now ? r->now + 1 : ready;
}

bool remote_l2_tick(void *self, ls_cycle now)
{
    remote_l2 *r = self;
    ls_cycle next = LS_CYCLE_MAX;
    r->now = now;
    for (uint32_t k = 0; k < r->slice_count; k++) {
        remote_slice *s = &r->slices[(r->turn + k) % r->slice_count];
        if (s->next <= now)
            s->next = slice_cycle(r, s);
        next = s->next < next ? s->next : next;
    }
    r->turn = (r->turn + 1) % r->slice_count;
    r->awake = next == now + 1;
    if (!r->awake && next != LS_CYCLE_MAX)
        wake_at(r, next);
    return r->awake;
}

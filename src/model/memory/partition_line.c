/* partition_line.c: a cycle of slices that are special (partition.special): those with requests for several sectors of one
 * line, two halves, a coalescer or semaphores.
 *
 * A request for several sectors passes the queues as one and is looked up at once. The tags, the fills and the way out are
 * busy with it for as long as with its sectors one by one, and its answer leaves with the last of them.
 *
 * The stages are those of partition_cycle.c. The way out, the delay and the rest each keep a cycle before which they have
 * nothing to do. */
#include "model/cache/sector_cache_part.h"
#include "model/memory/partition_stages.h"

/* ------------------------------------------------------------------------------------------------- answers */

static inline bool has_room(const partition *p, const slice *s)
{
    return s->output.count < p->output_queue;
}

/* The first cycle in which the oldest answer can leave; LS_CYCLE_MAX: there is none. An answer of one sector is looked at in
 * every cycle. */
static inline ls_cycle leaves_at(const partition *p, const slice *s)
{
    if (index_list_empty(&s->output.list))
        return LS_CYCLE_MAX;
    const pending_request *r = &p->requests[s->output.list.first];
    if (LS_UNLIKELY(r->message.sectors == 0))
        return port_open(p, s) ? p->now : p->now + 1;
    return r->ready > s->port_at ? r->ready : s->port_at;
}

/* The oldest answer can leave, and others behind it that have come to their cycle. */
static inline void send_answers(partition *p, slice *s, ls_cycle now)
{
    ls_cycle at = now + 1;
    if (!has_room(p, s))
        s->work_at = now; /* the other stages have waited for it */
    for (uint32_t left = p->width; left > 0 && LS_LIKELY(port_open(p, s)); left--) {
        if (!send_answer(p, s, true)) {
            at = LS_CYCLE_MAX;
            break;
        }
        ls_domain_pending(p->domain, -1);
        at = leaves_at(p, s);
        if (LS_LIKELY(at > now))
            break;
        at = now + 1;
    }
    s->answer_at = at;
}

/* The output was empty. */
static inline void plan_first(const partition *p, slice *s)
{
    ls_cycle at = leaves_at(p, s);
    if (!s->output_waiting)
        s->answer_at = at > p->now ? at : p->now + 1;
}

static inline void answer(partition *p, slice *s, uint32_t i)
{
    partition_put(p, &s->output, i);
    if (s->output.count == 1)
        plan_first(p, s);
    if (LS_UNLIKELY(s->coalesce != NULL) && p->requests[i].entry != COALESCE_NONE)
        partition_coalesce_answer(p, s, i);
}

/* One of the MSHRs that a request waits for is filled; false: another one is not. */
static inline bool is_filled(pending_request *r, uint8_t level)
{
    if (level > r->message.level)
        r->message.level = (unsigned)level & 3u;
    return --r->left == 0;
}

static __attribute__((noinline)) void answer_ready(partition *p, slice *s)
{
    uint32_t token, left = p->width;
    while (sector_cache_has_ready(&s->l2) && has_room(p, s)) {
        uint8_t level = sector_cache_ready_level(&s->l2);
        (void)sector_cache_next_ready(&s->l2, &token);
        if (p->requests[token].message.sectors != 0) {
            if (is_filled(&p->requests[token], level))
                answer(p, s, token);
            continue; /* the way out takes them as slowly as it has to */
        }
        p->requests[token].message.level = (unsigned)level & 3u;
        answer(p, s, token);
        if (--left == 0)
            break;
    }
}

/* --------------------------------------------------------------------------------------------------- fills */

/* Answers requests for several sectors that wait at the first filled MSHR. False: a request for one sector is next, or the
 * output is full. */
static inline bool answer_lines(partition *p, slice *s)
{
    sector_cache *c = &s->l2;
    sector_cache_mshr *mshr = &c->mshrs[c->ready_first];
    const sector_cache_waiter *waiters = c->waiters;
    const uint8_t level = mshr->level;
    const ls_cycle ready = p->now + 2; /* a cycle to be answered, and one to leave */
    const bool first = s->output.count == 0;
    uint32_t room = p->output_queue - s->output.count, waiter = mshr->first;
    uint32_t *link = first ? &s->output.list.first : &p->requests[s->output.list.last].next;
    for (; waiter != SECTOR_CACHE_NONE && room > 0; waiter = waiters[waiter].next) {
        uint32_t i = waiters[waiter].token;
        pending_request *r = &p->requests[i];
        if (r->message.sectors == 0)
            break;
        if (!is_filled(r, level))
            continue;
        r->ready = ready;
        *link = s->output.list.last = i;
        link = &r->next;
        room--;
    }
    *link = INDEX_NONE;
    s->output.count = p->output_queue - room;
    if (first && s->output.count > 0)
        plan_first(p, s);
    sector_cache_give_waiters(c, mshr, waiter);
    if (waiter != SECTOR_CACHE_NONE)
        return false;
    sector_cache_end_ready(c);
    return true;
}

/* Several sectors have come. */
static void fill_several(partition *p, slice *s, uint64_t filled)
{
    uint32_t sectors = (uint32_t)(filled >> FILL_SECTORS_SHIFT);
    uint64_t address = filled & ((UINT64_C(1) << FILL_SECTORS_SHIFT) - SECTOR_CACHE_LINE_BYTES);
    sector_cache_fill_part(&s->l2, address, sectors, filled & 3);
    s->fill_at = p->now + p->line_costs[sectors].cycles;
    while (sector_cache_has_ready(&s->l2) && answer_lines(p, s)) {
    }
}

static __attribute__((noinline)) void take_fills(partition *p, slice *s)
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

/* -------------------------------------------------------------------------------------------------- misses */

static __attribute__((noinline)) void send_misses(partition *p, slice *s)
{
    for (uint32_t left = p->width; left > 0 && sector_cache_has_miss(&s->l2); left--) {
        if (!partition_send_to_dram(p, s, sector_cache_front_miss(&s->l2), false)) {
            p->n.dram_stalls++;
            break;
        }
        sector_cache_pop_miss(&s->l2);
    }
}

/* ------------------------------------------------------------------------------------------------ arrivals */

/* The input queue may be too short for all in the delay: its stalls are counted. The requests whose delay is over enter it at
 * the end of the cycle before, so that nobody has to look in that one. */
static inline void take_arrivals(partition *p, slice *s, ls_cycle now)
{
    if (LS_UNLIKELY(s->stalled_at != 0)) { /* the queue was full in the cycles without a look as well */
        p->n.input_stalls += now - s->stalled_at - 1;
        s->stalled_at = 0;
        s->arrive_at = now;
    }
    uint32_t moved = 0;
    do {
        if (LS_UNLIKELY(s->input.count >= p->input_queue)) {
            p->n.input_stalls += moved < p->width;
            s->stalled_at = now;
            s->arrive_at = LS_CYCLE_MAX;
            break;
        }
        partition_end_delay(p, s);
        s->arrive_at = partition_arrives_at(p, s);
        moved++;
    } while (s->arrive_at <= now);
    if (s->look_at < s->work_at && has_room(p, s))
        s->work_at = s->look_at;
}

void partition_notice(partition *p, slice *s, const pending_request *r)
{
    bool first = s->delay_count == 1;
    ls_cycle at = r->ready + 1;
    if (s->crowded) {
        if (first)
            s->arrive_at = at;
        else if (s->stalled_at == 0) /* the slice is due for those before it */
            return;
    } else if (s->input.count + s->delay_count > p->input_queue) {
        s->crowded = true;
        s->spare = 0;
        at = s->arrive_at = partition_arrives_at(p, s);
    } else {
        s->spare = p->input_queue - s->input.count - s->delay_count;
        if (!first || s->input.count > 0) /* the slice is due for those before it */
            return;
        at = s->look_at > at ? s->look_at : at;
        s->work_at = at < s->work_at ? at : s->work_at;
    }
    s->next = at < s->next ? at : s->next;
}

/* Whether there is a request in the input queue, or one whose delay is over, which enters it. */
static inline bool has_input(partition *p, slice *s, ls_cycle now)
{
    if (s->input.count > 0)
        return true;
    if (s->delay_count == 0 || p->requests[s->delay_first].ready >= now)
        return false;
    partition_end_delay(p, s);
    return true;
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

/* ------------------------------------------------------------------------------------------------ look-ups */

/* The tags are busy with all sectors, and the answer can leave after the last. */
static inline void take_tags(const partition *p, slice *s, pending_request *r)
{
    r->ready = s->look_at = p->now + p->line_costs[r->message.sectors].cycles;
}

/* A write of whole sectors. Those that the cache cannot take now follow. */
static sector_cache_outcome write_sectors(partition *p, slice *s, uint32_t i)
{
    pending_request *r = &p->requests[i];
    if (r->left == 0) {
        if (sector_cache_write_part(&s->l2, r->message.address, r->message.local, r->message.sectors))
            return SECTOR_CACHE_HIT;
        r->left = r->message.sectors;
    }
    for (; r->left != 0; r->left &= r->left - 1) {
        uint64_t offset = (uint64_t)(uint32_t)__builtin_ctz(r->left) * SECTOR_BYTES;
        sector_cache_outcome outcome = sector_cache_stall_write(&s->l2, r->message.address + offset, i);
        if (outcome == SECTOR_CACHE_HIT)
            outcome = sector_cache_write(&s->l2, r->message.address + offset, r->message.local + offset,
                                         UINT32_MAX, i);
        if (outcome == SECTOR_CACHE_FAIL || outcome == SECTOR_CACHE_STALLED)
            return outcome;
    }
    return SECTOR_CACHE_HIT;
}

static inline sector_cache_outcome read_sector(slice *s, const ls_sector_message *m, uint32_t i)
{
    s->l2.spares_way = m->away; /* see read_line_below() */
    sector_cache_outcome outcome = sector_cache_read(&s->l2, m->address, m->local, i, false);
    s->l2.spares_way = false;
    s->chores |= sector_cache_has_miss(&s->l2);
    s->away_reads += m->away && outcome == SECTOR_CACHE_MISS;
    return outcome;
}

/* Of several sectors, for which the short ways have failed. line: in the cache, or SECTOR_CACHE_NONE. */
static __attribute__((noinline)) sector_cache_outcome read_line_below(slice *s, pending_request *r, uint32_t i,
                                                                      uint32_t line)
{
    const ls_sector_message *m = &r->message;
    sector_cache_part part;
    /* A line of the other half leaves a way of its set: requests of that half may need it, and both would wait for each other. */
    s->l2.spares_way = m->away;
    sector_cache_outcome outcome =
        sector_cache_read_some(&s->l2, line, m->address, m->local, m->sectors, i, &part);
    s->l2.spares_way = false;
    s->chores |= sector_cache_has_miss(&s->l2);
    if (outcome == SECTOR_CACHE_FAIL || outcome == SECTOR_CACHE_STALLED)
        return outcome;
    r->left = part.waits;
    if (m->away)
        s->away_reads += ls_sector_bits(part.missed);
    return outcome;
}

/* The same with the short ways of most reads. */
static inline sector_cache_outcome read_line(slice *s, pending_request *r, uint32_t i)
{
    uint32_t line = find_line(&s->l2, r->message.address);
    sector_cache_outcome outcome = sector_cache_read_quick(&s->l2, line, r->message.sectors, i);
    if (LS_UNLIKELY(outcome == SECTOR_CACHE_FAIL))
        return read_line_below(s, r, i, line);
    r->left = outcome == SECTOR_CACHE_PENDING;
    return outcome;
}

/* Any request, as in partition_cycle.c. True: there may be time for another one. */
static __attribute__((noinline)) bool look_up_any(partition *p, slice *s, queue *from, uint32_t i, bool again)
{
    pending_request *r = &p->requests[i];
    sector_cache_outcome outcome;
    uint32_t bytes = r->message.byte_mask;
    if (p->halves && !again) {
        half_step step = partition_half_step(p, s, i);
        if (step != HALF_HERE)
            return step == HALF_GONE;
    }
    if (r->message.semaphore) {
        if (r->message.kind == LS_SECTOR_READ && !again && !partition_semaphore(p, s, from, i))
            return true;
        bytes = SEMAPHORE_BYTES;
    }
    sector_cache_set_global(&s->l2, r->message.global);
    if (p->spec->ideal)
        sector_cache_warm(&s->l2, r->message.address, r->message.local);
    bool line = r->message.sectors != 0;
    if (r->message.kind == LS_SECTOR_READ)
        outcome = line ? read_line(s, r, i) : read_sector(s, &r->message, i);
    else
        outcome = line ? write_sectors(p, s, i) : access_sector(s, &r->message, bytes, i);
    s->chores |= sector_cache_has_miss(&s->l2);
    if (outcome == SECTOR_CACHE_FAIL)
        return false;
    if (line)
        take_tags(p, s, r);
    leave_queue(p, s, from, i, again, outcome);
    if (LS_UNLIKELY(outcome == SECTOR_CACHE_STALLED))
        return true;
    if (r->message.semaphore && r->message.kind != LS_SECTOR_READ)
        (void)partition_semaphore(p, s, from, i);
    ls_link_release(r->link, 1);
    if (r->message.kind == LS_SECTOR_WRITE || outcome == SECTOR_CACHE_HIT)
        answer(p, s, i);
    return true;
}

/* The oldest request; the queue of the other half comes first. Requests that stalled at a full MSHR come before both when that
 * is free. Most requests are a core's reads. True: there may be time for another one. */
static inline bool look_up(partition *p, slice *s, ls_cycle now)
{
    queue *from = &s->input;
    if (s->chores && s->home.count > 0)
        from = &s->home;
    if (s->chores && LS_UNLIKELY(sector_cache_has_retry(&s->l2)))
        return look_up_any(p, s, from, sector_cache_peek_retry(&s->l2), true);
    if (from == &s->input && !has_input(p, s, now))
        return false;
    uint32_t i = from->list.first;
    pending_request *r = &p->requests[i];
    bool line = r->message.sectors != 0;
    if (r->message.kind != LS_SECTOR_READ || r->message.semaphore || (!line && p->spec->ideal))
        return look_up_any(p, s, from, i, false);
    if (r->message.away && s->away_reads >= p->away_most)
        return false;
    if (r->message.half)
        *partition_copied(p, s, r->message.address) = 1;
    sector_cache_set_global(&s->l2, r->message.global);
    sector_cache_outcome outcome = LS_LIKELY(line) ? read_line(s, r, i) : read_sector(s, &r->message, i);
    if (outcome == SECTOR_CACHE_FAIL)
        return false;
    if (line)
        take_tags(p, s, r);
    leave_queue(p, s, from, i, false, outcome);
    if (LS_UNLIKELY(outcome == SECTOR_CACHE_STALLED))
        return true;
    ls_link_release(r->link, 1);
    if (outcome == SECTOR_CACHE_HIT)
        answer(p, s, i);
    return !line;
}

/* ------------------------------------------------------------------------------------------------- a cycle */

static inline void look(partition *p, slice *s, ls_cycle now)
{
    uint32_t left = p->width;
    while (s->look_at <= now && has_room(p, s) && look_up(p, s, now) && --left > 0) {
    }
}

/* When the tags can take the next request of the input queue. */
static inline ls_cycle next_input(const partition *p, const slice *s, ls_cycle now)
{
    ls_cycle soon = now + 1;
    if (!has_room(p, s))
        return LS_CYCLE_MAX;
    if (s->input.count == 0) {
        if (s->delay_count == 0)
            return LS_CYCLE_MAX;
        ls_cycle arrives = partition_arrives_at(p, s);
        soon = arrives > soon ? arrives : soon;
    }
    return s->look_at > soon ? s->look_at : soon;
}

/* The input queue has room for all again. */
static __attribute__((noinline)) void end_crowd(const partition *p, slice *s)
{
    ls_cycle at = next_input(p, s, p->now);
    s->crowded = false;
    s->spare = p->input_queue - s->input.count - s->delay_count;
    s->arrive_at = LS_CYCLE_MAX;
    s->work_at = at < s->work_at ? at : s->work_at;
}

/* The stages before the look-ups. */
static inline void do_chores(partition *p, slice *s)
{
    if (LS_UNLIKELY(sector_cache_has_ready(&s->l2)))
        answer_ready(p, s);
    if (!ring_empty(&s->fill_ring) && s->fill_at <= p->now)
        take_fills(p, s);
    if (sector_cache_has_miss(&s->l2))
        send_misses(p, s);
}

/* The next cycle with something to do, but for answers and arrivals. */
static inline ls_cycle next_chore(partition *p, slice *s, ls_cycle now)
{
    const ls_cycle soon = now + 1;
    if (LS_UNLIKELY(s->held.count > 0) && take_held(p, s))
        return soon;
    if (sector_cache_has_miss(&s->l2))
        return soon;
    if (LS_UNLIKELY(sector_cache_has_ready(&s->l2)) && has_room(p, s))
        return soon;
    ls_cycle next = next_input(p, s, now);
    s->chores = sector_cache_has_ready(&s->l2) || s->held.count > 0;
    if (s->home.count > 0 || LS_UNLIKELY(sector_cache_has_retry(&s->l2))) {
        s->chores = true;
        if (has_room(p, s))
            next = s->look_at > soon ? s->look_at : soon;
    }
    if (!ring_empty(&s->fill_ring)) {
        s->chores = true;
        if (s->fill_at < next)
            next = s->fill_at > soon ? s->fill_at : soon;
    }
    return next;
}

/* What is not for the way out and the delay. */
static inline void work(partition *p, slice *s, ls_cycle now)
{
    if (s->chores)
        do_chores(p, s);
    look(p, s, now);
    s->work_at = s->chores ? next_chore(p, s, now) : next_input(p, s, now);
}

/* Returns the next cycle with something to do. */
static inline ls_cycle run_slice(partition *p, slice *s, ls_cycle now)
{
    if (s->answer_at <= now)
        send_answers(p, s, now);
    if (LS_UNLIKELY(s->crowded) && (s->arrive_at <= now || s->stalled_at != 0))
        take_arrivals(p, s, now);
    if (s->work_at <= now)
        work(p, s, now);
    if (LS_UNLIKELY(s->crowded) && s->stalled_at == 0 && s->input.count + s->delay_count <= p->input_queue)
        end_crowd(p, s);
    ls_cycle next = s->answer_at < s->work_at ? s->answer_at : s->work_at;
    if (LS_UNLIKELY(s->crowded)) {
        if (s->stalled_at != 0 && s->input.count == 0) /* full and empty again in one cycle */
            return now + 1;
        next = s->arrive_at < next ? s->arrive_at : next;
    }
    return next;
}

bool partition_line_tick(partition *p, ls_cycle now)
{
    ls_cycle next = LS_CYCLE_MAX;
    slice *s = p->slices;
    for (uint32_t left = p->slice_count; left > 0; left--, s++) {
        if (s->next <= now)
            s->next = run_slice(p, s, now);
        next = s->next < next ? s->next : next;
    }
    return partition_sleep_until(p, next, now);
}

/* Until now nobody has kept these cycles. */
void partition_become_special(partition *p)
{
    p->special = true;
    for (uint32_t i = 0; i < p->slice_count; i++) {
        slice *s = &p->slices[i];
        s->answer_at = s->output.count > 0 && !s->output_waiting ? 0 : LS_CYCLE_MAX;
        s->arrive_at = partition_arrives_at(p, s);
        s->work_at = s->next;
        s->crowded = s->chores = true;
        s->spare = 0;
    }
}

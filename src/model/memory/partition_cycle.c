/* partition_cycle.c: a cycle of the L2 slices of a channel (partition.c), in the order of a pipeline emptied from its end.
 * Slices that are special have theirs in partition_line.c. */
#include "model/memory/partition_stages.h"

static inline bool has_look_up(const slice *s)
{
    return s->input.count > 0 || sector_cache_has_retry(&s->l2);
}

/* The oldest request; requests that stalled at a full MSHR come first when that is free. False if the cache
 * cannot take it now. A stalled request keeps its buffer entry of the link. */
static inline bool look_up(partition *p, slice *s)
{
    bool again = sector_cache_has_retry(&s->l2);
    uint32_t i = again ? sector_cache_peek_retry(&s->l2) : s->input.list.first;
    pending_request *r = &p->requests[i];
    sector_cache_set_global(&s->l2, r->message.global);
    sector_cache_outcome outcome = access_sector(s, &r->message, r->message.byte_mask, i);
    if (outcome == SECTOR_CACHE_FAIL)
        return false;
    leave_queue(p, s, &s->input, i, again, outcome);
    if (LS_UNLIKELY(outcome == SECTOR_CACHE_STALLED))
        return true;
    ls_link_release(r->link, 1);
    if (r->message.kind == LS_SECTOR_WRITE || outcome == SECTOR_CACHE_HIT)
        partition_put(p, &s->output, i);
    return true;
}

/* Each stage moves up to `width` requests. Returns the next cycle with something to do. */
static inline ls_cycle run_plain(partition *p, slice *s)
{
    uint32_t token, left = p->width;
    while (s->output.count > 0 && !s->output_waiting && port_open(p, s) && send_answer(p, s, false)) {
        ls_domain_pending(p->domain, -1);
        if (--left == 0)
            break;
    }
    left = p->width;
    while (sector_cache_has_ready(&s->l2) && s->output.count < p->output_queue) {
        uint8_t level = sector_cache_ready_level(&s->l2);
        if (!sector_cache_next_ready(&s->l2, &token))
            break;
        p->requests[token].message.level = (unsigned)level & 3u;
        partition_put(p, &s->output, token);
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
    for (uint32_t moved = 0; s->delay_count > 0 && p->requests[s->delay_first].ready < p->now; moved++) {
        if (moved == p->width)
            break;
        if (s->input.count >= p->input_queue) {
            p->n.input_stalls++;
            break;
        }
        partition_end_delay(p, s);
    }
    while (has_look_up(s) && s->output.count < p->output_queue && look_up(p, s) && --left > 0) {
    }
    if (has_look_up(s) || (s->output.count > 0 && !s->output_waiting) || !ring_empty(&s->fill_ring) ||
        sector_cache_has_ready(&s->l2) || sector_cache_has_miss(&s->l2))
        return p->now + 1;
    ls_cycle arrives = partition_arrives_at(p, s);
    return arrives > p->now ? arrives : p->now + 1;
}

static __attribute__((noinline)) bool tick_plain(partition *p, ls_cycle now)
{
    ls_cycle next = LS_CYCLE_MAX;
    for (uint32_t i = 0; i < p->slice_count; i++) {
        slice *s = &p->slices[i];
        if (s->next <= now)
            s->next = run_plain(p, s);
        next = s->next < next ? s->next : next;
    }
    return partition_sleep_until(p, next, now);
}

bool partition_tick(void *self, ls_cycle now)
{
    partition *p = self;
    p->now = now;
    return LS_UNLIKELY(p->special) ? partition_line_tick(p, now) : tick_plain(p, now);
}

void partition_timer(void *self, ls_cycle now)
{
    partition *p = self;
    (void)now;
    p->awake = true;
    ls_ticker_wake(&p->ticker);
}

void partition_output_event(void *self, ls_cycle now)
{
    slice *s = self;
    s->output_waiting = false;
    s->answer_at = now;
    partition_wake_now(s->owner, s);
}

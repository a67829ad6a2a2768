/* partition_stages.h: steps of a slice's cycle that partition_cycle.c and partition_line.c share, and for these two only. Steps
 * with `special` are made twice: for partitions that are special, and for those that are not. */
#ifndef MODEL_PARTITION_STAGES_H
#define MODEL_PARTITION_STAGES_H

#include "model/memory/partition_impl.h"
#include "model/memory/partition_tap.h"

#define MADE_TWICE static inline __attribute__((always_inline))

/* A port that reaches less than its width is busy for longer with each answer. */
static inline bool port_open(const partition *p, const slice *s)
{
    return s->port_at <= p->now;
}

/* An answer leaves through the port, which is open. */
static inline void take_port(slice *s, const line_cost *cost, ls_cycle now)
{
    uint32_t rest = cost->port_rest + (s->port_at == now ? s->port_rest : 0);
    s->port_at = now + cost->port_cycles;
    if (rest >= 100) {
        s->port_at++;
        rest -= 100;
    }
    s->port_rest = rest;
}

/* The oldest answer leaves; the caller subtracts it from what is pending. Its delivery counts as progress. False if the network
 * has no room. */
MADE_TWICE bool send_answer(partition *p, slice *s, bool special)
{
    uint32_t i = s->output.list.first;
    pending_request *r = &p->requests[i];
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
    partition_take_first(&s->output, r);
    index_pool_give(&p->request_pool, INDEX_LINKS(p->requests, next), i);
    const line_cost *cost = &p->line_costs[special ? r->message.sectors : 0];
    if (special || p->port_cost != 0)
        take_port(s, cost, p->now);
    p->n.replies += special ? cost->sectors : 1;
    return true;
}

/* A request for one sector, request i, in the cache. byte_mask: of a write. */
static inline sector_cache_outcome access_sector(slice *s, const ls_sector_message *m, uint32_t byte_mask,
                                                 uint32_t i)
{
    if (m->kind != LS_SECTOR_WRITE)
        return sector_cache_read(&s->l2, m->address, m->local, i, m->kind == LS_SECTOR_ATOMIC);
    sector_cache_outcome outcome = sector_cache_stall_write(&s->l2, m->address, i);
    return LS_LIKELY(outcome == SECTOR_CACHE_HIT)
               ? sector_cache_write(&s->l2, m->address, m->local, byte_mask, i)
               : outcome;
}

/* The look-up of request i has not failed: it leaves the queue, or the list of those that are tried again. */
static inline void leave_queue(partition *p, slice *s, queue *from, uint32_t i, bool again,
                               sector_cache_outcome outcome)
{
    const pending_request *r = &p->requests[i];
    if (LS_UNLIKELY(again))
        sector_cache_pop_retry(&s->l2);
    else
        partition_take_first(from, r);
    if (LS_UNLIKELY(r->message.number != 0))
        tap_look_up(p->tap, p->region, &p->told, &r->message, outcome);
}

/* Sleeps until `next`, the next cycle with something to do, unless at most one cycle lies between: a timer costs the host more
 * than one tick for nothing. */
static inline bool partition_sleep_until(partition *p, ls_cycle next, ls_cycle now)
{
    if (LS_LIKELY(next <= now + 2))
        return true;
    p->awake = false;
    if (next != LS_CYCLE_MAX)
        partition_wake_at(p, next);
    return false;
}

/* partition_line.c: the cycle of slices that are special. */
bool partition_line_tick(partition *p, ls_cycle now);

#endif

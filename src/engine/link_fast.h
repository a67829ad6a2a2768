/* link_fast.h: the sending of messages without a call, for the models of the library that send most of all. All others, and
 * plug-ins, use ls_link_send(). */
#ifndef ENGINE_LINK_FAST_H
#define ENGINE_LINK_FAST_H

#include "engine/wheel.h"

/* The receiver's domain runs in the next window. If other threads are at work it finds the message in a mailbox, else in its
 * wheel. */
static inline void link_post(const ls_link *link, arrival *message)
{
    const ls_region *from = link->from;
    atomic_store_explicit(&from->out_mail[link->to_domain], 1, memory_order_relaxed);
    if (LS_LIKELY(from->out == NULL)) {
        region_take_message(link->to, message);
        return;
    }
    mailbox *box = &from->out[link->to_place];
    message->next = NULL;
    *box->end = message;
    box->end = &message->next;
}

/* A message of one flit with nothing special, while the link is ready. A slot keeps early_fs: on links between equal clocks
 * it stays 0. */
static inline void *link_send_quick(ls_link *link, uint32_t wire_bytes, ls_cycle now)
{
    ls_region *from = link->from;
    arrival *slot = link_slot(link, link->tail++);
    slot->wire_bytes = wire_bytes;
    ls_cycle arrives = now + link->latency_cycles;
    if (arrives < from->sent_min)
        from->sent_min = arrives;
    link->wire_cycle = now + link->flit_cycles;
    slot->cycle = arrives;
    link_post(link, slot);
    return slot + 1;
}

/* The same as ls_link_send(). */
static inline void *link_send_fast(ls_link *link, uint32_t wire_bytes)
{
    ls_cycle now = link->from->now;
    hot_assert(region_runs(link->from));
    if (LS_UNLIKELY((uint32_t)link->tail == link->slots_end || wire_bytes >= link->quick_end))
        return ls_link_send(link, wire_bytes);
    return now < link->wire_cycle ? NULL : link_send_quick(link, wire_bytes, now);
}

#endif

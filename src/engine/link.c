/* link.c: the only way between domains: latency, width, credits, and waking of waiters.
 *
 * A message lies in a slot. The sender writes it, and the receiver reads it at least one window later, from its wheel. The
 * send puts it there, or into a mailbox while several threads share the window (mail.c). A slot is written again only
 * after the credit of its message has returned. Messages are delivered in order, so slots are used in turn. There are only
 * as many as were ever needed at once: on most links far fewer than credits. When their number doubles, messages under way
 * stay where they are.
 *
 * Credits return in a ring of cycles, which the sender reads when it needs some; it is not notified.
 * Depending on the threads, it may or may not find credits that the receiver returns in the same window. That
 * makes no difference, because their cycle is after the window. A waiting sender that finds none looks again
 * in each window. If the receiver keeps no message, a credit's way home begins with the arrival, which the sender knows:
 * then the slots serve as the ring, and the receiver does nothing.
 *
 * A link between groups works the same way with meetings for windows, except that the receiver gets its messages
 * from the ring: a byte of the engine says that there are some, which the planner reads between meetings. */
#include "engine/link_fast.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------ sender's half */

/* The position up to which it is known when credits come home. at_once: link->frees_at_once. */
static inline uint32_t known_end(const ls_link *link, bool at_once)
{
    return at_once ? (uint32_t)link->tail : atomic_load_explicit(&link->released, memory_order_acquire);
}

/* From when on the credit of a position before that counts. */
static inline ls_cycle credit_cycle(const ls_link *link, bool at_once, uint32_t position)
{
    return at_once ? link_slot(link, position)->cycle + link->credit_latency_cycles
                   : link->credit_ring[position & link->ring_mask];
}

/* Credits at hand. */
static inline uint32_t credits(const ls_link *link)
{
    return link->credit_total - ((uint32_t)link->tail - link->home);
}

/* What `home` is when the credits that have come until now are collected. They come in the order of cycles: most often all
 * have come, or half of them. */
static inline __attribute__((always_inline)) uint32_t home_of(const ls_link *link, bool at_once, ls_cycle now)
{
    uint32_t home = link->home, end = known_end(link, at_once), half = (end - home) / 2;
    if (home == end || credit_cycle(link, at_once, end - 1) <= now)
        return end;
    if (half != 0 && credit_cycle(link, at_once, home + half - 1) <= now)
        home += half;
    while (credit_cycle(link, at_once, home) <= now)
        home++;
    return home;
}

static uint32_t home_at(const ls_link *link, ls_cycle now)
{
    return link->frees_at_once ? home_of(link, true, now) : home_of(link, false, now);
}

static void collect_credits(ls_link *link, ls_cycle now)
{
    link->home = home_at(link, now);
    hot_assert(credits(link) <= link->credit_total);
}

static inline bool ready(ls_link *link, ls_cycle now)
{
    if (LS_UNLIKELY(credits(link) == 0)) {
        collect_credits(link, now);
        if (credits(link) == 0)
            return false;
    }
    return now >= link->wire_cycle;
}

bool ls_link_ready(ls_link *link)
{
    hot_assert(region_runs(link->from));
    return ready(link, link->from->now);
}

uint32_t ls_link_credits(const ls_link *link)
{
    /* Between runs everything that was given counts. */
    uint32_t home = region_runs(link->from) ? home_at(link, link->from->now) : link_released(link);
    return link->credit_total - ((uint32_t)link->tail - home);
}

uint32_t ls_engine_link_count(const ls_engine *engine)
{
    return (uint32_t)engine->links.count;
}

ls_link *ls_engine_link(const ls_engine *engine, uint32_t index)
{
    return index < engine->links.count ? engine->links.at[index] : NULL;
}

void ls_link_get_use(const ls_link *link, ls_link_use *out)
{
    *out = (ls_link_use){ .name = link->name,
                          .from = link->from_name,
                          .to = link->to_name,
                          .messages = link->tail,
                          .used = link->credit_total - ls_link_credits(link),
                          .entries = link->credit_total,
                          .waits = link->waiters != NULL };
}

/* The planner looks at a link between groups after this meeting. */
static void mark_cross(const ls_link *link)
{
    *link->cross_news = 1;
    atomic_store_explicit(&link->engine->cross_mail, 1, memory_order_relaxed);
}

/* Takes wire time for several flits or fractions of a cycle; returns the cycle in which the last flit
 * leaves. */
static inline ls_cycle take_wire(ls_link *link, ls_cycle now, uint32_t wire_bytes)
{
    uint64_t flits =
        wire_bytes <= link->flit_bytes ? 1 : ((uint64_t)wire_bytes + link->flit_bytes - 1) / link->flit_bytes;
    if (link->even) {
        link->wire_cycle = now + flits * link->flit_cycles;
        return now + flits - 1;
    }
    uint64_t start = now * link->width_units;
    start = link->wire_free > start ? link->wire_free : start;
    link->wire_free = start + flits * link->flit_units;
    link->wire_cycle = link->wire_free / link->width_units;
    return (link->wire_free - 1) / link->width_units;
}

/* The part that only some messages need: several flits, other clocks or groups, hooks. */
static __attribute__((noinline)) void *send_slow(ls_link *link, arrival *slot, ls_cycle now)
{
    ls_region *from = link->from;
    ls_cycle arrives = take_wire(link, now, slot->wire_bytes) + link->latency_cycles;
    from->sent_min = arrives < from->sent_min ? arrives : from->sent_min;
    slot->cycle = arrives;
    if (!link->same_clock) {
        ls_time time = ls_clock_time(&from->clock, arrives);
        slot->cycle = ls_clock_cycle_at(&link->to->clock, time);
        slot->early_fs = ls_clock_time(&link->to->clock, slot->cycle) - time;
    }
    if (link->cross_news != NULL)
        mark_cross(link);
    else
        link_post(link, slot);
    if (link->engine->hook_send->subscribers != 0)
        ls_hook_fire(link->engine, link->engine->hook_send,
                     &(ls_hook_args){ .domain = from->domain,
                                      .time = ls_clock_time(&from->clock, from->now),
                                      .source = link->name,
                                      .value = { link->id, link->tail - 1, slot->wire_bytes } });
    return slot + 1;
}

static COLD void stop_without_memory(ls_domain *domain)
{
    ls_domain_stop(domain);
    atomic_store_explicit(&domain->engine->out_of_memory, true, memory_order_relaxed);
}

/* Called when every slot has a message whose credit was not home at the last look. False: nothing can be sent. More slots are
 * made when few are free, so that a busy link does not come here with every message. */
static bool find_slots(ls_link *link, ls_cycle now)
{
    collect_credits(link, now);
    if (credits(link) == 0)
        return false;
    uint32_t free = link->slot_limit - ((uint32_t)link->tail - link->home);
    if (free <= link->slot_limit / 4 && link->slot_limit != link->credit_total && !link_add_slots(link)) {
        stop_without_memory(link->from->domain);
        return false;
    }
    link->slots_end = link->home + link->slot_limit;
    return true;
}

/* The link is ready. */
static inline void *send_in(ls_link *link, uint32_t wire_bytes, ls_cycle now)
{
    if (LS_LIKELY(wire_bytes < link->quick_end))
        return link_send_quick(link, wire_bytes, now);
    arrival *slot = link_slot(link, link->tail++);
    slot->wire_bytes = wire_bytes;
    return send_slow(link, slot, now);
}

static __attribute__((noinline)) void *send_in_found(ls_link *link, uint32_t wire_bytes, ls_cycle now)
{
    return find_slots(link, now) ? send_in(link, wire_bytes, now) : NULL;
}

void *ls_link_send(ls_link *link, uint32_t wire_bytes)
{
    ls_cycle now = link->from->now;
    hot_assert(region_runs(link->from));
    if (now < link->wire_cycle)
        return NULL;
    if ((uint32_t)link->tail == link->slots_end)
        return send_in_found(link, wire_bytes, now);
    return send_in(link, wire_bytes, now);
}

/* A run of many kernels begins many times with the same links and the same hooks. */
void links_prepare(ls_engine *engine)
{
    bool hooked = engine->hook_send->subscribers != 0 || engine->hook_deliver->subscribers != 0;
    if (hooked == engine->links_hooked)
        return;
    engine->links_hooked = hooked;
    for (size_t i = 0; i < engine->links.count; i++)
        link_set_special(engine->links.at[i], hooked);
}

/* The sender's domain runs in the next window, even without other work, and calls arm_wake() again. Between
 * groups the planner calls it after the meeting: credits returned in a meeting count only from its end on. */
static void look_again(ls_link *link)
{
    ls_domain *domain = link->from->domain;
    if (link->cross_news != NULL) {
        link->looks = true;
        mark_cross(link);
        return;
    }
    if (!link->looks) {
        link->looks = true;
        link->next_looking = domain->looking;
        domain->looking = link;
    }
    atomic_store_explicit(&domain->engine->mail[domain->window & 1][domain->place], 1, memory_order_relaxed);
}

static void wake_at(ls_link *link, ls_cycle cycle)
{
    link->wake.cycle = cycle;
    link->wake_queued = true;
    wheel_add_arrival(link->from, &link->wake);
}

/* Puts the link into the sender's wheel for the first cycle in which it will be ready, if that is known. */
static void arm_wake(ls_link *link)
{
    ls_region *from = link->from;
    if (link->wake_queued)
        return;
    collect_credits(link, from->now);
    ls_cycle cycle = region_runs(from) ? from->now + 1 : from->floor;
    if (credits(link) == 0) {
        if (link->home == known_end(link, link->frees_at_once)) {
            look_again(link);
            return;
        }
        ls_cycle home = credit_cycle(link, link->frees_at_once, link->home);
        cycle = home > cycle ? home : cycle;
    }
    wake_at(link, link->wire_cycle > cycle ? link->wire_cycle : cycle);
}

/* Runs the oldest waiters later in this cycle if the link is ready, else in the first cycle in which it
 * is. */
static void plan_service(ls_link *link)
{
    if (link->waiters == NULL || link->serving || ls_event_scheduled(&link->serve))
        return;
    if (ready(link, link->from->now))
        ls_schedule(link->from, &link->serve, 0);
    else
        arm_wake(link);
}

static inline void add_waiter(ls_link *link, ls_event *event)
{
    ls_event *newest = link->waiters;
    event->next = newest != NULL ? newest->next : event;
    if (newest != NULL)
        newest->next = event;
    link->waiters = event;
}

/* Every waiter goes through the list, ready or not: so each finds the link ready when its turn comes, and
 * waiters are served in the order of arrival. */
void ls_link_wait(ls_link *link, ls_event *event)
{
    hot_assert(region_runs(link->from) && event->region == NULL);
    add_waiter(link, event);
    plan_service(link);
}

void link_add_waiter(ls_link *link, ls_event *event)
{
    add_waiter(link, event);
}

void link_wake(ls_link *link, ls_cycle now)
{
    /* Those who wait again during this call come after the events that are already there. */
    ls_event *last = link->waiters;
    link->serving = true;
    while (link->waiters != NULL && ready(link, now)) {
        ls_event *newest = link->waiters;
        ls_event *oldest = newest->next;
        if (oldest == newest)
            link->waiters = NULL;
        else
            newest->next = oldest->next;
        link->from->events_run++;
        oldest->fn(oldest->self, now);
        if (oldest == last)
            break;
    }
    link->serving = false;
    plan_service(link);
}

void link_serve(void *self, ls_cycle now)
{
    ls_link *link = self;
    link->from->events_run--; /* the waiters count, not their usher */
    link_wake(link, now);
}

/* ---------------------------------------------------------------------------------------- receiver's half */

/* The first message beyond the receiver's wheel waits in the heap, and all later ones behind it: they come in the order of
 * cycles. */
COLD void link_hold_far(ls_link *link, arrival *message)
{
    arrival *last = link->far_last;
    if (last == NULL && !wheel_add_far(link->to, message))
        return; /* without memory the run ends */
    message->next = last != NULL ? last->next : message;
    if (last != NULL)
        last->next = message;
    link->far_last = message;
}

void link_come_near(ls_link *link)
{
    ls_region *to = link->to;
    while (link->far_last != NULL) {
        arrival *first = link->far_last->next;
        if (first->cycle - to->now >= WHEEL_SIZE) {
            (void)wheel_add_far(to, first);
            return;
        }
        link->far_last->next = first->next;
        if (link->far_last == first)
            link->far_last = NULL;
        bucket_add_arrival(to, first);
    }
}

/* Everything that was sent comes to the receiver's region. */
static void show_all(ls_link *link)
{
    for (; link->seen != link->tail; link->seen++)
        region_take_message(link->to, link_slot(link, link->seen));
}

void link_deliver_around(void *receiver, ls_link *link, const void *payload, ls_cycle now)
{
    if (link->engine->hook_deliver->subscribers != 0)
        ls_hook_fire(link->engine, link->engine->hook_deliver,
                     &(ls_hook_args){
                         .domain = link->to->domain,
                         .time = ls_clock_time(&link->to->clock, now),
                         .source = link->name,
                         .value = { link->id, link->head - 1, ((const arrival *)payload - 1)->wire_bytes },
                         .data = payload });
    link->receive(receiver, link, payload, now);
    if (link->frees_behind)
        ls_link_release(link, 1);
}

/* Several entries, between different clocks, or before the ring was made. */
static COLD void release_slow(ls_link *link, uint32_t entries)
{
    ls_region *to = link->to;
    if (entries == 0)
        return;
    ls_cycle cycle = to->now + link->credit_latency_cycles;
    if (cycle < to->sent_min)
        to->sent_min = cycle;
    if (!link->same_clock)
        cycle = ls_clock_cycle_at(&link->from->clock, ls_clock_time(&link->to->clock, cycle));
    if (!link_make_credits(link)) {
        stop_without_memory(to->domain);
        return;
    }
    uint32_t end = atomic_load_explicit(&link->released, memory_order_relaxed);
    for (; entries != 0; entries--)
        link->credit_ring[end++ & link->ring_mask] = cycle;
    atomic_store_explicit(&link->released, end, memory_order_release);
}

void ls_link_release(ls_link *link, uint32_t entries)
{
    ls_region *to = link->to;
    ls_cycle *ring = link->credit_ring;
    hot_assert(region_runs(to) && entries <= link_held(link)); /* none where the receiver keeps no entry */
    if (LS_UNLIKELY(entries != link->quick_entries)) {
        release_slow(link, entries);
        return;
    }
    ls_cycle cycle = to->now + link->credit_latency_cycles;
    if (cycle < to->sent_min)
        to->sent_min = cycle;
    uint32_t end = atomic_load_explicit(&link->released, memory_order_relaxed);
    ring[end & link->ring_mask] = cycle;
    atomic_store_explicit(&link->released, end + 1, memory_order_release);
}

/* -------------------------------------------------------------------------------------------- both halves */

/* Takes over messages that other domains sent in the window before, and looks for credits for waiting
 * senders. */
void link_exchange(ls_domain *domain, unsigned parity)
{
    for (uint32_t i = 0; i < domain->region_count; i++)
        mail_take(domain->engine, domain->regions[i], parity);
    ls_link *looking = domain->looking;
    domain->looking = NULL;
    for (ls_link *next; looking != NULL; looking = next) {
        next = looking->next_looking;
        looking->looks = false;
        if (looking->waiters != NULL)
            arm_wake(looking);
    }
}

/* The domain may have got work: its group, which has come to the end of the meeting, takes notice. */
static void note_work(const ls_domain *domain)
{
    ls_time next = domain_next_time(domain);
    domain->engine->next_time[domain->place] = next;
    ls_group *group = domain->group;
    group->next_start = next < group->next_start ? next : group->next_start;
}

void link_exchange_cross(ls_link *link)
{
    if (!link->to->domain->group->is_away) {
        show_all(link);
        note_work(link->to->domain);
    }
    if (!link->looks)
        return;
    link->looks = false;
    if (link->waiters == NULL)
        return;
    arm_wake(link);
    note_work(link->from->domain);
}

/* The sender's slots here are the receiver's own, one for each place of a ring: a place is used again only after the credit
 * of its message was given. */
bool link_take_message(ls_link *link, const void *slot)
{
    if (!link_make_slots(link))
        return false;
    arrival **at = &link->slots[link->tail & link->slot_mask];
    if (*at == NULL)
        *at = ls_domain_alloc(link->to->domain, link->slot_bytes);
    if (*at == NULL)
        return false;
    memcpy(*at, slot, link->slot_bytes);
    link->tail++;
    mark_cross(link);
    return true;
}

bool link_take_credit(ls_link *link, ls_cycle cycle)
{
    if (!link_make_credits(link))
        return false;
    uint32_t end = known_end(link, false);
    link->credit_ring[end & link->ring_mask] = cycle;
    atomic_store_explicit(&link->released, end + 1, memory_order_release);
    return true;
}

void link_resume(ls_link *link, ls_cycle wake_cycle)
{
    link->seen = link->head;
    show_all(link);
    if (wake_cycle != LS_CYCLE_MAX) {
        wake_at(link, wake_cycle);
    } else if (link->waiters != NULL) {
        arm_wake(link);
    }
}

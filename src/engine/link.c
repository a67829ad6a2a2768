/* link.c: the only way between domains: latency, width, credits, and waking who waits.
 *
 * Messages lie in a ring with one slot per credit: a slot is written by the sender, read by the receiver at least
 * one window later, and written again only after the credit of its message came home. Credits travel back the
 * same way in a ring of (cycle, count). Neither side ever looks at what the other wrote in the same window. */
#include "engine/state.h"

#include <string.h>

#define CREDITS_MAX 65536u

static inline slot_header *slot_at(const ls_link *link, uint64_t position)
{
    return (slot_header *)(void *)(link->slots + (size_t)(position & link->slot_mask) * link->slot_bytes);
}

/* ---------------------------------------------------------------------------------------------- creation */

static ls_status check_spec(const ls_engine *engine, const ls_link_spec *spec, ls_error *err)
{
    const char *name = spec->name != NULL ? spec->name : "(unnamed)";
    if (engine->started)
        return ls_fail(err, LS_ERR_USAGE, "link '%s' comes after the run began", name);
    if (spec->from == NULL || spec->to == NULL || spec->receive == NULL)
        return ls_fail(err, LS_ERR_USAGE, "link '%s' needs a sender, a receiver and a receive function", name);
    if (spec->from->domain->engine != engine || spec->to->domain->engine != engine)
        return ls_fail(err, LS_ERR_USAGE, "link '%s' joins domains of different engines", name);
    if (spec->credits == 0 || spec->credits > CREDITS_MAX)
        return ls_fail(err, LS_ERR_USAGE, "link '%s' has %u credits, allowed are 1 to %u", name, spec->credits,
                       CREDITS_MAX);
    if (spec->payload_bytes > (1u << 20))
        return ls_fail(err, LS_ERR_USAGE, "link '%s' carries messages of %u bytes, allowed are up to 1 MiB", name,
                       spec->payload_bytes);
    ls_time slower = ls_clock_span(&spec->from->clock, 1);
    ls_time other = ls_clock_span(&spec->to->clock, 1);
    slower = other > slower ? other : slower;
    ls_time latency = ls_clock_span(&spec->from->clock, spec->latency_cycles);
    if (latency < slower)
        return ls_fail(err, LS_ERR_USAGE,
                       "link '%s' has a latency of %llu fs, less than one cycle of its slower side (%llu fs)",
                       name, (unsigned long long)latency, (unsigned long long)slower);
    ls_time back = ls_clock_span(&spec->to->clock, spec->credit_latency_cycles);
    if (spec->credit_latency_cycles != 0 && back < slower)
        return ls_fail(err, LS_ERR_USAGE,
                       "link '%s' returns credits in %llu fs, less than one cycle of its slower side (%llu fs)",
                       name, (unsigned long long)back, (unsigned long long)slower);
    return LS_OK;
}

/* The cycles of `to`'s clock that take at least as long as latency_cycles of `from`'s. */
static uint32_t default_credit_latency(const ls_link_spec *spec)
{
    if (ls_clock_same(&spec->from->clock, &spec->to->clock))
        return spec->latency_cycles;
    uint64_t cycles = ls_clock_cycle_at(&spec->to->clock,
                                        ls_clock_time(&spec->from->clock, spec->latency_cycles));
    return cycles == 0 ? 1 : (uint32_t)cycles;
}

static ls_status add_end(ls_domain *domain, ls_link *link, bool receives, uint32_t *index, ls_error *err)
{
    *index = (uint32_t)domain->ends.count;
    if (!ls_vec_push(&domain->ends, ((link_end){ .link = link, .receives = receives })))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for link '%s'", link->name);
    return LS_OK;
}

ls_status ls_link_create(ls_engine *engine, const ls_link_spec *spec, ls_link **out, ls_error *err)
{
    *out = NULL;
    ls_status status = check_spec(engine, spec, err);
    if (status != LS_OK)
        return status;
    uint32_t slot_count = 1;
    while (slot_count < spec->credits)
        slot_count <<= 1;
    uint32_t slot_bytes = (SLOT_HEADER_BYTES + spec->payload_bytes + 15u) & ~15u;

    /* Each half and each ring lives with the domain that writes it. */
    ls_link *link = ls_domain_alloc(spec->from->domain, sizeof *link);
    uint8_t *slots = ls_domain_alloc(spec->from->domain, (size_t)slot_count * slot_bytes);
    credit_entry *credit_ring = ls_domain_alloc(spec->to->domain, slot_count * sizeof *credit_ring);
    char *name = ls_arena_strdup(&engine->arena, spec->name != NULL ? spec->name : "(unnamed)");
    char *from_name = ls_arena_strdup(&engine->arena,
                                      spec->from_name != NULL ? spec->from_name : spec->from->domain->name);
    char *to_name =
        ls_arena_strdup(&engine->arena, spec->to_name != NULL ? spec->to_name : spec->to->domain->name);
    if (link == NULL || slots == NULL || credit_ring == NULL || name == NULL || from_name == NULL ||
        to_name == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for link '%s' with %u credits", spec->name, spec->credits);

    link->engine = engine;
    link->from = spec->from;
    link->to = spec->to;
    link->slots = slots;
    link->credit_ring = credit_ring;
    link->slot_mask = slot_count - 1;
    link->slot_bytes = slot_bytes;
    link->latency_cycles = spec->latency_cycles;
    link->credit_latency_cycles =
        spec->credit_latency_cycles != 0 ? spec->credit_latency_cycles : default_credit_latency(spec);
    link->width_units = spec->width_bytes;
    link->unit_bytes_factor = spec->width_cycles == 0 ? 1 : spec->width_cycles;
    link->flit_bytes = spec->flit_bytes != 0 ? spec->flit_bytes : spec->width_bytes;
    link->credits = link->credit_total = spec->credits;
    link->id = (uint32_t)engine->links.count;
    link->same_clock = ls_clock_same(&spec->from->clock, &spec->to->clock);
    link->receive = spec->receive;
    link->receiver = spec->receiver;
    link->delivery = (arrival){ .link = link, .order = link->id * 2, .kind = ARRIVAL_MESSAGE };
    link->wake = (arrival){ .link = link, .order = link->id * 2 + 1, .kind = ARRIVAL_WAKE };
    link->name = name;
    link->from_name = from_name;
    link->to_name = to_name;

    if ((status = add_end(spec->to->domain, link, true, &link->to_end, err)) != LS_OK ||
        (status = add_end(spec->from->domain, link, false, &link->from_end, err)) != LS_OK)
        return status;
    if (!ls_vec_push(&engine->links, link))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for link '%s'", link->name);

    ls_time there = ls_clock_span(&link->from->clock, link->latency_cycles);
    ls_time back = ls_clock_span(&link->to->clock, link->credit_latency_cycles);
    ls_time shorter = there < back ? there : back;
    if (shorter < engine->lookahead) {
        engine->lookahead = shorter;
        engine->limiting_link = link;
    }
    *out = link;
    return LS_OK;
}

uint32_t ls_link_id(const ls_link *link)
{
    return link->id;
}

const char *ls_link_name(const ls_link *link)
{
    return link->name;
}

/* ------------------------------------------------------------------------------------------ sender's half */

static inline void collect_credits(ls_link *link, ls_cycle now)
{
    while (link->credit_head != link->credit_seen) {
        const credit_entry *entry = &link->credit_ring[link->credit_head & link->slot_mask];
        if (entry->cycle > now)
            break;
        link->credits += entry->count;
        link->credit_head++;
    }
    assert(link->credits <= link->credit_total);
}

static inline bool wire_ready(const ls_link *link, ls_cycle now)
{
    return link->wire_free < (now + 1) * link->width_units || link->width_units == 0;
}

static inline bool ready(ls_link *link, ls_cycle now)
{
    if (link->credits == 0)
        collect_credits(link, now);
    return link->credits > 0 && wire_ready(link, now);
}

bool ls_link_ready(ls_link *link)
{
    assert(link->from->running);
    return ready(link, link->from->now);
}

uint32_t ls_link_credits(const ls_link *link)
{
    /* Between runs everything that has been handed over counts. */
    ls_cycle now = link->from->running ? link->from->now : LS_CYCLE_MAX;
    uint32_t credits = link->credits;
    for (uint32_t i = link->credit_head; i != link->credit_seen; i++)
        if (link->credit_ring[i & link->slot_mask].cycle <= now)
            credits += link->credit_ring[i & link->slot_mask].count;
    return credits;
}

/* Tells the domain of the other end that its end `index` has something new after this window. */
static inline void mark_dirty(ls_domain *domain, uint32_t index, unsigned parity)
{
    domain->dirty[parity][index] = 1;
    atomic_store_explicit(&domain->engine->mail[parity][domain->id], 1, memory_order_relaxed);
}

void *ls_link_send(ls_link *link, uint32_t wire_bytes)
{
    ls_region *from = link->from;
    assert(from->running);
    ls_cycle now = from->now;
    if (!ready(link, now))
        return NULL;

    ls_cycle last_flit = now;
    if (link->width_units != 0) {
        uint64_t flits = wire_bytes <= link->flit_bytes ? 1 : (wire_bytes + link->flit_bytes - 1) / link->flit_bytes;
        uint64_t start = now * link->width_units;
        start = link->wire_free > start ? link->wire_free : start;
        link->wire_free = start + flits * link->flit_bytes * link->unit_bytes_factor;
        last_flit = (link->wire_free - 1) / link->width_units;
    }
    ls_cycle arrives = last_flit + link->latency_cycles;
    if (arrives < from->sent_min)
        from->sent_min = arrives;

    slot_header *slot = slot_at(link, link->tail);
    slot->wire_bytes = wire_bytes;
    if (LS_LIKELY(link->same_clock)) {
        slot->cycle = arrives;
        slot->early_fs = 0;
    } else {
        ls_time time = ls_clock_time(&from->clock, arrives);
        slot->cycle = ls_clock_cycle_at(&link->to->clock, time);
        slot->early_fs = ls_clock_time(&link->to->clock, slot->cycle) - time;
    }

    link->credits--;
    uint64_t window = from->domain->window;
    if (link->sent_window != window) {
        link->sent_window = window;
        mark_dirty(link->to->domain, link->to_end, window & 1);
    }
    link->published_tail[window & 1] = ++link->tail;
    if (LS_UNLIKELY(link->engine->hook_send->subscribers != 0))
        ls_hook_fire(link->engine, link->engine->hook_send,
                     &(ls_hook_args){ .domain = from->domain,
                                      .time = ls_clock_time(&from->clock, now),
                                      .source = link->name,
                                      .value = { link->id, link->tail - 1, wire_bytes } });
    return (uint8_t *)slot + SLOT_HEADER_BYTES;
}

/* Puts the link into the sender's wheel for the first cycle in which it will be ready, if that is known. */
static void arm_wake(ls_link *link)
{
    ls_region *from = link->from;
    if (link->wake.queued)
        return;
    collect_credits(link, from->now);
    ls_cycle cycle = from->floor;
    if (link->credits == 0) {
        if (link->credit_head == link->credit_seen)
            return; /* link_credit_window() comes back here */
        ls_cycle home = link->credit_ring[link->credit_head & link->slot_mask].cycle;
        cycle = home > cycle ? home : cycle;
    }
    if (link->width_units != 0) {
        ls_cycle wire = link->wire_free / link->width_units;
        cycle = wire > cycle ? wire : cycle;
    }
    link->wake.cycle = cycle;
    link->wake.early_fs = 0;
    wheel_add_arrival(from, &link->wake);
}

void ls_link_wait(ls_link *link, ls_event *event)
{
    assert(link->from->running && event->region == NULL);
    if (link->waiters == NULL && ready(link, link->from->now)) {
        ls_schedule(link->from, event, 0);
        return;
    }
    ls_event *newest = link->waiters;
    event->next = newest != NULL ? newest->next : event;
    if (newest != NULL)
        newest->next = event;
    link->waiters = event;
    arm_wake(link);
}

void link_wake(ls_link *link, ls_cycle now)
{
    /* Those who wait again during this call come after the ones already here, and not in this cycle. */
    ls_event *last = link->waiters;
    while (last != NULL && ready(link, now)) {
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
    if (link->waiters != NULL)
        arm_wake(link);
}

void link_credit_window(ls_link *link, unsigned parity)
{
    link->credit_seen = link->published_credit_tail[parity];
    if (link->waiters != NULL)
        arm_wake(link);
}

/* ---------------------------------------------------------------------------------------- receiver's half */

void link_receive_window(ls_link *link, unsigned parity)
{
    link->seen = link->published_tail[parity];
    if (!link->delivery.queued && link->head != link->seen) {
        const slot_header *slot = slot_at(link, link->head);
        link->delivery.cycle = slot->cycle;
        link->delivery.early_fs = slot->early_fs;
        wheel_add_arrival(link->to, &link->delivery);
    }
}

void link_deliver(ls_link *link, ls_cycle now)
{
    ls_region *to = link->to;
    for (;;) {
        const slot_header *slot = slot_at(link, link->head);
        const void *payload = (const uint8_t *)slot + SLOT_HEADER_BYTES;
        ls_time early_fs = slot->early_fs;
        link->head++;
        link->held++;
        to->messages_in++;
        if (LS_UNLIKELY(link->engine->hook_deliver->subscribers != 0))
            ls_hook_fire(link->engine, link->engine->hook_deliver,
                         &(ls_hook_args){ .domain = to->domain,
                                          .time = ls_clock_time(&to->clock, now),
                                          .source = link->name,
                                          .value = { link->id, link->head - 1, slot->wire_bytes },
                                          .data = payload });
        link->receive(link->receiver, link, payload, now);
        if (link->head == link->seen)
            return;
        slot = slot_at(link, link->head);
        if (slot->cycle != now || slot->early_fs != early_fs) {
            link->delivery.cycle = slot->cycle;
            link->delivery.early_fs = slot->early_fs;
            wheel_add_arrival(to, &link->delivery);
            return;
        }
    }
}

void ls_link_release(ls_link *link, uint32_t entries)
{
    ls_region *to = link->to;
    assert(to->running && entries <= link->held);
    if (entries == 0)
        return;
    link->held -= entries;
    ls_cycle leaves = to->now + link->credit_latency_cycles;
    if (leaves < to->sent_min)
        to->sent_min = leaves;
    ls_cycle cycle = leaves;
    if (LS_UNLIKELY(!link->same_clock))
        cycle = ls_clock_cycle_at(&link->from->clock, ls_clock_time(&to->clock, leaves));

    uint64_t window = to->domain->window;
    if (link->released_window != window) {
        link->released_window = window;
        mark_dirty(link->from->domain, link->from_end, window & 1);
    } else {
        /* Pushed in this window, so the sender has not seen it yet and it may still grow. */
        credit_entry *newest = &link->credit_ring[(link->credit_tail - 1) & link->slot_mask];
        if (newest->cycle == cycle) {
            newest->count += entries;
            return;
        }
    }
    link->credit_ring[link->credit_tail & link->slot_mask] = (credit_entry){ .cycle = cycle, .count = entries };
    link->published_credit_tail[window & 1] = ++link->credit_tail;
}

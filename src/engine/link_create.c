/* link_create.c: checks and makes links, and the rings of those that carry messages. */
#include "engine/link_receiver.h"
#include "engine/state.h"

#include <string.h>

#define CREDITS_MAX 65536u

/* The cycles of `to`'s clock that take at least as long as latency_cycles of `from`'s. */
static uint64_t credit_latency(const ls_link_spec *spec)
{
    if (spec->credit_latency_cycles != 0)
        return spec->credit_latency_cycles;
    if (ls_clock_same(&spec->from->clock, &spec->to->clock))
        return spec->latency_cycles;
    return ls_clock_cycle_at(&spec->to->clock, ls_clock_time(&spec->from->clock, spec->latency_cycles));
}

static ls_status check_spec(const ls_engine *engine, const ls_link_spec *spec, link_times *times,
                            ls_error *err)
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
        return ls_fail(err, LS_ERR_USAGE, "link '%s' carries messages of %u bytes, allowed are up to 1 MiB",
                       name, spec->payload_bytes);
    ls_time slower = ls_clock_span(&spec->from->clock, 1);
    ls_time other = ls_clock_span(&spec->to->clock, 1);
    slower = other > slower ? other : slower;
    ls_time latency = ls_clock_span(&spec->from->clock, spec->latency_cycles);
    if (latency < slower)
        return ls_fail(err, LS_ERR_USAGE,
                       "link '%s' has a latency of %llu fs, less than one cycle of its slower side (%llu fs)",
                       name, (unsigned long long)latency, (unsigned long long)slower);
    /* Wire units are counted from the start of time in 64 bits: this is enough for hours at any clock. */
    if (spec->width_bytes > (1u << 20))
        return ls_fail(err, LS_ERR_USAGE, "link '%s' is %u bytes wide, allowed are up to 1 MiB per cycle",
                       name, spec->width_bytes);
    uint64_t flit = spec->flit_bytes != 0 ? spec->flit_bytes : spec->width_bytes;
    if (flit * (spec->width_cycles == 0 ? 1 : spec->width_cycles) > (1u << 30))
        return ls_fail(err, LS_ERR_USAGE, "link '%s' has flits of %llu bytes over %u cycles: too large", name,
                       (unsigned long long)flit, spec->width_cycles);
    uint64_t back_cycles = credit_latency(spec);
    if (back_cycles > UINT32_MAX)
        return ls_fail(err, LS_ERR_USAGE,
                       "link '%s' returns credits in %llu cycles of its receiver, allowed are %u", name,
                       (unsigned long long)back_cycles, UINT32_MAX);
    ls_time back = ls_clock_span(&spec->to->clock, back_cycles);
    if (back < slower)
        return ls_fail(
            err, LS_ERR_USAGE,
            "link '%s' returns credits in %llu fs, less than one cycle of its slower side (%llu fs)", name,
            (unsigned long long)back, (unsigned long long)slower);
    *times = (link_times){ .credit_cycles = (uint32_t)back_cycles,
                           .lookahead = latency < back ? latency : back,
                           .same_clock = ls_clock_same(&spec->from->clock, &spec->to->clock) };
    return LS_OK;
}

/* A network has thousands of links with the same numbers between the same clocks: the second one and all after it
 * need no check of their own. */
static bool checked_before(const ls_engine *engine, const ls_link_spec *spec)
{
    const ls_link_spec *last = &engine->link_checked;
    return last->receive != NULL && !engine->started && spec->from != NULL && spec->to != NULL &&
           spec->receive != NULL && spec->from->domain->engine == engine &&
           spec->to->domain->engine == engine && spec->from->clock_id == engine->link_clock_ids[0] &&
           spec->to->clock_id == engine->link_clock_ids[1] && spec->latency_cycles == last->latency_cycles &&
           spec->width_bytes == last->width_bytes && spec->width_cycles == last->width_cycles &&
           spec->flit_bytes == last->flit_bytes && spec->credits == last->credits &&
           spec->credit_latency_cycles == last->credit_latency_cycles &&
           spec->payload_bytes == last->payload_bytes;
}

static ls_status check_new(ls_engine *engine, const ls_link_spec *spec, ls_error *err)
{
    ls_status status = check_spec(engine, spec, &engine->link_times, err);
    engine->link_checked = (ls_link_spec){ 0 };
    if (status != LS_OK)
        return status;
    engine->link_checked = *spec;
    engine->link_clock_ids[0] = spec->from->clock_id;
    engine->link_clock_ids[1] = spec->to->clock_id;
    return LS_OK;
}

static void set_width(ls_link *link, const ls_link_spec *spec)
{
    uint32_t width_cycles = spec->width_cycles == 0 ? 1 : spec->width_cycles;
    link->width_units = spec->width_bytes;
    link->flit_bytes = spec->flit_bytes != 0 ? spec->flit_bytes : spec->width_bytes;
    link->flit_units = link->flit_bytes * width_cycles;
    link->even = link->flit_units == link->width_units;
    if (spec->width_bytes == 0) {
        link->flit_bytes = UINT32_MAX;
        link->even = true;
    }
    link->flit_cycles = spec->width_bytes != 0;
}

ls_status link_receiver_frees(ls_engine *engine, ls_receive_fn receive, ls_error *err)
{
    for (size_t i = 0; i < engine->freeing.count; i++)
        if (engine->freeing.at[i] == receive)
            return LS_OK;
    return vec_push(&engine->freeing, receive) ? LS_OK
                                               : ls_fail(err, LS_ERR_NOMEM, "no memory for a receiver");
}

static bool receiver_frees(const ls_link *link)
{
    for (size_t i = 0; i < link->engine->freeing.count; i++)
        if (link->engine->freeing.at[i] == link->receive)
            return true;
    return false;
}

void link_set_special(ls_link *link, bool hooked)
{
    const bool frees = receiver_frees(link);
    link->frees_at_once = frees && link->same_clock && link->cross_news == NULL;
    link->frees_behind = frees && !link->frees_at_once;
    uint32_t flit_end = link->flit_bytes == UINT32_MAX ? UINT32_MAX : link->flit_bytes + 1;
    link->special = !link->same_clock || link->cross_news != NULL || hooked;
    link->quick_end = link->even && !link->special ? flit_end : 0;
    link->deliver = hooked || link->frees_behind ? link_deliver_around : link->receive;
}

/* A machine has thousands of links, and their ends have few different names: the last one of a region is not copied
 * again. */
static const char *end_name(ls_engine *engine, const char *given, ls_region *region)
{
    if (given == NULL)
        return region->domain->name;
    if (region->end_name == NULL || strcmp(region->end_name, given) != 0)
        region->end_name = arena_strdup(&engine->arena, given);
    return region->end_name;
}

/* Rings live with the domain that writes them. Few links of a large network carry messages in a short run, so the first
 * message makes them. */
bool link_make_slots(ls_link *link)
{
    if (link->slots == NULL) {
        link->slots = ls_domain_alloc(link->from->domain, (link->ring_mask + (size_t)1) * sizeof *link->slots);
        link->slot_mask = link->ring_mask;
    }
    /* A link that was loaded has as many as it needed then. */
    while (link->slots != NULL && link->slot_mask != link->ring_mask)
        if (!link_add_slots(link))
            return false;
    return link->slots != NULL;
}

#define FIRST_SLOTS 4u

/* The number doubles: a run has what it needs in its first moments. A message under way gets the place of its position in
 * the new ring, and its slot stays where it is: the receiver may be about to read it. */
bool link_add_slots(ls_link *link)
{
    const uint32_t before = link->slots != NULL ? link->slot_mask + 1 : 0, places = link->ring_mask + 1;
    const uint32_t count = before != 0 ? 2 * before : places < FIRST_SLOTS ? places : FIRST_SLOTS;
    const uint32_t mask = count - 1;
    ls_domain *domain = link->from->domain;
    arrival **slots = ls_domain_alloc(domain, count * sizeof *slots);
    uint8_t *fresh = ls_domain_alloc(domain, (size_t)(count - before) * link->slot_bytes);
    if (slots == NULL || fresh == NULL)
        return false;
    for (uint32_t i = 0; i < before; i++)
        slots[(link->home + i) & mask] = link_slot(link, link->home + i);
    for (uint32_t i = before; i < count; i++, fresh += link->slot_bytes) {
        arrival *slot = (arrival *)(void *)fresh;
        slot->order = link->id * 2;
        slots[(link->home + i) & mask] = slot;
    }
    link->slots = slots;
    link->slot_mask = mask;
    link->slot_limit = count < link->credit_total ? count : link->credit_total;
    return true;
}

bool link_make_credits(ls_link *link)
{
    if (link->credit_ring == NULL)
        link->credit_ring =
            ls_domain_alloc(link->to->domain, (link->ring_mask + (size_t)1) * sizeof *link->credit_ring);
    if (link->credit_ring != NULL && link->same_clock)
        link->quick_entries = 1;
    return link->credit_ring != NULL;
}

ls_status ls_link_create(ls_engine *engine, const ls_link_spec *spec, ls_link **out, ls_error *err)
{
    *out = NULL;
    if (!checked_before(engine, spec)) {
        ls_status status = check_new(engine, spec, err);
        if (status != LS_OK)
            return status;
    }
    const link_times *times = &engine->link_times;
    const char *name = spec->name != NULL ? spec->name : "(unnamed)";
    size_t name_bytes = strlen(name) + 1;
    /* The sender's domain has the link, with its name behind it. */
    ls_link *link = ls_domain_alloc(spec->from->domain, sizeof *link + name_bytes);
    const char *from_name = end_name(engine, spec->from_name, spec->from);
    const char *to_name = end_name(engine, spec->to_name, spec->to);
    if (link == NULL || from_name == NULL || to_name == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for link '%s'", name);

    link->engine = engine;
    link->from = spec->from;
    link->to = spec->to;
    link->ring_mask = spec->credits == 1 ? 0 : UINT32_MAX >> __builtin_clz(spec->credits - 1);
    link->slot_bytes = (SLOT_HEADER_BYTES + spec->payload_bytes + 15u) & ~15u;
    link->latency_cycles = spec->latency_cycles;
    link->credit_latency_cycles = times->credit_cycles;
    link->lookahead = times->lookahead;
    set_width(link, spec);
    link->credit_total = spec->credits;
    link->quick_entries = UINT32_MAX;
    link->id = (uint32_t)engine->links.count;
    link->same_clock = times->same_clock;
    link->receive = spec->receive;
    link_set_special(link, false);
    link->receiver = spec->receiver;
    link->wake = (arrival){ .order = link->id * 2 + ARRIVAL_IS_WAKE };
    ls_event_init(&link->serve, link_serve, link);
    link->name = memcpy(link + 1, name, name_bytes);
    link->from_name = from_name;
    link->to_name = to_name;

    if (!vec_push(&engine->links, link))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for link '%s'", link->name);

    if (link->lookahead < engine->lookahead) {
        engine->lookahead = link->lookahead;
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

bool ls_engine_link_at(const ls_engine *engine, uint32_t index, const char **name, const char **from,
                       const char **to)
{
    if (index >= engine->links.count)
        return false;
    *name = engine->links.at[index]->name;
    *from = engine->links.at[index]->from_name;
    *to = engine->links.at[index]->to_name;
    return true;
}

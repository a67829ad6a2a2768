/* save.c: the state of a whole machine as bytes, and back.
 *
 * The bytes are a header (version, checksum), a text that describes the machine, and the state of domains,
 * links and blocks in the order of their creation. Events are referred to by number. Loading compares the text
 * with that of the present machine before it changes anything.
 *
 * Windows, groups and threads do not appear in the bytes. A machine is saved between runs: every domain stands
 * at the same time. After loading, windows start afresh: all messages on links are shown to their receivers,
 * and waiting senders look for their credits again. */
#include "engine/save.h"

#include "engine/ranks_impl.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SAVE_MAGIC "LSSTATE"
#define SAVE_VERSION 4u

typedef struct save_header {
    char magic[8];
    uint32_t version, header_bytes;
    uint64_t body_bytes;
    hash128 checksum; /* of the body */
} save_header;

/* Blocks of one type mostly follow each other: a type is checked with the first of them. */
static ls_status check_tables(const ls_engine *engine, ls_error *err)
{
    enum { SEEN = 16 };
    const ls_block_type *seen[SEEN] = { NULL };
    ls_status status = LS_OK;
    for (size_t i = 0, next = 0; i < engine->blocks.count && status == LS_OK; i++) {
        const ls_block_type *type = engine->blocks.at[i]->type;
        bool again = false;
        for (size_t k = 0; k < SEEN; k++)
            again = again || seen[k] == type;
        if (again)
            continue;
        seen[next++ % SEEN] = type;
        status = rows_check(engine->blocks.at[i], err);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------- events */

typedef struct numbered {
    ls_event *event;
    uint64_t number;
} numbered;

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const numbered *)a)->event, y = (uintptr_t)((const numbered *)b)->event;
    return (x > y) - (x < y);
}

static bool sort_events(save_events *events)
{
    size_t count = events->at.count;
    numbered *list = calloc(count + 1, sizeof *list);
    events->sorted = calloc(count + 1, sizeof *events->sorted);
    events->number_of = calloc(count + 1, sizeof *events->number_of);
    bool ok = list != NULL && events->sorted != NULL && events->number_of != NULL;
    for (size_t i = 0; i < count && ok; i++)
        list[i] = (numbered){ events->at.at[i], i };
    if (ok)
        qsort(list, count, sizeof *list, by_address);
    for (size_t i = 0; i < count && ok; i++) {
        events->sorted[i] = list[i].event;
        events->number_of[i] = list[i].number;
    }
    free(list);
    return ok;
}

ls_status save_events_list(const ls_engine *engine, save_events *events, ls_error *err)
{
    bool ok = true;
    for (size_t i = 0; i < engine->blocks.count && ok; i++)
        ok = rows_add_events(engine->blocks.at[i], events);
    for (size_t i = 0; i < engine->links.count && ok; i++)
        ok = vec_push(&events->at, &engine->links.at[i]->serve);
    if (!ok || !sort_events(events))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a list of the machine's events");
    return LS_OK;
}

void save_events_fini(save_events *events)
{
    vec_fini(&events->at);
    free(events->sorted);
    free(events->number_of);
}

bool save_events_find(const save_events *events, const ls_event *event, uint64_t *number)
{
    size_t low = 0, high = events->at.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)events->sorted[middle] < (uintptr_t)event)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == events->at.count || events->sorted[low] != event)
        return false;
    *number = events->number_of[low];
    return true;
}

/* -------------------------------------------------------------------------------------------- description */

/* A line per domain, link and block: two machines with the same text were built in the same way. */
static void describe(const ls_engine *engine, text_buffer *text)
{
    for (size_t i = 0; i < engine->domains.count; i++) {
        const ls_domain *domain = engine->domains.at[i];
        text_printf(text, "domain '%s'", domain->name);
        for (uint32_t r = 0; r < domain->region_count; r++)
            text_printf(text, ", a clock of %" PRIu64 "/%" PRIu64 " fs with %u tickers",
                        domain->regions[r]->clock.period_num, domain->regions[r]->clock.period_den,
                        domain->regions[r]->ticker_count);
        text_add(text, "\n");
    }
    for (size_t i = 0; i < engine->links.count; i++) {
        const ls_link *l = engine->links.at[i];
        text_printf(text,
                    "link '%s' from '%s'.%u to '%s'.%u, latency %u, back %u, %u credits, slots of %u bytes, "
                    "width %u of %u units, flits of %u bytes\n",
                    l->name, l->from->domain->name, l->from->index, l->to->domain->name, l->to->index,
                    l->latency_cycles, l->credit_latency_cycles, l->credit_total, l->slot_bytes,
                    l->width_units, l->flit_units, l->flit_bytes);
    }
    for (size_t i = 0; i < engine->blocks.count; i++) {
        const ls_block *block = engine->blocks.at[i];
        text_printf(text, "block '%s' of type %s/%s in '%s'.%u, state %zu bytes, table %016" PRIx64 "\n",
                    block->name, block->type->slot, block->type->name, block->region->domain->name,
                    block->region->index, block->type->state_size,
                    rows_hash(block->type->rows, block->type->row_count));
    }
}

/* Both texts differ: the first line that does, of each. */
static ls_status name_difference(const char *saved, const char *here, ls_error *err)
{
    size_t i = 0, line = 0;
    while (saved[i] != '\0' && saved[i] == here[i])
        if (saved[i++] == '\n')
            line = i;
    saved += line;
    here += line;
    size_t saved_length = strcspn(saved, "\n"), here_length = strcspn(here, "\n");
    if (here_length == 0 || saved_length == 0)
        return ls_fail(err, LS_ERR_INPUT, "the state was saved from another machine: %s has %.*s",
                       here_length == 0 ? "only that one" : "only this one",
                       (int)(here_length == 0 ? saved_length : here_length), here_length == 0 ? saved : here);
    return ls_fail(err, LS_ERR_INPUT,
                   "the state was saved from another machine: it has %.*s; this one has %.*s",
                   (int)saved_length, saved, (int)here_length, here);
}

/* ------------------------------------------------------------------------------------------------- saving */

static ls_status no_number(const char *what, const char *name, ls_error *err)
{
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "the machine cannot be saved: an event %s '%s' is in no block's state table", what, name);
}

ls_status save_region(const ls_region *region, const save_events *events, bytes_out *out, ls_error *err)
{
    uint64_t head[] = { region->now,         region->floor,     region->idle_floor, region->events_run,
                        region->messages_in, region->ticks_run, region->cycles_run, region->active_summary };
    bytes_put(out, head, sizeof head);
    bytes_put(out, region->active, (region->ticker_count + 63) / 64 * sizeof *region->active);
    size_t count = wheel_list(region, NULL);
    ls_event **list = calloc(count + 1, sizeof(ls_event *));
    if (list == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a list of %zu events", count);
    wheel_list(region, list);
    ls_status status = LS_OK;
    bytes_put64(out, count);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        uint64_t number = 0;
        if (!save_events_find(events, list[i], &number))
            status = no_number("that is scheduled in domain", region->domain->name, err);
        bytes_put64(out, number);
        bytes_put64(out, list[i]->cycle);
    }
    free(list);
    return status;
}

ls_status save_waiters(const ls_link *link, const save_events *events, bytes_out *out, ls_error *err)
{
    uint64_t count = 0;
    const ls_event *oldest = link->waiters != NULL ? link->waiters->next : NULL;
    for (const ls_event *e = oldest; e != NULL; e = e == link->waiters ? NULL : e->next)
        count++;
    bytes_put64(out, count);
    for (const ls_event *e = oldest; e != NULL; e = e == link->waiters ? NULL : e->next) {
        uint64_t number;
        if (!save_events_find(events, e, &number))
            return no_number("that waits for link", link->name, err);
        bytes_put64(out, number);
    }
    return LS_OK;
}

void save_put_credits(const ls_link *link, bytes_out *out)
{
    for (uint32_t i = link->home, end = link_released(link); i != end; i++)
        bytes_put64(out, link->credit_ring != NULL ? link->credit_ring[i & link->ring_mask]
                                                   : link_slot(link, i)->cycle + link->credit_latency_cycles);
}

void save_put_message(const ls_link *link, uint64_t position, bytes_out *out)
{
    const arrival *message = link_slot(link, position);
    arrival head = *message;
    head.next = NULL;
    bytes_put(out, &head, sizeof head);
    bytes_put(out, message + 1, link->slot_bytes - sizeof head);
}

static ls_status save_link(const ls_link *link, const save_events *events, bytes_out *out, ls_error *err)
{
    uint64_t head[] = { link->tail, link->head,          link->wire_cycle,  link->wire_free,
                        link->home, link_released(link), link->wake_queued, link->wake.cycle };
    bytes_put(out, head, sizeof head);
    save_put_credits(link, out);
    for (uint64_t i = link->head; i != link->tail; i++)
        save_put_message(link, i, out);
    return save_waiters(link, events, out, err);
}

static ls_status save_body(const ls_engine *engine, const save_events *events, const ls_state_objects *objects,
                           bytes_out *out, ls_error *err)
{
    text_buffer text = { 0 };
    describe(engine, &text);
    size_t length = strlen(text_get(&text)) + 1;
    out->failed |= text.failed;
    bytes_put64(out, length);
    bytes_put(out, text_get(&text), length);
    text_fini(&text);

    ls_status status = LS_OK;
    bytes_put64(out, engine->last_cycle);
    bytes_put64(out, engine->window_index != 0);
    for (size_t i = 0; i < engine->domains.count && status == LS_OK; i++) {
        const ls_domain *domain = engine->domains.at[i];
        bytes_put(out, &domain->tally.pending, sizeof domain->tally.pending);
        bytes_put64(out, domain->tally.progress);
        bytes_put(out, &domain->random, sizeof domain->random);
        for (uint32_t r = 0; r < domain->region_count && status == LS_OK; r++)
            status = save_region(domain->regions[r], events, out, err);
    }
    for (size_t i = 0; i < engine->links.count && status == LS_OK; i++)
        status = save_link(engine->links.at[i], events, out, err);
    for (size_t i = 0; i < engine->blocks.count && status == LS_OK; i++) {
        rank_bytes kept;
        if (ranks_kept(engine->blocks.at[i], i, &kept))
            bytes_put(out, kept.at, kept.count);
        else
            status = rows_save(engine->blocks.at[i], objects, out, err);
    }
    return status;
}

ls_status ls_engine_save_with(ls_engine *engine, const ls_state_objects *objects, void **saved, size_t *bytes,
                              ls_error *err)
{
    *saved = NULL;
    *bytes = 0;
    ls_error_clear(err);
    bytes_out out = { 0 };
    save_events events = { 0 };
    ls_status status = check_tables(engine, err);
    if (status == LS_OK)
        status = save_events_list(engine, &events, err);
    save_header header = { .magic = SAVE_MAGIC, .version = SAVE_VERSION, .header_bytes = sizeof header };
    bytes_put(&out, &header, sizeof header);
    if (status == LS_OK)
        status = save_body(engine, &events, objects, &out, err);
    if (status == LS_OK && out.failed)
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for the state of the machine");
    save_events_fini(&events);
    if (status != LS_OK) {
        vec_fini(&out.bytes);
        return status;
    }
    header.body_bytes = out.bytes.count - sizeof header;
    header.checksum = hash128_of(out.bytes.at + sizeof header, header.body_bytes);
    memcpy(out.bytes.at, &header, sizeof header);
    *saved = out.bytes.at;
    *bytes = out.bytes.count;
    return LS_OK;
}

ls_status ls_engine_save(ls_engine *engine, void **out, size_t *bytes, ls_error *err)
{
    return ls_engine_save_with(engine, NULL, out, bytes, err);
}

/* ------------------------------------------------------------------------------------------------ loading */

ls_event *load_event(const save_events *events, bytes_in *in)
{
    uint64_t number = bytes_get64(in);
    in->failed |= number >= events->at.count;
    return in->failed ? NULL : events->at.at[number];
}

ls_status load_region(ls_region *region, const save_events *events, bytes_in *in, ls_error *err)
{
    uint64_t head[8];
    bytes_get(in, head, sizeof head);
    region->now = head[0];
    region->floor = head[1];
    region->idle_floor = head[2];
    region->events_run = head[3];
    region->messages_in = head[4];
    region->ticks_run = head[5];
    region->cycles_run = head[6];
    region->active_summary = head[7];
    bytes_get(in, region->active, (region->ticker_count + 63) / 64 * sizeof *region->active);
    for (uint64_t i = 0, count = bytes_get64(in); i < count && !in->failed; i++) {
        ls_event *event = load_event(events, in);
        ls_cycle cycle = bytes_get64(in);
        in->failed = in->failed || cycle < region->now || event->region != NULL;
        if (!in->failed && !wheel_put(region, event, cycle))
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the event heap");
    }
    return LS_OK;
}

void save_get_credits(ls_link *link, uint32_t released, bytes_in *in)
{
    in->failed |= released - link->home > link->credit_total;
    atomic_store_explicit(&link->released, released, memory_order_relaxed);
    for (uint32_t i = link->home; i != released && !in->failed; i++) {
        ls_cycle cycle = bytes_get64(in);
        if (link->credit_ring != NULL)
            link->credit_ring[i & link->ring_mask] = cycle;
        else
            link_slot(link, i)->cycle = cycle - link->credit_latency_cycles;
    }
}

void save_get_message(const ls_link *link, uint64_t position, bytes_in *in)
{
    arrival *message = link_slot(link, position);
    bytes_get(in, message, link->slot_bytes);
    message->order = link->id * 2;
}

/* The messages whose credits are not home: as many slots, and of those under way all. */
static ls_status load_messages(ls_link *link, uint32_t released, bytes_in *in, ls_error *err)
{
    uint32_t count = (uint32_t)link->tail - link->home;
    if (link->tail - link->head > count || count > link->credit_total ||
        (link->frees_at_once && released != (uint32_t)link->head)) {
        in->failed = true;
        return LS_OK;
    }
    bool has_rings = link->frees_at_once || link_make_credits(link);
    while (has_rings && link->slot_limit < count)
        has_rings = link_add_slots(link);
    if (!has_rings)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the messages of link '%s'", link->name);
    link->slots_end = (uint32_t)link->tail;
    save_get_credits(link, released, in);
    for (uint64_t i = link->head; i != link->tail && !in->failed; i++)
        save_get_message(link, i, in);
    return LS_OK;
}

static ls_status load_link(ls_link *link, const save_events *events, bytes_in *in, ls_error *err)
{
    uint64_t head[8];
    bytes_get(in, head, sizeof head);
    link->tail = head[0];
    link->head = head[1];
    link->wire_cycle = head[2];
    link->wire_free = head[3];
    link->home = (uint32_t)head[4];
    ls_status status = in->failed ? LS_OK : load_messages(link, (uint32_t)head[5], in, err);
    for (uint64_t i = 0, count = bytes_get64(in); i < count && !in->failed && status == LS_OK; i++) {
        ls_event *event = load_event(events, in);
        if (event != NULL)
            link_add_waiter(link, event);
    }
    if (!in->failed && status == LS_OK)
        link_resume(link, head[6] != 0 ? head[7] : LS_CYCLE_MAX);
    return status;
}

/* Blocks that want to know it. */
static ls_status tell_loaded(const ls_block *block, ls_error *err)
{
    const ls_port_decl *port = ls_block_type_port(block->type, LS_STATE_INTERFACE, false);
    return port != NULL ? ((const ls_state_ops *)port->ops)->loaded(block->state, err) : LS_OK;
}

static ls_status load_body(ls_engine *engine, const save_events *events, const ls_state_objects *objects,
                           bytes_in *in, ls_error *err)
{
    ls_status status = LS_OK;
    engine->last_cycle = bytes_get64(in);
    engine->window_index = bytes_get64(in);
    for (size_t i = 0; i < engine->domains.count && status == LS_OK; i++) {
        ls_domain *domain = engine->domains.at[i];
        bytes_get(in, &domain->tally.pending, sizeof domain->tally.pending);
        domain->tally.progress = bytes_get64(in);
        bytes_get(in, &domain->random, sizeof domain->random);
        for (uint32_t r = 0; r < domain->region_count && status == LS_OK; r++)
            status = load_region(domain->regions[r], events, in, err);
    }
    for (size_t i = 0; i < engine->links.count && status == LS_OK && !in->failed; i++)
        status = load_link(engine->links.at[i], events, in, err);
    for (size_t i = 0; i < engine->blocks.count && status == LS_OK && !in->failed; i++)
        status = rows_load(engine->blocks.at[i], objects, in, err);
    if (status == LS_OK && (in->failed || in->at != in->end))
        status = ls_fail(err, LS_ERR_INPUT, "the saved state does not fit this machine");
    for (size_t i = 0; i < engine->blocks.count && status == LS_OK; i++)
        status = tell_loaded(engine->blocks.at[i], err);
    return status;
}

/* Header, checksum and the machine's description; *in is left at the state. */
static ls_status check_saved(const ls_engine *engine, const void *saved, size_t bytes, bytes_in *in,
                             ls_error *err)
{
    save_header header;
    if (bytes < sizeof header)
        return ls_fail(err, LS_ERR_INPUT, "a saved state of %zu bytes is cut short", bytes);
    memcpy(&header, saved, sizeof header);
    if (memcmp(header.magic, SAVE_MAGIC, sizeof header.magic) != 0)
        return ls_fail(err, LS_ERR_INPUT, "this is not a saved state");
    if (header.version != SAVE_VERSION || header.header_bytes != sizeof header)
        return ls_fail(err, LS_ERR_INPUT, "a saved state of version %u, expected %u", header.version,
                       SAVE_VERSION);
    if (header.body_bytes != bytes - sizeof header)
        return ls_fail(err, LS_ERR_INPUT, "a saved state has %zu bytes, its header says %llu", bytes,
                       (unsigned long long)(header.body_bytes + sizeof header));
    const uint8_t *body = (const uint8_t *)saved + sizeof header;
    if (!hash_same(hash128_of(body, header.body_bytes), header.checksum))
        return ls_fail(err, LS_ERR_INPUT, "the saved state is damaged: its checksum is wrong");

    *in = (bytes_in){ .at = body, .end = body + header.body_bytes };
    uint64_t length = bytes_get64(in);
    if (in->failed || length == 0 || length > (size_t)(in->end - in->at) || in->at[length - 1] != '\0')
        return ls_fail(err, LS_ERR_INPUT, "the saved state is damaged: it does not describe a machine");
    text_buffer text = { 0 };
    describe(engine, &text);
    const char *was = (const char *)in->at;
    ls_status status = LS_OK;
    if (text.failed)
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for the description of the machine");
    else if (strcmp(was, text_get(&text)) != 0)
        status = name_difference(was, text_get(&text), err);
    text_fini(&text);
    in->at += length;
    return status;
}

ls_status ls_engine_load_with(ls_engine *engine, const ls_state_objects *objects, const void *saved,
                              size_t bytes, ls_error *err)
{
    ls_error_clear(err);
    if (engine->started)
        return ls_fail(err, LS_ERR_USAGE, "a state is loaded into a machine that has run");
    bytes_in in = { 0 };
    save_events events = { 0 };
    ls_status status = check_tables(engine, err);
    if (status == LS_OK)
        status = check_saved(engine, saved, bytes, &in, err);
    if (status == LS_OK)
        status = save_events_list(engine, &events, err);
    if (status == LS_OK)
        status = engine_prepare(engine, err);
    if (status == LS_OK) {
        for (size_t i = 0; i < engine->domains.count; i++)
            for (uint32_t r = 0; r < engine->domains.at[i]->region_count; r++)
                wheel_clear(engine->domains.at[i]->regions[r]);
        status = load_body(engine, &events, objects, &in, err);
    }
    save_events_fini(&events);
    return status;
}

ls_status ls_engine_load(ls_engine *engine, const void *saved, size_t bytes, ls_error *err)
{
    return ls_engine_load_with(engine, NULL, saved, bytes, err);
}

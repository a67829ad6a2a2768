/* snoop.c: the snoop filter of a memory channel. It stands between the gate and the home of the channel's lines, keeps
 * a mask of dies for each line that an L2 may have, and holds answers to writes until probes are answered. */
#include "model/amd_memory/snoop.h"

#include "base/list.h"
#include "lockstep/state.h"
#include "model/cache/tag_store_state.h"

#include <stdio.h>

#define SNOOP_WAYS 16u
#define SNOOP_CLIENTS_MAX (LINE_SNOOP_DIES_MAX + 2)
#define SNOOP_QUEUE 64u /* probes that wait for their links; a power of two */
#define SNOOP_HELD 256u /* writes and atomics between request and answer */

typedef struct snoop_counters {
    uint64_t probes, held, forgotten;
} snoop_counters;

/* One requester of the filter, as a requester of the home. */
typedef struct snoop_client {
    const ls_line_client_ops *ops;
    void *self;
    struct snoop *snoop;
    uint32_t number;
    ls_line_port home;
    bool waiting; /* the filter refused it: it is called when there is room */
} snoop_client;

/* An answer that waits until each die has answered so many probes. */
typedef struct snoop_held {
    uint32_t next, client;
    uint64_t needs[LINE_SNOOP_DIES_MAX];
    ls_line_message m;
} snoop_held;

typedef struct snoop_probe {
    uint64_t address;
    uint32_t dies; /* bits: those that it is still to be sent to */
    uint32_t unused;
} snoop_probe;

/* Invariants: a line of which an L2 may have bytes that it did not write has an entry with that die's bit. sent[] counts
 * probes when they are decided, acked[] those that were answered; answers of one die come in the order of its probes. */
typedef struct snoop {
    const char *name;
    ls_region *region;
    ls_block *home;
    uint32_t dies, line_shift, client_count;
    mem_map map;
    ls_link *links[LINE_SNOOP_DIES_MAX];
    tag_store tags; /* of lines */
    uint8_t *sharers;
    snoop_held *nodes;
    index_pool pool;
    index_list held;
    uint32_t inside; /* writes and atomics that were taken and not answered */
    uint32_t probe_head, probe_count;
    snoop_probe probes[SNOOP_QUEUE];
    uint64_t sent[LINE_SNOOP_DIES_MAX], acked[LINE_SNOOP_DIES_MAX];
    bool draining; /* `drain` waits for a link */
    ls_event drain;
    snoop_counters n;
    snoop_client clients[SNOOP_CLIENTS_MAX];
} snoop;

/* --- probes --- */

/* Sends what links take; waits for the first that does not. */
static void send_probes(snoop *s)
{
    while (s->probe_count > 0) {
        snoop_probe *p = &s->probes[s->probe_head & (SNOOP_QUEUE - 1)];
        while (p->dies != 0) {
            uint32_t die = (uint32_t)__builtin_ctz(p->dies);
            line_probe *message = ls_link_send(s->links[die], sizeof *message);
            if (message == NULL) {
                s->draining = true;
                ls_link_wait(s->links[die], &s->drain);
                return;
            }
            message->address = p->address;
            p->dies &= p->dies - 1;
        }
        s->probe_head++;
        s->probe_count--;
    }
}

static void decide_probe(snoop *s, uint64_t address, uint32_t dies)
{
    s->probes[(s->probe_head + s->probe_count++) & (SNOOP_QUEUE - 1)] =
        (snoop_probe){ .address = address, .dies = dies };
    for (uint32_t left = dies; left != 0; left &= left - 1)
        s->sent[__builtin_ctz(left)]++;
    s->n.probes += (uint64_t)__builtin_popcount(dies);
    if (!s->draining)
        send_probes(s);
}

/* A refused requester has a chance again. */
static void call_clients(snoop *s, ls_cycle now)
{
    for (uint32_t i = 0; i < s->client_count; i++) {
        snoop_client *client = &s->clients[i];
        if (client->waiting) {
            client->waiting = false;
            client->ops->retry(client->self, now);
        }
    }
}

static void on_drain(void *self, ls_cycle now)
{
    snoop *s = self;
    s->draining = false;
    send_probes(s);
    call_clients(s, now);
}

/* --- lines --- */

/* The entry of a line; a line that goes for it is dropped by its dies. */
static uint32_t enter(snoop *s, uint64_t address)
{
    uint64_t local = mem_map_place_again(&s->map, address).local;
    uint32_t i = tag_store_victim(&s->tags, tag_store_set_of(&s->tags, local >> s->line_shift));
    if (tag_store_has(&s->tags, i)) {
        s->n.forgotten++;
        decide_probe(s, tag_store_key(&s->tags, i) << s->line_shift, s->sharers[i]);
    }
    tag_store_place(&s->tags, i, address >> s->line_shift);
    s->sharers[i] = 0;
    return i;
}

static void note_read(snoop *s, uint32_t client, const ls_line_message *m)
{
    if (client >= s->dies || (m->flags & LS_LINE_DLC) != 0)
        return; /* it keeps none */
    uint32_t i = tag_store_find(&s->tags, m->address >> s->line_shift);
    if (i == TAG_STORE_NONE)
        i = enter(s, m->address);
    s->sharers[i] |= (uint8_t)(1u << client);
}

static void note_write(snoop *s, uint32_t client, const ls_line_message *m)
{
    bool keeps = client < s->dies && m->kind == LS_LINE_WRITE && (m->flags & LS_LINE_DLC) == 0;
    uint32_t own = client < s->dies ? 1u << client : 0;
    uint32_t i = tag_store_find(&s->tags, m->address >> s->line_shift);
    uint32_t others = i != TAG_STORE_NONE ? s->sharers[i] & ~own : 0;
    if (others != 0) {
        decide_probe(s, m->address, others);
        s->sharers[i] &= (uint8_t)own;
    }
    if (keeps) {
        if (i == TAG_STORE_NONE)
            i = enter(s, m->address);
        s->sharers[i] |= (uint8_t)own;
    } else if (i != TAG_STORE_NONE && s->sharers[i] == 0) {
        tag_store_drop(&s->tags, i);
    }
}

/* --- requests --- */

static bool is_write(const ls_line_message *m)
{
    return m->kind == LS_LINE_WRITE || m->kind == LS_LINE_ATOMIC;
}

static bool snoop_request(void *self, uint32_t number, const ls_line_message *m, ls_cycle now)
{
    snoop *s = self;
    snoop_client *client = &s->clients[number];
    bool writes = is_write(m);
    /* It may take two: of its own line, and of one that goes for it. */
    if (LS_UNLIKELY(s->probe_count + 2 > SNOOP_QUEUE || (writes && s->inside == SNOOP_HELD))) {
        client->waiting = true;
        return false;
    }
    if (!ls_line_request(&client->home, m, now))
        return false;
    if (m->kind == LS_LINE_READ) {
        note_read(s, number, m);
    } else if (writes) {
        s->inside++;
        note_write(s, number, m);
    }
    return true;
}

/* --- answers --- */

static bool is_acked(const snoop *s, const uint64_t *needs)
{
    for (uint32_t i = 0; i < s->dies; i++)
        if (s->acked[i] < needs[i])
            return false;
    return true;
}

static void answer(snoop *s, snoop_client *client, const ls_line_message *m, ls_cycle now)
{
    bool was_full = s->inside == SNOOP_HELD;
    s->inside -= is_write(m);
    client->ops->reply(client->self, m, now);
    if (was_full)
        call_clients(s, now);
}

static void home_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    snoop_client *client = self;
    snoop *s = client->snoop;
    if (!is_write(m) || (index_list_empty(&s->held) && is_acked(s, s->sent))) {
        answer(s, client, m, now);
        return;
    }
    const index_links next = INDEX_LINKS(s->nodes, next);
    uint32_t i = index_pool_take(&s->pool, next);
    s->nodes[i].client = client->number;
    memcpy(s->nodes[i].needs, s->sent, sizeof s->sent);
    ls_line_copy(&s->nodes[i].m, m, ls_line_reply_data(m, 1u << s->line_shift));
    index_list_append(&s->held, next, i);
    s->n.held++;
}

static void home_retry(void *self, ls_cycle now)
{
    snoop_client *client = self;
    client->ops->retry(client->self, now);
}

static const ls_line_client_ops home_client = { .reply = home_reply, .retry = home_retry };

void line_snoop_receive_ack(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    snoop *s = state;
    const index_links next = INDEX_LINKS(s->nodes, next);
    s->acked[((const line_probe_ack *)payload)->die]++;
    ls_link_release(link, 1);
    while (!index_list_empty(&s->held) && is_acked(s, s->nodes[s->held.first].needs)) {
        uint32_t i = s->held.first;
        answer(s, &s->clients[s->nodes[i].client], &s->nodes[i].m, now);
        index_pool_give(&s->pool, next, index_list_pop(&s->held, next));
    }
}

/* --- set-up --- */

static ls_status snoop_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                              ls_error *err);

static const ls_line_memory_ops memory_ops = { .request = snoop_request, .attach = snoop_attach };

static ls_status snoop_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                              ls_error *err)
{
    snoop *s = self;
    if (s->client_count == SNOOP_CLIENTS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "%s: more than %u requesters", s->name, SNOOP_CLIENTS_MAX);
    snoop_client *c = &s->clients[s->client_count];
    *c = (snoop_client){ .ops = ops, .self = client, .snoop = s, .number = s->client_count };
    ls_status status = ls_line_join(s->home, &home_client, c, &c->home, err);
    if (status != LS_OK)
        return status;
    *out = (ls_line_port){
        .ops = &memory_ops, .self = s, .client = s->client_count++, .line_bytes = c->home.line_bytes
    };
    s->line_shift = (uint32_t)__builtin_ctz(c->home.line_bytes);
    return LS_OK;
}

static ls_status snoop_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    snoop *s = state;
    (void)spec, (void)err;
    s->name = ls_block_name(block);
    s->region = ls_block_region(block);
    s->pool = INDEX_POOL_NEW;
    s->held = INDEX_LIST_EMPTY;
    ls_event_init(&s->drain, on_drain, s);
    return LS_OK;
}

static void snoop_waits(const void *self, ls_wait_sink *sink)
{
    const snoop *s = self;
    char detail[96];
    if (index_list_empty(&s->held) && s->probe_count == 0)
        return;
    snprintf(detail, sizeof detail, "%u probes to send, %u writes inside", s->probe_count, s->inside);
    ls_wait_report(sink, s->name, "the L2s of other dies", detail);
}

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(snoop_counters, probes, "messages", "probes of L2s for lines that another one wrote"),
    LS_METRIC_COUNTER(snoop_counters, held, "messages", "answers to writes that waited for probes"),
    LS_METRIC_COUNTER(snoop_counters, forgotten, "lines", "lines dropped for want of an entry"),
};

static uint64_t entry_count(const void *self)
{
    return tag_store_count(&((const snoop *)self)->tags);
}

static uint64_t node_count(const void *self)
{
    (void)self;
    return SNOOP_HELD;
}

static const ls_state_row client_rows[] = {
    LS_STATE_FIXED_SPAN(snoop_client, ops, home),
    LS_STATE_DATA(snoop_client, waiting),
};

static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(snoop, name, links),
    LS_STATE_PART(snoop, tags, tag_store_rows),
    LS_STATE_ARRAY(snoop, sharers, entry_count),
    LS_STATE_ARRAY(snoop, nodes, node_count),
    LS_STATE_DATA_SPAN(snoop, pool, draining),
    LS_STATE_EVENT(snoop, drain),
    LS_STATE_DATA(snoop, n),
    LS_STATE_PARTS(snoop, clients, client_rows),
};

static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &memory_ops },
};

static const ls_block_type snoop_type = {
    .abi = LS_ABI_VERSION,
    .slot = "line-snoop",
    .name = "filter",
    .help = "which dies' L2s may have a line of a channel",
    .state_size = sizeof(snoop),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(snoop, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
    .init = snoop_init,
    .waits = snoop_waits,
};

ls_status line_snoop_create(ls_region *region, const char *name, uint32_t dies, uint64_t entries,
                            const mem_map *map, ls_block *home, ls_block **out, ls_error *err)
{
    ls_domain *domain = ls_region_domain(region);
    ls_status status = ls_block_create(region, name, &snoop_type, NULL, out, err);
    if (status != LS_OK)
        return status;
    snoop *s = ls_block_state(*out);
    if (dies > LINE_SNOOP_DIES_MAX || entries % SNOOP_WAYS != 0)
        return ls_fail(err, LS_ERR_INPUT, "%s: %u dies (up to %u) and %llu entries (a multiple of %u)", name,
                       dies, LINE_SNOOP_DIES_MAX, (unsigned long long)entries, SNOOP_WAYS);
    s->dies = dies;
    s->map = *map;
    s->home = home;
    status = tag_store_init_plain(&s->tags, entries / SNOOP_WAYS, SNOOP_WAYS, domain, err);
    if (status != LS_OK)
        return status;
    s->sharers = ls_domain_alloc(domain, entries * sizeof *s->sharers);
    s->nodes = ls_domain_alloc(domain, SNOOP_HELD * sizeof *s->nodes);
    return s->sharers != NULL && s->nodes != NULL ? LS_OK
                                                  : ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", name);
}

void line_snoop_set_probe(ls_block *block, uint32_t die, ls_link *link)
{
    ((snoop *)ls_block_state(block))->links[die] = link;
}

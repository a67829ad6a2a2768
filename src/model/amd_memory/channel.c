/* channel.c: lines to and from a DRAM channel. Lives in the clock region of the caches; DRAM lives in another
 * region of the domain and calls back from there. */
#include "model/amd_memory/channel.h"

#include "model/amd_memory/line_tap.h"
#include "base/list.h"
#include "lockstep/dram.h"
#include "lockstep/state.h"
#include "model/amd_memory/line_store.h"
#include "model/amd_memory/place_memory.h"

#include <stdio.h>

#define CLIENTS_MAX 16

typedef struct home_counters {
    uint64_t reads, writes, read_bytes, write_bytes;
    uint64_t refused;     /* the queue was full */
    uint64_t dram_stalls; /* cycles in which the oldest request found DRAM full */
    uint64_t lost_writes; /* to pages that are not mapped: freed memory that was still dirty in a cache */
    uint64_t answers, latency_cycles;
} home_counters;

typedef struct home_node {
    ls_cycle taken, ready; /* ready: may go to DRAM */
    uint32_t next, client;
    ls_line_message m;
} home_node;

typedef struct home_client {
    const ls_line_client_ops *ops;
    void *self;
    bool waiting;
} home_client;

typedef struct home {
    ls_port dram;
    const line_channel_spec *spec;
    const char *name;
    const ls_tap *tap;
    ls_region *region;
    home_counters n;
    ls_memory *memory;
    mem_map map;
    uint32_t line_bytes;
    home_node *nodes;
    index_pool pool; /* of nodes */
    uint32_t inside;
    index_list queue, done; /* to DRAM; answered by it */
    ls_event event;         /* the head of the queue, and answers */
    bool calling;
    uint32_t client_count, turn; /* turn: the client to call next */
    home_client clients[CLIENTS_MAX];
} home;

static inline void put(home *h, index_list *list, uint32_t i)
{
    index_list_append(list, INDEX_LINKS(h->nodes, next), i);
}

static inline bool is_full(const home *h)
{
    return index_pool_empty(&h->pool, (uint32_t)h->spec->queue_entries);
}

static void arm(home *h, ls_cycle at, ls_cycle now)
{
    if (h->calling)
        return;
    if (ls_event_scheduled(&h->event)) {
        if (h->event.cycle <= at)
            return;
        ls_cancel(&h->event);
    }
    ls_schedule(h->region, &h->event, at - now);
}

/* --- requests --- */

static bool push(home *h, uint32_t i)
{
    home_node *node = &h->nodes[i];
    const ls_dram_ops *dram = h->dram.ops;
    bool write = node->m.kind == LS_LINE_WRITE;
    if (!dram->ready(h->dram.self, write))
        return false;
    ls_dram_place at = mem_map_dram(&h->map, node->m.address);
    uint8_t atoms = (uint8_t)(h->line_bytes / LS_DRAM_ATOM_BYTES);
    if (write) {
        atoms = 0;
        for (uint32_t word = 0; word < 2; word++)
            atoms += (uint8_t)(((uint32_t)node->m.mask[word] != 0) + (node->m.mask[word] >> 32 != 0));
        if (memory_state(h->memory, node->m.address) != 0)
            store_merge_bytes(memory_at(h->memory, node->m.address), node->m.data, node->m.mask);
        else
            h->n.lost_writes++;
    }
    dram->push(h->dram.self, &(ls_dram_request){ .bank = at.bank,
                                                 .row = at.row,
                                                 .column = at.column,
                                                 .token = i,
                                                 .write = write,
                                                 .atoms = atoms });
    return true;
}

static bool home_request(void *self, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    home *h = self;
    if (is_full(h)) {
        h->clients[client].waiting = true;
        h->n.refused++;
        return false;
    }
    uint32_t i = index_pool_take(&h->pool, INDEX_LINKS(h->nodes, next));
    home_node *node = &h->nodes[i];
    h->inside++;
    line_tap(h->tap, h->region, m, LS_STEP_DRAM);
    node->taken = now;
    node->ready = now + h->spec->delay_cycles;
    node->client = client;
    ls_line_copy(&node->m, m, ls_line_request_data(m, h->line_bytes));
    if (m->kind != LS_LINE_READ && m->kind != LS_LINE_WRITE) {
        put(h, &h->done, i); /* nothing is kept here: flushed and invalid already */
        arm(h, now, now);
        return true;
    }
    if (index_list_empty(&h->queue) && node->ready <= now && push(h, i))
        return true;
    put(h, &h->queue, i);
    if (h->queue.first == i)
        arm(h, node->ready > now ? node->ready : now + 1, now);
    return true;
}

/* --- answers --- */

static bool reply_ready(void *self, uint32_t token)
{
    (void)self, (void)token;
    return true;
}

static inline uint64_t bytes_of(uint64_t mask)
{
    return mask == UINT64_MAX ? 64 : mask == 0 ? 0 : (uint64_t)__builtin_popcountll(mask);
}

/* From the DRAM's region. */
static void reply_done(void *self, uint32_t token, bool write)
{
    home *h = self;
    home_node *node = &h->nodes[token];
    if (write) {
        h->n.writes++;
        h->n.write_bytes += bytes_of(node->m.mask[0]) + bytes_of(node->m.mask[1]);
    } else {
        h->n.reads++;
        h->n.read_bytes += h->line_bytes;
        if (memory_state(h->memory, node->m.address) != 0) {
            ls_line_copy_data(node->m.data, memory_at(h->memory, node->m.address), h->line_bytes);
        } else {
            memset(node->m.data, 0, h->line_bytes);
            node->m.flags |= LS_LINE_FAULT;
        }
    }
    put(h, &h->done, token);
    if (!h->calling && !ls_event_scheduled(&h->event))
        ls_schedule(h->region, &h->event, 0);
    else if (!h->calling) {
        ls_cancel(&h->event);
        ls_schedule(h->region, &h->event, 0);
    }
}

static const ls_dram_reply_ops reply_ops = { .ready = reply_ready, .done = reply_done };

static void deliver(home *h, ls_cycle now)
{
    while (!index_list_empty(&h->done)) {
        uint32_t i = h->done.first;
        home_node *node = &h->nodes[i];
        const home_client *client = &h->clients[node->client];
        h->n.answers++;
        h->n.latency_cycles += now - node->taken;
        client->ops->reply(client->self, &node->m, now);
        (void)index_list_pop(&h->done, INDEX_LINKS(h->nodes, next));
        index_pool_give(&h->pool, INDEX_LINKS(h->nodes, next), i);
        h->inside--;
    }
}

static void home_event(void *self, ls_cycle now)
{
    home *h = self;
    h->calling = true;
    deliver(h, now);
    for (uint32_t i = 0; i < h->client_count && !is_full(h); i++) {
        home_client *client = &h->clients[h->turn++ % h->client_count];
        if (client->waiting) {
            client->waiting = false;
            client->ops->retry(client->self, now);
        }
    }
    while (!index_list_empty(&h->queue) && h->nodes[h->queue.first].ready <= now) {
        uint32_t i = h->queue.first, next = h->nodes[i].next;
        if (!push(h, i)) {
            h->n.dram_stalls++;
            break;
        }
        h->queue.first = next;
    }
    h->calling = false;
    if (!index_list_empty(&h->done))
        arm(h, now, now);
    else if (!index_list_empty(&h->queue))
        arm(h, h->nodes[h->queue.first].ready > now ? h->nodes[h->queue.first].ready : now + 1, now);
}

/* --- set-up --- */

static ls_status home_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                             ls_error *err);

static const ls_line_memory_ops home_memory = { .request = home_request, .attach = home_attach };

static ls_status home_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                             ls_error *err)
{
    home *h = self;
    if (h->client_count == CLIENTS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "%s: more than %d caches above it", h->name, CLIENTS_MAX);
    h->clients[h->client_count] = (home_client){ .ops = ops, .self = client };
    *out = (ls_line_port){
        .ops = &home_memory, .self = h, .client = h->client_count++, .line_bytes = h->line_bytes
    };
    return LS_OK;
}

static ls_status home_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    home *h = state;
    h->spec = spec;
    h->name = ls_block_name(block);
    h->region = ls_block_region(block);
    h->tap = ls_block_tap(block);
    h->queue = h->done = INDEX_LIST_EMPTY;
    h->pool = INDEX_POOL_NEW;
    h->nodes = ls_domain_alloc(ls_region_domain(h->region), h->spec->queue_entries * sizeof *h->nodes);
    if (h->nodes == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for memory channel '%s'", h->name);
    ls_event_init(&h->event, home_event, h);
    return LS_OK;
}

static ls_status channel_attach(void *self, const mem_map *map, uint32_t line_bytes, ls_error *err)
{
    home *h = self;
    h->map = *map;
    h->line_bytes = line_bytes;
    ls_dram_place first = mem_map_dram(map, 0);
    ls_sector_place place = mem_map_place(map, 0);
    for (uint64_t at = LS_DRAM_ATOM_BYTES; at < line_bytes; at += LS_DRAM_ATOM_BYTES) {
        ls_dram_place dram = mem_map_dram(map, at);
        ls_sector_place here = mem_map_place(map, at);
        if (dram.bank != first.bank || dram.row != first.row || here.channel != place.channel ||
            here.slice != place.slice)
            return ls_fail(
                err, LS_ERR_INPUT,
                "%s: the address map puts byte %llu of a line of %u bytes into another place than byte 0",
                h->name, (unsigned long long)at, line_bytes);
    }
    return LS_OK;
}

static void channel_set_memory(void *self, ls_memory *memory)
{
    ((home *)self)->memory = memory;
}

static const ls_channel_ops channel_ops = { .attach = channel_attach, .set_memory = channel_set_memory };

static void home_waits(const void *self, ls_wait_sink *sink)
{
    const home *h = self;
    char detail[96];
    if (h->inside == 0)
        return;
    snprintf(detail, sizeof detail, "%u lines inside%s", h->inside,
             !index_list_empty(&h->queue) ? ", the oldest waits for DRAM" : "");
    ls_wait_report(sink, h->name, "dram", detail);
}

static const ls_param params[] = {
    LS_PARAM_UINT(line_channel_spec, queue_entries, "lines", 256, 1, 65536,
                  "lines inside, waiting or in DRAM"),
    LS_PARAM_UINT(line_channel_spec, delay_cycles, "cycles", 0, 0, 10000,
                  "from the cache to the DRAM channel"),
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(home_counters, reads, "lines", "lines read"),
    LS_METRIC_COUNTER(home_counters, writes, "lines", "lines written"),
    LS_METRIC_COUNTER(home_counters, read_bytes, "bytes", "bytes read"),
    LS_METRIC_COUNTER(home_counters, write_bytes, "bytes", "bytes written"),
    LS_METRIC_COUNTER(home_counters, refused, "tries", "the queue was full"),
    LS_METRIC_COUNTER(home_counters, dram_stalls, "cycles", "the oldest line found DRAM full"),
    LS_METRIC_COUNTER(home_counters, lost_writes, "lines", "written to memory that was freed"),
    LS_METRIC_COUNTER(home_counters, answers, "lines", "lines answered"),
    LS_METRIC_COUNTER(home_counters, latency_cycles, "cycles", "from taken to answered, of all lines"),
    LS_METRIC_RATIO(home_counters, "average_latency", latency_cycles, answers, "cycles",
                    "latency_cycles / answers"),
};

static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &home_memory },
    { .name = LS_CHANNEL_PORT, .interface = LS_CHANNEL_INTERFACE, .ops = &channel_ops },
    { .name = "dram", .interface = LS_DRAM_INTERFACE, .offset = offsetof(home, dram) },
    { .name = "reply", .interface = LS_DRAM_REPLY_INTERFACE, .ops = &reply_ops },
};

static uint64_t node_count(const void *self)
{
    return ((const home *)self)->spec->queue_entries;
}

static const ls_state_row client_rows[] = {
    LS_STATE_FIXED_SPAN(home_client, ops, self),
    LS_STATE_DATA(home_client, waiting),
};

static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(home, dram, region),       LS_STATE_DATA(home, n),
    LS_STATE_FIXED_SPAN(home, memory, line_bytes), LS_STATE_ARRAY(home, nodes, node_count),
    LS_STATE_DATA_SPAN(home, pool, done),          LS_STATE_EVENT(home, event),
    LS_STATE_DATA_SPAN(home, calling, turn),       LS_STATE_PARTS(home, clients, client_rows),
};

static const ls_block_type home_type = {
    .abi = LS_ABI_VERSION,
    .slot = LS_CHANNEL_SLOT,
    .name = "window",
    .help = "lines of the simulated memory through a DRAM channel",
    .spec_size = sizeof(line_channel_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .state_size = sizeof(home),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(home, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
    .init = home_init,
    .waits = home_waits,
};
LS_REGISTER_BLOCK(home_type);

/* ---------------------------------------------------------------------------------- any model of the slot */

static const ls_channel_ops *ops_of(const ls_block *block)
{
    return ls_block_type_port(ls_block_type_of(block), LS_CHANNEL_INTERFACE, false)->ops;
}

ls_status line_channel_attach(ls_block *block, ls_memory *memory, const mem_map *map, uint32_t line_bytes,
                              ls_error *err)
{
    ls_status status = ops_of(block)->attach(ls_block_state(block), map, line_bytes, err);
    if (status == LS_OK)
        ops_of(block)->set_memory(ls_block_state(block), memory);
    return status;
}

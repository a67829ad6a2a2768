/* channel_fixed.c: a memory channel without DRAM: every line is answered latency_cycles after it came, however many
 * are on their way. It moves the bytes itself, so that programs compute the same results. */
#include "lockstep/channel.h"

#define CLIENTS 16u
#define ENTRIES 1024u /* lines inside; a power of two */

typedef struct spec {
    uint64_t latency_cycles;
} spec;

typedef struct counters {
    uint64_t read_bytes, write_bytes; /* of whole lines: the summary of a run shows them */
} counters;

typedef struct client {
    const ls_line_client_ops *ops;
    void *self;
    bool waits; /* was refused */
} client;

typedef struct state {
    const spec *spec;
    ls_region *region;
    ls_memory *memory;
    uint32_t line_bytes, client_count;
    client clients[CLIENTS];
    ls_line_message inside[ENTRIES];
    uint32_t from[ENTRIES];
    ls_cycle due[ENTRIES];
    uint32_t head, tail; /* the latency is the same for all */
    ls_event event;
    counters n;
} state;

static void move_bytes(state *s, ls_line_message *m)
{
    if (m->kind == LS_LINE_WRITE) {
        s->n.write_bytes += s->line_bytes;
        (void)ls_memory_write_line(s->memory, m->address, m->data, m->mask);
    } else if (m->kind == LS_LINE_READ) {
        s->n.read_bytes += s->line_bytes;
        if (!ls_memory_read_line(s->memory, m->address, m->data, s->line_bytes))
            m->flags |= LS_LINE_FAULT;
    } /* flushes and invalidations find nothing here */
}

static bool request(void *self, uint32_t from, const ls_line_message *m, ls_cycle now)
{
    state *s = self;
    uint32_t at = s->tail % ENTRIES;
    if (s->tail - s->head == ENTRIES) {
        s->clients[from].waits = true;
        return false;
    }
    ls_line_copy(&s->inside[at], m, ls_line_request_data(m, s->line_bytes));
    s->from[at] = from;
    s->due[at] = now + s->spec->latency_cycles;
    s->tail++;
    if (!ls_event_scheduled(&s->event))
        ls_schedule(s->region, &s->event, s->due[s->head % ENTRIES] - now);
    return true;
}

static void answer(void *self, ls_cycle now)
{
    state *s = self;
    while (s->head != s->tail && s->due[s->head % ENTRIES] <= now) {
        uint32_t at = s->head % ENTRIES;
        const client *c = &s->clients[s->from[at]];
        move_bytes(s, &s->inside[at]);
        c->ops->reply(c->self, &s->inside[at], now);
        s->head++; /* only now: the message is valid during the call */
    }
    for (uint32_t i = 0; i < s->client_count; i++)
        if (s->clients[i].waits) {
            s->clients[i].waits = false;
            s->clients[i].ops->retry(s->clients[i].self, now);
        }
    if (s->head != s->tail && !ls_event_scheduled(&s->event))
        ls_schedule(s->region, &s->event, s->due[s->head % ENTRIES] - now);
}

static ls_status join(void *self, const ls_line_client_ops *ops, void *of, ls_line_port *out, ls_error *err);
static const ls_line_memory_ops memory_ops = { .attach = join, .request = request };

static ls_status join(void *self, const ls_line_client_ops *ops, void *of, ls_line_port *out, ls_error *err)
{
    state *s = self;
    if (s->client_count == CLIENTS)
        return ls_fail(err, LS_ERR_INPUT, "more than %u caches above a channel", CLIENTS);
    s->clients[s->client_count] = (client){ .ops = ops, .self = of };
    *out = (ls_line_port){ &memory_ops, s, s->client_count++, s->line_bytes };
    return LS_OK;
}

static ls_status attach(void *self, const ls_address_map *map, uint32_t line_bytes, ls_error *err)
{
    (void)map, (void)err;
    ((state *)self)->line_bytes = line_bytes;
    return LS_OK;
}

static void set_memory(void *self, ls_memory *memory)
{
    ((state *)self)->memory = memory;
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    state *s = self;
    (void)err;
    s->spec = from_platform;
    s->region = ls_block_region(block);
    ls_event_init(&s->event, answer, s);
    return LS_OK;
}

static const ls_param params[] = {
    LS_PARAM_UINT(spec, latency_cycles, "cycles", 200, 1, 100000, "of every line"),
};
static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(counters, read_bytes, "bytes", "bytes of lines read"),
    LS_METRIC_COUNTER(counters, write_bytes, "bytes", "bytes of lines written"),
};
static const ls_channel_ops channel_ops = { attach, set_memory };
static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &memory_ops },
    { .name = LS_CHANNEL_PORT, .interface = LS_CHANNEL_INTERFACE, .ops = &channel_ops },
};
static const ls_block_type channel_fixed = {
    .abi = LS_ABI_VERSION,
    .slot = LS_CHANNEL_SLOT,
    .name = "fixed",
    .help = "every line takes the same time; no DRAM",
    .spec_size = sizeof(spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .state_size = sizeof(state),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(state, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = init,
};
LS_REGISTER_BLOCK(channel_fixed);

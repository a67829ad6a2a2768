/* server.c: slot queueing.server, models fixed and exponential: one queue in front of one service unit, the
 * D/1 and M/1 of Kendall's notation. They differ in how the service time is drawn and in nothing else.
 *
 * The queue is bounded or, as in the formulas of queueing theory, unbounded. A full queue leaves messages in
 * the link buffers and, through missing credits, stops the senders. A reply that the network cannot take keeps
 * the service unit: as in hardware, it blocks the requests after it. */
#include "queueing.h"

#define SERVER_FIRST_CAPACITY 16

typedef struct server_spec {
    uint64_t service_cycles, queue_messages;
} server_spec;

static const ls_param server_params[] = {
    LS_PARAM_UINT(server_spec, service_cycles, "cycles", 1000, 0, 1e9,
                  "(mean) service time; 0 takes everything at once"),
    LS_PARAM_UINT(server_spec, queue_messages, "messages", 0, 0, 1e6,
                  "room in front of the service unit; 0 means unbounded"),
};

typedef struct server_counters {
    uint64_t served, served_bytes, busy_cycles, reply_stalls;
    uint64_t queued, queue_peak;
    ls_histogram wait;
} server_counters;

static const ls_metric server_metrics[] = {
    LS_METRIC_COUNTER(server_counters, served, "messages", "requests whose service is complete"),
    LS_METRIC_COUNTER(server_counters, served_bytes, "bytes", "bytes of these requests"),
    LS_METRIC_COUNTER(server_counters, busy_cycles, "cycles", "service time given out"),
    LS_METRIC_COUNTER(server_counters, reply_stalls, "waits", "times a reply could not leave at once"),
    LS_METRIC_LEVEL(server_counters, queued, "messages", "requests in the queue now"),
    LS_METRIC_PEAK(server_counters, queue_peak, "messages", "most requests in the queue at once"),
    LS_METRIC_HISTOGRAM(server_counters, wait, "cycles",
                        "time from arrival at the domain to start of service"),
};

typedef struct server {
    ls_port output, source;
    ls_region *region;
    const server_spec *spec;
    const char *name;
    bool exponential;
    ls_random random;
    ls_event done;            /* the service time is over, or a reply that waited can leave */
    queueing_message current; /* valid while busy */
    bool busy;                /* serving, or holding a reply that cannot leave */
    queueing_message *queue;  /* ring of `capacity` (a power of two) entries, oldest at head */
    uint32_t head, count, capacity;
    server_counters counters;
} server;

/* Memory comes from the domain, which keeps it. The queue doubles, so at most as much is wasted as is in
 * use. */
static bool server_grow(server *s)
{
    uint32_t capacity = s->capacity ? s->capacity * 2 : SERVER_FIRST_CAPACITY;
    queueing_message *queue = ls_domain_alloc(ls_region_domain(s->region), capacity * sizeof *queue);
    if (!queue)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        queue[i] = s->queue[(s->head + i) & (s->capacity - 1)];
    s->queue = queue;
    s->head = 0;
    s->capacity = capacity;
    return true;
}

static bool server_full(const server *s)
{
    return s->count >= (s->spec->queue_messages ? s->spec->queue_messages : s->capacity);
}

/* A host without memory makes an unbounded queue a bounded one: slower, never wrong. */
static bool server_room(void *self)
{
    server *s = self;
    return !server_full(s) || (s->spec->queue_messages == 0 && server_grow(s));
}

static uint64_t server_draw(server *s)
{
    if (!s->exponential)
        return s->spec->service_cycles;
    return (uint64_t)(ls_random_exponential(&s->random) * (double)s->spec->service_cycles + 0.5);
}

/* The end of a service: the reply leaves, or stays and waits for the network. */
static void server_finish(server *s, ls_cycle now)
{
    const queueing_output_ops *output = s->output.ops;
    if (s->current.reply_bytes) {
        queueing_message reply = s->current;
        reply.bytes = s->current.reply_bytes;
        reply.reply_bytes = 0;
        if (!output->send(s->output.self, reply.client, &reply, now)) {
            s->counters.reply_stalls++;
            output->wait(s->output.self, reply.client, &s->done, now);
            return;
        }
    }
    s->busy = false;
    s->counters.served++;
    s->counters.served_bytes += s->current.bytes;
    ls_domain_pending(ls_region_domain(s->region), -1);
    ls_domain_progress(ls_region_domain(s->region));
}

static void server_start(server *s, ls_cycle now)
{
    while (!s->busy && s->count > 0) {
        s->current = s->queue[s->head];
        s->head = (s->head + 1) & (s->capacity - 1);
        s->count--;
        s->counters.queued--;
        s->busy = true;
        ls_histogram_add(&s->counters.wait, now - s->current.arrived);

        uint64_t cycles = server_draw(s);
        s->counters.busy_cycles += cycles;
        if (cycles > 0)
            ls_schedule(s->region, &s->done, cycles);
        else
            server_finish(s, now);
    }
}

static void server_take(void *self, const queueing_message *message, ls_cycle now)
{
    server *s = self;
    s->queue[(s->head + s->count) & (s->capacity - 1)] = *message;
    s->count++;
    if (++s->counters.queued > s->counters.queue_peak)
        s->counters.queue_peak = s->counters.queued;
    ls_domain_pending(ls_region_domain(s->region), 1);
    server_start(s, now);
}

static void server_done(void *self, ls_cycle now)
{
    server *s = self;
    const queueing_source_ops *source = s->source.ops;
    bool was_full = server_full(s);
    server_finish(s, now);
    server_start(s, now);
    if (was_full)
        source->resume(s->source.self);
}

static const char *server_name(const void *self)
{
    return ((const server *)self)->name;
}

static const queueing_sink_ops server_sink_ops = { .room = server_room,
                                                   .take = server_take,
                                                   .name = server_name };

static ls_status server_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    server *s = state;
    s->region = ls_block_region(block);
    s->spec = spec;
    s->name = ls_block_name(block);
    ls_event_init(&s->done, server_done, s);
    while (s->capacity < (s->spec->queue_messages ? s->spec->queue_messages : SERVER_FIRST_CAPACITY))
        if (!server_grow(s))
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the queue of %s", s->name);
    return LS_OK;
}

static ls_status server_init_exponential(ls_block *block, void *state, const void *spec, ls_error *err)
{
    server *s = state;
    ls_status status = server_init(block, state, spec, err);
    if (status)
        return status;
    s->exponential = true;
    s->random = ls_random_split(ls_domain_random(ls_region_domain(s->region)), UINT64_C(0x5e47e4));
    return LS_OK;
}

static const ls_port_decl server_ports[] = {
    { .name = "sink", .interface = QUEUEING_SINK, .ops = &server_sink_ops },
    { .name = "source", .interface = QUEUEING_SOURCE, .offset = offsetof(server, source) },
    { .name = "output", .interface = QUEUEING_OUTPUT, .offset = offsetof(server, output) },
};

static uint64_t server_queue_length(const void *self)
{
    return ((const server *)self)->capacity;
}

static const ls_state_row server_rows[] = {
    LS_STATE_FIXED_SPAN(server, output, exponential),
    LS_STATE_DATA(server, random),
    LS_STATE_EVENT(server, done),
    LS_STATE_DATA_SPAN(server, current, busy),
    LS_STATE_ARRAY(server, queue, server_queue_length),
    LS_STATE_DATA_SPAN(server, head, counters),
};

#define SERVER_TYPE(name_, help_, init_)                                                                      \
    {                                                                                                         \
        .abi = LS_ABI_VERSION, .slot = "queueing.server", .name = (name_), .help = (help_),                   \
        .spec_size = sizeof(server_spec), .params = server_params, .param_count = LS_COUNT_OF(server_params), \
        .state_size = sizeof(server), .metrics = server_metrics, .metric_count = LS_COUNT_OF(server_metrics), \
        .counters_offset = offsetof(server, counters), .ports = server_ports,                                 \
        .port_count = LS_COUNT_OF(server_ports), .init = (init_), .rows = server_rows,                        \
        .row_count = LS_COUNT_OF(server_rows)                                                                 \
    }

static const ls_block_type fixed_type = SERVER_TYPE("fixed", "every service takes the same time", server_init);
LS_REGISTER_BLOCK(fixed_type);

static const ls_block_type exponential_type =
    SERVER_TYPE("exponential", "exponentially distributed service times", server_init_exponential);
LS_REGISTER_BLOCK(exponential_type);

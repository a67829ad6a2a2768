/* client_poisson.c: slot queueing.client, model poisson: an open loop. Requests are made at random instants
 * (exponential gaps) for random destinations, independent of the network's state.
 *
 * Requests that the network cannot take yet wait in line at the source. The line needs no memory. The instants
 * are a random walk that is continued only when a request leaves. A request that leaves late still carries the
 * instant at which it was made. */
#include "queueing.h"

typedef struct poisson_spec {
    ls_ratio load;
    uint64_t messages, bytes, reply_bytes;
} poisson_spec;

static const ls_param poisson_params[] = {
    LS_PARAM_RATIO(poisson_spec, load, "load", "messages/cycle", "0.0005", 1e-9, 1,
                   "offered load: mean number of requests made per cycle of the client's clock"),
    LS_PARAM_UINT(poisson_spec, messages, "messages", 1000, 0, 1e15, "requests to send; 0 means without end"),
    LS_PARAM_UINT(poisson_spec, bytes, "bytes", 32, 1, 65536, "size of a request"),
    LS_PARAM_UINT(poisson_spec, reply_bytes, "bytes", 0, 0, 65536, "size of the reply; 0 means no reply"),
};

typedef struct poisson_counters {
    uint64_t sent, replies, in_flight, stalls;
    ls_histogram source_wait, response_fs;
} poisson_counters;

static const ls_metric poisson_metrics[] = {
    LS_METRIC_COUNTER(poisson_counters, sent, "messages", "requests sent"),
    LS_METRIC_COUNTER(poisson_counters, replies, "messages", "replies received"),
    LS_METRIC_LEVEL(poisson_counters, in_flight, "messages", "requests whose reply is missing now"),
    LS_METRIC_COUNTER(poisson_counters, stalls, "waits", "times a request could not leave at once"),
    LS_METRIC_HISTOGRAM(poisson_counters, source_wait, "cycles", "time from making a request to sending it"),
    LS_METRIC_HISTOGRAM(poisson_counters, response_fs, "fs", "time from making a request to its reply"),
};

typedef struct poisson {
    ls_port output;
    ls_region *region;
    const poisson_spec *spec;
    const char *name;
    ls_random random;
    ls_event send;
    double mean_gap;      /* cycles */
    ls_cycle made;        /* the instant of the next request: cycle and, below, the fraction of a cycle */
    double made_fraction; /* in [0, 1): kept apart so that precision does not fade as time goes on */
    uint32_t destination; /* of the next request; valid if drawn */
    bool drawn;
    poisson_counters counters;
} poisson;

static void poisson_advance(poisson *p)
{
    double gap = p->made_fraction + ls_random_exponential(&p->random) * p->mean_gap;
    uint64_t whole = (uint64_t)gap;
    p->made += whole;
    p->made_fraction = gap - (double)whole;
    p->drawn = false;
}

/* Sends every request that has been made by now; then sleeps until the next one or until the network has
 * room. */
static void poisson_send(void *self, ls_cycle now)
{
    poisson *p = self;
    const queueing_output_ops *output = p->output.ops;
    while (p->made <= now) {
        if (!p->drawn) {
            p->destination = (uint32_t)ls_random_below(&p->random, output->destinations(p->output.self));
            p->drawn = true;
        }
        queueing_message message = {
            .born_fs = ls_clock_time(ls_region_clock(p->region), p->made),
            .number = p->counters.sent,
            .bytes = (uint32_t)p->spec->bytes,
            .reply_bytes = (uint32_t)p->spec->reply_bytes,
        };
        if (!output->send(p->output.self, p->destination, &message, now)) {
            p->counters.stalls++;
            output->wait(p->output.self, p->destination, &p->send, now);
            return;
        }
        ls_histogram_add(&p->counters.source_wait, now - p->made);
        if (message.reply_bytes) {
            p->counters.in_flight++;
            ls_domain_pending(ls_region_domain(p->region), 1);
        }
        if (++p->counters.sent == p->spec->messages)
            return;
        poisson_advance(p);
    }
    ls_schedule_at(p->region, &p->send, p->made);
}

static void poisson_take(void *self, const queueing_message *reply, ls_cycle now)
{
    poisson *p = self;
    (void)now;
    p->counters.replies++;
    p->counters.in_flight--;
    ls_histogram_add(&p->counters.response_fs, ls_region_time(p->region) - reply->born_fs);
    ls_domain_pending(ls_region_domain(p->region), -1);
}

static const char *poisson_name(const void *self)
{
    return ((const poisson *)self)->name;
}

static const queueing_sink_ops poisson_sink_ops = { .take = poisson_take, .name = poisson_name };

static ls_status poisson_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    poisson *p = state;
    (void)err;
    p->region = ls_block_region(block);
    p->spec = spec;
    p->name = ls_block_name(block);
    /* A stream of its own: another block that draws in this domain must not change the arrivals. */
    p->random = ls_random_split(ls_domain_random(ls_region_domain(p->region)), UINT64_C(0xc11e47));
    p->mean_gap = (double)p->spec->load.den / (double)p->spec->load.num;
    ls_event_init(&p->send, poisson_send, p);
    poisson_advance(p);
    ls_schedule_at(p->region, &p->send, p->made);
    return LS_OK;
}

static const ls_port_decl poisson_ports[] = {
    { .name = "sink", .interface = QUEUEING_SINK, .ops = &poisson_sink_ops },
    { .name = "output", .interface = QUEUEING_OUTPUT, .offset = offsetof(poisson, output) },
};

static const ls_state_row poisson_rows[] = {
    LS_STATE_FIXED_SPAN(poisson, output, name),
    LS_STATE_DATA(poisson, random),
    LS_STATE_EVENT(poisson, send),
    LS_STATE_FIXED(poisson, mean_gap),
    LS_STATE_DATA_SPAN(poisson, made, counters),
};

static const ls_block_type poisson_type = {
    .abi = LS_ABI_VERSION,
    .slot = "queueing.client",
    .name = "poisson",
    .help = "open loop: exponential gaps, uniform random destinations",
    .spec_size = sizeof(poisson_spec),
    .params = poisson_params,
    .param_count = LS_COUNT_OF(poisson_params),
    .state_size = sizeof(poisson),
    .metrics = poisson_metrics,
    .metric_count = LS_COUNT_OF(poisson_metrics),
    .counters_offset = offsetof(poisson, counters),
    .ports = poisson_ports,
    .port_count = LS_COUNT_OF(poisson_ports),
    .init = poisson_init,
    .rows = poisson_rows,
    .row_count = LS_COUNT_OF(poisson_rows),
};
LS_REGISTER_BLOCK(poisson_type);

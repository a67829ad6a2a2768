/* client_ping.c: slot queueing.client, model ping: a closed loop with one request outstanding. Measures the
 * uncontended round trip, exactly. */
#include "queueing.h"

#include <stdio.h>

typedef struct ping_spec {
    uint64_t messages, bytes, reply_bytes, target, think_cycles;
    bool rotate;
} ping_spec;

static const ls_param ping_params[] = {
    LS_PARAM_UINT(ping_spec, messages, "messages", 1000, 0, 1e15, "requests to send; 0 means without end"),
    LS_PARAM_UINT(ping_spec, bytes, "bytes", 32, 1, 65536, "size of a request"),
    LS_PARAM_UINT(ping_spec, reply_bytes, "bytes", 32, 1, 65536, "size of the reply"),
    LS_PARAM_UINT(ping_spec, target, "", 0, 0, QUEUEING_MAX_PEERS - 1, "server of the first request"),
    LS_PARAM_BOOL(ping_spec, rotate, false, "each request to the next server instead of the same"),
    LS_PARAM_UINT(ping_spec, think_cycles, "cycles", 1, 1, 1e9, "from a reply to the next request"),
};

typedef struct ping_counters {
    uint64_t sent, replies, in_flight;
    ls_histogram round_trip_fs, round_trip;
} ping_counters;

static const ls_metric ping_metrics[] = {
    LS_METRIC_COUNTER(ping_counters, sent, "messages", "requests sent"),
    LS_METRIC_COUNTER(ping_counters, replies, "messages", "replies received"),
    LS_METRIC_LEVEL(ping_counters, in_flight, "messages", "requests whose reply is missing now"),
    LS_METRIC_HISTOGRAM(ping_counters, round_trip_fs, "fs", "time from sending a request to its reply"),
    LS_METRIC_HISTOGRAM(ping_counters, round_trip, "cycles", "the same in cycles of the client's clock"),
};

typedef struct ping {
    ls_port output;
    ls_region *region;
    const ping_spec *spec;
    const char *name;
    ls_event send;
    ls_cycle sent_at;
    ls_time sent_at_fs;
    uint32_t destination;
    ping_counters counters;
} ping;

static void ping_send(void *self, ls_cycle now)
{
    ping *p = self;
    const queueing_output_ops *output = p->output.ops;
    p->destination %= output->destinations(p->output.self);
    queueing_message message = {
        .born_fs = ls_region_time(p->region),
        .number = p->counters.sent,
        .bytes = (uint32_t)p->spec->bytes,
        .reply_bytes = (uint32_t)p->spec->reply_bytes,
    };
    if (!output->send(p->output.self, p->destination, &message, now)) {
        output->wait(p->output.self, p->destination, &p->send, now);
        return;
    }
    p->sent_at = now;
    p->sent_at_fs = message.born_fs;
    p->counters.sent++;
    p->counters.in_flight++;
    ls_domain_pending(ls_region_domain(p->region), 1);
}

static void ping_take(void *self, const queueing_message *reply, ls_cycle now)
{
    ping *p = self;
    (void)reply;
    ls_histogram_add(&p->counters.round_trip_fs, ls_region_time(p->region) - p->sent_at_fs);
    ls_histogram_add(&p->counters.round_trip, now - p->sent_at);
    p->counters.replies++;
    p->counters.in_flight--;
    ls_domain_pending(ls_region_domain(p->region), -1);
    if (p->spec->rotate)
        p->destination++; /* ping_send() wraps it */
    if (p->counters.sent != p->spec->messages)
        ls_schedule(p->region, &p->send, p->spec->think_cycles);
}

static const char *ping_name(const void *self)
{
    return ((const ping *)self)->name;
}

static const queueing_sink_ops ping_sink_ops = { .take = ping_take, .name = ping_name };

static void ping_waits(const void *self, ls_wait_sink *sink)
{
    const ping *p = self;
    if (p->counters.in_flight == 0)
        return;
    const queueing_output_ops *output = p->output.ops;
    char detail[64];
    snprintf(detail, sizeof detail, "the reply to request %llu", (unsigned long long)(p->counters.sent - 1));
    ls_wait_report(sink, p->name, output->peer(p->output.self, p->destination), detail);
}

static ls_status ping_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    ping *p = state;
    (void)err;
    p->region = ls_block_region(block);
    p->spec = spec;
    p->name = ls_block_name(block);
    p->destination = (uint32_t)p->spec->target;
    ls_event_init(&p->send, ping_send, p);
    ls_schedule_at(p->region, &p->send, 0);
    return LS_OK;
}

static const ls_port_decl ping_ports[] = {
    { .name = "sink", .interface = QUEUEING_SINK, .ops = &ping_sink_ops },
    { .name = "output", .interface = QUEUEING_OUTPUT, .offset = offsetof(ping, output) },
};

static const ls_state_row ping_rows[] = {
    LS_STATE_FIXED_SPAN(ping, output, name),
    LS_STATE_EVENT(ping, send),
    LS_STATE_DATA_SPAN(ping, sent_at, counters),
};

static const ls_block_type ping_type = {
    .abi = LS_ABI_VERSION,
    .slot = "queueing.client",
    .name = "ping",
    .help = "closed loop: one request outstanding, round trips measured exactly",
    .spec_size = sizeof(ping_spec),
    .params = ping_params,
    .param_count = LS_COUNT_OF(ping_params),
    .state_size = sizeof(ping),
    .metrics = ping_metrics,
    .metric_count = LS_COUNT_OF(ping_metrics),
    .counters_offset = offsetof(ping, counters),
    .ports = ping_ports,
    .port_count = LS_COUNT_OF(ping_ports),
    .init = ping_init,
    .waits = ping_waits,
    .rows = ping_rows,
    .row_count = LS_COUNT_OF(ping_rows),
};
LS_REGISTER_BLOCK(ping_type);

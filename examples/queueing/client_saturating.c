/* client_saturating.c: slot queueing.client, model saturating: always has one more request, so that only the
 * network limits it. Measures widths, credits and fairness. */
#include "queueing.h"

typedef struct saturating_spec {
    uint64_t messages, bytes, reply_bytes, target;
    bool rotate;
} saturating_spec;

static const ls_param saturating_params[] = {
    LS_PARAM_UINT(saturating_spec, messages, "messages", 0, 0, 1e15, "requests to send; 0 means without end"),
    LS_PARAM_UINT(saturating_spec, bytes, "bytes", 32, 1, 65536, "size of a request"),
    LS_PARAM_UINT(saturating_spec, reply_bytes, "bytes", 0, 0, 65536, "size of the reply; 0 means no reply"),
    LS_PARAM_UINT(saturating_spec, target, "", 0, 0, QUEUEING_MAX_PEERS - 1, "server of the first request"),
    LS_PARAM_BOOL(saturating_spec, rotate, false, "each request to the next server instead of the same"),
};

typedef struct saturating_counters {
    uint64_t sent, replies, in_flight, stalls;
} saturating_counters;

static const ls_metric saturating_metrics[] = {
    LS_METRIC_COUNTER(saturating_counters, sent, "messages", "requests sent"),
    LS_METRIC_COUNTER(saturating_counters, replies, "messages", "replies received"),
    LS_METRIC_LEVEL(saturating_counters, in_flight, "messages", "requests whose reply is missing now"),
    LS_METRIC_COUNTER(saturating_counters, stalls, "waits", "times a request could not leave at once"),
};

typedef struct saturating {
    ls_port output;
    ls_region *region;
    const saturating_spec *spec;
    const char *name;
    ls_event send;
    uint32_t destination;
    saturating_counters counters;
} saturating;

static void saturating_send(void *self, ls_cycle now)
{
    saturating *s = self;
    const queueing_output_ops *output = s->output.ops;
    uint32_t destinations = output->destinations(s->output.self);
    s->destination %= destinations;
    for (;;) {
        queueing_message message = {
            .born_fs = ls_region_time(s->region),
            .number = s->counters.sent,
            .bytes = (uint32_t)s->spec->bytes,
            .reply_bytes = (uint32_t)s->spec->reply_bytes,
        };
        if (!output->send(s->output.self, s->destination, &message, now)) {
            s->counters.stalls++;
            output->wait(s->output.self, s->destination, &s->send, now);
            return;
        }
        if (message.reply_bytes) {
            s->counters.in_flight++;
            ls_domain_pending(ls_region_domain(s->region), 1);
        }
        if (s->spec->rotate)
            s->destination = (s->destination + 1) % destinations;
        if (++s->counters.sent == s->spec->messages)
            return;
    }
}

static void saturating_take(void *self, const queueing_message *reply, ls_cycle now)
{
    saturating *s = self;
    (void)reply, (void)now;
    s->counters.replies++;
    s->counters.in_flight--;
    ls_domain_pending(ls_region_domain(s->region), -1);
}

static const char *saturating_name(const void *self)
{
    return ((const saturating *)self)->name;
}

static const queueing_sink_ops saturating_sink_ops = { .take = saturating_take, .name = saturating_name };

static ls_status saturating_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    saturating *s = state;
    (void)err;
    s->region = ls_block_region(block);
    s->spec = spec;
    s->name = ls_block_name(block);
    s->destination = (uint32_t)s->spec->target;
    ls_event_init(&s->send, saturating_send, s);
    ls_schedule_at(s->region, &s->send, 0);
    return LS_OK;
}

static const ls_port_decl saturating_ports[] = {
    { .name = "sink", .interface = QUEUEING_SINK, .ops = &saturating_sink_ops },
    { .name = "output", .interface = QUEUEING_OUTPUT, .offset = offsetof(saturating, output) },
};

static const ls_state_row saturating_rows[] = {
    LS_STATE_FIXED_SPAN(saturating, output, name),
    LS_STATE_EVENT(saturating, send),
    LS_STATE_DATA_SPAN(saturating, destination, counters),
};

static const ls_block_type saturating_type = {
    .abi = LS_ABI_VERSION,
    .slot = "queueing.client",
    .name = "saturating",
    .help = "always has one more request, for one server or for all in turn",
    .spec_size = sizeof(saturating_spec),
    .params = saturating_params,
    .param_count = LS_COUNT_OF(saturating_params),
    .state_size = sizeof(saturating),
    .metrics = saturating_metrics,
    .metric_count = LS_COUNT_OF(saturating_metrics),
    .counters_offset = offsetof(saturating, counters),
    .ports = saturating_ports,
    .port_count = LS_COUNT_OF(saturating_ports),
    .init = saturating_init,
    .rows = saturating_rows,
    .row_count = LS_COUNT_OF(saturating_rows),
};
LS_REGISTER_BLOCK(saturating_type);

/* server_forwarding.c: slot queueing.server, model forwarding: a server that handles each request and forwards
 * it to the next server of a ring. After `visits` servers the request is answered.
 *
 * It holds one request, and keeps it until the next server has room. That is the textbook recipe for a
 * deadlock: hold one buffer and wait for another, in a circle. Here it is intended. The ring fills up, every
 * server waits for the next, and the run ends with a report that names the circle. */
#include "queueing.h"

typedef struct forwarding_spec {
    uint64_t service_cycles, visits;
} forwarding_spec;

static const ls_param forwarding_params[] = {
    LS_PARAM_UINT(forwarding_spec, service_cycles, "cycles", 4, 1, 1e9, "time at each server"),
    LS_PARAM_UINT(forwarding_spec, visits, "servers", 3, 1, 1e6, "servers that handle each request"),
};

typedef struct forwarding_counters {
    uint64_t served, forwarded, ring_stalls, reply_stalls;
} forwarding_counters;

static const ls_metric forwarding_metrics[] = {
    LS_METRIC_COUNTER(forwarding_counters, served, "messages", "requests that ended here"),
    LS_METRIC_COUNTER(forwarding_counters, forwarded, "messages", "requests handed to the next server"),
    LS_METRIC_COUNTER(forwarding_counters, ring_stalls, "waits",
                      "times a request could not be handed on at once"),
    LS_METRIC_COUNTER(forwarding_counters, reply_stalls, "waits", "times a reply could not leave at once"),
};

typedef struct forwarding {
    ls_port output, ring, source;
    ls_region *region;
    const forwarding_spec *spec;
    const char *name;
    ls_event done;            /* the service time is over, or the network may have room again */
    queueing_message current; /* valid while busy */
    bool busy;
    forwarding_counters counters;
} forwarding;

static bool forwarding_room(void *self)
{
    return !((forwarding *)self)->busy;
}

/* Hands the request on, answers it, or lets it go; false: it stays until `done` runs again. */
static bool forwarding_leave(forwarding *f, ls_cycle now)
{
    if (f->current.visits < f->spec->visits) {
        const queueing_output_ops *ring = f->ring.ops;
        if (ring->send(f->ring.self, 0, &f->current, now)) {
            f->counters.forwarded++;
            return true;
        }
        f->counters.ring_stalls++;
        ring->wait(f->ring.self, 0, &f->done, now);
        return false;
    }
    if (f->current.reply_bytes) {
        const queueing_output_ops *output = f->output.ops;
        queueing_message reply = f->current;
        reply.bytes = f->current.reply_bytes;
        reply.reply_bytes = 0;
        if (!output->send(f->output.self, reply.client, &reply, now)) {
            f->counters.reply_stalls++;
            output->wait(f->output.self, reply.client, &f->done, now);
            return false;
        }
    }
    f->counters.served++;
    return true;
}

static void forwarding_take(void *self, const queueing_message *message, ls_cycle now)
{
    forwarding *f = self;
    (void)now;
    f->current = *message;
    f->current.visits++;
    f->busy = true;
    ls_domain_pending(ls_region_domain(f->region), 1);
    ls_schedule(f->region, &f->done, f->spec->service_cycles);
}

static void forwarding_done(void *self, ls_cycle now)
{
    forwarding *f = self;
    const queueing_source_ops *source = f->source.ops;
    if (!forwarding_leave(f, now))
        return;
    f->busy = false;
    ls_domain_pending(ls_region_domain(f->region), -1);
    ls_domain_progress(ls_region_domain(f->region));
    source->resume(f->source.self);
}

static const char *forwarding_name(const void *self)
{
    return ((const forwarding *)self)->name;
}

static const queueing_sink_ops forwarding_sink_ops = { .room = forwarding_room,
                                                       .take = forwarding_take,
                                                       .name = forwarding_name };

static ls_status forwarding_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    forwarding *f = state;
    (void)err;
    f->region = ls_block_region(block);
    f->spec = spec;
    f->name = ls_block_name(block);
    ls_event_init(&f->done, forwarding_done, f);
    return LS_OK;
}

static const ls_port_decl forwarding_ports[] = {
    { .name = "sink", .interface = QUEUEING_SINK, .ops = &forwarding_sink_ops },
    { .name = "source", .interface = QUEUEING_SOURCE, .offset = offsetof(forwarding, source) },
    { .name = "output", .interface = QUEUEING_OUTPUT, .offset = offsetof(forwarding, output) },
    { .name = "ring", .interface = QUEUEING_OUTPUT, .offset = offsetof(forwarding, ring) },
};

static const ls_state_row forwarding_rows[] = {
    LS_STATE_FIXED_SPAN(forwarding, output, name),
    LS_STATE_EVENT(forwarding, done),
    LS_STATE_DATA_SPAN(forwarding, current, counters),
};

static const ls_block_type forwarding_type = {
    .abi = LS_ABI_VERSION,
    .slot = "queueing.server",
    .name = "forwarding",
    .help = "hands each request to the next server of a ring; can deadlock, and shows how that is reported",
    .spec_size = sizeof(forwarding_spec),
    .params = forwarding_params,
    .param_count = LS_COUNT_OF(forwarding_params),
    .state_size = sizeof(forwarding),
    .metrics = forwarding_metrics,
    .metric_count = LS_COUNT_OF(forwarding_metrics),
    .counters_offset = offsetof(forwarding, counters),
    .ports = forwarding_ports,
    .port_count = LS_COUNT_OF(forwarding_ports),
    .init = forwarding_init,
    .rows = forwarding_rows,
    .row_count = LS_COUNT_OF(forwarding_rows),
};
LS_REGISTER_BLOCK(forwarding_type);

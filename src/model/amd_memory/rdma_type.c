/* rdma_type.c: an RDMA engine's set-up, its keys, counters and saved state. */
#include "lockstep/state.h"
#include "model/amd_memory/rdma_impl.h"
#include "model/keys.h"

#include <stdio.h>

#define CLIENTS_MAX 256

static ls_status rdma_attach_client(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                                    ls_error *err);

static const ls_line_memory_ops rdma_memory = { .request = rdma_request, .attach = rdma_attach_client };

static ls_status rdma_attach_client(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                                    ls_error *err)
{
    rdma *r = self;
    if (r->client_count == CLIENTS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "%s: more than %d requesters", r->name, CLIENTS_MAX);
    r->clients[r->client_count] = (rdma_client){ .ops = ops, .self = client };
    *out = (ls_line_port){
        .ops = &rdma_memory, .self = r, .client = r->client_count++, .line_bytes = r->line_bytes
    };
    return LS_OK;
}

static ls_status rdma_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    rdma *r = state;
    r->spec = spec;
    r->name = ls_block_name(block);
    r->region = ls_block_region(block);
    ls_domain *domain = ls_region_domain(r->region);
    r->ask_total = (uint32_t)r->spec->in_flight;
    r->serve_total = (uint32_t)(r->spec->served_in_flight + r->spec->buffer_messages);
    r->clients = ls_domain_alloc(domain, CLIENTS_MAX * sizeof *r->clients);
    r->asks = ls_domain_alloc(domain, r->ask_total * sizeof *r->asks);
    r->serves = ls_domain_alloc(domain, r->serve_total * sizeof *r->serves);
    if (r->clients == NULL || r->asks == NULL || r->serves == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", r->name);
    r->ask_pool = r->serve_pool = INDEX_POOL_NEW;
    r->requests = r->answers = r->incoming = r->answered = r->copies = r->copied = INDEX_LIST_EMPTY;
    ls_event_init(&r->event, rdma_step, r);
    for (uint32_t i = 0; i < LS_COUNT_OF(r->ways); i++) {
        r->ways[i].rdma = r;
        ls_event_init(&r->ways[i].ready, rdma_link_ready, &r->ways[i]);
    }
    return LS_OK;
}

static ls_status rdma_attach(void *self, const ls_rdma_wiring *wiring, ls_error *err)
{
    rdma *r = self;
    r->line_bytes = wiring->line_bytes;
    r->agent = wiring->agent;
    r->end = ls_rdma_make_end(wiring, (uint32_t)r->spec->buffer_messages, rdma_receive, r);
    return ls_line_join(wiring->memory, &rdma_memory_client, r, &r->memory, err);
}

static ls_fabric_end *rdma_end(void *self)
{
    rdma *r = self;
    return &r->end;
}

static const ls_rdma_ops rdma_ops = { .attach = rdma_attach, .end = rdma_end };

static void rdma_waits(const void *self, ls_wait_sink *sink)
{
    const rdma *r = self;
    char detail[128];
    if (r->in_flight > 0) {
        snprintf(detail, sizeof detail, "%u remote requests are not answered%s", r->in_flight,
                 !index_list_empty(&r->requests) ? ", some have not left" : "");
        ls_wait_report(sink, r->name,
                       r->ways[LS_FABRIC_REQUEST].waits ? ls_link_name(r->end.send[LS_FABRIC_REQUEST])
                                                        : "the fabric",
                       detail);
    }
    if (r->serving > 0 || !index_list_empty(&r->incoming)) {
        snprintf(detail, sizeof detail, "%u requests of other GPUs are not answered%s", r->serving,
                 !index_list_empty(&r->incoming) ? ", more wait" : "");
        ls_wait_report(sink, r->name, "the memory partitions", detail);
    }
}

/* --------------------------------------------------------------------------------------------------- tables */

static uint64_t client_length(const void *self)
{
    return ((const rdma *)self)->client_count;
}

static uint64_t ask_length(const void *self)
{
    return ((const rdma *)self)->ask_total;
}

static uint64_t serve_length(const void *self)
{
    return ((const rdma *)self)->serve_total;
}

static const ls_state_row client_rows[] = {
    LS_STATE_FIXED_SPAN(rdma_client, ops, self),
    LS_STATE_DATA(rdma_client, waiting),
};

static const ls_state_row serve_rows[] = {
    LS_STATE_DATA_SPAN(rdma_serve, at, taken),
    LS_STATE_LINK(rdma_serve, link),
    LS_STATE_DATA_SPAN(rdma_serve, next, m),
};

static const ls_state_row way_rows[] = {
    LS_STATE_FIXED(rdma_way, rdma),
    LS_STATE_EVENT(rdma_way, ready),
    LS_STATE_DATA(rdma_way, waits),
};

static const ls_state_row state_rows[] = {
    LS_STATE_FIXED_SPAN(rdma, spec, client_count),
    LS_STATE_ARRAY_OF(rdma, clients, client_length, client_rows),
    LS_STATE_ARRAY(rdma, asks, ask_length),
    LS_STATE_ARRAY_OF(rdma, serves, serve_length, serve_rows),
    LS_STATE_FIXED_SPAN(rdma, ask_total, serve_total),
    LS_STATE_DATA_SPAN(rdma, ask_pool, next_step),
    LS_STATE_EVENT(rdma, event),
    LS_STATE_PARTS(rdma, ways, way_rows),
    LS_STATE_DATA(rdma, n),
};

/* clang-format off */
#define KEY_SPEC line_rdma_spec

static const ls_param params[] = {
    KEY("in_flight", in_flight, "requests", "1024", 1, 65536, "of this GPU that other GPUs have not answered"),
    KEY("served_in_flight", served_in_flight, "requests", "1024", 1, 65536, "of other GPUs whose answers have not left"),
    KEY("buffer_messages", buffer_messages, "messages", "128", 1, 65536, "from the fabric, of each class"),
    KEY("latency_cycles", latency_cycles, "cycles", "1", 0, 10000, "of each message that passes, in either direction"),
    KEY("messages_per_cycle", messages_per_cycle, "messages", "1", 1, 64, "that pass in each direction"),
};

static const ls_need needs[] = {
    { "*", "//fabric.model!=none" },
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(line_rdma_counters, reads, "requests", "lines of other GPUs read"),
    LS_METRIC_COUNTER(line_rdma_counters, writes, "requests", "lines of other GPUs written"),
    LS_METRIC_COUNTER(line_rdma_counters, atomics, "requests", "atomics in the memory of other GPUs"),
    LS_METRIC_COUNTER(line_rdma_counters, faults, "requests", "nothing was mapped there, or not for writing"),
    LS_METRIC_COUNTER(line_rdma_counters, answers, "requests", "requests answered"),
    LS_METRIC_COUNTER(line_rdma_counters, latency_cycles, "cycles", "from taken to answered, of all requests"),
    LS_METRIC_RATIO(line_rdma_counters, "average_latency", latency_cycles, answers, "cycles", "latency_cycles / answers"),
    LS_METRIC_COUNTER(line_rdma_counters, served_reads, "requests", "lines read for other GPUs"),
    LS_METRIC_COUNTER(line_rdma_counters, served_writes, "requests", "lines written for other GPUs"),
    LS_METRIC_COUNTER(line_rdma_counters, served_atomics, "requests", "atomics for other GPUs"),
    LS_METRIC_COUNTER(line_rdma_counters, served_latency_cycles, "cycles", "from arrival to answer, of all requests of other GPUs"),
    LS_METRIC_COUNTER(line_rdma_counters, bytes_out, "bytes", "messages sent to GPUs, with their headers"),
    LS_METRIC_COUNTER(line_rdma_counters, bytes_in, "bytes", "messages received from GPUs, with their headers"),
    LS_METRIC_COUNTER(line_rdma_counters, host_bytes_out, "bytes", "messages sent to the host, with their headers"),
    LS_METRIC_COUNTER(line_rdma_counters, host_bytes_in, "bytes", "messages received from the host, with their headers"),
    LS_METRIC_COUNTER(line_rdma_counters, data_bytes_out, "bytes", "data sent"),
    LS_METRIC_COUNTER(line_rdma_counters, data_bytes_in, "bytes", "data received"),
    LS_METRIC_COUNTER(line_rdma_counters, refused, "tries", "in_flight was reached"),
    LS_METRIC_COUNTER(line_rdma_counters, fabric_waits, "times", "a message waited for a link of the fabric"),
    LS_METRIC_PEAK(line_rdma_counters, in_flight_peak, "requests", "most remote requests at once"),
    LS_METRIC_PEAK(line_rdma_counters, served_peak, "requests", "most requests of other GPUs in L2 at once"),
};
/* clang-format on */

static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &rdma_memory },
    { .name = LS_RDMA_PORT, .interface = LS_RDMA_INTERFACE, .ops = &rdma_ops },
};

static const ls_block_type rdma_type = {
    .abi = LS_ABI_VERSION,
    .slot = LS_RDMA_SLOT,
    .name = "line",
    .help = "a line of another GPU's memory per message; only in a system with a fabric",
    .spec_size = sizeof(line_rdma_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .state_size = sizeof(rdma),
    .rows = state_rows,
    .row_count = LS_COUNT_OF(state_rows),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(rdma, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = rdma_init,
    .waits = rdma_waits,
};
LS_REGISTER_BLOCK(rdma_type);

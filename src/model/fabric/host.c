/* host.c: model `cpu` of slot `host` (lockstep/host.h). A job is a message that the host works on: in memory (host_memory.c), in the IOMMU
 * (host_iommu.c), or on its way out. */
#include "model/fabric/host.h"

#include "model/fabric/host_impl.h"
#include "model/fabric/shape.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------- answers */

static uint32_t answer_data(const host *h, const host_job *job)
{
    return job->class_index == LS_FABRIC_WALK ? 0 : ls_line_reply_data(&job->body.line, h->line_bytes);
}

static void fill_answer(const host *h, const host_job *job, uint32_t class_index, ls_fabric_message *to)
{
    bool is_walk = class_index == LS_FABRIC_WALK;
    uint32_t data = answer_data(h, job);
    to->from = (uint16_t)(h->end.ends - 1);
    to->to = job->from;
    to->class_index = (uint8_t)class_index;
    to->kind = job->kind;
    to->data_bytes = (uint16_t)data;
    to->wire_bytes = (uint16_t)(is_walk ? MIGRATE_BODY_WIRE_BYTES : data + LS_HOST_ANSWER_BYTES);
    to->body_bytes = (uint16_t)(is_walk ? sizeof job->body.walk : LS_LINE_HEAD_BYTES + data);
    to->token = job->token;
    to->address = job->address;
    memcpy(to->body, &job->body, to->body_bytes);
}

void host_job_end(host *h, uint32_t i)
{
    ls_link_release(h->jobs[i].link, 1);
    index_pool_give(&h->pool, host_links(h), i);
    ls_domain_pending(ls_region_domain(h->region), -1);
}

static void send_answers(host_out *out)
{
    host *h = out->host;
    while (!index_list_empty(&out->jobs)) {
        uint32_t i = out->jobs.first;
        ls_fabric_message *to = ls_link_send(h->end.send[out->class_index], 1);
        if (to == NULL) {
            h->n.fabric_waits++;
            out->waits = true;
            ls_link_wait(h->end.send[out->class_index], &out->ready);
            return;
        }
        fill_answer(h, &h->jobs[i], out->class_index, to);
        index_list_pop(&out->jobs, host_links(h));
        host_job_end(h, i);
    }
}

static void out_ready(void *self, ls_cycle now)
{
    host_out *out = self;
    (void)now;
    out->waits = false;
    send_answers(out);
}

void host_answer(host *h, uint32_t i)
{
    uint32_t class_index =
        h->jobs[i].class_index == LS_FABRIC_REQUEST ? LS_FABRIC_DATA : h->jobs[i].class_index;
    host_out *out = &h->out[class_index];
    index_list_append(&out->jobs, host_links(h), i);
    if (!out->waits)
        send_answers(out);
}

/* ------------------------------------------------------------------------------------------------ messages */

/* To the directory. */
static void pass_on(host *h, ls_link *link, const ls_fabric_message *m, ls_cycle now)
{
    if (h->directory.ops != NULL) {
        h->directory.ops->message(h->directory.self, link, m, now);
        return;
    }
    ls_link_release(link, 1);
    ls_domain_fail(ls_region_domain(h->region),
                   "the host got a message about a page that migrates, but migrate.model "
                   "is 'none'");
}

static void set_directory(void *self, const ls_host_directory *directory)
{
    host *h = self;
    h->directory = *directory;
    h->end.receive_credits[LS_FABRIC_INVALIDATE] = directory->credits[LS_FABRIC_INVALIDATE];
    h->end.receive_credits[LS_FABRIC_MIGRATE] = directory->credits[LS_FABRIC_MIGRATE];
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    host *h = self;
    const ls_fabric_message *m = payload;
    if (LS_UNLIKELY(!fabric_is_mine(&h->end, m))) {
        ls_link_release(link, 1);
        return;
    }
    if (!ls_host_is_own(m)) {
        pass_on(h, link, m, now);
        return;
    }
    uint32_t i = index_pool_take(&h->pool, host_links(h)); /* credits say that there is one */
    host_job *job = &h->jobs[i];
    *job = (host_job){ .link = link,
                       .taken = now,
                       .address = m->address,
                       .token = m->token,
                       .from = m->from,
                       .class_index = m->class_index,
                       .kind = m->kind };
    uint32_t bytes = m->body_bytes != 0 ? m->body_bytes : LS_FABRIC_BODY_BYTES;
    memcpy(&job->body, m->body, bytes < sizeof job->body ? bytes : sizeof job->body);
    ls_domain_pending(ls_region_domain(h->region), 1);
    if (m->class_index == LS_FABRIC_WALK)
        host_iommu_begin(h, i, now);
    else
        host_memory_begin(h, i, now);
}

static void waits(const void *self, ls_wait_sink *sink)
{
    const host *h = self;
    for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++)
        if (h->out[c].waits)
            ls_wait_report(sink, h->name, ls_link_name(h->end.send[c]), "an answer waits for the fabric");
}

/* ------------------------------------------------------------------------------------------------- a block */

static ls_status init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    host *h = state;
    (void)err;
    h->spec = spec;
    h->region = ls_block_region(block);
    h->name = ls_block_name(block);
    h->memory_latency = fabric_cycles(h->spec->memory_latency_ns, h->spec->clock_hz);
    h->walk_latency = fabric_cycles(h->spec->walk_latency_ns, h->spec->clock_hz);
    h->byte_time =
        (uint64_t)((double)h->spec->clock_hz.num / (double)h->spec->clock_hz.den /
                   ((double)h->spec->memory_gb_s.num / (double)h->spec->memory_gb_s.den * 1e9) * 0x1p32);
    h->pool = INDEX_POOL_NEW;
    h->accesses = h->walking = h->queued = INDEX_LIST_EMPTY;
    ls_event_init(&h->access_event, host_memory_event, h);
    ls_event_init(&h->walk_event, host_iommu_event, h);
    for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++) {
        h->out[c] = (host_out){ .host = h, .class_index = c, .jobs = INDEX_LIST_EMPTY };
        ls_event_init(&h->out[c].ready, out_ready, &h->out[c]);
    }
    h->end = (ls_fabric_end){ .name = h->name, .region = h->region, .receive = receive, .receiver = h };
    return LS_OK;
}

static ls_status describe(const void *spec, ls_host_shape *out, ls_error *err)
{
    const host_spec *s = spec;
    (void)err;
    *out = (ls_host_shape){ .clock_hz = s->clock_hz,
                            .copies = (uint32_t)s->copies,
                            .line_bytes = (uint32_t)s->line_bytes };
    return LS_OK;
}

static ls_status attach(void *self, const ls_host_wiring *wiring, ls_error *err)
{
    host *h = self;
    uint32_t copies = (uint32_t)h->spec->copies * wiring->gpus;
    h->line_bytes = wiring->line_bytes;
    h->memory = wiring->memory;
    h->end.receive_credits[LS_FABRIC_REQUEST] = (uint32_t)h->spec->requests;
    h->end.receive_credits[LS_FABRIC_COPY] = copies;
    h->end.receive_credits[LS_FABRIC_WALK] = (uint32_t)h->spec->walk_queue;
    h->job_count = (uint32_t)(h->spec->requests + copies + h->spec->walk_queue);
    h->jobs = ls_domain_alloc(ls_region_domain(h->region), h->job_count * sizeof *h->jobs);
    return h->jobs != NULL ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", h->name);
}

static ls_fabric_end *end_of(void *self)
{
    return &((host *)self)->end;
}

/* clang-format off */
static const ls_param params[] = {
    LS_PARAM_FREQ(host_spec, clock_hz, "clock_mhz", "1000", "clock of the host's memory and IOMMU"),
    LS_PARAM_RATIO(host_spec, memory_latency_ns, "memory_latency_ns", "ns", "90", 1, 100000, "of an access to CPU memory"),
    LS_PARAM_RATIO(host_spec, memory_gb_s, "memory_gb_s", "GB/s", "76.8", 0.1, 100000, "bandwidth of CPU memory"),
    LS_PARAM_UINT(host_spec, line_bytes, "bytes", 0, 0, 128, "bytes that a read brings; 0: a line of the GPUs' caches"),
    LS_PARAM_UINT(host_spec, requests, "messages", 64, 1, 4096, "requests that the host holds at once"),
    LS_PARAM_UINT(host_spec, copies, "messages", 256, 1, 16384, "pieces of copies of each GPU that the host holds at once"),
    LS_PARAM_RATIO(host_spec, walk_latency_ns, "walk_latency_ns", "ns", "100", 1, 100000, "of a page walk of the IOMMU"),
    LS_PARAM_UINT(host_spec, walks, "walks", 16, 1, 1024, "page walks at once"),
    LS_PARAM_UINT(host_spec, walk_queue, "messages", 512, 1, 16384, "page walks that the host holds at once"),
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(host_counters, reads, "lines", "lines read by GPUs"),
    LS_METRIC_COUNTER(host_counters, writes, "lines", "lines written by GPUs"),
    LS_METRIC_COUNTER(host_counters, atomics, "lines", "atomics performed for GPUs"),
    LS_METRIC_COUNTER(host_counters, faults, "lines", "accesses to pages that are not mapped, or not for writing"),
    LS_METRIC_COUNTER(host_counters, read_bytes, "bytes", "read"),
    LS_METRIC_COUNTER(host_counters, write_bytes, "bytes", "written"),
    LS_METRIC_COUNTER(host_counters, memory_cycles, "cycles", "of accesses, from their arrival to their answer, summed"),
    LS_METRIC_COUNTER(host_counters, memory_busy_cycles, "cycles", "the memory moved bytes"),
    LS_METRIC_COUNTER(host_counters, walks, "walks", "page walks"),
    LS_METRIC_COUNTER(host_counters, walk_cycles, "cycles", "of page walks, summed"),
    LS_METRIC_COUNTER(host_counters, walk_wait_cycles, "cycles", "that walks waited for a walker, summed"),
    LS_METRIC_COUNTER(host_counters, fabric_waits, "times", "an answer found its link full"),
    LS_METRIC_PEAK(host_counters, walk_peak, "walks", "most walks open at once"),
};
/* clang-format on */

static uint64_t job_total(const void *self)
{
    return ((const host *)self)->job_count;
}

static const ls_state_row job_rows[] = {
    LS_STATE_LINK(host_job, link),
    LS_STATE_DATA_SPAN(host_job, taken, body),
};
static const ls_state_row out_rows[] = {
    LS_STATE_FIXED_SPAN(host_out, host, class_index),
    LS_STATE_DATA_SPAN(host_out, waits, jobs),
    LS_STATE_EVENT(host_out, ready),
};
static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(host, spec, job_count),
    LS_STATE_DATA(host, n),
    LS_STATE_ARRAY_OF(host, jobs, job_total, job_rows),
    LS_STATE_DATA_SPAN(host, pool, memory_free),
    LS_STATE_EVENT(host, access_event),
    LS_STATE_EVENT(host, walk_event),
    LS_STATE_PARTS(host, out, out_rows),
};

static const ls_host_ops ops = { .build = ls_host_build,
                                 .describe = describe,
                                 .attach = attach,
                                 .end = end_of,
                                 .set_pages = host_copy_pages,
                                 .set_directory = set_directory,
                                 .memory_time = host_take_turn,
                                 .memory_line = host_access_line };
static const ls_port_decl ports[] = {
    { .name = LS_HOST_PORT, .interface = LS_HOST_INTERFACE, .ops = &ops },
};

static const ls_block_type cpu_model = {
    .abi = LS_ABI_VERSION,
    .slot = LS_HOST_SLOT,
    .name = "cpu",
    .help = "CPU memory, and an IOMMU that walks page tables",
    LS_BLOCK_PARAMS(host_spec, params),
    LS_BLOCK_STATE(host, n, metrics, ports),
    .init = init,
    .waits = waits,
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
};
LS_REGISTER_BLOCK(cpu_model);

/* dma.c: transfers as streams of lines. Each cycle one line may be requested or written; transfers in progress
 * take turns. The host link is one server per direction: a line takes it for as long as its bytes need. */
#include "lockstep/dma.h"

#include "base/list.h"
#include "lockstep/state.h"

#include <string.h>

#define FLIGHT_MAX 1024u
#define STAGES 4u
#define STAGE_LINES 1024u
#define HOST_BUFFER_PACKETS 4u /* that have arrived and not been written */
#define FRACTION 16u           /* bits below a cycle in the host link's time */

typedef struct dma_spec {
    uint64_t in_flight;
    uint64_t copy_in_cycles, copy_out_cycles, copy_cycles;
    uint64_t host_latency_cycles, host_packet_bytes;
    ls_ratio host_bytes_per_cycle;
} dma_spec;

typedef struct dma_counters {
    uint64_t copies_in, copies_out, copies, fills;
    uint64_t bytes_in, bytes_out, bytes_copied, bytes_filled;
    uint64_t lines_read, lines_written;
    uint64_t busy_cycles;
} dma_counters;

/* A requested line. */
typedef struct dma_flight {
    ls_dma_job *job; /* NULL: it is free */
    uint64_t offset; /* of its first wanted byte in the transfer */
    uint16_t first, bytes;
    uint32_t next; /* of the free ones */
} dma_flight;

typedef struct dma {
    const dma_spec *spec;
    const char *name;
    ls_region *region;
    ls_dma_job *head, *tail; /* in progress, linked in the clients' memory; the first has the next turn */
    dma_flight flight[FLIGHT_MAX];
    index_pool flight_pool;
    uint32_t flying;
    uint8_t *stage[STAGES];
    uint32_t stages_free;       /* mask */
    uint64_t in_free, out_free; /* when the host link is free again, in 1 / 2^FRACTION cycles */
    uint64_t byte_cost;         /* of the host link, in 1 / 2^FRACTION cycles */
    ls_dma_job *arriving;       /* its next packet is on the host link */
    uint64_t arriving_bytes;
    ls_cycle busy_since;
    ls_ticker ticker;
    ls_event arrival, later; /* the packet on the host link is here; a transfer may begin */
    bool refused;            /* a request; retry() will follow */
    dma_counters n;
    ls_block *memory; /* the path to L2 */
    ls_line_port port;
    ls_line_message message;
} dma;

/* ------------------------------------------------------------------------------------------------- chunks */

static bool is_read(const ls_dma_job *j)
{
    return j->kind == LS_DMA_OUT || (j->kind == LS_DMA_COPY && !j->is_writing);
}

static bool overlaps(const ls_dma_job *j)
{
    return j->to < j->from + j->bytes && j->from < j->to + j->bytes;
}

/* A copy inside the GPU moves as much as a stage holds. It goes backwards from its end if it would overwrite
 * bytes that it has not read yet. */
static uint64_t chunk_of(const dma *d, const ls_dma_job *j, uint64_t *bytes)
{
    uint64_t most = (uint64_t)STAGE_LINES * d->port.line_bytes;
    uint64_t left = j->bytes - j->chunk;
    if (j->kind != LS_DMA_COPY) {
        *bytes = j->bytes;
        return 0;
    }
    *bytes = left < most ? left : most;
    return overlaps(j) && j->to > j->from ? left - *bytes : j->chunk;
}

static uint64_t target(const dma *d, const ls_dma_job *j)
{
    uint64_t bytes, first = chunk_of(d, j, &bytes);
    return (is_read(j) ? j->from : j->to) + first;
}

/* ------------------------------------------------------------------------------------------------- life */

static void unlink_job(dma *d, ls_dma_job *j)
{
    ls_dma_job **at = &d->head, *before = NULL;
    while (*at != j) {
        before = *at;
        at = &(*at)->next;
    }
    *at = j->next;
    if (d->tail == j)
        d->tail = before;
}

static void finish(dma *d, ls_dma_job *j, ls_cycle now)
{
    unlink_job(d, j);
    if (j->stage != UINT32_MAX)
        d->stages_free |= 1u << j->stage;
    if (d->head == NULL)
        d->n.busy_cycles += now - d->busy_since;
    j->done(j->self, j, now);
}

static void count(dma *d, const ls_dma_job *j)
{
    if (j->local)
        return;
    switch (j->kind) {
    case LS_DMA_IN:
        d->n.copies_in++;
        d->n.bytes_in += j->bytes;
        break;
    case LS_DMA_OUT:
        d->n.copies_out++;
        d->n.bytes_out += j->bytes;
        break;
    case LS_DMA_COPY:
        d->n.copies++;
        d->n.bytes_copied += j->bytes;
        break;
    default:
        d->n.fills++;
        d->n.bytes_filled += j->bytes;
        break;
    }
}

static void wait_until(dma *d, ls_event *event, ls_cycle cycle)
{
    if (ls_event_scheduled(event)) {
        if (event->cycle <= cycle)
            return;
        ls_cancel(event);
    }
    ls_schedule_at(d->region, event, cycle);
}

static void dma_start(void *state, ls_dma_job *j, ls_cycle now)
{
    dma *d = state;
    uint64_t setup[] = { d->spec->copy_in_cycles, d->spec->copy_out_cycles, d->spec->copy_cycles,
                         d->spec->copy_cycles };
    j->next = NULL;
    j->asked = j->answered = j->chunk = j->landed = 0;
    j->stage = UINT32_MAX;
    j->is_writing = false;
    j->ready = now;
    if (!j->local)
        j->ready += setup[j->kind] + (j->kind == LS_DMA_IN ? d->spec->host_latency_cycles : 0);
    count(d, j);
    if (d->head == NULL)
        d->busy_since = now;
    if (d->tail != NULL)
        d->tail->next = j;
    else
        d->head = j;
    d->tail = j;
    wait_until(d, &d->later, j->ready);
}

/* -------------------------------------------------------------------------------------------- requests */

/* True if the transfer can request a line now. */
static bool may_request(const dma *d, const ls_dma_job *j, ls_cycle now)
{
    uint64_t bytes;
    if (now < j->ready)
        return false;
    (void)chunk_of(d, j, &bytes);
    if (j->asked == bytes)
        return false;
    if (j->kind == LS_DMA_IN && !j->local)
        return j->asked < j->landed;
    return j->kind != LS_DMA_COPY || j->stage != UINT32_MAX || d->stages_free != 0;
}

static void fill_line(const dma *d, const ls_dma_job *j, uint64_t offset, uint32_t first, uint32_t bytes,
                      uint8_t *data)
{
    switch (j->kind) {
    case LS_DMA_IN:
        if (j->host_from)
            memcpy(data + first, j->host_from + offset, bytes);
        break;
    case LS_DMA_COPY:
        memcpy(data + first, d->stage[j->stage] + offset, bytes);
        break;
    default:
        for (uint32_t i = 0, at = (uint32_t)(offset % j->pattern_bytes); i < bytes; i++) {
            data[first + i] = j->pattern[at];
            at = at + 1 == j->pattern_bytes ? 0 : at + 1;
        }
        break;
    }
}

static void set_mask(ls_line_message *m, uint32_t first, uint32_t bytes)
{
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t low = half * 64, from = first > low ? first - low : 0;
        uint32_t end = first + bytes > low ? first + bytes - low : 0;
        end = end < 64 ? end : 64;
        m->mask[half] = from >= end ? 0 : (UINT64_MAX >> (64 - (end - from))) << from;
    }
}

/* Requests the transfer's next line; false if it is refused. */
static bool request_line(dma *d, ls_dma_job *j, ls_cycle now)
{
    uint32_t line = d->port.line_bytes;
    uint64_t bytes, address = target(d, j) + j->asked, base = address & ~(uint64_t)(line - 1);
    (void)chunk_of(d, j, &bytes);
    uint32_t first = (uint32_t)(address - base);
    uint32_t here = bytes - j->asked < line - first ? (uint32_t)(bytes - j->asked) : line - first;
    bool read = is_read(j);
    ls_line_message *m = &d->message;
    if (j->kind == LS_DMA_COPY && j->stage == UINT32_MAX) {
        j->stage = (uint32_t)__builtin_ctz(d->stages_free);
        d->stages_free &= ~(1u << j->stage);
    }
    uint32_t token = index_pool_take(&d->flight_pool, INDEX_LINKS(d->flight, next));
    m->address = base;
    set_mask(m, first, here);
    m->token = token;
    m->flags = LS_LINE_SYSTEM;
    m->kind = read ? LS_LINE_READ : LS_LINE_WRITE;
    m->born = (uint32_t)now;
    if (!read)
        fill_line(d, j, j->asked, first, here, m->data);
    if (!ls_line_request(&d->port, m, now)) {
        index_pool_give(&d->flight_pool, INDEX_LINKS(d->flight, next), token);
        d->refused = true;
        return false;
    }
    dma_flight *f = &d->flight[token];
    d->flying++;
    *f = (dma_flight){ .job = j, .offset = j->asked, .first = (uint16_t)first, .bytes = (uint16_t)here };
    d->n.lines_read += read;
    d->n.lines_written += !read;
    j->asked += here;
    return true;
}

/* Puts the next packet of a transfer from the host on the link, if that is free and there is room for it. */
static void bring_packet(dma *d, ls_cycle now)
{
    uint64_t size = d->spec->host_packet_bytes;
    for (ls_dma_job *j = d->arriving != NULL ? NULL : d->head; j != NULL; j = j->next) {
        if (j->kind != LS_DMA_IN || j->local || now < j->ready || j->landed == j->bytes ||
            j->landed - j->asked >= HOST_BUFFER_PACKETS * size)
            continue;
        uint64_t left = j->bytes - j->landed, here = size - (j->to + j->landed) % size;
        /* Packets follow each other without a gap, also within a cycle. */
        uint64_t begin = d->in_free + (1u << FRACTION) > now << FRACTION ? d->in_free : now << FRACTION;
        d->arriving = j;
        d->arriving_bytes = left < here ? left : here;
        d->in_free = begin + d->arriving_bytes * d->byte_cost;
        ls_cycle at = (d->in_free + (1u << FRACTION) - 1) >> FRACTION;
        ls_schedule_at(d->region, &d->arrival, at > now ? at : now + 1);
        return;
    }
}

static void on_arrival(void *self, ls_cycle now)
{
    dma *d = self;
    d->arriving->landed += d->arriving_bytes;
    d->arriving = NULL;
    bring_packet(d, now);
    ls_ticker_wake(&d->ticker);
}

static void to_back(dma *d, ls_dma_job *j)
{
    if (d->tail == j)
        return;
    unlink_job(d, j);
    j->next = NULL;
    d->tail->next = j;
    d->tail = j;
}

static bool tick(void *self, ls_cycle now)
{
    dma *d = self;
    bring_packet(d, now);
    if (d->refused || d->flying == d->spec->in_flight)
        return false;
    for (ls_dma_job *j = d->head; j != NULL; j = j->next)
        if (may_request(d, j, now)) {
            if (!request_line(d, j, now))
                return false;
            to_back(d, j);
            return true;
        }
    return false;
}

static void on_event(void *self, ls_cycle now)
{
    dma *d = self;
    ls_cycle next = LS_CYCLE_MAX;
    for (ls_dma_job *j = d->head, *after; j != NULL; j = after) {
        after = j->next;
        if (j->ready > now)
            next = j->ready < next ? j->ready : next;
        else if (j->answered == j->bytes || j->bytes == 0)
            finish(d, j, now);
    }
    if (next != LS_CYCLE_MAX)
        wait_until(d, &d->later, next);
    ls_ticker_wake(&d->ticker);
}

/* --------------------------------------------------------------------------------------------- answers */

/* The last byte of the transfer, or of this chunk of it, is there. */
static void chunk_over(dma *d, ls_dma_job *j, ls_cycle now)
{
    uint64_t bytes;
    (void)chunk_of(d, j, &bytes);
    if (j->answered < bytes)
        return;
    if (j->kind == LS_DMA_COPY) {
        j->asked = j->answered = 0;
        j->is_writing = !j->is_writing;
        if (j->is_writing)
            return;
        j->chunk += bytes;
        if (j->chunk < j->bytes)
            return;
    }
    if (j->kind == LS_DMA_OUT && !j->local) {
        /* The last line still has to go over the link. */
        j->ready = ((d->out_free + (1u << FRACTION) - 1) >> FRACTION) + d->spec->host_latency_cycles;
        if (j->ready > now) {
            wait_until(d, &d->later, j->ready);
            return;
        }
    }
    finish(d, j, now);
}

static void on_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    dma *d = self;
    dma_flight *f = &d->flight[m->token];
    ls_dma_job *j = f->job;
    if (m->kind == LS_LINE_READ) {
        uint8_t *to = j->kind == LS_DMA_OUT ? j->host_to : d->stage[j->stage];
        if (to)
            memcpy(to + f->offset, m->data + f->first, f->bytes);
        if (j->kind == LS_DMA_OUT && !j->local) {
            uint64_t begin = d->out_free > now << FRACTION ? d->out_free : now << FRACTION;
            d->out_free = begin + f->bytes * d->byte_cost;
        }
    }
    j->answered += f->bytes;
    f->job = NULL;
    index_pool_give(&d->flight_pool, INDEX_LINKS(d->flight, next), m->token);
    d->flying--;
    chunk_over(d, j, now);
    if (d->head != NULL)
        ls_ticker_wake(&d->ticker);
}

/* ---------------------------------------------------------------------------------------------- set-up */

static void on_retry(void *self, ls_cycle now)
{
    dma *d = self;
    (void)now;
    d->refused = false;
    ls_ticker_wake(&d->ticker);
}

static const ls_line_client_ops client = { .reply = on_reply, .retry = on_retry };

static ls_status dma_attach(void *self, ls_block *memory, ls_error *err)
{
    dma *d = self;
    ls_domain *domain = ls_region_domain(d->region);
    d->memory = memory;
    ls_status status = ls_line_join(memory, &client, d, &d->port, err);
    for (uint32_t i = 0; i < STAGES && status == LS_OK; i++) {
        d->stage[i] = ls_domain_alloc(domain, (size_t)STAGE_LINES * d->port.line_bytes);
        if (d->stage[i] == NULL)
            status = ls_fail(err, LS_ERR_NOMEM, "no memory for the DMA engine");
    }
    return status;
}

static ls_status dma_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    dma *d = state;
    d->spec = spec;
    d->name = ls_block_name(block);
    d->region = ls_block_region(block);
    d->flight_pool = INDEX_POOL_NEW;
    d->stages_free = (1u << STAGES) - 1;
    ls_ratio rate = d->spec->host_bytes_per_cycle;
    d->byte_cost = ((rate.den << FRACTION) + rate.num / 2) / rate.num;
    ls_event_init(&d->arrival, on_arrival, d);
    ls_event_init(&d->later, on_event, d);
    return ls_ticker_add(d->region, &d->ticker, tick, d, err);
}

static void dma_waits(const void *state, ls_wait_sink *sink)
{
    const dma *d = state;
    if (d->head != NULL)
        ls_wait_report(sink, d->name, d->flying > 0 ? ls_block_name(d->memory) : "the host link",
                       d->flying > 0 ? "answers of L2" : "a turn");
}

static const ls_param params[] = {
    LS_PARAM_UINT(dma_spec, in_flight, "lines", 256, 1, FLIGHT_MAX, "lines asked for and not yet answered"),
    LS_PARAM_UINT(dma_spec, copy_in_cycles, "cycles", 0, 0, 1000000, "before a copy from the host begins"),
    LS_PARAM_UINT(dma_spec, copy_out_cycles, "cycles", 0, 0, 1000000, "before a copy to the host begins"),
    LS_PARAM_UINT(dma_spec, copy_cycles, "cycles", 0, 0, 1000000,
                  "before a copy or fill inside the GPU begins"),
    LS_PARAM_UINT(dma_spec, host_latency_cycles, "cycles", 500, 0, 1000000, "of the host link, one way"),
    LS_PARAM_UINT(dma_spec, host_packet_bytes, "bytes", 256, 64, 4096, "that arrive together from the host"),
    LS_PARAM_RATIO(dma_spec, host_bytes_per_cycle, "host_bytes_per_cycle", "bytes", "15.75", 0.01, 4096,
                   "bandwidth of the host link in each direction, per cycle of the command processor"),
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(dma_counters, copies_in, "copies", "copies from the host"),
    LS_METRIC_COUNTER(dma_counters, copies_out, "copies", "copies to the host"),
    LS_METRIC_COUNTER(dma_counters, copies, "copies", "copies inside the GPU"),
    LS_METRIC_COUNTER(dma_counters, fills, "fills", "ranges filled with a pattern"),
    LS_METRIC_COUNTER(dma_counters, bytes_in, "bytes", "bytes from the host"),
    LS_METRIC_COUNTER(dma_counters, bytes_out, "bytes", "bytes to the host"),
    LS_METRIC_COUNTER(dma_counters, bytes_copied, "bytes", "bytes copied inside the GPU"),
    LS_METRIC_COUNTER(dma_counters, bytes_filled, "bytes", "bytes filled"),
    LS_METRIC_COUNTER(dma_counters, lines_read, "lines", "lines read through L2"),
    LS_METRIC_COUNTER(dma_counters, lines_written, "lines", "lines written through L2"),
    LS_METRIC_COUNTER(dma_counters, busy_cycles, "cycles", "cycles with a transfer in progress"),
};

static const ls_dma_ops dma_ops = { .attach = dma_attach, .start = dma_start };

static const ls_port_decl ports[] = {
    { .name = LS_DMA_PORT, .interface = LS_DMA_INTERFACE, .ops = &dma_ops },
};

static const ls_state_row flight_rows[] = {
    LS_STATE_OWN(dma_flight, job),
    LS_STATE_DATA_SPAN(dma_flight, offset, next),
};

/* Transfers are their clients' memory. A machine is saved while none is in progress; then the message and the stages
 * are of no use. */
static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(dma, spec, region),
    LS_STATE_OWN(dma, head),
    LS_STATE_OWN(dma, tail),
    LS_STATE_PARTS(dma, flight, flight_rows),
    LS_STATE_DATA_SPAN(dma, flight_pool, flying),
    LS_STATE_FIXED(dma, stage),
    LS_STATE_DATA_SPAN(dma, stages_free, byte_cost),
    LS_STATE_OWN(dma, arriving),
    LS_STATE_DATA_SPAN(dma, arriving_bytes, busy_since),
    LS_STATE_FIXED(dma, ticker),
    LS_STATE_EVENT(dma, arrival),
    LS_STATE_EVENT(dma, later),
    LS_STATE_DATA(dma, refused),
    LS_STATE_DATA(dma, n),
    LS_STATE_FIXED_SPAN(dma, memory, message),
};

static const ls_block_type dma_line = {
    .abi = LS_ABI_VERSION,
    .slot = LS_DMA_SLOT,
    .name = "line",
    .help = "moves memory line by line through L2, and over the host link",
    .spec_size = sizeof(dma_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .state_size = sizeof(dma),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(dma, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
    .init = dma_init,
    .waits = dma_waits,
};
LS_REGISTER_BLOCK(dma_line);

/* dma.c: transfers as streams of lines. Each cycle one line may be requested or written; transfers in progress
 * take turns. The host link is one server per direction: a line takes it for as long as its bytes need.
 *
 * A transfer between two memories that the fabric joins is a stream: each line that was read waits in a buffer until it
 * is written. A stream may read a line and write another one in the same cycle. */
#include "model/amd/dma_impl.h"

#include "model/memory/place.h"

#include <string.h>

#define HOST_BUFFER_PACKETS 4u /* that have arrived and not been written */
#define FRACTION 16u           /* bits below a cycle in the host link's time */

/* ------------------------------------------------------------------------------------------------- chunks */

static bool is_read(const ls_dma_job *j)
{
    return j->kind == LS_DMA_OUT || (j->kind == LS_DMA_COPY && !j->is_writing) || j->is_stream;
}

static bool crosses_fabric(const ls_dma_job *j)
{
    if (j->kind == LS_DMA_COPY)
        return mem_place_is_remote(j->from) != mem_place_is_remote(j->to);
    return (j->kind == LS_DMA_IN || j->kind == LS_DMA_OUT) && !j->local && j->host != 0;
}

static uint64_t stream_from(const ls_dma_job *j)
{
    return j->kind == LS_DMA_IN ? j->host : j->from;
}

static uint64_t stream_to(const ls_dma_job *j)
{
    return j->kind == LS_DMA_OUT ? j->host : j->to;
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
    if (j->kind != LS_DMA_COPY || j->is_stream) {
        *bytes = j->bytes;
        return 0;
    }
    *bytes = left < most ? left : most;
    return overlaps(j) && j->to > j->from ? left - *bytes : j->chunk;
}

static uint64_t target(const dma *d, const ls_dma_job *j)
{
    uint64_t bytes, first = chunk_of(d, j, &bytes);
    if (j->is_stream)
        return stream_from(j);
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
    j->is_stream = crosses_fabric(j);
    j->uses_host = j->is_stream && j->kind != LS_DMA_COPY;
    j->ready = now;
    if (!j->local)
        j->ready +=
            setup[j->kind] + (j->kind == LS_DMA_IN && !j->is_stream ? d->spec->host_latency_cycles : 0);
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
    if (j->is_stream) /* as many lines again may wait for a write, or be written */
        return d->holding + d->writing < d->spec->in_flight;
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
    if (j->is_stream && mem_place_is_remote(stream_to(j))) { /* one line of that memory, too */
        uint32_t room = line - (uint32_t)((stream_to(j) + j->asked) & (line - 1));
        here = here < room ? here : room;
    }
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
    d->n.lines_read += read && !(j->uses_host && j->kind == LS_DMA_IN);
    d->n.lines_written += !read;
    j->asked += here;
    return true;
}

/* Writes the first line of a stream that was read, or its part in one line of the other memory; false if it is refused. */
static bool write_held(dma *d, ls_cycle now)
{
    uint32_t line = d->port.line_bytes, token = d->held.first;
    dma_flight *f = &d->flight[token];
    const ls_dma_job *j = f->job;
    uint64_t address = stream_to(j) + f->offset + f->written;
    uint32_t first = (uint32_t)(address & (line - 1)), left = (uint32_t)f->bytes - f->written;
    uint32_t here = left < line - first ? left : line - first;
    ls_line_message *m = &d->message;
    m->address = address - first;
    set_mask(m, first, here);
    m->token = token;
    m->flags = LS_LINE_SYSTEM;
    m->kind = LS_LINE_WRITE;
    m->born = (uint32_t)now;
    memcpy(m->data + first, d->lines + (size_t)token * line + f->written, here);
    if (!ls_line_request(&d->port, m, now)) {
        d->refused = true;
        return false;
    }
    f->is_writing = true;
    f->written = (uint16_t)(f->written + here);
    f->open++;
    d->n.lines_written += !(j->uses_host && j->kind == LS_DMA_OUT);
    if (f->written < f->bytes)
        return true;
    (void)index_list_pop(&d->held, INDEX_LINKS(d->flight, next));
    d->holding--;
    d->writing++;
    return true;
}

/* Puts the next packet of a transfer from the host on the link, if that is free and there is room for it. */
static void bring_packet(dma *d, ls_cycle now)
{
    uint64_t size = d->spec->host_packet_bytes;
    for (ls_dma_job *j = d->arriving != NULL ? NULL : d->head; j != NULL; j = j->next) {
        if (j->kind != LS_DMA_IN || j->local || j->is_stream || now < j->ready || j->landed == j->bytes ||
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
    bool wrote = false;
    bring_packet(d, now);
    if (d->refused)
        return false;
    if (!index_list_empty(&d->held)) {
        wrote = write_held(d, now);
        if (!wrote)
            return false;
    }
    if (d->flying == d->spec->in_flight || d->flying + d->holding + d->writing == FLIGHT_MAX)
        return wrote;
    for (ls_dma_job *j = d->head; j != NULL; j = j->next)
        if (may_request(d, j, now)) {
            if (!request_line(d, j, now))
                return false;
            to_back(d, j);
            return true;
        }
    return wrote;
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
    if (j->kind == LS_DMA_COPY && !j->is_stream) {
        j->asked = j->answered = 0;
        j->is_writing = !j->is_writing;
        if (j->is_writing)
            return;
        j->chunk += bytes;
        if (j->chunk < j->bytes)
            return;
    }
    if (j->kind == LS_DMA_OUT && !j->local && !j->is_stream) {
        /* The last line still has to go over the link. */
        j->ready = ((d->out_free + (1u << FRACTION) - 1) >> FRACTION) + d->spec->host_latency_cycles;
        if (j->ready > now) {
            wait_until(d, &d->later, j->ready);
            return;
        }
    }
    finish(d, j, now);
}

/* A line of a stream was read. */
static void hold(dma *d, dma_flight *f, const ls_line_message *m)
{
    memcpy(d->lines + (size_t)m->token * d->port.line_bytes, m->data + f->first, f->bytes);
    index_list_append(&d->held, INDEX_LINKS(d->flight, next), m->token);
    d->holding++;
    d->flying--;
    ls_ticker_wake(&d->ticker);
}

static void on_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    dma *d = self;
    dma_flight *f = &d->flight[m->token];
    ls_dma_job *j = f->job;
    if (j->is_stream && !f->is_writing) {
        hold(d, f, m);
        return;
    }
    if (f->is_writing && (--f->open > 0 || f->written < f->bytes))
        return;
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
    d->writing -= f->is_writing;
    d->flying -= !f->is_writing;
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
    d->lines = ls_domain_alloc(domain, (size_t)FLIGHT_MAX * d->port.line_bytes);
    if (status == LS_OK && d->lines == NULL)
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for the DMA engine");
    return status;
}

ls_status dma_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    dma *d = state;
    d->spec = spec;
    d->name = ls_block_name(block);
    d->region = ls_block_region(block);
    d->flight_pool = INDEX_POOL_NEW;
    d->held = INDEX_LIST_EMPTY;
    d->stages_free = (1u << STAGES) - 1;
    ls_ratio rate = d->spec->host_bytes_per_cycle;
    d->byte_cost = ((rate.den << FRACTION) + rate.num / 2) / rate.num;
    ls_event_init(&d->arrival, on_arrival, d);
    ls_event_init(&d->later, on_event, d);
    return ls_ticker_add(d->region, &d->ticker, tick, d, err);
}

void dma_waits(const void *state, ls_wait_sink *sink)
{
    const dma *d = state;
    if (d->head != NULL)
        ls_wait_report(sink, d->name, d->flying > 0 ? ls_block_name(d->memory) : "the host link",
                       d->flying > 0 ? "answers of L2" : "a turn");
}

const ls_dma_ops dma_ops = { .attach = dma_attach, .start = dma_start };

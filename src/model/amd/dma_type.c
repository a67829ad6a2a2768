/* dma_type.c: the keys, counters and saved state of the DMA engine. */
#include "lockstep/state.h"
#include "model/amd/dma_impl.h"

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
    LS_METRIC_COUNTER(dma_counters, copies, "copies", "copies inside the GPU, or from another one"),
    LS_METRIC_COUNTER(dma_counters, fills, "fills", "ranges filled with a pattern"),
    LS_METRIC_COUNTER(dma_counters, bytes_in, "bytes", "bytes from the host"),
    LS_METRIC_COUNTER(dma_counters, bytes_out, "bytes", "bytes to the host"),
    LS_METRIC_COUNTER(dma_counters, bytes_copied, "bytes", "bytes copied inside the GPU, or from another one"),
    LS_METRIC_COUNTER(dma_counters, bytes_filled, "bytes", "bytes filled"),
    LS_METRIC_COUNTER(dma_counters, lines_read, "lines", "lines read through L2"),
    LS_METRIC_COUNTER(dma_counters, lines_written, "lines", "lines written through L2"),
    LS_METRIC_COUNTER(dma_counters, busy_cycles, "cycles", "cycles with a transfer in progress"),
};

/* ------------------------------------------------------------------------------------------------ saved state */

/* The buffers that copies have at present. */
#define STAGE_LENGTH(number_)                                                                                 \
    static uint64_t stage_length_##number_(const void *self)                                                  \
    {                                                                                                         \
        const dma *d = self;                                                                                  \
        bool is_used = (d->stages_free >> (number_)&1) == 0;                                                  \
        return is_used ? (uint64_t)STAGE_LINES * d->port.line_bytes : 0;                                      \
    }
STAGE_LENGTH(0)
STAGE_LENGTH(1)
STAGE_LENGTH(2)
STAGE_LENGTH(3)
_Static_assert(STAGES == 4, "a row for each buffer of copies");

static uint64_t line_length(const void *self)
{
    return (uint64_t)FLIGHT_MAX * ((const dma *)self)->port.line_bytes;
}

static const ls_state_row flight_rows[] = {
    LS_STATE_HOST(dma_flight, job),
    LS_STATE_DATA_SPAN(dma_flight, offset, is_writing),
};

/* Transfers are their clients' memory; the client saves what they hold. */
static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(dma, spec, region),
    LS_STATE_HOST(dma, head),
    LS_STATE_HOST(dma, tail),
    LS_STATE_PARTS(dma, flight, flight_rows),
    LS_STATE_DATA_SPAN(dma, flight_pool, holding),
    LS_STATE_ARRAY(dma, lines, line_length),
    LS_STATE_ARRAY(dma, stage[0], stage_length_0),
    LS_STATE_ARRAY(dma, stage[1], stage_length_1),
    LS_STATE_ARRAY(dma, stage[2], stage_length_2),
    LS_STATE_ARRAY(dma, stage[3], stage_length_3),
    LS_STATE_DATA_SPAN(dma, stages_free, byte_cost),
    LS_STATE_HOST(dma, arriving),
    LS_STATE_DATA_SPAN(dma, arriving_bytes, busy_since),
    LS_STATE_FIXED(dma, ticker),
    LS_STATE_EVENT(dma, arrival),
    LS_STATE_EVENT(dma, later),
    LS_STATE_DATA(dma, refused),
    LS_STATE_DATA(dma, n),
    LS_STATE_FIXED_SPAN(dma, memory, port),
    LS_STATE_GAP(dma, port, message),
    LS_STATE_DATA(dma, message),
};

static ls_status loaded(void *self, ls_error *err)
{
    const dma *d = self;
    if (d->head != NULL || (d->flying == 0 && d->holding == 0 && d->writing == 0))
        return LS_OK;
    return ls_fail(err, LS_ERR_INPUT, "%s was saved with a transfer that is not there", d->name);
}

/* The time of transfers that have not ended is not in its counters yet. */
static void settle(void *self, ls_cycle end)
{
    dma *d = self;
    if (d->head == NULL || end <= d->busy_since)
        return;
    d->n.busy_cycles += end - d->busy_since;
    d->busy_since = end;
}

static const ls_state_ops state_ops = { .loaded = loaded };

static const ls_port_decl ports[] = {
    { .name = LS_DMA_PORT, .interface = LS_DMA_INTERFACE, .ops = &dma_ops },
    { .name = LS_STATE_PORT, .interface = LS_STATE_INTERFACE, .ops = &state_ops },
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
    .settle = settle,
};
LS_REGISTER_BLOCK(dma_line);

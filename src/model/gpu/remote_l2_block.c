/* remote_l2_block.c: the block of remote_l2.h: how it is built, its counters and its state. */
#include "model/cache/sector_cache_state.h"
#include "model/gpu/remote_l2_state.h"
#include "model/memory/mem.h"

#include <stdio.h>
#include <string.h>

remote_l2_spec remote_l2_part(const partition_spec *whole, uint32_t cache, uint64_t ways)
{
    remote_l2_spec spec = { .l2 = *whole, .cache = cache };
    spec.l2.l2.ways = cache == RDMA_NEVER ? 1 : ways;
    spec.l2.l2.sets = cache == RDMA_NEVER ? 1 : whole->l2.sets;
    spec.l2.l2.write_policy = WRITE_BACK; /* of writes that it keeps */
    spec.l2.l2.prefetch.kind = PREFETCH_NONE;
    return spec;
}

static ls_status init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    remote_l2 *r = state;
    r->spec = spec;
    r->name = ls_block_name(block);
    r->tap = ls_block_tap(block);
    r->region = ls_block_region(block);
    r->domain = ls_region_domain(r->region);
    ls_event_init(&r->timer, remote_l2_timer, r);
    ls_event_init(&r->peer_ready, remote_l2_peer_ready, r);
    return ls_ticker_add(r->region, &r->ticker, remote_l2_tick, r, err);
}

static ls_status init_slice(remote_l2 *r, remote_slice *s, ls_error *err)
{
    s->owner = r;
    s->next = LS_CYCLE_MAX;
    s->delay.list = s->input.list = s->output.list = INDEX_LIST_EMPTY;
    ls_event_init(&s->output_ready, remote_l2_output_ready, s);
    if (sector_cache_init(&s->cache, &r->spec->l2.l2, &r->n.l2, r->domain, err) != LS_OK)
        return ls_error_prefix(err, "%s", r->name);
    return LS_OK;
}

ls_status remote_l2_attach(ls_block *block, const remote_l2_wiring *wiring, ls_error *err)
{
    remote_l2 *r = ls_block_state(block);
    const partition_spec *spec = &r->spec->l2;
    r->channel = wiring->channel;
    r->l2 = wiring->l2;
    r->slice_count = wiring->map->slices_per_channel;
    r->requester_count = wiring->requester_count;
    r->to_peer = wiring->to_peer;
    r->owners = wiring->owners;
    if (r->slice_count > REMOTE_L2_SLICES)
        return ls_fail(err, LS_ERR_INPUT, "%u L2 slices per channel, at most %u are possible", r->slice_count,
                       REMOTE_L2_SLICES);
    /* A request returns its buffer entry when the cache has taken it or it has passed, and stays until it is answered. */
    r->request_total =
        wiring->requests_max + r->slice_count * (sector_cache_waiters_max(&spec->l2) +
                                                 (uint32_t)(spec->l2.mshr_entries + spec->output_queue + 2));
    r->to_core = ls_domain_alloc(r->domain, wiring->requester_count * sizeof(ls_link *));
    r->requests = ls_domain_alloc(r->domain, r->request_total * sizeof *r->requests);
    if (r->to_core == NULL || r->requests == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", r->name);
    memcpy(r->to_core, wiring->to_core, wiring->requester_count * sizeof(ls_link *));
    r->pool = INDEX_POOL_NEW;
    for (uint32_t i = 0; i < r->slice_count; i++) {
        ls_status status = init_slice(r, &r->slices[i], err);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

static void waits(const void *state, ls_wait_sink *sink)
{
    const remote_l2 *r = state;
    char detail[96];
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->slice_count; i++)
        count +=
            r->slices[i].passing + r->slices[i].write_backs + sector_cache_pending_fills(&r->slices[i].cache);
    if (count > 0) {
        snprintf(detail, sizeof detail, "%u sectors of other GPUs are not answered", count);
        ls_wait_report(sink, r->name, r->peer_waits ? ls_link_name(r->to_peer) : "peer", detail);
    }
}

/* ------------------------------------------------------------------------------------------------------ tables */

static uint64_t request_length(const void *self)
{
    return ((const remote_l2 *)self)->request_total;
}

/* clang-format off */
static const ls_state_row request_rows[] = {
    LS_STATE_DATA(remote_request, m), LS_STATE_LINK(remote_request, link),
    LS_STATE_DATA_SPAN(remote_request, ready, next),
};
static const ls_state_row slice_rows[] = {
    LS_STATE_FIXED(remote_slice, owner),
    LS_STATE_EVENT(remote_slice, output_ready),
    { LS_STATE_ROW_(remote_slice, cache, LS_STATE_KIND_PARTS), .element = sizeof(sector_cache),
      .rows = sector_cache_rows, .row_count = SECTOR_CACHE_ROWS },
    LS_STATE_DATA_SPAN(remote_slice, delay, output_waits),
};
static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(remote_l2, spec, to_peer),
    LS_STATE_EVENT(remote_l2, timer),
    LS_STATE_EVENT(remote_l2, peer_ready),
    LS_STATE_DATA(remote_l2, now),
    LS_STATE_PARTS(remote_l2, slices, slice_rows),
    LS_STATE_ARRAY_OF(remote_l2, requests, request_length, request_rows),
    LS_STATE_DATA_SPAN(remote_l2, pool, n),
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(remote_l2_counters, requests, "requests", "sectors of other GPUs, and flushes"),
    LS_METRIC_COUNTER(remote_l2_counters, replies, "replies", "answers to them"),
    LS_METRIC_COUNTER(remote_l2_counters, passed, "sectors", "performed at the owner: nothing is kept of them"),
    LS_METRIC_COUNTER(remote_l2_counters, reads_out, "sectors", "read from other GPUs"),
    LS_METRIC_COUNTER(remote_l2_counters, writes_out, "sectors", "written to other GPUs: writes that passed, and write-backs"),
    LS_METRIC_COUNTER(remote_l2_counters, atomics_out, "sectors", "atomics at other GPUs"),
    LS_METRIC_COUNTER(remote_l2_counters, flushes, "flushes", "ends of kernels and fences of system scope, per slice"),
    LS_METRIC_COUNTER(remote_l2_counters, forgotten, "flushes", "of them that had sectors to forget"),
    LS_METRIC_COUNTER(remote_l2_counters, flush_cycles, "cycles", "that flushes took, summed"),
    LS_METRIC_COUNTER(remote_l2_counters, peer_stalls, "times", "a sector had to wait for the link to other GPUs"),
    LS_METRIC_COUNTER(remote_l2_counters, output_stalls, "times", "an answer had to wait for the network"),
    LS_METRIC_COUNTER(remote_l2_counters, in_flight_stalls, "times", "l2.mshr_entries requests were at their owners"),
#define METRICS_TYPE remote_l2_counters
#define METRICS_FIELD l2
#define METRICS_PREFIX ""
#define METRICS_LABEL ""
#include "model/cache/sector_cache_metrics.def"
};
/* clang-format on */

static const ls_block_type remote_l2_type = {
    .abi = LS_ABI_VERSION,
    .slot = "remote-l2",
    .name = "cycle",
    .help = "the part of L2 for memory of other GPUs",
    .spec_size = sizeof(remote_l2_spec),
    .state_size = sizeof(remote_l2),
    .counters_offset = offsetof(remote_l2, n),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .init = init,
    .waits = waits,
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
};

ls_status remote_l2_create(ls_region *region, const char *name, const remote_l2_spec *spec, ls_block **out,
                           ls_error *err)
{
    return ls_block_create(region, name, &remote_l2_type, spec, out, err);
}

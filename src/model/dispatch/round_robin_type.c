/* round_robin_type.c: the block scheduler as a block: its keys, its counters, its set-up. */
#include "model/dispatch/round_robin_impl.h"

#include <string.h>

static void dispatch_describe(const void *state, ls_dispatch_shape *out)
{
    const dispatch_spec *spec = ((const dispatch *)state)->spec;
    *out = (ls_dispatch_shape){ .launch_latency_cycles = spec->launch_latency_cycles,
                                .kernel_slots = (uint32_t)spec->concurrent_kernels,
                                .spread = dispatch_is_spread(spec) };
}

static ls_status attach_clusters(dispatch *d, const ls_dispatch_wiring *wiring, ls_error *err)
{
    d->gpcs = wiring->gpcs;
    d->tpc_cores = wiring->tpc_cores;
    d->cluster_rows = (uint32_t)d->capacity.cta_slots * d->core_count; /* a block is in one at most */
    d->clusters = ls_domain_alloc(d->domain, d->cluster_rows * sizeof *d->clusters);
    d->cluster_left = ls_domain_alloc(d->domain, d->cluster_rows * sizeof *d->cluster_left);
    d->held = ls_domain_alloc(d->domain, d->launches->block_count * sizeof *d->held);
    d->launches->clusters = d->clusters;
    return d->clusters != NULL && d->cluster_left != NULL && d->held != NULL
               ? LS_OK
               : ls_fail(err, LS_ERR_NOMEM, "no memory for the dispatcher");
}

static ls_status dispatch_attach(void *state, const ls_dispatch_wiring *wiring, ls_error *err)
{
    dispatch *d = state;
    uint32_t core_count = wiring->core_count;
    d->refill_cycles = wiring->refill_cycles;
    d->capacity = wiring->capacity;
    d->core_count = core_count;
    d->link_latency = wiring->link_latency_cycles;
    d->to_core = ls_domain_alloc(d->domain, core_count * sizeof *d->to_core);
    d->loads = ls_domain_alloc(d->domain, core_count * sizeof *d->loads);
    d->open = ls_domain_alloc(d->domain, LS_BITSET_WORDS(core_count) * sizeof *d->open);
    d->launches = wiring->launches;
    d->made = ls_domain_alloc(d->domain, d->launches->block_count * sizeof(spare_cta *));
    d->sent = ls_domain_alloc(d->domain, d->launches->block_count * sizeof *d->sent);
    if (d->to_core == NULL || d->loads == NULL || d->open == NULL || d->made == NULL || d->sent == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the dispatcher");
    bit_set_run(d->open, 0, core_count);
    memcpy(d->to_core, wiring->to_core, core_count * sizeof *d->to_core);
    return wiring->gpcs == 0 ? LS_OK : attach_clusters(d, wiring, err);
}

static ls_status dispatch_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    dispatch *d = state;
    d->spec = spec;
    d->region = ls_block_region(block);
    d->domain = ls_region_domain(d->region);
    d->tap = ls_block_tap(block);
    d->priority_count = (uint32_t)d->spec->priority_streams.count;
    d->sorted = d->spec->sharing != SHARING_FILL || d->priority_count > 0;
    if (d->priority_count > 0) { /* the configuration may be gone when the run begins */
        d->priorities = ls_domain_alloc(d->domain, d->priority_count * sizeof *d->priorities);
        if (d->priorities == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the dispatcher");
        memcpy(d->priorities, d->spec->priority_streams.at, d->priority_count * sizeof *d->priorities);
    }
    ls_event_init(&d->pump, dispatch_pump, d);
    return placement_init(&d->placement_rule, &d->spec->placement, d->domain, err);
}

static void dispatch_fini(void *state)
{
    dispatch *d = state;
    for (uint32_t i = 0; i < d->made_count; i++)
        ls_cta_fini(&d->made[i]->cta);
}

static const char *const sharing_names[] = { "fill", "leftover", "exclusive", NULL }; /* as dispatch_sharing */

static const ls_param params[] = {
    LS_PARAM_UINT(dispatch_spec, launch_latency_cycles, "cycles", 5000, 0, 1000000,
                  "from a kernel's launch to its first thread block on a core"),
    LS_PARAM_UINT(dispatch_spec, block_latency_cycles, "cycles", 0, 0, 1000,
                  "added per thread block of the grid"),
    LS_PARAM_UINT(dispatch_spec, concurrent_kernels, "kernels", 1, 1, KERNELS_MAX,
                  "kernels of different streams that run side by side"),
    LS_PARAM_UINT(
        dispatch_spec, window, "kernels", 1, 1, KERNELS_MAX,
        "launches of the list that are known ahead: a kernel that waits for its stream holds up those behind "
        "the window only"),
    LS_PARAM_CHOICE(
        dispatch_spec, sharing, "sharing", "fill", sharing_names,
        "blocks of several kernels: fill sends any that find room, leftover those of a later kernel when "
        "all of earlier ones are sent, exclusive leaves a core to one kernel until it is empty"),
    LS_PARAM_UINTS(dispatch_spec, priority_streams, "priority_streams", "streams", "[]", 0, UINT64_MAX,
                   "streams whose blocks are sent first, the highest priority first"),
    LS_PARAM_RATIO(dispatch_spec, block_interval, "block_interval_cycles", "cycles", "0", 0, 10000,
                   "from one thread block to the next, over all cores; 0: one per core and cycle"),
    LS_PARAM_BOOL(dispatch_spec, spread, true, "a grid that does not fill the GPU is spread over all cores"),
    PLACEMENT_PARAMS(dispatch_spec, placement),
};

static const ls_need needs[] = { { "spread", "placement!=greedy-fill" },
                                 { "window", "concurrent_kernels!=1" },
                                 { "sharing", "concurrent_kernels!=1" },
                                 { "priority_streams", "concurrent_kernels!=1" },
                                 PLACEMENT_NEEDS };

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(dispatch_counters, kernels, "kernels", "kernels that have ended"),
    LS_METRIC_COUNTER(dispatch_counters, ctas, "blocks", "thread blocks that have ended"),
    LS_METRIC_COUNTER(dispatch_counters, busy_cycles, "cycles", "cycles from launches to ends of kernels"),
    LS_METRIC_COUNTER(dispatch_counters, active_cycles, "cycles",
                      "the same, kernels at the same time counted once"),
};

static const ls_dispatch_ops ops = { .describe = dispatch_describe,
                                     .attach = dispatch_attach,
                                     .receive = dispatch_receive,
                                     .start = dispatch_start,
                                     .resume = dispatch_resume,
                                     .progress = dispatch_progress,
                                     .take_kernel = dispatch_take_kernel };
static const ls_port_decl ports[] = {
    { .name = LS_DISPATCH_PORT, .interface = LS_DISPATCH_INTERFACE, .ops = &ops },
};

static const ls_block_type dispatch_round_robin = {
    .abi = LS_ABI_VERSION,
    .slot = LS_DISPATCH_SLOT,
    .name = "round-robin",
    .help = "thread blocks to cores that have room, at a rate of the whole GPU",
    .spec_size = sizeof(dispatch_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .state_size = sizeof(dispatch),
    .rows = dispatch_rows,
    .row_count = DISPATCH_ROWS,
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(dispatch, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = dispatch_init,
    .fini = dispatch_fini,
};
LS_REGISTER_BLOCK(dispatch_round_robin);

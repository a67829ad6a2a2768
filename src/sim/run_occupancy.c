/* run_occupancy.c: see run_occupancy.h. */
#include "sim/run_occupancy.h"

#include <stdio.h>

/* clang-format off */
#define COUNT(field, unit, help) LS_METRIC_COUNTER(run_occupancy_counters, field, unit, help)
static const ls_metric table[] = {
    COUNT(blocks, "blocks", "thread blocks of kernels that have ended"),
    COUNT(fit_warps, "warps", "warps that fit on a core at once, summed over thread blocks"),
    LS_METRIC_RATIO(run_occupancy_counters, "theoretical", fit_warps, blocks, "warps", "fit_warps / blocks: the most that a core can have"),
    COUNT(grid_blocks, "blocks", "of kernels with too few thread blocks to fill the cores once"),
    COUNT(warp_blocks, "blocks", "of kernels that warp slots limit"),
    COUNT(slot_blocks, "blocks", "of kernels that slots of thread blocks limit"),
    COUNT(register_blocks, "blocks", "of kernels that registers limit"),
    COUNT(shared_blocks, "blocks", "of kernels that shared memory limits"),
};
/* clang-format on */

ls_status run_occupancy_begin(run_occupancy *o, const gpu_instance *gpu, metric_store *metrics, ls_error *err)
{
    gpu_shape shape;
    ls_status status = gpu_shape_of(gpu, &shape, err);
    if (status != LS_OK)
        return status;
    o->rules = shape.rules;
    snprintf(o->path, sizeof o->path, "gpu%u.occupancy", gpu->number);
    const metric_source source = { .path = o->path,
                                   .type = RUN_OCCUPANCY_TYPE,
                                   .gpu = (int32_t)gpu->number,
                                   .stream = LS_METRICS_NONE,
                                   .metrics = table,
                                   .metric_count = LS_COUNT_OF(table),
                                   .counters = &o->n,
                                   .counters_size = sizeof o->n };
    return metrics_add(metrics, &source, err);
}

/* Thread blocks that one resource admits, as if there were enough of the others. */
static uint64_t blocks_by(const ls_dispatch_rules *rules, const ls_kernel_info *info, int resource)
{
    const ls_core_capacity *has = &rules->capacity;
    const uint64_t plenty = UINT32_MAX;
    ls_dispatch_rules one = *rules;
    one.spread = false;
    one.capacity.warp_slots = resource == 0 ? has->warp_slots : plenty;
    one.capacity.cta_slots = resource == 1 ? has->cta_slots : plenty;
    one.capacity.registers = resource == 2 ? has->registers : plenty;
    one.capacity.shared_bytes = resource == 3 ? has->shared_bytes : plenty;
    return ls_dispatch_blocks_per_core(&one, info, UINT64_MAX);
}

void run_occupancy_add(run_occupancy *o, const replay_kernel *k)
{
    const ls_kernel_info info = { .block = { k->threads, 1, 1 },
                                  .registers = k->registers,
                                  .shared_bytes = k->shared_bytes };
    run_occupancy_counters *n = &o->n;
    uint64_t *const limits[] = { &n->warp_blocks, &n->slot_blocks, &n->register_blocks, &n->shared_blocks };
    uint64_t most = blocks_by(&o->rules, &info, 0), warps = (k->threads + 31) / 32;
    size_t limit = 0;
    for (int i = 1; i < 4; i++) {
        uint64_t here = blocks_by(&o->rules, &info, i);
        limit = here < most ? (size_t)i : limit;
        most = here < most ? here : most;
    }
    if (k->ctas < most * o->rules.core_count)
        n->grid_blocks += k->ctas;
    else
        *limits[limit] += k->ctas;
    n->blocks += k->ctas;
    n->fit_warps += k->ctas * most * (warps > 0 ? warps : 1);
}

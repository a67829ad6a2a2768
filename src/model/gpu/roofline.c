/* roofline.c: see roofline.h. */
#include "model/gpu/roofline.h"

#include "model/gpu/shape.h"

#include <stdio.h>
#include <string.h>

#define ATOM_BYTES 32u
#define FS_PER_NS UINT64_C(1000000)
/* Of a multiply-add of all lanes; of a packed one of two halves. */
#define WARP_FLOPS 64u
#define WARP_FLOPS_HALF 128u

/* clang-format off */
#define COUNT(field, unit, help) LS_METRIC_COUNTER(gpu_roofline_counters, field, unit, help)
#define RATIO(name, over, under, unit, help) LS_METRIC_RATIO(gpu_roofline_counters, name, over, under, unit, help)
const ls_metric gpu_roofline_metrics[] = {
    COUNT(time_ns, "ns", "with a kernel launched"),
    COUNT(flops, "FLOP", "floating-point operations of all kinds"),
    COUNT(dram_bytes, "bytes", "read from and written to DRAM"),
    RATIO("rate_flops", flops, time_ns, "GFLOP/s", "achieved, all kinds"),
    RATIO("rate_half", flops_half, time_ns, "GFLOP/s", "achieved, packed half precision"),
    RATIO("rate_single", flops_single, time_ns, "GFLOP/s", "achieved, single precision"),
    RATIO("rate_double", flops_double, time_ns, "GFLOP/s", "achieved, double precision"),
    RATIO("rate_tensor", flops_tensor, time_ns, "GFLOP/s", "achieved, matrix instructions"),
    RATIO("rate_dram", dram_bytes, time_ns, "GB/s", "achieved, of DRAM"),
    RATIO("roof_half", possible_half, time_ns, "GFLOP/s", "peak of packed half precision"),
    RATIO("roof_single", possible_single, time_ns, "GFLOP/s", "peak of single precision"),
    RATIO("roof_double", possible_double, time_ns, "GFLOP/s", "peak of double precision"),
    RATIO("roof_dram", possible_bytes, time_ns, "GB/s", "peak of DRAM"),
    RATIO("share_half", flops_half, possible_half, "", "rate_half / roof_half"),
    RATIO("share_single", flops_single, possible_single, "", "rate_single / roof_single"),
    RATIO("share_double", flops_double, possible_double, "", "rate_double / roof_double"),
    RATIO("share_tensor", tensor_cycles, possible_tensor_cycles, "", "time that matrix instructions take of their units"),
    RATIO("share_dram", dram_bytes, possible_bytes, "", "rate_dram / roof_dram"),
    RATIO("intensity", flops, dram_bytes, "FLOP/byte", "operations of all kinds per byte of DRAM"),
};
/* clang-format on */
const size_t gpu_roofline_metric_count = LS_COUNT_OF(gpu_roofline_metrics);

static double cycles_per_ns(const ls_clock *clock)
{
    return (double)FS_PER_NS * (double)clock->period_den / (double)clock->period_num;
}

static double per_ns(double units_per_ns, uint64_t flops, uint64_t interval)
{
    return interval > 0 ? units_per_ns * (double)flops / (double)interval : 0;
}

ls_status gpu_roofline_init(gpu_roofline *r, const gpu_instance *gpu, ls_error *err)
{
    gpu_shape shape;
    ls_status status = gpu_shape_of(gpu, &shape, err);
    if (status != LS_OK)
        return status;
    const ls_clock *clock = ls_region_clock(ls_block_region(gpu->cores[0]));
    const ls_clock *dram = ls_region_clock(ls_block_region(gpu->dram[0]));
    const ls_core_shape *roofs = &gpu->core_shape;
    uint64_t units = (uint64_t)shape.cores * roofs->sub_cores;
    double units_per_ns = (double)units * cycles_per_ns(clock);
    *r = (gpu_roofline){ .gpu = gpu,
                         .clock = clock,
                         .units = units,
                         .half_per_ns = per_ns(units_per_ns, WARP_FLOPS_HALF, roofs->half_interval),
                         .single_per_ns = per_ns(units_per_ns, WARP_FLOPS, roofs->single_interval),
                         .double_per_ns = per_ns(units_per_ns, WARP_FLOPS, roofs->double_interval) };
    snprintf(r->path, sizeof r->path, "gpu%u.roofline", gpu->number);
    if (shape.dram.atom_num != 0)
        r->bytes_per_ns =
            cycles_per_ns(dram) * ATOM_BYTES * shape.map.channels * shape.dram.atom_den / shape.dram.atom_num;
    return LS_OK;
}

/* Of a block of any model, if that model counts it. */
static uint64_t counter(const ls_block *block, const char *name)
{
    const ls_block_type *type = ls_block_type_of(block);
    const char *counters = (const char *)ls_block_state((ls_block *)(uintptr_t)block) + type->counters_offset;
    for (size_t i = 0; i < type->metric_count; i++)
        if (type->metrics[i].kind == LS_METRIC_KIND_COUNTER && strcmp(type->metrics[i].name, name) == 0)
            return *(const uint64_t *)(const void *)(counters + type->metrics[i].offset);
    return 0;
}

static void add_core(gpu_roofline_counters *n, const ls_port *core)
{
    ls_core_work work = { 0 };
    ((const ls_core_ops *)core->ops)->work(core->self, &work);
    n->flops_half += work.flops_half;
    n->flops_single += work.flops_single;
    n->flops_double += work.flops_double;
    n->flops_tensor += work.flops_tensor;
    n->tensor_cycles += work.tensor_cycles;
    n->dram_bytes += work.expected_dram_sectors * ATOM_BYTES;
}

void gpu_roofline_update(gpu_roofline *r)
{
    gpu_roofline_counters n = { 0 };
    const gpu_instance *gpu = r->gpu;
    uint64_t cycles = counter(gpu->dispatch, "active_cycles");
    for (uint32_t i = 0; i < gpu->core_count; i++)
        add_core(&n, &gpu->core_ports[i]);
    for (uint32_t i = 0; i < gpu->channel_count; i++)
        n.dram_bytes += (counter(gpu->dram[i], "reads") + counter(gpu->dram[i], "writes")) * ATOM_BYTES;
    n.flops = n.flops_half + n.flops_single + n.flops_double + n.flops_tensor;
    ls_time time = ls_clock_span(r->clock, cycles);
    n.time_ns = (time + FS_PER_NS / 2) / FS_PER_NS;
    /* From the rounded time, so that a roof is the same number for every kernel. */
    n.possible_half = (uint64_t)((double)n.time_ns * r->half_per_ns + 0.5);
    n.possible_single = (uint64_t)((double)n.time_ns * r->single_per_ns + 0.5);
    n.possible_double = (uint64_t)((double)n.time_ns * r->double_per_ns + 0.5);
    n.possible_bytes = (uint64_t)((double)n.time_ns * r->bytes_per_ns + 0.5);
    n.possible_tensor_cycles = cycles * r->units;
    r->n = n;
}

/* shape.c: see shape.h. Reads specs of built blocks; writes nothing but the latencies that cores are
 * given. */
#include "model/gpu/shape.h"

#include "model/memory/partition.h"

/* Stages that a request and its answer pass one cycle each, beside the latencies that have keys (partition.c,
 * ldst.c). Request, in core cycles: from the tags of L1 into the miss queue and out of it. Slice, in L2
 * cycles: input queue, tags, output queue. Reply, in core cycles: its queue, the write-back register. DRAM,
 * in DRAM cycles: it starts at the next edge; in L2 cycles: the miss queue, the fill. */
#define REQUEST_STAGES 1u
#define SLICE_STAGES 2u
#define REPLY_STAGES 2u
#define MISS_STAGES 3u

/* Cycles of `from` in those of `to`, in RATES_ONE, rounded. */
static uint64_t convert(const ls_clock *from, const ls_clock *to, uint64_t cycles)
{
    double ratio =
        (double)from->period_num / (double)from->period_den * (double)to->period_den / (double)to->period_num;
    return (uint64_t)((double)cycles * ratio * RATES_ONE + 0.5);
}

static uint32_t up(uint64_t value)
{
    return (uint32_t)((value + RATES_ONE - 1) >> RATES_SHIFT);
}

/* Answers of blocks whose models have a port for profiles. */
typedef struct parts {
    ls_port core, l2;
    partition_shape slice;
    const ls_clock *core_clock, *l2_clock, *dram_clock;
} parts;

static const ls_clock *clock_of(const ls_block *block)
{
    return ls_region_clock(ls_block_region(block));
}

/* The slot and the model of the first block that cannot be described; NULL: there is none. */
static const ls_block_type *find(const gpu_instance *gpu, parts *out)
{
    *out = (parts){ .core_clock = clock_of(gpu->cores[0]),
                    .l2_clock = clock_of(gpu->l2[0]),
                    .dram_clock = clock_of(gpu->dram[0]) };
    ls_status core = ls_block_port(gpu->cores[0], CORE_PROFILE_INTERFACE, &out->core, NULL);
    if (ls_block_port(gpu->l2[0], PARTITION_PROFILE_INTERFACE, &out->l2, NULL) != LS_OK)
        return ls_block_type_of(gpu->l2[0]);
    ((const partition_profile_ops *)out->l2.ops)->shape(out->l2.self, &out->slice);
    if (core != LS_OK)
        return ls_block_type_of(gpu->cores[0]);
    core_l1 l1;
    return ((const core_profile_ops *)out->core.ops)->l1(out->core.self, 0, &l1) ? NULL : gpu->l1;
}

static ls_status undescribed(const ls_block_type *type, ls_error *err)
{
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "model '%s/%s' cannot be described to the formulas of memory: set core.memory to cycle",
                   type->slot, type->name);
}

ls_status gpu_attach_rates(const gpu_instance *gpu, uint32_t request_cycles, uint32_t reply_cycles,
                           uint32_t credits, ls_error *err)
{
    parts p;
    dram_service dram;
    const ls_block_type *unknown = find(gpu, &p);
    if (unknown != NULL)
        return undescribed(unknown, err);
    ls_status status = dram_get_service(gpu->dram[0], &dram, err);
    if (status != LS_OK)
        return status;
    const core_profile_ops *core = p.core.ops;
    uint64_t slice = p.slice.delay_cycles + SLICE_STAGES;
    const rates_machine machine = {
        .request_cycles = REQUEST_STAGES + request_cycles + up(convert(p.l2_clock, p.core_clock, slice)),
        .reply_cycles = REPLY_STAGES + up(convert(p.l2_clock, p.core_clock, reply_cycles)),
        .dram_cycles = up(convert(p.dram_clock, p.core_clock, dram.latency_cycles) +
                          convert(p.l2_clock, p.core_clock, MISS_STAGES)),
        .network_cycles = RATES_ONE / core->network_width(p.core.self),
        .buffered = (credits + 1) * gpu->map.channels,
        .dram_queue = dram.write_buffer * gpu->map.channels,
    };
    for (uint32_t i = 0; i < gpu->core_count; i++)
        core->set_machine(gpu->core_ports[i].self, &machine);
    return LS_OK;
}

ls_status gpu_shape_of(const gpu_instance *gpu, gpu_shape *out, ls_error *err)
{
    parts p;
    const ls_block_type *unknown = find(gpu, &p);
    *out = (gpu_shape){ .cores = gpu->core_count,
                        .rules = { .capacity = gpu->core_shape.capacity,
                                   .core_count = gpu->core_count,
                                   .spread = gpu->dispatch_shape.spread },
                        .profile = p.core,
                        .unknown = unknown,
                        .map = gpu->map,
                        .l2 = p.slice.l2,
                        .dram_cycle = (uint32_t)convert(p.dram_clock, p.core_clock, 1),
                        .analytic = gpu->core_shape.sends_no_requests };
    if (p.slice.percent > 0)
        out->l2_cycle = (uint32_t)(convert(p.l2_clock, p.core_clock, 100) / p.slice.percent);
    if (!out->analytic) { /* a DRAM that the formulas do not support is fine: they are not used */
        dram_get_service(gpu->dram[0], &out->dram, NULL);
        return LS_OK;
    }
    if (unknown != NULL)
        return undescribed(unknown, err);
    ((const core_profile_ops *)p.core.ops)->machine(p.core.self, &out->machine);
    return dram_get_service(gpu->dram[0], &out->dram, err);
}

ls_status gpu_get_shape(const ls_engine *engine, gpu_shape *out, ls_error *err)
{
    const gpu_instance *gpu = gpu_at(engine, 0);
    return gpu != NULL ? gpu_shape_of(gpu, out, err)
                       : ls_fail(err, LS_ERR_USAGE, "this machine has no GPU that runs traces");
}

ls_status gpu_shape_check(const gpu_shape *shape, ls_error *err)
{
    return shape->unknown == NULL ? LS_OK : undescribed(shape->unknown, err);
}

core_l1 gpu_shape_l1(const gpu_shape *shape, uint64_t shared_bytes)
{
    core_l1 l1 = { 0 };
    if (shape->profile.ops != NULL)
        (void)((const core_profile_ops *)shape->profile.ops)->l1(shape->profile.self, shared_bytes, &l1);
    return l1;
}

bool gpu_shape_guesses(const gpu_shape *shape, const ls_inst *inst)
{
    const core_profile_ops *core = shape->profile.ops;
    return core != NULL && core->guesses_time(shape->profile.self, inst);
}

bool gpu_shape_models(const void *shape, const ls_inst *inst)
{
    const gpu_shape *s = shape;
    const core_profile_ops *core = s->profile.ops;
    return core != NULL && core->models(s->profile.self, inst);
}

const char *gpu_shape_async_hint(const gpu_shape *shape)
{
    const core_profile_ops *core = shape->profile.ops;
    return core != NULL && core->drops_async(shape->profile.self)
               ? "--fidelity basic and detailed have units for them"
               : NULL;
}

bool gpu_shape_counts_instructions(const gpu_shape *shape)
{
    const core_profile_ops *core = shape->profile.ops;
    return core != NULL && core->counts_instructions(shape->profile.self);
}

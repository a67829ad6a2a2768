/* shape.c: see shape.h. Reads specs of built blocks; writes nothing but the latencies that cores are
 * given. */
#include "model/gpu/shape.h"

#include "model/gpu/gpu.h"
#include "model/memory/partition.h"

#include <stdio.h>

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

typedef struct parts {
    const ls_block *core, *l2, *dram, *dispatch;
    const ls_clock *core_clock, *l2_clock, *dram_clock;
} parts;

static ls_status find(const ls_engine *engine, parts *out, ls_error *err)
{
    ls_block *core = ls_engine_find_block(engine, "gpu0.core0");
    ls_block *l2 = ls_engine_find_block(engine, "gpu0.l2_0");
    ls_block *dram = ls_engine_find_block(engine, "gpu0.dram0");
    ls_block *dispatch = ls_engine_find_block(engine, GPU_DISPATCH_BLOCK);
    if (core == NULL || l2 == NULL || dram == NULL || dispatch == NULL)
        return ls_fail(err, LS_ERR_USAGE, "this machine is no GPU that runs traces: it has no block '%s'",
                       core == NULL ? "gpu0.core0" : GPU_DISPATCH_BLOCK);
    *out = (parts){ .core = core,
                    .l2 = l2,
                    .dram = dram,
                    .dispatch = dispatch,
                    .core_clock = ls_region_clock(ls_block_region(core)),
                    .l2_clock = ls_region_clock(ls_block_region(l2)),
                    .dram_clock = ls_region_clock(ls_block_region(dram)) };
    return LS_OK;
}

ls_status gpu_attach_rates(const ls_engine *engine, uint32_t request_cycles, uint32_t reply_cycles,
                           uint32_t credits, ls_error *err)
{
    parts p;
    dram_service dram;
    ls_status status = find(engine, &p, err);
    if (status == LS_OK)
        status = dram_get_service(p.dram, &dram, err);
    if (status != LS_OK)
        return status;
    uint64_t slice = partition_get_shape(p.l2).delay_cycles + SLICE_STAGES;
    const rates_machine machine = {
        .request_cycles = REQUEST_STAGES + request_cycles + up(convert(p.l2_clock, p.core_clock, slice)),
        .reply_cycles = REPLY_STAGES + up(convert(p.l2_clock, p.core_clock, reply_cycles)),
        .dram_cycles = up(convert(p.dram_clock, p.core_clock, dram.latency_cycles) +
                          convert(p.l2_clock, p.core_clock, MISS_STAGES)),
        .network_cycles = RATES_ONE / core_network_width(p.core),
        .buffered = (credits + 1) * core_get_map(p.core)->channels,
        .dram_queue = dram.write_buffer * core_get_map(p.core)->channels,
    };
    char name[32];
    for (uint32_t i = 0;; i++) {
        snprintf(name, sizeof name, "gpu0.core%u", i);
        ls_block *core = ls_engine_find_block(engine, name);
        if (core == NULL)
            return LS_OK;
        core_set_machine(core, &machine);
    }
}

ls_status gpu_get_shape(const ls_engine *engine, gpu_shape *out, ls_error *err)
{
    parts p;
    ls_status status = find(engine, &p, err);
    if (status != LS_OK)
        return status;
    *out = (gpu_shape){ .rules = dispatch_get_rules(p.dispatch),
                        .core = p.core,
                        .map = *core_get_map(p.core),
                        .l2 = partition_get_shape(p.l2).l2,
                        .l2_cycle = (uint32_t)(convert(p.l2_clock, p.core_clock, 100) /
                                               partition_get_shape(p.l2).percent),
                        .dram_cycle = (uint32_t)convert(p.dram_clock, p.core_clock, 1),
                        .analytic = core_is_analytic(p.core) };
    out->cores = out->rules.core_count;
    if (!out->analytic) { /* a DRAM that the formulas do not know is fine: nobody asks them */
        dram_get_service(p.dram, &out->dram, NULL);
        return LS_OK;
    }
    out->machine = *core_get_machine(p.core);
    return dram_get_service(p.dram, &out->dram, err);
}

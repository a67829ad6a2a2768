/* shape.h: what a profile needs to know of a built GPU: how blocks are placed, its caches, its memory. Read
 * from the blocks of an engine; no pointer into them is kept. */
#ifndef MODEL_GPU_SHAPE_H
#define MODEL_GPU_SHAPE_H

#include "model/core/core_api.h"
#include "model/dispatch/dispatch.h"
#include "model/dram/estimate.h"
#include "model/memory/mem.h"

typedef struct gpu_shape {
    uint32_t cores;
    dispatch_rules rules;
    const ls_block *core; /* for core_get_l1(); one of many that are alike */
    mem_map map;
    cache_spec l2; /* of a slice */
    dram_service dram;
    rates_machine machine;
    /* Core cycles, in RATES_ONE: a slice serves a sector in l2_cycle, a DRAM cycle lasts dram_cycle. */
    uint32_t l2_cycle, dram_cycle;
    bool analytic; /* the machine's cores need rates */
} gpu_shape;

/* LS_ERR_USAGE if the engine has no GPU, LS_ERR_UNSUPPORTED if its DRAM cannot be described. */
ls_status gpu_get_shape(const ls_engine *engine, gpu_shape *out, ls_error *err);

/* For the builder, when all blocks stand: tells the cores what memory costs that is not simulated. Latencies
 * of the network are in cycles of who sends. */
ls_status gpu_attach_rates(const ls_engine *engine, uint32_t request_cycles, uint32_t reply_cycles,
                           uint32_t credits, ls_error *err);

#endif

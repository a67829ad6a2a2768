/* shape.h: facts about a built GPU for profiles: placement of blocks, caches, memory. Read through the tables
 * of its blocks. */
#ifndef MODEL_GPU_SHAPE_H
#define MODEL_GPU_SHAPE_H

#include "model/core/core_api.h"
#include "model/dram/estimate.h"
#include "model/gpu/gpu.h"

typedef struct gpu_shape {
    uint32_t cores;
    ls_dispatch_rules rules;
    ls_port profile; /* of a core (core_profile_ops): one of many that are alike. No ops: the model has none */
    const ls_block_type *unknown; /* the model that a profile cannot walk; NULL: there is none */
    mem_map map;
    sector_cache_spec l2; /* of a slice */
    dram_service dram;
    rates_machine machine;
    /* Core cycles, in RATES_ONE: a slice serves a sector in l2_cycle, a DRAM cycle lasts dram_cycle. */
    uint32_t l2_cycle, dram_cycle;
    bool analytic; /* the machine's cores need rates */
} gpu_shape;

/* LS_ERR_UNSUPPORTED if its cores need rates and a block cannot be described. */
ls_status gpu_shape_of(const gpu_instance *gpu, gpu_shape *out, ls_error *err);
/* The same of the first GPU of an engine; LS_ERR_USAGE if there is none. */
ls_status gpu_get_shape(const ls_engine *engine, gpu_shape *out, ls_error *err);

/* LS_ERR_UNSUPPORTED, with its name, if a profile cannot walk a model of this GPU. */
ls_status gpu_shape_check(const gpu_shape *shape, ls_error *err);

/* L1 beside so much shared memory; all zero for a core without the port. */
core_l1 gpu_shape_l1(const gpu_shape *shape, uint64_t shared_bytes);
/* A matrix instruction of a shape or type that the platform has no rate for. */
bool gpu_shape_guesses(const gpu_shape *shape, const ls_inst *inst);

/* Its cores have a unit for an instruction with LS_INST_UNMODELLED. shape: a gpu_shape, for unmodelled_scan.models. */
bool gpu_shape_models(const void *shape, const ls_inst *inst);
/* For messages about instructions that it does not model: who does. NULL: nobody is known. */
const char *gpu_shape_async_hint(const gpu_shape *shape);

/* Its cores count per instruction (ls_launch_kernel.counts). */
bool gpu_shape_counts_instructions(const gpu_shape *shape);

/* For the builder, when all blocks exist: gives the cores the costs of memory that is not simulated. Latencies
 * of the network are in cycles of the sender. */
ls_status gpu_attach_rates(const gpu_instance *gpu, uint32_t request_cycles, uint32_t reply_cycles,
                           uint32_t credits, ls_error *err);

#endif

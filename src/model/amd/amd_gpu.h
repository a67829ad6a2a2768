/* amd_gpu.h: a built machine of type `amd`, for who runs programs on it. */
#ifndef MODEL_AMD_AMD_GPU_H
#define MODEL_AMD_AMD_GPU_H

#include "base/address_space.h"
#include "lockstep/block.h"

#define AMD_GPU_MACHINE "amd"

/* The keys of the machine that programs can see. */
typedef struct amd_gpu_facts {
    const char *target; /* "gfx803" */
    uint64_t memory_bytes;
    uint32_t compute_units; /* as programs count them: a dual one is two */
    uint32_t lds_bytes;     /* most for one work-group */
    uint32_t clock_mhz;
} amd_gpu_facts;

/* NULL if the machine is of another type. */
const amd_gpu_facts *amd_gpu_get_facts(ls_engine *engine);

/* Gives the machine its memory; before the first run. */
ls_status amd_gpu_set_memory(ls_engine *engine, ls_address_space *window, ls_error *err);
/* Caches forget what they have of freed memory. While the engine rests. */
void amd_gpu_discard(ls_engine *engine, uint64_t address, uint64_t bytes);
/* Between runs: what a block counted for a launch that has ended, in the layout of its counters, once. False: the
 * block does not tell kernels apart. */
bool amd_gpu_take_kernel(ls_engine *engine, const char *path, uint32_t number, void *counters, size_t bytes);

#endif

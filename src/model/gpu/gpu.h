/* gpu.h: the machine `gpu`: a dispatcher, cores, memory partitions and the links between them. */
#ifndef MODEL_GPU_H
#define MODEL_GPU_H

#include "lockstep/block.h"

/* The blocks that a workload needs to know, by the names that the builder gives them. */
#define GPU_DISPATCH_BLOCK "gpu0.dispatch"

/* Memory copies of a trace: marks the range valid in L2. */
void gpu_warm(ls_engine *engine, uint64_t address, uint64_t bytes);

/* Between runs: what a block counted for the kernel that has ended in a slot of the dispatcher, in the layout of
 * the block's counters. False: the block does not tell kernels apart. */
bool gpu_take_kernel(const ls_engine *engine, const char *path, uint32_t slot, void *counters, size_t bytes);

#endif

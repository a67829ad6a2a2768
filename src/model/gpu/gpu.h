/* gpu.h: the machine `gpu`: a dispatcher, cores, memory partitions and the links between them. */
#ifndef MODEL_GPU_H
#define MODEL_GPU_H

#include "lockstep/block.h"

/* The blocks that a workload needs to know, by the names that the builder gives them. */
#define GPU_DISPATCH_BLOCK "gpu0.dispatch"

/* Memory copies of a trace: marks the range valid in L2. */
void gpu_warm(ls_engine *engine, uint64_t address, uint64_t bytes);

#endif

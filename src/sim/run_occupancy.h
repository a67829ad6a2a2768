/* run_occupancy.h: which resource of a core limits the thread blocks of a trace's kernels. Thread blocks are counted by
 * the limit of their kernel, so that the counts of several kernels add up. */
#ifndef SIM_RUN_OCCUPANCY_H
#define SIM_RUN_OCCUPANCY_H

#include "model/gpu/shape.h"
#include "report/metrics.h"
#include "runtime/replay.h"

#define RUN_OCCUPANCY_TYPE "occupancy/gpu"

typedef struct run_occupancy_counters {
    uint64_t blocks;    /* thread blocks of all kernels */
    uint64_t fit_warps; /* summed over blocks: warps of such blocks that fit on a core at once */
    uint64_t grid_blocks, warp_blocks, slot_blocks, register_blocks, shared_blocks; /* by the limit */
} run_occupancy_counters;

typedef struct run_occupancy {
    run_occupancy_counters n;
    ls_dispatch_rules rules;
    char path[24];
} run_occupancy;

ls_status run_occupancy_begin(run_occupancy *o, const gpu_instance *gpu, metric_store *metrics, ls_error *err);
/* Adds a kernel that has ended; while nothing runs. */
void run_occupancy_add(run_occupancy *o, const replay_kernel *kernel);

#endif

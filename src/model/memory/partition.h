/* partition.h: a memory partition: L2 slices of one channel in front of its DRAM. */
#ifndef MODEL_PARTITION_H
#define MODEL_PARTITION_H

#include "lockstep/block.h"
#include "model/cache/sector_cache.h"

/* The port of a model whose slices a profile can walk. Models without it serve cores that send their requests
 * (core.memory: cycle) and no others. */
#define PARTITION_PROFILE_PORT "l2-profile"
#define PARTITION_PROFILE_INTERFACE "l2-profile/1"

typedef struct partition_shape {
    sector_cache_spec l2; /* of a slice */
    uint64_t delay_cycles;
    uint64_t percent; /* of one sector per cycle, what a slice serves */
} partition_shape;

typedef struct partition_profile_ops {
    void (*shape)(const void *self, partition_shape *out);
} partition_profile_ops;

#endif

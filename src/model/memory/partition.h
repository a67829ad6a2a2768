/* partition.h: a memory partition: L2 slices of one channel in front of its DRAM. */
#ifndef MODEL_PARTITION_H
#define MODEL_PARTITION_H

#include "lockstep/block.h"
#include "model/cache/sector_cache.h"

typedef struct partition_spec {
    uint64_t delay_cycles; /* before the cache looks at a request */
    uint64_t width;        /* requests and answers per slice and cycle */
    uint64_t port_percent; /* of that, what the way out reaches */
    bool write_lines;      /* a dirty line is one request to DRAM */
    bool ideal;            /* every access hits */
    bool flush;            /* empty between kernels */
    uint64_t input_queue, output_queue, fill_queue;
    sector_cache_spec l2;
} partition_spec;

/* Whether a model of slot "l2" is the one with this spec. */
bool partition_is_model(const ls_block_type *model);

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
    /* Between runs: the slices lose their lines, if the platform says so. */
    void (*flush)(void *self);
} partition_profile_ops;

#endif

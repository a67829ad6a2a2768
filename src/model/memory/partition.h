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
    uint64_t coalesce_entries,
        coalesce_requests; /* sectors whose reads meet in front of a slice, and reads of each */
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

/* The port of a model whose slices can be one half of L2. */
#define PARTITION_HALF_PORT "l2-half"
#define PARTITION_HALF_INTERFACE "l2-half/1"

/* Ways to the partner: the channel as far in the other half. All take ls_sector_message. */
typedef enum partition_half_way {
    PARTITION_HALF_ASK,    /* reads of a sector whose home is there */
    PARTITION_HALF_PASS,   /* other accesses, which are performed there */
    PARTITION_HALF_ANSWER, /* sectors for the partner's copies; copies that it has to forget. Taken at once */
    PARTITION_HALF_WAYS
} partition_half_way;

typedef struct partition_half_ops {
    /* Buffer entries that each way needs so that neither half can wait for the other for ever. */
    uint32_t (*credits)(const void *self, partition_half_way way, uint32_t cores, uint32_t slices);
    /* After attach(), before the run. */
    ls_status (*join)(void *self, ls_link *const ways[PARTITION_HALF_WAYS], ls_error *err);
    void (*receive[PARTITION_HALF_WAYS])(void *self, ls_link *link, const void *payload, ls_cycle now);
} partition_half_ops;

#endif

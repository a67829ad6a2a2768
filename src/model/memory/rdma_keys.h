/* rdma_keys.h: the keys rdma.at, rdma.cache and rdma.ways, which GPUs of both vendors have. */
#ifndef MODEL_MEMORY_RDMA_KEYS_H
#define MODEL_MEMORY_RDMA_KEYS_H

/* Whose misses go to other GPUs. */
typedef enum rdma_at { RDMA_AT_L1, RDMA_AT_MEMORY } rdma_at;

/* Which memory of other GPUs L2 keeps where the way to them is behind it. */
typedef enum rdma_cache {
    RDMA_NEVER,
    RDMA_READ_ONLY,   /* lines or sectors that are read; a write removes its own */
    RDMA_PARTITIONED, /* and those that are written */
} rdma_cache;

extern const char *const rdma_at_names[], *const rdma_cache_names[]; /* in the order of the enums, then NULL */

#endif

/* remote_l2.h: the part of a channel's L2 slices for memory of other GPUs, where the way to them is behind L2 (rdma.at:
 * memory). It has ways, queues and MSHRs of its own, so that requests that wait for other GPUs never hold up requests for
 * the own memory: two GPUs that use each other's memory cannot deadlock.
 *
 *   rdma.cache    reads            writes                                  atomics, system scope
 *   never         at the owner     at the owner                            at the owner
 *   read-only     kept             at the owner; the sector is forgotten   at the owner; the sector is forgotten
 *   partitioned   kept             kept, written back by a flush           at the owner, after a write-back
 *
 * A flush writes all dirty sectors back, waits for the owners' acknowledgements, forgets everything, and answers. It
 * happens at the end of each kernel and for each fence of system scope. */
#ifndef MODEL_GPU_REMOTE_L2_H
#define MODEL_GPU_REMOTE_L2_H

#include "lockstep/l2.h"
#include "model/memory/partition.h"
#include "model/memory/rdma_keys.h"

typedef struct remote_l2_spec {
    partition_spec l2; /* of the part: ways and write policy are its own */
    uint32_t cache;    /* rdma_cache */
} remote_l2_spec;

typedef struct remote_l2_counters {
    uint64_t requests, replies;
    uint64_t passed;                /* requests that were performed at the owner */
    uint64_t reads_out, writes_out; /* sectors of misses, and of write-backs */
    uint64_t atomics_out;
    uint64_t flushes, flush_cycles; /* flush_cycles: from the head of the queue to the answer */
    uint64_t forgotten;             /* flushes that had something to forget */
    uint64_t peer_stalls, output_stalls, in_flight_stalls; /* times */
    sector_cache_counters l2;
} remote_l2_counters;

typedef struct remote_l2_wiring {
    uint32_t channel;
    const ls_address_map *map; /* outlives the block */
    ls_port l2;                /* takes requests for the own memory */
    ls_link *const *to_core;   /* by requester: cores, then the way to other GPUs; ls_sector_message */
    uint32_t requester_count;
    uint32_t requests_max; /* that all links together can deliver before a buffer entry is released */
    ls_link *to_peer;      /* ls_sector_message, with the channel as `core` and the owner as `slice` */
    const ls_address_owners *owners;
} remote_l2_wiring;

/* The spec of the part: `whole` is that of the slices. */
remote_l2_spec remote_l2_part(const partition_spec *whole, uint32_t cache, uint64_t ways);
ls_status remote_l2_create(ls_region *region, const char *name, const remote_l2_spec *spec, ls_block **out,
                           ls_error *err);
ls_status remote_l2_attach(ls_block *block, const remote_l2_wiring *wiring, ls_error *err);
/* Receive functions of links; the receiver is the block's state. Requests for the own memory go on to L2. */
void remote_l2_receive(void *state, ls_link *link, const void *payload, ls_cycle now);
void remote_l2_receive_answer(void *state, ls_link *link, const void *payload, ls_cycle now);

#endif

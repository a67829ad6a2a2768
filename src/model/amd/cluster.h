/* cluster.h: where the orders of the command processor arrive: the block of each cluster of compute units
 * that hands work-groups to them, cancels kernels, and empties the cluster's caches. */
#ifndef MODEL_AMD_CLUSTER_H
#define MODEL_AMD_CLUSTER_H

#include "model/cu/cu_api.h"

typedef enum cluster_kind {
    CLUSTER_LAUNCH,
    CLUSTER_CANCEL,     /* launch.kernel says which */
    CLUSTER_INVALIDATE, /* answered with a cluster_ack when all caches have forgotten what they had */
    CLUSTER_FLUSH,      /* ... when all they had to write back is written to L2 */
} cluster_kind;

typedef struct cluster_order {
    uint32_t kind, tag; /* tag: comes back in the answer */
    cu_launch launch;
} cluster_order;

typedef struct cluster_ack {
    uint32_t cluster, tag;
} cluster_ack;

typedef struct cluster_wires {
    uint32_t number;
    ls_block *const *cus;
    uint32_t cu_count;
    ls_block *const *caches; /* to be emptied: vector, scalar, instruction */
    uint32_t cache_count;
    uint32_t caches_below; /* the level below the caches that is emptied before them; 0: none */
    ls_link *acks;         /* sends cluster_ack */
} cluster_wires;

ls_status cluster_create(ls_region *region, const char *name, ls_block **out, ls_error *err);
ls_status cluster_attach(ls_block *cluster, const cluster_wires *wires, ls_error *err);
/* Orders come in here; the payload is a cluster_order. */
void cluster_receive(void *state, ls_link *link, const void *payload, ls_cycle now);

#endif

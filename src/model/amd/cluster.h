/* cluster.h: where the orders of the command processor arrive: the block of each cluster of compute units
 * that hands work-groups to them, cancels kernels, and empties the cluster's caches. */
#ifndef MODEL_AMD_CLUSTER_H
#define MODEL_AMD_CLUSTER_H

#include "lockstep/command.h"
#include "model/amd_memory/line.h"

enum {
    CLUSTER_LAUNCH = LS_CLUSTER_LAUNCH,
    CLUSTER_CANCEL = LS_CLUSTER_CANCEL,
    CLUSTER_INVALIDATE = LS_CLUSTER_INVALIDATE,
    CLUSTER_FLUSH = LS_CLUSTER_FLUSH,
};
typedef ls_cluster_order cluster_order;
typedef ls_cluster_ack cluster_ack;

typedef struct cluster_wires {
    uint32_t number;
    const ls_port *cus; /* ls_cu_ops */
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

/* cluster.h: where the orders of the command processor arrive: the block of each cluster of compute units
 * that hands work-groups to them, cancels kernels, and empties the cluster's caches. */
#ifndef MODEL_AMD_CLUSTER_H
#define MODEL_AMD_CLUSTER_H

#include "lockstep/command.h"
#include "lockstep/line.h"

typedef struct cluster_wires {
    uint32_t number;
    const ls_port *cus; /* ls_cu_ops */
    uint32_t cu_count;
    ls_block *const *caches; /* to be emptied: vector, scalar, instruction */
    uint32_t cache_count;
    uint32_t caches_below; /* the level below the caches that is emptied before them; 0: none */
    bool flushes_only;     /* that level is flushed, but never emptied: an XCD's L2 */
    ls_link *acks;         /* sends ls_cluster_ack */
} cluster_wires;

ls_status cluster_create(ls_region *region, const char *name, ls_block **out, ls_error *err);
ls_status cluster_attach(ls_block *cluster, const cluster_wires *wires, ls_error *err);
/* Orders come in here; the payload is a ls_cluster_order. */
void cluster_receive(void *state, ls_link *link, const void *payload, ls_cycle now);

#endif

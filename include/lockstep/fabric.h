/* fabric.h: the slots `fabric`, `host` and `migrate` of machine `system`: the network between the GPUs of a system, the
 * host, and the pages that move between them.
 *
 * A model is a block type whose port table provides LS_FABRIC_PORT (LS_HOST_PORT, LS_MIGRATE_PORT). The system builds
 * all GPUs, then the host, then the migration, then the fabric. The type itself has neither state nor init: it creates blocks of its own. A model
 * without the port, such as `none`, adds nothing. */
#ifndef LOCKSTEP_FABRIC_H
#define LOCKSTEP_FABRIC_H

#include "lockstep/block.h"

#define LS_FABRIC_SLOT "fabric"
#define LS_FABRIC_PORT "fabric"
#define LS_FABRIC_INTERFACE "fabric/1"
#define LS_HOST_SLOT "host"
#define LS_HOST_PORT "host"
#define LS_HOST_INTERFACE "host/1"
#define LS_MIGRATE_SLOT "migrate"
#define LS_MIGRATE_PORT "migrate"
#define LS_MIGRATE_INTERFACE "migrate/1"

/* A GPU whose page walks go to the host adds its part of this name to the engine: such a system has a host. */
#define LS_HOST_WALKS_PART "walks.host"

/* The function table of these ports. `spec` is the model's section of the platform file; gpus: how many the system
 * has. */
typedef struct ls_fabric_ops {
    ls_status (*build)(ls_engine *engine, const void *spec, uint32_t gpus, ls_error *err);
} ls_fabric_ops;

#endif

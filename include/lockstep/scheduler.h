/* scheduler.h: warp schedulers: which of the warps (or waves) that can issue in a cycle goes first.
 *
 * A scheduler is a block of slot "core.scheduler" or "cu.scheduler" that provides the port "scheduler" of this
 * interface. Every core or compute unit has one, which serves all of its sub-cores or SIMDs. docs/add-a-block.md builds one from nothing. */
#ifndef LOCKSTEP_SCHEDULER_H
#define LOCKSTEP_SCHEDULER_H

#include "lockstep/block.h"

#define LS_SCHEDULER_SLOT "core.scheduler"    /* of a core of machine `gpu` */
#define LS_WAVE_SCHEDULER_SLOT "cu.scheduler" /* of a compute unit of machine `amd` */
#define LS_SCHEDULER_PORT "scheduler"
#define LS_SCHEDULER_INTERFACE "warp-scheduler/1"
#define LS_SCHEDULER_WARPS 32 /* most warps of a sub-core: bits of the masks below */

/* A sub-core in a cycle in which at least one of its warps can issue. */
typedef struct ls_scheduler_view {
    ls_cycle now;
    uint32_t sub_core;
    uint32_t last;       /* the warp that issued last; the highest one before any did */
    uint32_t ready;      /* warps that can issue now: never 0 */
    uint32_t resident;   /* warps that have work at all */
    uint32_t memory;     /* warps whose next instruction waits for data from memory */
    const uint32_t *age; /* per warp: the smaller, the longer it has been there; valid for resident ones */
} ls_scheduler_view;

typedef struct ls_scheduler_ops {
    /* One of the ready warps; anything else stops the simulation. It issues in this cycle. Called in cycles
     * with a choice to make (or just one ready warp), never for a sub-core that cannot issue. */
    uint32_t (*choose)(void *self, const ls_scheduler_view *view);
} ls_scheduler_ops;

#endif

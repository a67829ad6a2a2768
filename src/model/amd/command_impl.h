/* command_impl.h: the command processor's own structs, shared by command.c (packets, a kernel's way)
 * and command_distribute.c (work-groups to compute units). */
#ifndef MODEL_AMD_COMMAND_IMPL_H
#define MODEL_AMD_COMMAND_IMPL_H

#include "lockstep/command.h"
#include "lockstep/dma.h"
#include "model/amd/cluster.h"
#include "model/amd/place.h"
#include "model/policy/placement.h"

#define COMMAND_DISPATCHERS_MAX LS_CU_KERNELS
#define COMMAND_CUS_MAX 512u
#define COMMAND_WORDS (COMMAND_CUS_MAX / 64)

typedef struct command_spec {
    uint64_t dispatchers;
    uint64_t launch_cycles, finish_cycles;
    uint64_t group_cycles, wave_cycles;
    bool invalidate;
    placement_spec placement;
} command_spec;

typedef struct command_counters {
    uint64_t kernels, work_groups, wavefronts, transfers, faults;
    uint64_t kernel_cycles; /* summed over kernels */
    uint64_t busy_cycles;   /* with a kernel in a dispatcher */
    uint64_t dispatch_cycles;
    uint64_t blocked_groups, blocked_barriers, blocked_waves, blocked_vgprs, blocked_sgprs, blocked_lds;
    uint64_t concurrent_peak;
} command_counters;

typedef enum dispatcher_phase {
    DISPATCHER_FREE,
    DISPATCHER_PREPARE, /* waits > 0 or the launch's time is not over */
    DISPATCHER_DEAL,    /* work-groups are assigned, or run */
    DISPATCHER_FLUSH,   /* all are done; waits > 0: caches write back */
    DISPATCHER_FINISH,  /* the end's time is not over */
} dispatcher_phase;

typedef struct dispatcher {
    uint8_t phase;
    bool is_cancelled;
    ls_command_packet *packet;
    ls_cycle begin, ready; /* ready: when the phase's time is over */
    uint32_t waits;        /* answers that the launch or the flush waits for */
    uint32_t groups[3], next[3];
    uint64_t total, sent, done;
    place_need need;
    uint64_t full[COMMAND_WORDS];   /* compute units without room for the next work-group */
    uint64_t orders[COMMAND_WORDS]; /* clusters that an order must still be sent to */
    uint32_t order;                 /* cluster_kind of it */
    uint64_t *places;               /* of scratch: set bits are taken */
    uint64_t first_place;           /* word with the lowest free one */
    placement at;                   /* of its last work-group */
} dispatcher;

typedef struct command {
    ls_packets packets; /* first: its functions get the state */
    const command_spec *spec;
    const char *name;
    ls_region *region;
    ls_domain *domain;
    place_spec place;
    uint32_t clusters, cus_per_cluster, cu_count;
    uint64_t cu_tail; /* bits of the last word of a mask of compute units */
    uint32_t cu_words, cluster_words;
    ls_link **orders;
    ls_port dma;            /* ls_dma_ops */
    ls_cu_kernels *kernels; /* those in dispatchers, by dispatcher */
    bool flush;
    place_cu *cus;
    uint8_t (*owner)[PLACE_GROUPS_MAX]; /* which dispatcher's work-group a slot holds */
    uint32_t (*scratch)[PLACE_GROUPS_MAX];
    dispatcher *dispatchers;
    uint32_t active; /* dispatchers in use */
    uint32_t next_dispatcher, next_cu;
    ls_cycle next_distribution, busy_since;
    uint64_t place_words;
    ls_event pump;
    command_counters n;
} command;

/* packets.c: the resources that a work-group of the packet takes. */
place_need command_need_of(const place_spec *spec, const ls_command_packet *packet);

/* --- command_distribute.c --- */

/* Sends one work-group of one dispatcher, if the interval since the last one is over; dispatchers take turns.
 * *again: a link was not ready. */
void command_distribute(command *c, ls_cycle now, bool *again);
/* The place in the grid of the dispatcher's next work-group, of a launch of which not all run. */
void command_find_group(dispatcher *d);
/* Whether a dispatcher has a work-group and a compute unit that may have room for it. */
bool command_may_distribute(const command *c);

#endif

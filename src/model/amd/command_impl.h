/* command_impl.h: the command processor's own structs, shared by command.c (packets, a kernel's way),
 * command_distribute.c (work-groups to compute units), command_central.c (to those of all GPUs), command_grid.c
 * (cooperative launches) and command_state.c (saved state). */
#ifndef MODEL_AMD_COMMAND_IMPL_H
#define MODEL_AMD_COMMAND_IMPL_H

#include "lockstep/command.h"
#include "lockstep/timeline.h"
#include "lockstep/dma.h"
#include "lockstep/state.h"
#include "model/amd/central.h"
#include "model/amd/cluster.h"
#include "model/amd/place.h"
#include "model/policy/placement.h"

#define COMMAND_DISPATCHERS_MAX LS_CU_KERNELS
#define COMMAND_CUS_MAX 512u
#define COMMAND_WORDS (COMMAND_CUS_MAX / 64)
#define COMMAND_DIES_MAX 8u

typedef struct command_spec {
    uint64_t dispatchers;
    uint64_t launch_cycles, finish_cycles;
    uint64_t event_cycles; /* for programs that measure with events: see sim/program_job.c */
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

/* Of a launch that several GPUs have. */
typedef enum dispatcher_role {
    DISPATCHER_ALONE,
    DISPATCHER_LEADS,   /* it places work-groups on the compute units of all GPUs */
    DISPATCHER_FOLLOWS, /* its work-groups come from the first GPU; total is not known before CLOSE */
} dispatcher_role;

typedef struct dispatcher {
    uint8_t phase, role;
    bool is_cancelled;
    ls_command_packet *packet;
    ls_cycle begin, ready; /* ready: when the phase's time is over */
    uint32_t waits;        /* answers that the launch or the flush waits for */
    uint32_t groups[3], next[3];
    uint64_t total, sent, done;
    place_need need;
    uint64_t full[COMMAND_WORDS];        /* compute units without room for the next work-group */
    uint64_t barred[COMMAND_WORDS];      /* those that it may not use, which are always full */
    uint64_t orders[COMMAND_WORDS];      /* clusters that an order must still be sent to */
    uint32_t order;                      /* cluster_kind of it */
    uint64_t *places;                    /* of scratch: set bits are taken */
    uint64_t place_words;                /* of these */
    uint64_t first_place;                /* word with the lowest free one */
    placement at;                        /* of its last work-group */
    uint32_t turn;                       /* leads: the compute unit of all GPUs that is tried first */
    uint32_t closed;                     /* leads: members that know that no work-group follows */
    uint32_t leader_row;                 /* follows: the leader's dispatcher */
    uint32_t arrived;                    /* waves at the barrier of the grid */
    uint64_t die_sent[COMMAND_DIES_MAX]; /* with dies: work-groups of each; it has every dies-th one */
} dispatcher;

typedef struct command {
    ls_packets packets; /* first: its functions get the state */
    const command_spec *spec;
    const char *name;
    ls_region *region;
    ls_domain *domain;
    const ls_tap *tap;
    placement_rule placement;
    place_spec place;
    uint32_t clusters, cus_per_cluster, cu_count;
    uint64_t cu_tail; /* bits of the last word of a mask of compute units */
    uint32_t cu_words, cluster_words;
    uint32_t dies;                      /* 0: work-groups go to all compute units in turn */
    uint64_t (*die_cus)[COMMAND_WORDS]; /* by die: its compute units */
    ls_link **orders;
    ls_port dma;            /* ls_dma_ops */
    ls_cu_kernels *kernels; /* those in dispatchers, by dispatcher */
    bool flush;
    place_cu *cus;
    uint8_t (*owner)[PLACE_GROUPS_MAX]; /* which dispatcher's work-group a slot holds */
    uint32_t (*scratch)[PLACE_GROUPS_MAX];
    dispatcher *dispatchers;
    uint32_t active;    /* dispatchers in use */
    uint32_t together;  /* of them with a cooperative launch */
    uint32_t following; /* of them with DISPATCHER_FOLLOWS */
    central *central;   /* the connection with other GPUs; NULL: none */
    uint32_t next_dispatcher, next_cu;
    ls_cycle next_distribution;
    ls_cycle die_next[COMMAND_DIES_MAX];       /* by die: when it can take the next work-group, */
    uint32_t die_cu[COMMAND_DIES_MAX];         /* the compute unit that is tried first, */
    uint32_t die_dispatcher[COMMAND_DIES_MAX]; /* and the dispatcher */
    ls_cycle busy_since;
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
/* The result of sending the next work-group to a compute unit of this GPU. */
typedef enum command_sent { COMMAND_SENT, COMMAND_FULL, COMMAND_BUSY } command_sent;
command_sent command_try(command *c, dispatcher *d, uint32_t cu, const place_need *need);
/* The first compute unit, from `first` on, that the dispatcher has not found full; cu_count: none. */
uint32_t command_next_open(const command *c, const dispatcher *d, uint32_t first);
/* The waves of the next work-group, and its end: the dispatcher goes on to the one after it. */
uint32_t command_next_waves(const dispatcher *d);
void command_next_group(dispatcher *d);
void command_count_blocked(command *c, place_limit limit);
/* A free place of scratch, which is taken. */
uint32_t command_take_scratch(command *c, dispatcher *d);

/* --- command_dies.c: each die takes its share of a grid, at its own pace --- */

ls_status command_dies_attach(command *c, uint32_t dies, ls_error *err);
/* Sends to each die whose interval is over. */
void command_dies_distribute(command *c, ls_cycle now, bool *again);
/* When a die with work and room can take the next; LS_CYCLE_MAX: none can. */
ls_cycle command_dies_next(const command *c);

/* --- command.c --- */

/* The command processor looks at its dispatchers in that cycle or before. */
void command_pump_at(command *c, ls_cycle cycle);
/* An order for all clusters. */
void command_give_orders(command *c, dispatcher *d, uint32_t kind);
/* Ends the kernel's work-groups. */
void command_stop_kernel(command *c, dispatcher *d);
/* Whether all work-groups that were or will be sent have ended. */
bool command_is_over(const dispatcher *d);

/* --- command_grid.c --- */

/* Work-groups of a launch that have room at once on an empty GPU. */
uint64_t command_together(const void *self, const ls_command_packet *p);
/* The compute units that the launch may not use are full for its dispatcher. */
void command_grid_bar(command *c, dispatcher *d);
/* Refuses a launch on too few of them. */
ls_status command_grid_fit(const command *c, const ls_command_packet *p, ls_error *err);
bool command_grid_may_begin(const command *c, const ls_command_packet *p);
/* A wave has come to the barrier of its grid. */
void command_grid_arrive(command *c, dispatcher *d, const ls_cu_done *done, ls_cycle now);

/* --- command_state.c: the saved state --- */

#define COMMAND_ROW_COUNT 12u
extern const ls_state_row command_rows[COMMAND_ROW_COUNT];
extern const ls_state_ops command_state_ops;

/* --- command_central.c --- */

extern const central_user_ops command_central_ops;
/* Sends the next work-group of a dispatcher that leads to the next compute unit of all GPUs that has room; its waves, 0:
 * none has, or *again: a link was not ready. */
uint32_t command_send_anywhere(command *c, dispatcher *d, bool *again);
/* Whether a compute unit of any GPU may have room. */
bool command_any_open(const command *c, const dispatcher *d);
/* Tells members that no work-group follows; false if a link was not ready. */
bool command_close(command *c, dispatcher *d);
/* The role of a kernel that begins, and whether it may beside those that run: a GPU that follows has kernels of its own
 * only when it follows no more, as the leader knows nothing of their resources. */
dispatcher_role command_role(const command *c, const ls_command_packet *packet);
bool command_may_begin(const command *c);

#endif

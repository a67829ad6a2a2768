/* round_robin_impl.h: the state of the block scheduler, for round_robin*.c only. */
#ifndef MODEL_ROUND_ROBIN_IMPL_H
#define MODEL_ROUND_ROBIN_IMPL_H

#include "base/bitset.h"
#include "lockstep/state.h"
#include "lockstep/timeline.h"
#include "model/dispatch/dispatch.h"

#define KERNELS_MAX LS_CORE_KERNELS

/* Counted at ends, not at launches: the next kernel is launched before the last one's counters are read. */
typedef struct dispatch_counters {
    uint64_t kernels, ctas;
    uint64_t busy_cycles;   /* summed over kernels */
    uint64_t active_cycles; /* with a kernel launched, however many */
} dispatch_counters;

typedef struct kernel_state {
    ls_dispatch_kernel kernel;
    bool used, exhausted;
    bool looked;           /* the size of its clusters is known */
    uint32_t cluster_size; /* blocks; 1: there are no clusters */
    uint32_t cluster[3];   /* the same along the axes; 0: not known so far */
    bool all_read;
    uint64_t read;    /* blocks, from the workload */
    uint64_t no_room; /* for a cluster, while d->n.ctas + 1 is this */
    /* Kernels of one stream that overlap (round_robin_dependent.c). */
    uint64_t signalled; /* blocks that have let the next kernel start, or have ended */
    uint64_t after;     /* number of the kernel before it in its stream, while that runs; 0: none */
    bool depends;       /* it waits for that one itself (ACQBULK); else its blocks do */
    bool early;         /* it was launched before that one ended */
    uint32_t told;      /* cores that know that it has ended; from core_count on: all */
    uint64_t sent, done;
    uint32_t warps, registers, per_core;
    uint32_t cores; /* that it can keep busy */
    uint64_t shared_bytes;
    uint64_t number;     /* of the launch, from 1 */
    uint32_t rank;       /* by priority: lower ones first */
    uint32_t ahead;      /* blocks that wait at a core for others to end, at most */
    uint64_t run_cycles; /* of the blocks that are done */
    ls_cycle begin, ready, end;
} kernel_state;

typedef struct core_load {
    uint32_t warps, ctas;
    uint64_t registers, shared_bytes;
    uint16_t by_kernel[KERNELS_MAX];
    uint64_t full_for; /* number of a launch whose blocks find no room, as long as nothing leaves; 0: none */
} core_load;

typedef struct spare_cta {
    ls_cta cta;
    uint32_t block;         /* its row in the launch table */
    struct spare_cta *next; /* of the spare ones */
} spare_cta;

/* A block on a core or on its way, by its row in the launch table: saved states name blocks by it. */
typedef struct sent_block {
    uint64_t index; /* in its kernel */
    uint32_t kernel;
    uint32_t cluster; /* row of its cluster + 1; 0: none */
    bool used;
    bool signalled; /* it is among kernel_state.signalled */
} sent_block;

typedef struct dispatch {
    const dispatch_spec *spec;
    ls_region *region;
    ls_domain *domain;
    const ls_tap *tap;
    ls_dispatch_work work;
    dispatch_counters n;
    ls_core_capacity capacity;
    ls_link **to_core;
    core_load *loads;
    uint64_t *open; /* a bit for each core whose loads[].full_for is 0 */
    uint32_t core_count, next_core, link_latency;
    placement_rule placement_rule;
    placement place;        /* of the last block */
    uint64_t turn;          /* the next block may leave from here on, in cycles times block_interval.den */
    uint32_t refill_cycles; /* cores are sent blocks ahead, and start them so long after others; 0: not */
    kernel_state kernels[KERNELS_MAX];
    dispatch_counters ended[KERNELS_MAX]; /* by slot: of the last kernel that had it */
    uint32_t slots;                       /* none of kernels[] from here on is in use */
    uint32_t active;
    uint64_t launch_count;
    ls_dispatch_kernel waiting[KERNELS_MAX]; /* read ahead, wait for their streams; in the order of the list */
    uint32_t waiting_count;
    bool sorted;          /* blocks are sent in the order of priorities and launches */
    uint64_t *priorities; /* streams, the highest priority first */
    uint32_t priority_count;
    uint32_t order[KERNELS_MAX]; /* the slots in use in the order of sending, if sorted */
    bool end;
    uint64_t ended_count;            /* kernels */
    ls_cycle last_end, active_since; /* active_since: until here active_cycles are counted */
    ls_launch_table *launches;
    spare_cta **made; /* all of them, by block; a run that fails or is interrupted leaves some on the cores */
    sent_block *sent; /* beside them */
    uint32_t made_count;
    spare_cta *spare;
    /* Clusters; 0 gpcs: there are none. */
    uint32_t gpcs, tpc_cores, cluster_rows;
    ls_launch_cluster *clusters; /* rows of the launch table */
    uint32_t *cluster_left;      /* beside them: blocks that have not ended */
    uint32_t *held;              /* rows of blocks that have been read and not sent, in their order */
    uint32_t held_count;
    uint32_t next_gpc, cluster_number;
    ls_event pump;
    ls_error failure;
} dispatch;

/* round_robin.c: memory for a thread block, with its row in the launch table; NULL: there is none left. */
spare_cta *dispatch_take_cta(dispatch *d);

/* The next block of a kernel from the workload; NULL at its end, and for a failure. */
spare_cta *dispatch_read(dispatch *d, uint32_t slot);
bool dispatch_has_room(const dispatch *d, const core_load *load, const kernel_state *k, uint32_t slot);
void dispatch_add_load(core_load *load, const kernel_state *k, uint32_t slot);
void dispatch_take_load(core_load *load, const kernel_state *k, uint32_t slot);
void dispatch_fail(dispatch *d, const char *fmt, ...) LS_PRINTF(2, 3);

bool dispatch_is_spread(const dispatch_spec *spec);
void dispatch_pump(void *self, ls_cycle now);
/* ls_dispatch_ops */
void dispatch_receive(void *state, ls_link *link, const void *payload, ls_cycle now);
void dispatch_start(void *state, const ls_dispatch_work *work);
void dispatch_resume(void *state, ls_cycle now);
void dispatch_progress(const void *state, ls_dispatch_progress *out);
bool dispatch_take_kernel(void *state, uint32_t slot, void *counters, size_t bytes);

/* round_robin_cluster.c */
bool dispatch_find_clusters(dispatch *d, uint32_t slot); /* false: the kernel cannot run */
bool dispatch_send_cluster(dispatch *d, uint32_t slot);  /* all blocks of one, or false */
void dispatch_end_cluster(dispatch *d, uint32_t row);    /* sent_block.cluster of a block that has ended */

/* round_robin_dependent.c */
/* The kernel that one of this stream would follow now; NULL: there is none. *busy: it has to wait for it. */
kernel_state *dispatch_stream_before(dispatch *d, uint64_t stream, bool *busy);
/* The kernel has been launched before another of its stream ended. False: nothing can be read. */
void dispatch_begin_after(dispatch *d, kernel_state *k, const kernel_state *before);
bool dispatch_look_at_dependent(dispatch *d,
                                uint32_t slot);           /* before its first block; false: it has to wait */
void dispatch_block_signals(dispatch *d, uint32_t block); /* that, or its end */
void dispatch_end_dependence(dispatch *d, const kernel_state *ended);
bool dispatch_tell_cores(dispatch *d); /* true: some are still to be told */

/* round_robin_state.c: the state table of the block. */
#define DISPATCH_ROWS 27
extern const ls_state_row dispatch_rows[DISPATCH_ROWS];

#endif

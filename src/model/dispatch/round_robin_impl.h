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
    bool used;
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
    ls_event pump;
    ls_error failure;
} dispatch;

/* round_robin.c: memory for a thread block, with its row in the launch table; NULL: there is none left. */
spare_cta *dispatch_take_cta(dispatch *d);

/* round_robin_state.c: the state table of the block. */
#define DISPATCH_ROWS 22
extern const ls_state_row dispatch_rows[DISPATCH_ROWS];

#endif

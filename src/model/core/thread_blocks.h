/* thread_blocks.h: the state of a core's thread blocks: which are resident, the warp slots they have taken, blocks that
 * were sent ahead, and ends on their way to the dispatcher. Changed by cta.c and ahead.c; flow_warp.c counts arrivals
 * at barriers. Included by core.h only. */
#ifndef MODEL_CORE_THREAD_BLOCKS_H
#define MODEL_CORE_THREAD_BLOCKS_H

/* A resident thread block. Its warps have slots side by side. */
#define CORE_NAMED 16u /* barriers of a thread block */

typedef struct cta_state {
    bool used;
    core_launch launch;
    ls_cycle start;
    uint16_t first_warp, warp_count, warps_left;
    uint16_t at_barrier; /* warps that have arrived */
    /* Named barriers, by their number. */
    uint16_t named_used;            /* a bit for each that warps have arrived at */
    uint8_t named[CORE_NAMED];      /* arrivals */
    uint8_t named_need[CORE_NAMED]; /* of so many; 0: of all warps that are left */
    ls_cycle named_at[CORE_NAMED];  /* the last arrival */
    bool signalled;                 /* the next kernel of the stream may start (PREEXIT) */
} cta_state;

/* Thread blocks that were sent before there was room for them (ahead.c). */
typedef struct ahead_due {
    ls_cycle start;
    core_launch launch;
} ahead_due;

typedef struct core_ahead {
    core_launch waiting[LS_CORE_BLOCKS_AT]; /* ring: arrived before there was room */
    uint32_t head, tail;
    ahead_due due[CORE_CTAS_MAX]; /* in the order of their starts: they have a place */
    uint32_t due_count;
    uint16_t places[LS_CORE_KERNELS]; /* by kernel: blocks that are here or due */
    ls_cycle ends[CORE_CTAS_MAX];     /* ring: of blocks of ended_kernel that none has followed yet */
    uint32_t end_head, end_tail, ended_kernel;
    uint32_t kernel, most; /* of the last that arrived, and its places */
    uint32_t delay;        /* cycles from the end of a block to the start of the next one in its place */
    ls_event event;        /* of the first that is due */
} core_ahead;

typedef struct thread_blocks {
    cta_state at[CORE_CTAS_MAX];
    uint32_t resident;      /* how many of them are used */
    uint32_t warps;         /* resident ones, of all blocks */
    uint32_t warps_started; /* since the start of the run: the age of the next */
    uint64_t taken_warps;   /* slots of resident blocks, a bit each; of warps that have ended as well */
    ls_cycle last_start;    /* of a block */
    ls_cycle start_free;    /* the first cycle in which a warp may start */
    struct {
        uint32_t number;     /* of the launch, from 1 */
        ls_cycle until;      /* its instructions are not there before */
    } cold[LS_CORE_KERNELS]; /* by core_launch.kernel */
    core_ahead *ahead;       /* NULL: blocks come when there is room */

    /* from and to the dispatcher */
    const ls_launch_table *launches;
    ls_link *to_dispatch;
    index_ring done_ring; /* ends that wait for the link */
    ls_core_done done[CORE_CTAS_MAX * 2];
    ls_event done_event;
    bool done_waiting; /* for the link */
} thread_blocks;

#endif

/* tma.h: the engine of bulk copies of a core (TMA). State of tma.c, part of core_async (async.h). Included by async.h
 * only.
 *
 *   warp -> queue -> set-up (descriptor, dimensions) -> addresses, one copy after the other -> requests past L1
 *   answers of L2 -> shared memory (its port) -> bytes on the mbarrier, or the end of a group of stores
 *
 * The engine has a queue, a limit of sectors under way and a rate of its own. It shares the core's port to the network and
 * the port of shared memory with the load/store unit. */
#ifndef MODEL_CORE_TMA_H
#define MODEL_CORE_TMA_H

#define TMA_OPS 256u  /* copies under way: those of the queue, and one more of each warp */
#define TMA_GROUPS 8u /* groups of stores of a warp, told apart; a power of two */
#define TMA_AHEAD 8u  /* the engine adds requests while the core's queue to the network has fewer */
#define TMA_BURST                                                                                             \
    4u /* requests for lines that are made at once; then the engine rests for as long as they take */
#define TMA_ONE_SHIFT 16 /* rates are in 1 / 65536 cycles */

typedef enum tma_group_wait { TMA_WAIT_COMPLETE, TMA_WAIT_READ } tma_group_wait;

typedef struct tma_spec {
    uint64_t queue;             /* copies from issue to their end */
    uint64_t setup_cycles;      /* from issue to the first request */
    uint64_t descriptor_cycles; /* more for a tensor */
    uint64_t dimension_cycles;  /* more for each dimension of a tensor after the first */
    uint64_t bytes_per_cycle;   /* addresses are made for so many */
    uint64_t sectors;           /* requests under way */
    uint32_t group_wait;        /* tma_group_wait */
} tma_spec;

typedef struct tma_counters {
    uint64_t loads, stores, reductions, prefetches;
    uint64_t bytes;                       /* of copies, including bytes outside of tensors */
    uint64_t outside_bytes;               /* of tensors */
    uint64_t sectors;                     /* that were asked for or written */
    uint64_t lost_addresses;              /* copies whose global address the trace does not have */
    uint64_t multicasts, delivered_bytes; /* to blocks of the cluster */
    uint64_t held;                        /* times that a full queue held a warp up */
    uint64_t port_wait_cycles;            /* of accesses to shared memory behind its bytes */
    ls_histogram latency;                 /* of copies, from issue to their end */
} tma_counters;

/* A copy from its issue to its end. */
typedef struct tma_op {
    uint64_t place;         /* LS_BULK_WORD_PLACE */
    uint64_t move;          /* to be added to its addresses; the one that was made up if they are lost */
    uint64_t bytes;         /* of the whole copy */
    ls_cycle issued, ready; /* ready: addresses can be made */
    uint32_t first;         /* of its addresses, among those of its warp's block */
    uint32_t count, width;  /* transfers; bytes of each */
    uint32_t index, offset; /* the next: transfer, byte in it */
    uint32_t out;           /* requests without an answer */
    uint8_t kind;           /* ls_bulk_op */
    uint8_t warp, group;
    bool used, made; /* made: all requests have been */
    bool multicast;
    bool lost;  /* the trace does not have its addresses: it has one transfer */
    bool whole; /* each transfer is of whole sectors in one line, and in another one than the next */
} tma_op;

typedef struct tma_warp {
    uint8_t open, wait; /* number of the group that is filled; a wait is for those before `wait` */
    bool committed;     /* the last group of the warp is one of bulk stores, not of asynchronous copies */
    bool waits;
    uint16_t pending[TMA_GROUPS];
} tma_warp;

typedef struct tma {
    tma_op ops[TMA_OPS];
    uint16_t order[TMA_OPS]; /* ring: copies whose addresses are still to be made */
    uint32_t head, tail;
    uint32_t used, sectors; /* copies; sectors under way */
    uint32_t step, burst;   /* sectors of one request, and requests made at once, at most */
    uint32_t most;          /* sectors under way with which one more request may be made */
    /* Channels of the core's half of L2, if it has halves; requests for others move by far_shift into it. */
    uint32_t near_first, near_count, far_shift;
    uint32_t next_free;  /* where the search for a free entry begins */
    uint64_t rate_free;  /* the next address is made then, in 1 / 65536 cycles */
    uint64_t in_free;    /* the port from the network is taken until then, likewise */
    uint64_t port_free;  /* the port of shared memory is taken until then, likewise */
    uint64_t port_taken; /* so long the port has been taken since the start, likewise */
    uint32_t sector_cost, in_cost, port_cost;
    uint8_t held[64]; /* ring: warps whose copy found the queue full */
    uint32_t held_head, held_tail;
    uint32_t lost; /* addresses made up so far */
    tma_warp warps[64];
} tma;

#endif

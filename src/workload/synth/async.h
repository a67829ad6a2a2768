/* async.h: rows and executions of Hopper's asynchronous machine, shared by the generators that use it: mbarriers, bulk
 * copies, warp-group matrix instructions, and rings of stages between a producer and its consumers. */
#ifndef SYNTH_ASYNC_H
#define SYNTH_ASYNC_H

#include "workload/synth/kind.h"

#define SYNTH_GROUP_WARPS 4u /* of a warp group */
#define SYNTH_BOX_BYTES 128u /* of a row of a box: the widest swizzle, and of one transfer */
#define SYNTH_MBARRIER_BYTES 8u
#define SYNTH_SHARED_MOST 232448u /* bytes of shared memory that a block may have */
#define SYNTH_RANK_SHIFT                                                                                      \
    24 /* an address of shared memory has the block's rank in its cluster above these bits */

/* --------------------------------------------------------------------------------------------------- rows */

/* Operations on mbarriers. They have values: the address, and an operand where the name says so. */
uint32_t synth_row_init(synth_program *p);
uint32_t synth_row_expect(synth_program *p); /* arrive, and expect bytes */
/* One arrival of each lane; `remote`: also at blocks of the cluster. */
uint32_t synth_row_arrive(synth_program *p, bool remote);
/* try_wait and the branch back to it, which nobody takes: two rows. */
uint32_t synth_row_wait(synth_program *p);
#define SYNTH_WAIT_ROWS 2u
/* A named barrier of some warps. */
uint32_t synth_row_barrier(synth_program *p, uint32_t id, uint32_t warps);
/* The same with its number in a register; `arrive`: without waiting. */
uint32_t synth_row_named(synth_program *p, uint32_t warps, bool arrive);
/* Both halves of the barrier of a cluster, or the block's barrier without one: two rows or one. */
uint32_t synth_rows_cluster_barrier(synth_program *p, bool cluster);

/* Semaphores in global memory, whose values the trace says (lockstep/stream.h). */
typedef enum synth_semaphore_op {
    SYNTH_SEMAPHORE_WAIT, /* a load that ends when the value is at least the operand */
    SYNTH_SEMAPHORE_ADD,
    SYNTH_SEMAPHORE_SET
} synth_semaphore_op;
uint32_t synth_row_semaphore(synth_program *p, synth_semaphore_op op);

/* Element types of matrix products. */
typedef enum synth_element { SYNTH_FP16, SYNTH_BF16, SYNTH_TF32, SYNTH_FP8, SYNTH_INT8 } synth_element;
extern const char *const synth_element_names[];
uint32_t synth_element_bytes(uint32_t type);
/* A product of 64 * n with 32 bytes of k. `a`: first register of A, or 0 if it is in shared memory. */
void synth_row_product(synth_program *p, uint32_t type, uint32_t n, unsigned sums, unsigned a, bool commit);

/* --------------------------------------------------------------------------------------------- executions */

/* Initialises the mbarrier at `address` for so many arrivals, by lane 0. */
void synth_mbarrier_init(synth_warp *w, uint32_t row, uint64_t address, uint32_t arrivals);
/* One operation with an operand on one mbarrier, by the lanes of the mask. */
void synth_mbarrier_value(synth_warp *w, uint32_t row, uint64_t address, uint64_t operand);
/* One arrival of each lane of the mask. */
void synth_mbarrier_arrive(synth_warp *w, uint32_t row, const uint64_t addresses[SYNTH_WARP]);
/* The rows of synth_row_wait(): waits for the end of the phase with this parity. */
void synth_mbarrier_wait(synth_warp *w, uint32_t row, uint64_t address, uint32_t parity);

/* The row of synth_row_named(). */
void synth_named_barrier(synth_warp *w, uint32_t row, uint32_t id);

/* The row of synth_row_semaphore(), by lane 0. */
void synth_semaphore(synth_warp *w, uint32_t row, uint64_t address, uint64_t operand);

/* A box of a matrix in global memory: `rows` rows of SYNTH_BOX_BYTES, `pitch` bytes apart. */
typedef struct synth_box {
    uint64_t base, pitch;
    uint32_t rows; /* at most SYNTH_BOX_ROWS */
} synth_box;
#define SYNTH_BOX_ROWS 256u
/* A bulk copy of a box by lane 0. mbarrier: 0 for stores. blocks: mask of blocks of a multicast, or 0. */
void synth_bulk(synth_warp *w, uint32_t row, const synth_box *box, uint64_t mbarrier, uint32_t blocks);

/* -------------------------------------------------------------------------------------------------- rings */

/* Stages with a full and an empty mbarrier each, at the beginning of shared memory. */
typedef struct synth_ring {
    uint32_t stages;
    uint64_t at;   /* address of the first mbarrier: those of full stages, then those of empty ones */
    uint64_t rank; /* of the block, above SYNTH_RANK_SHIFT */
} synth_ring;

static inline uint64_t synth_ring_full(const synth_ring *r, uint64_t step)
{
    return r->rank | (r->at + step % r->stages * SYNTH_MBARRIER_BYTES);
}
static inline uint64_t synth_ring_empty(const synth_ring *r, uint64_t step)
{
    return r->rank | (r->at + (r->stages + step % r->stages) * SYNTH_MBARRIER_BYTES);
}
/* The phase in which a step's stage is filled. */
static inline uint32_t synth_ring_parity(const synth_ring *r, uint64_t step)
{
    return (uint32_t)(step / r->stages & 1);
}
static inline uint64_t synth_ring_bytes(uint32_t stages)
{
    return 2u * stages * SYNTH_MBARRIER_BYTES;
}

#endif

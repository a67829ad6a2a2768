/* hopper_gemm.h: the generator gemm-hopper: parameters, shape and program marks, for hopper_gemm.c (the program) and
 * hopper_gemm_run.c (its warps). */
#ifndef SYNTH_HOPPER_GEMM_H
#define SYNTH_HOPPER_GEMM_H

#include "workload/synth/async.h"

#define PART 64u     /* rows of a matrix instruction, and columns of one bulk store */
#define OUT_BYTES 2u /* of an element of D */
#define STORE_BUFFERS 2u
#define STORE_BYTES (PART * SYNTH_BOX_BYTES)
#define PRODUCER_WARPS SYNTH_GROUP_WARPS
#define SUMS 24u /* the first register of the sums */
#define PACKS (PART / 4)
#define ROW_STORES 4u

typedef struct hopper_spec {
    synth_common common;
    uint64_t m, n, k, tile_m, tile_n, stages, consumers, cluster_m, cluster_n, blocks_m, blocks_n, splits,
        stream_blocks;
    uint32_t type;
    bool multicast;
} hopper_spec;

/* ------------------------------------------------------------------------------------------------- shape */

static inline uint64_t tiles_m(const hopper_spec *s)
{
    return s->m / s->tile_m;
}
static inline uint64_t tiles_n(const hopper_spec *s)
{
    return s->n / s->tile_n;
}
static inline uint64_t blocks_m(const hopper_spec *s)
{
    return s->blocks_m ? s->blocks_m : tiles_m(s);
}
static inline uint64_t blocks_n(const hopper_spec *s)
{
    return s->blocks_n ? s->blocks_n : tiles_n(s);
}
static inline uint64_t steps(const hopper_spec *s)
{
    return s->k * synth_element_bytes(s->type) / SYNTH_BOX_BYTES;
}
static inline uint64_t row_bytes(const hopper_spec *s)
{
    return s->k * synth_element_bytes(s->type);
}
/* Registers per thread after the launch's have been given out again: those of an SM are enough for the warp group of the
 * producer and all consumers. The values are those of CUTLASS and of FlashAttention-3. */
static inline uint32_t producer_registers(const hopper_spec *s)
{
    return s->consumers == 3 ? 32 : 40;
}
static inline uint32_t consumer_registers(const hopper_spec *s)
{
    return s->consumers == 3 ? 160 : 232;
}
static inline uint32_t sums_most(const hopper_spec *s) /* registers that the sums may have */
{
    return consumer_registers(s) - SUMS - PACKS;
}
static inline bool in_cluster(const hopper_spec *s)
{
    return s->cluster_m * s->cluster_n > 1;
}
static inline uint32_t shared_m(const hopper_spec *s) /* blocks that share B */
{
    return s->multicast ? (uint32_t)s->cluster_m : 1;
}
static inline uint32_t shared_n(const hopper_spec *s) /* blocks that share A */
{
    return s->multicast ? (uint32_t)s->cluster_n : 1;
}
/* Blocks whose stages a block's consumers free. */
static inline uint32_t partners(const hopper_spec *s)
{
    return shared_m(s) + shared_n(s) - 1;
}
static inline uint32_t m_parts(const hopper_spec *s) /* of a consumer */
{
    return (uint32_t)(s->tile_m / PART / s->consumers);
}
static inline uint32_t n_parts(const hopper_spec *s)
{
    return (uint32_t)(s->tile_n / PART);
}
static inline uint64_t stage_bytes(const hopper_spec *s)
{
    return (s->tile_m + s->tile_n) * SYNTH_BOX_BYTES;
}
/* Stages, then buffers of results, then mbarriers. */
static inline uint64_t store_at(const hopper_spec *s, uint64_t consumer, uint64_t number)
{
    return s->stages * stage_bytes(s) + (consumer * STORE_BUFFERS + number % STORE_BUFFERS) * STORE_BYTES;
}
static inline uint64_t shared_bytes(const hopper_spec *s)
{
    return store_at(s, s->consumers, 0) + synth_ring_bytes((uint32_t)s->stages);
}

/* ----------------------------------------------------------------------------------------------- program */

enum {
    G_INIT,     /* descriptors and mbarriers, by the first warp */
    G_SYNC,     /* the block's or cluster's barrier */
    G_PRODUCER, /* registers go to the consumers */
    G_P_TILE,   /* the next tile */
    G_P_STEP,   /* a stage */
    G_P_NEXT,   /* more tiles? */
    G_P_TAIL,   /* waits until all stages are free: no block leaves before those that write into it */
    G_P_EXIT,
    G_CONSUMER,
    G_C_TILE,
    G_C_FIRST, /* the first step of a tile */
    G_C_STEP,  /* any other; frees the one before */
    G_C_LAST,  /* frees the last */
    G_C_ADD,   /* waits for a partial result and adds it */
    G_C_PUT,   /* stores a partial result and tells it */
    G_C_STORE, /* results */
    G_C_RESET, /* sets a semaphore back */
    G_C_NEXT,
    G_C_EXIT,
    G_END
};

#define STEP_ROWS 5u /* rows that go on to the next stage, with the branch back */
#define TILE_ROWS 4u
#define NEXT_ROWS 3u
#define COPY_ROWS 2u                                       /* of addresses, before a copy */
#define PART_ROWS (1u + 1u + PACKS + ROW_STORES + 2u + 2u) /* of one store of results */

#define FREE_ROWS 2u
#define ALL_CONSUMERS 8u /* the barrier of all consumers */
/* Rows that add or store a partial result of a thread: 16 bytes each. */
static inline uint32_t partial_moves(const hopper_spec *s)
{
    return m_parts(s) * (uint32_t)s->tile_n / 8;
}
static inline uint32_t product_row_count(const hopper_spec *s)
{
    return SYNTH_WAIT_ROWS + 1 + SYNTH_BOX_BYTES / 32 * m_parts(s) * 2;
}

/* -------------------------------------------------------------------------------------------------- work */

/* A part of a tile that one block makes: steps [first, first + count) of k. */
typedef struct hopper_work {
    uint64_t tile_m, tile_n, first, count;
    /* Partial results to add first: of slots [slot, slot + adds), one after the other (stream-K), or of slot alone when
     * its semaphore has reached `value` (split-K). */
    uint64_t slot, adds, value;
    bool puts; /* its result is partial, and goes to put_slot */
    uint64_t put_slot;
    bool resets; /* sets the semaphores that it waited for back */
} hopper_work;

/* Work number i of the block at `id`; false after its last. */
bool hopper_work_of(const hopper_spec *s, const uint32_t id[3], uint64_t i, hopper_work *out);
void hopper_warp(const void *spec, uint32_t launch, synth_warp *w);

#endif

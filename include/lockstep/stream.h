/* stream.h: executed instructions: the thread blocks of a kernel as a core replays them. Filled by a
 * workload, consumed by a core; neither knows the other. */
#ifndef LOCKSTEP_STREAM_H
#define LOCKSTEP_STREAM_H

#include "lockstep/inst.h"
#include "lockstep/version.h"

#include <stdbool.h>
#include <stddef.h>

/* ------------------------------------------------------------------------------------ one thread block */

/* One executed instruction of a warp. */
typedef struct ls_dyn {
    uint32_t inst; /* index into the static instructions of the kernel */
    uint32_t mask; /* active lanes; 0 happens */
    uint32_t addr; /* offset into the addresses << 2 | ls_addr_mode, or LS_ADDR_NONE */
} ls_dyn;

#define LS_ADDR_NONE UINT32_MAX

typedef enum ls_addr_mode {
    LS_ADDR_LIST = 0,   /* one word per active lane, in lane order */
    LS_ADDR_STRIDE = 1, /* two words: address of the first active lane, signed stride to the next */
    LS_ADDR_DELTA = 2,  /* in the file as base and differences; the words are those of LS_ADDR_LIST */
    LS_ADDR_RECORD = 3, /* a record: operands that lanes' addresses alone cannot say */
} ls_addr_mode;

/* A record of an execution, in ls_cta.addrs. Its first word: kind in bits 0-7, format in bits 8-15, details in
 * bits 16-31, number of words with this one in bits 32-63. */
typedef enum ls_record_kind {
    LS_RECORD_BULK = 1,     /* bulk copy: LS_BULK_WORD_* */
    LS_RECORD_MBARRIER = 2, /* addresses as their ls_addr_mode (format) has them, then operands: one for all
                             * lanes, or one for each active lane (details: how many). Of an operation on an mbarrier, or
                             * on a semaphore: see below */
    LS_RECORD_BARRIER = 3,  /* the id of the barrier, from a register */
} ls_record_kind;

/* A semaphore is a counter in global memory that blocks wait for. Traces have no values of loads, so its operations say
 * theirs: a load, store or reduction of one lane with such a record. L2 keeps the value, which is 0 at first. A load ends
 * when the value is at least its operand, a reduction adds its operand, a store sets the value. No other datum may be in the
 * sector of 32 bytes. */

/* The words of a bulk copy. Its format is that of the trace: 3 a list, 4 a base and differences. Details: bit 0
 * multicast, bits 8-15 the digits that addresses have in the text. */
enum {
    LS_BULK_WORD_PLACE = 1, /* address of the mbarrier, mask of blocks of the cluster from bit 32 on */
    LS_BULK_WORD_BYTES,     /* of the whole copy */
    LS_BULK_WORD_OUTSIDE,   /* bytes outside of the tensor, which have no addresses */
    LS_BULK_WORD_COUNT,     /* transfers, as the tracer counted them; fewer may have addresses */
    LS_BULK_WORD_ADDRESSES, /* from here on: global addresses, one per transfer */
};

static inline uint64_t ls_record_head(ls_record_kind kind, uint32_t format, uint32_t details, uint64_t words)
{
    return (uint64_t)kind | (uint64_t)format << 8 | (uint64_t)details << 16 | words << 32;
}
static inline ls_record_kind ls_record_kind_of(uint64_t head)
{
    return (ls_record_kind)(head & 0xff);
}
static inline uint32_t ls_record_format(uint64_t head)
{
    return (uint32_t)(head >> 8 & 0xff);
}
static inline uint32_t ls_record_details(uint64_t head)
{
    return (uint32_t)(head >> 16 & 0xffff);
}
static inline uint32_t ls_record_words(uint64_t head)
{
    return (uint32_t)(head >> 32);
}

typedef struct ls_warp_stream {
    uint32_t first, count; /* in ls_cta.dyns; count 0: the warp is missing or executed nothing */
} ls_warp_stream;

/* Owned by the caller; all zero is valid. Each read fills it again and keeps its memory. */
typedef struct ls_cta {
    uint32_t id[3];
    uint64_t index; /* position in the kernel, from 0 */
    uint32_t warp_count;
    ls_warp_stream *warps;
    ls_dyn *dyns;
    uint64_t dyn_count;
    uint64_t *addrs;
    uint64_t addr_count;
    size_t warp_capacity, dyn_capacity, addr_capacity, move_capacity;
    /* A block whose warps, dyns and addrs these are, and which outlives them; NULL: they are its own. */
    const struct ls_cta *like;
    /* For each static instruction, what is to be added to its addresses; NULL: nothing. Only of a block that
     * is like another. */
    uint64_t *moves;
    /* Data that is needed only to write the block again (ls_cta_values of workload/sink.h), or NULL. Belongs
     * to the kernel and is valid until its next read. */
    const void *extra;
    /* Where it is in a cluster, if the trace says so. */
    bool in_cluster;
    uint32_t cluster[3];     /* id of the cluster */
    uint32_t cluster_cta[3]; /* position in it */
    uint32_t cluster_rank;   /* the same as one number */
} ls_cta;

LS_API void ls_cta_fini(ls_cta *cta);
/* Lies between the words of an instruction and its addresses. */
static inline uint64_t ls_cta_move(const ls_cta *cta, const ls_dyn *dyn)
{
    return cta->moves == NULL ? 0 : cta->moves[dyn->inst];
}

/* Expands the addresses of one instruction: out[lane] for every set bit of the mask. */
LS_API void ls_cta_addresses(const ls_cta *cta, const ls_dyn *dyn, uint64_t out[32]);

/* The record of an execution, or NULL. */
static inline const uint64_t *ls_cta_record(const ls_cta *cta, const ls_dyn *dyn)
{
    return dyn->addr == LS_ADDR_NONE || (dyn->addr & 3) != LS_ADDR_RECORD ? NULL
                                                                          : cta->addrs + (dyn->addr >> 2);
}
/* Words of an execution's addresses or record in ls_cta.addrs. */
static inline uint32_t ls_cta_words(const ls_cta *cta, const ls_dyn *dyn)
{
    return dyn->addr == LS_ADDR_NONE           ? 0
           : (dyn->addr & 3) == LS_ADDR_RECORD ? ls_record_words(cta->addrs[dyn->addr >> 2])
           : (dyn->addr & 3) == LS_ADDR_STRIDE ? 2
                                               : (uint32_t)__builtin_popcount(dyn->mask);
}
/* The global addresses of a bulk copy and their number, to which ls_cta_move() is to be added. Those that the tracer
 * lost are left out: a base of 0 that stands alone. */
LS_API const uint64_t *ls_cta_bulk_addresses(const uint64_t *record, uint32_t *count);
/* The operand of a lane of an mbarrier operation; false if the trace does not have it. */
LS_API bool ls_cta_operand(const uint64_t *record, uint32_t mask, uint32_t lane, uint64_t *out);

/* ------------------------------------------------------------------------------------------ one kernel */

typedef struct ls_kernel_info {
    char *name;
    uint64_t id;
    uint32_t grid[3], block[3];
    uint64_t shared_bytes;
    uint32_t registers;
    uint32_t binary_version; /* 35, 60, 61, 70, 75, 80, 86, 89, 90, 100, 120 */
    uint64_t stream;
    uint64_t shared_base, local_base;
    uint32_t tracer_version;
    bool line_info;
    const char *file;    /* for messages */
    uint32_t cluster[3]; /* blocks of a cluster; 0: not known before blocks are read */
    bool cooperative;    /* all blocks must be resident at once; traces do not say so */
} ls_kernel_info;

static inline uint64_t ls_kernel_cta_count(const ls_kernel_info *info)
{
    return (uint64_t)info->grid[0] * info->grid[1] * info->grid[2];
}
static inline uint32_t ls_kernel_threads(const ls_kernel_info *info)
{
    return info->block[0] * info->block[1] * info->block[2];
}
/* Where a generic address points: CUDA gives shared and local memory a window of 16 MiB each. From Hopper on each of the up to
 * 16 blocks of a cluster has one, one behind the other. (Accel-Sim has another rule: shared from shared_base up to
 * local_base, local for 16 KiB from there.) */
static inline ls_mem_space ls_kernel_space(const ls_kernel_info *info, uint64_t address)
{
    const uint64_t window = 16u << 20, shared = info->binary_version >= 90 ? 16 * window : window;
    if (info->local_base && address - info->local_base < window)
        return LS_SPACE_LOCAL;
    if (info->shared_base && address - info->shared_base < shared)
        return LS_SPACE_SHARED;
    return LS_SPACE_GLOBAL;
}
static inline uint32_t ls_kernel_warps(const ls_kernel_info *info) /* per thread block */
{
    return (ls_kernel_threads(info) + 31) / 32;
}

#endif

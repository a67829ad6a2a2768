/* policy.h: policies that a plug-in can bring to blocks of both vendors.
 *
 * A policy is a block type of one of the slots below whose one port has that slot's table. A block uses it when its
 * key has the type's name: `l2.replacement: my-policy`. No block is created: the block that has the key holds the
 * policy's state and calls the table. Built-in policies are called directly.
 *
 *   slot            key                                             decides
 *   replacement     `replacement` of any cache                      which line goes
 *   prefetch        `prefetch` of any cache                         which lines are fetched ahead
 *   hash            `hash` of any cache                             which set a line belongs to
 *   dram.scheduler  `dram.scheduler` of model `bank`                which waiting request its bank serves next
 *   placement       `dispatch.placement`, `command.placement`       which core gets the next work-group
 *
 * State is plain data without pointers: it is saved with the block. It is zero at first. Every function of a table is
 * required. A policy that leaves one out is refused by name before the run; one that gives an answer that cannot be
 * ends the run with an error. */
#ifndef LOCKSTEP_POLICY_H
#define LOCKSTEP_POLICY_H

#include "lockstep/block.h"

/* --------------------------------------------------------------------------------------------- replacement */

#define LS_REPLACEMENT_SLOT "replacement"
#define LS_REPLACEMENT_PORT "replacement"
#define LS_REPLACEMENT_INTERFACE "replacement/1"

/* `set`: the state of one set, of set_bytes() bytes, zero again when the cache is emptied. Ways are numbered
 * from 0. */
typedef struct ls_replacement_ops {
    size_t (*set_bytes)(uint32_t ways);                     /* at least 1, at most LS_REPLACEMENT_BYTES_MAX */
    void (*insert)(void *set, uint32_t ways, uint32_t way); /* a new line stands in this way */
    void (*use)(void *set, uint32_t ways, uint32_t way);    /* a request found its line there */
    /* The way whose line goes: one whose bit in allowed[way / 64] is set; at least one is. Called for full sets. */
    uint32_t (*victim)(void *set, uint32_t ways, const uint64_t *allowed);
} ls_replacement_ops;

#define LS_REPLACEMENT_BYTES_MAX 65536u

/* ------------------------------------------------------------------------------------------------ prefetch */

#define LS_PREFETCH_SLOT "prefetch"
#define LS_PREFETCH_PORT "prefetch"
#define LS_PREFETCH_INTERFACE "prefetch/1"

#define LS_PREFETCH_DEGREE_MAX 16u
#define LS_PREFETCH_PAGE_BYTES 4096u
#define LS_PREFETCH_BYTES_MAX 1048576u

/* A cache, and its keys. */
typedef struct ls_prefetch_shape {
    uint32_t line_bytes;
    uint32_t page_lines; /* lines of a page of LS_PREFETCH_PAGE_BYTES */
    uint32_t degree;     /* `prefetch_degree`: lines that a request may prefetch */
    uint32_t distance;   /* `prefetch_distance`: of the first of them */
} ls_prefetch_shape;

typedef struct ls_prefetch_ops {
    size_t (*state_bytes)(const ls_prefetch_shape *shape); /* of a cache: 1 to LS_PREFETCH_BYTES_MAX */
    /* A read of this line (address / line_bytes) missed, or was the first of a line that was prefetched. Fills in the
     * lines to fetch and returns how many: at most `degree`, all in the page of `line`. */
    uint32_t (*train)(void *state, const ls_prefetch_shape *shape, uint64_t line,
                      uint64_t out[LS_PREFETCH_DEGREE_MAX]);
} ls_prefetch_ops;

/* ---------------------------------------------------------------------------------------------------- hash */

#define LS_HASH_SLOT "hash"
#define LS_HASH_PORT "hash"
#define LS_HASH_INTERFACE "hash/1"

typedef struct ls_hash_ops {
    /* The set of a line (address / line size, without the bits that chose the slice): below `sets`. Always the same
     * for the same line. */
    uint32_t (*set)(uint64_t line, uint32_t sets);
} ls_hash_ops;

/* ------------------------------------------------------------------------------------------ DRAM scheduler */

#define LS_DRAM_SCHEDULER_SLOT "dram.scheduler"
#define LS_DRAM_SCHEDULER_PORT "scheduler"
#define LS_DRAM_SCHEDULER_INTERFACE "dram-scheduler/1"

#define LS_DRAM_SCHEDULER_BYTES_MAX 1048576u

typedef struct ls_dram_waiting {
    uint64_t waited_cycles; /* since it came to the channel */
    uint32_t row, bank;
    bool row_hit; /* its bank has this row open */
    bool write;
} ls_dram_waiting;

typedef struct ls_dram_scheduler_ops {
    size_t (*state_bytes)(uint32_t banks); /* of a channel: 1 to LS_DRAM_SCHEDULER_BYTES_MAX */
    /* The request that its bank serves next, by its place in the array. The array has all requests that wait for a
     * bank that is free, the oldest first; `count` is at least 1. */
    uint32_t (*choose)(void *state, const ls_dram_waiting *requests, uint32_t count);
} ls_dram_scheduler_ops;

/* ----------------------------------------------------------------------------------------------- placement */

#define LS_PLACEMENT_SLOT "placement"
#define LS_PLACEMENT_PORT "placement"
#define LS_PLACEMENT_INTERFACE "placement/1"

#define LS_PLACEMENT_WORDS 4u

typedef struct ls_placement_ops {
    /* A work-group (thread block) went to `core`, one of `cores` cores or compute units. Returns the core that is tried
     * first for the next one; if it is full, those after it follow in turn. */
    uint32_t (*next)(uint64_t state[LS_PLACEMENT_WORDS], uint32_t core, uint32_t cores);
} ls_placement_ops;

#endif

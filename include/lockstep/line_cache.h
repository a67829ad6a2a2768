/* line_cache.h: the caches of machine `amd`: one interface for all levels.
 *
 * A model is a block of one of the slots below that provides two ports: "memory" (lockstep/line.h) for
 * requesters, and "cache" for the builder of the machine. docs/add-a-block.md builds one from nothing. */
#ifndef LOCKSTEP_LINE_CACHE_H
#define LOCKSTEP_LINE_CACHE_H

#include "lockstep/line.h"
#include "lockstep/sector.h"

/* A slot has the name of its section in the platform file. Two machines have a section `l2`, for different hardware:
 * a model stands in the one whose first port it provides. */
#define LS_VECTOR_CACHE_SLOT "vector_cache"           /* of a compute unit */
#define LS_SCALAR_CACHE_SLOT "scalar_cache"           /* of a cluster */
#define LS_INSTRUCTION_CACHE_SLOT "instruction_cache" /* of a cluster */
#define LS_L1_CACHE_SLOT "l1"                         /* of a shader array: RDNA */
#define LS_L2_CACHE_SLOT "l2"                         /* a slice: home of its lines */
#define LS_MEMORY_CACHE_SLOT "memory_cache"           /* of a channel, below L2 */

#define LS_LINE_CACHE_PORT "cache"
#define LS_LINE_CACHE_INTERFACE "line-cache/4"

/* The memory of one channel: its bytes, and the states of pages. Only blocks of the channel's domain touch it. */
typedef struct ls_memory ls_memory;
/* Whether a page is mapped, and for writing. */
LS_API bool ls_memory_is_mapped(const ls_memory *memory, uint64_t address, bool write);

/* All but discard() and dirty_lines() are called before the run. All but set_below(), and set_home() of an L2, may be
 * NULL, in a model that has no use for them: one without lines. */
typedef struct ls_line_cache_ops {
    /* The wire to the level below; first of all calls. `block` is the cache's own: see ls_line_join_below(). */
    ls_status (*set_below)(void *self, ls_block *block, ls_block *memory, ls_error *err);
    /* Of slot "l2", which must have it: the cache is the home of its lines. Atomics happen here, and requests
     * for pages that are not mapped (or not for writing) are answered with LS_LINE_FAULT. */
    void (*set_home)(void *self, const ls_memory *memory);
    /* Whether it keeps written bytes, so that a kernel's end must flush it. */
    bool (*writes_back)(const void *self);
    /* Between runs: forgets the lines of freed memory, dirty ones too. */
    void (*discard)(void *self, uint64_t address, uint64_t bytes);
    /* Requests with one of these flags go below although the line is here, and leave none here: reads and
     * atomics everywhere, writes where they would end here (write-back). */
    void (*set_passing)(void *self, uint32_t flags);
    /* Sets are picked by ls_address_map_place().local. The map outlives the block. */
    void (*set_map)(void *self, const ls_address_map *map);
    /* Between runs: lines that differ from the level below. */
    uint64_t (*dirty_lines)(const void *self);
    /* Of the last cache above L2, where L2 keeps lines of other GPUs: an invalidate of this cache goes below too, before
     * all requests that come later, and is answered when it is done there. */
    void (*pass_invalidates)(void *self);
} ls_line_cache_ops;

#endif

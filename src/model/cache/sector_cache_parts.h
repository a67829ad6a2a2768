/* sector_cache_parts.h: the short paths that the files of the sector cache share: the hash of addresses to
 * lines and MSHRs, the free MSHRs, the miss queue. For these files alone; sector_cache.h is for the owners of caches. */
#ifndef MODEL_SECTOR_CACHE_PARTS_H
#define MODEL_SECTOR_CACHE_PARTS_H

#include "model/cache/sector_cache.h"

/* --------------------------------------------------------------------------- hash of addresses to indices */

static inline uint32_t mshr_hash(uint64_t sector_address)
{
    return (uint32_t)(((sector_address >> 5) * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

static inline uint32_t find_line(const sector_cache *c, uint64_t line_address)
{
    return tag_store_look(&c->tags, line_address);
}

/* Sectors of one line come one after another. */
static inline uint32_t find_line_again(sector_cache *c, uint64_t line_address)
{
    uint32_t i = c->last_line;
    if (c->tags.entries[i].tag == line_address + 1)
        return i;
    i = find_line(c, line_address);
    c->last_line = i != SECTOR_CACHE_NONE ? i : c->last_line;
    return i;
}

static inline uint32_t find_mshr(const sector_cache *c, uint64_t sector_address)
{
    uint32_t entry = c->mshr_index[mshr_hash(sector_address) & c->mshr_index_mask];
    while (entry != 0 && c->mshrs[entry - 1].address != sector_address)
        entry = c->mshrs[entry - 1].chain;
    return entry - 1; /* SECTOR_CACHE_NONE for 0 */
}

/* -------------------------------------------------------------------------------------------------- MSHRs */

static inline void add_mshr(sector_cache *c, uint32_t mshr)
{
    uint32_t *first = &c->mshr_index[mshr_hash(c->mshrs[mshr].address) & c->mshr_index_mask];
    c->mshrs[mshr].chain = *first;
    *first = mshr + 1;
}

static inline void remove_mshr(sector_cache *c, uint32_t mshr)
{
    uint32_t *at = &c->mshr_index[mshr_hash(c->mshrs[mshr].address) & c->mshr_index_mask];
    while (*at != mshr + 1)
        at = &c->mshrs[*at - 1].chain;
    *at = c->mshrs[mshr].chain;
}

static inline uint32_t take_mshr(sector_cache *c, uint64_t sector_address, uint32_t line, uint32_t waiter)
{
    uint32_t mshr = index_pool_take(&c->mshr_pool, INDEX_LINKS(c->mshrs, next));
    c->mshr_count++;
    c->mshrs[mshr] = (sector_cache_mshr){ .address = sector_address,
                                          .first = waiter,
                                          .last = waiter,
                                          .line = line,
                                          .stalled_first = SECTOR_CACHE_NONE,
                                          .stalled_last = SECTOR_CACHE_NONE };
    c->lines[line].mshr = mshr;
    add_mshr(c, mshr);
    return mshr;
}

static inline void give_mshr(sector_cache *c, uint32_t mshr)
{
    c->changes++;
    remove_mshr(c, mshr);
    index_pool_give(&c->mshr_pool, INDEX_LINKS(c->mshrs, next), mshr);
    c->mshr_count -= 1u + c->mshrs[mshr].more;
}

/* ------------------------------------------------------------------------------------------------ waiters */

static inline bool no_waiter_left(const sector_cache *c)
{
    return index_pool_empty(&c->waiter_pool, c->waiter_count);
}

static inline uint32_t new_waiter(sector_cache *c, uint32_t token)
{
    uint32_t waiter = index_pool_take(&c->waiter_pool, INDEX_LINKS(c->waiters, next));
    c->waiters[waiter] = (sector_cache_waiter){ .token = token, .next = SECTOR_CACHE_NONE };
    return waiter;
}

/* A request joins those that wait at an MSHR. */
static inline void add_waiter(sector_cache *c, uint32_t mshr, uint32_t waiter)
{
    if (LS_LIKELY(c->mshrs[mshr].first != SECTOR_CACHE_NONE))
        c->waiters[c->mshrs[mshr].last].next = waiter;
    else
        c->mshrs[mshr].first = waiter; /* the first request for a sector that was prefetched */
    c->mshrs[mshr].last = waiter;
}

/* A filled MSHR is the last of those whose requests have to be answered. */
static inline void add_ready(sector_cache *c, uint32_t m, uint8_t level)
{
    c->changes++;
    c->mshrs[m].level = level;
    c->mshrs[m].next = SECTOR_CACHE_NONE;
    if (c->ready_last != SECTOR_CACHE_NONE)
        c->mshrs[c->ready_last].next = m;
    else
        c->ready_first = m;
    c->ready_last = m;
}

/* ------------------------------------------------------------------------------- sets and the miss queue */

static inline uint32_t set_of(const sector_cache *c, uint64_t index_address)
{
    return tag_store_set_of(&c->tags, index_address / SECTOR_CACHE_LINE_BYTES);
}

static inline void push_miss(sector_cache *c, sector_cache_miss miss)
{
    c->changes++;
    c->misses[c->miss_tail++ & c->miss_mask] = miss;
}

static inline uint32_t miss_count(const sector_cache *c)
{
    return c->miss_tail - c->miss_head;
}

/* ------------------------------------------------------------------------------- calls between the files */

/* A free line, or the oldest that may go. SECTOR_CACHE_NONE: a line waits for its fill, and the request for that. */
uint32_t sector_cache_victim(sector_cache *c, uint32_t set);
/* Gives `victim` to a new line; dirty sectors go down if the policy is to write back. */
void sector_cache_allocate(sector_cache *c, uint32_t victim, uint64_t line_address);
/* A request that found its MSHR full, or stalled requests there that it must not overtake. */
sector_cache_outcome sector_cache_stall(sector_cache *c, uint32_t mshr, uint32_t token);
/* The MSHR of a sector on its way that has none of its own: that of the sectors that are fetched with it. */
uint32_t sector_cache_find_part(const sector_cache *c, uint64_t sector_address);
/* After a read that did not hit: a first use of a prefetched sector, or a miss, trains the prefetcher. */
void sector_cache_prefetch_after(sector_cache *c, sector_cache_outcome outcome, uint64_t tag_address,
                                 uint64_t index_address);
/* A request found a sector that a prefetch has brought, or is about to. */
void sector_cache_use_prefetched(sector_cache *c, sector_cache_line *line, uint64_t tag_address,
                                 uint64_t index_address);

#endif

/* sector_cache_part.h: reads of several sectors of one line that hit or wait for one MSHR, inline for their owner's loop.
 * sector_cache_part.c has the others. */
#ifndef MODEL_SECTOR_CACHE_PART_H
#define MODEL_SECTOR_CACHE_PART_H

#include "lockstep/sector.h"
#include "model/cache/sector_cache_parts.h"

/* Those of some sectors of a line that can be read. */
static inline uint32_t readable_of(const sector_cache_line *line, uint32_t sectors)
{
    return sectors & line->valid & (~(uint32_t)line->dirty | line->readable) & ~(uint32_t)line->pending;
}

static inline sector_cache_outcome read_hits(sector_cache *c, uint32_t i, uint32_t sectors)
{
    uint32_t count = ls_sector_bits(sectors);
    c->counters->reads += count;
    c->counters->accesses += count;
    c->counters->hits += count;
    c->split->read_hits += count;
    tag_store_use(&c->tags, i);
    return SECTOR_CACHE_HIT;
}

/* All sectors are on their way. SECTOR_CACHE_FAIL: with several MSHRs, or there is no room for one more request. */
static inline sector_cache_outcome read_merges(sector_cache *c, uint32_t i, uint32_t sectors, uint32_t token)
{
    uint32_t m = c->lines[i].mshr, count = ls_sector_bits(sectors);
    sector_cache_mshr *mshr = &c->mshrs[m];
    if ((sectors & ~(uint32_t)mshr->sectors) != 0 || mshr->line != i || mshr->count >= c->spec->mshr_merge ||
        no_waiter_left(c))
        return SECTOR_CACHE_FAIL;
    add_waiter(c, m, new_waiter(c, token));
    mshr->count++;
    c->counters->reads += count;
    c->counters->accesses += count;
    c->counters->pending_hits += count;
    c->counters->mshr_merges += count;
    c->split->read_pending_hits += count;
    c->split->read_merges += count;
    tag_store_use(&c->tags, i);
    return SECTOR_CACHE_PENDING;
}

/* sector_cache_read_part() of a read that hits, or waits for one MSHR alone. i: its line, as find_line() says.
 * SECTOR_CACHE_FAIL: it does neither, and nothing is done. */
static inline sector_cache_outcome sector_cache_read_quick(sector_cache *c, uint32_t i, uint32_t sectors,
                                                           uint32_t token)
{
    if (LS_UNLIKELY(i == SECTOR_CACHE_NONE))
        return SECTOR_CACHE_FAIL;
    if ((sectors & ~(uint32_t)c->lines[i].pending) == 0)
        return read_merges(c, i, sectors, token);
    return readable_of(&c->lines[i], sectors) == sectors ? read_hits(c, i, sectors) : SECTOR_CACHE_FAIL;
}

/* The waiters of the first filled MSHR before `end` have been answered. */
static inline void sector_cache_give_waiters(sector_cache *c, sector_cache_mshr *mshr, uint32_t end)
{
    uint32_t first = mshr->first, last = first;
    if (first == end)
        return;
    mshr->first = end;
    if (end == SECTOR_CACHE_NONE)
        last = mshr->last;
    while (c->waiters[last].next != end)
        last = c->waiters[last].next;
    c->waiters[last].next = c->waiter_pool.free;
    c->waiter_pool.free = first;
}

/* sector_cache_read_part() of a read for which sector_cache_read_quick() has failed. */
sector_cache_outcome sector_cache_read_some(sector_cache *c, uint32_t i, uint64_t line_address,
                                            uint64_t index_address, uint32_t sectors, uint32_t token,
                                            sector_cache_part *out);

#endif

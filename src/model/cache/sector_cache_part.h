/* sector_cache_part.h: reads of several sectors of one line: the short ways, for their owner's loop. sector_cache_part.c has the others. */
#ifndef MODEL_SECTOR_CACHE_PART_H
#define MODEL_SECTOR_CACHE_PART_H

#include "lockstep/sector.h"
#include "model/cache/sector_cache_parts.h"

/* Those of some sectors of a line that can be read. */
static inline uint32_t readable_of(const sector_cache_line *line, uint32_t sectors)
{
    return sectors & line->valid & (~(uint32_t)line->dirty | line->readable) & ~(uint32_t)line->pending;
}

/* Of `sectors`, those in `merged` wait for fills, and the others are there. */
static inline void count_merged(sector_cache *c, uint32_t sectors, uint32_t merged)
{
    sector_cache_counters *n = c->counters;
    uint32_t all = ls_sector_bits(sectors), waiting = ls_sector_bits(merged);
    n->reads += all;
    n->accesses += all;
    if (all != waiting) {
        n->hits += all - waiting;
        c->split->read_hits += all - waiting;
    }
    if (waiting != 0) {
        n->pending_hits += waiting;
        n->mshr_merges += waiting;
        c->split->read_pending_hits += waiting;
        c->split->read_merges += waiting;
    }
}

/* sector_cache_read_part() of a read that hits, or waits for one MSHR alone. SECTOR_CACHE_FAIL: it does neither, and nothing is done. */
static inline sector_cache_outcome sector_cache_read_quick(sector_cache *c, uint64_t line_address,
                                                           uint32_t sectors, uint32_t token)
{
    uint32_t i = find_line_again(c, line_address);
    if (LS_UNLIKELY(i == SECTOR_CACHE_NONE))
        return SECTOR_CACHE_FAIL;
    const sector_cache_line *line = &c->lines[i];
    uint32_t absent = sectors & ~readable_of(line, sectors);
    if (absent != 0) {
        sector_cache_mshr *mshr = &c->mshrs[line->mshr];
        if ((absent & ~(uint32_t)(line->pending & mshr->sectors)) != 0 || mshr->line != i ||
            mshr->count >= c->spec->mshr_merge || no_waiter_left(c))
            return SECTOR_CACHE_FAIL;
        add_waiter(c, line->mshr, new_waiter(c, token));
        mshr->count++;
    }
    count_merged(c, sectors, absent);
    tag_store_use(&c->tags, i);
    return absent != 0 ? SECTOR_CACHE_PENDING : SECTOR_CACHE_HIT;
}

#endif

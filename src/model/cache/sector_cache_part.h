/* sector_cache_part.h: reads of several sectors of one line: the ways of most of them, in their owner's loop. sector_cache_part.c has the
 * rest. */
#ifndef MODEL_SECTOR_CACHE_PART_H
#define MODEL_SECTOR_CACHE_PART_H

#include "lockstep/sector.h"
#include "model/cache/sector_cache_parts.h"

typedef struct sector_cache_part {
    uint32_t waits;
    uint32_t missed; /* sectors that it fetches, a bit each */
} sector_cache_part;

/* Of a read that is neither a hit nor waits for one MSHR alone. i: its line, SECTOR_CACHE_NONE if that is not there; missing: sectors that
 * are not on their way. */
sector_cache_outcome sector_cache_read_some(sector_cache *c, uint64_t line_address, uint64_t index_address,
                                            uint32_t i, uint32_t sectors, uint32_t missing, uint32_t token,
                                            sector_cache_part *out);

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

/* Several sectors of one line, a bit each. A read that does not hit is answered by sector_cache_next_ready() `waits` times, once for each
 * MSHR that it waits for. All sectors that it fetches have one MSHR and one entry of the miss queue. Not for caches that prefetch. */
static inline sector_cache_outcome sector_cache_read_part(sector_cache *c, uint64_t line_address,
                                                          uint64_t index_address, uint32_t sectors,
                                                          uint32_t token, sector_cache_part *out)
{
    uint32_t i = find_line_again(c, line_address);
    *out = (sector_cache_part){ 0 };
    if (LS_UNLIKELY(i == SECTOR_CACHE_NONE))
        return sector_cache_read_some(c, line_address, index_address, i, sectors, sectors, token, out);
    const sector_cache_line *line = &c->lines[i];
    uint32_t absent = sectors & ~readable_of(line, sectors), missing = absent & ~(uint32_t)line->pending;
    if (absent != 0) {
        sector_cache_mshr *mshr = &c->mshrs[line->mshr];
        if (missing != 0 || (absent & ~(uint32_t)mshr->sectors) != 0 || mshr->line != i ||
            mshr->count >= c->spec->mshr_merge || no_waiter_left(c))
            return sector_cache_read_some(c, line_address, index_address, i, sectors, missing, token, out);
        add_waiter(c, line->mshr, new_waiter(c, token));
        mshr->count++;
        out->waits = 1;
    }
    count_merged(c, sectors, absent);
    tag_store_use(&c->tags, i);
    return absent != 0 ? SECTOR_CACHE_PENDING : SECTOR_CACHE_HIT;
}

#endif

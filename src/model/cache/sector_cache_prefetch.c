/* sector_cache_prefetch.c: a sector cache fetches sectors ahead of their first read. The prefetcher of
 * model/policy/prefetch.h chooses the lines. */
#include "model/cache/sector_cache_parts.h"

/* One sector, if it is not here and there is room. Demand keeps a quarter of the MSHRs. */
static void fetch_ahead(sector_cache *c, uint64_t tag_address, uint64_t index_address)
{
    uint64_t sector_address = tag_address & ~(uint64_t)(SECTOR_BYTES - 1);
    uint64_t line_address = tag_address & ~(uint64_t)(SECTOR_CACHE_LINE_BYTES - 1);
    uint8_t bit = (uint8_t)(1u << ((tag_address / SECTOR_BYTES) & 3));
    uint32_t i = find_line(c, line_address);
    if (i != SECTOR_CACHE_NONE && ((c->lines[i].valid | c->lines[i].pending | c->lines[i].dirty) & bit) != 0)
        return;
    uint32_t victim = SECTOR_CACHE_NONE;
    if (c->mshr_count < c->spec->mshr_entries - c->spec->mshr_entries / 4 &&
        miss_count(c) + 2 < c->spec->miss_queue && find_mshr(c, sector_address) == SECTOR_CACHE_NONE)
        victim = i != SECTOR_CACHE_NONE ? i : sector_cache_victim(c, set_of(c, index_address));
    if (victim == SECTOR_CACHE_NONE) {
        c->counters->prefetch.dropped++;
        return;
    }
    if (i == SECTOR_CACHE_NONE)
        sector_cache_allocate(c, victim, line_address);
    sector_cache_line *line = &c->lines[victim];
    line->pending |= bit;
    line->readable |= bit;
    line->prefetched |= bit;
    line->modified_on_fill &= (uint8_t)~bit;
    push_miss(c, (sector_cache_miss){
                     .address = sector_address, .kind = SECTOR_CACHE_MISS_READ, .token = SECTOR_CACHE_NONE });
    (void)take_mshr(c, sector_address, victim, SECTOR_CACHE_NONE);
    c->counters->prefetch.issued++;
}

/* After a read that missed, or that was the first of a prefetched sector: the same sector of other lines. */
static void train_prefetch(sector_cache *c, uint64_t tag_address, uint64_t index_address)
{
    uint64_t lines[PREFETCH_DEGREE_MAX], offset = index_address % SECTOR_CACHE_LINE_BYTES;
    uint32_t count = prefetch_train(c->prefetch, index_address / SECTOR_CACHE_LINE_BYTES, lines);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t index = lines[i] * SECTOR_CACHE_LINE_BYTES + offset;
        uint64_t address = c->address_of != NULL ? c->address_of(c->address_owner, index, tag_address) : index;
        if (address != UINT64_MAX)
            fetch_ahead(c, address, index);
    }
}

void sector_cache_use_prefetched(sector_cache *c, sector_cache_line *line, uint64_t tag_address,
                                 uint64_t index_address)
{
    line->prefetched &= (uint8_t) ~(1u << ((tag_address / SECTOR_BYTES) & 3));
    c->counters->prefetch.useful++;
    train_prefetch(c, tag_address, index_address);
}

void sector_cache_prefetch_after(sector_cache *c, sector_cache_outcome outcome, uint64_t tag_address,
                                 uint64_t index_address)
{
    uint32_t i = find_line(c, tag_address & ~(uint64_t)(SECTOR_CACHE_LINE_BYTES - 1));
    if (i != SECTOR_CACHE_NONE && (c->lines[i].prefetched >> (tag_address / SECTOR_BYTES & 3) & 1) != 0)
        sector_cache_use_prefetched(c, &c->lines[i], tag_address, index_address);
    else if (outcome == SECTOR_CACHE_MISS)
        train_prefetch(c, tag_address, index_address);
}

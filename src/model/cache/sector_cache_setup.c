/* sector_cache_setup.c: memory and tables of a sector cache; a cache is emptied, or uses fewer ways. */
#include "model/cache/sector_cache_parts.h"

#include <assert.h>
#include <string.h>

static uint32_t power_of_two(uint64_t at_least)
{
    uint32_t n = 1;
    while (n < at_least)
        n <<= 1;
    return n;
}

static void empty_lines(sector_cache *c)
{
    for (uint32_t cursor = 0, i; (i = tag_store_walk(&c->tags, &cursor)) != TAG_STORE_NONE; cursor++)
        c->lines[i] = (sector_cache_line){ 0 };
    tag_store_clear(&c->tags);
}

#define WAITERS_MAX 16384u
#define STALLED_MAX 4096u /* more than these, and the queue waits; links hold far fewer for one slice */

uint32_t sector_cache_waiters_max(const sector_cache_spec *spec)
{
    uint64_t waiters = spec->mshr_entries * spec->mshr_merge;
    waiters = waiters < WAITERS_MAX ? waiters : WAITERS_MAX;
    return (uint32_t)waiters + (spec->merge_stall == SECTOR_CACHE_STALL_REQUEST ? STALLED_MAX : 0);
}

ls_status sector_cache_init(sector_cache *c, const sector_cache_spec *spec, sector_cache_counters *counters,
                            ls_domain *domain, ls_error *err)
{
    uint64_t lines = spec->sets * spec->ways;
    uint32_t waiters = sector_cache_waiters_max(spec);
    *c = (sector_cache){ .spec = spec, .counters = counters, .split = &counters->global };
    c->line_count = (uint32_t)lines;
    c->mshr_index_mask = power_of_two(2 * spec->mshr_entries) - 1;
    c->miss_mask = power_of_two(spec->miss_queue + 2) - 1;
    c->lines = ls_domain_alloc(domain, (lines) * sizeof *c->lines);
    c->mshrs = ls_domain_alloc(domain, (spec->mshr_entries) * sizeof *c->mshrs);
    c->mshr_index = ls_domain_alloc(domain, ((size_t)c->mshr_index_mask + 1) * sizeof *c->mshr_index);
    c->waiters = ls_domain_alloc(domain, (waiters) * sizeof *c->waiters);
    c->misses = ls_domain_alloc(domain, ((size_t)c->miss_mask + 1) * sizeof *c->misses);
    c->miss_bytes = ls_domain_alloc(domain, ((size_t)c->miss_mask + 1) * sizeof *c->miss_bytes);
    if (c->lines == NULL || c->mshrs == NULL || c->mshr_index == NULL || c->waiters == NULL ||
        c->misses == NULL || c->miss_bytes == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a cache of %llu lines", (unsigned long long)lines);
    c->mshr_pool = c->waiter_pool = INDEX_POOL_NEW;
    c->ready_first = c->ready_last = SECTOR_CACHE_NONE;
    c->retry_first = c->retry_last = SECTOR_CACHE_NONE;
    c->waiter_count = waiters;
    ls_status status = prefetch_create(&spec->prefetch, SECTOR_CACHE_LINE_BYTES, domain, &c->prefetch, err);
    if (status != LS_OK)
        return status;
    const tag_store_spec tags = { .sets = (uint32_t)spec->sets,
                                  .ways = (uint32_t)spec->ways,
                                  .replacement = spec->replacement,
                                  .hash = &spec->hash,
                                  .line_bytes = SECTOR_CACHE_LINE_BYTES,
                                  .accelsim = true };
    return tag_store_init(&c->tags, &tags, domain, err);
}

void sector_cache_set_addresses(sector_cache *c, sector_cache_address_fn address_of, void *owner)
{
    c->address_of = address_of;
    c->address_owner = owner;
}

void sector_cache_invalidate_later(sector_cache *c)
{
    if (c->mshr_count == 0)
        sector_cache_invalidate(c);
    else
        c->empty_later = true;
}

void sector_cache_invalidate(sector_cache *c)
{
    c->empty_later = false;
    if (!c->touched)
        return;
    assert(c->mshr_count == 0);
    empty_lines(c);
    c->dirty_lines = 0;
    c->changes++;
    c->touched = false;
}

bool sector_cache_drop(sector_cache *c, uint64_t address, uint32_t *dirty_bytes)
{
    uint32_t i = find_line(c, address & ~(uint64_t)(SECTOR_CACHE_LINE_BYTES - 1));
    uint32_t sector = (uint32_t)(address / SECTOR_BYTES) & 3;
    uint8_t bit = (uint8_t)(1u << sector);
    *dirty_bytes = 0;
    if (i == SECTOR_CACHE_NONE)
        return true;
    sector_cache_line *line = &c->lines[i];
    if ((line->pending & bit) != 0)
        return false;
    if ((line->dirty & bit) != 0) {
        *dirty_bytes = line->dirty_bytes[sector];
        line->dirty &= (uint8_t)~bit;
        c->dirty_lines -= line->dirty == 0;
    }
    c->changes++;
    line->dirty_bytes[sector] = 0;
    line->valid &= (uint8_t)~bit;
    line->readable &= (uint8_t)~bit;
    return true;
}

void sector_cache_set_ways(sector_cache *c, uint32_t ways)
{
    if (ways == c->tags.limit)
        return;
    c->touched = true;
    sector_cache_invalidate(c);
    c->tags.limit = ways;
    c->line_count = c->tags.set_count * ways;
}

/* sector_cache_state.c: the state table of the sector cache, for the blocks that have one. */
#include "model/cache/sector_cache_state.h"

#include "model/cache/tag_store_state.h"

static uint64_t line_count(const void *self)
{
    const sector_cache *c = self;
    return c->spec->sets * c->spec->ways;
}

static uint64_t mshr_count(const void *self)
{
    return ((const sector_cache *)self)->spec->mshr_entries;
}

static uint64_t mshr_index_length(const void *self)
{
    return (uint64_t)((const sector_cache *)self)->mshr_index_mask + 1;
}

static uint64_t waiter_count(const void *self)
{
    return sector_cache_waiters_max(((const sector_cache *)self)->spec);
}

static uint64_t miss_length(const void *self)
{
    return (uint64_t)((const sector_cache *)self)->miss_mask + 1;
}

static uint64_t one(const void *self)
{
    (void)self;
    return 1;
}

/* One of the two splits of the counters, which may be another block's. */
static uint64_t encode_split(const void *state, const void *self, const void *pointer)
{
    (void)state;
    return pointer == &((const sector_cache *)self)->counters->global ? 1 : 2;
}
static void *decode_split(void *state, void *self, uint64_t code)
{
    sector_cache_counters *counters = ((sector_cache *)self)->counters;
    (void)state;
    return counters == NULL ? NULL : code == 1 ? &counters->global : &counters->other;
}

const ls_state_row sector_cache_rows[SECTOR_CACHE_ROWS] = {
    LS_STATE_FIXED_SPAN(sector_cache, spec, counters),
    LS_STATE_CODED(sector_cache, split, encode_split, decode_split),
    LS_STATE_PART(sector_cache, tags, tag_store_rows),
    LS_STATE_ARRAY(sector_cache, lines, line_count),
    LS_STATE_DATA_SPAN(sector_cache, line_count, last_line),
    LS_STATE_ARRAY(sector_cache, mshrs, mshr_count),
    LS_STATE_ARRAY(sector_cache, mshr_index, mshr_index_length),
    LS_STATE_DATA_SPAN(sector_cache, mshr_index_mask, ready_last),
    LS_STATE_ARRAY(sector_cache, waiters, waiter_count),
    LS_STATE_DATA_SPAN(sector_cache, waiter_pool, stalled_count),
    LS_STATE_ARRAY(sector_cache, misses, miss_length),
    LS_STATE_ARRAY(sector_cache, miss_bytes, miss_length),
    LS_STATE_DATA_SPAN(sector_cache, miss_head, miss_mask),
    LS_STATE_ARRAY_OF(sector_cache, prefetch, one, prefetch_rows),
    LS_STATE_FIXED_SPAN(sector_cache, address_of, address_owner),
    LS_STATE_DATA_SPAN(sector_cache, touched, empty_later),
};

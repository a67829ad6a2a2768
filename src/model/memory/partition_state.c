/* partition_state.c: the state table of the L2 slices of a channel (lockstep/state.h). */
#include "model/memory/partition_impl.h"

static uint64_t fill_length(const void *self)
{
    return (uint64_t)((const slice *)self)->fill_ring.mask + 1;
}
static uint64_t copied_length(const void *self)
{
    const slice *s = self;
    return s->copied != NULL ? (uint64_t)s->owner->copied_mask + 1 : 0;
}
static uint64_t coalesce_length(const void *self)
{
    const slice *s = self;
    return s->coalesce != NULL ? s->owner->spec->coalesce_entries : 0;
}
static uint64_t head_length(const void *self)
{
    const slice *s = self;
    return s->coalesce != NULL ? (uint64_t)s->owner->coalesce_mask + 1 : 0;
}
static uint64_t request_length(const void *self)
{
    return ((const partition *)self)->request_count;
}
static uint64_t token_length(const void *self)
{
    return ((const partition *)self)->dram_tokens;
}

static uint64_t semaphore_length(const void *self)
{
    return ((const partition *)self)->semaphores != NULL ? SEMAPHORES_MAX : 0;
}

static const ls_state_row request_rows[] = {
    LS_STATE_DATA(pending_request, message),
    LS_STATE_LINK(pending_request, link),
    LS_STATE_DATA_SPAN(pending_request, ready, left),
};

static const ls_state_row slice_rows[] = {
    LS_STATE_DATA_SPAN(slice, input, coalesce_pool),
    LS_STATE_ARRAY(slice, coalesce, coalesce_length),
    LS_STATE_ARRAY(slice, coalesce_heads, head_length),
    LS_STATE_ARRAY(slice, copied, copied_length),
    LS_STATE_DATA_SPAN(slice, parked, fill_ring),
    LS_STATE_ARRAY(slice, fills, fill_length),
    LS_STATE_PART(slice, l2, sector_cache_rows),
    LS_STATE_EVENT(slice, output_event),
    LS_STATE_DATA(slice, output_waiting),
    LS_STATE_FIXED(slice, owner),
};

const ls_state_row partition_rows[PARTITION_ROWS] = {
    LS_STATE_FIXED_SPAN(partition, spec, ticker),
    LS_STATE_EVENT(partition, timer),
    LS_STATE_DATA_SPAN(partition, now, awake),
    LS_STATE_FIXED_SPAN(partition, width, line_costs),
    LS_STATE_DATA(partition, n),
    LS_STATE_FIXED_SPAN(partition, map, sector_columns),
    LS_STATE_PARTS(partition, slices, slice_rows),
    LS_STATE_FIXED_SPAN(partition, slice_of, to_core),
    LS_STATE_ARRAY_OF(partition, requests, request_length, request_rows),
    LS_STATE_FIXED(partition, request_count),
    LS_STATE_DATA(partition, request_pool),
    LS_STATE_ARRAY(partition, dram_reads, token_length),
    LS_STATE_ARRAY(partition, dram_next, token_length),
    LS_STATE_ARRAY(partition, dram_left, token_length),
    LS_STATE_DATA(partition, dram_pool),
    LS_STATE_FIXED_SPAN(partition, dram_tokens, tap),
    LS_STATE_OWN(partition, told),
    LS_STATE_FIXED_SPAN(partition, coalesce_mask, ways),
    LS_STATE_ARRAY(partition, semaphores, semaphore_length),
    LS_STATE_DATA(partition, semaphore_count),
};

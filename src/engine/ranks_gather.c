/* ranks_gather.c: results and states of blocks that other ranks run, brought to where they are read. */
#include "engine/ranks_impl.h"

#include <string.h>

/* The bytes of a block's counters that its metrics refer to: [*begin, *end) of its state. */
static bool counter_span(const ls_block_type *type, size_t *begin, size_t *end)
{
    *begin = SIZE_MAX;
    *end = 0;
    for (size_t i = 0; i < type->metric_count; i++) {
        const ls_metric *m = &type->metrics[i];
        bool is_histogram = m->kind == LS_METRIC_KIND_HISTOGRAM, is_ratio = m->kind == LS_METRIC_KIND_RATIO;
        size_t at = m->offset, past = at + (is_histogram ? sizeof(ls_histogram) : sizeof(uint64_t));
        size_t other = is_ratio ? m->denominator : at;
        *begin = at < *begin ? at : *begin;
        *begin = other < *begin ? other : *begin;
        *end = past > *end ? past : *end;
        *end = other + sizeof(uint64_t) > *end ? other + sizeof(uint64_t) : *end;
    }
    *begin += type->counters_offset;
    *end += type->counters_offset;
    return type->metric_count > 0 && *end <= type->state_size;
}

/* The blocks that a rank runs, in the order of their creation. */
static void put_counters(const ls_engine *engine, bytes_out *out)
{
    size_t begin, end;
    for (size_t i = 0; i < engine->blocks.count; i++) {
        const ls_block *block = engine->blocks.at[i];
        if (ranks_runs(block) && counter_span(block->type, &begin, &end))
            bytes_put(out, (const char *)block->state + begin, end - begin);
    }
}

static bool take_counters(const ls_engine *engine, uint32_t rank, bytes_in *in)
{
    size_t begin, end;
    for (size_t i = 0; i < engine->blocks.count; i++) {
        const ls_block *block = engine->blocks.at[i];
        if (ranks_owner(block) == rank && counter_span(block->type, &begin, &end))
            bytes_get(in, (char *)block->state + begin, end - begin);
    }
    return !in->failed && in->at == in->end;
}

ls_status ranks_gather_counters(ls_engine *engine, ls_error *err)
{
    rank_state *r = engine->ranks;
    if (r == NULL)
        return LS_OK;
    if (r->transport.rank != 0)
        put_counters(engine, &r->out[0]);
    ls_status status = ranks_send(r, NULL, err);
    for (uint32_t i = 1; i < r->transport.ranks && status == LS_OK && r->transport.rank == 0; i++) {
        bytes_in in = { .at = r->in[i].at, .end = r->in[i].at + r->in[i].count };
        if (!take_counters(engine, i, &in))
            status = ls_fail(err, LS_ERR_INPUT, "rank %u has counters of another machine", i);
    }
    return status;
}

ls_status ranks_copy_block(ls_block *block, ls_error *err)
{
    ls_engine *engine = block->region->domain->engine;
    rank_state *r = engine->ranks;
    if (r == NULL)
        return LS_OK;
    uint32_t owner = ranks_owner(block);
    ls_status status = rows_check(block, err);
    for (uint32_t i = 0; i < r->transport.ranks && status == LS_OK && owner == r->transport.rank; i++)
        if (i != owner)
            status = rows_save(block, NULL, &r->out[i], err);
    ls_status sent = ranks_send(r, NULL, status == LS_OK ? err : NULL);
    status = status == LS_OK ? sent : status;
    if (status != LS_OK || owner == r->transport.rank)
        return status;
    bytes_in in = { .at = r->in[owner].at, .end = r->in[owner].at + r->in[owner].count };
    status = rows_load(block, NULL, &in, err);
    if (status == LS_OK && (in.failed || in.at != in.end))
        status = ls_fail(err, LS_ERR_INPUT, "rank %u has another state of block '%s'", owner, block->name);
    return status;
}

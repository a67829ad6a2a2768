/* run_ranks.c: see run_ranks.h. */
#include "sim/run_ranks.h"

#include "base/vec.h"

#include <string.h>

enum { SHARE_BYTES = 32768 }; /* more than any block counts */

/* Before the bytes of one source. */
typedef struct share_head {
    uint32_t source, bytes;
} share_head;

typedef LS_VEC(uint8_t) share_bytes;

static bool add_share(share_bytes *out, uint32_t source, const char *counters, size_t bytes)
{
    while (bytes > 0 && counters[bytes - 1] == 0)
        bytes--;
    const share_head head = { source, (uint32_t)bytes };
    if (!vec_reserve(out, sizeof head + bytes))
        return false;
    memcpy(out->at + out->count, &head, sizeof head);
    if (bytes > 0)
        memcpy(out->at + out->count + sizeof head, counters, bytes);
    out->count += sizeof head + bytes;
    return true;
}

/* The sources of the GPU whose blocks count per kernel. */
static bool collect(const gpu_instance *gpu, uint32_t slot, const metric_store *metrics, share_bytes *out)
{
    static _Thread_local char counters[SHARE_BYTES];
    for (size_t i = 0; i < metrics_source_count(metrics); i++) {
        const metric_source *source = metrics_source_at(metrics, i);
        size_t bytes = source->counters_size < SHARE_BYTES ? source->counters_size : SHARE_BYTES;
        if (source->gpu != (int32_t)gpu->number)
            continue;
        memset(counters, 0, bytes);
        if (gpu_take_kernel(gpu->engine, source->path, slot, counters, bytes) &&
            !add_share(out, (uint32_t)i, counters, bytes))
            return false;
    }
    return true;
}

ls_status run_shares_begin(run_shares *s, const gpu_instance *gpu, uint32_t slot, const metric_store *metrics,
                           ls_error *err)
{
    uint32_t owner = ranks_owner(gpu->dispatch);
    *s = (run_shares){ .metrics = metrics };
    if (owner == 0)
        return LS_OK;
    share_bytes own = { 0 };
    const rank_bytes *in;
    ls_status status = LS_OK;
    if (owner == ranks_here(gpu->engine) && !collect(gpu, slot, metrics, &own))
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for the counts of a kernel");
    if (status == LS_OK)
        status = ranks_give(gpu->engine, 0, (rank_bytes){ own.at, own.count }, &in, err);
    s->is_used = true;
    if (status == LS_OK && ranks_here(gpu->engine) == 0)
        s->left = in[owner];
    vec_fini(&own);
    return status;
}

bool run_shares_take(run_shares *s, const metric_source *source, void *counters, size_t bytes)
{
    share_head head;
    if (s->left.count < sizeof head)
        return false;
    memcpy(&head, s->left.at, sizeof head);
    if (metrics_source_at(s->metrics, head.source) != source || head.bytes > s->left.count - sizeof head ||
        head.bytes > bytes)
        return false;
    memcpy(counters, s->left.at + sizeof head, head.bytes);
    s->left.at += sizeof head + head.bytes;
    s->left.count -= sizeof head + head.bytes;
    return true;
}

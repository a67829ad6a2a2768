/* metrics_save.c: the registry in a checkpoint: what the last marks left behind, and all intervals. The counters themselves
 * belong to their blocks. */
#include "report/metrics_impl.h"

#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for metrics");
}

static void save_interval(const metrics_interval *interval, bytes_out *out)
{
    const metric_interval *d = &interval->decl;
    bytes_put64(out, (uint64_t)(int64_t)d->gpu);
    bytes_put64(out, d->kernel);
    bytes_put_text(out, d->kernel_name);
    bytes_put64(out, (uint64_t)d->stream);
    bytes_put64(out, d->begin);
    bytes_put64(out, d->end);
    bytes_put64(out, (uint64_t)d->overlapped | (uint64_t)d->shared << 1);
    bytes_put64(out, interval->source_count);
    bytes_put64(out, interval->packed_bytes);
    bytes_put(out, interval->packed, interval->packed_bytes);
}

void metrics_save(const metric_store *m, bytes_out *out)
{
    bytes_put64(out, m->sources.count);
    for (size_t i = 0; i < m->types.count; i++)
        for (size_t f = 0; f < m->types.at[i]->field_count; f++)
            bytes_put64(out, m->types.at[i]->fields[f].touched);
    for (size_t i = 0; i < m->sources.count; i++) {
        const metrics_source *s = &m->sources.at[i];
        const metrics_type *t = m->types.at[s->type];
        bytes_put64(out, s->changed);
        bytes_put(out, s->last, t->words * sizeof *s->last);
        bytes_put(out, s->raw, t->end - t->begin);
    }
    bytes_put64(out, m->intervals.count);
    for (size_t i = 0; i < m->intervals.count; i++)
        save_interval(&m->intervals.at[i], out);
}

static ls_status load_interval(metric_store *m, bytes_in *in, ls_error *err)
{
    metrics_interval interval = { 0 };
    metric_interval *d = &interval.decl;
    d->gpu = (int32_t)(int64_t)bytes_get64(in);
    d->kernel = bytes_get64(in);
    d->kernel_name = bytes_get_text(in, &m->arena);
    d->stream = (int64_t)bytes_get64(in);
    d->begin = bytes_get64(in);
    d->end = bytes_get64(in);
    uint64_t flags = bytes_get64(in);
    d->overlapped = flags & 1;
    d->shared = flags >> 1 & 1;
    interval.source_count = (size_t)bytes_get64(in);
    interval.packed_bytes = (size_t)bytes_get_count(in, 1);
    in->failed |= interval.source_count > m->sources.count || d->kernel_name == NULL;
    if (in->failed)
        return LS_OK;
    interval.packed = malloc(interval.packed_bytes + 1);
    if (interval.packed == NULL || !vec_push(&m->intervals, interval)) {
        free(interval.packed);
        return no_memory(err);
    }
    bytes_get(in, interval.packed, interval.packed_bytes);
    m->packed_bytes += interval.packed_bytes;
    return LS_OK;
}

ls_status metrics_load(metric_store *m, bytes_in *in, ls_error *err)
{
    in->failed |= bytes_get64(in) != m->sources.count || m->intervals.count > 0;
    for (size_t i = 0; i < m->types.count; i++)
        for (size_t f = 0; f < m->types.at[i]->field_count; f++)
            m->types.at[i]->fields[f].touched = bytes_get64(in) != 0;
    for (size_t i = 0; i < m->sources.count && !in->failed; i++) {
        metrics_source *s = &m->sources.at[i];
        const metrics_type *t = m->types.at[s->type];
        s->changed = bytes_get64(in) != 0;
        bytes_get(in, s->last, t->words * sizeof *s->last);
        bytes_get(in, s->raw, t->end - t->begin);
    }
    uint64_t count = bytes_get_count(in, 1);
    ls_status status = LS_OK;
    for (uint64_t i = 0; i < count && !in->failed && status == LS_OK; i++)
        status = load_interval(m, in, err);
    return status;
}

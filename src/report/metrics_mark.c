/* metrics_mark.c: reads the counters of sources, and stores the difference since the last mark.
 *
 * Touches the sources' counter structs only to read them, except for fields that a mark must reset: peaks, and
 * min and max of histograms. Most kernels leave most sources as they were: these cost a comparison. */
#include "report/metrics_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for metrics");
}

/* ---------------------------------------------------------------------------------------------------- rows */

/* Since the last mark, min and max of the struct are the interval's; for the run they join those kept. */
static void read_histogram(const ls_histogram *now, const uint64_t *last, metrics_scope scope, uint64_t *row)
{
    bool run = scope == METRICS_SCOPE_RUN;
    bool kept = run && last[METRICS_HIST_COUNT] > 0; /* before row is written: it may be last itself */
    uint64_t fresh = now->count - last[METRICS_HIST_COUNT];
    if (run ? now->count == 0 : fresh == 0) {
        memset(row, 0, METRICS_HIST_WORDS * sizeof *row);
        return;
    }
    row[METRICS_HIST_COUNT] = run ? now->count : fresh;
    row[METRICS_HIST_SUM] = run ? now->sum : now->sum - last[METRICS_HIST_SUM];
    if (run)
        memcpy(&row[METRICS_HIST_BUCKET], now->bucket, sizeof now->bucket);
    for (size_t b = 0; b < LS_HISTOGRAM_BUCKETS && !run; b++)
        row[METRICS_HIST_BUCKET + b] = now->bucket[b] - last[METRICS_HIST_BUCKET + b];
    uint64_t min = fresh ? now->min : UINT64_MAX;
    uint64_t max = fresh ? now->max : 0;
    if (kept) {
        min = last[METRICS_HIST_MIN] < min ? last[METRICS_HIST_MIN] : min;
        max = last[METRICS_HIST_MAX] > max ? last[METRICS_HIST_MAX] : max;
    }
    row[METRICS_HIST_MIN] = row[METRICS_HIST_COUNT] ? min : 0;
    row[METRICS_HIST_MAX] = max;
}

static ls_status fail_backwards(const metrics_source *s, const metrics_field *f, uint64_t now, ls_error *err)
{
    return ls_fail(err, LS_ERR_INTERNAL, "counter '%s' of '%s' went backwards, from %" PRIu64 " to %" PRIu64,
                   f->name, s->decl.path, s->last[f->word], now);
}

ls_status metrics_read_field(const metrics_source *s, const metrics_field *f, metrics_scope scope,
                             uint64_t *row, ls_error *err)
{
    bool run = scope == METRICS_SCOPE_RUN;
    const void *at = (const char *)s->decl.counters + f->offset;
    const uint64_t *last = &s->last[f->word];
    uint64_t now = *(const uint64_t *)at; /* of a histogram: its count */
    if (now < *last && (f->kind == LS_METRIC_KIND_COUNTER || f->kind == LS_METRIC_KIND_HISTOGRAM))
        return fail_backwards(s, f, now, err);
    switch (f->kind) {
    case LS_METRIC_KIND_COUNTER:
        row[f->word] = run ? now : now - *last;
        break;
    case LS_METRIC_KIND_PEAK:
        row[f->word] = run && *last > now ? *last : now;
        break;
    case LS_METRIC_KIND_HISTOGRAM:
        read_histogram(at, last, scope, &row[f->word]);
        break;
    default:
        row[f->word] = now;
    }
    return LS_OK;
}

/* Neighbouring counters. */
static ls_status read_run(const metrics_source *s, const metrics_type *t, const metrics_run *run,
                          metrics_scope scope, uint64_t *row, ls_error *err)
{
    const uint64_t *now = (const void *)((const char *)s->decl.counters + run->offset);
    const uint64_t *last = &s->last[run->word];
    size_t bytes = run->count * sizeof *now;
    row += run->word;
    if (memcmp(now, last, bytes) == 0) {
        if (scope == METRICS_SCOPE_RUN)
            memcpy(row, now, bytes);
        else
            memset(row, 0, bytes);
        return LS_OK;
    }
    for (uint32_t i = 0; i < run->count; i++) {
        if (now[i] < last[i])
            return fail_backwards(s, &t->fields[run->first + i], now[i], err);
        row[i] = now[i] - (scope == METRICS_SCOPE_RUN ? 0 : last[i]);
    }
    return LS_OK;
}

ls_status metrics_read_row(const metric_store *m, const metrics_source *s, metrics_scope scope, uint64_t *row,
                           ls_error *err)
{
    const metrics_type *t = m->types.at[s->type];
    for (size_t i = 0; i < t->run_count; i++) {
        const metrics_run *run = &t->runs[i];
        ls_status status = run->kind == LS_METRIC_KIND_COUNTER
                               ? read_run(s, t, run, scope, row, err)
                               : metrics_read_field(s, &t->fields[run->first], scope, row, err);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

/* --------------------------------------------------------------------------------------------------- marks */

static void put_number(uint8_t **p, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *(*p)++ = (uint8_t)(value | 0x80);
    *(*p)++ = (uint8_t)value;
}

static bool has_word(const uint64_t *row, size_t words)
{
    return metrics_next_word(row, 0, words) < words;
}

/* Appends the row's words that are not zero to the scratch bytes. */
static bool pack_row(metric_store *m, size_t distance, const uint64_t *row, size_t words)
{
    enum { NUMBER_BYTES = 10 };
    size_t count = 0;
    for (size_t i = metrics_next_word(row, 0, words); i < words; i = metrics_next_word(row, i + 1, words))
        count++;
    if (!vec_reserve(&m->scratch, (2 + 2 * count) * NUMBER_BYTES))
        return false;
    uint8_t *p = m->scratch.at + m->scratch.count;
    put_number(&p, distance);
    put_number(&p, count);
    size_t next = 0;
    for (size_t i = metrics_next_word(row, 0, words); i < words; i = metrics_next_word(row, next, words)) {
        put_number(&p, i - next);
        put_number(&p, row[i]);
        next = i + 1;
    }
    m->scratch.count = (size_t)(p - m->scratch.at);
    return true;
}

/* Nothing was counted since the last mark. */
static bool is_unchanged(const metrics_type *t, const metrics_source *s)
{
    return !t->has_level && memcmp((const char *)s->decl.counters + t->begin, s->raw, t->end - t->begin) == 0;
}

/* The interval is stored: the next one starts here. Cannot fail. */
static void restart(const metrics_type *t, metrics_source *s)
{
    for (size_t i = 0; i < t->run_count; i++) {
        const metrics_run *run = &t->runs[i];
        void *at = (char *)s->decl.counters + run->offset;
        uint64_t *last = &s->last[run->word], *now = at;
        if (run->kind == LS_METRIC_KIND_COUNTER) {
            memcpy(last, now, run->count * sizeof *last);
        } else if (run->kind == LS_METRIC_KIND_HISTOGRAM) {
            ls_histogram *h = at;
            if (h->count == last[METRICS_HIST_COUNT])
                continue; /* and it was reset by the mark before */
            read_histogram(h, last, METRICS_SCOPE_RUN, last);
            h->min = UINT64_MAX;
            h->max = 0;
        } else if (run->kind == LS_METRIC_KIND_PEAK) {
            *last = *now > *last ? *now : *last;
            *now = 0;
        } else {
            *last = *now;
            if (*now != (s->initial ? s->initial[run->word] : 0))
                t->fields[run->first].touched = true;
        }
    }
    memcpy(s->raw, (const char *)s->decl.counters + t->begin, t->end - t->begin);
}

/* Stores what pack_row() has put into the scratch bytes. */
static ls_status store(metric_store *m, const metric_interval *interval, ls_error *err)
{
    const char *name = interval->kernel_name ? interval->kernel_name : "";
    metrics_interval stored = { .decl = *interval, .source_count = m->sources.count };
    if (m->intervals.count && strcmp(m->intervals.at[m->intervals.count - 1].decl.kernel_name, name) == 0)
        stored.decl.kernel_name = m->intervals.at[m->intervals.count - 1].decl.kernel_name;
    else
        stored.decl.kernel_name = arena_strdup(&m->arena, name);
    stored.packed_bytes = m->scratch.count;
    stored.packed = malloc(m->scratch.count ? m->scratch.count : 1);
    if (!stored.decl.kernel_name || !stored.packed || !vec_push(&m->intervals, stored)) {
        free(stored.packed);
        return no_memory(err);
    }
    if (m->scratch.count)
        memcpy(stored.packed, m->scratch.at, m->scratch.count);
    m->packed_bytes += stored.packed_bytes;
    return LS_OK;
}

ls_status metrics_mark(metric_store *m, const metric_interval *interval, ls_error *err)
{
    vec_clear(&m->scratch);
    size_t next = 0;
    for (size_t i = 0; i < m->sources.count; i++) {
        metrics_source *s = &m->sources.at[i];
        if (!metrics_takes(interval, s))
            continue;
        const metrics_type *t = m->types.at[s->type];
        s->changed = !is_unchanged(t, s);
        if (!s->changed)
            continue;
        ls_status status = metrics_read_row(m, s, METRICS_SCOPE_SINCE_MARK, m->row.at, err);
        if (status != LS_OK)
            return status;
        if (!has_word(m->row.at, t->words))
            continue;
        if (!pack_row(m, i - next, m->row.at, t->words))
            return no_memory(err);
        next = i + 1;
    }
    ls_status status = store(m, interval, err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < m->sources.count; i++)
        if (metrics_takes(interval, &m->sources.at[i]) && m->sources.at[i].changed)
            restart(m->types.at[m->sources.at[i].type], &m->sources.at[i]);
    return LS_OK;
}

/* Reads one source's share into the row, and leaves it out of all that comes later. */
static ls_status take_row(metric_store *m, metrics_source *s, const void *counters, ls_error *err)
{
    const metrics_type *t = m->types.at[s->type];
    for (size_t i = 0; i < t->field_count; i++) {
        const metrics_field *f = &t->fields[i];
        if (f->kind == LS_METRIC_KIND_HISTOGRAM) { /* not kept by kernel: the group's interval has it */
            memset(&m->row.at[f->word], 0, METRICS_HIST_WORDS * sizeof *m->row.at);
            continue;
        }
        if (f->kind != LS_METRIC_KIND_COUNTER)
            return ls_fail(err, LS_ERR_INTERNAL, "'%s' of '%s' is no counter: it has no kernel's share",
                           f->name, s->decl.path);
        uint64_t share = *(const uint64_t *)(const void *)((const char *)counters + f->offset);
        m->row.at[f->word] = share;
        s->last[f->word] += share;
    }
    return LS_OK;
}

ls_status metrics_mark_part(metric_store *m, const metric_interval *interval, metrics_take_fn take, void *self,
                            ls_error *err)
{
    enum { SHARE_BYTES = 32768 }; /* a state may be much larger than the counters in it */
    char *share = malloc(SHARE_BYTES);
    size_t next = 0;
    ls_status status = share ? LS_OK : no_memory(err);
    vec_clear(&m->scratch);
    for (size_t i = 0; i < m->sources.count && status == LS_OK; i++) {
        metrics_source *s = &m->sources.at[i];
        const metrics_type *t = m->types.at[s->type];
        if (!metrics_takes(interval, s))
            continue;
        memset(share, 0, SHARE_BYTES);
        size_t bytes = s->decl.counters_size < SHARE_BYTES ? s->decl.counters_size : SHARE_BYTES;
        if (!take(self, &s->decl, share, bytes))
            continue;
        status = take_row(m, s, share, err);
        if (status != LS_OK || !has_word(m->row.at, t->words))
            continue;
        if (!pack_row(m, i - next, m->row.at, t->words))
            status = no_memory(err);
        next = i + 1;
    }
    free(share);
    return status == LS_OK ? store(m, interval, err) : status;
}

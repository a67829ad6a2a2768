/* metrics_totals.c: one scope of the registry reduced per type, for exporters that read thousands of kernels.
 * Reads counter structs in place for the run and packed rows for intervals; changes neither. */
#include "report/metrics_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct metric_totals {
    const metric_store *m;
    size_t type_count;
    size_t scope;
    uint64_t **rows; /* per type: its reduced row */
    bool *active;    /* per type: its row is not all zero */
    bool *adds;      /* per type: every word of its row adds up, as counters do */
    uint64_t *row;   /* of one source */
};

void metric_totals_destroy(metric_totals *totals)
{
    if (!totals)
        return;
    if (totals->rows)
        free(totals->rows[0]);
    free(totals->rows);
    free(totals->active);
    free(totals->adds);
    free(totals->row);
    free(totals);
}

static bool only_adds(const metrics_type *t)
{
    for (size_t i = 0; i < t->field_count; i++)
        if (t->fields[i].kind == LS_METRIC_KIND_PEAK || t->fields[i].kind == LS_METRIC_KIND_HISTOGRAM)
            return false;
    return true;
}

ls_status metric_totals_create(const metric_store *m, metric_totals **out, ls_error *err)
{
    size_t words = 0, longest = 0;
    for (size_t i = 0; i < m->types.count; i++) {
        words += m->types.at[i]->words;
        longest = m->types.at[i]->words > longest ? m->types.at[i]->words : longest;
    }
    metric_totals *totals = calloc(1, sizeof *totals);
    if (totals) {
        totals->m = m;
        totals->type_count = m->types.count;
        totals->rows = calloc(m->types.count + 1, sizeof *totals->rows);
        totals->active = calloc(m->types.count + 1, sizeof *totals->active);
        totals->adds = calloc(m->types.count + 1, sizeof *totals->adds);
        totals->row = calloc(longest + 1, sizeof *totals->row);
    }
    uint64_t *all = totals && totals->rows ? calloc(words + 1, sizeof *all) : NULL;
    if (all)
        totals->rows[0] = all;
    if (!all || !totals->active || !totals->adds || !totals->row) {
        metric_totals_destroy(totals);
        *out = NULL;
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for reading metrics");
    }
    for (size_t i = 0; i < m->types.count; i++) {
        totals->rows[i] = all;
        totals->adds[i] = only_adds(m->types.at[i]);
        all += m->types.at[i]->words;
    }
    *out = totals;
    return LS_OK;
}

static void clear(metric_totals *totals)
{
    for (size_t i = 0; i < totals->type_count; i++) {
        if (!totals->active[i])
            continue;
        memset(totals->rows[i], 0, totals->m->types.at[i]->words * sizeof **totals->rows);
        totals->active[i] = false;
    }
}

static void merge_histogram(uint64_t *into, const uint64_t *row)
{
    if (row[METRICS_HIST_COUNT] == 0)
        return;
    bool smaller = into[METRICS_HIST_COUNT] == 0 || row[METRICS_HIST_MIN] < into[METRICS_HIST_MIN];
    into[METRICS_HIST_MIN] = smaller ? row[METRICS_HIST_MIN] : into[METRICS_HIST_MIN];
    if (row[METRICS_HIST_MAX] > into[METRICS_HIST_MAX])
        into[METRICS_HIST_MAX] = row[METRICS_HIST_MAX];
    into[METRICS_HIST_COUNT] += row[METRICS_HIST_COUNT];
    into[METRICS_HIST_SUM] += row[METRICS_HIST_SUM];
    for (size_t b = METRICS_HIST_BUCKET; b < METRICS_HIST_WORDS; b++)
        into[b] += row[b];
}

static void merge_row(const metrics_type *t, uint64_t *into, const uint64_t *row)
{
    for (size_t i = 0; i < t->field_count; i++) {
        size_t word = t->fields[i].word;
        if (t->fields[i].kind == LS_METRIC_KIND_HISTOGRAM)
            merge_histogram(&into[word], &row[word]);
        else if (t->fields[i].kind != LS_METRIC_KIND_PEAK)
            into[word] += row[word];
        else if (row[word] > into[word])
            into[word] = row[word];
    }
}

static ls_status load_run(metric_totals *totals, ls_error *err)
{
    const metric_store *m = totals->m;
    for (size_t i = 0; i < m->sources.count; i++) {
        const metrics_source *s = &m->sources.at[i];
        ls_status status = metrics_read_row(m, s, METRICS_SCOPE_RUN, totals->row, err);
        if (status != LS_OK)
            return status;
        totals->active[s->type] = true;
        merge_row(m->types.at[s->type], totals->rows[s->type], totals->row);
    }
    return LS_OK;
}

static void load_interval(metric_totals *totals, const metrics_interval *interval)
{
    const uint8_t *p = interval->packed, *end = p + interval->packed_bytes;
    for (size_t source = 0; p < end; source++) {
        source += metrics_take_number(&p);
        uint32_t type = totals->m->sources.at[source].type;
        const metrics_type *t = totals->m->types.at[type];
        bool adds = totals->adds[type];
        uint64_t *row = adds ? totals->rows[type] : totals->row;
        if (!adds)
            memset(row, 0, t->words * sizeof *row);
        totals->active[type] = true;
        size_t word = 0;
        for (uint64_t count = metrics_take_number(&p); count > 0; count--, word++) {
            word += metrics_take_number(&p);
            uint64_t value = metrics_take_number(&p);
            row[word] = adds ? row[word] + value : value;
        }
        if (!adds)
            merge_row(t, totals->rows[type], row);
    }
}

ls_status metric_totals_load(metric_totals *totals, size_t scope, ls_error *err)
{
    const metric_store *m = totals->m;
    clear(totals);
    totals->scope = scope;
    if (scope == LS_METRICS_RUN)
        return load_run(totals, err);
    if (scope >= m->intervals.count)
        return ls_fail(err, LS_ERR_USAGE, "there is no interval %zu: %zu were recorded", scope,
                       m->intervals.count);
    load_interval(totals, &m->intervals.at[scope]);
    return LS_OK;
}

bool metric_totals_has(const metric_totals *totals, size_t type)
{
    if (totals->active[type] || totals->scope == LS_METRICS_RUN)
        return true;
    const metrics_interval *interval = &totals->m->intervals.at[totals->scope];
    const metrics_type *t = totals->m->types.at[type];
    for (size_t i = 0; i < t->sources.count && t->sources.at[i] < interval->source_count; i++)
        if (metrics_takes(&interval->decl, &totals->m->sources.at[t->sources.at[i]]))
            return true;
    return false;
}

bool metric_totals_active(const metric_totals *totals, size_t type)
{
    return totals->active[type];
}

const uint64_t *metric_totals_word(const metric_totals *totals, size_t type, size_t metric, metric_part part)
{
    static const uint64_t zero = 0;
    static const unsigned of_histogram[] = { METRICS_HIST_SUM, METRICS_HIST_COUNT, METRICS_HIST_MIN,
                                             METRICS_HIST_MAX };
    const metrics_type *t = totals->m->types.at[type];
    assert(metric < t->metric_count);
    const uint64_t *row = totals->rows[type], *field = &row[t->fields[t->field[metric]].word];
    if (t->metrics[metric].kind == LS_METRIC_KIND_HISTOGRAM)
        return &field[of_histogram[part]];
    if (t->metrics[metric].kind == LS_METRIC_KIND_RATIO && part == METRIC_PART_B)
        return &row[t->fields[t->denominator[metric]].word];
    return part == METRIC_PART_A ? field : &zero;
}

metric_parts metric_totals_get(const metric_totals *totals, size_t type, size_t metric)
{
    const metrics_type *t = totals->m->types.at[type];
    assert(metric < t->metric_count);
    const uint64_t *row = totals->rows[type], *field = &row[t->fields[t->field[metric]].word];
    switch (t->metrics[metric].kind) {
    case LS_METRIC_KIND_HISTOGRAM:
        return (metric_parts){ .a = field[METRICS_HIST_SUM],
                               .b = field[METRICS_HIST_COUNT],
                               .min = field[METRICS_HIST_MIN],
                               .max = field[METRICS_HIST_MAX] };
    case LS_METRIC_KIND_RATIO:
        return (metric_parts){ .a = *field, .b = row[t->fields[t->denominator[metric]].word] };
    default:
        return (metric_parts){ .a = *field };
    }
}

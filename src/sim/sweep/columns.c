/* columns.c: metrics of a sweep's runs, read back from its database, as columns of its table. */
#include "sim/sweep/sweep.h"
#include "report/saved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the metrics");
}

/* The column of a metric, which is added if it is new; SIZE_MAX without memory. */
static size_t column_of(sweep_columns *columns, mem_arena *arena, const saved_metric_entry *metric)
{
    const char *name = arena_printf(arena, "%s.%s", metric->type, metric->name);
    if (!name)
        return SIZE_MAX;
    for (size_t i = 0; i < columns->names.count; i++)
        if (strcmp(columns->names.at[i], name) == 0)
            return i;
    return vec_push(&columns->names, name) ? columns->names.count - 1 : SIZE_MAX;
}

typedef struct reading {
    sweep *sweep;
    mem_arena *arena;
    const char *const *patterns;
    size_t pattern_count;
    bool *seen; /* per pattern: some metric fits */
    bool fill;  /* the columns are known: put values into them */
    char nearest[128];
} reading;

static const char *metric_name(const void *self, size_t i)
{
    return ((const saved_results *)self)->metrics.at[i].name;
}

static ls_status read_run(reading *r, size_t point, const saved_results *saved, ls_error *err)
{
    sweep_columns *columns = &r->sweep->columns;
    saved_value *totals = calloc(saved->metrics.count + 1, sizeof *totals);
    if (!totals)
        return no_memory(err);
    saved_totals(saved, LS_SAVED_RUN, totals);
    ls_status status = LS_OK;
    for (size_t p = 0; p < r->pattern_count && status == LS_OK; p++)
        for (size_t m = 0; m < saved->metrics.count && status == LS_OK; m++) {
            const saved_metric_entry *metric = &saved->metrics.at[m];
            if (!saved_metric_is(metric, r->patterns[p]))
                continue;
            r->seen[p] = true;
            size_t column = column_of(columns, r->arena, metric);
            if (column == SIZE_MAX)
                status = no_memory(err);
            else if (r->fill)
                columns->values[point * columns->names.count + column] =
                    saved_value_number(metric->kind, &totals[m]);
        }
    free(totals);
    for (size_t p = 0; p < r->pattern_count; p++)
        if (!r->seen[p] && !r->nearest[0]) {
            const char *name = nearest_name(r->patterns[p], saved->metrics.count, metric_name, saved);
            snprintf(r->nearest, sizeof r->nearest, "%s", name ? name : "");
        }
    return status;
}

static ls_status read_all(reading *r, const char *database, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < r->sweep->point_count && status == LS_OK; i++) {
        const sweep_point *point = &r->sweep->points[i];
        saved_results *saved = NULL;
        if (!point->done)
            continue;
        const char *path = arena_printf(r->arena, "%s#%lld", database, (long long)point->run);
        status = path ? saved_load(path, &saved, err) : no_memory(err);
        if (status == LS_OK)
            status = read_run(r, i, saved, err);
        saved_destroy(saved);
    }
    return status;
}

ls_status sweep_read_columns(sweep *s, mem_arena *arena, const char *database, const char *const *patterns,
                             size_t pattern_count, ls_error *err)
{
    reading r = { .sweep = s, .arena = arena, .patterns = patterns, .pattern_count = pattern_count };
    bool any = false;
    for (size_t i = 0; i < s->point_count; i++)
        any |= s->points[i].done;
    if (pattern_count == 0 || !any)
        return LS_OK;
    r.seen = arena_array(arena, pattern_count, sizeof *r.seen);
    if (!r.seen)
        return no_memory(err);
    memset(r.seen, 0, pattern_count * sizeof *r.seen);
    /* Runs of different models have different metrics: the columns are known when all runs are read. */
    ls_status status = read_all(&r, database, err);
    for (size_t p = 0; p < pattern_count && status == LS_OK; p++)
        if (!r.seen[p]) {
            ls_fail(err, LS_ERR_USAGE, "no metric is called '%s'", patterns[p]);
            ls_error_nearest(err, r.nearest);
            status = ls_error_at(err, "metric", 0, 0);
        }
    size_t cells = s->point_count * s->columns.names.count;
    if (status == LS_OK)
        s->columns.values = arena_array(arena, cells + 1, sizeof *s->columns.values);
    if (status == LS_OK && !s->columns.values)
        status = no_memory(err);
    for (size_t i = 0; i < cells && status == LS_OK; i++)
        s->columns.values[i] = NAN;
    r.fill = true;
    return status == LS_OK ? read_all(&r, database, err) : status;
}

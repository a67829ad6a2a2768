/* saved.c: results read back: the common picture that all formats fill. */
#include "report/saved_impl.h"

#include "base/file.h"
#include "base/text.h"
#include "report/export.h"
#include "report/db_results.h"
#include "report/metrics.h"
#include "report/postgres.h"
#include "report/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
}

/* ------------------------------------------------------------------------------------------------ filling */

static bool kind_of(const char *name, ls_metric_kind *out)
{
    for (int k = LS_METRIC_KIND_COUNTER; k <= LS_METRIC_KIND_RATIO; k++)
        if (strcmp(name, metric_kind_name((ls_metric_kind)k)) == 0) {
            *out = (ls_metric_kind)k;
            return true;
        }
    return false;
}

/* The index of key in map, or the next one if it is new. */
static size_t index_of(string_map *map, const void *key, size_t bytes, size_t next, bool *is_new, bool *failed)
{
    void *found = map_getn(map, key, bytes);
    *is_new = found == NULL;
    if (found)
        return (size_t)(uintptr_t)found - 1;
    if (!map_putn(map, key, bytes, (void *)(uintptr_t)(next + 1)))
        *failed = true;
    return next;
}

ls_status saved_metric(saved_results *s, const char *type, const char *name, const char *kind,
                       const char *unit, uint32_t *out, ls_error *err)
{
    char key[256];
    int bytes = snprintf(key, sizeof key, "%s\n%s", type, name);
    if (bytes < 0 || (size_t)bytes >= sizeof key)
        return ls_fail(err, LS_ERR_INPUT, "a metric's name is longer than any of ours");
    bool is_new, failed = false;
    *out = (uint32_t)index_of(&s->metric_index, key, (size_t)bytes, s->metrics.count, &is_new, &failed);
    if (!is_new) { /* a count of values has no unit; the values have */
        saved_metric_entry *known = &s->metrics.at[*out];
        if (!known->unit[0] && unit && unit[0])
            known->unit = arena_strdup(&s->arena, unit);
        return known->unit ? LS_OK : no_memory(err);
    }
    saved_metric_entry metric = { .type = arena_strdup(&s->arena, type),
                                  .name = arena_strdup(&s->arena, name),
                                  .unit = arena_strdup(&s->arena, unit ? unit : ""),
                                  .help = "",
                                  .kind = LS_METRIC_KIND_COUNTER,
                                  .kind_is_unknown = kind == NULL };
    if (kind && !kind_of(kind, &metric.kind))
        return ls_fail(err, LS_ERR_INPUT, "metric %s of %s has a kind that is none of ours: '%s'", name, type,
                       kind);
    if (failed || !metric.type || !metric.name || !metric.unit || !vec_push(&s->metrics, metric))
        return no_memory(err);
    return LS_OK;
}

ls_status saved_block(saved_results *s, const char *path, uint32_t *out, ls_error *err)
{
    bool is_new, failed = false;
    *out = (uint32_t)index_of(&s->block_index, path, strlen(path), s->blocks.count, &is_new, &failed);
    if (!is_new)
        return LS_OK;
    saved_block_entry block = { .path = arena_strdup(&s->arena, path) };
    if (failed || !block.path || !vec_push(&s->blocks, block))
        return no_memory(err);
    return LS_OK;
}

ls_status saved_put(saved_results *s, uint32_t scope, uint32_t block, uint32_t metric, double a, double b,
                    ls_error *err)
{
    const saved_cell cell = {
        .scope = scope, .block = block, .metric = metric, .value = { .a = a, .b = b, .present = true }
    };
    return vec_push(&s->cells, cell) ? LS_OK : no_memory(err);
}

ls_status saved_add(saved_results *s, const saved_number *n, ls_error *err)
{
    bool is_a =
        strcmp(n->stat, "value") == 0 || strcmp(n->stat, "numerator") == 0 || strcmp(n->stat, "sum") == 0;
    bool is_b = strcmp(n->stat, "denominator") == 0 || strcmp(n->stat, "count") == 0;
    if (!is_a && !is_b)
        return LS_OK;
    uint32_t metric, block = LS_SAVED_TYPE;
    ls_status status = saved_metric(s, n->type, n->metric, n->kind, n->unit, &metric, err);
    if (status == LS_OK && n->block[0])
        status = saved_block(s, n->block, &block, err);
    if (status != LS_OK)
        return status;
    /* The quotient of a ratio is written beside its two parts. */
    if (s->metrics.at[metric].kind == LS_METRIC_KIND_RATIO && strcmp(n->stat, "value") == 0)
        return LS_OK;
    saved_cell *last = s->cells.count ? &s->cells.at[s->cells.count - 1] : NULL;
    if (!last || last->scope != n->scope || last->block != block || last->metric != metric) {
        status = saved_put(s, n->scope, block, metric, 0, 0, err);
        if (status != LS_OK)
            return status;
        last = &s->cells.at[s->cells.count - 1];
    }
    *(is_a ? &last->value.a : &last->value.b) = n->value;
    return LS_OK;
}

ls_status saved_add_kernel(saved_results *s, uint64_t id, const char *name, double begin_fs, double end_fs,
                           ls_error *err)
{
    saved_kernel kernel = { .id = id,
                            .name = arena_strdup(&s->arena, name),
                            .begin_fs = begin_fs,
                            .end_fs = end_fs,
                            .gpu = -1,
                            .stream = -1 };
    return kernel.name && vec_push(&s->kernels, kernel) ? LS_OK : no_memory(err);
}

ls_status saved_add_warning(saved_results *s, const char *kind, const char *text, ls_error *err)
{
    const saved_warning warning = { .kind = arena_strdup(&s->arena, kind),
                                    .text = arena_strdup(&s->arena, text) };
    return warning.kind && warning.text && vec_push(&s->warnings, warning) ? LS_OK : no_memory(err);
}

ls_status saved_add_bucket(saved_results *s, const char *type, const char *name, double least, double count,
                           ls_error *err)
{
    saved_bucket bucket = { .least = least, .count = count };
    ls_status status = saved_metric(s, type, name, "histogram", NULL, &bucket.metric, err);
    if (status != LS_OK)
        return status;
    return vec_push(&s->buckets, bucket) ? LS_OK : no_memory(err);
}

ls_status saved_add_series(saved_results *s, const saved_series *column, ls_error *err)
{
    saved_series copy = { .gpu = column->gpu,
                          .type = arena_strdup(&s->arena, column->type),
                          .name = arena_strdup(&s->arena, column->name),
                          .unit = arena_strdup(&s->arena, column->unit),
                          .values = arena_array(&s->arena, s->series_intervals + 1, sizeof(double)) };
    if (!copy.type || !copy.name || !copy.unit || !copy.values || !vec_push(&s->series, copy))
        return no_memory(err);
    for (size_t i = 0; i < s->series_intervals; i++)
        copy.values[i] = NAN;
    return LS_OK;
}

ls_status saved_set_help(saved_results *s, const char *type, const char *name, const char *help, ls_error *err)
{
    char key[256];
    int bytes = snprintf(key, sizeof key, "%s\n%s", type, name);
    void *found =
        bytes > 0 && (size_t)bytes < sizeof key ? map_getn(&s->metric_index, key, (size_t)bytes) : NULL;
    if (!found)
        return LS_OK;
    saved_metric_entry *metric = &s->metrics.at[(size_t)(uintptr_t)found - 1];
    metric->help = arena_strdup(&s->arena, help);
    if (metric->help)
        return LS_OK;
    metric->help = "";
    return no_memory(err);
}

uint32_t saved_kernel_scope(saved_results *s, uint64_t id, const char *name)
{
    for (size_t step = 0; step < s->kernels.count; step++) {
        size_t i = (s->last_kernel + step) % s->kernels.count;
        if (s->kernels.at[i].id == id && strcmp(s->kernels.at[i].name, name) == 0) {
            s->last_kernel = i;
            return (uint32_t)i + 1;
        }
    }
    return LS_SAVED_RUN;
}

/* ------------------------------------------------------------------------------------------------ loading */

/* "file.db#3" into the file and 3; without "#" the run is 0. */
static ls_status split_run(saved_results *s, const char **file, int64_t *run, ls_error *err)
{
    const char *hash = strrchr(s->path, '#');
    *run = 0;
    *file = s->path;
    if (!hash || file_exists(s->path))
        return LS_OK;
    *file = arena_strndup(&s->arena, s->path, (size_t)(hash - s->path));
    if (!*file)
        return no_memory(err);
    ls_status status = parse_i64(hash + 1, strlen(hash + 1), run, err);
    if (status == LS_OK && *run <= 0)
        status = ls_fail(err, LS_ERR_USAGE, "runs of a database are numbered from 1");
    return status;
}

/* CSV has no room for a configuration; it lies beside. */
static void load_config_beside(saved_results *s, const char *file)
{
    char *path = arena_printf(&s->arena, "%s.platform.yaml", file), *data;
    size_t bytes;
    if (path && file_exists(path) &&
        file_read(&s->arena, path, (size_t)64 << 20, &data, &bytes, NULL) == LS_OK)
        s->config_text = data;
}

static int by_place(const void *left, const void *right)
{
    const saved_cell *l = left, *r = right;
    if (l->block != r->block)
        return l->block < r->block ? -1 : 1;
    return l->metric < r->metric ? -1 : l->metric > r->metric;
}

/* Brings the cells into the order that look-ups need. */
static ls_status sort_cells(saved_results *s, ls_error *err)
{
    size_t scopes = s->kernels.count + 1;
    saved_cell *sorted = malloc((s->cells.count + 1) * sizeof *sorted);
    size_t *first = arena_array(&s->arena, scopes + 2, sizeof *first);
    if (!sorted || !first) {
        free(sorted);
        return no_memory(err);
    }
    memset(first, 0, (scopes + 2) * sizeof *first);
    for (size_t i = 0; i < s->cells.count; i++)
        first[s->cells.at[i].scope + 2]++;
    for (size_t i = 2; i <= scopes + 1; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < s->cells.count; i++)
        sorted[first[s->cells.at[i].scope + 1]++] = s->cells.at[i];
    if (s->cells.count)
        memcpy(s->cells.at, sorted, s->cells.count * sizeof *sorted);
    free(sorted);
    s->first = first;
    for (size_t i = 0; i < scopes; i++)
        if (first[i + 1] - first[i] > 1)
            qsort(&s->cells.at[first[i]], first[i + 1] - first[i], sizeof *s->cells.at, by_place);
    return LS_OK;
}

static saved_results *create(const char *path)
{
    saved_results *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->platform = s->config_text = s->command = s->version = "";
    s->path = arena_strdup(&s->arena, path);
    return s;
}

ls_status saved_load_text(const char *path, char *text, size_t bytes, saved_results **out, ls_error *err)
{
    saved_results *s = create(path);
    *out = NULL;
    if (!s)
        return no_memory(err);
    ls_status status = s->path ? saved_parse_json(s, path, text, bytes, err) : no_memory(err);
    if (status == LS_OK)
        status = sort_cells(s, err);
    if (status == LS_OK)
        *out = s;
    else
        saved_destroy(s);
    return status;
}

/* One run comes as a file, which the reader of files takes. It is the only one there. */
static ls_status load_server(saved_results *s, const char *url, int64_t run, ls_error *err)
{
    char *file = NULL;
    ls_status status = db_copy_to_file(url, run, false, &file, err);
    if (status == LS_OK)
        status = saved_load_sqlite(s, file, 0, err);
    db_copy_discard(file);
    return status;
}

ls_status saved_load(const char *path, saved_results **out, ls_error *err)
{
    *out = NULL;
    saved_results *s = create(path);
    if (!s)
        return no_memory(err);
    const char *file = path;
    int64_t run = 0;
    export_format format = LS_EXPORT_FORMATS;
    ls_status status = s->path ? split_run(s, &file, &run, err) : no_memory(err);
    s->path = postgres_public_url(&s->arena, path); /* it is shown; `file` is not */
    if (status == LS_OK && !s->path)
        status = no_memory(err);
    if (status == LS_OK)
        status = export_format_of(file, &format, err);
    if (status == LS_OK && run && format != LS_EXPORT_SQLITE)
        status = ls_fail(err, LS_ERR_USAGE, "only a database has several runs to choose from");
    if (status == LS_OK)
        switch (format) {
        case LS_EXPORT_JSON:
            status = saved_load_json(s, file, err);
            break;
        case LS_EXPORT_CSV:
        case LS_EXPORT_TIDY:
            status = saved_load_csv(s, file, err);
            break;
        case LS_EXPORT_SQLITE:
            status =
                postgres_is_url(file) ? load_server(s, file, run, err) : saved_load_sqlite(s, file, run, err);
            break;
        default:
            status = ls_fail(err, LS_ERR_USAGE, "text is for people: give a JSON, CSV or SQLite file");
        }
    if (status == LS_OK)
        status = sort_cells(s, err);
    if (status != LS_OK) {
        if (err && !err->where[0])
            ls_error_at(err, s->path ? s->path : "", 0, 0);
        saved_destroy(s);
        return status;
    }
    if (!s->config_text[0])
        load_config_beside(s, file);
    *out = s;
    return LS_OK;
}

void saved_destroy(saved_results *s)
{
    if (!s)
        return;
    map_fini(&s->metric_index);
    map_fini(&s->block_index);
    vec_fini(&s->kernels);
    vec_fini(&s->metrics);
    vec_fini(&s->blocks);
    vec_fini(&s->cells);
    vec_fini(&s->warnings);
    vec_fini(&s->buckets);
    vec_fini(&s->series);
    source_destroy(s->source);
    arena_fini(&s->arena);
    free(s);
}

/* ------------------------------------------------------------------------------------------------ reading */

const saved_cell *saved_cells(const saved_results *s, uint32_t scope, const saved_cell **end)
{
    static const saved_cell none;
    *end = s->cells.count ? &s->cells.at[s->first[scope + 1]] : &none;
    return s->cells.count ? &s->cells.at[s->first[scope]] : &none;
}

const saved_value *saved_find(const saved_results *s, uint32_t scope, uint32_t block, uint32_t metric)
{
    const saved_cell wanted = { .block = block, .metric = metric }, *end, *at = saved_cells(s, scope, &end);
    const saved_cell *found = bsearch(&wanted, at, (size_t)(end - at), sizeof *at, by_place);
    return found ? &found->value : NULL;
}

bool saved_has_blocks(const saved_results *s, uint32_t scope)
{
    const saved_cell *end, *at = saved_cells(s, scope, &end);
    return at < end && at->block != LS_SAVED_TYPE; /* single blocks come first */
}

void saved_totals(const saved_results *s, uint32_t scope, saved_value *out)
{
    memset(out, 0, s->metrics.count * sizeof *out);
    const saved_cell *end, *cell = saved_cells(s, scope, &end);
    for (; cell < end; cell++) {
        saved_value *total = &out[cell->metric];
        total->present = true;
        if (cell->block == LS_SAVED_TYPE) { /* the file has reduced them itself */
            *total = cell->value;
            continue;
        }
        if (s->metrics.at[cell->metric].kind == LS_METRIC_KIND_PEAK)
            total->a = fmax(total->a, cell->value.a);
        else
            total->a += cell->value.a;
        total->b += cell->value.b;
    }
}

double saved_value_number(ls_metric_kind kind, const saved_value *value)
{
    if (!value->present)
        return NAN;
    if (kind == LS_METRIC_KIND_RATIO || kind == LS_METRIC_KIND_HISTOGRAM)
        return value->b != 0 ? value->a / value->b : NAN;
    return value->a;
}

bool saved_metric_is(const saved_metric_entry *metric, const char *pattern)
{
    char full[256];
    snprintf(full, sizeof full, "%s.%s", metric->type, metric->name);
    return glob_match(pattern, metric->name) || glob_match(pattern, full);
}

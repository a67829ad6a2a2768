/* page_sweep.c: the points of a sweep (points.h) as data of a report. */
#include "report/page/page.h"

#include "base/file.h"
#include "report/db_results.h"
#include "report/export.h"
#include "report/postgres.h"
#include "report/sqlite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct sweep_in {
    page_sweep *out;
    sqlite3 *db;
    string_map points;  /* id of a point, and number of a run in decimal -> index + 1 */
    string_map columns; /* "type.metric" -> index + 1 */
    size_t point_limit;
    double busy_end_fs; /* of the run that is read */
    int64_t busy_run;
} sweep_in;

#define HOST_COLUMN 2
#define COLUMN_LIMIT 64

typedef ls_status (*sweep_row)(sweep_in *in, sqlite3_stmt *s, ls_error *err);

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the sweep");
}

static ls_status query(sweep_in *in, const char *sql, sweep_row row, ls_error *err)
{
    sqlite3_stmt *s;
    ls_status status = LS_OK;
    int code = sqlite.prepare_v2(in->db, sql, -1, &s, NULL);
    if (code == SQLITE_OK) {
        while (status == LS_OK && (code = sqlite.step(s)) == SQLITE_ROW)
            status = row(in, s, err);
        sqlite.finalize(s);
    }
    if (status == LS_OK && code != SQLITE_DONE)
        status = ls_fail(err, LS_ERR_INPUT, "this is no results database of ours: %s", sqlite.errmsg(in->db));
    return status;
}

static const char *text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite.column_text(s, column);
    return text ? text : "";
}

static page_point *point_of(sweep_in *in, const char *name)
{
    size_t index = (size_t)(uintptr_t)map_get(&in->points, name);
    return index ? &in->out->points.at[index - 1] : NULL;
}

static ls_status take_key(sweep_in *in, sqlite3_stmt *s, ls_error *err)
{
    const char *key = arena_strdup(&in->out->arena, text_at(s, 0));
    return key && vec_push(&in->out->keys, key) ? LS_OK : no_memory(err);
}

static ls_status take_point(sweep_in *in, sqlite3_stmt *s, ls_error *err)
{
    page_sweep *out = in->out;
    page_point p = { .run = sqlite.column_int64(s, 1),
                     .values = arena_array(&out->arena, out->keys.count + 1, sizeof *p.values),
                     .numbers = arena_array(&out->arena, COLUMN_LIMIT, sizeof *p.numbers) };
    void *index = (void *)(uintptr_t)(out->points.count + 1);
    if (!p.values || !p.numbers || !vec_push(&out->points, p) || !map_put(&in->points, text_at(s, 0), index) ||
        !map_put(&in->points, text_at(s, 1), index))
        return no_memory(err);
    for (size_t i = 0; i < COLUMN_LIMIT; i++)
        p.numbers[i] = NAN;
    p.numbers[0] = 0;
    p.numbers[1] = sqlite.column_double(s, 2);
    p.numbers[2] = sqlite.column_double(s, 3);
    return LS_OK;
}

static ls_status take_key_value(sweep_in *in, sqlite3_stmt *s, ls_error *err)
{
    page_point *p = point_of(in, text_at(s, 0));
    for (size_t k = 0; p && k < in->out->keys.count; k++)
        if (strcmp(in->out->keys.at[k], text_at(s, 1)) == 0) {
            ((const char **)(uintptr_t)p->values)[k] = arena_strdup(&in->out->arena, text_at(s, 2));
            return p->values[k] ? LS_OK : no_memory(err);
        }
    return LS_OK;
}

/* Kernels in the order of their begins: those side by side count once. */
static ls_status take_span(sweep_in *in, sqlite3_stmt *s, ls_error *err)
{
    page_point *p = point_of(in, text_at(s, 0));
    double begin = sqlite.column_double(s, 1), end = sqlite.column_double(s, 2);
    (void)err;
    if (sqlite.column_int64(s, 0) != in->busy_run) {
        in->busy_run = sqlite.column_int64(s, 0);
        in->busy_end_fs = 0;
    }
    if (p && end > in->busy_end_fs) {
        p->numbers[0] += (end - fmax(begin, in->busy_end_fs)) / 1e6;
        in->busy_end_fs = end;
    }
    return LS_OK;
}

static ls_status add_column(page_sweep *out, const char *name, const char *unit, ls_error *err)
{
    const char *n = arena_strdup(&out->arena, name), *u = arena_strdup(&out->arena, unit);
    return n && u && vec_push(&out->columns, n) && vec_push(&out->units, u) ? LS_OK : no_memory(err);
}

static ls_status take_number(sweep_in *in, sqlite3_stmt *s, ls_error *err)
{
    page_sweep *out = in->out;
    page_point *p = point_of(in, text_at(s, 0));
    char name[256];
    snprintf(name, sizeof name, "%s.%s", text_at(s, 1), text_at(s, 2));
    size_t column = (size_t)(uintptr_t)map_get(&in->columns, name);
    if (!p || (!column && out->columns.count == COLUMN_LIMIT))
        return LS_OK;
    if (!column) {
        ls_status status = add_column(out, name, text_at(s, 4), err);
        if (status != LS_OK)
            return status;
        column = out->columns.count;
        if (!map_put(&in->columns, name, (void *)(uintptr_t)column))
            return no_memory(err);
    }
    if (sqlite.column_type(s, 3) != SQLITE_NULL)
        p->numbers[column - 1] = sqlite.column_double(s, 3);
    return LS_OK;
}

static ls_status read_points(sweep_in *in, ls_error *err)
{
    static const struct {
        const char *sql;
        sweep_row row;
    } queries[] = {
        { "SELECT DISTINCT key FROM point_keys ORDER BY key", take_key },
        { "SELECT p.id, r.run, r.cycles, h.wall_seconds FROM points p JOIN host h ON h.run_id = p.id"
          " JOIN runs r USING(run) WHERE NOT r.partial ORDER BY r.run",
          take_point },
        { "SELECT id, key, value FROM point_keys", take_key_value },
        { "SELECT run, begin_fs, end_fs FROM scopes WHERE kernel IS NOT NULL AND NOT coalesce(shared, 0)"
          " ORDER BY run, begin_fs",
          take_span },
        { "SELECT run, type, metric, value, unit FROM totals WHERE kernel IS NULL AND kind = 'ratio'"
          " AND value IS NOT NULL ORDER BY run, type, metric",
          take_number },
    };
    ls_status status = add_column(in->out, "time", "ns", err);
    if (status == LS_OK)
        status = add_column(in->out, "cycles", "cycles", err);
    if (status == LS_OK)
        status = add_column(in->out, "host time", "s", err);
    for (size_t i = 0; i < sizeof queries / sizeof *queries && status == LS_OK; i++)
        status = query(in, queries[i].sql, queries[i].row, err);
    return status;
}

static ls_status take_nothing(sweep_in *in, sqlite3_stmt *s, ls_error *err)
{
    (void)s;
    (void)err;
    in->point_limit++;
    return LS_OK;
}

/* Sorts the order of a sweep's file into the order of its keys' values: points that several workers made come back in one
 * fixed order. */
static int by_values(const void *left, const void *right)
{
    const page_point *l = left, *r = right;
    for (size_t k = 0; l->values[k] && r->values[k]; k++) {
        char *end_l, *end_r;
        double a = strtod(l->values[k], &end_l), b = strtod(r->values[k], &end_r);
        int order = *end_l == '\0' && *end_r == '\0' ? (a > b) - (a < b) : strcmp(l->values[k], r->values[k]);
        if (order != 0)
            return order;
    }
    return (l->run > r->run) - (l->run < r->run);
}

static ls_status load(sweep_in *in, const char *path, bool *found, ls_error *err)
{
    if (sqlite.open_v2(path, &in->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return ls_fail(err, LS_ERR_INPUT, "this is not an SQLite database");
    ls_status status = query(in, "SELECT 1 FROM sqlite_master WHERE name = 'points'", take_nothing, err);
    if (status != LS_OK || in->point_limit == 0)
        return status;
    status = read_points(in, err);
    page_sweep *out = in->out;
    if (status == LS_OK && out->points.count)
        qsort(out->points.at, out->points.count, sizeof *out->points.at, by_values);
    *found = out->points.count > 0;
    return status;
}

static ls_status load_file(const char *path, const char *label, page_sweep **out, ls_error *err);

/* The runs and points of a server come as a file; without points the reader of results takes the last run. */
static ls_status load_server(const char *url, page_sweep **out, ls_error *err)
{
    mem_arena arena = { 0 };
    char *file = NULL;
    const char *label = postgres_public_url(&arena, url);
    ls_status status = label ? db_copy_to_file(url, 0, true, &file, err) : no_memory(err);
    if (status == LS_OK)
        status = load_file(file, label, out, err);
    db_copy_discard(file);
    arena_fini(&arena);
    return status;
}

ls_status page_sweep_load(const char *path, page_sweep **out, ls_error *err)
{
    export_format format;
    *out = NULL;
    if (postgres_is_url(path))
        return strrchr(path, '#') ? LS_OK : load_server(path, out, err);
    if (!file_exists(path) || export_format_of(path, &format, err) != LS_OK || format != LS_EXPORT_SQLITE)
        return LS_OK; /* the reader of results says what is wrong with it */
    return load_file(path, path, out, err);
}

static ls_status load_file(const char *path, const char *label, page_sweep **out, ls_error *err)
{
    bool found = false;
    ls_status status = sqlite_load(err);
    if (status != LS_OK)
        return status;
    sweep_in in = { .out = calloc(1, sizeof *in.out) };
    if (!in.out)
        return no_memory(err);
    in.out->label = arena_strdup(&in.out->arena, label);
    status = in.out->label ? load(&in, path, &found, err) : no_memory(err);
    sqlite.close(in.db);
    map_fini(&in.points);
    map_fini(&in.columns);
    if (status == LS_OK && found) {
        *out = in.out;
        return LS_OK;
    }
    page_sweep_destroy(in.out);
    return status;
}

void page_sweep_destroy(page_sweep *sweep)
{
    if (!sweep)
        return;
    vec_fini(&sweep->keys);
    vec_fini(&sweep->columns);
    vec_fini(&sweep->units);
    vec_fini(&sweep->points);
    arena_fini(&sweep->arena);
    free(sweep);
}

static void put_texts(json_writer *j, const char *key, const char *const *texts, size_t count)
{
    json_key(j, key);
    json_array(j);
    for (size_t i = 0; i < count; i++)
        json_string(j, texts[i]);
    json_end(j);
}

/* Host seconds are apart: the rest is the same for any number of threads. */
void page_put_sweep(json_writer *j, const page_sweep *sweep)
{
    json_key(j, "sweep");
    json_begin_object(j);
    put_texts(j, "keys", sweep->keys.at, sweep->keys.count);
    json_key(j, "columns"); /* [name, unit] */
    json_array(j);
    for (size_t c = 0; c < sweep->columns.count; c++)
        if (c != HOST_COLUMN) {
            json_array(j);
            json_string(j, sweep->columns.at[c]);
            json_string(j, sweep->units.at[c]);
            json_end(j);
        }
    json_end(j);
    json_key(j, "host");
    json_begin_object(j);
    json_put_text(j, "file", sweep->label);
    json_key(j, "wall_seconds");
    json_array(j);
    for (size_t i = 0; i < sweep->points.count; i++)
        page_put_number(j, sweep->points.at[i].numbers[HOST_COLUMN]);
    json_end(j);
    json_end(j);
    json_key(j, "points");
    json_array(j);
    for (size_t i = 0; i < sweep->points.count; i++) {
        const page_point *p = &sweep->points.at[i];
        json_begin_object(j);
        json_key(j, "run");
        json_i64(j, p->run);
        put_texts(j, "values", p->values, sweep->keys.count);
        json_key(j, "numbers");
        json_array(j);
        for (size_t c = 0; c < sweep->columns.count; c++)
            if (c != HOST_COLUMN)
                page_put_number(j, p->numbers[c]);
        json_end(j);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

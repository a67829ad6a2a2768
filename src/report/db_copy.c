/* db_copy.c: copies a run from one database of results into another, whichever of them is a file or a server. Keys of
 * rows (run, metric, block, scope, series) are shifted behind those that the other database has. */
#include "report/db_results.h"

#include "base/map.h"
#include "report/export.h"
#include "report/export_series.h"
#include "report/points.h"
#include "report/postgres.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS_MOST = 2000 };

typedef struct copier {
    db *from, *to;
    mem_arena arena;
    int64_t run;                                                  /* of `from` */
    int64_t new_run;                                              /* in `to` */
    int64_t metric_shift, block_shift, scope_shift, series_shift; /* of keys */
    bool changed;
} copier;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
}

/* ---------------------------------------------------------------------------------------------- plain rows */

/* What happens to a cell on its way. */
typedef enum cell_key { AS_IS, NEW_RUN, METRIC, BLOCK, SCOPE, SERIES } cell_key;

typedef struct row_copy {
    const copier *c;
    db_rows *rows;
    const cell_key *keys; /* of the first cells */
    size_t key_count;
} row_copy;

static ls_status copy_row(void *self, const db_value *cells, size_t count, ls_error *err)
{
    row_copy *r = self;
    db_value moved[CELLS_MOST];
    if (count > CELLS_MOST)
        return ls_fail(err, LS_ERR_INPUT, "a table of the database is too wide");
    memcpy(moved, cells, count * sizeof *moved);
    for (size_t i = 0; i < r->key_count; i++) {
        const copier *c = r->c;
        int64_t shift = r->keys[i] == METRIC   ? c->metric_shift
                        : r->keys[i] == BLOCK  ? c->block_shift
                        : r->keys[i] == SCOPE  ? c->scope_shift
                        : r->keys[i] == SERIES ? c->series_shift
                                               : 0;
        if (r->keys[i] == NEW_RUN)
            moved[i] = DB_I(c->new_run);
        else if (r->keys[i] != AS_IS && cells[i].kind != DB_NULL)
            moved[i] = DB_I(db_int_of(&cells[i]) + shift);
    }
    return db_rows_put(r->rows, moved, err);
}

/* Every row of the query into a table. Its ?1 is the run. */
static ls_status copy_rows(copier *c, const char *sql, const char *table, const char *columns, size_t count,
                           const cell_key *keys, size_t key_count, ls_error *err)
{
    row_copy r = { .c = c, .keys = keys, .key_count = key_count };
    const db_value run[] = { DB_I(c->run) };
    ls_status status = db_rows_begin(c->to, table, columns, count, &r.rows, err);
    if (status == LS_OK)
        status = db_query(c->from, sql, run, 1, copy_row, &r, err);
    return db_rows_end(r.rows, status, err);
}

typedef struct table_copy {
    const char *table, *columns, *from; /* from: the rest of the query */
    size_t count;
    cell_key keys[4];
    size_t key_count;
} table_copy;

static const table_copy plain[] = {
    { "runs",
      "run, lockstep, platform, config_hash, partial, partial_reason, seed, end_time_fs, cycles, events, messages, "
      "ticks, region_cycles",
      "FROM runs WHERE run = ?1",
      13,
      { NEW_RUN },
      1 },
    { "host",
      "run, run_id, command, wall_seconds, threads, windows",
      "FROM host WHERE run = ?1",
      6,
      { NEW_RUN },
      1 },
    { "warnings", "run, kind, text", "FROM warnings WHERE run = ?1", 3, { NEW_RUN }, 1 },
    { "config", "run, text", "FROM config WHERE run = ?1", 2, { NEW_RUN }, 1 },
    { "scopes",
      "scope, run, kernel, name, gpu, stream, begin_fs, end_fs, cycles, overlapped, shared",
      "FROM scopes WHERE run = ?1 ORDER BY scope",
      11,
      { SCOPE, NEW_RUN },
      2 },
    { "metrics",
      "metric, run, type, name, kind, unit, help, untouched",
      "FROM metrics WHERE run = ?1 ORDER BY metric",
      8,
      { METRIC, NEW_RUN },
      2 },
    { "blocks",
      "block, run, path, type, gpu, stream",
      "FROM blocks WHERE run = ?1 ORDER BY block",
      6,
      { BLOCK, NEW_RUN },
      2 },
    { "buckets",
      "scope, block, metric, least, count",
      "FROM buckets WHERE scope IN (SELECT scope FROM scopes WHERE run = ?1) ORDER BY scope, block, metric, least",
      5,
      { SCOPE, BLOCK, METRIC },
      3 },
};

static const table_copy over_time[] = {
    { "series_columns",
      "series, run, gpu, type, metric, unit, every_fs",
      "FROM series_columns WHERE run = ?1 ORDER BY series",
      7,
      { SERIES, NEW_RUN },
      2 },
    { "series_values",
      "series, interval, value",
      "FROM series_values WHERE series IN (SELECT series FROM series_columns WHERE run = ?1) ORDER BY series, interval",
      3,
      { SERIES },
      1 },
};

static ls_status copy_tables(copier *c, const table_copy *list, size_t count, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        const char *sql = arena_printf(&c->arena, "SELECT %s %s", list[i].columns, list[i].from);
        status = sql ? copy_rows(c, sql, list[i].table, list[i].columns, list[i].count, list[i].keys,
                                 list[i].key_count, err)
                     : no_memory(err);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------- keys */

/* The distance from the first key of the run to the first free one. */
static ls_status shift_of(copier *c, const char *table, const char *key, int64_t *out, ls_error *err)
{
    char sql[128];
    int64_t first = 0, last = 0;
    const db_value run[] = { DB_I(c->run) };
    snprintf(sql, sizeof sql, "SELECT coalesce(min(%s), 1) FROM %s WHERE run = ?1", key, table);
    ls_status status = db_number(c->from, sql, run, 1, &first, err);
    snprintf(sql, sizeof sql, "SELECT coalesce(max(%s), 0) FROM %s", key, table);
    if (status == LS_OK)
        status = db_number(c->to, sql, NULL, 0, &last, err);
    *out = last + 1 - first;
    return status;
}

static ls_status find_shifts(copier *c, bool has_series, ls_error *err)
{
    int64_t last = 0;
    ls_status status = db_number(c->to, "SELECT coalesce(max(run), 0) FROM runs", NULL, 0, &last, err);
    c->new_run = c->new_run ? c->new_run : last + 1;
    if (status == LS_OK)
        status = shift_of(c, "metrics", "metric", &c->metric_shift, err);
    if (status == LS_OK)
        status = shift_of(c, "blocks", "block", &c->block_shift, err);
    if (status == LS_OK)
        status = shift_of(c, "scopes", "scope", &c->scope_shift, err);
    return status == LS_OK && has_series ? shift_of(c, "series_columns", "series", &c->series_shift, err)
                                         : status;
}

/* --------------------------------------------------------------------------------------------------- types */

typedef struct name_list {
    mem_arena *arena;
    LS_VEC(const char *) names;
} name_list;

static ls_status take_name(void *self, const db_value *cells, size_t count, ls_error *err)
{
    name_list *list = self;
    (void)count;
    const char *name = arena_strdup(list->arena, db_text_of(&cells[0]));
    return name && vec_push(&list->names, name) ? LS_OK : no_memory(err);
}

/* The columns of a type that this run has, in the order in which its own tables would have them. */
static ls_status columns_of_run(copier *c, const char *type, db_columns *out, ls_error *err)
{
    static const char *const parts[] = { ".numerator", ".denominator", ".count", ".sum", ".min", ".max", "" };
    const db_value which[] = { DB_I(c->run), DB_T(type) };
    name_list metrics = { .arena = &c->arena };
    db_columns all = { 0 };
    string_map index = { 0 };
    ls_status status = db_schema_columns(c->from, &c->arena, type, &all, err);
    if (status == LS_OK)
        status = db_query(c->from, "SELECT name FROM metrics WHERE run = ?1 AND type = ?2 ORDER BY metric",
                          which, 2, take_name, &metrics, err);
    for (size_t i = 0; i < all.count && status == LS_OK; i++)
        if (!map_put(&index, all.at[i].name, &all.at[i]))
            status = no_memory(err);
    for (size_t i = 0; i < metrics.names.count && status == LS_OK; i++)
        for (size_t p = 0; p < LS_COUNT_OF(parts) && status == LS_OK; p++) {
            const char *name = arena_printf(&c->arena, "%s%s", metrics.names.at[i], parts[p]);
            const db_column *found = name ? map_get(&index, name) : NULL;
            if (!found)
                continue;
            db_column column = *found;
            column.is_extreme = strcmp(parts[p], ".min") == 0 || strcmp(parts[p], ".max") == 0;
            status = vec_push(out, column) ? LS_OK : no_memory(err);
        }
    vec_fini(&metrics.names);
    vec_fini(&all);
    map_fini(&index);
    return status;
}

static ls_status copy_values(copier *c, const char *type, const char *suffix, const db_columns *columns,
                             ls_error *err)
{
    static const cell_key keys[] = { SCOPE, BLOCK };
    bool of_blocks = suffix[0] != '\0';
    text_buffer table = { 0 }, names = { 0 }, sql = { 0 };
    size_t count = of_blocks ? 2 : 1;
    sqlite_add_quoted(&table, '"', type, suffix);
    text_add(&names, of_blocks ? "scope, block" : "scope");
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->at[i].above)
            continue;
        text_add(&names, ", ");
        sqlite_add_quoted(&names, '"', columns->at[i].name, "");
        count++;
    }
    text_printf(&sql,
                "SELECT %s FROM %s WHERE scope IN (SELECT scope FROM scopes WHERE run = ?1) ORDER BY scope%s",
                text_get(&names), text_get(&table), of_blocks ? ", block" : "");
    ls_status status = table.failed || names.failed || sql.failed
                           ? no_memory(err)
                           : copy_rows(c, text_get(&sql), text_get(&table), text_get(&names), count, keys,
                                       of_blocks ? 2 : 1, err);
    text_fini(&table);
    text_fini(&names);
    text_fini(&sql);
    return status;
}

static ls_status copy_types(copier *c, ls_error *err)
{
    const db_value run[] = { DB_I(c->run) };
    name_list types = { .arena = &c->arena };
    ls_status status =
        db_query(c->from, "SELECT type FROM metrics WHERE run = ?1 GROUP BY type ORDER BY min(metric)", run, 1,
                 take_name, &types, err);
    for (size_t i = 0; i < types.names.count && status == LS_OK; i++) {
        db_columns columns = { 0 };
        const char *type = types.names.at[i];
        status = columns_of_run(c, type, &columns, err);
        if (status == LS_OK)
            status = db_schema_type(c->to, &c->arena, type, &columns, &c->changed, err);
        if (status == LS_OK)
            status = copy_values(c, type, "", &columns, err);
        if (status == LS_OK)
            status = copy_values(c, type, SQLITE_BLOCKS_SUFFIX, &columns, err);
        vec_fini(&columns);
    }
    vec_fini(&types.names);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- runs */

ls_status db_copy_run(db *from, int64_t run, db *to, int64_t *new_run, bool *changed, ls_error *err)
{
    copier c = { .from = from, .to = to, .run = run, .new_run = *new_run };
    bool has_series = db_schema_has_table(from, "series_columns");
    ls_status status = LS_OK;
    if (has_series && !db_is_server(to) && !db_schema_has_table(to, "series_columns"))
        status = db_run(to, export_series_tables, err);
    if (status == LS_OK)
        status = find_shifts(&c, has_series, err);
    if (status == LS_OK)
        status = copy_tables(&c, plain, LS_COUNT_OF(plain), err);
    if (status == LS_OK)
        status = copy_types(&c, err);
    if (status == LS_OK && has_series)
        status = copy_tables(&c, over_time, LS_COUNT_OF(over_time), err);
    *new_run = c.new_run;
    *changed |= c.changed;
    arena_fini(&c.arena);
    return status;
}

typedef struct run_list {
    LS_VEC(int64_t) runs;
} run_list;

static ls_status take_run(void *self, const db_value *cells, size_t count, ls_error *err)
{
    run_list *list = self;
    (void)count;
    return vec_push(&list->runs, db_int_of(&cells[0])) ? LS_OK : no_memory(err);
}

/* Every run of a query; with_points: they keep their numbers, and the points of sweeps come too. */
static ls_status copy_all(db *from, db *to, const char *which, bool with_points, ls_error *err)
{
    run_list list = { 0 };
    bool changed = false;
    ls_status status = db_query(from, which, NULL, 0, take_run, &list, err);
    for (size_t i = 0; i < list.runs.count && status == LS_OK; i++) {
        int64_t number = with_points ? list.runs.at[i] : 0;
        status = db_copy_run(from, list.runs.at[i], to, &number, &changed, err);
    }
    if (status == LS_OK && changed)
        status = db_schema_views(to, err);
    if (status == LS_OK && with_points)
        status = points_copy(from, to, err);
    vec_fini(&list.runs);
    return status;
}

static ls_status in_transaction(db *from, db *to, const char *which, bool with_points, ls_error *err)
{
    ls_status status = db_begin(to, err);
    if (status != LS_OK)
        return status;
    status = db_schema_prepare(to, err);
    if (status == LS_OK)
        status = copy_all(from, to, which, with_points, err);
    if (status == LS_OK)
        return db_commit(to, err);
    db_rollback(to);
    return status;
}

typedef struct id_check {
    db *to;
} id_check;

static ls_status check_id(void *self, const db_value *cells, size_t count, ls_error *err)
{
    id_check *c = self;
    int64_t run = 0;
    (void)count;
    ls_status status = db_number(c->to, "SELECT run FROM host WHERE run_id = ?1", cells, 1, &run, err);
    return status == LS_OK && run
               ? db_fail(c->to, LS_ERR_USAGE, err, "the database already has a run with the id '%s', run %lld",
                         db_text_of(&cells[0]), (long long)run)
               : status;
}

/* A run's name is its key: scripts and sweeps find a run by it. */
static ls_status check_ids(db *from, db *to, ls_error *err)
{
    id_check c = { to };
    if (!db_schema_has_table(to, "host"))
        return LS_OK;
    return db_query(from, "SELECT run_id FROM host WHERE run_id IS NOT NULL", NULL, 0, check_id, &c, err);
}

ls_status db_check_id(const char *url, const char *run_id, ls_error *err)
{
    db *to = NULL;
    ls_status status = db_open(url, DB_WRITE, &to, err);
    if (status == LS_OK)
        status = db_begin(to, err);
    if (status == LS_OK) {
        status = db_schema_prepare(to, err);
        if (status == LS_OK)
            status = db_commit(to, err);
        else
            db_rollback(to);
    }
    if (status == LS_OK && run_id)
        status = check_id(&(id_check){ to }, &(db_value){ .kind = DB_TEXT, .text = run_id }, 1, err);
    db_close(to);
    return status;
}

ls_status db_copy_runs(const char *file, const char *to_path, ls_error *err)
{
    db *from = NULL, *to = NULL;
    ls_status status = db_open(file, DB_READ, &from, err);
    if (status == LS_OK)
        status = db_open(to_path, DB_WRITE, &to, err);
    if (status == LS_OK)
        status = check_ids(from, to, err);
    if (status == LS_OK)
        status = in_transaction(from, to, "SELECT run FROM runs ORDER BY run", false, err);
    db_close(from);
    db_close(to);
    return status;
}

/* ------------------------------------------------------------------------------------------ a server's file */

ls_status db_copy_temp(char **path, ls_error *err)
{
    const char *named = getenv("TMPDIR"), *dir = named && *named ? named : "/tmp";
    size_t bytes = strlen(dir) + 40;
    char *name = malloc(bytes);
    *path = NULL;
    if (!name)
        return no_memory(err);
    snprintf(name, bytes, "%s/lockstep-XXXXXX.db", dir);
    int fd = mkstemps(name, 3);
    if (fd < 0) {
        free(name);
        return ls_fail(err, LS_ERR_IO, "no file can be made in %s: %s", dir, strerror(errno));
    }
    close(fd);
    *path = name;
    return LS_OK;
}

void db_copy_discard(char *path)
{
    if (path)
        unlink(path);
    free(path);
}

ls_status db_copy_to_file(const char *url, int64_t run, bool all, char **path, ls_error *err)
{
    db *from = NULL, *to = NULL;
    char which[96];
    *path = NULL;
    ls_status status = db_open(url, DB_READ, &from, err);
    if (status == LS_OK)
        status = db_schema_check(from, err);
    int64_t found = 0;
    snprintf(which, sizeof which, "SELECT run FROM runs WHERE run = %lld", (long long)run);
    if (status == LS_OK && !all)
        status = db_number(from, run ? which : "SELECT coalesce(max(run), 0) FROM runs", NULL, 0, &found, err);
    if (status == LS_OK && !all && !found)
        status = run ? db_fail(from, LS_ERR_INPUT, err, "the database has no run %lld", (long long)run)
                     : db_fail(from, LS_ERR_INPUT, err, "the database has no runs");
    snprintf(which, sizeof which, "SELECT run FROM runs WHERE run = %lld", (long long)found);
    if (status == LS_OK)
        status = db_copy_temp(path, err);
    if (status == LS_OK)
        status = export_database(*path, err);
    if (status == LS_OK)
        status = db_open(*path, DB_WRITE, &to, err);
    if (status == LS_OK)
        status = in_transaction(from, to, all ? "SELECT run FROM runs ORDER BY run" : which, all, err);
    db_close(from);
    db_close(to);
    if (status != LS_OK) {
        db_copy_discard(*path);
        *path = NULL;
    }
    return status;
}

/* saved_sqlite.c: one run of a database of export_sqlite.c, read back. */
#include "report/saved_impl.h"

#include "base/file.h"
#include "report/sqlite.h"

#include <string.h>

typedef struct sqlite_in {
    ls_saved *saved;
    sqlite3 *db;
    int64_t run;
    bool found;
} sqlite_in;

static ls_status fail_sqlite(const sqlite_in *in, ls_error *err)
{
    int code = sqlite.errcode(in->db);
    if (code == SQLITE_NOMEM)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    if (code == SQLITE_NOTADB)
        return ls_fail(err, LS_ERR_INPUT, "this is not an SQLite database");
    return ls_fail(err, LS_ERR_INPUT, "this is no results database of ours: %s", sqlite.errmsg(in->db));
}

static const char *column_text(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite.column_text(s, column);
    return text ? text : "";
}

/* Calls row for every row of the query, whose ?1 is the run. */
typedef ls_status (*row_fn)(sqlite_in *in, sqlite3_stmt *s, ls_error *err);
static ls_status query(sqlite_in *in, const char *sql, row_fn row, ls_error *err)
{
    sqlite3_stmt *s;
    if (sqlite.prepare_v2(in->db, sql, -1, &s, NULL) != SQLITE_OK)
        return fail_sqlite(in, err);
    sqlite.bind_int64(s, 1, in->run);
    ls_status status = LS_OK;
    int code;
    while (status == LS_OK && (code = sqlite.step(s)) == SQLITE_ROW)
        status = row(in, s, err);
    if (status == LS_OK && code != SQLITE_DONE)
        status = fail_sqlite(in, err);
    sqlite.finalize(s);
    return status;
}

static ls_status take_run(sqlite_in *in, sqlite3_stmt *s, ls_error *err)
{
    ls_saved *saved = in->saved;
    in->found = true;
    in->run = sqlite.column_int64(s, 0);
    saved->platform = ls_arena_strdup(&saved->arena, column_text(s, 1));
    saved->partial = sqlite.column_int(s, 2) != 0;
    saved->end_time_fs = sqlite.column_double(s, 3);
    saved->config_text = ls_arena_strdup(&saved->arena, column_text(s, 4));
    saved->command = ls_arena_strdup(&saved->arena, column_text(s, 5));
    return saved->platform && saved->config_text && saved->command
               ? LS_OK
               : ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
}

static ls_status take_kernel(sqlite_in *in, sqlite3_stmt *s, ls_error *err)
{
    return saved_add_kernel(in->saved, (uint64_t)sqlite.column_int64(s, 0), column_text(s, 1),
                            sqlite.column_double(s, 2), sqlite.column_double(s, 3), err);
}

static ls_status take_value(sqlite_in *in, sqlite3_stmt *s, ls_error *err)
{
    const saved_number number = { .scope = (uint32_t)sqlite.column_int64(s, 0),
                                  .block = column_text(s, 1),
                                  .type = column_text(s, 2),
                                  .metric = column_text(s, 3),
                                  .kind = column_text(s, 4),
                                  .unit = column_text(s, 5),
                                  .stat = column_text(s, 6),
                                  .value = sqlite.column_double(s, 7) };
    return saved_add(in->saved, &number, err);
}

ls_status saved_load_sqlite(ls_saved *saved, const char *file, int64_t run, ls_error *err)
{
    char *head; /* gives the usual sentence for a file that is not there */
    size_t bytes;
    if (!ls_file_exists(file))
        return ls_file_read(&saved->arena, file, SAVED_FILE_LIMIT, &head, &bytes, err);
    ls_status status = ls_file_check_input(file, err);
    if (status == LS_OK)
        status = sqlite_load(err);
    if (status != LS_OK)
        return status;
    sqlite_in in = { .saved = saved, .run = run };
    if (sqlite.open_v2(file, &in.db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        status = fail_sqlite(&in, err);
    if (status == LS_OK)
        status = query(&in,
                       "SELECT r.run, r.platform, r.partial, r.end_time_fs, c.text, h.command FROM runs r"
                       " LEFT JOIN config c USING(run) LEFT JOIN host h USING(run)"
                       " WHERE ?1 = 0 OR r.run = ?1 ORDER BY r.run DESC LIMIT 1",
                       take_run, err);
    if (status == LS_OK && !in.found)
        status = run ? ls_fail(err, LS_ERR_INPUT, "the database has no run %lld", (long long)run)
                     : ls_fail(err, LS_ERR_INPUT, "the database has no runs");
    if (status == LS_OK)
        status =
            query(&in, "SELECT kernel, name, begin_fs, end_fs FROM kernels WHERE run = ?1 ORDER BY interval",
                  take_kernel, err);
    /* Kernels are numbered here as they were just read. */
    if (status == LS_OK)
        status = query(&in,
                       "WITH n AS (SELECT interval, row_number() OVER (ORDER BY interval) AS scope"
                       " FROM kernels WHERE run = ?1)"
                       " SELECT coalesce(n.scope, 0), b.path, m.type, m.name, m.kind, m.unit, v.stat, v.value"
                       " FROM value v JOIN blocks b USING(block) JOIN metrics m USING(metric)"
                       " LEFT JOIN n ON n.interval = v.interval WHERE v.run = ?1",
                       take_value, err);
    sqlite.close(in.db);
    return status;
}

/* saved_sqlite.c: one run of a database of export_sqlite.c, read back. */
#include "report/saved_impl.h"

#include "base/file.h"
#include "base/text.h"
#include "report/sqlite.h"

#include <string.h>

typedef struct sqlite_in {
    saved_results *saved;
    sqlite3 *db;
    int64_t run;
    bool found;
    int64_t first_scope;               /* of the run as a whole */
    size_t first_metric, metric_count; /* of the type that is read */
} sqlite_in;

#define SAVED_SQLITE_SCHEMA 3

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
    if (strchr(sql, '?'))
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
    saved_results *saved = in->saved;
    in->found = true;
    in->run = sqlite.column_int64(s, 0);
    saved->platform = arena_strdup(&saved->arena, column_text(s, 1));
    saved->partial = sqlite.column_int(s, 2) != 0;
    saved->end_time_fs = sqlite.column_double(s, 3);
    saved->config_text = arena_strdup(&saved->arena, column_text(s, 4));
    saved->command = arena_strdup(&saved->arena, column_text(s, 5));
    return saved->platform && saved->config_text && saved->command
               ? LS_OK
               : ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
}

static ls_status take_scope(sqlite_in *in, sqlite3_stmt *s, ls_error *err)
{
    int64_t scope = sqlite.column_int64(s, 0);
    if (sqlite.column_type(s, 1) == SQLITE_NULL) { /* the run as a whole is first */
        in->first_scope = scope;
        return LS_OK;
    }
    if (scope != in->first_scope + 1 + (int64_t)in->saved->kernels.count)
        return ls_fail(err, LS_ERR_INPUT, "the kernels of run %lld are not in one piece", (long long)in->run);
    ls_status status = saved_add_kernel(in->saved, (uint64_t)sqlite.column_int64(s, 1), column_text(s, 2),
                                        sqlite.column_double(s, 3), sqlite.column_double(s, 4), err);
    if (status == LS_OK)
        in->saved->kernels.at[in->saved->kernels.count - 1].gpu = (int32_t)sqlite.column_int64(s, 5);
    return status;
}

static ls_status take_metric(sqlite_in *in, sqlite3_stmt *s, ls_error *err)
{
    uint32_t index;
    return saved_metric(in->saved, column_text(s, 0), column_text(s, 1), column_text(s, 2), column_text(s, 3),
                        &index, err);
}

/* A row of a type's table: the scope, the block or nothing, and a number per metric of the type, from first_metric
 * on. */
static ls_status take_values(sqlite_in *in, sqlite3_stmt *s, ls_error *err)
{
    uint32_t scope = (uint32_t)(sqlite.column_int64(s, 0) - in->first_scope), block = LS_SAVED_TYPE;
    ls_status status = LS_OK;
    if (scope > in->saved->kernels.count)
        return ls_fail(err, LS_ERR_INPUT, "values of a kernel that the database does not list");
    if (sqlite.column_type(s, 1) != SQLITE_NULL)
        status = saved_block(in->saved, column_text(s, 1), &block, err);
    for (size_t i = 0; i < in->metric_count && status == LS_OK; i++) {
        int at = (int)i + 2;
        ls_metric_kind kind = in->saved->metrics.at[in->first_metric + i].kind;
        bool quotient = kind == LS_METRIC_KIND_RATIO || kind == LS_METRIC_KIND_HISTOGRAM;
        if (sqlite.column_type(s, at) != SQLITE_NULL)
            status = saved_put(in->saved, scope, block, (uint32_t)(in->first_metric + i),
                               sqlite.column_double(s, at), quotient, err);
    }
    return status;
}

static void add_name(text_buffer *sql, const char *name, const char *suffix)
{
    text_add(sql, "\"");
    for (; *name; name++)
        text_add(sql, (const char[]){ *name, *name == '"' ? '"' : 0, 0 });
    text_add(sql, suffix);
    text_add(sql, "\"");
}

static ls_status query_type(sqlite_in *in, const char *type, bool blocks, ls_error *err)
{
    text_buffer sql = { 0 };
    text_add(&sql, blocks ? "SELECT v.scope, b.path" : "SELECT v.scope, NULL");
    for (size_t i = 0; i < in->metric_count; i++) {
        text_add(&sql, ", v.");
        add_name(&sql, in->saved->metrics.at[in->first_metric + i].name, "");
    }
    text_add(&sql, " FROM scopes s JOIN ");
    add_name(&sql, type, blocks ? ".blocks" : "");
    text_add(&sql, " v ON v.scope = s.scope");
    text_add(&sql, blocks ? " JOIN blocks b ON b.block = v.block WHERE s.run = ?1" : " WHERE s.run = ?1");
    ls_status status = sql.failed ? ls_fail(err, LS_ERR_NOMEM, "no memory left for the results")
                                  : query(in, text_get(&sql), take_values, err);
    text_fini(&sql);
    return status;
}

/* The metrics of one type stand together. */
static ls_status read_types(sqlite_in *in, ls_error *err)
{
    ls_status status = query(in, "SELECT type, name, kind, unit FROM metrics WHERE run = ?1 ORDER BY metric",
                             take_metric, err);
    const saved_results *saved = in->saved;
    size_t end;
    for (size_t i = 0; i < saved->metrics.count && status == LS_OK; i = end) {
        const char *type = saved->metrics.at[i].type;
        for (end = i; end < saved->metrics.count && strcmp(saved->metrics.at[end].type, type) == 0;)
            end++;
        in->first_metric = i;
        in->metric_count = end - i;
        status = query_type(in, type, false, err);
        if (status == LS_OK)
            status = query_type(in, type, true, err);
    }
    return status;
}

static ls_status take_version(sqlite_in *in, sqlite3_stmt *s, ls_error *err)
{
    int version = sqlite.column_int(s, 0);
    (void)in;
    /* 0: not a database of ours; the next query reports it. */
    return version == 0 || version == SAVED_SQLITE_SCHEMA
               ? LS_OK
               : ls_fail(
                     err, LS_ERR_INPUT,
                     "the database has schema version %d, this Lockstep reads version %d: run it again into a "
                     "new file",
                     version, SAVED_SQLITE_SCHEMA);
}

ls_status saved_load_sqlite(saved_results *saved, const char *file, int64_t run, ls_error *err)
{
    char *head; /* gives the usual sentence for a file that is not there */
    size_t bytes;
    if (!file_exists(file))
        return file_read(&saved->arena, file, SAVED_FILE_LIMIT, &head, &bytes, err);
    ls_status status = file_check_input(file, err);
    if (status == LS_OK)
        status = sqlite_load(err);
    if (status != LS_OK)
        return status;
    sqlite_in in = { .saved = saved, .run = run };
    if (sqlite.open_v2(file, &in.db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        status = fail_sqlite(&in, err);
    if (status == LS_OK)
        status = query(&in, "PRAGMA user_version", take_version, err);
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
        status = query(
            &in, "SELECT scope, kernel, name, begin_fs, end_fs, gpu FROM scopes WHERE run = ?1 ORDER BY scope",
            take_scope, err);
    if (status == LS_OK)
        status = read_types(&in, err);
    if (status == LS_OK)
        status = saved_sqlite_more(saved, in.db, in.run, err);
    sqlite.close(in.db);
    return status;
}

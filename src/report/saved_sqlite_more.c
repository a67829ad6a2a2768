/* saved_sqlite_more.c: the parts of a run in a database that only reports need, as saved_json_more.c has them. */
#include "report/saved_impl.h"

#include "report/sqlite.h"

#include <math.h>

typedef struct more_in {
    saved_results *saved;
    sqlite3 *db;
    int64_t run;
    size_t kernel;  /* the next one */
    int64_t series; /* of the last column */
} more_in;

typedef ls_status (*more_row)(more_in *in, sqlite3_stmt *s, ls_error *err);

static const char *text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite.column_text(s, column);
    return text ? text : "";
}

static int32_t label_at(sqlite3_stmt *s, int column)
{
    return sqlite.column_type(s, column) == SQLITE_NULL ? -1 : sqlite.column_int(s, column);
}

/* ?1 of the query is the run. */
static ls_status query(more_in *in, const char *sql, more_row row, ls_error *err)
{
    sqlite3_stmt *s;
    ls_status status = LS_OK;
    int code = sqlite.prepare_v2(in->db, sql, -1, &s, NULL);
    if (code == SQLITE_OK) {
        sqlite.bind_int64(s, 1, in->run);
        while (status == LS_OK && (code = sqlite.step(s)) == SQLITE_ROW)
            status = row(in, s, err);
        sqlite.finalize(s);
    }
    if (status == LS_OK && code != SQLITE_DONE)
        status = ls_fail(err, code == SQLITE_NOMEM ? LS_ERR_NOMEM : LS_ERR_INPUT,
                         "this is no results database of ours: %s", sqlite.errmsg(in->db));
    return status;
}

static ls_status take_facts(more_in *in, sqlite3_stmt *s, ls_error *err)
{
    saved_results *saved = in->saved;
    const char *version = arena_strdup(&saved->arena, text_at(s, 0));
    if (!version)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the results");
    saved->version = version;
    saved->cycles = sqlite.column_double(s, 1);
    saved->host = (saved_host){ .wall_seconds = sqlite.column_double(s, 2),
                                .threads = sqlite.column_double(s, 3),
                                .windows = sqlite.column_double(s, 4) };
    return LS_OK;
}

static ls_status take_warning(more_in *in, sqlite3_stmt *s, ls_error *err)
{
    return saved_add_warning(in->saved, text_at(s, 0), text_at(s, 1), err);
}

static ls_status take_help(more_in *in, sqlite3_stmt *s, ls_error *err)
{
    return saved_set_help(in->saved, text_at(s, 0), text_at(s, 1), text_at(s, 2), err);
}

static ls_status take_label(more_in *in, sqlite3_stmt *s, ls_error *err)
{
    (void)err;
    if (in->kernel < in->saved->kernels.count) {
        saved_kernel *kernel = &in->saved->kernels.at[in->kernel++];
        kernel->gpu = label_at(s, 0);
        kernel->stream = label_at(s, 1);
        kernel->cycles = sqlite.column_double(s, 2);
        kernel->shared = sqlite.column_int(s, 4) != 0;
        kernel->overlapped = kernel->shared || sqlite.column_int(s, 3) != 0;
    }
    return LS_OK;
}

static ls_status take_bucket(more_in *in, sqlite3_stmt *s, ls_error *err)
{
    return saved_add_bucket(in->saved, text_at(s, 0), text_at(s, 1), sqlite.column_double(s, 2),
                            sqlite.column_double(s, 3), err);
}

static ls_status take_length(more_in *in, sqlite3_stmt *s, ls_error *err)
{
    int64_t intervals = sqlite.column_int64(s, 0);
    if (intervals < 0 || intervals > 1000000)
        return ls_fail(err, LS_ERR_INPUT,
                       "this is no results database of ours: it has too many intervals of series");
    in->saved->series_intervals = (size_t)intervals;
    in->saved->series_every_fs = sqlite.column_double(s, 1);
    return LS_OK;
}

static ls_status take_series(more_in *in, sqlite3_stmt *s, ls_error *err)
{
    saved_results *saved = in->saved;
    ls_status status = LS_OK;
    if (sqlite.column_int64(s, 0) != in->series) {
        const saved_series column = {
            .gpu = label_at(s, 1), .type = text_at(s, 2), .name = text_at(s, 3), .unit = text_at(s, 4)
        };
        status = saved_add_series(saved, &column, err);
        in->series = sqlite.column_int64(s, 0);
    }
    int64_t interval = sqlite.column_int64(s, 5);
    if (status == LS_OK && interval >= 0 && (size_t)interval < saved->series_intervals &&
        sqlite.column_type(s, 6) != SQLITE_NULL)
        saved->series.at[saved->series.count - 1].values[interval] = sqlite.column_double(s, 6);
    return status;
}

/* Tables that databases have only if some run needed them. */
static ls_status has_table(more_in *in, const char *name, bool *out, ls_error *err)
{
    sqlite3_stmt *s;
    if (sqlite.prepare_v2(in->db, "SELECT 1 FROM sqlite_master WHERE name = ?1", -1, &s, NULL) != SQLITE_OK)
        return ls_fail(err, LS_ERR_INPUT, "this is no results database of ours: %s", sqlite.errmsg(in->db));
    sqlite.bind_text(s, 1, name, -1, SQLITE_STATIC);
    *out = sqlite.step(s) == SQLITE_ROW;
    sqlite.finalize(s);
    return LS_OK;
}

static ls_status read_series(more_in *in, ls_error *err)
{
    bool present;
    ls_status status = has_table(in, "series_columns", &present, err);
    if (status != LS_OK || !present)
        return status;
    status = query(in,
                   "SELECT coalesce(max(v.interval) + 1, 0), max(c.every_fs) FROM series_columns c"
                   " JOIN series_values v USING(series) WHERE c.run = ?1",
                   take_length, err);
    if (status == LS_OK && in->saved->series_intervals)
        status =
            query(in,
                  "SELECT c.series, c.gpu, c.type, c.metric, c.unit, v.interval, v.value FROM series_columns c"
                  " JOIN series_values v USING(series) WHERE c.run = ?1 ORDER BY c.series, v.interval",
                  take_series, err);
    return status;
}

static ls_status take_source_kernel(more_in *in, sqlite3_stmt *s, ls_error *err)
{
    return saved_source_kernel(in->saved, s, err);
}

static ls_status take_source_inst(more_in *in, sqlite3_stmt *s, ls_error *err)
{
    return saved_source_inst(in->saved, s, err);
}

static ls_status take_source_stall(more_in *in, sqlite3_stmt *s, ls_error *err)
{
    return saved_source_stall(in->saved, s, err);
}

static ls_status take_source_line(more_in *in, sqlite3_stmt *s, ls_error *err)
{
    return saved_source_line(in->saved, s, err);
}

static ls_status read_source(more_in *in, ls_error *err)
{
    static const struct {
        const char *sql;
        more_row row;
    } queries[] = {
        { "SELECT kernel, launches, machine, request_bytes FROM source_kernels WHERE run = ?1 ORDER BY source",
          take_source_kernel },
        { "SELECT k.kernel, i.pc, i.instruction, i.file, i.line, i.executed, i.lanes, i.bytes, i.requests, i.hits,"
          " i.conflicts FROM source_kernels k JOIN source_instructions i USING(source) WHERE k.run = ?1"
          " ORDER BY k.source, i.pc",
          take_source_inst },
        { "SELECT k.kernel, s.pc, s.reason, s.stalls FROM source_kernels k JOIN source_stalls s USING(source)"
          " WHERE k.run = ?1",
          take_source_stall },
        { "SELECT file, line, text FROM source_lines WHERE run = ?1 ORDER BY rowid", take_source_line },
    };
    bool present = false;
    ls_status status = has_table(in, "source_kernels", &present, err);
    for (size_t i = 0; present && i < sizeof queries / sizeof *queries && status == LS_OK; i++)
        status = query(in, queries[i].sql, queries[i].row, err);
    return status;
}

ls_status saved_sqlite_more(saved_results *saved, sqlite3 *db, int64_t run, ls_error *err)
{
    static const struct {
        const char *sql;
        more_row row;
    } queries[] = {
        { "SELECT r.lockstep, r.cycles, h.wall_seconds, h.threads, h.windows FROM runs r LEFT JOIN host h USING(run)"
          " WHERE r.run = ?1",
          take_facts },
        { "SELECT kind, text FROM warnings WHERE run = ?1", take_warning },
        { "SELECT type, name, help FROM metrics WHERE run = ?1", take_help },
        { "SELECT gpu, stream, cycles, overlapped, shared FROM scopes WHERE run = ?1 AND kernel IS NOT NULL"
          " ORDER BY scope",
          take_label },
        { "SELECT m.type, m.name, b.least, sum(b.count) FROM scopes s JOIN buckets b USING(scope)"
          " JOIN metrics m USING(metric) WHERE s.run = ?1 AND s.kernel IS NULL GROUP BY m.metric, b.least",
          take_bucket },
    };
    more_in in = { .saved = saved, .db = db, .run = run };
    ls_status status = LS_OK;
    for (size_t i = 0; i < sizeof queries / sizeof *queries && status == LS_OK; i++)
        status = query(&in, queries[i].sql, queries[i].row, err);
    if (status == LS_OK)
        status = read_series(&in, err);
    return status == LS_OK ? read_source(&in, err) : status;
}

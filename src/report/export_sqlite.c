/* export_sqlite.c: results as an SQLite database that can hold many runs.
 *
 * A new database is filled under a temporary name and then renamed, unless another process was first. Then the
 * run is added to that database, as to any existing one, in a single transaction. Writers wait for each other.
 * A failure leaves the old content. Integers above 2^63 - 1, which SQLite does not have, are stored as decimal
 * text. */
#include "report/export_series.h"
#include "report/export_source.h"

#include "base/file.h"
#include "base/text.h"
#include "report/db_results.h"
#include "report/postgres.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define APPLICATION_ID 0x4c6b5374 /* "LkSt" */

/* The tables are the data part, except for `host`. Those of the types, with the values, are made when a run needs
 * them. docs/results.md describes all of this. */
static const char schema[] =
    "CREATE TABLE runs(run INTEGER PRIMARY KEY, lockstep TEXT NOT NULL, platform TEXT, config_hash TEXT,"
    " partial INTEGER NOT NULL, partial_reason TEXT, seed, end_time_fs, cycles, events, messages, ticks,"
    " region_cycles);"
    "CREATE TABLE warnings(run INTEGER NOT NULL REFERENCES runs(run), kind TEXT NOT NULL, text TEXT NOT NULL);"
    "CREATE TABLE host(run INTEGER PRIMARY KEY REFERENCES runs(run), run_id TEXT, command TEXT,"
    " wall_seconds REAL, threads INTEGER, windows);"
    "CREATE TABLE config(run INTEGER PRIMARY KEY REFERENCES runs(run), text TEXT);"
    "CREATE TABLE metrics(metric INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs(run),"
    " type TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, unit TEXT NOT NULL, help TEXT NOT NULL,"
    " untouched INTEGER NOT NULL, UNIQUE(run, type, name));"
    "CREATE TABLE blocks(block INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs(run),"
    " path TEXT NOT NULL, type TEXT NOT NULL, gpu INTEGER, stream INTEGER, UNIQUE(run, path));"
    /* A scope is a run as a whole (kernel is NULL) or one kernel of it. */
    "CREATE TABLE scopes(scope INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs(run), kernel, name TEXT,"
    " gpu INTEGER, stream INTEGER, begin_fs, end_fs, cycles, overlapped INTEGER, shared INTEGER);"
    "CREATE TABLE buckets(scope INTEGER NOT NULL REFERENCES scopes(scope),"
    " block INTEGER NOT NULL REFERENCES blocks(block), metric INTEGER NOT NULL REFERENCES metrics(metric),"
    " least NOT NULL, count NOT NULL, PRIMARY KEY(scope, block, metric, least)) WITHOUT ROWID;"
    /* The usual questions. */
    "CREATE VIEW kernels AS SELECT scope, run, gpu, kernel, name, stream, begin_fs, end_fs,"
    " (end_fs - begin_fs) * 1e-6 AS time_ns, cycles, overlapped, shared FROM scopes WHERE kernel IS NOT NULL;"
    "CREATE VIEW top_kernels AS SELECT run, name, count(*) AS launches, sum(time_ns) AS time_ns,"
    " sum(cycles) AS cycles, sum(time_ns) / sum(sum(time_ns)) OVER (PARTITION BY run) AS share"
    " FROM kernels WHERE shared = 0 GROUP BY run, name ORDER BY run, time_ns DESC;"
    "CREATE VIEW ipc AS SELECT run, kernel, kernel_name, type, value AS ipc FROM totals WHERE metric = 'ipc';"
    "CREATE VIEW hit_rates AS SELECT run, kernel, kernel_name, type, metric, value AS hit_rate FROM totals"
    " WHERE metric LIKE '%hit_rate';"
    "CREATE VIEW stalls AS SELECT run, kernel, kernel_name, type, substr(metric, 7) AS reason, value AS slots,"
    " value * 1.0 / nullif(sum(value) OVER (PARTITION BY scope, type), 0) AS share FROM totals"
    " WHERE metric LIKE 'stall\\_%' ESCAPE '\\';"
    "CREATE VIEW run_differences AS SELECT a.run AS run_a, b.run AS run_b, a.type, a.metric, a.value AS value_a,"
    " b.value AS value_b, abs(a.value - b.value) * 1.0 / nullif(max(abs(a.value), abs(b.value)), 0) AS difference"
    " FROM totals a JOIN totals b ON b.run <> a.run AND b.type = a.type AND b.metric = a.metric"
    " WHERE a.kernel IS NULL AND b.kernel IS NULL;"
    "CREATE VIEW kernel_differences AS SELECT a.run AS run_a, b.run AS run_b, a.kernel, a.name,"
    " a.time_ns AS time_a_ns, b.time_ns AS time_b_ns, b.time_ns / nullif(a.time_ns, 0) AS ratio"
    " FROM kernels a JOIN kernels b ON b.run <> a.run AND b.kernel = a.kernel AND b.name = a.name"
    " AND b.shared = a.shared;";

/* ------------------------------------------------------------------------------------------------- errors */

ls_status sqlite_fail(const sqlite_out *o, int code, ls_error *err)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        ls_fail(err, LS_ERR_IO, "the database is locked by another program");
        break;
    case SQLITE_FULL:
        ls_fail(err, LS_ERR_IO, "cannot write the database: %s", strerror(ENOSPC));
        break;
    case SQLITE_IOERR: {
        int reason = 0;
        sqlite.file_control(o->db, NULL, SQLITE_FCNTL_LAST_ERRNO, &reason);
        ls_fail(err, LS_ERR_IO, "cannot write the database: %s", strerror(reason ? reason : EIO));
        break;
    }
    case SQLITE_NOTADB:
        ls_fail(err, LS_ERR_INPUT, "the file exists and is not an SQLite database");
        break;
    case SQLITE_CORRUPT:
        ls_fail(err, LS_ERR_INPUT, "the database is damaged (%s)", sqlite.errmsg(o->db));
        break;
    default:
        ls_fail(err, LS_ERR_IO, "cannot write the database: %s", sqlite.errmsg(o->db));
    }
    return ls_error_at(err, o->path, 0, 0);
}

ls_status sqlite_run_sql(const sqlite_out *o, const char *sql, ls_error *err)
{
    int code = sqlite.exec(o->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? LS_OK : sqlite_fail(o, code, err);
}

/* --------------------------------------------------------------------------------------------------- rows */

typedef struct sqlite_cell {
    enum { CELL_TEXT, CELL_U64, CELL_KEY, CELL_REAL } kind;
    const char *text; /* NULL stays NULL; borrowed until the row is in */
    uint64_t u64;
    int64_t key; /* a label or the number of a row; negative: NULL */
    double real;
} sqlite_cell;

#define TEXT(value) ((sqlite_cell){ .kind = CELL_TEXT, .text = (value) })
#define U64(value) ((sqlite_cell){ .kind = CELL_U64, .u64 = (value) })
#define KEY(value) ((sqlite_cell){ .kind = CELL_KEY, .key = (value) })
#define REAL(value) ((sqlite_cell){ .kind = CELL_REAL, .real = (value) })

static int bind_cell(sqlite3_stmt *s, int column, const sqlite_cell *cell)
{
    switch (cell->kind) {
    case CELL_TEXT:
        return sqlite.bind_text(s, column, cell->text, -1, SQLITE_STATIC);
    case CELL_REAL:
        return sqlite.bind_double(s, column, cell->real);
    case CELL_KEY:
        return cell->key < 0 ? sqlite.bind_null(s, column) : sqlite.bind_int64(s, column, cell->key);
    default:
        return sqlite_bind_u64(s, column, cell->u64);
    }
}

static int insert_row(sqlite3_stmt *s, const sqlite_cell *cells, int count)
{
    int code = SQLITE_OK;
    for (int i = 0; i < count && code == SQLITE_OK; i++)
        code = bind_cell(s, i + 1, &cells[i]);
    if (code == SQLITE_OK)
        code = sqlite.step(s);
    int reset = sqlite.reset(s);
    return code == SQLITE_DONE ? reset : code;
}

ls_status sqlite_prepare(const sqlite_out *o, const char *sql, sqlite3_stmt **out, ls_error *err)
{
    int code = sqlite.prepare_v2(o->db, sql, -1, out, NULL);
    return code == SQLITE_OK ? LS_OK : sqlite_fail(o, code, err);
}

/* One number out of the database. */
ls_status sqlite_query(const sqlite_out *o, const char *sql, sqlite3_int64 *out, ls_error *err)
{
    sqlite3_stmt *s = NULL;
    ls_status status = sqlite_prepare(o, sql, &s, err);
    if (status != LS_OK)
        return status;
    int code = sqlite.step(s);
    *out = code == SQLITE_ROW ? sqlite.column_int64(s, 0) : 0;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = sqlite_fail(o, code, err);
    sqlite.finalize(s);
    return status;
}

/* ------------------------------------------------------------------------------------------------- tables */

/* Prepares, inserts one row and forgets the statement. */
static ls_status put_single(const sqlite_out *o, const char *sql, const sqlite_cell *cells, int count,
                            ls_error *err)
{
    sqlite3_stmt *s = NULL;
    ls_status status = sqlite_prepare(o, sql, &s, err);
    if (status != LS_OK)
        return status;
    int code = insert_row(s, cells, count);
    sqlite.finalize(s);
    return code == SQLITE_OK ? LS_OK : sqlite_fail(o, code, err);
}

static ls_status put_run(sqlite_out *o, const run_results *r, ls_error *err)
{
    char hash[64];
    const sqlite_cell run[] = {
        TEXT(LS_VERSION_STRING),
        TEXT(r->platform),
        TEXT(export_config_hash(r, hash)),
        U64(r->partial),
        TEXT(r->partial ? export_text_or(r->partial_reason, "") : NULL),
        U64(r->seed),
        U64(r->end_time),
        r->has_cycles ? U64(r->cycles) : TEXT(NULL),
        U64(r->events),
        U64(r->messages),
        U64(r->ticks),
        U64(r->region_cycles),
    };
    ls_status status = put_single(o, "INSERT INTO runs VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", run,
                                  LS_COUNT_OF(run), err);
    if (status != LS_OK)
        return status;
    o->run = sqlite.last_insert_rowid(o->db);
    const sqlite_cell host[] = { KEY(o->run),           TEXT(r->host.run_id),
                                 TEXT(r->host.command), REAL(r->host.wall_seconds),
                                 U64(r->host.threads),  U64(r->host.windows) };
    status = put_single(o, "INSERT INTO host VALUES(?, ?, ?, ?, ?, ?)", host, LS_COUNT_OF(host), err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < r->warning_count && status == LS_OK; i++) {
        const sqlite_cell row[] = { KEY(o->run), TEXT(r->warnings[i].kind), TEXT(r->warnings[i].text) };
        status = put_single(o, "INSERT INTO warnings VALUES(?, ?, ?)", row, LS_COUNT_OF(row), err);
    }
    if (status != LS_OK)
        return status;
    const sqlite_cell config[] = { KEY(o->run), TEXT(r->config_text) };
    return put_single(o, "INSERT INTO config VALUES(?, ?)", config, LS_COUNT_OF(config), err);
}

static ls_status put_metrics(sqlite_out *o, const metric_store *m, ls_error *err)
{
    size_t types = metrics_type_count(m), untouched_count = 0, next = 0;
    metric_untouched *untouched = NULL;
    sqlite3_stmt *s = NULL;
    o->metric_base = calloc(types + 1, sizeof *o->metric_base);
    if (!o->metric_base)
        return sqlite_fail(o, SQLITE_NOMEM, err);
    ls_status status = export_untouched(m, &untouched, &untouched_count, err);
    if (status == LS_OK)
        status = sqlite_prepare(o, "INSERT INTO metrics VALUES(NULL, ?, ?, ?, ?, ?, ?, ?)", &s, err);
    for (size_t t = 0; t < types && status == LS_OK; t++) {
        metric_type type = metrics_type_at(m, t);
        for (size_t k = 0; k < type.metric_count && status == LS_OK; k++) {
            const ls_metric *metric = &type.metrics[k];
            /* The list is in the order of this walk. */
            bool never = next < untouched_count && untouched[next].type == t && untouched[next].metric == k;
            next += never;
            const sqlite_cell row[] = { KEY(o->run),
                                        TEXT(type.name),
                                        TEXT(metric->name),
                                        TEXT(metric_kind_name(metric->kind)),
                                        TEXT(metric_unit(metric)),
                                        TEXT(metric_help(metric)),
                                        U64(never) };
            int code = insert_row(s, row, LS_COUNT_OF(row));
            if (code != SQLITE_OK)
                status = sqlite_fail(o, code, err);
            if (k == 0)
                o->metric_base[t] = sqlite.last_insert_rowid(o->db);
        }
    }
    sqlite.finalize(s);
    free(untouched);
    return status;
}

static ls_status put_blocks(sqlite_out *o, const metric_store *m, ls_error *err)
{
    sqlite3_stmt *s = NULL;
    ls_status status = sqlite_prepare(o, "INSERT INTO blocks VALUES(NULL, ?, ?, ?, ?, ?)", &s, err);
    size_t count = metrics_source_count(m);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        const metric_source *source = metrics_source_at(m, i);
        const sqlite_cell row[] = { KEY(o->run), TEXT(source->path), TEXT(source->type), KEY(source->gpu),
                                    KEY(source->stream) };
        int code = insert_row(s, row, LS_COUNT_OF(row));
        if (code != SQLITE_OK)
            status = sqlite_fail(o, code, err);
        if (i == 0)
            o->block_base = sqlite.last_insert_rowid(o->db);
    }
    sqlite.finalize(s);
    return status;
}

/* The run as a whole, then its kernels. Inside one transaction the keys of consecutive insertions are consecutive, so
 * they need no look-up. */
static ls_status put_scopes(sqlite_out *o, const run_results *r, ls_error *err)
{
    static const char sql[] = "INSERT INTO scopes VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    const sqlite_cell none = TEXT(NULL);
    const sqlite_cell whole[] = {
        KEY(o->run), none, none, none, none, U64(0), U64(r->end_time), r->has_cycles ? U64(r->cycles) : none,
        none,        none
    };
    sqlite3_stmt *s = NULL;
    ls_status status = sqlite_prepare(o, sql, &s, err);
    if (status == LS_OK && insert_row(s, whole, LS_COUNT_OF(whole)) != SQLITE_OK)
        status = sqlite_fail(o, sqlite.errcode(o->db), err);
    o->scope_base = sqlite.last_insert_rowid(o->db);
    size_t count = r->metrics ? metrics_interval_count(r->metrics) : 0;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        const metric_interval *k = metrics_interval_at(r->metrics, i);
        uint64_t cycles = 0;
        bool has_cycles = export_cycles(r, k, &cycles);
        const sqlite_cell row[] = { KEY(o->run),          U64(k->kernel),
                                    TEXT(k->kernel_name), KEY(k->gpu),
                                    KEY(k->stream),       U64(k->begin),
                                    U64(k->end),          has_cycles ? U64(cycles) : none,
                                    U64(k->overlapped),   U64(k->shared) };
        int code = insert_row(s, row, LS_COUNT_OF(row));
        if (code != SQLITE_OK)
            status = sqlite_fail(o, code, err);
    }
    sqlite.finalize(s);
    return status;
}

static ls_status put_all(sqlite_out *o, const run_results *r, bool per_block, ls_error *err)
{
    ls_status status = put_run(o, r, err);
    if (status == LS_OK)
        status = put_scopes(o, r, err);
    if (status != LS_OK || !r->metrics)
        return status;
    status = put_metrics(o, r->metrics, err);
    if (status == LS_OK)
        status = put_blocks(o, r->metrics, err);
    if (status == LS_OK)
        status = sqlite_types_prepare(o, r->metrics, err);
    if (status == LS_OK)
        status = sqlite_types_fill(o, r->metrics, per_block, err);
    if (status == LS_OK && r->series)
        status = export_series_sqlite(o, r->series, err);
    return status == LS_OK && r->source ? export_source_sqlite(o, r->source, err) : status;
}

/* ----------------------------------------------------------------------------------------------- database */

static ls_status check_schema(const sqlite_out *o, ls_error *err)
{
    sqlite3_int64 application = 0, version = 0;
    ls_status status = sqlite_query(o, "PRAGMA application_id", &application, err);
    if (status == LS_OK)
        status = sqlite_query(o, "PRAGMA user_version", &version, err);
    if (status != LS_OK)
        return status;
    if (application != APPLICATION_ID)
        ls_fail(err, LS_ERR_INPUT, "the database exists and does not hold Lockstep results");
    else if (version != SQLITE_SCHEMA_VERSION)
        ls_fail(err, LS_ERR_INPUT,
                "the database has schema version %lld, this Lockstep writes version %d: use a new file",
                (long long)version, SQLITE_SCHEMA_VERSION);
    else
        return LS_OK;
    ls_error_at(err, o->path, 0, 0);
    return LS_ERR_INPUT;
}

/* with_views: also the views over types of blocks. A run that comes next would make them anew. */
static ls_status make_schema(const sqlite_out *o, bool with_views, ls_error *err)
{
    char pragmas[96];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
             SQLITE_SCHEMA_VERSION);
    ls_status status = sqlite_run_sql(o, schema, err);
    if (status == LS_OK && with_views)
        status = sqlite_types_views(o, err);
    return status == LS_OK ? sqlite_run_sql(o, pragmas, err) : status;
}

/* An empty file becomes a database of results; any other must be one. */
static ls_status prepare_tables(sqlite_out *o, bool with_views, ls_error *err)
{
    sqlite3_int64 tables = 0;
    ls_status status = sqlite_query(o, "SELECT count(*) FROM sqlite_master", &tables, err);
    if (status != LS_OK)
        return status;
    o->is_new = tables == 0;
    return o->is_new ? make_schema(o, with_views, err) : check_schema(o, err);
}

/* A run's name is its key: scripts and sweeps find a run by it. */
static ls_status check_run_id(const sqlite_out *o, const char *run_id, ls_error *err)
{
    sqlite3_stmt *s = NULL;
    if (!run_id)
        return LS_OK;
    ls_status status = sqlite_prepare(o, "SELECT run FROM host WHERE run_id = ?", &s, err);
    if (status != LS_OK)
        return status;
    int code = bind_cell(s, 1, &TEXT(run_id));
    code = code == SQLITE_OK ? sqlite.step(s) : code;
    if (code == SQLITE_ROW) {
        ls_fail(err, LS_ERR_USAGE, "the database already has a run with the id '%s', run %lld", run_id,
                (long long)sqlite.column_int64(s, 0));
        status = ls_error_at(err, o->path, 0, 0);
    } else if (code != SQLITE_DONE)
        status = sqlite_fail(o, code, err);
    sqlite.finalize(s);
    return status;
}

/* Everything of one run; r NULL: only the tables. */
static ls_status fill(sqlite_out *o, const run_results *r, bool per_block, ls_error *err)
{
    ls_status status = prepare_tables(o, !r || !r->metrics, err);
    if (status == LS_OK && r)
        status = check_run_id(o, r->host.run_id, err);
    if (status == LS_OK && r)
        status = put_all(o, r, per_block, err);
    /* A single run needs no index of runs. The second one makes it, after its rows: sorting is cheaper than inserting. */
    return status == LS_OK && !o->is_new
               ? sqlite_run_sql(o, "CREATE INDEX IF NOT EXISTS scopes_by_run ON scopes(run)", err)
               : status;
}

/* Opens `file`, does everything in one transaction and closes it. */
static ls_status write_database(sqlite_out *o, const char *file, bool fresh, const run_results *r,
                                const export_options *options, ls_error *err)
{
    ls_status status = file_check_input(file, err);
    if (status != LS_OK)
        return status;
    int code =
        sqlite.open_v2(file, &o->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    status = code == SQLITE_OK ? LS_OK : sqlite_fail(o, code, err);
    if (status == LS_OK) {
        unsigned wait_ms = options && options->lock_wait_ms ? options->lock_wait_ms : SQLITE_LOCK_WAIT_MS;
        sqlite_wait_for_locks(o->db, &o->wait, wait_ms);
        /* A new file is thrown away if anything fails, so it needs no journal. */
        if (fresh)
            status = sqlite_run_sql(o, "PRAGMA journal_mode = OFF", err);
    }
    bool begun = false;
    if (status == LS_OK) {
        status = sqlite_run_sql(o, "BEGIN IMMEDIATE", err);
        begun = status == LS_OK;
    }
    if (status == LS_OK)
        status = fill(o, r, options && options->per_block, err);
    if (status == LS_OK)
        status = sqlite_run_sql(o, "COMMIT", err);
    if (status != LS_OK && begun)
        sqlite.exec(o->db, "ROLLBACK", NULL, NULL, NULL);
    code = sqlite.close(o->db);
    if (status == LS_OK && code != SQLITE_OK)
        status = sqlite_fail(o, code, err);
    free(o->metric_base);
    return status;
}

/* A server gets the run from a file that is written first: one place makes the rows. */
static ls_status export_server(const run_results *r, const export_options *options, const char *url,
                               ls_error *err)
{
    char *path = NULL;
    ls_status status = db_copy_temp(&path, err);
    if (status == LS_OK)
        status = export_sqlite(r, options, path, err);
    if (status == LS_OK)
        status = db_copy_runs(path, url, err);
    db_copy_discard(path);
    return status;
}

ls_status export_sqlite(const run_results *r, const export_options *options, const char *path, ls_error *err)
{
    if (postgres_is_url(path))
        return export_server(r, options, path, err);
    struct stat st;
    temp_file temp;
    bool exists = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    ls_status status = sqlite_load(err);
    if (status == LS_OK && !exists) {
        status = file_temp_open(&temp, path, err);
        if (status != LS_OK)
            return status;
        status = write_database(&(sqlite_out){ .path = path }, temp.path, true, r, options, err);
        if (status == LS_OK)
            status = file_temp_publish(&temp, path, &exists, err);
        else
            temp_discard(&temp);
    }
    if (status == LS_OK && exists)
        status = write_database(&(sqlite_out){ .path = path }, path, false, r, options, err);
    return status;
}

ls_status export_database(const char *path, ls_error *err)
{
    return export_sqlite(NULL, NULL, path, err);
}

ls_status export_check_id(const char *path, const char *run_id, ls_error *err)
{
    sqlite_out o = { .path = path };
    struct stat st;
    if (postgres_is_url(path))
        return db_check_id(path, run_id, err);
    if (!run_id || stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return LS_OK;
    ls_status status = sqlite_load(err);
    if (status != LS_OK)
        return status;
    int code = sqlite.open_v2(path, &o.db, SQLITE_OPEN_READONLY, NULL);
    status = code == SQLITE_OK ? LS_OK : sqlite_fail(&o, code, err);
    if (status == LS_OK) {
        sqlite_wait_for_locks(o.db, &o.wait, SQLITE_LOCK_WAIT_MS);
        status = check_schema(&o, err);
    }
    if (status == LS_OK)
        status = check_run_id(&o, run_id, err);
    sqlite.close(o.db);
    return status;
}

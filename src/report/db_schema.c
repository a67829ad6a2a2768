/* db_schema.c: the tables of results on a server: those of export_sqlite.c with the types that PostgreSQL wants, and
 * one more, type_columns, which says how each quotient is made. Counts are numeric: they may exceed 2^63 - 1. */
#include "report/db_results.h"

#include "base/map.h"
#include "report/export_sqlite.h"

#include <string.h>

enum { NAME_MOST = 63 }; /* PostgreSQL cuts longer names */

static const char tables[] =
    "CREATE TABLE lockstep_schema(version INTEGER NOT NULL);"
    "CREATE TABLE runs(run BIGINT PRIMARY KEY, lockstep TEXT NOT NULL, platform TEXT, config_hash TEXT,"
    " partial INTEGER NOT NULL, partial_reason TEXT, seed NUMERIC, end_time_fs NUMERIC, cycles NUMERIC, events NUMERIC,"
    " messages NUMERIC, ticks NUMERIC, region_cycles NUMERIC);"
    "CREATE TABLE warnings(run BIGINT NOT NULL REFERENCES runs(run), kind TEXT NOT NULL, text TEXT NOT NULL);"
    "CREATE TABLE host(run BIGINT PRIMARY KEY REFERENCES runs(run), run_id TEXT, command TEXT,"
    " wall_seconds DOUBLE PRECISION, threads INTEGER, windows NUMERIC);"
    "CREATE UNIQUE INDEX host_by_id ON host(run_id);"
    "CREATE TABLE config(run BIGINT PRIMARY KEY REFERENCES runs(run), text TEXT);"
    "CREATE TABLE metrics(metric BIGINT PRIMARY KEY, run BIGINT NOT NULL REFERENCES runs(run),"
    " type TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, unit TEXT NOT NULL, help TEXT NOT NULL,"
    " untouched INTEGER NOT NULL, UNIQUE(run, type, name));"
    "CREATE TABLE blocks(block BIGINT PRIMARY KEY, run BIGINT NOT NULL REFERENCES runs(run),"
    " path TEXT NOT NULL, type TEXT NOT NULL, gpu INTEGER, stream INTEGER, UNIQUE(run, path));"
    "CREATE TABLE scopes(scope BIGINT PRIMARY KEY, run BIGINT NOT NULL REFERENCES runs(run), kernel NUMERIC, name TEXT,"
    " gpu INTEGER, stream INTEGER, begin_fs NUMERIC, end_fs NUMERIC, cycles NUMERIC, overlapped INTEGER,"
    " shared INTEGER);"
    "CREATE INDEX scopes_by_run ON scopes(run);"
    "CREATE TABLE buckets(scope BIGINT NOT NULL REFERENCES scopes(scope) ON DELETE CASCADE,"
    " block BIGINT NOT NULL, metric BIGINT NOT NULL, least NUMERIC NOT NULL, count NUMERIC NOT NULL,"
    " PRIMARY KEY(scope, block, metric, least));"
    "CREATE TABLE type_columns(type TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, above TEXT,"
    " below TEXT, PRIMARY KEY(type, name));"
    "CREATE TABLE series_columns(series BIGINT PRIMARY KEY, run BIGINT NOT NULL REFERENCES runs(run),"
    " gpu INTEGER, type TEXT NOT NULL, metric TEXT NOT NULL, unit TEXT NOT NULL, every_fs NUMERIC NOT NULL);"
    "CREATE TABLE series_values(series BIGINT NOT NULL REFERENCES series_columns(series),"
    " interval INTEGER NOT NULL, value NUMERIC, PRIMARY KEY(series, interval));"
    "CREATE VIEW series AS SELECT c.run, c.gpu, c.type, c.metric, v.interval,"
    " v.interval * c.every_fs * 1e-6 AS begin_ns, v.value, c.unit"
    " FROM series_columns c JOIN series_values v USING(series);"
    "CREATE VIEW kernels AS SELECT scope, run, gpu, kernel, name, stream, begin_fs, end_fs,"
    " (end_fs - begin_fs) * 1e-6 AS time_ns, cycles, overlapped, shared FROM scopes WHERE kernel IS NOT NULL;"
    "CREATE VIEW top_kernels AS SELECT run, name, count(*) AS launches, sum(time_ns) AS time_ns,"
    " sum(cycles) AS cycles, sum(time_ns) / nullif(sum(sum(time_ns)) OVER (PARTITION BY run), 0) AS share"
    " FROM kernels WHERE shared = 0 GROUP BY run, name ORDER BY run, time_ns DESC;"
    "CREATE VIEW kernel_differences AS SELECT a.run AS run_a, b.run AS run_b, a.kernel, a.name,"
    " a.time_ns AS time_a_ns, b.time_ns AS time_b_ns, b.time_ns / nullif(a.time_ns, 0) AS ratio"
    " FROM kernels a JOIN kernels b ON b.run <> a.run AND b.kernel = a.kernel AND b.name = a.name"
    " AND b.shared = a.shared;";

/* Those that read `totals`, which is made anew with every new metric. */
static const char views_of_totals[] =
    "CREATE VIEW ipc AS SELECT run, kernel, kernel_name, type, value AS ipc FROM totals WHERE metric = 'ipc';"
    "CREATE VIEW hit_rates AS SELECT run, kernel, kernel_name, type, metric, value AS hit_rate FROM totals"
    " WHERE metric LIKE '%hit_rate';"
    "CREATE VIEW stalls AS SELECT run, kernel, kernel_name, type, substr(metric, 7) AS reason, value AS slots,"
    " value * 1.0 / nullif(sum(value) OVER (PARTITION BY scope, type), 0) AS share FROM totals"
    " WHERE metric LIKE 'stall!_%' ESCAPE '!';"
    "CREATE VIEW run_differences AS SELECT a.run AS run_a, b.run AS run_b, a.type, a.metric, a.value AS value_a,"
    " b.value AS value_b, abs(a.value - b.value) * 1.0 / nullif(greatest(abs(a.value), abs(b.value)), 0) AS difference"
    " FROM totals a JOIN totals b ON b.run <> a.run AND b.type = a.type AND b.metric = a.metric"
    " WHERE a.kernel IS NULL AND b.kernel IS NULL;";

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
}

/* -------------------------------------------------------------------------------------------------- checks */

bool db_schema_has_table(db *d, const char *table)
{
    int64_t found = 0;
    const db_value name[] = { DB_T(table) };
    const char *sql = db_is_server(d) ? "SELECT count(*) FROM information_schema.tables WHERE"
                                        " table_schema = current_schema() AND table_name = ?1"
                                      : "SELECT count(*) FROM sqlite_master WHERE name = ?1";
    return db_number(d, sql, name, 1, &found, NULL) == LS_OK && found > 0;
}

ls_status db_schema_check(db *d, ls_error *err)
{
    int64_t version = 0;
    if (!db_schema_has_table(d, "runs") || (db_is_server(d) && !db_schema_has_table(d, "lockstep_schema")))
        return db_fail(d, LS_ERR_INPUT, err, "the database does not hold Lockstep results");
    ls_status status =
        db_number(d, db_is_server(d) ? "SELECT version FROM lockstep_schema" : "PRAGMA user_version", NULL, 0,
                  &version, err);
    if (status == LS_OK && version != SQLITE_SCHEMA_VERSION)
        status = db_fail(d, LS_ERR_INPUT, err,
                         "the database has schema version %lld, this Lockstep has version %d: use a new one",
                         (long long)version, SQLITE_SCHEMA_VERSION);
    return status;
}

ls_status db_schema_prepare(db *d, ls_error *err)
{
    if (!db_is_server(d) || db_schema_has_table(d, "lockstep_schema"))
        return db_schema_check(d, err);
    if (db_schema_has_table(d, "runs"))
        return db_fail(d, LS_ERR_INPUT, err, "the database has a table 'runs' that is not Lockstep's");
    char sql[80];
    snprintf(sql, sizeof sql, "INSERT INTO lockstep_schema VALUES(%d)", SQLITE_SCHEMA_VERSION);
    ls_status status = db_run(d, tables, err);
    if (status == LS_OK)
        status = db_run(d, sql, err);
    return status == LS_OK ? db_schema_views(d, err) : status;
}

/* ------------------------------------------------------------------------------------------------- columns */

typedef struct column_reader {
    mem_arena *arena;
    db_columns *out;
    const char *create; /* SQLite: the text that made the table */
} column_reader;

/* Reads "name" in double quotes at *at, where a quote inside is doubled. */
static const char *read_quoted(mem_arena *arena, const char **at)
{
    text_buffer text = { 0 };
    const char *p = *at;
    if (*p++ != '"')
        return NULL;
    for (; *p && (*p != '"' || p[1] == '"'); p++) {
        p += *p == '"';
        text_addn(&text, p, 1);
    }
    *at = *p ? p + 1 : p;
    const char *out = text.failed ? NULL : arena_strdup(arena, text_get(&text));
    text_fini(&text);
    return out;
}

/* The operands of a quotient stand in the text of the table: "name" AS (CAST("above" AS REAL) / "below") VIRTUAL. */
static bool read_operands(const column_reader *r, db_column *c)
{
    static const char middle[] = " AS REAL) / ";
    text_buffer head = { 0 };
    sqlite_add_quoted(&head, '"', c->name, "");
    text_add(&head, " AS (CAST(");
    const char *at = head.failed || !r->create ? NULL : strstr(r->create, text_get(&head));
    if (at) {
        at += head.count;
        c->above = read_quoted(r->arena, &at);
        if (c->above && strncmp(at, middle, sizeof middle - 1) == 0) {
            at += sizeof middle - 1;
            c->below = read_quoted(r->arena, &at);
        }
    }
    text_fini(&head);
    return c->above && c->below;
}

static ls_status take_file_column(void *self, const db_value *cells, size_t count, ls_error *err)
{
    column_reader *r = self;
    (void)count;
    db_column c = { .name = arena_strdup(r->arena, db_text_of(&cells[0])) };
    if (!c.name)
        return no_memory(err);
    if (strcmp(c.name, "scope") == 0)
        return LS_OK;
    if (db_int_of(&cells[1]) != 0 && !read_operands(r, &c))
        return ls_fail(err, LS_ERR_INPUT, "the column %s of the database is not one of ours", c.name);
    return vec_push(r->out, c) ? LS_OK : no_memory(err);
}

static ls_status take_server_column(void *self, const db_value *cells, size_t count, ls_error *err)
{
    column_reader *r = self;
    (void)count;
    db_column c = { .name = arena_strdup(r->arena, db_text_of(&cells[0])) };
    if (cells[1].kind == DB_TEXT) {
        c.above = arena_strdup(r->arena, db_text_of(&cells[1]));
        c.below = arena_strdup(r->arena, db_text_of(&cells[2]));
    }
    return c.name && vec_push(r->out, c) ? LS_OK : no_memory(err);
}

static ls_status take_create(void *self, const db_value *cells, size_t count, ls_error *err)
{
    column_reader *r = self;
    (void)count;
    r->create = arena_strdup(r->arena, db_text_of(&cells[0]));
    return r->create ? LS_OK : no_memory(err);
}

ls_status db_schema_columns(db *d, mem_arena *arena, const char *type, db_columns *out, ls_error *err)
{
    column_reader r = { .arena = arena, .out = out };
    const db_value name[] = { DB_T(type) };
    out->count = 0;
    if (db_is_server(d))
        return db_query(d, "SELECT name, above, below FROM type_columns WHERE type = ?1 ORDER BY position",
                        name, 1, take_server_column, &r, err);
    ls_status status = db_query(d, "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?1", name, 1,
                                take_create, &r, err);
    if (status == LS_OK && r.create)
        status =
            db_query(d, "SELECT name, hidden FROM pragma_table_xinfo(?1)", name, 1, take_file_column, &r, err);
    return status;
}

/* -------------------------------------------------------------------------------------------------- tables */

static void add_server_definition(text_buffer *sql, const db_column *c, bool has_default)
{
    sqlite_add_quoted(sql, '"', c->name, "");
    if (!c->above) {
        text_add(sql, has_default && !c->is_extreme ? " NUMERIC DEFAULT 0" : " NUMERIC");
        return;
    }
    text_add(sql, " DOUBLE PRECISION GENERATED ALWAYS AS (CAST(");
    sqlite_add_quoted(sql, '"', c->above, "");
    text_add(sql, " AS DOUBLE PRECISION) / nullif(");
    sqlite_add_quoted(sql, '"', c->below, "");
    text_add(sql, ", 0)) STORED");
}

static void add_definition(const db *d, text_buffer *sql, const db_column *c, bool has_default)
{
    if (db_is_server(d))
        add_server_definition(sql, c, has_default);
    else
        sqlite_add_definition(sql, c->name, c->is_extreme, c->above, c->below, has_default);
}

static void add_create(const db *d, text_buffer *sql, const char *type, const char *suffix,
                       const db_columns *columns)
{
    bool of_blocks = suffix[0] != '\0', server = db_is_server(d);
    text_add(sql, "CREATE TABLE ");
    sqlite_add_quoted(sql, '"', type, suffix);
    if (server)
        text_add(sql, of_blocks ? "(scope BIGINT NOT NULL REFERENCES scopes(scope) ON DELETE CASCADE,"
                                  " block BIGINT NOT NULL"
                                : "(scope BIGINT PRIMARY KEY REFERENCES scopes(scope) ON DELETE CASCADE");
    else
        text_add(sql, of_blocks ? SQLITE_BLOCKS_TABLE_HEAD : SQLITE_TYPE_TABLE_HEAD);
    for (size_t i = 0; i < columns->count; i++) {
        text_add(sql, ", ");
        add_definition(d, sql, &columns->at[i], !of_blocks);
    }
    text_add(sql, !of_blocks ? ");"
                  : server   ? ", PRIMARY KEY(scope, block));"
                             : ", PRIMARY KEY(scope, block)) WITHOUT ROWID;");
}

static void add_alter(const db *d, text_buffer *sql, const char *type, const char *suffix, const db_column *c)
{
    text_add(sql, "ALTER TABLE ");
    sqlite_add_quoted(sql, '"', type, suffix);
    text_add(sql, " ADD COLUMN ");
    add_definition(d, sql, c, false);
    text_add(sql, ";");
}

static ls_status note_columns(db *d, const char *type, size_t position, const db_column *c, ls_error *err)
{
    const db_value row[] = { DB_T(type), DB_I((int64_t)position), DB_T(c->name), DB_T(c->above),
                             DB_T(c->below) };
    return db_is_server(d) ? db_put(d, "INSERT INTO type_columns VALUES(?1, ?2, ?3, ?4, ?5)", row, 5, err)
                           : LS_OK;
}

static ls_status check_names(const db *d, const char *type, const db_columns *columns, ls_error *err)
{
    const char *longest = strlen(type) + strlen(SQLITE_BLOCKS_SUFFIX) > NAME_MOST ? type : NULL;
    for (size_t i = 0; i < columns->count && db_is_server(d); i++)
        longest = strlen(columns->at[i].name) > NAME_MOST ? columns->at[i].name : longest;
    return longest && db_is_server(d)
               ? db_fail(d, LS_ERR_UNSUPPORTED, err,
                         "the name '%s' is too long for PostgreSQL: at most %d bytes", longest, NAME_MOST)
               : LS_OK;
}

ls_status db_schema_type(db *d, mem_arena *arena, const char *type, const db_columns *columns, bool *changed,
                         ls_error *err)
{
    static const char *const suffixes[] = { "", SQLITE_BLOCKS_SUFFIX };
    db_columns known = { 0 };
    string_map names = { 0 };
    text_buffer sql = { 0 };
    ls_status status = check_names(d, type, columns, err);
    if (status == LS_OK)
        status = db_schema_columns(d, arena, type, &known, err);
    for (size_t i = 0; i < known.count && status == LS_OK; i++)
        if (!map_put(&names, known.at[i].name, d))
            status = no_memory(err);
    for (size_t i = 0; i < LS_COUNT_OF(suffixes) && known.count == 0; i++)
        add_create(d, &sql, type, suffixes[i], columns);
    size_t position = known.count;
    for (size_t i = 0; i < columns->count && status == LS_OK; i++) {
        if (map_has(&names, columns->at[i].name))
            continue;
        for (size_t k = 0; k < LS_COUNT_OF(suffixes) && known.count > 0; k++)
            add_alter(d, &sql, type, suffixes[k], &columns->at[i]);
        status = note_columns(d, type, position++, &columns->at[i], err);
    }
    if (status == LS_OK && sql.failed)
        status = no_memory(err);
    *changed |= sql.count > 0;
    if (status == LS_OK && sql.count > 0)
        status = db_run(d, text_get(&sql), err);
    text_fini(&sql);
    map_fini(&names);
    vec_fini(&known);
    return status;
}

/* --------------------------------------------------------------------------------------------------- views */

typedef struct view_maker {
    text_buffer totals, readings, type;
    bool any;
} view_maker;

static void begin_type(view_maker *v)
{
    const char *head = v->any ? " UNION ALL " : "";
    text_printf(
        &v->totals,
        "%sSELECT s.run, s.scope, s.kernel, s.name AS kernel_name, m.type, m.name AS metric, m.kind, CASE m.name",
        head);
    text_printf(&v->readings,
                "%sSELECT s.run, s.scope, s.kernel, s.name AS kernel_name, b.gpu, b.path AS block, m.type,"
                " m.name AS metric, m.kind, CASE m.name",
                head);
    v->any = true;
}

static void end_type(view_maker *v)
{
    text_buffer *both[] = { &v->totals, &v->readings };
    const char *type = text_get(&v->type);
    for (size_t i = 0; i < 2; i++) {
        text_add(both[i], " END AS value, m.unit FROM scopes s JOIN metrics m ON m.run = s.run AND m.type = ");
        sqlite_add_quoted(both[i], '\'', type, "");
        text_add(both[i], " JOIN ");
        sqlite_add_quoted(both[i], '"', type, i ? SQLITE_BLOCKS_SUFFIX : "");
        text_add(both[i], " v ON v.scope = s.scope");
    }
    text_add(&v->readings, " JOIN blocks b ON b.block = v.block");
}

static ls_status take_metric(void *self, const db_value *cells, size_t count, ls_error *err)
{
    view_maker *v = self;
    text_buffer *both[] = { &v->totals, &v->readings };
    (void)count;
    (void)err;
    const char *type = db_text_of(&cells[0]), *metric = db_text_of(&cells[1]);
    if (!v->any || strcmp(type, text_get(&v->type)) != 0) {
        if (v->any)
            end_type(v);
        begin_type(v);
        text_clear(&v->type);
        text_add(&v->type, type);
    }
    for (size_t i = 0; i < 2; i++) {
        text_add(both[i], " WHEN ");
        sqlite_add_quoted(both[i], '\'', metric, "");
        text_add(both[i], " THEN CAST(v.");
        sqlite_add_quoted(both[i], '"', metric, "");
        text_add(both[i], " AS DOUBLE PRECISION)");
    }
    return LS_OK;
}

static ls_status server_views(db *d, ls_error *err)
{
    static const char none[] = "SELECT CAST(NULL AS BIGINT) AS run, CAST(NULL AS BIGINT) AS scope,"
                               " CAST(NULL AS NUMERIC) AS kernel, CAST(NULL AS TEXT) AS kernel_name,";
    static const char tail[] =
        " CAST(NULL AS TEXT) AS type, CAST(NULL AS TEXT) AS metric, CAST(NULL AS TEXT) AS kind,"
        " CAST(NULL AS DOUBLE PRECISION) AS value, CAST(NULL AS TEXT) AS unit WHERE false";
    view_maker v = { 0 };
    text_add(&v.totals, "DROP VIEW IF EXISTS totals CASCADE; CREATE VIEW totals AS ");
    text_add(&v.readings, "DROP VIEW IF EXISTS readings CASCADE; CREATE VIEW readings AS ");
    ls_status status =
        db_query(d, "SELECT type, name FROM metrics GROUP BY type, name ORDER BY type, min(metric)", NULL, 0,
                 take_metric, &v, err);
    if (v.any) {
        end_type(&v);
    } else {
        text_printf(&v.totals, "%s%s", none, tail);
        text_printf(&v.readings, "%s CAST(NULL AS INTEGER) AS gpu, CAST(NULL AS TEXT) AS block,%s", none,
                    tail);
    }
    if (status == LS_OK && (v.totals.failed || v.readings.failed || v.type.failed))
        status = no_memory(err);
    if (status == LS_OK)
        status = db_run(d, text_get(&v.totals), err);
    if (status == LS_OK)
        status = db_run(d, text_get(&v.readings), err);
    text_fini(&v.totals);
    text_fini(&v.readings);
    text_fini(&v.type);
    return status == LS_OK ? db_run(d, views_of_totals, err) : status;
}

ls_status db_schema_views(db *d, ls_error *err)
{
    if (db_is_server(d))
        return server_views(d, err);
    const sqlite_out o = { .db = db_sqlite(d), .path = db_name(d) };
    return sqlite_types_views(&o, err);
}

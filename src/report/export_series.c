/* export_series.c: metrics over time as JSON, and as tables of a database. */
#include "report/export_series.h"

/* --------------------------------------------------------------------------------------------------- JSON */

static void put_columns(json_writer *j, const series *s)
{
    json_key(j, "columns");
    json_array(j);
    for (size_t c = 0; c < series_columns(s); c++) {
        series_column column = series_column_at(s, c);
        json_flat(j);
        json_begin_object(j);
        if (column.gpu != LS_METRICS_NONE)
            json_put_u64(j, "gpu", (uint64_t)column.gpu);
        json_put_text(j, "type", column.type);
        json_put_text(j, "name", column.metric->name);
        json_put_text(j, "kind", metric_kind_name(column.metric->kind));
        json_put_text(j, "unit", metric_unit(column.metric));
        json_end(j);
    }
    json_end(j);
}

static void put_value(json_writer *j, const series *s, size_t interval, size_t column)
{
    double value;
    if (!series_value(s, interval, column, &value))
        json_null(j);
    else if (series_column_at(s, column).metric->kind == LS_METRIC_KIND_RATIO)
        json_real(j, value);
    else
        json_u64(j, (uint64_t)value);
}

void export_series_json(json_writer *j, const series *s)
{
    json_key(j, "series");
    json_begin_object(j);
    json_put_u64(j, "every_fs", series_every(s));
    json_put_u64(j, "intervals", series_intervals(s));
    put_columns(j, s);
    json_key(j, "values");
    json_array(j);
    for (size_t c = 0; c < series_columns(s); c++) {
        json_flat(j);
        json_array(j);
        for (size_t i = 0; i < series_intervals(s); i++)
            put_value(j, s, i, c);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

/* ------------------------------------------------------------------------------------------------- SQLite */

const char export_series_tables[] =
    "CREATE TABLE IF NOT EXISTS series_columns(series INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs(run),"
    " gpu INTEGER, type TEXT NOT NULL, metric TEXT NOT NULL, unit TEXT NOT NULL, every_fs NOT NULL);"
    "CREATE TABLE IF NOT EXISTS series_values(series INTEGER NOT NULL REFERENCES series_columns(series),"
    " interval INTEGER NOT NULL, value, PRIMARY KEY(series, interval)) WITHOUT ROWID;"
    "CREATE VIEW IF NOT EXISTS series AS SELECT c.run, c.gpu, c.type, c.metric, v.interval,"
    " v.interval * c.every_fs * 1e-6 AS begin_ns, v.value, c.unit"
    " FROM series_columns c JOIN series_values v USING(series);";

static int put_row(sqlite3_stmt *row, sqlite3_int64 key, const series *s, size_t interval, size_t column)
{
    double value;
    bool has = series_value(s, interval, column, &value);
    bool is_real = series_column_at(s, column).metric->kind == LS_METRIC_KIND_RATIO;
    int code = sqlite.bind_int64(row, 1, key);
    if (code == SQLITE_OK)
        code = sqlite.bind_int64(row, 2, (sqlite3_int64)interval);
    if (code == SQLITE_OK)
        code = !has      ? sqlite.bind_null(row, 3)
               : is_real ? sqlite.bind_double(row, 3, value)
                         : sqlite_bind_u64(row, 3, (uint64_t)value);
    if (code == SQLITE_OK)
        code = sqlite.step(row);
    int reset = sqlite.reset(row);
    return code == SQLITE_DONE ? reset : code;
}

static int put_column(const sqlite_out *o, sqlite3_stmt *head, const series *s, size_t column)
{
    series_column c = series_column_at(s, column);
    int code = sqlite.bind_int64(head, 1, o->run);
    if (code == SQLITE_OK)
        code = c.gpu < 0 ? sqlite.bind_null(head, 2) : sqlite.bind_int64(head, 2, c.gpu);
    if (code == SQLITE_OK)
        code = sqlite.bind_text(head, 3, c.type, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite.bind_text(head, 4, c.metric->name, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite.bind_text(head, 5, metric_unit(c.metric), -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite_bind_u64(head, 6, series_every(s));
    if (code == SQLITE_OK)
        code = sqlite.step(head);
    int reset = sqlite.reset(head);
    return code == SQLITE_DONE ? reset : code;
}

ls_status export_series_sqlite(const sqlite_out *o, const series *s, ls_error *err)
{
    sqlite3_stmt *head = NULL, *row = NULL;
    ls_status status = sqlite_run_sql(o, export_series_tables, err);
    if (status == LS_OK)
        status = sqlite_prepare(o, "INSERT INTO series_columns VALUES(NULL, ?, ?, ?, ?, ?, ?)", &head, err);
    if (status == LS_OK)
        status = sqlite_prepare(o, "INSERT INTO series_values VALUES(?, ?, ?)", &row, err);
    for (size_t c = 0; c < series_columns(s) && status == LS_OK; c++) {
        int code = put_column(o, head, s, c);
        sqlite3_int64 key = sqlite.last_insert_rowid(o->db);
        for (size_t i = 0; i < series_intervals(s) && code == SQLITE_OK; i++)
            code = put_row(row, key, s, i, c);
        if (code != SQLITE_OK)
            status = sqlite_fail(o, code, err);
    }
    sqlite.finalize(head);
    sqlite.finalize(row);
    return status;
}

/* points.c: see points.h. The tables of runs are export_sqlite.c's; here are two more beside them. */
#include "report/points.h"

#include "base/map.h"
#include "report/export.h"
#include "report/sqlite.h"

#include <stdlib.h>
#include <string.h>

#define LOCK_WAIT_MS 60000

struct ls_points {
    ls_arena arena;
    const char *path;
    sqlite3 *db;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS points(id TEXT PRIMARY KEY, trace TEXT NOT NULL, command TEXT NOT NULL, error TEXT);"
    "CREATE TABLE IF NOT EXISTS point_keys(id TEXT NOT NULL REFERENCES points(id), key TEXT NOT NULL,"
    " value TEXT NOT NULL, PRIMARY KEY(id, key));";

static ls_status fail_sqlite(const ls_points *p, ls_error *err)
{
    int code = p->db ? sqlite.errcode(p->db) & 0xff : SQLITE_NOMEM;
    if (code == SQLITE_NOMEM)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    ls_fail(err, code == SQLITE_NOTADB ? LS_ERR_INPUT : LS_ERR_IO, "%s",
            code == SQLITE_NOTADB ? "the file exists and is not an SQLite database" : sqlite.errmsg(p->db));
    return ls_error_at(err, p->path, 0, 0);
}

static ls_status run_sql(const ls_points *p, const char *sql, ls_error *err)
{
    return sqlite.exec(p->db, sql, NULL, NULL, NULL) == SQLITE_OK ? LS_OK : fail_sqlite(p, err);
}

ls_status ls_points_open(const char *path, ls_points **out, ls_error *err)
{
    *out = NULL;
    ls_points *p = calloc(1, sizeof *p);
    if (!p)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    p->path = ls_arena_strdup(&p->arena, path);
    ls_status status = p->path ? ls_export_database(path, err)
                               : ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    if (status == LS_OK && sqlite.open_v2(path, &p->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        status = fail_sqlite(p, err);
    if (status == LS_OK) {
        sqlite.busy_timeout(p->db, LOCK_WAIT_MS);
        status = run_sql(p, schema, err);
    }
    if (status != LS_OK) {
        ls_points_close(p);
        return status;
    }
    *out = p;
    return LS_OK;
}

void ls_points_close(ls_points *p)
{
    if (!p)
        return;
    if (p->db != NULL)
        sqlite.close(p->db);
    ls_arena_fini(&p->arena);
    free(p);
}

/* ------------------------------------------------------------------------------------------------ writing */

/* A statement with text parameters; no more than its one row of effect. */
static ls_status put(const ls_points *p, const char *sql, const char *const *texts, int count, ls_error *err)
{
    sqlite3_stmt *s;
    if (sqlite.prepare_v2(p->db, sql, -1, &s, NULL) != SQLITE_OK)
        return fail_sqlite(p, err);
    for (int i = 0; i < count; i++)
        sqlite.bind_text(s, i + 1, texts[i], -1, SQLITE_STATIC);
    ls_status status = sqlite.step(s) == SQLITE_DONE ? LS_OK : fail_sqlite(p, err);
    sqlite.finalize(s);
    return status;
}

ls_status ls_points_declare(ls_points *p, const ls_point *list, size_t count, const char *command,
                            ls_error *err)
{
    ls_status status = run_sql(p, "BEGIN IMMEDIATE", err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        const char *texts[] = { list[i].id, list[i].trace, command };
        status = put(p, "INSERT OR IGNORE INTO points(id, trace, command) VALUES(?1, ?2, ?3)", texts, 3, err);
        for (size_t k = 0; k < list[i].key_count && status == LS_OK; k++) {
            const char *pair[] = { list[i].id, list[i].keys[k], list[i].values[k] };
            status =
                put(p, "INSERT OR IGNORE INTO point_keys(id, key, value) VALUES(?1, ?2, ?3)", pair, 3, err);
        }
    }
    if (status == LS_OK)
        return run_sql(p, "COMMIT", err);
    run_sql(p, "ROLLBACK", NULL);
    return status;
}

ls_status ls_points_error(ls_points *p, const char *id, const char *error, ls_error *err)
{
    const char *texts[] = { id, error };
    return put(p, "UPDATE points SET error = ?2 WHERE id = ?1", texts, 2, err);
}

/* ------------------------------------------------------------------------------------------------ reading */

ls_status ls_points_read(ls_points *p, ls_arena *arena, ls_point *list, size_t count, ls_error *err)
{
    sqlite3_stmt *run = NULL, *error = NULL;
    ls_status status = LS_OK;
    if (sqlite.prepare_v2(p->db, "SELECT error FROM points WHERE id = ?1", -1, &error, NULL) != SQLITE_OK)
        return fail_sqlite(p, err);
    if (sqlite.prepare_v2(p->db,
                          "SELECT r.run, h.wall_seconds, (SELECT total(end_fs - begin_fs) FROM kernels k"
                          " WHERE k.run = r.run) FROM runs r JOIN host h USING(run)"
                          " WHERE h.run_id = ?1 AND r.partial = 0 ORDER BY r.run DESC LIMIT 1",
                          -1, &run, NULL) != SQLITE_OK)
        status = fail_sqlite(p, err);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        ls_point *point = &list[i];
        point->done = false;
        point->error = NULL;
        sqlite.reset(error);
        sqlite.bind_text(error, 1, point->id, -1, SQLITE_STATIC);
        if (sqlite.step(error) == SQLITE_ROW && sqlite.column_type(error, 0) == SQLITE_TEXT) {
            point->error = ls_arena_strdup(arena, (const char *)sqlite.column_text(error, 0));
            if (!point->error)
                status = ls_fail(err, LS_ERR_NOMEM, "no memory left for the points");
        }
        sqlite.reset(run);
        sqlite.bind_text(run, 1, point->id, -1, SQLITE_STATIC);
        int code = sqlite.step(run);
        if (code == SQLITE_ROW) {
            point->done = true;
            point->run = sqlite.column_int64(run, 0);
            point->wall_seconds = sqlite.column_double(run, 1);
            point->time_ns = sqlite.column_double(run, 2) * 1e-6;
        } else if (code != SQLITE_DONE) {
            status = fail_sqlite(p, err);
        }
    }
    sqlite.finalize(run);
    sqlite.finalize(error);
    return status;
}

ls_status ls_points_others(ls_points *p, const ls_point *list, size_t count, size_t *others, ls_error *err)
{
    *others = 0;
    ls_map mine = { 0 };
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++)
        if (!ls_map_put(&mine, list[i].id, p))
            status = ls_fail(err, LS_ERR_NOMEM, "no memory left for the points");
    sqlite3_stmt *s = NULL;
    if (status == LS_OK && sqlite.prepare_v2(p->db, "SELECT id FROM points", -1, &s, NULL) != SQLITE_OK)
        status = fail_sqlite(p, err);
    while (status == LS_OK && sqlite.step(s) == SQLITE_ROW)
        *others += !ls_map_has(&mine, (const char *)sqlite.column_text(s, 0));
    sqlite.finalize(s);
    ls_map_fini(&mine);
    return status;
}

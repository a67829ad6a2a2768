/* points.c: see points.h. The tables of runs are export_sqlite.c's; here are two more beside them. */
#include "report/points.h"

#include "base/map.h"
#include "report/export.h"
#include "report/sqlite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct point_store {
    mem_arena arena;
    const char *path;
    sqlite3 *db;
    sqlite_wait wait;
    /* identity of this process, for its claims */
    char host[256], started[32];
    long pid;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS points(id TEXT PRIMARY KEY, trace TEXT NOT NULL, command TEXT NOT NULL, error TEXT);"
    "CREATE TABLE IF NOT EXISTS point_keys(id TEXT NOT NULL REFERENCES points(id), key TEXT NOT NULL,"
    " value TEXT NOT NULL, PRIMARY KEY(id, key));"
    "CREATE TABLE IF NOT EXISTS point_claims(id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL,"
    " started TEXT NOT NULL, beat INTEGER NOT NULL);";

/* A claim of another host without a sign of life for this long has expired. */
#define CLAIM_DEAD_S (12 * LS_CLAIM_BEAT_S)

static ls_status fail_sqlite(const point_store *p, ls_error *err)
{
    int code = p->db ? sqlite.errcode(p->db) & 0xff : SQLITE_NOMEM;
    if (code == SQLITE_NOMEM)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    ls_fail(err, code == SQLITE_NOTADB ? LS_ERR_INPUT : LS_ERR_IO, "%s",
            code == SQLITE_NOTADB ? "the file exists and is not an SQLite database" : sqlite.errmsg(p->db));
    return ls_error_at(err, p->path, 0, 0);
}

static ls_status run_sql(const point_store *p, const char *sql, ls_error *err)
{
    return sqlite.exec(p->db, sql, NULL, NULL, NULL) == SQLITE_OK ? LS_OK : fail_sqlite(p, err);
}

ls_status points_open(const char *path, point_store **out, ls_error *err)
{
    *out = NULL;
    point_store *p = calloc(1, sizeof *p);
    if (!p)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    p->path = arena_strdup(&p->arena, path);
    ls_status status =
        p->path ? export_database(path, err) : ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    if (status == LS_OK && sqlite.open_v2(path, &p->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        status = fail_sqlite(p, err);
    if (status == LS_OK) {
        sqlite_wait_for_locks(p->db, &p->wait, SQLITE_LOCK_WAIT_MS);
        status = run_sql(p, schema, err);
    }
    if (status != LS_OK) {
        points_close(p);
        return status;
    }
    *out = p;
    return LS_OK;
}

void points_close(point_store *p)
{
    if (!p)
        return;
    if (p->db != NULL)
        sqlite.close(p->db);
    arena_fini(&p->arena);
    free(p);
}

/* ------------------------------------------------------------------------------------------------ writing */

/* A statement with text parameters that affects at most one row. */
static ls_status put(const point_store *p, const char *sql, const char *const *texts, int count, ls_error *err)
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

/* Whether a statement with the id as its first text has a row; its columns can be read until it is finalized. */
static ls_status find(const point_store *p, const char *sql, const char *id, sqlite3_stmt **s, bool *found,
                      ls_error *err)
{
    if (sqlite.prepare_v2(p->db, sql, -1, s, NULL) != SQLITE_OK)
        return fail_sqlite(p, err);
    sqlite.bind_text(*s, 1, id, -1, SQLITE_STATIC);
    int code = sqlite.step(*s);
    *found = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? LS_OK : fail_sqlite(p, err);
}

/* Every row of the partial runs with this id; a trigger removes the values of their scopes. A run that is still being simulated has no row yet. */
static ls_status remove_partial(const point_store *p, const char *id, ls_error *err)
{
    static const char runs[] = "(SELECT run FROM host JOIN runs USING(run) WHERE run_id = ?1 AND partial = 1)";
    static const char *const tables[] = { "scopes", "blocks", "metrics", "config", "warnings" };
    sqlite3_stmt *s = NULL;
    bool found;
    ls_status status = find(p, "SELECT 1 FROM host JOIN runs USING(run) WHERE run_id = ?1 AND partial = 1", id,
                            &s, &found, err);
    sqlite.finalize(s);
    if (status != LS_OK || !found)
        return status;
    char sql[256];
    const char *texts[] = { id };
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == LS_OK; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE run IN %s", tables[i], runs);
        status = put(p, sql, texts, 1, err);
    }
    if (status == LS_OK)
        status =
            put(p, "DELETE FROM host WHERE run_id = ?1 AND run IN (SELECT run FROM runs WHERE partial = 1)",
                texts, 1, err);
    if (status == LS_OK)
        status =
            put(p, "DELETE FROM runs WHERE partial = 1 AND run NOT IN (SELECT run FROM host)", texts, 0, err);
    return status;
}

ls_status points_declare(point_store *p, const sweep_point *list, size_t count, const char *command,
                         ls_error *err)
{
    ls_status status = run_sql(p, "BEGIN IMMEDIATE", err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        const char *texts[] = { list[i].id, list[i].trace, command };
        status = remove_partial(p, list[i].id, err);
        if (status != LS_OK)
            break;
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

/* ------------------------------------------------------------------------------------------------- claims */

/* When a process started, in ticks since the host did: a number of a process comes again, the pair does not. */
static bool process_started(long pid, char out[32])
{
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[bytes] = '\0';
    /* The second field is a name in parentheses, which may hold anything; the start is field 22. */
    char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, " %31s", out) == 1;
}

static void own_claim(point_store *p)
{
    if (p->host[0])
        return;
    if (gethostname(p->host, sizeof p->host - 1) != 0 || !p->host[0])
        strcpy(p->host, "localhost");
    p->pid = (long)getpid();
    if (!process_started(p->pid, p->started))
        strcpy(p->started, "unknown");
}

/* Whether the process of a claim (columns host, pid, started, beat) can still end it. */
static bool claim_is_alive(const point_store *p, sqlite3_stmt *s)
{
    const char *host = (const char *)sqlite.column_text(s, 0),
               *started = (const char *)sqlite.column_text(s, 2);
    long pid = (long)sqlite.column_int64(s, 1);
    char now[32];
    if (!host || !started)
        return false;
    if (strcmp(host, p->host) != 0)
        return (int64_t)time(NULL) - sqlite.column_int64(s, 3) < CLAIM_DEAD_S;
    if (process_started(pid, now))
        return strcmp(now, started) == 0;
    return strcmp(started, "unknown") == 0 && kill((pid_t)pid, 0) == 0;
}

static ls_status claim(point_store *p, const char *id, point_claim *out, ls_error *err)
{
    sqlite3_stmt *s = NULL;
    bool found;
    ls_status status =
        find(p, "SELECT 1 FROM host h JOIN runs r USING(run) WHERE h.run_id = ?1 AND r.partial = 0", id, &s,
             &found, err);
    sqlite.finalize(s);
    if (status != LS_OK || found) {
        *out = LS_CLAIM_DONE;
        return status;
    }
    s = NULL;
    status = find(p, "SELECT host, pid, started, beat FROM point_claims WHERE id = ?1", id, &s, &found, err);
    bool taken = status == LS_OK && found && claim_is_alive(p, s);
    sqlite.finalize(s);
    *out = taken ? LS_CLAIM_OTHER : LS_CLAIM_MINE;
    if (status != LS_OK || taken)
        return status;
    char pid[24], beat[24];
    snprintf(pid, sizeof pid, "%ld", p->pid);
    snprintf(beat, sizeof beat, "%lld", (long long)time(NULL));
    const char *texts[] = { id, p->host, pid, p->started, beat };
    return put(
        p, "INSERT OR REPLACE INTO point_claims VALUES(?1, ?2, CAST(?3 AS INTEGER), ?4, CAST(?5 AS INTEGER))",
        texts, 5, err);
}

ls_status points_claim(point_store *p, const char *id, point_claim *out, ls_error *err)
{
    own_claim(p);
    ls_status status = run_sql(p, "BEGIN IMMEDIATE", err);
    if (status != LS_OK)
        return status;
    status = claim(p, id, out, err);
    if (status == LS_OK)
        return run_sql(p, "COMMIT", err);
    run_sql(p, "ROLLBACK", NULL);
    return status;
}

ls_status points_release(point_store *p, const char *id, const char *error, ls_error *err)
{
    const char *texts[] = { id, error };
    ls_status status = put(p, "UPDATE points SET error = ?2 WHERE id = ?1", texts, 2, err);
    return status == LS_OK ? put(p, "DELETE FROM point_claims WHERE id = ?1", texts, 1, err) : status;
}

ls_status points_beat(point_store *p, ls_error *err)
{
    char pid[24], beat[24];
    own_claim(p);
    snprintf(pid, sizeof pid, "%ld", p->pid);
    snprintf(beat, sizeof beat, "%lld", (long long)time(NULL));
    const char *texts[] = { p->host, pid, p->started, beat };
    return put(p,
               "UPDATE point_claims SET beat = CAST(?4 AS INTEGER)"
               " WHERE host = ?1 AND pid = CAST(?2 AS INTEGER) AND started = ?3",
               texts, 4, err);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Time with a kernel: kernels side by side count once. `spans` yields begins and ends in the order of begins. */
static double busy_fs(sqlite3_stmt *spans, int64_t run, int *code)
{
    double total = 0, until = 0;
    sqlite.reset(spans);
    sqlite.bind_int64(spans, 1, run);
    while ((*code = sqlite.step(spans)) == SQLITE_ROW) {
        double begin = sqlite.column_double(spans, 0), end = sqlite.column_double(spans, 1);
        begin = begin > until ? begin : until;
        total += end > begin ? end - begin : 0;
        until = end > until ? end : until;
    }
    return total;
}

ls_status points_read(point_store *p, mem_arena *arena, sweep_point *list, size_t count, ls_error *err)
{
    sqlite3_stmt *run = NULL, *error = NULL, *spans = NULL;
    ls_status status = LS_OK;
    if (sqlite.prepare_v2(p->db, "SELECT error FROM points WHERE id = ?1", -1, &error, NULL) != SQLITE_OK)
        return fail_sqlite(p, err);
    if (sqlite.prepare_v2(p->db,
                          "SELECT r.run, h.wall_seconds, r.cycles FROM runs r JOIN host h USING(run)"
                          " WHERE h.run_id = ?1 AND r.partial = 0 ORDER BY r.run DESC LIMIT 1",
                          -1, &run, NULL) != SQLITE_OK ||
        sqlite.prepare_v2(p->db, "SELECT begin_fs, end_fs FROM kernels WHERE run = ?1 ORDER BY begin_fs", -1,
                          &spans, NULL) != SQLITE_OK)
        status = fail_sqlite(p, err);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        sweep_point *point = &list[i];
        point->done = false;
        point->error = NULL;
        sqlite.reset(error);
        sqlite.bind_text(error, 1, point->id, -1, SQLITE_STATIC);
        if (sqlite.step(error) == SQLITE_ROW && sqlite.column_type(error, 0) == SQLITE_TEXT) {
            point->error = arena_strdup(arena, (const char *)sqlite.column_text(error, 0));
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
            point->cycles = sqlite.column_double(run, 2);
            point->time_ns = busy_fs(spans, point->run, &code) * 1e-6;
            if (code != SQLITE_DONE)
                status = fail_sqlite(p, err);
        } else if (code != SQLITE_DONE) {
            status = fail_sqlite(p, err);
        }
    }
    sqlite.finalize(run);
    sqlite.finalize(error);
    sqlite.finalize(spans);
    return status;
}

ls_status points_others(point_store *p, const sweep_point *list, size_t count, size_t *others, ls_error *err)
{
    *others = 0;
    string_map mine = { 0 };
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++)
        if (!map_put(&mine, list[i].id, p))
            status = ls_fail(err, LS_ERR_NOMEM, "no memory left for the points");
    sqlite3_stmt *s = NULL;
    if (status == LS_OK && sqlite.prepare_v2(p->db, "SELECT id FROM points", -1, &s, NULL) != SQLITE_OK)
        status = fail_sqlite(p, err);
    while (status == LS_OK && sqlite.step(s) == SQLITE_ROW)
        *others += !map_has(&mine, (const char *)sqlite.column_text(s, 0));
    sqlite.finalize(s);
    map_fini(&mine);
    return status;
}

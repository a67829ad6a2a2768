/* points.c: see points.h. The tables of runs are export_sqlite.c's or db_schema.c's; here are more beside them. */
#include "report/points.h"

#include "base/map.h"
#include "report/db_results.h"
#include "report/export.h"
#include "report/postgres.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct point_store {
    db *db;
    /* identity of this process, for its claims */
    char host[256], started[32];
    long pid;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS points(id TEXT PRIMARY KEY, trace TEXT NOT NULL, command TEXT NOT NULL, error TEXT);"
    "CREATE TABLE IF NOT EXISTS point_keys(id TEXT NOT NULL REFERENCES points(id), key TEXT NOT NULL,"
    " value TEXT NOT NULL, PRIMARY KEY(id, key));"
    "CREATE TABLE IF NOT EXISTS point_claims(id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL,"
    " started TEXT NOT NULL, beat INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS sweeps(sweep TEXT PRIMARY KEY, lockstep TEXT NOT NULL, description TEXT NOT NULL,"
    " config_hash TEXT NOT NULL, workload_hash TEXT NOT NULL, points INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS sweep_points(sweep TEXT NOT NULL REFERENCES sweeps(sweep), position INTEGER NOT NULL,"
    " id TEXT NOT NULL, PRIMARY KEY(sweep, position));"
    "CREATE INDEX IF NOT EXISTS host_by_id ON host(run_id);";

/* A claim of another host without a sign of life for this long has expired. */
#define CLAIM_DEAD_S (12 * LS_CLAIM_BEAT_S)

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the points");
}

/* ------------------------------------------------------------------------------------------------- opening */

/* A server's tables are made by the first program that comes. */
static ls_status prepare_tables(db *d, ls_error *err)
{
    if (db_schema_has_table(d, "sweep_points"))
        return db_schema_check(d, err);
    ls_status status = db_begin(d, err);
    if (status != LS_OK)
        return status;
    status = db_schema_prepare(d, err);
    if (status == LS_OK)
        status = db_run(d, schema, err);
    if (status == LS_OK)
        return db_commit(d, err);
    db_rollback(d);
    return status;
}

ls_status points_open(const char *path, point_store **out, ls_error *err)
{
    *out = NULL;
    point_store *p = calloc(1, sizeof *p);
    if (!p)
        return no_memory(err);
    ls_status status = postgres_is_url(path) ? LS_OK : export_database(path, err);
    if (status == LS_OK)
        status = db_open(path, DB_WRITE, &p->db, err);
    if (status == LS_OK)
        status = prepare_tables(p->db, err);
    if (status != LS_OK) {
        points_close(p);
        return status;
    }
    *out = p;
    return LS_OK;
}

ls_status points_open_read(const char *path, point_store **out, ls_error *err)
{
    *out = NULL;
    point_store *p = calloc(1, sizeof *p);
    if (!p)
        return no_memory(err);
    ls_status status = db_open(path, DB_READ, &p->db, err);
    if (status == LS_OK)
        status = db_schema_check(p->db, err);
    if (status == LS_OK && !db_schema_has_table(p->db, "sweep_points"))
        status = db_fail(p->db, LS_ERR_INPUT, err, "the database holds no sweep");
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
    db_close(p->db);
    free(p);
}

db *points_db(const point_store *p)
{
    return p->db;
}

/* ------------------------------------------------------------------------------------------------ writing */

static ls_status has_row(const point_store *p, const char *sql, const char *id, bool *found, ls_error *err)
{
    int64_t number = 0;
    const db_value text[] = { DB_T(id) };
    ls_status status = db_number(p->db, sql, text, 1, &number, err);
    *found = number != 0;
    return status;
}

/* Every row of the partial runs with this id; the values of their scopes go with the scopes. A run that is still being
 * simulated has no row yet. */
static ls_status remove_partial(const point_store *p, const char *id, ls_error *err)
{
    static const char runs[] = "(SELECT run FROM host JOIN runs USING(run) WHERE run_id = ?1 AND partial = 1)";
    static const char *const tables[] = { "scopes", "blocks", "metrics", "config", "warnings" };
    bool found;
    ls_status status = has_row(p, "SELECT 1 FROM host JOIN runs USING(run) WHERE run_id = ?1 AND partial = 1",
                               id, &found, err);
    if (status != LS_OK || !found)
        return status;
    char sql[256];
    const db_value text[] = { DB_T(id) };
    for (size_t i = 0; i < LS_COUNT_OF(tables) && status == LS_OK; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE run IN %s", tables[i], runs);
        status = db_put(p->db, sql, text, 1, err);
    }
    if (status == LS_OK)
        status =
            db_put(p->db,
                   "DELETE FROM host WHERE run_id = ?1 AND run IN (SELECT run FROM runs WHERE partial = 1)",
                   text, 1, err);
    if (status == LS_OK)
        status = db_put(p->db, "DELETE FROM runs WHERE partial = 1 AND run NOT IN (SELECT run FROM host)",
                        NULL, 0, err);
    return status;
}

static ls_status declare_sweep(point_store *p, const sweep_identity *sweep, const sweep_point *list,
                               size_t count, ls_error *err)
{
    bool known;
    ls_status status = has_row(p, "SELECT count(*) FROM sweeps WHERE sweep = ?1", sweep->sweep, &known, err);
    if (status != LS_OK || known)
        return status;
    const db_value row[] = { DB_T(sweep->sweep),       DB_T(LS_VERSION_STRING),    DB_T(sweep->description),
                             DB_T(sweep->config_hash), DB_T(sweep->workload_hash), DB_I((int64_t)count) };
    status = db_put(p->db, "INSERT INTO sweeps VALUES(?1, ?2, ?3, ?4, ?5, ?6)", row, 6, err);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        const db_value place[] = { DB_T(sweep->sweep), DB_I((int64_t)i), DB_T(list[i].id) };
        status = db_put(p->db, "INSERT INTO sweep_points VALUES(?1, ?2, ?3)", place, 3, err);
    }
    return status;
}

static ls_status declare_points(point_store *p, const sweep_point *list, size_t count, const char *command,
                                ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        const db_value texts[] = { DB_T(list[i].id), DB_T(list[i].trace), DB_T(command) };
        status = remove_partial(p, list[i].id, err);
        if (status == LS_OK)
            status = db_put(p->db,
                            "INSERT INTO points(id, trace, command) VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING",
                            texts, 3, err);
        for (size_t k = 0; k < list[i].key_count && status == LS_OK; k++) {
            const db_value pair[] = { DB_T(list[i].id), DB_T(list[i].keys[k]), DB_T(list[i].values[k]) };
            status = db_put(p->db,
                            "INSERT INTO point_keys(id, key, value) VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING",
                            pair, 3, err);
        }
    }
    return status;
}

ls_status points_declare(point_store *p, const sweep_identity *sweep, const sweep_point *list, size_t count,
                         const char *command, ls_error *err)
{
    ls_status status = db_begin(p->db, err);
    if (status != LS_OK)
        return status;
    status = declare_points(p, list, count, command, err);
    if (status == LS_OK && sweep)
        status = declare_sweep(p, sweep, list, count, err);
    if (status == LS_OK)
        return db_commit(p->db, err);
    db_rollback(p->db);
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

/* The claim of a point, as it is read. */
typedef struct claim_row {
    bool found;
    char host[256], started[32];
    long pid;
    int64_t beat;
} claim_row;

static ls_status take_claim(void *self, const db_value *cells, size_t count, ls_error *err)
{
    claim_row *c = self;
    (void)count;
    (void)err;
    c->found = cells[0].kind == DB_TEXT;
    snprintf(c->host, sizeof c->host, "%s", db_text_of(&cells[0]));
    c->pid = (long)db_int_of(&cells[1]);
    snprintf(c->started, sizeof c->started, "%s", db_text_of(&cells[2]));
    c->beat = db_int_of(&cells[3]);
    return LS_OK;
}

/* Whether the process of a claim can still end it. */
static bool claim_is_alive(const point_store *p, const claim_row *c)
{
    char now[32];
    if (!c->found)
        return false;
    if (strcmp(c->host, p->host) != 0)
        return (int64_t)time(NULL) - c->beat < CLAIM_DEAD_S;
    if (process_started(c->pid, now))
        return strcmp(now, c->started) == 0;
    return strcmp(c->started, "unknown") == 0 && kill((pid_t)c->pid, 0) == 0;
}

static ls_status claim(point_store *p, const char *id, point_claim *out, ls_error *err)
{
    bool found;
    claim_row other = { 0 };
    const db_value text[] = { DB_T(id) };
    ls_status status =
        has_row(p, "SELECT 1 FROM host h JOIN runs r USING(run) WHERE h.run_id = ?1 AND r.partial = 0", id,
                &found, err);
    if (status != LS_OK || found) {
        *out = LS_CLAIM_DONE;
        return status;
    }
    status = db_query(p->db, "SELECT host, pid, started, beat FROM point_claims WHERE id = ?1", text, 1,
                      take_claim, &other, err);
    bool taken = status == LS_OK && claim_is_alive(p, &other);
    *out = taken ? LS_CLAIM_OTHER : LS_CLAIM_MINE;
    if (status != LS_OK || taken)
        return status;
    const db_value row[] = { DB_T(id), DB_T(p->host), DB_I(p->pid), DB_T(p->started),
                             DB_I((int64_t)time(NULL)) };
    return db_put(
        p->db,
        "INSERT INTO point_claims VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT(id) DO UPDATE SET"
        " host = excluded.host, pid = excluded.pid, started = excluded.started, beat = excluded.beat",
        row, 5, err);
}

ls_status points_claim(point_store *p, const char *id, point_claim *out, ls_error *err)
{
    own_claim(p);
    ls_status status = db_begin(p->db, err);
    if (status != LS_OK)
        return status;
    status = claim(p, id, out, err);
    if (status == LS_OK)
        return db_commit(p->db, err);
    db_rollback(p->db);
    return status;
}

ls_status points_release(point_store *p, const char *id, const char *error, ls_error *err)
{
    const db_value texts[] = { DB_T(id), DB_T(error) };
    ls_status status = db_put(p->db, "UPDATE points SET error = ?2 WHERE id = ?1", texts, 2, err);
    return status == LS_OK ? db_put(p->db, "DELETE FROM point_claims WHERE id = ?1", texts, 1, err) : status;
}

ls_status points_beat(point_store *p, ls_error *err)
{
    own_claim(p);
    const db_value row[] = { DB_T(p->host), DB_I(p->pid), DB_T(p->started), DB_I((int64_t)time(NULL)) };
    return db_put(p->db, "UPDATE point_claims SET beat = ?4 WHERE host = ?1 AND pid = ?2 AND started = ?3",
                  row, 4, err);
}

/* ------------------------------------------------------------------------------------------------ reading */

typedef struct point_reader {
    mem_arena *arena;
    sweep_point *point;
    double total, until; /* time with a kernel */
} point_reader;

static ls_status take_error(void *self, const db_value *cells, size_t count, ls_error *err)
{
    point_reader *r = self;
    (void)count;
    if (cells[0].kind != DB_TEXT)
        return LS_OK;
    r->point->error = arena_strdup(r->arena, db_text_of(&cells[0]));
    return r->point->error ? LS_OK : no_memory(err);
}

static ls_status take_result(void *self, const db_value *cells, size_t count, ls_error *err)
{
    sweep_point *point = ((point_reader *)self)->point;
    (void)count;
    (void)err;
    point->done = true;
    point->run = db_int_of(&cells[0]);
    point->wall_seconds = db_real_of(&cells[1]);
    point->cycles = db_real_of(&cells[2]);
    return LS_OK;
}

/* Kernels side by side count once: begins and ends come in the order of begins. */
static ls_status take_span(void *self, const db_value *cells, size_t count, ls_error *err)
{
    point_reader *r = self;
    (void)count;
    (void)err;
    double begin = db_real_of(&cells[0]), end = db_real_of(&cells[1]);
    begin = begin > r->until ? begin : r->until;
    r->total += end > begin ? end - begin : 0;
    r->until = end > r->until ? end : r->until;
    return LS_OK;
}

static ls_status read_point(point_store *p, mem_arena *arena, sweep_point *point, ls_error *err)
{
    point_reader r = { .arena = arena, .point = point };
    const db_value id[] = { DB_T(point->id) };
    point->done = false;
    point->error = NULL;
    ls_status status = db_query(p->db, "SELECT error FROM points WHERE id = ?1", id, 1, take_error, &r, err);
    if (status == LS_OK)
        status = db_query(p->db,
                          "SELECT r.run, h.wall_seconds, r.cycles FROM runs r JOIN host h USING(run)"
                          " WHERE h.run_id = ?1 AND r.partial = 0 ORDER BY r.run DESC LIMIT 1",
                          id, 1, take_result, &r, err);
    const db_value run[] = { DB_I(point->run) };
    if (status == LS_OK && point->done)
        status = db_query(p->db, "SELECT begin_fs, end_fs FROM kernels WHERE run = ?1 ORDER BY begin_fs", run,
                          1, take_span, &r, err);
    if (point->done)
        point->time_ns = r.total * 1e-6;
    return status;
}

ls_status points_read(point_store *p, mem_arena *arena, sweep_point *list, size_t count, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++)
        status = read_point(p, arena, &list[i], err);
    return status;
}

typedef struct stranger_count {
    string_map mine;
    size_t others;
} stranger_count;

static ls_status take_stranger(void *self, const db_value *cells, size_t count, ls_error *err)
{
    stranger_count *s = self;
    (void)count;
    (void)err;
    s->others += !map_has(&s->mine, db_text_of(&cells[0]));
    return LS_OK;
}

ls_status points_others(point_store *p, const sweep_point *list, size_t count, size_t *others, ls_error *err)
{
    stranger_count s = { 0 };
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++)
        if (!map_put(&s.mine, list[i].id, p))
            status = no_memory(err);
    if (status == LS_OK)
        status = db_query(p->db, "SELECT id FROM points", NULL, 0, take_stranger, &s, err);
    map_fini(&s.mine);
    *others = s.others;
    return status;
}

/* ------------------------------------------------------------------------------------------- whole sweeps */

typedef struct each_point {
    point_store *store;
    point_fn fn;
    void *self;
} each_point;

static ls_status take_state(void *self, const db_value *cells, size_t count, ls_error *err)
{
    each_point *e = self;
    claim_row claim = { 0 };
    (void)count;
    take_claim(&claim, cells + 6, 4, err);
    const point_state state = {
        .sweep = db_text_of(&cells[0]),
        .position = (size_t)db_int_of(&cells[1]),
        .id = db_text_of(&cells[2]),
        .trace = db_text_of(&cells[3]),
        .error = cells[4].kind == DB_TEXT ? cells[4].text : NULL,
        .run = db_int_of(&cells[5]),
        .running = claim_is_alive(e->store, &claim),
    };
    return e->fn(e->self, &state, err);
}

ls_status points_each(point_store *p, point_fn fn, void *self, ls_error *err)
{
    each_point e = { p, fn, self };
    own_claim(p);
    return db_query(
        p->db,
        "SELECT s.sweep, s.position, s.id, q.trace, q.error, (SELECT max(r.run) FROM host h"
        " JOIN runs r USING(run) WHERE h.run_id = s.id AND r.partial = 0), c.host, c.pid, c.started, c.beat"
        " FROM sweep_points s JOIN points q ON q.id = s.id LEFT JOIN point_claims c ON c.id = s.id"
        " ORDER BY s.sweep, s.position",
        NULL, 0, take_state, &e, err);
}

static ls_status add_key(void *self, const db_value *cells, size_t count, ls_error *err)
{
    (void)count;
    (void)err;
    text_printf(self, "  %s=%s", db_text_of(&cells[0]), db_text_of(&cells[1]));
    return LS_OK;
}

ls_status points_describe(point_store *p, const char *id, const char *trace, text_buffer *out, ls_error *err)
{
    const db_value which[] = { DB_T(id) };
    text_add(out, trace);
    return db_query(p->db, "SELECT key, value FROM point_keys WHERE id = ?1 ORDER BY key", which, 1, add_key,
                    out, err);
}

/* Rows that are not there yet. */
typedef struct table_copy {
    db *to;
    const char *insert;
} table_copy;

static ls_status insert_row(void *self, const db_value *cells, size_t count, ls_error *err)
{
    table_copy *t = self;
    return db_put(t->to, t->insert, cells, count, err);
}

ls_status points_copy(db *from, db *to, ls_error *err)
{
    static const struct {
        const char *select, *insert;
    } tables[] = {
        { "SELECT id, trace, command, error FROM points ORDER BY id",
          "INSERT INTO points VALUES(?1, ?2, ?3, ?4) ON CONFLICT(id) DO UPDATE SET error = excluded.error"
          " WHERE points.error IS NULL" },
        { "SELECT id, key, value FROM point_keys",
          "INSERT INTO point_keys VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING" },
        { "SELECT sweep, lockstep, description, config_hash, workload_hash, points FROM sweeps",
          "INSERT INTO sweeps VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING" },
        { "SELECT sweep, position, id FROM sweep_points ORDER BY sweep, position",
          "INSERT INTO sweep_points VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING" },
    };
    if (!db_schema_has_table(from, "sweep_points"))
        return LS_OK;
    ls_status status = db_run(to, schema, err);
    for (size_t i = 0; i < LS_COUNT_OF(tables) && status == LS_OK; i++) {
        table_copy t = { to, tables[i].insert };
        status = db_query(from, tables[i].select, NULL, 0, insert_row, &t, err);
    }
    /* A point that one database failed at and another has a run of is done. */
    return status == LS_OK
               ? db_run(
                     to,
                     "UPDATE points SET error = NULL WHERE error IS NOT NULL AND id IN (SELECT h.run_id FROM host h"
                     " JOIN runs r USING(run) WHERE r.partial = 0)",
                     err)
               : status;
}

ls_status points_forget_errors(point_store *p, const char *sweep, ls_error *err)
{
    const db_value which[] = { DB_T(sweep) };
    return db_put(
        p->db,
        "UPDATE points SET error = NULL WHERE error IS NOT NULL AND id IN (SELECT id FROM sweep_points"
        " WHERE sweep = ?1)",
        which, 1, err);
}

ls_status points_drop_claims(point_store *p, ls_error *err)
{
    return db_run(p->db, "DELETE FROM point_claims", err);
}

/* merge.c: see merge.h. */
#include "report/merge.h"

#include "base/file.h"
#include "base/map.h"
#include "report/db_results.h"
#include "report/export.h"
#include "report/points.h"
#include "report/postgres.h"

#include <stdlib.h>
#include <string.h>

typedef struct input {
    point_store *store;
    db *db;
    sweep_identity identity;
    const char *version;
    size_t sweeps, points;
} input;

/* A point of the grid, over all inputs. */
typedef struct merged_point {
    const char *id, *trace, *error;
    size_t from; /* the input that has its run; SIZE_MAX: none */
    int64_t run;
} merged_point;

typedef struct merger {
    merge_report *report;
    input *inputs;
    size_t count;
    merged_point *points;
    size_t point_count;
    size_t reading; /* the input */
} merger;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the merge");
}

/* -------------------------------------------------------------------------------------------- the same sweep */

typedef struct sweep_reader {
    input *in;
    mem_arena *arena;
} sweep_reader;

static ls_status take_sweep(void *self, const db_value *cells, size_t count, ls_error *err)
{
    sweep_reader *r = self;
    input *in = r->in;
    (void)count;
    in->sweeps++;
    snprintf(in->identity.sweep, sizeof in->identity.sweep, "%s", db_text_of(&cells[0]));
    in->version = arena_strdup(r->arena, db_text_of(&cells[1]));
    in->identity.description = arena_strdup(r->arena, db_text_of(&cells[2]));
    snprintf(in->identity.config_hash, sizeof in->identity.config_hash, "%s", db_text_of(&cells[3]));
    snprintf(in->identity.workload_hash, sizeof in->identity.workload_hash, "%s", db_text_of(&cells[4]));
    in->points = (size_t)db_int_of(&cells[5]);
    return in->version && in->identity.description ? LS_OK : no_memory(err);
}

static ls_status open_input(merger *m, input *in, const char *path, ls_error *err)
{
    sweep_reader r = { in, &m->report->arena };
    ls_status status = points_open_read(path, &in->store, err);
    if (status != LS_OK)
        return status;
    in->db = points_db(in->store);
    status =
        db_query(in->db, "SELECT sweep, lockstep, description, config_hash, workload_hash, points FROM sweeps",
                 NULL, 0, take_sweep, &r, err);
    if (status == LS_OK && in->sweeps == 0)
        status = db_fail(in->db, LS_ERR_INPUT, err, "the database holds no sweep");
    if (status == LS_OK && in->sweeps > 1)
        status = db_fail(in->db, LS_ERR_INPUT, err, "the database holds %zu sweeps: merge takes parts of one",
                         in->sweeps);
    return status;
}

/* The first line in which two descriptions differ, of each. "" if one has ended. */
static void first_difference(const char *a, const char *b, int *a_bytes, const char **a_at, int *b_bytes,
                             const char **b_at)
{
    while (*a && strcspn(a, "\n") == strcspn(b, "\n") && strncmp(a, b, strcspn(a, "\n")) == 0) {
        a += strcspn(a, "\n") + 1;
        b += strcspn(b, "\n") + 1;
    }
    *a_at = a;
    *a_bytes = (int)strcspn(a, "\n");
    *b_at = b;
    *b_bytes = (int)strcspn(b, "\n");
}

/* One line that says how an input is not of the sweep of the first one. */
static ls_status check_same(const input *first, const input *in, ls_error *err)
{
    const char *name = db_name(first->db), *a, *b;
    int a_bytes, b_bytes;
    if (strcmp(first->version, in->version) != 0)
        return db_fail(in->db, LS_ERR_INPUT, err, "it was made by Lockstep %s, and %s by Lockstep %s",
                       in->version, name, first->version);
    if (strcmp(first->identity.description, in->identity.description) != 0) {
        first_difference(first->identity.description, in->identity.description, &a_bytes, &a, &b_bytes, &b);
        return db_fail(in->db, LS_ERR_INPUT, err, "it is of another sweep: it has '%.*s' where %s has '%.*s'",
                       b_bytes, b, name, a_bytes, a);
    }
    if (strcmp(first->identity.config_hash, in->identity.config_hash) != 0)
        return db_fail(in->db, LS_ERR_INPUT, err,
                       "its configurations differ from those of %s: another platform file", name);
    if (strcmp(first->identity.workload_hash, in->identity.workload_hash) != 0)
        return db_fail(in->db, LS_ERR_INPUT, err, "the content of its workloads differs from those of %s",
                       name);
    if (strcmp(first->identity.sweep, in->identity.sweep) != 0)
        return db_fail(in->db, LS_ERR_INPUT, err, "a file that its options name differs from that of %s",
                       name);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- the points */

static ls_status take_facts(void *self, const db_value *cells, size_t count, ls_error *err)
{
    (void)err;
    for (size_t i = 0; i < count; i++)
        text_printf(self, "%lld %s;", (long long)db_int_of(&cells[i]), db_text_of(&cells[i]));
    return LS_OK;
}

/* Facts that two runs of one point share, bit for bit. */
static ls_status read_facts(db *d, int64_t run, text_buffer *out, ls_error *err)
{
    const db_value which[] = { DB_I(run) };
    return db_query(
        d,
        "SELECT config_hash, seed, end_time_fs, cycles, events, messages, ticks, region_cycles FROM runs"
        " WHERE run = ?1",
        which, 1, take_facts, out, err);
}

static ls_status describe(merger *m, input *in, const char *id, const char *trace, const char **out,
                          ls_error *err)
{
    text_buffer text = { 0 };
    ls_status status = points_describe(in->store, id, trace, &text, err);
    if (status == LS_OK)
        *out = text.failed ? NULL : arena_strdup(&m->report->arena, text_get(&text));
    text_fini(&text);
    return status == LS_OK && !*out ? no_memory(err) : status;
}

static ls_status add_twice(merger *m, const merged_point *known, const point_state *point, ls_error *err)
{
    input *a = &m->inputs[known->from], *b = &m->inputs[m->reading];
    text_buffer one = { 0 }, other = { 0 };
    merge_point twice = { .first = arena_strdup(&m->report->arena, db_name(a->db)),
                          .second = arena_strdup(&m->report->arena, db_name(b->db)) };
    ls_status status = describe(m, b, point->id, point->trace, &twice.name, err);
    if (status == LS_OK)
        status = read_facts(a->db, known->run, &one, err);
    if (status == LS_OK)
        status = read_facts(b->db, point->run, &other, err);
    if (status == LS_OK && strcmp(text_get(&one), text_get(&other)) != 0)
        status = db_fail(b->db, LS_ERR_CHECK, err, "the point '%s' has another result than in %s", twice.name,
                         db_name(a->db));
    if (status == LS_OK && (!twice.first || !twice.second || !vec_push(&m->report->twice, twice)))
        status = no_memory(err);
    text_fini(&one);
    text_fini(&other);
    return status;
}

static ls_status take_point(void *self, const point_state *point, ls_error *err)
{
    merger *m = self;
    if (point->position >= m->point_count)
        return db_fail(m->inputs[m->reading].db, LS_ERR_INPUT, err,
                       "the sweep has %zu points, and one more is there", m->point_count);
    merged_point *known = &m->points[point->position];
    mem_arena *arena = &m->report->arena;
    if (!known->id) {
        known->id = arena_strdup(arena, point->id);
        known->trace = arena_strdup(arena, point->trace);
        if (!known->id || !known->trace)
            return no_memory(err);
    }
    if (point->error && !known->error) {
        known->error = arena_strdup(arena, point->error);
        if (!known->error)
            return no_memory(err);
    }
    if (point->run && known->from != SIZE_MAX)
        return add_twice(m, known, point, err);
    if (point->run) {
        known->from = m->reading;
        known->run = point->run;
    }
    return LS_OK;
}

static ls_status read_inputs(merger *m, const char *const *paths, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < m->count && status == LS_OK; i++) {
        status = open_input(m, &m->inputs[i], paths[i], err);
        if (status == LS_OK)
            status = check_same(&m->inputs[0], &m->inputs[i], err);
    }
    if (status != LS_OK)
        return status;
    m->point_count = m->report->points = m->inputs[0].points;
    m->points = arena_array(&m->report->arena, m->point_count + 1, sizeof *m->points);
    if (!m->points)
        return no_memory(err);
    for (size_t i = 0; i < m->point_count; i++)
        m->points[i] = (merged_point){ .from = SIZE_MAX };
    for (m->reading = 0; m->reading < m->count && status == LS_OK; m->reading++)
        status = points_each(m->inputs[m->reading].store, take_point, m, err);
    return status;
}

/* ------------------------------------------------------------------------------------------------- the output */

static ls_status merge_point_into(merger *m, const merged_point *point, db *to, bool *changed, ls_error *err)
{
    int64_t there = 0, new_run = 0;
    const db_value id[] = { DB_T(point->id) };
    ls_status status = db_number(to,
                                 "SELECT count(*) FROM host h JOIN runs r USING(run) WHERE h.run_id = ?1 AND"
                                 " r.partial = 0",
                                 id, 1, &there, err);
    if (status != LS_OK)
        return status;
    if (there) {
        m->report->there++;
        return LS_OK;
    }
    if (point->from != SIZE_MAX) {
        m->report->merged++;
        return db_copy_run(m->inputs[point->from].db, point->run, to, &new_run, changed, err);
    }
    merge_point missing = { .error = point->error };
    status = describe(m, &m->inputs[0], point->id, point->trace, &missing.name, err);
    return status == LS_OK && !vec_push(&m->report->missing, missing) ? no_memory(err) : status;
}

static ls_status fill(merger *m, db *to, ls_error *err)
{
    bool changed = false;
    ls_status status = db_schema_prepare(to, err);
    for (size_t i = 0; i < m->point_count && status == LS_OK; i++)
        if (m->points[i].id)
            status = merge_point_into(m, &m->points[i], to, &changed, err);
    if (status == LS_OK && changed)
        status = db_schema_views(to, err);
    if (status == LS_OK && !db_is_server(to))
        status = db_run(to, "CREATE INDEX IF NOT EXISTS scopes_by_run ON scopes(run)", err);
    for (size_t i = 0; i < m->count && status == LS_OK; i++)
        status = points_copy(m->inputs[i].db, to, err);
    return status;
}

static ls_status write_into(merger *m, const char *path, ls_error *err)
{
    db *to = NULL;
    point_store *store = NULL; /* makes the tables of sweeps */
    ls_status status = points_open(path, &store, err);
    if (status == LS_OK) {
        to = points_db(store);
        status = db_begin(to, err);
    }
    if (status == LS_OK) {
        status = fill(m, to, err);
        if (status == LS_OK)
            status = db_commit(to, err);
        else
            db_rollback(to);
    }
    points_close(store);
    return status;
}

static ls_status write_output(merger *m, const char *path, ls_error *err)
{
    temp_file temp;
    bool exists = false;
    if (postgres_is_url(path) || file_exists(path))
        return write_into(m, path, err);
    ls_status status = file_temp_open(&temp, path, err);
    if (status != LS_OK)
        return status;
    status = write_into(m, temp.path, err);
    if (status != LS_OK) {
        temp_discard(&temp);
        return status;
    }
    status = file_temp_publish(&temp, path, &exists, err);
    if (status == LS_OK && exists) /* another program was first */
        status = write_into(m, path, err);
    return status;
}

ls_status merge_databases(const char *const *inputs, size_t count, const char *output, merge_report *report,
                          ls_error *err)
{
    merger m = { .report = report, .count = count, .inputs = calloc(count + 1, sizeof *m.inputs) };
    ls_status status = m.inputs ? read_inputs(&m, inputs, err) : no_memory(err);
    if (status == LS_OK)
        status = write_output(&m, output, err);
    for (size_t i = 0; i < count && m.inputs; i++)
        points_close(m.inputs[i].store);
    free(m.inputs);
    return status;
}

void merge_report_fini(merge_report *report)
{
    vec_fini(&report->missing);
    vec_fini(&report->twice);
    arena_fini(&report->arena);
}

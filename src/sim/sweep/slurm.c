/* slurm.c: see slurm.h. A round writes a script, submits it, waits for the tasks and merges their files. */
#include "sim/sweep/slurm.h"

#include "base/file.h"
#include "base/pool.h"
#include "report/merge.h"
#include "report/postgres.h"
#include "sim/session.h"
#include "sim/sweep/session.h"
#include "sim/sweep/state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SHARDS_DEFAULT = 100,
    IDLE_ROUNDS = 3,     /* so many rounds that bring no point end the sweep */
    SILENCE_S = 600,     /* Slurm may be away for so long */
    POLL_FIRST_MS = 500, /* between two questions to Slurm, at first; later longer */
    POLL_LAST_MS = 10000,
    STEP_MS = 100, /* a stop is noticed after this time */
};

typedef struct cluster {
    ls_sim_sweep *s;
    const slurm_options *o;
    uint32_t shards;
    const char *folder;
    char job[32];
    size_t round;
} cluster;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the sweep");
}

static void tell(const cluster *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void tell(const cluster *c, const char *fmt, ...)
{
    char line[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (c->o->tell)
        c->o->tell(c->o->self, line);
}

const char *slurm_folder(mem_arena *arena, const char *database)
{
    const char *name = postgres_is_url(database) ? postgres_database(arena, database) : database;
    const char *dot = name ? strrchr(path_base(name), '.') : NULL;
    return name ? arena_printf(arena, "%.*s.slurm", dot ? (int)(dot - name) : (int)strlen(name), name) : NULL;
}

/* -------------------------------------------------------------------------------------------------- scripts */

static void add_quoted(FILE *to, const char *word)
{
    fputc('\'', to);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (const char[]){ *word, 0 }, to);
    fputs("'", to);
}

/* wanted[i]: shard i + 1 has points to run. */
static ls_status write_script(cluster *c, const bool *wanted, const char **path, ls_error *err)
{
    ls_sim_sweep *s = c->s;
    const slurm_options *o = c->o;
    file_writer w;
    const char *const *words = sweep_shard_argv(s, o->retries);
    *path = arena_printf(&s->arena, "%s/round-%zu.sh", c->folder, c->round);
    if (!words || !*path)
        return no_memory(err);
    ls_status status = file_writer_open(&w, *path, err);
    if (status != LS_OK)
        return status;
    FILE *to = w.stream;
    fprintf(to, "#!/bin/sh\n#SBATCH --job-name=lockstep\n#SBATCH --array=");
    const char *comma = "";
    for (uint32_t i = 0; i < c->shards; i++)
        if (wanted[i]) {
            fprintf(to, "%s%u", comma, i + 1);
            comma = ",";
        }
    fprintf(to, "\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%u\n#SBATCH --output=%s/%%A_%%a.log\n",
            o->jobs * o->threads, c->folder);
    /* Shards of a node that fails are submitted again by the sweep, which knows what they lack. */
    fprintf(to, "#SBATCH --no-requeue\n");
    if (o->partition)
        fprintf(to, "#SBATCH --partition=%s\n", o->partition);
    for (size_t i = 0; i < o->more_count; i++)
        fprintf(to, "#SBATCH %s\n", o->more[i]);
    fputs("exec", to);
    for (size_t i = 0; words[i]; i++) {
        fputc(' ', to);
        add_quoted(to, words[i]);
    }
    fprintf(to, " --shard \"$SLURM_ARRAY_TASK_ID/%u\"\n", c->shards);
    return file_writer_commit(&w, err);
}

/* ------------------------------------------------------------------------------------------- jobs of earlier */

static const char *jobs_path(cluster *c)
{
    return arena_printf(&c->s->arena, "%s/jobs", c->folder);
}

static ls_status note_job(cluster *c, ls_error *err)
{
    const char *path = jobs_path(c);
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!path)
        return no_memory(err);
    bool bad = !file || fprintf(file, "%s %u\n", c->job, c->shards) < 0;
    if (file)
        bad |= fclose(file) != 0;
    if (!bad)
        return LS_OK;
    ls_fail(err, LS_ERR_IO, "cannot note the job %s: %s", c->job, strerror(errno));
    return ls_error_at(err, path, 0, 0);
}

/* The last job of an earlier call, if it still runs. */
static ls_status find_job(cluster *c, bool *found, ls_error *err)
{
    const char *path = jobs_path(c);
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[64], last[32] = "";
    size_t tasks = 0;
    *found = false;
    while (file && fgets(line, sizeof line, file)) {
        unsigned shards;
        if (sscanf(line, "%31[0-9] %u", last, &shards) == 2) {
            c->shards = shards;
            c->round++;
        }
    }
    if (file)
        fclose(file);
    if (!path)
        return no_memory(err);
    ls_status status = last[0] ? slurm_tasks(last, &tasks, err) : LS_OK;
    *found = tasks > 0;
    snprintf(c->job, sizeof c->job, "%s", last);
    return status;
}

/* -------------------------------------------------------------------------------------------------- waiting */

static ls_status read_state(cluster *c, sweep_state *state, ls_error *err)
{
    path_list files = { 0 };
    mem_arena arena = { 0 };
    ls_status status = state_shard_files(&arena, c->s->database, &files, err);
    if (status == LS_OK)
        status = state_read(state, c->s->database, c->s->identity.sweep, &files, err);
    vec_fini(&files);
    arena_fini(&arena);
    return status;
}

static void show(cluster *c)
{
    sweep_state state;
    ls_sim_sweep_progress *p = &c->s->progress;
    if (read_state(c, &state, NULL) == LS_OK) {
        p->failed = state.failed;
        p->running = state.running;
        p->finished =
            state.done + state.failed > p->done_before ? state.done + state.failed - p->done_before : 0;
        if (c->o->progress)
            c->o->progress(c->o->self, p);
    }
    state_fini(&state);
}

static bool stopped(const cluster *c)
{
    return atomic_load(&c->s->control.stop) != 0;
}

static void pause_for(const cluster *c, unsigned ms)
{
    const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
    for (unsigned passed = 0; passed < ms && !stopped(c); passed += STEP_MS)
        nanosleep(&step, NULL);
}

static ls_status wait_for_job(cluster *c, ls_error *err)
{
    uint64_t answered_ns = host_clock_ns();
    unsigned ms = POLL_FIRST_MS;
    for (;;) {
        size_t tasks = 1;
        ls_error why;
        ls_error_clear(&why);
        ls_status status = slurm_tasks(c->job, &tasks, &why);
        if (status == LS_OK) {
            answered_ns = host_clock_ns();
        } else if (host_clock_ns() - answered_ns > SILENCE_S * UINT64_C(1000000000)) {
            return ls_fail(err, LS_ERR_IO, "%s: the same command goes on from here", why.what);
        }
        show(c);
        if (status == LS_OK && tasks == 0)
            return LS_OK;
        if (stopped(c))
            return ls_fail(
                err, LS_ERR_INTERRUPTED,
                "interrupted: job %s goes on (scancel %s ends it), and the same command waits for it", c->job,
                c->job);
        pause_for(c, ms);
        ms = ms * 3 / 2 < POLL_LAST_MS ? ms * 3 / 2 : POLL_LAST_MS;
    }
}

/* --------------------------------------------------------------------------------------------------- merging */

/* Whether a file is a part of this sweep. */
static bool belongs(const cluster *c, const char *path)
{
    sweep_state state;
    bool is_ours =
        state_read(&state, path, c->s->identity.sweep, NULL, NULL) == LS_OK && state.points.count > 0;
    state_fini(&state);
    return is_ours;
}

/* Moves the results of shards that nobody runs any more into the database. */
static ls_status merge_shards(cluster *c, ls_error *err)
{
    path_list all = { 0 }, ours = { 0 };
    merge_report report = { 0 };
    ls_status status = state_shard_files(&c->s->arena, c->s->database, &all, err);
    for (size_t i = 0; i < all.count && status == LS_OK; i++)
        if (belongs(c, all.at[i]) && !vec_push(&ours, all.at[i]))
            status = no_memory(err);
    if (status == LS_OK && ours.count)
        status = merge_databases(ours.at, ours.count, c->s->database, &report, err);
    for (size_t i = 0; i < ours.count && status == LS_OK; i++)
        if (unlink(ours.at[i]) != 0 && errno != ENOENT) {
            ls_fail(err, LS_ERR_IO, "cannot remove a file that is merged: %s", strerror(errno));
            status = ls_error_at(err, ours.at[i], 0, 0);
        }
    merge_report_fini(&report);
    vec_fini(&all);
    vec_fini(&ours);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- rounds */

/* Lists the shards with points that nobody finished: they are new, or their job ended before they did. */
static size_t list_shards(const cluster *c, const sweep_state *state, bool *wanted)
{
    size_t count = 0;
    memset(wanted, 0, c->shards * sizeof *wanted);
    for (size_t i = 0; i < state->points.count; i++) {
        const state_point *p = &state->points.at[i];
        bool *shard = &wanted[i % c->shards];
        if (p->done || p->error || *shard)
            continue;
        *shard = true;
        count++;
    }
    return count;
}

static ls_status submit(cluster *c, const bool *wanted, size_t count, ls_error *err)
{
    const char *script = NULL;
    c->round++;
    ls_status status = write_script(c, wanted, &script, err);
    if (status == LS_OK)
        status = slurm_submit(script, c->job, sizeof c->job, err);
    if (status == LS_OK)
        status = note_job(c, err);
    if (status == LS_OK)
        tell(c, "job %s: %zu of %u shards", c->job, count, c->shards);
    return status;
}

static ls_status finish_round(cluster *c, ls_error *err)
{
    ls_status status = wait_for_job(c, err);
    return status == LS_OK && !postgres_is_url(c->s->database) ? merge_shards(c, err) : status;
}

/* Claims of processes that Slurm has ended are void, but a server does not know. */
static ls_status drop_claims(cluster *c, ls_error *err)
{
    point_store *store = NULL;
    if (!postgres_is_url(c->s->database))
        return LS_OK;
    ls_status status = points_open(c->s->database, &store, err);
    if (status == LS_OK)
        status = points_drop_claims(store, err);
    points_close(store);
    return status;
}

static ls_status run_rounds(cluster *c, ls_error *err)
{
    bool *wanted = arena_array(&c->s->arena, c->shards, sizeof *wanted);
    size_t settled_before = 0, idle = 0;
    ls_status status = wanted ? LS_OK : no_memory(err);
    for (bool first = true; status == LS_OK; first = false) {
        sweep_state state;
        status = read_state(c, &state, err);
        size_t settled = state.done + state.failed, count = list_shards(c, &state, wanted);
        state_fini(&state);
        if (status != LS_OK || count == 0)
            return status;
        idle = first || settled > settled_before ? 0 : idle + 1;
        settled_before = settled;
        if (idle >= IDLE_ROUNDS)
            return LS_OK;
        if (!first)
            tell(c, "job %s ended before all its points did: %zu shards are submitted again", c->job, count);
        status = drop_claims(c, err);
        if (status == LS_OK)
            status = submit(c, wanted, count, err);
        if (status == LS_OK)
            status = finish_round(c, err);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- a run */

static ls_status check(const cluster *c, ls_error *err)
{
    if (c->s->options.shards)
        return ls_fail(err, LS_ERR_USAGE, "a shard is no sweep of its own: --slurm makes the shards itself");
    if (postgres_has_password(c->s->database))
        return ls_fail(err, LS_ERR_USAGE,
                       "the URL has a password, which job scripts would show: put it into ~/.pgpass");
    return LS_OK;
}

/* Jobs run elsewhere: the program by its own name. */
static ls_status find_program(ls_sim_sweep *s, ls_error *err)
{
    char path[4096];
    ls_status status = sweep_find_worker(s, err);
    if (status != LS_OK)
        return status;
    if (!realpath(s->worker, path))
        return ls_fail(err, LS_ERR_IO, "cannot find the lockstep command: %s", strerror(errno));
    s->worker = arena_strdup(&s->arena, path);
    return s->worker ? LS_OK : no_memory(err);
}

/* Lists the points in the database, so that its progress can be asked for, and counts what it has. */
static ls_status declare(cluster *c, ls_error *err)
{
    ls_sim_sweep *s = c->s;
    sweep_state state = { 0 };
    ls_status status = points_open(s->database, &s->store, err);
    if (status == LS_OK)
        status = points_declare(s->store, &s->identity, s->sweep.points, s->sweep.point_count,
                                s->options.command ? s->options.command : "", err);
    if (status == LS_OK) /* points that failed in an earlier sweep are tried again */
        status = points_forget_errors(s->store, s->identity.sweep, err);
    points_close(s->store);
    s->store = NULL;
    if (status == LS_OK)
        status = read_state(c, &state, err);
    s->progress = (ls_sim_sweep_progress){ .points = s->sweep.point_count,
                                           .done_before = state.done,
                                           .to_run = s->sweep.point_count - state.done };
    state_fini(&state);
    if (status == LS_OK && c->o->progress)
        c->o->progress(c->o->self, &s->progress);
    return status;
}

static ls_status note_ends(ls_sim_sweep *s, const cluster *c, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < s->sweep.point_count && status == LS_OK; i++) {
        sweep_point *p = &s->sweep.points[i];
        if (p->done || p->error)
            continue;
        p->error = arena_printf(&s->arena, "its job ended before it did, three times (Slurm job %s, task %zu)",
                                c->job, i % c->shards + 1);
        status = p->error ? points_release(s->store, p->id, p->error, err) : no_memory(err);
    }
    return status;
}

static ls_status collect(cluster *c, ls_error *err)
{
    ls_sim_sweep *s = c->s;
    ls_status status = points_open(s->database, &s->store, err);
    if (status == LS_OK)
        status = points_read(s->store, &s->arena, s->sweep.points, s->sweep.point_count, err);
    if (status == LS_OK)
        status = note_ends(s, c, err);
    if (status == LS_OK)
        status = sweep_read_columns(&s->sweep, &s->arena, s->database, s->options.metrics,
                                    s->options.metric_count, err);
    points_close(s->store);
    s->store = NULL;
    size_t done = 0;
    for (size_t i = 0; i < s->sweep.point_count; i++)
        done += s->sweep.points[i].done;
    s->progress.failed = s->sweep.point_count - done;
    s->progress.finished = s->sweep.point_count - s->progress.done_before;
    s->progress.running = 0;
    return status;
}

static ls_status run_cluster(cluster *c, ls_error *err)
{
    bool runs = false;
    ls_status status = declare(c, err);
    if (status == LS_OK && mkdir(c->folder, 0777) != 0 && errno != EEXIST) {
        ls_fail(err, LS_ERR_IO, "cannot make the folder of the jobs: %s", strerror(errno));
        status = ls_error_at(err, c->folder, 0, 0);
    }
    if (status == LS_OK)
        status = find_job(c, &runs, err);
    if (status == LS_OK && runs)
        tell(c, "job %s still runs", c->job);
    if (status == LS_OK)
        status = runs ? finish_round(c, err) : postgres_is_url(c->s->database) ? LS_OK : merge_shards(c, err);
    c->shards = c->o->shards ? c->o->shards : SHARDS_DEFAULT;
    c->shards = c->shards < c->s->sweep.point_count ? c->shards : (uint32_t)c->s->sweep.point_count;
    if (status == LS_OK)
        status = run_rounds(c, err);
    return status == LS_OK ? collect(c, err) : status;
}

ls_status slurm_run(ls_sim_sweep *s, const slurm_options *o, ls_error *err)
{
    cluster c = { .s = s, .o = o, .folder = slurm_folder(&s->arena, s->database) };
    s->how = (ls_sim_sweep_run_options){ LS_SIM_SWEEP_RUN_OPTIONS, .jobs = o->jobs, .threads = o->threads };
    ls_status status = c.folder ? check(&c, err) : no_memory(err);
    if (status == LS_OK)
        status = find_program(s, err);
    if (status == LS_OK)
        status = run_cluster(&c, err);
    atomic_store(&s->control.stop, 0);
    return status;
}

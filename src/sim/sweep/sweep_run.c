/* sweep_run.c: runs the points of a sweep that its database does not have, some processes at a time. */
#include "base/file.h"
#include "base/pool.h"
#include "sim/session.h"
#include "sim/sweep/farm.h"
#include "sim/sweep/fork_server.h"
#include "sim/sweep/session.h"
#include "sim/sweep/sweep_monitor.h"

#include <string.h>

/* Points that another sweep runs are looked at again after so long. */
#define OTHERS_NS UINT64_C(300000000)

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the sweep");
}

static void show_progress(const ls_sim_sweep *s)
{
    if (s->how.progress)
        s->how.progress(s->how.self, &s->progress);
}

/* Reports a point that has ended to the client, with its data from the database. */
static ls_status show_point(ls_sim_sweep *s, size_t index, ls_error *err)
{
    ls_sim_point point;
    if (!s->how.point)
        return LS_OK;
    ls_status status = points_read(s->store, &s->arena, &s->sweep.points[index], 1, err);
    if (status == LS_OK)
        status = ls_sim_get_point(s, index, &point, err);
    if (status == LS_OK)
        s->how.point(s->how.self, index, &point);
    return status;
}

/* The first point that no other sweep runs. Points that another sweep has finished meanwhile are skipped. */
static farm_next next_job(void *self, size_t *index, const char *const **argv, ls_error *err)
{
    ls_sim_sweep *s = self;
    bool others = false;
    if (host_clock_ns() < s->ask_ns)
        return FARM_LATER;
    for (size_t i = 0; i < s->progress.to_run; i++) {
        sweep_job *job = &s->jobs[i];
        point_claim claim;
        if (job->state != JOB_WAITS)
            continue;
        if (points_claim(s->store, s->sweep.points[job->point].id, &claim, err) != LS_OK)
            return FARM_FAILED;
        others |= claim == LS_CLAIM_OTHER;
        if (claim == LS_CLAIM_DONE) {
            job->state = JOB_OVER;
            s->progress.finished++;
            s->progress.by_others++;
            if (show_point(s, job->point, err) != LS_OK)
                return FARM_FAILED;
        }
        if (claim != LS_CLAIM_MINE)
            continue;
        job->state = JOB_RUNS;
        sweep_monitor_started(s, i);
        *index = i;
        *argv = sweep_argv(s, job->point);
        if (*argv)
            return FARM_JOB;
        no_memory(err);
        return FARM_FAILED;
    }
    s->ask_ns = host_clock_ns() + OTHERS_NS;
    return others ? FARM_LATER : FARM_END;
}

static ls_status job_done(void *self, size_t index, const char *error, ls_error *err)
{
    ls_sim_sweep *s = self;
    sweep_job *job = &s->jobs[index];
    if (error && job->tries < s->how.retries) {
        job->tries++;
        job->state = JOB_WAITS;
        s->ask_ns = 0;
        return points_release(s->store, s->sweep.points[job->point].id, error, err);
    }
    job->state = JOB_OVER;
    s->progress.finished++;
    s->progress.failed += error != NULL;
    show_progress(s);
    ls_status status = points_release(s->store, s->sweep.points[job->point].id, error, err);
    sweep_monitor_done(s, index, error);
    return status == LS_OK ? show_point(s, job->point, err) : status;
}

static bool job_idle(void *self, size_t running)
{
    ls_sim_sweep *s = self;
    s->progress.running = running;
    show_progress(s);
    sweep_monitor_tick(s);
    if (host_clock_ns() >= s->beat_ns + LS_CLAIM_BEAT_S * UINT64_C(1000000000)) {
        s->beat_ns = host_clock_ns();
        (void)points_beat(s->store, NULL); /* only sweeps on other hosts look at it */
    }
    return atomic_load(&s->control.stop) != 0;
}

/* Points of a shard that the database of the whole sweep has already; it is only read. */
static ls_status read_whole(ls_sim_sweep *s, ls_error *err)
{
    point_store *whole = NULL;
    if (!s->options.shards || s->database == s->options.database || !file_exists(s->options.database))
        return LS_OK;
    ls_status status = points_open_read(s->options.database, &whole, err);
    if (status == LS_OK)
        status = points_read(whole, &s->arena, s->sweep.points, s->sweep.point_count, err);
    points_close(whole);
    return status;
}

/* Whether a point is none of this shard's. */
static bool is_elsewhere(const ls_sim_sweep *s, size_t point)
{
    return s->options.shards && point % s->options.shards != s->options.shard - 1;
}

/* Reads what the database has, and lists the points that are missing. */
static ls_status find_jobs(ls_sim_sweep *s, ls_error *err)
{
    sweep *sw = &s->sweep;
    bool *there = arena_array(&s->arena, sw->point_count + 1, sizeof *there);
    size_t mine = 0;
    s->progress = (ls_sim_sweep_progress){ 0 };
    s->jobs = arena_array(&s->arena, sw->point_count, sizeof *s->jobs);
    if (!s->jobs || !there)
        return no_memory(err);
    ls_status status = points_declare(s->store, &s->identity, sw->points, sw->point_count,
                                      s->options.command ? s->options.command : "", err);
    if (status == LS_OK)
        status = points_others(s->store, sw->points, sw->point_count, &s->progress.strangers, err);
    if (status == LS_OK)
        status = read_whole(s, err);
    for (size_t i = 0; i < sw->point_count; i++)
        there[i] = sw->points[i].done;
    if (status == LS_OK)
        status = points_read(s->store, &s->arena, sw->points, sw->point_count, err);
    for (size_t i = 0; i < sw->point_count && status == LS_OK; i++) {
        if (is_elsewhere(s, i))
            continue;
        mine++;
        if (!sw->points[i].done && !there[i])
            s->jobs[s->progress.to_run++] = (sweep_job){ .point = i };
    }
    s->progress.points = mine;
    s->progress.done_before = mine - s->progress.to_run;
    return status;
}

/* Points whose processes were ended are free again: for the next run of this process, too. */
static void release_claims(ls_sim_sweep *s)
{
    for (size_t i = 0; i < s->progress.to_run; i++)
        if (s->jobs[i].state == JOB_RUNS)
            (void)points_release(s->store, s->sweep.points[s->jobs[i].point].id, NULL, NULL);
}

static ls_status run_points(ls_sim_sweep *s, ls_error *err)
{
    fork_server server = { 0 };
    farm_hooks hooks = { .self = s, .next = next_job, .done = job_done, .idle = job_idle };
    ls_status status = find_jobs(s, err);
    if (status != LS_OK)
        return status;
    status = sweep_monitor_begin(s, err);
    if (status != LS_OK)
        return status;
    if (s->options.warm != NULL && s->progress.to_run > 0) {
        const char *const argv[] = { s->worker, "resume", "--serve", s->options.warm, NULL };
        status = fork_server_start(&server, argv, err);
        hooks.server = &server;
    }
    if (status != LS_OK)
        return status;
    s->ask_ns = s->beat_ns = 0;
    show_progress(s);
    /* A stop in the first call of progress() starts nothing. */
    status = atomic_load(&s->control.stop) ? LS_ERR_INTERRUPTED : farm_run(s->how.jobs, &hooks, err);
    s->progress.running = 0;
    fork_server_end(&server);
    sweep_monitor_end(s, status);
    if (status != LS_OK)
        release_claims(s);
    if (status == LS_ERR_INTERRUPTED)
        return ls_fail(err, LS_ERR_INTERRUPTED,
                       "interrupted with %zu of %zu points done: the same command goes on from here",
                       s->progress.done_before + s->progress.finished - s->progress.failed,
                       s->progress.points);
    return status;
}

/* The points as the database has them now, and their columns. */
static ls_status read_results(ls_sim_sweep *s, ls_error *err)
{
    ls_status status = points_read(s->store, &s->arena, s->sweep.points, s->sweep.point_count, err);
    s->sweep.columns.names.count = 0; /* of an earlier run */
    if (status == LS_OK)
        status = sweep_read_columns(&s->sweep, &s->arena, s->database, s->options.metrics,
                                    s->options.metric_count, err);
    return status;
}

ls_status ls_sim_sweep_run(ls_sim_sweep *s, const ls_sim_sweep_run_options *options, ls_error *err)
{
    ls_status status = session_take(&s->how, sizeof s->how, options, "ls_sim_sweep_run_options", err);
    if (status != LS_OK)
        return status;
    s->how.jobs += s->how.jobs == 0;
    s->how.threads += s->how.threads == 0;
    status = sweep_find_worker(s, err);
    if (status == LS_OK)
        status = points_open(s->database, &s->store, err);
    if (status == LS_OK)
        status = run_points(s, err);
    if (status == LS_OK)
        status = read_results(s, err);
    points_close(s->store);
    s->store = NULL;
    atomic_store(&s->control.stop, 0); /* it may run again */
    return status;
}

void ls_sim_sweep_stop(ls_sim_sweep *s)
{
    atomic_store(&s->control.stop, 1);
}

ls_run_control *ls_sim_sweep_control(ls_sim_sweep *s)
{
    return &s->control;
}

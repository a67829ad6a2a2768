/* sweep_monitor.c: see sweep_monitor.h. All of it runs on the thread of the sweep. */
#include "sim/sweep/sweep_monitor.h"

#include "base/pool.h"
#include "base/text.h"
#include "monitor/monitor.h"

#include <stdlib.h>
#include <string.h>

#define BEST_SHOWN 10u
#define FAILED_SHOWN 10u
#define NO_JOB SIZE_MAX

/* A process at a time: the job that it runs. */
typedef struct worker {
    size_t job; /* NO_JOB: it is idle */
    uint64_t since_ns;
    uint64_t points; /* that it has ended */
} worker;

struct sweep_monitor {
    monitor *server;
    char token[MONITOR_TOKEN_BYTES];
    worker *workers;
    uint64_t began_ns;
    size_t failed[FAILED_SHOWN]; /* the last points that failed */
    size_t failed_count;
};

/* ------------------------------------------------------------------------------------------------ snapshots */

/* "TRACE key=value key=value". */
static void put_words(json_writer *j, const sweep_point *p)
{
    text_buffer words = { 0 };
    text_printf(&words, "%s", p->trace);
    for (size_t i = 0; i < p->key_count; i++)
        text_printf(&words, " %s=%s", p->keys[i], p->values[i]);
    json_put_text(j, "words", text_get(&words));
    text_fini(&words);
}

static void put_real(json_writer *j, const char *key, double value)
{
    json_key(j, key);
    json_real(j, value);
}

static void put_workers(json_writer *j, const ls_sim_sweep *s)
{
    uint64_t now = host_clock_ns();
    json_key(j, "workers");
    json_array(j);
    for (uint32_t i = 0; i < s->how.jobs; i++) {
        const worker *w = &s->monitor->workers[i];
        json_begin_object(j);
        json_put_u64(j, "points", w->points);
        if (w->job != NO_JOB) {
            put_words(j, &s->sweep.points[s->jobs[w->job].point]);
            put_real(j, "seconds", (double)(now - w->since_ns) * 1e-9);
        }
        json_end(j);
    }
    json_end(j);
}

/* The fastest points that are done; of equal ones the first. */
static void put_best(json_writer *j, const ls_sim_sweep *s)
{
    const sweep_point *best[BEST_SHOWN];
    size_t count = 0;
    for (size_t i = 0; i < s->sweep.point_count; i++) {
        const sweep_point *p = &s->sweep.points[i];
        if (!p->done)
            continue;
        size_t at = count;
        while (at > 0 && best[at - 1]->time_ns > p->time_ns)
            at--;
        if (at == BEST_SHOWN)
            continue;
        size_t moved = (count < BEST_SHOWN ? count : BEST_SHOWN - 1) - at;
        memmove(&best[at + 1], &best[at], moved * sizeof *best);
        best[at] = p;
        count += count < BEST_SHOWN;
    }
    json_key(j, "best");
    json_array(j);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(j);
        put_words(j, best[i]);
        put_real(j, "time_ns", best[i]->time_ns);
        put_real(j, "cycles", best[i]->cycles);
        json_end(j);
    }
    json_end(j);
}

static void put_failures(json_writer *j, const ls_sim_sweep *s)
{
    const sweep_monitor *m = s->monitor;
    json_key(j, "failures");
    json_array(j);
    for (size_t i = 0; i < m->failed_count && i < FAILED_SHOWN; i++) {
        const sweep_point *p = &s->sweep.points[m->failed[(m->failed_count - 1 - i) % FAILED_SHOWN]];
        json_begin_object(j);
        put_words(j, p);
        json_put_text(j, "error", p->error ? p->error : "");
        json_end(j);
    }
    json_end(j);
}

static void describe(void *self, json_writer *j)
{
    const ls_sim_sweep *s = self;
    const ls_sim_sweep_progress *now = &s->progress;
    double seconds = (double)(host_clock_ns() - s->monitor->began_ns) * 1e-9;
    size_t own = now->finished - now->by_others;
    json_put_text(j, "platform", s->sweep.platform);
    json_put_text(j, "database", s->options.database);
    json_put_u64(j, "points", now->points);
    json_put_u64(j, "done_before", now->done_before);
    json_put_u64(j, "to_run", now->to_run);
    json_put_u64(j, "finished", now->finished);
    json_put_u64(j, "failed", now->failed);
    json_put_u64(j, "by_others", now->by_others);
    json_put_u64(j, "running", now->running);
    put_real(j, "points_per_second", seconds > 0 ? (double)own / seconds : 0);
    put_workers(j, s);
    put_best(j, s);
    put_failures(j, s);
}

static void stop(void *self)
{
    ls_sim_sweep_stop(self);
}

/* ---------------------------------------------------------------------------------------------------- life */

ls_status sweep_monitor_begin(ls_sim_sweep *s, ls_error *err)
{
    if (s->how.monitor == NULL)
        return s->how.monitor_token == NULL
                   ? LS_OK
                   : ls_fail(err, LS_ERR_USAGE, "a monitor's token needs --monitor PORT");
    monitor_options options = {
        .self = s, .describe = describe, .stop = stop, .control = &s->control, .is_sweep = true
    };
    ls_status status = monitor_parse_port(s->how.monitor, &options.port, err);
    if (status != LS_OK)
        return status;
    sweep_monitor *m = calloc(1, sizeof *m);
    worker *workers = calloc(s->how.jobs, sizeof *workers);
    if (m == NULL || workers == NULL) {
        free(m);
        free(workers);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the monitor");
    }
    m->workers = workers;
    m->began_ns = host_clock_ns();
    for (uint32_t i = 0; i < s->how.jobs; i++)
        workers[i].job = NO_JOB;
    s->monitor = m;
    status = monitor_choose_token(s->how.monitor_token, m->token, &options.token, err);
    if (status == LS_OK)
        status = monitor_start(&options, &m->server, err);
    if (status == LS_OK && s->how.monitor_ready != NULL) {
        char url[MONITOR_URL_BYTES];
        s->how.monitor_ready(s->how.self, monitor_url(m->server, options.token, url, sizeof url));
    }
    if (status != LS_OK)
        sweep_monitor_end(s, status);
    return status;
}

static worker *find_worker(const ls_sim_sweep *s, size_t job)
{
    for (uint32_t i = 0; i < s->how.jobs; i++)
        if (s->monitor->workers[i].job == job)
            return &s->monitor->workers[i];
    return NULL;
}

void sweep_monitor_started(ls_sim_sweep *s, size_t job)
{
    worker *w = s->monitor != NULL ? find_worker(s, NO_JOB) : NULL;
    if (w == NULL)
        return;
    w->job = job;
    w->since_ns = host_clock_ns();
}

/* The page shows the point's numbers, so they are read now. */
void sweep_monitor_done(ls_sim_sweep *s, size_t job, const char *error)
{
    sweep_monitor *m = s->monitor;
    if (m == NULL)
        return;
    worker *w = find_worker(s, job);
    if (w != NULL) {
        w->job = NO_JOB;
        w->points++;
    }
    size_t point = s->jobs[job].point;
    if (error != NULL)
        m->failed[m->failed_count++ % FAILED_SHOWN] = point;
    (void)points_read(s->store, &s->arena, &s->sweep.points[point], 1, NULL);
}

void sweep_monitor_tick(ls_sim_sweep *s)
{
    const ls_run_progress none = { 0 };
    if (s->monitor != NULL)
        monitor_tick(s->monitor->server, &none);
}

void sweep_monitor_end(ls_sim_sweep *s, ls_status status)
{
    sweep_monitor *m = s->monitor;
    if (m == NULL)
        return;
    if (m->server != NULL) {
        monitor_end(m->server, status == LS_OK ? "done" : status == LS_ERR_INTERRUPTED ? "stopped" : "failed");
        monitor_linger(m->server);
        monitor_close(m->server);
    }
    free(m->workers);
    free(m);
    s->monitor = NULL;
}

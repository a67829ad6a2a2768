/* monitor.c: the run's half of the monitor: snapshots, pauses and steps. */
#include "monitor/monitor_impl.h"

#include "base/pool.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOKED_NS UINT64_C(3000000000)  /* somebody looks, if a request came within this time */
#define SNAPSHOT_NS UINT64_C(400000000) /* between two snapshots */
#define LINGER_STEPS 40
#define LINGER_STEP_NS 25000000L
#define HOTTEST 12u /* links in a snapshot */

/* ------------------------------------------------------------------------------------------------- content */

static void put_real(json_writer *j, const char *key, double value)
{
    json_key(j, key);
    json_real(j, value);
}

static double fullness(const ls_link_use *u)
{
    return u->entries > 0 ? (double)u->used / u->entries : 0;
}

/* The fullest first; of equal ones the first. */
static void keep_hottest(ls_link_use *list, size_t *count, const ls_link_use *use)
{
    size_t at = *count;
    while (at > 0 && fullness(&list[at - 1]) < fullness(use))
        at--;
    if (at == HOTTEST)
        return;
    size_t moved = (*count < HOTTEST ? *count : HOTTEST - 1) - at;
    memmove(&list[at + 1], &list[at], moved * sizeof *list);
    list[at] = *use;
    *count += *count < HOTTEST;
}

static void put_links(const monitor *m, json_writer *j)
{
    ls_link_use hottest[HOTTEST];
    size_t count = 0;
    const ls_engine *engine = m->options.engine;
    for (uint32_t i = 0; engine != NULL && i < ls_engine_link_count(engine); i++) {
        ls_link_use use;
        ls_link_get_use(ls_engine_link(engine, i), &use);
        if (use.used > 0)
            keep_hottest(hottest, &count, &use);
    }
    json_key(j, "links");
    json_array(j);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(j);
        json_put_text(j, "name", hottest[i].name);
        json_put_text(j, "from", hottest[i].from);
        json_put_text(j, "to", hottest[i].to);
        json_put_u64(j, "used", hottest[i].used);
        json_put_u64(j, "entries", hottest[i].entries);
        json_put_u64(j, "messages", hottest[i].messages);
        json_key(j, "waits");
        json_bool(j, hottest[i].waits);
        json_end(j);
    }
    json_end(j);
}

static uint64_t read_number(const char *path, int field)
{
    char text[512];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = '\0';
    /* The name of a thread is in brackets and may have spaces. */
    char *at = strrchr(text, ')');
    at = at != NULL ? at + 1 : text;
    for (; field > 0 && at != NULL; field--) {
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/* CPU time of each thread of the process, the largest memory use, and the present one. */
static void put_host(json_writer *j)
{
    char path[300];
    long ticks = sysconf(_SC_CLK_TCK);
    json_key(j, "host");
    json_begin_object(j);
    json_put_u64(j, "memory_bytes", read_number("/proc/self/statm", 1) * (uint64_t)sysconf(_SC_PAGESIZE));
    json_key(j, "thread_seconds");
    json_array(j);
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", e->d_name);
        /* After the name: state is field 1, user time field 12, system time field 13. */
        json_real(j, (double)(read_number(path, 12) + read_number(path, 13)) / (double)ticks);
    }
    if (tasks != NULL)
        closedir(tasks);
    json_end(j);
    json_end(j);
}

static void replace(monitor *m, monitor_text *to, char *data, size_t bytes)
{
    pthread_mutex_lock(&m->lock);
    char *old = to->data;
    to->data = data;
    to->bytes = bytes;
    to->made_ns = host_clock_ns();
    pthread_mutex_unlock(&m->lock);
    free(old);
}

static void write_state(monitor *m)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    json_writer j;
    if (to == NULL)
        return;
    json_to_file(&j, to, 0);
    json_begin_object(&j);
    json_put_text(&j, "state", m->ended != NULL ? m->ended : m->is_paused ? "paused" : "running");
    json_key(&j, "control");
    json_bool(&j, m->options.token != NULL);
    json_put_u64(&j, "time_fs", m->last.now);
    json_put_u64(&j, "events", m->last.events);
    json_put_u64(&j, "windows", m->last.windows);
    put_real(&j, "wall_seconds", (double)(host_clock_ns() - m->began_ns) * 1e-9);
    put_real(&j, "fs_per_second", m->fs_per_second);
    put_real(&j, "events_per_second", m->events_per_second);
    m->options.describe(m->options.self, &j);
    put_links(m, &j);
    put_host(&j);
    json_end(&j);
    bool good = json_finish(&j, NULL) == LS_OK;
    if (fclose(to) == 0 && good)
        replace(m, &m->state, text, bytes);
    else
        free(text);
}

static void write_waits(monitor *m)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (to == NULL)
        return;
    ls_engine_dump(m->options.engine, to);
    if (fclose(to) == 0)
        replace(m, &m->waits, text, bytes);
    else
        free(text);
}

/* ------------------------------------------------------------------------------------------------ the run */

static bool is_due(monitor *m, const monitor_text *text, uint64_t now)
{
    pthread_mutex_lock(&m->lock);
    bool due = text->wanted_ns != 0 && now - text->wanted_ns < LOOKED_NS && now - text->made_ns >= SNAPSHOT_NS;
    pthread_mutex_unlock(&m->lock);
    return due;
}

static void write_due(monitor *m)
{
    uint64_t now = host_clock_ns();
    if (is_due(m, &m->state, now))
        write_state(m);
    if (m->options.engine != NULL && is_due(m, &m->waits, now))
        write_waits(m);
}

static monitor_command take_command(monitor *m)
{
    monitor_command command = m->command;
    m->command = MONITOR_NONE;
    return command;
}

static bool is_stopped(const monitor *m)
{
    return m->options.control != NULL && atomic_load(&m->options.control->stop) != 0;
}

/* Until a client lets the run go on. Snapshots are still written, so that clients see the pause. */
static void stay_paused(monitor *m)
{
    m->is_paused = true;
    write_state(m);
    pthread_mutex_lock(&m->lock);
    while (m->is_paused && !is_stopped(m)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (m->command == MONITOR_NONE)
            pthread_cond_timedwait(&m->changed, &m->lock, &until);
        monitor_command command = take_command(m);
        ls_time step = m->step_fs;
        pthread_mutex_unlock(&m->lock);
        if (command == MONITOR_STEP)
            m->sampler.next = step < LS_TIME_MAX - m->last.now ? m->last.now + step : LS_TIME_MAX;
        if (command == MONITOR_STOP)
            m->options.stop(m->options.self);
        m->is_paused = command == MONITOR_NONE || command == MONITOR_PAUSE;
        write_due(m);
        pthread_mutex_lock(&m->lock);
    }
    pthread_mutex_unlock(&m->lock);
    m->is_paused = false;
    m->rated = m->last; /* the pause is no time of the run */
    m->rated_ns = host_clock_ns();
    write_state(m);
}

static void measure_rates(monitor *m, const ls_run_progress *now)
{
    uint64_t ns = host_clock_ns();
    if (m->rated_ns == 0 || now->now < m->rated.now) {
        m->rated = *now;
        m->rated_ns = ns;
    }
    if (ns - m->rated_ns < SNAPSHOT_NS)
        return;
    double seconds = (double)(ns - m->rated_ns) * 1e-9;
    m->fs_per_second = (double)(now->now - m->rated.now) / seconds;
    m->events_per_second = (double)(now->events - m->rated.events) / seconds;
    m->rated = *now;
    m->rated_ns = ns;
}

void monitor_tick(monitor *m, const ls_run_progress *now)
{
    m->last = *now;
    measure_rates(m, now);
    pthread_mutex_lock(&m->lock);
    monitor_command command = take_command(m);
    ls_time step = m->step_fs;
    pthread_mutex_unlock(&m->lock);
    if (command == MONITOR_STOP)
        m->options.stop(m->options.self);
    if (command == MONITOR_STEP)
        m->sampler.next = step < LS_TIME_MAX - now->now ? now->now + step : LS_TIME_MAX;
    if (command == MONITOR_PAUSE)
        stay_paused(m);
    else
        write_due(m);
}

/* A step is over. */
static void look(ls_run_sampler *sampler, ls_time now, ls_time pending)
{
    monitor *m = (monitor *)((char *)sampler - offsetof(monitor, sampler));
    (void)pending;
    m->last.now = now;
    sampler->next = LS_TIME_MAX;
    stay_paused(m);
}

ls_run_sampler *monitor_sampler(monitor *m)
{
    return &m->sampler;
}

/* --------------------------------------------------------------------------------------------- life and end */

ls_status monitor_start(const monitor_options *options, monitor **out, ls_error *err)
{
    *out = NULL;
    monitor *m = calloc(1, sizeof *m);
    if (m == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the monitor");
    m->options = *options;
    m->sampler = (ls_run_sampler){ .next = LS_TIME_MAX, .look = look };
    m->began_ns = host_clock_ns();
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    write_state(m);
    ls_status status = monitor_serve(m, err);
    if (status == LS_OK)
        *out = m;
    else
        monitor_close(m);
    return status;
}

void monitor_end(monitor *m, const char *state)
{
    m->ended = state;
    write_state(m);
}

void monitor_linger(monitor *m)
{
    pthread_mutex_lock(&m->lock);
    uint64_t now = host_clock_ns(), asked = m->state.wanted_ns;
    pthread_mutex_unlock(&m->lock);
    for (int i = 0; asked != 0 && now - asked < LOOKED_NS && i < LINGER_STEPS; i++) {
        const struct timespec step = { .tv_nsec = LINGER_STEP_NS };
        nanosleep(&step, NULL);
        pthread_mutex_lock(&m->lock);
        bool seen = m->state.wanted_ns > m->state.made_ns;
        pthread_mutex_unlock(&m->lock);
        if (seen) /* the answer to this request had the last snapshot */
            return;
    }
}

void monitor_close(monitor *m)
{
    if (m == NULL)
        return;
    monitor_stop_serving(m);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m->state.data);
    free(m->waits.data);
    free(m);
}

uint16_t monitor_port(const monitor *m)
{
    return m->port;
}

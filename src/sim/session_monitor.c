/* session_monitor.c: a simulation's own part of the live page (src/monitor). */
#include "sim/session.h"

#include "monitor/monitor.h"
#include "report/export_series.h"

#include <stdlib.h>

/* Metrics over time that only the page shows, if the run wants none of its own. */
#define OWN_INTERVAL_FS (LS_FS_PER_SECOND / 1000000)

struct session_monitor {
    monitor *server;
    const ls_sim_run_options *options;
    series *own_series;
    char token[MONITOR_TOKEN_BYTES];
};

/* Kernels that have ended, and all that will; 0: unknown, a program decides it as it runs. */
static void count_kernels(const ls_sim *s, uint64_t *done, uint64_t *all)
{
    *done = 0;
    *all = 0;
    for (size_t i = 0; i < metrics_interval_count(s->metrics); i++)
        *done += !metrics_interval_at(s->metrics, i)->shared;
    if (s->has_trace)
        *all = s->trace.selection.count;
    for (uint32_t i = 0; s->has_devices && i < s->devices.count; i++)
        *all += s->devices.at[i].selection.count;
}

static void describe(void *self, json_writer *j)
{
    const ls_sim *s = self;
    const ls_clock *clock = session_clock(s);
    uint64_t done, all;
    count_kernels(s, &done, &all);
    json_put_text(j, "platform", ls_sim_platform(s));
    json_put_text(j, "workload", s->workload != NULL ? s->workload : "");
    json_put_u64(j, "until_fs", s->monitor->options->until);
    json_put_u64(j, "threads", s->monitor->options->threads > 0 ? s->monitor->options->threads : 1);
    json_put_u64(j, "kernels_done", done);
    json_put_u64(j, "kernels_all", all);
    if (clock != NULL)
        json_put_u64(j, "fs_per_1000_cycles", ls_clock_span(clock, 1000));
    json_key(j, "last_kernels");
    json_array(j);
    size_t count = metrics_interval_count(s->metrics), first = count > 8 ? count - 8 : 0;
    for (size_t i = first; i < count; i++) {
        const metric_interval *k = metrics_interval_at(s->metrics, i);
        json_begin_object(j);
        json_put_text(j, "name", k->kernel_name);
        json_put_u64(j, "number", k->kernel);
        json_put_u64(j, "gpu", k->gpu < 0 ? 0 : (uint64_t)k->gpu);
        json_put_u64(j, "time_fs", k->end - k->begin);
        json_end(j);
    }
    json_end(j);
    const series *over_time = s->series != NULL ? s->series : s->monitor->own_series;
    if (over_time != NULL)
        export_series_json(j, over_time);
}

static void stop(void *self)
{
    ls_sim_stop(self);
}

ls_status session_monitor_begin(ls_sim *s, const ls_sim_run_options *o, ls_error *err)
{
    if (o->monitor == NULL)
        return o->monitor_token == NULL ? LS_OK
                                        : ls_fail(err, LS_ERR_USAGE, "a monitor's token needs --monitor PORT");
    uint16_t port;
    ls_status status = monitor_parse_port(o->monitor, &port, err);
    if (status != LS_OK)
        return status;
    s->monitor = calloc(1, sizeof *s->monitor);
    if (s->monitor == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the monitor");
    s->monitor->options = o;
    monitor_options options = { .port = port,
                                .self = s,
                                .describe = describe,
                                .stop = stop,
                                .control = &s->control,
                                .engine = s->engine };
    status = monitor_choose_token(o->monitor_token, s->monitor->token, &options.token, err);
    const series_options over_time = { .every = OWN_INTERVAL_FS, .capacity = 256 };
    if (status == LS_OK && s->series == NULL)
        status = series_create(s->metrics, &over_time, &s->monitor->own_series, err);
    if (status == LS_OK)
        status = monitor_start(&options, &s->monitor->server, err);
    if (status == LS_OK && o->monitor_ready != NULL) {
        char url[MONITOR_URL_BYTES];
        o->monitor_ready(o->progress_self, monitor_url(s->monitor->server, options.token, url, sizeof url));
    }
    return status;
}

ls_run_sampler *session_monitor_samplers(ls_sim *s, ls_run_sampler *others)
{
    if (s->monitor == NULL)
        return others;
    ls_run_sampler *own = monitor_sampler(s->monitor->server);
    own->also = others;
    if (s->monitor->own_series != NULL) {
        series_sampler(s->monitor->own_series)->also = own;
        return series_sampler(s->monitor->own_series);
    }
    return own;
}

void session_monitor_progress(void *self, const ls_run_progress *now)
{
    ls_sim *s = self;
    monitor_tick(s->monitor->server, now);
    if (s->monitor->options->progress != NULL)
        s->monitor->options->progress(s->monitor->options->progress_self, now);
}

void session_monitor_end(ls_sim *s, const char *state)
{
    if (s->monitor == NULL)
        return;
    if (s->monitor->server != NULL)
        monitor_end(s->monitor->server, state);
}

void session_monitor_close(ls_sim *s)
{
    if (s->monitor == NULL)
        return;
    monitor_close(s->monitor->server);
    series_destroy(s->monitor->own_series);
    free(s->monitor);
    s->monitor = NULL;
}

/* live.c: see live.h. The engine calls these functions on the thread that waits for a command, while no domain runs. */
#include "client/live.h"

#include "client/client.h"
#include "base/file.h"
#include "base/pool.h"
#include "monitor/monitor.h"
#include "report/export_series.h"

#include <errno.h>
#include <stdlib.h>

/* Metrics over time that only the page shows. */
#define PAGE_INTERVAL_FS (LS_FS_PER_SECOND / 1000000)
#define PAGE_INTERVALS 256
#define LAST_KERNELS 8
#define TICK_NS UINT64_C(50000000) /* between two looks for commands of the page */

static struct {
    const command_log *log;
    series *over_time; /* NULL: none */
    const char *path;  /* of its file; NULL: only the page shows it */
    monitor *page;     /* NULL: none */
    char token[MONITOR_TOKEN_BYTES];
    uint32_t threads;
    uint64_t ticked_ns; /* of the host's clock */
    ls_run_control control;
} live;

bool client_live_is_wanted(const client_settings *settings)
{
    return settings->series_every != NULL || settings->monitor != NULL;
}

/* ---------------------------------------------------------------------------------------------- the page */

static void put_kernel(json_writer *j, const timing_record *r)
{
    json_begin_object(j);
    json_put_text(j, "name", r->kernel);
    json_put_u64(j, "number", r->number + 1);
    json_put_u64(j, "gpu", r->gpu);
    json_put_u64(j, "time_fs", r->end - r->begin);
    json_end(j);
}

/* The kernels that ended last, the oldest first. */
static void put_kernels(json_writer *j)
{
    const timing_record *last[LAST_KERNELS];
    size_t found = 0;
    for (size_t i = live.log->records.count; i > 0 && found < LAST_KERNELS; i--)
        if (live.log->records.at[i - 1].kind == DRV_WORK_LAUNCH)
            last[found++] = &live.log->records.at[i - 1];
    json_key(j, "last_kernels");
    json_array(j);
    while (found > 0)
        put_kernel(j, last[--found]);
    json_end(j);
}

static void describe(void *self, json_writer *j)
{
    (void)self;
    json_put_text(j, "platform", config_name(timing_config(client.system)));
    json_put_text(j, "workload", program_invocation_short_name);
    json_put_u64(j, "until_fs", 0);
    json_put_u64(j, "threads", live.threads);
    json_put_u64(j, "kernels_done", live.log->intervals.count);
    json_put_u64(j, "kernels_all", 0); /* the program decides it as it runs */
    json_put_u64(j, "commands_done", live.log->records.count);
    json_put_u64(j, "fs_per_1000_cycles", ls_clock_span(live.log->clock, 1000));
    put_kernels(j);
    if (live.over_time)
        export_series_json(j, live.over_time);
}

/* The command at work fails, and all later ones. */
static void stop(void *self)
{
    (void)self;
    atomic_store(&live.control.stop, 1);
}

static void tick(void *self, const ls_run_progress *now)
{
    (void)self;
    live.ticked_ns = host_clock_ns();
    monitor_tick(live.page, now);
}

/* The engine reports progress of long runs only; most commands are short. */
static void after_command(void)
{
    if (host_clock_ns() - live.ticked_ns < TICK_NS)
        return;
    ls_run_result result = timing_result(client.system);
    const ls_run_progress now = {
        .now = result.end_time, .windows = result.windows, .events = result.events, .messages = result.messages
    };
    tick(NULL, &now);
}

static ls_status start_page(const client_settings *settings, ls_error *err)
{
    monitor_options options = {
        .describe = describe, .stop = stop, .control = &live.control, .engine = timing_engine(client.system)
    };
    char url[MONITOR_URL_BYTES];
    ls_status status = monitor_parse_port(settings->monitor, &options.port, err);
    if (status == LS_OK)
        status = monitor_choose_token(settings->monitor_token, live.token, &options.token, err);
    if (status == LS_OK)
        status = monitor_start(&options, &live.page, err);
    if (status == LS_OK)
        client_complain("monitor: %s", monitor_url(live.page, options.token, url, sizeof url));
    return status;
}

/* ------------------------------------------------------------------------------------------ begin and end */

static ls_status start_series(const client_settings *settings, metric_store *metrics, ls_error *err)
{
    series_options options = { .every = PAGE_INTERVAL_FS, .capacity = PAGE_INTERVALS };
    ls_status status = LS_OK;
    if (settings->series_every) {
        options = (series_options){ .patterns = settings->series, .pattern_count = settings->series_count };
        status = series_parse_interval(settings->series_every, live.log->clock, &options.every, err);
        live.path = settings->series_path;
    }
    return status == LS_OK ? series_create(metrics, &options, &live.over_time, err) : status;
}

ls_status client_live_begin(const client_settings *settings, metric_store *metrics, command_log *log,
                            ls_error *err)
{
    live.log = log;
    live.threads = settings->threads;
    ls_status status = start_series(settings, metrics, err);
    if (status == LS_OK && settings->monitor)
        status = start_page(settings, err);
    if (status != LS_OK) {
        series_destroy(live.over_time);
        live.over_time = NULL;
        return status;
    }
    ls_run_options options = timing_options(client.system);
    options.sampler = series_sampler(live.over_time);
    if (live.page) {
        monitor_sampler(live.page)->also = options.sampler;
        options.sampler = monitor_sampler(live.page);
        options.control = &live.control;
        options.progress = tick;
        log->after = after_command;
    }
    timing_set_options(client.system, &options);
    return LS_OK;
}

static ls_status write_series(ls_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    ls_status status = series_csv(live.over_time, to, err);
    if (fclose(to) != 0 && status == LS_OK)
        status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (status == LS_OK)
        status = file_write(live.path, text, bytes, err);
    free(text);
    return status;
}

/* After a fork the child has neither the server's thread nor a file to write. */
ls_status client_live_end(ls_error *err)
{
    ls_status status = LS_OK;
    if (client.is_child || !live.over_time)
        return LS_OK;
    series_finish(live.over_time, timing_result(client.system).end_time);
    if (live.path)
        status = write_series(err);
    if (live.page) {
        monitor_end(live.page, atomic_load(&live.control.stop) ? "stopped" : "done");
        monitor_linger(live.page);
        monitor_close(live.page);
        live.page = NULL;
    }
    return status;
}

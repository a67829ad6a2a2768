/* results.c: see results.h. Without simulated time a summary has only the counts of the emulator. */
#include "client/results.h"

#include "client/client.h"
#include "base/file.h"
#include "base/text.h"
#include "commands/command_log.h"
#include "client/live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

static struct {
    bool has_summary;
    const char *rocprof_path;
    uint32_t threads;
    bool is_unified;
    struct timespec begin; /* of the host */
    mem_arena arena;
    metric_store *metrics; /* NULL: time is not simulated, or nothing needs it */
    command_log log;
} results;

ls_status client_results_begin(const client_settings *settings, ls_error *err)
{
    results.has_summary = settings->summary;
    results.rocprof_path = settings->rocprof_path;
    results.threads = settings->threads;
    results.is_unified = settings->unified;
    clock_gettime(CLOCK_MONOTONIC, &results.begin);
    if (!ls_gpu_system_is_timed(client.system) ||
        (!results.has_summary && !results.rocprof_path && !client_live_is_wanted(settings)))
        return LS_OK;
    ls_status status = metrics_create(&results.metrics, err);
    if (status == LS_OK)
        status = metrics_add_engine(results.metrics, timing_engine(client.system), err);
    if (status != LS_OK) {
        metrics_destroy(results.metrics);
        results.metrics = NULL;
        return status;
    }
    /* Each launch has a row in rocprof's table. A summary alone needs a few counters of the longest launches. */
    if (!results.rocprof_path)
        status = launch_facts_create(results.metrics, config_yaml(timing_config(client.system)),
                                     &results.log.facts, err);
    if (status != LS_OK)
        return status;
    results.log.metrics = results.metrics;
    command_log_begin(&results.log, client.system, &results.arena);
    return client_live_is_wanted(settings) ? client_live_begin(settings, results.metrics, &results.log, err)
                                           : LS_OK;
}

/* ------------------------------------------------------------------------------------------------ summary */

static void put_head(FILE *to)
{
    const platform_config *config = timing_config(client.system);
    size_t gpus = ls_gpu_system_gpu_count(client.system), count;
    const char *program = program_invocation_short_name;
    if (gpus > 1)
        fprintf(to, "%s on %zu GPUs of %s, %s\n", program, gpus, config_name(config),
                results.is_unified ? "unified" : "discrete");
    else
        fprintf(to, "%s on %s\n", program, config_name(config));
    const ls_warning *warnings = ls_engine_warnings(timing_engine(client.system), &count);
    summary_warnings(warnings, count, false, to);
    command_log_print_times(&results.log, to);
}

static void put_end(FILE *to)
{
    struct timespec now;
    char wall[LS_FORMAT_BYTES];
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds =
        (double)(now.tv_sec - results.begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - results.begin.tv_nsec);
    fprintf(to, "\n  %s since the first call of %s, %" PRIu32 " host thread%s%s\n",
            format_si(seconds, "s", wall, sizeof wall), client.interface, results.threads,
            results.threads == 1 ? "" : "s", results.metrics ? "; off: --no-summary" : "");
}

static ls_status put_timed(FILE *to, ls_error *err)
{
    ls_time end = timing_result(client.system).end_time;
    summary_launch *launches = NULL;
    size_t count;
    ls_status status = command_log_end(&results.log, end, err);
    if (status == LS_OK)
        status = command_log_launches(&results.log, &launches, &count, err);
    if (status != LS_OK)
        return status;
    const summary_input in = {
        .reader = results.log.facts
                      ? launch_facts_reader(results.log.facts)
                      : facts_of_store(results.metrics, config_yaml(timing_config(client.system))),
        .launches = launches,
        .launch_count = count,
        .busy_fs = (double)ls_clock_span(results.log.clock, results.log.busy.total),
        .end_fs = (double)end,
        .more = "--record F.lspk; lockstep run F.lspk -p P -o F.json; lockstep explain F.json"
    };
    put_head(to);
    if (count > 0)
        summary_print(&in, to);
    put_end(to);
    free(launches);
    return LS_OK;
}

static void put_counts(FILE *to)
{
    const ls_gpu_counts *c = &client.counts;
    char text[LS_FORMAT_BYTES];
    fprintf(to, "%s, emulated: --platform simulates its time\n", program_invocation_short_name);
    fprintf(to, "  %-22s %14s\n", "launches", format_count(c->launches, text, sizeof text));
    fprintf(to, "  %-22s %14s\n", "work-groups", format_count(c->work_groups, text, sizeof text));
    fprintf(to, "  %-22s %14s  of wavefronts\n", "instructions",
            format_count(c->instructions, text, sizeof text));
    put_end(to);
}

/* Written at once, so that it stays whole when several processes end at a time. */
static ls_status print_summary(ls_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    ls_status status = LS_OK;
    fputc('\n', to);
    if (results.metrics)
        status = put_timed(to, err);
    else
        put_counts(to);
    if (fclose(to) != 0 && status == LS_OK)
        status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (status == LS_OK)
        fwrite(text, 1, bytes, stderr);
    free(text);
    return status;
}

/* ------------------------------------------------------------------------------------------------ rocprof */

static ls_status write_rocprof(ls_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    const run_results r = { .platform = config_name(timing_config(client.system)),
                            .has_cycles = true,
                            .cycles = results.log.busy.total,
                            .clock = results.log.clock,
                            .metrics = results.metrics };
    if (!to)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    ls_status status = command_log_print_rocprof(&results.log, &r, to, err);
    if (fclose(to) != 0 && status == LS_OK)
        status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (status == LS_OK)
        status = file_write(results.rocprof_path, text, bytes, err);
    free(text);
    return status;
}

ls_status client_results_end(ls_error *err)
{
    bool has_commands = results.metrics ? results.log.records.count > 0 : client.counts.launches > 0;
    ls_status status = results.has_summary && has_commands ? print_summary(err) : LS_OK;
    if (status == LS_OK && results.rocprof_path && results.metrics)
        status = write_rocprof(err);
    return status == LS_OK ? client_live_end(err) : status;
}

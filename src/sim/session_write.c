/* session_write.c: results of a simulation as files and text (lockstep/sim.h). */
#include "sim/session.h"

#include "report/names.h"
#include "report/scaling_text.h"
#include "report/source.h"
#include "sim/run_accelsim.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SOURCE_ROWS 10 /* instructions of each kernel in the text */

/* ------------------------------------------------------------------------------------------------- results */

/* With where hit rates come from, which is no key but changes results as keys do. */
static const char *config_text(const ls_sim *s)
{
    const char *yaml = config_yaml(session_config(s));
    const char *text = s->trace.rates == NULL ? NULL
                                              : arena_printf((mem_arena *)(uintptr_t)&s->arena,
                                                             "# hit rates: %s\n%s", s->trace.rates, yaml);
    return text != NULL ? text : yaml;
}

/* Distinguishes runs of one database; host data, so it may differ from run to run. All exports of a run have the same. */
static const char *own_run_id(ls_sim *s)
{
    time_t now = time(NULL);
    struct tm utc;
    char stamp[24] = "";
    if (s->run_id[0])
        return s->run_id;
    if (gmtime_r(&now, &utc))
        strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(s->run_id, sizeof s->run_id, "%s-%ld", stamp, (long)getpid());
    return s->run_id;
}

run_results session_results(ls_sim *s, const char *run_id, const char *command)
{
    size_t warning_count;
    const ls_warning *warnings = ls_sim_warnings(s, &warning_count);
    ls_sim_result r = ls_sim_get_result(s);
    return (run_results){
        .platform = ls_sim_platform(s),
        .config_text = config_text(s),
        .hit_rates = s->trace.rates,
        .config_hash = s->config_hash,
        .partial = r.partial,
        .partial_reason = r.partial_reason,
        .warnings = warnings,
        .warning_count = warning_count,
        .end_time = r.end_time,
        .seed = s->seed,
        .events = r.events,
        .messages = r.messages,
        .ticks = r.ticks,
        .has_cycles = r.has_cycles,
        .cycles = r.cycles,
        .clock = session_clock(s),
        .series = s->series,
        .source = s->source,
        .region_cycles = r.region_cycles,
        .metrics = s->metrics,
        .host = {
            .run_id = run_id ? run_id : own_run_id(s),
            .command = command,
            .wall_seconds = s->wall_seconds,
            .threads = s->threads,
            .windows = s->result.windows,
            .ranks = s->ranks,
            .rank_count = s->rank_count,
        },
    };
}

static ls_status check_has_run(const ls_sim *s, ls_error *err)
{
    return s->has_run ? LS_OK
                      : ls_fail(err, LS_ERR_USAGE, "the simulation has no results before ls_sim_run()");
}

/* --------------------------------------------------------------------------------------------------- files */

ls_status ls_sim_check_exports(const char *const *paths, size_t count, const char *run_id, ls_error *err)
{
    return run_output_check(paths, count, run_id, err);
}

ls_status ls_sim_export(ls_sim *s, const char *path, const ls_sim_export_options *options, ls_error *err)
{
    ls_sim_export_options o = { LS_SIM_EXPORT_OPTIONS };
    ls_status status = check_has_run(s, err);
    if (status == LS_OK && options)
        status = session_take(&o, sizeof o, options, "ls_sim_export_options", err);
    if (status != LS_OK)
        return status;
    run_results results = session_results(s, o.run_id, o.command);
    const export_options how = { .per_block = o.per_block };
    return run_output_write(&results, &how, path, err);
}

/* ---------------------------------------------------------------------------------------------------- text */

/* Formats that a stream can take; those after tidy are no export_format. */
static const char *const formats[] = { [LS_EXPORT_TEXT] = "text",
                                       [LS_EXPORT_JSON] = "json",
                                       [LS_EXPORT_CSV] = "csv",
                                       [LS_EXPORT_TIDY] = "tidy",
                                       "accelsim",
                                       "ncu",
                                       "rocprof" };
enum { ACCELSIM = LS_EXPORT_TIDY + 1, NCU, ROCPROF };

static ls_status find_format(const char *name, size_t *out, ls_error *err)
{
    *out = LS_EXPORT_TEXT;
    for (size_t i = 0; name && i < LS_COUNT_OF(formats); i++)
        if (strcmp(formats[i], name) == 0) {
            *out = i;
            return LS_OK;
        }
    if (!name)
        return LS_OK;
    ls_fail(err, LS_ERR_USAGE, "there is no format '%s' of results as text", name);
    return ls_error_nearest(err, nearest_of(name, formats, LS_COUNT_OF(formats)));
}

ls_status ls_sim_check_format(const ls_sim *s, const char *name, ls_error *err)
{
    size_t format;
    ls_status status = find_format(name, &format, err);
    if (status == LS_OK && (format == NCU || format == ROCPROF))
        return names_check(format == NCU ? NAMES_NCU : NAMES_ROCPROF, s->metrics, err);
    if (status != LS_OK || format != ACCELSIM)
        return status;
    if (!s->has_trace)
        return ls_fail(err, LS_ERR_USAGE, "the format accelsim is for traces, but the workload is %s",
                       s->has_devices ? "for several GPUs" : run_kind_name(s->kind));
    return run_accelsim_check(&s->trace, err);
}

static void print_tables(const ls_sim *s, FILE *to)
{
    if (s->has_devices)
        run_devices_table(&s->devices, to);
    else if (s->has_trace)
        run_trace_table(&s->trace, to);
    else if (s->has_program)
        run_program_table(&s->program, to);
}

ls_status ls_sim_print_as(ls_sim *s, const ls_sim_print_options *options, FILE *to, ls_error *err)
{
    ls_sim_print_options o = { LS_SIM_PRINT_OPTIONS };
    size_t format;
    ls_status status = check_has_run(s, err);
    if (status == LS_OK && options)
        status = session_take(&o, sizeof o, options, "ls_sim_print_options", err);
    if (status == LS_OK)
        status = ls_sim_check_format(s, o.format, err);
    if (status == LS_OK)
        status = find_format(o.format, &format, err);
    if (status != LS_OK)
        return status;
    run_results results = session_results(s, o.run_id, o.command);
    if (format == ACCELSIM)
        return run_accelsim_print(&s->trace, results.partial, results.host.wall_seconds, to, err);
    if (format == NCU || format == ROCPROF)
        return format == NCU ? names_print_ncu(&results, to, err)
                             : command_log_print_rocprof(&s->program.log, &results, to, err);
    bool all = o.all || o.per_block || o.untouched;
    if (format == LS_EXPORT_TEXT && !all && session_summary(s, o.color, to))
        return LS_OK;
    if (format == LS_EXPORT_TEXT)
        print_tables(s, to);
    if (format == LS_EXPORT_TEXT && s->source)
        source_print(s->source, SOURCE_ROWS, to);
    const export_options how = { .per_block = o.per_block, .untouched = o.untouched, .color = o.color };
    return export_stream(&results, (export_format)format, &how, to, err);
}

ls_status ls_sim_print(ls_sim *s, FILE *to, ls_error *err)
{
    return ls_sim_print_as(s, NULL, to, err);
}

ls_status ls_sim_print_scaling(const ls_sim *s, FILE *to, ls_error *err)
{
    ls_scaling scaling;
    if (!ls_scaling_report(s->engine, &scaling))
        return ls_fail(err, LS_ERR_USAGE,
                       "the run measured no work per window: set ls_sim_run_options.scaling");
    scaling_print(&scaling, to);
    scaling_groups_text(s->engine, to);
    scaling_ranks_text(s->engine, to);
    return LS_OK;
}

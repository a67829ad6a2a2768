/* run_output.c: checks output files before the run, so that hours of simulation do not end in a typing
 * mistake, and writes each together with the configuration that gave it. */
#include "sim/run_output.h"

#include "base/file.h"

#include <string.h>

#define CONFIG_SUFFIX ".platform.yaml"

static ls_status check_one(const char *path, const char *run_id, ls_error *err)
{
    export_format format;
    ls_status status = export_format_of(path, &format, err);
    if (status == LS_OK)
        status = file_check_writable(path, err);
    if (status == LS_OK && format == LS_EXPORT_SQLITE)
        status = export_check_id(path, run_id, err);
    return status;
}

ls_status run_output_check(const char *const *paths, size_t count, const char *run_id, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        status = check_one(paths[i], run_id, err);
        for (size_t k = 0; k < i && status == LS_OK; k++)
            if (strcmp(paths[i], paths[k]) == 0) {
                ls_fail(err, LS_ERR_USAGE, "the same file is named twice");
                status = ls_error_at(err, paths[i], 0, 0);
            }
    }
    return status;
}

ls_status run_output_write(const run_results *results, const export_options *options, const char *path,
                           ls_error *err)
{
    export_format format;
    ls_status status = export_format_of(path, &format, err);
    if (status != LS_OK || format == LS_EXPORT_SQLITE) /* a database holds the configuration of each run */
        return status == LS_OK ? export_results(results, format, options, path, err) : status;
    mem_arena arena = { 0 };
    file_writer beside;
    const char *config_path = arena_printf(&arena, "%s" CONFIG_SUFFIX, path);
    status = config_path ? file_writer_open(&beside, config_path, err)
                         : ls_fail(err, LS_ERR_NOMEM, "out of memory");
    if (status == LS_OK) {
        fputs(results->config_text, beside.stream);
        status = export_results(results, format, options, path, err);
        if (status == LS_OK)
            status = file_writer_commit(&beside, err);
        else
            file_writer_abort(&beside);
    }
    arena_fini(&arena);
    return status;
}

ls_status run_output_write_all(const run_results *results, const export_options *options,
                               const char *const *paths, size_t count, ls_error *err)
{
    ls_status first = LS_OK;
    for (size_t i = 0; i < count; i++) {
        ls_error later;
        ls_status status = run_output_write(results, options, paths[i], first == LS_OK ? err : &later);
        first = first == LS_OK ? status : first;
    }
    return first;
}

ls_status run_output_hash(const platform_config *config, metric_store *metrics, const ls_run_result *run,
                          hash128 *out, ls_error *err)
{
    const run_results results = {
        .platform = config_name(config),
        .config_text = config_yaml(config),
        .end_time = run->end_time,
        .events = run->events,
        .messages = run->messages,
        .ticks = run->ticks,
        .region_cycles = run->region_cycles,
        .metrics = metrics,
    };
    return export_hash(&results, out, err);
}

/* run_output.c: checks output files before the run, so that hours of simulation do not end in a typing
 * mistake, and writes each together with the configuration that gave it. */
#include "sim/run_output.h"

#include "base/file.h"
#include "report/postgres.h"
#include "report/source.h"

#include <string.h>

#define CONFIG_SUFFIX ".platform.yaml"
#define SERIES_SUFFIX ".series.csv"
#define SOURCE_SUFFIX ".source.csv"

static ls_status check_one(const char *path, const char *run_id, ls_error *err)
{
    export_format format;
    ls_status status = export_format_of(path, &format, err);
    if (status == LS_OK && !postgres_is_url(path))
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

/* A file that is written together with others: none of them appears unless all can. */
typedef struct written {
    file_writer file;
    bool is_open;
} written;

static ls_status begin_file(written *w, mem_arena *arena, const char *path, const char *suffix, ls_error *err)
{
    const char *name = arena_printf(arena, "%s%s", path, suffix);
    ls_status status =
        name ? file_writer_open(&w->file, name, err) : ls_fail(err, LS_ERR_NOMEM, "out of memory");
    w->is_open = status == LS_OK;
    return status;
}

static ls_status end_file(written *w, ls_status status, ls_error *err)
{
    if (w->is_open && status == LS_OK)
        return file_writer_commit(&w->file, err);
    if (w->is_open)
        file_writer_abort(&w->file);
    return status;
}

ls_status run_output_write(const run_results *results, const export_options *options, const char *path,
                           ls_error *err)
{
    export_format format;
    ls_status status = export_format_of(path, &format, err);
    if (status != LS_OK || format == LS_EXPORT_SQLITE) /* a database holds everything of each run */
        return status == LS_OK ? export_results(results, format, options, path, err) : status;
    mem_arena arena = { 0 };
    written config = { 0 }, over_time = { 0 }, source = { 0 };
    status = begin_file(&config, &arena, path, CONFIG_SUFFIX, err);
    if (status == LS_OK)
        fputs(results->config_text, config.file.stream);
    if (status == LS_OK && results->series && format != LS_EXPORT_JSON) {
        status = begin_file(&over_time, &arena, path, SERIES_SUFFIX, err);
        if (status == LS_OK)
            status = series_csv(results->series, over_time.file.stream, err);
    }
    if (status == LS_OK && results->source && format != LS_EXPORT_JSON) {
        status = begin_file(&source, &arena, path, SOURCE_SUFFIX, err);
        if (status == LS_OK)
            source_csv(results->source, source.file.stream);
    }
    if (status == LS_OK)
        status = export_results(results, format, options, path, err);
    status = end_file(&source, status, err);
    status = end_file(&over_time, status, err);
    status = end_file(&config, status, err);
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

/* run_output.c: checks output files before the run, so that hours of simulation do not end in a typing
 * mistake, and writes each together with the configuration that gave it. */
#include "cli/run_output.h"

#include "base/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_SUFFIX ".platform.yaml"

static ls_status check_one(ls_arena *arena, const char *path, ls_error *err)
{
    ls_export_format format;
    ls_status status = ls_export_format_of(path, &format, err);
    if (status != LS_OK)
        return status;
    const char *dir = ls_path_dir(arena, path);
    if (!dir)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    if (ls_file_is_dir(path))
        ls_fail(err, LS_ERR_IO, "is a directory");
    else if (!ls_file_is_dir(dir))
        ls_fail(err, LS_ERR_IO, "the directory '%s' does not exist", dir);
    else if (access(dir, W_OK | X_OK) != 0)
        ls_fail(err, LS_ERR_IO, "cannot write into '%s': %s", dir, strerror(errno));
    else
        return LS_OK;
    return ls_error_at(err, path, 0, 0);
}

ls_status run_output_check(const char *const *paths, size_t count, ls_error *err)
{
    ls_arena arena = { 0 };
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        status = check_one(&arena, paths[i], err);
        for (size_t k = 0; k < i && status == LS_OK; k++)
            if (strcmp(paths[i], paths[k]) == 0) {
                ls_fail(err, LS_ERR_USAGE, "the same file is named twice");
                status = ls_error_at(err, paths[i], 0, 0);
            }
    }
    ls_arena_fini(&arena);
    return status;
}

ls_status run_output_write(const ls_results *results, const char *path, ls_error *err)
{
    ls_arena arena = { 0 };
    ls_file_writer beside;
    ls_export_format format;
    const char *config_path = ls_arena_printf(&arena, "%s" CONFIG_SUFFIX, path);
    ls_status status = config_path ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "out of memory");
    if (status == LS_OK)
        status = ls_export_format_of(path, &format, err);
    if (status == LS_OK)
        status = ls_file_writer_open(&beside, config_path, err);
    if (status == LS_OK) {
        fputs(results->config_text, beside.stream);
        status = ls_export(results, format, NULL, path, err);
        if (status == LS_OK)
            status = ls_file_writer_commit(&beside, err);
        else
            ls_file_writer_abort(&beside);
    }
    ls_arena_fini(&arena);
    return status;
}

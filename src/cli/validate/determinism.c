/* determinism.c: every trace with several numbers of host threads: all results must be the same to the
 * last digit. */
#include "cli/validate/validate.h"

#include <stdlib.h>
#include <string.h>

#define CONFIG "SM86_RTX3070"

static const uint32_t threads[] = { 1, 2, 3, 8 };

static const char *const columns[] = { "trace",     "platform",  "kernels",   "1 thread",
                                       "2 threads", "3 threads", "8 threads", NULL };

static ls_status run_trace_often(const validate_reference *ref, validate_report *report,
                                 validate_section *section, const config_request *platform, const char *name,
                                 ls_error *err)
{
    mem_arena *arena = &report->arena;
    validate_result first, result;
    validate_row row = { .cells = { arena_strdup(arena, name), arena_strdup(arena, platform->platform) } };
    validate_job job = { .platform = *platform,
                         .trace = arena_printf(arena, "%s/%s", ref->traces, name),
                         .hash = true };
    if (!row.cells[0] || !row.cells[1] || !job.trace)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
    for (size_t i = 0; i < LS_COUNT_OF(threads); i++) {
        char text[LS_HASH_TEXT_BYTES];
        job.threads = threads[i];
        ls_status status = validate_simulate(arena, &job, &result, err);
        if (status != LS_OK)
            return status;
        if (i == 0)
            first = result;
        row.cells[2] = arena_printf(arena, "%zu", result.kernel_count);
        row.cells[3 + i] = arena_printf(arena, "%.12s", hash128_text(result.hash, text));
        if (!row.cells[2] || !row.cells[3 + i])
            return ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
        if (!hash_same(first.hash, result.hash))
            row.verdict = VALIDATE_FAIL;
    }
    return vec_push(&section->rows, row) ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
}

ls_status validate_determinism(const validate_reference *ref, validate_report *report, ls_error *err)
{
    config_request platform;
    const char **names = NULL;
    size_t count = 0;
    validate_section *section =
        validate_section_add(report, "determinism", "The same results with any threads", columns);
    if (!section)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
    section->about =
        "The hash of everything a run exports (every counter of every block for every kernel, times and "
        "events; not the host's part) with 1, 2, 3 and 8 host threads, on imported " CONFIG
        ". Passes: all four are equal.";
    if (!ref->traces)
        return validate_skip_traces(report, section, err);
    ls_status status = validate_import(ref, CONFIG, &platform, err);
    if (status == LS_OK && !platform.text)
        status = ls_fail(err, LS_ERR_INPUT, "there is no platform for Accel-Sim's configuration '%s'", CONFIG);
    if (status == LS_OK)
        status = validate_list_traces(ref, &names, &count, err);
    for (size_t i = 0; i < count && names && status == LS_OK; i++)
        status = run_trace_often(ref, report, section, &platform, names[i], err);
    if (status != LS_OK)
        return status;
    section->summary =
        arena_printf(&report->arena,
                     "determinism: %zu traces with 1, 2, 3 and 8 threads: %zu with equal "
                     "results, %zu failed",
                     count, validate_count(section, VALIDATE_PASS), validate_count(section, VALIDATE_FAIL));
    return section->summary ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
}

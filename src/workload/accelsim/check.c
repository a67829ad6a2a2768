/* check.c: reads a whole trace and continues after each defect. */
#include "workload/accelsim/accelsim.h"
#include "workload/accelsim/list.h"
#include "workload/accelsim/reader.h"

#include "base/file.h"

ls_status acc_open_memory(const char *name, const void *data, size_t bytes, const trace_options *options,
                          acc_report *report, trace_kernel **out, ls_error *err)
{
    acc_input *input;
    *out = NULL;
    ls_status status = acc_input_open_memory(name, data, bytes, &input, err);
    return status == LS_OK ? acc_reader_open(input, name, options, report, out, err) : status;
}

/* Says in the report why not; then *kernel is NULL. */
static ls_status open_kernel(const acc_trace *t, const trace_cmd *command, acc_report *report,
                             trace_kernel **kernel, ls_error *err)
{
    acc_input *input;
    mem_arena arena = { 0 };
    char *path;
    bool other_name;
    const char *list = acc_trace_list(t, command), *place = list ? list : command->text;
    *kernel = NULL;
    ls_status status = acc_trace_find(t, &arena, command, &path, &other_name, err);
    bool found = status == LS_OK;
    if (!found)
        status = acc_defect_error(report, ACC_missing_file, place, command->line, err);
    else if (other_name)
        status = acc_defect_at(report, ACC_other_name, place, command->line, err, "'%s' is read for '%s'",
                               path_base(path), command->text);
    if (found && status == LS_OK) {
        status = acc_input_open(path, &input, err);
        if (status != LS_OK)
            status =
                acc_defect_error(report, status == LS_ERR_UNSUPPORTED ? ACC_unsupported : ACC_missing_file,
                                 path, 0, err);
        else
            status = acc_reader_open(input, path, &t->trace.options, report, kernel, err);
    }
    arena_fini(&arena);
    return status == LS_ERR_CHECK ? LS_OK : status; /* LS_ERR_CHECK: a header that the report has already */
}

static ls_status check_kernel(const acc_trace *t, const trace_cmd *command, acc_report *report, ls_cta *cta,
                              acc_totals *totals, ls_error *err)
{
    trace_kernel *kernel;
    bool end = false;
    ls_status status = open_kernel(t, command, report, &kernel, err);
    if (status != LS_OK || !kernel)
        return status;
    while (status == LS_OK && !end) {
        status = kernel_next_cta(kernel, cta, &end, err);
        if (status == LS_OK && !end) {
            totals->blocks++;
            totals->warp_insts += cta->dyn_count;
        }
    }
    totals->read += status == LS_OK;
    kernel_close(kernel);
    return status;
}

ls_status acc_check(const char *path, acc_report *report, acc_totals *totals, ls_error *err)
{
    const trace_options options = { .drop_values = true };
    acc_trace *t;
    ls_cta cta = { 0 };
    mem_arena arena = { 0 };
    char **names;
    size_t count = 0;
    ls_error ignored;
    *totals = (acc_totals){ 0 };
    if (!err)
        err = &ignored;
    ls_status status = acc_trace_open(path, &options, report, &t, err);
    if (status != LS_OK)
        return status;
    for (uint64_t i = 0; i < t->trace.command_count && status == LS_OK; i++) {
        if (t->trace.commands[i].kind != LS_COMMAND_KERNEL)
            continue;
        totals->kernels++;
        status = check_kernel(t, &t->trace.commands[i], report, &cta, totals, err);
    }
    if (status == LS_OK)
        status = acc_trace_unlisted(t, &arena, &names, &count, err);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        char *file = path_join(&arena, t->dir, names[i]);
        status = file ? acc_defect_at(report, ACC_unlisted_file, file, 0, err, "the list does not name it")
                      : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    ls_cta_fini(&cta);
    arena_fini(&arena);
    acc_trace_close(t);
    return status;
}

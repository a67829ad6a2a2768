/* copy.c: kernels of a trace, thread block by thread block, into a sink. Memory is bounded by one thread
 * block. */
#include "workload/copy.h"

#include "base/file.h"
#include "base/text.h"
#include "workload/accelsim/same.h"
#include "workload/accelsim/write.h"
#include "workload/pack/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct copier {
    sass_trace *trace;
    const copy_options *options;
    trace_sink *sink;
    copy_result *result;
    ls_cta cta;
    text_buffer header, text;
} copier;

/* --------------------------------------------------------------------------------------------- comparing */

static void note_normalised(copier *c, const char *file, uint64_t line)
{
    if (c->result->normalised++ > 0)
        return;
    snprintf(c->result->first_file, sizeof c->result->first_file, "%s", file);
    c->result->first_line = line;
}

static ls_status compare_cta(copier *c, text_check *same, const sink_kernel *k, ls_error *err)
{
    text_clear(&c->text);
    ls_status status = write_cta(&c->text, k->kernel, k->info, &c->cta, c->cta.index == 0, err);
    if (status != LS_OK)
        return status;
    c->result->text_bytes += c->text.count;
    return same_feed(same, text_get(&c->text), c->text.count, err);
}

/* -------------------------------------------------------------------------------------------------- grids */

/* The first `limit` blocks as a grid of their own: whole rows or planes of the old grid if possible, else one
 * row. *keep: blocks keep their positions. */
static void cut_grid(const uint32_t old[3], uint64_t limit, uint32_t grid[3], bool *keep)
{
    uint64_t plane = (uint64_t)old[0] * old[1];
    *keep = true;
    memcpy(grid, old, 3 * sizeof *grid);
    if (limit >= plane * old[2])
        return;
    if (limit % plane == 0)
        grid[2] = (uint32_t)(limit / plane);
    else if (limit % old[0] == 0 && limit < plane) {
        grid[1] = (uint32_t)(limit / old[0]);
        grid[2] = 1;
    } else {
        *keep = limit <= old[0];
        grid[0] = (uint32_t)limit;
        grid[1] = grid[2] = 1;
    }
}

/* ------------------------------------------------------------------------------------------------ kernels */

/* Names of files that others may give to kernels become names that a list can have. */
static const char *file_name(const char *text, uint64_t number, char *out, size_t out_bytes)
{
    const char *base = path_base(text);
    if (starts_with(base, "kernel"))
        return base;
    snprintf(out, out_bytes, "kernel-%" PRIu64 ".traceg", number);
    return out;
}

static ls_status copy_blocks(copier *c, trace_kernel *kernel, sink_kernel *k, text_check *same, bool keep,
                             ls_error *err)
{
    uint64_t limit = c->options->cta_limit ? c->options->cta_limit : UINT64_MAX;
    ls_status status = LS_OK;
    for (uint64_t done = 0; done < limit && status == LS_OK; done++) {
        bool end;
        status = kernel_next_cta(kernel, &c->cta, &end, err);
        if (status != LS_OK || end)
            break;
        c->result->ctas++;
        c->result->warp_insts += c->cta.dyn_count;
        if (!keep) {
            c->cta.id[0] = (uint32_t)done;
            c->cta.id[1] = c->cta.id[2] = 0;
        }
        if (same)
            status = compare_cta(c, same, k, err);
        if (status == LS_OK)
            status = c->sink->ops->cta(c->sink, k, &c->cta, err);
    }
    return status;
}

static ls_status copy_open_kernel(copier *c, trace_kernel *kernel, const trace_cmd *command, uint64_t number,
                                  ls_error *err)
{
    char name[64];
    ls_kernel_info info = *kernel_get_info(kernel);
    bool keep = true, known = false;
    text_check *same = NULL;
    size_t bytes = 0;
    const char *header = kernel->ops->header ? kernel->ops->header(kernel, &bytes) : NULL;
    text_clear(&c->header);
    if (c->options->cta_limit && c->options->cta_limit < ls_kernel_cta_count(&info)) {
        uint32_t old[3] = { info.grid[0], info.grid[1], info.grid[2] };
        cut_grid(old, c->options->cta_limit, info.grid, &keep);
        if (header)
            write_header_grid(&c->header, header, bytes, info.grid);
    } else if (header)
        text_addn(&c->header, header, bytes);
    if (!header)
        write_header(&c->header, &info);
    if (c->header.failed)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    sink_kernel k = { .kernel = kernel,
                      .info = &info,
                      .name = file_name(command->text, number, name, sizeof name),
                      .header = text_get(&c->header),
                      .header_bytes = c->header.count,
                      .line = command->line,
                      .normalised = pack_kernel_normalised(kernel) };
    ls_status status = c->sink->ops->begin(c->sink, &k, &known, err);
    c->result->kernels++;
    if (status != LS_OK || known)
        return status;
    if (c->options->compare && !c->options->cta_limit) {
        status = same_open(info.file, &same, err);
        if (status == LS_OK)
            status = same_feed(same, k.header, k.header_bytes, err);
        c->result->text_bytes += k.header_bytes;
    }
    if (status == LS_OK)
        status = copy_blocks(c, kernel, &k, same, keep, err);
    if (status == LS_OK && same) {
        uint64_t line;
        status = same_end(same, &line, err);
        k.normalised = line > 0;
        if (line > 0)
            note_normalised(c, info.file, line);
    }
    same_close(same);
    return status == LS_OK ? c->sink->ops->end(c->sink, &k, err) : status;
}

/* Both lists are in the same order, so one look is enough. */
static bool is_selected(const kernel_selection *selection, uint64_t command, size_t *next)
{
    if (!selection)
        return true;
    bool is = *next < selection->count && selection->at[*next].command == command;
    *next += is;
    return is;
}

static ls_status copy_commands(copier *c, ls_error *err)
{
    uint64_t number = 0;
    size_t next = 0;
    ls_status status = LS_OK;
    for (uint64_t i = 0; i < c->trace->command_count && status == LS_OK; i++) {
        const trace_cmd *command = &c->trace->commands[i];
        trace_kernel *kernel;
        if (command->kind != LS_COMMAND_KERNEL) {
            status = c->sink->ops->command(c->sink, command, err);
            continue;
        }
        number++;
        if (!is_selected(c->options->selection, i, &next))
            continue;
        status = trace_open_kernel(c->trace, i, &kernel, err);
        if (status != LS_OK)
            break;
        status = copy_open_kernel(c, kernel, command, number, err);
        kernel_close(kernel);
    }
    return status;
}

ls_status trace_copy_to(sass_trace *trace, const copy_options *options, trace_sink *sink, copy_result *result,
                        ls_error *err)
{
    copier c = { .trace = trace, .options = options, .sink = sink, .result = result };
    *result = (copy_result){ 0 };
    ls_status status = copy_commands(&c, err);
    if (status == LS_OK && options->compare && !options->selection) {
        uint64_t line;
        status = same_list(trace, &line, err);
        if (status == LS_OK && line > 0)
            note_normalised(&c, "kernelslist.g", line);
    }
    ls_cta_fini(&c.cta);
    text_fini(&c.header);
    text_fini(&c.text);
    if (status == LS_OK)
        return sink->ops->finish(sink, err);
    sink->ops->abort(sink);
    return status;
}

/* trace_copy.c: from the options of a command to a copy of a trace, and the summary. */
#include "cli/trace_copy.h"

#include "workload/accelsim/write.h"
#include "workload/pack/pack.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

const char *const trace_format_choices[] = { "auto", "text", "pack", "tracez", NULL };
const char *const trace_pack_choices[] = { "pack", "tracez", NULL };

bool trace_is_packed(const cli_context *ctx, const char *output)
{
    size_t format = cli_choice(ctx, "format");
    return format == 0 ? ends_with(output, LS_PACK_SUFFIX) : format == 2;
}

static const cli_option *find_option(const cli_context *ctx, const char *name)
{
    const cli_command *command = cli_args_command(ctx->args);
    for (size_t i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return &command->options[i];
    return NULL;
}

static bool has_option(const cli_context *ctx, const char *name)
{
    return find_option(ctx, name) != NULL;
}

bool trace_is_tracez(const cli_context *ctx)
{
    const cli_option *format = find_option(ctx, "format");
    return format && strcmp(format->choices[cli_choice(ctx, "format")], "tracez") == 0;
}

static ls_status make_sink(const cli_context *ctx, const char *output, bool packed, trace_sink **sink,
                           ls_error *err)
{
    const char *other = packed ? "compress" : "level";
    if (has_option(ctx, other) && cli_given(ctx, other))
        return ls_fail(err, LS_ERR_USAGE, "--%s is for %s, but '%s' is written %s", other,
                       packed ? "text" : "packed traces", output, packed ? "packed" : "as text");
    if (packed)
        return pack_create(output, has_option(ctx, "level") ? (int)cli_uint(ctx, "level") : LS_PACK_LEVEL,
                           sink, err);
    if (trace_is_tracez(ctx)) {
        if (has_option(ctx, "compress") && cli_given(ctx, "compress"))
            return ls_fail(err, LS_ERR_USAGE,
                           "--compress is for text, but --format tracez has its own compression");
        if (strcmp(output, "-") == 0)
            return ls_fail(err, LS_ERR_USAGE, "--format tracez writes a directory, not standard output");
        return write_dir_create(output, LS_COMPRESS_TRACEZ, sink, err);
    }
    text_compression compression =
        has_option(ctx, "compress") ? (text_compression)cli_choice(ctx, "compress") : LS_COMPRESS_NONE;
    return write_dir_create(output, compression, sink, err);
}

static void print_summary(const cli_context *ctx, const char *output, bool packed, const copy_result *r)
{
    char a[LS_FORMAT_BYTES], b[LS_FORMAT_BYTES], c[LS_FORMAT_BYTES];
    struct stat file;
    FILE *out = strcmp(output, "-") == 0 ? ctx->err : ctx->out;
    fprintf(out, "%s: %s kernel%s, %s thread blocks, %s warp instructions", output,
            format_count(r->kernels, a, sizeof a), r->kernels == 1 ? "" : "s",
            format_count(r->ctas, b, sizeof b), format_count(r->warp_insts, c, sizeof c));
    if (packed && stat(output, &file) == 0 && S_ISREG(file.st_mode)) {
        fprintf(out, "; %s", format_si((double)file.st_size, "B", a, sizeof a));
        if (r->text_bytes)
            fprintf(out, ", %.1f times smaller than %s of text", (double)r->text_bytes / (double)file.st_size,
                    format_si((double)r->text_bytes, "B", b, sizeof b));
    }
    fputc('\n', out);
    if (r->normalised > 0)
        fprintf(ctx->err,
                "lockstep: note: normalised %" PRIu64
                " file%s: the text that comes back differs (first in %s, line "
                "%" PRIu64 ")\n",
                r->normalised, r->normalised == 1 ? "" : "s", r->first_file, r->first_line);
}

ls_status trace_copy(cli_context *ctx, const char *path, const char *output, bool packed,
                     copy_options *options, ls_error *err)
{
    /* The same checks as `run` and `trace check`, unless options say otherwise: the opcode itself is copied
     * unchanged. */
    const trace_options as_is = {
        .unknown_opcodes_as_alu =
            has_option(ctx, "unknown-opcodes") && cli_choice(ctx, "unknown-opcodes") == 1,
    };
    kernel_selection selection = { 0 };
    copy_options selected = *options;
    copy_result result;
    sass_trace *trace;
    trace_sink *sink = NULL;
    ls_status status = trace_open(path, &as_is, &trace, err);
    if (status != LS_OK)
        return status;
    if (has_option(ctx, "kernels") && cli_given(ctx, "kernels")) {
        status = select_kernels(trace, cli_text(ctx, "kernels"), &selection, err);
        selected.selection = &selection;
    }
    if (status == LS_OK)
        status = make_sink(ctx, output, packed, &sink, err);
    if (status == LS_OK)
        status = trace_copy_to(trace, &selected, sink, &result, err);
    if (status == LS_OK)
        print_summary(ctx, output, packed, &result);
    selection_fini(&selection);
    trace_close(trace);
    return status;
}

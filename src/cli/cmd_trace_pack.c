/* cmd_trace_pack.c: `lockstep trace pack`, `unpack` and `cut`: traces from one form to another, whole or in
 * part. */
#include "cli/cmd_trace.h"
#include "cli/trace_amd.h"
#include "cli/trace_copy.h"

#include "workload/accelsim/write.h"
#include "workload/pack/pack.h"

/* clang-format off */
#define OUTPUT_OPTION(arg_, complete_, help_)                                                                \
    { .name = "output", .letter = 'o', .type = CLI_TEXT, .arg = arg_, .complete = complete_, .help = help_ }
/* clang-format on */

static ls_status find_output(const cli_context *ctx, const char **output, ls_error *err)
{
    *output = cli_text(ctx, "output");
    if (!*output)
        return ls_fail(err, LS_ERR_USAGE, "--output is missing: where should the result go?");
    return LS_OK;
}

static bool is_text(const char *path)
{
    return trace_source_of(path) == &accelsim_source;
}

/* --------------------------------------------------------------------------------------------------- pack */

static ls_status run_pack(cli_context *ctx, ls_error *err)
{
    copy_options options = { .compare = is_text(ctx->positionals[0]) };
    const char *output;
    ls_status status = find_output(ctx, &output, err);
    return status == LS_OK ? trace_copy(ctx, ctx->positionals[0], output, !trace_is_tracez(ctx), &options, err)
                           : status;
}

/* clang-format off */
static const cli_option pack_options[] = {
    OUTPUT_OPTION("FILE", CLI_COMPLETE_FILE, "the packed trace, usually NAME.lspk; - is standard output"),
    CMD_TRACE_KERNELS_OPTION,
    CMD_TRACE_UNKNOWN_OPTION,
    TRACE_PACK_FORMAT_OPTION,
    TRACE_LEVEL_OPTION,
};

static const cli_positional path_positionals[] = { CMD_TRACE_PATH_POSITIONAL };
/* clang-format on */

static const cli_example pack_examples[] = {
    { "lockstep trace pack traces/bfs -o bfs.lspk", "one small file that loads fast" },
    { "lockstep trace pack traces/bfs -o some.lspk --kernels 3-7", "some of the kernels" },
    { "lockstep trace pack traces/bfs -o bfs-z --format tracez", "files for Accel-Sim 2.0" },
};

const cli_command cmd_trace_pack = {
    .name = "pack",
    .summary = "pack a trace into one small file that loads fast",
    .about =
        "A packed trace says the same as the text, byte for byte: `lockstep trace unpack` gives the "
        "files back. Where the text of a file is not what a tracer writes (other spaces, line ends, "
        "order), what would come back is compared with it, and the file is reported as normalised. Only "
        "one thread block is in memory at a time. The format is described in docs/trace-format.md. With --format "
        "tracez the result is a directory of the files that Accel-Sim 2.0 reads.",
    .order = 3,
    CLI_OPTIONS(pack_options),
    CLI_POSITIONALS(path_positionals),
    CLI_EXAMPLES(pack_examples),
    .run = run_pack,
};

/* ------------------------------------------------------------------------------------------------- unpack */

static ls_status run_unpack(cli_context *ctx, ls_error *err)
{
    copy_options options = { 0 };
    const char *output;
    ls_status status = find_output(ctx, &output, err);
    if (status == LS_OK && amd_file_is(ctx->positionals[0])) {
        static const char *const others[] = { "compress", "unknown-opcodes" };
        for (size_t i = 0; i < LS_COUNT_OF(others); i++)
            if (cli_given(ctx, others[i]))
                return ls_fail(err, LS_ERR_USAGE,
                               "--%s is for traces, but '%s' is a recording of an AMD program", others[i],
                               ctx->positionals[0]);
        return trace_amd_unpack(ctx, ctx->positionals[0], err);
    }
    return status == LS_OK ? trace_copy(ctx, ctx->positionals[0], output, false, &options, err) : status;
}

/* clang-format off */
static const cli_option unpack_options[] = {
    OUTPUT_OPTION("DIR", CLI_COMPLETE_DIR, "a new directory, which appears when it is complete"),
    TRACE_COMPRESS_OPTION("none"),
    CMD_TRACE_KERNELS_OPTION,
    CMD_TRACE_UNKNOWN_OPTION,
};
/* clang-format on */

static const cli_positional unpack_positionals[] = {
    { .name = "PATH", .complete = CLI_COMPLETE_FILE, .help = "a packed trace, or any other" },
};

static const cli_example unpack_examples[] = {
    { "lockstep trace unpack bfs.lspk -o bfs", "plain text, as Accel-Sim reads it" },
    { "lockstep trace unpack bfs.lspk -o bfs --compress same", "compressed as it was before" },
};

const cli_command cmd_trace_unpack = {
    .name = "unpack",
    .summary = "write a trace as a directory of text files",
    .about =
        "The directory has kernelslist.g and one file per kernel, whose names end as --compress says. "
        "Accel-Sim reads plain and xz files; Lockstep all of them. A recording of an AMD program becomes one "
        "file of text for people.",
    .order = 4,
    CLI_OPTIONS(unpack_options),
    CLI_POSITIONALS(unpack_positionals),
    CLI_EXAMPLES(unpack_examples),
    .run = run_unpack,
};

/* ---------------------------------------------------------------------------------------------------- cut */

static ls_status run_cut(cli_context *ctx, ls_error *err)
{
    copy_options options = { .cta_limit = cli_uint(ctx, "ctas") };
    const char *output;
    ls_status status = find_output(ctx, &output, err);
    if (status != LS_OK)
        return status;
    return trace_copy(ctx, ctx->positionals[0], output, trace_is_packed(ctx, output), &options, err);
}

/* clang-format off */
static const cli_option cut_options[] = {
    OUTPUT_OPTION("OUT", CLI_COMPLETE_FILE, "a new directory, or a packed trace if it ends with .lspk"),
    CMD_TRACE_KERNELS_OPTION,
    CMD_TRACE_UNKNOWN_OPTION,
    { .name = "ctas", .type = CLI_UINT, .arg = "N",
      .help = "keep the first N thread blocks of each kernel; 0: all" },
    TRACE_FORMAT_OPTION,
    TRACE_COMPRESS_OPTION("none"),
    TRACE_LEVEL_OPTION,
};
/* clang-format on */

static const cli_example cut_examples[] = {
    { "lockstep trace cut traces/bfs -o small --kernels 3-7 --ctas 4", "a smaller trace to try things with" },
    { "lockstep trace cut bfs.lspk -o small.lspk --ctas 4", "from packed to packed" },
};

const cli_command cmd_trace_cut = {
    .name = "cut",
    .summary = "make a smaller trace: some kernels, some thread blocks",
    .about = "The result is a trace like any other: its headers have the smaller grid, and the copies of "
             "memory stay. Thread blocks keep their positions if they still are whole rows or planes of the "
             "grid, or one row; else they become one row.",
    .order = 5,
    CLI_OPTIONS(cut_options),
    CLI_POSITIONALS(path_positionals),
    CLI_EXAMPLES(cut_examples),
    .run = run_cut,
};

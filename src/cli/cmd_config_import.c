/* cmd_config_import.c: `lockstep config import`: Accel-Sim's option files as a platform file.
 * src/platform/import.c does the work; this file has the command line, the output file and the messages. */
#include "cli/cmd_config_import.h"

#include "base/file.h"
#include "platform/import.h"

#include <string.h>

/* One line each: a misspelt option changes the machine silently otherwise. */
static void warn_unknown(cli_context *ctx, const platform_import *import)
{
    char line[1024];
    for (size_t i = 0; i < import->note_count; i++) {
        const import_remark *note = &import->notes[i];
        if (note->fate != LS_IMPORT_UNKNOWN)
            continue;
        ls_error warning;
        char text[1024];
        ls_fail(&warning, LS_ERR_INPUT, "unknown option '%s'", note->option);
        ls_error_at(&warning, note->file, note->line, 0);
        ls_error_nearest(&warning, note->why);
        ls_error_text(&warning, text, sizeof text);
        fprintf(ctx->err, "lockstep: warning: %s\n", quote_text(text, strlen(text), line, sizeof line));
    }
}

static ls_status print_import(cli_context *ctx, const platform_import *import, ls_error *err)
{
    size_t lost = 0, quiet = 0;
    ls_status status = LS_OK;
    warn_unknown(ctx, import);
    if (cli_flag(ctx, "quiet"))
        return LS_OK;
    status = import_print_notes(import, LS_IMPORT_MISSING, ctx->err, &lost, err);
    if (status == LS_OK)
        status = import_print_notes(import, LS_IMPORT_QUIET, ctx->err, &quiet, err);
    return status;
}

static ls_status run_import(cli_context *ctx, ls_error *err)
{
    platform_import import;
    const char *path = cli_text(ctx, "output");
    import_file *files = arena_array(ctx->arena, ctx->positional_count, sizeof *files);
    if (!files)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    for (size_t i = 0; i < ctx->positional_count; i++)
        files[i].path = ctx->positionals[i];
    ls_status status = import_accelsim(ctx->arena, files, ctx->positional_count, &import, err);
    if (status != LS_OK)
        return status;
    if (path && strcmp(path, "-") != 0)
        status = file_write(path, import.yaml, import.yaml_bytes, err);
    else
        fwrite(import.yaml, 1, import.yaml_bytes, ctx->out);
    return status == LS_OK ? print_import(ctx, &import, err) : status;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "output", .letter = 'o', .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write the platform to FILE; without it, or with '-', to standard output" },
    { .name = "quiet", .letter = 'q', .help = "do not print the options that were left out" },
};

static const cli_positional positionals[] = {
    { .name = "FILE", .repeatable = true, .complete = CLI_COMPLETE_FILE,
      .help = "option files of Accel-Sim, as after -config; of equal options the last one counts" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep config import gpgpusim.config trace.config -o rtx3070-accelsim.yaml",
      "a platform that reproduces Accel-Sim's numbers" },
};

const cli_command cmd_config_import = {
    .name = "import",
    .summary = "make a platform from Accel-Sim's configuration files",
    .about =
        "Reads files of `-option value` lines and writes a platform file of the machine `gpu`. Behind each "
        "value stands the option that it comes from. Options that are not given count with Accel-Sim's "
        "defaults.\n\n"
        "Options that the platform cannot express are listed at the end of the file and on standard error: "
        "those that would change the timing, then those that never do when traces are simulated. An option "
        "that Accel-Sim does not have is a warning, a malformed value an error.",
    .order = 6,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run_import,
};

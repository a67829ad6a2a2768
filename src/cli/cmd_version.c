/* cmd_version.c: `lockstep version`: which Lockstep this is, for bug reports and for plug-ins. */
#include "cli/cli.h"

static ls_status run(cli_context *ctx, ls_error *err)
{
    (void)err;
    fprintf(ctx->out, "lockstep %s\n", LS_VERSION_STRING);
    fprintf(ctx->out, "plug-in ABI %u\n", LS_ABI_VERSION);
#ifdef __clang__
    fprintf(ctx->out, "compiler %s\n", __VERSION__);
#else
    fprintf(ctx->out, "compiler gcc %s\n", __VERSION__);
#endif
    return LS_OK;
}

static const cli_example examples[] = {
    { "lockstep version", "version, the ABI that plug-ins must have been built for, and the compiler" },
    { "lockstep --version", "the version alone" },
};

static const cli_command version = {
    .name = "version",
    .summary = "print the version and the plug-in ABI",
    .order = 94,
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(version);

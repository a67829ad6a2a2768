/* cmd_man.c: `lockstep man`: the man page of exactly this program. */
#include "cli/cli.h"

static ls_status run(cli_context *ctx, ls_error *err)
{
    (void)err;
    cli_man_print(ctx->args->path[0], ctx->out);
    return LS_OK;
}

static const cli_example examples[] = {
    { "lockstep man | man -l -", "read it" },
    { "lockstep man > lockstep.1", "keep it (`make install` does)" },
};

static const cli_command man = {
    .name = "man",
    .summary = "print the man page",
    .about =
        "The page is made from the tables that also parse the command line, so it cannot be out of date. It "
        "lists every command, the exit codes, the environment and the files.",
    .order = 92,
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(man);

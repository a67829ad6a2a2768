/* cmd_help.c: `lockstep help`: the same text as --help, found by naming the command. */
#include "cli/cli.h"

#include <string.h>

static const char *name_at(const void *self, size_t i)
{
    return ((const cli_command *)self)->commands[i]->name;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    const cli_command *path[CLI_DEPTH] = { ctx->args->path[0] };
    size_t depth = 1;
    for (size_t i = 0; i < ctx->positional_count; i++) {
        const cli_command *parent = path[depth - 1], *below = NULL;
        const char *name = ctx->positionals[i];
        for (size_t k = 0; k < parent->command_count && !below; k++)
            if (strcmp(parent->commands[k]->name, name) == 0)
                below = parent->commands[k];
        if (!below || depth == CLI_DEPTH) {
            char quoted[80];
            ls_fail(err, LS_ERR_USAGE, "help: unknown command '%s'",
                    quote_text(name, strlen(name), quoted, sizeof quoted));
            ls_error_nearest(err, nearest_name(name, parent->command_count, name_at, parent));
            return LS_ERR_USAGE;
        }
        path[depth++] = below;
    }
    cli_help_print(path, depth, ctx->out, ctx->color_out, cli_width(ctx->out));
    return LS_OK;
}

/* clang-format off */
static const cli_positional positionals[] = {
    { .name = "COMMAND", .optional = true, .repeatable = true, .complete = CLI_COMPLETE_COMMAND,
      .help = "the command to explain; without one, an overview" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep help", "all commands and the options that each of them takes" },
    { "lockstep help run", "one command, the same as `lockstep run --help`" },
};

static const cli_command help = {
    .name = "help",
    .summary = "explain a command",
    .order = 90,
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(help);

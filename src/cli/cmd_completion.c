/* cmd_completion.c: `lockstep completion`: the script for a shell, and the names that the script asks for. */
#include "cli/cli.h"
#include "lockstep/block.h"

#include <string.h>

static const char *const shells[] = { "bash", "zsh", "fish", NULL };
static const char *const kinds[] = { "block", "command", NULL };

static void print_blocks(FILE *out)
{
    const char *last = "";
    for (size_t i = 0; i < ls_registry_block_count(); i++) {
        const ls_block_type *type = ls_registry_block(i);
        if (strcmp(type->slot, last) != 0)
            fprintf(out, "%s\n", type->slot);
        last = type->slot;
        fprintf(out, "%s/%s\n", type->slot, type->name);
    }
    for (size_t i = 0; i < ls_registry_machine_count(); i++)
        fprintf(out, "%s\n", ls_registry_machine(i)->name);
}

static ls_status print_values(cli_context *ctx, ls_error *err)
{
    const cli_command *root = ctx->args->path[0];
    (void)err;
    switch (cli_choice(ctx, CLI_VALUES_OPTION)) {
    case 0:
        print_blocks(ctx->out);
        return LS_OK;
    default:
        for (size_t i = 0; i < root->command_count; i++)
            fprintf(ctx->out, "%s\n", root->commands[i]->name);
        return LS_OK;
    }
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    if (cli_given(ctx, CLI_VALUES_OPTION))
        return print_values(ctx, err);
    if (ctx->positional_count == 0)
        return ls_fail(err, LS_ERR_USAGE, "completion: the argument SHELL is missing: bash, zsh or fish");
    for (size_t i = 0; shells[i]; i++)
        if (strcmp(shells[i], ctx->positionals[0]) == 0)
            cli_completion_print(ctx->args->path[0], (cli_shell)i, ctx->out);
    return LS_OK;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = CLI_VALUES_OPTION, .type = CLI_CHOICE, .arg = "KIND", .choices = kinds,
      .help = "for the scripts: print the names of one kind instead, one per line" },
};
/* clang-format on */

static const cli_positional positionals[] = {
    { .name = "SHELL", .choices = shells, .optional = true, .help = "the shell" },
};

static const cli_example examples[] = {
    { "source <(lockstep completion bash)", "complete in this shell" },
    { "lockstep completion zsh > ~/.zfunc/_lockstep", "for zsh, in a directory of $fpath" },
    { "lockstep completion fish | source", "for fish" },
};

static const cli_command completion = {
    .name = "completion",
    .summary = "print a completion script for bash, zsh or fish",
    .order = 91,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(completion);

/* cmd_completion.c: `lockstep completion`: the script for a shell, and the names that the script requests. */
#include "cli/cli.h"
#include "lockstep/block.h"
#include "platform/catalog.h"
#include "platform/config.h"

#include <string.h>

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

/* By the names of cli_complete_name(): the scripts pass them on. */
enum { VALUES_PLATFORM, VALUES_KEY, VALUES_BLOCK, VALUES_COMMAND };
static const char *const kinds[] = { "platform", "key", "block", "command", NULL };

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

static ls_status print_platforms(cli_context *ctx, ls_error *err)
{
    platform_entry *platforms;
    size_t count;
    ls_status status = catalog_platforms(ctx->arena, cli_texts(ctx, "platform-dir"),
                                         cli_count(ctx, "platform-dir"), &platforms, &count, err);
    for (size_t i = 0; status == LS_OK && i < count; i++)
        fprintf(ctx->out, "%s\n", platforms[i].name);
    return status;
}

static void print_schema(FILE *out, const char *scope, const machine_schema *schema)
{
    for (size_t i = 0; i < schema->sorted_count; i++)
        fprintf(out, "%s%s\n", scope, schema->sorted[i]->path);
}

/* The keys of the platform on the command line; of every machine if there is none, or none that can be
 * read. */
static ls_status print_keys(cli_context *ctx, ls_error *err)
{
    const config_request request = {
        .platform = cli_text(ctx, "platform"),
        .platform_dirs = cli_texts(ctx, "platform-dir"),
        .platform_dir_count = cli_count(ctx, "platform-dir"),
    };
    platform_config *config;
    if (request.platform && config_load(&request, &config, NULL, NULL) == LS_OK) {
        print_schema(ctx->out, "", config_schema(config));
        for (size_t p = 0; p < config_part_count(config); p++) {
            const machine_schema *schema = config_schema(config_part(config, p));
            char scope[32];
            snprintf(scope, sizeof scope, "gpu%zu.", p);
            if (p == 0 || schema->machine != config_machine(config_part(config, p - 1)))
                print_schema(ctx->out, "gpus.", schema);
            print_schema(ctx->out, scope, schema);
        }
        config_destroy(config);
        return LS_OK;
    }
    machine_schema *schemas;
    size_t count;
    ls_status status = catalog_schemas(ctx->arena, &schemas, &count, err);
    for (size_t m = 0; status == LS_OK && m < count; m++)
        for (size_t i = 0; i < schemas[m].sorted_count; i++)
            fprintf(ctx->out, "%s\n", schemas[m].sorted[i]->path);
    return status;
}

static ls_status print_values(cli_context *ctx, ls_error *err)
{
    const cli_command *root = ctx->args->path[0];
    switch (cli_choice(ctx, CLI_VALUES_OPTION)) {
    case VALUES_PLATFORM:
        return print_platforms(ctx, err);
    case VALUES_KEY:
        return print_keys(ctx, err);
    case VALUES_BLOCK:
        print_blocks(ctx->out);
        return LS_OK;
    case VALUES_COMMAND:
        for (size_t i = 0; i < root->command_count; i++)
            fprintf(ctx->out, "%s\n", root->commands[i]->name);
        return LS_OK;
    default:
        return ls_fail(err, LS_ERR_INTERNAL, "completion: a kind without names");
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
    { .name = "platform", .letter = 'p', .type = CLI_TEXT, .arg = "PLATFORM", .complete = CLI_COMPLETE_PLATFORM,
      .help = "for the scripts: the platform whose keys to print" },
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
    .about = "The script completes commands, options, files, and the names of platforms, keys and blocks, "
             "also those of plug-ins named on the command line.",
    .order = 91,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(completion);

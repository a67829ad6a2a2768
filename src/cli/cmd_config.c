/* cmd_config.c: `lockstep config`: platforms and their keys, before anything runs. src/platform/show.c makes
 * the output; this file reads the command line. */
#include "cli/cli.h"
#include "cli/cmd_config_import.h"
#include "cli/platform_args.h"
#include "platform/needs.h"
#include "platform/show.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------- loading */

static ls_status load(const cli_context *ctx, const char *platform, platform_config **config, ls_error *err)
{
    config_request request;
    *config = NULL;
    ls_status status = cli_platform_request(ctx, platform, &request, err);
    return status == LS_OK ? config_load(&request, config, NULL, err) : status;
}

/* -------------------------------------------------------------------------------------------------- list */

static ls_status run_list(cli_context *ctx, ls_error *err)
{
    platform_entry *platforms;
    size_t count;
    const char *const *dirs = cli_texts(ctx, "platform-dir");
    if (!dirs)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    ls_status status =
        catalog_platforms(ctx->arena, dirs, cli_count(ctx, "platform-dir"), &platforms, &count, err);
    return status == LS_OK ? show_catalog(ctx->out, platforms, count, err) : status;
}

static const cli_example list_examples[] = {
    { "lockstep config list", "names for --platform" },
};

static const cli_command list = {
    .name = "list",
    .summary = "list platforms, machines and models",
    .about =
        "Platforms are NAME.yaml files in the directories given with --platform-dir, in those of "
        "$LOCKSTEP_PLATFORM_PATH (separated by colons), in share/lockstep/platforms and platforms beside the "
        "directory of the program, and in ./platforms. The first directory that has a name wins.",
    .order = 1,
    CLI_EXAMPLES(list_examples),
    .run = run_list,
};

/* -------------------------------------------------------------------------------------------------- show */

/* clang-format off */
#define SET_OPTION                                                                                           \
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,           \
      .complete = CLI_COMPLETE_KEY, .help = "override a key of the platform; the last one of a key counts" }
/* clang-format on */

static const char *const formats[] = {
    [LS_SHOW_TABLE] = "table", [LS_SHOW_YAML] = "yaml", [LS_SHOW_JSON] = "json", NULL
};

static ls_status run_show(cli_context *ctx, ls_error *err)
{
    platform_config *config;
    ls_status status = load(ctx, ctx->positionals[0], &config, err);
    if (status == LS_OK)
        status = show_config(ctx->out, config, (show_format)cli_choice(ctx, "format"), err);
    config_destroy(config);
    return status;
}

/* clang-format off */
static const cli_option show_options[] = {
    SET_OPTION,
    FIDELITY_OPTION,
    GPUS_OPTION,
    { .name = "format", .letter = 'f', .type = CLI_CHOICE, .arg = "FORMAT", .choices = formats,
      .default_text = "table", .help = "how to print it" },
};

static const cli_positional show_positionals[] = {
    { .name = "PLATFORM", .complete = CLI_COMPLETE_PLATFORM, .help = "a platform's name or file" },
};
/* clang-format on */

static const cli_example show_examples[] = {
    { "lockstep config show my-gpu.yaml", "every key with value, unit, origin and source" },
    { "lockstep config show my-gpu.yaml --set dram.model=fixed",
      "with an override, as `lockstep run` has it" },
    { "lockstep config show my-gpu.yaml --format yaml > flat.yaml", "one file with the same values and hash" },
    { "lockstep config show r9nano --gpus 2 -s gpu1.l2.ways=8", "two GPUs, of which one is changed" },
};

static const cli_command show = {
    .name = "show",
    .summary = "print a resolved platform",
    .about =
        "FROM is the file and line that gave the value, --set, or the default. SOURCE is the comment behind "
        "the value in that file. The hash is of the values only: two platforms with the same hash describe "
        "the same machine.",
    .order = 2,
    CLI_OPTIONS(show_options),
    CLI_POSITIONALS(show_positionals),
    CLI_EXAMPLES(show_examples),
    .run = run_show,
};

/* ------------------------------------------------------------------------------------------------- check */

static ls_status run_check(cli_context *ctx, ls_error *err)
{
    size_t bad = 0;
    ls_status first = LS_OK;
    for (size_t i = 0; i < ctx->positional_count; i++) {
        config_request request;
        platform_config *config;
        config_problems problems = { 0 };
        ls_status status = cli_platform_request(ctx, ctx->positionals[i], &request, err);
        if (status != LS_OK)
            return status;
        status = config_load(&request, &config, &problems, err);
        char hash[LS_HASH_TEXT_BYTES];
        if (status == LS_OK)
            fprintf(ctx->out, "%s: ok (machine '%s', %zu keys, hash %s)\n", config_file_path(config),
                    config_machine(config)->name, config_value_count(config),
                    hash128_text(config_hash_of(config), hash));
        show_problems(ctx->out, &problems);
        if (status == LS_OK)
            config_log_idle(config);
        problems_fini(&problems);
        config_destroy(config);
        bad += status != LS_OK;
        first = first == LS_OK ? status : first;
        if (status == LS_ERR_NOMEM)
            return status;
    }
    if (bad == 0)
        return LS_OK;
    return ls_fail(err, first, "%zu of %zu platforms %s wrong", bad, ctx->positional_count,
                   bad == 1 ? "is" : "are");
}

/* clang-format off */
static const cli_option check_options[] = { SET_OPTION, FIDELITY_OPTION, GPUS_OPTION };

static const cli_positional check_positionals[] = {
    { .name = "PLATFORM", .repeatable = true, .complete = CLI_COMPLETE_PLATFORM,
      .help = "names or files of platforms" },
};
/* clang-format on */

static const cli_example check_examples[] = {
    { "lockstep config check *.yaml", "everything that is wrong, one line each" },
};

static const cli_command check = {
    .name = "check",
    .summary = "check platform files",
    .about =
        "Prints every problem that can be found, not only the first, as file:line:column, and one line for "
        "each platform that is good. A key that the file changes against its bases without effect is a warning.",
    .order = 3,
    CLI_OPTIONS(check_options),
    CLI_POSITIONALS(check_positionals),
    CLI_EXAMPLES(check_examples),
    .run = run_check,
};

/* -------------------------------------------------------------------------------------------------- diff */

static ls_status run_diff(cli_context *ctx, ls_error *err)
{
    platform_config *a, *b = NULL;
    size_t differences;
    ls_status status = load(ctx, ctx->positionals[0], &a, err);
    if (status == LS_OK)
        status = load(ctx, ctx->positionals[1], &b, err);
    if (status == LS_OK)
        status = show_diff(ctx->out, a, b, &differences, err);
    config_destroy(a);
    config_destroy(b);
    return status;
}

/* clang-format off */
static const cli_option diff_options[] = { SET_OPTION, FIDELITY_OPTION, GPUS_OPTION };

static const cli_positional diff_positionals[] = {
    { .name = "A", .complete = CLI_COMPLETE_PLATFORM, .help = "a platform's name or file" },
    { .name = "B", .complete = CLI_COMPLETE_PLATFORM, .help = "another one" },
};
/* clang-format on */

static const cli_example diff_examples[] = {
    { "lockstep config diff old.yaml new.yaml", "the keys in which two platforms differ" },
};

static const cli_command diff = {
    .name = "diff",
    .summary = "print the keys in which two platforms differ",
    .about =
        "Compares resolved values, so it does not matter how the files were written or what they inherit. "
        "A '-' stands for a key that this platform does not have. --set applies to both.",
    .order = 4,
    CLI_OPTIONS(diff_options),
    CLI_POSITIONALS(diff_positionals),
    CLI_EXAMPLES(diff_examples),
    .run = run_diff,
};

/* ----------------------------------------------------------------------------------------------- explain */

static ls_status run_explain(cli_context *ctx, ls_error *err)
{
    const char *platform = cli_text(ctx, "platform"), *key = ctx->positionals[0];
    platform_config *config = NULL;
    size_t bytes = strlen(key);
    if (bytes > 1 && key[bytes - 1] == '=') /* as a shell completes it for --set */
        key = arena_strndup(ctx->arena, key, bytes - 1);
    if (!key)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    ls_status status = platform ? load(ctx, platform, &config, err) : LS_OK;
    if (status == LS_OK)
        status = show_key(ctx->out, key, config, err);
    config_destroy(config);
    return status;
}

/* clang-format off */
static const cli_option explain_options[] = {
    { .name = "platform", .letter = 'p', .type = CLI_TEXT, .arg = "PLATFORM",
      .complete = CLI_COMPLETE_PLATFORM, .help = "say also where the value comes from in this platform" },
    SET_OPTION,
    FIDELITY_OPTION,
    GPUS_OPTION,
};

static const cli_positional explain_positionals[] = {
    { .name = "KEY", .complete = CLI_COMPLETE_KEY, .help = "a key such as `dram.model`, or a section" },
};
/* clang-format on */

static const cli_example explain_examples[] = {
    { "lockstep config explain dram.model", "type, choices and default, in every machine that has the key" },
    { "lockstep config explain dram.model --platform my-gpu.yaml", "and which file set it over which" },
};

static const cli_command explain = {
    .name = "explain",
    .summary = "say what a key means and where its value comes from",
    .order = 5,
    CLI_OPTIONS(explain_options),
    CLI_POSITIONALS(explain_positionals),
    CLI_EXAMPLES(explain_examples),
    .run = run_explain,
};

/* ------------------------------------------------------------------------------------------------ config */

static const cli_command *const commands[] = {
    &list, &show, &check, &diff, &explain, &cmd_config_import,
};

static const cli_example examples[] = {
    { "lockstep config show my-gpu.yaml", "all values of a platform file" },
    { "lockstep config check my-gpu.yaml", "all that is wrong with it" },
};

static const cli_command config_command = {
    .name = "config",
    .summary = "list, show, check, compare, explain and import platforms",
    .about =
        "A platform file is YAML: `machine` says what is built, `base` names a file to inherit from, `title` "
        "and `source` are free text, and every other key belongs to the machine or to the model of one of its "
        "sections. Nested keys may be written with dots. Unknown keys, wrong types and values out of range "
        "are errors.\n\n"
        "A platform of machine `system` has a list `gpus` of platforms. Its keys begin with the GPUs that they are for: "
        "gpu1.KEY, gpu0-2.KEY, NAME.KEY or gpus.KEY (all).\n\n"
        "Of several values for a key, --set counts before the file, the file before its base, and that before "
        "the default. Keys for a model that is not chosen are refused in the file and in --set; in a base "
        "they are not used.",
    .order = 20,
    CLI_EXAMPLES(examples),
    CLI_COMMANDS(commands),
};
CLI_REGISTER(config_command);

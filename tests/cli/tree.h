/* tree.h: a small command tree that uses every feature of the framework, for the tests of src/cli. */
#ifndef TESTS_CLI_TREE_H
#define TESTS_CLI_TREE_H

#include "cli/cli.h"

#include <string.h>

static const char *const tree_colors[] = { "red", "green", "blue", NULL };
static const char *const tree_when[] = { "auto", "always", "never", NULL };
static const char *const tree_levels[] = { "error", "warn", NULL };

/* clang-format off */
static const cli_option tree_globals[] = {
    { .name = "plugin", .type = CLI_TEXT, .arg = "FILE", .repeatable = true, .complete = CLI_COMPLETE_FILE,
      .help = "load it" },
    { .name = "color", .type = CLI_CHOICE, .arg = "WHEN", .choices = tree_when, .default_text = "auto",
      .help = "when" },
    { .name = "log-level", .type = CLI_CHOICE, .arg = "LEVEL", .choices = tree_levels, .default_text = "warn",
      .help = "what" },
    { .name = "help", .letter = 'h', .help = "explain" },
    { .name = "version", .letter = 'V', .help = "say which" },
};
static const cli_option tree_paint_options[] = {
    { .name = "threads", .letter = 'j', .type = CLI_UINT, .arg = "N", .default_text = "1", .min = 1, .max = 1024,
      .help = "how many" },
    { .name = "until", .type = CLI_TIME, .arg = "TIME", .help = "stop then" },
    { .name = "tint", .letter = 't', .type = CLI_CHOICE, .arg = "TINT", .choices = tree_colors,
      .default_text = "green", .help = "which 'tint'" },
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,
      .complete = CLI_COMPLETE_KEY, .help = "change" },
    { .name = "out", .letter = 'o', .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write" },
    { .name = "at-least", .type = CLI_UINT, .arg = "N", .min = 3, .help = "no upper end" },
    { .name = "quick", .letter = 'q', .help = "a flag" },
    { .name = "all", .letter = 'a', .help = "another" },
};
static const cli_positional tree_paint_positionals[] = {
    { .name = "WALL", .help = "which one" },
    { .name = "TINT", .choices = tree_colors, .optional = true, .help = "the tint" },
};
static const cli_positional tree_many[] = {
    { .name = "FILE", .repeatable = true, .complete = CLI_COMPLETE_FILE, .help = "some" },
};
/* clang-format on */

static const cli_example tree_paint_examples[] = {
    { "tree paint north --tint=red", "make it red" },
};

/* Prints its arguments, or fails as its first positional argument requests. */
static ls_status tree_run(cli_context *ctx, ls_error *err)
{
    if (ctx->positional_count && strcmp(ctx->positionals[0], "fail") == 0) {
        ctx->report = "the report\n";
        return ls_fail(err, LS_ERR_DEADLOCK, "stuck\nfast");
    }
    fprintf(ctx->out, "painted %s\n", ctx->positional_count ? ctx->positionals[0] : "nothing");
    return LS_OK;
}

static const cli_command tree_paint = {
    .name = "paint",
    .summary = "paint a wall",
    .about = "Paints one wall.\n\nThe second paragraph.",
    CLI_OPTIONS(tree_paint_options),
    CLI_POSITIONALS(tree_paint_positionals),
    CLI_EXAMPLES(tree_paint_examples),
    .run = tree_run,
};
static const cli_command tree_show = { .name = "show", .summary = "show it", .run = tree_run };
static const cli_command tree_check = {
    .name = "check",
    .summary = "check some",
    CLI_POSITIONALS(tree_many),
    .run = tree_run,
};
static const cli_command *const tree_config_commands[] = { &tree_show, &tree_check };
static const cli_option tree_config_options[] = {
    { .name = "depth", .type = CLI_UINT, .arg = "N", .default_text = "7", .help = "how deep" },
};
static const cli_command tree_config = {
    .name = "config",
    .summary = "look at the configuration",
    CLI_OPTIONS(tree_config_options),
    CLI_COMMANDS(tree_config_commands),
};
static const cli_command tree_plain = {
    .name = "plain",
    .summary = "takes nothing",
    .no_positionals = "walls come later",
    .run = tree_run,
};
static const cli_command *const tree_commands[] = { &tree_paint, &tree_config, &tree_plain };
static const cli_command tree_root = {
    .name = "tree",
    .summary = "a tree of commands",
    CLI_OPTIONS(tree_globals),
    CLI_COMMANDS(tree_commands),
};

#endif

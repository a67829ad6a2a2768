/* workload_args.c: see workload_args.h. */
#include "cli/workload_args.h"

#include <string.h>

const char *const workload_gpus[] = { "gfx803", "gfx1010", "gfx1030", NULL };
const char *const workload_unmodelled_modes[] = { "fail", "skip", NULL };

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

ls_status workload_args_read(const cli_context *ctx, wl_setting **out, size_t *count, ls_error *err)
{
    wl_setting *settings = arena_array(ctx->arena, cli_count(ctx, "param") + 1, sizeof *settings);
    *out = settings;
    *count = 0;
    if (!settings)
        return no_memory(err);
    if (cli_given(ctx, "size"))
        settings[(*count)++] = (wl_setting){ NULL, cli_uint(ctx, "size") };
    for (size_t i = 0; i < cli_count(ctx, "param"); i++) {
        const char *text = cli_text_at(ctx, "param", i), *value = strchr(text, '=') + 1;
        wl_setting *setting = &settings[(*count)++];
        setting->name = arena_strndup(ctx->arena, text, (size_t)(value - 1 - text));
        if (!setting->name)
            return no_memory(err);
        if (parse_u64(value, strlen(value), &setting->value, err) != LS_OK)
            return ls_error_prefix(err, "--param %s", setting->name);
    }
    return LS_OK;
}

ls_status workload_args_launch(const cli_context *ctx, const char *path, bool has_outputs,
                               emulate_object_launch *out, ls_error *err)
{
    *out = (emulate_object_launch){
        .path = path,
        .kernel = cli_text(ctx, "kernel"),
        .grid = cli_text(ctx, "grid"),
        .group = cli_text(ctx, "group"),
        .offset = cli_text(ctx, "offset"),
        .args = cli_texts(ctx, "arg"),
        .arg_count = cli_count(ctx, "arg"),
    };
    if (has_outputs) {
        out->prints = cli_texts(ctx, "print");
        out->print_count = cli_count(ctx, "print");
        out->dumps = cli_texts(ctx, "dump");
        out->dump_count = cli_count(ctx, "dump");
    }
    return !out->args || (has_outputs && (!out->prints || !out->dumps)) ? no_memory(err) : LS_OK;
}

static bool has_option(const cli_command *command, const char *name)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return true;
    return false;
}

ls_status workload_args_check(const cli_context *ctx, const char *name, run_kind kind, ls_error *err)
{
    const cli_command *command = cli_args_command(ctx->args);
    if (run_kind_is_missing(kind, name))
        return LS_OK;
    for (size_t i = 0; i < RUN_KIND_OPTIONS; i++) {
        const char *option = run_kind_options[i].name, *called = run_kind_options[i].called;
        if (!run_kind_refuses(kind, i) || !has_option(command, option) || !cli_given(ctx, option))
            continue;
        if (name == NULL)
            return ls_fail(err, LS_ERR_USAGE, "%s: --%s is for %s, but no workload is given", command->name,
                           option, called);
        return ls_fail(err, LS_ERR_USAGE, "%s: --%s is for %s, but '%s' is %s", command->name, option, called,
                       name, run_kind_name(kind));
    }
    if (kind == RUN_OBJECT && !cli_given(ctx, "grid"))
        return ls_fail(err, LS_ERR_USAGE, "%s: a launch of the code object '%s' needs --grid X[,Y[,Z]]",
                       command->name, name);
    return LS_OK;
}

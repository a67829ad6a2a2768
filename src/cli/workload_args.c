/* workload_args.c: see workload_args.h. */
#include "cli/workload_args.h"

#include <string.h>

const char *const workload_gpus[] = { "gfx803", "gfx1010", "gfx1030", "gfx90a", "gfx942", NULL };
const char *const workload_timeline_formats[] = { "perfetto", "chrome", "daisen4", "daisen5",
                                                  "kanata",   "html",   NULL };
const char *const workload_unknown_modes[] = { "fail", "alu", NULL };
const char *const workload_unmodelled_modes[] = { "fail", "skip", NULL };

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

ls_status workload_args_read(const cli_context *ctx, wl_setting **out, size_t *count, ls_error *err)
{
    wl_setting *settings = arena_array(ctx->arena, cli_count(ctx, "param") + 1, sizeof *settings);
    const wl_workload *workload = NULL;
    if (ctx->positional_count > 0) /* anything else than a workload is refused later */
        (void)wl_find(ctx->positionals[0], &workload, NULL);
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
        ls_status status = workload ? wl_parse_setting(workload, setting->name, value, &setting->value, err)
                                    : parse_u64(value, strlen(value), &setting->value, err);
        if (status != LS_OK)
            return ls_error_prefix(err, "--param %s", setting->name);
    }
    return LS_OK;
}

ls_status workload_args_emulated(const cli_context *ctx, const char *what, bool *is_object, ls_error *err)
{
    static const char *const for_objects[] = { "kernel", "grid",  "group", "offset",
                                               "arg",    "print", "dump",  NULL };
    static const char *const for_workloads[] = { "size", "param", "verify", "variant", "seed", NULL };
    *is_object = strchr(what, '/') || strchr(what, '.');
    for (const char *const *name = *is_object ? for_workloads : for_objects; *name; name++)
        if (cli_given(ctx, *name))
            return ls_fail(err, LS_ERR_USAGE, "--%s is for %s, but '%s' is a %s", *name,
                           *is_object ? "workloads" : "code objects", what,
                           *is_object ? "file" : "workload's name");
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

ls_status workload_args_check(const cli_context *ctx, const char *name, ls_error *err)
{
    const cli_command *command = cli_args_command(ctx->args);
    for (size_t i = 0; i < command->option_count; i++) {
        const char *option = command->options[i].name, *called;
        if (!cli_given(ctx, option) || ls_sim_takes(name, option, &called))
            continue;
        if (name == NULL)
            return ls_fail(err, LS_ERR_USAGE, "%s: --%s is for %s, but no workload is given", command->name,
                           option, called);
        return ls_fail(err, LS_ERR_USAGE, "%s: --%s is for %s, but '%s' is %s", command->name, option, called,
                       name, ls_sim_kind_name(ls_sim_kind_of(name)));
    }
    if (ls_sim_kind_of(name) == LS_SIM_OBJECT && !cli_given(ctx, "grid"))
        return ls_fail(err, LS_ERR_USAGE, "%s: a launch of the code object '%s' needs --grid X[,Y[,Z]]",
                       command->name, name);
    return LS_OK;
}

/* Of an option that only some commands have. */
static const char *text_if(const cli_context *ctx, const char *option)
{
    return has_option(cli_args_command(ctx->args), option) ? cli_text(ctx, option) : NULL;
}

static ls_status read_settings(const cli_context *ctx, ls_sim_options *out, ls_error *err)
{
    wl_setting *settings;
    ls_status status = workload_args_read(ctx, &settings, &out->setting_count, err);
    ls_sim_setting *list = arena_array(ctx->arena, out->setting_count + 1, sizeof *list);
    if (status != LS_OK || !list)
        return status != LS_OK ? status : no_memory(err);
    for (size_t i = 0; i < out->setting_count; i++)
        list[i] = (ls_sim_setting){ settings[i].name, settings[i].value };
    out->settings = list;
    return LS_OK;
}

ls_status workload_args_sim(const cli_context *ctx, const char *workload, ls_sim_options *out, ls_error *err)
{
    const cli_command *command = cli_args_command(ctx->args);
    emulate_object_launch launch;
    ls_status status = workload_args_launch(ctx, workload, has_option(command, "print"), &launch, err);
    if (status != LS_OK)
        return status;
    *out = (ls_sim_options){
        .size = sizeof *out,
        .platform = cli_text(ctx, "platform"),
        .sets = cli_texts(ctx, "set"),
        .set_count = cli_count(ctx, "set"),
        .fidelity = cli_text(ctx, "fidelity"),
        .platform_dirs = cli_texts(ctx, "platform-dir"),
        .platform_dir_count = cli_count(ctx, "platform-dir"),
        .plugins = cli_texts(ctx, "plugin"),
        .plugin_count = cli_count(ctx, "plugin"),
        .seed = cli_uint(ctx, "seed"),
        .workload = workload,
        .kernels = cli_text(ctx, "kernels"),
        .cta_limit = cli_uint(ctx, "ctas"),
        .profile = text_if(ctx, "profile"),
        .warm_l2 = cli_flag(ctx, "warm-l2"),
        .unknown_as_alu = cli_choice(ctx, "unknown-opcodes") == 1,
        .skip_unmodelled = cli_choice(ctx, "unmodelled") == 1,
        .gpu = cli_text(ctx, "gpu"),
        .variant = cli_text(ctx, "variant"),
        .verify = cli_flag(ctx, "verify"),
        .strict = has_option(command, "strict") && cli_flag(ctx, "strict"),
        .check_memory = has_option(command, "check-memory") && cli_flag(ctx, "check-memory"),
        .source = has_option(command, "source") && cli_flag(ctx, "source"),
        .memory_bytes = cli_uint(ctx, "memory-mib") << 20,
        .max_instructions = cli_uint(ctx, "max-instructions"),
        .record = text_if(ctx, "record"),
        .sample = text_if(ctx, "sample"),
        .kernel = launch.kernel,
        .grid = launch.grid,
        .group = launch.group,
        .offset = launch.offset,
        .args = launch.args,
        .arg_count = launch.arg_count,
        .prints = launch.prints,
        .print_count = launch.print_count,
        .dumps = launch.dumps,
        .dump_count = launch.dump_count,
        .gpus = cli_given(ctx, "gpus") ? (uint32_t)cli_uint(ctx, "gpus") : 0,
        .on = cli_text(ctx, "on"),
        .devices = cli_given(ctx, "devices") ? wl_devices_names[cli_choice(ctx, "devices")] : NULL,
        .spread = cli_text(ctx, "spread"),
        .pages = cli_text(ctx, "pages"),
    };
    if (has_option(command, "timeline")) {
        out->timeline = text_if(ctx, "timeline");
        out->timeline_format = cli_text(ctx, "timeline-format");
        out->timeline_filters = cli_texts(ctx, "timeline-filter");
        out->timeline_filter_count = cli_count(ctx, "timeline-filter");
    }
    status = read_settings(ctx, out, err);
    return status == LS_OK && (!out->sets || !out->platform_dirs || !out->plugins) ? no_memory(err) : status;
}

/* cmd_workload.c: `lockstep workload`: the programs that come with the simulator, and their options. */
#include "cli/cli.h"

#include "base/json.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- output */

static bool has_kernels(const wl_workload *w, const char *target)
{
    char path[4096];
    return wl_kernel_path(w->kernels ? w->kernels : w->name, target, "", path, sizeof path, NULL) == LS_OK;
}

static void json_workload(json_writer *j, const wl_workload *w)
{
    json_begin_object(j);
    json_put_text(j, "name", w->name);
    json_put_text(j, "summary", w->summary);
    json_put_text(j, "source", w->source);
    json_key(j, "micro");
    json_bool(j, w->is_micro);
    json_key(j, "targets");
    json_flat(j);
    json_array(j);
    for (size_t i = 0; i < ls_gpu_model_count(); i++)
        if (has_kernels(w, ls_gpu_model_at(i)->target))
            json_string(j, ls_gpu_model_at(i)->target);
    json_end(j);
    json_key(j, "options");
    json_array(j);
    for (size_t i = 0; i < w->option_count; i++) {
        const wl_option *o = &w->options[i];
        const char *const *names = wl_names_of(w, o->name);
        json_flat(j);
        json_begin_object(j);
        json_put_text(j, "name", o->name);
        json_put_u64(j, "default", o->value);
        json_put_u64(j, "min", o->min);
        json_key(j, "max");
        if (o->max)
            json_u64(j, o->max);
        else
            json_null(j);
        json_put_text(j, "help", o->help);
        if (names != NULL) {
            json_key(j, "names");
            json_array(j);
            for (size_t k = 0; names[k] != NULL; k++)
                json_string(j, names[k]);
            json_end(j);
        }
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void print_workload(const cli_context *ctx, const wl_workload *w)
{
    cli_style style = cli_style_of(ctx->color_out);
    FILE *out = ctx->out;
    bool any = false;
    fprintf(out, "%s%s%s: %s\n", style.name, w->name, style.off, w->summary);
    if (w->source)
        fprintf(out, "  %-10s %s\n", "source", w->source);
    fprintf(out, "  %-10s", "compiled");
    for (size_t i = 0; i < ls_gpu_model_count(); i++)
        if (has_kernels(w, ls_gpu_model_at(i)->target)) {
            fprintf(out, " %s", ls_gpu_model_at(i)->target);
            any = true;
        }
    fprintf(out, "%s\n",
            any ? "" : " for no target (clang-15, lld-15 and rocm-device-libs build the kernels)");
    fprintf(out, "\n%s  %-14s %12s  %-24s %s%s\n", style.title, "OPTION", "DEFAULT", "RANGE", "", style.off);
    for (size_t i = 0; i < w->option_count; i++) {
        const wl_option *o = &w->options[i];
        char range[64];
        if (o->max)
            snprintf(range, sizeof range, "%" PRIu64 " to %" PRIu64, o->min, o->max);
        else
            snprintf(range, sizeof range, "from %" PRIu64, o->min);
        fprintf(out, "  %s%-14s%s %12" PRIu64 "  %-24s %s\n", style.name, o->name, style.off, o->value, range,
                o->help);
    }
    if (w->option_count > 1)
        fprintf(out, "\nlockstep emulate %s --%s %" PRIu64 " --param %s=%" PRIu64 " --verify\n", w->name,
                w->options[0].name, w->options[0].value, w->options[1].name, w->options[1].value);
}

/* ----------------------------------------------------------------------------------------------- commands */

static const char *title_of(const wl_workload *w)
{
    static const char workloads[] = "Workloads", micro[] = "Microbenchmarks",
                      suite[] = "Benchmarks measured on an MI300A (for gfx90a and gfx942)";
    return w->suite ? suite : w->is_micro ? micro : workloads;
}

static ls_status run_list(cli_context *ctx, ls_error *err)
{
    cli_style style = cli_style_of(ctx->color_out);
    json_writer j;
    if (cli_flag(ctx, "json")) {
        json_to_file(&j, ctx->out, 2);
        json_array(&j);
        for (size_t i = 0; i < wl_count(); i++)
            json_workload(&j, wl_at(i));
        json_end(&j);
        return json_finish(&j, err);
    }
    for (size_t i = 0; i < wl_count(); i++) {
        const wl_workload *w = wl_at(i);
        if (i == 0 || title_of(w) != title_of(wl_at(i - 1)))
            fprintf(ctx->out, "%s%s%s%s\n", i ? "\n" : "", style.title, title_of(w), style.off);
        fprintf(ctx->out, "  %s%-22s%s %s\n", style.name, w->name, style.off, w->summary);
    }
    return LS_OK;
}

static ls_status run_show(cli_context *ctx, ls_error *err)
{
    const wl_workload *w;
    json_writer j;
    ls_status status = wl_find(ctx->positionals[0], &w, err);
    if (status != LS_OK)
        return status;
    if (!cli_flag(ctx, "json")) {
        print_workload(ctx, w);
        return LS_OK;
    }
    json_to_file(&j, ctx->out, 2);
    json_workload(&j, w);
    return json_finish(&j, err);
}

/* clang-format off */
static const cli_option options[] = { { .name = "json", .help = "print JSON" } };

static const cli_positional show_positionals[] = {
    { .name = "NAME", .help = "a name that lockstep workload list prints" },
};
/* clang-format on */

static const cli_example list_examples[] = {
    { "lockstep workload list", "workloads for lockstep emulate" },
};
static const cli_example show_examples[] = {
    { "lockstep workload show fir", "its sizes and where it comes from" },
};

static const cli_command list_command = {
    .name = "list",
    .summary = "print the workloads and microbenchmarks",
    .order = 1,
    CLI_OPTIONS(options),
    CLI_EXAMPLES(list_examples),
    .run = run_list,
};

static const cli_command show_command = {
    .name = "show",
    .summary = "print a workload's options and where it comes from",
    .order = 2,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(show_positionals),
    CLI_EXAMPLES(show_examples),
    .run = run_show,
};

static const cli_command *const commands[] = { &list_command, &show_command };

static const cli_example examples[] = {
    { "lockstep workload list", "all workloads" },
    { "lockstep workload show fir", "its options with their defaults and ranges" },
    { "lockstep emulate fir --verify", "run one" },
};

static const cli_command workload_command = {
    .name = "workload",
    .summary = "list the programs that come with the simulator",
    .about =
        "A workload is a set of OpenCL kernels, compiled for each GPU when the simulator was built, and a "
        "host program that runs them and checks the result against the CPU. LOCKSTEP_KERNELS names another "
        "directory of compiled kernels.",
    .order = 17,
    CLI_EXAMPLES(examples),
    CLI_COMMANDS(commands),
};
CLI_REGISTER(workload_command);

/* cmd_trace_synth.c: `lockstep trace synth`: traces of parameterised kernels, and the list of kernels. */
#include "cli/cmd_trace.h"
#include "cli/trace_copy.h"

#include "workload/accelsim/write.h"
#include "workload/pack/pack.h"
#include "workload/devices/devices.h"
#include "workload/synth/synth.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------------- list */

static void print_param(const cli_context *ctx, const ls_param *param)
{
    char range[96] = "";
    if (param->choices) {
        size_t used = 0;
        for (size_t i = 0; param->choices[i] && used < sizeof range; i++)
            used +=
                (size_t)snprintf(range + used, sizeof range - used, "%s%s", i ? "|" : "", param->choices[i]);
        if (used >= sizeof range)
            memcpy(range + sizeof range - 4, "...", 4);
    } else if (param->min <= param->max)
        snprintf(range, sizeof range, "%.0f to %.0f%s%s", param->min, param->max, param->unit[0] ? " " : "",
                 param->unit);
    fprintf(ctx->out, "    %-18s %s (%s%s%s)\n", param->name, param->help, param->default_text,
            range[0] ? "; " : "", range);
}

static ls_status print_list(const cli_context *ctx, const char *only, ls_error *err)
{
    cli_style style = cli_style_of(ctx->color_out);
    sass_trace *trace;
    if (only && !synth_kind_find(only)) /* opening says which name is near */
        return synth_open(only, NULL, &trace, err);
    for (size_t i = 0; i < synth_kind_count(); i++) {
        const synth_kind *kind = synth_kind_at(i);
        if (only && strcmp(synth_kind_name(kind), only) != 0)
            continue;
        fprintf(ctx->out, "%s%-17s%s %s\n", style.name, synth_kind_name(kind), style.off,
                synth_kind_help(kind));
        for (size_t p = 0; only && p < synth_param_count(kind); p++)
            print_param(ctx, synth_param_at(kind, p));
    }
    for (size_t i = 0; !only && i < collective_count(); i++)
        fprintf(ctx->out, "%s%-17s%s %s (of several GPUs: docs/devices.md)\n", style.name, collective_name(i),
                style.off, collective_help(i));
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ command */

static ls_status run_synth(cli_context *ctx, ls_error *err)
{
    const char *kind = ctx->positional_count > 0 ? ctx->positionals[0] : NULL,
               *output = cli_text(ctx, "output");
    if (cli_flag(ctx, "list"))
        return print_list(ctx, kind, err);
    if (!kind)
        return ls_fail(err, LS_ERR_USAGE, "KIND is missing: --list prints what there is");
    if (!output)
        return ls_fail(err, LS_ERR_USAGE, "--output is missing: where should the result go?");
    text_buffer path = { 0 };
    text_printf(&path, "%s%s", LS_SYNTH_PREFIX, kind);
    for (size_t i = 0; i < cli_count(ctx, "set"); i++)
        text_printf(&path, ",%s", cli_text_at(ctx, "set", i));
    copy_options options = { 0 };
    ls_status status =
        path.failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left")
                    : trace_copy(ctx, text_get(&path), output, trace_is_packed(ctx, output), &options, err);
    text_fini(&path);
    return status;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "list", .letter = 'l', .help = "print the kinds, or the parameters of KIND" },
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "NAME=VALUE", .repeatable = true,
      .help = "give a parameter another value; the last one of a name counts" },
    { .name = "output", .letter = 'o', .type = CLI_TEXT, .arg = "OUT", .complete = CLI_COMPLETE_FILE,
      .help = "a new directory, or a packed trace if it ends with .lspk" },
    TRACE_FORMAT_OPTION,
    TRACE_COMPRESS_OPTION("none"),
    TRACE_LEVEL_OPTION,
};
/* clang-format on */

static const cli_positional positionals[] = {
    { .name = "KIND", .optional = true, .help = "a generator, with parameters if you like: gemm,m=512,n=512" },
};

static const cli_example examples[] = {
    { "lockstep trace synth --list", "kernels that can be generated" },
    { "lockstep trace synth gemm --list", "its parameters, with their ranges and defaults" },
    { "lockstep trace synth gemm --set m=512 --set n=512 -o gemm.lspk", "a matrix product as a packed trace" },
    { "lockstep trace synth pointer-chase,footprint_kib=64 -o chase", "a directory that Accel-Sim can read" },
};

const cli_command cmd_trace_synth = {
    .name = "synth",
    .summary = "generate the trace of a parameterised kernel",
    .about = "Where a trace is read, synth:KIND,NAME=VALUE,... stands for the same without a file. The "
             "instructions are those that a compiler would write for the chosen architecture, with its "
             "registers, address arithmetic, predicates and loops; addresses depend on the parameters and, in "
             "some kinds, on the seed only.",
    .order = 6,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run_synth,
};

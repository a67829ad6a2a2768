/* cmd_profile.c: `lockstep profile`: prints and keeps the hit rates of a trace's instructions on a platform. */
#include "base/file.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/workload_args.h"

#include <inttypes.h>
#include <string.h>

static const char *const methods[] = { "cache", "reuse", NULL };

/* ----------------------------------------------------------------------------------------------- printing */

static double percent(uint64_t part, uint64_t of)
{
    return of == 0 ? 0 : 100.0 * (double)part / (double)of;
}

static void print_shares(FILE *to, const ls_sim_rate *r)
{
    char count[LS_FORMAT_BYTES];
    fprintf(to, " %13s %7.2f %6.1f%% %6.1f%% %6.1f%% %6.1f%% %8.1f%% %8.1f%%\n",
            format_count(r->accesses, count, sizeof count),
            r->accesses == 0 ? 0 : (double)r->sectors / (double)r->accesses,
            percent(r->at[LS_SIM_RATE_L1], r->accesses), percent(r->at[LS_SIM_RATE_WAIT], r->accesses),
            percent(r->at[LS_SIM_RATE_L2], r->accesses), percent(r->at[LS_SIM_RATE_DRAM], r->accesses),
            percent(r->l2_sectors, r->sectors), percent(r->dram_sectors, r->sectors));
}

static void print_kernel(const cli_context *ctx, const ls_sim_rates *rates, size_t kernel)
{
    FILE *to = ctx->out;
    ls_sim_rate r;
    if (ls_sim_get_rate(rates, kernel, LS_SIM_RUN, &r, NULL) != LS_OK)
        return;
    fprintf(to, "  %5" PRIu64 "  %-34.34s", r.kernel, r.name);
    print_shares(to, &r);
    for (size_t i = 0; cli_flag(ctx, "pc") && ls_sim_get_rate(rates, kernel, i, &r, NULL) == LS_OK; i++) {
        fprintf(to, "         pc 0x%-29" PRIx64, r.pc);
        print_shares(to, &r);
    }
}

static void print_profile(const cli_context *ctx, const ls_sim_rates *rates)
{
    FILE *to = ctx->out;
    fprintf(to, "\n  %5s  %-34s %13s %7s %7s %7s %7s %7s %9s %9s\n", "", "kernel", "accesses", "sectors", "L1",
            "wait", "L2", "DRAM", "L2/sec", "DRAM/sec");
    for (size_t i = 0; i < ls_sim_rates_kernel_count(rates); i++)
        print_kernel(ctx, rates, i);
    fputc('\n', to);
}

/* ------------------------------------------------------------------------------------------------ the run */

static void on_warning(void *self, const char *text)
{
    (void)self;
    log_warn("%s", text);
}

static ls_status save(cli_context *ctx, ls_sim_rates *rates, ls_error *err)
{
    const char *path = cli_text(ctx, "output"), *written;
    if (path == NULL && cli_flag(ctx, "no-cache"))
        return LS_OK;
    ls_status status = ls_sim_rates_write(rates, path, &written, err);
    if (status == LS_OK && written && strcmp(written, "-") != 0)
        fprintf(ctx->out, "  written to %s\n", written);
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    ls_sim_rates *rates = NULL;
    const ls_sim_options options = {
        LS_SIM_OPTIONS,
        .platform = cli_text(ctx, "platform"),
        .sets = cli_texts(ctx, "set"),
        .set_count = cli_count(ctx, "set"),
        .platform_dirs = cli_texts(ctx, "platform-dir"),
        .platform_dir_count = cli_count(ctx, "platform-dir"),
        .workload = ctx->positionals[0],
        .kernels = cli_text(ctx, "kernels"),
        .cta_limit = cli_uint(ctx, "ctas"),
        .unknown_as_alu = cli_choice(ctx, "unknown-opcodes") == 1,
        .skip_unmodelled = cli_choice(ctx, "unmodelled") == 1,
    };
    const ls_sim_profile_options how = {
        LS_SIM_PROFILE_OPTIONS,
        .method = cli_text(ctx, "method"),
        .sample = cli_uint(ctx, "sample"),
        .threads = (uint32_t)cli_uint(ctx, "threads"),
        .warn = on_warning,
    };
    const char *path = cli_text(ctx, "output");
    bool to_stdout = path != NULL && strcmp(path, "-") == 0;
    ls_status status = path == NULL || to_stdout ? LS_OK : file_check_writable(path, err);
    if (status == LS_OK && !options.platform)
        status = ls_fail(err, LS_ERR_USAGE,
                         "profile: a platform is missing: --platform NAME or --platform FILE.yaml");
    if (status == LS_OK && (!options.sets || !options.platform_dirs))
        status = ls_fail(err, LS_ERR_NOMEM, "out of memory");
    if (status == LS_OK)
        status = ls_sim_rates_make(&options, &how, &rates, err);
    if (status == LS_OK) {
        if (!to_stdout)
            print_profile(ctx, rates);
        status = save(ctx, rates, err);
    }
    ls_sim_rates_close(rates);
    return status;
}

/* ------------------------------------------------------------------------------------------------ command */

/* clang-format off */
static const cli_option options[] = {
    { .name = "platform", .letter = 'p', .type = CLI_TEXT, .arg = "PLATFORM", .complete = CLI_COMPLETE_PLATFORM,
      .help = "the platform with the caches and memory: a name of the search path, or a file" },
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,
      .complete = CLI_COMPLETE_KEY, .help = "override a key of the platform; the last one of a key counts" },
    { .name = "method", .letter = 'm', .type = CLI_CHOICE, .arg = "HOW", .choices = methods,
      .default_text = "cache",
      .help = "cache: the caches with their sets and policies; reuse: reuse distances with a correction for sets" },
    { .name = "kernels", .letter = 'k', .type = CLI_TEXT, .arg = "LIST",
      .help = "only these kernels of the trace, as in 3-7,12,name:*gemm*" },
    { .name = "ctas", .type = CLI_UINT, .arg = "N", .default_text = "0",
      .help = "only the first N thread blocks of each kernel; 0: all" },
    { .name = "sample", .type = CLI_UINT, .arg = "N", .default_text = "0",
      .help = "stop in each kernel after N warp instructions or a twentieth of it up to 40 N, whichever is more; 0: never" },
    { .name = "threads", .letter = 'j', .type = CLI_UINT, .arg = "N", .min = 1, .max = 1024, .default_text = "1",
      .help = "host threads; the profile does not depend on it" },
    { .name = "pc", .help = "show each static instruction, not only each kernel" },
    { .name = "output", .letter = 'o', .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write the profile here, for run --profile; else to the cache, where run --profile auto finds it" },
    { .name = "no-cache", .help = "only print; write no file without --output" },
    { .name = "unknown-opcodes", .type = CLI_CHOICE, .arg = "HOW", .choices = workload_unknown_modes, .default_text = "fail",
      .help = "treatment of opcodes that are not in the tables" },
    CLI_UNMODELLED_OPTION,
};

static const cli_positional positionals[] = {
    { .name = "TRACE", .complete = CLI_COMPLETE_FILE,
      .help = "a directory, a kernelslist.g, one kernel, a packed trace, or synth:KIND" },
};

static const cli_example examples[] = {
    { "lockstep profile -p rtx2060 --no-cache synth:stencil", "hit rates of a generated kernel" },
    { "lockstep profile -p rtx2060 --pc --method reuse --no-cache synth:gemm", "of each instruction, by reuse distances" },
};

static const cli_command command = {
    .name = "profile",
    .order = 15,
    .summary = "find out how often a trace's instructions hit L1, L2 and DRAM",
    .about = "Walks the thread blocks through the platform's caches without simulating time: blocks lie on the cores as "
             "the dispatcher places them, warps take turns. The result is what core.memory=analytic runs on.\n\n"
             "Columns: accesses of warps; 32-byte sectors of each; the share of accesses that hit L1, that wait "
             "for sectors which another has asked for, whose last sector comes from L2 or from DRAM; sectors sent to L2 and moved by DRAM per sector touched.\n\n"
             "Profiles are kept in $XDG_CACHE_HOME/lockstep/profiles, or in $HOME/.cache/lockstep/profiles, by a hash of "
             "the trace, the chosen kernels and the geometry; `lockstep run --profile auto` uses the one that fits.",
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
/* clang-format on */
CLI_REGISTER(command);

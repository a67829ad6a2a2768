/* cmd_sweep.c: `lockstep sweep`: the command line becomes a sweep (lockstep/sim.h), whose ranking is printed. */
#include "base/log.h"
#include "base/pool.h"
#include "cli/platform_args.h"
#include "cli/run_signal.h"
#include "cli/workload_args.h"
#include "report/progress.h"

#include <string.h>

static const char *const progress_modes[] = { "auto", "always", "never", NULL };
enum { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

typedef struct session {
    cli_context *ctx;
    ls_sim_sweep *sweep;
    const char *database;
    bool began; /* the number of points was printed */
    progress_line progress;
} session;

/* ------------------------------------------------------------------------------------------------- opening */

static void on_warning(void *self, const char *text)
{
    (void)self;
    log_warn("%s", text);
}

/* Names in the library's errors, as options. */
static ls_status name_option(ls_status status, ls_error *err)
{
    static const char *const names[][2] = { { "database", "--out" },
                                            { "vary", "--vary" },
                                            { "metric", "--metric" } };
    for (size_t i = 0; status != LS_OK && i < LS_COUNT_OF(names); i++)
        if (strcmp(err->where, names[i][0]) == 0)
            snprintf(err->where, sizeof err->where, "%s", names[i][1]);
    return status;
}

static ls_status open_sweep(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    ls_sim_options base;
    ls_sim_sweep_options options = {
        LS_SIM_SWEEP_OPTIONS,
        .base = &base,
        .workloads = ctx->positionals,
        .workload_count = ctx->positional_count,
        .vary = cli_texts(ctx, "vary"),
        .vary_count = cli_count(ctx, "vary"),
        .database = s->database,
        .command = cli_command_line(ctx),
        .metrics = cli_texts(ctx, "metric"),
        .metric_count = cli_count(ctx, "metric"),
        .worker = "/proc/self/exe",
        .warn = on_warning,
    };
    if (!cli_text(ctx, "platform"))
        return ls_fail(err, LS_ERR_USAGE, "sweep: a platform is missing: --platform NAME or FILE.yaml");
    if (!options.vary || !options.metrics || !options.command)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the sweep");
    ls_status status = LS_OK;
    for (size_t i = 0; i < ctx->positional_count && status == LS_OK; i++)
        status = workload_args_check(ctx, ctx->positionals[i], err);
    if (status == LS_OK)
        status = workload_args_sim(ctx, NULL, &base, err);
    return status == LS_OK ? name_option(ls_sim_sweep_open(&options, &s->sweep, err), err) : status;
}

static void list_points(const session *s)
{
    FILE *out = s->ctx->out;
    ls_sim_point point;
    for (size_t i = 0; ls_sim_get_point(s->sweep, i, &point, NULL) == LS_OK; i++) {
        fprintf(out, "%s", point.workload);
        for (size_t a = 0; a < ls_sim_sweep_key_count(s->sweep); a++)
            fprintf(out, "  %s=%s", ls_sim_sweep_key(s->sweep, a), point.values[a]);
        fputc('\n', out);
    }
}

/* ------------------------------------------------------------------------------------------------- running */

static void print_plan(const session *s, const ls_sim_sweep_progress *now)
{
    FILE *err = s->ctx->err;
    fprintf(err, "lockstep: %zu points: %zu are done, %zu to run", now->points, now->done_before, now->to_run);
    if (now->strangers)
        fprintf(err, "; %s also holds %zu points of other grids, traces or versions", s->database,
                now->strangers);
    fputc('\n', err);
}

static void on_progress(void *self, const ls_sim_sweep_progress *now)
{
    session *s = self;
    size_t mode = cli_choice(s->ctx, "progress");
    if (!s->began) {
        print_plan(s, now);
        progress_begin(&s->progress, s->ctx->err, mode == PROGRESS_ALWAYS, NULL, 0, host_clock_ns());
        s->began = true;
        return;
    }
    const progress_state state = { .done = now->finished, .total = now->to_run, .unit = "points" };
    if (mode != PROGRESS_NEVER)
        progress_update(&s->progress, &state, host_clock_ns());
}

static void on_monitor(void *self, const char *url)
{
    const session *s = self;
    fprintf(s->ctx->err, "lockstep: monitor: %s\n", url);
    fflush(s->ctx->err);
}

static ls_status run_points(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    const ls_sim_sweep_run_options how = {
        LS_SIM_SWEEP_RUN_OPTIONS,
        .jobs = (uint32_t)cli_uint(ctx, "jobs"),
        .threads = (uint32_t)cli_uint(ctx, "threads"),
        .progress = on_progress,
        .self = s,
        .monitor = cli_text(ctx, "monitor"),
        .monitor_token = cli_text(ctx, "monitor-token"),
        .monitor_ready = on_monitor,
    };
    run_signal_begin(ls_sim_sweep_control(s->sweep));
    ls_status status = ls_sim_sweep_run(s->sweep, &how, err);
    run_signal_end();
    if (s->began)
        progress_clear(&s->progress);
    size_t by_others = ls_sim_sweep_get_progress(s->sweep).by_others;
    if (by_others)
        fprintf(ctx->err, "lockstep: %zu points were run by another sweep at the same time\n", by_others);
    return name_option(status, err);
}

/* The file beside the database. */
static ls_status write_file(const session *s, const char *extension, ls_error *err)
{
    const char *dot = strrchr(s->database, '.');
    const char *path = arena_printf(s->ctx->arena, "%.*s%s", (int)(dot - s->database), s->database, extension);
    return path ? ls_sim_sweep_write(s->sweep, path, err)
                : ls_fail(err, LS_ERR_NOMEM, "no memory left for the sweep");
}

static ls_status sweep_all(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    ls_status status = run_points(s, err);
    if (status == LS_OK)
        status = write_file(s, ".csv", err);
    if (status == LS_OK)
        status = write_file(s, ".html", err);
    if (status == LS_OK)
        status = ls_sim_sweep_print(s->sweep, (size_t)cli_uint(ctx, "top"), ctx->out, err);
    const ls_sim_sweep_progress result = ls_sim_sweep_get_progress(s->sweep);
    if (status == LS_OK && result.failed)
        status = ls_fail(err, LS_ERR_CHECK, "sweep: %zu of %zu points failed; the reasons are above and in %s",
                         result.failed, result.points, s->database);
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    session s = { .ctx = ctx, .database = cli_text(ctx, "out") };
    ls_status status = open_sweep(&s, err);
    if (status == LS_OK && cli_flag(ctx, "dry-run"))
        list_points(&s);
    else if (status == LS_OK)
        status = sweep_all(&s, err);
    ls_sim_sweep_close(s.sweep);
    return status;
}

/* ------------------------------------------------------------------------------------------------ command */

/* clang-format off */
static const cli_option options[] = {
    { .name = "platform", .letter = 'p', .type = CLI_TEXT, .arg = "PLATFORM", .complete = CLI_COMPLETE_PLATFORM,
      .help = "the platform to simulate: a name of the search path, or a file" },
    { .name = "vary", .letter = 'v', .type = CLI_KEY_VALUE, .arg = "KEY=LIST", .repeatable = true,
      .complete = CLI_COMPLETE_KEY,
      .help = "values of a key: 32,64,128 or gto,lrr or the ranges 1..8, 16..64+16, 32..256*2" },
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,
      .complete = CLI_COMPLETE_KEY, .help = "override a key in every point" },
    FIDELITY_OPTION,
    GPUS_OPTION,
    ON_OPTION,
    DEVICES_OPTIONS,
    { .name = "out", .letter = 'o', .type = CLI_TEXT, .arg = "FILE.db", .default_text = "sweep.db",
      .complete = CLI_COMPLETE_FILE, .help = "the database; a table (.csv) and a page (.html) are written beside it" },
    { .name = "jobs", .letter = 'j', .type = CLI_UINT, .arg = "N", .min = 1, .max = 1024, .default_text = "1",
      .help = "points to run at a time" },
    { .name = "threads", .type = CLI_UINT, .arg = "N", .min = 1, .max = 1024, .default_text = "1",
      .help = "host threads of each point; no result depends on it" },
    { .name = "kernels", .letter = 'k', .type = CLI_TEXT, .arg = "LIST",
      .help = "run only these kernels of the traces, as in 3-7,12,name:*gemm*" },
    { .name = "ctas", .type = CLI_UINT, .arg = "N", .default_text = "0",
      .help = "run only the first N thread blocks of each kernel; 0: all" },
    { .name = "warm-l2", .help = "memory copies of the traces make their range valid in L2" },
    WORKLOAD_OPTIONS("workload: compare every result with the CPU; a wrong one is a point that failed"),
    EMULATE_OBJECT_OPTIONS(0, 'a'),
    { .name = "unknown-opcodes", .type = CLI_CHOICE, .arg = "HOW", .choices = workload_unknown_modes, .default_text = "fail",
      .help = "treatment of opcodes that are not in the tables" },
    CLI_UNMODELLED_OPTION,
    { .name = "seed", .type = CLI_UINT, .arg = "N", .default_text = "1",
      .help = "of every random stream of the machine" },
    { .name = "metric", .letter = 'm', .type = CLI_TEXT, .arg = "PATTERN", .repeatable = true,
      .help = "add columns to the table (.csv): metrics of this name, as in *stall* or l2/cycle.hits" },
    { .name = "top", .type = CLI_UINT, .arg = "N", .default_text = "20",
      .help = "show the N fastest points of each trace; 0: all" },
    { .name = "progress", .type = CLI_CHOICE, .arg = "WHEN", .choices = progress_modes, .default_text = "auto",
      .help = "show how far the sweep is on standard error" },
    { .name = "monitor", .type = CLI_TEXT, .arg = "PORT",
      .help = "show the sweep on a page at this port of 127.0.0.1; 0: any that is free" },
    { .name = "monitor-token", .type = CLI_TEXT, .arg = "TOKEN",
      .help = "with --monitor: the page may stop the sweep with this token (auto: a random one)" },
    { .name = "dry-run", .letter = 'n', .help = "check every point and list them, but run nothing" },
};

static const cli_positional positionals[] = {
    { .name = "WORKLOAD", .repeatable = true, .complete = CLI_COMPLETE_FILE,
      .help = "the workload of every point, as for lockstep run: traces, workloads, code objects, recordings" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep sweep traces/bfs -p rtx3070 -v core.unified_kib=128,192 -v core.scheduler=gto,lrr -j2",
      "four configurations, two at a time" },
    { "lockstep sweep synth:gemm -p rtx2080ti -v cores=17..68*2 -o cores.db", "how a kernel scales" },
    { "lockstep sweep fir kmeans -p r9nano -v vector_cache.size_kib=8..64*2 -m '*hit*' -o caches.db",
      "AMD programs in simulated time, with hit rates in the table" },
    { "lockstep compare cores.db#1 cores.db#3", "differences between two points" },
};

static const cli_command command = {
    .name = "sweep",
    .summary = "run a grid of configurations and rank them",
    .about =
        "Runs every combination of the values that --vary lists, on every workload, each in a process of its own, and "
        "collects all results in one database, which `lockstep compare` and SQL can read. All configurations "
        "are checked before the first one runs. The same sweep may run several times at once on one database: they "
        "share the work.\n\n"
        "A point is known by its workload's content, its whole configuration and the version: the same command (after "
        "Ctrl-C, a crash or a power cut) runs only what is missing, and a changed trace or platform is never "
        "mixed with earlier results. A point that fails is recorded with its reason, does not stop the others, "
        "and is tried again next time; the exit code is then 5.",
    .order = 20,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(command);

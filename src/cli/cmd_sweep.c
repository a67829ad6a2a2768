/* cmd_sweep.c: `lockstep sweep`: the command line becomes a sweep (lockstep/sim.h), whose ranking is printed. */
#include "base/file.h"
#include "base/log.h"
#include "base/pool.h"
#include "cli/platform_args.h"
#include "cli/run_signal.h"
#include "cli/workload_args.h"
#include "report/postgres.h"
#include "report/progress.h"
#include "sim/sweep/slurm.h"
#include "sim/sweep/state.h"

#include <string.h>

enum { SHARDS_MOST = 100000, SLURM_RETRIES = 2 };

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
    static const char *const names[][2] = {
        { "database", "--out" }, { "vary", "--vary" }, { "metric", "--metric" }, { "shard", "--shard" }
    };
    for (size_t i = 0; status != LS_OK && i < LS_COUNT_OF(names); i++)
        if (strcmp(err->where, names[i][0]) == 0)
            snprintf(err->where, sizeof err->where, "%s", names[i][1]);
    return status;
}

/* "2/8" */
static ls_status read_shard(cli_context *ctx, uint32_t *shard, uint32_t *shards, ls_error *err)
{
    const char *text = cli_text(ctx, "shard"), *slash = text ? strchr(text, '/') : NULL;
    uint64_t part = 0, parts = 0;
    *shard = *shards = 0;
    if (!text)
        return LS_OK;
    bool good = slash && parse_u64(text, (size_t)(slash - text), &part, NULL) == LS_OK &&
                parse_u64(slash + 1, strlen(slash + 1), &parts, NULL) == LS_OK;
    if (!good || part == 0 || part > parts || parts > SHARDS_MOST) {
        ls_fail(err, LS_ERR_USAGE,
                "'%s' is no part of a sweep: write 2/8 for the second of eight, of at most %d", text,
                SHARDS_MOST);
        return ls_error_at(err, "--shard", 0, 0);
    }
    *shard = (uint32_t)part;
    *shards = (uint32_t)parts;
    return LS_OK;
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
        .warm = cli_text(ctx, "warm"),
        .warn = on_warning,
    };
    if (!cli_text(ctx, "platform"))
        return ls_fail(err, LS_ERR_USAGE, "sweep: a platform is missing: --platform NAME or FILE.yaml");
    if (!options.vary || !options.metrics || !options.command)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the sweep");
    ls_status status = read_shard(ctx, &options.shard, &options.shards, err);
    for (size_t i = 0; i < ctx->positional_count && status == LS_OK; i++)
        status = workload_args_check(ctx, ctx->positionals[i], err);
    if (status == LS_OK)
        status = workload_args_sim(ctx, NULL, &base, err);
    if (status == LS_OK)
        status = name_option(ls_sim_sweep_open(&options, &s->sweep, err), err);
    if (status == LS_OK)
        s->database = ls_sim_sweep_database(s->sweep);
    return status;
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

static void on_line(void *self, const char *line)
{
    session *s = self;
    progress_clear(&s->progress);
    fprintf(s->ctx->err, "lockstep: %s\n", line);
}

static ls_status run_on_slurm(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    const slurm_options options = {
        .shards = (uint32_t)cli_uint(ctx, "array-size"),
        .jobs = (uint32_t)cli_uint(ctx, "jobs"),
        .threads = (uint32_t)cli_uint(ctx, "threads"),
        .retries = cli_given(ctx, "retries") ? (uint32_t)cli_uint(ctx, "retries") : SLURM_RETRIES,
        .partition = cli_text(ctx, "partition"),
        .more = cli_texts(ctx, "sbatch"),
        .more_count = cli_count(ctx, "sbatch"),
        .self = s,
        .progress = on_progress,
        .tell = on_line,
    };
    return slurm_run(s->sweep, &options, err);
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
        .retries = (uint32_t)cli_uint(ctx, "retries"),
        .monitor = cli_text(ctx, "monitor"),
        .monitor_token = cli_text(ctx, "monitor-token"),
        .monitor_ready = on_monitor,
    };
    run_signal_begin(ls_sim_sweep_control(s->sweep));
    ls_status status = cli_flag(ctx, "slurm") ? run_on_slurm(s, err) : ls_sim_sweep_run(s->sweep, &how, err);
    run_signal_end();
    if (s->began)
        progress_clear(&s->progress);
    size_t by_others = ls_sim_sweep_get_progress(s->sweep).by_others;
    if (by_others)
        fprintf(ctx->err, "lockstep: %zu points were run by another sweep at the same time\n", by_others);
    return name_option(status, err);
}

/* The file beside the database; of a server: in the current folder, with the name of its database. */
static ls_status write_file(const session *s, const char *extension, ls_error *err)
{
    const char *name =
        postgres_is_url(s->database) ? postgres_database(s->ctx->arena, s->database) : s->database;
    const char *dot = name && name == s->database ? strrchr(name, '.') : NULL;
    int bytes = dot ? (int)(dot - name) : name ? (int)strlen(name) : 0;
    const char *path = name ? arena_printf(s->ctx->arena, "%.*s%s", bytes, name, extension) : NULL;
    return path ? ls_sim_sweep_write(s->sweep, path, err)
                : ls_fail(err, LS_ERR_NOMEM, "no memory left for the sweep");
}

static ls_status sweep_all(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    ls_status status = run_points(s, err);
    bool whole = !cli_given(ctx, "shard"); /* a part of a table helps nobody */
    if (status == LS_OK && whole)
        status = write_file(s, ".csv", err);
    if (status == LS_OK && whole)
        status = write_file(s, ".html", err);
    if (status == LS_OK)
        status = ls_sim_sweep_print(s->sweep, (size_t)cli_uint(ctx, "top"), ctx->out, err);
    const ls_sim_sweep_progress result = ls_sim_sweep_get_progress(s->sweep);
    if (status == LS_OK && result.failed)
        status = ls_fail(err, LS_ERR_CHECK, "sweep: %zu of %zu points failed; the reasons are above and in %s",
                         result.failed, result.points, s->database);
    return status;
}

/* --------------------------------------------------------------------------------------------------- state */

static void print_state(const sweep_state *state, const path_list *files, FILE *out)
{
    size_t waits = state->points.count - state->done - state->failed - state->running;
    fprintf(out, "%zu points: %zu done, %zu running, %zu failed, %zu to run", state->points.count, state->done,
            state->running, state->failed, waits);
    if (files->count)
        fprintf(out, "; %zu files of shards are not merged yet", files->count);
    fputc('\n', out);
    for (size_t i = 0; i < state->points.count; i++) {
        const state_point *p = &state->points.at[i];
        if (!p->done && !p->running && p->error)
            fprintf(out, "failed %s%s: %s\n", p->trace, p->keys, p->error);
    }
}

/* Of the sweep that the database holds; of several: of the first. */
static ls_status show_state(cli_context *ctx, ls_error *err)
{
    const char *database = cli_text(ctx, "status");
    path_list files = { 0 };
    sweep_state state = { 0 };
    ls_status status = state_shard_files(ctx->arena, database, &files, err);
    /* Shards of a sweep without its database list all points, too. */
    const char *first = files.count && !file_exists(database) ? files.at[0] : database;
    if (status == LS_OK)
        status = state_read(&state, first, NULL, &files, err);
    if (status == LS_OK)
        print_state(&state, &files, ctx->out);
    state_fini(&state);
    vec_fini(&files);
    return status;
}

/* Options that say how a part of a sweep, or a sweep elsewhere, is run. */
static ls_status check_options(const cli_context *ctx, ls_error *err)
{
    static const char *const of_slurm[] = { "partition", "array-size", "sbatch" };
    for (size_t i = 0; i < LS_COUNT_OF(of_slurm); i++)
        if (cli_given(ctx, of_slurm[i]) && !cli_flag(ctx, "slurm"))
            return ls_fail(err, LS_ERR_USAGE, "sweep: --%s is for --slurm", of_slurm[i]);
    if (cli_flag(ctx, "slurm") && cli_given(ctx, "shard"))
        return ls_fail(err, LS_ERR_USAGE, "sweep: --slurm makes the shards itself: leave out --shard");
    if (ctx->positional_count == 0)
        return ls_fail(err, LS_ERR_USAGE, "sweep: a workload is missing");
    return LS_OK;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    if (cli_given(ctx, "status"))
        return ctx->positional_count == 0 ? show_state(ctx, err)
                                          : ls_fail(err, LS_ERR_USAGE, "sweep: --status takes no workload");
    if (check_options(ctx, err) != LS_OK)
        return LS_ERR_USAGE;
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
      .complete = CLI_COMPLETE_FILE,
      .help = "the database, or a URL postgresql://...; a table (.csv) and a page (.html) are written beside it" },
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
    { .name = "warm", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "every point goes on from this checkpoint of the workload (lockstep run --checkpoint), with warm caches; the part before "
              "it is simulated once" },
    { .name = "retries", .type = CLI_UINT, .arg = "N", .max = 100, .default_text = "0",
      .help = "try a point that fails again, up to N times; with --slurm twice" },
    { .name = "shard", .type = CLI_TEXT, .arg = "I/N",
      .help = "run part I of N, from 1, into a file of its own: sweep.2-of-8.db; lockstep merge joins them" },
    { .name = "slurm", .help = "submit the sweep to a Slurm cluster as job arrays, wait for them and merge" },
    { .name = "partition", .type = CLI_TEXT, .arg = "NAME", .help = "of the cluster, for --slurm" },
    { .name = "array-size", .type = CLI_UINT, .arg = "N", .min = 1, .max = SHARDS_MOST,
      .help = "tasks of the job array, for --slurm; otherwise 100, or one per point" },
    { .name = "sbatch", .type = CLI_TEXT, .arg = "OPTION", .repeatable = true,
      .help = "another option of sbatch, for --slurm: --sbatch=--time=60" },
    { .name = "status", .type = CLI_TEXT, .arg = "FILE.db", .complete = CLI_COMPLETE_FILE,
      .help = "run nothing: show how far the sweep of this database and of its shards is" },
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
    { .name = "WORKLOAD", .repeatable = true, .optional = true, .complete = CLI_COMPLETE_FILE,
      .help = "the workload of every point, as for lockstep run: traces, workloads, code objects, recordings" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep sweep traces/bfs -p rtx3070 -v core.unified_kib=128,192 -v core.scheduler=gto,lrr -j2",
      "four configurations, two at a time" },
    { "lockstep sweep synth:gemm -p rtx2080ti -v cores=17..68*2 -o cores.db", "how a kernel scales" },
    { "lockstep sweep fir kmeans -p r9nano -v vector_cache.size_kib=8..64*2 -m '*hit*' -o caches.db",
      "AMD programs in simulated time, with hit rates in the table" },
    { "lockstep sweep --status cores.db", "how far it is, with the points that failed" },
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
        "and is tried again next time; the exit code is then 5.\n\n"
        "On a cluster, --slurm divides the sweep into job arrays, waits for them and merges their results. For other "
        "schedulers, --shard I/N runs one part, and `lockstep merge` joins the parts (docs/scale.md).",
    .order = 20,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(command);

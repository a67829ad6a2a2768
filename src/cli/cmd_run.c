/* cmd_run.c: `lockstep run`: the command line becomes a simulation (lockstep/sim.h), its results become output. */
#include "base/log.h"
#include "base/pool.h"
#include "cli/cli.h"
#include "cli/platform_args.h"
#include "cli/run_mpi.h"
#include "cli/run_signal.h"
#include "cli/workload_args.h"
#include "report/progress.h"
#include "sim/checkpoint.h"
#include "sim/sweep/fork_server.h"

#include <string.h>
#include <unistd.h>

/* By the order of ls_assignment. */
static const char *const assignments[] = { "static", "fixed", "dynamic", "shuffled", NULL };
static const char *const formats[] = { "text", "json", "csv", "tidy", NULL };
static const char *const stats_names[] = { "lockstep", "accelsim", "ncu", "rocprof", NULL };
static const char *const progress_modes[] = { "auto", "always", "never", NULL };
enum { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* One run of the command. */
typedef struct session {
    cli_context *ctx;
    ls_sim *sim;
    run_mpi mpi;
    ls_time until;
    progress_line progress;
    bool is_resumed; /* options that its results depend on are those of the first run */
} session;

/* Of an option that only `run` has. */
static const char *own_text(const session *s, const char *name)
{
    return s->is_resumed ? NULL : cli_text(s->ctx, name);
}

/* ---------------------------------------------------------------------------------------------- opening it */

/* Of results on standard output. */
static const char *format_name(const cli_context *ctx)
{
    size_t stats = cli_choice(ctx, "stats");
    return stats > 0 ? stats_names[stats] : cli_text(ctx, "format");
}

/* Text for people must not go into a JSON output. */
static bool is_text(const cli_context *ctx)
{
    return strcmp(cli_text(ctx, "format"), "text") == 0;
}

/* The names of other tools come with a form of their own. */
static ls_status check_stats(const cli_context *ctx, ls_error *err)
{
    static const char *const others[] = { "format", "untouched", "all", "per-block" };
    size_t count = LS_COUNT_OF(others) - (cli_count(ctx, "out") > 0); /* files have blocks */
    for (size_t i = 0; cli_choice(ctx, "stats") > 0 && i < count; i++)
        if (cli_given(ctx, others[i]))
            return ls_fail(err, LS_ERR_USAGE,
                           "run: --stats %s prints its own form of results, so --%s has no effect: leave one "
                           "of them out (--out FILE writes other forms beside it)",
                           stats_names[cli_choice(ctx, "stats")], others[i]);
    return LS_OK;
}

static ls_status open_sim(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    const char *workload = ctx->positional_count > 0 ? ctx->positionals[0] : NULL;
    ls_sim_options options;
    if (!cli_text(ctx, "platform"))
        return ls_fail(err, LS_ERR_USAGE,
                       "run: a platform is missing: --platform NAME or --platform FILE.yaml");
    ls_status status = workload_args_check(ctx, workload, err);
    if (status == LS_OK)
        status = check_stats(ctx, err);
    if (status == LS_OK)
        status = workload_args_sim(ctx, workload, &options, err);
    if (status == LS_OK)
        status = ls_sim_open(&options, &s->sim, err);
    if (status == LS_OK)
        status = ls_sim_check_format(s->sim, format_name(ctx), err);
    return status;
}

static void print_plan(const session *s)
{
    FILE *out = s->ctx->out;
    char time[32];
    const ls_link *limiting = NULL;
    const ls_engine *engine = ls_sim_engine(s->sim);
    ls_time lookahead = ls_engine_lookahead(engine, &limiting);
    fprintf(out, "platform   %s (%s)\n", ls_sim_platform(s->sim), ls_sim_platform_file(s->sim));
    fprintf(out, "machine    %s\n", ls_sim_machine(s->sim));
    fprintf(out, "config     %s\n", ls_sim_config_hash(s->sim));
    fprintf(out, "blocks     %u\n", ls_engine_block_count(engine));
    if (limiting)
        fprintf(out, "lookahead  %s, by link %s\n", format_time(lookahead, time, sizeof time),
                ls_link_name(limiting));
    else
        fprintf(out, "lookahead  none: the machine has no links\n");
    fprintf(out, "seed       %llu\n", (unsigned long long)cli_uint(s->ctx, "seed"));
    fprintf(out, "threads    %llu\n", (unsigned long long)cli_uint(s->ctx, "threads"));
    for (size_t i = 0; i < cli_count(s->ctx, "out"); i++)
        fprintf(out, "out        %s\n", cli_text_at(s->ctx, "out", i));
    fprintf(out, "dry run: nothing was simulated and nothing was written\n");
    size_t count;
    const ls_warning *warnings = ls_sim_warnings(s->sim, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(warnings[i].kind, "key") == 0) /* has no effect */
            log_warn("%s", warnings[i].text);
}

/* ------------------------------------------------------------------------------------------- simulating */

static void on_progress(void *self, const ls_run_progress *now)
{
    session *s = self;
    const progress_state state = {
        .now = now->now,
        .events = now->events,
        .fraction = s->until ? (double)now->now / (double)s->until : -1,
    };
    progress_update(&s->progress, &state, host_clock_ns());
}

static void on_monitor(void *self, const char *url)
{
    const session *s = self;
    fprintf(s->ctx->err, "lockstep: monitor: %s\n", url);
    fflush(s->ctx->err);
}

/* A stream in front of standard error that wipes the progress line before anything else is written. */
static ssize_t write_past_progress(void *self, const char *data, size_t bytes)
{
    session *s = self;
    progress_clear(&s->progress);
    fwrite(data, 1, bytes, s->ctx->err);
    fflush(s->ctx->err);
    return (ssize_t)bytes;
}

static ls_status simulate(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    size_t mode = cli_choice(ctx, "progress");
    ls_engine *engine = ls_sim_engine(s->sim);
    FILE *dump = fopencookie(s, "w", (cookie_io_functions_t){ .write = write_past_progress });
    if (!dump)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    s->until = s->is_resumed ? 0 : cli_time(ctx, "until");
    const ls_sim_run_options options = {
        .size = sizeof options,
        .threads = (uint32_t)cli_uint(ctx, "threads"),
        .until = s->until,
        .window_fs = cli_time(ctx, "window"),
        .assignment = (ls_assignment)cli_choice(ctx, "assignment"),
        .watchdog_fs = s->is_resumed ? 0 : cli_time(ctx, "watchdog"),
        .scaling = cli_flag(ctx, "scaling"),
        .dump_to = dump,
        .print_to = is_text(ctx) ? ctx->out : NULL,
        .progress = mode == PROGRESS_NEVER || !run_mpi_writes(&s->mpi) ? NULL : on_progress,
        .progress_self = s,
        /* A report shows stalls and bytes over time. */
        .series_every = own_text(s, "series-every")               ? own_text(s, "series-every")
                        : !s->is_resumed && cli_text(ctx, "html") ? "500ns"
                                                                  : NULL,
        .series = s->is_resumed ? NULL : cli_texts(ctx, "series"),
        .series_count = s->is_resumed ? 0 : cli_count(ctx, "series"),
        .monitor = cli_text(ctx, "monitor"),
        .monitor_token = cli_text(ctx, "monitor-token"),
        .monitor_ready = on_monitor,
        .checkpoint = cli_text(ctx, "checkpoint"),
        .checkpoint_every = cli_text(ctx, "every"),
    };
    const ls_clock *clock = NULL;
    if (ls_engine_block_count(engine))
        clock = ls_region_clock(ls_block_region(ls_engine_block(engine, 0)));
    progress_begin(&s->progress, ctx->err, mode == PROGRESS_ALWAYS, clock, 0, host_clock_ns());
    run_signal_begin(ls_sim_control(s->sim));
    ls_status status = ls_sim_run(s->sim, &options, err);
    run_signal_end();
    fclose(dump);
    progress_clear(&s->progress);
    if (status == LS_ERR_DEADLOCK) /* the engine is gone when it is printed */
        ctx->report = arena_strdup(ctx->arena, ls_sim_report(s->sim));
    if (!s->is_resumed && cli_given(ctx, "seed") && !ls_engine_draws(engine))
        (void)ls_engine_warn(engine, "flag",
                             "--seed has no effect: nothing in this machine draws random numbers");
    return status;
}

/* ---------------------------------------------------------------------------------------------- results */

static ls_status print_results(const session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    const ls_sim_print_options options = {
        LS_SIM_PRINT_OPTIONS,
        .format = format_name(ctx),
        .per_block = cli_flag(ctx, "per-block"),
        .untouched = cli_flag(ctx, "untouched"),
        .all = cli_flag(ctx, "all"),
        .color = ctx->color_out,
        .run_id = cli_text(ctx, "run-id"),
        .command = cli_command_line(ctx),
    };
    return ls_sim_print_as(s->sim, &options, ctx->out, err);
}

/* Writes every file, also after one has failed, so that no result is lost. Returns the first failure. */
static ls_status write_files(const session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    const ls_sim_export_options options = { LS_SIM_EXPORT_OPTIONS, .run_id = cli_text(ctx, "run-id"),
                                            .command = cli_command_line(ctx),
                                            .per_block = cli_flag(ctx, "per-block") };
    ls_status first = LS_OK;
    for (size_t i = 0; i < cli_count(ctx, "out"); i++) {
        ls_error later = { 0 };
        ls_error *own = first == LS_OK ? err : &later;
        ls_status status = ls_sim_export(s->sim, cli_text_at(ctx, "out", i), &options, own);
        first = first == LS_OK ? status : first;
    }
    if (cli_text(ctx, "html")) {
        const ls_sim_page_options page = { LS_SIM_PAGE_OPTIONS, .command = options.command };
        ls_error later = { 0 };
        ls_status status =
            ls_sim_write_page(s->sim, cli_text(ctx, "html"), &page, first == LS_OK ? err : &later);
        first = first == LS_OK ? status : first;
    }
    return first;
}

static ls_status report(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    size_t warning_count;
    const ls_warning *warnings;
    /* The summary is printed even if a file cannot be written: it may be all that is left of the run. */
    ls_status written = write_files(s, err);
    if (own_text(s, "timeline")) {
        ls_error later = { 0 };
        ls_status drawn = ls_sim_write_timeline(s->sim, written == LS_OK ? err : &later);
        written = written == LS_OK ? drawn : written;
    }
    warnings = ls_sim_warnings(s->sim, &warning_count);
    ls_error printing;
    /* In every form of results they are a list; here they are lines that cannot be missed. */
    for (size_t i = 0; i < warning_count; i++)
        if (strcmp(warnings[i].kind, "sample") != 0 &&     /* a result */
            strcmp(warnings[i].kind, "assumption") != 0 && /* of the platform, the same in every run */
            strcmp(warnings[i].kind, "memory-check") != 0) /* a result */
            log_warn("%s", warnings[i].text);
    ls_status status = print_results(s, written == LS_OK ? err : &printing);
    if (status == LS_OK && cli_flag(ctx, "scaling")) {
        FILE *to = is_text(ctx) ? ctx->out : ctx->err;
        fputc('\n', to);
        status = ls_sim_print_scaling(s->sim, to, written == LS_OK ? err : &printing);
    }
    return written == LS_OK ? status : written;
}

static ls_status simulate_and_report(session *s, ls_error *err)
{
    unsigned threads = (unsigned)cli_uint(s->ctx, "threads");
    log_info("platform %s, machine %s, %u blocks, %u thread%s", ls_sim_platform(s->sim),
             ls_sim_machine(s->sim), ls_engine_block_count(ls_sim_engine(s->sim)), threads,
             threads == 1 ? "" : "s");
    ls_status status = simulate(s, err);
    ls_sim_result result = ls_sim_get_result(s->sim);
    /* A wrong result is a result too; the error stays. */
    if (status == LS_OK && run_mpi_writes(&s->mpi))
        status = report(s, err);
    else if (status == LS_ERR_CHECK && result.wrong)
        (void)report(s, &(ls_error){ 0 });
    else if (status == LS_ERR_DEADLOCK && own_text(s, "timeline"))
        (void)ls_sim_write_timeline(s->sim, &(ls_error){ 0 }); /* it shows where everything stopped */
    if (status == LS_OK && result.stopped) {
        char when[32];
        status =
            ls_fail(err, LS_ERR_INTERRUPTED, "interrupted after %s of simulated time: the results are partial",
                    format_time(result.end_time, when, sizeof when));
    }
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    session s = { .ctx = ctx };
    const char *const *outputs = cli_texts(ctx, "out");
    if (!outputs)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    ls_status status = run_mpi_begin(&s.mpi, ctx, false, err);
    if (status == LS_OK && run_mpi_writes(&s.mpi))
        status = ls_sim_check_exports(outputs, cli_count(ctx, "out"), cli_text(ctx, "run-id"), err);
    if (status == LS_OK && cli_text(ctx, "html") && cli_text(ctx, "timeline") &&
        strcmp(cli_text(ctx, "html"), cli_text(ctx, "timeline")) == 0)
        status = ls_fail(err, LS_ERR_USAGE,
                         "--html and --timeline would both write '%s': the report has the timeline inside",
                         cli_text(ctx, "html"));
    if (status == LS_OK)
        status = open_sim(&s, err);
    status = run_mpi_divide(&s.mpi, s.sim, status, err);
    if (status == LS_OK && cli_flag(ctx, "dry-run") && run_mpi_writes(&s.mpi))
        print_plan(&s);
    else if (status == LS_OK && !cli_flag(ctx, "dry-run"))
        status = simulate_and_report(&s, err);
    run_mpi_end(&s.mpi, s.sim, ctx);
    ls_sim_close(s.sim);
    return status;
}

/* Loads the checkpoint, and forks for every command that a sweep sends. */
static ls_status serve(const cli_context *ctx, ls_error *err)
{
    static char bytes[FORK_SERVER_BYTES];
    static const char *words[FORK_SERVER_BYTES / 2];
    checkpoint_reader *reader = NULL;
    int error_fd;
    ls_status status = checkpoint_open(ctx->positionals[0], &reader, err);
    if (status == LS_OK)
        status = checkpoint_keep(reader, err);
    if (status != LS_OK)
        return status;
    while (fork_server_hear(0, bytes, sizeof bytes, words, LS_COUNT_OF(words), &error_fd)) {
        pid_t pid = fork_server_answer(0, error_fd);
        if (pid < 0)
            break;
        if (pid > 0)
            continue;
        int count = 0;
        while (words[count] != NULL)
            count++;
        int code = cli_main(cli_root(), count, words, stdout, stderr);
        fflush(NULL);
        _exit(code);
    }
    return LS_OK; /* the memory is the process's */
}

static ls_status resume(cli_context *ctx, ls_error *err)
{
    if (cli_flag(ctx, "serve"))
        return serve(ctx, err);
    session s = { .ctx = ctx, .is_resumed = true };
    const char *const *outputs = cli_texts(ctx, "out"), *const *sets = cli_texts(ctx, "set");
    if (!outputs || !sets)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    const ls_sim_resume_options options = { LS_SIM_RESUME_OPTIONS, .file = ctx->positionals[0], .sets = sets,
                                            .set_count = cli_count(ctx, "set") };
    ls_status status = run_mpi_begin(&s.mpi, ctx, true, err);
    if (status == LS_OK && run_mpi_writes(&s.mpi))
        status = ls_sim_check_exports(outputs, cli_count(ctx, "out"), cli_text(ctx, "run-id"), err);
    if (status == LS_OK)
        status = check_stats(ctx, err);
    if (status == LS_OK)
        status = ls_sim_resume(&options, &s.sim, err);
    if (status == LS_OK)
        status = ls_sim_check_format(s.sim, format_name(ctx), err);
    status = run_mpi_divide(&s.mpi, s.sim, status, err);
    if (status == LS_OK)
        status = simulate_and_report(&s, err);
    run_mpi_end(&s.mpi, s.sim, ctx);
    ls_sim_close(s.sim);
    return status;
}

/* --------------------------------------------------------------------------------------------- command */

/* clang-format off */
/* Options of both commands. */
#define THREADS_OPTION \
    { .name = "threads", .letter = 'j', .type = CLI_UINT, .arg = "N", .min = 1, .max = 1024, .default_text = "1", \
      .help = "host threads; no result depends on it" }
#define HOW_OPTIONS \
    { .name = "window", .type = CLI_TIME, .arg = "TIME", \
      .help = "let domains run alone for at most so long (at most the lookahead); no result depends on it" }, \
    { .name = "assignment", .type = CLI_CHOICE, .arg = "HOW", .choices = assignments, .default_text = "static", \
      .help = "of domains to threads; no result depends on it" }
#define OUT_OPTION \
    { .name = "out", .letter = 'o', .type = CLI_TEXT, .arg = "FILE", .repeatable = true, \
      .complete = CLI_COMPLETE_FILE, \
      .help = "write the results to a file, in the format of its extension (.json, .csv, .csv.gz, .csv.zst, .tidy.csv, " \
              ".db, .txt), and the resolved configuration beside it" }
#define FORMAT_OPTIONS \
    { .name = "run-id", .type = CLI_TEXT, .arg = "NAME", \
      .help = "names this run among those of a database; default: the time and the process" }, \
    { .name = "format", .letter = 'f', .type = CLI_CHOICE, .arg = "FORMAT", .choices = formats, \
      .default_text = "text", \
      .help = "of the results on standard output; csv: a row per kernel, tidy: CSV with a row per number" }, \
    { .name = "all", .help = "print every table and counter, not only the summary" }, \
    { .name = "per-block", .help = "show each block in the text, not only each type of block; in other forms of results also each block in " \
              "each kernel" }, \
    { .name = "untouched", .help = "list the metrics that nothing counted" }
#define MONITOR_OPTIONS \
    { .name = "monitor", .type = CLI_TEXT, .arg = "PORT", \
      .help = "show the run while it goes on, as a page on this port of 127.0.0.1 (0: any that is free)" }, \
    { .name = "monitor-token", .type = CLI_TEXT, .arg = "TOKEN", \
      .help = "with --monitor: the page may pause, step, continue and stop the run with this token (auto: a random one)" }, \
    { .name = "html", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE, \
      .help = "write a report, one HTML page with charts, as lockstep report does; it collects metrics over time every " \
              "500ns unless --series-every says otherwise; with --timeline it draws the same spans" }
#define STATS_OPTION \
    { .name = "stats", .type = CLI_CHOICE, .arg = "NAMES", .choices = stats_names, .default_text = "lockstep", \
      .help = "print kernels under the names of another tool instead of the summary: accelsim; ncu, as ncu --csv; rocprof, " \
              "as its CSV" }
#define SCALING_OPTION { .name = "scaling", .help = "measure what more threads would bring on other hosts" }
#define PROGRESS_OPTION \
    { .name = "progress", .type = CLI_CHOICE, .arg = "WHEN", .choices = progress_modes, .default_text = "auto", \
      .help = "show how far the run is on standard error" }
#define CHECKPOINT_OPTIONS(help_) \
    { .name = "checkpoint", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE, .help = help_ }, \
    { .name = "every", .type = CLI_TEXT, .arg = "INTERVAL", \
      .help = "with --checkpoint: 60s of host time, 10kernels that have ended, or at=20us: once, at this simulated time" }

static const cli_option options[] = {
    { .name = "platform", .letter = 'p', .type = CLI_TEXT, .arg = "PLATFORM", .complete = CLI_COMPLETE_PLATFORM,
      .help = "the platform to simulate: a name of the search path, or a file" },
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,
      .complete = CLI_COMPLETE_KEY, .help = "override a key of the platform; the last one of a key counts" },
    FIDELITY_OPTION,
    GPUS_OPTION,
    ON_OPTION,
    DEVICES_OPTIONS,
    { .name = "kernels", .letter = 'k', .type = CLI_TEXT, .arg = "LIST",
      .help = "run only these kernels of the trace, as in 3-7,12,name:*gemm*" },
    { .name = "ctas", .type = CLI_UINT, .arg = "N", .default_text = "0",
      .help = "run only the first N thread blocks of each kernel; 0: all" },
    { .name = "profile", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "with core.memory analytic: hit rates that lockstep profile has written; auto: from its cache, if they "
              "are there; without this they come from a sample of each kernel" },
    { .name = "sample", .type = CLI_TEXT, .arg = "HOW",
      .help = "simulate some kernels and estimate the whole, with its interval: sieve; error=2%, as many as that needs; "
              "blocks, and leave out the rest of a kernel in a steady state (docs/scale.md)" },
    { .name = "warm-l2", .help = "memory copies of the trace make their range valid in L2" },
    { .name = "unknown-opcodes", .type = CLI_CHOICE, .arg = "HOW", .choices = workload_unknown_modes, .default_text = "fail",
      .help = "treatment of opcodes that are not in the tables" },
    CLI_UNMODELLED_OPTION,
    STATS_OPTION,
    WORKLOAD_OPTIONS("workload: compare the result with the CPU; exit code 5 if it is wrong"),
    { .name = "strict",
      .help = "workload, code object: emulate it first, and stop at a byte outside of all buffers, a value that "
              "nothing wrote, a race between waves, missing wait states" },
    { .name = "check-memory",
      .help = "workload, code object: compare every read with the last write that happened before it; exit code 5 if "
              "one is wrong, races are warnings" },
    { .name = "record", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "workload: write what every wavefront executes, without data, as a packed recording" },
    EMULATE_OBJECT_OPTIONS(0, 'a'),
    EMULATE_OBJECT_OUTPUTS,
    THREADS_OPTION,
    { .name = "seed", .type = CLI_UINT, .arg = "N", .default_text = "1",
      .help = "of every random stream of the machine" },
    { .name = "until", .type = CLI_TIME, .arg = "TIME", .help = "stop at this simulated time, as in 20us or 1.5ms" },
    HOW_OPTIONS,
    { .name = "watchdog", .type = CLI_TIME, .arg = "TIME", .default_text = "100ms",
      .help = "no progress for so long with work pending is a deadlock; 0s: only when everything rests" },
    OUT_OPTION,
    TIMELINE_OPTIONS,
    FORMAT_OPTIONS,
    { .name = "series-every", .type = CLI_TEXT, .arg = "INTERVAL",
      .help = "collect metrics over time, in intervals of 500ns or 1000cycles; -o writes them: JSON and SQLite inside, "
              "others as FILE.series.csv" },
    { .name = "series", .type = CLI_TEXT, .arg = "METRIC", .repeatable = true,
      .help = "with --series-every: these metrics, as in dram/*.reads or *hit_rate; otherwise stalls, instructions, "
              "caches, DRAM and fabric links" },
    { .name = "source",
      .help = "count executions, stalls, memory requests and bank conflicts of every instruction; -o writes them: JSON and "
              "SQLite inside, others as FILE.source.csv; --html and --all show them" },
    MONITOR_OPTIONS,
    CHECKPOINT_OPTIONS("write all that is needed to go on after a failure to this file, again and again; lockstep resume goes on from "
                       "there"),
    SCALING_OPTION,
    RUN_MPI_OPTIONS,
    PROGRESS_OPTION,
    { .name = "dry-run", .letter = 'n', .help = "check and build everything, but simulate and write nothing" },
};

static const cli_positional positionals[] = {
    { .name = "WORKLOAD", .optional = true, .complete = CLI_COMPLETE_FILE,
      .help = "a trace: a directory with kernelslist.g, a list, a kernel file, a packed trace, or "
              "synth:KIND,name=value; or the name of a workload (lockstep workload list) or the file of a code object, "
              "which is executed; or the recording of one" },
};

static const cli_example examples[] = {
    { "lockstep run fir --platform r9nano --size 16384 --verify --source --html fir.html",
      "execute a workload on an AMD GPU, check its result, and write a report with counts of every instruction" },
    { "lockstep run vector_add.co -p r9nano --grid 64 -a buffer:256 -a buffer:256 -a buffer:256 -a u32:64",
      "launch any kernel in simulated time" },
    { "lockstep run traces/bfs -p rtx3070 -s core.scheduler=gto -s l2.ways=32 --threads 8 -o result.json",
      "replay a trace with two keys changed on 8 threads, and keep everything that was counted" },
    { "lockstep --plugin ./my-blocks.so run -p examples/queueing/busy.yaml --dry-run",
      "check a platform with blocks of your own" },
};
/* clang-format on */

static const cli_command run_command = {
    .name = "run",
    .summary = "simulate a workload on a platform",
    .about =
        "Builds the machine that the platform file describes, replays the trace on it kernel by kernel, or executes the "
        "workload's kernels on it (a machine that makes its own work needs neither), and prints one screen: its time, its limits in words and numbers, and its costliest kernels. --all prints everything that blocks counted. The same platform, overrides and seed give the same bits for any number of "
        "threads, any window and any assignment.\n\n"
        "A recording (--record here or in `lockstep emulate`) is run in place of the program, without data: on the "
        "platform that made it in the same cycles, or on any other AMD GPU.\n\n"
        "SIGINT (Ctrl-C), SIGTERM or SIGHUP ends the run at the next window: the results so far are printed and written, marked "
        "as partial, and the exit code is 130. A second one ends the process at once. SIGUSR1 writes to "
        "standard error what every domain is doing and who waits for whom, and the run goes on.\n\n"
        "A machine that comes to rest with work pending is a deadlock: the exit code is 4, standard error "
        "says who waits for whom, and no result is written.",
    .order = 10,
    CLI_OPTIONS(options),
    CLI_EXAMPLES(examples),
    CLI_POSITIONALS(positionals),
    .run = run,
};
CLI_REGISTER(run_command);

/* clang-format off */
static const cli_option resume_options[] = {
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,
      .complete = CLI_COMPLETE_KEY, .help = "from here on a key of the platform has another value; refused if the saved state depends on it" },
    THREADS_OPTION,
    HOW_OPTIONS,
    STATS_OPTION,
    OUT_OPTION,
    FORMAT_OPTIONS,
    MONITOR_OPTIONS,
    SCALING_OPTION,
    RUN_MPI_OPTIONS,
    { .name = "serve", .help = "run nothing: load the checkpoint, and fork for each command that comes over standard input; for sweep --warm" },
    CHECKPOINT_OPTIONS("write further checkpoints to this file; default: where the first run wrote them, in its intervals"),
    PROGRESS_OPTION,
};

static const cli_positional resume_positionals[] = {
    { .name = "FILE", .complete = CLI_COMPLETE_FILE, .help = "a checkpoint of lockstep run --checkpoint" },
};

static const cli_example resume_examples[] = {
    { "lockstep run traces/bfs -p rtx3070 --checkpoint bfs.ckpt --every 60s -o result.json",
      "write a checkpoint once a minute" },
    { "lockstep resume bfs.ckpt -j 4 -o resumed.json", "go on after a failure, on 4 threads" },
    { "lockstep resume bfs.ckpt -s dram.rcd_cycles=30", "go on from a warm machine with slower rows" },
};
/* clang-format on */

static const cli_command resume_command = {
    .name = "resume",
    .summary = "go on with a simulation from a checkpoint",
    .about =
        "Builds the machine of the run that wrote the checkpoint, brings it to the saved state, and goes on. The results are those of "
        "a run without interruption, bit by bit, for any number of threads on either side. The platform and the workload must be "
        "those of the first run: their contents are compared. Outputs are given here again: a checkpoint does not name "
        "files of results.\n\n"
        "With --set the machine goes on with other parameters, from warm caches. Keys that change the size or the structure of "
        "saved state are refused by name.",
    .order = 11,
    CLI_OPTIONS(resume_options),
    CLI_EXAMPLES(resume_examples),
    CLI_POSITIONALS(resume_positionals),
    .run = resume,
};
CLI_REGISTER(resume_command);

/* cmd_run.c: `lockstep run`: a platform becomes a machine, the machine runs a workload, its counters become
 * results. */
#include "base/file.h"
#include "base/log.h"
#include "base/pool.h"
#include "cli/cli.h"
#include "cli/fidelity.h"
#include "cli/run_accelsim.h"
#include "cli/run_output.h"
#include "cli/run_program.h"
#include "cli/run_signal.h"
#include "cli/run_trace.h"
#include "cli/workload_args.h"
#include "model/amd/amd_gpu.h"
#include "model/gpu/gpu.h"
#include "platform/machine.h"
#include "platform/needs.h"
#include "report/progress.h"
#include "report/scaling_text.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* By the order of ls_assignment and of the first formats of ls_export_format. */
static const char *const assignments[] = { "static", "fixed", "dynamic", "shuffled", NULL };
static const char *const formats[] = { "text", "json", "csv", NULL };
static const char *const unknown_modes[] = { "fail", "alu", NULL };
static const char *const stats_names[] = { "lockstep", "accelsim", NULL };
static const char *const progress_modes[] = { "auto", "always", "never", NULL };
enum { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* Everything one run owns; all zero is nothing. */
typedef struct session {
    cli_context *ctx;
    ls_config *config;
    ls_machine *machine;
    ls_engine *engine; /* of the machine */
    ls_metrics *metrics;
    run_kind kind;
    bool has_trace, has_program;
    run_trace trace;
    run_program program; /* its system owns config and machine then */
    ls_run_control control;
    ls_progress progress;
    ls_time until;
    ls_run_result result;
    double wall_seconds;
} session;

/* -------------------------------------------------------------------------------------------- building */

static ls_status build_program(session *s, ls_error *err)
{
    ls_status status = run_program_open(&s->program, s->ctx, s->kind, s->ctx->positionals[0], err);
    if (status == LS_OK)
        status = ls_metrics_create(&s->metrics, err);
    if (status != LS_OK)
        return status;
    s->engine = run_program_engine(&s->program);
    run_program_set_metrics(&s->program, s->metrics);
    bool is_text = cli_choice(s->ctx, "format") == LS_EXPORT_TEXT;
    s->program.output = is_text ? EMULATE_OBJECT_BUFFERS : EMULATE_OBJECT_QUIET; /* not into somebody's JSON */
    return ls_metrics_add_engine(s->metrics, s->engine, err);
}

static const ls_config *config_of(const session *s)
{
    return s->has_program ? run_program_config(&s->program) : s->config;
}

static bool is_trace(const char *path)
{
    return strncmp(path, "synth:", 6) == 0 || ls_file_exists(path);
}

/* Accel-Sim's names are lines of text and a form of their own. */
static ls_status check_stats(const cli_context *ctx, ls_error *err)
{
    static const char *const others[] = { "format", "per-block", "untouched" };
    for (size_t i = 0; cli_choice(ctx, "stats") == 1 && i < LS_COUNT_OF(others); i++)
        if (cli_given(ctx, others[i]))
            return ls_fail(
                err, LS_ERR_USAGE,
                "run: --stats accelsim prints its own form of results, so --%s has no effect: leave one "
                "of them out (--out FILE writes other forms beside it)",
                others[i]);
    return LS_OK;
}

static ls_status build(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    const char *platform = cli_text(ctx, "platform");
    ls_config_request request;
    if (!platform)
        return ls_fail(err, LS_ERR_USAGE,
                       "run: a platform is missing: --platform NAME or --platform FILE.yaml");
    const char *workload = ctx->positional_count > 0 ? ctx->positionals[0] : NULL;
    s->kind = run_kind_of(workload);
    s->has_program = s->kind == RUN_WORKLOAD || s->kind == RUN_OBJECT || s->kind == RUN_RECORDING;
    ls_status status = run_kind_check(ctx, workload, s->kind, err);
    if (status == LS_OK)
        status = check_stats(ctx, err);
    if (status == LS_OK && s->has_program)
        return build_program(s, err);
    if (status == LS_OK)
        status = cli_platform_request(ctx, platform, &request, err);
    if (status == LS_OK)
        status = ls_config_load(&request, &s->config, NULL, err);
    if (status == LS_OK)
        status = ls_machine_create(s->config, cli_uint(ctx, "seed"), &s->machine, err);
    if (status != LS_OK)
        return status;
    s->engine = ls_machine_engine(s->machine);
    status = ls_metrics_create(&s->metrics, err);
    if (status == LS_OK)
        status = ls_metrics_add_engine(s->metrics, s->engine, err);
    bool is_amd = strcmp(ls_config_machine(s->config)->name, AMD_GPU_MACHINE) == 0;
    if (status == LS_OK && ctx->positional_count > 0 && is_amd && is_trace(ctx->positionals[0]))
        return ls_fail(
            err, LS_ERR_USAGE,
            "run: '%s' is no workload and no recording of one: platform '%s' is an AMD GPU, which runs no "
            "traces of NVIDIA GPUs",
            ctx->positionals[0], ls_config_name(s->config));
    if (status == LS_OK && ctx->positional_count > 0 && is_amd && !ls_file_exists(workload)) {
        const wl_workload *none;
        const char *target;
        /* Either fails, and names the nearest one. */
        return strpbrk(workload, "/.") ? emulate_object_target(ctx->arena, workload, &target, err)
                                       : wl_find(workload, &none, err);
    }
    if (status == LS_OK && ctx->positional_count > 0) {
        s->has_trace = true;
        if (cli_choice(ctx, "stats") == 1)
            status = run_accelsim_check(s->engine, err);
        if (status == LS_OK)
            status = run_trace_open(&s->trace, ctx, ctx->positionals[0], s->engine, s->metrics, err);
    } else if (status == LS_OK && gpu_at(s->engine, 0)) {
        status = ls_fail(err, LS_ERR_USAGE,
                         "run: a trace is missing: platform '%s' is a GPU and makes no work of its own",
                         ls_config_name(s->config));
    }
    return status;
}

static void dispose(session *s)
{
    run_trace_close(&s->trace);
    ls_metrics_destroy(s->metrics);
    run_program_close(&s->program);
    ls_machine_destroy(s->machine);
    ls_config_destroy(s->config);
}

static void print_plan(const session *s)
{
    FILE *out = s->ctx->out;
    char hash[LS_HASH_TEXT_BYTES], time[32];
    const ls_link *limiting = NULL;
    ls_time lookahead = ls_engine_lookahead(s->engine, &limiting);
    fprintf(out, "platform   %s (%s)\n", ls_config_name(config_of(s)), ls_config_path(config_of(s)));
    fprintf(out, "machine    %s\n", ls_config_machine(config_of(s))->name);
    fprintf(out, "config     %s\n", ls_hash_text(ls_config_hash(config_of(s)), hash));
    fprintf(out, "blocks     %u\n", ls_engine_block_count(s->engine));
    if (limiting)
        fprintf(out, "lookahead  %s, by link %s\n", ls_format_time(lookahead, time, sizeof time),
                ls_link_name(limiting));
    else
        fprintf(out, "lookahead  none: the machine has no links\n");
    fprintf(out, "seed       %llu\n", (unsigned long long)cli_uint(s->ctx, "seed"));
    fprintf(out, "threads    %llu\n", (unsigned long long)cli_uint(s->ctx, "threads"));
    for (size_t i = 0; i < cli_count(s->ctx, "out"); i++)
        fprintf(out, "out        %s\n", cli_text_at(s->ctx, "out", i));
    fprintf(out, "dry run: nothing was simulated and nothing was written\n");
}

/* ------------------------------------------------------------------------------------------- simulating */

static void on_progress(void *self, const ls_run_progress *now)
{
    session *s = self;
    const ls_progress_state state = {
        .now = now->now,
        .events = now->events,
        .fraction = s->until ? (double)now->now / (double)s->until : -1,
    };
    ls_progress_update(&s->progress, &state, ls_host_ns());
}

/* A stream in front of standard error that wipes the progress line before anything else is written. */
static ssize_t write_past_progress(void *self, const char *data, size_t bytes)
{
    session *s = self;
    ls_progress_clear(&s->progress);
    fwrite(data, 1, bytes, s->ctx->err);
    fflush(s->ctx->err);
    return (ssize_t)bytes;
}

static ls_status simulate(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    size_t mode = cli_choice(ctx, "progress");
    FILE *dump = fopencookie(s, "w", (cookie_io_functions_t){ .write = write_past_progress });
    if (!dump)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    s->until = cli_time(ctx, "until");
    const ls_run_options options = {
        .threads = (uint32_t)cli_uint(ctx, "threads"),
        .until = s->until,
        .window_fs = cli_time(ctx, "window"),
        .assignment = (ls_assignment)cli_choice(ctx, "assignment"),
        .shuffle_seed = cli_uint(ctx, "seed"),
        .watchdog_fs = cli_time(ctx, "watchdog"),
        .scaling = cli_flag(ctx, "scaling"),
        .control = &s->control,
        .dump_to = dump,
        .progress = mode == PROGRESS_NEVER ? NULL : on_progress,
        .progress_self = s,
    };
    const ls_clock *clock = NULL;
    if (ls_engine_block_count(s->engine))
        clock = ls_region_clock(ls_block_region(ls_engine_block(s->engine, 0)));
    uint64_t start_ns = ls_host_ns();
    ls_progress_begin(&s->progress, ctx->err, mode == PROGRESS_ALWAYS, clock, 0, start_ns);
    run_signal_begin(&s->control);
    ls_status status = s->has_program ? run_program_run(&s->program, &options, &s->result, err)
                       : s->has_trace ? run_trace_run(&s->trace, &options, &s->result, err)
                                      : ls_run(s->engine, &options, &s->result, err);
    run_signal_end();
    s->wall_seconds = (double)(ls_host_ns() - start_ns) * 1e-9;
    fclose(dump);
    ls_progress_clear(&s->progress);
    if (status == LS_ERR_DEADLOCK) /* the engine is gone when it is printed */
        ctx->report = ls_arena_strdup(ctx->arena, ls_engine_report(s->engine));
    return status;
}

/* ---------------------------------------------------------------------------------------------- results */

/* Tells runs of one database apart; host data, so it may differ from run to run. */
static const char *run_id(const cli_context *ctx)
{
    if (cli_text(ctx, "run-id"))
        return cli_text(ctx, "run-id");
    time_t now = time(NULL);
    struct tm utc;
    char stamp[32] = "";
    if (gmtime_r(&now, &utc))
        strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    return ls_arena_printf(ctx->arena, "%s-%ld", stamp, (long)getpid());
}

/* With where hit rates come from, which is no key but changes results as keys do. */
static const char *config_text(const session *s)
{
    const char *yaml = ls_config_yaml(config_of(s));
    const char *text = s->trace.rates == NULL
                           ? NULL
                           : ls_arena_printf(s->ctx->arena, "# hit rates: %s\n%s", s->trace.rates, yaml);
    return text != NULL ? text : yaml;
}

/* What was known when the machine was built, and what the run has counted. */
static const ls_warning *gather_warnings(const session *s, size_t *count)
{
    if (s->has_trace)
        run_trace_warn(&s->trace, s->engine);
    uint64_t unknown = s->has_trace ? run_trace_unknown(&s->trace) : 0;
    if (unknown > 0) /* a host without memory for a warning has none for results either */
        (void)ls_engine_warn(s->engine, "unmodelled",
                             "%llu instructions have opcodes of no table and ran as integer ones",
                             (unsigned long long)unknown);
    if (cli_given(s->ctx, "seed") && !ls_engine_draws(s->engine))
        (void)ls_engine_warn(s->engine, "flag",
                             "--seed has no effect: nothing in this machine draws random numbers");
    return ls_engine_warnings(s->engine, count);
}

static ls_status report(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    char hash[LS_HASH_TEXT_BYTES], limit[LS_FORMAT_BYTES], limit_reason[80] = "";
    size_t warning_count;
    const ls_warning *warnings = gather_warnings(s, &warning_count);
    bool is_wrong = s->has_program && s->program.result.is_wrong; /* a sweep must not take it for done */
    if (s->result.limited)
        snprintf(limit_reason, sizeof limit_reason, "stopped by --until at %s with work left",
                 ls_format_time(s->until, limit, sizeof limit));
    const ls_results results = {
        .platform = ls_config_name(config_of(s)),
        .config_text = config_text(s),
        .hit_rates = s->trace.rates,
        .config_hash = ls_hash_text(ls_config_hash(config_of(s)), hash),
        .partial = s->result.partial || s->result.limited || is_wrong,
        .partial_reason = s->result.partial ? "interrupted by a signal"
                          : is_wrong        ? "the result is wrong"
                                            : limit_reason,
        .warnings = warnings,
        .warning_count = warning_count,
        .end_time = s->result.end_time,
        .seed = cli_uint(ctx, "seed"),
        .events = s->result.events,
        .messages = s->result.messages,
        .ticks = s->result.ticks,
        .has_cycles = s->has_trace || s->has_program,
        .cycles = s->has_trace     ? run_trace_count(&s->trace, LS_METRICS_RUN).cycles
                  : s->has_program ? run_program_cycles(&s->program)
                                   : 0,
        .region_cycles = s->result.region_cycles,
        .metrics = s->metrics,
        .host = {
            .run_id = run_id(ctx),
            .command = cli_command_line(ctx),
            .wall_seconds = s->wall_seconds,
            .threads = (uint32_t)cli_uint(ctx, "threads"),
            .windows = s->result.windows,
        },
    };
    const ls_export_options options = {
        .per_block = cli_flag(ctx, "per-block"),
        .untouched = cli_flag(ctx, "untouched"),
        .color = ctx->color_out,
    };
    ls_export_format format = (ls_export_format)cli_choice(ctx, "format");
    /* The summary is printed even if a file cannot be written: it may be all that is left of the run. */
    const char *const *outputs = cli_texts(ctx, "out");
    if (!outputs)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    ls_status written = run_output_write_all(&results, outputs, cli_count(ctx, "out"), err);
    ls_status status = LS_OK;
    ls_error printing;
    /* In every form of results they are a list; here they are lines that cannot be missed. */
    for (size_t i = 0; i < warning_count; i++)
        if (strcmp(warnings[i].kind, "assumption") != 0) /* of the platform, the same in every run */
            ls_log_warn("%s", warnings[i].text);
    bool accelsim = s->has_trace && cli_choice(ctx, "stats") == 1;
    if (status == LS_OK && accelsim)
        status = run_accelsim_print(&s->trace, results.partial, s->wall_seconds, ctx->out, err);
    else if (status == LS_OK && s->has_trace && format == LS_EXPORT_TEXT)
        run_trace_table(&s->trace, ctx->out);
    else if (status == LS_OK && s->has_program && format == LS_EXPORT_TEXT)
        run_program_table(&s->program, ctx->out);
    if (status == LS_OK && !accelsim)
        status = ls_export_stream(&results, format, &options, ctx->out, written == LS_OK ? err : &printing);
    ls_scaling scaling;
    if (status == LS_OK && cli_flag(ctx, "scaling") && ls_scaling_report(s->engine, &scaling)) {
        FILE *to = format == LS_EXPORT_TEXT ? ctx->out : ctx->err; /* not into somebody's JSON */
        fputc('\n', to);
        ls_scaling_text(&scaling, to);
        ls_scaling_groups_text(s->engine, to);
    }
    return written == LS_OK ? status : written;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    session s = { .ctx = ctx };
    const char *const *outputs = cli_texts(ctx, "out");
    if (!outputs)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    ls_status status = run_output_check(outputs, cli_count(ctx, "out"), cli_text(ctx, "run-id"), err);
    if (status == LS_OK)
        status = build(&s, err);
    if (status == LS_OK && cli_flag(ctx, "dry-run")) {
        print_plan(&s);
        ls_config_log_idle(config_of(&s));
    } else if (status == LS_OK) {
        ls_log_info("platform %s, machine %s, %u blocks, %u thread%s", ls_config_name(config_of(&s)),
                    ls_config_machine(config_of(&s))->name, ls_engine_block_count(s.engine),
                    (unsigned)cli_uint(ctx, "threads"), cli_uint(ctx, "threads") == 1 ? "" : "s");
        status = simulate(&s, err);
        bool is_wrong = status == LS_ERR_CHECK && s.has_program && s.program.result.is_wrong;
        /* A wrong result is a result too; the error stays. */
        if (status == LS_OK || status == LS_ERR_INTERRUPTED)
            status = report(&s, err);
        else if (is_wrong)
            (void)report(&s, &(ls_error){ 0 });
        if (status == LS_OK && s.result.partial) {
            char when[32];
            status = ls_fail(err, LS_ERR_INTERRUPTED,
                             "interrupted after %s of simulated time: the results are partial",
                             ls_format_time(s.result.end_time, when, sizeof when));
        }
    }
    dispose(&s);
    return status;
}

/* --------------------------------------------------------------------------------------------- command */

/* clang-format off */
static const cli_option options[] = {
    { .name = "platform", .letter = 'p', .type = CLI_TEXT, .arg = "PLATFORM", .complete = CLI_COMPLETE_PLATFORM,
      .help = "what to simulate: a name of the search path, or a file" },
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,
      .complete = CLI_COMPLETE_KEY, .help = "override a key of the platform; the last one of a key counts" },
    FIDELITY_OPTION,
    { .name = "kernels", .letter = 'k', .type = CLI_TEXT, .arg = "LIST",
      .help = "run only these kernels of the trace, as in 3-7,12,name:*gemm*" },
    { .name = "ctas", .type = CLI_UINT, .arg = "N", .default_text = "0",
      .help = "run only the first N thread blocks of each kernel; 0: all" },
    { .name = "profile", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "with core.memory analytic: hit rates that lockstep profile has written; auto: from its cache, if they "
              "are there; without this they come from a sample of each kernel" },
    { .name = "warm-l2", .help = "memory copies of the trace make their range valid in L2" },
    { .name = "unknown-opcodes", .type = CLI_CHOICE, .arg = "HOW", .choices = unknown_modes, .default_text = "fail",
      .help = "what to do with opcodes that are not in the tables" },
    CLI_UNMODELLED_OPTION,
    { .name = "stats", .type = CLI_CHOICE, .arg = "NAMES", .choices = stats_names, .default_text = "lockstep",
      .help = "accelsim: print kernel statistics under Accel-Sim's names instead of the summary" },
    WORKLOAD_OPTIONS("workload: compare the result with the CPU; exit code 5 if it is wrong"),
    { .name = "strict",
      .help = "workload, code object: emulate it first, and stop at a byte outside of all buffers, a value that "
              "nothing wrote, a race between waves" },
    { .name = "record", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "workload: write what every wavefront executes, without data, as a packed recording" },
    EMULATE_OBJECT_OPTIONS(0, 'a'),
    EMULATE_OBJECT_OUTPUTS,
    { .name = "threads", .letter = 'j', .type = CLI_UINT, .arg = "N", .min = 1, .max = 1024, .default_text = "1",
      .help = "host threads; no result depends on it" },
    { .name = "seed", .type = CLI_UINT, .arg = "N", .default_text = "1",
      .help = "of every random stream of the machine" },
    { .name = "until", .type = CLI_TIME, .arg = "TIME", .help = "stop at this simulated time, as in 20us or 1.5ms" },
    { .name = "window", .type = CLI_TIME, .arg = "TIME",
      .help = "let domains run alone for at most so long (at most the lookahead); no result depends on it" },
    { .name = "assignment", .type = CLI_CHOICE, .arg = "HOW", .choices = assignments, .default_text = "static",
      .help = "of domains to threads; no result depends on it" },
    { .name = "watchdog", .type = CLI_TIME, .arg = "TIME", .default_text = "100ms",
      .help = "no progress for so long with work pending is a deadlock; 0s: only when everything rests" },
    { .name = "out", .letter = 'o', .type = CLI_TEXT, .arg = "FILE", .repeatable = true,
      .complete = CLI_COMPLETE_FILE,
      .help = "write the results to a file, in the format of its extension, and the resolved configuration "
              "beside it" },
    { .name = "run-id", .type = CLI_TEXT, .arg = "NAME",
      .help = "names this run among those of a database; default: the time and the process" },
    { .name = "format", .letter = 'f', .type = CLI_CHOICE, .arg = "FORMAT", .choices = formats,
      .default_text = "text", .help = "of the results on standard output" },
    { .name = "per-block", .help = "show each block in the text, not only each kind of block" },
    { .name = "untouched", .help = "list the metrics that nothing counted" },
    { .name = "scaling", .help = "measure what more threads would bring on other hosts" },
    { .name = "progress", .type = CLI_CHOICE, .arg = "WHEN", .choices = progress_modes, .default_text = "auto",
      .help = "show how far the run is on standard error" },
    { .name = "dry-run", .letter = 'n', .help = "check and build everything, but simulate and write nothing" },
};

static const cli_positional positionals[] = {
    { .name = "WORKLOAD", .optional = true, .complete = CLI_COMPLETE_FILE,
      .help = "a trace: a directory with kernelslist.g, a list, a kernel file, a packed trace, or "
              "synth:KIND,name=value; or the name of a workload (lockstep workload list) or the file of a code object, "
              "which is executed; or the recording of one" },
};

static const cli_example examples[] = {
    { "lockstep run fir --platform r9nano --size 65536 --verify",
      "execute a workload on an AMD GPU in simulated time, and check its result" },
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
        "workload's kernels on it (a machine that makes its own work needs neither), and prints what its blocks counted. The same platform, overrides and seed give the same bits for any number of "
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

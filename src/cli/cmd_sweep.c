/* cmd_sweep.c: `lockstep sweep`: a grid of configurations, each a process of its own, into one database.
 * Finished points are kept: an interrupted sweep continues where it stopped. */
#include "base/file.h"
#include "base/log.h"
#include "base/pool.h"
#include "cli/platform_args.h"
#include "cli/run_signal.h"
#include "sim/sweep/farm.h"
#include "sim/sweep/sweep.h"
#include "cli/workload_args.h"
#include "platform/config.h"
#include "platform/needs.h"
#include "report/progress.h"
#include "sim/run_output.h"
#include "workload/identity.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options of `lockstep run` that every point shares, and that go there as they are. */
static const char *const passed_on[] = {
    "kernels", "ctas",       "unknown-opcodes",  "unmodelled", "seed", "fidelity", "gpu",    "size", "param",
    "variant", "memory-mib", "max-instructions", "kernel",     "grid", "group",    "offset", "arg"
};
static const char *const passed_flags[] = { "warm-l2", "verify" };
static const char *const unknown_modes[] = { "fail", "alu", NULL };
static const char *const progress_modes[] = { "auto", "always", "never", NULL };

typedef enum job_state { JOB_WAITS, JOB_RUNS, JOB_OVER } job_state;

typedef struct sweep_job {
    size_t point;
    job_state state;
} sweep_job;

/* Points that another sweep runs are looked at again after so long. */
#define OTHERS_NS UINT64_C(300000000)

typedef struct session {
    cli_context *ctx;
    sweep sweep;
    point_store *store;
    const char *database;
    sweep_job *jobs; /* points that were not done when the sweep began */
    size_t job_count, finished, failed;
    size_t by_others; /* of the finished ones */
    uint64_t ask_ns;  /* no job is there before this time */
    uint64_t beat_ns; /* when the claims last showed that they are alive */
    progress_line progress;
    ls_run_control control;
    LS_VEC(const char *) warned; /* texts about keys without effect */
} session;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the sweep");
}

/* ----------------------------------------------------------------------------------------------- the grid */

static ls_status read_grid(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    sweep *sw = &s->sweep;
    sw->grid = (sweep_grid){ .arena = ctx->arena, .points = 1 };
    sw->platform = cli_text(ctx, "platform");
    sw->traces = ctx->positionals;
    sw->trace_count = ctx->positional_count;
    if (!sw->platform)
        return ls_fail(err, LS_ERR_USAGE, "sweep: a platform is missing: --platform NAME or FILE.yaml");
    for (size_t i = 0; i < cli_count(ctx, "vary"); i++) {
        ls_status status = sweep_grid_add(&sw->grid, cli_text_at(ctx, "vary", i), err);
        if (status != LS_OK)
            return ls_error_at(err, "--vary", 0, 0);
    }
    if (sw->grid.axes.count == 0)
        return ls_fail(err, LS_ERR_USAGE, "sweep: nothing is varied: --vary KEY=VALUE,VALUE,...");
    for (size_t i = 0; i < sw->trace_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(sw->traces[i], sw->traces[k]) == 0)
                return ls_fail(err, LS_ERR_USAGE, "sweep: the workload %s is named twice", sw->traces[i]);
    for (size_t i = 0; i < sw->trace_count; i++) {
        ls_status status = workload_args_check(ctx, sw->traces[i], run_kind_of(sw->traces[i]), err);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

/* Fixed --set first, then the point's own. */
static const char *const *sets_of(const session *s, size_t point, size_t *count)
{
    const cli_context *ctx = s->ctx;
    size_t fixed = cli_count(ctx, "set"), varied = s->sweep.grid.axes.count;
    const char **sets = arena_array(ctx->arena, fixed + varied + 1, sizeof *sets);
    const char *const *own = sweep_grid_sets(&s->sweep.grid, point);
    if (!sets || !own)
        return NULL;
    for (size_t i = 0; i < fixed; i++)
        sets[i] = cli_text_at(ctx, "set", i);
    memcpy(sets + fixed, own, varied * sizeof *sets);
    *count = fixed + varied;
    return sets;
}

/* Of every key that does nothing at some point, whether it is varied or fixed. */
static void warn_once(session *s, const platform_config *config)
{
    char text[1024];
    for (size_t next = 0; config_next_idle(config, &next, text, sizeof text);) {
        bool known = false;
        for (size_t i = 0; i < s->warned.count && !known; i++)
            known = strcmp(s->warned.at[i], text) == 0;
        const char *kept = known ? NULL : arena_strdup(s->ctx->arena, text);
        if (kept && vec_push(&s->warned, kept))
            log_warn("%s", text);
    }
}

/* Checks the configuration of a grid point and gives its hash. */
static ls_status config_hash(session *s, size_t point, hash128 *out, ls_error *err)
{
    const cli_context *ctx = s->ctx;
    config_request request;
    ls_status status = cli_platform_request(ctx, s->sweep.platform, &request, err);
    const char *const *own = sweep_grid_sets(&s->sweep.grid, point);
    size_t varied = s->sweep.grid.axes.count;
    const char **sets = arena_array(ctx->arena, request.set_count + varied, sizeof *sets);
    if (status != LS_OK || !own || !sets)
        return status != LS_OK ? status : no_memory(err);
    memcpy(sets, request.sets, request.set_count * sizeof *sets);
    memcpy(sets + request.set_count, own, varied * sizeof *sets);
    request.sets = sets;
    request.set_count += varied;
    platform_config *config;
    status = config_load(&request, &config, NULL, err);
    if (status != LS_OK)
        return status;
    *out = config_hash_of(config);
    warn_once(s, config);
    s->sweep.assumptions = config_assumption_count(config);
    config_destroy(config);
    return LS_OK;
}

/* The content of a file that an option names. */
static ls_status add_file(hash_stream *hasher, const char *path, ls_error *err)
{
    hash128 content;
    ls_status status = trace_identity(path, &content, err);
    if (status == LS_OK)
        hasher_add(hasher, &content, sizeof content);
    return status;
}

/* Of everything that is not the workload or the configuration and may change a result. */
static ls_status options_hash(const session *s, hash_stream *hasher, ls_error *err)
{
    static const char from_file[] = "buffer:@";
    const cli_context *ctx = s->ctx;
    ls_status status = LS_OK;
    hasher_add_field(hasher, LS_VERSION_STRING, strlen(LS_VERSION_STRING));
    for (size_t i = 0; i < LS_COUNT_OF(passed_on); i++) {
        size_t count = cli_given(ctx, passed_on[i]) ? cli_count(ctx, passed_on[i]) : 0;
        hasher_add(hasher, &count, sizeof count);
        for (size_t k = 0; k < count; k++) {
            const char *text = cli_text_at(ctx, passed_on[i], k);
            hasher_add_field(hasher, text, strlen(text));
        }
    }
    for (size_t i = 0; i < LS_COUNT_OF(passed_flags); i++) {
        bool given = cli_flag(ctx, passed_flags[i]);
        hasher_add(hasher, &given, sizeof given);
    }
    for (size_t i = 0; i < cli_count(ctx, "arg") && status == LS_OK; i++)
        if (strncmp(cli_text_at(ctx, "arg", i), from_file, sizeof from_file - 1) == 0)
            status = add_file(hasher, cli_text_at(ctx, "arg", i) + sizeof from_file - 1, err);
    for (size_t i = 0; i < cli_count(ctx, "plugin") && status == LS_OK; i++)
        status = add_file(hasher, cli_text_at(ctx, "plugin", i), err);
    return status;
}

/* A workload is its name and its kernels, which the platform's instruction set chooses. Kernels of all targets
 * are taken: a change of any is a change of the build. */
static ls_status workload_identity(const cli_context *ctx, const char *name, hash128 *out, ls_error *err)
{
    const wl_workload *w;
    char path[4096];
    hash_stream *hasher = NULL;
    ls_status status = wl_find(name, &w, err);
    if (status == LS_OK)
        status = hasher_create(&hasher, err);
    if (status == LS_OK)
        hasher_add_field(hasher, name, strlen(name));
    for (size_t i = 0; workload_gpus[i] && status == LS_OK; i++) {
        const char *variant = cli_text(ctx, "variant") ? cli_text(ctx, "variant") : "";
        /* A missing kernel cannot be run. */
        if (wl_kernel_path(w->kernels ? w->kernels : w->name, workload_gpus[i], variant, path, sizeof path,
                           NULL) == LS_OK)
            status = add_file(hasher, path, err);
    }
    if (status == LS_OK)
        *out = hasher_get(hasher);
    hasher_destroy(hasher);
    return status;
}

static ls_status name_points(session *s, ls_error *err)
{
    sweep *sw = &s->sweep;
    mem_arena *arena = s->ctx->arena;
    size_t axes = sw->grid.axes.count;
    hash128 *configs = arena_array(arena, sw->grid.points, sizeof *configs);
    const char **keys = arena_array(arena, axes, sizeof *keys);
    sw->point_count = sw->grid.points * sw->trace_count;
    sw->points = arena_array(arena, sw->point_count, sizeof *sw->points);
    if (!configs || !keys || !sw->points)
        return no_memory(err);
    hash_stream *hasher = NULL;
    ls_status status = hasher_create(&hasher, err);
    for (size_t a = 0; status == LS_OK && a < axes; a++)
        keys[a] = sw->grid.axes.at[a].key;
    for (size_t p = 0; p < sw->grid.points && status == LS_OK; p++)
        status = config_hash(s, p, &configs[p], err);
    for (size_t t = 0; t < sw->trace_count && status == LS_OK; t++) {
        hash128 trace;
        status = run_kind_of(sw->traces[t]) == RUN_WORKLOAD
                     ? workload_identity(s->ctx, sw->traces[t], &trace, err)
                     : trace_identity(sw->traces[t], &trace, err);
        for (size_t p = 0; p < sw->grid.points && status == LS_OK; p++) {
            sweep_point *point = &sw->points[t * sw->grid.points + p];
            const char **values = arena_array(arena, axes, sizeof *values);
            if (!values) {
                status = no_memory(err);
                break;
            }
            for (size_t a = 0; a < axes; a++)
                values[a] = sweep_grid_value(&sw->grid, p, a);
            *point =
                (sweep_point){ .trace = sw->traces[t], .keys = keys, .values = values, .key_count = axes };
            hasher_reset(hasher);
            hasher_add(hasher, &trace, sizeof trace);
            hasher_add(hasher, &configs[p], sizeof configs[p]);
            status = options_hash(s, hasher, err);
            hash128_text(hasher_get(hasher), point->id);
        }
    }
    hasher_destroy(hasher);
    return status;
}

/* ------------------------------------------------------------------------------------------------ running */

static bool add_word(const char **words, size_t *count, const char *a, const char *b)
{
    words[(*count)++] = a;
    if (b)
        words[(*count)++] = b;
    return a != NULL;
}

static const char *const *job_argv(session *s, size_t index)
{
    cli_context *ctx = s->ctx;
    size_t set_count = 0;
    const sweep_point *point = &s->sweep.points[index];
    const char *const *sets = sets_of(s, index % s->sweep.grid.points, &set_count);
    size_t room = 40 + 2 * (set_count + cli_count(ctx, "plugin") + cli_count(ctx, "platform-dir"));
    for (size_t i = 0; i < LS_COUNT_OF(passed_on); i++)
        room += 2 * cli_count(ctx, passed_on[i]);
    const char **words = arena_array(ctx->arena, room, sizeof *words);
    if (!sets || !words)
        return NULL;
    size_t n = 0;
    add_word(words, &n, "/proc/self/exe", NULL);
    for (size_t i = 0; i < cli_count(ctx, "plugin"); i++)
        add_word(words, &n, "--plugin", cli_text_at(ctx, "plugin", i));
    for (size_t i = 0; i < cli_count(ctx, "platform-dir"); i++)
        add_word(words, &n, "--platform-dir", cli_text_at(ctx, "platform-dir", i));
    add_word(words, &n, "run", point->trace);
    add_word(words, &n, "--platform", s->sweep.platform);
    for (size_t i = 0; i < set_count; i++)
        add_word(words, &n, "--set", sets[i]);
    for (size_t i = 0; i < LS_COUNT_OF(passed_on); i++)
        for (size_t k = 0; k < cli_count(ctx, passed_on[i]); k++) {
            const char *option = arena_printf(ctx->arena, "--%s", passed_on[i]);
            if (!add_word(words, &n, option, cli_text_at(ctx, passed_on[i], k)))
                return NULL;
        }
    for (size_t i = 0; i < LS_COUNT_OF(passed_flags); i++)
        if (cli_flag(ctx, passed_flags[i]) &&
            !add_word(words, &n, arena_printf(ctx->arena, "--%s", passed_flags[i]), NULL))
            return NULL;
    add_word(words, &n, "--threads", cli_text(ctx, "threads"));
    add_word(words, &n, "--progress", "never");
    add_word(words, &n, "--run-id", point->id);
    add_word(words, &n, "--out", s->database);
    return words;
}

static void show_progress(session *s)
{
    const progress_state state = { .done = s->finished, .total = s->job_count, .unit = "points" };
    progress_update(&s->progress, &state, host_clock_ns());
}

/* The first point that no other sweep runs. Points that another sweep has finished meanwhile are skipped. */
static farm_next next_job(void *self, size_t *index, const char *const **argv, ls_error *err)
{
    session *s = self;
    bool others = false;
    if (host_clock_ns() < s->ask_ns)
        return FARM_LATER;
    for (size_t i = 0; i < s->job_count; i++) {
        sweep_job *job = &s->jobs[i];
        point_claim claim;
        if (job->state != JOB_WAITS)
            continue;
        if (points_claim(s->store, s->sweep.points[job->point].id, &claim, err) != LS_OK)
            return FARM_FAILED;
        others |= claim == LS_CLAIM_OTHER;
        if (claim == LS_CLAIM_DONE) {
            job->state = JOB_OVER;
            s->finished++;
            s->by_others++;
        }
        if (claim != LS_CLAIM_MINE)
            continue;
        job->state = JOB_RUNS;
        *index = i;
        *argv = job_argv(s, job->point);
        if (*argv)
            return FARM_JOB;
        no_memory(err);
        return FARM_FAILED;
    }
    s->ask_ns = host_clock_ns() + OTHERS_NS;
    return others ? FARM_LATER : FARM_END;
}

static ls_status job_done(void *self, size_t index, const char *error, ls_error *err)
{
    session *s = self;
    s->jobs[index].state = JOB_OVER;
    s->finished++;
    s->failed += error != NULL;
    show_progress(s);
    return points_release(s->store, s->sweep.points[s->jobs[index].point].id, error, err);
}

static bool job_idle(void *self, size_t running)
{
    session *s = self;
    (void)running;
    show_progress(s);
    if (host_clock_ns() >= s->beat_ns + LS_CLAIM_BEAT_S * UINT64_C(1000000000)) {
        s->beat_ns = host_clock_ns();
        (void)points_beat(s->store, NULL); /* only sweeps on other hosts look at it */
    }
    return atomic_load(&s->control.stop) != 0;
}

static ls_status run_points(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    size_t mode = cli_choice(ctx, "progress");
    const farm_hooks hooks = { .self = s, .next = next_job, .done = job_done, .idle = job_idle };
    /* "never" writes the line to /dev/null. */
    FILE *to = strcmp(progress_modes[mode], "never") == 0 ? fopen("/dev/null", "w") : ctx->err;
    if (!to)
        return ls_fail(err, LS_ERR_IO, "cannot open /dev/null");
    progress_begin(&s->progress, to, strcmp(progress_modes[mode], "always") == 0, NULL, 0, host_clock_ns());
    run_signal_begin(&s->control);
    ls_status status = farm_run((size_t)cli_uint(ctx, "jobs"), &hooks, err);
    run_signal_end();
    progress_clear(&s->progress);
    if (to != ctx->err)
        fclose(to);
    return status;
}

/* ------------------------------------------------------------------------------------------------ results */

static ls_status write_file(const session *s, const char *extension, void (*render)(const sweep *, FILE *),
                            ls_error *err)
{
    const char *dot = strrchr(s->database, '.');
    const char *path = arena_printf(s->ctx->arena, "%.*s%s", (int)(dot - s->database), s->database, extension);
    file_writer writer;
    if (!path)
        return no_memory(err);
    ls_status status = file_writer_open(&writer, path, err);
    if (status != LS_OK)
        return status;
    render(&s->sweep, writer.stream);
    return file_writer_commit(&writer, err);
}

/* Reads what the database has, and lists the points that are missing. */
static ls_status find_jobs(session *s, ls_error *err)
{
    sweep *sw = &s->sweep;
    s->jobs = arena_array(s->ctx->arena, sw->point_count, sizeof *s->jobs);
    if (!s->jobs)
        return no_memory(err);
    ls_status status = points_read(s->store, s->ctx->arena, sw->points, sw->point_count, err);
    s->job_count = 0;
    for (size_t i = 0; i < sw->point_count && status == LS_OK; i++)
        if (!sw->points[i].done)
            s->jobs[s->job_count++] = (sweep_job){ .point = i };
    return status;
}

static ls_status finish(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    ls_status status = points_read(s->store, ctx->arena, s->sweep.points, s->sweep.point_count, err);
    const char *const *patterns = cli_texts(ctx, "metric");
    if (status == LS_OK && !patterns)
        status = no_memory(err);
    if (status == LS_OK)
        status =
            sweep_read_columns(&s->sweep, ctx->arena, s->database, patterns, cli_count(ctx, "metric"), err);
    if (status == LS_OK)
        status = write_file(s, ".csv", sweep_render_csv, err);
    if (status == LS_OK)
        status = write_file(s, ".html", sweep_render_html, err);
    if (status != LS_OK)
        return status;
    sweep_render(&s->sweep, (size_t)cli_uint(ctx, "top"), ctx->out);
    if (s->failed)
        return ls_fail(err, LS_ERR_CHECK, "sweep: %zu of %zu points failed; the reasons are above and in %s",
                       s->failed, s->sweep.point_count, s->database);
    return LS_OK;
}

static ls_status sweep_all(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    size_t others;
    const char *command = cli_command_line(ctx);
    ls_status status = command ? points_open(s->database, &s->store, err) : no_memory(err);
    if (status == LS_OK)
        status = points_declare(s->store, s->sweep.points, s->sweep.point_count, command, err);
    if (status == LS_OK)
        status = points_others(s->store, s->sweep.points, s->sweep.point_count, &others, err);
    if (status == LS_OK)
        status = find_jobs(s, err);
    if (status != LS_OK)
        return status;
    size_t done = s->sweep.point_count - s->job_count;
    fprintf(ctx->err, "lockstep: %zu points: %zu are done, %zu to run", s->sweep.point_count, done,
            s->job_count);
    if (others)
        fprintf(ctx->err, "; %s also holds %zu points of other grids, traces or versions", s->database,
                others);
    fputc('\n', ctx->err);
    status = run_points(s, err);
    if (s->by_others)
        fprintf(ctx->err, "lockstep: %zu points were run by another sweep at the same time\n", s->by_others);
    if (status == LS_ERR_INTERRUPTED)
        return ls_fail(err, LS_ERR_INTERRUPTED,
                       "interrupted with %zu of %zu points done: the same command goes on from here",
                       done + s->finished - s->failed, s->sweep.point_count);
    return status == LS_OK ? finish(s, err) : status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    session s = { .ctx = ctx, .database = cli_text(ctx, "out") };
    export_format format;
    ls_status status = export_format_of(s.database, &format, err);
    if (status == LS_OK && format != LS_EXPORT_SQLITE) {
        ls_fail(err, LS_ERR_USAGE, "a sweep goes into a database");
        ls_error_nearest(err, "sweep.db");
        status = ls_error_at(err, "--out", 0, 0);
    }
    if (status == LS_OK)
        status = run_output_check(&s.database, 1, NULL, err);
    if (status == LS_OK)
        status = read_grid(&s, err);
    if (status == LS_OK)
        status = name_points(&s, err);
    if (status == LS_OK && cli_flag(ctx, "dry-run"))
        for (size_t i = 0; i < s.sweep.point_count; i++) {
            const sweep_point *point = &s.sweep.points[i];
            fprintf(ctx->out, "%s", point->trace);
            for (size_t a = 0; a < point->key_count; a++)
                fprintf(ctx->out, "  %s=%s", point->keys[a], point->values[a]);
            fputc('\n', ctx->out);
        }
    else if (status == LS_OK)
        status = sweep_all(&s, err);
    points_close(s.store);
    vec_fini(&s.sweep.columns.names);
    vec_fini(&s.warned);
    sweep_grid_fini(&s.sweep.grid);
    return status;
}

/* ------------------------------------------------------------------------------------------------ command */

/* clang-format off */
static const cli_option options[] = {
    { .name = "platform", .letter = 'p', .type = CLI_TEXT, .arg = "PLATFORM", .complete = CLI_COMPLETE_PLATFORM,
      .help = "what to simulate: a name of the search path, or a file" },
    { .name = "vary", .letter = 'v', .type = CLI_KEY_VALUE, .arg = "KEY=LIST", .repeatable = true,
      .complete = CLI_COMPLETE_KEY,
      .help = "values of a key: 32,64,128 or gto,lrr or the ranges 1..8, 16..64+16, 32..256*2" },
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,
      .complete = CLI_COMPLETE_KEY, .help = "override a key in every point" },
    FIDELITY_OPTION,
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
    { .name = "unknown-opcodes", .type = CLI_CHOICE, .arg = "HOW", .choices = unknown_modes, .default_text = "fail",
      .help = "what to do with opcodes that are not in the tables" },
    CLI_UNMODELLED_OPTION,
    { .name = "seed", .type = CLI_UINT, .arg = "N", .default_text = "1",
      .help = "of every random stream of the machine" },
    { .name = "metric", .letter = 'm', .type = CLI_TEXT, .arg = "PATTERN", .repeatable = true,
      .help = "add columns to the table (.csv): metrics of this name, as in *stall* or l2/cycle.hits" },
    { .name = "top", .type = CLI_UINT, .arg = "N", .default_text = "20",
      .help = "show the N fastest points of each trace; 0: all" },
    { .name = "progress", .type = CLI_CHOICE, .arg = "WHEN", .choices = progress_modes, .default_text = "auto",
      .help = "show how far the sweep is on standard error" },
    { .name = "dry-run", .letter = 'n', .help = "check every point and list them, but run nothing" },
};

static const cli_positional positionals[] = {
    { .name = "WORKLOAD", .repeatable = true, .complete = CLI_COMPLETE_FILE,
      .help = "what to run at every point, as for lockstep run: traces, workloads, code objects, recordings" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep sweep traces/bfs -p rtx3070 -v core.unified_kib=128,192 -v core.scheduler=gto,lrr -j2",
      "four configurations, two at a time" },
    { "lockstep sweep synth:gemm -p rtx2080ti -v cores=17..68*2 -o cores.db", "how a kernel scales" },
    { "lockstep sweep fir kmeans -p r9nano -v vector_cache.size_kib=8..64*2 -m '*hit*' -o caches.db",
      "AMD programs in simulated time, with hit rates in the table" },
    { "lockstep compare cores.db#1 cores.db#3", "what changed between two points" },
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

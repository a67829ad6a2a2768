/* cmd_scaling.c: `lockstep scaling`: how much faster simulations become with threads on this host, under each
 * way of assigning domains to threads; and that the results stay the same. */
#include "base/file.h"
#include "base/pool.h"
#include "cli/platform_args.h"
#include "cli/suite.h"
#include "cli/validate/validate.h"
#include "platform/needs.h"
#include "report/html.h"
#include "report/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 8 /* numbers of threads in one experiment */

/* The two extremes, as in the literature, and the default of `run`. */
static const ls_assignment assignments[] = { LS_ASSIGN_FIXED, LS_ASSIGN_DYNAMIC, LS_ASSIGN_STATIC };
static const char *const assignment_names[] = { "fixed", "dynamic", "stealing" };
enum { ASSIGNMENTS = LS_COUNT_OF(assignments) };

typedef struct measured {
    const char *name, *what;
    double one;                               /* host seconds with one thread */
    double seconds[ASSIGNMENTS][THREADS_MAX]; /* the best of all repetitions */
    ls_scaling expected;                      /* on hosts with more cores */
    bool same;                                /* all results equal those of one thread */
} measured;

typedef struct experiment {
    cli_context *ctx;
    config_request platform;
    uint32_t threads[THREADS_MAX];
    size_t thread_count;
    uint64_t repeat;
    measured *rows;
    size_t row_count;
} experiment;

/* ---------------------------------------------------------------------------------------------- measuring */

static ls_status read_threads(experiment *e, ls_error *err)
{
    const char *text = cli_text(e->ctx, "threads");
    ls_status status = LS_OK;
    if (!text) { /* powers of two up to the host's CPUs */
        for (uint32_t n = 2; n <= cpu_count() && e->thread_count < THREADS_MAX; n *= 2)
            e->threads[e->thread_count++] = n;
        if (e->thread_count == 0)
            e->threads[e->thread_count++] = 2;
        return LS_OK;
    }
    while (status == LS_OK) {
        size_t bytes = strcspn(text, ",");
        uint64_t n;
        status = parse_u64(text, bytes, &n, err);
        if (status == LS_OK && (n < 2 || n > 1024))
            status = ls_fail(err, LS_ERR_USAGE, "%" PRIu64 " is not from 2 to 1024 (1 is always measured)", n);
        if (status == LS_OK && e->thread_count == THREADS_MAX)
            status = ls_fail(err, LS_ERR_USAGE, "more than %d numbers of threads", THREADS_MAX);
        if (status == LS_OK)
            e->threads[e->thread_count++] = (uint32_t)n;
        if (!text[bytes])
            break;
        text += bytes + 1;
    }
    return status == LS_OK ? LS_OK : ls_error_at(err, "--threads", 0, 0);
}

static ls_status simulate(const validate_job *job, double *seconds, hash128 *hash, ls_error *err)
{
    mem_arena arena = { 0 };
    validate_result result;
    ls_status status = validate_simulate(&arena, job, &result, err);
    if (status == LS_OK) {
        *seconds = *seconds <= 0 ? result.host_seconds : fmin(*seconds, result.host_seconds);
        *hash = result.hash;
    }
    arena_fini(&arena);
    return status;
}

static ls_status measure(experiment *e, const char *trace, measured *row, ls_error *err)
{
    validate_job job = { .platform = e->platform, .trace = trace, .threads = 1, .hash = true };
    hash128 first, hash;
    double ignored = 0;
    ls_status status;
    row->same = true;
    /* Once for the expectation, which costs some time itself; and as a warm-up. */
    job.scaling = &row->expected;
    status = simulate(&job, &ignored, &first, err);
    job.scaling = NULL;
    /* Repetitions alternate, so that a slow moment of the host affects all configurations. */
    for (uint64_t r = 0; r < e->repeat && status == LS_OK; r++) {
        job.threads = 1;
        job.assignment = LS_ASSIGN_STATIC;
        status = simulate(&job, &row->one, &hash, err);
        row->same = row->same && status == LS_OK && hash_same(first, hash);
        for (size_t a = 0; a < ASSIGNMENTS; a++)
            for (size_t t = 0; t < e->thread_count && status == LS_OK; t++) {
                job.threads = e->threads[t];
                job.assignment = assignments[a];
                status = simulate(&job, &row->seconds[a][t], &hash, err);
                row->same = row->same && status == LS_OK && hash_same(first, hash);
            }
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ telling */

static double speedup(const measured *row, size_t a, size_t t)
{
    return row->seconds[a][t] > 0 ? row->one / row->seconds[a][t] : NAN;
}

static double mean(const experiment *e, size_t a, size_t t)
{
    double sum = 0;
    for (size_t i = 0; i < e->row_count; i++)
        sum += log(speedup(&e->rows[i], a, t));
    return exp(sum / (double)e->row_count);
}

static void render_text(const experiment *e, FILE *to)
{
    fprintf(to, "speed-up over one thread on %s; this host has %u CPUs\n\n  %-16s %9s", e->platform.platform,
            cpu_count(), "kernel", "1 thread");
    for (size_t a = 0; a < ASSIGNMENTS; a++)
        for (size_t t = 0; t < e->thread_count; t++)
            fprintf(to, "  %9s %2u", assignment_names[a], e->threads[t]);
    fprintf(to, "  %10s  results\n", "expected 8");
    for (size_t i = 0; i < e->row_count; i++) {
        const measured *row = &e->rows[i];
        fprintf(to, "  %-16s %7.2f s", row->name, row->one);
        for (size_t a = 0; a < ASSIGNMENTS; a++)
            for (size_t t = 0; t < e->thread_count; t++)
                fprintf(to, "  %11.2fx", speedup(row, a, t));
        double expected = 0;
        for (size_t k = 0; k < LS_SCALING_POINTS; k++)
            if (row->expected.threads[k] == 8)
                expected = row->expected.speedup[k];
        fprintf(to, "  %9.2fx  %s\n", expected, row->same ? "same" : "DIFFER");
    }
    if (e->row_count > 1) {
        fprintf(to, "  %-16s %9s", "geometric mean", "");
        for (size_t a = 0; a < ASSIGNMENTS; a++)
            for (size_t t = 0; t < e->thread_count; t++)
                fprintf(to, "  %11.2fx", mean(e, a, t));
        fputc('\n', to);
    }
    fputs(
        "\nfixed: every domain belongs to a thread; dynamic: threads take domains from one list; stealing: fixed,\n"
        "but idle threads help (the default). expected 8: what eight cores would bring, from the measured work of\n"
        "each window. Figures are worth as much as the host is quiet.\n",
        to);
}

static void render_html(const experiment *e, FILE *to)
{
    html_begin(to, "scaling");
    double *x = calloc(e->thread_count + 1, sizeof *x);
    double *y = calloc((e->thread_count + 1) * (e->row_count + 1), sizeof *y);
    plot_series *series = calloc(e->row_count + 1, sizeof *series);
    for (size_t a = 0; x && y && series && a < ASSIGNMENTS; a++) {
        x[0] = 1;
        for (size_t t = 0; t < e->thread_count; t++)
            x[t + 1] = e->threads[t];
        for (size_t i = 0; i < e->row_count; i++) {
            double *line = y + i * (e->thread_count + 1);
            line[0] = 1;
            for (size_t t = 0; t < e->thread_count; t++)
                line[t + 1] = speedup(&e->rows[i], a, t);
            series[i] = (plot_series){ e->rows[i].name, x, line, e->thread_count + 1, LS_PLOT_BOTH };
        }
        char title[64];
        snprintf(title, sizeof title, "Assignment of domains to threads: %s", assignment_names[a]);
        plot_svg_write(&(plot_figure){ .title = title,
                                       .x_label = "host threads",
                                       .y_label = "speed-up",
                                       .x_scale = LS_PLOT_LOG2,
                                       .y_zero = true,
                                       .series = series,
                                       .series_count = e->row_count },
                       to);
    }
    free(x);
    free(y);
    free(series);
    fputs("<table><thead><tr><th class=\"text\">kernel</th><th class=\"text\">what</th><th>1 thread, s</th>",
          to);
    for (size_t a = 0; a < ASSIGNMENTS; a++)
        for (size_t t = 0; t < e->thread_count; t++)
            fprintf(to, "<th>%s %u</th>", assignment_names[a], e->threads[t]);
    fputs("<th>results</th></tr></thead>\n<tbody>\n", to);
    for (size_t i = 0; i < e->row_count; i++) {
        const measured *row = &e->rows[i];
        fputs("<tr>", to);
        html_cell(to, "td", row->name);
        html_cell(to, "td", row->what);
        fprintf(to, "<td>%.3f</td>", row->one);
        for (size_t a = 0; a < ASSIGNMENTS; a++)
            for (size_t t = 0; t < e->thread_count; t++)
                fprintf(to, "<td>%.2f</td>", speedup(row, a, t));
        fprintf(to, "<td class=\"%s\">%s</td></tr>\n", row->same ? "pass" : "FAIL",
                row->same ? "same" : "differ");
    }
    fputs("</tbody></table>\n", to);
    html_end(to);
}

static void render_csv(const experiment *e, FILE *to)
{
    fputs("kernel,assignment,threads,seconds,speedup,same\r\n", to);
    for (size_t i = 0; i < e->row_count; i++) {
        const measured *row = &e->rows[i];
        fprintf(to, "\"%s\",one,1,%.6f,1,%d\r\n", row->name, row->one, row->same);
        for (size_t a = 0; a < ASSIGNMENTS; a++)
            for (size_t t = 0; t < e->thread_count; t++)
                fprintf(to, "\"%s\",%s,%u,%.6f,%.4f,%d\r\n", row->name, assignment_names[a], e->threads[t],
                        row->seconds[a][t], speedup(row, a, t), row->same);
    }
}

/* Files are opened before anything is measured: a mistyped path must not cost minutes. */
typedef struct output {
    const char *option;
    void (*render)(const experiment *, FILE *);
    file_writer writer;
    bool open;
} output;

static ls_status open_outputs(const cli_context *ctx, output *outputs, size_t count, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++)
        if (cli_text(ctx, outputs[i].option)) {
            status = file_writer_open(&outputs[i].writer, cli_text(ctx, outputs[i].option), err);
            outputs[i].open = status == LS_OK;
        }
    return status;
}

static ls_status close_outputs(const experiment *e, output *outputs, size_t count, ls_status status,
                               ls_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!outputs[i].open)
            continue;
        if (status == LS_OK) {
            outputs[i].render(e, outputs[i].writer.stream);
            status = file_writer_commit(&outputs[i].writer, err);
        } else {
            file_writer_abort(&outputs[i].writer);
        }
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ command */

static ls_status run(cli_context *ctx, ls_error *err)
{
    experiment e = { .ctx = ctx, .repeat = cli_uint(ctx, "repeat") };
    bool own = ctx->positional_count > 0;
    size_t count = own ? ctx->positional_count : SUITE_COUNT;
    e.rows = arena_array(ctx->arena, count, sizeof *e.rows);
    if (!e.rows)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    output outputs[] = { { .option = "html", .render = render_html },
                         { .option = "out", .render = render_csv } };
    ls_status status = cli_platform_request(ctx, cli_text(ctx, "platform"), &e.platform, err);
    if (status == LS_OK)
        status = read_threads(&e, err);
    platform_config *config = NULL;
    if (status == LS_OK)
        status = config_load(&e.platform, &config, NULL, err);
    if (status == LS_OK)
        config_log_idle(config);
    config_destroy(config);
    if (status == LS_OK)
        status = open_outputs(ctx, outputs, LS_COUNT_OF(outputs), err);
    bool same = true;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        measured *row = &e.rows[i];
        row->name = own ? ctx->positionals[i] : suite_kernels[i].name;
        row->what = own ? "" : suite_kernels[i].what;
        status = measure(&e, own ? ctx->positionals[i] : suite_kernels[i].trace, row, err);
        e.row_count += status == LS_OK;
        same = same && row->same;
    }
    if (status == LS_OK)
        render_text(&e, ctx->out);
    status = close_outputs(&e, outputs, LS_COUNT_OF(outputs), status, err);
    if (status == LS_OK && !same)
        status = ls_fail(err, LS_ERR_CHECK, "results differ between numbers of threads");
    return status;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "platform", .letter = 'p', .type = CLI_TEXT, .arg = "PLATFORM", .default_text = "rtx3080ti",
      .complete = CLI_COMPLETE_PLATFORM, .help = "the platform to simulate: a name of the search path, or a file" },
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,
      .complete = CLI_COMPLETE_KEY, .help = "override a key of the platform, as in core.alu=issue" },
    FIDELITY_OPTION,
    GPUS_OPTION,
    { .name = "threads", .letter = 'j', .type = CLI_TEXT, .arg = "N,N,...",
      .help = "numbers of threads besides 1; default: 2, 4, ... up to the host's CPUs" },
    { .name = "repeat", .letter = 'r', .type = CLI_UINT, .arg = "N", .min = 1, .max = 100, .default_text = "3",
      .help = "measure each case N times and take the fastest" },
    { .name = "html", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write one self-contained page with plots" },
    { .name = "out", .letter = 'o', .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write one CSV row per measurement" },
};

static const cli_positional positionals[] = {
    { .name = "TRACE", .optional = true, .repeatable = true, .complete = CLI_COMPLETE_FILE,
      .help = "the workload to simulate; default: a set of generated kernels" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep scaling --html scaling.html", "the built-in kernels with 2, 4, ... threads" },
    { "lockstep scaling traces/bfs -p rtx3070 -j 2,3 -r 5", "one trace, best of five" },
};

static const cli_command command = {
    .name = "scaling",
    .summary = "measure how simulations speed up with host threads",
    .about =
        "The experiment of figures 5 and 6 of \"Parallelizing a modern GPU simulator\" (Huerta and Gonzalez) on this "
        "host: the speed-up of several numbers of threads, with domains assigned to threads for good or taken from a "
        "list as threads become free. The built-in set has kernels that fill the GPU, one of two thread blocks "
        "(their myocyte) and one that leaves half of the cores idle (their cut_1). Every run's results are "
        "compared with those of one thread.",
    .order = 45,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(command);

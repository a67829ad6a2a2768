/* cmd_validate.c: `lockstep validate`: the simulator against its references. src/cli/validate measures and
 * prints; this file has the command line and the output files. */
#include "base/file.h"
#include "cli/cli.h"
#include "cli/validate/validate.h"

typedef ls_status measuring(const validate_reference *ref, validate_report *report, ls_error *err);

/* "all", then as in fidelity_presets without the first, against which the others are held. */
static const char *const fidelities[] = { "all", "basic", "memory", NULL };
static const char *const samples[] = { "all", "traces", "applications", "kernels", "amd", NULL };
static const char *const parts[] = { "micro",        "traces", "hardware", "determinism", "amd",
                                     "interconnect", "mi300a", "cdna",     NULL };
#define PARTS_OF_ALL 6u /* the last two take long: only when they are asked for */
static measuring *const measurings[] = { validate_micro,       validate_traces, validate_hardware,
                                         validate_determinism, validate_amd,    validate_interconnect,
                                         validate_mi300a,      validate_cdna };

static ls_status write_file(const validate_report *report, const char *path,
                            void (*render)(const validate_report *report, FILE *to), ls_error *err)
{
    file_writer writer;
    if (!path)
        return LS_OK;
    ls_status status = file_writer_open(&writer, path, err);
    if (status != LS_OK)
        return status;
    render(report, writer.stream);
    return file_writer_commit(&writer, err);
}

static ls_status verdict(const validate_report *report, ls_error *err)
{
    size_t failed = 0, rows = 0;
    for (size_t i = 0; i < report->sections.count; i++) {
        rows += report->sections.at[i]->rows.count;
        failed += validate_count(report->sections.at[i], VALIDATE_FAIL);
    }
    return failed ? ls_fail(err, LS_ERR_CHECK, "%zu of %zu checks failed", failed, rows) : LS_OK;
}

/* The options of part mi300a. */
static ls_status read_points(cli_context *ctx, validate_reference *ref, ls_error *err)
{
    static const char *const names[] = { "points", "benchmark", "max-us", "limit", "jobs" };
    const bool is_chosen = cli_given(ctx, "only") && measurings[cli_choice(ctx, "only")] == validate_mi300a;
    for (size_t i = 0; i < LS_COUNT_OF(names) && !is_chosen; i++)
        if (cli_given(ctx, names[i]))
            return ls_fail(err, LS_ERR_USAGE, "validate: --%s is of --only mi300a", names[i]);
    ref->points = cli_texts(ctx, "points");
    ref->point_file_count = cli_count(ctx, "points");
    ref->benchmarks = cli_texts(ctx, "benchmark");
    ref->benchmark_count = cli_count(ctx, "benchmark");
    ref->max_ms = 1e-3 * (double)cli_uint(ctx, "max-us");
    ref->limit = cli_uint(ctx, "limit");
    ref->jobs = (uint32_t)cli_uint(ctx, "jobs");
    ref->progress = is_chosen ? ctx->err : NULL;
    return ref->points && ref->benchmarks ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "out of memory");
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    validate_reference ref;
    validate_report report = { .is_fidelity = cli_given(ctx, "fidelity") };
    const cli_style style = cli_style_of(ctx->color_out);
    const char *fidelity = cli_text(ctx, "fidelity");
    bool samples_only = cli_given(ctx, "sample"), is_own = fidelity || samples_only;
    if ((fidelity != NULL) + samples_only + cli_given(ctx, "only") > 1)
        return ls_fail(
            err, LS_ERR_USAGE,
            "validate: --%s is a measurement of its own, so --%s has no effect: leave one of them out",
            fidelity ? "fidelity" : "sample", cli_given(ctx, "only") ? "only" : "sample");
    ls_status status = cli_check_outputs(ctx, (const char *[]){ "html", "out", "markdown", NULL }, err);
    if (status != LS_OK)
        return status;
    status = validate_reference_open(&ref, ctx->arena, cli_text(ctx, "reference"), err);
    if (is_own && !cli_given(ctx, "reference"))
        status = LS_OK; /* generated kernels are enough */
    if (status != LS_OK)
        return status;
    if (!is_own && cli_given(ctx, "only") && !ref.traces &&
        (measurings[cli_choice(ctx, "only")] == validate_traces ||
         measurings[cli_choice(ctx, "only")] == validate_determinism))
        return ls_fail(
            err, LS_ERR_INPUT,
            "validate: --only %s needs the traces, which are not shipped: --reference DIR with DIR/../traces",
            parts[cli_choice(ctx, "only")]);
    ref.threads = (uint32_t)cli_uint(ctx, "threads");
    ref.platform_dirs = cli_texts(ctx, "platform-dir");
    ref.platform_dir_count = cli_count(ctx, "platform-dir");
    if (!ref.platform_dirs)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    status = read_points(ctx, &ref, err);
    if (status != LS_OK)
        return status;
    if (fidelity)
        status = validate_fidelity(&ref, &report,
                                   cli_choice(ctx, "fidelity") ? (int)cli_choice(ctx, "fidelity") : -1, err);
    if (samples_only)
        status = validate_sample(&ref, &report,
                                 cli_choice(ctx, "sample") ? (int)cli_choice(ctx, "sample") - 1 : -1, err);
    for (size_t i = 0; !is_own && parts[i] && status == LS_OK; i++)
        if (cli_given(ctx, "only") ? cli_choice(ctx, "only") == i : i < PARTS_OF_ALL)
            status = measurings[i](&ref, &report, err);
    if (status == LS_OK) {
        validate_render_text(&report, &style, ctx->out);
        status = write_file(&report, cli_text(ctx, "html"), validate_render_html, err);
    }
    if (status == LS_OK)
        status = write_file(&report, cli_text(ctx, "out"), validate_render_csv, err);
    if (status == LS_OK)
        status = write_file(&report, cli_text(ctx, "markdown"), validate_render_markdown, err);
    if (status == LS_OK)
        status = verdict(&report, err);
    validate_report_fini(&report);
    return status;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "reference", .letter = 'r', .type = CLI_TEXT, .arg = "DIR", .complete = CLI_COMPLETE_DIR,
      .help = "other tables than those that are shipped, beside traces and formats; else $" VALIDATE_VARIABLE },
    { .name = "only", .type = CLI_CHOICE, .arg = "PART", .choices = parts,
      .help = "run one part instead of the first six" },
    { .name = "points", .type = CLI_TEXT, .arg = "FILE", .repeatable = true, .complete = CLI_COMPLETE_FILE,
      .help = "mi300a: measured points of this CSV instead of the reference's" },
    { .name = "benchmark", .type = CLI_TEXT, .arg = "NAME", .repeatable = true,
      .help = "mi300a: points of this benchmark only" },
    { .name = "max-us", .type = CLI_UINT, .arg = "US", .default_text = "0",
      .help = "mi300a: only points that took at most so many microseconds on the GPU; 0: all" },
    { .name = "limit", .type = CLI_UINT, .arg = "MILLION", .default_text = "8",
      .help = "mi300a: sample points above so many million wavefront instructions; 0: none" },
    { .name = "jobs", .type = CLI_UINT, .arg = "N", .min = 1, .max = 64, .default_text = "1",
      .help = "mi300a: points at a time, each in a process of its own; no result depends on it" },
    { .name = "fidelity", .type = CLI_CHOICE, .arg = "PRESET", .choices = fidelities,
      .help = "instead: what simpler models cost in accuracy and gain in speed; needs no reference" },
    { .name = "sample", .type = CLI_CHOICE, .arg = "PART", .choices = samples,
      .help = "instead: sampled simulation against full runs, its error, interval and cost; needs no reference but for "
              "traces" },
    { .name = "threads", .letter = 'j', .type = CLI_UINT, .arg = "N", .min = 1, .max = 1024, .default_text = "1",
      .help = "host threads of each simulation; no result depends on it" },
    { .name = "html", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write one self-contained page with tables and plots" },
    { .name = "out", .letter = 'o', .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write one CSV row per check" },
    { .name = "markdown", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write the tables as Markdown, as in docs/validation.md" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep validate --reference ../shared/reference", "with the traces beside those tables: all of it" },
    { "lockstep validate --fidelity all --html fidelity.html",
      "error and speed of --fidelity basic and memory" },
    { "lockstep validate --only mi300a --max-us 100", "benchmarks measured on an MI300A: the short points" },
    { "lockstep validate --sample kernels", "how far --sample is off on large generated kernels" },
};

static const cli_command command = {
    .name = "validate",
    .summary = "measure how well the simulator agrees with its references",
    .about =
        "micro runs one-purpose kernels, traces real programs, both on platforms imported from Accel-Sim's "
        "configurations and against Accel-Sim's own numbers. hardware compares native platforms with "
        "measurements of "
        "GPUs. determinism runs every trace with 1, 2, 3 and 8 threads and compares all results. amd executes "
        "microbenchmarks and all workloads on AMD platforms. interconnect compares systems of several GPUs with measured "
        "bandwidths. mi300a, only if asked for, runs 24 benchmarks as they were measured on an MI300A: the points are not shipped, so "
        "they come from DIR or ../shared/reference (mi300a_fit.csv), or from --points FILE in the same form. cdna, only if asked for, compares latencies and bandwidths of MI300A, MI300X and MI210.\n\n"
        "The tables and the imported platforms are shipped; traces are not, and without them those parts say that they "
        "are skipped. A check that fails makes the exit code 5; "
        "deviations that are "
        "known are shown with their explanation.",
    .order = 40,
    CLI_OPTIONS(options),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(command);

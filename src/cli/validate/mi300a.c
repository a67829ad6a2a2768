/* mi300a.c: benchmarks that were measured on an MI300A, on platform mi300a: each point of a CSV file is simulated, and its
 * time between two events is compared with the shortest one that was measured. */
#include "cli/validate/validate.h"

#include "base/file.h"
#include "base/text.h"
#include "cli/validate/jobs.h"
#include "sim/program_job.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PLATFORM "mi300a"
#define FIT "mi300a_fit.csv"
#define REPEAT "mi300a_fit_repeat.csv"
#define NUMBERS_MAX 8
#define SETTINGS_MAX 5

/* In percent: of all points weighted by their times, of all points on average, of one benchmark on average. */
#define WMAPE_LIMIT 10.0
#define MEAN_LIMIT 15.0
#define BENCHMARK_LIMIT 30.0

#define LAST "<"
#define PER_ROW "/"
static const struct {
    const char *name, *second, *third;
} benchmarks[] = {
#define MI300A(name_, second_, third_) { name_, second_, third_ },
#include "cli/validate/mi300a.def"
#undef MI300A
};

/* Of one simulation. Plain data: it may come from another process. */
typedef struct outcome {
    ls_status status;
    double ms, half_ms; /* simulated; half of the interval */
    double share;       /* that was simulated */
    double cpu_seconds;
    uint64_t instructions;
    char failure[512]; /* what went wrong, unless status is LS_OK */
} outcome;

typedef struct point {
    size_t benchmark;
    const char *size;
    double measured_ms, repeat_ms; /* the second is NAN if it was not measured again */
    bool is_done;
    double ms, half_ms, share, cpu_seconds;
    uint64_t instructions;
    const char *failure;
} point;

typedef struct suite {
    const validate_reference *ref;
    validate_report *report;
    validate_section *section; /* a row for each point */
    LS_VEC(point) points;
} suite;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
}

/* -------------------------------------------------------------------------------------------------- sizes */

#define NUMBER_MAX (UINT64_C(1) << 53) /* beyond that no size is one, and no unit overflows below it */

static uint32_t unit_shift(const char *at)
{
    if ((at[0] != 'K' && at[0] != 'M' && at[0] != 'G') || at[1] != 'B')
        return 0;
    return at[0] == 'K' ? 10 : at[0] == 'M' ? 20 : 30;
}

/* The numbers in a text like "1024x1024_mask5" or "16MB". False: one is too large, or there are too many. */
static bool read_numbers(const char *text, uint64_t numbers[NUMBERS_MAX], size_t *count)
{
    *count = 0;
    for (const char *at = text; *at;) {
        if (!isdigit((unsigned char)*at)) {
            at++;
            continue;
        }
        uint64_t n = 0;
        for (; isdigit((unsigned char)*at) && n <= NUMBER_MAX; at++)
            n = 10 * n + (uint64_t)(*at - '0');
        const uint32_t shift = unit_shift(at);
        if (n > NUMBER_MAX >> shift || *count == NUMBERS_MAX)
            return false;
        numbers[(*count)++] = n << shift;
    }
    return true;
}

static void add_setting(wl_setting *settings, size_t *count, const char *rule, const uint64_t *numbers,
                        size_t number_count, size_t index)
{
    const uint64_t last = numbers[number_count - 1];
    if (!rule || number_count < 2 || (index >= number_count && *rule != *LAST && *rule != *PER_ROW))
        return;
    if (*rule == *LAST)
        settings[(*count)++] = (wl_setting){ rule + 1, last };
    else if (*rule == *PER_ROW)
        settings[(*count)++] = (wl_setting){ rule + 1, numbers[0] ? last / numbers[0] : 0 };
    else
        settings[(*count)++] = (wl_setting){ rule, numbers[index] };
}

static ls_status read_size(const suite *s, const point *p, wl_setting settings[SETTINGS_MAX], size_t *count,
                           ls_error *err)
{
    uint64_t numbers[NUMBERS_MAX];
    size_t n;
    *count = 0;
    if (!read_numbers(p->size, numbers, &n))
        return ls_fail(err, LS_ERR_INPUT, "the size '%.64s' has a number above 2^53, or more than %d numbers",
                       p->size, NUMBERS_MAX);
    if (n == 0)
        return ls_fail(err, LS_ERR_INPUT, "the size '%.64s' has no number", p->size);
    settings[(*count)++] = (wl_setting){ "size", numbers[0] };
    add_setting(settings, count, benchmarks[p->benchmark].second, numbers, n, 1);
    add_setting(settings, count, benchmarks[p->benchmark].third, numbers, n, 2);
    settings[(*count)++] = (wl_setting){ "limit", s->ref->limit };
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- points */

static const char *benchmark_at(const void *self, size_t i)
{
    (void)self;
    return benchmarks[i].name;
}

static ls_status find_benchmark(const char *name, size_t *out, ls_error *err)
{
    for (*out = 0; *out < LS_COUNT_OF(benchmarks); ++*out)
        if (strcmp(benchmarks[*out].name, name) == 0)
            return LS_OK;
    ls_fail(err, LS_ERR_INPUT, "there is no benchmark '%s'", name);
    return ls_error_nearest(err, nearest_name(name, LS_COUNT_OF(benchmarks), benchmark_at, NULL));
}

static bool is_wanted(const validate_reference *ref, const point *p)
{
    bool named = ref->benchmark_count == 0;
    for (size_t i = 0; i < ref->benchmark_count; i++)
        named = named || strcmp(ref->benchmarks[i], benchmarks[p->benchmark].name) == 0;
    return named && (ref->max_ms <= 0 || p->measured_ms <= ref->max_ms);
}

static ls_status check_point(const suite *s, const point *p, const char *time, ls_error *err)
{
    wl_setting settings[SETTINGS_MAX];
    size_t count;
    if (!(p->measured_ms > 0) || !isfinite(p->measured_ms))
        return ls_fail(err, LS_ERR_INPUT, "min_ms is '%.64s', not a time", time);
    return read_size(s, p, settings, &count, err);
}

static ls_status read_file(suite *s, const char *dir, const char *name, bool is_repeat, ls_error *err)
{
    validate_reference ref = *s->ref;
    validate_csv csv;
    size_t kernel, size, min;
    ref.dir = dir;
    ls_status status = validate_csv_read(&ref, name, &csv, err);
    if (status != LS_OK)
        return status;
    status = validate_csv_column(&csv, "kernel_name", &kernel, err);
    if (status == LS_OK)
        status = validate_csv_column(&csv, "problem_size", &size, err);
    if (status == LS_OK)
        status = validate_csv_column(&csv, "min_ms", &min, err);
    if (status != LS_OK)
        return ls_error_at(err, name, 1, 0);
    for (size_t i = 0; status == LS_OK && i < csv.rows; i++) {
        point p = { .size = validate_csv_at(&csv, i, size),
                    .measured_ms = validate_csv_real(&csv, i, min),
                    .repeat_ms = (double)NAN };
        status = find_benchmark(validate_csv_at(&csv, i, kernel), &p.benchmark, err);
        if (status == LS_OK)
            status = check_point(s, &p, validate_csv_at(&csv, i, min), err);
        if (status != LS_OK)
            return ls_error_at(err, name, i + 2, 0);
        for (size_t k = 0; is_repeat && k < s->points.count; k++)
            if (s->points.at[k].benchmark == p.benchmark && strcmp(s->points.at[k].size, p.size) == 0)
                s->points.at[k].repeat_ms = p.measured_ms;
        if (!is_repeat && is_wanted(s->ref, &p) && !vec_push(&s->points, p))
            return no_memory(err);
    }
    return status;
}

/* The directory with the measured points: the reference's, or the usual one beside it. NULL: none has them. */
static const char *points_dir(const validate_reference *ref, const char *name)
{
    const char *const dirs[] = { ref->dir, VALIDATE_TRACES_BESIDE };
    for (size_t i = 0; i < LS_COUNT_OF(dirs); i++) {
        const char *path = path_join(ref->arena, dirs[i], name);
        if (path && file_exists(path))
            return dirs[i];
    }
    return NULL;
}

static ls_status read_points(suite *s, ls_error *err)
{
    const validate_reference *ref = s->ref;
    ls_status status = LS_OK;
    size_t unused;
    for (size_t i = 0; i < ref->benchmark_count && status == LS_OK; i++)
        status = find_benchmark(ref->benchmarks[i], &unused, err);
    for (size_t i = 0; i < ref->point_file_count && status == LS_OK; i++)
        status = read_file(s, ".", ref->points[i], false, err);
    if (status != LS_OK || ref->point_file_count > 0)
        return status;
    const char *fit = points_dir(ref, FIT), *repeat = points_dir(ref, REPEAT);
    if (fit)
        status = read_file(s, fit, FIT, false, err);
    if (fit && repeat && status == LS_OK)
        status = read_file(s, repeat, REPEAT, true, err);
    return status;
}

/* --------------------------------------------------------------------------------------------- simulation */

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double error_of(const point *p)
{
    return 100 * (p->ms / p->measured_ms - 1);
}

static void simulate(void *self, size_t index, void *result)
{
    const suite *s = self;
    const point *p = &s->points.at[index];
    outcome *out = result;
    wl_setting settings[SETTINGS_MAX];
    char workload[64];
    program_result run;
    ls_error err = { 0 };
    program_job job = { .platform = { .platform = PLATFORM,
                                      .platform_dirs = s->ref->platform_dirs,
                                      .platform_dir_count = s->ref->platform_dir_count },
                        .workload = workload,
                        .settings = settings,
                        .threads = s->ref->threads };
    snprintf(workload, sizeof workload, "mi300a_%s", benchmarks[p->benchmark].name);
    const double before = cpu_seconds();
    out->status = read_size(s, p, settings, &job.setting_count, &err);
    if (out->status == LS_OK)
        out->status = program_simulate(&job, &run, &err);
    out->cpu_seconds = cpu_seconds() - before;
    if (out->status != LS_OK) {
        ls_error_text(&err, out->failure, sizeof out->failure);
        return;
    }
    out->ms = 1e-6 * run.region.ns;
    out->half_ms = 0.5e-6 * (run.region.high_ns - run.region.low_ns);
    out->share = run.region.simulated;
    out->instructions = run.instructions;
}

static void print_progress(const suite *s, size_t done)
{
    const point *p = &s->points.at[done];
    if (!s->ref->progress)
        return;
    fprintf(s->ref->progress, "%3zu/%zu %-21s %-26s %9.4f ms, ", done + 1, s->points.count,
            benchmarks[p->benchmark].name, p->size, p->measured_ms);
    if (p->is_done)
        fprintf(s->ref->progress, "simulated %9.4f ms %+6.1f %%, %.1f s\n", p->ms, error_of(p),
                p->cpu_seconds);
    else
        fprintf(s->ref->progress, "%s\n", p->failure);
    fflush(s->ref->progress);
}

/* ------------------------------------------------------------------------------------------------- errors */

/* Of some of the points: of one benchmark, or all but one. */
typedef struct errors {
    size_t count;
    double mean, median, worst, wmape, tau; /* percent; tau: Kendall's, NAN for fewer than two */
} errors;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static bool is_in(const suite *s, size_t i, size_t benchmark, size_t without)
{
    const point *p = &s->points.at[i];
    return p->is_done && i != without && (benchmark == SIZE_MAX || p->benchmark == benchmark);
}

/* Kendall's tau-b: of all pairs, those in the same order less those in the other one. */
static double kendall(const suite *s, size_t benchmark, size_t without)
{
    double same = 0, x_pairs = 0, y_pairs = 0;
    for (size_t i = 0; i < s->points.count; i++)
        for (size_t k = 0; k < i; k++) {
            const point *a = &s->points.at[i], *b = &s->points.at[k];
            if (!is_in(s, i, benchmark, without) || !is_in(s, k, benchmark, without))
                continue;
            const int x = (a->measured_ms > b->measured_ms) - (a->measured_ms < b->measured_ms);
            const int y = (a->ms > b->ms) - (a->ms < b->ms);
            same += x * y;
            x_pairs += x != 0;
            y_pairs += y != 0;
        }
    return x_pairs > 0 && y_pairs > 0 ? same / sqrt(x_pairs * y_pairs) : (double)NAN;
}

static ls_status judge(const suite *s, size_t benchmark, size_t without, errors *out, ls_error *err)
{
    double apart = 0, whole = 0, sum = 0;
    double *each = calloc(s->points.count + 1, sizeof *each);
    *out = (errors){ .tau = kendall(s, benchmark, without) };
    if (!each)
        return no_memory(err);
    for (size_t i = 0; i < s->points.count; i++) {
        const point *p = &s->points.at[i];
        if (!is_in(s, i, benchmark, without))
            continue;
        each[out->count++] = fabs(error_of(p));
        sum += fabs(error_of(p));
        apart += fabs(p->ms - p->measured_ms);
        whole += p->measured_ms;
    }
    qsort(each, out->count, sizeof *each, by_value);
    if (out->count > 0) {
        out->mean = sum / (double)out->count;
        out->median = 0.5 * (each[(out->count - 1) / 2] + each[out->count / 2]);
        out->worst = each[out->count - 1];
        out->wmape = 100 * apart / whole;
    }
    free(each);
    return LS_OK;
}

static size_t largest(const suite *s)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < s->points.count; i++)
        if (s->points.at[i].is_done &&
            (best == SIZE_MAX || s->points.at[i].measured_ms > s->points.at[best].measured_ms))
            best = i;
    return best;
}

/* --------------------------------------------------------------------------------------------------- rows */

static const char *const point_columns[] = { "benchmark", "size", "measured ms",  "again", "simulated ms",
                                             "apart",     "+-",   "instructions", "CPU s", NULL };
static const char *const error_columns[] = { "benchmark", "platform", "points", "mean", "median",
                                             "worst",     "WMAPE",    "tau",    NULL };

static ls_status add_row(validate_section *section, const validate_row *row, ls_error *err)
{
    for (size_t i = 0; i < section->column_count; i++)
        if (!row->cells[i])
            return no_memory(err);
    return vec_push(&section->rows, *row) ? LS_OK : no_memory(err);
}

static ls_status add_point(const suite *s, validate_section *section, const point *p, ls_error *err)
{
    mem_arena *arena = &s->report->arena;
    validate_row row = { .cells = { benchmarks[p->benchmark].name, p->size,
                                    arena_printf(arena, "%.4f", p->measured_ms),
                                    isnan(p->repeat_ms) ? "" : arena_printf(arena, "%.4f", p->repeat_ms), "",
                                    "", "", "", arena_printf(arena, "%.1f", p->cpu_seconds) },
                         .verdict = p->is_done ? VALIDATE_PASS : VALIDATE_FAIL,
                         .note = p->failure };
    if (p->is_done) {
        row.reference = p->measured_ms;
        row.ours = p->ms;
        row.deviation = error_of(p);
        row.cells[4] = arena_printf(arena, "%.4f", p->ms);
        row.cells[5] = arena_printf(arena, "%+.1f %%", row.deviation);
        row.cells[6] = p->share < 1 ? arena_printf(arena, "%.1f %%", 100 * p->half_ms / p->ms) : "";
        row.cells[7] = arena_printf(arena, "%" PRIu64, p->instructions);
    }
    return add_row(section, &row, err);
}

static ls_status add_errors(const suite *s, validate_section *section, const char *name, size_t benchmark,
                            size_t without, errors *e, ls_error *err)
{
    mem_arena *arena = &s->report->arena;
    ls_status status = judge(s, benchmark, without, e, err);
    if (status != LS_OK || e->count == 0)
        return status;
    validate_row row = {
        .cells = { name, PLATFORM, arena_printf(arena, "%zu", e->count),
                   arena_printf(arena, "%.1f %%", e->mean), arena_printf(arena, "%.1f %%", e->median),
                   arena_printf(arena, "%.1f %%", e->worst), arena_printf(arena, "%.1f %%", e->wmape),
                   isnan(e->tau) ? "" : arena_printf(arena, "%.2f", e->tau) },
        .deviation = e->mean
    };
    const bool is_one = benchmark != SIZE_MAX;
    if (is_one ? e->mean > BENCHMARK_LIMIT : e->mean > MEAN_LIMIT || e->wmape > WMAPE_LIMIT)
        row.verdict = VALIDATE_FAIL;
    return add_row(section, &row, err);
}

static ls_status report_errors(const suite *s, ls_error *err)
{
    validate_section *section =
        validate_section_add(s->report, "mi300a-errors", "MI300A: errors by benchmark", error_columns);
    errors one, all = { 0 }, rest = { 0 };
    double seconds = 0;
    ls_status status = section ? LS_OK : no_memory(err);
    for (size_t i = 0; i < LS_COUNT_OF(benchmarks) && status == LS_OK; i++)
        status = add_errors(s, section, benchmarks[i].name, i, SIZE_MAX, &one, err);
    if (status == LS_OK)
        status = add_errors(s, section, "all", SIZE_MAX, SIZE_MAX, &all, err);
    if (status == LS_OK)
        status = add_errors(s, section, "all but the longest", SIZE_MAX, largest(s), &rest, err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < s->points.count; i++)
        seconds += s->points.at[i].cpu_seconds;
    section->about =
        "Absolute errors of the points: their mean, median and largest; WMAPE: the sum of all differences over the sum of "
        "all measured times; tau: Kendall's rank correlation of measured and simulated times. Passes: a benchmark within "
        "30 % on average; all within 15 % on average and 10 % of WMAPE.";
    section->summary =
        arena_printf(&s->report->arena,
                     "mi300a: %zu of %zu points: WMAPE %.1f %%, %.1f %% without the longest; mean "
                     "%.1f %%, median %.1f %%; %.0f CPU seconds; %zu rows failed",
                     all.count, s->points.count, all.wmape, rest.wmape, all.mean, all.median, seconds,
                     validate_count(section, VALIDATE_FAIL));
    return section->summary ? LS_OK : no_memory(err);
}

/* A point that fails is a result; only a lack of memory ends the validation. */
static ls_status take_outcome(void *self, size_t index, const void *result, const char *end, ls_error *err)
{
    suite *s = self;
    point *p = &s->points.at[index];
    const outcome *o = result;
    if (o->status == LS_ERR_NOMEM)
        return ls_fail(err, LS_ERR_NOMEM, "%s", o->failure);
    if (end || o->status != LS_OK) {
        p->failure = arena_strdup(&s->report->arena, end ? end : o->failure);
        if (!p->failure)
            return no_memory(err);
    } else {
        p->is_done = true;
        p->ms = o->ms;
        p->half_ms = o->half_ms;
        p->share = o->share;
        p->instructions = o->instructions;
    }
    p->cpu_seconds = o->cpu_seconds;
    print_progress(s, index);
    return add_point(s, s->section, p, err);
}

ls_status validate_mi300a(const validate_reference *ref, validate_report *report, ls_error *err)
{
    suite s = { .ref = ref, .report = report };
    validate_section *section =
        validate_section_add(report, "mi300a", "MI300A: benchmarks against measured times", point_columns);
    if (!section)
        return no_memory(err);
    section->about =
        "Each point is a benchmark of one size: the shortest time between two events that was measured, again in a second "
        "run, and the simulated one of the same work after one call that warms up. A point of more than the limit of "
        "wavefront instructions (8 million unless --limit says otherwise) is sampled: three parts are simulated, and "
        "+- is half of the interval that the difference of their slopes gives.";
    section->plot_label = "time";
    section->plot_unit = "ms";
    ls_status status = read_points(&s, err);
    s.section = section;
    if (status == LS_OK)
        status = jobs_run(&(jobs_request){ .count = s.points.count,
                                           .result_bytes = sizeof(outcome),
                                           .at_once = ref->jobs,
                                           .self = &s,
                                           .work = simulate,
                                           .done = take_outcome },
                          err);
    if (status == LS_OK && s.points.count > 0)
        status = report_errors(&s, err);
    else if (status == LS_OK)
        section->summary =
            "mi300a: skipped: no measured points; they are not shipped: --reference DIR with " FIT
            ", or --points FILE";
    vec_fini(&s.points);
    return status;
}

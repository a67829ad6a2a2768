/* sample.c: sampled simulation (--sample) against full runs: its error, its interval and its cost, beside other ways of
 * choosing at the same cost. */
#include "cli/validate/validate.h"

#include "sim/session.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NVIDIA "rtx3070"
#define AMD "r9nano"

/* In percent: of one workload, of all on average; and the least share of intervals that hold the truth. */
#define WORST_LIMIT 6.0
#define MEAN_LIMIT 2.0
#define HELD_LIMIT 90.0
#define DRAWS 20u /* of the random choice, whose mean error is shown */

static const char *const columns[] = { "workload", "platform", "kernels", "cycles", "sieve: run", "error",
                                       "+-",       "2 %: run", "error",   "+-",     "CPU time",   "random",
                                       "PKA-like", "cold",     "bias",    NULL };

enum { SIEVE, GOAL, METHODS };

/* One workload of a part. */
typedef struct subject {
    const char *name, *workload;
    uint64_t size;  /* of an AMD program; 0: a trace */
    uint64_t extra; /* value of `option`, if there is one */
    const char *option;
} subject;

/* The launches of a full run, for other ways of choosing. */
typedef struct truth {
    double cycles, seconds;
    size_t count;
    double *each;       /* cycles of a kernel */
    const char **names; /* in the report's arena */
} truth;

typedef struct sampling {
    const validate_reference *ref;
    validate_report *report;
    validate_section *section;
    double sum[METHODS], worst[METHODS];
    size_t held[METHODS], rows;
} sampling;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Opens and runs; *seconds of the CPU includes the plan. */
static ls_status simulate(const sampling *s, const subject *w, const char *sample, ls_sim **out,
                          double *seconds, ls_error *err)
{
    const ls_sim_setting settings[] = { { NULL, w->size }, { w->option, w->extra } };
    const ls_sim_options options = { LS_SIM_OPTIONS,
                                     .platform = w->size > 0 ? AMD : NVIDIA,
                                     .platform_dirs = s->ref->platform_dirs,
                                     .platform_dir_count = s->ref->platform_dir_count,
                                     .workload = w->workload,
                                     .settings = w->size > 0 ? settings : NULL,
                                     .setting_count = w->size == 0        ? 0
                                                      : w->option != NULL ? 2
                                                                          : 1,
                                     .skip_unmodelled = w->size == 0,
                                     .sample = sample };
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = s->ref->threads };
    double before = cpu_seconds();
    ls_status status = ls_sim_open(&options, out, err);
    if (status == LS_OK)
        status = ls_sim_run(*out, &how, err);
    *seconds = cpu_seconds() - before;
    return status;
}

static ls_status find_truth(const sampling *s, const subject *w, truth *out, ls_error *err)
{
    mem_arena *arena = &s->report->arena;
    ls_sim *sim = NULL;
    ls_status status = simulate(s, w, NULL, &sim, &out->seconds, err);
    if (status == LS_OK) {
        out->cycles = (double)ls_sim_get_result(sim).cycles;
        out->count = ls_sim_kernel_count(sim);
        out->each = calloc(out->count + 1, sizeof *out->each);
        out->names = calloc(out->count + 1, sizeof *out->names);
        if (!out->each || !out->names)
            status = no_memory(err);
    }
    for (size_t i = 0; status == LS_OK && i < out->count; i++) {
        ls_sim_kernel k;
        status = ls_sim_get_kernel(sim, i, &k, err);
        out->each[i] = (double)(k.end_cycle - k.begin_cycle);
        for (size_t j = i; j-- > 0 && i - j < 32 && !out->names[i];) /* most are near */
            if (strcmp(out->names[j], k.name) == 0)
                out->names[i] = out->names[j];
        if (!out->names[i] && !(out->names[i] = arena_strdup(arena, k.name)))
            status = no_memory(err);
    }
    ls_sim_close(sim);
    return status;
}

/* ------------------------------------------------------------------------------------------ other ways */

static double percent_off(double value, double of)
{
    return 100 * (value / of - 1);
}

/* As many kernels, chosen at random; the mean of the errors' sizes. The generator is fixed. */
static double random_error(const truth *t, uint64_t kernels)
{
    uint64_t state = 1;
    double errors = 0;
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        double sum = 0;
        for (uint64_t i = 0; i < kernels; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            sum += t->each[(state >> 33) % t->count];
        }
        errors += fabs(percent_off(sum / (double)kernels * (double)t->count, t->cycles));
    }
    return errors / DRAWS;
}

/* The first kernel of each name stands for all of it (PKS), and a kernel that is stopped goes on as fast as it was on
 * average until then (PKA). */
static double pka_error(const truth *t, double projected)
{
    double sum = 0;
    for (size_t i = 0; i < t->count; i++) {
        size_t first = 0;
        while (t->names[first] != t->names[i] && strcmp(t->names[first], t->names[i]) != 0)
            first++;
        sum += t->each[first];
    }
    return percent_off(sum + projected, t->cycles);
}

/* ------------------------------------------------------------------------------------------------- rows */

typedef struct outcome {
    ls_sim_sample sample;
    double seconds, projected;
    double unbiased; /* the estimate if chosen kernels had taken the cycles of the full run */
} outcome;

static ls_status try_sample(const sampling *s, const subject *w, const char *sample, const truth *t,
                            outcome *out, ls_error *err)
{
    ls_sim *sim = NULL;
    ls_status status = simulate(s, w, sample, &sim, &out->seconds, err);
    if (status == LS_OK) {
        (void)ls_sim_get_sample(sim, &out->sample);
        out->projected = sample_plan_projected(sim->sample.plan);
        out->unbiased = sample_plan_count(sim->sample.plan) == t->count
                            ? sample_plan_value_with(sim->sample.plan, t->each)
                            : out->sample.cycles;
    }
    ls_sim_close(sim);
    return status;
}

static void count(sampling *s, int method, const outcome *o, const truth *t)
{
    double error = fabs(percent_off(o->sample.cycles, t->cycles));
    s->sum[method] += error;
    s->worst[method] = error > s->worst[method] ? error : s->worst[method];
    s->held[method] += t->cycles >= o->sample.low - 0.5 && t->cycles <= o->sample.high + 0.5;
}

static ls_status add_row(sampling *s, const subject *w, const truth *t, const outcome o[METHODS],
                         const outcome *cold, ls_error *err)
{
    mem_arena *arena = &s->report->arena;
    validate_row row = { .cells = { arena_strdup(arena, w->name), w->size > 0 ? AMD : NVIDIA,
                                    arena_printf(arena, "%zu", t->count),
                                    arena_printf(arena, "%.0f", t->cycles) },
                         .reference = t->cycles,
                         .ours = o[GOAL].sample.cycles };
    for (int m = 0; m < METHODS; m++) {
        const ls_sim_sample *r = &o[m].sample;
        double error = percent_off(r->cycles, t->cycles);
        row.cells[4 + 3 * m] =
            arena_printf(arena, "%.1f %%",
                         100.0 * (double)r->simulated_instructions / (double)r->instructions);
        row.cells[5 + 3 * m] = arena_printf(arena, "%+.2f %%", error);
        row.cells[6 + 3 * m] = arena_printf(arena, "%.2f %%", 100 * r->error);
        if (fabs(error) > fabs(row.deviation))
            row.deviation = error;
        count(s, m, &o[m], t);
    }
    row.cells[10] = arena_printf(arena, "%.1f x less", t->seconds / o[SIEVE].seconds);
    row.cells[11] = arena_printf(arena, "%.1f %%", random_error(t, o[SIEVE].sample.simulated_kernels));
    row.cells[12] = arena_printf(arena, "%+.1f %%", pka_error(t, o[SIEVE].projected));
    row.cells[13] = cold ? arena_printf(arena, "%+.2f %%", percent_off(cold->sample.cycles, t->cycles)) : "";
    row.cells[14] =
        arena_printf(arena, "%+.2f %%", 100 * (o[SIEVE].sample.cycles - o[SIEVE].unbiased) / t->cycles);
    row.verdict = fabs(row.deviation) <= WORST_LIMIT ? VALIDATE_PASS : VALIDATE_FAIL;
    s->rows++;
    for (size_t i = 0; i < s->section->column_count; i++)
        if (!row.cells[i])
            return no_memory(err);
    return vec_push(&s->section->rows, row) ? LS_OK : no_memory(err);
}

static ls_status measure(sampling *s, const subject *w, ls_error *err)
{
    truth t = { 0 };
    outcome o[METHODS] = { 0 }, cold = { 0 };
    bool is_trace = w->size == 0;
    ls_status status = find_truth(s, w, &t, err);
    if (status == LS_OK)
        status = try_sample(s, w, "sieve,blocks", &t, &o[SIEVE], err);
    if (status == LS_OK)
        status = try_sample(s, w, "error=2%,blocks", &t, &o[GOAL], err);
    if (status == LS_OK && is_trace)
        status = try_sample(s, w, "sieve,blocks,cold", &t, &cold, err);
    if (status == LS_OK)
        status = add_row(s, w, &t, o, is_trace ? &cold : NULL, err);
    free(t.each);
    free(t.names);
    return status;
}

/* ------------------------------------------------------------------------------------------------- parts */

/* Twenty applications: how many kernels, of how many kinds, of about how many thread blocks. */
static const struct {
    uint32_t kernels, kinds, blocks;
} applications[] = {
    { 1000, 4, 2 }, { 1000, 5, 4 },  { 1000, 6, 8 },  { 1000, 7, 2 },  { 1000, 8, 4 },
    { 1000, 9, 8 }, { 1000, 10, 2 }, { 1000, 12, 4 }, { 1000, 3, 16 }, { 1000, 12, 8 },
    { 2000, 4, 4 }, { 2000, 6, 2 },  { 2000, 8, 1 },  { 2000, 10, 4 }, { 2000, 12, 2 },
    { 4000, 6, 1 }, { 4000, 8, 2 },  { 4000, 12, 1 }, { 20000, 8, 1 }, { 20000, 12, 1 },
};

static ls_status measure_applications(sampling *s, ls_error *err)
{
    mem_arena *arena = &s->report->arena;
    ls_status status = LS_OK;
    for (size_t i = 0; i < LS_COUNT_OF(applications) && status == LS_OK; i++) {
        subject w = { .name = arena_printf(arena, "application %zu", i + 1),
                      .workload =
                          arena_printf(arena, "synth:application,kernels=%u,kinds=%u,blocks=%u,seed=%zu",
                                       applications[i].kernels, applications[i].kinds, applications[i].blocks,
                                       i + 1) };
        status = w.name && w.workload ? measure(s, &w, err) : no_memory(err);
    }
    return status;
}

/* Single large kernels, for the steady state of their thread blocks. */
static ls_status measure_kernels(sampling *s, ls_error *err)
{
    static const char *const kernels[] = { "vector-add,n=2097152", "saxpy,n=3145728",
                                           "stencil,nx=2048,ny=1536", "gemm,m=1024,n=1024,k=64" };
    ls_status status = LS_OK;
    for (size_t i = 0; i < LS_COUNT_OF(kernels) && status == LS_OK; i++) {
        const subject w = { .name = kernels[i],
                            .workload = arena_printf(&s->report->arena, "synth:%s", kernels[i]) };
        status = w.workload ? measure(s, &w, err) : no_memory(err);
    }
    static const subject programs[] = {
        { "fir 2097152", "fir", 2097152, 0, NULL },
        { "relu 4194304", "relu", 4194304, 0, NULL },
        { "simpleconvolution 1024", "simpleconvolution", 1024, 0, NULL },
    };
    for (size_t i = 0; i < LS_COUNT_OF(programs) && status == LS_OK; i++)
        status = measure(s, &programs[i], err);
    return status;
}

static ls_status measure_amd(sampling *s, ls_error *err)
{
    static const subject programs[] = {
        { "floydwarshall", "floydwarshall", 96, 0, NULL },
        { "bitonicsort", "bitonicsort", 4096, 0, NULL },
        { "fastwalshtransform", "fastwalshtransform", 65536, 0, NULL },
        { "nw", "nw", 512, 0, NULL },
        { "kmeans", "kmeans", 1024, 12, "iterations" },
        { "pagerank", "pagerank", 64, 16, "iterations" },
        { "stencil2d", "stencil2d", 64, 16, "iterations" },
        { "scan", "scan", 65536, 0, NULL },
        { "reduction", "reduction", 262144, 0, NULL },
        { "atax", "atax", 128, 0, NULL },
    };
    ls_status status = LS_OK;
    for (size_t i = 0; i < LS_COUNT_OF(programs) && status == LS_OK; i++)
        status = measure(s, &programs[i], err);
    return status;
}

static ls_status measure_traces(sampling *s, ls_error *err)
{
    const char **names = NULL;
    size_t count_ = 0;
    if (!s->ref->traces) {
        validate_row row = { .cells = { "traces", NVIDIA },
                             .verdict = VALIDATE_SKIPPED,
                             .note = "The traces are not shipped: --reference DIR with DIR/../traces." };
        for (size_t i = 2; i < s->section->column_count; i++)
            row.cells[i] = "";
        return vec_push(&s->section->rows, row) ? LS_OK : no_memory(err);
    }
    ls_status status = validate_list_traces(s->ref, &names, &count_, err);
    for (size_t i = 0; i < count_ && status == LS_OK; i++) {
        const subject w = { .name = names[i],
                            .workload = arena_printf(&s->report->arena, "%s/%s", s->ref->traces, names[i]) };
        status = w.workload ? measure(s, &w, err) : no_memory(err);
    }
    return status;
}

/* The share of intervals that hold the truth, over both methods. */
static ls_status summarize(sampling *s, ls_error *err)
{
    mem_arena *arena = &s->report->arena;
    if (s->rows == 0) {
        s->section->summary = "sample: nothing was measured";
        return LS_OK;
    }
    double rows = (double)s->rows, mean[METHODS], held;
    for (int m = 0; m < METHODS; m++)
        mean[m] = s->sum[m] / rows;
    held = 100 * (double)(s->held[SIEVE] + s->held[GOAL]) / (2 * rows);
    validate_row all = { .cells = { "all: mean, worst", "", "", "", "",
                                    arena_printf(arena, "%.2f, %.2f %%", mean[SIEVE], s->worst[SIEVE]),
                                    arena_printf(arena, "%zu of %zu hold", s->held[SIEVE], s->rows), "",
                                    arena_printf(arena, "%.2f, %.2f %%", mean[GOAL], s->worst[GOAL]),
                                    arena_printf(arena, "%zu of %zu hold", s->held[GOAL], s->rows), "", "", "",
                                    "", "" },
                         .deviation = mean[GOAL] };
    all.verdict = mean[SIEVE] <= MEAN_LIMIT && mean[GOAL] <= MEAN_LIMIT && held >= HELD_LIMIT ? VALIDATE_PASS
                                                                                              : VALIDATE_FAIL;
    s->section->summary = arena_printf(
        arena,
        "sample: %zu workloads: sieve %.2f %% off on average and %.2f %% at worst, error=2%% %.2f and %.2f; %.0f %% "
        "of the intervals hold the truth; %zu failed",
        s->rows, mean[SIEVE], s->worst[SIEVE], mean[GOAL], s->worst[GOAL], held,
        validate_count(s->section, VALIDATE_FAIL) + (all.verdict == VALIDATE_FAIL));
    for (size_t i = 0; i < s->section->column_count; i++)
        if (!all.cells[i])
            return no_memory(err);
    return s->section->summary && vec_push(&s->section->rows, all) ? LS_OK : no_memory(err);
}

ls_status validate_sample(const validate_reference *ref, validate_report *report, int only, ls_error *err)
{
    static ls_status (*const parts[])(sampling * s, ls_error * err) = { measure_traces, measure_applications,
                                                                        measure_kernels, measure_amd };
    sampling s = { .ref = ref, .report = report };
    s.section = validate_section_add(report, "sample", "Sampled simulation against full runs", columns);
    if (!s.section)
        return no_memory(err);
    s.section->about =
        "The estimate of --sample sieve,blocks and error=2%,blocks against the cycles of a "
        "full run, half of its 95 % interval, and the share of instructions that was simulated. CPU time: of the full run "
        "over that of sieve. Other ways: as many kernels at random (mean of 20 draws); the first kernel of each name, and "
        "projection at a stop (PKA-like); sieve without warming L2 (cold). Bias: how far the estimate of sieve is from that of the "
        "same choice with the cycles of the full run: caches before a chosen kernel, and thread blocks left out. Passes: every error within 6 %, the means within "
        "2 %, and 90 % of the intervals hold the truth.";
    ls_status status = LS_OK;
    for (int i = 0; i < (int)LS_COUNT_OF(parts) && status == LS_OK; i++)
        if (only < 0 || only == i)
            status = parts[i](&s, err);
    return status == LS_OK ? summarize(&s, err) : status;
}

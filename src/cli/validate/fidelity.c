/* fidelity.c: accuracy and speed of simpler models: every preset against the detailed one, on generated
 * kernels and on the traces of the reference. Also whether each preset ranks configurations in the same
 * order. */
#include "sim/fidelity.h"
#include "cli/suite.h"
#include "sim/sweep/grid.h"
#include "cli/validate/validate.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLATFORM "rtx3070"

/* Largest deviation of cycles from detailed, in percent: on average, and of a single case. Launch latencies do
 * not count: they are the same for all, and where they are most of a kernel they would hide the rest. */
static const struct {
    double mean, worst;
} limits[FIDELITY_COUNT] = { [FIDELITY_BASIC] = { 3, 8 }, [FIDELITY_MEMORY] = { 12, 20 } };

#define TAU_MIN 0.9

static const char *const columns[] = {
    "kernel",       "platform",       "fidelity", "cycles",       "detailed",
    "deviation, %", "with launch, %", "host s",   "times faster", NULL
};

typedef struct comparing {
    const validate_reference *ref;
    validate_report *report;
    validate_section *section;
    bool wanted[FIDELITY_COUNT];
    double sum[FIDELITY_COUNT], worst[FIDELITY_COUNT], speed[FIDELITY_COUNT];
    double launched_sum[FIDELITY_COUNT], launched_worst[FIDELITY_COUNT]; /* launch latencies included */
    size_t count[FIDELITY_COUNT];
} comparing;

static config_request with_preset(const config_request *platform, int preset)
{
    config_request request = *platform;
    request.sets = fidelity_presets[preset].sets;
    for (request.set_count = 0; request.sets[request.set_count];)
        request.set_count++;
    return request;
}

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
}

/* ---------------------------------------------------------------------------------------------- accuracy */

static ls_status add_row(comparing *c, const char *name, const char *platform, int preset,
                         const validate_result *result, const validate_result *detailed, ls_error *err)
{
    mem_arena *arena = &c->report->arena;
    double ours = (double)result->total.cycles, reference = (double)detailed->total.cycles;
    double launch = (double)detailed->launch_cycles, launched = 100 * (ours / reference - 1);
    double deviation = 100 * ((ours - launch) / (reference - launch) - 1);
    double faster = detailed->host_seconds / result->host_seconds;
    validate_row row = {
        .cells = { arena_strdup(arena, name), arena_strdup(arena, platform), fidelity_presets[preset].name,
                   arena_printf(arena, "%.0f", ours), arena_printf(arena, "%.0f", reference),
                   arena_printf(arena, "%+.2f", deviation), arena_printf(arena, "%+.2f", launched),
                   arena_printf(arena, "%.3f", result->host_seconds), arena_printf(arena, "%.1f", faster) },
        .reference = reference,
        .ours = ours,
        .deviation = deviation,
    };
    for (size_t i = 0; i + 1 < LS_COUNT_OF(columns); i++)
        if (!row.cells[i])
            return no_memory(err);
    if (fabs(deviation) > limits[preset].worst) {
        row.note = validate_note("fidelity", name, fidelity_presets[preset].name, deviation);
        row.verdict = row.note ? VALIDATE_KNOWN : VALIDATE_FAIL;
    }
    c->sum[preset] += fabs(deviation);
    c->worst[preset] = fmax(c->worst[preset], fabs(deviation));
    c->launched_sum[preset] += fabs(launched);
    c->launched_worst[preset] = fmax(c->launched_worst[preset], fabs(launched));
    c->speed[preset] += log(faster);
    c->count[preset]++;
    return vec_push(&c->section->rows, row) ? LS_OK : no_memory(err);
}

static ls_status compare_one(comparing *c, const config_request *platform, const char *name, const char *trace,
                             ls_error *err)
{
    mem_arena scratch = { 0 };
    validate_result detailed, result;
    validate_job job = { .trace = trace, .threads = c->ref->threads };
    job.platform = with_preset(platform, FIDELITY_DETAILED);
    ls_status status = validate_simulate(&scratch, &job, &detailed, err);
    for (int preset = FIDELITY_DETAILED + 1; preset < FIDELITY_COUNT && status == LS_OK; preset++) {
        if (!c->wanted[preset])
            continue;
        job.platform = with_preset(platform, preset);
        status = validate_simulate(&scratch, &job, &result, err);
        if (status == LS_OK)
            status = add_row(c, name, platform->platform, preset, &result, &detailed, err);
    }
    arena_fini(&scratch);
    return status;
}

/* ----------------------------------------------------------------------------------------------- ranking */

/* The sweep of the ranking: 2 x 4 x 3 configurations (L1 of 16 to 128 KiB). Its kernels are sensitive to all
 * three keys, so that the configurations really differ. One reads at random from a table that fits into the
 * larger caches only. In the other each warp goes through lines of its own, which a greedy scheduler keeps in
 * L1 and a fair one does not. */
static const char *const axes[] = { "core.scheduler=gto,lrr", "core.l1.size_kib=16..128*2", "cores=12,23,46" };
static const char *const ranked[] = {
    "synth:gather,n=131072,table_kib=96",
    "synth:throughput,op=LDG,count=64,warps=16,ctas=92,warp_step_bytes=8192,step_bytes=32",
};

static ls_status cycles_of(comparing *c, const sweep_grid *grid, size_t point, int preset, double *out,
                           ls_error *err)
{
    mem_arena scratch = { 0 };
    const char *sets[16];
    size_t count = 0;
    const char *const *own = sweep_grid_sets(grid, point);
    for (const char *const *set = fidelity_presets[preset].sets; *set; set++)
        sets[count++] = *set;
    sets[count++] = "core.unified_kib=0"; /* L1 has a size of its own */
    for (size_t i = 0; own && own[i]; i++)
        sets[count++] = own[i];
    validate_job job = { .platform = { .platform = PLATFORM,
                                       .sets = sets,
                                       .set_count = count,
                                       .platform_dirs = c->ref->platform_dirs,
                                       .platform_dir_count = c->ref->platform_dir_count },
                         .threads = c->ref->threads };
    ls_status status = own ? LS_OK : no_memory(err);
    *out = 0;
    for (size_t i = 0; i < LS_COUNT_OF(ranked) && status == LS_OK; i++) {
        validate_result result;
        job.trace = ranked[i];
        status = validate_simulate(&scratch, &job, &result, err);
        *out += status == LS_OK ? (double)result.total.cycles : 0;
    }
    arena_fini(&scratch);
    return status;
}

static ls_status rank(comparing *c, int preset, double *tau, size_t *points, ls_error *err)
{
    sweep_grid grid = { .arena = &c->report->arena };
    ls_status status = LS_OK;
    for (size_t i = 0; i < LS_COUNT_OF(axes) && status == LS_OK; i++)
        status = sweep_grid_add(&grid, axes[i], err);
    double *times = status == LS_OK ? arena_array(&c->report->arena, 2 * grid.points, sizeof *times) : NULL;
    if (status == LS_OK && !times)
        status = no_memory(err);
    for (size_t p = 0; status == LS_OK && p < grid.points; p++) {
        status = cycles_of(c, &grid, p, FIDELITY_DETAILED, &times[p], err);
        if (status == LS_OK)
            status = cycles_of(c, &grid, p, preset, &times[grid.points + p], err);
    }
    if (status == LS_OK) {
        *tau = sweep_kendall_tau(times, times + grid.points, grid.points);
        *points = grid.points;
    }
    sweep_grid_fini(&grid);
    return status;
}

static ls_status add_ranking(comparing *c, int preset, ls_error *err)
{
    mem_arena *arena = &c->report->arena;
    double tau;
    size_t points;
    ls_status status = rank(c, preset, &tau, &points, err);
    if (status != LS_OK)
        return status;
    validate_row row = { .cells = { arena_printf(arena, "order of %zu configurations", points), PLATFORM,
                                    fidelity_presets[preset].name, arena_printf(arena, "tau %.3f", tau),
                                    "tau 1", "", "", "", "" },
                         .verdict =
                             preset != FIDELITY_BASIC || tau >= TAU_MIN ? VALIDATE_PASS : VALIDATE_FAIL };
    if (!row.cells[0] || !row.cells[3] || !vec_push(&c->section->rows, row))
        return no_memory(err);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------- all together */

static ls_status compare_suite(comparing *c, ls_error *err)
{
    const config_request platform = { .platform = PLATFORM,
                                      .platform_dirs = c->ref->platform_dirs,
                                      .platform_dir_count = c->ref->platform_dir_count };
    ls_status status = LS_OK;
    for (size_t i = 0; i < SUITE_COUNT && status == LS_OK; i++)
        if (suite_kernels[i].fills)
            status = compare_one(c, &platform, suite_kernels[i].name, suite_kernels[i].trace, err);
    return status;
}

/* Kernels that memory by formula was not made with, and kernels of many short blocks. */
static ls_status compare_held(comparing *c, ls_error *err)
{
    static const struct {
        const char *platform, *name, *trace;
        bool all; /* presets; else memory only */
    } held[] = {
#define HELD(platform_, name_, trace_) { platform_, name_, trace_, false },
#define SHORT(platform_, name_, trace_) { platform_, name_, trace_, true },
#include "cli/validate/held.def"
#undef HELD
#undef SHORT
    };
    bool wanted[FIDELITY_COUNT];
    memcpy(wanted, c->wanted, sizeof wanted);
    ls_status status = LS_OK;
    for (size_t i = 0; i < LS_COUNT_OF(held) && status == LS_OK; i++) {
        const config_request platform = { .platform = held[i].platform,
                                          .platform_dirs = c->ref->platform_dirs,
                                          .platform_dir_count = c->ref->platform_dir_count };
        bool any = false;
        for (int preset = 0; preset < FIDELITY_COUNT; preset++) {
            c->wanted[preset] = wanted[preset] && (held[i].all || preset == FIDELITY_MEMORY);
            any |= c->wanted[preset];
        }
        if (any)
            status = compare_one(c, &platform, held[i].name, held[i].trace, err);
    }
    memcpy(c->wanted, wanted, sizeof wanted);
    return status;
}

static ls_status compare_traces(comparing *c, ls_error *err)
{
    const config_request platform = { .platform = PLATFORM,
                                      .platform_dirs = c->ref->platform_dirs,
                                      .platform_dir_count = c->ref->platform_dir_count };
    const char **names = NULL;
    size_t count = 0;
    if (!c->ref->traces || !file_is_dir(c->ref->traces))
        return LS_OK;
    ls_status status = validate_list_traces(c->ref, &names, &count, err);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        const char *path = arena_printf(c->ref->arena, "%s/%s", c->ref->traces, names[i]);
        status = path ? compare_one(c, &platform, names[i], path, err) : no_memory(err);
    }
    return status;
}

static ls_status summarise(comparing *c, ls_error *err)
{
    text_buffer text = { 0 };
    for (int preset = 0; preset < FIDELITY_COUNT; preset++) {
        if (!c->count[preset])
            continue;
        double n = (double)c->count[preset], mean = c->sum[preset] / n;
        text_printf(
            &text,
            "%s%s: %zu cases, %.2f %% apart on average (limit %.0f), %.2f %% at worst (limit %.0f); launch "
            "latencies included %.2f %% and %.2f %%; %.1f times faster%s",
            text.count ? "; " : "fidelity: ", fidelity_presets[preset].name, c->count[preset], mean,
            limits[preset].mean, c->worst[preset], limits[preset].worst, c->launched_sum[preset] / n,
            c->launched_worst[preset], exp(c->speed[preset] / n),
            mean > limits[preset].mean ? " (the average FAILS)" : "");
        if (mean > limits[preset].mean) {
            validate_row row = { .cells = { "average", "", fidelity_presets[preset].name, "", "",
                                            arena_printf(&c->report->arena, "%.2f", mean), "", "", "" },
                                 .verdict = VALIDATE_FAIL };
            if (!row.cells[5] || !vec_push(&c->section->rows, row)) {
                text_fini(&text);
                return no_memory(err);
            }
        }
    }
    c->section->summary = text.failed ? NULL : arena_strdup(&c->report->arena, text_get(&text));
    text_fini(&text);
    return c->section->summary ? LS_OK : no_memory(err);
}

ls_status validate_fidelity(const validate_reference *ref, validate_report *report, int only, ls_error *err)
{
    comparing c = { .ref = ref, .report = report };
    for (int preset = 0; preset < FIDELITY_COUNT; preset++)
        c.wanted[preset] = preset != FIDELITY_DETAILED && (only < 0 || only == preset);
    c.section = validate_section_add(report, "fidelity", "Simpler models against the detailed ones", columns);
    if (!c.section)
        return no_memory(err);
    c.section->about =
        "Cycles of each preset of models and the host's time, against every stage and request simulated, on " PLATFORM
        ": generated kernels that fill the GPU, and the traces of the reference where they are there. The preset "
        "memory also runs on kernels and platforms that it was not made with, and all run on kernels of many short "
        "blocks. Deviations are without the launch latencies, which no model changes; beside them with these. Passes: "
        "basic within 8 % (3 % on average), memory within 20 % (12 % on average), and basic "
        "orders configurations as detailed does (Kendall's tau at least 0.9).";
    c.section->plot_label = "simpler models";
    c.section->plot_unit = "cycles";
    ls_status status = compare_suite(&c, err);
    if (status == LS_OK)
        status = compare_held(&c, err);
    if (status == LS_OK)
        status = compare_traces(&c, err);
    for (int preset = FIDELITY_DETAILED + 1; preset < FIDELITY_COUNT && status == LS_OK; preset++)
        if (c.wanted[preset])
            status = add_ranking(&c, preset, err);
    return status == LS_OK ? summarise(&c, err) : status;
}

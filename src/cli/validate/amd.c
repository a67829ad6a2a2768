/* amd.c: AMD platforms in simulated time, against measurements of the GPUs they describe (amd.def) and
 * against themselves: every workload right, and the same for any number of threads. */
#include "sim/program_job.h"
#include "cli/validate/validate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SETTINGS_MAX 8

typedef enum measure { PER_UNIT, INTERCEPT, BANDWIDTH } measure;

typedef struct check {
    const char *platform, *workload, *settings, *parameter;
    uint64_t low, high;
    measure measure;
    double unit; /* of the parameter: the name of one unit of PER_UNIT; bytes of BANDWIDTH */
    double expected, tolerance;
    const char *what, *source;
} check;

static const check checks[] = {
#define PER_UNIT_OF(items_) PER_UNIT, (items_)
#define INTERCEPT INTERCEPT, 1
#define BANDWIDTH_OF(bytes_) BANDWIDTH, (bytes_)
#define AMD(platform_, workload_, settings_, parameter_, low_, high_, measure_, expected_, tolerance_, what_, \
            source_)                                                                                          \
    {                                                                                                         \
        platform_, workload_, settings_,  parameter_, low_,   high_,                                          \
        measure_,  expected_, tolerance_, what_,      source_                                                 \
    },
#include "cli/validate/amd.def"
};

static const check cdna_checks[] = {
#include "cli/validate/cdna.def"
#undef AMD
#undef INTERCEPT
#undef BANDWIDTH_OF
#undef PER_UNIT_OF
};

static const char *const columns[] = { "what",  "platform", "workload", "measured", "hardware",
                                       "apart", "limit",    "source",   NULL };
static const char *const units[] = { "cycles", "us", "GB/s" };

/* "name=value,..." and the parameter. A name with a dot is a key of the platform. */
static ls_status read_settings(mem_arena *arena, const check *c, uint64_t value, wl_setting out[SETTINGS_MAX],
                               size_t *count, const char *sets[SETTINGS_MAX], size_t *set_count, ls_error *err)
{
    const char *at = c->settings;
    *count = *set_count = 0;
    out[(*count)++] = (wl_setting){ c->parameter, value };
    while (*at) {
        size_t name = strcspn(at, "="), text = strcspn(at + name + 1, ",");
        if (memchr(at, '.', name)) {
            sets[*set_count] = arena_printf(arena, "%.*s", (int)(name + 1 + text), at);
            if (!sets[(*set_count)++])
                return ls_fail(err, LS_ERR_NOMEM, "no memory for settings");
            at += name + 1 + text;
            at += *at == ',';
            continue;
        }
        wl_setting *s = &out[(*count)++];
        char *copy = arena_printf(arena, "%.*s", (int)name, at);
        if (!copy)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for settings");
        s->name = copy;
        ls_status status = parse_u64(at + name + 1, text, &s->value, err);
        if (status != LS_OK)
            return status;
        at += name + 1 + text;
        at += *at == ',';
    }
    return LS_OK;
}

static ls_status simulate(const validate_reference *ref, mem_arena *arena, const check *c, uint64_t value,
                          program_result *out, ls_error *err)
{
    wl_setting settings[SETTINGS_MAX];
    const char *sets[SETTINGS_MAX];
    program_job job = { .platform = { .platform = c->platform,
                                      .platform_dirs = ref->platform_dirs,
                                      .platform_dir_count = ref->platform_dir_count },
                        .workload = c->workload,
                        .settings = settings,
                        .threads = ref->threads };
    job.platform.sets = sets;
    ls_status status =
        read_settings(arena, c, value, settings, &job.setting_count, sets, &job.platform.set_count, err);
    return status == LS_OK ? program_simulate(&job, out, err) : status;
}

static ls_status evaluate(const validate_reference *ref, mem_arena *arena, const check *c, double *out,
                          ls_error *err)
{
    program_result low, high;
    ls_status status = simulate(ref, arena, c, c->low, &low, err);
    if (status == LS_OK)
        status = simulate(ref, arena, c, c->high, &high, err);
    if (status != LS_OK)
        return status;
    double span = (double)(c->high - c->low);
    if (c->measure == PER_UNIT)
        *out = (high.kernel_cycles - low.kernel_cycles) / span * c->unit;
    else if (c->measure == BANDWIDTH)
        *out = 1e-9 * span * c->unit / (high.kernel_seconds - low.kernel_seconds);
    else
        *out = 1e6 * (low.kernel_seconds - (high.kernel_seconds - low.kernel_seconds) / span * (double)c->low);
    return LS_OK;
}

static ls_status add_check(const validate_reference *ref, validate_report *report, validate_section *section,
                           const check *c, ls_error *err)
{
    validate_row row = { .cells = { c->what, c->platform, c->workload, "", "", "", "", c->source } };
    double value = 0;
    ls_status status = evaluate(ref, &report->arena, c, &value, err);
    return validate_add_measured(report, section, &row, status, value, c->expected, c->tolerance,
                                 units[c->measure], err);
}

static ls_status measure_hardware(const validate_reference *ref, validate_report *report, const char *name,
                                  const char *title, const check *list, size_t count, ls_error *err)
{
    validate_section *section = validate_section_add(report, name, title, columns);
    if (!section)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
    section->about =
        "Programs executed in simulated time, against what was measured on the GPUs. Values are slopes between a "
        "short and a long run, so that launches and first touches cancel out, except the launch itself. Latencies "
        "of these platforms were chosen by the same measurements: the rows show that the machine does what its "
        "parameters promise. Bandwidths come from the kernels of the same benchmarks.";
    section->plot_label = "measured quantity";
    section->plot_unit = "cycles, us or GB/s";
    ls_status status = LS_OK;
    double sum = 0;
    for (size_t i = 0; i < count && status == LS_OK; i++)
        status = add_check(ref, report, section, &list[i], err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < section->rows.count; i++)
        sum += fabs(section->rows.at[i].deviation);
    section->summary =
        arena_printf(&report->arena,
                     "AMD: %zu checks, %.1f %% apart on average: %zu passed, %zu known deviations, "
                     "%zu failed",
                     section->rows.count, sum / (double)section->rows.count,
                     validate_count(section, VALIDATE_PASS), validate_count(section, VALIDATE_KNOWN),
                     validate_count(section, VALIDATE_FAIL));
    return section->summary ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
}

/* ----------------------------------------------------------------------------------------------- programs */

static const char *const program_columns[] = {
    "workload", "platform", "kernel cycles", "instructions", "result", "threads", NULL
};
static const char *const program_platforms[] = { "r9nano", "rx5500xt" };
static const uint32_t thread_counts[] = { 1, 2, 3, 8 };

/* A collective has an array on each GPU, and one GPU alone would move nothing: it has four of them here. */
static const wl_setting on_one_gpu = { "ranks", 4 };

static bool has_ranks(const wl_workload *workload)
{
    for (size_t i = 0; i < workload->option_count; i++)
        if (strcmp(workload->options[i].name, on_one_gpu.name) == 0)
            return true;
    return false;
}

static ls_status add_program(const validate_reference *ref, validate_report *report, validate_section *section,
                             const wl_workload *workload, const char *platform, ls_error *err)
{
    mem_arena *arena = &report->arena;
    program_result first = { 0 };
    validate_row row = { .cells = { workload->name, platform, "", "", "right", "1, 2, 3 and 8: identical" } };
    for (size_t i = 0; i < LS_COUNT_OF(thread_counts); i++) {
        program_result result;
        const program_job job = { .platform = { .platform = platform,
                                                .platform_dirs = ref->platform_dirs,
                                                .platform_dir_count = ref->platform_dir_count },
                                  .workload = workload->name,
                                  .settings = &on_one_gpu,
                                  .setting_count = has_ranks(workload),
                                  .threads = thread_counts[i],
                                  .verify = true,
                                  .hash = true };
        ls_status status = program_simulate(&job, &result, err);
        if (status == LS_ERR_NOMEM)
            return status;
        if (status != LS_OK) {
            char text[512];
            row.verdict = VALIDATE_FAIL;
            row.cells[4] = "failed";
            row.note = arena_strdup(arena, ls_error_text(err, text, sizeof text));
            break;
        }
        if (i == 0)
            first = result;
        else if (memcmp(&first.hash, &result.hash, sizeof result.hash) != 0) {
            row.verdict = VALIDATE_FAIL;
            row.cells[5] = arena_printf(arena, "%" PRIu32 ": DIFFERENT", thread_counts[i]);
        }
    }
    if (row.verdict == VALIDATE_PASS && first.instructions == 0) { /* a result of nothing proves nothing */
        row.verdict = VALIDATE_FAIL;
        row.cells[4] = "nothing ran";
    }
    row.cells[2] = arena_printf(arena, "%.0f", first.kernel_cycles);
    row.cells[3] = arena_printf(arena, "%" PRIu64, first.instructions);
    if (!row.cells[2] || !row.cells[3] || !row.cells[5] || !vec_push(&section->rows, row))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
    return LS_OK;
}

static ls_status measure_programs(const validate_reference *ref, validate_report *report, ls_error *err)
{
    validate_section *section =
        validate_section_add(report, "programs", "AMD programs in simulated time", program_columns);
    if (!section)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
    section->about =
        "Every workload in its default size (collectives with four arrays on the one GPU), executed with data in the messages between compute units, "
        "caches and DRAM: its result compared with a reference on the CPU, and everything that is "
        "counted compared between numbers of threads.";
    ls_status status = LS_OK;
    for (size_t i = 0; i < wl_count() && status == LS_OK; i++)
        for (size_t p = 0; p < LS_COUNT_OF(program_platforms) && status == LS_OK; p++)
            if (!wl_at(i)->is_micro && !wl_at(i)->suite)
                status = add_program(ref, report, section, wl_at(i), program_platforms[p], err);
    if (status != LS_OK)
        return status;
    section->summary = arena_printf(&report->arena, "programs: %zu of %zu right and identical",
                                    validate_count(section, VALIDATE_PASS), section->rows.count);
    return section->summary ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
}

ls_status validate_amd(const validate_reference *ref, validate_report *report, ls_error *err)
{
    ls_status status =
        measure_hardware(ref, report, "amd", "AMD platforms against GPUs", checks, LS_COUNT_OF(checks), err);
    return status == LS_OK ? measure_programs(ref, report, err) : status;
}

ls_status validate_cdna(const validate_reference *ref, validate_report *report, ls_error *err)
{
    return measure_hardware(ref, report, "cdna", "CDNA platforms against GPUs", cdna_checks,
                            LS_COUNT_OF(cdna_checks), err);
}

/* hardware.c: native platforms against measurements of the GPUs they describe; the checks are in
 * hardware.def. */
#include "cli/validate/validate.h"
#include "workload/synth/synth.h"

#include <math.h>
#include <string.h>

typedef enum measure {
    CYCLES,    /* of the kernel with its launch */
    PER_UNIT,  /* cycles per unit of the parameter, between its two values: the launch cancels out */
    BANDWIDTH, /* GB/s, between the two values: bytes read and written over the time */
} measure;

typedef struct check {
    const char *platform, *workload; /* name of the search path; trace of the reference or synth:... */
    const char *parameter;           /* of the generated trace; NULL for CYCLES */
    uint64_t low, high;              /* its two values */
    measure measure;
    double expected, tolerance; /* tolerance: percent */
    const char *what, *source;
} check;

static const check checks[] = {
#define HARDWARE(platform_, workload_, parameter_, low_, high_, measure_, expected_, tolerance_, what_,       \
                 source_)                                                                                     \
    { platform_, workload_, parameter_, low_, high_, measure_, expected_, tolerance_, what_, source_ },
#include "cli/validate/hardware.def"
#undef HARDWARE
};

static const char *const columns[] = { "what",  "platform", "workload", "measured", "hardware",
                                       "apart", "limit",    "source",   NULL };
static const char *const units[] = { "cycles", "cycles", "GB/s" };

static ls_status simulate(const validate_reference *ref, mem_arena *arena, const check *c, uint64_t value,
                          validate_result *out, ls_error *err)
{
    const char *trace;
    if (!starts_with(c->workload, LS_SYNTH_PREFIX))
        trace = arena_printf(arena, "%s/%s", ref->traces, c->workload);
    else if (c->parameter)
        trace = arena_printf(arena, "%s,%s=%llu", c->workload, c->parameter, (unsigned long long)value);
    else
        trace = c->workload;
    if (!trace)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a trace's name");
    const validate_job job = { .platform = { .platform = c->platform,
                                             .platform_dirs = ref->platform_dirs,
                                             .platform_dir_count = ref->platform_dir_count },
                               .trace = trace,
                               .threads = ref->threads };
    return validate_simulate(arena, &job, out, err);
}

static ls_status evaluate(const validate_reference *ref, mem_arena *arena, const check *c, double *out,
                          ls_error *err)
{
    validate_result low = { 0 }, high = { 0 };
    ls_status status = simulate(ref, arena, c, c->measure == CYCLES ? c->high : c->low, &low, err);
    *out = (double)low.total.cycles;
    if (status != LS_OK || c->measure == CYCLES)
        return status;
    status = simulate(ref, arena, c, c->high, &high, err);
    if (status != LS_OK)
        return status;
    if (c->measure == PER_UNIT)
        *out = ((double)high.total.cycles - (double)low.total.cycles) / (double)(c->high - c->low);
    else
        *out = ((double)high.global_bytes - (double)low.global_bytes) / (high.seconds - low.seconds) * 1e-9;
    return status;
}

static ls_status add_check(const validate_reference *ref, validate_report *report, validate_section *section,
                           const check *c, ls_error *err)
{
    validate_row row = { .cells = { c->what, c->platform, c->workload, "", "", "", "", c->source } };
    double value = 0;
    if (!ref->traces && !starts_with(c->workload, LS_SYNTH_PREFIX)) {
        row.verdict = VALIDATE_SKIPPED;
        row.note = "The trace is not shipped: --reference DIR with DIR/../traces.";
        return vec_push(&section->rows, row) ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
    }
    ls_status status = evaluate(ref, &report->arena, c, &value, err);
    return validate_add_measured(report, section, &row, status, value, c->expected, c->tolerance,
                                 units[c->measure], err);
}

ls_status validate_hardware(const validate_reference *ref, validate_report *report, ls_error *err)
{
    validate_section *section =
        validate_section_add(report, "hardware", "Native platforms against GPUs", columns);
    if (!section)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
    section->about =
        "Platforms that describe GPUs, against what was measured on those GPUs. Cycles of a kernel include its "
        "launch; latencies are the slope between a short and a long chain of loads, so that launch and first "
        "touch cancel out. The latencies of these platforms were chosen by the same measurements: those rows "
        "show that the machine does what its parameters promise, and are no independent proof.";
    section->plot_label = "measured quantity";
    section->plot_unit = "cycles or GB/s";
    ls_status status = LS_OK;
    double sum = 0;
    for (size_t i = 0; i < LS_COUNT_OF(checks) && status == LS_OK; i++)
        status = add_check(ref, report, section, &checks[i], err);
    for (size_t i = 0; i < section->rows.count; i++)
        sum += fabs(section->rows.at[i].deviation);
    if (status != LS_OK)
        return status;
    size_t skipped = validate_count(section, VALIDATE_SKIPPED);
    char skipped_text[64] = "";
    if (skipped)
        snprintf(skipped_text, sizeof skipped_text, "; %zu skipped for want of their traces", skipped);
    section->summary =
        arena_printf(&report->arena,
                     "hardware: %zu checks, %.1f %% apart on average: %zu passed, %zu known deviations, "
                     "%zu failed%s",
                     section->rows.count - skipped, sum / (double)(section->rows.count - skipped),
                     validate_count(section, VALIDATE_PASS), validate_count(section, VALIDATE_KNOWN),
                     validate_count(section, VALIDATE_FAIL), skipped_text);
    return section->summary ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
}

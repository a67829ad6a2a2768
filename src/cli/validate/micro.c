/* micro.c: one-purpose kernels whose cycles in Accel-Sim are known exactly, on three of its
 * configurations. */
#include "cli/validate/validate.h"
#include "workload/synth/synth.h"

#include <math.h>
#include <stdlib.h>

#define SLOPE_LIMIT 1.0 /* cycles per instruction */
#define EXACT 0.0005    /* half of the last digit that is shown */
#define FEW 64
#define MANY 128

static const struct machine {
    const char *config, *column; /* directory; prefix of its columns in the reference */
} machines[] = {
    { "SM86_RTX3070", "rtx3070" },
    { "SM75_RTX2060", "rtx2060" },
    { "SM7_QV100", "qv100" },
};

/* As the reference was measured. */
static const char *const sets[] = { "cores=4", "dispatch.launch_latency_cycles=0" };

static const char *const columns[] = { "test",      "platform",  "cycles 64", "Accel-Sim", "cycles 128",
                                       "Accel-Sim", "per instr", "Accel-Sim", "apart",     NULL };

static ls_status measure(const validate_reference *ref, mem_arena *arena, const config_request *platform,
                         const synth_anchor *anchor, unsigned count, double *cycles, ls_error *err)
{
    validate_result result;
    const char *trace = arena_printf(arena, LS_SYNTH_PREFIX "%s,count=%u", anchor->text, count);
    if (!trace)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a trace's name");
    const validate_job job = { .platform = *platform, .trace = trace, .threads = ref->threads };
    ls_status status = validate_simulate(arena, &job, &result, err);
    *cycles = (double)result.total.cycles - (double)result.dispatch_extra_cycles;
    return status;
}

static ls_status compare(const validate_reference *ref, validate_report *report, validate_section *section,
                         const config_request *platform, const synth_anchor *anchor, double few_reference,
                         double many_reference, ls_error *err)
{
    mem_arena *arena = &report->arena;
    double few = 0, many = 0;
    ls_status status = measure(ref, arena, platform, anchor, FEW, &few, err);
    if (status == LS_OK)
        status = measure(ref, arena, platform, anchor, MANY, &many, err);
    if (status != LS_OK)
        return status;
    double ours = (many - few) / (MANY - FEW), reference = (many_reference - few_reference) / (MANY - FEW);
    validate_row row = {
        .cells = { anchor->name, platform->platform, arena_printf(arena, "%.0f", few),
                   arena_printf(arena, "%.0f", few_reference), arena_printf(arena, "%.0f", many),
                   arena_printf(arena, "%.0f", many_reference), arena_printf(arena, "%.3f", ours),
                   arena_printf(arena, "%.3f", reference), arena_printf(arena, "%+.3f", ours - reference) },
        .reference = reference,
        .ours = ours,
        .deviation = ours - reference,
    };
    if (fabs(row.deviation) > EXACT)
        row.note = validate_note(section->name, anchor->name, platform->platform, row.deviation);
    if (fabs(row.deviation) > SLOPE_LIMIT || isnan(row.deviation))
        row.verdict = row.note ? VALIDATE_KNOWN : VALIDATE_FAIL;
    for (size_t i = 0; i < section->column_count; i++)
        if (!row.cells[i])
            return ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
    return vec_push(&section->rows, row) ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
}

static ls_status all_tests(const validate_reference *ref, validate_report *report, validate_section *section,
                           const struct machine *machine, const validate_csv *csv, ls_error *err)
{
    config_request platform;
    size_t few, many;
    char name[64];
    ls_status status = validate_import(ref, machine->config, &platform, err);
    if (status != LS_OK)
        return status;
    if (!platform.text)
        return ls_fail(err, LS_ERR_INPUT, "there is no platform for Accel-Sim's configuration '%s'",
                       machine->config);
    platform.sets = sets;
    platform.set_count = LS_COUNT_OF(sets);
    snprintf(name, sizeof name, "%s_cycles_%d", machine->column, FEW);
    status = validate_csv_column(csv, name, &few, err);
    snprintf(name, sizeof name, "%s_cycles_%d", machine->column, MANY);
    if (status == LS_OK)
        status = validate_csv_column(csv, name, &many, err);
    for (size_t i = 0; i < csv->rows && status == LS_OK; i++) {
        const synth_anchor *anchor = synth_anchor_find(validate_csv_at(csv, i, 0));
        if (anchor)
            status = compare(ref, report, section, &platform, anchor, validate_csv_real(csv, i, few),
                             validate_csv_real(csv, i, many), err);
        else
            status = ls_fail(err, LS_ERR_UNSUPPORTED, "no generated trace is the test '%s'",
                             validate_csv_at(csv, i, 0));
    }
    return status;
}

ls_status validate_micro(const validate_reference *ref, validate_report *report, ls_error *err)
{
    validate_csv csv;
    validate_section *section =
        validate_section_add(report, "micro", "One-purpose kernels against Accel-Sim", columns);
    if (!section)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
    section->about =
        "Each kernel repeats one instruction 64 and then 128 times; the difference over 64 is what an "
        "instruction costs. Platforms are imported from Accel-Sim's configurations, with 4 cores and no "
        "launch latency as in the reference. The way from the dispatcher to the core, which those "
        "platforms otherwise hide in the launch latency, is subtracted as a constant. A test passes "
        "within 1 cycle per instruction.";
    section->plot_label = "cycles per instruction";
    section->plot_unit = "cycles";
    ls_status status = validate_csv_read(ref, "accelsim_micro_anchors.csv", &csv, err);
    for (size_t i = 0; i < LS_COUNT_OF(machines) && status == LS_OK; i++)
        status = all_tests(ref, report, section, &machines[i], &csv, err);
    if (status != LS_OK)
        return status;
    size_t exact = 0;
    for (size_t i = 0; i < section->rows.count; i++)
        exact += fabs(section->rows.at[i].deviation) < EXACT;
    section->summary =
        arena_printf(&report->arena,
                     "micro: %zu tests: %zu exact, %zu within 1 cycle per instruction, %zu known "
                     "deviations, %zu failed",
                     section->rows.count, exact, validate_count(section, VALIDATE_PASS),
                     validate_count(section, VALIDATE_KNOWN), validate_count(section, VALIDATE_FAIL));
    return section->summary ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
}

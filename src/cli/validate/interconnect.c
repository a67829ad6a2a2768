/* interconnect.c: systems of several GPUs against measurements; the checks are in interconnect.def. */
#include "cli/validate/validate.h"
#include "lockstep/sim.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef enum measure { BANDWIDTH, SHARE, NANOSECONDS } measure;

typedef struct check {
    const char *system, *workload, *parameter;
    uint64_t low, high;
    measure measure;
    double factor, expected, tolerance; /* tolerance: percent; 0: no limit */
    const char *what, *source;
} check;

static const check checks[] = {
#define INTERCONNECT(system_, workload_, parameter_, low_, high_, measure_, factor_, expected_, tolerance_,   \
                     what_, source_)                                                                          \
    { system_, workload_, parameter_, low_, high_, measure_, factor_, expected_, tolerance_, what_, source_ },
#include "cli/validate/interconnect.def"
#undef INTERCONNECT
};

/* Systems that no file describes: short forms with keys. */
static const struct {
    const char *name, *platform;
    uint32_t gpus;
    const char *sets[6];
    size_t set_count;
} systems[] = {
    { "2 x rtx3090, PCIe 5 x16",
      "rtx3090",
      2,
      { "fabric.model=pcie", "fabric.generation=5", "fabric.framing=packet", "fabric.flit_bytes=4",
        "fabric.queue_messages=256" },
      5 },
};

static const char *const columns[] = { "what",  "platform", "workload", "measured", "hardware",
                                       "apart", "limit",    "source",   NULL };
static const char *const units[] = { "GB/s", "%", "ns" };

/* Seconds of simulated time. */
static ls_status simulate(const validate_reference *ref, mem_arena *arena, const check *c, uint64_t value,
                          double *out, ls_error *err)
{
    ls_sim *sim;
    const char *text = arena_printf(arena, "synth:%s,%s=%" PRIu64, c->workload, c->parameter, value);
    if (!text)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a workload's name");
    ls_sim_options options = { LS_SIM_OPTIONS, .workload = text, .platform = c->system,
                               .platform_dirs = ref->platform_dirs,
                               .platform_dir_count = ref->platform_dir_count };
    for (size_t i = 0; i < LS_COUNT_OF(systems); i++)
        if (strcmp(systems[i].name, c->system) == 0) {
            options.platform = systems[i].platform;
            options.gpus = systems[i].gpus;
            options.sets = systems[i].sets;
            options.set_count = systems[i].set_count;
        }
    ls_status status = ls_sim_open(&options, &sim, err);
    if (status != LS_OK)
        return status;
    status = ls_sim_run(sim, &(ls_sim_run_options){ LS_SIM_RUN_OPTIONS, .threads = ref->threads }, err);
    *out = (double)ls_sim_get_result(sim).end_time * 1e-15;
    ls_sim_close(sim);
    return status;
}

static ls_status evaluate(const validate_reference *ref, mem_arena *arena, const check *c, double *out,
                          ls_error *err)
{
    double low = 0, high = 0;
    ls_status status = simulate(ref, arena, c, c->low, &low, err);
    if (status == LS_OK)
        status = simulate(ref, arena, c, c->high, &high, err);
    if (status != LS_OK)
        return status;
    double units_more = (double)(c->high - c->low), seconds = high - low;
    *out = c->measure == BANDWIDTH ? c->factor * units_more / seconds * 1e-9
           : c->measure == SHARE   ? units_more / seconds * 1e-9 / c->factor * 100
                                   : seconds * 1e9 / units_more;
    return LS_OK;
}

/* Without a limit: the numbers, and that they cannot be compared. */
static ls_status add_shown(validate_report *report, validate_section *section, validate_row *row,
                           const check *c, double value, ls_error *err)
{
    row->cells[3] = arena_printf(&report->arena, "%.0f %s", value, units[c->measure]);
    row->cells[4] = arena_printf(&report->arena, "%.0f %s", c->expected, units[c->measure]);
    row->cells[6] = "none";
    row->verdict = VALIDATE_PASS;
    row->note = "The measurement includes software, which is not simulated: shown without a limit.";
    return row->cells[3] && row->cells[4] && vec_push(&section->rows, *row)
               ? LS_OK
               : ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
}

static ls_status add_check(const validate_reference *ref, validate_report *report, validate_section *section,
                           const check *c, ls_error *err)
{
    validate_row row = { .cells = { c->what, c->system, c->workload, "", "", "", "", c->source } };
    double value = 0;
    ls_status status = evaluate(ref, &report->arena, c, &value, err);
    if (status == LS_OK && c->tolerance == 0)
        return add_shown(report, section, &row, c, value, err);
    return validate_add_measured(report, section, &row, status, value, c->expected, c->tolerance,
                                 units[c->measure], err);
}

ls_status validate_interconnect(const validate_reference *ref, validate_report *report, ls_error *err)
{
    validate_section *section =
        validate_section_add(report, "interconnect", "Systems of GPUs against measured interconnects",
                             columns);
    if (!section)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
    section->about =
        "Collectives and copies between the GPUs of a system, against what was measured on such systems. Bandwidths are "
        "extrapolated: the difference of two sizes, 2 and 4 MiB for all-reduce, without the latencies that large sizes "
        "hide. The links' rates are NVIDIA's and the header of a packet was chosen by the 80 % of stores, so that the "
        "all-reduces show that the rest of the machine keeps the links busy. Rows of PCIe test the fabric alone: they have "
        "other GPUs than the measurement.";
    section->plot_label = "bandwidth";
    section->plot_unit = "GB/s";
    ls_status status = LS_OK;
    double sum = 0;
    size_t limited = 0;
    for (size_t i = 0; i < LS_COUNT_OF(checks) && status == LS_OK; i++) {
        status = add_check(ref, report, section, &checks[i], err);
        limited += checks[i].tolerance > 0;
    }
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < section->rows.count; i++)
        sum += fabs(section->rows.at[i].deviation);
    section->summary =
        arena_printf(&report->arena,
                     "interconnect: %zu bandwidths, %.1f %% apart on average: %zu passed, %zu failed; %zu "
                     "latencies without a limit",
                     limited, sum / (double)limited,
                     validate_count(section, VALIDATE_PASS) - (section->rows.count - limited),
                     validate_count(section, VALIDATE_FAIL), section->rows.count - limited);
    return section->summary ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
}

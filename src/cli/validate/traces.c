/* traces.c: real traces on Accel-Sim's configurations, against what Accel-Sim counted in them. */
#include "cli/validate/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ACCESS_LIMIT 2.0  /* percent, of accesses and DRAM reads */
#define CYCLES_LIMIT 12.0 /* percent, of the cycles of a trace */
#define MEAN_LIMIT 5.0    /* percent, of the mean over all traces */

/* How the reference changed the shipped configuration. */
static const struct variant {
    const char *tag, *set; /* set NULL: nothing that we would have to change */
} variants[] = {
    { "base", NULL },
    { "udp", NULL },       /* a uniform datapath; imported cores have one */
    { "sm90patch", NULL }, /* sm_90 read as Ampere; ours reads it as it is */
    { "nomemcpy", NULL },  /* copies of the list leave L2 alone, as here unless --warm-l2 */
    { "gto", "core.scheduler=gto" },
    { "nolaunchlat", "dispatch.launch_latency_cycles=0" },
};

/* Columns of the reference. */
enum { TRACE, CONFIG, TAG, NAME, CYCLES, INSTS, TOTAL, ICOUNT, L1, L1_MISS, L2, L2_MISS, READS, WRITES, USED };
static const char *const used[USED] = { "trace",
                                        "config",
                                        "tag",
                                        "kernel_name",
                                        "gpu_sim_cycle",
                                        "gpu_sim_insn",
                                        "gpu_tot_sim_cycle",
                                        "n_tot_w_icount_cum",
                                        "L1D_acc_cum",
                                        "L1D_miss_cum",
                                        "L2_acc_cum",
                                        "L2_miss_cum",
                                        "dram_reads_cum",
                                        "dram_writes_cum" };

static const char *const columns[] = { "trace",     "platform",  "variant",     "kernels", "cycles",
                                       "Accel-Sim", "apart",     "warp instrs", "L1 acc",  "L1 misses",
                                       "L2 acc",    "L2 misses", "DRAM reads",  NULL };

typedef struct golden {
    const validate_reference *ref;
    validate_report *report;
    validate_section *section;
    validate_csv csv;
    size_t at[USED];
    double error_sum, error_worst;
    size_t measured;
} golden;

static const char *cell(const golden *g, size_t row, int column)
{
    return validate_csv_at(&g->csv, row, g->at[column]);
}

static uint64_t number(const golden *g, size_t row, int column)
{
    double value = validate_csv_real(&g->csv, row, g->at[column]);
    return value >= 0 ? (uint64_t)value : 0;
}

/* The reference leaves out kernels on which Accel-Sim does not terminate. A row is matched to our kernels by
 * its name and thread instructions. The text is a selection of the matched kernels, NULL in *out for all. */
static ls_status match(const golden *g, size_t first, size_t count, const validate_result *whole,
                       const char **out, ls_error *err)
{
    text_buffer list = { 0 };
    size_t ours = 0;
    *out = NULL;
    for (size_t i = first; i < first + count; i++, ours++) {
        const char *name = cell(g, i, NAME);
        while (ours < whole->kernel_count && (!starts_with(whole->kernels[ours].name, name) ||
                                              whole->kernels[ours].thread_insts != number(g, i, INSTS)))
            ours++;
        if (ours == whole->kernel_count) {
            text_fini(&list);
            return ls_fail(err, LS_ERR_CHECK,
                           "kernel %zu of the reference is none of the trace, or its instructions differ",
                           i - first + 1);
        }
        text_printf(&list, "%s%llu", list.count ? "," : "", (unsigned long long)whole->kernels[ours].number);
    }
    ls_status status = LS_OK;
    if (list.failed ||
        (count < whole->kernel_count && !(*out = arena_strdup(&g->report->arena, text_get(&list)))))
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for a selection");
    text_fini(&list);
    return status;
}

/* "=" or the difference; adds it to the row's sum. */
static const char *difference(golden *g, validate_row *row, uint64_t ours, uint64_t reference, bool counts)
{
    int64_t apart = (int64_t)ours - (int64_t)reference;
    if (counts)
        row->counts_apart += (uint64_t)(apart < 0 ? -apart : apart);
    return apart == 0 ? "=" : arena_printf(&g->report->arena, "%+lld", (long long)apart);
}

static bool close_to(uint64_t ours, uint64_t reference)
{
    return fabs((double)ours - (double)reference) <= ACCESS_LIMIT / 100 * (double)reference;
}

static void judge(golden *g, size_t last, const validate_result *r, validate_row *row)
{
    mem_arena *arena = &g->report->arena;
    uint64_t cycles = r->total.cycles - r->dispatch_extra_cycles * r->kernel_count;
    uint64_t insts = run_trace_accelsim_warp_insts(&r->total);
    row->reference = (double)number(g, last, TOTAL);
    row->ours = (double)cycles;
    row->deviation = 100 * (row->ours / row->reference - 1);
    row->cells[3] = arena_printf(arena, "%zu", r->kernel_count);
    row->cells[4] = arena_printf(arena, "%.0f", row->ours);
    row->cells[5] = arena_printf(arena, "%.0f", row->reference);
    row->cells[6] = arena_printf(arena, "%+.2f %%", row->deviation);
    row->cells[7] = difference(g, row, insts, number(g, last, ICOUNT), true);
    row->cells[8] = difference(g, row, r->total.l1_accesses, number(g, last, L1), true);
    row->cells[9] = difference(g, row, r->total.l1_misses, number(g, last, L1_MISS), false);
    row->cells[10] = difference(g, row, r->total.l2_accesses, number(g, last, L2), true);
    row->cells[11] = difference(g, row, r->total.l2_misses, number(g, last, L2_MISS), true);
    row->cells[12] = difference(g, row, r->total.dram_reads, number(g, last, READS), true);
    bool good = insts == number(g, last, ICOUNT) && close_to(r->total.l1_accesses, number(g, last, L1)) &&
                close_to(r->total.l2_accesses, number(g, last, L2)) &&
                close_to(r->total.dram_reads, number(g, last, READS)) && fabs(row->deviation) <= CYCLES_LIMIT;
    if (row->ours != row->reference)
        row->note = validate_note(g->section->name, row->cells[0], row->cells[1], row->deviation);
    row->verdict = good ? VALIDATE_PASS : VALIDATE_FAIL;
    g->measured++;
    g->error_sum += fabs(row->deviation);
    if (fabs(row->deviation) > g->error_worst)
        g->error_worst = fabs(row->deviation);
}

static ls_status run_group(golden *g, size_t first, size_t count, validate_row *row, ls_error *err)
{
    config_request platform;
    validate_result result;
    const struct variant *variant = NULL;
    for (size_t i = 0; i < LS_COUNT_OF(variants); i++)
        if (strcmp(variants[i].tag, cell(g, first, TAG)) == 0)
            variant = &variants[i];
    ls_status status = validate_import(g->ref, cell(g, first, CONFIG), &platform, err);
    if (status != LS_OK)
        return status;
    if (!platform.text || !variant) {
        row->verdict = VALIDATE_SKIPPED;
        row->note =
            platform.text
                ? "The reference does not say how this variant was made."
                : "The reference has Accel-Sim's numbers but not the configuration they were made with.";
        return LS_OK;
    }
    platform.sets = &variant->set;
    platform.set_count = variant->set ? 1 : 0;
    validate_job job = {
        .platform = platform,
        .trace = arena_printf(&g->report->arena, "%s/%s", g->ref->traces, cell(g, first, TRACE)),
        .threads = g->ref->threads,
    };
    if (!job.trace)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for paths");
    status = validate_simulate(&g->report->arena, &job, &result, err);
    if (status == LS_OK) {
        status = match(g, first, count, &result, &job.kernels, err);
        if (status == LS_ERR_CHECK) {
            row->verdict = VALIDATE_FAIL;
            row->note = arena_strdup(&g->report->arena, err->what);
            return LS_OK;
        }
    }
    if (status == LS_OK && job.kernels)
        status = validate_simulate(&g->report->arena, &job, &result, err);
    if (status == LS_OK)
        judge(g, first + count - 1, &result, row);
    return status;
}

static ls_status add_row(golden *g, validate_row row, ls_error *err)
{
    for (size_t i = 0; i < g->section->column_count; i++)
        if (!row.cells[i])
            row.cells[i] = "";
    return vec_push(&g->section->rows, row) ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
}

static ls_status summarize(golden *g, ls_error *err)
{
    mem_arena *arena = &g->report->arena;
    double mean = g->measured ? g->error_sum / (double)g->measured : 0;
    size_t equal = 0;
    for (size_t i = 0; i < g->section->rows.count; i++) {
        const validate_row *row = &g->section->rows.at[i];
        equal += row->verdict != VALIDATE_SKIPPED && row->counts_apart == 0 && row->reference > 0;
    }
    validate_row all = {
        .cells = { "mean of all", "", "", "", "", "", arena_printf(arena, "%.2f %%", mean) },
        .verdict = mean <= MEAN_LIMIT && g->measured ? VALIDATE_PASS : VALIDATE_FAIL,
        .deviation = mean,
    };
    size_t skipped = validate_count(g->section, VALIDATE_SKIPPED),
           failed = validate_count(g->section, VALIDATE_FAIL);
    g->section->summary = arena_printf(
        arena,
        "traces: %zu runs: cycles %.2f %% apart on average and %.2f %% at worst; instructions, L1 and L2 "
        "accesses, L2 misses and DRAM reads equal in %zu; %zu failed; %zu skipped",
        g->measured, mean, g->error_worst, equal, failed + (all.verdict == VALIDATE_FAIL), skipped);
    if (!all.cells[6] || !g->section->summary)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
    return add_row(g, all, err);
}

ls_status validate_traces(const validate_reference *ref, validate_report *report, ls_error *err)
{
    golden g = { .ref = ref, .report = report };
    g.section = validate_section_add(report, "traces", "Real traces against Accel-Sim", columns);
    if (!g.section)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a report");
    g.section->about =
        "Traces of real programs on platforms imported from Accel-Sim's configurations, all kernels that "
        "Accel-Sim could run. Counters show the difference from Accel-Sim's, = for none. Passes: warp "
        "instructions equal, L1 and L2 accesses and DRAM reads within 2 %, total cycles within 12 %, and "
        "within 5 % on average.";
    g.section->plot_label = "cycles of all kernels";
    g.section->plot_unit = "cycles";
    if (!ref->traces)
        return validate_skip_traces(report, g.section, err);
    ls_status status = validate_csv_read(ref, "accelsim_golden_per_kernel.csv", &g.csv, err);
    for (size_t i = 0; i < USED && status == LS_OK; i++)
        status = validate_csv_column(&g.csv, used[i], &g.at[i], err);
    for (size_t first = 0, count; first < g.csv.rows && status == LS_OK; first += count) {
        for (count = 1; first + count < g.csv.rows &&
                        strcmp(cell(&g, first, TRACE), cell(&g, first + count, TRACE)) == 0 &&
                        strcmp(cell(&g, first, CONFIG), cell(&g, first + count, CONFIG)) == 0 &&
                        strcmp(cell(&g, first, TAG), cell(&g, first + count, TAG)) == 0;)
            count++;
        validate_row row = { .cells = { cell(&g, first, TRACE), cell(&g, first, CONFIG),
                                        cell(&g, first, TAG) } };
        for (size_t i = 0; i < 3; i++) { /* the file's text lives shorter than the report */
            row.cells[i] = arena_strdup(&report->arena, row.cells[i]);
            if (!row.cells[i])
                return ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
        }
        status = run_group(&g, first, count, &row, err);
        if (status == LS_OK)
            status = add_row(&g, row, err);
    }
    return status == LS_OK ? summarize(&g, err) : status;
}

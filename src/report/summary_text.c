/* summary_text.c: the summary on the terminal (summary.h). */
#include "report/summary.h"

#include "base/text.h"
#include "report/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"
#define ALARM "\033[31m"
#define BAR_COLUMNS 40
#define BARS 6
#define NAME_COLUMNS 40
#define GPUS_SHOWN 16
#define LINKS_SHOWN 3

/* A number of the summary: "occupancy  72.6 %  34.9 of 48 warps of a core". */
static void put_line(FILE *to, const char *what, const char *value, const char *more)
{
    fprintf(to, "  %-22s %14s  %s\n", what, value, more);
}

static void put_title(const summary_input *in, FILE *to, const char *title)
{
    fprintf(to, "\n  %s%s%s\n", in->color ? BOLD : "", title, in->color ? PLAIN : "");
}

void summary_wrap(const char *text, unsigned column, FILE *to)
{
    unsigned at = column;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (at + word > SUMMARY_COLUMNS && at > column) {
            fprintf(to, "\n%*s", (int)column, "");
            at = column;
        }
        fprintf(to, "%.*s", (int)word, text);
        at += (unsigned)word;
        text += word;
        if (*text == ' ') {
            text++;
            if (*text && at + 1 + strcspn(text, " ") <= SUMMARY_COLUMNS)
                fputc(' ', to);
            at++;
        }
    }
    fputc('\n', to);
}

/* ------------------------------------------------------------------------------------------------- numbers */

static void put_cycles(const summary_input *in, const fact_set *f, FILE *to)
{
    char cycles[LS_FORMAT_BYTES], time[LS_FORMAT_BYTES], insts[LS_FORMAT_BYTES], ipc[64], more[320];
    double mhz = facts_key_number(in->reader.config_text, f->machine, "clock.core_mhz");
    int used = snprintf(more, sizeof more, "%s at %.6g MHz",
                        format_time((ls_time)in->busy_fs, time, sizeof time), mhz);
    if (!isnan(f->at[FACT_instructions]))
        snprintf(more + used, sizeof more - (size_t)used, ", %s instructions, %s per cycle",
                 fact_text(f, FACT_instructions, insts, sizeof insts),
                 fact_text(f, FACT_ipc, ipc, sizeof ipc));
    put_line(to, "cycles", format_count((uint64_t)(in->busy_fs * mhz * 1e-9 + 0.5), cycles, sizeof cycles),
             more);
}

static void put_cores(const fact_set *f, FILE *to)
{
    char share[64], lanes[64], more[256];
    bool amd = f->machine == FACTS_AMD;
    snprintf(more, sizeof more, "of their time with work, %s of the lanes active",
             fact_text(f, FACT_lanes, lanes, sizeof lanes));
    put_line(to, amd ? "compute units" : "cores", fact_text(f, FACT_core_use, share, sizeof share), more);
    if (f->at[FACT_launching] >= 0.05)
        put_line(to, "launches", fact_text(f, FACT_launching, share, sizeof share), "of the time of kernels");
    if (isnan(f->at[FACT_occupancy]))
        return;
    snprintf(more, sizeof more, "%.1f of %.0f %s, limited by %s", f->at[FACT_warps], f->at[FACT_warp_slots],
             amd ? "waves per CU" : "warps per core", summary_limiter(f));
    put_line(to, "occupancy", fact_text(f, FACT_occupancy, share, sizeof share), more);
}

/* "20,313.6". */
static const char *rate_text(double rate, char out[LS_FORMAT_BYTES])
{
    char whole[64];
    uint64_t tenths = rate > 0 ? (uint64_t)(rate * 10 + 0.5) : 0;
    snprintf(out, LS_FORMAT_BYTES, "%s.%u", format_count(tenths / 10, whole, sizeof whole),
             (unsigned)(tenths % 10));
    return out;
}

static double run_ratio(const summary_input *in, const char *type, const char *name)
{
    double a, b;
    return in->reader.metric(in->reader.self, LS_METRICS_RUN, type, NULL, name, &a, &b) && b > 0 ? a / b : NAN;
}

/* The roof that the run comes nearest to. */
static void put_arithmetic(const summary_input *in, const fact_set *f, FILE *to)
{
    static const struct {
        fact fact;
        const char *of, *rate, *roof;
    } roofs[] = { { FACT_single, "GFLOP/s, single precision", "rate_single", "roof_single" },
                  { FACT_half, "GFLOP/s, half precision", "rate_half", "roof_half" },
                  { FACT_twice, "GFLOP/s, double precision", "rate_double", "roof_double" },
                  { FACT_tensor, "of the time of tensor units", NULL, NULL },
                  { FACT_valu, "of the time of vector ALUs", NULL, NULL } };
    size_t best = LS_COUNT_OF(roofs);
    char text[64], more[320], rate[LS_FORMAT_BYTES], roof[LS_FORMAT_BYTES];
    bool has_flops = f->at[FACT_single] > 0 || f->at[FACT_half] > 0 || f->at[FACT_twice] > 0;
    for (size_t i = 0; i < LS_COUNT_OF(roofs); i++)
        if (!isnan(f->at[roofs[i].fact]) && !(roofs[i].fact == FACT_valu && has_flops) &&
            (best == LS_COUNT_OF(roofs) || f->at[roofs[i].fact] > f->at[roofs[best].fact]))
            best = i;
    if (best == LS_COUNT_OF(roofs))
        return;
    snprintf(more, sizeof more, "%s", roofs[best].of);
    if (roofs[best].rate && f->machine == FACTS_AMD) {
        double peak = f->at[FACT_cores] * facts_amd_peak(in->reader.config_text, roofs[best].fact);
        char busy[64];
        snprintf(more, sizeof more, "of the peak: %s of %s %s; vector ALUs busy for %s",
                 rate_text(peak * f->at[roofs[best].fact], rate), rate_text(peak, roof), roofs[best].of,
                 fact_text(f, FACT_valu, busy, sizeof busy));
    } else if (roofs[best].rate)
        snprintf(more, sizeof more, "of the peak: %s of %s %s",
                 rate_text(run_ratio(in, "roofline/*", roofs[best].rate), rate),
                 rate_text(run_ratio(in, "roofline/*", roofs[best].roof), roof), roofs[best].of);
    put_line(to, "arithmetic", fact_text(f, roofs[best].fact, text, sizeof text), more);
}

static void put_memory(const fact_set *f, FILE *to)
{
    char a[64], b[64], c[64], more[320], rate[LS_FORMAT_BYTES], roof[LS_FORMAT_BYTES];
    double peak = f->at[FACT_dram] > 0 ? f->at[FACT_dram_rate] / f->at[FACT_dram] : NAN;
    snprintf(more, sizeof more, "of the peak: %s of %s GB/s, row hits %s",
             rate_text(f->at[FACT_dram_rate], rate), rate_text(peak, roof),
             fact_text(f, FACT_row_hits, b, sizeof b));
    put_line(to, "DRAM", fact_text(f, FACT_dram, c, sizeof c), f->at[FACT_dram] > 0 ? more : "of the peak");
    snprintf(more, sizeof more, "in L1, %s in L2; L2 busy for %s of its cycles",
             fact_text(f, FACT_l2_hits, a, sizeof a), fact_text(f, FACT_l2_use, b, sizeof b));
    put_line(to, "cache hits", fact_text(f, FACT_l1_hits, c, sizeof c), more);
    if (f->at[FACT_sectors] > 0) {
        snprintf(more, sizeof more, "of the bytes of %s were asked for, %s per access",
                 f->machine == FACTS_AMD ? "lines" : "sectors", fact_text(f, FACT_sectors, a, sizeof a));
        put_line(to, "coalescing", fact_text(f, FACT_coalescing, b, sizeof b), more);
    }
    if (f->at[FACT_conflicts] > 0)
        put_line(to, "bank conflicts", fact_text(f, FACT_conflicts, a, sizeof a), "of the cores' time");
    if (f->at[FACT_network] > 0.01)
        put_line(to, "network", fact_text(f, FACT_network, a, sizeof a),
                 "of the cores' time a request waits for it");
}

/* -------------------------------------------------------------------------------------------------- stalls */

typedef struct bar {
    const char *metric, *label;
    double value;
} bar;

static int longer_first(const void *left, const void *right)
{
    const bar *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a < b ? -1 : 1;
}

static void put_bars(const summary_input *in, const char *type, bar *bars, size_t count, const char *whole,
                     FILE *to)
{
    double all, one;
    if (!in->reader.metric(in->reader.self, LS_METRICS_RUN, type, NULL, whole, &all, &one) || all <= 0)
        return;
    for (size_t i = 0; i < count; i++) {
        double a, b;
        bool found = in->reader.metric(in->reader.self, LS_METRICS_RUN, type, NULL, bars[i].metric, &a, &b);
        bars[i].value = found ? a / all : 0;
    }
    qsort(bars + 1, count - 1, sizeof *bars, longer_first);
    for (size_t i = 0; i < count && i <= BARS; i++) {
        static const char line[] = "########################################";
        int columns = (int)(bars[i].value * BAR_COLUMNS + 0.5);
        if (i > 0 && bars[i].value < 0.005)
            break;
        columns = columns > BAR_COLUMNS ? BAR_COLUMNS : columns;
        fprintf(to, "    %-26s %6.1f %%%s%.*s\n", bars[i].label, 100 * bars[i].value, columns > 0 ? "  " : "",
                columns, line);
    }
}

static void put_stalls(const summary_input *in, const fact_set *f, FILE *to)
{
    bar nvidia[] = { { "issued", "issued", 0 },
                     { "stall_memory", "wait for memory", 0 },
                     { "stall_unit", "unit is busy", 0 },
                     { "stall_dependence", "wait for a result", 0 },
                     { "stall_barrier", "wait at a barrier", 0 },
                     { "stall_fence", "wait for fence or atomic", 0 },
                     { "stall_async", "wait for async copies", 0 },
                     { "stall_mbarrier", "wait at an mbarrier", 0 },
                     { "stall_fetch", "no instruction", 0 },
                     { "stall_idle", "no warp", 0 } };
    bar amd[] = { { "active_cycles", "issued", 0 },
                  { "stall_vmcnt", "vector memory (vmcnt)", 0 },
                  { "stall_vscnt", "vector stores (vscnt)", 0 },
                  { "stall_lgkmcnt", "scalar, LDS (lgkmcnt)", 0 },
                  { "stall_expcnt", "exports (expcnt)", 0 },
                  { "stall_fetch", "no instruction", 0 },
                  { "stall_barrier", "wait at a barrier", 0 },
                  { "stall_sleep", "sleep", 0 },
                  { "stall_dependence", "wait for a result", 0 },
                  { "stall_valu", "vector ALU is busy", 0 },
                  { "stall_scalar", "scalar unit is busy", 0 },
                  { "stall_vmem", "memory path is full", 0 },
                  { "stall_lds", "LDS is busy", 0 },
                  { "stall_branch", "branch unit is busy", 0 } };
    bool is_amd = f->machine == FACTS_AMD;
    put_title(in, to, is_amd ? "cycles of compute units (one may have several reasons)" : "issue slots");
    if (is_amd)
        put_bars(in, "cu/*", amd, LS_COUNT_OF(amd), "resident_cycles", to);
    else
        put_bars(in, "core/*", nvidia, LS_COUNT_OF(nvidia), "issue_slots", to);
}

/* ----------------------------------------------------------------------------------------------- sentences */

static void put_sentences(const summary_input *in, const fact_set *f, FILE *to)
{
    rule_finding *found = malloc(rule_count * sizeof *found);
    size_t count = found ? rules_apply(f, found) : 0;
    char text[1024];
    put_title(in, to, "what limits it");
    if (count == 0)
        fprintf(to, "    no single limit stands out: no rule of `lockstep explain` fires\n");
    for (size_t i = 0; i < count && i < SUMMARY_SENTENCES; i++) {
        fprintf(to, "    %zu. ", i + 1);
        summary_wrap(rule_sentence(found[i].rule, f, text, sizeof text), 7, to);
    }
    if (count > SUMMARY_SENTENCES)
        fprintf(to, "       and %zu more: %s\n", count - SUMMARY_SENTENCES,
                in->more ? in->more : "-o FILE.json, then lockstep explain FILE.json");
    free(found);
}

/* ------------------------------------------------------------------------------------------------- kernels */

static const char *first_limit(const summary_input *in, const summary_launch *launch)
{
    rule_finding *found = malloc(rule_count * sizeof *found);
    fact_set f;
    summary_launch_facts(in, launch, &f);
    const char *title = found && rules_apply(&f, found) > 0 ? found[0].rule->title : "-";
    free(found);
    return title;
}

static void put_kernels(const summary_input *in, const fact_set *f, FILE *to)
{
    summary_kernel top[SUMMARY_KERNELS];
    size_t count = summary_costliest(in->launches, in->launch_count, top, SUMMARY_KERNELS);
    double mhz = facts_key_number(in->reader.config_text, f->machine, "clock.core_mhz"), all = 0;
    if (count == 0)
        return;
    for (size_t i = 0; i < in->launch_count; i++)
        all += in->launches[i].end_fs - in->launches[i].begin_fs;
    char title[128];
    snprintf(title, sizeof title, "%-42s %8s %10s %8s %12s  %s", "costliest kernels", "launches", "time",
             "share", "cycles", "limited by");
    put_title(in, to, title);
    for (size_t i = 0; i < count; i++) {
        char name[128], time[LS_FORMAT_BYTES], cycles[LS_FORMAT_BYTES];
        fprintf(to, "    %-40s %8" PRIu64 " %10s %6.1f %% %12s  %s\n",
                summary_name(top[i].name, NAME_COLUMNS, name, sizeof name), top[i].launches,
                format_time((ls_time)top[i].time_fs, time, sizeof time),
                all > 0 ? 100 * top[i].time_fs / all : 0,
                format_count((uint64_t)(top[i].time_fs * mhz * 1e-9 + 0.5), cycles, sizeof cycles),
                first_limit(in, top[i].longest));
    }
}

/* -------------------------------------------------------------------------------------------- instructions */

void summary_instructions(const summary_input *in, FILE *to)
{
    source_top top[SUMMARY_INSTRUCTIONS];
    size_t count = in->source ? source_costliest(in->source, top, SUMMARY_INSTRUCTIONS) : 0;
    char title[128];
    if (count == 0)
        return;
    snprintf(title, sizeof title, "%-42s %-30s %8s %12s  %s", "costliest instructions", "at", "cost",
             "executed", "mostly waits for");
    put_title(in, to, title);
    for (size_t i = 0; i < count; i++) {
        const inst_counted *inst = top[i].inst;
        char name[128], at[160], executed[LS_FORMAT_BYTES];
        const char *reason = source_main_stall(in->source, &inst->n);
        snprintf(at, sizeof at, "%s+0x%" PRIx64, summary_name(top[i].kernel->name, 22, name, sizeof name),
                 inst->pc);
        fprintf(to, "    %-40.40s %-30s %6.1f %% %12s  %s\n", inst->text, at, 100 * top[i].share,
                format_count(inst->n.executed, executed, sizeof executed), reason ? reason : "-");
    }
}

/* -------------------------------------------------------------------------------------------- several GPUs */

static size_t gpus_with_launches(const summary_input *in, int32_t *out)
{
    size_t count = 0;
    for (int32_t gpu = 0; count < GPUS_SHOWN && gpu < 64; gpu++)
        for (size_t i = 0; i < in->launch_count; i++)
            if (in->launches[i].gpu == gpu) {
                out[count++] = gpu;
                break;
            }
    return count;
}

static void put_gpus(const summary_input *in, FILE *to)
{
    int32_t gpus[GPUS_SHOWN];
    size_t count = gpus_with_launches(in, gpus);
    char title[128];
    if (count < 2)
        return;
    snprintf(title, sizeof title, "%-8s %8s %12s %10s %10s %10s %10s", "GPU", "kernels", "busy", "issued",
             "memory", "DRAM", "occupancy");
    put_title(in, to, title);
    for (size_t i = 0; i < count; i++) {
        char path[32], busy[LS_FORMAT_BYTES], text[4][64];
        fact_set f;
        uint64_t kernels = 0;
        double launched = 0;
        for (size_t k = 0; k < in->launch_count; k++) {
            bool is_here = in->launches[k].gpu == gpus[i];
            kernels += is_here;
            launched += is_here ? in->launches[k].end_fs - in->launches[k].begin_fs : 0;
        }
        snprintf(path, sizeof path, "gpu%d.*", (int)gpus[i]);
        const fact_scope scope = { .scope = LS_METRICS_RUN,
                                   .path = path,
                                   .busy_fs = summary_busy(in->launches, in->launch_count, gpus[i]),
                                   .end_fs = in->end_fs,
                                   .launched_fs = launched,
                                   .kernels = kernels,
                                   .gpus = 1 };
        facts_read(&in->reader, &scope, &f);
        fprintf(to, "    gpu%-3d %8" PRIu64 " %12s %10s %10s %10s %10s\n", (int)gpus[i], kernels,
                format_time((ls_time)scope.busy_fs, busy, sizeof busy),
                fact_text(&f, FACT_issued, text[0], sizeof text[0]),
                fact_text(&f, FACT_stall_memory, text[1], sizeof text[1]),
                fact_text(&f, FACT_dram, text[2], sizeof text[2]),
                fact_text(&f, FACT_occupancy, text[3], sizeof text[3]));
    }
}

typedef struct hot_link {
    const char *path;
    double share;
} hot_link;

static void put_links(const summary_input *in, FILE *to)
{
    hot_link hot[LINKS_SHOWN] = { { 0 } };
    for (size_t i = 0;; i++) {
        double a, b;
        const char *path = in->reader.block(in->reader.self, "fabric.link/*", i);
        if (!path)
            break;
        hot_link here = { path, 0 };
        if (in->reader.metric(in->reader.self, LS_METRICS_RUN, "fabric.link/*", path, "utilisation", &a, &b) &&
            b > 0)
            here.share = a < b ? a / b : 1;
        for (size_t k = 0; k < LINKS_SHOWN; k++)
            if (here.share > hot[k].share) {
                hot_link moved = hot[k];
                hot[k] = here;
                here = moved;
            }
    }
    if (!hot[0].path)
        return;
    put_title(in, to, "busiest links between GPUs");
    for (size_t k = 0; k < LINKS_SHOWN && hot[k].path; k++)
        fprintf(to, "    %-40s %6.1f %%\n", hot[k].path, 100 * hot[k].share);
}

void summary_warnings(const ls_warning *warnings, size_t count, bool color, FILE *to)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(warnings[i].kind, "assumption") != 0 && strcmp(warnings[i].kind, "sample") != 0)
            fprintf(to, "%sWARNING%s: %s: %s\n", color ? ALARM : "", color ? PLAIN : "", warnings[i].kind,
                    warnings[i].text);
}

void summary_print(const summary_input *in, FILE *to)
{
    fact_set f;
    summary_run_facts(in, &f);
    put_cycles(in, &f, to);
    if (f.machine == FACTS_NONE) { /* models that count under other names */
        put_kernels(in, &f, to);
        return;
    }
    put_cores(&f, to);
    put_arithmetic(in, &f, to);
    put_memory(&f, to);
    put_stalls(in, &f, to);
    put_gpus(in, to);
    put_links(in, to);
    put_sentences(in, &f, to);
    put_kernels(in, &f, to);
    summary_instructions(in, to);
}

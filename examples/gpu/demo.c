/* demo.c: results of a simulated GPU: a matrix product with the reasons of its stalls, and a pointer chase
 * whose latency climbs from cache to cache. Also an example of a program that embeds the simulator. */
#include "base/text.h"
#include "platform/machine.h"
#include "report/metrics.h"
#include "report/plot.h"
#include "runtime/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One workload on one platform, from the files to the counters. */
typedef struct experiment {
    platform_config *config;
    ls_machine *machine;
    sass_trace *trace;
    trace_replay *replay;
    metric_store *metrics;
    ls_cycle cycles; /* of all kernels */
    double seconds;  /* of a core of the host */
} experiment;

static ls_status run(experiment *e, const char *platform, const char *workload, uint32_t threads,
                     ls_error *err)
{
    *e = (experiment){ 0 };
    /* A launch takes its time on every GPU; here the kernel itself is of interest. */
    const char *const sets[] = { "dispatch.launch_latency_cycles=0" };
    const config_request request = { .platform = platform, .sets = sets, .set_count = 1 };
    ls_run_result result;
    ls_status status = config_load(&request, &e->config, NULL, err);
    if (status == LS_OK)
        status = machine_create(e->config, 1, &e->machine, err);
    if (status == LS_OK)
        status = metrics_create(&e->metrics, err);
    if (status == LS_OK)
        status = metrics_add_engine(e->metrics, ls_machine_engine(e->machine), err);
    if (status == LS_OK)
        status = trace_open(workload, NULL, &e->trace, err);
    if (status == LS_OK)
        status = replay_create(ls_machine_engine(e->machine), e->trace, NULL, &e->replay, err);
    clock_t start = clock();
    if (status == LS_OK)
        status = replay_run(e->replay, &(ls_run_options){ .threads = threads }, &result, err);
    e->seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    for (uint64_t i = 0; status == LS_OK && i < replay_kernel_count(e->replay); i++)
        e->cycles += replay_kernel_at(e->replay, i)->end - replay_kernel_at(e->replay, i)->begin;
    return status;
}

static void dispose(experiment *e)
{
    replay_destroy(e->replay);
    trace_close(e->trace);
    metrics_destroy(e->metrics);
    machine_destroy(e->machine);
    config_destroy(e->config);
}

static uint64_t counter(experiment *e, const char *type, const char *name)
{
    metric_value value;
    return metrics_get(e->metrics, LS_METRICS_RUN, type, NULL, name, &value, NULL) == LS_OK ? value.value : 0;
}

/* ----------------------------------------------------------------------------------------- matrix product */

static void print_bar(const char *name, uint64_t part, uint64_t whole)
{
    enum { BAR = 48 };
    double share = whole == 0 ? 0 : (double)part / (double)whole;
    printf("    %-34s %5.1f %%", name, 100 * share);
    for (int i = 0; i < (int)(share * BAR + 0.5); i++)
        fputs(i == 0 ? "  █" : "█", stdout);
    putchar('\n');
}

static ls_status matrix_product(const char *platform, ls_error *err)
{
    static const char workload[] = "synth:gemm,m=1024,n=1024,k=64";
    static const struct {
        const char *metric, *name;
    } reasons[] = {
        { "issued", "issued an instruction" },
        { "stall_memory", "waited for memory" },
        { "stall_dependence", "waited for an arithmetic result" },
        { "stall_unit", "execution unit taken" },
        { "stall_barrier", "waited at a barrier" },
        { "stall_fetch", "no instruction decoded" },
        { "stall_idle", "no warp" },
    };
    char text[LS_FORMAT_BYTES];
    experiment e;
    printf("1. A matrix product, 1024 x 1024 x 64, tiles in shared memory (%s)\n\n", workload);
    ls_status status = run(&e, platform, workload, 1, err);
    if (status == LS_OK) {
        uint64_t insts = counter(&e, "core/*", "warp_instructions"),
                 slots = counter(&e, "core/*", "issue_slots");
        uint64_t accesses = counter(&e, "l2/*", "accesses"), hits = counter(&e, "l2/*", "hits");
        printf("    cycles              %s\n", format_count(e.cycles, text, sizeof text));
        printf("    warp instructions   %s\n", format_count(insts, text, sizeof text));
        printf("    per cycle           %.1f on the whole GPU\n", (double)insts / (double)e.cycles);
        printf("    L2 hit rate         %.1f %%\n", accesses == 0 ? 0 : 100 * (double)hits / (double)accesses);
        printf("    DRAM                %s bytes\n",
               format_count(32 * (counter(&e, "dram/*", "reads") + counter(&e, "dram/*", "writes")), text,
                            sizeof text));
        printf("    host                %.2f s, %.2f million warp instructions per second\n\n", e.seconds,
               (double)insts * 1e-6 / e.seconds);
        printf("  What the schedulers' issue slots went to, cycle by cycle:\n\n");
        for (size_t i = 0; i < LS_COUNT_OF(reasons); i++)
            print_bar(reasons[i].name, counter(&e, "core/*", reasons[i].metric), slots);
        putchar('\n');
    }
    dispose(&e);
    return status;
}

/* ------------------------------------------------------------------------------------------ pointer chase */

#define POINTS 14
#define LOADS 2048

/* Cycles per load once the caches hold what they can: twice the loads, minus the first pass. */
static ls_status latency(const char *platform, double kib, double *out, ls_error *err)
{
    double cycles[2] = { 0 };
    ls_status status = LS_OK;
    for (int i = 0; i < 2 && status == LS_OK; i++) {
        char workload[128];
        experiment e;
        /* Every line is touched once before the loads that are counted. */
        unsigned passes = (unsigned)(kib * 1024 / 128);
        snprintf(workload, sizeof workload, "synth:pointer-chase,footprint_kib=%.0f,loads=%u", kib,
                 passes + (unsigned)(i + 1) * LOADS);
        status = run(&e, platform, workload, 1, err);
        cycles[i] = (double)e.cycles;
        dispose(&e);
    }
    *out = (cycles[1] - cycles[0]) / LOADS;
    return status;
}

static ls_status pointer_chase(const char *platform, const char *svg, ls_error *err)
{
    double x[POINTS], y[POINTS];
    printf(
        "2. A pointer chase: every load needs the one before it. Cycles per load against the memory it walks\n"
        "   through: L1, then L2, then DRAM.\n\n    footprint   cycles per load\n");
    for (int i = 0; i < POINTS; i++) {
        x[i] = (double)(8 << i);
        if (i > 9) /* up to 4 MiB by doubling, then DRAM in larger steps */
            x[i] = (double)(4096 << (i - 9));
        ls_status status = latency(platform, x[i], &y[i], err);
        if (status != LS_OK)
            return status;
        if (x[i] < 1024)
            printf("  %7.0f KiB   %10.1f\n", x[i], y[i]);
        else
            printf("  %7.0f MiB   %10.1f\n", x[i] / 1024, y[i]);
        x[i] *= 1024;
    }
    const plot_series series = {
        .name = "cycles per load", .x = x, .y = y, .count = POINTS, .style = LS_PLOT_BOTH
    };
    const plot_figure plot = { .title = "Latency of dependent loads",
                               .x_label = "footprint",
                               .x_unit = "bytes",
                               .y_label = "latency",
                               .y_unit = "cycles",
                               .x_scale = LS_PLOT_LOG2,
                               .y_zero = true,
                               .series = &series,
                               .series_count = 1 };
    putchar('\n');
    ls_status status = plot_write_text(&plot, NULL, stdout, err);
    if (status == LS_OK)
        status = plot_write_svg(&plot, svg, err);
    if (status == LS_OK)
        printf("\n  The same plot: %s\n", svg);
    return status;
}

int main(int argc, char **argv)
{
    const char *platform = argc > 1 ? argv[1] : "rtx2080ti";
    const char *svg = argc > 2 ? argv[2] : "latency.svg";
    ls_error err = { 0 };
    printf("Lockstep %s: %s\n\n", LS_VERSION_STRING, platform);
    ls_status status = matrix_product(platform, &err);
    if (status == LS_OK)
        status = pointer_chase(platform, svg, &err);
    if (status != LS_OK) {
        char text[1024];
        fprintf(stderr, "gpu-demo: %s\n", ls_error_text(&err, text, sizeof text));
    }
    return ls_status_exit_code(status);
}

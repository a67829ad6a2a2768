/* test_suite.c: the benchmarks of the MI300A suite in simulated time: `workloads_suite PLATFORM quick|all`. Results are right, a
 * region is reported, and everything is the same for all numbers of threads. A small limit gives a sample with an interval.
 * Exit code 77 (skipped) without compiled kernels. */
#include "sizes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SKIPPED 77

static const uint32_t thread_counts[] = { 1, 3, 2, 8 };
static const char *const quick[] = { "mi300a_vectoradd", "mi300a_atax", "mi300a_pagerank", "mi300a_bfs" };

typedef struct outcome {
    wl_region region;
    uint64_t hash, instructions;
} outcome;

static int failures;

static void complain(const wl_workload *w, const char *text)
{
    printf("%s: %s\n", w->name, text);
    failures++;
}

static bool run_one(const char *platform, const wl_workload *w, uint64_t *values, uint32_t threads, bool check,
                    outcome *out)
{
    wl_setting settings[SIZES_VALUES_MAX];
    ls_gpu_system *system = NULL;
    wl_result result = { 0 };
    ls_error err;
    char text[900];
    for (size_t i = 0; i < w->option_count; i++)
        settings[i] = (wl_setting){ w->options[i].name, values[i] };
    ls_status status = ls_gpu_system_create(&(ls_gpu_options){ .platform = platform,
                                                               .threads = threads,
                                                               .max_instructions = 10000000 },
                                            &system, &err);
    if (status == LS_OK)
        status = wl_run_workload(&(wl_request){ .workload = w,
                                                .system = system,
                                                .settings = settings,
                                                .setting_count = w->option_count,
                                                .check = check },
                                 &result, &err);
    ls_gpu_system_destroy(system);
    if (status != LS_OK)
        complain(w, ls_error_text(&err, text, sizeof text));
    memset(out, 0, sizeof *out);
    *out = (outcome){ result.region, result.hash, result.counts.instructions };
    return status == LS_OK;
}

static void run_workload(const char *platform, const wl_workload *w, size_t thread_count)
{
    uint64_t values[SIZES_VALUES_MAX];
    outcome first, other;
    if (!sizes_get(w, 2, values)) {
        complain(w, "no sizes in sizes.c");
        return;
    }
    if (!run_one(platform, w, values, thread_counts[0], true, &first))
        return;
    if (!(first.region.ns > 0) || first.region.simulated < 1 || first.region.low_ns < first.region.ns ||
        first.region.high_ns > first.region.ns)
        complain(w, "no region that was simulated whole");
    for (size_t i = 1; i < thread_count; i++)
        if (run_one(platform, w, values, thread_counts[i], true, &other) &&
            memcmp(&first, &other, sizeof first) != 0)
            complain(w, "the number of threads changes the outcome");
}

/* A sample of a grid lies in an interval around the whole, which is longer than the parts. */
static void run_sample(const char *platform)
{
    const wl_workload *w;
    uint64_t values[SIZES_VALUES_MAX] = { 1 << 21, 0 }; /* never */
    outcome whole, sampled;
    if (wl_find("mi300a_vectoradd", &w, NULL) != LS_OK || !run_one(platform, w, values, 1, false, &whole))
        return;
    values[0] = 1 << 23; /* two million instructions */
    values[1] = 1;
    if (!run_one(platform, w, values, 1, false, &sampled))
        return;
    if (sampled.region.simulated >= 1 || sampled.region.low_ns > sampled.region.ns ||
        sampled.region.high_ns < sampled.region.ns)
        complain(w, "a region above the limit is not sampled");
    if (sampled.region.ns < whole.region.ns)
        complain(w, "four times as many elements take less time");
}

int main(int argc, char **argv)
{
    char path[1024];
    ls_error err;
    if (argc < 3) {
        printf("usage: workloads_suite PLATFORM quick|all\n");
        return 2;
    }
    const bool all = strcmp(argv[2], "all") == 0;
    if (wl_kernel_path("mi300a_stream", "gfx942", "", path, sizeof path, &err) != LS_OK) {
        printf("skipped: %s\n", err.what);
        return SKIPPED;
    }
    int runs = 0;
    for (size_t i = 0; i < wl_count(); i++) {
        bool wanted = all && wl_at(i)->suite;
        for (size_t k = 0; k < LS_COUNT_OF(quick); k++)
            wanted = wanted || strcmp(quick[k], wl_at(i)->name) == 0;
        if (!wanted)
            continue;
        run_workload(argv[1], wl_at(i), all ? LS_COUNT_OF(thread_counts) : 2);
        runs++;
    }
    if (all)
        run_sample(argv[1]);
    printf("%d workloads, %d failures\n", runs, failures);
    return failures != 0 || runs == 0;
}

/* test_time.c: every workload in simulated time: `workloads_time PLATFORM GPU VARIANT`. Results are compared
 * with the references and with the memory after emulation. 1, 2, 3 and 8 threads must agree in memory, counts,
 * times, and all counts of the engine. Exit code 77 (skipped) without compiled kernels. */
#include "sizes.h"

#include "runtime/timing/timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SKIPPED 77

static const uint32_t thread_counts[] = { 1, 2, 3, 8 };

#define SYSTEMS (LS_COUNT_OF(thread_counts) + 1) /* the last one emulates */

typedef struct bench {
    const char *platform, *gpu, *variant;
    ls_gpu_system *systems[SYSTEMS];
    int runs, failures;
} bench;

/* Values that must not depend on the number of threads. */
typedef struct outcome {
    wl_result result;
    ls_run_result engine;
    uint64_t now_ns;
} outcome;

static void complain(bench *b, const wl_workload *w, const uint64_t *values, const char *what)
{
    b->failures++;
    printf("%s --size %" PRIu64 " on %s: %s\n", w->name, values[0], b->platform, what);
}

static bool run_one(bench *b, const wl_workload *w, const uint64_t *values, size_t system, outcome *out)
{
    wl_setting settings[SIZES_VALUES_MAX];
    ls_error err;
    char text[900];
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < w->option_count; i++)
        settings[i] = (wl_setting){ w->options[i].name, values[i] };
    const wl_request request = { .workload = w,
                                 .system = b->systems[system],
                                 .settings = settings,
                                 .setting_count = w->option_count,
                                 .check = true,
                                 .variant = b->variant };
    ls_status status = wl_run_workload(&request, &out->result, &err);
    if (status == LS_OK && out->result.compared == 0)
        status = ls_fail(&err, LS_ERR_CHECK, "compared nothing");
    out->engine = timing_result(b->systems[system]);
    out->now_ns = ls_gpu_system_now(b->systems[system]);
    b->runs++;
    out->result.counts.host_ns = 0;
    out->engine.windows = 0; /* of the host's making */
    if (status != LS_OK)
        complain(b, w, values, ls_error_text(&err, text, sizeof text));
    return status == LS_OK;
}

/* 1,024 work-items are 32 waves of code for RDNA, and a compute unit of GCN has registers for 20. */
static bool fits(const bench *b, const wl_workload *w)
{
    bool is_foreign = strstr(b->platform, "r9nano") != NULL && strcmp(b->gpu, "gfx803") != 0;
    return !w->suite && (!is_foreign || strcmp(w->name, "bandwidth_shared") != 0);
}

/* After a failure the systems have run different programs, so their times differ from then on: the caller stops. */
static void run_workload(bench *b, const wl_workload *w)
{
    uint64_t values[SIZES_VALUES_MAX];
    outcome emulated, first, other;
    for (int size = 1; size < SIZES_COUNT; size++) {
        if (!sizes_get(w, size, values)) {
            complain(b, w, &w->options[0].value, "no sizes in sizes.c");
            return;
        }
        if (!run_one(b, w, values, SYSTEMS - 1, &emulated) || !run_one(b, w, values, 0, &first))
            return;
        if (emulated.result.hash != first.result.hash)
            complain(b, w, values, "other bytes than with emulation");
        if (emulated.result.counts.instructions != first.result.counts.instructions ||
            emulated.result.counts.active_lanes != first.result.counts.active_lanes)
            complain(b, w, values, "other instructions than with emulation");
        for (size_t i = 1; i < LS_COUNT_OF(thread_counts); i++)
            if (run_one(b, w, values, i, &other) && memcmp(&first, &other, sizeof first) != 0)
                complain(b, w, values, "the number of threads changes the outcome");
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        printf("usage: workloads_time PLATFORM GPU VARIANT [WORKLOAD]\n");
        return 2;
    }
    bench b = { .platform = argv[1], .gpu = argv[2], .variant = argv[3] };
    char path[1024];
    ls_error err;
    if (wl_kernel_path("vector_add", b.gpu, b.variant, path, sizeof path, &err) != LS_OK) {
        printf("skipped: %s\n", err.what);
        return SKIPPED;
    }
    ls_status status = LS_OK;
    for (size_t i = 0; i < SYSTEMS && status == LS_OK; i++) {
        ls_gpu_options options = { .gpus = &b.gpu, .gpu_count = 1, .max_instructions = 10000000 };
        if (i < LS_COUNT_OF(thread_counts)) {
            options.platform = b.platform;
            options.threads = thread_counts[i];
        }
        status = ls_gpu_system_create(&options, &b.systems[i], &err);
        /* Neither windows nor who runs which domain may matter. */
        if (status == LS_OK && i > 0 && i < LS_COUNT_OF(thread_counts))
            timing_set_options(b.systems[i], &(ls_run_options){ .threads = thread_counts[i],
                                                                .window_fs = i == 1 ? 7000000 : 0,
                                                                .assignment = i == 2 ? LS_ASSIGN_SHUFFLED
                                                                                     : LS_ASSIGN_STATIC });
    }
    if (status != LS_OK)
        printf("%s\n", err.what);
    for (size_t i = 0; i < wl_count() && status == LS_OK && b.failures == 0; i++)
        if ((argc < 5 || strcmp(argv[4], wl_at(i)->name) == 0) && fits(&b, wl_at(i)))
            run_workload(&b, wl_at(i));
    for (size_t i = 0; i < SYSTEMS; i++)
        ls_gpu_system_destroy(b.systems[i]);
    printf("%s %s %s: %d runs of workloads, %d failed\n", b.platform, b.gpu, b.variant, b.runs, b.failures);
    return status != LS_OK || b.failures != 0 || b.runs == 0;
}

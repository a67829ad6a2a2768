/* test_all.c: every workload on the emulator, in one variant of its kernels: `workloads_all GPU VARIANT`
 * compares the results with the references in all sizes, and those of 1, 2 and 8 threads with each other.
 * Exit code 77 (skipped) without compiled kernels. */
#include "sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SKIPPED 77

static const uint32_t thread_counts[] = { 1, 2, 8 };

typedef struct bench {
    const char *variant;
    ls_gpu_system *systems[LS_COUNT_OF(thread_counts)];
    int runs, failures;
} bench;

static ls_status run_one(bench *b, const wl_workload *w, const uint64_t *values, size_t system,
                         wl_result *result)
{
    wl_setting settings[SIZES_VALUES_MAX];
    for (size_t i = 0; i < w->option_count; i++)
        settings[i] = (wl_setting){ w->options[i].name, values[i] };
    const wl_request request = { .workload = w,
                                 .system = b->systems[system],
                                 .settings = settings,
                                 .setting_count = w->option_count,
                                 .check = true,
                                 .variant = b->variant };
    ls_error err;
    char text[900];
    memset(result, 0, sizeof *result);
    ls_status status = wl_run_workload(&request, result, &err);
    if (status == LS_OK && result->compared == 0)
        status = ls_fail(&err, LS_ERR_CHECK, "compared nothing");
    b->runs++;
    if (status != LS_OK) {
        b->failures++;
        printf("%s --size %" PRIu64 ", %u threads: %s\n", w->name, values[0], thread_counts[system],
               ls_error_text(&err, text, sizeof text));
    }
    return status;
}

/* Whether two runs left the same bytes and executed the same instructions. */
static bool is_same(const wl_result *a, const wl_result *b)
{
    return a->hash == b->hash && a->counts.instructions == b->counts.instructions &&
           a->counts.active_lanes == b->counts.active_lanes;
}

static void run_workload(bench *b, const wl_workload *w)
{
    uint64_t values[SIZES_VALUES_MAX];
    wl_result first, other;
    for (int size = 0; size < SIZES_COUNT; size++) {
        if (!sizes_get(w, size, values)) {
            printf("%s has no sizes in sizes.c\n", w->name);
            b->failures++;
            return;
        }
        if (run_one(b, w, values, 0, &first) != LS_OK)
            continue;
        for (size_t i = 1; i < LS_COUNT_OF(thread_counts) && size == 2; i++)
            if (run_one(b, w, values, i, &other) == LS_OK && !w->races && !is_same(&first, &other)) {
                printf("%s: %u threads give another result than 1\n", w->name, thread_counts[i]);
                b->failures++;
            }
    }
    /* Each instruction of the generated ones. */
    for (uint64_t type = 0; strcmp(w->name, "micro_alu") == 0 && type <= w->options[1].max; type++)
        run_one(b, w, (const uint64_t[]){ 64, type, 1, 1 }, 0, &first);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        printf("usage: workloads_all GPU VARIANT [WORKLOAD]\n");
        return 2;
    }
    const char *gpu = argv[1];
    bench b = { .variant = argv[2] };
    char path[1024], text[900];
    ls_error err;
    ls_status status = LS_OK;
    if (wl_kernel_path("vector_add", gpu, b.variant, path, sizeof path, &err) != LS_OK) {
        printf("skipped: %s\n", err.what);
        return SKIPPED;
    }
    for (size_t i = 0; i < LS_COUNT_OF(thread_counts) && status == LS_OK; i++)
        status = ls_gpu_system_create(&(ls_gpu_options){ .gpus = &gpu,
                                                         .gpu_count = 1,
                                                         .threads = thread_counts[i] },
                                      &b.systems[i], &err);
    if (status != LS_OK)
        printf("%s\n", ls_error_text(&err, text, sizeof text));
    for (size_t i = 0; i < wl_count() && status == LS_OK; i++)
        if ((argc < 4 || strcmp(argv[3], wl_at(i)->name) == 0) &&
            (!wl_at(i)->suite || strncmp(gpu, "gfx9", 4) == 0)) /* suites are for CDNA */
            run_workload(&b, wl_at(i));
    for (size_t i = 0; i < LS_COUNT_OF(thread_counts); i++)
        ls_gpu_system_destroy(b.systems[i]);
    printf("%s %s: %d runs of workloads, %d failed\n", gpu, b.variant, b.runs, b.failures);
    return status != LS_OK || b.failures != 0 || b.runs == 0;
}

/* test_strict.c: every workload under strict checks: `workloads_strict GPU VARIANT`. Nothing is found in any of them,
 * the results are correct, and they and the counts are those of a run without checks. Exit code 77 (skipped)
 * without compiled kernels. */
#include "sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SKIPPED 77

typedef struct bench {
    const char *gpu, *variant;
    ls_gpu_system *systems[2]; /* the second one is strict */
    int runs, failures;
} bench;

static bool run_one(bench *b, const wl_workload *w, const uint64_t *values, size_t system, wl_result *out)
{
    wl_setting settings[SIZES_VALUES_MAX];
    ls_error err;
    char text[900];
    for (size_t i = 0; i < w->option_count; i++)
        settings[i] = (wl_setting){ w->options[i].name, values[i] };
    const wl_request request = { .workload = w,
                                 .system = b->systems[system],
                                 .settings = settings,
                                 .setting_count = w->option_count,
                                 .check = true,
                                 .variant = b->variant };
    ls_status status = wl_run_workload(&request, out, &err);
    b->runs++;
    if (status == LS_OK)
        return true;
    b->failures++;
    printf("%s --size %" PRIu64 " on %s %s: %s\n", w->name, values[0], b->gpu, b->variant,
           ls_error_text(&err, text, sizeof text));
    return false;
}

static void run_workload(bench *b, const wl_workload *w)
{
    uint64_t values[SIZES_VALUES_MAX];
    wl_result plain, checked;
    for (int size = 1; size < SIZES_COUNT; size++) {
        if (!sizes_get(w, size, values)) {
            printf("%s: no sizes in sizes.c\n", w->name);
            b->failures++;
            return;
        }
        /* Checks take their time, and code that was not optimised does more. */
        uint64_t most = strncmp(b->variant, "O0", 2) == 0 ? 60 : 20000;
        bool any_size = strncmp(w->name, "micro_", 6) != 0 && strncmp(w->name, "pointer_", 8) != 0 &&
                        strncmp(w->name, "bandwidth_", 10) != 0;
        if (values[0] > most && any_size)
            values[0] = most + 1;
        if (!run_one(b, w, values, 0, &plain) || !run_one(b, w, values, 1, &checked))
            continue;
        plain.counts.host_ns = checked.counts.host_ns = 0;
        if (plain.hash != checked.hash || memcmp(&plain.counts, &checked.counts, sizeof plain.counts) != 0) {
            printf("%s --size %" PRIu64 " on %s %s: checks change the outcome\n", w->name, values[0], b->gpu,
                   b->variant);
            b->failures++;
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        printf("usage: workloads_strict GPU VARIANT [WORKLOAD]\n");
        return 2;
    }
    bench b = { .gpu = argv[1], .variant = argv[2] };
    char path[1024];
    ls_error err;
    if (wl_kernel_path("vector_add", b.gpu, b.variant, path, sizeof path, &err) != LS_OK) {
        printf("skipped: %s\n", err.what);
        return SKIPPED;
    }
    ls_status status = LS_OK;
    for (size_t i = 0; i < 2 && status == LS_OK; i++) {
        const ls_gpu_options options = {
            .gpus = &b.gpu, .gpu_count = 1, .max_instructions = 10000000, .strict = i == 1
        };
        status = ls_gpu_system_create(&options, &b.systems[i], &err);
    }
    if (status != LS_OK)
        printf("%s\n", err.what);
    for (size_t i = 0; i < wl_count() && status == LS_OK; i++)
        if (!wl_at(i)->suite && (argc < 4 || strcmp(argv[3], wl_at(i)->name) == 0))
            run_workload(&b, wl_at(i));
    for (size_t i = 0; i < 2; i++)
        ls_gpu_system_destroy(b.systems[i]);
    printf("%s %s: %d runs of workloads, %d failed\n", b.gpu, b.variant, b.runs, b.failures);
    return status != LS_OK || b.failures != 0 || b.runs == 0;
}

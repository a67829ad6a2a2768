/* test_workloads.c: every workload, on PoCL: its kernels and its reference agree on an OpenCL that is not
 * ours, in three sizes each. Exit code 77 (skipped) without PoCL. */
#include "wl_opencl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77
#define VALUES_MAX 16

/* From the section that WL_REGISTER fills. */
extern const wl_workload *const __start_ls_workloads[], *const __stop_ls_workloads[];

/* A small one, an odd one, and the default (which the options' table knows); 0 values are the defaults. */
static const struct {
    const char *workload;
    uint64_t values[2][VALUES_MAX];
} cases[] = {
    { "aes", { { 1 }, { 12345 } } },
    { "empty_kernel", { { 1, 1, 1 }, { 1001, 17, 2 } } },
    { "memory_copy", { { 1, 1 }, { 1001, 3 } } },
    { "micro_alu", { { 1, 4, 1 }, { 512, 6, 2 } } },
    { "micro_l1", { { 1, 0, 4, 1 }, { 99, 8, 72, 65 } } },
    { "multi_thread_loop", { { 1, 1 }, { 10, 1001 } } },
    { "pointer_chasing_linear", { { 8, 1 }, { 808, 77 } } },
    { "pointer_chasing_random", { { 8, 1 }, { 8008, 999 } } },
    { "atax", { { 1, 1 }, { 77, 131 } } },
    { "bicg", { { 1, 1 }, { 131, 77 } } },
    { "bitonicsort", { { 1 }, { 1001, 1 } } },
    { "fastwalshtransform", { { 1 }, { 777 } } },
    { "fft", { { 1 }, { 7 } } },
    { "fir", { { 1, 1, 1 }, { 1001, 17, 3 } } },
    { "floydwarshall", { { 1 }, { 37, 10 } } },
    { "histogram", { { 1, 1 }, { 10007, 3 } } },
    { "kmeans", { { 1, 1, 1, 1 }, { 333, 7, 5, 4 } } },
    { "matrixmultiplication", { { 1, 1, 1 }, { 33, 51, 19 } } },
    { "matrixtranspose", { { 1, 1 }, { 33, 71 } } },
    { "nbody", { { 1, 1 }, { 129, 3 } } },
    { "nw", { { 1, 1, 1 }, { 37, 90, 3 } } },
    { "pagerank", { { 1, 1, 1 }, { 101, 5, 7 } } },
    { "reduction", { { 1, 1 }, { 10007, 7 } } },
    { "relu", { { 1 }, { 1001 } } },
    { "scan", { { 1 }, { 300001 } } },
    { "simpleconvolution", { { 1, 1, 1 }, { 33, 71, 5 } } },
    { "spmv", { { 1, 1, 1 }, { 333, 20, 1 } } },
    { "stencil2d", { { 1, 1, 1 }, { 19, 35, 5 } } },
};

static int run_one(const wl_workload *w, ocl_device *device, const uint64_t *chosen)
{
    uint64_t values[VALUES_MAX] = { 0 }, compared = 0;
    for (size_t i = 0; i < w->option_count; i++)
        values[i] = chosen && chosen[i] ? chosen[i] : w->options[i].value;
    ls_error err;
    const ls_status status = wl_opencl_run(w, LS_SOURCE_DIR "/workloads", device, values, &compared, &err);
    char text[900];
    if (status != LS_OK)
        printf("%s --size %" PRIu64 ": %s\n", w->name, values[0], ls_error_text(&err, text, sizeof text));
    else if (compared == 0)
        printf("%s --size %" PRIu64 ": compared nothing\n", w->name, values[0]);
    return status != LS_OK || compared == 0;
}

int main(int argc, char **argv)
{
    ocl_device *device;
    ls_error err;
    if (ocl_open(&device, &err) != LS_OK) {
        printf("skipped: %s\n", err.what);
        return SKIPPED;
    }
    int failures = 0, runs = 0;
    for (const wl_workload *const *at = __start_ls_workloads; at < __stop_ls_workloads; at++) {
        const wl_workload *w = *at;
        if (argc > 1 && strcmp(argv[1], w->name) != 0)
            continue;
        failures += run_one(w, device, NULL);
        runs++;
        for (size_t i = 0; i < LS_COUNT_OF(cases); i++)
            for (int n = 0; n < 2 && strcmp(cases[i].workload, w->name) == 0; n++, runs++)
                failures += run_one(w, device, cases[i].values[n]);
    }
    ocl_close(device);
    printf("%d runs of workloads on PoCL, %d failed\n", runs, failures);
    return failures != 0 || runs == 0;
}

/* test_workloads.c: every workload, on PoCL: its kernels and its reference agree on an OpenCL that is not
 * ours, in three sizes each. Exit code 77 (skipped) without PoCL. */
#include "wl_opencl.h"
#include "workloads/sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77

/* From the section that WL_REGISTER fills. */
extern const wl_workload *const __start_ls_workloads[], *const __stop_ls_workloads[];

static int run_one(const wl_workload *w, ocl_device *device, int size)
{
    uint64_t values[SIZES_VALUES_MAX] = { 0 }, compared = 0;
    if (!sizes_get(w, size, values)) {
        printf("%s has no sizes in tests/workloads/sizes.c\n", w->name);
        return 1;
    }
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
        if ((argc > 1 && strcmp(argv[1], w->name) != 0) || w->races) /* nothing to compare in a race */
            continue;
        for (int size = 0; size < SIZES_COUNT; size++, runs++)
            failures += run_one(w, device, size);
    }
    ocl_close(device);
    printf("%d runs of workloads on PoCL, %d failed\n", runs, failures);
    return failures != 0 || runs == 0;
}

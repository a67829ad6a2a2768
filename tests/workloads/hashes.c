/* hashes.c: every workload in every size, checked against its reference; one line with the hash of its
 * downloads for each. `workloads_hashes GPU` is linked twice: with the driver, and with driver_on_opencl.c.
 * The two must print the same. Exit code 77 (skipped) without compiled kernels or without the driver that is
 * to run them. */
#include "sizes.h"

#include <inttypes.h>
#include <stdio.h>

#define SKIPPED 77

static bool run_one(const wl_workload *w, ls_gpu_system *system, int size)
{
    uint64_t values[SIZES_VALUES_MAX] = { 0 };
    wl_setting settings[SIZES_VALUES_MAX];
    const wl_request request = {
        .workload = w, .system = system, .settings = settings, .setting_count = w->option_count, .check = true
    };
    wl_result result = { 0 };
    ls_error err;
    char text[900];
    if (!sizes_get(w, size, values)) {
        printf("%s has no sizes in sizes.c\n", w->name);
        return false;
    }
    for (size_t i = 0; i < w->option_count; i++)
        settings[i] = (wl_setting){ w->options[i].name, values[i] };
    const ls_status status = wl_run_workload(&request, &result, &err);
    if (status != LS_OK)
        printf("%s, size %d: %s\n", w->name, size, ls_error_text(&err, text, sizeof text));
    else
        printf("%s, size %d: %016" PRIx64 ", %" PRIu64 " compared\n", w->name, size, result.hash,
               result.compared);
    return status == LS_OK && result.compared > 0;
}

int main(int argc, char **argv)
{
    const char *gpu = argc > 1 ? argv[1] : "gfx1010";
    ls_gpu_system *system;
    char path[1024], text[900];
    ls_error err;
    int failures = 0;
    if (wl_kernel_path("vector_add", gpu, "", path, sizeof path, &err) != LS_OK ||
        ls_gpu_system_create(&(ls_gpu_options){ .gpus = &gpu, .gpu_count = 1 }, &system, &err) != LS_OK) {
        printf("skipped: %s\n", ls_error_text(&err, text, sizeof text));
        return SKIPPED;
    }
    for (size_t i = 0; i < wl_count(); i++)
        for (int size = 0; size < SIZES_COUNT && !wl_at(i)->suite; size++)
            failures += !run_one(wl_at(i), system, size);
    ls_gpu_system_destroy(system);
    return failures != 0;
}

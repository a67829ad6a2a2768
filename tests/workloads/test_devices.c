/* test_devices.c: workloads that divide themselves over several GPUs: `workloads_devices`. On two and four GPUs and
 * with each way of using them the results are those of the reference, emulated (one thread) and in simulated time. There
 * 1, 2, 3 and 8 threads agree in results, counts and times.
 * Exit code 77 (skipped) without compiled kernels. */
#include "divided.h"

/* Sizes with parts of different lengths, in pages and in work-groups. */
static const sized sizes[] = {
    { "aes", 9744 },
    { "bitonicsort", 40 },
    { "fir", 2500 },
    { "kmeans", 200 },
    { "matrixmultiplication", 50 },
    { "matrixtranspose", 70 },
    { "simpleconvolution", 60 },
};

/* One system for all workloads: places of the last one are free again. */
static ls_gpu_system *make(bool timed, uint32_t gpus, uint32_t threads, const char *spread, const char *pages)
{
    static const char *const kinds[] = { "gfx803", "gfx803", "gfx803", "gfx803" }, *const sets[] = {
        "gpus.clusters=2", "fabric.model=pcie"
    };
    ls_gpu_options options = { .unified = true, .spread = spread, .pages = pages, .threads = threads };
    if (timed) {
        options.platform = LS_SOURCE_DIR "/platforms/r9nano.yaml";
        options.platform_gpus = gpus;
        options.sets = sets;
        options.set_count = 2;
    } else {
        options.gpus = kinds;
        options.gpu_count = gpus;
    }
    return make_system(&options, timed ? "in time" : "emulated");
}

/* threads: ends with 0 */
static void check_all(uint32_t gpus, const uint32_t *threads, const char *spread, const char *pages)
{
    bool timed = threads[1] != 0;
    outcome first[LS_COUNT_OF(sizes)][WL_DEVICES_COUNT], out;
    char where[128];
    for (size_t t = 0; threads[t] != 0; t++) {
        ls_gpu_system *system = make(timed, gpus, threads[t], spread, pages);
        for (size_t i = 0; system && i < LS_COUNT_OF(sizes); i++)
            for (uint32_t d = WL_DISCRETE; d < WL_DEVICES_COUNT; d++) {
                snprintf(where, sizeof where, "on %u GPUs, %s, %s, pages %s, %u threads", gpus,
                         timed ? "in time" : "emulated", wl_devices_names[d], pages ? pages : "-", threads[t]);
                run_on(system, &sizes[i], (wl_devices)d, where, &out);
                if (t == 0)
                    first[i][d] = out;
                else if (memcmp(&first[i][d], &out, sizeof out) != 0)
                    complain(sizes[i].workload, where, "differs from 1 thread");
            }
        ls_gpu_system_destroy(system);
    }
}

int main(void)
{
    char path[4096];
    if (wl_kernel_path("fir", "gfx803", "", path, sizeof path, NULL) != LS_OK)
        return SKIPPED;
    check_all(2, (const uint32_t[]){ 1, 0 }, NULL, NULL);
    check_all(4, (const uint32_t[]){ 1, 0 }, "interleaved", "blocked");
    check_all(2, (const uint32_t[]){ 1, 2, 8, 0 }, "interleaved", NULL);
    check_all(4, (const uint32_t[]){ 1, 3, 0 }, "central", "one");
    printf("%d runs, %d failures\n", runs, failures);
    return failures ? 1 : 0;
}

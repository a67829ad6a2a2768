/* test_migrate.c: workloads on GPUs between which pages move: `workloads_migrate`. Under every model of slot `migrate` the
 * results are those of the reference, and threads agree in results, counts and times. The checker of the directory is on.
 * Exit code 77 (skipped) without compiled kernels. */
#include "divided.h"

#define GPUS 3u

/* Sizes with parts of different lengths, in pages and in work-groups. */
static const sized sizes[] = {
    { "aes", 20016 },
    { "bitonicsort", 140 },
    { "fir", 5000 },
    { "kmeans", 150 },
    { "matrixmultiplication", 40 },
    { "matrixtranspose", 70 },
    { "simpleconvolution", 60 },
};

/* Each with its own number of threads, which is compared with one thread. */
static const struct {
    const char *model, *more; /* more: one more key */
    const char *pages, *spread;
    wl_devices devices;
    uint32_t threads;
} cases[] = {
    { "page", "migrate.pin=0", NULL, "interleaved", WL_UNIFIED, 2 },
    { "page", "migrate.threshold=8", "blocked", NULL, WL_UNIFIED, 3 },
    { "page", "migrate.pin=1", "first-touch", "central", WL_UNIFIED, 8 },
    { "esi", "migrate.in_flight=16", NULL, "central", WL_UNIFIED, 2 },
    { "esi", "migrate.sender=nearest", NULL, NULL, WL_LOCALITY, 3 },
    { "split", "migrate.in_flight=16", NULL, "central", WL_UNIFIED, 3 },
    { "split", "migrate.smallest_kib=4", NULL, NULL, WL_LOCALITY, 8 },
};

static ls_gpu_system *make(size_t c, uint32_t threads, const char *where)
{
    char model[64];
    const char *const sets[] = { "gpus.clusters=2", "fabric.model=pcie", "host.model=cpu", model,
                                 cases[c].more,     "migrate.check=true" };
    const ls_gpu_options options = { .unified = true,
                                     .pages = cases[c].pages,
                                     .spread = cases[c].spread,
                                     .threads = threads,
                                     .platform = LS_SOURCE_DIR "/platforms/r9nano.yaml",
                                     .platform_gpus = GPUS,
                                     .sets = sets,
                                     .set_count = LS_COUNT_OF(sets) };
    snprintf(model, sizeof model, "migrate.model=%s", cases[c].model);
    return make_system(&options, where);
}

/* One system for all workloads: pages of the last one are free again. */
static void check_case(size_t c)
{
    outcome first[LS_COUNT_OF(sizes)], out;
    const uint32_t threads[] = { 1, cases[c].threads };
    char where[160];
    for (size_t t = 0; t < 2; t++) {
        snprintf(where, sizeof where, "under %s, %s, %s, pages %s, %u threads", cases[c].model, cases[c].more,
                 wl_devices_names[cases[c].devices], cases[c].pages ? cases[c].pages : "-", threads[t]);
        ls_gpu_system *system = make(c, threads[t], where);
        for (size_t i = 0; system && i < LS_COUNT_OF(sizes); i++) {
            run_on(system, &sizes[i], cases[c].devices, where, &out);
            if (t == 0)
                first[i] = out;
            else if (memcmp(&first[i], &out, sizeof out) != 0)
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
    for (size_t c = 0; c < LS_COUNT_OF(cases); c++)
        check_case(c);
    printf("%d runs, %d failures\n", runs, failures);
    return failures != 0;
}

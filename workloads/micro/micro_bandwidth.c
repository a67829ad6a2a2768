/* micro_bandwidth.c: the hosts of two of gpu-benches' benchmarks (RRZE-HPC), which read caches as fast as they can. */
#include "workloads/workload.h"

#define SOURCE "RRZE-HPC, gpu-benches"

/* ------------------------------------------------------------------- gpu-cache: all work-groups read the same */

#define CACHE_GROUP 512u

static void run_cache(wl_run *r)
{
    const uint32_t kib = wl_u32(r, "size"), passes = wl_u32(r, "passes"), groups = wl_u32(r, "groups");
    const uint32_t count = kib * 1024 / 32, steps = passes * (count / CACHE_GROUP);
    if ((kib & (kib - 1)) != 0)
        wl_fail(r, LS_ERR_USAGE, "size is %u; it must be a power of two", (unsigned)kib);
    const ls_gpu_address data = wl_zeroed(r, (size_t)kib * 1024),
                         d_out = wl_buffer(r, CACHE_GROUP * 4 * sizeof(float));
    float *first = wl_random_f32(r, (size_t)CACHE_GROUP * 4, 1, 2);
    float *out = wl_zeros(r, (size_t)CACHE_GROUP * 4, sizeof *out);
    wl_write(r, data, first, CACHE_GROUP * 4 * sizeof *first);
    wl_write(r, data + (size_t)count * 16, first, CACHE_GROUP * 4 * sizeof *first);
    wl_launch(r, "micro_bandwidth_cache", WL_1D(groups * CACHE_GROUP), WL_1D(CACHE_GROUP), WL_ARG(data),
              WL_ARG(d_out), WL_ARG(count), WL_ARG(steps));
    wl_download(r, out, d_out, CACHE_GROUP * 4 * sizeof *out);
    if (!wl_checking(r))
        return;
    for (uint32_t i = 0; i < CACHE_GROUP * 4; i++) {
        double want = 0;
        for (uint32_t pass = 0; pass < passes; pass++)
            want += (double)first[i] * (double)first[i];
        if (!wl_expect_f32(r, "out", i, out[i], (float)want, 1e-4f))
            return;
    }
}

static const wl_option cache_options[] = {
    { "size", 32, 16, 1u << 20, "KiB that every work-group reads; a power of two" },
    { "passes", 8, 1, 1u << 16, "times that they are read" },
    { "groups", 8, 1, 1u << 16, "work-groups: one per compute unit, or per dual one" },
};
static const wl_workload bandwidth_cache = { .name = "bandwidth_cache",
                                             .summary =
                                                 "bandwidth of caches near compute units: all read the same",
                                             .source = SOURCE,
                                             WL_OPTIONS(cache_options),
                                             .run = run_cache,
                                             .kernels = "micro_bandwidth",
                                             .is_micro = true };
WL_REGISTER(bandwidth_cache);

/* ---------------------------------------------------------- gpu-l2-cache: work-groups read parts of one region */

#define SHARED_GROUP 1024u
#define SHARED_LOADS 64u

static void run_shared(wl_run *r)
{
    const uint32_t groups = wl_u32(r, "size"), run = wl_u32(r, "run"), warm = wl_u32(r, "warm");
    const size_t part_bytes = (size_t)SHARED_GROUP * SHARED_LOADS * sizeof(double);
    const ls_gpu_address data = wl_zeroed(r, run * part_bytes),
                         d_out = wl_buffer(r, SHARED_GROUP * sizeof(double));
    double *first = wl_random_f64(r, (size_t)2 * SHARED_GROUP, 1, 2);
    double *out = wl_zeros(r, SHARED_GROUP, sizeof *out);
    wl_write(r, data, first, 2 * SHARED_GROUP * sizeof *first);
    if (warm > 0)
        wl_launch(r, "micro_bandwidth_shared", WL_1D(warm * SHARED_GROUP), WL_1D(SHARED_GROUP), WL_ARG(data),
                  WL_ARG(d_out), WL_ARG(run));
    wl_launch(r, "micro_bandwidth_shared", WL_1D(groups * SHARED_GROUP), WL_1D(SHARED_GROUP), WL_ARG(data),
              WL_ARG(d_out), WL_ARG(run));
    wl_download(r, out, d_out, SHARED_GROUP * sizeof *out);
    if (!wl_checking(r))
        return;
    for (uint32_t i = 0; i < SHARED_GROUP; i++)
        if (!wl_expect_f64(r, "out", i, out[i], first[i] * first[SHARED_GROUP + i], 1e-12))
            return;
}

static const wl_option shared_options[] = {
    { "size", 16, 1, 1u << 20, "work-groups, 512 KiB read by each" },
    { "run", 4, 1, 1u << 12, "parts of 512 KiB that they read in turn" },
    { "warm", 0, 0, 1u << 12, "work-groups of a launch before, which fills the caches" },
};
static const wl_workload bandwidth_shared = { .name = "bandwidth_shared",
                                              .summary = "bandwidth of shared caches and DRAM: parts in turn",
                                              .source = SOURCE,
                                              WL_OPTIONS(shared_options),
                                              .run = run_shared,
                                              .kernels = "micro_bandwidth",
                                              .is_micro = true };
WL_REGISTER(bandwidth_shared);

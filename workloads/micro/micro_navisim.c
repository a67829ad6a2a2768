/* micro_navisim.c: the hosts of NaviSim's seven microbenchmarks (MICRO 2022 paper, table 3): dispatch speed,
 * launch overhead, pipeline depth and throughput, cache sizes and latencies, bandwidth. */
#include "workloads/workload.h"

#define SOURCE "NaviSim, table 3"

/* ------------------------------------------------------------------------------------------ empty kernels */

static void run_empty(wl_run *r)
{
    const uint32_t items = wl_u32(r, "size"), group = wl_u32(r, "group"), launches = wl_u32(r, "launches");
    for (uint32_t i = 0; i < launches; i++)
        wl_launch_args(r, "micro_empty", WL_1D(wl_round_up(items, group)), WL_1D(group), NULL, 0);
    if (wl_checking(r))
        wl_expect_u32(r, "launches", 0, launches, launches); /* it came back */
}

static const wl_option empty_options[] = {
    { "size", 65536, 1, 1u << 30, "work-items" },
    { "group", 64, 1, 1024, "work-items of a work-group" },
    { "launches", 1, 1, 1u << 20, "launches" },
};
static const wl_option empty_multi_options[] = {
    { "size", 64, 1, 1u << 30, "work-items" },
    { "group", 64, 1, 1024, "work-items of a work-group" },
    { "launches", 64, 1, 1u << 20, "launches" },
};
static const wl_workload empty_kernel = { .name = "empty_kernel",
                                          .summary = "speed of dispatching work-groups",
                                          .source = SOURCE,
                                          WL_OPTIONS(empty_options),
                                          .run = run_empty,
                                          .kernels = "micro_navisim",
                                          .is_micro = true };
static const wl_workload empty_kernel_multi = { .name = "empty_kernel_multi",
                                                .summary = "overhead of launching a kernel",
                                                .source = SOURCE,
                                                WL_OPTIONS(empty_multi_options),
                                                .run = run_empty,
                                                .kernels = "micro_navisim",
                                                .is_micro = true };
WL_REGISTER(empty_kernel);
WL_REGISTER(empty_kernel_multi);

/* -------------------------------------------------------------------------------------------------- loops */

static void run_loop(wl_run *r)
{
    const uint32_t iterations = wl_u32(r, "size"), items = wl_u32(r, "items");
    const uint32_t group = items < 64 ? items : 64, total = wl_round_up(items, group);
    const float step = 1;
    float *out = wl_zeros(r, total, sizeof *out);
    const ls_gpu_address d_out = wl_buffer(r, total * sizeof *out);
    wl_launch(r, "micro_loop", WL_1D(total), WL_1D(group), WL_ARG(d_out), WL_ARG(iterations), WL_ARG(step));
    wl_download(r, out, d_out, total * sizeof *out);
    if (!wl_checking(r))
        return;
    for (uint32_t i = 0; i < total; i++)
        if (!wl_expect_f32(r, "out", i, out[i], (float)((i & 255) + iterations), 0))
            return;
}

/* The sum stays a whole number below 2^24: exact. */
static const wl_option single_options[] = {
    { "size", 1000, 1, 1u << 23, "iterations" },
    { "items", 1, 1, 1, "work-items" },
};
static const wl_option multi_options[] = {
    { "size", 100, 1, 1u << 23, "iterations" },
    { "items", 16384, 1, 1u << 24, "work-items" },
};
static const wl_workload single_thread_loop = {
    .name = "single_thread_loop",
    .summary = "depth of the pipeline: a chain of additions, one work-item",
    .source = SOURCE,
    WL_OPTIONS(single_options),
    .run = run_loop,
    .kernels = "micro_navisim",
    .is_micro = true
};
static const wl_workload multi_thread_loop = { .name = "multi_thread_loop",
                                               .summary =
                                                   "throughput of the pipelines: the chain in many work-items",
                                               .source = SOURCE,
                                               WL_OPTIONS(multi_options),
                                               .run = run_loop,
                                               .kernels = "micro_navisim",
                                               .is_micro = true };
WL_REGISTER(single_thread_loop);
WL_REGISTER(multi_thread_loop);

/* ---------------------------------------------------------------------------------------- pointer chasing */

static void chase(wl_run *r, bool is_random)
{
    const uint32_t words = wl_u32(r, "stride") / 8, cells = wl_u32(r, "size") / (8 * words);
    const uint32_t steps = wl_u32(r, "steps") ? wl_u32(r, "steps") : 2 * cells;
    const size_t bytes = (size_t)cells * words * sizeof(uint64_t);
    if (cells == 0)
        wl_fail(r, LS_ERR_USAGE, "the region is smaller than the distance of its cells");
    uint64_t *next = wl_zeros(r, cells, sizeof *next), *region = wl_zeros(r, bytes, 1), end = 0;
    const ls_gpu_address base = wl_buffer(r, bytes), d_out = wl_buffer(r, sizeof end);
    if (wl_failed(r))
        return;
    /* Sattolo's shuffle makes one cycle of all cells, so that no walk is caught in a short one. */
    for (uint32_t i = 0; i < cells; i++)
        next[i] = is_random ? i : (i + 1) % cells;
    for (uint32_t i = cells - 1; is_random && i > 0; i--) {
        const size_t other = wl_random(r, i);
        const uint64_t kept = next[i];
        next[i] = next[other];
        next[other] = kept;
    }
    for (uint32_t i = 0; i < cells; i++)
        region[(size_t)i * words] = base + next[i] * words * sizeof *region;
    wl_write(r, base, region, bytes);
    wl_launch(r, "micro_chase", WL_1D(1), WL_1D(1), WL_ARG(base), WL_ARG(d_out), WL_ARG(steps));
    wl_download(r, &end, d_out, sizeof end);
    if (!wl_checking(r))
        return;
    uint64_t at = 0;
    for (uint32_t i = 0; i < steps; i++)
        at = next[at];
    wl_expect_u64(r, "cell", 0, end, at * words);
}

static void run_chase_random(wl_run *r)
{
    chase(r, true);
}

static void run_chase_linear(wl_run *r)
{
    chase(r, false);
}

static const wl_option chase_options[] = {
    { "size", 8192, 8, 1u << 30, "bytes of the region" },
    { "steps", 0, 0, 1u << 30, "loads; 0: twice the cells" },
    { "stride", 8, 8, 1u << 20,
      "bytes from cell to cell, a multiple of 8: a line for the latency of one level" },
};
static const wl_workload pointer_chasing_random = { .name = "pointer_chasing_random",
                                                    .summary =
                                                        "latency of caches and DRAM: pointers in random order",
                                                    .source = SOURCE,
                                                    WL_OPTIONS(chase_options),
                                                    .run = run_chase_random,
                                                    .kernels = "micro_navisim",
                                                    .is_micro = true };
static const wl_workload pointer_chasing_linear = { .name = "pointer_chasing_linear",
                                                    .summary = "latency of caches and DRAM: pointers in order",
                                                    .source = SOURCE,
                                                    WL_OPTIONS(chase_options),
                                                    .run = run_chase_linear,
                                                    .kernels = "micro_navisim",
                                                    .is_micro = true };
WL_REGISTER(pointer_chasing_random);
WL_REGISTER(pointer_chasing_linear);

/* --------------------------------------------------------------------------------------------------- copy */

static void run_copy(wl_run *r)
{
    const uint32_t count = wl_u32(r, "size"), groups = wl_u32(r, "groups");
    const float *in = wl_random_f32(r, count, -1, 1);
    float *out = wl_zeros(r, count, sizeof *out);
    const ls_gpu_address d_in = wl_upload(r, in, count * sizeof *in),
                         d_out = wl_buffer(r, count * sizeof *out);
    wl_launch(r, "micro_copy", WL_1D(groups * 256), WL_1D(256), WL_ARG(d_in), WL_ARG(d_out), WL_ARG(count));
    wl_download(r, out, d_out, count * sizeof *out);
    if (wl_checking(r))
        wl_expect_bytes(r, "out", out, in, count * sizeof *out);
}

static const wl_option copy_options[] = {
    { "size", 65536, 1, 1u << 28, "words to copy" },
    { "groups", 64, 1, 1u << 16, "work-groups" },
};
static const wl_workload memory_copy = { .name = "memory_copy",
                                         .summary = "bandwidth of caches and DRAM",
                                         .source = SOURCE,
                                         WL_OPTIONS(copy_options),
                                         .run = run_copy,
                                         .kernels = "micro_navisim",
                                         .is_micro = true };
WL_REGISTER(memory_copy);

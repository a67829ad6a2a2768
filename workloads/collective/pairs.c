/* pairs.c: two GPUs: the bandwidth between them, and the latency of loads of one from the memory of the other. With one
 * GPU they measure its own memory. */
#include "workloads/collective/collective.h"

/* The ranks of a pair. With one there is no choice. */
static void choose_pair(wl_run *r, uint32_t ranks, uint32_t *from, uint32_t *to)
{
    *from = wl_u32(r, "from");
    *to = wl_u32(r, "to");
    if (ranks == 1) {
        *from = *to = 0;
        return;
    }
    const uint32_t larger = *from > *to ? *from : *to;
    if (larger >= ranks)
        wl_fail(r, LS_ERR_USAGE, "there is no GPU %u: the last one is %u", larger, ranks - 1);
}

/* --------------------------------------------------------------------------------------------- bandwidth */

static void run_bandwidth(wl_run *r)
{
    const uint32_t both = wl_u32(r, "both");
    uint32_t ends[2];
    collective c;
    collective_open(&c, r);
    choose_pair(r, c.ranks, &ends[0], &ends[1]);
    if (both && ends[0] == ends[1])
        wl_fail(r, LS_ERR_USAGE, "both directions are for two GPUs, not for GPU %u alone", ends[0]);
    for (uint32_t i = 0; i <= both && !wl_failed(r); i++)
        (void)collective_move(&c, (collective_place){ ends[1 - i], COLLECTIVE_RECEIVED, 0, c.words },
                              (collective_place){ ends[i], COLLECTIVE_DATA, 0, c.words });
    const wl_transfer transfer = { .bytes = (uint64_t)c.words * 4,
                                   .factor = 1.0 + both,
                                   .ns = wl_measured_ns(r),
                                   .ranks = ends[0] == ends[1] ? 1 : 2 };
    wl_report(r, &transfer);
    for (uint32_t i = 0; i <= both && !wl_failed(r); i++) {
        const uint32_t *got = collective_fetch(&c, ends[1 - i], COLLECTIVE_RECEIVED);
        const collective_place all = { .rank = ends[1 - i], .count = c.words };
        if (wl_checking(r) &&
            !collective_expect(&c, "received", got, c.input + (size_t)ends[i] * c.words, all))
            return;
    }
}

/* ----------------------------------------------------------------------------------------------- latency */

#define LINE_WORDS 16u

/* A chain of lines in the memory of `to`. A first walk brings them to its L2; the difference of two more is the time of
 * the loads alone. */
static void run_latency(wl_run *r)
{
    const uint32_t loads = wl_u32(r, "size"), lines = wl_u32(r, "lines"), zero = 0;
    uint32_t from, to, *chain = wl_zeros(r, lines, LINE_WORDS * sizeof *chain), got[3] = { 0 };
    const uint32_t walks[3] = { lines, loads, 2 * loads };
    uint64_t ns[3];
    choose_pair(r, wl_parts(r), &from, &to);
    if (from != to)
        collective_check_reach(r, "fabric.model lists some");
    if (wl_failed(r))
        return;
    for (uint32_t i = 0; i < lines; i++)
        chain[i * LINE_WORDS] = (i + 1) % lines * LINE_WORDS;
    const size_t bytes = (size_t)lines * LINE_WORDS * sizeof *chain;
    const ls_gpu_address data = wl_of(r, to, wl_buffer(r, bytes)), out = wl_of(r, from, wl_buffer(r, 64));
    wl_write_on(r, to, data, chain, bytes);
    for (uint32_t i = 0; i < 3; i++) {
        wl_write_on(r, from, out, &zero, sizeof zero);
        wl_measure(r);
        (void)wl_launch_on(r, from, "peer_chase", WL_1D(1), WL_1D(1), WL_ARG(data), WL_ARG(out),
                           WL_ARG(walks[i]));
        ns[i] = wl_measured_ns(r);
        wl_read_on(r, from, &got[i], out, sizeof got[i]);
    }
    const wl_transfer transfer = { .ns = ns[2] - ns[1],
                                   .load_ns = (double)(ns[2] - ns[1]) / loads,
                                   .ranks = from == to ? 1 : 2 };
    wl_report(r, &transfer);
    for (uint32_t i = 0; i < 3 && wl_checking(r); i++)
        (void)wl_expect_u32(r, "ends", i, got[i], walks[i] % lines * LINE_WORDS);
}

/* clang-format off */
#define PAIR_OPTIONS                                                                                          \
    { "from", 0, 0, COLLECTIVE_RANKS_MAX - 1, "GPU whose data are sent, or that loads" },                     \
    { "to", 1, 0, COLLECTIVE_RANKS_MAX - 1, "GPU that gets the data, or whose memory is read" }
/* clang-format on */

static const wl_option bandwidth_options[] = {
    COLLECTIVE_OPTIONS,
    PAIR_OPTIONS,
    { "both", 0, 0, 1, "1: both directions at once" },
};
static const wl_option latency_options[] = {
    { "size", 256, 1, 1u << 20, "loads, one after another" },
    PAIR_OPTIONS,
    { "lines", 32, 1, 1u << 20, "lines of 64 bytes that the loads go around" },
};
static const wl_workload peer_bandwidth = { .name = "peer_bandwidth",
                                            .summary = "bytes from one GPU to another",
                                            .source = "in the manner of CUDA's p2pBandwidthLatencyTest",
                                            WL_OPTIONS(bandwidth_options),
                                            .run = run_bandwidth,
                                            .value_names = collective_names,
                                            .kernels = "collective",
                                            .is_micro = true,
                                            .divides = true };
static const wl_workload peer_latency = { .name = "peer_latency",
                                          .summary =
                                              "loads of one GPU from the memory of another, one after another",
                                          .source = "in the manner of CUDA's p2pBandwidthLatencyTest",
                                          WL_OPTIONS(latency_options),
                                          .run = run_latency,
                                          .kernels = "collective",
                                          .is_micro = true,
                                          .divides = true };
WL_REGISTER(peer_bandwidth);
WL_REGISTER(peer_latency);

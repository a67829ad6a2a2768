/* test_collectives.c: collectives and peer tests on several GPUs: `workloads_collectives results|forms`.
 *
 * results: the data are right for each way and number of GPUs, emulated and in simulated time, up to 16 GPUs. There 1, 2,
 * 3 and 8 threads agree in data and times.
 * forms: times are those that latencies, widths and overheads of links add up to.
 * Exit code 77 (skipped) without compiled kernels. */
#include "lockstep/driver.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SKIPPED 77

static int runs, failures;

typedef struct outcome {
    uint64_t hash, instructions, now_ns;
    wl_transfer transfer;
} outcome;

static void complain(const char *workload, const char *where, const char *what)
{
    failures++;
    printf("%s %s: %s\n", workload, where, what);
}

/* fabric NULL: emulated. */
static ls_gpu_system *make(uint32_t gpus, uint32_t threads, const char *fabric, const char *clusters,
                           const char *link)
{
    static const char *const kinds[] = { "gfx803", "gfx803", "gfx803", "gfx803", "gfx803" };
    const char *const sets[] = { clusters, fabric, link };
    ls_gpu_options options = { .gpus = kinds, .gpu_count = gpus, .threads = threads };
    ls_gpu_system *system = NULL;
    ls_error err;
    char text[900];
    if (fabric)
        options = (ls_gpu_options){ .platform = LS_SOURCE_DIR "/platforms/r9nano.yaml",
                                    .platform_gpus = gpus,
                                    .sets = sets,
                                    .set_count = link ? 3 : 2,
                                    .threads = threads };
    if (ls_gpu_system_create(&options, &system, &err) != LS_OK)
        complain("system", fabric ? fabric : "emulated", ls_error_text(&err, text, sizeof text));
    return system;
}

static outcome run_on(ls_gpu_system *system, const char *name, const wl_setting *settings, size_t count,
                      const char *where)
{
    const wl_workload *w;
    wl_result result = { 0 };
    ls_error err;
    char text[900];
    ls_status status = wl_find(name, &w, &err);
    if (status == LS_OK)
        status = wl_run_workload(&(wl_request){ .workload = w,
                                                .system = system,
                                                .devices = WL_DISCRETE,
                                                .settings = settings,
                                                .setting_count = count,
                                                .check = true },
                                 &result, &err);
    runs++;
    if (status != LS_OK)
        complain(name, where, ls_error_text(&err, text, sizeof text));
    return (outcome){ .hash = result.hash,
                      .instructions = result.counts.instructions,
                      .now_ns = ls_gpu_system_now(system),
                      .transfer = result.transfer };
}

/* ------------------------------------------------------------------------------------------------- results */

enum { STORE, LOAD, COPY, VIAS };
static const char *const collectives[] = { "all_reduce", "reduce_scatter", "all_gather",
                                           "all_to_all", "broadcast",      "broadcast",
                                           "broadcast",  "peer_bandwidth", "peer_latency" };
#define COLLECTIVES LS_COUNT_OF(collectives)

/* Number i of the list in one way; broadcasts have another algorithm each. */
static outcome run_number(ls_gpu_system *system, size_t i, uint64_t size, uint64_t via, uint64_t ranks,
                          const char *where)
{
    wl_setting settings[5] = { { "size", size }, { "via", via }, { "ranks", ranks } };
    size_t count = 3;
    if (strcmp(collectives[i], "broadcast") == 0) {
        settings[count++] = (wl_setting){ "algorithm", i - 4 };
        settings[count++] = (wl_setting){ "pieces", 3 };
    } else if (strcmp(collectives[i], "peer_bandwidth") == 0) {
        settings[count++] = (wl_setting){ "both", 1 };
    } else if (strcmp(collectives[i], "peer_latency") == 0) {
        settings[0].value = 9;
        count = 1;
    }
    return run_on(system, collectives[i], settings, count, where);
}

/* Sizes with short and empty parts at the end, and more ranks than GPUs. */
static void check_emulated(void)
{
    static const uint64_t sizes[] = { 1, 64, 260, 5000 };
    char where[96];
    for (uint32_t gpus = 2; gpus <= 5; gpus++) {
        ls_gpu_system *system = make(gpus, 1, NULL, NULL, NULL);
        for (size_t i = 0; system && i < COLLECTIVES; i++)
            for (uint32_t via = 0; via < VIAS; via++)
                for (size_t s = 0; s < LS_COUNT_OF(sizes); s++) {
                    uint64_t ranks = s == 3 ? gpus + 2 : 0;
                    snprintf(where, sizeof where, "on %u GPUs, emulated, via %u, %" PRIu64 " bytes", gpus, via,
                             sizes[s]);
                    const outcome out = run_number(system, i, sizes[s], via, ranks, where);
                    if (out.transfer.ns != 0)
                        complain(collectives[i], where, "emulation has measured time");
                }
        ls_gpu_system_destroy(system);
    }
}

/* threads: up to a 0. */
static void check_timed(uint32_t gpus, const char *fabric, uint64_t size, const uint32_t *threads,
                        size_t first)
{
    outcome all[COLLECTIVES][VIAS], out;
    char where[128];
    for (size_t t = 0; threads[t] != 0; t++) {
        ls_gpu_system *system = make(gpus, threads[t], fabric, "gpus.clusters=2", NULL);
        for (size_t i = first; system && i < COLLECTIVES; i++)
            for (uint32_t via = first == 0 ? 0 : LOAD; via < (first == 0 ? VIAS : COPY); via++) {
                snprintf(where, sizeof where, "on %u GPUs, %s, via %u, %u threads", gpus, fabric, via,
                         threads[t]);
                out = run_number(system, i, size, via, 0, where);
                if (out.transfer.ns == 0)
                    complain(collectives[i], where, "no time");
                if (t == 0)
                    all[i][via] = out;
                else if (memcmp(&all[i][via], &out, sizeof out) != 0)
                    complain(collectives[i], where, "differs from 1 thread");
            }
        ls_gpu_system_destroy(system);
    }
}

static void check_results(void)
{
    check_emulated();
    check_timed(3, "fabric.model=full", 1500, (const uint32_t[]){ 1, 2, 3, 8, 0 }, 0);
    check_timed(4, "fabric.model=pcie", 4096, (const uint32_t[]){ 1, 2, 0 }, 0);
    check_timed(4, "fabric.model=ring", 2048, (const uint32_t[]){ 1, 3, 0 }, 3);
    check_timed(16, "fabric.model=switch", 4096, (const uint32_t[]){ 1, 8, 0 }, 6);
}

/* --------------------------------------------------------------------------------------------------- forms */

static void near(const char *what, const char *where, double got, double want, double limit)
{
    char text[160];
    if (fabs(got - want) <= limit * want)
        return;
    snprintf(text, sizeof text, "%.2f, expected %.2f within %.1f %%", got, want, 100 * limit);
    complain(what, where, text);
}

#define PORT 20.0
/* Nanoseconds of an R9 Nano at 1 GHz: both ways to the RDMA engine and from there to L2, and four passes of it. */
#define RDMA (84.0 + 4.0)

static double load_ns(ls_gpu_system *system, uint64_t to, const char *where)
{
    const wl_setting settings[] = { { "size", 256 }, { "to", to } };
    return run_on(system, "peer_latency", settings, 2, where).transfer.load_ns;
}

/* A remote load is a local one, the RDMA engines, the ports, and the latency of each switch or link, both ways. The last
 * flit of an answer comes `tail` after its first. */
static void check_latency(const char *fabric, double hop, const uint32_t hops[4], double tail)
{
    ls_gpu_system *system = make(4, 1, fabric, "gpus.clusters=2", "fabric.port_latency_ns=20");
    if (!system)
        return;
    double local = load_ns(system, 0, fabric);
    for (uint64_t to = 1; to < 4; to++)
        near("peer_latency", fabric, load_ns(system, to, fabric),
             local + RDMA + 4 * PORT + 2 * hop * hops[to] + tail, 0.003);
    ls_gpu_system_destroy(system);
}

static double transfer_ns(ls_gpu_system *system, const char *name, uint64_t size, uint64_t via,
                          const char *where)
{
    const wl_setting settings[] = { { "size", size }, { "via", via } };
    return (double)run_on(system, name, settings, 2, where).transfer.ns;
}

static const char *const names[] = { "stores", "loads" };

/* More bytes take the time of their flits: wire bytes for each line of 64. */
static void check_saturation(const char *fabric, uint64_t via, double gb_s, double wire_bytes)
{
    const double small = 131072, large = 524288;
    ls_gpu_system *system = make(2, 1, fabric, "gpus.clusters=8", NULL);
    if (!system)
        return;
    double ns = transfer_ns(system, "peer_bandwidth", (uint64_t)large, via, fabric) -
                transfer_ns(system, "peer_bandwidth", (uint64_t)small, via, fabric);
    near(names[via], fabric, (large - small) / ns, gb_s * 64 / wire_bytes, 0.02);
    ls_gpu_system_destroy(system);
}

/* 2 (n - 1) / n of the bytes at the rate of a link, and the latency of 2 (n - 1) steps. The latency is the time with one
 * line per step. */
static void check_all_reduce(const char *fabric, const char *link, uint32_t gpus, uint64_t via, double gb_s,
                             double wire_bytes)
{
    const double small = 64.0 * gpus, large = 131072.0 * gpus;
    ls_gpu_system *system = make(gpus, 1, fabric, "gpus.clusters=8", link);
    if (!system)
        return;
    double latency = transfer_ns(system, "all_reduce", (uint64_t)small, via, fabric);
    double ns = transfer_ns(system, "all_reduce", (uint64_t)large, via, fabric);
    near("all_reduce", fabric, ns,
         latency + 2 * (gpus - 1.0) / gpus * (large - small) / (gb_s * 64 / wire_bytes), 0.03);
    ls_gpu_system_destroy(system);
}

/* PCI Express 3: flits of 17 bytes at 17 GB/s; a line is five of them as an answer and six as a write, messages without
 * a line are one. Others: flits of 16 bytes at 25 GB/s; a line is six, the rest two. */
static void check_forms(void)
{
    check_latency("fabric.model=pcie", 140, (const uint32_t[]){ 0, 1, 3, 3 }, 4);
    check_saturation("fabric.model=pcie", STORE, 17, 6 * 17);
    check_saturation("fabric.model=pcie", LOAD, 17, 5 * 17);
    check_saturation("fabric.model=full", STORE, 25, 6 * 16);
    /* A link carries data for the next GPU and, in a tree or with a switch, answers or requests of the one before. */
    check_all_reduce("fabric.model=pcie", NULL, 3, LOAD, 17, (5 + 1) * 17);
    check_all_reduce("fabric.model=ring", "fabric.link_gb_s=10", 3, STORE, 10, 6 * 16);
    check_all_reduce("fabric.model=switch", NULL, 3, STORE, 25, (6 + 2) * 16);
}

int main(int argc, char **argv)
{
    char path[4096];
    if (argc < 2 || (strcmp(argv[1], "results") != 0 && strcmp(argv[1], "forms") != 0)) {
        printf("usage: workloads_collectives results|forms\n");
        return 2;
    }
    if (wl_kernel_path("collective", "gfx803", "", path, sizeof path, NULL) != LS_OK)
        return SKIPPED;
    if (strcmp(argv[1], "results") == 0)
        check_results();
    else
        check_forms();
    printf("%d runs, %d failures\n", runs, failures);
    return failures ? 1 : 0;
}

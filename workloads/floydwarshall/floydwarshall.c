/* floydwarshall.c: shortest paths between all pairs of nodes of a random graph, a launch per intermediate
 * node. */
#include "workloads/workload.h"

#define NO_WAY (1u << 28) /* far, and two of them still add up without overflow */

static void run(wl_run *r)
{
    const uint32_t nodes = wl_u32(r, "size"), density = wl_u32(r, "density");
    const size_t count = (size_t)nodes * nodes, bytes = count * sizeof(uint32_t);
    uint32_t *distance = wl_random_u32(r, count, 100), *via = wl_zeros(r, count, sizeof *via);
    uint32_t *got = wl_zeros(r, count, sizeof *got), *got_via = wl_zeros(r, count, sizeof *got_via);
    if (wl_failed(r))
        return;
    for (size_t i = 0; i < count; i++) {
        const bool is_self = i / nodes == i % nodes;
        distance[i] = is_self ? 0 : wl_random(r, 100) < density ? distance[i] + 1 : NO_WAY;
        via[i] = (uint32_t)(i / nodes);
    }

    const ls_gpu_address d_distance = wl_upload(r, distance, bytes), d_via = wl_upload(r, via, bytes);
    const wl_size grid = WL_2D(wl_round_up(nodes, 16), wl_round_up(nodes, 16));
    for (uint32_t k = 0; k < nodes; k++)
        wl_launch(r, "floyd_warshall_pass", grid, WL_2D(16, 16), WL_ARG(d_distance), WL_ARG(d_via),
                  WL_ARG(nodes), WL_ARG(k));
    wl_download(r, got, d_distance, bytes);
    wl_download(r, got_via, d_via, bytes);

    if (!wl_checking(r))
        return;
    for (size_t k = 0; k < nodes; k++)
        for (size_t from = 0; from < nodes; from++)
            for (size_t to = 0; to < nodes; to++) {
                const uint32_t indirect = distance[from * nodes + k] + distance[k * nodes + to];
                if (indirect < distance[from * nodes + to]) {
                    distance[from * nodes + to] = indirect;
                    via[from * nodes + to] = (uint32_t)k;
                }
            }
    for (size_t i = 0; i < count; i++)
        if (!wl_expect_u32(r, "distance", i, got[i], distance[i]) ||
            !wl_expect_u32(r, "via", i, got_via[i], via[i]))
            return;
}

static const wl_option options[] = {
    { "size", 64, 1, 1u << 12, "nodes" },
    { "density", 30, 0, 100, "how many of 100 possible edges exist" },
};
static const wl_workload floydwarshall = { .name = "floydwarshall",
                                           .summary = "all shortest paths, a launch per intermediate node",
                                           .source = "Floyd 1962, Warshall 1962; in the AMD APP SDK's place",
                                           WL_OPTIONS(options),
                                           .run = run };
WL_REGISTER(floydwarshall);

/* kmeans.c: Lloyd's algorithm. The GPU assigns points to centres, the host moves the centres; the next
 * iteration starts from the GPU's result, so that each one is checked by itself. */
#include "workloads/workload.h"

#include <string.h>

typedef struct problem {
    uint32_t points, clusters, dimensions;
    const float *features;
    float *centres;
    int32_t *membership;
} problem;

static double distance(const problem *p, uint32_t point, uint32_t cluster)
{
    double sum = 0;
    for (uint32_t d = 0; d < p->dimensions; d++) {
        const double difference = (double)p->features[(size_t)point * p->dimensions + d] -
                                  (double)p->centres[(size_t)cluster * p->dimensions + d];
        sum += difference * difference;
    }
    return sum;
}

/* A chosen centre is right if no other is nearer by more than rounding can hide. */
static bool check_assignment(wl_run *r, const problem *p)
{
    for (uint32_t i = 0; i < p->points; i++) {
        const uint32_t chosen = (uint32_t)p->membership[i];
        uint32_t best = 0;
        for (uint32_t c = 1; c < p->clusters; c++)
            if (distance(p, i, c) < distance(p, i, best))
                best = c;
        const double limit = distance(p, i, best) * (1 + 1e-5) + 1e-9;
        const bool is_near = chosen < p->clusters && distance(p, i, chosen) <= limit;
        if (!wl_expect_u32(r, "membership", i, chosen, is_near ? chosen : best))
            return false;
    }
    return true;
}

/* A centre without points stays where it is. */
static void move_centres(const problem *p, double *sums, uint32_t *counts)
{
    memset(sums, 0, sizeof *sums * p->clusters * p->dimensions);
    memset(counts, 0, sizeof *counts * p->clusters);
    for (size_t i = 0; i < p->points; i++) {
        const size_t c = (size_t)p->membership[i] % p->clusters;
        counts[c]++;
        for (uint32_t d = 0; d < p->dimensions; d++)
            sums[c * p->dimensions + d] += (double)p->features[i * p->dimensions + d];
    }
    for (size_t c = 0; c < p->clusters; c++)
        for (size_t d = 0; d < p->dimensions && counts[c]; d++)
            p->centres[c * p->dimensions + d] = (float)(sums[c * p->dimensions + d] / counts[c]);
}

static void run(wl_run *r)
{
    problem p = { wl_u32(r, "size"), wl_u32(r, "clusters"), wl_u32(r, "dimensions"), NULL, NULL, NULL };
    const uint32_t iterations = wl_u32(r, "iterations");
    const size_t values = (size_t)p.points * p.dimensions, centre_values = (size_t)p.clusters * p.dimensions;
    float *features = wl_random_f32(r, values, 0, 1);
    p.features = features;
    p.centres = wl_random_f32(r, centre_values, 0, 1);
    p.membership = wl_zeros(r, p.points, sizeof *p.membership);
    double *sums = wl_zeros(r, centre_values, sizeof *sums);
    uint32_t *counts = wl_zeros(r, p.clusters, sizeof *counts);

    wl_divide(r, (p.points + 63) / 64);
    const ls_gpu_address d_features =
        wl_divided(r, values * sizeof *features, 64 * sizeof *features * p.dimensions, 0, 0);
    wl_write(r, d_features, features, values * sizeof *features);
    const ls_gpu_address d_swapped = wl_buffer(r, values * sizeof *features);
    const ls_gpu_address d_centres = wl_buffer(r, centre_values * sizeof *features);
    const ls_gpu_address d_membership =
        wl_divided(r, p.points * sizeof *p.membership, 64 * sizeof *p.membership, 0, 0);
    const wl_size grid = WL_1D(wl_round_up(p.points, 64)), group = WL_1D(64);
    wl_launch(r, "kmeans_swap", grid, group, WL_ARG(d_features), WL_ARG(d_swapped), WL_ARG(p.points),
              WL_ARG(p.dimensions));
    for (uint32_t i = 0; i < iterations && !wl_failed(r); i++) {
        wl_write(r, d_centres, p.centres, centre_values * sizeof *p.centres);
        wl_launch(r, "kmeans_assign", grid, group, WL_ARG(d_swapped), WL_ARG(d_centres), WL_ARG(d_membership),
                  WL_ARG(p.points), WL_ARG(p.clusters), WL_ARG(p.dimensions));
        wl_download(r, p.membership, d_membership, p.points * sizeof *p.membership);
        if (wl_failed(r) || (wl_checking(r) && !check_assignment(r, &p)))
            return;
        move_centres(&p, sums, counts);
    }
}

static const wl_option options[] = {
    { "size", 1024, 1, 1u << 24, "points" },
    { "clusters", 5, 1, 1024, "centres" },
    { "dimensions", 32, 1, 1024, "coordinates of a point" },
    { "iterations", 3, 1, 1000, "rounds" },
};
static const wl_workload kmeans = { .name = "kmeans",
                                    .summary = "k-means clustering, a launch per round",
                                    .source = "Lloyd 1982; the shape is Hetero-Mark's",
                                    WL_OPTIONS(options),
                                    .run = run,
                                    .divides = true };
WL_REGISTER(kmeans);

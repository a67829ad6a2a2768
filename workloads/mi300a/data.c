/* data.c: bitonicsort, kmeans, nw and nbody of the MI300A suite. */
#include "workloads/mi300a/suite.h"

#include <stdlib.h>
#include <string.h>

#define DATA_SUITE                                                                                            \
    .source = "measured on an MI300A: the same algorithm, geometry and timed region", .suite = "mi300a",      \
    .kernels = "mi300a_data"

/* -------------------------------------------------------------------------------------------- bitonicsort */

typedef struct sorting {
    ls_gpu_address array;
    const uint32_t *host;
    uint32_t count, stages;
} sorting;

static void sort_begin(wl_run *r, void *self)
{
    sorting *s = self;
    wl_write(r, s->array, s->host, s->count * sizeof(uint32_t));
}

static void sort_pass(wl_run *r, sorting *s, uint32_t stage, uint32_t pass)
{
    const uint32_t direction = 1;
    wl_launch(r, "bitonicsort", WL_1D(s->count / 2), WL_1D(64), WL_ARG(s->array), WL_ARG(stage), WL_ARG(pass),
              WL_ARG(direction));
}

static void sort_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    sorting *s = self;
    (void)first;
    (void)units;
    sort_begin(r, self);
    for (uint32_t stage = 0; stage < s->stages; stage++)
        for (uint32_t pass = 0; pass <= stage; pass++)
            sort_pass(r, s, stage, pass);
}

/* The last stage has every distance once. */
static void sort_last(wl_run *r, void *self, uint32_t index)
{
    sorting *s = self;
    sort_pass(r, s, s->stages - 1, index);
}

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void run_sort(wl_run *r)
{
    sorting s = { .count = wl_u32(r, "size") };
    const size_t bytes = s.count * sizeof(uint32_t);
    double weights[32];
    while (1u << s.stages < s.count)
        s.stages++;
    if (1u << s.stages != s.count) {
        wl_fail(r, LS_ERR_USAGE, "the size is a power of 2, not %u", s.count);
        return;
    }
    const suite_bench bench = { .region = sort_region,
                                .self = &s,
                                .units = (uint64_t)s.stages * (s.stages + 1) / 2,
                                .instructions = suite_waves(s.count / 2, 45) };
    uint32_t *data = wl_random_u32(r, s.count, 0), *got = wl_zeros(r, s.count, sizeof *got);
    s.host = data;
    s.array = wl_zeroed(r, bytes);
    if (suite_is_sampled(r, &bench)) {
        for (uint32_t i = 0; i < s.stages; i++)
            weights[i] = (double)(i + 1); /* as many stages have the distance of this pass */
        suite_time_launches(r, &(suite_launches){ .begin = sort_begin,
                                                  .launch = sort_last,
                                                  .self = &s,
                                                  .count = s.stages,
                                                  .weights = weights });
        return;
    }
    suite_time(r, &bench);
    if (!wl_checking(r))
        return;
    suite_output(r, got, s.array, bytes);
    qsort(data, s.count, sizeof *data, by_value);
    (void)wl_expect_bytes(r, "array", got, data, bytes);
}

static const wl_option sort_options[] = { { "size", 1024, 128, 1u << 28, "numbers, a power of 2" },
                                          SUITE_LIMIT };
static const wl_workload mi300a_bitonicsort = { .name = "mi300a_bitonicsort",
                                                .summary = "bitonic sort, as measured on an MI300A",
                                                DATA_SUITE,
                                                WL_OPTIONS(sort_options),
                                                .run = run_sort };
WL_REGISTER(mi300a_bitonicsort);

/* ------------------------------------------------------------------------------------------------- kmeans */

typedef struct clustering {
    ls_gpu_address features, clusters, membership;
    uint32_t points, cluster_count, feature_count;
} clustering;

static void kmeans_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    clustering *c = self;
    const int32_t points = (int32_t)c->points, clusters = (int32_t)c->cluster_count,
                  features = (int32_t)c->feature_count;
    wl_launch_groups(r, suite_groups(first, units), "kmeans", WL_1D(wl_round_up(c->points, 256)), WL_1D(256),
                     WL_ARG(c->features), WL_ARG(c->clusters), WL_ARG(c->membership), WL_ARG(points),
                     WL_ARG(clusters), WL_ARG(features));
}

/* The nearest in the order of the kernel. Where two are as near within the rounding, either is right. */
static void compare_clusters(wl_run *r, const clustering *c, const float *features, const float *clusters)
{
    uint32_t *got = wl_zeros(r, c->points, sizeof *got);
    suite_output(r, got, c->membership, c->points * sizeof *got);
    for (size_t i = 0; got && i < c->points; i++) {
        double least = 1e300, of_got = 1e300;
        for (size_t k = 0; k < c->cluster_count; k++) {
            double distance = 0;
            for (size_t f = 0; f < c->feature_count; f++) {
                const double d =
                    (double)features[f * c->points + i] - (double)clusters[k * c->feature_count + f];
                distance += d * d;
            }
            least = distance < least ? distance : least;
            of_got = k == got[i] ? distance : of_got;
        }
        if (!wl_expect_f64(r, "distance to the chosen centre", i, of_got, least, 1e-5))
            return;
    }
}

static void run_kmeans(wl_run *r)
{
    clustering c = { .points = wl_u32(r, "size"),
                     .cluster_count = wl_u32(r, "clusters"),
                     .feature_count = wl_u32(r, "features") };
    const size_t count = (size_t)c.points * c.feature_count,
                 centres = (size_t)c.cluster_count * c.feature_count;
    float *features = wl_random_f32(r, count, 0, 100), *clusters = wl_random_f32(r, centres, 0, 100);
    c.features = suite_input(r, features, count * sizeof *features);
    c.clusters = suite_input(r, clusters, centres * sizeof *clusters);
    c.membership = wl_zeroed(r, c.points * sizeof(uint32_t));
    suite_time(r, &(suite_bench){ .region = kmeans_region,
                                  .self = &c,
                                  .units = wl_round_up(c.points, 256) / 256,
                                  .instructions = suite_waves(256, 30 + 8.0 * (double)centres) });
    if (wl_checking(r))
        compare_clusters(r, &c, features, clusters);
}

static const wl_option kmeans_options[] = { { "size", 1024, 1, 1u << 24, "points" },
                                            { "features", 16, 1, 1024, "of a point" },
                                            { "clusters", 5, 1, 1024, "centres" },
                                            SUITE_LIMIT };
static const wl_workload mi300a_kmeans = { .name = "mi300a_kmeans",
                                           .summary =
                                               "the nearest centre of each point, as measured on an MI300A",
                                           DATA_SUITE,
                                           WL_OPTIONS(kmeans_options),
                                           .run = run_kmeans };
WL_REGISTER(mi300a_kmeans);

/* ----------------------------------------------------------------------------------------------------- nw */

#define TILE 64u
#define PENALTY 10

typedef struct alignment {
    ls_gpu_address reference, matrix;
    const int32_t *host;
    uint32_t n;
} alignment;

static void nw_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    alignment *a = self;
    (void)first;
    const int32_t columns = (int32_t)a->n + 1, penalty = PENALTY, tiles = (int32_t)(a->n / TILE);
    (void)units;
    wl_write(r, a->matrix, a->host, (size_t)(a->n + 1) * (a->n + 1) * sizeof(int32_t));
    for (int32_t diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        const int32_t x = diagonal < tiles ? 0 : diagonal - tiles + 1,
                      y = diagonal < tiles ? diagonal : tiles - 1;
        const int32_t groups = y - x + 1;
        wl_launch(r, "nw", WL_1D(groups * (int32_t)TILE), WL_1D(TILE), WL_ARG(a->reference), WL_ARG(a->matrix),
                  WL_ARG(columns), WL_ARG(penalty), WL_ARG(x), WL_ARG(y));
    }
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Scores of letters as those of a substitution matrix: -4 to 11, on the diagonal positive. */
static void make_scores(wl_run *r, int32_t *reference, size_t wide)
{
    int8_t score[24][24];
    const uint32_t *a = wl_random_u32(r, wide, 24), *b = wl_random_u32(r, wide, 24);
    if (wl_failed(r))
        return;
    for (size_t i = 0; i < 24; i++)
        for (size_t j = 0; j <= i; j++)
            score[i][j] = score[j][i] = (int8_t)(i == j ? 4 + (int)wl_random(r, 8) : (int)wl_random(r, 6) - 4);
    for (size_t y = 1; y < wide; y++)
        for (size_t x = 1; x < wide; x++)
            reference[y * wide + x] = score[a[y]][b[x]];
}

static void run_nw(wl_run *r)
{
    alignment a = { .n = wl_u32(r, "size") };
    const size_t wide = a.n + 1, count = wide * wide;
    if (a.n % TILE != 0) {
        wl_fail(r, LS_ERR_USAGE, "the size is a multiple of %u, not %u", TILE, a.n);
        return;
    }
    int32_t *reference = wl_zeros(r, count, sizeof *reference), *matrix = wl_zeros(r, count, sizeof *matrix);
    if (wl_failed(r))
        return;
    make_scores(r, reference, wide);
    for (size_t i = 1; i < wide; i++)
        matrix[i] = matrix[i * wide] = -(int32_t)i * PENALTY;
    a.host = matrix;
    a.reference = suite_input(r, reference, count * sizeof *reference);
    a.matrix = wl_zeroed(r, count * sizeof *matrix);
    suite_time(r, &(suite_bench){ .region = nw_region,
                                  .self = &a,
                                  .units = 1,
                                  .instructions = 3000.0 * (a.n / TILE) * (a.n / TILE) });
    if (!wl_checking(r))
        return;
    int32_t *got = wl_zeros(r, count, sizeof *got);
    suite_output(r, got, a.matrix, count * sizeof *got);
    for (size_t y = 1; y < wide; y++)
        for (size_t x = 1; x < wide; x++)
            matrix[y * wide + x] =
                larger(matrix[(y - 1) * wide + x - 1] + reference[y * wide + x],
                       larger(matrix[y * wide + x - 1], matrix[(y - 1) * wide + x]) - PENALTY);
    (void)wl_expect_bytes(r, "matrix", got, matrix, count * sizeof *got);
}

static const wl_option nw_options[] = { { "size", 128, TILE, 32768, "letters, a multiple of 64" },
                                        SUITE_LIMIT };
static const wl_workload mi300a_nw = { .name = "mi300a_nw",
                                       .summary = "sequence alignment, as measured on an MI300A",
                                       DATA_SUITE,
                                       WL_OPTIONS(nw_options),
                                       .run = run_nw };
WL_REGISTER(mi300a_nw);

/* -------------------------------------------------------------------------------------------------- nbody */

typedef struct bodies {
    ls_gpu_address position, velocity, tile, new_position, new_velocity;
    uint32_t count;
} bodies;

static void nbody_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    bodies *b = self;
    (void)first;
    const int32_t tiles = (int32_t)units;
    const float step = 0.005f, softening = 500.0f;
    wl_launch(r, "nbody", WL_1D(b->count), WL_1D(256), WL_ARG(b->position), WL_ARG(b->velocity), WL_ARG(tiles),
              WL_ARG(step), WL_ARG(softening), WL_ARG(b->tile), WL_ARG(b->new_position),
              WL_ARG(b->new_velocity));
}

/* Groups write the same tile at the same time: there is no result to compare. Only masses, which do not depend on the
 * tiles, are. */
static void run_nbody(wl_run *r)
{
    bodies b = { .count = wl_u32(r, "size") };
    const size_t bytes = (size_t)b.count * 4 * sizeof(float);
    if (b.count % 256 != 0) {
        wl_fail(r, LS_ERR_USAGE, "the size is a multiple of 256, not %u", b.count);
        return;
    }
    float *position = wl_random_f32(r, (size_t)b.count * 4, -1, 1),
          *got = wl_zeros(r, (size_t)b.count * 4, sizeof *got);
    if (wl_failed(r))
        return;
    for (size_t i = 0; i < b.count; i++)
        position[4 * i + 3] = 1;
    b.position = suite_input(r, position, bytes);
    b.velocity = wl_zeroed(r, bytes);
    b.tile = wl_zeroed(r, 256 * 16);
    b.new_position = wl_zeroed(r, bytes);
    b.new_velocity = wl_zeroed(r, bytes);
    suite_time(r, &(suite_bench){ .region = nbody_region,
                                  .self = &b,
                                  .units = b.count / 256,
                                  .instructions = suite_waves(b.count, 256 * 55) });
    if (!wl_checking(r))
        return;
    suite_output(r, got, b.new_position, bytes);
    for (size_t i = 0; i < b.count; i++)
        if (!wl_expect_f32(r, "mass", i, got[4 * i + 3], 1, 0))
            return;
}

static const wl_option nbody_options[] = { { "size", 512, 256, 1u << 22, "bodies, a multiple of 256" },
                                           SUITE_LIMIT };
static const wl_workload mi300a_nbody = {
    .name = "mi300a_nbody",
    .summary = "gravity whose groups race by design, as measured on an MI300A: for its time only",
    DATA_SUITE,
    WL_OPTIONS(nbody_options),
    .run = run_nbody,
    .races = true
};
WL_REGISTER(mi300a_nbody);

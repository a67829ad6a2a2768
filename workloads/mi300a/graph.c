/* graph.c: floydwarshall, bfs, pagerank and spmv_csr_scalar of the MI300A suite. */
#include "workloads/mi300a/suite.h"

#define GRAPH_SUITE                                                                                           \
    .source = "measured on an MI300A: the same algorithm, geometry and timed region", .suite = "mi300a",      \
    .kernels = "mi300a_graph"

/* ------------------------------------------------------------------------------------------ floydwarshall */

typedef struct paths {
    ls_gpu_address distance, path;
    const uint32_t *from_distance, *from_path;
    uint32_t nodes, first;
} paths;

static void floyd_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    paths *p = self;
    (void)first;
    const size_t bytes = (size_t)p->nodes * p->nodes * sizeof(uint32_t);
    wl_write(r, p->distance, p->from_distance, bytes);
    wl_write(r, p->path, p->from_path, bytes);
    for (uint32_t i = 0; i < units; i++) {
        const uint32_t pass = p->first + i;
        wl_launch(r, "floydwarshall", WL_2D(p->nodes, p->nodes), WL_2D(8, 8), WL_ARG(p->distance),
                  WL_ARG(p->path), WL_ARG(p->nodes), WL_ARG(pass));
    }
}

static void floyd_on_host(uint32_t *distance, uint32_t *path, size_t nodes, size_t passes)
{
    for (size_t k = 0; k < passes; k++)
        for (size_t y = 0; y < nodes; y++)
            for (size_t x = 0; x < nodes; x++) {
                const uint32_t indirect = distance[y * nodes + k] + distance[k * nodes + x];
                if (indirect < distance[y * nodes + x]) {
                    distance[y * nodes + x] = indirect;
                    path[y * nodes + x] = (uint32_t)k;
                }
            }
}

/* A sample begins in the middle, where as many distances change as in most passes. */
static void run_floyd(wl_run *r)
{
    paths p = { .nodes = wl_u32(r, "size") };
    const size_t nodes = p.nodes, count = nodes * nodes;
    if (nodes % 8 != 0) {
        wl_fail(r, LS_ERR_USAGE, "the size is a multiple of 8, not %zu", nodes);
        return;
    }
    const suite_bench bench = {
        .region = floyd_region, .self = &p, .units = nodes, .instructions = suite_waves(count, 26), .least = 1
    };
    uint32_t *distance = wl_random_u32(r, count, 100), *path = wl_zeros(r, count, sizeof *path);
    uint32_t *got = wl_zeros(r, count, sizeof *got);
    if (wl_failed(r))
        return;
    for (size_t i = 0; i < count; i++)
        distance[i] = i / nodes == i % nodes ? 0 : distance[i] + 1;
    const bool sampled = suite_is_sampled(r, &bench);
    if (sampled) {
        p.first = (uint32_t)(nodes / 2);
        floyd_on_host(distance, path, nodes, p.first);
    }
    p.from_distance = distance;
    p.from_path = path;
    p.distance = wl_zeroed(r, count * sizeof *distance);
    p.path = wl_zeroed(r, count * sizeof *path);
    suite_time(r, &bench);
    if (!wl_checking(r) || sampled)
        return;
    floyd_on_host(distance, path, nodes, nodes);
    suite_output(r, got, p.distance, count * sizeof *got);
    (void)wl_expect_bytes(r, "distance", got, distance, count * sizeof *got);
    suite_output(r, got, p.path, count * sizeof *got);
    (void)wl_expect_bytes(r, "path", got, path, count * sizeof *got);
}

static const wl_option floyd_options[] = { { "size", 16, 8, 8192, "nodes, a multiple of 8" }, SUITE_LIMIT };
static const wl_workload mi300a_floydwarshall = { .name = "mi300a_floydwarshall",
                                                  .summary = "all shortest paths, as measured on an MI300A",
                                                  GRAPH_SUITE,
                                                  WL_OPTIONS(floyd_options),
                                                  .run = run_floyd };
WL_REGISTER(mi300a_floydwarshall);

/* ---------------------------------------------------------------------------------------------------- bfs */

#define UNSEEN UINT32_MAX

typedef struct search {
    ls_gpu_address levels, starts, edges, flag;
    uint32_t *level0; /* of the host, at the begin */
    uint32_t vertices;
} search;

static void bfs_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    search *s = self;
    (void)first;
    uint32_t flag = 1;
    (void)units;
    wl_write(r, s->levels, s->level0, s->vertices * sizeof(uint32_t));
    for (uint32_t level = 0; flag != 0 && !wl_failed(r); level++) {
        flag = 0;
        wl_write(r, s->flag, &flag, sizeof flag);
        wl_launch(r, "bfs", WL_1D(wl_round_up(s->vertices, 256)), WL_1D(256), WL_ARG(s->levels),
                  WL_ARG(s->starts), WL_ARG(s->edges), WL_ARG(s->vertices), WL_ARG(level), WL_ARG(s->flag));
        wl_download(r, &flag, s->flag, sizeof flag);
    }
}

/* A random tree, then random edges; each counts at both of its ends. */
static uint32_t *make_graph(wl_run *r, uint32_t vertices, uint32_t degree, uint32_t *starts)
{
    const size_t pairs =
        (size_t)vertices * degree / 2 > vertices ? (size_t)vertices * degree / 2 : vertices - 1;
    uint32_t *ends = wl_zeros(r, 2 * pairs + 1, sizeof *ends),
             *edges = wl_zeros(r, 2 * pairs + 1, sizeof *edges);
    uint32_t *at = wl_zeros(r, vertices + 1, sizeof *at);
    if (wl_failed(r))
        return NULL;
    for (size_t i = 0; i < pairs; i++) {
        ends[2 * i] = i + 1 < vertices ? (uint32_t)(i + 1) : (uint32_t)wl_random(r, vertices);
        ends[2 * i + 1] = (uint32_t)wl_random(r, i + 1 < vertices ? i + 1 : vertices);
        starts[ends[2 * i] + 1]++;
        starts[ends[2 * i + 1] + 1]++;
    }
    for (uint32_t v = 0; v < vertices; v++) {
        starts[v + 1] += starts[v];
        at[v] = starts[v];
    }
    for (size_t i = 0; i < pairs; i++) {
        edges[at[ends[2 * i]]++] = ends[2 * i + 1];
        edges[at[ends[2 * i + 1]]++] = ends[2 * i];
    }
    return edges;
}

/* Level by level, with a list of the vertices of one. */
static void bfs_on_host(wl_run *r, uint32_t *levels, const uint32_t *starts, const uint32_t *edges,
                        uint32_t vertices)
{
    uint32_t *list = wl_zeros(r, vertices, sizeof *list);
    size_t end = 1;
    for (size_t i = 0; list && i < end; i++)
        for (uint32_t k = starts[list[i]]; k < starts[list[i] + 1]; k++)
            if (levels[edges[k]] == UNSEEN) {
                levels[edges[k]] = levels[list[i]] + 1;
                list[end++] = edges[k];
            }
}

static void run_bfs(wl_run *r)
{
    search s = { .vertices = wl_u32(r, "size") };
    const size_t bytes = s.vertices * sizeof(uint32_t);
    uint32_t *starts = wl_zeros(r, s.vertices + 1, sizeof *starts);
    uint32_t *edges = starts ? make_graph(r, s.vertices, wl_u32(r, "degree"), starts) : NULL;
    s.level0 = wl_zeros(r, s.vertices, sizeof *s.level0);
    if (wl_failed(r))
        return;
    for (uint32_t v = 1; v < s.vertices; v++)
        s.level0[v] = UNSEEN;
    s.starts = suite_input(r, starts, bytes + sizeof *starts);
    s.edges = suite_input(r, edges, (starts[s.vertices] + 1) * sizeof *edges);
    s.levels = wl_zeroed(r, bytes);
    s.flag = wl_zeroed(r, sizeof(uint32_t));
    suite_time(r, &(suite_bench){ .region = bfs_region,
                                  .self = &s,
                                  .units = 1,
                                  .instructions = suite_waves(s.vertices, 3000) });
    if (!wl_checking(r))
        return;
    uint32_t *got = wl_zeros(r, s.vertices, sizeof *got);
    suite_output(r, got, s.levels, bytes);
    bfs_on_host(r, s.level0, starts, edges, s.vertices);
    (void)wl_expect_bytes(r, "levels", got, s.level0, bytes);
}

static const wl_option bfs_options[] = { { "size", 1024, 2, 1u << 24, "vertices" },
                                         { "degree", 4, 1, 1024, "edges of a vertex, on average" },
                                         SUITE_LIMIT };
static const wl_workload mi300a_bfs = { .name = "mi300a_bfs",
                                        .summary = "breadth-first search, as measured on an MI300A",
                                        GRAPH_SUITE,
                                        WL_OPTIONS(bfs_options),
                                        .run = run_bfs,
                                        .races = true }; /* who finds a vertex first: not its level */
WL_REGISTER(mi300a_bfs);

/* ----------------------------------------------------------------------------------------------- pagerank */

typedef struct pages {
    ls_gpu_address starts, columns, values, x, y;
    const float *x0;
    uint32_t rows;
} pages;

#define ITERATIONS 2

static void pagerank_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    pages *p = self;
    const ls_gpu_address xy[2] = { p->x, p->y };
    wl_write(r, p->x, p->x0, p->rows * sizeof(float));
    for (int i = 0; i < ITERATIONS; i++)
        wl_launch_groups(r, suite_groups(first, units), "pagerank", WL_1D(p->rows * 64), WL_1D(64),
                         WL_ARG(p->rows), WL_ARG(p->starts), WL_ARG(p->columns), WL_ARG(p->values),
                         WL_ARG(xy[i % 2]), WL_ARG(xy[(i + 1) % 2]));
}

/* Half of all links exist. A row is made from random bits; only those that run are kept. */
static void make_links(wl_run *r, const pages *p, uint32_t *starts, uint64_t kept)
{
    uint32_t *columns = wl_zeros(r, p->rows, sizeof *columns);
    float *values = wl_zeros(r, p->rows, sizeof *values);
    uint64_t bits = 0;
    for (uint32_t row = 0; columns && values && row < p->rows; row++) {
        uint32_t count = 0;
        for (uint32_t column = 0; column < p->rows; column++, bits >>= 1) {
            if (column % 64 == 0)
                bits = wl_random(r, 0);
            columns[count] = column;
            count += bits & 1;
        }
        for (uint32_t i = 0; i < count; i++)
            values[i] = 1.0f / (float)count;
        starts[row + 1] = starts[row] + count;
        if (row < kept) {
            wl_preset(r, p->columns + (uint64_t)starts[row] * sizeof *columns, columns,
                      count * sizeof *columns);
            wl_preset(r, p->values + (uint64_t)starts[row] * sizeof *values, values, count * sizeof *values);
        }
    }
}

/* y += A x, and x += A y, as often as the region ran. */
static void compare_pagerank(wl_run *r, const pages *p, const uint32_t *starts, uint32_t calls)
{
    const size_t rows = p->rows, links = starts[rows];
    uint32_t *columns = wl_zeros(r, links, sizeof *columns);
    float *values = wl_zeros(r, links, sizeof *values), *got = wl_zeros(r, rows, sizeof *got);
    double *xy[2] = { wl_zeros(r, rows, sizeof(double)), wl_zeros(r, rows, sizeof(double)) };
    wl_look(r, columns, p->columns, links * sizeof *columns);
    wl_look(r, values, p->values, links * sizeof *values);
    suite_output(r, got, p->x, rows * sizeof *got);
    if (wl_failed(r))
        return;
    for (uint32_t call = 0; call < calls; call++) {
        for (size_t i = 0; i < rows; i++)
            xy[0][i] = (double)p->x0[i];
        for (int it = 0; it < ITERATIONS; it++)
            for (size_t row = 0; row < rows; row++)
                for (uint32_t i = starts[row]; i < starts[row + 1]; i++)
                    xy[(it + 1) % 2][row] += (double)values[i] * xy[it % 2][columns[i]];
    }
    for (size_t i = 0; i < rows; i++)
        if (!wl_expect_f64(r, "rank", i, (double)got[i], xy[0][i], 1e-4))
            return;
}

static void run_pagerank(wl_run *r)
{
    pages p = { .rows = wl_u32(r, "size") };
    const uint64_t room = (uint64_t)p.rows * p.rows / 2 + 16 * (uint64_t)p.rows + 4096;
    const suite_bench bench = { .region = pagerank_region,
                                .self = &p,
                                .units = p.rows,
                                .instructions = ITERATIONS * (40 + (double)p.rows / 2 / 64 * 14),
                                .bytes = 8 * room,
                                .least = 2048 };
    uint32_t *starts = wl_zeros(r, p.rows + 1, sizeof *starts);
    float *x = wl_zeros(r, p.rows, sizeof *x);
    if (wl_failed(r))
        return;
    for (uint32_t i = 0; i < p.rows; i++)
        x[i] = 1.0f / (float)p.rows;
    p.x0 = x;
    p.columns = wl_buffer(r, room * sizeof(uint32_t));
    p.values = wl_buffer(r, room * sizeof(float));
    make_links(r, &p, starts, suite_most(r, &bench));
    p.starts = suite_input(r, starts, (p.rows + 1) * sizeof *starts);
    p.x = wl_zeroed(r, p.rows * sizeof *x);
    p.y = wl_zeroed(r, p.rows * sizeof *x);
    suite_time(r, &bench);
    if (wl_checking(r) && !suite_is_sampled(r, &bench))
        compare_pagerank(r, &p, starts, suite_calls(r, &bench));
}

static const wl_option pagerank_options[] = { { "size", 64, 1, 65536, "pages" }, SUITE_LIMIT };
static const wl_workload mi300a_pagerank = { .name = "mi300a_pagerank",
                                             .summary =
                                                 "two iterations of page rank, as measured on an MI300A",
                                             GRAPH_SUITE,
                                             WL_OPTIONS(pagerank_options),
                                             .run = run_pagerank };
WL_REGISTER(mi300a_pagerank);

/* --------------------------------------------------------------------------------------------------- spmv */

typedef struct sparse {
    ls_gpu_address values, columns, starts, vector, out;
    uint32_t rows;
} sparse;

static void spmv_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    sparse *s = self;
    const int32_t rows = (int32_t)s->rows;
    wl_launch_groups(r, suite_groups(first, units), "spmv_csr_scalar", WL_1D(wl_round_up(s->rows, 256)),
                     WL_1D(256), WL_ARG(s->values), WL_ARG(s->columns), WL_ARG(s->starts), WL_ARG(s->vector),
                     WL_ARG(rows), WL_ARG(s->out));
}

static void run_spmv(wl_run *r)
{
    sparse s = { .rows = wl_u32(r, "size") };
    const uint32_t per_row = wl_u32(r, "per-row");
    const size_t rows = s.rows, count = rows * per_row;
    const suite_bench bench = { .region = spmv_region,
                                .self = &s,
                                .units = (rows + 255) / 256,
                                .instructions = suite_waves(256, 20 + 12.0 * per_row) };
    float *values = wl_random_f32(r, count, 0, 1), *vector = wl_random_f32(r, rows, 0, 1);
    int32_t *columns = wl_zeros(r, count, sizeof *columns), *starts = wl_zeros(r, rows + 1, sizeof *starts);
    if (wl_failed(r))
        return;
    for (size_t row = 0; row < rows; row++) {
        starts[row + 1] = (int32_t)((row + 1) * per_row);
        for (size_t j = 0; j < per_row; j++)
            columns[row * per_row + j] = (int32_t)((row + j) % rows);
    }
    s.values = suite_input(r, values, count * sizeof *values);
    s.columns = suite_input(r, columns, count * sizeof *columns);
    s.starts = suite_input(r, starts, (rows + 1) * sizeof *starts);
    s.vector = suite_input(r, vector, rows * sizeof *vector);
    s.out = wl_zeroed(r, rows * sizeof *vector);
    suite_time(r, &bench);
    if (!wl_checking(r) || suite_is_sampled(r, &bench))
        return;
    float *out = wl_zeros(r, rows, sizeof *out);
    suite_output(r, out, s.out, rows * sizeof *out);
    for (size_t row = 0; out && row < rows; row++) {
        double sum = 0;
        for (size_t i = row * per_row; i < (row + 1) * per_row; i++)
            sum += (double)values[i] * (double)vector[columns[i]];
        if (!wl_expect_f64(r, "out", row, (double)out[row], sum, 1e-5))
            return;
    }
}

static const wl_option spmv_options[] = { { "size", 1024, 1, 1u << 24, "rows" },
                                          { "per-row", 8, 1, 1024, "entries of a row" },
                                          SUITE_LIMIT };
static const wl_workload mi300a_spmv_csr_scalar = {
    .name = "mi300a_spmv_csr_scalar",
    .summary = "sparse matrix times vector, a row per work-item, as measured on an MI300A",
    GRAPH_SUITE,
    WL_OPTIONS(spmv_options),
    .run = run_spmv
};
WL_REGISTER(mi300a_spmv_csr_scalar);

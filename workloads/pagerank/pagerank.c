/* pagerank.c: power iterations of PageRank on a random graph, a launch each; the ranks are scaled to an
 * average of 1, so that they keep their digits in any size. */
#include "workloads/workload.h"

#include <string.h>

#define DAMPING 0.85f

typedef struct graph {
    uint32_t pages, *row_start, *sources;
    float *weights;
} graph;

/* Links by target; each page has 1 to 2 * per_page - 1 outgoing ones. */
static bool make_graph(wl_run *r, graph *g, uint32_t per_page)
{
    uint32_t *out_count = wl_zeros(r, g->pages, sizeof *out_count);
    g->row_start = wl_zeros(r, (size_t)g->pages + 1, sizeof *g->row_start);
    if (wl_failed(r))
        return false;
    uint32_t links = 0;
    for (uint32_t p = 0; p < g->pages; p++)
        links += out_count[p] = 1 + (uint32_t)wl_random(r, 2 * per_page - 1);
    const uint32_t *target = wl_random_u32(r, links, g->pages);
    uint32_t *fill = wl_zeros(r, g->pages, sizeof *fill);
    g->sources = wl_zeros(r, links, sizeof *g->sources);
    g->weights = wl_zeros(r, links, sizeof *g->weights);
    if (wl_failed(r))
        return false;
    for (uint32_t i = 0; i < links; i++)
        g->row_start[target[i] + 1]++;
    for (uint32_t p = 0; p < g->pages; p++)
        g->row_start[p + 1] += g->row_start[p];
    for (uint32_t p = 0, i = 0; p < g->pages; p++)
        for (uint32_t last = i + out_count[p]; i < last; i++) {
            const uint32_t at = g->row_start[target[i]] + fill[target[i]]++;
            g->sources[at] = p;
            g->weights[at] = 1.0f / (float)out_count[p];
        }
    return true;
}

static void run(wl_run *r)
{
    graph g = { .pages = wl_u32(r, "size") };
    const uint32_t iterations = wl_u32(r, "iterations");
    if (!make_graph(r, &g, wl_u32(r, "links")))
        return;
    const uint32_t links = g.row_start[g.pages];
    float *rank = wl_zeros(r, g.pages, sizeof *rank);
    double *now = wl_zeros(r, g.pages, sizeof *now), *next = wl_zeros(r, g.pages, sizeof *next);
    if (wl_failed(r))
        return;
    for (uint32_t p = 0; p < g.pages; p++)
        now[p] = rank[p] = 1;

    const ls_gpu_address d_rows = wl_upload(r, g.row_start, ((size_t)g.pages + 1) * sizeof *g.row_start);
    const ls_gpu_address d_sources = wl_upload(r, g.sources, links * sizeof *g.sources);
    const ls_gpu_address d_weights = wl_upload(r, g.weights, links * sizeof *g.weights);
    const ls_gpu_address d_rank[2] = { wl_upload(r, rank, g.pages * sizeof *rank),
                                       wl_buffer(r, g.pages * sizeof *rank) };
    const float damping = DAMPING, base = 1 - DAMPING;
    for (uint32_t i = 0; i < iterations; i++)
        wl_launch(r, "pagerank_update", WL_1D(g.pages * 64), WL_1D(64), WL_ARG(d_rows), WL_ARG(d_sources),
                  WL_ARG(d_weights), WL_ARG(d_rank[i % 2]), WL_ARG(d_rank[(i + 1) % 2]), WL_ARG(damping),
                  WL_ARG(base));
    wl_download(r, rank, d_rank[iterations % 2], g.pages * sizeof *rank);

    if (!wl_checking(r))
        return;
    for (uint32_t i = 0; i < iterations; i++) {
        for (uint32_t p = 0; p < g.pages; p++) {
            double sum = 0;
            for (uint32_t l = g.row_start[p]; l < g.row_start[p + 1]; l++)
                sum += now[g.sources[l]] * (double)g.weights[l];
            next[p] = (double)base + (double)damping * sum;
        }
        memcpy(now, next, g.pages * sizeof *now);
    }
    for (uint32_t p = 0; p < g.pages; p++)
        if (!wl_expect_f32(r, "rank", p, rank[p], (float)now[p], 1e-4f))
            return;
}

static const wl_option options[] = {
    { "size", 256, 1, 1u << 20, "pages" },
    { "links", 8, 1, 64, "links of a page, on average" },
    { "iterations", 4, 1, 1000, "power iterations, a launch each" },
};
static const wl_workload pagerank = { .name = "pagerank",
                                      .summary = "PageRank by power iteration, a work-group per page",
                                      .source =
                                          "Page, Brin, Motwani and Winograd 1999; the shape is Hetero-Mark's",
                                      WL_OPTIONS(options),
                                      .run = run };
WL_REGISTER(pagerank);

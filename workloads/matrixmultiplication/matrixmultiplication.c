/* matrixmultiplication.c: C = A B for matrices of any shape. */
#include "workloads/workload.h"

static void run(wl_run *r)
{
    const uint32_t m = wl_u32(r, "size");
    const uint32_t n = wl_u32(r, "columns") ? wl_u32(r, "columns") : m;
    const uint32_t k = wl_u32(r, "inner") ? wl_u32(r, "inner") : m;
    const float *a = wl_random_f32(r, (size_t)m * k, -1, 1), *b = wl_random_f32(r, (size_t)k * n, -1, 1);
    float *c = wl_zeros(r, (size_t)m * n, sizeof *c);

    wl_divide(r, (m + 15) / 16); /* by rows of A and C; all of B is read everywhere */
    const ls_gpu_address d_a = wl_divided(r, (size_t)m * k * sizeof *a, (size_t)16 * k * sizeof *a, 0, 0);
    const ls_gpu_address d_b = wl_read_by_all(r, (size_t)k * n * sizeof *b);
    const ls_gpu_address d_c = wl_divided(r, (size_t)m * n * sizeof *c, (size_t)16 * n * sizeof *c, 0, 0);
    wl_write(r, d_a, a, (size_t)m * k * sizeof *a);
    wl_write(r, d_b, b, (size_t)k * n * sizeof *b);
    const wl_size grid = WL_2D(wl_round_up((n + 3) / 4, 16), wl_round_up(m, 16));
    wl_launch(r, "matrix_multiply", grid, WL_2D(16, 16), WL_ARG(d_a), WL_ARG(d_b), WL_ARG(d_c), WL_ARG(m),
              WL_ARG(n), WL_ARG(k));
    wl_download(r, c, d_c, (size_t)m * n * sizeof *c);

    double *row = wl_zeros(r, n, sizeof *row);
    if (!wl_checking(r))
        return;
    for (size_t y = 0; y < m; y++) {
        for (size_t x = 0; x < n; x++)
            row[x] = 0;
        for (size_t i = 0; i < k; i++)
            for (size_t x = 0; x < n; x++)
                row[x] += (double)a[y * k + i] * (double)b[i * n + x];
        for (size_t x = 0; x < n; x++)
            if (!wl_expect_f32(r, "c", y * n + x, c[y * n + x], (float)row[x], 1e-6f * (float)(k < 8 ? 8 : k)))
                return;
    }
}

static const wl_option options[] = {
    { "size", 128, 1, 1u << 13, "rows of A and C" },
    { "columns", 0, 0, 1u << 13, "columns of B and C; 0: as many as rows" },
    { "inner", 0, 0, 1u << 13, "columns of A and rows of B; 0: as many as rows" },
};
static const wl_workload matrixmultiplication = { .name = "matrixmultiplication",
                                                  .summary = "matrix product with tiles in local memory",
                                                  .source = "textbook; in the AMD APP SDK's place",
                                                  WL_OPTIONS(options),
                                                  .run = run,
                                                  .divides = true };
WL_REGISTER(matrixmultiplication);

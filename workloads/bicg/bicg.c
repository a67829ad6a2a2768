/* bicg.c: q = A p and s = A^T r, the products of a step of the biconjugate gradient method. */
#include "workloads/workload.h"

static void run(wl_run *r)
{
    const uint32_t rows = wl_u32(r, "size"), columns = wl_u32(r, "columns") ? wl_u32(r, "columns") : rows;
    const size_t count = (size_t)rows * columns;
    const float *a = wl_random_f32(r, count, -1, 1);
    const float *p = wl_random_f32(r, columns, -1, 1), *residual = wl_random_f32(r, rows, -1, 1);
    float *q = wl_zeros(r, rows, sizeof *q), *s = wl_zeros(r, columns, sizeof *s);

    const ls_gpu_address d_a = wl_upload(r, a, count * sizeof *a), d_p = wl_upload(r, p, columns * sizeof *p);
    const ls_gpu_address d_residual = wl_upload(r, residual, rows * sizeof *residual);
    const ls_gpu_address d_q = wl_buffer(r, rows * sizeof *q), d_s = wl_buffer(r, columns * sizeof *s);
    wl_launch(r, "bicg_q", WL_1D(wl_round_up(rows, 256)), WL_1D(256), WL_ARG(d_a), WL_ARG(d_p), WL_ARG(d_q),
              WL_ARG(rows), WL_ARG(columns));
    wl_launch(r, "bicg_s", WL_1D(wl_round_up(columns, 256)), WL_1D(256), WL_ARG(d_a), WL_ARG(d_residual),
              WL_ARG(d_s), WL_ARG(rows), WL_ARG(columns));
    wl_download(r, q, d_q, rows * sizeof *q);
    wl_download(r, s, d_s, columns * sizeof *s);

    double *expected = wl_zeros(r, columns, sizeof *expected);
    if (!wl_checking(r))
        return;
    const float tolerance = 1e-5f + 1e-6f * (float)(rows + columns);
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < columns; j++) {
            sum += (double)a[i * columns + j] * (double)p[j];
            expected[j] += (double)a[i * columns + j] * (double)residual[i];
        }
        if (!wl_expect_f32(r, "q", i, q[i], (float)sum, tolerance))
            return;
    }
    for (size_t j = 0; j < columns; j++)
        if (!wl_expect_f32(r, "s", j, s[j], (float)expected[j], tolerance))
            return;
}

static const wl_option options[] = {
    { "size", 256, 1, 1u << 14, "rows of the matrix" },
    { "columns", 0, 0, 1u << 14, "columns; 0: as many as rows" },
};
static const wl_workload bicg = { .name = "bicg",
                                  .summary = "the products of a biconjugate gradient step: q = A p, s = A^T r",
                                  .source = "textbook; in PolyBench's place",
                                  WL_OPTIONS(options),
                                  .run = run };
WL_REGISTER(bicg);

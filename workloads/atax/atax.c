/* atax.c: y = A^T (A x), two launches. */
#include "workloads/workload.h"

static void run(wl_run *r)
{
    const uint32_t rows = wl_u32(r, "size"), columns = wl_u32(r, "columns") ? wl_u32(r, "columns") : rows;
    const size_t count = (size_t)rows * columns;
    /* Small enough for the sums of sums to stay near 1. */
    const float *a = wl_random_f32(r, count, 0, 1.0f / (float)rows);
    const float *x = wl_random_f32(r, columns, 0, 1.0f / (float)columns);
    float *y = wl_zeros(r, columns, sizeof *y);

    const ls_gpu_address d_a = wl_upload(r, a, count * sizeof *a), d_x = wl_upload(r, x, columns * sizeof *x);
    const ls_gpu_address d_product = wl_buffer(r, rows * sizeof *x), d_y = wl_buffer(r, columns * sizeof *y);
    wl_launch(r, "atax_rows", WL_1D(wl_round_up(rows, 256)), WL_1D(256), WL_ARG(d_a), WL_ARG(d_x),
              WL_ARG(d_product), WL_ARG(rows), WL_ARG(columns));
    wl_launch(r, "atax_columns", WL_1D(wl_round_up(columns, 256)), WL_1D(256), WL_ARG(d_a), WL_ARG(d_product),
              WL_ARG(d_y), WL_ARG(rows), WL_ARG(columns));
    wl_download(r, y, d_y, columns * sizeof *y);

    double *expected = wl_zeros(r, columns, sizeof *expected);
    if (!wl_checking(r))
        return;
    for (size_t i = 0; i < rows; i++) {
        double product = 0;
        for (size_t j = 0; j < columns; j++)
            product += (double)a[i * columns + j] * (double)x[j];
        for (size_t j = 0; j < columns; j++)
            expected[j] += (double)a[i * columns + j] * product;
    }
    const double scale = (double)rows; /* the results are about 1 / (4 rows) */
    for (size_t j = 0; j < columns; j++)
        if (!wl_expect_f32(r, "y", j, (float)(y[j] * scale), (float)(expected[j] * scale), 1e-4f))
            return;
}

static const wl_option options[] = {
    { "size", 256, 1, 1u << 14, "rows of the matrix" },
    { "columns", 0, 0, 1u << 14, "columns; 0: as many as rows" },
};
static const wl_workload atax = { .name = "atax",
                                  .summary = "matrix transpose and vector multiplication: y = A^T (A x)",
                                  .source = "textbook; in PolyBench's place",
                                  WL_OPTIONS(options),
                                  .run = run };
WL_REGISTER(atax);

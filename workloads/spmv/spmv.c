/* spmv.c: a random sparse matrix in compressed rows times a vector. */
#include "workloads/workload.h"

static void run(wl_run *r)
{
    const uint32_t rows = wl_u32(r, "size"), per_row = wl_u32(r, "per-row"), is_vector = wl_u32(r, "vector");
    uint32_t *row_start = wl_zeros(r, (size_t)rows + 1, sizeof *row_start);
    if (wl_failed(r))
        return;
    /* Rows of 0 to twice the average: neighbours are rarely of one length. */
    for (uint32_t i = 0; i < rows; i++)
        row_start[i + 1] = row_start[i] + (uint32_t)wl_random(r, 2 * per_row + 1);
    const uint32_t count = row_start[rows];
    const uint32_t *columns = wl_random_u32(r, count, rows);
    const float *values = wl_random_f32(r, count, -1, 1), *x = wl_random_f32(r, rows, -1, 1);
    float *y = wl_zeros(r, rows, sizeof *y);

    const ls_gpu_address d_values = wl_upload(r, values, count * sizeof *values);
    const ls_gpu_address d_columns = wl_upload(r, columns, count * sizeof *columns);
    const ls_gpu_address d_row_start = wl_upload(r, row_start, ((size_t)rows + 1) * sizeof *row_start);
    const ls_gpu_address d_x = wl_upload(r, x, rows * sizeof *x), d_y = wl_buffer(r, rows * sizeof *y);
    const uint32_t items = is_vector ? wl_round_up(rows * 32, 128) : wl_round_up(rows, 128);
    wl_launch(r, is_vector ? "spmv_vector" : "spmv_scalar", WL_1D(items), WL_1D(128), WL_ARG(d_values),
              WL_ARG(d_columns), WL_ARG(d_row_start), WL_ARG(d_x), WL_ARG(d_y), WL_ARG(rows));
    wl_download(r, y, d_y, rows * sizeof *y);

    if (!wl_checking(r))
        return;
    for (uint32_t row = 0; row < rows; row++) {
        double sum = 0;
        for (uint32_t i = row_start[row]; i < row_start[row + 1]; i++)
            sum += (double)values[i] * (double)x[columns[i]];
        if (!wl_expect_f32(r, "y", row, y[row], (float)sum, 1e-5f + 1e-6f * (float)per_row))
            return;
    }
}

static const wl_option options[] = {
    { "size", 1024, 1, 1u << 22, "rows and columns of the matrix" },
    { "per-row", 16, 0, 64, "elements of a row that are not 0, on average" },
    { "vector", 0, 0, 1, "0: a work-item per row; 1: 32 of them" },
};
static const wl_workload spmv = { .name = "spmv",
                                  .summary = "sparse matrix (compressed rows) times vector",
                                  .source = "Bell and Garland 2009; in SHOC's place",
                                  WL_OPTIONS(options),
                                  .run = run };
WL_REGISTER(spmv);

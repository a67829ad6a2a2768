/* matrixtranspose.c: out[x][y] = in[y][x] for a matrix of any width and height. */
#include "workloads/workload.h"

static void run(wl_run *r)
{
    const uint32_t width = wl_u32(r, "size");
    const uint32_t height = wl_u32(r, "height") ? wl_u32(r, "height") : width;
    const size_t count = (size_t)width * height;
    const float *in = wl_random_f32(r, count, -1, 1);
    float *out = wl_zeros(r, count, sizeof *out);

    const ls_gpu_address d_in = wl_upload(r, in, count * sizeof *in),
                         d_out = wl_buffer(r, count * sizeof *out);
    const wl_size grid = WL_2D(wl_round_up(width, 32), wl_round_up(height, 32) / 4);
    wl_launch(r, "matrix_transpose", grid, WL_2D(32, 8), WL_ARG(d_in), WL_ARG(d_out), WL_ARG(width),
              WL_ARG(height));
    wl_download(r, out, d_out, count * sizeof *out);

    if (!wl_checking(r))
        return;
    for (size_t x = 0; x < width; x++)
        for (size_t y = 0; y < height; y++)
            if (!wl_expect_f32(r, "out", x * height + y, out[x * height + y], in[y * width + x], 0))
                return;
}

static const wl_option options[] = {
    { "size", 256, 1, 1u << 14, "columns" },
    { "height", 0, 0, 1u << 14, "rows; 0: as many as columns" },
};
static const wl_workload matrixtranspose = { .name = "matrixtranspose",
                                             .summary = "matrix transpose through tiles in local memory",
                                             .source = "textbook; in the AMD APP SDK's place",
                                             WL_OPTIONS(options),
                                             .run = run };
WL_REGISTER(matrixtranspose);

/* matrixtranspose.c: out[x][y] = in[y][x] for a matrix of any width and height. */
#include "workloads/workload.h"

/* The columns of the result that each part has written. */
static void download(wl_run *r, float *out, ls_gpu_address from, size_t width, size_t height)
{
    const size_t bytes = width * height * sizeof *out;
    float *got = wl_parts(r) > 1 ? wl_zeros(r, width * height, sizeof *got) : out;
    for (uint32_t part = 0; part < wl_parts(r) && !wl_failed(r); part++) {
        wl_download_part(r, part, got, from, bytes);
        size_t begin = (size_t)32 * wl_part_begin(r, part), end = (size_t)32 * wl_part_begin(r, part + 1);
        for (size_t x = 0; got != out && x < width; x++)
            for (size_t y = begin; y < end && y < height; y++)
                out[x * height + y] = got[x * height + y];
    }
}

static void run(wl_run *r)
{
    const uint32_t width = wl_u32(r, "size");
    const uint32_t height = wl_u32(r, "height") ? wl_u32(r, "height") : width;
    const size_t count = (size_t)width * height;
    const float *in = wl_random_f32(r, count, -1, 1);
    float *out = wl_zeros(r, count, sizeof *out);

    wl_divide(r, (height + 31) / 32); /* a part reads its own rows and writes columns of the result */
    const ls_gpu_address d_in = wl_divided(r, count * sizeof *in, (size_t)32 * width * sizeof *in, 0, 0),
                         d_out = wl_shared(r, count * sizeof *out);
    wl_write(r, d_in, in, count * sizeof *in);
    const wl_size grid = WL_2D(wl_round_up(width, 32), wl_round_up(height, 32) / 4);
    wl_launch(r, "matrix_transpose", grid, WL_2D(32, 8), WL_ARG(d_in), WL_ARG(d_out), WL_ARG(width),
              WL_ARG(height));
    download(r, out, d_out, width, height);

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
                                             .run = run,
                                             .divides = true };
WL_REGISTER(matrixtranspose);

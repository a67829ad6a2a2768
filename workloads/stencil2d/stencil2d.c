/* stencil2d.c: a nine-point stencil, a launch per iteration; the border keeps its values. */
#include "workloads/workload.h"

#include <string.h>

static void run(wl_run *r)
{
    const uint32_t width = wl_u32(r, "size"), height = wl_u32(r, "height") ? wl_u32(r, "height") : width;
    const uint32_t iterations = wl_u32(r, "iterations");
    const size_t count = (size_t)width * height, bytes = count * sizeof(float);
    const float centre = 0.25f, cardinal = 0.15f, diagonal = 0.05f;
    const float *in = wl_random_f32(r, count, -1, 1);
    float *out = wl_zeros(r, count, sizeof *out);

    const ls_gpu_address data[2] = { wl_upload(r, in, bytes), wl_upload(r, in, bytes) };
    const wl_size grid =
        WL_2D(wl_round_up(width > 2 ? width - 2 : 1, 16), wl_round_up(height > 2 ? height - 2 : 1, 16));
    for (uint32_t i = 0; i < iterations; i++)
        wl_launch(r, "stencil_nine", grid, WL_2D(16, 16), WL_ARG(data[i % 2]), WL_ARG(data[(i + 1) % 2]),
                  WL_ARG(width), WL_ARG(height), WL_ARG(centre), WL_ARG(cardinal), WL_ARG(diagonal));
    wl_download(r, out, data[iterations % 2], bytes);

    double *now = wl_zeros(r, count, sizeof *now), *next = wl_zeros(r, count, sizeof *next);
    if (!wl_checking(r))
        return;
    for (size_t i = 0; i < count; i++)
        now[i] = next[i] = (double)in[i];
    for (uint32_t n = 0; n < iterations; n++) {
        for (size_t y = 1; y + 1 < height; y++)
            for (size_t x = 1; x + 1 < width; x++) {
                const double *up = now + (y - 1) * width + x, *here = up + width, *down = here + width;
                next[y * width + x] = (double)centre * here[0] +
                                      (double)cardinal * (up[0] + down[0] + here[-1] + here[1]) +
                                      (double)diagonal * (up[-1] + up[1] + down[-1] + down[1]);
            }
        memcpy(now, next, count * sizeof *now);
    }
    for (size_t i = 0; i < count; i++)
        if (!wl_expect_f32(r, "out", i, out[i], (float)now[i], 1e-5f))
            return;
}

static const wl_option options[] = {
    { "size", 256, 1, 1u << 14, "columns of the grid" },
    { "height", 0, 0, 1u << 14, "rows; 0: as many as columns" },
    { "iterations", 2, 1, 1000, "launches" },
};
static const wl_workload stencil2d = { .name = "stencil2d",
                                       .summary = "nine-point stencil with tiles in local memory",
                                       .source = "textbook; in SHOC's place",
                                       WL_OPTIONS(options),
                                       .run = run };
WL_REGISTER(stencil2d);

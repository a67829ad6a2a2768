/* simpleconvolution.c: a smoothing mask over a picture of whole numbers. */
#include "workloads/workload.h"

#include <string.h>

static void run(wl_run *r)
{
    const uint32_t width = wl_u32(r, "size"), height = wl_u32(r, "height") ? wl_u32(r, "height") : width;
    const uint32_t mask_width = wl_u32(r, "mask");
    if (mask_width % 2 == 0)
        wl_fail(r, LS_ERR_USAGE, "simpleconvolution: the mask must be odd, not %u wide", mask_width);
    const uint32_t border = mask_width / 2, padded_width = width + 2 * border;
    const size_t padded_count = (size_t)padded_width * (height + 2 * border), count = (size_t)width * height;
    const size_t mask_count = (size_t)mask_width * mask_width;
    const uint32_t *picture = wl_random_u32(r, count, 256);
    uint32_t *padded = wl_zeros(r, padded_count, sizeof *padded), *out = wl_zeros(r, count, sizeof *out);
    float *mask = wl_zeros(r, mask_count, sizeof *mask);
    if (wl_failed(r))
        return;
    for (size_t i = 0; i < mask_count; i++)
        mask[i] = 1.0f / (float)mask_count;
    for (size_t y = 0; y < height; y++)
        memcpy(padded + (y + border) * padded_width + border, picture + y * width, width * sizeof *picture);

    wl_divide(r, (height + 15) / 16); /* a part reads the rows below its own, too */
    const size_t row = padded_width * sizeof *padded;
    const ls_gpu_address d_in = wl_divided(r, padded_count * sizeof *padded, 16 * row, 0, 2 * border * row);
    const ls_gpu_address d_out = wl_divided(r, count * sizeof *out, 16 * width * sizeof *out, 0, 0);
    wl_write(r, d_in, padded, padded_count * sizeof *padded);
    const ls_gpu_address d_mask = wl_upload(r, mask, mask_count * sizeof *mask);
    const wl_size grid = WL_2D(wl_round_up(width, 16), wl_round_up(height, 16));
    wl_launch(r, "simple_convolution", grid, WL_2D(16, 16), WL_ARG(d_in), WL_ARG(d_out), WL_ARG(d_mask),
              WL_ARG(width), WL_ARG(height), WL_ARG(mask_width), WL_ARG(padded_width));
    wl_download(r, out, d_out, count * sizeof *out);

    if (!wl_checking(r))
        return;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            double sum = 0.5;
            for (size_t i = 0; i < mask_count; i++)
                sum +=
                    (double)padded[(y + i / mask_width) * padded_width + x + i % mask_width] * (double)mask[i];
            /* A sum that lies on a step may be rounded to either side. */
            const uint32_t low = (uint32_t)(sum - 1e-3), high = (uint32_t)(sum + 1e-3),
                           got = out[y * width + x];
            if (!wl_expect_u32(r, "out", y * width + x, got, got == low ? low : high))
                return;
        }
}

static const wl_option options[] = {
    { "size", 254, 1, 1u << 14, "columns of the picture" },
    { "height", 0, 0, 1u << 14, "rows; 0: as many as columns" },
    { "mask", 3, 1, 63, "width of the mask, odd" },
};
static const wl_workload simpleconvolution = { .name = "simpleconvolution",
                                               .summary = "convolution of a picture with a small mask",
                                               .source = "textbook; in the AMD APP SDK's place",
                                               WL_OPTIONS(options),
                                               .run = run,
                                               .divides = true };
WL_REGISTER(simpleconvolution);

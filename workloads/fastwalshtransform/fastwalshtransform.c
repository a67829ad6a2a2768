/* fastwalshtransform.c: the Walsh-Hadamard transform, a launch per step; lengths that are no power of two are
 * filled up with zeros. The input is whole numbers, so that the result is exact. */
#include "workloads/workload.h"

static void run(wl_run *r)
{
    const uint32_t count = wl_u32(r, "size");
    uint32_t padded = 2;
    while (padded < count)
        padded *= 2;
    const uint32_t pairs = padded / 2, *numbers = wl_random_u32(r, count, 16);
    float *data = wl_zeros(r, padded, sizeof *data), *got = wl_zeros(r, padded, sizeof *got);
    if (wl_failed(r))
        return;
    for (uint32_t i = 0; i < count; i++)
        data[i] = (float)numbers[i] - 8;

    const ls_gpu_address d_data = wl_upload(r, data, padded * sizeof *data);
    for (uint32_t step = 1; step < padded; step *= 2)
        wl_launch(r, "walsh_step", WL_1D(wl_round_up(pairs, 256)), WL_1D(256), WL_ARG(d_data), WL_ARG(step),
                  WL_ARG(pairs));
    wl_download(r, got, d_data, padded * sizeof *got);

    if (!wl_checking(r))
        return;
    /* The other order of steps: the same transform. */
    for (size_t step = pairs; step > 0; step /= 2)
        for (size_t base = 0; base < padded; base += 2 * step)
            for (size_t i = base; i < base + step; i++) {
                const float a = data[i], b = data[i + step];
                data[i] = a + b;
                data[i + step] = a - b;
            }
    wl_expect_f32s(r, "transform", got, data, padded, 0);
}

static const wl_option options[] = {
    { "size", 4096, 1, 1u << 20, "numbers to transform" },
};
static const wl_workload fastwalshtransform = { .name = "fastwalshtransform",
                                                .summary = "fast Walsh-Hadamard transform, a launch per step",
                                                .source = "textbook; in the AMD APP SDK's place",
                                                WL_OPTIONS(options),
                                                .run = run };
WL_REGISTER(fastwalshtransform);

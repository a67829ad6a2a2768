/* fir.c: a finite impulse response filter over a signal that arrives in blocks; each block is one launch and
 * hands its last samples to the next as history. */
#include "workloads/workload.h"

static void run(wl_run *r)
{
    const uint32_t count = wl_u32(r, "size"), taps = wl_u32(r, "taps"), blocks = wl_u32(r, "blocks");
    const size_t total = (size_t)count * blocks, before = taps - 1;
    /* taps - 1 samples of silence stand before the signal. */
    float *signal = wl_zeros(r, before + total, sizeof *signal), *out = wl_zeros(r, total, sizeof *out);
    const float *samples = wl_random_f32(r, total, -1, 1),
                *coefficients = wl_random_f32(r, taps, -0.25f, 0.25f);
    if (wl_failed(r))
        return;
    for (size_t i = 0; i < total; i++)
        signal[before + i] = samples[i];

    const ls_gpu_address d_coefficients = wl_upload(r, coefficients, taps * sizeof *coefficients);
    wl_divide(r, (count + 63) / 64);
    const ls_gpu_address d_history = wl_buffer(r, taps * sizeof *signal);
    const ls_gpu_address d_in =
        wl_divided(r, count * sizeof *signal, 64 * sizeof *signal, before * sizeof *signal, 0);
    const ls_gpu_address d_out = wl_divided(r, count * sizeof *out, 64 * sizeof *out, 0, 0);
    for (size_t at = 0; at < total; at += count) {
        wl_write(r, d_in, signal + before + at, count * sizeof *signal);
        wl_write(r, d_history, signal + at, before * sizeof *signal);
        wl_launch(r, "fir", WL_1D(wl_round_up(count, 64)), WL_1D(64), WL_ARG(d_in), WL_ARG(d_out),
                  WL_ARG(d_coefficients), WL_ARG(d_history), WL_ARG(taps), WL_ARG(count));
        wl_download(r, out + at, d_out, count * sizeof *out);
    }

    if (!wl_checking(r))
        return;
    for (size_t i = 0; i < total; i++) {
        double sum = 0;
        for (uint32_t t = 0; t < taps; t++)
            sum += (double)coefficients[t] * (double)signal[before + i - t];
        if (!wl_expect_f32(r, "out", i, out[i], (float)sum, 1e-6f * (float)taps))
            return;
    }
}

static const wl_option options[] = {
    { "size", 65536, 1, 1u << 28, "samples of one block" },
    { "taps", 16, 1, 1024, "coefficients of the filter" },
    { "blocks", 1, 1, 1024, "blocks of the signal, a launch each" },
};
static const wl_workload fir = { .name = "fir",
                                 .summary = "finite impulse response filter",
                                 .source = "textbook; the shape is Hetero-Mark's",
                                 WL_OPTIONS(options),
                                 .run = run,
                                 .divides = true };
WL_REGISTER(fir);

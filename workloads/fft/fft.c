/* fft.c: a batch of complex transforms of 512 points, a work-group each. */
#include "workloads/workload.h"

#include <math.h>

#define POINTS 512

/* Straight from the definition, in double precision, with a table of the 512 roots. */
static void transform(const float *in, double *out, const double *roots)
{
    for (size_t k = 0; k < POINTS; k++) {
        double re = 0, im = 0;
        for (size_t i = 0; i < POINTS; i++) {
            const double *w = roots + 2 * (i * k % POINTS);
            re += (double)in[2 * i] * w[0] - (double)in[2 * i + 1] * w[1];
            im += (double)in[2 * i] * w[1] + (double)in[2 * i + 1] * w[0];
        }
        out[2 * k] = re;
        out[2 * k + 1] = im;
    }
}

static void run(wl_run *r)
{
    const uint32_t batches = wl_u32(r, "size");
    const size_t values = 2 * POINTS * (size_t)batches, bytes = values * sizeof(float);
    const float *in = wl_random_f32(r, values, -1, 1);
    float *out = wl_zeros(r, values, sizeof *out);

    const ls_gpu_address data = wl_upload(r, in, bytes);
    wl_launch(r, "fft512", WL_1D(batches * 64), WL_1D(64), WL_ARG(data));
    wl_download(r, out, data, bytes);

    double *roots = wl_zeros(r, 2 * POINTS, sizeof *roots),
           *expected = wl_zeros(r, 2 * POINTS, sizeof *expected);
    if (!wl_checking(r))
        return;
    const double angle = -2 * acos(-1.0) / POINTS;
    for (int i = 0; i < POINTS; i++) {
        roots[2 * i] = cos(angle * i);
        roots[2 * i + 1] = sin(angle * i);
    }
    for (size_t at = 0; at < values; at += 2 * POINTS) {
        transform(in + at, expected, roots);
        for (size_t i = 0; i < 2 * POINTS; i++)
            if (!wl_expect_f32(r, "out", at + i, out[at + i], (float)expected[i], 5e-5f))
                return;
    }
}

static const wl_option options[] = {
    { "size", 32, 1, 1u << 17, "transforms of 512 points" },
};
static const wl_workload fft = { .name = "fft",
                                 .summary = "fast Fourier transforms of 512 points, a work-group each",
                                 .source = "Cooley and Tukey 1965, Stockham 1966; in SHOC's place",
                                 WL_OPTIONS(options),
                                 .run = run };
WL_REGISTER(fft);

/* signal.c: fir, fastwalshtransform, fft1D_512, simpleconvolution, im2col and conv2d of the MI300A suite. */
#include "workloads/mi300a/suite.h"

#include <math.h>

#define SIGNAL_SUITE                                                                                          \
    .source = "measured on an MI300A: the same algorithm, geometry and timed region", .suite = "mi300a",      \
    .kernels = "mi300a_signal"
#define GROUP 256u

typedef struct picture {
    ls_gpu_address in, out, mask, more, product;
    const float *host;
    uint32_t n, taps, field;
} picture;

/* ---------------------------------------------------------------------------------------------------- fir */

static void fir_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    picture *p = self;
    wl_launch_groups(r, suite_groups(first, units), "fir", WL_1D(p->n), WL_1D(GROUP), WL_ARG(p->out),
                     WL_ARG(p->mask), WL_ARG(p->in), WL_ARG(p->more), WL_ARG(p->taps));
}

static void run_fir(wl_run *r)
{
    picture p = { .n = wl_u32(r, "size"), .taps = wl_u32(r, "taps") };
    const size_t n = p.n, taps = p.taps;
    if (n % GROUP != 0) {
        wl_fail(r, LS_ERR_USAGE, "the size is a multiple of %u, not %zu", GROUP, n);
        return;
    }
    float *in = wl_zeros(r, n, sizeof *in), *out = wl_zeros(r, n, sizeof *out);
    float *coeff = wl_random_f32(r, taps, 0, 1);
    for (size_t i = 0; in && i < n; i++)
        in[i] = (float)i;
    p.in = suite_input(r, in, n * sizeof *in);
    p.mask = suite_input(r, coeff, taps * sizeof *coeff);
    p.more = wl_zeroed(r, taps * sizeof *coeff);
    p.out = wl_zeroed(r, n * sizeof *out);
    suite_time(r, &(suite_bench){ .region = fir_region,
                                  .self = &p,
                                  .units = n / GROUP,
                                  .instructions = suite_waves(GROUP, 20 + 14.0 * p.taps) });
    if (!wl_checking(r))
        return;
    suite_output(r, out, p.out, n * sizeof *out);
    for (size_t t = 0; t < n; t++) {
        double sum = 0;
        for (size_t i = 0; i < taps && i <= t; i++)
            sum += (double)coeff[i] * (double)in[t - i];
        if (!wl_expect_f64(r, "out", t, (double)out[t], sum, 1e-5))
            return;
    }
}

static const wl_option fir_options[] = { { "size", 1024, GROUP, 1u << 24, "samples, a multiple of 256" },
                                         { "taps", 16, 1, 1024, "of the filter" },
                                         SUITE_LIMIT };
static const wl_workload mi300a_fir = { .name = "mi300a_fir",
                                        .summary = "finite impulse response filter, as measured on an MI300A",
                                        SIGNAL_SUITE,
                                        WL_OPTIONS(fir_options),
                                        .run = run_fir };
WL_REGISTER(mi300a_fir);

/* ------------------------------------------------------------------------------------- fastwalshtransform */

/* A part has other work-groups in each launch, as far apart as in the whole: none finds what the last one left in
 * caches. */
static void walsh_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    picture *p = self;
    const uint64_t groups = p->n / 2 / GROUP, all = (uint64_t)p->n * sizeof(float);
    uint64_t at = first;
    wl_write(r, p->in, p->host, (size_t)(all / groups * units));
    for (int32_t step = 1; step < (int32_t)p->n; step *= 2) {
        const ls_groups part = { .first = at, .count = units };
        wl_launch_groups(r, part, "fastwalshtransform", WL_1D(p->n / 2), WL_1D(GROUP), WL_ARG(p->in),
                         WL_ARG(step));
        at = at + 2 * units <= groups ? at + units : 0;
    }
}

static void run_walsh(wl_run *r)
{
    picture p = { .n = wl_u32(r, "size") };
    const size_t n = p.n, bytes = n * sizeof(float);
    if ((n & (n - 1)) != 0) {
        wl_fail(r, LS_ERR_USAGE, "the size is a power of 2, not %zu", n);
        return;
    }
    const suite_bench bench = { .region = walsh_region,
                                .self = &p,
                                .units = n / 2 / GROUP,
                                .instructions = suite_waves(GROUP, 40 * log2((double)n)),
                                .least = 4096 };
    float *data = wl_zeros(r, n, sizeof *data), *got = wl_zeros(r, n, sizeof *got);
    if (wl_failed(r))
        return;
    for (size_t i = 0; i < n; i++) /* sums of whole numbers are exact */
        data[i] = (float)wl_random(r, 16);
    p.host = data;
    p.in = wl_zeroed(r, bytes);
    suite_time(r, &bench);
    if (!wl_checking(r) || suite_is_sampled(r, &bench))
        return;
    suite_output(r, got, p.in, bytes);
    for (size_t step = n / 2; step > 0; step /= 2) /* in the other order */
        for (size_t i = 0; i < n; i++)
            if ((i & step) == 0) {
                const float a = data[i], b = data[i + step];
                data[i] = a + b;
                data[i + step] = a - b;
            }
    (void)wl_expect_f32s(r, "data", got, data, n, 0);
}

static const wl_option walsh_options[] = { { "size", 4096, 512, 1u << 29, "numbers, a power of 2" },
                                           SUITE_LIMIT };
static const wl_workload mi300a_fastwalshtransform = {
    .name = "mi300a_fastwalshtransform",
    .summary = "Walsh-Hadamard transform, as measured on an MI300A",
    SIGNAL_SUITE,
    WL_OPTIONS(walsh_options),
    .run = run_walsh
};
WL_REGISTER(mi300a_fastwalshtransform);

/* ---------------------------------------------------------------------------------------------- fft1D_512 */

#define POINTS 512u

static void fft_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    picture *p = self;
    wl_launch_groups(r, suite_groups(first, units), "fft1d_512", WL_1D(p->n / POINTS * 64), WL_1D(64),
                     WL_ARG(p->in));
}

/* The plain sum, in place. */
static void transform(double (*v)[2])
{
    const double turn = 2 * 3.14159265358979323846 / POINTS;
    double sum[POINTS][2];
    for (size_t k = 0; k < POINTS; k++) {
        sum[k][0] = sum[k][1] = 0;
        for (size_t i = 0; i < POINTS; i++) {
            const double angle = -turn * (double)(i * k % POINTS), c = cos(angle), s = sin(angle);
            sum[k][0] += v[i][0] * c - v[i][1] * s;
            sum[k][1] += v[i][0] * s + v[i][1] * c;
        }
    }
    for (size_t k = 0; k < POINTS; k++) {
        v[k][0] = sum[k][0];
        v[k][1] = sum[k][1];
    }
}

static void compare_fft(wl_run *r, const picture *p, const float *data, uint32_t calls)
{
    double v[POINTS][2];
    float *got = wl_zeros(r, 2 * (size_t)p->n, sizeof *got);
    suite_output(r, got, p->in, 2 * (size_t)p->n * sizeof *got);
    for (size_t first = 0; got && first < p->n; first += POINTS) {
        double scale = 1;
        for (size_t i = 0; i < 2 * POINTS; i++)
            v[i / 2][i % 2] = (double)data[2 * first + i];
        for (uint32_t call = 0; call < calls; call++, scale *= 22)
            transform(v);
        for (size_t i = 0; i < 2 * POINTS; i++)
            if (!wl_expect_f64(r, "data", 2 * first + i, (double)got[2 * first + i] / scale,
                               v[i / 2][i % 2] / scale, 1e-4))
                return;
    }
}

static void run_fft(wl_run *r)
{
    picture p = { .n = wl_u32(r, "size") };
    const size_t n = p.n;
    if (n % POINTS != 0) {
        wl_fail(r, LS_ERR_USAGE, "the size is a multiple of %u, not %zu", POINTS, n);
        return;
    }
    const suite_bench bench = { .region = fft_region,
                                .self = &p,
                                .units = n / POINTS,
                                .instructions = suite_waves(64, 800),
                                .bytes = 8 * n };
    const bool sampled = suite_is_sampled(r, &bench);
    float *data = wl_random_f32(r, sampled ? 0 : 2 * n, -1, 1);
    p.in = wl_buffer(r, 2 * n * sizeof *data);
    wl_preset(r, p.in, data, sampled ? 0 : 2 * n * sizeof *data);
    suite_time(r, &bench);
    if (wl_checking(r) && !sampled)
        compare_fft(r, &p, data, suite_calls(r, &bench));
}

static const wl_option fft_options[] = {
    { "size", 2048, POINTS, 1u << 28, "complex numbers, a multiple of 512" }, SUITE_LIMIT
};
static const wl_workload mi300a_fft1D_512 = { .name = "mi300a_fft1D_512",
                                              .summary =
                                                  "transforms of 512 complex points, as measured on an MI300A",
                                              SIGNAL_SUITE,
                                              WL_OPTIONS(fft_options),
                                              .run = run_fft };
WL_REGISTER(mi300a_fft1D_512);

/* -------------------------------------------------------------------------------------- simpleconvolution */

static void convolution_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    picture *p = self;
    const uint32_t padded = p->n + p->taps - 1;
    wl_launch_groups(r, suite_groups(first, units), "simpleconvolution", WL_1D(p->n * p->n), WL_1D(64),
                     WL_ARG(p->in), WL_ARG(p->mask), WL_ARG(p->out), WL_ARG(p->n), WL_ARG(p->n),
                     WL_ARG(p->taps), WL_ARG(p->taps), WL_ARG(padded));
}

static void run_convolution(wl_run *r)
{
    picture p = { .n = wl_u32(r, "size"), .taps = wl_u32(r, "mask") };
    const size_t n = p.n, k = p.taps, padded = n + k - 1;
    if (n % 8 != 0) {
        wl_fail(r, LS_ERR_USAGE, "the size is a multiple of 8, not %zu", n);
        return;
    }
    const suite_bench bench = { .region = convolution_region,
                                .self = &p,
                                .units = n * n / 64,
                                .instructions = suite_waves(64, 60 + 8.0 * (double)(k * k)) };
    uint32_t *in = wl_zeros(r, padded * padded, sizeof *in);
    float *mask = wl_random_f32(r, k * k, 0, 1);
    if (wl_failed(r))
        return;
    for (size_t i = 0; i < padded * padded; i++)
        in[i] = i % padded < n && i / padded < n;
    p.in = suite_input(r, in, padded * padded * sizeof *in);
    p.mask = suite_input(r, mask, k * k * sizeof *mask);
    p.out = wl_zeroed(r, n * n * sizeof(int32_t));
    suite_time(r, &bench);
    if (!wl_checking(r) || suite_is_sampled(r, &bench))
        return;
    int32_t *out = wl_zeros(r, n * n, sizeof *out);
    suite_output(r, out, p.out, n * n * sizeof *out);
    for (size_t i = 0; out && i < n * n; i++) {
        float sum = 0;
        for (size_t m = 0; m < k * k; m++)
            sum = fmaf((float)in[(i / n + m / k) * padded + i % n + m % k], mask[m], sum);
        if (!wl_expect_u32(r, "out", i, (uint32_t)out[i], (uint32_t)(int32_t)(sum + 0.5f)))
            return;
    }
}

static const wl_option convolution_options[] = { { "size", 128, 8, 16384,
                                                   "columns and rows, a multiple of 8" },
                                                 { "mask", 5, 1, 31, "columns and rows of the mask" },
                                                 SUITE_LIMIT };
static const wl_workload mi300a_simpleconvolution = { .name = "mi300a_simpleconvolution",
                                                      .summary =
                                                          "a mask over a picture, as measured on an MI300A",
                                                      SIGNAL_SUITE,
                                                      WL_OPTIONS(convolution_options),
                                                      .run = run_convolution };
WL_REGISTER(mi300a_simpleconvolution);

/* ------------------------------------------------------------------------------------------ im2col, conv2d */

#define CHANNELS 3

static void im2col_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    picture *p = self;
    const uint32_t stride = 1, pad = 0;
    wl_launch_groups(r, suite_groups(first, units), "im2col", WL_1D(wl_round_up(p->field, GROUP)),
                     WL_1D(GROUP), WL_ARG(p->in), WL_ARG(p->out), WL_ARG(p->n), WL_ARG(p->n), WL_ARG(p->taps),
                     WL_ARG(p->taps), WL_ARG(stride), WL_ARG(pad));
}

static void conv2d_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    picture *p = self;
    const int32_t m = CHANNELS, n = (int32_t)p->field, k = (int32_t)(p->taps * p->taps);
    const float alpha = 1, beta = 1;
    im2col_region(r, self, first, units);
    wl_launch(r, "gemm", WL_2D(wl_round_up(p->field, 16), 16), WL_2D(16, 16), WL_ARG(m), WL_ARG(n), WL_ARG(k),
              WL_ARG(alpha), WL_ARG(beta), WL_ARG(p->mask), WL_ARG(p->out), WL_ARG(p->more),
              WL_ARG(p->product));
}

static void compare_columns(wl_run *r, const picture *p, const float *in, const float *mask)
{
    const size_t k = p->taps, kk = k * k, field = p->field, wide = p->n - k + 1;
    float *columns = wl_zeros(r, kk * field, sizeof *columns),
          *got = wl_zeros(r, CHANNELS * field, sizeof *got);
    suite_output(r, columns, p->out, kk * field * sizeof *columns);
    if (mask)
        suite_output(r, got, p->product, CHANNELS * field * sizeof *got);
    if (wl_failed(r))
        return;
    for (size_t i = 0; i < kk * field; i++) {
        const size_t m = i / field, f = i % field;
        if (!wl_expect_f32(r, "columns", i, columns[i], in[(f / wide + m / k) * p->n + f % wide + m % k], 0))
            return;
    }
    for (size_t i = 0; mask && i < CHANNELS * field; i++) {
        double sum = 0;
        for (size_t m = 0; m < kk; m++)
            sum += (double)mask[i / field * kk + m] * (double)columns[m * field + i % field];
        if (!wl_expect_f64(r, "product", i, (double)got[i], sum, 1e-4))
            return;
    }
}

static void run_columns(wl_run *r, bool is_conv2d)
{
    picture p = { .n = wl_u32(r, "size"), .taps = wl_u32(r, "mask") };
    const size_t n = p.n, kk = (size_t)p.taps * p.taps;
    if (p.taps > p.n) {
        wl_fail(r, LS_ERR_USAGE, "the mask is at most as large as the picture");
        return;
    }
    p.field = (p.n - p.taps + 1) * (p.n - p.taps + 1);
    float *in = wl_random_f32(r, n * n, -1, 1), *mask = wl_random_f32(r, CHANNELS * kk, -1, 1);
    p.in = suite_input(r, in, n * n * sizeof *in);
    p.out = wl_zeroed(r, kk * p.field * sizeof *in);
    if (is_conv2d) {
        p.mask = suite_input(r, mask, CHANNELS * kk * sizeof *mask);
        p.more = wl_zeroed(r, CHANNELS * (size_t)p.field * sizeof *in);
        p.product = wl_zeroed(r, CHANNELS * (size_t)p.field * sizeof *in);
    }
    suite_time(r,
               &(suite_bench){ .region = is_conv2d ? conv2d_region : im2col_region,
                               .self = &p,
                               .units = wl_round_up(p.field, GROUP) / GROUP,
                               .instructions = suite_waves(GROUP, 40 + (double)kk * (is_conv2d ? 100 : 40)) });
    if (wl_checking(r))
        compare_columns(r, &p, in, is_conv2d ? mask : NULL);
}

static void run_im2col(wl_run *r)
{
    run_columns(r, false);
}

static void run_conv2d(wl_run *r)
{
    run_columns(r, true);
}

static const wl_option column_options[] = { { "size", 32, 1, 8192, "columns and rows" },
                                            { "mask", 3, 1, 31, "columns and rows of the mask" },
                                            SUITE_LIMIT };
static const wl_workload mi300a_im2col = { .name = "mi300a_im2col",
                                           .summary =
                                               "a picture as a matrix of columns, as measured on an MI300A",
                                           SIGNAL_SUITE,
                                           WL_OPTIONS(column_options),
                                           .run = run_im2col };
WL_REGISTER(mi300a_im2col);
static const wl_workload mi300a_conv2d = { .name = "mi300a_conv2d",
                                           .summary =
                                               "convolution as a matrix product, as measured on an MI300A",
                                           SIGNAL_SUITE,
                                           WL_OPTIONS(column_options),
                                           .run = run_conv2d };
WL_REGISTER(mi300a_conv2d);

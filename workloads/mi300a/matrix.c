/* matrix.c: matrixtranspose, matrixmultiplication, atax, bicg and stencil2d of the MI300A suite. */
#include "workloads/mi300a/suite.h"

#define MATRIX_SUITE                                                                                          \
    .source = "measured on an MI300A: the same algorithm, geometry and timed region", .suite = "mi300a",      \
    .kernels = "mi300a_matrix"

typedef struct matrix {
    ls_gpu_address a, b, c, d, e;
    uint32_t n, pitch;
} matrix;

/* A size that the measured program divides evenly. */
static bool is_multiple(wl_run *r, uint32_t n, uint32_t of)
{
    if (n % of != 0)
        wl_fail(r, LS_ERR_USAGE, "the size is a multiple of %u, not %u", of, n);
    return !wl_failed(r);
}

/* ---------------------------------------------------------------------------------------------- transpose */

static void transpose_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    matrix *m = self;
    wl_launch_groups(r, suite_groups(first, units), "matrixtranspose", WL_2D(m->n / 4, m->n / 4),
                     WL_2D(16, 16), WL_ARG(m->b), WL_ARG(m->a), WL_LOCAL(16384), WL_ARG(m->n));
}

static void run_transpose(wl_run *r)
{
    matrix m = { .n = wl_u32(r, "size") };
    const size_t count = (size_t)m.n * m.n;
    if (!is_multiple(r, m.n, 64))
        return;
    const suite_bench bench = { .region = transpose_region,
                                .self = &m,
                                .units = (uint64_t)(m.n / 64) * (m.n / 64),
                                .instructions = suite_waves(256, 80),
                                .bytes = 8 * count };
    const bool sampled = suite_is_sampled(r, &bench);
    float *in = wl_zeros(r, sampled ? 0 : count, sizeof *in);
    for (size_t i = 0; in && !sampled && i < count; i++)
        in[i] = (float)i;
    m.a = wl_buffer(r, count * sizeof(float));
    m.b = wl_buffer(r, count * sizeof(float));
    wl_preset(r, m.a, in, sampled ? 0 : count * sizeof(float));
    suite_time(r, &bench);
    if (!wl_checking(r) || sampled)
        return;
    float *out = wl_zeros(r, count, sizeof *out);
    suite_output(r, out, m.b, count * sizeof *out);
    for (size_t i = 0; out && i < count; i++)
        if (!wl_expect_f32(r, "out", i, out[i], in[i % m.n * m.n + i / m.n], 0))
            return;
}

static const wl_option transpose_options[] = { { "size", 256, 64, 65536, "rows, a multiple of 64" },
                                               SUITE_LIMIT };
static const wl_workload mi300a_matrixtranspose = { .name = "mi300a_matrixtranspose",
                                                    .summary = "matrix transpose, as measured on an MI300A",
                                                    MATRIX_SUITE,
                                                    WL_OPTIONS(transpose_options),
                                                    .run = run_transpose };
WL_REGISTER(mi300a_matrixtranspose);

/* ----------------------------------------------------------------------------------------- multiplication */

static void multiply_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    matrix *m = self;
    (void)first;
    const int32_t width = (int32_t)m->n, steps = (int32_t)units;
    wl_launch(r, "matrixmultiplication", WL_2D(m->n / 4, m->n / 4), WL_2D(8, 8), WL_ARG(m->a), WL_ARG(m->b),
              WL_ARG(m->c), WL_ARG(width), WL_ARG(steps), WL_ARG(m->d));
}

/* Groups write the same block at the same time: there is no result to compare. Only its size is checked, and that numbers
 * stay in the range that sums of products have. */
static void run_multiply(wl_run *r)
{
    matrix m = { .n = wl_u32(r, "size") };
    const size_t count = (size_t)m.n * m.n;
    if (!is_multiple(r, m.n, 32))
        return;
    const suite_bench bench = { .region = multiply_region,
                                .self = &m,
                                .units = m.n / 32,
                                .instructions = suite_waves((uint64_t)m.n / 4 * (m.n / 4), 500) };
    float *a = wl_random_f32(r, count, -1, 1), *b = wl_random_f32(r, count, -1, 1);
    m.a = suite_input(r, a, count * sizeof *a);
    m.b = suite_input(r, b, count * sizeof *b);
    m.c = wl_buffer(r, count * sizeof *a);
    m.d = wl_zeroed(r, 256 * 16);
    suite_time(r, &bench);
    if (!wl_checking(r))
        return;
    float *c = wl_zeros(r, count, sizeof *c);
    suite_output(r, c, m.c, count * sizeof *c);
    for (size_t i = 0; c && i < count; i++)
        if (!wl_expect_u32(r, "c is a sum of n products", i, c[i] <= (float)m.n && c[i] >= -(float)m.n, 1))
            return;
}

static const wl_option multiply_options[] = { { "size", 64, 32, 16384, "rows, a multiple of 32" },
                                              SUITE_LIMIT };
static const wl_workload mi300a_matrixmultiplication = {
    .name = "mi300a_matrixmultiplication",
    .summary = "matrix product whose groups race by design, as measured on an MI300A: for its time only",
    MATRIX_SUITE,
    WL_OPTIONS(multiply_options),
    .run = run_multiply,
    .races = true
};
WL_REGISTER(mi300a_matrixmultiplication);

/* -------------------------------------------------------------------------------------------- atax, bicg */

/* Steps of the loops from `first` on: the matrix and the vector that is read begin there. */
typedef struct product_steps {
    ls_gpu_address rows, columns; /* the matrix, of each kernel */
    uint64_t vector;              /* bytes */
    int32_t n, count;
} product_steps;

static product_steps steps_of(const matrix *m, uint64_t first, uint64_t units)
{
    return (product_steps){ .rows = m->a + first * sizeof(float),
                            .columns = m->a + first * m->n * sizeof(float),
                            .vector = first * sizeof(float),
                            .n = (int32_t)m->n,
                            .count = (int32_t)units };
}

static void atax_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    matrix *m = self;
    const product_steps s = steps_of(m, first, units);
    const ls_gpu_address x = m->b + s.vector, tmp = m->c + s.vector;
    const wl_size grid = WL_1D(wl_round_up(m->n, 256));
    suite_fill(r, m->c, 0, m->n * sizeof(float));
    suite_fill(r, m->d, 0, m->n * sizeof(float));
    wl_launch(r, "atax_rows", grid, WL_1D(256), WL_ARG(s.rows), WL_ARG(x), WL_ARG(m->c), WL_ARG(s.n),
              WL_ARG(s.n), WL_ARG(s.count));
    wl_launch(r, "atax_columns", grid, WL_1D(256), WL_ARG(s.columns), WL_ARG(m->d), WL_ARG(tmp), WL_ARG(s.n),
              WL_ARG(s.n), WL_ARG(s.count));
}

static void bicg_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    matrix *m = self;
    const product_steps s = steps_of(m, first, units);
    const ls_gpu_address p = m->b + s.vector, of_columns = m->e + s.vector;
    const wl_size grid = WL_1D(wl_round_up(m->n, 256));
    wl_launch(r, "bicg_rows", grid, WL_1D(256), WL_ARG(s.rows), WL_ARG(p), WL_ARG(m->c), WL_ARG(s.n),
              WL_ARG(s.n), WL_ARG(s.count));
    wl_launch(r, "bicg_columns", grid, WL_1D(256), WL_ARG(s.columns), WL_ARG(of_columns), WL_ARG(m->d),
              WL_ARG(s.n), WL_ARG(s.n), WL_ARG(s.count));
}

/* rows = A x, then columns = A^T of the first result (atax) or of a vector (bicg). */
static void compare_products(wl_run *r, const matrix *m, const float *a, const float *x,
                             const float *of_columns)
{
    const size_t n = m->n;
    float *rows = wl_zeros(r, n, sizeof *rows), *columns = wl_zeros(r, n, sizeof *columns);
    double *sum = wl_zeros(r, n, sizeof *sum), *back = wl_zeros(r, n, sizeof *back);
    suite_output(r, rows, m->c, n * sizeof *rows);
    suite_output(r, columns, m->d, n * sizeof *columns);
    if (wl_failed(r))
        return;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            sum[i] += (double)a[i * n + j] * (double)x[j];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            back[j] += (double)a[i * n + j] * (of_columns ? (double)of_columns[i] : sum[i]);
    for (size_t i = 0; i < n; i++)
        if (!wl_expect_f64(r, "rows", i, (double)rows[i], sum[i], 1e-4) ||
            !wl_expect_f64(r, "columns", i, (double)columns[i], back[i], 1e-4))
            return;
}

static void run_products(wl_run *r, bool is_atax)
{
    matrix m = { .n = wl_u32(r, "size") };
    const size_t n = m.n, count = n * n;
    const suite_bench bench = { .region = is_atax ? atax_region : bicg_region,
                                .self = &m,
                                .units = n,
                                .instructions = suite_waves(wl_round_up(m.n, 256), 18),
                                .least = 64,
                                .multiple = 64,
                                .bytes = count * sizeof(float) };
    const bool sampled = suite_is_sampled(r, &bench);
    float *a = wl_random_f32(r, sampled ? 0 : count, 0, 10), *x = wl_random_f32(r, n, 0, 10),
          *y = wl_random_f32(r, n, 0, 10);
    m.a = wl_buffer(r, count * sizeof *a);
    wl_preset(r, m.a, a, sampled ? 0 : count * sizeof *a);
    m.b = suite_input(r, x, n * sizeof *x);
    m.c = wl_zeroed(r, n * sizeof *x);
    m.d = wl_zeroed(r, n * sizeof *x);
    m.e = suite_input(r, y, n * sizeof *y);
    suite_time(r, &bench);
    if (wl_checking(r) && !sampled)
        compare_products(r, &m, a, x, is_atax ? NULL : y);
}

static void run_atax(wl_run *r)
{
    run_products(r, true);
}

static void run_bicg(wl_run *r)
{
    run_products(r, false);
}

static const wl_option product_options[] = { { "size", 64, 1, 46340, "rows" }, SUITE_LIMIT };
static const wl_workload mi300a_atax = { .name = "mi300a_atax",
                                         .summary = "y = A^T (A x), as measured on an MI300A",
                                         MATRIX_SUITE,
                                         WL_OPTIONS(product_options),
                                         .run = run_atax };
WL_REGISTER(mi300a_atax);
static const wl_workload mi300a_bicg = { .name = "mi300a_bicg",
                                         .summary = "q = A p and s = A^T r, as measured on an MI300A",
                                         MATRIX_SUITE,
                                         WL_OPTIONS(product_options),
                                         .run = run_bicg };
WL_REGISTER(mi300a_bicg);

/* ---------------------------------------------------------------------------------------------- stencil2d */

#define CENTER 0.25f
#define CARDINAL 0.15f
#define DIAGONAL 0.05f

static void stencil_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    matrix *m = self;
    const int32_t pitch = (int32_t)m->pitch;
    const float center = CENTER, cardinal = CARDINAL, diagonal = DIAGONAL;
    wl_launch_groups(r, suite_groups(first, units), "stencil2d", WL_2D(m->n / 16, m->n), WL_2D(1, 64),
                     WL_ARG(m->a), WL_ARG(m->b), WL_ARG(pitch), WL_ARG(center), WL_ARG(cardinal),
                     WL_ARG(diagonal));
}

static void compare_stencil(wl_run *r, const matrix *m, const float *in, size_t count)
{
    const size_t n = m->n, pitch = m->pitch;
    float *out = wl_zeros(r, count, sizeof *out);
    suite_output(r, out, m->b, count * sizeof *out);
    for (size_t y = 1; out && y <= n; y++)
        for (size_t x = 1; x <= n; x++) {
            const size_t at = y * pitch + x;
            const float straight = in[at - pitch] + in[at + pitch] + in[at - 1] + in[at + 1];
            const float oblique =
                in[at - pitch - 1] + in[at - pitch + 1] + in[at + pitch - 1] + in[at + pitch + 1];
            if (!wl_expect_f32(r, "out", at, out[at],
                               CENTER * in[at] + CARDINAL * straight + DIAGONAL * oblique, 1e-5f))
                return;
        }
}

static void run_stencil(wl_run *r)
{
    matrix m = { .n = wl_u32(r, "size") };
    if (!is_multiple(r, m.n, 64))
        return;
    m.pitch = wl_round_up(m.n + 2, 16);
    const size_t count = (size_t)(m.n + 2) * m.pitch;
    const suite_bench bench = { .region = stencil_region,
                                .self = &m,
                                .units = (uint64_t)(m.n / 16) * (m.n / 64),
                                .instructions = suite_waves(64, 500),
                                .bytes = 8 * count };
    const bool sampled = suite_is_sampled(r, &bench);
    float *in = wl_random_f32(r, sampled ? 0 : count, 0, 1);
    m.a = wl_buffer(r, count * sizeof *in);
    wl_preset(r, m.a, in, sampled ? 0 : count * sizeof *in);
    m.b = wl_zeroed(r, count * sizeof *in);
    suite_time(r, &bench);
    if (wl_checking(r) && !sampled)
        compare_stencil(r, &m, in, count);
}

static const wl_option stencil_options[] = { { "size", 128, 64, 46000, "rows, a multiple of 64" },
                                             SUITE_LIMIT };
static const wl_workload mi300a_stencil2d = { .name = "mi300a_stencil2d",
                                              .summary = "nine points, as measured on an MI300A",
                                              MATRIX_SUITE,
                                              WL_OPTIONS(stencil_options),
                                              .run = run_stencil };
WL_REGISTER(mi300a_stencil2d);

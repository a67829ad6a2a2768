/* vector_add.c: the smallest workload: c = a + b. Start here to write another one. */
#include "workloads/workload.h"

static void run(wl_run *r)
{
    uint32_t n = wl_u32(r, "size");
    size_t bytes = n * sizeof(float);
    float *a = wl_random_f32(r, n, -100, 100), *b = wl_random_f32(r, n, -100, 100);
    float *c = wl_zeros(r, n, sizeof *c);
    ls_gpu_address da = wl_upload(r, a, bytes), db = wl_upload(r, b, bytes), dc = wl_buffer(r, bytes);

    wl_launch(r, "vector_add", WL_1D(wl_round_up(n, 256)), WL_1D(256), WL_ARG(da), WL_ARG(db), WL_ARG(dc),
              WL_ARG(n));
    wl_download(r, c, dc, bytes);
    if (!wl_checking(r))
        return;
    for (uint32_t i = 0; i < n; i++)
        if (!wl_expect_f32(r, "c", i, c[i], a[i] + b[i], 0))
            return;
}

static const wl_option options[] = {
    { .name = "size", .value = 65536, .min = 1, .max = 1u << 28, .help = "elements of each vector" },
};

static const wl_workload vector_add = {
    .name = "vector_add",
    .summary = "sum of two vectors of floats",
    .source = "the usual first example",
    WL_OPTIONS(options),
    .run = run,
};
WL_REGISTER(vector_add);

/* reduction.c: the sum of an array in two launches: partial sums by groups, then one group over those. */
#include "workloads/workload.h"

#define GROUP 256

static void run(wl_run *r)
{
    const uint32_t count = wl_u32(r, "size"), groups = wl_u32(r, "groups");
    const float *in = wl_random_f32(r, count, 0, 1);
    float sum = 0;

    const ls_gpu_address d_in = wl_upload(r, in, count * sizeof *in),
                         d_partial = wl_buffer(r, groups * sizeof *in);
    const ls_gpu_address d_sum = wl_buffer(r, sizeof sum);
    wl_launch(r, "reduce_sum", WL_1D(groups * GROUP), WL_1D(GROUP), WL_ARG(d_in), WL_ARG(d_partial),
              WL_ARG(count));
    wl_launch(r, "reduce_sum", WL_1D(GROUP), WL_1D(GROUP), WL_ARG(d_partial), WL_ARG(d_sum), WL_ARG(groups));
    wl_download(r, &sum, d_sum, sizeof sum);

    if (!wl_checking(r))
        return;
    double expected = 0;
    for (uint32_t i = 0; i < count; i++)
        expected += (double)in[i];
    wl_expect_f32(r, "sum", 0, sum, (float)expected, 1e-5f);
}

static const wl_option options[] = {
    { "size", 65536, 1, 1u << 28, "elements" },
    { "groups", 64, 1, 4096, "work-groups of the first launch" },
};
static const wl_workload reduction = { .name = "reduction",
                                       .summary = "sum of an array by trees in local memory",
                                       .source = "textbook; in SHOC's place",
                                       WL_OPTIONS(options),
                                       .run = run };
WL_REGISTER(reduction);

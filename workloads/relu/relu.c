/* relu.c: max(x, 0) of each element. */
#include "workloads/workload.h"

static void run(wl_run *r)
{
    const uint32_t count = wl_u32(r, "size");
    const float *in = wl_random_f32(r, count, -1, 1);
    float *out = wl_zeros(r, count, sizeof *out);

    const ls_gpu_address d_in = wl_upload(r, in, count * sizeof *in),
                         d_out = wl_buffer(r, count * sizeof *out);
    wl_launch(r, "relu_forward", WL_1D(wl_round_up(count, 64)), WL_1D(64), WL_ARG(d_in), WL_ARG(d_out),
              WL_ARG(count));
    wl_download(r, out, d_out, count * sizeof *out);

    if (!wl_checking(r))
        return;
    for (uint32_t i = 0; i < count; i++)
        if (!wl_expect_f32(r, "out", i, out[i], in[i] > 0 ? in[i] : 0, 0))
            return;
}

static const wl_option options[] = {
    { "size", 65536, 1, 1u << 28, "elements" },
};
static const wl_workload relu = { .name = "relu",
                                  .summary = "rectified linear unit",
                                  .source = "textbook; in DNNMark's place",
                                  WL_OPTIONS(options),
                                  .run = run };
WL_REGISTER(relu);

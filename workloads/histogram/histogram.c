/* histogram.c: how often each byte value occurs. */
#include "workloads/workload.h"

#define BINS 256

static void run(wl_run *r)
{
    const uint32_t count = wl_u32(r, "size"), groups = wl_u32(r, "groups");
    uint8_t *in = wl_random_u8(r, count);
    uint32_t *bins = wl_zeros(r, BINS, sizeof *bins), *expected = wl_zeros(r, BINS, sizeof *expected);
    if (wl_failed(r))
        return;
    /* Uneven, as in pictures: small values share bins. */
    for (uint32_t i = 0; i < count; i++)
        in[i] = (uint8_t)((uint32_t)in[i] * in[i] >> 8);

    const ls_gpu_address d_in = wl_upload(r, in, count), d_bins = wl_zeroed(r, BINS * sizeof *bins);
    wl_launch(r, "histogram_bytes", WL_1D(groups * 256), WL_1D(256), WL_ARG(d_in), WL_ARG(d_bins),
              WL_ARG(count));
    wl_download(r, bins, d_bins, BINS * sizeof *bins);

    if (!wl_checking(r))
        return;
    for (uint32_t i = 0; i < count; i++)
        expected[in[i]]++;
    for (uint32_t b = 0; b < BINS; b++)
        if (!wl_expect_u32(r, "bins", b, bins[b], expected[b]))
            return;
}

static const wl_option options[] = {
    { "size", 65536, 1, 1u << 30, "bytes to count" },
    { "groups", 16, 1, 4096, "work-groups" },
};
static const wl_workload histogram = { .name = "histogram",
                                       .summary = "histogram of bytes with local and global atomics",
                                       .source = "textbook",
                                       WL_OPTIONS(options),
                                       .run = run };
WL_REGISTER(histogram);

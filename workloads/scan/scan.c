/* scan.c: exclusive prefix sums: blocks of 512, then the same for the blocks' totals, then the totals added
 * in. */
#include "workloads/workload.h"

#define GROUP 256
#define BLOCK (2 * GROUP)
#define LEVELS_MAX 4 /* 512^4 elements */

static void run(wl_run *r)
{
    const uint32_t count = wl_u32(r, "size");
    const uint32_t *in = wl_random_u32(r, count, 1000);
    uint32_t *out = wl_zeros(r, count, sizeof *out);

    /* Level l holds the totals of level l - 1; its sums are the offsets that level l - 1 adds. */
    ls_gpu_address sums[LEVELS_MAX + 1], values = wl_upload(r, in, count * sizeof *in);
    uint32_t sizes[LEVELS_MAX + 1] = { count };
    uint32_t level = 0;
    for (;; level++) {
        const uint32_t blocks = (sizes[level] + BLOCK - 1) / BLOCK;
        const ls_gpu_address totals = wl_buffer(r, blocks * sizeof *in);
        sums[level] = wl_buffer(r, sizes[level] * sizeof *in);
        wl_launch(r, "scan_blocks", WL_1D(blocks * GROUP), WL_1D(GROUP), WL_ARG(values), WL_ARG(sums[level]),
                  WL_ARG(totals), WL_ARG(sizes[level]));
        if (blocks == 1)
            break;
        values = totals;
        sizes[level + 1] = blocks;
    }
    while (level-- > 0)
        wl_launch(r, "scan_add", WL_1D(wl_round_up(sizes[level], GROUP)), WL_1D(GROUP), WL_ARG(sums[level]),
                  WL_ARG(sums[level + 1]), WL_ARG(sizes[level]));
    wl_download(r, out, sums[0], count * sizeof *out);

    if (!wl_checking(r))
        return;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!wl_expect_u32(r, "out", i, out[i], sum))
            return;
        sum += in[i];
    }
}

static const wl_option options[] = {
    { "size", 65536, 1, 1u << 28, "elements" },
};
static const wl_workload scan = { .name = "scan",
                                  .summary = "exclusive prefix sums in three phases",
                                  .source = "Blelloch 1990; in SHOC's place",
                                  WL_OPTIONS(options),
                                  .run = run };
WL_REGISTER(scan);

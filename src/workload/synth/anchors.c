/* anchors.c: each test of accelsim_micro_anchors.csv as a generated trace. The file has the cycles of 64 and
 * of 128 instructions; appending ",count=64" or ",count=128" to a text makes the trace. One block, bare
 * instructions and an EXIT; binary version 80 unless the caller says otherwise. */
#include "workload/synth/synth.h"

#include <string.h>

/* clang-format off */
#define THROUGHPUT(op_)                                                                                       \
    { "thr_" op_ "_1w", "throughput,spacing=1,sources=1,op=" op_ ",warps=1" },                                          \
    { "thr_" op_ "_4w", "throughput,spacing=1,sources=1,op=" op_ ",warps=4" },                                          \
    { "thr_" op_ "_8w", "throughput,spacing=1,sources=1,op=" op_ ",warps=8" },                                          \
    { "thr_" op_ "_16w", "throughput,spacing=1,sources=1,op=" op_ ",warps=16" }
/* clang-format on */

static const synth_anchor anchors[] = {
    { "chain_FFMA", "chain,op=FFMA,sources=1" },
    { "chain3src_FFMA", "chain,op=FFMA,sources=3" },
    { "chain_IMAD", "chain,op=IMAD,sources=1" },
    { "chain3src_IMAD", "chain,op=IMAD,sources=3" },
    { "chain_MOV", "chain,op=MOV,sources=1" },
    { "chain_MUFU", "chain,op=MUFU,sources=1" },
    { "chain_DADD", "chain,op=DADD,sources=1" },
    { "chain_HMMA", "chain,op=HMMA,sources=1" },
    { "chain_HFMA2", "chain,op=HFMA2,sources=1" },
    { "chain_SHFL", "chain,op=SHFL,sources=1" },
    { "chain_TEX", "chain,op=TEX,sources=1" },
    { "chain0src_S2R", "chain,op=S2R,sources=0" },
    { "chain_LDC", "chain,op=LDC,sources=1" },
    { "seq_BRA", "throughput,op=BRA,sources=0" },
    THROUGHPUT("FFMA"),
    THROUGHPUT("IMAD"),
    THROUGHPUT("MOV"),
    THROUGHPUT("MUFU"),
    THROUGHPUT("DADD"),
    THROUGHPUT("HMMA"),
    THROUGHPUT("HFMA2"),
    { "thr_mixFFMAIMAD_8w", "throughput,op=FFMA,mix=IMAD,sources=1,warps=8" },
    { "chain_LDG_L1hit", "chain,op=LDG" },
    { "chain_LDG_L2hit(bypass)", "chain,op=LDG_L2" },
    { "chain_LDG_DRAM_newline", "chain,op=LDG_DRAM" },
    { "chain_LDG_DRAM_samerow_128B", "chain,op=LDG_DRAM,step_bytes=128" },
    { "indep_LDG_L1hit_1w", "throughput,op=LDG" },
    { "indep_LDG_stream_1w", "throughput,op=LDG,step_bytes=128" },
    { "chain_LDG_L1hit_stride0", "chain,op=LDG,lane_stride_bytes=0" },
    { "chain_LDG_L1hit_stride8", "chain,op=LDG,lane_stride_bytes=8" },
    { "chain_LDG_L1hit_stride32", "chain,op=LDG,lane_stride_bytes=32" },
    { "chain_LDG_L1hit_stride64", "chain,op=LDG,lane_stride_bytes=64" },
    { "chain_LDG_L1hit_stride128", "chain,op=LDG,lane_stride_bytes=128" },
    { "indep_LDG_L1hit_stride128", "throughput,op=LDG,lane_stride_bytes=128" },
    { "chain_LDS_stride4", "chain,op=LDS,lane_stride_bytes=4" },
    { "chain_LDS_stride8", "chain,op=LDS,lane_stride_bytes=8" },
    { "chain_LDS_stride16", "chain,op=LDS,lane_stride_bytes=16" },
    { "chain_LDS_stride128", "chain,op=LDS,lane_stride_bytes=128" },
    { "chain_LDS128_stride16", "chain,op=LDS128,lane_stride_bytes=16" },
    { "indep_LDS_stride4_1w", "throughput,op=LDS,warps=1" },
    { "indep_LDS_stride4_8w", "throughput,op=LDS,warps=8" },
    { "seq_STG_sameline", "throughput,op=STG" },
    { "seq_STG_stream", "throughput,op=STG,step_bytes=128" },
    { "seq_BAR_1w", "throughput,op=BAR,warps=1" },
    { "seq_BAR_8w", "throughput,op=BAR,warps=8" },
    { "chain_ATOMG_1addr", "chain,op=ATOMG,lane_stride_bytes=0" },
    { "chain_ATOMG_32addr", "chain,op=ATOMG,lane_stride_bytes=4" },
    { "chain_LDL", "chain,op=LDL" },
};

size_t synth_anchor_count(void)
{
    return LS_COUNT_OF(anchors);
}

const synth_anchor *synth_anchor_at(size_t index)
{
    return index < LS_COUNT_OF(anchors) ? &anchors[index] : NULL;
}

const synth_anchor *synth_anchor_find(const char *name)
{
    for (size_t i = 0; i < LS_COUNT_OF(anchors); i++)
        if (strcmp(anchors[i].name, name) == 0)
            return &anchors[i];
    return NULL;
}

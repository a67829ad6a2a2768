/* micro_mgpusim.c: microbenchmarks in the manner of MGPUSim (ISCA 2019 paper, section 4.2): an instruction
 * repeated a number of times, and loads that hit the first-level cache, the second, or DRAM. */
#include "workloads/workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SOURCE "MGPUSim, section 4.2"

/* ------------------------------------------------------------------------------------------- instructions */

typedef struct chain {
    const char *instruction;
    char type; /* f, d: float, double; u: 32 bits unsigned */
    double x, y;
    double (*next)(double x, double y);
} chain;

static double add(double x, double y)
{
    return x + y;
}

static double multiply(double x, double y)
{
    return x * y;
}

static double fused(double x, double y)
{
    return fma(x, y, y);
}

static double larger(double x, double y)
{
    return x > y ? x : y;
}

static double exclusive_or(double x, double y)
{
    return (double)((uint32_t)x ^ (uint32_t)y);
}

static double multiply_low(double x, double y)
{
    return (double)(uint32_t)((uint64_t)x * (uint64_t)y);
}

static double reciprocal(double x, double y)
{
    (void)y;
    return 1 / x;
}

/* Start values for which every step is exact. */
static const chain chains[] = {
    { "v_add_f32", 'f', 1, 2, add },
    { "v_mul_f32", 'f', 3, -1, multiply },
    { "v_fma_f32", 'f', 5, -1, fused },
    { "v_fma_f64", 'd', 0.5, 0.5, fused },
    { "v_max_u32", 'u', 7, 9, larger },
    { "v_xor_b32", 'u', 4042322160.0, 305419896.0, exclusive_or },
    { "v_mul_lo_u32", 'u', 12345, 1664525, multiply_low },
    { "v_rcp_f32", 'f', 4, 0, reciprocal },
    { "s_add_u32", 'u', 1, 3, add },
    { "s_mul_i32", 'u', 12345, 22695477, multiply_low },
};

static size_t put(const chain *c, void *at, double value)
{
    const float as_float = (float)value;
    const uint32_t as_uint = c->type == 'u' ? (uint32_t)value : 0;
    const size_t bytes = c->type == 'd' ? 8 : 4;
    memcpy(at,
           c->type == 'd'   ? (const void *)&value
           : c->type == 'f' ? (const void *)&as_float
                            : &as_uint,
           bytes);
    return bytes;
}

static void run_alu(wl_run *r)
{
    const uint32_t count = wl_u32(r, "size"), groups = wl_u32(r, "groups"), type = wl_u32(r, "type");
    const uint32_t repeats = wl_u32(r, "repeats");
    if (count & (count - 1))
        wl_fail(r, LS_ERR_USAGE, "micro_alu: size must be a power of two, not %u", count);
    const chain *c = &chains[type < LS_COUNT_OF(chains) ? type : 0];
    const uint32_t items = groups * 64;
    uint8_t *data = wl_zeros(r, 2 + (size_t)items, 8);
    if (wl_failed(r))
        return;
    const size_t element = put(c, data, c->x), bytes = (2 + (size_t)items) * element;
    put(c, data + element, c->y);
    char kernel[64];
    snprintf(kernel, sizeof kernel, "%s_%u", c->instruction, count);
    const ls_gpu_address d_data = wl_upload(r, data, bytes);
    wl_launch(r, kernel, WL_1D(items), WL_1D(64), WL_ARG(d_data), WL_ARG(repeats));
    wl_download(r, data, d_data, bytes);

    if (!wl_checking(r))
        return;
    double x = c->x;
    for (uint64_t i = 0; i < (uint64_t)count * repeats; i++)
        x = c->next(x, c->y);
    uint8_t expected[8];
    put(c, expected, x);
    for (size_t i = 0; i < items; i++)
        if (!wl_expect_bytes(r, c->instruction, data + (2 + i) * element, expected, element))
            return;
}

static const wl_option alu_options[] = {
    { "size", 128, 1, 1024, "instructions in a row, a power of two" },
    { "type", 0, 0, LS_COUNT_OF(chains) - 1,
      "which instruction: 0 v_add_f32, 1 v_mul_f32, 2 v_fma_f32, 3 v_fma_f64, 4 v_max_u32, "
      "5 v_xor_b32, 6 v_mul_lo_u32, 7 v_rcp_f32, 8 s_add_u32, 9 s_mul_i32" },
    { "groups", 1, 1, 1u << 16, "work-groups of 64" },
    { "repeats", 1, 1, 1u << 20, "rounds over the row: from the second on its code is in the cache" },
};
static const wl_workload micro_alu = { .name = "micro_alu",
                                       .summary = "one instruction, many times in a row",
                                       .source = SOURCE,
                                       WL_OPTIONS(alu_options),
                                       .run = run_alu,
                                       .is_micro = true };
WL_REGISTER(micro_alu);

/* -------------------------------------------------------------------------------------------------- loads */

static void run_load(wl_run *r)
{
    const uint32_t loads = wl_u32(r, "size"), items = wl_u32(r, "items");
    const uint32_t stride_words = wl_u32(r, "stride") / 4, region_words = wl_u32(r, "region") / 4;
    if (stride_words > region_words)
        wl_fail(r, LS_ERR_USAGE, "the stride of %u bytes is larger than the region of %u", stride_words * 4,
                region_words * 4);
    const uint32_t group = items < 64 ? items : 64, total = wl_round_up(items, group);
    const uint32_t *data = wl_random_u32(r, region_words, 0);
    uint32_t *out = wl_zeros(r, total, sizeof *out);
    const ls_gpu_address d_data = wl_upload(r, data, region_words * sizeof *data);
    const ls_gpu_address d_out = wl_buffer(r, total * sizeof *out);
    wl_launch(r, "micro_load", WL_1D(total), WL_1D(group), WL_ARG(d_data), WL_ARG(d_out), WL_ARG(loads),
              WL_ARG(stride_words), WL_ARG(region_words));
    wl_download(r, out, d_out, total * sizeof *out);

    if (!wl_checking(r))
        return;
    uint32_t sum = 0;
    for (uint64_t i = 0, at = 0; i < loads; i++) {
        sum += data[at];
        at += stride_words;
        at = at >= region_words ? at - region_words : at;
    }
    for (uint32_t i = 0; i < total; i++)
        if (!wl_expect_u32(r, "out", i, out[i], sum))
            return;
}

#define ITEMS                                                                                                 \
    {                                                                                                         \
        "items", 1, 1, 1u << 20, "work-items, which all read the same"                                        \
    }
static const wl_option l1_options[] = {
    { "size", 1024, 1, 1u << 30, "loads" },
    { "stride", 0, 0, 1u << 20, "bytes from one load to the next" },
    { "region", 64, 4, 1u << 30, "bytes after which it starts again" },
    ITEMS,
};
static const wl_option l2_options[] = {
    { "size", 32768, 1, 1u << 30, "loads; twice the lines of the region: the second sweep hits" },
    { "stride", 64, 0, 1u << 20, "bytes from one load to the next" },
    { "region", 1u << 20, 4, 1u << 30, "bytes after which it starts again" },
    ITEMS,
};
static const wl_option dram_options[] = {
    { "size", 4096, 1, 1u << 30, "loads" },
    { "stride", 64, 0, 1u << 20, "bytes from one load to the next" },
    { "region", 64u << 20, 4, 1u << 30, "bytes after which it starts again" },
    ITEMS,
};
static const wl_workload micro_l1 = { .name = "micro_l1",
                                      .summary =
                                          "latency of the first-level cache: the same word again and again",
                                      .source = SOURCE,
                                      WL_OPTIONS(l1_options),
                                      .run = run_load,
                                      .kernels = "micro_load",
                                      .is_micro = true };
static const wl_workload micro_l2 = { .name = "micro_l2",
                                      .summary = "latency of the second-level cache: two sweeps over 1 MiB",
                                      .source = SOURCE,
                                      WL_OPTIONS(l2_options),
                                      .run = run_load,
                                      .kernels = "micro_load",
                                      .is_micro = true };
static const wl_workload micro_dram = { .name = "micro_dram",
                                        .summary = "latency of DRAM: a new line with each load",
                                        .source = SOURCE,
                                        WL_OPTIONS(dram_options),
                                        .run = run_load,
                                        .kernels = "micro_load",
                                        .is_micro = true };
WL_REGISTER(micro_l1);
WL_REGISTER(micro_l2);
WL_REGISTER(micro_dram);

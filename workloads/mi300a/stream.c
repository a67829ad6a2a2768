/* stream.c: vectoradd, relu and the three copies of the MI300A suite. */
#include "workloads/mi300a/suite.h"

#define GROUP 256u
#define STREAM_SUITE                                                                                          \
    .source = "measured on an MI300A: the same algorithm, geometry and timed region", .suite = "mi300a",      \
    .kernels = "mi300a_stream"

typedef struct stream {
    ls_gpu_address a, b, c;
    uint32_t count;
    const void *host;
    void *host_to;
    size_t bytes;
} stream;

/* ---------------------------------------------------------------------------------------------- vectoradd */

static void add_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    stream *s = self;
    const int32_t width = (int32_t)s->count, height = 1;
    wl_launch_groups(r, suite_groups(first, units), "vectoradd", WL_1D(wl_round_up(s->count, GROUP)),
                     WL_1D(GROUP), WL_ARG(s->a), WL_ARG(s->b), WL_ARG(s->c), WL_ARG(width), WL_ARG(height));
}

static void run_vectoradd(wl_run *r)
{
    stream s = { .count = wl_u32(r, "size") };
    const suite_bench bench = { .region = add_region,
                                .self = &s,
                                .units = wl_round_up(s.count, GROUP) / GROUP,
                                .instructions = suite_waves(GROUP, 16),
                                .bytes = 12 * (uint64_t)s.count };
    const bool sampled = suite_is_sampled(r, &bench);
    const size_t filled = sampled ? 0 : s.count, bytes = (size_t)s.count * sizeof(float);
    float *b = wl_zeros(r, filled, sizeof *b), *c = wl_zeros(r, filled, sizeof *c);
    for (size_t i = 0; b && c && i < filled; i++) {
        b[i] = (float)i;
        c[i] = 100.0f * (float)i;
    }
    s.a = wl_buffer(r, bytes);
    s.b = wl_buffer(r, bytes);
    s.c = wl_buffer(r, bytes);
    wl_preset(r, s.b, b, filled * sizeof *b);
    wl_preset(r, s.c, c, filled * sizeof *c);
    suite_time(r, &bench);
    if (!wl_checking(r) || sampled)
        return;
    float *a = wl_zeros(r, s.count, sizeof *a);
    suite_output(r, a, s.a, bytes);
    for (size_t i = 0; a && i < s.count; i++)
        if (!wl_expect_f32(r, "a", i, a[i], (float)i + 100.0f * (float)i, 0))
            return;
}

static const wl_option add_options[] = { { "size", 65536, 1, 1u << 30, "elements" }, SUITE_LIMIT };
static const wl_workload mi300a_vectoradd = { .name = "mi300a_vectoradd",
                                              .summary = "sum of two vectors, as measured on an MI300A",
                                              STREAM_SUITE,
                                              WL_OPTIONS(add_options),
                                              .run = run_vectoradd };
WL_REGISTER(mi300a_vectoradd);

/* --------------------------------------------------------------------------------------------------- relu */

static void relu_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    stream *s = self;
    const int32_t count = (int32_t)s->count;
    wl_launch_groups(r, suite_groups(first, units), "relu", WL_1D(wl_round_up(s->count, GROUP)), WL_1D(GROUP),
                     WL_ARG(s->b), WL_ARG(s->a), WL_ARG(count));
}

static void run_relu(wl_run *r)
{
    stream s = { .count = wl_u32(r, "size") };
    const suite_bench bench = { .region = relu_region,
                                .self = &s,
                                .units = wl_round_up(s.count, GROUP) / GROUP,
                                .instructions = suite_waves(GROUP, 14),
                                .bytes = 8 * (uint64_t)s.count };
    const bool sampled = suite_is_sampled(r, &bench);
    const size_t filled = sampled ? 0 : s.count, bytes = (size_t)s.count * sizeof(float);
    float *in = wl_random_f32(r, filled, -10, 10);
    s.a = wl_buffer(r, bytes);
    s.b = wl_buffer(r, bytes);
    wl_preset(r, s.b, in, filled * sizeof *in);
    suite_time(r, &bench);
    if (!wl_checking(r) || sampled)
        return;
    float *out = wl_zeros(r, s.count, sizeof *out);
    suite_output(r, out, s.a, bytes);
    for (size_t i = 0; out && i < s.count; i++)
        if (!wl_expect_f32(r, "out", i, out[i], in[i] > 0 ? in[i] : 0, 0))
            return;
}

static const wl_option relu_options[] = { { "size", 65536, 1, 1u << 30, "elements" }, SUITE_LIMIT };
static const wl_workload mi300a_relu = { .name = "mi300a_relu",
                                         .summary = "rectified linear unit, as measured on an MI300A",
                                         STREAM_SUITE,
                                         WL_OPTIONS(relu_options),
                                         .run = run_relu };
WL_REGISTER(mi300a_relu);

/* ------------------------------------------------------------------------------------------------- copies */

/* Pieces of a copy are as large as the units say. */
#define UNIT_BYTES 65536u

static size_t part_bytes(const stream *s, uint64_t units)
{
    const size_t bytes = (size_t)units * UNIT_BYTES;
    return bytes < s->bytes ? bytes : s->bytes;
}

static void in_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    stream *s = self;
    (void)first;
    wl_write(r, s->a, s->host, part_bytes(s, units));
}

static void out_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    stream *s = self;
    (void)first;
    wl_download(r, s->host_to, s->a, part_bytes(s, units));
}

static void on_gpu_region(wl_run *r, void *self, uint64_t first, uint64_t units)
{
    stream *s = self;
    (void)first;
    suite_copy(r, s->a, s->b, part_bytes(s, units));
}

typedef enum direction { IN, OUT, ON_GPU } direction;

/* A copy moves lines, not instructions: as many as a kernel would need that copies 16 bytes per lane, or one line per
 * instruction for those of the DMA engine. */
static void run_copy(wl_run *r, direction way)
{
    static void (*const regions[])(wl_run * r, void *self, uint64_t first,
                                   uint64_t units) = { in_region, out_region, on_gpu_region };
    stream s = { .bytes = (size_t)wl_u64(r, "size") / 16 * 16 };
    const suite_bench bench = { .region = regions[way],
                                .self = &s,
                                .units = (s.bytes + UNIT_BYTES - 1) / UNIT_BYTES,
                                .instructions = way == ON_GPU ? UNIT_BYTES / 1024.0 * 8 : UNIT_BYTES / 128.0,
                                .least = way == ON_GPU ? (300u << 20) / UNIT_BYTES : 0 };
    const bool sampled = suite_is_sampled(r, &bench);
    uint8_t *data = wl_zeros(r, s.bytes, 1);
    if (!data)
        return;
    for (size_t i = 0; i < s.bytes && !sampled; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    s.a = wl_buffer(r, s.bytes);
    if (way == IN) {
        s.host = data;
    } else {
        s.b = way == ON_GPU ? wl_buffer(r, s.bytes) : s.a;
        wl_preset(r, s.b, data, sampled ? 0 : s.bytes);
        s.host_to = way == OUT ? wl_zeros(r, s.bytes, 1) : NULL;
    }
    suite_time(r, &bench);
    if (!wl_checking(r) || sampled)
        return;
    if (way != OUT) {
        s.host_to = wl_zeros(r, s.bytes, 1);
        suite_output(r, s.host_to, s.a, s.bytes);
    }
    (void)wl_expect_bytes(r, "bytes", s.host_to, data, s.bytes);
}

#define COPY(name_, way_, summary_)                                                                           \
    static void run_##name_(wl_run *r)                                                                        \
    {                                                                                                         \
        run_copy(r, way_);                                                                                    \
    }                                                                                                         \
    static const wl_option name_##_options[] = { { "size", 1u << 20, 16, 0, "bytes" }, SUITE_LIMIT };         \
    static const wl_workload mi300a_##name_ = { .name = "mi300a_" #name_,                                     \
                                                .summary = summary_,                                          \
                                                STREAM_SUITE,                                                 \
                                                WL_OPTIONS(name_##_options),                                  \
                                                .run = run_##name_ };                                         \
    WL_REGISTER(mi300a_##name_)
COPY(memcopy_h2d, IN, "copy from the host, as measured on an MI300A");
COPY(memcopy_d2h, OUT, "copy to the host, as measured on an MI300A");
COPY(memcopy_d2d, ON_GPU, "copy inside the GPU by HIP's kernel, as measured on an MI300A");

/* test_launch.c: kernels' view of a launch: arguments, sizes, local memory, variables; on every target and
 * version. */
#include "runtime/driver/driver_test.h"

static const struct compiled {
    const char *target;
    unsigned version;
} all[] = {
    { "gfx803", 2 },  { "gfx803", 3 },  { "gfx803", 4 },  { "gfx803", 5 },  { "gfx1010", 3 },
    { "gfx1010", 4 }, { "gfx1010", 5 }, { "gfx1030", 4 }, { "gfx1030", 5 },
};

static void increments(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(all); i++) {
        bench b = bench_open(all[i].target, all[i].version, NULL);
        uint32_t values[1000], count = 999;
        ls_gpu_address p = bench_buffer(&b, sizeof values);
        const ls_gpu_arg args[] = { LS_GPU_ARG(p), LS_GPU_ARG(count) };
        const ls_gpu_launch launch = { .grid = { 1000 }, .group = { 64 }, .args = args, .arg_count = 2 };
        ls_gpu_counts counts;
        for (uint32_t n = 0; n < 1000; n++)
            values[n] = n * 3;
        OK(ls_gpu_copy_in(b.context, p, values, sizeof values, &err));
        OK(ls_gpu_run(b.context, bench_kernel(&b, "increment"), &launch, &err));
        OK(ls_gpu_copy_out(b.context, values, p, sizeof values, &err));
        for (uint32_t n = 0; n < 1000; n++)
            assert_int_equal(values[n], n * 3 + (n < 999));
        ls_gpu_context_counts(b.context, &counts);
        assert_int_equal(counts.launches, 1);
        assert_int_equal(counts.work_groups, 16);
        assert_int_equal(counts.wavefronts, strcmp(all[i].target, "gfx803") == 0 ? 16 : 32);
        assert_int_equal(counts.stores, 999);
        assert_int_equal(counts.store_bytes, 999 * 4);
        bench_close(&b);
    }
}

/* Each launch's own counts, not the context's sum; also of a launch that fails. */
static void counts_of_a_launch(void **state)
{
    bench b = bench_open("gfx1010", 4, NULL);
    uint32_t count = 100;
    ls_gpu_address p = bench_buffer(&b, 400), wrong = 0x10;
    ls_gpu_arg args[] = { LS_GPU_ARG(p), LS_GPU_ARG(count) };
    const ls_gpu_launch launch = { .grid = { 128 }, .group = { 64 }, .args = args, .arg_count = 2 };
    ls_gpu_kernel *kernel = bench_kernel(&b, "increment");
    ls_gpu_counts first, second;
    (void)state;
    OK(ls_gpu_run_counted(b.context, kernel, &launch, &first, &err));
    OK(ls_gpu_run_counted(b.context, kernel, &launch, &second, &err));
    assert_int_equal(second.launches, 1);
    assert_int_equal(second.work_groups, 2);
    assert_int_equal(second.stores, 100);
    assert_int_equal(second.instructions, first.instructions);
    args[0] = LS_GPU_ARG(wrong);
    assert_int_not_equal(ls_gpu_run_counted(b.context, kernel, &launch, &second, NULL), LS_OK);
    assert_int_equal(second.stores, 0);
    bench_close(&b);
}

/* The client lays out everything itself: hidden arguments are not filled in. */
static void complete_arguments(void **state)
{
    bench b = bench_open("gfx1030", 5, NULL);
    uint32_t values[64] = { 0 };
    ls_gpu_kernel *kernel = bench_kernel(&b, "increment");
    const uint32_t bytes = ls_gpu_kernel_complete_bytes(kernel);
    uint8_t block[1024] = { 0 };
    ls_gpu_address p = bench_buffer(&b, sizeof values);
    ls_gpu_launch launch = { .grid = { 64 }, .group = { 64 }, .complete = block, .complete_bytes = bytes };
    (void)state;
    assert_in_range(bytes, 64, sizeof block);
    assert_int_not_equal(ls_gpu_kernel_address(kernel), 0);
    memcpy(block, &p, sizeof p);
    memcpy(block + 8, &(uint32_t){ 64 }, 4);
    memcpy(block + 16 + 12, &(uint16_t){ 64 }, 2); /* the hidden size of a work-group */
    OK(ls_gpu_run(b.context, kernel, &launch, &err));
    OK(ls_gpu_copy_out(b.context, values, p, sizeof values, &err));
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(values[i], 1);
    launch.complete_bytes = bytes - 1;
    assert_int_equal(ls_gpu_run(b.context, kernel, &launch, &err), LS_ERR_USAGE);
    assert_non_null(strstr(err.what, "hidden ones included"));
    launch.complete_bytes = bytes;
    launch.packed = block;
    assert_int_equal(ls_gpu_run(b.context, kernel, &launch, &err), LS_ERR_USAGE);
    bench_close(&b);
}

static void sizes_and_offsets(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(all); i++) {
        bench b = bench_open(all[i].target, all[i].version, NULL);
        uint64_t out[22];
        ls_gpu_address p = bench_buffer(&b, sizeof out);
        const ls_gpu_launch launch = { .grid = { 20, 6, 3 },
                                       .group = { 8, 4, 2 },
                                       .offset = { 100, 1000, ((uint64_t)1 << 33) },
                                       .packed = &p,
                                       .packed_bytes = sizeof p };
        const uint64_t want[22] = {
            3, 20, 6, 3, 4, 2, 1, 8, 4, 2, 3, 2, 2, 100, 1000, 0, 119, 1005, 0, 2, 1, 1
        };
        OK(ls_gpu_run(b.context, bench_kernel(&b, "sizes"), &launch, &err));
        OK(ls_gpu_copy_out(b.context, out, p, sizeof out, &err));
        for (size_t n = 0; n < LS_COUNT_OF(out); n++) {
            uint64_t expected = want[n] + (n == 15   ? (uint64_t)1 << 33
                                           : n == 18 ? ((uint64_t)1 << 33) + 2
                                                     : 0);
            if (out[n] != expected)
                fail_msg("%s v%u: value %zu is %llu, not %llu", all[i].target, all[i].version, n,
                         (unsigned long long)out[n], (unsigned long long)expected);
        }
        bench_close(&b);
    }
}

static void values_of_all_types(void **state)
{
    struct mixed {
        int32_t a;
        double d;
        int8_t c;
    } m = { -9, 2.25, -3 };
    int8_t c = -1;
    int16_t s = -300;
    int32_t n = 70000;
    int64_t l = -5000000000;
    float f = 1.5f, v[4] = { 1, 2, 3, 4 };
    double d = -0.125;
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(all); i++) {
        bench b = bench_open(all[i].target, all[i].version, NULL);
        double out[10];
        ls_gpu_address p = bench_buffer(&b, sizeof out);
        const ls_gpu_arg args[] = { LS_GPU_ARG(p), LS_GPU_ARG(c), LS_GPU_ARG(s), LS_GPU_ARG(n), LS_GPU_ARG(l),
                                    LS_GPU_ARG(f), LS_GPU_ARG(d), LS_GPU_ARG(v), LS_GPU_ARG(m) };
        const double want[10] = { -1, -300, 70000, -5000000000.0, 1.5, -0.125, 4321, -9, 2.25, -3 };
        OK(ls_gpu_run(b.context, bench_kernel(&b, "values"),
                      &(ls_gpu_launch){
                          .grid = { 1 }, .group = { 1 }, .args = args, .arg_count = LS_COUNT_OF(args) },
                      &err));
        OK(ls_gpu_copy_out(b.context, out, p, sizeof out, &err));
        assert_memory_equal(out, want, sizeof out);
        bench_close(&b);
    }
}

static void local_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(all); i++) {
        bench b = bench_open(all[i].target, all[i].version, NULL);
        uint32_t in[64], out[64];
        ls_gpu_address pin = bench_buffer(&b, sizeof in), pout = bench_buffer(&b, sizeof out);
        const ls_gpu_arg args[] = { LS_GPU_ARG(pin), LS_GPU_ARG(pout), LS_GPU_LOCAL(65 * 4),
                                    LS_GPU_LOCAL(64 * 8) };
        struct {
            ls_gpu_address in, out;
            uint32_t a, b;
        } packed = { pin, pout, 65 * 4, 64 * 8 };
        const ls_gpu_launch launches[] = {
            { .grid = { 64 }, .group = { 64 }, .args = args, .arg_count = 4 },
            { .grid = { 64 }, .group = { 64 }, .packed = &packed, .packed_bytes = sizeof packed },
        };
        for (uint32_t n = 0; n < 64; n++)
            in[n] = n * n;
        OK(ls_gpu_copy_in(b.context, pin, in, sizeof in, &err));
        for (size_t way = 0; way < 2; way++) {
            OK(ls_gpu_fill(b.context, pout, "\0", 1, sizeof out, &err));
            OK(ls_gpu_run(b.context, bench_kernel(&b, "locals"), &launches[way], &err));
            OK(ls_gpu_copy_out(b.context, out, pout, sizeof out, &err));
            for (uint32_t n = 0; n < 64; n++)
                assert_int_equal(out[n], 3 * in[63 - n] + 1001000);
        }
        bench_close(&b);
    }
}

static void variables(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(all); i++) {
        bench b = bench_open(all[i].target, all[i].version, NULL);
        uint32_t out[2], counter = 0;
        uint64_t bytes;
        ls_gpu_address p = bench_buffer(&b, sizeof out), variable, table;
        const ls_gpu_launch launch = { .grid = { 1 }, .group = { 1 }, .packed = &p, .packed_bytes = sizeof p };
        OK(ls_gpu_run(b.context, bench_kernel(&b, "globals"), &launch, &err));
        OK(ls_gpu_copy_out(b.context, out, p, sizeof out, &err));
        assert_int_equal(out[0], 11);
        assert_int_equal(out[1], 7);
        OK(ls_gpu_module_variable(b.module, "counter", &variable, &bytes, &err));
        assert_int_equal(bytes, 4);
        OK(ls_gpu_copy_out(b.context, &counter, variable, 4, &err));
        assert_int_equal(counter, 12);
        counter = 100;
        OK(ls_gpu_copy_in(b.context, variable, &counter, 4, &err));
        OK(ls_gpu_run(b.context, bench_kernel(&b, "globals"), &launch, &err));
        OK(ls_gpu_copy_out(b.context, out, p, sizeof out, &err));
        assert_int_equal(out[1], 100);
        OK(ls_gpu_module_variable(b.module, "table", &table, &bytes, &err));
        assert_int_equal(bytes, 16);
        assert_int_equal(ls_gpu_module_variable_bytes(b.module),
                         4 + 8); /* counter and its address; the table is constant */
        REFUSED(ls_gpu_module_variable(b.module, "tabel", &table, &bytes, &err), LS_ERR_USAGE,
                "no variable 'tabel'");
        assert_string_equal(err.nearest, "table");
        bench_close(&b);
    }
}

/* The same result and the same counts for any number of threads. */
static void threads(void **state)
{
    ls_gpu_counts first = { 0 };
    (void)state;
    for (uint32_t n = 1; n <= 8; n += n == 1 ? 1 : 6) {
        bench b = bench_open("gfx1010", 5, &(ls_gpu_options){ .threads = n });
        uint32_t total = 0, count = 4096;
        ls_gpu_address p = bench_buffer(&b, 16384), sum = bench_buffer(&b, 4);
        const ls_gpu_arg args[] = { LS_GPU_ARG(p), LS_GPU_ARG(count) };
        ls_gpu_counts counts;
        OK(ls_gpu_run(b.context, bench_kernel(&b, "increment"),
                      &(ls_gpu_launch){ .grid = { 4096 }, .group = { 128 }, .args = args, .arg_count = 2 },
                      &err));
        OK(ls_gpu_run(b.context, bench_kernel(&b, "required"),
                      &(ls_gpu_launch){
                          .grid = { 320, 20 }, .group = { 32, 2 }, .packed = &sum, .packed_bytes = 8 },
                      &err));
        OK(ls_gpu_copy_out(b.context, &total, sum, 4, &err));
        assert_int_equal(total, 6400);
        ls_gpu_context_counts(b.context, &counts);
        counts.host_ns = 0;
        if (n == 1)
            first = counts;
        assert_memory_equal(&counts, &first, sizeof counts);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(increments),          cmocka_unit_test(sizes_and_offsets),
        cmocka_unit_test(values_of_all_types), cmocka_unit_test(local_memory),
        cmocka_unit_test(variables),           cmocka_unit_test(threads),
        cmocka_unit_test(counts_of_a_launch),  cmocka_unit_test(complete_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

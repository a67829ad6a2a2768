/* test_share.c: blocks that borrow from others say the same as blocks that were read: of every generator, in
 * shapes with and without edges, and of files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "temp_dir.h"
#include "trace_tools.h"
#include "workload/share.h"

/* Reads a trace both ways, with several blocks at a time, as a machine has them. */
static share_counts compare(const char *path)
{
    sass_trace *a = open_trace(path), *b = open_trace(path);
    ls_cta plain = { 0 }, shared[3];
    memset(shared, 0, sizeof shared);
    share_counts sum = { 0 };
    for (uint64_t command = 0; command < trace_command_count(a); command++) {
        if (trace_command_at(a, command)->kind != LS_COMMAND_KERNEL)
            continue;
        trace_kernel *ka, *kb;
        shared_streams *share;
        assert_ok(trace_open_kernel(a, command, &ka, err));
        assert_ok(trace_open_kernel(b, command, &kb, err));
        assert_ok(share_create(kb, &share, err));
        for (uint64_t i = 0;; i++) {
            bool end_a = false, end_b = false;
            ls_cta *cta = &shared[i % 3];
            assert_ok(kernel_next_cta(ka, &plain, &end_a, err));
            assert_ok(share_next(share, cta, &end_b, err));
            assert_int_equal(end_a, end_b);
            if (end_a)
                break;
            assert_int_equal(plain.dyn_count, cta->dyn_count);
            assert_int_equal(plain.addr_count, cta->addr_count);
            compare_cta(ka, &plain, kb, cta);
        }
        share_counts n = share_count(share);
        sum.blocks += n.blocks;
        sum.read += n.read;
        sum.borrowed += n.borrowed;
        share_destroy(share);
        kernel_close(ka);
        kernel_close(kb);
    }
    ls_cta_fini(&plain);
    for (size_t i = 0; i < 3; i++)
        ls_cta_fini(&shared[i]);
    trace_close(a);
    trace_close(b);
    return sum;
}

/* made: blocks that have to be generated: the first of each shape, and one for each axis along which it is
 * repeated. */
static const struct {
    const char *text;
    uint64_t blocks, made;
} cases[] = {
    { "synth:gemm,m=192,n=256,k=48", 12, 3 },
    { "synth:gemm,m=64,n=192,k=64,tile=32,tile_k=32", 12, 3 },
    { "synth:gemm-tensor,m=256,n=384,k=96", 6, 3 },
    { "synth:gemm-tensor,m=256,n=256,k=64,binary_version=75", 4, 3 },
    { "synth:transpose,n=128,mode=naive", 16, 3 },
    { "synth:transpose,n=96", 9, 3 },
    /* Corners are alone, edges repeat along one axis, the inside along two. */
    { "synth:stencil,nx=160,ny=48,steps=2", 60, 2 * (4 + 4 * 2 + 3) },
    { "synth:stencil,nx=32,ny=8", 1, 1 },
    { "synth:vector-add,n=1024,block=128", 8, 2 },
    { "synth:vector-add,n=1000,block=128", 8, 3 },
    { "synth:saxpy,n=777,block=64", 13, 3 },
    { "synth:reduction,n=8192,ctas=8,block=64", 9, 3 },
    { "synth:reduction,n=8193,ctas=8,block=64", 9, 9 },
    { "synth:bandwidth,ctas=8,block=64,footprint_kib=64,mode=copy,passes=2", 8, 2 },
    { "synth:bandwidth,ctas=8,block=64,footprint_kib=64,passes=3,shift=2", 8, 8 },
    { "synth:shared-conflict,ctas=4", 4, 2 },
    { "synth:atomics,ctas=4", 4, 2 },
    { "synth:atomics,ctas=4,target=warp", 4, 2 },
    { "synth:barrier-storm,ctas=5,barriers=3", 5, 2 },
    { "synth:gather,n=512,block=64", 8, 8 },
    { "synth:graph-walk,nodes=256", 0, 0 },
    { "synth:pointer-chase", 0, 0 },
    { "synth:chain", 0, 0 },
    { "synth:throughput", 0, 0 },
};

static void test_generators(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        share_counts n = compare(cases[i].text);
        if (cases[i].blocks == 0)
            continue;
        if (n.blocks != cases[i].blocks || n.read != cases[i].made)
            fail_msg("%s: %llu of %llu blocks made", cases[i].text, (unsigned long long)n.read,
                     (unsigned long long)n.blocks);
    }
}

/* Large blocks of a file are found to be alike without anybody saying so. */
static void test_packed(void **state)
{
    (void)state;
    pack_trace("synth:gemm,m=128,n=192,k=64", "gemm.lspk");
    share_counts n = compare("gemm.lspk");
    assert_int_equal(n.blocks, 6);
    assert_int_equal(n.read, 6);
    assert_int_equal(n.borrowed, 5);
}

static void test_real(void **state)
{
    static const char *const names[] = { "attention-prefill-sm80-v5", "matrixmul-sm61-v4",
                                         "torch-helpers-sm80-v5" };
    (void)state;
    if (access(TRACES, R_OK) != 0) {
        print_message("no shared traces\n");
        skip();
    }
    for (size_t i = 0; i < LS_COUNT_OF(names); i++) {
        char path[512];
        snprintf(path, sizeof path, TRACES "/%s", names[i]);
        share_counts n = compare(path);
        assert_int_equal(n.read, n.blocks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_generators), cmocka_unit_test(test_packed),
                                        cmocka_unit_test(test_real) };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}

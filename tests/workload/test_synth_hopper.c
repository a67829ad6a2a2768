/* test_synth_hopper.c: generators for Hopper. Their executions equal their closed forms; on every mbarrier arrivals and bytes
 * of each phase equal its counts, and every wait is for a phase that ends; text, packed file and .tracez say the same. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "temp_dir.h"
#include "trace_tools.h"
#include "workload/share.h"
#include "synth_counter.h"
#include "synth_phases.h"

#include <inttypes.h>

static const char *const samples[] = {
    "bulk-copy,bytes=1024,copies=3,ctas=5",
    "cluster-chase,blocks=4,rank=3,loads=5,barriers=2,warps=3",
    "bulk-copy,bytes=2048,copies=4,ctas=3,warps=4,dimensions=2,row_bytes=64,footprint_kib=8",
    "gemm-hopper,m=128,n=128,k=64",
    "gemm-hopper,m=256,n=256,k=512,stages=3",
    "gemm-hopper,m=256,n=512,k=256,tile_n=256,cluster_m=2",
    "gemm-hopper,m=512,n=256,k=320,cluster_m=2,cluster_n=2,stages=2,type=bf16",
    "gemm-hopper,m=512,n=256,k=256,cluster_m=4,multicast=false,type=fp8",
    "gemm-hopper,m=640,n=384,k=128,blocks_m=2,blocks_n=2,type=tf32",
    "gemm-hopper,m=512,n=256,k=256,tile_m=64,tile_n=64,consumers=1,blocks_m=4,blocks_n=2,cluster_n=2,type=int8",
    "gemm-hopper,m=384,n=128,k=192,tile_m=192,consumers=3",
    "gemm-hopper,m=256,n=128,k=192,tile_m=256,tile_n=128,stages=2,repeat=2",
    "attention-hopper,heads=2,queries=256,keys=384",
    "attention-hopper,heads=1,queries=128,keys=128,dim=64,stages=3",
    "gemm-hopper,m=256,n=256,k=448,splits=3",
    "gemm-hopper,m=256,n=384,k=320,stream_blocks=5",
    "gemm-hopper,m=128,n=128,k=1024,stream_blocks=7,stages=2",
    "grid-all-reduce,ctas=5,block=64,loads=3,rounds=2",
    "grid-all-reduce,ctas=40,block=32,loads=1",
};

static void test_facts(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(samples); i++)
        check_facts(samples[i]);
}

/* Runs the operations of all blocks of a cluster on a model of mbarriers without time: warps go on as long as their waits
 * are over. All must end, and no mbarrier may be left within a phase. */
static void test_phases(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(samples); i++)
        check_phases(samples[i]);
}

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(samples); i += 2) {
        char path[160], text[32], packed[32], pages[32], again[32];
        snprintf(path, sizeof path, "synth:%s", samples[i]);
        snprintf(text, sizeof text, "text-%zu", i);
        snprintf(packed, sizeof packed, "h-%zu.lspk", i);
        snprintf(pages, sizeof pages, "pages-%zu", i);
        snprintf(again, sizeof again, "again-%zu", i);
        unpack_trace(path, text, LS_COMPRESS_NONE);
        compare_traces(path, text);
        pack_trace(text, packed); /* from its text: byte for byte */
        compare_traces(path, packed);
        unpack_trace(path, pages, LS_COMPRESS_TRACEZ);
        compare_traces(path, pages);
        unpack_trace(pages, again, LS_COMPRESS_NONE);
        char one[64], two[64];
        snprintf(one, sizeof one, "%s/kernel-1.traceg", text);
        snprintf(two, sizeof two, "%s/kernel-1.traceg", again);
        compare_files(one, two);
    }
}

/* Blocks of equal place in their clusters are moved copies of each other. */
static void test_shared(void **state)
{
    (void)state;
    sass_trace *trace = NULL;
    trace_kernel *kernel = NULL, *plain = NULL;
    shared_streams *share = NULL;
    const trace_options options = { .drop_values = true };
    ls_cta cta = { 0 }, own = { 0 };
    bool end = false;
    assert_ok(synth_open("gemm-hopper,m=1024,n=1024,k=128,blocks_m=4,blocks_n=8,cluster_m=2", &options, &trace,
                         err));
    assert_ok(trace_open_kernel(trace, 2, &kernel, err));
    assert_ok(trace_open_kernel(trace, 2, &plain, err));
    assert_ok(share_create(kernel, &share, err));
    for (uint32_t i = 0; i < 32; i++) {
        assert_ok(share_next(share, &cta, &end, err));
        assert_false(end);
        assert_ok(kernel_next_cta(plain, &own, &end, err));
        assert_true(cta.in_cluster);
        assert_int_equal(cta.cluster_rank, i % 2);
        assert_memory_equal(cta.cluster, own.cluster, sizeof own.cluster);
        assert_int_equal(cta.dyn_count, own.dyn_count);
        for (uint64_t d = 0; d < own.dyn_count; d++) {
            const uint64_t *mine = ls_cta_record(&own, &own.dyns[d]), *its = ls_cta_record(&cta, &cta.dyns[d]);
            uint32_t count, same;
            if (!(plain->insts[own.dyns[d].inst].flags & LS_INST_BULK) ||
                plain->insts[own.dyns[d].inst].bulk_op == LS_BULK_COMMIT)
                continue;
            const uint64_t *a = ls_cta_bulk_addresses(mine, &count), *b = ls_cta_bulk_addresses(its, &same);
            assert_int_equal(count, same);
            for (uint32_t k = 0; k < count; k++)
                assert_true(a[k] == b[k] + ls_cta_move(&cta, &cta.dyns[d]));
        }
    }
    assert_true(share_count(share).borrowed >= 26);
    share_destroy(share);
    kernel_close(kernel);
    kernel_close(plain);
    trace_close(trace);
    ls_cta_fini(&cta);
    ls_cta_fini(&own);
}

/* Registers that the warps of the first block have in the end; 0: the kernel never gives any out again. */
static uint64_t registers_at_end(const trace_kernel *kernel, const ls_cta *cta, uint32_t launched)
{
    uint64_t sum = 0;
    bool any = false;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        uint64_t registers = launched;
        for (uint32_t d = 0; d < cta->warps[w].count; d++) {
            const ls_inst *inst = &kernel->insts[cta->dyns[cta->warps[w].first + d].inst];
            if ((inst->flags & LS_INST_ASYNC_OP) == 0 || inst->async_op != LS_ASYNC_SET_REGISTERS)
                continue;
            registers = (uint64_t)inst->imm;
            any = true;
        }
        sum += registers * 32;
    }
    return any ? sum : 0;
}

/* A block gives out no more registers than it was launched with: else a warp would wait for ever. */
static void test_registers(void **state)
{
    static const char *const kernels[] = { "gemm-hopper,tile_m=64,consumers=1", "gemm-hopper,consumers=2",
                                           "gemm-hopper,m=384,tile_m=192,consumers=3", "attention-hopper" };
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(kernels); i++) {
        sass_trace *trace = NULL;
        trace_kernel *kernel = NULL;
        ls_cta cta = { 0 };
        bool end = false;
        uint64_t command = 0;
        assert_ok(synth_open(kernels[i], NULL, &trace, err));
        while (trace_command_at(trace, command)->kind != LS_COMMAND_KERNEL)
            command++;
        assert_ok(trace_open_kernel(trace, command, &kernel, err));
        assert_ok(kernel_next_cta(kernel, &cta, &end, err));
        const ls_kernel_info *info = kernel_get_info(kernel);
        const uint64_t launched = (uint64_t)info->registers * ls_kernel_threads(info);
        const uint64_t last = registers_at_end(kernel, &cta, info->registers);
        assert_true(last > 0 && last <= launched && launched <= 65536);
        kernel_close(kernel);
        trace_close(trace);
        ls_cta_fini(&cta);
    }
}

static void expect_error(const char *text, const char *what)
{
    sass_trace *trace;
    ls_error said;
    assert_int_equal(synth_open(text, NULL, &trace, &said), LS_ERR_USAGE);
    if (!strstr(said.what, what))
        fail_msg("%s: '%s'", text, said.what);
}

static void test_parameters(void **state)
{
    (void)state;
    expect_error("gemm-hopper,binary_version=80", "needs binary_version 90 and tracer_version 6");
    expect_error("gemm-hopper,tracer_version=5", "needs binary_version 90 and tracer_version 6");
    expect_error("gemm-hopper,m=192", "'m': 192 is not a multiple of 128");
    expect_error("gemm-hopper,tile_m=64", "'tile_m': 64 is not a multiple of 128");
    expect_error("gemm-hopper,k=96", "'k': 96 is not a multiple of 64");
    expect_error("gemm-hopper,m=384,cluster_m=2", "is not a multiple of 2");
    expect_error("gemm-hopper,blocks_m=8", "8 * 2 blocks for 2 * 2 tiles");
    expect_error("gemm-hopper,tile_m=256,tile_n=256", "registers for its sums");
    expect_error("gemm-hopper,tile_n=256,m=384,tile_m=192,consumers=3",
                 "128 registers for its sums: at most 120");
    expect_error("gemm-hopper,stages=9", "bytes of shared memory");
    expect_error("gemm-hopper,splits=2,cluster_m=2,m=512", "exclude each other");
    expect_error("gemm-hopper,splits=8", "fewer than its parts");
    expect_error("attention-hopper,stages=4", "bytes of shared memory");
    expect_error("attention-hopper,keys=200", "'keys': 200 is not a multiple of 128");
    expect_error("attention-hopper,binary_version=80", "needs binary_version 90");
    expect_error("grid-all-reduce,repeat=2", "cannot be repeated");
    expect_error("gemm-hopper,type=fp4", "'fp4' is none of its values");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),  cmocka_unit_test(test_phases),    cmocka_unit_test(test_files),
        cmocka_unit_test(test_shared), cmocka_unit_test(test_registers), cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}

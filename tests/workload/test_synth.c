/* test_synth.c: generated traces. Their execution equals their closed forms, for every kind and architecture.
 * Any thread block can be generated alone, and text and packed file have the same instructions. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "temp_dir.h"
#include "trace_tools.h"
#include "synth_counter.h"

#include <inttypes.h>

/* Small enough to count every byte, odd enough to reach every edge case. */
static const char *const samples[] = {
    "vector-add,n=1000",
    "application,kernels=13,kinds=12,blocks=2",
    "saxpy,n=100,thread_registers=99,block_shared_kib=10",
    "reduction,n=33,ctas=2,block=64,repeat=3",
    "throughput,count=8,lanes=5,warps=2,mix=LDG",
    "barrier-storm,barriers=5,work=3,slow=4,warps=3,ctas=2",
    "vector-add,n=1,block=32",
    "vector-add,n=4096,block=1024",
    "saxpy,n=777",
    "gemm,m=64,n=128,k=32",
    "gemm,m=32,n=64,k=64,tile=32,tile_k=32",
    "gemm,m=128,n=128,k=16,tile=128,tile_k=8",
    "reduction,n=10000,ctas=5",
    "reduction,n=33,ctas=2,block=64",
    "reduction,n=1,ctas=1,block=1024",
    "transpose,n=64,mode=naive",
    "transpose,n=64,mode=shared",
    "transpose,n=96",
    "stencil,nx=32,ny=8",
    "stencil,nx=64,ny=16,steps=3",
    "stencil,nx=128,ny=24,steps=2",
    "gather,n=1000,table_kib=64",
    "pointer-chase,footprint_kib=16,loads=100",
    "peer-copy,bytes=65536,ctas=4",
    "peer-copy,bytes=20480,with=0x7f0200000000,ctas=3,block=64,unroll=3",
    "pointer-chase,footprint_kib=4,loads=500,order=forward,lanes=32",
    "pointer-chase,footprint_kib=4,loads=64,warps=2,ctas=3,bypass_l1=true",
    "bandwidth,footprint_kib=64,ctas=2",
    "bandwidth,footprint_kib=10,ctas=2,mode=write,width_bytes=4,passes=2",
    "bandwidth,footprint_kib=64,ctas=3,mode=copy,width_bytes=8,unroll=3",
    "chain",
    "chain,op=LDG,lane_stride_bytes=8",
    "chain,op=LDG_DRAM,count=17",
    "chain,op=LDS128,lane_stride_bytes=16",
    "chain,op=LDL",
    "chain,op=BAR,warps=3",
    "throughput,op=FFMA,mix=IMAD,warps=8",
    "throughput,op=STG,step_bytes=128,warps=2,warp_step_bytes=65536",
    "throughput,op=ATOMG,lane_stride_bytes=0",
    "throughput,op=LDG,lane_stride_bytes=3,step_bytes=7,warp_step_bytes=9,warps=3",
    "shared-conflict",
    "shared-conflict,access=store,width_bytes=16,stride_bytes=32,count=11",
    "atomics",
    "atomics,target=warp,returns=true",
    "atomics,target=spread,count=3",
    "graph-walk,nodes=500,levels=4",
    "graph-walk,nodes=64,degree=1,levels=1,block=32",
    "barrier-storm,ctas=2",
    "barrier-storm,barriers=1,work=0,warps=1",
};

static void test_facts(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(samples); i++)
        check_facts(samples[i]);
    check_facts("gemm-tensor,m=128,n=256,k=96");
    check_facts("gemm-tensor,m=128,n=128,k=32,stages=5"); /* fewer slices than stages */
    check_facts("gemm-tensor,m=128,n=128,k=64,binary_version=75");
    check_facts("gemm-tensor,m=256,n=512,k=96,tile_n=256,stages=4");
    check_facts("gemm-tensor,m=128,n=256,k=32,tile_n=256,stages=2,binary_version=90");
}

static void test_facts_by_architecture(void **state)
{
    (void)state;
    static const char *const versions[] = { "61", "70", "75", "86", "90" };
    char text[160];
    for (size_t v = 0; v < LS_COUNT_OF(versions); v++)
        for (size_t i = 0; i < LS_COUNT_OF(samples); i++) {
            snprintf(text, sizeof text, "%s,binary_version=%s", samples[i], versions[v]);
            check_facts(text);
        }
}

/* The numbers of a case that can be counted by hand: 32 warps of 32 lanes, all inside. */
static void test_by_hand(void **state)
{
    (void)state;
    sass_trace *trace = NULL;
    synth_facts f;
    trace_kernel *kernel = NULL;
    assert_ok(synth_open("vector-add,n=1024", NULL, &trace, err));
    assert_true(synth_get_facts(trace, &f));
    assert_int_equal(f.ctas, 4);
    assert_int_equal(f.warps, 32);
    /* MOV, S2R, S2R, IMAD, ISETP, EXIT, ULDC, constant, two addresses, two loads, address, FADD, STG, EXIT */
    assert_int_equal(f.warp_insts, 32 * 16);
    assert_int_equal(f.thread_insts, 1024 * 15); /* the first EXIT has no lanes */
    assert_int_equal(f.load_sectors, 2 * 128);
    assert_int_equal(f.store_sectors, 128);
    assert_int_equal(f.global_bytes, 3 * 4096);
    assert_int_equal(trace_command_count(trace), 3);
    assert_string_equal(trace_command_at(trace, 0)->text, "MemcpyHtoD,0x00007f0000000000,4096");
    assert_ok(trace_open_kernel(trace, 2, &kernel, err));
    assert_int_equal(kernel->inst_count, 16);
    assert_int_equal(kernel->insts[15].pc, 0xf0);
    assert_int_equal(kernel->insts[10].class_, LS_CLASS_load);
    kernel_close(kernel);
    trace_close(trace);
    assert_ok(synth_open("saxpy,binary_version=61", NULL, &trace, err));
    assert_ok(trace_open_kernel(trace, 2, &kernel, err));
    assert_int_equal(kernel->insts[0].pc,
                     0x08); /* instructions of 8 bytes; each fourth word is something else */
    assert_int_equal(kernel->insts[2].pc, 0x18);
    assert_int_equal(kernel->insts[3].pc, 0x28);
    kernel_close(kernel);
    trace_close(trace);
}

/* ----------------------------------------------------------------------------------- one block, any block */

static void test_seek(void **state)
{
    (void)state;
    sass_trace *trace = open_trace("synth:graph-walk,nodes=2000,levels=3");
    trace_kernel *a = NULL, *b = NULL;
    ls_cta ca = { 0 }, cb = { 0 };
    ls_error said;
    bool end;
    assert_ok(trace_open_kernel(trace, 5, &a, err));
    assert_ok(trace_open_kernel(trace, 5, &b, err));
    for (uint64_t i = 8; i-- > 0;) {
        assert_ok(kernel_seek(a, i, err));
        assert_ok(kernel_next_cta(a, &ca, &end, err));
        assert_ok(kernel_seek(b, 0, err));
        for (uint64_t k = 0; k <= i; k++)
            assert_ok(kernel_next_cta(b, &cb, &end, err));
        compare_cta(a, &ca, b, &cb);
    }
    assert_ok(kernel_seek(a, 8, err));
    assert_ok(kernel_next_cta(a, &ca, &end, err));
    assert_true(end);
    assert_int_equal(kernel_seek(a, 9, &said), LS_ERR_USAGE);
    kernel_close(a);
    kernel_close(b);
    trace_close(trace);
    ls_cta_fini(&ca);
    ls_cta_fini(&cb);
}

static uint64_t sum_of_addresses(const char *path)
{
    sass_trace *trace = open_trace(path);
    trace_kernel *kernel = NULL;
    ls_cta cta = { 0 };
    uint64_t sum = 0;
    bool end = false;
    assert_ok(trace_open_kernel(trace, trace->command_count - 1, &kernel, err));
    while (!end) {
        assert_ok(kernel_next_cta(kernel, &cta, &end, err));
        for (uint64_t i = 0; i < cta.addr_count && !end; i++)
            sum = sum * 31 + cta.addrs[i];
    }
    kernel_close(kernel);
    trace_close(trace);
    ls_cta_fini(&cta);
    return sum;
}

/* In pass p, block b reads what block b + p * shift read in the first, around the end of the array. */
static void test_bandwidth_shift(void **state)
{
    (void)state;
    enum {
        BLOCKS = 4,
        PASSES = 3,
        SHIFT = 3,
        LOADS = 8
    }; /* loads of a warp in a pass: 64 KiB by 4 blocks of 4 KiB */
    uint64_t first[BLOCKS][PASSES][LOADS];
    sass_trace *trace =
        open_trace("synth:bandwidth,ctas=4,block=128,footprint_kib=64,unroll=2,passes=3,shift=3");
    trace_kernel *kernel = NULL;
    ls_cta cta = { 0 };
    bool end = false;
    assert_ok(trace_open_kernel(trace, trace->command_count - 1, &kernel, err));
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint32_t loads = 0;
        assert_ok(kernel_next_cta(kernel, &cta, &end, err));
        assert_false(end);
        for (uint32_t i = 0; i < cta.warps[0].count; i++) {
            const ls_dyn *dyn = &cta.dyns[cta.warps[0].first + i];
            if (dyn->addr == LS_ADDR_NONE || dyn->mask == 0)
                continue;
            assert_true(loads < PASSES * LOADS);
            first[b][loads / LOADS][loads % LOADS] = cta.addrs[dyn->addr >> 2];
            loads++;
        }
        assert_int_equal(loads, PASSES * LOADS);
    }
    for (uint32_t b = 0; b < BLOCKS; b++)
        for (uint32_t p = 0; p < PASSES; p++)
            assert_memory_equal(first[b][p], first[(b + p * SHIFT) % BLOCKS][0], sizeof first[b][p]);
    assert_int_equal(first[1][0][0] - first[0][0][0], 128 * 16);
    ls_cta_fini(&cta);
    kernel_close(kernel);
    trace_close(trace);
}

static void test_seed(void **state)
{
    (void)state;
    static const char *const kinds[] = { "gather,n=3000", "pointer-chase,loads=300", "graph-walk,nodes=1000" };
    for (size_t i = 0; i < LS_COUNT_OF(kinds); i++) {
        char one[64], two[64];
        snprintf(one, sizeof one, "synth:%s,seed=1", kinds[i]);
        snprintf(two, sizeof two, "synth:%s,seed=2", kinds[i]);
        assert_true(sum_of_addresses(one) == sum_of_addresses(one));
        assert_true(sum_of_addresses(one) != sum_of_addresses(two));
    }
}

/* A chain visits each pointer once before it repeats one. */
static void test_chase_is_a_permutation(void **state)
{
    (void)state;
    sass_trace *trace = open_trace("synth:pointer-chase,footprint_kib=3,stride_bytes=24,loads=128,unroll=1");
    trace_kernel *kernel = NULL;
    ls_cta cta = { 0 };
    bool end, seen[128] = { false };
    uint64_t loads = 0;
    assert_ok(trace_open_kernel(trace, 1, &kernel, err));
    assert_ok(kernel_next_cta(kernel, &cta, &end, err));
    for (uint64_t i = 0; i < cta.dyn_count; i++) {
        const ls_dyn *dyn = &cta.dyns[i];
        if (kernel->insts[dyn->inst].class_ != LS_CLASS_load)
            continue;
        uint64_t slot = (cta.addrs[dyn->addr >> 2] - UINT64_C(0x7f0000000000)) / 24;
        assert_true(slot < 128);
        assert_false(seen[slot]);
        seen[slot] = true;
        loads++;
    }
    assert_int_equal(loads, 128);
    kernel_close(kernel);
    trace_close(trace);
    ls_cta_fini(&cta);
}

/* -------------------------------------------------------------------------------------- through the files */

/* Written as text and read by the reader of text; packed and read again: the same streams. */
static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(samples); i++) {
        char path[160], dir[32], packed[32];
        snprintf(path, sizeof path, "synth:%s,tracer_version=%u", samples[i], 3 + (unsigned)(i % 4));
        snprintf(dir, sizeof dir, "synth-%zu", i);
        snprintf(packed, sizeof packed, "synth-%zu.lspk", i);
        unpack_trace(path, dir, (text_compression)(LS_COMPRESS_NONE + i % 4));
        compare_traces(path, dir);
        if (i % 6 == 0) { /* the packed file waits for the disk */
            pack_trace(path, packed);
            compare_traces(path, packed);
        }
    }
}

/* --------------------------------------------------------------------------------------------- parameters */

static void expect_error(const char *text, const char *what, const char *nearest)
{
    sass_trace *trace;
    ls_error said;
    assert_int_equal(synth_open(text, NULL, &trace, &said), LS_ERR_USAGE);
    assert_null(trace);
    if (!strstr(said.what, what) || strcmp(said.nearest, nearest) != 0)
        fail_msg("%s: '%s' (nearest: '%s')", text, said.what, said.nearest);
}

static void test_parameters(void **state)
{
    (void)state;
    expect_error("gem", "there is no generator 'gem'", "gemm");
    expect_error("gemm,mm=3", "'gemm' has no parameter 'mm'", "m");
    expect_error("gemm,m", "'m' is not name=value", "");
    expect_error("gemm,m=abc", "parameter 'm'", "");
    expect_error("gemm,m=31", "parameter 'm': 31 is not from 32 to 32768", "");
    expect_error("gemm,m=96", "'m': 96 is not a multiple of 64", "");
    expect_error("gemm,tile_k=24", "parameter 'tile_k'", "");
    expect_error("gemm,tile=48", "'48' is none of its values", "");
    expect_error("bandwidth,mode=raed", "'raed' is none of its values", "read");
    expect_error("atomics,returns=yes", "parameter 'returns'", "true");
    expect_error("vector-add,block=100", "'block': 100 is not a multiple of 32", "");
    expect_error("vector-add,binary_version=79", "'79' is none of its values", "70");
    expect_error("chain,op=HMMA,binary_version=61", "binary_version 61 has no HMMA", "");
    expect_error("gemm-tensor,binary_version=70", "needs binary_version 75", "");
    expect_error("gemm-tensor,tile_n=256,binary_version=75", "tile_n=256 needs binary_version 80", "");
    expect_error("gemm-tensor,tile_n=192", "'tile_n': 192 is not a multiple of 128", "");
    expect_error("gemm-tensor,tile_n=256,n=384", "'n': 384 is not a multiple of 256", "");
    expect_error("", "there is no generator ''", "");
}

static void test_table_of_kinds(void **state)
{
    (void)state;
    assert_int_equal(synth_kind_count(), 23);
    assert_null(synth_kind_at(23));
    for (size_t i = 0; i < 23; i++) {
        const synth_kind *kind = synth_kind_at(i);
        sass_trace *trace = NULL;
        assert_ptr_equal(synth_kind_find(synth_kind_name(kind)), kind);
        assert_ok(synth_open(synth_kind_name(kind), NULL, &trace, err)); /* all defaults are good */
        trace_close(trace);
        for (size_t p = 0; p < synth_param_count(kind); p++) {
            const ls_param *param = synth_param_at(kind, p);
            assert_true(strlen(param->help) > 4 && param->help[strlen(param->help) - 1] != '.');
            assert_non_null(param->default_text);
        }
    }
    sass_trace *text = open_trace("synth:chain");
    synth_facts facts;
    assert_true(synth_get_facts(text, &facts));
    trace_close(text);
}

/* ------------------------------------------------------------------------------------------------ anchors */

static void test_anchors(void **state)
{
    (void)state;
    char text[128];
    for (size_t i = 0; i < synth_anchor_count(); i++) {
        const synth_anchor *anchor = synth_anchor_at(i);
        sass_trace *trace = NULL;
        synth_facts f;
        assert_ptr_equal(synth_anchor_find(anchor->name), anchor);
        for (unsigned count = 64; count <= 128; count += 64) {
            snprintf(text, sizeof text, "%s,count=%u", anchor->text, count);
            assert_ok(synth_open(text, NULL, &trace, err));
            assert_true(synth_get_facts(trace, &f));
            assert_int_equal(f.warp_insts, f.warps * (count + 1));
            assert_int_equal(f.ctas, 1);
            const char *warps = strrchr(anchor->name, '_');
            if (warps[1] >= '1' && warps[1] <= '9' && strchr(warps, 'w'))
                assert_int_equal(f.warps, atoi(warps + 1));
            trace_close(trace);
        }
    }
    assert_null(synth_anchor_find("chain_NOTHING"));
}

static void test_every_anchor_is_there(void **state)
{
    (void)state;
    static const char path[] = LS_SOURCE_DIR "/data/reference/accelsim_micro_anchors.csv";
    char line[256];
    size_t count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        *strchr(line, ',') = '\0';
        if (!synth_anchor_find(line))
            fail_msg("no parameters for %s", line);
        count++;
    }
    fclose(file);
    assert_int_equal(count, synth_anchor_count());
}

/* Independent instructions: no result overlaps a result of the instruction before, or a source. */
static void test_throughput_results_are_apart(void **state)
{
    (void)state;
    static const char *const ops[] = { "FFMA",
                                       "FADD",
                                       "IMAD",
                                       "IADD",
                                       "MOV",
                                       "SHFL",
                                       "LDC",
                                       "HFMA2",
                                       "S2R",
                                       "MUFU",
                                       "DADD",
                                       "DFMA",
                                       "HMMA",
                                       "LDG",
                                       "LDS",
                                       "LDS128",
                                       "HMMA,opcode=IMMA.16832.S8.S8",
                                       "HMMA,opcode=DMMA.884",
                                       "FFMA,mix=HMMA" };
    for (size_t i = 0; i < LS_COUNT_OF(ops); i++) {
        char path[128];
        ls_error err;
        sass_trace *trace;
        trace_kernel *kernel;
        snprintf(path, sizeof path, "synth:throughput,op=%s,count=40", ops[i]);
        assert_int_equal(trace_open(path, &(trace_options){ 0 }, &trace, &err), LS_OK);
        assert_int_equal(trace_open_kernel(trace, 0, &kernel, &err), LS_OK);
        for (uint32_t k = 1; k < kernel->inst_count; k++) {
            const ls_inst *a = &kernel->insts[k - 1], *b = &kernel->insts[k];
            if (a->dst_count == 0 || b->dst_count == 0)
                continue;
            if (a->dst[0] < b->dst[0] + b->dst_span && b->dst[0] < a->dst[0] + a->dst_span)
                fail_msg("%s: results of %u and %u overlap", ops[i], k - 1, k);
            for (uint32_t n = 0; n < b->src_count; n++)
                if (a->dst[0] < b->src[n] + b->src_span[n] && b->src[n] < a->dst[0] + a->dst_span)
                    fail_msg("%s: instruction %u reads a result", ops[i], k);
        }
        kernel_close(kernel);
        trace_close(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_facts_by_architecture),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_seek),
        cmocka_unit_test(test_bandwidth_shift),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_chase_is_a_permutation),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_throughput_results_are_apart),
        cmocka_unit_test(test_table_of_kinds),
        cmocka_unit_test(test_anchors),
        cmocka_unit_test(test_every_anchor_is_there),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}

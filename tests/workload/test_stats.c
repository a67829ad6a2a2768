/* test_stats.c: counting instructions, lanes, accesses and unknown opcodes. */
#include "kernel_text.h"

#include "workload/stats.h"

static void read_stats(trace_stats *stats, const char *text)
{
    const trace_options options = { .unknown_opcodes_as_alu = true };
    reading r;
    assert_int_equal(reading_open(&r, text, &options), LS_OK);
    assert_int_equal(trace_stats_read(stats, r.kernel, &r.cta, &r.err), LS_OK);
    reading_close(&r);
}

#define GENERIC                                                                                                \
    "0040 00000001 1 R1 LD.E 1 R2 4 1 0x7f0002000010 4 \n0040 00000001 1 R1 LD.E 1 R2 4 1 0x7f0000000010 4 \n" \
    "0040 00000001 1 R1 LD.E 1 R2 4 1 0x1000 4 \n"

static void test_counts(void **state)
{
    (void)state;
    trace_stats s = { 0 };
    read_stats(&s, HEADER_V3 BLOCK("warp = 0\ninsts = 8\n0000 ffffffff 1 R1 FFMA 3 R1 R2 R3 0 \n"
                                   "0010 0000000f 1 R1 LDG.E.64 1 R2 8 1 0x100 8 \n"
                                   "0010 00000000 1 R1 LDG.E.64 1 R2 8 1 0x0 0 \n"
                                   "0020 ffffffff 0 STS.128 2 R1 R4 16 1 0x0 16 \n" GENERIC
                                   "0050 ffffffff 0 EXIT 0 0 \n"
                                   "warp = 1\ninsts = 0\n"));
    assert_int_equal(s.kernels, 1);
    assert_int_equal(s.blocks, 1);
    assert_int_equal(s.warps, 1);
    assert_int_equal(s.static_insts, 5);
    assert_int_equal(s.warp_insts, 8);
    assert_int_equal(s.thread_insts, 32 + 4 + 0 + 32 + 3 + 32);
    assert_int_equal(s.idle_insts, 1);
    assert_int_equal(s.classes[LS_CLASS_fp32], 1);
    assert_int_equal(s.classes[LS_CLASS_load], 5);
    assert_int_equal(s.classes[LS_CLASS_store], 1);
    assert_int_equal(s.classes[LS_CLASS_exit], 1);
    assert_int_equal(s.spaces[LS_SPACE_GLOBAL].insts, 2);
    assert_int_equal(s.spaces[LS_SPACE_GLOBAL].lanes, 5);
    assert_int_equal(s.spaces[LS_SPACE_GLOBAL].bytes, 4 * 8 + 4);
    assert_int_equal(s.spaces[LS_SPACE_SHARED].insts, 2);
    assert_int_equal(s.spaces[LS_SPACE_SHARED].bytes, 32 * 16 + 4);
    assert_int_equal(s.spaces[LS_SPACE_LOCAL].insts, 1);
    assert_int_equal(s.spaces[LS_SPACE_GENERIC].insts, 0);
    assert_int_equal(s.unknown.count, 0);
    trace_stats_fini(&s);
}

static void test_unknown(void **state)
{
    (void)state;
    trace_stats s = { 0 }, total = { 0 };
    read_stats(&s,
               HEADER_V3
                   BLOCK("warp = 0\ninsts = 4\n0000 ffffffff 1 R1 QQQ.E 0 0 \n0010 ffffffff 0 WWW 1 R2 0 \n"
                         "0000 ffffffff 1 R1 QQQ.E 0 0 \n0020 ffffffff 1 R2 QQQ.E 0 0 \n"));
    assert_int_equal(s.unknown.count, 2);
    assert_string_equal(s.unknown.at[0].opcode, "QQQ.E");
    assert_int_equal(s.unknown.at[0].count, 3);
    assert_int_equal(s.unknown.at[0].pc, 0);
    assert_string_equal(s.unknown.at[1].opcode, "WWW");
    assert_int_equal(s.unknown.at[1].count, 1);
    assert_int_equal(s.unknown.at[1].pc, 0x10);
    assert_true(trace_stats_merge(&total, &s));
    assert_true(trace_stats_merge(&total, &s));
    assert_int_equal(total.kernels, 2);
    assert_int_equal(total.warp_insts, 8);
    assert_int_equal(total.classes[LS_CLASS_int_alu], 8);
    assert_int_equal(total.unknown.count, 2);
    assert_int_equal(total.unknown.at[0].count, 6);
    trace_stats_fini(&s);
    trace_stats_fini(&total);
    assert_int_equal(total.unknown.count, 0);
}

static void test_error_passes(void **state)
{
    (void)state;
    trace_stats s = { 0 };
    reading r;
    assert_int_equal(reading_open(&r, HEADER_V3 BLOCK("warp = 9\n"), NULL), LS_OK);
    assert_int_equal(trace_stats_read(&s, r.kernel, &r.cta, &r.err), LS_ERR_INPUT);
    assert_string_equal(r.err.where, "k.traceg:17");
    reading_close(&r);
    trace_stats_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_error_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

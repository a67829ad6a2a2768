/* Floating-point operations of opcodes, for rooflines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/sass/sass.h"

#include <string.h>

static uint32_t flops(const char *opcode)
{
    return sass_flops(opcode, strlen(opcode));
}

static void test_arithmetic(void **state)
{
    (void)state;
    assert_int_equal(flops("FADD"), 1);
    assert_int_equal(flops("FMUL.FTZ"), 1);
    assert_int_equal(flops("FFMA"), 2);
    assert_int_equal(flops("FFMA.FTZ.SAT"), 2);
    assert_int_equal(flops("HADD2.F32"), 2);
    assert_int_equal(flops("HFMA2.MMA"), 4);
    assert_int_equal(flops("DFMA"), 2);
    assert_int_equal(flops("DADD"), 1);
}

static void test_none(void **state)
{
    (void)state;
    const char *const none[] = { "IADD3", "FSETP.GT.AND", "FSEL", "FMNMX", "MUFU.RCP",
                                 "F2I",   "LDG.E",        "FFM",  "FFMAX", "" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(flops(none[i]), 0);
}

static void test_matrix_shapes(void **state)
{
    (void)state;
    assert_int_equal(flops("HMMA.16816.F32"), 16 * 8 * 16 * 2 / 32);
    assert_int_equal(flops("HMMA.1688.F32.TF32"), 16 * 8 * 8 * 2 / 32);
    assert_int_equal(flops("HMMA.884.F32.F32.STEP0"), 8 * 8 * 4 * 2 / 32);
    assert_int_equal(flops("DMMA.884"), 8 * 8 * 4 * 2 / 32);
    assert_int_equal(flops("HGMMA.64x128x16.F32"), 64 * 128 * 16 * 2 / 128);
    assert_int_equal(flops("HMMA.F32"), 0);
    assert_int_equal(flops("HMMA"), 0);
    assert_int_equal(flops("HMMA."), 0);
    assert_int_equal(flops("HGMMA.64x"), 0);
    assert_int_equal(flops("HGMMA.64x64"), 0);
    assert_int_equal(flops("IMMA.16832.S8"), 0);
}

static void test_text_is_not_read_past_its_end(void **state)
{
    (void)state;
    assert_int_equal(sass_flops("HMMA.16816", 6), 0);
    assert_int_equal(sass_flops("FFMA.X", 4), 2);
    assert_int_equal(sass_flops("FFMA", 3), 0);
}

static uint32_t flops_of_line(const char *opcode, uint16_t first, uint16_t second)
{
    const uint16_t dst = 4, srcs[] = { first, second };
    const sass_line line = { .opcode = opcode,
                             .opcode_bytes = strlen(opcode),
                             .dsts = &dst,
                             .srcs = srcs,
                             .dst_count = 1,
                             .src_count = 2 };
    ls_inst inst;
    ls_error err = { 0 };
    if (sass_decode(86, &line, false, &inst, &err) != LS_OK)
        fail_msg("%s", err.what);
    return ls_inst_flops(&inst);
}

/* HFMA2.MMA R4, -RZ, RZ, 0, 0 is how a compiler writes a zero: no operation of the program. */
static void test_constants_are_no_arithmetic(void **state)
{
    (void)state;
    assert_int_equal(flops_of_line("HFMA2.MMA", LS_REG_ZERO, LS_REG_ZERO), 0);
    assert_int_equal(flops_of_line("HFMA2.MMA", 3, LS_REG_ZERO), 4);
    assert_int_equal(flops_of_line("FADD", LS_REG_ZERO, 2), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_no_arithmetic),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_matrix_shapes),
        cmocka_unit_test(test_text_is_not_read_past_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

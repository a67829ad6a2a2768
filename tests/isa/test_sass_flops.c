/* What the opcodes count in a roofline. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/sass/sass.h"

#include <string.h>

static uint32_t flops(const char *opcode)
{
    return ls_sass_flops(opcode, strlen(opcode));
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
    assert_int_equal(ls_sass_flops("HMMA.16816", 6), 0);
    assert_int_equal(ls_sass_flops("FFMA.X", 4), 2);
    assert_int_equal(ls_sass_flops("FFMA", 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_matrix_shapes),
        cmocka_unit_test(test_text_is_not_read_past_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

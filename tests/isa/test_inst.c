/* test_inst.c: names of classes, spaces and operations; they appear in platform files and results. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/inst.h"

#include <string.h>

static void test_class_names(void **state)
{
    (void)state;
    assert_string_equal(inst_class_name(LS_CLASS_fp32), "fp32");
    assert_string_equal(inst_class_name(LS_CLASS_async_copy), "async_copy");
    assert_string_equal(inst_class_name(LS_CLASS_COUNT), "?");
    assert_string_equal(inst_class_help(LS_CLASS_sfu), "transcendental functions");
    assert_string_equal(inst_class_help(LS_CLASS_COUNT), "?");
    for (int a = 0; a < LS_CLASS_COUNT; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(inst_class_name((ls_inst_class)a), inst_class_name((ls_inst_class)b));
}

static void test_memory_names(void **state)
{
    (void)state;
    for (int i = 0; i < LS_SPACE_COUNT; i++)
        assert_true(strlen(mem_space_name((ls_mem_space)i)) > 1);
    for (int i = 0; i < LS_MEM_OP_COUNT; i++)
        assert_true(strlen(mem_op_name((ls_mem_op)i)) > 1);
    assert_string_equal(mem_space_name(LS_SPACE_SHARED), "shared");
    assert_string_equal(mem_space_name(LS_SPACE_COUNT), "?");
    assert_string_equal(mem_op_name(LS_MEM_REDUCTION), "reduction");
    assert_string_equal(mem_op_name(LS_MEM_OP_COUNT), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_names),
        cmocka_unit_test(test_memory_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

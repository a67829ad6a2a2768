/* test_rules.c: the rules for kernels and blocks of every source of traces. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workload/rules.h"

static ls_kernel_info good(void)
{
    return (ls_kernel_info){
        .grid = { 2, 3, 1 }, .block = { 40, 1, 1 }, .binary_version = 80, .tracer_version = 5
    };
}

static void kernels(void **state)
{
    (void)state;
    ls_error err;
    ls_kernel_info info = good();
    assert_int_equal(rules_kernel(&info, &err), LS_OK);
    info.tracer_version = 7;
    assert_int_equal(rules_kernel(&info, &err), LS_ERR_UNSUPPORTED);
    info = good();
    info.binary_version = 20;
    assert_int_equal(rules_kernel(&info, &err), LS_ERR_UNSUPPORTED);
    info = good();
    info.block[1] = 26; /* 1040 threads */
    assert_int_equal(rules_kernel(&info, &err), LS_ERR_INPUT);
    info = good();
    info.grid[2] = 0;
    assert_int_equal(rules_kernel(&info, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, "grid dim: a size is 0");
}

static void blocks(void **state)
{
    (void)state;
    ls_error err;
    ls_kernel_info info = good();
    assert_int_equal(rules_blocks(&info, 6, &err), LS_OK);
    assert_int_equal(rules_blocks(&info, 5, &err), LS_ERR_INPUT);
    assert_int_equal(rules_blocks(&info, 7, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, "the file has 7 thread blocks, its grid 6");
}

static void lanes(void **state)
{
    (void)state;
    char text[200];
    ls_kernel_info info = good();
    ls_warp_stream warps[2] = { { 0, 1 }, { 1, 2 } };
    ls_dyn dyns[3] = { { .mask = UINT32_MAX }, { .mask = 0xff }, { .mask = 0x80 } };
    ls_cta cta = { .warps = warps, .warp_count = 2, .dyns = dyns, .dyn_count = 3 };
    assert_int_equal(rules_lanes(&info, 0), UINT32_MAX);
    assert_int_equal(rules_lanes(&info, 1), 0xff);
    assert_null(rules_cta(&info, &cta, text, sizeof text));
    dyns[2].mask = 0x100;
    assert_non_null(rules_cta(&info, &cta, text, sizeof text));
    info.block[0] = 64; /* a full warp has all lanes */
    assert_null(rules_cta(&info, &cta, text, sizeof text));
    info.block[0] = 65;
    assert_string_equal(rules_cta(&info, &cta, text, sizeof text),
                        "it has 2 warps: a block of 65 threads has 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(kernels), cmocka_unit_test(blocks),
                                        cmocka_unit_test(lanes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

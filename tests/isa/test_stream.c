/* test_stream.c: addresses of an instruction in every format, and where generic ones point. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/stream.h"

#include <stdlib.h>
#include <string.h>

#define UNTOUCHED 0xeeeeeeeeeeeeeeeeull

static uint64_t out[32];

static void expand(const uint64_t *words, uint32_t mask, ls_addr_mode mode)
{
    ls_cta cta = { .addrs = (uint64_t *)(uintptr_t)words };
    ls_dyn dyn = { .mask = mask, .addr = 1u << 2 | mode };
    for (int i = 0; i < 32; i++)
        out[i] = UNTOUCHED;
    ls_cta_addresses(&cta, &dyn, out);
}

static void test_list(void **state)
{
    (void)state;
    uint64_t words[] = { 0, 100, 200, 300 };
    expand(words, 0x80000005, LS_ADDR_LIST);
    assert_int_equal(out[0], 100);
    assert_int_equal(out[1], UNTOUCHED);
    assert_int_equal(out[2], 200);
    assert_int_equal(out[31], 300);
    expand(words, 0x80000005, LS_ADDR_DELTA); /* the same words */
    assert_int_equal(out[2], 200);
}

static void test_stride(void **state)
{
    (void)state;
    uint64_t words[] = { 0, 0x1000, (uint64_t)-8 };
    expand(words, 0x00000070, LS_ADDR_STRIDE);
    assert_int_equal(out[3], UNTOUCHED);
    assert_int_equal(out[4], 0x1000);
    assert_int_equal(out[5], 0xff8);
    assert_int_equal(out[6], 0xff0);
    expand(words, 0, LS_ADDR_STRIDE);
    assert_int_equal(out[0], UNTOUCHED);
}

static void test_none(void **state)
{
    (void)state;
    ls_cta cta = { 0 };
    ls_dyn dyn = { .mask = UINT32_MAX, .addr = LS_ADDR_NONE };
    out[5] = UNTOUCHED;
    ls_cta_addresses(&cta, &dyn, out);
    assert_int_equal(out[5], UNTOUCHED);
}

static void test_fini(void **state)
{
    (void)state;
    ls_cta cta = { .warps = malloc(8), .dyns = malloc(16), .addrs = malloc(8), .dyn_count = 3 };
    ls_cta_fini(&cta);
    assert_null(cta.dyns);
    assert_int_equal(cta.dyn_count, 0);
    ls_cta_fini(&cta);
}

static void test_spaces(void **state)
{
    (void)state;
    ls_kernel_info info = { .shared_base = 0x7f0002000000, .local_base = 0x7f0000000000 };
    assert_int_equal(ls_kernel_space(&info, 0x7f0002000000), LS_SPACE_SHARED);
    assert_int_equal(ls_kernel_space(&info, 0x7f0002ffffff), LS_SPACE_SHARED);
    assert_int_equal(ls_kernel_space(&info, 0x7f0003000000), LS_SPACE_GLOBAL);
    assert_int_equal(ls_kernel_space(&info, 0x7f0000000010), LS_SPACE_LOCAL);
    assert_int_equal(ls_kernel_space(&info, 0x7f0001000000), LS_SPACE_GLOBAL);
    info.binary_version = 90; /* a window for each block of a cluster */
    assert_int_equal(ls_kernel_space(&info, 0x7f0011ffffff), LS_SPACE_SHARED);
    assert_int_equal(ls_kernel_space(&info, 0x7f0012000000), LS_SPACE_GLOBAL);
    info.local_base = 0x7f0004000000; /* may lie among them */
    assert_int_equal(ls_kernel_space(&info, 0x7f0004000000), LS_SPACE_LOCAL);
    ls_kernel_info none = { 0 };
    assert_int_equal(ls_kernel_space(&none, 0x100), LS_SPACE_GLOBAL);
}

static void test_sizes(void **state)
{
    (void)state;
    ls_kernel_info info = { .grid = { 70000, 65535, 2 }, .block = { 33, 2, 1 } };
    assert_int_equal(ls_kernel_cta_count(&info), 9174900000ull);
    assert_int_equal(ls_kernel_threads(&info), 66);
    assert_int_equal(ls_kernel_warps(&info), 3);
}

/* A block like another adds the move of its instruction, whether lanes are listed or not and some are off. */
static void moves_are_added(void **state)
{
    (void)state;
    uint64_t words[34] = { 0x1000, 8 }, moves[2] = { 0, 0x40000 };
    for (uint64_t i = 0; i < 32; i++)
        words[2 + i] = 0x2000 + 100 * i;
    ls_cta cta = { .addrs = words, .addr_count = 34, .moves = moves };
    for (uint32_t inst = 0; inst < 2; inst++) {
        ls_dyn stride = { .inst = inst, .mask = 0x11, .addr = 0 << 2 | LS_ADDR_STRIDE };
        ls_cta_addresses(&cta, &stride, out);
        assert_int_equal(out[4], 0x1008 + moves[inst]);
        ls_dyn some = { .inst = inst, .mask = 0x90000000, .addr = 2 << 2 | LS_ADDR_LIST };
        ls_cta_addresses(&cta, &some, out);
        assert_int_equal(out[28], 0x2000 + moves[inst]);
        assert_int_equal(out[31], 0x2064 + moves[inst]);
        ls_dyn all = { .inst = inst, .mask = UINT32_MAX, .addr = 2 << 2 | LS_ADDR_LIST };
        ls_cta_addresses(&cta, &all, out);
        assert_int_equal(out[31], 0x2000 + 3100 + moves[inst]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),  cmocka_unit_test(test_stride), cmocka_unit_test(test_none),
        cmocka_unit_test(test_fini),  cmocka_unit_test(test_spaces), cmocka_unit_test(moves_are_added),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

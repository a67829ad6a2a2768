/* Hashes of sets against the definitions, bit by bit. */
#include "model/policy/set_hash.h"

#include "lockstep/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* after the others: cmocka uses what they define */
#include <cmocka.h>

static void fill(set_hash_table table, uint32_t kind, uint32_t sets, bool accelsim)
{
    assert_int_equal(set_hash_fill(table, &(set_hash_spec){ .kind = kind }, sets, 128, accelsim, NULL), LS_OK);
}

static void test_xor(void **state)
{
    (void)state;
    set_hash_table table;
    for (uint32_t bits = 1; bits <= 16; bits++) {
        fill(table, SET_HASH_XOR, 1u << bits, false);
        uint64_t mask = (UINT64_C(1) << bits) - 1, number = 12345;
        for (uint32_t i = 0; i < 1000; i++) {
            number = (number * UINT64_C(6364136223846793005) + 1) & ((UINT64_C(1) << 40) - 1);
            assert_int_equal(set_hash_of(table, number), (number & mask) ^ (number >> bits & mask));
        }
    }
}

/* Long division of polynomials over GF(2). */
static uint64_t divide(uint64_t number, uint64_t polynomial, uint32_t bits)
{
    for (uint32_t n = 40; n-- > bits;)
        if (number >> n & 1)
            number ^= polynomial << (n - bits);
    return number;
}

static void test_ipoly(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits;
        uint64_t polynomial;
    } some[] = { { 1, 3 }, { 2, 7 }, { 5, 0x29 }, { 7, 0xc1 }, { 8, 0x11b }, { 12, 0x1053 }, { 16, 0x1100b } };
    set_hash_table table;
    for (size_t k = 0; k < LS_COUNT_OF(some); k++) {
        fill(table, SET_HASH_IPOLY, 1u << some[k].bits, false);
        uint64_t number = 99;
        for (uint32_t i = 0; i < 1000; i++) {
            number = (number * UINT64_C(6364136223846793005) + 1) & ((UINT64_C(1) << 40) - 1);
            assert_int_equal(set_hash_of(table, number), divide(number, some[k].polynomial, some[k].bits));
        }
    }
}

/* With 16, 32 and 64 sets NVIDIA's caches have Accel-Sim's function, with other sizes that of the others. */
static void test_accelsim(void **state)
{
    (void)state;
    set_hash_table table, other;
    for (uint32_t bits = 1; bits <= 10; bits++) {
        fill(table, SET_HASH_IPOLY, 1u << bits, true);
        fill(other, SET_HASH_IPOLY, 1u << bits, false);
        for (uint64_t line = 1; line < UINT64_C(1) << 39; line = line * 5 + 3) {
            uint32_t low = (uint32_t)line & ((1u << bits) - 1);
            assert_int_equal(set_hash_of(table, line), bits >= 4 && bits <= 6
                                                           ? set_hash_ipoly(line >> bits, low, bits)
                                                           : set_hash_of(other, line));
        }
    }
}

/* Lines whose distance is a power of two use all sets in turn; without a hash they share few. */
static void test_ipoly_spreads_strides(void **state)
{
    (void)state;
    set_hash_table table;
    for (uint32_t bits = 1; bits <= 12; bits++) {
        uint32_t sets = 1u << bits;
        bool *used = calloc(sets, sizeof *used);
        assert_non_null(used);
        fill(table, SET_HASH_IPOLY, sets, false);
        for (uint32_t shift = 0; shift + bits < 40; shift++) {
            memset(used, 0, sets * sizeof *used);
            for (uint64_t i = 0; i < sets; i++) {
                uint32_t set = set_hash_of(table, i << shift);
                assert_true(set < sets && !used[set]);
                used[set] = true;
            }
        }
        free(used);
    }
}

static void test_masks(void **state)
{
    (void)state;
    static const uint64_t masks[] = { 0x80, 0x100 | 0x8000000, 0x200 | 0x80 | 0x40000000, UINT64_C(1) << 46 };
    const set_hash_spec spec = { .kind = SET_HASH_MASKS, .masks = { masks, LS_COUNT_OF(masks) } };
    set_hash_table table;
    assert_int_equal(set_hash_fill(table, &spec, 16, 128, true, NULL), LS_OK);
    uint64_t address = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        address = (address * UINT64_C(6364136223846793005) + 1442695040888963407u) & ((UINT64_C(1) << 47) - 1);
        uint32_t expected = 0;
        for (uint32_t bit = 0; bit < 4; bit++)
            expected |= (uint32_t)__builtin_parityll(address & masks[bit]) << bit;
        assert_int_equal(set_hash_of(table, address / 128), expected);
    }
}

static void expect(const uint64_t *masks, size_t count, uint32_t sets, const char *text)
{
    const set_hash_spec spec = { .kind = SET_HASH_MASKS, .masks = { masks, count } };
    set_hash_table table;
    ls_error err;
    assert_int_equal(set_hash_fill(table, &spec, sets, 64, false, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, text));
}

static void test_masks_that_do_not_fit(void **state)
{
    (void)state;
    expect((const uint64_t[]){ 0x40, 0x80 }, 2, 6, "needs a power of two of sets, not 6");
    expect((const uint64_t[]){ 0x40, 0x80 }, 2, 8, "hash_masks has 2 masks, but 8 sets need 3");
    expect((const uint64_t[]){ 0x40, 0x20 }, 2, 4, "mask 1 of hash_masks (0x20) has bits inside of a line");
    expect((const uint64_t[]){ 0x40, UINT64_C(1) << 46 }, 2, 4, "has bits from 2^46 on");
    expect((const uint64_t[]){ 0x40, 0x180, 0x1c0 }, 3, 8, "mask 2 of hash_masks (0x1c0) follows");
    expect((const uint64_t[]){ 0x40, 0 }, 2, 4, "mask 1 of hash_masks (0x0) follows");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xor),      cmocka_unit_test(test_ipoly),
        cmocka_unit_test(test_accelsim), cmocka_unit_test(test_ipoly_spreads_strides),
        cmocka_unit_test(test_masks),    cmocka_unit_test(test_masks_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

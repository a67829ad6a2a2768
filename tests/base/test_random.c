/* test_random.c: known answers, reproducible splits, and the moments of the distributions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/random.h"

#include <math.h>

/* The generator's own sequence from the state 1, 2, 3, 4, worked out independently. */
static void known_sequence(void **state)
{
    (void)state;
    static const uint64_t expected[] = {
        11520,
        0,
        1509978240,
        UINT64_C(1215971899390074240),
        UINT64_C(1216172134540287360),
        UINT64_C(607988272756665600),
        UINT64_C(16172922978634559625),
        UINT64_C(8476171486693032832),
        UINT64_C(10595114339597558777),
        UINT64_C(2904607092377533576),
    };
    ls_random r = { .s = { 1, 2, 3, 4 } };
    for (size_t i = 0; i < LS_COUNT_OF(expected); i++)
        assert_true(ls_random_next(&r) == expected[i]);
}

static void known_seeds(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, next[4];
    } expected[] = {
        { 0, { 0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c } },
        { 42, { 0x15780b2e0c2ec716, 0x6104d9866d113a7e, 0xae17533239e499a1, 0xecb8ad4703b360a1 } },
        { UINT64_MAX, { 0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f } },
    };
    for (size_t i = 0; i < LS_COUNT_OF(expected); i++) {
        ls_random r;
        ls_random_init(&r, expected[i].seed);
        for (size_t k = 0; k < 4; k++)
            assert_true(ls_random_next(&r) == expected[i].next[k]);
    }
}

static void known_splits(void **state)
{
    (void)state;
    static const struct {
        uint64_t key, next[2];
    } expected[] = {
        { 0, { 0xaf89eddb1f76b6e5, 0xf30ccec89ed025b7 } },
        { 1, { 0xce4d50a7a46ba4cb, 0x393adedb7adfcbe } },
        { UINT64_MAX, { 0x44a0bd98e05a9b91, 0xadc725e2b5e47239 } },
    };
    ls_random parent;
    ls_random_init(&parent, 42);
    for (size_t i = 0; i < LS_COUNT_OF(expected); i++) {
        ls_random child = ls_random_split(&parent, expected[i].key);
        assert_true(ls_random_next(&child) == expected[i].next[0]);
        assert_true(ls_random_next(&child) == expected[i].next[1]);
    }
}

/* A child depends on the names on the path to it, not on the numbers drawn before. */
static void splits_ignore_the_position(void **state)
{
    (void)state;
    ls_random a, b;
    ls_random_init(&a, 7);
    ls_random_init(&b, 7);
    for (unsigned i = 0; i < 1000; i++)
        ls_random_next(&b);
    ls_random child_a = ls_random_split(&a, 5), child_b = ls_random_split(&b, 5);
    ls_random_next(&child_b);
    ls_random_next(&child_a);
    ls_random grandchild_a = ls_random_split(&child_a, 9), grandchild_b = ls_random_split(&child_b, 9);
    assert_true(ls_random_next(&child_a) == ls_random_next(&child_b));
    assert_true(ls_random_next(&grandchild_a) == ls_random_next(&grandchild_b));
    /* Splitting draws nothing from the parent. */
    ls_random untouched;
    ls_random_init(&untouched, 7);
    assert_true(ls_random_next(&a) == ls_random_next(&untouched));
}

/* Siblings, parent and the two orders of a path: streams share no value and no bit is biased between them. */
static void splits_are_independent(void **state)
{
    (void)state;
    ls_random root, stream[66];
    ls_random_init(&root, 3);
    stream[0] = root;
    for (uint64_t i = 1; i < 65; i++)
        stream[i] = ls_random_split(&root, i);
    ls_random one = ls_random_split(&root, 1), two = ls_random_split(&root, 2);
    one = ls_random_split(&one, 2);
    two = ls_random_split(&two, 1);
    assert_true(ls_random_next(&one) != ls_random_next(&two));
    uint64_t differing_bits = 0;
    for (unsigned k = 0; k < 1000; k++) {
        uint64_t before = ls_random_next(&stream[0]);
        for (unsigned i = 1; i < 65; i++) {
            uint64_t value = ls_random_next(&stream[i]);
            assert_true(value != before);
            differing_bits += (uint64_t)__builtin_popcountll(value ^ before);
            before = value;
        }
    }
    /* 64000 words of 64 coin flips: 2048000 with a deviation of 1012. */
    assert_in_range(differing_bits, 2048000 - 6000, 2048000 + 6000);
}

static void below_is_in_range_and_even(void **state)
{
    (void)state;
    ls_random r;
    ls_random_init(&r, 11);
    assert_int_equal(ls_random_below(&r, 0), 0);
    assert_int_equal(ls_random_below(&r, 1), 0);
    unsigned seen[7] = { 0 };
    for (unsigned i = 0; i < 70000; i++)
        seen[ls_random_below(&r, 7)]++;
    for (unsigned i = 0; i < 7; i++)
        assert_in_range(seen[i], 10000 - 600, 10000 + 600);
    /* Three quarters of the range: a plain remainder would hit the lowest third twice as often. */
    uint64_t bound = UINT64_C(3) << 62;
    unsigned low = 0;
    for (unsigned i = 0; i < 30000; i++) {
        uint64_t value = ls_random_below(&r, bound);
        assert_true(value < bound);
        low += value < bound / 3;
    }
    assert_in_range(low, 10000 - 600, 10000 + 600);
}

static void real_is_in_the_unit_interval(void **state)
{
    (void)state;
    ls_random r;
    ls_random_init(&r, 13);
    double sum = 0;
    for (unsigned i = 0; i < 100000; i++) {
        double u = ls_random_real(&r);
        assert_true(u >= 0 && u < 1);
        sum += u;
    }
    assert_true(fabs(sum / 100000 - 0.5) < 0.006);
}

static void exponential_has_mean_and_variance_one(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    ls_random r;
    ls_random_init(&r, 17);
    double sum = 0, squares = 0;
    unsigned above_3 = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        double x = ls_random_exponential(&r);
        assert_true(x >= 0);
        sum += x;
        squares += x * x;
        above_3 += x > 3;
    }
    double mean = sum / COUNT, variance = squares / COUNT - mean * mean;
    assert_true(fabs(mean - 1) < 0.015);
    assert_true(fabs(variance - 1) < 0.05);
    assert_true(fabs((double)above_3 / COUNT - 0.049787) < 0.003); /* e^-3 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_sequence),
        cmocka_unit_test(known_seeds),
        cmocka_unit_test(known_splits),
        cmocka_unit_test(splits_ignore_the_position),
        cmocka_unit_test(splits_are_independent),
        cmocka_unit_test(below_is_in_range_and_even),
        cmocka_unit_test(real_is_in_the_unit_interval),
        cmocka_unit_test(exponential_has_mean_and_variance_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The union of intervals against a row of flags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/spans.h"
#include "lockstep/random.h"

static void test_by_hand(void **state)
{
    (void)state;
    span_list s = { 0 };
    assert_true(spans_add(&s, 10, 20));
    assert_true(spans_add(&s, 20, 30)); /* touches */
    assert_int_equal(s.list.count, 1);
    assert_int_equal(s.total, 20);
    assert_true(spans_add(&s, 40, 50));
    assert_true(spans_add(&s, 15, 25)); /* inside */
    assert_true(spans_add(&s, 7, 7));   /* empty */
    assert_int_equal(s.total, 30);
    assert_true(spans_add(&s, 5, 45)); /* over both */
    assert_int_equal(s.list.count, 1);
    assert_int_equal(s.total, 45);
    spans_fini(&s);
}

static void test_random(void **state)
{
    (void)state;
    enum { SIZE = 300 };
    ls_random random;
    ls_random_init(&random, 5);
    for (int round = 0; round < 200; round++) {
        bool in[SIZE] = { false };
        span_list s = { 0 };
        for (int i = 0; i < 40; i++) {
            uint64_t begin = ls_random_below(&random, SIZE), end = begin + ls_random_below(&random, 12);
            end = end > SIZE ? SIZE : end;
            assert_true(spans_add(&s, begin, end));
            for (uint64_t at = begin; at < end; at++)
                in[at] = true;
            uint64_t total = 0;
            for (uint64_t at = 0; at < SIZE; at++)
                total += in[at];
            assert_int_equal(s.total, total);
            for (size_t k = 1; k < s.list.count; k++)
                assert_true(s.list.at[k - 1].end < s.list.at[k].begin);
        }
        spans_fini(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_by_hand), cmocka_unit_test(test_random) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_time.c: clocks are exact at every edge, up to the end of time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/random.h"
#include "lockstep/time.h"

#include <string.h>

__extension__ typedef unsigned __int128 u128;

static ls_clock clock_of(uint64_t num, uint64_t den)
{
    ls_clock clock;
    ls_error err;
    assert_int_equal(ls_clock_init(&clock, (ls_ratio){ num, den }, &err), LS_OK);
    return clock;
}

static void lowest_terms(void **state)
{
    (void)state;
    ls_ratio r = ls_ratio_make(35005, 10);
    assert_int_equal(r.num, 7001);
    assert_int_equal(r.den, 2);
    r = ls_ratio_make(0, 17);
    assert_int_equal(r.num, 0);
    assert_int_equal(r.den, 1);
    r = ls_ratio_make(UINT64_MAX, UINT64_MAX);
    assert_int_equal(r.num, 1);
    assert_int_equal(r.den, 1);
}

/* Values computed with exact fractions in another language. */
static void exact_edges(void **state)
{
    (void)state;
    static const struct {
        uint64_t hz_num, hz_den, period_num, period_den, cycle, time;
    } cases[] = {
        { 1365000000, 1, 200000000, 273, 7, 5128205 },
        { 1365000000, 1, 200000000, 273, 1000000, 732600732600 },
        { 1365000000, 1, 200000000, 273, 1000000000000, UINT64_C(732600732600732600) },
        { 3500500000, 1, 2000000000, 7001, 1000000000000, UINT64_C(285673475217826024) },
        { 1000000000, 1, 1000000, 1, 5000000000000, UINT64_C(5000000000000000000) },
        { 1000000, 3, 3000000000, 1, 3, 9000000000 },
        { 1000000000000000, 1, 1, 1, UINT64_MAX, UINT64_MAX },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        ls_clock clock = clock_of(cases[i].hz_num, cases[i].hz_den);
        assert_int_equal(clock.period_num, cases[i].period_num);
        assert_int_equal(clock.period_den, cases[i].period_den);
        assert_true(ls_clock_time(&clock, cases[i].cycle) == cases[i].time);
        assert_true(ls_clock_cycle_at(&clock, cases[i].time) == cases[i].cycle);
        assert_true(ls_clock_span(&clock, cases[i].cycle) == cases[i].time);
        assert_int_equal(ls_clock_time(&clock, 0), 0);
        assert_int_equal(ls_clock_cycle_at(&clock, 0), 0);
    }
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t num, den;
        const char *what;
    } cases[] = {
        { 0, 1, "0 Hz" },
        { 1, 0, "1/0" },
        { UINT64_C(1000000000000001), 1, "faster than 10^15 Hz" },
        { UINT64_MAX, 1, "faster than 10^15 Hz" },
        { 1, 100000, "does not fit into 64 bits" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        ls_error err;
        ls_clock clock = { 5, 7 };
        assert_int_equal(ls_clock_init(&clock, (ls_ratio){ cases[i].num, cases[i].den }, &err), LS_ERR_INPUT);
        assert_non_null(strstr(err.what, cases[i].what));
        assert_int_equal(clock.period_num, 5);
    }
}

static void same(void **state)
{
    (void)state;
    ls_clock a = clock_of(2000000000, 2), b = clock_of(1000000000, 1), c = clock_of(1000000001, 1);
    assert_true(ls_clock_same(&a, &b));
    assert_false(ls_clock_same(&a, &c));
}

/* For many frequencies and cycles of every size: the edge is floor(n * period), its inverse is exact, and one
 * femtosecond later belongs to the next edge. */
static void inverse_everywhere(void **state)
{
    (void)state;
    static const ls_ratio rates[] = {
        { 1365000000, 1 },      { 3500500000, 1 }, { 1, 1 },
        { 999999937, 1 },       { 1755000000, 1 }, { 1000000000000000, 1 },
        { 999999999999989, 1 }, { 1230000001, 3 }, { 7000000000, 1 },
        { 32768, 1 },           { 1410000000, 7 }, { 123456789, 1000 },
    };
    ls_random random;
    ls_random_init(&random, 1);
    for (size_t i = 0; i < LS_COUNT_OF(rates); i++) {
        ls_clock clock = clock_of(rates[i].num, rates[i].den);
        for (unsigned k = 0; k < 2000; k++) {
            uint64_t n = ls_random_next(&random) >> (k % 64);
            u128 exact = (u128)n * clock.period_num / clock.period_den;
            ls_time time = ls_clock_time(&clock, n);
            if (exact >= LS_TIME_MAX) {
                assert_true(time == LS_TIME_MAX);
                continue;
            }
            assert_true(time == (ls_time)exact);
            assert_true(ls_clock_cycle_at(&clock, time) == n);
            if (clock.period_num > clock.period_den && time + 1 < LS_TIME_MAX)
                assert_true(ls_clock_cycle_at(&clock, time + 1) == n + 1);
            /* Any time at all: the edge found is the first one at or after it. */
            ls_time t = ls_random_next(&random) >> (k % 64);
            ls_cycle at = ls_clock_cycle_at(&clock, t);
            assert_true(ls_clock_time(&clock, at) >= t);
            assert_true(at == 0 || ls_clock_time(&clock, at - 1) < t);
            /* No two edges that far apart are closer than the span. */
            uint64_t span = n >> 8, from = t >> 20;
            if (ls_clock_time(&clock, from + span) != LS_TIME_MAX)
                assert_true(ls_clock_time(&clock, from + span) - ls_clock_time(&clock, from) >=
                            ls_clock_span(&clock, span));
        }
    }
}

static void never_stays_never(void **state)
{
    (void)state;
    ls_clock clock = clock_of(1365000000, 1);
    assert_true(ls_clock_time(&clock, LS_CYCLE_MAX) == LS_TIME_MAX);
    assert_true(ls_clock_cycle_at(&clock, LS_TIME_MAX) == LS_CYCLE_MAX);
    /* One femtosecond before the end of time the answer is still exact. */
    assert_true(ls_clock_cycle_at(&clock, LS_TIME_MAX - 1) == UINT64_C(25179805660614));
    assert_true(ls_clock_time(&clock, UINT64_C(25179805660613)) == UINT64_C(18446744073709157509));
    assert_true(ls_clock_time(&clock, UINT64_C(25179805660614)) == LS_TIME_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lowest_terms),
        cmocka_unit_test(exact_edges),
        cmocka_unit_test(refused),
        cmocka_unit_test(same),
        cmocka_unit_test(inverse_everywhere),
        cmocka_unit_test(never_stays_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_vclock.c: sparse vector clocks against arrays, and their cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/memcheck/vclock.h"

#include <string.h>

#define WAVES 3000u

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % limit;
}

static void empty_ones_know_nothing(void **state)
{
    (void)state;
    vclock a = { 0 }, b = { 0 };
    assert_true(vclock_is_empty(&a));
    assert_int_equal(vclock_get(&a, 0), 0);
    assert_int_equal(vclock_get(&a, UINT32_MAX), 0);
    assert_true(vclock_join(&a, &b));
    assert_true(vclock_raise(&a, 7, 0));
    assert_true(vclock_is_empty(&a));
    vclock_drop(&a);
    assert_int_equal(vclock_nodes(), 0);
}

static void values_only_rise(void **state)
{
    (void)state;
    vclock a = { 0 };
    assert_true(vclock_raise(&a, 5, 3));
    assert_true(vclock_raise(&a, 5, 2));
    assert_int_equal(vclock_get(&a, 5), 3);
    assert_true(vclock_raise(&a, 100000, 9)); /* higher than its tree was */
    assert_int_equal(vclock_get(&a, 5), 3);
    assert_int_equal(vclock_get(&a, 100000), 9);
    assert_int_equal(vclock_get(&a, 100001), 0);
    vclock_drop(&a);
    assert_int_equal(vclock_nodes(), 0);
}

static void a_copy_is_not_changed_with_its_source(void **state)
{
    (void)state;
    vclock a = { 0 }, b = { 0 };
    vclock_raise(&a, 40, 1);
    vclock_raise(&a, 4000, 1);
    uint64_t before = vclock_nodes();
    vclock_copy(&b, &a);
    assert_int_equal(vclock_nodes(), before); /* all of them are shared */
    vclock_raise(&a, 40, 2);
    assert_int_equal(vclock_get(&b, 40), 1);
    assert_int_equal(vclock_get(&a, 40), 2);
    assert_int_equal(vclock_get(&b, 4000), 1);
    vclock_join(&b, &a);
    assert_int_equal(vclock_get(&b, 40), 2);
    assert_int_equal(vclock_nodes(), before); /* again */
    vclock_drop(&a);
    vclock_drop(&b);
    assert_int_equal(vclock_nodes(), 0);
}

/* Clocks of different heights, in both directions. */
static void joins_take_the_larger_values(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < 2; way++) {
        vclock low = { 0 }, high = { 0 };
        vclock_raise(&low, 3, 7);
        vclock_raise(&low, 4, 1);
        vclock_raise(&high, 4, 5);
        vclock_raise(&high, 70000, 2);
        vclock *to = way == 0 ? &low : &high;
        assert_true(vclock_join(to, way == 0 ? &high : &low));
        assert_int_equal(vclock_get(to, 3), 7);
        assert_int_equal(vclock_get(to, 4), 5);
        assert_int_equal(vclock_get(to, 70000), 2);
        vclock_drop(&low);
        vclock_drop(&high);
    }
    vclock low = { 0 }, high = { 0 }; /* the lower tree's place in the higher one is empty */
    vclock_raise(&low, 1, 1);
    vclock_raise(&high, 40000, 1);
    assert_true(vclock_join(&high, &low));
    assert_int_equal(vclock_get(&high, 1), 1);
    vclock_drop(&low);
    vclock_drop(&high);
    assert_int_equal(vclock_nodes(), 0);
}

static void random_ones_are_as_arrays(void **state)
{
    (void)state;
    static uint32_t plain[6][WAVES];
    vclock clocks[6] = { 0 };
    uint64_t seed = 1;
    memset(plain, 0, sizeof plain);
    for (uint32_t step = 0; step < 4000; step++) {
        uint32_t a = random_below(&seed, 6), b = random_below(&seed, 6), wave = random_below(&seed, WAVES);
        switch (random_below(&seed, 8)) {
        case 0:
            vclock_join(&clocks[a], &clocks[b]);
            for (uint32_t i = 0; i < WAVES; i++)
                plain[a][i] = plain[a][i] > plain[b][i] ? plain[a][i] : plain[b][i];
            break;
        case 1:
            vclock_copy(&clocks[a], &clocks[b]);
            memmove(plain[a], plain[b], sizeof plain[a]);
            break;
        default:
            vclock_raise(&clocks[a], wave, step);
            plain[a][wave] = plain[a][wave] > step ? plain[a][wave] : step;
        }
        for (uint32_t i = 0; i < 20; i++) {
            wave = random_below(&seed, WAVES);
            assert_int_equal(vclock_get(&clocks[a], wave), plain[a][wave]);
        }
    }
    for (uint32_t i = 0; i < 6; i++)
        vclock_drop(&clocks[i]);
    assert_int_equal(vclock_nodes(), 0);
}

/* A counter that all waves use: each hears of all before it. Clocks of 4096 waves share their nodes: the number of nodes grows
 * with the waves, not with their square. */
static void waves_of_one_counter_share_what_they_know(void **state)
{
    (void)state;
    static vclock waves[4096];
    vclock counter = { 0 };
    for (uint32_t i = 0; i < 4096; i++) {
        assert_true(vclock_raise(&waves[i], i, 1));
        assert_true(vclock_join(&counter, &waves[i]));
        assert_true(vclock_join(&waves[i], &counter));
    }
    assert_int_equal(vclock_get(&waves[4095], 0), 1);
    assert_int_equal(vclock_get(&waves[0], 4095), 0);
    assert_true(vclock_nodes() < 4096 * 6);
    for (uint32_t i = 0; i < 4096; i++)
        vclock_drop(&waves[i]);
    vclock_drop(&counter);
    assert_int_equal(vclock_nodes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(empty_ones_know_nothing),
                                        cmocka_unit_test(values_only_rise),
                                        cmocka_unit_test(a_copy_is_not_changed_with_its_source),
                                        cmocka_unit_test(joins_take_the_larger_values),
                                        cmocka_unit_test(random_ones_are_as_arrays),
                                        cmocka_unit_test(waves_of_one_counter_share_what_they_know) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

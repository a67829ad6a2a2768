/* test_bitset.c: every operation against a plain array of booleans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bitset.h"
#include "lockstep/random.h"
#include "lockstep/version.h"

#include <string.h>

enum { MOST = 200 };

static size_t slow_find(const bool *set, size_t bits, size_t run, size_t align)
{
    for (size_t start = 0; start + run <= bits; start += align) {
        size_t i = 0;
        while (i < run && !set[start + i])
            i++;
        if (i == run)
            return start;
    }
    return LS_BITSET_NONE;
}

static size_t slow_next(const bool *set, size_t bits, size_t from, bool wanted)
{
    for (size_t i = from; i < bits; i++)
        if (set[i] == wanted)
            return i;
    return LS_BITSET_NONE;
}

static void agrees_with_booleans(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 2, 63, 64, 65, 127, 128, 129, 200 };
    ls_random random;
    ls_random_init(&random, 1);
    for (size_t k = 0; k < LS_COUNT_OF(sizes); k++) {
        size_t bits = sizes[k];
        for (unsigned density = 0; density < 5; density++) {
            bool set[MOST] = { 0 };
            uint64_t words[LS_BITSET_WORDS(MOST)];
            memset(words, 0xFF, sizeof words); /* bits past the end hold anything */
            for (size_t i = 0; i < bits; i++) {
                set[i] = ls_random_below(&random, 4) < density;
                if (set[i])
                    bit_set(words, i);
                else
                    bit_clear(words, i);
            }
            size_t count = 0;
            for (size_t i = 0; i < bits; i++) {
                assert_int_equal(bit_test(words, i), set[i]);
                count += set[i];
            }
            assert_int_equal(bitset_count(words, bits), count);
            for (size_t from = 0; from <= bits + 1; from++) {
                assert_true(bit_next(words, bits, from) == slow_next(set, bits, from, true));
                assert_true(bit_next_clear(words, bits, from) == slow_next(set, bits, from, false));
            }
            for (size_t run = 0; run <= bits + 1; run += run < 20 ? 1 : 13)
                for (size_t align = 1; align <= 64; align *= 2)
                    assert_true(bit_find_run(words, bits, run, align) == slow_find(set, bits, run, align));
        }
    }
}

static void runs(void **state)
{
    (void)state;
    ls_random random;
    ls_random_init(&random, 2);
    bool set[MOST] = { 0 };
    uint64_t words[LS_BITSET_WORDS(MOST)] = { 0 };
    for (unsigned k = 0; k < 2000; k++) {
        size_t from = ls_random_below(&random, MOST), run = ls_random_below(&random, MOST - from + 1);
        bool on = ls_random_below(&random, 2) != 0;
        if (on)
            bit_set_run(words, from, run);
        else
            bit_clear_run(words, from, run);
        for (size_t i = 0; i < run; i++)
            set[from + i] = on;
        for (size_t i = 0; i < MOST; i++)
            assert_int_equal(bit_test(words, i), set[i]);
    }
    assert_int_equal(words[3] >> (MOST - 192), 0); /* nothing was touched past the end */
}

static void full_and_none(void **state)
{
    (void)state;
    uint64_t words[2] = { UINT64_MAX, UINT64_MAX };
    assert_true(bit_find_run(words, 128, 1, 1) == LS_BITSET_NONE);
    assert_true(bit_find_run(words, 128, 129, 1) == LS_BITSET_NONE);
    assert_true(bit_next_clear(words, 128, 0) == LS_BITSET_NONE);
    bit_clear_run(words, 60, 8);
    assert_int_equal(bit_find_run(words, 128, 8, 1), 60);
    assert_int_equal(bit_find_run(words, 128, 8, 4), 60);
    assert_true(bit_find_run(words, 128, 8, 8) == LS_BITSET_NONE);
    assert_int_equal(bit_find_run(words, 128, 4, 64), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_booleans),
        cmocka_unit_test(runs),
        cmocka_unit_test(full_and_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

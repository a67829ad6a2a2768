/* test_profile_reuse.c: reuse distances against counting by hand, and the cache without time against them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workload/profile/level.h"

#define LINES 40u

/* Different lines since the last use, from the whole history. */
static uint32_t by_hand(const uint32_t *history, uint32_t length, uint32_t line)
{
    bool seen[LINES] = { false };
    uint32_t distance = 0;
    for (uint32_t i = length; i-- > 0;) {
        if (history[i] == line)
            return distance;
        distance += !seen[history[i]];
        seen[history[i]] = true;
    }
    return REUSE_FIRST;
}

static void test_distances(void **state)
{
    (void)state;
    static uint32_t history[2000];
    uint32_t seed = 12345;
    reuse *r = reuse_create(LINES, 4, 4);
    assert_non_null(r);
    for (uint32_t i = 0; i < 2000; i++) { /* many times the tree's size, so that it is renumbered */
        seed = seed * 1664525u + 1013904223u;
        uint32_t line = (seed >> 16) % (i % 100 < 50 ? LINES : 7);
        assert_int_equal(reuse_touch(r, line), by_hand(history, i, line));
        history[i] = line;
    }
    reuse_forget(r, history[1999]);
    assert_int_equal(reuse_touch(r, history[1999]), REUSE_FIRST);
    reuse_destroy(r);
}

static void test_probability(void **state)
{
    (void)state;
    reuse *full = reuse_create(64, 1, 16);
    assert_non_null(full);
    assert_int_equal(reuse_hit(full, 15), REUSE_ONE);
    assert_int_equal(reuse_hit(full, 32), 0);
    reuse_destroy(full);
    /* Two sets of one way: the next line is in the other set in half of the cases. */
    reuse *pair = reuse_create(64, 2, 1);
    assert_non_null(pair);
    assert_int_equal(reuse_hit(pair, 0), REUSE_ONE);
    assert_int_equal(reuse_hit(pair, 1), REUSE_ONE / 2);
    assert_int_equal(reuse_hit(pair, 2), REUSE_ONE / 4);
    assert_int_equal(reuse_hit(pair, REUSE_FIRST), 0);
    reuse_destroy(pair);
}

static void test_lru(void **state)
{
    (void)state;
    level l;
    level_victim victim;
    assert_true(level_init(&l, 2, 2, false, false));
    level_look(&l, 0, 10, true, &victim)->dirty = 3;
    level_look(&l, 0, 20, true, &victim);
    level_look(&l, 1, 30, true, &victim);
    level_look(&l, 0, 10, true, &victim); /* 20 is now the oldest of set 0 */
    level_look(&l, 0, 40, true, &victim);
    assert_int_equal(victim.line, 20);
    assert_int_equal(victim.dirty, 0);
    assert_null(level_look(&l, 0, 20, false, &victim));
    level_look(&l, 0, 50, true, &victim);
    assert_int_equal(victim.line, 10);
    assert_int_equal(victim.dirty, 3);
    assert_non_null(level_look(&l, 1, 30, false, &victim));
    level_clear(&l);
    assert_null(level_look(&l, 1, 30, false, &victim));
    level_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_probability),
        cmocka_unit_test(test_lru),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_names.c: the nearest name helps or stays silent; wildcards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"

#include <string.h>

static const char *const keys[] = {
    "latency_cycles", "size_kib",  "line_bytes",  "ways", "banks",        "mshr_entries",
    "model",          "clock_mhz", "queue_depth", "l1",   "write_policy", "replacement",
};

static void nearest(void **state)
{
    (void)state;
    static const struct {
        const char *name, *expected;
    } cases[] = {
        { "latency_cycle", "latency_cycles" }, /* a letter missing */
        { "latencyy_cycles", "latency_cycles" },
        { "latnecy_cycles", "latency_cycles" }, /* swapped */
        { "latency-cycles", "latency_cycles" }, /* the other separator */
        { "LATENCY_CYCLES", "latency_cycles" }, /* case alone */
        { "LineBytes", "line_bytes" },
        { "way", "ways" },
        { "modle", "model" },
        { "latency", "latency_cycles" }, /* the beginning of one */
        { "size", "size_kib" },
        { "L1", "l1" },
        { "l2", "l1" },
        { "banks", "banks" },
        { "associativity", NULL }, /* nothing like it */
        { "xy", NULL },
        { "", NULL },
        { "q", NULL },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        const char *found = nearest_of(cases[i].name, keys, LS_COUNT_OF(keys));
        if (cases[i].expected == NULL)
            assert_null(found);
        else {
            assert_non_null(found);
            assert_string_equal(found, cases[i].expected);
        }
    }
    assert_null(nearest_of("x", NULL, 0));
}

static void closest_of_several(void **state)
{
    (void)state;
    static const char *const models[] = { "bank4", "bank5", "bank", "Bank", "rank" };
    assert_string_equal(nearest_of("bank", models, 5), "bank");
    assert_string_equal(nearest_of("bank6", models, 5), "bank4"); /* the first of equals */
    assert_string_equal(nearest_of("BANK", models, 5), "Bank");
    assert_string_equal(nearest_of("tank", models, 5), "bank");
}

static void shortest_with_that_beginning(void **state)
{
    (void)state;
    static const char *const names[] = { "latency_cycles", "latency_ns", "latency_picoseconds", "depth" };
    assert_string_equal(nearest_of("latency", names, 4), "latency_ns");
    assert_null(nearest_of("la", names, 4)); /* too little to go by */
}

static const char *numbered(const void *self, size_t i)
{
    const char *const *names = self;
    return names[i];
}

static void through_a_function(void **state)
{
    (void)state;
    static const char *const names[] = { NULL, "gto", "lrr" };
    assert_string_equal(nearest_name("grto", 3, numbered, names), "gto");
}

/* Monsters are cut, not compared. */
static void long_names(void **state)
{
    (void)state;
    char a[5000], b[5000];
    memset(a, 'a', sizeof a);
    memset(b, 'a', sizeof b);
    a[sizeof a - 1] = b[sizeof b - 1] = '\0';
    b[10] = 'b';
    b[2000] = 'b';
    const char *list[] = { b };
    assert_ptr_equal(nearest_of(a, list, 1), b);
}

static void glob(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        { "", "", true },
        { "", "a", false },
        { "a", "", false },
        { "*", "", true },
        { "*", "anything.at.all", true },
        { "?", "", false },
        { "?", "a", true },
        { "?", "ab", false },
        { "?", "\xC2\xB5", true }, /* one character, two bytes */
        { "??", "\xC2\xB5", false },
        { "core*.l1", "core12.l1", true },
        { "core*.l1", "core12.l1d", false },
        { "core?.l1", "core12.l1", false },
        { "*.hits", "core0.l1.hits", true },
        { "*l1*hit*", "core0.l1.hit_rate", true },
        { "a*b*c", "aXbYbZc", true },
        { "a*b*c", "aXbYbZ", false },
        { "**", "x", true },
        { "*?", "", false },
        { "*?", "x", true },
        { "a*", "a", true },
        { "A", "a", false },
        { "a**********************b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++)
        assert_int_equal(glob_match(cases[i].pattern, cases[i].name), cases[i].matches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest),
        cmocka_unit_test(closest_of_several),
        cmocka_unit_test(through_a_function),
        cmocka_unit_test(shortest_with_that_beginning),
        cmocka_unit_test(long_names),
        cmocka_unit_test(glob),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

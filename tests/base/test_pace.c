/* test_pace.c: when a thread gives its CPU away, on hosts that the test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pace.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

/* A made-up host. Another program takes the CPU for turn_ns: when the thread gives it away, or when the thread has had it
 * for longer than patience_ns. */
typedef struct host {
    uint64_t turn_ns, patience_ns;
    uint64_t now, had_ns, switches;
    unsigned gives, interruptions;
} host;

static void work(host *h)
{
    h->now += 50 * US;
    h->had_ns += 50 * US;
    if (h->turn_ns > 0 && h->had_ns > h->patience_ns) {
        h->now += h->turn_ns;
        h->had_ns = 0;
        h->switches++;
        h->interruptions++;
    }
}

static void pass(pace *p, host *h, uint64_t ns)
{
    for (uint64_t end = h->now + ns; h->now < end;) {
        work(h);
        if (!pace_is_over(p, h->now) || !pace_end(p, h->now, h->switches))
            continue;
        uint64_t gave = h->turn_ns > 0 ? h->turn_ns : 60 * US;
        h->now += gave;
        h->had_ns = 0;
        h->gives++;
        pace_begin(p, h->now, gave, h->switches);
    }
}

static void a_free_cpu_is_kept(void **state)
{
    (void)state;
    pace p;
    host h = { .now = 7 * MS, .switches = 3 };
    pace_init(&p, h.now, h.switches);
    pass(&p, &h, 1000 * MS);
    assert_int_equal(h.gives, 0);
}

/* One interruption is enough; there is no other after it. */
static void a_crowded_cpu_is_given_away_in_time(void **state)
{
    (void)state;
    static const uint64_t turns[] = { 1 * MS, 2 * MS, 4 * MS };
    for (unsigned i = 0; i < 3; i++) {
        pace p;
        host h = { .turn_ns = turns[i], .patience_ns = turns[i] - 100 * US };
        pace_init(&p, h.now, h.switches);
        pass(&p, &h, 1000 * MS);
        assert_in_range(h.interruptions, 1, 4); /* those of the first slice, whose length is a guess */
        assert_true(h.gives > 100);
        assert_int_equal(p.slice_ns, turns[i] - turns[i] / 4);
    }
}

/* A program that leaves is noticed by the next CPU that nobody takes. */
static void a_cpu_that_becomes_free_is_kept_again(void **state)
{
    (void)state;
    pace p;
    host h = { .turn_ns = 4 * MS, .patience_ns = 4 * MS };
    pace_init(&p, h.now, h.switches);
    pass(&p, &h, 100 * MS);
    assert_true(p.is_crowded);
    h.turn_ns = 0;
    h.gives = 0;
    pass(&p, &h, 1000 * MS);
    assert_false(p.is_crowded);
    assert_int_equal(h.gives, 1);
}

static void slices_have_limits(void **state)
{
    (void)state;
    pace p;
    pace_init(&p, 0, 0);
    assert_int_equal(p.slice_ns, PACE_SLICE_MOST_NS);
    pace_begin(&p, 10 * MS, PACE_GAVE_NS, 0);
    assert_int_equal(p.slice_ns, PACE_SLICE_LEAST_NS);
    pace_begin(&p, 20 * MS, 2 * MS, 0);
    assert_int_equal(p.slice_ns, 1500 * US);
    pace_begin(&p, 30 * MS, PACE_GAVE_NS - 1, 0); /* too short for another program: nothing is learned */
    assert_int_equal(p.slice_ns, 1500 * US);
    assert_false(p.is_crowded);
    pace_begin(&p, 60 * MS, 24 * MS, 0);
    assert_int_equal(p.slice_ns, PACE_SLICE_MOST_NS);
    assert_false(pace_is_over(&p, 60 * MS + PACE_SLICE_MOST_NS - 1));
    assert_true(pace_is_over(&p, 60 * MS + PACE_SLICE_MOST_NS));
}

/* A thread that waits for work loses its CPU too, and nobody waits for it: that shows nothing. */
static void waiting_begins_a_new_slice(void **state)
{
    (void)state;
    pace p;
    pace_init(&p, 0, 5);
    pace_wait(&p, 2 * MS, 9);
    assert_false(pace_is_over(&p, 4 * MS));
    assert_true(pace_is_over(&p, 5 * MS));
    assert_false(pace_end(&p, 5 * MS, 9));
    assert_true(pace_end(&p, 8 * MS, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_cpu_is_kept),
        cmocka_unit_test(a_crowded_cpu_is_given_away_in_time),
        cmocka_unit_test(a_cpu_that_becomes_free_is_kept_again),
        cmocka_unit_test(slices_have_limits),
        cmocka_unit_test(waiting_begins_a_new_slice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

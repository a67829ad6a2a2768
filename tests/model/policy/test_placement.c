/* Which core is tried first, by policy, on cores with unlimited room and on cores that fill up. */
#include "model/policy/placement.h"

#include "lockstep/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* after the others: cmocka uses what they define */
#include <cmocka.h>

#define CORES 5u

/* Sends `count` work-groups to cores of `room` places each; out[i] is the core of the i-th. */
static void place(const placement_spec *spec, uint32_t count, uint32_t room, uint32_t *out)
{
    placement p = { 0 };
    uint32_t taken[CORES] = { 0 }, first = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t core = first;
        while (taken[core] == room)
            core = (core + 1) % CORES;
        taken[core]++;
        out[i] = core;
        first = placement_next(&p, spec, core, CORES);
        assert_true(first < CORES);
    }
}

static void expect(const placement_spec *spec, uint32_t room, const uint32_t *cores, uint32_t count)
{
    uint32_t out[32];
    place(spec, count, room, out);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(out[i], cores[i]);
}

static void test_policies(void **state)
{
    (void)state;
    expect(&(placement_spec){ .kind = PLACEMENT_ROUND_ROBIN }, 9,
           (const uint32_t[]){ 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0 }, 11);
    expect(&(placement_spec){ .kind = PLACEMENT_GREEDY_FILL }, 3,
           (const uint32_t[]){ 0, 0, 0, 1, 1, 1, 2, 2, 2, 3 }, 10);
    expect(&(placement_spec){ .kind = PLACEMENT_CHUNKED, .chunk = 2 }, 9,
           (const uint32_t[]){ 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 0, 1 }, 13);
    expect(&(placement_spec){ .kind = PLACEMENT_CHUNKED, .chunk = 1 }, 9,
           (const uint32_t[]){ 0, 1, 2, 3, 4, 0 }, 6);
    /* Three places, chunks of two: a core that is full in the middle of a chunk ends it. */
    expect(&(placement_spec){ .kind = PLACEMENT_CHUNKED, .chunk = 2 }, 3,
           (const uint32_t[]){ 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 1, 2, 3, 4 }, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_policies) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_profile_meet.c: how long slices stand still when cores ask for the same sector, in closed form. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/core/rates.h"
#include "workload/profile/meet.h"

#define LATENCY 512u

static const meet_rules rules = { .latency_cycles = LATENCY, .slice_cycle = RATES_ONE, .merge = 4 };

static uint64_t cycles(uint64_t still)
{
    return still * LATENCY / MEET_ONE;
}

static meet make(uint32_t cores)
{
    meet m;
    assert_true(meet_init(&m, cores, 2, 16));
    return m;
}

static void ask(meet *m, uint32_t core, uint32_t line, uint8_t sectors, uint8_t pending)
{
    assert_true(meet_add(m, core,
                         (meet_request){
                             .line = line, .slice = line % 2, .sectors = sectors, .pending = pending }));
    m->shared = true;
}

/* As many as the MSHR holds wait; one more stops the slice until DRAM has answered the first. */
static void test_merge(void **state)
{
    (void)state;
    for (uint32_t cores = 1; cores <= 8; cores++) {
        meet m = make(cores);
        for (uint32_t i = 0; i < cores; i++)
            ask(&m, i, 0, 1, 1);
        /* The first is served in cycle 1 and answered LATENCY later; the fifth comes in cycle 5. */
        uint64_t expected = cores > 4 ? LATENCY - 4 : 0;
        assert_int_equal(cycles(meet_settle(&m, &rules, 1)), expected);
        meet_fini(&m);
    }
}

/* What is in L2 already meets nobody, and other sectors and slices do not count. */
static void test_apart(void **state)
{
    (void)state;
    meet m = make(8);
    for (uint32_t i = 0; i < 8; i++)
        ask(&m, i, 0, 1, 0);
    assert_int_equal(meet_settle(&m, &rules, 1), 0);
    for (uint32_t i = 0; i < 8; i++)
        ask(&m, i, i % 2, (uint8_t)(1u << i / 4), (uint8_t)(1u << i / 4));
    assert_int_equal(meet_settle(&m, &rules, 2), 0);
    meet_fini(&m);
}

/* Cores that got their data late ask later in the next epoch: what the others asked for is then there, or
 * nearly. */
static void test_later(void **state)
{
    (void)state;
    meet m = make(6);
    for (uint32_t i = 0; i < 6; i++)
        ask(&m, i, i, 1, i >= 4); /* four find it in L2, two wait for DRAM */
    assert_int_equal(meet_settle(&m, &rules, 1), 0);
    for (uint32_t i = 0; i < 6; i++)
        ask(&m, i, 7, 1, 1);
    assert_true(cycles(meet_settle(&m, &rules, 2)) < 8); /* LATENCY - 4 if all came at once */
    meet_fini(&m);
}

/* Nothing is left of an epoch that nobody met in. */
static void test_skipped(void **state)
{
    (void)state;
    meet m = make(8);
    for (uint32_t i = 0; i < 8; i++) {
        ask(&m, i, 0, 1, 1);
        m.shared = false;
    }
    assert_int_equal(meet_settle(&m, &rules, 1), 0);
    for (uint32_t i = 0; i < 5; i++)
        ask(&m, i, 0, 1, 1);
    assert_int_equal(cycles(meet_settle(&m, &rules, 2)), LATENCY - 4);
    meet_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_later),
        cmocka_unit_test(test_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

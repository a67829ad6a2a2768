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
    placement_rule rule;
    assert_int_equal(placement_init(&rule, spec, NULL, NULL), LS_OK);
    uint32_t taken[CORES] = { 0 }, first = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t core = first;
        while (taken[core] == room)
            core = (core + 1) % CORES;
        taken[core]++;
        out[i] = core;
        first = placement_next(&p, &rule, core, CORES);
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

/* --------------------------------------------------------------------------------------------- plug-ins */

/* Three cores further; beyond the last one after four work-groups. */
static uint32_t three_further(uint64_t state[LS_PLACEMENT_WORDS], uint32_t core, uint32_t cores)
{
    return ++state[LS_PLACEMENT_WORDS - 1] < 4 ? (core + 3) % cores : cores;
}

static const ls_placement_ops far_ops = { .next = three_further };
static const ls_port_decl far_ports[] = {
    { .name = LS_PLACEMENT_PORT, .interface = LS_PLACEMENT_INTERFACE, .ops = &far_ops },
};
static const ls_block_type far = { .abi = LS_ABI_VERSION,
                                   .slot = LS_PLACEMENT_SLOT,
                                   .name = "far",
                                   .help = "for the test",
                                   .ports = far_ports,
                                   .port_count = 1 };
LS_REGISTER_BLOCK(far);

static void test_plugin(void **state)
{
    (void)state;
    ls_engine *engine;
    ls_domain *domain;
    ls_clock clock;
    ls_error err;
    placement p = { 0 };
    placement_rule rule;
    const placement_spec spec = { .kind = PLACEMENT_KINDS };
    assert_int_equal(ls_engine_create(1, &engine, NULL), LS_OK);
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL), LS_OK);
    assert_int_equal(ls_domain_create(engine, "dispatch", clock, &domain, NULL), LS_OK);
    assert_int_equal(placement_init(&rule, &spec, domain, &err), LS_OK);
    assert_int_equal(placement_next(&p, &rule, 0, CORES), 3);
    assert_int_equal(placement_next(&p, &rule, 3, CORES), 1);
    assert_int_equal(placement_next(&p, &rule, 1, CORES), 4);
    assert_int_equal(placement_next(&p, &rule, 4, CORES), 0);
    assert_int_equal(ls_run(engine, NULL, NULL, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, "dispatch: placement policy 'far' named a core that is not there");
    assert_int_equal(placement_init(&rule, &(placement_spec){ .kind = PLACEMENT_KINDS + 1 }, domain, &err),
                     LS_ERR_INPUT);
    ls_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_policies), cmocka_unit_test(test_plugin) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

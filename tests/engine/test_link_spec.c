/* test_link_spec.c: invalid links and their error messages. */
#include "engine/fixture.h"

typedef struct machine {
    ls_engine *engine;
    ls_region *fast, *slow;
    ls_link_spec good;
} machine;

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)link;
    (void)payload;
    (void)now;
}

static int setup(void **state)
{
    machine *m = test_calloc(1, sizeof *m);
    m->engine = new_engine();
    m->fast = new_domain(m->engine, "fast", 2 * GHZ);
    m->slow = new_domain(m->engine, "slow", GHZ / 2);
    m->good = (ls_link_spec){ .name = "wire",
                              .from = m->fast,
                              .to = m->slow,
                              .latency_cycles = 4,
                              .width_bytes = 32,
                              .credits = 8,
                              .payload_bytes = 16,
                              .receive = receive };
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    machine *m = *state;
    ls_engine_destroy(m->engine);
    test_free(m);
    return 0;
}

static void refused(machine *m, const ls_link_spec *spec, const char *what)
{
    ls_link *link = (ls_link *)m; /* must be cleared */
    ls_error err = { 0 };
    assert_int_equal(ls_link_create(m->engine, spec, &link, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, what);
    assert_null(link);
    assert_int_equal(ls_link_create(m->engine, spec, &link, NULL), LS_ERR_USAGE);
    assert_int_equal(ls_engine_lookahead(m->engine, NULL), LS_TIME_MAX); /* nothing was added */
}

static void accepted(machine *m, const ls_link_spec *spec)
{
    ls_link *link = NULL;
    ls_error err = { 0 };
    if (ls_link_create(m->engine, spec, &link, &err) != LS_OK)
        fail_msg("%s", err.what);
    assert_non_null(link);
}

static void test_ends(void **state)
{
    machine *m = *state;
    ls_link_spec spec = m->good;
    spec.from = NULL;
    refused(m, &spec, "link 'wire' needs a sender, a receiver and a receive function");
    spec = m->good;
    spec.to = NULL;
    refused(m, &spec, "link 'wire' needs a sender, a receiver and a receive function");
    spec = m->good;
    spec.receive = NULL;
    spec.name = NULL;
    refused(m, &spec, "link '(unnamed)' needs a sender, a receiver and a receive function");
    ls_engine *other = new_engine();
    spec = m->good;
    spec.to = new_domain(other, "slow", GHZ);
    refused(m, &spec, "link 'wire' joins domains of different engines");
    ls_engine_destroy(other);
}

static void test_credits(void **state)
{
    machine *m = *state;
    ls_link_spec spec = m->good;
    spec.credits = 0;
    refused(m, &spec, "link 'wire' has 0 credits, allowed are 1 to 65536");
    spec.credits = 65537;
    refused(m, &spec, "link 'wire' has 65537 credits, allowed are 1 to 65536");
    spec.credits = 65536;
    accepted(m, &spec);
}

static void test_latency(void **state)
{
    machine *m = *state;
    ls_link_spec spec = m->good; /* 2 GHz to 500 MHz: four cycles are one of the receiver's */
    spec.latency_cycles = 0;
    refused(m, &spec,
            "link 'wire' has a latency of 0 fs, less than one cycle of its slower side (2000000 fs)");
    spec.latency_cycles = 3;
    refused(m, &spec,
            "link 'wire' has a latency of 1500000 fs, less than one cycle of its slower side (2000000 fs)");
    spec.latency_cycles = 4;
    spec.credit_latency_cycles = 1;
    accepted(m, &spec);
}

static void test_credit_latency(void **state)
{
    machine *m = *state;
    ls_link_spec spec = m->good;
    spec.from = m->slow;
    spec.to = m->fast;
    spec.latency_cycles = 1;
    spec.credit_latency_cycles = 3;
    refused(m, &spec,
            "link 'wire' returns credits in 1500000 fs, less than one cycle of its slower side (2000000 fs)");
    spec.credit_latency_cycles = 4;
    accepted(m, &spec);
    spec.credit_latency_cycles = 0; /* the time of the latency: always long enough */
    accepted(m, &spec);
    assert_int_equal(ls_engine_lookahead(m->engine, NULL), 2000000);
}

/* A credit that takes 4294967295 cycles of 2 ns would need more cycles of 0.5 ns than fit. */
static void test_credit_latency_that_does_not_fit(void **state)
{
    machine *m = *state;
    ls_link_spec spec = m->good;
    spec.from = m->slow;
    spec.to = m->fast;
    spec.latency_cycles = UINT32_MAX;
    refused(m, &spec,
            "link 'wire' returns credits in 17179869180 cycles of its receiver, allowed are 4294967295");
    spec.credit_latency_cycles = UINT32_MAX;
    accepted(m, &spec);
}

static void test_sizes(void **state)
{
    machine *m = *state;
    ls_link_spec spec = m->good;
    spec.payload_bytes = (1u << 20) + 1;
    refused(m, &spec, "link 'wire' carries messages of 1048577 bytes, allowed are up to 1 MiB");
    spec = m->good;
    spec.width_bytes = (1u << 20) + 1;
    refused(m, &spec, "link 'wire' is 1048577 bytes wide, allowed are up to 1 MiB per cycle");
    spec = m->good;
    spec.flit_bytes = 1u << 30;
    spec.width_cycles = 2;
    refused(m, &spec, "link 'wire' has flits of 1073741824 bytes over 2 cycles: too large");
    spec.flit_bytes = UINT32_MAX;
    spec.width_cycles = UINT32_MAX;
    refused(m, &spec, "link 'wire' has flits of 4294967295 bytes over 4294967295 cycles: too large");
    spec.flit_bytes = 0;
    spec.width_bytes = 1u << 20;
    spec.width_cycles = 1u << 11;
    refused(m, &spec, "link 'wire' has flits of 1048576 bytes over 2048 cycles: too large");
    spec.width_cycles = 1u << 10;
    accepted(m, &spec);
}

static void test_after_the_start(void **state)
{
    machine *m = *state;
    run_all(m->engine);
    refused(m, &m->good, "link 'wire' comes after the run began");
}

/* Names default to the domains', and an unnamed link is called so. */
static void test_names(void **state)
{
    machine *m = *state;
    ls_link_spec spec = m->good;
    spec.name = NULL;
    const ls_link *link = new_link(m->engine, &spec);
    assert_string_equal(ls_link_name(link), "(unnamed)");
    assert_int_equal(ls_link_id(link), 0);
    assert_int_equal(ls_link_id(new_link(m->engine, &m->good)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(test_credits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_latency, setup, teardown),
        cmocka_unit_test_setup_teardown(test_credit_latency, setup, teardown),
        cmocka_unit_test_setup_teardown(test_credit_latency_that_does_not_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_after_the_start, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
    };
    return cmocka_run_group_tests_name("link spec", tests, NULL, NULL);
}

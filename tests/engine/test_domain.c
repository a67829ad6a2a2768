/* test_domain.c: domains and regions: names, limits, what they answer, and streams of random numbers. */
#include "engine/fixture.h"

#include <stdio.h>

static void test_what_a_domain_knows(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_region *a = new_domain(engine, "sm0", GHZ), *b = new_domain(engine, "sm1", GHZ / 2);
    ls_region *c = new_region(b, 3 * GHZ);
    ls_domain *first = ls_region_domain(a), *second = ls_region_domain(b);
    assert_string_equal(ls_domain_name(first), "sm0");
    assert_string_equal(ls_domain_name(second), "sm1");
    assert_int_equal(ls_domain_id(first), 0);
    assert_int_equal(ls_domain_id(second), 1);
    assert_ptr_equal(ls_domain_engine(second), engine);
    assert_ptr_equal(ls_domain_region(second, 0), b);
    assert_ptr_equal(ls_domain_region(second, 1), c);
    assert_null(ls_domain_region(second, 2));
    assert_null(ls_domain_region(first, 1));
    assert_int_equal(ls_region_clock(b)->period_num, 2000000);
    assert_int_equal(ls_region_clock(b)->period_den, 1);
    assert_int_equal(ls_region_now(b), 0);
    assert_int_equal(ls_region_time(b), 0);
    ls_engine_destroy(engine);
}

static void test_refusals(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_error err = { 0 };
    ls_region *region = new_domain(engine, "sm0", GHZ);
    ls_domain *domain = ls_region_domain(region);
    assert_int_equal(ls_domain_create(engine, "sm0", hertz(GHZ), &domain, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "there are two domains named 'sm0'");
    assert_null(domain);
    for (int i = 1; i < 8; i++)
        new_region(region, GHZ + (uint64_t)i);
    ls_region *ninth = region;
    assert_int_equal(ls_domain_add_region(ls_region_domain(region), hertz(GHZ), &ninth, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "domain 'sm0' has more than 8 regions");
    assert_null(ninth);
    run_all(engine);
    assert_int_equal(ls_domain_create(engine, "sm1", hertz(GHZ), &domain, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "domain 'sm1' comes after the run began");
    assert_int_equal(ls_domain_add_region(ls_region_domain(region), hertz(GHZ), &ninth, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "domain 'sm0' gets a region after the run began");
    ls_engine_destroy(engine);
}

static void test_memory(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_domain *domain = ls_region_domain(new_domain(engine, "d", GHZ));
    for (size_t bytes = 0; bytes < 10000; bytes += 997) {
        unsigned char *own = ls_domain_alloc(domain, bytes), *shared = ls_engine_alloc(engine, bytes);
        assert_non_null(own);
        assert_non_null(shared);
        assert_int_equal((uintptr_t)own % 64, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_true(own[i] == 0 && shared[i] == 0);
        memset(own, 0xff, bytes);
        memset(shared, 0xff, bytes);
    }
    assert_null(ls_domain_alloc(domain, SIZE_MAX));
    assert_null(ls_engine_alloc(engine, SIZE_MAX));
    ls_engine_destroy(engine);
}

/* A domain's stream depends on the seed and on its place, not on the draws of other domains. */
static void test_random_streams(void **state)
{
    (void)state;
    uint64_t drawn[3][4];
    for (int run = 0; run < 3; run++) {
        ls_engine *engine;
        assert_int_equal(ls_engine_create(run == 2 ? 8 : 7, &engine, NULL), LS_OK);
        ls_domain *domains[4];
        for (int i = 0; i < 4; i++) {
            char name[16];
            snprintf(name, sizeof name, "d%d", i);
            domains[i] = ls_region_domain(new_domain(engine, name, GHZ));
        }
        for (int i = 0; i < run * 10; i++)
            ls_random_next(ls_domain_random(domains[0]));
        for (int i = 1; i < 4; i++)
            drawn[run][i] = ls_random_next(ls_domain_random(domains[i]));
        ls_engine_destroy(engine);
    }
    for (int i = 1; i < 4; i++) {
        assert_int_equal(drawn[0][i], drawn[1][i]);
        assert_int_not_equal(drawn[0][i], drawn[2][i]);
        assert_int_not_equal(drawn[0][i], drawn[0][i % 3 + 1]);
    }
}

static void work_done(void *self, ls_cycle now)
{
    (void)now;
    ls_domain_pending(self, -3);
}

/* A run that comes to rest is complete without pending work, and a deadlock with. */
static void test_pending_work(void **state)
{
    (void)state;
    for (int64_t more = 0; more < 2; more++) {
        ls_engine *engine = new_engine();
        ls_region *region = new_domain(engine, "d", GHZ);
        ls_domain *domain = ls_region_domain(region);
        probe p;
        probe_init(&p, NULL, 0, work_done, domain);
        ls_schedule(region, &p.event, 7);
        ls_domain_pending(domain, 2);
        ls_domain_pending(domain, 1 + more);
        ls_error err = { 0 };
        assert_int_equal(ls_run(engine, NULL, NULL, &err), more == 0 ? LS_OK : LS_ERR_DEADLOCK);
        assert_string_equal(ls_engine_report(engine),
                            more == 0
                                ? ""
                                : "deadlock at 7.00 ns: nothing can happen any more and work is pending\n"
                                  "no block says what it waits for\n"
                                  "domains with work:\n"
                                  "  d: cycle 7, pending 1, next work never\n");
        ls_engine_destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_domain_knows),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_random_streams),
        cmocka_unit_test(test_pending_work),
    };
    return cmocka_run_group_tests_name("domain", tests, NULL, NULL);
}

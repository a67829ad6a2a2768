/* test_engine.c: the lookahead of a machine, and the link to blame for it. */
#include "engine/fixture.h"

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)link;
    (void)payload;
    (void)now;
}

static ls_link *join(ls_engine *engine, const char *name, ls_region *from, ls_region *to, uint32_t latency,
                     uint32_t back)
{
    return new_link(engine, &(ls_link_spec){ .name = name,
                                             .from = from,
                                             .to = to,
                                             .from_name = "core0.lsu",
                                             .to_name = "xbar",
                                             .latency_cycles = latency,
                                             .credit_latency_cycles = back,
                                             .credits = 1,
                                             .receive = receive });
}

static void test_lookahead_is_the_shortest_way(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ / 2);
    const ls_link *limiting = NULL;
    assert_int_equal(ls_engine_lookahead(engine, &limiting), LS_TIME_MAX);
    assert_null(limiting);
    assert_int_equal(ls_engine_require_lookahead(engine, LS_TIME_MAX, NULL), LS_OK);

    const ls_link *first = join(engine, "first", a, b, 20, 0);
    assert_int_equal(ls_engine_lookahead(engine, &limiting), 20 * FS_PER_GHZ_CYCLE);
    assert_ptr_equal(limiting, first);
    join(engine, "same", a, b, 20, 0); /* the first of equals stays to blame */
    assert_int_equal(ls_engine_lookahead(engine, &limiting), 20 * FS_PER_GHZ_CYCLE);
    assert_ptr_equal(limiting, first);
    const ls_link *credits = join(engine, "credits", a, b, 30, 6); /* credits count: 6 of b's cycles */
    assert_int_equal(ls_engine_lookahead(engine, &limiting), 12 * FS_PER_GHZ_CYCLE);
    assert_ptr_equal(limiting, credits);
    const ls_link *last = join(engine, "last", b, a, 5, 20);
    assert_int_equal(ls_engine_lookahead(engine, &limiting), 10 * FS_PER_GHZ_CYCLE);
    assert_ptr_equal(limiting, last);
    assert_int_equal(ls_engine_lookahead(engine, NULL), 10 * FS_PER_GHZ_CYCLE);
    assert_int_equal(run_all(engine).lookahead_fs, 10 * FS_PER_GHZ_CYCLE);
    ls_engine_destroy(engine);
}

/* The shortest time that so many periods can take: rounded down, never above any two edges. */
static void test_lookahead_of_an_odd_clock(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_region *a = new_domain(engine, "a", 3 * GHZ), *b = new_domain(engine, "b", 3 * GHZ);
    join(engine, "l", a, b, 1, 0);
    assert_int_equal(ls_engine_lookahead(engine, NULL), 333333);
    ls_engine_destroy(engine);
}

static void test_required_lookahead(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ);
    join(engine, "long", a, b, 100, 0);
    join(engine, "short", a, b, 8, 0);
    ls_error err = { 0 };
    assert_int_equal(ls_engine_require_lookahead(engine, 8 * FS_PER_GHZ_CYCLE, &err), LS_OK);
    assert_int_equal(ls_engine_require_lookahead(engine, 10 * FS_PER_GHZ_CYCLE, &err), LS_ERR_USAGE);
    assert_string_equal(err.what,
                        "link 'short' from 'core0.lsu' to 'xbar' is too short to be a domain boundary: "
                        "8.00 ns, at least 10.0 ns is needed");
    ls_engine_destroy(engine);
}

static void test_warnings_are_kept_once(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    size_t count = 7;
    (void)ls_engine_warnings(engine, &count);
    assert_int_equal(count, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ls_engine_warn(engine, "key", "'%s' has no effect", "a.b"), LS_OK);
        assert_int_equal(ls_engine_warn(engine, "assumption", "'%s' has no effect", "a.b"), LS_OK);
    }
    const ls_warning *warnings = ls_engine_warnings(engine, &count);
    assert_int_equal(count, 2);
    assert_string_equal(warnings[0].kind, "key");
    assert_string_equal(warnings[0].text, "'a.b' has no effect");
    assert_string_equal(warnings[1].kind, "assumption");
    ls_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookahead_is_the_shortest_way),
        cmocka_unit_test(test_lookahead_of_an_odd_clock),
        cmocka_unit_test(test_required_lookahead),
        cmocka_unit_test(test_warnings_are_kept_once),
    };
    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}

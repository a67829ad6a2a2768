/* test_group.c: groups of domains: how long each may run alone, which link decides it, and refusals. Random
 * groups are in test_determinism.c. */
#include "engine/fixture.h"

#include "engine/state.h"

enum { CYCLES = 1000 };

/* Runs every cycle, so that no window is skipped. */
typedef struct pulse {
    ls_event event;
    ls_region *region;
    uint64_t left, runs;
} pulse;

static void pulse_run(void *self, ls_cycle now)
{
    pulse *p = self;
    (void)now;
    p->runs++;
    if (--p->left > 0)
        ls_schedule(p->region, &p->event, 1);
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)payload;
    if (self != NULL)
        log_add(self, *(const uint32_t *)payload, now);
    ls_link_release(link, 1);
}

/* Two GPUs of two domains, joined by a fabric; `hops` are the latencies inside them, in cycles of a nanosecond. */
typedef struct machine {
    ls_engine *engine;
    ls_region *region[4];
    ls_group *group[2];
    pulse pulse[4];
    run_log log;
} machine;

static ls_link *join(machine *m, const char *name, int from, int to, uint32_t latency)
{
    return new_link(m->engine, &(ls_link_spec){ .name = name,
                                                .from = m->region[from],
                                                .to = m->region[to],
                                                .latency_cycles = latency,
                                                .credits = 4,
                                                .payload_bytes = sizeof(uint32_t),
                                                .receive = receive,
                                                .receiver = &m->log });
}

static void build(machine *m, const uint32_t hops[2], uint32_t fabric)
{
    *m = (machine){ .engine = new_engine() };
    static const char *const names[] = { "gpu0.core", "gpu0.l2", "gpu1.core", "gpu1.l2" };
    assert_int_equal(ls_group_create(m->engine, "gpu0", &m->group[0], NULL), LS_OK);
    assert_int_equal(ls_group_create(m->engine, "gpu1", &m->group[1], NULL), LS_OK);
    for (int i = 0; i < 4; i++) {
        m->region[i] = new_domain(m->engine, names[i], GHZ);
        assert_int_equal(ls_domain_set_group(ls_region_domain(m->region[i]), m->group[i / 2], NULL), LS_OK);
        m->pulse[i] = (pulse){ .region = m->region[i], .left = CYCLES };
        ls_event_init(&m->pulse[i].event, pulse_run, &m->pulse[i]);
        ls_schedule(m->region[i], &m->pulse[i].event, 0);
    }
    join(m, "gpu0.noc", 0, 1, hops[0]);
    join(m, "gpu1.noc", 2, 3, hops[1]);
    join(m, "fabric", 1, 2, fabric);
}

static void test_windows_of_groups(void **state)
{
    (void)state;
    /* { hop 0, hop 1, fabric, stop delay }, all in cycles; then the windows of each group in 1000 cycles */
    static const struct {
        uint32_t hops[2], fabric, stop;
        uint64_t windows[2];
    } cases[] = {
        { { 10, 50 }, 500, 500, { 100, 20 } },  /* a short hop does not cut the other group's windows */
        { { 50, 1000 }, 500, 500, { 20, 2 } },  /* nor the fabric: two meetings */
        { { 300, 500 }, 500, 500, { 4, 2 } },   /* a meeting ends the window that is running */
        { { 10, 50 }, 40, 500, { 100, 25 } },   /* the link between groups decides the length of meetings */
        { { 10, 500 }, 500, 100, { 100, 10 } }, /* or as the stop delay does */
        { { 10, 500 }, 500, 0, { 100, 100 } },  /* by default the shortest link of all */
    };
    for (size_t c = 0; c < LS_COUNT_OF(cases); c++)
        for (uint32_t threads = 1; threads <= 4; threads++) {
            machine m;
            build(&m, cases[c].hops, cases[c].fabric);
            if (cases[c].stop != 0)
                assert_int_equal(ls_engine_set_stop_delay(m.engine, cases[c].stop * FS_PER_GHZ_CYCLE, NULL),
                                 LS_OK);
            static const ls_assignment assignments[] = { LS_ASSIGN_STATIC, LS_ASSIGN_FIXED, LS_ASSIGN_DYNAMIC,
                                                         LS_ASSIGN_SHUFFLED };
            ls_run_result result =
                run_with(m.engine, &(ls_run_options){ .threads = threads,
                                                      .assignment = assignments[(c + threads) % 4] });
            for (int i = 0; i < 4; i++)
                assert_int_equal(m.pulse[i].runs, CYCLES);
            assert_int_equal(m.group[0]->windows, cases[c].windows[0]);
            assert_int_equal(m.group[1]->windows, cases[c].windows[1]);
            assert_int_equal(result.windows, cases[c].windows[0] + cases[c].windows[1]);
            assert_int_equal(result.end_time, (CYCLES - 1) * FS_PER_GHZ_CYCLE);
            ls_engine_destroy(m.engine);
        }
}

/* ------------------------------------------------------------------------------------------------ messages */

typedef struct sender {
    ls_event event;
    ls_link *link;
    uint32_t left;
} sender;

static void sender_run(void *self, ls_cycle now)
{
    sender *s = self;
    uint32_t *payload;
    while (s->left > 0 && (payload = ls_link_send(s->link, 1)) != NULL) {
        *payload = (uint32_t)now;
        s->left--;
    }
    if (s->left > 0)
        ls_link_wait(s->link, &s->event);
}

/* Four credits over a link of 100 cycles: four messages per round trip, at the same cycles as without groups. */
static void test_messages_and_credits_between_groups(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        machine m;
        build(&m, (const uint32_t[]){ 10, 20 }, 100);
        assert_int_equal(ls_engine_set_stop_delay(m.engine, 100 * FS_PER_GHZ_CYCLE, NULL), LS_OK);
        sender s = { .link = m.engine->links.at[2], .left = 10 };
        ls_event_init(&s.event, sender_run, &s);
        ls_schedule(m.region[1], &s.event, 7);
        run_with(m.engine, &(ls_run_options){ .threads = threads, .assignment = LS_ASSIGN_SHUFFLED });
        assert_log(&m.log, { 7, 107 }, { 7, 107 }, { 7, 107 }, { 7, 107 }, { 207, 307 }, { 207, 307 },
                   { 207, 307 }, { 207, 307 }, { 407, 507 }, { 407, 507 });
        assert_int_equal(ls_link_credits(s.link), 4);
        ls_engine_destroy(m.engine);
    }
}

/* ------------------------------------------------------------------------------------------------- queries */

static void test_lookahead_of_groups(void **state)
{
    (void)state;
    machine m;
    const ls_link *link;
    build(&m, (const uint32_t[]){ 10, 50 }, 500);
    assert_int_equal(ls_group_count(m.engine), 3);
    assert_string_equal(ls_group_name(ls_group_at(m.engine, 0)), "machine");
    assert_ptr_equal(ls_group_at(m.engine, 2), m.group[1]);
    assert_null(ls_group_at(m.engine, 3));
    assert_ptr_equal(ls_domain_group(ls_region_domain(m.region[3])), m.group[1]);
    assert_true(ls_group_lookahead(ls_group_at(m.engine, 0), &link) == LS_TIME_MAX);
    assert_null(link);
    assert_int_equal(ls_group_lookahead(m.group[0], &link), 10 * FS_PER_GHZ_CYCLE);
    assert_string_equal(ls_link_name(link), "gpu0.noc");
    assert_int_equal(ls_group_lookahead(m.group[1], NULL), 50 * FS_PER_GHZ_CYCLE);
    assert_int_equal(ls_engine_cross_lookahead(m.engine, &link), 500 * FS_PER_GHZ_CYCLE);
    assert_string_equal(ls_link_name(link), "fabric");
    assert_int_equal(ls_engine_lookahead(m.engine, &link), 10 * FS_PER_GHZ_CYCLE);
    assert_string_equal(ls_link_name(link), "gpu0.noc");
    assert_int_equal(ls_engine_stop_delay(m.engine), 10 * FS_PER_GHZ_CYCLE);

    ls_error err = { 0 };
    assert_int_equal(ls_engine_require_lookahead(m.engine, 11 * FS_PER_GHZ_CYCLE, &err), LS_ERR_USAGE);
    assert_string_equal(err.what,
                        "link 'gpu0.noc' from 'gpu0.core' to 'gpu0.l2' in group 'gpu0' is too short to "
                        "be a domain boundary: 10.0 ns, at least 11.0 ns is needed");
    join(&m, "short", 3, 0, 5);
    assert_int_equal(ls_engine_require_lookahead(m.engine, 11 * FS_PER_GHZ_CYCLE, &err), LS_ERR_USAGE);
    assert_string_equal(err.what,
                        "link 'short' from 'gpu1.l2' to 'gpu0.core' between groups 'gpu1' and 'gpu0' "
                        "is too short to be a domain boundary: 5.00 ns, at least 11.0 ns is needed");
    ls_engine_destroy(m.engine);
}

static void test_refusals(void **state)
{
    (void)state;
    machine m;
    ls_error err = { 0 };
    ls_group *group;
    build(&m, (const uint32_t[]){ 10, 50 }, 500);
    assert_int_equal(ls_group_create(m.engine, "gpu1", &group, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "there are two groups named 'gpu1'");
    assert_null(group);
    assert_int_equal(ls_engine_set_stop_delay(m.engine, 0, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "a stop delay of 0 fs: allowed are 1 to 10000000000");

    ls_engine *other = new_engine();
    ls_domain *domain = ls_region_domain(new_domain(other, "d", GHZ));
    assert_int_equal(ls_domain_set_group(domain, m.group[0], &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "group 'gpu0' belongs to another engine than domain 'd'");
    ls_engine_destroy(other);

    run_all(m.engine);
    assert_int_equal(ls_group_create(m.engine, "late", &group, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "group 'late' comes after the run began");
    domain = ls_region_domain(m.region[0]);
    assert_int_equal(ls_domain_set_group(domain, m.group[1], &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "domain 'gpu0.core' changes its group after the run began");
    assert_int_equal(ls_engine_set_stop_delay(m.engine, 1, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "the stop delay is set after the run began");
    ls_engine_destroy(m.engine);
}

static void test_scaling_names_groups(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        machine m;
        build(&m, (const uint32_t[]){ 10, 50 }, 500);
        assert_int_equal(ls_engine_set_stop_delay(m.engine, 500 * FS_PER_GHZ_CYCLE, NULL), LS_OK);
        run_with(m.engine, &(ls_run_options){ .threads = threads, .scaling = true });
        ls_scaling whole;
        ls_scaling_group part[3];
        assert_true(ls_scaling_report(m.engine, &whole));
        assert_int_equal(whole.windows, 2); /* meetings */
        for (uint32_t i = 0; i < 3; i++)
            assert_true(ls_scaling_report_group(m.engine, i, &part[i]));
        assert_false(ls_scaling_report_group(m.engine, 3, &part[0]));
        assert_int_equal(part[0].domains, 0);
        assert_string_equal(part[1].name, "gpu0");
        assert_int_equal(part[1].domains, 2);
        assert_int_equal(part[1].windows, 100);
        assert_int_equal(part[2].windows, 20);
        assert_int_equal(part[2].window_fs, 50 * FS_PER_GHZ_CYCLE);
        double work = part[1].work_seconds + part[2].work_seconds;
        assert_true(work > 0.999 * whole.work_seconds && work < 1.001 * whole.work_seconds);
        assert_true(part[1].span_seconds <= whole.span_seconds * 1.001);
        assert_true(whole.span_seconds <= (part[1].span_seconds + part[2].span_seconds) * 1.001);
        ls_engine_destroy(m.engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_of_groups),
        cmocka_unit_test(test_messages_and_credits_between_groups),
        cmocka_unit_test(test_lookahead_of_groups),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_scaling_names_groups),
    };
    return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}

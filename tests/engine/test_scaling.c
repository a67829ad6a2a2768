/* test_scaling.c: the arithmetic of the scaling report: work, span, and list scheduling on 2 to 64
 * threads, plus a barrier per window that is worth sharing. */
#include "engine/fixture.h"

#include "base/pool.h"
#include "engine/state.h"

#include <math.h>
#include <stdio.h>

enum { DOMAINS = 100 };

typedef struct machine {
    ls_engine *engine;
    ls_domain *domains[DOMAINS];
    double work, span, makespan[LS_SCALING_POINTS],
        parallel[LS_SCALING_POINTS]; /* ns, computed a second time */
    uint64_t windows;
} machine;

static int setup(void **state)
{
    machine *m = test_calloc(1, sizeof *m);
    m->engine = new_engine();
    for (size_t i = 0; i < DOMAINS; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%zu", i);
        m->domains[i] = ls_region_domain(new_domain(m->engine, name, GHZ));
    }
    assert_int_equal(scaling_start(m->engine, NULL), LS_OK);
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

/* One window in which domain i took ns[i]; expected makespans by hand for each number of threads. */
static void window(machine *m, const uint64_t *ns, size_t count, const uint64_t makespan[LS_SCALING_POINTS])
{
    uint64_t longest = 0;
    double work = 0;
    for (size_t i = 0; i < count; i++) {
        m->domains[i]->host_ns = ns[i];
        work += (double)ns[i];
        longest = ns[i] > longest ? ns[i] : longest;
    }
    scaling_window(m->engine->groups.at[0], m->domains, count);
    scaling_meeting(m->engine);
    ls_scaling report;
    assert_true(ls_scaling_report(m->engine, &report));
    m->work += work;
    m->span += (double)longest;
    m->windows++;
    for (int p = 0; p < LS_SCALING_POINTS; p++) {
        double shared = (double)makespan[p] + report.barrier_seconds * 1e9 * (p + 1);
        m->makespan[p] += (double)makespan[p];
        m->parallel[p] += shared < work ? shared : work; /* one thread does what is not worth sharing */
    }
}

static void near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * fabs(expected))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void check(machine *m)
{
    ls_scaling report;
    assert_true(ls_scaling_report(m->engine, &report));
    assert_int_equal(report.windows, m->windows);
    near(report.work_seconds, m->work * 1e-9);
    near(report.span_seconds, m->span * 1e-9);
    assert_true(report.barrier_seconds >= 0);
    assert_true(report.span_seconds <= report.work_seconds);
    for (int p = 0; p < LS_SCALING_POINTS; p++) {
        assert_int_equal(report.threads[p], 2u << p);
        near(report.speedup[p], m->work / m->parallel[p]);
        assert_true(report.speedup[p] >= 1 - 1e-9);
        assert_true(report.speedup[p] <= report.threads[p]);
        assert_true(report.speedup[p] <= report.work_seconds / report.span_seconds);
    }
    /* Without the barriers more threads are never slower. */
    for (int p = 1; p < LS_SCALING_POINTS; p++)
        assert_true(m->makespan[p] <= m->makespan[p - 1]);
}

static void test_nothing_measured(void **state)
{
    machine *m = *state;
    ls_scaling report;
    assert_false(ls_scaling_report(m->engine, &report));
    ls_engine *other = new_engine();
    assert_false(ls_scaling_report(other, &report));
    ls_engine_destroy(other);
}

static void test_equal_domains(void **state)
{
    machine *m = *state;
    uint64_t ns[64];
    for (size_t i = 0; i < 64; i++)
        ns[i] = 1000;
    static const uint64_t expected[] = { 32000, 16000, 8000, 4000, 2000, 1000 };
    for (int i = 0; i < 10; i++)
        window(m, ns, 64, expected);
    check(m);
}

static void test_one_long_domain_bounds_all(void **state)
{
    machine *m = *state;
    static const uint64_t ns[] = { 100, 100, 100, 9000, 100, 100 };
    /* two threads: 100 100 | 100 9000 | the rest beside it; then the long one starts at once */
    static const uint64_t expected[] = { 9100, 9000, 9000, 9000, 9000, 9000 };
    window(m, ns, LS_COUNT_OF(ns), expected);
    check(m);
}

static void test_more_domains_than_threads(void **state)
{
    machine *m = *state;
    uint64_t ns[100];
    for (size_t i = 0; i < 100; i++)
        ns[i] = 10;
    static const uint64_t expected[] = { 500, 250, 130, 70, 40, 20 };
    window(m, ns, 100, expected);
    check(m);
}

/* Each domain, in the order of the list, goes to the thread that is free first. */
static void test_list_scheduling(void **state)
{
    machine *m = *state;
    static const uint64_t ns[] = { 800, 700, 600, 500, 400 };
    /* 2: 800, 700+600 -> 800+500, 1300 -> 1300, 1300 -> +400 = 1700; 4: 800 700 600 500+400 */
    static const uint64_t expected[] = { 1700, 900, 800, 800, 800, 800 };
    window(m, ns, LS_COUNT_OF(ns), expected);
    static const uint64_t one[] = { 5 };
    static const uint64_t alone[] = { 5, 5, 5, 5, 5, 5 };
    window(m, one, 1, alone); /* windows add up */
    check(m);
}

/* A driver runs an engine from command to command: its runs add up. */
static void test_runs_add_up(void **state)
{
    machine *m = *state;
    static const uint64_t ns[] = { 100 };
    static const uint64_t expected[] = { 100, 100, 100, 100, 100, 100 };
    window(m, ns, 1, expected);
    assert_int_equal(scaling_start(m->engine, NULL), LS_OK);
    window(m, ns, 1, expected);
    check(m);
}

/* --------------------------------------------------------------------------------------------- a real run */

enum { WORK_NS = 50000, WINDOWS = 12, BUSY = 6 };

typedef struct busy {
    ls_event event;
    ls_region *region;
    uint32_t left;
} busy;

static void busy_run(void *self, ls_cycle now)
{
    busy *b = self;
    (void)now;
    uint64_t start = host_clock_ns();
    while (host_clock_ns() - start < WORK_NS) {
    }
    if (--b->left > 0)
        ls_schedule(b->region, &b->event, 10);
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)link;
    (void)payload;
    (void)now;
}

static void test_measured_run(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        ls_engine *engine = new_engine();
        busy all[BUSY] = { 0 };
        for (size_t i = 0; i < BUSY; i++) {
            char name[8];
            snprintf(name, sizeof name, "d%zu", i);
            all[i] = (busy){ .region = new_domain(engine, name, GHZ), .left = WINDOWS };
            ls_event_init(&all[i].event, busy_run, &all[i]);
            ls_schedule(all[i].region, &all[i].event, 0);
        }
        new_link(engine, &(ls_link_spec){ .name = "l",
                                          .from = all[0].region,
                                          .to = all[1].region,
                                          .latency_cycles = 10,
                                          .credits = 1,
                                          .receive = receive });
        ls_run_result result = run_with(engine, &(ls_run_options){ .threads = threads, .scaling = true });
        ls_scaling report;
        assert_true(ls_scaling_report(engine, &report));
        assert_int_equal(report.windows, WINDOWS);
        assert_int_equal(result.windows, WINDOWS);
        /* The waiting takes at least its time, on any machine. */
        assert_true(report.work_seconds >= BUSY * WINDOWS * WORK_NS * 1e-9);
        assert_true(report.span_seconds >= WINDOWS * WORK_NS * 1e-9);
        assert_true(report.span_seconds <= report.work_seconds);
        for (int p = 0; p < LS_SCALING_POINTS; p++) {
            assert_true(report.speedup[p] > 0);
            assert_true(report.speedup[p] <= report.threads[p] + 1e-9);
            assert_true(report.speedup[p] <= report.work_seconds / report.span_seconds + 1e-9);
        }
        ls_engine_destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_measured, setup, teardown),
        cmocka_unit_test_setup_teardown(test_equal_domains, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_long_domain_bounds_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_more_domains_than_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list_scheduling, setup, teardown),
        cmocka_unit_test_setup_teardown(test_runs_add_up, setup, teardown),
        cmocka_unit_test(test_measured_run),
    };
    return cmocka_run_group_tests_name("scaling", tests, NULL, NULL);
}

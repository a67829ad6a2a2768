/* test_run.c: how a run starts, jumps over idle time, ends, is stopped, watched and continued. */
#include "engine/fixture.h"

#include <pthread.h>

#include <stdio.h>
#include <unistd.h>

/* A block that ticks until `last`, and counts. */
typedef struct counter {
    ls_ticker ticker;
    uint64_t runs, last;
    ls_cycle stop_at; /* calls ls_domain_stop() in this cycle */
    bool progress;
} counter;

static bool counter_tick(void *self, ls_cycle now)
{
    counter *c = self;
    c->runs++;
    if (c->stop_at != 0 && now == c->stop_at)
        ls_domain_stop(ls_region_domain(c->ticker.region));
    if (c->progress)
        ls_domain_progress(ls_region_domain(c->ticker.region));
    return now < c->last;
}

static void counter_start(counter *c, ls_region *region, uint64_t last)
{
    c->last = last;
    assert_int_equal(ls_ticker_add(region, &c->ticker, counter_tick, c, NULL), LS_OK);
    ls_ticker_wake(&c->ticker);
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)payload;
    if (self != NULL)
        log_add(self, ls_link_id(link), now);
    ls_link_release(link, 1);
}

static ls_link *join(ls_engine *engine, ls_region *from, ls_region *to, uint32_t latency, run_log *log)
{
    return new_link(engine, &(ls_link_spec){ .name = "wire",
                                             .from = from,
                                             .to = to,
                                             .latency_cycles = latency,
                                             .credits = 4,
                                             .receive = receive,
                                             .receiver = log });
}

static void send(void *self, ls_cycle now)
{
    (void)now;
    assert_non_null(ls_link_send(self, 1));
}

/* --------------------------------------------------------------------------------------- the simple cases */

static void test_nothing_to_run(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_run_result result = run_with(engine, &(ls_run_options){ .threads = 8 });
    assert_int_equal(result.windows, 0);
    assert_int_equal(result.end_time, 0);
    assert_int_equal(result.lookahead_fs, LS_TIME_MAX);
    assert_false(result.partial);
    assert_int_equal(ls_run(engine, NULL, NULL, NULL), LS_OK);
    assert_string_equal(ls_engine_report(engine), "");
    ls_engine_destroy(engine);
    ls_engine_destroy(NULL);
}

static void test_domains_without_links(void **state)
{
    (void)state;
    for (uint32_t threads = 0; threads <= 8; threads += 4) {
        ls_engine *engine = new_engine();
        counter c[3] = { 0 };
        counter_start(&c[0], new_domain(engine, "a", GHZ), 29999);
        counter_start(&c[1], new_domain(engine, "b", 2 * GHZ), 10);
        counter_start(&c[2], new_domain(engine, "c", 3 * GHZ), 99999);
        ls_run_result result = run_with(engine, &(ls_run_options){ .threads = threads });
        assert_int_equal(c[0].runs, 30000);
        assert_int_equal(c[1].runs, 11);
        assert_int_equal(c[2].runs, 100000);
        assert_int_equal(result.ticks, 130011);
        assert_int_equal(result.end_time, edge_time(3 * GHZ, 99999));
        assert_int_equal(result.windows, 4); /* of 10 us */
        ls_engine_destroy(engine);
    }
}

static void test_idle_time_costs_no_windows(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    run_log log = { 0 };
    ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ);
    ls_link *link = join(engine, a, b, 20, &log);
    probe p[3];
    for (uint64_t i = 0; i < 3; i++) {
        probe_init(&p[i], NULL, i, send, link);
        ls_schedule(a, &p[i].event, i * UINT64_C(1000000000000));
    }
    ls_run_result result = run_all(engine);
    assert_log(&log, { 0, 20 }, { 0, UINT64_C(1000000000020) }, { 0, UINT64_C(2000000000020) });
    assert_int_equal(result.end_time, UINT64_C(2000000000020) * FS_PER_GHZ_CYCLE);
    assert_int_equal(result.region_cycles, 6);
    assert_true(result.windows <= 9); /* sent, arrived, the credit came home: three times */
    ls_engine_destroy(engine);
}

static void test_more_threads_than_domains(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    run_log log = { 0 };
    ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ);
    probe p;
    probe_init(&p, NULL, 0, send, join(engine, a, b, 5, &log));
    ls_schedule(a, &p.event, 1);
    run_with(engine, &(ls_run_options){ .threads = 1000 });
    assert_log(&log, { 0, 6 });
    ls_engine_destroy(engine);
}

/* A domain that is busy for a while in each of its cycles, and notes by whom it was run. */
typedef struct toiler {
    ls_event event;
    ls_region *region;
    pthread_t first;
    uint32_t runs, by_others;
} toiler;

static void toil(void *self, ls_cycle now)
{
    (void)now;
    toiler *t = self;
    volatile uint32_t turns = 0;
    while (turns < 100000)
        turns = turns + 1;
    if (t->runs == 0)
        t->first = pthread_self();
    t->by_others += !pthread_equal(t->first, pthread_self());
    if (++t->runs < 40)
        ls_schedule(t->region, &t->event, 20);
}

/* Windows without work, then windows of several domains with work. True if two threads have shared these. */
static bool is_shared_after_windows_without_work(void)
{
    enum { TOILERS = 4 };
    ls_engine *engine = new_engine();
    run_log log = { 0 };
    ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ);
    ls_link *link = join(engine, a, b, 20, &log);
    probe p[3];
    toiler toilers[TOILERS] = { 0 };
    for (uint64_t i = 0; i < 3; i++) {
        probe_init(&p[i], NULL, 0, send, link);
        ls_schedule(a, &p[i].event, 200 * i);
    }
    for (uint32_t i = 0; i < TOILERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "toiler%u", i);
        toilers[i].region = new_domain(engine, name, GHZ);
        ls_event_init(&toilers[i].event, toil, &toilers[i]);
        ls_schedule(toilers[i].region, &toilers[i].event, 1000);
    }
    run_with(engine, &(ls_run_options){ .threads = 2 });
    uint32_t threads = 0, runs = 0;
    for (uint32_t i = 0; i < TOILERS; i++) {
        threads += toilers[i].by_others > 0 || !pthread_equal(toilers[i].first, toilers[0].first);
        runs += toilers[i].runs;
    }
    assert_int_equal(runs, TOILERS * 40);
    ls_engine_destroy(engine);
    return threads > 0;
}

/* A window in which only a credit is on its way has no work, so it gives no time per cycle. Later windows must
 * be shared by threads all the same. A busy host may keep the second thread waiting for a whole run, but not for all of them. */
static void test_windows_without_work(void **state)
{
    (void)state;
    bool shared = false;
    for (uint32_t tries = 0; tries < 200 && !shared; tries++)
        shared = is_shared_after_windows_without_work();
    assert_true(shared);
}

/* ------------------------------------------------------------------------------------------ until, resume */

static void test_until_is_exclusive(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    run_log log = { 0 };
    ls_region *region = new_domain(engine, "d", GHZ);
    probe p[3];
    for (uint64_t i = 0; i < 3; i++) {
        probe_init(&p[i], &log, i, NULL, NULL);
        ls_schedule(region, &p[i].event, 10 + i);
    }
    ls_run_result result = run_with(engine, &(ls_run_options){ .until = 11 * FS_PER_GHZ_CYCLE });
    assert_log(&log, { 0, 10 });
    assert_int_equal(result.events, 1);
    assert_int_equal(result.end_time, 10 * FS_PER_GHZ_CYCLE);
    assert_true(result.limited); /* two events are left */
    run_with(engine, &(ls_run_options){ .until = 11 * FS_PER_GHZ_CYCLE + 1 });
    assert_log(&log, { 0, 10 }, { 1, 11 });
    result = run_with(engine, &(ls_run_options){ .until = 5 }); /* in the past: nothing happens */
    assert_int_equal(result.windows, 0);
    result = run_all(engine);
    assert_log(&log, { 0, 10 }, { 1, 11 }, { 2, 12 });
    assert_int_equal(result.events, 3); /* of all runs */
    assert_int_equal(result.windows, 1);
    assert_false(result.limited);
    result = run_with(engine, &(ls_run_options){ .until = 13 * FS_PER_GHZ_CYCLE });
    assert_false(result.limited); /* nothing is left */
    ls_engine_destroy(engine);
}

/* Cut anywhere, also between the sending of a message and its arrival, a run goes on as if it had not
 * been. */
static void test_cut_while_messages_are_under_way(void **state)
{
    (void)state;
    for (uint64_t cut = 1; cut < 60; cut++) {
        ls_engine *engine = new_engine();
        run_log log = { 0 };
        ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ);
        ls_link *link = join(engine, a, b, 20, &log);
        probe p[4];
        for (uint64_t i = 0; i < 4; i++) {
            probe_init(&p[i], NULL, i, send, link);
            ls_schedule(a, &p[i].event, i * 7);
        }
        run_with(engine, &(ls_run_options){ .until = cut * FS_PER_GHZ_CYCLE / 2 });
        run_all(engine);
        assert_log(&log, { 0, 20 }, { 0, 27 }, { 0, 34 }, { 0, 41 });
        assert_int_equal(ls_link_credits(link), 4);
        ls_engine_destroy(engine);
    }
}

/* Events scheduled between runs cannot send into the past of a domain that went further. */
static void test_a_later_launch_arrives_later(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        ls_engine *engine = new_engine();
        run_log log = { 0 };
        ls_region *driver = new_domain(engine, "driver", GHZ), *worker = new_domain(engine, "worker", GHZ);
        ls_link *link = join(engine, driver, worker, 20, &log);
        probe launch, work;
        probe_init(&launch, NULL, 0, send, link);
        probe_init(&work, &log, 7, NULL, NULL);
        ls_schedule(driver, &launch.event, 0);
        ls_schedule(worker, &work.event, 5000);
        run_with(engine, &(ls_run_options){ .threads = threads });
        ls_schedule(driver, &launch.event, 0);
        run_with(engine, &(ls_run_options){ .threads = threads });
        assert_log(&log, { 0, 20 }, { 7, 5000 }, { 0, 5021 });
        ls_engine_destroy(engine);
    }
}

/* A run ends between a send and its arrival. The message is in no wheel then, and is all that is pending. */
static void test_a_message_arrives_in_the_next_run(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        ls_engine *engine = new_engine();
        run_log log = { 0 };
        ls_region *driver = new_domain(engine, "driver", GHZ), *worker = new_domain(engine, "worker", GHZ);
        ls_link *link = join(engine, driver, worker, 20, &log);
        probe launch;
        probe_init(&launch, NULL, 0, send, link);
        ls_schedule(driver, &launch.event, 0);
        run_with(engine, &(ls_run_options){ .threads = threads, .until = edge_time(GHZ, 10) });
        assert_int_equal(log.count, 0);
        run_with(engine, &(ls_run_options){ .threads = threads });
        assert_log(&log, { 0, 20 });
        ls_engine_destroy(engine);
    }
}

/* -------------------------------------------------------------------------------------------------- stop */

static const uint64_t stop_hz[4] = { GHZ, 1365000000, 700000000, 2 * GHZ };

static void check_stop(ls_time window, uint32_t threads, bool second)
{
    ls_engine *engine = new_engine();
    counter c[4] = { 0 };
    ls_region *regions[4];
    for (size_t i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "d%zu", i);
        regions[i] = new_domain(engine, name, stop_hz[i]);
        counter_start(&c[i], regions[i], UINT64_MAX);
    }
    for (size_t i = 0; i < 4; i++)
        join(engine, regions[i], regions[(i + 1) % 4], 30, NULL);
    c[1].stop_at = 1000;
    if (second)
        c[3].stop_at = 1480; /* later, though maybe in the same window */
    ls_time lookahead = ls_engine_lookahead(engine, NULL);
    assert_int_equal(lookahead, edge_time(2 * GHZ, 30));
    ls_time stop = edge_time(stop_hz[1], 1000) + lookahead;
    ls_run_options options = { .threads = threads, .window_fs = window, .assignment = LS_ASSIGN_SHUFFLED };
    ls_run_result result = run_with(engine, &options);
    assert_false(result.partial);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(c[i].runs, first_edge(stop_hz[i], stop)); /* exactly the edges before */
    /* A stop belongs to its run: the next one goes on. */
    options.until = stop + 1000 * FS_PER_GHZ_CYCLE;
    run_with(engine, &options);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(c[i].runs, first_edge(stop_hz[i], options.until));
    ls_engine_destroy(engine);
}

static void test_stop_is_the_same_for_windows_and_threads(void **state)
{
    (void)state;
    static const ls_time windows[] = { 0, 7000000, 1000000, 333333, 1 << 16 };
    for (size_t w = 0; w < LS_COUNT_OF(windows); w++)
        for (uint32_t threads = 1; threads <= 3; threads++) {
            check_stop(windows[w], threads, false);
            check_stop(windows[w], threads, true);
        }
}

static void test_stop_without_links(void **state)
{
    (void)state;
    for (ls_time window = 0; window <= 1000000; window += 1000000) {
        ls_engine *engine = new_engine();
        counter c = { .stop_at = 123 };
        counter_start(&c, new_domain(engine, "d", GHZ), UINT64_MAX);
        run_with(engine, &(ls_run_options){ .window_fs = window });
        assert_int_equal(c.runs, 123 + 10000); /* 10 us later */
        ls_engine_destroy(engine);
    }
}

/* --------------------------------------------------------------------------------- control and progress */

static void raise_flag(void *self, ls_cycle now)
{
    (void)now;
    atomic_store((atomic_int *)self, 1);
}

static void test_control_stop(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        ls_engine *engine = new_engine();
        ls_run_control control = { 0 };
        counter c[2] = { 0 };
        ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ);
        join(engine, a, b, 50, NULL);
        counter_start(&c[0], a, 9999);
        counter_start(&c[1], b, 9999);
        probe p;
        probe_init(&p, NULL, 0, raise_flag, &control.stop);
        ls_schedule(a, &p.event, 120);
        ls_run_options options = { .threads = threads, .control = &control };
        ls_run_result result = run_with(engine, &options);
        assert_true(result.partial);
        assert_int_equal(c[0].runs, 150); /* to the end of the window */
        assert_int_equal(c[1].runs, 150);
        result = run_with(engine, &options); /* still up: nothing runs */
        assert_true(result.partial);
        assert_int_equal(result.windows, 0);
        atomic_store(&control.stop, 0);
        result = run_with(engine, &options);
        assert_false(result.partial);
        assert_int_equal(c[0].runs, 10000);
        assert_int_equal(c[1].runs, 10000);
        ls_engine_destroy(engine);
    }
}

static void test_dump(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_run_control control = { 0 };
    ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ);
    join(engine, a, b, 50, NULL);
    probe p, later;
    probe_init(&p, NULL, 0, raise_flag, &control.dump);
    probe_init(&later, NULL, 0, NULL, NULL);
    ls_schedule(a, &p.event, 120);
    ls_schedule(b, &later.event, 300);
    ls_domain_pending(ls_region_domain(b), 2);
    FILE *to = tmpfile();
    assert_non_null(to);
    ls_error err;
    assert_int_equal(ls_run(engine, &(ls_run_options){ .control = &control, .dump_to = to }, NULL, &err),
                     LS_ERR_DEADLOCK);
    assert_int_equal(atomic_load(&control.dump), 0);
    char text[512] = "";
    rewind(to);
    size_t bytes = fread(text, 1, sizeof text - 1, to);
    fclose(to);
    assert_true(bytes > 0);
    assert_string_equal(text, "status at 120 ns, window 1:\n"
                              "  a: cycle 120, pending 0, next work never\n"
                              "  b: cycle 0, pending 2, next work 300 ns\n"
                              "waiters (0):\n");
    ls_engine_destroy(engine);
}

typedef struct seen {
    uint32_t calls;
    ls_run_progress last;
} seen;

static void see(void *self, const ls_run_progress *progress)
{
    seen *s = self;
    assert_true(progress->now >= s->last.now);
    assert_true(progress->windows > s->last.windows);
    assert_true(progress->events > s->last.events);
    assert_true(progress->messages > s->last.messages);
    s->last = *progress;
    s->calls++;
}

typedef struct dozer {
    ls_link *link;
    useconds_t us;
} dozer;

static void doze(void *self, ls_cycle now)
{
    dozer *d = self;
    (void)now;
    assert_non_null(ls_link_send(d->link, 1));
    usleep(d->us);
}

static void check_progress(uint32_t threads, uint32_t windows, useconds_t us)
{
    ls_engine *engine = new_engine();
    ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ);
    dozer d = { join(engine, a, b, 50, NULL), us };
    probe *p = test_calloc(windows, sizeof *p);
    for (uint64_t i = 0; i < windows; i++) {
        probe_init(&p[i], NULL, i, doze, &d);
        ls_schedule(a, &p[i].event, i * 50);
    }
    seen s = { 0 };
    ls_run_options options = { .threads = threads, .progress = see, .progress_self = &s };
    ls_run_result result = run_with(engine, &options);
    assert_true(s.calls >= 1);
    assert_true(s.last.windows <= result.windows);
    assert_true(s.last.events <= windows);
    ls_engine_destroy(engine);
    test_free(p);
}

/* 130 ms and more, in many short windows and in a few long ones. */
static void test_progress(void **state)
{
    (void)state;
    check_progress(1, 130, 1000);
    check_progress(2, 130, 1000);
    check_progress(1, 7, 20000);
}

/* ----------------------------------------------------------------------------------------------- watchdog */

static ls_status watch(counter *c, uint64_t last, ls_time watchdog, int64_t pending, ls_time until, char *what)
{
    ls_engine *engine = new_engine();
    ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ);
    join(engine, a, b, 10, NULL);
    counter_start(c, a, last);
    ls_domain_pending(ls_region_domain(b), pending);
    ls_error err = { 0 };
    ls_run_options options = { .watchdog_fs = watchdog, .until = until };
    ls_status status = ls_run(engine, &options, NULL, &err);
    if (what != NULL)
        snprintf(what, sizeof err.what, "%s", err.what);
    ls_engine_destroy(engine);
    return status;
}

static void test_watchdog_ends_a_livelock(void **state)
{
    (void)state;
    char what[sizeof((ls_error *)0)->what];
    ls_time us = 1000 * FS_PER_GHZ_CYCLE;
    counter polls = { 0 };
    assert_int_equal(watch(&polls, UINT64_MAX, us, 1, 0, what), LS_ERR_DEADLOCK);
    assert_string_equal(what, "deadlock at 999 ns: no progress for 1.00 us");
    assert_int_equal(polls.runs, 1000);

    counter works = { .progress = true }; /* the same polling with progress goes on to its end */
    assert_int_equal(watch(&works, 20000, us, 1, 30 * us, what), LS_ERR_DEADLOCK);
    assert_string_equal(what, "deadlock at 20.0 us: nothing can happen any more and work is pending");
    assert_int_equal(works.runs, 20001);

    counter nobody_waits = { 0 }; /* idle polling without work pending is no deadlock */
    assert_int_equal(watch(&nobody_waits, UINT64_MAX, us, 0, 20 * us, what), LS_OK);
    assert_int_equal(nobody_waits.runs, 20000);

    counter off = { 0 };
    assert_int_equal(watch(&off, UINT64_MAX, 0, 1, 20 * us, what), LS_OK);
    assert_int_equal(off.runs, 20000);
}

typedef struct metronome {
    ls_event event;
    ls_region *region;
    uint32_t left;
    uint64_t period;
} metronome;

static void metronome_run(void *self, ls_cycle now)
{
    metronome *m = self;
    (void)now;
    if (--m->left > 0)
        ls_schedule(m->region, &m->event, m->period);
}

/* Long timers are waiting, not polling: simulated time passes, windows do not. */
static void test_watchdog_lets_timers_be(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ);
    join(engine, a, b, 10, NULL);
    metronome m = { .region = a, .left = 50, .period = 1000000 };
    ls_event_init(&m.event, metronome_run, &m);
    ls_schedule(a, &m.event, 0);
    ls_domain_pending(ls_region_domain(a), 1);
    ls_error err = { 0 };
    ls_run_options options = { .watchdog_fs = 1000 * FS_PER_GHZ_CYCLE };
    assert_int_equal(ls_run(engine, &options, NULL, &err), LS_ERR_DEADLOCK);
    assert_string_equal(err.what, "deadlock at 49.0 ms: nothing can happen any more and work is pending");
    assert_int_equal(m.left, 0);
    ls_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_run),
        cmocka_unit_test(test_domains_without_links),
        cmocka_unit_test(test_idle_time_costs_no_windows),
        cmocka_unit_test(test_more_threads_than_domains),
        cmocka_unit_test(test_windows_without_work),
        cmocka_unit_test(test_until_is_exclusive),
        cmocka_unit_test(test_cut_while_messages_are_under_way),
        cmocka_unit_test(test_a_message_arrives_in_the_next_run),
        cmocka_unit_test(test_a_later_launch_arrives_later),
        cmocka_unit_test(test_stop_is_the_same_for_windows_and_threads),
        cmocka_unit_test(test_stop_without_links),
        cmocka_unit_test(test_control_stop),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_watchdog_ends_a_livelock),
        cmocka_unit_test(test_watchdog_lets_timers_be),
    };
    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}

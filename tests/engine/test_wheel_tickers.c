/* test_wheel_tickers.c: tickers run in order, every cycle while they have work, and wake when engine.h
 * says. */
#include "engine/fixture.h"

/* A ticker that logs, then wakes one other, then says how many more cycles it wants. */
typedef struct beat {
    ls_ticker ticker;
    run_log *log;
    uint64_t id;
    uint64_t more;       /* cycles that it still wants to run after this one */
    struct beat *wakes;  /* in its next run, once */
    ls_event *schedules; /* with delay 0, in its next run, once */
    uint64_t runs;
} beat;

typedef struct machine {
    ls_engine *engine;
    ls_region *region;
    run_log log;
    beat beats[1200];
    probe p[8];
} machine;

static bool beat_tick(void *self, ls_cycle now)
{
    beat *b = self;
    b->runs++;
    if (b->log != NULL)
        log_add(b->log, b->id, now);
    if (b->schedules != NULL)
        ls_schedule(b->ticker.region, b->schedules, 0);
    b->schedules = NULL;
    beat *wakes = b->wakes;
    b->wakes = NULL;
    if (wakes != NULL)
        ls_ticker_wake(&wakes->ticker);
    return b->more > 0 && b->more-- > 0;
}

static void wake(void *self, ls_cycle now)
{
    (void)now;
    ls_ticker_wake(&((beat *)self)->ticker);
}

static int setup(void **state)
{
    machine *m = test_calloc(1, sizeof *m);
    m->engine = new_engine();
    m->region = new_domain(m->engine, "d", GHZ);
    for (size_t i = 0; i < LS_COUNT_OF(m->beats); i++) {
        m->beats[i].log = &m->log;
        m->beats[i].id = i;
        assert_int_equal(ls_ticker_add(m->region, &m->beats[i].ticker, beat_tick, &m->beats[i], NULL), LS_OK);
    }
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

static void test_asleep_until_woken(void **state)
{
    machine *m = *state;
    ls_run_result result = run_all(m->engine);
    assert_int_equal(result.ticks, 0);
    assert_int_equal(result.region_cycles, 0);
    /* woken between runs: nothing ran before, so the first cycle is 0; then asleep until an event 5000
     * later */
    m->beats[3].more = 2;
    ls_ticker_wake(&m->beats[3].ticker);
    probe_init(&m->p[0], &m->log, 900, wake, &m->beats[3]);
    ls_schedule(m->region, &m->p[0].event, 5000);
    result = run_all(m->engine);
    assert_log(&m->log, { 3, 0 }, { 3, 1 }, { 3, 2 }, { 900, 5000 }, { 3, 5000 });
    assert_int_equal(result.ticks, 4);
    assert_int_equal(result.region_cycles, 4);
}

static void test_order_is_that_of_adding(void **state)
{
    machine *m = *state;
    static const uint64_t woken[] = { 63, 1199, 0, 64, 65, 1024, 127, 128, 640 };
    for (size_t i = 0; i < LS_COUNT_OF(woken); i++) {
        m->beats[woken[i]].more = 1;
        ls_ticker_wake(&m->beats[woken[i]].ticker);
    }
    run_all(m->engine);
    assert_log(&m->log, { 0, 0 }, { 63, 0 }, { 64, 0 }, { 65, 0 }, { 127, 0 }, { 128, 0 }, { 640, 0 },
               { 1024, 0 }, { 1199, 0 }, { 0, 1 }, { 63, 1 }, { 64, 1 }, { 65, 1 }, { 127, 1 }, { 128, 1 },
               { 640, 1 }, { 1024, 1 }, { 1199, 1 });
}

/* From an event or a ticker added earlier: in this cycle. From itself or a ticker added later: in the
 * next. */
static void test_wake_rules(void **state)
{
    machine *m = *state;
    static const struct {
        uint64_t waker, woken, delay;
    } rules[] = {
        { 5, 6, 0 },       { 5, 5, 1 },       { 6, 5, 1 },       { 0, 63, 0 },    { 63, 0, 1 },
        { 63, 64, 0 },     { 64, 63, 1 },     { 10, 1100, 0 },   { 1100, 10, 1 }, { 1100, 1100, 1 },
        { 1199, 1199, 1 }, { 1023, 1024, 0 }, { 1024, 1023, 1 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(rules); i++) {
        m->log.count = 0;
        beat *waker = &m->beats[rules[i].waker];
        waker->wakes = &m->beats[rules[i].woken];
        ls_ticker_wake(&waker->ticker);
        run_all(m->engine);
        ls_cycle first = m->log.at[0].cycle;
        assert_log(&m->log, { rules[i].waker, first }, { rules[i].woken, first + rules[i].delay });
    }
}

static void test_wake_from_an_event_is_in_this_cycle(void **state)
{
    machine *m = *state;
    probe_init(&m->p[0], &m->log, 2000, wake, &m->beats[70]);
    probe_init(&m->p[1], &m->log, 2001, wake, &m->beats[70]); /* woken twice, runs once */
    ls_schedule(m->region, &m->p[0].event, 9);
    ls_schedule(m->region, &m->p[1].event, 9);
    run_all(m->engine);
    assert_log(&m->log, { 2000, 9 }, { 2001, 9 }, { 70, 9 });
}

typedef struct receiver {
    run_log *log;
    beat *wakes;
} receiver;

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    receiver *r = self;
    (void)payload;
    log_add(r->log, 3000, now);
    ls_link_release(link, 1);
    ls_ticker_wake(&r->wakes->ticker);
}

static void send(void *self, ls_cycle now)
{
    (void)now;
    assert_non_null(ls_link_send(self, 1));
}

static void test_wake_from_an_arrival_is_in_this_cycle(void **state)
{
    machine *m = *state;
    ls_region *other = new_domain(m->engine, "other", GHZ);
    receiver r = { &m->log, &m->beats[1] };
    ls_link_spec spec = {
        .from = other, .to = m->region, .latency_cycles = 7, .credits = 1, .receive = receive, .receiver = &r
    };
    ls_link *link = new_link(m->engine, &spec);
    probe_init(&m->p[0], NULL, 0, send, link);
    probe_init(&m->p[1], &m->log, 3001, NULL, NULL);
    ls_schedule(other, &m->p[0].event, 20);
    ls_schedule(m->region, &m->p[1].event, 27);
    run_all(m->engine);
    assert_log(&m->log, { 3000, 27 }, { 3001, 27 }, { 1, 27 });
}

/* Events that a ticker schedules for the same cycle run after all tickers; tickers that they wake run in the
 * next. */
static void test_events_scheduled_by_tickers(void **state)
{
    machine *m = *state;
    probe_init(&m->p[0], &m->log, 4000, wake, &m->beats[1000]);
    probe_init(&m->p[1], &m->log, 4001, wake, &m->beats[2]);
    ls_schedule(m->region, &m->p[1].event, 100);
    m->beats[2].schedules = &m->p[0].event;
    m->beats[2].wakes = &m->beats[900];
    ls_run_result result = run_all(m->engine);
    assert_log(&m->log, { 4001, 100 }, { 2, 100 }, { 900, 100 }, { 4000, 100 }, { 1000, 101 });
    assert_int_equal(result.region_cycles, 2);
}

static void test_a_thousand_at_once(void **state)
{
    machine *m = *state;
    for (size_t i = 0; i < LS_COUNT_OF(m->beats); i++) {
        m->beats[i].log = NULL;
        m->beats[i].more = i;
        ls_ticker_wake(&m->beats[i].ticker);
    }
    ls_run_result result = run_all(m->engine);
    for (size_t i = 0; i < LS_COUNT_OF(m->beats); i++)
        assert_int_equal(m->beats[i].runs, i + 1);
    assert_int_equal(result.ticks, 1200 * 1201 / 2);
    assert_int_equal(result.region_cycles, 1200);
    assert_int_equal(result.end_time, 1199 * FS_PER_GHZ_CYCLE);
}

/* One may be woken by a block on another clock of its domain: it starts at its own clock's next edge. */
static void test_wake_from_another_clock(void **state)
{
    machine *m = *state;
    ls_region *slow = new_region(m->region, GHZ / 4);
    beat late = { .log = &m->log, .id = 5000, .more = 2 };
    assert_int_equal(ls_ticker_add(slow, &late.ticker, beat_tick, &late, NULL), LS_OK);
    probe_init(&m->p[0], &m->log, 5001, wake, &late);
    probe_init(&m->p[1], &m->log, 5002, wake, &m->beats[0]);
    ls_schedule(m->region, &m->p[0].event, 4001);
    ls_schedule(slow, &m->p[1].event, 2000); /* edge 8000 of the first clock has had its turn */
    run_all(m->engine);
    assert_log(&m->log, { 5001, 4001 }, { 5000, 1001 }, { 5000, 1002 }, { 5000, 1003 }, { 5002, 2000 },
               { 0, 8001 });
}

static void test_limit(void **state)
{
    machine *m = *state;
    ls_region *region = new_domain(m->engine, "crowded", GHZ);
    ls_ticker *tickers = test_calloc(4097, sizeof *tickers);
    ls_error err = { 0 };
    for (size_t i = 0; i < 4096; i++)
        assert_int_equal(ls_ticker_add(region, &tickers[i], beat_tick, &m->beats[0], &err), LS_OK);
    assert_int_equal(ls_ticker_add(region, &tickers[4096], beat_tick, &m->beats[0], &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "domain 'crowded' has more than 4096 tickers on one clock");
    /* the last one of the last word works */
    ls_ticker_wake(&tickers[4095]);
    ls_run_result result = run_all(m->engine);
    assert_int_equal(result.ticks, 1);
    assert_int_equal(m->beats[0].runs, 1);
    test_free(tickers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_asleep_until_woken, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order_is_that_of_adding, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wake_rules, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wake_from_an_event_is_in_this_cycle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wake_from_an_arrival_is_in_this_cycle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_events_scheduled_by_tickers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_thousand_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wake_from_another_clock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
    };
    return cmocka_run_group_tests_name("tickers", tests, NULL, NULL);
}

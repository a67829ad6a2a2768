/* test_wheel.c: events run in the cycle and in the order that engine.h promises, at any distance, and can
 * always be cancelled. */
#include "engine/fixture.h"

typedef struct machine {
    ls_engine *engine;
    ls_region *region;
    run_log log;
    probe p[16];
} machine;

static int setup(void **state)
{
    machine *m = test_calloc(1, sizeof *m);
    m->engine = new_engine();
    m->region = new_domain(m->engine, "d", GHZ);
    for (size_t i = 0; i < LS_COUNT_OF(m->p); i++)
        probe_init(&m->p[i], &m->log, i, NULL, NULL);
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

/* ------------------------------------------------------------------------------------------------- order */

static void test_order_of_cycles_and_of_scheduling(void **state)
{
    machine *m = *state;
    static const uint64_t delays[] = { 7, 3, 7, 0, 3, 7, 0, 1023, 1024, 1025, 1023, 1024 };
    for (size_t i = 0; i < LS_COUNT_OF(delays); i++)
        ls_schedule(m->region, &m->p[i].event, delays[i]);
    ls_run_result result = run_all(m->engine);
    assert_log(&m->log, { 3, 0 }, { 6, 0 }, { 1, 3 }, { 4, 3 }, { 0, 7 }, { 2, 7 }, { 5, 7 }, { 7, 1023 },
               { 10, 1023 }, { 8, 1024 }, { 11, 1024 }, { 9, 1025 });
    assert_int_equal(result.events, 12);
    assert_int_equal(result.region_cycles, 6);
    assert_int_equal(result.ticks, 0);
    assert_int_equal(result.messages, 0);
    assert_int_equal(result.end_time, 1025 * FS_PER_GHZ_CYCLE);
}

static void schedule_one_and_two(void *self, ls_cycle now)
{
    machine *m = self;
    assert_int_equal(ls_region_now(m->region), now);
    assert_int_equal(ls_region_time(m->region), now * FS_PER_GHZ_CYCLE);
    ls_schedule(m->region, &m->p[1].event, 0);
    ls_schedule_at(m->region, &m->p[2].event, now);
}

static void test_delay_zero_is_later_in_this_cycle(void **state)
{
    machine *m = *state;
    probe_init(&m->p[0], &m->log, 0, schedule_one_and_two, m);
    ls_schedule(m->region, &m->p[0].event, 5);
    ls_schedule(m->region, &m->p[3].event, 5);
    ls_run_result result = run_all(m->engine);
    assert_log(&m->log, { 0, 5 }, { 3, 5 }, { 1, 5 }, { 2, 5 });
    assert_int_equal(result.region_cycles, 1);
}

static void again(void *self, ls_cycle now)
{
    machine *m = self;
    if (now < 3000)
        ls_schedule(m->region, &m->p[0].event, 1000);
}

static void test_reused_in_its_own_handler(void **state)
{
    machine *m = *state;
    probe_init(&m->p[0], &m->log, 0, again, m);
    ls_schedule(m->region, &m->p[0].event, 0);
    run_all(m->engine);
    assert_log(&m->log, { 0, 0 }, { 0, 1000 }, { 0, 2000 }, { 0, 3000 });
    assert_false(ls_event_scheduled(&m->p[0].event));
}

/* Far events were scheduled first; the later ones for the same cycle fit into the wheel. */
static void join_far(void *self, ls_cycle now)
{
    machine *m = self;
    ls_schedule_at(m->region, &m->p[now == 1 ? 2 : 4].event, 1024);
    ls_schedule_at(m->region, &m->p[now == 1 ? 3 : 5].event, 5000);
}

static void test_far_before_near_of_one_cycle(void **state)
{
    machine *m = *state;
    ls_schedule(m->region, &m->p[0].event, 1024); /* the first cycle beyond the wheel */
    ls_schedule(m->region, &m->p[1].event, 5000);
    probe_init(&m->p[8], NULL, 8, join_far, m);
    probe_init(&m->p[9], NULL, 9, join_far, m);
    ls_schedule(m->region, &m->p[8].event, 1);
    ls_schedule(m->region, &m->p[9].event, 1023);
    run_all(m->engine);
    assert_log(&m->log, { 0, 1024 }, { 2, 1024 }, { 4, 1024 }, { 1, 5000 }, { 3, 5000 }, { 5, 5000 });
}

/* The heap hands out equals in the order of scheduling however it was built. */
static void test_many_far_of_one_cycle(void **state)
{
    machine *m = *state;
    enum { COUNT = 400 };
    probe *p = test_calloc(COUNT, sizeof *p);
    for (uint64_t i = 0; i < COUNT; i++) {
        probe_init(&p[i], &m->log, i, NULL, NULL);
        ls_schedule(m->region, &p[i].event, 2000 + i * 7 % 5 * 10);
    }
    run_all(m->engine);
    assert_int_equal(m->log.count, COUNT);
    for (size_t i = 1; i < COUNT; i++) {
        assert_true(m->log.at[i].cycle >= m->log.at[i - 1].cycle);
        if (m->log.at[i].cycle == m->log.at[i - 1].cycle)
            assert_true(m->log.at[i].id > m->log.at[i - 1].id);
        assert_int_equal(m->log.at[i].cycle, 2000 + m->log.at[i].id * 7 % 5 * 10);
    }
    test_free(p);
}

/* ------------------------------------------------------------------------------------------------ cancel */

static void test_cancel_in_wheel_and_heap(void **state)
{
    machine *m = *state;
    ls_cancel(&m->p[0].event); /* never scheduled: nothing happens */
    for (size_t i = 0; i < 6; i++)
        ls_schedule(m->region, &m->p[i].event, 10);
    for (size_t i = 6; i < 12; i++)
        ls_schedule(m->region, &m->p[i].event, 3000);
    ls_cancel(&m->p[0]
                   .event); /* the oldest, one in the middle and the newest, of the bucket and of the heap */
    ls_cancel(&m->p[2].event);
    ls_cancel(&m->p[5].event);
    ls_cancel(&m->p[6].event);
    ls_cancel(&m->p[9].event);
    ls_cancel(&m->p[11].event);
    ls_cancel(&m->p[11].event);
    assert_false(ls_event_scheduled(&m->p[2].event));
    assert_false(ls_event_scheduled(&m->p[9].event));
    assert_true(ls_event_scheduled(&m->p[3].event));
    assert_true(ls_event_scheduled(&m->p[10].event));
    ls_schedule(m->region, &m->p[12].event, 10);
    ls_schedule(m->region, &m->p[13].event, 3000);
    run_all(m->engine);
    assert_log(&m->log, { 1, 10 }, { 3, 10 }, { 4, 10 }, { 12, 10 }, { 7, 3000 }, { 8, 3000 }, { 10, 3000 },
               { 13, 3000 });
}

static void test_cancel_of_the_last_leaves_nothing(void **state)
{
    machine *m = *state;
    ls_schedule(m->region, &m->p[0].event, 100);
    ls_schedule(m->region, &m->p[1].event, 10000);
    ls_cancel(&m->p[1].event);
    ls_cancel(&m->p[0].event);
    ls_run_result result = run_all(m->engine);
    assert_int_equal(m->log.count, 0);
    assert_int_equal(result.region_cycles, 0);
    assert_int_equal(result.windows, 0);
}

static void test_cancel_and_schedule_again(void **state)
{
    machine *m = *state;
    ls_schedule(m->region, &m->p[0].event, 10);
    ls_schedule(m->region, &m->p[1].event, 10);
    ls_cancel(&m->p[0].event);
    ls_schedule(m->region, &m->p[0].event, 10); /* now after 1 */
    ls_schedule(m->region, &m->p[2].event, 4000);
    ls_schedule(m->region, &m->p[3].event, 4000);
    ls_cancel(&m->p[2].event);
    ls_schedule(m->region, &m->p[2].event, 4000); /* now after 3 */
    ls_schedule(m->region, &m->p[4].event, 20);   /* from the wheel to the heap */
    ls_cancel(&m->p[4].event);
    ls_schedule(m->region, &m->p[4].event, 5000);
    ls_schedule(m->region, &m->p[5].event, 5000); /* and back */
    ls_cancel(&m->p[5].event);
    ls_schedule(m->region, &m->p[5].event, 20);
    run_all(m->engine);
    assert_log(&m->log, { 1, 10 }, { 0, 10 }, { 5, 20 }, { 3, 4000 }, { 2, 4000 }, { 4, 5000 });
}

static void cancel_three_and_four(void *self, ls_cycle now)
{
    machine *m = self;
    (void)now;
    ls_cancel(&m->p[3].event);
    ls_cancel(&m->p[4].event);
    ls_cancel(&m->p[0].event); /* itself: it runs, so it is not scheduled */
}

static void test_cancel_in_a_handler(void **state)
{
    machine *m = *state;
    probe_init(&m->p[0], &m->log, 0, cancel_three_and_four, m);
    for (size_t i = 0; i < 5; i++)
        ls_schedule(m->region, &m->p[i].event, 2000); /* 4 is the last of its cycle */
    ls_schedule(m->region, &m->p[5].event, 2001);
    run_all(m->engine);
    assert_log(&m->log, { 0, 2000 }, { 1, 2000 }, { 2, 2000 }, { 5, 2001 });
}

static void cancel_and_replace(void *self, ls_cycle now)
{
    machine *m = self;
    (void)now;
    ls_cancel(&m->p[1].event); /* the only one left in this cycle */
    ls_schedule(m->region, &m->p[2].event, 0);
    ls_schedule(m->region, &m->p[1].event, 1);
}

static void test_cancel_the_rest_of_a_cycle(void **state)
{
    machine *m = *state;
    probe_init(&m->p[0], &m->log, 0, cancel_and_replace, m);
    ls_schedule(m->region, &m->p[0].event, 64);
    ls_schedule(m->region, &m->p[1].event, 64);
    run_all(m->engine);
    assert_log(&m->log, { 0, 64 }, { 2, 64 }, { 1, 65 });
}

/* ------------------------------------------------------------------------- random operations and a model */

enum { MODEL_EVENTS = 150, MODEL_OPERATIONS = 100000 };

typedef struct model_entry {
    ls_event event;
    struct model *model;
    bool scheduled;
    uint64_t cycle, order;
} model_entry;

/* The naive model: the next event is the least (cycle, order of scheduling) of a list. Entry 0 drives. */
typedef struct model {
    ls_region *region;
    ls_random random;
    uint64_t order, operations, runs, now;
    model_entry entries[MODEL_EVENTS];
} model;

static uint64_t model_delay(model *m)
{
    switch (ls_random_below(&m->random, 8)) {
    case 0:
        return 0;
    case 1:
        return 1020 + ls_random_below(&m->random, 8);
    case 2:
        return ls_random_below(&m->random, 6000);
    case 3:
        return ls_random_below(&m->random, 1000000);
    default:
        return ls_random_below(&m->random, 40);
    }
}

static void model_schedule(model *m, model_entry *e, uint64_t delay)
{
    e->scheduled = true;
    e->cycle = m->now + delay;
    e->order = m->order++;
    ls_schedule(m->region, &e->event, delay);
}

static void model_operate(model *m)
{
    model_entry *e = &m->entries[1 + ls_random_below(&m->random, MODEL_EVENTS - 1)];
    m->operations++;
    assert_int_equal(ls_event_scheduled(&e->event), e->scheduled);
    if (!e->scheduled) {
        model_schedule(m, e, model_delay(m));
    } else if (ls_random_below(&m->random, 3) == 0) {
        ls_cancel(&e->event);
        e->scheduled = false;
        if (ls_random_below(&m->random, 2) == 0)
            model_schedule(m, e, model_delay(m));
    }
}

static void model_run(void *self, ls_cycle now)
{
    model_entry *e = self;
    model *m = e->model;
    assert_true(now >= m->now);
    m->now = now;
    m->runs++;
    assert_true(e->scheduled);
    for (size_t i = 0; i < MODEL_EVENTS; i++) {
        const model_entry *other = &m->entries[i];
        if (other->scheduled &&
            (other->cycle < e->cycle || (other->cycle == e->cycle && other->order < e->order)))
            fail_msg("event %d of cycle %llu ran in cycle %llu before event %zu of cycle %llu",
                     (int)(e - m->entries), (unsigned long long)e->cycle, (unsigned long long)now, i,
                     (unsigned long long)other->cycle);
    }
    assert_int_equal(e->cycle, now);
    e->scheduled = false;
    if (e == &m->entries[0] && m->operations < MODEL_OPERATIONS)
        model_schedule(m, e, ls_random_below(&m->random, 50) == 0 ? 3000 : 1 + ls_random_below(&m->random, 4));
    for (uint64_t n = ls_random_below(&m->random, 3); n > 0 && m->operations < MODEL_OPERATIONS; n--)
        model_operate(m);
}

static void test_random_operations_against_a_sorted_list(void **state)
{
    machine *real = *state;
    model *m = test_calloc(1, sizeof *m);
    m->region = real->region;
    ls_random_init(&m->random, 12345);
    for (size_t i = 0; i < MODEL_EVENTS; i++) {
        m->entries[i].model = m;
        ls_event_init(&m->entries[i].event, model_run, &m->entries[i]);
    }
    model_schedule(m, &m->entries[0], 0);
    ls_run_result result = run_all(real->engine);
    assert_int_equal(m->operations, MODEL_OPERATIONS);
    assert_int_equal(result.events, m->runs);
    for (size_t i = 0; i < MODEL_EVENTS; i++)
        assert_false(m->entries[i].scheduled); /* every event that was not cancelled has run */
    test_free(m);
}

/* ------------------------------------------------------------------------------- regions of one domain */

typedef struct crossing {
    probe at, lands[3];
    ls_region *from, *to;
    run_log log;
} crossing;

static void cross(void *self, ls_cycle now)
{
    crossing *c = self;
    (void)now;
    log_add(&c->log, 100, ls_region_now(c->to));
    ls_schedule(c->to, &c->lands[0].event, 0);
    ls_schedule(c->to, &c->lands[1].event, 1);
    ls_schedule(c->to, &c->lands[2].event, 5);
}

/* An event on another clock counts from that clock's last edge and runs at its next edge at the soonest.
 * At equal times the region that was created first has had its turn, the other one has not. */
static void check_crossing(uint64_t from_hz, uint64_t to_hz, bool to_first, uint64_t cycle)
{
    crossing *c = test_calloc(1, sizeof *c);
    ls_engine *engine = new_engine();
    ls_region *first = new_domain(engine, "d", to_first ? to_hz : from_hz);
    ls_region *second = new_region(first, to_first ? from_hz : to_hz);
    c->from = to_first ? second : first;
    c->to = to_first ? first : second;
    probe_init(&c->at, NULL, 0, cross, c);
    for (uint64_t i = 0; i < 3; i++)
        probe_init(&c->lands[i], &c->log, i, NULL, NULL);
    ls_schedule(c->from, &c->at.event, cycle);
    run_all(engine);

    uint64_t present = edge_time(from_hz, cycle);
    uint64_t next = first_edge(to_hz, present);
    if (to_first && edge_time(to_hz, next) == present)
        next++;
    assert_true(next > 0);
    assert_log(&c->log, { 100, next - 1 }, { 0, next }, { 1, next }, { 2, next + 4 });
    ls_engine_destroy(engine);
    test_free(c);
}

static void test_events_on_another_clock(void **state)
{
    (void)state;
    static const uint64_t hz[] = { GHZ, 2 * GHZ, 700000000, 333333333, 1365000000, 3500500000 };
    static const uint64_t cycles[] = { 1, 2, 3, 1000, 1001, 5000, 123456789 };
    for (size_t a = 0; a < LS_COUNT_OF(hz); a++)
        for (size_t b = 0; b < LS_COUNT_OF(hz); b++)
            for (size_t i = 0; i < LS_COUNT_OF(cycles); i++) {
                check_crossing(hz[a], hz[b], true, cycles[i]);
                check_crossing(hz[a], hz[b], false, cycles[i]);
            }
}

/* The idle region's clock is moved up while it has events waiting beyond its wheel: they keep their cycle
 * and their place before later ones. */
static void test_idle_region_with_far_events(void **state)
{
    (void)state;
    crossing *c = test_calloc(1, sizeof *c);
    ls_engine *engine = new_engine();
    c->from = new_domain(engine, "d", GHZ);
    c->to = new_region(c->from, GHZ / 2);
    probe far[2];
    probe_init(&c->at, NULL, 0, cross, c);
    for (uint64_t i = 0; i < 3; i++)
        probe_init(&c->lands[i], &c->log, i, NULL, NULL);
    probe_init(&far[0], &c->log, 10, NULL, NULL);
    probe_init(&far[1], &c->log, 11, NULL, NULL);
    ls_schedule(c->to, &far[0].event, 2500);
    ls_schedule(c->to, &far[1].event, 9000);
    ls_schedule(c->from, &c->at.event,
                4991); /* at 4991 ns: the next edge of `to` is 2496, the fifth is 2500 */
    run_all(engine);
    assert_log(&c->log, { 100, 2495 }, { 0, 2496 }, { 1, 2496 }, { 10, 2500 }, { 2, 2500 }, { 11, 9000 });
    ls_engine_destroy(engine);
    test_free(c);
}

/* Regions with an edge at the same femtosecond run in the order of their creation. */
static void test_order_of_regions(void **state)
{
    machine *m = *state;
    ls_region *same = new_region(m->region, GHZ), *slow = new_region(m->region, GHZ / 3 * 3 / 4);
    ls_schedule(slow, &m->p[0].event, 3);
    ls_schedule(same, &m->p[1].event, 4);
    ls_schedule(m->region, &m->p[2].event, 4);
    ls_schedule(same, &m->p[3].event, 3);
    ls_schedule(slow, &m->p[4].event, 0);
    ls_schedule(m->region, &m->p[5].event, 0);
    run_all(m->engine);
    /* 333333333 * 3 / 4 Hz: edge 3 is a little after 12 ns */
    assert_log(&m->log, { 5, 0 }, { 4, 0 }, { 3, 3 }, { 2, 4 }, { 1, 4 }, { 0, 3 });
}

/* ------------------------------------------------------------------------------------------ between runs */

/* Events scheduled between two runs start at the present of the whole machine, not where their own domain was
 * last busy. Otherwise their messages would arrive in the past of others. */
static void test_scheduling_between_runs_starts_at_the_present(void **state)
{
    machine *m = *state;
    run_log log = { 0 };
    ls_region *other = new_domain(m->engine, "other", GHZ / 2);
    probe_init(&m->p[1], &log, 1, NULL, NULL);
    probe_init(&m->p[4], &log, 4, NULL, NULL);
    ls_schedule(m->region, &m->p[0].event, 10);
    ls_schedule(other, &m->p[1].event, 2000); /* 4000 ns */
    run_all(m->engine);
    assert_int_equal(ls_region_now(m->region), 4000);
    assert_int_equal(ls_region_now(other), 2000);
    ls_schedule(m->region, &m->p[2].event, 0);
    ls_schedule(m->region, &m->p[3].event, 7);
    ls_schedule(other, &m->p[4].event, 0);
    ls_run_result result = run_all(m->engine);
    assert_log(&m->log, { 0, 10 }, { 2, 4001 }, { 3, 4007 });
    assert_log(&log, { 1, 2000 }, { 4, 2001 });
    assert_int_equal(result.events, 5);
    assert_int_equal(result.end_time, 4007 * FS_PER_GHZ_CYCLE);
}

static void test_scheduling_after_until_starts_there(void **state)
{
    machine *m = *state;
    run_log log = { 0 };
    ls_region *other = new_domain(m->engine, "other", GHZ / 2);
    probe_init(&m->p[1], &log, 1, NULL, NULL);
    probe_init(&m->p[3], &log, 3, NULL, NULL);
    ls_schedule(m->region, &m->p[0].event, 10);
    ls_schedule(m->region, &m->p[5].event, 6000);
    ls_schedule(other, &m->p[1].event, 2000);
    ls_run_result result = run_with(m->engine, &(ls_run_options){ .until = 5001 * FS_PER_GHZ_CYCLE });
    assert_int_equal(result.end_time, 4000 * FS_PER_GHZ_CYCLE);
    ls_schedule(m->region, &m->p[2].event, 0);
    ls_schedule(other, &m->p[3].event, 1);
    ls_schedule(m->region, &m->p[4].event, 1000); /* 5000 is the last edge before */
    ls_schedule_at(m->region, &m->p[6].event, 7); /* long gone: as soon as possible */
    ls_schedule_at(m->region, &m->p[7].event, 5002);
    run_all(m->engine);
    assert_log(&m->log, { 0, 10 }, { 2, 5001 }, { 6, 5001 }, { 7, 5002 }, { 5, 6000 }, { 4, 6000 });
    assert_log(&log, { 1, 2000 }, { 3, 2501 });
}

static void test_a_run_of_nothing_stays_at_zero(void **state)
{
    machine *m = *state;
    ls_run_result result = run_all(m->engine);
    assert_int_equal(result.end_time, 0);
    assert_int_equal(result.windows, 0);
    ls_schedule(m->region, &m->p[0].event, 0);
    run_all(m->engine);
    assert_log(&m->log, { 0, 0 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order_of_cycles_and_of_scheduling, setup, teardown),
        cmocka_unit_test_setup_teardown(test_delay_zero_is_later_in_this_cycle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reused_in_its_own_handler, setup, teardown),
        cmocka_unit_test_setup_teardown(test_far_before_near_of_one_cycle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_far_of_one_cycle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_in_wheel_and_heap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_of_the_last_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_and_schedule_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_in_a_handler, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_the_rest_of_a_cycle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_random_operations_against_a_sorted_list, setup, teardown),
        cmocka_unit_test(test_events_on_another_clock),
        cmocka_unit_test(test_idle_region_with_far_events),
        cmocka_unit_test_setup_teardown(test_order_of_regions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scheduling_between_runs_starts_at_the_present, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scheduling_after_until_starts_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_run_of_nothing_stays_at_zero, setup, teardown),
    };
    return cmocka_run_group_tests_name("wheel", tests, NULL, NULL);
}

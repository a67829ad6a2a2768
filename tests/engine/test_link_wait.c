/* test_link_wait.c: a waiter for a link runs in the first cycle in which it is ready, in order, and costs
 * nothing until then. */
#include "engine/fixture.h"

typedef struct machine machine;

/* Wants to send `left` messages, one per turn, and waits in between. */
typedef struct waiter {
    ls_event event;
    machine *machine;
    uint64_t id;
    uint32_t left, bytes;
    bool sends; /* else it takes its turn and goes without sending */
} waiter;

struct machine {
    ls_engine *engine;
    ls_region *from, *to;
    ls_link *link;
    run_log log, arrivals;
    waiter waiters[8];
    probe p[8];
    uint32_t keep; /* the receiver keeps so many entries and releases them all at keep_until */
    ls_cycle keep_until;
    uint32_t kept;
    ls_event release;
};

static void waiter_run(void *self, ls_cycle now)
{
    waiter *w = self;
    machine *m = w->machine;
    log_add(&m->log, w->id, now);
    if (w->sends) {
        uint64_t *payload = ls_link_send(m->link, w->bytes);
        assert_non_null(payload);
        *payload = w->id;
    }
    if (--w->left > 0)
        ls_link_wait(m->link, &w->event);
}

static void start_waiting(void *self, ls_cycle now)
{
    waiter *w = self;
    (void)now;
    ls_link_wait(w->machine->link, &w->event);
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    machine *m = self;
    log_add(&m->arrivals, *(const uint64_t *)payload, now);
    if (m->keep == 0) {
        ls_link_release(link, 1);
    } else if (++m->kept == m->keep) {
        ls_schedule_at(m->to, &m->release, m->keep_until);
    }
}

static void release_kept(void *self, ls_cycle now)
{
    machine *m = self;
    (void)now;
    ls_link_release(m->link, m->kept);
    m->kept = m->keep = 0;
}

static machine *create(uint32_t credits, uint32_t width)
{
    machine *m = test_calloc(1, sizeof *m);
    m->engine = new_engine();
    m->from = new_domain(m->engine, "from", GHZ);
    m->to = new_domain(m->engine, "to", GHZ);
    m->link = new_link(m->engine, &(ls_link_spec){ .name = "link",
                                                   .from = m->from,
                                                   .to = m->to,
                                                   .latency_cycles = 10,
                                                   .width_bytes = width,
                                                   .credits = credits,
                                                   .payload_bytes = 8,
                                                   .receive = receive,
                                                   .receiver = m });
    ls_event_init(&m->release, release_kept, m);
    for (uint64_t i = 0; i < LS_COUNT_OF(m->waiters); i++) {
        m->waiters[i] = (waiter){ .machine = m, .id = i, .left = 1, .bytes = 8, .sends = true };
        ls_event_init(&m->waiters[i].event, waiter_run, &m->waiters[i]);
        probe_init(&m->p[i], NULL, i, start_waiting, &m->waiters[i]);
    }
    return m;
}

static void destroy(machine *m)
{
    ls_engine_destroy(m->engine);
    test_free(m);
}

static void start(machine *m, size_t i, uint64_t delay)
{
    ls_schedule(m->from, &m->p[i].event, delay);
}

/* Ready now: among the events of this cycle, after the earlier ones. */
static void test_ready_now(void **state)
{
    (void)state;
    machine *m = create(4, 0);
    probe other;
    probe_init(&other, &m->log, 100, NULL, NULL);
    start(m, 0, 5);
    ls_schedule(m->from, &other.event, 5);
    run_all(m->engine);
    assert_log(&m->log, { 100, 5 }, { 0, 5 });
    destroy(m);
}

/* Later: among the arrivals of the first ready cycle, so before the events that were scheduled for it long
 * ago. */
static void test_wire_busy(void **state)
{
    (void)state;
    machine *m = create(4, 8);
    probe other;
    probe_init(&other, &m->log, 100, NULL, NULL);
    m->waiters[0].bytes = 56; /* seven cycles of wire: 5 to 11 */
    start(m, 0, 5);
    start(m, 1, 6);
    ls_schedule(m->from, &other.event, 12);
    ls_run_result result = run_all(m->engine);
    assert_log(&m->log, { 0, 5 }, { 1, 12 }, { 100, 12 });
    assert_log(&m->arrivals, { 0, 11 + 10 }, { 1, 12 + 10 });
    assert_int_equal(result.events, 5); /* two probes, two waiters, the other one */
    destroy(m);
}

/* Blocked for a million cycles: nothing runs meanwhile. */
static void test_blocked_costs_nothing(void **state)
{
    (void)state;
    machine *m = create(2, 8);
    m->keep = 2;
    m->keep_until = 1000000;
    m->waiters[0].left = 3;
    start(m, 0, 0);
    ls_run_result result = run_all(m->engine);
    assert_log(&m->log, { 0, 0 }, { 0, 1 }, { 0, 1000010 });
    assert_int_equal(result.events, 1 + 3 + 1);
    assert_int_equal(result.messages, 3);
    assert_int_equal(result.region_cycles, 3 + 4); /* 0, 1, 1000010 | 10, 11, 1000000, 1000020 */
    assert_true(result.windows < 16);
    destroy(m);
}

/* Both the wire and the credits must be there; the later of the two decides. */
static void test_wire_and_credits(void **state)
{
    (void)state;
    for (uint32_t long_wire = 0; long_wire < 2; long_wire++) {
        machine *m = create(1, 8);
        m->waiters[0].bytes = long_wire ? 400 : 8; /* 50 cycles of wire: home in 49 + 20; or 1: home in 20 */
        start(m, 0, 0);
        start(m, 1, 1);
        run_all(m->engine);
        assert_log(&m->log, { 0, 0 }, { 1, long_wire ? 69 : 20 });
        destroy(m);
    }
    machine *m = create(2, 8);
    m->waiters[1].bytes = 400; /* the credit of 0 is home in 20, the wire is free in 51 */
    start(m, 0, 0);
    start(m, 1, 1);
    start(m, 2, 2);
    run_all(m->engine);
    assert_log(&m->log, { 0, 0 }, { 1, 1 }, { 2, 51 });
    destroy(m);
}

static void test_waiters_take_turns(void **state)
{
    (void)state;
    enum { WAITERS = 5, EACH = 20 };
    static const struct {
        uint32_t credits, width;
    } links[] = { { 64, 8 }, { 3, 8 }, { 1, 8 }, { 2, 0 }, { 7, 0 } };
    for (size_t l = 0; l < LS_COUNT_OF(links); l++) {
        machine *m = create(links[l].credits, links[l].width);
        for (size_t i = 0; i < WAITERS; i++) {
            m->waiters[i].left = EACH;
            start(m, i, 0);
        }
        ls_run_result result = run_all(m->engine);
        assert_int_equal(m->log.count, WAITERS * EACH);
        assert_int_equal(m->arrivals.count, WAITERS * EACH);
        assert_int_equal(result.events, WAITERS + WAITERS * EACH); /* no waiter ran in vain */
        uint32_t credits = links[l].credits;
        for (size_t i = 0; i < WAITERS * EACH; i++) {
            assert_int_equal(m->log.at[i].id, i % WAITERS);
            assert_int_equal(m->arrivals.at[i].id, i % WAITERS);
            uint64_t cycle = credits == 64 ? i : i / credits * 20 + (links[l].width == 0 ? 0 : i % credits);
            assert_int_equal(m->log.at[i].cycle, cycle);
        }
        destroy(m);
    }
}

/* A waiter that is served and does not send leaves the link ready for the next one in the same cycle. */
static void test_a_turn_not_taken(void **state)
{
    (void)state;
    machine *m = create(8, 8);
    m->waiters[0].bytes = 80; /* cycles 0 to 9 */
    m->waiters[1].sends = m->waiters[2].sends = m->waiters[4].sends = false;
    for (size_t i = 0; i < 6; i++)
        start(m, i, i);
    run_all(m->engine);
    assert_log(&m->log, { 0, 0 }, { 1, 10 }, { 2, 10 }, { 3, 10 }, { 4, 11 }, { 5, 11 });
    destroy(m);
}

/* A ready link without other waiters serves again in the same cycle, among the events. */
static void test_waiting_again_while_ready(void **state)
{
    (void)state;
    machine *m = create(3, 0);
    m->waiters[0].left = 4;
    start(m, 0, 7);
    run_all(m->engine);
    assert_log(&m->log, { 0, 7 }, { 0, 7 }, { 0, 7 }, { 0, 27 });
    destroy(m);
}

typedef struct thief {
    machine *machine;
} thief;

static void steal(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    machine *m = ((thief *)self)->machine;
    (void)payload;
    ls_link_release(link, 1);
    uint64_t *out = ls_link_send(m->link, 24);
    assert_non_null(out);
    *out = 99;
    log_add(&m->log, 99, now);
}

/* Another sender may use the link in the very cycle of the wake: the waiter continues to wait, exactly. */
static void test_link_taken_in_the_wake_cycle(void **state)
{
    (void)state;
    machine *m = create(8, 8);
    thief t = { m };
    /* A second link, whose messages come earlier in the cycle: they were under way for part of it. */
    ls_region *fast = new_domain(m->engine, "fast", 3 * GHZ);
    ls_link *path = new_link(m->engine, &(ls_link_spec){ .name = "path",
                                                         .from = fast,
                                                         .to = m->from,
                                                         .latency_cycles = 12,
                                                         .credits = 1,
                                                         .payload_bytes = 8,
                                                         .receive = steal,
                                                         .receiver = &t });
    waiter w = { .machine = &(machine){ .link = path }, .left = 1, .sends = true };
    ls_event_init(&w.event, waiter_run, &w);
    m->waiters[0].bytes = 80;
    start(m, 0, 0);
    start(m, 1, 1);
    ls_schedule(fast, &w.event, 17); /* arrives at 29 thirds of a ns: cycle 10 */
    run_all(m->engine);
    assert_log(&m->log, { 0, 0 }, { 99, 10 }, { 1, 13 });
    destroy(m);
}

/* The sender's region slept for long when the credit came; its clock is old, the wake is exact. */
static void test_wake_after_a_long_sleep(void **state)
{
    (void)state;
    for (uint64_t until = 900; until < 1200; until += 37) {
        machine *m = create(1, 0);
        m->keep = 1;
        m->keep_until = until;
        m->waiters[0].left = 2;
        start(m, 0, 0);
        probe other;
        probe_init(&other, &m->log, 50, NULL, NULL);
        ls_schedule(m->from, &other.event, until + 10);
        run_all(m->engine);
        assert_log(&m->log, { 0, 0 }, { 0, until + 10 }, { 50, until + 10 });
        destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready_now),
        cmocka_unit_test(test_wire_busy),
        cmocka_unit_test(test_blocked_costs_nothing),
        cmocka_unit_test(test_wire_and_credits),
        cmocka_unit_test(test_waiters_take_turns),
        cmocka_unit_test(test_a_turn_not_taken),
        cmocka_unit_test(test_waiting_again_while_ready),
        cmocka_unit_test(test_link_taken_in_the_wake_cycle),
        cmocka_unit_test(test_wake_after_a_long_sleep),
    };
    return cmocka_run_group_tests_name("link wait", tests, NULL, NULL);
}

/* test_sharing.c: when a team of threads stops sharing and when it tries again, on hosts that the test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sharing.h"
#include "base/pool.h"

#include <sched.h>
#include <stdatomic.h>

#define MS UINT64_C(1000000)

/* A made-up host: what a nanosecond brings in each way, and the fraction of it that waiters lose. */
typedef struct host {
    double shared, alone, loses;
    uint64_t now, lost;
    uint64_t alone_ns; /* passed so far with one thread */
    unsigned changes;  /* of the way */
} host;

static void pass(sharing *s, host *h, uint64_t ns)
{
    for (uint64_t end = h->now + ns; h->now < end;) {
        bool alone = sharing_pauses(s);
        h->now += MS;
        sharing_add(s, (double)MS * (alone ? h->alone : h->shared));
        h->lost += alone ? 0 : (uint64_t)((double)MS * h->loses);
        h->alone_ns += alone ? MS : 0;
        sharing_look(s, h->now, h->lost);
        h->changes += alone != sharing_pauses(s);
    }
}

static void a_free_host_is_shared(void **state)
{
    (void)state;
    sharing s;
    host h = { .shared = 1.8, .alone = 1, .loses = 0.05, .now = 5 * MS };
    sharing_init(&s, 2, h.now);
    pass(&s, &h, 10000 * MS);
    assert_int_equal(h.changes, 0);
}

static void the_faster_way_is_found(void **state)
{
    (void)state;
    sharing s;
    host h = { .shared = 0.8, .alone = 1, .loses = 0.4 };
    sharing_init(&s, 2, 0);
    pass(&s, &h, SHARING_TRIAL_NS - MS); /* too early to judge */
    assert_false(sharing_pauses(&s));
    pass(&s, &h, MS);
    assert_true(sharing_pauses(&s)); /* on trial */
    pass(&s, &h, 10000 * MS);
    assert_true(h.alone_ns > 9700 * MS); /* trials of the other way take 2 % */
}

/* A team that loses time and still brings more is kept: trials become rare. */
static void a_team_that_brings_more_is_kept(void **state)
{
    (void)state;
    sharing s;
    host h = { .shared = 1.3, .alone = 1, .loses = 0.3 };
    sharing_init(&s, 2, 0);
    pass(&s, &h, 10000 * MS);
    assert_true(h.alone_ns > 0);
    assert_true(h.alone_ns < 300 * MS);
}

static void a_host_that_becomes_free_is_shared_again(void **state)
{
    (void)state;
    sharing s;
    host h = { .shared = 0.7, .alone = 1, .loses = 0.5 };
    sharing_init(&s, 2, 0);
    pass(&s, &h, 10000 * MS);
    assert_true(sharing_pauses(&s) || s.on_trial);
    h.shared = 1.8;
    h.loses = 0;
    pass(&s, &h, SHARING_HOLD_MOST_NS + 3 * SHARING_TRIAL_NS);
    assert_false(sharing_pauses(&s));
    uint64_t before = h.alone_ns;
    pass(&s, &h, 5000 * MS);
    assert_int_equal(h.alone_ns, before);
}

/* Choices that stay the same hold twice as long each time, up to the limit; another one begins with the shortest. */
static void holds_grow(void **state)
{
    (void)state;
    sharing s;
    host h = { .shared = 0.7, .alone = 1, .loses = 0.5 };
    uint64_t expected = SHARING_HOLD_NS;
    sharing_init(&s, 2, 0);
    pass(&s, &h, 2 * SHARING_TRIAL_NS);
    for (int i = 0; i < 8; i++) {
        assert_true(sharing_pauses(&s));
        assert_false(s.on_trial);
        assert_int_equal(s.until_ns - h.now, expected);
        pass(&s, &h, expected);
        assert_true(s.on_trial); /* of sharing */
        pass(&s, &h, SHARING_TRIAL_NS);
        /* The first choice was a change; those that confirm it double. */
        expected = i == 0                                ? expected
                   : expected * 2 < SHARING_HOLD_MOST_NS ? expected * 2
                                                         : SHARING_HOLD_MOST_NS;
    }
}

/* ----------------------------------------------------------------------------------- the barrier measures */

static atomic_uint_fast64_t made_up_ns;

static uint64_t made_up_clock(void)
{
    return atomic_load(&made_up_ns);
}

typedef struct late {
    thread_barrier barrier;
    uint64_t late_ns; /* thread 1 arrives so much later */
    uint64_t work_ns; /* and then works alone for so long */
} late;

static void work_alone(void *self)
{
    late *l = self;
    atomic_fetch_add(&made_up_ns, l->work_ns);
}

static void one_is_late(void *self, uint32_t thread)
{
    late *l = self;
    if (thread == 1) {
        while (atomic_load(&l->barrier.impatient) == 0)
            sched_yield();
        atomic_fetch_add(&made_up_ns, l->late_ns);
    }
    barrier_wait(&l->barrier, work_alone, l);
    barrier_wait(&l->barrier, NULL, NULL); /* its waiter has added the time of the first one */
}

static void waiting_for_a_thread_is_lost_time(void **state)
{
    (void)state;
    late l = { .late_ns = 3 * MS, .work_ns = 100 * MS };
    thread_pool *pool;
    barrier_init(&l.barrier, 2);
    l.barrier.clock_ns = made_up_clock;
    atomic_store(&made_up_ns, 7 * MS);
    assert_int_equal(pool_create(2, &pool, NULL), LS_OK);
    pool_run(pool, one_is_late, &l);
    pool_destroy(pool);
    assert_int_equal(barrier_lost_ns(&l.barrier), 3 * MS); /* without the work of the last one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_host_is_shared),
        cmocka_unit_test(the_faster_way_is_found),
        cmocka_unit_test(a_team_that_brings_more_is_kept),
        cmocka_unit_test(a_host_that_becomes_free_is_shared_again),
        cmocka_unit_test(holds_grow),
        cmocka_unit_test(waiting_for_a_thread_is_lost_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

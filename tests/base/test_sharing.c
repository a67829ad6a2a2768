/* test_sharing.c: when a team of threads stops sharing and when it tries again, with times that the test makes up. */
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

/* A trial of a given length in which the waiters lose so much; ends where the next one begins. */
static uint64_t trial(sharing *c, uint64_t now, uint64_t *lost, uint64_t length, uint64_t loses)
{
    *lost += loses;
    sharing_look(c, now + length, *lost);
    return now + length;
}

static void a_free_host_is_shared(void **state)
{
    (void)state;
    sharing c;
    uint64_t now = 5 * MS, lost = 0;
    sharing_init(&c, 2, now);
    for (int i = 0; i < 100; i++) {
        now = trial(&c, now, &lost, 13 * MS, 2 * MS);
        assert_false(sharing_pauses(&c));
    }
}

static void a_thread_that_gets_half_a_cpu_ends_sharing(void **state)
{
    (void)state;
    sharing c;
    uint64_t lost = 0;
    sharing_init(&c, 2, 0);
    sharing_look(&c, SHARING_TRIAL_NS - 1, SHARING_TRIAL_NS / 2); /* too early to judge */
    assert_false(sharing_pauses(&c));
    uint64_t now = trial(&c, 0, &lost, SHARING_TRIAL_NS, SHARING_TRIAL_NS / 2);
    assert_true(sharing_pauses(&c));
    sharing_tick(&c, now + SHARING_HOLD_NS - 1, lost);
    assert_true(sharing_pauses(&c));
    sharing_tick(&c, now + SHARING_HOLD_NS, lost);
    assert_false(sharing_pauses(&c));
}

/* Each trial that fails doubles the pause, up to its limit; one that succeeds begins again with the shortest. */
static void pauses_grow_and_shrink(void **state)
{
    (void)state;
    sharing c;
    uint64_t now = 0, lost = 0, expected = SHARING_HOLD_NS;
    sharing_init(&c, 2, now);
    for (int i = 0; i < 10; i++) {
        now = trial(&c, now, &lost, 20 * MS, 10 * MS);
        assert_int_equal(c.until_ns - now, expected);
        now = c.until_ns;
        sharing_tick(&c, now, lost);
        assert_false(sharing_pauses(&c));
        expected = expected * 2 < SHARING_HOLD_MOST_NS ? expected * 2 : SHARING_HOLD_MOST_NS;
    }
    assert_int_equal(expected, SHARING_HOLD_MOST_NS);
    now = trial(&c, now, &lost, 20 * MS, 0);
    assert_false(sharing_pauses(&c));
    now = trial(&c, now, &lost, 20 * MS, 10 * MS);
    assert_int_equal(c.until_ns - now, SHARING_HOLD_NS);
}

/* Time that was lost before a trial says nothing about it. */
static void only_the_trial_counts(void **state)
{
    (void)state;
    sharing c;
    uint64_t lost = 0;
    sharing_init(&c, 2, 0);
    uint64_t now = trial(&c, 0, &lost, 20 * MS, 10 * MS);
    now = c.until_ns;
    lost += 500 * MS; /* a waiter adds its time late */
    sharing_tick(&c, now, lost);
    trial(&c, now, &lost, 20 * MS, 0);
    assert_false(sharing_pauses(&c));
}

/* Eight threads that lose half their time are still four: no reason to stop. */
static void a_large_team_bears_more(void **state)
{
    (void)state;
    sharing c;
    uint64_t lost = 0;
    sharing_init(&c, 8, 0);
    uint64_t now = trial(&c, 0, &lost, 20 * MS, 7 * 10 * MS);
    assert_false(sharing_pauses(&c));
    trial(&c, now, &lost, 20 * MS, 7 * 18 * MS);
    assert_true(sharing_pauses(&c));
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
        cmocka_unit_test(a_thread_that_gets_half_a_cpu_ends_sharing),
        cmocka_unit_test(pauses_grow_and_shrink),
        cmocka_unit_test(only_the_trial_counts),
        cmocka_unit_test(a_large_team_bears_more),
        cmocka_unit_test(waiting_for_a_thread_is_lost_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

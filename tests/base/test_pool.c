/* test_pool.c: the barrier under stress, and pools that are used again. Meant for ThreadSanitizer too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pool.h"
#include "lockstep/random.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

/* Plain fields on purpose: only the barrier orders them, and ThreadSanitizer sees if it does not. */
typedef struct stress {
    thread_barrier barrier;
    uint32_t threads, rounds;
    bool jitter;
    struct {
        _Alignas(64) uint64_t value;
    } slot[MOST];
    uint64_t sum;   /* written by the last to arrive */
    uint64_t lasts; /* how often one was */
    uint64_t wrong[MOST];
} stress;

static void add_up(void *self)
{
    stress *s = self;
    s->sum = 0;
    for (uint32_t i = 0; i < s->threads; i++)
        s->sum += s->slot[i].value;
    s->lasts++;
}

static void stress_thread(void *self, uint32_t thread)
{
    stress *s = self;
    ls_random random;
    ls_random_init(&random, thread);
    for (uint64_t round = 1; round <= s->rounds; round++) {
        s->slot[thread].value = round * (thread + 1);
        if (s->jitter && ls_random_below(&random, 16) == 0)
            sched_yield();
        barrier_wait(&s->barrier, add_up, s);
        uint64_t expected = round * s->threads * (s->threads + 1) / 2;
        s->wrong[thread] += s->sum != expected;
        s->wrong[thread] +=
            s->slot[(thread + 1) % s->threads].value != round * ((thread + 1) % s->threads + 1);
        barrier_wait(&s->barrier, NULL, NULL);
    }
}

static void run_stress(uint32_t threads, uint32_t rounds, int spins, bool jitter)
{
    stress *s = aligned_alloc(64, sizeof *s);
    thread_pool *pool;
    ls_error err;
    assert_non_null(s);
    memset(s, 0, sizeof *s);
    barrier_init(&s->barrier, threads);
    if (spins >= 0)
        s->barrier.spins = (uint32_t)spins;
    s->threads = threads;
    s->rounds = rounds;
    s->jitter = jitter;
    assert_int_equal(pool_create(threads, &pool, &err), LS_OK);
    pool_run(pool, stress_thread, s);
    pool_destroy(pool);
    assert_int_equal(s->lasts, rounds);
    for (uint32_t i = 0; i < threads; i++)
        assert_int_equal(s->wrong[i], 0);
    assert_int_equal(atomic_load(&s->barrier.sleepers), 0);
    free(s);
}

static void barrier_orders(void **state)
{
    (void)state;
    static const uint32_t team[] = { 1, 2, 3, 8 };
    for (size_t i = 0; i < LS_COUNT_OF(team); i++)
        run_stress(team[i], team[i] <= 2 ? 5000 : 200, -1, true);
}

static void barrier_orders_when_it_sleeps(void **state)
{
    (void)state;
    run_stress(2, 500, 0, false);
    run_stress(2, 500, 1, true); /* between spinning and sleeping */
    run_stress(3, 200, 3, true);
    run_stress(8, 100, 0, true);
}

static void generations_wrap(void **state)
{
    (void)state;
    stress *s = aligned_alloc(64, sizeof *s);
    assert_non_null(s);
    memset(s, 0, sizeof *s);
    barrier_init(&s->barrier, 2);
    atomic_store(&s->barrier.generation, UINT32_MAX - 3);
    s->threads = 2;
    s->rounds = 50;
    thread_pool *pool;
    assert_int_equal(pool_create(2, &pool, NULL), LS_OK);
    pool_run(pool, stress_thread, s);
    pool_destroy(pool);
    assert_int_equal(s->wrong[0] + s->wrong[1], 0);
    assert_int_equal(atomic_load(&s->barrier.generation), 96);
    free(s);
}

static void no_spinning_without_cpus(void **state)
{
    (void)state;
    thread_barrier barrier;
    barrier_init(&barrier, cpu_count() + 1);
    assert_int_equal(barrier.spins, 0);
    barrier_init(&barrier, 1);
    assert_true(barrier.spins > 0);
}

/* Rounds that end when their work is done: thread 0 does all of it while thread 1 is away, and then thread 1 does the
 * rest while thread 0 waits. */
typedef struct rounds {
    thread_barrier barrier;
    atomic_uint undone;
    uint64_t value; /* plain on purpose, as above */
    bool is_slow;   /* thread 0 had to do more than spin */
} rounds;

enum { ROUNDS = 100 };

static void run_rounds(void *self, uint32_t thread)
{
    rounds *r = self;
    if (thread == 1) {
        while (barrier_generation(&r->barrier) != ROUNDS)
            sched_yield();
        while (atomic_load(&r->barrier.impatient) == 0)
            sched_yield();
        r->value *= 2;
        assert_int_equal(atomic_fetch_sub(&r->undone, 1), 1);
        barrier_complete(&r->barrier);
        barrier_release(&r->barrier);
        return;
    }
    for (unsigned i = 1; i <= ROUNDS; i++) {
        r->value++;
        barrier_release(&r->barrier);
        assert_int_equal(barrier_generation(&r->barrier), i);
        assert_true(barrier_await(&r->barrier, i - 1));
    }
    r->is_slow = !barrier_await(&r->barrier, ROUNDS);
}

static void rounds_do_not_wait_for_a_thread_that_is_away(void **state)
{
    (void)state;
    rounds r = { .undone = 1 };
    thread_pool *pool;
    barrier_init(&r.barrier, 2);
    atomic_store(&r.barrier.patience, 1); /* a fast thread 1 must not be quicker than a spin */
    assert_int_equal(pool_create(2, &pool, NULL), LS_OK);
    pool_run(pool, run_rounds, &r);
    pool_destroy(pool);
    assert_int_equal(r.value, 2 * ROUNDS);
    assert_true(r.is_slow);
    assert_int_equal(atomic_load(&r.barrier.sleepers), 0);
}

typedef struct counted {
    uint32_t calls[MOST];
    uint32_t last_run;
} counted;

static void count_call(void *self, uint32_t thread)
{
    counted *c = self;
    c->calls[thread]++;
}

static void pool_runs_again_and_again(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= MOST; threads++) {
        thread_pool *pool;
        counted c = { 0 };
        assert_int_equal(pool_create(threads, &pool, NULL), LS_OK);
        assert_int_equal(pool_threads(pool), threads);
        for (uint32_t run = 1; run <= 50; run++) {
            pool_run(pool, count_call, &c);
            for (uint32_t i = 0; i < MOST; i++)
                assert_int_equal(c.calls[i], i < threads ? run : 0);
        }
        pool_destroy(pool);
    }
}

static void pool_that_never_runs(void **state)
{
    (void)state;
    thread_pool *pool;
    assert_int_equal(pool_create(3, &pool, NULL), LS_OK);
    pool_destroy(pool);
    pool_destroy(NULL);
}

static void remember_thread(void *self, uint32_t thread)
{
    pthread_t *ids = self;
    ids[thread] = pthread_self();
}

static void caller_is_thread_0(void **state)
{
    (void)state;
    pthread_t ids[3], again[3];
    thread_pool *pool;
    assert_int_equal(pool_create(3, &pool, NULL), LS_OK);
    pool_run(pool, remember_thread, ids);
    pool_run(pool, remember_thread, again);
    pool_destroy(pool);
    assert_true(pthread_equal(ids[0], pthread_self()));
    assert_false(pthread_equal(ids[1], ids[0]));
    assert_false(pthread_equal(ids[2], ids[1]));
    for (unsigned i = 0; i < 3; i++)
        assert_true(pthread_equal(ids[i], again[i]));
}

static void impossible_teams(void **state)
{
    (void)state;
    thread_pool *pool = (thread_pool *)&pool;
    ls_error err;
    assert_int_equal(pool_create(0, &pool, &err), LS_ERR_USAGE);
    assert_null(pool);
    assert_int_equal(pool_create(UINT32_MAX, &pool, &err), LS_ERR_USAGE);
    assert_non_null(strstr(err.what, "1 to 4096"));
}

static void host(void **state)
{
    (void)state;
    assert_true(cpu_count() >= 1);
    uint64_t before = host_clock_ns();
    assert_true(before > 0);
    assert_true(host_clock_ns() >= before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barrier_orders),
        cmocka_unit_test(barrier_orders_when_it_sleeps),
        cmocka_unit_test(generations_wrap),
        cmocka_unit_test(no_spinning_without_cpus),
        cmocka_unit_test(rounds_do_not_wait_for_a_thread_that_is_away),
        cmocka_unit_test(pool_runs_again_and_again),
        cmocka_unit_test(pool_that_never_runs),
        cmocka_unit_test(caller_is_thread_0),
        cmocka_unit_test(impossible_teams),
        cmocka_unit_test(host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

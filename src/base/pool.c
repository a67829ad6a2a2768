/* pool.c: the barrier between windows and the team of threads that use it. */
#include "base/pool.h"

#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SPINS = 4000, /* 50 to 200 microseconds of CPU pauses: longer than a window, shorter than a time slice */
    SPINS_LEAST = 64,
    YIELDS = 16,
    YIELDS_NS = 500000,
    GIVE_NS = 20000,
    MOST_THREADS = 4096
};

/* ---------------------------------------------------------------------------------------------- the host */

uint32_t cpu_count(void)
{
    /* The kernel refuses a mask smaller than its own, so it grows until it fits. */
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        if (set == NULL)
            break;
        size_t bytes = CPU_ALLOC_SIZE((size_t)cpus);
        int failed = sched_getaffinity(0, bytes, set);
        int reason = errno;
        int count = failed ? 0 : CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (count > 0)
            return (uint32_t)count;
        if (failed && reason != EINVAL)
            break;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

uint64_t host_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t host_switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
}

void host_give_way(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = GIVE_NS }, NULL);
}

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* --------------------------------------------------------------------------------------------- barrier */

static_assert(sizeof(atomic_uint) == 4, "the futex is a 32-bit word");

/* Returns when *word may have changed from `seen`; may return early. */
static void futex_wait(atomic_uint *word, unsigned seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake_all(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void barrier_init(thread_barrier *barrier, uint32_t count)
{
    atomic_init(&barrier->arrived, 0);
    atomic_init(&barrier->generation, 0);
    atomic_init(&barrier->sleepers, 0);
    atomic_init(&barrier->impatient, 0);
    atomic_init(&barrier->lost, 0);
    atomic_init(&barrier->complete_ns, 0);
    barrier->clock_ns = host_clock_ns;
    barrier->count = count;
    barrier->spins = count <= cpu_count() ? SPINS : 0;
    atomic_init(&barrier->patience, barrier->spins);
}

static bool left(thread_barrier *barrier, unsigned generation)
{
    return atomic_load_explicit(&barrier->generation, memory_order_acquire) != generation;
}

/* The sleeper announces itself and then looks at the generation; the releaser changes the generation and then
 * looks for sleepers. Both orders are sequentially consistent, so at least one of them sees the other: either
 * the sleeper does not sleep or the releaser wakes it. */
static void sleep_until_left(thread_barrier *barrier, unsigned generation)
{
    atomic_fetch_add_explicit(&barrier->sleepers, 1, memory_order_seq_cst);
    while (atomic_load_explicit(&barrier->generation, memory_order_seq_cst) == generation)
        futex_wait(&barrier->generation, generation);
    atomic_fetch_sub_explicit(&barrier->sleepers, 1, memory_order_relaxed);
}

/* A thread that has yet to arrive may need this CPU. Yielding is cheaper than a sleep and a wake when all arrive
 * within a few turns. On a busy host another program gets the turn, which may be long. */
static void wait_without_spinning(thread_barrier *barrier, unsigned generation, uint64_t begin_ns)
{
    for (uint32_t i = barrier->spins == 0 ? YIELDS : 0; i > 0; i--) {
        sched_yield();
        if (left(barrier, generation))
            return;
        if (barrier->clock_ns() - begin_ns > YIELDS_NS)
            break;
    }
    sleep_until_left(barrier, generation);
}

/* The barrier is left when this returns, so complete_ns is that of this generation or of another one near it. */
static void wait_and_measure(thread_barrier *barrier, unsigned generation)
{
    uint64_t begin_ns = barrier->clock_ns();
    atomic_fetch_add_explicit(&barrier->impatient, 1, memory_order_relaxed);
    wait_without_spinning(barrier, generation, begin_ns);
    atomic_fetch_sub_explicit(&barrier->impatient, 1, memory_order_relaxed);
    uint64_t complete_ns = atomic_load_explicit(&barrier->complete_ns, memory_order_relaxed);
    if (complete_ns > begin_ns)
        atomic_fetch_add_explicit(&barrier->lost, complete_ns - begin_ns, memory_order_relaxed);
}

uint64_t barrier_lost_ns(const thread_barrier *barrier)
{
    return atomic_load_explicit(&barrier->lost, memory_order_relaxed);
}

unsigned barrier_generation(const thread_barrier *barrier)
{
    return atomic_load_explicit(&barrier->generation, memory_order_acquire);
}

void barrier_complete(thread_barrier *barrier)
{
    if (atomic_load_explicit(&barrier->impatient, memory_order_relaxed) != 0)
        atomic_store_explicit(&barrier->complete_ns, barrier->clock_ns(), memory_order_relaxed);
}

void barrier_release(thread_barrier *barrier)
{
    atomic_fetch_add_explicit(&barrier->generation, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&barrier->sleepers, memory_order_seq_cst) != 0)
        futex_wake_all(&barrier->generation);
}

bool barrier_await(thread_barrier *barrier, unsigned generation)
{
    uint32_t spins = atomic_load_explicit(&barrier->patience, memory_order_relaxed);
    for (uint32_t i = spins; i > 0; i--) {
        if (left(barrier, generation)) {
            if (spins < barrier->spins)
                atomic_store_explicit(&barrier->patience, spins * 2, memory_order_relaxed);
            return true;
        }
        cpu_pause();
    }
    if (spins > SPINS_LEAST)
        atomic_store_explicit(&barrier->patience, spins / 2, memory_order_relaxed);
    wait_and_measure(barrier, generation);
    return false;
}

void barrier_wait(thread_barrier *barrier, void (*last)(void *self), void *self)
{
    if (barrier->count <= 1) {
        if (last != NULL)
            last(self);
        return;
    }
    /* Cannot move on before this thread has arrived. */
    unsigned generation = atomic_load_explicit(&barrier->generation, memory_order_relaxed);
    unsigned before = atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel);
    if (before + 1 != barrier->count) {
        (void)barrier_await(barrier, generation);
        return;
    }
    barrier_complete(barrier);
    if (last != NULL)
        last(self);
    atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
    barrier_release(barrier);
}

/* ------------------------------------------------------------------------------------------------ pool */

typedef struct worker {
    thread_pool *pool;
    pthread_t thread;
    uint32_t index;
} worker;

/* A run starts under the lock (workers sleep on the condition between runs) and ends at the barrier. */
struct thread_pool {
    thread_barrier end;
    pthread_mutex_t lock;
    pthread_cond_t start;
    uint64_t runs; /* started so far; guarded by lock, as are work, self and quit */
    void (*work)(void *self, uint32_t thread);
    void *self;
    bool quit;
    uint32_t threads;
    uint32_t started; /* workers that exist */
    worker *workers;  /* threads - 1 */
};

static void *worker_main(void *argument)
{
    worker *w = argument;
    thread_pool *pool = w->pool;
    for (uint64_t seen = 0;;) {
        pthread_mutex_lock(&pool->lock);
        while (pool->runs == seen && !pool->quit)
            pthread_cond_wait(&pool->start, &pool->lock);
        bool quit = pool->quit;
        void (*work)(void *, uint32_t) = pool->work;
        void *self = pool->self;
        seen = pool->runs;
        pthread_mutex_unlock(&pool->lock);
        if (quit)
            return NULL;
        work(self, w->index);
        barrier_wait(&pool->end, NULL, NULL);
    }
}

ls_status pool_create(uint32_t threads, thread_pool **out, ls_error *err)
{
    *out = NULL;
    if (threads == 0 || threads > MOST_THREADS)
        return ls_fail(err, LS_ERR_USAGE, "%u threads are not possible: use 1 to %d", threads, MOST_THREADS);
    thread_pool *pool = aligned_alloc(_Alignof(thread_pool), sizeof *pool);
    worker *workers = calloc(threads, sizeof *workers);
    if (pool == NULL || workers == NULL) {
        free(pool);
        free(workers);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a pool of %u threads", threads);
    }
    memset(pool, 0, sizeof *pool);
    barrier_init(&pool->end, threads);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pool->threads = threads;
    pool->workers = workers;

    /* Signals belong to the threads that the program made itself. */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int reason = 0;
    for (uint32_t i = 0; i + 1 < threads && reason == 0; i++) {
        workers[i].pool = pool;
        workers[i].index = i + 1;
        reason = pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);
        if (reason == 0) {
            char name[16];
            snprintf(name, sizeof name, "lockstep-%u", (unsigned)(uint16_t)(i + 1));
            pthread_setname_np(workers[i].thread, name);
            pool->started++;
        }
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (reason != 0) {
        uint32_t started = pool->started;
        pool_destroy(pool);
        return ls_fail(err, LS_ERR_NOMEM, "cannot start thread %u of %u: %s", started + 2, threads,
                       strerror(reason));
    }
    *out = pool;
    return LS_OK;
}

void pool_destroy(thread_pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}

uint32_t pool_threads(const thread_pool *pool)
{
    return pool->threads;
}

void pool_run(thread_pool *pool, void (*work)(void *self, uint32_t thread), void *self)
{
    if (pool->threads > 1) {
        pthread_mutex_lock(&pool->lock);
        pool->work = work;
        pool->self = self;
        pool->runs++;
        pthread_cond_broadcast(&pool->start);
        pthread_mutex_unlock(&pool->lock);
    }
    work(self, 0);
    barrier_wait(&pool->end, NULL, NULL);
}

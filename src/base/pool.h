/* pool.h: a fixed team of threads and a barrier that spins briefly and then sleeps. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "lockstep/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Sense-counting barrier for `count` threads. The last thread to arrive runs `last` (may be NULL) alone,
 * before any thread leaves. It sees all earlier writes of every thread, and all threads see its writes
 * afterwards. Waiters spin (with a CPU pause), then yield, then sleep on a futex. The spin time adapts.
 * Spinning in vain halves it, so that a host with other work is not kept busy. Success doubles it again, up to
 * `spins` (0 with more threads than CPUs). No thread makes a system call while all of them spin.
 *
 * A waiter that has spun in vain measures how long it goes on waiting for a thread that has not arrived. The time in
 * which the last thread runs `last` does not count. The sum shows whether the host has CPUs for all threads. */
typedef struct thread_barrier {
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint generation;
    atomic_uint sleepers;
    atomic_uint patience;  /* spins at present */
    atomic_uint impatient; /* waiters that have spun in vain */
    uint32_t count;
    uint32_t spins;
    atomic_uint_fast64_t complete_ns; /* when the last thread arrived, if somebody was impatient then */
    atomic_uint_fast64_t lost;        /* nanoseconds, of all waiters */
    uint64_t (*clock_ns)(void);       /* host_clock_ns, except in tests */
} thread_barrier;

/* Chooses spins from the number of CPUs online (and available to this process). */
void barrier_init(thread_barrier *barrier, uint32_t count);
void barrier_wait(thread_barrier *barrier, void (*last)(void *self), void *self);
/* The time that waiters have lost so far, for the thread that runs `last`. */
uint64_t barrier_lost_ns(const thread_barrier *barrier);

/* The parts of it, for rounds that end when their work is done, whether all threads took part or not. A thread reads the
 * generation, looks for work, and awaits the next generation if there is none. The thread that finishes the last piece
 * says so (complete), prepares the next round alone, and releases the others. */
unsigned barrier_generation(const thread_barrier *barrier);
/* Returns when the generation has changed; false: after more than a short time of spinning. */
bool barrier_await(thread_barrier *barrier, unsigned generation);
void barrier_complete(thread_barrier *barrier);
void barrier_release(thread_barrier *barrier);

typedef struct thread_pool thread_pool;

/* `threads` counts the caller: threads - 1 workers are started; 1 starts none. */
ls_status pool_create(uint32_t threads, thread_pool **out, ls_error *err);
void pool_destroy(thread_pool *pool);
uint32_t pool_threads(const thread_pool *pool);
/* Runs work(self, i) for i in [0, threads), the caller being thread 0; returns when all are done. */
void pool_run(thread_pool *pool, void (*work)(void *self, uint32_t thread), void *self);

uint32_t cpu_count(void);     /* available to this process */
uint64_t host_clock_ns(void); /* monotonic clock */
uint64_t host_switches(void); /* how often the host took the CPU away from this thread, or it gave it away */
void host_give_way(void); /* sleeps very shortly: another program that wants the CPU gets a time slice of it */

#endif

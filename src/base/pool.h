/* pool.h: a fixed team of threads and a barrier that spins briefly and then sleeps. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "lockstep/status.h"

#include <stdatomic.h>
#include <stdint.h>

/* Sense-counting barrier for `count` threads. The last thread to arrive runs `last` (may be NULL) alone,
 * before anybody leaves: what every thread wrote before is visible to it, and what it writes is visible to
 * all after. Waiters spin (with a CPU pause), then yield, then sleep on a futex. How long they spin adapts:
 * waiting in vain halves it, so that a host with other work is not kept busy for nothing; success doubles it
 * again, up to `spins` (0 with more threads than CPUs). Nobody makes a system call while all of them spin. */
typedef struct ls_barrier {
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint generation;
    atomic_uint sleepers;
    atomic_uint patience; /* spins at present */
    uint32_t count;
    uint32_t spins;
} ls_barrier;

/* Chooses spins from the number of CPUs online (and available to this process). */
void ls_barrier_init(ls_barrier *barrier, uint32_t count);
void ls_barrier_wait(ls_barrier *barrier, void (*last)(void *self), void *self);

typedef struct ls_pool ls_pool;

/* `threads` counts the caller: threads - 1 workers are started; 1 starts none. */
ls_status ls_pool_create(uint32_t threads, ls_pool **out, ls_error *err);
void ls_pool_destroy(ls_pool *pool);
uint32_t ls_pool_threads(const ls_pool *pool);
/* Runs work(self, i) for i in [0, threads), the caller being thread 0; returns when all are done. */
void ls_pool_run(ls_pool *pool, void (*work)(void *self, uint32_t thread), void *self);

uint32_t ls_cpu_count(void); /* available to this process */
uint64_t ls_host_ns(void);   /* monotonic clock */

#endif

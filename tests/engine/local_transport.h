/* local_transport.h: ranks of one machine as threads of one process: the oracle of divided machines. Each rank has an
 * engine of its own; bytes go through memory, with a barrier before and after. */
#ifndef TESTS_LOCAL_TRANSPORT_H
#define TESTS_LOCAL_TRANSPORT_H

#include "engine/ranks.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_RANKS_MAX 8u

typedef struct local_ranks {
    uint32_t ranks;
    pthread_barrier_t barrier;
    const rank_bytes *out[LOCAL_RANKS_MAX]; /* by sender */
    uint64_t *values[LOCAL_RANKS_MAX];
    uint64_t reduced[16];
    uint64_t calls;
    struct local_rank {
        struct local_ranks *all;
        uint32_t rank;
        uint8_t *in[LOCAL_RANKS_MAX];
    } at[LOCAL_RANKS_MAX];
} local_ranks;

typedef struct local_rank local_rank;

static ls_status local_exchange(void *self, const rank_bytes *out, rank_bytes *in, const uint8_t *with,
                                ls_error *err)
{
    local_rank *me = self;
    local_ranks *all = me->all;
    (void)err;
    all->out[me->rank] = out;
    pthread_barrier_wait(&all->barrier);
    for (uint32_t r = 0; r < all->ranks; r++) {
        const rank_bytes *from = &all->out[r][me->rank];
        in[r] = (rank_bytes){ 0 };
        if (r == me->rank || (with != NULL && !with[r])) {
            assert(r == me->rank || from->count == 0); /* nothing is sent to a rank without a link */
            continue;
        }
        free(me->in[r]);
        me->in[r] = malloc(from->count + 1);
        assert(me->in[r] != NULL);
        if (from->count > 0)
            memcpy(me->in[r], from->at, from->count);
        in[r] = (rank_bytes){ me->in[r], from->count };
    }
    pthread_barrier_wait(&all->barrier);
    return LS_OK;
}

static void local_reduce(local_rank *me, uint64_t *values, size_t count, bool adds)
{
    local_ranks *all = me->all;
    uint64_t result[16] = { 0 };
    assert(count <= 16);
    all->values[me->rank] = values;
    pthread_barrier_wait(&all->barrier);
    for (size_t i = 0; i < count; i++) {
        result[i] = all->values[0][i];
        for (uint32_t r = 1; r < all->ranks; r++) {
            uint64_t other = all->values[r][i];
            result[i] = adds ? result[i] + other : other < result[i] ? other : result[i];
        }
    }
    pthread_barrier_wait(&all->barrier);
    memcpy(values, result, count * sizeof *values);
}

static ls_status local_least(void *self, uint64_t *values, size_t count, ls_error *err)
{
    (void)err;
    local_reduce(self, values, count, false);
    return LS_OK;
}

static ls_status local_sum(void *self, uint64_t *values, size_t count, ls_error *err)
{
    (void)err;
    local_reduce(self, values, count, true);
    return LS_OK;
}

static inline rank_transport local_transport(local_ranks *all, uint32_t rank)
{
    all->at[rank] = (local_rank){ .all = all, .rank = rank };
    return (rank_transport){ .self = &all->at[rank],
                             .rank = rank,
                             .ranks = all->ranks,
                             .exchange = local_exchange,
                             .least = local_least,
                             .sum = local_sum };
}

/* Calls body(self, rank, transport) on a thread for each rank, and waits for all. */
typedef void (*local_body)(void *self, uint32_t rank, const rank_transport *transport);

typedef struct local_start {
    local_body body;
    void *self;
    rank_transport transport;
} local_start;

static void *local_thread(void *argument)
{
    const local_start *start = argument;
    start->body(start->self, start->transport.rank, &start->transport);
    return NULL;
}

static inline void local_run(uint32_t ranks, local_body body, void *self)
{
    local_ranks all = { .ranks = ranks };
    local_start starts[LOCAL_RANKS_MAX];
    pthread_t threads[LOCAL_RANKS_MAX];
    assert(ranks <= LOCAL_RANKS_MAX);
    pthread_barrier_init(&all.barrier, NULL, ranks);
    for (uint32_t r = 0; r < ranks; r++)
        starts[r] = (local_start){ .body = body, .self = self, .transport = local_transport(&all, r) };
    for (uint32_t r = 0; r < ranks; r++)
        if (pthread_create(&threads[r], NULL, local_thread, &starts[r]) != 0)
            abort();
    for (uint32_t r = 0; r < ranks; r++)
        pthread_join(threads[r], NULL);
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t i = 0; i < ranks; i++)
            free(all.at[r].in[i]);
    pthread_barrier_destroy(&all.barrier);
}

#endif

/* scaling.c: what a larger machine would make of this run.
 *
 * While a run measures itself, every domain's time in every window is noted. A window on P threads takes what
 * greedy list scheduling makes of those times (each domain goes to the thread that is free first: what
 * stealing does), plus the cost of a barrier, measured here with two threads and grown with log2(P); or what
 * one thread needs, if that is less, because the planner does not share such windows. */
#include "base/pool.h"
#include "engine/state.h"

#include <stdlib.h>

#define THREADS_MAX 64

typedef struct scaling_state {
    uint64_t windows;
    uint64_t work_ns, span_ns;
    double parallel_ns[LS_SCALING_POINTS];
    double barrier_ns;
} scaling_state;

static const uint32_t points[LS_SCALING_POINTS] = { 2, 4, 8, 16, 32, 64 };

#define BARRIER_ROUNDS 64u
#define BARRIER_BATCHES 100u

typedef struct barrier_test {
    ls_barrier barrier;
    uint64_t best_ns; /* of a batch */
} barrier_test;

/* Timed inside the threads, so that waking them does not count. */
static void barrier_rounds(void *self, uint32_t thread)
{
    barrier_test *test = self;
    for (uint32_t batch = 0; batch < BARRIER_BATCHES; batch++) {
        uint64_t start = ls_host_ns();
        for (uint32_t i = 0; i < BARRIER_ROUNDS; i++)
            ls_barrier_wait(&test->barrier, NULL, NULL);
        uint64_t ns = ls_host_ns() - start;
        if (thread == 0 && ns < test->best_ns)
            test->best_ns = ns;
    }
}

/* The best of several batches: whatever else the host does only adds. 0 if there is no second CPU. */
static double measure_barrier(void)
{
    ls_pool *pool;
    if (ls_cpu_count() < 2 || ls_pool_create(2, &pool, NULL) != LS_OK)
        return 0;
    barrier_test test = { .best_ns = UINT64_MAX };
    ls_barrier_init(&test.barrier, 2);
    ls_pool_run(pool, barrier_rounds, &test);
    ls_pool_destroy(pool);
    return (double)test.best_ns / BARRIER_ROUNDS;
}

ls_status scaling_start(ls_engine *engine, ls_error *err)
{
    if (engine->scaling == NULL)
        engine->scaling = calloc(1, sizeof *engine->scaling);
    if (engine->scaling == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the scaling report");
    *engine->scaling = (scaling_state){ .barrier_ns = measure_barrier() };
    return LS_OK;
}

void scaling_free(ls_engine *engine)
{
    free(engine->scaling);
}

void scaling_window(ls_engine *engine, ls_domain *const *domains, size_t count)
{
    scaling_state *s = engine->scaling;
    uint64_t longest = 0, work = 0;
    for (size_t i = 0; i < count; i++) {
        work += domains[i]->host_ns;
        longest = domains[i]->host_ns > longest ? domains[i]->host_ns : longest;
    }
    s->work_ns += work;
    s->span_ns += longest;
    s->windows++;
    for (int p = 0; p < LS_SCALING_POINTS; p++) {
        uint64_t free_at[THREADS_MAX] = { 0 };
        for (size_t i = 0; i < count; i++) {
            uint32_t first = 0;
            for (uint32_t t = 1; t < points[p]; t++)
                if (free_at[t] < free_at[first])
                    first = t;
            free_at[first] += domains[i]->host_ns;
        }
        uint64_t makespan = 0;
        for (uint32_t t = 0; t < points[p]; t++)
            makespan = free_at[t] > makespan ? free_at[t] : makespan;
        double shared = (double)makespan + s->barrier_ns * (p + 1); /* p + 1 is log2 of the thread count */
        s->parallel_ns[p] += shared < (double)work ? shared : (double)work;
    }
}

bool ls_scaling_report(const ls_engine *engine, ls_scaling *out)
{
    const scaling_state *s = engine->scaling;
    if (s == NULL || s->windows == 0)
        return false;
    *out = (ls_scaling){ .windows = s->windows,
                         .work_seconds = (double)s->work_ns * 1e-9,
                         .span_seconds = (double)s->span_ns * 1e-9,
                         .barrier_seconds = s->barrier_ns * 1e-9 };
    for (int p = 0; p < LS_SCALING_POINTS; p++) {
        out->threads[p] = points[p];
        out->speedup[p] = s->parallel_ns[p] > 0 ? (double)s->work_ns / s->parallel_ns[p] : 1;
    }
    return true;
}

/* scaling.c: predicts the run time on larger hosts.
 *
 * While a run measures itself, every domain's time in every window is noted. A window on P threads takes the
 * time of greedy list scheduling plus the cost of a barrier. List scheduling gives each domain to the thread
 * that is free first, as stealing does. The barrier is measured here with two threads and grows with log2(P).
 * If the time of one thread is less, it counts, because the planner does not share such windows.
 *
 * Groups are independent between two meetings. A meeting takes the smaller of two times: every group in turn
 * on all threads, or each group on one thread, laid out by list scheduling, with one barrier.
 *
 * Ranks are processes with one thread each that share the groups (ranks.h). The division is the real one. A meeting takes
 * the work of its busiest rank and the cost of a network, from the messages that links between ranks carried. */
#include "base/pool.h"
#include "engine/ranks.h"
#include "engine/state.h"

#include <stdlib.h>

#define THREADS_MAX 64

typedef struct scaling_group {
    uint64_t windows, work_ns, span_ns;
    /* Of the meeting that runs. */
    uint64_t meeting_work_ns, meeting_span_ns;
    double meeting_parallel_ns[LS_SCALING_POINTS];
} scaling_group;

typedef struct scaling_state {
    uint64_t windows; /* meetings, if there are several groups */
    uint64_t work_ns, span_ns;
    double parallel_ns[LS_SCALING_POINTS];
    double barrier_ns;
    struct scaling_ranks {
        uint32_t *owner;           /* by group; NULL: more ranks than groups */
        uint64_t *work_ns, *bytes; /* by rank, of the meeting that runs */
        double busy_ns, network_ns[LS_SCALING_NETWORKS];
        uint64_t all_bytes;
    } ranks[LS_SCALING_POINTS];
    size_t group_count;
    scaling_group groups[];
} scaling_state;

static const uint32_t points[LS_SCALING_POINTS] = { 2, 4, 8, 16, 32, 64 };

/* Latencies of small messages and usable bandwidth as vendors and public MPI benchmarks state them: orders of magnitude,
 * not measurements of ours. */
const ls_scaling_network ls_scaling_networks[LS_SCALING_NETWORKS] = {
    { "one host", 0.7e-6, 5e9 },
    { "InfiniBand 200 Gb/s", 1.5e-6, 23e9 },
    { "Ethernet 25 Gb/s", 20e-6, 2.9e9 },
};

#define BARRIER_ROUNDS 64u
#define BARRIER_BATCHES 100u

typedef struct barrier_test {
    thread_barrier barrier;
    uint64_t best_ns; /* of a batch */
} barrier_test;

/* Timed inside the threads, so that waking them does not count. */
static void barrier_rounds(void *self, uint32_t thread)
{
    barrier_test *test = self;
    for (uint32_t batch = 0; batch < BARRIER_BATCHES; batch++) {
        uint64_t start = host_clock_ns();
        for (uint32_t i = 0; i < BARRIER_ROUNDS; i++)
            barrier_wait(&test->barrier, NULL, NULL);
        uint64_t ns = host_clock_ns() - start;
        if (thread == 0 && ns < test->best_ns)
            test->best_ns = ns;
    }
}

/* The best of several batches: other work of the host only adds time. 0 if there is no second CPU. */
static double measure_barrier(void)
{
    thread_pool *pool;
    if (cpu_count() < 2 || pool_create(2, &pool, NULL) != LS_OK)
        return 0;
    barrier_test test = { .best_ns = UINT64_MAX };
    barrier_init(&test.barrier, 2);
    pool_run(pool, barrier_rounds, &test);
    pool_destroy(pool);
    return (double)test.best_ns / BARRIER_ROUNDS;
}

/* The divisions of the machine over 2, 4, ... ranks, as far as there are groups. */
static bool start_ranks(const ls_engine *engine, scaling_state *s)
{
    for (int p = 0; p < LS_SCALING_POINTS; p++) {
        struct scaling_ranks *r = &s->ranks[p];
        r->owner = calloc(s->group_count, sizeof *r->owner);
        r->work_ns = calloc(points[p], sizeof *r->work_ns);
        r->bytes = calloc(points[p], sizeof *r->bytes);
        if (r->owner == NULL || r->work_ns == NULL || r->bytes == NULL)
            return false;
        ls_status status = ranks_divide(engine, points[p], r->owner, NULL);
        if (status == LS_OK)
            continue;
        free(r->owner);
        r->owner = NULL;
        return status != LS_ERR_NOMEM;
    }
    return true;
}

/* A driver runs an engine many times, from one end of a command to the next: all of these runs count. */
ls_status scaling_start(ls_engine *engine, ls_error *err)
{
    size_t count = engine->groups.count;
    if (engine->scaling != NULL && engine->scaling->group_count == count)
        return LS_OK;
    scaling_free(engine);
    scaling_state *s = calloc(1, sizeof *s + count * sizeof s->groups[0]);
    engine->scaling = s;
    if (s == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the scaling report");
    s->barrier_ns = measure_barrier();
    s->group_count = count;
    if (!start_ranks(engine, s))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the scaling report");
    for (size_t i = 0; i < count; i++)
        engine->groups.at[i]->scaling = &s->groups[i];
    return LS_OK;
}

void scaling_free(ls_engine *engine)
{
    for (size_t i = 0; i < engine->groups.count; i++)
        engine->groups.at[i]->scaling = NULL;
    for (int p = 0; p < LS_SCALING_POINTS && engine->scaling != NULL; p++) {
        free(engine->scaling->ranks[p].owner);
        free(engine->scaling->ranks[p].work_ns);
        free(engine->scaling->ranks[p].bytes);
    }
    free(engine->scaling);
    engine->scaling = NULL;
}

/* Puts ns of work on the thread that is free first. */
static void place_work(uint64_t *free_at, uint32_t threads, uint64_t ns)
{
    uint32_t first = 0;
    for (uint32_t t = 1; t < threads; t++)
        if (free_at[t] < free_at[first])
            first = t;
    free_at[first] += ns;
}

static double makespan(const uint64_t *free_at, uint32_t threads)
{
    uint64_t longest = 0;
    for (uint32_t t = 0; t < threads; t++)
        longest = free_at[t] > longest ? free_at[t] : longest;
    return (double)longest;
}

void scaling_window(ls_group *group, ls_domain *const *domains, size_t count)
{
    scaling_group *g = group->scaling;
    double barrier_ns = group->engine->scaling->barrier_ns;
    uint64_t longest = 0, work = 0;
    for (size_t i = 0; i < count; i++) {
        work += domains[i]->host_ns;
        longest = domains[i]->host_ns > longest ? domains[i]->host_ns : longest;
    }
    g->windows++;
    g->meeting_work_ns += work;
    g->meeting_span_ns += longest;
    for (int p = 0; p < LS_SCALING_POINTS; p++) {
        uint64_t free_at[THREADS_MAX] = { 0 };
        for (size_t i = 0; i < count; i++)
            place_work(free_at, points[p], domains[i]->host_ns);
        double shared = makespan(free_at, points[p]) + barrier_ns * (p + 1); /* p + 1 is log2 of the threads */
        g->meeting_parallel_ns[p] += shared < (double)work ? shared : (double)work;
    }
}

/* Bytes of messages that were sent in this meeting; a credit for each comes back. */
static void add_traffic(const ls_engine *engine, struct scaling_ranks *r)
{
    for (size_t i = 0; i < engine->cross.count; i++) {
        const ls_link *link = engine->cross.at[i];
        uint64_t sent = link->tail - link->seen;
        uint32_t from = r->owner[link->from->domain->group->id], to = r->owner[link->to->domain->group->id];
        if (from == to)
            continue;
        r->bytes[from] += sent * link->slot_bytes;
        r->bytes[to] += sent * sizeof(ls_cycle);
        r->all_bytes += sent * (link->slot_bytes + sizeof(ls_cycle));
    }
}

static void ranks_meeting(const ls_engine *engine, const scaling_state *s, struct scaling_ranks *r, int p)
{
    uint64_t longest = 0, most = 0;
    for (size_t i = 0; i < s->group_count; i++)
        r->work_ns[r->owner[i]] += s->groups[i].meeting_work_ns;
    add_traffic(engine, r);
    for (uint32_t i = 0; i < points[p]; i++) {
        longest = r->work_ns[i] > longest ? r->work_ns[i] : longest;
        most = r->bytes[i] > most ? r->bytes[i] : most;
        r->work_ns[i] = r->bytes[i] = 0;
    }
    r->busy_ns += (double)longest;
    for (int n = 0; n < LS_SCALING_NETWORKS; n++) {
        const ls_scaling_network *net = &ls_scaling_networks[n];
        r->network_ns[n] += 1e9 * (net->latency_seconds * (p + 2) + (double)most / net->bytes_per_second);
    }
}

bool ls_scaling_report_ranks(const ls_engine *engine, uint32_t index, ls_scaling_ranks *out)
{
    const scaling_state *s = engine->scaling;
    if (s == NULL || s->windows == 0 || index >= LS_SCALING_POINTS || s->ranks[index].owner == NULL)
        return false;
    const struct scaling_ranks *r = &s->ranks[index];
    *out =
        (ls_scaling_ranks){ .ranks = points[index], .busy_seconds = r->busy_ns * 1e-9, .bytes = r->all_bytes };
    for (int n = 0; n < LS_SCALING_NETWORKS; n++)
        out->speedup[n] = r->busy_ns > 0 ? (double)s->work_ns / (r->busy_ns + r->network_ns[n]) : 1;
    return true;
}

void scaling_meeting(ls_engine *engine)
{
    scaling_state *s = engine->scaling;
    for (int p = 0; p < LS_SCALING_POINTS; p++)
        if (s->ranks[p].owner != NULL)
            ranks_meeting(engine, s, &s->ranks[p], p);
    uint64_t longest = 0;
    for (size_t i = 0; i < s->group_count; i++) {
        const scaling_group *g = &s->groups[i];
        longest = g->meeting_span_ns > longest ? g->meeting_span_ns : longest;
        s->work_ns += g->meeting_work_ns;
    }
    s->span_ns += longest;
    s->windows++;
    for (int p = 0; p < LS_SCALING_POINTS; p++) {
        uint64_t free_at[THREADS_MAX] = { 0 };
        double in_turn = 0;
        for (size_t i = 0; i < s->group_count; i++) {
            in_turn += s->groups[i].meeting_parallel_ns[p];
            place_work(free_at, points[p], s->groups[i].meeting_work_ns);
        }
        double by_group = makespan(free_at, points[p]) + s->barrier_ns * (p + 1);
        s->parallel_ns[p] += by_group < in_turn ? by_group : in_turn;
    }
    for (size_t i = 0; i < s->group_count; i++) {
        scaling_group *g = &s->groups[i];
        g->work_ns += g->meeting_work_ns;
        g->span_ns += g->meeting_span_ns;
        *g = (scaling_group){ .windows = g->windows, .work_ns = g->work_ns, .span_ns = g->span_ns };
    }
}

bool ls_scaling_report_group(const ls_engine *engine, uint32_t index, ls_scaling_group *out)
{
    const scaling_state *s = engine->scaling;
    if (s == NULL || s->windows == 0 || index >= s->group_count)
        return false;
    const ls_group *group = engine->groups.at[index];
    const scaling_group *g = &s->groups[index];
    *out = (ls_scaling_group){ .name = group->name,
                               .domains = group->count,
                               .windows = g->windows,
                               .window_fs = group->window_fs,
                               .work_seconds = (double)g->work_ns * 1e-9,
                               .span_seconds = (double)g->span_ns * 1e-9 };
    return true;
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

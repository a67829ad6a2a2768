/* run.c: windows and threads.
 *
 * The planner picks the next window [S, S + W): S is the earliest pending cycle or arrival of any domain, W
 * the lookahead, so nothing that is sent inside the window can arrive inside it and every domain may run
 * alone. With one thread the planner and the domains alternate, without any atomic operation. With more,
 * every thread meets at one barrier per window; the last to arrive is the planner, and runs windows that are
 * too small to share by itself, without waking anybody. */
#include "base/pool.h"
#include "engine/state.h"

#include <stdlib.h>
#include <string.h>

/* A window that one thread does in less time than this is not worth a barrier. Its time is estimated from the
 * cycles that its domains ran in their last windows and from what a cycle took when windows ran on one
 * thread, which windows do once in a while, long ones rarely, to keep the estimate fresh. None of this can change a
 * result. */
#define SHARE_MIN_NS 2500.0
#define SAMPLE_MAX_NS 20000.0
#define SAMPLE_MASK 63u
#define RARE_SAMPLE_MASK 1023u

#define PROGRESS_INTERVAL_NS UINT64_C(100000000)

typedef struct worker {
    _Alignas(LS_CACHE_LINE) atomic_uint cursor; /* next domain of its queue to take */
    uint32_t count;
    ls_domain **queue;
} worker;

typedef struct run {
    ls_engine *engine;
    const ls_run_options *options;
    uint32_t threads;
    ls_time window_fs, until;
    ls_domain **runnable; /* of the window, in domain order (or shuffled) */
    size_t runnable_count;
    ls_time sent_before; /* earliest arrival of what the last window of an earlier run sent */
    uint32_t *order;     /* domain ids in the order of assignment */
    uint32_t *owner;     /* by domain id */
    worker *workers;
    ls_barrier barrier;
    bool finished;
    ls_status status;
    ls_time present; /* where it ended: every cycle before has been run, no cycle from it on */
    ls_error *err;
    bool partial, limited;
    bool shared;         /* the window that ran was handed out to all threads */
    double ns_per_cycle; /* of a region, on this host */
    uint64_t windows;
    /* watchdog */
    uint64_t progress_seen;
    ls_time stuck_fs; /* time simulated in windows since the last progress */
    /* progress */
    uint64_t next_callback_ns, looked_ns, look_mask;
} run;

/* ----------------------------------------------------------------------------------------------- planning */

static uint64_t total_progress(const ls_engine *engine)
{
    uint64_t total = 0;
    for (size_t i = 0; i < engine->domains.count; i++) {
        const ls_domain *domain = engine->domains.at[i];
        total += domain->progress;
        for (uint32_t r = 0; r < domain->region_count; r++)
            total += domain->regions[r]->messages_in;
    }
    return total;
}

static bool finish(run *r, ls_status status, ls_time present)
{
    r->status = status;
    r->present = present;
    r->finished = true;
    return false;
}

static void report_progress(run *r)
{
    ls_engine *engine = r->engine;
    ls_run_progress progress = { .now = engine->window_start, .windows = r->windows };
    for (size_t i = 0; i < engine->domains.count; i++)
        for (uint32_t k = 0; k < engine->domains.at[i]->region_count; k++) {
            progress.events += engine->domains.at[i]->regions[k]->events_run;
            progress.messages += engine->domains.at[i]->regions[k]->messages_in;
        }
    r->options->progress(r->options->progress_self, &progress);
}

/* The clock is looked at every 2^n windows, which should be a few milliseconds. */
static void look_at_clock(run *r)
{
    uint64_t now = ls_host_ns();
    if (now - r->looked_ns < PROGRESS_INTERVAL_NS / 100)
        r->look_mask = r->look_mask < 1023 ? 2 * r->look_mask + 1 : r->look_mask;
    else if (now - r->looked_ns > PROGRESS_INTERVAL_NS / 10)
        r->look_mask >>= 1;
    r->looked_ns = now;
    if (now >= r->next_callback_ns) {
        r->next_callback_ns = now + PROGRESS_INTERVAL_NS;
        report_progress(r);
    }
}

/* Signals, watchdog and progress: everything that is looked at between windows. False ends the run. */
static bool between_windows(run *r)
{
    ls_engine *engine = r->engine;
    ls_run_control *control = r->options->control;
    if (control != NULL) {
        if (atomic_load_explicit(&control->stop, memory_order_relaxed) != 0) {
            r->partial = true;
            return finish(r, LS_OK, engine->window_end);
        }
        if (atomic_load_explicit(&control->dump, memory_order_relaxed) != 0) {
            atomic_store_explicit(&control->dump, 0, memory_order_relaxed);
            if (r->options->dump_to != NULL)
                ls_engine_dump(engine, r->options->dump_to);
        }
    }
    if (LS_UNLIKELY(atomic_load_explicit(&engine->out_of_memory, memory_order_relaxed)))
        return finish(r, ls_fail(r->err, LS_ERR_NOMEM, "no memory for the event heap"), engine->window_end);
    if (LS_UNLIKELY(atomic_load_explicit(&engine->stop_requested, memory_order_relaxed)))
        for (size_t i = 0; i < engine->domains.count; i++)
            if (engine->domains.at[i]->stop_time < r->until)
                r->until = engine->domains.at[i]->stop_time;
    if (r->options->watchdog_fs != 0 && r->stuck_fs >= r->options->watchdog_fs) {
        uint64_t progress = total_progress(engine);
        if (progress == r->progress_seen && waits_any(engine)) {
            char reason[80], time[32];
            snprintf(reason, sizeof reason, "no progress for %s",
                     ls_format_time(r->options->watchdog_fs, time, sizeof time));
            return finish(r, waits_deadlock(engine, reason, r->err), engine->window_end);
        }
        r->progress_seen = progress;
        r->stuck_fs = 0;
    }
    if (r->options->progress != NULL && (r->windows & r->look_mask) == 0)
        look_at_clock(r);
    return true;
}

/* Sets the engine's window and the list of domains that have something to do in it. False: nothing is
 * left. */
static bool plan_window(run *r)
{
    ls_engine *engine = r->engine;
    if (!between_windows(r))
        return false;
    size_t count = engine->domains.count;
    const ls_time *next_time = engine->next_time;
    ls_time start = LS_TIME_MAX;
    for (size_t i = 0; i < count; i++)
        start = next_time[i] < start ? next_time[i] : start;
    /* What was sent in the window before is in nobody's wheel yet. */
    for (size_t i = 0; i < r->runnable_count; i++)
        start = r->runnable[i]->sent_min < start ? r->runnable[i]->sent_min : start;
    start = r->sent_before < start ? r->sent_before : start;
    r->sent_before = LS_TIME_MAX;
    if (start == LS_TIME_MAX) {
        ls_status status = LS_OK;
        if (waits_any(engine))
            status = waits_deadlock(engine, "nothing can happen any more and work is pending", r->err);
        return finish(r, status, engine->window_index == 0 ? 0 : engine_last_cycle(engine) + 1);
    }
    if (start >= r->until) {
        r->limited = r->options->until != 0 && start >= r->options->until;
        return finish(r, LS_OK, r->until);
    }
    ls_time end = r->window_fs > LS_TIME_MAX - start ? LS_TIME_MAX : start + r->window_fs;
    end = end < r->until ? end : r->until;

    engine->window_index++;
    engine->window_start = start;
    engine->window_end = end;
    r->windows++;
    r->stuck_fs += end - start;
    for (size_t i = 0; i < engine->clocks.count; i++)
        engine->limits[i] = ls_clock_cycle_at(&engine->clocks.at[i], end);

    const _Atomic uint8_t *mail = engine->mail[(engine->window_index + 1) & 1];
    const uint32_t *order = r->order;
    size_t runnable = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t id = order[i];
        if (next_time[id] < end || atomic_load_explicit(&mail[id], memory_order_relaxed) != 0)
            r->runnable[runnable++] = engine->domains.at[id];
    }
    r->runnable_count = runnable;
    return true;
}

/* ------------------------------------------------------------------------------------------------ running */

static inline void run_domain(const run *r, ls_domain *domain)
{
    if (LS_LIKELY(!r->options->scaling)) {
        domain_run_window(domain);
        return;
    }
    uint64_t start = ls_host_ns();
    domain_run_window(domain);
    domain->host_ns = ls_host_ns() - start;
}

static void run_window_alone(run *r)
{
    for (size_t i = 0; i < r->runnable_count; i++)
        run_domain(r, r->runnable[i]);
    if (r->options->scaling)
        scaling_window(r->engine, r->runnable, r->runnable_count);
}

/* Of the window, from what its domains did in their last ones; *others: without the busiest of them. */
static uint64_t expected_cycles(const run *r, uint64_t *others)
{
    uint64_t cycles = 0, most = 0;
    for (size_t i = 0; i < r->runnable_count; i++) {
        uint64_t work = r->runnable[i]->work > 0 ? r->runnable[i]->work : 1;
        cycles += work;
        most = work > most ? work : most;
    }
    *others = cycles - most;
    return cycles;
}

static bool worth_sharing(const run *r)
{
    if (r->runnable_count < 2)
        return false;
    if (r->options->assignment != LS_ASSIGN_STATIC && r->options->assignment != LS_ASSIGN_DYNAMIC)
        return true;
    /* A kernel of one thread block keeps one domain busy: more threads could take nothing but the crumbs
     * beside it. */
    uint64_t others;
    double ns = (double)expected_cycles(r, &others) * r->ns_per_cycle;
    if ((double)others * r->ns_per_cycle < SHARE_MIN_NS / 2)
        return false;
    return ns >= SHARE_MIN_NS && (r->windows & (ns < SAMPLE_MAX_NS ? SAMPLE_MASK : RARE_SAMPLE_MASK)) != 0;
}

static void run_window_timed(run *r)
{
    uint64_t start = ls_host_ns();
    run_window_alone(r);
    double ns = (double)(ls_host_ns() - start);
    /* After the window: the domains' own counts are now what they did in it. A window in which a message only gets on
     * its way has none. */
    uint64_t others, cycles = expected_cycles(r, &others);
    if (cycles > 0)
        r->ns_per_cycle += (ns / (double)cycles - r->ns_per_cycle) / 4;
}

static void hand_out(run *r)
{
    for (uint32_t t = 0; t < r->threads; t++) {
        r->workers[t].count = 0;
        atomic_store_explicit(&r->workers[t].cursor, 0, memory_order_relaxed);
    }
    for (size_t i = 0; i < r->runnable_count; i++) {
        worker *w = &r->workers[r->owner[r->runnable[i]->id]];
        w->queue[w->count++] = r->runnable[i];
    }
}

/* The last thread at the barrier: closes the window that ran, and plans the next one that is worth
 * sharing. */
static void plan_parallel(void *self)
{
    run *r = self;
    if (r->options->scaling && r->shared)
        scaling_window(r->engine, r->runnable, r->runnable_count);
    r->shared = false;
    while (plan_window(r)) {
        if (worth_sharing(r)) {
            hand_out(r);
            r->shared = true;
            return;
        }
        run_window_timed(r);
    }
}

static void take_from(const run *r, worker *w)
{
    for (;;) {
        uint32_t i = atomic_fetch_add_explicit(&w->cursor, 1, memory_order_relaxed);
        if (i >= w->count)
            return;
        run_domain(r, w->queue[i]);
    }
}

static void run_thread(void *self, uint32_t thread)
{
    run *r = self;
    for (;;) {
        ls_barrier_wait(&r->barrier, plan_parallel, r);
        if (r->finished)
            return;
        take_from(r, &r->workers[thread]);
        if (r->options->assignment != LS_ASSIGN_FIXED)
            for (uint32_t t = 1; t < r->threads; t++)
                take_from(r, &r->workers[(thread + t) % r->threads]);
    }
}

/* ------------------------------------------------------------------------------------------------- set-up */

/* Sizes the arrays that depend on how many domains, clocks and link ends there are: once, at the first
 * run. */
static ls_status prepare_engine(ls_engine *engine, ls_error *err)
{
    size_t count = engine->domains.count;
    engine->next_time = ls_arena_array(&engine->arena, count, sizeof *engine->next_time);
    engine->limits = ls_arena_array(&engine->arena, engine->clocks.count, sizeof *engine->limits);
    bool ok = engine->next_time != NULL && engine->limits != NULL;
    for (int parity = 0; parity < 2; parity++) {
        engine->mail[parity] = ls_arena_alloc_aligned(&engine->arena, count, LS_CACHE_LINE);
        ok = ok && engine->mail[parity] != NULL;
        for (size_t i = 0; i < count && ok; i++) {
            ls_domain *domain = engine->domains.at[i];
            domain->dirty[parity] = ls_domain_alloc(domain, (domain->incoming.count + 7) & ~(size_t)7);
            ok = domain->dirty[parity] != NULL;
        }
    }
    if (!ok)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for %zu domains", count);
    for (size_t i = 0; i < engine->links.count; i++)
        link_set_marks(engine->links.at[i]);
    engine->started = true;
    return LS_OK;
}

static void assign(run *r)
{
    size_t count = r->engine->domains.count;
    for (uint32_t i = 0; i < count; i++)
        r->order[i] = i;
    if (r->options->assignment == LS_ASSIGN_SHUFFLED) {
        ls_random random;
        ls_random_init(&random, r->options->shuffle_seed);
        for (size_t i = count; i > 1; i--) {
            size_t k = (size_t)ls_random_below(&random, i);
            uint32_t id = r->order[i - 1];
            r->order[i - 1] = r->order[k];
            r->order[k] = id;
        }
    }
    /* Neighbours share cache lines (of next_time above all), so a thread gets them in small groups; at least
     * two groups, so that kinds of domains that were created together are spread. */
    size_t group = count / (2 * (size_t)r->threads);
    group = group < 1 ? 1 : group > LS_CACHE_LINE / sizeof(ls_time) ? LS_CACHE_LINE / sizeof(ls_time) : group;
    for (uint32_t i = 0; i < count; i++)
        r->owner[r->order[i]] =
            r->options->assignment == LS_ASSIGN_DYNAMIC ? 0 : (uint32_t)(i / group % r->threads);
}

static ls_status prepare_run(run *r, ls_arena *arena, ls_error *err)
{
    ls_engine *engine = r->engine;
    const ls_run_options *options = r->options;
    size_t count = engine->domains.count;
    r->threads = options->threads == 0 ? 1 : options->threads;
    r->threads = r->threads > count && count > 0 ? (uint32_t)count : r->threads;
    r->until = options->until == 0 ? LS_TIME_MAX : options->until;
    r->window_fs = engine->lookahead < WINDOW_MAX_FS ? engine->lookahead : WINDOW_MAX_FS;
    if (options->window_fs != 0 && options->window_fs < r->window_fs)
        r->window_fs = options->window_fs;
    r->ns_per_cycle = 100;
    r->sent_before = LS_TIME_MAX;
    r->progress_seen = total_progress(engine);
    r->next_callback_ns = ls_host_ns() + PROGRESS_INTERVAL_NS;
    r->runnable = ls_arena_array(arena, count, sizeof *r->runnable);
    r->order = ls_arena_array(arena, count, sizeof *r->order);
    r->owner = ls_arena_array(arena, count, sizeof *r->owner);
    r->workers = ls_arena_alloc_aligned(arena, r->threads * sizeof *r->workers, LS_CACHE_LINE);
    bool ok = r->runnable != NULL && r->order != NULL && r->owner != NULL && r->workers != NULL;
    for (uint32_t t = 0; t < r->threads && ok; t++) {
        r->workers[t].queue = ls_arena_array(arena, count, sizeof(ls_domain *));
        ok = r->workers[t].queue != NULL;
    }
    if (!ok)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for %u threads and %zu domains", r->threads, count);
    assign(r);
    for (size_t i = 0; i < count; i++) {
        ls_domain *domain = engine->domains.at[i];
        engine->next_time[i] = domain_next_time(domain);
        /* What was sent in the last window of an earlier run has not been handed over yet. */
        if (domain->window == engine->window_index && domain->window != 0 && domain->sent_min < r->sent_before)
            r->sent_before = domain->sent_min;
        domain->stop_time = LS_TIME_MAX;
    }
    for (size_t i = 0; i < engine->links.count; i++)
        link_prepare(engine->links.at[i]);
    atomic_store_explicit(&engine->stop_requested, false, memory_order_relaxed);
    return options->scaling ? scaling_start(engine, err) : LS_OK;
}

static void fill_result(const run *r, ls_run_result *result)
{
    const ls_engine *engine = r->engine;
    *result = (ls_run_result){
        .windows = r->windows, .lookahead_fs = engine->lookahead, .partial = r->partial, .limited = r->limited
    };
    for (size_t i = 0; i < engine->domains.count; i++)
        for (uint32_t k = 0; k < engine->domains.at[i]->region_count; k++) {
            const ls_region *region = engine->domains.at[i]->regions[k];
            result->events += region->events_run;
            result->messages += region->messages_in;
            result->ticks += region->ticks_run;
            result->region_cycles += region->cycles_run;
        }
    result->end_time = engine_last_cycle(engine);
}

/* Domains that had nothing to do stand at old cycles. What is scheduled between this run and the next one
 * must not start there: its messages would arrive in the past of the others. */
static void move_up(const run *r)
{
    ls_engine *engine = r->engine;
    engine->last_cycle = engine_last_cycle(engine);
    for (size_t i = 0; i < engine->domains.count; i++)
        for (uint32_t k = 0; k < engine->domains.at[i]->region_count; k++)
            region_move_up(engine->domains.at[i]->regions[k], r->present);
}

ls_status ls_run(ls_engine *engine, const ls_run_options *options, ls_run_result *result, ls_error *err)
{
    static const ls_run_options defaults = { .threads = 1 };
    ls_run_result unused;
    run r = { .engine = engine, .options = options != NULL ? options : &defaults, .err = err };
    ls_arena arena = { 0 };
    ls_pool *pool = NULL;
    ls_error_clear(err);
    ls_status status = engine->started ? LS_OK : prepare_engine(engine, err);
    if (status == LS_OK)
        status = prepare_run(&r, &arena, err);
    if (status == LS_OK && r.threads > 1)
        status = ls_pool_create(r.threads, &pool, err);
    if (status == LS_OK) {
        if (r.threads == 1) {
            while (plan_window(&r))
                run_window_alone(&r);
        } else {
            ls_barrier_init(&r.barrier, r.threads);
            ls_pool_run(pool, run_thread, &r);
        }
        status = r.status;
        move_up(&r);
    }
    fill_result(&r, result != NULL ? result : &unused);
    ls_pool_destroy(pool);
    ls_arena_fini(&arena);
    return status;
}

/* run.c: runs windows on threads.
 *
 * With one thread the planner (plan.c) and the domains alternate, without any atomic operation. With more, all
 * threads wait at one barrier per window. The last to arrive is the planner; it runs windows that are too small
 * to share by itself, without waking anybody.
 *
 * With several groups the threads share a meeting in one of two ways. Each takes whole groups and runs all their
 * windows up to the end of the meeting, with one barrier per meeting. Or, if the groups are too few or too
 * unequal for that, all threads share the domains of one window of each group, with a barrier per window. */
#include "engine/ranks_impl.h"
#include "engine/run.h"

#include <stdlib.h>
#include <string.h>

/* A window that one thread does in less time than this is not worth a barrier. Its time is estimated from the
 * cycles that its domains ran in their last windows, and from the time of a cycle on one thread. To keep that
 * time fresh, a window runs on one thread now and then, a long one rarely. None of this can change a
 * result. */
#define SHARE_MIN_NS 2500.0
#define BARRIER_NS 1000.0
#define SAMPLE_MAX_NS 20000.0
#define SAMPLE_MASK 63u
#define RARE_SAMPLE_MASK 1023u
/* Shared windows between two looks at the clock that ask whether other programs take the CPUs. */
#define LOOK_EVERY 16u

/* ------------------------------------------------------------------------------------------------ running */

static inline void run_domain(const run *r, ls_domain *domain)
{
    if (LS_LIKELY(!r->options->scaling)) {
        domain_run_window(domain);
        return;
    }
    uint64_t start = host_clock_ns();
    domain_run_window(domain);
    domain->host_ns = host_clock_ns() - start;
}

/* The window of r->runnable, of one group or of several. */
static void run_window_alone(run *r)
{
    for (size_t i = 0; i < r->runnable_count; i++)
        run_domain(r, r->runnable[i]);
}

/* Accounts for a window of a group that ran. */
static void close_window(const run *r, ls_group *group)
{
    for (size_t i = 0; i < group->runnable_count; i++)
        group->work += group->runnable[i]->work;
    if (r->options->scaling)
        scaling_window(group, group->runnable, group->runnable_count);
}

/* After r->runnable ran. */
static void close_windows(run *r)
{
    if (r->grouped) {
        for (size_t i = 0; i < r->active_count; i++)
            close_window(r, r->active[i]);
    } else if (r->options->scaling) {
        scaling_window(r->active[0], r->runnable, r->runnable_count);
        scaling_meeting(r->engine);
    }
}

/* All windows of a group up to the end of the meeting. */
static void run_group(const run *r, ls_group *group)
{
    while (plan_group(r, group, r->engine->window_end)) {
        for (size_t i = 0; i < group->runnable_count; i++)
            run_domain(r, group->runnable[i]);
        close_window(r, group);
    }
}

static void run_meeting_alone(run *r)
{
    for (size_t i = 0; i < r->active_count; i++)
        run_group(r, r->active[i]);
    r->active_count = 0;
}

/* The meeting that was planned last has run, if there was one. */
static void close_meeting(const run *r)
{
    if (r->options->scaling && r->windows > 0)
        scaling_meeting(r->engine);
}

static void run_on_one_thread(run *r)
{
    if (!r->grouped) {
        while (plan_window(r)) {
            run_window_alone(r);
            if (LS_UNLIKELY(r->options->scaling))
                close_windows(r);
        }
        return;
    }
    while (plan_meeting(r)) {
        run_meeting_alone(r);
        close_meeting(r);
    }
}

/* Cycles of the window, expected from its domains' last windows; *others: without the busiest of them. */
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

static bool worth_sharing(run *r)
{
    uint64_t others, cycles = expected_cycles(r, &others);
    double ns = (double)cycles * r->ns_per_cycle;
    if (!r->grouped) { /* else the meeting has been counted as a whole */
        sharing_add(&r->sharing, (double)cycles);
        r->window_is_long = ns >= SAMPLE_MAX_NS;
    }
    if (r->runnable_count < 2)
        return false;
    if (r->options->assignment != LS_ASSIGN_STATIC && r->options->assignment != LS_ASSIGN_DYNAMIC)
        return true;
    /* A kernel of one thread block keeps one domain busy: more threads could take nothing but the crumbs
     * beside it. */
    if (sharing_pauses(&r->sharing) || (double)others * r->ns_per_cycle < SHARE_MIN_NS / 2)
        return false;
    return ns >= SHARE_MIN_NS && (r->windows & (ns < SAMPLE_MAX_NS ? SAMPLE_MASK : RARE_SAMPLE_MASK)) != 0;
}

/* A sample in which the host ran another program is far too long: none counts for more than twice the estimate. */
static void learn_speed(run *r, uint64_t ns, uint64_t cycles)
{
    if (cycles == 0)
        return;
    double sample = (double)ns / (double)cycles, most = 2 * r->ns_per_cycle;
    r->ns_per_cycle += ((sample < most ? sample : most) - r->ns_per_cycle) / 4;
}

/* Once in some shared windows. With more threads than CPUs some thread waits at any time: that shows nothing. */
static void look_at_sharing(run *r)
{
    bool by_work = r->options->assignment == LS_ASSIGN_STATIC || r->options->assignment == LS_ASSIGN_DYNAMIC;
    if ((!r->window_is_long && ++r->shared_count < LOOK_EVERY) || r->barrier.spins == 0 || !by_work)
        return;
    r->shared_count = 0;
    sharing_look(&r->sharing, host_clock_ns(), barrier_lost_ns(&r->barrier));
}

/* After a window that one thread ran, whose end is known. */
static void look_after_alone(run *r, uint64_t now)
{
    if (r->barrier.spins != 0)
        sharing_look(&r->sharing, now, barrier_lost_ns(&r->barrier));
}

static void run_window_timed(run *r)
{
    uint64_t start = host_clock_ns();
    run_window_alone(r);
    uint64_t end = host_clock_ns(), ns = end - start;
    look_after_alone(r, end);
    /* After the window: the domains' own counts are now those of this window. A window in which a message only
     * gets on its way has none. */
    uint64_t others;
    learn_speed(r, ns, expected_cycles(r, &others));
    close_windows(r);
}

static void run_meeting_timed(run *r)
{
    uint64_t cycles = 0, start = host_clock_ns();
    size_t count = r->active_count;
    run_meeting_alone(r);
    uint64_t end = host_clock_ns(), ns = end - start;
    look_after_alone(r, end);
    for (size_t i = 0; i < count; i++)
        cycles += r->active[i]->work;
    learn_speed(r, ns, cycles);
}

/* How the meeting that was planned is run, from the work of the groups in the one before. */
static share_kind share_of_meeting(run *r)
{
    if (r->options->assignment == LS_ASSIGN_FIXED)
        return SHARE_DOMAINS;
    if (r->options->assignment == LS_ASSIGN_SHUFFLED) /* tests see both ways */
        return r->windows % 2 != 0 ? SHARE_GROUPS : SHARE_DOMAINS;
    uint64_t cycles = 0, most = 0;
    for (size_t i = 0; i < r->active_count; i++) {
        uint64_t work = r->active[i]->last_work;
        cycles += work;
        most = work > most ? work : most;
    }
    double ns = (double)cycles * r->ns_per_cycle;
    sharing_add(&r->sharing, (double)cycles);
    r->window_is_long = ns >= SAMPLE_MAX_NS;
    if (sharing_pauses(&r->sharing) || ns < SHARE_MIN_NS ||
        (r->windows & (ns < SAMPLE_MAX_NS ? SAMPLE_MASK : RARE_SAMPLE_MASK)) == 0)
        return SHARE_NOTHING;
    /* Windows cost a barrier each; whole groups leave threads idle if one has more than its share. */
    double idle_ns = (double)most * r->ns_per_cycle - ns / r->threads;
    uint64_t windows = 1;
    for (size_t i = 0; i < r->active_count; i++)
        windows = r->active[i]->last_windows > windows ? r->active[i]->last_windows : windows;
    /* A long meeting of one window needs one barrier either way, and domains can be shared more evenly. */
    return (windows == 1 && r->window_is_long) || idle_ns > (double)windows * BARRIER_NS ? SHARE_DOMAINS
                                                                                         : SHARE_GROUPS;
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

/* The thread with the most work gives a group to the one with the least, if that shortens the meeting by a sixteenth. */
static void even_out(run *r)
{
    worker *most = &r->workers[0], *least = most;
    uint64_t all = 0;
    for (uint32_t t = 0; t < r->threads; t++) {
        worker *w = &r->workers[t];
        most = w->load > most->load ? w : most;
        least = w->load < least->load ? w : least;
        all += w->load;
    }
    uint64_t gap = most->load - least->load, best_gap = gap;
    ls_group *best = NULL;
    for (size_t i = 0; i < r->active_count; i++) {
        ls_group *group = r->active[i];
        uint64_t twice = 2 * group->last_work, left = twice < gap ? gap - twice : twice - gap;
        if (&r->workers[group->thread] == most && left < best_gap) {
            best_gap = left;
            best = group;
        }
    }
    if (best != NULL && gap - best_gap > all / 8)
        best->thread = (uint32_t)(least - r->workers);
}

/* A group stays on its thread from meeting to meeting: its state is in the caches of that thread's CPU. Heavy groups come
 * first, so that what other threads take at the end is light. */
static void hand_out_groups(run *r)
{
    for (uint32_t t = 0; t < r->threads; t++) {
        r->workers[t].count = 0;
        r->workers[t].load = 0;
        atomic_store_explicit(&r->workers[t].cursor, 0, memory_order_relaxed);
    }
    for (size_t i = 0; i < r->active_count; i++)
        r->workers[r->active[i]->thread].load += r->active[i]->last_work;
    even_out(r);
    for (size_t i = 0; i < r->active_count; i++) {
        worker *w = &r->workers[r->active[i]->thread];
        uint32_t at = w->count++;
        for (; at > 0 && w->groups[at - 1]->last_work < r->active[i]->last_work; at--)
            w->groups[at] = w->groups[at - 1];
        w->groups[at] = r->active[i];
    }
}

/* Plans windows and runs those that are not worth sharing, up to the first one that is. */
static share_kind next_shared_window(run *r)
{
    while (!sharing_pauses(&r->sharing)) {
        if (!plan_window(r))
            return SHARE_NOTHING;
        if (worth_sharing(r)) {
            hand_out(r);
            return SHARE_DOMAINS;
        }
        run_window_timed(r);
    }
    return SHARE_ALONE;
}

/* The same with several groups: rounds of windows inside a meeting, or a whole meeting. */
static share_kind next_shared_round(run *r)
{
    for (;;) {
        while (r->active_count > 0 && plan_round(r)) {
            if (worth_sharing(r)) {
                hand_out(r);
                return SHARE_DOMAINS;
            }
            run_window_timed(r);
        }
        close_meeting(r);
        if (!plan_meeting(r))
            return SHARE_NOTHING;
        share_kind share = share_of_meeting(r);
        if (share == SHARE_NOTHING)
            run_meeting_timed(r);
        if (share != SHARE_GROUPS)
            continue;
        hand_out_groups(r);
        return SHARE_GROUPS;
    }
}

/* Windows on one thread, while another program takes a CPU. The run may end here. */
static void run_alone(run *r)
{
    while (sharing_pauses(&r->sharing) && plan_window(r)) {
        (void)worth_sharing(r); /* counts the work */
        run_window_timed(r);
    }
}

typedef struct member {
    run *run;
    uint32_t thread;
} member;

/* The last thread at the barrier closes the window that ran, and plans the next one that is worth sharing. The last one
 * is most often the thread whose CPU another program wants, so it does not take the windows that one thread runs. */
static void plan_parallel(void *self)
{
    const member *m = self;
    run *r = m->run;
    if (r->finished) {
        r->shared = SHARE_NOTHING;
        return;
    }
    r->alone_thread = (m->thread + 1) % r->threads;
    if (r->shared == SHARE_DOMAINS)
        close_windows(r);
    else if (r->shared == SHARE_GROUPS)
        r->active_count = 0;
    if (r->shared == SHARE_DOMAINS || r->shared == SHARE_GROUPS)
        look_at_sharing(r);
    r->shared = r->grouped ? next_shared_round(r) : next_shared_window(r);
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

static void take_groups_from(const run *r, worker *w)
{
    for (;;) {
        uint32_t i = atomic_fetch_add_explicit(&w->cursor, 1, memory_order_relaxed);
        if (i >= w->count)
            return;
        run_group(r, w->groups[i]);
    }
}

static void run_thread(void *self, uint32_t thread)
{
    run *r = self;
    member me = { r, thread };
    for (;;) {
        barrier_wait(&r->barrier, plan_parallel, &me);
        if (r->shared == SHARE_ALONE) { /* whether it is finished shows after the next barrier */
            if (thread == r->alone_thread)
                run_alone(r);
            continue;
        }
        if (r->finished)
            return;
        if (r->shared == SHARE_GROUPS) {
            for (uint32_t t = 0; t < r->threads; t++)
                take_groups_from(r, &r->workers[(thread + t) % r->threads]);
            continue;
        }
        take_from(r, &r->workers[thread]);
        if (r->options->assignment != LS_ASSIGN_FIXED)
            for (uint32_t t = 1; t < r->threads; t++)
                take_from(r, &r->workers[(thread + t) % r->threads]);
    }
}

/* ------------------------------------------------------------------------------------------------- set-up */

/* Sizes the arrays that depend on how many domains, clocks and link ends there are: once, at the first
 * run. */
ls_status engine_prepare(ls_engine *engine, ls_error *err)
{
    size_t count = engine->domains.count;
    ls_status status = groups_prepare(engine, err);
    if (status != LS_OK)
        return status;
    engine->next_time = arena_array(&engine->arena, count, sizeof *engine->next_time);
    bool ok = engine->next_time != NULL;
    for (int parity = 0; parity < 2; parity++) {
        engine->mail[parity] = arena_alloc_aligned(&engine->arena, count, LS_CACHE_LINE);
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

/* The order in which a window's domains are taken: as created, or shuffled. */
static void order_domains(const run *r, ls_group *group, ls_random *random)
{
    for (uint32_t i = 0; i < group->count; i++)
        group->order[i] = group->first + i;
    if (r->options->assignment != LS_ASSIGN_SHUFFLED)
        return;
    for (size_t i = group->count; i > 1; i--) {
        size_t k = (size_t)ls_random_below(random, i);
        uint32_t place = group->order[i - 1];
        group->order[i - 1] = group->order[k];
        group->order[k] = place;
    }
}

static void assign(run *r)
{
    ls_engine *engine = r->engine;
    size_t count = engine->domains.count;
    ls_random random;
    ls_random_init(&random, r->options->shuffle_seed);
    for (size_t g = 0; g < engine->groups.count; g++)
        order_domains(r, engine->groups.at[g], &random);
    /* Neighbours share cache lines (of next_time above all), so a thread gets several of them in a part. It
     * gets at least two parts, so that domains of one kind, which were created together, are spread. */
    size_t part = count / (2 * (size_t)r->threads);
    part = part < 1 ? 1 : part > LS_CACHE_LINE / sizeof(ls_time) ? LS_CACHE_LINE / sizeof(ls_time) : part;
    for (size_t g = 0; g < engine->groups.count; g++) {
        const ls_group *group = engine->groups.at[g];
        for (uint32_t i = 0; i < group->count; i++)
            r->owner[engine->at_place[group->order[i]]->id] =
                r->options->assignment == LS_ASSIGN_DYNAMIC
                    ? 0
                    : (uint32_t)((group->first + i) / part % r->threads);
    }
}

/* Windows are as long as links allow, but not longer than the caller wants, nor than a stop needs. */
static ls_time window_length(const run *r, ls_time lookahead)
{
    ls_time length = ls_engine_stop_delay(r->engine);
    length = lookahead < length ? lookahead : length;
    if (r->options->window_fs != 0 && r->options->window_fs < length)
        length = r->options->window_fs;
    return length;
}

static bool prepare_groups(run *r, mem_arena *arena)
{
    ls_engine *engine = r->engine;
    size_t count = engine->groups.count, used = 0;
    r->active = arena_array(arena, count, sizeof *r->active);
    r->runnable = arena_array(arena, engine->domains.count, sizeof *r->runnable);
    if (r->active == NULL || r->runnable == NULL)
        return false;
    r->meeting_fs = window_length(r, engine->cross_lookahead);
    r->active[0] = engine->groups.at[0];
    for (size_t i = 0; i < count; i++) {
        ls_group *group = engine->groups.at[i];
        group->window_fs = window_length(r, group->lookahead);
        group->runnable = arena_array(arena, group->count, sizeof *group->runnable);
        group->order = arena_array(arena, group->count, sizeof *group->order);
        if (group->runnable == NULL || group->order == NULL)
            return false;
        group->runnable_count = 0;
        group->windows = group->windows_before = group->work = group->last_work = group->last_windows = 0;
        group->sent_before = group->next_start = LS_TIME_MAX;
        group->thread = (uint32_t)(i % r->threads);
        used += group->count > 0;
        if (group->count > 0)
            r->active[0] = group;
    }
    r->grouped = used > 1;
    if (!r->grouped)
        r->runnable = r->active[0]->runnable;
    return true;
}

/* Where every domain stands after an earlier run, if there was one. */
static void take_up(const run *r)
{
    ls_engine *engine = r->engine;
    for (size_t i = 0; i < engine->domains.count; i++) {
        ls_domain *domain = engine->domains.at[i];
        ls_group *group = domain->group;
        domain->stop_time = LS_TIME_MAX;
        if (group->is_away) {
            engine->next_time[domain->place] = LS_TIME_MAX;
            continue;
        }
        ls_time next = engine->next_time[domain->place] = domain_next_time(domain);
        /* Messages of the last window of an earlier run have not been handed over yet. */
        if (domain->window == group->window_index && domain->window != 0 &&
            domain->sent_min < group->sent_before)
            group->sent_before = domain->sent_min;
        next = group->sent_before < next ? group->sent_before : next;
        group->next_start = next < group->next_start ? next : group->next_start;
    }
}

static ls_status prepare_run(run *r, mem_arena *arena, ls_error *err)
{
    ls_engine *engine = r->engine;
    const ls_run_options *options = r->options;
    size_t count = engine->domains.count;
    r->threads = options->threads == 0 ? 1 : options->threads;
    r->threads = r->threads > count && count > 0 ? (uint32_t)count : r->threads;
    r->until = options->until == 0 ? LS_TIME_MAX : options->until;
    r->deadline = options->watchdog_fs == 0 ? LS_TIME_MAX : 0; /* the first look begins a period */
    plan_read_samplers(r);
    plan_read_pause(r);
    r->ns_per_cycle = 100;
    r->next_callback_ns = host_clock_ns() + PROGRESS_INTERVAL_NS;
    r->owner = arena_array(arena, count, sizeof *r->owner);
    r->workers = arena_alloc_aligned(arena, r->threads * sizeof *r->workers, LS_CACHE_LINE);
    bool ok = prepare_groups(r, arena) && r->owner != NULL && r->workers != NULL;
    for (uint32_t t = 0; t < r->threads && ok; t++) {
        r->workers[t].queue = arena_array(arena, count, sizeof(ls_domain *));
        r->workers[t].groups = arena_array(arena, engine->groups.count, sizeof(ls_group *));
        ok = r->workers[t].queue != NULL && r->workers[t].groups != NULL;
    }
    if (!ok)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for %u threads and %zu domains", r->threads, count);
    assign(r);
    take_up(r);
    links_prepare(engine);
    atomic_store_explicit(&engine->stop_requested, false, memory_order_relaxed);
    return options->scaling ? scaling_start(engine, err) : LS_OK;
}

static void fill_result(const run *r, ls_run_result *result)
{
    const ls_engine *engine = r->engine;
    *result =
        (ls_run_result){ .lookahead_fs = engine->lookahead, .partial = r->partial, .limited = r->limited };
    for (size_t i = 0; i < engine->groups.count; i++)
        result->windows += engine->groups.at[i]->windows;
    for (size_t i = 0; i < engine->domains.count; i++)
        for (uint32_t k = 0; k < engine->domains.at[i]->region_count; k++) {
            const ls_region *region = engine->domains.at[i]->regions[k];
            if (region->domain->group->is_away)
                continue;
            result->events += region->events_run;
            result->messages += region->messages_in;
            result->ticks += region->ticks_run;
            result->region_cycles += region->cycles_run;
        }
    result->end_time = engine_last_cycle(engine);
}

/* Domains without work stand at old cycles. Events that are scheduled between this run and the next one must
 * not start there: their messages would arrive in the past of other domains. */
static void move_up(const run *r)
{
    ls_engine *engine = r->engine;
    engine->last_cycle = engine_last_cycle(engine);
    for (size_t i = 0; i < engine->domains.count; i++)
        for (uint32_t k = 0; k < engine->domains.at[i]->region_count; k++)
            if (!engine->domains.at[i]->group->is_away)
                region_move_up(engine->domains.at[i]->regions[k], r->present);
}

static ls_status run_piece(run *r, ls_run_result *result, ls_error *err)
{
    ls_engine *engine = r->engine;
    mem_arena arena = { 0 };
    thread_pool *pool = NULL;
    ls_status status = engine->started ? LS_OK : engine_prepare(engine, err);
    uint64_t began_ns = engine->ranks != NULL ? host_clock_ns() : 0;
    uint64_t waited_ns = engine->ranks != NULL ? engine->ranks->wait_ns : 0;
    if (status == LS_OK)
        status = prepare_run(r, &arena, err);
    if (status == LS_OK && r->threads > 1)
        status = pool_create(r->threads, &pool, err);
    if (status == LS_OK && engine->ranks != NULL)
        status = ranks_start(engine, err);
    uint32_t failing = UINT32_MAX;
    if (status == LS_OK) {
        if (r->threads == 1) {
            run_on_one_thread(r);
        } else {
            barrier_init(&r->barrier, r->threads);
            sharing_init(&r->sharing, r->threads, host_clock_ns());
            pool_run(pool, run_thread, r);
        }
        status = r->status;
        for (size_t i = 0; i < engine->domains.count && (status == LS_OK || status == LS_ERR_DEADLOCK); i++)
            if (engine->domains.at[i]->failure != NULL) {
                status = ls_fail(err, LS_ERR_INPUT, "%s: %s", engine->domains.at[i]->name,
                                 engine->domains.at[i]->failure);
                failing = (uint32_t)i;
            }
        move_up(r);
    }
    uint64_t windows = result->windows;
    fill_result(r, result);
    if (engine->ranks != NULL && r->finished) { /* else the others wait for this rank until they give up */
        status = ranks_finish(engine, status, failing, result, err);
        engine->ranks->n.run_ns += host_clock_ns() - began_ns;
        engine->ranks->n.wait_ns += engine->ranks->wait_ns - waited_ns;
    }
    result->windows += windows;
    pool_destroy(pool);
    arena_fini(&arena);
    return status;
}

ls_status ls_run(ls_engine *engine, const ls_run_options *options, ls_run_result *result, ls_error *err)
{
    static const ls_run_options defaults = { .threads = 1 };
    ls_run_result unused;
    ls_status status;
    options = options != NULL ? options : &defaults;
    result = result != NULL ? result : &unused;
    *result = (ls_run_result){ 0 };
    ls_error_clear(err);
    for (;;) {
        run r = { .engine = engine, .options = options, .err = err };
        status = run_piece(&r, result, err);
        if (status != LS_OK || !r.paused)
            return status;
        options->pause->at = LS_TIME_MAX;
        atomic_store_explicit(&options->pause->now, 0, memory_order_relaxed);
        status = options->pause->take(options->pause, err);
        if (status != LS_OK)
            return status;
    }
}

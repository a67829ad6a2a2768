/* team.c: runs windows on several threads.
 *
 * A round is the work that threads share: the domains of a window, or groups. It ends when its work is done, whether all
 * threads took part or not. The thread that does its last piece is the planner of the next one. The planner runs windows
 * that are too small to share by itself, without waking anybody.
 *
 * With several groups the threads share a meeting in one of two ways. Each takes whole groups and runs all their
 * windows up to the end of the meeting, with one round per meeting. Or, if the groups are too few or too
 * unequal for that, all threads share the domains of one window of each group, with a round per window.
 *
 * On a busy host a thread that has lost its CPU in the middle of a piece keeps the others waiting. So threads give their
 * CPU away between pieces (base/pace.h). If sharing still brings nothing, one of them goes on alone (base/sharing.h). */
#include "engine/run.h"

/* A window that one thread does in less time than this is not worth a round. Its time is estimated from the
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
/* A thread looks at the clock about so often, to see whether its slice is over. */
#define LOOK_LEAST_NS UINT64_C(60000)
#define LOOK_MOST_NS UINT64_C(250000)
#define STRIDE_MOST 1024u
#define FORCED_STRIDE 3u
#define FORCED_ALONE_MASK 7u

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
    mail_take_before(r->runnable, r->runnable_count);
    run_window(r);
    uint64_t end = host_clock_ns(), ns = end - start;
    look_after_alone(r, end);
    /* After the window: the domains' own counts are now those of this window. A window in which a message only
     * gets on its way has none. */
    uint64_t others;
    learn_speed(r, ns, expected_cycles(r, &others));
    run_close_windows(r);
}

static void run_meeting_timed(run *r)
{
    uint64_t cycles = 0, start = host_clock_ns();
    size_t count = r->active_count;
    run_meeting(r);
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

static void empty_queues(run *r)
{
    for (uint32_t t = 0; t < r->threads; t++) {
        r->workers[t].count = 0;
        r->workers[t].load = 0;
    }
}

/* A thread that comes late takes a piece as soon as it can, so the count of all pieces is set before. The planner counts as
 * one more piece: nobody else can end the round, and plan the next one, before it has opened all queues. */
static void open_queues(run *r)
{
    uint32_t pieces = 1;
    for (uint32_t t = 0; t < r->threads; t++)
        pieces += r->workers[t].count;
    atomic_store_explicit(&r->undone, pieces, memory_order_relaxed);
    for (uint32_t t = 0; t < r->threads; t++)
        atomic_store_explicit(&r->workers[t].left, (int)r->workers[t].count, memory_order_release);
}

static void hand_out(run *r)
{
    empty_queues(r);
    for (size_t i = 0; i < r->runnable_count; i++) {
        worker *w = &r->workers[r->owner[r->runnable[i]->id]];
        r->runnable[i]->group->mailed = true;
        w->queue[w->count++] = r->runnable[i];
    }
    open_queues(r);
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
    empty_queues(r);
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
    open_queues(r);
}

/* The thread has nothing in hand. True: it should give its CPU away. The clock is read after some pieces of work; their
 * number follows from the time that they take. */
static bool look_at_slice(worker *self, uint64_t now)
{
    uint64_t passed = now - self->looked_ns;
    self->looked_ns = now;
    if (passed < LOOK_LEAST_NS && self->stride < STRIDE_MOST)
        self->stride *= 2;
    else if (passed > LOOK_MOST_NS && self->stride > 1)
        self->stride /= 2;
    self->until_look = self->stride;
    return pace_is_over(&self->pace, now) && pace_end(&self->pace, now, host_switches());
}

/* Shuffled: tests see threads that give way, and planners that pass their work on, all the time. */
static bool is_forced(const run *r)
{
    return r->options->assignment == LS_ASSIGN_SHUFFLED;
}

/* After each piece. True: the thread should give its CPU away. */
static inline bool must_give_way(const run *r, worker *self)
{
    if (LS_LIKELY(--self->until_look > 0))
        return false;
    if (!is_forced(r))
        return look_at_slice(self, host_clock_ns());
    self->until_look = FORCED_STRIDE;
    return true;
}

/* After a window that the planner ran. True: another thread should go on with planning. */
static bool passes_on(const run *r)
{
    return !sharing_pauses(&r->sharing) && must_give_way(r, r->planner);
}

/* Plans windows and runs those that are not worth sharing, up to the first one that is. */
static share_kind next_shared_window(run *r)
{
    while (plan_window(r)) {
        if (worth_sharing(r)) {
            r->shared = SHARE_DOMAINS;
            hand_out(r);
            return SHARE_DOMAINS;
        }
        run_window_timed(r);
        if (passes_on(r))
            return SHARE_PLAN;
    }
    return SHARE_NOTHING;
}

/* The same with several groups: rounds of windows inside a meeting, or a whole meeting. */
static share_kind next_shared_round(run *r)
{
    for (;;) {
        while (r->active_count > 0 && plan_round(r)) {
            if (worth_sharing(r)) {
                r->shared = SHARE_DOMAINS;
                hand_out(r);
                return SHARE_DOMAINS;
            }
            run_window_timed(r);
            if (passes_on(r))
                return SHARE_PLAN;
        }
        run_close_meeting(r);
        if (!plan_meeting(r))
            return SHARE_NOTHING;
        share_kind share = share_of_meeting(r);
        if (share == SHARE_NOTHING) {
            run_meeting_timed(r);
            if (passes_on(r))
                return SHARE_PLAN;
        }
        if (share != SHARE_GROUPS)
            continue;
        r->shared = SHARE_GROUPS;
        hand_out_groups(r);
        return SHARE_GROUPS;
    }
}

/* After a round. True: one thread goes on alone from here on. */
static bool close_round(run *r)
{
    bool was_alone = sharing_pauses(&r->sharing);
    if (r->shared == SHARE_NOTHING)
        return false;
    if (r->shared == SHARE_DOMAINS)
        run_close_windows(r);
    else
        r->active_count = 0;
    look_at_sharing(r);
    r->shared = SHARE_NOTHING;
    return is_forced(r) ? (r->windows & FORCED_ALONE_MASK) == 0 : !was_alone && sharing_pauses(&r->sharing);
}

/* Closes the round that ran, and plans up to the next one, whose generation it returns. Nobody else is at work. */
static share_kind plan(run *r, worker *self, unsigned *generation)
{
    barrier_complete(&r->barrier);
    r->planner = self;
    *generation = barrier_generation(&r->barrier) + 1;
    /* The last thread is most often the one whose CPU another program wants: it does not go on alone. */
    share_kind next = close_round(r) ? SHARE_ALONE : r->grouped ? next_shared_round(r) : next_shared_window(r);
    if (next == SHARE_PLAN || next == SHARE_ALONE)
        atomic_store_explicit(&r->plan_is_free, true, memory_order_release);
    else if (next == SHARE_NOTHING)
        atomic_store_explicit(&r->is_over, true, memory_order_release);
    barrier_release(&r->barrier);
    return next;
}

/* ------------------------------------------------------------------------------------------------ threads */

/* A domain of a window that threads share. */
static void run_shared(const run *r, ls_domain *domain, const thread_mail *mail)
{
    mail_set_out(domain, mail);
    run_domain(r, domain);
    mail_set_out(domain, NULL);
}

/* Takes pieces of one worker's queue; counts them. False: there may be more, but the thread must give way. */
static bool take_from(const run *r, worker *self, worker *w, uint32_t *done)
{
    const thread_mail *mail = &r->engine->mail_of.at[self - r->workers];
    while (atomic_load_explicit(&w->left, memory_order_relaxed) > 0) {
        int left = atomic_fetch_sub_explicit(&w->left, 1, memory_order_acquire);
        if (left <= 0)
            break;
        uint32_t at = w->count - (uint32_t)left;
        if (r->shared == SHARE_GROUPS)
            run_group(r, w->groups[at]);
        else
            run_shared(r, w->queue[at], mail);
        ++*done;
        if (must_give_way(r, self))
            return false;
    }
    return true;
}

/* Takes pieces until there are none, or the thread must give way. True: the round is done, and this thread plans the
 * next one. held: 1 for the planner of the round. */
static bool take_pieces(run *r, worker *self, uint32_t held, bool *gives_way)
{
    uint32_t thread = (uint32_t)(self - r->workers), done = held;
    uint32_t queues = r->options->assignment == LS_ASSIGN_FIXED ? 1 : r->threads; /* 1: nobody helps */
    for (uint32_t t = 0; t < queues && !*gives_way; t++)
        *gives_way = !take_from(r, self, &r->workers[(thread + t) % r->threads], &done);
    return done > 0 && atomic_fetch_sub_explicit(&r->undone, done, memory_order_acq_rel) == done;
}

/* The thread has nothing in hand that others wait for. */
static void give_way(const run *r, worker *self)
{
    if (is_forced(r))
        return;
    uint64_t since = host_clock_ns();
    host_give_way();
    uint64_t now = host_clock_ns();
    pace_begin(&self->pace, now, now - since, host_switches());
}

static void run_thread(void *argument, uint32_t thread)
{
    run *r = argument;
    worker *self = &r->workers[thread];
    self->looked_ns = host_clock_ns();
    self->stride = self->until_look = 1;
    pace_init(&self->pace, self->looked_ns, host_switches());
    uint32_t held = 0;
    for (bool gives_way = false;;) {
        unsigned seen = barrier_generation(&r->barrier);
        if (atomic_load_explicit(&r->is_over, memory_order_acquire))
            return;
        bool plans = take_pieces(r, self, held, &gives_way);
        held = 0;
        if (!plans && !gives_way && atomic_load_explicit(&r->plan_is_free, memory_order_relaxed))
            plans = atomic_exchange_explicit(&r->plan_is_free, false, memory_order_acquire);
        if (plans) {
            share_kind next = plan(r, self, &seen);
            held = next == SHARE_DOMAINS || next == SHARE_GROUPS;
            gives_way = gives_way || next == SHARE_PLAN;
            if (next != SHARE_PLAN && next != SHARE_ALONE)
                continue;
        }
        if (gives_way)
            give_way(r, self);
        else if (!barrier_await(&r->barrier, seen))
            pace_wait(&self->pace, host_clock_ns(), host_switches());
        gives_way = false;
    }
}

void team_run(run *r, thread_pool *pool)
{
    barrier_init(&r->barrier, r->threads);
    sharing_init(&r->sharing, r->threads, host_clock_ns());
    atomic_init(&r->undone, 0);
    atomic_init(&r->plan_is_free, true);
    atomic_init(&r->is_over, false);
    for (uint32_t t = 0; t < r->threads; t++)
        atomic_init(&r->workers[t].left, 0);
    pool_run(pool, run_thread, r);
}

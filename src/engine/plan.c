/* plan.c: which window is next, and whether the run goes on.
 *
 * A window of a group is [S, S + W): S is the earliest pending cycle or arrival of any of its domains, W its
 * shortest internal link. No message that is sent inside the window to the same group arrives inside it.
 *
 * With several groups the planner first sets a meeting [S, S + M): M is the shortest link between groups. Every
 * group runs its own windows up to the end of the meeting, independent of all others. Then the messages between
 * groups are handed over. With one group there are no meetings: the planner goes from window to window. */
#include "engine/ranks_impl.h"
#include "engine/run.h"

uint64_t plan_total_progress(const ls_engine *engine)
{
    uint64_t total = 0;
    for (size_t i = 0; i < engine->domains.count; i++) {
        const ls_domain *domain = engine->domains.at[i];
        if (domain->group->is_away)
            continue;
        total += domain->tally.progress;
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

void plan_set_horizon(run *r)
{
    r->horizon = r->deadline < r->until ? r->deadline : r->until;
    r->horizon = r->sample_at < r->horizon ? r->sample_at : r->horizon;
    r->horizon = r->pause_at < r->horizon ? r->pause_at : r->horizon;
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
    uint64_t now = host_clock_ns();
    if (now - r->looked_ns < PROGRESS_INTERVAL_NS / 100)
        r->look_mask = r->look_mask < 1023 ? 2 * r->look_mask + 1 : r->look_mask;
    else if (now - r->looked_ns > PROGRESS_INTERVAL_NS / 10)
        r->look_mask >>= 1;
    r->looked_ns = now;
    if (now >= r->next_callback_ns) {
        r->next_callback_ns = now + PROGRESS_INTERVAL_NS;
        report_progress(r);
        plan_read_samplers(r);
    }
}

/* The user wants to know what every domain is doing. */
static void look_for_dump(run *r)
{
    ls_run_control *control = r->options->control;
    if (control == NULL || atomic_load_explicit(&control->dump, memory_order_relaxed) == 0)
        return;
    atomic_store_explicit(&control->dump, 0, memory_order_relaxed);
    if (r->options->dump_to != NULL)
        ls_engine_dump(r->engine, r->options->dump_to);
}

static void take_stops(run *r)
{
    for (size_t i = 0; i < r->engine->domains.count; i++)
        if (r->engine->domains.at[i]->stop_time < r->until)
            r->until = r->engine->domains.at[i]->stop_time;
    plan_set_horizon(r);
}

void plan_read_pause(run *r)
{
    r->pause_at = r->options->pause != NULL ? r->options->pause->at : LS_TIME_MAX;
    plan_set_horizon(r);
}

/* False ends this piece of the run. A stop on its way would be lost: the pause waits until it has come. */
static COLD bool pause_here(run *r, ls_time present)
{
    bool is_stopping = r->engine->ranks != NULL
                           ? r->is_stopping
                           : atomic_load_explicit(&r->engine->stop_requested, memory_order_relaxed);
    if (!is_stopping) {
        r->paused = true;
        return finish(r, LS_OK, present);
    }
    atomic_store_explicit(&r->options->pause->now, 1, memory_order_relaxed);
    r->pause_at = LS_TIME_MAX;
    plan_set_horizon(r);
    return true;
}

/* Several ranks: news of one of them counts for all of them, in the same meeting. False ends the run. */
static COLD bool meet_ranks(run *r, ls_time *start)
{
    ls_engine *engine = r->engine;
    const ls_run_control *control = r->options->control;
    ls_status own = LS_OK;
    if (atomic_load_explicit(&engine->stop_requested, memory_order_relaxed))
        take_stops(r);
    if (atomic_load_explicit(&engine->out_of_memory, memory_order_relaxed))
        own = ls_fail(r->err, LS_ERR_NOMEM, "no memory for the event heap");
    else if (r->options->between != NULL)
        own = r->options->between(r->options->between_self, r->err);
    if (r->options->progress != NULL && (r->windows & r->look_mask) == 0)
        look_at_clock(r);
    look_for_dump(r);
    rank_news news = { .start = *start, .until = r->until, .is_failed = own != LS_OK };
    news.is_stopped = control != NULL && atomic_load_explicit(&control->stop, memory_order_relaxed) != 0;
    news.is_stopping = atomic_load_explicit(&engine->stop_requested, memory_order_relaxed);
    news.is_paused =
        r->options->pause != NULL && atomic_load_explicit(&r->options->pause->now, memory_order_relaxed) != 0;
    ls_status status = ranks_meet(engine, &news, own == LS_OK ? r->err : NULL);
    if (status != LS_OK || news.is_failed)
        return finish(r, own != LS_OK ? own : status, engine->window_end);
    if (news.is_stopped) {
        r->partial = true;
        return finish(r, LS_OK, engine->window_end);
    }
    r->until = news.until;
    r->is_stopping = news.is_stopping;
    plan_set_horizon(r);
    *start = news.start;
    return !news.is_paused || pause_here(r, engine->window_end);
}

/* Signals, stops and progress: everything that is looked at between windows. False ends the run. */
static bool between_windows(run *r)
{
    ls_engine *engine = r->engine;
    ls_run_control *control = r->options->control;
    if (control != NULL) {
        if (atomic_load_explicit(&control->stop, memory_order_relaxed) != 0) {
            r->partial = true;
            return finish(r, LS_OK, engine->window_end);
        }
        look_for_dump(r);
    }
    if (LS_UNLIKELY(atomic_load_explicit(&engine->out_of_memory, memory_order_relaxed)))
        return finish(r, ls_fail(r->err, LS_ERR_NOMEM, "no memory for the event heap"), engine->window_end);
    if (LS_UNLIKELY(atomic_load_explicit(&engine->stop_requested, memory_order_relaxed)))
        take_stops(r);
    if (r->options->progress != NULL && (r->windows & r->look_mask) == 0)
        look_at_clock(r);
    if (LS_UNLIKELY(r->options->pause != NULL)) {
        if (atomic_load_explicit(&r->options->pause->now, memory_order_relaxed) != 0 &&
            !pause_here(r, engine->window_end))
            return false;
    }
    if (LS_UNLIKELY(r->options->between != NULL)) {
        ls_status status = r->options->between(r->options->between_self, r->err);
        if (status != LS_OK)
            return finish(r, status, engine->window_end);
    }
    return true;
}

/* Every cycle before the deadline has run, and the next is at `start`. A machine that polls has work soon; a
 * machine that waits for a timer has none for long. The window never goes beyond the deadline, so the verdict
 * does not depend on windows, threads or groups. */
static bool look_after(run *r, ls_time start)
{
    ls_engine *engine = r->engine;
    ls_time period = r->options->watchdog_fs;
    uint64_t progress = ranks_total(engine, plan_total_progress(engine));
    if (r->watching && progress == r->progress_seen && start - r->deadline < period &&
        ranks_any(engine, waits_any(engine))) {
        char reason[80], time[32];
        snprintf(reason, sizeof reason, "no progress for %s", format_time(period, time, sizeof time));
        return finish(r, waits_deadlock(engine, reason, r->err), r->deadline);
    }
    r->watching = true;
    r->progress_seen = progress;
    r->deadline = period > LS_TIME_MAX - start ? LS_TIME_MAX : start + period;
    plan_set_horizon(r);
    return true;
}

void plan_read_samplers(run *r)
{
    r->sample_at = LS_TIME_MAX;
    for (const ls_run_sampler *s = r->options->sampler; s != NULL; s = s->also)
        r->sample_at = s->next < r->sample_at ? s->next : r->sample_at;
    plan_set_horizon(r);
}

void plan_settle(const ls_engine *engine, ls_time present)
{
    for (size_t i = 0; i < engine->blocks.count; i++) {
        const ls_block *block = engine->blocks.at[i];
        if (block->type->settle != NULL && !block->region->domain->group->is_away)
            block->type->settle(block->state, ls_clock_cycle_at(&block->region->clock, present));
    }
}

/* Every cycle before the samplers' time has run, and the next is at `start`. */
static bool take_samples(run *r, ls_time start)
{
    plan_settle(r->engine, r->sample_at);
    (void)ranks_gather_counters(r->engine, NULL); /* a failure ends the run at the next meeting */
    for (ls_run_sampler *s = r->options->sampler; s != NULL; s = s->also) {
        if (s->next > r->sample_at)
            continue;
        s->look(s, r->sample_at, start);
        if (s->next <= r->sample_at)
            s->next = LS_TIME_MAX;
    }
    plan_read_samplers(r);
    return true;
}

/* Nothing is due before the horizon; the next is due at `start`. True: plan again. */
static COLD bool at_horizon(run *r, ls_time start)
{
    ls_engine *engine = r->engine;
    if (start == LS_TIME_MAX) {
        ls_status status = LS_OK;
        if (ranks_any(engine, waits_any(engine)))
            status = waits_deadlock(engine, "nothing can happen any more and work is pending", r->err);
        ls_time last = ranks_most(engine, engine_last_cycle(engine));
        return finish(r, status, engine->window_index == 0 ? 0 : last + 1);
    }
    if (start >= r->sample_at && r->sample_at <= r->until)
        return take_samples(r, start);
    if (start >= r->pause_at && r->pause_at < r->until)
        return pause_here(r, r->pause_at);
    if (start >= r->until) {
        r->limited = r->options->until != 0 && start >= r->options->until;
        return finish(r, LS_OK, r->until);
    }
    return look_after(r, start);
}

static inline ls_time window_end(ls_time start, ls_time length, ls_time limit)
{
    ls_time end = length > LS_TIME_MAX - start ? LS_TIME_MAX : start + length;
    return end < limit ? end : limit;
}

static inline bool plan_in(const ls_engine *engine, ls_group *group, ls_time limit)
{
    size_t count = group->count;
    const ls_time *next_time = engine->next_time + group->first;
    ls_time start = LS_TIME_MAX;
    for (size_t i = 0; i < count; i++)
        start = next_time[i] < start ? next_time[i] : start;
    /* Messages of the window before are in no wheel yet. */
    for (size_t i = 0; i < group->runnable_count; i++)
        start = group->runnable[i]->sent_min < start ? group->runnable[i]->sent_min : start;
    start = group->sent_before < start ? group->sent_before : start;
    if (start >= limit) {
        group->next_start = start;
        return false;
    }
    group->sent_before = LS_TIME_MAX;
    ls_time end = window_end(start, group->window_fs, limit);

    group->window_index++;
    group->window_start = start;
    group->window_end = end;
    group->windows++;
    for (size_t i = 0; i < engine->clocks.count; i++)
        group->limits[i] = ls_clock_cycle_at(&engine->clocks.at[i], end);

    const _Atomic uint8_t *mail = engine->mail[(group->window_index + 1) & 1];
    const uint32_t *order = group->order;
    size_t runnable = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t place = order[i];
        if (engine->next_time[place] < end || atomic_load_explicit(&mail[place], memory_order_relaxed) != 0)
            group->runnable[runnable++] = engine->at_place[place];
    }
    group->runnable_count = runnable;
    return true;
}

bool plan_group(const run *r, ls_group *group, ls_time limit)
{
    return plan_in(r->engine, group, limit);
}

bool plan_window(run *r)
{
    ls_engine *engine = r->engine;
    ls_group *group = r->active[0];
    if (!between_windows(r))
        return false;
    while (LS_UNLIKELY(!plan_in(engine, group, r->horizon)))
        if (!at_horizon(r, group->next_start))
            return false;
    engine->window_index++;
    engine->window_start = group->window_start;
    engine->window_end = group->window_end;
    r->windows++;
    r->runnable_count = group->runnable_count;
    return true;
}

/* ------------------------------------------------------------------------------------------------ meetings */

static void exchange_cross(ls_engine *engine)
{
    if (atomic_load_explicit(&engine->cross_mail, memory_order_relaxed) == 0)
        return;
    atomic_store_explicit(&engine->cross_mail, 0, memory_order_relaxed);
    for (size_t i = 0; i < engine->cross.count; i++)
        if (engine->cross_news[i] != 0) {
            engine->cross_news[i] = 0;
            link_exchange_cross(engine->cross.at[i]);
        }
}

bool plan_meeting(run *r)
{
    ls_engine *engine = r->engine;
    bool divided = engine->ranks != NULL;
    ls_status status = divided ? ranks_exchange(engine, r->err) : LS_OK;
    if (status != LS_OK)
        return finish(r, status, engine->window_end);
    exchange_cross(engine);
    if (!divided && !between_windows(r))
        return false;
    ls_time start = LS_TIME_MAX;
    for (size_t i = 0; i < engine->groups.count; i++) {
        const ls_group *group = engine->groups.at[i];
        start = group->next_start < start ? group->next_start : start;
    }
    if (divided && !meet_ranks(r, &start))
        return false;
    while (start >= r->horizon)
        if (!at_horizon(r, start))
            return false;
    engine->window_index++;
    engine->window_start = start;
    engine->window_end = window_end(start, r->meeting_fs, r->horizon);
    r->windows++;
    r->active_count = 0;
    for (size_t i = 0; i < engine->groups.count; i++) {
        ls_group *group = engine->groups.at[i];
        if (group->next_start >= engine->window_end)
            continue;
        group->last_work = group->work;
        group->last_windows = group->windows - group->windows_before;
        group->windows_before = group->windows;
        group->work = 0;
        r->active[r->active_count++] = group;
    }
    return true;
}

bool plan_round(run *r)
{
    size_t active = 0, runnable = 0;
    for (size_t i = 0; i < r->active_count; i++) {
        ls_group *group = r->active[i];
        if (!plan_group(r, group, r->engine->window_end))
            continue;
        r->active[active++] = group;
        for (size_t k = 0; k < group->runnable_count; k++)
            r->runnable[runnable++] = group->runnable[k];
    }
    r->active_count = active;
    r->runnable_count = runnable;
    r->windows += active > 0;
    return active > 0;
}

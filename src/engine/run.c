/* run.c: prepares a run and runs its windows on one thread.
 *
 * With one thread the planner (plan.c) and the domains alternate, without any atomic operation. More threads: team.c. */
#include "engine/ranks_impl.h"
#include "engine/run.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ running */

void run_window(run *r)
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

void run_close_windows(run *r)
{
    if (r->grouped) {
        for (size_t i = 0; i < r->active_count; i++)
            close_window(r, r->active[i]);
    } else if (r->options->scaling) {
        scaling_window(r->active[0], r->runnable, r->runnable_count);
        scaling_meeting(r->engine);
    }
}

/* Other threads may run other groups: no message of a meeting goes there. */
void run_group(const run *r, ls_group *group)
{
    while (plan_group(r, group, r->engine->window_end)) {
        if (LS_UNLIKELY(group->mailed))
            mail_take_before(group->runnable, group->runnable_count);
        for (size_t i = 0; i < group->runnable_count; i++)
            run_domain(r, group->runnable[i]);
        close_window(r, group);
    }
}

void run_meeting(run *r)
{
    for (size_t i = 0; i < r->active_count; i++)
        run_group(r, r->active[i]);
    r->active_count = 0;
}

void run_close_meeting(const run *r)
{
    if (r->options->scaling && r->windows > 0)
        scaling_meeting(r->engine);
}

static void run_on_one_thread(run *r)
{
    if (!r->grouped) {
        while (plan_window(r)) {
            run_window(r);
            if (LS_UNLIKELY(r->options->scaling))
                run_close_windows(r);
        }
        return;
    }
    while (plan_meeting(r)) {
        run_meeting(r);
        run_close_meeting(r);
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
    }
    if (!ok)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for %zu domains", count);
    for (size_t i = 0; i < count; i++)
        for (uint32_t r = 0; r < engine->domains.at[i]->region_count; r++) {
            engine->domains.at[i]->regions[r]->links = engine->links.at;
            engine->domains.at[i]->regions[r]->place = engine->region_count++;
        }
    for (size_t i = 0; i < engine->links.count; i++) {
        ls_link *link = engine->links.at[i];
        link->to_place = link->to->place;
        link->to_domain = link->to->domain->place;
        link_set_special(link, engine->links_hooked);
    }
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
    ls_status status = r->threads > 1 ? mail_prepare(engine, r->threads, err) : LS_OK;
    if (status != LS_OK)
        return status;
    assign(r);
    mail_take_all(engine);
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
            team_run(r, pool);
        }
        status = r->status;
        for (size_t i = 0; i < engine->domains.count && (status == LS_OK || status == LS_ERR_DEADLOCK); i++)
            if (engine->domains.at[i]->failure != NULL) {
                status = ls_fail(err, LS_ERR_INPUT, "%s: %s", engine->domains.at[i]->name,
                                 engine->domains.at[i]->failure);
                failing = (uint32_t)i;
            }
        plan_settle(engine, r->present);
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

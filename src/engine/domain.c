/* domain.c: domains and regions, and the running of one domain for one window. */
#include "engine/state.h"

#include <string.h>

#define REGIONS_MAX 8u

static ls_status add_clock(ls_engine *engine, ls_clock clock, uint32_t *id, ls_error *err)
{
    for (size_t i = 0; i < engine->clocks.count; i++)
        if (ls_clock_same(&engine->clocks.at[i], &clock)) {
            *id = (uint32_t)i;
            return LS_OK;
        }
    *id = (uint32_t)engine->clocks.count;
    if (!ls_vec_push(&engine->clocks, clock))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a clock");
    return LS_OK;
}

ls_status ls_domain_add_region(ls_domain *domain, ls_clock clock, ls_region **out, ls_error *err)
{
    *out = NULL;
    if (domain->engine->started)
        return ls_fail(err, LS_ERR_USAGE, "domain '%s' gets a region after the run began", domain->name);
    if (domain->region_count == REGIONS_MAX)
        return ls_fail(err, LS_ERR_USAGE, "domain '%s' has more than %u regions", domain->name, REGIONS_MAX);
    ls_region *region = ls_domain_alloc(domain, sizeof *region);
    if (region == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a region of domain '%s'", domain->name);
    region->domain = domain;
    region->clock = clock;
    region->index = domain->region_count;
    region->time_cycle = LS_CYCLE_MAX;
    region->time_fs = LS_TIME_MAX;
    ls_status status = add_clock(domain->engine, clock, &region->clock_id, err);
    if (status == LS_OK)
        status = wheel_init(region, err);
    if (status != LS_OK)
        return status;
    domain->regions[domain->region_count++] = region;
    *out = region;
    return LS_OK;
}

ls_status ls_domain_create(ls_engine *engine, const char *name, ls_clock clock, ls_domain **out, ls_error *err)
{
    *out = NULL;
    if (engine->started)
        return ls_fail(err, LS_ERR_USAGE, "domain '%s' comes after the run began", name);
    if (ls_map_has(&engine->domain_names, name))
        return ls_fail(err, LS_ERR_USAGE, "there are two domains named '%s'", name);
    ls_domain *domain = ls_arena_alloc_aligned(&engine->arena, sizeof *domain, LS_CACHE_LINE);
    if (domain == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for domain '%s'", name);
    domain->engine = engine;
    domain->arena.ground = &engine->ground;
    domain->id = (uint32_t)engine->domains.count;
    domain->name = ls_arena_strdup(&engine->arena, name);
    domain->regions = ls_arena_array(&engine->arena, REGIONS_MAX, sizeof *domain->regions);
    domain->sent_min = LS_TIME_MAX;
    domain->stop_time = LS_TIME_MAX;
    domain->random = ls_random_split(&engine->random, domain->id);
    if (domain->name == NULL || domain->regions == NULL || !ls_vec_push(&engine->domains, domain) ||
        !ls_map_put(&engine->domain_names, name, domain))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for domain '%s'", name);
    ls_region *region;
    ls_status status = ls_domain_add_region(domain, clock, &region, err);
    if (status == LS_OK)
        *out = domain;
    return status;
}

ls_region *ls_domain_region(ls_domain *domain, uint32_t index)
{
    return index < domain->region_count ? domain->regions[index] : NULL;
}

const char *ls_domain_name(const ls_domain *domain)
{
    return domain->name;
}

uint32_t ls_domain_id(const ls_domain *domain)
{
    return domain->id;
}

ls_engine *ls_domain_engine(const ls_domain *domain)
{
    return domain->engine;
}

ls_random *ls_domain_random(ls_domain *domain)
{
    return &domain->random;
}

void *ls_domain_alloc(ls_domain *domain, size_t bytes)
{
    return ls_arena_alloc_aligned(&domain->arena, bytes, LS_CACHE_LINE);
}

ls_domain *ls_region_domain(const ls_region *region)
{
    return region->domain;
}

const ls_clock *ls_region_clock(const ls_region *region)
{
    return &region->clock;
}

ls_cycle ls_region_now(ls_region *region)
{
    if (!region->running)
        region_sync(region);
    return region->now;
}

ls_time ls_region_time(ls_region *region)
{
    return ls_clock_time(&region->clock, ls_region_now(region));
}

void ls_domain_pending(ls_domain *domain, int64_t delta)
{
    domain->pending += delta;
    assert(domain->pending >= 0);
}

void ls_domain_progress(ls_domain *domain)
{
    domain->progress++;
}

void ls_domain_stop(ls_domain *domain)
{
    const ls_region *current = domain->current != NULL ? domain->current : domain->regions[0];
    ls_time now = ls_clock_time(&current->clock, current->now);
    ls_time lookahead = domain->engine->lookahead < WINDOW_MAX_FS ? domain->engine->lookahead : WINDOW_MAX_FS;
    ls_time stop = lookahead > LS_TIME_MAX - now ? LS_TIME_MAX - 1 : now + lookahead;
    if (stop < domain->stop_time)
        domain->stop_time = stop;
    atomic_store_explicit(&domain->engine->stop_requested, true, memory_order_relaxed);
}

/* ------------------------------------------------------------------------------------------------ windows */

ls_time domain_next_time(const ls_domain *domain)
{
    ls_time next = LS_TIME_MAX;
    for (uint32_t i = 0; i < domain->region_count; i++) {
        ls_cycle cycle = wheel_next(domain->regions[i]);
        ls_time time = cycle == LS_CYCLE_MAX ? LS_TIME_MAX : ls_clock_time(&domain->regions[i]->clock, cycle);
        next = time < next ? time : next;
    }
    return next;
}

ls_time engine_last_cycle(const ls_engine *engine)
{
    ls_time last = engine->last_cycle;
    for (size_t i = 0; i < engine->domains.count; i++)
        for (uint32_t r = 0; r < engine->domains.at[i]->region_count; r++) {
            const ls_region *region = engine->domains.at[i]->regions[r];
            if (region->floor == region->idle_floor)
                continue;
            ls_time time = ls_clock_time(&region->clock, region->floor - 1);
            last = time > last ? time : last;
        }
    return last;
}

/* Takes over what other domains sent in the window before this one. */
void domain_exchange(ls_domain *domain, unsigned parity)
{
    uint8_t *dirty = domain->dirty[parity];
    for (size_t base = 0; base < domain->ends.count; base += 8) {
        uint64_t eight;
        memcpy(&eight, dirty + base, 8);
        if (eight == 0)
            continue;
        memset(dirty + base, 0, 8);
        while (eight != 0) {
            unsigned byte = (unsigned)__builtin_ctzll(eight) / 8;
            eight &= ~(UINT64_C(0xff) << (8 * byte));
            const link_end *end = &domain->ends.at[base + byte];
            if (end->receives)
                link_receive_window(end->link, parity);
            else
                link_credit_window(end->link, parity);
        }
    }
}

/* When a region is next in turn; LS_TIME_MAX: not in this window. */
static inline ls_time next_turn(ls_region *region, const ls_cycle *limits)
{
    ls_cycle cycle = wheel_next(region);
    region->peek_cycle = cycle;
    if (cycle >= limits[region->clock_id])
        return LS_TIME_MAX;
    if (cycle != region->time_cycle) {
        region->time_cycle = cycle;
        region->time_fs = clock_time(&region->clock, cycle);
    }
    return region->time_fs;
}

/* Several clocks: always the region with the earliest edge, the first created among equals. It goes on as long as
 * it stays the earliest. */
static void run_regions(ls_domain *domain, const ls_cycle *limits)
{
    for (;;) {
        ls_region *first = NULL, *second = NULL;
        ls_time first_time = LS_TIME_MAX, second_time = LS_TIME_MAX;
        for (uint32_t i = 0; i < domain->region_count; i++) {
            ls_region *region = domain->regions[i];
            ls_time time = next_turn(region, limits);
            if (time < first_time) {
                second = first;
                second_time = first_time;
                first = region;
                first_time = time;
            } else if (time < second_time) {
                second = region;
                second_time = time;
            }
        }
        if (first == NULL)
            return;
        ls_cycle limit = limits[first->clock_id];
        if (second != NULL) {
            ls_cycle until = clock_cycle_at(&first->clock, second_time);
            until += first->index < second->index && clock_time(&first->clock, until) == second_time;
            limit = until < limit ? until : limit;
        }
        domain->current = first;
        region_run_in_turn(first, first->peek_cycle, limit);
    }
}

void domain_run_window(ls_domain *domain)
{
    ls_engine *engine = domain->engine;
    unsigned before = (engine->window_index + 1) & 1;
    domain->window = engine->window_index;
    if (atomic_load_explicit(&engine->mail[before][domain->id], memory_order_relaxed) != 0) {
        atomic_store_explicit(&engine->mail[before][domain->id], 0, memory_order_relaxed);
        domain_exchange(domain, before);
    }
    if (LS_LIKELY(domain->region_count == 1)) {
        ls_region *region = domain->regions[0];
        region->sent_min = LS_CYCLE_MAX;
        region->window = domain->window;
        domain->current = region;
        uint64_t before_run = region->cycles_run;
        region_run(region, engine->limits[region->clock_id]);
        domain->work = region->cycles_run - before_run;
        ls_cycle next = wheel_next(region);
        next = region->sent_min < next ? region->sent_min : next;
        engine->next_time[domain->id] =
            next == LS_CYCLE_MAX ? LS_TIME_MAX : ls_clock_time(&region->clock, next);
        domain->sent_min = region->sent_min == LS_CYCLE_MAX ? LS_TIME_MAX : engine->next_time[domain->id];
    } else {
        uint64_t cycles = 0;
        for (uint32_t i = 0; i < domain->region_count; i++) {
            domain->regions[i]->sent_min = LS_CYCLE_MAX;
            domain->regions[i]->window = domain->window;
            cycles -= domain->regions[i]->cycles_run;
        }
        run_regions(domain, engine->limits);
        domain->sent_min = LS_TIME_MAX;
        for (uint32_t i = 0; i < domain->region_count; i++) {
            const ls_region *region = domain->regions[i];
            cycles += region->cycles_run;
            if (region->sent_min == LS_CYCLE_MAX)
                continue;
            ls_time time = ls_clock_time(&region->clock, region->sent_min);
            domain->sent_min = time < domain->sent_min ? time : domain->sent_min;
        }
        domain->work = cycles;
        ls_time next = domain_next_time(domain);
        engine->next_time[domain->id] = domain->sent_min < next ? domain->sent_min : next;
    }
    domain->current = NULL;
}

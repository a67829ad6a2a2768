/* domain.c: domains and regions, and the running of one domain for one window. */
#include "engine/wheel.h"

#define REGIONS_MAX 8u

static ls_status add_clock(ls_engine *engine, ls_clock clock, uint32_t *id, ls_error *err)
{
    for (size_t i = 0; i < engine->clocks.count; i++)
        if (ls_clock_same(&engine->clocks.at[i], &clock)) {
            *id = (uint32_t)i;
            return LS_OK;
        }
    *id = (uint32_t)engine->clocks.count;
    if (!vec_push(&engine->clocks, clock))
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
    region->next_cycle = LS_CYCLE_MAX;
    region->next_fs = LS_TIME_MAX;
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
    if (map_has(&engine->domain_names, name))
        return ls_fail(err, LS_ERR_USAGE, "there are two domains named '%s'", name);
    ls_domain *domain = arena_alloc_aligned(&engine->arena, sizeof *domain, LS_CACHE_LINE);
    if (domain == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for domain '%s'", name);
    domain->engine = engine;
    domain->group = engine->groups.at[0];
    domain->arena.huge_arena = &engine->huge_arena;
    domain->id = (uint32_t)engine->domains.count;
    domain->name = arena_strdup(&engine->arena, name);
    domain->regions = arena_array(&engine->arena, REGIONS_MAX, sizeof *domain->regions);
    domain->sent_min = LS_TIME_MAX;
    domain->stop_time = LS_TIME_MAX;
    domain->machine_place = domain->id - engine->machine_first;
    domain->random = ls_random_split(&engine->random, domain->machine_place); /* as in an engine of its own */
    if (domain->name == NULL || domain->regions == NULL || !vec_push(&engine->domains, domain) ||
        !map_put(&engine->domain_names, name, domain))
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

uint32_t ls_domain_place(const ls_domain *domain)
{
    return domain->machine_place;
}

ls_random *ls_domain_random(ls_domain *domain)
{
    domain->engine->draws = true;
    return &domain->random;
}

bool ls_engine_draws(const ls_engine *engine)
{
    return engine->draws;
}

void *ls_domain_alloc(ls_domain *domain, size_t bytes)
{
    return arena_alloc_aligned(&domain->arena, bytes, LS_CACHE_LINE);
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
    if (!region_runs(region))
        region_sync(region);
    return region->now;
}

ls_time ls_region_time(ls_region *region)
{
    return ls_clock_time(&region->clock, ls_region_now(region));
}

void ls_domain_stop(ls_domain *domain)
{
    const ls_region *current = domain->current != NULL ? domain->current : domain->regions[0];
    ls_time now = ls_clock_time(&current->clock, current->now);
    ls_time delay = ls_engine_stop_delay(domain->engine);
    ls_time stop = delay > LS_TIME_MAX - now ? LS_TIME_MAX - 1 : now + delay;
    if (stop < domain->stop_time)
        domain->stop_time = stop;
    atomic_store_explicit(&domain->engine->stop_requested, true, memory_order_relaxed);
}

void ls_domain_fail(ls_domain *domain, const char *reason)
{
    if (domain->failure == NULL)
        domain->failure = reason;
    ls_domain_stop(domain);
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
            if (region->floor == region->idle_floor || region->domain->group->is_away)
                continue;
            ls_time time = ls_clock_time(&region->clock, region->floor - 1);
            last = time > last ? time : last;
        }
    return last;
}

static inline void enter_window(ls_region *region, _Atomic uint8_t *out_mail)
{
    region->sent_min = LS_CYCLE_MAX;
    region->out_mail = out_mail;
}

void domain_run_window(ls_domain *domain)
{
    ls_engine *engine = domain->engine;
    const ls_group *group = domain->group;
    unsigned before = (group->window_index + 1) & 1;
    domain->window = group->window_index;
    _Atomic uint8_t *has_mail = &engine->mail[before][domain->place];
    if (atomic_load_explicit(has_mail, memory_order_relaxed) != 0) {
        atomic_store_explicit(has_mail, 0, memory_order_relaxed);
        if (domain->looking != NULL || engine->mail_of.count != 0)
            link_exchange(domain, before);
    }
    _Atomic uint8_t *out_mail = engine->mail[before ^ 1];
    if (LS_LIKELY(domain->region_count == 1)) {
        ls_region *region = domain->regions[0];
        enter_window(region, out_mail);
        domain->current = region;
        uint64_t before_run = region->cycles_run;
        ls_cycle next = region_run(region, group->limits[region->clock_id]);
        domain->work = region->cycles_run - before_run;
        engine->next_time[domain->place] =
            next == LS_CYCLE_MAX ? LS_TIME_MAX : clock_time(&region->clock, next);
        domain->sent_min =
            region->sent_min == LS_CYCLE_MAX ? LS_TIME_MAX : clock_time(&region->clock, region->sent_min);
    } else {
        uint64_t cycles = 0;
        for (uint32_t i = 0; i < domain->region_count; i++) {
            enter_window(domain->regions[i], out_mail);
            cycles -= domain->regions[i]->cycles_run;
        }
        engine->next_time[domain->place] = regions_run(domain, group->window_end);
        domain->sent_min = LS_TIME_MAX;
        for (uint32_t i = 0; i < domain->region_count; i++) {
            const ls_region *region = domain->regions[i];
            cycles += region->cycles_run;
            if (region->sent_min == LS_CYCLE_MAX)
                continue;
            ls_time time = clock_time(&region->clock, region->sent_min);
            domain->sent_min = time < domain->sent_min ? time : domain->sent_min;
        }
        domain->work = cycles;
    }
    domain->current = NULL;
}

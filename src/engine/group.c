/* group.c: groups of domains, and how long they may run alone. */
#include "engine/machine.h"
#include "engine/state.h"

#include <string.h>

static ls_group *add_group(ls_engine *engine, const char *name, ls_error *err)
{
    ls_group *group = arena_alloc_aligned(&engine->arena, sizeof *group, LS_CACHE_LINE);
    char *own_name = arena_strdup(&engine->arena, name);
    if (group == NULL || own_name == NULL || !vec_push(&engine->groups, group)) {
        ls_fail(err, LS_ERR_NOMEM, "no memory for group '%s'", name);
        return NULL;
    }
    group->engine = engine;
    group->name = own_name;
    group->id = (uint32_t)engine->groups.count - 1;
    group->lookahead = LS_TIME_MAX;
    return group;
}

ls_status groups_init(ls_engine *engine, ls_error *err)
{
    return add_group(engine, "machine", err) != NULL ? LS_OK : LS_ERR_NOMEM;
}

ls_status ls_group_create(ls_engine *engine, const char *name, ls_group **out, ls_error *err)
{
    *out = NULL;
    if (engine->started)
        return ls_fail(err, LS_ERR_USAGE, "group '%s' comes after the run began", name);
    for (size_t i = 0; i < engine->groups.count; i++)
        if (strcmp(engine->groups.at[i]->name, name) == 0)
            return ls_fail(err, LS_ERR_USAGE, "there are two groups named '%s'", name);
    *out = add_group(engine, name, err);
    return *out != NULL ? LS_OK : LS_ERR_NOMEM;
}

ls_status ls_domain_set_group(ls_domain *domain, ls_group *group, ls_error *err)
{
    if (domain->engine->started)
        return ls_fail(err, LS_ERR_USAGE, "domain '%s' changes its group after the run began", domain->name);
    if (group->engine != domain->engine)
        return ls_fail(err, LS_ERR_USAGE, "group '%s' belongs to another engine than domain '%s'", group->name,
                       domain->name);
    domain->group = group;
    return LS_OK;
}

ls_group *ls_domain_group(const ls_domain *domain)
{
    return domain->group;
}

uint32_t ls_group_count(const ls_engine *engine)
{
    return (uint32_t)engine->groups.count;
}

ls_group *ls_group_at(const ls_engine *engine, uint32_t index)
{
    return index < engine->groups.count ? engine->groups.at[index] : NULL;
}

const char *ls_group_name(const ls_group *group)
{
    return group->name;
}

/* -------------------------------------------------------------------------------------------- lookahead */

static bool crosses(const ls_link *link)
{
    return link->from->domain->group != link->to->domain->group;
}

/* The shortest link inside `group`, or between groups if that is NULL. */
static ls_time shortest(const ls_engine *engine, const ls_group *group, const ls_link **limiting)
{
    ls_time least = LS_TIME_MAX;
    const ls_link *found = NULL;
    for (size_t i = 0; i < engine->links.count; i++) {
        const ls_link *link = engine->links.at[i];
        if (group == NULL ? !crosses(link) : crosses(link) || link->from->domain->group != group)
            continue;
        if (link->lookahead < least) {
            least = link->lookahead;
            found = link;
        }
    }
    if (limiting != NULL)
        *limiting = found;
    return least;
}

ls_time ls_group_lookahead(const ls_group *group, const ls_link **limiting)
{
    return shortest(group->engine, group, limiting);
}

ls_time ls_engine_cross_lookahead(const ls_engine *engine, const ls_link **limiting)
{
    return shortest(engine, NULL, limiting);
}

ls_status ls_engine_set_stop_delay(ls_engine *engine, ls_time delay_fs, ls_error *err)
{
    if (engine->started)
        return ls_fail(err, LS_ERR_USAGE, "the stop delay is set after the run began");
    if (delay_fs == 0 || delay_fs > WINDOW_MAX_FS)
        return ls_fail(err, LS_ERR_USAGE, "a stop delay of %llu fs: allowed are 1 to %llu",
                       (unsigned long long)delay_fs, (unsigned long long)WINDOW_MAX_FS);
    engine->stop_delay = delay_fs;
    return LS_OK;
}

ls_status engine_stop_as_alone(ls_engine *engine, ls_time lookahead, ls_error *err)
{
    return ls_engine_set_stop_delay(engine, lookahead < WINDOW_MAX_FS ? lookahead : WINDOW_MAX_FS, err);
}

ls_time ls_engine_stop_delay(const ls_engine *engine)
{
    ls_time delay = engine->stop_delay != 0 ? engine->stop_delay : engine->lookahead;
    return delay < WINDOW_MAX_FS ? delay : WINDOW_MAX_FS;
}

/* ---------------------------------------------------------------------------------------------- first run */

/* Domains of one group get neighbouring places, in the order of their creation. */
static void place_domains(ls_engine *engine)
{
    uint32_t place = 0;
    for (size_t g = 0; g < engine->groups.count; g++) {
        ls_group *group = engine->groups.at[g];
        group->first = place;
        for (size_t i = 0; i < engine->domains.count; i++)
            if (engine->domains.at[i]->group == group) {
                engine->at_place[place] = engine->domains.at[i];
                engine->domains.at[i]->place = place++;
            }
        group->count = place - group->first;
        group->lookahead = shortest(engine, group, &group->limiting_link);
    }
}

ls_status groups_prepare(ls_engine *engine, ls_error *err)
{
    size_t domains = engine->domains.count;
    engine->at_place = arena_array(&engine->arena, domains, sizeof *engine->at_place);
    bool ok = engine->at_place != NULL;
    for (size_t i = 0; i < engine->groups.count; i++) {
        ls_group *group = engine->groups.at[i];
        group->limits = arena_array(&engine->arena, engine->clocks.count, sizeof *group->limits);
        ok = ok && group->limits != NULL;
    }
    for (size_t i = 0; i < engine->links.count && ok; i++)
        if (crosses(engine->links.at[i]))
            ok = vec_push(&engine->cross, engine->links.at[i]);
    engine->cross_news = arena_alloc_aligned(&engine->arena, engine->cross.count + 1, LS_CACHE_LINE);
    if (!ok || engine->cross_news == NULL) {
        engine->cross.count = 0;
        return ls_fail(err, LS_ERR_NOMEM, "no memory for %zu groups", engine->groups.count);
    }
    place_domains(engine);
    engine->cross_lookahead = LS_TIME_MAX;
    for (size_t i = 0; i < engine->cross.count; i++) {
        ls_link *link = engine->cross.at[i];
        link->cross_news = &engine->cross_news[i];
        engine->cross_lookahead =
            link->lookahead < engine->cross_lookahead ? link->lookahead : engine->cross_lookahead;
    }
    return LS_OK;
}

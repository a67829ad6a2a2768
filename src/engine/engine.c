/* engine.c: creation and destruction of an engine, and the calls that a machine's builder makes before the
 * run. */
#include "engine/machine.h"
#include "engine/ranks_impl.h"
#include "engine/state.h"

#include <stdlib.h>
#include <string.h>

ls_status ls_engine_create(uint64_t seed, ls_engine **out, ls_error *err)
{
    *out = NULL;
    ls_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for an engine");
    huge_arena_init(&engine->huge_arena);
    engine->arena.huge_arena = &engine->huge_arena;
    ls_random_init(&engine->random, seed);
    engine->lookahead = LS_TIME_MAX;
    ls_status status = groups_init(engine, err);
    if (status == LS_OK)
        status = hooks_init(engine, err);
    if (status != LS_OK) {
        ls_engine_destroy(engine);
        return status;
    }
    *out = engine;
    return LS_OK;
}

void ls_engine_destroy(ls_engine *engine)
{
    if (engine == NULL)
        return;
    for (size_t i = engine->blocks.count; i-- > 0;) {
        const ls_block *block = engine->blocks.at[i];
        if (block->type->fini != NULL)
            block->type->fini(block->state);
    }
    for (size_t i = 0; i < engine->domains.count; i++) {
        ls_domain *domain = engine->domains.at[i];
        for (uint32_t r = 0; r < domain->region_count; r++)
            wheel_fini(domain->regions[r]);
        arena_fini(&domain->arena);
    }
    hooks_fini(engine);
    scaling_free(engine);
    ranks_free(engine);
    vec_fini(&engine->domains);
    vec_fini(&engine->groups);
    vec_fini(&engine->links);
    vec_fini(&engine->cross);
    vec_fini(&engine->freeing);
    vec_fini(&engine->mail_of);
    vec_fini(&engine->clocks);
    vec_fini(&engine->blocks);
    vec_fini(&engine->parts);
    vec_fini(&engine->wait_sources);
    vec_fini(&engine->warnings);
    map_fini(&engine->domain_names);
    map_fini(&engine->block_names);
    text_fini(&engine->report);
    arena_fini(&engine->arena);
    huge_arena_fini(&engine->huge_arena);
    free(engine);
}

void engine_begin_machine(ls_engine *engine)
{
    engine->machine_first = (uint32_t)engine->domains.count;
}

ls_status engine_group_machine(ls_engine *engine, ls_group *group, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = engine->machine_first; i < engine->domains.count && status == LS_OK; i++)
        status = ls_domain_set_group(engine->domains.at[i], group, err);
    return status;
}

ls_status ls_engine_add_part(ls_engine *engine, const char *kind, void *part, ls_error *err)
{
    const engine_part added = { .kind = kind, .part = part };
    return vec_push(&engine->parts, added) ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a machine");
}

void *ls_engine_part(const ls_engine *engine, const char *kind, uint32_t index)
{
    for (size_t i = 0; i < engine->parts.count; i++)
        if (strcmp(engine->parts.at[i].kind, kind) == 0 && index-- == 0)
            return engine->parts.at[i].part;
    return NULL;
}

void *ls_engine_alloc(ls_engine *engine, size_t bytes)
{
    return arena_alloc(&engine->arena, bytes);
}

ls_time ls_engine_lookahead(const ls_engine *engine, const ls_link **limiting)
{
    if (limiting != NULL)
        *limiting = engine->limiting_link;
    return engine->lookahead;
}

ls_status ls_engine_require_lookahead(const ls_engine *engine, ls_time minimum, ls_error *err)
{
    if (engine->lookahead >= minimum)
        return LS_OK;
    const ls_link *link = engine->limiting_link;
    const ls_group *from = link->from->domain->group, *to = link->to->domain->group;
    char is[32], wanted[32], where[192] = "";
    if (from != to)
        snprintf(where, sizeof where, " between groups '%s' and '%s'", from->name, to->name);
    else if (engine->groups.count > 1)
        snprintf(where, sizeof where, " in group '%s'", from->name);
    return ls_fail(
        err, LS_ERR_USAGE,
        "link '%s' from '%s' to '%s'%s is too short to be a domain boundary: %s, at least %s is needed",
        link->name, link->from_name, link->to_name, where, format_time(engine->lookahead, is, sizeof is),
        format_time(minimum, wanted, sizeof wanted));
}

ls_status ls_engine_warn(ls_engine *engine, const char *kind, const char *fmt, ...)
{
    char text[sizeof((ls_error *)0)->what]; /* cut like the sentence of an error */
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (size_t i = 0; i < engine->warnings.count; i++)
        if (strcmp(engine->warnings.at[i].kind, kind) == 0 && strcmp(engine->warnings.at[i].text, text) == 0)
            return LS_OK;
    ls_warning warning = { .kind = arena_strdup(&engine->arena, kind),
                           .text = arena_strdup(&engine->arena, text) };
    bool kept = warning.kind != NULL && warning.text != NULL && vec_push(&engine->warnings, warning);
    return kept ? LS_OK : LS_ERR_NOMEM;
}

const ls_warning *ls_engine_warnings(const ls_engine *engine, size_t *count)
{
    *count = engine->warnings.count;
    return engine->warnings.at;
}

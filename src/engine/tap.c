/* tap.c: events of blocks for a listener: one buffer per domain, which only the domain's thread touches. */
#include "engine/state.h"

#include "lockstep/timeline.h"

#include <stdlib.h>

struct ls_tap_log {
    const ls_tap_listener *listener;
    ls_tap_event *events;
    uint32_t count, capacity;
    uint32_t domain;
};

const ls_tap *ls_block_tap(const ls_block *block)
{
    return &block->tap;
}

static void hand_over(struct ls_tap_log *log)
{
    if (log->count > 0)
        log->listener->take(log->listener->self, log->domain, log->events, log->count);
    log->count = 0;
}

void ls_tap_record(const ls_tap *tap, const ls_tap_event *event)
{
    struct ls_tap_log *log = tap->log;
    const ls_tap_listener *l = log->listener;
    bool is_kept = event->phase <= LS_TAP_END && (l->kept & LS_TAP_BIT(event->kind)) != 0;
    if (event->time >= l->until || (event->time < l->from && !is_kept))
        return;
    ls_tap_event *to = &log->events[log->count++];
    *to = *event;
    to->block = tap->block;
    if (log->count == log->capacity)
        hand_over(log);
}

uint64_t ls_tap_name(const ls_tap *tap, const char *text)
{
    return tap->log->listener->name(tap->log->listener->self, tap->log->domain, text);
}

static struct ls_tap_log *log_of(ls_domain *domain, const ls_tap_listener *listener)
{
    if (domain->tap_log != NULL)
        return domain->tap_log;
    struct ls_tap_log *log = arena_alloc(&domain->engine->arena, sizeof *log);
    ls_tap_event *events = arena_array(&domain->engine->arena, listener->buffer_events, sizeof *events);
    if (log == NULL || events == NULL)
        return NULL;
    *log = (struct ls_tap_log){
        .listener = listener, .events = events, .capacity = listener->buffer_events, .domain = domain->id
    };
    domain->tap_log = log;
    return log;
}

ls_status ls_engine_listen(ls_engine *engine, const ls_tap_listener *listener, ls_error *err)
{
    if (engine->started)
        return ls_fail(err, LS_ERR_USAGE, "a listener comes after the run began");
    for (size_t i = 0; i < engine->blocks.count; i++) {
        ls_block *block = engine->blocks.at[i];
        uint32_t kinds = listener->wants(listener->self, block);
        if (kinds == 0)
            continue;
        block->tap.log = log_of(block->region->domain, listener);
        if (block->tap.log == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the events of block '%s'", block->name);
        block->tap.kinds = kinds;
    }
    return LS_OK;
}

void ls_engine_flush_taps(ls_engine *engine)
{
    for (size_t i = 0; i < engine->domains.count; i++)
        if (engine->domains.at[i]->tap_log != NULL)
            hand_over(engine->domains.at[i]->tap_log);
}

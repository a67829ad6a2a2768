/* waits.c: who waits for whom: the deadlock report and the status dump.
 *
 * Every waiting block is an edge "waiter waits for holder, because"; a cycle of such edges is the reason of a
 * deadlock and is named in the one-line error. Runs only when a run is stuck or the user asks. */
#include "engine/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct wait_edge {
    const char *waiter, *holder, *detail;
} wait_edge;

struct ls_wait_sink {
    ls_arena arena;
    LS_VEC(wait_edge) edges;
};

ls_status ls_waits_register(ls_engine *engine, const char *name, ls_wait_fn fn, const void *self, ls_error *err)
{
    wait_source source = { .name = ls_arena_strdup(&engine->arena, name), .fn = fn, .self = self };
    if (source.name == NULL || !ls_vec_push(&engine->wait_sources, source))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the wait report of '%s'", name);
    return LS_OK;
}

void ls_wait_report(ls_wait_sink *sink, const char *waiter, const char *holder, const char *detail)
{
    /* Memory that is missing here shortens the report; it must not end the program. */
    wait_edge edge = { .waiter = ls_arena_strdup(&sink->arena, waiter),
                       .holder = ls_arena_strdup(&sink->arena, holder),
                       .detail = ls_arena_strdup(&sink->arena, detail) };
    if (edge.waiter != NULL && edge.holder != NULL && edge.detail != NULL)
        (void)ls_vec_push(&sink->edges, edge);
}

bool waits_any(const ls_engine *engine)
{
    for (size_t i = 0; i < engine->links.count; i++)
        if (engine->links.at[i]->waiters != NULL)
            return true;
    for (size_t i = 0; i < engine->domains.count; i++)
        if (engine->domains.at[i]->pending > 0)
            return true;
    return false;
}

static void gather(const ls_engine *engine, ls_wait_sink *sink)
{
    char detail[256];
    for (size_t i = 0; i < engine->links.count; i++) {
        const ls_link *link = engine->links.at[i];
        if (link->waiters == NULL)
            continue;
        uint32_t home = ls_link_credits(link);
        if (home == 0)
            snprintf(detail, sizeof detail, "link '%s': none of %u credits is home, the receiver holds %u",
                     link->name, link->credit_total, link->held);
        else
            snprintf(detail, sizeof detail, "link '%s': the wire is busy", link->name);
        ls_wait_report(sink, link->from_name, link->to_name, detail);
    }
    for (size_t i = 0; i < engine->wait_sources.count; i++)
        engine->wait_sources.at[i].fn(engine->wait_sources.at[i].self, sink);
}

static void sink_fini(ls_wait_sink *sink)
{
    ls_vec_fini(&sink->edges);
    ls_arena_fini(&sink->arena);
}

/* Follows edges depth first from each one in turn; on success `path` holds the edges of a cycle. */
static bool find_cycle(const ls_wait_sink *sink, size_t *path, size_t *length)
{
    size_t count = sink->edges.count;
    const wait_edge *edges = sink->edges.at;
    uint8_t *state = calloc(count + 1, 1); /* 0 new, 1 on the path, 2 done */
    size_t *at = calloc(count + 1, sizeof *at);
    bool found = false;
    for (size_t root = 0; state != NULL && at != NULL && root < count && !found; root++) {
        if (state[root] != 0)
            continue;
        size_t depth = 0;
        path[depth] = root;
        at[depth++] = 0;
        state[root] = 1;
        while (depth > 0 && !found) {
            size_t edge = path[depth - 1];
            size_t next = at[depth - 1]++;
            if (next == count) {
                state[edge] = 2;
                depth--;
            } else if (state[next] != 2 && strcmp(edges[edge].holder, edges[next].waiter) == 0) {
                if (state[next] == 0) {
                    state[next] = 1;
                    path[depth] = next;
                    at[depth++] = 0;
                    continue;
                }
                size_t first = 0;
                while (path[first] != next)
                    first++;
                memmove(path, path + first, (depth - first) * sizeof *path);
                *length = depth - first;
                found = true;
            }
        }
    }
    free(state);
    free(at);
    return found;
}

static void add_edges(ls_text *text, const ls_wait_sink *sink)
{
    for (size_t i = 0; i < sink->edges.count; i++)
        ls_text_printf(text, "  %s waits for %s: %s\n", sink->edges.at[i].waiter, sink->edges.at[i].holder,
                       sink->edges.at[i].detail);
}

static void add_domains(ls_text *text, const ls_engine *engine, bool idle_too)
{
    char next[32];
    for (size_t i = 0; i < engine->domains.count; i++) {
        const ls_domain *domain = engine->domains.at[i];
        ls_time time = domain_next_time(domain);
        if (!idle_too && domain->pending == 0 && time == LS_TIME_MAX)
            continue;
        ls_text_printf(text, "  %s: cycle %" PRIu64 ", pending %" PRId64 ", next work %s\n", domain->name,
                       domain->regions[0]->now, domain->pending,
                       time == LS_TIME_MAX ? "never" : ls_format_time(time, next, sizeof next));
    }
}

ls_status waits_deadlock(ls_engine *engine, const char *reason, ls_error *err)
{
    ls_wait_sink sink = { 0 };
    gather(engine, &sink);
    char now[32];
    ls_format_time(engine_last_cycle(engine), now, sizeof now);

    ls_text *report = &engine->report;
    ls_text_clear(report);
    ls_text_printf(report, "deadlock at %s: %s\n", now, reason);
    ls_text line = { 0 };
    ls_text_printf(&line, "deadlock at %s: %s", now, reason);

    size_t *path = calloc(sink.edges.count + 1, sizeof *path);
    size_t length = 0;
    if (path != NULL && find_cycle(&sink, path, &length)) {
        ls_text_add(report, "cycle of waiters:\n");
        ls_text_add(&line, "; cycle: ");
        for (size_t i = 0; i < length; i++) {
            const wait_edge *edge = &sink.edges.at[path[i]];
            ls_text_printf(report, "  %s -> %s (%s)\n", edge->waiter, edge->holder, edge->detail);
            ls_text_printf(&line, "%s -> ", edge->waiter);
        }
        ls_text_add(&line, sink.edges.at[path[0]].waiter);
    } else if (sink.edges.count > 0) {
        ls_text_printf(&line, "; %s waits for %s (%s)", sink.edges.at[0].waiter, sink.edges.at[0].holder,
                       sink.edges.at[0].detail);
    }
    if (sink.edges.count > 0) {
        ls_text_printf(report, "all waiters (%zu):\n", sink.edges.count);
        add_edges(report, &sink);
    } else {
        ls_text_add(report, "no block says what it waits for\n");
    }
    ls_text_add(report, "domains with work:\n");
    add_domains(report, engine, false);
    ls_status status = ls_fail(err, LS_ERR_DEADLOCK, "%s", ls_text_get(&line));
    free(path);
    ls_text_fini(&line);
    sink_fini(&sink);
    return status;
}

const char *ls_engine_report(const ls_engine *engine)
{
    return ls_text_get(&engine->report);
}

void ls_engine_dump(ls_engine *engine, FILE *to)
{
    ls_wait_sink sink = { 0 };
    ls_text text = { 0 };
    char start[32];
    gather(engine, &sink);
    ls_text_printf(&text, "status at %s, window %" PRIu64 ":\n",
                   ls_format_time(engine->window_start, start, sizeof start), engine->window_index);
    add_domains(&text, engine, true);
    ls_text_printf(&text, "waiters (%zu):\n", sink.edges.count);
    add_edges(&text, &sink);
    fputs(ls_text_get(&text), to);
    fflush(to);
    ls_text_fini(&text);
    sink_fini(&sink);
}

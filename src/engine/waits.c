/* waits.c: waiters and their blockers: the deadlock report and the status dump.
 *
 * Every waiting block is an edge "waiter waits for holder, because ...". A cycle of edges is the reason of a
 * deadlock and is named in the one-line error. Runs only when a run is stuck or the user requests a report. */
#include "engine/ranks_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct wait_edge {
    const char *waiter, *holder, *detail;
    uint64_t order; /* edges of several ranks are sorted by it */
} wait_edge;

struct ls_wait_sink {
    mem_arena arena;
    LS_VEC(wait_edge) edges;
    uint64_t order; /* of the edge that is added next */
};

ls_status ls_waits_register(ls_engine *engine, const char *name, ls_wait_fn fn, const void *self,
                            ls_error *err)
{
    wait_source source = { .name = arena_strdup(&engine->arena, name), .fn = fn, .self = self };
    if (source.name == NULL || !vec_push(&engine->wait_sources, source))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the wait report of '%s'", name);
    return LS_OK;
}

void ls_wait_report(ls_wait_sink *sink, const char *waiter, const char *holder, const char *detail)
{
    /* Memory that is missing here shortens the report; it must not end the program. */
    wait_edge edge = { .waiter = arena_strdup(&sink->arena, waiter),
                       .holder = arena_strdup(&sink->arena, holder),
                       .detail = arena_strdup(&sink->arena, detail),
                       .order = sink->order++ };
    if (edge.waiter != NULL && edge.holder != NULL && edge.detail != NULL)
        (void)vec_push(&sink->edges, edge);
}

bool waits_any(const ls_engine *engine)
{
    for (size_t i = 0; i < engine->links.count; i++)
        if (engine->links.at[i]->waiters != NULL && !engine->links.at[i]->from->domain->group->is_away)
            return true;
    for (size_t i = 0; i < engine->domains.count; i++)
        if (engine->domains.at[i]->tally.pending > 0 && !engine->domains.at[i]->group->is_away)
            return true;
    return false;
}

/* Each link and each source has room for so many edges. */
static uint64_t order_of(size_t source)
{
    return (uint64_t)source << 24;
}

static void gather(const ls_engine *engine, ls_wait_sink *sink)
{
    char detail[256];
    for (size_t i = 0; i < engine->links.count; i++) {
        const ls_link *link = engine->links.at[i];
        if (link->waiters == NULL || link->from->domain->group->is_away)
            continue;
        sink->order = order_of(i);
        uint32_t home = ls_link_credits(link);
        if (home == 0)
            snprintf(detail, sizeof detail, "link '%s': none of %u credits is home, the receiver holds %u",
                     link->name, link->credit_total, link_held(link));
        else
            snprintf(detail, sizeof detail, "link '%s': the wire is busy", link->name);
        ls_wait_report(sink, link->from_name, link->to_name, detail);
    }
    for (size_t i = 0; i < engine->wait_sources.count; i++) {
        const wait_source *source = &engine->wait_sources.at[i];
        const ls_block *block = engine->ranks != NULL ? ls_engine_find_block(engine, source->name) : NULL;
        sink->order = order_of(engine->links.count + i);
        if (block == NULL || ranks_runs(block)) /* the others stand still here */
            source->fn(source->self, sink);
    }
}

/* ------------------------------------------------------------------------------------------------- ranks */

static int by_order(const void *a, const void *b)
{
    const wait_edge *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

static void put_text(bytes_out *out, const char *text)
{
    bytes_put(out, text, strlen(text) + 1);
}

static const char *get_text(bytes_in *in)
{
    const uint8_t *text = in->at, *end = memchr(text, '\0', (size_t)(in->end - in->at));
    in->failed = in->failed || end == NULL;
    in->at = in->failed ? in->end : end + 1;
    return in->failed ? "" : (const char *)text;
}

/* The edges of all ranks, in the order in which one process would have found them. */
static void share_edges(ls_engine *engine, ls_wait_sink *sink)
{
    bytes_out own = { 0 };
    const rank_bytes *in;
    if (engine->ranks == NULL)
        return;
    for (size_t i = 0; i < sink->edges.count; i++) {
        bytes_put64(&own, sink->edges.at[i].order);
        put_text(&own, sink->edges.at[i].waiter);
        put_text(&own, sink->edges.at[i].holder);
        put_text(&own, sink->edges.at[i].detail);
    }
    ls_status status = ranks_tell(engine, (rank_bytes){ own.bytes.at, own.bytes.count }, &in, NULL);
    for (uint32_t r = 0; r < ranks_count(engine) && status == LS_OK; r++) {
        bytes_in from = { .at = in[r].at, .end = in[r].at + in[r].count };
        while (r != ranks_here(engine) && from.at != from.end) {
            sink->order = bytes_get64(&from);
            const char *waiter = get_text(&from), *holder = get_text(&from), *detail = get_text(&from);
            ls_wait_report(sink, waiter, holder, detail);
        }
    }
    vec_fini(&own.bytes);
    if (sink->edges.count > 0)
        qsort(sink->edges.at, sink->edges.count, sizeof *sink->edges.at, by_order);
}

static void sink_fini(ls_wait_sink *sink)
{
    vec_fini(&sink->edges);
    arena_fini(&sink->arena);
}

/* The edges as a graph over the numbers of the names; NONE ends a list. */
#define NONE UINT32_MAX
typedef struct wait_graph {
    uint32_t *from, *to, *next; /* per edge: its ends, and the next edge of the same waiter, in the order
                                 * reported */
    uint32_t *cursor;           /* per node: the next edge to follow */
    uint8_t *state;             /* per node: 0 new, 1 on the path, 2 done */
    mem_arena arena;
    string_map numbers; /* name to number + 1 */
} wait_graph;

static bool node_number(wait_graph *graph, const char *name, uint32_t *out)
{
    uintptr_t number = (uintptr_t)map_get(&graph->numbers, name);
    if (number == 0) {
        number = graph->numbers.count + 1;
        if (!map_put(&graph->numbers, name, (void *)number))
            return false;
    }
    *out = (uint32_t)(number - 1);
    return true;
}

/* with_self: also edges from a name to itself. */
static bool graph_init(wait_graph *graph, const ls_wait_sink *sink, bool with_self)
{
    size_t count = sink->edges.count;
    graph->from = arena_array(&graph->arena, count, sizeof(uint32_t));
    graph->to = arena_array(&graph->arena, count, sizeof(uint32_t));
    graph->next = arena_array(&graph->arena, count, sizeof(uint32_t));
    graph->cursor = arena_array(&graph->arena, 2 * count, sizeof(uint32_t));
    graph->state = arena_array(&graph->arena, 2 * count, 1);
    if (graph->from == NULL || graph->to == NULL || graph->next == NULL || graph->cursor == NULL ||
        graph->state == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!node_number(graph, sink->edges.at[i].waiter, &graph->from[i]) ||
            !node_number(graph, sink->edges.at[i].holder, &graph->to[i]))
            return false;
    for (size_t i = 0; i < 2 * count; i++)
        graph->cursor[i] = NONE;
    for (size_t i = count; i-- > 0;) {
        if (graph->from[i] == graph->to[i] && !with_self)
            continue;
        graph->next[i] = graph->cursor[graph->from[i]];
        graph->cursor[graph->from[i]] = (uint32_t)i;
    }
    return true;
}

/* Goes depth first from `node`; on success `path` holds the edges of a cycle. */
static bool find_cycle_from(wait_graph *graph, uint32_t node, size_t *path, size_t *length)
{
    size_t depth = 0;
    graph->state[node] = 1;
    for (;;) {
        uint32_t edge = graph->cursor[node];
        if (edge == NONE) {
            graph->state[node] = 2;
            if (depth == 0)
                return false;
            node = graph->from[path[--depth]];
            continue;
        }
        graph->cursor[node] = graph->next[edge];
        uint32_t holder = graph->to[edge];
        if (graph->state[holder] == 2)
            continue;
        path[depth++] = edge;
        if (graph->state[holder] == 1) {
            size_t first = 0;
            while (graph->from[path[first]] != holder)
                first++;
            *length = depth - first;
            memmove(path, path + first, *length * sizeof *path);
            return true;
        }
        graph->state[holder] = 1;
        node = holder;
    }
}

static bool find_cycle_among(const ls_wait_sink *sink, bool with_self, size_t *path, size_t *length)
{
    wait_graph graph = { 0 };
    bool found = false;
    if (sink->edges.count < NONE / 2 && graph_init(&graph, sink, with_self))
        for (size_t i = 0; i < sink->edges.count && !found; i++)
            if (graph.state[graph.from[i]] == 0)
                found = find_cycle_from(&graph, graph.from[i], path, length);
    map_fini(&graph.numbers);
    arena_fini(&graph.arena);
    return found;
}

/* A link whose sender and buffer have one name waits for itself, which says little: only if there is no other cycle.
 * path: room for one entry per edge. Without memory no cycle is named; the edges are still reported. */
static bool find_cycle(const ls_wait_sink *sink, size_t *path, size_t *length)
{
    return find_cycle_among(sink, false, path, length) || find_cycle_among(sink, true, path, length);
}

static void add_edges(text_buffer *text, const ls_wait_sink *sink)
{
    for (size_t i = 0; i < sink->edges.count; i++)
        text_printf(text, "  %s waits for %s: %s\n", sink->edges.at[i].waiter, sink->edges.at[i].holder,
                    sink->edges.at[i].detail);
}

static void gather_domains(const ls_engine *engine, bool idle_too, ls_wait_sink *lines)
{
    char next[32], detail[128];
    mail_take_all(engine); /* the next work does not depend on the number of threads */
    for (size_t i = 0; i < engine->domains.count; i++) {
        const ls_domain *domain = engine->domains.at[i];
        ls_time time = domain_next_time(domain);
        if (domain->group->is_away || (!idle_too && domain->tally.pending == 0 && time == LS_TIME_MAX))
            continue;
        snprintf(detail, sizeof detail, "cycle %" PRIu64 ", pending %" PRId64 ", next work %s",
                 domain->regions[0]->now, domain->tally.pending,
                 time == LS_TIME_MAX ? "never" : format_time(time, next, sizeof next));
        lines->order = order_of(i);
        ls_wait_report(lines, domain->name, "", detail);
    }
}

static void add_domains(text_buffer *text, const ls_wait_sink *lines)
{
    for (size_t i = 0; i < lines->edges.count; i++)
        text_printf(text, "  %s: %s\n", lines->edges.at[i].waiter, lines->edges.at[i].detail);
}

ls_status waits_deadlock(ls_engine *engine, const char *reason, ls_error *err)
{
    ls_wait_sink sink = { 0 }, domains = { 0 };
    ranks_share_held(engine);
    gather(engine, &sink);
    share_edges(engine, &sink);
    gather_domains(engine, false, &domains);
    share_edges(engine, &domains);
    char now[32];
    format_time(ranks_most(engine, engine_last_cycle(engine)), now, sizeof now);

    text_buffer *report = &engine->report;
    text_clear(report);
    text_printf(report, "deadlock at %s: %s\n", now, reason);
    text_buffer line = { 0 };
    text_printf(&line, "deadlock at %s: %s", now, reason);

    size_t *path = calloc(sink.edges.count + 1, sizeof *path);
    size_t length = 0;
    if (path != NULL && find_cycle(&sink, path, &length)) {
        text_add(report, "cycle of waiters:\n");
        text_add(&line, "; cycle: ");
        for (size_t i = 0; i < length; i++) {
            const wait_edge *edge = &sink.edges.at[path[i]];
            text_printf(report, "  %s -> %s (%s)\n", edge->waiter, edge->holder, edge->detail);
            text_printf(&line, "%s -> ", edge->waiter);
        }
        text_add(&line, sink.edges.at[path[0]].waiter);
    } else if (sink.edges.count > 0) {
        text_printf(&line, "; %s waits for %s (%s)", sink.edges.at[0].waiter, sink.edges.at[0].holder,
                    sink.edges.at[0].detail);
    }
    if (sink.edges.count > 0) {
        text_printf(report, "all waiters (%zu):\n", sink.edges.count);
        add_edges(report, &sink);
    } else {
        text_add(report, "no block says what it waits for\n");
    }
    text_add(report, "domains with work:\n");
    add_domains(report, &domains);
    /* The error itself needs no memory. */
    ls_status status = line.failed ? ls_fail(err, LS_ERR_DEADLOCK, "deadlock at %s: %s", now, reason)
                                   : ls_fail(err, LS_ERR_DEADLOCK, "%s", text_get(&line));
    free(path);
    text_fini(&line);
    sink_fini(&sink);
    sink_fini(&domains);
    return status;
}

const char *ls_engine_report(const ls_engine *engine)
{
    return text_get(&engine->report);
}

void ls_engine_dump(ls_engine *engine, FILE *to)
{
    ls_wait_sink sink = { 0 }, domains = { 0 };
    text_buffer text = { 0 };
    char start[32];
    gather(engine, &sink);
    gather_domains(engine, true, &domains);
    text_printf(&text, "status at %s, window %" PRIu64 ":\n",
                format_time(engine->window_start, start, sizeof start), engine->window_index);
    add_domains(&text, &domains);
    text_printf(&text, "waiters (%zu):\n", sink.edges.count);
    add_edges(&text, &sink);
    fputs(text_get(&text), to);
    fflush(to);
    text_fini(&text);
    sink_fini(&sink);
    sink_fini(&domains);
}

/* graph.c: meshes and rings as edges and route tables; places of end points. */
#include "model/noc/graph.h"

#include <string.h>

enum { EAST, WEST, SOUTH, NORTH };

static ls_status allocate(noc_graph *graph, ls_engine *engine, uint32_t edges, ls_error *err)
{
    graph->edges = ls_engine_alloc(engine, (edges != 0 ? edges : 1) * sizeof *graph->edges);
    graph->route = ls_engine_alloc(engine, (size_t)graph->switches * graph->switches);
    if (graph->edges == NULL || graph->route == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a network of %u switches", graph->switches);
    return LS_OK;
}

static void add_edge(noc_graph *graph, noc_edge edge)
{
    graph->edges[graph->edge_count++] = edge;
}

ls_status noc_graph_mesh(noc_graph *graph, ls_engine *engine, uint32_t columns, uint32_t rows,
                         uint32_t latency_cycles, ls_error *err)
{
    static const char *const names[] = { "east", "west", "south", "north" };
    uint32_t count = columns * rows;
    *graph = (noc_graph){ .switches = count, .layers = 1, .ports = 4 };
    ls_status status = allocate(graph, engine, 4 * count, err);
    if (status != LS_OK)
        return status;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t x = at % columns, y = at / columns;
        const bool there[] = { x + 1 < columns, x > 0, y + 1 < rows, y > 0 };
        const uint32_t to[] = { at + 1, at - 1, at + columns, at - columns };
        for (uint32_t port = 0; port < 4; port++)
            if (there[port])
                add_edge(graph, (noc_edge){ .from = (uint16_t)at,
                                            .to = (uint16_t)to[port],
                                            .from_port = (uint8_t)port,
                                            .to_port = (uint8_t)(port ^ 1),
                                            .dimension = (uint8_t)(port / 2),
                                            .direction = names[port],
                                            .latency_cycles = latency_cycles,
                                            .interval_cycles = 1 });
        for (uint32_t d = 0; d < count; d++) {
            uint32_t dx = d % columns, dy = d / columns;
            graph->route[(size_t)at * count + d] = (uint8_t)(dx > x   ? EAST
                                                             : dx < x ? WEST
                                                             : dy > y ? SOUTH
                                                             : dy < y ? NORTH
                                                                      : (int)NOC_HERE);
        }
    }
    return LS_OK;
}

ls_status noc_graph_ring(noc_graph *graph, ls_engine *engine, uint32_t switches, uint32_t latency_cycles,
                         bool dateline, ls_error *err)
{
    *graph = (noc_graph){ .switches = switches, .layers = dateline ? 2 : 1, .ports = 2 };
    ls_status status = allocate(graph, engine, 2 * switches, err);
    if (status != LS_OK)
        return status;
    for (uint32_t at = 0; at < switches; at++) {
        noc_edge edge = { .from = (uint16_t)at, .latency_cycles = latency_cycles, .interval_cycles = 1 };
        if (switches > 1) {
            edge.to = (uint16_t)((at + 1) % switches);
            edge.to_port = 1;
            edge.direction = "clockwise";
            edge.dateline = dateline && at + 1 == switches;
            add_edge(graph, edge);
            edge.to = (uint16_t)((at + switches - 1) % switches);
            edge.from_port = 1;
            edge.to_port = 0;
            edge.direction = "counter";
            edge.dateline = dateline && at == 0;
            add_edge(graph, edge);
        }
        for (uint32_t d = 0; d < switches; d++) {
            uint32_t clockwise = (d + switches - at) % switches;
            graph->route[(size_t)at * switches + d] =
                (uint8_t)(clockwise == 0 ? NOC_HERE : 2 * clockwise > switches);
        }
    }
    return LS_OK;
}

static const noc_edge *edge_at(const noc_graph *graph, uint32_t from, uint32_t port)
{
    for (uint32_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].from == from && graph->edges[i].from_port == port)
            return &graph->edges[i];
    return NULL;
}

uint32_t noc_graph_hops(const noc_graph *graph, uint32_t from, uint32_t to)
{
    uint32_t hops = 0;
    while (from != to && hops <= graph->switches) {
        const noc_edge *edge = edge_at(graph, from, graph->route[(size_t)from * graph->switches + to]);
        if (edge == NULL)
            return UINT32_MAX;
        from = edge->to;
        hops++;
    }
    return hops;
}

uint32_t noc_grid_columns(uint32_t nodes)
{
    uint32_t columns = 1;
    while (columns * columns < nodes)
        columns++;
    return columns;
}

void noc_place(uint32_t switches, uint32_t columns, uint32_t cores, uint32_t memories, uint16_t *core_switch,
               uint16_t *memory_switch)
{
    bool taken[NOC_SWITCHES_MAX] = { false };
    for (uint32_t k = 0; k < memories; k++) {
        /* The middle of the k-th of `memories` equal parts of the list of switches. Each row begins one column
         * further, so that the memories are not all in a few columns. */
        uint32_t at = (uint32_t)((2 * (uint64_t)k + 1) * switches / (2 * (uint64_t)memories));
        uint32_t row = at / columns;
        at = row * columns + (at + row) % columns;
        memory_switch[k] = (uint16_t)at;
        taken[at] = true;
    }
    uint32_t open = 0;
    for (uint32_t s = 0; s < switches; s++)
        open += !taken[s];
    for (uint32_t i = 0, at = 0; i < cores; i++, at = (at + 1) % switches) {
        while (open > 0 && taken[at])
            at = (at + 1) % switches;
        core_switch[i] = (uint16_t)at;
    }
}

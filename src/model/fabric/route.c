/* route.c: routes of a fabric, as tables by path, phase, node and destination.
 *
 * Up-down routes: the nodes that forward are ranked by their distance from a root, then by number. An edge to a node
 * of lower rank goes up, any other goes down. A route goes up any number of times (phase 0), then down any number of
 * times (phase 1), and never up again. Messages can therefore not wait for each other in a circle, whatever the
 * graph: along a circle of waiting messages ranks would have to fall for ever. Ends that do not forward are below
 * all others. Every part of the graph has a root, so any two of its nodes have such a route. Among these routes a
 * message takes one with the fewest links. Equal ones are different paths. */
#include "model/fabric/shape.h"

#include <string.h>

#define FAR 10000u

typedef struct router {
    const fabric_shape *shape;
    noc_graph *graph;
    const noc_edge *edge[FABRIC_NODES_MAX][NOC_PORTS_MAX];   /* by node and port; NULL: none */
    uint32_t level[FABRIC_NODES_MAX];                        /* links from the root */
    uint32_t down[FABRIC_NODES_MAX], best[FABRIC_NODES_MAX]; /* links to the destination: phase 1, phase 0 */
} router;

/* ------------------------------------------------------------------------------------------------- ranking */

static uint32_t degree(const router *r, uint32_t node)
{
    uint32_t count = 0;
    for (uint32_t port = 0; port < r->graph->ports; port++)
        count += r->edge[node][port] != NULL;
    return count;
}

/* Each part of the forwarding nodes starts at its node with the most links. */
static void rank_nodes(router *r)
{
    const fabric_node *nodes = r->shape->nodes;
    uint32_t count = r->shape->node_count;
    for (uint32_t i = 0; i < count; i++)
        r->level[i] = nodes[i].forwards ? UINT32_MAX : FAR;
    for (;;) {
        uint32_t root = UINT32_MAX;
        for (uint32_t i = 0; i < count; i++)
            if (r->level[i] == UINT32_MAX && (root == UINT32_MAX || degree(r, i) > degree(r, root)))
                root = i;
        if (root == UINT32_MAX)
            return;
        r->level[root] = 0;
        for (bool changed = true; changed;) {
            changed = false;
            for (uint32_t i = 0; i < r->graph->edge_count; i++) {
                const noc_edge *e = &r->graph->edges[i];
                if (nodes[e->from].forwards && nodes[e->to].forwards && r->level[e->from] != UINT32_MAX &&
                    r->level[e->to] > r->level[e->from] + 1) {
                    r->level[e->to] = r->level[e->from] + 1;
                    changed = true;
                }
            }
        }
    }
}

static bool goes_down(const router *r, const noc_edge *e)
{
    if (r->shape->routes != FABRIC_UP_DOWN)
        return false;
    return r->level[e->to] != r->level[e->from] ? r->level[e->to] > r->level[e->from] : e->to > e->from;
}

/* --------------------------------------------------------------------------------------------------- paths */

static bool may_pass(const router *r, uint32_t node, uint32_t to)
{
    return node == to || r->shape->nodes[node].forwards;
}

static void measure(router *r, uint32_t to)
{
    for (uint32_t i = 0; i < r->shape->node_count; i++)
        r->down[i] = r->best[i] = i == to ? 0 : FAR;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < r->graph->edge_count; i++) {
            const noc_edge *e = &r->graph->edges[i];
            if (!may_pass(r, e->to, to))
                continue;
            bool is_down = goes_down(r, e);
            if (is_down && r->down[e->from] > r->down[e->to] + 1) {
                r->down[e->from] = r->down[e->to] + 1;
                changed = true;
            }
            uint32_t rest = is_down ? r->down[e->to] : r->best[e->to];
            if (r->best[e->from] > rest + 1) {
                r->best[e->from] = rest + 1;
                changed = true;
            }
        }
    }
}

/* Whether the edge is on a shortest way. */
static bool is_choice(const router *r, const noc_edge *e, uint32_t phase, uint32_t to)
{
    bool is_down = goes_down(r, e);
    if (!may_pass(r, e->to, to) || (phase == 1 && !is_down))
        return false;
    uint32_t rest = is_down ? r->down[e->to] : r->best[e->to],
             all = phase == 1 ? r->down[e->from] : r->best[e->from];
    return all < FAR && rest + 1 == all;
}

/* The ports of all shortest ways, in order. Returns how many. */
static uint32_t choices_of(const router *r, uint32_t from, uint32_t phase, uint32_t to,
                           uint8_t out[NOC_PORTS_MAX])
{
    uint32_t count = 0;
    for (uint32_t port = 0; port < r->graph->ports && from != to; port++)
        if (r->edge[from][port] != NULL && is_choice(r, r->edge[from][port], phase, to))
            out[count++] = (uint8_t)port;
    return count;
}

/* ---------------------------------------------------------------------------------------------------- ring */

/* The `lane`-th link to a neighbour. */
static uint8_t port_to(const noc_graph *graph, uint32_t from, uint32_t to, uint32_t lane)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        count += graph->edges[i].from == from && graph->edges[i].to == to;
    if (count == 0)
        return NOC_HERE;
    for (uint32_t i = 0, skip = lane % count; i < graph->edge_count; i++)
        if (graph->edges[i].from == from && graph->edges[i].to == to && skip-- == 0)
            return graph->edges[i].from_port;
    return NOC_HERE;
}

/* Clockwise if both ways are equal. Nodes beyond the ring (the host) are reached by a link of their own. */
static void ring_routes(const fabric_shape *shape, noc_graph *graph)
{
    uint32_t ring = shape->ring, nodes = graph->switches;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        noc_edge *e = &graph->edges[i];
        bool inside = e->from < ring && e->to < ring;
        e->dimension = inside ? 0 : 1;
        e->dateline =
            inside && ring > 2 && (e->from + 1u == ring ? e->to == 0 : e->from == 0 && e->to + 1u == ring);
    }
    for (uint32_t path = 0; path < graph->paths; path++)
        for (uint32_t from = 0; from < nodes; from++)
            for (uint32_t to = 0; to < nodes; to++) {
                uint32_t clockwise = from < ring && to < ring ? (to + ring - from) % ring : 0;
                uint32_t next = clockwise == 0          ? to
                                : 2 * clockwise <= ring ? (from + 1) % ring
                                                        : (from + ring - 1) % ring;
                graph->route[((size_t)path * nodes + from) * nodes + to] =
                    from == to ? (uint8_t)NOC_HERE : port_to(graph, from, next, path);
            }
}

/* ----------------------------------------------------------------------------------------------------- all */

static ls_status allocate(const fabric_shape *shape, noc_graph *graph, uint32_t paths, uint32_t phases,
                          ls_error *err)
{
    size_t bytes = (size_t)paths * phases * graph->switches * graph->switches;
    graph->paths = paths;
    graph->phases = phases;
    graph->route = ls_engine_alloc(shape->engine, bytes);
    if (graph->route == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the routes of %u nodes", graph->switches);
    memset(graph->route, NOC_HERE, bytes);
    return LS_OK;
}

static ls_status check_reach(const router *r, uint32_t to, ls_error *err)
{
    for (uint32_t from = 0; from < r->shape->end_count; from++)
        if (r->best[from] >= FAR)
            return ls_fail(err, LS_ERR_INPUT, "no links of the fabric lead from '%s' to '%s'",
                           r->shape->nodes[from].name, r->shape->nodes[to].name);
    return LS_OK;
}

ls_status fabric_make_routes(const fabric_shape *shape, noc_graph *graph, ls_error *err)
{
    router r = { .shape = shape, .graph = graph };
    uint8_t ports[NOC_PORTS_MAX];
    uint32_t nodes = graph->switches, paths = 1;
    if (shape->routes == FABRIC_RING) {
        for (uint32_t i = 0; i < shape->link_count; i++)
            paths = shape->links[i].count > paths ? shape->links[i].count : paths;
        graph->layers = shape->ring > 2 ? 2 : 1;
        ls_status status = allocate(shape, graph, paths < shape->paths_max ? paths : shape->paths_max, 1, err);
        if (status == LS_OK)
            ring_routes(shape, graph);
        return status;
    }
    for (uint32_t i = 0; i < graph->edge_count; i++)
        r.edge[graph->edges[i].from][graph->edges[i].from_port] = &graph->edges[i];
    rank_nodes(&r);
    for (uint32_t to = 0; to < shape->end_count; to++) {
        measure(&r, to);
        ls_status status = check_reach(&r, to, err);
        if (status != LS_OK)
            return status;
        for (uint32_t from = 0; from < nodes; from++) {
            uint32_t choices = choices_of(&r, from, 0, to, ports);
            paths = choices > paths ? choices : paths;
        }
    }
    ls_status status = allocate(shape, graph, paths < shape->paths_max ? paths : shape->paths_max, 2, err);
    if (status != LS_OK)
        return status;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        graph->edges[i].phase = goes_down(&r, &graph->edges[i]);
    for (uint32_t to = 0; to < shape->end_count; to++) {
        measure(&r, to);
        for (uint32_t phase = 0; phase < 2; phase++)
            for (uint32_t from = 0; from < nodes; from++) {
                uint32_t choices = choices_of(&r, from, phase, to, ports);
                for (uint32_t path = 0; path < graph->paths && choices != 0; path++)
                    graph->route[((size_t)(path * 2 + phase) * nodes + from) * nodes + to] =
                        ports[path % choices];
            }
    }
    return LS_OK;
}

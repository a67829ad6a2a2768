/* shape.c: nodes and links of a fabric, and the edges of the network of switches that they become. */
#include "model/fabric/shape.h"

#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define NANO UINT64_C(1000000000)

ls_status fabric_shape_init(fabric_shape *shape, ls_engine *engine, uint32_t gpus, bool has_host,
                            ls_error *err)
{
    *shape = (fabric_shape){ .engine = engine, .paths_max = FABRIC_PATHS_MAX };
    shape->nodes = ls_engine_alloc(engine, FABRIC_NODES_MAX * sizeof *shape->nodes);
    if (shape->nodes == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a fabric of %u GPUs", gpus);
    shape->end_count = shape->node_count = gpus + has_host;
    for (uint32_t i = 0; i < shape->end_count; i++) {
        fabric_node *node = &shape->nodes[i];
        if (i < gpus)
            snprintf(node->name, sizeof node->name, "gpu%u", i);
        else
            snprintf(node->name, sizeof node->name, "host");
        node->is_end = true;
        node->latency_ns = (ls_ratio){ 0, 1 };
    }
    return LS_OK;
}

ls_status fabric_add_switch(fabric_shape *shape, const char *name, ls_ratio latency_ns, uint16_t *node,
                            ls_error *err)
{
    if (shape->node_count == FABRIC_NODES_MAX)
        return ls_fail(err, LS_ERR_INPUT, "a fabric has at most %u nodes", FABRIC_NODES_MAX);
    if (fabric_find_node(shape, name) != UINT16_MAX)
        return ls_fail(err, LS_ERR_INPUT, "two nodes of the fabric are named '%s'", name);
    *node = (uint16_t)shape->node_count++;
    fabric_node *at = &shape->nodes[*node];
    snprintf(at->name, sizeof at->name, "%s", name);
    at->forwards = true;
    at->latency_ns = latency_ns;
    return LS_OK;
}

uint16_t fabric_find_node(const fabric_shape *shape, const char *name)
{
    for (uint32_t i = 0; i < shape->node_count; i++)
        if (strcmp(shape->nodes[i].name, name) == 0)
            return (uint16_t)i;
    return UINT16_MAX;
}

ls_status fabric_add_link(fabric_shape *shape, const fabric_link *link, ls_error *err)
{
    const char *a = shape->nodes[link->a].name, *b = shape->nodes[link->b].name;
    if (link->a == link->b)
        return ls_fail(err, LS_ERR_INPUT, "a link of the fabric joins '%s' with itself", a);
    if (link->bytes_per_second.num == 0)
        return ls_fail(err, LS_ERR_INPUT, "the link of '%s' and '%s' has no bandwidth", a, b);
    for (uint32_t i = 0; i < shape->link_count; i++) {
        const fabric_link *other = &shape->links[i];
        if ((other->a == link->a && other->b == link->b) || (other->a == link->b && other->b == link->a))
            return ls_fail(err, LS_ERR_INPUT,
                           "'%s' and '%s' are linked twice: one link with a count has the same effect", a, b);
    }
    if (shape->link_count == shape->link_max) {
        uint32_t more = shape->link_max != 0 ? 2 * shape->link_max : 64;
        fabric_link *links = ls_engine_alloc(shape->engine, more * sizeof *links);
        if (links == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for %u links of a fabric", more);
        if (shape->link_count != 0)
            memcpy(links, shape->links, shape->link_count * sizeof *links);
        shape->links = links;
        shape->link_max = more;
    }
    shape->links[shape->link_count++] = *link;
    return LS_OK;
}

/* --------------------------------------------------------------------------------------------------- edges */

uint32_t fabric_cycles(ls_ratio ns, ls_ratio clock_hz)
{
    wide num = (wide)ns.num * clock_hz.num, den = (wide)ns.den * clock_hz.den * NANO;
    wide cycles = (num + den - 1) / den;
    return cycles == 0 ? 1 : cycles > UINT32_MAX ? UINT32_MAX : (uint32_t)cycles;
}

/* The link, and half of each node that it joins: so every edge is long, and a path still adds up. */
static uint32_t edge_cycles(const fabric_shape *shape, const fabric_link *link, ls_ratio clock_hz)
{
    const ls_ratio *a = &shape->nodes[link->a].latency_ns, *b = &shape->nodes[link->b].latency_ns;
    /* Numbers of a platform file have few digits: the sums fit. */
    uint64_t den = 2 * link->latency_ns.den * a->den * b->den;
    uint64_t num = 2 * link->latency_ns.num * a->den * b->den + a->num * link->latency_ns.den * b->den +
                   b->num * link->latency_ns.den * a->den;
    return fabric_cycles((ls_ratio){ num, den }, clock_hz);
}

/* Cycles per flit in 2^-32; 0 if it does not fit. */
static uint64_t interval_of(const fabric_link *link, const fabric_wires *wires)
{
    wide num = (wide)wires->flit_bytes * wires->clock_hz.num * link->bytes_per_second.den;
    wide den = (wide)wires->clock_hz.den * link->bytes_per_second.num;
    wide fixed_point = ((num << 32) + den / 2) / den;
    return fixed_point >> 50 != 0 ? 0 : (uint64_t)fixed_point;
}

/* Bytes that the fastest link carries in a cycle. */
static void choose_flit(const fabric_shape *shape, fabric_wires *wires, uint64_t *fastest)
{
    wide most = 0;
    for (uint32_t i = 0; i < shape->link_count; i++) {
        const ls_ratio *rate = &shape->links[i].bytes_per_second;
        wide num = (wide)rate->num * wires->clock_hz.den, den = (wide)rate->den * wires->clock_hz.num;
        wide bytes = (2 * num + den) / (2 * den);
        most = bytes > most ? bytes : most;
    }
    wires->flit_bytes = most == 0 ? 1 : most > 4096 ? 4096 : (uint32_t)most;
    *fastest = 0;
    for (uint32_t i = 0; i < shape->link_count; i++) {
        uint64_t interval = interval_of(&shape->links[i], wires);
        *fastest = *fastest == 0 || (interval != 0 && interval < *fastest) ? interval : *fastest;
    }
}

static const char *edge_name(const fabric_shape *shape, const fabric_wires *wires, const fabric_link *link,
                             bool back, uint32_t lane)
{
    char name[96];
    const char *from = shape->nodes[back ? link->b : link->a].name,
               *to = shape->nodes[back ? link->a : link->b].name;
    int bytes = link->count > 1 ? snprintf(name, sizeof name, "%s.%s-%s.%u", wires->name, from, to, lane)
                                : snprintf(name, sizeof name, "%s.%s-%s", wires->name, from, to);
    char *out = bytes > 0 ? ls_engine_alloc(shape->engine, (size_t)bytes + 1) : NULL;
    if (out != NULL)
        memcpy(out, name, (size_t)bytes + 1);
    return out;
}

/* Edges of a node have ports 0, 1, ... in the order of links, then of their lanes. */
static ls_status make_edges(const fabric_shape *shape, const fabric_wires *wires, uint64_t fastest,
                            noc_graph *out, ls_error *err)
{
    uint32_t ports[FABRIC_NODES_MAX] = { 0 }, count = 0;
    for (uint32_t i = 0; i < shape->link_count; i++)
        count += 2 * shape->links[i].count;
    out->edges = ls_engine_alloc(shape->engine, (count + 1) * sizeof *out->edges);
    if (out->edges == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a fabric of %u links", count / 2);
    for (uint32_t i = 0; i < shape->link_count; i++) {
        const fabric_link *link = &shape->links[i];
        uint64_t interval = interval_of(link, wires);
        uint32_t latency = edge_cycles(shape, link, wires->clock_hz);
        if (interval == 0)
            return ls_fail(err, LS_ERR_INPUT,
                           "the link of '%s' and '%s' is too slow or too fast for the fabric's clock",
                           shape->nodes[link->a].name, shape->nodes[link->b].name);
        for (uint32_t lane = 0; lane < link->count; lane++) {
            uint32_t at_a = ports[link->a]++, at_b = ports[link->b]++;
            if (at_a >= NOC_PORTS_MAX || at_b >= NOC_PORTS_MAX)
                return ls_fail(err, LS_ERR_INPUT, "node '%s' of the fabric has more than %u links",
                               shape->nodes[at_a >= NOC_PORTS_MAX ? link->a : link->b].name, NOC_PORTS_MAX);
            noc_edge edge = { .from = link->a,
                              .to = link->b,
                              .from_port = (uint8_t)at_a,
                              .to_port = (uint8_t)at_b,
                              .name = edge_name(shape, wires, link, false, lane),
                              .latency_cycles = latency,
                              .interval_cycles = 1,
                              .interval_fixed_point =
                                  fastest != 0 && interval == fastest ? UINT64_C(1) << 32 : interval };
            out->edges[out->edge_count++] = edge;
            edge.from = link->b;
            edge.to = link->a;
            edge.from_port = (uint8_t)at_b;
            edge.to_port = (uint8_t)at_a;
            edge.name = edge_name(shape, wires, link, true, lane);
            out->edges[out->edge_count++] = edge;
            if (edge.name == NULL)
                return ls_fail(err, LS_ERR_NOMEM, "no memory for a fabric of %u links", count / 2);
        }
    }
    for (uint32_t i = 0; i < shape->node_count; i++)
        out->ports = out->ports < ports[i] ? ports[i] : out->ports;
    return LS_OK;
}

ls_status fabric_make_graph(const fabric_shape *shape, fabric_wires *wires, noc_graph *out, ls_error *err)
{
    uint64_t fastest = 0;
    *out = (noc_graph){ .switches = shape->node_count, .layers = 1 };
    if (wires->flit_bytes == 0)
        choose_flit(shape, wires, &fastest);
    ls_status status = make_edges(shape, wires, fastest, out, err);
    return status == LS_OK ? fabric_make_routes(shape, out, err) : status;
}

/* graph.h: the shape of a network of switches: edges, routes, and the places of end points. Plain data. */
#ifndef MODEL_NOC_GRAPH_H
#define MODEL_NOC_GRAPH_H

#include "lockstep/engine.h"

#define NOC_PORTS_MAX 64u
#define NOC_SWITCHES_MAX 1024u
#define NOC_HERE 255u /* a route that ends at this switch */

/* One direction of a wire between two switches. */
typedef struct noc_edge {
    uint16_t from, to;
    uint8_t from_port, to_port; /* output port of `from`, input port of `to` */
    uint8_t dimension;          /* a message that stays in a dimension keeps its layer */
    bool dateline;              /* a message that crosses it moves up one layer */
    uint8_t phase;              /* the set of routes that a message uses after this edge */
    const char *direction;      /* "east", for names */
    const char *name;           /* of its counters and links; NULL: made from network, switch and direction */
    uint32_t latency_cycles;
    uint32_t buffer_flits;         /* of a virtual channel behind it; 0: as in the rest of the network */
    uint32_t interval_cycles;      /* per flit */
    uint64_t interval_fixed_point; /* the same in 2^-32 cycles, for cut-through; 0: interval_cycles */
} noc_edge;

/* A network with several paths has a set of routes for each. A set has one table for each phase: a message begins in
 * phase 0, and an edge may move it to another (routes of which the rest depends on the way so far).
 * Invariant: following the routes of a path from any switch reaches the destination without passing a switch
 * twice. */
typedef struct noc_graph {
    uint32_t switches, edge_count;
    uint32_t layers;        /* virtual channels per class and lane: 2 where routes have a dateline */
    uint32_t ports;         /* ports of a switch that edges use, the largest number */
    uint32_t paths, phases; /* 0 counts as 1 */
    noc_edge *edges;        /* in order of (from, from_port) */
    /* [((path * phases + phase) * switches + switch) * switches + destination switch]: output port, or NOC_HERE */
    uint8_t *route;
} noc_graph;

/* A mesh with dimension-order routing: along the row first. Memory is the engine's. */
ls_status noc_graph_mesh(noc_graph *graph, ls_engine *engine, uint32_t columns, uint32_t rows,
                         uint32_t latency_cycles, ls_error *err);
/* A ring in both directions; the shorter way, clockwise if both are equal. dateline: false leaves out the
 * second layer, which makes a cycle of waiting messages possible (tests only). */
ls_status noc_graph_ring(noc_graph *graph, ls_engine *engine, uint32_t switches, uint32_t latency_cycles,
                         bool dateline, ls_error *err);
/* Edges between two switches on the way. */
uint32_t noc_graph_hops(const noc_graph *graph, uint32_t from, uint32_t to);

/* The number of columns of the most square grid with at least `nodes` places. */
uint32_t noc_grid_columns(uint32_t nodes);
/* Places memories evenly over rows and columns and cores on the other switches, row by row; several on a switch
 * where there are more end points than switches. A ring has one row. */
void noc_place(uint32_t switches, uint32_t columns, uint32_t cores, uint32_t memories, uint16_t *core_switch,
               uint16_t *memory_switch);

#endif

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
    const char *direction;      /* "east", for names */
    uint32_t latency_cycles;
    uint32_t interval_cycles; /* per flit */
} noc_edge;

/* Invariant: following route[] from any switch reaches the destination without passing a switch twice. */
typedef struct noc_graph {
    uint32_t switches, edge_count;
    uint32_t layers; /* virtual channels per class and lane: 2 where routes have a dateline */
    uint32_t ports;  /* ports of a switch that edges use, the largest number */
    noc_edge *edges; /* in order of (from, from_port) */
    uint8_t *route;  /* [switch * switches + destination switch]: output port, or NOC_HERE */
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

/* shape.h: the shape of a fabric: nodes and the links between them, and the routes over these. Plain data, set up before
 * the simulation.
 *
 * Every end (GPU, host) is a node: the port of its chip. Other nodes are switches. A link joins two nodes, in both
 * directions at once, each with the whole bandwidth. */
#ifndef MODEL_FABRIC_SHAPE_H
#define MODEL_FABRIC_SHAPE_H

#include "model/noc/graph.h"

#define FABRIC_NODES_MAX 192u
#define FABRIC_NAME_BYTES 32u
#define FABRIC_PATHS_MAX 64u

typedef struct fabric_node {
    char name[FABRIC_NAME_BYTES]; /* "gpu0", "host", "plane1" */
    bool is_end;                  /* the first nodes are ends, in the order of their numbers */
    bool forwards;                /* messages of others may pass: switches, and GPUs of a ring */
    ls_ratio latency_ns;          /* of a message that passes */
} fabric_node;

typedef struct fabric_link {
    uint16_t a, b;  /* nodes */
    uint16_t count; /* equal links beside each other */
    ls_ratio bytes_per_second, latency_ns;
} fabric_link;

typedef enum fabric_routes {
    FABRIC_UP_DOWN,  /* shortest among those that go up first and down after: cannot deadlock */
    FABRIC_SHORTEST, /* fewest links: may deadlock where links form a circle */
    FABRIC_RING,     /* the shorter way around; two layers of virtual channels break the circle */
} fabric_routes;

typedef struct fabric_shape {
    ls_engine *engine;
    fabric_node *nodes;
    fabric_link *links;
    uint32_t node_count, end_count, link_count, link_max;
    uint32_t ring; /* FABRIC_RING: the first so many nodes are the ring, in this order */
    uint32_t paths_max;
    fabric_routes routes;
} fabric_shape;

/* Ends: `gpus` GPUs, then the host if there is one. */
ls_status fabric_shape_init(fabric_shape *shape, ls_engine *engine, uint32_t gpus, bool has_host,
                            ls_error *err);
/* A switch. *node: its number. */
ls_status fabric_add_switch(fabric_shape *shape, const char *name, ls_ratio latency_ns, uint16_t *node,
                            ls_error *err);
ls_status fabric_add_link(fabric_shape *shape, const fabric_link *link, ls_error *err);
/* The number of a node by its name; UINT16_MAX: there is none. */
uint16_t fabric_find_node(const fabric_shape *shape, const char *name);

/* A network's clock and flits, for the edges. */
typedef struct fabric_wires {
    ls_ratio clock_hz;
    uint32_t
        flit_bytes;   /* 0: the bytes that the fastest link carries in a cycle, rounded; this link then carries
                             exactly one flit per cycle */
    const char *name; /* of the fabric: edges are named "fabric.gpu0-switch1" */
} fabric_wires;

/* Edges and routes. wires->flit_bytes is filled in if it was 0. Fails if an end cannot reach another one. */
ls_status fabric_make_graph(const fabric_shape *shape, fabric_wires *wires, noc_graph *out, ls_error *err);

/* Fills in the routes, paths, phases and layers of a graph that has edges (route.c). */
ls_status fabric_make_routes(const fabric_shape *shape, noc_graph *graph, ls_error *err);

/* Rounded up; at least 1. */
uint32_t fabric_cycles(ls_ratio ns, ls_ratio clock_hz);

#endif

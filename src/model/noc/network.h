/* network.h: builds a network of switches from a graph, with links to its end points. */
#ifndef MODEL_NOC_NETWORK_H
#define MODEL_NOC_NETWORK_H

#include "model/noc/graph.h"
#include "model/noc/switch.h"

typedef struct noc_endpoint {
    uint16_t at_switch;
    /* Ports at its switch; 0 counts as 1. A pair of end points always uses the same one. In a cut-through network the
     * edge of a message decides: one lane for each edge of the switch lets all of them work at once. */
    uint32_t lanes;
    ls_region *region;
    const char *name;
    uint32_t sends, receives;      /* classes, as bit masks */
    uint32_t in_latency_cycles;    /* from the end point to its switch, of the end point's clock */
    uint32_t out_latency_cycles;   /* from its switch to the end point, of the network's clock */
    uint32_t in_credits;           /* messages, for each class */
    uint32_t out_credits;          /* messages, for each class and lane */
    const uint32_t *class_credits; /* [class], instead of out_credits; NULL: out_credits for all */
    ls_receive_fn receive;
    void *receiver;
} noc_endpoint;

typedef struct noc_network_spec {
    const char *name;
    ls_clock clock;
    const noc_graph *graph;
    const uint16_t *group_of; /* [switch]: its domain, counted from 0 without gaps; NULL: one for all */
    uint32_t groups;          /* 0 counts as 1 */
    uint32_t classes;
    uint32_t virtual_channels; /* for each class and layer */
    uint32_t buffer_flits;     /* of a virtual channel */
    uint32_t flit_bytes, payload_bytes;
    noc_arbitration arbitration;
    bool cut_through; /* whole messages; buffer_flits counts messages (switch.h) */
    /* By class. A destination is an index of `endpoints`. */
    noc_payload_fn destination[NOC_CLASSES_MAX], wire_bytes[NOC_CLASSES_MAX];
    noc_payload_fn path;       /* of the graph, for a message; NULL: 0 */
    noc_payload_fn used_bytes; /* of the payload, which are copied; NULL: all */
    noc_payload_fn counted;    /* the class that counters name; NULL: the class that it travels in */
    /* Types with the state of a noc_group and of noc_link_counters; NULL: those of a network on a chip. */
    bool is_told; /* timelines show its messages */
    const ls_block_type *group_type, *link_type;
    const char *const *group_names; /* [group], of domains and blocks; NULL: made from `name` */
    const void *self;
    const noc_endpoint *endpoints;
    uint32_t endpoint_count;
} noc_network_spec;

typedef struct noc_network {
    ls_block **groups; /* one block of noc_group_type for each domain */
    ls_block **edges;  /* [edge of the graph]: counters (noc_link_counters) */
    ls_link **inlets;  /* [end point * classes + class]: to send on; NULL where it does not send */
    uint32_t vcs;
} noc_network;

ls_status noc_network_create(ls_engine *engine, const noc_network_spec *spec, noc_network *out, ls_error *err);

#endif

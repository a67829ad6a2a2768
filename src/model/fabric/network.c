/* network.c: see network.h. Runs before the simulation, except for the size and the path of a message. */
#include "model/fabric/network.h"

#include <stdio.h>
#include <string.h>

#define FS_PER_NS UINT64_C(1000000)
#define PORT_LATENCY_NS 20u /* of an end that has no other links inside its chip */
#define BUFFER_MAX 1024u    /* messages: more than 1 us at a message per 2 ns */

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

typedef struct builder {
    ls_engine *engine;
    fabric *f;
    ls_fabric_end *const *ends; /* by number; NULL: the GPU has none */
    const ls_fabric_plan *plan;
    fabric_shape shape;
} builder;

/* ------------------------------------------------------------------------------------------------ messages */

uint32_t fabric_wire_bytes(const fabric *f, const ls_fabric_message *message)
{
    if (f->keys.framing == FABRIC_PERCENT)
        return (uint32_t)(message->wire_bytes + (message->wire_bytes * f->keys.encoding_percent + 99) / 100);
    uint64_t packets = (message->data_bytes + f->keys.packet_payload_bytes - 1) / f->keys.packet_payload_bytes;
    return (uint32_t)(message->data_bytes + (packets != 0 ? packets : 1) * f->keys.packet_header_bytes);
}

/* Neighbouring lines take different paths, and every pair of ends starts at another one. */
uint32_t fabric_path(const fabric *f, const ls_fabric_message *message)
{
    if (f->paths == 1)
        return 0;
    uint64_t line = message->address >> 7, block = line / f->paths;
    uint64_t start = (block + message->from * UINT64_C(7919) + message->to * UINT64_C(104729)) *
                     UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)((line % f->paths + (start >> 32)) % f->paths);
}

static uint32_t payload_destination(const void *self, const void *payload)
{
    (void)self;
    return ((const ls_fabric_message *)payload)->to;
}

static uint32_t payload_wire_bytes(const void *self, const void *payload)
{
    return fabric_wire_bytes(self, payload);
}

static uint32_t payload_path(const void *self, const void *payload)
{
    return fabric_path(self, payload);
}

static uint32_t payload_counted(const void *self, const void *payload)
{
    (void)self;
    return ((const ls_fabric_message *)payload)->class_index;
}

static uint32_t payload_used(const void *self, const void *payload)
{
    (void)self;
    return ls_fabric_message_bytes(payload);
}

/* ---------------------------------------------------------------------------------------------------- ends */

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for the fabric");
}

static uint32_t edges_of(const noc_graph *graph, uint32_t node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        count += graph->edges[i].from == node;
    return count;
}

/* Femtoseconds, rounded up. */
static ls_time femtoseconds(ls_ratio ns)
{
    return ns.num / ns.den * FS_PER_NS + (ns.num % ns.den * FS_PER_NS + ns.den - 1) / ns.den;
}

static uint32_t cycles_of(ls_time fs, const ls_clock *clock)
{
    ls_cycle cycles = ls_clock_cycle_at(clock, fs);
    return cycles == 0 ? 1 : cycles > UINT32_MAX ? UINT32_MAX : (uint32_t)cycles;
}

/* Between an end and its port. A GPU's windows are as long as its shortest link: this one is not shorter unless the
 * platform says so. It is at least one cycle of the slower side. */
static ls_time port_latency(const builder *b, const ls_fabric_end *end, const ls_clock *clock)
{
    ls_time fs = femtoseconds(b->f->keys.port_latency_ns);
    ls_time own = ls_clock_time(ls_region_clock(end->region), 1) + 1, other = ls_clock_time(clock, 1) + 1;
    if (fs == 0)
        fs = ls_group_lookahead(ls_domain_group(ls_region_domain(end->region)), NULL);
    if (fs == LS_TIME_MAX)
        fs = PORT_LATENCY_NS * FS_PER_NS;
    fs = fs < own ? own : fs;
    return fs < other ? other : fs;
}

static void describe_end(const builder *b, uint32_t number, const ls_clock *clock, noc_endpoint *out)
{
    const ls_fabric_end *end = b->ends[number];
    uint32_t edges = edges_of(&b->f->graph, number), room = NOC_PORTS_MAX - b->f->graph.ports;
    ls_time latency = port_latency(b, end, clock);
    *out = (noc_endpoint){ .at_switch = (uint16_t)number,
                           .lanes = edges == 0     ? 1
                                    : edges < room ? edges
                                                   : room,
                           .region = end->region,
                           .name = end->name,
                           .sends = fabric_classes_taken(b->plan),
                           .in_latency_cycles = cycles_of(latency, ls_region_clock(end->region)),
                           .out_latency_cycles = cycles_of(latency, clock),
                           .in_credits = (uint32_t)b->f->keys.queue_messages,
                           .class_credits = end->receive_credits,
                           .receive = end->receive,
                           .receiver = end->receiver };
    for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++)
        out->receives |= end->receive_credits[c] != 0 ? 1u << c : 0;
}

/* -------------------------------------------------------------------------------------------------- groups */

/* The port of an end joins the end's group; a switch has one of its own. */
static ls_status set_groups(const builder *b, ls_error *err)
{
    for (uint32_t i = 0; i < b->shape.node_count; i++) {
        const ls_block *block = b->f->network.groups[i];
        ls_domain *domain = ls_region_domain(ls_block_region(block));
        ls_group *group;
        if (i < b->shape.end_count && b->ends[i] != NULL)
            group = ls_domain_group(ls_region_domain(b->ends[i]->region));
        else
            TRY(ls_group_create(b->engine, ls_block_name(block), &group, err));
        TRY(ls_domain_set_group(domain, group, err));
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- buffers */

/* A place of a buffer is taken until its credit has come home: two latencies. A link is busy all this time if it has
 * places for the messages that it carries meanwhile. */
static void size_buffers(fabric *f)
{
    const ls_fabric_message line = { .data_bytes = 64, .wire_bytes = 64 + 4 };
    uint64_t flits = (fabric_wire_bytes(f, &line) + f->keys.flit_bytes - 1) / f->keys.flit_bytes;
    for (uint32_t i = 0; i < f->graph.edge_count; i++) {
        noc_edge *e = &f->graph.edges[i];
        uint64_t cycles = (flits * e->interval_fixed_point) >> 32, each = cycles != 0 ? cycles : 1;
        uint64_t needed = 2 * (uint64_t)e->latency_cycles / each + 2;
        e->buffer_flits = f->keys.buffer_messages != 0 ? (uint32_t)f->keys.buffer_messages
                          : needed < BUFFER_MAX        ? (uint32_t)needed
                                                       : BUFFER_MAX;
    }
}

/* ----------------------------------------------------------------------------------------------- all of it */

static ls_status create_network(builder *b, uint32_t flit_bytes, ls_error *err)
{
    fabric *f = b->f;
    uint32_t nodes = b->shape.node_count, ends = b->shape.end_count, present = 0;
    const char **names = ls_engine_alloc(b->engine, nodes * sizeof *names);
    uint16_t *group_of = ls_engine_alloc(b->engine, nodes * sizeof *group_of);
    noc_endpoint *endpoints = ls_engine_alloc(b->engine, (ends + 1) * sizeof *endpoints);
    if (names == NULL || group_of == NULL || endpoints == NULL)
        return no_memory(err);
    noc_network_spec spec = { .name = "fabric",
                              .graph = &f->graph,
                              .group_of = group_of,
                              .groups = nodes,
                              .classes = LS_FABRIC_CLASSES,
                              .virtual_channels = (uint32_t)f->keys.virtual_channels,
                              .buffer_flits = 1, /* edges have their own */
                              .flit_bytes = flit_bytes,
                              .payload_bytes = sizeof(ls_fabric_message),
                              .arbitration = (noc_arbitration)f->keys.arbitration,
                              .cut_through = true,
                              .is_told = true,
                              .path = payload_path,
                              .used_bytes = payload_used,
                              .counted = payload_counted,
                              .group_type = &fabric_switch_type,
                              .link_type = &fabric_link_type,
                              .group_names = names,
                              .self = f,
                              .endpoints = endpoints,
                              .endpoint_count = ends };
    TRY(ls_clock_init(&spec.clock, f->keys.clock_hz, err));
    for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++) {
        spec.destination[c] = payload_destination;
        spec.wire_bytes[c] = payload_wire_bytes;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        char *name = ls_engine_alloc(b->engine, sizeof "fabric." + FABRIC_NAME_BYTES);
        if (name == NULL)
            return no_memory(err);
        sprintf(name, "fabric.%s", b->shape.nodes[i].name);
        names[i] = name;
        group_of[i] = (uint16_t)i;
    }
    /* End points are numbered as ends: a GPU without an end has an end point that neither sends nor receives. */
    for (uint32_t i = 0; i < ends; i++) {
        if (b->ends[i] != NULL)
            describe_end(b, i, &spec.clock, &endpoints[i]);
        else
            endpoints[i] = (noc_endpoint){ .at_switch = (uint16_t)i, .name = names[i] };
        present += b->ends[i] != NULL;
    }
    TRY(noc_network_create(b->engine, &spec, &f->network, err));
    for (uint32_t i = 0; i < ends && present != 0; i++)
        for (uint32_t c = 0; c < LS_FABRIC_CLASSES && b->ends[i] != NULL; c++)
            b->ends[i]->send[c] = f->network.inlets[i * LS_FABRIC_CLASSES + c];
    return set_groups(b, err);
}

ls_status fabric_build(ls_engine *engine, const fabric_keys *keys, fabric_shape_fn shape, const void *spec,
                       const ls_fabric_plan *plan, ls_error *err)
{
    builder b = { .engine = engine, .ends = plan->ends, .plan = plan };
    fabric_wires wires = { .clock_hz = keys->clock_hz,
                           .flit_bytes = (uint32_t)keys->flit_bytes,
                           .name = "fabric" };
    b.f = ls_engine_alloc(engine, sizeof *b.f);
    if (b.f == NULL)
        return no_memory(err);
    b.f->keys = *keys;
    TRY(fabric_shape_init(&b.shape, engine, plan->gpus, plan->has_host, err));
    TRY(shape(&b.shape, spec, plan->gpus, plan->has_host, err));
    TRY(fabric_make_graph(&b.shape, &wires, &b.f->graph, err));
    b.f->keys.flit_bytes = wires.flit_bytes;
    size_buffers(b.f);
    b.f->paths = b.f->graph.paths;
    b.f->ends = b.shape.end_count;
    TRY(create_network(&b, wires.flit_bytes, err));
    return ls_engine_add_part(engine, FABRIC_PART, b.f, err);
}

/* grid.c: the networks `mesh` and `ring`: switches between cores and memory partitions.
 *
 * All switches are in one domain, and the wires to cores and partitions are its links. Half of the latency of
 * a request is on the wire to the first switch and half on the wire from the last one. So windows stay long
 * even if a hop is short. */
#include "lockstep/noc.h"
#include "model/noc/network.h"

#include <stdio.h>
#include <string.h>

typedef struct grid_spec {
    uint64_t request_latency_cycles, reply_latency_cycles, credits;
    uint64_t columns, rows; /* of a mesh */
    uint64_t switches;      /* of a ring */
    uint64_t hop_latency_cycles, flit_bytes, virtual_channels, buffer_flits;
    uint32_t arbitration;
} grid_spec;

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

static uint32_t latency_of(const grid_spec *spec, const ls_noc_class *c)
{
    return (uint32_t)(c->from == LS_NOC_CORES ? spec->request_latency_cycles : spec->reply_latency_cycles);
}

static uint32_t half_up(uint32_t cycles)
{
    return (cycles + 1) / 2;
}

static uint32_t half_down(uint32_t cycles)
{
    return cycles > 1 ? cycles / 2 : 1;
}

static uint32_t lanes_of(const ls_noc_plan *plan, ls_noc_side side)
{
    uint32_t lanes = plan->side[side][0].lanes;
    return lanes != 0 ? lanes : 1;
}

/* Of a wire between an end point and its switch. */
static uint32_t credits_of(const grid_spec *spec, const ls_noc_plan *plan, uint32_t cycles)
{
    return (uint32_t)(spec->credits != 0 ? spec->credits : 2 * cycles + plan->spare_credits);
}

static uint32_t longest(const grid_spec *spec)
{
    uint64_t cycles = spec->request_latency_cycles;
    return (uint32_t)(cycles > spec->reply_latency_cycles ? cycles : spec->reply_latency_cycles);
}

typedef struct grid {
    noc_graph graph;
    uint16_t *place[LS_NOC_SIDES];
} grid;

static ls_status grid_shape(const grid_spec *spec, const ls_noc_plan *plan, bool ring, grid *out,
                            ls_error *err)
{
    uint32_t ends = plan->count[LS_NOC_CORES] + plan->count[LS_NOC_MEMORIES];
    uint64_t columns = spec->columns, rows = spec->rows,
             switches = spec->switches != 0 ? spec->switches : ends;
    if (!ring) {
        if (columns == 0)
            columns = rows != 0 ? (ends + rows - 1) / rows : noc_grid_columns(ends);
        if (rows == 0)
            rows = (ends + columns - 1) / columns;
        switches = columns * rows;
    }
    if (switches > NOC_SWITCHES_MAX)
        return ls_fail(err, LS_ERR_INPUT, "the network has %llu switches, at most %u are possible",
                       (unsigned long long)switches, NOC_SWITCHES_MAX);
    uint32_t hop = (uint32_t)spec->hop_latency_cycles;
    if (ring)
        TRY(noc_graph_ring(&out->graph, plan->engine, (uint32_t)switches, hop, true, err));
    else
        TRY(noc_graph_mesh(&out->graph, plan->engine, (uint32_t)columns, (uint32_t)rows, hop, err));
    for (uint32_t side = 0; side < LS_NOC_SIDES; side++) {
        out->place[side] = ls_engine_alloc(plan->engine, plan->count[side] * sizeof(uint16_t));
        if (out->place[side] == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for a network of %u end points", ends);
    }
    noc_place((uint32_t)switches, (uint32_t)(ring ? switches : columns), plan->count[LS_NOC_CORES],
              plan->count[LS_NOC_MEMORIES], out->place[LS_NOC_CORES], out->place[LS_NOC_MEMORIES]);
    return LS_OK;
}

static ls_status describe(const grid_spec *spec, const ls_noc_plan *plan, bool ring, ls_noc_shape *out,
                          ls_error *err)
{
    grid g;
    TRY(grid_shape(spec, plan, ring, &g, err));
    uint32_t cores = plan->count[LS_NOC_CORES], memories = plan->count[LS_NOC_MEMORIES];
    uint64_t hops = 0;
    for (uint32_t i = 0; i < cores; i++)
        for (uint32_t k = 0; k < memories; k++)
            hops += noc_graph_hops(&g.graph, g.place[LS_NOC_CORES][i], g.place[LS_NOC_MEMORIES][k]);
    for (uint32_t c = 0; c < plan->class_count; c++) {
        uint32_t cycles = latency_of(spec, &plan->classes[c]);
        out->latency_cycles[c] =
            cycles + (uint32_t)(hops * spec->hop_latency_cycles / ((uint64_t)cores * memories));
        out->credits[c] = credits_of(spec, plan, half_up(longest(spec)));
        out->receive_max[c] = out->credits[c] * lanes_of(plan, plan->classes[c].from == LS_NOC_CORES);
    }
    return LS_OK;
}

/* The switches know end points by one number: cores first, then memories. */
typedef struct grid_plan {
    ls_noc_class classes[LS_NOC_CLASSES_MAX];
    const void *self;
    uint32_t cores;
} grid_plan;

static inline uint32_t receiver(const grid_plan *p, uint32_t c, const void *payload)
{
    uint32_t index = p->classes[c].destination(p->self, payload);
    return p->classes[c].from == LS_NOC_CORES ? p->cores + index : index;
}

static uint32_t destination0(const void *self, const void *payload)
{
    return receiver(self, 0, payload);
}

static uint32_t destination1(const void *self, const void *payload)
{
    return receiver(self, 1, payload);
}

static uint32_t bytes0(const void *self, const void *payload)
{
    const grid_plan *p = self;
    return p->classes[0].wire_bytes(p->self, payload);
}

static uint32_t bytes1(const void *self, const void *payload)
{
    const grid_plan *p = self;
    return p->classes[1].wire_bytes(p->self, payload);
}

static noc_endpoint end_of(const grid_spec *spec, const ls_noc_plan *plan, ls_noc_side side, uint32_t i,
                           uint16_t at_switch)
{
    const ls_noc_endpoint *e = &plan->side[side][i];
    noc_endpoint end = { .at_switch = at_switch,
                         .lanes = e->lanes,
                         .region = e->region,
                         .name = e->name,
                         .receive = e->receive,
                         .receiver = e->receiver };
    end.in_credits = end.out_credits = credits_of(spec, plan, half_up(longest(spec)));
    for (uint32_t c = 0; c < plan->class_count; c++) {
        uint32_t cycles = latency_of(spec, &plan->classes[c]);
        if (plan->classes[c].from == side) {
            end.sends |= 1u << c;
            end.in_latency_cycles = half_down(cycles);
        } else {
            end.receives |= 1u << c;
            end.out_latency_cycles = half_up(cycles);
        }
    }
    return end;
}

static ls_status create(const grid_spec *spec, const ls_noc_plan *plan, const grid *g, noc_network *net,
                        ls_error *err)
{
    uint32_t count = plan->count[LS_NOC_CORES] + plan->count[LS_NOC_MEMORIES], next = 0;
    noc_endpoint *ends = ls_engine_alloc(plan->engine, count * sizeof *ends);
    grid_plan *kept = ls_engine_alloc(plan->engine, sizeof *kept);
    char name[64];
    if (ends == NULL || kept == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a network of %u end points", count);
    for (uint32_t side = 0; side < LS_NOC_SIDES; side++)
        for (uint32_t i = 0; i < plan->count[side]; i++)
            ends[next++] = end_of(spec, plan, side, i, g->place[side][i]);
    memcpy(kept->classes, plan->classes, sizeof kept->classes);
    kept->self = plan->self;
    kept->cores = plan->count[LS_NOC_CORES];
    snprintf(name, sizeof name, "%snoc", plan->prefix);
    noc_network_spec network = { .name = name,
                                 .clock = plan->clock,
                                 .graph = &g->graph,
                                 .classes = plan->class_count,
                                 .virtual_channels = (uint32_t)spec->virtual_channels,
                                 .buffer_flits = (uint32_t)spec->buffer_flits,
                                 .flit_bytes = (uint32_t)spec->flit_bytes,
                                 .arbitration = spec->arbitration,
                                 .destination = { destination0, destination1 },
                                 .wire_bytes = { bytes0, bytes1 },
                                 .self = kept,
                                 .endpoints = ends,
                                 .endpoint_count = count };
    for (uint32_t c = 0; c < plan->class_count; c++)
        if (plan->classes[c].payload_bytes > network.payload_bytes)
            network.payload_bytes = plan->classes[c].payload_bytes;
    return noc_network_create(plan->engine, &network, net, err);
}

static ls_status build(const grid_spec *spec, const ls_noc_plan *plan, bool ring, ls_link **const *links,
                       ls_error *err)
{
    grid g;
    noc_network net;
    TRY(grid_shape(spec, plan, ring, &g, err));
    TRY(create(spec, plan, &g, &net, err));
    for (uint32_t c = 0; c < plan->class_count; c++) {
        ls_noc_side from = plan->classes[c].from;
        uint32_t first = from == LS_NOC_CORES ? 0 : plan->count[LS_NOC_CORES], receivers = plan->count[!from];
        for (uint32_t i = 0; i < plan->count[from]; i++)
            for (uint32_t to = 0; to < receivers; to++)
                links[c][(size_t)i * receivers + to] = net.inlets[(first + i) * plan->class_count + c];
    }
    return LS_OK;
}

static ls_status mesh_describe(const void *spec, const ls_noc_plan *plan, ls_noc_shape *out, ls_error *err)
{
    return describe(spec, plan, false, out, err);
}

static ls_status mesh_build(const void *spec, const ls_noc_plan *plan, ls_link **const *links, ls_error *err)
{
    return build(spec, plan, false, links, err);
}

static ls_status ring_describe(const void *spec, const ls_noc_plan *plan, ls_noc_shape *out, ls_error *err)
{
    return describe(spec, plan, true, out, err);
}

static ls_status ring_build(const void *spec, const ls_noc_plan *plan, ls_link **const *links, ls_error *err)
{
    return build(spec, plan, true, links, err);
}

static const ls_noc_ops mesh_ops = { .describe = mesh_describe, .build = mesh_build };
static const ls_noc_ops ring_ops = { .describe = ring_describe, .build = ring_build };
static const char *const arbitration_names[] = { "round-robin", "oldest", NULL }; /* as noc_arbitration */

/* clang-format off */
#define LATENCIES                                                                                             \
    LS_PARAM_UINT(grid_spec, request_latency_cycles, "cycles", 90, 1, 2000,                                   \
                  "of a request beside its hops: half to the first switch, half from the last one"),          \
    LS_PARAM_UINT(grid_spec, reply_latency_cycles, "cycles", 90, 1, 2000, "of a reply, likewise"),            \
    LS_PARAM_UINT(grid_spec, credits, "messages", 0, 0, 4096,                                                 \
                  "buffer entries of each core and partition at its switch; 0: those of its wires and some more")
#define SWITCHES                                                                                              \
    LS_PARAM_UINT(grid_spec, hop_latency_cycles, "cycles", 2, 1, 1000,                                        \
                  "from a switch to the next, in L2 cycles"),                                                 \
    LS_PARAM_UINT(grid_spec, flit_bytes, "bytes", 40, 1, 1024, "a wire carries one flit per cycle"),          \
    LS_PARAM_UINT(grid_spec, virtual_channels, "", 2, 1, 8, "for requests and for replies, at each input"),   \
    LS_PARAM_UINT(grid_spec, buffer_flits, "flits", 8, 1, 1024, "of a virtual channel")
static const ls_param mesh_params[] = {
    LATENCIES,
    LS_PARAM_UINT(grid_spec, columns, "", 0, 0, 1024, "switches in a row; 0: as many as a square needs"),
    LS_PARAM_UINT(grid_spec, rows, "", 0, 0, 1024, "rows of switches; 0: enough for all cores and partitions"),
    SWITCHES,
    LS_PARAM_CHOICE(grid_spec, arbitration, "arbitration", "round-robin", arbitration_names,
                    "which flit passes first"),
};
static const ls_param ring_params[] = {
    LATENCIES,
    LS_PARAM_UINT(grid_spec, switches, "", 0, 0, 1024, "of the ring; 0: one for each core and partition"),
    SWITCHES,
    LS_PARAM_CHOICE(grid_spec, arbitration, "arbitration", "oldest", arbitration_names,
                    "which flit passes first"),
};
/* clang-format on */

/* Memory by formula has the latency of a network, no wires and buffers. */
static const ls_need needs[] = {
    { "flit_bytes", "/core.memory=cycle" },
    { "virtual_channels", "/core.memory=cycle" },
    { "buffer_flits", "/core.memory=cycle" },
    { "arbitration", "/core.memory=cycle" },
};

static const ls_port_decl mesh_ports[] = {
    { .name = LS_NOC_PORT, .interface = LS_NOC_INTERFACE, .ops = &mesh_ops },
};
static const ls_port_decl ring_ports[] = {
    { .name = LS_NOC_PORT, .interface = LS_NOC_INTERFACE, .ops = &ring_ops },
};

static const ls_block_type noc_mesh = {
    .abi = LS_ABI_VERSION,
    .slot = LS_NOC_SLOT,
    .name = "mesh",
    .help = "a grid of switches with dimension-order routing",
    .spec_size = sizeof(grid_spec),
    .params = mesh_params,
    .param_count = LS_COUNT_OF(mesh_params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .ports = mesh_ports,
    .port_count = LS_COUNT_OF(mesh_ports),
};
LS_REGISTER_BLOCK(noc_mesh);

static const ls_block_type noc_ring = {
    .abi = LS_ABI_VERSION,
    .slot = LS_NOC_SLOT,
    .name = "ring",
    .help = "a ring of switches in both directions",
    .spec_size = sizeof(grid_spec),
    .params = ring_params,
    .param_count = LS_COUNT_OF(ring_params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .ports = ring_ports,
    .port_count = LS_COUNT_OF(ring_ports),
};
LS_REGISTER_BLOCK(noc_ring);

/* network.c: sets up the switches of a graph: a domain and a block for each group, a block of counters for each
 * output, links between groups and to end points. Runs before the simulation. */
#include "model/noc/network.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 96

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

typedef struct builder {
    ls_engine *engine;
    const noc_network_spec *spec;
    const noc_graph *graph;
    noc_network *net;
    uint32_t vcs, group_count;
    uint32_t *local;      /* [switch]: its number in its group */
    uint32_t *port_count; /* [switch] */
    noc_place_of *places; /* [end point] */
    uint32_t wire_bytes;
} builder;

/* clang-format off */
#define COUNT(name_, field_, unit_, help_)                                                                    \
    { .name = (name_), .kind = LS_METRIC_KIND_COUNTER, .offset = offsetof(noc_link_counters, field_),         \
      .unit = (unit_), .help = (help_) }
static const ls_metric link_metrics[] = {
    COUNT("request_flits", flits[0], "flits", "flits of requests that passed"),
    COUNT("reply_flits", flits[1], "flits", "flits of replies that passed"),
    COUNT("request_stall_cycles", stall_cycles[0], "cycles", "flits of requests that waited for this link"),
    COUNT("reply_stall_cycles", stall_cycles[1], "cycles", "flits of replies that waited for this link"),
    COUNT("busy_cycles", busy_cycles, "cycles", "the link carried a flit"),
    COUNT("cycles", cycles, "cycles", "up to the last flit"),
    { .name = "utilisation", .kind = LS_METRIC_KIND_RATIO, .offset = offsetof(noc_link_counters, busy_cycles),
      .denominator = offsetof(noc_link_counters, cycles), .unit = "", .help = "busy_cycles / cycles" },
};
/* clang-format on */

static const ls_state_row link_rows[] = { LS_STATE_DATA_SPAN(noc_link_counters, flits, cycles) };

static const ls_block_type link_type = {
    .abi = LS_ABI_VERSION,
    .slot = "noc.link",
    .name = "counters",
    .help = "traffic of an output of a switch",
    .state_size = sizeof(noc_link_counters),
    .metrics = link_metrics,
    .metric_count = LS_COUNT_OF(link_metrics),
    .rows = link_rows,
    .row_count = LS_COUNT_OF(link_rows),
};

static void *get(builder *b, size_t count, size_t bytes)
{
    return ls_engine_alloc(b->engine, (count != 0 ? count : 1) * bytes);
}

static ls_status no_memory(const builder *b, ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for network '%s' of %u switches", b->spec->name,
                   b->graph->switches);
}

static uint32_t group_of(const builder *b, uint32_t s)
{
    return b->spec->group_of != NULL ? b->spec->group_of[s] : 0;
}

static noc_group *group_at(const builder *b, uint32_t s)
{
    return ls_block_state(b->net->groups[group_of(b, s)]);
}

static noc_switch *switch_at(const builder *b, uint32_t s)
{
    return &group_at(b, s)->switches[b->local[s]];
}

/* ------------------------------------------------------------------------------------------------- checks */

static ls_status check(builder *b, ls_error *err)
{
    const noc_network_spec *spec = b->spec;
    uint64_t vcs = (uint64_t)spec->classes * spec->virtual_channels * b->graph->layers;
    if (b->graph->switches == 0 || b->graph->switches > NOC_SWITCHES_MAX)
        return ls_fail(err, LS_ERR_INPUT, "network '%s' has %u switches, 1 to %u are possible", spec->name,
                       b->graph->switches, NOC_SWITCHES_MAX);
    if (spec->classes == 0 || spec->classes > NOC_CLASSES_MAX || vcs == 0 || vcs > NOC_VCS_MAX)
        return ls_fail(
            err, LS_ERR_INPUT,
            "network '%s' has %llu virtual channels (%u classes, %u for each, %u layers), 1 to %u are "
            "possible",
            spec->name, (unsigned long long)vcs, spec->classes, spec->virtual_channels, b->graph->layers,
            NOC_VCS_MAX);
    b->vcs = (uint32_t)vcs;
    if (spec->buffer_flits == 0 || spec->flit_bytes == 0)
        return ls_fail(err, LS_ERR_INPUT, "network '%s': buffer_flits and flit_bytes must be at least 1",
                       spec->name);
    for (uint32_t i = 0; i < b->graph->edge_count; i++)
        if (b->graph->edges[i].latency_cycles == 0 || b->graph->edges[i].interval_cycles == 0)
            return ls_fail(err, LS_ERR_INPUT, "network '%s': an edge takes at least one cycle", spec->name);
    for (uint32_t i = 0; i < spec->endpoint_count; i++)
        if (spec->endpoints[i].at_switch >= b->graph->switches)
            return ls_fail(err, LS_ERR_INPUT, "network '%s': '%s' is at switch %u of %u", spec->name,
                           spec->endpoints[i].name, spec->endpoints[i].at_switch, b->graph->switches);
    return LS_OK;
}

/* Ports of edges come first, then those of end points. */
static ls_status count_ports(builder *b, ls_error *err)
{
    for (uint32_t s = 0; s < b->graph->switches; s++)
        b->port_count[s] = b->graph->ports;
    for (uint32_t i = 0; i < b->spec->endpoint_count; i++) {
        const noc_endpoint *e = &b->spec->endpoints[i];
        uint32_t lanes = e->lanes != 0 ? e->lanes : 1, *ports = &b->port_count[e->at_switch];
        if (*ports + lanes > NOC_PORTS_MAX)
            return ls_fail(err, LS_ERR_INPUT, "switch %u of network '%s' has no port for '%s', it has %u",
                           e->at_switch, b->spec->name, e->name, NOC_PORTS_MAX);
        b->places[i] =
            (noc_place_of){ .at_switch = e->at_switch, .port = (uint8_t)*ports, .lanes = (uint8_t)lanes };
        *ports += lanes;
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- groups */

static ls_status create_switch(builder *b, noc_group *g, uint32_t s, ls_error *err)
{
    noc_switch *sw = &g->switches[b->local[s]];
    uint32_t ports = b->port_count[s], pairs = ports * b->vcs;
    sw->id = s;
    sw->ports = ports;
    sw->pairs = pairs;
    sw->inputs = ls_domain_alloc(g->domain, ports * sizeof *sw->inputs);
    sw->outputs = ls_domain_alloc(g->domain, ports * sizeof *sw->outputs);
    sw->input_vcs = ls_domain_alloc(g->domain, pairs * sizeof *sw->input_vcs);
    sw->output_vcs = ls_domain_alloc(g->domain, pairs * sizeof *sw->output_vcs);
    if (sw->inputs == NULL || sw->outputs == NULL || sw->input_vcs == NULL || sw->output_vcs == NULL)
        return no_memory(b, err);
    for (uint32_t p = 0; p < ports; p++) {
        sw->inputs[p].dimension = sw->outputs[p].dimension = UINT8_MAX;
        sw->outputs[p].interval_cycles = 1;
    }
    for (uint32_t i = 0; i < pairs; i++) {
        noc_output_vc *o = &sw->output_vcs[i];
        o->owner = NOC_NO_OWNER;
        o->group = g;
        o->at = b->local[s];
        ls_event_init(&o->ready, noc_output_ready, o);
    }
    return LS_OK;
}

static ls_status create_groups(builder *b, ls_error *err)
{
    const noc_network_spec *spec = b->spec;
    char name[NAME_BYTES];
    for (uint32_t k = 0; k < b->group_count; k++) {
        ls_domain *domain;
        if (spec->group_names != NULL)
            snprintf(name, sizeof name, "%s", spec->group_names[k]);
        else
            snprintf(name, sizeof name, b->group_count > 1 ? "%s%u" : "%s", spec->name, k);
        TRY(ls_domain_create(b->engine, name, spec->clock, &domain, err));
        TRY(ls_block_create(ls_domain_region(domain, 0), name,
                            spec->group_type != NULL ? spec->group_type : &noc_group_type, NULL,
                            &b->net->groups[k], err));
        noc_group *g = ls_block_state(b->net->groups[k]);
        uint32_t ports = 0;
        for (uint32_t s = 0; s < b->graph->switches; s++)
            if (group_of(b, s) == k) {
                b->local[s] = g->switch_count++;
                ports = ports < b->port_count[s] ? b->port_count[s] : ports;
            }
        g->vcs = b->vcs;
        g->per_class = spec->virtual_channels;
        g->layers = b->graph->layers;
        g->phases = b->graph->phases != 0 ? b->graph->phases : 1;
        g->cut_through = spec->cut_through;
        g->path = spec->path;
        g->used_bytes = spec->used_bytes;
        g->counted = spec->counted;
        g->tap = spec->is_told ? ls_block_tap(b->net->groups[k]) : &noc_no_tap;
        g->classes = spec->classes;
        g->flit_bytes = spec->flit_bytes;
        g->arbitration = spec->arbitration;
        g->payload_bytes = spec->payload_bytes;
        memcpy(g->destination, spec->destination, sizeof g->destination);
        memcpy(g->wire_bytes, spec->wire_bytes, sizeof g->wire_bytes);
        g->self = spec->self;
        g->places = b->places;
        g->route = b->graph->route;
        g->graph_switches = b->graph->switches;
        g->words = (g->switch_count + 63) / 64;
        g->switches = ls_domain_alloc(domain, g->switch_count * sizeof *g->switches);
        g->wheel = ls_domain_alloc(domain, (size_t)NOC_WHEEL * g->words * sizeof *g->wheel);
        g->want = ls_domain_alloc(domain, (size_t)ports * b->vcs * sizeof *g->want);
        g->open = ls_domain_alloc(domain, (size_t)ports * sizeof *g->open);
        if (g->switches == NULL || g->wheel == NULL || g->want == NULL || g->open == NULL)
            return no_memory(b, err);
        for (uint32_t s = 0; s < b->graph->switches; s++)
            if (group_of(b, s) == k)
                TRY(create_switch(b, g, s, err));
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ counters */

static ls_status counters(builder *b, noc_output *out, uint32_t s, const char *name, ls_block **block,
                          ls_error *err)
{
    const ls_block_type *type = b->spec->link_type != NULL ? b->spec->link_type : &link_type;
    TRY(ls_block_create(group_at(b, s)->region, name, type, NULL, block, err));
    out->n = ls_block_state(*block);
    out->name = ls_block_name(*block);
    out->tap = ls_block_tap(*block);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------- input buffers */

static bool make_ring(ls_domain *domain, noc_input_vc *in, uint32_t entries)
{
    uint32_t size = 1;
    while (size < entries)
        size *= 2;
    in->mask = size - 1;
    in->ring = ls_domain_alloc(domain, size * sizeof *in->ring);
    return in->ring != NULL;
}

static bool make_returns(ls_domain *domain, noc_output_vc *o, uint32_t entries)
{
    uint32_t size = 1;
    while (size < entries)
        size *= 2;
    o->credits = entries;
    o->returns_mask = size - 1;
    o->returns = ls_domain_alloc(domain, size * sizeof *o->returns);
    return o->returns != NULL;
}

/* --------------------------------------------------------------------------------------------------- edges */

/* Places of a virtual channel behind an edge. */
static uint32_t buffer_of(const builder *b, const noc_edge *e)
{
    return e->buffer_flits != 0 ? e->buffer_flits : b->spec->buffer_flits;
}

static ls_status connect_far(builder *b, const noc_edge *e, const char *name, uint32_t vc, ls_error *err)
{
    noc_group *from = group_at(b, e->from), *to = group_at(b, e->to);
    noc_output_vc *o = &switch_at(b, e->from)->output_vcs[e->from_port * b->vcs + vc];
    noc_pipe *pipe = ls_domain_alloc(to->domain, sizeof *pipe);
    char link_name[NAME_BYTES + 8];
    if (pipe == NULL)
        return no_memory(b, err);
    *pipe = (noc_pipe){ .group = to, .at = b->local[e->to], .port = e->to_port, .vc = (uint8_t)vc };
    snprintf(link_name, sizeof link_name, "%s.vc%u", name, vc);
    TRY(ls_link_create(b->engine,
                       &(ls_link_spec){ .name = link_name,
                                        .from = from->region,
                                        .to = to->region,
                                        .from_name = name,
                                        .to_name = name,
                                        .latency_cycles = e->latency_cycles,
                                        .credits = buffer_of(b, e),
                                        .payload_bytes = b->wire_bytes,
                                        .receive = noc_pipe_receive,
                                        .receiver = pipe },
                       &o->link, err));
    switch_at(b, e->to)->input_vcs[e->to_port * b->vcs + vc].link = o->link;
    return LS_OK;
}

static ls_status connect_edge(builder *b, uint32_t index, ls_error *err)
{
    const noc_edge *e = &b->graph->edges[index];
    noc_group *from = group_at(b, e->from), *to = group_at(b, e->to);
    noc_switch *sender = switch_at(b, e->from), *receiver = switch_at(b, e->to);
    noc_output *out = &sender->outputs[e->from_port];
    noc_input *in = &receiver->inputs[e->to_port];
    bool near = from == to;
    char name[NAME_BYTES];
    if (out->kind != NOC_UNUSED || in->kind != NOC_UNUSED)
        return ls_fail(err, LS_ERR_INPUT, "network '%s': two edges share a port of switch %u or %u",
                       b->spec->name, e->from, e->to);
    out->kind = in->kind = near ? NOC_NEAR : NOC_FAR;
    out->dimension = in->dimension = e->dimension;
    out->dateline = e->dateline;
    out->latency_cycles = in->latency_cycles = e->latency_cycles;
    out->interval_cycles = e->interval_cycles;
    out->interval_fixed_point =
        e->interval_fixed_point != 0 ? e->interval_fixed_point : (uint64_t)e->interval_cycles << 32;
    in->phase = e->phase;
    out->peer = b->local[e->to];
    out->peer_port = e->to_port;
    in->peer = b->local[e->from];
    in->peer_port = e->from_port;
    if (e->name != NULL)
        snprintf(name, sizeof name, "%s", e->name);
    else
        snprintf(name, sizeof name, "%s.s%u.%s", b->spec->name, e->from, e->direction);
    TRY(counters(b, out, e->from, name, &b->net->edges[index], err));
    in->name = out->name;
    for (uint32_t vc = 0; vc < b->vcs; vc++) {
        if (!make_ring(to->domain, &receiver->input_vcs[e->to_port * b->vcs + vc], buffer_of(b, e)))
            return no_memory(b, err);
        if (!near)
            TRY(connect_far(b, e, out->name, vc, err));
        else if (!make_returns(from->domain, &sender->output_vcs[e->from_port * b->vcs + vc], buffer_of(b, e)))
            return no_memory(b, err);
        to->message_max += buffer_of(b, e) + 1;
    }
    return LS_OK;
}

/* ---------------------------------------------------------------------------------------------- end points */

static ls_status connect_inlet(builder *b, uint32_t index, uint32_t c, ls_error *err)
{
    const noc_endpoint *e = &b->spec->endpoints[index];
    const noc_place_of *place = &b->places[index];
    noc_group *g = group_at(b, e->at_switch);
    noc_switch *s = switch_at(b, e->at_switch);
    noc_inlet *inlet = ls_domain_alloc(g->domain, sizeof *inlet);
    ls_link **link = &b->net->inlets[index * b->spec->classes + c];
    char name[NAME_BYTES];
    if (inlet == NULL)
        return no_memory(b, err);
    *inlet = (noc_inlet){ .group = g,
                          .at = b->local[e->at_switch],
                          .endpoint = (uint16_t)index,
                          .class_index = (uint8_t)c,
                          .port = place->port,
                          .lanes = place->lanes };
    snprintf(name, sizeof name, "%s.in%u.%u", b->spec->name, index, c);
    TRY(ls_link_create(b->engine,
                       &(ls_link_spec){ .name = name,
                                        .from = e->region,
                                        .to = g->region,
                                        .from_name = e->name,
                                        .to_name = e->name,
                                        .latency_cycles = e->in_latency_cycles,
                                        .credits = e->in_credits,
                                        .payload_bytes = b->spec->payload_bytes,
                                        .receive = noc_inlet_receive,
                                        .receiver = inlet },
                       link, err));
    uint32_t per_class = b->vcs / b->spec->classes;
    for (uint32_t p = place->port; p < (uint32_t)place->port + place->lanes; p++)
        for (uint32_t vc = c * per_class; vc < (c + 1) * per_class; vc += b->graph->layers) {
            noc_input_vc *in = &s->input_vcs[p * b->vcs + vc];
            in->link = *link;
            if (!make_ring(g->domain, in, e->in_credits))
                return no_memory(b, err);
        }
    g->message_max += e->in_credits;
    return LS_OK;
}

/* A lane has a link of its own: two lanes could else want the last buffer entry in one cycle. A cut-through network
 * looks again before it sends, so its lanes share one. */
static ls_status connect_outlet(builder *b, uint32_t index, uint32_t c, uint32_t port, ls_error *err)
{
    const noc_endpoint *e = &b->spec->endpoints[index];
    noc_group *g = group_at(b, e->at_switch);
    noc_switch *s = switch_at(b, e->at_switch);
    uint32_t per_class = b->vcs / b->spec->classes;
    bool shared = b->spec->cut_through && port != b->places[index].port;
    ls_link *link = shared ? s->output_vcs[b->places[index].port * b->vcs + c * per_class].link : NULL;
    char name[NAME_BYTES];
    if (shared) {
        for (uint32_t vc = c * per_class; vc < (c + 1) * per_class; vc++)
            s->output_vcs[port * b->vcs + vc].link = link;
        return LS_OK;
    }
    snprintf(name, sizeof name, "%s.out%u.%u.%u", b->spec->name, index, c, port - b->places[index].port);
    TRY(ls_link_create(b->engine,
                       &(ls_link_spec){ .name = name,
                                        .from = g->region,
                                        .to = e->region,
                                        .from_name = s->outputs[port].name,
                                        .to_name = e->name,
                                        .latency_cycles = e->out_latency_cycles,
                                        .credits =
                                            e->class_credits != NULL ? e->class_credits[c] : e->out_credits,
                                        .payload_bytes = b->spec->payload_bytes,
                                        .receive = e->receive,
                                        .receiver = e->receiver },
                       &link, err));
    for (uint32_t vc = c * per_class; vc < (c + 1) * per_class; vc++)
        s->output_vcs[port * b->vcs + vc].link = link;
    return LS_OK;
}

static ls_status connect_endpoint(builder *b, uint32_t index, ls_error *err)
{
    const noc_endpoint *e = &b->spec->endpoints[index];
    const noc_place_of *place = &b->places[index];
    noc_switch *s = switch_at(b, e->at_switch);
    for (uint32_t lane = 0; lane < place->lanes; lane++) {
        uint32_t p = place->port + lane;
        ls_block *block;
        char name[NAME_BYTES];
        s->inputs[p].kind = s->outputs[p].kind = NOC_ENDPOINT;
        s->inputs[p].name = e->name;
        if (b->spec->cut_through && lane > 0) { /* they count together */
            s->outputs[p].n = s->outputs[place->port].n;
            s->outputs[p].name = s->outputs[place->port].name;
            continue;
        }
        if (b->spec->cut_through)
            snprintf(name, sizeof name, "%s.exit", ls_block_name(b->net->groups[group_of(b, e->at_switch)]));
        else
            snprintf(name, sizeof name, "%s.s%u.exit%u", b->spec->name, e->at_switch, p - b->graph->ports);
        TRY(counters(b, &s->outputs[p], e->at_switch, name, &block, err));
    }
    for (uint32_t c = 0; c < b->spec->classes; c++) {
        if ((e->sends >> c & 1) != 0)
            TRY(connect_inlet(b, index, c, err));
        for (uint32_t lane = 0; lane < place->lanes && (e->receives >> c & 1) != 0; lane++)
            TRY(connect_outlet(b, index, c, place->port + lane, err));
    }
    return LS_OK;
}

static ls_status create_messages(builder *b, ls_error *err)
{
    for (uint32_t k = 0; k < b->group_count; k++) {
        noc_group *g = ls_block_state(b->net->groups[k]);
        g->messages = ls_domain_alloc(g->domain, (g->message_max + 1) * sizeof *g->messages);
        g->payloads = ls_domain_alloc(g->domain, (size_t)(g->message_max + 1) * g->payload_bytes);
        if (g->messages == NULL || g->payloads == NULL)
            return no_memory(b, err);
        g->message_pool = INDEX_POOL_NEW;
    }
    return LS_OK;
}

ls_status noc_network_create(ls_engine *engine, const noc_network_spec *spec, noc_network *out, ls_error *err)
{
    builder b = { .engine = engine, .spec = spec, .graph = spec->graph, .net = out };
    b.group_count = spec->groups != 0 ? spec->groups : 1;
    b.wire_bytes = (uint32_t)sizeof(noc_wire) + spec->payload_bytes;
    TRY(check(&b, err));
    b.local = get(&b, b.graph->switches, sizeof *b.local);
    b.port_count = get(&b, b.graph->switches, sizeof *b.port_count);
    b.places = get(&b, spec->endpoint_count, sizeof *b.places);
    out->groups = get(&b, b.group_count, sizeof(ls_block *));
    out->edges = get(&b, b.graph->edge_count, sizeof(ls_block *));
    out->inlets = get(&b, (size_t)spec->endpoint_count * spec->classes, sizeof(ls_link *));
    out->vcs = b.vcs;
    if (b.local == NULL || b.port_count == NULL || b.places == NULL || out->groups == NULL ||
        out->edges == NULL || out->inlets == NULL)
        return no_memory(&b, err);
    TRY(count_ports(&b, err));
    TRY(create_groups(&b, err));
    for (uint32_t i = 0; i < b.graph->edge_count; i++)
        TRY(connect_edge(&b, i, err));
    for (uint32_t i = 0; i < spec->endpoint_count; i++)
        TRY(connect_endpoint(&b, i, err));
    return create_messages(&b, err);
}

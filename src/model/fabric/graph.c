/* graph.c: the model `graph` of slot `fabric`: switches and links as the platform file lists them.
 *
 *     fabric:
 *       model: graph
 *       switches: [left, right]
 *       links: [gpu0 left 25, gpu1 left 25, gpu2 right 25, left right 50 100 2]
 *
 * A link is "NODE NODE GB/s [ns [count]]". Nodes are gpu0, gpu1, ..., host and the switches. */
#include "base/text.h"
#include "model/fabric/models.h"

#include <string.h>

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

#define WORDS 5
#define GB UINT64_C(1000000000)
#define COUNT_MAX 32u

typedef struct graph_spec {
    fabric_keys keys;
    ls_texts switches, links;
    ls_ratio link_latency_ns, switch_latency_ns;
    uint32_t routes;
    bool gpus_forward;
    uint64_t paths_max;
} graph_spec;

static const char *const routes[] = { "up-down", "shortest", NULL };

/* clang-format off */
static const ls_param params[] = {
    LS_PARAM_TEXTS(graph_spec, switches, "switches", "[]", "names of the switches"),
    LS_PARAM_TEXTS(graph_spec, links, "links", NULL, "list of 'NODE NODE GB/s [ns [count]]'; nodes are gpu0, gpu1, ..., host and switches"),
    LS_PARAM_RATIO(graph_spec, link_latency_ns, "link_latency_ns", "ns", "100", 0, 100000, "of a link that has no latency of its own"),
    LS_PARAM_RATIO(graph_spec, switch_latency_ns, "switch_latency_ns", "ns", "100", 0, 100000, "of a switch"),
    LS_PARAM_CHOICE(graph_spec, routes, "routes", "up-down", routes, "up-down cannot deadlock; shortest has the fewest links and may"),
    LS_PARAM_BOOL(graph_spec, gpus_forward, false, "messages of others may pass a GPU"),
    LS_PARAM_UINT(graph_spec, paths_max, "paths", 64, 1, 64, "equal ways between two nodes that messages share, at most"),
    FABRIC_KEYS(graph_spec, "16", "packet", 32, 128),
};
static const ls_need needs[] = {
    { "encoding_percent", "framing=percent" },
    { "packet_*", "framing=packet" },
};
/* clang-format on */

/* --------------------------------------------------------------------------------------------------- links */

typedef struct words {
    char text[WORDS][FABRIC_NAME_BYTES];
    uint32_t count;
} words;

static ls_status split(const char *line, words *out, ls_error *err)
{
    out->count = 0;
    for (const char *s = line + strspn(line, " \t"); *s != '\0'; s += strspn(s, " \t")) {
        size_t bytes = strcspn(s, " \t");
        if (out->count == WORDS || bytes >= FABRIC_NAME_BYTES)
            return ls_fail(err, LS_ERR_INPUT, "fabric.links: '%s' is not 'NODE NODE GB/s [ns [count]]'", line);
        memcpy(out->text[out->count], s, bytes);
        out->text[out->count++][bytes] = '\0';
        s += bytes;
    }
    if (out->count < 3)
        return ls_fail(err, LS_ERR_INPUT, "fabric.links: '%s' is not 'NODE NODE GB/s [ns [count]]'", line);
    return LS_OK;
}

static const char *node_at(const void *self, size_t i)
{
    return ((const fabric_shape *)self)->nodes[i].name;
}

static ls_status find(const fabric_shape *shape, const char *line, const char *name, uint16_t *node,
                      ls_error *err)
{
    *node = fabric_find_node(shape, name);
    if (*node != UINT16_MAX)
        return LS_OK;
    ls_fail(err, LS_ERR_INPUT, "fabric.links: '%s': there is no node '%s'", line, name);
    return ls_error_nearest(err, nearest_name(name, shape->node_count, node_at, shape));
}

static ls_status number(const char *line, const char *text, const char *unit, ls_ratio *out, ls_error *err)
{
    ls_error reason;
    if (parse_ratio(text, strlen(text), out, &reason) != LS_OK || out->num > out->den * 100000 ||
        out->den > 1000000)
        return ls_fail(err, LS_ERR_INPUT, "fabric.links: '%s': '%s' is not a number of %s from 0 to 100000",
                       line, text, unit);
    return LS_OK;
}

static ls_status add(fabric_shape *shape, const graph_spec *spec, const char *line, ls_error *err)
{
    words w;
    uint64_t count = 1;
    fabric_link link = { .latency_ns = spec->link_latency_ns };
    ls_ratio gb;
    TRY(split(line, &w, err));
    TRY(find(shape, line, w.text[0], &link.a, err));
    TRY(find(shape, line, w.text[1], &link.b, err));
    TRY(number(line, w.text[2], "GB/s", &gb, err));
    if (gb.num == 0)
        return ls_fail(err, LS_ERR_INPUT, "fabric.links: '%s': a link of 0 GB/s carries nothing", line);
    link.bytes_per_second = ls_ratio_make(gb.num * GB, gb.den);
    if (w.count > 3)
        TRY(number(line, w.text[3], "ns", &link.latency_ns, err));
    if (w.count > 4 &&
        (parse_u64(w.text[4], strlen(w.text[4]), &count, NULL) != LS_OK || count == 0 || count > COUNT_MAX))
        return ls_fail(err, LS_ERR_INPUT, "fabric.links: '%s': the count is '%s', but must be from 1 to %u",
                       line, w.text[4], COUNT_MAX);
    link.count = (uint16_t)count;
    ls_status status = fabric_add_link(shape, &link, err);
    return status == LS_OK ? status : ls_error_prefix(err, "fabric.links: '%s'", line);
}

/* --------------------------------------------------------------------------------------------------- shape */

static ls_status shape_graph(fabric_shape *shape, const void *spec_, uint32_t gpus, bool has_host,
                             ls_error *err)
{
    const graph_spec *spec = spec_;
    (void)has_host;
    shape->routes = spec->routes == 0 ? FABRIC_UP_DOWN : FABRIC_SHORTEST;
    shape->paths_max = (uint32_t)spec->paths_max;
    for (uint32_t i = 0; i < gpus; i++)
        shape->nodes[i].forwards = spec->gpus_forward;
    for (size_t i = 0; i < spec->switches.count; i++) {
        const char *name = spec->switches.at[i];
        uint16_t node;
        if (strlen(name) >= FABRIC_NAME_BYTES || strpbrk(name, " \t-.") != NULL)
            return ls_fail(err, LS_ERR_INPUT,
                           "fabric.switches: '%s' is not a name: letters, digits and '_', up to %u", name,
                           FABRIC_NAME_BYTES - 1);
        ls_status status = fabric_add_switch(shape, name, spec->switch_latency_ns, &node, err);
        if (status != LS_OK)
            return ls_error_prefix(err, "fabric.switches");
    }
    for (size_t i = 0; i < spec->links.count; i++)
        TRY(add(shape, spec, spec->links.at[i], err));
    return LS_OK;
}

static ls_status build(ls_engine *engine, const void *spec, const ls_fabric_plan *plan, ls_error *err)
{
    return fabric_build(engine, &((const graph_spec *)spec)->keys, shape_graph, spec, plan, err);
}

static const ls_fabric_ops ops = { .build = build };
static const ls_port_decl ports[] = {
    { .name = LS_FABRIC_PORT, .interface = LS_FABRIC_INTERFACE, .ops = &ops },
};

static const ls_block_type graph_model = {
    .abi = LS_ABI_VERSION,
    .slot = LS_FABRIC_SLOT,
    .name = "graph",
    .help = "switches and links as the platform file lists them",
    LS_BLOCK_PARAMS(graph_spec, params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
};
LS_REGISTER_BLOCK(graph_model);

/* models.c: the models of slot `fabric` with a fixed shape: pcie, ring, full and switch. A graph of the user's own is
 * in graph.c. */
#include "model/fabric/models.h"

#include <stdio.h>

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

#define GIB UINT64_C(1073741824)
#define GB UINT64_C(1000000000)

const char *const fabric_framings[] = { "percent", "packet", NULL };
const char *const fabric_arbitrations[] = { "round-robin", "oldest", NULL };

static ls_ratio bytes_per_second(ls_ratio gb)
{
    return ls_ratio_make(gb.num * GB, gb.den);
}

/* A link of the host with each GPU, beside the fabric of the GPUs. */
static ls_status link_host(fabric_shape *shape, const fabric_host_keys *keys, uint32_t gpus, bool has_host,
                           ls_error *err)
{
    for (uint32_t i = 0; i < gpus && has_host; i++)
        TRY(fabric_add_link(shape,
                            &(fabric_link){ .a = (uint16_t)i,
                                            .b = (uint16_t)gpus,
                                            .count = 1,
                                            .bytes_per_second = bytes_per_second(keys->host_gb_s),
                                            .latency_ns = keys->host_latency_ns },
                            err));
    return LS_OK;
}

/* ---------------------------------------------------------------------------------------------------- pcie */

typedef struct pcie_spec {
    fabric_keys keys;
    uint64_t generation, lanes, gpus_per_switch;
    ls_ratio link_latency_ns, switch_latency_ns;
} pcie_spec;

/* clang-format off */
static const ls_param pcie_params[] = {
    LS_PARAM_UINT(pcie_spec, generation, "", 3, 1, 5, "generation of PCI Express"),
    LS_PARAM_UINT(pcie_spec, lanes, "lanes", 16, 1, 16, "lanes of a link"),
    LS_PARAM_UINT(pcie_spec, gpus_per_switch, "GPUs", 2, 1, 32, "GPUs at each switch; switches are joined by the root complex"),
    LS_PARAM_RATIO(pcie_spec, link_latency_ns, "link_latency_ns", "ns", "0", 0, 100000, "of a link, without switches"),
    LS_PARAM_RATIO(pcie_spec, switch_latency_ns, "switch_latency_ns", "ns", "140", 0, 100000, "of a switch and of the root complex"),
    FABRIC_KEYS(pcie_spec, "0", "percent", 24, 256),
};
/* clang-format on */

/* PCI Express in the way of MGPUSim (akita noc/networking/pcie): GiB/s of eight lanes. The encoding is in the share that
 * is added to each message. Packets instead have the real rates, less 8b/10b or 128b/130b. */
static ls_ratio pcie_rate(const pcie_spec *spec)
{
    static const uint64_t megatransfers[] = { 2500, 5000, 8000, 16000, 32000 };
    uint64_t g = spec->generation - 1;
    if (spec->keys.framing == FABRIC_PERCENT)
        return ls_ratio_make((UINT64_C(2) << g) * GIB * spec->lanes, 8);
    uint64_t bits = megatransfers[g] * 1000000 * spec->lanes;
    return g < 2 ? ls_ratio_make(bits * 8, UINT64_C(8) * 10) : ls_ratio_make(bits * 128, UINT64_C(8) * 130);
}

static ls_status pcie_shape(fabric_shape *shape, const void *spec_, uint32_t gpus, bool has_host,
                            ls_error *err)
{
    const pcie_spec *spec = spec_;
    fabric_link link = { .count = 1,
                         .bytes_per_second = pcie_rate(spec),
                         .latency_ns = spec->link_latency_ns };
    uint16_t root, node = 0;
    char name[FABRIC_NAME_BYTES];
    TRY(fabric_add_switch(shape, "root", spec->switch_latency_ns, &root, err));
    for (uint32_t i = 0; i < gpus; i++) {
        if (i % spec->gpus_per_switch == 0) {
            snprintf(name, sizeof name, "switch%u", i / (uint32_t)spec->gpus_per_switch);
            TRY(fabric_add_switch(shape, name, spec->switch_latency_ns, &node, err));
            link.a = node;
            link.b = root;
            TRY(fabric_add_link(shape, &link, err));
        }
        link.a = (uint16_t)i;
        link.b = node;
        TRY(fabric_add_link(shape, &link, err));
    }
    link.a = (uint16_t)gpus;
    link.b = root;
    return has_host ? fabric_add_link(shape, &link, err) : LS_OK;
}

/* ----------------------------------------------------------------------------------- ring, full and switch */

typedef struct direct_spec {
    fabric_keys keys;
    fabric_host_keys host;
    ls_ratio link_gb_s, link_latency_ns, switch_latency_ns;
    uint64_t links, planes;
} direct_spec;

/* clang-format off */
#define DIRECT_LINK(links_help_)                                                                              \
    LS_PARAM_RATIO(direct_spec, link_gb_s, "link_gb_s", "GB/s", "25", 0.001, 100000, "bandwidth of a link, each way"), \
    LS_PARAM_UINT(direct_spec, links, "links", 1, 1, 32, links_help_)
#define DIRECT_HOST                                                                                           \
    LS_PARAM_RATIO(direct_spec, host.host_gb_s, "host_gb_s", "GB/s", "16", 0.001, 100000, "bandwidth of the host's link with each GPU"), \
    LS_PARAM_RATIO(direct_spec, host.host_latency_ns, "host_latency_ns", "ns", "280", 0, 100000, "of the host's link with each GPU")
static const ls_param ring_params[] = {
    DIRECT_LINK("links between two neighbours"),
    LS_PARAM_RATIO(direct_spec, link_latency_ns, "link_latency_ns", "ns", "250", 0, 100000, "from one GPU to the next"),
    DIRECT_HOST,
    FABRIC_KEYS(direct_spec, "16", "packet", 32, 128),
};
static const ls_param full_params[] = {
    DIRECT_LINK("links between two GPUs"),
    LS_PARAM_RATIO(direct_spec, link_latency_ns, "link_latency_ns", "ns", "250", 0, 100000, "from one GPU to another"),
    DIRECT_HOST,
    FABRIC_KEYS(direct_spec, "16", "packet", 32, 128),
};
static const ls_param switch_params[] = {
    LS_PARAM_UINT(direct_spec, planes, "switches", 1, 1, 32, "switches, each joined with every GPU"),
    DIRECT_LINK("links of a GPU with each switch"),
    LS_PARAM_RATIO(direct_spec, link_latency_ns, "link_latency_ns", "ns", "100", 0, 100000, "between a GPU and a switch"),
    LS_PARAM_RATIO(direct_spec, switch_latency_ns, "switch_latency_ns", "ns", "100", 0, 100000, "of a switch"),
    DIRECT_HOST,
    FABRIC_KEYS(direct_spec, "16", "packet", 32, 128),
};
static const ls_need direct_needs[] = {
    { "host_*", "/host.model!=none" },
    { "encoding_percent", "framing=percent" },
    { "packet_*", "framing=packet" },
};
static const ls_need pcie_needs[] = {
    { "encoding_percent", "framing=percent" },
    { "packet_*", "framing=packet" },
};
/* clang-format on */

static fabric_link link_of(const direct_spec *spec, uint32_t a, uint32_t b)
{
    return (fabric_link){ .a = (uint16_t)a,
                          .b = (uint16_t)b,
                          .count = (uint16_t)spec->links,
                          .bytes_per_second = bytes_per_second(spec->link_gb_s),
                          .latency_ns = spec->link_latency_ns };
}

static ls_status ring_shape(fabric_shape *shape, const void *spec_, uint32_t gpus, bool has_host,
                            ls_error *err)
{
    const direct_spec *spec = spec_;
    shape->routes = FABRIC_RING;
    shape->ring = gpus;
    for (uint32_t i = 0; i < gpus && gpus > 1; i++) {
        fabric_link link = link_of(spec, i, (i + 1) % gpus);
        shape->nodes[i].forwards = true;
        if (gpus > 2 || i == 0)
            TRY(fabric_add_link(shape, &link, err));
    }
    return link_host(shape, &spec->host, gpus, has_host, err);
}

static ls_status full_shape(fabric_shape *shape, const void *spec_, uint32_t gpus, bool has_host,
                            ls_error *err)
{
    const direct_spec *spec = spec_;
    for (uint32_t i = 0; i < gpus; i++)
        for (uint32_t k = i + 1; k < gpus; k++) {
            fabric_link link = link_of(spec, i, k);
            TRY(fabric_add_link(shape, &link, err));
        }
    return link_host(shape, &spec->host, gpus, has_host, err);
}

static ls_status switch_shape(fabric_shape *shape, const void *spec_, uint32_t gpus, bool has_host,
                              ls_error *err)
{
    const direct_spec *spec = spec_;
    for (uint32_t p = 0; p < spec->planes; p++) {
        char name[FABRIC_NAME_BYTES];
        uint16_t node;
        snprintf(name, sizeof name, "plane%u", p);
        TRY(fabric_add_switch(shape, name, spec->switch_latency_ns, &node, err));
        for (uint32_t i = 0; i < gpus; i++) {
            fabric_link link = link_of(spec, i, node);
            TRY(fabric_add_link(shape, &link, err));
        }
    }
    return link_host(shape, &spec->host, gpus, has_host, err);
}

/* -------------------------------------------------------------------------------------------------- models */

static ls_status pcie_build(ls_engine *engine, const void *spec, const ls_fabric_plan *plan, ls_error *err)
{
    return fabric_build(engine, &((const pcie_spec *)spec)->keys, pcie_shape, spec, plan, err);
}

static ls_status ring_build(ls_engine *engine, const void *spec, const ls_fabric_plan *plan, ls_error *err)
{
    return fabric_build(engine, &((const direct_spec *)spec)->keys, ring_shape, spec, plan, err);
}

static ls_status full_build(ls_engine *engine, const void *spec, const ls_fabric_plan *plan, ls_error *err)
{
    return fabric_build(engine, &((const direct_spec *)spec)->keys, full_shape, spec, plan, err);
}

static ls_status switch_build(ls_engine *engine, const void *spec, const ls_fabric_plan *plan, ls_error *err)
{
    return fabric_build(engine, &((const direct_spec *)spec)->keys, switch_shape, spec, plan, err);
}

/* clang-format off */
#define MODEL(shape_, name_, spec_, needs_, help_)                                                            \
    static const ls_fabric_ops shape_##_ops = { .build = shape_##_build };                                    \
    static const ls_port_decl shape_##_ports[] = {                                                            \
        { .name = LS_FABRIC_PORT, .interface = LS_FABRIC_INTERFACE, .ops = &shape_##_ops },                   \
    };                                                                                                        \
    static const ls_block_type shape_##_model = {                                                             \
        .abi = LS_ABI_VERSION, .slot = LS_FABRIC_SLOT, .name = (name_), .help = (help_),                      \
        LS_BLOCK_PARAMS(spec_, shape_##_params),                                                              \
        .needs = needs_, .need_count = LS_COUNT_OF(needs_),                                                   \
        .ports = shape_##_ports, .port_count = LS_COUNT_OF(shape_##_ports),                                   \
    };                                                                                                        \
    LS_REGISTER_BLOCK(shape_##_model)

MODEL(pcie, "pcie", pcie_spec, pcie_needs, "PCI Express: a root complex, and switches with some GPUs each");
MODEL(ring, "ring", direct_spec, direct_needs, "links between neighbouring GPUs, which forward");
MODEL(full, "full", direct_spec, direct_needs, "a link between any two GPUs");
MODEL(switch, "switch", direct_spec, direct_needs, "every GPU is joined with every one of several switches");
/* clang-format on */

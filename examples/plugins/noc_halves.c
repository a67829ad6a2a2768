/* noc_halves.c: a network for a chip of two halves. A core reaches the memory partitions of its own half soon and those
 * of the other half late, over a bridge.
 *
 * It is built of links only, one for each pair of end points and direction: nothing in it needs simulating. */
#include "lockstep/noc.h"

#include <stdio.h>

typedef struct halves_spec {
    uint64_t near_latency_cycles, far_latency_cycles, credits;
} halves_spec;

/* The first half of the cores and the first half of the partitions share a half of the chip. */
static bool is_far(const ls_noc_plan *plan, uint32_t core, uint32_t memory)
{
    bool core_right = 2 * core >= plan->count[LS_NOC_CORES];
    bool memory_right = 2 * memory >= plan->count[LS_NOC_MEMORIES];
    return core_right != memory_right;
}

static ls_status halves_describe(const void *spec, const ls_noc_plan *plan, ls_noc_shape *out, ls_error *err)
{
    const halves_spec *s = spec;
    (void)err;
    for (uint32_t c = 0; c < plan->class_count; c++) {
        out->latency_cycles[c] = (uint32_t)(s->near_latency_cycles + s->far_latency_cycles) / 2;
        out->credits[c] = (uint32_t)s->credits;
        out->receive_max[c] = (uint32_t)s->credits * plan->count[plan->classes[c].from];
    }
    return LS_OK;
}

static ls_status connect(const halves_spec *s, const ls_noc_plan *plan, uint32_t c, uint32_t core,
                         uint32_t memory, ls_link **const *links, ls_error *err)
{
    bool request = plan->classes[c].from == LS_NOC_CORES;
    uint32_t from = request ? core : memory, to = request ? memory : core;
    const ls_noc_endpoint *sender = &plan->side[plan->classes[c].from][from];
    const ls_noc_endpoint *receiver = &plan->side[!plan->classes[c].from][to];
    uint64_t latency = is_far(plan, core, memory) ? s->far_latency_cycles : s->near_latency_cycles;
    char name[64];
    snprintf(name, sizeof name, "%s%s%u.%u", plan->prefix, plan->classes[c].name, from, to);
    return ls_link_create(plan->engine,
                          &(ls_link_spec){ .name = name,
                                           .from = sender->region,
                                           .to = receiver->region,
                                           .from_name = sender->name,
                                           .to_name = receiver->name,
                                           .latency_cycles = (uint32_t)latency,
                                           .credits = (uint32_t)s->credits,
                                           .payload_bytes = plan->classes[c].payload_bytes,
                                           .receive = receiver->receive,
                                           .receiver = receiver->receiver },
                          &links[c][from * plan->count[!plan->classes[c].from] + to], err);
}

static ls_status halves_build(const void *spec, const ls_noc_plan *plan, ls_link **const *links, ls_error *err)
{
    for (uint32_t core = 0; core < plan->count[LS_NOC_CORES]; core++)
        for (uint32_t memory = 0; memory < plan->count[LS_NOC_MEMORIES]; memory++)
            for (uint32_t c = 0; c < plan->class_count; c++) {
                ls_status status = connect(spec, plan, c, core, memory, links, err);
                if (status != LS_OK)
                    return status;
            }
    return LS_OK;
}

static const ls_noc_ops ops = { .describe = halves_describe, .build = halves_build };
static const ls_port_decl ports[] = { { .name = LS_NOC_PORT, .interface = LS_NOC_INTERFACE, .ops = &ops } };

static const ls_param params[] = {
    LS_PARAM_UINT(halves_spec, near_latency_cycles, "cycles", 80, 1, 2000, "inside a half, one way"),
    LS_PARAM_UINT(halves_spec, far_latency_cycles, "cycles", 140, 1, 2000, "to the other half, one way"),
    LS_PARAM_UINT(halves_spec, credits, "messages", 400, 1, 4096, "buffer entries of each pair"),
};

static const ls_block_type noc_halves = {
    .abi = LS_ABI_VERSION,
    .slot = LS_NOC_SLOT,
    .name = "halves",
    .help = "two halves of a chip with a bridge between them",
    .spec_size = sizeof(halves_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
};
LS_REGISTER_BLOCK(noc_halves);

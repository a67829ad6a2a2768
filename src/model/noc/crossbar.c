/* crossbar.c: the network `crossbar`: a link between each core and each memory partition, in each direction.
 *
 * Ports are limited at both ends: a core sends one request per cycle, an L2 slice takes and answers so many per
 * cycle. Inside, nothing is in the way of anything else. */
#include "base/text.h"
#include "lockstep/noc.h"

#include <string.h>

typedef struct crossbar_spec {
    uint64_t request_latency_cycles, reply_latency_cycles, credits;
} crossbar_spec;

static uint32_t latency_of(const crossbar_spec *spec, const ls_noc_class *c)
{
    return (uint32_t)(c->from == LS_NOC_CORES ? spec->request_latency_cycles : spec->reply_latency_cycles);
}

/* Enough for a message per cycle from one core to one partition, there and back. */
static uint32_t credits_of(const crossbar_spec *spec, const ls_noc_plan *plan)
{
    uint64_t round_trip = spec->request_latency_cycles + spec->reply_latency_cycles;
    return (uint32_t)(spec->credits != 0 ? spec->credits : round_trip + plan->spare_credits);
}

static ls_status crossbar_describe(const void *spec, const ls_noc_plan *plan, ls_noc_shape *out, ls_error *err)
{
    (void)err;
    for (uint32_t c = 0; c < plan->class_count; c++) {
        out->latency_cycles[c] = latency_of(spec, &plan->classes[c]);
        out->credits[c] = credits_of(spec, plan);
        out->receive_max[c] = credits_of(spec, plan) * plan->count[plan->classes[c].from];
    }
    return LS_OK;
}

/* "gpu0.request3.12". There are thousands of links: the part that stays is written once. */
typedef struct link_name {
    char text[96];
    char *number; /* where the numbers begin */
} link_name;

static ls_status connect(const crossbar_spec *spec, const ls_noc_plan *plan, const ls_noc_class *c,
                         link_name *name, uint32_t from, uint32_t to, ls_link **link, ls_error *err)
{
    const ls_noc_endpoint *sender = &plan->side[c->from][from], *receiver = &plan->side[!c->from][to];
    char *end = format_uint(name->number, from);
    *end++ = '.';
    format_uint(end, to);
    return ls_link_create(plan->engine,
                          &(ls_link_spec){ .name = name->text,
                                           .from = sender->region,
                                           .to = receiver->region,
                                           .from_name = sender->name,
                                           .to_name = receiver->name,
                                           .latency_cycles = latency_of(spec, c),
                                           .credits = credits_of(spec, plan),
                                           .payload_bytes = c->payload_bytes,
                                           .receive = receiver->receive,
                                           .receiver = receiver->receiver },
                          link, err);
}

static ls_status crossbar_build(const void *spec, const ls_noc_plan *plan, ls_link **const *links,
                                ls_error *err)
{
    link_name names[LS_NOC_CLASSES_MAX];
    for (uint32_t c = 0; c < plan->class_count; c++)
        names[c].number = stpcpy(stpcpy(names[c].text, plan->prefix), plan->classes[c].name);
    for (uint32_t i = 0; i < plan->count[LS_NOC_CORES]; i++)
        for (uint32_t k = 0; k < plan->count[LS_NOC_MEMORIES]; k++)
            for (uint32_t c = 0; c < plan->class_count; c++) {
                const ls_noc_class *class = &plan->classes[c];
                uint32_t from = class->from == LS_NOC_CORES ? i : k, to = class->from == LS_NOC_CORES ? k : i;
                ls_link **link = &links[c][(size_t)from * plan->count[!class->from] + to];
                ls_status status = connect(spec, plan, class, &names[c], from, to, link, err);
                if (status != LS_OK)
                    return status;
            }
    return LS_OK;
}

static const ls_noc_ops ops = { .describe = crossbar_describe, .build = crossbar_build };

/* clang-format off */
static const ls_param params[] = {
    LS_PARAM_UINT(crossbar_spec, request_latency_cycles, "cycles", 90, 1, 2000,
                  "from a core to a memory partition, in core cycles"),
    LS_PARAM_UINT(crossbar_spec, reply_latency_cycles, "cycles", 90, 1, 2000,
                  "from a memory partition to a core, in L2 cycles"),
    LS_PARAM_UINT(crossbar_spec, credits, "messages", 0, 0, 4096,
                  "buffer entries per core and partition, in each direction; 0: those of a round trip and some more"),
};
/* clang-format on */

static const ls_port_decl ports[] = { { .name = LS_NOC_PORT, .interface = LS_NOC_INTERFACE, .ops = &ops } };

static const ls_block_type noc_crossbar = {
    .abi = LS_ABI_VERSION,
    .slot = LS_NOC_SLOT,
    .name = "crossbar",
    .help = "a link between each core and each memory partition",
    .spec_size = sizeof(crossbar_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
};
LS_REGISTER_BLOCK(noc_crossbar);

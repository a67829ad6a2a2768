/* crossbar.c: the network `crossbar`: a link between each core and each memory partition, in each direction.
 *
 * Ports are limited at both ends: a core sends one request per cycle, an L2 slice takes and answers so many per
 * cycle. Inside, nothing is in the way of anything else. */
#include "lockstep/noc.h"

#include <stdio.h>
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

/* There are thousands of links, and printf takes as long as all else about one. */
static char *put_number(char *at, uint32_t number)
{
    char digits[10];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

static ls_status connect(const crossbar_spec *spec, const ls_noc_plan *plan, const ls_noc_class *c,
                         uint32_t from, uint32_t to, ls_link **link, ls_error *err)
{
    const ls_noc_endpoint *sender = &plan->side[c->from][from], *receiver = &plan->side[!c->from][to];
    char name[96];
    char *end = put_number(stpcpy(stpcpy(name, plan->prefix), c->name), from);
    *end++ = '.';
    *put_number(end, to) = 0;
    return ls_link_create(plan->engine,
                          &(ls_link_spec){ .name = name,
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
    for (uint32_t i = 0; i < plan->count[LS_NOC_CORES]; i++)
        for (uint32_t k = 0; k < plan->count[LS_NOC_MEMORIES]; k++)
            for (uint32_t c = 0; c < plan->class_count; c++) {
                const ls_noc_class *class = &plan->classes[c];
                uint32_t from = class->from == LS_NOC_CORES ? i : k, to = class->from == LS_NOC_CORES ? k : i;
                ls_link **link = &links[c][(size_t)from * plan->count[!class->from] + to];
                ls_status status = connect(spec, plan, class, from, to, link, err);
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

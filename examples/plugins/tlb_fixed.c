/* tlb_fixed.c: translation that takes the same time for every request and never misses. It wires each requester to
 * the cache itself and says how much later its requests count: no function of this file runs in the simulation. */
#include "lockstep/tlb.h"

typedef struct spec {
    uint64_t latency_cycles;
} spec;

typedef struct state {
    const spec *spec;
    ls_block *cache;
} state;

static ls_status attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                        ls_error *err)
{
    state *s = self;
    ls_status status = ls_line_join(s->cache, ops, client, out, err);
    if (status == LS_OK && out->ops->delay == NULL)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "'%s' cannot delay requests, which tlb.model 'fixed' needs",
                       ls_block_name(s->cache));
    if (status == LS_OK)
        out->ops->delay(out->self, out->client, (uint32_t)s->spec->latency_cycles);
    return status;
}

static ls_status set_below(void *self, ls_block *cache, ls_error *err)
{
    (void)err;
    ((state *)self)->cache = cache;
    return LS_OK;
}

/* No questions: the machine builds no MMU for it. */
static void describe(const void *self, ls_tlb_shape *out)
{
    (void)self;
    *out = (ls_tlb_shape){ .questions = 0 };
}

static void set_mmu(void *self, ls_link *link)
{
    (void)self, (void)link;
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self, (void)payload, (void)now;
    ls_link_release(link, 1);
}

static void discard(void *self, uint64_t address, uint64_t bytes)
{
    (void)self, (void)address, (void)bytes;
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    (void)block, (void)err;
    ((state *)self)->spec = from_platform;
    return LS_OK;
}

static const ls_param params[] = {
    LS_PARAM_UINT(spec, latency_cycles, "cycles", 4, 0, 1000, "of every translation"),
};
static const ls_line_memory_ops memory_ops = { .attach = attach };
/* Without set_shootdowns(): a system whose pages migrate refuses it by name. */
static const ls_tlb_ops tlb_ops = {
    .set_below = set_below, .describe = describe, .set_mmu = set_mmu, .receive = receive, .discard = discard
};
static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &memory_ops },
    { .name = LS_TLB_PORT, .interface = LS_TLB_INTERFACE, .ops = &tlb_ops },
};
static const ls_block_type tlb_fixed = {
    .abi = LS_ABI_VERSION,
    .slot = LS_TLB_SLOT,
    .name = "fixed",
    .help = "every translation takes the same time",
    .spec_size = sizeof(spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .state_size = sizeof(state),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = init,
};
LS_REGISTER_BLOCK(tlb_fixed);

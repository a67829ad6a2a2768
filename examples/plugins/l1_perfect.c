/* l1_perfect.c: an L1 in which every load hits. Stores pass through to L2, one queue entry each. It shows how much time
 * a kernel loses to L1 misses. One file: built in or loaded with --plugin, nothing else changes. */
#include "lockstep/l1.h"

typedef struct spec {
    uint64_t banks, latency_cycles, store_queue;
} spec;

typedef struct counters {
    uint64_t loads, stores, full;
} counters;

typedef struct state {
    const spec *spec;
    ls_domain *domain;
    ls_l1_request *ring; /* stores that wait to be sent, oldest first */
    uint32_t first, count;
    counters n;
} state;

static void describe(const void *self, ls_l1_shape *out)
{
    const spec *s = ((const state *)self)->spec;
    *out = (ls_l1_shape){ .banks = (uint32_t)s->banks, .latency_cycles = (uint32_t)s->latency_cycles };
}

static ls_status attach(void *self, const ls_l1_wiring *wiring, ls_error *err)
{
    state *s = self;
    (void)wiring; /* its size does not matter */
    s->ring = ls_domain_alloc(s->domain, s->spec->store_queue * sizeof *s->ring);
    return s->ring != NULL ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for L1");
}

static ls_l1_outcome look_up(void *self, const ls_l1_access *access, ls_cycle now)
{
    state *s = self;
    (void)now;
    if (!access->store) {
        s->n.loads++;
        return LS_L1_HIT;
    }
    if (s->count == s->spec->store_queue) {
        s->n.full++;
        return LS_L1_FAIL;
    }
    s->n.stores++;
    s->ring[(s->first + s->count++) % s->spec->store_queue] = (ls_l1_request){ .address = access->address,
                                                                               .byte_mask = access->byte_mask,
                                                                               .token = access->token,
                                                                               .write = true,
                                                                               .global = access->global };
    return LS_L1_MISS;
}

static bool request(void *self, ls_l1_request *out, ls_cycle now)
{
    state *s = self;
    (void)now;
    if (s->count == 0)
        return false;
    *out = s->ring[s->first];
    s->first = (uint32_t)((s->first + 1) % s->spec->store_queue);
    s->count--;
    return true;
}

/* It reads nothing, so that no load waits. */
static void fill(void *self, uint64_t address, ls_cycle now)
{
    (void)self;
    (void)address;
    (void)now;
}

/* The table declares it so: NOLINTNEXTLINE(readability-non-const-parameter) */
static bool answer(void *self, uint32_t *token, ls_cycle now)
{
    (void)self;
    (void)token;
    (void)now;
    return false;
}

static ls_cycle next(const void *self, ls_cycle now)
{
    return ((const state *)self)->count > 0 ? now + 1 : LS_CYCLE_MAX;
}

static void begin(void *self, uint64_t shared_bytes)
{
    (void)self;
    (void)shared_bytes;
}

static void end(void *self)
{
    (void)self;
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    state *s = self;
    (void)err;
    s->spec = from_platform;
    s->domain = ls_region_domain(ls_block_region(block));
    return LS_OK;
}

static const ls_param params[] = {
    LS_PARAM_UINT(spec, banks, "", 4, 1, LS_L1_BANKS, "banks, by 32-byte sectors"),
    LS_PARAM_UINT(spec, latency_cycles, "cycles", 20, 1, LS_L1_LATENCY, "from the unit to the data"),
    LS_PARAM_UINT(spec, store_queue, "requests", 16, 1, 1024, "stores waiting to be sent"),
};
static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(counters, loads, "sectors", "sectors of loads"),
    LS_METRIC_COUNTER(counters, stores, "sectors", "sectors of stores"),
    LS_METRIC_COUNTER(counters, full, "tries", "a store found the queue full"),
};
static const ls_l1_ops ops = { .describe = describe,
                               .attach = attach,
                               .access = look_up,
                               .request = request,
                               .fill = fill,
                               .answer = answer,
                               .next = next,
                               .begin = begin,
                               .end = end };
static const ls_port_decl ports[] = { { .name = LS_L1_PORT, .interface = LS_L1_INTERFACE, .ops = &ops } };

static const ls_block_type l1_perfect = {
    .abi = LS_ABI_VERSION,
    .slot = LS_L1_SLOT,
    .name = "perfect",
    .help = "every load hits; stores pass through",
    LS_BLOCK_PARAMS(spec, params),
    LS_BLOCK_STATE(state, n, metrics, ports),
    .init = init,
};
LS_REGISTER_BLOCK(l1_perfect);

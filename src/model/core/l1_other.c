/* l1_other.c: the L1 of a core behind its table of functions. The core counts accesses of other models than the
 * built-in one by their outcomes, and checks their tokens: a model that makes one up ends the run with one line. */
#include "model/core/l1.h"

static const ls_l1_ops *ops_of(const core *c)
{
    return c->ldst.l1_port.ops;
}

ls_status l1_attach(core *c, ls_error *err)
{
    const core_spec *spec = c->spec;
    const ls_l1_wiring wiring = { .shared_kib = spec->shared_kib,
                                  .unified_kib = spec->unified_kib,
                                  .shared_options_kib = spec->shared_options_kib };
    l1_sectored *built_in = l1_built_in(&c->ldst.l1_port);
    ls_l1_shape shape = { 0 };
    if (built_in != NULL) {
        built_in->counters = &c->n.l1;
        c->ldst.l1 = &built_in->cache;
    }
    ls_status status = ops_of(c)->attach(c->ldst.l1_port.self, &wiring, err);
    if (status != LS_OK)
        return ls_error_prefix(err, "%s", c->name);
    ops_of(c)->describe(c->ldst.l1_port.self, &shape);
    if (shape.banks < 1 || shape.banks > LS_L1_BANKS || shape.latency_cycles < 1 ||
        shape.latency_cycles > LS_L1_LATENCY)
        return ls_fail(
            err, LS_ERR_INPUT,
            "%s: the model of slot 'core.l1' has %u banks and a latency of %u cycles, it must have 1 to "
            "%d banks and 1 to %d cycles",
            c->name, shape.banks, shape.latency_cycles, LS_L1_BANKS, LS_L1_LATENCY);
    c->ldst.l1_banks = shape.banks;
    c->ldst.l1_latency_cycles = shape.latency_cycles;
    for (uint32_t i = 0; i < c->ldst.l1_banks; i++) {
        ring_init(&c->ldst.banks[i].ring, c->ldst.l1_latency_cycles);
        c->ldst.banks[i].last_in = LS_CYCLE_MAX;
        c->ldst.banks[i].at =
            ls_domain_alloc(c->domain, ring_size_for(c->ldst.l1_latency_cycles) * sizeof(l1_access));
        if (c->ldst.banks[i].at == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for core '%s'", c->name);
    }
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- accesses */

static bool known_load(core *c, uint32_t token)
{
    if (token < CORE_FLIGHTS && c->flights.at[token].requests > 0)
        return true;
    ls_domain_fail(c->domain, "the model of slot 'core.l1' answered a load that does not wait");
    return false;
}

static bool known_store(core *c, uint32_t token)
{
    uint32_t warp = token & STORE_WARP;
    if ((token & STORE_TOKEN) != 0 && warp < c->spec->warp_slots && c->front.warps[warp].stores > 0)
        return true;
    ls_domain_fail(c->domain, "the model of slot 'core.l1' sent a store that no warp made");
    return false;
}

static void count(sector_cache_counters *n, const l1_access *access, bool hit)
{
    sector_cache_split *split = access->global ? &n->global : &n->other;
    n->accesses++;
    if (access->write) {
        n->writes++;
        *(hit ? &split->write_hits : &split->write_misses) += 1;
    } else {
        n->reads++;
        *(hit ? &split->read_hits : &split->read_misses) += 1;
    }
    *(hit ? &n->hits : &n->misses) += 1;
}

sector_cache_outcome l1_other_access(core *c, const l1_access *access, uint32_t token)
{
    const ls_l1_access sector = { .address = access->address,
                                  .byte_mask = access->byte_mask,
                                  .token = token,
                                  .store = access->write,
                                  .global = access->global };
    ls_l1_outcome outcome = ops_of(c)->access(c->ldst.l1_port.self, &sector, c->now);
    if (outcome == LS_L1_FAIL) {
        c->n.l1.fail_queue++;
        return SECTOR_CACHE_FAIL;
    }
    if (outcome != LS_L1_HIT && outcome != LS_L1_MISS) {
        ls_domain_fail(c->domain, "the model of slot 'core.l1' returned no outcome of an access");
        return SECTOR_CACHE_FAIL;
    }
    count(&c->n.l1, access, outcome == LS_L1_HIT);
    return outcome == LS_L1_HIT ? SECTOR_CACHE_HIT : SECTOR_CACHE_MISS;
}

bool l1_other_request(core *c, ls_l1_request *out)
{
    if (!ops_of(c)->request(c->ldst.l1_port.self, out, c->now))
        return false;
    return out->token == LS_L1_NONE || (out->write ? known_store(c, out->token) : known_load(c, out->token));
}

void l1_other_fill(core *c, uint64_t address)
{
    c->n.l1.fills++;
    ops_of(c)->fill(c->ldst.l1_port.self, address, c->now);
}

bool l1_other_answer(core *c, uint32_t *token)
{
    if (!ops_of(c)->answer(c->ldst.l1_port.self, token, c->now) || !known_load(c, *token))
        return false;
    flight_came_from(c, *token, LS_SECTOR_L2); /* its table does not say from where */
    return true;
}

ls_cycle l1_other_next(const core *c)
{
    ls_cycle next = ops_of(c)->next(c->ldst.l1_port.self, c->now);
    return next <= c->now ? c->now + 1 : next;
}

/* ------------------------------------------------------------------------------------------ thread blocks */

void l1_begin_block(core *c, uint64_t shared_bytes)
{
    ops_of(c)->begin(c->ldst.l1_port.self, shared_bytes);
}

void l1_end_blocks(core *c)
{
    ops_of(c)->end(c->ldst.l1_port.self);
}

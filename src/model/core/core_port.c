/* core_port.c: the tables of functions by which the rest of the machine knows the core: lockstep/core.h, and
 * the one for profiles (core_api.h). */
#include "engine/link_receiver.h"
#include "model/core/cga.h"
#include "model/core/flow.h"
#include "model/core/formula.h"
#include "model/core/options_state.h"
#include "model/core/l1.h"

#include <string.h>

static uint64_t interval(const core_spec *spec, uint32_t class_)
{
    uint64_t cycles = spec->classes[class_].interval_cycles;
    return cycles > 0 ? cycles : 1;
}

/* Where memory is a formula, warps run ahead of messages. */
static inline bool has_clusters(const core *c)
{
    return c->flow == NULL || c->flow->simulated != NULL;
}

static void describe(const void *self, ls_core_shape *out)
{
    const core *c = self;
    const core_spec *spec = c->spec;
    *out = (ls_core_shape){ .capacity = { .warp_slots = spec->warp_slots,
                                          .cta_slots = spec->cta_slots,
                                          .registers = spec->registers,
                                          .shared_bytes = spec->shared_kib * 1024,
                                          .register_unit = spec->register_unit },
                            .sends_no_requests = spec->analytic.memory == ANALYTIC_ON,
                            .wants_blocks_ahead = c->flow != NULL && c->analytic != NULL,
                            .sub_cores = (uint32_t)spec->sub_cores,
                            .half_interval = interval(spec, LS_CLASS_half),
                            .single_interval = interval(spec, LS_CLASS_fp32),
                            .double_interval = interval(spec, LS_CLASS_fp64),
                            .cluster_bytes = has_clusters(c) ? (uint32_t)sizeof(cga_message) : 0 };
}

static ls_status attach(void *self, const ls_core_wiring *wiring, ls_error *err)
{
    core *c = self;
    c->id = wiring->id;
    c->ldst.core_count = wiring->core_count;
    c->ldst.map = *wiring->map;
    c->blocks.to_dispatch = wiring->to_dispatch;
    c->blocks.launches = wiring->launches;
    c->front.scheduler_kind = scheduler_kind_of(&c->front.scheduler);
    c->ldst.to_memory = ls_domain_alloc(c->domain, (wiring->channels + 1) * sizeof(ls_link *));
    ring_init(&c->ldst.reply_ring, wiring->replies_max);
    c->ldst.replies = ls_domain_alloc(c->domain, ring_size_for(wiring->replies_max) * sizeof *c->ldst.replies);
    if (c->ldst.to_memory == NULL || c->ldst.replies == NULL || !banks_init(c, wiring->kernel_slots) ||
        (wiring->refill_cycles > 0 && !ahead_init(c, wiring->refill_cycles)))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for core '%s'", c->name);
    if (wiring->channels > 0)
        memcpy(c->ldst.to_memory, wiring->to_memory, wiring->channels * sizeof(ls_link *));
    c->ldst.channels = wiring->channels;
    c->ldst.to_memory[wiring->channels] = wiring->to_peer;
    c->ldst.owners = wiring->owners;
    c->ldst.half_channels = wiring->half_channels;
    c->ldst.half = wiring->half;
    c->ldst.remote_in_l2 = wiring->remote_in_l2;
    if (wiring->remote_in_l2 && wiring->to_peer != NULL && !fences_init(c))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for core '%s'", c->name);
    if (wiring->to_cores != NULL && has_clusters(c) &&
        !cga_init(c, wiring->to_cores, wiring->core_count, wiring->cluster_width))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for core '%s'", c->name);
    async_attach(c);
    if (c->async != NULL && wiring->lines)
        tma_use_lines(c);
    ls_status status = link_receiver_frees(ls_domain_engine(c->domain), ldst_receive, err);
    return status == LS_OK ? l1_attach(c, err) : status;
}

static bool take_kernel(void *self, uint32_t slot, void *counters, size_t bytes)
{
    return banks_take(self, slot, counters, bytes);
}

static void work(const void *self, ls_core_work *out)
{
    const core *c = self;
    *out = (ls_core_work){ .flops_half = c->n.flops[FLOPS_HALF],
                           .flops_single = c->n.flops[FLOPS_SINGLE],
                           .flops_double = c->n.flops[FLOPS_DOUBLE],
                           .flops_tensor = c->n.flops[FLOPS_TENSOR],
                           .tensor_cycles = c->n.tensor_cycles,
                           .expected_dram_sectors = c->n.analytic.dram_sectors };
}

const ls_core_ops core_ops = { .describe = describe,
                               .attach = attach,
                               .receive_launch = cta_receive,
                               .receive_reply = ldst_receive,
                               .take_kernel = take_kernel,
                               .work = work,
                               .receive_cluster = cga_receive };

/* --------------------------------------------------------------------------------------------- for profiles */

static bool get_l1(const void *self, uint64_t shared_bytes, core_l1 *out)
{
    const core *c = self;
    const l1_sectored *l1 = l1_built_in(&c->ldst.l1_port);
    if (l1 == NULL)
        return false;
    *out = (core_l1){ .cache = l1->cache_spec,
                      .banks = c->ldst.l1_banks,
                      .latency_cycles = c->ldst.l1_latency_cycles,
                      .flush = l1->spec->flush,
                      .accelsim_rules = c->spec->accelsim_rules };
    out->cache.ways = l1_ways(l1->spec, &l1->wiring, shared_bytes);
    return true;
}

static uint32_t network_width(const void *self)
{
    return (uint32_t)((const core *)self)->spec->network_width;
}

static bool guesses_time(const void *self, const ls_inst *inst)
{
    const core *c = self;
    tensor_cost cost;
    bool rates = false;
    for (uint32_t type = 0; type < LS_TENSOR_TYPES; type++)
        rates |= c->spec->tensor.fma[type] != 0;
    return rates && ls_inst_is_tensor(inst) && !tensor_cost_of(&c->pipes.tensor, inst, &cost);
}

static bool models(const void *self, const ls_inst *inst)
{
    const core *c = self;
    if (async_models(c, inst))
        return true;
    if (cga_completes(inst))
        return cga_is_on(c) && c->options.cga->hooks != NULL;
    if ((inst->flags & LS_INST_ASYNC_OP) == 0)
        return false;
    switch (inst->async_op) {
    case LS_ASYNC_CLUSTER_ARRIVE:
    case LS_ASYNC_CLUSTER_WAIT:
        return cga_is_on(c);
    case LS_ASYNC_GROUP_ARRIVE: /* all warps of a group wait for each other in the units */
    case LS_ASYNC_GROUP_WAIT:
    case LS_ASYNC_SET_REGISTERS:
        return c->options.wgmma != NULL;
    case LS_ASYNC_DEPENDENTS:
    case LS_ASYNC_DEPENDS:
        return c->options.wgmma != NULL || (c->flow != NULL && flow_has_warp_op(c, inst));
    default:
        return false;
    }
}

static bool drops_async(const void *self)
{
    const core *c = self;
    return c->spec->async.model == ASYNC_CYCLE && c->async == NULL;
}

static bool counts_instructions(const void *self)
{
    return ((const core *)self)->flow == NULL;
}

static void set_machine(void *self, const rates_machine *machine)
{
    analytic_set_machine(self, machine);
}

static void get_machine(const void *self, rates_machine *out)
{
    *out = ((const core *)self)->analytic->machine;
}

const core_profile_ops core_profile = { .l1 = get_l1,
                                        .network_width = network_width,
                                        .guesses_time = guesses_time,
                                        .models = models,
                                        .drops_async = drops_async,
                                        .counts_instructions = counts_instructions,
                                        .set_machine = set_machine,
                                        .machine = get_machine };

/* flow_inst.c: static instructions as flow.c needs them, and the counters per static instruction. May touch
 * its core only. */
#include "model/core/flow.h"

#include <string.h>

/* Counters per instruction follow from the number of issues of each static one. */
static void count_uses(core *c, flow_inst *d)
{
    c->n.by_class[d->class_] += d->uses;
    c->n.register_reads += d->uses * d->read_count;
    c->n.register_bank_waits += d->uses * d->read_waits;
    c->n.unknown_opcodes += d->uses * d->unknown;
    c->n.flops[d->flops_kind] += d->flops * (d->uses * 32 - d->missing);
    c->n.tensor_cycles += d->flops_kind == FLOPS_TENSOR && d->flops != 0 ? d->uses * d->interval : 0;
    d->uses = d->missing = 0;
}

/* The same for the kernel that the instruction belongs to; returns whom to count for afterwards. */
static uint32_t count_for_kernel(core *c, const flow_inst *d)
{
    return LS_UNLIKELY(c->kernel_banks != NULL) ? banks_count_for_number(c, (uint32_t)(d->key >> 32) - 1) : 0;
}

static void count_again_for(core *c, uint32_t before)
{
    if (LS_UNLIKELY(c->kernel_banks != NULL))
        banks_count_for(c, before);
}

void flow_count_uses(core *c)
{
    flow *f = c->flow;
    uint64_t kernel = UINT64_MAX;
    uint32_t before = 0;
    for (uint32_t i = 0; i < f->insts_used; i++) {
        flow_inst *d = &f->insts[i];
        if (d->uses == 0)
            continue;
        if (d->key >> 32 != kernel) {
            uint32_t counting = count_for_kernel(c, d);
            before = kernel == UINT64_MAX ? counting : before;
            kernel = d->key >> 32;
        }
        count_uses(c, d);
    }
    if (kernel != UINT64_MAX)
        count_again_for(c, before);
}

void flow_forget(core *c)
{
    flow *f = c->flow;
    flow_count_uses(c);
    for (uint32_t i = 0; i < f->insts_used; i++)
        f->insts[i].key = 0;
    f->insts_used = 0;
}

/* Adds the registers from `reg` to `end`, each once, to reg[], which has `count` already. Returns how many it has then;
 * FLOW_WIDE: they do not all fit. */
static inline uint32_t add_registers(const core *c, flow_inst *d, uint32_t count, uint32_t reg, uint32_t end)
{
    if (constant_register(c, reg) || LS_UNLIKELY(count == FLOW_WIDE))
        return count;
    for (; reg < end; reg++) {
        uint16_t place = (uint16_t)flow_place(reg);
        bool again = false;
        for (uint32_t i = 0; i < count; i++)
            again |= d->reg[i] == place;
        if (again)
            continue;
        if (LS_UNLIKELY(count >= FLOW_REGISTERS))
            return FLOW_WIDE;
        d->reg[count++] = place;
    }
    return count;
}

/* The first four are looked at in any case. */
static inline void no_registers(flow_inst *d)
{
    d->reg[0] = d->reg[1] = d->reg[2] = d->reg[3] = (uint16_t)flow_place(FLOW_NO_REGISTER);
}

static void set_registers(const core *c, flow_inst *d, const ls_inst *inst)
{
    bool spans = c->spec->track_spans;
    uint32_t count = 0;
    no_registers(d);
    for (uint32_t i = 0; i < inst->dst_count; i++)
        count = add_registers(c, d, count, inst->dst[i], inst_dst_end(inst, i, spans));
    uint32_t written = count;
    for (uint32_t i = 0; i < inst->src_count; i++)
        count = add_registers(c, d, count, inst->src[i], inst_src_end(inst, i, spans));
    if (LS_UNLIKELY(count == FLOW_WIDE)) {
        no_registers(d);
        written = FLOW_WIDE;
    }
    d->result = (uint16_t)(written > 0 && count != FLOW_WIDE ? d->reg[0] : flow_place(FLOW_NO_RESULT));
    d->registers = (uint8_t)count;
    d->written = (uint8_t)written;
}

/* The work of the register banks for the instruction. */
static void set_banks(const core *c, flow_inst *d, const ls_inst *inst)
{
    const flow *f = c->flow;
    uint8_t reads[CORE_BANKS_MAX] = { 0 };
    uint32_t written = 0, most = 0, busiest = 0;
    for (uint32_t i = 0; i < inst->src_count; i++)
        if (!inst_src_again(inst, i))
            reads[reg_bank(inst->src[i], 0, f->banks)]++;
    for (uint32_t i = 0; i < inst->dst_count; i++)
        written |= 1u << reg_bank(inst->dst[i], 0, f->banks);
    for (uint32_t b = 0; b < f->banks; b++) {
        uint32_t all = reads[b] + (d->unit == UNIT_memory ? 0 : written >> b & 1u);
        most = reads[b] > most ? reads[b] : most;
        busiest = all > busiest ? all : busiest;
        d->read_count = (uint8_t)(d->read_count + reads[b]);
        d->read_waits = (uint8_t)(d->read_waits + (reads[b] > 1 ? reads[b] - 1 : 0));
    }
    d->front = (uint8_t)(1 + (most + 1) / f->steps);
    d->port = (uint8_t)((busiest << f->port_shift) / f->steps); /* the banks work side by side */
    d->read_port = (uint8_t)((most << f->port_shift) / f->steps);
}

static void set_memory(const core *c, flow_inst *d, const rates_kernel *rates)
{
    const ls_inst *inst = d->inst;
    bool atomic = inst->mem_op == LS_MEM_ATOMIC || inst->mem_op == LS_MEM_REDUCTION;
    d->rate = rates == NULL ? NULL : rates_of(rates, inst->pc);
    d->space = ls_inst_reduces_generic(inst) ? LS_SPACE_GENERIC : inst->space; /* ldst_space() decides */
    d->width = (uint8_t)inst_width(c, inst);
    d->load = inst->mem_op != LS_MEM_STORE;
    d->bypass = analytic_bypasses(c, inst);
    d->plain_lanes = !atomic && inst->mem_op != LS_MEM_NONE && inst->space != LS_SPACE_SHARED &&
                     inst->space != LS_SPACE_LOCAL && inst->space != LS_SPACE_GENERIC;
}

void flow_decode(core *c, flow_inst *d, const core_launch *launch, uint32_t place, uint64_t key)
{
    flow *f = c->flow;
    const ls_inst *inst = &launch->insts[place];
    const tensor_cost cost = core_cost(c, inst);
    if (d->uses != 0) {
        uint32_t before = count_for_kernel(c, d);
        count_uses(c, d);
        count_again_for(c, before);
    }
    uint32_t index = (uint32_t)(d - f->insts), unit = c->spec->classes[inst->class_].unit;
    f->insts_used = index < f->insts_used ? f->insts_used : index + 1;
    uint64_t forward =
        c->spec->forward_cycles < cost.latency + 2u ? c->spec->forward_cycles : cost.latency + 1u;
    *d = (flow_inst){ .key = key,
                      .inst = inst,
                      .interval = (uint16_t)cost.interval,
                      .delay = (uint16_t)(cost.latency + 2u - forward),
                      .unit = (uint8_t)unit,
                      .unit_bit = 1u << unit,
                      .effects =
                          (front_has_effects(inst, false) &&
                           (c->async != NULL || (inst->flags & (LS_INST_MBARRIER | LS_INST_BULK)) == 0)) ||
                          flow_has_warp_op(c, inst),
                      .jumps = inst->class_ == LS_CLASS_branch && c->spec->branch_cycles > 1,
                      .unknown = (inst->flags & LS_INST_UNKNOWN) != 0,
                      .class_ = inst->class_,
                      .flops_kind = (uint8_t)flops_kind(inst),
                      .flops = (uint16_t)ls_inst_flops(inst),
                      .partial_missing = 32 };
    set_registers(c, d, inst);
    if (unit == UNIT_memory)
        set_memory(c, d, launch->rates);
    d->plain = unit != UNIT_memory && !d->effects && !d->jumps && d->registers <= 4 && d->written <= 1 &&
               d->class_ != LS_CLASS_tensor_group;
    set_banks(c, d, inst);
    /* Of the load/store unit it is not the time that counts but who is in front (flow_issue.c). */
    d->held = (uint16_t)(unit == UNIT_memory ? UINT16_MAX : d->front + (f->collectors + 1) * d->interval);
}

ls_cycle flow_wide_ready(const core *c, uint32_t warp, const ls_inst *inst)
{
    const ls_cycle *ready = flow_registers(c->flow, warp);
    bool spans = c->spec->track_spans;
    ls_cycle need = 0;
    for (uint32_t i = 0; i < inst->src_count; i++)
        for (uint32_t reg = inst->src[i], end = inst_src_end(inst, i, spans); reg < end; reg++)
            need = flow_later(need, ready[flow_place(reg)]);
    for (uint32_t i = 0; i < inst->dst_count; i++)
        for (uint32_t reg = inst->dst[i], end = inst_dst_end(inst, i, spans); reg < end; reg++)
            need = flow_later(need, ready[flow_place(reg)]);
    return need;
}

void flow_wide_results(core *c, uint32_t warp, const ls_inst *inst, ls_cycle done)
{
    ls_cycle *ready = flow_registers(c->flow, warp);
    bool spans = c->spec->track_spans;
    for (uint32_t i = 0; i < inst->dst_count; i++)
        if (!constant_register(c, inst->dst[i]))
            for (uint32_t reg = inst->dst[i], end = inst_dst_end(inst, i, spans); reg < end; reg++)
                ready[flow_place(reg)] = done;
}

/* flow_inst.c: static instructions as flow.c needs them, and what is counted per static instruction. May
 * touch its core only. */
#include "model/core/flow.h"

#include <string.h>

/* What is counted per instruction follows from how often each static one has issued. */
static void count_uses(core *c, flow_inst *d)
{
    uint32_t before = 0;
    if (LS_UNLIKELY(c->kernel_banks != NULL))
        before = banks_count_for_number(c, (uint32_t)(d->key >> 32) - 1);
    c->n.by_class[d->class_] += d->uses;
    c->n.register_reads += d->uses * d->read_count;
    c->n.register_bank_waits += d->uses * d->read_waits;
    c->n.unknown_opcodes += d->uses * d->unknown;
    c->n.flops[d->flops_kind] += d->flops * (d->uses * 32 - d->missing);
    c->n.tensor_cycles += d->flops_kind == FLOPS_TENSOR && d->flops != 0 ? d->uses * d->interval : 0;
    d->uses = d->missing = 0;
    if (LS_UNLIKELY(c->kernel_banks != NULL))
        banks_count_for(c, before);
}

void flow_count_uses(core *c)
{
    flow *f = c->flow;
    for (uint32_t i = 0; i < f->insts_used; i++)
        if (f->insts[i].uses != 0)
            count_uses(c, &f->insts[i]);
}

void flow_forget(core *c)
{
    flow *f = c->flow;
    flow_count_uses(c);
    for (uint32_t i = 0; i < f->insts_used; i++)
        f->insts[i].key = 0;
    f->insts_used = 0;
}

/* Results first. A register that an instruction names twice needs one look. */
static void set_registers(flow_inst *d, const hybrid_inst *h)
{
    uint32_t count = 0, results = (uint32_t)h->registers - h->written;
    for (uint32_t i = 0; i < h->registers; i++) {
        uint16_t reg = (uint16_t)flow_place(h->reg[(results + i) % h->registers]);
        bool again = false;
        for (uint32_t k = 0; k < count; k++)
            again |= d->reg[k] == reg;
        if (again)
            continue;
        d->reg[count++] = reg;
        d->written = (uint8_t)(i < h->written ? count : d->written);
    }
    d->registers = (uint8_t)count;
    d->result = d->written > 0 ? d->reg[0] : (uint16_t)flow_place(FLOW_NO_RESULT);
    for (; count < LS_COUNT_OF(d->reg); count++)
        d->reg[count] = (uint16_t)flow_place(FLOW_NO_REGISTER);
}

static void set_memory(const core *c, flow_inst *d, const rates_kernel *rates)
{
    const ls_inst *inst = d->inst;
    bool atomic = inst->mem_op == LS_MEM_ATOMIC || inst->mem_op == LS_MEM_REDUCTION;
    d->rate = rates == NULL ? NULL : rates_of(rates, inst->pc);
    d->space = inst->space;
    d->width = (uint8_t)inst_width(c, inst);
    d->load = inst->mem_op != LS_MEM_STORE;
    d->bypass = analytic_bypasses(c, inst);
    d->plain_lanes = !atomic && inst->mem_op != LS_MEM_NONE && inst->space != LS_SPACE_SHARED &&
                     inst->space != LS_SPACE_LOCAL && inst->space != LS_SPACE_GENERIC;
}

void flow_decode(core *c, flow_inst *d, const ls_core_launch *launch, uint32_t place, uint64_t key)
{
    const hybrid *h = c->hybrid;
    const ls_inst *inst = &launch->insts[place];
    hybrid_inst from;
    if (d->uses != 0)
        count_uses(c, d);
    uint32_t index = (uint32_t)(d - c->flow->insts);
    c->flow->insts_used = index < c->flow->insts_used ? c->flow->insts_used : index + 1;
    hybrid_decode_new(c, &from, inst);
    *d = (flow_inst){ .key = key,
                      .inst = inst,
                      .interval = from.interval,
                      .delay = from.delay,
                      .unit = from.unit,
                      .unit_bit = 1u << from.unit,
                      .read_count = from.read_count,
                      .read_waits = from.read_waits,
                      .effects = from.effects,
                      .jumps = from.jumps,
                      .unknown = from.unknown,
                      .class_ = from.class_,
                      .flops_kind = from.flops_kind,
                      .flops = from.flops,
                      .partial_missing = 32 };
    if (from.wide)
        from.registers = from.written = 0;
    set_registers(d, &from);
    if (from.wide)
        d->registers = d->written = FLOW_WIDE;
    if (d->unit == UNIT_memory)
        set_memory(c, d, launch->rates);
    d->plain = d->unit != UNIT_memory && !d->effects && !d->jumps && d->registers <= 4 && d->written <= 1;
    uint32_t most = 0, busiest = 0;
    for (uint32_t b = 0; b < h->banks; b++) {
        uint32_t all = from.reads[b] + (d->unit == UNIT_memory ? 0 : from.banks_written >> b & 1u);
        most = from.reads[b] > most ? from.reads[b] : most;
        busiest = all > busiest ? all : busiest;
    }
    d->front = (uint8_t)(1 + (most + 1) / h->steps);
    d->port = (uint8_t)((busiest << c->flow->port_shift) / h->steps); /* the banks work side by side */
    d->read_port = (uint8_t)((most << c->flow->port_shift) / h->steps);
    /* Of the load/store unit it is not the time that counts but who is in front (issue_memory). */
    d->held = (uint16_t)(d->unit == UNIT_memory ? UINT16_MAX : d->front + (h->collectors + 1) * d->interval);
}

ls_cycle flow_wide_ready(const core *c, uint32_t warp, const ls_inst *inst)
{
    const ls_cycle *ready = flow_registers(c->flow, warp);
    bool spans = c->spec->track_spans;
    ls_cycle need = 0;
    for (uint32_t i = 0; i < inst->src_count; i++)
        for (uint32_t k = 0; k < (spans && inst->src_span[i] > 1 ? inst->src_span[i] : 1u); k++)
            if (inst->src[i] + k < LS_REG_COUNT && ready[flow_place(inst->src[i] + k)] > need)
                need = ready[flow_place(inst->src[i] + k)];
    for (uint32_t i = 0; i < inst->dst_count; i++)
        for (uint32_t k = 0; k < (spans && i == 0 && inst->dst_span > 1 ? inst->dst_span : 1u); k++)
            if (inst->dst[i] + k < LS_REG_COUNT && ready[flow_place(inst->dst[i] + k)] > need)
                need = ready[flow_place(inst->dst[i] + k)];
    return need;
}

void flow_wide_results(core *c, uint32_t warp, const ls_inst *inst, ls_cycle done)
{
    ls_cycle *ready = flow_registers(c->flow, warp);
    bool zero = c->spec->accelsim_rules;
    for (uint32_t i = 0; i < inst->dst_count; i++) {
        uint32_t span = c->spec->track_spans && i == 0 && inst->dst_span > 1 ? inst->dst_span : 1u;
        if (!zero && (inst->dst[i] == LS_REG_ZERO || inst->dst[i] == LS_REG_UNIFORM_ZERO ||
                      inst->dst[i] == LS_REG_PREDICATE_TRUE || inst->dst[i] == LS_REG_UNIFORM_PREDICATE_TRUE))
            continue;
        for (uint32_t k = 0; k < span && inst->dst[i] + k < LS_REG_COUNT; k++)
            ready[flow_place(inst->dst[i] + k)] = done;
    }
}

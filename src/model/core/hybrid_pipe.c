/* hybrid_pipe.c: what is rare in issue: an instruction seen for the first time, one that waits for the
 * load/store unit, and one that waits for a collector that such a one has. */
#include "model/core/hybrid_book.h"

#include <assert.h>

/* ----------------------------------------------------------------------------------------------- decoding */

static inline bool constant_register(const core *c, uint32_t reg)
{
    return (reg == LS_REG_ZERO || reg == LS_REG_UNIFORM_ZERO || reg == LS_REG_PREDICATE_TRUE ||
            reg == LS_REG_UNIFORM_PREDICATE_TRUE) &&
           !c->spec->accelsim_rules;
}

static void add_registers(const core *c, hybrid_inst *d, uint32_t first, uint32_t reg, uint32_t span)
{
    if (constant_register(c, reg))
        return;
    for (uint32_t k = 0; k < span && reg + k < LS_REG_COUNT; k++) {
        bool again = false;
        for (uint32_t i = first; i < d->registers; i++)
            again |= d->reg[i] == reg + k;
        if (again)
            continue;
        if (d->registers == HYBRID_REGISTERS) {
            d->wide = true;
            return;
        }
        d->reg[d->registers++] = (uint16_t)(reg + k);
    }
}

/* A result that is read as well needs one look. */
static void drop_read_results(hybrid_inst *d)
{
    uint32_t results = (uint32_t)d->registers - d->written, kept = 0;
    for (uint32_t i = 0; i < results; i++) {
        bool again = false;
        for (uint32_t k = results; k < d->registers; k++)
            again |= d->reg[k] == d->reg[i];
        if (!again)
            d->reg[kept++] = d->reg[i];
    }
    for (uint32_t i = 0; i < d->written; i++)
        d->reg[kept + i] = d->reg[results + i];
    d->registers = (uint8_t)(kept + d->written);
}

void hybrid_decode_new(const core *c, hybrid_inst *d, const ls_inst *inst)
{
    const core_class *class_ = &c->spec->classes[inst->class_];
    const tensor_cost cost = core_cost(c, inst);
    const hybrid *h = c->hybrid;
    bool spans = c->spec->track_spans;
    *d = (hybrid_inst){ .inst = inst,
                        .latency = (uint16_t)cost.latency,
                        .interval = (uint16_t)cost.interval,
                        .slow = ls_inst_is_tensor(inst), /* smaller shapes are faster */
                        .unit = (uint8_t)class_->unit,
                        .class_ = inst->class_,
                        .effects = front_has_effects(inst),
                        .yields = c->spec->accelsim_rules && class_->unit > UNIT_memory,
                        .stops = front_has_effects(inst) || class_->unit == UNIT_memory,
                        .jumps = inst->class_ == LS_CLASS_branch && c->spec->branch_cycles > 1,
                        .flops_kind = (uint8_t)flops_kind(inst),
                        .flops = (uint16_t)ls_inst_flops(inst),
                        .unknown = (inst->flags & LS_INST_UNKNOWN) != 0 };
    for (uint32_t i = 0; i < inst->src_count; i++) {
        add_registers(c, d, 0, inst->src[i], spans && inst->src_span[i] > 1 ? inst->src_span[i] : 1);
        bool again = false;
        for (uint32_t j = 0; j < i; j++)
            again |= inst->src[j] == inst->src[i];
        if (!again)
            d->reads[(inst->src[i] + 1u) % h->banks]++;
    }
    assert(h->banks > 0);
    for (uint32_t b = 0; b < h->banks; b++) {
        d->banks_read |= (uint8_t)((d->reads[b] != 0) << b);
        d->read_count = (uint8_t)(d->read_count + d->reads[b]);
        d->read_waits = (uint8_t)(d->read_waits + (d->reads[b] > 1 ? d->reads[b] - 1 : 0));
    }
    uint64_t forward = c->spec->forward_cycles < d->latency + 2u ? c->spec->forward_cycles : d->latency + 1u;
    d->delay = (uint16_t)(d->latency + 2u - forward);
    uint32_t before = d->registers;
    for (uint32_t i = 0; i < inst->dst_count; i++) {
        add_registers(c, d, before, inst->dst[i], spans && i == 0 && inst->dst_span > 1 ? inst->dst_span : 1);
        d->banks_written |= (uint8_t)(1u << (inst->dst[i] + 1u) % h->banks);
    }
    d->written = (uint8_t)(d->registers - before);
    if (!d->wide)
        drop_read_results(d);
    for (uint32_t i = 0; i < LS_CLASS_COUNT; i++)
        d->slow |= c->spec->classes[i].unit == d->unit && c->spec->classes[i].latency_cycles < d->latency;
    d->many = d->wide || d->written > 1;
    d->result = d->written > 0 ? d->reg[d->registers - 1] : HYBRID_NO_RESULT;
    for (uint32_t i = d->registers; i < HYBRID_QUICK; i++)
        d->reg[i] = HYBRID_NO_REGISTER;
    d->counts = d->read_count | (uint64_t)d->read_waits << HYBRID_COUNT_BITS |
                (uint64_t)d->unknown << 2 * HYBRID_COUNT_BITS;
}

/* ------------------------------------------------------------------------ in front of the load/store unit */

static void park(hybrid_sub *s, uint32_t warp, const hybrid_inst *d)
{
    s->taken |= 1u << d->unit;
    s->parked |= 1u << d->unit;
    s->issue_free[d->unit] = LS_CYCLE_MAX;
    s->parked_at[d->unit].inst = d->inst;
    s->parked_at[d->unit].warp = (uint8_t)warp;
}

void hybrid_park(core *c, uint32_t sub, uint32_t warp, const hybrid_inst *d)
{
    park(&c->hybrid->subs[sub], warp, d);
}

void hybrid_written(core *c, uint32_t sub, uint32_t warp, const hybrid_inst *d)
{
    hybrid_write(c->hybrid, &c->hybrid->subs[sub], d->banks_written, warp, c->now, hybrid_any(c->hybrid));
}

static void collect_memory(core *c, hybrid_sub *s, hybrid_wait *w, uint32_t warp, const hybrid_inst *d,
                           uint32_t collector, uint64_t enter)
{
    uint64_t dispatched = hybrid_read(c->hybrid, s, d, warp, enter, c->now, hybrid_any(c->hybrid)) + 1;
    uint64_t free_step = s->execute_free[UNIT_memory];
    dispatched = dispatched > free_step ? dispatched : free_step;
    w->ready = dispatched / c->hybrid->steps + 1;
    w->collector = (uint8_t)collector;
    /* The oldest goes on to the register before the unit; the others keep their collectors. */
    bool oldest = &s->queue[s->head % HYBRID_QUEUE] == w;
    hybrid_leave_collector(s, collector, oldest ? dispatched : HYBRID_STEP_NEVER);
    if (oldest)
        w->collector = CORE_COLLECTORS_MAX;
}

void hybrid_enter_memory(core *c, uint32_t sub, uint32_t warp, const hybrid_inst *d, uint16_t index)
{
    hybrid *h = c->hybrid;
    hybrid_sub *s = &h->subs[sub];
    uint64_t enter, soonest = (c->now + 1) * h->steps;
    uint32_t collector = hybrid_collector_memory(s, &enter, soonest, hybrid_any(h));
    hybrid_wait *w = &s->queue[s->tail++ % HYBRID_QUEUE];
    *w = (hybrid_wait){ .flight = index, .collector = CORE_COLLECTORS_MAX, .ready = LS_CYCLE_MAX };
    h->waiting |= 1u << sub;
    if (enter == HYBRID_STEP_NEVER) {
        park(s, warp, d);
        return;
    }
    enter = enter > soonest ? enter : soonest;
    if (enter / h->steps > c->now + 1)
        hybrid_hold_issue(s, UNIT_memory, enter / h->steps);
    collect_memory(c, s, w, warp, d, collector, enter);
    hybrid_look_at(c, w->ready);
}

/* A collector is free from `step` on: one of the parked instructions gets it. */
static void unpark(core *c, hybrid_sub *s, uint32_t sub, uint64_t step)
{
    while (s->parked != 0) {
        uint64_t enter;
        uint32_t collector = hybrid_collector(s, &enter, hybrid_any(c->hybrid));
        if (enter == HYBRID_STEP_NEVER)
            return;
        enter = enter > step ? enter : step;
        uint32_t unit = (uint32_t)__builtin_ctz(s->parked);
        const ls_inst *inst = s->parked_at[unit].inst;
        uint32_t warp = s->parked_at[unit].warp;
        const ls_inst *insts = c->warps[warp].insts;
        const hybrid_inst *d = hybrid_decode(c, warp, insts, (uint32_t)(inst - insts));
        s->parked &= ~(1u << unit);
        c->front_changed |= 1u << sub;
        s->issue_free[unit] = enter / c->hybrid->steps;
        hybrid_look_at(c, s->issue_free[unit]);
        if (unit == UNIT_memory) {
            hybrid_wait *w = &s->queue[(s->tail - 1) % HYBRID_QUEUE];
            collect_memory(c, s, w, warp, d, collector, enter);
            hybrid_look_at(c, w->ready);
        } else {
            hybrid_result(c, warp, d,
                          hybrid_run(c->hybrid, s, warp, d, collector, enter, c->now, hybrid_any(c->hybrid)));
        }
    }
}

/* Of the instructions in collectors, the one that moves to the register before the unit: of those with their
 * operands the oldest or, by Accel-Sim's rules, the one in the first collector, as collect.c has it; else the
 * one that has them first. */
static void choose_next(const core *c, hybrid_sub *s)
{
    uint32_t best = s->head;
    for (uint32_t i = s->head + 1; i != s->tail; i++) {
        const hybrid_wait *a = &s->queue[i % HYBRID_QUEUE], *b = &s->queue[best % HYBRID_QUEUE];
        ls_cycle a_ready = a->ready > c->now ? a->ready : c->now,
                 b_ready = b->ready > c->now ? b->ready : c->now;
        if (a_ready < b_ready ||
            (a_ready == b_ready && c->spec->accelsim_rules && a->collector < b->collector))
            best = i;
    }
    hybrid_wait chosen = s->queue[best % HYBRID_QUEUE];
    for (uint32_t i = best; i != s->head; i--)
        s->queue[i % HYBRID_QUEUE] = s->queue[(i - 1) % HYBRID_QUEUE];
    s->queue[s->head % HYBRID_QUEUE] = chosen;
}

void hybrid_took(core *c, uint32_t sub)
{
    hybrid *h = c->hybrid;
    hybrid_sub *s = &h->subs[sub];
    s->head++;
    if (s->head == s->tail) {
        h->waiting &= ~(1u << sub);
    } else {
        choose_next(c, s);
        hybrid_wait *next = &s->queue[s->head % HYBRID_QUEUE];
        if (next->collector < CORE_COLLECTORS_MAX) {
            uint64_t step = (next->ready - 1) * h->steps, soonest = c->now * h->steps;
            hybrid_leave_collector(s, next->collector, step > soonest ? step : soonest);
            next->collector = CORE_COLLECTORS_MAX;
        }
        if (next->ready <= c->now)
            next->ready = c->now + 1;
        if (next->ready != LS_CYCLE_MAX)
            hybrid_look_at(c, next->ready);
    }
    unpark(c, s, sub, c->now * h->steps);
}

/* hybrid_pipe.c: what an instruction waits for between issue and write-back, booked in advance: a collector, the banks
 * of its operands, the register before its unit, the unit, a result bus. The stages and their order are those of
 * collect.c; what is fixed there is a constant here. */
#include "model/core/hybrid.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------ decoding */

static inline bool constant_register(const core *c, uint32_t reg)
{
    return (reg == LS_REG_ZERO || reg == LS_REG_UNIFORM_ZERO || reg == LS_REG_PREDICATE_TRUE ||
            reg == LS_REG_UNIFORM_PREDICATE_TRUE) &&
           !c->spec->accelsim_rules;
}

static void add_registers(const core *c, hybrid_inst *d, uint32_t reg, uint32_t span)
{
    if (constant_register(c, reg))
        return;
    for (uint32_t k = 0; k < span && reg + k < LS_REG_COUNT; k++) {
        if (d->registers == HYBRID_REGISTERS) {
            d->wide = true;
            return;
        }
        d->reg[d->registers++] = (uint16_t)(reg + k);
    }
}

void hybrid_decode_new(const core *c, hybrid_inst *d, const ls_inst *inst)
{
    const core_class *class_ = &c->spec->classes[inst->class_];
    const hybrid *h = c->hybrid;
    bool spans = c->spec->track_spans;
    *d = (hybrid_inst){ .inst = inst,
                        .latency = (uint16_t)class_->latency_cycles,
                        .interval = (uint16_t)(class_->interval_cycles > 0 ? class_->interval_cycles : 1),
                        .unit = (uint8_t)class_->unit,
                        .effects = front_has_effects(inst) };
    for (uint32_t i = 0; i < inst->src_count; i++) {
        add_registers(c, d, inst->src[i], spans && inst->src_span[i] > 1 ? inst->src_span[i] : 1);
        bool again = false;
        for (uint32_t j = 0; j < i; j++)
            again |= inst->src[j] == inst->src[i];
        if (!again)
            d->reads[(inst->src[i] + 1u) % h->banks]++;
    }
    for (uint32_t b = 0; b < h->banks; b++) {
        d->banks_read |= (uint8_t)((d->reads[b] != 0) << b);
        d->read_count = (uint8_t)(d->read_count + d->reads[b]);
        d->read_waits = (uint8_t)(d->read_waits + (d->reads[b] > 1 ? d->reads[b] - 1 : 0));
    }
    uint64_t forward = c->spec->forward_cycles < d->latency + 2u ? c->spec->forward_cycles : d->latency + 1u;
    d->delay = (uint16_t)(d->latency + 2u - forward);
    uint32_t before = d->registers;
    for (uint32_t i = 0; i < inst->dst_count; i++) {
        add_registers(c, d, inst->dst[i], spans && i == 0 && inst->dst_span > 1 ? inst->dst_span : 1);
        d->banks_written |= (uint8_t)(1u << (inst->dst[i] + 1u) % h->banks);
    }
    d->written = (uint8_t)(d->registers - before);
}

/* ------------------------------------------------------------------------------------------------------- booking */

static inline void move_banks(const core *c, hybrid_sub *s)
{
    const hybrid *h = c->hybrid;
    uint64_t base = c->now * h->steps, passed = base - s->bank_base;
    if (passed == 0)
        return;
    s->bank_base = base;
    for (uint32_t b = 0; b < h->banks; b++)
        s->bank_busy[b] = passed >= HYBRID_WINDOW ? 0 : s->bank_busy[b] >> passed;
}

/* Several operands from one bank, or others that have it. Returns the step of the last read. */
static uint64_t read_slowly(hybrid_sub *s, uint32_t bank, uint32_t count, uint64_t step)
{
    for (;; step++) {
        uint64_t at = step - s->bank_base;
        if (at < HYBRID_WINDOW) {
            uint64_t free_ones = ~s->bank_busy[bank] >> at;
            step += free_ones == 0 ? HYBRID_WINDOW - at : (uint32_t)__builtin_ctzll(free_ones);
            at = step - s->bank_base;
            if (at < HYBRID_WINDOW)
                s->bank_busy[bank] |= UINT64_C(1) << at;
        }
        if (--count == 0)
            return step;
    }
}

/* Reads the operands of an instruction that enters a collector in step `enter`; returns the step of the last one. */
static inline uint64_t read_operands(core *c, hybrid_sub *s, const hybrid_inst *d, uint32_t warp,
                                     uint64_t enter)
{
    const hybrid *h = c->hybrid;
    uint64_t last = enter, at = enter + 1 - s->bank_base;
    c->n.register_reads += d->read_count;
    c->n.register_bank_waits += d->read_waits;
    for (uint32_t set = d->banks_read; set != 0; set &= set - 1) {
        uint32_t b = (uint32_t)__builtin_ctz(set), bank = b + h->bank_shift[warp], n = d->reads[b];
        bank = bank >= h->banks ? bank - h->banks : bank;
        uint64_t wanted = at < HYBRID_WINDOW - 8 ? ((UINT64_C(1) << n) - 1) << at : UINT64_MAX;
        uint64_t end = enter + n;
        if ((s->bank_busy[bank] & wanted) == 0 && wanted != UINT64_MAX)
            s->bank_busy[bank] |= wanted;
        else
            end = read_slowly(s, bank, n, enter + 1);
        last = end > last ? end : last;
    }
    return last;
}

/* A write-back has its banks in the first step of the cycle. */
static inline void write_banks(const core *c, hybrid_sub *s, uint32_t banks, uint32_t warp, ls_cycle cycle)
{
    const hybrid *h = c->hybrid;
    uint64_t at = cycle * h->steps - s->bank_base;
    if (at >= HYBRID_WINDOW)
        return;
    for (uint32_t set = banks; set != 0; set &= set - 1) {
        uint32_t bank = (uint32_t)__builtin_ctz(set) + h->bank_shift[warp];
        s->bank_busy[bank >= h->banks ? bank - h->banks : bank] |= UINT64_C(1) << at;
    }
}

void hybrid_written(core *c, uint32_t sub, uint32_t warp, const hybrid_inst *d)
{
    hybrid_sub *s = &c->hybrid->subs[sub];
    move_banks(c, s);
    write_banks(c, s, d->banks_written, warp, c->now);
}

/* The first cycle from `from` on in which the unit can take the instruction so that its result finds its way. */
static inline ls_cycle start_unit(core *c, hybrid_sub *s, const hybrid_inst *d, ls_cycle from)
{
    hybrid *h = c->hybrid;
    uint32_t unit = d->unit;
    ls_cycle start = from > s->unit_free[unit] ? from : s->unit_free[unit];
    uint64_t passed = c->now - s->done_base[unit];
    s->done[unit] = passed >= HYBRID_WINDOW ? 0 : s->done[unit] >> passed;
    s->done_base[unit] = c->now;
    for (;; start++) {
        uint64_t leaves = start + d->latency - c->now;
        if (leaves < HYBRID_WINDOW && (s->done[unit] >> leaves & 1) != 0)
            continue;
        ls_cycle end = start + d->delay;
        uint32_t slot = (uint32_t)end % CORE_WHEEL;
        if (h->bus_cycle[slot] != end) {
            h->bus_cycle[slot] = end;
            h->buses[slot] = 0;
        }
        if (h->buses[slot] >= c->spec->result_buses)
            continue;
        h->buses[slot]++;
        if (leaves < HYBRID_WINDOW)
            s->done[unit] |= UINT64_C(1) << leaves;
        break;
    }
    s->unit_free[unit] = start + d->interval;
    return start;
}

/* The collector that is free first; its step in *step. */
static inline uint32_t first_collector(const hybrid *h, const hybrid_sub *s, uint64_t *step)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < h->collectors; k++)
        if (s->collector_free[k] < s->collector_free[best])
            best = k;
    *step = s->collector_free[best];
    return best;
}

/* The issue register of the unit is free again in `cycle`. */
static inline void hold_issue(core *c, hybrid_sub *s, uint32_t unit, ls_cycle cycle)
{
    if (cycle <= c->now + 1)
        return;
    s->taken |= 1u << unit;
    s->issue_free[unit] = cycle;
    hybrid_look_at(c, cycle);
}

static inline ls_cycle run(core *c, hybrid_sub *s, uint32_t warp, const hybrid_inst *d, uint32_t collector,
                           uint64_t enter)
{
    const hybrid *h = c->hybrid;
    uint64_t dispatched = read_operands(c, s, d, warp, enter) + 1;
    uint64_t free_step = s->execute_free[d->unit] * h->steps;
    dispatched = dispatched > free_step ? dispatched : free_step;
    s->collector_free[collector] = dispatched;
    ls_cycle start = start_unit(c, s, d, dispatched / h->steps + 1);
    s->execute_free[d->unit] = start;
    write_banks(c, s, d->banks_written, warp, start + d->delay);
    return start + d->delay;
}

ls_cycle hybrid_enter(core *c, uint32_t sub, uint32_t warp, const hybrid_inst *d)
{
    const hybrid *h = c->hybrid;
    hybrid_sub *s = &c->hybrid->subs[sub];
    uint64_t enter, soonest = (c->now + 1) * h->steps;
    uint32_t collector = first_collector(h, s, &enter);
    move_banks(c, s);
    if (enter == HYBRID_STEP_NEVER) {
        s->taken |= 1u << d->unit;
        s->parked |= 1u << d->unit;
        s->issue_free[d->unit] = LS_CYCLE_MAX;
        s->parked_at[d->unit].inst = d->inst;
        s->parked_at[d->unit].warp = (uint8_t)warp;
        return LS_CYCLE_MAX;
    }
    enter = enter > soonest ? enter : soonest;
    hold_issue(c, s, d->unit, enter / h->steps);
    return run(c, s, warp, d, collector, enter);
}

/* ---------------------------------------------------------------------------------- in front of the load/store unit */

static void collect_memory(core *c, hybrid_sub *s, hybrid_wait *w, uint32_t warp, const hybrid_inst *d,
                           uint32_t collector, uint64_t enter)
{
    uint64_t dispatched = read_operands(c, s, d, warp, enter) + 1;
    w->ready = dispatched / c->hybrid->steps + 1;
    w->collector = (uint8_t)collector;
    /* The oldest goes on to the register before the unit; the others keep their collectors. */
    bool oldest = &s->queue[s->head % HYBRID_QUEUE] == w;
    s->collector_free[collector] = oldest ? dispatched : HYBRID_STEP_NEVER;
    if (oldest)
        w->collector = CORE_COLLECTORS_MAX;
}

void hybrid_enter_memory(core *c, uint32_t sub, uint32_t warp, const hybrid_inst *d, uint16_t index)
{
    hybrid *h = c->hybrid;
    hybrid_sub *s = &h->subs[sub];
    uint64_t enter, soonest = (c->now + 1) * h->steps;
    uint32_t collector = first_collector(h, s, &enter);
    move_banks(c, s);
    hybrid_wait *w = &s->queue[s->tail++ % HYBRID_QUEUE];
    *w = (hybrid_wait){ .flight = index, .collector = CORE_COLLECTORS_MAX, .ready = LS_CYCLE_MAX };
    h->waiting |= 1u << sub;
    if (enter == HYBRID_STEP_NEVER) {
        s->taken |= 1u << UNIT_memory;
        s->parked |= 1u << UNIT_memory;
        s->issue_free[UNIT_memory] = LS_CYCLE_MAX;
        s->parked_at[UNIT_memory].inst = d->inst;
        s->parked_at[UNIT_memory].warp = (uint8_t)warp;
        return;
    }
    enter = enter > soonest ? enter : soonest;
    hold_issue(c, s, UNIT_memory, enter / h->steps);
    collect_memory(c, s, w, warp, d, collector, enter);
    hybrid_look_at(c, w->ready);
}

/* A collector is free from `step` on: one of the parked instructions gets it. */
static void unpark(core *c, hybrid_sub *s, uint64_t step)
{
    while (s->parked != 0) {
        uint64_t enter;
        uint32_t collector = first_collector(c->hybrid, s, &enter);
        if (enter == HYBRID_STEP_NEVER)
            return;
        enter = enter > step ? enter : step;
        uint32_t unit = (uint32_t)__builtin_ctz(s->parked);
        const ls_inst *inst = s->parked_at[unit].inst;
        uint32_t warp = s->parked_at[unit].warp;
        const hybrid_inst *d = hybrid_decode(c, inst, (uint32_t)(inst - c->warps[warp].insts));
        s->parked &= ~(1u << unit);
        s->issue_free[unit] = enter / c->hybrid->steps;
        hybrid_look_at(c, s->issue_free[unit]);
        if (unit == UNIT_memory) {
            hybrid_wait *w = &s->queue[(s->tail - 1) % HYBRID_QUEUE];
            collect_memory(c, s, w, warp, d, collector, enter);
            hybrid_look_at(c, w->ready);
        } else {
            hybrid_result(c, warp, d, run(c, s, warp, d, collector, enter));
        }
    }
}

/* Of the instructions in collectors, the one that moves to the register before the unit: of those with their operands
 * the one in the first collector, as collect.c has it; else the one that has them first. */
static void choose_next(const core *c, hybrid_sub *s)
{
    uint32_t best = s->head;
    for (uint32_t i = s->head + 1; i != s->tail; i++) {
        const hybrid_wait *a = &s->queue[i % HYBRID_QUEUE], *b = &s->queue[best % HYBRID_QUEUE];
        ls_cycle a_ready = a->ready > c->now ? a->ready : c->now,
                 b_ready = b->ready > c->now ? b->ready : c->now;
        if (a_ready < b_ready || (a_ready == b_ready && a->collector < b->collector))
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
    move_banks(c, s);
    if (s->head == s->tail) {
        h->waiting &= ~(1u << sub);
    } else {
        choose_next(c, s);
        hybrid_wait *next = &s->queue[s->head % HYBRID_QUEUE];
        if (next->collector < CORE_COLLECTORS_MAX) {
            uint64_t step = (next->ready - 1) * h->steps, soonest = c->now * h->steps;
            s->collector_free[next->collector] = step > soonest ? step : soonest;
            next->collector = CORE_COLLECTORS_MAX;
        }
        if (next->ready <= c->now)
            next->ready = c->now + 1;
        if (next->ready != LS_CYCLE_MAX)
            hybrid_look_at(c, next->ready);
    }
    unpark(c, s, c->now * h->steps);
}

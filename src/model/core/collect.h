/* collect.h: from the issue registers through operand collection and the execution units to write-back: stages of the
 * cycle that is in cycle.c, as functions for this file only.
 *
 * Each sub-core has its own collectors, register banks and units. An execution unit needs no shifting
 * pipeline. An instruction that enters it at cycle t writes back at t + latency + 2, and the unit takes the
 * next one after its initiation interval. Two checks remain: no two results leave a unit in the same cycle,
 * and a result bus is free. */
#ifndef MODEL_CORE_COLLECT_H
#define MODEL_CORE_COLLECT_H

#include "model/core/front.h"
#include "model/core/wgmma.h"

#define WHEEL_MASK (CORE_WHEEL - 1)

static void collect_init(core *c)
{
    c->pipes.collectors = (uint32_t)c->spec->collectors;
    c->pipes.otherwise = c->spec->accelsim_rules || c->spec->collect_steps != 2;
    c->pipes.result_buses = (uint32_t)c->spec->result_buses;
    for (uint32_t sub = 0; sub < CORE_SUBS_MAX; sub++) {
        c->pipes.subs[sub].bit = 1u << sub;
        c->pipes.subs[sub].open = ~(1u << UNIT_memory);
        c->pipes.execute_at[sub] = LS_CYCLE_MAX;
    }
    c->pipes.execute_next = LS_CYCLE_MAX;
    for (uint32_t i = 0; i < LS_COUNT_OF(c->pipes.banks); i++)
        c->pipes.banks[i] = PIPE_BANK(reg_bank(i, 0, (uint32_t)c->spec->register_banks));
}

/* A unit takes the instruction in front of it. */
static inline void leave_execute(core *c, pipe_sub *s, uint32_t unit_bit)
{
    s->execute_mask ^= unit_bit;
    c->pipes.inside--;
    if ((s->ready_units & unit_bit) != 0)
        c->pipes.moving |= s->bit;
}

/* --------------------------------------------------------------------------------------------- write-back */

/* The banks that results of this cycle have taken. Readers find them taken in its first step only. */
static inline uint64_t written_in(const pipe_sub *s, ls_cycle now)
{
    return s->written_at == now ? s->banks_written : 0;
}

/* Reserves the banks of the registers that an instruction writes; false if one of them is taken. */
static inline bool collect_write_banks(core *c, const flight *f)
{
    pipe_sub *s = c->pipes.at[f->sub];
    uint64_t banks = 0;
    for (uint32_t i = 0; i < f->inst->dst_count; i++)
        banks |= pipes_bank(c, f->warp, f->inst->dst[i]);
    const uint64_t written = written_in(s, c->now);
    if ((banks & written) != 0)
        return false;
    s->written_at = c->now;
    s->banks_written = written | banks;
    return true;
}

static inline void collect_write_back(core *c)
{
    uint32_t slot = (uint32_t)c->now & WHEEL_MASK;
    uint16_t index = c->pipes.wheel[slot].first;
    c->pipes.wheel_count -= c->pipes.wheel[slot].count;
    c->pipes.wheel[slot].count = 0;
    c->pipes.wheel_used[slot >> 6] ^= UINT64_C(1) << (slot & 63);
    while (index != NO_FLIGHT) {
        const flight *f = &c->flights.at[index];
        const uint16_t next = f->next;
        if (!OPTION_ON(c->options.ccache) || !ccache_holds(c, index)) {
            if (f->inst->dst_count != 0) {
                /* Units cannot stall: they win over the readers. */
                (void)collect_write_banks(c, f);
                front_release(c, f);
            }
            flight_complete(c, index);
        }
        index = next;
    }
}

static inline ls_cycle collect_next(const core *c)
{
    if (c->pipes.wheel_count == 0)
        return LS_CYCLE_MAX;
    size_t from = (size_t)(c->now + 1) & WHEEL_MASK;
    size_t found = bit_next(c->pipes.wheel_used, CORE_WHEEL, from);
    if (found == LS_BITSET_NONE)
        found = bit_next(c->pipes.wheel_used, CORE_WHEEL, 0);
    return c->now + 1 + ((found - from) & WHEEL_MASK);
}

/* ------------------------------------------------------------------------------------------------ execute */

/* No other result leaves the unit when that of an instruction with this latency does. */
static inline bool can_leave(pipe_unit *u, uint32_t latency, ls_cycle now)
{
    const uint64_t passed = now - u->done_base;
    const uint64_t done = passed >= 64 ? 0 : u->done >> passed;
    u->done = done;
    u->done_base = now;
    return latency >= 64 || (done >> latency & 1) == 0;
}

/* Into the list of those that are written back in a cycle, as the last. */
static inline void write_later(core *c, uint32_t slot, uint16_t index)
{
    pipe_results *r = &c->pipes.wheel[slot];
    flight *flights = c->flights.at;
    flights[index].next = NO_FLIGHT;
    c->pipes.wheel_count++;
    if (r->count++ == 0) {
        c->pipes.wheel_used[slot >> 6] |= UINT64_C(1) << (slot & 63);
        r->first = index;
    } else {
        flights[r->last].next = index;
    }
    r->last = index;
}

/* The unit is free: it takes the instruction, if a result can leave it when this one's does. False: it does not. tell: a
 * timeline may want the instruction. */
static __attribute__((always_inline)) inline bool execute_unit(core *c, pipe_sub *s, pipe_unit *u,
                                                               uint32_t unit_bit, ls_cycle now, bool tell)
{
    const uint16_t index = u->execute;
    const pipe_class *class_ = &c->pipes.classes[u->class_];
    uint32_t latency = class_->latency, interval = class_->interval, result = class_->result,
             tensor_cycles = 0;
    if (LS_UNLIKELY(class_->tensor)) {
        const ls_inst *inst = c->flights.at[index].inst;
        if (inst->class_ == LS_CLASS_tensor_group && c->options.wgmma != NULL) {
            leave_execute(c, s, unit_bit);
            wgmma_take(c, index);
            return true;
        }
        const tensor_cost cost = core_cost(c, inst);
        latency = cost.latency;
        interval = cost.interval;
        result = (uint32_t)pipes_result_cycles(c, latency);
        tensor_cycles = ls_inst_flops(inst) != 0 ? interval : 0;
    }
    const bool uneven = (c->pipes.uneven & unit_bit) != 0;
    if (uneven && !can_leave(u, latency, now))
        return false;
    const uint32_t slot = ((uint32_t)now + result) & WHEEL_MASK;
    if (c->pipes.wheel[slot].count >= c->pipes.result_buses)
        return false;
    if (uneven && latency < 64)
        u->done |= UINT64_C(1) << latency;
    u->free = now + interval;
    c->n.tensor_cycles += tensor_cycles;
    leave_execute(c, s, unit_bit);
    if (tell)
        core_tap_execute(c, index);
    write_later(c, slot, index);
    return true;
}

static __attribute__((always_inline)) inline void execute(core *c, bool tell)
{
    const ls_cycle now = c->now;
    for (uint32_t sub = 0; sub < CORE_SUBS_MAX; sub++) {
        if (c->pipes.execute_at[sub] > now)
            continue;
        pipe_sub *s = c->pipes.at[sub];
        c->pipes.execute_at[sub] = LS_CYCLE_MAX;
        for (uint32_t set = s->execute_mask & s->open, unit_bit; set != 0; set ^= unit_bit) {
            unit_bit = set & (~set + 1);
            pipe_unit *u = &s->units[(uint32_t)__builtin_ctz(set)];
            if (u->free > now || !execute_unit(c, s, u, unit_bit, now, tell))
                pipes_execute_from(c, sub, u->free);
        }
    }
    ls_cycle next = LS_CYCLE_MAX;
    for (uint32_t sub = 0; sub < CORE_SUBS_MAX; sub++)
        next = c->pipes.execute_at[sub] < next ? c->pipes.execute_at[sub] : next;
    c->pipes.execute_next = next;
}

static __attribute__((noinline)) void execute_and_tell(core *c)
{
    execute(c, true);
}

static inline void collect_execute(core *c)
{
    if (LS_UNLIKELY(c->apart))
        execute_and_tell(c);
    else
        execute(c, false);
}

/* The load/store unit is one for all: the oldest instruction goes first. */
static inline void collect_load_store(core *c)
{
    if (!ldst_can_take(c))
        return;
    uint32_t sub = (uint32_t)__builtin_ctz(c->pipes.to_memory);
    uint16_t index = c->pipes.subs[sub].units[UNIT_memory].execute;
    for (uint32_t subs = c->pipes.to_memory & (c->pipes.to_memory - 1); subs != 0; subs &= subs - 1) {
        const uint32_t other = (uint32_t)__builtin_ctz(subs);
        const uint16_t its = c->pipes.subs[other].units[UNIT_memory].execute;
        if (c->flights.at[its].uid < c->flights.at[index].uid) {
            sub = other;
            index = its;
        }
    }
    pipe_sub *from = c->pipes.at[sub];
    leave_execute(c, from, 1u << UNIT_memory);
    c->pipes.to_memory &= ~(1u << sub);
    ldst_take(c, index);
    c->ldst.memory_next = ldst_next(c);
}

/* ------------------------------------------------------------------------------------- operand collection */

/* The instruction has all its operands. It goes to the register before its unit, which is free. */
static inline void leave_collector(core *c, pipe_sub *s, uint32_t sub, const pipe_inst *k)
{
    pipe_unit *u = &s->units[k->way.unit];
    u->execute = k->flight;
    u->class_ = k->way.class_;
    s->execute_mask |= k->way.unit_bit;
    s->collected--;
    s->count--;
    if (k->way.unit == UNIT_memory)
        c->pipes.to_memory |= s->bit;
    else
        pipes_execute_from(c, sub, u->free);
}

static inline void dispatch_by_age(core *c, pipe_sub *s, uint32_t sub)
{
    uint32_t units = s->ready_units & ~s->execute_mask;
    pipe_inst *k = s->insts;
    do {
        while (k->needs != 0 || (k->way.unit_bit & units) == 0)
            k++;
        units ^= k->way.unit_bit;
        s->ready_units ^= k->way.unit_bit;
        leave_collector(c, s, sub, k);
        const pipe_inst *const issued = s->insts + s->collected, *const end = s->insts + s->count;
        for (pipe_inst *to = k; to != end; to++) { /* those behind move up */
            *to = to[1];
            if (to->needs == 0 && to < issued)
                s->ready_units |= to->way.unit_bit;
        }
    } while (units != 0);
}

/* Accel-Sim goes by the number of the collector, so that an instruction in the last one can wait for long. */
static __attribute__((noinline)) void dispatch_by_number(core *c, pipe_sub *s, uint32_t sub)
{
    s->ready_units = 0;
    for (uint32_t number = 0; number < c->pipes.collectors; number++) {
        uint32_t place = 0;
        while (place < s->collected && s->insts[place].number != number)
            place++;
        if (place == s->collected || s->insts[place].needs != 0)
            continue;
        if ((s->execute_mask & s->insts[place].way.unit_bit) != 0) {
            s->ready_units |= s->insts[place].way.unit_bit;
            continue;
        }
        leave_collector(c, s, sub, &s->insts[place]);
        for (; place < s->count; place++)
            s->insts[place] = s->insts[place + 1];
    }
}

/* Each bank serves its oldest request, unless a write-back has it. */
static inline void read_banks(core *c, pipe_sub *s)
{
    uint64_t idle = PIPE_BANKS & ~written_in(s, c->now);
    for (pipe_inst *k = s->insts, *end = k + s->collected; k != end; k++) {
        const uint64_t reads = pipe_banks_in(k->needs) & idle;
        if (reads == 0)
            continue;
        count_for(c, c->flights.at[k->flight].warp);
        idle &= ~reads;
        k->needs -= reads;
        s->needed -= reads;
        c->n.register_reads += pipe_banks_sum(reads);
        if (s->needed != 0)
            c->n.register_bank_waits += pipe_banks_sum(reads & pipe_banks_in(s->needed));
        if (k->needs == 0)
            s->ready_units |= k->way.unit_bit;
    }
}

static uint16_t free_number(const pipe_sub *s)
{
    uint32_t used = 0;
    for (uint32_t place = 0; place < s->collected; place++)
        used |= 1u << s->insts[place].number;
    return (uint16_t)__builtin_ctz(~used);
}

/* Accel-Sim looks at the units in their order, so that those at the end of units.def can wait for ever. */
static void first_unit_to_front(pipe_sub *s)
{
    const uint32_t unit = (uint32_t)__builtin_ctz(s->issue_mask);
    pipe_inst *to = &s->insts[s->collected], before = *to;
    while (before.way.unit != unit) { /* those in front of it move up */
        const pipe_inst next = *++to;
        *to = before;
        before = next;
    }
    before.number = free_number(s);
    s->insts[s->collected] = before;
}

/* The oldest instruction gets the next collector. */
static inline void fill_collectors(core *c, pipe_sub *s, bool by_age)
{
    if (s->collected == c->pipes.collectors)
        return;
    c->pipes.freed |= s->bit;
    do {
        if (!by_age)
            first_unit_to_front(s);
        const pipe_inst *k = &s->insts[s->collected++];
        s->issue_mask ^= k->way.unit_bit;
        s->needed += k->needs;
        if (k->needs == 0)
            s->ready_units |= k->way.unit_bit;
    } while (s->issue_mask != 0 && s->collected != c->pipes.collectors);
}

/* Only the youngest instruction waits for operands, one of each bank. In a step without write-backs it reads them all. */
static inline bool reads_alone(const pipe_sub *s)
{
    return s->needed == s->insts[s->collected - 1].needs && s->needed == pipe_banks_in(s->needed);
}

static inline void read_alone(core *c, pipe_sub *s)
{
    pipe_inst *k = &s->insts[s->collected - 1];
    count_for(c, c->flights.at[k->flight].warp);
    c->n.register_reads += pipe_banks_sum(s->needed);
    k->needs = s->needed = 0;
    s->ready_units |= k->way.unit_bit;
}

static inline bool can_dispatch(const pipe_sub *s)
{
    return (s->ready_units & ~s->execute_mask) != 0;
}

static __attribute__((always_inline)) inline void operand_step(core *c, pipe_sub *s, uint32_t sub, bool by_age)
{
    if (can_dispatch(s)) {
        if (by_age)
            dispatch_by_age(c, s, sub);
        else
            dispatch_by_number(c, s, sub);
    }
    if (s->needed != 0)
        read_banks(c, s);
    if (s->issue_mask != 0)
        fill_collectors(c, s, by_age);
    s->banks_written = 0;
}

/* The steps of a cycle in one sub-core. False: nothing more can move. Stamped for the usual rule and number of steps, so that
 * others cost nothing where they do not count. */
static __attribute__((always_inline)) inline bool operand_steps(core *c, pipe_sub *s, uint32_t sub,
                                                                bool by_age, uint64_t steps)
{
    for (uint64_t step = steps; step > 2; step--)
        operand_step(c, s, sub, by_age);
    if (steps > 1) {
        operand_step(c, s, sub, by_age);
        if (!can_dispatch(s)) {
            if (s->needed == 0)
                return false; /* what could be filled, is */
            if (reads_alone(s)) {
                read_alone(c, s); /* all that the last step would do */
                return can_dispatch(s);
            }
        }
    }
    operand_step(c, s, sub, by_age);
    return can_dispatch(s) || s->needed != 0;
}

static __attribute__((noinline)) void operands_otherwise(core *c)
{
    for (uint32_t subs = c->pipes.moving; subs != 0; subs &= subs - 1) {
        const uint32_t sub = (uint32_t)__builtin_ctz(subs);
        pipe_sub *s = c->pipes.at[sub];
        const uint64_t steps = c->spec->collect_steps;
        if (!(c->spec->accelsim_rules ? operand_steps(c, s, sub, false, steps)
                                      : operand_steps(c, s, sub, true, steps)))
            c->pipes.moving &= ~s->bit;
    }
}

static inline void collect_operands(core *c)
{
    if (LS_UNLIKELY(c->pipes.otherwise)) {
        operands_otherwise(c);
        return;
    }
    for (uint32_t subs = c->pipes.moving; subs != 0; subs &= subs - 1) {
        const uint32_t sub = (uint32_t)__builtin_ctz(subs);
        pipe_sub *s = c->pipes.at[sub];
        if (!operand_steps(c, s, sub, true, 2))
            c->pipes.moving &= ~s->bit;
    }
}

#endif

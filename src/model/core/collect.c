/* collect.c: from the issue registers through operand collection and the execution units to write-back.
 *
 * Each sub-core has its own collectors, register banks and units. An execution unit needs no shifting
 * pipeline. An instruction that enters it at cycle t writes back at t + latency + 2, and the unit takes the
 * next one after its initiation interval. Two checks remain: no two results leave a unit in the same cycle,
 * and a result bus is free. */
#include "model/core/wgmma.h"

#include <string.h>

#define WHEEL_MASK (CORE_WHEEL - 1)

void collect_init(core *c)
{
    c->pipes.all_collectors = (1u << c->spec->collectors) - 1;
    for (uint32_t i = 0; i < CORE_WHEEL; i++)
        c->pipes.wheel[i] = NO_FLIGHT;
    for (uint32_t sub = 0; sub < c->sub_count; sub++) {
        pipe_sub *s = &c->pipes.subs[sub];
        for (uint32_t u = 0; u < UNIT_COUNT; u++)
            s->issue[u] = s->execute[u] = NO_FLIGHT;
        for (uint32_t k = 0; k < CORE_COLLECTORS_MAX; k++)
            s->collector[k] = NO_FLIGHT;
        s->open = ~(1u << UNIT_memory);
    }
}

static inline uint64_t bank_of(const core *c, const flight *f, uint32_t reg)
{
    return PIPE_BANK(reg_bank(reg, f->warp, (uint32_t)c->spec->register_banks));
}

/* A unit takes the instruction in front of it. */
static inline void leave_execute(core *c, uint32_t sub, uint32_t unit)
{
    pipe_sub *s = &c->pipes.subs[sub];
    s->execute[unit] = NO_FLIGHT;
    s->execute_mask &= ~(1u << unit);
    c->pipes.moving |= (s->ready_units >> unit & 1) << sub;
}

/* --------------------------------------------------------------------------------------------- write-back */

/* Reserves the banks of the registers that an instruction writes; false if one of them is taken. */
bool collect_write_banks(core *c, const flight *f)
{
    pipe_sub *s = &c->pipes.subs[f->sub];
    uint64_t banks = 0;
    for (uint32_t i = 0; i < f->inst->dst_count; i++)
        banks |= bank_of(c, f, f->inst->dst[i]);
    if ((banks & s->banks_written) != 0)
        return false;
    s->banks_written |= banks;
    c->pipes.writing |= 1u << f->sub;
    return true;
}

void collect_write_back(core *c)
{
    uint32_t slot = (uint32_t)c->now & WHEEL_MASK;
    c->pipes.buses[slot] = 0;
    c->pipes.wheel_used[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
    uint16_t index = c->pipes.wheel[slot];
    c->pipes.wheel[slot] = NO_FLIGHT;
    while (index != NO_FLIGHT) {
        uint16_t next = c->flights.at[index].next;
        if (!OPTION_ON(c->options.ccache) || !ccache_holds(c, index)) {
            /* Units cannot stall: they win over the readers. */
            (void)collect_write_banks(c, &c->flights.at[index]);
            front_release(c, &c->flights.at[index]);
            flight_complete(c, index);
        }
        c->pipes.wheel_count--;
        index = next;
    }
}

ls_cycle collect_next(const core *c)
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

/* Bit i of unit_done stands for the cycle unit_base + i. */
static inline void advance_unit(pipe_sub *s, uint32_t unit, ls_cycle now)
{
    uint64_t passed = now - s->unit_base[unit];
    s->unit_done[unit] = passed >= 64 ? 0 : s->unit_done[unit] >> passed;
    s->unit_base[unit] = now;
}

/* Into the list of those that are written back in a cycle, as the last. */
static inline void write_later(core *c, uint32_t slot, uint16_t index)
{
    const uint64_t bit = UINT64_C(1) << (slot & 63);
    c->flights.at[index].next = NO_FLIGHT;
    c->pipes.wheel_count++;
    if ((c->pipes.wheel_used[slot >> 6] & bit) == 0) {
        c->pipes.wheel_used[slot >> 6] |= bit;
        c->pipes.wheel[slot] = index;
        return;
    }
    uint16_t last = c->pipes.wheel[slot];
    while (c->flights.at[last].next != NO_FLIGHT)
        last = c->flights.at[last].next;
    c->flights.at[last].next = index;
}

/* The unit is free: it takes the instruction, if a result can leave it when this one's does. tell: a timeline may want
 * the instruction. */
static __attribute__((always_inline)) inline void execute_unit(core *c, uint32_t sub, uint32_t unit, bool tell)
{
    pipe_sub *s = &c->pipes.subs[sub];
    const uint16_t index = s->execute[unit];
    const ls_inst *inst = c->flights.at[index].inst;
    if (LS_UNLIKELY(inst->class_ == LS_CLASS_tensor_group) && c->options.wgmma != NULL) {
        leave_execute(c, sub, unit);
        wgmma_take(c, index);
        return;
    }
    const tensor_cost cost = core_cost(c, inst);
    const uint32_t latency = cost.latency;
    advance_unit(s, unit, c->now);
    if (latency < 64 && (s->unit_done[unit] >> latency & 1) != 0)
        return;
    /* The result leaves the unit latency + 1 cycles from now and is written one cycle later, or forwarded
     * before. */
    uint64_t forward = c->spec->forward_cycles < latency + 2 ? c->spec->forward_cycles : latency + 1;
    uint32_t slot = (uint32_t)(c->now + latency + 2 - forward) & WHEEL_MASK;
    if (c->pipes.buses[slot] >= c->spec->result_buses)
        return;
    c->pipes.buses[slot]++;
    if (latency < 64)
        s->unit_done[unit] |= UINT64_C(1) << latency;
    s->unit_free[unit] = c->now + cost.interval;
    if (LS_UNLIKELY(ls_inst_is_tensor(inst)) && ls_inst_flops(inst) != 0)
        c->n.tensor_cycles += cost.interval;
    leave_execute(c, sub, unit);
    if (tell)
        core_tap_execute(c, index);
    write_later(c, slot, index);
}

static inline void execute_from(pipe_sub *s, ls_cycle at)
{
    s->execute_at = at < s->execute_at ? at : s->execute_at;
}

static __attribute__((always_inline)) inline void execute(core *c, bool tell)
{
    for (uint32_t subs = c->pipes.executing; subs != 0; subs &= subs - 1) {
        const uint32_t sub = (uint32_t)__builtin_ctz(subs);
        pipe_sub *s = &c->pipes.subs[sub];
        if (s->execute_at > c->now)
            continue;
        s->execute_at = LS_CYCLE_MAX;
        for (uint32_t set = s->execute_mask & s->open; set != 0; set &= set - 1) {
            const uint32_t unit = (uint32_t)__builtin_ctz(set);
            if (s->unit_free[unit] <= c->now)
                execute_unit(c, sub, unit, tell);
            if ((s->execute_mask >> unit & 1) != 0)
                execute_from(s, s->unit_free[unit]);
        }
        if (s->execute_mask == 0)
            c->pipes.executing &= ~(1u << sub);
    }
}

static __attribute__((noinline)) void execute_and_tell(core *c)
{
    execute(c, true);
}

void collect_execute(core *c)
{
    if (LS_UNLIKELY(c->apart))
        execute_and_tell(c);
    else
        execute(c, false);
}

/* The load/store unit is one for all: the oldest instruction goes first. */
void collect_load_store(core *c)
{
    if (ldst_due(c)) {
        ldst_cycle(c);
        c->ldst.memory_next = ldst_next(c);
    }
    if (c->pipes.to_memory == 0 || !ldst_can_take(c))
        return;
    uint32_t sub = (uint32_t)__builtin_ctz(c->pipes.to_memory);
    pipe_sub *from = &c->pipes.subs[sub];
    for (uint32_t subs = c->pipes.to_memory & ~(1u << sub); subs != 0; subs &= subs - 1) {
        pipe_sub *s = &c->pipes.subs[__builtin_ctz(subs)];
        if (c->flights.at[s->execute[UNIT_memory]].uid < c->flights.at[from->execute[UNIT_memory]].uid)
            from = s;
    }
    sub = (uint32_t)(from - c->pipes.subs);
    uint16_t index = from->execute[UNIT_memory];
    leave_execute(c, sub, UNIT_memory);
    c->pipes.to_memory &= ~(1u << sub);
    if (from->execute_mask == 0)
        c->pipes.executing &= ~(1u << sub);
    ldst_take(c, index);
    c->ldst.memory_next = ldst_next(c);
}

/* ------------------------------------------------------------------------------------- operand collection */

static inline void collected(pipe_sub *s, uint32_t k)
{
    s->collector_ready |= 1u << k;
    s->ready_units |= 1u << s->collector_unit[k];
}

/* The oldest of the collected instructions for the unit of the one in collector k. */
static uint32_t oldest_collected(const core *c, const pipe_sub *s, uint32_t k)
{
    uint32_t unit = s->collector_unit[k];
    for (uint32_t set = s->collector_ready & ~(1u << k); set != 0; set &= set - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(set);
        if (s->collector_unit[other] == unit &&
            (int32_t)(c->flights.at[s->collector[other]].uid - c->flights.at[s->collector[k]].uid) < 0)
            k = other;
    }
    return k;
}

/* Accel-Sim goes by the number of the collector, so that an instruction in the last one can wait for long. */
static __attribute__((always_inline)) inline void dispatch_collected(core *c, pipe_sub *s, uint32_t sub,
                                                                     bool by_age)
{
    s->ready_units = 0;
    for (uint32_t set = s->collector_ready; set != 0; set &= set - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(set);
        uint32_t unit = 1u << s->collector_unit[k];
        if ((s->execute_mask & unit) != 0) {
            s->ready_units |= unit;
            continue;
        }
        if (by_age) {
            uint32_t first = oldest_collected(c, s, k);
            if (first != k) { /* k stays ready; the older one follows it in the set */
                s->ready_units |= unit;
                set &= ~(1u << first);
                k = first;
            }
        }
        s->execute[s->collector_unit[k]] = s->collector[k];
        s->execute_mask |= unit;
        execute_from(s, s->unit_free[s->collector_unit[k]]);
        c->pipes.executing |= 1u << sub;
        c->pipes.to_memory |= (unit >> UNIT_memory & 1) << sub;
        s->collector[k] = NO_FLIGHT;
        s->collector_used &= ~(1u << k);
        s->collector_ready &= ~(1u << k);
    }
}

/* The collector at a place of the list has all its operands. */
static inline void wait_ends(pipe_sub *s, uint32_t place)
{
    const uint32_t k = s->waiting >> 4 * place & 15, before = (1u << 4 * place) - 1;
    s->waiting = (s->waiting & before) | (s->waiting >> 4 & ~before);
    s->waiting_count--;
    collected(s, k);
}

/* Each bank serves its oldest request, unless a write-back has it. */
static __attribute__((always_inline)) inline void read_banks(core *c, pipe_sub *s)
{
    uint64_t idle = PIPE_BANKS & ~s->banks_written;
    for (uint32_t place = 0; place < s->waiting_count && idle != 0;) {
        const uint32_t k = s->waiting >> 4 * place & 15;
        const uint64_t reads = pipe_banks_in(s->needs[k]) & idle;
        count_for(c, c->flights.at[s->collector[k]].warp);
        idle &= ~reads;
        s->needs[k] -= reads;
        s->needed -= reads;
        c->n.register_reads += pipe_banks_sum(reads);
        c->n.register_bank_waits += pipe_banks_sum(reads & pipe_banks_in(s->needed));
        if (s->needs[k] == 0)
            wait_ends(s, place);
        else
            place++;
    }
}

static __attribute__((always_inline)) inline void enter_collector(core *c, pipe_sub *s, uint32_t unit,
                                                                  uint32_t k)
{
    const uint16_t index = s->issue[unit];
    const flight *f = &c->flights.at[index];
    s->issue[unit] = NO_FLIGHT;
    s->issue_mask &= ~(1u << unit);
    s->collector[k] = index;
    s->collector_used |= 1u << k;
    s->collector_unit[k] = (uint8_t)unit;
    const ls_inst *inst = f->inst;
    uint64_t needs = 0;
    for (uint32_t i = 0; i < inst->src_count; i++)
        if (!inst_src_again(inst, i))
            needs += bank_of(c, f, inst->src[i]);
    if (needs == 0) {
        collected(s, k);
        return;
    }
    s->needs[k] = needs;
    s->needed += needs;
    s->waiting |= k << 4 * s->waiting_count++;
}

/* The unit whose issue register has the oldest instruction. */
static uint32_t oldest_issued(const core *c, const pipe_sub *s, uint32_t units)
{
    uint32_t best = (uint32_t)__builtin_ctz(units);
    for (uint32_t set = units & (units - 1); set != 0; set &= set - 1) {
        uint32_t unit = (uint32_t)__builtin_ctz(set);
        if ((int32_t)(c->flights.at[s->issue[unit]].uid - c->flights.at[s->issue[best]].uid) < 0)
            best = unit;
    }
    return best;
}

/* Accel-Sim looks at the units in their order, so that those at the end of units.def can wait for ever; elsewhere
 * the oldest instruction gets the next collector. */
static __attribute__((always_inline)) inline void fill_collectors(core *c, uint32_t sub, bool by_age)
{
    pipe_sub *s = &c->pipes.subs[sub];
    uint32_t free_ones = c->pipes.all_collectors & ~s->collector_used;
    if (free_ones != 0)
        c->pipes.freed |= 1u << sub;
    for (uint32_t set = s->issue_mask, rest; set != 0 && free_ones != 0;
         set = rest, free_ones &= free_ones - 1) {
        uint32_t unit = (uint32_t)__builtin_ctz(set);
        rest = set & (set - 1);
        if (rest != 0 && by_age) {
            unit = oldest_issued(c, s, set);
            rest = set & ~(1u << unit);
        }
        enter_collector(c, s, unit, (uint32_t)__builtin_ctz(free_ones));
    }
}

static inline bool can_move(const core *c, const pipe_sub *s)
{
    return s->needed != 0 || (s->ready_units & ~s->execute_mask) != 0 ||
           (s->issue_mask != 0 && s->collector_used != c->pipes.all_collectors);
}

/* Stamped once per rule, so that a rule costs nothing where it does not count. */
static __attribute__((always_inline)) inline void operands(core *c, bool by_age)
{
    for (uint32_t subs = c->pipes.moving; subs != 0; subs &= subs - 1) {
        const uint32_t sub = (uint32_t)__builtin_ctz(subs);
        pipe_sub *s = &c->pipes.subs[sub];
        for (uint64_t step = c->spec->collect_steps; step > 0; step--) {
            if ((s->ready_units & ~s->execute_mask) != 0)
                dispatch_collected(c, s, sub, by_age);
            if (s->needed != 0)
                read_banks(c, s);
            if (s->issue_mask != 0)
                fill_collectors(c, sub, by_age);
            s->banks_written = 0;
        }
        if (can_move(c, s))
            continue;
        c->pipes.moving &= ~(1u << sub);
        if ((s->collector_used | s->issue_mask) == 0)
            c->pipes.collecting &= ~(1u << sub);
    }
    for (; c->pipes.writing != 0; c->pipes.writing &= c->pipes.writing - 1)
        c->pipes.subs[__builtin_ctz(c->pipes.writing)].banks_written = 0;
}

static __attribute__((noinline)) void operands_by_number(core *c)
{
    operands(c, false);
}

void collect_operands(core *c)
{
    if (LS_UNLIKELY(c->spec->accelsim_rules))
        operands_by_number(c);
    else
        operands(c, true);
}

ls_cycle collect_unit_free(const core *c)
{
    ls_cycle next = LS_CYCLE_MAX;
    if ((c->pipes.to_memory | c->pipes.moving) != 0)
        return c->now + 1;
    for (uint32_t subs = c->pipes.executing; subs != 0; subs &= subs - 1) {
        const ls_cycle at = c->pipes.subs[__builtin_ctz(subs)].execute_at;
        next = at < next ? at : next;
    }
    return next <= c->now ? c->now + 1 : next;
}

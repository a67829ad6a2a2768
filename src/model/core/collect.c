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

static inline uint32_t bank_of(const core *c, const flight *f, uint32_t reg)
{
    return reg_bank(reg, f->warp, (uint32_t)c->spec->register_banks);
}

/* --------------------------------------------------------------------------------------------- write-back */

/* Reserves the banks of the registers that an instruction writes; false if one of them is taken. */
bool collect_write_banks(core *c, const flight *f)
{
    pipe_sub *s = &c->pipes.subs[f->sub];
    uint32_t banks = 0;
    for (uint32_t i = 0; i < f->inst->dst_count; i++)
        banks |= 1u << bank_of(c, f, f->inst->dst[i]);
    if ((banks & s->bank_written) != 0)
        return false;
    s->bank_written |= banks;
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

/* tell: a timeline may want the instruction. */
static __attribute__((always_inline)) inline void execute_unit(core *c, pipe_sub *s, uint32_t unit, bool tell)
{
    uint16_t index = s->execute[unit];
    if (s->unit_free[unit] > c->now)
        return;
    const ls_inst *inst = c->flights.at[index].inst;
    if (LS_UNLIKELY(ls_inst_is_tensor(inst)) && c->options.wgmma != NULL &&
        inst->class_ == LS_CLASS_tensor_group) {
        s->execute[unit] = NO_FLIGHT;
        s->execute_mask &= ~(1u << unit);
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
    s->execute[unit] = NO_FLIGHT;
    s->execute_mask &= ~(1u << unit);
    if (tell)
        core_tap_execute(c, index);
    /* Oldest first within a cycle. */
    c->flights.at[index].next = NO_FLIGHT;
    if ((c->pipes.wheel_used[slot >> 6] >> (slot & 63) & 1) == 0) {
        c->pipes.wheel_used[slot >> 6] |= UINT64_C(1) << (slot & 63);
        c->pipes.wheel[slot] = index;
    } else {
        uint16_t last = c->pipes.wheel[slot];
        while (c->flights.at[last].next != NO_FLIGHT)
            last = c->flights.at[last].next;
        c->flights.at[last].next = index;
    }
    c->pipes.wheel_count++;
}

static __attribute__((always_inline)) inline void execute(core *c, bool tell)
{
    for (uint32_t subs = c->pipes.executing; subs != 0; subs &= subs - 1) {
        pipe_sub *s = &c->pipes.subs[__builtin_ctz(subs)];
        for (uint32_t set = s->execute_mask & s->open; set != 0; set &= set - 1)
            execute_unit(c, s, (uint32_t)__builtin_ctz(set), tell);
        if (s->execute_mask == 0)
            c->pipes.executing &= ~(subs & (~subs + 1));
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
    from->execute[UNIT_memory] = NO_FLIGHT;
    from->execute_mask &= ~(1u << UNIT_memory);
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
        c->pipes.executing |= 1u << sub;
        c->pipes.to_memory |= (unit >> UNIT_memory & 1) << sub;
        s->collector[k] = NO_FLIGHT;
        s->collector_used &= ~(1u << k);
        s->collector_ready &= ~(1u << k);
    }
}

/* Each bank serves its oldest request, unless a write-back has it. */
static __attribute__((always_inline)) inline void read_banks(core *c, pipe_sub *s, bool mixed)
{
    for (uint32_t set = s->bank_waiting & ~s->bank_written; set != 0; set &= set - 1) {
        uint32_t bank = (uint32_t)__builtin_ctz(set);
        uint32_t k = s->bank_queue[bank][s->bank_head[bank]++ % (CORE_COLLECTORS_MAX * 4)];
        if (mixed)
            count_for(c, c->flights.at[s->collector[k]].warp);
        if (s->bank_head[bank] == s->bank_tail[bank])
            s->bank_waiting &= ~(1u << bank);
        else
            c->n.register_bank_waits++;
        c->n.register_reads++;
        if (--s->collector_waits[k] == 0)
            collected(s, k);
    }
}

static void enter_collector(core *c, pipe_sub *s, uint32_t unit, uint32_t k)
{
    uint16_t index = s->issue[unit];
    const flight *f = &c->flights.at[index];
    s->issue[unit] = NO_FLIGHT;
    s->issue_mask &= ~(1u << unit);
    s->collector[k] = index;
    s->collector_used |= 1u << k;
    s->collector_unit[k] = (uint8_t)unit;
    const ls_inst *inst = f->inst;
    uint32_t waits = 0;
    for (uint32_t i = 0; i < inst->src_count; i++) {
        if (inst_src_again(inst, i))
            continue;
        uint32_t bank = bank_of(c, f, inst->src[i]);
        s->bank_queue[bank][s->bank_tail[bank]++ % (CORE_COLLECTORS_MAX * 4)] = (uint16_t)k;
        s->bank_waiting |= 1u << bank;
        waits++;
    }
    s->collector_waits[k] = (uint8_t)waits;
    if (waits == 0)
        collected(s, k);
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
static __attribute__((always_inline)) inline void fill_collectors(core *c, pipe_sub *s, bool by_age)
{
    uint32_t free_ones = c->pipes.all_collectors & ~s->collector_used;
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

/* Stamped once per rule, so that a rule costs nothing where it does not count. */
static __attribute__((always_inline)) inline void operands(core *c, bool by_age, bool mixed)
{
    uint32_t all = c->pipes.all_collectors;
    for (uint32_t subs = c->pipes.collecting; subs != 0; subs &= subs - 1) {
        uint32_t sub = (uint32_t)__builtin_ctz(subs);
        pipe_sub *s = &c->pipes.subs[sub];
        if (s->stuck && (s->ready_units & ~s->execute_mask) == 0)
            continue;
        for (uint64_t step = c->spec->collect_steps; step > 0; step--) {
            if ((s->ready_units & ~s->execute_mask) != 0)
                dispatch_collected(c, s, sub, by_age);
            if (s->bank_waiting != 0)
                read_banks(c, s, mixed);
            if (s->issue_mask != 0)
                fill_collectors(c, s, by_age);
            s->bank_written = 0;
        }
        if ((s->collector_used | s->issue_mask) == 0)
            c->pipes.collecting &= ~(1u << sub);
        s->stuck = s->bank_waiting == 0 && (s->ready_units & ~s->execute_mask) == 0 &&
                   (s->issue_mask == 0 || s->collector_used == all);
    }
    for (; c->pipes.writing != 0; c->pipes.writing &= c->pipes.writing - 1)
        c->pipes.subs[__builtin_ctz(c->pipes.writing)].bank_written = 0;
}

void collect_operands(core *c)
{
    if (LS_UNLIKELY(c->mixed))
        operands(c, !c->spec->accelsim_rules, true);
    else if (c->spec->accelsim_rules)
        operands(c, false, false);
    else
        operands(c, true, false);
}

ls_cycle collect_unit_free(const core *c)
{
    ls_cycle next = LS_CYCLE_MAX;
    if (c->pipes.to_memory != 0)
        return c->now + 1;
    for (uint32_t subs = c->pipes.collecting | c->pipes.executing; subs != 0; subs &= subs - 1) {
        const pipe_sub *s = &c->pipes.subs[__builtin_ctz(subs)];
        if ((s->collector_used | s->issue_mask) != 0 &&
            (!s->stuck || (s->ready_units & ~s->execute_mask) != 0))
            return c->now + 1;
        for (uint32_t set = s->execute_mask; set != 0; set &= set - 1) {
            ls_cycle free_at = s->unit_free[__builtin_ctz(set)];
            next = free_at < next ? free_at : next;
        }
    }
    return next <= c->now ? c->now + 1 : next;
}

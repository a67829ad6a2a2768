/* hybrid_book.h: booking of collectors, banks, units and result buses, one instruction at a time, in the
 * order of issue; and the cycles beside the registers. The stages and their order are those of collect.c;
 * what is fixed there is a constant here. For hybrid*.c: the inner loop of them all. */
#ifndef MODEL_CORE_HYBRID_BOOK_H
#define MODEL_CORE_HYBRID_BOOK_H

#include "model/core/hybrid.h"

#define HYBRID_INLINE static inline __attribute__((always_inline))

/* The numbers that the inner loop is made of. As constants they make divisions shifts and loops straight
 * lines: issue has a version for HYBRID_USUAL (platforms/nvidia.yaml) and one for the rest. */
typedef struct hybrid_shape {
    uint32_t steps, banks, collectors;
} hybrid_shape;

#define HYBRID_USUAL ((hybrid_shape){ .steps = 2, .banks = 2, .collectors = 2 })

HYBRID_INLINE hybrid_shape hybrid_any(const hybrid *h)
{
    return (hybrid_shape){ .steps = h->steps, .banks = h->banks, .collectors = h->collectors };
}

/* -------------------------------------------------------------------------------------------------- banks */

HYBRID_INLINE void hybrid_move_banks(hybrid_sub *s, ls_cycle now, hybrid_shape shape)
{
    uint64_t base = now * shape.steps, passed = base - s->bank_base;
    if (base <= s->bank_base)
        return;
    s->bank_base = base;
    for (uint32_t b = 0; b < shape.banks; b++)
        s->bank_busy[b] = passed >= HYBRID_WINDOW ? 0 : s->bank_busy[b] >> passed;
}

/* Reads `count` operands from a bank, each in the first step from `at` (after bank_base) on that nobody has;
 * returns the last one. Beyond the window nothing is known. */
HYBRID_INLINE uint64_t hybrid_read_bank(uint64_t *bank, uint32_t count, uint64_t at)
{
    if (__builtin_expect(at >= HYBRID_WINDOW, 0))
        return at + count - 1;
    uint64_t busy = *bank, from = ~UINT64_C(0) << at, last;
    do {
        uint64_t free_ones = ~busy & from;
        last = free_ones & (~free_ones + 1);
        busy |= last;
    } while (--count > 0);
    *bank = busy;
    return __builtin_expect(last == 0, 0) ? HYBRID_WINDOW : (uint32_t)__builtin_ctzll(last);
}

/* Reads the operands of an instruction that enters a collector in step `enter`; returns the step of the last
 * one. */
HYBRID_INLINE uint64_t hybrid_read(const hybrid *h, hybrid_sub *s, const hybrid_inst *d, uint32_t warp,
                                   uint64_t enter, ls_cycle now, hybrid_shape shape)
{
    if (enter + 1 - s->bank_base >= HYBRID_WINDOW / 2)
        hybrid_move_banks(s, now, shape);
    uint64_t last = enter - s->bank_base, at = last + 1;
    uint32_t shift = h->bank_shift[warp];
    if (shape.banks == 2) {
        if (d->reads[0] != 0) {
            uint64_t end = hybrid_read_bank(&s->bank_busy[shift], d->reads[0], at);
            last = end > last ? end : last;
        }
        if (d->reads[1] != 0) {
            uint64_t end = hybrid_read_bank(&s->bank_busy[shift ^ 1], d->reads[1], at);
            last = end > last ? end : last;
        }
        return s->bank_base + last;
    }
    for (uint32_t set = d->banks_read; set != 0; set &= set - 1) {
        uint32_t b = (uint32_t)__builtin_ctz(set), bank = b + shift;
        bank = bank >= shape.banks ? bank - shape.banks : bank;
        uint64_t end = hybrid_read_bank(&s->bank_busy[bank], d->reads[b], at);
        last = end > last ? end : last;
    }
    return s->bank_base + last;
}

/* A write-back has its banks in the first step of the cycle. */
HYBRID_INLINE void hybrid_write(const hybrid *h, hybrid_sub *s, uint32_t banks, uint32_t warp, ls_cycle cycle,
                                hybrid_shape shape)
{
    uint64_t at = cycle * shape.steps - s->bank_base;
    if (at >= HYBRID_WINDOW)
        return;
    uint32_t shift = h->bank_shift[warp];
    if (shape.banks == 2) {
        s->bank_busy[shift] |= (uint64_t)(banks & 1) << at;
        s->bank_busy[shift ^ 1] |= (uint64_t)(banks >> 1) << at;
        return;
    }
    for (uint32_t set = banks; set != 0; set &= set - 1) {
        uint32_t bank = (uint32_t)__builtin_ctz(set) + shift;
        s->bank_busy[bank >= shape.banks ? bank - shape.banks : bank] |= UINT64_C(1) << at;
    }
}

/* ----------------------------------------------------------------------------------- collectors and units */

/* Two results cannot leave a unit in the same cycle; true: one already does in `end`. Of two instructions
 * only the second can be the faster one, so those that no other is slower than need not be kept. */
static bool hybrid_meets(const hybrid_sub *s, uint32_t unit, ls_cycle end)
{
    for (uint32_t i = 0; i < HYBRID_ENDS; i++)
        if (s->ends[unit][i] == end)
            return true;
    return false;
}

/* The first cycle from `from` on in which the unit can take the instruction so that its result finds its
 * way. */
HYBRID_INLINE ls_cycle hybrid_start_unit(hybrid *h, hybrid_sub *s, const hybrid_inst *d, ls_cycle from)
{
    uint32_t unit = d->unit;
    ls_cycle start = from > s->unit_free[unit] ? from : s->unit_free[unit];
    for (;; start++) {
        if (__builtin_expect(start + d->latency <= s->last_end[unit], 0) &&
            hybrid_meets(s, unit, start + d->latency))
            continue;
        ls_cycle end = start + d->delay;
        uint64_t *bus = &h->buses[end % CORE_WHEEL], taken = *bus;
        taken = taken >> 8 == end ? taken : end << 8;
        if (__builtin_expect((taken & 255) >= h->result_buses, 0))
            continue;
        *bus = taken + 1;
        break;
    }
    s->unit_free[unit] = start + d->interval;
    if (__builtin_expect(d->slow, 0)) {
        ls_cycle end = start + d->latency;
        s->last_end[unit] = end > s->last_end[unit] ? end : s->last_end[unit];
        s->ends[unit][s->end_count[unit]++ % HYBRID_ENDS] = end;
    }
    return start;
}

/* The collector that is free first; its step in *step. */
HYBRID_INLINE uint32_t hybrid_collector(const hybrid_sub *s, uint64_t *step, hybrid_shape shape)
{
    uint32_t best = 0;
    uint64_t soonest = s->collector_free[0];
    for (uint32_t k = 1; k < shape.collectors; k++)
        if (s->collector_free[k] < soonest) {
            soonest = s->collector_free[k];
            best = k;
        }
    *step = soonest;
    return best;
}

/* As hybrid_collector() for a memory instruction, which could enter in `soonest`. */
HYBRID_INLINE uint32_t hybrid_collector_memory(hybrid_sub *s, uint64_t *step, uint64_t soonest,
                                               hybrid_shape shape)
{
    uint32_t best = 0;
    uint64_t first = HYBRID_STEP_NEVER;
    for (uint32_t k = 0; k < shape.collectors; k++) {
        uint64_t at = s->collector_enter[k] > soonest ? s->collector_enter[k] : s->collector_free[k];
        if (at < first) {
            first = at;
            best = k;
        }
    }
    *step = first;
    s->collector_after[best] = s->collector_enter[best] > soonest ? s->collector_free[best] : 0;
    return best;
}

/* The memory instruction in the collector leaves it in `step`, HYBRID_STEP_NEVER: not known. */
static inline void hybrid_leave_collector(hybrid_sub *s, uint32_t k, uint64_t step)
{
    s->collector_free[k] = step > s->collector_after[k] ? step : s->collector_after[k];
    s->collector_enter[k] = s->collector_after[k] > step ? step : 0;
}

/* The issue register of the unit is taken until `cycle`. Who waits for it asks to be awake then. */
static inline void hybrid_hold_issue(hybrid_sub *s, uint32_t unit, ls_cycle cycle)
{
    s->taken |= 1u << unit;
    s->issue_free[unit] = cycle;
}

/* From the collector to the write-back, whose cycle it returns. */
HYBRID_INLINE ls_cycle hybrid_run(hybrid *h, hybrid_sub *s, uint32_t warp, const hybrid_inst *d,
                                  uint32_t collector, uint64_t enter, ls_cycle now, hybrid_shape shape)
{
    uint64_t dispatched = hybrid_read(h, s, d, warp, enter, now, shape) + 1;
    uint64_t free_step = s->execute_free[d->unit];
    dispatched = dispatched > free_step ? dispatched : free_step;
    s->collector_free[collector] = dispatched;
    s->collector_enter[collector] = d->yields ? enter : 0;
    ls_cycle start = hybrid_start_unit(h, s, d, dispatched / shape.steps + 1);
    s->execute_free[d->unit] = start * shape.steps;
    hybrid_write(h, s, d->banks_written, warp, start + d->delay, shape);
    return start + d->delay;
}

/* An access to shared memory has the load/store unit until `left`; returns when its registers are written. As
 * ldst.c has it: one result per cycle leaves the pipeline, and is written a cycle later. */
static inline ls_cycle hybrid_shared_done(core *c, const flight *f, ls_cycle left)
{
    hybrid *h = c->hybrid;
    if (f->inst->mem_op == LS_MEM_STORE || f->mask == 0)
        return left;
    ls_cycle leaves = left + c->spec->shared_latency_cycles;
    leaves = leaves > h->shared_written ? leaves : h->shared_written + 1;
    h->shared_written = leaves;
    return leaves + (c->spec->network_width == 1);
}

/* ---------------------------------------------------------------------------------------------- registers */

static inline void hybrid_set_results(core *c, uint32_t warp, const hybrid_inst *d, ls_cycle done)
{
    ls_cycle *ready = c->hybrid->ready[warp];
    ready[d->result] = done;
    if (__builtin_expect(d->many, 0)) {
        const uint16_t *reg = d->reg + d->registers;
        for (uint32_t n = d->written; n > 0; n--)
            ready[*--reg] = done;
        if (d->wide)
            hybrid_wide_results(c, warp, d, done);
    }
}

/* When all registers of an instruction are there. */
static inline ls_cycle hybrid_ready_at(const core *c, uint32_t warp, const hybrid_inst *d)
{
    const ls_cycle *ready = c->hybrid->ready[warp];
    const uint16_t *reg = d->reg;
    ls_cycle a = ready[reg[0]], b = ready[reg[1]], e = ready[reg[2]], f = ready[reg[3]];
    a = a > b ? a : b;
    e = e > f ? e : f;
    a = a > e ? a : e;
    if (d->registers > HYBRID_QUICK) {
        for (const uint16_t *more = reg + HYBRID_QUICK, *end = reg + d->registers; more != end; more++)
            a = ready[*more] > a ? ready[*more] : a;
        if (__builtin_expect(d->wide, 0))
            return hybrid_wide_ready(c, warp, d);
    }
    return a;
}

/* ------------------------------------------------------------------------------------------- when to look */

/* The warp is looked at again in `cycle`; if that is beyond the wheel, before that and then again. */
static inline void hybrid_wake_at(core *c, uint32_t warp, ls_cycle cycle)
{
    hybrid *h = c->hybrid;
    uint32_t slot = (uint32_t)(cycle - c->now >= CORE_WHEEL ? c->now - 1 : cycle) % CORE_WHEEL;
    h->wake[slot] |= UINT64_C(1) << warp;
    h->wake_used[slot >> 6] |= UINT64_C(1) << (slot & 63);
    h->wake_words |= 1u << (slot >> 6);
}

/* The next instruction has its registers in cycle `need`; `soonest`: the first cycle in which it could
 * issue. */
static inline void hybrid_set_need(core *c, sub_core *s, uint32_t warp, ls_cycle need, ls_cycle soonest)
{
    uint32_t bit = warp_bit(c, warp);
    c->hybrid->head_ready[warp] = need;
    s->blocked &= ~bit;
    s->memory_blocked &= ~bit;
    if (need > soonest) {
        s->blocked |= bit;
        if (need > c->hybrid->alu_until[warp])
            s->memory_blocked |= bit;
        if (need != LS_CYCLE_MAX)
            hybrid_wake_at(c, warp, need);
    }
}

static inline void hybrid_set_head(core *c, sub_core *s, uint32_t warp, const hybrid_inst *d, ls_cycle need)
{
    c->warps[warp].head = d->inst;
    s->wants[d->unit] |= warp_bit(c, warp);
    hybrid_set_need(c, s, warp, need, c->now + 1);
}

static inline const hybrid_inst *hybrid_head(core *c, uint32_t warp)
{
    const warp_state *w = &c->warps[warp];
    return hybrid_decode(c, warp, w->insts, w->next->inst);
}

#endif

/* hybrid_book.h: booking of collectors, banks, units and result buses, one instruction at a time, in the order of issue.
 * The stages and their order are those of collect.c; what is fixed there is a constant here. For hybrid.c and
 * hybrid_pipe.c: the inner loop of both. */
#ifndef MODEL_CORE_HYBRID_BOOK_H
#define MODEL_CORE_HYBRID_BOOK_H

#include "model/core/hybrid.h"

static inline void hybrid_move_banks(const hybrid *h, hybrid_sub *s, ls_cycle now)
{
    uint64_t base = now * h->steps, passed = base - s->bank_base;
    if (base <= s->bank_base)
        return;
    s->bank_base = base;
    for (uint32_t b = 0; b < h->banks; b++)
        s->bank_busy[b] = passed >= HYBRID_WINDOW ? 0 : s->bank_busy[b] >> passed;
}

/* Reads `count` operands from a bank, each in the first step from `step` on that nobody has; returns the last one. */
static inline uint64_t hybrid_read_bank(hybrid_sub *s, uint32_t bank, uint32_t count, uint64_t step)
{
    uint64_t busy = s->bank_busy[bank], at = step - s->bank_base;
    for (;;) {
        uint64_t free_ones = at < HYBRID_WINDOW ? ~busy >> at : 0;
        if (__builtin_expect(free_ones == 0, 0))
            break;
        at += (uint32_t)__builtin_ctzll(free_ones);
        busy |= UINT64_C(1) << at;
        if (--count == 0) {
            s->bank_busy[bank] = busy;
            return s->bank_base + at;
        }
        at++;
    }
    /* Beyond the window nothing is known. */
    s->bank_busy[bank] = busy;
    return s->bank_base + (at > HYBRID_WINDOW ? at : HYBRID_WINDOW) + count - 1;
}

/* Reads the operands of an instruction that enters a collector in step `enter`; returns the step of the last one. */
static inline uint64_t hybrid_read(const hybrid *h, hybrid_sub *s, const hybrid_inst *d, uint32_t warp,
                                   uint64_t enter, ls_cycle now)
{
    uint64_t last = enter;
    if (enter + 1 - s->bank_base >= HYBRID_WINDOW / 2)
        hybrid_move_banks(h, s, now);
    uint32_t shift = h->bank_shift[warp];
    for (uint32_t set = d->banks_read; set != 0; set &= set - 1) {
        uint32_t b = (uint32_t)__builtin_ctz(set), bank = b + shift;
        bank = bank >= h->banks ? bank - h->banks : bank;
        uint64_t end = hybrid_read_bank(s, bank, d->reads[b], enter + 1);
        last = end > last ? end : last;
    }
    return last;
}

/* A write-back has its banks in the first step of the cycle. */
static inline void hybrid_write(const hybrid *h, hybrid_sub *s, uint32_t banks, uint32_t warp, ls_cycle cycle)
{
    uint64_t at = cycle * h->steps - s->bank_base;
    if (at >= HYBRID_WINDOW)
        return;
    if (h->banks == 2) {
        uint32_t shift = h->bank_shift[warp];
        s->bank_busy[shift] |= (uint64_t)(banks & 1) << at;
        s->bank_busy[shift ^ 1] |= (uint64_t)(banks >> 1) << at;
        return;
    }
    for (uint32_t set = banks; set != 0; set &= set - 1) {
        uint32_t bank = (uint32_t)__builtin_ctz(set) + h->bank_shift[warp];
        s->bank_busy[bank >= h->banks ? bank - h->banks : bank] |= UINT64_C(1) << at;
    }
}

/* The first cycle from `from` on in which the unit can take the instruction so that its result finds its way. */
static inline ls_cycle hybrid_start_unit(core *c, hybrid_sub *s, const hybrid_inst *d, ls_cycle from,
                                         ls_cycle now)
{
    hybrid *h = c->hybrid;
    uint32_t unit = d->unit;
    ls_cycle start = from > s->unit_free[unit] ? from : s->unit_free[unit];
    if (start + d->latency - s->done_base[unit] >= HYBRID_WINDOW) {
        uint64_t passed = now - s->done_base[unit];
        s->done[unit] = passed >= HYBRID_WINDOW ? 0 : s->done[unit] >> passed;
        s->done_base[unit] = now;
    }
    for (;; start++) {
        uint64_t leaves = start + d->latency - s->done_base[unit];
        if (leaves < HYBRID_WINDOW && (s->done[unit] >> leaves & 1) != 0)
            continue;
        ls_cycle end = start + d->delay;
        uint64_t *bus = &h->buses[end % CORE_WHEEL], taken = *bus;
        taken = taken >> 8 == end ? taken : end << 8;
        if ((taken & 255) >= h->result_buses)
            continue;
        *bus = taken + 1;
        if (leaves < HYBRID_WINDOW)
            s->done[unit] |= UINT64_C(1) << leaves;
        break;
    }
    s->unit_free[unit] = start + d->interval;
    return start;
}

/* The collector that is free first; its step in *step. */
static inline uint32_t hybrid_collector(const hybrid *h, const hybrid_sub *s, uint64_t *step)
{
    uint32_t best = 0;
    uint64_t soonest = s->collector_free[0];
    for (uint32_t k = 1; k < h->collectors; k++)
        if (s->collector_free[k] < soonest) {
            soonest = s->collector_free[k];
            best = k;
        }
    *step = soonest;
    return best;
}

/* The issue register of the unit is taken until `cycle`. Who waits for it asks to be awake then. */
static inline void hybrid_hold_issue(hybrid_sub *s, uint32_t unit, ls_cycle cycle)
{
    s->taken |= 1u << unit;
    s->issue_free[unit] = cycle;
}

/* From the collector to the write-back, whose cycle it returns. */
static inline ls_cycle hybrid_run(core *c, hybrid_sub *s, uint32_t warp, const hybrid_inst *d,
                                  uint32_t collector, uint64_t enter, ls_cycle now)
{
    const hybrid *h = c->hybrid;
    uint64_t dispatched = hybrid_read(h, s, d, warp, enter, now) + 1;
    uint64_t free_step = s->execute_free[d->unit] * h->steps;
    dispatched = dispatched > free_step ? dispatched : free_step;
    s->collector_free[collector] = dispatched;
    ls_cycle start = hybrid_start_unit(c, s, d, dispatched / h->steps + 1, now);
    s->execute_free[d->unit] = start;
    hybrid_write(h, s, d->banks_written, warp, start + d->delay);
    return start + d->delay;
}

#endif

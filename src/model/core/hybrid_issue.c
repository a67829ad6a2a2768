/* hybrid_issue.c: issue of alu: hybrid: which scheduler is looked at in this cycle, which warp issues, and
 * for how many cycles what follows is known. May touch its core only. */
#include "model/core/front.h"
#include "model/core/hybrid_book.h"

/* --------------------------------------------------------------------------------- of memory instructions */

static void issue_memory(core *c, sub_core *s, uint32_t sub, uint32_t warp, const hybrid_inst *d)
{
    uint16_t index = flight_take(c, warp, UNIT_memory);
    if (d->inst->dst_count > 0) {
        hybrid_set_results(c, warp, d, LS_CYCLE_MAX);
        c->hybrid->loads[warp]++;
    }
    hybrid_enter_memory(c, sub, warp, d, index);
    if (d->effects)
        front_effects(c, warp, d->inst, c->flights[index].mask, &c->flights[index], hybrid_pending(c, warp));
    if ((s->fence & warp_bit(c, warp)) != 0 && c->warps[warp].busy_until > c->now)
        hybrid_wake_at(c, warp, c->warps[warp].busy_until);
}

/* Shared memory answers in a time that is known as soon as the unit is: then the instruction is booked as
 * those of all other units are. In the order of issue; ldst.c takes the oldest of those that have their
 * operands. */
static bool book_shared(core *c, sub_core *s, uint32_t sub, uint32_t warp, const hybrid_inst *d)
{
    hybrid *h = c->hybrid;
    hybrid_sub *hs = &h->subs[sub];
    warp_state *w = &c->warps[warp];
    const hybrid_shape shape = hybrid_any(h);
    if (d->inst->space != LS_SPACE_SHARED || h->waiting != 0 || c->dispatch != NO_FLIGHT)
        return false;
    uint64_t enter, soonest = (c->now + 1) * shape.steps;
    uint32_t collector = hybrid_collector_memory(hs, &enter, soonest, shape);
    enter = enter > soonest ? enter : soonest;
    if (enter / shape.steps > c->now + 1)
        hybrid_hold_issue(hs, UNIT_memory, enter / shape.steps);
    uint64_t dispatched = hybrid_read(h, hs, d, warp, enter, c->now, shape) + 1;
    uint64_t free_step = hs->execute_free[UNIT_memory];
    dispatched = dispatched > free_step ? dispatched : free_step;
    hybrid_leave_collector(hs, collector, dispatched);
    ls_cycle start = dispatched / shape.steps + 1;
    start = start > h->unit_until ? start : h->unit_until;
    hs->execute_free[UNIT_memory] = start * shape.steps;
    const flight f = { .inst = d->inst,
                       .dyn = w->next,
                       .mask = w->next->mask,
                       .warp = (uint8_t)warp,
                       .sub = (uint8_t)sub,
                       .space = LS_SPACE_SHARED };
    h->unit_until = start + ldst_shared_cycles(c, &f);
    ls_cycle done = hybrid_shared_done(c, &f, h->unit_until);
    hybrid_set_results(c, warp, d, done);
    w->busy_until = done > w->busy_until ? done : w->busy_until;
    c->n.warp_instructions++;
    c->n.thread_instructions += lane_count(f.mask);
    if (d->effects) {
        front_effects(c, warp, d->inst, f.mask, NULL, true);
        if ((s->fence & warp_bit(c, warp)) != 0)
            hybrid_wake_at(c, warp, w->busy_until);
    }
    return true;
}

/* The warp has issued what was buffered, or all. */
static void buffer_empty(core *c, sub_core *s, uint32_t warp)
{
    warp_state *w = &c->warps[warp];
    s->buffered &= ~warp_bit(c, warp);
    if (w->next != w->end)
        c->need_fetch |= UINT64_C(1) << warp;
    else if (w->busy_until > c->now)
        hybrid_wake_at(c, warp, w->busy_until);
}

static void issue_one_memory(core *c, sub_core *s, uint32_t sub, uint32_t warp, const hybrid_inst *d)
{
    warp_state *w = &c->warps[warp];
    count_for(c, warp);
    c->n.issued++;
    c->n.by_class[d->class_]++;
    c->n.unknown_opcodes += d->unknown;
    c->n.register_reads += d->read_count;
    c->n.register_bank_waits += d->read_waits;
    if (!book_shared(c, s, sub, warp, d))
        issue_memory(c, s, sub, warp, d);
    w->next++;
    if (--w->buffered == 0) {
        buffer_empty(c, s, warp);
    } else {
        d = hybrid_head(c, warp);
        hybrid_set_head(c, s, warp, d, hybrid_ready_at(c, warp, d));
    }
}

/* -------------------------------------------------------------------------------------- of all the others */

/* An instruction of an execution unit issues in cycle `now`; returns when its result is there. */
HYBRID_INLINE ls_cycle issue_unit(core *c, hybrid_sub *s, uint32_t sub, uint32_t warp, const hybrid_inst *d,
                                  ls_cycle now, hybrid_shape shape)
{
    uint64_t enter, soonest = (now + 1) * shape.steps;
    uint32_t collector = hybrid_collector(s, &enter, shape);
    if (enter > soonest) {
        if (enter == HYBRID_STEP_NEVER) {
            hybrid_park(c, sub, warp, d);
            c->warps[warp].in_flight++;
            return LS_CYCLE_MAX;
        }
        if (enter / shape.steps > now + 1)
            hybrid_hold_issue(s, d->unit, enter / shape.steps);
        soonest = enter;
    }
    return hybrid_run(c->hybrid, s, warp, d, collector, soonest, now, shape);
}

/* Instructions that are left in the buffer when `issued` of them have gone: it is filled again when it is
 * empty. */
static uint32_t left_in_buffer(uint32_t buffered, uint32_t issued, size_t left)
{
    if (issued < buffered)
        return buffered - issued;
    if (left == 0)
        return 0;
    return (issued - buffered) % 2 != 0 || left == 1 ? 1 : 2;
}

/* Issues the warp's next instruction, and after it, one per cycle, those that nothing can come before: a
 * greedy scheduler stays with its warp as long as that is ready, and what makes it ready is known. Returns
 * for how many cycles that is. */
HYBRID_INLINE uint32_t issue_burst(core *c, sub_core *s, hybrid_sub *h, uint32_t sub, uint32_t warp,
                                   const hybrid_inst *d, hybrid_shape shape)
{
    warp_state *w = &c->warps[warp];
    const ls_inst *insts = w->insts;
    const uint32_t bit = warp_bit(c, warp);
    const bool greedy = c->scheduler_kind == SCHED_GTO, effects = d->effects;
    const ls_dyn *next = w->next, *const first = next, *const end = w->end;
    const size_t most = greedy && !effects ? HYBRID_BURST : 1;
    const ls_dyn *const last = (size_t)(end - next) < most ? end : next + most;
    const uint64_t key = c->hybrid->key[warp];
    const uint32_t first_place = hybrid_first(key);
    ls_cycle now = c->now, busy = c->hybrid->alu_until[warp], need = 0;
    uint64_t missing = 0, counts = 0;
    const hybrid_inst *tail = NULL; /* the last one, if it ended the burst */
    count_for(c, warp);
    for (;;) {
        ls_cycle done = issue_unit(c, h, sub, warp, d, now, shape);
        hybrid_set_results(c, warp, d, done);
        if (__builtin_expect(done != LS_CYCLE_MAX, 1))
            busy = done > busy ? done : busy;
        c->n.by_class[d->class_]++;
        counts += d->counts;
        uint32_t mask = next->mask, lanes = 32;
        if (__builtin_expect(mask != UINT32_MAX, 0)) {
            lanes = (uint32_t)__builtin_popcount(mask);
            missing += 32 - lanes;
        }
        if (d->flops != 0) {
            c->n.flops[d->flops_kind] += (uint64_t)d->flops * lanes;
            c->n.tensor_cycles += d->flops_kind == FLOPS_TENSOR ? d->interval : 0;
        }
        if (++next == last || __builtin_expect(d->jumps, 0)) {
            tail = d;
            break;
        }
        d = hybrid_decode_key(c, key, first_place, insts, next->inst);
        need = hybrid_ready_at(c, warp, d);
        if (need > now + 1 || d->stops)
            break;
        if ((h->taken >> d->unit & 1) != 0) {
            ls_cycle freed = h->issue_free[d->unit];
            if (freed > now + 1) {
                /* One that could go before it may come up in the meantime: that is not seen, so not for
                 * long. */
                uint32_t others = s->buffered & ~(s->barrier | s->fence | s->async | s->blocked | bit);
                if (now + 1 - c->now >= HYBRID_BLIND || freed - now > HYBRID_GAP ||
                    (others & ~s->wants[d->unit]) != 0)
                    break;
                c->n.stalls[STALL_UNIT] += freed - now - 1;
                c->n.stack[STALL_UNIT] += freed - now - 1;
                now = freed - 1;
            }
            h->taken &= ~(1u << d->unit);
        }
        now++;
    }
    bool jumped = tail != NULL && tail->jumps && next != end && front_jumped(tail->inst, &insts[next->inst]);
    if (tail != NULL && next != end && !jumped) {
        d = hybrid_decode_key(c, key, first_place, insts, next->inst);
        need = hybrid_ready_at(c, warp, d);
    }
    const uint64_t one = (UINT64_C(1) << HYBRID_COUNT_BITS) - 1;
    uint32_t count = (uint32_t)(next - first);
    c->n.issued += count;
    c->n.warp_instructions += count;
    c->n.thread_instructions += (uint64_t)count * 32 - missing;
    c->n.register_reads += counts & one;
    c->n.register_bank_waits += counts >> HYBRID_COUNT_BITS & one;
    c->n.unknown_opcodes += counts >> 2 * HYBRID_COUNT_BITS;
    c->hybrid->alu_until[warp] = busy;
    w->busy_until = busy > w->busy_until ? busy : w->busy_until;
    w->next = next;
    w->buffered =
        (uint8_t)(greedy ? left_in_buffer(w->buffered, count, (size_t)(end - next)) : w->buffered - 1u);
    if (effects)
        front_effects(c, warp, &insts[next[-1].inst], next[-1].mask, NULL, hybrid_pending(c, warp));
    if (__builtin_expect(jumped, 0)) {
        w->buffered = 0;
        s->buffered &= ~bit;
        front_hold(c, warp, now + c->spec->branch_cycles - 1);
    } else if (w->buffered == 0)
        buffer_empty(c, s, warp);
    else
        hybrid_set_head(c, s, warp, d, need);
    return (uint32_t)(now + 1 - c->now);
}

static uint32_t issue_usual(core *c, sub_core *s, hybrid_sub *h, uint32_t sub, uint32_t warp,
                            const hybrid_inst *d)
{
    return issue_burst(c, s, h, sub, warp, d, HYBRID_USUAL);
}

static uint32_t issue_any(core *c, sub_core *s, hybrid_sub *h, uint32_t sub, uint32_t warp,
                          const hybrid_inst *d)
{
    return issue_burst(c, s, h, sub, warp, d, hybrid_any(c->hybrid));
}

/* ----------------------------------------------------------------------------------------- the schedulers */

static inline uint32_t issue_warp(core *c, sub_core *s, hybrid_sub *h, uint32_t sub, uint32_t place)
{
    uint32_t warp = place * c->sub_count + sub;
    const hybrid_inst *d = hybrid_head(c, warp);
    s->last_issued = (uint8_t)place;
    s->wants[d->unit] &= ~(1u << place);
    if (d->unit == UNIT_memory) {
        issue_one_memory(c, s, sub, warp, d);
        return 1;
    }
    return c->hybrid->usual ? issue_usual(c, s, h, sub, warp, d) : issue_any(c, s, h, sub, warp, d);
}

/* For how many cycles the sub-core has issued: 0 or, if what follows is known, more than one. */
static uint32_t issue_sub(core *c, sub_core *s, hybrid_sub *h, uint32_t sub)
{
    uint32_t ready = s->buffered & ~(s->barrier | s->fence | s->async | s->blocked);
    if (ready != 0) {
        uint32_t can = ready;
        ls_cycle retry = LS_CYCLE_MAX;
        for (uint32_t set = h->taken; set != 0; set &= set - 1) {
            uint32_t unit = (uint32_t)__builtin_ctz(set);
            if (h->issue_free[unit] <= c->now) {
                h->taken &= ~(1u << unit);
            } else {
                can &= ~s->wants[unit];
                retry = h->issue_free[unit] < retry ? h->issue_free[unit] : retry;
            }
        }
        if (__builtin_expect(c->free_flight == NO_FLIGHT, 0)) {
            can &= ~s->wants[UNIT_memory];
            retry = c->now + 1;
        }
        if (can != 0)
            return issue_warp(c, s, h, sub, front_choose(c, s, sub, can));
        c->front_ready |= 1u << sub;
        h->retry = retry;
        if (retry != LS_CYCLE_MAX) {
            c->hybrid->retry = retry < c->hybrid->retry ? retry : c->hybrid->retry;
            hybrid_look_at(c, retry);
        }
    }
    front_stalled(s, ready);
    return 0;
}

/* The sub-cores whose turn comes after that of `sub` when `turn` is first. */
static uint32_t still_to_come(const core *c, uint32_t sub)
{
    uint32_t before_turn = (1u << c->turn) - 1, after = ~1u << sub;
    return sub < c->turn ? after & before_turn : after | before_turn;
}

void hybrid_issue(core *c)
{
    hybrid *h = c->hybrid;
    const uint32_t from_turn = ~0u << c->turn;
    uint32_t look = c->front_changed & ~h->bursting, changed = 0;
    if (h->retry <= c->now) {
        h->retry = LS_CYCLE_MAX;
        for (uint32_t set = c->front_ready & ~look; set != 0; set &= set - 1) {
            uint32_t sub = (uint32_t)__builtin_ctz(set);
            ls_cycle retry = h->subs[sub].retry;
            if (retry <= c->now)
                look |= 1u << sub;
            else
                h->retry = retry < h->retry ? retry : h->retry;
        }
    }
    c->front_ready &= ~look;
    while (look != 0) {
        uint32_t first = (look & from_turn) != 0 ? look & from_turn : look;
        uint32_t sub = (uint32_t)__builtin_ctz(first);
        look &= ~(1u << sub);
        sub_core *s = &c->subs[sub];
        front_book_sub(c, s, c->now);
        c->front_changed = 0;
        uint32_t count = issue_sub(c, s, &h->subs[sub], sub);
        s->booked = c->now + count;
        if (count == 0)
            continue;
        if (__builtin_expect(c->front_changed != 0, 0)) {
            /* A barrier opened: those whose turn is still to come have it open, too. */
            changed |= c->front_changed;
            look |= c->front_changed & ~h->bursting & still_to_come(c, sub);
        }
        changed |= 1u << sub;
        if (count > 1) {
            h->bursting |= 1u << sub;
            h->subs[sub].burst_end = c->now + count;
            h->burst_next = c->now + count < h->burst_next ? c->now + count : h->burst_next;
            hybrid_look_at(c, c->now + count);
        }
    }
    c->front_changed = changed & ~h->bursting;
    if (changed != 0)
        ls_domain_progress(c->domain);
}

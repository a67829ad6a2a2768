/* flow_issue.c: issue of alu: issue: which warp a scheduler takes, and how far that warp goes on. May touch its
 * core only; see flow.h.
 *
 * The stages are those of collect.c: issue registers, collectors, banks, the registers before the units,
 * units, the load/store unit. They are queues whose end is known: one for each unit, one for the register
 * banks together. */
#include "model/core/flow.h"
#include "model/core/options_state.h"

#include "model/core/front.h"

/* ----------------------------------------------------------------------------------------- warps in order */

static inline void wake(flow_sub *fs, front_sub *s, ls_cycle now)
{
    uint32_t woken = 0;
    while (fs->count > 0 && fs->asleep[fs->count - 1] >> 5 <= now)
        woken |= 1u << (fs->asleep[--fs->count] & 31);
    if (woken == 0)
        return;
    fs->ready |= woken;
    s->buffered |= woken;
    s->blocked &= ~woken;
    s->memory_blocked &= ~woken;
    s->fence &= ~woken;
    s->async &= ~woken;
}

/* ---------------------------------------------------------------------------------------------- registers */

static ls_cycle ready_at_more(const core *c, uint32_t warp, const flow_inst *d, ls_cycle need)
{
    if (d->registers == FLOW_WIDE)
        return flow_wide_ready(c, warp, d->inst);
    const ls_cycle *ready = flow_registers(c->flow, warp);
    for (uint32_t i = 4; i < d->registers; i++)
        need = flow_later(need, ready[d->reg[i]]);
    return need;
}

static inline ls_cycle ready_at(const core *c, uint32_t warp, const ls_cycle *ready, const flow_inst *d)
{
    const uint16_t *reg = d->reg;
    ls_cycle need =
        flow_later(flow_later(ready[reg[0]], ready[reg[1]]), flow_later(ready[reg[2]], ready[reg[3]]));
    return __builtin_expect(d->registers > 4, 0) ? ready_at_more(c, warp, d, need) : need;
}

static void set_more_results(core *c, uint32_t warp, const flow_inst *d, ls_cycle done)
{
    if (d->written == FLOW_WIDE) {
        flow_wide_results(c, warp, d->inst, done);
        return;
    }
    for (uint32_t i = 1; i < d->written; i++)
        flow_registers(c->flow, warp)[d->reg[i]] = done;
}

static inline void set_results(core *c, uint32_t warp, ls_cycle *ready, const flow_inst *d, ls_cycle done)
{
    ready[d->result] = done;
    if (__builtin_expect(d->written > 1, 0))
        set_more_results(c, warp, d, done);
}

ls_cycle flow_ready_at(const core *c, uint32_t warp, const flow_inst *d)
{
    return ready_at(c, warp, flow_registers(c->flow, warp), d);
}

void flow_set_results(core *c, uint32_t warp, const flow_inst *d, ls_cycle done)
{
    set_results(c, warp, flow_registers(c->flow, warp), d, done);
}

/* --------------------------------------------------------------------------------------------- the stages */

/* The cycle in which its unit takes an instruction that issues in cycle `now`; the unit is free from unit_free on.
 * Register banks are one queue, in accesses. As many instructions wait in front of a unit as there are collectors
 * and registers on the way; after that the unit's issue register is held. Instructions that wait for the
 * load/store unit hold collectors that all units share. */
static inline ls_cycle collect(const flow *f, flow_sub *fs, const flow_inst *d, ls_cycle now,
                               ls_cycle unit_free)
{
    ls_cycle enter = flow_later(now + 1, fs->collector_free);
    uint64_t port = flow_later(fs->port, (enter + 1) << f->port_shift);
    fs->port = port + d->port;
    ls_cycle start = flow_later(enter + d->front, (port + d->read_port + f->port_mask) >> f->port_shift);
    start = flow_later(start, unit_free);
    if (__builtin_expect(start > now + 1 + d->held || enter > now + 1, 0)) {
        fs->taken |= d->unit_bit;
        fs->issue_free[d->unit] = start > d->held ? flow_later(enter, start - d->held) : enter;
    }
    return start;
}

/* -------------------------------------------------------------------------------------------------- issue */

static inline flow_inst *decode(core *c, flow_inst *insts, const flow_warp *fw, uint64_t key, uint32_t place)
{
    flow_inst *d = &insts[place % FLOW_INSTS];
    if (__builtin_expect(d->key != key + place, 0))
        flow_decode(c, d, fw->launch, place, key + place);
    return d;
}

flow_inst *flow_head(core *c, uint32_t warp)
{
    const flow_warp *fw = &c->flow->warps[warp];
    return decode(c, c->flow->insts, fw, fw->key, c->front.warps[warp].next->inst);
}

/* Neighbouring words of global memory: their sectors follow from the two ends. */
static inline bool take_dense(core *c, const flow_warp *fw, const flow_inst *d, const ls_dyn *dyn,
                              ls_cycle start, flow_access *access)
{
    if (!d->plain_lanes || (dyn->addr & 3) != LS_ADDR_STRIDE || dyn->mask == 0)
        return false;
    const uint64_t *words = &fw->addrs[dyn->addr >> 2];
    if (words[1] != d->width)
        return false;
    uint64_t last = words[0] + lane_count(dyn->mask) * d->width - 1;
    uint32_t sectors = (uint32_t)(last / SECTOR_BYTES - words[0] / SECTOR_BYTES) + 1, rounds = 1;
    uint32_t banks = c->ldst.l1_banks;
    if (d->bypass)
        rounds = ldst_rounds_past_l1(c, sectors);
    else if (sectors > banks)
        rounds = (sectors + banks - 1) / banks;
    c->n.memory_instructions++;
    *access = flow_take_sectors(c, fw, d, sectors, rounds, start);
    return true;
}

static inline ls_cycle issue_memory(core *c, flow_sub *fs, flow_warp *fw, uint32_t warp, const flow_inst *d,
                                    const ls_dyn *dyn, ls_cycle now)
{
    warp_state *w = &c->front.warps[warp];
    ls_cycle start = collect(c->flow, fs, d, now, *c->flow->unit);
    /* A collector is free when the one in front of the unit has gone into it. */
    fs->starts[fs->memory++ % FLOW_STARTS] = start;
    fs->collector_free = fs->starts[(fs->memory - 1 - c->flow->collectors) % FLOW_STARTS];
    flow_access access;
    if (!take_dense(c, fw, d, dyn, start, &access))
        access = flow_take(c, fw, warp, d, dyn, start);
    if (d->written > 0) {
        set_results(c, warp, flow_registers(c->flow, warp), d, access.registers);
        fw->memory_until = flow_later(fw->memory_until, access.registers);
    }
    w->busy_until = flow_later(w->busy_until, access.done);
    return access.done;
}

/* The same where memory is simulated: an access to shared memory has a known end if the unit waits for nothing
 * else. Returns true if it has; of the others only the load/store unit knows. */
static bool issue_simulated(core *c, flow_sub *fs, flow_warp *fw, uint32_t warp, const flow_inst *d,
                            const ls_dyn *dyn, ls_cycle now, ls_cycle *done)
{
    const flow_simulated *m = c->flow->simulated;
    warp_state *w = &c->front.warps[warp];
    ls_cycle *ready = flow_registers(c->flow, warp);
    bool known = d->space == LS_SPACE_SHARED && m->head == m->tail && c->ldst.dispatch == NO_FLIGHT &&
                 !(OPTION_ON(c->options.cga) && cga_may_leave(c, w->cta, d->inst));
    ls_cycle start = collect(c->flow, fs, d, now, known ? m->unit_free : 0);
    fw->flight = NO_FLIGHT;
    if (!known) {
        if (d->written > 0) {
            set_results(c, warp, ready, d, LS_CYCLE_MAX);
            fw->loads++;
        }
        flow_enqueue(c, warp, d, dyn, start);
        *done = start;
        return false;
    }
    *done = flow_reserve_shared(c, warp, d->inst, dyn, start);
    if (d->written > 0) {
        set_results(c, warp, ready, d, *done);
        fw->memory_until = flow_later(fw->memory_until, *done);
    }
    w->busy_until = flow_later(w->busy_until, *done);
    return true;
}

/* No other warp of the sub-core can issue before this one does, in cycle `need`. */
static inline bool alone(const flow_sub *fs, uint32_t bit, ls_cycle need, bool greedy)
{
    if ((fs->ready & ~bit) != 0)
        return false;
    return fs->count == 0 || (fs->asleep[fs->count - 1] >> 5) + greedy > need;
}

/* A burst of instructions of one warp, and its results. */
typedef struct burst {
    const ls_dyn *next;
    const flow_inst *head; /* of next */
    ls_cycle now;          /* of the last one */
    ls_cycle soon, need;   /* of next: when it may issue; when its registers are there */
    ls_cycle until;        /* the last result of a unit */
    ls_cycle jump;         /* of next, if it is the target of a branch: when it is there; else 0 */
    bool changes;          /* the last one had effects */
    uint64_t missing;      /* lanes that were not active */
    uint64_t queued;       /* instructions that the load/store unit counts, when they end */
    uint64_t held, stalled[2], jumped;
    uint64_t lent; /* cycles in which others may issue */
} burst;

static void count_missing(flow_inst *d, burst *b, uint32_t mask)
{
    if (mask != d->partial) {
        d->partial = mask;
        d->partial_missing = (uint8_t)(32 - lane_count(mask));
    }
    d->missing += d->partial_missing;
    /* cppcheck-suppress ctuuninitvar ; issue_warp() sets it: what a burst leaves behind is not set before */
    b->missing += d->partial_missing;
}

/* Issues the warp's next instruction, and the following ones that nothing can precede. Under a greedy
 * scheduler that holds while there is one per cycle; under every scheduler while no other warp of the sub-core
 * can issue. Uses of the load/store unit stay in the order of time: other sub-cores do nothing before
 * `limit`. */
static __attribute__((noinline)) void issue_burst(core *c, flow_sub *fs, uint32_t warp, uint32_t bit,
                                                  flow_inst *d, ls_cycle first, ls_cycle limit, burst *b)
{
    flow *const f = c->flow;
    flow_warp *const fw = &f->warps[warp];
    flow_inst *const insts = f->insts;
    ls_cycle *const ready = flow_registers(f, warp);
    const uint64_t kernel = fw->key;
    const bool greedy = c->front.scheduler_kind == SCHED_GTO;
    const ls_cycle last = first + FLOW_BURST < f->horizon ? first + FLOW_BURST : flow_later(first, f->horizon);
    const ls_dyn *next = c->front.warps[warp].next, *const end = c->front.warps[warp].end;
    const ls_dyn *const stop = end - next <= FLOW_INSTS_MAX ? end : next + FLOW_INSTS_MAX;
    const uint64_t branch_cycles = c->spec->branch_cycles;
    ls_cycle now = first, soon, need = 0, until = fw->alu_until, jump = 0;
    const ls_inst *branch;
    uint64_t lent = 0;
    bool occupies = false; /* the last one had its unit for all of its latency: that time cannot be lent */
    limit = limit < last - FLOW_SLACK ? limit + FLOW_SLACK : last;
    for (;;) {
        ls_cycle done;
        branch = NULL;
        jump = 0;
        if (d->plain && greedy && fs->collector_free <= now + 1) {
            occupies = false;
            /* As below, without the parts that they do not need. */
            do {
                uint64_t port = flow_later(fs->port, (now + 2) << f->port_shift);
                ls_cycle start =
                    flow_later(now + 1 + d->front, (port + d->read_port + f->port_mask) >> f->port_shift);
                ls_cycle *unit_free = &fs->unit_free[d->unit];
                start = flow_later(start, *unit_free);
                fs->port = port + d->port;
                *unit_free = start + d->interval;
                if (start > now + 1 + d->held) {
                    fs->taken |= d->unit_bit;
                    fs->issue_free[d->unit] = start - d->held;
                }
                d->uses++;
                if (__builtin_expect(next->mask != UINT32_MAX, 0))
                    count_missing(d, b, next->mask);
                done = start + d->delay;
                ready[d->result] = done;
                until = flow_later(until, done);
                soon = now + 1;
                if (++next == stop)
                    goto stopped;
                d = decode(c, insts, fw, kernel, next->inst);
                need = ready_at(c, warp, ready, d);
                if ((fs->taken & d->unit_bit) != 0)
                    goto waits;
                now = soon;
                if (need > soon) {
                    if (need - soon > FLOW_GAP || lent + need - soon > FLOW_LENT)
                        goto waits;
                    lent += need - soon;
                    now = need;
                }
            } while (d->plain);
            if (d->unit == UNIT_memory && now > limit) {
                lent -= now - soon;
                now = soon - 1;
                break;
            }
        }
        const ls_cycle before = until;
        occupies = d->class_ == LS_CLASS_tensor_group;
        d->uses++;
        if (__builtin_expect(next->mask != UINT32_MAX, 0))
            count_missing(d, b, next->mask);
        if (d->unit == UNIT_memory && f->simulated != NULL) {
            if (!issue_simulated(c, fs, fw, warp, d, next, now, &done)) {
                b->queued++;
                b->missing -= next->mask != UINT32_MAX ? d->partial_missing : 0;
            }
        } else if (d->unit == UNIT_memory) {
            done = issue_memory(c, fs, fw, warp, d, next, now);
        } else {
            ls_cycle start = collect(f, fs, d, now, fs->unit_free[d->unit]);
            fs->unit_free[d->unit] = start + d->interval;
            done = start + d->delay;
            set_results(c, warp, ready, d, done);
            until = flow_later(until, done);
        }
        soon = now + 1;
        if (__builtin_expect(d->effects, 0)) {
            /* A fence does not wait for itself. */
            fw->alu_until = f->simulated != NULL && d->written == 0 ? before : until;
            soon = flow_effects(c, warp, d->inst, next, now, done);
            b->changes = true;
        }
        branch = d->jumps ? d->inst : NULL;
        next++;
    stopped:
        if (next == end)
            break;
        d = decode(c, insts, fw, kernel, next->inst);
        need = ready_at(c, warp, ready, d);
        if (__builtin_expect(branch != NULL, 0) && front_jumped(branch, d->inst) && need < now + branch_cycles)
            need = jump = now + branch_cycles;
        if (__builtin_expect(b->changes, 0) || next == stop)
            break;
        if (need <= soon && greedy && (fs->taken & d->unit_bit) == 0 && soon <= limit) {
            now = soon;
            continue;
        }
    waits:
        if (__builtin_expect((fs->taken & d->unit_bit) != 0, 0)) {
            ls_cycle left = fs->issue_free[d->unit];
            if (left > soon && (left > need || left == LS_CYCLE_MAX)) {
                if (!alone(fs, bit, left, greedy) || left > last) {
                    now = soon - 1;
                    break;
                }
                b->held += left - soon;
                soon = left;
            }
            fs->taken &= ~d->unit_bit;
        }
        bool waits = need > soon;
        bool lends =
            waits && greedy && !occupies && need - soon <= FLOW_GAP && lent + need - soon <= FLOW_LENT;
        ls_cycle at = waits ? need : soon;
        if ((waits ? !lends && !alone(fs, bit, need, greedy) : !greedy && (fs->ready & ~bit) != 0) ||
            at > (d->unit == UNIT_memory ? limit : last)) {
            now = soon - 1;
            break;
        }
        *(lends ? &lent : jump != 0 ? &b->jumped : &b->stalled[need > until]) += at - soon;
        now = at;
    }
    b->lent = lent;
    fw->alu_until = b->until = until;
    b->next = next;
    b->head = d;
    b->now = now;
    b->soon = soon;
    b->need = need;
    b->jump = jump;
}

static inline void count_burst(core *c, const burst *b, uint64_t issued)
{
    c->n.issued += issued;
    c->n.warp_instructions += issued - b->queued;
    c->n.thread_instructions += (issued - b->queued) * 32 - b->missing;
    if ((b->stalled[0] | b->stalled[1] | b->jumped | b->held) == 0)
        return;
    c->n.stalls[STALL_FETCH] += b->jumped;
    c->n.stack[STALL_FETCH] += b->jumped;
    c->n.stalls[STALL_UNIT] += b->held;
    c->n.stack[STALL_UNIT] += b->held;
    c->n.stalls[STALL_DEPENDENCE] += b->stalled[0];
    c->n.stack[STALL_DEPENDENCE] += b->stalled[0];
    c->n.stalls[STALL_MEMORY] += b->stalled[1];
    c->n.stack[STALL_MEMORY] += b->stalled[1];
}

/* The sub-core has issued until `end`, except for this many cycles. Its time is set back by these, and so is
 * the remaining work of units and register banks. */
static inline uint64_t set_back(uint64_t at, uint64_t end, uint64_t cycles)
{
    uint64_t time = end - cycles;
    return at >= end ? at - cycles : at > time ? time : at;
}

static void lend(const flow *f, flow_sub *fs, ls_cycle end, uint64_t cycles)
{
    const ls_cycle time = end - cycles;
    for (uint32_t unit = 0; unit < UNIT_COUNT; unit++)
        if (fs->unit_free[unit] > time)
            fs->unit_free[unit] = set_back(fs->unit_free[unit], end, cycles);
    for (uint32_t set = fs->taken & ~fs->closed; set != 0; set &= set - 1) {
        ls_cycle *free_at = &fs->issue_free[__builtin_ctz(set)];
        *free_at = set_back(*free_at, end, cycles);
    }
    fs->port = set_back(fs->port, end << f->port_shift, cycles << f->port_shift);
}

/* The warp has its next instruction at hand. */
static inline void set_next(core *c, flow_sub *fs, front_sub *s, uint32_t warp, uint32_t bit, const burst *b)
{
    s->wants[b->head->unit] |= bit;
    c->front.warps[warp].head = b->head->inst;
    bool simulated = c->flow->simulated != NULL;
    if (b->soon == LS_CYCLE_MAX) {
        flow_warp *fw = &c->flow->warps[warp];
        fs->ready &= ~bit;
        if (!simulated)
            fw->wake = flow_later(fw->wake, b->need);
        return;
    }
    if (simulated && (b->need == LS_CYCLE_MAX || (b->changes && flow_waits(c, warp)))) {
        fs->ready &= ~bit;
        flow_park(c, warp, b->soon);
        return;
    }
    if (b->need <= b->soon && b->soon <= b->now + 1)
        return; /* it is still among the ready ones */
    fs->ready &= ~bit;
    if (b->jump != 0) {
        s->buffered &= ~bit;
    } else {
        s->blocked |= bit;
        if (b->need > b->until && b->need >= b->soon)
            s->memory_blocked |= bit;
    }
    flow_sleep_until(fs, bit, flow_later(b->need, b->soon));
}

/* Returns the cycle after the last instruction of the burst. */
static inline ls_cycle issue_warp(core *c, flow_sub *fs, front_sub *s, uint32_t warp, ls_cycle first,
                                  ls_cycle limit)
{
    warp_state *w = &c->front.warps[warp];
    const flow_warp *fw = &c->flow->warps[warp];
    flow_inst *d = decode(c, c->flow->insts, fw, fw->key, w->next->inst);
    uint32_t bit = warp_bit(c, warp);
    burst b;
    b.changes = false;
    b.missing = b.queued = b.held = b.stalled[0] = b.stalled[1] = b.jumped = 0;
    s->wants[d->unit] &= ~bit;
    count_for(c, warp);
    issue_burst(c, fs, warp, bit, d, first, limit, &b);
    w->busy_until = flow_later(w->busy_until, b.until);
    count_burst(c, &b, (uint64_t)(b.next - w->next));
    w->next = b.next;
    if (b.next == w->end) {
        fs->ready &= ~bit;
        if (b.soon == LS_CYCLE_MAX)
            flow_release_barrier(c, w->cta);
        flow_end_warp(c, warp, b.soon == LS_CYCLE_MAX ? b.now : b.soon - 1);
    } else {
        set_next(c, fs, s, warp, bit, &b);
        if (b.changes)
            flow_release_barrier(c, w->cta);
    }
    if (b.lent != 0)
        lend(c->flow, fs, b.now + 1, b.lent);
    return b.now + 1 - b.lent;
}

/* As front_count_sub_stalls(); each set of reasons is taken apart at the end. */
static inline void count_stalls(core *c, front_sub *s, ls_cycle until)
{
    uint64_t cycles = until - s->counted_until;
    c->n.stalls[s->reason] += cycles;
    c->flow->reasons[s->reasons % FLOW_REASONS] += cycles;
    s->counted_until = until;
}

void flow_count_stalls(core *c, front_sub *s, ls_cycle until)
{
    count_stalls(c, s, until);
}

/* As front_stalled(), for warps that wait for nothing but registers. */
static inline void stalled(front_sub *s)
{
    if ((s->barrier | s->fence | s->async) != 0 || s->blocked == 0) {
        front_stalled(s, 0);
        return;
    }
    uint32_t memory = s->blocked & s->memory_blocked;
    s->reason = memory != 0 ? STALL_MEMORY : STALL_DEPENDENCE;
    s->reasons = (uint32_t)(memory != 0) << STALL_MEMORY | (uint32_t)(memory != s->blocked)
                                                               << STALL_DEPENDENCE;
}

/* One look of a scheduler at its warps, in the cycle of its turn; when it wants the next one. */
static inline ls_cycle step(core *c, uint32_t sub, ls_cycle now, ls_cycle limit)
{
    flow_sub *fs = &c->flow->subs[sub];
    front_sub *s = &c->front.subs[sub];
    wake(fs, s, now);
    uint32_t can = fs->ready;
    ls_cycle retry = LS_CYCLE_MAX;
    for (uint32_t set = fs->taken; set != 0; set &= set - 1) {
        uint32_t unit = (uint32_t)__builtin_ctz(set);
        if (fs->issue_free[unit] <= now) {
            fs->taken &= ~(1u << unit);
        } else {
            can &= ~s->wants[unit];
            retry = fs->issue_free[unit] < retry ? fs->issue_free[unit] : retry;
        }
    }
    if (now > s->counted_until)
        count_stalls(c, s, now);
    fs->time = now;
    if (can == 0) {
        front_stalled(s, fs->ready);
        ls_cycle next = flow_soonest(fs);
        next = next <= now ? now + 1 : next;
        return retry < next && fs->ready != 0 ? retry : next;
    }
    c->now = now; /* for the scheduler */
    uint32_t index = front_choose(c, s, sub, can);
    s->last_issued = (uint8_t)index;
    fs->time = s->counted_until = issue_warp(c, fs, s, index * c->sub_count + sub, now, limit);
    if (fs->ready != 0)
        return fs->time;
    stalled(s);
    return flow_soonest(fs);
}

bool flow_run(core *c)
{
    flow *f = c->flow;
    for (uint32_t ended = f->ended;;) {
        uint32_t sub = 0;
        if (f->ended != ended)
            return true;
        ls_cycle first = f->next[0], second = LS_CYCLE_MAX;
        for (uint32_t i = 1; i < CORE_SUBS_MAX; i++) { /* those that are not there have no cycle */
            ls_cycle at = f->next[i], behind = at < first ? first : at;
            sub = at < first ? i : sub;
            first = at < first ? at : first;
            second = behind < second ? behind : second;
        }
        if (first > f->horizon)
            return false;
        f->next[sub] = step(c, sub, first, second);
    }
}

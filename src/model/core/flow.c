/* flow.c: the pipeline of a core with alu: hybrid and memory: analytic: from issue to issue, without cycles
 * in between. May touch its core only; see flow.h.
 *
 * The stages are those of hybrid.c: issue registers, collectors, banks, the registers before the units,
 * units, the load/store unit. They are queues of which the end is known: one for each unit, one for the
 * register banks together. Sub-cores take their turns in the order of time, so that what they share (the
 * load/store unit, barriers) sees them in that order. */
#include "model/core/flow.h"

#include "model/core/front.h"

/* ----------------------------------------------------------------------------------------- warps in order */

static inline ls_cycle later(ls_cycle a, ls_cycle b)
{
    return a > b ? a : b;
}

static void sleep_until(core *c, flow_sub *fs, uint32_t warp, ls_cycle cycle)
{
    uint64_t key = cycle << 5 | warp / c->sub_count;
    uint32_t i = fs->count++;
    for (; i > 0 && fs->asleep[i - 1] < key; i--)
        fs->asleep[i] = fs->asleep[i - 1];
    fs->asleep[i] = key;
}

static inline ls_cycle soonest(const flow_sub *fs)
{
    return fs->count == 0 ? LS_CYCLE_MAX : later(fs->asleep[fs->count - 1] >> 5, fs->time);
}

static inline void wake(flow_sub *fs, sub_core *s, ls_cycle now)
{
    uint32_t woken = 0;
    while (fs->count > 0 && fs->asleep[fs->count - 1] >> 5 <= now)
        woken |= 1u << (fs->asleep[--fs->count] & 31);
    fs->ready |= woken;
    s->blocked &= ~woken;
    s->memory_blocked &= ~woken;
    s->fence &= ~woken;
    s->async &= ~woken;
}

/* ---------------------------------------------------------------------------------------------- registers */

static inline ls_cycle ready_at(const core *c, uint32_t warp, const hybrid_inst *d)
{
    const ls_cycle *ready = c->hybrid->ready[warp];
    ls_cycle need = 0;
    for (const uint16_t *reg = d->reg, *end = reg + d->registers; reg != end; reg++)
        need = ready[*reg] > need ? ready[*reg] : need;
    return __builtin_expect(d->wide, 0) ? hybrid_wide_ready(c, warp, d) : need;
}

static inline void set_results(core *c, uint32_t warp, const hybrid_inst *d, ls_cycle done)
{
    ls_cycle *ready = c->hybrid->ready[warp];
    const uint16_t *reg = d->reg + d->registers;
    for (uint32_t n = d->written; n > 0; n--)
        ready[*--reg] = done;
    if (__builtin_expect(d->wide, 0))
        hybrid_wide_results(c, warp, d, done);
}

/* --------------------------------------------------------------------------------------------- the stages */

/* An instruction that issues in cycle `now` is taken by its unit, which is free from unit_free on. Register
 * banks are one queue, in accesses. In front of a unit wait as many as there are collectors and registers on
 * the way, then its issue register is held; and those that wait for the load/store unit have the collectors
 * of all. */
static inline ls_cycle collect(const flow *f, flow_sub *fs, const hybrid_inst *d, ls_cycle now,
                               ls_cycle unit_free)
{
    ls_cycle enter = later(now + 1, fs->collector_free);
    uint64_t port = later(fs->port, (enter + 1) << f->port_shift) + d->port;
    fs->port = port;
    ls_cycle start = later(enter + d->front, (port + f->port_mask) >> f->port_shift);
    start = later(start, unit_free);
    ls_cycle left = start > d->held ? later(enter, start - d->held) : enter;
    if (__builtin_expect(left > now + 1, 0)) {
        fs->taken |= 1u << d->unit;
        fs->issue_free[d->unit] = left;
    }
    return start;
}

static inline ls_cycle run_unit(const flow *f, flow_sub *fs, const hybrid_inst *d, ls_cycle now)
{
    ls_cycle start = collect(f, fs, d, now, fs->unit_free[d->unit]);
    fs->unit_free[d->unit] = start + d->interval;
    return start + d->delay;
}

/* -------------------------------------------------------------------------------------- barriers and ends */

static void release_barrier(core *c, uint32_t slot)
{
    flow *f = c->flow;
    cta_state *cta = &c->ctas[slot];
    if (cta->at_barrier == 0 || cta->at_barrier < cta->warps_left)
        return;
    cta->at_barrier = 0;
    for (uint32_t warp = cta->first_warp; warp < (uint32_t)cta->first_warp + cta->warp_count; warp++) {
        uint32_t sub = warp_sub(c, warp), bit = warp_bit(c, warp);
        if ((c->subs[sub].barrier & bit) == 0)
            continue;
        c->subs[sub].barrier &= ~bit;
        c->subs[sub].blocked |= bit;
        sleep_until(c, &f->subs[sub], warp, later(f->warps[warp].wake, f->barrier_at[slot] + 1));
        ls_cycle next = soonest(&f->subs[sub]);
        f->subs[sub].next = next < f->subs[sub].next ? next : f->subs[sub].next;
    }
}

static void end_warp(core *c, uint32_t warp, ls_cycle now)
{
    flow *f = c->flow;
    warp_state *w = &c->warps[warp];
    sub_core *s = &c->subs[warp_sub(c, warp)];
    uint32_t bit = warp_bit(c, warp), slot = w->cta;
    cta_state *cta = &c->ctas[slot];
    ls_cycle end = later(w->busy_until, now + 1);
    c->n.resident_warps += end - f->warps[warp].started;
    w->resident = false;
    c->resident_warps--;
    cta->warps_left--;
    s->resident &= ~bit;
    s->buffered &= ~bit;
    if ((s->barrier & bit) != 0) {
        /* The stream ended at the barrier itself. */
        s->barrier &= ~bit;
        cta->at_barrier--;
    }
    f->cta_end[slot] = later(f->cta_end[slot], end);
    if (cta->warps_left == 0) {
        f->ended |= 1u << slot;
        return;
    }
    f->barrier_at[slot] = later(f->barrier_at[slot], end);
    release_barrier(c, slot);
}

/* What the instruction does to its warp beside its registers. Returns the first cycle in which the next one
 * may issue; LS_CYCLE_MAX: nobody knows, it waits at a barrier. */
static ls_cycle effects(core *c, uint32_t warp, const ls_inst *inst, uint32_t mask, ls_cycle now,
                        ls_cycle done)
{
    flow *f = c->flow;
    flow_warp *fw = &f->warps[warp];
    warp_state *w = &c->warps[warp];
    sub_core *s = &c->subs[warp_sub(c, warp)];
    uint32_t bit = warp_bit(c, warp);
    ls_cycle soon = now + 1;
    if ((inst->flags & LS_INST_FENCE) != 0)
        soon = later(soon, later(fw->alu_until, fw->memory_until));
    bool atomic = inst->mem_op == LS_MEM_ATOMIC || inst->mem_op == LS_MEM_REDUCTION;
    if (atomic && mask != 0 && inst->space != LS_SPACE_SHARED)
        soon = later(soon, done);
    if (soon > now + 1)
        s->fence |= bit;
    if (inst->mem_op == LS_MEM_ASYNC_COPY) {
        ls_cycle *copied = &fw->copied[w->async_open % FLOW_GROUPS];
        *copied = later(*copied, done);
    }
    w->async_open = (uint8_t)(w->async_open + ((inst->flags & LS_INST_ASYNC_COMMIT) != 0));
    if ((inst->flags & LS_INST_ASYNC_WAIT) != 0) {
        /* Waits for all groups but the newest imm. */
        uint8_t open = w->async_open, kept = inst->imm < 0 || inst->imm > open ? open : (uint8_t)inst->imm;
        uint8_t end = (uint8_t)(open - kept);
        for (uint8_t g = end > FLOW_GROUPS ? (uint8_t)(end - FLOW_GROUPS) : 0; g != end; g++)
            if (fw->copied[g % FLOW_GROUPS] > soon) {
                soon = fw->copied[g % FLOW_GROUPS];
                s->async |= bit;
            }
    }
    if ((inst->flags & (LS_INST_BARRIER | LS_INST_ARRIVE)) != 0) {
        f->barrier_at[w->cta] = later(f->barrier_at[w->cta], now);
        c->ctas[w->cta].at_barrier++;
        if ((inst->flags & LS_INST_ARRIVE) != 0 && !c->spec->accelsim_rules)
            return soon;
        s->barrier |= bit;
        fw->wake = soon;
        return LS_CYCLE_MAX;
    }
    return soon;
}

/* -------------------------------------------------------------------------------------------------- issue */

/* What is counted per instruction follows from how often each static one has issued. */
static void count_uses(core *c, hybrid_inst *d)
{
    c->n.by_class[d->inst->class_] += d->uses;
    c->n.register_reads += d->uses * d->read_count;
    c->n.register_bank_waits += d->uses * d->read_waits;
    c->n.unknown_opcodes += d->uses * d->unknown;
    d->uses = 0;
}

/* And forgets them: what comes next may lie where this program was. */
static void count_all_uses(core *c)
{
    hybrid *h = c->hybrid;
    for (uint32_t i = 0; i < HYBRID_CACHE; i++) {
        if (h->decoded[i].uses != 0)
            count_uses(c, &h->decoded[i]);
        h->decoded[i].key = 0;
    }
}

/* What collect() needs; and registers that an instruction names twice need one look. */
static void plan(const core *c, hybrid_inst *d)
{
    const hybrid *h = c->hybrid;
    uint32_t most = 0, busiest = 0, kept = 0, results = (uint32_t)d->registers - d->written;
    for (uint32_t b = 0; b < h->banks; b++) {
        uint32_t all = d->reads[b] + (d->unit == UNIT_memory ? 0 : d->banks_written >> b & 1u);
        most = d->reads[b] > most ? d->reads[b] : most;
        busiest = all > busiest ? all : busiest;
    }
    d->front = (uint8_t)(1 + (most + 1) / h->steps);
    d->port = (uint8_t)((busiest << c->flow->port_shift) / h->steps); /* the banks work side by side */
    /* Of the load/store unit it is not the time that counts but who is in front (issue_memory). */
    d->held = (uint16_t)(d->unit == UNIT_memory ? UINT16_MAX : d->front + (h->collectors + 1) * d->interval);
    for (uint32_t i = 0; i < results && !d->wide; i++) {
        bool again = false;
        for (uint32_t k = i + 1; k < d->registers; k++)
            again |= d->reg[k] == d->reg[i];
        if (!again)
            d->reg[kept++] = d->reg[i];
    }
    if (d->wide)
        return;
    for (uint32_t i = 0; i < d->written; i++)
        d->reg[kept + i] = d->reg[results + i];
    d->registers = (uint8_t)(kept + d->written);
}

static inline hybrid_inst *decode(core *c, const ls_inst *insts, uint64_t kernel, uint32_t place)
{
    hybrid_inst *d = &c->hybrid->decoded[place % HYBRID_CACHE];
    if (__builtin_expect(d->key != kernel + place, 0)) {
        if (d->uses != 0)
            count_uses(c, d);
        hybrid_decode_new(c, d, &insts[place]);
        d->key = kernel + place;
        plan(c, d);
    }
    return d;
}

/* Instructions of a warp are known by the numbers of its kernel and their place in it. */
static inline uint64_t kernel_key(const core *c, const warp_state *w)
{
    const core_launch *launch = &c->ctas[w->cta].launch;
    return (launch->info->id << 8 | (launch->kernel + 1)) << 32;
}

/* The warp has issued until `now`; its next instruction may issue from `soon` on, and has its registers at
 * `need`. */
static void set_next(core *c, flow_sub *fs, sub_core *s, uint32_t warp, const hybrid_inst *d, ls_cycle now,
                     ls_cycle soon, ls_cycle need)
{
    flow_warp *fw = &c->flow->warps[warp];
    uint32_t bit = warp_bit(c, warp);
    s->wants[d->unit] |= bit;
    c->warps[warp].head = d->inst;
    if (soon == LS_CYCLE_MAX) {
        fs->ready &= ~bit;
        fw->wake = later(fw->wake, need);
        return;
    }
    if (need <= soon && soon <= now + 1) {
        fs->ready |= bit;
        return;
    }
    fs->ready &= ~bit;
    s->blocked |= bit;
    if (need > fw->alu_until && need >= soon)
        s->memory_blocked |= bit;
    sleep_until(c, fs, warp, later(need, soon));
}

static ls_cycle issue_memory(core *c, flow_sub *fs, uint32_t warp, const hybrid_inst *d, const ls_dyn *dyn,
                             ls_cycle now)
{
    warp_state *w = &c->warps[warp];
    flow_warp *fw = &c->flow->warps[warp];
    ls_cycle start = collect(c->flow, fs, d, now, *analytic_unit(c));
    /* A collector is free when the one in front of the unit has gone into it. */
    fs->starts[fs->memory++ % FLOW_STARTS] = start;
    fs->collector_free = fs->starts[(fs->memory - 1 - c->hybrid->collectors) % FLOW_STARTS];
    flow_access access = flow_take(c, warp, d, dyn, start);
    if (d->inst->dst_count > 0) {
        set_results(c, warp, d, access.registers);
        fw->memory_until = later(fw->memory_until, access.registers);
    }
    w->busy_until = later(w->busy_until, access.done);
    return access.done;
}

/* Nobody else of the sub-core can issue before the warp does, in cycle `need`. */
static inline bool alone(const flow_sub *fs, uint32_t bit, ls_cycle need, bool greedy)
{
    if ((fs->ready & ~bit) != 0)
        return false;
    return fs->count == 0 || (fs->asleep[fs->count - 1] >> 5) + greedy > need;
}

/* Issues the warp's next instruction, and those after it that nothing can come before: under a greedy
 * scheduler while there is one per cycle, and under each while no other warp of the sub-core can issue. What
 * uses the load/store unit stays in the order of time: other sub-cores do nothing before `limit`. Returns the
 * cycle after the last one. */
static ls_cycle issue_warp(core *c, flow_sub *fs, sub_core *s, uint32_t warp, ls_cycle first, ls_cycle limit)
{
    warp_state *w = &c->warps[warp];
    flow_warp *fw = &c->flow->warps[warp];
    const flow *f = c->flow;
    const ls_inst *insts = w->insts;
    const ls_dyn *next = w->next, *end = w->end;
    const uint64_t kernel = kernel_key(c, w);
    hybrid_inst *d = decode(c, insts, kernel, next->inst);
    uint32_t bit = warp_bit(c, warp);
    const bool greedy = c->scheduler_kind == SCHED_GTO;
    s->last_issued = (uint8_t)__builtin_ctz(bit);
    s->wants[d->unit] &= ~bit;
    ls_cycle now = first, soon, need = 0, until = fw->alu_until;
    const ls_cycle last = first + FLOW_BURST;
    limit = limit < last ? limit : last;
    uint64_t missing = 0, held = 0, stalled[2] = { 0, 0 };
    const ls_dyn *begin = next;
    bool changes;
    for (;;) {
        ls_cycle done = now;
        d->uses++;
        if (__builtin_expect(next->mask != UINT32_MAX, 0))
            missing += 32 - lane_count(next->mask);
        if (d->unit == UNIT_memory) {
            done = issue_memory(c, fs, warp, d, next, now);
        } else {
            done = run_unit(f, fs, d, now);
            set_results(c, warp, d, done);
            until = later(until, done);
        }
        soon = now + 1;
        changes = d->effects;
        if (__builtin_expect(changes, 0)) {
            fw->alu_until = until;
            soon = effects(c, warp, d->inst, next->mask, now, done);
        }
        if (++next == end)
            break;
        d = decode(c, insts, kernel, next->inst);
        need = ready_at(c, warp, d);
        if (changes)
            break;
        if ((fs->taken >> d->unit & 1) != 0) {
            ls_cycle left = fs->issue_free[d->unit];
            if (left > soon && left > need) {
                if (!alone(fs, bit, left, greedy) || left > last)
                    break;
                held += left - soon;
                soon = left;
            }
            fs->taken &= ~(1u << d->unit);
        }
        if (need <= soon) {
            if (!greedy && (fs->ready & ~bit) != 0)
                break;
            now = soon;
        } else {
            if (!alone(fs, bit, need, greedy))
                break;
            stalled[need > until] += need - soon;
            now = need;
        }
        if (now > (d->unit == UNIT_memory ? limit : last)) {
            stalled[need > until] -= now - soon;
            now = soon - 1;
            break;
        }
    }
    fw->alu_until = until;
    w->busy_until = later(w->busy_until, until);
    w->next = next;
    uint64_t issued = (uint64_t)(next - begin);
    c->n.issued += issued;
    c->n.warp_instructions += issued;
    c->n.thread_instructions += issued * 32 - missing;
    if ((stalled[0] | stalled[1] | held) != 0) {
        c->n.stalls[STALL_UNIT] += held;
        c->n.stack[STALL_UNIT] += held;
        c->n.stalls[STALL_DEPENDENCE] += stalled[0];
        c->n.stack[STALL_DEPENDENCE] += stalled[0];
        c->n.stalls[STALL_MEMORY] += stalled[1];
        c->n.stack[STALL_MEMORY] += stalled[1];
    }
    if (next == end) {
        fs->ready &= ~bit;
        if (soon == LS_CYCLE_MAX)
            release_barrier(c, w->cta);
        end_warp(c, warp, soon == LS_CYCLE_MAX ? now : soon - 1);
    } else {
        set_next(c, fs, s, warp, d, now, soon, need);
        if (changes)
            release_barrier(c, w->cta);
    }
    return now + 1;
}

/* As front_book_sub(); each set of reasons is taken apart at the end. */
static inline void book(core *c, sub_core *s, ls_cycle until)
{
    uint64_t cycles = until - s->booked;
    c->n.stalls[s->reason] += cycles;
    c->flow->reasons[s->reasons % FLOW_REASONS] += cycles;
    s->booked = until;
}

static void count_reasons(core *c)
{
    for (uint32_t set = 0; set < FLOW_REASONS; set++) {
        for (uint32_t rest = set; rest != 0; rest &= rest - 1)
            c->n.stack[__builtin_ctz(rest)] += c->flow->reasons[set];
        c->flow->reasons[set] = 0;
    }
}

/* One look of a scheduler at its warps, in cycle fs->next. */
static void step(core *c, uint32_t sub, ls_cycle limit)
{
    flow_sub *fs = &c->flow->subs[sub];
    sub_core *s = &c->subs[sub];
    ls_cycle now = fs->next;
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
    if (now > s->booked)
        book(c, s, now);
    fs->time = now;
    if (can == 0) {
        front_stalled(s, fs->ready);
        ls_cycle next = soonest(fs);
        next = next <= now ? now + 1 : next;
        fs->next = retry < next && fs->ready != 0 ? retry : next;
        return;
    }
    c->now = now;
    uint32_t warp = front_choose(c, s, sub, can) * c->sub_count + sub;
    fs->next = LS_CYCLE_MAX;
    fs->time = s->booked = issue_warp(c, fs, s, warp, now, limit);
    if (fs->ready != 0) {
        fs->next = fs->time;
    } else {
        front_stalled(s, 0);
        fs->next = soonest(fs);
    }
}

/* ----------------------------------------------------------------------------------------------- one look */

static void start_warps(core *c, ls_cycle now)
{
    flow *f = c->flow;
    hybrid *h = c->hybrid;
    for (uint64_t set = c->need_fetch; set != 0; set &= set - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(set), sub = warp_sub(c, warp);
        warp_state *w = &c->warps[warp];
        flow_sub *fs = &f->subs[sub];
        const core_launch *launch = &c->ctas[w->cta].launch;
        if (launch->kernel != h->kernel || launch->insts != h->kernel_insts) {
            /* Another kernel may have its program where the last one had its own. */
            h->kernel = launch->kernel;
            h->kernel_insts = launch->insts;
            count_all_uses(c);
            for (uint32_t i = 0; i < FLOW_SHAPES; i++)
                f->shapes[i].inst = NULL;
        }
        /* Its registers are those of a warp that has ended: all of them are there. */
        f->warps[warp] = (flow_warp){ .started = now };
        f->cta_end[w->cta] = f->barrier_at[w->cta] = 0;
        const hybrid_inst *d = decode(c, w->insts, kernel_key(c, w), w->next->inst);
        w->head = d->inst;
        c->subs[sub].wants[d->unit] |= warp_bit(c, warp);
        c->subs[sub].buffered |= warp_bit(c, warp);
        fs->time = later(fs->time, now);
        sleep_until(c, fs, warp, now + 2); /* it is fetched, and decoded */
        ls_cycle next = soonest(fs);
        fs->next = next < fs->next ? next : fs->next;
    }
    c->need_fetch = 0;
}

static void count_cycles(core *c, ls_cycle now)
{
    flow *f = c->flow;
    if (f->busy) {
        c->n.cycles += now - f->counted;
        c->n.issue_slots += (now - f->counted) * c->sub_count;
    }
    f->counted = now;
}

static void finish_blocks(core *c, ls_cycle now)
{
    flow *f = c->flow;
    for (uint32_t set = f->ended; set != 0; set &= set - 1) {
        uint32_t slot = (uint32_t)__builtin_ctz(set);
        if (f->cta_end[slot] > now)
            continue;
        f->ended &= ~(1u << slot);
        cta_finish(c, slot);
    }
    if (f->busy && c->resident_ctas == 0) {
        for (uint32_t sub = 0; sub < c->sub_count; sub++)
            book(c, &c->subs[sub], now);
        count_all_uses(c);
        count_reasons(c);
    }
}

static bool tick(void *self, ls_cycle now)
{
    core *c = self;
    flow *f = c->flow;
    count_cycles(c, now);
    c->now = c->last_tick = now;
    finish_blocks(c, now);
    if (!f->busy && c->resident_ctas > 0)
        front_book_from(c, now);
    f->busy = c->resident_ctas > 0;
    if (c->need_fetch != 0)
        start_warps(c, now);
    for (;;) {
        uint32_t sub = 0;
        ls_cycle first = f->subs[0].next, second = LS_CYCLE_MAX;
        for (uint32_t i = 1; i < c->sub_count; i++) {
            ls_cycle at = f->subs[i].next;
            if (at < first) {
                second = first;
                first = at;
                sub = i;
            } else if (at < second) {
                second = at;
            }
        }
        if (first > now + FLOW_AHEAD)
            break;
        step(c, sub, second);
    }
    ls_domain_progress(c->domain);
    c->now = now;
    ls_cycle next = LS_CYCLE_MAX;
    for (uint32_t i = 0; i < c->sub_count; i++)
        next = f->subs[i].next < next ? f->subs[i].next : next;
    for (uint32_t set = f->ended; set != 0; set &= set - 1) {
        ls_cycle end = f->cta_end[__builtin_ctz(set)];
        next = end < next ? end : next;
    }
    return core_sleep(c, next);
}

static bool init(core *c)
{
    if (!core_alu_hybrid.init(c))
        return false;
    c->flow = ls_domain_alloc(c->domain, sizeof *c->flow);
    if (c->flow == NULL)
        return false;
    while (1u << c->flow->port_shift < c->hybrid->steps * c->hybrid->banks)
        c->flow->port_shift++;
    c->flow->port_mask = (1u << c->flow->port_shift) - 1;
    for (uint32_t i = 0; i < CORE_SUBS_MAX; i++)
        c->flow->subs[i].next = LS_CYCLE_MAX;
    return true;
}

/* Nothing is released and nothing written at a time of its own. */
static void release(core *c, const flight *f)
{
    (void)c;
    (void)f;
}

static bool take_banks(core *c, const flight *f)
{
    (void)c;
    (void)f;
    return true;
}

const core_alu core_alu_flow = { .init = init, .tick = tick, .release = release, .take_banks = take_banks };

/* hybrid.c: alu: hybrid: warps are scheduled cycle by cycle, but an instruction is looked at once, when it issues.
 *
 * Issue knows when the result will be there (hybrid_pipe.c) and writes that cycle beside the register. A warp whose next
 * instruction needs it sleeps until then; nothing happens at a write-back. Instructions are decoded as in front.c, but
 * always fetched in time.
 * Memory instructions go through the load/store unit as in every model: their registers have no known cycle until
 * release(). */
#include "model/core/front.h"
#include "model/core/hybrid_book.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------- the wheel */

void hybrid_look_at(core *c, ls_cycle cycle)
{
    hybrid *h = c->hybrid;
    if (cycle <= c->now)
        return;
    uint32_t slot = (uint32_t)(cycle - c->now >= CORE_WHEEL ? c->now - 1 : cycle) % CORE_WHEEL;
    h->wake_used[slot >> 6] |= UINT64_C(1) << (slot & 63);
    h->wake_words |= 1u << (slot >> 6);
}

/* The warp is looked at again in `cycle`; if that is beyond the wheel, before that and then again. */
static inline void wake_at(core *c, uint32_t warp, ls_cycle cycle)
{
    hybrid *h = c->hybrid;
    uint32_t slot = (uint32_t)(cycle - c->now >= CORE_WHEEL ? c->now - 1 : cycle) % CORE_WHEEL;
    h->wake[slot][warp_sub(c, warp)] |= warp_bit(c, warp);
    h->wake_used[slot >> 6] |= UINT64_C(1) << (slot & 63);
    h->wake_words |= 1u << (slot >> 6);
}

static inline ls_cycle next_wake(const core *c)
{
    const hybrid *h = c->hybrid;
    if (h->wake_words == 0)
        return LS_CYCLE_MAX;
    uint32_t from = (uint32_t)(c->now + 1) % CORE_WHEEL, word = from >> 6;
    uint64_t here = h->wake_used[word] >> (from & 63);
    if (here != 0)
        return c->now + 1 + (uint32_t)__builtin_ctzll(here);
    uint32_t later = h->wake_words & (~1u << word);
    word = (uint32_t)__builtin_ctz(later != 0 ? later : h->wake_words);
    uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(h->wake_used[word]);
    return c->now + 1 + (slot - from) % CORE_WHEEL;
}

/* ----------------------------------------------------------------------------------------------------- registers */

ls_cycle hybrid_wide_ready(const core *c, uint32_t warp, const hybrid_inst *d)
{
    const ls_cycle *ready = c->hybrid->ready[warp];
    const ls_inst *inst = d->inst;
    bool spans = c->spec->track_spans;
    ls_cycle need = 0;
    for (uint32_t i = 0; i < inst->src_count; i++)
        for (uint32_t k = 0; k < (spans && inst->src_span[i] > 1 ? inst->src_span[i] : 1u); k++)
            if (inst->src[i] + k < LS_REG_COUNT && ready[inst->src[i] + k] > need)
                need = ready[inst->src[i] + k];
    for (uint32_t i = 0; i < inst->dst_count; i++)
        for (uint32_t k = 0; k < (spans && i == 0 && inst->dst_span > 1 ? inst->dst_span : 1u); k++)
            if (inst->dst[i] + k < LS_REG_COUNT && ready[inst->dst[i] + k] > need)
                need = ready[inst->dst[i] + k];
    return need;
}

void hybrid_wide_results(core *c, uint32_t warp, const hybrid_inst *d, ls_cycle done)
{
    ls_cycle *ready = c->hybrid->ready[warp];
    const ls_inst *inst = d->inst;
    bool zero = c->spec->accelsim_rules;
    for (uint32_t i = 0; i < inst->dst_count; i++)
        if (zero || (inst->dst[i] != LS_REG_ZERO && inst->dst[i] < LS_REG_UNIFORM_ZERO))
            for (uint32_t k = 0;
                 k < (c->spec->track_spans && i == 0 && inst->dst_span > 1 ? inst->dst_span : 1u); k++)
                if (inst->dst[i] + k < LS_REG_COUNT)
                    ready[inst->dst[i] + k] = done;
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

/* When all registers of an instruction are there. */
static inline ls_cycle ready_at(const core *c, uint32_t warp, const hybrid_inst *d)
{
    const ls_cycle *ready = c->hybrid->ready[warp];
    ls_cycle need = 0;
    for (const uint16_t *reg = d->reg, *end = reg + d->registers; reg != end; reg++)
        need = ready[*reg] > need ? ready[*reg] : need;
    return __builtin_expect(d->wide, 0) ? hybrid_wide_ready(c, warp, d) : need;
}

/* The next instruction has its registers in cycle `need`; `soonest`: the first cycle in which it could issue. */
static inline void set_need(core *c, sub_core *s, uint32_t warp, ls_cycle need, ls_cycle soonest)
{
    uint32_t bit = warp_bit(c, warp);
    c->hybrid->head_ready[warp] = need;
    s->blocked &= ~bit;
    s->memory_blocked &= ~bit;
    if (need > soonest) {
        s->blocked |= bit;
        if (need == LS_CYCLE_MAX)
            s->memory_blocked |= bit;
        else
            wake_at(c, warp, need);
    }
}

static inline void set_head(core *c, sub_core *s, uint32_t warp, const hybrid_inst *d, ls_cycle need)
{
    c->warps[warp].head = d->inst;
    s->wants[d->unit] |= warp_bit(c, warp);
    set_need(c, s, warp, need, c->now + 1);
}

static inline const hybrid_inst *head_of(core *c, uint32_t warp)
{
    const warp_state *w = &c->warps[warp];
    return hybrid_decode(c, w->head, w->next->inst);
}

static bool any_pending(const core *c, uint32_t warp)
{
    return c->hybrid->loads[warp] > 0 || c->warps[warp].busy_until > c->now;
}

/* Something that the warp waits for may be there. */
static void look_again(core *c, uint32_t warp)
{
    warp_state *w = &c->warps[warp];
    uint32_t sub = warp_sub(c, warp), bit = warp_bit(c, warp);
    sub_core *s = &c->subs[sub];
    if (!w->resident)
        return;
    if ((s->fence & bit) != 0 && w->atomics == 0) {
        if (!any_pending(c, warp))
            s->fence &= ~bit;
        else if (w->busy_until > c->now)
            wake_at(c, warp, w->busy_until);
    }
    if ((s->buffered & s->blocked & bit) != 0)
        set_need(c, s, warp, ready_at(c, warp, head_of(c, warp)), c->now);
    c->front_changed |= 1u << sub;
}

static void release(core *c, const flight *f)
{
    const hybrid_inst *d = hybrid_decode(c, f->inst, (uint32_t)(f->inst - c->warps[f->warp].insts));
    if (f->inst->dst_count > 0) {
        set_results(c, f->warp, d, c->now);
        c->hybrid->loads[f->warp]--;
    }
    look_again(c, f->warp);
}

void hybrid_result(core *c, uint32_t warp, const hybrid_inst *d, ls_cycle done)
{
    warp_state *w = &c->warps[warp];
    set_results(c, warp, d, done);
    w->in_flight--;
    w->busy_until = done > w->busy_until ? done : w->busy_until;
    look_again(c, warp);
    if (w->next == w->end && w->busy_until > c->now)
        wake_at(c, warp, w->busy_until);
}

static bool take_banks(core *c, const flight *f)
{
    hybrid_written(c, f->sub, f->warp,
                   hybrid_decode(c, f->inst, (uint32_t)(f->inst - c->warps[f->warp].insts)));
    return true;
}

/* --------------------------------------------------------------------------------------------------------- issue */

static void issue_memory(core *c, sub_core *s, uint32_t sub, uint32_t warp, const hybrid_inst *d)
{
    uint16_t index = flight_take(c, warp, UNIT_memory);
    if (d->inst->dst_count > 0) {
        set_results(c, warp, d, LS_CYCLE_MAX);
        c->hybrid->loads[warp]++;
    }
    hybrid_enter_memory(c, sub, warp, d, index);
    if (d->effects)
        front_effects(c, warp, d->inst, c->flights[index].mask, &c->flights[index], any_pending(c, warp));
    if ((s->fence & warp_bit(c, warp)) != 0 && c->warps[warp].busy_until > c->now)
        wake_at(c, warp, c->warps[warp].busy_until);
}

/* An instruction of an execution unit issues in cycle `now`; returns when its result is there. */
static inline ls_cycle issue_unit(core *c, hybrid_sub *s, uint32_t sub, uint32_t warp, const hybrid_inst *d,
                                  ls_cycle now)
{
    const hybrid *h = c->hybrid;
    uint64_t enter, soonest = (now + 1) * h->steps;
    uint32_t collector = hybrid_collector(h, s, &enter);
    if (enter > soonest) {
        if (enter == HYBRID_STEP_NEVER) {
            hybrid_park(c, sub, warp, d);
            c->warps[warp].in_flight++;
            return LS_CYCLE_MAX;
        }
        if (enter / h->steps > now + 1)
            hybrid_hold_issue(s, d->unit, enter / h->steps);
        soonest = enter;
    }
    return hybrid_run(c, s, warp, d, collector, soonest, now);
}

/* The warp has issued what was buffered, or all. */
static void buffer_empty(core *c, sub_core *s, uint32_t warp)
{
    warp_state *w = &c->warps[warp];
    s->buffered &= ~warp_bit(c, warp);
    if (w->next != w->end)
        c->need_fetch |= UINT64_C(1) << warp;
    else if (w->busy_until > c->now)
        wake_at(c, warp, w->busy_until);
}

/* Issues the warp's next instruction, and after it, one per cycle, those that nothing can come before: a greedy
 * scheduler stays with its warp as long as that is ready, and what makes it ready is known. Returns for how many
 * cycles that is. */
static uint32_t issue_warp(core *c, sub_core *s, hybrid_sub *h, uint32_t sub, uint32_t warp)
{
    warp_state *w = &c->warps[warp];
    const hybrid_inst *d = head_of(c, warp);
    uint32_t bit = warp_bit(c, warp), buffered = w->buffered;
    s->last_issued = (uint8_t)__builtin_ctz(bit);
    s->wants[d->unit] &= ~bit;
    if (d->unit == UNIT_memory) {
        c->n.issued++;
        c->n.by_class[d->inst->class_]++;
        c->n.unknown_opcodes += d->unknown;
        c->n.register_reads += d->read_count;
        c->n.register_bank_waits += d->read_waits;
        issue_memory(c, s, sub, warp, d);
        w->next++;
        if (--w->buffered == 0) {
            buffer_empty(c, s, warp);
        } else {
            d = hybrid_decode(c, &w->insts[w->next->inst], w->next->inst);
            set_head(c, s, warp, d, ready_at(c, warp, d));
        }
        return 1;
    }
    const bool greedy = c->scheduler_kind == SCHED_GTO;
    const ls_dyn *next = w->next, *first = next;
    ls_cycle now = c->now, busy = w->busy_until, need = 0;
    uint64_t lanes = 0;
    uint32_t others = s->buffered & ~(s->barrier | s->fence | s->async | s->blocked | bit);
    bool effects;
    for (;;) {
        ls_cycle done = issue_unit(c, h, sub, warp, d, now);
        set_results(c, warp, d, done);
        busy = done > busy && done != LS_CYCLE_MAX ? done : busy;
        lanes += lane_count(next->mask);
        c->n.by_class[d->inst->class_]++;
        c->n.register_reads += d->read_count;
        c->n.register_bank_waits += d->read_waits;
        c->n.unknown_opcodes += d->unknown;
        if (ls_inst_flops(d->inst) != 0)
            count_flops(c, d->inst, next->mask);
        effects = d->effects;
        next++;
        if (--buffered == 0) {
            if (next == w->end || !greedy)
                break;
            buffered = w->end - next == 1 ? 1 : 2;
        }
        d = hybrid_decode(c, &w->insts[next->inst], next->inst);
        need = ready_at(c, warp, d);
        if (!greedy || need > now + 1 || d->unit == UNIT_memory || d->effects || effects ||
            next - first == HYBRID_BURST)
            break;
        if ((h->taken >> d->unit & 1) != 0) {
            ls_cycle freed = h->issue_free[d->unit];
            if (freed > now + 1) {
                /* One that could go before it may come up in the meantime: that is not seen, so not for long. */
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
    uint32_t count = (uint32_t)(next - first);
    c->n.issued += count;
    c->n.warp_instructions += count;
    c->n.thread_instructions += lanes;
    w->busy_until = busy;
    w->next = next;
    w->buffered = (uint8_t)buffered;
    if (effects)
        front_effects(c, warp, &w->insts[next[-1].inst], next[-1].mask, NULL, any_pending(c, warp));
    if (buffered == 0)
        buffer_empty(c, s, warp);
    else
        set_head(c, s, warp, d, need);
    return (uint32_t)(now + 1 - c->now);
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
            return issue_warp(c, s, h, sub, front_choose(c, s, sub, can) * c->sub_count + sub);
        c->front_ready |= 1u << sub;
        h->retry = retry;
        if (retry != LS_CYCLE_MAX)
            hybrid_look_at(c, retry);
    }
    front_stalled(s, ready);
    return 0;
}

static void issue(core *c)
{
    hybrid *h = c->hybrid;
    /* The sub-cores to look at, the one whose turn it is in bit 0. */
    uint32_t turn = c->turn, n = c->sub_count, all = (1u << n) - 1;
    uint32_t look = c->front_changed & ~h->bursting;
    for (uint32_t set = c->front_ready & ~look; set != 0; set &= set - 1) {
        uint32_t sub = (uint32_t)__builtin_ctz(set);
        if (h->subs[sub].retry <= c->now)
            look |= 1u << sub;
    }
    c->front_ready &= ~look;
    look = (look >> turn | look << (n - turn)) & all;
    c->front_changed = 0;
    for (; look != 0; look &= look - 1) {
        uint32_t place = (uint32_t)__builtin_ctz(look),
                 sub = place + turn >= n ? place + turn - n : place + turn;
        sub_core *s = &c->subs[sub];
        front_book_sub(c, s, c->now);
        uint32_t count = issue_sub(c, s, &h->subs[sub], sub);
        s->booked = c->now + count;
        if (count == 0)
            continue;
        ls_domain_progress(c->domain);
        if (c->front_changed !=
            0) { /* a barrier opened: those whose turn is still to come have it open, too */
            uint32_t others = c->front_changed & ~h->bursting;
            look |= (others >> turn | others << (n - turn)) & all & (~1u << place);
        }
        c->front_changed |= 1u << sub;
        if (count > 1) {
            h->bursting |= 1u << sub;
            h->subs[sub].burst_end = c->now + count;
            hybrid_look_at(c, c->now + count);
        }
    }
    c->front_changed &= ~h->bursting;
}

static inline void end_bursts(core *c)
{
    hybrid *h = c->hybrid;
    for (uint32_t set = h->bursting; set != 0; set &= set - 1) {
        uint32_t sub = (uint32_t)__builtin_ctz(set);
        if (h->subs[sub].burst_end <= c->now) {
            h->bursting &= ~(1u << sub);
            c->front_changed |= 1u << sub;
        }
    }
}

static void start_warp(core *c, uint32_t warp)
{
    hybrid *h = c->hybrid;
    const core_launch *launch = &c->ctas[c->warps[warp].cta].launch;
    if (launch->kernel != h->kernel || launch->insts != h->kernel_insts) {
        /* Another kernel may have its program where the last one had its own. */
        h->kernel = launch->kernel;
        h->kernel_insts = launch->insts;
        for (uint32_t i = 0; i < HYBRID_CACHE; i++)
            h->decoded[i].inst = NULL;
    }
    memset(h->ready[warp], 0, sizeof h->ready[warp]);
    h->loads[warp] = 0;
}

static void decode(core *c, uint32_t warp)
{
    warp_state *w = &c->warps[warp];
    size_t left = (size_t)(w->end - w->next);
    sub_core *s = &c->subs[warp_sub(c, warp)];
    if (w->head == NULL)
        start_warp(c, warp);
    w->buffered = left < 2 ? 1 : 2;
    s->buffered |= warp_bit(c, warp);
    c->front_changed |= 1u << warp_sub(c, warp);
    const hybrid_inst *d = hybrid_decode(c, &w->insts[w->next->inst], w->next->inst);
    set_head(c, s, warp, d, ready_at(c, warp, d));
}

/* As front.c: two instructions at a time, so many warps per cycle, one round after another. */
static void fetch(core *c)
{
    for (uint64_t round = 0; round < c->spec->fetch_rounds; round++) {
        if (c->fetched >= 0) {
            decode(c, (uint32_t)c->fetched);
            c->fetched = -1;
        }
        if (c->need_fetch == 0)
            return;
        uint64_t later = c->last_fetched >= 63 ? 0 : c->need_fetch & (~UINT64_C(1) << c->last_fetched);
        uint32_t warp = (uint32_t)__builtin_ctzll(later != 0 ? later : c->need_fetch);
        c->need_fetch &= ~(UINT64_C(1) << warp);
        c->last_fetched = warp;
        c->fetched = (int32_t)warp;
    }
}

/* --------------------------------------------------------------------------------------------------- one cycle */

static void wake_warps(core *c)
{
    hybrid *h = c->hybrid;
    uint32_t slot = (uint32_t)c->now % CORE_WHEEL;
    h->wake_used[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
    if (h->wake_used[slot >> 6] == 0)
        h->wake_words &= ~(1u << (slot >> 6));
    for (uint32_t sub = 0; sub < c->sub_count; sub++) {
        uint32_t set = h->wake[slot][sub];
        h->wake[slot][sub] = 0;
        for (; set != 0; set &= set - 1) {
            uint32_t bit = set & (~set + 1), warp = (uint32_t)__builtin_ctz(set) * c->sub_count + sub;
            sub_core *s = &c->subs[sub];
            warp_state *w = &c->warps[warp];
            if ((s->buffered & s->blocked & bit) != 0 && (s->fence & bit) == 0 &&
                h->head_ready[warp] <= c->now) {
                s->blocked &= ~bit;
                c->front_changed |= 1u << sub;
            } else if (w->resident && w->next == w->end) {
                if (w->busy_until > c->now)
                    wake_at(c, warp, w->busy_until);
                else
                    cta_warp_maybe_done(c, warp);
            } else {
                look_again(c, warp);
            }
        }
    }
}

/* The load/store unit is one for all: the oldest instruction goes first. */
static void load_store(core *c)
{
    hybrid *h = c->hybrid;
    bool due = ldst_due(c);
    if (due)
        ldst_cycle(c);
    if (h->waiting != 0 && ldst_can_take(c)) {
        uint32_t from = CORE_SUBS_MAX;
        uint16_t oldest = NO_FLIGHT;
        for (uint32_t set = h->waiting; set != 0; set &= set - 1) {
            uint32_t sub = (uint32_t)__builtin_ctz(set);
            const hybrid_wait *w = &h->subs[sub].queue[h->subs[sub].head % HYBRID_QUEUE];
            if (w->ready <= c->now &&
                (oldest == NO_FLIGHT || c->flights[w->flight].uid < c->flights[oldest].uid)) {
                oldest = w->flight;
                from = sub;
            }
        }
        if (oldest != NO_FLIGHT) {
            hybrid_took(c, from);
            ldst_take(c, oldest);
            due = true;
        }
    }
    if (due)
        c->memory_next = ldst_next(c);
}

static bool tick(void *self, ls_cycle now)
{
    core *c = self;
    hybrid *h = c->hybrid;
    if (now != c->last_tick + 1 || c->resident_warps_then == 0)
        core_book_sleep(c, now);
    c->now = now;
    c->last_tick = now;
    if (c->resident_warps > 0) {
        c->n.cycles++;
        c->n.resident_warps += c->resident_warps;
    }
    uint32_t slot = (uint32_t)now % CORE_WHEEL;
    if ((h->wake_used[slot >> 6] >> (slot & 63) & 1) != 0)
        wake_warps(c);
    if (OPTION_ON(c->options.any))
        options_cycle(c);
    if (h->waiting != 0 || ldst_due(c))
        load_store(c);
    if (h->bursting != 0)
        end_bursts(c);
    if (c->resident_warps > 0) {
        c->n.issue_slots += c->sub_count;
        if ((c->front_changed | c->front_ready) != 0)
            issue(c);
        if (++c->turn == c->sub_count)
            c->turn = 0;
        if ((c->need_fetch | (uint64_t)(c->fetched >= 0)) != 0)
            fetch(c);
    } else if (c->resident_warps_then > 0) {
        front_book(c, now);
    }
    c->resident_warps_then = c->resident_warps;
    uint32_t changed = c->front_changed & ~h->bursting;
    if (c->resident_warps > 0 && (c->need_fetch | changed | (uint64_t)(c->fetched >= 0)) != 0)
        return true;
    ls_cycle next = next_wake(c);
    next = c->memory_next < next ? c->memory_next : next;
    if (OPTION_ON(c->options.any)) {
        ls_cycle optional = options_next(c);
        next = optional < next ? optional : next;
    }
    return core_sleep(c, next <= now ? now + 1 : next);
}

static bool init(core *c)
{
    hybrid *h = ls_domain_alloc(c->domain, sizeof *h);
    if (h == NULL)
        return false;
    c->hybrid = h;
    h->steps = (uint32_t)c->spec->collect_steps;
    h->banks = (uint32_t)c->spec->register_banks;
    h->collectors = (uint32_t)c->spec->collectors;
    h->result_buses = (uint32_t)c->spec->result_buses;
    for (uint32_t warp = 0; warp < CORE_WARPS_MAX; warp++)
        h->bank_shift[warp] = (uint8_t)(warp % h->banks);
    return true;
}

const core_alu core_alu_hybrid = { .init = init, .tick = tick, .release = release, .take_banks = take_banks };

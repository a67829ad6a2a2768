/* bank_command.c: the banks and the command bus. Works on cycles and masks, independent of ports and events.
 *
 * In each cycle, in this order: a request from the front joins the queue; one bank without a request takes one
 * from the queue, banks in turn; commands leave. The rules of a command are kept as the first cycle in which
 * it may leave: per bank, per bank group and for the channel. A bank is ripe when its own and its group's
 * times have come; the others wait in a small wheel. A group's time can move on while a ripe bank waits for
 * the bus, so it is checked once more before the command leaves.
 *
 * The turn moves by one when a bank takes a request, and past the bank of a row command, as in GPGPU-Sim. */
#include "model/dram/bank.h"

#include <string.h>

static inline ls_cycle later(ls_cycle a, ls_cycle b)
{
    return a > b ? a : b;
}

static inline ls_cycle sooner(ls_cycle a, ls_cycle b)
{
    return a < b ? a : b;
}

/* The first bank of a mask that is not empty, counting from `from` and around. */
static inline bank *first_from(const bank_channel *c, uint64_t mask, uint32_t from)
{
    uint64_t behind = mask >> from << from;
    return &c->banks[__builtin_ctzll(behind != 0 ? behind : mask)];
}

/* ---------------------------------------------------------------------------------------- ripe and unripe */

/* Not before cycle `at`, which is later than t. Far times are looked at again on the way. */
static inline void wait_until(bank_channel *c, bank *b, ls_cycle at, ls_cycle t)
{
    ls_cycle look = at - t < BANK_WHEEL ? at : t + BANK_WHEEL - 1;
    uint32_t slot = (uint32_t)look % BANK_WHEEL;
    b->look = at;
    c->wheel[slot] |= b->bit;
    c->wheel_bits |= UINT64_C(1) << slot;
}

static inline void ripen(bank_channel *c, ls_cycle t)
{
    uint32_t slot = (uint32_t)t % BANK_WHEEL;
    uint64_t mask = c->wheel[slot];
    c->wheel[slot] = 0;
    c->wheel_bits &= ~(UINT64_C(1) << slot);
    do {
        bank *b = &c->banks[__builtin_ctzll(mask)];
        mask &= mask - 1;
        if (LS_LIKELY(b->look <= t))
            c->ripe[b->want] |= b->bit;
        else
            wait_until(c, b, b->look, t);
    } while (mask != 0);
}

static inline void set_want(bank_channel *c, bank *b, uint32_t want, ls_cycle t)
{
    ls_cycle at = later(b->at[want], c->groups[b->group].at[want]);
    b->want = want;
    if (at <= t)
        c->ripe[want] |= b->bit;
    else
        wait_until(c, b, at, t);
}

/* ----------------------------------------------------------------------------------------------- refresh */

/* All banks: closed, refreshed, and usable again from one cycle on. No command leaves between the due time
 * and that cycle, so the whole of it is known at once. Refreshes of idle time are counted when work comes. */
static __attribute__((noinline, cold)) void refresh_all(bank_channel *c, ls_cycle t)
{
    ls_cycle start = c->refresh_due;
    uint32_t open = 0;
    for (uint32_t i = 0; i <= c->bank_mask; i++) {
        const bank *b = &c->banks[i];
        open += b->open;
        start = later(start, b->open ? later(b->at[BANK_PRECHARGE], c->groups[b->group].at[BANK_PRECHARGE])
                                     : b->at[BANK_ACTIVATE]);
    }
    ls_cycle end = start + (open != 0 ? c->times.rp : 0) + c->times.rfc;
    c->n.precharges += open;
    c->n.refreshes++;
    c->refresh_due += c->times.refi;
    if (c->refresh_due <= t) {
        uint64_t more = (t - c->refresh_due) / c->times.refi;
        c->n.refreshes += more + 1;
        c->refresh_due += more * c->times.refi;
        end = c->refresh_due + c->times.rfc;
        c->refresh_due += c->times.refi;
    }
    memset(c->ripe, 0, sizeof c->ripe);
    memset(c->wheel, 0, sizeof c->wheel);
    c->wheel_bits = 0;
    for (uint32_t i = 0; i <= c->bank_mask; i++) {
        bank *b = &c->banks[i];
        b->open = false;
        b->at[BANK_ACTIVATE] = end;
        if ((c->busy & b->bit) != 0)
            set_want(c, b, BANK_ACTIVATE, t);
    }
}

/* Takes a busy bank out of the masks and the wheel. */
static void forget_bank(bank_channel *c, const bank *b)
{
    if ((c->ripe[b->want] & b->bit) != 0) {
        c->ripe[b->want] &= ~b->bit;
        return;
    }
    for (uint64_t bits = c->wheel_bits; bits != 0; bits &= bits - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(bits);
        if ((c->wheel[slot] & b->bit) == 0)
            continue;
        c->wheel[slot] &= ~b->bit;
        if (c->wheel[slot] == 0)
            c->wheel_bits &= ~(UINT64_C(1) << slot);
        return;
    }
}

/* One bank: closed, refreshed, and usable again, while the others go on. */
static void refresh_bank(bank_channel *c, bank *b, ls_cycle due, ls_cycle t)
{
    ls_cycle start = later(due, b->open ? later(b->at[BANK_PRECHARGE], c->groups[b->group].at[BANK_PRECHARGE])
                                        : b->at[BANK_ACTIVATE]);
    c->n.precharges += b->open;
    c->n.refreshes++;
    b->at[BANK_ACTIVATE] = start + (b->open ? c->times.rp : 0) + c->times.rfcb;
    b->open = false;
    if ((c->busy & b->bit) != 0) {
        forget_bank(c, b);
        set_want(c, b, BANK_ACTIVATE, t);
    }
}

/* All that are due by t. Whole rounds of idle time are counted without looking at each. */
static __attribute__((noinline, cold)) void refresh_banks(bank_channel *c, ls_cycle t)
{
    uint64_t banks = (uint64_t)c->bank_mask + 1, round = banks * c->refresh_step;
    if (t - c->refresh_due >= 2 * round) {
        uint64_t rounds = (t - c->refresh_due) / round - 1;
        c->n.refreshes += rounds * banks;
        c->refresh_due += rounds * round;
    }
    for (; c->refresh_due <= t; c->refresh_due += c->refresh_step) {
        refresh_bank(c, &c->banks[c->refresh_bank], c->refresh_due, t);
        c->refresh_bank = (c->refresh_bank + 1) & c->bank_mask;
    }
}

/* ------------------------------------------------------------------------------------------------- queue */

/* Which queue is served: reads, unless writes wait apart and are many, or there is no read. */
static inline uint32_t queue_in_turn(const bank_channel *c)
{
    return LS_UNLIKELY(c->apart) && (c->draining || c->waiting[0] == 0);
}

/* Parts of the first request in front are gone, the last of them in cycle `joined`; at most one joins in a cycle. */
static inline void next_in_front(bank_channel *c, bank_request *r, uint32_t parts, ls_cycle joined)
{
    c->seen_parts -= c->seen_parts < parts ? c->seen_parts : parts;
    r->in_front = (uint8_t)(r->in_front - parts);
    if (r->in_front != 0) {
        uint8_t step = r->steps[r->parts - r->in_front - 1];
        r->enter += step;
        r->span = (uint16_t)(r->span - step);
    } else if (++c->front_head == c->front_tail) {
        c->front_at = LS_CYCLE_MAX;
        return;
    } else {
        r = &c->requests[c->front[c->front_head & c->ring_mask]];
    }
    c->front_at = later(r->enter, joined + 1);
}

void bank_join(bank_channel *c, ls_cycle t)
{
    do {
        uint32_t request = c->front[c->front_head & c->ring_mask];
        bank_request *r = &c->requests[request];
        uint32_t kind = c->apart && r->write;
        if (c->waiting[kind] == c->limit[kind]) {
            c->front_at = LS_CYCLE_MAX; /* until a bank takes a request */
            return;
        }
        /* All at once, if they have come in time and there is room. */
        uint32_t parts = 1;
        ls_cycle joined = c->front_at;
        if (joined == r->enter && joined + r->span <= t && c->waiting[kind] + r->in_front <= c->limit[kind]) {
            parts = r->in_front;
            joined += r->span;
        }
        bank_queue_add(c, kind, request, parts);
        next_in_front(c, r, parts, joined);
    } while (c->front_at <= t);
}

static inline void serve(bank_channel *c, bank *b, uint32_t request, ls_cycle t)
{
    const bank_request *r = &c->requests[request];
    if (!c->in_order)
        c->turn = (c->turn + 1) & c->bank_mask;
    else
        b = &c->banks[r->bank];
    b->request = request;
    c->busy |= b->bit;
    uint32_t want = r->write; /* BANK_READ or BANK_WRITE */
    if (!b->open) {
        c->n.row_misses++;
        want = BANK_ACTIVATE;
    } else if (b->row != r->row) {
        c->n.row_conflicts++;
        want = BANK_PRECHARGE;
    } else {
        c->n.row_hits++;
    }
    set_want(c, b, want, t);
}

/* A request that joins in this very cycle and finds its bank free and no other in need has no need to
 * queue. */
static inline bool serve_at_once(bank_channel *c, ls_cycle t)
{
    uint32_t request = c->front[c->front_head & c->ring_mask];
    bank_request *r = &c->requests[request];
    bank *b = &c->banks[r->bank];
    if (c->front_at != t || (c->busy & b->bit) != 0 || (c->queued[0] & ~c->busy) != 0 || c->apart ||
        c->in_order || c->waiting[0] == c->limit[0])
        return false;
    if (c->waiting[0] >= c->n.queue_peak)
        c->n.queue_peak = c->waiting[0] + 1;
    next_in_front(c, r, 1, t);
    serve(c, b, request, t);
    return true;
}

/* At most one bank takes a request. */
static inline void take_request(bank_channel *c, ls_cycle t)
{
    c->taken = t;
    if (c->front_at <= t) {
        if (serve_at_once(c, t))
            return;
        bank_join(c, t);
    }
    uint32_t kind = queue_in_turn(c);
    uint64_t banks = c->queued[kind] & ~c->busy;
    if (banks != 0) {
        bank *b = first_from(c, banks, c->turn);
        serve(c, b, bank_queue_take(c, kind, b, t), t);
        if (c->front_at == LS_CYCLE_MAX && c->front_head != c->front_tail)
            c->front_at = t + 1; /* it was full: the next cycle sees the room */
    }
}

/* ---------------------------------------------------------------------------------------------- commands */

static inline void send_activate(bank_channel *c, bank *b, ls_cycle t)
{
    const bank_request *r = &c->requests[b->request];
    c->ripe[BANK_ACTIVATE] &= ~b->bit;
    b->open = true;
    b->row = r->row;
    b->at[BANK_READ] = t + c->times.rcd;
    b->at[BANK_WRITE] = t + c->times.rcdwr;
    b->at[BANK_PRECHARGE] = t + c->times.ras;
    b->at[BANK_ACTIVATE] = t + c->times.rc;
    c->groups[b->group].at[BANK_ACTIVATE] = t + c->times.rrdl;
    c->faw_at[c->activate_turn] = t + c->times.faw;
    c->activate_turn = (c->activate_turn + 1) & 3;
    c->at[BANK_ACTIVATE] = later(t + c->times.rrd, c->faw_at[c->activate_turn]);
    c->n.activates++;
    set_want(c, b, r->write, t);
}

static inline void send_precharge(bank_channel *c, bank *b, ls_cycle t)
{
    c->ripe[BANK_PRECHARGE] &= ~b->bit;
    b->open = false;
    b->at[BANK_ACTIVATE] = later(b->at[BANK_ACTIVATE], t + c->times.rp);
    c->n.precharges++;
    set_want(c, b, BANK_ACTIVATE, t);
}

static inline void send_row(bank_channel *c, bank *b, ls_cycle t)
{
    c->turn = (b->number + 1) & c->bank_mask;
    if (b->want == BANK_ACTIVATE)
        send_activate(c, b, t);
    else
        send_precharge(c, b, t);
}

/* Data enters the pipe after the data in it. After the last atom of the request the bank is free. */
static inline void send_column(bank_channel *c, bank *b, ls_cycle t)
{
    bank_group *g = &c->groups[b->group];
    bank_request *r = &c->requests[b->request];
    ls_cycle due = t - c->pipe_held, pre;
    c->ripe[b->want] &= ~b->bit;
    g->at[BANK_WRITE] = t + c->times.ccdl;
    c->n.busy_cycles += c->times.burst;
    dram_tap(c->tap, c->region, t, LS_DRAM_ATOM_BYTES);
    dram_active_until(&c->n.active_cycles, &c->active_since, t + c->times.burst);
    if (b->want == BANK_READ) {
        c->at[BANK_READ] = t + c->times.ccd;
        c->at[BANK_WRITE] = t + c->times.rtw;
        g->at[BANK_READ] = t + c->times.ccdl;
        g->at[BANK_PRECHARGE] = t + c->times.rtpl;
        pre = t + c->times.burst;
        due += c->times.cl;
        c->n.reads++;
    } else {
        c->at[BANK_READ] = t + c->times.wtr;
        c->at[BANK_WRITE] = t + c->times.ccd;
        g->at[BANK_READ] = t + c->times.wtrl;
        pre = t + c->times.wtp;
        due += c->times.wl;
        c->n.writes++;
    }
    b->at[BANK_PRECHARGE] = later(b->at[BANK_PRECHARGE], pre);
    c->pipe_last = later(due, c->pipe_last + 1);
    if (LS_UNLIKELY(--r->atoms != 0)) {
        wait_until(c, b, g->at[BANK_WRITE], t);
        return;
    }
    bank_data *data = &c->pipe[c->pipe_tail++ & c->ring_mask];
    data->due = c->pipe_last;
    data->pushed = r->pushed;
    data->token = r->token;
    data->write = r->write;
    data->more = --r->unsent != 0;
    c->writes_coming -= r->write;
    c->busy &= ~b->bit;
    if (data->more)
        r->atoms = 1;
    else
        index_pool_give(&c->request_pool, INDEX_LINKS(c->requests, next), b->request);
}

/* The first bank of a mask, from `from` on and around, whose group lets it send; those on the way wait. */
static inline bank *find(bank_channel *c, uint64_t *mask, uint32_t from, ls_cycle t)
{
    while (*mask != 0) {
        bank *b = first_from(c, *mask, from);
        ls_cycle at = c->groups[b->group].at[b->want];
        if (LS_LIKELY(at <= t))
            return b;
        *mask &= ~b->bit;
        c->ripe[b->want] &= ~b->bit;
        wait_until(c, b, at, t);
    }
    return NULL;
}

/* `count` banks from `start` and around. */
static inline uint64_t banks_around(const bank_channel *c, uint32_t start, uint32_t count)
{
    uint64_t all = UINT64_MAX >> (63 - c->bank_mask);
    if (count > c->bank_mask)
        return all;
    uint64_t ones = (UINT64_C(1) << count) - 1;
    return start == 0 ? ones : (ones << start | ones >> (c->bank_mask + 1 - start)) & all;
}

/* One command per cycle, of the kind that stands first. GPGPU-Sim's single bus continues after a row command
 * and may send a column command too. But its search then starts as many banks after the one of the row command
 * as it had passed until there, and skips those between. Dual: one of each; the column command goes first. */
static inline void send_commands(bank_channel *c, ls_cycle t)
{
    uint64_t columns = 0, rows = c->ripe[BANK_PRECHARGE];
    if (t >= c->at[BANK_READ])
        columns = c->ripe[BANK_READ];
    if (t >= c->at[BANK_WRITE])
        columns |= c->ripe[BANK_WRITE];
    if (t >= c->at[BANK_ACTIVATE])
        rows |= c->ripe[BANK_ACTIVATE];
    if (LS_UNLIKELY(c->pipe_last + c->pipe_held >= t + c->pipe_depth))
        columns = 0; /* the return queue has been full for so long that the pipe is, too */
    if ((columns | rows) == 0)
        return;
    bank *column = NULL, *row = NULL;
    if (c->bus == BANK_BUS_DUAL) {
        column = find(c, &columns, c->turn, t);
    } else {
        uint64_t all = columns | rows;
        bank *first = find(c, &all, c->turn, t);
        if (first == NULL)
            return;
        if (first->want <= BANK_WRITE) {
            column = first;
        } else {
            row = first;
            columns &= all;
            if (columns != 0 && c->bus == BANK_BUS_ACCELSIM) {
                uint32_t passed = ((row->number - c->turn) & c->bank_mask) + 1;
                columns &= ~banks_around(c, (row->number + 1) & c->bank_mask, passed);
                column = find(c, &columns, (row->number + 1 + passed) & c->bank_mask, t);
            }
        }
    }
    if (column != NULL)
        send_column(c, column, t);
    if (c->bus == BANK_BUS_DUAL)
        row = find(c, &rows, c->turn, t);
    if (row != NULL)
        send_row(c, row, t);
}

/* -------------------------------------------------------------------------------------------------- time */

/* When a request from the front finds its bank free, if that is before `next`. The others join in passing,
 * as far as there is room now: more of it comes when a bank takes a request, and then this is looked at
 * again. */
static inline ls_cycle next_arrival(const bank_channel *c, ls_cycle soon, ls_cycle next)
{
    uint32_t room = c->limit[0] - c->waiting[0] + c->limit[1] - c->waiting[1];
    ls_cycle enter = c->front_at;
    if (LS_UNLIKELY(c->apart)) /* it may decide which queue is in turn */
        return later(enter, soon);
    for (uint32_t at = c->front_head; enter < next && room != 0;) {
        const bank_request *r = &c->requests[c->front[at & c->ring_mask]];
        if ((c->busy & c->banks[r->bank].bit) == 0)
            return later(enter, soon);
        if (r->in_front >= room || ++at == c->front_tail)
            break;
        room -= r->in_front;
        enter = c->requests[c->front[at & c->ring_mask]].enter;
    }
    return next;
}

/* The next cycle after t in which something can happen. */
static inline ls_cycle next_after(const bank_channel *c, ls_cycle t)
{
    ls_cycle soon = t + 1, next = LS_CYCLE_MAX, at = LS_CYCLE_MAX;
    if (c->wheel_bits != 0) {
        uint32_t turn = (uint32_t)soon % BANK_WHEEL;
        uint64_t bits = c->wheel_bits >> turn | c->wheel_bits << (-turn % BANK_WHEEL);
        next = soon + (uint32_t)__builtin_ctzll(bits);
    }
    if (c->ripe[BANK_READ] != 0)
        at = c->at[BANK_READ];
    if (c->ripe[BANK_WRITE] != 0)
        at = sooner(at, c->at[BANK_WRITE]);
    if (c->ripe[BANK_ACTIVATE] != 0)
        at = sooner(at, c->at[BANK_ACTIVATE]);
    if (c->ripe[BANK_PRECHARGE] != 0)
        at = soon;
    next = sooner(next, later(at, soon));
    if ((c->queued[queue_in_turn(c)] & ~c->busy) != 0)
        return sooner(next, c->taken + 1);
    return c->front_at < next ? next_arrival(c, c->taken + 1, next) : next;
}

void bank_run(bank_channel *c, ls_cycle to)
{
    ls_cycle t = c->next;
    do {
        if (LS_UNLIKELY(t >= c->refresh_due)) {
            if (c->refresh_step != 0)
                refresh_banks(c, t);
            else
                refresh_all(c, t);
        }
        if (c->wheel_bits >> (t % BANK_WHEEL) & 1)
            ripen(c, t);
        if (c->taken < t)
            take_request(c, t);
        send_commands(c, t);
        /* A bank that has just become free always takes its next request in the next cycle. That is invisible
         * before its time, unless the queue is full or about to be. */
        if ((c->queued[0] & ~c->busy) != 0 && (t < to || (c->waiting[0] + 1 < c->limit[0] && !c->apart)) &&
            t + 1 < c->refresh_due)
            take_request(c, t + 1);
        t = next_after(c, t);
    } while (t <= to);
    c->next = t;
}

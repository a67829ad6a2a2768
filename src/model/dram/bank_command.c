/* bank_command.c: the banks and the command bus. Knows cycles and masks; nothing of ports, events or answers.
 *
 * In each cycle, in this order: a request from the front joins the queue; one bank without a request takes one from
 * the queue, banks by turns; commands leave. What a command needs is kept as the first cycle in which it may leave:
 * per bank, per bank group and for the channel. A bank is ripe when its own and its group's times have come; the
 * others wait in a small wheel. A group's time can move on while a ripe bank waits for the bus, so it is looked at
 * once more before the command leaves.
 *
 * The turn moves by one when a bank takes a request and behind the bank of a row command, as in GPGPU-Sim. */
#include "model/dram/bank.h"

static inline ls_cycle later(ls_cycle a, ls_cycle b)
{
    return a > b ? a : b;
}

/* The first bank of a mask that is not empty, counting from `from` and around. */
static inline uint32_t first_from(uint64_t mask, uint32_t from)
{
    uint64_t behind = mask >> from << from;
    return (uint32_t)__builtin_ctzll(behind != 0 ? behind : mask);
}

/* ---------------------------------------------------------------------------------------- ripe and unripe */

/* Not before cycle `at`, which is later than t. Far times are looked at again on the way. */
static inline void wait_until(bank_channel *c, uint32_t number, ls_cycle at, ls_cycle t)
{
    uint64_t bit = UINT64_C(1) << number;
    uint32_t slot = (uint32_t)(at - t < BANK_WHEEL ? at : t + BANK_WHEEL - 1) % BANK_WHEEL;
    c->banks[number].at = at;
    c->ripe &= ~bit;
    c->wheel[slot] |= bit;
    c->wheel_bits |= UINT64_C(1) << slot;
}

/* Decides what a busy bank wants next and from when on. */
static inline void set_want(bank_channel *c, uint32_t number, ls_cycle t)
{
    uint64_t bit = UINT64_C(1) << number;
    bank *b = &c->banks[number];
    const bank_request *r = &c->requests[b->request];
    const bank_group *g = &c->groups[b->group];
    ls_cycle at;
    if (!b->open) {
        c->want_act |= bit;
        at = later(b->act_at, g->act_at);
    } else if (b->row != r->row) {
        c->want_pre |= bit;
        at = later(b->pre_at, g->pre_at);
    } else if (r->write) {
        c->want_write |= bit;
        at = later(b->write_at, g->write_at);
    } else {
        c->want_read |= bit;
        at = later(b->read_at, g->read_at);
    }
    if (at <= t)
        c->ripe |= bit;
    else
        wait_until(c, number, at, t);
}

static void ripen(bank_channel *c, ls_cycle t)
{
    uint32_t slot = (uint32_t)t % BANK_WHEEL;
    uint64_t mask = c->wheel[slot] & c->busy & ~c->ripe;
    c->wheel[slot] = 0;
    c->wheel_bits &= ~(UINT64_C(1) << slot);
    for (; mask != 0; mask &= mask - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(mask);
        if (c->banks[number].at <= t)
            c->ripe |= UINT64_C(1) << number;
        else
            wait_until(c, number, c->banks[number].at, t);
    }
}

/* ----------------------------------------------------------------------------------------------- refresh */

/* All banks: closed, refreshed, and usable again from one cycle on. No command leaves between the due time and that
 * cycle, so the whole of it is known at once. Refreshes that fell into idle time are counted when work comes. */
static void refresh(bank_channel *c, ls_cycle t)
{
    ls_cycle start = c->refresh_due;
    uint32_t open = 0;
    for (uint32_t i = 0; i <= c->bank_mask; i++) {
        const bank *b = &c->banks[i];
        open += b->open;
        start = later(start, b->open ? later(b->pre_at, c->groups[b->group].pre_at) : b->act_at);
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
    for (uint32_t i = 0; i <= c->bank_mask; i++) {
        c->banks[i].open = false;
        c->banks[i].act_at = end;
    }
    c->want_read = c->want_write = c->want_pre = c->want_act = c->ripe = 0;
    for (uint64_t mask = c->busy; mask != 0; mask &= mask - 1)
        set_want(c, (uint32_t)__builtin_ctzll(mask), t);
}

/* ------------------------------------------------------------------------------------------------- queue */

/* Which queue is served: reads, unless writes wait apart and are many, or there is no read. */
static inline uint32_t queue_in_turn(bank_channel *c)
{
    if (!c->apart)
        return 0;
    if (c->waiting[1] >= c->write_high)
        c->draining = true;
    else if (c->waiting[1] < c->write_low)
        c->draining = false;
    return c->draining || c->waiting[0] == 0;
}

static void join_queue(bank_channel *c)
{
    uint32_t request = c->front[c->front_head++ & c->ring_mask];
    bank_queue_add(c, c->front_kind, request);
    bank_look_at_front(c);
}

static void take_request(bank_channel *c, uint32_t kind, uint64_t banks, ls_cycle t)
{
    uint32_t number = first_from(banks, c->turn);
    bank *b = &c->banks[number];
    b->request = bank_queue_take(c, kind, number);
    c->busy |= UINT64_C(1) << number;
    if (c->scheduler == BANK_FRFCFS)
        c->turn = (c->turn + 1) & c->bank_mask;
    if (!b->open)
        c->n.row_misses++;
    else if (b->row == c->requests[b->request].row)
        c->n.row_hits++;
    else
        c->n.row_conflicts++;
    set_want(c, number, t);
}

/* ---------------------------------------------------------------------------------------------- commands */

static void send_activate(bank_channel *c, uint32_t number, ls_cycle t)
{
    bank *b = &c->banks[number];
    b->open = true;
    b->row = c->requests[b->request].row;
    b->read_at = t + c->times.rcd;
    b->write_at = t + c->times.rcdwr;
    b->pre_at = t + c->times.ras;
    b->act_at = t + c->times.rc;
    c->groups[b->group].act_at = t + c->times.rrdl;
    c->faw_at[c->activate_turn] = t + c->times.faw;
    c->activate_turn = (c->activate_turn + 1) & 3;
    c->act_at = later(t + c->times.rrd, c->faw_at[c->activate_turn]);
    c->want_act &= ~(UINT64_C(1) << number);
    c->n.activates++;
}

static void send_precharge(bank_channel *c, uint32_t number, ls_cycle t)
{
    bank *b = &c->banks[number];
    b->open = false;
    b->act_at = later(b->act_at, t + c->times.rp);
    c->want_pre &= ~(UINT64_C(1) << number);
    c->n.precharges++;
}

static void send_row(bank_channel *c, uint32_t number, ls_cycle t)
{
    if (c->want_act >> number & 1)
        send_activate(c, number, t);
    else
        send_precharge(c, number, t);
    c->turn = (number + 1) & c->bank_mask;
    c->ripe &= ~(UINT64_C(1) << number);
    set_want(c, number, t);
}

/* The data enters the pipe behind what is in it. One entry per request: that of its last atom. */
static inline void send_data(bank_channel *c, const bank_request *r, ls_cycle t)
{
    c->pipe_last = later(t - c->pipe_held + (r->write ? c->times.wl : c->times.cl), c->pipe_last + 1);
    if (r->atoms == 0)
        c->pipe[c->pipe_tail++ & c->ring_mask] =
            (bank_data){ .due = c->pipe_last, .pushed = r->pushed, .token = r->token, .write = r->write };
}

static void send_column(bank_channel *c, uint32_t number, ls_cycle t)
{
    uint64_t bit = UINT64_C(1) << number;
    bank *b = &c->banks[number];
    bank_group *g = &c->groups[b->group];
    bank_request *r = &c->requests[b->request];
    c->column_at = t + c->times.ccd;
    g->write_at = t + c->times.ccdl;
    if (r->write) {
        g->read_at = t + c->times.wtrl;
        c->read_at = t + c->times.wtr;
        b->pre_at = later(b->pre_at, t + c->times.wtp);
        c->n.writes++;
    } else {
        g->read_at = t + c->times.ccdl;
        c->write_at = t + c->times.rtw;
        b->pre_at = later(b->pre_at, t + c->times.burst);
        g->pre_at = t + c->times.rtpl;
        c->n.reads++;
    }
    c->n.busy_cycles += c->times.burst;
    r->atoms--;
    send_data(c, r, t);
    if (r->atoms != 0) {
        wait_until(c, number, r->write ? g->write_at : g->read_at, t);
        return;
    }
    c->writes_coming -= r->write;
    c->want_read &= ~bit;
    c->want_write &= ~bit;
    c->busy &= ~bit;
    c->ripe &= ~bit;
    r->next = c->free_request;
    c->free_request = b->request;
    b->request = BANK_NONE;
}

/* The first bank from `from` on whose group allows its column command; the others found on the way wait. */
static uint32_t find_column(bank_channel *c, uint64_t banks, uint32_t from, ls_cycle t)
{
    while (banks != 0) {
        uint32_t number = first_from(banks, from);
        const bank_group *g = &c->groups[c->banks[number].group];
        ls_cycle at = c->want_write >> number & 1 ? g->write_at : g->read_at;
        if (at <= t)
            return number;
        wait_until(c, number, at, t);
        banks &= ~(UINT64_C(1) << number);
    }
    return BANK_NONE;
}

static uint32_t find_row(bank_channel *c, uint64_t banks, uint32_t from, ls_cycle t)
{
    while (banks != 0) {
        uint32_t number = first_from(banks, from);
        const bank_group *g = &c->groups[c->banks[number].group];
        ls_cycle at = c->want_act >> number & 1 ? g->act_at : g->pre_at;
        if (at <= t)
            return number;
        wait_until(c, number, at, t);
        banks &= ~(UINT64_C(1) << number);
    }
    return BANK_NONE;
}

/* One command, of whichever kind stands first. GPGPU-Sim's single bus goes on after a row command and may send a
 * column command too, but starts anew behind the bank of the row command as many banks further as it had passed,
 * and so leaves some out. */
static void send_single(bank_channel *c, uint64_t columns, uint64_t rows, ls_cycle t)
{
    uint32_t from = c->turn;
    uint32_t column = find_column(c, columns, from, t);
    uint32_t row = find_row(c, rows, from, t);
    uint32_t column_place = (column - from) & c->bank_mask, row_place = (row - from) & c->bank_mask;
    if (column != BANK_NONE && (row == BANK_NONE || column_place < row_place)) {
        send_column(c, column, t);
        return;
    }
    if (row == BANK_NONE)
        return;
    send_row(c, row, t);
    if (c->bus == BANK_BUS_SINGLE || column == BANK_NONE)
        return;
    uint32_t banks = c->bank_mask + 1, skipped = row_place + 1;
    if (skipped == banks)
        return;
    columns &= c->ripe;
    for (uint32_t i = 0; i < skipped; i++)
        columns &= ~(UINT64_C(1) << ((c->turn + i) & c->bank_mask));
    column = find_column(c, columns, (c->turn + skipped) & c->bank_mask, t);
    if (column != BANK_NONE)
        send_column(c, column, t);
}

static inline void send_commands(bank_channel *c, ls_cycle t)
{
    uint64_t columns = 0, rows = c->want_pre;
    if (t >= c->column_at && c->pipe_last + c->pipe_held < t + c->pipe_depth) {
        if (t >= c->read_at)
            columns = c->want_read;
        if (t >= c->write_at)
            columns |= c->want_write;
    }
    if (t >= c->act_at)
        rows |= c->want_act;
    columns &= c->ripe;
    rows &= c->ripe;
    if (c->bus != BANK_BUS_DUAL) {
        if ((columns | rows) != 0)
            send_single(c, columns, rows, t);
        return;
    }
    uint32_t column = find_column(c, columns, c->turn, t);
    if (column != BANK_NONE)
        send_column(c, column, t);
    uint32_t row = find_row(c, rows, c->turn, t);
    if (row != BANK_NONE)
        send_row(c, row, t);
}

/* -------------------------------------------------------------------------------------------------- time */

/* The next cycle after t in which something can happen. */
static inline ls_cycle next_after(bank_channel *c, ls_cycle t)
{
    ls_cycle soon = t + 1, next = LS_CYCLE_MAX;
    if ((c->queued[queue_in_turn(c)] & ~c->busy) != 0 || (c->ripe & c->want_pre) != 0)
        return soon;
    if (c->front_enter != LS_CYCLE_MAX && c->waiting[c->front_kind] < c->limit[c->front_kind])
        next = later(c->front_enter, soon);
    if (c->wheel_bits != 0) {
        uint32_t turn = (uint32_t)soon % BANK_WHEEL;
        uint64_t bits = c->wheel_bits >> turn | c->wheel_bits << (-turn % BANK_WHEEL);
        ls_cycle at = soon + (uint32_t)__builtin_ctzll(bits);
        next = at < next ? at : next;
    }
    if ((c->ripe & c->want_read) != 0) {
        ls_cycle at = later(soon, later(c->column_at, c->read_at));
        next = at < next ? at : next;
    }
    if ((c->ripe & c->want_write) != 0) {
        ls_cycle at = later(soon, later(c->column_at, c->write_at));
        next = at < next ? at : next;
    }
    if ((c->ripe & c->want_act) != 0) {
        ls_cycle at = later(soon, c->act_at);
        next = at < next ? at : next;
    }
    return next;
}

void bank_run(bank_channel *c, ls_cycle to)
{
    do {
        ls_cycle t = c->next;
        if (LS_UNLIKELY(t >= c->refresh_due))
            refresh(c, t);
        if (c->wheel_bits >> (t % BANK_WHEEL) & 1)
            ripen(c, t);
        if (c->front_enter <= t && c->waiting[c->front_kind] < c->limit[c->front_kind])
            join_queue(c);
        uint32_t kind = queue_in_turn(c);
        uint64_t takers = c->queued[kind] & ~c->busy;
        if (takers != 0)
            take_request(c, kind, takers, t);
        if (c->ripe != 0)
            send_commands(c, t);
        c->next = next_after(c, t);
    } while (c->next <= to);
}

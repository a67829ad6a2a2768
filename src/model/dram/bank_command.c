/* bank_command.c: the banks and the command bus. Works on cycles and masks, independent of ports and events.
 *
 * In each cycle, in this order: a request from the front joins the queue; one bank without a request takes one
 * from the queue, banks in turn; commands leave. The rules of a command are kept as the first cycle in which
 * it may leave: per bank, per bank group and for the channel. A bank is ripe when its own and its group's
 * times have come; the others wait in a small wheel. A group's time can move on while a ripe bank waits for
 * the bus, so it is checked once more before the command leaves.
 *
 * The turn moves by one when a bank takes a request, and past the bank of a row command, as in GPGPU-Sim. */
#include "model/dram/bank_wheel.h"

/* Functions with `plain` are made twice: for channels that are, and for those that are not. */
#define MADE_TWICE static inline __attribute__((always_inline))

/* ------------------------------------------------------------------------------------------------- queue */

/* Which queue is served: reads, unless writes wait apart and are many, or there is no read. */
MADE_TWICE uint32_t queue_in_turn(const bank_channel *c, bool plain)
{
    return !plain && c->apart && (c->draining || c->waiting[0] == 0);
}

static inline bank_request *in_front(const bank_channel *c, uint32_t at)
{
    return &c->requests[c->front[at & c->ring_mask]];
}

static inline bank_request *first_in_front(const bank_channel *c)
{
    return in_front(c, c->front_head);
}

/* The first part in front is gone; at most one joins in a cycle. */
static inline void next_in_front(bank_channel *c, bank_request *r)
{
    ls_cycle joined = c->front_at;
    c->seen_parts -= c->seen_parts != 0;
    if (--r->in_front != 0) {
        uint8_t step = r->steps[r->parts - r->in_front - 1];
        r->enter += step;
        r->span = (uint16_t)(r->span - step);
    } else if (++c->front_head == c->front_tail) {
        c->front_at = LS_CYCLE_MAX;
        return;
    } else {
        r = first_in_front(c);
    }
    c->front_at = later(r->enter, joined + 1);
}

/* All parts in front of the first request there are gone; the last of them went in cycle `last`. */
static inline void last_in_front(bank_channel *c, bank_request *r, ls_cycle last)
{
    c->seen_parts -= c->seen_parts < r->in_front ? c->seen_parts : r->in_front;
    r->in_front = 0;
    r->enter += r->span;
    r->span = 0;
    c->front_at = ++c->front_head == c->front_tail ? LS_CYCLE_MAX : later(first_in_front(c)->enter, last + 1);
}

/* Parts of a request that waits in the queue, the first in front, join it there: all at once if they have come and there is room. */
static inline void join_parts(bank_channel *c, bank_request *r, ls_cycle t)
{
    if (c->front_at > t)
        return;
    ls_cycle last = later(c->front_at + r->in_front - 1, r->enter + r->span);
    if (LS_LIKELY(last <= t && c->waiting[0] + r->in_front <= c->limit[0])) {
        r->waiting = (uint8_t)(r->waiting + r->in_front);
        bank_queue_count(c, 0, r->in_front);
        last_in_front(c, r, last);
        return;
    }
    while (c->front_at <= t && r->in_front != 0 && c->waiting[0] != c->limit[0]) {
        r->waiting++;
        bank_queue_count(c, 0, 1);
        next_in_front(c, r);
    }
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
        bank_queue_add(c, kind, request);
        next_in_front(c, r);
        if (r->in_front != 0 && r->waiting != 0)
            join_parts(c, r, t);
    } while (c->front_at <= t);
}

MADE_TWICE void join(bank_channel *c, ls_cycle t, bool plain)
{
    if (plain && first_in_front(c)->waiting != 0)
        join_parts(c, first_in_front(c), t);
    if (!plain || c->front_at <= t)
        bank_join(c, t);
}

static inline void turn_on(bank_channel *c)
{
    c->turn = (c->turn + 1) & c->bank_mask;
}

MADE_TWICE void serve(bank_channel *c, bank *b, uint32_t request, ls_cycle t, bool plain)
{
    const bank_request *r = &c->requests[request];
    if (plain || !c->in_order)
        turn_on(c);
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
MADE_TWICE bool serve_at_once(bank_channel *c, ls_cycle t, bool plain)
{
    uint32_t request = c->front[c->front_head & c->ring_mask];
    bank_request *r = &c->requests[request];
    bank *b = &c->banks[r->bank];
    if (c->front_at != t || (c->busy & b->bit) != 0 || (c->queued[0] & ~c->busy) != 0 ||
        c->waiting[0] == c->limit[0] || (!plain && (c->apart || c->in_order)))
        return false;
    if (c->waiting[0] >= c->n.queue_peak)
        c->n.queue_peak = c->waiting[0] + 1;
    next_in_front(c, r);
    serve(c, b, request, t, plain);
    return true;
}

/* If the queue was full, the next cycle sees the room. */
static inline void make_room(bank_channel *c, ls_cycle t)
{
    if (c->front_at == LS_CYCLE_MAX && c->front_head != c->front_tail)
        c->front_at = t + 1;
}

/* At most one bank takes a request. */
MADE_TWICE void take_request(bank_channel *c, ls_cycle t, bool plain)
{
    c->taken = t;
    if (c->front_at <= t) {
        if (serve_at_once(c, t, plain))
            return;
        join(c, t, plain);
    }
    uint32_t kind = queue_in_turn(c, plain);
    uint64_t banks = c->queued[kind] & ~c->busy;
    if (banks != 0) {
        bank *b = first_from(c, banks, c->turn);
        serve(c, b, bank_queue_take(c, kind, b, t), t, plain);
        make_room(c, t);
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

/* What commands have to wait for after a read in cycle t, and after those before it. */
static inline void hold_after_read(bank_channel *c, bank *b, bank_group *g, ls_cycle t)
{
    c->at[BANK_READ] = t + c->times.ccd;
    c->at[BANK_WRITE] = t + c->times.rtw;
    g->at[BANK_READ] = g->at[BANK_WRITE] = t + c->times.ccdl;
    g->at[BANK_PRECHARGE] = t + c->times.rtpl;
    b->at[BANK_PRECHARGE] = later(b->at[BANK_PRECHARGE], t + c->times.burst);
}

static inline void hold_after_write(bank_channel *c, bank *b, bank_group *g, ls_cycle t)
{
    c->at[BANK_READ] = t + c->times.wtr;
    c->at[BANK_WRITE] = t + c->times.ccd;
    g->at[BANK_READ] = t + c->times.wtrl;
    g->at[BANK_WRITE] = t + c->times.ccdl;
    b->at[BANK_PRECHARGE] = later(b->at[BANK_PRECHARGE], t + c->times.wtp);
}

/* The data of a request, or of a part of it. */
static inline void enter_pipe(bank_channel *c, bank_request *r)
{
    bool more = --r->unsent != 0;
    bank_data *data = &c->pipe[c->pipe_tail++ & c->ring_mask];
    data->due = c->pipe_last;
    data->pushed = r->pushed;
    data->token = r->token;
    data->write = r->write;
    data->more = more;
}

/* Parts of a read that follow ccdl apart. */
static inline void follow_into_pipe(bank_channel *c, bank_request *r, uint32_t parts)
{
    bank_data data = { .due = c->pipe_last, .pushed = r->pushed, .token = r->token };
    for (uint32_t part = 1; part <= parts; part++) {
        data.due += c->times.ccdl;
        data.more = part != r->unsent;
        c->pipe[c->pipe_tail++ & c->ring_mask] = data;
    }
    c->pipe_last = data.due;
    r->unsent = (uint8_t)(r->unsent - parts);
}

/* After the last column of a request, or of a part of it. */
static inline void free_bank(bank_channel *c, bank *b)
{
    bank_request *r = &c->requests[b->request];
    c->busy &= ~b->bit;
    if (r->unsent != 0)
        r->atoms = 1;
    else
        index_pool_give(&c->request_pool, INDEX_LINKS(c->requests, next), b->request);
}

/* Data enters the pipe after the data in it. After the last atom of the request the bank is free. */
static inline void send_column(bank_channel *c, bank *b, ls_cycle t)
{
    bank_group *g = &c->groups[b->group];
    bank_request *r = &c->requests[b->request];
    ls_cycle due = t - c->pipe_held;
    c->ripe[b->want] &= ~b->bit;
    c->n.busy_cycles += c->times.burst;
    dram_tap(c->tap, c->region, t, LS_DRAM_ATOM_BYTES);
    dram_active_until(&c->n.active_cycles, &c->active_since, t + c->times.burst);
    if (b->want == BANK_READ) {
        hold_after_read(c, b, g, t);
        due += c->times.cl;
        c->n.reads++;
    } else {
        hold_after_write(c, b, g, t);
        due += c->times.wl;
        c->n.writes++;
    }
    c->pipe_last = later(due, c->pipe_last + 1);
    if (LS_UNLIKELY(--r->atoms != 0)) {
        wait_until(c, b, g->at[BANK_WRITE], t);
        return;
    }
    enter_pipe(c, r);
    c->writes_coming -= r->write;
    free_bank(c, b);
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
 * as it had passed until there, and skips those between. Dual: one of each; the column command goes first. Returns the
 * bank of the column command. */
MADE_TWICE bank *send_commands(bank_channel *c, ls_cycle t, bool plain)
{
    uint64_t columns = 0, rows = c->ripe[BANK_PRECHARGE];
    if (t >= c->at[BANK_READ])
        columns = c->ripe[BANK_READ];
    if (t >= c->at[BANK_WRITE])
        columns |= c->ripe[BANK_WRITE];
    if (t >= c->at[BANK_ACTIVATE])
        rows |= c->ripe[BANK_ACTIVATE];
    if (columns != 0 && LS_UNLIKELY(c->pipe_last + c->pipe_held >= t + c->pipe_depth))
        columns = 0; /* the return queue has been full for so long that the pipe is, too */
    if ((columns | rows) == 0)
        return NULL;
    bank *column = NULL, *row = NULL;
    if (plain || c->bus == BANK_BUS_DUAL) {
        column = find(c, &columns, c->turn, t);
    } else {
        uint64_t all = columns | rows;
        bank *first = find(c, &all, c->turn, t);
        if (first == NULL)
            return NULL;
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
    if (plain || c->bus == BANK_BUS_DUAL)
        row = find(c, &rows, c->turn, t);
    if (row != NULL)
        send_row(c, row, t);
    return column;
}

/* -------------------------------------------------------------------------------------------- column runs
 *
 * After the column of a part, those of the parts that wait leave ccdl apart, as long as no other bank can send a column or take
 * a request. They are decided at once, but for the last of them, after which the bank looks for another request. The bank
 * takes each part in the cycle after the part before. These takes are made up for when something else happens, so that it
 * finds the queue and the turn as they are in its cycle. */

typedef struct column_run {
    bank *bank;
    ls_cycle take;  /* the cycle of the next take; LS_CYCLE_MAX: none is left */
    uint32_t takes; /* that have not been made */
} column_run;

#define NO_RUN ((column_run){ .take = LS_CYCLE_MAX })

/* The first cycle after t, and not after `end`, in which a bank becomes ripe for a column; else `end`. */
static inline ls_cycle next_ripe_column(const bank_channel *c, ls_cycle t, ls_cycle end)
{
    uint64_t bits = wheel_after(c, t) & ((UINT64_C(1) << (end - t)) - 1);
    for (; bits != 0; bits &= bits - 1) {
        uint32_t after = (uint32_t)__builtin_ctzll(bits);
        for (uint64_t banks = c->wheel[(uint32_t)(t + 1 + after) % BANK_WHEEL]; banks != 0; banks &= banks - 1)
            if (c->banks[__builtin_ctzll(banks)].want <= BANK_WRITE)
                return t + 1 + after;
    }
    return end;
}

/* The cycle before the first one, not after `end`, in which a request for a free bank might join the queue; else `end`. 0 if the
 * queue might be full until then. */
static inline ls_cycle before_idle_arrival(const bank_channel *c, uint64_t busy, ls_cycle end)
{
    ls_cycle enter = c->front_at;
    if (c->front_head == c->front_tail || (enter > end && enter != LS_CYCLE_MAX))
        return end;
    if (enter > end || c->waiting[0] + (end - enter) >= c->limit[0])
        return 0;
    for (uint32_t at = c->front_head; enter <= end; enter = in_front(c, at)->enter) {
        const bank_request *r = in_front(c, at);
        if ((busy & c->banks[r->bank].bit) == 0)
            return later(enter, 1) - 1;
        if (++at == c->front_tail)
            break;
    }
    return end;
}

/* Columns may follow the one of bank b, for all that is known at a glance. */
static inline bool may_follow(const bank_channel *c, const bank *b)
{
    return c->runs && c->requests[b->request].waiting > 1 && (c->ripe[BANK_READ] | c->ripe[BANK_WRITE]) == 0;
}

/* How many columns follow the one of bank b in cycle t; nothing is decided beyond `to`. */
static inline uint32_t columns_to_follow(const bank_channel *c, const bank *b, ls_cycle t, ls_cycle to)
{
    const bank_rows *rows = &b->rows[0];
    uint32_t waiting = c->requests[b->request].waiting;
    uint32_t first = rows->first != BANK_NONE ? rows->first : rows->order.oldest;
    if (first != b->request || (c->queued[0] & ~c->busy) != b->bit ||
        c->pipe_last + c->pipe_held != t + c->times.cl)
        return 0;
    uint32_t apart = c->times.ccdl;
    ls_cycle end = sooner(sooner(to, c->refresh_due - 1), t + sooner(apart * (waiting - 1) + 1, c->times.rcd));
    if (end <= t + apart)
        return 0;
    end = next_ripe_column(c, t, end);
    end = before_idle_arrival(c, c->busy | b->bit, end);
    return end <= t + apart ? 0 : (uint32_t)sooner(waiting - 1, (uint32_t)(end - t - 1) / apart);
}

/* False: no column follows the one of bank b in cycle t. Apart, so that it is not in the way of other cycles. */
static __attribute__((noinline)) bool run_columns(bank_channel *c, column_run *run, bank *b, ls_cycle t,
                                                  ls_cycle to)
{
    uint32_t columns = columns_to_follow(c, b, t, to);
    if (columns == 0)
        return false;
    bank_request *r = &c->requests[b->request];
    ls_cycle at = t + columns * c->times.ccdl;
    if (LS_UNLIKELY(ls_tap_wants(c->tap, LS_TAP_DRAM)))
        for (uint32_t i = 1; i <= columns; i++)
            dram_tap(c->tap, c->region, t + i * c->times.ccdl, LS_DRAM_ATOM_BYTES);
    follow_into_pipe(c, r, columns);
    c->n.reads += columns;
    c->n.busy_cycles += columns * c->times.burst;
    dram_active_until(&c->n.active_cycles, &c->active_since, at + c->times.burst);
    hold_after_read(c, b, &c->groups[b->group], at);
    c->busy |= b->bit;
    *run = (column_run){ .bank = b, .take = t + 1, .takes = columns + 1 };
    wait_until(c, b, at + c->times.ccdl, t);
    return true;
}

/* Takes of parts at once, if they come by cycle t, and the queue is not full until then and fuller than ever neither. */
static inline bool take_parts(bank_channel *c, column_run *run, uint32_t parts, ls_cycle t)
{
    ls_cycle last = run->take + (parts - 1) * c->times.ccdl;
    if (last > t)
        return false;
    if (c->front_at <= last) {
        if (c->waiting[0] + (last - c->front_at) >= c->n.queue_peak)
            return false;
        join(c, last, true);
    } else if (c->front_at == LS_CYCLE_MAX && c->front_head != c->front_tail) {
        return false;
    }
    bank_queue_take_parts(c, run->bank, parts, last);
    c->taken = last;
    c->n.row_hits += parts;
    c->turn = (c->turn + parts) & c->bank_mask;
    run->takes -= parts;
    run->take = last + c->times.ccdl;
    return true;
}

static inline void take_part(bank_channel *c, column_run *run)
{
    if (c->front_at <= run->take)
        join(c, run->take, true);
    bank_queue_take(c, 0, run->bank, run->take);
    c->taken = run->take;
    c->n.row_hits++;
    turn_on(c);
    make_room(c, run->take);
    run->takes--;
    run->take += c->times.ccdl;
}

/* The takes up to cycle t; there is one. */
static __attribute__((noinline)) void catch_up(bank_channel *c, column_run *run, ls_cycle t)
{
    if (!take_parts(c, run, run->takes, t))
        while (run->takes != 0 && run->take <= t)
            take_part(c, run);
    if (run->takes == 0)
        *run = NO_RUN;
}

/* -------------------------------------------------------------------------------------------------- time */

/* When a request from the front finds its bank free, if that is before `next`. The others join in passing,
 * as far as there is room now: more of it comes when a bank takes a request, and then this is looked at
 * again. `takes`: of a column run, which come before. */
MADE_TWICE ls_cycle next_arrival(const bank_channel *c, ls_cycle soon, ls_cycle next, uint32_t takes,
                                 bool plain)
{
    uint32_t room = c->limit[0] - c->waiting[0] + c->limit[1] - c->waiting[1] + takes;
    ls_cycle enter = c->front_at;
    if (!plain && c->apart) /* it may decide which queue is in turn */
        return later(enter, soon);
    for (uint32_t at = c->front_head; enter < next && room != 0;) {
        const bank_request *r = in_front(c, at);
        if ((c->busy & c->banks[r->bank].bit) == 0)
            return later(enter, soon);
        if (r->in_front >= room || ++at == c->front_tail)
            break;
        room -= r->in_front;
        enter = in_front(c, at)->enter;
    }
    return next;
}

/* The next cycle after t in which something can happen. */
MADE_TWICE ls_cycle next_after(const bank_channel *c, ls_cycle t, uint32_t takes, bool plain)
{
    ls_cycle soon = t + 1, next = LS_CYCLE_MAX, at = LS_CYCLE_MAX;
    if (c->wheel_bits != 0)
        next = soon + (uint32_t)__builtin_ctzll(wheel_after(c, t));
    if (c->ripe[BANK_READ] != 0)
        at = sooner(at, c->at[BANK_READ]);
    if (c->ripe[BANK_WRITE] != 0)
        at = sooner(at, c->at[BANK_WRITE]);
    if (c->ripe[BANK_ACTIVATE] != 0)
        at = sooner(at, c->at[BANK_ACTIVATE]);
    if (c->ripe[BANK_PRECHARGE] != 0)
        at = soon;
    next = sooner(next, later(at, soon));
    if ((c->queued[queue_in_turn(c, plain)] & ~c->busy) != 0)
        return sooner(next, c->taken + 1);
    if (c->front_at >= next)
        return next;
    return next_arrival(c, c->taken + 1, next, takes, plain);
}

MADE_TWICE void run(bank_channel *c, ls_cycle to, bool plain)
{
    ls_cycle t = c->next;
    column_run columns = NO_RUN;
    do {
        if (plain && columns.take <= t)
            catch_up(c, &columns, t);
        if (LS_UNLIKELY(t >= c->refresh_due))
            bank_refresh(c, t);
        if (c->wheel[t % BANK_WHEEL] != 0)
            ripen(c, t);
        if (c->taken < t)
            take_request(c, t, plain);
        bank *sent = send_commands(c, t, plain);
        bool follow = plain && sent != NULL && may_follow(c, sent) && run_columns(c, &columns, sent, t, to);
        /* A bank that has just become free always takes its next request in the next cycle. That is invisible
         * before its time, unless the queue is full or about to be. */
        if (!follow && (c->queued[0] & ~c->busy) != 0 &&
            (t < to || (c->waiting[0] + 1 < c->limit[0] && (plain || !c->apart))) && t + 1 < c->refresh_due)
            take_request(c, t + 1, plain);
        t = next_after(c, t, columns.takes, plain);
    } while (t <= to);
    if (plain && columns.take <= to)
        catch_up(c, &columns, to);
    c->next = t;
}

/* Apart, so that neither has anything of the other in its way. */
static __attribute__((noinline)) void run_plain(bank_channel *c, ls_cycle to)
{
    run(c, to, true);
}

void bank_run(bank_channel *c, ls_cycle to)
{
    if (c->plain)
        run_plain(c, to);
    else
        run(c, to, false);
}

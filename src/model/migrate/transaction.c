/* transaction.c: see directory.h: changes of pages.
 *
 *   begin      room on the receiver is reserved; MIGRATE_SHOOT goes to all GPUs whose translations go, and to the sender.
 *              If a GPU has a remote translation through which it may write, the sender gets its own only after the
 *              MIGRATE_SHOT of all others: what they wrote is then in the sender's memory.
 *   end        after every MIGRATE_SHOT and, if bytes moved, MIGRATE_ARRIVED: the page has its new state, and its first
 *              question is answered at once. */
#include "model/migrate/directory.h"

#define NO_SENDER UINT8_MAX

static uint32_t page_units(const directory *d, uint32_t unit)
{
    return 1u << (d->sizes[unit] - d->unit_log2);
}

/* ---------------------------------------------------------------------------------------------------- begin */

static void list_shoots(directory *d, uint32_t i)
{
    dir_transaction *t = &d->transactions[i];
    if (!t->is_shooting && t->shoot != 0) {
        t->is_shooting = true;
        index_list_append(&d->shooting, dir_transaction_links(d), i);
    }
    if (!d->waits[LS_FABRIC_INVALIDATE])
        dir_send_shoots(d);
}

/* Bytes begin to move. */
static void begin_send(directory *d, uint32_t i, ls_cycle now)
{
    dir_transaction *t = &d->transactions[i];
    t->sender_waits = false;
    /* A GPU says itself when it begins to send (page_move.c). */
    dir_tell_step(d, i, t->sender == MEM_PLACE_HOST ? LS_STEP_PIECES : LS_STEP_SHOOTDOWN);
    if (t->sender == MEM_PLACE_HOST) {
        t->host_sends = true;
        dir_host_send(d, i, now);
    } else {
        t->shoot |= dir_bit(t->sender);
        t->awaited |= dir_bit(t->sender);
        list_shoots(d, i);
    }
}

static uint64_t forgetters(const dir_page *p, dir_change change, uint32_t to)
{
    switch (change) {
    case DIR_SHARE:
        return p->mappers;
    case DIR_TAKE: /* a read-only translation to its own memory stays right */
        return p->mappers & ~(dir_bit(to) & ~p->remote);
    case DIR_DROP:
        return (p->mappers & dir_bit(to)) | p->remote;
    default:
        return 0;
    }
}

static void finish(directory *d, uint32_t i, ls_cycle now);

static bool is_done(const dir_transaction *t)
{
    return t->awaited == 0 && !t->sender_waits && !t->host_sends && !t->awaits_data;
}

static uint32_t place_of(uint32_t place)
{
    return place < MEM_PLACE_GPUS ? place : LS_TAP_NOWHERE;
}

static void begin(directory *d, uint32_t unit, const dir_plan *plan, dir_cause cause, ls_cycle now)
{
    uint32_t i = index_pool_take(&d->free_transactions, dir_transaction_links(d));
    dir_transaction *t = &d->transactions[i];
    dir_page *p = &d->pages[unit];
    bool moves = plan->sender != DIR_NOWHERE;
    *t = (dir_transaction){ .began = now,
                            .unit = unit,
                            .change = (uint8_t)plan->change,
                            .cause = (uint8_t)cause,
                            .to = (uint8_t)plan->to,
                            .sender = moves ? (uint8_t)plan->sender : NO_SENDER,
                            .size_log2 = d->sizes[unit],
                            .is_active = true,
                            .awaits_data = moves,
                            .sender_waits = moves };
    p->transaction = i;
    d->active++;
    d->n.in_flight_peak = d->n.in_flight_peak < d->active ? d->active : d->n.in_flight_peak;
    ls_domain_pending(ls_region_domain(d->region), 1);
    if (moves && plan->to != MEM_PLACE_HOST) {
        uint64_t bytes = d->resident[plan->to] += dir_page_bytes(d, unit);
        d->n.resident_peak = d->n.resident_peak < bytes ? bytes : d->n.resident_peak;
    }
    t->forget = forgetters(p, plan->change, plan->to);
    uint64_t others = t->forget & ~(moves ? dir_bit(plan->sender) : 0);
    bool is_first = dir_is_exclusive(p) && (others & p->remote) != 0; /* they may write through it */
    t->shoot = t->awaited = others;
    dir_tell(d, i,
             (ls_tap_event){ .phase = LS_TAP_BEGIN,
                             .value = p->address,
                             .slot = UINT32_C(1) << t->size_log2,
                             .more = place_of(moves ? plan->sender : DIR_NOWHERE) << 8 | place_of(plan->to),
                             .what = (uint16_t)plan->change });
    if (others != 0)
        dir_tell_step(d, i, LS_STEP_SHOOTDOWN);
    if (moves && !is_first)
        begin_send(d, i, now);
    list_shoots(d, i);
    if (is_done(t))
        finish(d, i, now);
}

/* ------------------------------------------------------------------------------------------------------ end */

static void drop_holder(directory *d, dir_page *p, uint32_t place, uint64_t bytes)
{
    if (place == MEM_PLACE_HOST) {
        p->flags &= (uint8_t) ~(unsigned)DIR_HOST_HOLDS;
        return;
    }
    p->holders &= ~dir_bit(place);
    d->resident[place] -= bytes;
}

static void add_holder(directory *d, dir_page *p, uint32_t place)
{
    if (place == MEM_PLACE_HOST) {
        p->flags |= DIR_HOST_HOLDS | DIR_HOST_HELD;
        return;
    }
    d->n.refetches += (p->held & dir_bit(place)) != 0;
    p->holders |= dir_bit(place);
    p->held |= dir_bit(place);
}

static void drop_all_but(directory *d, dir_page *p, uint32_t keeper, uint32_t sender, uint64_t bytes)
{
    for (uint32_t place = 0; place <= MEM_PLACE_HOST; place++)
        if (place != keeper && dir_holds(p, place)) {
            d->n.drops += place != sender;
            drop_holder(d, p, place, bytes);
        }
}

static void count(directory *d, dir_page *p, const dir_transaction *t, uint64_t bytes, ls_cycle now)
{
    bool moves = t->sender != NO_SENDER;
    d->n.change_cycles += now - t->began;
    d->n.moved_bytes += moves ? bytes : 0;
    if (t->cause == DIR_FOR_ROOM) {
        d->n.evictions++;
        d->n.spills += moves;
        d->n.spilled_bytes += moves ? bytes : 0;
        return;
    }
    d->n.prefetches += t->cause == DIR_FOR_NEIGHBOUR;
    d->n.migrations += moves && t->change == DIR_TAKE;
    d->n.copies += moves && t->change != DIR_TAKE;
    d->n.upgrades += !moves;
    if (moves && t->change == DIR_TAKE && t->cause == DIR_FOR_ASK) {
        p->moves = (uint16_t)(p->moves + (p->moves < UINT16_MAX));
        if (d->spec->pin != 0 && p->moves >= d->spec->pin && (p->flags & DIR_PINNED) == 0) {
            p->flags |= DIR_PINNED;
            d->n.pinned++;
        }
    }
}

static void finish(directory *d, uint32_t i, ls_cycle now)
{
    dir_transaction *t = &d->transactions[i];
    uint32_t unit = t->unit, to = t->to;
    dir_page *p = &d->pages[unit];
    uint64_t bytes = dir_page_bytes(d, unit);
    if (t->cause == DIR_FOR_ROOM)
        d->leaving[t->change == DIR_DROP ? to : t->sender] -= bytes;
    if (t->change == DIR_DROP) {
        drop_holder(d, p, to, bytes);
        d->n.drops++;
    } else if (!dir_holds(p, to)) {
        add_holder(d, p, to);
    }
    if (t->change == DIR_TAKE)
        drop_all_but(d, p, to, t->sender, bytes);
    p->flags &= (uint8_t) ~(unsigned)DIR_EXCLUSIVE;
    p->flags |= dir_holder_count(p) == 1 ? DIR_EXCLUSIVE : 0;
    count(d, p, t, bytes, now);
    p->transaction = INDEX_NONE;
    t->is_active = false;
    dir_tell(d, i, (ls_tap_event){ .phase = LS_TAP_END });
    index_pool_give(&d->free_transactions, dir_transaction_links(d), i);
    d->active--;
    ls_domain_pending(ls_region_domain(d->region), -1);
    dir_update(d, now);
    dir_step(d, unit, now);
    dir_start_waiting(d, now);
    if (d->order_first < d->order_count)
        dir_arm(d, &d->order_event, now);
}

static bool is_known(directory *d, uint32_t i)
{
    if (i < d->spec->in_flight && d->transactions[i].is_active)
        return true;
    dir_fail(d, "%s got a message about transaction %u, which is not under way", d->name, i);
    return false;
}

static void go_on(directory *d, uint32_t i, ls_cycle now)
{
    dir_transaction *t = &d->transactions[i];
    if (t->sender_waits && t->awaited == 0)
        begin_send(d, i, now);
    if (is_done(t))
        finish(d, i, now);
}

void dir_shot(directory *d, uint32_t i, uint32_t gpu, ls_cycle now)
{
    if (!is_known(d, i))
        return;
    dir_transaction *t = &d->transactions[i];
    if ((t->awaited & ~t->shoot & dir_bit(gpu)) == 0) {
        dir_fail(d, "%s got a shootdown's answer of GPU %u, which was not asked for one", d->name, gpu);
        return;
    }
    t->awaited &= ~dir_bit(gpu);
    if ((t->forget & dir_bit(gpu)) != 0) {
        d->pages[t->unit].mappers &= ~dir_bit(gpu);
        d->pages[t->unit].remote &= ~dir_bit(gpu);
        dir_check_forgot(d, t->unit, t->size_log2, gpu);
    }
    go_on(d, i, now);
}

void dir_host_sent(directory *d, uint32_t i, ls_cycle now)
{
    d->transactions[i].host_sends = false;
    go_on(d, i, now);
}

void dir_arrived(directory *d, uint32_t i, uint32_t place, ls_cycle now)
{
    if (!is_known(d, i))
        return;
    dir_transaction *t = &d->transactions[i];
    if (!t->awaits_data || t->to != place) {
        dir_fail(d, "%s was told that a page has come to place %u, which awaits none", d->name, place);
        return;
    }
    t->awaits_data = false;
    if (t->awaited != 0)
        dir_tell_step(d, i, LS_STEP_SHOOTDOWN);
    dir_check_moved(d, t->unit, t->size_log2, t->sender, place);
    go_on(d, i, now);
}

/* ----------------------------------------------------------------------------------------------------- room */

/* A page of a GPU that can leave: strict: nobody waits for it, and it was not used since the hand passed. */
static bool may_leave(const dir_page *p, uint32_t gpu, uint32_t strictness)
{
    if (!dir_holds(p, gpu) || p->transaction != INDEX_NONE || p->grants != 0)
        return false;
    return strictness == 0 ||
           (index_list_empty(&p->asks) && (strictness == 1 || (p->used & dir_bit(gpu)) == 0));
}

/* The clock's hand goes over the pages of all ranges. The first turn looks for a page that was not used since the last
 * one; the second for one that nobody waits for; the third for any. */
static uint32_t find_victim(directory *d, uint32_t gpu)
{
    for (uint32_t strictness = 3; strictness-- > 0;)
        for (uint64_t passed = 0; passed < d->unit_room;) {
            uint32_t unit = d->hand[gpu] < d->unit_room ? d->hand[gpu] : 0, step;
            if (d->sizes[unit] == 0) {
                step = 1u << (DIR_BLOCK_LOG2 - d->unit_log2);
            } else {
                unit &= ~(page_units(d, unit) - 1);
                step = page_units(d, unit);
            }
            d->hand[gpu] = unit + step;
            passed += step;
            if (d->sizes[unit] == 0)
                continue;
            dir_page *p = &d->pages[unit];
            if (may_leave(p, gpu, strictness))
                return unit;
            p->used &= ~dir_bit(gpu);
        }
    return DIR_NOWHERE;
}

/* One page of a GPU leaves: it is dropped if another place has it, else it goes to the host. */
static bool evict(directory *d, uint32_t gpu, ls_cycle now)
{
    uint32_t unit = find_victim(d, gpu);
    if (unit == DIR_NOWHERE)
        return false;
    bool is_last = dir_holder_count(&d->pages[unit]) == 1;
    dir_plan plan = { .change = is_last ? DIR_TAKE : DIR_DROP,
                      .to = is_last ? MEM_PLACE_HOST : gpu,
                      .sender = is_last ? gpu : DIR_NOWHERE };
    d->leaving[gpu] += dir_page_bytes(d, unit);
    begin(d, unit, &plan, DIR_FOR_ROOM, now);
    return true;
}

/* Whether the GPU has room for a page now; if not, pages leave as long as there are transactions for them. */
static bool make_room(directory *d, uint32_t gpu, uint64_t bytes, ls_cycle now)
{
    if (gpu == MEM_PLACE_HOST)
        return true;
    while (d->resident[gpu] - d->leaving[gpu] + bytes > d->capacity && d->active < d->spec->in_flight)
        if (!evict(d, gpu, now))
            break;
    return d->resident[gpu] + bytes <= d->capacity;
}

/* -------------------------------------------------------------------------------------------------- waiting */

void dir_wait(directory *d, uint32_t i, ls_cycle now)
{
    dir_ask *a = &d->asks[i];
    d->pages[a->unit].flags |= DIR_WAITS;
    a->ready = now;
    index_list_append(&d->waiting, INDEX_LINKS(d->asks, next_waiting), i);
    dir_start_waiting(d, now);
}

/* The page leaves the list. */
static void stop_waiting(directory *d, uint32_t i, ls_cycle now)
{
    dir_ask *a = &d->asks[i];
    index_list_remove(&d->waiting, INDEX_LINKS(d->asks, next_waiting), i);
    d->pages[a->unit].flags &= (uint8_t) ~(unsigned)DIR_WAITS;
    d->n.waits += now > a->ready;
    d->n.wait_cycles += now - a->ready;
}

/* Neighbours that lie at the same place move along, if there is room and they are idle. */
static void prefetch(directory *d, uint32_t unit, const dir_plan *plan, ls_cycle now)
{
    for (uint64_t k = 0; k < d->spec->prefetch && d->active < d->spec->in_flight; k++) {
        unit = dir_find(d, d->pages[unit].address + dir_page_bytes(d, unit));
        if (unit == DIR_NOWHERE)
            return;
        const dir_page *p = &d->pages[unit];
        if (p->transaction != INDEX_NONE || p->grants != 0 || !index_list_empty(&p->asks) ||
            (p->flags & DIR_PINNED) != 0 || !dir_holds(p, plan->sender) ||
            d->resident[plan->to] + dir_page_bytes(d, unit) > d->capacity)
            continue;
        begin(d, unit, plan, DIR_FOR_NEIGHBOUR, now);
    }
}

/* A page that leaves its exclusive owner is halved first: only the half that is asked for changes. */
static bool is_halved(const directory *d, const dir_ask *a, const dir_plan *plan)
{
    return d->spec->splits && a->kind != DIR_MOVE && dir_is_exclusive(&d->pages[a->unit]) &&
           plan->sender != DIR_NOWHERE && d->sizes[a->unit] > d->unit_log2;
}

static void start(directory *d, uint32_t i, const dir_plan *plan, ls_cycle now)
{
    dir_ask *a = &d->asks[i];
    bool is_order = a->kind == DIR_MOVE, halves = is_halved(d, a, plan);
    uint32_t unit = a->unit, other = DIR_NOWHERE;
    stop_waiting(d, i, now);
    dir_tell_step(d, LS_TAP_ASK | i, LS_STEP_CHANGE);
    if (halves) {
        d->n.splits++;
        unit = dir_split(d, unit, a->address);
        other = unit ^ page_units(d, unit);
    }
    begin(d, unit, plan, is_order ? DIR_FOR_ORDER : DIR_FOR_ASK, now);
    if (halves)
        dir_step(d, other, now);
    if (plan->sender != DIR_NOWHERE && !is_order)
        prefetch(d, unit, plan, now);
}

/* In order, except that a page that waits for room lets pages for other GPUs pass. */
static void start_some(directory *d, ls_cycle now)
{
    uint64_t full = 0;
    for (uint32_t i = d->waiting.first, next; i != INDEX_NONE && d->active < d->spec->in_flight; i = next) {
        dir_ask *a = &d->asks[i];
        const dir_page *p = &d->pages[a->unit];
        dir_plan plan;
        next = a->next_waiting;
        if (p->transaction != INDEX_NONE)
            continue;
        dir_plan_ask(d, p, a, &plan);
        if (plan.change == DIR_NONE) { /* an eviction brought it to a state that will do */
            uint32_t unit = a->unit;
            stop_waiting(d, i, now);
            dir_step(d, unit, now);
            continue;
        }
        if (plan.sender != DIR_NOWHERE) {
            uint64_t bytes = dir_page_bytes(d, a->unit) >> is_halved(d, a, &plan);
            if ((full & dir_bit(plan.to)) != 0 || !make_room(d, plan.to, bytes, now)) {
                full |= dir_bit(plan.to);
                continue;
            }
            if (d->active >= d->spec->in_flight || p->transaction != INDEX_NONE)
                continue;
        }
        start(d, i, &plan, now);
    }
}

/* Changes that end at once call it again: the outer call does that. */
void dir_start_waiting(directory *d, ls_cycle now)
{
    d->start_again = true;
    if (d->is_starting)
        return;
    d->is_starting = true;
    while (d->start_again) {
        d->start_again = false;
        start_some(d, now);
    }
    d->is_starting = false;
}

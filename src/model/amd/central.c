/* central.c: messages between the command processor of the first GPU and those of the others, and the leader's books of
 * their compute units. Which work-group goes where is decided in command_central.c. */
#include "model/amd/central.h"

#include "lockstep/state.h"

#include <stdio.h>
#include <string.h>

#define SPARE_CREDITS 32u

typedef enum central_kind { CENTRAL_READY, CENTRAL_LAUNCH, CENTRAL_DONE, CENTRAL_CLOSE } central_kind;

/* From a member: CENTRAL_READY or CENTRAL_DONE. */
typedef struct central_report {
    uint8_t kind; /* central_kind */
    bool fault;
    uint16_t slot;
    uint32_t cu;
    uint32_t row; /* READY: dispatcher of the member; DONE: of the leader */
    uint32_t tag; /* of READY: the launch */
} central_report;

typedef struct central_counters {
    uint64_t sent, received, done, ready;
    uint64_t waits;
} central_counters;

/* A member, as its leader knows it. */
typedef struct central_member {
    uint32_t cu_count, full_words, row_count;
    ls_link *orders;
    place_cu *cus;
    uint64_t *full; /* by dispatcher of the leader: compute units without room for its next work-group */
    uint32_t
        *ready; /* by dispatcher of the member: tag of the launch in it; 0: none that the leader can use */
    central *leader;
} central_member;

struct central {
    ls_region *region;
    ls_domain *domain;
    const char *name;
    const central_user_ops *user;
    void *user_self;
    uint32_t cu_count, cu_words, rows;
    uint64_t cu_tail; /* bits of the last word of a mask */
    place_spec place;
    /* The leader. */
    central_member *members;
    uint32_t member_count;
    /* A member: orders that have arrived and not been passed on are a ring. The link's buffer entries are theirs. */
    uint32_t queue_size, queue_head, queue_count;
    ls_link *reports, *arrivals;
    central_order *queue;
    ls_event again;
    central_counters n;
};

/* -------------------------------------------------------------------------------------------------- the leader */

uint32_t central_members(const central *c)
{
    return c->member_count;
}

static uint32_t row_of(const central_member *m, uint32_t tag)
{
    uint32_t row = 0;
    while (row < m->row_count && m->ready[row] != tag)
        row++;
    return row;
}

bool central_is_ready(const central *c, uint32_t tag)
{
    for (uint32_t i = 0; i < c->member_count; i++)
        if (row_of(&c->members[i], tag) == c->members[i].row_count)
            return false;
    return true;
}

void central_begin(central *c, uint32_t row)
{
    for (uint32_t i = 0; i < c->member_count; i++)
        memset(c->members[i].full + row * c->cu_words, 0, c->cu_words * sizeof(uint64_t));
}

uint32_t central_next(const central *c, uint32_t member, uint32_t row, uint32_t first)
{
    const uint64_t *full = c->members[member].full + row * c->cu_words;
    for (uint32_t word = first / 64; word < c->cu_words; word++) {
        uint64_t open = ~full[word];
        if (word == first / 64)
            open &= UINT64_MAX << first % 64;
        if (word == c->cu_words - 1)
            open &= c->cu_tail;
        if (open != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(open);
    }
    return c->cu_count;
}

bool central_can_send(const central *c, uint32_t member)
{
    return ls_link_ready(c->members[member].orders);
}

place_limit central_send(central *c, uint32_t member, uint32_t tag, const place_need *need,
                         central_order *order)
{
    central_member *m = &c->members[member];
    uint32_t cu = order->cu;
    place_limit limit = place_take(&c->place, &m->cus[cu], need, &order->launch.slot, order->launch.simd);
    if (limit != PLACE_FITS) {
        m->full[order->leader_row * c->cu_words + cu / 64] |= UINT64_C(1) << cu % 64;
        return limit;
    }
    order->kind = CENTRAL_LAUNCH;
    order->row = row_of(m, tag);
    order->launch.wave_count = (uint16_t)need->waves;
    *(central_order *)ls_link_send(m->orders, 1) = *order;
    c->n.sent++;
    return PLACE_FITS;
}

void central_close(central *c, uint32_t member, uint32_t tag, bool cancel)
{
    central_member *m = &c->members[member];
    uint32_t row = row_of(m, tag);
    central_order *order = ls_link_send(m->orders, 1);
    *order = (central_order){ .kind = CENTRAL_CLOSE, .row = row, .cancel = cancel };
    m->ready[row] = 0;
}

static void receive_report(void *receiver, ls_link *link, const void *payload, ls_cycle now)
{
    central_member *m = receiver;
    central *c = m->leader;
    const central_report r = *(const central_report *)payload;
    ls_link_release(link, 1);
    if (r.kind == CENTRAL_READY) {
        m->ready[r.row] = r.tag;
        c->n.ready++;
        c->user->ready(c->user_self, now);
        return;
    }
    place_give(&m->cus[r.cu], r.slot);
    for (uint32_t row = 0; row < c->rows; row++)
        m->full[row * c->cu_words + r.cu / 64] &= ~(UINT64_C(1) << r.cu % 64);
    c->n.done++;
    c->user->done(c->user_self, r.row, r.fault, now);
}

/* --------------------------------------------------------------------------------------------------- a member */

bool central_follows(const central *c)
{
    return c->reports != NULL;
}

/* The link always has room: it has a buffer entry for every work-group that can be resident and for every dispatcher. The
 * entry of a report comes back no later than the order for which the report made room. */
static void report(central *c, const central_report *r)
{
    *(central_report *)ls_link_send(c->reports, 1) = *r;
}

void central_report_ready(central *c, uint32_t tag, uint32_t row)
{
    report(c, &(central_report){ .kind = CENTRAL_READY, .tag = tag, .row = row });
}

void central_report_done(central *c, uint32_t leader_row, uint32_t cu, uint32_t slot, bool fault)
{
    report(c, &(central_report){
                  .kind = CENTRAL_DONE, .fault = fault, .slot = (uint16_t)slot, .cu = cu, .row = leader_row });
}

/* Passes orders on in the order of their arrival. */
static void pass_on(void *self, ls_cycle now)
{
    central *c = self;
    while (c->queue_count > 0) {
        const central_order *o = &c->queue[c->queue_head];
        if (o->kind == CENTRAL_CLOSE) {
            c->user->close(c->user_self, o->row, o->cancel, now);
        } else if (!c->user->launch(c->user_self, o, now)) {
            c->n.waits++;
            if (!ls_event_scheduled(&c->again))
                ls_schedule(c->region, &c->again, 1);
            return;
        }
        c->queue_head = c->queue_head + 1 == c->queue_size ? 0 : c->queue_head + 1;
        c->queue_count--;
        ls_link_release(c->arrivals, 1);
    }
}

static void receive_order(void *receiver, ls_link *link, const void *payload, ls_cycle now)
{
    central *c = receiver;
    uint32_t at = c->queue_head + c->queue_count;
    c->arrivals = link;
    c->queue[at < c->queue_size ? at : at - c->queue_size] = *(const central_order *)payload;
    c->queue_count++;
    c->n.received += ((const central_order *)payload)->kind == CENTRAL_LAUNCH;
    if (c->queue_count == 1)
        pass_on(c, now);
}

/* ------------------------------------------------------------------------------------------------------ set-up */

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for a dispatcher of several GPUs");
}

static bool same_units(const central *a, const central *b)
{
    return a->cu_count == b->cu_count && memcmp(&a->place, &b->place, sizeof a->place) == 0;
}

static ls_status add_member(central *l, central *m, central_member **out, ls_error *err)
{
    if (l->members == NULL)
        l->members = ls_domain_alloc(l->domain, CENTRAL_MEMBERS_MAX * sizeof *l->members);
    if (l->members == NULL)
        return no_memory(err);
    central_member *at = *out = &l->members[l->member_count];
    *at = (central_member){
        .cu_count = m->cu_count, .full_words = l->rows * l->cu_words, .row_count = m->rows, .leader = l
    };
    at->cus = ls_domain_alloc(l->domain, at->cu_count * sizeof *at->cus);
    at->full = ls_domain_alloc(l->domain, at->full_words * sizeof *at->full);
    at->ready = ls_domain_alloc(l->domain, at->row_count * sizeof *at->ready);
    return at->cus != NULL && at->full != NULL && at->ready != NULL ? LS_OK : no_memory(err);
}

ls_status central_join(ls_block *leader, ls_block *member, const char *const names[2], uint32_t latency_cycles,
                       bool *joined, ls_error *err)
{
    central *l = ls_block_state(leader), *m = ls_block_state(member);
    central_member *at = NULL;
    *joined = same_units(l, m) && l->member_count < CENTRAL_MEMBERS_MAX;
    if (!*joined)
        return LS_OK;
    ls_status status = add_member(l, m, &at, err);
    if (status != LS_OK)
        return status;
    ls_link_spec spec = { .name = names[0],
                          .from = l->region,
                          .to = m->region,
                          .from_name = l->name,
                          .to_name = m->name,
                          .latency_cycles = latency_cycles,
                          .credits = latency_cycles * 2 + SPARE_CREDITS,
                          .payload_bytes = sizeof(central_order),
                          .receive = receive_order,
                          .receiver = m };
    m->queue_size = spec.credits;
    m->queue = ls_domain_alloc(m->domain, m->queue_size * sizeof *m->queue);
    if (m->queue == NULL)
        return no_memory(err);
    status = ls_link_create(ls_domain_engine(l->domain), &spec, &at->orders, err);
    if (status != LS_OK)
        return status;
    ls_link_spec back = { .name = names[1],
                          .from = m->region,
                          .to = l->region,
                          .from_name = m->name,
                          .to_name = l->name,
                          .latency_cycles = latency_cycles,
                          .credits = m->cu_count * m->place.capacity.groups + m->rows + SPARE_CREDITS,
                          .payload_bytes = sizeof(central_report),
                          .receive = receive_report,
                          .receiver = at };
    l->member_count++;
    return ls_link_create(ls_domain_engine(l->domain), &back, &m->reports, err);
}

static ls_status central_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    central *c = state;
    const central_wiring *w = spec;
    c->region = ls_block_region(block);
    c->domain = ls_region_domain(c->region);
    c->name = ls_block_name(block);
    c->user = w->user.ops;
    c->user_self = w->user.self;
    c->cu_count = w->cus;
    c->cu_words = (w->cus + 63) / 64;
    c->cu_tail = w->cus % 64 == 0 ? UINT64_MAX : (UINT64_C(1) << w->cus % 64) - 1;
    c->rows = c->user->rows(c->user_self);
    ls_event_init(&c->again, pass_on, c);
    return place_init(&c->place, &w->capacity, err);
}

static void central_waits(const void *state, ls_wait_sink *sink)
{
    const central *c = state;
    char detail[96];
    if (c->queue_count == 0)
        return;
    snprintf(detail, sizeof detail, "%u orders of the leader", c->queue_count);
    ls_wait_report(sink, c->name, "its clusters", detail);
}

/* --------------------------------------------------------------------------------------------------- the type */

static uint64_t cu_length(const void *self)
{
    return ((const central_member *)self)->cu_count;
}

static uint64_t full_length(const void *self)
{
    return ((const central_member *)self)->full_words;
}

static uint64_t ready_length(const void *self)
{
    return ((const central_member *)self)->row_count;
}

static uint64_t member_length(const void *self)
{
    return ((const central *)self)->member_count;
}

static uint64_t queue_length(const void *self)
{
    return ((const central *)self)->queue_size;
}

static const ls_state_row member_rows[] = {
    LS_STATE_FIXED_SPAN(central_member, cu_count, row_count),
    LS_STATE_LINK(central_member, orders),
    LS_STATE_ARRAY(central_member, cus, cu_length),
    LS_STATE_ARRAY(central_member, full, full_length),
    LS_STATE_ARRAY(central_member, ready, ready_length),
    LS_STATE_FIXED(central_member, leader),
};

static const ls_state_row state_rows[] = {
    LS_STATE_FIXED_SPAN(central, region, place),
    LS_STATE_ARRAY_OF(central, members, member_length, member_rows),
    LS_STATE_FIXED_SPAN(central, member_count, queue_size),
    LS_STATE_DATA_SPAN(central, queue_head, queue_count),
    LS_STATE_LINK(central, reports),
    LS_STATE_LINK(central, arrivals),
    LS_STATE_ARRAY(central, queue, queue_length),
    LS_STATE_EVENT(central, again),
    LS_STATE_DATA(central, n),
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(central_counters, sent, "work-groups", "work-groups sent to other GPUs"),
    LS_METRIC_COUNTER(central_counters, received, "work-groups", "work-groups from the first GPU"),
    LS_METRIC_COUNTER(central_counters, done, "work-groups", "ends of work-groups that other GPUs reported"),
    LS_METRIC_COUNTER(central_counters, ready, "launches", "launches that other GPUs reported as ready"),
    LS_METRIC_COUNTER(central_counters, waits, "cycles",
                      "cycles in which a work-group waited for its cluster's link"),
};

static const ls_block_type central_type = {
    .abi = LS_ABI_VERSION,
    .slot = "central",
    .name = "links",
    .help = "work-groups from the first GPU's command processor to the compute units of all GPUs",
    .spec_size = sizeof(central_wiring),
    .state_size = sizeof(central),
    .rows = state_rows,
    .row_count = LS_COUNT_OF(state_rows),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(central, n),
    .init = central_init,
    .waits = central_waits,
};

ls_status central_create(ls_region *region, const char *name, const central_wiring *wiring, ls_block **out,
                         ls_error *err)
{
    ls_status status = ls_block_create(region, name, &central_type, wiring, out, err);
    if (status == LS_OK)
        ((const central_user_ops *)wiring->user.ops)->attach(wiring->user.self, ls_block_state(*out));
    return status;
}

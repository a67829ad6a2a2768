/* cga.c: messages between the cores of a cluster, and cluster barriers. See cga.h.
 *
 * A barrier needs no place of its own: when all warps of a block have arrived, the block tells all others. Each block
 * counts, and its phase ends with the last arrival. A block may be one phase ahead of another, so arrivals are kept for
 * two phases. Warps and blocks that have ended count as arrived. */
#include "model/core/options_state.h"

#include <string.h>

static inline cga_block *block_at(core *c, uint32_t slot)
{
    return &c->options.cga->blocks[slot];
}

uint32_t cga_size(const core *c, uint32_t slot)
{
    const cga_block *b = &c->options.cga->blocks[slot];
    return b->number == 0 ? 1 : b->size;
}

uint32_t cga_rank(const core *c, uint32_t slot)
{
    const cga_block *b = &c->options.cga->blocks[slot];
    return b->number == 0 ? 0 : b->rank;
}

uint32_t cga_rank_of(const core *c, uint32_t slot, uint64_t address)
{
    const cga_block *b = &c->options.cga->blocks[slot];
    uint32_t rank = (uint32_t)(address >> CGA_WINDOW_BITS) & 0xff;
    return b->number == 0 || b->size == 1 || rank >= b->size ? cga_rank(c, slot) : rank;
}

void cga_set_hooks(core *c, const cga_hooks *hooks)
{
    c->options.cga->hooks = hooks;
}

/* ------------------------------------------------------------------------------------------------- sending */

static inline uint32_t wire_bytes(const cga_message *m)
{
    switch (m->kind) {
    case CGA_ARRIVE:
    case CGA_GONE:
        return 0; /* wires of their own */
    case CGA_STORE:
    case CGA_REDUCE:
    case CGA_ATOMIC:
    case CGA_DATA:
    case CGA_ANSWER:
        return m->bytes > CGA_HEADER ? m->bytes : CGA_HEADER;
    default:
        return CGA_HEADER;
    }
}

/* Sends what may leave in this cycle. */
static void pump(core *c, cga_lane *lane, ls_cycle now)
{
    cga *cl = c->options.cga;
    while (!ring_empty(&lane->ring)) {
        uint32_t front = ring_front(&lane->ring);
        const cga_message *m = &lane->out[front].message;
        uint32_t bytes = wire_bytes(m);
        ls_cycle at = lane->out[front].at, wire = bytes == 0 ? 0 : cl->wire / cl->width;
        ls_cycle due = at > wire ? at : wire;
        if (due > now) {
            ls_schedule_at(c->region, &lane->event, due);
            return;
        }
        bool asks = m->kind <= CGA_ATOMIC;
        if (asks && cl->asked == CGA_ACCESSES)
            return; /* the next answer looks again */
        ls_link *link = cl->to_cores[lane->out[front].core];
        cga_message *out = ls_link_send(link, bytes);
        if (out == NULL) {
            lane->waits = true;
            ls_link_wait(link, &lane->event);
            return;
        }
        *out = *m;
        (void)ring_pop(&lane->ring);
        cl->asked += asks;
        if (bytes == 0)
            continue;
        uint64_t from = now * cl->width;
        cl->wire = (cl->wire > from ? cl->wire : from) + bytes;
        c->n.options.cga.wait_cycles += now - at;
        if (m->kind != CGA_LOAD && m->kind != CGA_MBARRIER)
            c->n.options.cga.bytes += m->bytes;
    }
}

static void requests_event(void *self, ls_cycle now)
{
    core *c = self;
    cga_lane *lane = &c->options.cga->lanes[CGA_REQUESTS];
    lane->waits = false;
    pump(c, lane, now);
    if (c->options.cga->stalled != NO_FLIGHT)
        ls_ticker_wake(&c->ticker);
}

static void answers_event(void *self, ls_cycle now)
{
    core *c = self;
    cga_lane *lane = &c->options.cga->lanes[CGA_ANSWERS];
    lane->waits = false;
    pump(c, lane, now);
}

bool cga_can_send(const core *c, uint32_t messages)
{
    const index_ring *ring = &c->options.cga->lanes[CGA_REQUESTS].ring;
    /* Some entries are kept for barriers and ends of blocks, which cannot wait. */
    return ring_count(ring) + messages + LS_CLUSTER_BLOCKS * CORE_CTAS_MAX <= ring->limit;
}

static void send_on(core *c, uint32_t lane_number, uint32_t core_number, const cga_message *m, ls_cycle at)
{
    cga_lane *lane = &c->options.cga->lanes[lane_number];
    bool idle = ring_empty(&lane->ring);
    uint32_t place = ring_push(&lane->ring);
    lane->out[place].message = *m;
    lane->out[place].core = (uint16_t)core_number;
    lane->out[place].at = at;
    if (idle && !lane->waits && !ls_event_scheduled(&lane->event))
        pump(c, lane, ls_region_now(c->region));
}

void cga_send(core *c, uint32_t slot, uint32_t rank, const cga_message *message, ls_cycle at)
{
    const cga_block *b = block_at(c, slot);
    cga_message m = *message;
    m.row = b->row;
    m.number = b->number;
    m.core = (uint16_t)c->id;
    m.from = b->rank;
    m.to = (uint8_t)rank;
    send_on(c, CGA_REQUESTS, b->cores[rank], &m, at);
}

/* ------------------------------------------------------------------------------------------------ barriers */

static void send_to_others(core *c, uint32_t slot, cga_kind kind, uint32_t parity, ls_cycle at)
{
    const cga_block *b = block_at(c, slot);
    const cga_message m = { .kind = (uint8_t)kind, .op = (uint8_t)parity };
    for (uint32_t rank = 0; rank < b->size; rank++)
        if (rank != b->rank && (b->gone >> rank & 1) == 0)
            cga_send(c, slot, rank, &m, at);
}

static void end_phase(core *c, cga_block *b)
{
    const uint32_t all = (1u << b->size) - 1;
    if (!b->sent || ((b->arrived[b->phase] | b->gone) & all) != all)
        return;
    const ls_cycle now = ls_region_now(c->region);
    b->over = b->at > now ? b->at : now;
    b->arrived[b->phase] = 0;
    b->phase ^= 1;
    b->sent = false;
    b->arrived_warps = 0;
    c->n.options.cga.barriers++;
    for (; b->waiting != 0; b->waiting &= b->waiting - 1)
        front_let_go(c, (uint32_t)__builtin_ctzll(b->waiting), b->over);
    ls_ticker_wake(&c->ticker);
}

/* The last warp of the block may have arrived. */
static void look_at_warps(core *c, uint32_t slot, ls_cycle at)
{
    cga_block *b = block_at(c, slot);
    uint32_t arrived = (uint32_t)__builtin_popcountll(b->arrived_warps);
    if (b->sent || arrived == 0 || arrived < c->blocks.at[slot].warps_left)
        return;
    b->sent = true;
    b->arrived[b->phase] |= (uint16_t)(1u << b->rank);
    b->at = at > b->at ? at : b->at;
    send_to_others(c, slot, CGA_ARRIVE, b->phase, b->at);
    end_phase(c, b);
}

void cga_arrive(core *c, uint32_t warp, ls_cycle at)
{
    uint32_t slot = c->front.warps[warp].cta;
    cga_block *b = block_at(c, slot);
    if (b->number == 0) { /* a cluster of its own: the barrier is that of the block */
        b->size = 1;
        b->rank = 0;
    }
    b->arrived_warps |= UINT64_C(1) << warp;
    b->at = at > b->at ? at : b->at;
    c->options.cga->phases[warp] = b->phase;
    look_at_warps(c, slot, at);
}

ls_cycle cga_wait(core *c, uint32_t warp)
{
    cga_block *b = block_at(c, c->front.warps[warp].cta);
    if (c->options.cga->phases[warp] != b->phase || (b->arrived_warps >> warp & 1) == 0)
        return b->over; /* the phase is over, or the warp did not arrive */
    b->waiting |= UINT64_C(1) << warp;
    front_stop(c, warp, FRONT_WAIT_CLUSTER);
    return 0;
}

void cga_warp_ended(core *c, uint32_t warp)
{
    uint32_t slot = c->front.warps[warp].cta;
    cga_block *b = block_at(c, slot);
    b->arrived_warps &= ~(UINT64_C(1) << warp);
    b->waiting &= ~(UINT64_C(1) << warp);
    look_at_warps(c, slot, ls_region_now(c->region));
}

/* --------------------------------------------------------------------------------------------------- blocks */

void cga_start_block(core *c, uint32_t slot)
{
    const core_launch *launch = &c->blocks.at[slot].launch;
    cga_block *b = block_at(c, slot);
    *b = (cga_block){ .size = 1 };
    if (launch->cluster == 0)
        return;
    const ls_launch_cluster *row = &c->blocks.launches->clusters[launch->cluster - 1];
    b->row = launch->cluster - 1;
    b->number = row->number;
    b->size = (uint8_t)row->size;
    uint32_t rank = launch->cta->cluster_rank;
    for (uint32_t i = 0; rank >= row->size && i < row->size; i++) /* of a cluster that was cut short */
        rank = row->cores[i] == c->id ? i : rank;
    b->rank = (uint8_t)(rank < row->size ? rank : 0);
    memcpy(b->cores, row->cores, sizeof b->cores);
}

void cga_end_block(core *c, uint32_t slot)
{
    cga_block *b = block_at(c, slot);
    if (b->number != 0)
        send_to_others(c, slot, CGA_GONE, 0, ls_region_now(c->region));
    b->number = 0;
}

/* ------------------------------------------------------------------------------------------------ receiving */

static uint32_t find_block(const core *c, const cga_message *m)
{
    const cga *cl = c->options.cga;
    for (uint32_t slot = 0; slot < CORE_CTAS_MAX; slot++) {
        const cga_block *b = &cl->blocks[slot];
        if (b->number == m->number && b->row == m->row && b->rank == m->to)
            return slot;
    }
    return CORE_CTAS_MAX;
}

/* An access to shared memory of a block here; one to a block that has ended is answered all the same. Atomics read the
 * banks and write them: they have the port for both. Their old values are known after the first pass. */
static void serve(core *c, const cga_message *m, ls_cycle now)
{
    const uint32_t cycles = m->cycles > 0 ? m->cycles : 1;
    const bool writes_back = m->kind == CGA_REDUCE || m->kind == CGA_ATOMIC;
    ls_cycle start = ldst_port_take(c, now, writes_back ? 2 * cycles : cycles);
    c->n.shared_accesses++;
    c->n.bank_conflict_cycles += cycles - 1;
    const cga_message answer = { .row = m->row,
                                 .number = m->number,
                                 .core = (uint16_t)c->id,
                                 .from = m->to,
                                 .to = m->from,
                                 .kind = CGA_ANSWER,
                                 .bytes = m->kind == CGA_STORE || m->kind == CGA_REDUCE ? 0 : m->bytes,
                                 .token = m->token };
    send_on(c, CGA_ANSWERS, m->core, &answer, start + cycles - 1 + c->spec->shared_latency_cycles);
}

static void deliver(core *c, uint32_t slot, const cga_message *m, ls_cycle now)
{
    const cga_hooks *hooks = c->options.cga->hooks;
    cga_block *b = block_at(c, slot);
    switch (m->kind) {
    case CGA_ARRIVE:
        b->arrived[m->op & 1] |= (uint16_t)(1u << m->from);
        end_phase(c, b);
        return;
    case CGA_GONE:
        b->gone |= (uint16_t)(1u << m->from);
        end_phase(c, b);
        return;
    case CGA_MBARRIER:
    case CGA_DATA:
        if (hooks == NULL)
            c->n.options.cga.late++;
        else
            (m->kind == CGA_DATA ? hooks->data : hooks->mbarrier)(c, slot, m, now);
        return;
    default:
        return;
    }
}

void cga_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    core *c = self;
    cga *cl = c->options.cga;
    const cga_message m = *(const cga_message *)payload;
    ls_link_release(link, 1);
    count_for_all(c);
    c->n.options.cga.messages++;
    if (m.kind == CGA_ANSWER) {
        cga_lane *lane = &cl->lanes[CGA_REQUESTS];
        cl->tokens[ring_push(&cl->token_ring)] = m.token;
        c->options.due = 0;
        if (cl->asked-- == CGA_ACCESSES && !lane->waits && !ls_event_scheduled(&lane->event))
            pump(c, lane, now);
        ls_ticker_wake(&c->ticker);
        return;
    }
    uint32_t slot = find_block(c, &m);
    c->n.options.cga.late += slot == CORE_CTAS_MAX && m.kind != CGA_GONE && m.kind != CGA_ARRIVE;
    if (m.kind <= CGA_ATOMIC)
        serve(c, &m, now);
    else if (slot != CORE_CTAS_MAX)
        deliver(c, slot, &m, now);
}

/* --------------------------------------------------------------------------------------------------- set-up */

bool cga_init(core *c, ls_link *const *to_cores, uint32_t core_count, uint32_t width)
{
    cga *cl = c->options.cga = ls_domain_alloc(c->domain, sizeof *cl);
    if (cl == NULL)
        return false;
    c->options.any = true;
    cl->to_cores = ls_domain_alloc(c->domain, core_count * sizeof(ls_link *));
    if (cl->to_cores == NULL)
        return false;
    memcpy(cl->to_cores, to_cores, core_count * sizeof(ls_link *));
    cl->core_count = core_count;
    cl->width = width;
    cl->stalled = NO_FLIGHT;
    ring_init(&cl->token_ring, CGA_QUEUE);
    for (uint32_t i = 0; i < CGA_LANES; i++)
        ring_init(&cl->lanes[i].ring, CGA_QUEUE);
    ls_event_init(&cl->lanes[CGA_REQUESTS].event, requests_event, c);
    ls_event_init(&cl->lanes[CGA_ANSWERS].event, answers_event, c);
    return true;
}

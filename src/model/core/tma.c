/* tma.c: see tma.h: the engine of bulk copies: queue, set-up, answers, groups of stores. May touch its core only. */
#include "model/core/tma_requests.h"

#define LINE_SECTORS (LS_SECTOR_LINE_BYTES / SECTOR_BYTES)
#define LOST_BASE UINT64_C(0x7e0000000000) /* where copies go whose address the trace does not have */

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void tma_init(core *c)
{
    tma *t = &c->async->tma;
    const uint64_t port_bytes = c->spec->shared_banks * 4;
    t->sector_cost = (uint32_t)((SECTOR_BYTES << TMA_ONE_SHIFT) / c->spec->async.tma.bytes_per_cycle);
    t->port_cost = (uint32_t)((SECTOR_BYTES << TMA_ONE_SHIFT) / port_bytes);
    t->in_cost = (uint32_t)((UINT64_C(1) << TMA_ONE_SHIFT) / c->spec->network_width);
    t->step = t->burst = 1;
    t->most = (uint32_t)c->async->spec->tma.sectors - t->step;
}

void tma_use_lines(core *c)
{
    tma *t = &c->async->tma;
    if (c->async->spec->tma.sectors < LINE_SECTORS || c->spec->perfect_memory)
        return;
    t->step = LINE_SECTORS;
    t->burst = TMA_BURST;
    if (c->spec->network_queue < TMA_BURST) /* the queue takes a burst that finds no room in its links */
        t->burst = (uint32_t)c->spec->network_queue;
    t->most = (uint32_t)c->async->spec->tma.sectors - t->step;
    const uint32_t half = c->ldst.half_channels;
    t->near_first = c->ldst.half != 0 ? half : 0;
    t->near_count = half != 0 ? half : UINT32_MAX;
    t->far_shift = 2 * t->near_first - half;
}

/* ----------------------------------------------------------------------------------- port of shared memory */

uint32_t tma_take_port(core *c, uint32_t cycles)
{
    tma *t = &c->async->tma;
    uint64_t now = c->now << TMA_ONE_SHIFT, from = later(now, t->port_free);
    uint32_t wait = (uint32_t)((from - now) >> TMA_ONE_SHIFT);
    t->port_free = from + ((uint64_t)cycles << TMA_ONE_SHIFT);
    t->port_taken += (uint64_t)cycles << TMA_ONE_SHIFT;
    c->n.async.tma.port_wait_cycles += wait;
    return wait;
}

/* Sectors go through the port. */
static inline void move_sectors(tma *t, ls_cycle now, uint32_t count)
{
    uint64_t cost = (uint64_t)t->port_cost * count;
    t->port_free = later(now << TMA_ONE_SHIFT, t->port_free) + cost;
    t->port_taken += cost;
}

/* --------------------------------------------------------------------------------------------------- issue */

static ls_cycle setup_cycles(const core *c, const ls_inst *inst)
{
    const tma_spec *spec = &c->async->spec->tma;
    if (inst->bulk_dimensions == 0)
        return spec->setup_cycles;
    return spec->setup_cycles + spec->descriptor_cycles +
           spec->dimension_cycles * (inst->bulk_dimensions - 1u);
}

static uint32_t free_op(tma *t)
{
    while (t->ops[t->next_free].used)
        t->next_free = (t->next_free + 1) % TMA_OPS;
    return t->next_free;
}

static void count_op(core *c, uint32_t kind, uint64_t bytes, uint64_t outside)
{
    tma_counters *n = &c->n.async.tma;
    n->loads += kind == LS_BULK_LOAD;
    n->stores += kind == LS_BULK_STORE;
    n->reductions += kind == LS_BULK_REDUCE;
    n->prefetches += kind == LS_BULK_PREFETCH;
    n->bytes += bytes;
    n->outside_bytes += outside;
}

/* Groups count stores and reductions. */
static bool is_grouped(uint32_t kind)
{
    return kind == LS_BULK_STORE || kind == LS_BULK_REDUCE;
}

/* Transfers of whole sectors in one line each, and in another one than the next. */
static bool are_whole_sectors(const uint64_t *addresses, uint64_t move, uint32_t count, uint32_t width)
{
    uint64_t before = ~(addresses[0] + move);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t address = addresses[i] + move, from = address % LS_SECTOR_LINE_BYTES;
        if (from % SECTOR_BYTES != 0 || from + width > LS_SECTOR_LINE_BYTES ||
            (address ^ before) < LS_SECTOR_LINE_BYTES)
            return false;
        before = address;
    }
    return true;
}

/* See tma_op.whole. Most copies are of transfers that begin with a line. */
static bool are_whole(const tma_op *op, const uint64_t *addresses)
{
    const uint32_t count = op->count;
    if (op->width % SECTOR_BYTES != 0 || op->width > LS_SECTOR_LINE_BYTES)
        return false;
    uint64_t bits = op->move, before = ~addresses[0];
    for (uint32_t i = 0; i < count; i++) {
        if (addresses[i] == before)
            return false;
        before = addresses[i];
        bits |= before;
    }
    return bits % LS_SECTOR_LINE_BYTES == 0 || are_whole_sectors(addresses, op->move, count, op->width);
}

/* The transfers of a copy. */
static void read_record(core *c, tma_op *op, const uint64_t *record)
{
    const uint64_t bytes = record[LS_BULK_WORD_BYTES], outside = record[LS_BULK_WORD_OUTSIDE];
    const uint64_t inside = bytes > outside ? bytes - outside : 0;
    const uint64_t *addresses = ls_cta_bulk_addresses(record, &op->count);
    op->place = record[LS_BULK_WORD_PLACE];
    op->multicast = (ls_record_details(record[0]) & 1) != 0;
    op->bytes = bytes;
    if (op->count == 0 && inside > 0 && op->kind != LS_BULK_SHARED) {
        tma *t = &c->async->tma;
        op->count = 1;
        op->lost = true;
        op->move = LOST_BASE + (((uint64_t)c->id << 24) + t->lost) * 128;
        t->lost += (uint32_t)((inside + 127) / 128);
        c->n.async.tma.lost_addresses++;
    }
    op->width = op->count == 0 ? 0 : (uint32_t)((inside + op->count - 1) / op->count);
    if (inside == 0)
        op->count = 0;
    op->whole = op->count != 0 && !op->lost && are_whole(op, addresses);
    if (op->kind == LS_BULK_SHARED) { /* lines of shared memory: nothing of it is in global memory */
        op->count = (uint32_t)((bytes + CGA_LINE - 1) / CGA_LINE);
        op->width = CGA_LINE;
    }
    count_op(c, op->kind, bytes, outside);
}

static void commit(tma_warp *w)
{
    w->open++;
    w->committed = true;
}

void tma_issue(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, ls_cycle at)
{
    tma *t = &c->async->tma;
    const ls_cta *cta = c->blocks.at[c->front.warps[warp].cta].launch.cta;
    const uint64_t *record = ls_cta_record(cta, dyn);
    if (dyn->mask == 0)
        return;
    if (inst->bulk_op == LS_BULK_COMMIT) {
        commit(&t->warps[warp]);
        return;
    }
    if (record == NULL || ls_record_kind_of(record[0]) != LS_RECORD_BULK || record[LS_BULK_WORD_BYTES] == 0)
        return; /* predicated off */
    uint32_t index = free_op(t);
    tma_op *op = &t->ops[index];
    *op = (tma_op){ .used = true,
                    .kind = inst->bulk_op,
                    .warp = (uint8_t)warp,
                    .group = t->warps[warp].open,
                    .first = (dyn->addr >> 2) + LS_BULK_WORD_ADDRESSES,
                    .move = ls_cta_move(cta, dyn),
                    .issued = at,
                    .ready = at + setup_cycles(c, inst) };
    count_for(c, warp);
    read_record(c, op, record);
    if (is_grouped(op->kind))
        t->warps[warp].pending[op->group % TMA_GROUPS]++;
    t->order[t->tail++ % TMA_OPS] = (uint16_t)index;
    async_hold(c, warp);
    if (++t->used > c->async->spec->tma.queue) { /* the warp waits until there is room for its copy */
        t->held[t->held_tail++ % 64] = (uint8_t)warp;
        c->n.async.tma.held++;
        async_hold(c, warp);
        async_sleep(c, warp, false);
    }
    async_look(c, op->ready);
}

/* -------------------------------------------------------------------------------------------------- groups */

static bool groups_open(const tma_warp *w)
{
    for (uint8_t g = (uint8_t)(w->open - (TMA_GROUPS - 1)); g != w->wait; g++)
        if (w->pending[g % TMA_GROUPS] != 0)
            return true;
    return false;
}

bool tma_wait_groups(core *c, uint32_t warp, const ls_inst *inst)
{
    tma_warp *w = &c->async->tma.warps[warp];
    if (!w->committed)
        return false;
    uint8_t kept = inst->imm < 0 || inst->imm >= (int64_t)TMA_GROUPS ? TMA_GROUPS - 1 : (uint8_t)inst->imm;
    w->wait = (uint8_t)(w->open - kept);
    if (groups_open(w)) {
        w->waits = true;
        async_hold(c, warp);
        async_sleep(c, warp, false);
    }
    return true;
}

/* A store of the group has come as far as waits want it. */
static void leave_group(core *c, const tma_op *op, ls_cycle now)
{
    tma_warp *w = &c->async->tma.warps[op->warp];
    w->pending[op->group % TMA_GROUPS]--;
    if (w->waits && !groups_open(w)) {
        w->waits = false;
        async_later(c, now + 1, ASYNC_WAKE, op->warp, 0);
    }
}

/* -------------------------------------------------------------------------------------------------- the end */

/* Bytes on the mbarrier. All at once: a phase ends with the last of them in any case. */
static void deliver(core *c, const tma_op *op, ls_cycle now)
{
    uint32_t slot = c->front.warps[op->warp].cta;
    const ls_cta *cta = c->blocks.at[slot].launch.cta;
    uint32_t own = cta->in_cluster ? cta->cluster_rank : 0, address = (uint32_t)op->place & MBARRIER_OFFSET;
    uint32_t blocks = op->multicast     ? (uint32_t)(op->place >> 32) & 0xffff
                      : cta->in_cluster ? 1u << ((uint32_t)op->place >> 24 & 15)
                                        : 1u;
    c->n.async.tma.multicasts += op->multicast;
    for (; blocks != 0; blocks &= blocks - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(blocks);
        c->n.async.tma.delivered_bytes += op->bytes;
        if (rank == own)
            mbarrier_apply(c, slot, address, LS_MBARRIER_COMPLETE, op->bytes, now);
        else
            async_remote(c, slot, rank, address, LS_MBARRIER_COMPLETE, op->bytes, op->bytes, now);
    }
}

static void end_op(core *c, uint32_t index, ls_cycle now)
{
    tma *t = &c->async->tma;
    tma_op *op = &t->ops[index];
    op->used = false;
    count_for(c, op->warp);
    ls_histogram_add_fine(&c->n.async.tma.latency, now - op->issued);
    if (--t->used >= c->async->spec->tma.queue && t->held_head != t->held_tail)
        async_later(c, now + 1, ASYNC_WAKE, t->held[t->held_head++ % 64], 0);
    async_release(c, op->warp);
}

void tma_filled(core *c, uint32_t index, ls_cycle now)
{
    const tma_op *op = &c->async->tma.ops[index];
    count_for(c, op->warp);
    if (op->kind == LS_BULK_LOAD)
        deliver(c, op, now);
    else if (is_grouped(op->kind) && c->async->spec->tma.group_wait == TMA_WAIT_COMPLETE)
        leave_group(c, op, now);
    end_op(c, index, now);
}

/* All requests are made and answered: the copy ends when its last sector has passed the port. */
static void finish(core *c, uint32_t index, ls_cycle at)
{
    async_later(c, at, ASYNC_FILLED, c->async->tma.ops[index].warp, index);
}

/* No request more, unless there are answers. */
static inline bool is_full(const core *c)
{
    const tma *t = &c->async->tma;
    return t->sectors > t->most;
}

/* Sectors are in the core, or written, in cycle `at`. */
static inline void take_answer(tma *t, tma_op *op, uint32_t sectors, ls_cycle at)
{
    t->sectors -= sectors;
    op->out -= sectors;
    if (LS_LIKELY(op->kind == LS_BULK_LOAD))
        move_sectors(t, at, sectors);
}

/* After an answer that came, or whose sectors were written, in cycle `at`: it may be the last one of a copy. full: before it no
 * request could be made. */
static void answered(core *c, uint32_t index, bool full, ls_cycle at, ls_cycle now)
{
    const tma *t = &c->async->tma;
    const tma_op *op = &t->ops[index];
    if (op->out == 0 && op->made) {
        if (op->kind == LS_BULK_LOAD) /* the port took its sectors just now */
            at = (t->port_free + (UINT64_C(1) << TMA_ONE_SHIFT) - 1) >> TMA_ONE_SHIFT;
        finish(c, index, later(at, now + 1));
    }
    if (full && t->head != t->tail) /* requests have waited */
        async_look(c, now + 1);
}

void tma_reply(core *c, uint32_t index)
{
    tma *t = &c->async->tma;
    const bool full = is_full(c);
    take_answer(t, &t->ops[index], 1, c->now);
    answered(c, index, full, c->now, c->now);
}

/* Apart, so that the common way saves no registers for it. */
static __attribute__((noinline)) void answered_line(core *c, uint32_t index, bool full, ls_cycle now)
{
    answered(c, index, full, (c->async->tma.in_free - 1) >> TMA_ONE_SHIFT, now);
}

/* The last sector arrives now, and its buffer entry is free at once. Earlier ones were on their way into the core before, unless
 * the port was busy: with other bulk copies, or with answers to loads, which go first. */
void tma_line_reply(core *c, const ls_sector_message *message, ls_cycle now)
{
    tma *t = &c->async->tma;
    const uint32_t sectors = ls_sector_bits(message->sectors), index = message->token & TMA_TOKEN_OP;
    tma_op *op = &t->ops[index];
    const uint64_t loads = (uint64_t)ring_count(&c->ldst.reply_ring) * t->in_cost;
    t->in_free = later(t->in_free + (uint64_t)sectors * t->in_cost, ((now + 1) << TMA_ONE_SHIFT) + loads);
    c->n.replies += sectors;
    const bool full = is_full(c);
    take_answer(t, op, sectors, (t->in_free - 1) >> TMA_ONE_SHIFT);
    if (full || op->out == 0)
        answered_line(c, index, full, now);
}

/* ------------------------------------------------------------------------------------------------ requests */

static void all_made(core *c, uint32_t index, ls_cycle now)
{
    tma *t = &c->async->tma;
    tma_op *op = &t->ops[index];
    t->head++;
    op->made = true;
    if (is_grouped(op->kind) && c->async->spec->tma.group_wait == TMA_WAIT_READ)
        leave_group(c, op, now);
    if (op->out == 0) /* all bytes are outside of the tensor */
        finish(c, index, now + 1);
}

/* A line of a copy to another block of the cluster, which completes it on its mbarrier. False: there is no room. */
static __attribute__((noinline)) bool send_line(core *c, tma_op *op, ls_cycle now)
{
    tma *t = &c->async->tma;
    if (!cga_can_send(c, 1))
        return false;
    uint64_t left = op->bytes - (uint64_t)op->index * CGA_LINE;
    const cga_message message = { .kind = CGA_DATA,
                                  .bytes = (uint16_t)(left < CGA_LINE ? left : CGA_LINE),
                                  .address = (uint32_t)op->place & MBARRIER_OFFSET };
    uint32_t slot = c->front.warps[op->warp].cta;
    cga_send(c, slot, cga_rank_of(c, slot, (uint32_t)op->place), &message, now);
    (void)ldst_port_take(c, now, 1);
    op->index++;
    t->rate_free = later(t->rate_free, now << TMA_ONE_SHIFT) + t->sector_cost * (CGA_LINE / SECTOR_BYTES);
    return true;
}

/* As many requests of a copy as are made at once. */
static inline void send_requests(core *c, tma_op *op, uint32_t index, ls_cycle now)
{
    tma *t = &c->async->tma;
    count_for(c, op->warp);
    const uint32_t count = tma_send_requests(c, op, index);
    if (is_grouped(op->kind)) /* it reads them from shared memory */
        move_sectors(t, now, count);
    c->n.async.tma.sectors += count;
    t->sectors += count;
    op->out += count;
    t->rate_free = later(t->rate_free, now << TMA_ONE_SHIFT) + (uint64_t)t->sector_cost * count;
}

/* The head of the order waits for its set-up, its rate or the core's queue. */
static inline ls_cycle next_cycle(const core *c, const tma_op *op, ls_cycle now)
{
    const tma *t = &c->async->tma;
    if (is_full(c) || c->ldst.network_waiting)
        return LS_CYCLE_MAX; /* tma_reply() and the network's event look again */
    return later(later(op->ready, t->rate_free >> TMA_ONE_SHIFT), now + 1);
}

ls_cycle tma_cycle(core *c, ls_cycle now)
{
    tma *t = &c->async->tma;
    while (t->head != t->tail) {
        const uint32_t index = t->order[t->head % TMA_OPS];
        tma_op *op = &t->ops[index];
        if (op->ready > now)
            return next_cycle(c, op, now);
        while (op->index != op->count) {
            if (t->rate_free >= (now + 1) << TMA_ONE_SHIFT || is_full(c) || !tma_has_room(c))
                return next_cycle(c, op, now);
            if (op->kind != LS_BULK_SHARED)
                send_requests(c, op, index, now);
            else if (!send_line(c, op, now))
                return next_cycle(c, op, now);
        }
        all_made(c, index, now);
    }
    return LS_CYCLE_MAX;
}

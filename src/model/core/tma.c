/* tma.c: see tma.h: the engine of bulk copies: queue, set-up, addresses, requests, answers, groups of stores. May touch
 * its core only. */
#include "model/core/cga.h"

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
}

void tma_use_lines(core *c)
{
    tma *t = &c->async->tma;
    if (c->async->spec->tma.sectors < LINE_SECTORS || c->spec->perfect_memory)
        return;
    t->step = LINE_SECTORS;
    t->burst = TMA_BURST;
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

/* Sectors go through the port; the first cycle after them. */
static inline ls_cycle move_sectors(tma *t, ls_cycle now, uint32_t count)
{
    uint64_t cost = (uint64_t)t->port_cost * count;
    t->port_free = later(now << TMA_ONE_SHIFT, t->port_free) + cost;
    t->port_taken += cost;
    return (t->port_free + (UINT64_C(1) << TMA_ONE_SHIFT) - 1) >> TMA_ONE_SHIFT;
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

/* The transfers of a copy. */
static void read_record(core *c, tma_op *op, const uint64_t *record)
{
    const uint64_t bytes = record[LS_BULK_WORD_BYTES], outside = record[LS_BULK_WORD_OUTSIDE];
    const uint64_t inside = bytes > outside ? bytes - outside : 0;
    (void)ls_cta_bulk_addresses(record, &op->count);
    op->place = record[LS_BULK_WORD_PLACE];
    op->multicast = (ls_record_details(record[0]) & 1) != 0;
    op->bytes = bytes;
    if (op->count == 0 && inside > 0 && op->kind != LS_BULK_SHARED) {
        tma *t = &c->async->tma;
        op->count = 1;
        op->base = LOST_BASE + (((uint64_t)c->id << 24) + t->lost) * 128;
        t->lost += (uint32_t)((inside + 127) / 128);
        c->n.async.tma.lost_addresses++;
    }
    op->width = op->count == 0 ? 0 : (uint32_t)((inside + op->count - 1) / op->count);
    if (inside == 0)
        op->count = 0;
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
    const uint64_t *record = ls_cta_record(c->blocks.at[c->front.warps[warp].cta].launch.cta, dyn);
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
                    .dyn = async_dyn(c, warp, dyn),
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
    return t->sectors + t->step > c->async->spec->tma.sectors;
}

/* Sectors are in the core, or written, in cycle `at`. */
static inline void take_answer(core *c, uint32_t index, uint32_t sectors, ls_cycle at, ls_cycle now)
{
    tma *t = &c->async->tma;
    tma_op *op = &t->ops[index];
    ls_cycle end = op->kind == LS_BULK_LOAD ? move_sectors(t, at, sectors) : at;
    bool was_full = is_full(c);
    t->sectors -= sectors;
    op->out -= sectors;
    if (op->out == 0 && op->made)
        finish(c, index, later(end, now + 1));
    if (was_full && t->head != t->tail)
        async_look(c, now + 1);
}

void tma_reply(core *c, uint32_t index)
{
    take_answer(c, index, 1, c->now, c->now);
}

/* The last sector arrives now, and its buffer entry is free at once. Earlier ones were on their way into the core before, unless the port was busy: with other bulk
 * copies, or with answers to loads, which go first. */
void tma_line_reply(core *c, ls_link *link, const ls_sector_message *message, ls_cycle now)
{
    tma *t = &c->async->tma;
    uint32_t sectors = ls_sector_bits(message->sectors);
    uint64_t loads = (uint64_t)ring_count(&c->ldst.reply_ring) * t->in_cost;
    t->in_free = later(t->in_free + (uint64_t)sectors * t->in_cost, ((now + 1) << TMA_ONE_SHIFT) + loads);
    c->n.replies += sectors;
    if (LS_UNLIKELY(message->number != 0))
        core_tap_step(c, message->number, LS_TAP_END, 0);
    take_answer(c, message->token & TMA_TOKEN_OP, sectors, (t->in_free - 1) >> TMA_ONE_SHIFT, now);
    ls_link_release(link, 1);
}

/* ----------------------------------------------------------------------------------------------- addresses */

/* The addresses of a copy's transfers, and how far its block is from the one whose addresses they are. A copy whose addresses
 * are lost has one transfer. */
typedef struct transfers {
    const uint64_t *at;
    uint64_t move;
} transfers;

static transfers transfers_of(const core *c, const tma_op *op)
{
    if (LS_UNLIKELY(op->base != 0))
        return (transfers){ .at = &op->base };
    const ls_cta *cta = c->blocks.at[c->front.warps[op->warp].cta].launch.cta;
    const ls_dyn *dyn = &cta->dyns[op->dyn];
    return (transfers){ ls_cta_record(cta, dyn) + LS_BULK_WORD_ADDRESSES, ls_cta_move(cta, dyn) };
}

/* The next sector of a copy, with the bytes of all following transfers that lie in it. */
static uint64_t next_sector(const transfers *from_record, tma_op *op, uint32_t *byte_mask)
{
    uint64_t sector = UINT64_MAX;
    *byte_mask = 0;
    while (op->index < op->count) {
        uint64_t address = from_record->at[op->index] + from_record->move + op->offset,
                 at = address & ~(uint64_t)(SECTOR_BYTES - 1);
        if (sector != UINT64_MAX && at != sector)
            break;
        uint32_t from = (uint32_t)(address - at), bytes = SECTOR_BYTES - from;
        bytes = bytes < op->width - op->offset ? bytes : op->width - op->offset;
        *byte_mask |= (uint32_t)(((UINT64_C(1) << bytes) - 1) << from);
        sector = at;
        op->offset += bytes;
        if (op->offset == op->width) {
            op->offset = 0;
            op->index++;
        }
    }
    return sector;
}

/* The next sectors of a copy that lie in one line, a bit each; 0: a write of a part of a sector comes next. */
static inline uint32_t next_line(const transfers *from_record, tma_op *op, uint64_t *line)
{
    const uint32_t count = op->count, width = op->width;
    const uint32_t parts = op->kind == LS_BULK_STORE ? SECTOR_BYTES - 1 : 0;
    uint32_t sectors = 0, index = op->index, offset = op->offset;
    do {
        uint64_t address = from_record->at[index] + from_record->move + offset,
                 at = address & ~(uint64_t)(LS_SECTOR_LINE_BYTES - 1);
        if (sectors != 0 && at != *line)
            break;
        uint32_t from = (uint32_t)(address - at), bytes = LS_SECTOR_LINE_BYTES - from;
        bytes = bytes < width - offset ? bytes : width - offset;
        if (((from | bytes) & parts) != 0)
            break;
        sectors |= (2u << (from + bytes - 1) / SECTOR_BYTES) - (1u << from / SECTOR_BYTES);
        *line = at;
        offset += bytes;
        if (offset == width) {
            offset = 0;
            index++;
        }
    } while (index < count);
    op->index = index;
    op->offset = offset;
    return sectors;
}

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

static bool has_room(const core *c)
{
    return !c->ldst.network_waiting && ring_count(&c->ldst.out_ring) < TMA_AHEAD;
}

/* A line of a copy to another block of the cluster, which completes it on its mbarrier. False: there is no room. */
static bool send_line(core *c, tma_op *op, ls_cycle now)
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

static inline ls_sector_kind kind_of(const tma_op *op)
{
    return op->kind == LS_BULK_STORE    ? LS_SECTOR_WRITE
           : op->kind == LS_BULK_REDUCE ? LS_SECTOR_ATOMIC
                                        : LS_SECTOR_READ;
}

/* Requests of a copy that are made at once. */
typedef struct burst {
    ls_sector_message message; /* all but place and sectors of a request for a line */
    uint32_t sectors;          /* of all requests */
    uint32_t entered;          /* sectors of those that entered their links */
    bool enters;               /* the next one may: it is alone, and nothing else has to do with it */
} burst;

static burst burst_begin(const core *c, uint32_t index, ls_sector_kind kind)
{
    return (burst){ .message = { .byte_mask = kind == LS_SECTOR_READ ? 0 : UINT32_MAX,
                                 .token = (kind == LS_SECTOR_WRITE ? TMA_STORE_TOKEN : TMA_TOKEN) | index,
                                 .core = (uint16_t)c->id,
                                 .kind = (uint8_t)kind,
                                 .global = true },
                    .enters = ring_empty(&c->ldst.out_ring) && !c->ldst.network_waiting &&
                              c->ldst.owners == NULL && c->options.translate == NULL &&
                              !ls_tap_wants(c->tap, LS_TAP_REQUEST) };
}

static void burst_end(core *c, uint32_t index, const burst *b, ls_cycle now)
{
    tma *t = &c->async->tma;
    const uint32_t count = b->sectors;
    if (b->message.kind != LS_SECTOR_READ)
        (void)move_sectors(t, now, count);
    c->n.requests_sent += b->entered;
    c->n.async.tma.sectors += count;
    t->sectors += count;
    t->ops[index].out += count;
    t->rate_free = later(t->rate_free, now << TMA_ONE_SHIFT) + (uint64_t)t->sector_cost * count;
}

/* False if there is no room. */
static inline bool enter_link(core *c, burst *b, uint64_t address, uint32_t sectors, uint32_t count)
{
    const ls_sector_place place = mem_map_place_again(&c->ldst.map, address);
    const uint32_t channel = ldst_near_channel(c, place.channel);
    ls_sector_message *slot = ls_link_send(c->ldst.to_memory[channel], 1);
    if (LS_UNLIKELY(slot == NULL))
        return false;
    *slot = b->message;
    slot->address = address;
    slot->local = place.local;
    slot->slice = LS_SECTOR_SLICE(place.slice);
    slot->sectors = (uint16_t)(sectors & 0xfu);
    if (channel != place.channel)
        slot->away = true;
    b->entered += count;
    return true;
}

/* The next request of a copy; lines: it may be for several sectors. Those that do not enter their links at once wait for the
 * core's cycle. */
static inline void send_request(core *c, burst *b, tma_op *op, const transfers *from_record, bool lines)
{
    uint64_t address = 0;
    uint32_t sectors = lines ? next_line(from_record, op, &address) : 0, count = 1, mask = b->message.byte_mask;
    if (LS_LIKELY(sectors != 0)) {
        count = ls_sector_bits(sectors);
    } else {
        address = next_sector(from_record, op, &mask);
        mask &= b->message.byte_mask;
    }
    b->sectors += count;
    if (LS_LIKELY(b->enters && sectors != 0) && enter_link(c, b, address, sectors, count))
        return;
    b->enters = false;
    ldst_bulk_request(c, address, sectors, mask, b->message.token, (ls_sector_kind)b->message.kind);
}

/* As many requests of a copy as are made at once. */
static void send_requests(core *c, uint32_t index, ls_cycle now)
{
    const tma *t = &c->async->tma;
    tma_op *op = &c->async->tma.ops[index];
    const transfers from_record = transfers_of(c, op);
    const ls_sector_kind kind = kind_of(op);
    const bool lines = t->step > 1 && kind != LS_SECTOR_ATOMIC;
    const uint64_t most = c->async->spec->tma.sectors - t->sectors - t->step; /* requests end at more */
    burst b = burst_begin(c, index, kind);
    count_for(c, op->warp);
    for (uint32_t left = t->burst;
         left > 0 && op->index < op->count && b.sectors <= most && (b.enters || has_room(c)); left--)
        send_request(c, &b, op, &from_record, lines);
    burst_end(c, index, &b, now);
}

void tma_cycle(core *c, ls_cycle now)
{
    tma *t = &c->async->tma;
    while (t->head != t->tail) {
        uint32_t index = t->order[t->head % TMA_OPS];
        tma_op *op = &t->ops[index];
        if (op->ready > now)
            return;
        if (op->count == 0) {
            all_made(c, index, now);
            continue;
        }
        if (t->rate_free >= (now + 1) << TMA_ONE_SHIFT || is_full(c) || !has_room(c))
            return;
        if (op->kind == LS_BULK_SHARED) {
            if (!send_line(c, op, now))
                return;
            if (op->index == op->count)
                all_made(c, index, now);
            continue;
        }
        send_requests(c, index, now);
        if (op->index == op->count)
            all_made(c, index, now);
    }
}

ls_cycle tma_next(const core *c, ls_cycle now)
{
    const tma *t = &c->async->tma;
    if (t->head == t->tail || is_full(c) || c->ldst.network_waiting)
        return LS_CYCLE_MAX; /* tma_reply() and the network's event look again */
    ls_cycle ready = t->ops[t->order[t->head % TMA_OPS]].ready, rate = t->rate_free >> TMA_ONE_SHIFT;
    return later(later(ready, rate), now + 1);
}

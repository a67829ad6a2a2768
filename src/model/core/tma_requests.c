/* tma_requests.c: the addresses of bulk copies and their requests to L2. May touch its core only. */
#include "engine/link_fast.h"
#include "model/core/tma_requests.h"

#define LINE_SECTORS (LS_SECTOR_LINE_BYTES / SECTOR_BYTES)

/* ----------------------------------------------------------------------------------------------- addresses */

/* The addresses of a copy's transfers, and how far its block is from the one whose addresses they are. */
typedef struct transfers {
    const uint64_t *at;
    uint64_t move;
} transfers;

static transfers transfers_of(const core *c, const tma_op *op)
{
    static const uint64_t lost = 0;
    const ls_cta *cta = c->blocks.at[c->front.warps[op->warp].cta].launch.cta;
    return (transfers){ op->lost ? &lost : cta->addrs + op->first, op->move };
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

/* Requests for sectors that lie in one line each. */
typedef struct line_requests {
    struct {
        uint64_t line;
        uint32_t sectors; /* a bit each */
    } at[TMA_BURST];
    uint32_t count;
    uint32_t sectors; /* of all */
} line_requests;

/* Up to `burst` requests, none of which begins when there are more than `most` sectors. */
typedef struct request_limit {
    uint32_t burst, most;
} request_limit;

static inline bool is_last(const line_requests *r, const request_limit *limit)
{
    return r->count == limit->burst || r->sectors > limit->most;
}

static inline void add_request(line_requests *r, uint64_t line, uint32_t sectors, uint32_t count)
{
    r->at[r->count].line = line;
    r->at[r->count++].sectors = sectors;
    r->sectors += count;
}

/* Whether the sectors belong to the last request: they lie in the same line. */
static bool joins_last(line_requests *r, uint64_t line, uint32_t sectors)
{
    if (r->count == 0 || r->at[r->count - 1].line != line)
        return false;
    uint32_t *last = &r->at[r->count - 1].sectors;
    r->sectors += ls_sector_bits(*last | sectors) - ls_sector_bits(*last);
    *last |= sectors;
    return true;
}

/* The next requests of a copy, up to the next write of a part of a sector. */
static void next_lines(const transfers *from_record, tma_op *op, const request_limit *limit,
                       line_requests *out)
{
    const uint32_t parts = op->kind == LS_BULK_STORE ? SECTOR_BYTES - 1 : 0;
    while (op->index < op->count) {
        uint64_t address = from_record->at[op->index] + from_record->move + op->offset;
        uint32_t from = (uint32_t)address % LS_SECTOR_LINE_BYTES, bytes = LS_SECTOR_LINE_BYTES - from;
        bytes = bytes < op->width - op->offset ? bytes : op->width - op->offset;
        if (((from | bytes) & parts) != 0)
            return;
        uint32_t end = (from + bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
        uint32_t sectors = (1u << end) - (1u << from / SECTOR_BYTES);
        if (!joins_last(out, address - from, sectors)) {
            if (is_last(out, limit))
                return;
            add_request(out, address - from, sectors, ls_sector_bits(sectors));
        }
        op->offset += bytes;
        if (op->offset == op->width) {
            op->offset = 0;
            op->index++;
        }
    }
}

/* ------------------------------------------------------------------------------------------------ requests */

static inline ls_sector_kind kind_of(const tma_op *op)
{
    return op->kind == LS_BULK_STORE    ? LS_SECTOR_WRITE
           : op->kind == LS_BULK_REDUCE ? LS_SECTOR_ATOMIC
                                        : LS_SECTOR_READ;
}

/* A request of a copy for a line: all but the place and the sectors. */
static inline ls_sector_message message_of(const core *c, uint32_t index, ls_sector_kind kind)
{
    return (ls_sector_message){ .byte_mask = kind == LS_SECTOR_READ ? 0 : UINT32_MAX,
                                .token = (kind == LS_SECTOR_WRITE ? TMA_STORE_TOKEN : TMA_TOKEN) | index,
                                .core = (uint16_t)c->id,
                                .kind = (uint8_t)kind,
                                .global = true };
}

/* Requests enter their links without a look at the core if they are alone and nothing else has to do with them. */
static inline bool may_enter(const core *c)
{
    return ring_empty(&c->ldst.out_ring) && !c->ldst.network_waiting && c->ldst.owners == NULL &&
           c->options.translate == NULL && !ls_tap_wants(c->tap, LS_TAP_REQUEST);
}

/* False if there is no room. */
static inline bool enter_link(core *c, const ls_sector_message *message, const ls_sector_place *home,
                              uint64_t line, uint32_t sectors)
{
    const tma *t = &c->async->tma;
    const bool away = home->channel - t->near_first >= t->near_count;
    ls_sector_message *slot = link_send_fast(c->ldst.to_memory[home->channel + (away ? t->far_shift : 0)], 1);
    if (LS_UNLIKELY(slot == NULL))
        return false;
    *slot = *message;
    slot->address = line;
    slot->local = home->local;
    slot->slice = LS_SECTOR_SLICE(home->slice);
    slot->sectors = (uint16_t)(sectors & 0xfu);
    if (away)
        slot->away = true;
    return true;
}

static void queue_line(core *c, const ls_sector_message *message, uint64_t line, uint32_t sectors)
{
    ldst_bulk_request(c, line, sectors, message->byte_mask, message->token, (ls_sector_kind)message->kind);
}

/* ------------------------------------------------------------------------------ copies of lines that are all whole */

/* Enters requests for all sectors of so many lines; returns how many had room. */
static inline uint32_t enter_full_lines(core *c, const ls_sector_message *message, const uint64_t *at,
                                        uint64_t move, uint32_t count)
{
    mem_map *map = &c->ldst.map;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t line = at[i] + move;
        const ls_sector_place home = mem_map_place_spread(map, line);
        if (!enter_link(c, message, &home, line, (1u << LINE_SECTORS) - 1))
            return i;
    }
    return count;
}

/* The same for transfers of these sectors, any map, and into the core's queue from the first line that has no room. */
static __attribute__((noinline)) uint32_t enter_or_queue(core *c, const ls_sector_message *message,
                                                         const uint64_t *at, uint64_t move, uint32_t count,
                                                         uint32_t shape)
{
    uint32_t entered = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t from = (at[i] + move) % LS_SECTOR_LINE_BYTES, line = at[i] + move - from;
        const uint32_t sectors = shape << from / SECTOR_BYTES;
        const ls_sector_place home = mem_map_place_again(&c->ldst.map, line);
        if (entered == i && enter_link(c, message, &home, line, sectors))
            entered++;
        else
            queue_line(c, message, line, sectors);
    }
    return entered;
}

/* A burst of requests of a copy whose transfers are whole (tma_op.whole). If a link has no room, the rest waits for the
 * core's cycle: the queue has room for a burst. Returns the sectors. */
static inline uint32_t enter_whole(core *c, tma_op *op, uint32_t index, ls_sector_kind kind)
{
    const tma *t = &c->async->tma;
    const ls_sector_message message = message_of(c, index, kind);
    const ls_cta *cta = c->blocks.at[c->front.warps[op->warp].cta].launch.cta;
    const uint64_t *at = cta->addrs + op->first + op->index;
    const uint32_t each = op->width / SECTOR_BYTES, most = t->most - t->sectors;
    uint32_t count = op->count - op->index, entered = 0;
    count = count < t->burst ? count : t->burst;
    if (LS_UNLIKELY(most < TMA_BURST * LINE_SECTORS) && most / each + 1 < count)
        count = most / each + 1;
    op->index += count;
    if (LS_LIKELY(each == LINE_SECTORS && c->ldst.map.spreads))
        entered = enter_full_lines(c, &message, at, op->move, count);
    if (LS_UNLIKELY(entered != count))
        entered += enter_or_queue(c, &message, at + entered, op->move, count - entered, (1u << each) - 1);
    c->n.requests_sent += (uint64_t)entered * each;
    return count * each;
}

/* ------------------------------------------------------------------------------------------------- other copies */

/* Requests of a copy that are made at once. */
typedef struct burst {
    ls_sector_message message;
    request_limit limit; /* of those that are still to be made */
    uint32_t sectors;    /* of those that were made */
} burst;

/* Up to the next write of a part of a sector, into their links. */
static void enter_lines(core *c, burst *b, tma_op *op, const transfers *from_record)
{
    line_requests requests = { .count = 0 };
    next_lines(from_record, op, &b->limit, &requests);
    bool enters = true;
    for (uint32_t i = 0; i < requests.count; i++) {
        const uint64_t line = requests.at[i].line;
        const ls_sector_place home = mem_map_place_again(&c->ldst.map, line);
        enters = enters && enter_link(c, &b->message, &home, line, requests.at[i].sectors);
        if (enters)
            c->n.requests_sent += ls_sector_bits(requests.at[i].sectors);
        else
            queue_line(c, &b->message, line, requests.at[i].sectors);
    }
    b->sectors = requests.sectors;
    b->limit.burst -= requests.count;
}

/* The next request of a copy, into the core's queue; lines: it may be for several sectors. */
static void queue_request(core *c, burst *b, tma_op *op, const transfers *from_record, bool lines)
{
    const request_limit one = { .burst = 1 };
    line_requests request = { .count = 0 };
    if (lines)
        next_lines(from_record, op, &one, &request);
    b->sectors += request.sectors;
    if (request.count != 0) {
        queue_line(c, &b->message, request.at[0].line, request.at[0].sectors);
        return;
    }
    uint32_t mask;
    uint64_t sector = next_sector(from_record, op, &mask);
    ldst_bulk_request(c, sector, 0, mask & b->message.byte_mask, b->message.token,
                      (ls_sector_kind)b->message.kind);
    b->sectors++;
}

/* Apart, so that the common way saves no registers for it. */
static __attribute__((noinline)) uint32_t send_any(core *c, tma_op *op, uint32_t index, ls_sector_kind kind)
{
    const tma *t = &c->async->tma;
    const transfers from_record = transfers_of(c, op);
    const bool lines = t->step > 1 && kind != LS_SECTOR_ATOMIC;
    burst b = { .message = message_of(c, index, kind), .limit = { t->burst, t->most - t->sectors } };
    if (lines && may_enter(c))
        enter_lines(c, &b, op, &from_record);
    for (; b.limit.burst > 0 && op->index < op->count && b.sectors <= b.limit.most && tma_has_room(c);
         b.limit.burst--)
        queue_request(c, &b, op, &from_record, lines);
    return b.sectors;
}

uint32_t tma_send_requests(core *c, tma_op *op, uint32_t index)
{
    const tma *t = &c->async->tma;
    const ls_sector_kind kind = kind_of(op);
    if (LS_LIKELY(op->whole && kind != LS_SECTOR_ATOMIC && t->step > 1 && may_enter(c)))
        return enter_whole(c, op, index, kind);
    return send_any(c, op, index, kind);
}

/* encode.c: thread blocks into the streams of a packed block. Each kind of number goes into a stream of its own,
 * as the difference to what the decoder can predict, so that the streams of regular programs are short cycles of
 * the same bytes. Touches memory only. */
#include "workload/pack/block.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------- growing */

static bool reserve(ls_pack_bytes *b, size_t more)
{
    if (b->capacity - b->count >= more)
        return true;
    size_t capacity = b->capacity * 2 > b->count + more ? b->capacity * 2 : b->count + more;
    uint8_t *at = realloc(b->at, capacity);
    if (!at)
        return false;
    b->at = at;
    b->capacity = capacity;
    return true;
}

static bool put_byte(ls_pack_bytes *b, uint8_t value)
{
    if (!reserve(b, 1))
        return false;
    b->at[b->count++] = value;
    return true;
}

static bool put_varint(ls_pack_bytes *b, uint64_t value)
{
    if (!reserve(b, LS_VARINT_BYTES))
        return false;
    b->count = (size_t)(ls_put_varint(b->at + b->count, value) - b->at);
    return true;
}

static bool put_signed(ls_pack_bytes *b, uint64_t difference)
{
    return put_varint(b, ls_zigzag((int64_t)difference));
}

/* The low `bytes` bytes of each difference between neighbours. */
static bool put_differences(ls_pack_bytes *b, const uint64_t *words, uint32_t count, unsigned bytes)
{
    if (!reserve(b, (size_t)count * bytes))
        return false;
    for (uint32_t i = 1; i < count; i++) {
        uint64_t difference = words[i] - words[i - 1];
        for (unsigned k = 0; k < bytes; k++)
            b->at[b->count++] = (uint8_t)(difference >> 8 * k);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------ addresses */

/* The first address of an access against the prediction; sets LS_PACK_OP_BASE in *op if it was wrong. The rule
 * is that of the decoder: base() in decode.c. */
static bool put_base(ls_pack_encoder *e, ls_pack_memory *m, uint64_t address, uint8_t *op)
{
    bool seen = m->warp_serial >= e->first_warp_serial, in_warp = m->warp_serial == e->warp_serial;
    uint64_t predicted = !seen ? e->last_base : in_warp ? m->last + m->step : m->first + m->first_step;
    if (!seen)
        m->step = m->first_step = m->stride = 0;
    else if (in_warp)
        m->step = address - m->last;
    else
        m->first_step = address - m->first;
    if (!in_warp)
        m->first = address;
    m->last = e->last_base = address;
    m->warp_serial = e->warp_serial;
    if (address == predicted)
        return true;
    *op |= LS_PACK_OP_BASE;
    return put_signed(&e->streams[LS_PACK_BASES], address - predicted);
}

static bool same_differences(const uint64_t *a, const uint64_t *b, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (a[i] - a[0] != b[i] - b[0])
            return false;
    return true;
}

static bool put_list(ls_pack_encoder *e, ls_pack_memory *m, const ls_cta *cta, const ls_dyn *dyn, uint8_t *op)
{
    static const struct {
        uint64_t half; /* differences in [-half, half) fit */
        unsigned bytes;
    } widths[] = { { UINT64_C(1) << 7, 1 }, { UINT64_C(1) << 15, 2 }, { UINT64_C(1) << 31, 4 }, { 0, 8 } };
    uint32_t at = dyn->addr >> 2, count = (uint32_t)__builtin_popcount(dyn->mask);
    const uint64_t *words = cta->addrs + at;
    if (count == 0) {
        *op |= 1 << LS_PACK_OP_DIFFS_SHIFT;
        return true;
    }
    if (!put_base(e, m, words[0], op))
        return false;
    bool known = m->list_serial == e->cta_serial && m->list_count == count;
    bool same = known && same_differences(words, cta->addrs + m->list_at, count);
    m->list_serial = e->cta_serial;
    m->list_count = count;
    m->list_at = at;
    if (same)
        return true;
    unsigned w = 0;
    for (uint32_t i = 1; i < count; i++)
        while (widths[w].half && words[i] - words[i - 1] + widths[w].half >= 2 * widths[w].half)
            w++;
    *op |= (uint8_t)((w + 1) << LS_PACK_OP_DIFFS_SHIFT);
    return put_differences(&e->streams[LS_PACK_DIFFS_1 + w], words, count, widths[w].bytes);
}

static bool put_addresses(ls_pack_encoder *e, const ls_cta *cta, const ls_dyn *dyn)
{
    ls_pack_memory *m = &e->memory[dyn->inst];
    uint8_t op = (uint8_t)(dyn->addr & 3);
    if (dyn->addr == LS_ADDR_NONE)
        op = LS_PACK_OP_NONE;
    else if (op == LS_ADDR_STRIDE) {
        const uint64_t *words = cta->addrs + (dyn->addr >> 2);
        if (words[0] == 0 && words[1] == 0)
            op = LS_PACK_OP_NULL;
        else {
            if (!put_base(e, m, words[0], &op))
                return false;
            if (words[1] != m->stride) {
                op |= LS_PACK_OP_STRIDE;
                m->stride = words[1];
                if (!put_signed(&e->streams[LS_PACK_STRIDES], words[1]))
                    return false;
            }
        }
    } else if (!put_list(e, m, cta, dyn, &op))
        return false;
    return put_byte(&e->streams[LS_PACK_OPS], op);
}

/* ------------------------------------------------------------------------------------------------ the path */

/* Makes `mask` the most recent one and says where it was. */
static bool put_mask(ls_pack_encoder *e, uint32_t mask)
{
    uint8_t code = 0;
    while (code < LS_PACK_RECENT_MASKS && e->recent[code] != mask)
        code++;
    uint8_t last = code < LS_PACK_RECENT_MASKS ? code : LS_PACK_RECENT_MASKS - 1;
    for (uint8_t i = last; i > 0; i--)
        e->recent[i] = e->recent[i - 1];
    e->recent[0] = mask;
    if (code == LS_PACK_RECENT_MASKS) {
        ls_pack_bytes *b = &e->streams[LS_PACK_NEW_MASKS];
        if (!reserve(b, 4))
            return false;
        ls_put_u32(b->at + b->count, mask);
        b->count += 4;
    }
    return put_byte(&e->streams[LS_PACK_MASKS], code);
}

static bool put_warp(ls_pack_encoder *e, const ls_cta *cta, const ls_warp_stream *warp)
{
    const ls_dyn *dyn = cta->dyns + warp->first, *end = dyn + warp->count;
    uint32_t expected = 0;
    while (dyn < end) {
        uint32_t start = dyn->inst, mask = dyn->mask, length = 0;
        do {
            if (e->has_addresses[dyn->inst] && !put_addresses(e, cta, dyn))
                return false;
            dyn++;
            length++;
        } while (dyn < end && length < LS_PACK_RUN_LIMIT && dyn->inst == start + length && dyn->mask == mask);
        bool change = mask != e->recent[0];
        uint64_t jump = ls_zigzag((int64_t)start - (int64_t)expected);
        if (!put_varint(&e->streams[LS_PACK_PATH], jump << 1 | change) ||
            !put_varint(&e->streams[LS_PACK_PATH], length - 1) || (change && !put_mask(e, mask)))
            return false;
        expected = start + length;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------- thread block */

/* Whether the thread block can be said at all: what a source gives must fit together. */
static bool consistent(const ls_pack_encoder *e, const ls_cta *cta)
{
    if (cta->warp_count > LS_PACK_WARP_LIMIT)
        return false;
    for (uint32_t w = 0; w < cta->warp_count; w++)
        if ((uint64_t)cta->warps[w].first + cta->warps[w].count > cta->dyn_count)
            return false;
    for (uint64_t i = 0; i < cta->dyn_count; i++) {
        const ls_dyn *dyn = &cta->dyns[i];
        if (dyn->inst >= e->inst_count)
            return false;
        if (dyn->addr == LS_ADDR_NONE)
            continue;
        uint64_t words = (dyn->addr & 3) == LS_ADDR_STRIDE ? 2 : (uint64_t)__builtin_popcount(dyn->mask);
        if (!e->has_addresses[dyn->inst] || (dyn->addr & 3) == 3 || (dyn->addr >> 2) + words > cta->addr_count)
            return false;
    }
    return true;
}

static bool put_shape(ls_pack_encoder *e, const ls_cta *cta)
{
    ls_pack_bytes *b = &e->streams[LS_PACK_SHAPE];
    uint64_t words = 0;
    for (uint32_t w = 0; w < cta->warp_count; w++)
        for (uint32_t i = 0; i < cta->warps[w].count; i++) {
            const ls_dyn *dyn = &cta->dyns[cta->warps[w].first + i];
            if (dyn->addr != LS_ADDR_NONE)
                words += (dyn->addr & 3) == LS_ADDR_STRIDE ? 2 : (uint64_t)__builtin_popcount(dyn->mask);
        }
    uint64_t rows = e->grid[0] ? cta->index / e->grid[0] : 0;
    bool in_order = e->grid[0] && e->grid[1] && cta->id[0] == cta->index % e->grid[0] &&
                    cta->id[1] == rows % e->grid[1] && cta->id[2] == rows / e->grid[1];
    bool done = put_varint(b, !in_order);
    for (int i = 0; i < 3 && !in_order; i++)
        done = done && put_varint(b, cta->id[i]);
    done = done && put_varint(b, cta->warp_count) && put_varint(b, words);
    for (uint32_t w = 0; w < cta->warp_count; w++)
        done = done && put_varint(b, cta->warps[w].count);
    return done;
}

ls_status ls_pack_encode(ls_pack_encoder *e, const ls_cta *cta, ls_error *err)
{
    if (!consistent(e, cta))
        return ls_fail(err, LS_ERR_INTERNAL, "thread block %llu does not fit its kernel's instructions",
                       (unsigned long long)cta->index);
    e->cta_serial++;
    bool done = put_shape(e, cta);
    for (uint32_t w = 0; w < cta->warp_count && done; w++) {
        e->warp_serial++;
        done = put_warp(e, cta, &cta->warps[w]);
    }
    if (!done)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    e->cta_count++;
    e->dyn_count += cta->dyn_count;
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- the rest */

static void begin_block(ls_pack_encoder *e)
{
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++)
        e->streams[i].count = 0;
    memset(e->recent, 0, sizeof e->recent);
    e->recent[0] = UINT32_MAX;
    e->first_warp_serial = e->warp_serial + 1;
    e->cta_serial++;
    e->last_base = e->cta_count = e->dyn_count = 0;
}

void ls_pack_encoder_kernel(ls_pack_encoder *e, const uint32_t grid[3])
{
    memcpy(e->grid, grid, sizeof e->grid);
    e->inst_count = 0;
    begin_block(e);
}

bool ls_pack_encoder_inst(ls_pack_encoder *e, bool has_addresses)
{
    if (e->inst_count == e->inst_capacity) {
        size_t capacity = e->inst_capacity ? e->inst_capacity * 2 : 256;
        ls_pack_memory *memory = realloc(e->memory, capacity * sizeof *memory);
        e->memory = memory ? memory : e->memory;
        uint8_t *has = realloc(e->has_addresses, capacity);
        e->has_addresses = has ? has : e->has_addresses;
        if (!memory || !has)
            return false;
        e->inst_capacity = capacity;
    }
    e->memory[e->inst_count] = (ls_pack_memory){ 0 };
    e->has_addresses[e->inst_count++] = has_addresses;
    return true;
}

size_t ls_pack_encoder_bytes(const ls_pack_encoder *e)
{
    size_t bytes = 4 * LS_PACK_STREAM_COUNT;
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++)
        bytes += e->streams[i].count;
    return bytes;
}

void ls_pack_encoder_take(ls_pack_encoder *e, uint8_t *payload)
{
    uint8_t *at = payload + 4 * LS_PACK_STREAM_COUNT;
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++) {
        ls_put_u32(payload + 4 * i, (uint32_t)e->streams[i].count);
        if (e->streams[i].count > 0)
            memcpy(at, e->streams[i].at, e->streams[i].count);
        at += e->streams[i].count;
    }
    begin_block(e);
}

void ls_pack_encoder_fini(ls_pack_encoder *e)
{
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++)
        free(e->streams[i].at);
    free(e->memory);
    free(e->has_addresses);
    *e = (ls_pack_encoder){ 0 };
}

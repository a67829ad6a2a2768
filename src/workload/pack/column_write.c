/* column_write.c: divergent warps into columns (column.h): segments by number, masks by number, and the
 * addresses of each access as differences from an anchor. Touches memory only. */
#include "workload/pack/column.h"

#include <stdlib.h>

/* A stride is two numbers of four bytes and takes long to expand; addresses one by one are two each. */
#define AFFINE_LANES 16
/* Anchors are multiples of these, so that later accesses find them. */
#define NEAR_ALIGN 0x8000u
#define FAR_ALIGN 0x10000u

static bool put(pack_bytes *b, uint64_t value, unsigned bytes)
{
    if (b->capacity - b->count < bytes) {
        size_t capacity = b->capacity ? b->capacity * 2 : 4096;
        uint8_t *at = realloc(b->at, capacity);
        if (!at)
            return false;
        b->at = at;
        b->capacity = capacity;
    }
    for (unsigned i = 0; i < bytes; i++)
        b->at[b->count++] = (uint8_t)(value >> 8 * i);
    return true;
}

static bool put_varint(pack_bytes *b, uint64_t value)
{
    uint8_t bytes[LS_VARINT_BYTES], *end = write_varint(bytes, value);
    bool done = true;
    for (const uint8_t *p = bytes; p < end; p++)
        done = done && put(b, *p, 1);
    return done;
}

void columns_clear(columns_out *c)
{
    for (int i = 0; i < LS_COLUMN_COUNT; i++)
        c->streams[i].count = 0;
    if (c->segment_count > 0)
        memset(c->slots, 0, sizeof c->slots);
    c->segment_count = c->anchor = 0;
    c->anchors[0] = 0;
    c->anchor_count = 1; /* for accesses that need none */
}

void columns_fini(columns_out *c)
{
    for (int i = 0; i < LS_COLUMN_COUNT; i++)
        free(c->streams[i].at);
    *c = (columns_out){ 0 };
}

/* ----------------------------------------------------------------------------------------------- segments */

/* Executions of the segment that begins at `dyns`. */
static uint32_t segment(const ls_dyn *dyns, uint32_t left)
{
    uint32_t n = 1;
    while (n < left && n < LS_PACK_RUN_LIMIT && dyns[n].inst == dyns[0].inst + n &&
           dyns[n].mask == dyns[0].mask)
        n++;
    return n;
}

uint32_t columns_segments(const ls_dyn *dyns, uint32_t count)
{
    uint32_t segments = 0;
    for (uint32_t i = 0; i < count; i += segment(dyns + i, count - i))
        segments++;
    return segments;
}

/* The number of a segment, which is written if it is new. *fits is false if there are too many. */
static bool find_segment(columns_out *c, uint32_t start, uint32_t length, uint32_t *number, bool *fits)
{
    pack_bytes *table = &c->streams[LS_COLUMN_SEGMENTS];
    const uint32_t slots = LS_COLUMN_SEGMENT_LIMIT * 2;
    uint64_t hash = ((uint64_t)start << 9 | length) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t slot = (uint32_t)(hash >> 40) % slots;
    for (; c->slots[slot] > 0; slot = (slot + 1) % slots) {
        *number = c->slots[slot] - 1u;
        const uint8_t *entry = table->at + 8 * (size_t)*number;
        if (get_u32(entry) == start && get_u32(entry + 4) == length)
            return true;
    }
    *fits = c->segment_count < LS_COLUMN_SEGMENT_LIMIT;
    if (!*fits)
        return true;
    *number = c->segment_count++;
    c->slots[slot] = (uint16_t)c->segment_count;
    return put(table, start | (uint64_t)length << 32, 8);
}

static bool put_path(columns_out *c, const ls_dyn *dyns, uint32_t count, uint64_t *segments, uint32_t *masks,
                     bool *fits)
{
    uint32_t known[LS_COLUMN_MASK_LIMIT], number = 0;
    *masks = 0;
    *segments = 0;
    for (uint32_t i = 0; i < count && *fits; *segments += 1) {
        uint32_t length = segment(dyns + i, count - i), code = 0;
        if (!find_segment(c, dyns[i].inst, length, &number, fits))
            return false;
        while (code < *masks && known[code] != dyns[i].mask)
            code++;
        if (code == *masks && *masks == LS_COLUMN_MASK_LIMIT)
            *fits = false;
        if (!*fits)
            return true;
        if (code == *masks) {
            known[(*masks)++] = dyns[i].mask;
            if (!put(&c->streams[LS_COLUMN_MASKS], dyns[i].mask, 4))
                return false;
        }
        if (!put(&c->streams[LS_COLUMN_TOKENS], number, 2) || !put(&c->streams[LS_COLUMN_CODES], code, 1))
            return false;
        i += length;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------- addresses */

static bool reaches(uint64_t anchor, uint64_t low, uint64_t high, uint64_t span)
{
    return low >= anchor && high - anchor <= span;
}

/* An anchor for addresses from `low` to `high`, none further from it than `span`; LS_COLUMN_ANCHOR_LIMIT if
 * there is no room. */
static uint32_t find_anchor(columns_out *c, uint64_t low, uint64_t high, uint64_t span)
{
    uint32_t i = c->anchor;
    if (i >= c->anchor_count || !reaches(c->anchors[i], low, high, span))
        for (i = 0; i < c->anchor_count && !reaches(c->anchors[i], low, high, span);)
            i++;
    if (i == LS_COLUMN_ANCHOR_LIMIT || high - low > span)
        return LS_COLUMN_ANCHOR_LIMIT;
    if (i == c->anchor_count) {
        uint64_t align = span == UINT16_MAX ? NEAR_ALIGN : FAR_ALIGN, anchor = low - low % align;
        c->anchors[c->anchor_count++] = high - anchor <= span ? anchor : low;
    }
    c->anchor = i;
    return i;
}

static bool fits_i32(uint64_t v)
{
    return v + (UINT64_C(1) << 31) <= UINT32_MAX;
}

static bool is_affine(const uint64_t *words, uint32_t mask, uint64_t *stride)
{
    uint32_t first = (uint32_t)__builtin_ctz(mask), rest = mask & (mask - 1), i = 1;
    int64_t lanes = __builtin_ctz(rest) - (int64_t)first, difference = (int64_t)(words[1] - words[0]);
    *stride = (uint64_t)(difference / lanes);
    if (difference % lanes != 0 || !fits_i32(*stride))
        return false;
    for (; rest; rest &= rest - 1, i++)
        if (words[i] - words[0] != *stride * ((uint32_t)__builtin_ctz(rest) - first))
            return false;
    return true;
}

static bool put_access(columns_out *c, uint32_t mode, uint32_t form, uint32_t anchor)
{
    return put(&c->streams[LS_COLUMN_ACCESSES],
               mode | form << LS_COLUMN_FORM_SHIFT | anchor << LS_COLUMN_ANCHOR_SHIFT, 2);
}

static bool put_each(columns_out *c, const uint64_t *words, uint32_t count, uint64_t origin, int stream,
                     unsigned bytes)
{
    bool done = true;
    for (uint32_t i = 0; i < count && done; i++)
        done = put(&c->streams[stream], words[i] - origin, bytes);
    return done;
}

/* A first address and a stride: in stride mode, or of a list. */
static bool put_stride(columns_out *c, uint32_t mode, uint32_t form, uint64_t base, uint64_t stride)
{
    const uint64_t both[] = { base, stride };
    uint32_t anchor = fits_i32(stride) ? find_anchor(c, base, base, UINT32_MAX) : LS_COLUMN_ANCHOR_LIMIT;
    if (anchor == LS_COLUMN_ANCHOR_LIMIT)
        return put_access(c, mode, LS_COLUMN_AT_WIDE, 0) && put_each(c, both, 2, 0, LS_COLUMN_WIDE, 8);
    return put_access(c, mode, form, anchor) &&
           put(&c->streams[LS_COLUMN_FAR], base - c->anchors[anchor], 4) &&
           put(&c->streams[LS_COLUMN_FAR], stride, 4);
}

static bool put_list(columns_out *c, const ls_dyn *dyn, const uint64_t *words)
{
    uint32_t count = (uint32_t)__builtin_popcount(dyn->mask), mode = dyn->addr & 3, anchor;
    uint64_t low = UINT64_MAX, high = 0, stride;
    if (count == 0)
        return put_access(c, mode, LS_COLUMN_AT_WIDE, 0);
    for (uint32_t i = 0; i < count; i++) {
        low = words[i] < low ? words[i] : low;
        high = words[i] > high ? words[i] : high;
    }
    if (count >= AFFINE_LANES && is_affine(words, dyn->mask, &stride) &&
        find_anchor(c, words[0], words[0], UINT32_MAX) < LS_COLUMN_ANCHOR_LIMIT)
        return put_stride(c, mode, LS_COLUMN_AFFINE, words[0], stride);
    anchor = find_anchor(c, low, high, UINT16_MAX);
    if (anchor < LS_COLUMN_ANCHOR_LIMIT)
        return put_access(c, mode, LS_COLUMN_AT_NEAR, anchor) &&
               put_each(c, words, count, c->anchors[anchor], LS_COLUMN_NEAR, 2);
    anchor = find_anchor(c, low, high, UINT32_MAX);
    if (anchor < LS_COLUMN_ANCHOR_LIMIT)
        return put_access(c, mode, LS_COLUMN_AT_FAR, anchor) &&
               put_each(c, words, count, c->anchors[anchor], LS_COLUMN_FAR, 4);
    return put_access(c, mode, LS_COLUMN_AT_WIDE, 0) && put_each(c, words, count, 0, LS_COLUMN_WIDE, 8);
}

static bool put_addresses(columns_out *c, const ls_cta *cta, const ls_dyn *dyns, uint32_t count,
                          uint64_t *accesses, bool *fits)
{
    uint32_t next = 0; /* after the last access */
    *accesses = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (dyns[i].addr == LS_ADDR_NONE)
            continue;
        const uint64_t *words = cta->addrs + (dyns[i].addr >> 2);
        uint32_t mode = dyns[i].addr & 3;
        *fits = i - next < UINT8_MAX;
        if (!*fits)
            return true;
        bool done = put(&c->streams[LS_COLUMN_GAPS], i - next + 1, 1);
        if (mode != LS_ADDR_STRIDE)
            done = done && put_list(c, &dyns[i], words);
        else if (words[0] == 0 && words[1] == 0)
            done = done && put_access(c, LS_PACK_OP_NONE, 0, 0);
        else
            done = done && put_stride(c, mode, LS_COLUMN_AT_FAR, words[0], words[1]);
        if (!done)
            return false;
        next = i + 1;
        *accesses += 1;
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------- together */

bool columns_put(columns_out *c, const ls_cta *cta, const ls_warp_stream *warp, pack_bytes *shape, bool *fits)
{
    const ls_dyn *dyns = cta->dyns + warp->first;
    size_t before[LS_COLUMN_COUNT];
    uint64_t segments, accesses = 0;
    uint32_t masks;
    for (int i = 0; i < LS_COLUMN_COUNT; i++)
        before[i] = c->streams[i].count;
    *fits = true;
    bool done = put_path(c, dyns, warp->count, &segments, &masks, fits);
    if (done && *fits)
        done = put_addresses(c, cta, dyns, warp->count, &accesses, fits);
    if (!done)
        return false;
    if (!*fits) { /* the segments stay: they have their slots */
        for (int i = LS_COLUMN_SEGMENTS + 1; i < LS_COLUMN_COUNT; i++)
            c->streams[i].count = before[i];
        return true;
    }
    return put_varint(shape, LS_PACK_PATH_COLUMNS) && put_varint(shape, warp->count) &&
           put_varint(shape, segments) && put_varint(shape, masks) && put_varint(shape, accesses);
}

size_t columns_bytes(const columns_out *c)
{
    size_t bytes = 0;
    if (c->streams[LS_COLUMN_TOKENS].count == 0)
        return 0;
    for (int i = 0; i < LS_COLUMN_COUNT; i++)
        bytes += 4 + c->streams[i].count;
    return bytes + 8 * (size_t)c->anchor_count;
}

void columns_take(const columns_out *c, uint8_t *payload)
{
    uint8_t *at = payload + 4 * LS_COLUMN_COUNT;
    if (c->streams[LS_COLUMN_TOKENS].count == 0)
        return;
    for (int i = 0; i < LS_COLUMN_COUNT; i++) {
        size_t bytes = i == LS_COLUMN_ANCHORS ? 8 * (size_t)c->anchor_count : c->streams[i].count;
        put_u32(payload + 4 * i, (uint32_t)bytes);
        for (uint32_t k = 0; k < c->anchor_count && i == LS_COLUMN_ANCHORS; k++)
            write_u64(at + 8 * k, c->anchors[k]);
        if (i != LS_COLUMN_ANCHORS && bytes > 0)
            memcpy(at, c->streams[i].at, bytes);
        at += bytes;
    }
}

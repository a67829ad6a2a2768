/* encode.c: turns thread blocks into the streams of a packed block. Each kind of number has its own stream and
 * is written as the difference to the decoder's prediction. So the streams of regular programs are short
 * cycles of the same bytes. Touches memory only. */
#include "workload/pack/block.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ growing */

static bool reserve(pack_bytes *b, size_t more)
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

static bool put_byte(pack_bytes *b, uint8_t value)
{
    if (!reserve(b, 1))
        return false;
    b->at[b->count++] = value;
    return true;
}

static bool put_varint(pack_bytes *b, uint64_t value)
{
    if (!reserve(b, LS_VARINT_BYTES))
        return false;
    b->count = (size_t)(write_varint(b->at + b->count, value) - b->at);
    return true;
}

static bool put_signed(pack_bytes *b, uint64_t difference)
{
    return put_varint(b, zigzag((int64_t)difference));
}

static bool put_u64(pack_bytes *b, uint64_t value, unsigned bytes)
{
    if (!reserve(b, bytes))
        return false;
    for (unsigned i = 0; i < bytes; i++)
        b->at[b->count++] = (uint8_t)(value >> 8 * i);
    return true;
}

/* ---------------------------------------------------------------------------------------------- addresses */

/* The first address of an access against the prediction; sets LS_PACK_OP_BASE in *op if it was wrong. The
 * rule is that of the decoder: base() in decode.c. */
static bool put_base(pack_encoder *e, pack_memory *m, uint64_t address, uint8_t *op)
{
    uint64_t predicted;
    if (m->warp_serial == e->warp_serial) {
        predicted = m->next;
        m->next = 2 * address - m->last;
    } else {
        uint64_t step = m->next - m->last; /* a warp makes the steps of the one before */
        if (m->warp_serial < e->first_warp_serial)
            predicted = step = m->first_step = m->stride = 0;
        else {
            predicted = m->first + m->first_step;
            m->first_step = address - m->first;
        }
        m->first = address;
        m->next = address + step;
        m->warp_serial = e->warp_serial;
    }
    m->last = address;
    if (address == predicted)
        return true;
    *op |= LS_PACK_OP_BASE;
    return put_signed(&e->streams[LS_PACK_BASES], address - predicted);
}

/* A stride, if it is not the one of the last time. */
static bool put_stride(pack_encoder *e, pack_memory *m, uint64_t stride, uint8_t *op)
{
    if (stride == m->stride)
        return true;
    *op |= LS_PACK_OP_STRIDE;
    m->stride = stride;
    return put_signed(&e->streams[LS_PACK_STRIDES], stride);
}

static bool same_differences(const uint64_t *a, const uint64_t *b, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (a[i] - a[0] != b[i] - b[0])
            return false;
    return true;
}

/* Whether all addresses lie on one line through the lanes; *stride is its slope. */
static bool is_affine(const uint64_t *words, uint32_t mask, uint64_t *stride)
{
    uint32_t first = (uint32_t)__builtin_ctz(mask), rest = mask & (mask - 1), i = 1;
    if (!rest)
        return false;
    int64_t lanes = __builtin_ctz(rest) - (int64_t)first, difference = (int64_t)(words[1] - words[0]);
    if (difference % lanes != 0)
        return false;
    *stride = (uint64_t)(difference / lanes);
    for (; rest; rest &= rest - 1, i++)
        if (words[i] - words[0] != *stride * ((uint32_t)__builtin_ctz(rest) - first))
            return false;
    return true;
}

/* Addresses one by one; the nearest kind that holds all of them. */
static bool put_each(pack_encoder *e, pack_memory *m, const uint64_t *words, uint32_t count, uint8_t *op)
{
    static const struct {
        uint8_t stream, bytes;
    } kinds[] = { [LS_PACK_AT_NEAR] = { LS_PACK_NEAR, 2 },
                  [LS_PACK_AT_FAR] = { LS_PACK_FAR, 4 },
                  [LS_PACK_AT_WIDE] = { LS_PACK_WIDE, 8 } };
    /* A reader may begin with this block, so it cannot know an anchor of an earlier block. */
    uint32_t *anchored = &e->anchored[m - e->memory];
    unsigned kind = *anchored != e->first_warp_serial ? LS_PACK_AT_WIDE : LS_PACK_AT_NEAR;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset = words[i] - m->anchor;
        if (kind == LS_PACK_AT_NEAR && offset > UINT16_MAX)
            kind = LS_PACK_AT_FAR;
        if (kind == LS_PACK_AT_FAR && offset + (UINT64_C(1) << 31) > UINT32_MAX)
            kind = LS_PACK_AT_WIDE;
    }
    *op |= (uint8_t)(kind << LS_PACK_OP_KIND_SHIFT);
    if (m->warp_serial < e->first_warp_serial)
        m->first_step = m->stride = 0;
    if (m->warp_serial != e->warp_serial)
        m->first = words[0];
    if (kind == LS_PACK_AT_WIDE) {
        m->anchor = words[0] - LS_PACK_ANCHOR_BELOW;
        *anchored = e->first_warp_serial;
    }
    m->warp_serial = e->warp_serial;
    m->last = m->next = words[0];
    uint64_t origin = kind == LS_PACK_AT_WIDE ? 0 : m->anchor;
    for (uint32_t i = 0; i < count; i++)
        if (!put_u64(&e->streams[kinds[kind].stream], words[i] - origin, kinds[kind].bytes))
            return false;
    return true;
}

#define AFFINE_LANES 4 /* from so many lanes on, a new stride is shorter than the addresses */

static bool put_list(pack_encoder *e, pack_memory *m, const ls_cta *cta, const ls_dyn *dyn, uint8_t *op)
{
    uint32_t at = dyn->addr >> 2, count = (uint32_t)__builtin_popcount(dyn->mask);
    const uint64_t *words = cta->addrs + at;
    uint64_t stride;
    if (count == 0) {
        *op |= LS_PACK_AT_NEAR << LS_PACK_OP_KIND_SHIFT;
        return true;
    }
    bool seen = m->warp_serial >= e->first_warp_serial, done;
    if (seen && m->list_serial == e->cta_serial && m->list_count == count &&
        same_differences(words, cta->addrs + m->list_at, count)) {
        *op |= LS_PACK_SAME << LS_PACK_OP_KIND_SHIFT;
        done = put_base(e, m, words[0], op);
    } else if (seen && is_affine(words, dyn->mask, &stride) &&
               (stride == m->stride || count >= AFFINE_LANES)) {
        *op |= LS_PACK_AFFINE << LS_PACK_OP_KIND_SHIFT;
        done = put_base(e, m, words[0], op) && put_stride(e, m, stride, op);
    } else
        done = put_each(e, m, words, count, op);
    m->list_serial = e->cta_serial;
    m->list_count = count;
    m->list_at = at;
    return done;
}

/* The rule is that of record() in decode.c. */
static bool put_record(pack_encoder *e, const uint64_t *words)
{
    pack_bytes *b = &e->streams[LS_PACK_BASES];
    uint32_t count = ls_record_words(words[0]);
    bool done = put_signed(b, count);
    for (uint32_t i = 0; i < count && done; i++)
        done = put_signed(b, words[i] - (i < LS_PACK_RECORD_CHAIN ? 0 : words[i - 1]));
    return done;
}

static bool put_addresses(pack_encoder *e, const ls_cta *cta, const ls_dyn *dyn)
{
    pack_memory *m = &e->memory[dyn->inst];
    const uint64_t *words = cta->addrs + (dyn->addr >> 2);
    uint8_t op = (uint8_t)(dyn->addr & 3);
    bool done = true;
    if (dyn->addr == LS_ADDR_NONE)
        op = LS_PACK_OP_NONE;
    else if (op == LS_ADDR_RECORD) {
        op = LS_PACK_OP_RECORD;
        done = put_record(e, words);
    } else if (op != LS_ADDR_STRIDE)
        done = put_list(e, m, cta, dyn, &op);
    else if (words[0] == 0 && words[1] == 0)
        op = LS_PACK_OP_NULL;
    else
        done = put_base(e, m, words[0], &op) && put_stride(e, m, words[1], &op);
    return done && put_byte(&e->streams[LS_PACK_OPS], op);
}

/* ----------------------------------------------------------------------------------------------- the path */

/* Puts `mask` in force and says which one it is. */
static bool put_mask(pack_encoder *e, uint32_t mask)
{
    pack_masks *known = &e->masks;
    uint8_t code = 0;
    while (code < LS_PACK_KNOWN_MASKS && known->mask[code] != mask)
        code++;
    if (code < LS_PACK_KNOWN_MASKS)
        known->now = code;
    else {
        pack_bytes *b = &e->streams[LS_PACK_NEW_MASKS];
        if (!reserve(b, 4))
            return false;
        put_u32(b->at + b->count, mask);
        b->count += 4;
        pack_masks_add(known, mask);
    }
    return put_byte(&e->streams[LS_PACK_MASKS], code);
}

static bool put_path(pack_encoder *e, const ls_dyn *dyn, const ls_dyn *end)
{
    uint32_t *changes = e->changes, expected = 0;
    while (dyn < end) {
        uint32_t start = dyn->inst, length = 0;
        bool change = changes[start] != start && dyn->mask != e->masks.mask[e->masks.now];
        if (change)
            pack_flag_change(changes, start);
        do {
            if (changes[dyn->inst] == dyn->inst && !put_mask(e, dyn->mask))
                return false;
            dyn++;
            length++;
        } while (dyn < end && length < LS_PACK_RUN_LIMIT && dyn->inst == start + length &&
                 (changes[dyn->inst] == dyn->inst || dyn->mask == e->masks.mask[e->masks.now]));
        uint64_t jump = zigzag((int64_t)start - (int64_t)expected);
        if (!put_varint(&e->streams[LS_PACK_PATH], jump << 1 | change) ||
            !put_varint(&e->streams[LS_PACK_PATH], length - 1))
            return false;
        expected = start + length;
    }
    return true;
}

static uint64_t hash_path(const ls_dyn *dyns, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ dyns[i].inst ^ (uint64_t)dyns[i].mask << 32) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

static bool same_path(const ls_dyn *a, const ls_dyn *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].inst != b[i].inst || a[i].mask != b[i].mask)
            return false;
    return true;
}

/* The number of the candidate that equals this path, which is then kept. LS_PACK_CANDIDATES if there is none
 * or there is no room to keep it. *again: it was in columns before. */
static uint32_t find_path(pack_encoder *e, const ls_dyn *dyns, uint32_t count, uint64_t hash, bool *again)
{
    for (uint32_t i = 0; i < LS_PACK_CANDIDATES; i++) {
        if (e->paths[i].count != count || e->paths[i].hash != hash ||
            !same_path(e->paths[i].dyns, dyns, count))
            continue;
        if (e->paths[i].in_columns) { /* it will come again, so this one is to be kept */
            *again = true;
            e->paths[i].count = 0;
            break;
        }
        if (!e->paths[i].kept) {
            if (e->kept_count == LS_PACK_KEPT_PATHS)
                break;
            e->kept_count++;
            e->paths[i].kept = true;
            e->streams[LS_PACK_SHAPE].at[e->paths[i].shape_at] |= LS_PACK_PATH_KEEP;
        }
        return i;
    }
    return LS_PACK_CANDIDATES;
}

/* Makes a path that was just written a candidate, in the place of the oldest that is not kept. */
static bool remember_path(pack_encoder *e, const ls_dyn *dyns, uint32_t count, uint64_t hash, size_t shape_at,
                          bool in_columns)
{
    if (count > LS_PACK_PATH_LIMIT)
        return true;
    while (e->paths[e->next_path].kept)
        e->next_path = (e->next_path + 1) % LS_PACK_CANDIDATES;
    uint32_t i = e->next_path;
    if (!e->paths[i].dyns) {
        e->paths[i].dyns = malloc(LS_PACK_PATH_LIMIT * sizeof *dyns);
        if (!e->paths[i].dyns)
            return false;
    }
    memcpy(e->paths[i].dyns, dyns, count * sizeof *dyns);
    e->paths[i].count = count;
    e->paths[i].hash = hash;
    e->paths[i].number = e->path_count - 1;
    e->paths[i].shape_at = shape_at;
    e->paths[i].in_columns = in_columns;
    e->next_path = (i + 1) % LS_PACK_CANDIDATES;
    return true;
}

/* From fewer instructions with one mask on, columns are read faster than runs. */
#define SHORT_SEGMENT 16
#define FEW_SEGMENTS 4 /* not so few: it would not matter */

/* A new path: in columns if that is worth it and no other warp seems to take the same path. */
static bool put_new_path(pack_encoder *e, const ls_cta *cta, const ls_warp_stream *warp, uint64_t hash,
                         bool again, bool *in_columns)
{
    pack_bytes *shape = &e->streams[LS_PACK_SHAPE];
    const ls_dyn *dyns = cta->dyns + warp->first;
    size_t shape_at = shape->count;
    *in_columns = false;
    uint64_t segments =
        again || e->without_columns || e->has_records ? 0 : columns_segments(dyns, warp->count);
    if (segments >= FEW_SEGMENTS && segments * SHORT_SEGMENT > warp->count &&
        !columns_put(&e->columns, cta, warp, shape, in_columns))
        return false;
    if (*in_columns)
        return remember_path(e, dyns, warp->count, hash, shape_at, true);
    e->path_count++;
    return put_varint(shape, (uint64_t)warp->count << 2) && put_path(e, dyns, dyns + warp->count) &&
           remember_path(e, dyns, warp->count, hash, shape_at, false);
}

/* `hashes` are those of this warp's path and of the paths of the `later` warps after it. */
static bool put_warp(pack_encoder *e, const ls_cta *cta, const ls_warp_stream *warp, const uint64_t *hashes,
                     uint32_t later)
{
    pack_bytes *shape = &e->streams[LS_PACK_SHAPE];
    if (warp->count == 0)
        return put_varint(shape, 0);
    const ls_dyn *dyns = cta->dyns + warp->first;
    bool again = false, in_columns = false;
    for (uint32_t i = 1; i <= later && !again; i++)
        again = hashes[i] == hashes[0];
    uint32_t known = find_path(e, dyns, warp->count, hashes[0], &again);
    if (known < LS_PACK_CANDIDATES) {
        if (!put_varint(shape, e->paths[known].number << 1 | LS_PACK_PATH_KNOWN))
            return false;
    } else if (!put_new_path(e, cta, warp, hashes[0], again, &in_columns))
        return false;
    for (uint32_t i = 0; i < warp->count && !in_columns; i++)
        if (e->has_addresses[dyns[i].inst] && !put_addresses(e, cta, &dyns[i]))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------- thread block */

/* True if the thread block can be encoded: its parts must be consistent. */
static bool consistent(pack_encoder *e, const ls_cta *cta)
{
    e->has_records = false;
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
        if (!e->has_addresses[dyn->inst] || dyn->addr >> 2 > cta->addr_count)
            return false;
        bool record = (dyn->addr & 3) == LS_ADDR_RECORD;
        if (record && (dyn->addr >> 2 == cta->addr_count))
            return false;
        uint64_t words = ls_cta_words(cta, dyn);
        if ((dyn->addr >> 2) + words > cta->addr_count ||
            (record && !cta_record_is_valid(cta->addrs + (dyn->addr >> 2), words, dyn->mask)))
            return false;
        e->has_records |= record;
    }
    return true;
}

static bool put_shape(pack_encoder *e, const ls_cta *cta)
{
    pack_bytes *b = &e->streams[LS_PACK_SHAPE];
    uint64_t dyns = 0, words = 0;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        const ls_warp_stream *warp = &cta->warps[w];
        if (warp->count == 0)
            continue;
        dyns += warp->count;
        for (const ls_dyn *dyn = cta->dyns + warp->first, *end = dyn + warp->count; dyn < end; dyn++)
            words += ls_cta_words(cta, dyn);
    }
    uint64_t rows = e->grid[0] ? cta->index / e->grid[0] : 0;
    bool in_order = e->grid[0] && e->grid[1] && cta->id[0] == cta->index % e->grid[0] &&
                    cta->id[1] == rows % e->grid[1] && cta->id[2] == rows / e->grid[1];
    bool done = put_varint(b, (in_order ? 0 : LS_PACK_HAS_ID) | (cta->in_cluster ? LS_PACK_HAS_CLUSTER : 0));
    for (int i = 0; i < 3 && !in_order; i++)
        done = done && put_varint(b, cta->id[i]);
    for (int i = 0; i < 6 && cta->in_cluster; i++)
        done = done && put_varint(b, i < 3 ? cta->cluster[i] : cta->cluster_cta[i - 3]);
    if (cta->in_cluster)
        done = done && put_varint(b, cta->cluster_rank);
    return done && put_varint(b, cta->warp_count) && put_varint(b, dyns) && put_varint(b, words);
}

ls_status pack_encode(pack_encoder *e, const ls_cta *cta, ls_error *err)
{
    if (!consistent(e, cta))
        return ls_fail(err, LS_ERR_INTERNAL, "thread block %llu does not fit its kernel's instructions",
                       (unsigned long long)cta->index);
    e->cta_serial++;
    uint64_t hashes[LS_PACK_WARP_LIMIT];
    for (uint32_t w = 0; w < cta->warp_count; w++)
        hashes[w] = cta->warps[w].count ? hash_path(cta->dyns + cta->warps[w].first, cta->warps[w].count) : 0;
    bool done = put_shape(e, cta);
    for (uint32_t w = 0; w < cta->warp_count && done; w++) {
        e->warp_serial++;
        done = put_warp(e, cta, &cta->warps[w], hashes + w, cta->warp_count - w - 1);
    }
    if (!done)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    e->cta_count++;
    e->dyn_count += cta->dyn_count;
    e->word_count += cta->addr_count;
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- the rest */

static void begin_block(pack_encoder *e)
{
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++)
        e->streams[i].count = 0;
    columns_clear(&e->columns);
    pack_masks_reset(&e->masks);
    for (int i = 0; i < LS_PACK_CANDIDATES; i++) {
        e->paths[i].count = 0;
        e->paths[i].kept = false;
    }
    e->next_path = e->kept_count = 0;
    e->path_count = 0;
    for (size_t i = 0; i < e->inst_count; i++)
        e->changes[i] = LS_PACK_NO_CHANGE;
    if (e->warp_serial > UINT32_MAX / 2 || e->cta_serial > UINT32_MAX / 2) { /* long before they start again */
        memset(e->memory, 0, e->inst_count * sizeof *e->memory);
        memset(e->anchored, 0, e->inst_count * sizeof *e->anchored);
        e->warp_serial = e->cta_serial = 0;
    }
    e->first_warp_serial = e->warp_serial + 1;
    e->cta_serial++;
    e->cta_count = e->dyn_count = e->word_count = 0;
}

void pack_encoder_kernel(pack_encoder *e, const uint32_t grid[3])
{
    memcpy(e->grid, grid, sizeof e->grid);
    e->inst_count = 0;
    begin_block(e);
}

/* Makes an array larger, or leaves it as it is and says false. */
static bool enlarge(void **at, size_t bytes)
{
    void *larger = realloc(*at, bytes);
    if (larger)
        *at = larger;
    return larger != NULL;
}

bool pack_encoder_inst(pack_encoder *e, bool has_addresses)
{
    if (e->inst_count == e->inst_capacity) {
        size_t capacity = e->inst_capacity ? e->inst_capacity * 2 : 256;
        if (!enlarge((void **)&e->memory, capacity * sizeof *e->memory) ||
            !enlarge((void **)&e->anchored, capacity * sizeof *e->anchored) ||
            !enlarge((void **)&e->changes, capacity * sizeof *e->changes) ||
            !enlarge((void **)&e->has_addresses, capacity))
            return false;
        e->inst_capacity = capacity;
    }
    e->memory[e->inst_count] = (pack_memory){ 0 };
    e->anchored[e->inst_count] = 0;
    e->changes[e->inst_count] = LS_PACK_NO_CHANGE;
    e->has_addresses[e->inst_count++] = has_addresses;
    return true;
}

size_t pack_encoder_bytes(const pack_encoder *e)
{
    size_t bytes = 4 * LS_PACK_STREAM_COUNT;
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++)
        bytes += e->streams[i].count;
    return bytes + columns_bytes(&e->columns);
}

/* Columns are made to be read fast. They stay uncompressed if they are already this many times smaller than
 * text. In text an execution and an address take at least this many bytes. */
#define SMALL_ENOUGH 10
#define TEXT_OF_DYN 36
#define TEXT_OF_WORD 2

size_t pack_encoder_split(const pack_encoder *e)
{
    size_t bytes = 4 * LS_PACK_STREAM_COUNT;
    if (columns_bytes(&e->columns) * 2 > pack_encoder_bytes(e) &&
        pack_encoder_bytes(e) * SMALL_ENOUGH < e->dyn_count * TEXT_OF_DYN + e->word_count * TEXT_OF_WORD)
        return 0;
    for (int i = 0; i < LS_PACK_FIRST_RANDOM; i++)
        bytes += e->streams[i].count;
    return bytes;
}

void pack_encoder_take(pack_encoder *e, uint8_t *payload)
{
    uint8_t *at = payload + 4 * LS_PACK_STREAM_COUNT;
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++) {
        put_u32(payload + 4 * i, (uint32_t)e->streams[i].count);
        if (e->streams[i].count > 0)
            memcpy(at, e->streams[i].at, e->streams[i].count);
        at += e->streams[i].count;
    }
    columns_take(&e->columns, at);
    begin_block(e);
}

void pack_encoder_fini(pack_encoder *e)
{
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++)
        free(e->streams[i].at);
    columns_fini(&e->columns);
    for (int i = 0; i < LS_PACK_CANDIDATES; i++)
        free(e->paths[i].dyns);
    free(e->memory);
    free(e->anchored);
    free(e->changes);
    free(e->has_addresses);
    *e = (pack_encoder){ 0 };
}

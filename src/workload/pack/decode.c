/* decode.c: the streams of a packed block back into thread blocks. This is the loop that loading a trace spends its
 * time in: it copies runs of plain instructions and stops only at those with addresses. Whatever the bytes are, it
 * reads at most LS_PACK_SLACK bytes behind a stream and writes only what it made room for. */
#include "workload/pack/block.h"

#include <stdlib.h>

/* Reads near the end may go over it; this notices. Branches on it are never taken in a good file. */
static inline bool over(const ls_pack_stream *s)
{
    return LS_UNLIKELY(s->at > s->end);
}

bool ls_pack_decoder_init(ls_pack_decoder *d, const uint32_t grid[3], const uint32_t *plain, uint32_t inst_count)
{
    *d = (ls_pack_decoder){ .plain = plain, .inst_count = inst_count };
    memcpy(d->grid, grid, sizeof d->grid);
    d->memory = calloc(inst_count ? inst_count : 1, sizeof *d->memory);
    return d->memory != NULL;
}

void ls_pack_decoder_fini(ls_pack_decoder *d)
{
    free(d->memory);
    *d = (ls_pack_decoder){ 0 };
}

const char *ls_pack_decoder_begin(ls_pack_decoder *d, const uint8_t *payload, size_t bytes)
{
    size_t used = 4 * LS_PACK_STREAM_COUNT;
    if (bytes < used)
        return "it is too short for its streams";
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++) {
        size_t size = ls_get_u32(payload + 4 * i);
        if (size > bytes - used)
            return "its streams are longer than itself";
        d->streams[i] = (ls_pack_stream){ payload + used, payload + used + size };
        used += size;
    }
    if (used != bytes)
        return "bytes follow its streams";
    memset(d->recent, 0, sizeof d->recent);
    d->recent[0] = UINT32_MAX;
    d->first_warp_serial = d->warp_serial + 1;
    d->cta_serial++;
    d->last_base = 0;
    return NULL;
}

bool ls_pack_decoder_at_end(const ls_pack_decoder *d)
{
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++)
        if (d->streams[i].at != d->streams[i].end)
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------ addresses */

/* The first address of an access: the predicted one plus the correction, if there is one. An instruction goes on by
 * the step it took last; in a new warp it starts where the last warp's start and step lead to. */
static inline uint64_t base(ls_pack_decoder *d, ls_pack_memory *m, unsigned op)
{
    uint64_t address;
    if (LS_LIKELY(m->warp_serial == d->warp_serial))
        address = m->last + m->step;
    else if (m->warp_serial >= d->first_warp_serial)
        address = m->first + m->first_step;
    else {
        address = d->last_base;
        m->step = m->first_step = m->stride = 0;
    }
    if (op & LS_PACK_OP_BASE)
        address += (uint64_t)ls_unzigzag(ls_get_varint(&d->streams[LS_PACK_BASES].at));
    if (m->warp_serial == d->warp_serial)
        m->step = address - m->last;
    else {
        if (m->warp_serial >= d->first_warp_serial)
            m->first_step = address - m->first;
        m->first = address;
        m->warp_serial = d->warp_serial;
    }
    m->last = d->last_base = address;
    return address;
}

/* Adds up `count - 1` differences of `bytes` bytes each behind words[0]. */
static inline void add_up(uint64_t *words, uint32_t count, const uint8_t *from, unsigned bytes)
{
    uint64_t word = words[0];
    for (uint32_t i = 1; i < count; i++, from += bytes) {
        uint64_t difference = 0;
        for (unsigned k = 0; k < bytes; k++)
            difference |= (uint64_t)from[k] << 8 * k;
        unsigned unused = 64 - 8 * bytes;
        word += (uint64_t)((int64_t)(difference << unused) >> unused);
        words[i] = word;
    }
}

/* Fills words[0] to words[count - 1]; false if the block is wrong. */
static bool list(ls_pack_decoder *d, ls_pack_memory *m, ls_cta *cta, uint64_t *words, uint32_t count, unsigned op)
{
    unsigned kind = op >> LS_PACK_OP_DIFFS_SHIFT;
    if (kind > 4)
        return false;
    if (count == 0)
        return kind == 1 && !(op & LS_PACK_OP_BASE);
    words[0] = base(d, m, op);
    if (kind == LS_PACK_OP_DIFFS_SAME) {
        if (m->list_serial != d->cta_serial || m->list_count != count)
            return false;
        const uint64_t *like = cta->addrs + m->list_at;
        uint64_t shift = words[0] - like[0];
        for (uint32_t i = 1; i < count; i++)
            words[i] = like[i] + shift;
    } else {
        ls_pack_stream *s = &d->streams[LS_PACK_DIFFS_1 + kind - 1];
        size_t bytes = (size_t)(count - 1) << (kind - 1);
        if ((size_t)(s->end - s->at) < bytes)
            return false;
        switch (kind) {
        case 1:
            add_up(words, count, s->at, 1);
            break;
        case 2:
            add_up(words, count, s->at, 2);
            break;
        case 3:
            add_up(words, count, s->at, 4);
            break;
        default:
            add_up(words, count, s->at, 8);
        }
        s->at += bytes;
    }
    m->list_serial = d->cta_serial;
    m->list_count = count;
    m->list_at = (uint32_t)(words - cta->addrs);
    return true;
}

/* The addresses of one execution; sets dyn->addr. False if the block is wrong. */
static inline bool addresses(ls_pack_decoder *d, ls_cta *cta, ls_dyn *dyn, uint64_t room)
{
    ls_pack_stream *ops = &d->streams[LS_PACK_OPS];
    unsigned op = *ops->at++, mode = op & 3;
    uint64_t at = cta->addr_count, count = mode == LS_ADDR_STRIDE ? 2 : (uint64_t)__builtin_popcount(dyn->mask);
    uint64_t *words = cta->addrs + at;
    if (over(ops))
        return false;
    if (mode == 3) {
        if (op == LS_PACK_OP_NONE)
            return true;
        if (op != LS_PACK_OP_NULL || room - at < 2)
            return false;
        words[0] = words[1] = 0;
        mode = LS_ADDR_STRIDE;
        count = 2;
    } else if (room - at < count)
        return false;
    else if (mode == LS_ADDR_STRIDE) {
        ls_pack_memory *m = &d->memory[dyn->inst];
        words[0] = base(d, m, op);
        if (op & LS_PACK_OP_STRIDE)
            m->stride = (uint64_t)ls_unzigzag(ls_get_varint(&d->streams[LS_PACK_STRIDES].at));
        words[1] = m->stride;
        if (op >> 4 || over(&d->streams[LS_PACK_STRIDES]))
            return false;
    } else if (!list(d, &d->memory[dyn->inst], cta, words, (uint32_t)count, op))
        return false;
    dyn->addr = (uint32_t)at << 2 | mode;
    cta->addr_count = at + count;
    return !over(&d->streams[LS_PACK_BASES]);
}

/* ------------------------------------------------------------------------------------------------- the path */

static bool next_mask(ls_pack_decoder *d)
{
    ls_pack_stream *codes = &d->streams[LS_PACK_MASKS], *fresh = &d->streams[LS_PACK_NEW_MASKS];
    unsigned code = *codes->at++, last = code < LS_PACK_RECENT_MASKS ? code : LS_PACK_RECENT_MASKS - 1;
    uint32_t mask;
    if (over(codes) || code > LS_PACK_RECENT_MASKS)
        return false;
    if (code < LS_PACK_RECENT_MASKS)
        mask = d->recent[code];
    else {
        mask = ls_get_u32(fresh->at);
        fresh->at += 4;
        if (over(fresh))
            return false;
    }
    for (unsigned i = last; i > 0; i--)
        d->recent[i] = d->recent[i - 1];
    d->recent[0] = mask;
    return true;
}

static const char *warp(ls_pack_decoder *d, ls_cta *cta, ls_dyn *dyn, uint32_t count, uint64_t room)
{
    ls_pack_stream *path = &d->streams[LS_PACK_PATH];
    uint32_t expected = 0;
    while (count > 0) {
        uint64_t token = ls_get_varint(&path->at), length = ls_get_varint(&path->at) + 1;
        uint64_t start = expected + (uint64_t)ls_unzigzag(token >> 1);
        if (over(path))
            return "the path of a warp ends too early";
        if (start >= d->inst_count || length > d->inst_count - start || length > count || length > LS_PACK_RUN_LIMIT)
            return "a run leaves the table of instructions or its warp";
        if (token & 1 && !next_mask(d))
            return "its masks are wrong";
        uint32_t inst = (uint32_t)start, left = (uint32_t)length, mask = d->recent[0];
        count -= left;
        expected = inst + left;
        for (;;) {
            uint32_t plain = d->plain[inst];
            if (plain > left)
                plain = left;
            for (uint32_t i = 0; i < plain; i++)
                dyn[i] = (ls_dyn){ inst + i, mask, LS_ADDR_NONE };
            dyn += plain;
            inst += plain;
            left -= plain;
            if (left == 0)
                break;
            *dyn = (ls_dyn){ inst, mask, LS_ADDR_NONE };
            if (!addresses(d, cta, dyn, room))
                return "its addresses are wrong";
            dyn++;
            inst++;
            if (--left == 0)
                break;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- thread block */

/* The numbers that say how much memory is needed, checked against the streams that will fill it: a run takes two
 * bytes of the path, an access one op. */
static const char *shape(ls_pack_decoder *d, uint64_t index, ls_cta *cta, uint64_t *words, bool *memory)
{
    ls_pack_stream *s = &d->streams[LS_PACK_SHAPE];
    const ls_pack_stream *path = &d->streams[LS_PACK_PATH], *ops = &d->streams[LS_PACK_OPS];
    uint64_t flags = ls_get_varint(&s->at), rows = d->grid[0] ? index / d->grid[0] : 0;
    uint64_t id[3] = { d->grid[0] ? index % d->grid[0] : 0, d->grid[1] ? rows % d->grid[1] : 0,
                       d->grid[1] ? rows / d->grid[1] : 0 };
    if (over(s) || flags > 1)
        return "the shape of a thread block is wrong";
    for (int i = 0; i < 3 && flags; i++)
        id[i] = over(s) ? 0 : ls_get_varint(&s->at);
    if (over(s) || id[0] > UINT32_MAX || id[1] > UINT32_MAX || id[2] > UINT32_MAX)
        return "the position of a thread block is wrong";
    uint64_t warps = ls_get_varint(&s->at);
    *words = over(s) ? 0 : ls_get_varint(&s->at);
    if (over(s) || warps > LS_PACK_WARP_LIMIT || *words > (uint64_t)(ops->end - ops->at) * 32 ||
        *words > LS_PACK_WORD_LIMIT)
        return "a thread block has more than its streams can say";
    *memory = ls_cta_reserve(cta, (size_t)warps, 0, (size_t)*words);
    if (!*memory)
        return NULL;
    uint64_t run = d->inst_count < LS_PACK_RUN_LIMIT ? d->inst_count : LS_PACK_RUN_LIMIT;
    uint64_t dyns = 0, most = (uint64_t)(path->end - path->at) / 2 * run;
    for (uint64_t w = 0; w < warps && !over(s); w++) {
        uint64_t count = ls_get_varint(&s->at);
        if (count > most || dyns + count > most || dyns + count > UINT32_MAX)
            return "a warp has more than its streams can say";
        cta->warps[w] = (ls_warp_stream){ (uint32_t)dyns, (uint32_t)count };
        dyns += count;
    }
    if (over(s))
        return "the shape of a thread block ends too early";
    *memory = ls_cta_reserve(cta, (size_t)warps, (size_t)dyns, (size_t)*words);
    cta->warp_count = (uint32_t)warps;
    cta->dyn_count = dyns;
    for (int i = 0; i < 3; i++)
        cta->id[i] = (uint32_t)id[i];
    return NULL;
}

bool ls_pack_decode(ls_pack_decoder *d, uint64_t index, ls_cta *cta, const char **problem)
{
    uint64_t words;
    bool memory = true;
    cta->dyn_count = cta->addr_count = cta->warp_count = 0;
    cta->index = index;
    cta->extra = NULL;
    d->cta_serial++;
    *problem = shape(d, index, cta, &words, &memory);
    if (*problem || !memory)
        return memory;
    for (uint32_t w = 0; w < cta->warp_count && !*problem; w++) {
        d->warp_serial++;
        *problem = warp(d, cta, cta->dyns + cta->warps[w].first, cta->warps[w].count, words);
    }
    if (!*problem && cta->addr_count != words)
        *problem = "a thread block has fewer addresses than it says";
    return true;
}

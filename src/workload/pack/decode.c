/* decode.c: turns the streams of a packed block back into thread blocks. Loading a trace spends its time here,
 * so there are two short passes over each warp. The first makes the path: runs of instructions and their
 * masks, or a copy of a known path. The second makes the addresses. For any input, it reads at most
 * LS_PACK_SLACK bytes after a stream and writes only into allocated room. */
#include "workload/pack/block.h"

#include <endian.h>
#include <stdlib.h>

/* Elements that may be read and written past the end. Runs are filled four at a time and copied eight at a
 * time, addresses eight at a time. An access is written before its room is checked. */
#define SPARE_DYNS LS_COLUMN_SPARE_DYNS
#define SPARE_WORDS LS_COLUMN_SPARE_WORDS

/* Reads near the end may go over it; this notices. Never true in a good file. */
static inline bool over(const pack_stream *s)
{
    return LS_UNLIKELY(s->at > s->end);
}

/* --------------------------------------------------------------------------------------------- begin, end */

bool pack_decoder_init(pack_decoder *d, const uint32_t grid[3], const uint32_t *plain, uint32_t inst_count)
{
    *d = (pack_decoder){ .plain = plain, .inst_count = inst_count };
    memcpy(d->grid, grid, sizeof d->grid);
    d->memory = malloc((inst_count ? inst_count : 1) * sizeof *d->memory);
    for (uint32_t i = plain[0]; d->memory && i < inst_count; i += 1 + plain[i + 1])
        d->memory[i] = (pack_memory){ 0 };
    d->changes = malloc((inst_count ? inst_count : 1) * sizeof *d->changes);
    d->blank = malloc((inst_count + SPARE_DYNS) * sizeof *d->blank);
    for (uint32_t i = 0; d->blank && i < inst_count + SPARE_DYNS; i++)
        d->blank[i] = (ls_dyn){ i, 0, LS_ADDR_NONE };
    return columns_init(&d->columns) && d->memory && d->changes && d->blank;
}

void pack_decoder_fini(pack_decoder *d)
{
    for (int i = 0; i < LS_PACK_KEPT_PATHS; i++) {
        free(d->paths[i].dyns);
        free(d->paths[i].accesses);
    }
    columns_end(&d->columns);
    free(d->accesses);
    free(d->memory);
    free(d->changes);
    free(d->blank);
    *d = (pack_decoder){ 0 };
}

const char *pack_decoder_begin(pack_decoder *d, const uint8_t *payload, size_t bytes)
{
    size_t used = 4 * LS_PACK_STREAM_COUNT;
    if (bytes < used)
        return "it is too short for its streams";
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++) {
        size_t size = get_u32(payload + 4 * i);
        if (size > bytes - used)
            return "its streams are longer than itself";
        d->streams[i] = (pack_stream){ payload + used, payload + used + size };
        used += size;
    }
    const char *problem = columns_begin(&d->columns, payload + used, bytes - used, d->inst_count);
    if (problem)
        return problem;
    pack_masks_reset(&d->masks);
    d->kept_count = 0;
    d->path_count = 0;
    d->short_stream = false;
    for (uint32_t i = 0; i < d->inst_count; i++)
        d->changes[i] = LS_PACK_NO_CHANGE;
    if (d->warp_serial > UINT32_MAX / 2 || d->cta_serial > UINT32_MAX / 2) { /* long before they start again */
        memset(d->memory, 0, d->inst_count * sizeof *d->memory);
        d->warp_serial = d->cta_serial = 0;
    }
    d->first_warp_serial = d->warp_serial + 1;
    d->cta_serial++;
    return NULL;
}

bool pack_decoder_at_end(const pack_decoder *d)
{
    for (int i = 0; i < LS_PACK_STREAM_COUNT; i++)
        if (d->streams[i].at != d->streams[i].end)
            return false;
    return columns_at_end(&d->columns);
}

/* ----------------------------------------------------------------------------------------------- the path */

/* A mask that was not known; false if the block is wrong. */
static bool new_mask(pack_decoder *d, unsigned code)
{
    pack_stream *fresh = &d->streams[LS_PACK_NEW_MASKS];
    pack_masks_add(&d->masks, get_u32(fresh->at));
    fresh->at += 4;
    return code == LS_PACK_KNOWN_MASKS && !over(fresh);
}

typedef uint32_t four __attribute__((vector_size(16)));

static inline void fill_four(void *to, const void *from, four lanes)
{
    four v;
    memcpy(&v, from, sizeof v);
    v |= lanes;
    memcpy(to, &v, sizeof v);
}

/* `count` executions like the blank ones, with a mask; up to SPARE_DYNS - 1 more are written over. Four of
 * them are three vectors. */
static inline void fill(ls_dyn *dyn, const ls_dyn *blank, uint32_t count, uint32_t mask)
{
    const four all = { mask, mask, mask, mask };
    const four in_a = { 0, UINT32_MAX, 0, 0 }, in_b = { UINT32_MAX, 0, 0, UINT32_MAX },
               in_c = { 0, 0, UINT32_MAX, 0 };
    const four a = all & in_a, b = all & in_b, c = all & in_c;
    for (ls_dyn *end = dyn + count; dyn < end; dyn += 4, blank += 4) {
        fill_four(dyn, blank, a);
        fill_four((char *)dyn + 16, (const char *)blank + 16, b);
        fill_four((char *)dyn + 32, (const char *)blank + 32, c);
    }
}
_Static_assert(sizeof(ls_dyn) == 12, "three words");

/* As fill(), with the masks of the original. Paths are short: a call of memcpy would cost more. */
static inline void copy(ls_dyn *to, const ls_dyn *from, uint32_t count)
{
    for (ls_dyn *end = to + count; to < end; to += 8, from += 8)
        memcpy(to, from, 8 * sizeof *to);
}

/* Fills `count` executions and lists the ones with addresses; `accesses` has room for `count` entries. The
 * loop uses local variables: the compiler cannot know that filling does not change the decoder. */
static const char *path(pack_decoder *d, ls_dyn *dyns, uint32_t count, pack_access *accesses,
                        uint32_t *access_count)
{
    const uint8_t *at = d->streams[LS_PACK_PATH].at, *const end = d->streams[LS_PACK_PATH].end;
    const uint8_t *codes = d->streams[LS_PACK_MASKS].at, *const codes_end = d->streams[LS_PACK_MASKS].end;
    const uint32_t *const plain = d->plain, inst_count = d->inst_count;
    const ls_dyn *const blank = d->blank;
    pack_memory *const memory = d->memory;
    uint32_t *const changes = d->changes;
    pack_access *access = accesses;
    uint32_t expected = 0, mask = d->masks.mask[d->masks.now], lanes = d->masks.lanes[d->masks.now];
    for (uint32_t done = 0; done < count;) {
        uint64_t token = get_varint(&at), more = get_varint(&at); /* instructions after the first */
        uint64_t start = expected + (uint64_t)unzigzag(token >> 1);
        if (LS_UNLIKELY(at > end))
            return "the path of a warp ends too early";
        if (LS_UNLIKELY(start >= inst_count || more >= inst_count - start || more >= count - done ||
                        more >= LS_PACK_RUN_LIMIT))
            return "a run leaves the table of instructions or its warp";
        uint32_t inst = (uint32_t)start;
        if (token & 1)
            pack_flag_change(changes, inst);
        expected = inst + (uint32_t)more + 1;
        do { /* from one change of the mask to the next */
            uint32_t before = done - inst, stop = inst + 1 < expected ? changes[inst + 1] : expected;
            if (stop > expected)
                stop = expected;
            if (changes[inst] == inst) {
                unsigned code = *codes++;
                if (LS_UNLIKELY(code >= LS_PACK_KNOWN_MASKS) && !new_mask(d, code))
                    return "its masks are wrong";
                d->masks.now = code < LS_PACK_KNOWN_MASKS ? code : d->masks.now;
                mask = d->masks.mask[d->masks.now];
                lanes = d->masks.lanes[d->masks.now];
                if (LS_UNLIKELY(codes > codes_end))
                    return "its masks end too early";
            }
            fill(dyns + done, blank + inst, stop - inst, mask);
            for (inst += plain[inst]; inst < stop; inst += 1 + plain[inst + 1])
                *access++ = (pack_access){ memory + inst, before + inst, lanes };
            inst = stop;
            done = before + stop;
        } while (inst < expected);
    }
    d->streams[LS_PACK_PATH].at = at;
    d->streams[LS_PACK_MASKS].at = codes;
    *access_count = (uint32_t)(access - accesses);
    return NULL;
}

/* Keeps a path for later warps; false without memory. */
static bool keep(pack_decoder *d, const ls_dyn *dyns, uint32_t count, uint32_t access_count)
{
    pack_path *path = &d->paths[d->kept_count];
    if (count > path->capacity) {
        free(path->dyns);
        free(path->accesses);
        path->dyns = malloc((count + SPARE_DYNS) * sizeof *path->dyns);
        path->accesses = malloc(count * sizeof *path->accesses);
        path->capacity = path->dyns && path->accesses ? count : 0;
        if (path->capacity == 0)
            return false;
    }
    copy(path->dyns, dyns, count);
    memcpy(path->accesses, d->accesses, access_count * sizeof *d->accesses);
    path->count = count;
    path->access_count = access_count;
    path->number = d->path_count - 1;
    d->kept_count++;
    return true;
}

static const pack_path *find_kept(const pack_decoder *d, uint64_t number)
{
    for (uint32_t i = 0; i < d->kept_count; i++)
        if (d->paths[i].number == number)
            return &d->paths[i];
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- addresses */

/* The first execution of an instruction in a warp. It starts at the last warp's start plus the step between
 * warps, and will make the same steps as there. In a block's first warp nothing is known. */
static uint64_t first_base(pack_decoder *d, pack_memory *m, uint64_t correction)
{
    uint64_t step = m->next - m->last, address = correction;
    if (m->warp_serial < d->first_warp_serial)
        step = m->first_step = m->stride = 0;
    else {
        address += m->first + m->first_step;
        m->first_step = address - m->first;
    }
    m->first = m->last = address;
    m->next = address + step;
    m->warp_serial = d->warp_serial;
    return address;
}

/* The next number of a stream. After its end come zeros, and the warp will be refused. */
static inline uint64_t number(pack_decoder *d, int stream)
{
    pack_stream *s = &d->streams[stream];
    uint64_t value = (uint64_t)unzigzag(get_varint(&s->at));
    if (over(s)) {
        s->at = s->end;
        d->short_stream = true;
        return 0;
    }
    return value;
}

/* The first address of an access. */
static inline uint64_t base(pack_decoder *d, pack_memory *m, unsigned op)
{
    uint64_t correction = op & LS_PACK_OP_BASE ? number(d, LS_PACK_BASES) : 0;
    if (LS_UNLIKELY(m->warp_serial != d->warp_serial))
        return first_base(d, m, correction);
    uint64_t address = m->next + correction;
    m->next = 2 * address - m->last;
    m->last = address;
    return address;
}

static inline uint64_t stride(pack_decoder *d, pack_memory *m, unsigned op)
{
    if (op & LS_PACK_OP_STRIDE)
        m->stride = number(d, LS_PACK_STRIDES);
    return m->stride;
}

/* Addresses one by one, eight or four at a time; up to SPARE_WORDS - 1 are written over. */
static inline void near(uint64_t *words, uint32_t count, const uint8_t *from, uint64_t anchor)
{
    for (uint32_t i = 0; i < count; i += 8, words += 8) {
        uint16_t offsets[8];
        memcpy(offsets, from + 2 * i, sizeof offsets);
        for (int k = 0; k < 8; k++)
            words[k] = anchor + le16toh(offsets[k]);
    }
}
static inline void far(uint64_t *words, uint32_t count, const uint8_t *from, uint64_t anchor)
{
    for (uint32_t i = 0; i < count; i += 4, words += 4) {
        uint32_t offsets[4];
        memcpy(offsets, from + 4 * i, sizeof offsets);
        for (int k = 0; k < 4; k++)
            words[k] = anchor + (uint64_t)(int64_t)(int32_t)le32toh(offsets[k]);
    }
}

typedef uint64_t two __attribute__((vector_size(16)));

/* Those of another list, moved; the two do not overlap. */
static inline void shifted(uint64_t *restrict words, const uint64_t *restrict like, uint32_t count,
                           uint64_t shift)
{
    const two by = { shift, shift };
    for (uint32_t i = 0; i < count; i += 4) {
        two a, b;
        memcpy(&a, like + i, sizeof a);
        memcpy(&b, like + i + 2, sizeof b);
        a += by;
        b += by;
        memcpy(words + i, &a, sizeof a);
        memcpy(words + i + 2, &b, sizeof b);
    }
}

static bool each(pack_decoder *d, pack_memory *m, uint64_t *words, uint32_t count, unsigned kind)
{
    pack_stream *s = &d->streams[LS_PACK_NEAR + kind - LS_PACK_AT_NEAR];
    size_t bytes = (size_t)count << (kind - LS_PACK_AT_NEAR + 1);
    bool seen = m->warp_serial >= d->first_warp_serial;
    if ((size_t)(s->end - s->at) < bytes || (!seen && kind != LS_PACK_AT_WIDE))
        return false;
    if (kind == LS_PACK_AT_NEAR)
        near(words, count, s->at, m->anchor);
    else if (kind == LS_PACK_AT_FAR)
        far(words, count, s->at, m->anchor);
    else {
        for (uint32_t i = 0; i < count; i++)
            words[i] = get_u64(s->at + 8 * i);
        m->anchor = words[0] - LS_PACK_ANCHOR_BELOW;
    }
    s->at += bytes;
    if (!seen)
        m->first_step = m->stride = 0;
    if (m->warp_serial != d->warp_serial)
        m->first = words[0];
    m->warp_serial = d->warp_serial;
    m->last = m->next = words[0];
    return true;
}

static inline void affine(uint64_t *words, uint32_t mask, uint64_t base, uint64_t stride)
{
    base -= stride * (uint64_t)(mask ? __builtin_ctz(mask) : 0);
    for (; mask; mask &= mask - 1)
        *words++ = base + stride * (uint64_t)__builtin_ctz(mask);
}

/* The addresses of one access that has no stride; false if the block is wrong. */
static inline bool list(pack_decoder *d, pack_memory *m, const uint64_t *addrs, uint64_t *words, uint32_t mask,
                        uint32_t count, unsigned op)
{
    unsigned kind = op >> LS_PACK_OP_KIND_SHIFT;
    if (count == 0)
        return op >> 2 == LS_PACK_AT_NEAR << (LS_PACK_OP_KIND_SHIFT - 2);
    if (kind >= LS_PACK_AT_NEAR) {
        if (kind >= LS_PACK_LIST_KIND_COUNT || op & (LS_PACK_OP_BASE | LS_PACK_OP_STRIDE) ||
            !each(d, m, words, count, kind))
            return false;
    } else if (m->warp_serial < d->first_warp_serial)
        return false;
    else if (kind == LS_PACK_SAME) {
        if (m->list_serial != d->cta_serial || m->list_count != count || op & LS_PACK_OP_STRIDE)
            return false;
        const uint64_t *like = addrs + m->list_at;
        shifted(words, like, count, base(d, m, op) - like[0]);
    } else {
        uint64_t address = base(d, m, op);
        affine(words, mask, address, stride(d, m, op));
    }
    m->list_serial = d->cta_serial;
    m->list_count = count;
    m->list_at = (uint32_t)(words - addrs);
    return true;
}

/* An access with a stride that continues as both sides expect, in a block where its instruction was seen.
 * Nearly all accesses of regular programs are of this kind. It does the same as base() and stride(). */
static inline void expected(pack_memory *m, uint32_t warp_serial, uint64_t *words)
{
    uint64_t address = m->next, next = 2 * address - m->last;
    if (m->warp_serial != warp_serial) {
        address = m->first + m->first_step;
        next = address + m->next - m->last;
        m->first = address;
        m->warp_serial = warp_serial;
    }
    m->next = next;
    m->last = words[0] = address;
    words[1] = m->stride;
}

/* A record, of which `room` words may be filled; false if the block is wrong. */
static bool record(pack_decoder *d, uint64_t *words, uint32_t mask, uint64_t room, uint64_t *count)
{
    *count = number(d, LS_PACK_BASES);
    if (*count == 0 || *count > room)
        return false;
    for (uint64_t i = 0; i < *count && !d->short_stream; i++)
        words[i] = number(d, LS_PACK_BASES) + (i < LS_PACK_RECORD_CHAIN ? 0 : words[i - 1]);
    return !d->short_stream && cta_record_is_valid(words, *count, mask);
}

/* The addresses of a warp's executions; `room` words are there in all. False if the block is wrong. */
static bool addresses(pack_decoder *d, ls_cta *cta, ls_dyn *dyns, const pack_access *access, uint32_t count,
                      uint64_t room)
{
    const uint8_t *ops = d->streams[LS_PACK_OPS].at;
    uint64_t at = cta->addr_count, *const addrs = cta->addrs;
    const uint32_t serial = d->warp_serial, first_serial = d->first_warp_serial;
    if ((size_t)(d->streams[LS_PACK_OPS].end - ops) < count)
        return false;
    for (const pack_access *end = access + count; access < end; access++) {
        ls_dyn *dyn = dyns + access->at;
        uint64_t *words = addrs + at;
        unsigned op = *ops++, mode = op & 3;
        dyn->addr = (uint32_t)at << 2 | mode;
        if (LS_LIKELY(op == LS_ADDR_STRIDE) && access->memory->warp_serial >= first_serial) {
            expected(access->memory, serial, words);
            at += 2;
        } else if (mode == LS_ADDR_STRIDE) {
            words[0] = base(d, access->memory, op);
            words[1] = stride(d, access->memory, op);
            at += 2;
            if (LS_UNLIKELY(op >> 4))
                return false;
        } else if (LS_LIKELY(mode != 3)) {
            if (LS_UNLIKELY(!list(d, access->memory, addrs, words, dyn->mask, access->lanes, op)))
                return false;
            at += access->lanes;
        } else if (op == LS_PACK_OP_NULL) {
            words[0] = words[1] = 0;
            at += 2;
            dyn->addr ^= 3 ^ LS_ADDR_STRIDE;
        } else if (op == LS_PACK_OP_RECORD) {
            uint64_t words_of_record;
            if (!record(d, words, dyn->mask, room - at, &words_of_record))
                return false;
            at += words_of_record;
        } else {
            dyn->addr = LS_ADDR_NONE;
            if (op != LS_PACK_OP_NONE)
                return false;
        }
        if (LS_UNLIKELY(at > room))
            return false;
    }
    d->streams[LS_PACK_OPS].at = ops;
    cta->addr_count = at;
    return !d->short_stream;
}

/* ------------------------------------------------------------------------------------------- thread block */

static bool cluster(pack_stream *s, ls_cta *cta)
{
    uint32_t *const to[] = { &cta->cluster[0],     &cta->cluster[1],     &cta->cluster[2],
                             &cta->cluster_cta[0], &cta->cluster_cta[1], &cta->cluster_cta[2],
                             &cta->cluster_rank };
    for (size_t i = 0; i < LS_COUNT_OF(to); i++) {
        uint64_t value = over(s) ? 0 : get_varint(&s->at);
        if (over(s) || value > UINT32_MAX)
            return false;
        *to[i] = (uint32_t)value;
    }
    return true;
}

/* The numbers that say how much memory is needed, checked against the streams that will fill it. A run takes
 * two bytes of the path, a known path one byte of the shape, an access one op. A segment takes two bytes of
 * the tokens, and an access in columns two bytes as well. */
static const char *shape(pack_decoder *d, uint64_t index, ls_cta *cta, uint64_t *dyns, uint64_t *words)
{
    pack_stream *s = &d->streams[LS_PACK_SHAPE];
    const pack_stream *runs = &d->streams[LS_PACK_PATH], *ops = &d->streams[LS_PACK_OPS];
    const pack_stream *bases = &d->streams[LS_PACK_BASES]; /* a word of a record takes at least a byte */
    const pack_stream *tokens = &d->columns.streams[LS_COLUMN_TOKENS];
    const pack_stream *accesses = &d->columns.streams[LS_COLUMN_ACCESSES];
    uint64_t flags = get_varint(&s->at), rows = d->grid[0] ? index / d->grid[0] : 0;
    uint64_t id[3] = { d->grid[0] ? index % d->grid[0] : 0, d->grid[1] ? rows % d->grid[1] : 0,
                       d->grid[1] ? rows / d->grid[1] : 0 };
    if (over(s) || flags > (LS_PACK_HAS_ID | LS_PACK_HAS_CLUSTER))
        return "the shape of a thread block is wrong";
    for (int i = 0; i < 3 && (flags & LS_PACK_HAS_ID); i++)
        id[i] = over(s) ? 0 : get_varint(&s->at);
    if (over(s) || id[0] > UINT32_MAX || id[1] > UINT32_MAX || id[2] > UINT32_MAX)
        return "the position of a thread block is wrong";
    cta->in_cluster = (flags & LS_PACK_HAS_CLUSTER) != 0;
    if (cta->in_cluster && !cluster(s, cta))
        return "the place of a thread block in its cluster is wrong";
    uint64_t warps = get_varint(&s->at);
    *dyns = get_varint(&s->at);
    if (over(s))
        return "the shape of a thread block ends too early";
    *words = get_varint(&s->at);
    uint64_t run = d->inst_count < LS_PACK_RUN_LIMIT ? d->inst_count : LS_PACK_RUN_LIMIT;
    if (over(s) || warps > LS_PACK_WARP_LIMIT || *words > LS_PACK_WORD_LIMIT || *dyns > UINT32_MAX ||
        *words > (uint64_t)(ops->end - ops->at) * 32 + (uint64_t)(accesses->end - accesses->at) * 16 +
                     (uint64_t)(bases->end - bases->at) ||
        *dyns >
            (uint64_t)(runs->end - runs->at + tokens->end - tokens->at) / 2 * run + warps * LS_PACK_PATH_LIMIT)
        return "a thread block has more than its streams can say";
    for (int i = 0; i < 3; i++)
        cta->id[i] = (uint32_t)id[i];
    cta->warp_count = (uint32_t)warps;
    return NULL;
}

static bool reserve_accesses(pack_decoder *d, size_t count)
{
    if (count <= d->access_capacity)
        return true;
    pack_access *larger = realloc(d->accesses, count * sizeof *larger);
    if (!larger)
        return false;
    d->accesses = larger;
    d->access_capacity = count;
    return true;
}

/* A warp that is in the columns; its numbers follow in the shape. Returns NULL, or the text of an error. */
static const char *columns(pack_decoder *d, ls_dyn *to, ls_cta *cta, uint64_t room, uint64_t words,
                           uint32_t *count)
{
    pack_stream *s = &d->streams[LS_PACK_SHAPE];
    columns_warp w = { 0 };
    uint64_t dyns = get_varint(&s->at);
    w.segments = get_varint(&s->at);
    w.masks = get_varint(&s->at);
    w.accesses = get_varint(&s->at);
    if (over(s) || dyns > room)
        return "the shape of a thread block is wrong";
    *count = w.count = (uint32_t)dyns;
    return columns_read(&d->columns, &w, &(const columns_insts){ d->blank, d->plain }, to, cta, words);
}

/* Appends one warp. False without memory. */
static bool warp(pack_decoder *d, ls_cta *cta, uint32_t number, uint64_t dyns, uint64_t words,
                 const char **problem)
{
    pack_stream *s = &d->streams[LS_PACK_SHAPE];
    uint64_t said = get_varint(&s->at);
    const pack_access *accesses = NULL;
    uint32_t count = 0, access_count = 0;
    ls_dyn *to = cta->dyns + cta->dyn_count;
    d->warp_serial++;
    *problem = "the shape of a thread block is wrong";
    if (over(s))
        return true;
    if (said & LS_PACK_PATH_KNOWN) {
        const pack_path *known = find_kept(d, said >> 1);
        if (!known || known->count > dyns - cta->dyn_count)
            return true;
        count = known->count;
        accesses = known->accesses;
        access_count = known->access_count;
        copy(to, known->dyns, count);
    } else if (said == LS_PACK_PATH_COLUMNS) {
        *problem = columns(d, to, cta, dyns - cta->dyn_count, words, &count);
        if (*problem)
            return true;
    } else if (said >> 2 > 0) {
        if (said >> 2 > dyns - cta->dyn_count)
            return true;
        count = (uint32_t)(said >> 2);
        if (!reserve_accesses(d, count))
            return false;
        *problem = path(d, to, count, d->accesses, &access_count);
        if (*problem)
            return true;
        d->path_count++;
        accesses = d->accesses;
        *problem = "too much is to be kept";
        if (said & LS_PACK_PATH_KEEP && (d->kept_count == LS_PACK_KEPT_PATHS || count > LS_PACK_PATH_LIMIT))
            return true;
        if (said & LS_PACK_PATH_KEEP && !keep(d, to, count, access_count))
            return false;
    }
    *problem = access_count == 0 || addresses(d, cta, to, accesses, access_count, words)
                   ? NULL
                   : "its addresses are wrong";
    cta->warps[number] = (ls_warp_stream){ (uint32_t)cta->dyn_count, count };
    cta->dyn_count += count;
    return true;
}

bool pack_decode(pack_decoder *d, uint64_t index, ls_cta *cta, const char **problem)
{
    uint64_t dyns, words;
    cta->dyn_count = cta->addr_count = cta->warp_count = 0;
    cta->index = index;
    cta->extra = NULL;
    d->cta_serial++;
    *problem = shape(d, index, cta, &dyns, &words);
    if (*problem)
        return true;
    if (!cta_reserve(cta, cta->warp_count, (size_t)dyns + SPARE_DYNS, (size_t)words + SPARE_WORDS))
        return false;
    for (uint32_t w = 0; w < cta->warp_count && !*problem; w++)
        if (!warp(d, cta, w, dyns, words, problem))
            return false;
    if (!*problem && (cta->dyn_count != dyns || cta->addr_count != words))
        *problem = "a thread block has less than it says";
    return true;
}

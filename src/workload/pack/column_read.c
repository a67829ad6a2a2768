/* column_read.c: turns columns back into the executions and addresses of warps (column.h). There are two loops
 * over a warp, over its segments and over its accesses. Each exists twice: for any host and for hosts with
 * vectors of 32 bytes. For any input, at most LS_PACK_SLACK bytes after a column are read. */
#include "workload/pack/column.h"

#include <endian.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define WIDE_TARGET __attribute__((target("avx2,popcnt,bmi")))
#endif
#define INLINE static inline __attribute__((always_inline))

/* --------------------------------------------------------------------------------------------- begin, end */

static bool has_wide_vectors(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi");
#else
    return false;
#endif
}

bool columns_init(columns_in *c)
{
    *c = (columns_in){ .wide_vectors = has_wide_vectors() };
    c->segments = malloc(LS_COLUMN_SEGMENT_LIMIT * sizeof *c->segments);
    return c->segments != NULL;
}

void columns_end(columns_in *c)
{
    free(c->segments);
    c->segments = NULL;
}

/* Of a column of u16; 0 if it is empty. */
static size_t largest(const pack_stream *s)
{
    size_t count = (size_t)(s->end - s->at) / 2;
    uint16_t most = 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t v;
        memcpy(&v, s->at + 2 * i, sizeof v);
        v = le16toh(v);
        most = v > most ? v : most;
    }
    return most;
}

const char *columns_begin(columns_in *c, const uint8_t *payload, size_t bytes, uint32_t inst_count)
{
    size_t used = 4 * LS_COLUMN_COUNT;
    for (int i = 0; i < LS_COLUMN_COUNT; i++)
        c->streams[i] = (pack_stream){ payload, payload };
    if (bytes == 0)
        return NULL;
    if (bytes < used)
        return "bytes follow its streams";
    for (int i = 0; i < LS_COLUMN_COUNT; i++) {
        size_t size = get_u32(payload + 4 * i);
        if (size > bytes - used)
            return "its columns are longer than itself";
        c->streams[i] = (pack_stream){ payload + used, payload + used + size };
        used += size;
    }
    if (used != bytes)
        return "bytes follow its columns";
    pack_stream *segments = &c->streams[LS_COLUMN_SEGMENTS], *anchors = &c->streams[LS_COLUMN_ANCHORS];
    size_t count = (size_t)(segments->end - segments->at) / 8;
    if (count > LS_COLUMN_SEGMENT_LIMIT || (size_t)(anchors->end - anchors->at) > 8 * LS_COLUMN_ANCHOR_LIMIT ||
        (segments->end - segments->at) % 8 != 0 || (anchors->end - anchors->at) % 8 != 0)
        return "its segments or its anchors are wrong";
    for (size_t i = 0; i < count; i++) {
        uint32_t start = get_u32(segments->at + 8 * i), length = get_u32(segments->at + 8 * i + 4);
        if (length == 0 || length > LS_PACK_RUN_LIMIT || start >= inst_count || length > inst_count - start)
            return "a segment leaves the table of instructions";
        c->segments[i] =
            (columns_segment){ start * (uint32_t)sizeof(ls_dyn), length * (uint32_t)sizeof(ls_dyn) };
    }
    /* Here once for all, so that the loops need not. */
    const pack_stream *gaps = &c->streams[LS_COLUMN_GAPS];
    size_t anchor_count = (size_t)(anchors->end - anchors->at) / 8;
    if (count == 0 || largest(&c->streams[LS_COLUMN_TOKENS]) >= count)
        return "a segment is not there";
    if (largest(&c->streams[LS_COLUMN_ACCESSES]) >> LS_COLUMN_ANCHOR_SHIFT >= anchor_count)
        return "an anchor is not there";
    if (gaps->at < gaps->end && memchr(gaps->at, 0, (size_t)(gaps->end - gaps->at)))
        return "two accesses belong to one instruction";
    return NULL;
}

bool columns_at_end(const columns_in *c)
{
    /* The two tables are read from anywhere. */
    for (int i = LS_COLUMN_TOKENS; i < LS_COLUMN_COUNT; i++)
        if (c->streams[i].at != c->streams[i].end)
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------ vectors */

/* Executions like the blank ones, with a mask, from `to` up to `end`. Four of them are three vectors. */
typedef void filler(char *to, const char *blank, const char *end, uint32_t mask);
/* Addresses from their distances to an anchor. */
typedef void expander(uint64_t *words, uint32_t count, const uint8_t *from, uint64_t anchor);

/* The functions for one kind of host. The caller knows it as a constant, so that the compiler inlines them. */
typedef struct host {
    filler *fill;
    expander *near, *far;
    bool counts_lanes; /* by an instruction */
} host;

typedef uint32_t four __attribute__((vector_size(16)));

INLINE void fill(char *to, const char *blank, const char *end, uint32_t mask)
{
    const four all[] = { { 0, mask, 0, 0 }, { mask, 0, 0, mask }, { 0, 0, mask, 0 } };
    do {
        for (int i = 0; i < 3; i++) {
            four v;
            memcpy(&v, blank + 16 * i, sizeof v);
            v |= all[i];
            memcpy(to + 16 * i, &v, sizeof v);
        }
        to += 48;
        blank += 48;
    } while (to < end);
}
INLINE void near(uint64_t *words, uint32_t count, const uint8_t *from, uint64_t anchor)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = anchor + get_u16(from + 2 * i);
}
INLINE void far(uint64_t *words, uint32_t count, const uint8_t *from, uint64_t anchor)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = anchor + get_u32(from + 4 * i);
}

#if defined(WIDE_TARGET)
/* Eight executions: their masks are the words 1, 4, 7 of the first vector, and so on. */
INLINE WIDE_TARGET void fill_eight(char *to, const char *blank, __m256i all)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)blank);
    __m256i b = _mm256_loadu_si256((const __m256i *)(blank + 32));
    __m256i c = _mm256_loadu_si256((const __m256i *)(blank + 64));
    _mm256_storeu_si256((__m256i *)to, _mm256_blend_epi32(a, all, 0x92));
    _mm256_storeu_si256((__m256i *)(to + 32), _mm256_blend_epi32(b, all, 0x24));
    _mm256_storeu_si256((__m256i *)(to + 64), _mm256_blend_epi32(c, all, 0x49));
}
/* Nearly always the first eight are all. */
INLINE WIDE_TARGET void fill_wide(char *to, const char *blank, const char *end, uint32_t mask)
{
    const __m256i all = _mm256_set1_epi32((int)mask);
    fill_eight(to, blank, all);
    while (LS_UNLIKELY(end > to + 96)) {
        to += 96;
        blank += 96;
        fill_eight(to, blank, all);
    }
}
INLINE WIDE_TARGET void near_four(uint64_t *words, const uint8_t *from, __m256i origin)
{
    __m256i v = _mm256_cvtepu16_epi64(_mm_loadl_epi64((const __m128i *)from));
    _mm256_storeu_si256((__m256i *)words, _mm256_add_epi64(v, origin));
}
INLINE WIDE_TARGET void near_wide(uint64_t *words, uint32_t count, const uint8_t *from, uint64_t anchor)
{
    const __m256i origin = _mm256_set1_epi64x((long long)anchor);
    near_four(words, from, origin);
    for (uint32_t i = 4; LS_UNLIKELY(i < count); i += 4)
        near_four(words + i, from + 2 * i, origin);
}
INLINE WIDE_TARGET void far_wide(uint64_t *words, uint32_t count, const uint8_t *from, uint64_t anchor)
{
    const __m256i origin = _mm256_set1_epi64x((long long)anchor);
    const uint64_t *end = words + count;
    for (; words < end; words += 4, from += 16) {
        __m256i v = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)from));
        _mm256_storeu_si256((__m256i *)words, _mm256_add_epi64(v, origin));
    }
}
#endif
_Static_assert(sizeof(ls_dyn) == 12 && LS_COLUMN_SPARE_DYNS >= 8, "eight executions are three vectors");

INLINE uint64_t signed_at(const uint8_t *p)
{
    return (uint64_t)(int64_t)(int32_t)get_u32(p);
}

INLINE void affine(uint64_t *words, uint32_t mask, uint64_t base, uint64_t stride)
{
    for (mask >>= __builtin_ctz(mask); mask; mask &= mask - 1)
        *words++ = base + stride * (uint64_t)__builtin_ctz(mask);
}

/* Without an instruction for it the compiler would call a function. */
INLINE uint32_t lanes_of(uint32_t mask, bool native)
{
    if (native)
        return (uint32_t)__builtin_popcount(mask);
    uint32_t n = mask - (mask >> 1 & 0x55555555u);
    n = (n & 0x33333333u) + (n >> 2 & 0x33333333u);
    return (((n + (n >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}

/* --------------------------------------------------------------------------------------------------- path */

INLINE const char *read_path(const columns_in *c, const columns_warp *w, const ls_dyn *blank, ls_dyn *to,
                             const host *h)
{
    const uint8_t *const tokens = c->streams[LS_COLUMN_TOKENS].at, *const codes =
                                                                       c->streams[LS_COLUMN_CODES].at;
    const uint8_t *const masks = c->streams[LS_COLUMN_MASKS].at;
    const size_t count = w->segments;
    const columns_segment *const segments = c->segments;
    const char *const first = (const char *)blank;
    char *at = (char *)to, *const end = (char *)(to + w->count);
    const uint32_t mask_count = (uint32_t)w->masks;
    for (size_t i = 0; i < count; i++) {
        const columns_segment *segment = &segments[get_u16(tokens + 2 * i)];
        char *here = at;
        uint32_t which = codes[i];
        at += segment->bytes;
        if (LS_UNLIKELY(which >= mask_count))
            return "a mask is not there";
        if (LS_UNLIKELY(at > end))
            return "a warp has more instructions than it says";
        h->fill(here, first + segment->from, at, get_u32(masks + 4 * (size_t)which));
    }
    return at == end ? NULL : "a warp has fewer instructions than it says";
}

/* ---------------------------------------------------------------------------------------------- addresses */

/* Bits that only other accesses have than lists of LS_COLUMN_AT_NEAR. */
#define NOT_A_NEAR_LIST (7u << LS_COLUMN_FORM_SHIFT | 1u)
_Static_assert(LS_COLUMN_AT_NEAR == 0 && LS_ADDR_LIST == 0 && LS_ADDR_DELTA == 2 && LS_ADDR_STRIDE == 1,
               "as above");
_Static_assert(LS_PACK_SLACK >= 32 * 2 && LS_COLUMN_SPARE_WORDS >= 36,
               "a near list is read before it is checked");

/* The rarer forms; `words` is where they go. Returns their number, or UINT32_MAX. */
INLINE uint32_t read_rare(columns_in *c, uint32_t access, uint32_t mask, uint64_t anchor, uint64_t *words,
                          const host *h)
{
    pack_stream *far_ones = &c->streams[LS_COLUMN_FAR], *wide = &c->streams[LS_COLUMN_WIDE];
    uint32_t mode = access & 3, form = access >> LS_COLUMN_FORM_SHIFT & 7,
             lanes = lanes_of(mask, h->counts_lanes);
    uint32_t count = mode == LS_ADDR_STRIDE ? 2 : lanes;
    bool has_two = far_ones->end - far_ones->at >= 8;
    if (mode == 3)
        return UINT32_MAX;
    if (form == LS_COLUMN_AFFINE && mode != LS_ADDR_STRIDE && lanes > 0 && has_two) {
        affine(words, mask, anchor + get_u32(far_ones->at), signed_at(far_ones->at + 4));
        far_ones->at += 8;
    } else if (form == LS_COLUMN_AT_FAR && (size_t)(far_ones->end - far_ones->at) >= 4 * (size_t)count) {
        h->far(words, count, far_ones->at, anchor);
        if (mode == LS_ADDR_STRIDE)
            words[1] = signed_at(far_ones->at + 4);
        far_ones->at += 4 * (size_t)count;
    } else if (form == LS_COLUMN_AT_WIDE && (size_t)(wide->end - wide->at) >= 8 * (size_t)count) {
        for (uint32_t i = 0; i < count; i++)
            words[i] = get_u64(wide->at + 8 * i);
        wide->at += 8 * (size_t)count;
    } else
        return UINT32_MAX;
    return count;
}

INLINE const char *read_accesses(columns_in *c, const columns_warp *w, const uint32_t *plain, ls_dyn *dyn,
                                 ls_cta *cta, uint64_t room, const host *h)
{
    const uint8_t *const accesses = c->streams[LS_COLUMN_ACCESSES].at, *const gaps =
                                                                           c->streams[LS_COLUMN_GAPS].at;
    const uint8_t *const anchors = c->streams[LS_COLUMN_ANCHORS].at;
    const size_t access_count = w->accesses;
    const uint8_t *near_at = c->streams[LS_COLUMN_NEAR].at, *const near_end = c->streams[LS_COLUMN_NEAR].end;
    const ls_dyn *const end = dyn + w->count;
    uint64_t *words = cta->addrs + cta->addr_count, *const words_end = cta->addrs + room;
    uint32_t place = (uint32_t)cta->addr_count << 2;
    uint32_t without = 0; /* not 0 once an instruction that has no addresses was given some */
    if (access_count == 0)
        return NULL;
    dyn += gaps[0] - 1;
    for (size_t i = 0; i < access_count; i++) {
        uint32_t what = get_u16(accesses + 2 * i), count;
        if (LS_UNLIKELY(dyn >= end))
            return "an access belongs to no instruction";
        dyn->addr = place | (what & 3);
        without |= plain[dyn->inst];
        if (LS_LIKELY((what & NOT_A_NEAR_LIST) == 0)) {
            count = lanes_of(dyn->mask, h->counts_lanes);
            h->near(words, count, near_at, get_u64(anchors + 8 * (size_t)(what >> LS_COLUMN_ANCHOR_SHIFT)));
            near_at += 2 * (size_t)count; /* it may have gone over the end by the slack at most */
            if (LS_UNLIKELY(near_at > near_end))
                return "its addresses end too early";
        } else if (what == LS_PACK_OP_NONE) {
            words[0] = words[1] = 0;
            dyn->addr = place | LS_ADDR_STRIDE;
            count = 2;
        } else {
            uint64_t anchor = get_u64(anchors + 8 * (size_t)(what >> LS_COLUMN_ANCHOR_SHIFT));
            count = read_rare(c, what, dyn->mask, anchor, words, h);
            if (LS_UNLIKELY(count > 32))
                return "its addresses are wrong";
        }
        words += count;
        place += count << 2;
        dyn += gaps[i + 1]; /* of the last one: not used, but in the slack at worst */
        if (LS_UNLIKELY(words > words_end))
            return "a thread block has more addresses than it says";
    }
    if (without != 0)
        return "an access belongs to an instruction that has no addresses";
    c->streams[LS_COLUMN_NEAR].at = near_at;
    cta->addr_count = (uint64_t)(words - cta->addrs);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- a warp */

INLINE const char *read_warp(columns_in *c, const columns_warp *w, const columns_insts *insts, ls_dyn *to,
                             ls_cta *cta, uint64_t room, const host *h)
{
    const char *problem = read_path(c, w, insts->blank, to, h);
    return problem ? problem : read_accesses(c, w, insts->plain, to, cta, room, h);
}

#if defined(WIDE_TARGET)
static WIDE_TARGET const char *read_wide(columns_in *c, const columns_warp *w, const columns_insts *insts,
                                         ls_dyn *to, ls_cta *cta, uint64_t room)
{
    return read_warp(c, w, insts, to, cta, room, &(const host){ fill_wide, near_wide, far_wide, true });
}
#endif

const char *columns_read(columns_in *c, const columns_warp *w, const columns_insts *insts, ls_dyn *to,
                         ls_cta *cta, uint64_t room)
{
    pack_stream *tokens = &c->streams[LS_COLUMN_TOKENS], *codes = &c->streams[LS_COLUMN_CODES];
    pack_stream *masks = &c->streams[LS_COLUMN_MASKS], *gaps = &c->streams[LS_COLUMN_GAPS];
    pack_stream *accesses = &c->streams[LS_COLUMN_ACCESSES];
    if (w->segments > (uint64_t)(tokens->end - tokens->at) / 2 ||
        w->segments > (uint64_t)(codes->end - codes->at) ||
        w->masks > (uint64_t)(masks->end - masks->at) / 4 ||
        w->accesses > (uint64_t)(accesses->end - accesses->at) / 2 ||
        w->accesses > (uint64_t)(gaps->end - gaps->at))
        return "its columns are too short";
    const char *problem;
#if defined(WIDE_TARGET)
    if (c->wide_vectors)
        problem = read_wide(c, w, insts, to, cta, room);
    else
#endif
        problem = read_warp(c, w, insts, to, cta, room, &(const host){ fill, near, far, false });
    tokens->at += 2 * w->segments;
    codes->at += w->segments;
    masks->at += 4 * w->masks;
    gaps->at += w->accesses;
    accesses->at += 2 * w->accesses;
    return problem;
}

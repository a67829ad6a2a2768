/* memory_fast.c: short cuts for common accesses: all lanes in one allocation or in range of LDS, without a
 * special flag. All other accesses use the general path (mem_body), which also finds faults. The short cuts of
 * vector loads and stores need AVX2; hosts without it always use the general path. */
#include "isa/amd/exec/memory_impl.h"

/* --- scalar loads --------------------------------------------------------------------------------------- */

static inline void fast_scalar(amd_wave *wave, const amd_inst *inst, unsigned bytes)
{
    uint64_t address = mem_sgpr64(wave, inst->src[0].code) & ~3ull;
    address += (uint64_t)(int64_t)inst->offset;
    if (inst->flags & AMD_SOFFSET_REG)
        address += mem_scalar(wave, inst, &inst->src[1]);
    address &= ~3ull;
    const uint8_t *from = mem_range(wave, inst, address, bytes, false);
    if (from)
        memcpy(&wave->sgpr[inst->sdst.code], from, bytes);
    else
        mem_body(wave, inst);
}

#define FAST_SCALAR(bytes)                                                                                    \
    static void fast_scalar_##bytes(amd_wave *wave, const amd_inst *inst)                                     \
    {                                                                                                         \
        fast_scalar(wave, inst, bytes);                                                                       \
    }
FAST_SCALAR(4)
FAST_SCALAR(8)
FAST_SCALAR(16)
FAST_SCALAR(32)
FAST_SCALAR(64)

static amd_body fast_find_scalar(const amd_inst *inst, const mem_row *row)
{
    if (row->kind != AMD_ACCESS_LOAD || row->family != MEM_MOVE || row->flags != 0 ||
        inst->sdst.code >= AMD_NULL)
        return NULL;
    switch (row->bytes) {
    case 4:
        return fast_scalar_4;
    case 8:
        return fast_scalar_8;
    case 16:
        return fast_scalar_16;
    case 32:
        return fast_scalar_32;
    default:
        return fast_scalar_64;
    }
}

#if defined(__x86_64__)

#include <immintrin.h>

#define FAST __attribute__((target("avx2"), always_inline)) static inline
#define FAST_BODY __attribute__((target("avx2"))) static void

/* Where the lanes of an access are: lane l at base + index[l] - low. */
typedef struct fast_place {
    uint8_t *base;
    uint64_t exec;
    uint32_t low, spread; /* the smallest index, and how much larger the largest is */
    bool full;            /* all lanes are active */
    uint32_t index[64] __attribute__((aligned(32)));
} fast_place;

/* --- eight lanes at a time ------------------------------------------------------------------------------ */

FAST __m256i fast_at(const uint32_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

FAST void fast_put(uint32_t *to, __m256i value)
{
    _mm256_storeu_si256((__m256i *)(void *)to, value);
}

FAST __m256i fast_iota(void)
{
    return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

/* All bits of an element where the lane is active. */
FAST __m256i fast_mask(uint64_t exec, unsigned lane)
{
    __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i all = _mm256_set1_epi32((int)(uint32_t)(exec >> lane));
    return _mm256_cmpeq_epi32(_mm256_and_si256(all, bit), bit);
}

FAST uint32_t fast_least(__m256i value)
{
    __m128i half = _mm_min_epu32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
    half = _mm_min_epu32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_min_epu32(half, _mm_shuffle_epi32(half, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(half);
}

FAST uint32_t fast_most(__m256i value)
{
    __m128i half = _mm_max_epu32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
    half = _mm_max_epu32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_max_epu32(half, _mm_shuffle_epi32(half, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(half);
}

/* --- places --------------------------------------------------------------------------------------------- */

FAST void fast_lanes(const amd_wave *wave, unsigned lanes, fast_place *place)
{
    place->exec = amd_wave_exec(wave);
    place->full = lanes == 64 ? place->exec == UINT64_MAX : place->exec == UINT32_MAX;
}

/* Fills index, low and spread from a register; switched off lanes count as the first active one. */
FAST void fast_indices(const uint32_t *from, unsigned lanes, fast_place *place)
{
    __m256i least = _mm256_set1_epi32(-1), most = _mm256_setzero_si256();
    __m256i other = _mm256_set1_epi32((int)from[__builtin_ctzll(place->exec)]);
    for (unsigned lane = 0; lane < lanes; lane += 8) {
        __m256i value = fast_at(from + lane);
        if (!place->full)
            value = _mm256_blendv_epi8(other, value, fast_mask(place->exec, lane));
        least = _mm256_min_epu32(least, value);
        most = _mm256_max_epu32(most, value);
        fast_put(place->index + lane, value);
    }
    place->low = fast_least(least);
    place->spread = fast_most(most) - place->low;
}

/* True if the active lanes agree in a register. */
FAST bool fast_same(const uint32_t *from, unsigned lanes, const fast_place *place)
{
    __m256i first = _mm256_set1_epi32((int)from[__builtin_ctzll(place->exec)]),
            differ = _mm256_setzero_si256();
    for (unsigned lane = 0; lane < lanes; lane += 8) {
        __m256i value = _mm256_xor_si256(fast_at(from + lane), first);
        if (!place->full)
            value = _mm256_and_si256(value, fast_mask(place->exec, lane));
        differ = _mm256_or_si256(differ, value);
    }
    return _mm256_testz_si256(differ, differ) != 0;
}

/* FLAT and GLOBAL. Flat addresses of LDS and private memory lie in no allocation and fail here. */
FAST bool fast_global(amd_wave *wave, const amd_inst *inst, unsigned lanes, unsigned bytes, bool write,
                      fast_place *place)
{
    const uint32_t *low = mem_vgpr(wave, inst->src[0].code);
    uint64_t base = (uint64_t)(int64_t)inst->offset;
    if (inst->flags & AMD_SADDR) {
        base += mem_sgpr64(wave, inst->src[2].code);
    } else {
        if (!fast_same(low + lanes, lanes, place))
            return false;
        base += (uint64_t)low[lanes + (unsigned)__builtin_ctzll(place->exec)] << 32;
    }
    fast_indices(low, lanes, place);
    if (place->spread > INT32_MAX)
        return false;
    place->base = mem_range(wave, inst, base + place->low, (uint64_t)place->spread + bytes, write);
    return place->base != NULL;
}

/* LDS: `reach` is how far beyond a lane's address it accesses, offsets included. */
FAST bool fast_lds(amd_wave *wave, const amd_inst *inst, unsigned lanes, uint32_t reach, unsigned align,
                   fast_place *place)
{
    fast_indices(mem_vgpr(wave, inst->src[0].code), lanes, place);
    uint32_t limit = amd_mem_lds_bytes(wave);
    if (reach > limit || place->low > limit - reach || place->spread > limit - reach - place->low)
        return false;
    if (wave->target == AMD_GFX803 && align > 1) {
        __m256i any = _mm256_set1_epi32((int)(uint32_t)inst->offset);
        for (unsigned lane = 0; lane < lanes; lane += 8)
            any = _mm256_or_si256(any, fast_at(place->index + lane));
        if (!_mm256_testz_si256(any, _mm256_set1_epi32((int)(align - 1))))
            return false;
    }
    place->base = wave->group->lds + place->low;
    return true;
}

/* Private memory through the resource that a wave starts with: lanes interleaved by dwords. */
FAST bool fast_private(amd_wave *wave, const amd_inst *inst, unsigned lanes, unsigned bytes, bool write,
                       fast_place *place)
{
    const uint32_t *word = &wave->sgpr[inst->src[2].code & 127];
    uint32_t shape = wave->target == AMD_GFX803 ? 0x00880000u : 0x00800000u;
    shape |= lanes == 64 ? 3u << 21 : 2u << 21;
    if (inst->src[2].code > 124 || word[1] >> 16 != 0x8000 || word[2] != UINT32_MAX ||
        (word[3] & (wave->target == AMD_GFX803 ? 0x00ff8000u : 0x00e00000u)) != shape)
        return false;
    uint64_t base = word[0] | (uint64_t)(word[1] & 0xffff) << 32;
    base += mem_scalar(wave, inst, &inst->src[3]);
    uint32_t offset = (uint32_t)inst->offset, size = bytes < 4 ? bytes : 4;
    if (inst->flags & AMD_OFFEN)
        fast_indices(mem_vgpr(wave, inst->src[0].code), lanes, place);
    else
        place->low = place->spread = 0;
    if (place->low >= 1u << 20 || place->spread >= 1u << 20)
        return false;
    __m256i any = _mm256_setzero_si256();
    __m256i step = _mm256_slli_epi32(fast_iota(), 2);
    for (unsigned lane = 0; lane < lanes; lane += 8) {
        __m256i at = _mm256_set1_epi32((int)offset);
        if (inst->flags & AMD_OFFEN)
            at = _mm256_add_epi32(at, fast_at(place->index + lane));
        any = _mm256_or_si256(any, at);
        __m256i part = _mm256_and_si256(at, _mm256_set1_epi32(3));
        at = _mm256_mullo_epi32(_mm256_sub_epi32(at, part), _mm256_set1_epi32((int)lanes));
        at = _mm256_add_epi32(_mm256_add_epi32(at, part),
                              _mm256_add_epi32(step, _mm256_set1_epi32((int)lane * 4)));
        fast_put(place->index + lane, at);
    }
    if (!_mm256_testz_si256(any, _mm256_set1_epi32((int)(size - 1))))
        return false;
    uint32_t least = ((place->low + offset) & ~3u) * lanes;
    uint32_t most = ((place->low + place->spread + offset) & ~3u) * lanes + lanes * 4;
    place->low = least;
    place->spread = most - least - 4;              /* at most */
    uint64_t reach = (bytes + 3u) / 4 * 4 * lanes; /* each lane has whole dwords, also for a byte */
    place->base = mem_range(wave, inst, base + least, place->spread + reach, write);
    return place->base != NULL;
}

/* --- loads ---------------------------------------------------------------------------------------------- */

/* True if lane l lies 4 l bytes after lane 0. */
FAST bool fast_in_a_row(unsigned lanes, const fast_place *place)
{
    if (place->spread != (lanes - 1) * 4)
        return false;
    __m256i want = _mm256_add_epi32(_mm256_slli_epi32(fast_iota(), 2), _mm256_set1_epi32((int)place->low));
    __m256i differ = _mm256_setzero_si256();
    for (unsigned lane = 0; lane < lanes; lane += 8) {
        differ = _mm256_or_si256(differ, _mm256_xor_si256(want, fast_at(place->index + lane)));
        want = _mm256_add_epi32(want, _mm256_set1_epi32(32));
    }
    return _mm256_testz_si256(differ, differ) != 0;
}

/* Four vectors of eight lanes become the 16 bytes of each lane: lane i and i + 4 in the halves of row[i]. */
FAST void fast_transpose(const __m256i in[4], __m256i row[4])
{
    __m256i a = _mm256_unpacklo_epi32(in[0], in[1]), b = _mm256_unpackhi_epi32(in[0], in[1]);
    __m256i c = _mm256_unpacklo_epi32(in[2], in[3]), d = _mm256_unpackhi_epi32(in[2], in[3]);
    row[0] = _mm256_unpacklo_epi64(a, c);
    row[1] = _mm256_unpackhi_epi64(a, c);
    row[2] = _mm256_unpacklo_epi64(b, d);
    row[3] = _mm256_unpackhi_epi64(b, d);
}

FAST __m128i fast_at_16(const uint8_t *from)
{
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

/* All lanes, 16 bytes each. */
FAST void fast_load_16(uint32_t *to, unsigned lanes, const uint8_t *base, const fast_place *place)
{
    base -= place->low;
    for (unsigned lane = 0; lane < lanes; lane += 8) {
        const uint32_t *index = place->index + lane;
        __m256i row[4], out[4];
        for (unsigned i = 0; i < 4; i++) {
            row[i] = _mm256_castsi128_si256(fast_at_16(base + index[i]));
            row[i] = _mm256_inserti128_si256(row[i], fast_at_16(base + index[i + 4]), 1);
        }
        fast_transpose(row, out);
        for (unsigned i = 0; i < 4; i++)
            fast_put(to + i * lanes + lane, out[i]);
    }
}

FAST void fast_store_16(const uint32_t *from, unsigned lanes, uint8_t *base, const fast_place *place)
{
    base -= place->low;
    for (unsigned lane = 0; lane < lanes; lane += 8) {
        const uint32_t *index = place->index + lane;
        __m256i in[4], row[4];
        for (unsigned i = 0; i < 4; i++)
            in[i] = fast_at(from + i * lanes + lane);
        fast_transpose(in, row);
        for (unsigned i = 0; i < 4; i++)
            _mm_storeu_si128((__m128i *)(void *)(base + index[i]), _mm256_castsi256_si128(row[i]));
        for (unsigned i = 0; i < 4; i++)
            _mm_storeu_si128((__m128i *)(void *)(base + index[i + 4]), _mm256_extracti128_si256(row[i], 1));
    }
}

FAST void fast_load_lane(uint32_t *to, unsigned lanes, unsigned dwords, unsigned apart, const uint8_t *from)
{
    for (unsigned i = 0; i < dwords; i++)
        memcpy(to + i * lanes, from + i * apart, 4);
}

/* Eight lanes, often at one address. */
FAST void fast_load_eight(uint32_t *to, unsigned lanes, unsigned dwords, unsigned apart, const uint8_t *base,
                          const uint32_t *index)
{
    __m256i differ = _mm256_xor_si256(fast_at(index), _mm256_set1_epi32((int)index[0]));
    if (_mm256_testz_si256(differ, differ)) {
        for (unsigned i = 0; i < dwords; i++) {
            uint32_t word;
            memcpy(&word, base + index[0] + i * apart, sizeof word);
            fast_put(to + i * lanes, _mm256_set1_epi32((int)word));
        }
        return;
    }
    for (unsigned lane = 0; lane < 8; lane++)
        fast_load_lane(to + lane, lanes, dwords, apart, base + index[lane]);
}

/* `dwords` registers from `to` on; the dwords of a lane are `apart` bytes apart. Lanes that are neither in a row nor of 16
 * bytes are read one by one: gathers are slow on many hosts. */
FAST void fast_load(uint32_t *to, unsigned lanes, unsigned dwords, unsigned apart, const uint8_t *base,
                    const fast_place *place)
{
    if (place->full && (dwords == 1 || apart != 4) && fast_in_a_row(lanes, place)) {
        for (unsigned i = 0; i < dwords; i++)
            memcpy(to + i * lanes, base + i * apart, lanes * 4);
        return;
    }
    if (place->full && dwords == 4 && apart == 4 && place->spread != 0) {
        fast_load_16(to, lanes, base, place);
        return;
    }
    base -= place->low;
    if (place->full) {
        for (unsigned lane = 0; lane < lanes; lane += 8)
            fast_load_eight(to + lane, lanes, dwords, apart, base, place->index + lane);
    } else {
        MEM_FOR_LANES(lane, place->exec)
        fast_load_lane(to + lane, lanes, dwords, apart, base + place->index[lane]);
    }
}

/* Bytes and halves. */
FAST uint32_t fast_small(mem_how how, const uint8_t *from)
{
    uint16_t half;
    if (how == MEM_U8)
        return from[0];
    if (how == MEM_I8)
        return (uint32_t)(int8_t)from[0];
    memcpy(&half, from, sizeof half);
    return how == MEM_U16 ? half : (uint32_t)(int16_t)half;
}

FAST void fast_load_small(uint32_t *to, unsigned lanes, mem_how how, const uint8_t *base,
                          const fast_place *place)
{
    base -= place->low;
    if (place->full) {
        for (unsigned lane = 0; lane < lanes; lane++)
            to[lane] = fast_small(how, base + place->index[lane]);
    } else {
        MEM_FOR_LANES(lane, place->exec)
        to[lane] = fast_small(how, base + place->index[lane]);
    }
}

/* --- stores --------------------------------------------------------------------------------------------- */

FAST void fast_store_lane(uint8_t *at, const uint32_t *from, unsigned lanes, unsigned bytes, unsigned apart)
{
    if (bytes < 4)
        memcpy(at, from, bytes);
    for (unsigned i = 0; i < bytes / 4; i++)
        memcpy(at + i * apart, from + i * lanes, 4);
}

/* In the order of lanes: the highest wins where two write the same place. */
FAST void fast_store(const uint32_t *from, unsigned lanes, unsigned bytes, unsigned apart, uint8_t *base,
                     const fast_place *place)
{
    if (place->full && (bytes == 4 || (bytes > 4 && apart != 4)) && fast_in_a_row(lanes, place)) {
        for (unsigned i = 0; i < bytes / 4; i++)
            memcpy(base + i * apart, from + i * lanes, lanes * 4);
    } else if (place->full && bytes == 16 && apart == 4) {
        fast_store_16(from, lanes, base, place);
    } else if (place->full) {
        base -= place->low;
        for (unsigned lane = 0; lane < lanes; lane++)
            fast_store_lane(base + place->index[lane], from + lane, lanes, bytes, apart);
    } else {
        base -= place->low;
        MEM_FOR_LANES(lane, place->exec)
        fast_store_lane(base + place->index[lane], from + lane, lanes, bytes, apart);
    }
}

/* --- bodies
 * -------------------------------------------------------------------------------------------------
 *
 * WHERE is the kind of address, n the bytes of a lane. */

#define FAST_APART(lanes, WHERE) ((WHERE) == 'p' ? (lanes)*4u : 4u)

FAST bool fast_find(amd_wave *wave, const amd_inst *inst, unsigned lanes, int where, unsigned n,
                    unsigned reach, bool write, fast_place *place)
{
    if (where == 'g')
        return fast_global(wave, inst, lanes, reach, write, place);
    if (where == 'p')
        return fast_private(wave, inst, lanes, n, write, place);
    return fast_lds(wave, inst, lanes, (uint32_t)inst->offset + n, n == 12 ? 16 : n, place);
}

FAST void fast_body_load(amd_wave *wave, const amd_inst *inst, unsigned lanes, int where, unsigned n,
                         mem_how how)
{
    fast_place place;
    fast_lanes(wave, lanes, &place);
    if (place.exec == 0)
        return;
    if (!fast_find(wave, inst, lanes, where, n, n, false, &place)) {
        mem_body(wave, inst);
        return;
    }
    const uint8_t *base = where == 'l' ? place.base + (uint32_t)inst->offset : place.base;
    uint32_t *to = mem_vgpr(wave, inst->vdst.code);
    if (n < 4)
        fast_load_small(to, lanes, how, base, &place);
    else
        fast_load(to, lanes, n / 4, FAST_APART(lanes, where), base, &place);
}

FAST void fast_body_store(amd_wave *wave, const amd_inst *inst, unsigned lanes, int where, unsigned n)
{
    fast_place place;
    fast_lanes(wave, lanes, &place);
    if (place.exec == 0)
        return;
    if (!fast_find(wave, inst, lanes, where, n, n, true, &place)) {
        mem_body(wave, inst);
        return;
    }
    uint8_t *base = where == 'l' ? place.base + (uint32_t)inst->offset : place.base;
    fast_store(mem_vgpr(wave, inst->src[1].code), lanes, n, FAST_APART(lanes, where), base, &place);
}

/* ds_read2, ds_write2: two places, offsets in elements. */
FAST void fast_body_two(amd_wave *wave, const amd_inst *inst, unsigned lanes, unsigned n, unsigned unit,
                        bool write)
{
    fast_place place;
    fast_lanes(wave, lanes, &place);
    if (place.exec == 0)
        return;
    uint32_t first = (uint32_t)inst->offset * unit, second = (uint32_t)inst->simm * unit;
    uint32_t reach = (first > second ? first : second) + n;
    fast_indices(mem_vgpr(wave, inst->src[0].code), lanes, &place);
    uint32_t limit = amd_mem_lds_bytes(wave);
    __m256i any = _mm256_setzero_si256();
    if (wave->target == AMD_GFX803)
        for (unsigned lane = 0; lane < lanes; lane += 8)
            any = _mm256_or_si256(any, fast_at(place.index + lane));
    if (reach > limit || place.low > limit - reach || place.spread > limit - reach - place.low ||
        !_mm256_testz_si256(any, _mm256_set1_epi32((int)(n - 1)))) {
        mem_body(wave, inst);
        return;
    }
    uint8_t *base = wave->group->lds + place.low;
    if (write) {
        fast_store(mem_vgpr(wave, inst->src[1].code), lanes, n, 4, base + first, &place);
        fast_store(mem_vgpr(wave, inst->src[2].code), lanes, n, 4, base + second, &place);
    } else {
        uint32_t *to = mem_vgpr(wave, inst->vdst.code);
        fast_load(to, lanes, n / 4, 4, base + first, &place);
        fast_load(to + n / 4 * lanes, lanes, n / 4, 4, base + second, &place);
    }
}

#define FAST_MAKE(lanes)                                                                                      \
    FAST_MOVES(lanes, g)                                                                                      \
    FAST_MOVES(lanes, l)                                                                                      \
    FAST_MOVES(lanes, p)                                                                                      \
    FAST_TWO(lanes, 4, 4) FAST_TWO(lanes, 8, 8) FAST_TWO(lanes, 4, 256) FAST_TWO(lanes, 8, 512)
#define FAST_MOVES(lanes, where)                                                                              \
    FAST_LOAD(lanes, where, 1, U8)                                                                            \
    FAST_LOAD(lanes, where, 1, I8)                                                                            \
    FAST_LOAD(lanes, where, 2, U16)                                                                           \
    FAST_LOAD(lanes, where, 2, I16)                                                                           \
    FAST_LOAD(lanes, where, 4, B32)                                                                           \
    FAST_LOAD(lanes, where, 8, B32)                                                                           \
    FAST_LOAD(lanes, where, 12, B32)                                                                          \
    FAST_LOAD(lanes, where, 16, B32)                                                                          \
    FAST_STORE(lanes, where, 1)                                                                               \
    FAST_STORE(lanes, where, 2)                                                                               \
    FAST_STORE(lanes, where, 4)                                                                               \
    FAST_STORE(lanes, where, 8) FAST_STORE(lanes, where, 12) FAST_STORE(lanes, where, 16)
#define FAST_CHAR_g 'g'
#define FAST_CHAR_l 'l'
#define FAST_CHAR_p 'p'
#define FAST_LOAD(lanes, where, n, how)                                                                       \
    FAST_BODY fast_load_##lanes##_##where##_##n##_##how(amd_wave *wave, const amd_inst *inst)                 \
    {                                                                                                         \
        fast_body_load(wave, inst, lanes, FAST_CHAR_##where, n, MEM_##how);                                   \
    }
#define FAST_STORE(lanes, where, n)                                                                           \
    FAST_BODY fast_store_##lanes##_##where##_##n(amd_wave *wave, const amd_inst *inst)                        \
    {                                                                                                         \
        fast_body_store(wave, inst, lanes, FAST_CHAR_##where, n);                                             \
    }
#define FAST_TWO(lanes, n, unit)                                                                              \
    FAST_BODY fast_read2_##lanes##_##n##_##unit(amd_wave *wave, const amd_inst *inst)                         \
    {                                                                                                         \
        fast_body_two(wave, inst, lanes, n, unit, false);                                                     \
    }                                                                                                         \
    FAST_BODY fast_write2_##lanes##_##n##_##unit(amd_wave *wave, const amd_inst *inst)                        \
    {                                                                                                         \
        fast_body_two(wave, inst, lanes, n, unit, true);                                                      \
    }
FAST_MAKE(32)
FAST_MAKE(64)
#undef FAST_LOAD
#undef FAST_STORE
#undef FAST_TWO

/* The same lists again, as a table. */
typedef struct fast_row {
    uint8_t lanes, where, write, bytes, how;
    uint16_t unit; /* of two places; else 0 */
    amd_body body;
} fast_row;
static const fast_row fast_rows[] = {
#define FAST_LOAD(lanes, where, n, how)                                                                       \
    { lanes, FAST_CHAR_##where, 0, n, MEM_##how, 0, fast_load_##lanes##_##where##_##n##_##how },
#define FAST_STORE(lanes, where, n)                                                                           \
    { lanes, FAST_CHAR_##where, 1, n, 0, 0, fast_store_##lanes##_##where##_##n },
#define FAST_TWO(lanes, n, unit)                                                                              \
    { lanes, 'l', 0, n, MEM_B32, unit, fast_read2_##lanes##_##n##_##unit },                                   \
        { lanes, 'l', 1, n, 0, unit, fast_write2_##lanes##_##n##_##unit },
    FAST_MAKE(32) FAST_MAKE(64)
};

static amd_body fast_find_vector(unsigned lanes, const amd_inst *inst, const mem_row *row)
{
    if (!__builtin_cpu_supports("avx2") || row->family != MEM_MOVE || row->kind == AMD_ACCESS_ATOMIC ||
        (row->flags & ~(unsigned)(MEM_TWO | MEM_ST64)) != 0 || (inst->flags & (AMD_TFE | AMD_LDS)) != 0)
        return NULL;
    bool write = row->kind == AMD_ACCESS_STORE;
    if (write && (row->how == MEM_U8_HIGH || row->how == MEM_B16_HIGH))
        return NULL;
    int where = inst->format == AMD_DS ? 'l' : 'g';
    if (inst->format == AMD_MUBUF) {
        if ((inst->flags & AMD_IDXEN) || row->how == MEM_FORMAT || row->how == MEM_FORMAT_D16)
            return NULL;
        where = 'p';
    } else if (inst->format != AMD_DS && inst->format != AMD_FLAT && inst->format != AMD_GLOBAL) {
        return NULL;
    }
    unsigned unit = row->flags & MEM_TWO ? row->bytes * (row->flags & MEM_ST64 ? 64u : 1u) : 0;
    for (size_t i = 0; i < sizeof fast_rows / sizeof fast_rows[0]; i++) {
        const fast_row *fast = &fast_rows[i];
        if (fast->lanes == lanes && fast->where == where && fast->write == write &&
            fast->bytes == row->bytes && (write || fast->how == row->how) && fast->unit == unit)
            return fast->body;
    }
    return NULL;
}

#else

static amd_body fast_find_vector(unsigned lanes, const amd_inst *inst, const mem_row *row)
{
    (void)lanes;
    (void)inst;
    (void)row;
    return NULL;
}

#endif

amd_body mem_fast_find(amd_target target, unsigned lanes, const amd_inst *inst, const mem_row *row)
{
    (void)target;
    if (inst->format == AMD_SMEM)
        return fast_find_scalar(inst, row);
    return fast_find_vector(lanes, inst, row);
}

/* memory_direct.c: entries of direct lists (direct.h) for loads and stores: all lanes active, one allocation or LDS, no
 * special flag. Sixteen lanes at a time, on hosts with AVX-512. Lanes at the same address or one behind the other, the
 * two usual patterns, move as vectors; others move one by one, because gathers are slow on many hosts. An access that is
 * out of range has moved nothing yet and goes to the body, which finds the fault. */
#include "isa/amd/exec/direct.h"
#include "isa/amd/exec/exec.h"
#include "isa/amd/exec/memory_impl.h"

/* --- scalar loads --------------------------------------------------------------------------------------- */

static inline uint64_t direct_word64(const amd_wave *w, uint32_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)w + offset, sizeof value);
    return value;
}

/* The extent around an address that the instruction used last, or used now; NULL if there is none. */
static inline const memory_extent *direct_extent(amd_memory *memory, const amd_direct *s, uint64_t address,
                                                 bool write)
{
    const memory_extent *extent = &memory->last[write][s->k[2]];
    if (__builtin_expect(address >= extent->start && address < extent->end, 1))
        return extent;
    return mem_extent(memory, s->k[2], address, write) ? extent : NULL;
}

#define DIRECT_SCALAR(bytes)                                                                                  \
    static const amd_direct *direct_scalar_##bytes(amd_wave *w, const amd_direct *s)                          \
    {                                                                                                         \
        amd_memory *memory = w->group->memory;                                                                \
        uint64_t address = (direct_word64(w, s->src[0]) & ~3ull) + s->k64[0] + DIRECT_WORD(w, s->src[1]);     \
        address &= ~3ull;                                                                                     \
        const memory_extent *extent = direct_extent(memory, s, address, false);                               \
        if (!extent || extent->end - address < (bytes))                                                       \
            DIRECT_BODY(w, s);                                                                                \
        memcpy((char *)w + s->d, memory->view.host + (address - LS_WINDOW_BASE), bytes);                      \
        DIRECT_NEXT(w, s);                                                                                    \
    }
DIRECT_SCALAR(4)
DIRECT_SCALAR(8)
DIRECT_SCALAR(16)
DIRECT_SCALAR(32)
DIRECT_SCALAR(64)
#undef DIRECT_SCALAR

static bool direct_find_scalar(const amd_inst *inst, const mem_row *row, amd_direct *out)
{
    bool offset = inst->flags & AMD_SOFFSET_REG;
    if (row->kind != AMD_ACCESS_LOAD || row->family != MEM_MOVE || row->flags != 0 ||
        (offset && inst->src[1].code >= AMD_INT_0) || inst->sdst.code + row->bytes / 4u > AMD_NULL ||
        inst->src[0].code >= AMD_NULL)
        return false;
    out->d = amd_direct_sgpr(inst->sdst.code);
    out->src[0] = amd_direct_sgpr(inst->src[0].code);
    out->src[1] = offset ? amd_direct_sgpr(inst->src[1].code) : (uint32_t)offsetof(amd_wave, zero);
    out->k64[0] = (uint64_t)(int64_t)inst->offset;
    out->run = row->bytes == 4    ? direct_scalar_4
               : row->bytes == 8  ? direct_scalar_8
               : row->bytes == 16 ? direct_scalar_16
               : row->bytes == 32 ? direct_scalar_32
               : row->bytes == 64 ? direct_scalar_64
                                  : NULL;
    return out->run != NULL;
}

#if defined(__x86_64__)

#include <immintrin.h>

#define WIDE_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), always_inline)) static inline

/* --- where lanes are ------------------------------------------------------------------------------------ */

/* Lane l is at base + address[l]. */
typedef struct wide_place {
    uint8_t *base;
    const uint32_t *address;
} wide_place;

WIDE __m512i wide_at(const void *from)
{
    return _mm512_loadu_si512(from);
}

WIDE const uint32_t *wide_vgpr(const amd_wave *w, uint32_t offset)
{
    return (const uint32_t *)(const void *)((const char *)w->vgpr + offset);
}

/* FLAT and GLOBAL: one upper half of addresses for all lanes, or a base in scalar registers. */
WIDE bool wide_global(const amd_wave *w, const amd_direct *s, unsigned lanes, unsigned bytes, bool saddr,
                      bool write, wide_place *place)
{
    const uint32_t *low = wide_vgpr(w, s->src[0]);
    uint64_t base = s->k64[0];
    if (saddr) {
        base += direct_word64(w, s->src[2]);
    } else {
        const __m512i first = _mm512_set1_epi32((int)low[lanes]);
        unsigned differ = 0;
        for (unsigned i = 0; i < lanes; i += 16)
            differ |= _mm512_cmpneq_epi32_mask(wide_at(low + lanes + i), first);
        if (differ != 0)
            return false;
        base += (uint64_t)low[lanes] << 32;
    }
    amd_memory *memory = w->group->memory;
    const memory_extent *extent = direct_extent(memory, s, base + low[0], write);
    if (!extent || base > UINT64_MAX / 2 || extent->end - base < bytes)
        return false;
    uint64_t least = extent->start > base ? extent->start - base : 0, most = extent->end - base - bytes;
    if (most > UINT32_MAX)
        most = UINT32_MAX;
    if (least > most)
        return false;
    const __m512i start = _mm512_set1_epi32((int)(uint32_t)least);
    const __m512i range = _mm512_set1_epi32((int)(uint32_t)(most - least));
    unsigned out = 0;
    for (unsigned i = 0; i < lanes; i += 16)
        out |= _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(wide_at(low + i), start), range);
    place->base = memory->view.host + (base - LS_WINDOW_BASE);
    place->address = low;
    return out == 0;
}

/* LDS: `reach` is how far beyond a lane's address it accesses, offsets included. */
WIDE bool wide_lds(const amd_wave *w, const amd_direct *s, unsigned lanes, uint32_t reach, wide_place *place)
{
    const uint32_t *low = wide_vgpr(w, s->src[0]);
    uint32_t limit = w->group->lds_bytes;
    if (reach > limit)
        return false;
    const __m512i range = _mm512_set1_epi32((int)(limit - reach));
    unsigned out = 0;
    for (unsigned i = 0; i < lanes; i += 16)
        out |= _mm512_cmpgt_epu32_mask(wide_at(low + i), range);
    place->base = w->group->lds;
    place->address = low;
    return out == 0;
}

/* --- sixteen lanes -------------------------------------------------------------------------------------- */

typedef enum wide_pattern { WIDE_SAME, WIDE_ROW, WIDE_OTHER } wide_pattern;

/* The addresses of 16 lanes, kept apart from the registers: a load may overwrite these. */
typedef struct wide_group {
    uint32_t at[16] __attribute__((aligned(64)));
    wide_pattern pattern; /* ROW: `bytes` apart */
} wide_group;

WIDE void wide_look(const uint32_t *address, unsigned bytes, wide_group *group)
{
    const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i at = wide_at(address), apart = _mm512_sub_epi32(at, _mm512_set1_epi32((int)address[0]));
    _mm512_store_si512(group->at, at);
    if (_mm512_cmpneq_epi32_mask(apart, _mm512_mullo_epi32(iota, _mm512_set1_epi32((int)bytes))) == 0)
        group->pattern = WIDE_ROW;
    else
        group->pattern = _mm512_test_epi32_mask(apart, apart) == 0 ? WIDE_SAME : WIDE_OTHER;
}

/* Dwords of 16 lanes that lie one behind the other, a lane's dwords together, become one vector per dword. */
WIDE void wide_load_pairs(uint32_t *to, unsigned lanes, const uint8_t *from)
{
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    __m512i a = wide_at(from), b = wide_at(from + 64);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi32(a, even, b));
    _mm512_storeu_si512(to + lanes, _mm512_permutex2var_epi32(a, odd, b));
}

WIDE void wide_load_fours(uint32_t *to, unsigned lanes, const uint8_t *from)
{
    const __m512i xy = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    const __m512i zw = _mm512_add_epi32(xy, _mm512_set1_epi32(2));
    __m512i a = wide_at(from), b = wide_at(from + 64), c = wide_at(from + 128), d = wide_at(from + 192);
    __m512i xy0 = _mm512_permutex2var_epi32(a, xy, b), xy1 = _mm512_permutex2var_epi32(c, xy, d);
    __m512i zw0 = _mm512_permutex2var_epi32(a, zw, b), zw1 = _mm512_permutex2var_epi32(c, zw, d);
    _mm512_storeu_si512(to, _mm512_shuffle_i64x2(xy0, xy1, 0x44));
    _mm512_storeu_si512(to + lanes, _mm512_shuffle_i64x2(xy0, xy1, 0xee));
    _mm512_storeu_si512(to + 2 * lanes, _mm512_shuffle_i64x2(zw0, zw1, 0x44));
    _mm512_storeu_si512(to + 3 * lanes, _mm512_shuffle_i64x2(zw0, zw1, 0xee));
}

/* 16 bytes of lanes anywhere. */
WIDE void wide_load_fours_apart(uint32_t *to, unsigned lanes, const uint8_t *base, const uint32_t *at)
{
    for (unsigned i = 0; i < 16; i += 4) {
        __m128 row[4];
        for (unsigned k = 0; k < 4; k++)
            row[k] = _mm_loadu_ps((const float *)(const void *)(base + at[i + k]));
        _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
        for (unsigned k = 0; k < 4; k++)
            _mm_storeu_ps((float *)(void *)(to + k * lanes + i), row[k]);
    }
}

WIDE uint32_t wide_word(const uint8_t *from)
{
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* `dwords` registers of 16 lanes. */
WIDE void wide_load(uint32_t *to, unsigned lanes, unsigned dwords, const uint8_t *base,
                    const wide_group *group)
{
    const uint32_t *at = group->at;
    if (group->pattern == WIDE_SAME) {
        for (unsigned k = 0; k < dwords; k++)
            _mm512_storeu_si512(to + k * lanes, _mm512_set1_epi32((int)wide_word(base + at[0] + 4 * k)));
    } else if (group->pattern == WIDE_ROW && dwords == 1) {
        _mm512_storeu_si512(to, wide_at(base + at[0]));
    } else if (group->pattern == WIDE_ROW && dwords == 2) {
        wide_load_pairs(to, lanes, base + at[0]);
    } else if (group->pattern == WIDE_ROW && dwords == 4) {
        wide_load_fours(to, lanes, base + at[0]);
    } else if (dwords == 4) {
        wide_load_fours_apart(to, lanes, base, at);
    } else {
        for (unsigned i = 0; i < 16; i++)
            for (unsigned k = 0; k < dwords; k++)
                to[i + k * lanes] = wide_word(base + at[i] + 4 * k);
    }
}

/* In the order of lanes: the highest wins where two write the same place. */
WIDE void wide_store(const uint32_t *from, unsigned lanes, unsigned bytes, uint8_t *base,
                     const wide_group *group)
{
    const uint32_t *at = group->at;
    if (group->pattern == WIDE_ROW && bytes == 4) {
        _mm512_storeu_si512(base + at[0], wide_at(from));
    } else if (bytes == 16) {
        for (unsigned i = 0; i < 16; i += 4) {
            __m128 row[4];
            for (unsigned k = 0; k < 4; k++)
                row[k] = _mm_loadu_ps((const float *)(const void *)(from + k * lanes + i));
            _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
            for (unsigned k = 0; k < 4; k++)
                _mm_storeu_ps((float *)(void *)(base + at[i + k]), row[k]);
        }
    } else if (bytes < 4) {
        for (unsigned i = 0; i < 16; i++)
            memcpy(base + at[i], from + i, bytes);
    } else {
        for (unsigned i = 0; i < 16; i++)
            for (unsigned k = 0; k < bytes / 4; k++)
                memcpy(base + at[i] + 4 * k, from + i + k * lanes, 4);
    }
}

/* --- entries -------------------------------------------------------------------------------------------- */

WIDE bool wide_find(const amd_wave *w, const amd_direct *s, unsigned lanes, int where, unsigned n, bool write,
                    wide_place *place)
{
    if (where != 'l')
        return wide_global(w, s, lanes, n, where == 's', write, place);
    bool good = wide_lds(w, s, lanes, s->k[0] + n, place);
    place->base += s->k[0];
    return good;
}

#define WIDE_ENTRY(name, lanes, where, n, write, ...)                                                         \
    WIDE_TARGET static const amd_direct *name(amd_wave *w, const amd_direct *s)                               \
    {                                                                                                         \
        wide_place place;                                                                                     \
        if (__builtin_expect(!wide_find(w, s, lanes, where, n, write, &place), 0))                            \
            DIRECT_BODY(w, s);                                                                                \
        uint32_t *reg = (uint32_t *)(void *)((char *)w->vgpr + ((write) ? s->src[1] : s->d));                 \
        for (unsigned i = 0; i < (lanes); i += 16) {                                                          \
            __VA_ARGS__                                                                                       \
        }                                                                                                     \
        DIRECT_NEXT(w, s);                                                                                    \
    }
#define WIDE_LOAD(lanes, where, n)                                                                            \
    WIDE_ENTRY(wide_load_##lanes##_##where##_##n, lanes, WIDE_CHAR_##where, n, false, wide_group group;       \
               wide_look(place.address + i, n, &group);                                                       \
               wide_load(reg + i, lanes, (n) / 4, place.base, &group);)
#define WIDE_STORE(lanes, where, n)                                                                           \
    WIDE_ENTRY(wide_store_##lanes##_##where##_##n, lanes, WIDE_CHAR_##where, n, true, wide_group group;       \
               wide_look(place.address + i, n, &group); wide_store(reg + i, lanes, n, place.base, &group);)
/* Bytes and halves: the address register may be the destination, lane by lane. */
#define WIDE_SMALL(lanes, where, n, how, type)                                                                \
    WIDE_ENTRY(                                                                                               \
        wide_load_##lanes##_##where##_##how, lanes, WIDE_CHAR_##where, n, false,                              \
        for (unsigned lane = i; lane < i + 16; lane++) {                                                      \
            type value;                                                                                       \
            memcpy(&value, place.base + place.address[lane], sizeof value);                                   \
            reg[lane] = (uint32_t)(int32_t)value;                                                             \
        })
#define WIDE_CHAR_g 'g'
#define WIDE_CHAR_s 's'
#define WIDE_CHAR_l 'l'

/* ds_read2, ds_write2: k[0] and k[1] are the places' offsets in bytes, k[3] how far the farther one reaches. */
WIDE bool wide_two(amd_wave *w, const amd_direct *s, unsigned lanes, unsigned n, bool write)
{
    wide_place place;
    if (!wide_lds(w, s, lanes, s->k[3], &place))
        return false;
    uint8_t *first = place.base + s->k[0], *second = place.base + s->k[1];
    uint32_t *to = (uint32_t *)(void *)((char *)w->vgpr + s->d);
    for (unsigned i = 0; i < lanes; i += 16) {
        wide_group group;
        wide_look(place.address + i, n, &group);
        if (write) {
            wide_store(wide_vgpr(w, s->src[1]) + i, lanes, n, first, &group);
        } else {
            wide_load(to + i, lanes, n / 4, first, &group);
            wide_load(to + n / 4 * lanes + i, lanes, n / 4, second, &group);
        }
    }
    for (unsigned i = 0; write && i < lanes; i += 16) {
        wide_group group;
        wide_look(place.address + i, n, &group);
        wide_store(wide_vgpr(w, s->src[2]) + i, lanes, n, second, &group);
    }
    return true;
}
#define WIDE_TWO(lanes, n)                                                                                    \
    WIDE_TARGET static const amd_direct *wide_read2_##lanes##_##n(amd_wave *w, const amd_direct *s)           \
    {                                                                                                         \
        if (!wide_two(w, s, lanes, n, false))                                                                 \
            DIRECT_BODY(w, s);                                                                                \
        DIRECT_NEXT(w, s);                                                                                    \
    }                                                                                                         \
    WIDE_TARGET static const amd_direct *wide_write2_##lanes##_##n(amd_wave *w, const amd_direct *s)          \
    {                                                                                                         \
        if (!wide_two(w, s, lanes, n, true))                                                                  \
            DIRECT_BODY(w, s);                                                                                \
        DIRECT_NEXT(w, s);                                                                                    \
    }

#define WIDE_MOVES(lanes, where)                                                                              \
    WIDE_LOAD(lanes, where, 4)                                                                                \
    WIDE_LOAD(lanes, where, 8)                                                                                \
    WIDE_LOAD(lanes, where, 12)                                                                               \
    WIDE_LOAD(lanes, where, 16)                                                                               \
    WIDE_SMALL(lanes, where, 1, U8, uint8_t)                                                                  \
    WIDE_SMALL(lanes, where, 1, I8, int8_t)                                                                   \
    WIDE_SMALL(lanes, where, 2, U16, uint16_t)                                                                \
    WIDE_SMALL(lanes, where, 2, I16, int16_t)                                                                 \
    WIDE_STORE(lanes, where, 1)                                                                               \
    WIDE_STORE(lanes, where, 2)                                                                               \
    WIDE_STORE(lanes, where, 4)                                                                               \
    WIDE_STORE(lanes, where, 8) WIDE_STORE(lanes, where, 12) WIDE_STORE(lanes, where, 16)
#define WIDE_ALL(lanes)                                                                                       \
    WIDE_MOVES(lanes, g) WIDE_MOVES(lanes, s) WIDE_MOVES(lanes, l) WIDE_TWO(lanes, 4) WIDE_TWO(lanes, 8)
WIDE_ALL(32)
WIDE_ALL(64)
#undef WIDE_LOAD
#undef WIDE_STORE
#undef WIDE_SMALL
#undef WIDE_TWO

/* The same list again, as a table. */
typedef struct wide_row {
    uint8_t lanes, where, write, bytes, how, two;
    amd_run run;
} wide_row;
static const wide_row wide_rows[] = {
#define WIDE_LOAD(lanes, where, n)                                                                            \
    { lanes, WIDE_CHAR_##where, 0, n, MEM_B32, 0, wide_load_##lanes##_##where##_##n },
#define WIDE_SMALL(lanes, where, n, how, type)                                                                \
    { lanes, WIDE_CHAR_##where, 0, n, MEM_##how, 0, wide_load_##lanes##_##where##_##how },
#define WIDE_STORE(lanes, where, n)                                                                           \
    { lanes, WIDE_CHAR_##where, 1, n, MEM_B32, 0, wide_store_##lanes##_##where##_##n },
#define WIDE_TWO(lanes, n)                                                                                    \
    { lanes, 'l', 0, n, MEM_B32, 1, wide_read2_##lanes##_##n },                                               \
        { lanes, 'l', 1, n, MEM_B32, 1, wide_write2_##lanes##_##n },
    WIDE_ALL(32) WIDE_ALL(64)
};

/* Offsets, by the kind of address. */
static void direct_offsets(const amd_inst *inst, const mem_row *row, amd_direct *out)
{
    if (inst->format != AMD_DS) {
        out->k64[0] = (uint64_t)(int64_t)inst->offset;
        return;
    }
    uint32_t unit = row->flags & MEM_TWO ? row->bytes * (row->flags & MEM_ST64 ? 64u : 1u) : 1u;
    out->k[0] = (uint32_t)inst->offset * unit;
    out->k[1] = (uint32_t)inst->simm * unit;
    out->k[3] = (out->k[0] > out->k[1] ? out->k[0] : out->k[1]) + row->bytes;
}

static bool direct_find_vector(unsigned lanes, const amd_inst *inst, const mem_row *row, amd_direct *out)
{
    bool write = row->kind == AMD_ACCESS_STORE, two = row->flags & MEM_TWO;
    if (strcmp(amd_exec_variant(), "avx512") != 0 || row->family != MEM_MOVE ||
        (row->kind != AMD_ACCESS_LOAD && !write) || (row->flags & ~(unsigned)(MEM_TWO | MEM_ST64)) != 0 ||
        (inst->flags & (AMD_TFE | AMD_LDS | AMD_GDS)) != 0 ||
        (write && (row->how == MEM_U8_HIGH || row->how == MEM_B16_HIGH)) ||
        (inst->format != AMD_DS && inst->format != AMD_FLAT && inst->format != AMD_GLOBAL))
        return false;
    int where = inst->format == AMD_DS ? 'l' : inst->flags & AMD_SADDR ? 's' : 'g';
    if (where == 's' && inst->src[2].code >= AMD_NULL)
        return false;
    for (unsigned k = 0; k < 3; k++)
        if (inst->src[k].code >= AMD_VGPR && inst->src[k].code != AMD_NO_OPERAND)
            out->src[k] = (inst->src[k].code - AMD_VGPR) * lanes * 4;
    if (where == 's')
        out->src[2] = amd_direct_sgpr(inst->src[2].code);
    if (!write)
        out->d = (inst->vdst.code - AMD_VGPR) * lanes * 4;
    direct_offsets(inst, row, out);
    for (size_t i = 0; i < sizeof wide_rows / sizeof wide_rows[0] && !out->run; i++) {
        const wide_row *wide = &wide_rows[i];
        if (wide->lanes == lanes && wide->where == where && wide->write == write &&
            wide->bytes == row->bytes && (write || wide->how == row->how) && wide->two == two)
            out->run = wide->run;
    }
    return out->run != NULL;
}

#else

static bool direct_find_vector(unsigned lanes, const amd_inst *inst, const mem_row *row, amd_direct *out)
{
    (void)lanes, (void)inst, (void)row, (void)out;
    return false;
}

#endif

bool amd_direct_memory(amd_target target, unsigned lanes, const amd_inst *inst, amd_direct *out)
{
    const mem_row *row = mem_row_of(inst);
    if (!row)
        return false;
    out->run = NULL;
    if (inst->format == AMD_SMEM) {
        out->k[2] = mem_slot(inst);
        return direct_find_scalar(inst, row, out);
    }
    if (target == AMD_GFX803 && inst->format == AMD_DS)
        return false; /* alignment, and a limit in M0 */
    if (inst->format != AMD_DS)
        out->k[2] = mem_slot(inst);
    return direct_find_vector(lanes, inst, row, out);
}

/* kernel.h: macros around the statement of a row: they load a lane's operands and store its result, by type,
 * and apply the NaN rule. Only for the files that stamp kernels. */
#ifndef ISA_AMD_EXEC_KERNEL_H
#define ISA_AMD_EXEC_KERNEL_H

#include "isa/amd/exec/floats.h"
#include "isa/amd/exec/halves.h"
#include "isa/amd/exec/lanes.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__clang__)
#define LANES_LOOP _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < LANES; i++)
#define HALVES_LOOP_(n) _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < (n); i++)
#else
#define LANES_LOOP _Pragma("GCC ivdep") for (unsigned i = 0; i < LANES; i++)
#define HALVES_LOOP_(n) _Pragma("GCC ivdep") for (unsigned i = 0; i < (n); i++)
#endif
#define LANES_ARRAY(name, planes) uint32_t name[(planes)*LANES] __attribute__((aligned(64)))

/* --- types ---------------------------------------------------------------------------------------------- */

/* 16-bit integers are held in 32 bits, so that C's promotions are the arithmetic one reads. */
#define TYPE_U32 uint32_t
#define TYPE_I32 int32_t
#define TYPE_F32 float
#define TYPE_U64 uint64_t
#define TYPE_I64 int64_t
#define TYPE_F64 double
#define TYPE_U16 uint32_t
#define TYPE_I16 int32_t
#define TYPE_F16 float
#define TYPE_Q32 uint32_t
#define TYPE_Q64 uint64_t
#define TYPE_Q16 uint32_t
#define TYPE_P16 uint32_t
#define TYPE_PF16 uint32_t
#define TYPE_MASK uint32_t

#define LOAD_U32(p) (p[i])
#define LOAD_I32(p) ((int32_t)p[i])
#define LOAD_F32(p) f32_of(p[i])
#define LOAD_U64(p) ((uint64_t)p[i + LANES] << 32 | p[i])
#define LOAD_I64(p) ((int64_t)LOAD_U64(p))
#define LOAD_F64(p) f64_of(LOAD_U64(p))
#define LOAD_U16(p) (p[i] & 0xffffu)
#define LOAD_I16(p) ((int32_t)(p[i] << 16) >> 16)
#define LOAD_F16(p) f16_in(p[i], w)
#define LOAD_Q32(p) (p[i])
#define LOAD_Q64(p) LOAD_U64(p)
#define LOAD_Q16(p) LOAD_U16(p)
#define LOAD_P16(p) (p[i])
#define LOAD_PF16(p) (p[i])
#define LOAD_MASK(p) (p[i])

#define STORE_U32(t, v) t[i] = (v)
#define STORE_I32(t, v) t[i] = (uint32_t)(v)
#define STORE_F32(t, v) t[i] = f32_bits(v)
#define STORE_U64(t, v)                                                                                       \
    do {                                                                                                      \
        uint64_t v_ = (v);                                                                                    \
        t[i] = (uint32_t)v_;                                                                                  \
        t[i + LANES] = (uint32_t)(v_ >> 32);                                                                  \
    } while (0)
#define STORE_I64(t, v) STORE_U64(t, (uint64_t)(v))
#define STORE_F64(t, v) STORE_U64(t, f64_bits(v))
#define STORE_U16(t, v) t[i] = (v)&0xffffu
#define STORE_I16(t, v) t[i] = (uint32_t)(v)&0xffffu
#define STORE_F16(t, v) t[i] = f16_out(v, w)
#define STORE_Q32(t, v) t[i] = (v)
#define STORE_PF16(t, v) t[i] = (v)
#define STORE_Q64(t, v) STORE_U64(t, v)
#define STORE_Q16(t, v) t[i] = (v)

/* A half of a packed operand as a value, and back. Q16: raw bits of a half-precision number, for statements
 * that compare or pick. */
#define HALF_U16(x) (x)
#define HALF_I16(x) ((int32_t)((x) << 16) >> 16)
#define HALF_Q16(x) (x)
#define BITS_U16(v) (v)
#define BITS_I16(v) ((uint32_t)(v))
#define BITS_Q16(v) (v)
static inline uint32_t kernel_nan_16(uint32_t r, uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t nan = f16_is_nan(x)   ? x | 0x200u
                   : f16_is_nan(y) ? y | 0x200u
                   : f16_is_nan(z) ? z | 0x200u
                                   : 0xfe00u;
    return f16_is_nan(r) ? nan : r;
}

/* --- writing -------------------------------------------------------------------------------------------- */

#define COPY_32_(t)                                                                                           \
    LANES_LOOP                                                                                                \
    d[i] = t[i]
#define COPY_64_(t)                                                                                           \
    LANES_LOOP                                                                                                \
    d[i] = t[i];                                                                                              \
    LANES_LOOP                                                                                                \
    d[i + LANES] = t[i + LANES]
#define COPY_F32(t) COPY_32_(t)
#define COPY_F16(t) COPY_32_(t)
#define COPY_F64(t) COPY_64_(t)

#define WRITE_32_(t)                                                                                          \
    if (__builtin_expect(mask == lanes_ones, 1)) {                                                            \
        COPY_32_(t);                                                                                          \
    } else {                                                                                                  \
        LANES_LOOP                                                                                            \
        d[i] = (t[i] & mask[i]) | (d[i] & ~mask[i]);                                                          \
    }
#define WRITE_64_(t)                                                                                          \
    if (__builtin_expect(mask == lanes_ones, 1)) {                                                            \
        COPY_64_(t);                                                                                          \
    } else {                                                                                                  \
        LANES_LOOP                                                                                            \
        d[i] = (t[i] & mask[i]) | (d[i] & ~mask[i]);                                                          \
        LANES_LOOP                                                                                            \
        d[i + LANES] = (t[i + LANES] & mask[i]) | (d[i + LANES] & ~mask[i]);                                  \
    }
#define WRITE_U32(t) WRITE_32_(t)
#define WRITE_I32(t) WRITE_32_(t)
#define WRITE_F32(t) WRITE_32_(t)
#define WRITE_U16(t) WRITE_32_(t)
#define WRITE_I16(t) WRITE_32_(t)
#define WRITE_F16(t) WRITE_32_(t)
#define WRITE_Q32(t) WRITE_32_(t)
#define WRITE_PF16(t) WRITE_32_(t)
#define WRITE_Q16(t) WRITE_32_(t)
#define WRITE_Q64(t) WRITE_64_(t)
#define WRITE_U64(t) WRITE_64_(t)
#define WRITE_I64(t) WRITE_64_(t)
#define WRITE_F64(t) WRITE_64_(t)

/* --- NaN ------------------------------------------------------------------------------------------------ */

/* The host compiler's operand order decides which of several NaN sources an addition returns. So a NaN result
 * is replaced: by the first NaN source, made quiet, or by the default NaN. */
static inline uint32_t kernel_nan_32(uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t r = f32_is_nan(z) ? z | 0x400000u : 0xffc00000u;
    r = f32_is_nan(y) ? y | 0x400000u : r;
    return f32_is_nan(x) ? x | 0x400000u : r;
}
static inline uint64_t kernel_nan_64(uint64_t x, uint64_t y, uint64_t z)
{
    const uint64_t quiet = UINT64_C(0x8000000000000);
    uint64_t r = f64_is_nan(z) ? z | quiet : UINT64_C(0xfff8000000000000);
    r = f64_is_nan(y) ? y | quiet : r;
    return f64_is_nan(x) ? x | quiet : r;
}
#define NAN_F32_1 kernel_nan_32(a[i], 0, 0)
#define NAN_F32_2 kernel_nan_32(a[i], b[i], 0)
#define NAN_F32_3 kernel_nan_32(a[i], b[i], c[i])
#define NAN_F16_1 kernel_nan_16(0x7e00u, LOAD_U16(a), 0, 0)
#define NAN_F16_2 kernel_nan_16(0x7e00u, LOAD_U16(a), LOAD_U16(b), 0)
#define NAN_F16_3 kernel_nan_16(0x7e00u, LOAD_U16(a), LOAD_U16(b), LOAD_U16(c))
#define NAN_F64_1 kernel_nan_64(LOAD_U64(a), 0, 0)
#define NAN_F64_2 kernel_nan_64(LOAD_U64(a), LOAD_U64(b), 0)
#define NAN_F64_3 kernel_nan_64(LOAD_U64(a), LOAD_U64(b), LOAD_U64(c))

#define FIX_F32(t, nan)                                                                                       \
    {                                                                                                         \
        uint32_t n_ = nan, r_ = f32_is_nan(t[i]) ? n_ : t[i];                                                 \
        d[i] = (r_ & mask[i]) | (d[i] & ~mask[i]);                                                            \
    }
#define FIX_F16(t, nan)                                                                                       \
    {                                                                                                         \
        uint32_t n_ = nan, r_ = f16_is_nan(t[i]) ? n_ : t[i];                                                 \
        d[i] = (r_ & mask[i]) | (d[i] & ~mask[i]);                                                            \
    }
#define FIX_F64(t, nan)                                                                                       \
    {                                                                                                         \
        uint64_t n_ = nan, r_ = f64_is_nan(LOAD_U64(t)) ? n_ : LOAD_U64(t);                                   \
        d[i] = ((uint32_t)r_ & mask[i]) | (d[i] & ~mask[i]);                                                  \
        d[i + LANES] = ((uint32_t)(r_ >> 32) & mask[i]) | (d[i + LANES] & ~mask[i]);                          \
    }

#define ANY_NAN_F32(t) LANES_PASTE(any_nan, f32, LANES)(t)
#define ANY_NAN_F64(t) LANES_PASTE(any_nan, f64, LANES)(t)
#define LANES_BITS(t) LANES_PASTE(lanes, bits, LANES)(t)

#define KERNEL_HELPERS_(N)                                                                                    \
    static inline bool any_nan_f32_##N(const uint32_t *t)                                                     \
    {                                                                                                         \
        return kernel_any_nan(t, N);                                                                          \
    }                                                                                                         \
    static inline bool any_nan_f64_##N(const uint32_t *t)                                                     \
    {                                                                                                         \
        uint32_t bad = 0; /* infinity counts too: it only takes the longer way */                             \
        for (unsigned i = 0; i < N; i++)                                                                      \
            bad |= (t[i + N] & 0x7ff00000u) == 0x7ff00000u ? UINT32_MAX : 0;                                  \
        return bad != 0;                                                                                      \
    }                                                                                                         \
    static inline uint64_t lanes_bits_##N(const uint32_t *t)                                                  \
    {                                                                                                         \
        uint64_t bits = 0;                                                                                    \
        for (unsigned i = 0; i < N; i += KERNEL_GROUP_)                                                       \
            bits |= (uint64_t)kernel_signs(t + i) << i;                                                       \
        return bits;                                                                                          \
    }

/* kernel_signs: the sign bits of a group of words. kernel_any_nan: looks at two words at a time, because a
 * compare is unordered if either is a NaN. */
#if defined(__AVX512DQ__)
#define KERNEL_GROUP_ 16
static inline __m512 kernel_group(const uint32_t *t)
{
    return _mm512_load_ps((const float *)(const void *)t);
}
static inline unsigned kernel_signs(const uint32_t *t)
{
    return (unsigned)_mm512_movepi32_mask(_mm512_castps_si512(kernel_group(t)));
}
static inline bool kernel_any_nan(const uint32_t *t, unsigned n)
{
    unsigned bad = 0;
    for (unsigned i = 0; i < n; i += 32)
        bad |= _mm512_cmp_ps_mask(kernel_group(t + i), kernel_group(t + i + 16), _CMP_UNORD_Q);
    return bad != 0;
}
#elif defined(__AVX2__)
#define KERNEL_GROUP_ 8
static inline __m256 kernel_group(const uint32_t *t)
{
    return _mm256_load_ps((const float *)(const void *)t);
}
static inline unsigned kernel_signs(const uint32_t *t)
{
    return (unsigned)_mm256_movemask_ps(kernel_group(t));
}
static inline bool kernel_any_nan(const uint32_t *t, unsigned n)
{
    __m256 bad = _mm256_cmp_ps(kernel_group(t), kernel_group(t + 8), _CMP_UNORD_Q);
    for (unsigned i = 16; i < n; i += 16)
        bad = _mm256_or_ps(bad, _mm256_cmp_ps(kernel_group(t + i), kernel_group(t + i + 8), _CMP_UNORD_Q));
    return _mm256_movemask_ps(bad) != 0;
}
#elif defined(__SSE2__)
#define KERNEL_GROUP_ 4
static inline __m128 kernel_group(const uint32_t *t)
{
    return _mm_load_ps((const float *)(const void *)t);
}
static inline unsigned kernel_signs(const uint32_t *t)
{
    return (unsigned)_mm_movemask_ps(kernel_group(t));
}
static inline bool kernel_any_nan(const uint32_t *t, unsigned n)
{
    __m128 bad = _mm_cmpunord_ps(kernel_group(t), kernel_group(t + 4));
    for (unsigned i = 8; i < n; i += 8)
        bad = _mm_or_ps(bad, _mm_cmpunord_ps(kernel_group(t + i), kernel_group(t + i + 4)));
    return _mm_movemask_ps(bad) != 0;
}
#else
#define KERNEL_GROUP_ 1
static inline unsigned kernel_signs(const uint32_t *t)
{
    return *t >> 31;
}
static inline bool kernel_any_nan(const uint32_t *t, unsigned n)
{
    bool bad = false;
    for (unsigned i = 0; i < n; i++) {
        uint32_t word; /* the array may be one of floats */
        memcpy(&word, t + i, sizeof word);
        bad |= f32_is_nan(word);
    }
    return bad;
}
#endif
KERNEL_HELPERS_(32)
KERNEL_HELPERS_(64)

#endif

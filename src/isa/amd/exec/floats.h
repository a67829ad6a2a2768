/* floats.h: floating-point functions of one lane. They have no branches where the compiler must vectorise
 * them. Bits and values, half precision, minimum and maximum, conversions, classes, exponents. Everything is
 * exact integer arithmetic or a single IEEE operation, so that every variant gives the same bits. */
#ifndef ISA_AMD_EXEC_FLOATS_H
#define ISA_AMD_EXEC_FLOATS_H

#include "isa/amd/exec/wave.h"

#include <math.h>

/* --- bits ----------------------------------------------------------------------------------------------- */

static inline float f32_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline bool f32_is_nan(uint32_t x)
{
    return (x & 0x7fffffffu) > 0x7f800000u;
}

static inline bool f16_is_nan(uint32_t x)
{
    return (x & 0x7fffu) > 0x7c00u;
}

static inline bool f64_is_nan(uint64_t x)
{
    return (x & UINT64_C(0x7fffffffffffffff)) > UINT64_C(0x7ff0000000000000);
}

/* Bits of MODE as masks, 0 or all ones, so that they combine without branches: which denormals are flushed,
 * in and out, single and double (with half), and IEEE. */
static inline uint32_t f32_daz(const amd_wave *w)
{
    return (w->mode >> 4 & 1u) - 1u;
}
static inline uint32_t f32_ftz(const amd_wave *w)
{
    return (w->mode >> 5 & 1u) - 1u;
}
static inline uint32_t f64_daz(const amd_wave *w)
{
    return (w->mode >> 6 & 1u) - 1u;
}
static inline uint32_t f64_ftz(const amd_wave *w)
{
    return (w->mode >> 7 & 1u) - 1u;
}
static inline uint32_t mode_ieee(const amd_wave *w)
{
    return 0u - (w->mode >> 9 & 1u);
}

static inline uint32_t f32_flush(uint32_t x, uint32_t on)
{
    uint32_t gone = x & 0x7f800000u ? 0u : 0x7fffffffu;
    return x & ~(gone & on);
}

static inline uint64_t f64_flush(uint64_t x, uint32_t on)
{
    uint64_t gone = x & UINT64_C(0x7ff0000000000000) ? 0u : UINT64_C(0x7fffffffffffffff);
    return x & ~(gone & (uint64_t)(int64_t)(int32_t)on);
}

/* A double-precision source of single-precision arithmetic, whose environment must not affect denormals of
 * doubles. Denormals become 0 if `on`, else the smallest normal number, which single precision rounds the same
 * way. */
static inline uint64_t f64_without_denormals(uint64_t x, uint32_t on)
{
    bool tiny = !(x & UINT64_C(0x7ff0000000000000)) && x & UINT64_C(0xfffffffffffff);
    uint64_t sign = x & UINT64_C(0x8000000000000000);
    return tiny ? sign | (on ? 0 : UINT64_C(0x10000000000000)) : x;
}

static inline uint32_t f16_flush(uint32_t x, uint32_t on)
{
    uint32_t gone = x & 0x7c00u ? 0u : 0x7fffu;
    return x & ~(gone & on);
}

/* --- half precision ------------------------------------------------------------------------------------- */

/* Exact; never makes or reads a single-precision denormal, so flushing modes do not matter. */
static inline float f16_value(uint32_t h)
{
    uint32_t sign = (h & 0x8000u) << 16;
    uint32_t body = (h & 0x7fffu) << 13;
    uint32_t tiny = f32_bits((float)(int32_t)(h & 0x3ffu) * 0x1p-24f);
    uint32_t normal = body + 0x38000000u;
    uint32_t special = body | 0x7f800000u;
    uint32_t r = (h & 0x7c00u) == 0 ? tiny : (h & 0x7c00u) == 0x7c00u ? special : normal;
    return f32_of(r | sign);
}

/* Rounds single precision to half; `round` as in MODE. NaNs keep their upper bits and become quiet. */
static inline uint32_t f16_round(uint32_t x, uint32_t round)
{
    uint32_t sign = x >> 16 & 0x8000u;
    uint32_t a = x & 0x7fffffffu;
    uint32_t e = a >> 23;
    uint32_t small = 126u - e > 25u ? 25u : 126u - e; /* how far the significand of a denormal moves */
    bool denormal = a < 0x38800000u;
    uint32_t shift = denormal ? small : 13u;
    uint32_t m = denormal ? ((a & 0x7fffffu) | (e ? 0x800000u : 0u)) : a - 0x38000000u;
    uint32_t q = m >> shift;
    uint32_t rest = m & ((1u << shift) - 1u);
    uint32_t half = 1u << (shift - 1u);
    uint32_t near = (uint32_t)(rest > half) | ((uint32_t)(rest == half) & q & 1u);
    uint32_t away = (uint32_t)(rest != 0) & (round == 1u ? (uint32_t)(sign == 0) : (uint32_t)(sign != 0));
    uint32_t r = q + (round == 0 ? near : round == 3u ? 0u : away);
    uint32_t to_inf = round == 0    ? 1u
                      : round == 3u ? 0u
                      : round == 1u ? (uint32_t)(sign == 0)
                                    : (uint32_t)(sign != 0);
    uint32_t huge = to_inf ? 0x7c00u : 0x7bffu;
    r = a >= 0x47800000u || r > 0x7bffu ? huge : r;
    r = a == 0x7f800000u ? 0x7c00u : r;
    r = a > 0x7f800000u ? 0x7e00u | (a >> 13 & 0x3ffu) : r;
    return r | sign;
}

/* A source and a result of half-precision arithmetic, denormals by MODE. */
static inline float f16_in(uint32_t h, const amd_wave *w)
{
    return f16_value(f16_flush(h & 0xffffu, f64_daz(w)));
}

static inline uint32_t f16_out(float value, const amd_wave *w)
{
    return f16_flush(f16_round(f32_bits(value), w->mode >> 2 & 3u), f64_ftz(w));
}

/* a * b + c of three halves, rounded to odd. The caller then rounds once to half by MODE, which needs 11 of
 * the 24 bits. The product is exact in single precision. The error of the sum is also a single-precision
 * number: no operand has bits below 2^-48. Needs round to nearest (LANES_ENV_NONE); the sign of a zero follows
 * MODE. */
static inline float f16_fma(float a, float b, float c, const amd_wave *w)
{
    float p = a * b;
    float s = p + c;
    float t = s - p;
    float lost = (p - (s - t)) + (c - t);
    uint32_t bits = f32_bits(s);
    /* Inexact (infinities lose a NaN, which is neither) and even: the neighbour on the side of the lost part
     * is odd. */
    uint32_t move = (__builtin_islessgreater(lost, 0.0f) ? UINT32_MAX : 0u) & (0u - (~bits & 1u));
    uint32_t step = (0u - ((f32_bits(lost) ^ bits) >> 31)) | 1u;
    uint32_t minus = (w->mode >> 2 & 3u) == 2u ? 0x80000000u : 0u;
    uint32_t zero = s == 0 ? minus : 0u;
    return f32_of((bits + (step & move)) | ((f32_bits(p) | f32_bits(c)) & zero));
}

/* --- minimum and maximum -------------------------------------------------------------------------------- */

/* Orders all numbers, -0 before +0. */
static inline int32_t f32_key(uint32_t x)
{
    return (int32_t)(x ^ ((0u - (x >> 31)) & 0x7fffffffu));
}

static inline int64_t f64_key(uint64_t x)
{
    return (int64_t)(x ^ ((0u - (x >> 63)) & UINT64_C(0x7fffffffffffffff)));
}

static inline int32_t f16_key(uint32_t x)
{
    return (int32_t)(int16_t)(x ^ ((0u - (x >> 15)) & 0x7fffu));
}

/* A number wins over a NaN; in IEEE mode a signalling NaN wins over everything and becomes quiet. */
#define FLOATS_MINMAX(type, word, sword, quiet_bit)                                                           \
    static inline word type##_if(bool condition, word yes, word no) /* masks: a branch would not vectorise */ \
    {                                                                                                         \
        word m = (word)0 - (word)condition;                                                                   \
        return (yes & m) | (no & ~m);                                                                         \
    }                                                                                                         \
    static inline word type##_pick(word a, word b, word r, uint32_t ieee)                                     \
    {                                                                                                         \
        word loud = (word)(sword)(int32_t)ieee;                                                               \
        word snan_a = type##_if(type##_is_nan(a), loud, 0) & ((word)0 - (word) !(a & (quiet_bit)));           \
        word snan_b = type##_if(type##_is_nan(b), loud, 0) & ((word)0 - (word) !(b & (quiet_bit)));           \
        r = type##_if(type##_is_nan(b), a, r);                                                                \
        r = type##_if(type##_is_nan(a), b, r);                                                                \
        r = (r & ~snan_b) | ((b | (quiet_bit)) & snan_b);                                                     \
        return (r & ~snan_a) | ((a | (quiet_bit)) & snan_a);                                                  \
    }                                                                                                         \
    static inline word type##_min(word a, word b, uint32_t ieee)                                              \
    {                                                                                                         \
        return type##_pick(a, b, type##_if(type##_key(a) < type##_key(b), a, b), ieee);                       \
    }                                                                                                         \
    static inline word type##_max(word a, word b, uint32_t ieee)                                              \
    {                                                                                                         \
        return type##_pick(a, b, type##_if(type##_key(a) < type##_key(b), b, a), ieee);                       \
    }                                                                                                         \
    static inline word type##_med3(word a, word b, word c, uint32_t ieee)                                     \
    {                                                                                                         \
        word low = type##_min(type##_min(a, b, ieee), c, ieee);                                               \
        bool up = type##_key(b) < type##_key(c);                                                              \
        word mid = type##_max(a, type##_if(up, b, c), ieee);                                                  \
        word top = type##_if(up, c, b);                                                                       \
        mid = type##_if(type##_key(a) < type##_key(top), mid, type##_max(b, c, ieee));                        \
        mid = type##_if(type##_is_nan(a), low, mid);                                                          \
        mid = type##_if(type##_is_nan(b), low, mid);                                                          \
        return type##_if(type##_is_nan(c), low, mid);                                                         \
    }
FLOATS_MINMAX(f32, uint32_t, int32_t, 0x400000u)
FLOATS_MINMAX(f16, uint32_t, int32_t, 0x200u)
FLOATS_MINMAX(f64, uint64_t, int64_t, UINT64_C(0x8000000000000))

/* Minimum and maximum flush denormals on gfx10; gfx803 leaves them alone. */
static inline uint32_t minmax_gfx10(const amd_wave *w)
{
    return w->target == AMD_GFX803 ? 0u : UINT32_MAX;
}
static inline uint32_t f32_mm(uint32_t x, const amd_wave *w)
{
    return f32_flush(x, minmax_gfx10(w) & f32_daz(w));
}
static inline uint64_t f64_mm(uint64_t x, const amd_wave *w)
{
    return f64_flush(x, minmax_gfx10(w) & f64_daz(w));
}
static inline uint32_t f16_mm(uint32_t x, const amd_wave *w)
{
    return f16_flush(x & 0xffffu, minmax_gfx10(w) & f64_daz(w));
}

/* --- to integers: towards zero, saturated, NaN is 0 ----------------------------------------------------- */

static inline int32_t f64_to_i32(double x)
{
    double y = x > -2147483649.0 && x < 2147483648.0 ? x : 0;
    int32_t r = (int32_t)y;
    r = x >= 2147483648.0 ? INT32_MAX : r;
    return x <= -2147483649.0 ? INT32_MIN : r;
}

static inline uint32_t f64_to_u32(double x)
{
    double y = x >= 0 && x < 4294967296.0 ? x : 0;
    /* Through the signed range, which every host converts. */
    double z = y >= 2147483648.0 ? y - 2147483648.0 : y;
    uint32_t r = (uint32_t)(int32_t)z + (y >= 2147483648.0 ? 0x80000000u : 0u);
    return x >= 4294967296.0 ? UINT32_MAX : r;
}

static inline int32_t f32_to_i32(float x)
{
    float y = x >= -2147483648.0f && x < 2147483648.0f ? x : 0;
    int32_t r = (int32_t)y;
    r = x >= 2147483648.0f ? INT32_MAX : r;
    return x < -2147483648.0f ? INT32_MIN : r;
}

static inline uint32_t f32_to_u32(float x)
{
    float y = x >= 0 && x < 4294967296.0f ? x : 0;
    float z = y >= 2147483648.0f ? y - 2147483648.0f : y;
    uint32_t r = (uint32_t)(int32_t)z + (y >= 2147483648.0f ? 0x80000000u : 0u);
    return x >= 4294967296.0f ? UINT32_MAX : r;
}

static inline int32_t int_clamp(int32_t x, int32_t low, int32_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* --- classes, exponents, significands ------------------------------------------------------------------- */

/* The ten classes of v_cmp_class: 0 sNaN, 1 qNaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, 6 +0 ... 9 +inf. */
#define FLOATS_CLASS(type, word, bits, exponent_mask, quiet_bit)                                              \
    static inline uint32_t type##_class(word x)                                                               \
    {                                                                                                         \
        bool negative = x >> (bits - 1) & 1;                                                                  \
        word a = x & ~((word)1 << (bits - 1));                                                                \
        uint32_t size = a == 0 ? 0 : a < ((quiet_bit) << 1) ? 1 : a < (exponent_mask) ? 2 : 3;                \
        uint32_t nan = x & (quiet_bit) ? 2u : 1u;                                                             \
        return a > (exponent_mask) ? nan : negative ? 1u << (5u - size) : 1u << (6u + size);                  \
    }
FLOATS_CLASS(f32, uint32_t, 32, 0x7f800000u, 0x400000u)
FLOATS_CLASS(f64, uint64_t, 64, UINT64_C(0x7ff0000000000000), UINT64_C(0x8000000000000))
FLOATS_CLASS(f16, uint32_t, 16, 0x7c00u, 0x200u)

/* Scales with one rounding: the steps before the last are exact, or so far below the range that the last
 * one gives zero anyway. */
static inline double f64_scale(double x, int32_t n)
{
    int32_t k = int_clamp(n, -2200, 2200);
    for (int step = 0; step < 2; step++) {
        if (k > 1023) {
            x *= 0x1p1023;
            k -= 1023;
        } else if (k < -1022) {
            x *= 0x1p-969;
            k += 969;
        }
    }
    return x * f64_of((uint64_t)(int_clamp(k, -1022, 1023) + 1023) << 52);
}

/* Single precision through double: exact scaling, one rounding. */
static inline float f32_scale(float x, int32_t n)
{
    int32_t k = int_clamp(n, -300, 300);
    return (float)((double)x * f64_of((uint64_t)(k + 1023) << 52));
}

static inline int32_t f32_exponent(uint32_t x)
{
    return (int32_t)(x >> 23 & 0xff);
}

static inline int32_t f64_exponent(uint64_t x)
{
    return (int32_t)(x >> 52 & 0x7ff);
}

/* frexp: x = m * 2^e with m in [0.5, 1); denormals are numbers like others. */
static inline int32_t f64_frexp_exp(uint64_t x)
{
    uint64_t a = x & UINT64_C(0x7fffffffffffffff);
    if (a == 0 || a >= UINT64_C(0x7ff0000000000000))
        return 0;
    if (a >> 52)
        return (int32_t)(a >> 52) - 1022;
    return f64_exponent(f64_bits(f64_of(a) * 0x1p54)) - 1022 - 54;
}

static inline uint64_t f64_frexp_mant(uint64_t x)
{
    uint64_t a = x & UINT64_C(0x7fffffffffffffff);
    if (a == 0 || a >= UINT64_C(0x7ff0000000000000))
        return f64_is_nan(x) ? x | UINT64_C(0x8000000000000) : x;
    uint64_t normal = a >> 52 ? x : f64_bits(f64_of(x) * 0x1p54);
    return (normal & UINT64_C(0x800fffffffffffff)) | UINT64_C(0x3fe0000000000000);
}

static inline int32_t f32_frexp_exp(uint32_t x)
{
    uint32_t a = x & 0x7fffffffu;
    int32_t tiny = f32_exponent(f32_bits((float)(int32_t)(a & 0x7fffffu))) - 126 - 149;
    int32_t r = a >> 23 ? (int32_t)(a >> 23) - 126 : tiny;
    return a == 0 || a >= 0x7f800000u ? 0 : r;
}

static inline uint32_t f32_frexp_mant(uint32_t x)
{
    uint32_t a = x & 0x7fffffffu;
    uint32_t tiny = f32_bits((float)(int32_t)(a & 0x7fffffu));
    uint32_t r = (x & 0x80000000u) | ((a >> 23 ? a : tiny) & 0x7fffffu) | 0x3f000000u;
    r = a > 0x7f800000u ? x | 0x400000u : r;
    return a == 0 || a == 0x7f800000u ? x : r;
}

#endif

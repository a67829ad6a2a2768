/* divide.h: the helpers of division and of argument reduction: v_div_scale, v_div_fmas, v_div_fixup and
 * v_trig_preop. Together with v_rcp and fused products they compute a correctly rounded quotient over the
 * whole range. scale keeps intermediate results in range, fmas undoes the scaling in the last rounding, fixup
 * handles special cases. They work on bits; `flush` (0 or all ones) says that denormal sources count as
 * zero. */
#ifndef ISA_AMD_EXEC_DIVIDE_H
#define ISA_AMD_EXEC_DIVIDE_H

#include "isa/amd/exec/floats.h"

static inline bool vcc_bit(const amd_wave *w, unsigned lane)
{
    return w->sgpr[lane < 32 ? AMD_VCC_LO : AMD_VCC_HI] >> (lane & 31u) & 1u;
}

/* A NaN result made by a rule instead of by the host: the first NaN source, quiet, or the default NaN. */
static inline float f32_nan3(float r, float a, float b, float c)
{
    uint32_t x = f32_bits(a), y = f32_bits(b), z = f32_bits(c);
    uint32_t nan = f32_is_nan(x)   ? x | 0x400000u
                   : f32_is_nan(y) ? y | 0x400000u
                   : f32_is_nan(z) ? z | 0x400000u
                                   : 0xffc00000u;
    return f32_is_nan(f32_bits(r)) ? f32_of(nan) : r;
}

/* DX9's products: zero times anything, also a NaN, is +0. */
static inline float legacy_mad(float a, float b, float c)
{
    bool zero = a == 0 || b == 0;
    float r = (zero ? 0.0f : a * b) + c;
    return f32_nan3(r, zero ? 0.0f : a, zero ? 0.0f : b, c);
}
static inline float legacy_fma(float a, float b, float c)
{
    bool zero = a == 0 || b == 0;
    float r = zero ? c + 0.0f : __builtin_fmaf(a, b, c);
    return f32_nan3(r, zero ? 0.0f : a, zero ? 0.0f : b, c);
}

/* --- v_div_scale ---------------------------------------------------------------------------------------- */

/* s1 is the denominator, s2 the numerator, s0 one of the two: the one to scale. `far` is the largest
 * difference of exponents without overflow on the way to the quotient. `step` is the scaling, `bits` the width
 * of the significand. "Denormal" means a result below the normal range; exponents and significands decide it
 * exactly.
 *
 * Where both the inverse and the quotient are denormal, the manuals scale the denominator up. That turns the
 * largest numbers into infinity and the quotient into NaN. v_div_fmas multiplies the quotient by 2^-step, so
 * the denominator must be scaled down. */
#define DIVIDE_SCALE(type, word, far, step, bits, bias, quiet, scale)                                         \
    static inline word type##_scaled(word x, int32_t n)                                                       \
    {                                                                                                         \
        return type##_bits(scale(type##_of(x), n));                                                           \
    }                                                                                                         \
    static inline word div_scale_##type(word s0, word s1, word s2, uint32_t flush, bool *vcc)                 \
    {                                                                                                         \
        const word magnitude = (word) ~((word)1 << (sizeof(word) * 8 - 1));                                   \
        s0 = type##_flush(s0, flush);                                                                         \
        s1 = type##_flush(s1, flush);                                                                         \
        s2 = type##_flush(s2, flush);                                                                         \
        word d = s1 & magnitude, n = s2 & magnitude;                                                          \
        const word one = (word)1 << (bits), infinite = (word)(2 * (bias) + 1) << (bits);                      \
        *vcc = false;                                                                                         \
        if (d == 0 || n == 0)                                                                                 \
            return quiet;                                                                                     \
        int32_t de = type##_exponent(s1), ne = type##_exponent(s2);                                           \
        bool denominator = s0 == s1, numerator = s0 == s2;                                                    \
        /* 1/d is denormal above 2^(bias - 1); n/d below 2^(1 - bias). */                                     \
        bool tiny_inverse = d < infinite && d > ((word)(2 * (bias)-1) << (bits));                             \
        bool tiny_quotient = false;                                                                           \
        if (d < infinite && n < infinite) {                                                                   \
            int32_t dx = type##_frexp_exp(s1), nx = type##_frexp_exp(s2);                                     \
            word dm = type##_frexp_mant(s1) & (one - 1), nm = type##_frexp_mant(s2) & (one - 1);              \
            int32_t quotient = nx - dx - (nm < dm ? 1 : 0); /* floor(log2(n / d)) */                          \
            tiny_quotient = quotient < 1 - (bias);                                                            \
        }                                                                                                     \
        if (ne - de >= (far)) {                                                                               \
            *vcc = true;                                                                                      \
            return denominator ? type##_scaled(s0, step) : s0;                                                \
        }                                                                                                     \
        if (de == 0)                                                                                          \
            return type##_scaled(s0, step);                                                                   \
        if (tiny_inverse && tiny_quotient) {                                                                  \
            *vcc = true;                                                                                      \
            return denominator ? type##_scaled(s0, -(step)) : s0;                                             \
        }                                                                                                     \
        if (tiny_inverse)                                                                                     \
            return type##_scaled(s0, -(step));                                                                \
        if (tiny_quotient) {                                                                                  \
            *vcc = true;                                                                                      \
            return numerator ? type##_scaled(s0, step) : s0;                                                  \
        }                                                                                                     \
        if (ne <= (bits))                                                                                     \
            return type##_scaled(s0, step);                                                                   \
        return s0;                                                                                            \
    }
DIVIDE_SCALE(f32, uint32_t, 96, 64, 23, 127, 0x7fc00000u, f32_scale)
DIVIDE_SCALE(f64, uint64_t, 768, 128, 52, 1023, UINT64_C(0x7ff8000000000000), f64_scale)

/* --- v_div_fmas ----------------------------------------------------------------------------------------- */

/* fma(a, b, c) with one rounding. If the lane's VCC bit is set, the result is scaled by 2^64 or 2^-64,
 * depending on the size of c. */
static inline uint32_t div_fmas_f32(uint32_t a, uint32_t b, uint32_t c, bool scaled)
{
    float x = f32_of(a), y = f32_of(b), z = f32_of(c);
    if (!scaled)
        return f32_bits(f32_nan3(__builtin_fmaf(x, y, z), x, y, z));
    /* In double precision the product is exact and the sum has 29 bits to spare; a value that those cannot
     * hold is nudged off the tie by its lost part. */
    double p = (double)x * (double)y, s = p + (double)z;
    double t = s - p, lost = (p - (s - t)) + ((double)z - t);
    double scale = f32_exponent(c) > 127 ? 0x1p64 : 0x1p-64;
    uint64_t bits = f64_bits(s);
    if (__builtin_islessgreater(lost, 0) && s != 0 && !(bits & 1)) { /* infinities lose a NaN */
        bool away = (lost > 0) == (s > 0);
        bits += away ? 1u : UINT64_MAX;
    }
    float r = (float)(f64_of(bits) * scale);
    return f32_bits(f32_nan3(r, x, y, z));
}

/* Integer arithmetic for the scaled case: the product of significands has 106 bits. The sum has 192 bits and a
 * sticky bit below, and is rounded once by MODE, also into the denormal range. */
uint64_t div_fma_scaled_f64(uint64_t a, uint64_t b, uint64_t c, int32_t scale, const amd_wave *w);

static inline uint64_t div_fmas_f64(uint64_t a, uint64_t b, uint64_t c, bool scaled, const amd_wave *w)
{
    const uint64_t quiet = UINT64_C(0x8000000000000);
    if (scaled)
        return div_fma_scaled_f64(a, b, c, f64_exponent(c) > 1023 ? 128 : -128, w);
    uint64_t r = f64_bits(__builtin_fma(f64_of(a), f64_of(b), f64_of(c)));
    uint64_t nan = f64_is_nan(a)   ? a | quiet
                   : f64_is_nan(b) ? b | quiet
                   : f64_is_nan(c) ? c | quiet
                                   : UINT64_C(0xfff8000000000000);
    return f64_is_nan(r) ? nan : r;
}

/* --- v_div_fixup ---------------------------------------------------------------------------------------- */

/* s0 is the quotient so far, s1 the denominator, s2 the numerator. A quotient that became infinity or NaN on
 * the way has overflowed (the manuals test the exponent of s1, which is never all ones at that point). */
#define DIVIDE_FIXUP(type, word, infinite, sign_bit, quiet, default_nan, under, exponent)                     \
    static inline word div_fixup_##type(word s0, word s1, word s2, uint32_t flush)                            \
    {                                                                                                         \
        s1 = type##_flush(s1, flush);                                                                         \
        s2 = type##_flush(s2, flush);                                                                         \
        word sign = (s1 ^ s2) & (sign_bit);                                                                   \
        word d = s1 & ((sign_bit)-1), n = s2 & ((sign_bit)-1);                                                \
        word r = (s0 & ((sign_bit)-1)) | sign;                                                                \
        r = (s0 & (infinite)) == (infinite) ? sign | (infinite) : r;                                          \
        r = exponent(s2) - exponent(s1) < (under) ? sign : r;                                                 \
        r = d == (infinite) || n == 0 ? sign : r;                                                             \
        r = d == 0 || n == (infinite) ? sign | (infinite) : r;                                                \
        r = (d == 0 && n == 0) || (d == (infinite) && n == (infinite)) ? (word)(default_nan) : r;             \
        r = type##_is_nan(s1) ? s1 | (quiet) : r;                                                             \
        return type##_is_nan(s2) ? s2 | (quiet) : r;                                                          \
    }
static inline int32_t f16_exponent(uint32_t x)
{
    return (int32_t)(x >> 10 & 0x1f);
}
DIVIDE_FIXUP(f32, uint32_t, 0x7f800000u, 0x80000000u, 0x400000u, 0xffc00000u, -150, f32_exponent)
DIVIDE_FIXUP(f16, uint32_t, 0x7c00u, 0x8000u, 0x200u, 0xfe00u, -64, f16_exponent)
DIVIDE_FIXUP(f64, uint64_t, UINT64_C(0x7ff0000000000000), UINT64_C(0x8000000000000000),
             UINT64_C(0x8000000000000), UINT64_C(0xfff8000000000000), -1075, f64_exponent)

/* --- v_trig_preop --------------------------------------------------------------------------------------- */

/* Segment s1 of 2/pi: the 53 bits that matter for an argument as large as s0. */
uint64_t trig_preop(uint64_t s0, uint32_t s1);

#endif

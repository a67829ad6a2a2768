/* functions.h: the functions that rows of valu.def name: bit loops, wide integers, and the manuals' text of
 * division, cubes and argument reduction on exact numbers. */
#ifndef TESTS_ISA_MODEL_FUNCTIONS_H
#define TESTS_ISA_MODEL_FUNCTIONS_H

#include "isa/model/exact.h"

#include <math.h>

/* A row's inputs besides its sources. */
typedef struct surroundings {
    rules r32, r64; /* MODE for single precision, and for double and half */
    bool clamp, ieee, gfx10, gfx9, vcc;
    unsigned lane;
} surroundings;

/* --- integers --- */

static inline s128 sx(uint64_t x, unsigned bits)
{
    uint64_t low = x & ones(bits);
    return low >> (bits - 1) & 1 ? (s128)low - ((s128)1 << bits) : (s128)low;
}

/* The exact result in `bits` bits: cut off, or at the nearest limit. */
static inline uint64_t wrap_u(s128 x, unsigned bits, bool saturate)
{
    s128 most = (s128)ones(bits);
    if (saturate)
        x = x < 0 ? 0 : x > most ? most : x;
    return (uint64_t)x & ones(bits);
}
static inline uint64_t wrap_s(s128 x, unsigned bits, bool saturate)
{
    s128 most = ((s128)1 << (bits - 1)) - 1, least = -most - 1;
    if (saturate)
        x = x < least ? least : x > most ? most : x;
    return (uint64_t)x & ones(bits);
}

/* Bits [offset, offset + width) of an integer that goes on for ever above its top: with zeros or its sign. */
static inline uint64_t field(uint64_t x, unsigned bits, unsigned offset, unsigned width, bool is_signed)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < bits; i++) {
        unsigned from = offset + (i < width ? i : width - 1);
        bool fill = i >= width;
        if (width == 0 || (fill && !is_signed))
            break;
        bool bit = from < bits ? x >> from & 1 : is_signed && x >> (bits - 1) & 1;
        r |= (uint64_t)bit << i;
    }
    return r;
}

static inline uint64_t bit_of_pair(uint64_t high, uint64_t low, unsigned at)
{
    return at < 32 ? low >> at & 1 : at < 64 ? high >> (at - 32) & 1 : 0;
}

/* left > 0: to the left; each bit moves by itself. */
static inline uint64_t shifted(uint64_t x, unsigned bits, int left, bool is_signed)
{
    uint64_t r = 0;
    for (int i = 0; i < (int)bits; i++) {
        int from = i - left;
        bool bit = from < 0 ? false : from >= (int)bits ? is_signed && x >> (bits - 1) & 1 : x >> from & 1;
        r |= (uint64_t)bit << i;
    }
    return r;
}

static inline uint64_t permuted_byte(uint64_t s0, uint64_t s1, uint64_t select)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(s1 >> 8 * i);
        bytes[4 + i] = (uint8_t)(s0 >> 8 * i);
    }
    if (select < 8)
        return bytes[select];
    if (select < 12) /* the sign of bytes 1, 3, 5, 7 */
        return bytes[2 * (select - 8) + 1] >= 128 ? 255 : 0;
    return select == 12 ? 0 : 255;
}

/* 0 the least, 1 the middle, 2 the largest. */
static inline uint64_t nth_of_3(uint64_t a, uint64_t b, uint64_t c, unsigned bits, bool is_signed, int n)
{
    s128 v[3] = { is_signed ? sx(a, bits) : (s128)a, is_signed ? sx(b, bits) : (s128)b,
                  is_signed ? sx(c, bits) : (s128)c };
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            if (v[k] > v[k + 1]) {
                s128 t = v[k];
                v[k] = v[k + 1];
                v[k + 1] = t;
            }
    return (uint64_t)v[n] & ones(bits);
}

static inline uint64_t distance(uint64_t a, uint64_t b)
{
    return (uint64_t)((s128)a < b ? (s128)b - a : (s128)a - b);
}
static inline uint64_t byte_distance(uint64_t a, uint64_t b, bool masked)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 32; i += 8)
        if (!masked || (b >> i & 255))
            r += distance(a >> i & 255, b >> i & 255);
    return r;
}
static inline s128 dot(uint64_t a, uint64_t b, unsigned bits, bool is_signed)
{
    s128 r = 0;
    for (unsigned i = 0; i < 32; i += bits) {
        uint64_t x = a >> i & ones(bits), y = b >> i & ones(bits);
        r += is_signed ? sx(x, bits) * sx(y, bits) : (s128)x * y;
    }
    return r;
}

/* --- floating point --- */

static inline rules always_flush(rules r)
{
    return (rules){ r.round, true, true };
}

static inline rules rules_of(format f, const surroundings *x)
{
    return f.bits == 32 ? x->r32 : x->r64;
}

/* The NaN that survives is the first in the order of operands, not of the sum. */
static inline uint64_t subtracted_from(format f, uint64_t a, uint64_t b, rules how)
{
    if (is_nan(f, a) || is_nan(f, b))
        return nan_of(f, a, b, 0);
    return difference(f, b, a, how);
}

/* DX9: zero times anything is +0. */
static inline uint64_t legacy_product(uint64_t a, uint64_t b, rules how)
{
    bool zero = is_zero(F32, flushed(F32, a, how.flush_in)) || is_zero(F32, flushed(F32, b, how.flush_in));
    return zero ? 0 : product(F32, a, b, how);
}
static inline uint64_t legacy_fused(uint64_t a, uint64_t b, uint64_t c, rules how)
{
    bool zero = is_zero(F32, flushed(F32, a, how.flush_in)) || is_zero(F32, flushed(F32, b, how.flush_in));
    return zero ? sum(F32, c, 0, how) : fused(F32, a, b, c, 0, how);
}

/* v_mad: the product is rounded before the sum. */
static inline uint64_t rounded_twice(format f, uint64_t a, uint64_t b, uint64_t c, rules how, bool legacy)
{
    uint64_t p = legacy ? legacy_product(a, b, how) : product(f, a, b, how);
    rules then = { how.round, false, how.flush_out }; /* the product is no source */
    uint64_t r = sum(f, p, flushed(f, c, how.flush_in), then);
    if (is_nan(f, r) && legacy && p == 0)
        return nan_of(f, 0, 0, c);
    return is_nan(f, r) ? nan_of(f, a, b, c) : r;
}

/* v_mullit: the specular part of a vertex light. */
static inline uint64_t lighting(uint64_t a, uint64_t b, uint64_t c, rules how)
{
    const uint64_t least = 0xff7fffff; /* the largest negative number */
    c = flushed(F32, c, how.flush_in);
    if (b == least || b == 0xff800000 || is_nan(F32, b) || is_nan(F32, c) || is_zero(F32, c) ||
        negative(F32, c))
        return least;
    uint64_t r = legacy_product(a, b, how);
    return r;
}

static inline uint64_t min_max(format f, uint64_t a, uint64_t b, bool largest, const surroundings *x)
{
    bool flush = (x->gfx10 || x->gfx9) && rules_of(f, x).flush_in; /* gfx803 leaves denormals alone */
    return extreme(f, flushed(f, a, flush), flushed(f, b, flush), largest, x->ieee);
}

static inline uint64_t median(format f, uint64_t a, uint64_t b, uint64_t c, const surroundings *x)
{
    if (is_nan(f, a) || is_nan(f, b) || is_nan(f, c))
        return min_max(f, min_max(f, a, b, false, x), c, false, x);
    /* The larger of the minimum of two and the smaller of their maximum and the third. */
    uint64_t low = min_max(f, a, b, false, x), high = min_max(f, a, b, true, x);
    return min_max(f, low, min_max(f, high, c, false, x), true, x);
}

static inline uint64_t fraction(format f, uint64_t x, rules how)
{
    x = flushed(f, x, how.flush_in);
    if (is_nan(f, x))
        return quiet(f, x);
    if (is_infinite(f, x))
        return default_nan(f);
    if (is_zero(f, x)) /* x - x */
        return with_sign(f, how.round == 2, 0);
    uint64_t r = difference(f, x, whole(f, x, 2), how), below_one = one(f) - 1;
    return r > below_one && !negative(f, r) ? below_one : r;
}

static inline int exponent_of(format f, uint64_t x)
{
    int e = 0;
    if (is_zero(f, x) || is_nan(f, x) || is_infinite(f, x))
        return 0;
    for (uint64_t m = mantissa(f, x); m; m >>= 1)
        e++;
    return e + power(f, x);
}
static inline uint64_t significand_of(format f, uint64_t x)
{
    if (is_nan(f, x))
        return quiet(f, x);
    if (is_zero(f, x) || is_infinite(f, x))
        return x;
    return scaled(f, x, -exponent_of(f, x), (rules){ 0 });
}

static inline uint64_t normalised(format f, uint64_t x, bool is_signed)
{
    if (is_nan(f, x))
        return 0;
    long double v = value_of(f, x), low = is_signed ? -1.0L : 0.0L;
    v = (v > 1 ? 1 : v < low ? low : v) * (is_signed ? 32767 : 65535);
    long double down = floorl(v), rest = v - down;
    s128 n = (s128)down;
    n += rest > 0.5L || (rest == 0.5L && n & 1);
    return (uint64_t)n & 65535;
}

/* Two products of halves, each added with one rounding of single precision; a NaN is the default one. */
static inline uint64_t dot_of_halves(uint64_t a, uint64_t b, uint64_t c, const surroundings *x)
{
    const rules none = { 0 };
    uint64_t r = c;
    for (unsigned i = 0; i < 32; i += 16)
        r = fused(F32, converted(F16, a >> i & 65535, F32, none, none),
                  converted(F16, b >> i & 65535, F32, none, none), r, 0, x->r32);
    return is_nan(F32, r) ? default_nan(F32) : r;
}

/* --- functions without exact results --- */

#define VALUE_(f, a, r) value_of(f, flushed(f, a, (r).flush_in))
#define VALUE_F32_(a) value_of(F32, flushed(F32, a, true))

/* The number of the format next to v; NaN sources stay what they are. */
static inline uint64_t nearest(format f, long double v, uint64_t source, rules how)
{
    if (is_nan(f, source))
        return quiet(f, source);
    if (isnan(v))
        return default_nan(f);
    uint64_t minus = signbit(v) ? sign_bit(f) : 0;
    if (isinf(v))
        return minus | infinity(f);
    if (v == 0)
        return minus;
    int e;
    long double m = frexpl(fabsl(v), &e);
    if (e > 2000 || e < -2200) /* far outside of the format */
        m = 0.5L, e = e > 0 ? 2000 : -2200;
    exact x = exact_of(F64, minus != 0, (u128)(m * 0x1p64L), e - 64);
    return exact_round(F64, &x, 0, f, how);
}

/* sin or cos of so many revolutions. gfx803 knows up to 256. */
static inline long double turns(long double x, bool cosine, const surroundings *s)
{
    if (isinf(x) || isnan(x))
        return __builtin_nanl("");
    if (!s->gfx10 && fabsl(x) > 256)
        return cosine ? 1 : 0;
    long double r = fmodl(x, 1.0L); /* exact */
    /* Multiples of 1/4 have exact results; only the sine of -0 is -0 (the manuals' examples). */
    if (fmodl(r, 0.25L) == 0) {
        int quarter = (int)(r * 4) & 3;
        static const int sines[4] = { 0, 1, 0, -1 };
        int value = sines[(quarter + (cosine ? 1 : 0)) & 3];
        return value ? value : !cosine && x == 0 ? x : 0.0L;
    }
    long double angle = r * 6.283185307179586476925286766559005768L;
    return cosine ? cosl(angle) : sinl(angle);
}

/* --- division --- */

/* Whether |a / b| lies below the normal range (and is not 0): compared as products. */
static inline bool tiny_quotient(format f, uint64_t a, uint64_t b)
{
    if (is_nan(f, a) || is_nan(f, b) || is_infinite(f, a) || is_infinite(f, b) || is_zero(f, a) ||
        is_zero(f, b))
        return false;
    exact x = exact_of(f, false, mantissa(f, a), power(f, a));
    uint64_t smallest = UINT64_C(1) << f.fraction; /* 2^(1 - bias) */
    exact y =
        exact_of(f, false, (u128)mantissa(f, smallest) * mantissa(f, b), power(f, smallest) + power(f, b));
    return exact_compare(f, &x, &y) < 0;
}

/* The manuals' text, except for one line. Where both the inverse and the quotient are denormal they scale the
 * denominator up, which overflows; it must be scaled down to give the right quotient. */
static inline uint64_t divide_scale(format f, uint64_t s0, uint64_t s1, uint64_t s2, bool flush, bool *vcc)
{
    int step = f.bits == 32 ? 64 : 128, far = f.bits == 32 ? 96 : 768;
    const rules exactly = { 0 };
    s0 = flushed(f, s0, flush);
    s1 = flushed(f, s1, flush);
    s2 = flushed(f, s2, flush);
    *vcc = false;
    if (is_zero(f, s2) || is_zero(f, s1))
        return quiet(f, infinity(f));
    bool tiny_inverse = tiny_quotient(f, one(f), s1), tiny = tiny_quotient(f, s2, s1);
    if ((int)exponent_field(f, s2) - (int)exponent_field(f, s1) >= far) {
        *vcc = true;
        return s0 == s1 ? scaled(f, s0, step, exactly) : s0;
    }
    if (is_denormal(f, s1))
        return scaled(f, s0, step, exactly);
    if (tiny_inverse && tiny) {
        *vcc = true;
        return s0 == s1 ? scaled(f, s0, -step, exactly) : s0;
    }
    if (tiny_inverse)
        return scaled(f, s0, -step, exactly);
    if (tiny) {
        *vcc = true;
        return s0 == s2 ? scaled(f, s0, step, exactly) : s0;
    }
    if (exponent_field(f, s2) <= f.fraction)
        return scaled(f, s0, step, exactly);
    return s0;
}

static inline uint64_t divide_fixup(format f, uint64_t s0, uint64_t s1, uint64_t s2, bool flush, int under)
{
    s1 = flushed(f, s1, flush);
    s2 = flushed(f, s2, flush);
    bool minus = negative(f, s1) != negative(f, s2);
    if (is_nan(f, s2))
        return quiet(f, s2);
    if (is_nan(f, s1))
        return quiet(f, s1);
    if ((is_zero(f, s1) && is_zero(f, s2)) || (is_infinite(f, s1) && is_infinite(f, s2)))
        return default_nan(f);
    if (is_zero(f, s1) || is_infinite(f, s2))
        return with_sign(f, minus, infinity(f));
    if (is_infinite(f, s1) || is_zero(f, s2))
        return with_sign(f, minus, 0);
    if ((int)exponent_field(f, s2) - (int)exponent_field(f, s1) < under)
        return with_sign(f, minus, 0);
    if (is_nan(f, s0) || is_infinite(f, s0)) /* the quotient overflowed on its way */
        return with_sign(f, minus, infinity(f));
    return with_sign(f, minus, s0);
}

/* --- cubes --- */

typedef struct cube {
    unsigned face; /* +x -x +y -y +z -z */
    uint64_t s, t, axis;
} cube;

static inline cube cube_of(uint64_t x, uint64_t y, uint64_t z, rules how)
{
    const uint64_t minus = 0x80000000;
    uint64_t fx = flushed(F32, x, how.flush_in), fy = flushed(F32, y, how.flush_in),
             fz = flushed(F32, z, how.flush_in);
    uint64_t ax = magnitude(F32, fx), ay = magnitude(F32, fy), az = magnitude(F32, fz);
    /* Denormals count as zero in comparisons; a coordinate that is only passed on stays. */
    int zx = order(F32, az, ax), zy = order(F32, az, ay), yx = order(F32, ay, ax);
    if ((zx == 0 || zx == 1) && (zy == 0 || zy == 1))
        return order(F32, fz, 0) == -1 ? (cube){ 5, x ^ minus, y ^ minus, z } : (cube){ 4, x, y ^ minus, z };
    if (yx == 0 || yx == 1)
        return order(F32, fy, 0) == -1 ? (cube){ 3, x, z ^ minus, y } : (cube){ 2, x, z, y };
    return order(F32, fx, 0) == -1 ? (cube){ 1, z, y ^ minus, x } : (cube){ 0, z ^ minus, y ^ minus, x };
}

/* --- 2/pi by Machin's formula: pi = 16 atan(1/5) - 4 atan(1/239), 1600 bits --- */

enum { PI_WORDS = 50 }; /* of 32 bits; word 0 is the integer part */

static inline void pi_divide(uint32_t *x, uint32_t by)
{
    uint64_t rest = 0;
    for (int i = 0; i < PI_WORDS; i++) {
        uint64_t now = rest << 32 | x[i];
        x[i] = (uint32_t)(now / by);
        rest = now % by;
    }
}
static inline void pi_add(uint32_t *x, const uint32_t *y, bool minus)
{
    int64_t carry = 0;
    for (int i = PI_WORDS; i-- > 0;) {
        int64_t s = (int64_t)x[i] + (minus ? -(int64_t)y[i] : (int64_t)y[i]) + carry;
        x[i] = (uint32_t)s;
        carry = s >> 32;
    }
}
static inline void pi_arctan(uint32_t *out, uint32_t factor, uint32_t of)
{
    uint32_t power[PI_WORDS] = { factor }, term[PI_WORDS];
    memset(out, 0, PI_WORDS * sizeof *out);
    pi_divide(power, of);
    for (uint32_t k = 0; k < 800; k++) {
        memcpy(term, power, sizeof term);
        pi_divide(term, 2 * k + 1);
        pi_add(out, term, k & 1);
        pi_divide(power, of * of);
    }
}

/* Bit n after the point of 2/pi, by long division. */
static inline const uint8_t *bits_of_2_over_pi(void)
{
    static uint8_t bits[1280];
    static bool done;
    if (done)
        return bits;
    uint32_t pi[PI_WORDS], other[PI_WORDS], rest[PI_WORDS] = { 2 };
    pi_arctan(pi, 16, 5);
    pi_arctan(other, 4, 239);
    pi_add(pi, other, true);
    for (int n = 0; n < 1201; n++) { /* the hardware has 1201 of them */
        pi_add(rest, rest, false);
        int greater = 1;
        for (int i = 0; i < PI_WORDS; i++)
            if (rest[i] != pi[i]) {
                greater = rest[i] > pi[i];
                break;
            }
        bits[n] = (uint8_t)greater;
        if (greater)
            pi_add(rest, pi, true);
    }
    done = true;
    return bits;
}

static inline uint64_t digits_of_2_over_pi(uint64_t s0, unsigned segment)
{
    const uint8_t *bits = bits_of_2_over_pi();
    int e = (int)exponent_field(F64, s0), shift = (int)segment * 53 + (e > 1077 ? e - 1077 : 0);
    uint64_t m = 0;
    for (int i = 0; i < 53; i++)
        m = m << 1 | (shift + i < 1280 ? bits[shift + i] : 0);
    int scale = -53 - shift + (e >= 1968 ? 128 : 0);
    exact x = exact_of(F64, false, m, scale < F64.low ? F64.low : scale);
    return exact_round(F64, &x, 0, F64, (rules){ 0 });
}

#endif

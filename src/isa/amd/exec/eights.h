/* eights.h: the 8-bit floating-point formats of gfx942, e4m3 (FP8) and e5m2 (BF8), in the variant without
 * infinity and negative zero: 0x80 is the only NaN, and the bias is one more than usual (8 and 16). */
#ifndef ISA_AMD_EXEC_EIGHTS_H
#define ISA_AMD_EXEC_EIGHTS_H

#include "isa/amd/exec/floats.h"

/* `mantissa` is the number of its bits: 3 or 2. */
static inline float eight_value(uint32_t x, unsigned mantissa)
{
    uint32_t field = x >> mantissa & ((1u << (7 - mantissa)) - 1), m = x & ((1u << mantissa) - 1);
    int bias = mantissa == 3 ? 8 : 16;
    if (x == 0x80)
        return f32_of(0x7fc00000u);
    float magnitude = field == 0 ? (float)(int)m : (float)(int)(m | 1u << mantissa);
    int exponent = (field == 0 ? 1 : (int)field) - bias - (int)mantissa;
    float scale = f32_of((uint32_t)(exponent + 127) << 23);
    return x & 0x80 ? -(magnitude * scale) : magnitude * scale;
}

static inline float fp8_value(uint32_t x)
{
    return eight_value(x, 3);
}

static inline float bf8_value(uint32_t x)
{
    return eight_value(x, 2);
}

/* The magnitude of a float as an integer with `mantissa` bits, from the bits below it: `extra` is added to them
 * before they are cut off. Too large is NaN, or the largest number if MODE.FP16_OVFL is set. */
static inline uint32_t eight_finish(uint32_t sign, uint32_t whole, uint32_t exponent, uint32_t mantissa,
                                    const amd_wave *w)
{
    uint32_t bits = exponent << mantissa | (whole & ((1u << mantissa) - 1));
    if (whole >> (mantissa + 1)) /* rounded up to the next power of two */
        bits = (exponent + 1) << mantissa;
    else if (!(whole >> mantissa))
        bits = whole; /* a denormal, or 0 */
    if (bits > 0x7f)
        return w->mode >> 23 & 1 ? sign | 0x7f : 0x80;
    return bits ? sign | bits : 0; /* there is no negative zero */
}

/* Splits a float: its 24-bit significand, how many of its bits are below the result's, and the exponent field
 * of the result. False for NaN and infinity. */
static inline bool eight_split(uint32_t x, unsigned mantissa, uint32_t *significand, unsigned *below,
                               uint32_t *exponent)
{
    int bias = mantissa == 3 ? 8 : 16;
    uint32_t field = x >> 23 & 0xff;
    if (field == 0xff)
        return false;
    *significand = (x & 0x7fffff) | (field ? 1u << 23 : 0);
    int e = (field ? (int)field : 1) - 127 + bias, drop = 23 - (int)mantissa;
    if (e < 1) {
        drop += 1 - e;
        e = 1;
    }
    *below = drop > 31 ? 31 : (unsigned)drop;
    *exponent = (uint32_t)e;
    return true;
}

/* To nearest, ties to even. */
static inline uint32_t eight_round(float value, unsigned mantissa, const amd_wave *w)
{
    uint32_t x = f32_bits(value), significand = 0, exponent = 0, sign = x >> 24 & 0x80;
    unsigned below = 0;
    if (!eight_split(x, mantissa, &significand, &below, &exponent))
        return (x & 0x7fffff) == 0 && w->mode >> 23 & 1 ? sign | 0x7f : 0x80;
    uint32_t whole = significand >> below, rest = significand & ((1u << below) - 1), half = 1u << (below - 1);
    whole += rest > half || (rest == half && whole & 1) ? 1 : 0;
    return eight_finish(sign, whole, exponent, mantissa, w);
}

/* With random bits in place of a rounding rule: the lowest ones of `random` are added below the result. */
static inline uint32_t eight_random(uint32_t x, uint32_t random, unsigned mantissa, const amd_wave *w)
{
    uint32_t significand = 0, exponent = 0, sign = x >> 24 & 0x80;
    unsigned below = 0;
    if (!eight_split(x, mantissa, &significand, &below, &exponent))
        return (x & 0x7fffff) == 0 && w->mode >> 23 & 1 ? sign | 0x7f : 0x80;
    uint64_t sum = (uint64_t)significand + (random & ((1u << below) - 1));
    return eight_finish(sign, (uint32_t)(sum >> below), exponent, mantissa, w);
}

static inline uint32_t fp8_round(float value, const amd_wave *w)
{
    return eight_round(value, 3, w);
}

static inline uint32_t bf8_round(float value, const amd_wave *w)
{
    return eight_round(value, 2, w);
}

#endif

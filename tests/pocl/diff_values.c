/* diff_values.c: inputs with the corner values of their type, and elements as numbers and as text. */
#include "diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool value_type_parse(const char *name, value_type *out)
{
    static const struct {
        const char *name;
        char kind;
        uint8_t bytes;
    } types[] = {
        { "char", 'i', 1 },  { "uchar", 'u', 1 },  { "short", 'i', 2 }, { "ushort", 'u', 2 },
        { "int", 'i', 4 },   { "uint", 'u', 4 },   { "long", 'i', 8 },  { "ulong", 'u', 8 },
        { "float", 'f', 4 }, { "double", 'f', 8 }, { "half", 'f', 2 },  { "size_t", 'u', 8 },
    };
    if (strncmp(name, "args_", 5) == 0) {
        *out = (value_type){ 's', (uint8_t)strtoul(name + 5, NULL, 10), 1 };
        return true;
    }
    const size_t letters = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == letters && strncmp(types[i].name, name, letters) == 0) {
            const unsigned long width = strtoul(name + letters, NULL, 10);
            *out = (value_type){ types[i].kind, types[i].bytes,
                                 width == 0   ? 1
                                 : width == 3 ? 4
                                              : (uint8_t)width };
            return true;
        }
    return false;
}

/* ---------------------------------------------------------------------------------------------- corners */

/* Around zero, around the halves of the range and at its ends, as bits of 64; cut to the type they give its
 * ends. */
static const uint64_t int_corners[] = {
    0,
    1,
    2,
    3,
    7,
    0x55,
    0x7f,
    0x80,
    0x81,
    0xff,
    0x7fff,
    0x8000,
    0x8001,
    0xffff,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xffffffff,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    UINT64_MAX,
    UINT64_MAX - 1,
    0x0123456789abcdef,
    0xfedcba9876543210,
    31,
    32,
    33,
    63,
    64,
    1000000,
};

/* Ordinary numbers, powers, ends of integer types, ties of rounding; the type's own ends follow below. */
static const double float_corners[] = {
    0.0,
    -0.0,
    1,
    -1,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.5,
    -2.5,
    3,
    0.1,
    -0.3,
    10,
    127.5,
    128,
    255.5,
    -128.5,
    32767.5,
    65504,
    65520,
    2147483647.0,
    2147483648.0,
    -2147483648.0,
    4294967295.0,
    9223372036854775808.0,
    -9223372036854775808.0,
    18446744073709551616.0,
    1e10,
    -1e-5,
    8388609.5,
    4503599627370497.5,
    3.14159265358979323846,
    0.785398163397448309616,
    88.5,
    -103.5,
    710.0,
};

static uint64_t type_corner(unsigned bytes, size_t index)
{
    static const uint64_t corners[3][9] = {
        /* largest, smallest normal, largest and smallest subnormal, infinities, quiet NaN, next to 1 */
        { 0x7bff, 0x0400, 0x03ff, 0x0001, 0x7c00, 0xfc00, 0x7e00, 0x3c01, 0x8001 },
        { 0x7f7fffff, 0x00800000, 0x007fffff, 0x00000001, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800001,
          0x80000001 },
        { 0x7fefffffffffffff, 0x0010000000000000, 0x000fffffffffffff, 0x0000000000000001, 0x7ff0000000000000,
          0xfff0000000000000, 0x7ff8000000000000, 0x3ff0000000000001, 0x8000000000000001 },
    };
    return corners[bytes == 2 ? 0 : bytes == 4 ? 1 : 2][index];
}

/* Rounded to nearest even; only for the corners, which are tame. */
static uint16_t half_of(double value)
{
    const double size = fabs(value);
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (size >= 65520)
        return sign | 0x7c00;
    int exponent;
    frexp(size, &exponent);
    const int shift = exponent < -13 ? -24 : exponent - 11;
    const double steps = nearbyint(ldexp(size, -shift));
    const unsigned bits = exponent < -13 ? 0 : (unsigned)(exponent + 13) << 10;
    return (uint16_t)(sign | (size == 0 ? 0 : bits + (unsigned)steps));
}

#define LS_COUNT(a) (sizeof(a) / sizeof(a)[0])

static size_t corner_count(value_type type)
{
    return type.kind == 'f' ? LS_COUNT(float_corners) + 9 : LS_COUNT(int_corners);
}

static uint64_t corner(value_type type, size_t index)
{
    if (type.kind != 'f')
        return int_corners[index];
    if (index >= LS_COUNT(float_corners))
        return type_corner(type.bytes, index - LS_COUNT(float_corners));
    const double value = float_corners[index];
    if (type.bytes == 2)
        return half_of(value);
    uint64_t bits = 0;
    const float as_float = (float)value;
    memcpy(&bits, type.bytes == 4 ? (const void *)&as_float : (const void *)&value, type.bytes);
    return bits;
}

/* Half of them any bits, half numbers of ordinary size. */
static uint64_t random_bits(value_type type, ls_random *random)
{
    const uint64_t any = ls_random_next(random);
    if (any >> 63)
        return ls_random_next(random);
    if (type.kind != 'f')
        return ls_random_next(random) >> ls_random_below(random, 64);
    const double value = (ls_random_real(random) - 0.5) * ldexp(1, (int)ls_random_below(random, 16));
    uint64_t bits = 0;
    const float as_float = (float)value;
    if (type.bytes == 2)
        return half_of(value);
    memcpy(&bits, type.bytes == 4 ? (const void *)&as_float : (const void *)&value, type.bytes);
    return bits;
}

static uint64_t named_bits(const char *name, value_type type, ls_random *random, bool *is_named)
{
    *is_named = true;
    if (strncmp(name, "small", 5) == 0)
        return ls_random_below(random, 16);
    if (strncmp(name, "unit", 4) == 0) {
        const double value = 2 * ls_random_real(random) - 1;
        const float as_float = (float)value;
        uint64_t bits = 0;
        memcpy(&bits, type.bytes == 4 ? (const void *)&as_float : (const void *)&value, type.bytes);
        return bits;
    }
    *is_named = false;
    return 0;
}

void value_fill(const char *arg_name, value_type type, unsigned which, void *data, size_t count,
                ls_random *random)
{
    if (type.kind == 's') {
        for (size_t i = 0; i < count * type.bytes; i++)
            ((uint8_t *)data)[i] = (uint8_t)ls_random_next(random);
        return;
    }
    if (strncmp(arg_name, "half_", 5) == 0)
        type.kind = 'f';
    const size_t corners = corner_count(type);
    for (size_t i = 0; i < count; i++) {
        bool is_named;
        uint64_t bits = named_bits(arg_name, type, random, &is_named);
        if (!is_named && count > 1 && i < corners * corners)
            bits = corner(type, which == 0   ? i % corners
                                : which == 1 ? i / corners
                                             : (i * 7 + i / corners) % corners);
        else if (!is_named)
            bits = random_bits(type, random);
        memcpy((uint8_t *)data + i * type.bytes, &bits, type.bytes);
    }
}

/* ------------------------------------------------------------------------------------------------ reading */

static uint64_t bits_at(value_type type, const void *data, size_t index)
{
    uint64_t bits = 0;
    memcpy(&bits, (const uint8_t *)data + index * type.bytes, type.bytes);
    return bits;
}

double value_get(value_type type, const void *data, size_t index)
{
    const uint64_t bits = bits_at(type, data, index);
    if (type.bytes == 2) {
        const int exponent = (int)(bits >> 10 & 31);
        const double fraction = (double)(bits & 1023);
        const double size = exponent == 31  ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                            : exponent == 0 ? ldexp(fraction, -24)
                                            : ldexp(fraction + 1024, exponent - 25);
        return bits >> 15 ? -size : size;
    }
    float as_float;
    double as_double;
    memcpy(&as_float, &bits, sizeof as_float);
    memcpy(&as_double, &bits, sizeof as_double);
    return type.bytes == 4 ? (double)as_float : as_double;
}

bool value_is_subnormal(value_type type, const void *data, size_t index)
{
    const double size = fabs(value_get(type, data, index));
    const double smallest = type.bytes == 2 ? 0x1p-14 : type.bytes == 4 ? 0x1p-126 : 0x1p-1022;
    return size > 0 && size < smallest;
}

const char *value_text(value_type type, const void *data, size_t index, char *out, size_t out_bytes)
{
    const uint64_t bits = bits_at(type, data, index);
    const int digits = type.bytes * 2;
    if (type.kind == 'f')
        snprintf(out, out_bytes, "%.17g (0x%0*" PRIx64 ")", value_get(type, data, index), digits, bits);
    else
        snprintf(out, out_bytes, "0x%0*" PRIx64, digits, bits);
    return out;
}

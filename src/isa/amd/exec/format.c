/* format.c: tables and conversions of texel formats. */
#include "isa/amd/exec/format.h"

#include <math.h>
#include <string.h>

/* Layouts in the order of GCN3's data formats; gfx10 numbers the same ones together with their number
 * formats. */
enum { FORMAT_LAYOUTS = 20 };
static const amd_texel format_layout[FORMAT_LAYOUTS] = {
    [1] = { .bits = { 8 }, .bytes = 1 },
    [2] = { .bits = { 16 }, .bytes = 2 },
    [3] = { .bits = { 8, 8 }, .bytes = 2 },
    [4] = { .bits = { 32 }, .bytes = 4 },
    [5] = { .bits = { 16, 16 }, .bytes = 4 },
    [6] = { .bits = { 11, 11, 10 }, .bytes = 4 }, /* "10_11_11": named from the highest bits down */
    [7] = { .bits = { 10, 11, 11 }, .bytes = 4 },
    [8] = { .bits = { 2, 10, 10, 10 }, .bytes = 4 },
    [9] = { .bits = { 10, 10, 10, 2 }, .bytes = 4 },
    [10] = { .bits = { 8, 8, 8, 8 }, .bytes = 4 },
    [11] = { .bits = { 32, 32 }, .bytes = 8 },
    [12] = { .bits = { 16, 16, 16, 16 }, .bytes = 8 },
    [13] = { .bits = { 32, 32, 32 }, .bytes = 12 },
    [14] = { .bits = { 32, 32, 32, 32 }, .bytes = 16 },
    [16] = { .bits = { 5, 6, 5 }, .bytes = 2 },
    [17] = { .bits = { 5, 5, 5, 1 }, .bytes = 2 }, /* "1_5_5_5" */
    [18] = { .bits = { 1, 5, 5, 5 }, .bytes = 2 },
    [19] = { .bits = { 4, 4, 4, 4 }, .bytes = 2 },
};

/* gfx10: from `first` on, one number per number format in the order of amd_number; of 32-bit components
 * only the last three, of formats without floats the first six. */
typedef struct format_run {
    uint8_t first, layout, numbers[7];
} format_run;
enum { U = AMD_NUMBER_UNORM, S, US, SS, UI, SI, FL = AMD_NUMBER_FLOAT, END = 0xff };
static const format_run format_runs[] = {
    { 1, 1, { U, S, US, SS, UI, SI, END } },
    { 7, 2, { U, S, US, SS, UI, SI, FL } },
    { 14, 3, { U, S, US, SS, UI, SI, END } },
    { 20, 4, { UI, SI, FL, END } },
    { 23, 5, { U, S, US, SS, UI, SI, FL } },
    { 30, 6, { U, S, US, SS, UI, SI, FL } },
    { 37, 7, { U, S, US, SS, UI, SI, FL } },
    { 44, 8, { U, S, US, SS, UI, SI, END } },
    { 50, 9, { U, S, US, SS, UI, SI, END } },
    { 56, 10, { U, S, US, SS, UI, SI, END } },
    { 62, 11, { UI, SI, FL, END } },
    { 65, 12, { U, S, US, SS, UI, SI, FL } },
    { 72, 13, { UI, SI, FL, END } },
    { 75, 14, { UI, SI, FL, END } },
    { 128, 1, { AMD_NUMBER_SRGB, END } },
    { 129, 3, { AMD_NUMBER_SRGB, END } },
    { 130, 10, { AMD_NUMBER_SRGB, END } },
    { 133, 16, { U, END } },
    { 134, 17, { U, END } },
    { 135, 18, { U, END } },
    { 136, 19, { U, END } },
};
enum { FORMAT_RUNS = sizeof format_runs / sizeof format_runs[0] };

amd_texel amd_format_gcn3(unsigned data_format, unsigned num_format)
{
    amd_texel none = { .bytes = 0 };
    if (data_format >= FORMAT_LAYOUTS || num_format > 9 || num_format == 6 || num_format == 8)
        return none;
    amd_texel texel = format_layout[data_format];
    texel.number = (uint8_t)(num_format == 9 ? AMD_NUMBER_SRGB : num_format);
    return texel;
}

amd_texel amd_format_gfx10(unsigned format)
{
    for (size_t i = 0; i < FORMAT_RUNS; i++)
        for (unsigned j = 0; j < 7 && format_runs[i].numbers[j] != END; j++)
            if (format_runs[i].first + j == format) {
                amd_texel texel = format_layout[format_runs[i].layout];
                texel.number = format_runs[i].numbers[j];
                return texel;
            }
    return (amd_texel){ .bytes = 0 };
}

static unsigned format_find(const amd_texel *texel)
{
    for (unsigned i = 1; i < FORMAT_LAYOUTS; i++)
        if (format_layout[i].bytes == texel->bytes && memcmp(format_layout[i].bits, texel->bits, 4) == 0)
            return i;
    return 0;
}

bool amd_format_code_gcn3(const amd_texel *texel, unsigned *data_format, unsigned *num_format)
{
    *data_format = format_find(texel);
    *num_format = texel->number == AMD_NUMBER_SRGB ? 9 : texel->number;
    return *data_format != 0;
}

bool amd_format_code_gfx10(const amd_texel *texel, unsigned *format)
{
    unsigned layout = format_find(texel);
    for (size_t i = 0; i < FORMAT_RUNS; i++)
        for (unsigned j = 0; j < 7 && format_runs[i].numbers[j] != END; j++)
            if (layout != 0 && format_runs[i].layout == layout && format_runs[i].numbers[j] == texel->number) {
                *format = format_runs[i].first + j;
                return true;
            }
    return false;
}

bool amd_format_is_integer(const amd_texel *texel)
{
    return texel->number == AMD_NUMBER_UINT || texel->number == AMD_NUMBER_SINT;
}

/* --- numbers -------------------------------------------------------------------------------------------- */

static uint32_t format_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float format_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A float of 5 exponent bits and `mantissa` bits below them. */
static float format_small(uint32_t bits, unsigned mantissa, bool negative)
{
    uint32_t fraction = bits & ((1u << mantissa) - 1);
    uint32_t exponent = bits >> mantissa & 0x1f;
    float value;
    if (exponent == 0x1f)
        value = fraction == 0 ? INFINITY : NAN;
    else if (exponent == 0)
        value = ldexpf((float)fraction, -14 - (int)mantissa);
    else
        value = ldexpf((float)(fraction | 1u << mantissa), (int)exponent - 15 - (int)mantissa);
    return negative ? -value : value;
}

float amd_half_to_float(uint16_t half)
{
    return format_small(half & 0x7fffu, 10, (half & 0x8000) != 0);
}

/* To nearest even; too large becomes infinite, as IEEE says. */
static uint32_t format_to_small(float value, unsigned mantissa)
{
    value = fabsf(value);
    if (isnan(value))
        return (0x1fu << mantissa) | 1u << (mantissa - 1);
    if (isinf(value))
        return 0x1fu << mantissa;
    if (value == 0)
        return 0;
    int exponent;
    frexpf(value, &exponent);
    if (exponent < -13)
        exponent = -13;
    float scaled = ldexpf(value, (int)mantissa + 1 - exponent); /* an integer in units of the last place */
    uint32_t units = (uint32_t)nearbyintf(scaled);
    uint32_t out =
        units + ((uint32_t)(exponent + 13) << mantissa); /* a carry moves into the exponent by itself */
    return out < (0x1fu << mantissa) ? out : 0x1fu << mantissa;
}

uint16_t amd_float_to_half(float value)
{
    return (uint16_t)(format_to_small(value, 10) | (signbit(value) ? 0x8000u : 0));
}

static float format_from_srgb(float value)
{
    return value <= 0.04045f ? value / 12.92f : powf((value + 0.055f) / 1.055f, 2.4f);
}

static float format_to_srgb(float value)
{
    if (!(value > 0))
        return 0;
    if (value >= 1)
        return 1;
    return value <= 0.0031308f ? value * 12.92f : 1.055f * powf(value, 1 / 2.4f) - 0.055f;
}

static uint32_t format_component(unsigned number, unsigned bits, uint32_t raw, bool alpha)
{
    uint32_t most = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    int32_t as_signed = (int32_t)(raw << (32 - bits)) >> (32 - bits);
    switch (number) {
    case AMD_NUMBER_UNORM:
        return format_bits((float)raw / (float)most);
    case AMD_NUMBER_SNORM: {
        float value = (float)as_signed / (float)(most >> 1);
        return format_bits(value < -1 ? -1 : value);
    }
    case AMD_NUMBER_USCALED:
        return format_bits((float)raw);
    case AMD_NUMBER_SSCALED:
        return format_bits((float)as_signed);
    case AMD_NUMBER_UINT:
        return raw;
    case AMD_NUMBER_SINT:
        return (uint32_t)as_signed;
    case AMD_NUMBER_SRGB: {
        float value = (float)raw / (float)most;
        return format_bits(alpha ? value : format_from_srgb(value));
    }
    default:
        break;
    }
    if (bits == 32)
        return raw;
    if (bits == 16)
        return format_bits(amd_half_to_float((uint16_t)raw));
    return format_bits(format_small(raw, bits - 5, false)); /* 10 and 11 bits: no sign */
}

void amd_format_read(const amd_texel *texel, const void *bytes, uint32_t out[4])
{
    uint8_t copy[16] = { 0 };
    memcpy(copy, bytes, texel->bytes);
    out[0] = out[1] = out[2] = 0;
    out[3] = amd_format_is_integer(texel) ? 1 : format_bits(1);
    unsigned at = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned bits = texel->bits[i];
        if (bits == 0)
            continue;
        uint64_t word = 0; /* a component lies within 8 bytes from its first one on */
        unsigned from = at / 8;
        memcpy(&word, copy + from, from + 8 <= sizeof copy ? 8 : sizeof copy - from);
        uint32_t raw = (uint32_t)(word >> at % 8) & (bits == 32 ? UINT32_MAX : (1u << bits) - 1);
        out[i] = format_component(texel->number, bits, raw, i == 3);
        at += bits;
    }
}

static float format_limit(float value, float least, float most)
{
    if (!(value > least)) /* NaN becomes the least for unsigned, 0 below for signed */
        return isnan(value) && least < 0 ? 0 : least;
    return value < most ? value : most;
}

static uint32_t format_raw(unsigned number, unsigned bits, uint32_t in, bool alpha)
{
    uint32_t most = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    int32_t high = (int32_t)(most >> 1), low = -high - 1;
    float value = format_float(in);
    switch (number) {
    case AMD_NUMBER_SRGB:
        value = alpha ? value : format_to_srgb(value);
        return (uint32_t)nearbyint((double)format_limit(value, 0, 1) * most);
    case AMD_NUMBER_UNORM:
        return (uint32_t)nearbyint((double)format_limit(value, 0, 1) * most);
    case AMD_NUMBER_SNORM:
        return (uint32_t)(int32_t)nearbyint((double)format_limit(value, -1, 1) * high) & most;
    case AMD_NUMBER_USCALED:
        return (uint32_t)(double)format_limit(value, 0, (float)most);
    case AMD_NUMBER_SSCALED:
        return (uint32_t)(int32_t)(double)format_limit(value, (float)low, (float)high) & most;
    case AMD_NUMBER_UINT:
        return in < most ? in : most;
    case AMD_NUMBER_SINT: {
        int32_t as_signed = (int32_t)in;
        as_signed = as_signed < low ? low : as_signed > high ? high : as_signed;
        return (uint32_t)as_signed & most;
    }
    default:
        break;
    }
    if (bits == 32)
        return in;
    if (bits == 16)
        return amd_float_to_half(value);
    return value > 0 || isnan(value) ? format_to_small(value, bits - 5) : 0;
}

void amd_format_write(const amd_texel *texel, const uint32_t in[4], void *bytes)
{
    uint64_t words[3] = { 0 };
    unsigned at = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned bits = texel->bits[i];
        if (bits == 0)
            continue;
        uint64_t raw = format_raw(texel->number, bits, in[i], i == 3);
        words[at / 64] |= raw << at % 64;
        at += bits;
    }
    memcpy(bytes, words, texel->bytes);
}

/* flops.c: floating-point operations of an opcode, for rooflines. A multiply-add counts two. Comparisons,
 * selections, conversions, minima and the functions of MUFU count none, as in profilers. */
#include "isa/sass/sass.h"

#include <string.h>

typedef struct flops_row {
    const char *name;
    uint32_t per_lane;
} flops_row;

static const flops_row rows[] = {
    { "FADD", 1 },      { "FADD32I", 1 }, { "FMUL", 1 },      { "FMUL32I", 1 }, { "FFMA", 2 },
    { "FFMA32I", 2 },   { "FADD2", 2 },   { "FMUL2", 2 },     { "FFMA2", 4 },   { "HADD2", 2 },
    { "HADD2_32I", 2 }, { "HMUL2", 2 },   { "HMUL2_32I", 2 }, { "HFMA2", 4 },   { "HFMA2_32I", 4 },
    { "DADD", 1 },      { "DMUL", 1 },    { "DFMA", 2 },
};

/* The first number of the text, at most `digits` of it; *used: how long it is. */
static uint32_t number(const char *text, size_t bytes, size_t digits, size_t *used)
{
    uint32_t value = 0;
    for (*used = 0; *used < bytes && *used < digits && text[*used] >= '0' && text[*used] <= '9'; ++*used)
        value = value * 10 + (uint32_t)(text[*used] - '0');
    return value;
}

/* HMMA.16816, DMMA.884: rows, 8 columns, depth, in one word. */
static uint32_t warp_shape(const char *text, size_t bytes)
{
    size_t digits, used;
    (void)number(text, bytes, bytes, &digits);
    if (digits < 3 || digits > 5)
        return 0;
    size_t first = digits == 3 ? 1 : 2;
    uint32_t m = number(text, digits, first, &used),
             k = number(text + first + 1, digits - first - 1, 2, &used);
    return text[first] == '8' ? m * 8 * k * 2 / 32 : 0;
}

/* HGMMA.64x128x16: of four warps together. */
static uint32_t group_shape(const char *text, size_t bytes)
{
    uint32_t product = 2;
    for (int i = 0; i < 3; i++) {
        size_t used;
        uint32_t side = number(text, bytes, 4, &used);
        product *= side;
        if (side == 0 || (i < 2 && (used == bytes || text[used] != 'x')))
            return 0;
        text += used + (i < 2);
        bytes -= used + (i < 2);
    }
    return product / 128;
}

uint32_t sass_flops(const char *opcode, size_t bytes)
{
    if (bytes == 0 || (opcode[0] != 'F' && opcode[0] != 'H' && opcode[0] != 'D')) /* nearly all others */
        return 0;
    const char *dot = memchr(opcode, '.', bytes);
    size_t name = dot != NULL ? (size_t)(dot - opcode) : bytes;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].name[0] == opcode[0] && strlen(rows[i].name) == name &&
            memcmp(rows[i].name, opcode, name) == 0)
            return rows[i].per_lane;
    if (dot == NULL)
        return 0;
    size_t rest = bytes - name - 1;
    if (name == 4 && (memcmp(opcode, "HMMA", 4) == 0 || memcmp(opcode, "DMMA", 4) == 0))
        return warp_shape(dot + 1, rest);
    if (name == 5 && memcmp(opcode, "HGMMA", 5) == 0)
        return group_shape(dot + 1, rest);
    return 0;
}

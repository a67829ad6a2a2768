/* hex.h: numbers in trace lines, eight characters at a time. These functions may read up to eight bytes past
 * the number: the reader's buffer has that room. */
#ifndef ACCELSIM_HEX_H
#define ACCELSIM_HEX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HEX_ONES 0x0101010101010101ull

static inline uint64_t hex_load(const char *p)
{
    uint64_t chars;
    memcpy(&chars, p, sizeof chars);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    chars = __builtin_bswap64(chars);
#endif
    return chars;
}

/* The high bit of each byte that is a hexadecimal digit; *letters: that is a letter. Each sum of a byte
 * below 128 and a constant sets its high bit exactly from one character on. */
static inline uint64_t hex_digits(uint64_t chars, uint64_t *letters)
{
    uint64_t low = chars & 0x7f * HEX_ONES, lower = low | 0x20 * HEX_ONES;
    uint64_t digit = (low + (0x80 - '0') * HEX_ONES) & ~(low + (0x7f - '9') * HEX_ONES);
    uint64_t letter = (lower + (0x80 - 'a') * HEX_ONES) & ~(lower + (0x7f - 'f') * HEX_ONES);
    uint64_t ascii = ~chars & 0x80 * HEX_ONES;
    *letters = letter & ascii;
    return (digit | letter) & ascii;
}

/* The value of the first `count` characters, 1 to 8, all of them digits. */
static inline uint32_t hex_value(uint64_t chars, uint64_t letters, unsigned count)
{
    uint64_t nibbles = (chars & 0x0f * HEX_ONES) + (letters >> 7) * 9;
    nibbles <<= 8 * (8 - count); /* the first character is the lowest byte: zeros come before it */
    nibbles = (nibbles << 4 | nibbles >> 8) & 0x00ff00ff00ff00ffull;
    nibbles = (nibbles << 8 | nibbles >> 16) & 0x0000ffff0000ffffull;
    return (uint32_t)(nibbles << 16 | nibbles >> 32);
}

/* How many digits stand at p, up to 8, and their value. */
static inline unsigned hex_read(const char *p, uint32_t *value)
{
    uint64_t letters, chars = hex_load(p), other = ~hex_digits(chars, &letters) & 0x80 * HEX_ONES;
    unsigned count = other ? (unsigned)__builtin_ctzll(other) >> 3 : 8;
    *value = count ? hex_value(chars, letters, count) : 0;
    return count;
}

/* 1 to 16 digits; returns what follows them, or NULL. */
static inline const char *hex_read64(const char *p, uint64_t *value)
{
    uint32_t part, more, last;
    unsigned count = hex_read(p, &part);
    *value = part;
    if (count < 8)
        return count ? p + count : NULL;
    unsigned next = hex_read(p + 8, &more);
    if (next == 8 && hex_read(p + 16, &last) != 0)
        return NULL;
    if (next)
        *value = (uint64_t)part << (4 * next) | more;
    return p + 8 + next;
}

/* "0x" and 1 to 16 digits. */
static inline const char *hex_read_address(const char *p, uint64_t *value)
{
    return p[0] == '0' && (p[1] | 0x20) == 'x' ? hex_read64(p + 2, value) : NULL;
}

/* Decimal with optional sign, up to 18 digits. */
static inline const char *hex_read_decimal(const char *p, int64_t *value)
{
    bool negative = *p == '-';
    p += negative;
    const char *first = p;
    int64_t number = 0;
    for (unsigned digit; (digit = (unsigned)(unsigned char)*p - '0') <= 9 && p - first < 18; p++)
        number = number * 10 + digit;
    *value = negative ? -number : number;
    return p == first || (unsigned)(unsigned char)*p - '0' <= 9 ? NULL : p;
}

#endif

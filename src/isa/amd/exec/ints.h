/* ints.h: the integer helpers that the rows of valu_int.def and valu_packed.def name, one value at a time. */
#ifndef ISA_AMD_EXEC_INTS_H
#define ISA_AMD_EXEC_INTS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t min_u(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}
static inline uint32_t max_u(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}
static inline int32_t min_i(int32_t a, int32_t b)
{
    return a < b ? a : b;
}
static inline int32_t max_i(int32_t a, int32_t b)
{
    return a > b ? a : b;
}
static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}
static inline int64_t clamp_i64(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* --- saturation ----------------------------------------------------------------------------------------- */

static inline uint32_t sat_u32(uint64_t x)
{
    return (uint32_t)min_u64(x, UINT32_MAX);
}
static inline uint32_t sat_i32(int64_t x)
{
    return (uint32_t)(int32_t)clamp_i64(x, INT32_MIN, INT32_MAX);
}
static inline int32_t sat_i16(int32_t x)
{
    return max_i(min_i(x, 32767), -32768);
}
static inline uint32_t sat_u8(int32_t x)
{
    return (uint32_t)max_i(min_i(x, 255), 0);
}

/* --- bits ----------------------------------------------------------------------------------------------- */

/* Without the host's own instructions, which have no vector form. */
static inline uint32_t bit_count(uint32_t x)
{
    x = x - (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    x = x + (x >> 8);
    return (x + (x >> 16)) & 0x3fu;
}

static inline uint32_t bit_reverse(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}

/* Zeros before the first one, from above and from below; all ones if there is none. */
static inline uint32_t first_high(uint32_t x)
{
    uint32_t y = x;
    y |= y >> 1;
    y |= y >> 2;
    y |= y >> 4;
    y |= y >> 8;
    y |= y >> 16;
    return x ? 32u - bit_count(y) : UINT32_MAX;
}

static inline uint32_t first_low(uint32_t x)
{
    return x ? bit_count((x & (0u - x)) - 1u) : UINT32_MAX;
}

/* How many bits below the sign repeat it, counted with the sign; all ones for 0 and -1. */
static inline uint32_t first_high_signed(uint32_t x)
{
    return first_high(x ^ (0u - (x >> 31)));
}

/* A field that reaches beyond bit 31 is filled with the sign of x, as by an arithmetic shift. */
static inline uint32_t bfe_signed(uint32_t x, uint32_t offset, uint32_t width)
{
    uint32_t field = (uint32_t)((int32_t)x >> offset) & ((1u << width) - 1u);
    uint32_t sign = (1u << width) >> 1;
    return (field ^ sign) - sign;
}

/* Two shifts of the upper word: a count of 0 leaves nothing of it. */
static inline uint32_t align(uint32_t high, uint32_t low, uint32_t count)
{
    return low >> count | high << 1 << (31u - count);
}

static inline int32_t sext24(uint32_t x)
{
    return (int32_t)(x << 8) >> 8;
}

static inline uint32_t byte_of(uint32_t x, uint32_t n)
{
    return x >> (8u * n) & 0xffu;
}

static inline int32_t half_i(uint32_t x, uint32_t n)
{
    return (int32_t)(x << (16u - 16u * n)) >> 16;
}

/* Byte 0-3 of S1, 4-7 of S0, 8-11 the sign of S1's and S0's halves, 12 is 0, above it 0xff. */
static inline uint32_t byte_select(uint32_t s0, uint32_t s1, uint32_t sel)
{
    uint32_t byte = byte_of(sel & 4 ? s0 : s1, sel & 3);
    uint32_t word = sel & 2 ? s0 : s1;
    uint32_t sign = (sel & 1 ? word >> 31 : word >> 15 & 1) ? 0xffu : 0u;
    return sel < 8 ? byte : sel < 12 ? sign : sel == 12 ? 0u : 0xffu;
}

static inline uint32_t byte_permute(uint32_t s0, uint32_t s1, uint32_t sel)
{
    return byte_select(s0, s1, sel & 0xff) | byte_select(s0, s1, sel >> 8 & 0xff) << 8 |
           byte_select(s0, s1, sel >> 16 & 0xff) << 16 | byte_select(s0, s1, sel >> 24) << 24;
}

/* The usual case: all lanes move the same bytes, and none is a sign. */
static inline bool bytes_are_same(const uint32_t *sel, unsigned lanes)
{
    uint32_t differ = 0;
    for (unsigned i = 0; i < lanes; i++)
        differ |= sel[i] ^ sel[0];
    for (unsigned n = 0; n < 4; n++)
        differ |= (sel[0] >> 8 * n & 0xfcu) == 8;
    return differ == 0;
}
static inline uint32_t byte_pick(uint32_t s0, uint32_t s1, uint32_t sel, unsigned n)
{
    uint32_t k = sel >> 8 * n & 0xffu, from_s0 = 0u - (k >> 2 & 1u);
    uint32_t kept = k < 8 ? 0xffu : 0u, ones = k > 12 ? 0xffu : 0u;
    return (((s1 ^ ((s0 ^ s1) & from_s0)) >> 8 * (k & 3u) & kept) | ones) << 8 * n;
}
static inline uint32_t byte_permute_all(uint32_t s0, uint32_t s1, uint32_t sel)
{
    return byte_pick(s0, s1, sel, 0) | byte_pick(s0, s1, sel, 1) | byte_pick(s0, s1, sel, 2) |
           byte_pick(s0, s1, sel, 3);
}

/* The lanes below this one, in the low and in the high half of a wave. */
static inline uint32_t mbcnt_low(uint32_t lane)
{
    return lane < 32 ? (1u << (lane & 31u)) - 1u : UINT32_MAX;
}
static inline uint32_t mbcnt_high(uint32_t lane)
{
    return lane < 32 ? 0u : (1u << (lane & 31u)) - 1u;
}

static inline bool mad_overflows(int32_t a, int32_t b, uint64_t c)
{
    uint64_t p = (uint64_t)((int64_t)a * b), s = p + c;
    return ((p ^ s) & (c ^ s)) >> 63;
}

/* The carry out of the signed sum: bit 64 of it in 65 bits, which is the sign of the exact result. */
static inline bool mad_carry(int32_t a, int32_t b, uint64_t c)
{
    uint64_t s = (uint64_t)((int64_t)a * b) + c;
    return (s >> 63) != mad_overflows(a, b, c);
}

static inline uint64_t mad_saturated(int32_t a, int32_t b, uint64_t c)
{
    uint64_t limit = UINT64_C(0x7fffffffffffffff) + (c >> 63);
    return mad_overflows(a, b, c) ? limit : (uint64_t)((int64_t)a * b) + c;
}

/* --- sums over bytes ------------------------------------------------------------------------------------ */

static inline uint32_t abs_diff(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static inline uint32_t sad4(uint32_t a, uint32_t b)
{
    return abs_diff(byte_of(a, 0), byte_of(b, 0)) + abs_diff(byte_of(a, 1), byte_of(b, 1)) +
           abs_diff(byte_of(a, 2), byte_of(b, 2)) + abs_diff(byte_of(a, 3), byte_of(b, 3));
}

static inline uint32_t sad2(uint32_t a, uint32_t b)
{
    return abs_diff(a & 0xffffu, b & 0xffffu) + abs_diff(a >> 16, b >> 16);
}

/* As sad4, without the bytes where the reference (b) is 0. */
static inline uint32_t msad1(uint32_t a, uint32_t b)
{
    return b ? abs_diff(a, b) : 0u;
}
static inline uint32_t msad4(uint32_t a, uint32_t b)
{
    return msad1(byte_of(a, 0), byte_of(b, 0)) + msad1(byte_of(a, 1), byte_of(b, 1)) +
           msad1(byte_of(a, 2), byte_of(b, 2)) + msad1(byte_of(a, 3), byte_of(b, 3));
}

/* Four sums at byte offsets 0 to 3 of the eight bytes of a. */
static inline uint64_t qsad(uint64_t a, uint32_t b, uint64_t c)
{
    uint64_t r = 0;
    for (unsigned k = 0; k < 4; k++)
        r |= (uint64_t)((sad4((uint32_t)(a >> 8 * k), b) + (uint32_t)(c >> 16 * k)) & 0xffffu) << 16 * k;
    return r;
}
static inline uint64_t mqsad(uint64_t a, uint32_t b, uint64_t c)
{
    uint64_t r = 0;
    for (unsigned k = 0; k < 4; k++)
        r |= (uint64_t)((msad4((uint32_t)(a >> 8 * k), b) + (uint32_t)(c >> 16 * k)) & 0xffffu) << 16 * k;
    return r;
}

static inline uint64_t qsad_saturated(uint64_t a, uint32_t b, uint64_t c)
{
    uint64_t r = 0;
    for (unsigned k = 0; k < 4; k++)
        r |= (uint64_t)min_u(sad4((uint32_t)(a >> 8 * k), b) + (uint32_t)(c >> 16 * k & 0xffffu), 0xffffu)
             << 16 * k;
    return r;
}
static inline uint64_t mqsad_saturated(uint64_t a, uint32_t b, uint64_t c)
{
    uint64_t r = 0;
    for (unsigned k = 0; k < 4; k++)
        r |= (uint64_t)min_u(msad4((uint32_t)(a >> 8 * k), b) + (uint32_t)(c >> 16 * k & 0xffffu), 0xffffu)
             << 16 * k;
    return r;
}

/* (a + b + rounding bit) / 2 per byte. */
static inline uint32_t lerp1(uint32_t a, uint32_t b, uint32_t c, uint32_t n)
{
    return (byte_of(a, n) + byte_of(b, n) + (byte_of(c, n) & 1u)) >> 1 << 8u * n;
}
static inline uint32_t lerp4(uint32_t a, uint32_t b, uint32_t c)
{
    return lerp1(a, b, c, 0) | lerp1(a, b, c, 1) | lerp1(a, b, c, 2) | lerp1(a, b, c, 3);
}

/* --- dot products --------------------------------------------------------------------------------------- */

static inline int32_t field_i(uint32_t x, unsigned bits, unsigned n)
{
    return (int32_t)(x << (32u - bits - bits * n)) >> (32u - bits);
}

static inline uint32_t dot4_i(uint32_t a, uint32_t b)
{
    return (uint32_t)(field_i(a, 8, 0) * field_i(b, 8, 0) + field_i(a, 8, 1) * field_i(b, 8, 1) +
                      field_i(a, 8, 2) * field_i(b, 8, 2) + field_i(a, 8, 3) * field_i(b, 8, 3));
}

static inline uint32_t dot4_u(uint32_t a, uint32_t b)
{
    return byte_of(a, 0) * byte_of(b, 0) + byte_of(a, 1) * byte_of(b, 1) + byte_of(a, 2) * byte_of(b, 2) +
           byte_of(a, 3) * byte_of(b, 3);
}

static inline uint32_t dot8_i(uint32_t a, uint32_t b)
{
    int32_t sum = 0;
    for (unsigned n = 0; n < 8; n++)
        sum += field_i(a, 4, n) * field_i(b, 4, n);
    return (uint32_t)sum;
}

static inline uint32_t dot8_u(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (unsigned n = 0; n < 8; n++)
        sum += (a >> 4 * n & 15u) * (b >> 4 * n & 15u);
    return sum;
}

#endif

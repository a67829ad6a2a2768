/* exact.h: floating point by exact arithmetic, for the models that instructions are compared with. A number is
 * a fixed-point integer that is wide enough for every sum of products of its format, and is rounded once by
 * looking at its bits. Slow and simple: no host floating point, nothing shared with the code under test. */
#ifndef TESTS_ISA_MODEL_EXACT_H
#define TESTS_ISA_MODEL_EXACT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* A format: bits in all and of the significand's fraction; `low` is the weight of an exact number's last bit
 * as a power of two, `words` its length. */
typedef struct format {
    unsigned bits, fraction;
    int bias, low, words;
} format;
static const format F16 = { 16, 10, 15, -128, 4 };
static const format F32 = { 32, 23, 127, -320, 10 };
static const format F64 = { 64, 52, 1023, -2304, 74 };

/* How sources and results are treated: MODE's fields for one width. */
typedef struct rules {
    unsigned round; /* 0 nearest even, 1 up, 2 down, 3 to zero */
    bool flush_in, flush_out;
} rules;

enum { EXACT_WORDS = 74 };
typedef struct exact {
    bool negative;
    uint64_t word[EXACT_WORDS]; /* magnitude, least significant first */
} exact;

/* --- fields --- */

static inline uint64_t ones(unsigned n)
{
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}
static inline uint64_t sign_bit(format f)
{
    return UINT64_C(1) << (f.bits - 1);
}
static inline bool negative(format f, uint64_t x)
{
    return x >> (f.bits - 1) & 1;
}
static inline unsigned exponent_field(format f, uint64_t x)
{
    return (unsigned)(x >> f.fraction & ones(f.bits - 1 - f.fraction));
}
static inline uint64_t fraction_field(format f, uint64_t x)
{
    return x & ones(f.fraction);
}
static inline uint64_t infinity(format f)
{
    return ones(f.bits - 1 - f.fraction) << f.fraction;
}
static inline uint64_t magnitude(format f, uint64_t x)
{
    return x & (sign_bit(f) - 1);
}
static inline bool is_nan(format f, uint64_t x)
{
    return magnitude(f, x) > infinity(f);
}
static inline bool is_signalling(format f, uint64_t x)
{
    return is_nan(f, x) && !(x >> (f.fraction - 1) & 1);
}
static inline bool is_infinite(format f, uint64_t x)
{
    return magnitude(f, x) == infinity(f);
}
static inline bool is_zero(format f, uint64_t x)
{
    return magnitude(f, x) == 0;
}
static inline bool is_denormal(format f, uint64_t x)
{
    return !is_zero(f, x) && exponent_field(f, x) == 0;
}
static inline uint64_t quiet(format f, uint64_t x)
{
    return x | UINT64_C(1) << (f.fraction - 1);
}
static inline uint64_t default_nan(format f)
{
    return sign_bit(f) | quiet(f, infinity(f));
}
static inline uint64_t with_sign(format f, bool minus, uint64_t x)
{
    return magnitude(f, x) | (minus ? sign_bit(f) : 0);
}
static inline uint64_t flushed(format f, uint64_t x, bool on)
{
    return on && is_denormal(f, x) ? x & sign_bit(f) : x;
}

/* A finite number is significand * 2^power. */
static inline uint64_t mantissa(format f, uint64_t x)
{
    return fraction_field(f, x) | (exponent_field(f, x) ? UINT64_C(1) << f.fraction : 0);
}
static inline int power(format f, uint64_t x)
{
    unsigned e = exponent_field(f, x);
    return (int)(e ? e : 1) - f.bias - (int)f.fraction;
}

/* --- exact numbers --- */

static inline exact exact_of(format f, bool minus, u128 m, int p)
{
    exact r;
    memset(r.word, 0, (size_t)f.words * sizeof *r.word);
    r.negative = minus;
    int at = p - f.low;
    if (at < 0 || m == 0) /* callers stay above `low`; 0 is 0 */
        return r;
    for (int k = 0; k < 128 && m >> k; k++)
        if (m >> k & 1 && (at + k) / 64 < f.words)
            r.word[(at + k) / 64] |= UINT64_C(1) << (at + k) % 64;
    return r;
}

static inline int exact_compare(format f, const exact *x, const exact *y)
{
    for (int k = f.words; k-- > 0;)
        if (x->word[k] != y->word[k])
            return x->word[k] < y->word[k] ? -1 : 1;
    return 0;
}

static inline exact exact_add(format f, const exact *x, const exact *y)
{
    exact r;
    uint64_t carry = 0;
    if (x->negative == y->negative) {
        r.negative = x->negative;
        for (int k = 0; k < f.words; k++) {
            u128 sum = (u128)x->word[k] + y->word[k] + carry;
            r.word[k] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        return r;
    }
    bool swap = exact_compare(f, x, y) < 0;
    const exact *big = swap ? y : x, *small = swap ? x : y;
    r.negative = big->negative;
    for (int k = 0; k < f.words; k++) {
        u128 difference = (u128)big->word[k] - small->word[k] - carry;
        r.word[k] = (uint64_t)difference;
        carry = (uint64_t)(difference >> 64) & 1;
    }
    return r;
}

static inline bool exact_is_zero(format f, const exact *x)
{
    for (int k = 0; k < f.words; k++)
        if (x->word[k])
            return false;
    return true;
}

static inline int exact_top(format f, const exact *x)
{
    for (int k = f.words; k-- > 0;)
        if (x->word[k])
            return 64 * k + 63 - __builtin_clzll(x->word[k]);
    return -1;
}

/* Whether |x|, times 2^shift, is more than 0 below bit `at`. */
static inline bool exact_any_below(const exact *x, int at)
{
    for (int k = 0; k < at / 64; k++)
        if (x->word[k])
            return true;
    return at % 64 && x->word[at / 64] & ones((unsigned)at % 64);
}

static inline uint64_t exact_bits(format f, const exact *x, int at, unsigned count)
{
    uint64_t r = 0;
    for (unsigned k = 0; k < count; k++) {
        int bit = at + (int)k;
        if (bit >= 0 && bit / 64 < f.words)
            r |= (x->word[bit / 64] >> bit % 64 & 1) << k;
    }
    return r;
}

/* The bits of |x| from place `at` on, rounded there. */
static inline uint64_t exact_cut(format f, const exact *x, int at, unsigned count, unsigned round)
{
    int top = exact_top(f, x);
    bool half = false, rest = false;
    uint64_t kept = at > top ? 0 : exact_bits(f, x, at, count);
    if (at > 0) {
        half = at - 1 <= top && exact_bits(f, x, at - 1, 1);
        rest = at - 1 > top || exact_any_below(x, at - 1);
    }
    bool inexact = half || rest;
    return kept + (round == 0   ? half && (rest || kept & 1)
                   : round == 1 ? inexact && !x->negative
                   : round == 2 ? inexact && x->negative
                                : false);
}

/* x * 2^scale of format `from`, rounded to format `to`. */
static inline uint64_t exact_round(format from, const exact *x, int scale, format to, rules how)
{
    uint64_t minus = x->negative ? sign_bit(to) : 0;
    int top = exact_top(from, x), fraction = (int)to.fraction;
    if (top < 0)
        return minus;
    int leading = top + from.low + scale; /* the power of two of x's first bit */
    if (how.flush_out && to.bits > 16) {
        /* A result is flushed if it is tiny after rounding as if exponents had no limit; a half, if it is a
         * denormal. Which of the two rules the hardware uses is not documented. */
        bool carried = exact_cut(from, x, top - fraction, to.fraction + 2, how.round) >> (fraction + 1);
        if (leading + carried < 1 - to.bias)
            return minus;
    }
    int last = leading - fraction, smallest = 1 - to.bias - fraction;
    if (last < smallest)
        last = smallest;
    uint64_t kept = exact_cut(from, x, last - from.low - scale, to.fraction + 2, how.round);
    if (kept >> (fraction + 1)) {
        kept >>= 1;
        last++;
    }
    int e = last + fraction + to.bias;
    if (!(kept >> fraction))
        return how.flush_out ? minus : minus | kept;
    if (e < 2 * to.bias + 1)
        return minus | (uint64_t)e << fraction | (kept & ones(to.fraction));
    bool to_infinity = how.round == 0 || (how.round == 1 && !x->negative) || (how.round == 2 && x->negative);
    return minus | (to_infinity ? infinity(to) : infinity(to) - 1);
}

/* --- arithmetic on bits --- */

/* The first NaN of the sources, quiet. */
static inline uint64_t nan_of(format f, uint64_t a, uint64_t b, uint64_t c)
{
    return is_nan(f, a)   ? quiet(f, a)
           : is_nan(f, b) ? quiet(f, b)
           : is_nan(f, c) ? quiet(f, c)
                          : default_nan(f);
}

/* a * b + c with one rounding, times 2^scale. */
static inline uint64_t fused(format f, uint64_t a, uint64_t b, uint64_t c, int scale, rules how)
{
    a = flushed(f, a, how.flush_in);
    b = flushed(f, b, how.flush_in);
    c = flushed(f, c, how.flush_in);
    bool minus = negative(f, a) != negative(f, b);
    if (is_nan(f, a) || is_nan(f, b) || is_nan(f, c))
        return nan_of(f, a, b, c);
    if (is_infinite(f, a) || is_infinite(f, b)) {
        if (is_zero(f, a) || is_zero(f, b) || (is_infinite(f, c) && negative(f, c) != minus))
            return default_nan(f);
        return with_sign(f, minus, infinity(f));
    }
    if (is_infinite(f, c))
        return c;
    exact p = exact_of(f, minus, (u128)mantissa(f, a) * mantissa(f, b), power(f, a) + power(f, b));
    exact z = exact_of(f, negative(f, c), mantissa(f, c), power(f, c));
    exact s = exact_add(f, &p, &z);
    if (exact_is_zero(f, &s)) /* equal signs keep theirs; a cancellation is -0 only when rounding down */
        s.negative = exact_is_zero(f, &p) && exact_is_zero(f, &z) && p.negative == z.negative ? p.negative
                                                                                              : how.round == 2;
    return exact_round(f, &s, scale, f, how);
}

static inline uint64_t one(format f)
{
    return (uint64_t)f.bias << f.fraction;
}
static inline uint64_t sum(format f, uint64_t a, uint64_t b, rules how)
{
    if (is_nan(f, a) || is_nan(f, b))
        return nan_of(f, a, b, 0);
    return fused(f, a, one(f), b, 0, how);
}
static inline uint64_t difference(format f, uint64_t a, uint64_t b, rules how)
{
    if (is_nan(f, a) || is_nan(f, b))
        return nan_of(f, a, b, 0);
    return fused(f, a, one(f), b ^ sign_bit(f), 0, how);
}
static inline uint64_t product(format f, uint64_t a, uint64_t b, rules how)
{
    bool minus = negative(f, a) != negative(f, b); /* so that a zero product keeps its sign */
    return fused(f, a, b, with_sign(f, minus, 0), 0, how);
}
static inline uint64_t scaled(format f, uint64_t x, int n, rules how)
{
    x = flushed(f, x, how.flush_in);
    if (is_nan(f, x))
        return quiet(f, x);
    if (is_infinite(f, x))
        return x;
    n = n > 5000 ? 5000 : n < -5000 ? -5000 : n;
    exact e = exact_of(f, negative(f, x), mantissa(f, x), power(f, x));
    return exact_round(f, &e, n, f, how);
}

static inline uint64_t converted(format from, uint64_t x, format to, rules in, rules out)
{
    x = flushed(from, x, in.flush_in);
    if (is_nan(from, x)) {
        uint64_t payload = fraction_field(from, x);
        payload = from.fraction > to.fraction ? payload >> (from.fraction - to.fraction)
                                              : payload << (to.fraction - from.fraction);
        return quiet(to, (negative(from, x) ? sign_bit(to) : 0) | infinity(to) | payload);
    }
    if (is_infinite(from, x))
        return with_sign(to, negative(from, x), infinity(to));
    exact e = exact_of(from, negative(from, x), mantissa(from, x), power(from, x));
    return exact_round(from, &e, 0, to, out);
}

static inline uint64_t of_integer(bool minus, uint64_t value, format to, rules how)
{
    exact e = exact_of(F64, minus, value, 0);
    uint64_t r = exact_round(F64, &e, 0, to, how);
    return value ? r : 0;
}

/* The integer of x: 0 to zero, 1 up, 2 down, 3 nearest even. As a number of the same format. */
static inline uint64_t whole(format f, uint64_t x, unsigned way)
{
    if (is_nan(f, x))
        return quiet(f, x);
    int p = power(f, x);
    if (is_infinite(f, x) || p >= 0)
        return x;
    uint64_t m = mantissa(f, x);
    unsigned drop = (unsigned)-p;
    uint64_t kept = drop < 64 ? m >> drop : 0, lost = drop < 64 ? m & ones(drop) : m;
    u128 twice = (u128)lost << 1, unit = drop < 100 ? (u128)1 << drop : (u128)1 << 100;
    bool up = way == 1   ? lost && !negative(f, x)
              : way == 2 ? lost && negative(f, x)
              : way == 3 ? twice > unit || (twice == unit && kept & 1)
                         : false;
    kept += up;
    exact e = exact_of(f, negative(f, x), kept, 0);
    return exact_round(f, &e, 0, f, (rules){ 0 });
}

/* x to an integer towards zero, saturated to [low, high]; NaN is 0. */
static inline int64_t to_integer(format f, uint64_t x, int64_t low, int64_t high)
{
    if (is_nan(f, x))
        return 0;
    int p = power(f, x);
    uint64_t m = mantissa(f, x);
    u128 big = is_infinite(f, x) || p > 60 ? (m ? (u128)1 << 100 : 0)
               : p >= 0                    ? (u128)m << p
               : p > -64                   ? m >> -p
                                           : 0;
    if (negative(f, x))
        return big > (u128)(-(s128)low) ? low : -(int64_t)big;
    return big > (u128)(s128)high ? high : (int64_t)big;
}

/* -1, 0, 1, or 2 if unordered. */
static inline int order(format f, uint64_t a, uint64_t b)
{
    if (is_nan(f, a) || is_nan(f, b))
        return 2;
    if (is_zero(f, a) && is_zero(f, b))
        return 0;
    if (negative(f, a) != negative(f, b))
        return negative(f, a) ? -1 : 1;
    uint64_t x = magnitude(f, a), y = magnitude(f, b);
    int r = x < y ? -1 : x > y ? 1 : 0;
    return negative(f, a) ? -r : r;
}

/* As the manuals write minimum and maximum: signalling NaNs first (IEEE mode), then numbers, -0 below +0. */
static inline uint64_t extreme(format f, uint64_t a, uint64_t b, bool largest, bool ieee)
{
    if (ieee && is_signalling(f, a))
        return quiet(f, a);
    if (ieee && is_signalling(f, b))
        return quiet(f, b);
    if (is_nan(f, a))
        return b;
    if (is_nan(f, b))
        return a;
    if (is_zero(f, a) && is_zero(f, b))
        return negative(f, a) == largest ? b : a;
    return (order(f, a, b) < 0) == largest ? b : a;
}

/* --- to host numbers and back, for functions that have no exact result --- */

static inline long double value_of(format f, uint64_t x)
{
    long double m = (long double)mantissa(f, x);
    if (is_nan(f, x))
        return __builtin_nanl("");
    m = is_infinite(f, x) ? __builtin_infl() : __builtin_ldexpl(m, power(f, x));
    return negative(f, x) ? -m : m;
}

/* How many steps of the format lie between two numbers of one sign; huge if they cannot be compared. */
static inline uint64_t steps_between(format f, uint64_t a, uint64_t b)
{
    if (a == b)
        return 0;
    if (is_nan(f, a) || is_nan(f, b) || negative(f, a) != negative(f, b))
        return UINT64_MAX;
    return a > b ? a - b : b - a;
}

#endif

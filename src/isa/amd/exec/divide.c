/* divide.c: the parts of double-precision division and argument reduction that no vector instruction does: a
 * fused product with a scaled result, and the digits of 2/pi. Pure functions of their arguments. */
#include "isa/amd/exec/divide.h"

/* --- a * b + c scaled, one rounding --------------------------------------------------------------------- */

/* 192 bits, least significant word first. */
typedef struct wide {
    uint64_t word[3];
} wide;

static wide wide_shift_left(wide x, unsigned n)
{
    for (; n >= 64; n -= 64) {
        x.word[2] = x.word[1];
        x.word[1] = x.word[0];
        x.word[0] = 0;
    }
    if (n) {
        x.word[2] = x.word[2] << n | x.word[1] >> (64 - n);
        x.word[1] = x.word[1] << n | x.word[0] >> (64 - n);
        x.word[0] <<= n;
    }
    return x;
}

/* Bits that fall out stay as one sticky bit. */
static wide wide_shift_right(wide x, unsigned n)
{
    uint64_t lost = 0;
    for (; n >= 64; n -= 64) {
        lost |= x.word[0];
        x.word[0] = x.word[1];
        x.word[1] = x.word[2];
        x.word[2] = 0;
    }
    if (n) {
        lost |= x.word[0] << (64 - n);
        x.word[0] = x.word[0] >> n | x.word[1] << (64 - n);
        x.word[1] = x.word[1] >> n | x.word[2] << (64 - n);
        x.word[2] >>= n;
    }
    x.word[0] |= lost != 0;
    return x;
}

static int wide_compare(const wide *x, const wide *y)
{
    for (int k = 2; k >= 0; k--)
        if (x->word[k] != y->word[k])
            return x->word[k] < y->word[k] ? -1 : 1;
    return 0;
}

static wide wide_add(wide x, wide y)
{
    wide r;
    uint64_t carry = 0;
    for (int k = 0; k < 3; k++) {
        uint64_t sum = x.word[k] + carry;
        carry = sum < carry;
        r.word[k] = sum + y.word[k];
        carry += r.word[k] < sum;
    }
    return r;
}

static wide wide_subtract(wide x, wide y)
{
    wide r;
    uint64_t borrow = 0;
    for (int k = 0; k < 3; k++) {
        uint64_t part = x.word[k] - borrow;
        borrow = x.word[k] < borrow;
        r.word[k] = part - y.word[k];
        borrow += part < y.word[k];
    }
    return r;
}

static unsigned wide_top(const wide *x)
{
    for (unsigned k = 3; k-- > 0;)
        if (x->word[k])
            return k * 64 + 63 - (unsigned)__builtin_clzll(x->word[k]);
    return 0;
}

/* value = significand * 2^exponent for finite numbers */
static uint64_t significand_of(uint64_t x, int32_t *exponent)
{
    int32_t e = f64_exponent(x);
    *exponent = (e ? e : 1) - 1075;
    return (x & UINT64_C(0xfffffffffffff)) | (e ? UINT64_C(0x10000000000000) : 0);
}

/* The bits of x from `drop` on, rounded as MODE's two bits say. */
static uint64_t cut(const wide *x, int32_t drop, bool negative, uint32_t round)
{
    uint64_t below = 0, half = 0, kept = 0;
    for (int32_t k = 0; k <= (int32_t)wide_top(x); k++) {
        uint64_t bit = x->word[k / 64] >> (k % 64) & 1;
        if (k < drop - 1)
            below |= bit;
        else if (k == drop - 1)
            half = bit;
        else
            kept |= bit << (k - drop);
    }
    uint64_t lost = half | below;
    return kept + (round == 0   ? half & (below | (kept & 1))
                   : round == 1 ? lost & !negative
                   : round == 2 ? lost & negative
                                : 0);
}

/* Rounds x * 2^exponent. `flush`: results that are tiny before denormals lose bits become 0. */
static uint64_t pack(wide x, int32_t exponent, uint64_t sign, uint32_t round, bool flush)
{
    const uint64_t inf = UINT64_C(0x7ff0000000000000);
    if (!(x.word[0] | x.word[1] | x.word[2]))
        return sign;
    int32_t top = (int32_t)wide_top(&x);
    int32_t up = top < 54 ? 54 - top : 0; /* room for the bits below the last one */
    x = wide_shift_left(x, (unsigned)up);
    top += up;
    exponent -= up;
    int32_t e = exponent + top; /* of the leading bit */
    uint64_t m = cut(&x, top - 52, sign != 0, round);
    int32_t carried = (int32_t)(m >> 53);
    if (e + carried < -1022) {
        if (flush)
            return sign;
        return sign | cut(&x, -1074 - exponent, sign != 0, round); /* a carry into the exponent is right */
    }
    m >>= carried;
    e += carried;
    if (e > 1023)
        return sign | (round == 3 || (round == 1 && sign) || (round == 2 && !sign) ? inf - 1 : inf);
    return sign | (uint64_t)(e + 1023) << 52 | (m & UINT64_C(0xfffffffffffff));
}

uint64_t div_fma_scaled_f64(uint64_t a, uint64_t b, uint64_t c, int32_t scale, const amd_wave *w)
{
    const uint64_t inf = UINT64_C(0x7ff0000000000000), top = UINT64_C(0x8000000000000000);
    uint32_t round = w->mode >> 2 & 3u;
    bool flush = f64_ftz(w);
    if ((a & inf) == inf || (b & inf) == inf || (c & inf) == inf)
        return div_fmas_f64(a, b, c, false, w); /* scaling changes neither infinity nor NaN */
    a = f64_flush(a, f64_daz(w));
    b = f64_flush(b, f64_daz(w));
    c = f64_flush(c, f64_daz(w));
    int32_t ea, eb, ec;
    uint64_t ma = significand_of(a, &ea), mb = significand_of(b, &eb), mc = significand_of(c, &ec);
    uint64_t sp = (a ^ b) & top, sc = c & top;
    uint64_t al = ma & UINT32_MAX, ah = ma >> 32, bl = mb & UINT32_MAX, bh = mb >> 32;
    uint64_t mid = al * bh + (al * bl >> 32), mid2 = ah * bl + (mid & UINT32_MAX);
    wide p = { { (mid2 << 32) | (al * bl & UINT32_MAX), ah * bh + (mid >> 32) + (mid2 >> 32), 0 } };
    wide z = { { mc, 0, 0 } };
    int32_t ep = ea + eb;
    bool product = p.word[0] | p.word[1];
    uint64_t cancelled = round == 2 ? top : 0;
    if (!product || !mc)
        return product ? pack(p, ep + scale, sp, round, flush)
               : mc    ? pack(z, ec + scale, sc, round, flush)
                       : (sp == sc ? sp : cancelled);
    /* Both leading bits as high as a carry allows; then the smaller moves down, sticky. */
    unsigned up = 188 - wide_top(&p), uz = 188 - wide_top(&z);
    p = wide_shift_left(p, up);
    z = wide_shift_left(z, uz);
    ep -= (int32_t)up;
    ec -= (int32_t)uz;
    int32_t e = ep > ec ? ep : ec;
    p = wide_shift_right(p, (unsigned)(e - ep));
    z = wide_shift_right(z, (unsigned)(e - ec));
    if (sp == sc)
        return pack(wide_add(p, z), e + scale, sp, round, flush);
    int order = wide_compare(&p, &z);
    if (order == 0)
        return cancelled;
    return order > 0 ? pack(wide_subtract(p, z), e + scale, sp, round, flush)
                     : pack(wide_subtract(z, p), e + scale, sc, round, flush);
}

/* --- 2/pi ----------------------------------------------------------------------------------------------- */

/* The first 1201 binary digits after the point, then zeros. */
static const uint64_t two_over_pi[21] = {
    UINT64_C(0xa2f9836e4e441529),
    UINT64_C(0xfc2757d1f534ddc0),
    UINT64_C(0xdb6295993c439041),
    UINT64_C(0xfe5163abdebbc561),
    UINT64_C(0xb7246e3a424dd2e0),
    UINT64_C(0x06492eea09d1921c),
    UINT64_C(0xfe1deb1cb129a73e),
    UINT64_C(0xe88235f52ebb4484),
    UINT64_C(0xe99c7026b45f7e41),
    UINT64_C(0x3991d639835339f4),
    UINT64_C(0x9c845f8bbdf9283b),
    UINT64_C(0x1ff897ffde05980f),
    UINT64_C(0xef2f118b5a0a6d1f),
    UINT64_C(0x6d367ecf27cb09b7),
    UINT64_C(0x4f463f669e5fea2d),
    UINT64_C(0x7527bac7ebe5f17b),
    UINT64_C(0x3d0739f78a5292ea),
    UINT64_C(0x6bfb5fb11f8d5d08),
    UINT64_C(0x56033046fc7b0000),
    0,
    0,
};

uint64_t trig_preop(uint64_t s0, uint32_t s1)
{
    int32_t e = f64_exponent(s0);
    uint32_t shift = (s1 & 31u) * 53u + (e > 1077 ? (uint32_t)(e - 1077) : 0u);
    if (shift > 1200)
        return 0;
    uint32_t word = shift / 64, bit = shift % 64;
    uint64_t bits = two_over_pi[word] << bit | (bit ? two_over_pi[word + 1] >> (64 - bit) : 0);
    int32_t scale = -53 - (int32_t)shift + (e >= 1968 ? 128 : 0);
    return f64_bits(f64_scale((double)(bits >> 11), scale));
}

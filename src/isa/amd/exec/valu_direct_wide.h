/* valu_direct_wide.h: functions of direct lists written by hand for AVX-512, LANES lanes: operations for which the
 * compiler's vectors of the rows are long. Part of valu_direct_int.c and valu_direct_float.c; direct_set.h lists them. Every group of 16 lanes is
 * read before it is written, so operands may overlap. */

#ifndef VALU_DIRECT_WIDE_ONCE
#define VALU_DIRECT_WIDE_ONCE
#define WIDE_V(n) (const uint32_t *)(const void *)((const char *)w->vgpr + s->src[n])
#define WIDE_PLACE_V(p, n) const uint32_t *p = WIDE_V(n);
#define WIDE_PLACE_S(p, n) const __m512i p = _mm512_set1_epi32((int)(DIRECT_WORD(w, s->src[n]) + s->k[n]));
#define WIDE_GET_V(p) _mm512_load_si512(p + i)
#define WIDE_GET_S(p) p
#define WIDE_DST uint32_t *d = (uint32_t *)(void *)((char *)w->vgpr + s->d);
#define WIDE_LOOP for (unsigned i = 0; i < LANES; i += 16)

#if defined(DIRECT_WIDE_INT)
/* Bytes of v_perm_b32 that come from one source: `from` is 0 for S1 and 4 for S0. The numbers of four lanes. */
static inline __m512i wide_perm_bytes(uint32_t sel, uint32_t from)
{
    uint32_t bytes = 0;
    for (unsigned n = 0; n < 4; n++) {
        uint32_t k = (sel >> 8 * n & 0xffu) - from;
        bytes |= (k < 4 ? k : 0x80u) << 8 * n;
    }
    const __m512i lane = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
    return _mm512_or_si512(_mm512_set1_epi32((int)bytes), lane);
}
static inline uint32_t wide_perm_ones(uint32_t sel)
{
    uint32_t ones = 0;
    for (unsigned n = 0; n < 4; n++)
        ones |= ((sel >> 8 * n & 0xffu) > 12 ? 0xffu : 0u) << 8 * n;
    return ones;
}
/* 8 to 11: the sign of a half. */
static inline bool wide_perm_signs(uint32_t sel)
{
    bool any = false;
    for (unsigned n = 0; n < 4; n++)
        any |= (sel >> 8 * n & 0xfcu) == 8;
    return any;
}
#endif

#if defined(DIRECT_WIDE_FLOAT)
/* 1 / sqrt(x) of eight doubles, within a few of their last places; sets *near if one is so near to the middle between
 * two floats that the error could decide to which it is rounded. Otherwise the float is that of the row: the quotient
 * there is within two last places. test_amd_direct.c compares them for all floats of two binades. */
static inline __m512d wide_rsqrt(__m512d x, __mmask8 *near)
{
    const __m512d half = _mm512_set1_pd(0.5);
    __m512d y = _mm512_rsqrt14_pd(x), h = _mm512_mul_pd(x, half);
    for (unsigned n = 0; n < 2; n++)
        y = _mm512_fmadd_pd(y, _mm512_fnmadd_pd(_mm512_mul_pd(h, y), y, half), y);
    const __m512i rest = _mm512_set1_epi64(0x1fffffff), first = _mm512_set1_epi64(0x10000000 - 16);
    __m512i past = _mm512_sub_epi64(_mm512_and_si512(_mm512_castpd_si512(y), rest), first);
    *near |= _mm512_cmple_epu64_mask(past, _mm512_set1_epi64(32));
    return y;
}
#endif
#endif

#define FN_(op, shape) LANES_PASTE(direct_##op##_##shape, LANES, LANES_VARIANT)

#if defined(DIRECT_WIDE_INT)

#define WIDE_SELECT_(ka, kb)                                                                                  \
    DIRECT_FN_(                                                                                               \
        FN_(V_CNDMASK_B32, ka##kb), WIDE_PLACE_##ka(a, 0) WIDE_PLACE_##kb(b, 1) WIDE_DST uint64_t c = 0;      \
        memcpy(&c, (const char *)w + s->src[2], LANES / 8); WIDE_LOOP {                                       \
            _mm512_store_si512(d + i, _mm512_mask_blend_epi32((__mmask16)(c >> i), WIDE_GET_##ka(a),          \
                                                              WIDE_GET_##kb(b)));                             \
        })
WIDE_SELECT_(V, V)
WIDE_SELECT_(S, V)
WIDE_SELECT_(V, S)
WIDE_SELECT_(S, S)
static const amd_run RUNS_(V_CNDMASK_B32)[8] = { FN_(V_CNDMASK_B32, VV), FN_(V_CNDMASK_B32, SV),
                                                 FN_(V_CNDMASK_B32, VS), FN_(V_CNDMASK_B32, SS) };

/* Counts of 32 and more shift everything out, also those that are negative. */
#define WIDE_SHIFT_(ka)                                                                                       \
    DIRECT_FN_(                                                                                               \
        FN_(V_LSHLREV_B64, ka##V), WIDE_PLACE_##ka(a, 0) WIDE_PLACE_V(b, 1) WIDE_DST WIDE_LOOP {              \
            __m512i n = _mm512_and_si512(WIDE_GET_##ka(a), _mm512_set1_epi32(63)),                            \
                    all = _mm512_set1_epi32(32);                                                              \
            __m512i low = WIDE_GET_V(b), high = _mm512_load_si512(b + LANES + i);                             \
            high = _mm512_or_si512(_mm512_sllv_epi32(high, n),                                                \
                                   _mm512_srlv_epi32(low, _mm512_sub_epi32(all, n)));                         \
            high = _mm512_or_si512(high, _mm512_sllv_epi32(low, _mm512_sub_epi32(n, all)));                   \
            _mm512_store_si512(d + i, _mm512_sllv_epi32(low, n));                                             \
            _mm512_store_si512(d + LANES + i, high);                                                          \
        })
WIDE_SHIFT_(V)
WIDE_SHIFT_(S)
static const amd_run RUNS_(V_LSHLREV_B64)[8] = { FN_(V_LSHLREV_B64, VV), FN_(V_LSHLREV_B64, SV) };

DIRECT_FN_(
    FN_(V_PERM_B32, VVS),
    WIDE_PLACE_V(a, 0) WIDE_PLACE_V(b, 1) WIDE_DST const uint32_t sel = DIRECT_WORD(w, s->src[2]) + s->k[2];
    if (wide_perm_signs(sel)) DIRECT_BODY(w, s);
    const __m512i from_a = wide_perm_bytes(sel, 4), from_b = wide_perm_bytes(sel, 0);
    const __m512i ones = _mm512_set1_epi32((int)wide_perm_ones(sel)); WIDE_LOOP {
        __m512i x = _mm512_shuffle_epi8(WIDE_GET_V(a), from_a), y = _mm512_shuffle_epi8(WIDE_GET_V(b), from_b);
        _mm512_store_si512(d + i, _mm512_or_si512(_mm512_or_si512(x, y), ones));
    })
static const amd_run RUNS_(V_PERM_B32)[8] = { [4] = FN_(V_PERM_B32, VVS) };

/* Sums with a carry out, and with a carry in. */
#define WIDE_ADD_(op, ka, kb, carry)                                                                          \
    DIRECT_FN_(                                                                                               \
        FN_(op, ka##kb), WIDE_PLACE_##ka(a, 0) WIDE_PLACE_##kb(b, 1) WIDE_DST uint64_t c = 0, bits = 0;       \
        if (carry) memcpy(&c, (const char *)w + s->src[2], LANES / 8); WIDE_LOOP {                            \
            __m512i x = WIDE_GET_##ka(a), sum = _mm512_add_epi32(x, WIDE_GET_##kb(b));                        \
            __mmask16 in = (__mmask16)(c >> i);                                                               \
            sum = _mm512_mask_sub_epi32(sum, in, sum, _mm512_set1_epi32(-1));                                 \
            uint64_t out = _mm512_cmplt_epu32_mask(sum, x) | _mm512_mask_cmpeq_epi32_mask(in, sum, x);        \
            bits |= out << i;                                                                                 \
            _mm512_store_si512(d + i, sum);                                                                   \
        } MASK_OUT_(s->k[3], bits);)
#define WIDE_ADDS_(op, carry)                                                                                 \
    WIDE_ADD_(op, V, V, carry)                                                                                \
    WIDE_ADD_(op, S, V, carry)                                                                                \
    WIDE_ADD_(op, V, S, carry)                                                                                \
    static const amd_run RUNS_(op)[8] = { FN_(op, VV), FN_(op, SV), FN_(op, VS) };
WIDE_ADDS_(V_ADD_U32, false)
WIDE_ADDS_(V_ADD_CO_U32, false)
WIDE_ADDS_(V_ADDC_U32, true)
WIDE_ADDS_(V_ADD_CO_CI_U32, true)
#undef WIDE_SELECT_
#undef WIDE_SHIFT_
#undef WIDE_ADD_
#undef WIDE_ADDS_

#endif

#if defined(DIRECT_WIDE_FLOAT)
DIRECT_FN_(
    FN_(V_RSQ_F32, V), TRANS_FIRST_ WIDE_PLACE_V(a, 0) WIDE_DST LANES_ARRAY(t, 1); __mmask8 near = 0;
    __mmask16 bad = 0; WIDE_LOOP {
        __m512 x = _mm512_castsi512_ps(WIDE_GET_V(a));
        __m256 low = _mm512_castps512_ps256(x), high = _mm512_extractf32x8_ps(x, 1);
        low = _mm512_cvtpd_ps(wide_rsqrt(_mm512_cvtps_pd(low), &near));
        high = _mm512_cvtpd_ps(wide_rsqrt(_mm512_cvtps_pd(high), &near));
        _mm512_store_ps(t + i, _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1));
        /* positive, normal numbers only; results are normal then */
        bad |= _mm512_cmpge_epu32_mask(_mm512_sub_epi32(WIDE_GET_V(a), _mm512_set1_epi32(0x00800000)),
                                       _mm512_set1_epi32(0x7f000000));
    } if (__builtin_expect((bad | near) != 0, 0)) DIRECT_BODY(w, s);
    COPY_32_(t);)
static const amd_run RUNS_(V_RSQ_F32)[8] = { FN_(V_RSQ_F32, V) };
#endif

#undef FN_

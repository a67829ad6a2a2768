/* valu_direct.h: functions of direct lists (direct.h) for vector operations, stamped from the rows of one .def file for
 * LANES lanes. Included with LANES and LANES_DEF set, like stamp.h, and once with DIRECT_TABLE for the table. An
 * operation has a function per shape: a letter per source, V for a vector register, S for a scalar or a constant.
 *
 * All lanes are active and sources have no modifiers. A function that meets a NaN, or another state of the host's floating
 * point than it needs, has changed nothing yet and hands over to the body. */

#undef I1
#undef L1
#undef I2
#undef I3
#undef X3
#undef J3
#undef E1
#undef E2
#undef E3
#undef F1
#undef F2
#undef F3
#undef A3
#undef O2
#undef O3
#undef W2
#undef W3
#undef CMP
#undef P2
#undef P3
#undef PA
#undef M3
#undef SAT2
#undef SAT3
#undef SATP2
#undef SATP3

/* Rows without direct functions. */
#define L1(op, D, A, x)
#define W2(op, env, D, A, B, x)
#define P2(op, T, x)
#define P3(op, T, x)
#define PA(op, T, x)
#define M3(op, D, flags, x)
#define SAT2(op, D, A, B, x)
#define SAT3(op, D, A, B, C, x)
#define SATP2(op, T, x)
#define SATP3(op, T, x)

#define RUNS_(op) LANES_PASTE(runs_##op, LANES, LANES_VARIANT)

#if !defined(DIRECT_TABLE)

#ifndef VALU_DIRECT_ONCE
#define VALU_DIRECT_ONCE
/* A source's place, and its value in lane i. */
#define PLACE_V(p, n)                                                                                         \
    const uint32_t *p = __builtin_assume_aligned((const char *)w->vgpr + s->src[n], 64);                      \
    (void)p;
#define PLACE_S(p, n) const uint32_t p = DIRECT_WORD(w, s->src[n]) + s->k[n];
#define WORD_V(p) (p[i])
#define WORD_S(p) (p)
#define HIGH_V(p) (p[i + LANES])
#define HIGH_S(p) (0u) /* no constants of 64 bits */
#define GET_U32(K, p) WORD_##K(p)
#define GET_I32(K, p) ((int32_t)WORD_##K(p))
#define GET_F32(K, p) f32_of(WORD_##K(p))
#define GET_Q32(K, p) WORD_##K(p)
#define GET_U64(K, p) ((uint64_t)HIGH_##K(p) << 32 | WORD_##K(p))
#define DST_                                                                                                  \
    uint32_t *d = __builtin_assume_aligned((char *)w->vgpr + s->d, 64);                                       \
    LANES_ARRAY(t, 2);
#define COPY_U32(t) COPY_32_(t)
#define COPY_I32(t) COPY_32_(t)
#define COPY_Q32(t) COPY_32_(t)
#define COPY_U64(t) COPY_64_(t)
/* Rows with an environment of their own; TRANS: see TRANS_. */
#define ENV_(env)                                                                                             \
    if ((env) != LANES_ENV_NONE && __builtin_expect(!(w->host_env >> (env)&1u), 0))                           \
        DIRECT_BODY(w, s);
#define DIRECT_FN_(name, ...)                                                                                 \
    static const amd_direct *name(amd_wave *w, const amd_direct *s)                                           \
    {                                                                                                         \
        __VA_ARGS__                                                                                           \
        DIRECT_NEXT(w, s);                                                                                    \
    }
#define NAN_NO_(T)
#define NAN_YES_(T)                                                                                           \
    if (__builtin_expect(ANY_NAN_##T(t), 0))                                                                  \
        DIRECT_BODY(w, s);
/* Quarter-rate functions flush denormals whatever MODE says. Without zeros, infinities, NaNs and
 * numbers near the denormals in sources and results, the host's usual state gives the same. */
#define TRANS_FIRST_                                                                                          \
    if (__builtin_expect(!(w->host_env & (1u << LANES_ENV_TRANS | 1u << LANES_ENV_EXACT)), 0))                \
        DIRECT_BODY(w, s);
#define TRANS_CHECK_(x) (((x)&0x7f800000u) - 0x01000000u >= 0x7e800000u ? UINT32_MAX : 0u)
/* Writes the mask of a compare or a carry. */
#define MASK_OUT_(place, bits)                                                                                \
    do {                                                                                                      \
        uint64_t bits_ = (bits);                                                                              \
        memcpy((char *)w + (place), &bits_, LANES / 8);                                                       \
    } while (0)
#define MASK_IN_                                                                                              \
    uint64_t c = 0;                                                                                           \
    memcpy(&c, (const char *)w + s->src[2], LANES / 8);                                                       \
    const uint32_t c_low = (uint32_t)c, c_high = (uint32_t)(c >> 32);                                         \
    (void)c_high;
#endif

#if defined(__AVX512DQ__)
#include "isa/amd/exec/valu_direct_wide.h"
#endif

#undef FN_
#define FN_(op, shape) LANES_PASTE(direct_##op##_##shape, LANES, LANES_VARIANT)

#define ONE_(op, env, D_, A, ka, nan, x)                                                                      \
    DIRECT_FN_(                                                                                               \
        FN_(op, ka), ENV_(LANES_ROW_ENV(env, LANES_##D_, LANES_##A, 0, 0)) PLACE_##ka(a, 0) DST_ LANES_LOOP { \
            TYPE_##A S0 = GET_##A(ka, a);                                                                     \
            TYPE_##D_ D;                                                                                      \
            x;                                                                                                \
            STORE_##D_(t, D);                                                                                 \
        } nan(D_) COPY_##D_(t);)
#define TWO_(op, env, D_, A, B, ka, kb, nan, x)                                                               \
    DIRECT_FN_(                                                                                               \
        FN_(op, ka##kb), ENV_(LANES_ROW_ENV(env, LANES_##D_, LANES_##A, LANES_##B, 0)) PLACE_##ka(a, 0)       \
                             PLACE_##kb(b, 1) DST_ LANES_LOOP {                                               \
                                 TYPE_##A S0 = GET_##A(ka, a);                                                \
                                 TYPE_##B S1 = GET_##B(kb, b);                                                \
                                 TYPE_##D_ D;                                                                 \
                                 x;                                                                           \
                                 STORE_##D_(t, D);                                                            \
                             } nan(D_) COPY_##D_(t);)
#define THREE_(op, env, D_, A, B, C, ka, kb, kc, nan, x)                                                      \
    DIRECT_FN_(                                                                                               \
        FN_(op, ka##kb##kc), ENV_(LANES_ROW_ENV(env, LANES_##D_, LANES_##A, LANES_##B, LANES_##C))            \
                                 PLACE_##ka(a, 0) PLACE_##kb(b, 1) PLACE_##kc(c, 2) DST_ LANES_LOOP {         \
                                     TYPE_##A S0 = GET_##A(ka, a);                                            \
                                     TYPE_##B S1 = GET_##B(kb, b);                                            \
                                     TYPE_##C S2 = GET_##C(kc, c);                                            \
                                     TYPE_##D_ D;                                                             \
                                     x;                                                                       \
                                     STORE_##D_(t, D);                                                        \
                                 } nan(D_) COPY_##D_(t);)
/* A mask in scalar registers selects or carries in. */
#define MASKED_(op, A, B, ka, kb, x)                                                                          \
    DIRECT_FN_(                                                                                               \
        FN_(op, ka##kb), PLACE_##ka(a, 0) PLACE_##kb(b, 1) MASK_IN_ DST_ LANES_LOOP {                         \
            uint32_t S0 = WORD_##ka(a), S1 = WORD_##kb(b);                                                    \
            uint32_t S2 = 0u - ((LANES == 64 && i >= 32 ? c_high : c_low) >> (i & 31u) & 1u), D;              \
            x;                                                                                                \
            STORE_U32(t, D);                                                                                  \
        } COPY_U32(t);)
#define CARRY2_(op, ka, kb, x)                                                                                \
    DIRECT_FN_(                                                                                               \
        FN_(op, ka##kb), PLACE_##ka(a, 0) PLACE_##kb(b, 1) DST_ LANES_ARRAY(bits, 1); LANES_LOOP {            \
            uint32_t S0 = WORD_##ka(a), S1 = WORD_##kb(b), D;                                                 \
            bool CO;                                                                                          \
            x;                                                                                                \
            STORE_U32(t, D);                                                                                  \
            bits[i] = CO ? UINT32_MAX : 0;                                                                    \
        } COPY_U32(t);                                                                                        \
        MASK_OUT_(s->k[3], LANES_BITS(bits));)
#define CARRY3_(op, ka, kb, x)                                                                                \
    DIRECT_FN_(                                                                                               \
        FN_(op, ka##kb), PLACE_##ka(a, 0) PLACE_##kb(b, 1) MASK_IN_ DST_ LANES_ARRAY(bits, 1); LANES_LOOP {   \
            uint32_t S0 = WORD_##ka(a), S1 = WORD_##kb(b);                                                    \
            uint32_t S2 = 0u - ((LANES == 64 && i >= 32 ? c_high : c_low) >> (i & 31u) & 1u), D;              \
            bool CO;                                                                                          \
            x;                                                                                                \
            STORE_U32(t, D);                                                                                  \
            bits[i] = CO ? UINT32_MAX : 0;                                                                    \
        } COPY_U32(t);                                                                                        \
        MASK_OUT_(s->k[3], LANES_BITS(bits));)
#define WIDE3_(op, env, D_, A, B, C, ka, kb, kc, x)                                                           \
    DIRECT_FN_(                                                                                               \
        FN_(op, ka##kb##kc),                                                                                  \
        ENV_(LANES_ROW_ENV(env, LANES_##D_, LANES_##A, LANES_##B, LANES_##C)) PLACE_##ka(a, 0)                \
            PLACE_##kb(b, 1) PLACE_##kc(c, 2) DST_ LANES_ARRAY(bits, 1);                                      \
        LANES_LOOP {                                                                                          \
            TYPE_##A S0 = GET_##A(ka, a);                                                                     \
            TYPE_##B S1 = GET_##B(kb, b);                                                                     \
            TYPE_##C S2 = GET_##C(kc, c);                                                                     \
            TYPE_##D_ D;                                                                                      \
            bool CO;                                                                                          \
            x;                                                                                                \
            STORE_##D_(t, D);                                                                                 \
            bits[i] = CO ? UINT32_MAX : 0;                                                                    \
        } COPY_##D_(t);                                                                                       \
        MASK_OUT_(s->k[3], LANES_BITS(bits));)
#define COMPARE_(op, env, A, B, ka, kb, x)                                                                    \
    DIRECT_FN_(                                                                                               \
        FN_(op, ka##kb), ENV_(LANES_ROW_ENV(env, 0, LANES_##A, LANES_##B, 0)) PLACE_##ka(a, 0)                \
                             PLACE_##kb(b, 1) LANES_ARRAY(bits, 1);                                           \
        LANES_LOOP {                                                                                          \
            TYPE_##A S0 = GET_##A(ka, a);                                                                     \
            TYPE_##B S1 = GET_##B(kb, b);                                                                     \
            bits[i] = (x) ? UINT32_MAX : 0;                                                                   \
        } MASK_OUT_(s->d, LANES_BITS(bits));)
#define TRANS_(op, x)                                                                                         \
    DIRECT_FN_(                                                                                               \
        FN_(op, V),                                                                                           \
        TRANS_FIRST_ PLACE_V(a, 0) DST_ LANES_LOOP {                                                          \
            float S0 = f32_of(a[i]), D;                                                                       \
            x;                                                                                                \
            t[i] = f32_bits(D);                                                                               \
        } uint32_t bad = 0;                                                                                   \
        for (unsigned i = 0; i < LANES; i++) bad |= TRANS_CHECK_(a[i]) | TRANS_CHECK_(t[i]);                  \
        if (__builtin_expect(bad, 0)) DIRECT_BODY(w, s); COPY_32_(t);)

/* By the shape's number: bit k for a scalar in source k. */
#define TABLE1_(op) static const amd_run RUNS_(op)[8] = { FN_(op, V), FN_(op, S) };
#define TABLE2_(op) static const amd_run RUNS_(op)[8] = { FN_(op, VV), FN_(op, SV), FN_(op, VS) };
#define TABLE2S_(op)                                                                                          \
    static const amd_run RUNS_(op)[8] = { FN_(op, VV), FN_(op, SV), FN_(op, VS), FN_(op, SS) };
#define TABLE3_(op)                                                                                           \
    static const amd_run RUNS_(op)[8] = { FN_(op, VVV), FN_(op, SVV), FN_(op, VSV), FN_(op, SSV),             \
                                          FN_(op, VVS), FN_(op, SVS), FN_(op, VSS), NULL };
#define TABLE3W_(op) static const amd_run RUNS_(op)[8] = { FN_(op, VVV), FN_(op, SVV), FN_(op, VSV) };
#define ALL1_(op, env, D, A, nan, x) ONE_(op, env, D, A, V, nan, x) ONE_(op, env, D, A, S, nan, x) TABLE1_(op)
#define ALL2_(op, env, D, A, B, nan, x)                                                                       \
    TWO_(op, env, D, A, B, V, V, nan, x)                                                                      \
    TWO_(op, env, D, A, B, S, V, nan, x) TWO_(op, env, D, A, B, V, S, nan, x) TABLE2_(op)
#define ALL3_(op, env, D, A, B, C, nan, x)                                                                    \
    THREE_(op, env, D, A, B, C, V, V, V, nan, x)                                                              \
    THREE_(op, env, D, A, B, C, S, V, V, nan, x)                                                              \
    THREE_(op, env, D, A, B, C, V, S, V, nan, x)                                                              \
    THREE_(op, env, D, A, B, C, S, S, V, nan, x)                                                              \
    THREE_(op, env, D, A, B, C, V, V, S, nan, x)                                                              \
    THREE_(op, env, D, A, B, C, S, V, S, nan, x) THREE_(op, env, D, A, B, C, V, S, S, nan, x) TABLE3_(op)
/* The third source is the destination, a register. */
#define ALLACC_(op, env, T, nan, x)                                                                           \
    THREE_(op, env, T, T, T, T, V, V, V, nan, x)                                                              \
    THREE_(op, env, T, T, T, T, S, V, V, nan, x) THREE_(op, env, T, T, T, T, V, S, V, nan, x) TABLE3W_(op)

#define X3(op, D, A, B, C, when, quick, x)
#define I1(op, D, A, x) DIRECT_STAMP(op, ALL1_(op, LANES_ENV_NONE, D, A, NAN_NO_, x))
#define I2(op, D, A, B, x) DIRECT_STAMP(op, ALL2_(op, LANES_ENV_NONE, D, A, B, NAN_NO_, x))
#define I3(op, D, A, B, C, x) DIRECT_STAMP(op, I3_##C(op, D, A, B, C, x))
#define I3_U32(op, D, A, B, C, x) ALL3_(op, LANES_ENV_NONE, D, A, B, C, NAN_NO_, x)
#define I3_MASK(op, D, A, B, C, x)                                                                            \
    MASKED_(op, A, B, V, V, x)                                                                                \
    MASKED_(op, A, B, S, V, x) MASKED_(op, A, B, V, S, x) MASKED_(op, A, B, S, S, x) TABLE2S_(op)
#define E1(op, env, D, A, x) DIRECT_STAMP(op, ALL1_(op, LANES_ENV_##env, D, A, NAN_NO_, x))
#define E2(op, env, D, A, B, x) DIRECT_STAMP(op, ALL2_(op, LANES_ENV_##env, D, A, B, NAN_NO_, x))
#define E3(op, env, D, A, B, C, x) DIRECT_STAMP(op, ALL3_(op, LANES_ENV_##env, D, A, B, C, NAN_NO_, x))
#define J3(op, env, D, A, B, x)
#define F1(op, env, T, x) DIRECT_STAMP(op, F1_##env(op, T, x))
#define F1_NONE(op, T, x) ALL1_(op, LANES_ENV_NONE, T, T, NAN_YES_, x)
#define F1_F32(op, T, x) ALL1_(op, LANES_ENV_F32, T, T, NAN_YES_, x)
#define F1_TRANS(op, T, x) TRANS_(op, x) static const amd_run RUNS_(op)[8] = { FN_(op, V) };
#define F2(op, env, T, x) DIRECT_STAMP(op, ALL2_(op, LANES_ENV_##env, T, T, T, NAN_YES_, x))
#define F3(op, env, T, x) DIRECT_STAMP(op, ALL3_(op, LANES_ENV_##env, T, T, T, T, NAN_YES_, x))
#define A3(op, env, T, x) DIRECT_STAMP(op, ALLACC_(op, LANES_ENV_##env, T, NAN_YES_, x))
#define O2(op, x) DIRECT_STAMP(op, CARRY2_(op, V, V, x) CARRY2_(op, S, V, x) CARRY2_(op, V, S, x) TABLE2_(op))
#define O3(op, x) DIRECT_STAMP(op, CARRY3_(op, V, V, x) CARRY3_(op, S, V, x) CARRY3_(op, V, S, x) TABLE2_(op))
#define W3(op, env, D, A, B, C, x)                                                                            \
    DIRECT_STAMP(op, WIDE3_(op, LANES_ENV_##env, D, A, B, C, V, V, V, x)                                      \
                         WIDE3_(op, LANES_ENV_##env, D, A, B, C, S, V, V, x)                                  \
                             WIDE3_(op, LANES_ENV_##env, D, A, B, C, V, S, V, x) TABLE3W_(op))
#define CMP(op, opx, env, A, B, x)                                                                            \
    DIRECT_STAMP(op,                                                                                          \
                 COMPARE_(op, LANES_ENV_##env, A, B, V, V, x) COMPARE_(op, LANES_ENV_##env, A, B, S, V, x)    \
                     COMPARE_(op, LANES_ENV_##env, A, B, V, S, x) TABLE2_(op))
#include LANES_DEF

#else

#define ENTRY_(op) DIRECT_WHEN(op, [AMD_##op] = RUNS_(op), )
#define X3(op, D, A, B, C, when, quick, x) DIRECT_BY_HAND(op, [AMD_##op] = RUNS_(op), )
#define I1(op, D, A, x) ENTRY_(op)
#define I2(op, D, A, B, x) ENTRY_(op)
#define I3(op, D, A, B, C, x) ENTRY_(op)
#define E1(op, env, D, A, x) ENTRY_(op)
#define E2(op, env, D, A, B, x) ENTRY_(op)
#define E3(op, env, D, A, B, C, x) ENTRY_(op)
#define J3(op, env, D, A, B, x)
#define F1(op, env, T, x) ENTRY_(op)
#define F2(op, env, T, x) ENTRY_(op)
#define F3(op, env, T, x) ENTRY_(op)
#define A3(op, env, T, x) ENTRY_(op)
#define O2(op, x) ENTRY_(op)
#define O3(op, x) ENTRY_(op)
#define W3(op, env, D, A, B, C, x) ENTRY_(op)
#define CMP(op, opx, env, A, B, x) ENTRY_(op) DIRECT_WHEN(op, [AMD_##opx] = RUNS_(op), )
#include LANES_DEF
#undef ENTRY_

#endif

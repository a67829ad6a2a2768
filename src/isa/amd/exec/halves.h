/* halves.h: all lanes of half-precision operands at once: to single precision, which holds them exactly, and
 * back with one rounding by MODE. Hosts with F16C convert eight at a time where MODE rounds to nearest;
 * anything else is floats.h one by one, with the same bits. Only for the files that stamp kernels. */
#ifndef ISA_AMD_EXEC_HALVES_H
#define ISA_AMD_EXEC_HALVES_H

#include "isa/amd/exec/floats.h"

#if defined(__AVX2__) && defined(__F16C__)
#include <immintrin.h>
#define HALVES_F16C 1
#else
#define HALVES_F16C 0
#endif

#if HALVES_F16C
/* Sixteen halves in a row. `gone` has 0x7fff where denormals are flushed, else 0. */
static inline __m256i halves_flush(__m256i h, __m256i gone)
{
    __m256i none = _mm256_setzero_si256();
    __m256i tiny = _mm256_cmpeq_epi16(_mm256_and_si256(h, _mm256_set1_epi16(0x7c00)), none);
    return _mm256_andnot_si256(_mm256_and_si256(tiny, gone), h);
}

static inline __m256i halves_gone(uint32_t on)
{
    return _mm256_set1_epi16((short)(on & 0x7fffu));
}

static inline void halves_widen(float *u, __m256i h)
{
    _mm256_store_ps(u, _mm256_cvtph_ps(_mm256_castsi256_si128(h)));
    _mm256_store_ps(u + 8, _mm256_cvtph_ps(_mm256_extracti128_si256(h, 1)));
}

static inline __m256i halves_narrow(const float *u)
{
    __m128i low = _mm256_cvtps_ph(_mm256_load_ps(u), _MM_FROUND_TO_NEAREST_INT);
    __m128i high = _mm256_cvtps_ph(_mm256_load_ps(u + 8), _MM_FROUND_TO_NEAREST_INT);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

static inline __m256i halves_load(const uint32_t *p)
{
    return _mm256_load_si256((const __m256i *)(const void *)p);
}

static inline void halves_store(uint32_t *p, __m256i x)
{
    _mm256_store_si256((__m256i *)(void *)p, x);
}
#endif

/* The lower halves of n words, a multiple of 16; denormals by MODE. */
static inline void halves_in(float *u, const uint32_t *p, unsigned n, const amd_wave *w)
{
#if HALVES_F16C
    __m256i gone = halves_gone(f64_daz(w)), low = _mm256_set1_epi32(0xffff);
    for (unsigned i = 0; i < n; i += 16) {
        __m256i x = _mm256_and_si256(halves_load(p + i), low);
        __m256i y = _mm256_and_si256(halves_load(p + i + 8), low);
        __m256i h = _mm256_permute4x64_epi64(_mm256_packus_epi32(x, y), 0xd8);
        halves_widen(u + i, halves_flush(h, gone));
    }
#else
    for (unsigned i = 0; i < n; i++)
        u[i] = f16_in(p[i], w);
#endif
}

/* Both halves of n words, a multiple of 8: 2n values, lower half first. */
static inline void halves_in_both(float *u, const uint32_t *p, unsigned n, const amd_wave *w)
{
#if HALVES_F16C
    __m256i gone = halves_gone(f64_daz(w));
    for (unsigned i = 0; i < n; i += 8)
        halves_widen(u + 2 * i, halves_flush(halves_load(p + i), gone));
#else
    for (unsigned i = 0; i < n; i++) {
        u[2 * i] = f16_in(p[i], w);
        u[2 * i + 1] = f16_in(p[i] >> 16, w);
    }
#endif
}

/* Back, into the lower halves of n words; the upper ones become 0. */
static inline void halves_out(uint32_t *t, const float *u, unsigned n, const amd_wave *w)
{
#if HALVES_F16C
    if (__builtin_expect((w->mode >> 2 & 3u) == 0, 1)) {
        __m256i gone = halves_gone(f64_ftz(w));
        for (unsigned i = 0; i < n; i += 16) {
            __m256i h = halves_flush(halves_narrow(u + i), gone);
            halves_store(t + i, _mm256_cvtepu16_epi32(_mm256_castsi256_si128(h)));
            halves_store(t + i + 8, _mm256_cvtepu16_epi32(_mm256_extracti128_si256(h, 1)));
        }
        return;
    }
#endif
    for (unsigned i = 0; i < n; i++)
        t[i] = f16_out(u[i], w);
}

/* Single precision by its bits to the lower halves, as v_cvt_f16_f32 does it. */
static inline void halves_of_singles(uint32_t *t, const uint32_t *p, unsigned n, const amd_wave *w)
{
#if HALVES_F16C
    if (__builtin_expect((w->mode >> 2 & 3u) == 0, 1)) {
        /* Single-precision denormals become zeros of their sign, flushed before or not. */
        __m256i gone = halves_gone(f64_ftz(w));
        for (unsigned i = 0; i < n; i += 16) {
            __m256i h = halves_flush(halves_narrow((const float *)(const void *)(p + i)), gone);
            halves_store(t + i, _mm256_cvtepu16_epi32(_mm256_castsi256_si128(h)));
            halves_store(t + i + 8, _mm256_cvtepu16_epi32(_mm256_extracti128_si256(h, 1)));
        }
        return;
    }
#endif
    for (unsigned i = 0; i < n; i++)
        t[i] = f16_flush(f16_round(f32_flush(p[i], f32_daz(w)), w->mode >> 2 & 3u), f64_ftz(w));
}

static inline void halves_out_both(uint32_t *t, const float *u, unsigned n, const amd_wave *w)
{
#if HALVES_F16C
    if (__builtin_expect((w->mode >> 2 & 3u) == 0, 1)) {
        __m256i gone = halves_gone(f64_ftz(w));
        for (unsigned i = 0; i < n; i += 8)
            halves_store(t + i, halves_flush(halves_narrow(u + 2 * i), gone));
        return;
    }
#endif
    for (unsigned i = 0; i < n; i++)
        t[i] = f16_out(u[2 * i], w) | f16_out(u[2 * i + 1], w) << 16;
}

#endif

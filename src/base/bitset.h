/* bitset.h: fixed-size sets of small integers in 64-bit words: free entries, ready warps, active blocks. */
#ifndef BASE_BITSET_H
#define BASE_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LS_BITSET_WORDS(bits) (((bits) + 63) / 64)
#define LS_BITSET_NONE SIZE_MAX

static inline void bit_set(uint64_t *words, size_t i)
{
    words[i >> 6] |= UINT64_C(1) << (i & 63);
}
static inline void bit_clear(uint64_t *words, size_t i)
{
    words[i >> 6] &= ~(UINT64_C(1) << (i & 63));
}
static inline bool bit_test(const uint64_t *words, size_t i)
{
    return (words[i >> 6] >> (i & 63)) & 1;
}
/* The lowest member >= from, or LS_BITSET_NONE. */
size_t bit_next(const uint64_t *words, size_t bits, size_t from);
/* The lowest non-member >= from, or LS_BITSET_NONE. */
size_t bit_next_clear(const uint64_t *words, size_t bits, size_t from);
/* The lowest start of `run` consecutive non-members aligned to `align` (a power of two), or NONE: for
 * register-file and LDS allocation. */
size_t bit_find_run(const uint64_t *words, size_t bits, size_t run, size_t align);
void bit_set_run(uint64_t *words, size_t from, size_t run);
void bit_clear_run(uint64_t *words, size_t from, size_t run);
size_t bitset_count(const uint64_t *words, size_t bits);

#endif

/* bitset.c: searches and runs over 64-bit words. Bits past `bits` in the last word may hold anything: they
 * are never looked at. */
#include "base/bitset.h"

/* The lowest bit >= from that is set in (word ^ flip). */
static size_t next_bit(const uint64_t *words, size_t bits, size_t from, uint64_t flip)
{
    if (from >= bits)
        return LS_BITSET_NONE;
    size_t w = from >> 6;
    uint64_t word = (words[w] ^ flip) & (UINT64_MAX << (from & 63));
    size_t last = (bits - 1) >> 6;
    while (word == 0) {
        if (w == last)
            return LS_BITSET_NONE;
        word = words[++w] ^ flip;
    }
    size_t found = (w << 6) + (size_t)__builtin_ctzll(word);
    return found < bits ? found : LS_BITSET_NONE;
}

size_t bit_next(const uint64_t *words, size_t bits, size_t from)
{
    return next_bit(words, bits, from, 0);
}

size_t bit_next_clear(const uint64_t *words, size_t bits, size_t from)
{
    return next_bit(words, bits, from, UINT64_MAX);
}

size_t bit_find_run(const uint64_t *words, size_t bits, size_t run, size_t align)
{
    if (run > bits)
        return LS_BITSET_NONE;
    if (align == 0)
        align = 1;
    /* First fit: from each free aligned start to the member that blocks it, and on from there. */
    for (size_t start = 0; start <= bits - run;) {
        size_t blocker = run == 0 ? LS_BITSET_NONE : bit_next(words, start + run, start);
        if (blocker == LS_BITSET_NONE)
            return start;
        size_t clear = bit_next_clear(words, bits, blocker + 1);
        if (clear == LS_BITSET_NONE || clear > SIZE_MAX - align)
            return LS_BITSET_NONE;
        start = (clear + align - 1) & ~(align - 1);
    }
    return LS_BITSET_NONE;
}

/* The bits of word w that lie in [from, to). */
static uint64_t run_mask(size_t w, size_t from, size_t to)
{
    size_t base = w << 6;
    uint64_t mask = UINT64_MAX;
    if (from > base)
        mask &= UINT64_MAX << (from - base);
    if (to < base + 64)
        mask &= UINT64_MAX >> (base + 64 - to);
    return mask;
}

void bit_set_run(uint64_t *words, size_t from, size_t run)
{
    for (size_t w = from >> 6; run > 0 && w <= (from + run - 1) >> 6; w++)
        words[w] |= run_mask(w, from, from + run);
}

void bit_clear_run(uint64_t *words, size_t from, size_t run)
{
    for (size_t w = from >> 6; run > 0 && w <= (from + run - 1) >> 6; w++)
        words[w] &= ~run_mask(w, from, from + run);
}

size_t bitset_count(const uint64_t *words, size_t bits)
{
    size_t count = 0;
    for (size_t w = 0; w < bits >> 6; w++)
        count += (size_t)__builtin_popcountll(words[w]);
    if ((bits & 63) != 0)
        count += (size_t)__builtin_popcountll(words[bits >> 6] & (UINT64_MAX >> (64 - (bits & 63))));
    return count;
}

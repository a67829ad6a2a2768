/* set_hash.h: which set of a cache a line goes to when all bits of its number count, not only the lowest.
 *
 * The number is read as a polynomial over GF(2), and its remainder by an irreducible one is the set. So lines
 * that follow each other use the sets in turn, as without a hash, and so do lines whose distance is any power
 * of two. The lowest bits still tell neighbours apart: a region of the cache's size fills every set once. */
#ifndef MODEL_AMD_MEMORY_SET_HASH_H
#define MODEL_AMD_MEMORY_SET_HASH_H

#include <stdint.h>

#define SET_HASH_BYTES 5 /* of a line's number that count: memory has less than 2^40 lines */
#define SET_HASH_BITS_MAX 16

/* One row per byte of the number. Sets that are no power of two take a remainder afterwards; beyond
 * 2^SET_HASH_BITS_MAX sets the bits above those stay as they are. */
void set_hash_init(uint32_t table[SET_HASH_BYTES][256], uint32_t sets);

static inline uint64_t set_hash(uint32_t (*table)[256], uint64_t number)
{
    return table[0][number & 0xff] ^ table[1][number >> 8 & 0xff] ^ table[2][number >> 16 & 0xff] ^
           table[3][number >> 24 & 0xff] ^ table[4][number >> 32 & 0xff];
}

#endif

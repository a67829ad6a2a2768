/* set_hash.c: the tables of set_hash.h. */
#include "model/amd_memory/set_hash.h"

/* Irreducible polynomials by degree. Those of degree 3 to 6 are not the ones that pick memory channels
 * (address.c, cache_ipoly()) but their mirror images: hashes by polynomials without a common factor are
 * independent, so lines that share a channel still use all of its sets. */
static const uint32_t polynomials[SET_HASH_BITS_MAX + 1] = { 0,      0x3,    0x7,    0xd,    0x19,   0x29,
                                                             0x61,   0xc1,   0x11b,  0x211,  0x409,  0x805,
                                                             0x1053, 0x201b, 0x4443, 0x8003, 0x1100b };

static uint32_t set_bits(uint32_t sets)
{
    uint32_t bits = 0;
    while (bits < SET_HASH_BITS_MAX && (UINT32_C(1) << bits) < sets)
        bits++;
    return bits;
}

void set_hash_init(uint32_t table[SET_HASH_BYTES][256], uint32_t sets)
{
    uint32_t bits = set_bits(sets), power = 1; /* power: x^n by the polynomial */
    for (uint32_t n = 0; n < SET_HASH_BYTES * 8; n++) {
        uint32_t kept = sets > UINT32_C(1) << bits && n >= bits && n < 32 ? UINT32_C(1) << n : 0;
        uint32_t byte = n / 8, first = 1u << n % 8;
        for (uint32_t value = first; value < 2 * first; value++)
            table[byte][value] = table[byte][value - first] ^ power ^ kept;
        power <<= 1;
        if (power >> bits & 1)
            power ^= polynomials[bits];
    }
}

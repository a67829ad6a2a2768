/* random.c: seeding, splitting and the distributions. No libm: its last bits differ between hosts, and a
 * stream is to be a function of the seed alone. */
#include "lockstep/random.h"

#include <stdbool.h>

__extension__ typedef unsigned __int128 u128;

#define GOLDEN_GAMMA UINT64_C(0x9E3779B97F4A7C15) /* 2^64 / golden ratio, odd: SplitMix64's step */

/* SplitMix64's finaliser: a bijection in which every input bit reaches every output bit. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

void ls_random_init(ls_random *r, uint64_t seed)
{
    r->origin = seed;
    for (unsigned i = 0; i < 4; i++)
        r->s[i] = mix(seed += GOLDEN_GAMMA); /* four different inputs of a bijection: never all zero */
}

ls_random ls_random_split(const ls_random *parent, uint64_t key)
{
    /* For one parent a bijection of the key, so siblings never share a seed; mixed twice, so that the order
     * of keys on a path matters. */
    ls_random child;
    ls_random_init(&child, mix(mix(parent->origin + GOLDEN_GAMMA) ^ mix(key ^ UINT64_C(0x5851F42D4C957F2D))));
    return child;
}

uint64_t ls_random_below(ls_random *r, uint64_t bound)
{
    if (bound == 0)
        return 0;
    /* The high half of a 128-bit product (Lemire's method); the few products that would favour low results
     * are drawn again. */
    u128 product = (u128)ls_random_next(r) * bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = (0 - bound) % bound;
        while ((uint64_t)product < threshold)
            product = (u128)ls_random_next(r) * bound;
    }
    return (uint64_t)(product >> 64);
}

double ls_random_exponential(ls_random *r)
{
    /* Von Neumann's method: a falling run that starts at x has odd length with probability e^-x. Comparisons
     * only, so the result is exact and the same on every host. */
    for (unsigned whole = 0;; whole++) {
        double first = ls_random_real(r);
        double last = first;
        bool odd = true;
        for (double u; (u = ls_random_real(r)) < last; odd = !odd)
            last = u;
        if (odd)
            return whole + first;
    }
}

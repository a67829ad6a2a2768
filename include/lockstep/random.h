/* random.h: seeded random streams that split.
 *
 * A stream is a pure function of the run's seed and of the names on the path to it. It does not depend on
 * threads or on the order in which streams are used. The generator is xoshiro256** (Blackman and Vigna, 2018,
 * public domain algorithm), seeded through SplitMix64. */
#ifndef LOCKSTEP_RANDOM_H
#define LOCKSTEP_RANDOM_H

#include "lockstep/version.h"

#include <stdint.h>

typedef struct ls_random {
    uint64_t s[4];   /* never all zero */
    uint64_t origin; /* the seed: splitting starts here, independent of the numbers drawn since */
} ls_random;

LS_API void ls_random_init(ls_random *r, uint64_t seed);

/* A stream for `key`, independent of the parent's position: splitting draws nothing from the parent. */
LS_API ls_random ls_random_split(const ls_random *parent, uint64_t key);

/* Uniform in [0, 2^64). */
static inline uint64_t ls_random_next(ls_random *r)
{
    uint64_t x = r->s[1] * 5;
    uint64_t result = ((x << 7) | (x >> 57)) * 9;
    uint64_t t = r->s[1] << 17;
    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = (r->s[3] << 45) | (r->s[3] >> 19);
    return result;
}

/* Uniform in [0, bound), without bias; bound 0 gives 0. */
LS_API uint64_t ls_random_below(ls_random *r, uint64_t bound);

/* Uniform in [0, 1) with 53 bits. */
static inline double ls_random_real(ls_random *r)
{
    return (double)(ls_random_next(r) >> 11) * 0x1p-53;
}

/* Exponentially distributed with mean 1. */
LS_API double ls_random_exponential(ls_random *r);

#endif

/* reuse.h: reuse distances (how many different lines were used since the last use of this one), and the hit
 * probability that follows. A Fenwick tree over the times of last uses gives a distance in logarithmic
 * time. */
#ifndef PROFILE_REUSE_H
#define PROFILE_REUSE_H

#include <stdint.h>

#define REUSE_FIRST UINT32_MAX /* the distance of a first use */
#define REUSE_ONE 65536u       /* probability 1 */

typedef struct reuse reuse;

/* For lines numbered [0, lines), and a cache of sets * ways lines. NULL when the host has no memory left. */
reuse *reuse_create(uint32_t lines, uint32_t sets, uint32_t ways);
void reuse_destroy(reuse *r); /* NULL is fine */
void reuse_clear(reuse *r);   /* no line has been used */

/* Uses a line; its distance. */
uint32_t reuse_touch(reuse *r, uint32_t line);
/* The number now stands for another line, which has not been used. */
void reuse_forget(reuse *r, uint32_t line);

/* Probability of a hit at this distance, in 1 / REUSE_ONE. In an LRU cache a line stays while fewer than
 * `ways` of the lines used since then fell into its set. Each does so with probability 1 / sets. */
uint32_t reuse_hit(const reuse *r, uint32_t distance);

#endif

/* vclock.h: sparse vector clocks: for each wave (a number) how many of its segments are known to have happened
 * before. A clock is a tree that shares its nodes with the clocks that it was copied from; a node is copied when a
 * clock changes it and another clock has it too. A copy costs nothing, a join costs the nodes that differ. One
 * thread. */
#ifndef RUNTIME_MEMCHECK_VCLOCK_H
#define RUNTIME_MEMCHECK_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct vclock_node;

/* All zero: knows nothing. */
typedef struct vclock {
    struct vclock_node *root;
    uint32_t height; /* levels above the leaves */
} vclock;

uint32_t vclock_get(const vclock *clock, uint32_t wave);
/* From here on functions that change a clock return false if the host has no memory left; the clock is then as it
 * was, or knows less than it should. */

/* At least `value` for the wave. */
bool vclock_raise(vclock *clock, uint32_t wave, uint32_t value);
/* The larger value for each wave. */
bool vclock_join(vclock *clock, const vclock *other);
/* Replaces the clock by a copy of `other`. */
void vclock_copy(vclock *clock, const vclock *other);
void vclock_drop(vclock *clock); /* knows nothing afterwards */
static inline bool vclock_is_empty(const vclock *clock)
{
    return clock->root == 0;
}
/* Nodes of all clocks that are alive: for tests of the cost. */
uint64_t vclock_nodes(void);

#endif

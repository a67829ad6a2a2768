/* groups.h: the work-groups of a launch that run: all of its grid, a range, every n-th, or a list. Work-groups are
 * numbered in the order of the grid, x first. */
#ifndef LOCKSTEP_GROUPS_H
#define LOCKSTEP_GROUPS_H

#include <stdint.h>

/* Work-group n (below count) has the number first + n * stride. With a list that is a place in the list, which has the
 * number. count 0: the whole grid. */
typedef struct ls_groups {
    uint64_t first, count;
    uint64_t stride;      /* 0 is 1 */
    const uint32_t *list; /* NULL: none */
} ls_groups;

/* The number in the grid of work-group n of those that run. */
static inline uint64_t ls_groups_at(const ls_groups *groups, uint64_t n)
{
    uint64_t at = groups->first + n * (groups->stride != 0 ? groups->stride : 1);
    return groups->list != 0 ? groups->list[at] : at;
}

#endif

/* sizes.h: the problem sizes in which the tests run each workload: its defaults, a tiny size, and an odd size
 * that fits no group, tile or power of two. */
#ifndef TESTS_WORKLOADS_SIZES_H
#define TESTS_WORKLOADS_SIZES_H

#include "workloads/workload.h"

#define SIZES_COUNT 3 /* 0: the defaults, 1: tiny, 2: odd */
#define SIZES_VALUES_MAX 8

/* The values of w's options, in order, for size `index`. False for a workload without sizes here: every one
 * needs some, so that none is forgotten. */
bool sizes_get(const wl_workload *w, int index, uint64_t values[SIZES_VALUES_MAX]);

#endif

/* sample_warm.h: the sectors that L2 would hold before a kernel whose predecessors were not simulated.
 *
 * Kernels are given from the last one before it backwards. Sectors of global memory that a later kernel has touched are
 * not collected again. sample_warm_each() gives the oldest first, so that a cache that takes them
 * one by one ends as a least-recently-used one would. */
#ifndef WORKLOAD_SAMPLE_WARM_H
#define WORKLOAD_SAMPLE_WARM_H

#include "base/vec.h"
#include "workload/trace.h"

#define SAMPLE_WARM_KERNELS 8u    /* predecessors, at most */
#define SAMPLE_WARM_INSTS 262144u /* of their warps, at most */
#define SAMPLE_SECTOR_BYTES 32u

/* All zero is nothing. */
typedef struct sample_warm {
    uint64_t limit;           /* sectors */
    LS_VEC(uint64_t) sectors; /* addresses */
    LS_VEC(size_t) begins;    /* of each kernel in sectors */
    uint64_t *seen;           /* open addressing: address + 1; 0: free */
    uint64_t mask;            /* slots - 1 */
    uint64_t insts;           /* read so far */
    ls_cta cta;
} sample_warm;

/* For a cache of so many sectors. Keeps its memory from the last time. */
ls_status sample_warm_begin(sample_warm *w, uint64_t sectors, ls_error *err);
void sample_warm_fini(sample_warm *w);
/* The kernel before those that were given; its blocks are read. *enough: no further one is needed. */
ls_status sample_warm_kernel(sample_warm *w, trace_kernel *kernel, bool *enough, ls_error *err);
/* One block of a kernel; false: the host has no memory left. */
bool sample_warm_block(sample_warm *w, const trace_kernel *kernel, const ls_cta *cta);
/* Calls for every sector, the least recently used first. */
void sample_warm_each(const sample_warm *w, void (*take)(void *self, uint64_t address), void *self);

#endif

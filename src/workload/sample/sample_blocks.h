/* sample_blocks.h: when the thread blocks (or work-groups) of one kernel are in a steady state, so that the rest of them
 * need not be simulated.
 *
 * Ends of blocks are grouped into windows of one wave: as many blocks as the GPU holds at once. The first wave is not
 * looked at: it starts together. Nor are windows in which caches still fill: until the blocks have touched as much memory
 * as L2 holds, or hardly any that is new to them. The kernel is steady when three spans of equally many windows in a row (1,
 * 2, 4, 8 or 16) take the same time within SAMPLE_STEADY, and their blocks ran equally long. Then whole waves are left
 * out, so that the last blocks stand to each other as they would in the full run. They take the mean time of the steady
 * windows. */
#ifndef WORKLOAD_SAMPLE_BLOCKS_H
#define WORKLOAD_SAMPLE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLE_SPANS 3u
#define SAMPLE_SPAN_WINDOWS 16u /* at most, in a span */
#define SAMPLE_WINDOWS (SAMPLE_SPANS * SAMPLE_SPAN_WINDOWS)
#define SAMPLE_STEADY 0.02 /* of the mean; Photon's and PKA's limits are 3 % and more */
#define SAMPLE_NEW 0.01    /* of the touched memory: a window that touches less that is new fills no cache */

/* All zero: blocks are not looked at. Plain data. */
typedef struct sample_blocks {
    uint64_t total, wave;             /* blocks of the kernel, and at once */
    uint64_t ended;                   /* blocks */
    uint64_t duration;                /* of the present window's, summed */
    uint64_t latest;                  /* end */
    uint64_t edge;                    /* latest end at the end of the last window */
    uint64_t touched, touched_before; /* sectors, now and at the end of the last window */
    bool is_warm;                     /* caches fill no more */
    uint32_t windows;                 /* whole ones since then */
    double times[SAMPLE_WINDOWS];     /* of the last windows */
    double durations[SAMPLE_WINDOWS]; /* of their blocks, mean */
    bool is_steady;
    uint64_t skipped;                /* blocks that were left out */
    double time, variance;           /* mean time of a window in cycles, and the variance of that mean */
    uint64_t stop_ended, stop_cycle; /* blocks that had ended as it became steady, and when */
} sample_blocks;

/* wave 0: the kernel is simulated whole. */
static inline void sample_blocks_begin(sample_blocks *s, uint64_t total, uint64_t wave)
{
    *s = (sample_blocks){ .total = total, .wave = wave };
}
/* Blocks that were sent so far have touched so many sectors of memory; a cache has room for `room`. */
static inline void sample_blocks_touch(sample_blocks *s, uint64_t sectors, uint64_t room)
{
    s->touched = sectors;
    s->is_warm = s->is_warm || sectors >= room;
}
/* A block that ran from one cycle to another has ended. */
void sample_blocks_end(sample_blocks *s, uint64_t begin, uint64_t end);
/* Before a block is sent: how many are left out here, once; `sent` have been before. 0: none. */
uint64_t sample_blocks_skip(sample_blocks *s, uint64_t sent);
/* The whole kernel, begun at a cycle, if it went on at its mean rate until the stop. 0: it was not stopped. */
static inline double sample_blocks_projected(const sample_blocks *s, uint64_t begin)
{
    return s->skipped == 0 ? 0 : (double)(s->stop_cycle - begin) * (double)s->total / (double)s->stop_ended;
}
/* The cycles that they would take, and the variance of that. */
double sample_blocks_cycles(const sample_blocks *s, double *variance);

#endif

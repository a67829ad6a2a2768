/* filter.h: which part of a run goes onto its timeline. A filter is KEY=VALUE:
 *
 *   kernel=3, kernel=*gemm*   work of these kernels, by number or name; requests and transfers while they run
 *   time=10us-20us            what happens in this time; an end may be missing
 *   block=gpu0.core3          blocks by path, with wildcards; what belongs to the whole GPU stays
 *   kind=warp,stall           kinds of ls_tap_kind
 *   every=16                  1 of 16 work-groups (with their warps) and 1 of 16 requests of each block
 *   unit=ps                   Perfetto: a nanosecond of the viewer is a picosecond of the run
 *
 * Several of one key add up, except time, every and unit: there the last one counts. */
#ifndef REPORT_TIMELINE_FILTER_H
#define REPORT_TIMELINE_FILTER_H

#include "base/arena.h"
#include "lockstep/timeline.h"

typedef struct filter_kernel {
    const char *pattern; /* NULL: by number */
    uint64_t number;
    const char *text; /* as it was given */
    uint64_t matches;
} filter_kernel;

typedef struct filter_block {
    const char *pattern;
    uint64_t matches;
} filter_block;

typedef struct timeline_filter {
    filter_kernel *kernels;
    filter_block *blocks;
    size_t kernel_count, block_count;
    ls_time from, until;
    bool has_time;
    uint32_t kinds; /* a bit each */
    uint64_t every;
    uint32_t scale; /* of times of Perfetto: 1 or 1000 */
} timeline_filter;

extern const char *const timeline_kind_names[LS_TAP_KINDS + 1];
ls_status filter_parse(mem_arena *arena, const char *const *texts, size_t count, timeline_filter *out,
                       ls_error *err);
bool filter_takes_kernel(timeline_filter *f, uint64_t number, const char *name); /* counts its matches */
bool filter_takes_block(timeline_filter *f, const char *name);

#endif

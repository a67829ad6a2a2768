/* dram.h: helpers of our models of a memory channel beyond the public interface. Models: `bank` (bank.c:
 * commands, banks and their timing), `fixed` (fixed.c: latency and bandwidth). */
#ifndef MODEL_DRAM_H
#define MODEL_DRAM_H

#include "lockstep/dram.h"
#include "lockstep/timeline.h"

/* Counts the cycles up to `to` as active, from the first request after a pause on. Called whenever something
 * moves, so that the count of a busy channel is as exact as that of a channel at rest. */
static inline void dram_active_until(uint64_t *active_cycles, ls_cycle *since, ls_cycle to)
{
    if (to > *since) {
        *active_cycles += to - *since;
        *since = to;
    }
}

/* Bytes on the data bus, for timelines; in cycle `at` of the region. */
static inline void dram_tap(const ls_tap *tap, const ls_region *region, ls_cycle at, uint64_t bytes)
{
    if (ls_tap_wants(tap, LS_TAP_DRAM))
        ls_tap_record(tap, &(ls_tap_event){ .time = ls_clock_time(ls_region_clock(region), at),
                                            .kind = LS_TAP_DRAM,
                                            .phase = LS_TAP_COUNT,
                                            .value = bytes });
}

#endif

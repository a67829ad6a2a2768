/* dram.h: helpers of our models of a memory channel beyond the public interface. Models: `bank` (bank.c:
 * commands, banks and their timing), `fixed` (fixed.c: latency and bandwidth). */
#ifndef MODEL_DRAM_H
#define MODEL_DRAM_H

#include "lockstep/dram.h"

/* Counts the cycles up to `to` as active, from the first request after a pause on. Called whenever something
 * moves, so that the count of a busy channel is as exact as that of a channel at rest. */
static inline void dram_active_until(uint64_t *active_cycles, ls_cycle *since, ls_cycle to)
{
    if (to > *since) {
        *active_cycles += to - *since;
        *since = to;
    }
}

#endif

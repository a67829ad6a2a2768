/* dram.h: what our models of a memory channel share beyond the public interface. Models: `bank` (bank.c:
 * commands, banks and their timing), `fixed` (fixed.c: latency and bandwidth). */
#ifndef MODEL_DRAM_H
#define MODEL_DRAM_H

#include "lockstep/dram.h"

/* Books the cycles up to `to` as active: from the first request after a pause on, whenever something moves. A
 * channel that is still busy when it is looked at is so no worse off than one that has come to rest. */
static inline void dram_active_until(uint64_t *active_cycles, ls_cycle *since, ls_cycle to)
{
    if (to > *since) {
        *active_cycles += to - *since;
        *since = to;
    }
}

#endif

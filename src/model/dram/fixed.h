/* fixed.h: the keys of the DRAM model `fixed`, for fixed.c and estimate.c. */
#ifndef MODEL_DRAM_FIXED_H
#define MODEL_DRAM_FIXED_H

#include "lockstep/param.h"

typedef struct fixed_spec {
    uint64_t latency_cycles, queue_entries;
    ls_ratio atoms_per_cycle;
} fixed_spec;

#endif

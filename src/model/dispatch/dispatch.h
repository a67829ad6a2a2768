/* dispatch.h: the keys of the built-in dispatcher; its interface is lockstep/dispatch.h. */
#ifndef MODEL_DISPATCH_H
#define MODEL_DISPATCH_H

#include "lockstep/dispatch.h"
#include "model/policy/placement.h"

typedef struct dispatch_spec {
    uint64_t launch_latency_cycles, block_latency_cycles;
    uint64_t concurrent_kernels;
    ls_ratio block_interval; /* cycles from one block to the next, of the whole GPU; 0: no limit */
    bool spread;             /* small grids are spread over all cores */
    placement_spec placement;
} dispatch_spec;

#endif

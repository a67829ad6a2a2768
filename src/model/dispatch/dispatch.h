/* dispatch.h: the keys of the built-in dispatcher; its interface is lockstep/dispatch.h. */
#ifndef MODEL_DISPATCH_H
#define MODEL_DISPATCH_H

#include "lockstep/dispatch.h"
#include "model/policy/placement.h"

/* Which blocks may go to a core while several kernels run. */
typedef enum dispatch_sharing {
    SHARING_FILL,      /* those of any kernel that find room */
    SHARING_LEFTOVER,  /* those of a later kernel only when all blocks of earlier ones have been sent */
    SHARING_EXCLUSIVE, /* those of the kernel that the core belongs to, until it is empty */
} dispatch_sharing;

typedef struct dispatch_spec {
    uint64_t launch_latency_cycles, block_latency_cycles;
    uint64_t concurrent_kernels;
    uint64_t window;           /* launches of the list that are known ahead */
    uint32_t sharing;          /* dispatch_sharing */
    ls_uints priority_streams; /* the highest priority first; other streams come behind them */
    ls_ratio block_interval;   /* cycles from one block to the next, of the whole GPU; 0: no limit */
    bool spread;               /* small grids are spread over all cores */
    placement_spec placement;
} dispatch_spec;

#endif

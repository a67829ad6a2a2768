/* flow.h: the state of a core with alu: hybrid and memory: analytic. For flow.c and flow_memory.c only.
 *
 * With both, everything that an instruction waits for is known when it issues, also the end of a load. So
 * nothing has to happen at the end of anything: a warp has the cycle in which its next instruction can issue,
 * a sub-core its warps in the order of these cycles, and the core goes from issue to issue. It runs ahead of
 * its clock by up to FLOW_AHEAD cycles; what comes from outside (a thread block) finds sub-cores taken for so
 * long at most. */
#ifndef MODEL_CORE_FLOW_H
#define MODEL_CORE_FLOW_H

#include "model/core/hybrid.h"

#define FLOW_AHEAD 128   /* cycles */
#define FLOW_BURST 256   /* cycles for which one warp issues at once, at most */
#define FLOW_SHAPES 256u /* patterns of addresses whose cost is kept; a power of two */
#define FLOW_STARTS 16u  /* a power of two, more than there are collectors */
#define FLOW_REASONS (1u << STALL_COUNT)
#define FLOW_GROUPS 8u /* of asynchronous copies, by their number */

typedef struct flow_sub {
    ls_cycle next;  /* when the scheduler looks at its warps again; LS_CYCLE_MAX: no warp has a cycle */
    ls_cycle time;  /* it has issued for the cycles before this one */
    uint32_t ready; /* warps whose cycle has come */
    uint32_t count; /* of asleep[] */
    uint64_t asleep[CORE_SUB_WARPS_MAX]; /* cycle << 5 | warp in the sub-core; latest first */
    uint32_t taken;                      /* units whose issue register is held, until issue_free */
    ls_cycle issue_free[UNIT_COUNT];
    ls_cycle unit_free[UNIT_COUNT]; /* first cycle in which the unit takes an instruction */
    ls_cycle collector_free;        /* the load/store unit leaves none to others before this cycle */
    uint32_t memory;                /* memory instructions so far, and when the last of them started */
    ls_cycle starts[FLOW_STARTS];
    uint64_t port; /* end of the queue of register accesses, in 1 << port_shift per cycle */
} flow_sub;

typedef struct flow_warp {
    ls_cycle started;
    ls_cycle wake;                    /* of the next instruction, while the warp is at a barrier */
    ls_cycle alu_until, memory_until; /* the last result of a unit; the last register from memory */
    ls_cycle copied[FLOW_GROUPS];     /* when the asynchronous copies of a group are done */
} flow_warp;

/* Addresses of an instruction up to a distance that changes nothing, and what they cost. */
typedef struct flow_shape {
    const ls_inst *inst; /* NULL: empty */
    uint32_t mask, first;
    uint32_t sectors, rounds; /* of shared memory: 0 and the cycles of the banks */
    uint64_t distance[32];    /* to the first lane's address, in lane order */
} flow_shape;

typedef struct flow {
    flow_sub subs[CORE_SUBS_MAX];
    flow_warp warps[CORE_WARPS_MAX];
    ls_cycle barrier_at[CORE_CTAS_MAX]; /* when the last one arrived, or left */
    ls_cycle cta_end[CORE_CTAS_MAX];
    uint32_t ended; /* thread blocks whose end is known and still to come, a bit each */
    uint32_t port_shift, port_mask;
    bool busy;                      /* some block is here: cycles count */
    ls_cycle counted;               /* cycles are counted up to this one */
    uint64_t reasons[FLOW_REASONS]; /* issue slots by the set of reasons why they did not issue */
    flow_shape shapes[FLOW_SHAPES];
} flow;

/* flow_memory.c */
typedef struct flow_access {
    ls_cycle registers; /* results are there */
    ls_cycle done;      /* the warp may end */
} flow_access;
/* The load/store unit takes the instruction in cycle `start`, in which it is free. */
flow_access flow_take(core *c, uint32_t warp, const hybrid_inst *d, const ls_dyn *dyn, ls_cycle start);

#endif

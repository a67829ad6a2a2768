/* options_state.h: the states of the optional parts of a core, for the files of each part and for the state table
 * (core_state.c). */
#ifndef MODEL_CORE_OPTIONS_STATE_H
#define MODEL_CORE_OPTIONS_STATE_H

#include "model/core/cga.h"
#include "model/core/core.h"
#include "model/core/wgmma.h"

struct icache {
    readonly levels;
    uint64_t base[CORE_CTAS_MAX];
    uint64_t served; /* warps whose line has come */
    uint64_t parked; /* warps that found no free miss entry */
};

struct ccache {
    readonly levels;
    uint64_t base[CORE_CTAS_MAX];
    index_list parked; /* flights that found no free miss entry */
};

typedef struct translate_waiting {
    ls_sector_message message;
    ls_cycle ready;
    uint16_t channel;
    bool again; /* the TLB had no miss entry: try again */
} translate_waiting;

struct translate {
    tlb tlb;
    translate_waiting *at; /* oldest first */
    uint32_t count, capacity;
};

/* A block of a cluster, by its slot. */
typedef struct cga_block {
    uint32_t row, number; /* of the cluster in the launch table; number 0: the block is in none */
    uint8_t rank, size;
    uint8_t phase;          /* of the cluster barrier, modulo 2 */
    bool sent;              /* its arrival in this phase */
    uint16_t gone;          /* ranks of blocks that have ended, a bit each */
    uint16_t arrived[2];    /* ranks that have arrived, by phase */
    uint64_t arrived_warps; /* of the own ones, in this phase */
    uint64_t waiting;       /* warps that wait for its end */
    ls_cycle at,
        over; /* the last arrival of the own warps and the end of the last phase; both may lie ahead */
    uint16_t cores[LS_CLUSTER_BLOCKS];
} cga_block;

enum { CGA_REQUESTS, CGA_ANSWERS, CGA_LANES };

/* Messages that wait for the core's port. */
typedef struct cga_lane {
    index_ring ring;
    struct {
        cga_message message;
        uint16_t core;
        ls_cycle at; /* not before */
    } out[CGA_QUEUE];
    ls_event event;
    bool waits; /* for a link */
} cga_lane;

struct cga {
    ls_link **to_cores;
    const cga_hooks *hooks;
    uint32_t core_count, width;
    cga_block blocks[CORE_CTAS_MAX];
    uint8_t phases[CORE_WARPS_MAX]; /* in which a warp arrived */
    uint64_t wire;                  /* the port is free from here on, in cycles times width */
    cga_lane lanes[CGA_LANES];
    index_ring token_ring; /* of answers that have arrived */
    uint32_t tokens[CGA_QUEUE];
    uint32_t asked;   /* messages without an answer so far */
    uint16_t stalled; /* flight in the load/store unit that waits for room, or NO_FLIGHT */
};

/* Matrix instructions of warp groups, of one warp. */
typedef struct wgmma_warp {
    uint16_t head, tail; /* flights that have reached the unit and wait for other warps; NO_FLIGHT: none */
    uint8_t open, wait;  /* number of the group that is filled; a wait is for those before `wait` */
    uint16_t pending[WGMMA_GROUPS]; /* instructions under way, by group */
} wgmma_warp;

struct wgmma {
    wgmma_warp warps[CORE_WARPS_MAX];
    uint64_t heads;                /* warps that have a flight in `head`, a bit each */
    uint64_t queued;               /* warp groups in ready[], a bit each, by their first warp */
    uint8_t ready[CORE_WARPS_MAX]; /* ring: first warps of groups whose warps are all there */
    uint32_t ready_head, ready_tail;
    ls_cycle due;     /* wgmma_cycle() has nothing to do before */
    uint32_t running; /* flights of the instruction in the units; 0: none */
    uint16_t flights[WGMMA_WARPS];
    ls_cycle start, end;       /* of it */
    uint64_t reads, port_mark; /* time that it needs the port; tma.port_taken at its start */
    /* Registers per thread of a warp, and those that it waits for; spare ones of a block. */
    uint16_t registers[CORE_WARPS_MAX], wanted[CORE_WARPS_MAX];
    uint32_t spare[CORE_CTAS_MAX];
};

struct fences {
    uint64_t waiting; /* warps whose request has not been made, a bit each */
    ls_cycle at[64];  /* of them: when the fence issued */
};

/* Most cycles of a core with clusters and warp groups have nothing for them. */
static inline bool cga_has_work(const cga *g)
{
    return !ring_empty(&g->token_ring) || g->stalled != NO_FLIGHT;
}

static inline bool wgmma_has_work(const wgmma *g)
{
    return g->running != 0 || g->ready_head != g->ready_tail;
}

/* For a core without matrix instructions of warp groups in lock step. */
static inline bool options_idle(const core *c)
{
    const core_options *o = &c->options;
    return !o->any || (!o->requests && o->wgmma == NULL && (o->cga == NULL || !cga_has_work(o->cga)));
}

/* Whether an access to shared memory may go to another block, or to an mbarrier. */
static inline bool cga_may_leave(const core *c, uint32_t slot, const ls_inst *inst)
{
    const cga_block *b = &c->options.cga->blocks[slot];
    return (b->number != 0 && b->size > 1) || (inst->flags & LS_INST_UNMODELLED) != 0;
}

#endif

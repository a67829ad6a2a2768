/* front_end.h: the state of the front end: warps with their scoreboards, instruction buffers, schedulers, and what holds
 * a warp up (barriers, fences, copies). Changed by front.c, front_issue.h, cta.c and flow*.c; ldst.c ends waits for memory.
 * Included by core.h only. */
#ifndef MODEL_CORE_FRONT_END_H
#define MODEL_CORE_FRONT_END_H

typedef struct warp_state {
    const ls_dyn *next, *end; /* of the stream: next is the oldest undecoded or buffered */
    const ls_inst *insts;
    const ls_inst *head;             /* the instruction at `next`, while something is buffered */
    uint64_t pending[REG_WORDS];     /* registers that will be written */
    uint64_t from_memory[REG_WORDS]; /* those of them that come from memory */
    uint16_t in_flight;              /* instructions between issue and completion */
    uint16_t stores;                 /* not acknowledged */
    uint16_t atomics;                /* not answered */
    uint16_t cta;                    /* slot */
    uint16_t
        blocked_by;   /* the first register that the head waits for; valid if front_sub.blocked has the warp */
    uint8_t buffered; /* decoded instructions: next[0 .. buffered) */
    bool resident;
    uint8_t
        barrier_name; /* while it waits at a named barrier: its number + 1; from FRONT_WAIT_CLUSTER on: front_wait */
    /* Groups of copies: number of the one that is filled; a wait is for those before async_wait, modulo 256.
     * async_pending: copies under way of groups async_open - 7 to async_open, by group number modulo 8. */
    uint8_t async_open, async_wait;
    uint16_t async_pending[ASYNC_GROUPS];
    ls_cycle busy_until; /* what left no trace but its end (flow.c) is done in this cycle */
} warp_state;

/* A wait (DEPBAR.LE) is for groups core_async_first() to core_async_end(), without the last. A wait without a
 * number, or a wait that leaves 7 or more groups open, waits for none. */
static inline uint8_t core_async_first(const warp_state *w)
{
    return (uint8_t)(w->async_open - (ASYNC_GROUPS - 1));
}
static inline uint8_t core_async_end(const warp_state *w, const ls_inst *inst)
{
    uint8_t kept = inst->imm < 0 || inst->imm >= ASYNC_GROUPS ? ASYNC_GROUPS - 1 : (uint8_t)inst->imm;
    return (uint8_t)(w->async_open - kept);
}
/* Whether copies are under way that the warp's last wait was for. Later groups do not count. */
static inline bool core_async_open(const warp_state *w)
{
    for (uint8_t g = core_async_first(w); g != w->async_wait; g++)
        if (w->async_pending[g % ASYNC_GROUPS] != 0)
            return true;
    return false;
}

/* One warp scheduler and its warps. */
typedef struct front_sub {
    /* One bit per warp of this sub-core (index within it). */
    uint32_t resident, buffered, barrier, fence, async, blocked;
    uint32_t
        elsewhere; /* of async: those that wait for an mbarrier or bulk copies, not for asynchronous copies */
    uint32_t mbarrier;          /* of these: those that wait for an mbarrier */
    uint32_t memory_blocked;    /* of the blocked ones: by a register that comes from memory */
    uint32_t wants[UNIT_COUNT]; /* warps whose next instruction goes to the unit */
    uint8_t last_issued;
    uint8_t charged_warp; /* of `charged`: whose instruction it is. The next choice begins after it */
    stall_reason reason;
    uint32_t reasons;                 /* all that hold at once, a bit each */
    ls_cycle counted_until;           /* stalls are counted up to this cycle, without it */
    uint32_t age[CORE_SUB_WARPS_MAX]; /* per warp: order of arrival */
    inst_count *charged; /* stalls from counted_until on belong to it; NULL: they are not counted */
} front_sub;

#define FRONT_LAST 15u

typedef struct front_end {
    ls_port scheduler;
    scheduler_kind scheduler_kind; /* the block at the other end of the port */
    front_sub subs[CORE_SUBS_MAX];
    front_sub *at[CORE_SUBS_MAX];      /* subs[], as in pipes.at */
    uint8_t warp_sub[CORE_WARPS_MAX];  /* warps go to the sub-cores in turn */
    uint32_t warp_bit[CORE_WARPS_MAX]; /* in the masks of its sub-core */
    /* By `turn` and a set of sub-cores: these in the order of their turns, four bits each from the lowest on, FRONT_LAST
     * behind the last. */
    uint32_t order[CORE_SUBS_MAX][1u << CORE_SUBS_MAX];
    warp_state *warp[CORE_WARPS_MAX]; /* warps[], as in pipes.at */
    warp_state warps[CORE_WARPS_MAX];
    /* Sub-cores in which, since the last issue, some warp may have become able to issue; and those in which
     * one could issue but for its unit. */
    uint32_t changed, ready;
    uint64_t need_fetch; /* warps with an empty buffer and instructions left */
    /* Warps that will need_fetch, as cycle << 6 | warp; the latest first. */
    uint64_t held[CORE_WARPS_MAX];
    uint32_t held_count;
    uint32_t last_fetched;
    uint64_t fetched; /* warp in the fetch register, as a bit; 0: none */
    uint32_t turn;    /* sub-core that issues first in this cycle */
} front_end;

#endif

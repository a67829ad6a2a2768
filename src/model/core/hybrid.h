/* hybrid.h: the state of alu: hybrid. For hybrid*.c and, as far as it decodes instructions, flow.c.
 *
 * Time in the operand stage runs in steps, `collect_steps` of them per cycle. What an instruction will wait
 * for is known when it issues, because those before it have already said until when they use what they share:
 * collectors, banks, execute registers, units, result buses. Only a memory instruction that waits for the
 * load/store unit keeps its collector for a time that nobody knows; what needs that collector waits in its
 * issue register until it is known. */
#ifndef MODEL_CORE_HYBRID_H
#define MODEL_CORE_HYBRID_H

#include "model/core/core.h"

#define HYBRID_STEP_NEVER UINT64_MAX
#define HYBRID_WINDOW 64    /* steps of a bank and cycles of a unit that are booked ahead */
#define HYBRID_CACHE 2048   /* decoded instructions, by their place in the program */
#define HYBRID_REGISTERS 20 /* of one instruction; more are looked up in the instruction itself */
#define HYBRID_BURST 64     /* instructions of one warp that are issued at once, at most */
#define HYBRID_GAP 4        /* cycles that a burst waits for a unit that nobody else could leave out */
#define HYBRID_BLIND 16     /* cycles after the start of a burst in which it does so */
#define HYBRID_QUEUE 16 /* a power of two, more than a sub-core's collectors and registers before the unit */

#define HYBRID_LATE 512
#define HYBRID_QUICK 4 /* registers that are looked at in any case */

/* What issuing needs to know of a static instruction. */
typedef struct hybrid_inst {
    uint64_t key; /* which one this is: the number of its launch and its place in the program; 0: none */
    const ls_inst *inst;
    uint16_t latency, interval;
    uint16_t delay; /* from the start in the unit to the write-back */
    uint8_t unit, class_;
    uint8_t read_count, read_waits; /* operands; those that wait for another of the same instruction */
    uint8_t banks_read;             /* a bit per bank with reads */
    uint8_t registers, written;     /* entries of reg[]; the last `written` of them are results */
    bool effects, wide, unknown;    /* wide: reg[] does not hold them all */
    bool many;                      /* more than one result */
    bool slow;                      /* its unit has faster ones */
    bool yields;                    /* for a collector, memory instructions come first */
    bool stops;                     /* one warp's run of instructions ends before it */
    bool jumps;                     /* a branch after which the warp waits if it is taken */
    uint8_t banks_written;          /* a bit per bank, for warp 0 */
    uint8_t reads[CORE_BANKS_MAX];  /* per bank, for warp 0; those of warp w are w banks further */
    uint16_t
        reg[HYBRID_REGISTERS]; /* each once; those up to HYBRID_QUICK that are not used: HYBRID_NO_REGISTER */
    uint16_t result;           /* the last entry of reg[] if it is one, else HYBRID_NO_RESULT */
    uint8_t flops_kind;
    uint16_t flops;     /* of a lane */
    uint64_t counts;    /* what counters get, HYBRID_COUNT_BITS each: reads, waits, unknown ones */
    uint8_t unused[23]; /* 128 bytes */
} hybrid_inst;
_Static_assert(sizeof(hybrid_inst) == 128, "the table of instructions is indexed by a shift");

#define HYBRID_COUNT_BITS 20
#define HYBRID_NO_REGISTER LS_REG_COUNT     /* always there */
#define HYBRID_NO_RESULT (LS_REG_COUNT + 1) /* written and never looked at */
#define HYBRID_ENDS 16                      /* results of slow instructions that are kept per unit */

/* A memory instruction between issue and the load/store unit. */
typedef struct hybrid_wait {
    uint16_t flight;
    uint8_t collector; /* CORE_COLLECTORS_MAX: none yet, it stands in the issue register */
    ls_cycle ready;    /* when the unit may take it at the soonest */
} hybrid_wait;

typedef struct hybrid_sub {
    uint64_t collector_free[CORE_COLLECTORS_MAX]; /* step from which on; HYBRID_STEP_NEVER: not known */
    /* If the last one to book the collector has still to enter it, in this step, and comes after memory
     * instructions when they want it as well (units.def); else 0. And until when it was booked when one went
     * before. */
    uint64_t collector_enter[CORE_COLLECTORS_MAX], collector_after[CORE_COLLECTORS_MAX];
    uint64_t bank_base; /* bit i of bank_busy: taken in step bank_base + i */
    uint64_t bank_busy[CORE_BANKS_MAX];
    uint64_t execute_free[UNIT_COUNT]; /* step in which the last one leaves the register before the unit */
    ls_cycle unit_free[UNIT_COUNT];
    ls_cycle issue_free[UNIT_COUNT]; /* of the units in `taken` */
    ls_cycle last_end[UNIT_COUNT]; /* the last cycle in which a result of a slow instruction leaves the unit */
    ls_cycle ends[UNIT_COUNT][HYBRID_ENDS];
    uint8_t end_count[UNIT_COUNT];
    uint32_t taken;  /* units whose issue registers are taken in the next cycle, and maybe longer */
    uint32_t parked; /* of these, units whose instruction waits for a collector of unknown end */
    struct {
        const ls_inst *inst;
        uint8_t warp;
    } parked_at[UNIT_COUNT];
    hybrid_wait queue[HYBRID_QUEUE]; /* in front of the load/store unit, oldest first */
    uint32_t head, tail;
    ls_cycle retry;     /* no unit that a ready warp waits for is free before this cycle */
    ls_cycle burst_end; /* the scheduler has already issued for the cycles before this one */
} hybrid_sub;

struct hybrid {
    hybrid_sub subs[CORE_SUBS_MAX];
    uint32_t waiting;        /* sub-cores with a memory instruction in their queue */
    uint32_t bursting;       /* sub-cores whose burst_end is still to come */
    ls_cycle burst_next;     /* the first of them */
    ls_cycle unit_until;     /* the load/store unit has an access to shared memory before this cycle */
    ls_cycle shared_written; /* the last one's result leaves its pipeline */
    /* Answers that have to be looked at but cannot be taken yet: so many come in a cycle. Turns are counted
     * in parts of cycles, network_width of them in each. */
    uint64_t reply_turn;
    index_ring late_ring;
    struct {
        ls_sector_message message;
        ls_cycle at;
    } late[HYBRID_LATE];
    uint32_t steps, banks, collectors, result_buses;
    bool usual;     /* the numbers of steps, banks and collectors that issue has a version of its own for */
    ls_cycle retry; /* no scheduler that waits for a unit has to be looked at before */
    uint8_t bank_shift[CORE_WARPS_MAX];  /* warp modulo banks */
    ls_cycle head_ready[CORE_WARPS_MAX]; /* when the registers of the next instruction are there */
    ls_cycle ready[CORE_WARPS_MAX][LS_REG_COUNT + 2]; /* LS_CYCLE_MAX: not known */
    ls_cycle alu_until[CORE_WARPS_MAX]; /* the last result of a unit: what is later comes from memory */
    uint64_t key[CORE_WARPS_MAX];       /* of the warp's instructions: add their places */
    uint16_t loads[CORE_WARPS_MAX];     /* memory instructions whose registers are not there */
    /* Warps to look at again, by cycle. */
    uint64_t wake[CORE_WHEEL]; /* a bit per warp */
    uint64_t wake_used[CORE_WHEEL / 64];
    uint32_t wake_words;        /* bit i: wake_used[i] is not 0 */
    uint64_t buses[CORE_WHEEL]; /* a cycle << 8 | result buses taken in it */
    uint32_t kernel;            /* flow.c: whose instructions are decoded */
    const ls_inst *kernel_insts;
    hybrid_inst decoded[HYBRID_CACHE];
};

/* hybrid_pipe.c */
void hybrid_decode_new(const core *c, hybrid_inst *d, const ls_inst *inst);
/* Two launches have different keys, so nobody meets what another kernel had at the same place. */
static inline uint64_t hybrid_key(uint32_t launch)
{
    return ((uint64_t)launch + 1) << 32;
}
/* Kernels that run side by side begin at different places of the cache. */
static inline uint32_t hybrid_first(uint64_t key)
{
    return (uint32_t)(key >> 32) * 769;
}
static inline const hybrid_inst *hybrid_decode_key(core *c, uint64_t key, uint32_t first, const ls_inst *insts,
                                                   uint32_t place)
{
    hybrid_inst *d = &c->hybrid->decoded[(place + first) % HYBRID_CACHE];
    if (__builtin_expect(d->key != key + place, 0)) {
        hybrid_decode_new(c, d, &insts[place]);
        d->key = key + place;
    }
    return d;
}
static inline const hybrid_inst *hybrid_decode(core *c, uint32_t warp, const ls_inst *insts, uint32_t place)
{
    uint64_t key = c->hybrid->key[warp];
    return hybrid_decode_key(c, key, hybrid_first(key), insts, place);
}
/* The instruction in the unit's issue register waits for a collector of unknown end. */
void hybrid_park(core *c, uint32_t sub, uint32_t warp, const hybrid_inst *d);
void hybrid_enter_memory(core *c, uint32_t sub, uint32_t warp, const hybrid_inst *d, uint16_t flight_index);
void hybrid_written(core *c, uint32_t sub, uint32_t warp,
                    const hybrid_inst *d); /* a load writes its registers now */
void hybrid_took(core *c, uint32_t sub);   /* the load/store unit took the oldest of the queue */

/* hybrid_issue.c */
void hybrid_issue(core *c);

/* hybrid.c */
/* Registers of an instruction that has more than reg[] holds. */
ls_cycle hybrid_wide_ready(const core *c, uint32_t warp, const hybrid_inst *d);
void hybrid_wide_results(core *c, uint32_t warp, const hybrid_inst *d, ls_cycle done);
void hybrid_look_at(core *c, ls_cycle cycle);                                    /* be awake then */
void hybrid_result(core *c, uint32_t warp, const hybrid_inst *d, ls_cycle done); /* of a parked instruction */
bool hybrid_pending(const core *c, uint32_t warp); /* some register is still to be written */

#endif

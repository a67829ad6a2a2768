/* flow.h: the state of a core with alu: hybrid and memory: analytic. For flow*.c only.
 *
 * With both, everything that an instruction waits for is known when it issues, also the end of a load. So
 * nothing has to happen at the end of anything: a warp has the cycle in which its next instruction can issue,
 * a sub-core its warps in the order of these cycles, and the core goes from issue to issue. It runs ahead of
 * its clock by up to FLOW_AHEAD cycles, but not past the start of a thread block that it knows of, and by few
 * while more blocks are on their way: a block that comes from outside finds sub-cores taken for so long at
 * most. */
#ifndef MODEL_CORE_FLOW_H
#define MODEL_CORE_FLOW_H

#include "model/core/formula.h"
#include "model/core/hybrid.h"

#include <assert.h>

#define FLOW_AHEAD 256     /* cycles */
#define FLOW_EXPECT 16     /* the same while thread blocks are expected, */
#define FLOW_EXPECTED 128  /* which is for so long after one that leaves room for more */
#define FLOW_BURST 256     /* cycles for which one warp issues at once, at most */
#define FLOW_INSTS_MAX 256 /* instructions of a burst */
#define FLOW_GAP 32   /* cycles that a warp in a burst waits for a result while others may issue, at most; */
#define FLOW_LENT 256 /* and of all that it waits for */
#define FLOW_SLACK 16 /* cycles by which the load/store unit takes instructions out of order, at most */
#define FLOW_SHAPES 256u /* patterns of addresses whose cost is kept; a power of two */
#define FLOW_STARTS 16u  /* a power of two, more than there are collectors */
#define FLOW_REASONS (1u << STALL_COUNT)
#define FLOW_INSTS 2048u              /* decoded instructions, by their place in the program; a power of two */
#define FLOW_NO_REGISTER LS_REG_COUNT /* always there */
#define FLOW_NO_RESULT (LS_REG_COUNT + 1u) /* nobody reads it */
#define FLOW_WIDE UINT8_MAX /* more registers than reg[] holds: look at the instruction itself */
/* Registers lie in groups of a cache line, and a group of all warps side by side: programs use few of the
 * registers that there are, and pages of the others are never touched. One warp more than there are, so that
 * the groups of a warp do not meet in one set of the host's cache. */
#define FLOW_GROUP 8u
#define FLOW_GROUP_WORDS ((CORE_WARPS_MAX + 1u) * FLOW_GROUP)
#define FLOW_READY_WORDS ((LS_REG_COUNT + 2u + FLOW_GROUP - 1) / FLOW_GROUP * FLOW_GROUP_WORDS)

/* What issuing needs to know of a static instruction. */
typedef struct flow_inst {
    uint64_t key; /* which instruction this is; 0: none */
    const ls_inst *inst;
    uint64_t uses, missing;   /* issued since they were last counted; lanes of these that were not active */
    uint16_t interval, delay; /* of the unit; from its start in the unit to the write-back */
    uint16_t held;            /* cycles that it may wait before it holds its issue register */
    uint8_t unit;
    uint8_t front;              /* cycles from issue to the unit */
    uint8_t port, read_port;    /* accesses to registers; those that it waits for itself: its operands */
    uint8_t registers, written; /* entries of reg[] in use, the first `written` are results; FLOW_WIDE */
    uint8_t read_count, read_waits;
    bool effects, unknown;
    bool jumps;      /* as hybrid_inst */
    bool plain;      /* of a unit, without effects, with four registers and one result at most */
    uint16_t result; /* reg[0], or of FLOW_NO_RESULT */
    uint16_t reg[HYBRID_REGISTERS + 4]; /* flow_place(), four at least; then FLOW_NO_REGISTER */
    uint32_t unit_bit;                  /* 1 << unit */
    /* Memory instructions: */
    const rates_inst *rate;
    uint8_t space, width; /* ls_mem_space, LS_SPACE_GENERIC included; bytes */
    bool load, bypass;    /* not a store; past L1 */
    bool plain_lanes;     /* no atomic, and neither shared nor local memory nor perhaps one of these */
    /* For the counters, when the program may be gone already: */
    uint8_t class_, flops_kind;
    uint16_t flops; /* of a lane */
    /* A mask and the lanes that it lacks: an instruction that not all lanes execute often has the one it had
     * last. */
    uint8_t partial_missing;
    uint32_t partial;
} flow_inst;
static_assert(sizeof(flow_inst) == 128, "the table of instructions is indexed by a shift");

typedef struct flow_sub {
    ls_cycle time;                       /* it has issued for the cycles before this one */
    uint32_t ready;                      /* warps whose cycle has come */
    uint32_t count;                      /* of asleep[] */
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
    uint64_t key; /* of its kernel: flow_inst.key of the instruction in place 0 */
    const ls_core_launch *launch;
    const uint64_t *addrs; /* of its block */
    const uint64_t *moves; /* as ls_cta.moves */
    ls_cycle started;
    ls_cycle wake;                    /* of the next instruction, while the warp is at a barrier */
    ls_cycle alu_until, memory_until; /* the last result of a unit; the last register from memory */
    ls_cycle copied[ASYNC_GROUPS];    /* when the asynchronous copies of a group are done */
} flow_warp;

/* Addresses of an instruction up to a distance that changes nothing, and what they cost. */
typedef struct flow_shape {
    const ls_inst *inst; /* NULL: empty */
    uint32_t mask, first;
    uint32_t sectors, rounds; /* of shared memory: 0 and the cycles of the banks */
    uint64_t distance[32];    /* to the first lane's address, in lane order */
} flow_shape;

typedef struct flow {
    /* By sub-core: when the scheduler looks at its warps again; LS_CYCLE_MAX: no warp has a cycle. */
    ls_cycle next[CORE_SUBS_MAX];
    flow_sub subs[CORE_SUBS_MAX];
    flow_warp warps[CORE_WARPS_MAX];
    ls_cycle barrier_at[CORE_CTAS_MAX]; /* when the last one arrived, or left */
    ls_cycle cta_end[CORE_CTAS_MAX];
    uint32_t ended; /* thread blocks whose end is known and still to come, a bit each */
    uint32_t port_shift, port_mask;
    ls_cycle horizon;               /* nothing is issued after this cycle, but for what a burst has begun */
    bool busy;                      /* some block is here: cycles count */
    ls_cycle counted;               /* cycles are counted up to this one */
    uint64_t reasons[FLOW_REASONS]; /* issue slots by the set of reasons why they did not issue */
    flow_shape shapes[FLOW_SHAPES];
    bool shaped;                      /* some of shapes[] is in use */
    uint32_t insts_used;              /* of insts[], from the front */
    ls_cycle ready[FLOW_READY_WORDS]; /* when registers are there */
    flow_inst *insts;                 /* [FLOW_INSTS] */
    ls_cycle *unit;                   /* the first cycle in which the load/store unit takes an instruction */
} flow;
static_assert(FLOW_READY_WORDS <= UINT16_MAX, "places of registers have 16 bits");

/* ---------------------------------------------------------------------------------------- warps in order */

static inline ls_cycle flow_later(ls_cycle a, ls_cycle b)
{
    return a > b ? a : b;
}

/* Where a register is among those of its warp. */
static inline uint32_t flow_place(uint32_t reg)
{
    return reg / FLOW_GROUP * FLOW_GROUP_WORDS + reg % FLOW_GROUP;
}

static inline ls_cycle *flow_registers(flow *f, uint32_t warp)
{
    return &f->ready[(size_t)warp * FLOW_GROUP];
}

/* `bit`: of the warp in its sub-core. */
static inline void flow_sleep_until(flow_sub *fs, uint32_t bit, ls_cycle cycle)
{
    uint64_t key = cycle << 5 | (uint32_t)__builtin_ctz(bit);
    uint32_t i = fs->count++;
    for (; i > 0 && fs->asleep[i - 1] < key; i--)
        fs->asleep[i] = fs->asleep[i - 1];
    fs->asleep[i] = key;
}

static inline ls_cycle flow_soonest(const flow_sub *fs)
{
    return fs->count == 0 ? LS_CYCLE_MAX : flow_later(fs->asleep[fs->count - 1] >> 5, fs->time);
}

/* flow_warp.c */
/* The last one may have arrived, or left. */
void flow_release_barrier(core *c, uint32_t slot);
void flow_end_warp(core *c, uint32_t warp, ls_cycle now);
/* What the instruction does to its warp beside its registers. Returns the first cycle in which the next
 * one may issue; LS_CYCLE_MAX: nobody knows, it waits at a barrier. */
ls_cycle flow_effects(core *c, uint32_t warp, const ls_inst *inst, uint32_t mask, ls_cycle now, ls_cycle done);

/* flow_inst.c */
/* The entry of the instruction, which holds another one. */
void flow_decode(core *c, flow_inst *d, const ls_core_launch *launch, uint32_t place, uint64_t key);
/* Counts what has issued. */
void flow_count_uses(core *c);
/* Counts what has issued, and forgets all of them: what comes next may lie where this program was. */
void flow_forget(core *c);
/* Registers of an instruction that has more than reg[] holds. */
ls_cycle flow_wide_ready(const core *c, uint32_t warp, const ls_inst *inst);
void flow_wide_results(core *c, uint32_t warp, const ls_inst *inst, ls_cycle done);

/* flow_memory.c */
typedef struct flow_access {
    ls_cycle registers; /* results are there */
    ls_cycle done;      /* the warp may end */
} flow_access;
/* The load/store unit takes the instruction in cycle `start`, in which it is free. */
flow_access flow_take(core *c, const flow_warp *fw, uint32_t warp, const flow_inst *d, const ls_dyn *dyn,
                      ls_cycle start);

/* The sectors of an access that the unit takes in cycle `start`. */
static inline flow_access flow_take_sectors(core *c, const flow_warp *fw, const flow_inst *d, uint32_t sectors,
                                            uint32_t rounds, ls_cycle start)
{
    c->n.memory_sectors += sectors;
    *c->flow->unit = start + rounds;
    ls_cycle end = formula_access(c, fw->launch, d->rate, d->load, sectors, rounds, start) + 1;
    ls_cycle left = start + rounds;
    end = end > left ? end : left;
    return (flow_access){ .registers = end, .done = end };
}

#endif

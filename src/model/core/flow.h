/* flow.h: the state of alu: issue, a pipeline without cycles between issues. For flow*.c only.
 *
 * Each instruction of an execution unit has a known end when it issues. A warp has the cycle in which its next
 * instruction can issue, a sub-core its warps in the order of these cycles, and the core goes from issue to
 * issue.
 *
 * With memory: analytic the end of a load is known as well, so nothing has to happen at the end of anything.
 * The core runs ahead of its clock by up to FLOW_AHEAD cycles, but not past the start of a thread block that it
 * knows of, and by few while more blocks are on their way: a block that comes from outside finds sub-cores
 * taken for so long at most.
 *
 * With memory: cycle the load/store unit, L1 and everything behind it run in their own cycles (ldst.c). A load
 * has no known end until its last sector is there; a warp that needs its result is parked. The core runs ahead
 * of its clock by FLOW_AHEAD_SIMULATED cycles at most: an answer can be noticed so much too late. */
#ifndef MODEL_CORE_FLOW_H
#define MODEL_CORE_FLOW_H

#include "model/core/formula.h"

#include <assert.h>

#define FLOW_AHEAD 256          /* cycles */
#define FLOW_AHEAD_SIMULATED 64 /* the same, where memory is simulated */
#define FLOW_QUEUE 64u          /* memory instructions in front of the load/store unit; a power of two */
#define FLOW_LATE 512u          /* answers of memory that wait for their turn */
#define FLOW_REGISTERS 20       /* of one instruction; more are looked up in the instruction itself */
#define FLOW_EXPECT 16          /* the same while thread blocks are expected, */
#define FLOW_EXPECTED 128       /* which is for so long after one that leaves room for more */
#define FLOW_BURST 256          /* cycles for which one warp issues at once, at most */
#define FLOW_INSTS_MAX 256      /* instructions of a burst */
#define FLOW_GAP 32   /* cycles that a warp in a burst waits for a result while others may issue, at most; */
#define FLOW_LENT 256 /* and of all that it waits for */
#define FLOW_SLACK 16 /* cycles by which the load/store unit takes instructions out of order, at most */
#define FLOW_SHAPES 256u /* patterns of addresses whose cost is kept; a power of two */
#define FLOW_STARTS 16u  /* a power of two, more than there are collectors */
#define FLOW_REASONS (1u << STALL_COUNT)
#define FLOW_INSTS 2048u              /* decoded instructions, by their place in the program; a power of two */
#define FLOW_NO_REGISTER LS_REG_COUNT /* always there */
#define FLOW_NO_RESULT (LS_REG_COUNT + 1u) /* no instruction reads it */
#define FLOW_WIDE UINT8_MAX /* more registers than reg[] holds: look at the instruction itself */
/* Registers lie in groups of a cache line, with the same group of all warps side by side. Programs use few
 * registers, so pages of the others are never touched. There is room for one more warp, so that the groups of
 * a warp do not share one set of the host's cache. */
#define FLOW_GROUP 8u
#define FLOW_GROUP_WORDS ((CORE_WARPS_MAX + 1u) * FLOW_GROUP)
#define FLOW_READY_WORDS ((LS_REG_COUNT + 2u + FLOW_GROUP - 1) / FLOW_GROUP * FLOW_GROUP_WORDS)

/* The facts about a static instruction that issue needs. */
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
    bool jumps;      /* a branch after which the warp waits if it is taken */
    bool plain;      /* of a unit, without effects, with four registers and one result at most */
    uint16_t result; /* reg[0], or of FLOW_NO_RESULT */
    uint16_t reg[FLOW_REGISTERS + 4]; /* flow_place(); the first four are FLOW_NO_REGISTER if not in use */
    uint32_t unit_bit;                /* 1 << unit */
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
    /* Simulated memory: */
    uint32_t parked;  /* warps that wait for an answer of memory at an unknown time */
    uint32_t waiting; /* memory instructions that the load/store unit has not taken */
    uint32_t closed;  /* units that take nothing before the load/store unit has taken one of these */
} flow_sub;

/* A memory instruction in front of the load/store unit. */
typedef struct flow_wait {
    ls_cycle ready; /* its operands are read */
    uint16_t flight;
} flow_wait;

typedef struct flow_warp {
    uint64_t key; /* of its kernel: flow_inst.key of the instruction in place 0 */
    const core_launch *launch;
    const uint64_t *addrs; /* of its block */
    const uint64_t *moves; /* as ls_cta.moves */
    ls_cycle started;
    ls_cycle wake;                    /* of the next instruction, while the warp is at a barrier */
    ls_cycle alu_until, memory_until; /* the last result of a unit; the last register from memory */
    ls_cycle copied[ASYNC_GROUPS];    /* when the asynchronous copies of a group are done */
    uint32_t loads;                   /* simulated memory: instructions whose registers have no known cycle */
    uint16_t flight;                  /* likewise: of the last memory instruction, or NO_FLIGHT */
} flow_warp;

/* Addresses of an instruction, up to a distance without effect, and their cost. */
typedef struct flow_shape {
    const ls_inst *inst; /* NULL: empty */
    uint32_t mask, first;
    uint32_t sectors, rounds; /* of shared memory: 0 and the cycles of the banks */
    uint64_t distance[32];    /* to the first lane's address, in lane order */
} flow_shape;

/* The additional state of a core with simulated memory. */
typedef struct flow_simulated {
    flow_wait queue[FLOW_QUEUE]; /* by `ready`; the first to come is at `head` */
    uint32_t head, tail;
    ls_cycle unit_free;      /* the load/store unit has an access to shared memory before this cycle */
    ls_cycle shared_written; /* when the last result left the pipeline of shared memory */
    uint64_t ending;         /* warps at the end of their stream, whose last result is still to come */
    bool starved;            /* all flights are in use */
    /* Answers that cannot be taken yet: so many come in a cycle. Turns are counted in parts of cycles,
     * network_width of them in each. */
    uint64_t reply_turn;
    index_ring late_ring;
    struct {
        ls_sector_message message;
        ls_cycle at;
    } late[FLOW_LATE];
} flow_simulated;

typedef struct flow {
    /* By sub-core: when the scheduler looks at its warps again; LS_CYCLE_MAX: no warp has a cycle. */
    ls_cycle next[CORE_SUBS_MAX];
    flow_sub subs[CORE_SUBS_MAX];
    flow_warp warps[CORE_WARPS_MAX];
    ls_cycle barrier_at[CORE_CTAS_MAX]; /* when the last one arrived, or left */
    ls_cycle cta_end[CORE_CTAS_MAX];
    uint32_t ended; /* thread blocks whose end is known and still to come, a bit each */
    uint32_t port_shift, port_mask;
    uint32_t steps, banks, collectors; /* of core_spec */
    uint32_t kernel;                   /* the kernel whose instructions are decoded */
    const ls_inst *kernel_insts;
    ls_cycle horizon;               /* nothing is issued after this cycle, except the rest of a burst */
    bool busy;                      /* some block is here: cycles count */
    ls_cycle counted;               /* cycles are counted up to this one */
    uint64_t reasons[FLOW_REASONS]; /* issue slots by the set of reasons why they did not issue */
    flow_shape shapes[FLOW_SHAPES];
    bool shaped;                      /* some of shapes[] is in use */
    uint32_t insts_used;              /* of insts[], from the front */
    ls_cycle ready[FLOW_READY_WORDS]; /* when registers are there */
    flow_inst *insts;                 /* [FLOW_INSTS] */
    ls_cycle *unit;                   /* the first cycle in which the load/store unit takes an instruction */
    flow_simulated *simulated;        /* NULL: memory is a formula */
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

/* flow.c */
void flow_start_warps(core *c, ls_cycle now); /* those that have arrived */
void flow_settle(core *c, ls_cycle now);      /* the core is empty: counts what has not been counted yet */

/* flow_issue.c */
/* The sub-cores take their turns, the first in time first, up to flow.horizon. True: a thread block has ended, and
 * the horizon may be another one. */
bool flow_run(core *c);
void flow_count_stalls(core *c, front_sub *s,
                       ls_cycle until);       /* counts the stalls of the cycles before `until` */
flow_inst *flow_head(core *c, uint32_t warp); /* the warp's next instruction */
ls_cycle flow_ready_at(const core *c, uint32_t warp, const flow_inst *d); /* when its registers are there */
void flow_set_results(core *c, uint32_t warp, const flow_inst *d, ls_cycle done);

/* flow_warp.c */
/* The last one may have arrived, or left. */
void flow_release_barrier(core *c, uint32_t slot);
void flow_leave_barrier(core *c, uint32_t warp, ls_cycle at); /* a warp whose barrier is over */
void flow_left_barrier(core *c, uint32_t slot);               /* a warp of the block ended in this cycle */
void flow_end_warp(core *c, uint32_t warp, ls_cycle now);
/* Effects of the instruction on its warp beside its registers. Returns the first cycle in which the next one
 * may issue; LS_CYCLE_MAX: unknown, it waits at a barrier. */
ls_cycle flow_effects(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, ls_cycle now,
                      ls_cycle done);

bool flow_has_warp_op(const core *c, const ls_inst *inst); /* cluster barriers and dependent launches */

/* flow_inst.c */
/* The entry of the instruction, which holds another one. */
void flow_decode(core *c, flow_inst *d, const core_launch *launch, uint32_t place, uint64_t key);
/* Counts what has issued. */
void flow_count_uses(core *c);
/* Counts the issued instructions, and drops all of them: another program may take their addresses. */
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

/* flow_simulated.c */
bool flow_simulated_init(core *c); /* false: the host has no memory left */
bool flow_simulated_tick(void *self, ls_cycle now);
/* The instruction issues in cycle `now`, has its operands in cycle `ready` and waits for the load/store unit. */
void flow_enqueue(core *c, uint32_t warp, const flow_inst *d, const ls_dyn *dyn, ls_cycle ready);
/* An access to shared memory that finds the unit free in cycle `start`; returns when it is done. */
ls_cycle flow_reserve_shared(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, ls_cycle start);
/* The warp waits for an answer of memory, or for more than that. */
bool flow_waits(const core *c, uint32_t warp);
/* The warp has nothing to issue before cycle `soon`, and not before memory has answered. */
void flow_park(core *c, uint32_t warp, ls_cycle soon);
void flow_look_again(core *c, uint32_t warp);          /* at a warp that may have been parked */
void flow_let_go(core *c, uint32_t warp, ls_cycle at); /* of a warp that front_stop() has stopped */
void flow_release(core *c, const flight *f);           /* the last sector of a load is there */
bool flow_reply(core *c, const ls_sector_message *message, ls_cycle now);

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

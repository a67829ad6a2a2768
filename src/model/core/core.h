/* core.h: the state of one core (SM), shared by the files of this folder and by nobody else.
 *
 *   front.c     instruction buffers, warp schedulers, scoreboard, issue
 *   collect.c   operand collectors, register banks, execution units, write-back
 *   cycle.c     alu: cycle    one cycle of the pipeline that front.c and collect.c are
 *   flow*.c     alu: issue    in place of these: from issue to issue, without cycles in between
 *   ldst.c      load/store unit: shared memory, L1, requests to the network, replies
 *   coalesce.c  addresses of a warp -> 32-byte sectors, bank conflicts of shared memory
 *   l1.c        the built-in L1, and its size beside shared memory
 *   l1_other.c  the L1 behind its table of functions
 *   cta.c       thread blocks: arrival, resources, barriers, completion
 *   ahead.c     thread blocks that are sent before there is room for them
 *   core.c      the block: parameters, counters, one cycle, sleeping
 *   core_port.c the tables of functions that the rest of the machine calls
 *   analytic.c  in place of most of ldst.c, where memory is a formula
 *   options.h   parts that a platform may switch on: instruction and constant caches, TLBs
 *
 * One cycle runs in the order write-back, execute, operand collection, issue, fetch, as a pipeline whose
 * stages move from the back: what a stage produces is seen by the stage before it in the same cycle and by
 * the one after it in the next. A core without work sleeps; the cycles slept are booked with the stall
 * reasons they had. */
#ifndef MODEL_CORE_H
#define MODEL_CORE_H

#include "base/bitset.h"
#include "base/ring.h"
#include "isa/stream.h"
#include "lockstep/block.h"
#include "lockstep/l1.h"
#include "model/core/tensor.h"
#include "model/cache/sector_cache.h"
#include "model/core/analytic.h"
#include "model/core/core_api.h"
#include "model/core/options.h"
#include "model/core/scheduler.h"
#include "model/memory/mem.h"

#define CORE_WARPS_MAX 64
#define CORE_SUBS_MAX 4
#define CORE_SUB_WARPS_MAX 32
#define CORE_CTAS_MAX 32
#define CORE_COLLECTORS_MAX 8 /* per sub-core */
#define CORE_BANKS_MAX 8      /* register banks per sub-core */
#define CORE_FLIGHTS 2048     /* instructions between issue and completion */
#define CORE_WHEEL 1024       /* cycles ahead that an execution unit can book */
#define CORE_SECTORS_MAX 272  /* sectors of one memory instruction, at most: 32 lanes x 8 words + some */
#define ASYNC_GROUPS 8        /* of a warp, told apart; a power of two */
#define NO_FLIGHT UINT16_MAX
#define STORE_TOKEN 0x80000000u /* tokens of stores carry the warp, those of loads the flight */
#define STORE_OTHER 0x40000000u /* and that they do not go to global memory */
#define STORE_WARP 0x0000ffffu
#define REG_WORDS ((LS_REG_COUNT + 63) / 64)

typedef enum core_unit {
#define UNIT(name, help) UNIT_##name,
#include "model/core/units.def"
#undef UNIT
    UNIT_COUNT
} core_unit;

typedef struct core_class {
    uint32_t unit;
    uint64_t latency_cycles, interval_cycles;
} core_class;

typedef enum core_alu_model { ALU_CYCLE, ALU_ISSUE } core_alu_model;

typedef struct core_spec {
    uint64_t sub_cores, warp_slots, cta_slots;
    uint64_t registers, shared_kib;
    uint64_t register_unit;              /* registers per thread are rounded up to a multiple of this */
    uint32_t alu;                        /* core_alu_model */
    uint64_t collectors, register_banks; /* per sub-core */
    uint64_t collect_steps;              /* operand collector steps per cycle */
    uint64_t result_buses;
    uint64_t
        forward_cycles; /* dependent instructions see a result so many cycles before its write-back would end */
    uint64_t fetch_rounds;
    uint64_t branch_cycles;     /* from a taken branch to the next instruction of its warp; 0: as any other */
    uint64_t warp_start_cycles; /* from the start of a warp to that of the next one of the core */
    uint64_t cold_start_cycles; /* after a kernel's first block arrives, the core has no instruction of it */
    bool track_spans;           /* vector loads mark every register they write, as the hardware does */
    bool accelsim_rules; /* zero register, L1 bypass, access widths and barriers as Accel-Sim has them */
    uint64_t shared_latency_cycles, shared_banks;
    bool shared_first_word; /* bank conflicts look at the first word of a wide access only (Accel-Sim) */
    uint64_t unified_kib;   /* L1 and shared memory together; 0: L1 keeps its size */
    ls_uints shared_options_kib;
    uint64_t network_queue;
    uint64_t network_width; /* requests sent and answers taken per cycle */
    options_spec options;
    analytic_spec analytic;
    core_class classes[LS_CLASS_COUNT];
    tensor_spec tensor;
} core_spec;

typedef enum stall_reason {
    STALL_IDLE,  /* no warp on the scheduler */
    STALL_FETCH, /* no decoded instruction */
    STALL_BARRIER,
    STALL_FENCE,      /* memory barrier or outstanding atomic */
    STALL_ASYNC,      /* waits for asynchronous copies */
    STALL_MEMORY,     /* an operand comes from memory */
    STALL_DEPENDENCE, /* an operand comes from an execution unit */
    STALL_UNIT,       /* the unit's issue register is taken */
    STALL_COUNT
} stall_reason;

typedef enum core_flops { FLOPS_HALF, FLOPS_SINGLE, FLOPS_DOUBLE, FLOPS_TENSOR, FLOPS_COUNT } core_flops;

/* First the counters of the core's time and of its port to the network, which concurrent kernels share. From
 * `issued` on the counters of work; each count belongs to one kernel (banks.c). */
typedef struct core_counters {
    uint64_t resident_cycles; /* with at least one resident warp */
    uint64_t issue_slots, stalls[STALL_COUNT];
    uint64_t stack[STALL_COUNT]; /* as stalls, but a slot counts for every reason that some warp had */
    uint64_t resident_warps;     /* summed over cycles */
    uint64_t peak_flops;         /* single-precision ones that the units could have done; of a core at rest */
    uint64_t network_stalls,
        network_stall_cycles; /* requests that could not enter the network at once; for how long */
    uint64_t requests_sent, replies;

    uint64_t issued;
    uint64_t warp_instructions, thread_instructions;
    uint64_t ctas;
    uint64_t by_class[LS_CLASS_COUNT];
    uint64_t tensor_cycles; /* that units of matrix instructions are busy, summed over sub-cores */
    uint64_t flops[FLOPS_COUNT];
    uint64_t unknown_opcodes;      /* instructions of no table, taken for integer ones by request */
    uint64_t bank_conflict_cycles; /* shared memory */
    uint64_t shared_accesses;
    uint64_t l1_bank_conflicts;
    uint64_t memory_instructions, memory_sectors;
    uint64_t
        async_copy_misses; /* asynchronous copies with at least one L1 miss: Accel-Sim counts them twice */
    uint64_t register_reads, register_bank_waits;
    sector_cache_counters l1;
    options_counters options;
    analytic_counters analytic;
} core_counters;

/* An issued instruction until everything it does is done. */
typedef struct flight {
    const ls_inst *inst;
    const ls_dyn *dyn;
    uint32_t mask;
    uint32_t uid;      /* order of issue */
    uint16_t next;     /* in its present list */
    uint16_t requests; /* sectors still to come back */
    uint8_t warp, sub, unit;
    bool counted;  /* done as far as the warp is concerned: only its requests are still out */
    bool missed;   /* some sector missed L1 */
    uint8_t group; /* of asynchronous copies */
    uint8_t space; /* as resolved for generic addresses */
} flight;

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
    uint8_t buffered;                /* decoded instructions: next[0 .. buffered) */
    bool resident;
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

typedef struct sub_core {
    /* One bit per warp of this sub-core (index within it). */
    uint32_t resident, buffered, barrier, fence, async, blocked;
    uint32_t memory_blocked;    /* of the blocked ones: by a register that comes from memory */
    uint32_t wants[UNIT_COUNT]; /* warps whose next instruction goes to the unit */
    uint8_t last_issued;
    uint16_t issue[UNIT_COUNT];        /* issue register per unit: flight or NO_FLIGHT */
    uint16_t execute[UNIT_COUNT];      /* collected, waiting for the unit */
    uint32_t issue_mask, execute_mask; /* units whose registers are taken */
    uint32_t tried_mask;               /* issue_mask when warps that could issue found all their units taken */
    uint16_t collector[CORE_COLLECTORS_MAX];
    uint8_t collector_waits[CORE_COLLECTORS_MAX]; /* operands not yet read */
    uint8_t collector_unit[CORE_COLLECTORS_MAX];
    uint32_t collector_used, collector_ready;
    uint32_t ready_units; /* units that the ready ones go to */
    /* Nothing can move before one of ready_units takes an instruction. Its collectors are full or nothing is
     * issued, no operand is missing, and all ready instructions wait for their unit. */
    bool stuck;
    uint16_t bank_queue[CORE_BANKS_MAX][CORE_COLLECTORS_MAX * 4];
    uint8_t bank_head[CORE_BANKS_MAX], bank_tail[CORE_BANKS_MAX];
    uint32_t bank_waiting, bank_written; /* banks with requests; banks a write-back took in this step */
    ls_cycle unit_free[UNIT_COUNT];      /* first cycle in which the unit takes another instruction */
    uint64_t unit_done[UNIT_COUNT];      /* bit i: it delivers a result i cycles after unit_base */
    ls_cycle unit_base[UNIT_COUNT];
    stall_reason reason;
    uint32_t reasons;                 /* all that hold at once, a bit each */
    ls_cycle booked;                  /* stalls are counted up to this cycle, without it */
    uint32_t age[CORE_SUB_WARPS_MAX]; /* per warp: order of arrival */
} sub_core;

typedef struct l1_access {
    uint64_t address;
    uint32_t byte_mask;
    uint16_t flight;
    uint8_t warp;
    bool write : 1, global : 1;
    ls_cycle ready; /* when it may look into the cache */
} l1_access;

typedef struct l1_bank {
    index_ring ring;
    l1_access *at;
    ls_cycle last_in; /* cycle of the last insertion */
} l1_bank;

typedef struct cta_state {
    bool used;
    core_launch launch;
    ls_cycle start;
    uint16_t first_warp, warp_count, warps_left;
    uint16_t at_barrier;
    uint32_t registers;
    uint32_t shared_bytes;
} cta_state;

/* A model of the way of instructions from the warp to their end; the load/store unit and all around it is the
 * same for all. */
typedef struct core_alu {
    bool (*init)(struct core *c); /* false: the host has no memory left */
    bool (*tick)(void *self, ls_cycle now);
    void (*release)(struct core *c, const flight *f); /* its registers are written */
    bool (*take_banks)(struct core *c,
                       const flight *f); /* a load writes its registers; false: not in this cycle */
    /* An answer from memory arrives. True: that is all, the core need not look at it. NULL: it always has
     * to. */
    bool (*reply)(struct core *c, const ls_sector_message *message, ls_cycle now);
} core_alu;

typedef struct flow flow;
typedef struct core_ahead core_ahead;
typedef struct coalesce_memory coalesce_memory;
typedef struct core_banks core_banks;

typedef struct core {
    const core_spec *spec;
    const core_alu *alu;
    flow *flow; /* the state of alu: issue, or NULL */
    ls_region *region;
    ls_domain *domain;
    const char *name;
    uint32_t id;
    ls_ticker ticker;
    ls_event timer;
    ls_cycle now, last_tick;
    core_options options;
    analytic *analytic; /* NULL: memory is simulated */
    core_counters n;
    core_banks *kernel_banks; /* n by kernel; NULL: kernels run one after the other */
    bool mixed;               /* blocks of several kernels are resident */
    ls_port scheduler;
    scheduler_kind scheduler_kind; /* the block at the other end of the port */

    sub_core subs[CORE_SUBS_MAX];
    uint32_t sub_count, warps_per_sub;
    uint32_t all_collectors;           /* of a sub-core: a bit each */
    uint8_t warp_sub[CORE_WARPS_MAX];  /* warps are dealt out to the sub-cores in turn */
    uint32_t warp_bit[CORE_WARPS_MAX]; /* in the masks of its sub-core */
    warp_state warps[CORE_WARPS_MAX];
    uint32_t resident_warps, age, uid;
    uint32_t resident_warps_then; /* at the end of the last tick: for the cycles slept since */
    /* Which sub-cores have something in a stage, a bit each: empty stages are not looked at. */
    uint32_t collecting, executing, writing;
    /* Sub-cores in which, since the last issue, some warp may have become able to issue; and those in which
     * one could issue but for its unit. */
    uint32_t front_changed, front_ready;
    uint64_t need_fetch; /* warps with an empty buffer and instructions left */
    /* Warps that will need_fetch, as cycle << 6 | warp; the latest first. */
    uint64_t held[CORE_WARPS_MAX];
    uint32_t held_count;
    uint32_t last_fetched;
    int32_t fetched; /* warp in the fetch register; -1: none */
    uint32_t turn;   /* sub-core that issues first in this cycle */
    bool dozing;     /* sleeps until a unit is free, with instructions in front of it */

    tensor_rates tensor;
    flight *flights;
    uint16_t free_flight;
    uint16_t fresh_flight;      /* the last of the free ones: those behind it have never been used */
    uint16_t wheel[CORE_WHEEL]; /* flights by the cycle of their write-back */
    uint64_t wheel_used[CORE_WHEEL / 64];
    uint32_t wheel_count;
    uint8_t buses[CORE_WHEEL]; /* result buses taken per cycle */

    /* load/store unit */
    uint16_t dispatch; /* instruction in the unit; NO_FLIGHT: none */
    coalesce_memory *patterns;
    uint32_t sector_count;
    uint64_t sectors[CORE_SECTORS_MAX];
    uint32_t sector_bytes[CORE_SECTORS_MAX];
    uint32_t conflict_cycles; /* that its banks of shared memory need */
    ls_cycle dispatch_until;  /* before this cycle it does nothing else */
    ls_cycle memory_next;     /* ldst_next() after the last ldst_cycle() or ldst_take() */
    index_ring shared_ring;   /* loads in the pipeline of shared memory */
    struct {
        ls_cycle ready;
        uint16_t flight;
    } shared_pipe[64];
    ls_cycle shared_last; /* cycle of the last entry */
    uint16_t next_wb;     /* in the write-back register */
    uint16_t next_global; /* answered request that bypassed L1 */
    uint32_t wb_turn;
    l1_bank banks[LS_L1_BANKS];
    uint32_t queued_accesses;
    ls_cycle look_at; /* while there are any: no bank has one that is ready before */
    sector_cache *l1; /* of the built-in model; NULL: another one, called by its table (l1.h) */
    ls_port l1_port;
    uint32_t l1_banks, l1_latency_cycles;
    index_ring reply_ring;
    ls_sector_message *replies;

    /* network */
    mem_map map;
    ls_link **to_memory; /* by channel */
    index_ring out_ring; /* requests that wait for the network: one leaves per cycle */
    ls_sector_message *out;
    uint16_t *out_channel; /* beside each of them */
    ls_event network_event;
    bool network_waiting; /* for the link of the oldest request */
    ls_cycle network_since;

    core_ahead *ahead; /* NULL: blocks come when there is room */
    cta_state ctas[CORE_CTAS_MAX];
    uint64_t taken_slots; /* warp slots of resident thread blocks */
    uint32_t resident_ctas;
    ls_cycle last_start; /* of a thread block */
    ls_cycle start_free; /* the first cycle in which a warp may start */
    struct {
        uint32_t number;     /* of the launch, from 1 */
        ls_cycle until;      /* its instructions are not there before */
    } cold[LS_CORE_KERNELS]; /* by core_launch.kernel */
    ls_link *to_dispatch;
    const ls_launch_table *launches;
    index_ring done_ring;
    ls_core_done done[CORE_CTAS_MAX * 2];
    ls_event done_event;
    bool done_waiting;
    uint32_t core_count; /* of the GPU: for the layout of local memory */
} core;

/* banks.c: what counters of work are counted for, on a core with blocks of several kernels. */
bool banks_init(core *c, uint32_t slots); /* before the run; false: the host has no memory left */
/* Between runs: see ls_core_ops.take_kernel. Counters of the core's time are 0: kernels share them. */
bool banks_take(core *c, uint32_t kernel, void *counters, size_t bytes);
void banks_count_for(core *c, uint32_t kernel); /* the dispatcher's slot, or BANKS_SHARED */
/* The same for a launch by its number; returns the slot that was counted for before. */
uint32_t banks_count_for_number(core *c, uint32_t number);
/* After a block of this launch came or went; there are banks. */
void banks_blocks_changed(core *c, const core_launch *of);
#define BANKS_SHARED UINT32_MAX /* for no kernel in particular */
static inline void count_for(core *c, uint32_t warp)
{
    if (LS_UNLIKELY(c->mixed))
        banks_count_for(c, c->ctas[c->warps[warp].cta].launch.kernel);
}
static inline void count_for_all(core *c)
{
    if (LS_UNLIKELY(c->mixed))
        banks_count_for(c, BANKS_SHARED);
}

/* front.c */
void front_fetch(core *c);
void front_issue(core *c);
void front_release(core *c, const flight *f);
/* Barriers, fences, atomics and asynchronous copies, as far as their warp has to do with them. f: NULL if the
 * instruction has none; pending: some register of the warp is still to be written. */
void front_effects(core *c, uint32_t warp, const ls_inst *inst, uint32_t mask, flight *f, bool pending);
static inline bool front_has_effects(const ls_inst *inst)
{
    const uint32_t flags =
        LS_INST_BARRIER | LS_INST_ARRIVE | LS_INST_FENCE | LS_INST_ASYNC_COMMIT | LS_INST_ASYNC_WAIT;
    const uint32_t operations = 1u << LS_MEM_ATOMIC | 1u << LS_MEM_REDUCTION | 1u << LS_MEM_ASYNC_COPY;
    return ((inst->flags & flags) | (operations >> inst->mem_op & 1)) != 0;
}
/* The warp fetches its next instruction in `cycle`, not before. */
void front_hold(core *c, uint32_t warp, ls_cycle cycle);
void front_fetch_held(core *c); /* those whose cycle has come */
static inline ls_cycle front_next_held(const core *c)
{
    return c->held_count == 0 ? LS_CYCLE_MAX : c->held[c->held_count - 1] >> 6;
}
/* The instruction after `inst` in time is not the one after it in the program. */
static inline bool front_jumped(const ls_inst *inst, const ls_inst *next)
{
    /* Instructions take 16 bytes; before Volta 8, and control words stand among them. */
    return next->pc - inst->pc - 1 >= 16;
}
bool front_unit_freed(const core *c);         /* for a warp that could not issue because of its unit */
void front_book(core *c, ls_cycle until);     /* counts the stalls of the cycles before `until` */
void front_book_from(core *c, ls_cycle from); /* nothing is counted before */

/* collect.c */
void collect_init(core *c);
static inline bool collect_due(const core *c, ls_cycle now) /* something is written back in this cycle */
{
    uint32_t slot = (uint32_t)now & (CORE_WHEEL - 1);
    return (c->wheel_used[slot >> 6] >> (slot & 63) & 1) != 0;
}
void collect_write_back(core *c);
void collect_execute(core *c);
void collect_load_store(core *c);
void collect_operands(core *c);
/* The cycle in which the first of the units that all wait for is free; now + 1 if something else may move
 * before. */
ls_cycle collect_unit_free(const core *c);
ls_cycle collect_next(const core *c); /* the next write-back; LS_CYCLE_MAX if there is none */
bool collect_write_banks(core *c, const flight *f);

/* ldst.c */
void ldst_cycle(core *c);
bool ldst_can_take(const core *c);
uint8_t ldst_space(const core *c, const flight *f); /* of its addresses, if they are generic */
void ldst_take(core *c, uint16_t flight_index);
uint32_t ldst_shared_cycles(core *c, const flight *f); /* counts an access and says how long it has the unit */
/* Sectors that do not pass L1 enter the queue to the network as fast as others enter L1's banks; Accel-Sim: one
 * per cycle. */
static inline uint32_t ldst_past_l1_per_cycle(const core *c)
{
    return c->spec->accelsim_rules ? 1 : c->l1_banks;
}
static inline uint32_t ldst_rounds_past_l1(const core *c, uint32_t sectors)
{
    uint32_t width = ldst_past_l1_per_cycle(c);
    return (sectors + width - 1) / width;
}
ls_cycle ldst_next(const core *c);         /* the next cycle with something to do; now + 1 if it is busy */
static inline bool ldst_due(const core *c) /* ldst_cycle() would do something */
{
    return c->memory_next <= c->now || !ring_empty(&c->reply_ring) ||
           (!ring_empty(&c->out_ring) && !c->network_waiting) || OPTION_ON(c->options.any);
}
void ldst_receive(void *self, ls_link *link, const void *payload, ls_cycle now);
void ldst_network_event(void *self, ls_cycle now);
void ldst_arrived(core *c, uint16_t flight_index); /* analytic.c: the last sector of a load is here */
bool ldst_request(core *c, uint64_t address,
                  uint32_t token); /* a read for a read-only cache; false: not now */
void ldst_put(core *c, const ls_sector_message *message,
              uint16_t channel); /* into the queue to the network: it has room */

/* coalesce.c */
bool coalesce_init(core *c); /* false: the host has no memory left */
void coalesce(core *c, const flight *f);
uint32_t shared_conflicts(const core *c, const flight *f);

/* cta.c */
void cta_receive(void *self, ls_link *link, const void *payload, ls_cycle now);
void cta_warp_maybe_done(core *c, uint32_t warp);
void cta_barrier(core *c, uint32_t warp, bool waits);
void cta_finish(core *c, uint32_t slot);
void cta_start(core *c, const core_launch *launch); /* there is room for it; else cta_refuse() */
void cta_refuse(core *c); /* ends the run: the dispatcher sent a block that does not fit */
void cta_done_event(void *self, ls_cycle now);

/* ahead.c; all but ahead_waits() for cores that are sent blocks ahead */
bool ahead_init(core *c, uint32_t delay_cycles);        /* false: the host has no memory left */
bool ahead_arrives(core *c, const core_launch *launch); /* false: it starts now */
void ahead_ended(core *c, uint32_t kernel);
void ahead_shares(core *c, uint32_t kernel, uint32_t cores);
bool ahead_waits(const core *c); /* some block is here and has not started */
ls_cycle ahead_next(const core
                        *c); /* when the next one that has a place starts; LS_CYCLE_MAX: there is none */
bool ahead_has_next(const core *c); /* one follows as soon as another ends */
bool ahead_expects(const core *c);  /* the last kernel that sent a block here has places left */
uint32_t ahead_delay(const core *c);

/* cycle.c, flow.c */
extern const core_alu core_alu_cycle, core_alu_flow, core_alu_flow_simulated;

/* core_port.c */
extern const ls_core_ops core_ops;
extern const core_profile_ops core_profile;

/* core.c */
void core_book_sleep(core *c, ls_cycle now);
bool core_sleep(core *c, ls_cycle next); /* until `next` or a message; true: stays awake */

/* shared by all */
static inline bool collect_take_banks(core *c, const flight *f)
{
    return c->alu->take_banks(c, f);
}
static inline uint32_t inst_width(const core *c, const ls_inst *inst)
{
    uint32_t width = c->spec->accelsim_rules ? inst->accel_width_bytes : inst->width_bytes;
    return width == 0 ? 4 : width;
}
static inline uint32_t warp_sub(const core *c, uint32_t warp)
{
    return c->warp_sub[warp];
}
static inline uint32_t warp_bit(const core *c, uint32_t warp)
{
    return c->warp_bit[warp];
}
static inline uint32_t lane_count(uint32_t mask) /* most warps are full; counting takes a call */
{
    return mask == UINT32_MAX ? 32 : (uint32_t)__builtin_popcount(mask);
}
static inline core_flops flops_kind(const ls_inst *inst) /* of an instruction that has some */
{
    return inst->class_ == LS_CLASS_fp32                                        ? FLOPS_SINGLE
           : inst->class_ == LS_CLASS_fp64                                      ? FLOPS_DOUBLE
           : inst->class_ == LS_CLASS_half || inst->class_ == LS_CLASS_half_mul ? FLOPS_HALF
                                                                                : FLOPS_TENSOR;
}
/* Latency and interval of an instruction that is no memory access. */
static inline tensor_cost core_cost(const core *c, const ls_inst *inst)
{
    tensor_cost cost;
    if (LS_UNLIKELY(ls_inst_is_tensor(inst)) && tensor_cost_of(&c->tensor, inst, &cost))
        return cost;
    const core_class *class_ = &c->spec->classes[inst->class_];
    return (tensor_cost){ .latency = (uint32_t)class_->latency_cycles,
                          .interval = (uint32_t)(class_->interval_cycles > 0 ? class_->interval_cycles : 1) };
}

static inline void count_flops(core *c, const ls_inst *inst, uint32_t mask)
{
    c->n.flops[flops_kind(inst)] += (uint64_t)ls_inst_flops(inst) * lane_count(mask);
}
uint16_t flight_take(core *c, uint32_t warp, uint32_t unit, const ls_inst *inst,
                     const ls_dyn *dyn);       /* there is a free one */
void flight_complete(core *c, uint16_t index); /* counts it and gives the entry back */
void flight_release_registers(core *c, uint16_t index);
void flight_free(core *c, uint16_t index);

#endif

/* core.h: the state of one core (SM), shared by the files of this folder and by nobody else. Its parts
 * have a state of their own and call each other directly: front_end.h, pipes.h, load_store.h, thread_blocks.h, flights.h.
 *
 *   front.c     what holds warps up, and effects of instructions that issue
 *   cycle.c     alu: cycle    one cycle of the pipeline whose stages are in front_issue.h and collect.h:
 *               front_issue.h   instruction buffers, scoreboard, warp schedulers, issue
 *               collect.h       operand collectors, register banks, execution units, write-back
 *   flow*.c     alu: issue    in place of these: from issue to issue, without cycles in between
 *   ldst.c      load/store unit: shared memory, L1, requests to the network, replies
 *   request.c   requests that other GPUs, a TLB or a timeline have to do with
 *   coalesce.c  addresses of a warp -> 32-byte sectors, bank conflicts of shared memory
 *   l1.c        the built-in L1, and its size beside shared memory
 *   l1_other.c  the L1 behind its table of functions
 *   cta.c       thread blocks: arrival, resources, barriers, completion
 *   flights.c   the table of instructions under way
 *   ahead.c     thread blocks that are sent before there is room for them
 *   core.c      the block: parameters, counters, one cycle, sleeping
 *   core_tap.c  events for timelines
 *   core_counts.c  counts per static instruction
 *   core_port.c the tables of functions that the rest of the machine calls
 *   cga.c   blocks of a cluster: messages to other cores, cluster barriers
 *   cga_access.c  accesses to shared memory of other blocks
 *   wgmma.c     matrix instructions of warp groups
 *   analytic.c  in place of most of ldst.c, where memory is a formula
 *   async.h     mbarriers and bulk copies, if the platform has them: async.c, mbarrier.c, tma.c
 *   options.h   parts that a platform may switch on: instruction and constant caches, TLBs
 *
 * One cycle runs in the order write-back, execute, operand collection, issue, fetch, as a pipeline whose
 * stages move from the back: what a stage produces is seen by the stage before it in the same cycle and by
 * the one after it in the next. A core without work sleeps; the cycles slept are counted with the stall
 * reasons they had. */
#ifndef MODEL_CORE_H
#define MODEL_CORE_H

#include "base/bitset.h"
#include "base/list.h"
#include "base/ring.h"
#include "isa/inst_counts.h"
#include "isa/registers.h"
#include "isa/stream.h"
#include "lockstep/block.h"
#include "lockstep/l1.h"
#include "lockstep/timeline.h"
#include "model/core/tensor.h"
#include "model/cache/sector_cache.h"
#include "model/core/analytic.h"
#include "model/core/async.h"
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
#define CORE_WHEEL 1024       /* cycles ahead that an execution unit can be reserved */
#define CORE_SECTORS_MAX 272  /* sectors of one memory instruction, at most: 32 lanes x 8 words + some */
#define ASYNC_GROUPS 8        /* of a warp, told apart; a power of two */
#define NO_FLIGHT INDEX_NONE_16
#define STORE_TOKEN 0x80000000u /* tokens of stores carry the warp, those of loads the flight */
#define STORE_OTHER 0x40000000u /* and that they do not go to global memory */
#define STORE_WARP 0x0000ffffu

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
    bool bypass_l1;         /* global accesses go past L1 (Accel-Sim: -gpgpu_gmem_skip_L1D) */
    bool perfect_memory;    /* requests are answered at the core's end of the network */
    uint64_t network_width; /* requests sent and answers taken per cycle */
    options_spec options;
    async_spec async;
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
    STALL_MBARRIER,   /* waits for the phase of an mbarrier, or its answer */
    STALL_MEMORY,     /* an operand comes from memory */
    STALL_DEPENDENCE, /* an operand comes from an execution unit */
    STALL_UNIT,       /* the unit's issue register is taken */
    STALL_COUNT
} stall_reason;

/* Where the farthest sector of a load was found; from LEVEL_L2 on as ls_sector_level. */
typedef enum core_level { LEVEL_L1, LEVEL_L2, LEVEL_DRAM, LEVEL_REMOTE, LEVEL_COUNT } core_level;

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
    ls_histogram latency[LEVEL_COUNT]; /* of loads and atomics, in cycles */

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
    uint64_t memory_instructions, memory_sectors, memory_bytes;
    uint64_t
        async_copy_misses; /* asynchronous copies with at least one L1 miss: Accel-Sim counts them twice */
    uint64_t register_reads, register_bank_waits;
    sector_cache_counters l1;
    options_counters options;
    analytic_counters analytic;
    async_counters async;
} core_counters;

/* The state of the parts of a core. Each part is changed by its own files; the others call its functions. */
#include "model/core/flights.h"
#include "model/core/front_end.h"
#include "model/core/load_store.h"
#include "model/core/pipes.h"
#include "model/core/thread_blocks.h"

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
    void (*resume)(struct core *c, uint32_t warp); /* a fence of the warp may have ended */
} core_alu;

typedef struct flow flow;
typedef struct core_banks core_banks;

typedef struct core {
    const core_spec *spec;
    ls_region *region;
    ls_domain *domain;
    const char *name;
    uint32_t id;
    uint32_t sub_count;
    const ls_tap *tap;

    /* time */
    ls_ticker ticker;
    ls_event timer;
    ls_cycle now, last_tick;
    ls_cycle time_counted_until;  /* alu: cycle: resident_cycles and the like, without this cycle */
    uint32_t resident_warps_then; /* from then on, and at the end of the last tick */
    bool dozing;                  /* sleeps until a unit is free, with instructions in front of it */

    /* models of its pipeline and of its memory */
    const core_alu *alu;
    flow *flow;         /* the state of alu: issue, or NULL */
    analytic *analytic; /* NULL: memory is simulated */
    core_options options;
    core_async *async; /* NULL: there are no mbarriers and bulk copies */

    core_counters n;
    core_banks *kernel_banks; /* n by kernel; NULL: kernels run one after the other */
    bool mixed;               /* blocks of several kernels are resident */
    /* mixed, or a timeline wants instructions, or they are counted: one test for all where each instruction passes */
    bool apart;
    bool counted; /* a resident block has, or had, inst_counts */

    /* parts */
    front_end front;
    pipes pipes;
    load_store ldst;
    thread_blocks blocks;
    flight_table flights;
    uint16_t tap_requests;              /* number of the last request that was told */
    uint8_t tap_states[CORE_WARPS_MAX]; /* ls_tap_state that was told last, by warp */
} core;

/* banks.c: what counters of work are counted for, on a core with blocks of several kernels. */
bool banks_init(core *c, uint32_t slots); /* before the run; false: the host has no memory left */
uint64_t banks_bytes(const void *core);   /* of core.kernel_banks, which is plain data */
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
        banks_count_for(c, c->blocks.at[c->front.warps[warp].cta].launch.kernel);
}
static inline void count_for_all(core *c)
{
    if (LS_UNLIKELY(c->mixed))
        banks_count_for(c, BANKS_SHARED);
}

/* core_tap.c: events for timelines; each is called only if the tap wants its kind, unless it says otherwise. */
void core_tap_group(core *c, uint32_t slot, ls_tap_phase phase);
/* A request for a sector begins: its number. 0: it is a flush, which is not told. */
uint16_t core_tap_request(core *c, const ls_sector_message *message);
void core_tap_step(const core *c, uint16_t number, ls_tap_phase phase, ls_tap_step step);
void core_tap_instruction(const core *c, uint16_t flight, ls_tap_phase phase, ls_tap_step step);
/* Only if core.apart; these ask the tap. */
void core_tap_execute(const core *c, uint16_t flight);
void core_count_and_tell(core *c, uint16_t flight, ls_tap_phase phase, ls_tap_step step);
/* As count_for() for the warp of a flight, and tells the event of the instruction. */
static inline void count_and_tell(core *c, uint16_t index, ls_tap_phase phase, ls_tap_step step)
{
    if (LS_UNLIKELY(c->apart))
        core_count_and_tell(c, index, phase, step);
}
/* After a block came, and after core.mixed changed. The listener is known before the first block. */
static inline void core_set_apart(core *c)
{
    c->apart = c->mixed || c->counted || ls_tap_wants(c->tap, LS_TAP_INSTRUCTION);
}

/* core_counts.c: counts of static instructions (isa/inst_counts.h). Only if core.apart; these ask whether the warp's
 * launch is counted. */
void core_counts_begin(core *c, const core_launch *launch); /* a block of the launch comes */
void core_counts_issue(const core *c, const flight *f);
void core_counts_memory(core *c, const flight *f); /* after its sectors or conflicts are known */
void core_counts_hit(const core *c, const flight *f);
/* The sub-core does not issue: chooses the instruction to which the coming stalls belong. */
void core_counts_stalled(const core *c, front_sub *s, uint32_t sub, uint32_t ready);
void core_tap_warp(core *c, uint32_t warp, ls_tap_phase phase, ls_cycle at);

/* front.c and front_issue.h */
/* The sub-cores whose schedulers may issue where they could not before, a bit each. */
static inline uint32_t front_look(const core *c)
{
    return c->front.changed | (c->front.ready & c->pipes.freed);
}
void front_resume(core *c, uint32_t warp); /* something that the warp waited for may be there */
/* The warp issues nothing until front_let_go(). barrier: it counts as a stall at a barrier, else as one for something
 * asynchronous. A warp that waits for one of these waits for nothing else. */
typedef enum front_wait {
    FRONT_WAIT_NONE,
    FRONT_WAIT_CLUSTER = 0x80, /* a cluster barrier; above the names of barriers */
    FRONT_WAIT_GROUPS,         /* matrix instructions of its warp group */
    FRONT_WAIT_REGISTERS,      /* other warps give registers back */
    FRONT_WAIT_KERNEL,         /* the kernel before this one */
} front_wait;
void front_stop(core *c, uint32_t warp, front_wait why);
void front_let_go(core *c, uint32_t warp, ls_cycle at); /* it goes on in this cycle, or in a later one */
static inline front_wait front_waits_for(const core *c, uint32_t warp)
{
    uint8_t name = c->front.warps[warp].barrier_name;
    return name >= FRONT_WAIT_CLUSTER ? (front_wait)name : FRONT_WAIT_NONE;
}
/* Barriers, fences, atomics and asynchronous copies, as far as their warp has to do with them. f: NULL if the
 * instruction has none; pending: some register of the warp is still to be written. */
void front_effects(core *c, uint32_t warp, const ls_inst *inst, uint32_t mask, flight *f, bool pending);
/* Of the instructions of front_warp_op(), too, for alu: cycle. */
static inline bool front_has_effects(const ls_inst *inst, bool warp_ops)
{
    const uint32_t flags = (warp_ops ? (uint32_t)LS_INST_ASYNC_OP | (uint32_t)LS_INST_WARP_GROUP : 0u) |
                           LS_INST_BARRIER | LS_INST_ARRIVE | LS_INST_FENCE | LS_INST_ASYNC_COMMIT |
                           LS_INST_ASYNC_WAIT | LS_INST_MBARRIER | LS_INST_BULK;
    const uint32_t operations = 1u << LS_MEM_ATOMIC | 1u << LS_MEM_REDUCTION | 1u << LS_MEM_ASYNC_COPY;
    return ((inst->flags & flags) | (operations >> inst->mem_op & 1)) != 0;
}
/* The warp fetches its next instruction in `cycle`, not before. */
void front_hold(core *c, uint32_t warp, ls_cycle cycle);
static inline ls_cycle front_next_held(const core *c)
{
    return c->front.held_count == 0 ? LS_CYCLE_MAX : c->front.held[c->front.held_count - 1] >> 6;
}
/* The instruction after `inst` in time is not the one after it in the program. */
static inline bool front_jumped(const ls_inst *inst, const ls_inst *next)
{
    /* Instructions take 16 bytes; before Volta 8, and control words stand among them. */
    return next->pc - inst->pc - 1 >= 16;
}
void front_count_stalls(core *c, ls_cycle until);     /* counts the stalls of the cycles before `until` */
void front_count_stalls_from(core *c, ls_cycle from); /* nothing is counted before */

/* collect.h */
static inline bool collect_due(const core *c, ls_cycle now) /* something is written back in this cycle */
{
    return c->pipes.wheel[now & (CORE_WHEEL - 1)].count != 0;
}
/* Units of the sub-core whose issue registers are taken, a bit each. */
static inline uint32_t pipes_taken(const core *c, uint32_t sub)
{
    return c->pipes.at[sub]->issue_mask;
}
static inline uint64_t pipes_bank(const core *c, uint32_t warp, uint32_t reg) /* as a set */
{
    return c->pipes.banks[reg + warp];
}
/* The banks that an instruction reads its operands from. */
static inline uint64_t pipes_needs(const core *c, uint32_t warp, const ls_inst *inst)
{
    uint64_t needs = 0;
    for (uint32_t i = 0; i < inst->src_count; i++)
        if (!inst_src_again(inst, i))
            needs += pipes_bank(c, warp, inst->src[i]);
    return needs;
}
/* An instruction issues: it enters the issue register of its unit, which is free. */
static inline void pipes_issue(core *c, pipe_sub *p, uint32_t warp, const ls_inst *inst, uint16_t index)
{
    pipe_inst *k = &p->insts[p->count++];
    k->needs = pipes_needs(c, warp, inst);
    k->way = c->pipes.ways[inst->class_];
    k->flight = index;
    p->issue_mask |= k->way.unit_bit;
    c->pipes.inside++;
    if (p->collected != c->pipes.collectors)
        c->pipes.moving |= p->bit;
}
/* From the start in a unit to the write-back: the result leaves the unit latency + 1 cycles later and is written after one
 * cycle more, or forwarded before. */
static inline uint64_t pipes_result_cycles(const core *c, uint64_t latency)
{
    const uint64_t forward = c->spec->forward_cycles;
    return forward < latency + 2 ? latency + 2 - forward : 1;
}
/* Some instruction is in front of its unit. */
static inline bool pipes_wait(const core *c)
{
    uint32_t units = 0;
    for (uint32_t sub = 0; sub < CORE_SUBS_MAX; sub++)
        units |= c->pipes.subs[sub].execute_mask;
    return units != 0;
}
/* Units of the sub-core may take their instructions from this cycle on. */
static inline void pipes_execute_from(core *c, uint32_t sub, ls_cycle at)
{
    if (at < c->pipes.execute_at[sub])
        c->pipes.execute_at[sub] = at;
    if (at < c->pipes.execute_next)
        c->pipes.execute_next = at;
}

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
    return c->spec->accelsim_rules ? 1 : c->ldst.l1_banks;
}
static inline uint32_t ldst_rounds_past_l1(const core *c, uint32_t sectors)
{
    uint32_t width = ldst_past_l1_per_cycle(c);
    return (sectors + width - 1) / width;
}
/* An answer can be taken, or a request can enter the network. */
static inline bool ldst_has_messages(const core *c)
{
    return !ring_empty(&c->ldst.reply_ring) || (!ring_empty(&c->ldst.out_ring) && !c->ldst.network_waiting);
}
ls_cycle ldst_next(const core *c);         /* the next cycle with something to do; now + 1 if it is busy */
static inline bool ldst_due(const core *c) /* ldst_cycle() would do something */
{
    return c->ldst.memory_next <= c->now || OPTION_ON(c->options.requests);
}
/* The port of shared memory, for accesses of other blocks of a cluster: takes it for so many cycles, not before `at`;
 * returns the first of them. Accesses of the unit wait behind. A core without bulk copies has no queue at the port. */
static inline ls_cycle ldst_port_take(core *c, ls_cycle at, uint32_t cycles)
{
    if (c->async == NULL)
        return at;
    tma *t = &c->async->tma;
    uint64_t from = at << TMA_ONE_SHIFT;
    from = t->port_free > from ? t->port_free : from;
    t->port_free = from + ((uint64_t)cycles << TMA_ONE_SHIFT);
    t->port_taken += (uint64_t)cycles << TMA_ONE_SHIFT;
    return (from + (UINT64_C(1) << TMA_ONE_SHIFT) - 1) >> TMA_ONE_SHIFT;
}
/* remote.c: whether another GPU has the address, and which one; owner may be NULL. Only with ldst.owners. */
bool remote_owner(const core *c, uint64_t address, uint16_t *owner);
/* Marks a request for another GPU's memory; returns its channel, or the number of channels for the link to other GPUs. */
uint32_t remote_request(const core *c, ls_sector_message *message, uint32_t channel);
void ldst_receive(void *self, ls_link *link, const void *payload, ls_cycle now);
void ldst_network_event(void *self, ls_cycle now);
/* The end of an atomic that front_effects() counted. One by a generic address may end in shared memory, where no sector
 * answers. */
void ldst_atomic_done(core *c, const flight *f);
void ldst_arrived(core *c, uint16_t flight_index); /* analytic.c: the last sector of a load is here */
bool ldst_request(core *c, uint64_t address,
                  uint32_t token); /* a read for a read-only cache; false: not now */
/* A request of a bulk copy into the queue to the network, which has room. sectors: of the line at `address`, a bit each;
 * 0: one sector. */
void ldst_bulk_request(core *c, uint64_t address, uint32_t sectors, uint32_t byte_mask, uint32_t token,
                       ls_sector_kind kind);
/* Into the queue to the network, which has room. */
static inline void ldst_queue(core *c, ls_sector_message message, uint32_t channel)
{
    uint32_t at = ring_push(&c->ldst.out_ring);
    c->ldst.out[at] = message;
    c->ldst.out_channel[at] = (uint16_t)channel;
    if (!c->ldst.network_waiting)
        c->ldst.memory_next = 0;
}

/* With an L2 of two halves: the channel of the core's own half, which asks the home for the sector. */
static inline uint32_t ldst_near_channel(const core *c, uint32_t home)
{
    const uint32_t half = c->ldst.half_channels;
    if (half == 0 || (home >= half) == (c->ldst.half != 0))
        return home;
    return home < half ? home + half : home - half;
}

/* request.c */
enum {
    REQUEST_VIRTUAL = 1,  /* the address passes the TLB, if there is one */
    REQUEST_SYSTEM = 2,   /* system scope */
    REQUEST_SEMAPHORE = 4 /* operation on a semaphore */
};
void ldst_put(core *c, const ls_sector_message *message, uint16_t channel); /* as ldst_queue(), and tells it */
/* The same after all that other GPUs and a TLB have to do with the request, which may hold it up. how: REQUEST_... */
void request_apart(core *c, ls_sector_message message, uint32_t channel, uint32_t how);
/* Perfect memory: the oldest request is its own answer. False: not in this cycle. */
bool request_answer(core *c);

/* coalesce.c */
bool coalesce_init(core *c); /* false: the host has no memory left */
/* As shared_conflicts(), for some of the lanes; addresses: of the active ones. */
uint32_t shared_conflicts_of(const core *c, const ls_inst *inst, const uint64_t addresses[32], uint32_t mask);
void coalesce(core *c, const flight *f);
uint32_t shared_conflicts(const core *c, const flight *f);

/* cta.c */
void cta_init(core *c);
void cta_receive(void *self, ls_link *link, const void *payload, ls_cycle now);
void cta_warp_maybe_done(core *c, uint32_t warp);
/* A warp executes a BAR. */
void cta_barrier(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn);
/* Its parts, for flow.c. */
uint32_t cta_barrier_name(const core *c, const cta_state *cta, const ls_inst *inst, const ls_dyn *dyn);
void cta_arrive_named(core *c, cta_state *cta, uint32_t warp, uint32_t id, uint32_t need, bool waits);
void cta_release_named(core *c, cta_state *cta);
void cta_leave_at_end(core *c, cta_state *cta, uint32_t warp);
void cta_finish(core *c, uint32_t slot);
void cta_signal(core *c, uint32_t slot);
void cta_start(core *c, const core_launch *launch); /* there is room for it; else cta_refuse() */
void cta_refuse(core *c); /* ends the run: the dispatcher sent a block that does not fit */

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

/* core_state.c: the table of the block's state. */
struct ls_state_row;
#define CORE_STATE_ROWS 17
extern const struct ls_state_row core_state_rows[CORE_STATE_ROWS];

/* core.c */
void core_count_sleep(core *c, ls_cycle now);
void core_count_time(core *c, ls_cycle until); /* the cycles before `until` */
bool core_sleep(core *c, ls_cycle next);       /* until `next` or a message; true: stays awake */

/* shared by all */
static inline bool collect_take_banks(core *c, const flight *f)
{
    return c->alu->take_banks(c, f);
}
/* Nothing waits for these; Accel-Sim treats them like other registers. */
static inline bool constant_register(const core *c, uint32_t reg)
{
    return reg_is_constant(reg) && !c->spec->accelsim_rules;
}
static inline uint32_t inst_width(const core *c, const ls_inst *inst)
{
    uint32_t width = c->spec->accelsim_rules ? inst->accel_width_bytes : inst->width_bytes;
    return width == 0 ? 4 : width;
}
static inline uint32_t warp_sub(const core *c, uint32_t warp)
{
    return c->front.warp_sub[warp];
}
static inline uint32_t warp_bit(const core *c, uint32_t warp)
{
    return c->front.warp_bit[warp];
}
/* Most warps are full, or have one lane that was elected; counting takes a call. */
static inline uint32_t lane_count(uint32_t mask)
{
    if (mask == UINT32_MAX)
        return 32;
    return (mask & (mask - 1)) == 0 ? mask != 0 : (uint32_t)__builtin_popcount(mask);
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
    if (LS_UNLIKELY(ls_inst_is_tensor(inst)) && tensor_cost_of(&c->pipes.tensor, inst, &cost))
        return cost;
    const pipe_class *class_ = &c->pipes.classes[inst->class_];
    return (tensor_cost){ .latency = class_->latency, .interval = class_->interval };
}

static inline void count_flops(core *c, const ls_inst *inst, uint32_t mask)
{
    c->n.flops[flops_kind(inst)] += (uint64_t)ls_inst_flops(inst) * lane_count(mask);
}
/* A sector of a load came from there. */
static inline void flight_came_from(core *c, uint32_t index, ls_sector_level level)
{
    flight *f = &c->flights.at[index];
    uint8_t from = (uint8_t)(LEVEL_L2 + level);
    f->level = f->level > from ? f->level : from;
}
/* flights.c */
bool flights_init(core *c); /* false: the host has no memory left */
void flight_release_registers(core *c, uint16_t index);
void flight_free(core *c, uint16_t index);
static inline uint16_t flight_take(core *c, uint32_t warp, uint32_t sub, const ls_inst *inst,
                                   const ls_dyn *dyn) /* there is a free one */
{
    uint16_t index = (uint16_t)index_pool_take(&c->flights.free, INDEX_LINKS(c->flights.at, next));
    c->flights.at[index] = (flight){ .inst = inst,
                                     .dyn = dyn,
                                     .mask = dyn->mask,
                                     .uid = c->flights.issued++,
                                     .next = NO_FLIGHT,
                                     .warp = (uint8_t)warp,
                                     .sub = (uint8_t)sub,
                                     .space = inst->space };
    c->front.warp[warp]->in_flight++;
    return index;
}
static inline void flight_give_back(core *c, uint16_t index)
{
    index_pool_give(&c->flights.free, INDEX_LINKS(c->flights.at, next), index);
}
static inline void flight_complete(core *c, uint16_t index) /* counts it and gives the entry back */
{
    const flight *f = &c->flights.at[index];
    const uint32_t warp = f->warp;
    warp_state *w = c->front.warp[warp];
    count_and_tell(c, index, LS_TAP_END, LS_STEP_WRITE);
    c->n.warp_instructions++;
    c->n.thread_instructions += lane_count(f->mask);
    w->in_flight--;
    flight_give_back(c, index);
    ls_domain_progress(c->domain);
    if (w->next == w->end)
        cta_warp_maybe_done(c, warp);
}
static inline bool flights_full(const core *c)
{
    return index_pool_empty(&c->flights.free, CORE_FLIGHTS);
}

#endif

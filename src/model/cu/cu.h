/* cu.h: the state of a compute unit (GCN's CU, or one dual compute unit of RDNA), and the file for each part.
 * One block; all of it lives in one domain and reaches everything outside through its wires.
 *
 *   cu.c       the block: keys, life, wiring, the cycle
 *   group.c    work-groups: start, barriers, end, faults, reports
 *   grid.c     the barrier over the grid of a cooperative launch
 *   fetch.c    instruction buffers and the fetch arbiter
 *   issue.c    the choice of waves, execution, the time of the next instruction
 *   ahead.c    instructions of a wave that is alone on its SIMD, issued ahead of time
 *   access.c   memory instructions in flight: order, registers, counters
 *   vector.c   vector memory: lines of an access, requests, replies
 *   scalar.c   scalar memory
 *   lds.c      LDS with its banks, export
 *   cu_tap.c   events for timelines
 *   cu_counts.c  counts per static instruction
 *   source.c   where a wave's next instruction and addresses come from
 *   observe.c  events for an observer of memory accesses
 *   cu_state.c the saved state
 *   cu_debug.c stops for a debugger, and views of waves for it */
#ifndef MODEL_CU_CU_H
#define MODEL_CU_CU_H

#include "base/list.h"
#include "isa/amd/exec/start.h"
#include "isa/inst_counts.h"
#include "lockstep/timeline.h"
#include "model/core/scheduler.h"
#include "model/cu/cu_api.h"
#include "model/cu/lds_shape.h"

/* --- keys ----------------------------------------------------------------------------------------------- */

typedef struct cu_spec {
#define CU_KEY(field, unit, gcn, rdna, cdna, min, max, help) uint64_t field;
#include "model/cu/cu_keys.def"
#undef CU_KEY
} cu_spec;

/* --- counters ------------------------------------------------------------------------------------------- */

/* Why a wave does not issue. The first ones are kept per wave, the others follow from masks. */
typedef enum cu_why {
    CU_WHY_VM, /* numbered as the counters */
    CU_WHY_LGKM,
    CU_WHY_EXP,
    CU_WHY_VS,
    CU_WHY_FETCH,
    CU_WHY_BARRIER,
    CU_WHY_SLEEP,
    CU_WHY_KEPT,                 /* how many are kept per wave */
    CU_WHY_DEPEND = CU_WHY_KEPT, /* its last instruction is not far enough, or another SIMD's turn */
    CU_WHY_UNIT,                 /* + cu_unit: the unit is busy */
    CU_WHY_COUNT = CU_WHY_UNIT + CU_UNIT_COUNT
} cu_why;

/* Where the farthest line of a vector access was found; L1: any cache above L2. */
typedef enum cu_level { CU_LEVEL_L1, CU_LEVEL_L2, CU_LEVEL_DRAM, CU_LEVEL_REMOTE, CU_LEVEL_COUNT } cu_level;

typedef struct cu_counters {
#define COUNT(field, unit, help) uint64_t field;
#include "model/cu/cu_metrics.def"
#undef COUNT
    uint64_t stall[CU_WHY_COUNT];
    ls_histogram
        latency[CU_LEVEL_COUNT]; /* of vector loads and atomics, in cycles; last: not kept by kernel */
} cu_counters;

/* Counts of the work-groups of one kernel; the rest of its counters are 0. */
typedef struct cu_share {
    uint32_t number; /* of the launch, from 1; 0: free */
    cu_counters n;
} cu_share;
#define CU_SHARES_MAX 16u
#define CU_SHARE_BYTES offsetof(cu_counters, latency)

/* --- memory instructions in flight ---------------------------------------------------------------------- */

#define CU_HEAD_BYTES offsetof(amd_access, address)

/* One message: a line and the lanes that have bytes in it. */
typedef struct cu_line {
    uint64_t address, lanes;
    uint32_t words; /* atomics: dwords of the line that are taken */
    /* Atomics: the next message of the same line, or INDEX_NONE_16. A list of base/list.h would need a head and an end for
     * each line: here the first message is the head, and the walk that looks for room ends at the last one. */
    uint16_t next;
    uint8_t half; /* compare-and-swap */
    bool dense;   /* consecutive lanes, contiguous in the line as in the data */
} cu_line;

#define CU_SMALL_LINES 128u /* 64 lanes, each across two lines */
#define CU_LARGE_LINES (64u * AMD_PIECES_MAX * 2)
#define CU_LARGE_ACCESSES 8u

/* Small ones have one piece of up to 16 bytes per lane. data: `stride` dwords per lane; address: 64 per
 * piece. */
typedef struct cu_access {
    uint32_t next;    /* next in its list: free ones, a pipe's queue, or accesses that end in the same cycle */
    uint32_t after;   /* the wave's next access that returns in order with this one */
    uint32_t younger; /* the wave's next access that will write registers */
    uint16_t wave;
    uint8_t pipe;
    bool large, complete, linear, invalidate;
    bool straddle; /* some lane has bytes in two lines */
    bool columns;  /* data: 64 lanes of the first dword, then of the next */
    bool quick;    /* of LDS: data in columns for the lanes of exec; it has no head */
    uint8_t stride;
    uint16_t line_count, sent, back;
    uint16_t from; /* LS_LINE_FROM_*: all of its replies so far */
    const cu_inst *inst;
    ls_cycle issued, start; /* start: of the first message, and while ending: the end */
    uint64_t exec;
    uint32_t m0;
    _Alignas(8) uint8_t head[CU_HEAD_BYTES]; /* of the amd_access: lanes, pieces, ... */
    uint64_t *address;
    uint32_t *data;
    cu_line *lines;
} cu_access;

/* Memory of accesses: each gets its part when it is used for the first time. */
typedef struct cu_pool {
    uint64_t *addresses;
    uint32_t *data;
    cu_line *lines, *large_lines;
    amd_access *large;
} cu_pool;

/* The way to one vector cache: instructions in order, their lines in sequence. */
typedef struct cu_pipe {
    index_list queue; /* of accesses */
    uint16_t count;
    bool refused;  /* the cache will call */
    bool full;     /* an instruction could not be taken: looked at again when something leaves */
    ls_cycle free; /* when the address unit takes the next instruction */
} cu_pipe;

#define CU_SCALARS 32u
typedef struct cu_scalar {
    uint32_t next; /* of the free ones, or of those that are not sent yet */
    uint16_t wave;
    uint8_t line_count, sent, back;
    const cu_inst *inst;
    ls_cycle issued;
    _Alignas(8) uint8_t head[CU_HEAD_BYTES];
    uint64_t address;
    uint32_t data[AMD_DATA_DWORDS];
} cu_scalar;

/* --- waves ---------------------------------------------------------------------------------------------- */

#define CU_PENDING 16u
typedef struct cu_pending {
    cu_range range;
    ls_cycle ready;
    uint64_t bits; /* of the registers, as in cu_inst.touches; UINT64_MAX: all there are */
} cu_pending;

typedef enum cu_state { CU_FREE, CU_RUNNING, CU_ENDED } cu_state;

typedef struct cu_wave {
    const cu_inst *head; /* the next instruction */
    const cu_code *code;
    struct cu_group *group;
    ls_cycle ready; /* when it can be issued as far as its own past is concerned */
    uint32_t age;
    uint8_t state; /* cu_state */
    uint8_t simd, slot, pipe;
    uint16_t number; /* in cu.waves */
    uint16_t why;    /* bit i: cu_why i < CU_WHY_KEPT */
    uint8_t counter[CU_COUNTERS];
    uint16_t in_flight;    /* accesses that are not answered */
    uint16_t scalars;      /* in flight */
    index_list ordered[2]; /* accesses that return in order: of CU_VM, of CU_VS */
    index_list writers;    /* accesses of vector memory and LDS that will write registers, by age */
    uint8_t ahead;         /* so many of its next instructions were executed already */
    /* Instruction buffer: it holds [pc, fetched); the next request is for `fetch`. */
    uint64_t fetch, fetched;
    ls_cycle fetched_at;
    uint16_t epoch; /* counts jumps: an answer to a fetch from before is not wanted */
    bool fetching;
    uint8_t prefetch; /* lines ahead, s_inst_prefetch */
    uint8_t clause;   /* instructions left of one, s_clause */
    uint8_t pending_count;
    uint64_t issued, most;          /* instructions: so far, and that it may (0: a debugger is asked) */
    uint64_t asked;                 /* the debugger was asked about instruction asked - 1 */
    uint64_t scalar_touches;        /* registers that its scalar accesses in flight write, and some of ended
                                     * ones */
    amd_tape *tape;                 /* the wave replays this recording; NULL: it executes */
    amd_tape_writer *record;        /* the wave is recorded here; NULL: it is not */
    bool observed;                  /* its kernel has an observer */
    cu_pending pending[CU_PENDING]; /* registers that are being written: RDNA */
    amd_wave arch;
} cu_wave;

typedef struct cu_group {
    const ls_cu_kernel *kernel;
    amd_group arch;
    uint16_t slot, wave_count, running, at_barrier;
    uint32_t in_flight;
    uint32_t others;     /* that its wave waits for at the barrier of the grid */
    uint16_t arrivals;   /* of waves at that barrier, which the command processor was not told yet */
    bool resident, dead; /* dead: executes nothing more */
    uint16_t wave[LS_CU_WAVES_PER_GROUP_MAX];
    amd_tape *tapes;          /* of its waves, or NULL */
    amd_tape_writer *records; /* the same */
    ls_cu_done done;
    inst_counts *counts; /* NULL: instructions are not counted */
} cu_group;

/* --- SIMDs ---------------------------------------------------------------------------------------------- */

#define CU_RING 64u

/* Instructions issued ahead of time, and the state before them (ahead.c). */
typedef struct cu_ahead {
    ls_cycle end;         /* after the last of them; in the past: there is none */
    ls_cycle begin;       /* of the first of them */
    uint64_t cycles;      /* in which they are issued: bit cycle % CU_RING */
    const cu_inst *first; /* they follow each other */
    ls_cycle visit;       /* where the wave stands in the ring */
    ls_cycle valu_free;
    uint8_t slot, last[CU_UNIT_COUNT];
} cu_ahead;

typedef struct cu_simd {
    cu_wave *waves;                /* its slots */
    uint32_t units;                /* bit i: ready[i] is not 0 */
    uint32_t ready[CU_UNIT_COUNT]; /* waves whose next instruction can go as soon as the unit can */
    uint32_t resident;
    uint32_t want;    /* waves that have room for instructions */
    uint8_t half;     /* its vector memory path and LDS unit */
    bool scalar_full; /* a scalar access could not be taken: looked at again when one ends */
    uint64_t ring_used;
    uint32_t ring[CU_RING]; /* waves that are ready at that cycle */
    ls_cycle valu_free, trans_free, matrix_free;
    ls_cycle beside_free;        /* the later of the units beside the VALU */
    uint8_t last[CU_UNIT_COUNT]; /* the slot that issued last */
    uint32_t age[32];            /* of each slot's wave */
    uint32_t priority[4];        /* waves of each, s_setprio */
    uint8_t clause_slot;         /* the wave in a clause; 255: none */
    uint8_t clause_unit;
    cu_ahead ahead;
} cu_simd;

/* The cycles that the banks of LDS needed for an instruction the last time, and the layout of its lanes. The
 * layout is shape `shape` of the compute unit, if that was not reused since. */
#define CU_LDS_MEMOS 64u
#define CU_LDS_SHAPES 8u
typedef struct cu_lds_memo {
    uint64_t
        serial; /* of the instruction; 0: none. A pointer would not do: programs come and go at the same address */
    uint64_t lanes;
    uint32_t base; /* the register of lane 0 */
    uint32_t made; /* cu_lds.made[shape] then */
    uint16_t cycles, least;
    uint8_t shape;
    uint8_t misses; /* in a row */
    amd_lds_form form;
} cu_lds_memo;

typedef struct cu_lds {
    const lds_shape_ops *ops;
    uint32_t made[CU_LDS_SHAPES], count; /* which shape of all that were learned; how many were */
    cu_lds_memo memo[CU_LDS_MEMOS];
    lds_shape shape[CU_LDS_SHAPES];
} cu_lds;

/* --- the compute unit ----------------------------------------------------------------------------------- */

#define CU_TIMED 128u
#define CU_SENDS_SCALAR 2
typedef struct cu {
    const cu_spec *spec;
    ls_block *block;
    ls_region *region;
    ls_domain *domain;
    const ls_tap *tap;
    ls_ticker ticker;
    ls_event alarm;   /* wakes the ticker */
    bool awake;       /* the ticker runs in the next cycle that comes, or runs now */
    bool ticked_once; /* `ticked` says something */
    uint8_t serving;  /* the SIMD that is served; 0: none */
    ls_cycle ticked;  /* the last cycle that was run */
    cu_wires wires;
    ls_port scheduler;
    scheduler_kind scheduler_kind;
    uint32_t line_bytes, line_shift;
    uint32_t wave_total, turn, simd_count, pipe_count;
    uint32_t register_rows; /* of a wave: registers that its instruction set can name, and some more */

    /* Of each SIMD: the next cycle with work, a cycle in which it is served; and the reasons why its waves
     * wait, of cu_why from CU_WHY_DEPEND on. In adjacent arrays, because every cycle reads all of them. */
    _Alignas(64) ls_cycle next[LS_CU_SIMDS_MAX];
    uint32_t held[LS_CU_SIMDS_MAX];
    uint64_t active; /* cycles from `counted_to` on in which something is issued: bit cycle % 64 */
    ls_cycle counted_to;
    bool goes_ahead;      /* waves that are alone issue ahead of time; tests look whether that can be seen */
    cu_wave *issuing;     /* its next instruction's time goes to `ready` only: it is not put into the ring */
    bool issuing_goes_on; /* ... and has one */

    /* By rate and wave size (32, 64): how long the unit is busy, and when the result can be read. */
    uint16_t busy[CU_RATE_COUNT][2], latency[CU_RATE_COUNT][2];
    bool tracks; /* registers, because results take longer than the next instruction */

    cu_wave *waves; /* SIMD by SIMD */
    uint32_t *vgprs;
    cu_simd simds[LS_CU_SIMDS_MAX];
    cu_group *groups;
    uint8_t *lds_bytes;
    uint32_t age;

    cu_access *accesses;
    cu_pool pool;
    index_pool small, large; /* of accesses: large ones follow the vector_in_flight small ones */
    cu_pipe pipes[2];
    ls_cycle lds_free[2];
    ls_cycle lds_end[2];        /* of the last access: they end in order */
    index_list timed[CU_TIMED]; /* accesses that end at that cycle */
    uint64_t timed_used[CU_TIMED / 64];
    ls_cycle timed_next; /* the first of these cycles, or UINT64_MAX */

    cu_scalar scalars[CU_SCALARS];
    index_pool scalar_pool;
    index_list scalar_queue; /* that are not sent yet */
    uint16_t scalar_count;
    bool scalar_refused, code_refused;
    uint32_t sending; /* bit i: pipe i has requests and no refusal; bit CU_SENDS_SCALAR: scalar memory too */

    /* Waiting waves by reason: how many of each, and a bit for each number that is not 0. */
    uint16_t waiting[CU_WHY_KEPT];
    uint32_t waiting_mask;
    uint32_t want_mask; /* SIMDs with waves that have room for instructions */
    uint32_t resident, resident_groups;

    /* Reports that wait for the link, by group slot. */
    ls_event report;
    uint16_t *reports;
    uint16_t report_first, report_count;
    uint16_t arrivals; /* of all work-groups */

    cu_counters counters;
    cu_share shares[CU_SHARES_MAX];
    void *observed; /* log of the observer; NULL: none asked for it yet */
    ls_line_message message;
    amd_access scratch;
    cu_lds lds;
    bool counted; /* a resident work-group has, or had, inst_counts */
    uint16_t
        counts_turn[CU_WHY_COUNT]; /* by reason: the wave after the last one that a stall was charged to */
    uint32_t tap_requests[4];      /* by path: requests that were told */
    bool tap_waits[4];             /* by path: one was told and refused */
    ls_tick_fn tap_tick;           /* the ticker's own function, if states are told after it */
    uint8_t tap_states[LS_CU_SIMDS_MAX * 32]; /* ls_tap_state that was told last, by wave */
} cu;

/* --- cu.c --- */

/* Something can move at `at`: the cycle will be run. */
void cu_wake(cu *c, ls_cycle at, ls_cycle now);
/* A path has room again: SIMDs with waves for it look. */
void cu_path_free(cu *c, unsigned path, ls_cycle now);
/* The same of scalar memory. */
void cu_scalar_free(cu *c, ls_cycle now);
/* Counts the cycles up to `now`. */
void cu_count_cycles(cu *c, ls_cycle now);

static inline void cu_set_why(cu *c, cu_wave *w, uint32_t why)
{
    for (uint32_t gone = w->why & ~why; gone != 0; gone &= gone - 1) {
        unsigned i = (unsigned)__builtin_ctz(gone);
        if (--c->waiting[i] == 0)
            c->waiting_mask &= ~(1u << i);
    }
    for (uint32_t come = why & ~(uint32_t)w->why; come != 0; come &= come - 1) {
        unsigned i = (unsigned)__builtin_ctz(come);
        c->waiting[i]++;
        c->waiting_mask |= 1u << i;
    }
    w->why = (uint16_t)why;
}

/* --- cu_counts.c: counts of static instructions; called for work-groups that are counted only --- */

void cu_counts_begin(cu *c, const cu_group *g); /* the work-group comes */
void cu_counts_issue(const cu *c, const cu_wave *w, const cu_inst *inst);
void cu_counts_lines(const cu *c, const cu_wave *w, const cu_inst *inst, uint64_t lines, uint64_t bytes);
void cu_counts_conflicts(const cu *c, const cu_wave *w, const cu_inst *inst, uint64_t cycles);
/* Cycles without issue in which some wave had each of these reasons, a bit for each of cu_why; for any unit. */
void cu_counts_stall(cu *c, uint32_t why, uint64_t cycles);

/* --- cu_tap.c: events for timelines; each is called only if the tap wants its kind --- */

void cu_tap_group(const cu *c, const cu_group *g, ls_tap_phase phase);
typedef enum cu_path {
    CU_PATH_VECTOR,
    CU_PATH_SCALAR = 2,
    CU_PATH_CODE,
    CU_PATHS
} cu_path; /* two for vectors */
/* ls_line_request(), told with its number; its reply ends it. */
bool cu_tap_request(cu *c, const ls_line_port *port, ls_line_message *m, cu_path path, ls_cycle now);
void cu_tap_reply(const cu *c, const ls_line_message *m);
void cu_tap_wave(cu *c, const cu_wave *w, ls_tap_phase phase);

static inline bool cu_request(cu *c, const ls_line_port *port, ls_line_message *m, cu_path path, ls_cycle now)
{
    if (ls_tap_wants(c->tap, LS_TAP_REQUEST))
        return cu_tap_request(c, port, m, path, now);
    return ls_line_request(port, m, now);
}

/* --- issue.c --- */

/* The wave's next instruction is in the buffer: it can be issued from `at` on. */
void cu_issue_at(cu *c, cu_wave *w, ls_cycle at, ls_cycle now);
/* The wave, ready at w->ready, goes into the ring. */
void cu_issue_enter(cu *c, cu_wave *w, ls_cycle now);
/* Takes the instruction at the wave's pc as its next one, ready at `at` at the soonest. */
void cu_issue_head(cu *c, cu_wave *w, const cu_inst *head, ls_cycle at, ls_cycle now);
/* Continues after the wave's instruction, which was issued: at its pc, ready at `at` at the soonest. */
void cu_issue_advance(cu *c, cu_wave *w, ls_cycle at, ls_cycle now);
/* Serves one SIMD; returns how many instructions were issued. */
unsigned cu_issue_simd(cu *c, unsigned simd, ls_cycle now);
/* A counter went down, or a barrier opened: the wave may go on. */
void cu_issue_again(cu *c, cu_wave *w, ls_cycle now);
void cu_issue_priority(cu_simd *simd, const cu_wave *w, unsigned priority);
/* Out of all masks. */
void cu_issue_forget(cu *c, cu_wave *w);
/* The first cycle from `at` on in which the SIMD is served. */
static inline ls_cycle cu_served(const cu *c, unsigned simd, ls_cycle at)
{
    if (c->turn == 1)
        return at;
    return at + ((simd - at) & (c->turn - 1)); /* a power of two */
}

/* Position of a ready wave in the ring: distant ones are visited on the way. */
static inline ls_cycle cu_issue_visit(const cu *c, const cu_wave *w, ls_cycle now)
{
    return w->ready - now < CU_RING ? w->ready : cu_served(c, w->simd, now + CU_RING - 8);
}
/* Counters that are above what the instruction allows, as reasons. */
static inline uint32_t cu_issue_unmet(const cu_wave *w, const cu_inst *inst)
{
    uint32_t counters, limits, unmet = 0, top = 0x80808080u; /* neither gets that far */
    memcpy(&counters, w->counter, sizeof counters);
    memcpy(&limits, inst->limit, sizeof limits);
    if ((((limits | top) - counters) & top) == top)
        return 0;
    for (unsigned i = 0; i < CU_COUNTERS; i++)
        if (w->counter[i] > inst->limit[i])
            unmet |= 1u << i;
    return unmet;
}

/* --- ahead.c --- */

/* The wave has just issued, and no other wave of its SIMD is ready: continues with it as long as that has no
 * visible effect. */
void cu_ahead_run(cu *c, cu_simd *simd, cu_wave *w, ls_cycle now);
/* Another wave of the SIMD is ready at `at`, or its wave ends: takes back instructions issued for `at` or
 * later. */
void cu_ahead_cut(cu *c, cu_simd *simd, ls_cycle at, ls_cycle now);

/* --- fetch.c --- */

void cu_fetch_want(cu *c, cu_wave *w, bool wants);
void cu_fetch_start(cu *c, cu_wave *w); /* starts again at the wave's pc */
void cu_fetch_room(cu *c, cu_wave *w);  /* its pc moved: there may be room */
bool cu_fetch_run(cu *c, ls_cycle now); /* the arbiter; true: there is more to request */

/* --- group.c --- */

void cu_group_end(cu *c, cu_wave *w, ls_cycle now);                /* s_endpgm */
void cu_group_barrier(cu *c, cu_wave *w, ls_cycle now);            /* s_barrier */
void cu_group_fault(cu *c, cu_wave *w, uint64_t pc, ls_cycle now); /* w->arch.fault is set */
void cu_group_check(cu *c, cu_group *g, ls_cycle now);             /* is it done? */
void cu_group_report(void *self, ls_cycle now);                    /* event: the link is ready */

/* --- grid.c --- */

void cu_grid_arrive(cu *c, cu_wave *w, ls_cycle now); /* ds_gws_barrier */
bool cu_grid_report(cu *c);                           /* tells arrivals; false: the link is not ready */
void cu_grid_forget(cu *c, cu_group *g);              /* the work-group ends */

/* --- access.c --- */

cu_access *cu_access_take(cu *c, cu_wave *w, const cu_inst *inst, bool large, ls_cycle now);
bool cu_access_free(const cu *c, bool large); /* is there one? */
static inline uint32_t cu_access_total(const cu *c)
{
    return (uint32_t)c->spec->vector_in_flight + CU_LARGE_ACCESSES;
}
/* Gives the access its part of the pool. */
void cu_access_place(cu *c, uint32_t number, bool large);
/* Keeps what amd_mem_address() (and for LDS amd_mem_perform()) left in c->scratch. */
void cu_access_keep(cu *c, cu_wave *w, cu_access *a, bool addresses);
void cu_access_keep_head(const cu *c, const cu_wave *w, cu_access *a); /* all but data and addresses */
void cu_access_ends_at(cu *c, cu_access *a, ls_cycle at, ls_cycle now);
void cu_access_complete(cu *c, cu_access *a, ls_cycle now);
void cu_access_timed(cu *c, ls_cycle now);
/* Lowers the wave's counters that the instruction raised; it may continue. */
void cu_access_lower(cu *c, cu_wave *w, const cu_inst *inst, ls_cycle now);

/* --- vector.c, scalar.c, lds.c: false: not now --- */

bool cu_vector_issue(cu *c, cu_wave *w, ls_cycle now);
bool cu_vector_send(cu *c, unsigned pipe, ls_cycle now); /* true: more to send in the next cycle */
bool cu_scalar_issue(cu *c, cu_wave *w, ls_cycle now);
bool cu_scalar_send(cu *c, ls_cycle now);
bool cu_lds_issue(cu *c, cu_wave *w, ls_cycle now);
/* Cycles that the banks need for the lanes of an access in c->scratch. */
unsigned cu_lds_cycles(const cu *c, const amd_access *access);

/* --- source.c: executed, or read from a recording --- */

/* The tapes of a work-group that begins, and of a work-group that ends. False: they are not available. */
bool cu_source_begin(cu_group *g);
void cu_source_end(cu_group *g);
/* The wave's next instruction is issued. For a memory instruction cu_source_address() was called before, and
 * its access is in *access. Comes before cu_source_step(). */
void cu_source_issue(cu_wave *w, const amd_access *access);
/* cu_source_address() was called, but the instruction is not issued yet. */
void cu_source_again(cu_wave *w);
/* Executes the wave's next instruction (not one of memory); its pc is where it goes on. */
void cu_source_step(cu_wave *w, ls_cycle now);
/* Where the memory instruction goes: into *access. False: it faulted. */
bool cu_source_address(cu_wave *w, amd_access *access, ls_cycle now);
/* Performs the access in c->scratch on LDS and keeps its results in *a. The second function performs only
 * these lanes of it and leaves the results in c->scratch. */
void cu_source_lds(cu *c, cu_wave *w, cu_access *a);
void cu_source_lds_part(cu *c, cu_wave *w, uint64_t lanes);
/* The same for an instruction whose lanes lie as the shape says, all in range: whole registers. Its lanes are
 * those of a->exec. */
void cu_source_lds_quick(cu *c, cu_wave *w, cu_access *a, const amd_lds_form *form, const lds_shape *shape);
/* The values that registers get. */
void cu_source_result(cu *c, cu_wave *w, const cu_access *a);
void cu_source_scalar(cu *c, cu_wave *w, const cu_scalar *s);

/* --- observe.c: called for waves that are observed only --- */

/* A work-group begins; false: the observer has no memory. */
bool cu_observe_begin(cu *c, const cu_group *g);
void cu_observe_group(cu *c, const cu_group *g, cu_seen_kind kind); /* CU_SEEN_END, CU_SEEN_BARRIER */
/* The memory instruction in c->scratch is issued; token: of accesses or, after them, of scalars. */
void cu_observe_issue(cu *c, const cu_wave *w, const cu_inst *inst, uint32_t token);
void cu_observe_return(cu *c, const cu_wave *w, const cu_inst *inst, uint32_t token, const uint8_t *head,
                       const uint32_t *data, uint32_t stride);
void cu_observe_wait(cu *c, const cu_wave *w, const cu_inst *inst);
void cu_observe_forget(cu *c, const cu_wave *w, const cu_inst *inst);

/* --- cu_debug.c: called for waves whose kernel has a debugger only --- */

/* The wave's next instruction is tried. False: its work-group was ended. */
bool cu_debug_before(cu *c, cu_wave *w);
/* The instruction was issued. */
void cu_debug_after(cu *c, cu_wave *w, const cu_inst *inst, ls_cycle now);
void cu_debug_fault(cu *c, const cu_wave *w, uint64_t pc);

#endif

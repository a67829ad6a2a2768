/* walk.h: the functional machine that a profile is taken on; for profile.c and walk*.c only.
 *
 * An epoch has three steps, with a barrier of all threads between them. In each step a thread takes one core
 * or one part of L2 after another and touches nothing else. So the results do not depend on the assignment:
 *
 *   1  cores     warps run through L1 and list their requests to L2             walk_core_run()
 *   2  parts     requests of all cores in the order of warps, then cores       walk_part_run()
 *      one       the blocks that follow those which have ended are read
 *   3  cores     how deep their accesses went                                  walk_core_count()
 *      parts     how long slices stood still                                   contention_settle() */
#ifndef PROFILE_WALK_H
#define PROFILE_WALK_H

#include "isa/registers.h"
#include "workload/profile/lanes.h"
#include "workload/profile/level.h"
#include "workload/profile/contention.h"
#include "workload/profile/profile.h"

#define WALK_PARTS 2u /* of L2, whole channels each, per thread: a thread that is done early takes another */
#define WALK_REGS 14u

typedef struct walk_warp {
    const ls_cta *cta; /* NULL: empty slot */
    const ls_dyn *next, *end;
    uint32_t slot;               /* in the core: for local memory */
    bool waits;                  /* something in `pending` */
    uint64_t pending[REG_WORDS]; /* registers on their way from beyond L1 */
} walk_warp;

/* The facts that walking needs about a static instruction. */
typedef struct walk_inst {
    /* Reasons for which a warp must look at it: a bit for each register, by its number modulo WALK_SKETCH;
     * WALK_MEMORY; WALK_WAITS for fences. All bits are set if it was not analysed yet, or has many
     * registers. */
    uint64_t sketch;
    bool known, memory, fence;
    uint8_t count; /* of reg[]; UINT8_MAX: more than it holds */
    uint16_t reg[WALK_REGS];
} walk_inst;

#define WALK_SKETCH 62u
#define WALK_WAITS (UINT64_C(1) << 62)  /* of a warp: it waits for memory */
#define WALK_MEMORY (UINT64_C(1) << 63) /* always */

typedef struct walk_cta {
    const ls_cta *cta;
    uint32_t core, first, warps, left; /* warp slots [first, first + warps); warps that have not ended */
} walk_cta;

/* An access of this epoch that has sent something: requests [first, first + count) of its core. */
typedef struct walk_access {
    uint64_t pc;
    uint32_t first;
    uint16_t count, sectors;
    bool write;
} walk_access;

/* The side of a core. */
typedef struct walk_core {
    _Alignas(64) level l1;
    sent_list *sent;
    LS_VEC(walk_access) accesses;
    uint64_t walked, accessed; /* instructions and accesses of this epoch */
    bool failed;               /* no memory */
} walk_core;

/* The side of L2: channels part, part + parts, ... */
typedef struct walk_part {
    _Alignas(64) uint64_t l2_lines; /* of this epoch, as those of the profiler */
    uint64_t l2_sectors, slice_stalls;
    uint64_t still; /* cycles: contention.h */
    size_t *next;   /* by core: requests that it has done */
    bool shared;    /* a sector was requested twice while on its way */
} walk_part;

/* Data that one thread writes; sums do not depend on the assignment of work. */
typedef struct walk_worker {
    _Alignas(64) LS_VEC(walk_inst) insts; /* by their place in the program */
    LS_VEC(profile_inst) counts;          /* by pc / RATES_PC_BYTES */
    lanes lanes;
    bool failed;
} walk_worker;

struct trace_profiler {
    gpu_shape shape;
    profile_method method;
    walk_core *cores;
    bool has_l1;
    uint32_t l1_ways;
    level *l2; /* by slice; of reuse distances: one for all */
    uint32_t l2_levels;
    uint32_t l2_level_lines; /* of each */
    dram_estimate *channels;
    uint64_t *slice_sectors;
    sent_list *sent; /* by core */
    contention l2_contention;
    uint32_t *fills; /* by slice: how often all data that it requested past L1 had arrived */
    uint32_t epoch;

    /* The threads that walk. */
    thread_pool *pool; /* not its own; NULL: the caller alone */
    uint32_t worker_count, part_count;
    walk_worker *workers;
    walk_part *parts;
    thread_barrier barrier;
    atomic_uint next_core, next_part, next_count;
    bool begun, meets; /* an epoch is under way; its requests have to be settled */
    bool going;
    uint64_t until;
    ls_status status;
    ls_error *err;

    /* One kernel. */
    const profile_request *request;
    core_l1 l1_spec;
    level_index l1_index, l2_index;
    uint32_t warps_per_block, blocks_per_core, slots; /* slots: warps of a core */
    walk_warp *warps;                                 /* [core * slots + slot] */
    walk_cta *blocks;                                 /* [core * blocks_per_core + i] */
    const ls_cta **fetched; /* [cores * blocks_per_core]: read for places that are free after this epoch */
    uint32_t fetched_next, fetched_count;
    uint32_t *slot_starts; /* sent_list.slots of all cores */
    uint32_t running;      /* blocks */
    bool exhausted;
    uint64_t walked, accesses, read_insts, read_blocks;
    uint64_t l2_lines;                 /* that L2 took in */
    uint64_t l2_sectors, slice_stalls; /* of all slices; in CONTENTION_ONE */
};

/* profile.c: refuses a replacement policy that the method does not know; `key` names it in the error. */
ls_status profile_check_policy(const char *key, uint32_t policy, profile_method method, ls_error *err);
/* The same for a hash of sets: those of plug-ins are not known. */
ls_status profile_check_hash(const char *key, uint32_t hash, ls_error *err);
/* Allocates workers and parts for the threads of p->pool. */
ls_status walk_divide(trace_profiler *p, ls_error *err);
void walk_fini(trace_profiler *p); /* all that walk*.c has made */

/* Places the first blocks. walk_end() is due in every case. */
ls_status walk_begin(trace_profiler *p, ls_error *err);
/* Goes on until so many warp instructions have been walked, or to the end of the kernel. */
ls_status walk_until(trace_profiler *p, uint64_t walked, ls_error *err);
void walk_end(trace_profiler *p);
/* Clears the numbers so far, but not the contents of caches: the sample starts here. */
void walk_restart_counts(trace_profiler *p);
/* Adds the counts of all threads into the first one; false without memory. */
bool walk_add_counts(trace_profiler *p);

/* walk_core.c */
void walk_core_run(trace_profiler *p, walk_worker *worker, uint32_t core);
void walk_core_count(trace_profiler *p, walk_worker *worker, uint32_t core);
profile_inst *walk_count_of(walk_worker *worker, uint64_t pc); /* NULL without memory */

/* walk_part.c */
void walk_part_run(trace_profiler *p, uint32_t part);

/* Where a line is in L2: sent_request.set. */
static inline uint32_t walk_set(const trace_profiler *p, uint64_t line)
{
    ls_sector_place place = mem_map_place(&p->shape.map, line * SECTOR_CACHE_LINE_BYTES);
    uint32_t slice = place.channel * p->shape.map.slices_per_channel + place.slice;
    return (slice << p->l2_index.bits) + level_set(&p->l2_index, place.local / SECTOR_CACHE_LINE_BYTES);
}

static inline uint32_t walk_channel(const trace_profiler *p, uint32_t set)
{
    return (set >> p->l2_index.bits) >> p->shape.map.slice_shift;
}

static inline level *walk_level(const trace_profiler *p, uint32_t set)
{
    return p->l2_levels == 1 ? p->l2 : &p->l2[set >> p->l2_index.bits];
}

/* In its level. */
static inline uint32_t walk_set_in_level(const trace_profiler *p, uint32_t set)
{
    return p->l2_levels == 1 ? set : set & ((1u << p->l2_index.bits) - 1);
}

/* Requests for one sector that a slice takes before it stands still; a slice that lets the request alone wait
 * never does. */
static inline uint32_t walk_merge_limit(const trace_profiler *p)
{
    const sector_cache_spec *l2 = &p->shape.l2;
    return l2->merge_stall == SECTOR_CACHE_STALL_REQUEST ? UINT32_MAX : (uint32_t)l2->mshr_merge;
}

static inline uint32_t walk_ones(uint32_t sectors)
{
    return (uint32_t)(UINT64_C(0x4332322132212110) >> (sectors & 15) * 4) &
           15; /* a digit for each set of four */
}

#endif

/* walk.h: the functional machine that a profile is taken on; for profile.c only. */
#ifndef PROFILE_WALK_H
#define PROFILE_WALK_H

#include "workload/profile/lanes.h"
#include "workload/profile/level.h"
#include "workload/profile/meet.h"
#include "workload/profile/profile.h"

#define WALK_REG_WORDS ((LS_REG_COUNT + 63) / 64)

#define WALK_REGS 14u

typedef struct walk_warp {
    const ls_cta *cta; /* NULL: empty slot */
    const ls_dyn *next, *end;
    uint32_t slot;                    /* in the core: for local memory */
    bool waits;                       /* something in `pending` */
    uint64_t pending[WALK_REG_WORDS]; /* registers on their way from beyond L1 */
} walk_warp;

/* What walking needs to know of a static instruction. */
typedef struct walk_inst {
    bool known, memory, fence;
    uint8_t count; /* of reg[]; UINT8_MAX: more than it holds */
    uint16_t reg[WALK_REGS];
} walk_inst;

typedef struct walk_cta {
    const ls_cta *cta;
    uint32_t core, first, warps, left; /* warp slots [first, first + warps); warps that have not ended */
    bool counts;                       /* its accesses belong to the sample that rates come from */
} walk_cta;

struct ls_profiler {
    gpu_shape shape;
    ls_profile_method method;
    level *l1; /* by core */
    uint32_t l1_ways;
    level l2;
    dram_estimate *channels;
    uint64_t *slice_sectors;
    meet meet;
    uint32_t *fills; /* by slice: times that all it had asked DRAM for past L1 has come */
    uint32_t epoch;

    /* One kernel. */
    const ls_profile_request *request;
    core_l1 l1_spec;
    level_index l1_index, l2_index;
    uint32_t warps_per_block, blocks_per_core, slots; /* slots: warps of a core */
    walk_warp *warps;                                 /* [slot * cores + core]: cores in turn */
    walk_cta *blocks;                                 /* [core * blocks_per_core + i] */
    uint32_t running;                                 /* blocks */
    bool exhausted;
    uint64_t walked, accesses, read_insts, read_blocks;
    uint64_t l2_lines;                 /* that L2 took in */
    LS_VEC(ls_profile_inst) counts;    /* by pc / RATES_PC_BYTES */
    uint64_t l2_sectors, slice_stalls; /* of all slices; in MEET_ONE */
    LS_VEC(walk_inst) insts;           /* by their place in the program */
    lanes lanes;
    bool failed; /* no memory */
};

/* Places the first blocks. walk_end() is due in every case. */
ls_status walk_begin(ls_profiler *p, ls_error *err);
/* Goes on until so many warp instructions have been walked, or to the end of the kernel. */
ls_status walk_until(ls_profiler *p, uint64_t walked, ls_error *err);
void walk_end(ls_profiler *p);
/* Forgets the numbers so far, not what caches hold: the sample starts here. */
void walk_restart_counts(ls_profiler *p);

#endif

/* cu.h: compute units of machine `amd`: GCN's CU, or one dual compute unit of RDNA.
 *
 * A model is a block of slot "cu" that provides the port "cu" of this interface. It lives in its cluster's
 * domain. Work-groups come through receive_launch(); their ends go over a link to the command processor. A model
 * that uses the port "scheduler" (lockstep/scheduler.h) gets the platform's wave scheduler.
 * docs/add-a-block.md names examples. A model that executes instructions calls lockstep/cu_exec.h. */
#ifndef LOCKSTEP_CU_H
#define LOCKSTEP_CU_H

#include "lockstep/counts.h"
#include "lockstep/fault.h"
#include "lockstep/groups.h"
#include "lockstep/line.h"

#define LS_CU_SLOT "cu"
#define LS_CU_PORT "cu"
#define LS_CU_INTERFACE "cu/2"
#define LS_CU_SIMDS_MAX 8
#define LS_CU_HALVES_MAX 2
#define LS_CU_WAVES_PER_GROUP_MAX 32
#define LS_CU_KERNELS 64 /* launches that run side by side, at most: ls_cu_launch.kernel is below */
#define LS_CU_CLASSES 13 /* of instructions: ls_gpu_class_name() in lockstep/driver.h */

/* One kernel launch, immutable while it runs; owned by the command processor's client (the runtime). */
typedef struct ls_cu_kernel {
    const struct amd_program *program;            /* see ls_cu_kernel_lanes() and the like */
    const struct cu_code *code;                   /* of the program, decoded for the built-in models */
    uint32_t number;                              /* of the launch, from 0: names it in counters and traces */
    uint32_t dims, grid[3], group[3];             /* work-items */
    ls_groups which;                              /* of the work-groups: those that run; all zero: all */
    uint32_t lds_bytes;                           /* static and dynamic */
    uint32_t scratch_bytes;                       /* per lane */
    uint64_t kernarg, packet, queue, dispatch_id; /* simulated addresses */
    uint64_t scratch; /* simulated address; place p of a work-group begins at p * scratch_place_bytes */
    uint64_t scratch_place_bytes;
    uint64_t max_instructions; /* of one wavefront; 0: no limit */
    bool lenient_barriers;
    const struct cu_tapes *tapes;       /* NULL: waves execute */
    const struct cu_recorder *recorder; /* NULL: waves are not recorded */
    const struct cu_observer *observer; /* NULL: accesses are not observed */
    const struct cu_debugger *debugger; /* NULL: no debugger stops its waves */
    struct inst_counts *counts;         /* per instruction of `code`; NULL: they are not counted */
    uint32_t counts_per_cluster; /* compute units: cluster * counts_per_cluster + index is the unit's number */
} ls_cu_kernel;

/* Launches by number: messages between the command processor and compute units are plain data and name rows of this
 * table. Only the command processor writes. It fills a row before it sends a message that names it, and leaves it
 * alone until all work-groups of the launch are done. */
typedef struct ls_cu_kernels {
    const ls_cu_kernel *at[LS_CU_KERNELS];
} ls_cu_kernels;

/* A work-group on its way to a compute unit. The dispatcher has reserved what it needs: it owns the masks. */
typedef struct ls_cu_launch {
    uint32_t kernel;        /* row of ls_cu_kernels: another launch may have had it before */
    uint32_t id[3];         /* of the work-group */
    uint32_t scratch_place; /* unique among resident work-groups of the kernel */
    uint16_t cu;            /* within its cluster */
    uint16_t slot; /* of the work-group in the compute unit, dispatcher's choice; comes back in ls_cu_done */
    uint16_t wave_count;
    uint8_t simd[LS_CU_WAVES_PER_GROUP_MAX]; /* of each wave */
} ls_cu_launch;

/* Counts of a work-group. */
typedef struct ls_cu_tally {
    LS_COUNT_MEMBERS(LS_CU_CLASSES)
} ls_cu_tally;

/* A work-group has ended, or one of its waves has come to the barrier of its grid. */
typedef struct ls_cu_done {
    uint32_t kernel; /* as in ls_cu_launch */
    uint16_t cu, slot, cluster;
    uint16_t at_grid_barrier; /* not 0: the work-group runs on, and of the rest only `others` counts */
    /* A fault of the program ends the work-group; the command processor stops the kernel. kind
     * LS_FAULT_NONE: none. */
    ls_fault fault;
    uint64_t fault_pc;
    union {
        uint32_t fault_wave;
        uint32_t others; /* at the barrier of the grid: waves that must come too before ls_cu_ops.open() */
    };
    uint32_t id[3];
    ls_cu_tally tally;
} ls_cu_done;

/* Resources that limit the number of waves, for the dispatcher's masks. */
typedef struct ls_cu_capacity {
    uint32_t simds, waves_per_simd, groups; /* work-group slots */
    /* Rows of lane_width lanes and how many are given out together: a register of a wave takes lanes /
     * lane_width rows (GCN: 1024 rows of 16; RDNA: 1024 rows of 32). */
    uint32_t vgprs_per_simd, vgpr_unit;
    uint32_t sgprs_per_simd, sgpr_unit; /* 0 unit: scalar registers never limit (RDNA) */
    uint32_t lds_bytes, lds_unit;
    uint32_t lane_width; /* SIMD width: 16 or 32 */
    /* RDNA: 2. A work-group in CU mode stays on the SIMDs and in the LDS of one half. GCN: 1. */
    uint32_t halves;
    /* Of each half, for work-groups with more than one wave; a work-group on both halves takes it from
     * either. */
    uint32_t barriers;
} ls_cu_capacity;

/* Wiring, before the run. Vector memory: GCN has one cache, RDNA two (SIMDs 0-1 and 2-3). The compute unit joins
 * them with ls_line_join(): they are caches, or TLBs in front of caches. */
typedef struct ls_cu_wiring {
    uint32_t cluster, index; /* number of the compute unit and of its cluster */
    ls_block *vector[LS_CU_HALVES_MAX];
    uint32_t vector_count;
    ls_block *scalar, *code;
    ls_link *to_command;          /* sends ls_cu_done */
    const ls_cu_kernels *kernels; /* that launches name; outlives the block */
} ls_cu_wiring;

/* Provided port. */
typedef struct ls_cu_ops {
    /* All compute units of a GPU say the same. */
    void (*capacity)(const void *self, ls_cu_capacity *out);
    ls_status (*attach)(void *self, const ls_cu_wiring *wiring, ls_error *err);
    /* A work-group: an ls_cu_done follows when it has ended. The message is valid during the call. */
    void (*receive_launch)(void *self, const ls_cu_launch *launch, ls_cycle now);
    /* Ends all waves of the kernel without executing further. Each of its work-groups is still reported done. */
    void (*cancel)(void *self, uint32_t kernel, ls_cycle now);
    /* Between runs, once per launch that has ended: its counters, in the layout of the block's counters, 0
     * where they are not counted per launch. False: the model does not count per launch. */
    bool (*take_kernel)(void *self, uint32_t number, void *counters, size_t bytes);
    /* All waves of the launch are at the barrier of the grid: those that wait there go on. NULL: the model has no such
     * barrier, and cooperative launches are refused. */
    void (*open)(void *self, uint32_t kernel, ls_cycle now);
} ls_cu_ops;

/* For models that do not count per launch. */
static inline bool ls_cu_takes_no_kernel(void *self, uint32_t number, void *counters, size_t bytes)
{
    return (void)self, (void)number, (void)counters, (void)bytes, false;
}

/* Of the program of a kernel. */
LS_API const char *ls_cu_kernel_name(const ls_cu_kernel *kernel);
LS_API uint32_t ls_cu_kernel_lanes(const ls_cu_kernel *kernel);  /* of a wave: 32 or 64 */
LS_API uint32_t ls_cu_kernel_vgprs(const ls_cu_kernel *kernel);  /* of a lane */
LS_API uint64_t ls_cu_kernel_groups(const ls_cu_kernel *kernel); /* work-groups that run */

#endif

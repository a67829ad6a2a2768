/* cu_api.h: what the command processor, the machine builder and the runtime know of a compute unit: how
 * work-groups arrive, how they are reported done, how it is wired. A "compute unit" here is GCN's CU or
 * one RDNA dual compute unit. */
#ifndef MODEL_CU_CU_API_H
#define MODEL_CU_CU_API_H

#include "isa/amd/exec/program.h"
#include "isa/amd/exec/tape.h"
#include "lockstep/block.h"
#include "model/cu/code.h"
#include "model/amd_memory/line.h"

#define CU_SIMDS_MAX 8
#define CU_HALVES_MAX 2
#define CU_WAVES_PER_GROUP_MAX 32

/* Work-groups that were recorded: what their waves do is read instead of executed. Called from any domain. */
typedef struct cu_tapes {
    void *self;
    /* The tapes of its waves, one behind another; NULL: they cannot be read, which ends the work-group
     * with a fault. */
    amd_tape *(*open)(void *self, const uint32_t id[3], uint32_t wave_count);
    void (*close)(void *self, amd_tape *tapes);
} cu_tapes;

/* Who records what waves execute. Called from any domain. */
typedef struct cu_recorder {
    void *self;
    const amd_tape_code *code;
    void (*done)(void *self, const uint32_t id[3], amd_tape_writer *waves, uint32_t wave_count);
} cu_recorder;

/* One kernel launch, immutable while it runs; owned by the command processor's client (the runtime). */
typedef struct cu_kernel {
    const amd_program *program;
    const cu_code *code;                          /* of the program: cu_code_create() */
    uint32_t number;                              /* of the launch, from 0: names it in counters and traces */
    uint32_t dims, grid[3], group[3];             /* work-items */
    uint32_t lds_bytes;                           /* static and dynamic */
    uint32_t scratch_bytes;                       /* per lane */
    uint64_t kernarg, packet, queue, dispatch_id; /* simulated addresses; see amd_wave_start() */
    uint64_t scratch; /* simulated address; place p of a work-group begins at p * scratch_place_bytes */
    uint64_t scratch_place_bytes;
    uint64_t max_instructions; /* of one wavefront; 0: no limit */
    bool lenient_barriers;
    const cu_tapes *tapes;           /* NULL: waves execute */
    const cu_recorder *recorder;     /* NULL: waves are not recorded */
    struct ls_address_space *window; /* the simulated memory: for page states and code only, never for data */
} cu_kernel;

/* A work-group on its way to a compute unit. The dispatcher has reserved what it needs: it owns the masks. */
typedef struct cu_launch {
    const cu_kernel *kernel;
    uint32_t id[3];         /* of the work-group */
    uint32_t scratch_place; /* unique among resident work-groups of the kernel */
    uint16_t cu;            /* within its cluster */
    uint16_t slot; /* of the work-group in the compute unit, dispatcher's choice; comes back in cu_done */
    uint16_t wave_count;
    uint8_t simd[CU_WAVES_PER_GROUP_MAX]; /* of each wave */
} cu_launch;

/* What a work-group executed. */
typedef struct cu_tally {
    uint64_t instructions;
    uint64_t by_class[AMD_CLASS_COUNT];
    uint64_t lanes, loads, stores, atomics, load_bytes, store_bytes, atomic_bytes, barriers;
} cu_tally;

typedef struct cu_done {
    const cu_kernel *kernel;
    uint16_t cu, slot, cluster, unused;
    /* A fault of the program ends the work-group; the command processor stops the kernel. kind
     * AMD_FAULT_NONE: none. */
    amd_fault fault;
    uint64_t fault_pc;
    uint32_t fault_wave;
    uint32_t id[3];
    cu_tally tally;
} cu_done;

/* What limits how many waves fit, for the dispatcher's masks. */
typedef struct cu_capacity {
    uint32_t simds, waves_per_simd, groups; /* work-group slots */
    /* Rows of lane_width lanes and how many are given out together: a register of a wave takes lanes /
     * lane_width rows (GCN: 1024 rows of 16; RDNA: 1024 rows of 32). */
    uint32_t vgprs_per_simd, vgpr_unit;
    uint32_t sgprs_per_simd, sgpr_unit; /* 0 unit: scalar registers never limit (RDNA) */
    uint32_t lds_bytes, lds_unit;
    uint32_t lane_width; /* SIMD width: 16 or 32 */
    /* RDNA: 2. A work-group in CU mode stays on the SIMDs and in the LDS of one half. GCN: 1. */
    uint32_t halves;
    /* Of each half, for work-groups with more than one wave; one that has both halves takes it from either. */
    uint32_t barriers;
} cu_capacity;
cu_capacity cu_get_capacity(const ls_block *cu);

/* Wiring, before the run. Vector memory: GCN has one cache, RDNA two (SIMDs 0-1 and 2-3): vector_count. */
typedef struct cu_wires {
    uint32_t cluster, index; /* which compute unit of which cluster */
    line_port vector[2];
    uint32_t vector_count;
    line_port scalar, code;
    ls_link *to_command; /* sends cu_done */
} cu_wires;
ls_status cu_attach(ls_block *cu, const cu_wires *wires, ls_error *err);

/* Between runs: what work-groups of a launch (its number) executed here, in the layout of the block's counters;
 * all others are 0. It is told once. */
bool cu_take_kernel(ls_block *cu, uint32_t number, void *counters, size_t bytes);

/* The requester's side of the ports: self is the block's state. Which of them a cache answers is its
 * builder's choice of these tables. */
extern const line_client_ops cu_vector_client[2], cu_scalar_client, cu_code_client;

/* A launch that came over the cluster's link (the cluster's owner releases the credit). */
void cu_receive_launch(void *state, const cu_launch *launch, ls_cycle now);
/* Ends all waves of the kernel without executing further; each of its work-groups is still reported done. */
void cu_cancel(void *state, const cu_kernel *kernel, ls_cycle now);

#endif

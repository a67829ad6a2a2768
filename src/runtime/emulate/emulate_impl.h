/* emulate_impl.h: what the files of the emulator share: a decoded program, and how it is walked. */
#ifndef RUNTIME_EMULATE_EMULATE_IMPL_H
#define RUNTIME_EMULATE_EMULATE_IMPL_H

#include "runtime/emulate/emulate.h"

/* One per dword of code, so that a pc finds its instruction without a search. Where none begins, the body faults. */
typedef struct emulate_op {
    amd_body body;
    const amd_inst *inst;
} emulate_op;

struct emulate_program {
    char *name;
    emulate_kernel kernel; /* kernel.name is `name` */
    unsigned lanes, vgprs;
    uint64_t base;         /* simulated address of ops[0] */
    uint64_t op_count;     /* dwords from base on */
    emulate_op *ops;
    amd_inst *insts; /* [0] stands where there is no instruction */
    uint32_t inst_count;
    uint8_t *code; /* a copy of the code section */
};

/* The instruction that begins at a simulated address, or NULL. */
const amd_inst *emulate_program_at(const emulate_program *program, uint64_t pc);

/* --- work-groups (group.c) --- */

#define EMULATE_WAVES_MAX 32
/* Registers beyond 255: what a wide load at the last one would reach. */
#define EMULATE_VGPR_ROWS (256 + 32)

/* What runs of one static instruction: executions, and lanes that were active in them. */
typedef struct emulate_tally {
    uint64_t count, lanes;
} emulate_tally;

/* All that one host thread needs to run work-groups. */
typedef struct emulate_context {
    const emulate_program *program;
    const emulate_launch *launch;
    struct amd_memory *memory;
    amd_group group;
    amd_wave waves[EMULATE_WAVES_MAX];
    uint32_t wave_count;
    uint32_t *vgprs; /* EMULATE_WAVES_MAX blocks */
    size_t vgpr_block; /* registers of one wave, in dwords */
    uint8_t *lds;
    emulate_tally *tally; /* one per op of the program */
    uint64_t packet, queue; /* simulated addresses */
    uint64_t instructions, wave_total, barriers;
    uint64_t fault_pc;
    uint32_t fault_wave;
} emulate_context;

/* Runs one work-group to its end; false if a wave faulted (fault_pc, fault_wave, waves[].fault say where and why). */
bool emulate_group_run(emulate_context *context, const uint32_t id[3]);

#endif

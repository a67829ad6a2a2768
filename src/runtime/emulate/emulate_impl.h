/* emulate_impl.h: what the files of the emulator share: a decoded program, and how it is walked. */
#ifndef RUNTIME_EMULATE_EMULATE_IMPL_H
#define RUNTIME_EMULATE_EMULATE_IMPL_H

#include "runtime/emulate/emulate.h"

/* One per instruction, in the order of addresses: straight code is walked without looking anything up. */
typedef struct emulate_op {
    amd_body body;
    const amd_inst *inst;
    uint64_t next; /* simulated address after it */
    /* Control may go elsewhere, exec or the time may be looked at anew: a run of steps ends here. The step
     * after one without it is the instruction at `next`. */
    uint64_t last;
} emulate_op;

struct emulate_program {
    char *name;
    emulate_kernel kernel; /* kernel.name is `name` */
    unsigned lanes, vgprs;
    uint64_t base;       /* simulated address of the first instruction */
    uint64_t word_count; /* dwords from base on */
    uint32_t *place;     /* [word_count]: the op that begins there; 0: none */
    emulate_op *ops;     /* [op_count + 1]; [0] is none */
    uint32_t op_count;
    amd_inst *insts;
    uint8_t *code; /* a copy of the code section */
};

/* The instruction that begins at a simulated address, or NULL. */
const amd_inst *emulate_program_at(const emulate_program *program, uint64_t pc);

/* --- work-groups (group.c) --- */

#define EMULATE_WAVES_MAX 32
/* Registers beyond 255: what a wide load at the last one would reach. */
#define EMULATE_VGPR_ROWS (256 + 32)

/* Executions and lanes that were active in them, as differences from op to op: a run adds at its first op and
 * subtracts after its last one. */
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
    uint32_t *vgpr_memory;
    uint32_t *vgprs;   /* in it, aligned to 64 bytes: one block per wave */
    size_t vgpr_block; /* registers of one wave, in dwords */
    uint8_t *lds;
    emulate_tally *tally;   /* [op_count + 2] of the program */
    uint64_t packet, queue; /* simulated addresses */
    uint64_t instructions, wave_total, barriers;
    uint64_t fault_pc;
    uint32_t fault_wave;
} emulate_context;

/* Runs one work-group to its end; false if a wave faulted (fault_pc, fault_wave, waves[].fault say where
 * and why). */
bool emulate_group_run(emulate_context *context, const uint32_t id[3]);

#endif

/* emulate_impl.h: types that the emulator's files share, for walking a decoded program. */
#ifndef RUNTIME_EMULATE_EMULATE_IMPL_H
#define RUNTIME_EMULATE_EMULATE_IMPL_H

#include "isa/amd/exec/start.h"
#include "runtime/emulate/emulate.h"

/* --- work-groups (group.c) --- */

/* Executions and lanes that were active in them, as differences from op to op: a run adds at its first op and
 * subtracts after its last one. */
typedef struct emulate_tally {
    uint64_t count, lanes;
} emulate_tally;

/* All that one host thread needs to run work-groups. */
typedef struct emulate_context {
    const amd_program *program;
    const emulate_launch *launch;
    struct amd_memory *memory;
    amd_group group;
    amd_wave waves[AMD_WAVES_MAX];
    amd_wave *stopped[AMD_WAVES_MAX]; /* the same, for a debugger */
    uint32_t wave_count;
    uint32_t *vgpr_memory;
    uint32_t *vgprs;   /* in it, aligned to 64 bytes: one block per wave */
    size_t vgpr_block; /* registers of one wave, in dwords */
    uint8_t *lds;
    emulate_tally *tally; /* [op_count + 2] of the program */
    amd_start start;      /* initial state of waves */
    uint64_t instructions, wave_total, barriers;
    uint64_t fault_pc;
    uint32_t fault_wave;
} emulate_context;

/* Runs one work-group, `number` in the order of the grid, to its end; false if a wave faulted (fault_pc, fault_wave, waves[].fault say where
 * and why). */
bool emulate_group_run(emulate_context *context, const uint32_t id[3], uint64_t number);

/* Whether instructions run one at a time, in one thread. */
static inline bool emulate_is_watched(const emulate_launch *launch)
{
    return launch->hook || launch->before || launch->strict || launch->debugger;
}

#endif

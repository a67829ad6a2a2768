/* hazard.h: wait states that the compiler owes the hardware (gfx90a, gfx942). An instruction that uses a register
 * too soon after certain others reads or overwrites a value that is not there yet. The hardware does not wait. */
#ifndef RUNTIME_STRICT_HAZARD_H
#define RUNTIME_STRICT_HAZARD_H

#include "isa/amd/amd.h"

#define HAZARD_PAST 32 /* more than the 19 wait states of the longest rule */

/* An instruction that was issued before. */
typedef struct hazard_past {
    const amd_inst *inst;
    uint32_t at; /* wait states before it */
    uint32_t op; /* its step of the program */
} hazard_past;

/* The last instructions of one wave. */
typedef struct hazard_wave {
    hazard_past past[HAZARD_PAST];
    uint32_t count;        /* of instructions since the last call or return */
    uint32_t now;          /* wait states: one per instruction, N + 1 for s_nop N */
    uint32_t matrix_until; /* no matrix instruction is in the past from here on */
} hazard_wave;

/* A rule that an instruction breaks. */
typedef struct hazard_finding {
    const hazard_past *after;
    unsigned need, have; /* wait states between the two */
    unsigned code;       /* the register; AMD_NO_OPERAND: none */
    const char *rule;    /* "a VALU instruction writes it, a memory instruction reads it" */
} hazard_finding;

/* False: the instruction breaks a rule, which is in *out. Otherwise it becomes part of the past. Targets other than
 * gfx9 have no rules here. */
bool hazard_step(hazard_wave *wave, amd_target target, const amd_inst *inst, uint32_t op, hazard_finding *out);

#endif

/* fault.h: the sentence about a program that faulted: the same from emulator and compute unit. */
#ifndef ISA_AMD_EXEC_FAULT_H
#define ISA_AMD_EXEC_FAULT_H

#include "isa/amd/exec/program.h"

/* Where it happened. */
typedef struct amd_fault_place {
    uint64_t pc; /* simulated address of the instruction */
    uint32_t work_group[3];
    uint32_t wave;
    const char *why; /* NULL: the text of the fault's kind */
} amd_fault_place;

/* Always LS_ERR_CHECK. text, if not NULL, gets the instruction. */
ls_status amd_fault_report(const amd_program *program, const ls_fault *fault, const amd_fault_place *place,
                           char *text, size_t text_bytes, ls_error *err);

#define AMD_FAULT_REGISTERS 200 /* bytes of their text */
/* EXEC and the registers that the instruction reads, in the lane of the fault: "exec 0xff, v0[3] 0x10". "" if no instruction
 * is at pc. */
void amd_fault_registers(const amd_program *program, const amd_wave *wave, const ls_fault *fault, uint64_t pc,
                         char out[AMD_FAULT_REGISTERS]);
/* Adds them to the sentence in err, if all of them fit. */
void amd_fault_add_registers(const char *registers, ls_error *err);

#endif

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

#endif

/* fault.h: why a program on an AMD GPU was stopped. */
#ifndef LOCKSTEP_FAULT_H
#define LOCKSTEP_FAULT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ls_fault_kind {
    LS_FAULT_NONE,
    LS_FAULT_UNMAPPED,
    LS_FAULT_MISALIGNED,
    LS_FAULT_READ_ONLY,
    LS_FAULT_LDS_RANGE,
    LS_FAULT_UNSUPPORTED, /* an instruction without a body; refused before the launch, so a jump into data */
    LS_FAULT_TRAP,        /* s_trap, abort() */
    LS_FAULT_BARRIER,     /* part of the work-group ended while the rest waits */
    LS_FAULT_LIMIT,       /* --max-instructions */
    LS_FAULT_REGISTER,    /* a register outside of the kernel descriptor's allocation */
    LS_FAULT_STRICT,      /* found by strict checks, which have their own sentence */
    LS_FAULT_HALT,        /* s_sethalt, s_sendmsghalt: nothing here resumes a halted wave */
    LS_FAULT_STOPPED,     /* a debugger ended the launch */
} ls_fault_kind;

typedef struct ls_fault {
    ls_fault_kind kind;
    uint8_t lane;
    uint8_t bytes; /* of the access */
    bool write;
    uint64_t address;
} ls_fault;

#endif

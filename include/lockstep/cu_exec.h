/* cu_exec.h: executes the waves of a compute unit, for models of slot "cu" (lockstep/cu.h) that have a pipeline of their
 * own. The model decides when an instruction issues and when messages travel; these functions do what it does.
 *
 * A wave steps one instruction at a time. An instruction without memory is done when it returns; an instruction on LDS as
 * well. A memory instruction becomes messages of one line each (lockstep/line.h): the model sends them to its caches and
 * hands back the replies. Registers are written when the last reply is there, in the order of the architecture.
 * Barriers, the counters of s_waitcnt, faults and the counts of a work-group are kept here. When a work-group has ended
 * and none of its messages is under way, its report goes to the command processor.
 *
 * Not for recordings: their waves do not execute. */
#ifndef LOCKSTEP_CU_EXEC_H
#define LOCKSTEP_CU_EXEC_H

#include "lockstep/cu.h"

typedef struct ls_cu_exec ls_cu_exec;

#define LS_CU_EXEC_ACCESSES 32u /* memory instructions in flight */

/* Where the built-in models issue an instruction to. */
typedef enum ls_cu_unit {
    LS_CU_UNIT_VALU,
    LS_CU_UNIT_SCALAR, /* scalar ALU and scalar memory */
    LS_CU_UNIT_VECTOR_MEMORY,
    LS_CU_UNIT_LDS,
    LS_CU_UNIT_BRANCH,
    LS_CU_UNIT_INTERNAL, /* waits, barriers, the end: handled where instructions are buffered */
} ls_cu_unit;

/* Registers from `first` to `last`: scalars have their operand codes (0 to 127), SCC is 128, VGPR n is 256 + n. */
typedef struct ls_cu_registers {
    uint16_t first, last;
} ls_cu_registers;

typedef struct ls_cu_inst {
    uint64_t pc;    /* simulated address */
    uint8_t bytes;  /* of the instruction */
    uint8_t unit;   /* ls_cu_unit */
    uint8_t class_; /* ls_gpu_class_name() in lockstep/driver.h */
    uint8_t read_count, write_count;
    ls_cu_registers reads[8], writes[4];
} ls_cu_inst;

typedef enum ls_cu_result {
    LS_CU_STEPPED,
    LS_CU_ACCESS,  /* stepped: its messages are to be sent */
    LS_CU_WAITS,   /* not stepped: for memory (s_waitcnt), or because too much is in flight */
    LS_CU_BARRIER, /* stepped: it continues when the other waves are there, which may be at once */
    LS_CU_ENDED,
    LS_CU_FAULTED, /* its work-group is dead: the report says so */
    LS_CU_IDLE,    /* not stepped: at a barrier, ended, or no such wave */
} ls_cu_result;

typedef struct ls_cu_step {
    ls_cu_inst inst;
    uint64_t lanes;            /* active ones; of a memory instruction: those that access memory */
    const uint64_t *addresses; /* memory and LDS: 64 per piece, valid until the next step; else NULL */
    uint32_t pieces, piece_bytes;
    uint32_t access, messages; /* LS_CU_ACCESS: its number, and how many messages it has, from 1 */
    bool scalar;               /* they go to the scalar cache */
    bool write;                /* a store or an atomic */
} ls_cu_step;

/* Before the run. The capacity is the one that the model gives to the dispatcher. line_bytes: of its caches. */
LS_API ls_status ls_cu_exec_create(ls_block *block, const ls_cu_wiring *wiring, const ls_cu_capacity *capacity,
                                   uint32_t line_bytes, ls_cu_exec **out, ls_error *err);

/* A work-group begins. Its wave i is number ls_cu_exec_wave(slot, i) from now on. */
LS_API void ls_cu_exec_start(ls_cu_exec *exec, const ls_cu_launch *launch);
static inline uint32_t ls_cu_exec_wave(uint32_t slot, uint32_t index)
{
    return slot * LS_CU_WAVES_PER_GROUP_MAX + index;
}

/* The wave's next instruction; false: it has none now (LS_CU_IDLE). */
LS_API bool ls_cu_exec_peek(const ls_cu_exec *exec, uint32_t wave, ls_cu_inst *out);
/* Executes it. `now` is the value of the program's clock instructions. */
LS_API ls_cu_result ls_cu_exec_step(ls_cu_exec *exec, uint32_t wave, ls_cycle now, ls_cu_step *out);

/* One message of an access, ready to be sent; its token belongs to these functions. Messages may travel in any order. */
LS_API void ls_cu_exec_message(const ls_cu_exec *exec, uint32_t access, uint32_t number, ls_line_message *out);
/* An answer came. Returns the number of the wave, which may be able to step again. */
LS_API uint32_t ls_cu_exec_reply(ls_cu_exec *exec, const ls_line_message *reply);

/* As ls_cu_ops.cancel: no wave of the kernel steps again. Messages of accesses that began are still to be sent. */
LS_API void ls_cu_exec_cancel(ls_cu_exec *exec, uint32_t kernel);

#endif

/* table.h: a row of opcodes.def as sass.c and decode.c see it. Private to this folder. */
#ifndef SASS_TABLE_H
#define SASS_TABLE_H

#include "isa/sass/sass.h"

/* The letters of the columns `first` and `last`. */
enum {
    SASS_GEN_K = LS_SASS_KEPLER,
    SASS_GEN_M = LS_SASS_MAXWELL,
    SASS_GEN_V = LS_SASS_VOLTA,
    SASS_GEN_T = LS_SASS_TURING,
    SASS_GEN_A = LS_SASS_AMPERE,
    SASS_GEN_D = LS_SASS_ADA,
    SASS_GEN_H = LS_SASS_HOPPER,
    SASS_GEN_B = LS_SASS_BLACKWELL,
};

typedef enum sass_registers {
    SASS_REGS_ONE,
    SASS_REGS_PAIR,
    SASS_REGS_SIZE,
    SASS_REGS_WIDTH,
    SASS_REGS_WIDE,
    SASS_REGS_CVT,
    SASS_REGS_CLOCK,
    SASS_REGS_MMA,
    SASS_REGS_GROUP,
    SASS_REGS_TMEM,
} sass_registers;

/* The plain ones are ls_accel_class itself; the others depend on the generation. */
enum {
    SASS_ACCEL_SP = LS_ACCEL_SP,
    SASS_ACCEL_HALF = LS_ACCEL_HALF,
    SASS_ACCEL_DP = LS_ACCEL_DP,
    SASS_ACCEL_INTP = LS_ACCEL_INTP,
    SASS_ACCEL_ALU = LS_ACCEL_ALU,
    SASS_ACCEL_SFU = LS_ACCEL_SFU,
    SASS_ACCEL_LOAD = LS_ACCEL_LOAD,
    SASS_ACCEL_STORE = LS_ACCEL_STORE,
    SASS_ACCEL_BARRIER = LS_ACCEL_BARRIER,
    SASS_ACCEL_MEMBAR = LS_ACCEL_MEMBAR,
    SASS_ACCEL_EXIT = LS_ACCEL_EXIT,
    SASS_ACCEL_SPEC_3 = LS_ACCEL_SPEC_3,
    SASS_ACCEL_SPEC_4 = LS_ACCEL_SPEC_4,
    SASS_ACCEL_BRA = LS_ACCEL_CLASS_COUNT,
    SASS_ACCEL_CALL,
    SASS_ACCEL_RET,
    SASS_ACCEL_FLOW,
    SASS_ACCEL_SSY,
    SASS_ACCEL_KILL,
    SASS_ACCEL_TEX,
    SASS_ACCEL_IMMA,
};

enum {
    SASS_FLAG_NONE = 0,
    SASS_FLAG_EXIT = LS_INST_EXIT,
    SASS_FLAG_BARRIER = LS_INST_BARRIER,
    SASS_FLAG_FENCE = LS_INST_FENCE,
    SASS_FLAG_COMMIT = LS_INST_ASYNC_COMMIT,
    SASS_FLAG_WAIT = LS_INST_ASYNC_WAIT,
    SASS_FLAG_BYPASS = LS_INST_BYPASS_L1,
    SASS_FLAG_ATOMIC = LS_INST_BYPASS_L1 | LS_INST_ACCEL_BYPASS,
    SASS_FLAG_UNMODELLED = LS_INST_UNMODELLED,
    SASS_FLAG_IGNORED = LS_INST_IGNORED,
};

typedef struct sass_row {
    const char *name;
    uint8_t first, last; /* sass_generation */
    uint8_t class_;      /* ls_inst_class */
    uint8_t mem_op, space;
    uint8_t registers; /* sass_registers */
    uint8_t accel;     /* SASS_ACCEL_* */
    uint32_t flags;
} sass_row;

const sass_row *sass_row_at(size_t row);      /* NULL if there is none */
const char *sass_nearest(const char *opcode); /* NULL if none is near */

#endif

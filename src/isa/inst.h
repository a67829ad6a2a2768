/* inst.h: the static instruction as a core sees it, the same for every instruction set. Decoded once per static
 * instruction and shared read-only by all warps. */
#ifndef ISA_INST_H
#define ISA_INST_H

#include <stdint.h>

typedef enum ls_inst_class {
#define CLASS(name, help) LS_CLASS_##name,
#include "isa/classes.def"
#undef CLASS
    LS_CLASS_COUNT
} ls_inst_class;

const char *ls_inst_class_name(ls_inst_class c);
const char *ls_inst_class_help(ls_inst_class c);

typedef enum ls_mem_space {
    LS_SPACE_NONE,
    LS_SPACE_GLOBAL,
    LS_SPACE_LOCAL,
    LS_SPACE_SHARED,
    LS_SPACE_GENERIC, /* decided per access from the address */
    LS_SPACE_CONST,
    LS_SPACE_TEXTURE,
    LS_SPACE_SURFACE,
} ls_mem_space;

typedef enum ls_mem_op {
    LS_MEM_NONE,
    LS_MEM_LOAD,
    LS_MEM_STORE,
    LS_MEM_ATOMIC,     /* returns the old value */
    LS_MEM_REDUCTION,  /* returns nothing */
    LS_MEM_ASYNC_COPY, /* global to shared */
    LS_MEM_MATRIX,     /* LDSM, LDTM: 8 addresses per 8x8 matrix */
} ls_mem_op;

enum {
    LS_INST_BYPASS_L1 = 1u << 0,    /* coherent at L2: STRONG.GPU and wider, volatile, atomics */
    LS_INST_EXIT = 1u << 1,         /* ends the active lanes */
    LS_INST_BARRIER = 1u << 2,      /* waits for the thread block */
    LS_INST_FENCE = 1u << 3,        /* waits for the warp's own memory accesses */
    LS_INST_ASYNC_COMMIT = 1u << 4, /* closes a group of asynchronous copies (LDGDEPBAR) */
    LS_INST_ASYNC_WAIT = 1u << 5,   /* waits until at most imm groups are open (DEPBAR.LE SB0, imm) */
    LS_INST_UNKNOWN = 1u << 6,      /* opcode not in the table; treated as an integer instruction by request */
};

/* Register numbers: general registers as they are named (255: the zero register), uniform registers from 256
 * (319: the zero uniform register). */
#define LS_REG_ZERO 255u
#define LS_REG_UNIFORM 256u
#define LS_REG_UNIFORM_ZERO 319u
#define LS_REG_COUNT 320u
#define LS_INST_DST_MAX 4
#define LS_INST_SRC_MAX 8

typedef struct ls_inst {
    uint64_t pc;
    int64_t imm;         /* the last immediate of the trace line; 0 if there is none */
    uint32_t flags;      /* LS_INST_* */
    uint16_t opcode;     /* row of the ISA's opcode table */
    uint8_t class_;      /* ls_inst_class */
    uint8_t space;       /* ls_mem_space */
    uint8_t mem_op;      /* ls_mem_op */
    uint8_t width_bytes; /* per lane, from the opcode's modifiers; 0 for no memory access */
    uint8_t dst_count, src_count;
    uint8_t dst_span; /* consecutive registers that dst[0] really covers: 4 for LDG.E.128 */
    uint8_t unused[3];
    uint16_t dst[LS_INST_DST_MAX], src[LS_INST_SRC_MAX];
} ls_inst;

#endif

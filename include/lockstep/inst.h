/* inst.h: the static instruction as a core sees it, the same for every instruction set. Decoded once per
 * static instruction and shared read-only by all warps. */
#ifndef LOCKSTEP_INST_H
#define LOCKSTEP_INST_H

#include <stdint.h>

typedef enum ls_inst_class {
#define CLASS(name, help) LS_CLASS_##name,
#include "lockstep/classes.def"
#undef CLASS
    LS_CLASS_COUNT
} ls_inst_class;

typedef enum ls_mem_space {
    LS_SPACE_NONE,
    LS_SPACE_GLOBAL,
    LS_SPACE_LOCAL,
    LS_SPACE_SHARED,
    LS_SPACE_GENERIC, /* decided per access from the address */
    LS_SPACE_CONST,
    LS_SPACE_TEXTURE,
    LS_SPACE_SURFACE,
    LS_SPACE_COUNT
} ls_mem_space;

typedef enum ls_mem_op {
    LS_MEM_NONE,
    LS_MEM_LOAD,
    LS_MEM_STORE,
    LS_MEM_ATOMIC,     /* returns the old value */
    LS_MEM_REDUCTION,  /* returns nothing */
    LS_MEM_ASYNC_COPY, /* global to shared */
    LS_MEM_MATRIX,     /* LDSM, STSM: lanes 8i to 8i+7 give the rows of 8x8 matrix i */
    LS_MEM_OP_COUNT
} ls_mem_op;

enum {
    LS_INST_BYPASS_L1 = 1u << 0,    /* coherent at L2: STRONG.GPU and wider, volatile, atomics, cp.async.cg */
    LS_INST_EXIT = 1u << 1,         /* ends the active lanes */
    LS_INST_BARRIER = 1u << 2,      /* waits for the thread block */
    LS_INST_FENCE = 1u << 3,        /* waits for the warp's own memory accesses */
    LS_INST_ASYNC_COMMIT = 1u << 4, /* closes a group of asynchronous copies (LDGDEPBAR) */
    LS_INST_ASYNC_WAIT = 1u << 5,   /* waits until at most imm groups are open (DEPBAR.LE SB0, imm) */
    LS_INST_UNKNOWN = 1u << 6,      /* opcode not in the table; treated as an integer instruction by request */
    LS_INST_FOREIGN = 1u << 7,      /* opcode that no document lists for this generation; decoded anyway */
    LS_INST_ARRIVE = 1u << 8,       /* BAR.ARV: arrives at the barrier and does not wait */
    LS_INST_ACCEL_BYPASS = 1u << 9, /* accesses that Accel-Sim sends past L1: STRONG with GPU, and atomics;
                                     * only these */
    LS_INST_UNMODELLED =
        1u << 10, /* moves data or blocks warps in a way that no model has: bulk copies, mbarriers */
    LS_INST_IGNORED = 1u << 11, /* has a smaller effect that no model has: cache control, textures' traffic */
    LS_INST_SYSTEM = 1u << 12,  /* system scope: STRONG.SYS accesses, MEMBAR.SYS */
    LS_INST_GROUP_COMMIT = 1u << 13, /* warp-group matrix instruction that closes a group (gsb) */
    LS_INST_MBARRIER = 1u << 14,     /* operation on an mbarrier: mbarrier_op says which */
    LS_INST_BULK = 1u << 15,         /* bulk copy: bulk_op says which */
    /* Bits that mean something else for instructions without memory accesses: */
    LS_INST_WARP_GROUP = 1u << 9, /* matrix instruction of a warp group */
    LS_INST_ASYNC_OP = 1u << 13,  /* no matrix instruction: async_op says what it does */
};
#define LS_INST_FLOPS_SHIFT 16 /* above: floating-point operations of a lane */

/* Element types of matrix instructions. The rows are also keys of platforms. */
typedef enum ls_tensor_type {
    LS_TENSOR_NONE, /* a shape or type that is not known */
#define TENSOR(name, key, bits, help) LS_TENSOR_##name,
#include "lockstep/tensor.def"
#undef TENSOR
    LS_TENSOR_TYPES
} ls_tensor_type;

/* ls_inst.tensor_kind: a type and these. */
enum {
    LS_TENSOR_TYPE_MASK = 0x0f,
    LS_TENSOR_A_REGISTERS = 0x10, /* warp group: A comes from registers, not from shared memory */
    LS_TENSOR_M16 = 0x20,         /* 16 rows; else 8 */
    LS_TENSOR_GROUP = 0x40,       /* 64 rows, by four warps */
    LS_TENSOR_SPARSE = 0x80,      /* half of A is zero and not stored */
};

/* ls_inst.mbarrier_op: what an instruction does to an mbarrier. Its operand, if it has one, is in the record of
 * the execution (lockstep/stream.h). */
typedef enum ls_mbarrier_op {
    LS_MBARRIER_NONE,           /* a form that is not known */
    LS_MBARRIER_INIT,           /* SYNCS.EXCH.64; the operand encodes the number of arrivals */
    LS_MBARRIER_ARRIVE,         /* operand: arrivals */
    LS_MBARRIER_ARRIVE_ONE,     /* one arrival */
    LS_MBARRIER_ARRIVE_EXPECT,  /* one arrival, and the operand's bytes to expect */
    LS_MBARRIER_EXPECT,         /* operand: bytes to expect */
    LS_MBARRIER_EXPECT_ONE,     /* one byte to expect */
    LS_MBARRIER_COMPLETE,       /* operand: bytes that have come */
    LS_MBARRIER_TEST,           /* does not wait */
    LS_MBARRIER_WAIT,           /* try_wait; operand: the parity of the phase that is waited for */
    LS_MBARRIER_ASYNC_ARRIVE,   /* one arrival per lane when earlier asynchronous copies have ended */
    LS_MBARRIER_ASYNC_COMPLETE, /* one byte per lane, likewise */
    LS_MBARRIER_OP_COUNT
} ls_mbarrier_op;

/* ls_inst.bulk_op: where a bulk copy goes. */
typedef enum ls_bulk_op {
    LS_BULK_NONE,
    LS_BULK_LOAD,     /* global to shared */
    LS_BULK_STORE,    /* shared to global */
    LS_BULK_REDUCE,   /* shared to global, added there */
    LS_BULK_PREFETCH, /* global to L2 */
    LS_BULK_COMMIT,   /* no copy: closes a group of stores (UTMACMDFLUSH) */
    LS_BULK_SHARED,   /* between the shared memories of a cluster */
    LS_BULK_OP_COUNT
} ls_bulk_op;

/* ls_inst.async_op: what an instruction with LS_INST_ASYNC_OP does beside its registers. */
typedef enum ls_async_op {
    LS_ASYNC_NONE,
    LS_ASYNC_GROUP_ARRIVE, /* WARPGROUP.ARRIVE: registers of the warp group are ready */
    LS_ASYNC_GROUP_WAIT, /* WARPGROUP.DEPBAR: waits until at most imm groups of matrix instructions are open */
    LS_ASYNC_CLUSTER_ARRIVE, /* UCGABAR_ARV */
    LS_ASYNC_CLUSTER_WAIT,   /* UCGABAR_WAIT */
    LS_ASYNC_SET_REGISTERS,  /* USETMAXREG: the warp has imm registers per thread from now on */
    LS_ASYNC_DEPENDENTS,     /* PREEXIT: the next kernel of the stream may start */
    LS_ASYNC_DEPENDS,        /* ACQBULK: waits for the kernel before it in the stream */
    LS_ASYNC_OP_COUNT
} ls_async_op;

/* ls_inst.barrier_form: how the line of a BAR names its barrier. */
typedef enum ls_barrier_form {
    LS_BARRIER_UNNAMED,  /* not at all: that of the thread block */
    LS_BARRIER_NUMBER,   /* barrier_id and barrier_warps */
    LS_BARRIER_REGISTER, /* the id is in the record of the execution; barrier_warps */
} ls_barrier_form;

/* Register numbers: general registers as they are named (255: the zero register), uniform registers from 256
 * (319: the zero uniform register), then the predicates. The last predicate of each kind is always true.
 * Uniform registers and predicates appear in traces of tracer version 6 only. */
#define LS_REG_ZERO 255u
#define LS_REG_UNIFORM 256u
#define LS_REG_UNIFORM_ZERO 319u
#define LS_REG_PREDICATE 320u
#define LS_REG_PREDICATE_TRUE 327u
#define LS_REG_UNIFORM_PREDICATE 328u
#define LS_REG_UNIFORM_PREDICATE_TRUE 335u
#define LS_REG_COUNT 336u
#define LS_INST_DST_MAX 4
#define LS_INST_SRC_MAX 8

typedef struct ls_inst {
    uint64_t pc;
    int64_t imm;     /* the first immediate of the trace line; 0 if there is none */
    uint32_t flags;  /* LS_INST_* */
    uint16_t opcode; /* row of the ISA's opcode table */
    uint8_t class_;  /* ls_inst_class */
    uint8_t space;   /* ls_mem_space */
    uint8_t mem_op;  /* ls_mem_op */
    union {
        uint8_t width_bytes; /* per lane, from the opcode's modifiers; 0 for no memory access */
        uint8_t tensor_n8;   /* matrix instructions: columns / 8 */
        uint8_t mbarrier_op; /* LS_INST_MBARRIER: ls_mbarrier_op */
        uint8_t bulk_op;     /* LS_INST_BULK: ls_bulk_op */
        uint8_t barrier_id;  /* barriers: 0 to 15, if barrier_form says so */
        uint8_t async_op;    /* LS_INST_ASYNC_OP: ls_async_op */
    };
    uint8_t dst_count, src_count;
    uint8_t dst_span; /* consecutive registers that dst[0] really covers: 4 for LDG.E.128 */
    union {
        uint8_t matrix_count;    /* LS_MEM_MATRIX: 8x8 matrices moved, 1, 2 or 4; else 0 */
        uint8_t tensor_kind;     /* matrix instructions: ls_tensor_type and flags */
        uint8_t barrier_warps;   /* barriers: warps that take part; 0: all of the block */
        uint8_t bulk_dimensions; /* LS_INST_BULK: of the tensor; 0: the copy has no descriptor */
    };
    uint8_t accel_class; /* ls_accel_class (isa/sass/sass.h): Accel-Sim's class of the opcode */
    union {
        uint8_t
            accel_width_bytes; /* the access width that Accel-Sim derives; 0 if the line has no addresses */
        uint8_t tensor_k4;     /* matrix instructions: depth / 4 */
        uint8_t barrier_form;  /* barriers: ls_barrier_form */
    };
    uint16_t dst[LS_INST_DST_MAX], src[LS_INST_SRC_MAX];
    uint8_t src_span[LS_INST_SRC_MAX]; /* as dst_span: 2 for a 64-bit address, 4 for the data of STG.E.128 */
} ls_inst;

_Static_assert(sizeof(ls_inst) == 64, "one cache line");

static inline int ls_inst_is_tensor(const ls_inst *inst)
{
    return inst->class_ >= LS_CLASS_tensor_half && inst->class_ <= LS_CLASS_tensor_group;
}

/* RED and REDG, which are for global memory as a rule: their addresses are generic. */
static inline int ls_inst_reduces_generic(const ls_inst *inst)
{
    return inst->mem_op == LS_MEM_REDUCTION && inst->space == LS_SPACE_GLOBAL;
}

static inline uint32_t ls_inst_flops(const ls_inst *inst) /* of an active lane; a multiply-add is two */
{
    return inst->flags >> LS_INST_FLOPS_SHIFT;
}

#endif

/* code.h: facts about an instruction for a compute unit, decoded once per static instruction. These are its
 * unit, its rate, the registers it reads and writes, the counters it raises and waits for. Independent of the
 * machine: the compute unit turns rates into cycles. Reads a program; touches nothing else. */
#ifndef MODEL_CU_CODE_H
#define MODEL_CU_CODE_H

#include "isa/amd/exec/memory.h"
#include "isa/amd/exec/program.h"
#include "isa/amd/flops.h"

/* Where an instruction is issued to: at most one to each per SIMD and cycle. */
typedef enum cu_unit {
    CU_UNIT_VALU,
    CU_UNIT_SCALAR, /* scalar ALU and scalar memory */
    CU_UNIT_VMEM,
    CU_UNIT_LDS,
    CU_UNIT_BRANCH,   /* branches and messages */
    CU_UNIT_INTERNAL, /* taken from the instruction buffer; any number per cycle */
    CU_UNIT_COUNT
} cu_unit;

/* How fast the vector (or scalar) unit is for it. */
typedef enum cu_rate {
    CU_RATE_FULL,
    CU_RATE_HALF,
    CU_RATE_QUARTER,      /* 32-bit integer products */
    CU_RATE_DIVIDE,       /* v_div_scale_f32, v_div_fmas_f32, v_div_fixup_f32 */
    CU_RATE_PACKED,       /* CDNA: v_pk_fma_f32, v_pk_mul_f32, v_pk_add_f32 */
    CU_RATE_DOUBLE,       /* fp64 */
    CU_RATE_DOUBLE_SLOW,  /* fp64 products, v_div_fmas_f64 */
    CU_RATE_DOUBLE_TRANS, /* fp64 reciprocal, square root */
    CU_RATE_TRANS,        /* RDNA: in a unit of its own; from here on units may be beside the VALU */
    CU_RATE_MATRIX,       /* in the matrix unit: cu_inst.matrix_cycles */
    CU_RATE_COUNT
} cu_rate;

/* The compute unit's own treatment of an instruction. */
typedef enum cu_what {
    CU_PLAIN,  /* its body is all */
    CU_MEMORY, /* in three steps */
    CU_WAIT,
    CU_BARRIER,
    CU_GRID_BARRIER, /* of all work-groups of a cooperative launch */
    CU_END,
    CU_NOP,
    CU_SLEEP,
    CU_PRIORITY,
    CU_CLAUSE,
    CU_PREFETCH,
    CU_CACHE,      /* forgets cache lines: limit[CU_VM] says of how many levels below the first, too */
    CU_WRITE_BACK, /* the L2 of its die writes its lines back: buffer_wbl2 */
} cu_what;

enum { CU_VM, CU_LGKM, CU_EXP, CU_VS, CU_COUNTERS };

/* Registers: operand codes of scalars (0 to 127), CU_SCC, and 256 + n for VGPR n. */
#define CU_SCC 128
typedef struct cu_range {
    uint16_t first, last;
} cu_range;

#define CU_READS_MAX 8
#define CU_WRITES_MAX 4
typedef struct cu_inst {
    amd_body body;
    const amd_inst *inst;
    uint64_t next;              /* simulated address after it */
    uint8_t bytes;              /* of the instruction */
    uint8_t unit;               /* cu_unit */
    uint8_t rate;               /* cu_rate */
    uint8_t what;               /* cu_what */
    uint8_t class_;             /* amd_class */
    uint8_t kind;               /* amd_access_kind, for memory */
    uint8_t raises;             /* bit i: counter i */
    uint8_t ordered;            /* CU_VM or CU_VS: returns in order with those; CU_COUNTERS: out of order */
    uint8_t limit[CU_COUNTERS]; /* issues while no counter is above */
    uint8_t access_bytes;       /* of a lane (or of the wave for scalar memory) */
    uint8_t flops;              /* operations of a lane */
    uint8_t flops_type;         /* amd_flops_type */
    bool last;                  /* control may go elsewhere: look the next one up */
    bool scalar;                /* lanes do not count */
    bool time;                  /* reads the clock */
    bool plain;                 /* a load whose registers are the dwords of memory */
    bool writes_scalar; /* a vector operation that writes a scalar register: v_cmp, v_readlane, carries */
    /* A wave-local instruction: it uses only registers of its own wave. No memory, branch, EXEC or timing state. */
    bool alone;
    /* Registers it reads and writes, or for memory the registers that get data later: bit n % 64 for VGPR n in
     * [0], for scalar n in [1]. */
    uint64_t touches[2];
    uint64_t
        serial; /* of this process: another program's instruction may get the same address, never the same serial */
    uint8_t lds;           /* number of the LDS instruction, modulo 256 */
    uint8_t matrix_cycles; /* how long the matrix unit is busy with it, */
    uint8_t matrix_alone;  /* and the VALU of its SIMD for other waves */
    uint8_t read_count, write_count;
    cu_range reads[CU_READS_MAX], writes[CU_WRITES_MAX];
    uint64_t write_bits[CU_WRITES_MAX]; /* each of `writes`, as in `touches` */
} cu_inst;

typedef struct cu_code {
    const amd_program *program;
    cu_inst *insts; /* [op_count + 1], numbered as amd_program.ops; [0] is none */
    uint64_t end;   /* simulated address after the last instruction: nothing is fetched from there on */
} cu_code;

/* The rate of a vector operation of that class. */
cu_rate cu_code_rate(amd_op op, amd_class class_);

/* Cycles of the matrix unit, and of the VALU, which other waves can use for the rest. 0: no matrix instruction. */
unsigned cu_code_matrix(amd_op op, amd_target target, unsigned *alone);

/* The program is borrowed and must outlive it. */
ls_status cu_code_create(const amd_program *program, cu_code **out, ls_error *err);
void cu_code_destroy(cu_code *code);

#endif

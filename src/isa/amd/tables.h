/* tables.h: the rows of the *.def files as arrays, for the decoder, the printer and the coverage list.
 * Private to this folder: others see amd.h. */
#ifndef ISA_AMD_TABLES_H
#define ISA_AMD_TABLES_H

#include "isa/amd/amd.h"

/* A row's description of one operand: its type, its registers and where it may live. */
typedef enum amd_shape {
    AMD_SHAPE_NO,
    AMD_SHAPE_B16, /* B, F, PK...: any source or, as destination, what the encoding writes */
    AMD_SHAPE_F16,
    AMD_SHAPE_PK16,
    AMD_SHAPE_PKF16,
    AMD_SHAPE_B32,
    AMD_SHAPE_F32,
    AMD_SHAPE_B64,
    AMD_SHAPE_F64,
    AMD_SHAPE_MASK,
    AMD_SHAPE_W96,
    AMD_SHAPE_W128,
    AMD_SHAPE_W256,
    AMD_SHAPE_W512,
    AMD_SHAPE_S32, /* scalar registers only */
    AMD_SHAPE_S64,
    AMD_SHAPE_V32, /* vector registers only */
    AMD_SHAPE_V64,
    AMD_SHAPE_V96,
    AMD_SHAPE_V128,
    AMD_SHAPE_V256,
    AMD_SHAPE_V512,
    AMD_SHAPE_V1024,
    AMD_SHAPE_A32, /* accumulation registers only */
    AMD_SHAPE_C64, /* matrices: vector registers, or an inline constant for all elements */
    AMD_SHAPE_C128,
    AMD_SHAPE_C256,
    AMD_SHAPE_C512,
    AMD_SHAPE_C1024,
    AMD_SHAPE_PK32, /* two 32-bit integers or floats in a pair */
    AMD_SHAPE_PKF32,
    AMD_SHAPE_LIT, /* the literal that follows */
    AMD_SHAPE_COUNT
} amd_shape;

typedef struct amd_shape_info {
    uint8_t kind;   /* amd_kind */
    uint8_t dwords; /* of a mask: 0, the wave decides */
    bool vector_only;
} amd_shape_info;
extern const amd_shape_info amd_shape_table[AMD_SHAPE_COUNT];

/* Flags of a row. Each group belongs to some encodings and shares bits with the others. */
enum {
    /* VOP1, VOP2, VOPC, VOP3, VOP3P, VINTRP */
    AMD_ROW_E64 = 1 << 0,
    AMD_ROW_M0 = 1 << 1, /* modifiers of source 0, 1, 2 */
    AMD_ROW_M1 = 1 << 2,
    AMD_ROW_M2 = 1 << 3,
    AMD_ROW_CLAMP = 1 << 4,
    AMD_ROW_OMOD = 1 << 5,
    AMD_ROW_OPSEL = 1 << 6,
    AMD_ROW_SDWA = 1 << 7,
    AMD_ROW_DPP = 1 << 8,
    AMD_ROW_K1 = 1 << 9,
    AMD_ROW_K2 = 1 << 10,
    AMD_ROW_SDST = 1 << 11,
    AMD_ROW_ACC = 1 << 12,
    AMD_ROW_ATTR = 1 << 13,  /* VOP3: the first source is an attribute */
    AMD_ROW_DPP64 = 1 << 14, /* DPP of 64-bit operations, on gfx9 only: row_newbcast */
    AMD_ROW_MAI = 1 << 15,   /* VOP3P: a matrix instruction: cbsz, abid and blgp in place of op_sel and neg */
    /* SOPC, SOPK, SOPP: meaning of the immediate */
    AMD_ROW_NONE = 1 << 0,   /* nothing: it must be 0 */
    AMD_ROW_IMM = 1 << 1,    /* a number in hexadecimal */
    AMD_ROW_IMM10 = 1 << 2,  /* a number in decimal */
    AMD_ROW_BRANCH = 1 << 3, /* a distance in words */
    AMD_ROW_HWREG = 1 << 4,
    AMD_ROW_WAITCNT = 1 << 5,
    AMD_ROW_MSG = 1 << 6,
    AMD_ROW_ENDPGM = 1 << 7, /* a number that is not shown when 0 */
    AMD_ROW_GPRIDX = 1 << 8,
    AMD_ROW_DEPCTR = 1 << 9,
    AMD_ROW_IDX = 1 << 10, /* SOPC: the second source is an immediate of 8 bits */
    /* SMEM */
    AMD_ROW_OFFSET = 1 << 0,
    AMD_ROW_STORE = 1 << 1,
    AMD_ROW_ATOMIC = 1 << 2,
    AMD_ROW_PROBE = 1 << 3, /* the data field is a number */
    /* DS */
    AMD_ROW_OFFSET2 = 1 << 0,
    AMD_ROW_GDSONLY = 1 << 3,
    AMD_ROW_NOGDS = 1 << 4,
    AMD_ROW_SWIZZLE = 1 << 5,
    AMD_ROW_NOOFF = 1 << 6,
    /* FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF; also AMD_ROW_ATOMIC */
    AMD_ROW_TOLDS = 1 << 0,
    AMD_ROW_RTN = 1 << 3,
    AMD_ROW_ADDTID = 1 << 4,
    AMD_ROW_BARE = 1 << 5,
    AMD_ROW_LDSOUT = 1 << 6,
    AMD_ROW_LDSONLY = 1 << 7, /* a load that always writes LDS: no data operand */
    AMD_ROW_BITS = 1 << 8,    /* BARE, but with cache bits */
    /* MIMG; also AMD_ROW_STORE, AMD_ROW_ATOMIC */
    AMD_ROW_SAMPLER = 1 << 3,
    AMD_ROW_GATHER = 1 << 4,
    AMD_ROW_LOD = 1 << 5,
    AMD_ROW_OFF = 1 << 6,
    AMD_ROW_BIAS = 1 << 7,
    AMD_ROW_ZCMP = 1 << 8,
    AMD_ROW_GRAD = 1 << 9,
    AMD_ROW_G16 = 1 << 10,
    AMD_ROW_CMPSWAP = 1 << 11,
    AMD_ROW_D16OK = 1 << 12,
    AMD_ROW_RESINFO = 1 << 14,
    AMD_ROW_BVH = 1 << 15,
};

typedef struct amd_row {
    uint16_t op;                       /* amd_op */
    uint8_t format;                    /* amd_format */
    uint8_t class_;                    /* amd_class */
    uint8_t dst;                       /* amd_shape */
    uint8_t src[3];                    /* amd_shape */
    uint16_t opcode[AMD_TARGET_COUNT]; /* AMD_NO_OPCODE where the target does not have it */
    uint16_t flags;                    /* AMD_ROW_* */
} amd_row;
enum { AMD_NO_OPCODE = 0xffff };

/* The row of an opcode in an encoding, or NULL. `opcode` must be below the encoding's number of opcodes. */
const amd_row *amd_table_find(amd_target target, amd_format format, unsigned opcode);

/* The row of an operation in an encoding, or NULL. */
const amd_row *amd_table_find_op(amd_target target, amd_format format, amd_op op);

/* All rows, for lists. */
extern const amd_row amd_table_rows[];
size_t amd_table_row_count(void);
/* How many opcodes an encoding has room for. */
unsigned amd_table_opcodes(amd_format format);

#endif

/* amd.h: AMD's instruction sets: GCN3 (gfx803), RDNA (gfx1010), RDNA 2 (gfx1030), CDNA 2 (gfx90a) and
 * CDNA 3 (gfx942). Bytes become amd_inst
 * records, records become text. The rows of the *.def files are the one source for both, for the
 * coverage list and for the emulator in exec/. Nothing here executes, allocates or prints. */
#ifndef ISA_AMD_AMD_H
#define ISA_AMD_AMD_H

#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- targets -------------------------------------------------------------------------------------------- */

typedef enum amd_target {
    AMD_GFX803,  /* GCN3: wave64 only */
    AMD_GFX1010, /* RDNA */
    AMD_GFX1030, /* RDNA 2 */
    AMD_GFX90A,  /* CDNA 2: gfx9 with matrix instructions and AGPRs; wave64 only */
    AMD_GFX942,  /* CDNA 3: likewise */
    AMD_TARGET_COUNT
} amd_target;

const char *amd_target_name(amd_target target); /* "gfx803" */
/* Finds "gfx1010"; also accepts the whole of "amdgcn-amd-amdhsa--gfx1010:xnack-". */
bool amd_target_find(const char *name, amd_target *out);
static inline bool amd_target_is_gfx10(amd_target target)
{
    return target == AMD_GFX1010 || target == AMD_GFX1030;
}
static inline bool amd_target_is_gfx9(amd_target target)
{
    return target == AMD_GFX90A || target == AMD_GFX942;
}

/* --- operations ----------------------------------------------------------------------------------------- */

/* One per base mnemonic, without _e32, _e64, _sdwa, _dpp: AMD_V_ADD_F32. Targets share an operation when the
 * instruction does the same; where one name means two things (v_add_u32), the rows say so by two names. */
typedef enum amd_op {
    AMD_OP_INVALID,
#define AMD_OP(name) AMD_##name,
#include "isa/amd/ops.def"
#undef AMD_OP
    AMD_OP_COUNT
} amd_op;

const char *amd_op_name(amd_op op); /* "v_add_f32" */
bool amd_op_find(const char *name, amd_op *out);

/* The encoding that an instruction was read from. */
typedef enum amd_format {
    AMD_SOP1,
    AMD_SOP2,
    AMD_SOPK,
    AMD_SOPC,
    AMD_SOPP,
    AMD_SMEM,
    AMD_VOP1,
    AMD_VOP2,
    AMD_VOPC,
    AMD_VOP3, /* with abs, neg, op_sel, clamp, omod; also VOP1, VOP2 and VOPC operations in 64 bits */
    AMD_VOP3B, /* VOP3 with a scalar destination in place of abs: v_add_co_u32, v_div_scale_f32, v_mad_u64_u32 */
    AMD_VOP3P,
    AMD_VINTRP,
    AMD_DS,
    AMD_MUBUF,
    AMD_MTBUF,
    AMD_MIMG,
    AMD_FLAT,
    AMD_GLOBAL,
    AMD_SCRATCH,
    AMD_EXP,
    AMD_FORMAT_COUNT
} amd_format;

const char *amd_format_name(amd_format format); /* "SOP1" */

/* The forms of VOP1, VOP2 and VOPC: SDWA and DPP need a second word. */
typedef enum amd_form { AMD_PLAIN, AMD_SDWA, AMD_DPP16, AMD_DPP8 } amd_form;

/* The pipe that a core issues it to, and the wait counter that tracks it. */
typedef enum amd_class {
    AMD_CLASS_SALU,
    AMD_CLASS_VALU,
    AMD_CLASS_TRANS,   /* quarter rate: rcp, sqrt, sin, exp, log */
    AMD_CLASS_VALU_64, /* double precision and 64-bit integer products */
    AMD_CLASS_SMEM,
    AMD_CLASS_VMEM, /* buffers, images, global and scratch */
    AMD_CLASS_FLAT, /* global, scratch or LDS, by address */
    AMD_CLASS_LDS,
    AMD_CLASS_GDS,
    AMD_CLASS_EXPORT,
    AMD_CLASS_BRANCH,
    AMD_CLASS_MESSAGE, /* s_sendmsg, s_sendmsghalt, s_ttrace... */
    AMD_CLASS_INTERNAL, /* s_nop, s_waitcnt, s_barrier, s_sleep, s_endpgm...: taken from the instruction buffer */
    AMD_CLASS_COUNT
} amd_class;

const char *amd_class_name(amd_class c);

/* --- operands ------------------------------------------------------------------------------------------- */

/* Codes are those of the 9-bit source field, the same on all targets as far as they exist there. */
enum {
    AMD_SGPR = 0,              /* to 101 on gfx803 and gfx9, to 105 on gfx10 */
    AMD_FLAT_SCRATCH_LO = 102, /* gfx803, gfx9 */
    AMD_FLAT_SCRATCH_HI = 103,
    AMD_XNACK_MASK_LO = 104, /* gfx803, gfx9 */
    AMD_XNACK_MASK_HI = 105,
    AMD_VCC_LO = 106,
    AMD_VCC_HI = 107,
    AMD_TTMP = 108, /* gfx9, gfx10: ttmp0 to ttmp15; gfx803: tba, tma, then ttmp0 at 112 */
    AMD_M0 = 124,
    AMD_NULL = 125, /* gfx10: reads 0, writes nothing */
    AMD_EXEC_LO = 126,
    AMD_EXEC_HI = 127,
    AMD_INT_0 = 128,     /* 0 to 64 */
    AMD_INT_MINUS = 193, /* -1 to -16 */
    AMD_SHARED_BASE = 235,
    AMD_SHARED_LIMIT = 236,
    AMD_PRIVATE_BASE = 237,
    AMD_PRIVATE_LIMIT = 238,
    AMD_POPS_WAVE_ID = 239,
    AMD_FLOAT = 240, /* 0.5 -0.5 1 -1 2 -2 4 -4, then 1/(2 pi) */
    AMD_VCCZ = 251,
    AMD_EXECZ = 252,
    AMD_SCC = 253,
    AMD_LDS_DIRECT = 254,
    AMD_LITERAL = 255, /* amd_inst.literal */
    AMD_VGPR = 256,    /* to 511 */
    AMD_AGPR = 512,    /* to 767: accumulation registers of gfx9; the same file as the VGPRs, after v255 */
    AMD_NO_OPERAND = 0xffff
};

typedef struct amd_operand {
    uint16_t code; /* AMD_*; the first register of several */
    uint8_t
        dwords;   /* registers read or written, from the row: 2 for 64 bits, 0 without operand; a mask is 1 in
                       wave32 and 2 in wave64 */
    uint8_t kind; /* amd_kind: how to read it */
} amd_operand;

/* The type of an operand; decides what an inline constant or a literal means (1.0 is 0x3c00 for F16). */
typedef enum amd_kind {
    AMD_KIND_NONE,
    AMD_KIND_B16,
    AMD_KIND_F16,
    AMD_KIND_PK16, /* two 16-bit integers */
    AMD_KIND_PKF16,
    AMD_KIND_B32,
    AMD_KIND_F32,
    AMD_KIND_B64,
    AMD_KIND_F64,
    AMD_KIND_MASK, /* one bit per lane: vcc, exec, the carry of v_add_co_u32 */
    AMD_KIND_WIDE, /* 96 bits and more */
    AMD_KIND_PK32, /* two 32-bit numbers in a pair; a constant is in both, or in the lower of the two */
} amd_kind;

/* --- the record ----------------------------------------------------------------------------------------- */

enum { /* amd_inst.flags: bits of memory instructions and of SDWA, DPP */
       AMD_GLC = 1u << 0,
       AMD_SLC = 1u << 1,
       AMD_DLC = 1u << 2,
       AMD_LDS = 1u << 3, /* a buffer or global load that writes LDS */
       AMD_GDS = 1u << 4,
       AMD_OFFEN = 1u << 5,
       AMD_IDXEN = 1u << 6,
       AMD_TFE = 1u << 7,
       AMD_LWE = 1u << 8,
       AMD_UNORM = 1u << 9,
       AMD_R128 = 1u << 10,
       AMD_A16 = 1u << 11,
       AMD_D16 = 1u << 12,
       AMD_DA = 1u << 13,
       AMD_NSA = 1u << 14,   /* amd_inst.nsa holds the addresses after the first */
       AMD_SADDR = 1u << 15, /* GLOBAL, SCRATCH: saddr is there ("off" otherwise) */
       AMD_CLAMP = 1u << 16,
       AMD_BOUND_CTRL = 1u << 17, /* DPP16: lanes without a source read 0 */
       AMD_FI = 1u << 18,         /* DPP: disabled lanes are read too */
       AMD_DONE = 1u << 19,       /* EXP */
       AMD_COMPR = 1u << 20,
       AMD_VM = 1u << 21,
       AMD_SOFFSET_REG = 1u << 22, /* SMEM: the offset is a register (src[1]) */
       AMD_IMM_OFFSET = 1u << 23,  /* SMEM: there is an immediate offset */
       AMD_SCOPE = 1u << 24,       /* gfx90a: scc, gfx942: sc1; glc is sc0 there and slc is nt */
};

/* Which registers are where:
 *   SOP*      sdst; src[0], src[1]; simm
 *   SMEM      sdst (data, also of stores: then read); src[0] base; src[1] offset register; offset
 *   VOP*      vdst (VGPR, or an SGPR for v_readlane_b32), sdst (VOPC, VOP3B: mask out), src[0..2], the mask
 *             in of v_cndmask and v_addc is src[2]
 *             v_madmk: src[1] is the constant, v_madak: src[2]; both are src[0] * src[1] + src[2]
 *   matrix    (VOP3P rows with MAI) vdst; src[0] A, src[1] B, src[2] C, or the index of v_smfmac; dim is cbsz,
 *             dmask is abid, simm is blgp (neg in its place for doubles on gfx942)
 *   VINTRP    vdst; src[0] (VOP3: src[1], src[2]); simm is attribute * 4 + channel; v_interp_mov_f32: dmask
 *             is the parameter; op_sel 1 is "high"
 *   DS        vdst; src[0] address, src[1] data0, src[2] data1; offset (or offset0, and offset1 in simm)
 *   FLAT etc. vdst; src[0] address, src[1] data, src[2] saddr; offset
 *   MUBUF     vdst (load) or src[1] (store, atomic; returns go to vdst); src[0] vaddr, src[2] resource,
 *   MTBUF     src[3] soffset; offset; simm is the format of MTBUF
 *   MIMG      vdst or src[1]; src[0] vaddr (dwords: how many, also with NSA), src[2] resource, src[3]
 *             sampler; dmask, dim
 *   EXP       src[0..3]; simm is the target; dmask is en
 */
typedef struct amd_inst {
    uint32_t pc;    /* byte offset from where decoding began */
    uint16_t op;    /* amd_op */
    uint8_t format; /* amd_format */
    uint8_t form;   /* amd_form */
    uint8_t bytes;  /* 4 to 20 */
    uint8_t class_; /* amd_class */
    uint8_t src_count;
    uint8_t omod; /* 0 none, 1 *2, 2 *4, 3 /2 */
    uint32_t flags;
    uint32_t literal;
    int32_t offset; /* of memory instructions, sign extended */
    int32_t simm;   /* SOPK, SOPP: simm16 sign extended; others see above */
    amd_operand vdst, sdst, src[4];
    uint8_t neg, abs, op_sel, op_sel_hi, neg_hi, sext; /* bit i for src[i]; bit 3 of op_sel for vdst */
    uint8_t dmask, dim;
    union {
        struct {
            uint8_t dst_sel, dst_unused,
                src_sel[2]; /* SDWA: 0-3 byte, 4-5 word, 6 dword; unused: 0 pad, 1 sext,
                                                        2 preserve */
        } sdwa;
        struct {
            uint16_t ctrl; /* DPP16 */
            uint8_t row_mask, bank_mask;
        } dpp;
        uint8_t dpp8[8]; /* lane within its eight */
        uint8_t nsa[12]; /* VGPR numbers of the addresses after the first */
    };
} amd_inst;

/* DPP of a 64-bit operation (gfx9) with another control than row_newbcast: LLVM decodes and marks it, the hardware
 * cannot execute it. */
static inline bool amd_dpp_is_void(const amd_inst *inst)
{
    return inst->form == AMD_DPP16 && (inst->dpp.ctrl & 0x1f0) != 0x150 &&
           (inst->vdst.dwords == 2 || inst->src[0].dwords == 2 || inst->src[1].dwords == 2);
}

/* --- decoding and printing ------------------------------------------------------------------------------ */

/* Decodes the instruction at bytes[0], never reading past `bytes + count`; `lanes` (32 or 64) sets the width
 * of mask operands. Returns false for bytes that are no instruction of the target or that end too early; then
 * out->bytes is the number of bytes to skip (at most 4). */
bool amd_decode(amd_target target, unsigned lanes, const uint8_t *bytes, size_t count, amd_inst *out);

/* Writes the text that LLVM prints for it (15; 19 for gfx9), without its leading tab, and returns its length as snprintf
 * does. */
size_t amd_print(amd_target target, unsigned lanes, const amd_inst *inst, char *out, size_t capacity);

/* The counters that s_waitcnt waits for; a counter that is not named has its largest value. */
typedef struct amd_waitcnt {
    uint8_t vm, exp, lgkm, vs;
} amd_waitcnt;
amd_waitcnt amd_waitcnt_decode(amd_target target, uint16_t simm16);

/* True if the target has the operation in some encoding. */
bool amd_op_exists(amd_target target, amd_op op);

#endif

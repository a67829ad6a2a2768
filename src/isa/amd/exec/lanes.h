/* lanes.h: vector arithmetic over the lanes of a wave. A row of the valu_*.def files is one line of C for one
 * lane. The macros of stamp.h make a kernel of it: a loop over 32 or 64 lanes that the compiler vectorises. A
 * kernel sees arrays only: bodies (valu.c) resolve operands, modifiers and EXEC around it.
 *
 * The files that include this header are compiled once per variant of the host (plain, AVX2, AVX-512); the
 * variant may change their speed, never their results. */
#ifndef ISA_AMD_EXEC_LANES_H
#define ISA_AMD_EXEC_LANES_H

#include "isa/amd/exec/direct.h"

#ifndef LANES_VARIANT
#define LANES_VARIANT plain
#endif

#define LANES_PASTE_(a, b, c) a##_##b##_##c
#define LANES_PASTE(a, b, c) LANES_PASTE_(a, b, c)

/* An operand is an array of words, one per lane; one of 64 bits has the high words after the low ones, as the
 * registers of a pair lie. All are 64-byte aligned. A mask has one word per lane, 0 or all ones; the pointer
 * lanes_ones itself stands for "every lane". Results: `d` in the lanes of the mask, and one bit per lane for
 * compares and carries. */
typedef uint64_t (*lanes_kernel)(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                                 const uint32_t *mask, const amd_wave *wave);

extern const uint32_t lanes_ones[64], lanes_low[64]; /* lanes_low: the lower half of every lane */
extern const int32_t lanes_inline[128]; /* 32-bit values of the codes from AMD_INT_0 on; 0: none, or special */

/* The type of an operand as a row names it. */
typedef enum lanes_type {
    LANES_NONE,
    LANES_U32,
    LANES_I32,
    LANES_F32,
    LANES_U64,
    LANES_I64,
    LANES_F64,
    LANES_U16,
    LANES_I16,
    LANES_F16,
    LANES_P16, /* two 16-bit integers, VOP3P */
    LANES_PF16,
    LANES_MASK, /* a bit per lane in scalar registers, widened to 0 or all ones */
    /* The same operands, for statements that work on their bits or round by themselves. */
    LANES_Q32 = LANES_F32,
    LANES_Q64 = LANES_F64,
    LANES_Q16 = LANES_F16,
} lanes_type;

static inline bool lanes_is_wide(unsigned type)
{
    return type == LANES_U64 || type == LANES_I64 || type == LANES_F64;
}

static inline bool lanes_is_16(unsigned type)
{
    return type == LANES_U16 || type == LANES_I16 || type == LANES_F16;
}

/* Whether a 16-bit result leaves the other half of its register as it is. gfx803 clears it, gfx10 keeps it. On
 * gfx9 the operations with op_sel and those that add to their destination keep it. */
static inline bool lanes_keeps_half(amd_target target, unsigned op)
{
    if (!amd_target_is_gfx9(target))
        return amd_target_is_gfx10(target);
    switch (op) {
    case AMD_V_MAD_F16:
    case AMD_V_MAC_F16:
    case AMD_V_MADAK_F16:
    case AMD_V_MADMK_F16:
    case AMD_V_FMA_F16:
    case AMD_V_MAD_U16:
    case AMD_V_MAD_I16:
    case AMD_V_DIV_FIXUP_F16:
    case AMD_V_MIN3_F16:
    case AMD_V_MIN3_I16:
    case AMD_V_MIN3_U16:
    case AMD_V_MAX3_F16:
    case AMD_V_MAX3_I16:
    case AMD_V_MAX3_U16:
    case AMD_V_MED3_F16:
    case AMD_V_MED3_I16:
    case AMD_V_MED3_U16:
    case AMD_V_ADD_NC_I16:
    case AMD_V_SUB_NC_I16:
    case AMD_V_CVT_PK_FP8_F32:
    case AMD_V_CVT_PK_BF8_F32:
        return true;
    default:
        return false;
    }
}

/* Which part of MODE the host's floating point follows while a kernel runs. */
typedef enum lanes_env {
    LANES_ENV_NONE,  /* any: the kernel computes with integers only */
    LANES_ENV_F32,   /* MODE's single-precision fields */
    LANES_ENV_FLUSH, /* as F32, but denormals are always flushed, independent of MODE: v_mad_f32, v_mac_f32 */
    LANES_ENV_F64,   /* MODE's double- and half-precision fields */
    LANES_ENV_TRANS, /* round to nearest even, denormals flushed: v_rcp_f32, v_exp_f32... */
    LANES_ENV_EXACT, /* round to nearest even, denormals kept: the host's usual state */
    LANES_ENV_COUNT
} lanes_env;

/* A row without an environment of its own whose operands are floating point. */
#define LANES_IS_FLOAT_(type)                                                                                 \
    ((type) == LANES_F32 || (type) == LANES_F64 || (type) == LANES_F16 || (type) == LANES_PF16)
#define LANES_ROW_ENV(env, d, a, b, c)                                                                        \
    ((env) != LANES_ENV_NONE                                                                ? (env)           \
     : LANES_IS_FLOAT_(d) || LANES_IS_FLOAT_(a) || LANES_IS_FLOAT_(b) || LANES_IS_FLOAT_(c) ? LANES_ENV_EXACT \
                                                                                            : LANES_ENV_NONE)

enum {                          /* lanes_row.flags */
       LANES_ACC = 1u << 0,     /* the last source is the old destination: v_mac_f32 */
       LANES_CARRY = 1u << 1,   /* the bits go to sdst */
       LANES_COMPARE = 1u << 2, /* only bits */
       LANES_EXEC = 1u << 3,    /* the bits go to EXEC too: v_cmpx */
       LANES_PACKED = 1u << 4,  /* VOP3P: op_sel, op_sel_hi, neg_hi choose the halves */
       LANES_MIX = 1u << 5,     /* v_fma_mix: op_sel_hi says which sources are halves */
       LANES_HIGH = 1u << 6,    /* the result goes to bits 31:16: v_fma_mixhi_f16 */
       LANES_KEEP = 1u << 7,    /* a 16-bit result keeps the other half on every target */
};

typedef struct lanes_row {
    lanes_kernel kernel; /* NULL: no such row */
    uint8_t env, flags, sources, dst;
    uint8_t src[3];
} lanes_row;

/* The functions of one variant. Index 0 is wave32, 1 is wave64. */
typedef struct lanes_variant {
    const char *name;
    amd_body (*find)(amd_target target, unsigned lanes, const amd_inst *inst);
    bool (*has)(amd_op op);
    unsigned (*direct)(amd_target target, unsigned lanes, const amd_inst *inst, struct amd_direct *out);
} lanes_variant;

extern const lanes_variant lanes_variant_plain, lanes_variant_avx2, lanes_variant_avx512;

/* The functions of direct lists for an operation, by shape, or NULL (valu_direct_*.c). */
const amd_run *LANES_PASTE(valu_direct, int, LANES_VARIANT)(unsigned lanes, unsigned op);
const amd_run *LANES_PASTE(valu_direct, float, LANES_VARIANT)(unsigned lanes, unsigned op);
/* The function that copies a source, k[1] its bits to keep and k[2] those to turn round. */
amd_run LANES_PASTE(valu_direct, modify, LANES_VARIANT)(unsigned lanes, bool scalar);

/* The value of a scalar operand, an inline constant or a literal (a code below AMD_VGPR) as `type` reads
 * it. */
uint64_t lanes_scalar(const amd_wave *wave, const amd_inst *inst, unsigned code, lanes_type type);

/* For every lane: the number of the lane that DPP reads from; bit 7 says that it is out of range. */
void lanes_dpp_map(const amd_inst *inst, unsigned lanes, uint8_t *map);

/* Brings the host's floating point to the state that an environment asks for. Changing it is slow, so it stays until a body
 * needs another one; amd_wave.host_float says which it is. */
#if defined(__x86_64__)
#include <xmmintrin.h>
/* MXCSR by MODE's two denormal bits and its two rounding bits, as its difference to the usual value. AMD: 0 nearest, 1 up,
 * 2 down, 3 to zero; MXCSR: 1 down, 2 up. Without the first denormal bit sources are flushed (0x40), without the second
 * results are (0x8000). */
#define LANES_CSR_USUAL 0x1f80u
#define LANES_CSR_(denormals) 0 | (denormals), 0x4000 | (denormals), 0x2000 | (denormals), 0x6000 | (denormals)
static const uint16_t lanes_csr[16] = { LANES_CSR_(0x8040), LANES_CSR_(0x8000), LANES_CSR_(0x0040),
                                        LANES_CSR_(0) };
static inline void lanes_host_float(uint16_t state)
{
    _mm_setcsr(LANES_CSR_USUAL ^ state);
}
static inline uint16_t lanes_env_state(uint32_t mode, lanes_env env)
{
    return env == LANES_ENV_F32     ? lanes_csr[(mode & 3) | (mode >> 2 & 12)]
           : env == LANES_ENV_F64   ? lanes_csr[(mode >> 2 & 3) | (mode >> 4 & 12)]
           : env == LANES_ENV_FLUSH ? lanes_csr[mode & 3]
           : env == LANES_ENV_TRANS ? lanes_csr[0]
                                    : 0;
}
#else
#include <fenv.h>
/* Without MXCSR only the rounding (bits 1:0) follows MODE, except where FPCR can flush (bit 2; aarch64). */
static inline void lanes_host_float(uint16_t state)
{
    static const int round[4] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    fesetround(round[state & 3]);
#if defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    fpcr = state & 4 ? fpcr | UINT64_C(1) << 24 : fpcr & ~(UINT64_C(1) << 24);
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
#endif
}
static inline uint16_t lanes_env_state(uint32_t mode, lanes_env env)
{
    unsigned round = env == LANES_ENV_F64                             ? mode >> 2 & 3
                     : env == LANES_ENV_F32 || env == LANES_ENV_FLUSH ? mode & 3
                                                                      : 0;
    bool keep = env == LANES_ENV_F32   ? mode >> 4 & 3
                : env == LANES_ENV_F64 ? mode >> 6 & 3
                                       : env == LANES_ENV_EXACT || env == LANES_ENV_NONE;
    return (uint16_t)(round | (keep ? 0u : 4u));
}
#endif

static inline void lanes_env_need(amd_wave *wave, lanes_env env)
{
    uint16_t state = lanes_env_state(wave->mode, env);
    if (__builtin_expect(wave->host_float != state, 0)) {
        wave->host_float = state;
        wave->host_env = 0;
        lanes_host_float(state);
    }
}

#endif

/* operands.h: a vector instruction's operands as the manuals describe them, one lane at a time: register or
 * constant, lane permutation, selection of a part, absolute value, sign. Its result: output modifier, clamp,
 * place in the register. Part of the model that the executor is compared with; shares no code with it. */
#ifndef TESTS_ISA_MODEL_OPERANDS_H
#define TESTS_ISA_MODEL_OPERANDS_H

#include "isa/amd/exec/wave.h"
#include "isa/model/functions.h"

/* A wave before an instruction, and the model's state of it afterwards. */
typedef struct machine {
    amd_wave wave;
    uint32_t vgpr[256][64]; /* by register and lane, unlike the executor's */
} machine;

static inline uint64_t machine_exec(const machine *m)
{
    uint64_t both = m->wave.sgpr[AMD_EXEC_LO] | (uint64_t)m->wave.sgpr[AMD_EXEC_HI] << 32;
    return m->wave.lanes == 32 ? both & UINT32_MAX : both;
}
static inline uint64_t machine_vcc(const machine *m)
{
    uint64_t both = m->wave.sgpr[AMD_VCC_LO] | (uint64_t)m->wave.sgpr[AMD_VCC_HI] << 32;
    return m->wave.lanes == 32 ? both & UINT32_MAX : both;
}

static inline unsigned kind_bits(unsigned kind)
{
    return kind == AMD_KIND_B16 || kind == AMD_KIND_F16   ? 16
           : kind == AMD_KIND_B64 || kind == AMD_KIND_F64 ? 64
                                                          : 32;
}
static inline bool kind_is_half_float(unsigned kind)
{
    return kind == AMD_KIND_F16 || kind == AMD_KIND_PKF16;
}

/* Inline floating-point constants. 16-bit integers see the low half of the 32-bit pattern: the hardware has no
 * other for them (LLVM's bug 46302). */
static inline uint64_t float_constant(unsigned code, unsigned kind)
{
    static const double values[8] = { 0.5, -0.5, 1, -1, 2, -2, 4, -4 };
    format f = kind_is_half_float(kind) ? F16 : kind_bits(kind) == 64 ? F64 : F32;
    if (code == AMD_FLOAT + 8) /* 1 / (2 pi) */
        return f.bits == 16 ? 0x3118 : f.bits == 64 ? UINT64_C(0x3fc45f306dc9c882) : 0x3e22f983;
    double v = values[code - AMD_FLOAT];
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return converted(F64, bits, f, (rules){ 0 }, (rules){ 0 });
}

static inline uint64_t scalar_operand(const machine *m, const amd_inst *in, unsigned code, unsigned kind,
                                      bool sign_extends)
{
    bool wide = kind_bits(kind) == 64;
    if (code < AMD_INT_0) {
        if (code == AMD_NULL && m->wave.target != AMD_GFX803)
            return 0;
        return m->wave.sgpr[code] | (wide ? (uint64_t)m->wave.sgpr[code + 1] << 32 : 0);
    }
    if (code <= AMD_INT_0 + 64)
        return code - AMD_INT_0;
    if (code < AMD_INT_MINUS + 16)
        return (uint64_t) - (int64_t)(code - AMD_INT_MINUS + 1);
    if (code >= AMD_FLOAT && code <= AMD_FLOAT + 8)
        return float_constant(code, kind);
    switch (code) {
    case AMD_VCCZ:
        return machine_vcc(m) == 0;
    case AMD_EXECZ:
        return machine_exec(m) == 0;
    case AMD_SCC:
        return m->wave.scc;
    case AMD_LITERAL:
        return kind == AMD_KIND_F64 ? (uint64_t)in->literal << 32
               : sign_extends       ? (uint64_t)(int64_t)(int32_t)in->literal
                                    : in->literal;
    default:
        return 0;
    }
}

/* The lane that DPP reads; -1: there is none. */
static inline int permuted_lane(const amd_inst *in, int lane, int lanes)
{
    int row = lane / 16 * 16, at = lane % 16, n = in->dpp.ctrl & 15;
    if (in->form == AMD_DPP8)
        return lane / 8 * 8 + in->dpp8[lane % 8];
    if (in->dpp.ctrl < 0x100)
        return lane / 4 * 4 + (in->dpp.ctrl >> 2 * (lane % 4) & 3);
    if (in->dpp.ctrl < 0x110) /* row_shl */
        return at + n <= 15 ? lane + n : -1;
    if (in->dpp.ctrl < 0x120) /* row_shr */
        return at - n >= 0 ? lane - n : -1;
    if (in->dpp.ctrl < 0x130) /* row_ror */
        return row + (at + 16 - n) % 16;
    switch (in->dpp.ctrl) {
    case 0x130: /* wave_shl */
        return lane == lanes - 1 ? -1 : lane + 1;
    case 0x134: /* wave_rol */
        return lane == lanes - 1 ? 0 : lane + 1;
    case 0x138: /* wave_shr */
        return lane - 1;
    case 0x13c: /* wave_ror */
        return lane == 0 ? lanes - 1 : lane - 1;
    case 0x140: /* row_mirror */
        return row + 15 - at;
    case 0x141: /* row_half_mirror */
        return lane / 8 * 8 + 7 - lane % 8;
    case 0x142: /* row_bcast:15 */
        return row == 0 ? -1 : row - 1;
    case 0x143: /* row_bcast:31 */
        return lane < 32 ? -1 : 31;
    default: /* row_share, row_xmask */
        return in->dpp.ctrl < 0x160 ? row + n : row + (at ^ n);
    }
}

typedef struct source {
    uint64_t bits;
    bool off; /* DPP: the lane is not written */
} source;

/* Source k of a lane before abs and neg, as many bits as its kind has (packed ones: 32). */
static inline source fetch(const machine *m, const amd_inst *in, unsigned k, unsigned lane, bool sign_extends)
{
    unsigned code = in->src[k].code, kind = in->src[k].kind;
    source s = { 0, false };
    if (kind == AMD_KIND_MASK) {
        uint64_t mask = code >= AMD_INT_0 ? (code == AMD_INT_0 ? 0 : UINT64_MAX)
                                          : scalar_operand(m, in, code, AMD_KIND_B64, false);
        s.bits = mask >> lane & 1;
        return s;
    }
    unsigned from = lane;
    bool missing = false;
    if (k == 0 && (in->form == AMD_DPP16 || in->form == AMD_DPP8)) {
        int other = permuted_lane(in, (int)lane, m->wave.lanes);
        missing = other < 0 || (!(in->flags & AMD_FI) && !(machine_exec(m) >> other & 1));
        from = missing ? 0 : (unsigned)other;
        s.off = missing && in->form == AMD_DPP16 && !(in->flags & AMD_BOUND_CTRL);
    }
    if (code >= AMD_VGPR) {
        const uint32_t(*r)[64] = &m->vgpr[code - AMD_VGPR];
        s.bits = missing ? 0 : r[0][from] | (kind_bits(kind) == 64 ? (uint64_t)r[1][from] << 32 : 0);
    } else {
        s.bits = scalar_operand(m, in, code, kind, sign_extends);
    }
    if (in->form == AMD_SDWA && k < 2) {
        unsigned select = in->sdwa.src_sel[k];
        if (select < 6) {
            unsigned bits = select < 4 ? 8 : 16, at = select < 4 ? 8 * select : 16 * (select - 4);
            uint64_t part = s.bits >> at & ones(bits);
            s.bits = in->sext >> k & 1 ? (uint64_t)sx(part, bits) : part;
        }
    } else if (in->format != AMD_VOP3P && in->op_sel >> k & 1 && kind_bits(kind) == 16) {
        s.bits >>= 16;
    }
    s.bits &= ones(kind_bits(kind));
    return s;
}

/* abs, then neg, on the sign of `bits` bits. */
static inline uint64_t with_modifiers(const amd_inst *in, unsigned k, uint64_t x, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);
    if (in->abs >> k & 1)
        x &= ~sign;
    return in->neg >> k & 1 ? x ^ sign : x;
}

/* VOP3P: one half of a source. */
static inline uint64_t packed_half(const amd_inst *in, unsigned k, uint64_t word, unsigned half)
{
    bool high = (half ? in->op_sel_hi : in->op_sel) >> k & 1, minus = (half ? in->neg_hi : in->neg) >> k & 1;
    uint64_t x = (high ? word >> 16 : word) & 65535;
    return minus && in->src[k].kind == AMD_KIND_PKF16 ? x ^ 0x8000 : x;
}

/* v_fma_mix: a half by op_sel_hi, the upper one by op_sel; neg_hi is the absolute value. */
static inline uint64_t mixed(const machine *m, const amd_inst *in, unsigned k, unsigned lane)
{
    unsigned code = in->src[k].code;
    bool half = in->op_sel_hi >> k & 1;
    uint64_t x = code >= AMD_VGPR ? m->vgpr[code - AMD_VGPR][lane]
                                  : scalar_operand(m, in, code, half ? AMD_KIND_F16 : AMD_KIND_F32, false);
    if (half)
        x = converted(F16, (in->op_sel >> k & 1 ? x >> 16 : x) & 65535, F32, (rules){ 0 }, (rules){ 0 });
    x &= UINT32_MAX;
    if (in->neg_hi >> k & 1)
        x &= 0x7fffffff;
    return in->neg >> k & 1 ? x ^ 0x80000000 : x;
}

/* Output modifier, which needs IEEE off and denormal results flushed, then clamp to [0, 1]. */
static inline uint64_t finished(const machine *m, const amd_inst *in, format f, uint64_t d)
{
    static const int scale[4] = { 0, 1, 2, -1 };
    bool flush = !(m->wave.mode >> (f.bits == 32 ? 5 : 7) & 1);
    bool omod = in->omod && flush && !(m->wave.mode >> 9 & 1), clamp = in->flags & AMD_CLAMP;
    if (omod && !is_nan(f, d))
        d = scaled(f, d, scale[in->omod & 3], (rules){ 0, false, true });
    if (clamp) {
        if (is_nan(f, d))
            return m->wave.mode >> 8 & 1 ? 0 : d;
        if (order(f, d, one(f)) > 0)
            d = one(f);
        if (order(f, d, 0) <= 0)
            d = 0;
        d = flushed(f, d, flush);
    }
    return d;
}

/* A 16-bit or SDWA result among the old bits of its register. */
static inline uint32_t placed(const machine *m, const amd_inst *in, bool is_16, bool high, bool keep,
                              uint32_t old, uint32_t d)
{
    bool gfx10 = amd_target_is_gfx10((amd_target)m->wave.target);
    if (in->form == AMD_SDWA) {
        unsigned select = in->sdwa.dst_sel;
        if (select >= 6)
            return d;
        unsigned bits = select < 4 ? 8 : 16, at = select < 4 ? 8 * select : 16 * (select - 4);
        uint32_t part = (uint32_t)(d & ones(bits)) << at, mask = (uint32_t)(ones(bits) << at);
        if (in->sdwa.dst_unused == 2)
            return (old & ~mask) | part;
        bool negative_part = d >> (bits - 1) & 1;
        uint32_t above = at + bits < 32 ? UINT32_MAX << (at + bits) : 0;
        return in->sdwa.dst_unused == 1 && negative_part ? part | above : part;
    }
    if (!is_16)
        return d;
    /* gfx9: the three-source operations with op_sel, additions with it, and sums in place. */
    static const char *const gfx9[] = { "v_mad_f16",       "v_mac_f16", "v_madak_f16", "v_madmk_f16",
                                        "v_fma_f16",       "v_mad_u16", "v_mad_i16",   "v_min3_",
                                        "v_div_fixup_f16", "v_max3_",   "v_med3_",     "v_add_nc_i16",
                                        "v_sub_nc_i16" };
    bool keeps = gfx10 || keep;
    for (unsigned i = 0; amd_target_is_gfx9((amd_target)m->wave.target) && i < sizeof gfx9 / sizeof gfx9[0];
         i++)
        keeps |= strncmp(amd_op_name((amd_op)in->op), gfx9[i], strlen(gfx9[i])) == 0;
    if (high)
        return (d & 65535) << 16 | (keeps ? old & 65535 : 0);
    return (d & 65535) | (keeps ? old & 0xffff0000 : 0);
}

#endif

/* decode_vop.c: the vector encodings: VOP1, VOP2, VOPC with SDWA and DPP, VOP3, VOP3P, VINTRP. A field that
 * the instruction does not use must be 0 where LLVM requires it; otherwise the bytes are no instruction. */
#include "isa/amd/decode.h"

enum { CODE_DPP8 = 233, CODE_DPP8_FI = 234, CODE_SDWA = 249, CODE_DPP16 = 250 };

static bool has(const amd_decoder *d, unsigned flag)
{
    return d->row->flags & flag;
}

/* Which sources take a minus sign and bars. */
static unsigned modifiers(const amd_decoder *d)
{
    return d->row->flags / AMD_ROW_M0 & 7u;
}

static bool is_float(amd_shape shape)
{
    return shape == AMD_SHAPE_F16 || shape == AMD_SHAPE_F32 || shape == AMD_SHAPE_F64 ||
           shape == AMD_SHAPE_PKF16 || shape == AMD_SHAPE_PKF32;
}

static bool is_cmpx(const amd_decoder *d)
{
    return d->row->op >= AMD_V_CMPX_CLASS_F16 && d->row->op <= AMD_V_CMPX_U_F64;
}

static bool source(amd_decoder *d, unsigned index, unsigned code)
{
    amd_inst *out = d->out;
    if (index >= out->src_count)
        out->src_count = (uint8_t)(index + 1);
    return amd_decode_source(d, &out->src[index], code, d->row->src[index]);
}

/* The mask that VOPC writes when the encoding does not say where. */
static void implied_sdst(amd_decoder *d)
{
    bool exec = d->gfx10 && is_cmpx(d);
    amd_decode_vcc(d, &d->out->sdst);
    if (exec)
        d->out->sdst.code = AMD_EXEC_LO;
}

/* The destination of the 32-bit encodings, and the masks that they read and write by convention. */
static bool destinations(amd_decoder *d, unsigned vdst)
{
    amd_inst *out = d->out;
    if (d->row->dst == AMD_SHAPE_S32) {
        if (!amd_decode_scalar(d, &out->vdst, vdst, AMD_SHAPE_S32))
            return false;
    } else if (!amd_decode_vector(d, &out->vdst, vdst, d->row->dst)) {
        return false;
    }
    if (has(d, AMD_ROW_SDST))
        amd_decode_vcc(d, &out->sdst);
    if (d->row->src[2] == AMD_SHAPE_MASK) {
        amd_decode_vcc(d, &out->src[2]);
        out->src_count = 3;
    }
    return true;
}

/* Integer sources of instructions with modifiers: the bits may be set but change nothing, and LLVM shows
 * the minus sign of some as sext(). */
static void integer_modifiers(amd_decoder *d)
{
    amd_inst *out = d->out;
    bool select = d->row->op == AMD_V_CNDMASK_B32;
    if (select && (out->form == AMD_PLAIN || d->gfx9)) /* moves floats, too */
        return;
    for (unsigned i = 0; i < 3; i++) {
        unsigned bit = 1u << i;
        if (is_float(d->row->src[i]) || has(d, AMD_ROW_ATTR))
            continue;
        if (!has(d, AMD_ROW_OPSEL | AMD_ROW_ACC) && !select)
            out->sext |= (uint8_t)(out->neg & bit);
        out->neg &= (uint8_t)~bit;
        out->abs &= (uint8_t)~bit;
    }
}

/* --- SDWA and DPP --------------------------------------------------------------------------------------- */

/* An operand of SDWA: a vector register, or from gfx9 on any scalar source but a literal. */
static bool sdwa_source(amd_decoder *d, unsigned index, unsigned code, bool scalar)
{
    if (!scalar || d->target == AMD_GFX803)
        return source(d, index, AMD_VGPR + code);
    return code != AMD_LITERAL && source(d, index, code);
}

/* Selection and modifiers of one source: 3 bits, sext, neg, abs. */
static bool sdwa_modifiers(amd_decoder *d, unsigned index, unsigned bits)
{
    amd_inst *out = d->out;
    unsigned select = bits & 7, bit = 1u << index;
    if (select == 7)
        return false;
    out->sdwa.src_sel[index] = (uint8_t)select;
    bool sext = amd_bit(bits, 3), neg = amd_bit(bits, 4), abs = amd_bit(bits, 5);
    bool moved = d->gfx9 && d->row->op == AMD_V_CNDMASK_B32; /* LLVM 19 takes its sources for floats */
    if (is_float(d->row->src[index]) || moved ? sext : neg || abs)
        return false;
    out->sext |= (uint8_t)(sext ? bit : 0);
    out->neg |= (uint8_t)(neg ? bit : 0);
    out->abs |= (uint8_t)(abs ? bit : 0);
    return true;
}

/* `sources` is 1 or 2; `compare`: the middle byte holds a scalar destination. */
static bool decode_sdwa(amd_decoder *d, unsigned sources, bool compare)
{
    amd_inst *out = d->out;
    bool mac = d->row->op == AMD_V_MAC_F16 || d->row->op == AMD_V_MAC_F32;
    if (!has(d, AMD_ROW_SDWA) || d->count < 8 || (mac && d->target != AMD_GFX803))
        return false;
    uint32_t w = d->w1;
    out->form = AMD_SDWA;
    out->bytes = 8;
    if (!sdwa_source(d, 0, amd_bits(w, 0, 8), amd_bit(w, 23)) || !sdwa_modifiers(d, 0, amd_bits(w, 16, 6)))
        return false;
    if (sources == 2) {
        if (!sdwa_source(d, 1, amd_bits(d->w0, 9, 8), amd_bit(w, 31)) ||
            !sdwa_modifiers(d, 1, amd_bits(w, 24, 6)))
            return false;
    } else if (amd_bits(w, 24, 6) || (d->target != AMD_GFX803 && amd_bit(w, 31))) {
        return false;
    }
    if (compare && d->target != AMD_GFX803) {
        if (!amd_bit(w, 15)) /* VCC, or EXEC */
            return true;
        if (d->gfx10 && is_cmpx(d))
            return false;
        return amd_decode_scalar(d, &out->sdst, amd_bits(w, 8, 7), AMD_SHAPE_MASK);
    }
    if (amd_bit(w, 13))
        out->flags |= AMD_CLAMP;
    if (compare)
        return true;
    out->sdwa.dst_sel = (uint8_t)amd_bits(w, 8, 3);
    out->sdwa.dst_unused = (uint8_t)(amd_bits(w, 11, 2) % 3); /* 3 is as good as 0 */
    if (out->sdwa.dst_sel == 7)
        return false;
    if (d->target != AMD_GFX803) {
        out->omod = (uint8_t)amd_bits(w, 14, 2);
        return (has(d, AMD_ROW_OMOD) && is_float(d->row->dst)) || !out->omod;
    }
    return true;
}

static bool dpp_control_exists(const amd_decoder *d, unsigned ctrl)
{
    if (ctrl < 0x100 || ctrl == 0x140 || ctrl == 0x141)
        return true;
    if (ctrl < 0x130)
        return ctrl % 16 != 0;
    if (d->gfx10)
        return ctrl >= 0x150 && ctrl < 0x170;
    if (d->gfx9 && ctrl >= 0x150 && ctrl < 0x160)
        return true;
    return ctrl == 0x130 || ctrl == 0x134 || ctrl == 0x138 || ctrl == 0x13c || ctrl == 0x142 || ctrl == 0x143;
}

static bool decode_dpp(amd_decoder *d, unsigned code, unsigned sources)
{
    amd_inst *out = d->out;
    bool wide = has(d, AMD_ROW_DPP64);
    if (!(wide ? d->gfx9 : has(d, AMD_ROW_DPP)) || d->count < 8)
        return false;
    uint32_t w = d->w1;
    out->bytes = 8;
    if (!source(d, 0, AMD_VGPR + amd_bits(w, 0, 8)))
        return false;
    if (sources == 2 && !source(d, 1, AMD_VGPR + amd_bits(d->w0, 9, 8)))
        return false;
    if (code != CODE_DPP16) {
        out->form = AMD_DPP8;
        for (unsigned i = 0; i < 8; i++)
            out->dpp8[i] = (uint8_t)amd_bits(w, 8 + 3 * i, 3);
        if (code == CODE_DPP8_FI)
            out->flags |= AMD_FI;
        return true;
    }
    out->form = AMD_DPP16;
    out->dpp.ctrl = (uint16_t)amd_bits(w, 8, 9);
    out->dpp.bank_mask = (uint8_t)amd_bits(w, 24, 4);
    out->dpp.row_mask = (uint8_t)amd_bits(w, 28, 4);
    if (amd_bit(w, 19))
        out->flags |= AMD_BOUND_CTRL;
    if (d->gfx10 && amd_bit(w, 18))
        out->flags |= AMD_FI;
    unsigned allowed = modifiers(d);
    out->neg = (uint8_t)(amd_bits(w, 20, 1) | amd_bits(w, 22, 1) << 1);
    out->abs = (uint8_t)(amd_bits(w, 21, 1) | amd_bits(w, 23, 1) << 1);
    if ((out->neg | out->abs) & ~allowed)
        return false;
    integer_modifiers(d);
    return wide || dpp_control_exists(d, out->dpp.ctrl);
}

/* The first source decides the form. */
static bool first_source(amd_decoder *d, unsigned sources, bool compare, bool *plain)
{
    unsigned code = amd_bits(d->w0, 0, 9);
    *plain = false;
    if (code == CODE_SDWA)
        return decode_sdwa(d, sources, compare);
    if (code == CODE_DPP16 || (d->gfx10 && (code == CODE_DPP8 || code == CODE_DPP8_FI)))
        return decode_dpp(d, code, sources);
    *plain = true;
    return source(d, 0, code);
}

/* --- VOP1, VOP2, VOPC ----------------------------------------------------------------------------------- */

bool amd_decode_vop1(amd_decoder *d)
{
    unsigned vdst = amd_bits(d->w0, 17, 8);
    bool plain;
    if (!amd_decode_row(d, AMD_VOP1, amd_bits(d->w0, 9, 8)))
        return false;
    if (!d->row->dst) /* v_nop and its like have nothing else */
        return vdst == 0;
    return destinations(d, vdst) && first_source(d, 1, false, &plain);
}

bool amd_decode_vop2(amd_decoder *d)
{
    amd_inst *out = d->out;
    unsigned vsrc1 = AMD_VGPR + amd_bits(d->w0, 9, 8);
    bool plain;
    if (!amd_decode_row(d, AMD_VOP2, amd_bits(d->w0, 25, 6)) || !destinations(d, amd_bits(d->w0, 17, 8)))
        return false;
    if (has(d, AMD_ROW_K1 | AMD_ROW_K2)) {
        unsigned constant = has(d, AMD_ROW_K1) ? 1 : 2;
        unsigned code = amd_bits(d->w0, 0, 9);
        out->src_count = 3;
        if (!amd_decode_literal(d) || !source(d, 0, code))
            return false;
        amd_kind kind = (amd_kind)amd_shape_table[d->row->src[0]].kind;
        amd_decode_fixed(d, &out->src[constant], AMD_LITERAL, kind, 1);
        return amd_decode_vector(d, &out->src[3 - constant], vsrc1 - AMD_VGPR, d->row->src[1]);
    }
    if (!first_source(d, 2, false, &plain))
        return false;
    if (d->row->src[0] == AMD_SHAPE_PKF16) /* no field for it: each half is from its own half */
        out->op_sel_hi = 7;
    return !plain || source(d, 1, vsrc1);
}

bool amd_decode_vopc(amd_decoder *d)
{
    bool plain;
    if (!amd_decode_row(d, AMD_VOPC, amd_bits(d->w0, 17, 8)))
        return false;
    implied_sdst(d);
    if (!first_source(d, 2, true, &plain))
        return false;
    return !plain || source(d, 1, AMD_VGPR + amd_bits(d->w0, 9, 8));
}

/* --- VOP3 ----------------------------------------------------------------------------------------------- */

/* Operations of the short encodings are found in VOP3 too, at a distance. */
static bool vop3_row(amd_decoder *d, unsigned opcode)
{
    if (amd_decode_row(d, AMD_VOP3, opcode))
        return true;
    unsigned vop1 = d->gfx10 ? 0x180 : 0x140;
    bool found = false;
    if (opcode < 0x100)
        found = amd_decode_row(d, AMD_VOPC, opcode);
    else if (opcode < 0x140)
        found = amd_decode_row(d, AMD_VOP2, opcode - 0x100);
    else if (opcode >= vop1 && opcode < vop1 + 0x80)
        found = amd_decode_row(d, AMD_VOP1, opcode - vop1);
    d->out->format = AMD_VOP3;
    return found && has(d, AMD_ROW_E64);
}

/* v_interp_* in 64 bits: the first source field is an attribute. */
static bool vop3_attribute(amd_decoder *d)
{
    amd_inst *out = d->out;
    unsigned field = amd_bits(d->w1, 0, 9);
    out->simm = (int32_t)((field & 63) << 2 | (field >> 6 & 3));
    bool half = d->row->op != AMD_V_INTERP_P1_F32 && d->row->op != AMD_V_INTERP_P2_F32 &&
                d->row->op != AMD_V_INTERP_MOV_F32;
    if (half && field >> 8)
        out->op_sel = 1;
    if (d->row->op == AMD_V_INTERP_MOV_F32) {
        out->dmask = (uint8_t)amd_bits(d->w1, 9, 8);
        return !(field >> 8) && amd_bits(d->w1, 9, 9) < 3;
    }
    return half || !(field >> 8);
}

static bool vop3_sources(amd_decoder *d)
{
    for (unsigned i = 0; i < 3; i++) {
        unsigned code = amd_bits(d->w1, 9 * i, 9);
        if (has(d, AMD_ROW_ATTR) && (i == 0 || d->row->op == AMD_V_INTERP_MOV_F32)) {
            if (i == 0 ? !vop3_attribute(d) : i == 2 && code)
                return false;
        } else if (!d->row->src[i]) {
            if (code)
                return false;
        } else {
            if (code == AMD_LITERAL && !d->gfx10)
                return false;
            if (!source(d, i, code))
                return false;
        }
    }
    return true;
}

static bool vop3_destinations(amd_decoder *d)
{
    amd_inst *out = d->out;
    unsigned vdst = amd_bits(d->w0, 0, 8);
    if (d->row->format == AMD_VOPC) {
        if (d->gfx10 && is_cmpx(d)) {
            implied_sdst(d);
            return true;
        }
        return amd_decode_scalar(d, &out->sdst, vdst, AMD_SHAPE_MASK);
    }
    if (has(d, AMD_ROW_SDST)) {
        out->format = AMD_VOP3B;
        if (!amd_decode_scalar(d, &out->sdst, amd_bits(d->w0, 8, 7), AMD_SHAPE_MASK))
            return false;
    }
    if (d->row->dst == AMD_SHAPE_S32)
        return amd_decode_scalar(d, &out->vdst, vdst, AMD_SHAPE_S32);
    return !d->row->dst || amd_decode_vector(d, &out->vdst, vdst, d->row->dst);
}

bool amd_decode_vop3(amd_decoder *d)
{
    amd_inst *out = d->out;
    if (!vop3_row(d, amd_bits(d->w0, 16, 10)) || !vop3_destinations(d) || !vop3_sources(d))
        return false;
    unsigned allowed = modifiers(d);
    if (d->row->src[0] == AMD_SHAPE_PKF16) /* as in VOP2: each half is from its own half */
        out->op_sel_hi = 7;
    out->neg = (uint8_t)amd_bits(d->w1, 29, 3);
    out->omod = (uint8_t)amd_bits(d->w1, 27, 2);
    if (amd_bit(d->w0, 15))
        out->flags |= AMD_CLAMP;
    bool omod = has(d, AMD_ROW_OMOD) || (d->gfx9 && has(d, AMD_ROW_OPSEL) && is_float(d->row->dst));
    if (out->neg & ~allowed || (out->omod && !omod))
        return false;
    if (has(d, AMD_ROW_SDST))
        return has(d, AMD_ROW_CLAMP) || !(out->flags & AMD_CLAMP);
    out->abs = (uint8_t)amd_bits(d->w0, 8, 3);
    if (out->abs & ~allowed || ((out->flags & AMD_CLAMP) && !has(d, AMD_ROW_CLAMP)))
        return false;
    integer_modifiers(d);
    if (has(d, AMD_ROW_OPSEL)) {
        out->op_sel = (uint8_t)amd_bits(d->w0, 11, 4);
        bool byte = d->row->op == AMD_V_CVT_SR_FP8_F32 || d->row->op == AMD_V_CVT_SR_BF8_F32;
        return d->row->src[2] || byte || !(out->op_sel & 4);
    }
    return true;
}

bool amd_decode_vop3p(amd_decoder *d)
{
    amd_inst *out = d->out;
    if (amd_bits(d->w0, 23, 3) != (d->gfx9 ? 7u : 0u) || !amd_decode_row(d, AMD_VOP3P, amd_bits(d->w0, 16, 7)))
        return false;
    if (has(d, AMD_ROW_MAI))
        return amd_decode_matrix(d);
    if (!vop3_sources(d) || !amd_decode_vector(d, &out->vdst, amd_bits(d->w0, 0, 8), d->row->dst))
        return false;
    unsigned sources = d->row->src[2] ? 7 : 3;
    unsigned allowed =
        d->gfx9 ? sources : modifiers(d); /* LLVM 19 shows those of integers, which do nothing */
    out->neg = (uint8_t)amd_bits(d->w1, 29, 3);
    out->neg_hi = (uint8_t)amd_bits(d->w0, 8, 3);
    out->op_sel = (uint8_t)amd_bits(d->w0, 11, 3);
    out->op_sel_hi = (uint8_t)(amd_bits(d->w1, 27, 2) | amd_bits(d->w0, 14, 1) << 2);
    if (amd_bit(d->w0, 15))
        out->flags |= AMD_CLAMP;
    return !(out->neg & ~allowed) && !(out->neg_hi & ~allowed) && (d->row->src[2] || !(out->op_sel & 4));
}

/* --- matrices ------------------------------------------------------------------------------------------- */

/* A source: a register of either file by the bit beside it, or an inline constant where the shape allows. */
static bool matrix_source(amd_decoder *d, unsigned index, unsigned code, bool accumulation)
{
    amd_shape shape = d->row->src[index];
    if (!shape)
        return true;
    d->out->src_count = (uint8_t)(index + 1);
    if (code >= AMD_VGPR)
        return amd_decode_register(d, &d->out->src[index], code - AMD_VGPR, shape, accumulation);
    if (amd_shape_table[shape].vector_only || code == AMD_LITERAL)
        return false;
    if (shape == AMD_SHAPE_B32) /* v_accvgpr_write_b32 */
        return amd_decode_source(d, &d->out->src[index], code, shape);
    amd_decode_fixed(d, &d->out->src[index], code, (amd_kind)amd_shape_table[shape].kind,
                     amd_shape_table[shape].dwords);
    return (code >= AMD_INT_0 && code <= 208) || (code >= AMD_FLOAT && code <= 248);
}

bool amd_decode_matrix(amd_decoder *d)
{
    amd_inst *out = d->out;
    unsigned vdst = amd_bits(d->w0, 0, 8);
    bool accumulation = amd_bit(d->w0, 15), move = !d->row->src[1];
    if (move) { /* between the files: the operation says which */
        bool write = d->row->dst == AMD_SHAPE_A32;
        return !(d->w1 & 0xe7fffe00u) && !(d->w0 & 0x3f00u) &&
               amd_decode_register(d, &out->vdst, vdst, d->row->dst, write) &&
               matrix_source(d, 0, amd_bits(d->w1, 0, 9), !write);
    }
    bool index = has(d, AMD_ROW_ACC);
    if (!amd_decode_register(d, &out->vdst, vdst, d->row->dst, accumulation) ||
        !matrix_source(d, 0, amd_bits(d->w1, 0, 9), amd_bit(d->w1, 27)) ||
        !matrix_source(d, 1, amd_bits(d->w1, 9, 9), amd_bit(d->w1, 28)) ||
        !matrix_source(d, 2, amd_bits(d->w1, 18, 9), accumulation && !index))
        return false;
    if (index && amd_bits(d->w1, 29, 3))
        return false;
    out->dim = (uint8_t)amd_bits(d->w0, 8, 3);
    out->dmask = (uint8_t)amd_bits(d->w0, 11, 4);
    if (d->target == AMD_GFX942 && out->src[0].dwords == 2 && d->row->src[2] != AMD_SHAPE_C128 &&
        (d->row->op == AMD_V_MFMA_F64_16X16X4_F64 || d->row->op == AMD_V_MFMA_F64_4X4X4_4B_F64))
        out->neg = (uint8_t)amd_bits(d->w1, 29, 3);
    else
        out->simm = (int32_t)amd_bits(d->w1, 29, 3);
    return true;
}

/* --- VINTRP --------------------------------------------------------------------------------------------- */

bool amd_decode_vintrp(amd_decoder *d)
{
    amd_inst *out = d->out;
    if (!amd_decode_row(d, AMD_VINTRP, amd_bits(d->w0, 16, 2)) ||
        !amd_decode_vector(d, &out->vdst, amd_bits(d->w0, 18, 8), d->row->dst))
        return false;
    out->simm = (int32_t)(amd_bits(d->w0, 10, 6) << 2 | amd_bits(d->w0, 8, 2));
    if (d->row->src[0])
        return source(d, 0, AMD_VGPR + amd_bits(d->w0, 0, 8));
    out->dmask = (uint8_t)amd_bits(d->w0, 0, 8);
    return out->dmask < 3;
}

/* print_vop.c: vector instructions as text: suffix, modifiers of sources, SDWA and DPP. */
#include "isa/amd/print.h"

static void operand(amd_printer *p, const amd_operand *value)
{
    amd_print_next(p);
    amd_print_operand(p, value);
}

static bool is_constant(unsigned code)
{
    return (code >= AMD_INT_0 && code <= 208) || (code >= AMD_FLOAT && code <= 248) || code == AMD_LITERAL;
}

/* The constant of v_madmk and its like. Where the first source is the same constant, LLVM 15 shows it as a
 * number of 32 bits in v_madmk_f16, and as a half in v_madak_f16. */
static void print_constant(amd_printer *p, unsigned index)
{
    amd_operand first = p->inst->src[0];
    if (p->row->flags & AMD_ROW_K1 && !p->gfx9)
        first.kind = AMD_KIND_B32;
    if (index == 0)
        amd_print_operand(p, &first);
    else
        amd_putf(p, "0x%x", p->inst->literal);
}

/* A source with its modifiers. VOP3P prints modifiers after the operands. */
static void source(amd_printer *p, unsigned index)
{
    const amd_inst *inst = p->inst;
    const amd_operand *value = &inst->src[index];
    bool packed = inst->format == AMD_VOP3P && !(p->row->src[index] == AMD_SHAPE_F16);
    bool neg = !packed && inst->neg >> index & 1, sext = inst->sext >> index & 1;
    bool abs = !packed && (inst->format == AMD_VOP3P ? inst->neg_hi : inst->abs) >> index & 1;
    /* -1 is another number than neg(1). */
    bool word = neg && !abs && is_constant(value->code);
    amd_print_next(p);
    if (neg)
        amd_put(p, word ? "neg(" : "-");
    if (abs)
        amd_put(p, "|");
    if (sext)
        amd_put(p, "sext(");
    if (value->code == AMD_LITERAL && p->row->flags & (AMD_ROW_K1 | AMD_ROW_K2))
        print_constant(p, index);
    else
        amd_print_operand(p, value);
    if (sext)
        amd_put(p, ")");
    if (abs)
        amd_put(p, "|");
    if (word)
        amd_put(p, ")");
}

static void suffix(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    bool short_form = inst->format == AMD_VOP1 || inst->format == AMD_VOP2 || inst->format == AMD_VOPC;
    if (inst->form == AMD_SDWA) {
        /* LLVM 15 leaves it out for comparisons of gfx803. */
        if (p->target != AMD_GFX803 || inst->format != AMD_VOPC)
            amd_put(p, "_sdwa");
    } else if (inst->form != AMD_PLAIN) {
        amd_put(p, "_dpp");
    } else if (short_form) {
        if (p->row->flags & (AMD_ROW_E64 | AMD_ROW_DPP) || (p->gfx9 && inst->op == AMD_V_PK_FMAC_F16))
            amd_put(p, "_e32");
    } else if (inst->format == AMD_VINTRP) {
        amd_put(p, "_e32");
    } else if (p->row->format != AMD_VOP3 && p->row->format != AMD_VOP3P) {
        amd_put(p, "_e64");
    } else if (inst->op == AMD_V_INTERP_P1_F32 || inst->op == AMD_V_INTERP_P2_F32 ||
               inst->op == AMD_V_INTERP_MOV_F32) {
        amd_put(p, "_e64");
    }
}

static void clamp_and_omod(amd_printer *p)
{
    static const char *const omod[4] = { "", " mul:2", " mul:4", " div:2" };
    if (p->inst->flags & AMD_CLAMP)
        amd_put(p, " clamp");
    amd_put(p, omod[p->inst->omod & 3]);
}

/* name:[1,0,1], unless all are `silent`. */
static void bit_list(amd_printer *p, const char *name, unsigned bits, unsigned count, unsigned silent)
{
    unsigned mask = (1u << count) - 1;
    if ((bits & mask) == (silent & mask))
        return;
    amd_putf(p, " %s:[", name);
    for (unsigned i = 0; i < count; i++)
        amd_putf(p, "%s%u", i ? "," : "", bits >> i & 1);
    amd_put(p, "]");
}

static void sdwa(amd_printer *p)
{
    static const char *const select[8] = { "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                           "WORD_0", "WORD_1", "DWORD",  "?" };
    static const char *const unused[4] = { "UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "?" };
    const amd_inst *inst = p->inst;
    bool whole = inst->op == AMD_V_CVT_F32_BF8 || inst->op == AMD_V_CVT_F32_FP8 ||
                 inst->op == AMD_V_CVT_PK_F32_BF8 || inst->op == AMD_V_CVT_PK_F32_FP8;
    if (inst->format != AMD_VOPC && !whole)
        amd_putf(p, " dst_sel:%s dst_unused:%s", select[inst->sdwa.dst_sel & 7],
                 unused[inst->sdwa.dst_unused & 3]);
    amd_putf(p, " src0_sel:%s", select[inst->sdwa.src_sel[0] & 7]);
    if (inst->format != AMD_VOP1)
        amd_putf(p, " src1_sel:%s", select[inst->sdwa.src_sel[1] & 7]);
}

static void dpp(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    if (inst->form == AMD_DPP8) {
        amd_put(p, " dpp8:[");
        for (unsigned i = 0; i < 8; i++)
            amd_putf(p, "%s%u", i ? "," : "", inst->dpp8[i]);
        amd_put(p, "]");
    } else {
        if (amd_dpp_is_void(inst))
            amd_put(p, "  /* DP ALU dpp only supports row_newbcast */");
        else
            amd_print_dpp_control(p, inst->dpp.ctrl);
        amd_putf(p, " row_mask:0x%x bank_mask:0x%x", inst->dpp.row_mask, inst->dpp.bank_mask);
        if (inst->flags & AMD_BOUND_CTRL)
            amd_put(p, " bound_ctrl:1");
    }
    if (inst->flags & AMD_FI)
        amd_put(p, " fi:1");
}

static void attribute(amd_printer *p)
{
    amd_print_next(p);
    amd_putf(p, "attr%u.%c", (unsigned)p->inst->simm >> 2, "xyzw"[p->inst->simm & 3]);
}

static void parameter(amd_printer *p)
{
    static const char *const names[4] = { "p10", "p20", "p0", "?" };
    amd_print_next(p);
    amd_put(p, names[p->inst->dmask & 3]);
}

/* v_interp_*: the attribute stands between the sources. */
static void interpolation(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    operand(p, &inst->vdst);
    bool short_form = inst->format == AMD_VINTRP;
    if (inst->op == AMD_V_INTERP_MOV_F32)
        parameter(p);
    else
        source(p, short_form ? 0 : 1);
    attribute(p);
    if (!short_form && p->row->src[2])
        source(p, 2);
    if (!short_form && inst->op_sel)
        amd_put(p, " high");
    clamp_and_omod(p);
}

/* Matrix instructions: what is 0 is not shown. */
static void matrix(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    operand(p, &inst->vdst);
    for (unsigned i = 0; i < inst->src_count; i++)
        operand(p, &inst->src[i]);
    if (inst->dim)
        amd_putf(p, " cbsz:%u", inst->dim);
    if (inst->dmask)
        amd_putf(p, " abid:%u", inst->dmask);
    if (inst->simm)
        amd_putf(p, " blgp:%d", inst->simm);
    bit_list(p, "neg", inst->neg, 3, 0);
}

void amd_print_vop(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    suffix(p);
    if (inst->format == AMD_VOP3P && p->row->flags & AMD_ROW_MAI) {
        matrix(p);
        return;
    }
    if (inst->format == AMD_VINTRP || p->row->flags & AMD_ROW_ATTR) {
        interpolation(p);
        return;
    }
    bool hidden = p->gfx10 && p->row->format == AMD_VOPC && inst->sdst.code == AMD_EXEC_LO &&
                  inst->op >= AMD_V_CMPX_CLASS_F16 && inst->op <= AMD_V_CMPX_U_F64;
    if (inst->vdst.code != AMD_NO_OPERAND)
        operand(p, &inst->vdst);
    if (inst->sdst.code != AMD_NO_OPERAND && !hidden)
        operand(p, &inst->sdst);
    for (unsigned i = 0; i < inst->src_count; i++)
        source(p, i);
    if (inst->format == AMD_VOP3P) {
        unsigned count = inst->src_count;
        bool mixed = p->row->src[0] == AMD_SHAPE_F16;
        bit_list(p, "op_sel", inst->op_sel, count, 0);
        bit_list(p, "op_sel_hi", inst->op_sel_hi, count, mixed ? 0 : 7);
        if (!mixed) {
            bit_list(p, "neg_lo", inst->neg, count, 0);
            bit_list(p, "neg_hi", inst->neg_hi, count, 0);
        }
    } else if (inst->format == AMD_VOP3 && p->row->flags & AMD_ROW_OPSEL) {
        bool permlane = inst->op == AMD_V_PERMLANE16_B32 || inst->op == AMD_V_PERMLANEX16_B32;
        bool byte = inst->op == AMD_V_CVT_SR_FP8_F32 || inst->op == AMD_V_CVT_SR_BF8_F32;
        unsigned bits = inst->op_sel, count = byte ? 3 : inst->src_count;
        if (permlane) {
            count = 2;
        } else { /* the destination's bit comes last */
            bits = (bits & ((1u << count) - 1)) | (bits >> 3 & 1) << count;
            count++;
        }
        bit_list(p, "op_sel", bits, count, 0);
    }
    clamp_and_omod(p);
    if (inst->form == AMD_SDWA)
        sdwa(p);
    else if (inst->form != AMD_PLAIN)
        dpp(p);
}

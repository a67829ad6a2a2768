/* print.c: a record as the text that LLVM 15 prints: mnemonic, operands, and the scalar encodings. */
#include "isa/amd/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- text ----------------------------------------------------------------------------------------------- */

void amd_put(amd_printer *p, const char *text)
{
    for (; *text; text++, p->length++)
        if (p->length + 1 < p->capacity)
            p->out[p->length] = *text;
}

void amd_putf(amd_printer *p, const char *format, ...)
{
    char buffer[96];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    amd_put(p, buffer);
}

void amd_print_next(amd_printer *p)
{
    amd_put(p, p->has_operand ? ", " : " ");
    p->has_operand = true;
}

/* --- registers ------------------------------------------------------------------------------------------ */

/* Registers that lie elsewhere on other targets; NULL: it has only a number here. */
static const char *special_32(unsigned code, const amd_printer *p)
{
    switch (code) {
    case AMD_FLAT_SCRATCH_LO:
        return p->gfx10 ? NULL : "flat_scratch_lo";
    case AMD_FLAT_SCRATCH_HI:
        return p->gfx10 ? NULL : "flat_scratch_hi";
    case AMD_XNACK_MASK_LO:
        return p->gfx10 ? NULL : "xnack_mask_lo";
    case AMD_XNACK_MASK_HI:
        return p->gfx10 ? NULL : "xnack_mask_hi";
    case AMD_VCC_LO:
        return "vcc_lo";
    case AMD_VCC_HI:
        return "vcc_hi";
    case AMD_TTMP:
        return p->target != AMD_GFX803 ? NULL : "tba_lo";
    case AMD_TTMP + 1:
        return p->target != AMD_GFX803 ? NULL : "tba_hi";
    case AMD_TTMP + 2:
        return p->target != AMD_GFX803 ? NULL : "tma_lo";
    case AMD_TTMP + 3:
        return p->target != AMD_GFX803 ? NULL : "tma_hi";
    case AMD_M0:
        return "m0";
    case AMD_NULL:
        return "null";
    case AMD_EXEC_LO:
        return "exec_lo";
    case AMD_EXEC_HI:
        return "exec_hi";
    case AMD_SHARED_BASE:
        return "src_shared_base";
    case AMD_SHARED_LIMIT:
        return "src_shared_limit";
    case AMD_PRIVATE_BASE:
        return "src_private_base";
    case AMD_PRIVATE_LIMIT:
        return "src_private_limit";
    case AMD_POPS_WAVE_ID:
        return "src_pops_exiting_wave_id";
    case AMD_VCCZ:
        return "src_vccz";
    case AMD_EXECZ:
        return "src_execz";
    case AMD_SCC:
        return "src_scc";
    case AMD_LDS_DIRECT:
        return "src_lds_direct";
    default:
        return NULL;
    }
}

static const char *special_64(unsigned code, const amd_printer *p)
{
    switch (code) {
    case AMD_FLAT_SCRATCH_LO:
        return p->gfx10 ? NULL : "flat_scratch";
    case AMD_XNACK_MASK_LO:
        return p->gfx10 ? NULL : "xnack_mask";
    case AMD_VCC_LO:
        return "vcc";
    case AMD_TTMP:
        return p->target != AMD_GFX803 ? NULL : "tba";
    case AMD_TTMP + 2:
        return p->target != AMD_GFX803 ? NULL : "tma";
    case AMD_EXEC_LO:
        return "exec";
    default:
        return code == AMD_NULL || code > 127 ? special_32(code, p) : NULL;
    }
}

void amd_print_register(amd_printer *p, unsigned code, unsigned dwords)
{
    /* Wider scalars never begin at a special register, but may run over one: s[100:103] on gfx803. */
    const char *name = dwords == 1 ? special_32(code, p) : dwords == 2 ? special_64(code, p) : NULL;
    if (name && code < AMD_VGPR) {
        amd_put(p, name);
        return;
    }
    const char *file = "s";
    unsigned first = code, first_ttmp = p->target == AMD_GFX803 ? AMD_TTMP + 4 : AMD_TTMP;
    if (code >= AMD_AGPR) {
        file = "a";
        first = code - AMD_AGPR;
    } else if (code >= AMD_VGPR) {
        file = "v";
        first = code - AMD_VGPR;
    } else if (code >= first_ttmp) {
        file = "ttmp";
        first = code - first_ttmp;
    }
    if (dwords == 1)
        amd_putf(p, "%s%u", file, first);
    else
        amd_putf(p, "%s[%u:%u]", file, first, first + dwords - 1);
}

/* --- constants ------------------------------------------------------------------------------------------ */

typedef struct float_constant {
    uint32_t bits_32;
    uint16_t bits_16;
    const char *text;
} float_constant;

/* In the order of their codes, from AMD_FLOAT. */
static const float_constant float_constants[9] = {
    { 0x3f000000, 0x3800, "0.5" },  { 0xbf000000, 0xb800, "-0.5" }, { 0x3f800000, 0x3c00, "1.0" },
    { 0xbf800000, 0xbc00, "-1.0" }, { 0x40000000, 0x4000, "2.0" },  { 0xc0000000, 0xc000, "-2.0" },
    { 0x40800000, 0x4400, "4.0" },  { 0xc0800000, 0xc400, "-4.0" }, { 0x3e22f983, 0x3118, "0.15915494" },
};

void amd_print_immediate(amd_printer *p, int32_t value)
{
    if (value >= -16 && value <= 64)
        amd_putf(p, "%d", value);
    else
        amd_putf(p, "0x%x", (unsigned)value);
}

static void print_32(amd_printer *p, uint32_t value)
{
    for (unsigned i = 0; i < 9; i++)
        if (float_constants[i].bits_32 == value) {
            amd_put(p, float_constants[i].text);
            return;
        }
    amd_print_immediate(p, (int32_t)value);
}

/* Whether 32 bits have a short form: a small integer, or one of the floats. */
static bool is_inline_32(uint32_t value)
{
    bool found = (int32_t)value >= -16 && (int32_t)value <= 64;
    for (unsigned i = 0; i < 9; i++)
        found |= float_constants[i].bits_32 == value;
    return found;
}

static void print_16(amd_printer *p, uint16_t value, bool is_float)
{
    for (unsigned i = 0; i < 9 && is_float; i++)
        if (float_constants[i].bits_16 == value) {
            amd_put(p, float_constants[i].text);
            return;
        }
    if ((int16_t)value >= -16 && (int16_t)value <= 64)
        amd_putf(p, "%d", (int16_t)value);
    else
        amd_putf(p, "0x%x", value);
}

static void print_literal(amd_printer *p, uint32_t value, amd_kind kind)
{
    bool is_float = kind == AMD_KIND_F16 || kind == AMD_KIND_PKF16;
    switch (kind) {
    case AMD_KIND_B16:
    case AMD_KIND_F16:
        if (p->gfx9 && !is_float) /* LLVM 19: a constant of 32 bits, or a half */
            print_32(p, is_inline_32(value) ? value : value & 0xffff);
        else
            print_16(p, (uint16_t)value, is_float);
        break;
    case AMD_KIND_PK16:
    case AMD_KIND_PKF16:
        if (value > 0xffff)
            print_32(p, value);
        else
            print_16(p, (uint16_t)value, is_float);
        break;
    case AMD_KIND_B64:
    case AMD_KIND_F64:
        if (value <= 64 && !(p->gfx9 && kind == AMD_KIND_F64 && value))
            amd_putf(p, "%u", value);
        else
            amd_putf(p, "0x%x", value);
        break;
    default:
        print_32(p, value);
        break;
    }
}

void amd_print_operand(amd_printer *p, const amd_operand *operand)
{
    unsigned code = operand->code;
    amd_kind kind = (amd_kind)operand->kind;
    if (code == AMD_LITERAL)
        print_literal(p, p->inst->literal, kind);
    else if (code >= AMD_INT_0 && code < AMD_INT_MINUS)
        amd_putf(p, "%u", code - AMD_INT_0);
    else if (code >= AMD_INT_MINUS && code <= 208)
        amd_putf(p, "-%u", code - AMD_INT_MINUS + 1);
    else if (code >= AMD_FLOAT && code <= AMD_FLOAT + 8 &&
             (kind == AMD_KIND_B16 || (kind == AMD_KIND_PK16 && !p->gfx9)))
        amd_putf(p, "0x%x", float_constants[code - AMD_FLOAT].bits_16);
    else if (code == AMD_FLOAT + 8 && (kind == AMD_KIND_B64 || kind == AMD_KIND_F64))
        amd_put(p, "0.15915494309189532");
    else if (code >= AMD_FLOAT && code <= AMD_FLOAT + 8)
        amd_put(p, float_constants[code - AMD_FLOAT].text);
    else
        amd_print_register(p, code, operand->dwords);
}

/* --- scalar encodings ----------------------------------------------------------------------------------- */

static void operand(amd_printer *p, const amd_operand *value)
{
    if (value->code == AMD_NO_OPERAND)
        return;
    amd_print_next(p);
    amd_print_operand(p, value);
}

static void print_simm(amd_printer *p)
{
    unsigned flags = p->row->flags, value = (uint16_t)p->inst->simm;
    if (flags & AMD_ROW_NONE || (flags & AMD_ROW_ENDPGM && value == 0))
        return;
    amd_print_next(p);
    if (flags & AMD_ROW_HWREG)
        amd_print_hwreg(p, value);
    else if (flags & AMD_ROW_WAITCNT)
        amd_print_waitcnt(p, value);
    else if (flags & AMD_ROW_MSG)
        amd_print_message(p, value);
    else if (flags & AMD_ROW_DEPCTR)
        amd_print_depctr(p, value);
    else if (flags & AMD_ROW_GPRIDX)
        amd_print_gpr_index(p, value);
    else if (flags & AMD_ROW_IMM)
        amd_putf(p, "0x%x", value);
    else if (flags & AMD_ROW_IMM10)
        amd_print_immediate(p, (int32_t)value);
    else
        amd_putf(p, "%u", value);
}

static void print_scalar(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    bool setreg = inst->op == AMD_S_SETREG_B32 || inst->op == AMD_S_SETREG_IMM32_B32;
    if (setreg)
        print_simm(p);
    operand(p, &inst->sdst);
    operand(p, &inst->src[0]);
    operand(p, &inst->src[1]);
    if (inst->format == AMD_SOPC && p->row->flags & AMD_ROW_IDX) {
        amd_print_next(p);
        amd_print_gpr_index(p, (unsigned)inst->simm);
    }
    if (!setreg && (inst->format == AMD_SOPK || inst->format == AMD_SOPP))
        print_simm(p);
}

/* --- all ------------------------------------------------------------------------------------------------ */

/* The row that the record came from: the first of its operation and encoding that the target has. */
static const amd_row *find_row(amd_target target, const amd_inst *inst)
{
    static const uint8_t vop3[] = { AMD_VOP3, AMD_VOP2, AMD_VOP1, AMD_VOPC };
    if (inst->format != AMD_VOP3 && inst->format != AMD_VOP3B)
        return amd_table_find_op(target, (amd_format)inst->format, (amd_op)inst->op);
    for (unsigned i = 0; i < sizeof vop3; i++) {
        const amd_row *row = amd_table_find_op(target, (amd_format)vop3[i], (amd_op)inst->op);
        if (row)
            return row;
    }
    return NULL;
}

size_t amd_print(amd_target target, unsigned lanes, const amd_inst *inst, char *out, size_t capacity)
{
    amd_printer p = { .out = out, .capacity = capacity, .target = target, .lanes = lanes, .inst = inst };
    p.gfx10 = amd_target_is_gfx10(target);
    p.gfx9 = amd_target_is_gfx9(target);
    p.row = inst->op == AMD_OP_INVALID || inst->op >= AMD_OP_COUNT ? NULL : find_row(target, inst);
    if (!p.row) {
        amd_put(&p, "<unknown>");
    } else {
        amd_put(&p, amd_print_name(&p));
        switch (inst->format) {
        case AMD_SOP1:
        case AMD_SOP2:
        case AMD_SOPC:
        case AMD_SOPK:
        case AMD_SOPP:
            print_scalar(&p);
            break;
        case AMD_VOP1:
        case AMD_VOP2:
        case AMD_VOPC:
        case AMD_VOP3:
        case AMD_VOP3B:
        case AMD_VOP3P:
        case AMD_VINTRP:
            amd_print_vop(&p);
            break;
        case AMD_MIMG:
            amd_print_image(&p);
            break;
        default:
            amd_print_memory(&p);
            break;
        }
    }
    if (capacity > 0)
        out[p.length < capacity ? p.length : capacity - 1] = '\0';
    return p.length;
}

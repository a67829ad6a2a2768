/* strict_scalar.c: the scalar unit on shadows. Which operations read and write SCC is read from salu.def itself. */
#include "isa/amd/exec/salu.h"
#include "runtime/strict/strict_impl.h"

#include <string.h>

/* The statement of each operation, as salu.def has it. */
#define S1(op, TD, T0, ...) [AMD_##op] = { #__VA_ARGS__, false },
#define SD(op, TD, T0, ...) [AMD_##op] = { #__VA_ARGS__, true },
#define S2(op, TD, T0, T1, ...) [AMD_##op] = { #__VA_ARGS__, false },
#define SN(op, T0, T1, ...) [AMD_##op] = { #__VA_ARGS__, false },
#define SK(op, ...) [AMD_##op] = { #__VA_ARGS__, AMD_##op != AMD_S_MOVK_I32 },
#define SC(op, condition) [AMD_##op] = { "SCC = ", true },
#define SX(op, ...) [AMD_##op] = { "", false },
#define EXEC64(op, x) [AMD_##op] = { "SCC = ", false },
#define EXEC32(op, x) [AMD_##op] = { "SCC = ", false },
#define WREXEC64(op, x) [AMD_##op] = { "SCC = ", false },
#define WREXEC32(op, x) [AMD_##op] = { "SCC = ", false },
static const struct {
    const char *text;
    bool reads_dst;
} statements[AMD_OP_COUNT] = {
#include "isa/amd/exec/salu.def"
};

static bool writes_scc(const amd_inst *inst)
{
    const char *text = statements[inst->op].text;
    return text && strstr(text, "SCC = ") != NULL;
}

/* Before it may have written it. */
static bool reads_scc(const amd_inst *inst)
{
    const char *text = statements[inst->op].text, *first = text ? strstr(text, "SCC") : NULL;
    return first && strncmp(first, "SCC = ", 6) != 0;
}

uint32_t strict_scalar_origin(const strict *s, unsigned code, unsigned dwords)
{
    if (code == AMD_SCC)
        return s->shadow->scc_origin;
    for (unsigned i = code; i < code + dwords && i < AMD_INT_0; i++)
        if (strict_has_shadow(i) && s->shadow->sgpr[i] != 0)
            return s->shadow->sgpr_origin[i];
    return 0;
}

bool strict_write_scalar(strict *s, unsigned code, unsigned dwords, uint64_t shadow, uint32_t origin)
{
    if (code == AMD_NULL)
        return true;
    for (unsigned i = 0; i < dwords && code + i < AMD_INT_0; i++) {
        uint32_t word = (uint32_t)(shadow >> 32 * i);
        if (code + i == AMD_EXEC_LO || code + i == AMD_EXEC_HI) {
            if (word != 0 && (code + i == AMD_EXEC_LO || s->wave->lanes == 64))
                return strict_undefined(s, "EXEC",
                                        s->inst->src[0].code < AMD_VGPR ? s->inst->src[0].code : AMD_VCC_LO,
                                        -1, origin);
            continue;
        }
        if (!strict_has_shadow(code + i))
            continue;
        s->shadow->sgpr[code + i] = word;
        s->shadow->sgpr_origin[code + i] = origin;
    }
    return true;
}

/* --- single operations ---------------------------------------------------------------------------------- */

typedef struct operand {
    uint64_t shadow, value;
} operand;

static uint64_t and_(operand a, operand b)
{
    return (a.shadow | b.shadow) & (a.shadow | a.value) & (b.shadow | b.value);
}

static uint64_t or_(operand a, operand b)
{
    return (a.shadow | b.shadow) & (a.shadow | ~a.value) & (b.shadow | ~b.value);
}

static operand not_(operand a)
{
    return (operand){ a.shadow, ~a.value };
}

/* Carries go upwards only. */
static uint64_t upwards(uint64_t shadow)
{
    return shadow | (0 - shadow);
}

static uint64_t field_of(uint64_t shadow, uint64_t control, unsigned bits, bool sign)
{
    unsigned offset = (unsigned)control & (bits - 1), width = (unsigned)(control >> 16) & 0x7f;
    if (width == 0)
        return 0;
    shadow = shadow >> offset;
    if (width >= 64)
        return shadow;
    uint64_t mask = (UINT64_C(1) << width) - 1, top = shadow >> (width - 1) & 1;
    return (shadow & mask) | (sign && top ? ~mask : 0);
}

/* The shadow of the result of two operands. */
static uint64_t result_of(const strict *s, operand a, operand b)
{
    uint64_t any = (a.shadow | b.shadow) != 0 ? UINT64_MAX : 0;
    unsigned bits = s->inst->sdst.dwords == 2 ? 64 : 32, amount = (unsigned)b.value & (bits - 1);
    switch (s->inst->op) {
    case AMD_S_MOV_B32:
    case AMD_S_MOV_B64:
    case AMD_S_NOT_B32:
    case AMD_S_NOT_B64:
        return a.shadow;
    case AMD_S_AND_B32:
    case AMD_S_AND_B64:
        return and_(a, b);
    case AMD_S_ANDN2_B32:
    case AMD_S_ANDN2_B64:
        return and_(a, not_(b));
    case AMD_S_NAND_B32:
    case AMD_S_NAND_B64:
        return and_(a, b);
    case AMD_S_OR_B32:
    case AMD_S_OR_B64:
    case AMD_S_NOR_B32:
    case AMD_S_NOR_B64:
        return or_(a, b);
    case AMD_S_ORN2_B32:
    case AMD_S_ORN2_B64:
        return or_(a, not_(b));
    case AMD_S_XOR_B32:
    case AMD_S_XOR_B64:
    case AMD_S_XNOR_B32:
    case AMD_S_XNOR_B64:
        return a.shadow | b.shadow;
    case AMD_S_LSHL_B32:
    case AMD_S_LSHL_B64:
        return b.shadow ? any : a.shadow << amount;
    case AMD_S_LSHR_B32:
    case AMD_S_LSHR_B64:
        return b.shadow ? any : a.shadow >> amount;
    case AMD_S_ASHR_I32:
        return b.shadow ? any : (uint64_t)(uint32_t)((int32_t)(uint32_t)a.shadow >> amount);
    case AMD_S_ASHR_I64:
        return b.shadow ? any : (uint64_t)((int64_t)a.shadow >> amount);
    case AMD_S_BFE_U32:
        return b.shadow ? any : field_of((uint32_t)a.shadow, b.value, 32, false);
    case AMD_S_BFE_I32:
        return b.shadow ? any : field_of((uint32_t)a.shadow, b.value, 32, true);
    case AMD_S_BFE_U64:
        return b.shadow ? any : field_of(a.shadow, b.value, 64, false);
    case AMD_S_BFE_I64:
        return b.shadow ? any : field_of(a.shadow, b.value, 64, true);
    case AMD_S_ADD_U32:
    case AMD_S_ADD_I32:
    case AMD_S_SUB_U32:
    case AMD_S_SUB_I32:
    case AMD_S_MUL_I32:
    case AMD_S_ADDK_I32:
    case AMD_S_MULK_I32:
        return upwards(a.shadow | b.shadow);
    case AMD_S_CSELECT_B32:
    case AMD_S_CSELECT_B64:
        if (s->shadow->scc)
            return a.shadow | b.shadow | (a.value ^ b.value);
        return s->wave->scc ? a.shadow : b.shadow;
    case AMD_S_PACK_LL_B32_B16:
        return (a.shadow & 0xffff) | b.shadow << 16;
    case AMD_S_PACK_LH_B32_B16:
        return (a.shadow & 0xffff) | (b.shadow & 0xffff0000u);
    case AMD_S_PACK_HH_B32_B16:
        return (a.shadow >> 16 & 0xffff) | (b.shadow & 0xffff0000u);
    case AMD_S_SEXT_I32_I8:
        return (uint64_t)(int64_t)(int8_t)a.shadow;
    case AMD_S_SEXT_I32_I16:
        return (uint64_t)(int64_t)(int16_t)a.shadow;
    default:
        return any | (reads_scc(s->inst) && s->shadow->scc ? UINT64_MAX : 0);
    }
}

static bool is_compare(const amd_inst *inst)
{
    return inst->format == AMD_SOPC ||
           (inst->format == AMD_SOPK && writes_scc(inst) && inst->op != AMD_S_ADDK_I32);
}

/* Carries and overflows depend on all bits; for the rest SCC says whether the result is 0. */
static bool scc_is_carry(const amd_inst *inst)
{
    switch (inst->op) {
    case AMD_S_ADD_U32:
    case AMD_S_ADD_I32:
    case AMD_S_SUB_U32:
    case AMD_S_SUB_I32:
    case AMD_S_ADDC_U32:
    case AMD_S_SUBB_U32:
    case AMD_S_ADDK_I32:
    case AMD_S_MIN_I32:
    case AMD_S_MIN_U32:
    case AMD_S_MAX_I32:
    case AMD_S_MAX_U32:
        return true;
    default:
        return is_compare(inst);
    }
}

static bool salu_saveexec(strict *s, operand a)
{
    operand exec = { 0, amd_wave_exec(s->wave) };
    uint64_t shadow;
    uint32_t origin = strict_scalar_origin(s, s->inst->src[0].code, s->inst->src[0].dwords);
    const char *name = amd_op_name((amd_op)s->inst->op);
    bool first_not = strstr(name, "n1_") != NULL, second_not = strstr(name, "n2_") != NULL;
    if (first_not)
        a = not_(a);
    if (second_not)
        exec = not_(exec);
    if (strstr(name, "xor") || strstr(name, "xnor"))
        shadow = a.shadow;
    else if (strstr(name, "or"))
        shadow = or_(a, exec);
    else
        shadow = and_(a, exec);
    if (s->wave->lanes == 32)
        shadow &= UINT32_MAX;
    if (shadow != 0)
        return strict_undefined(s, "EXEC", s->inst->src[0].code, -1, origin);
    s->shadow->scc = 0;
    return strict_write_scalar(s, s->inst->sdst.code, s->inst->sdst.dwords, 0, 0);
}

/* --- branches and state --------------------------------------------------------------------------------- */

static bool salu_branch_vcc(strict *s)
{
    uint64_t shadow = strict_scalar(s, AMD_VCC_LO, s->wave->lanes / 32), value;
    memcpy(&value, &s->wave->sgpr[AMD_VCC_LO], sizeof value);
    if (s->wave->lanes == 32)
        value &= UINT32_MAX;
    if (shadow == 0 || (value & ~shadow) != 0)
        return true; /* a bit that is known to be set decides */
    return strict_need_scalars(s, "the branch", AMD_VCC_LO, s->wave->lanes / 32);
}

/* Registers with an index: the body itself, on shadows. */
static bool salu_relative(strict *s)
{
    if (!strict_need_scalars(s, "the register's number", AMD_M0, 1))
        return false;
    amd_wave copy = *s->wave;
    memcpy(copy.sgpr, s->shadow->sgpr, sizeof copy.sgpr);
    copy.sgpr[AMD_M0] = s->wave->sgpr[AMD_M0];
    copy.sgpr[AMD_EXEC_LO] = copy.sgpr[AMD_EXEC_HI] = copy.sgpr[AMD_NULL] = 0;
    amd_inst inst = *s->inst;
    if (inst.src[0].code >= AMD_INT_0)
        inst.src[0].code = AMD_INT_0; /* a constant is defined */
    s->launch.program->ops[s->op].body(&copy, &inst);
    amd_wave_rest(&copy);
    memcpy(s->shadow->sgpr, copy.sgpr, AMD_VCC_LO * sizeof copy.sgpr[0]);
    return true;
}

static bool salu_special(strict *s, bool *done)
{
    const amd_inst *inst = s->inst;
    *done = true;
    switch (inst->op) {
    case AMD_S_SETPC_B64:
    case AMD_S_SWAPPC_B64:
    case AMD_S_RFE_B64:
        if (!strict_need_scalars(s, "the jump", inst->src[0].code, 2))
            return false;
        return inst->op != AMD_S_SWAPPC_B64 || strict_write_scalar(s, inst->sdst.code, 2, 0, 0);
    case AMD_S_GETPC_B64:
    case AMD_S_CALL_B64:
        return strict_write_scalar(s, inst->sdst.code, 2, 0, 0);
    case AMD_S_GETREG_B32:
        return strict_write_scalar(s, inst->sdst.code, 1, 0, 0);
    case AMD_S_MOVRELS_B32:
    case AMD_S_MOVRELS_B64:
    case AMD_S_MOVRELD_B32:
    case AMD_S_MOVRELD_B64:
    case AMD_S_MOVRELSD_2_B32:
        return salu_relative(s);
    case AMD_S_CBRANCH_SCC0:
    case AMD_S_CBRANCH_SCC1:
        return !s->shadow->scc || strict_undefined(s, "the branch", AMD_SCC, -1, s->shadow->scc_origin);
    case AMD_S_CBRANCH_VCCZ:
    case AMD_S_CBRANCH_VCCNZ:
        return salu_branch_vcc(s);
    case AMD_S_SET_GPR_IDX_ON:
    case AMD_S_SET_GPR_IDX_IDX:
        if (!strict_need_scalars(s, "the register's number", inst->src[0].code, 1))
            return false;
        s->shadow->sgpr[AMD_M0] = 0;
        return true;
    case AMD_S_SET_GPR_IDX_MODE:
        return strict_need_scalars(s, "the register's number", AMD_M0, 1);
    case AMD_S_CMOV_B32:
    case AMD_S_CMOV_B64:
    case AMD_S_CMOVK_I32: {
        unsigned dwords = inst->sdst.dwords;
        uint64_t new_ = inst->op == AMD_S_CMOVK_I32 ? 0 : strict_scalar(s, inst->src[0].code, dwords);
        if (s->shadow->scc)
            return strict_write_scalar(s, inst->sdst.code, dwords, UINT64_MAX, s->shadow->scc_origin);
        if (!s->wave->scc)
            return true;
        return strict_write_scalar(s, inst->sdst.code, dwords, new_,
                                   strict_scalar_origin(s, inst->src[0].code, dwords));
    }
    default:
        *done = false;
        return true;
    }
}

bool strict_salu(strict *s)
{
    const amd_inst *inst = s->inst;
    bool done;
    if (!salu_special(s, &done))
        return false;
    if (done || inst->format == AMD_SOPP || !statements[inst->op].text)
        return true;
    const char *name = amd_op_name((amd_op)inst->op);
    operand in[2] = { { 0, 0 }, { 0, 0 } };
    uint32_t origin = 0;
    for (unsigned k = 0; k < 2; k++) {
        const amd_operand *from = &inst->src[k];
        if (from->code == AMD_NO_OPERAND || from->dwords == 0)
            continue;
        in[k].shadow = strict_scalar(s, from->code, from->dwords);
        in[k].value = from->dwords == 2 ? salu_read64(s->wave, inst, from->code)
                                        : salu_read32(s->wave, inst, from->code);
        if (in[k].shadow != 0 && origin == 0)
            origin = strict_scalar_origin(s, from->code, from->dwords);
    }
    if (strstr(name, "saveexec") || strstr(name, "wrexec"))
        return salu_saveexec(s, in[0]);
    if (statements[inst->op].reads_dst && inst->sdst.code < AMD_INT_0) {
        uint64_t old = strict_scalar(s, inst->sdst.code, inst->sdst.dwords);
        if (old != 0 && origin == 0)
            origin = strict_scalar_origin(s, inst->sdst.code, inst->sdst.dwords);
        in[0].shadow |= old;
    }
    if (origin == 0 && reads_scc(inst) && s->shadow->scc)
        origin = s->shadow->scc_origin;
    uint64_t all = in[0].shadow | in[1].shadow | (reads_scc(inst) ? s->shadow->scc : 0);
    bool compares = is_compare(inst);
    uint64_t shadow = compares ? 0 : result_of(s, in[0], in[1]);
    if (inst->sdst.dwords < 2)
        shadow &= UINT32_MAX;
    if (writes_scc(inst)) {
        s->shadow->scc = all != 0;
        s->shadow->scc_origin = origin;
        if (all != 0 && !scc_is_carry(inst)) {
            amd_wave copy = *s->wave;
            s->launch.program->ops[s->op].body(&copy, inst);
            amd_wave_rest(&copy);
            uint64_t value = salu_read64(&copy, inst, inst->sdst.code);
            if (inst->sdst.dwords < 2)
                value &= UINT32_MAX;
            s->shadow->scc = shadow != 0 && (value & ~shadow) == 0;
        }
    }
    if (compares || inst->sdst.code == AMD_NO_OPERAND || inst->sdst.dwords == 0 ||
        inst->op == AMD_S_SETREG_B32 || inst->op == AMD_S_SETREG_IMM32_B32)
        return true;
    return strict_write_scalar(s, inst->sdst.code, inst->sdst.dwords, shadow, origin);
}

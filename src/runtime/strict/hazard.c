/* hazard.c: the rules of LLVM 19's hazard recognizer for gfx90a and gfx942, except those of matrix instructions
 * (hazard_matrix.c). Wait states are counted as LLVM counts them: each instruction between the two is one, s_nop N
 * is N + 1. Calls and returns take longer than any rule and clear the past. */
#include "runtime/strict/hazard_impl.h"

#include "isa/amd/tables.h"

#include <string.h>

/* --- instructions and registers -------------------------------------------------------------------------- */

bool hazard_is_valu(const amd_inst *inst)
{
    return inst->format >= AMD_VOP1 && inst->format <= AMD_VOP3P;
}

bool hazard_is_memory(const amd_inst *inst)
{
    return inst->format == AMD_MUBUF || inst->format == AMD_MTBUF || inst->format == AMD_MIMG ||
           inst->format == AMD_FLAT || inst->format == AMD_GLOBAL || inst->format == AMD_SCRATCH;
}

static bool is_salu(const amd_inst *inst)
{
    return inst->format <= AMD_SOPP;
}

static bool is_trans(const amd_inst *inst)
{
    return inst->class_ == AMD_CLASS_TRANS || inst->op == AMD_V_RCP_F64 || inst->op == AMD_V_RSQ_F64 ||
           inst->op == AMD_V_SQRT_F64;
}

/* v_cmpx_* writes EXEC as well as its mask. */
static bool is_cmpx(const amd_inst *inst)
{
    return hazard_is_valu(inst) && inst->sdst.dwords != 0 && inst->vdst.dwords == 0 &&
           strncmp(amd_op_name((amd_op)inst->op), "v_cmpx", 6) == 0;
}

bool hazard_overlaps(const amd_operand *operand, unsigned code, unsigned dwords)
{
    return operand->dwords != 0 && operand->code != AMD_NO_OPERAND && operand->code < code + dwords &&
           code < operand->code + operand->dwords;
}

bool hazard_writes(const amd_inst *inst, unsigned code, unsigned dwords)
{
    if (hazard_overlaps(&inst->vdst, code, dwords))
        return true;
    if (inst->format != AMD_SMEM && hazard_overlaps(&inst->sdst, code, dwords))
        return true;
    return code <= AMD_EXEC_HI && code + dwords > AMD_EXEC_LO && is_cmpx(inst);
}

/* The destination is a source as well: v_fmac_f32 and others. */
static bool reads_destination(amd_target target, const amd_inst *inst)
{
    static const amd_format formats[] = { AMD_VOP2, AMD_VOP3, AMD_VOP3P };
    for (size_t i = 0; i < LS_COUNT_OF(formats); i++) {
        const amd_row *row = amd_table_find_op(target, formats[i], (amd_op)inst->op);
        if (row)
            return (row->flags & AMD_ROW_ACC) != 0;
    }
    return false;
}

static bool is_register(const amd_operand *operand)
{
    return operand->dwords != 0 && (operand->code < AMD_INT_0 || operand->code >= AMD_VGPR) &&
           operand->code != AMD_NO_OPERAND;
}

unsigned hazard_uses(amd_target target, const amd_inst *inst, const amd_operand *uses[HAZARD_USES])
{
    unsigned count = 0;
    for (unsigned i = 0; i < 4; i++)
        if (is_register(&inst->src[i]))
            uses[count++] = &inst->src[i];
    if (hazard_is_valu(inst) && is_register(&inst->vdst) && reads_destination(target, inst))
        uses[count++] = &inst->vdst;
    return count;
}

/* --- the past -------------------------------------------------------------------------------------------- */

const hazard_past *hazard_back(const hazard_wave *wave, unsigned steps, unsigned limit, unsigned *have)
{
    if (steps >= HAZARD_PAST || steps >= wave->count)
        return NULL;
    const hazard_past *past = &wave->past[(wave->count - 1 - steps) % HAZARD_PAST];
    *have = wave->now - past->at - 1;
    return *have < limit ? past : NULL;
}

bool hazard_found(hazard_finding *out, const hazard_past *after, unsigned need, unsigned have, unsigned code,
                  const char *rule)
{
    *out = (hazard_finding){ .after = after, .need = need, .have = have, .code = code, .rule = rule };
    return false;
}

/* Whether a writer of the register is nearer than `need` wait states. */
typedef bool (*is_writer)(const amd_inst *inst);

static bool any_writer(const amd_inst *inst)
{
    (void)inst;
    return true;
}

static bool apart(const hazard_wave *wave, const amd_operand *use, is_writer writer, unsigned need,
                  const char *rule, hazard_finding *out)
{
    const hazard_past *past;
    unsigned have;
    for (unsigned i = 0; (past = hazard_back(wave, i, need, &have)); i++)
        if (writer(past->inst) && hazard_writes(past->inst, use->code, use->dwords))
            return hazard_found(out, past, need, have, use->code, rule);
    return true;
}

/* --- rules ----------------------------------------------------------------------------------------------- */

static const amd_operand exec = { .code = AMD_EXEC_LO, .dwords = 2 };
static const amd_operand vcc = { .code = AMD_VCC_LO, .dwords = 2 };
static const amd_operand m0 = { .code = AMD_M0, .dwords = 1 };

static bool check_memory(const hazard_wave *wave, const amd_operand *const *uses, unsigned count,
                         hazard_finding *out)
{
    for (unsigned i = 0; i < count; i++)
        if (uses[i]->code < AMD_INT_0 &&
            !apart(wave, uses[i], hazard_is_valu, 5,
                   "a VALU instruction writes it and a memory instruction reads it", out))
            return false;
    return true;
}

static bool is_partial(const amd_inst *inst)
{
    if (!hazard_is_valu(inst) || inst->vdst.dwords == 0)
        return false;
    return inst->form == AMD_SDWA ? inst->sdwa.dst_sel != 6 : (inst->op_sel & 8) != 0;
}

/* gfx942: what the pipeline does not forward to the next instruction. */
static bool check_forwarding(const hazard_wave *wave, const amd_inst *inst, const amd_operand *const *uses,
                             unsigned count, hazard_finding *out)
{
    for (unsigned i = 0; i < count; i++) {
        if (uses[i]->code < AMD_INT_0) {
            if (!apart(wave, uses[i], hazard_is_valu, 2,
                       "a VALU instruction writes it and another one reads it as a scalar", out))
                return false;
            continue;
        }
        if (!is_trans(inst) &&
            !apart(wave, uses[i], is_trans, 1,
                   "a transcendental instruction writes it and another VALU one reads it", out))
            return false;
        if (!apart(wave, uses[i], is_partial, 1,
                   "a VALU instruction writes a part of it and another one reads it", out))
            return false;
    }
    bool read = inst->op == AMD_V_READLANE_B32 || inst->op == AMD_V_READFIRSTLANE_B32;
    if (read && is_register(&inst->src[0]) &&
        !apart(wave, &inst->src[0], hazard_is_valu, 1, "a VALU instruction writes it and a lane of it is read",
               out))
        return false;
    return !(read || inst->op == AMD_V_WRITELANE_B32) ||
           apart(wave, &exec, hazard_is_valu, 4,
                 "a VALU instruction writes EXEC before a lane is read or written", out);
}

/* A store of more than two registers reads them late. */
static const amd_operand *late_data(const amd_inst *inst)
{
    const amd_operand *data = &inst->src[1];
    if (!hazard_is_memory(inst) || inst->format == AMD_MIMG || data->dwords <= 2 ||
        data->code == AMD_NO_OPERAND)
        return NULL;
    bool buffer = inst->format == AMD_MUBUF || inst->format == AMD_MTBUF;
    return buffer && inst->src[3].dwords != 0 && inst->src[3].code < AMD_INT_0 ? NULL : data;
}

static bool check_late_data(const hazard_wave *wave, amd_target target, const amd_inst *inst,
                            hazard_finding *out)
{
    const hazard_past *past;
    unsigned have, need = target == AMD_GFX942 ? 2 : 1;
    if (inst->vdst.dwords == 0 || inst->vdst.code < AMD_VGPR)
        return true;
    for (unsigned i = 0; (past = hazard_back(wave, i, need, &have)); i++) {
        const amd_operand *data = late_data(past->inst);
        if (data && hazard_overlaps(data, inst->vdst.code, inst->vdst.dwords))
            return hazard_found(out, past, need, have, data->code,
                                "a store of more than 8 bytes reads it and a VALU instruction overwrites it");
    }
    return true;
}

static bool check_dpp(const hazard_wave *wave, const amd_operand *const *uses, unsigned count,
                      hazard_finding *out)
{
    for (unsigned i = 0; i < count; i++)
        if (uses[i]->code >= AMD_VGPR &&
            !apart(wave, uses[i], any_writer, 2, "it is written and a DPP instruction reads it", out))
            return false;
    return apart(wave, &exec, hazard_is_valu, 5, "a VALU instruction writes EXEC before a DPP instruction",
                 out);
}

static bool check_valu(const hazard_wave *wave, amd_target target, const amd_inst *inst,
                       const amd_operand *const *uses, unsigned count, hazard_finding *out)
{
    if (target == AMD_GFX942 && !check_forwarding(wave, inst, uses, count, out))
        return false;
    if (!check_late_data(wave, target, inst, out))
        return false;
    if (inst->form == AMD_DPP16 && !check_dpp(wave, uses, count, out))
        return false;
    if ((inst->op == AMD_V_DIV_FMAS_F32 || inst->op == AMD_V_DIV_FMAS_F64) &&
        !apart(wave, &vcc, hazard_is_valu, 4, "a VALU instruction writes VCC before v_div_fmas", out))
        return false;
    if ((inst->op == AMD_V_READLANE_B32 || inst->op == AMD_V_WRITELANE_B32) && is_register(&inst->src[1]) &&
        inst->src[1].code < AMD_INT_0)
        return apart(wave, &inst->src[1], hazard_is_valu, 4,
                     "a VALU instruction writes it and it selects a lane", out);
    return true;
}

/* --- scalar instructions --------------------------------------------------------------------------------- */

static bool is_setreg(const amd_inst *inst)
{
    return inst->op == AMD_S_SETREG_B32 || inst->op == AMD_S_SETREG_IMM32_B32;
}

/* Registers of the hardware have six bits of the immediate. */
static bool check_hwreg(const hazard_wave *wave, const amd_inst *inst, hazard_finding *out)
{
    const hazard_past *past;
    unsigned have;
    for (unsigned i = 0; (past = hazard_back(wave, i, 2, &have)); i++)
        if (is_setreg(past->inst) && ((past->inst->simm ^ inst->simm) & 63) == 0)
            return hazard_found(out, past, 2, have, AMD_NO_OPERAND,
                                "s_setreg changes a hardware register that is read or changed again");
    return true;
}

/* They read M0 without the hardware's care. */
static bool reads_m0_early(const amd_inst *inst)
{
    switch (inst->op) {
    case AMD_S_MOVRELS_B32:
    case AMD_S_MOVRELS_B64:
    case AMD_S_MOVRELD_B32:
    case AMD_S_MOVRELD_B64:
    case AMD_S_SENDMSG:
    case AMD_S_SENDMSGHALT:
    case AMD_S_TTRACEDATA:
    case AMD_DS_READ_ADDTID_B32:
    case AMD_DS_WRITE_ADDTID_B32:
        return true;
    default:
        return (inst->flags & (AMD_LDS | AMD_GDS)) != 0 || inst->class_ == AMD_CLASS_GDS;
    }
}

/* --- all ------------------------------------------------------------------------------------------------- */

static bool check(hazard_wave *wave, amd_target target, const amd_inst *inst, hazard_finding *out)
{
    const amd_operand *uses[HAZARD_USES];
    unsigned count = hazard_uses(target, inst, uses);
    bool valu = hazard_is_valu(inst), memory = hazard_is_memory(inst);
    if (memory && !check_memory(wave, uses, count, out))
        return false;
    if (valu && !check_valu(wave, target, inst, uses, count, out))
        return false;
    if ((is_setreg(inst) || inst->op == AMD_S_GETREG_B32) && !check_hwreg(wave, inst, out))
        return false;
    if (reads_m0_early(inst) && !apart(wave, &m0, is_salu, 1, "M0 is written right before its use", out))
        return false;
    if (!hazard_matrix_first(wave, inst, uses, count, out))
        return false;
    if (wave->now >= wave->matrix_until)
        return true;
    return hazard_matrix_check(wave, target, inst, uses, count, out);
}

static bool clears_past(const amd_inst *inst)
{
    return inst->op == AMD_S_SETPC_B64 || inst->op == AMD_S_SWAPPC_B64 || inst->op == AMD_S_CALL_B64 ||
           inst->op == AMD_S_RFE_B64 || inst->op == AMD_S_RFE_RESTORE_B64;
}

bool hazard_step(hazard_wave *wave, amd_target target, const amd_inst *inst, uint32_t op, hazard_finding *out)
{
    if (!amd_target_is_gfx9(target))
        return true;
    if (!check(wave, target, inst, out))
        return false;
    wave->past[wave->count % HAZARD_PAST] = (hazard_past){ .inst = inst, .at = wave->now, .op = op };
    wave->count = clears_past(inst) ? 0 : wave->count + 1;
    if (hazard_matrix_is(inst))
        wave->matrix_until = wave->now + HAZARD_MATRIX_MAX + 1;
    wave->now += inst->op == AMD_S_NOP ? (unsigned)(inst->simm & 15) + 1 : 1;
    return true;
}

/* hazard_matrix.c: wait states around matrix instructions and dot products. The numbers are those of LLVM 19's
 * hazard recognizer (gfx90a and gfx940). A pass is four cycles; XDL instructions are those that the matrix core
 * executes, on gfx942 all but those of 32-bit and 64-bit floats. */
#include "isa/amd/exec/matrix.h"
#include "runtime/strict/hazard_impl.h"

/* --- kinds ----------------------------------------------------------------------------------------------- */

static bool is_matrix(const amd_inst *inst)
{
    return inst->format == AMD_VOP3P && amd_matrix_of(inst->op) != NULL;
}

static bool is_dot(const amd_inst *inst)
{
    switch (inst->op) {
#define DOT(name) case AMD_##name:
#include "runtime/strict/dots.def"
        return hazard_is_valu(inst);
    default:
        return false;
    }
}

bool hazard_matrix_is(const amd_inst *inst)
{
    return is_matrix(inst) || is_dot(inst);
}

static bool is_double(const amd_inst *inst)
{
    return inst->op == AMD_V_MFMA_F64_16X16X4_F64 || inst->op == AMD_V_MFMA_F64_4X4X4_4B_F64;
}

static bool is_single(const amd_inst *inst)
{
    switch (inst->op) {
    case AMD_V_MFMA_F32_32X32X1_2B_F32:
    case AMD_V_MFMA_F32_16X16X1_4B_F32:
    case AMD_V_MFMA_F32_4X4X1_16B_F32:
    case AMD_V_MFMA_F32_32X32X2_F32:
    case AMD_V_MFMA_F32_16X16X4_F32:
        return true;
    default:
        return false;
    }
}

static bool is_xdl(amd_target target, const amd_inst *inst)
{
    return !is_double(inst) && (target != AMD_GFX942 || !is_single(inst));
}

/* gfx942 does one product of 16 bits and less in half of the time. */
static unsigned passes(amd_target target, const amd_inst *inst)
{
    const amd_matrix *m = amd_matrix_of(inst->op);
    if (is_double(inst))
        return m->m == 4 ? 4 : 8;
    unsigned count = m->m == 4 ? 2 : m->m == 16 ? 8 : 16;
    return target == AMD_GFX942 && m->blocks == 1 && !is_single(inst) ? count / 2 : count;
}

/* --- wait states between two instructions ---------------------------------------------------------------- */

/* `full`: the registers of C are exactly those of the earlier result. */
static unsigned before_c(amd_target target, const amd_inst *first, const amd_inst *second, bool full)
{
    bool gfx942 = target == AMD_GFX942;
    unsigned p = passes(target, first);
    if (!is_double(second) && !gfx942 && is_double(first))
        return 0;
    if (full) {
        if (first->op == AMD_V_MFMA_F64_4X4X4_4B_F64 && second->op == AMD_V_MFMA_F64_4X4X4_4B_F64)
            return 4;
        return gfx942 && p == 2 ? 2 : 0;
    }
    if (is_double(first))
        return is_xdl(target, second) ? 0 : p == 4 ? 4 : 9;
    if (gfx942)
        return is_xdl(target, first) ? p + 1 : is_xdl(target, second) ? 0 : p;
    return is_double(second) ? p + 1 : p;
}

/* Before A, B, an ordinary read, or an overwrite. */
static unsigned before_others(amd_target target, const amd_inst *first, bool memory)
{
    unsigned p = passes(target, first);
    if (is_double(first))
        return memory ? (p == 4 ? 9 : 18) : p == 4 ? 6 : 11;
    return target == AMD_GFX942 && !is_xdl(target, first) ? p + 2 : p + 3;
}

/* The last matrix instruction that wrote some of these registers. */
static const hazard_past *last_result(const hazard_wave *wave, const amd_operand *use, unsigned *have)
{
    const hazard_past *past;
    for (unsigned i = 0; (past = hazard_back(wave, i, HAZARD_MATRIX_MAX, have)); i++)
        if (is_matrix(past->inst) && hazard_overlaps(&past->inst->vdst, use->code, use->dwords))
            return past;
    return NULL;
}

/* --- a matrix instruction -------------------------------------------------------------------------------- */

bool hazard_matrix_first(const hazard_wave *wave, const amd_inst *inst, const amd_operand *const *uses,
                         unsigned count, hazard_finding *out)
{
    const hazard_past *past;
    unsigned have;
    if (!is_matrix(inst))
        return true;
    for (unsigned n = 0; (past = hazard_back(wave, n, 4, &have)); n++) {
        if (!hazard_is_valu(past->inst) || is_matrix(past->inst))
            continue;
        if (hazard_writes(past->inst, AMD_EXEC_LO, 2))
            return hazard_found(out, past, 4, have, AMD_EXEC_LO,
                                "a VALU instruction writes EXEC before a matrix instruction");
        for (unsigned i = 0; i < count && have < 2 && !is_dot(past->inst); i++)
            if (hazard_writes(past->inst, uses[i]->code, uses[i]->dwords))
                return hazard_found(out, past, 2, have, uses[i]->code,
                                    "a VALU instruction writes it and a matrix instruction reads it");
    }
    return true;
}

static bool check_matrix(const hazard_wave *wave, amd_target target, const amd_inst *inst,
                         const amd_operand *const *uses, unsigned count, hazard_finding *out)
{
    bool sparse = amd_matrix_of(inst->op)->sparse;
    for (unsigned i = 0; i < count; i++) {
        const amd_operand *c = sparse ? &inst->vdst : &inst->src[2];
        unsigned have, need;
        const hazard_past *past = last_result(wave, uses[i], &have);
        if (!past)
            continue;
        bool full = past->inst->vdst.code == uses[i]->code && past->inst->vdst.dwords == uses[i]->dwords;
        need =
            uses[i] == c ? before_c(target, past->inst, inst, full) : before_others(target, past->inst, false);
        if (have < need)
            return hazard_found(out, past, need, have, uses[i]->code,
                                uses[i] == c
                                    ? "a matrix instruction writes it and another one reads it as C"
                                    : "a matrix instruction writes it and another one reads it as A or B");
    }
    return true;
}

/* --- others ---------------------------------------------------------------------------------------------- */

static bool check_reads(const hazard_wave *wave, amd_target target, const amd_inst *inst,
                        const amd_operand *const *uses, unsigned count, hazard_finding *out)
{
    bool memory = !hazard_is_valu(inst);
    for (unsigned i = 0; i < count; i++) {
        unsigned have;
        const hazard_past *past = uses[i]->code >= AMD_VGPR ? last_result(wave, uses[i], &have) : NULL;
        if (past && have < before_others(target, past->inst, memory))
            return hazard_found(out, past, before_others(target, past->inst, memory), have, uses[i]->code,
                                memory ? "a matrix instruction writes it and a memory instruction reads it"
                                       : "a matrix instruction writes it and a VALU instruction reads it");
    }
    return true;
}

/* Results that are overwritten, and the matrix C while it is still being read. */
static bool check_writes(const hazard_wave *wave, amd_target target, const amd_inst *inst, hazard_finding *out)
{
    const amd_operand *to = &inst->vdst;
    unsigned have;
    const hazard_past *past;
    if (to->dwords == 0 || to->code < AMD_VGPR || to->code == AMD_NO_OPERAND)
        return true;
    past = last_result(wave, to, &have);
    if (past && have < before_others(target, past->inst, false))
        return hazard_found(out, past, before_others(target, past->inst, false), have, to->code,
                            "a matrix instruction writes it and another instruction overwrites it");
    for (unsigned i = 0; (past = hazard_back(wave, i, 15, &have)); i++) {
        const amd_inst *first = past->inst;
        if (!is_matrix(first) || is_double(first) || !is_xdl(target, first) ||
            !hazard_overlaps(amd_matrix_of(first->op)->sparse ? &first->vdst : &first->src[2], to->code,
                             to->dwords))
            continue;
        if (have < passes(target, first) - 1)
            return hazard_found(out, past, passes(target, first) - 1, have, to->code,
                                "a matrix instruction reads it as C and another instruction overwrites it");
        break;
    }
    return true;
}

static bool check_dots(const hazard_wave *wave, const amd_inst *inst, const amd_operand *const *uses,
                       unsigned count, hazard_finding *out)
{
    const hazard_past *past;
    unsigned have;
    for (unsigned n = 0; (past = hazard_back(wave, n, 3, &have)); n++) {
        const amd_operand *result = &past->inst->vdst;
        bool same = past->inst->op == inst->op;
        if (!is_dot(past->inst))
            continue;
        for (unsigned i = 0; i < count; i++)
            if (hazard_overlaps(result, uses[i]->code, uses[i]->dwords) &&
                !(same && (uses[i] == &inst->src[2] || uses[i] == &inst->vdst)))
                return hazard_found(out, past, 3, have, uses[i]->code,
                                    "a dot product writes it and another instruction reads it");
        if (!same && inst->vdst.dwords != 0 && hazard_overlaps(result, inst->vdst.code, inst->vdst.dwords))
            return hazard_found(out, past, 3, have, inst->vdst.code,
                                "a dot product writes it and another instruction overwrites it");
    }
    return true;
}

/* v_fma_f64 shares a pipe with matrices of doubles. On gfx90a one of these between a VALU write and a memory read
 * hides the write from the hardware's own check. */
static bool check_doubles(const hazard_wave *wave, amd_target target, const amd_inst *inst,
                          const amd_operand *const *uses, unsigned count, hazard_finding *out)
{
    const hazard_past *past, *between = NULL;
    unsigned have;
    bool fma = inst->op == AMD_V_FMA_F64 || inst->op == AMD_V_FMAC_F64;
    bool memory = !hazard_is_valu(inst) && target == AMD_GFX90A;
    for (unsigned n = 0; (past = hazard_back(wave, n, 2, &have)); n++) {
        if (is_matrix(past->inst) && is_double(past->inst)) {
            if (fma)
                return hazard_found(out, past, 2, have, AMD_NO_OPERAND,
                                    "a matrix instruction of doubles comes before v_fma_f64");
            between = past;
        }
        for (unsigned i = 0; i < count && memory && between && hazard_is_valu(past->inst); i++)
            if (uses[i]->code >= AMD_VGPR && hazard_writes(past->inst, uses[i]->code, uses[i]->dwords))
                return hazard_found(
                    out, past, 2, have, uses[i]->code,
                    "a matrix instruction of doubles lies between its write and a memory read");
    }
    return true;
}

bool hazard_matrix_check(const hazard_wave *wave, amd_target target, const amd_inst *inst,
                         const amd_operand *const *uses, unsigned count, hazard_finding *out)
{
    if (is_matrix(inst))
        return check_matrix(wave, target, inst, uses, count, out);
    if (!hazard_is_valu(inst) && !hazard_is_memory(inst) && inst->format != AMD_DS && inst->format != AMD_EXP)
        return true;
    return check_dots(wave, inst, uses, count, out) && check_reads(wave, target, inst, uses, count, out) &&
           check_doubles(wave, target, inst, uses, count, out) && check_writes(wave, target, inst, out);
}

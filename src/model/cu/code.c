/* code.c: instructions become rows of the compute unit's table. Names of operations are looked at here and
 * nowhere later. */
#include "model/cu/code.h"

#include "isa/amd/exec/gws.h"
#include "isa/amd/exec/limits.h"
#include "isa/amd/exec/matrix.h"

#include <stdatomic.h>
#include <stdlib.h>

/* --- rates ---------------------------------------------------------------------------------------------- */

/* Operations that are not at their class's rate. GCN3: CLRX's measurements
 * (reference/amd_gcn_instruction_timings_clrx.csv): 16 cycles = quarter rate, DPFACTOR*4 = fp64,
 * DPFACTOR*8 = its slow ones; but 64-bit shifts as LLVM's model of Fiji has them
 * (amd_llvm_sched_model.csv, VALU64: 2 quads), from which the classes of gfx10 come too. */
static const struct {
    amd_op op;
    cu_rate rate;
} code_rates[] = {
    { AMD_V_MUL_LO_U32, CU_RATE_QUARTER },       { AMD_V_MUL_HI_U32, CU_RATE_QUARTER },
    { AMD_V_MUL_LO_I32, CU_RATE_QUARTER },       { AMD_V_MUL_HI_I32, CU_RATE_QUARTER },
    { AMD_V_MAD_U64_U32, CU_RATE_QUARTER },      { AMD_V_MAD_I64_I32, CU_RATE_QUARTER },
    { AMD_V_DIV_SCALE_F32, CU_RATE_DIVIDE },     { AMD_V_DIV_FMAS_F32, CU_RATE_DIVIDE },
    { AMD_V_DIV_FIXUP_F32, CU_RATE_DIVIDE },     { AMD_V_QSAD_PK_U16_U8, CU_RATE_QUARTER },
    { AMD_V_MQSAD_PK_U16_U8, CU_RATE_QUARTER },  { AMD_V_MQSAD_U32_U8, CU_RATE_QUARTER },
    { AMD_V_MUL_F64, CU_RATE_DOUBLE_SLOW },      { AMD_V_FMA_F64, CU_RATE_DOUBLE_SLOW },
    { AMD_V_DIV_FMAS_F64, CU_RATE_DOUBLE_SLOW }, { AMD_V_TRIG_PREOP_F64, CU_RATE_DOUBLE_SLOW },
    { AMD_V_RCP_F64, CU_RATE_DOUBLE_TRANS },     { AMD_V_RSQ_F64, CU_RATE_DOUBLE_TRANS },
    { AMD_V_SQRT_F64, CU_RATE_DOUBLE_TRANS },    { AMD_V_LSHLREV_B64, CU_RATE_HALF },
    { AMD_V_LSHRREV_B64, CU_RATE_HALF },         { AMD_V_ASHRREV_I64, CU_RATE_HALF },
    { AMD_V_PK_FMA_F32, CU_RATE_PACKED },        { AMD_V_PK_MUL_F32, CU_RATE_PACKED },
    { AMD_V_PK_ADD_F32, CU_RATE_PACKED },
};

cu_rate cu_code_rate(amd_op op, amd_class class_)
{
    for (size_t i = 0; i < sizeof code_rates / sizeof code_rates[0]; i++)
        if (op == code_rates[i].op)
            return code_rates[i].rate;
    switch (class_) {
    case AMD_CLASS_TRANS:
        return CU_RATE_TRANS;
    case AMD_CLASS_VALU_64:
        return CU_RATE_DOUBLE;
    default:
        return CU_RATE_FULL;
    }
}

/* The public matrix instruction calculator's table: 16, 8 or 2 passes of 4 cycles for 32, 16 or 4 rows; half of that
 * on gfx942 for one block of the types of its fast unit. It leaves the VALU to others after 4 cycles (8 if sparse), but
 * not with doubles, nor with floats on gfx942. */
unsigned cu_code_matrix(amd_op op, amd_target target, unsigned *alone)
{
    const amd_matrix *shape = amd_matrix_of(op);
    if (shape == NULL)
        return 0;
    const char *name = amd_op_name(op);
    size_t length = strlen(name);
    bool newer = target == AMD_GFX942, is_double = strcmp(name + length - 4, "_f64") == 0;
    bool is_slow = newer && strcmp(name + length - 4, "_f32") == 0;
    unsigned cycles = shape->m == 32 ? 64 : shape->m == 16 ? 32 : is_double ? 16 : 8;
    if (newer && shape->blocks == 1 && !is_double && !is_slow)
        cycles /= 2;
    *alone = is_double || is_slow ? cycles : shape->sparse ? 8 : 4;
    return cycles;
}

static cu_unit code_unit(const amd_inst *inst)
{
    switch (inst->class_) {
    case AMD_CLASS_VALU:
    case AMD_CLASS_TRANS:
    case AMD_CLASS_VALU_64:
        return CU_UNIT_VALU;
    case AMD_CLASS_SALU:
    case AMD_CLASS_SMEM:
        return CU_UNIT_SCALAR;
    case AMD_CLASS_VMEM:
    case AMD_CLASS_FLAT:
        return CU_UNIT_VMEM;
    case AMD_CLASS_LDS:
        return CU_UNIT_LDS;
    case AMD_CLASS_BRANCH:
    case AMD_CLASS_MESSAGE:
        return CU_UNIT_BRANCH;
    default: /* GDS and exports are refused before a launch */
        return CU_UNIT_INTERNAL;
    }
}

/* --- what is special ------------------------------------------------------------------------------------ */

static void code_cache(cu_inst *out, uint8_t levels_below)
{
    out->what = CU_CACHE;
    out->limit[CU_VM] = levels_below;
}

static void code_wait(amd_target target, cu_inst *out)
{
    const amd_inst *inst = out->inst;
    uint8_t count = (uint8_t)(inst->simm & 63);
    out->what = CU_WAIT;
    switch (inst->op) {
    case AMD_S_WAITCNT: {
        amd_waitcnt wait = amd_waitcnt_decode(target, (uint16_t)inst->simm);
        out->limit[CU_VM] = wait.vm;
        out->limit[CU_LGKM] = wait.lgkm;
        out->limit[CU_EXP] = wait.exp;
        break;
    }
    case AMD_S_WAITCNT_VMCNT:
        out->limit[CU_VM] = count;
        break;
    case AMD_S_WAITCNT_LGKMCNT:
        out->limit[CU_LGKM] = count;
        break;
    case AMD_S_WAITCNT_EXPCNT:
        out->limit[CU_EXP] = count;
        break;
    case AMD_S_WAITCNT_VSCNT:
        out->limit[CU_VS] = count;
        break;
    case AMD_S_WAIT_IDLE:
        memset(out->limit, 0, sizeof out->limit);
        break;
    default: /* s_waitcnt_depctr: registers are interlocked anyway */
        break;
    }
}

static void code_special(amd_target target, cu_inst *out)
{
    switch (out->inst->op) {
    case AMD_S_WAITCNT:
    case AMD_S_WAITCNT_VMCNT:
    case AMD_S_WAITCNT_LGKMCNT:
    case AMD_S_WAITCNT_EXPCNT:
    case AMD_S_WAITCNT_VSCNT:
    case AMD_S_WAITCNT_DEPCTR:
    case AMD_S_WAIT_IDLE:
        code_wait(target, out);
        out->unit = CU_UNIT_INTERNAL;
        break;
    case AMD_S_BARRIER:
        out->what = CU_BARRIER;
        break;
    case AMD_DS_GWS_BARRIER:
        out->what = CU_GRID_BARRIER;
        out->unit = CU_UNIT_INTERNAL;
        break;
    case AMD_DS_GWS_INIT: /* the barrier itself says how many waves it has */
        out->unit = CU_UNIT_INTERNAL;
        break;
    case AMD_S_ENDPGM:
    case AMD_S_ENDPGM_SAVED:
    case AMD_S_ENDPGM_ORDERED_PS_DONE:
        out->what = CU_END;
        break;
    case AMD_S_NOP:
        out->what = CU_NOP;
        break;
    case AMD_S_SLEEP:
        out->what = CU_SLEEP;
        break;
    case AMD_S_SETPRIO:
        out->what = CU_PRIORITY;
        break;
    case AMD_S_CLAUSE:
        out->what = CU_CLAUSE;
        break;
    case AMD_S_INST_PREFETCH:
        out->what = CU_PREFETCH;
        break;
    case AMD_BUFFER_WBINVL1:
    case AMD_BUFFER_WBINVL1_VOL:
    case AMD_BUFFER_GL0_INV:
    case AMD_S_DCACHE_INV:
    case AMD_S_DCACHE_INV_VOL:
    case AMD_S_DCACHE_WB:
    case AMD_S_DCACHE_WB_VOL:
        code_cache(out, 0);
        break;
    case AMD_BUFFER_INV: /* L2s of other dies hold nothing that was written back: its scopes empty the first cache */
        code_cache(out, 0);
        break;
    case AMD_BUFFER_WBL2:
        if (target == AMD_GFX942)
            out->what = CU_WRITE_BACK;
        break;
    case AMD_BUFFER_GL1_INV:
    case AMD_S_GL1_INV:
        code_cache(out, 1);
        break;
    default:
        break;
    }
}

/* --- memory and its counters ---------------------------------------------------------------------------- */

static bool code_is_memory(const amd_inst *inst)
{
    if (amd_gws_is_op((amd_op)inst->op))
        return false;
    return inst->format == AMD_SMEM || (inst->format >= AMD_DS && inst->format <= AMD_SCRATCH);
}

/* gfx10 counts stores and atomics that return nothing in vscnt, gfx803 everything in vmcnt. A FLAT
 * instruction may go to LDS: it is in lgkmcnt too. */
static void code_counters(amd_target target, cu_inst *out)
{
    const amd_inst *inst = out->inst;
    out->ordered = CU_COUNTERS;
    if (inst->format == AMD_SMEM || inst->format == AMD_DS) {
        out->raises = 1u << CU_LGKM;
    } else {
        bool writes =
            out->kind == AMD_ACCESS_STORE || (out->kind == AMD_ACCESS_ATOMIC && (inst->flags & AMD_GLC) == 0);
        out->ordered = writes && amd_target_is_gfx10(target) ? CU_VS : CU_VM;
        out->raises = (uint8_t)(1u << out->ordered);
        if (inst->format == AMD_FLAT)
            out->raises |= 1u << CU_LGKM;
    }
    amd_waitcnt most = amd_waitcnt_decode(target, 0xffff);
    const uint8_t top[CU_COUNTERS] = { most.vm, most.lgkm, most.exp, most.vs };
    for (unsigned i = 0; i < CU_COUNTERS; i++)
        if (out->raises >> i & 1)
            out->limit[i] = (uint8_t)(top[i] - 1);
}

static void code_memory(amd_target target, cu_inst *out)
{
    const amd_inst *inst = out->inst;
    out->kind = (uint8_t)amd_mem_kind(inst);
    out->access_bytes = (uint8_t)amd_mem_bytes(inst);
    if (out->what == CU_WRITE_BACK) { /* programs wait for vmcnt */
        code_counters(target, out);
        return;
    }
    if (out->what == CU_CACHE) {
        if (inst->format == AMD_SMEM) {
            out->raises = 1u << CU_LGKM;
            out->ordered = CU_COUNTERS;
        }
        return;
    }
    out->what = CU_MEMORY;
    out->plain = amd_mem_plain(inst);
    code_counters(target, out);
}

/* --- registers ------------------------------------------------------------------------------------------ */

static void code_add(cu_range *ranges, uint8_t *count, unsigned most, unsigned first, unsigned number)
{
    if (*count == most || number == 0)
        return;
    ranges[(*count)++] = (cu_range){ (uint16_t)first, (uint16_t)(first + number - 1) };
}

static bool code_is_register(const amd_operand *operand)
{
    return operand->dwords != 0 &&
           (operand->code < 128 || (operand->code >= AMD_VGPR && operand->code < AMD_AGPR + 256)) &&
           operand->code != AMD_NULL;
}

static void code_reads(cu_inst *out, unsigned first, unsigned number)
{
    code_add(out->reads, &out->read_count, CU_READS_MAX, first, number);
}

static void code_writes(cu_inst *out, unsigned first, unsigned number)
{
    code_add(out->writes, &out->write_count, CU_WRITES_MAX, first, number);
}

/* Scalar operations that leave SCC alone. */
static bool code_keeps_scc(const amd_inst *inst)
{
    static const char *const prefixes[] = { "s_mov",    "s_cmov",   "s_cselect", "s_brev",
                                            "s_ff",     "s_flbit",  "s_sext",    "s_bitset",
                                            "s_getpc",  "s_mul",    "s_pack",    "s_bfm",
                                            "s_getreg", "s_setreg", "s_bitrep",  "s_wrexec" };
    const char *name = amd_op_name((amd_op)inst->op);
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool code_reads_scc(const amd_inst *inst)
{
    const char *name = amd_op_name((amd_op)inst->op);
    return strncmp(name, "s_addc", 6) == 0 || strncmp(name, "s_subb", 6) == 0 ||
           strncmp(name, "s_cselect", 9) == 0 || strncmp(name, "s_cmov", 6) == 0 ||
           strncmp(name, "s_cbranch_scc", 13) == 0;
}

static void code_registers(unsigned lanes, cu_inst *out)
{
    const amd_inst *inst = out->inst;
    const char *name = amd_op_name((amd_op)inst->op);
    bool vector = inst->format >= AMD_VOP1;
    for (unsigned i = 0; i < 4; i++)
        if (code_is_register(&inst->src[i]))
            code_reads(out, inst->src[i].code, inst->src[i].dwords);
    bool stores = out->what == CU_MEMORY && inst->format == AMD_SMEM && out->kind != AMD_ACCESS_LOAD;
    if (code_is_register(&inst->sdst)) {
        if (stores)
            code_reads(out, inst->sdst.code, inst->sdst.dwords);
        else
            code_writes(out, inst->sdst.code, inst->sdst.dwords);
    }
    if (code_is_register(&inst->vdst)) {
        code_writes(out, inst->vdst.code, inst->vdst.dwords);
        /* Accumulators and halves that stay are read too; it costs nothing to say so of all. */
        if (strncmp(name, "v_mac", 5) == 0 || strncmp(name, "v_fmac", 6) == 0 || inst->form == AMD_SDWA)
            code_reads(out, inst->vdst.code, inst->vdst.dwords);
    }
    if (inst->format == AMD_MIMG && (inst->flags & AMD_NSA))
        for (unsigned i = 0; i + 1 < inst->src[0].dwords && i < sizeof inst->nsa; i++)
            code_reads(out, AMD_VGPR + inst->nsa[i], 1);
    unsigned mask = lanes / 32;
    if (vector)
        code_reads(out, AMD_EXEC_LO, mask);
    if (strstr(name, "saveexec") || strstr(name, "wrexec") || strncmp(name, "v_cmpx", 6) == 0)
        code_writes(out, AMD_EXEC_LO, mask);
    if (strncmp(name, "s_cbranch_vcc", 13) == 0 || strncmp(name, "v_div_fmas", 10) == 0)
        code_reads(out, AMD_VCC_LO, mask);
    if (strncmp(name, "s_cbranch_exec", 14) == 0)
        code_reads(out, AMD_EXEC_LO, mask);
    if (strstr(name, "movrel") || inst->format == AMD_DS)
        code_reads(out, AMD_M0, 1);
    if (inst->class_ == AMD_CLASS_SALU || inst->class_ == AMD_CLASS_BRANCH) {
        if (code_reads_scc(inst))
            code_reads(out, CU_SCC, 1);
        if (inst->class_ == AMD_CLASS_SALU && !code_keeps_scc(inst))
            code_writes(out, CU_SCC, 1);
    }
}

/* --- what can be issued ahead of time ------------------------------------------------------------------- */

static uint64_t code_bits(cu_range range)
{
    uint64_t bits = 0;
    for (unsigned code = range.first; code <= range.last; code++)
        bits |= 1ull << code % 64;
    return bits;
}

static void code_touch(cu_inst *out, const cu_range *ranges, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        out->touches[ranges[i].first < AMD_VGPR] |= code_bits(ranges[i]);
}

static void code_touches(cu_inst *out)
{
    const amd_inst *inst = out->inst;
    code_touch(out, out->writes, out->write_count);
    for (unsigned i = 0; i < out->write_count; i++)
        out->write_bits[i] = code_bits(out->writes[i]);
    if (out->what == CU_MEMORY) {
        if (inst->format == AMD_MIMG || (inst->flags & AMD_TFE))
            out->touches[0] = UINT64_MAX; /* how many registers is a matter of run time */
        return;
    }
    code_touch(out, out->reads, out->read_count);
    if (out->unit == CU_UNIT_VALU) /* not always named: carries, v_cndmask */
        code_touch(out, &(cu_range){ AMD_VCC_LO, AMD_VCC_LO + 1 }, 1);
}

static bool code_alone(const cu_inst *out)
{
    const amd_inst *inst = out->inst;
    if (out->last || out->time || out->raises != 0 || out->rate == CU_RATE_MATRIX ||
        strstr(amd_op_name((amd_op)inst->op), "rel"))
        return false; /* v_movrel and the like: which registers is a matter of run time */
    for (unsigned i = 0; i < 4; i++)
        if (inst->src[i].code == AMD_LDS_DIRECT)
            return false;
    return out->what == CU_WAIT ||
           (out->what == CU_PLAIN && (out->unit == CU_UNIT_VALU || out->unit == CU_UNIT_SCALAR));
}

/* --- all of it ------------------------------------------------------------------------------------------ */

static void code_one(const amd_program *program, const amd_step *step, cu_inst *out)
{
    const amd_inst *inst = step->inst;
    amd_target target = program->kernel.target;
    *out = (cu_inst){ .body = step->body,
                      .inst = inst,
                      .next = step->next,
                      .bytes = inst->bytes,
                      .unit = (uint8_t)code_unit(inst),
                      .rate = (uint8_t)cu_code_rate((amd_op)inst->op, (amd_class)inst->class_),
                      .class_ = inst->class_,
                      .ordered = CU_COUNTERS,
                      .flops = amd_op_flops((amd_op)inst->op).count,
                      .flops_type = (uint8_t)amd_op_flops((amd_op)inst->op).type,
                      .last = step->last != 0,
                      .scalar = inst->format <= AMD_SMEM };
    memset(out->limit, UINT8_MAX, sizeof out->limit);
    out->time = inst->op == AMD_S_MEMTIME || inst->op == AMD_S_MEMREALTIME || inst->op == AMD_S_GETREG_B32;
    if (step->body == amd_limits_body) { /* it faults when it issues, so its class does not matter */
        out->unit = CU_UNIT_SCALAR;
        return;
    }
    unsigned alone = 0;
    out->matrix_cycles = (uint8_t)cu_code_matrix((amd_op)inst->op, target, &alone);
    out->matrix_alone = (uint8_t)alone;
    if (out->matrix_cycles != 0)
        out->rate = CU_RATE_MATRIX;
    code_special(target, out);
    if (code_is_memory(inst))
        code_memory(target, out);
    code_registers(program->lanes, out);
    for (unsigned i = 0; i < out->write_count && out->unit == CU_UNIT_VALU; i++)
        out->writes_scalar |= out->writes[i].first < AMD_VGPR;
    code_touches(out);
    out->alone = code_alone(out);
}

/* The first of `count` serials. They tell instructions apart; no result depends on their values. */
static uint64_t code_serials(uint64_t count)
{
    static _Atomic uint64_t used = 1; /* 0: no instruction */
    return atomic_fetch_add_explicit(&used, count, memory_order_relaxed);
}

ls_status cu_code_create(const amd_program *program, cu_code **out, ls_error *err)
{
    cu_code *code = calloc(1, sizeof *code);
    cu_inst *insts = calloc((size_t)program->op_count + 1, sizeof *insts);
    if (!code || !insts) {
        free(code);
        free(insts);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the timing of kernel %s", program->name);
    }
    uint64_t serial = code_serials(program->op_count);
    uint8_t lds = 0;
    bool indexed = false;
    for (uint32_t i = 1; i <= program->op_count; i++) {
        code_one(program, &program->ops[i], &insts[i]);
        insts[i].serial = serial++;
        insts[i].lds = lds;
        if (insts[i].inst->op == AMD_S_SET_GPR_IDX_ON)
            indexed = true; /* which registers is a matter of run time until it is switched off */
        else if (insts[i].inst->op == AMD_S_SET_GPR_IDX_OFF)
            indexed = false;
        insts[i].alone &= !indexed;
        lds = (uint8_t)(lds + (insts[i].unit == CU_UNIT_LDS));
    }
    *code = (cu_code){ .program = program, .insts = insts, .end = program->base + program->word_count * 4 };
    *out = code;
    return LS_OK;
}

void cu_code_destroy(cu_code *code)
{
    if (!code)
        return;
    free(code->insts);
    free(code);
}

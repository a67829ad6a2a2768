/* fault.c: faults in words. */
#include "isa/amd/exec/fault.h"

#include "isa/amd/exec/limits.h"

#include <stdio.h>

static const char *fault_reason(const ls_fault *fault)
{
    switch (fault->kind) {
    case LS_FAULT_UNMAPPED:
        return "is not mapped";
    case LS_FAULT_MISALIGNED:
        return "is misaligned";
    case LS_FAULT_READ_ONLY:
        return "is read-only";
    case LS_FAULT_LDS_RANGE:
        return "lies outside of the work-group's LDS";
    case LS_FAULT_TRAP:
        return "the program trapped";
    case LS_FAULT_BARRIER:
        return "it waits at a barrier, but waves of its work-group have ended";
    case LS_FAULT_LIMIT:
        return "more instructions than the limit allows";
    case LS_FAULT_HALT:
        return "the wave halts itself, and nothing here resumes it";
    case LS_FAULT_STOPPED:
        return "the debugger ended the launch";
    default:
        return "no instruction that can be executed";
    }
}

/* A pc at which no instruction of the kernel begins. */
static const char *fault_landing(const amd_program *program, uint64_t pc)
{
    if ((pc & 3) != 0)
        return "a pc that is not a multiple of 4";
    if (pc - program->kernel.code >= program->kernel.code_bytes)
        return "a pc outside of its code";
    return "bytes that are no instruction";
}

static void fault_register(const amd_program *program, const amd_inst *inst, char *out, size_t capacity)
{
    unsigned code = 0;
    bool known = inst && amd_limits_stray(program, inst, &code), vector = code >= AMD_VGPR;
    snprintf(out, capacity, "%s%u is outside of the %u %s that the kernel's descriptor allocates",
             vector ? "v" : "s", known && vector ? code - AMD_VGPR : code,
             vector ? amd_limits_vgprs(&program->kernel, program->lanes) : amd_limits_sgprs(&program->kernel),
             vector ? "VGPRs" : "SGPRs");
}

ls_status amd_fault_report(const amd_program *program, const ls_fault *fault, const amd_fault_place *place,
                           char *text, size_t text_bytes, ls_error *err)
{
    const amd_inst *inst = amd_program_at(program, place->pc);
    const uint32_t *id = place->work_group;
    char own[128] = "?", where[400], why[512], pc[300];
    if (inst)
        amd_print(program->kernel.target, program->lanes, inst, own, sizeof own);
    if (text)
        snprintf(text, text_bytes, "%s", own);
    snprintf(where, sizeof where, "pc %s, work-group %u,%u,%u, wave %u",
             amd_program_pc(program, place->pc, pc, sizeof pc), id[0], id[1], id[2], place->wave);
    if (place->why)
        snprintf(why, sizeof why, "%s", place->why);
    else if (fault->kind == LS_FAULT_REGISTER)
        fault_register(program, inst, why, sizeof why);
    else if (fault->bytes != 0)
        snprintf(why, sizeof why, "lane %u %s %u bytes at 0x%llx, which %s", fault->lane,
                 fault->write ? "writes" : "reads", fault->bytes, (unsigned long long)fault->address,
                 fault_reason(fault));
    else
        snprintf(why, sizeof why, "%s", fault_reason(fault));
    if (!inst && fault->kind == LS_FAULT_UNSUPPORTED)
        return ls_fail(err, LS_ERR_CHECK, "kernel %s, %s: control goes to %s", program->name, where,
                       fault_landing(program, place->pc));
    return ls_fail(err, LS_ERR_CHECK, "kernel %s, %s: %s: %s", program->name, where, own, why);
}

void amd_fault_registers(const amd_program *program, const amd_wave *wave, const ls_fault *fault, uint64_t pc,
                         char out[AMD_FAULT_REGISTERS])
{
    const amd_inst *inst = amd_program_at(program, pc);
    unsigned lane = fault->lane % wave->lanes;
    out[0] = '\0';
    if (!inst)
        return;
    size_t used =
        (size_t)snprintf(out, AMD_FAULT_REGISTERS, "exec 0x%llx", (unsigned long long)amd_wave_exec(wave));
    for (unsigned i = 0; i < inst->src_count; i++) {
        const amd_operand *o = &inst->src[i];
        bool vector = o->code >= AMD_VGPR;
        unsigned first = vector ? o->code - AMD_VGPR : o->code;
        for (unsigned k = 0; k < o->dwords && used + 32 < AMD_FAULT_REGISTERS; k++) {
            if (vector && first + k < wave->vgpr_count)
                used += (size_t)snprintf(out + used, AMD_FAULT_REGISTERS - used, ", v%u[%u] 0x%x", first + k,
                                         lane, wave->vgpr[(size_t)(first + k) * wave->lanes + lane]);
            else if (!vector && first + k < 106)
                used += (size_t)snprintf(out + used, AMD_FAULT_REGISTERS - used, ", s%u 0x%x", first + k,
                                         wave->sgpr[first + k]);
        }
    }
}

void amd_fault_add_registers(const char *registers, ls_error *err)
{
    size_t used = err ? strlen(err->what) : 0;
    if (!err || !*registers || used + strlen(registers) + 14 > sizeof err->what)
        return;
    snprintf(err->what + used, sizeof err->what - used, "; registers: %s", registers);
}

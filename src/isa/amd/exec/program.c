/* program.c: code becomes steps. Everything that the entry can reach is decoded before a launch, and
 * refused then if one instruction has no semantics. Reads the simulated memory; changes nothing. */
#include "isa/amd/exec/program.h"

#include "isa/amd/exec/gws.h"

#include "base/vec.h"
#include "isa/amd/exec/direct.h"
#include "isa/amd/exec/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the walk ------------------------------------------------------------------------------------------- */

typedef struct program_walk {
    amd_program *program;
    uint64_t bytes; /* of the code section */
    uint8_t *seen;  /* per dword: an instruction begins here */
    LS_VEC(uint64_t) ahead;
    LS_VEC(amd_inst) found;
    bool indirect; /* a jump through registers: functions may be anywhere */
} program_walk;

static bool program_ends(const amd_inst *inst)
{
    switch (inst->op) {
    case AMD_S_ENDPGM:
    case AMD_S_ENDPGM_SAVED:
    case AMD_S_ENDPGM_ORDERED_PS_DONE:
    case AMD_S_BRANCH:
    case AMD_S_SETPC_B64:
    case AMD_S_RFE_B64:
    case AMD_S_CODE_END:
        return true;
    default:
        return false;
    }
}

static bool program_jumps(const amd_inst *inst)
{
    return inst->class_ == AMD_CLASS_BRANCH && (inst->format == AMD_SOPP || inst->format == AMD_SOPK);
}

/* The first bytes of an instruction, for messages. */
static void program_hex(const uint8_t *bytes, uint64_t count, char *out, size_t capacity)
{
    size_t at = 0;
    out[0] = '\0';
    for (uint64_t i = 0; i < count && i < 8 && at + 3 < capacity; i++)
        at += (size_t)snprintf(out + at, capacity - at, "%02x", bytes[i]);
}

static ls_status program_refuse(const program_walk *walk, uint64_t offset, const amd_inst *inst, ls_error *err)
{
    const amd_program *program = walk->program;
    char hex[24], text[128] = "no instruction", pc[300];
    program_hex(program->code + offset, inst ? inst->bytes : walk->bytes - offset, hex, sizeof hex);
    if (inst)
        amd_print(program->kernel.target, program->lanes, inst, text, sizeof text);
    return ls_fail(err, LS_ERR_UNSUPPORTED, "kernel %s: pc %s (bytes %s): '%s' %s on %s", program->name,
                   amd_program_pc(program, program->kernel.code + offset, pc, sizeof pc), hex, text,
                   inst ? "has no semantics" : "can be decoded", amd_target_name(program->kernel.target));
}

/* Decodes from `offset` to where control cannot go on. */
static ls_status program_straight(program_walk *walk, uint64_t offset, ls_error *err)
{
    amd_program *program = walk->program;
    amd_target target = program->kernel.target;
    char pc[300];
    for (;;) {
        if (offset >= walk->bytes || (offset & 3) != 0)
            return ls_fail(err, LS_ERR_INPUT, "kernel %s: control runs off its code at pc %s", program->name,
                           amd_program_pc(program, program->kernel.code + offset, pc, sizeof pc));
        if (walk->seen[offset / 4])
            return LS_OK;
        amd_inst inst;
        if (!amd_decode(target, program->lanes, program->code + offset, (size_t)(walk->bytes - offset), &inst))
            return program_refuse(walk, offset, NULL, err);
        inst.pc = (uint32_t)offset;
        if (inst.op != AMD_S_CODE_END && !amd_exec_find(target, program->lanes, &inst))
            return program_refuse(walk, offset, &inst, err);
        walk->seen[offset / 4] = 1;
        program->uses_gws |= amd_gws_is_op((amd_op)inst.op);
        if (!vec_push(&walk->found, inst))
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the instructions of kernel %s", program->name);
        if (program_jumps(&inst)) {
            uint64_t to = offset + 4 + (uint64_t)((int64_t)inst.simm * 4);
            if (!vec_push(&walk->ahead, to))
                return ls_fail(err, LS_ERR_NOMEM, "no memory for the branches of kernel %s", program->name);
        } else if (inst.class_ == AMD_CLASS_BRANCH) {
            walk->indirect = true;
        }
        if (inst.op == AMD_S_SETPC_B64 || inst.op == AMD_S_SWAPPC_B64)
            walk->indirect = true;
        if (program_ends(&inst))
            return LS_OK;
        offset += inst.bytes;
    }
}

/* Functions that are called through registers: everything else in the section that decodes. The rest is data,
 * or faults when it is reached. */
static ls_status program_rest(program_walk *walk, ls_error *err)
{
    amd_program *program = walk->program;
    amd_target target = program->kernel.target;
    for (uint64_t offset = 0; offset + 4 <= walk->bytes;) {
        amd_inst inst;
        bool good =
            amd_decode(target, program->lanes, program->code + offset, (size_t)(walk->bytes - offset), &inst);
        if (good && !walk->seen[offset / 4] && amd_exec_find(target, program->lanes, &inst)) {
            inst.pc = (uint32_t)offset;
            walk->seen[offset / 4] = 1;
            program->uses_gws |= amd_gws_is_op((amd_op)inst.op) && walk->indirect;
            if (!vec_push(&walk->found, inst))
                return ls_fail(err, LS_ERR_NOMEM, "no memory for the instructions of kernel %s",
                               program->name);
        }
        offset += good ? inst.bytes : 4;
    }
    return LS_OK;
}

/* --- steps ---------------------------------------------------------------------------------------------- */

static int program_order(const void *a, const void *b)
{
    const amd_inst *first = a, *second = b;
    return first->pc < second->pc ? -1 : first->pc > second->pc;
}

static bool program_covers(const amd_operand *operand, unsigned code)
{
    return operand->code <= code &&
           code < (unsigned)operand->code + (operand->dwords > 1 ? operand->dwords : 1u);
}

static bool program_writes_exec(const amd_inst *inst)
{
    const char *name = amd_op_name((amd_op)inst->op);
    if (strstr(name, "saveexec") || strstr(name, "wrexec") || strncmp(name, "v_cmpx", 6) == 0)
        return true;
    for (unsigned code = AMD_EXEC_LO; code <= AMD_EXEC_HI; code++)
        if (program_covers(&inst->sdst, code) || program_covers(&inst->vdst, code))
            return true;
    return strncmp(name, "s_movreld", 9) == 0;
}

static bool program_last(const amd_inst *inst)
{
    return inst->class_ == AMD_CLASS_BRANCH || program_ends(inst) || inst->op == AMD_S_SWAPPC_B64 ||
           inst->op == AMD_S_CALL_B64 || inst->op == AMD_S_SUBVECTOR_LOOP_BEGIN ||
           inst->op == AMD_S_SUBVECTOR_LOOP_END || inst->op == AMD_S_RFE_RESTORE_B64 ||
           program_writes_exec(inst);
}

/* Reads the clock, which runs do not advance before their end. */
static bool program_reads_time(const amd_inst *inst)
{
    return inst->op == AMD_S_MEMTIME || inst->op == AMD_S_MEMREALTIME || inst->op == AMD_S_GETREG_B32;
}

static ls_status program_build(program_walk *walk, ls_error *err)
{
    amd_program *program = walk->program;
    size_t count = walk->found.count;
    qsort(walk->found.at, count, sizeof *walk->found.at, program_order);
    uint64_t first = walk->found.at[0].pc;
    uint64_t end = (uint64_t)walk->found.at[count - 1].pc + walk->found.at[count - 1].bytes;
    program->base = program->kernel.code + first;
    program->word_count = (end - first + 3) / 4;
    program->op_count = (uint32_t)count;
    program->ops = calloc(count + 1, sizeof *program->ops);
    program->place = calloc((size_t)program->word_count, sizeof *program->place);
    program->insts = calloc(count, sizeof *program->insts);
    if (!program->ops || !program->place || !program->insts)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the instructions of kernel %s", program->name);
    for (size_t i = 0; i < count; i++) {
        amd_inst *inst = &program->insts[i];
        *inst = walk->found.at[i];
        bool alone = i + 1 == count || walk->found.at[i + 1].pc != inst->pc + inst->bytes;
        bool time = i + 1 < count && program_reads_time(&walk->found.at[i + 1]);
        amd_step *op = &program->ops[i + 1];
        unsigned stray;
        op->body = amd_exec_find(program->kernel.target, program->lanes, inst);
        if (op->body && amd_limits_stray(program, inst, &stray))
            op->body = amd_limits_body;
        op->inst = inst;
        op->next = program->kernel.code + inst->pc + inst->bytes;
        op->last = alone || time || program_last(inst);
        if (op->body)
            program->place[(inst->pc - first) / 4] = (uint32_t)i + 1;
        else if (i > 0)
            program->ops[i].last = 1; /* padding: a wave that gets there faults */
    }
    if (!amd_direct_build(program))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the instructions of kernel %s", program->name);
    return LS_OK;
}

static ls_status program_walk_all(program_walk *walk, ls_error *err)
{
    amd_program *program = walk->program;
    if (!vec_push(&walk->ahead, program->kernel.entry - program->kernel.code))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the branches of kernel %s", program->name);
    for (size_t i = 0; i < walk->ahead.count; i++) {
        ls_status status = program_straight(walk, walk->ahead.at[i], err);
        if (status != LS_OK)
            return status;
    }
    if (walk->indirect) {
        ls_status status = program_rest(walk, err);
        if (status != LS_OK)
            return status;
    }
    return program_build(walk, err);
}

/* --- what the descriptor says --------------------------------------------------------------------------- */

static void program_shape(amd_program *program)
{
    const amd_kernel *kernel = &program->kernel;
    bool wave32 = amd_target_is_gfx10(kernel->target) && (kernel->properties >> 10 & 1) != 0;
    program->lanes = wave32 ? 32 : 64;
    program->vgprs = amd_limits_vgprs(kernel, program->lanes);
    program->accumulation = program->vgprs - amd_limits_first_agpr(kernel, program->vgprs);
}

ls_status amd_program_create(const amd_kernel *kernel, const memory_space *address_space, amd_program **out,
                             ls_error *err)
{
    return amd_program_create_at(kernel, address_space, kernel->code, out, err);
}

ls_status amd_program_create_at(const amd_kernel *kernel, const memory_space *address_space, uint64_t bytes_at,
                                amd_program **out, ls_error *err)
{
    const char *name = kernel->name ? kernel->name : "?";
    if (kernel->code_bytes == 0 || kernel->code_bytes > UINT32_MAX || kernel->entry < kernel->code ||
        kernel->entry - kernel->code >= kernel->code_bytes)
        return ls_fail(err, LS_ERR_USAGE, "kernel %s: its entry 0x%llx is not in its code", name,
                       (unsigned long long)kernel->entry);
    amd_program *program = calloc(1, sizeof *program);
    if (!program)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for kernel %s", name);
    program->kernel = *kernel;
    program_shape(program);
    program->name = strdup(name);
    program->kernel.name = program->name;
    program->code = malloc((size_t)kernel->code_bytes);
    program_walk walk = { .program = program, .bytes = kernel->code_bytes };
    walk.seen = calloc((size_t)(kernel->code_bytes / 4 + 1), 1);
    ls_status status;
    if (!program->name || !program->code || !walk.seen)
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for kernel %s", name);
    else
        status = amd_limits_kernel(&program->kernel, program->lanes, err);
    if (status == LS_OK)
        status = address_space_read(address_space, bytes_at, program->code, kernel->code_bytes, err);
    if (status == LS_OK)
        status = program_walk_all(&walk, err);
    free(walk.seen);
    vec_fini(&walk.ahead);
    vec_fini(&walk.found);
    if (status != LS_OK)
        amd_program_destroy(program);
    else
        *out = program;
    return status;
}

void amd_program_destroy(amd_program *program)
{
    if (!program)
        return;
    free(program->name);
    free(program->code);
    free(program->ops);
    free(program->place);
    free(program->insts);
    free(program->direct);
    free(program->entry);
    free(program);
}

const amd_inst *amd_program_at(const amd_program *program, uint64_t pc)
{
    return program->ops[amd_program_place(program, pc)].inst;
}

const char *amd_program_pc(const amd_program *program, uint64_t pc, char *out, size_t capacity)
{
    const amd_kernel *k = &program->kernel;
    if (pc - k->entry < k->code + k->code_bytes - k->entry)
        snprintf(out, capacity, "%s+0x%llx", program->name, (unsigned long long)(pc - k->entry));
    else
        snprintf(out, capacity, "0x%llx", (unsigned long long)pc);
    return out;
}

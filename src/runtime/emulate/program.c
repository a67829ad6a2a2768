/* program.c: code becomes steps. Everything that the entry can reach is decoded before a launch, and refused then if one
 * instruction has no semantics. Reads the simulated memory; changes nothing. */
#include "base/vec.h"
#include "runtime/emulate/emulate_impl.h"

#include <stdlib.h>
#include <string.h>

/* --- where there is no instruction ------------------------------------------------------------------------ */

static void program_no_code(amd_wave *wave, const amd_inst *inst)
{
    wave->pc -= inst->bytes;
    wave->fault = (amd_fault){ .kind = AMD_FAULT_UNSUPPORTED, .address = wave->pc };
    wave->stop = AMD_FAULTED;
}

/* --- the walk --------------------------------------------------------------------------------------------- */

typedef struct program_walk {
    emulate_program *program;
    uint64_t bytes; /* of the code section */
    uint8_t *seen;  /* per dword: an instruction begins here */
    LS_VEC(uint64_t) todo;
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
    case AMD_S_CODE_END: return true;
    default: return false;
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
    const emulate_program *program = walk->program;
    char hex[24], text[128] = "no instruction";
    program_hex(program->code + offset, inst ? inst->bytes : walk->bytes - offset, hex, sizeof hex);
    if (inst)
        amd_print(program->kernel.target, program->lanes, inst, text, sizeof text);
    return ls_fail(err, LS_ERR_UNSUPPORTED, "kernel %s: pc 0x%llx (bytes %s): '%s' %s on %s", program->name,
                   (unsigned long long)(program->kernel.code + offset), hex, text,
                   inst ? "has no semantics" : "can be decoded", amd_target_name(program->kernel.target));
}

/* Decodes from `offset` to where control cannot go on. */
static ls_status program_straight(program_walk *walk, uint64_t offset, ls_error *err)
{
    emulate_program *program = walk->program;
    amd_target target = program->kernel.target;
    for (;;) {
        if (offset >= walk->bytes || (offset & 3) != 0)
            return ls_fail(err, LS_ERR_INPUT, "kernel %s: control runs off its code at pc 0x%llx", program->name,
                           (unsigned long long)(program->kernel.code + offset));
        if (walk->seen[offset / 4])
            return LS_OK;
        amd_inst inst;
        if (!amd_decode(target, program->lanes, program->code + offset, (size_t)(walk->bytes - offset), &inst))
            return program_refuse(walk, offset, NULL, err);
        inst.pc = (uint32_t)offset;
        if (inst.op != AMD_S_CODE_END && !amd_exec_find(target, program->lanes, &inst))
            return program_refuse(walk, offset, &inst, err);
        walk->seen[offset / 4] = 1;
        if (!ls_vec_push(&walk->found, inst))
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the instructions of kernel %s", program->name);
        if (program_jumps(&inst)) {
            uint64_t to = offset + 4 + (uint64_t)((int64_t)inst.simm * 4);
            if (!ls_vec_push(&walk->todo, to))
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

/* Functions that are called through registers: everything else in the section that decodes. What does not is data, or
 * faults when it is reached. */
static ls_status program_rest(program_walk *walk, ls_error *err)
{
    emulate_program *program = walk->program;
    amd_target target = program->kernel.target;
    for (uint64_t offset = 0; offset + 4 <= walk->bytes;) {
        amd_inst inst;
        bool good = amd_decode(target, program->lanes, program->code + offset, (size_t)(walk->bytes - offset), &inst);
        if (good && !walk->seen[offset / 4] && amd_exec_find(target, program->lanes, &inst)) {
            inst.pc = (uint32_t)offset;
            walk->seen[offset / 4] = 1;
            if (!ls_vec_push(&walk->found, inst))
                return ls_fail(err, LS_ERR_NOMEM, "no memory for the instructions of kernel %s", program->name);
        }
        offset += good ? inst.bytes : 4;
    }
    return LS_OK;
}

static ls_status program_build(program_walk *walk, ls_error *err)
{
    emulate_program *program = walk->program;
    uint64_t first = walk->bytes, end = 0;
    for (size_t i = 0; i < walk->found.count; i++) {
        const amd_inst *inst = &walk->found.at[i];
        if (inst->pc < first)
            first = inst->pc;
        if (inst->pc + inst->bytes > end)
            end = (uint64_t)inst->pc + inst->bytes;
    }
    program->base = program->kernel.code + first;
    program->op_count = (end - first) / 4;
    program->inst_count = (uint32_t)walk->found.count;
    program->ops = calloc((size_t)program->op_count, sizeof *program->ops);
    program->insts = calloc(walk->found.count + 1, sizeof *program->insts);
    if (!program->ops || !program->insts)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the instructions of kernel %s", program->name);
    program->insts[0].bytes = 4;
    for (uint64_t i = 0; i < program->op_count; i++)
        program->ops[i] = (emulate_op){ .body = program_no_code, .inst = &program->insts[0] };
    for (size_t i = 0; i < walk->found.count; i++) {
        amd_inst *inst = &program->insts[i + 1];
        *inst = walk->found.at[i];
        amd_body body = amd_exec_find(program->kernel.target, program->lanes, inst);
        if (body)
            program->ops[(inst->pc - first) / 4] = (emulate_op){ .body = body, .inst = inst };
    }
    return LS_OK;
}

static ls_status program_walk_all(program_walk *walk, ls_error *err)
{
    emulate_program *program = walk->program;
    if (!ls_vec_push(&walk->todo, program->kernel.entry - program->kernel.code))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the branches of kernel %s", program->name);
    for (size_t i = 0; i < walk->todo.count; i++) {
        ls_status status = program_straight(walk, walk->todo.at[i], err);
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

/* --- what the descriptor says ----------------------------------------------------------------------------- */

static void program_shape(emulate_program *program)
{
    const emulate_kernel *kernel = &program->kernel;
    bool wave32 = amd_target_is_gfx10(kernel->target) && (kernel->properties >> 10 & 1) != 0;
    unsigned granule = wave32 ? 8 : 4;
    program->lanes = wave32 ? 32 : 64;
    program->vgprs = ((kernel->rsrc1 & 0x3f) + 1) * granule;
    if (program->vgprs > 256)
        program->vgprs = 256;
}

ls_status emulate_program_create(const emulate_kernel *kernel, const ls_window *window, emulate_program **out,
                                 ls_error *err)
{
    const char *name = kernel->name ? kernel->name : "?";
    if (kernel->code_bytes == 0 || kernel->code_bytes > UINT32_MAX || kernel->entry < kernel->code ||
        kernel->entry - kernel->code >= kernel->code_bytes)
        return ls_fail(err, LS_ERR_USAGE, "kernel %s: its entry 0x%llx is not in its code", name,
                       (unsigned long long)kernel->entry);
    emulate_program *program = calloc(1, sizeof *program);
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
        status = ls_window_read(window, kernel->code, program->code, kernel->code_bytes, err);
    if (status == LS_OK)
        status = program_walk_all(&walk, err);
    free(walk.seen);
    ls_vec_fini(&walk.todo);
    ls_vec_fini(&walk.found);
    if (status != LS_OK)
        emulate_program_destroy(program);
    else
        *out = program;
    return status;
}

void emulate_program_destroy(emulate_program *program)
{
    if (!program)
        return;
    free(program->name);
    free(program->code);
    free(program->ops);
    free(program->insts);
    free(program);
}

unsigned emulate_program_lanes(const emulate_program *program)
{
    return program->lanes;
}

unsigned emulate_program_vgprs(const emulate_program *program)
{
    return program->vgprs;
}

unsigned emulate_program_instructions(const emulate_program *program)
{
    return program->inst_count;
}

const amd_inst *emulate_program_at(const emulate_program *program, uint64_t pc)
{
    uint64_t offset = pc - program->base;
    if ((offset & 3) != 0 || offset / 4 >= program->op_count)
        return NULL;
    const amd_inst *inst = program->ops[offset / 4].inst;
    return inst == &program->insts[0] ? NULL : inst;
}

/* direct.c: builds the direct list of a program (direct.h): chooses a function per instruction, leaves out instructions
 * that do nothing in emulation, and marks where runs end. */
#include "isa/amd/exec/direct.h"

#include "isa/amd/exec/lanes.h"
#include "isa/amd/exec/limits.h"
#include "isa/amd/exec/program.h"

#include <stdlib.h>

/* --- entries of every kind ------------------------------------------------------------------------------ */

void amd_direct_sync_slow(amd_wave *wave)
{
    unsigned fits = 1u << 7; /* never 0 */
    for (unsigned env = 0; env < LANES_ENV_COUNT; env++)
        fits |= (unsigned)(lanes_env_state(wave->mode, (lanes_env)env) == wave->host_float) << env;
    wave->host_env = (uint8_t)fits;
    wave->host_env_mode = wave->mode;
}
_Static_assert(LANES_ENV_COUNT <= 7, "bit 7 of host_env says that it is worked out");

const amd_direct *amd_direct_run(amd_wave *wave, const amd_direct *entry)
{
#if defined(LANES_THREADED)
    return entry->run(wave, entry);
#else
    for (;;) {
        const amd_direct *next = entry->run(wave, entry);
        if (next == entry)
            return entry;
        entry = next;
    }
#endif
}

const amd_direct *amd_direct_body(amd_wave *w, const amd_direct *s)
{
    w->pc = s->next;
    s->body(w, s->inst);
    if (w->stop != AMD_RUNNING)
        return s;
    amd_direct_sync(w);
    DIRECT_NEXT(w, s);
}

/* The last instruction of a run, by its body. */
static const amd_direct *direct_last(amd_wave *w, const amd_direct *s)
{
    w->pc = s->next;
    s->body(w, s->inst);
    return s;
}

/* After the last instruction of a run, if it has a function of its own. */
static const amd_direct *direct_end(amd_wave *w, const amd_direct *s)
{
    w->pc = s->next;
    return s;
}

/* --- which instructions --------------------------------------------------------------------------------- */

/* Does nothing: caches and wait counters exist only in simulated time. */
static bool direct_is_nothing(const amd_inst *inst)
{
    switch (inst->op) {
    case AMD_S_NOP:
    case AMD_S_WAITCNT:
    case AMD_S_WAITCNT_VSCNT:
    case AMD_S_WAITCNT_VMCNT:
    case AMD_S_WAITCNT_EXPCNT:
    case AMD_S_WAITCNT_LGKMCNT:
    case AMD_S_WAITCNT_DEPCTR:
    case AMD_S_CLAUSE:
    case AMD_S_INST_PREFETCH:
    case AMD_S_SETPRIO:
    case AMD_BUFFER_GL0_INV:
    case AMD_BUFFER_GL1_INV:
        return true;
    default:
        return false;
    }
}

/* MODE, or the way that registers are numbered, may change: the next run looks at them again. */
static bool direct_writes_mode(const amd_inst *inst)
{
    switch (inst->op) {
    case AMD_S_SETREG_B32:
    case AMD_S_SETREG_IMM32_B32:
    case AMD_S_ROUND_MODE:
    case AMD_S_DENORM_MODE:
    case AMD_S_SETVSKIP:
    case AMD_S_SET_GPR_IDX_ON:
    case AMD_S_SET_GPR_IDX_OFF:
    case AMD_S_SET_GPR_IDX_MODE:
    case AMD_S_SET_GPR_IDX_IDX:
        return true;
    default:
        return false;
    }
}

/* Writes the entries of an instruction that has functions of its own; returns how many. */
static unsigned direct_find(amd_target target, unsigned lanes, const amd_inst *inst, amd_direct *out)
{
    switch (inst->format) {
    case AMD_SOP1:
    case AMD_SOP2:
    case AMD_SOPK:
    case AMD_SOPC:
    case AMD_SOPP:
        return amd_direct_salu(target, inst, out);
    case AMD_VOP1:
    case AMD_VOP2:
    case AMD_VOPC:
    case AMD_VOP3:
    case AMD_VOP3B:
        return amd_direct_valu(target, lanes, inst, out);
    case AMD_SMEM:
    case AMD_DS:
    case AMD_FLAT:
    case AMD_GLOBAL:
        return amd_direct_memory(target, lanes, inst, out);
    default:
        return 0;
    }
}

/* Writes the entries of one step; returns how many. */
static uint32_t direct_step(const amd_program *program, const amd_step *step, amd_direct *out)
{
    amd_target target = program->kernel.target;
    const amd_inst *inst = step->inst;
    bool known = step->body != amd_limits_body; /* else it faults */
    bool last = step->last || direct_writes_mode(inst);
    if (!last && known && direct_is_nothing(inst))
        return 0;
    const amd_direct entry = { .body = step->body, .inst = inst, .next = step->next };
    out[0] = entry;
    if (last && known && amd_direct_branch(inst, out))
        return 1;
    unsigned count = known ? direct_find(target, program->lanes, inst, out) : 0;
    if (count == 0) {
        out[0] = entry;
        out[0].run = last ? direct_last : amd_direct_body;
        return 1;
    }
    if (last) {
        out[count] = entry;
        out[count++].run = direct_end;
    }
    return count;
}

bool amd_direct_build(amd_program *program)
{
    amd_direct parts[AMD_DIRECT_PARTS];
    size_t count = 0;
    program->entry = calloc((size_t)program->op_count + 1, sizeof *program->entry);
    if (!program->entry)
        return false;
    for (uint32_t i = 1; i <= program->op_count; i++) {
        program->entry[i] = (uint32_t)count;
        if (program->ops[i].body)
            count += direct_step(program, &program->ops[i], parts);
    }
    program->direct = aligned_alloc(64, (count + AMD_DIRECT_PARTS) * sizeof *program->direct);
    for (uint32_t i = 1; program->direct && i <= program->op_count; i++)
        if (program->ops[i].body)
            direct_step(program, &program->ops[i], &program->direct[program->entry[i]]);
    return program->direct != NULL;
}

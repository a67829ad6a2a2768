/* group.c: one work-group. Its waves take turns in a fixed order until all have ended. A turn ends at a
 * barrier, at the end of the wave, or after a limit of instructions, so that a wave that spins cannot block
 * the others. */
#include "isa/amd/exec/direct.h"
#include "isa/amd/exec/memory.h"
#include "runtime/emulate/emulate_impl.h"

#include <string.h>

#define GROUP_TURN 1000000u

static void group_start(emulate_context *context, const uint32_t id[3])
{
    uint32_t size[3];
    memcpy(context->group.id, id, sizeof context->group.id);
    context->wave_count = amd_start_size(&context->start, id, size);
    context->wave_total += context->wave_count;
    amd_start_clear((uint32_t *)(void *)context->lds, (context->group.lds_bytes + 63) / 64 * 16);
    for (uint32_t i = 0; i < context->wave_count; i++)
        amd_wave_start(&context->start, &context->group, size, context->wave_count, i,
                       context->vgprs + i * context->vgpr_block, &context->waves[i]);
    for (uint32_t i = 0; context->launch->debugger && i < context->wave_count; i++)
        context->stopped[i] = &context->waves[i];
}

/* --- execution ------------------------------------------------------------------------------------------ */

static bool group_fault(amd_wave *wave, ls_fault_kind kind, uint64_t pc)
{
    wave->fault = (ls_fault){ .kind = kind, .address = pc };
    wave->stop = AMD_FAULTED;
    return false;
}

static void group_call_hook(const emulate_context *context, emulate_hook hook, void *self,
                            const amd_wave *wave, const amd_inst *inst, uint64_t pc)
{
    emulate_step step = { .wave = wave, .inst = inst, .pc = pc };
    memcpy(step.work_group, context->group.id, sizeof step.work_group);
    hook(self, &step);
}

/* False: the debugger ends the launch; the wave is then faulted. */
static bool group_ask(emulate_context *context, bool (*ask)(void *self, const emulate_stop *stop),
                      amd_wave *wave, const amd_inst *inst, uint64_t pc)
{
    const emulate_stop stop = { .program = context->program,
                                .waves = context->stopped,
                                .wave_count = context->wave_count,
                                .wave = wave->index,
                                .inst = inst,
                                .pc = pc,
                                .work_group = context->group.id };
    return ask(context->launch->debugger->self, &stop) || group_fault(wave, LS_FAULT_STOPPED, pc);
}

/* Runs a wave until it stops or its time reaches `limit`; returns the address of the last instruction. The
 * loop that all speed depends on: while all lanes are active, the program's direct list executes a run of straight code
 * (exec/direct.h); else one body after the other does. A run is counted where it begins and where it ends; wave->time
 * counts instructions. */
#define GROUP_LOOP(ATTRIBUTES, NAME)                                                                          \
    ATTRIBUTES static uint64_t NAME(emulate_context *context, amd_wave *wave, uint64_t limit)                 \
    {                                                                                                         \
        const amd_program *program = context->program;                                                        \
        emulate_tally *tally = context->tally;                                                                \
        const amd_step *op = program->ops;                                                                    \
        uint64_t all = wave->lanes == 64 ? UINT64_MAX : UINT32_MAX;                                           \
        while (wave->time < limit) {                                                                          \
            uint64_t offset = wave->pc - program->base, exec;                                                 \
            uint64_t word = offset >> 2 | offset << 62; /* an odd pc is far outside */                        \
            if (word >= program->word_count || program->place[word] == 0) {                                   \
                group_fault(wave, LS_FAULT_UNSUPPORTED, wave->pc);                                            \
                return wave->pc;                                                                              \
            }                                                                                                 \
            const amd_step *first = &program->ops[program->place[word]];                                      \
            memcpy(&exec, &wave->sgpr[AMD_EXEC_LO], sizeof exec);                                             \
            uint64_t lanes = (uint64_t)__builtin_popcountll(exec & all);                                      \
            op = first;                                                                                       \
            if ((exec & all) == all && !wave->gpr_idx_mode) {                                                 \
                amd_direct_sync(wave);                                                                        \
                const amd_direct *end =                                                                       \
                    amd_direct_run(wave, &program->direct[program->entry[first - program->ops]]);             \
                op = &program->ops[end->inst - program->insts + 1];                                           \
            } else {                                                                                          \
                for (;;) {                                                                                    \
                    wave->pc = op->next;                                                                      \
                    op->body(wave, op->inst);                                                                 \
                    if ((wave->stop | op->last) != 0)                                                         \
                        break;                                                                                \
                    op++;                                                                                     \
                }                                                                                             \
            }                                                                                                 \
            wave->time += (uint64_t)(op - first) + 1;                                                         \
            tally[first - program->ops].count++;                                                              \
            tally[first - program->ops].lanes += lanes;                                                       \
            tally[op - program->ops + 1].count--;                                                             \
            tally[op - program->ops + 1].lanes -= lanes;                                                      \
            if (wave->stop != AMD_RUNNING)                                                                    \
                break;                                                                                        \
        }                                                                                                     \
        return op->next - (op->inst ? op->inst->bytes : 0);                                                   \
    }

GROUP_LOOP(, group_loop_plain)
#if defined(__x86_64__)
GROUP_LOOP(__attribute__((target("popcnt"))), group_loop_popcnt)
#endif

/* The same one instruction at a time, for those who watch. */
static uint64_t group_loop_hook(emulate_context *context, amd_wave *wave, uint64_t limit)
{
    const amd_program *program = context->program;
    uint64_t pc = wave->pc;
    while (wave->time < limit && wave->stop == AMD_RUNNING) {
        pc = wave->pc;
        const amd_inst *inst = amd_program_at(program, pc);
        if (!inst) {
            group_fault(wave, LS_FAULT_UNSUPPORTED, pc);
            return pc;
        }
        const emulate_launch *launch = context->launch;
        const emulate_debugger *debugger = launch->debugger;
        if (debugger && !group_ask(context, debugger->before, wave, inst, pc))
            return pc;
        uint32_t at = amd_program_place(program, pc);
        uint64_t lanes = (uint64_t)__builtin_popcountll(amd_wave_exec(wave));
        context->tally[at].count++;
        context->tally[at].lanes += lanes;
        context->tally[at + 1].count--;
        context->tally[at + 1].lanes -= lanes;
        if (launch->before)
            group_call_hook(context, launch->before, launch->before_self, wave, inst, pc);
        if (launch->strict && !strict_step(launch->strict, wave, inst, at, pc)) {
            group_fault(wave, LS_FAULT_STRICT, pc);
            return pc;
        }
        wave->time++;
        wave->pc = program->ops[at].next;
        program->ops[at].body(wave, inst);
        amd_wave_rest(wave);
        if (wave->stop != AMD_FAULTED && launch->hook)
            group_call_hook(context, launch->hook, launch->hook_self, wave, inst, pc);
        if (wave->stop != AMD_FAULTED && debugger && !group_ask(context, debugger->after, wave, inst, pc))
            return pc;
    }
    return pc;
}

static uint64_t group_loop(emulate_context *context, amd_wave *wave, uint64_t limit)
{
    if (emulate_is_watched(context->launch))
        return group_loop_hook(context, wave, limit);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("popcnt"))
        return group_loop_popcnt(context, wave, limit);
#endif
    return group_loop_plain(context, wave, limit);
}

/* One turn. False: the wave faulted. */
static bool group_turn(emulate_context *context, amd_wave *wave)
{
    uint64_t most = context->launch->max_instructions, limit = wave->time + GROUP_TURN;
    if (most != 0 && limit > most)
        limit = most;
    uint64_t before = wave->time;
    uint64_t pc = group_loop(context, wave, limit);
    amd_wave_rest(wave);
    context->instructions += wave->time - before;
    if (wave->stop == AMD_RUNNING && most != 0 && wave->time >= most)
        group_fault(wave, LS_FAULT_LIMIT, wave->pc);
    if (wave->stop != AMD_FAULTED)
        return true;
    context->fault_pc = pc;
    context->fault_wave = wave->index;
    return false;
}

static bool group_run(emulate_context *context, const uint32_t id[3], uint64_t number)
{
    strict *checks = context->launch->strict;
    group_start(context, id);
    if (checks)
        strict_group(checks, context->waves, context->wave_count, number);
    for (;;) {
        uint32_t running = 0, waiting = 0;
        amd_wave *first_waiting = NULL;
        for (uint32_t i = 0; i < context->wave_count; i++) {
            amd_wave *wave = &context->waves[i];
            if (wave->stop == AMD_RUNNING && !group_turn(context, wave))
                return false;
            running += wave->stop == AMD_RUNNING;
            if (wave->stop == AMD_AT_BARRIER) {
                first_waiting = first_waiting ? first_waiting : wave;
                waiting++;
            }
        }
        if (running > 0)
            continue;
        if (waiting == 0)
            return true;
        if (waiting < context->wave_count && !context->launch->lenient_barriers) {
            context->fault_pc = first_waiting->pc - 4;
            context->fault_wave = first_waiting->index;
            return group_fault(first_waiting, LS_FAULT_BARRIER, first_waiting->pc - 4);
        }
        context->barriers++;
        if (checks)
            strict_barrier(checks);
        for (uint32_t i = 0; i < context->wave_count; i++)
            if (context->waves[i].stop == AMD_AT_BARRIER)
                context->waves[i].stop = AMD_RUNNING;
    }
}

bool emulate_group_run(emulate_context *context, const uint32_t id[3], uint64_t number)
{
    const emulate_debugger *debugger = context->launch->debugger;
    if (group_run(context, id, number))
        return true;
    if (!debugger || context->waves[context->fault_wave].fault.kind == LS_FAULT_STOPPED)
        return false;
    const emulate_stop stop = { .program = context->program,
                                .waves = context->stopped,
                                .wave_count = context->wave_count,
                                .wave = context->fault_wave,
                                .inst = amd_program_at(context->program, context->fault_pc),
                                .pc = context->fault_pc,
                                .work_group = context->group.id };
    debugger->fault(debugger->self, &stop);
    return false;
}

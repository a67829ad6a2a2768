/* group.c: one work-group: the registers that its waves start with, and their turns until all have ended.
 * The waves of a work-group take turns in order; a turn ends at a barrier, at the end, or after so many
 * instructions that a wave which waits for another one cannot wait forever. */
#include "isa/amd/exec/memory.h"
#include "runtime/emulate/emulate_impl.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define GROUP_TURN 1000000u

/* --- initial registers ---------------------------------------------------------------------------------- */

/* The resource through which MUBUF instructions reach private memory: interleaved by dwords over the
 * lanes. */
static void group_scratch_resource(const emulate_context *context, uint32_t word[4])
{
    const amd_group *group = &context->group;
    uint32_t index_stride = context->program->lanes == 64 ? 3 : 2;
    word[0] = (uint32_t)group->scratch;
    word[1] = ((uint32_t)(group->scratch >> 32) & 0xffff) | 1u << 31;
    word[2] = UINT32_MAX;
    word[3] = 0xfacu | index_stride << 21 | 1u << 23; /* x, y, z, w as they are; lanes are the index */
    if (context->program->kernel.target == AMD_GFX803)
        word[3] |= 1u << 19; /* elements of 4 bytes */
    else
        word[3] |= 22u << 12 | 1u << 24 | 3u << 28; /* 32_FLOAT; raw bounds */
}

static void group_scalars(const emulate_context *context, amd_wave *wave)
{
    const emulate_kernel *kernel = &context->program->kernel;
    const amd_group *group = &context->group;
    uint32_t *sgpr = wave->sgpr;
    unsigned at = 0, properties = kernel->properties;
    if (properties & 1u << 0) {
        group_scratch_resource(context, sgpr);
        at += 4;
    }
    uint64_t pairs[5] = { context->packet, context->queue, context->launch->kernarg,
                          context->launch->dispatch_id, group->scratch };
    if (kernel->target == AMD_GFX803) /* offset from where the resource begins, and bytes per lane */
        pairs[4] = (uint64_t)group->scratch_bytes << 32;
    for (unsigned i = 0; i < 5; i++)
        if (properties & 2u << i) {
            memcpy(sgpr + at, &pairs[i], 8);
            at += 2;
        }
    if (properties & 1u << 6)
        sgpr[at] = group->scratch_bytes;
    at = kernel->rsrc2 >> 1 & 0x1f; /* the system's follow all user SGPRs that were asked for */
    for (unsigned i = 0; i < 3; i++)
        if (kernel->rsrc2 & 0x80u << i)
            sgpr[at++] = group->id[i];
    if (kernel->rsrc2 & 1u << 10)
        sgpr[at++] = (wave->index == 0 ? 1u << 31 : 0) | context->wave_count;
    if (kernel->rsrc2 & 1)
        sgpr[at] = (uint32_t)wave->index * wave->lanes * group->scratch_bytes;
}

/* Registers are 0 at first, so that a program that reads one before it writes it always reads the same. */
static void group_clear(uint32_t *registers, size_t count)
{
#if defined(__SSE2__)
    __m128i *at = (__m128i *)(void *)registers, *end = at + count / 4; /* whole rows: a multiple of 16 words */
    for (; at < end; at += 4) {
        _mm_store_si128(at, _mm_setzero_si128());
        _mm_store_si128(at + 1, _mm_setzero_si128());
        _mm_store_si128(at + 2, _mm_setzero_si128());
        _mm_store_si128(at + 3, _mm_setzero_si128());
    }
#else
    memset(registers, 0, count * sizeof *registers);
#endif
}

static void group_lanes(const emulate_context *context, amd_wave *wave, const uint32_t size[3])
{
    const emulate_program *program = context->program;
    unsigned lanes = program->lanes, ids = program->kernel.rsrc2 >> 11 & 3;
    uint32_t total = size[0] * size[1] * size[2], first = (uint32_t)wave->index * lanes;
    uint32_t count = total - first < lanes ? total - first : lanes;
    group_clear(wave->vgpr, (size_t)program->vgprs * lanes);
    uint32_t x = first % size[0], y = first / size[0] % size[1], z = first / size[0] / size[1];
    for (uint32_t lane = 0; lane < count; lane++) {
        wave->vgpr[lane] = x;
        if (ids >= 1)
            wave->vgpr[lanes + lane] = y;
        if (ids >= 2)
            wave->vgpr[2 * lanes + lane] = z;
        if (++x == size[0]) {
            x = 0;
            if (++y == size[1]) {
                y = 0;
                z++;
            }
        }
    }
    uint64_t exec = count == 64 ? UINT64_MAX : (1ull << count) - 1;
    memcpy(&wave->sgpr[AMD_EXEC_LO], &exec, sizeof exec);
}

static void group_start(emulate_context *context, const uint32_t id[3])
{
    const emulate_program *program = context->program;
    const emulate_launch *launch = context->launch;
    uint32_t size[3], total = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t left = launch->grid[i] - id[i] * launch->group[i];
        size[i] = left < launch->group[i] ? left : launch->group[i];
        total *= size[i];
        context->group.id[i] = id[i];
    }
    context->wave_count = (total + program->lanes - 1) / program->lanes;
    context->wave_total += context->wave_count;
    group_clear((uint32_t *)(void *)context->lds, (context->group.lds_bytes + 63) / 64 * 16);
    uint32_t rsrc1 = program->kernel.rsrc1;
    for (uint32_t i = 0; i < context->wave_count; i++) {
        amd_wave *wave = &context->waves[i];
        *wave = (amd_wave){ .vgpr = context->vgprs + i * context->vgpr_block,
                            .pc = program->kernel.entry,
                            .mode = (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9 |
                                    (rsrc1 >> 26 & 1) << 23,
                            .vgpr_count = (uint16_t)program->vgprs,
                            .lanes = (uint8_t)program->lanes,
                            .target = (uint8_t)program->kernel.target,
                            .index = (uint8_t)i,
                            .group = &context->group };
        group_scalars(context, wave);
        group_lanes(context, wave, size);
    }
}

/* --- execution ------------------------------------------------------------------------------------------ */

static bool group_fault(amd_wave *wave, amd_fault_kind kind, uint64_t pc)
{
    wave->fault = (amd_fault){ .kind = kind, .address = pc };
    wave->stop = AMD_FAULTED;
    return false;
}

static void group_tell(const emulate_context *context, const amd_wave *wave, const amd_inst *inst, uint64_t pc)
{
    emulate_step step = { .wave = wave, .inst = inst, .pc = pc };
    memcpy(step.work_group, context->group.id, sizeof step.work_group);
    context->launch->hook(context->launch->hook_self, &step);
}

/* Runs a wave until it stops or its time reaches `limit`; returns the address of the last instruction. The
 * loop that all speed depends on: straight code costs a store of the pc, the call and one test. A run is
 * counted where it begins and where it ends; wave->time counts instructions. */
#define GROUP_LOOP(ATTRIBUTES, NAME)                                                                          \
    ATTRIBUTES static uint64_t NAME(emulate_context *context, amd_wave *wave, uint64_t limit)                 \
    {                                                                                                         \
        const emulate_program *program = context->program;                                                    \
        emulate_tally *tally = context->tally;                                                                \
        const emulate_op *op = program->ops;                                                                  \
        uint64_t all = wave->lanes == 64 ? UINT64_MAX : UINT32_MAX;                                           \
        while (wave->time < limit) {                                                                          \
            uint64_t offset = wave->pc - program->base, exec;                                                 \
            uint64_t word = offset >> 2 | offset << 62; /* an odd pc is far outside */                        \
            if (word >= program->word_count || program->place[word] == 0) {                                   \
                group_fault(wave, AMD_FAULT_UNSUPPORTED, wave->pc);                                           \
                return wave->pc;                                                                              \
            }                                                                                                 \
            const emulate_op *first = &program->ops[program->place[word]];                                    \
            memcpy(&exec, &wave->sgpr[AMD_EXEC_LO], sizeof exec);                                             \
            uint64_t lanes = (uint64_t)__builtin_popcountll(exec & all);                                      \
            op = first;                                                                                       \
            for (;;) {                                                                                        \
                wave->pc = op->next;                                                                          \
                op->body(wave, op->inst);                                                                     \
                if ((wave->stop | op->last) != 0)                                                             \
                    break;                                                                                    \
                op++;                                                                                         \
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
    const emulate_program *program = context->program;
    uint64_t pc = wave->pc;
    while (wave->time < limit && wave->stop == AMD_RUNNING) {
        pc = wave->pc;
        const amd_inst *inst = emulate_program_at(program, pc);
        if (!inst) {
            group_fault(wave, AMD_FAULT_UNSUPPORTED, pc);
            return pc;
        }
        uint32_t at = program->place[(pc - program->base) / 4];
        uint64_t lanes = (uint64_t)__builtin_popcountll(amd_wave_exec(wave));
        context->tally[at].count++;
        context->tally[at].lanes += lanes;
        context->tally[at + 1].count--;
        context->tally[at + 1].lanes -= lanes;
        wave->time++;
        wave->pc = program->ops[at].next;
        program->ops[at].body(wave, inst);
        if (wave->stop != AMD_FAULTED)
            group_tell(context, wave, inst, pc);
    }
    return pc;
}

static uint64_t group_loop(emulate_context *context, amd_wave *wave, uint64_t limit)
{
    if (context->launch->hook)
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
    context->instructions += wave->time - before;
    if (wave->stop == AMD_RUNNING && most != 0 && wave->time >= most)
        group_fault(wave, AMD_FAULT_LIMIT, wave->pc);
    if (wave->stop != AMD_FAULTED)
        return true;
    context->fault_pc = pc;
    context->fault_wave = wave->index;
    return false;
}

bool emulate_group_run(emulate_context *context, const uint32_t id[3])
{
    group_start(context, id);
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
            return group_fault(first_waiting, AMD_FAULT_BARRIER, first_waiting->pc - 4);
        }
        context->barriers++;
        for (uint32_t i = 0; i < context->wave_count; i++)
            if (context->waves[i].stop == AMD_AT_BARRIER)
                context->waves[i].stop = AMD_RUNNING;
    }
}

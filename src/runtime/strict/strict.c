/* strict.c: checks of launches, work-groups and instructions, and the text of a finding. */
#include "runtime/strict/strict.h"

#include "isa/amd/exec/limits.h"
#include "runtime/strict/strict_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- findings ------------------------------------------------------------------------------------------- */

bool strict_fail(strict *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->why, sizeof s->why, format, args);
    va_end(args);
    return false;
}

const char *strict_why(const strict *s)
{
    return s->why;
}

static void name_register(unsigned code, char *out, size_t capacity)
{
    if (code >= AMD_AGPR)
        snprintf(out, capacity, "a%u", code - AMD_AGPR);
    else if (code >= AMD_VGPR)
        snprintf(out, capacity, "v%u", code - AMD_VGPR);
    else if (code == AMD_SCC)
        snprintf(out, capacity, "SCC");
    else if (code == AMD_VCC_LO || code == AMD_VCC_HI)
        snprintf(out, capacity, "%s", code == AMD_VCC_LO ? "vcc_lo" : "vcc_hi");
    else if (code == AMD_EXEC_LO || code == AMD_EXEC_HI)
        snprintf(out, capacity, "EXEC");
    else if (code == AMD_M0)
        snprintf(out, capacity, "m0");
    else
        snprintf(out, capacity, "s%u", code);
}

/* How an undefined value came to be. */
static void name_origin(const strict *s, uint32_t origin, char *out, size_t capacity)
{
    static const char *const places[] = { "", "memory", "LDS", "private memory" };
    const amd_program *program = s->launch.program;
    if (origin == 0 || origin > program->op_count) {
        snprintf(out, capacity, "nothing has written it");
        return;
    }
    const strict_origin *from = &s->origins[origin];
    const amd_inst *inst = program->ops[origin].inst;
    char text[128], pc[300];
    amd_print(program->kernel.target, program->lanes, inst, text, sizeof text);
    snprintf(out, capacity, "pc %s (%s) read it from %s at 0x%llx, which nothing has written",
             amd_program_pc(program, program->ops[origin].next - inst->bytes, pc, sizeof pc), text,
             places[from->kind], (unsigned long long)from->address);
}

bool strict_undefined(strict *s, const char *use, unsigned code, int lane, uint32_t origin)
{
    char name[16], from[256], of[32] = "";
    name_register(code, name, sizeof name);
    name_origin(s, origin, from, sizeof from);
    if (lane >= 0)
        snprintf(of, sizeof of, "lane %d: ", lane);
    return strict_fail(s, "%s%s depends on %s, which is undefined: %s", of, use, name, from);
}

bool strict_need_scalars(strict *s, const char *use, unsigned code, unsigned count)
{
    for (unsigned i = code; i < code + count && i < AMD_INT_0; i++)
        if (strict_has_shadow(i) && s->shadow->sgpr[i] != 0)
            return strict_undefined(s, use, i, -1, s->shadow->sgpr_origin[i]);
    return true;
}

/* --- launches and work-groups ---------------------------------------------------------------------------- */

void strict_begin(strict *s, const strict_launch *launch)
{
    pthread_mutex_lock(&s->lock);
    s->first += (uint32_t)s->segments.count;
    vec_clear(&s->segments);
    if (s->first > UINT32_MAX / 2) { /* numbers restart: clear the last accesses of all pages */
        for (uint64_t i = 0; i < s->page_top; i++)
            if (s->pages[i]) {
                free(s->pages[i]->race);
                s->pages[i]->race = NULL;
            }
        s->first = 1;
    }
    s->launch = *launch;
    s->waves_before = s->wave_count = 0;
    s->why[0] = '\0';
    free(s->origins);
    s->origins = calloc((size_t)launch->program->op_count + 1, sizeof *s->origins);
    s->no_memory = !s->origins;
}

void strict_end(strict *s)
{
    pthread_mutex_unlock(&s->lock);
}

/* Registers that the command processor and the dispatcher fill are defined; see start.c. */
static void start_wave(strict *s, strict_wave *shadow, const amd_wave *wave)
{
    const amd_kernel *kernel = &s->launch.program->kernel;
    unsigned user = kernel->rsrc2 >> 1 & 0x1f, ids = kernel->rsrc2 >> 11 & 3, lanes = wave->lanes;
    uint32_t *vgpr = shadow->vgpr;
    memset(shadow, 0, sizeof *shadow);
    shadow->vgpr = vgpr;
    memset(shadow->sgpr, 0xff, sizeof shadow->sgpr);
    for (unsigned i = 0; i < amd_limits_user_sgprs(kernel); i++)
        shadow->sgpr[i] = 0;
    for (unsigned bit = 7; bit <= 10; bit++)
        if (kernel->rsrc2 >> bit & 1)
            shadow->sgpr[user++] = 0;
    if (kernel->rsrc2 & 1)
        shadow->sgpr[user] = 0;
    shadow->sgpr[AMD_NULL] = shadow->sgpr[AMD_EXEC_LO] = shadow->sgpr[AMD_EXEC_HI] = 0;
    if (kernel->target == AMD_GFX942) /* the hardware fills it */
        shadow->sgpr[AMD_FLAT_SCRATCH_LO] = shadow->sgpr[AMD_FLAT_SCRATCH_HI] = 0;
    shadow->scc = 1;
    memset(vgpr, 0xff, amd_start_rows(kernel->target) * lanes * sizeof *vgpr);
    uint64_t exec = amd_wave_exec(wave);
    for (unsigned row = 0; row <= ids && row < 3; row++)
        for (unsigned lane = 0; lane < lanes; lane++)
            if (exec >> lane & 1)
                vgpr[row * lanes + lane] = 0;
}

/* Private memory holds the bytes of its last user. */
static void start_private(strict *s)
{
    uint64_t from = s->launch.scratch, bytes = s->launch.scratch_bytes;
    for (uint64_t at = from; at < from + bytes;) {
        uint64_t offset = at & (LS_PAGE_BYTES - 1), n = LS_PAGE_BYTES - offset;
        n = n < from + bytes - at ? n : from + bytes - at;
        strict_page *page = strict_page_of(s, at, false);
        if (page)
            memset(page->defined + offset, 0, n);
        at += n;
    }
}

void strict_group(strict *s, const amd_wave *waves, uint32_t count, uint64_t group_number)
{
    s->waves_before += s->wave_count;
    s->wave_count = count;
    s->group = group_number;
    s->barrier = 0;
    for (uint32_t i = 0; i < count; i++) {
        s->waves[i].vgpr = s->vgprs + i * amd_start_rows((amd_target)waves[i].target) * waves[i].lanes;
        start_wave(s, &s->waves[i], &waves[i]);
        strict_next_segment(s, &s->waves[i], i);
    }
    uint32_t lds_pages = (waves[0].group->lds_bytes + LS_PAGE_BYTES - 1) / LS_PAGE_BYTES;
    for (uint32_t i = 0; i < lds_pages; i++) {
        memset(s->lds[i].defined, 0, sizeof s->lds[i].defined);
        memset(s->lds[i].race, 0, sizeof *s->lds[i].race);
    }
    start_private(s);
}

void strict_barrier(strict *s)
{
    s->barrier++;
    for (uint32_t i = 0; i < s->wave_count; i++)
        strict_next_segment(s, &s->waves[i], i);
}

/* Wait states that the program owes. */
static bool step_hazards(strict *s)
{
    const amd_program *program = s->launch.program;
    hazard_finding found;
    if (hazard_step(&s->shadow->hazards, program->kernel.target, s->inst, s->op, &found))
        return true;
    char name[16] = "", text[128], pc[300];
    const amd_inst *first = found.after->inst;
    if (found.code != AMD_NO_OPERAND)
        name_register(found.code, name, sizeof name);
    amd_print(program->kernel.target, program->lanes, first, text, sizeof text);
    amd_program_pc(program, program->ops[found.after->op].next - first->bytes, pc, sizeof pc);
    return strict_fail(s, "%u wait states are missing after pc %s (%s): %s%s%s; %u are needed, %u are there",
                       found.need - found.have, pc, text, name, *name ? ": " : "", found.rule, found.need,
                       found.have);
}

bool strict_step(strict *s, const amd_wave *wave, const amd_inst *inst, uint32_t op, uint64_t pc)
{
    s->wave = wave;
    s->shadow = &s->waves[wave->index];
    s->inst = inst;
    s->op = op;
    s->pc = pc;
    if (s->no_memory)
        return strict_fail(s, "the host has no memory left for strict checks");
    if (s->launch.program->ops[op].body == amd_limits_body)
        return true; /* it faults anyway */
    if (!step_hazards(s))
        return false;
    switch (inst->format) {
    case AMD_SOP1:
    case AMD_SOP2:
    case AMD_SOPK:
    case AMD_SOPC:
    case AMD_SOPP:
        return strict_salu(s);
    case AMD_VOP1:
    case AMD_VOP2:
    case AMD_VOPC:
    case AMD_VOP3:
    case AMD_VOP3B:
    case AMD_VOP3P:
        return strict_valu(s);
    default:
        return strict_memory(s);
    }
}

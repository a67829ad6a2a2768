/* exec.c: see lockstep/cu_exec.h: waves that execute for a compute unit of a plug-in. It uses the decoded program (code.h)
 * and the bodies of isa/amd/exec, and knows nothing of time. exec_lines.c makes messages of memory instructions. */
#include "model/cu/exec.h"

#include <string.h>

static void has_room(void *self, ls_cycle now); /* event: the link to the command processor */

/* --- set-up --------------------------------------------------------------------------------------------- */

ls_status ls_cu_exec_create(ls_block *block, const ls_cu_wiring *wiring, const ls_cu_capacity *capacity,
                            uint32_t line_bytes, ls_cu_exec **out, ls_error *err)
{
    ls_domain *domain = ls_region_domain(ls_block_region(block));
    uint32_t waves = capacity->simds * capacity->waves_per_simd;
    *out = NULL;
    if (line_bytes < 64 || line_bytes > LS_LINE_BYTES_MAX || (line_bytes & (line_bytes - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "compute unit '%s' wants lines of %u bytes: 64 or %u can be",
                       ls_block_name(block), line_bytes, LS_LINE_BYTES_MAX);
    if (capacity->groups == 0 || waves == 0 || waves >= EXEC_WAVES_MAX)
        return ls_fail(err, LS_ERR_INPUT, "compute unit '%s' has no room for waves, or too much",
                       ls_block_name(block));
    ls_cu_exec *x = ls_domain_alloc(domain, sizeof *x);
    if (x != NULL) {
        x->groups = ls_domain_alloc(domain, capacity->groups * sizeof *x->groups);
        x->reports = ls_domain_alloc(domain, capacity->groups * sizeof *x->reports);
        x->waves = ls_domain_alloc(domain, waves * sizeof *x->waves);
        x->vgprs = ls_domain_alloc(domain, (size_t)waves * EXEC_VGPRS * sizeof *x->vgprs);
        x->lds = ls_domain_alloc(domain, (size_t)capacity->groups * EXEC_LDS_BYTES);
        x->accesses = ls_domain_alloc(domain, LS_CU_EXEC_ACCESSES * sizeof *x->accesses);
    }
    if (x == NULL || !x->groups || !x->reports || !x->waves || !x->vgprs || !x->lds || !x->accesses)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for compute unit '%s'", ls_block_name(block));
    x->domain = domain;
    x->kernels = wiring->kernels;
    x->to_command = wiring->to_command;
    ls_event_init(&x->room, has_room, x);
    x->cluster = wiring->cluster;
    x->index = wiring->index;
    x->group_count = capacity->groups;
    x->wave_count = waves;
    x->line_bytes = line_bytes;
    x->free_accesses = INDEX_POOL_NEW;
    *out = x;
    return LS_OK;
}

/* --- work-groups ---------------------------------------------------------------------------------------- */

static exec_wave *free_wave(ls_cu_exec *x)
{
    for (uint32_t i = 0; i < x->wave_count; i++) {
        exec_wave *w = &x->waves[(x->next_wave + i) % x->wave_count];
        if (w->group == NULL) {
            x->next_wave = (x->next_wave + i + 1) % x->wave_count;
            return w;
        }
    }
    return NULL;
}

static void start_wave(ls_cu_exec *x, exec_group *g, exec_wave *w, const amd_start *start,
                       const uint32_t size[3], uint32_t index)
{
    uint32_t *vgpr = x->vgprs + (size_t)(w - x->waves) * EXEC_VGPRS;
    *w = (exec_wave){ .code = g->kernel->code, .group = g };
    w->most = g->kernel->max_instructions != 0 ? g->kernel->max_instructions : UINT64_MAX;
    w->in_order[0] = w->in_order[1] = INDEX_LIST_EMPTY;
    amd_wave_start(start, &g->arch, size, g->wave_count, index, vgpr, &w->arch);
    w->number = ls_cu_exec_wave(g->done.slot, index);
    w->head = &w->code->insts[amd_program_place(w->code->program, w->arch.pc)];
    g->waves[index] = (uint16_t)(w - x->waves);
}

void ls_cu_exec_start(ls_cu_exec *x, const ls_cu_launch *launch)
{
    const ls_cu_kernel *k = x->kernels->at[launch->kernel];
    exec_group *g = launch->slot < x->group_count ? &x->groups[launch->slot] : NULL;
    if (k->observer != NULL) {
        ls_domain_fail(x->domain, "the model of slot 'cu' reports no accesses: memory cannot be checked");
        return;
    }
    if (k->counts != NULL) {
        ls_domain_fail(x->domain, "the model of slot 'cu' does not count per instruction: leave --source out");
        return;
    }
    if (k->tapes != NULL || k->recorder != NULL) {
        ls_domain_fail(x->domain,
                       "the model of slot 'cu' executes its waves: it neither makes nor plays recordings");
        return;
    }
    if (g == NULL || g->resident) {
        ls_domain_fail(x->domain, "a work-group came to a slot of slot 'cu' that is taken or not there");
        return;
    }
    *g = (exec_group){ .kernel = k, .resident = true };
    g->wave_count = g->running = launch->wave_count;
    g->arch = rules_group(k, launch, x->lds + (size_t)launch->slot * EXEC_LDS_BYTES);
    g->done = rules_done(launch, x->cluster, x->index);
    const amd_start start = rules_start(k);
    uint32_t size[3];
    amd_start_size(&start, launch->id, size);
    ls_domain_pending(x->domain, 1);
    for (uint32_t i = 0; i < g->wave_count; i++) {
        exec_wave *w = free_wave(x);
        if (w == NULL) {
            g->wave_count = i; /* those behind it have no slot */
            ls_domain_fail(x->domain,
                           "the model of slot 'cu' has fewer places for waves than its capacity says");
            return;
        }
        start_wave(x, g, w, &start, size, i);
    }
}

static void send_reports(ls_cu_exec *x)
{
    while (x->report_count != 0 && !x->reports_wait) {
        exec_group *g = &x->groups[x->reports[x->report_first]];
        ls_cu_done *report = ls_link_send(x->to_command, sizeof *report);
        if (report == NULL) {
            x->reports_wait = true;
            ls_link_wait(x->to_command, &x->room);
            return;
        }
        *report = g->done;
        g->resident = false;
        x->report_first = (x->report_first + 1) % x->group_count;
        x->report_count--;
    }
}

static void has_room(void *self, ls_cycle now)
{
    ls_cu_exec *x = self;
    (void)now;
    x->reports_wait = false;
    send_reports(x);
}

void exec_check(ls_cu_exec *x, exec_group *g)
{
    if (g->reported || g->in_flight != 0 || (g->running != 0 && !g->dead))
        return;
    g->reported = true;
    for (uint32_t i = 0; i < g->wave_count; i++)
        x->waves[g->waves[i]].group = NULL;
    g->wave_count = 0;
    ls_domain_pending(x->domain, -1);
    ls_domain_progress(x->domain);
    x->reports[(x->report_first + x->report_count++) % x->group_count] = g->done.slot;
    send_reports(x);
}

void ls_cu_exec_cancel(ls_cu_exec *x, uint32_t kernel)
{
    for (uint32_t i = 0; i < x->group_count; i++) {
        exec_group *g = &x->groups[i];
        if (!g->resident || g->reported || g->done.kernel != kernel)
            continue;
        g->dead = true;
        exec_check(x, g);
    }
}

/* --- faults, barriers, the end -------------------------------------------------------------------------- */

ls_cu_result exec_fault(exec_wave *w, uint64_t pc)
{
    exec_group *g = w->group;
    if (!g->dead) {
        g->done.fault = w->arch.fault;
        g->done.fault_pc = pc;
        g->done.fault_wave = w->arch.index;
        g->dead = true;
    }
    return LS_CU_FAULTED;
}

static ls_cu_result fault(exec_wave *w, ls_fault_kind kind, uint64_t pc)
{
    w->arch.fault = (ls_fault){ .kind = kind, .address = pc };
    w->arch.stop = AMD_FAULTED;
    return exec_fault(w, pc);
}

/* The instruction at the wave's pc is its next one. */
static ls_cu_result advance(exec_wave *w, ls_cu_result result)
{
    uint32_t place = amd_program_place(w->code->program, w->arch.pc);
    if (place == 0)
        return fault(w, LS_FAULT_UNSUPPORTED, w->arch.pc);
    w->head = &w->code->insts[place];
    return result;
}

/* All waves that have not ended are at the barrier: they continue behind it. */
static void open_barrier(ls_cu_exec *x, exec_group *g)
{
    if (g->at_barrier == 0 || g->at_barrier != g->running)
        return;
    bool all = g->running == g->wave_count || g->kernel->lenient_barriers;
    g->at_barrier = 0;
    g->done.tally.barriers += all;
    for (uint32_t i = 0; i < g->wave_count; i++) {
        exec_wave *w = &x->waves[g->waves[i]];
        if (w->arch.stop != AMD_AT_BARRIER)
            continue;
        if (!all) {
            fault(w, LS_FAULT_BARRIER, w->head->next - w->head->bytes);
            return;
        }
        w->arch.stop = AMD_RUNNING;
        (void)advance(w, LS_CU_STEPPED);
    }
}

static ls_cu_result end_wave(ls_cu_exec *x, exec_wave *w)
{
    exec_group *g = w->group;
    w->arch.stop = AMD_ENDED;
    g->running--;
    open_barrier(x, g);
    return LS_CU_ENDED;
}

/* --- one instruction ------------------------------------------------------------------------------------ */

static exec_wave *wave_of(const ls_cu_exec *x, uint32_t number)
{
    uint32_t slot = number / LS_CU_WAVES_PER_GROUP_MAX, index = number % LS_CU_WAVES_PER_GROUP_MAX;
    const exec_group *g = slot < x->group_count ? &x->groups[slot] : NULL;
    if (g == NULL || !g->resident || g->dead || index >= g->wave_count)
        return NULL;
    exec_wave *w = &x->waves[g->waves[index]];
    return w->arch.stop == AMD_RUNNING ? w : NULL;
}

_Static_assert(sizeof(cu_range) == sizeof(ls_cu_registers) && CU_READS_MAX == 8 && CU_WRITES_MAX == 4,
               "registers of lockstep/cu_exec.h are those of code.h");
_Static_assert((int)LS_CU_UNIT_INTERNAL == (int)CU_UNIT_INTERNAL && (int)LS_CU_UNIT_LDS == (int)CU_UNIT_LDS,
               "units of lockstep/cu_exec.h are those of code.h");

static void describe(const cu_inst *inst, ls_cu_inst *out)
{
    *out = (ls_cu_inst){ .pc = inst->next - inst->bytes,
                         .bytes = inst->bytes,
                         .unit = inst->unit,
                         .class_ = inst->class_,
                         .read_count = inst->read_count,
                         .write_count = inst->write_count };
    memcpy(out->reads, inst->reads, inst->read_count * sizeof inst->reads[0]);
    memcpy(out->writes, inst->writes, inst->write_count * sizeof inst->writes[0]);
}

bool ls_cu_exec_peek(const ls_cu_exec *x, uint32_t number, ls_cu_inst *out)
{
    const exec_wave *w = wave_of(x, number);
    if (w == NULL)
        return false;
    describe(w->head, out);
    return true;
}

/* A counter is above the limit of the instruction. */
static bool waits(const exec_wave *w, const cu_inst *inst)
{
    if (inst->raises == 0 && inst->what != CU_WAIT)
        return false;
    for (unsigned i = 0; i < CU_COUNTERS; i++)
        if (w->counter[i] > inst->limit[i])
            return true;
    return false;
}

static ls_cu_result step_plain(ls_cu_exec *x, exec_wave *w, ls_cycle now)
{
    const cu_inst *inst = w->head;
    w->arch.pc = inst->next;
    switch (inst->what) {
    case CU_WAIT:
    case CU_CLAUSE:
    case CU_PREFETCH:
        return advance(w, LS_CU_STEPPED);
    case CU_BARRIER:
        w->arch.stop = AMD_AT_BARRIER;
        w->group->at_barrier++;
        open_barrier(x, w->group);
        return w->group->dead ? LS_CU_FAULTED : LS_CU_BARRIER;
    case CU_END:
        return end_wave(x, w);
    default:
        break;
    }
    if (inst->time)
        w->arch.time = now;
    inst->body(&w->arch, inst->inst);
    amd_wave_rest(&w->arch);
    if (w->arch.stop == AMD_FAULTED)
        return exec_fault(w, inst->next - inst->bytes);
    return w->arch.stop == AMD_ENDED ? end_wave(x, w) : advance(w, LS_CU_STEPPED);
}

static ls_cu_result step(ls_cu_exec *x, exec_wave *w, ls_cycle now, ls_cu_step *out)
{
    const cu_inst *inst = w->head;
    bool memory = inst->what == CU_MEMORY || inst->what >= CU_CACHE;
    describe(inst, &out->inst);
    out->lanes = amd_wave_exec(&w->arch);
    if (waits(w, inst) || (memory && index_pool_empty(&x->free_accesses, LS_CU_EXEC_ACCESSES)))
        return LS_CU_WAITS;
    if (w->issued >= w->most)
        return fault(w, LS_FAULT_LIMIT, w->arch.pc);
    w->issued++;
    rules_tally(&w->group->done.tally, &w->arch, inst);
    if (!memory)
        return step_plain(x, w, now);
    ls_cu_result result = exec_access_begin(x, w, now, out);
    return result == LS_CU_FAULTED ? result : advance(w, result);
}

ls_cu_result ls_cu_exec_step(ls_cu_exec *x, uint32_t number, ls_cycle now, ls_cu_step *out)
{
    exec_wave *w = wave_of(x, number);
    *out = (ls_cu_step){ 0 };
    if (w == NULL)
        return LS_CU_IDLE;
    exec_group *g = w->group;
    ls_cu_result result = step(x, w, now, out);
    if (w->arch.stop != AMD_RUNNING || g->dead)
        exec_check(x, g);
    return result;
}

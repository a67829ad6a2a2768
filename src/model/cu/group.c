/* group.c: work-groups in a compute unit: their waves start, wait at barriers, end or fault. When nothing of a
 * work-group is in flight, its end is reported to the command processor. */
#include "model/cu/cu.h"
#include "model/cu/wave_rules.h"

#include <assert.h>

/* --- start ---------------------------------------------------------------------------------------------- */

/* Slots are set up at their first use: unused ones do not touch memory. */
static cu_wave *group_slot(cu *c, unsigned simd)
{
    cu_wave *waves = c->simds[simd].waves;
    for (uint32_t slot = 0; slot < c->spec->waves_per_simd; slot++) {
        cu_wave *w = &waves[slot];
        if (w->state != CU_FREE)
            continue;
        w->number = (uint16_t)(w - c->waves);
        w->simd = (uint8_t)simd;
        w->slot = (uint8_t)slot;
        w->pipe = c->simds[simd].half;
        return w;
    }
    return NULL;
}

static void group_start_wave(cu *c, cu_group *g, const amd_start *start, const uint32_t size[3],
                             uint32_t index, unsigned simd, ls_cycle now)
{
    cu_wave *w = group_slot(c, simd);
    assert(w != NULL && "the dispatcher gave a wave to a SIMD that has no slot free");
    g->wave[index] = w->number;
    w->state = CU_RUNNING;
    w->code = g->kernel->code;
    w->group = g;
    w->age = c->age++;
    c->simds[simd].age[w->slot] = w->age;
    cu_issue_priority(&c->simds[simd], w, 0);
    memset(w->counter, 0, sizeof w->counter);
    w->ordered[0] = w->ordered[1] = w->writers = INDEX_LIST_EMPTY;
    w->in_flight = 0;
    w->scalars = 0;
    w->prefetch = w->clause = w->pending_count = w->ahead = 0;
    w->issued = w->asked = 0;
    w->most = g->kernel->max_instructions != 0 ? g->kernel->max_instructions : UINT64_MAX;
    if (LS_UNLIKELY(g->kernel->debugger != NULL))
        w->most = 0;
    w->fetched_at = now;
    uint32_t *vgpr = c->vgprs + (size_t)w->number * c->register_rows * 64;
    amd_wave_start(start, &g->arch, size, g->wave_count, index, vgpr, &w->arch);
    w->tape = g->tapes ? &g->tapes[index] : NULL;
    w->record = g->records ? &g->records[index] : NULL;
    w->observed = g->kernel->observer != NULL;
    if (w->tape)
        amd_tape_start(w->tape, &w->arch);
    w->head = &w->code->insts[amd_program_place(w->code->program, w->arch.pc)];
    w->ready = now;
    c->simds[simd].resident |= 1u << w->slot;
    c->resident++;
    c->counters.waves++;
    if (ls_tap_wants(c->tap, LS_TAP_WARP))
        cu_tap_wave(c, w, LS_TAP_BEGIN);
    cu_fetch_start(c, w);
    cu_set_why(c, w, 1u << CU_WHY_FETCH);
}

void cu_receive_launch(void *state, const ls_cu_launch *launch, ls_cycle now)
{
    cu *c = state;
    const ls_cu_kernel *k = c->wires.kernels->at[launch->kernel];
    cu_group *g = &c->groups[launch->slot];
    assert(launch->slot < c->spec->groups && !g->resident);
    cu_count_cycles(c, now);
    uint8_t *lds = c->lds_bytes + (size_t)launch->slot * (AMD_LDS_MAX + 64);
    *g = (cu_group){ .kernel = k,
                     .slot = launch->slot,
                     .wave_count = launch->wave_count,
                     .resident = true,
                     .counts = k->counts };
    g->running = launch->wave_count;
    g->arch = rules_group(k, launch, lds);
    g->done = rules_done(launch, c->wires.cluster, c->wires.index);
    const amd_start start = rules_start(k);
    uint32_t size[3];
    amd_start_size(&start, launch->id, size);
    bool good = cu_source_begin(g);
    if (LS_UNLIKELY(k->counts != NULL))
        cu_counts_begin(c, g);
    if (ls_tap_wants(c->tap, LS_TAP_GROUP))
        cu_tap_group(c, g, LS_TAP_BEGIN);
    for (uint32_t i = 0; i < g->wave_count; i++)
        group_start_wave(c, g, &start, size, i, launch->simd[i], now);
    if (LS_UNLIKELY(k->observer != NULL))
        good = cu_observe_begin(c, g) && good;
    c->resident_groups++;
    ls_domain_pending(c->domain, 1);
    cu_wake(c, now, now);
    if (!good) {
        cu_wave *first = &c->waves[g->wave[0]];
        first->arch.fault = (ls_fault){ .kind = LS_FAULT_UNSUPPORTED, .address = first->arch.pc };
        cu_group_fault(c, first, first->arch.pc, now);
    }
}

/* --- the end -------------------------------------------------------------------------------------------- */

static void group_add(cu_counters *n, const ls_cu_tally *t)
{
    uint64_t known = 0;
    n->work_groups++;
    n->instructions += t->instructions;
    n->lanes += t->active_lanes;
    n->barriers += t->barriers;
    n->flops_half += t->flops_half;
    n->flops_single += t->flops_single;
    n->flops_double += t->flops_double;
    const struct {
        uint64_t *to;
        amd_class class_;
    } rows[] = {
        { &n->instructions_salu, AMD_CLASS_SALU },     { &n->instructions_valu, AMD_CLASS_VALU },
        { &n->instructions_trans, AMD_CLASS_TRANS },   { &n->instructions_valu_64, AMD_CLASS_VALU_64 },
        { &n->instructions_smem, AMD_CLASS_SMEM },     { &n->instructions_vmem, AMD_CLASS_VMEM },
        { &n->instructions_flat, AMD_CLASS_FLAT },     { &n->instructions_lds, AMD_CLASS_LDS },
        { &n->instructions_branch, AMD_CLASS_BRANCH },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i].to += t->classes[rows[i].class_];
        known += t->classes[rows[i].class_];
    }
    n->instructions_other += t->instructions - known;
}

/* The counters of the unit, and those of the kernel. There are as many places for kernels as can run side by
 * side: each is taken when its kernel has ended. */
static void group_count(cu *c, const cu_group *g)
{
    group_add(&c->counters, &g->done.tally);
    uint32_t number = g->kernel->number + 1;
    cu_share *share = NULL;
    for (size_t i = 0; i < CU_SHARES_MAX && (share == NULL || share->number != number); i++)
        if (c->shares[i].number == number || c->shares[i].number == 0)
            share = &c->shares[i];
    if (share == NULL)
        return;
    share->number = number;
    group_add(&share->n, &g->done.tally);
    share->n.waves += g->wave_count;
}

bool cu_take_kernel(ls_block *block, uint32_t number, void *counters, size_t bytes)
{
    cu *c = ls_block_state(block);
    if (bytes < sizeof(cu_counters))
        return false;
    for (size_t i = 0; i < CU_SHARES_MAX; i++)
        if (c->shares[i].number == number + 1) {
            memcpy(counters, &c->shares[i].n, CU_SHARE_BYTES);
            c->shares[i].number = 0;
            memset(&c->shares[i].n, 0, CU_SHARE_BYTES);
        }
    return true;
}

void cu_group_report(void *self, ls_cycle now)
{
    cu *c = self;
    (void)now;
    while (c->report_count != 0) {
        void *payload = ls_link_send(c->wires.to_command, 64);
        if (!payload) {
            ls_link_wait(c->wires.to_command, &c->report);
            return;
        }
        const cu_group *g = &c->groups[c->reports[c->report_first]];
        memcpy(payload, &g->done, sizeof g->done);
        c->report_first = (uint16_t)((c->report_first + 1) % c->spec->groups);
        c->report_count--;
    }
    if (LS_UNLIKELY(c->arrivals != 0) && !cu_grid_report(c))
        ls_link_wait(c->wires.to_command, &c->report);
}

void cu_group_check(cu *c, cu_group *g, ls_cycle now)
{
    if (!g->resident || g->in_flight != 0 || (g->running != 0 && !g->dead))
        return;
    cu_count_cycles(c, now);
    for (uint32_t i = 0; i < g->wave_count; i++)
        c->waves[g->wave[i]].state = CU_FREE;
    cu_source_end(g);
    cu_grid_forget(c, g);
    if (LS_UNLIKELY(g->kernel->observer != NULL) && c->observed != NULL)
        cu_observe_group(c, g, CU_SEEN_END);
    g->resident = false;
    c->resident_groups--;
    if (ls_tap_wants(c->tap, LS_TAP_GROUP))
        cu_tap_group(c, g, LS_TAP_END);
    group_count(c, g);
    ls_domain_pending(c->domain, -1);
    ls_domain_progress(c->domain);
    c->reports[(c->report_first + c->report_count++) % c->spec->groups] = g->slot;
    if (c->report_count + c->arrivals == 1)
        cu_group_report(c, now);
}

/* The wave issues nothing more. */
static void group_leave(cu *c, cu_wave *w, ls_cycle now)
{
    cu_simd *simd = &c->simds[w->simd];
    cu_count_cycles(c, now);
    if (simd->ahead.end > now && simd->ahead.slot == w->slot) {
        bool served = (c->ticked_once && c->ticked == now) || w->simd < c->serving;
        cu_ahead_cut(c, simd, served ? now + 1 : now, now);
        simd->ahead.end = 0;
    }
    cu_issue_forget(c, w);
    cu_scalar_free(c, now);
    w->state = CU_ENDED;
    w->fetching = false;
    w->epoch++;
    simd->resident &= ~(1u << w->slot);
    c->resident--;
    if (ls_tap_wants(c->tap, LS_TAP_WARP))
        cu_tap_wave(c, w, LS_TAP_END);
}

static void group_open(cu *c, cu_group *g, ls_cycle now)
{
    if (g->at_barrier == 0 || g->at_barrier != g->running)
        return;
    cu_wave *first = NULL;
    if (g->running < g->wave_count && !g->kernel->lenient_barriers) {
        for (uint32_t i = 0; i < g->wave_count && !first; i++)
            if (c->waves[g->wave[i]].arch.stop == AMD_AT_BARRIER)
                first = &c->waves[g->wave[i]];
        assert(first != NULL); /* at_barrier counts them */
        uint64_t pc = first->head->next - first->head->bytes;
        first->arch.fault = (ls_fault){ .kind = LS_FAULT_BARRIER, .address = pc };
        first->arch.stop = AMD_FAULTED;
        cu_group_fault(c, first, pc, now);
        return;
    }
    g->at_barrier = 0;
    if (LS_UNLIKELY(g->kernel->observer != NULL))
        cu_observe_group(c, g, CU_SEEN_BARRIER);
    g->done.tally.barriers++;
    for (uint32_t i = 0; i < g->wave_count; i++) {
        cu_wave *w = &c->waves[g->wave[i]];
        if (w->arch.stop != AMD_AT_BARRIER)
            continue;
        w->arch.stop = AMD_RUNNING;
        cu_set_why(c, w, 0);
        cu_issue_advance(c, w, now + c->spec->barrier_cycles, now);
    }
}

void cu_group_barrier(cu *c, cu_wave *w, ls_cycle now)
{
    w->arch.stop = AMD_AT_BARRIER;
    cu_set_why(c, w, 1u << CU_WHY_BARRIER);
    w->group->at_barrier++;
    group_open(c, w->group, now);
}

void cu_group_end(cu *c, cu_wave *w, ls_cycle now)
{
    cu_group *g = w->group;
    group_leave(c, w, now);
    w->arch.stop = AMD_ENDED;
    g->running--;
    group_open(c, g, now);
    cu_group_check(c, g, now);
}

/* --- faults --------------------------------------------------------------------------------------------- */

static void group_kill(cu *c, cu_group *g, ls_cycle now)
{
    g->dead = true;
    for (uint32_t i = 0; i < g->wave_count; i++) {
        cu_wave *w = &c->waves[g->wave[i]];
        if (w->state == CU_RUNNING)
            group_leave(c, w, now);
    }
    cu_group_check(c, g, now);
}

void cu_group_fault(cu *c, cu_wave *w, uint64_t pc, ls_cycle now)
{
    cu_group *g = w->group;
    if (g->dead)
        return;
    if (LS_UNLIKELY(g->kernel->debugger != NULL))
        cu_debug_fault(c, w, pc);
    g->done.fault = w->arch.fault;
    g->done.fault_pc = pc;
    g->done.fault_wave = w->arch.index;
    group_kill(c, g, now);
}

void cu_cancel(void *state, uint32_t kernel, ls_cycle now)
{
    cu *c = state;
    for (uint32_t i = 0; i < c->spec->groups; i++) {
        cu_group *g = &c->groups[i];
        if (g->resident && !g->dead && g->done.kernel == kernel)
            group_kill(c, g, now);
    }
}

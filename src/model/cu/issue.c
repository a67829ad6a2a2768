/* issue.c: which waves issue. A wave's next instruction waits in a ring until its dependences allow it, then
 * in the mask of its unit. A served SIMD gives each unit the first wave of its mask. Arithmetic executes here;
 * memory goes to vector.c, scalar.c and lds.c. */
#include "model/cu/cu.h"
#include "model/cu/wave_rules.h"

#include <assert.h>

static inline void issue_take(cu_simd *simd, unsigned unit, uint32_t bit)
{
    if ((simd->ready[unit] &= ~bit) == 0)
        simd->units &= ~(1u << unit);
}

/* --- when ----------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void issue_enter(cu *c, cu_wave *w, ls_cycle now)
{
    unsigned s = w->simd;
    cu_simd *simd = &c->simds[s];
    ls_cycle visit = cu_issue_visit(c, w, now);
    if (visit < simd->ahead.end)
        cu_ahead_cut(c, simd, visit, now);
    simd->ring[visit % CU_RING] |= 1u << w->slot;
    simd->ring_used |= 1ull << visit % CU_RING;
    c->held[s] |= 1u << CU_WHY_DEPEND;
    if (visit < c->next[s])
        c->next[s] = visit;
    if (!c->awake)
        cu_wake(c, visit, now);
}

void cu_issue_enter(cu *c, cu_wave *w, ls_cycle now)
{
    issue_enter(c, w, now);
}

static inline __attribute__((always_inline)) void issue_at(cu *c, cu_wave *w, ls_cycle at, ls_cycle now)
{
    ls_cycle soonest = c->ticked_once && c->ticked == now ? now + 1 : now;
    at = cu_served(c, w->simd, at < soonest ? soonest : at);
    w->ready = at;
    if (w == c->issuing)
        c->issuing_goes_on = true;
    else
        issue_enter(c, w, now);
}

void cu_issue_at(cu *c, cu_wave *w, ls_cycle at, ls_cycle now)
{
    issue_at(c, w, at, now);
}

/* How long the results of an instruction take; those of memory come later than anything else. */
static uint32_t issue_latency(const cu *c, const cu_wave *w, const cu_inst *inst)
{
    if (inst->unit == CU_UNIT_VALU)
        return c->latency[inst->rate][w->arch.lanes == 64];
    return inst->what == CU_MEMORY ? UINT16_MAX : (uint32_t)c->spec->scalar_latency_cycles;
}

/* The first cycle in which the source registers of an instruction are written and its result would come
 * after all pending results of the same register. */
static ls_cycle issue_depends(const cu *c, cu_wave *w, const cu_inst *inst, ls_cycle at)
{
    ls_cycle ready = at;
    uint32_t latency = issue_latency(c, w, inst);
    bool memory = inst->what == CU_MEMORY; /* its touches leave out its sources */
    unsigned kept = 0;
    for (unsigned i = 0; i < w->pending_count; i++) {
        if (w->pending[i].ready <= at)
            continue;
        if (kept != i)
            w->pending[kept] = w->pending[i];
        const cu_pending *p = &w->pending[kept++];
        if (p->ready <= ready ||
            (!memory && p->bits != UINT64_MAX && (p->bits & inst->touches[p->range.first < AMD_VGPR]) == 0))
            continue;
        bool met = false;
        for (unsigned j = 0; j < inst->read_count && !met; j++)
            met = inst->reads[j].first <= p->range.last && inst->reads[j].last >= p->range.first;
        if (met) {
            ready = p->ready;
            continue;
        }
        for (unsigned j = 0; j < inst->write_count && !met; j++)
            met = inst->writes[j].first <= p->range.last && inst->writes[j].last >= p->range.first;
        if (met && p->ready > ready + latency)
            ready = p->ready - latency;
    }
    w->pending_count = (uint8_t)kept;
    return ready;
}

/* The instruction's results can be read from `ready` on. */
static void issue_writes(cu_wave *w, const cu_inst *inst, ls_cycle ready)
{
    for (unsigned i = 0; i < inst->write_count; i++) {
        if (w->pending_count == CU_PENDING) { /* more than ever happens: one entry stands for all registers */
            cu_pending *any = &w->pending[0];
            *any = (cu_pending){ { 0, UINT16_MAX }, any->ready > ready ? any->ready : ready, UINT64_MAX };
        } else {
            w->pending[w->pending_count++] = (cu_pending){ inst->writes[i], ready, inst->write_bits[i] };
        }
    }
}

/* The same for scalar registers alone. Finished writes are removed first, because not every instruction checks
 * them. */
static void issue_writes_scalar(cu_wave *w, const cu_inst *inst, ls_cycle ready, ls_cycle now)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < w->pending_count; i++)
        if (w->pending[i].ready > now)
            w->pending[kept++] = w->pending[i];
    w->pending_count = (uint8_t)kept;
    for (unsigned i = 0; i < inst->write_count; i++)
        if (inst->writes[i].first < AMD_VGPR && w->pending_count < CU_PENDING)
            w->pending[w->pending_count++] = (cu_pending){ inst->writes[i], ready, inst->write_bits[i] };
}

/* Without tracking, only scalar operations and branches check pending writes: those of vector instructions. */
static bool issue_looks(const cu *c, const cu_wave *w, const cu_inst *inst)
{
    return w->pending_count != 0 &&
           (c->tracks || inst->unit == CU_UNIT_SCALAR || inst->unit == CU_UNIT_BRANCH);
}

static inline __attribute__((always_inline)) void issue_head(cu *c, cu_wave *w, const cu_inst *head,
                                                             ls_cycle at, ls_cycle now)
{
    w->head = head;
    if (issue_looks(c, w, head))
        at = issue_depends(c, w, head, at);
    w->ready = at;
    if (head->next > w->fetched)
        cu_set_why(c, w, w->why | 1u << CU_WHY_FETCH);
    else
        issue_at(c, w, at, now);
}

void cu_issue_head(cu *c, cu_wave *w, const cu_inst *head, ls_cycle at, ls_cycle now)
{
    issue_head(c, w, head, at, now);
}

/* Continues after the instruction that was just issued. */
void cu_issue_advance(cu *c, cu_wave *w, ls_cycle at, ls_cycle now)
{
    const cu_inst *inst = w->head;
    uint64_t pc = w->arch.pc, block = ~(c->spec->fetch_bytes - 1);
    if (pc == inst->next) {
        const cu_inst *head = inst + 1;
        if (inst->last) {
            uint32_t place = amd_program_place(w->code->program, pc);
            head = place != 0 ? &w->code->insts[place] : NULL;
        }
        if (head) {
            if (((pc ^ (pc - inst->bytes)) & block) != 0)
                cu_fetch_room(c, w);
            issue_head(c, w, head, at, now);
            return;
        }
    }
    uint32_t place = amd_program_place(w->code->program, pc);
    if (place == 0) {
        w->arch.fault = (ls_fault){ .kind = LS_FAULT_UNSUPPORTED, .address = pc };
        w->arch.stop = AMD_FAULTED;
        cu_group_fault(c, w, pc, now);
        return;
    }
    /* A jump: the buffer is empty; it is filled from where the wave goes on, once that is known. */
    c->counters.jumps++;
    cu_fetch_start(c, w);
    cu_fetch_want(c, w, false);
    w->head = &w->code->insts[place];
    if (issue_looks(c, w, w->head))
        at = issue_depends(c, w, w->head, at);
    cu_issue_at(c, w, at, now);
}

void cu_issue_priority(cu_simd *simd, const cu_wave *w, unsigned priority)
{
    for (unsigned i = 0; i < 4; i++)
        simd->priority[i] &= ~(1u << w->slot);
    simd->priority[priority] |= 1u << w->slot;
}

void cu_issue_forget(cu *c, cu_wave *w)
{
    cu_simd *simd = &c->simds[w->simd];
    uint32_t bit = 1u << w->slot;
    for (unsigned i = 0; i < CU_UNIT_COUNT; i++)
        issue_take(simd, i, bit);
    for (unsigned i = 0; i < CU_RING && simd->ring_used != 0; i++) {
        simd->ring[i] &= ~bit;
        if (simd->ring[i] == 0)
            simd->ring_used &= ~(1ull << i);
    }
    cu_fetch_want(c, w, false);
    if (simd->clause_slot == w->slot)
        simd->clause_slot = UINT8_MAX;
    cu_set_why(c, w, 0);
}

/* --- waits ---------------------------------------------------------------------------------------------- */

#define ISSUE_COUNTER_MASK ((1u << CU_COUNTERS) - 1)

void cu_issue_again(cu *c, cu_wave *w, ls_cycle now)
{
    if (!(w->why & ISSUE_COUNTER_MASK))
        return;
    uint32_t unmet = cu_issue_unmet(w, w->head);
    cu_set_why(c, w, unmet);
    if (unmet == 0)
        cu_issue_at(c, w, now, now);
}

/* --- one instruction ------------------------------------------------------------------------------------ */

static void issue_step(cu *c, cu_wave *w, ls_cycle at, ls_cycle now)
{
    cu_source_step(w, now);
    if (w->arch.stop == AMD_RUNNING)
        cu_issue_advance(c, w, at, now);
    else if (w->arch.stop == AMD_FAULTED)
        cu_group_fault(c, w, w->head->next - w->head->bytes, now);
    else if (w->arch.stop == AMD_ENDED) /* s_setkill */
        cu_group_end(c, w, now);
}

/* The VALU is free for others before the unit beside it is. Returns how long the wave's next instruction waits: the
 * compiler keeps those apart that need a matrix. */
static uint32_t issue_beside(const cu *c, cu_simd *simd, const cu_inst *inst, unsigned wide, ls_cycle now)
{
    uint32_t full = c->busy[CU_RATE_FULL][wide], busy = c->busy[inst->rate][wide];
    if (inst->rate == CU_RATE_TRANS) {
        simd->trans_free = now + busy;
        simd->valu_free = now + full;
    } else {
        simd->matrix_free = now + inst->matrix_cycles;
        simd->valu_free = now + inst->matrix_alone;
        busy = full;
    }
    simd->beside_free = simd->trans_free > simd->matrix_free ? simd->trans_free : simd->matrix_free;
    return busy;
}

/* The unit beside the VALU that the instruction needs is busy. */
static bool issue_beside_busy(const cu_simd *simd, const cu_inst *inst, ls_cycle now)
{
    if (inst->rate < CU_RATE_TRANS || inst->unit != CU_UNIT_VALU)
        return false;
    return (inst->rate == CU_RATE_TRANS ? simd->trans_free : simd->matrix_free) > now;
}

static void issue_valu(cu *c, cu_simd *simd, cu_wave *w, ls_cycle now)
{
    const cu_inst *inst = w->head;
    unsigned wide = w->arch.lanes == 64;
    uint32_t busy = c->busy[inst->rate][wide], latency = c->latency[inst->rate][wide];
    if (inst->rate >= CU_RATE_TRANS && (inst->rate == CU_RATE_MATRIX || c->spec->trans_unit)) {
        busy = issue_beside(c, simd, inst, wide, now);
    } else {
        simd->valu_free = now + busy;
    }
    if (c->tracks)
        issue_writes(w, inst, now + latency);
    else if (inst->writes_scalar && c->spec->scalar_wait_cycles != 0)
        issue_writes_scalar(w, inst, now + busy + c->spec->scalar_wait_cycles, now);
    issue_step(c, w, c->tracks ? now + 1 : now + busy, now);
}

static void issue_scalar(cu *c, cu_wave *w, ls_cycle now)
{
    uint64_t latency = c->spec->scalar_latency_cycles;
    if (c->tracks)
        issue_writes(w, w->head, now + latency);
    issue_step(c, w, c->tracks ? now + 1 : now + latency, now);
}

/* Instructions that the instruction buffer handles. False: it waits, nothing was issued. */
static bool issue_internal(cu *c, cu_simd *simd, cu_wave *w, ls_cycle now)
{
    const cu_inst *inst = w->head;
    ls_cycle at = now + c->turn;
    switch (inst->what) {
    case CU_WAIT:
    case CU_CLAUSE:
    case CU_PREFETCH:
        if (LS_UNLIKELY(w->observed) && inst->what == CU_WAIT)
            cu_observe_wait(c, w, inst);
        w->arch.pc = inst->next;
        w->ahead = (uint8_t)(w->ahead - (w->ahead != 0));
        if (inst->what == CU_PREFETCH)
            w->prefetch = (uint8_t)(inst->inst->simm & 3);
        cu_issue_advance(c, w, at, now);
        if (inst->what == CU_CLAUSE && simd->clause_slot == UINT8_MAX && w->state == CU_RUNNING) {
            w->clause = (uint8_t)((inst->inst->simm & 63) + 1);
            simd->clause_slot = w->slot;
            simd->clause_unit = w->head->unit;
        }
        return true;
    case CU_NOP:
        issue_step(c, w, now + (ls_cycle)((inst->inst->simm & 63) + 1) * c->turn, now);
        return true;
    case CU_SLEEP: /* 64 cycles each (GCN3 and RDNA ISA manuals) */
        cu_set_why(c, w, w->why | 1u << CU_WHY_SLEEP);
        issue_step(c, w, at + (ls_cycle)(inst->inst->simm & 127) * 64, now);
        return true;
    case CU_PRIORITY:
        cu_issue_priority(simd, w, (unsigned)inst->inst->simm & 3u);
        issue_step(c, w, at, now);
        return true;
    case CU_BARRIER:
        w->arch.pc = inst->next;
        cu_group_barrier(c, w, now);
        return true;
    case CU_GRID_BARRIER:
        w->arch.pc = inst->next;
        cu_grid_arrive(c, w, now);
        return true;
    case CU_END:
        w->arch.pc = inst->next;
        cu_group_end(c, w, now);
        return true;
    default:
        issue_step(c, w, at, now);
        return true;
    }
}

static bool issue_wave(cu *c, cu_simd *simd, cu_wave *w, ls_cycle now);

/* The wave may issue nothing more, or a debugger looks at each instruction. */
static __attribute__((noinline)) bool issue_limited(cu *c, cu_simd *simd, cu_wave *w, ls_cycle now)
{
    const ls_cu_kernel *k = w->group->kernel;
    const cu_inst *inst = w->head;
    if (k->debugger != NULL && (k->max_instructions == 0 || w->issued < k->max_instructions)) {
        if (!cu_debug_before(c, w))
            return true;
        w->most = UINT64_MAX; /* now as any other wave */
        bool issued = issue_wave(c, simd, w, now);
        w->most = 0;
        if (issued)
            cu_debug_after(c, w, inst, now);
        return issued;
    }
    w->arch.fault = (ls_fault){ .kind = LS_FAULT_LIMIT, .address = w->arch.pc };
    w->arch.stop = AMD_FAULTED;
    cu_group_fault(c, w, w->arch.pc, now);
    return true;
}

/* Issues the wave's next instruction. False: not now; it stays where it is. */
static bool issue_wave(cu *c, cu_simd *simd, cu_wave *w, ls_cycle now)
{
    const cu_inst *inst = w->head;
    uint32_t bit = 1u << w->slot;
    if (inst->raises != 0 || inst->what == CU_WAIT) {
        uint32_t unmet = cu_issue_unmet(w, inst);
        if (unmet != 0) {
            if (simd->units != 0)
                issue_take(simd, inst->unit, bit);
            cu_set_why(c, w, unmet);
            if (LS_UNLIKELY(w->most == 0))
                (void)cu_debug_before(c, w);
            return false;
        }
    }
    if (LS_UNLIKELY(w->issued >= w->most))
        return issue_limited(c, simd, w, now);
    cu_group *group = w->group;
    bool memory = inst->what == CU_MEMORY || inst->what >= CU_CACHE;
    if (memory) {
        bool taken = inst->unit == CU_UNIT_VMEM     ? cu_vector_issue(c, w, now)
                     : inst->unit == CU_UNIT_SCALAR ? cu_scalar_issue(c, w, now)
                                                    : cu_lds_issue(c, w, now);
        if (!taken)
            return false;
    }
    if (simd->units != 0)
        issue_take(simd, inst->unit, bit);
    rules_tally(&w->group->done.tally, &w->arch, inst);
    if (LS_UNLIKELY(group->counts != NULL))
        cu_counts_issue(c, w, inst);
    w->issued++;
    simd->last[inst->unit] = w->slot;
    if (w->clause != 0 && inst->what != CU_CLAUSE && --w->clause == 0 && simd->clause_slot == w->slot)
        simd->clause_slot = UINT8_MAX;
    if (group->dead)
        return true;
    if ((w->tape || w->record) && w->ahead == 0)
        cu_source_issue(w, &c->scratch);
    if (memory) {
        cu_issue_advance(c, w, now + c->turn, now);
        return true;
    }
    switch (inst->unit) {
    case CU_UNIT_VALU:
        issue_valu(c, simd, w, now);
        break;
    case CU_UNIT_SCALAR:
        issue_scalar(c, w, now);
        break;
    case CU_UNIT_BRANCH:
        issue_step(c, w, now + c->spec->branch_cycles, now);
        break;
    default:
        issue_internal(c, simd, w, now);
        break;
    }
    return true;
}

/* --- one SIMD ------------------------------------------------------------------------------------------- */

/* A wave whose time has come: true if it can be issued, as far as it is concerned. */
static bool issue_due(cu *c, cu_wave *w, ls_cycle now)
{
    if (w->ready > now) {
        cu_issue_at(c, w, w->ready, now);
        return false;
    }
    if (w->head->next > w->fetched) { /* after a jump */
        cu_set_why(c, w, 1u << CU_WHY_FETCH);
        cu_fetch_room(c, w);
        return false;
    }
    if (w->why != 0)
        cu_set_why(c, w, 0);
    return true;
}

static void issue_put(cu_simd *simd, const cu_wave *w)
{
    simd->ready[w->head->unit] |= 1u << w->slot;
    simd->units |= 1u << w->head->unit;
}

static bool issue_unit_free(const cu *c, const cu_simd *simd, unsigned unit, ls_cycle now)
{
    unsigned half = simd->half;
    switch (unit) {
    case CU_UNIT_VALU:
        return simd->valu_free <= now;
    case CU_UNIT_VMEM:
        return !c->pipes[half].full && c->pipes[half].free <= now;
    case CU_UNIT_LDS:
        return c->lds_free[half] <= now;
    default:
        return true;
    }
}

/* Waves that wait for data. */
static uint32_t issue_memory(const cu_simd *simd)
{
    uint32_t memory = 0;
    for (uint32_t left = simd->resident; left != 0; left &= left - 1)
        if (simd->waves[__builtin_ctz(left)].why & ISSUE_COUNTER_MASK)
            memory |= left & -left;
    return memory;
}

/* The first of the waves: those of the highest priority, and among them the scheduler's choice. */
static unsigned issue_choose(const cu *c, const cu_simd *simd, unsigned s, unsigned unit, uint32_t mask,
                             ls_cycle now)
{
    if ((mask & (mask - 1)) == 0)
        return (unsigned)__builtin_ctz(mask);
    for (unsigned i = 3; i > 0; i--)
        if ((mask & simd->priority[i]) != 0) {
            mask &= simd->priority[i];
            break;
        }
    ls_scheduler_view view = { .now = now,
                               .sub_core = s,
                               .last = simd->last[unit],
                               .ready = mask,
                               .resident = simd->resident,
                               .age = simd->age };
    if (c->scheduler_kind == SCHED_FOREIGN)
        view.memory = issue_memory(simd);
    uint32_t slot = scheduler_choose(c->scheduler_kind, &c->scheduler, &view);
    assert(slot < LS_SCHEDULER_WARPS && (mask >> slot & 1) != 0 &&
           "the scheduler chose a wave that cannot issue");
    return slot;
}

/* The next cycle with work, and the reasons why its waves wait until then. */
static void issue_next(cu *c, unsigned s, ls_cycle now)
{
    cu_simd *simd = &c->simds[s];
    ls_cycle next = UINT64_MAX;
    uint32_t held = 0;
    if (simd->ring_used != 0) {
        held = 1u << CU_WHY_DEPEND;
        unsigned from = (unsigned)((now + 1) % CU_RING);
        uint64_t turned = simd->ring_used >> from | (from ? simd->ring_used << (64 - from) : 0);
        next = now + 1 + (ls_cycle)__builtin_ctzll(turned);
    }
    for (uint32_t left = simd->units; left != 0; left &= left - 1) {
        unsigned unit = (unsigned)__builtin_ctz(left);
        held |= 1u << (CU_WHY_UNIT + unit);
        ls_cycle at = now + 1, free = 0;
        if (unit == CU_UNIT_VALU)
            free = simd->valu_free;
        else if (unit == CU_UNIT_LDS)
            free = c->lds_free[simd->half];
        else if (unit == CU_UNIT_VMEM)
            free = c->pipes[simd->half].full ? UINT64_MAX - 8 : c->pipes[simd->half].free;
        else if (unit == CU_UNIT_SCALAR && simd->scalar_full)
            free = UINT64_MAX - 8;
        at = cu_served(c, s, free > at ? free : at);
        next = at < next ? at : next;
    }
    c->next[s] = next;
    c->held[s] = held;
}

/* Each unit gets the first of the waves that wait for it. */
static unsigned issue_all(cu *c, unsigned s, ls_cycle now)
{
    cu_simd *simd = &c->simds[s];
    cu_wave *waves = simd->waves;
    unsigned issued = 0;
    for (uint32_t units = simd->units & ~(1u << CU_UNIT_INTERNAL); units != 0; units &= units - 1) {
        unsigned unit = (unsigned)__builtin_ctz(units);
        if (!issue_unit_free(c, simd, unit, now))
            continue;
        uint32_t mask = simd->ready[unit];
        if (simd->clause_slot != UINT8_MAX && simd->clause_unit == unit)
            mask &= 1u << simd->clause_slot;
        if (unit == CU_UNIT_VALU && simd->beside_free > now) /* a unit beside it is busy for these */
            for (uint32_t left = mask; left != 0; left &= left - 1)
                if (issue_beside_busy(simd, waves[__builtin_ctz(left)].head, now))
                    mask &= ~(left & -left);
        if (mask == 0)
            continue;
        issued += issue_wave(c, simd, &waves[issue_choose(c, simd, s, unit, mask, now)], now);
    }
    for (uint32_t left = simd->ready[CU_UNIT_INTERNAL]; left != 0; left &= left - 1)
        issued += issue_wave(c, simd, &waves[__builtin_ctz(left)], now);
    return issued;
}

/* Its next instruction would not wait for counters if it were issued now. */
static inline bool issue_met(const cu_wave *w)
{
    return w->head->what != CU_WAIT || cu_issue_unmet(w, w->head) == 0;
}

/* The only wave that could issue: without a look at the others. */
static bool issue_single(cu *c, cu_simd *simd, cu_wave *w, ls_cycle now)
{
    if (!issue_due(c, w, now))
        return false;
    const cu_inst *inst = w->head;
    bool busy = !issue_unit_free(c, simd, inst->unit, now) ||
                (simd->beside_free > now && issue_beside_busy(simd, inst, now));
    if (!busy) {
        c->issuing = w;
        c->issuing_goes_on = false;
        bool issued = issue_wave(c, simd, w, now);
        c->issuing = NULL;
        if (c->issuing_goes_on && w->head->alone && c->goes_ahead && issue_met(w))
            cu_ahead_run(c, simd, w, now);
        else if (c->issuing_goes_on)
            cu_issue_enter(c, w, now);
        if (issued)
            return true;
    }
    if (busy || (w->why == 0 && w->state == CU_RUNNING)) /* the unit, or no room in it */
        issue_put(simd, w);
    return false;
}

unsigned cu_issue_simd(cu *c, unsigned s, ls_cycle now)
{
    cu_simd *simd = &c->simds[s];
    unsigned issued, bucket = (unsigned)(now % CU_RING);
    uint32_t woken = simd->ring[bucket];
    simd->ring[bucket] = 0;
    simd->ring_used &= ~(1ull << bucket);
    simd->scalar_full = false;
    if (simd->units == 0 && woken != 0 && (woken & (woken - 1)) == 0 && simd->clause_slot == UINT8_MAX) {
        cu_wave *w = &simd->waves[__builtin_ctz(woken)];
        issued = issue_single(c, simd, w, now);
    } else {
        for (uint32_t left = woken; left != 0; left &= left - 1) {
            cu_wave *w = &simd->waves[__builtin_ctz(left)];
            if (issue_due(c, w, now))
                issue_put(simd, w);
        }
        issued = issue_all(c, s, now);
    }
    issue_next(c, s, now);
    return issued;
}

/* cu_debug.c: stops for a debugger, and views of waves for it (cu_debug.h). The pipeline calls the first part only for
 * waves of kernels that have a debugger. */
#include "model/cu/cu_debug.h"
#include "model/cu/cu.h"

#include <stdio.h>

/* --- stops ---------------------------------------------------------------------------------------------- */

static cu_stop stop_of(cu *c, const cu_wave *w, const amd_inst *inst, uint64_t pc)
{
    return (cu_stop){ .cu = c, .wave = w->number, .inst = inst, .pc = pc, .time = ls_region_time(c->region) };
}

static void end_group(cu *c, cu_wave *w, uint64_t pc, ls_cycle now)
{
    if (w->group->dead || !w->group->resident)
        return;
    w->arch.fault = (ls_fault){ .kind = LS_FAULT_STOPPED, .address = pc };
    w->arch.stop = AMD_FAULTED;
    cu_group_fault(c, w, pc, now);
}

bool cu_debug_before(cu *c, cu_wave *w)
{
    const cu_debugger *d = w->group->kernel->debugger;
    if (w->group->dead || w->state != CU_RUNNING)
        return false;
    if (w->asked == w->issued + 1)
        return true;
    w->asked = w->issued + 1;
    cu_stop stop = stop_of(c, w, w->head->inst, w->head->next - w->head->bytes);
    if (d->before(d->self, &stop))
        return true;
    end_group(c, w, stop.pc, ls_region_now(c->region));
    return false;
}

void cu_debug_after(cu *c, cu_wave *w, const cu_inst *inst, ls_cycle now)
{
    const cu_debugger *d = w->group->kernel->debugger;
    if (w->group->dead)
        return;
    cu_stop stop = stop_of(c, w, inst->inst, inst->next - inst->bytes);
    if (!d->after(d->self, &stop))
        end_group(c, w, stop.pc, now);
}

void cu_debug_fault(cu *c, const cu_wave *w, uint64_t pc)
{
    const cu_debugger *d = w->group->kernel->debugger;
    cu_stop stop = stop_of(c, w, amd_program_at(w->code->program, pc), pc);
    if (w->arch.fault.kind != LS_FAULT_STOPPED)
        d->fault(d->self, &stop);
}

/* --- views ---------------------------------------------------------------------------------------------- */

uint32_t cu_debug_slots(const void *state)
{
    return ((const cu *)state)->wave_total;
}

/* A memory instruction that no unit has taken yet may have moved the pc already. */
static uint64_t wave_pc(const cu_wave *w)
{
    return w->arch.stop == AMD_RUNNING && w->state == CU_RUNNING ? w->head->next - w->head->bytes : w->arch.pc;
}

bool cu_debug_look(void *state, uint32_t slot, cu_look *out)
{
    cu *c = state;
    if (slot >= c->wave_total || c->waves[slot].state == CU_FREE)
        return false;
    cu_wave *w = &c->waves[slot];
    *out = (cu_look){ .arch = &w->arch,
                      .kernel = w->group->kernel,
                      .id = w->group->arch.id,
                      .name = ls_block_name(c->block),
                      .pc = wave_pc(w),
                      .cluster = c->wires.cluster,
                      .unit = c->wires.index,
                      .simd = w->simd,
                      .slot = w->slot,
                      .issued = w->issued,
                      .fetch_bytes = w->fetched > w->arch.pc ? w->fetched - w->arch.pc : 0,
                      .cycle = ls_region_now(c->region),
                      .has_ended = w->state == CU_ENDED };
    for (unsigned i = 0; i < CU_COUNTERS; i++) {
        out->counter[i] = w->counter[i];
        out->limit[i] = w->head->what == CU_WAIT ? w->head->limit[i] : UINT8_MAX;
    }
    return true;
}

amd_wave *cu_debug_arch(void *state, uint32_t slot)
{
    return &((cu *)state)->waves[slot].arch;
}

uint32_t cu_debug_group(const void *state, uint32_t slot, uint16_t out[LS_CU_WAVES_PER_GROUP_MAX])
{
    const cu *c = state;
    const cu_group *g = c->waves[slot].group;
    memcpy(out, g->wave, g->wave_count * sizeof *out);
    return g->wave_count;
}

const amd_wave *cu_debug_faulted(const void *state, const ls_cu_done *done)
{
    const cu *c = state;
    if (done->cluster != c->wires.cluster || done->cu != c->wires.index || done->slot >= c->spec->groups)
        return NULL;
    const cu_group *g = &c->groups[done->slot];
    if (!g->dead || done->fault_wave >= g->wave_count || memcmp(g->arch.id, done->id, sizeof done->id) != 0)
        return NULL;
    const cu_wave *w = &c->waves[g->wave[done->fault_wave]];
    return w->group == g ? &w->arch : NULL;
}

/* Elements of an array that are in use: bit i of *used. */
static void mark_free(const index_pool *pool, index_links next, uint32_t from, uint32_t to, uint64_t *used)
{
    for (uint32_t i = from; i < to && i < pool->fresh; i++)
        used[i / 64] |= 1ull << i % 64;
    for (uint32_t i = pool->free; i != INDEX_NONE; i = index_link(next, i))
        used[i / 64] &= ~(1ull << i % 64);
}

/* Keeps the order by age. */
static size_t add_flight(cu_flight *out, size_t room, size_t count, const cu_inst *inst, const cu_flight *what)
{
    size_t at = count < room ? count : room;
    while (at > 0 && out[at - 1].issued > what->issued)
        at--;
    for (size_t i = count < room ? count : room - 1; room > 0 && i > at; i--)
        out[i] = out[i - 1];
    if (at < room) {
        out[at] = *what;
        out[at].inst = inst->inst;
        out[at].pc = inst->next - inst->bytes;
        out[at].counters = inst->raises;
    }
    return count + 1;
}

size_t cu_debug_flights(void *state, uint32_t slot, cu_flight *out, size_t room)
{
    cu *c = state;
    uint64_t used[CU_SEEN_TOKENS / 64] = { 0 };
    uint32_t small = (uint32_t)c->spec->vector_in_flight, total = cu_access_total(c);
    size_t count = 0;
    mark_free(&c->small, INDEX_LINKS(c->accesses, next), 0, small, used);
    mark_free(&c->large, INDEX_LINKS(c->accesses, next), small, total, used);
    for (uint32_t i = 0; i < total; i++) {
        const cu_access *a = &c->accesses[i];
        if ((used[i / 64] >> i % 64 & 1) == 0 || a->wave != slot)
            continue;
        const cu_flight what = { .issued = a->issued,
                                 .lines = a->line_count,
                                 .sent = a->sent,
                                 .back = a->back,
                                 .is_complete = a->complete };
        count = add_flight(out, room, count, a->inst, &what);
    }
    memset(used, 0, sizeof used);
    mark_free(&c->scalar_pool, INDEX_LINKS(c->scalars, next), 0, CU_SCALARS, used);
    for (uint32_t i = 0; i < CU_SCALARS; i++) {
        const cu_scalar *s = &c->scalars[i];
        if ((used[0] >> i & 1) == 0 || s->wave != slot)
            continue;
        const cu_flight what = {
            .issued = s->issued, .lines = s->line_count, .sent = s->sent, .back = s->back
        };
        count = add_flight(out, room, count, s->inst, &what);
    }
    return count;
}

/* --- why a wave waits ----------------------------------------------------------------------------------- */

static const char *const unit_names[CU_UNIT_COUNT] = { "vector unit", "scalar unit", "vector memory unit",
                                                       "LDS unit",    "branch unit", "instruction buffer" };

static void counter_waits(const cu_wave *w, char *out, size_t bytes)
{
    static const char *const names[CU_COUNTERS] = { "vmcnt", "lgkmcnt", "expcnt", "vscnt" };
    size_t used = 0;
    for (unsigned i = 0; i < CU_COUNTERS; i++)
        if ((w->why >> i & 1) != 0 && used < bytes) {
            bool is_full = w->head->what != CU_WAIT;
            int n = snprintf(out + used, bytes - used, "%s%s is %u, it may be %u%s",
                             used ? "; " : "it waits: ", names[i], w->counter[i], w->head->limit[i],
                             is_full ? " before one more" : "");
            used += n > 0 ? (size_t)n : 0;
        }
}

/* The waves of its SIMD that wait for the same unit. */
static uint32_t rivals(const cu *c, const cu_wave *w)
{
    const cu_simd *simd = &c->simds[w->simd];
    return simd->ready[w->head->unit] & ~(1u << w->slot);
}

static void issue_waits(const cu *c, const cu_wave *w, char *out, size_t bytes)
{
    const cu_simd *simd = &c->simds[w->simd];
    ls_cycle now = ls_region_now(c->region);
    uint32_t others = rivals(c, w);
    int n = 0;
    if (w->ready > now)
        n = snprintf(out, bytes, "its registers and its last instruction allow it from cycle %llu on",
                     (unsigned long long)w->ready);
    else if ((simd->ready[w->head->unit] >> w->slot & 1) != 0)
        n = snprintf(out, bytes, "it waits for the %s of SIMD %u", unit_names[w->head->unit], w->simd);
    else
        n = snprintf(out, bytes, "nothing holds it: it can go to the %s of SIMD %u", unit_names[w->head->unit],
                     w->simd);
    if (others == 0 || n < 0 || (size_t)n >= bytes)
        return;
    unsigned first = (unsigned)__builtin_ctz(others), oldest = first;
    for (uint32_t left = others; left != 0; left &= left - 1)
        if (simd->age[__builtin_ctz(left)] < simd->age[oldest])
            oldest = (unsigned)__builtin_ctz(left);
    snprintf(out + n, bytes - (size_t)n,
             "; %d other wave%s of the SIMD can go there too, the oldest in slot %u is %s",
             __builtin_popcount(others), __builtin_popcount(others) == 1 ? "" : "s", oldest,
             simd->age[oldest] < w->age ? "older" : "younger");
}

void cu_debug_waits(const void *state, uint32_t slot, char *out, size_t bytes)
{
    const cu *c = state;
    const cu_wave *w = &c->waves[slot];
    const cu_group *g = w->group;
    if (w->state == CU_ENDED)
        snprintf(out, bytes,
                 "it has ended; accesses of it under way: %u; waves of its work-group that run: %u of %u",
                 w->in_flight, g->running, g->wave_count);
    else if ((w->why & ((1u << CU_COUNTERS) - 1)) != 0)
        counter_waits(w, out, bytes);
    else if (w->arch.stop == AMD_AT_GRID_BARRIER)
        snprintf(out, bytes, "it waits at the barrier of the grid, for %u other work-groups", g->others);
    else if ((w->why >> CU_WHY_BARRIER & 1) != 0)
        snprintf(out, bytes, "it waits at a barrier: %u of %u waves that run are there", g->at_barrier,
                 g->running);
    else if ((w->why >> CU_WHY_FETCH & 1) != 0)
        snprintf(out, bytes, "it waits for an instruction fetch%s", w->fetching ? ", which is under way" : "");
    else if ((w->why >> CU_WHY_SLEEP & 1) != 0)
        snprintf(out, bytes, "it sleeps");
    else
        issue_waits(c, w, out, bytes);
}

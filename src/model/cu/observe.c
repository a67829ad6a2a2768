/* observe.c: events for an observer of memory accesses (cu_observer in cu_api.h): work-groups, accesses with
 * their data, waits, barriers, emptied caches. The pipeline calls these functions only for waves of kernels
 * that have one. Nothing here changes the simulation. */
#include "model/cu/cu.h"

static void put(cu *c, const cu_group *g, cu_seen *what)
{
    const cu_observer *o = g->kernel->observer;
    what->time = ls_region_time(c->region);
    o->put(c->observed, o->command, what);
}

bool cu_observe_begin(cu *c, const cu_group *g)
{
    const cu_observer *o = g->kernel->observer;
    cu_seen seen = { .kind = CU_SEEN_GROUP,
                     .id = g->arch.id,
                     .waves = g->wave,
                     .wave_count = g->wave_count,
                     .one_cache = true };
    if (c->observed == NULL)
        c->observed = o->open(o->self, o->gpu, c->wires.cluster, c->wires.index);
    if (c->observed == NULL)
        return false;
    for (uint32_t i = 1; i < g->wave_count; i++)
        seen.one_cache &= c->waves[g->wave[i]].pipe == c->waves[g->wave[0]].pipe;
    put(c, g, &seen);
    return true;
}

void cu_observe_group(cu *c, const cu_group *g, cu_seen_kind kind)
{
    cu_seen seen = { .kind = kind, .waves = g->wave, .wave_count = g->wave_count };
    put(c, g, &seen);
}

static bool is_seen(const amd_access *head)
{
    return head->kind == AMD_ACCESS_LOAD || head->kind == AMD_ACCESS_STORE || head->kind == AMD_ACCESS_ATOMIC;
}

void cu_observe_issue(cu *c, const cu_wave *w, const cu_inst *inst, uint32_t token)
{
    if (!is_seen(&c->scratch))
        return;
    const cu_group *g = w->group;
    cu_seen seen = { .kind = CU_SEEN_ISSUE,
                     .wave = w->number,
                     .pc = inst->next - inst->bytes,
                     .access = &c->scratch,
                     .data = c->scratch.data[0],
                     .stride = AMD_DATA_DWORDS,
                     .token = token,
                     .skip = g->arch.scratch,
                     .skipped = g->kernel->scratch_place_bytes,
                     .newest = inst->inst->format != AMD_SMEM && (inst->inst->flags & AMD_GLC) != 0,
                     .scalar = inst->inst->format == AMD_SMEM,
                     .counters = inst->raises };
    put(c, g, &seen);
}

void cu_observe_return(cu *c, const cu_wave *w, const cu_inst *inst, uint32_t token, const uint8_t *head,
                       const uint32_t *data, uint32_t stride)
{
    const amd_access *access = (const amd_access *)(const void *)head; /* up to its addresses */
    if (!is_seen(access))
        return;
    cu_seen seen = { .kind = CU_SEEN_RETURN,
                     .wave = w->number,
                     .pc = inst->next - inst->bytes,
                     .access = access,
                     .data = access->returns ? data : NULL,
                     .stride = stride,
                     .token = token,
                     .scalar = inst->inst->format == AMD_SMEM,
                     .is_dead = w->group->dead };
    put(c, w->group, &seen);
}

void cu_observe_wait(cu *c, const cu_wave *w, const cu_inst *inst)
{
    cu_seen seen = { .kind = CU_SEEN_WAIT, .wave = w->number };
    for (unsigned i = 0; i < CU_COUNTERS; i++)
        seen.counters |= (uint8_t)((inst->limit[i] == 0) << i);
    if (seen.counters != 0)
        put(c, w->group, &seen);
}

void cu_observe_forget(cu *c, const cu_wave *w, const cu_inst *inst)
{
    bool scalar = inst->inst->format == AMD_SMEM;
    cu_seen seen = { .kind = CU_SEEN_FORGET,
                     .wave = w->number,
                     .levels = scalar                    ? 0x80
                               : inst->limit[CU_VM] != 0 ? 2
                                                         : 1 };
    put(c, w->group, &seen);
}

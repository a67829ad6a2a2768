/* timing_grid.c: launches that need a certain room. Those on some compute units only; and cooperative ones, whose
 * work-groups wait for each other at a barrier of the grid: one that could not get past it is refused before it begins. */
#include "runtime/timing/timing_impl.h"

/* Compute units and command processors of plug-ins need not have the barrier. */
static bool has_barrier(const timing_gpu *g)
{
    bool all = g->command->together != NULL;
    for (uint32_t i = 0; all && i < amd_gpu_cu_count(g->gpu); i++)
        all = ((const ls_cu_ops *)amd_gpu_cu(g->gpu, i)->ops)->open != NULL;
    return all;
}

void timing_grid_units(const timing_gpu *g, const drv_dispatch *d, ls_command_packet *p)
{
    uint32_t cus = amd_gpu_cu_count(g->gpu), units = g->model.compute_units / cus; /* 2 in a dual one */
    if (d->unit_count == 0 || units == 0)
        return;
    p->first_cu = d->first_unit / units;
    p->cu_count = (d->first_unit + d->unit_count + units - 1) / units - p->first_cu;
}

static ls_status check_units(const timing *t, const timing_gpu *g, const timing_slot *slot, ls_error *err)
{
    if (slot->packet.cu_count == 0 || (g->command->together != NULL && t->record == NULL))
        return LS_OK;
    return ls_fail(err, LS_ERR_UNSUPPORTED, "kernel %s: %s", slot->packet.kernel.program->name,
                   t->record != NULL ? "a recording has launches on all compute units only"
                                     : "the command processor, of a plug-in, uses all compute units");
}

/* Why the kernel cannot run here; NULL: it can. */
static const char *obstacle(const timing *t, const timing_gpu *g, const timing_part *part)
{
    if (!has_barrier(g))
        return "the command processor or the compute units, of a plug-in, have no barrier over a grid";
    if (part->which.count != 0 || part->shared != 0)
        return "a barrier over the grid needs all of its work-groups on one GPU";
    if (t->record != NULL)
        return "a recording has no barriers over the grid";
    if (t->check != NULL)
        return "the memory check knows no barriers over the grid";
    return NULL;
}

ls_status timing_grid_check(const timing *t, const timing_slot *slot, const timing_part *part, ls_error *err)
{
    const timing_gpu *g = &t->gpus[slot->gpu];
    const ls_cu_kernel *k = &slot->packet.kernel;
    ls_status status = check_units(t, g, slot, err);
    if (status != LS_OK || !k->program->uses_gws)
        return status;
    const char *why = obstacle(t, g, part);
    if (why != NULL)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "kernel %s: %s", k->program->name, why);
    uint64_t groups = ls_cu_kernel_groups(k);
    uint64_t room = g->command->together(g->command_self, &slot->packet);
    if (groups <= room)
        return LS_OK;
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "kernel %s: a barrier over the grid needs all of its work-groups at once: it has %llu, and "
                   "gpu%u has room for %llu",
                   k->program->name, (unsigned long long)groups, slot->gpu, (unsigned long long)room);
}

/* grid.c: the barrier over all work-groups of a cooperative launch (ds_gws_barrier). One wave of each work-group comes to
 * it. The compute unit tells the command processor, which counts arrivals and opens the barrier for all compute units. */
#include "model/cu/cu.h"

#include "isa/amd/exec/gws.h"

void cu_grid_arrive(cu *c, cu_wave *w, ls_cycle now)
{
    cu_group *g = w->group;
    w->arch.stop = AMD_AT_GRID_BARRIER;
    cu_set_why(c, w, 1u << CU_WHY_BARRIER);
    g->others = amd_gws_others(&w->arch, w->head->inst);
    g->arrivals++;
    c->arrivals++;
    if (c->arrivals + c->report_count == 1) /* else the link is waited for */
        cu_group_report(c, now);
}

bool cu_grid_report(cu *c)
{
    for (uint32_t i = 0; i < c->spec->groups && c->arrivals != 0; i++) {
        cu_group *g = &c->groups[i];
        for (; g->arrivals != 0; g->arrivals--, c->arrivals--) {
            void *payload = ls_link_send(c->wires.to_command, 64);
            if (!payload)
                return false;
            ls_cu_done told = g->done;
            told.at_grid_barrier = 1;
            told.others = g->others;
            memcpy(payload, &told, sizeof told);
        }
    }
    return true;
}

void cu_grid_forget(cu *c, cu_group *g)
{
    c->arrivals = (uint16_t)(c->arrivals - g->arrivals);
    g->arrivals = 0;
}

void cu_grid_open(void *state, uint32_t kernel, ls_cycle now)
{
    cu *c = state;
    cu_count_cycles(c, now);
    for (uint32_t i = 0; i < c->spec->groups; i++) {
        const cu_group *g = &c->groups[i];
        if (!g->resident || g->dead || g->done.kernel != kernel)
            continue;
        for (uint32_t k = 0; k < g->wave_count; k++) {
            cu_wave *w = &c->waves[g->wave[k]];
            if (w->arch.stop != AMD_AT_GRID_BARRIER)
                continue;
            w->arch.stop = AMD_RUNNING;
            cu_set_why(c, w, 0);
            cu_issue_advance(c, w, now + c->spec->barrier_cycles, now);
        }
    }
}

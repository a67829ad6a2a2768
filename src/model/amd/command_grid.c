/* command_grid.c: launches that need a certain room: on some compute units only, or cooperative ones. The latter's work-groups wait for each other at a barrier of the grid, so all of them must
 * have room at once. The command processor counts the waves that come to the barrier and opens it on all clusters. */
#include "model/amd/command_impl.h"

#include <string.h>

uint64_t command_together(const void *self, const ls_command_packet *p)
{
    const command *c = self;
    place_need need = command_need_of(&c->place, p);
    place_limit limit;
    uint32_t cus = p->cu_count != 0 ? p->cu_count : c->cu_count;
    return (uint64_t)place_most(&c->place, &need, &limit) * cus;
}

void command_grid_bar(command *c, dispatcher *d)
{
    const ls_command_packet *p = d->packet;
    for (uint32_t cu = 0; p->cu_count != 0 && cu < c->cu_count; cu++)
        if (cu - p->first_cu >= p->cu_count)
            d->barred[cu / 64] |= UINT64_C(1) << cu % 64;
    memcpy(d->full, d->barred, sizeof d->full);
}

ls_status command_grid_fit(const command *c, const ls_command_packet *p, ls_error *err)
{
    if (p->cu_count == 0 || c->dies == 0 || p->cu_count >= c->dies)
        return LS_OK;
    return ls_fail(
        err, LS_ERR_UNSUPPORTED,
        "kernel %s: a launch on %u compute units of a GPU of %u dies, which take turns: it needs %u",
        ls_cu_kernel_name(&p->kernel), p->cu_count, c->dies, c->dies);
}

/* Two launches with a part of their work-groups each would wait for each other's room for ever. */
bool command_grid_may_begin(const command *c, const ls_command_packet *p)
{
    return c->together == 0 || !p->kernel.program->uses_gws;
}

void command_grid_arrive(command *c, dispatcher *d, const ls_cu_done *done, ls_cycle now)
{
    if (d->is_cancelled)
        return;
    if (d->arrived < done->others) {
        d->arrived++;
        return;
    }
    d->arrived = 0;
    command_give_orders(c, d, LS_CLUSTER_OPEN);
    command_pump_at(c, now);
}

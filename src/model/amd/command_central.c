/* command_central.c: launches that all GPUs have. The command processor of the first GPU leads: it places each work-group on
 * the next compute unit of all GPUs that has room, GPU by GPU. The others follow: they prepare the launch and its end
 * on their GPU, and pass work-groups on to their clusters. */
#include "model/amd/command_impl.h"

#include <string.h>

dispatcher_role command_role(const command *c, const ls_command_packet *p)
{
    if (p->shared == 0 || c->central == NULL)
        return DISPATCHER_ALONE;
    if (central_follows(c->central))
        return DISPATCHER_FOLLOWS;
    return central_members(c->central) > 0 ? DISPATCHER_LEADS : DISPATCHER_ALONE;
}

bool command_may_begin(const command *c)
{
    bool follows = c->central != NULL && central_follows(c->central);
    if (c->active == 0 || (!follows && c->together == 0))
        return true;
    const ls_command_packet *p = c->packets.head;
    while (p != NULL && (p->has_begun || p->kind != LS_PACKET_KERNEL))
        p = p->next;
    if (p == NULL)
        return true;
    return command_grid_may_begin(c, p) && (!follows || (p->shared != 0) == (c->following > 0));
}

/* -------------------------------------------------------------------------------------------------- the leader */

/* The next compute unit of all GPUs that was not found full, the own ones first; all of them: none. */
static uint32_t next_anywhere(const command *c, const dispatcher *d)
{
    uint32_t gpus = central_members(c->central) + 1, all = gpus * c->cu_count;
    uint32_t first = d->at.left > 0 ? d->at.core : d->turn, row = (uint32_t)(d - c->dispatchers);
    for (uint32_t i = 0; i <= gpus; i++) {
        uint32_t gpu = (first / c->cu_count + i) % gpus, from = i == 0 ? first % c->cu_count : 0;
        uint32_t cu = gpu == 0 ? command_next_open(c, d, from) : central_next(c->central, gpu - 1, row, from);
        if (cu < c->cu_count)
            return gpu * c->cu_count + cu;
    }
    return all;
}

bool command_any_open(const command *c, const dispatcher *d)
{
    return next_anywhere(c, d) < (central_members(c->central) + 1) * c->cu_count;
}

static command_sent try_far(command *c, dispatcher *d, uint32_t member, uint32_t cu, const place_need *need)
{
    central_order order = { .cu = cu, .leader_row = (uint32_t)(d - c->dispatchers) };
    if (!central_can_send(c->central, member))
        return COMMAND_BUSY;
    memcpy(order.launch.id, d->next, sizeof order.launch.id);
    place_limit limit = central_send(c->central, member, d->packet->shared, need, &order);
    if (limit != PLACE_FITS) {
        command_count_blocked(c, limit);
        return COMMAND_FULL;
    }
    command_next_group(d);
    return COMMAND_SENT;
}

uint32_t command_send_anywhere(command *c, dispatcher *d, bool *again)
{
    uint32_t all = (central_members(c->central) + 1) * c->cu_count;
    place_need need = d->need;
    need.waves = command_next_waves(d);
    for (;;) {
        uint32_t at = next_anywhere(c, d);
        if (at == all)
            return 0;
        uint32_t gpu = at / c->cu_count, cu = at % c->cu_count;
        command_sent sent = gpu == 0 ? command_try(c, d, cu, &need) : try_far(c, d, gpu - 1, cu, &need);
        if (sent == COMMAND_FULL)
            continue;
        if (sent == COMMAND_BUSY) {
            *again = true;
            return 0;
        }
        uint32_t next = placement_next(&d->at, &c->placement, at, all);
        d->turn = d->at.left == 0 ? next : at + 1 == all ? 0 : at + 1;
        return need.waves;
    }
}

bool command_close(command *c, dispatcher *d)
{
    if (d->sent < d->total && !d->is_cancelled)
        return true;
    for (; d->closed < central_members(c->central); d->closed++) {
        if (!central_can_send(c->central, d->closed))
            return false;
        central_close(c->central, d->closed, d->packet->shared, d->is_cancelled);
    }
    return true;
}

static void on_ready(void *self, ls_cycle now)
{
    command_pump_at(self, now);
}

static void on_done(void *self, uint32_t row, bool fault, ls_cycle now)
{
    command *c = self;
    dispatcher *d = &c->dispatchers[row];
    d->done++;
    if (fault)
        command_stop_kernel(c, d);
    command_pump_at(c, command_is_over(d) || d->is_cancelled || c->next_distribution < now
                           ? now
                           : c->next_distribution);
}

/* --------------------------------------------------------------------------------------------------- a member */

static bool on_launch(void *self, const central_order *from, ls_cycle now)
{
    command *c = self;
    dispatcher *d = &c->dispatchers[from->row];
    uint32_t cu = from->cu, slot = from->launch.slot;
    (void)now;
    if (d->is_cancelled) {
        central_report_done(c->central, from->leader_row, cu, slot, false);
        return true;
    }
    ls_cluster_order *order = ls_link_send(c->orders[cu % c->clusters], 1);
    if (order == NULL)
        return false;
    order->kind = LS_CLUSTER_LAUNCH;
    order->tag = 0;
    order->launch = from->launch;
    order->launch.kernel = from->row;
    order->launch.cu = (uint16_t)(cu / c->clusters);
    order->launch.scratch_place = command_take_scratch(c, d);
    c->owner[cu][slot] = (uint8_t)from->row;
    c->scratch[cu][slot] = order->launch.scratch_place;
    d->leader_row = from->leader_row;
    d->sent++;
    d->packet->groups++;
    d->packet->waves += from->launch.wave_count;
    c->n.work_groups++;
    c->n.wavefronts += from->launch.wave_count;
    return true;
}

static void on_close(void *self, uint32_t row, bool cancel, ls_cycle now)
{
    command *c = self;
    dispatcher *d = &c->dispatchers[row];
    d->total = d->sent;
    if (cancel)
        command_stop_kernel(c, d);
    command_pump_at(c, now);
}

static void attach(void *self, central *with)
{
    ((command *)self)->central = with;
}

static uint32_t rows(const void *self)
{
    return (uint32_t)((const command *)self)->spec->dispatchers;
}

const central_user_ops command_central_ops = {
    .attach = attach, .rows = rows, .launch = on_launch, .close = on_close, .ready = on_ready, .done = on_done
};

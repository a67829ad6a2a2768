/* command.c: the command processor. A packet of the queue goes to a free dispatcher (kernel) or to the DMA
 * engine (transfer). The stages of a kernel: while the launch is prepared, its packet and arguments
 * are written and caches emptied. Then work-groups are assigned to compute units, one per dispatch interval;
 * dispatchers and compute units take turns. When all are done and the end is signalled, the packet leaves
 * the queue. */
#include "model/amd/command_impl.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------- pump */

void command_pump_at(command *c, ls_cycle cycle)
{
    if (ls_event_scheduled(&c->pump)) {
        if (c->pump.cycle <= cycle)
            return;
        ls_cancel(&c->pump);
    }
    ls_schedule_at(c->region, &c->pump, cycle);
}

/* ---------------------------------------------------------------------------------------- ends of packets */

static void tap_packet(const command *c, const ls_command_packet *p, ls_tap_phase phase)
{
    static const uint16_t copies[] = { LS_COPY_IN, LS_COPY_OUT, LS_COPY_INSIDE, LS_COPY_FILL };
    bool is_kernel = p->kind == LS_PACKET_KERNEL;
    ls_tap_event event = { .phase = (uint8_t)phase, .kind = is_kernel ? LS_TAP_KERNEL : LS_TAP_COPY };
    if (!ls_tap_wants(c->tap, event.kind))
        return;
    event.time = ls_region_time(c->region);
    if (is_kernel) {
        event.id = p->kernel.number;
        event.more = p->kernel.number + 1;
        if (phase == LS_TAP_BEGIN)
            event.value = ls_tap_name(c->tap, ls_cu_kernel_name(&p->kernel));
    } else {
        event.id = p->number;
        event.value = p->transfer.bytes;
        event.what = copies[p->transfer.kind];
    }
    ls_tap_record(c->tap, &event);
}

static void kernel_over(command *c, dispatcher *d, ls_cycle now)
{
    c->n.kernel_cycles += now - d->begin;
    c->following -= d->role == DISPATCHER_FOLLOWS;
    c->together -= d->packet->kernel.program->uses_gws;
    if (--c->active == 0)
        c->n.busy_cycles += now - c->busy_since;
    d->phase = DISPATCHER_FREE;
    tap_packet(c, d->packet, LS_TAP_END);
    ls_packets_end(&c->packets, d->packet);
}

static void transfer_over(void *self, ls_dma_job *job, ls_cycle now)
{
    command *c = self;
    ls_command_packet *p = (ls_command_packet *)(void *)((char *)job - offsetof(ls_command_packet, transfer));
    if (p->kind == LS_PACKET_KERNEL) {
        for (uint32_t i = 0; i < c->spec->dispatchers; i++)
            if (c->dispatchers[i].phase == DISPATCHER_PREPARE && c->dispatchers[i].packet == p)
                c->dispatchers[i].waits--;
    } else {
        if (!job->local)
            tap_packet(c, p, LS_TAP_END);
        ls_packets_end(&c->packets, p);
    }
    command_pump_at(c, now);
}

/* --------------------------------------------------------------------------------------------- begins */

static void start_transfer(command *c, ls_command_packet *p, ls_cycle now)
{
    const ls_dma_ops *dma = c->dma.ops;
    dma->start(c->dma.self, &p->transfer, now);
}

/* To the first `clusters` of them. */
static void give_orders_to(command *c, dispatcher *d, uint32_t kind, uint32_t clusters)
{
    d->order = kind;
    for (uint32_t i = 0; i < c->cluster_words; i++) {
        uint32_t left = clusters > i * 64 ? clusters - i * 64 : 0;
        d->orders[i] = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
    }
}

void command_give_orders(command *c, dispatcher *d, uint32_t kind)
{
    give_orders_to(c, d, kind, c->clusters);
}

/* Sends what is left of the dispatcher's order; false if a link was not ready. */
static bool send_orders(command *c, dispatcher *d)
{
    bool all = true;
    for (uint32_t word = 0; word < c->cluster_words; word++)
        for (uint64_t left = d->orders[word]; left != 0; left &= left - 1) {
            uint32_t cluster = word * 64 + (uint32_t)__builtin_ctzll(left);
            ls_cluster_order *order = ls_link_send(c->orders[cluster], 1);
            if (order == NULL) {
                all = false;
                continue;
            }
            order->kind = d->order;
            order->tag = (uint32_t)(d - c->dispatchers);
            order->launch.kernel = (uint32_t)(d - c->dispatchers);
            d->orders[word] &= ~(UINT64_C(1) << cluster % 64);
        }
    return all;
}

static void begin_kernel(command *c, dispatcher *d, ls_command_packet *p, ls_cycle now)
{
    *d = (dispatcher){ .phase = DISPATCHER_PREPARE,
                       .role = (uint8_t)command_role(c, p),
                       .packet = p,
                       .begin = now,
                       .ready = now + c->spec->launch_cycles,
                       .total = 1,
                       .need = command_need_of(&c->place, p),
                       .places = d->places,
                       .place_words = c->place_words };
    memset(d->places, 0, c->place_words * sizeof *d->places);
    c->kernels->at[d - c->dispatchers] = &p->kernel;
    d->at = (placement){ 0 };
    command_grid_bar(c, d);
    for (uint32_t i = 0; i < 3; i++) {
        d->groups[i] = (p->kernel.grid[i] + p->kernel.group[i] - 1) / p->kernel.group[i];
        d->total *= d->groups[i];
    }
    if (p->kernel.which.count != 0) {
        d->total = p->kernel.which.count;
        command_find_group(d);
    }
    if (d->role == DISPATCHER_LEADS)
        central_begin(c->central, (uint32_t)(d - c->dispatchers));
    if (d->role == DISPATCHER_FOLLOWS) {
        d->total = UINT64_MAX;
        c->following++;
    }
    c->together += p->kernel.program->uses_gws;
    if (c->active++ == 0)
        c->busy_since = now;
    c->n.concurrent_peak = c->active > c->n.concurrent_peak ? c->active : c->n.concurrent_peak;
    c->n.kernels++;
    tap_packet(c, p, LS_TAP_BEGIN);
    if (p->transfer.bytes > 0) {
        d->waits++;
        start_transfer(c, p, now);
    }
    if (c->spec->invalidate) {
        d->waits += c->clusters;
        command_give_orders(c, d, LS_CLUSTER_INVALIDATE);
    }
}

static dispatcher *free_dispatcher(command *c)
{
    for (uint32_t i = 0; c->active < c->spec->dispatchers && i < c->spec->dispatchers; i++)
        if (c->dispatchers[i].phase == DISPATCHER_FREE)
            return &c->dispatchers[i];
    return NULL;
}

/* Begins the packets of the queue that may, in the order of submission. */
static void begin_packets(command *c, ls_cycle now)
{
    for (;;) {
        dispatcher *d = free_dispatcher(c);
        ls_command_packet *p = ls_packets_begin(&c->packets, d != NULL && command_may_begin(c));
        if (p == NULL)
            return;
        if (p->kind == LS_PACKET_TRANSFER) {
            c->n.transfers += !p->transfer.local;
            p->number = c->n.transfers;
            if (!p->transfer.local)
                tap_packet(c, p, LS_TAP_BEGIN);
            start_transfer(c, p, now);
        } else {
            begin_kernel(c, d, p, now);
        }
    }
}

/* Work-groups can go out: on all GPUs if it leads. */
static bool is_prepared(command *c, dispatcher *d, ls_cycle now)
{
    if (d->phase != DISPATCHER_PREPARE || d->waits > 0 || d->ready > now)
        return false;
    if (d->role == DISPATCHER_FOLLOWS)
        central_report_ready(c->central, d->packet->shared, (uint32_t)(d - c->dispatchers));
    return d->role != DISPATCHER_LEADS || central_is_ready(c->central, d->packet->shared);
}

bool command_is_over(const dispatcher *d)
{
    return d->done == d->sent && (d->sent == d->total || (d->is_cancelled && d->role != DISPATCHER_FOLLOWS));
}

/* Moves dispatchers on whose time has come; the earliest cycle at which another one's will. */
static ls_cycle advance(command *c, ls_cycle now, bool *again)
{
    ls_cycle earliest = LS_CYCLE_MAX;
    for (uint32_t i = 0; i < c->spec->dispatchers; i++) {
        dispatcher *d = &c->dispatchers[i];
        if (d->phase == DISPATCHER_FREE)
            continue;
        if (!send_orders(c, d))
            *again = true;
        if (is_prepared(c, d, now))
            d->phase = DISPATCHER_DEAL;
        bool closed = d->phase != DISPATCHER_DEAL || d->role != DISPATCHER_LEADS || command_close(c, d);
        *again = *again || !closed;
        if (d->phase == DISPATCHER_DEAL && closed && command_is_over(d)) {
            d->phase = DISPATCHER_FLUSH;
            if (c->flush || c->dies > 0) { /* one cluster of each die is enough for its L2 */
                d->waits = c->flush ? c->clusters : c->dies;
                d->ready = now;
                give_orders_to(c, d, LS_CLUSTER_FLUSH, d->waits);
                *again = true;
            }
        }
        if (d->phase == DISPATCHER_FLUSH && d->waits == 0) {
            d->phase = DISPATCHER_FINISH;
            d->ready = now + c->spec->finish_cycles;
        }
        if (d->phase == DISPATCHER_FINISH && d->ready <= now)
            kernel_over(c, d, now);
        bool timed = d->phase == DISPATCHER_FINISH ||
                     (d->phase == DISPATCHER_PREPARE && d->waits == 0 && d->ready > now);
        if (timed && d->ready < earliest)
            earliest = d->ready;
    }
    return earliest;
}

static void pump(void *self, ls_cycle now)
{
    command *c = self;
    bool again = false;
    begin_packets(c, now);
    ls_cycle earliest = advance(c, now, &again);
    if (c->packets.head != NULL && c->active < c->spec->dispatchers)
        begin_packets(c, now); /* work that a kernel's end made possible */
    if (c->dies > 0) {
        command_dies_distribute(c, now, &again);
        ls_cycle next = command_dies_next(c);
        earliest = next < earliest ? next : earliest;
    } else {
        if (now >= c->next_distribution)
            command_distribute(c, now, &again);
        if (command_may_distribute(c) && c->next_distribution > now)
            earliest = c->next_distribution < earliest ? c->next_distribution : earliest;
    }
    for (uint32_t i = 0; i < c->spec->dispatchers; i++) {
        const dispatcher *d = &c->dispatchers[i];
        if (d->phase == DISPATCHER_PREPARE && d->begin == now)
            again = true; /* its orders go out in the next cycle */
    }
    if (again)
        earliest = now + 1;
    if (earliest != LS_CYCLE_MAX)
        command_pump_at(c, earliest);
}

/* ---------------------------------------------------------------------------------------------- answers */

void command_stop_kernel(command *c, dispatcher *d)
{
    if (d->is_cancelled)
        return;
    d->is_cancelled = true;
    command_give_orders(c, d, LS_CLUSTER_CANCEL);
}

/* Stops the kernel at its first fault. */
static void cancel(command *c, dispatcher *d)
{
    c->n.faults += !d->is_cancelled;
    command_stop_kernel(c, d);
}

static void command_receive_done(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    command *c = state;
    const ls_cu_done *done = payload;
    uint32_t cu = done->cu * c->clusters + done->cluster;
    dispatcher *d = &c->dispatchers[c->owner[cu][done->slot]];
    uint32_t scratch = c->scratch[cu][done->slot];
    if (LS_UNLIKELY(done->at_grid_barrier != 0)) {
        command_grid_arrive(c, d, done, now);
        ls_link_release(link, 1);
        return;
    }
    if (d->role == DISPATCHER_FOLLOWS)
        central_report_done(c->central, d->leader_row, cu, done->slot, done->fault.kind != LS_FAULT_NONE);
    else
        place_give(&c->cus[cu], done->slot);
    d->places[scratch / 64] &= ~(UINT64_C(1) << scratch % 64);
    if (scratch / 64 < d->first_place)
        d->first_place = scratch / 64;
    d->done++;
    if (LS_UNLIKELY(d->packet->watch != NULL))
        d->packet->watch->ended(d->packet->watch->self, cu, done->slot, now);
    ls_packet_add_done(d->packet, done);
    if (d->packet->has_fault)
        cancel(c, d);
    for (uint32_t i = 0; i < c->spec->dispatchers; i++)
        c->dispatchers[i].full[cu / 64] &= ~(UINT64_C(1) << cu % 64) | c->dispatchers[i].barred[cu / 64];
    ls_link_release(link, 1);
    command_pump_at(c, command_is_over(d) || d->is_cancelled || c->next_distribution < now
                           ? now
                           : c->next_distribution);
}

static void command_receive_ack(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    command *c = state;
    const ls_cluster_ack *ack = payload;
    dispatcher *d = &c->dispatchers[ack->tag];
    ls_link_release(link, 1);
    if (--d->waits == 0)
        command_pump_at(c, d->ready > now ? d->ready : now);
}

/* -------------------------------------------------------------------------------------- the client's side */

static ls_status command_submit(void *self, ls_command_packet *p, ls_error *err)
{
    command *c = self;
    ls_status status = ls_packet_fit(p, &c->place.capacity, err);
    if (status == LS_OK)
        status = command_grid_fit(c, p, err);
    if (status != LS_OK)
        return status;
    p->transfer.done = transfer_over;
    p->transfer.self = c;
    ls_packets_submit(&c->packets, p);
    if (!ls_event_scheduled(&c->pump) || c->pump.cycle > ls_region_now(c->region)) {
        ls_cancel(&c->pump);
        ls_schedule(c->region, &c->pump, 0);
    }
    return LS_OK;
}

static uint64_t command_places(const void *self, const ls_command_packet *p)
{
    const command *c = self;
    const ls_cu_kernel *k = &p->kernel;
    place_need need = command_need_of(&c->place, p);
    place_limit limit;
    uint32_t items = 1;
    /* Work-groups at the grid's edges may be smaller, and then more of them fit. */
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t edge = k->grid[i] % k->group[i];
        items *= edge != 0 ? edge : k->group[i];
    }
    uint64_t groups = ls_cu_kernel_groups(k);
    need.waves = (items + k->program->lanes - 1) / k->program->lanes;
    uint64_t resident = (uint64_t)place_most(&c->place, &need, &limit) * c->cu_count;
    return groups < resident ? groups : resident;
}

/* ---------------------------------------------------------------------------------------------- set-up */

static ls_status command_attach(void *self, const ls_command_wiring *wires, ls_error *err)
{
    command *c = self;
    ls_status status = place_init(&c->place, &wires->capacity, err);
    if (status != LS_OK)
        return status;
    c->clusters = wires->clusters;
    c->cus_per_cluster = wires->cus_per_cluster;
    c->cu_count = wires->clusters * wires->cus_per_cluster;
    if (c->cu_count == 0 || c->cu_count > COMMAND_CUS_MAX)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "%u compute units; a GPU has 1 to %u", c->cu_count,
                       COMMAND_CUS_MAX);
    c->cu_words = (c->cu_count + 63) / 64;
    c->cluster_words = (c->clusters + 63) / 64;
    c->cu_tail = c->cu_count % 64 == 0 ? UINT64_MAX : (UINT64_C(1) << c->cu_count % 64) - 1;
    c->place_words = (uint64_t)c->cu_count * PLACE_GROUPS_MAX / 64;
    c->dma = wires->dma;
    c->kernels = wires->kernels;
    c->flush = wires->flush;
    c->orders = ls_domain_alloc(c->domain, c->clusters * sizeof *c->orders);
    c->cus = ls_domain_alloc(c->domain, c->cu_count * sizeof *c->cus);
    c->owner = ls_domain_alloc(c->domain, c->cu_count * sizeof *c->owner);
    c->scratch = ls_domain_alloc(c->domain, c->cu_count * sizeof *c->scratch);
    c->dispatchers = ls_domain_alloc(c->domain, c->spec->dispatchers * sizeof *c->dispatchers);
    uint64_t *places = ls_domain_alloc(c->domain, c->spec->dispatchers * c->place_words * sizeof *places);
    if (c->orders == NULL || c->cus == NULL || c->owner == NULL || c->scratch == NULL ||
        c->dispatchers == NULL || places == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the command processor of %u compute units",
                       c->cu_count);
    memcpy(c->orders, wires->orders, c->clusters * sizeof *c->orders);
    if (wires->dies > 0)
        status = command_dies_attach(c, wires->dies, err);
    for (uint32_t i = 0; i < c->spec->dispatchers; i++) {
        c->dispatchers[i].places = places + i * c->place_words;
        c->dispatchers[i].place_words = c->place_words;
    }
    return status;
}

static ls_status command_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    command *c = state;
    c->spec = spec;
    c->name = ls_block_name(block);
    c->region = ls_block_region(block);
    c->domain = ls_region_domain(c->region);
    c->tap = ls_block_tap(block);
    ls_event_init(&c->pump, pump, c);
    ls_packets_init(&c->packets, c->region);
    return placement_init(&c->placement, &c->spec->placement, c->domain, err);
}

static void command_waits(const void *state, ls_wait_sink *sink)
{
    const command *c = state;
    char detail[160];
    for (uint32_t i = 0; i < c->spec->dispatchers; i++) {
        const dispatcher *d = &c->dispatchers[i];
        if (d->phase == DISPATCHER_FREE)
            continue;
        if (d->role == DISPATCHER_LEADS && d->phase == DISPATCHER_PREPARE && d->waits == 0 && d->sent == 0 &&
            !central_is_ready(c->central, d->packet->shared)) {
            snprintf(detail, sizeof detail, "kernel %s has not begun on all GPUs",
                     d->packet->kernel.program->name);
            ls_wait_report(sink, c->name, "the command processors of other GPUs", detail);
            continue;
        }
        snprintf(detail, sizeof detail,
                 "kernel %s: %llu of %llu work-groups sent, %llu done, %u answers to come",
                 d->packet->kernel.program->name, (unsigned long long)d->sent, (unsigned long long)d->total,
                 (unsigned long long)d->done, d->waits);
        ls_wait_report(sink, c->name, d->waits > 0 ? "the DMA engine" : "its clusters", detail);
    }
}

static const ls_param params[] = {
    LS_PARAM_UINT(command_spec, dispatchers, "kernels", 8, 1, COMMAND_DISPATCHERS_MAX,
                  "kernels of different queues that run side by side"),
    LS_PARAM_UINT(command_spec, launch_cycles, "cycles", 0, 0, 1000000,
                  "from a kernel's packet to its first work-group"),
    LS_PARAM_UINT(command_spec, finish_cycles, "cycles", 0, 0, 1000000,
                  "from the last work-group's end to the kernel's"),
    LS_PARAM_UINT(command_spec, event_cycles, "cycles", 0, 0, 1000000,
                  "that the records of two events add to the time between them"),
    LS_PARAM_UINT(command_spec, group_cycles, "cycles", 4, 1, 10000, "between two work-groups, at least"),
    LS_PARAM_UINT(command_spec, wave_cycles, "cycles", 1, 0, 10000, "between two work-groups, per wavefront"),
    LS_PARAM_BOOL(command_spec, invalidate, true, "a kernel's start empties the caches of the compute units"),
    PLACEMENT_PARAMS(command_spec, placement),
};

static const ls_need needs[] = { PLACEMENT_NEEDS };

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(command_counters, kernels, "kernels", "kernels begun"),
    LS_METRIC_COUNTER(command_counters, work_groups, "work-groups", "work-groups sent to compute units"),
    LS_METRIC_COUNTER(command_counters, wavefronts, "wavefronts", "wavefronts of them"),
    LS_METRIC_COUNTER(command_counters, transfers, "commands", "copies and fills begun"),
    LS_METRIC_COUNTER(command_counters, faults, "kernels", "kernels that a fault ended"),
    LS_METRIC_COUNTER(command_counters, kernel_cycles, "cycles", "from begin to end, summed over kernels"),
    LS_METRIC_COUNTER(command_counters, busy_cycles, "cycles", "cycles with a kernel in a dispatcher"),
    LS_METRIC_COUNTER(command_counters, dispatch_cycles, "cycles", "cycles spent on sending work-groups"),
    LS_METRIC_COUNTER(command_counters, blocked_groups, "tries",
                      "no room: work-group slots of a compute unit"),
    LS_METRIC_COUNTER(command_counters, blocked_barriers, "tries", "no room: barriers"),
    LS_METRIC_COUNTER(command_counters, blocked_waves, "tries", "no room: wave slots"),
    LS_METRIC_COUNTER(command_counters, blocked_vgprs, "tries", "no room: vector registers"),
    LS_METRIC_COUNTER(command_counters, blocked_sgprs, "tries", "no room: scalar registers"),
    LS_METRIC_COUNTER(command_counters, blocked_lds, "tries", "no room: LDS"),
    LS_METRIC_PEAK(command_counters, concurrent_peak, "kernels", "most kernels at once"),
};

/* The time of kernels that have not ended is not in its counters yet. */
static void command_settle(void *self, ls_cycle end)
{
    command *c = self;
    if (c->active == 0 || end <= c->busy_since)
        return;
    c->n.busy_cycles += end - c->busy_since;
    c->busy_since = end;
}

static const ls_command_ops command_ops = { .attach = command_attach,
                                            .receive_done = command_receive_done,
                                            .receive_ack = command_receive_ack,
                                            .submit = command_submit,
                                            .take = ls_packets_take,
                                            .unfinished = ls_packets_unfinished,
                                            .places = command_places,
                                            .together = command_together };

static const ls_port_decl ports[] = {
    { .name = LS_COMMAND_PORT, .interface = LS_COMMAND_INTERFACE, .ops = &command_ops },
    { .name = "central", .interface = CENTRAL_USER_INTERFACE, .ops = &command_central_ops },
    { .name = LS_STATE_PORT, .interface = LS_STATE_INTERFACE, .ops = &command_state_ops },
};

static const ls_block_type command_type = {
    .abi = LS_ABI_VERSION,
    .slot = LS_COMMAND_SLOT,
    .name = "cycle",
    .help = "queues, dispatchers that take turns, placement by masks",
    .spec_size = sizeof(command_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .state_size = sizeof(command),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(command, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = command_init,
    .waits = command_waits,
    .settle = command_settle,
    .rows = command_rows,
    .row_count = COMMAND_ROW_COUNT,
};
LS_REGISTER_BLOCK(command_type);

/* command_serial.c: a command processor that runs one packet at a time, and one work-group of a kernel at a time: the
 * time of a kernel is the sum over its work-groups. */
#include "lockstep/command.h"

typedef struct state {
    ls_packets packets; /* first: its functions get the state */
    ls_command_wiring wiring;
    ls_command_packet *packet; /* that runs; NULL: none does */
    uint32_t waits;            /* for a transfer, acknowledgements and the end of a work-group */
    bool flushed;
    ls_event pump;
} state;

static void pump_at(state *s, ls_cycle at)
{
    ls_cancel(&s->pump);
    ls_schedule_at(s->packets.region, &s->pump, at);
}

/* Each cluster acknowledges. Links have room: a cluster gets no second order before the first one is answered. */
static void order_all(state *s, uint32_t kind)
{
    for (uint32_t i = 0; i < s->wiring.clusters; i++, s->waits++)
        ((ls_cluster_order *)ls_link_send(s->wiring.orders[i], 1))->kind = kind;
}

/* A kernel begins with its arguments written and the caches of the compute units empty. */
static void begin(state *s, ls_cycle now)
{
    ls_command_packet *p = s->packet;
    bool kernel = p->kind == LS_PACKET_KERNEL;
    s->flushed = !kernel || !s->wiring.flush;
    s->wiring.kernels->at[0] = &p->kernel; /* that launches name: one runs at a time */
    if (kernel)
        order_all(s, LS_CLUSTER_INVALIDATE);
    if (!kernel || p->transfer.bytes > 0) {
        s->waits++;
        ((const ls_dma_ops *)s->wiring.dma.ops)->start(s->wiring.dma.self, &p->transfer, now);
    }
}

/* A fault is the end of a kernel. */
static bool has_groups(const ls_command_packet *p)
{
    return p->kind == LS_PACKET_KERNEL && !p->has_fault && p->groups < ls_cu_kernel_groups(&p->kernel);
}

static void launch(state *s, ls_command_packet *p)
{
    uint32_t cu = (uint32_t)(p->groups % (s->wiring.clusters * s->wiring.cus_per_cluster));
    ls_cluster_order *order = ls_link_send(s->wiring.orders[cu % s->wiring.clusters], 1);
    order->kind = LS_CLUSTER_LAUNCH;
    ls_packet_launch(p, &s->wiring.capacity, &order->launch);
    order->launch.cu = (uint16_t)(cu / s->wiring.clusters);
    s->waits++;
}

static void pump(void *self, ls_cycle now)
{
    state *s = self;
    if (s->packet == NULL && (s->packet = ls_packets_begin(&s->packets, true)) != NULL)
        begin(s, now);
    if (s->packet == NULL || s->waits > 0)
        return;
    if (has_groups(s->packet)) {
        launch(s, s->packet);
    } else if (!s->flushed) {
        s->flushed = true;
        order_all(s, LS_CLUSTER_FLUSH);
    } else {
        ls_packets_end(&s->packets, s->packet);
        s->packet = NULL;
        pump_at(s, now + 1);
    }
}

static void transferred(void *self, ls_dma_job *job, ls_cycle now)
{
    state *s = self;
    (void)job;
    if (--s->waits == 0)
        pump_at(s, now);
}

static void receive_ack(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)payload;
    ls_link_release(link, 1);
    transferred(self, NULL, now);
}

static void receive_done(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    ls_packet_add_done(((state *)self)->packet, payload);
    receive_ack(self, link, payload, now);
}

static ls_status submit(void *self, ls_command_packet *p, ls_error *err)
{
    state *s = self;
    if (ls_packet_fit(p, &s->wiring.capacity, err) != LS_OK)
        return LS_ERR_UNSUPPORTED;
    p->transfer.done = transferred;
    p->transfer.self = s;
    ls_packets_submit(&s->packets, p);
    pump_at(s, ls_region_now(s->packets.region));
    return LS_OK;
}

static uint64_t places(const void *self, const ls_command_packet *packet)
{
    (void)self, (void)packet;
    return 1;
}

static ls_status attach(void *self, const ls_command_wiring *wiring, ls_error *err)
{
    (void)err;
    ((state *)self)->wiring = *wiring;
    return LS_OK;
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    (void)from_platform, (void)err;
    ls_packets_init(self, ls_block_region(block));
    ls_event_init(&((state *)self)->pump, pump, self);
    return LS_OK;
}

static const ls_command_ops command_ops = {
    attach, receive_done, receive_ack, submit, ls_packets_take, ls_packets_unfinished, places, NULL,
};
static const ls_port_decl ports[] = {
    { .name = LS_COMMAND_PORT, .interface = LS_COMMAND_INTERFACE, .ops = &command_ops },
};
static const ls_block_type command_serial = {
    .abi = LS_ABI_VERSION,
    .slot = LS_COMMAND_SLOT,
    .name = "serial",
    .help = "one work-group at a time",
    .state_size = sizeof(state),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = init,
};
LS_REGISTER_BLOCK(command_serial);

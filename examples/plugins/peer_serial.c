/* peer_serial.c: one sector of another GPU's memory at a time, each a packet of its own: the bound of a GPU whose remote
 * accesses neither overlap nor are combined. It has no copy engine: a copy of a device list ends the run. */
#include "lockstep/peer.h"

typedef struct spec {
    uint64_t hop_cycles;
} spec;

typedef struct state {
    ls_ticker ticker; /* tries to move everything while there is something to move */
    ls_region *region;
    ls_fabric_end end;
    ls_peer_wiring wiring;
    ls_peer_server server; /* of other GPUs */
    ls_sector_message
        *asks;       /* ring of wiring.requests_max: sectors of this GPU, the oldest is on the fabric */
    ls_link **links; /* whose buffer entries they have */
    uint32_t head, tail;
    bool is_sent, is_answered; /* the oldest */
    ls_peer_command signals[LS_PEER_COMMANDS];
    uint32_t signal_head, signal_tail;
    ls_link *from_queue; /* whose buffer entries the signals have */
} state;

static void answer_core(state *s)
{
    const ls_sector_message *ask = &s->asks[s->head % s->wiring.requests_max];
    ls_sector_message *reply = ls_link_send(s->wiring.to_core[ask->core], 1);
    if (reply == NULL)
        return;
    *reply = *ask;
    reply->level = LS_SECTOR_REMOTE;
    ls_link_release(s->links[s->head++ % s->wiring.requests_max], 1);
    s->is_sent = s->is_answered = false;
    ls_domain_progress(ls_region_domain(s->region));
}

static bool tick(void *self, ls_cycle now)
{
    state *s = self;
    (void)now;
    if (s->is_answered)
        answer_core(s);
    if (!s->is_sent && s->head != s->tail)
        s->is_sent = ls_peer_send_sector(&s->end, 0, &s->asks[s->head % s->wiring.requests_max]);
    if (s->signal_head != s->signal_tail &&
        ls_peer_send_signal(&s->end, &s->signals[s->signal_head % LS_PEER_COMMANDS])) {
        s->signal_head++;
        ls_link_release(s->from_queue, 1);
    }
    bool again = ls_peer_serve_tick(&s->server);
    return again || s->signal_head != s->signal_tail || s->is_answered || (!s->is_sent && s->head != s->tail);
}

static void receive_request(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    state *s = self;
    (void)now;
    s->asks[s->tail % s->wiring.requests_max] = *(const ls_sector_message *)payload;
    s->links[s->tail++ % s->wiring.requests_max] = link;
    ls_ticker_wake(&s->ticker);
}

static void receive_reply(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    state *s = self;
    (void)now;
    ls_peer_serve_reply(&s->server, link, payload);
    ls_ticker_wake(&s->ticker);
}

static void receive_command(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    state *s = self;
    const ls_peer_command *command = payload;
    (void)now;
    if (command->is_copy || command->is_flush)
        ls_domain_fail(ls_region_domain(s->region), "peer/serial has no copy engine");
    s->signals[s->signal_tail++ % LS_PEER_COMMANDS] = *command;
    s->from_queue = link;
    ls_ticker_wake(&s->ticker);
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    state *s = self;
    const ls_fabric_message *message = payload;
    (void)now;
    ls_ticker_wake(&s->ticker);
    if (message->kind != LS_PEER_DATA && message->kind != LS_PEER_ACK) {
        ls_peer_serve_receive(&s->server, link, message);
        return;
    }
    ls_link_release(link, 1);
    s->is_answered = true;
}

static void describe(const void *given, ls_peer_shape *out)
{
    out->hop_cycles = (uint32_t)((const spec *)given)->hop_cycles;
}

static ls_status attach(void *self, const ls_peer_wiring *wiring, ls_error *err)
{
    state *s = self;
    ls_domain *domain = ls_region_domain(s->region);
    s->wiring = *wiring;
    s->end = (ls_fabric_end){
        .name = "peer", .number = wiring->number, .region = s->region, .receive = receive, .receiver = s
    };
    s->end.receive_credits[LS_FABRIC_REQUEST] = s->end.receive_credits[LS_FABRIC_COPY] = 1;
    s->end.receive_credits[LS_FABRIC_DATA] = 1;
    s->server = (ls_peer_server){ .wiring = &s->wiring, .end = &s->end };
    s->asks = ls_domain_alloc(domain, wiring->requests_max * sizeof *s->asks);
    s->links = ls_domain_alloc(domain, wiring->requests_max * sizeof(ls_link *));
    return s->asks != NULL && s->links != NULL ? LS_OK
                                               : ls_fail(err, LS_ERR_NOMEM, "no memory for peer/serial");
}

static ls_fabric_end *end_of(void *self)
{
    return &((state *)self)->end;
}

static ls_status init(ls_block *block, void *self, const void *given, ls_error *err)
{
    state *s = self;
    (void)given;
    s->region = ls_block_region(block);
    return ls_ticker_add(s->region, &s->ticker, tick, s, err);
}

static const ls_param params[] = {
    LS_PARAM_UINT(spec, hop_cycles, "cycles", 0, 0, 2000, "between a core or L2 and this block; 0: as to L2"),
};
static const ls_peer_ops ops = { describe,      attach,          end_of, receive_request,
                                 receive_reply, receive_command, NULL };
static const ls_port_decl ports[] = { { .name = LS_PEER_PORT, .interface = LS_PEER_INTERFACE, .ops = &ops } };
static const ls_block_type peer_serial = { .abi = LS_ABI_VERSION,
                                           .slot = LS_PEER_SLOT,
                                           .name = "serial",
                                           .help = "one remote sector at a time",
                                           LS_BLOCK_PARAMS(spec, params),
                                           .state_size = sizeof(state),
                                           .ports = ports,
                                           .port_count = LS_COUNT_OF(ports),
                                           .init = init };
LS_REGISTER_BLOCK(peer_serial);

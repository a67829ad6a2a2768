/* rdma_serial.c: an RDMA engine with one request of its GPU on the fabric at a time, and one of another GPU in L2. The next
 * one leaves when the answer is there: the bound of a GPU whose remote accesses do not overlap. It counts no accesses
 * for pages that migrate (ls_page_agent.used). */
#include "lockstep/rdma.h"

#define CLIENTS 256u

typedef struct client {
    const ls_line_client_ops *ops;
    void *self;
    bool waits; /* was refused */
} client;

typedef struct state {
    ls_rdma_wiring wiring;
    ls_fabric_end end;
    ls_line_port memory;
    client clients[CLIENTS]; /* requesters of this GPU */
    uint32_t client_count, of;
    bool busy;
    ls_line_message request; /* of client number `of`, while busy */
    ls_line_message served;  /* of another GPU; credits say that there is only one */
    ls_link *link;           /* whose buffer entry it has */
    uint32_t from, token;
    ls_event send, reply; /* the request leaves; the answer to the other GPU leaves */
} state;

/* The answer to the own request is there. The clients take turns. */
static void finish(state *s, ls_cycle now)
{
    s->busy = false;
    s->clients[s->of].ops->reply(s->clients[s->of].self, &s->request, now);
    for (uint32_t i = 0, first = s->of; i < s->client_count && !s->busy; i++) {
        client *c = &s->clients[(first + 1 + i) % s->client_count];
        if (c->waits)
            c->ops->retry(c->self, now);
    }
}

static void send_request(void *self, ls_cycle now)
{
    state *s = self;
    uint32_t to = ls_rdma_end_of(&s->end, s->request.address);
    if (to != UINT32_MAX) {
        (void)ls_rdma_send_request(&s->end, to, 0, &s->request, s->wiring.line_bytes, &s->send);
        return;
    }
    ls_rdma_fault(&s->request, s->wiring.line_bytes); /* nobody has this address */
    finish(s, now);
}

static bool request(void *self, uint32_t from, const ls_line_message *line, ls_cycle now)
{
    state *s = self;
    (void)now;
    s->clients[from].waits = s->busy;
    if (s->busy)
        return false;
    s->busy = true;
    s->of = from;
    ls_line_copy(&s->request, line, ls_line_request_data(line, s->wiring.line_bytes));
    ls_schedule(s->wiring.region, &s->send, 1);
    return true;
}

/* To the other GPU. */
static void send_answer(void *self, ls_cycle now)
{
    state *s = self;
    (void)now;
    if (ls_rdma_send_answer(&s->end, s->from, s->token, &s->served, s->wiring.line_bytes, &s->reply))
        ls_link_release(s->link, 1);
}

static void memory_reply(void *self, const ls_line_message *line, ls_cycle now)
{
    state *s = self;
    ls_line_copy(&s->served, line, ls_line_reply_data(line, s->wiring.line_bytes));
    send_answer(s, now);
}

/* L2 takes it, or calls this function again. */
static void memory_retry(void *self, ls_cycle now)
{
    (void)ls_line_request(&((state *)self)->memory, &((state *)self)->served, now);
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    state *s = self;
    const ls_fabric_message *m = payload;
    const ls_line_message *line = ls_rdma_line(m);
    if (s->wiring.agent.credits[m->class_index] != 0) { /* of pages */
        s->wiring.agent.receive(s->wiring.agent.self, link, payload, now);
    } else if (ls_rdma_is_request(m)) {
        s->link = link, s->from = m->from, s->token = m->token;
        ls_line_copy(&s->served, line, ls_line_request_data(line, s->wiring.line_bytes));
        memory_retry(s, now);
    } else {
        ls_rdma_take_answer(&s->request, line, s->wiring.line_bytes);
        ls_link_release(link, 1);
        finish(s, now);
    }
}

static ls_status join(void *self, const ls_line_client_ops *ops, void *of, ls_line_port *out, ls_error *err);
static const ls_line_memory_ops memory_ops = { .attach = join, .request = request };

static ls_status join(void *self, const ls_line_client_ops *ops, void *of, ls_line_port *out, ls_error *err)
{
    state *s = self;
    if (s->client_count == CLIENTS)
        return ls_fail(err, LS_ERR_INPUT, "rdma/serial has %u requesters at most", CLIENTS);
    s->clients[s->client_count] = (client){ .ops = ops, .self = of };
    *out = (ls_line_port){ &memory_ops, s, s->client_count++, s->wiring.line_bytes };
    return LS_OK;
}

static ls_status attach(void *self, const ls_rdma_wiring *wiring, ls_error *err)
{
    static const ls_line_client_ops answers = { .reply = memory_reply, .retry = memory_retry };
    state *s = self;
    s->wiring = *wiring;
    s->end = ls_rdma_make_end(wiring, 1, receive, s);
    ls_event_init(&s->send, send_request, s);
    ls_event_init(&s->reply, send_answer, s);
    return ls_line_join(wiring->memory, &answers, s, &s->memory, err);
}

static ls_fabric_end *end_of(void *self)
{
    return &((state *)self)->end;
}

static const ls_rdma_ops rdma_ops = { .attach = attach, .end = end_of };
static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &memory_ops },
    { .name = LS_RDMA_PORT, .interface = LS_RDMA_INTERFACE, .ops = &rdma_ops },
};
static const ls_block_type rdma_serial = { .abi = LS_ABI_VERSION,
                                           .slot = LS_RDMA_SLOT,
                                           .name = "serial",
                                           .help = "one remote access at a time",
                                           .state_size = sizeof(state),
                                           .ports = ports,
                                           .port_count = LS_COUNT_OF(ports) };
LS_REGISTER_BLOCK(rdma_serial);

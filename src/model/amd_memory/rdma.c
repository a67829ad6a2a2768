/* rdma.c: see rdma.h. Two queues lead to the fabric (own requests, answers to others) and two come from it (requests of
 * others, answers). A message waits latency_cycles in its queue. Each direction passes messages_per_cycle; its two
 * queues take turns, and one that cannot go on lets the other pass. Answers never wait for requests, so two engines
 * cannot wait for each other. */
#include "model/amd_memory/rdma.h"

#include "base/list.h"
#include "lockstep/state.h"
#include "model/amd_memory/atomic.h"
#include "model/fabric/host.h"
#include "model/fabric/network.h"
#include "model/keys.h"
#include "model/memory/place.h"

#include <stdio.h>

#define CLIENTS_MAX 256

/* A request of this GPU. The message has the request until it leaves, and then its answer. */
typedef struct rdma_ask {
    ls_cycle at, taken; /* at: the end of its latency */
    uint32_t next, client;
    ls_line_message m;
} rdma_ask;

/* A request of another GPU, likewise. */
typedef struct rdma_serve {
    ls_cycle at, taken;
    ls_link *link; /* that it came over */
    uint32_t next;
    uint32_t token; /* the other engine's */
    uint32_t from;  /* its end of the fabric */
    uint32_t unused;
    ls_line_message m;
} rdma_serve;

typedef struct rdma_client {
    const ls_line_client_ops *ops;
    void *self;
    bool waiting;
} rdma_client;

/* Messages of one class on their way to the fabric. */
typedef struct rdma_way {
    struct rdma *rdma;
    ls_event ready; /* while a message waits for its link */
    bool waits;
} rdma_way;

typedef struct rdma {
    const line_rdma_spec *spec;
    const char *name;
    ls_region *region;
    ls_line_port memory;
    fabric_end end;
    uint32_t line_bytes, client_count;
    rdma_client *clients;
    rdma_ask *asks;
    rdma_serve *serves;
    uint32_t ask_total, serve_total;

    index_pool ask_pool, serve_pool;
    index_list requests, answers;  /* to the fabric: of asks, of serves */
    index_list incoming, answered; /* from the fabric: of serves, of asks */
    uint32_t in_flight, serving;   /* own requests without an answer; others' without one that has left */
    uint32_t out_turn, in_turn;    /* 1: the answers come first */
    uint32_t turn;                 /* the client to call first */
    bool memory_refused;
    bool places_known, has_place[MEM_PLACES];
    ls_cycle next_step; /* the first cycle in which messages may pass again */
    ls_event event;
    rdma_way ways[2]; /* FABRIC_REQUEST and FABRIC_DATA */
    line_rdma_counters n;
} rdma;

static index_links ask_links(const rdma *r)
{
    return INDEX_LINKS(r->asks, next);
}

static index_links serve_links(const rdma *r)
{
    return INDEX_LINKS(r->serves, next);
}

static void arm(rdma *r, ls_cycle at, ls_cycle now)
{
    at = at > r->next_step ? at : r->next_step;
    at = at > now ? at : now;
    if (ls_event_scheduled(&r->event)) {
        if (r->event.cycle <= at)
            return;
        ls_cancel(&r->event);
    }
    ls_schedule_at(r->region, &r->event, at);
}

/* ---------------------------------------------------------------------------------------- sizes of messages */

/* From the first written byte to the last, in words of four. */
static uint32_t span_of(const uint64_t mask[2])
{
    if ((mask[0] | mask[1]) == 0)
        return 0;
    uint32_t first = (uint32_t)(mask[0] != 0 ? __builtin_ctzll(mask[0]) : 64 + __builtin_ctzll(mask[1]));
    uint32_t last = (uint32_t)(mask[1] != 0 ? 127 - __builtin_clzll(mask[1]) : 63 - __builtin_clzll(mask[0]));
    return (last / 4 - first / 4 + 1) * 4;
}

static uint32_t request_bytes(const ls_line_message *m)
{
    if (m->kind == LS_LINE_READ)
        return 0;
    uint32_t bytes = span_of(m->mask);
    return m->kind == LS_LINE_ATOMIC && line_atomic_is_pair(m->atomic) ? 2 * bytes : bytes;
}

static uint32_t answer_bytes(const rdma *r, const ls_line_message *m)
{
    if (m->kind == LS_LINE_READ)
        return r->line_bytes;
    return ls_line_reply_data(m, r->line_bytes) != 0 ? span_of(m->mask) : 0;
}

/* --------------------------------------------------------------------------------------------- to the fabric */

/* Puts a message on the fabric, or waits for its link. */
static bool send(rdma *r, fabric_class class, uint32_t to, uint32_t token, const ls_line_message *m,
                 uint32_t data_bytes, uint32_t head_bytes, uint32_t copy_bytes)
{
    ls_link *link = r->end.send[class];
    if (r->ways[class].waits)
        return false;
    fabric_message *slot = ls_link_send(link, head_bytes + data_bytes);
    if (slot == NULL) {
        r->n.fabric_waits++;
        r->ways[class].waits = true;
        ls_link_wait(link, &r->ways[class].ready);
        return false;
    }
    slot->from = (uint16_t)r->end.number;
    slot->to = (uint16_t)to;
    slot->class_index = (uint8_t) class;
    slot->kind = m->kind;
    slot->data_bytes = (uint16_t)data_bytes;
    slot->wire_bytes = (uint16_t)(head_bytes + data_bytes);
    slot->body_bytes = (uint16_t)(LS_LINE_HEAD_BYTES + copy_bytes);
    slot->token = token;
    slot->address = mem_place_frame(m->address);
    ls_line_message *body = (ls_line_message *)(void *)slot->body;
    ls_line_copy(body, m, copy_bytes);
    body->address = slot->address;
    r->n.bytes_out += slot->wire_bytes;
    r->n.data_bytes_out += data_bytes;
    return true;
}

static uint32_t end_of(const rdma *r, uint64_t address)
{
    uint32_t place = mem_place_of(address);
    return place == MEM_PLACE_HOST ? r->end.ends - 1 : place;
}

static bool send_request(rdma *r, ls_cycle now)
{
    if (index_list_empty(&r->requests) || r->asks[r->requests.first].at > now)
        return false;
    uint32_t i = r->requests.first;
    const ls_line_message *m = &r->asks[i].m;
    if (!send(r, FABRIC_REQUEST, end_of(r, m->address), i, m, request_bytes(m), LINE_RDMA_REQUEST_BYTES,
              ls_line_request_data(m, r->line_bytes)))
        return false;
    (void)index_list_pop(&r->requests, ask_links(r));
    return true;
}

static bool send_answer(rdma *r, ls_cycle now)
{
    if (index_list_empty(&r->answers) || r->serves[r->answers.first].at > now)
        return false;
    uint32_t i = r->answers.first;
    const rdma_serve *serve = &r->serves[i];
    if (!send(r, FABRIC_DATA, serve->from, serve->token, &serve->m, answer_bytes(r, &serve->m),
              LINE_RDMA_ANSWER_BYTES, ls_line_reply_data(&serve->m, r->line_bytes)))
        return false;
    r->n.served_latency_cycles += now - serve->taken;
    (void)index_list_pop(&r->answers, serve_links(r));
    index_pool_give(&r->serve_pool, serve_links(r), i);
    r->serving--; /* not before: answers that wait for the fabric still hold their entries */
    return true;
}

static void link_ready(void *self, ls_cycle now)
{
    rdma_way *way = self;
    way->waits = false;
    arm(way->rdma, now, now);
}

/* ------------------------------------------------------------------------------------------- from the fabric */

static bool take_request(rdma *r, ls_cycle now)
{
    if (index_list_empty(&r->incoming) || r->memory_refused || r->serving == r->spec->served_in_flight)
        return false;
    uint32_t i = r->incoming.first;
    rdma_serve *serve = &r->serves[i];
    if (serve->at > now)
        return false;
    if (!ls_line_request(&r->memory, &serve->m, now)) {
        r->memory_refused = true;
        return false;
    }
    (void)index_list_pop(&r->incoming, serve_links(r));
    r->n.served_reads += serve->m.kind == LS_LINE_READ;
    r->n.served_writes += serve->m.kind == LS_LINE_WRITE;
    r->n.served_atomics += serve->m.kind == LS_LINE_ATOMIC;
    r->serving++;
    r->n.served_peak = r->serving > r->n.served_peak ? r->serving : r->n.served_peak;
    ls_link_release(serve->link, 1);
    return true;
}

static bool take_answer(rdma *r, ls_cycle now)
{
    if (index_list_empty(&r->answered) || r->asks[r->answered.first].at > now)
        return false;
    uint32_t i = index_list_pop(&r->answered, ask_links(r));
    rdma_ask *ask = &r->asks[i];
    const rdma_client *client = &r->clients[ask->client];
    r->n.answers++;
    r->n.faults += (ask->m.flags & LS_LINE_FAULT) != 0;
    r->n.latency_cycles += now - ask->taken;
    client->ops->reply(client->self, &ask->m, now);
    index_pool_give(&r->ask_pool, ask_links(r), i);
    r->in_flight--;
    return true;
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    rdma *r = self;
    const fabric_message *message = payload;
    const ls_line_message *m = (const ls_line_message *)(const void *)message->body;
    r->n.bytes_in += message->wire_bytes;
    r->n.data_bytes_in += message->data_bytes;
    if (message->class_index == FABRIC_REQUEST) {
        uint32_t i = index_pool_take(&r->serve_pool, serve_links(r));
        rdma_serve *serve = &r->serves[i];
        ls_line_copy(&serve->m, m, ls_line_request_data(m, r->line_bytes));
        serve->m.token = i;
        serve->token = message->token;
        serve->from = message->from;
        serve->link = link;
        serve->taken = now;
        serve->at = now + r->spec->latency_cycles;
        index_list_append(&r->incoming, serve_links(r), i);
        arm(r, serve->at, now);
        return;
    }
    rdma_ask *ask = &r->asks[message->token];
    uint32_t data_bytes = ls_line_reply_data(m, r->line_bytes);
    if (data_bytes != 0)
        ls_line_copy_data(ask->m.data, m->data, data_bytes);
    ask->m.flags = m->flags;
    ask->at = now + r->spec->latency_cycles;
    index_list_append(&r->answered, ask_links(r), message->token);
    ls_link_release(link, 1);
    arm(r, ask->at, now);
}

/* -------------------------------------------------------------------------------------------------- one cycle */

typedef bool (*rdma_pass)(rdma *r, ls_cycle now);

/* One direction. */
static void pass(rdma *r, rdma_pass request, rdma_pass answer, uint32_t *turn, ls_cycle now)
{
    for (uint64_t left = r->spec->messages_per_cycle; left > 0; left--) {
        bool answers_first = *turn != 0;
        if ((answers_first ? answer : request)(r, now))
            *turn = !answers_first;
        else if (!(answers_first ? request : answer)(r, now))
            return;
    }
}

/* When the first message of each queue may pass. One that waits for a link, the memory or an end of service does so
 * without the clock. */
static ls_cycle next_of(const rdma *r)
{
    ls_cycle next = LS_CYCLE_MAX;
    if (!index_list_empty(&r->answered))
        next = r->asks[r->answered.first].at;
    if (!index_list_empty(&r->requests) && !r->ways[FABRIC_REQUEST].waits &&
        r->asks[r->requests.first].at < next)
        next = r->asks[r->requests.first].at;
    if (!index_list_empty(&r->answers) && !r->ways[FABRIC_DATA].waits && r->serves[r->answers.first].at < next)
        next = r->serves[r->answers.first].at;
    if (!index_list_empty(&r->incoming) && !r->memory_refused && r->serving < r->spec->served_in_flight &&
        r->serves[r->incoming.first].at < next)
        next = r->serves[r->incoming.first].at;
    return next;
}

static void call_clients(rdma *r, ls_cycle now)
{
    for (uint32_t i = 0; i < r->client_count && r->in_flight < r->spec->in_flight; i++) {
        rdma_client *client = &r->clients[r->turn];
        r->turn = r->turn + 1 < r->client_count ? r->turn + 1 : 0;
        if (client->waiting) {
            client->waiting = false;
            client->ops->retry(client->self, now);
        }
    }
}

static void step(void *self, ls_cycle now)
{
    rdma *r = self;
    uint32_t before = r->in_flight;
    r->next_step = now + 1;
    pass(r, send_request, send_answer, &r->out_turn, now);
    pass(r, take_request, take_answer, &r->in_turn, now);
    if (r->in_flight < before)
        call_clients(r, now);
    ls_cycle next = next_of(r);
    if (next != LS_CYCLE_MAX)
        arm(r, next, now);
}

/* ------------------------------------------------------------------------------------------ the own caches */

/* Places with an end that takes requests, at the first request: the fabric is built after the GPUs. A fabric that is not
 * src/model/fabric has all ends and no host. */
static void find_places(rdma *r)
{
    ls_engine *engine = ls_domain_engine(ls_region_domain(r->region));
    const fabric *f = ls_engine_part(engine, FABRIC_PART, 0);
    bool has_host = ls_engine_part(engine, HOST_PART, 0) != NULL;
    uint32_t gpus = r->end.ends - has_host;
    r->places_known = true;
    r->has_place[MEM_PLACE_HOST] = has_host;
    for (uint32_t i = 0; i < gpus && i < MEM_PLACE_GPUS; i++)
        r->has_place[i] = i != r->end.number && (f == NULL || f->end[i] != NULL);
}

static bool is_reachable(rdma *r, uint64_t address)
{
    uint32_t place = mem_place_of(address);
    if (LS_UNLIKELY(!r->places_known))
        find_places(r);
    return place < MEM_PLACES && r->has_place[place];
}

static bool rdma_request(void *self, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    rdma *r = self;
    if (r->in_flight == r->spec->in_flight) {
        r->clients[client].waiting = true;
        r->n.refused++;
        return false;
    }
    uint32_t i = index_pool_take(&r->ask_pool, ask_links(r));
    rdma_ask *ask = &r->asks[i];
    ls_line_copy(&ask->m, m, ls_line_request_data(m, r->line_bytes));
    ask->client = client;
    ask->taken = now;
    ask->at = now + r->spec->latency_cycles;
    r->in_flight++;
    r->n.in_flight_peak = r->in_flight > r->n.in_flight_peak ? r->in_flight : r->n.in_flight_peak;
    r->n.reads += m->kind == LS_LINE_READ;
    r->n.writes += m->kind == LS_LINE_WRITE;
    r->n.atomics += m->kind == LS_LINE_ATOMIC;
    if (LS_LIKELY(is_reachable(r, m->address))) {
        index_list_append(&r->requests, ask_links(r), i);
    } else { /* a wild address: nothing is mapped there */
        ask->m.flags |= LS_LINE_FAULT;
        memset(ask->m.data, 0, r->line_bytes);
        index_list_append(&r->answered, ask_links(r), i);
    }
    arm(r, ask->at, now);
    return true;
}

static void memory_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    rdma *r = self;
    rdma_serve *serve = &r->serves[m->token];
    uint32_t data_bytes = ls_line_reply_data(m, r->line_bytes);
    if (data_bytes != 0)
        ls_line_copy_data(serve->m.data, m->data, data_bytes);
    serve->m.flags = m->flags;
    serve->at = now + r->spec->latency_cycles;
    index_list_append(&r->answers, serve_links(r), m->token);
    arm(r, serve->at, now);
}

static void memory_retry(void *self, ls_cycle now)
{
    rdma *r = self;
    r->memory_refused = false;
    arm(r, now, now);
}

static const ls_line_client_ops memory_client = { .reply = memory_reply, .retry = memory_retry };

/* ---------------------------------------------------------------------------------------------------- set-up */

static ls_status rdma_attach_client(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                                    ls_error *err);

static const ls_line_memory_ops rdma_memory = { .request = rdma_request, .attach = rdma_attach_client };

static ls_status rdma_attach_client(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                                    ls_error *err)
{
    rdma *r = self;
    if (r->client_count == CLIENTS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "%s: more than %d requesters", r->name, CLIENTS_MAX);
    r->clients[r->client_count] = (rdma_client){ .ops = ops, .self = client };
    *out = (ls_line_port){
        .ops = &rdma_memory, .self = r, .client = r->client_count++, .line_bytes = r->line_bytes
    };
    return LS_OK;
}

static ls_status rdma_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    rdma *r = state;
    r->spec = spec;
    r->name = ls_block_name(block);
    r->region = ls_block_region(block);
    ls_domain *domain = ls_region_domain(r->region);
    r->ask_total = (uint32_t)r->spec->in_flight;
    r->serve_total = (uint32_t)(r->spec->served_in_flight + r->spec->buffer_messages);
    r->clients = ls_domain_alloc(domain, CLIENTS_MAX * sizeof *r->clients);
    r->asks = ls_domain_alloc(domain, r->ask_total * sizeof *r->asks);
    r->serves = ls_domain_alloc(domain, r->serve_total * sizeof *r->serves);
    if (r->clients == NULL || r->asks == NULL || r->serves == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", r->name);
    r->ask_pool = r->serve_pool = INDEX_POOL_NEW;
    r->requests = r->answers = r->incoming = r->answered = INDEX_LIST_EMPTY;
    ls_event_init(&r->event, step, r);
    for (uint32_t i = 0; i < LS_COUNT_OF(r->ways); i++) {
        r->ways[i].rdma = r;
        ls_event_init(&r->ways[i].ready, link_ready, &r->ways[i]);
    }
    r->end = (fabric_end){ .name = r->name, .region = r->region, .receive = receive, .receiver = r };
    r->end.receive_credits[FABRIC_REQUEST] = r->end.receive_credits[FABRIC_DATA] =
        (uint32_t)r->spec->buffer_messages;
    return LS_OK;
}

static ls_status rdma_attach(void *self, const line_rdma_wiring *wiring, ls_error *err)
{
    rdma *r = self;
    r->line_bytes = wiring->line_bytes;
    r->end.number = wiring->number;
    return ls_line_join(wiring->memory, &memory_client, r, &r->memory, err);
}

static fabric_end *rdma_end(void *self)
{
    rdma *r = self;
    return &r->end;
}

static const line_rdma_ops rdma_ops = { .attach = rdma_attach, .end = rdma_end };

static void rdma_waits(const void *self, ls_wait_sink *sink)
{
    const rdma *r = self;
    char detail[128];
    if (r->in_flight > 0) {
        snprintf(detail, sizeof detail, "%u remote requests are not answered%s", r->in_flight,
                 !index_list_empty(&r->requests) ? ", some have not left" : "");
        ls_wait_report(sink, r->name,
                       r->ways[FABRIC_REQUEST].waits ? ls_link_name(r->end.send[FABRIC_REQUEST])
                                                     : "the fabric",
                       detail);
    }
    if (r->serving > 0 || !index_list_empty(&r->incoming)) {
        snprintf(detail, sizeof detail, "%u requests of other GPUs are not answered%s", r->serving,
                 !index_list_empty(&r->incoming) ? ", more wait" : "");
        ls_wait_report(sink, r->name, "the memory partitions", detail);
    }
}

/* --------------------------------------------------------------------------------------------------- tables */

static uint64_t client_length(const void *self)
{
    return ((const rdma *)self)->client_count;
}

static uint64_t ask_length(const void *self)
{
    return ((const rdma *)self)->ask_total;
}

static uint64_t serve_length(const void *self)
{
    return ((const rdma *)self)->serve_total;
}

static const ls_state_row client_rows[] = {
    LS_STATE_FIXED_SPAN(rdma_client, ops, self),
    LS_STATE_DATA(rdma_client, waiting),
};

static const ls_state_row serve_rows[] = {
    LS_STATE_DATA_SPAN(rdma_serve, at, taken),
    LS_STATE_LINK(rdma_serve, link),
    LS_STATE_DATA_SPAN(rdma_serve, next, m),
};

static const ls_state_row way_rows[] = {
    LS_STATE_FIXED(rdma_way, rdma),
    LS_STATE_EVENT(rdma_way, ready),
    LS_STATE_DATA(rdma_way, waits),
};

static const ls_state_row state_rows[] = {
    LS_STATE_FIXED_SPAN(rdma, spec, client_count),
    LS_STATE_ARRAY_OF(rdma, clients, client_length, client_rows),
    LS_STATE_ARRAY(rdma, asks, ask_length),
    LS_STATE_ARRAY_OF(rdma, serves, serve_length, serve_rows),
    LS_STATE_FIXED_SPAN(rdma, ask_total, serve_total),
    LS_STATE_DATA_SPAN(rdma, ask_pool, next_step),
    LS_STATE_EVENT(rdma, event),
    LS_STATE_PARTS(rdma, ways, way_rows),
    LS_STATE_DATA(rdma, n),
};

/* clang-format off */
#define KEY_SPEC line_rdma_spec

static const ls_param params[] = {
    KEY("in_flight", in_flight, "requests", "1024", 1, 65536, "of this GPU that other GPUs have not answered"),
    KEY("served_in_flight", served_in_flight, "requests", "1024", 1, 65536, "of other GPUs whose answers have not left"),
    KEY("buffer_messages", buffer_messages, "messages", "128", 1, 65536, "from the fabric, of each class"),
    KEY("latency_cycles", latency_cycles, "cycles", "1", 0, 10000, "of each message that passes, in either direction"),
    KEY("messages_per_cycle", messages_per_cycle, "messages", "1", 1, 64, "that pass in each direction"),
};

static const ls_need needs[] = {
    { "*", "//fabric.model!=none" },
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(line_rdma_counters, reads, "requests", "lines of other GPUs read"),
    LS_METRIC_COUNTER(line_rdma_counters, writes, "requests", "lines of other GPUs written"),
    LS_METRIC_COUNTER(line_rdma_counters, atomics, "requests", "atomics in the memory of other GPUs"),
    LS_METRIC_COUNTER(line_rdma_counters, faults, "requests", "nothing was mapped there, or not for writing"),
    LS_METRIC_COUNTER(line_rdma_counters, answers, "requests", "requests answered"),
    LS_METRIC_COUNTER(line_rdma_counters, latency_cycles, "cycles", "from taken to answered, of all requests"),
    LS_METRIC_RATIO(line_rdma_counters, "average_latency", latency_cycles, answers, "cycles", "latency_cycles / answers"),
    LS_METRIC_COUNTER(line_rdma_counters, served_reads, "requests", "lines read for other GPUs"),
    LS_METRIC_COUNTER(line_rdma_counters, served_writes, "requests", "lines written for other GPUs"),
    LS_METRIC_COUNTER(line_rdma_counters, served_atomics, "requests", "atomics for other GPUs"),
    LS_METRIC_COUNTER(line_rdma_counters, served_latency_cycles, "cycles", "from arrival to answer, of all requests of other GPUs"),
    LS_METRIC_COUNTER(line_rdma_counters, bytes_out, "bytes", "messages sent, with their headers"),
    LS_METRIC_COUNTER(line_rdma_counters, bytes_in, "bytes", "messages received, with their headers"),
    LS_METRIC_COUNTER(line_rdma_counters, data_bytes_out, "bytes", "data sent"),
    LS_METRIC_COUNTER(line_rdma_counters, data_bytes_in, "bytes", "data received"),
    LS_METRIC_COUNTER(line_rdma_counters, refused, "tries", "in_flight was reached"),
    LS_METRIC_COUNTER(line_rdma_counters, fabric_waits, "times", "a message waited for a link of the fabric"),
    LS_METRIC_PEAK(line_rdma_counters, in_flight_peak, "requests", "most remote requests at once"),
    LS_METRIC_PEAK(line_rdma_counters, served_peak, "requests", "most requests of other GPUs in L2 at once"),
};
/* clang-format on */

static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &rdma_memory },
    { .name = LINE_RDMA_PORT, .interface = LINE_RDMA_INTERFACE, .ops = &rdma_ops },
};

static const ls_block_type rdma_type = {
    .abi = LS_ABI_VERSION,
    .slot = LINE_RDMA_SLOT,
    .name = "line",
    .help = "a line of another GPU's memory per message; only in a system with a fabric",
    .spec_size = sizeof(line_rdma_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .state_size = sizeof(rdma),
    .rows = state_rows,
    .row_count = LS_COUNT_OF(state_rows),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(rdma, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = rdma_init,
    .waits = rdma_waits,
};
LS_REGISTER_BLOCK(rdma_type);

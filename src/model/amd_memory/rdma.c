/* rdma.c: see rdma.h. Four queues lead to the fabric (own requests, answers to others, and both of copies) and two come
 * from it (requests of others, answers). A message waits latency_cycles in its queue. Each direction passes
 * messages_per_cycle; its queues take turns, and one that cannot go on lets the others pass. Answers never wait for
 * requests, so two engines cannot wait for each other.
 *
 * Lines of DMA engines (LS_LINE_SYSTEM) count as copies. Every message on the channels of class COPY is taken at once:
 * answers have their entry, and the host has room for all copies that GPUs send it. Copies that ask another GPU wait
 * there for its L2, so they travel as requests do. */
#include "model/amd_memory/rdma_impl.h"

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

/* --------------------------------------------------------------------------------------------- to the fabric */

/* A place for a message on the fabric; NULL: it waits for its link. */
static ls_fabric_message *place_of(rdma *r, ls_fabric_class class)
{
    ls_link *link = r->end.send[class];
    if (r->ways[class].waits)
        return NULL;
    ls_fabric_message *slot = ls_link_send(link, 1);
    if (slot == NULL) {
        r->n.fabric_waits++;
        r->ways[class].waits = true;
        ls_link_wait(link, &r->ways[class].ready);
    }
    return slot;
}

static void count_sent(rdma *r, const ls_fabric_message *sent)
{
    if (r->has_host && sent->to == r->end.ends - 1) {
        r->n.host_bytes_out += sent->wire_bytes;
        return;
    }
    r->n.bytes_out += sent->wire_bytes;
    r->n.data_bytes_out += sent->data_bytes;
}

static bool send_ask(rdma *r, ls_fabric_class class, index_list *asks, ls_cycle now)
{
    if (index_list_empty(asks) || r->asks[asks->first].at > now)
        return false;
    uint32_t i = asks->first;
    ls_fabric_message *slot = place_of(r, class);
    if (slot == NULL)
        return false;
    ls_rdma_fill_request(slot, &r->end, r->asks[i].to, i, &r->asks[i].m, r->line_bytes);
    count_sent(r, slot);
    (void)index_list_pop(asks, ask_links(r));
    return true;
}

static bool send_request(rdma *r, ls_cycle now)
{
    return send_ask(r, LS_FABRIC_REQUEST, &r->requests, now);
}

/* To the host, as long as it has room. */
static bool send_copy(rdma *r, ls_cycle now)
{
    if (r->host_copies == r->host_copies_max || !send_ask(r, LS_FABRIC_COPY, &r->copies, now))
        return false;
    r->host_copies++;
    return true;
}

static bool send_served(rdma *r, ls_fabric_class class, index_list *answers, ls_cycle now)
{
    if (index_list_empty(answers) || r->serves[answers->first].at > now)
        return false;
    uint32_t i = answers->first;
    const rdma_serve *serve = &r->serves[i];
    ls_fabric_message *slot = place_of(r, class);
    if (slot == NULL)
        return false;
    ls_rdma_fill_answer(slot, &r->end, serve->from, serve->token, &serve->m, r->line_bytes);
    count_sent(r, slot);
    r->n.served_latency_cycles += now - serve->taken;
    (void)index_list_pop(answers, serve_links(r));
    index_pool_give(&r->serve_pool, serve_links(r), i);
    r->serving--; /* not before: answers that wait for the fabric still hold their entries */
    return true;
}

static bool send_answer(rdma *r, ls_cycle now)
{
    return send_served(r, LS_FABRIC_DATA, &r->answers, now);
}

static bool send_copied(rdma *r, ls_cycle now)
{
    return send_served(r, LS_FABRIC_COPY, &r->copied, now);
}

void rdma_link_ready(void *self, ls_cycle now)
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
    r->host_copies -= ask->is_host_copy;
    client->ops->reply(client->self, &ask->m, now);
    index_pool_give(&r->ask_pool, ask_links(r), i);
    r->in_flight--;
    return true;
}

void rdma_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    rdma *r = self;
    const ls_fabric_message *message = payload;
    const ls_line_message *m = ls_rdma_line(message);
    if (LS_UNLIKELY(!fabric_is_mine(&r->end, message))) {
        ls_link_release(link, 1);
        return;
    }
    if (message->class_index == LS_FABRIC_WALK || message->class_index == LS_FABRIC_INVALIDATE ||
        message->class_index == LS_FABRIC_MIGRATE) {
        r->agent.receive(r->agent.self, link, payload, now);
        return;
    }
    if (r->has_host && message->from == r->end.ends - 1) {
        r->n.host_bytes_in += message->wire_bytes;
    } else {
        r->n.bytes_in += message->wire_bytes;
        r->n.data_bytes_in += message->data_bytes;
    }
    if (ls_rdma_is_request(message)) {
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
    if (LS_UNLIKELY(message->token >= r->ask_total)) {
        ls_link_release(link, 1);
        ls_domain_fail(ls_region_domain(r->region),
                       "the model of slot 'rdma' of another GPU answered a request that was not sent");
        return;
    }
    rdma_ask *ask = &r->asks[message->token];
    ls_rdma_take_answer(&ask->m, m, r->line_bytes);
    ask->at = now + r->spec->latency_cycles;
    index_list_append(&r->answered, ask_links(r), message->token);
    ls_link_release(link, 1);
    arm(r, ask->at, now);
}

/* -------------------------------------------------------------------------------------------------- one cycle */

typedef bool (*rdma_pass)(rdma *r, ls_cycle now);

/* One direction. */
static void pass(rdma *r, const rdma_pass *queues, uint32_t count, uint32_t *turn, ls_cycle now)
{
    for (uint64_t left = r->spec->messages_per_cycle; left > 0; left--) {
        uint32_t tried = 0;
        while (tried < count && !queues[(*turn + tried) % count](r, now))
            tried++;
        if (tried == count)
            return;
        *turn = (*turn + tried + 1) % count;
    }
}

/* When the first message of each queue may pass. One that waits for a link, the memory or an end of service does so
 * without the clock. */
static ls_cycle next_of(const rdma *r)
{
    ls_cycle next = LS_CYCLE_MAX;
    if (!index_list_empty(&r->answered))
        next = r->asks[r->answered.first].at;
    if (!index_list_empty(&r->requests) && !r->ways[LS_FABRIC_REQUEST].waits &&
        r->asks[r->requests.first].at < next)
        next = r->asks[r->requests.first].at;
    if (!index_list_empty(&r->answers) && !r->ways[LS_FABRIC_DATA].waits &&
        r->serves[r->answers.first].at < next)
        next = r->serves[r->answers.first].at;
    if (!r->ways[LS_FABRIC_COPY].waits) {
        if (!index_list_empty(&r->copies) && r->host_copies < r->host_copies_max &&
            r->asks[r->copies.first].at < next)
            next = r->asks[r->copies.first].at;
        if (!index_list_empty(&r->copied) && r->serves[r->copied.first].at < next)
            next = r->serves[r->copied.first].at;
    }
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

void rdma_step(void *self, ls_cycle now)
{
    rdma *r = self;
    uint32_t before = r->in_flight;
    r->next_step = now + 1;
    static const rdma_pass out[] = { send_request, send_copy, send_answer, send_copied },
                           in[] = { take_request, take_answer };
    pass(r, out, LS_COUNT_OF(out), &r->out_turn, now);
    pass(r, in, LS_COUNT_OF(in), &r->in_turn, now);
    if (r->in_flight < before)
        call_clients(r, now);
    ls_cycle next = next_of(r);
    if (next != LS_CYCLE_MAX)
        arm(r, next, now);
}

/* ------------------------------------------------------------------------------------------ the own caches */

/* At the first request: the fabric is built after the GPUs. */
static void find_host(rdma *r)
{
    const ls_fabric_end *last = r->end.all != NULL ? r->end.all[r->end.ends - 1] : NULL;
    r->host_known = true;
    r->has_host = last != NULL && last->number == LS_FABRIC_HOST;
    r->host_copies_max = r->has_host ? last->copies : 0;
}

bool rdma_request(void *self, uint32_t client, const ls_line_message *m, ls_cycle now)
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
    if (r->agent.used != NULL && (m->flags & LS_LINE_SYSTEM) == 0)
        r->agent.used(r->agent.self, m->address);
    if (LS_UNLIKELY(!r->host_known))
        find_host(r);
    ask->to = ls_rdma_end_of(&r->end, m->address);
    ask->is_host_copy = false;
    if (LS_LIKELY(ask->to != UINT32_MAX)) {
        ask->is_host_copy = ls_rdma_request_class(&r->end, m) == LS_FABRIC_COPY;
        index_list_append(ask->is_host_copy ? &r->copies : &r->requests, ask_links(r), i);
    } else { /* a wild address: nothing is mapped there */
        ls_rdma_fault(&ask->m, r->line_bytes);
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
    index_list_append((m->flags & LS_LINE_SYSTEM) != 0 ? &r->copied : &r->answers, serve_links(r), m->token);
    arm(r, serve->at, now);
}

static void memory_retry(void *self, ls_cycle now)
{
    rdma *r = self;
    r->memory_refused = false;
    arm(r, now, now);
}

const ls_line_client_ops rdma_memory_client = { .reply = memory_reply, .retry = memory_retry };

/* cache.c: a cache's work after it took a request: messages below, lines from below, flushes, answers. Touches
 * its own state, the port below and the clients above. cache_take.c takes requests. */
#include "model/amd_memory/cache_state.h"

#include "model/amd_memory/atomic.h"

#include <stdio.h>

/* --- the way below --- */

static bool send_fetch(line_cache *c, uint32_t number, ls_cycle now)
{
    const cache_fetch *fetch = &c->fetches[number];
    ls_line_message m;
    m.address = store_address(&c->store, fetch->line);
    m.mask[0] = c->store.full[0];
    m.mask[1] = c->store.full[1];
    m.token = number | CACHE_FETCH;
    m.source = 0;
    m.flags = fetch->flags;
    m.kind = LS_LINE_READ;
    m.atomic = m.atomic_bytes = m.half = 0;
    bool prefetch = index_list_empty(&fetch->targets);
    m.born = prefetch ? (uint32_t)now : c->nodes[fetch->targets.first].m.born;
    m.number = prefetch ? 0 : c->nodes[fetch->targets.first].m.number;
    return ls_line_request(&c->below, &m, now);
}

static bool send_node(line_cache *c, uint32_t node, ls_cycle now)
{
    const ls_line_message *m = &c->nodes[node].m;
    bool writeback = m->token == CACHE_WRITEBACK;
    if (!ls_line_request(&c->below, m, now))
        return false;
    if (writeback)
        cache_node_give(c, node);
    return true;
}

/* Sends the messages that are due. */
static void send_below(line_cache *c, ls_cycle now)
{
    do {
        const cache_send *s = &c->sends[c->send_head & c->send_mask];
        if (!(s->node == INDEX_NONE ? send_fetch(c, s->fetch, now) : send_node(c, s->node, now))) {
            c->below_refused = true;
            c->send_due = LS_CYCLE_MAX;
            return;
        }
        c->send_head++;
        c->freed |= CACHE_ROOM;
        c->send_due = c->send_head != c->send_tail ? c->sends[c->send_head & c->send_mask].at : LS_CYCLE_MAX;
    } while (c->send_due <= now);
}

/* Serves a waiting request, in order, when the bytes have arrived. */
static void serve_target(line_cache *c, uint32_t node, uint32_t line, uint16_t flags, ls_cycle now)
{
    ls_line_message *m = &c->nodes[node].m;
    uint64_t extra = 0;
    if (m->kind == LS_LINE_WRITE) {
        store_write(&c->store, line, m->data, m->mask, c->policy == WRITE_BACK);
        cache_node_give(c, node);
        return;
    }
    if (m->kind == LS_LINE_ATOMIC) {
        extra = c->spec->atomic_cycles * line_atomic_apply(m, store_bytes(&c->store, line));
        for (uint32_t i = 0; i < 2; i++)
            c->store.lines[line].dirty[i] |= m->mask[i];
    } else {
        ls_line_copy_data(m->data, store_bytes(&c->store, line), c->store.line_bytes);
    }
    m->flags |= flags;
    cache_answer_fill(c, node, now, extra);
}

static void end_fetch(line_cache *c, const ls_line_message *reply, ls_cycle now)
{
    uint32_t i = reply->token & ~CACHE_FETCH;
    cache_fetch *fetch = &c->fetches[i];
    uint32_t line = fetch->line;
    uint16_t fault = reply->flags & (LS_LINE_FAULT | LS_LINE_READ_ONLY);
    uint16_t flags = fault | (reply->flags & LS_LINE_FROM) | c->fill_flags;
    store_fill(&c->store, line, reply->data);
    c->n.fills++;
    for (uint32_t node = fetch->targets.first; node != INDEX_NONE;) {
        uint32_t next = c->nodes[node].next;
        serve_target(c, node, line, flags, now);
        node = next;
    }
    store_release(&c->store, line);
    if (fault != 0 || (fetch->closed && !store_is_dirty(&c->store, line)))
        store_drop(&c->store, line);
    else if (LS_UNLIKELY(fetch->closed))
        store_keep_dirty(&c->store, line);
    else if ((fetch->flags & LS_LINE_SLC) != 0)
        store_age(&c->store, line);
    index_pool_give(&c->fetch_pool, INDEX_LINKS(c->fetches, next), i);
    c->fetch_count--;
}

/* Lines whose fetch is on its way may have writes waiting for it: the flush waits there. */
static __attribute__((noinline)) void go_on_flushing(line_cache *c, ls_cycle now)
{
    c->lead = 0;
    for (uint32_t line; (line = tag_store_walk(&c->store.tags, &c->flush_next)) != STORE_NONE;
         c->flush_next++) {
        if (store_is_empty(&c->store, line))
            continue;
        if (c->store.lines[line].mshr != STORE_NONE)
            return;
        if (!store_is_dirty(&c->store, line))
            continue;
        if (!cache_sends_free(c, 1) || c->nodes_left == 0)
            return;
        cache_write_back(c, line, now);
    }
    if (c->writes_out != 0)
        return;
    cache_answer_hit(c, c->flush_node, now, 0);
    c->flush_node = INDEX_NONE;
    c->freed |= CACHE_ROOM;
}

/* --- the level below --- */

static void below_reply(void *self, const ls_line_message *reply, ls_cycle now)
{
    line_cache *c = self;
    if ((reply->token & CACHE_FETCH) != 0) {
        end_fetch(c, reply, now);
        c->freed |= CACHE_LINE;
    } else if (reply->token == CACHE_WRITEBACK) {
        c->writes_out--;
    } else {
        cache_node *node = &c->nodes[reply->token];
        uint32_t data_bytes = ls_line_reply_data(reply, c->store.line_bytes);
        if (data_bytes != 0)
            ls_line_copy_data(node->m.data, reply->data, data_bytes);
        node->m.flags = reply->flags;
        c->forwarded--;
        c->writes_out -= node->m.kind == LS_LINE_WRITE || node->m.kind == LS_LINE_ATOMIC;
        cache_answer_fill(c, reply->token, now, 0);
    }
    cache_free(c, CACHE_ROOM, now);
}

static void below_retry(void *self, ls_cycle now)
{
    line_cache *c = self;
    c->below_refused = false;
    c->send_due = c->send_head != c->send_tail ? c->sends[c->send_head & c->send_mask].at : LS_CYCLE_MAX;
    if (c->send_due <= now)
        send_below(c, now);
    if (c->send_due != LS_CYCLE_MAX)
        cache_arm(c, c->send_due, now);
    cache_free(c, CACHE_ROOM, now);
}

/* --- the event: everything whose time has come --- */

static void deliver(line_cache *c, cache_answers *answers, ls_cycle now)
{
    cache_node *nodes = c->nodes;
    c->freed |= CACHE_ROOM;
    while (answers->due <= now) {
        uint32_t i = answers->list.first;
        cache_node *node = &nodes[i];
        if (node->m.kind == LS_LINE_READ || node->m.kind == LS_LINE_ATOMIC) {
            c->n.answers++;
            c->n.latency_cycles += now - node->taken;
        }
        node->m.token = node->token;
        node->m.source = node->source;
        const cache_client *client = &c->clients[node->client];
        client->ops->reply(client->self, &node->m, now);
        uint32_t next = node->next;
        node->next = c->node_pool.free;
        c->node_pool.free = i;
        c->nodes_left++;
        answers->list.first = next;
        answers->due = next != INDEX_NONE ? nodes[next].at : LS_CYCLE_MAX;
    }
}

/* Of a waiter that was not called. */
static inline void note_waiter(line_cache *c, const cache_client *client)
{
    c->wait_needs |= client->needs;
    if ((client->needs & CACHE_TIME) != 0 && client->again < c->wait_due)
        c->wait_due = client->again;
}

static inline bool is_busy(const line_cache *c, ls_cycle now)
{
    return c->busy_until > now || (c->cycle == now && c->taken == c->width);
}

/* Nothing can be taken for the rest of this cycle. Freed resources still count when something can. */
static inline void wait_for_port(line_cache *c, ls_cycle now)
{
    cache_arm(c, c->busy_until > now ? c->busy_until : now + 1, now);
}

/* Calls waiters in turn: a served one goes to the end. A waiter is not called before its resource is free. */
static __attribute__((noinline)) void call_waiters(line_cache *c, ls_cycle now)
{
    c->wait_needs = 0;
    c->wait_due = LS_CYCLE_MAX;
    for (uint32_t left = c->wait_count; left > 0; left--) {
        if (is_busy(c, now)) {
            for (uint32_t i = 0; i < left; i++)
                note_waiter(c, &c->clients[c->waiters[(c->wait_head + i) & c->client_mask].client]);
            wait_for_port(c, now);
            return;
        }
        cache_waiter waiter = c->waiters[c->wait_head++ & c->client_mask];
        cache_client *client = &c->clients[waiter.client];
        uint32_t taken = c->cycle == now ? c->taken : 0;
        c->wait_count--;
        bool due = (client->needs & CACHE_TIME) != 0 && client->again <= now;
        if (!due && (client->needs & c->freed) == 0) {
            note_waiter(c, client);
            c->waiters[(c->wait_head + c->wait_count++) & c->client_mask] = waiter;
            continue;
        }
        client->waiting = false;
        client->ops->retry(client->self, now);
        if (client->waiting && c->taken == taken) /* in vain: it keeps its age */
            c->waiters[(c->wait_head + c->wait_count - 1) & c->client_mask].since = waiter.since;
    }
    cache_arm(c, c->wait_due, now);
    c->freed = 0;
}

static inline void serve_waiters(line_cache *c, ls_cycle now)
{
    if (is_busy(c, now)) {
        wait_for_port(c, now);
    } else if (c->wait_due <= now || (c->wait_needs & c->freed) != 0) {
        call_waiters(c, now);
    } else {
        cache_arm(c, c->wait_due, now);
        c->freed = 0;
    }
}

void line_cache_event(void *self, ls_cycle now)
{
    line_cache *c = self;
    c->stepping = true;
    c->again = LS_CYCLE_MAX;
    if (c->send_due <= now)
        send_below(c, now);
    if (c->hits.due <= now)
        deliver(c, &c->hits, now);
    if (c->fills.due <= now)
        deliver(c, &c->fills, now);
    if (LS_UNLIKELY(c->flush_node != INDEX_NONE))
        go_on_flushing(c, now);
    if (c->wait_count > 0)
        serve_waiters(c, now);
    else
        c->freed = 0;
    c->stepping = false;
    ls_cycle next = c->again;
    next = c->send_due < next ? c->send_due : next;
    next = c->hits.due < next ? c->hits.due : next;
    next = c->fills.due < next ? c->fills.due : next;
    if (next != LS_CYCLE_MAX)
        ls_schedule(c->region, &c->event, next < now ? 0 : next - now);
}

void line_cache_waits(const void *self, ls_wait_sink *sink)
{
    const line_cache *c = self;
    char detail[128];
    if (c->fetch_count + c->forwarded + c->wait_count + (c->flush_node != INDEX_NONE) == 0)
        return;
    snprintf(detail, sizeof detail, "%u lines and %u requests below, %u to send, %u requesters refused%s",
             c->fetch_count, c->forwarded, c->send_tail - c->send_head, c->wait_count,
             c->flush_node != INDEX_NONE ? ", a flush" : "");
    ls_wait_report(sink, c->name, "the level below", detail);
}

/* Few caches have many requesters: room for them doubles as they come. */
static ls_status make_room(line_cache *c, ls_error *err)
{
    uint32_t room = c->client_count == 0 ? 4 : 2 * c->client_count;
    ls_domain *domain = ls_region_domain(c->region);
    cache_client *clients = ls_domain_alloc(domain, room * sizeof *clients);
    cache_waiter *waiters = ls_domain_alloc(domain, room * sizeof *waiters);
    if (clients == NULL || waiters == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the requesters of '%s'", c->name);
    if (c->client_count > 0)
        memcpy(clients, c->clients, c->client_count * sizeof *clients);
    c->clients = clients;
    c->waiters = waiters; /* before the run there are no waiters */
    c->client_mask = room - 1;
    return LS_OK;
}

static ls_status cache_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                              ls_error *err)
{
    line_cache *c = self;
    if (c->client_count == CACHE_CLIENTS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "%s: more than %d requesters", c->name, CACHE_CLIENTS_MAX);
    if (c->client_count == 0 || c->client_count > c->client_mask) {
        ls_status status = make_room(c, err);
        if (status != LS_OK)
            return status;
    }
    c->clients[c->client_count] = (cache_client){ .ops = ops, .self = client };
    *out = (ls_line_port){
        .ops = &line_cache_memory, .self = c, .client = c->client_count++, .line_bytes = c->store.line_bytes
    };
    return LS_OK;
}

static void cache_delay(void *self, uint32_t client, uint32_t cycles)
{
    line_cache *c = self;
    c->clients[client].delay = cycles;
}

const ls_line_memory_ops line_cache_memory = { .request = line_cache_take,
                                               .attach = cache_attach,
                                               .delay = cache_delay };
const ls_line_client_ops line_cache_client = { .reply = below_reply, .retry = below_retry };

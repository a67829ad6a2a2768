/* cache.c: what a cache does with requests, fills, flushes and invalidations. Touches its own state, the port below and
 * the clients above.
 *
 * While a line is on its way, everything that comes for it waits in order at its fetch, writes too (they are answered at
 * once): a read that came first must not see them. Writes of a write-through cache and its like go below at once and
 * wait here as well, to be merged into the line that they overtook. When something makes the line on its way too old
 * (an atomic below, a read that misses on purpose, an invalidation), its fetch is closed: later requests go below past
 * it, and the line is not kept. */
#include "model/line/cache_state.h"

#include "model/line/atomic.h"

#include <stdio.h>

#define STARVING_CYCLES 64  /* a refused requester that waited so long goes first */
#define NODES_PER_REQUEST 3 /* it takes at most: itself, its copy for a line on its way, a line that goes */

static uint64_t address_index(line_cache *c, uint64_t address)
{
    return c->mapped ? mem_map_place_again(&c->map, address).local : address;
}

/* --- nodes, lists, the event --- */

static inline uint32_t node_take(line_cache *c)
{
    uint32_t i = c->node_free;
    c->node_free = c->nodes[i].next;
    c->nodes_left--;
    return i;
}

static inline void node_give(line_cache *c, uint32_t i)
{
    c->nodes[i].next = c->node_free;
    c->node_free = i;
    c->nodes_left++;
}

static inline void list_put(line_cache *c, cache_list *list, uint32_t i)
{
    c->nodes[i].next = STORE_NONE;
    if (list->first == STORE_NONE)
        list->first = i;
    else
        c->nodes[list->last].next = i;
    list->last = i;
}

static inline void arm(line_cache *c, ls_cycle at)
{
    if (c->stepping) {
        c->again = at < c->again ? at : c->again;
        return;
    }
    if (ls_event_scheduled(&c->event)) {
        if (c->event.cycle <= at)
            return;
        ls_cancel(&c->event);
    }
    ls_schedule_at(c->region, &c->event, at);
}

/* Something that a refused requester may wait for is free again. */
static inline void freed(line_cache *c, ls_cycle now)
{
    if (c->wait_count > 0 || c->flush_node != STORE_NONE)
        arm(c, now);
}

static bool refuse(line_cache *c, uint32_t client, uint64_t *counter, ls_cycle now, ls_cycle again)
{
    cache_client *who = &c->clients[client];
    (*counter)++;
    if (!who->waiting) {
        who->waiting = true;
        c->waiters[(c->wait_head + c->wait_count++) % CACHE_CLIENTS_MAX] =
            (cache_waiter){ .since = now, .client = client };
    }
    if (again != 0)
        arm(c, again);
    return false;
}

/* An answer after `delay` cycles. */
static inline void answer_hit(line_cache *c, uint32_t node, ls_cycle now, uint64_t extra)
{
    ls_cycle at = now + c->spec->directory_cycles + c->spec->data_cycles + extra;
    c->hits_last = at > c->hits_last ? at : c->hits_last;
    c->nodes[node].at = c->hits_last;
    list_put(c, &c->hits, node);
    arm(c, c->hits_last);
}

static inline void answer_fill(line_cache *c, uint32_t node, ls_cycle now, uint64_t extra)
{
    ls_cycle at = now + c->spec->fill_cycles;
    c->fills_last = (at > c->fills_last ? at : c->fills_last) + extra;
    c->nodes[node].at = c->fills_last;
    list_put(c, &c->fills, node);
    arm(c, c->fills_last);
}

static inline uint32_t new_node(line_cache *c, uint32_t client, const line_message *m, ls_cycle now,
                                uint32_t data_bytes)
{
    uint32_t i = node_take(c);
    cache_node *node = &c->nodes[i];
    node->taken = now;
    node->token = m->token;
    node->source = m->source;
    node->client = (uint16_t)client;
    line_copy(&node->m, m, data_bytes);
    return i;
}

/* --- the way below --- */

static inline bool sends_free(const line_cache *c, uint32_t count)
{
    return c->send_tail - c->send_head + count <= c->send_room;
}

static inline void send(line_cache *c, uint32_t what, ls_cycle now)
{
    ls_cycle at = now + c->spec->directory_cycles;
    c->sends[c->send_tail++ & c->send_mask] = (cache_send){ .at = at, .what = what };
    if (!c->below_refused)
        arm(c, at);
}

static bool send_one(line_cache *c, uint32_t what, ls_cycle now)
{
    if ((what & CACHE_FETCH) == 0) {
        cache_node *node = &c->nodes[what];
        bool writeback = node->m.token == CACHE_WRITEBACK;
        if (!line_request(&c->below, &node->m, now))
            return false;
        if (writeback)
            node_give(c, what);
        return true;
    }
    const cache_fetch *fetch = &c->fetches[what & ~CACHE_FETCH];
    line_message m;
    m.address = store_address(&c->store, fetch->line);
    m.mask[0] = c->store.full[0];
    m.mask[1] = c->store.full[1];
    m.token = what;
    m.source = 0;
    m.flags = fetch->flags;
    m.kind = LINE_READ;
    m.atomic = m.atomic_bytes = m.half = 0;
    m.born = c->nodes[fetch->targets.first].m.born;
    return line_request(&c->below, &m, now);
}

static void send_below(line_cache *c, ls_cycle now)
{
    while (c->send_head != c->send_tail) {
        const cache_send *s = &c->sends[c->send_head & c->send_mask];
        if (s->at > now)
            return;
        if (!send_one(c, s->what, now)) {
            c->below_refused = true;
            return;
        }
        c->send_head++;
    }
}

/* Sends the requester's own message below; its answer goes back to the requester. The caller has looked for room. */
static bool forward(line_cache *c, uint32_t client, const line_message *m, ls_cycle now)
{
    uint32_t i = new_node(c, client, m, now, line_request_data(m, c->store.line_bytes));
    c->nodes[i].m.token = i;
    c->forwarded++;
    c->writes_out += m->kind == LINE_WRITE || m->kind == LINE_ATOMIC;
    c->taken++;
    send(c, i, now);
    return true;
}

/* Dirty bytes of a line go below; the line stays, clean. The caller has looked for a node and a send. */
static void write_back(line_cache *c, uint32_t line, ls_cycle now)
{
    store_line *l = &c->store.lines[line];
    uint32_t i = node_take(c);
    line_message *m = &c->nodes[i].m;
    *m = (line_message){ .address = store_address(&c->store, line),
                         .mask = { l->dirty[0], l->dirty[1] },
                         .token = CACHE_WRITEBACK,
                         .flags = c->home ? LINE_SYSTEM : 0,
                         .kind = LINE_WRITE,
                         .born = (uint32_t)now };
    line_copy_data(m->data, store_bytes(&c->store, line), c->store.line_bytes);
    l->dirty[0] = l->dirty[1] = 0;
    c->n.writebacks++;
    c->writes_out++;
    send(c, i, now);
}

/* Finds a place for an address and empties it; STORE_NONE if every way waits for a fetch. Needs room for a write-back. */
static uint32_t make_place(line_cache *c, uint64_t address, ls_cycle now)
{
    uint32_t line = store_victim(&c->store, address_index(c, address));
    if (line == STORE_NONE)
        return STORE_NONE;
    if (c->store.tags[line] != 0) {
        c->n.evictions++;
        if (store_is_dirty(&c->store, line))
            write_back(c, line, now);
    }
    store_place(&c->store, line, address);
    return line;
}

/* --- fetches --- */

static void begin_fetch(line_cache *c, uint32_t line, uint32_t first_target, uint16_t flags, ls_cycle now)
{
    uint32_t i = c->fetch_free;
    cache_fetch *fetch = &c->fetches[i];
    c->fetch_free = fetch->next;
    c->fetch_count++;
    fetch->targets.first = fetch->targets.last = STORE_NONE;
    fetch->count = 1;
    fetch->line = line;
    fetch->flags = flags & (LINE_GLC | LINE_DLC | LINE_SLC | LINE_CODE | LINE_SCALAR | LINE_SYSTEM);
    fetch->closed = false;
    list_put(c, &fetch->targets, first_target);
    c->store.lines[line].mshr = i;
    send(c, i | CACHE_FETCH, now);
}

static inline bool can_join(const line_cache *c, const cache_fetch *fetch)
{
    return fetch->count < c->spec->mshr_targets;
}

static inline void join(line_cache *c, cache_fetch *fetch, uint32_t node)
{
    fetch->count++;
    list_put(c, &fetch->targets, node);
}

/* The line, present or on its way, is too old for everybody who comes from now on. */
static void make_old(line_cache *c, uint32_t line)
{
    if (c->store.lines[line].mshr != STORE_NONE)
        c->fetches[c->store.lines[line].mshr].closed = true;
    else
        store_drop(&c->store, line);
}

/* What waited, in order, when the bytes are there. */
static void serve_target(line_cache *c, uint32_t node, uint32_t line, uint16_t fault, ls_cycle now)
{
    line_message *m = &c->nodes[node].m;
    uint64_t extra = 0;
    if (m->kind == LINE_WRITE) {
        store_write(&c->store, line, m->data, m->mask, c->policy == LINE_BACK);
        node_give(c, node);
        return;
    }
    if (m->kind == LINE_ATOMIC) {
        extra = c->spec->atomic_cycles * line_atomic_apply(m, store_bytes(&c->store, line));
        for (uint32_t i = 0; i < 2; i++)
            c->store.lines[line].dirty[i] |= m->mask[i];
    } else {
        line_copy_data(m->data, store_bytes(&c->store, line), c->store.line_bytes);
    }
    m->flags |= fault;
    answer_fill(c, node, now, extra);
}

static void end_fetch(line_cache *c, const line_message *reply, ls_cycle now)
{
    uint32_t i = reply->token & ~CACHE_FETCH;
    cache_fetch *fetch = &c->fetches[i];
    uint32_t line = fetch->line;
    uint16_t fault = reply->flags & LINE_FAULT;
    store_fill(&c->store, line, reply->data);
    c->n.fills++;
    for (uint32_t node = fetch->targets.first; node != STORE_NONE;) {
        uint32_t next = c->nodes[node].next;
        serve_target(c, node, line, fault, now);
        node = next;
    }
    c->store.lines[line].mshr = STORE_NONE;
    if (fault != 0 || (fetch->closed && !store_is_dirty(&c->store, line)))
        store_drop(&c->store, line);
    else if ((fetch->flags & LINE_SLC) != 0)
        store_age(&c->store, line);
    fetch->next = c->fetch_free;
    c->fetch_free = i;
    c->fetch_count--;
}

/* --- requests, by kind. Each returns whether it was taken; `line` is the line or STORE_NONE --- */

static inline void count_read(line_cache *c, const line_message *m, bool hit)
{
    c->n.reads++;
    c->n.read_hits += hit;
    if ((m->flags & (LINE_CODE | LINE_SCALAR)) == 0)
        return;
    bool code = (m->flags & LINE_CODE) != 0;
    c->n.code_reads += code;
    c->n.code_hits += code && hit;
    c->n.scalar_reads += !code;
    c->n.scalar_hits += !code && hit;
}

/* Goes below, past this cache; the copy here, if there is one, is too old afterwards. */
static bool take_past(line_cache *c, uint32_t client, const line_message *m, uint32_t line, ls_cycle now)
{
    if (!sends_free(c, 2) || c->forwarded >= c->spec->pending)
        return refuse(c, client, &c->n.refused_room, now, 0);
    if (line != STORE_NONE) {
        bool waits = c->store.lines[line].mshr != STORE_NONE;
        if (c->policy == LINE_BACK && waits)
            return refuse(c, client, &c->n.refused_line, now, 0); /* bytes written here may wait for it */
        if (store_is_dirty(&c->store, line))
            write_back(c, line, now);
        make_old(c, line);
    }
    if (m->kind == LINE_READ) {
        count_read(c, m, false);
        c->n.read_misses++;
        c->n.passed_reads++;
    } else {
        c->n.atomics++;
    }
    return forward(c, client, m, now);
}

/* A read, or an atomic at home, that needs the line from below. */
static bool take_miss(line_cache *c, uint32_t client, const line_message *m, uint32_t line,
                      uint32_t data_bytes, ls_cycle now)
{
    if (c->fetch_free == STORE_NONE)
        return refuse(c, client, &c->n.refused_mshr, now, 0);
    if (!sends_free(c, 2))
        return refuse(c, client, &c->n.refused_room, now, 0);
    if (line == STORE_NONE) {
        line = make_place(c, m->address, now);
        if (line == STORE_NONE)
            return refuse(c, client, &c->n.refused_line, now, 0);
    } else {
        store_touch(&c->store, line);
    }
    begin_fetch(c, line, new_node(c, client, m, now, data_bytes), m->flags, now);
    c->taken++;
    return true;
}

static bool take_read(line_cache *c, uint32_t client, const line_message *m, uint32_t line, ls_cycle now)
{
    if ((m->flags & c->passing) != 0)
        return take_past(c, client, m, line, now);
    if (line != STORE_NONE && c->store.lines[line].mshr != STORE_NONE) {
        cache_fetch *fetch = &c->fetches[c->store.lines[line].mshr];
        if (fetch->closed)
            return take_past(c, client, m, line, now);
        if (!can_join(c, fetch))
            return refuse(c, client, &c->n.refused_mshr, now, 0);
        count_read(c, m, false);
        c->n.read_mshr_hits++;
        join(c, fetch, new_node(c, client, m, now, 0));
        c->taken++;
        return true;
    }
    if (line == STORE_NONE || !store_is_full(&c->store, line)) {
        if (!take_miss(c, client, m, line, 0, now))
            return false;
        count_read(c, m, false);
        c->n.read_misses++;
        return true;
    }
    count_read(c, m, true);
    uint32_t node = new_node(c, client, m, now, 0);
    line_copy_data(c->nodes[node].m.data, store_bytes(&c->store, line), c->store.line_bytes);
    store_touch(&c->store, line);
    if ((m->flags & LINE_SLC) != 0)
        store_age(&c->store, line);
    c->taken++;
    answer_hit(c, node, now, 0);
    return true;
}

static bool take_write_back(line_cache *c, uint32_t client, const line_message *m, uint32_t line, ls_cycle now)
{
    uint32_t line_bytes = c->store.line_bytes;
    bool hit = line != STORE_NONE, waits = hit && c->store.lines[line].mshr != STORE_NONE;
    if (waits) {
        cache_fetch *fetch = &c->fetches[c->store.lines[line].mshr];
        if (fetch->closed || !can_join(c, fetch))
            return refuse(c, client, &c->n.refused_mshr, now, 0);
        join(c, fetch, new_node(c, client, m, now, line_bytes));
        c->n.write_mshr_hits++;
    } else {
        if (!hit) {
            if (!sends_free(c, 1))
                return refuse(c, client, &c->n.refused_room, now, 0);
            line = make_place(c, m->address, now);
            if (line == STORE_NONE)
                return refuse(c, client, &c->n.refused_line, now, 0);
            c->n.write_misses++;
        } else {
            c->n.write_hits++;
        }
        store_write(&c->store, line, m->data, m->mask, true);
        store_touch(&c->store, line);
        if ((m->flags & LINE_SLC) != 0)
            store_age(&c->store, line);
    }
    c->n.writes++;
    c->taken++;
    answer_hit(c, new_node(c, client, m, now, 0), now, 0);
    return true;
}

static bool take_write_below(line_cache *c, uint32_t client, const line_message *m, uint32_t line,
                             ls_cycle now)
{
    if (!sends_free(c, 2) || c->forwarded >= c->spec->pending)
        return refuse(c, client, &c->n.refused_room, now, 0);
    c->n.writes++;
    if (line == STORE_NONE) {
        c->n.write_misses++;
        if (c->policy == LINE_THROUGH)
            line = make_place(c, m->address, now);
        if (line != STORE_NONE)
            store_write(&c->store, line, m->data, m->mask, false);
    } else if (c->policy == LINE_EVICT) {
        c->n.write_hits++;
        make_old(c, line);
    } else if (c->store.lines[line].mshr != STORE_NONE) {
        cache_fetch *fetch = &c->fetches[c->store.lines[line].mshr];
        c->n.write_mshr_hits++;
        if (!fetch->closed && can_join(c, fetch))
            join(c, fetch, new_node(c, client, m, now, c->store.line_bytes));
        else
            fetch->closed = true;
    } else {
        c->n.write_hits++;
        store_write(&c->store, line, m->data, m->mask, false);
        store_touch(&c->store, line);
    }
    return forward(c, client, m, now);
}

static void book_bank(line_cache *c, uint64_t address, ls_cycle until)
{
    if (c->spec->banks != 0)
        c->bank_free[address >> c->store.line_shift & c->bank_mask] = until;
    else
        c->busy_until = until;
}

static bool take_atomic(line_cache *c, uint32_t client, const line_message *m, uint32_t line, ls_cycle now)
{
    if (!c->home)
        return take_past(c, client, m, line, now);
    if (line != STORE_NONE && c->store.lines[line].mshr != STORE_NONE) {
        cache_fetch *fetch = &c->fetches[c->store.lines[line].mshr];
        if (!can_join(c, fetch))
            return refuse(c, client, &c->n.refused_mshr, now, 0);
        join(c, fetch, new_node(c, client, m, now, LINE_BYTES_MAX));
        c->n.atomics++;
        c->taken++;
        return true;
    }
    if (line == STORE_NONE || !store_is_full(&c->store, line)) {
        if (!take_miss(c, client, m, line, LINE_BYTES_MAX, now))
            return false;
        c->n.atomics++;
        return true;
    }
    uint32_t node = new_node(c, client, m, now, LINE_BYTES_MAX);
    uint64_t cycles =
        c->spec->atomic_cycles * line_atomic_apply(&c->nodes[node].m, store_bytes(&c->store, line));
    for (uint32_t i = 0; i < 2; i++)
        c->store.lines[line].dirty[i] |= m->mask[i];
    store_touch(&c->store, line);
    c->n.atomics++;
    c->taken++;
    if (cycles > 1)
        book_bank(c, m->address, now + cycles);
    answer_hit(c, node, now, cycles);
    return true;
}

/* Clean bytes go. Of a cache that is no home, lines on their way are too old as well. */
static bool take_invalidate(line_cache *c, uint32_t client, const line_message *m, ls_cycle now)
{
    for (uint32_t line = 0; line < c->store.line_count; line++) {
        store_line *l = &c->store.lines[line];
        if (c->store.tags[line] == 0)
            continue;
        if (l->mshr != STORE_NONE) {
            if (!c->home)
                c->fetches[l->mshr].closed = true;
        } else if (store_is_dirty(&c->store, line)) {
            l->valid[0] = l->dirty[0];
            l->valid[1] = l->dirty[1];
        } else {
            store_drop(&c->store, line);
        }
    }
    c->n.invalidates++;
    c->taken++;
    answer_hit(c, new_node(c, client, m, now, 0), now, 0);
    return true;
}

static bool take_flush(line_cache *c, uint32_t client, const line_message *m, ls_cycle now)
{
    if (c->flush_node != STORE_NONE)
        return refuse(c, client, &c->n.refused_room, now, 0);
    c->flush_node = new_node(c, client, m, now, 0);
    c->flush_next = c->policy == LINE_BACK ? 0 : c->store.line_count;
    c->n.flushes++;
    c->taken++;
    arm(c, now);
    return true;
}

/* Lines whose fetch is on its way may have writes waiting for it: the flush waits there. */
static void go_on_flushing(line_cache *c, ls_cycle now)
{
    for (; c->flush_next < c->store.line_count; c->flush_next++) {
        uint32_t line = c->flush_next;
        if (c->store.tags[line] == 0)
            continue;
        if (c->store.lines[line].mshr != STORE_NONE)
            return;
        if (!store_is_dirty(&c->store, line))
            continue;
        if (!sends_free(c, 1) || c->nodes_left == 0)
            return;
        write_back(c, line, now);
    }
    if (c->writes_out != 0)
        return;
    answer_hit(c, c->flush_node, now, 0);
    c->flush_node = STORE_NONE;
}

static bool answer_fault(line_cache *c, uint32_t client, const line_message *m, ls_cycle now)
{
    uint32_t node = new_node(c, client, m, now, 0);
    c->nodes[node].m.flags |= LINE_FAULT;
    memset(c->nodes[node].m.data, 0, c->store.line_bytes);
    c->n.faults++;
    c->taken++;
    answer_hit(c, node, now, 0);
    return true;
}

static inline bool page_allows(const line_cache *c, const line_message *m)
{
    uint32_t state = ls_window_state(&c->view, m->address);
    uint32_t needs = m->kind == LINE_READ ? LS_PAGE_READ : LS_PAGE_WRITE;
    return (state & needs) != 0 || (state != 0 && (m->flags & LINE_SYSTEM) != 0);
}

/* Room for the request in this cycle: port, bank, nodes. */
static inline bool open_to(line_cache *c, uint32_t client, const line_message *m, ls_cycle now)
{
    if (c->cycle != now) {
        c->cycle = now;
        c->taken = 0;
    }
    if (c->taken == c->width || c->busy_until > now)
        return refuse(c, client, &c->n.refused_port, now, c->busy_until > now ? c->busy_until : now + 1);
    if (c->wait_count > 0 && !c->stepping) {
        const cache_waiter *first = &c->waiters[c->wait_head % CACHE_CLIENTS_MAX];
        if (first->client != client && now - first->since > STARVING_CYCLES)
            return refuse(c, client, &c->n.refused_port, now, now + 1);
    }
    if (c->nodes_left < NODES_PER_REQUEST)
        return refuse(c, client, &c->n.refused_room, now, 0);
    if (c->spec->banks != 0) {
        ls_cycle *bank = &c->bank_free[m->address >> c->store.line_shift & c->bank_mask];
        if (*bank > now)
            return refuse(c, client, &c->n.refused_bank, now, *bank);
        *bank = now + 1;
    }
    return true;
}

static bool cache_request(void *self, uint32_t client, const line_message *m, ls_cycle now)
{
    line_cache *c = self;
    if (!open_to(c, client, m, now))
        return false;
    if (LS_UNLIKELY(m->kind == LINE_INVALIDATE || m->kind == LINE_FLUSH)) {
        if (m->atomic == 0)
            return m->kind == LINE_INVALIDATE ? take_invalidate(c, client, m, now)
                                              : take_flush(c, client, m, now);
        if (!sends_free(c, 1) || c->forwarded >= c->spec->pending)
            return refuse(c, client, &c->n.refused_room, now, 0);
        line_message deeper;
        line_copy_head(&deeper, m);
        deeper.atomic--;
        return forward(c, client, &deeper, now);
    }
    if (c->home && LS_UNLIKELY(!page_allows(c, m)))
        return answer_fault(c, client, m, now);
    uint32_t line = store_find(&c->store, m->address, address_index(c, m->address));
    switch (m->kind) {
    case LINE_READ:
        return take_read(c, client, m, line, now);
    case LINE_WRITE:
        return c->policy == LINE_BACK ? take_write_back(c, client, m, line, now)
                                      : take_write_below(c, client, m, line, now);
    default:
        return take_atomic(c, client, m, line, now);
    }
}

/* --- the level below --- */

static void below_reply(void *self, const line_message *reply, ls_cycle now)
{
    line_cache *c = self;
    if ((reply->token & CACHE_FETCH) != 0) {
        end_fetch(c, reply, now);
    } else if (reply->token == CACHE_WRITEBACK) {
        c->writes_out--;
    } else {
        cache_node *node = &c->nodes[reply->token];
        uint32_t data_bytes = line_reply_data(reply, c->store.line_bytes);
        if (data_bytes != 0)
            line_copy_data(node->m.data, reply->data, data_bytes);
        node->m.flags = reply->flags;
        c->forwarded--;
        c->writes_out -= node->m.kind == LINE_WRITE || node->m.kind == LINE_ATOMIC;
        answer_fill(c, reply->token, now, 0);
    }
    freed(c, now);
}

static void below_retry(void *self, ls_cycle now)
{
    line_cache *c = self;
    c->below_refused = false;
    send_below(c, now);
    if (!c->below_refused && c->send_head != c->send_tail)
        arm(c, c->sends[c->send_head & c->send_mask].at);
    freed(c, now);
}

/* --- the event: everything whose time has come --- */

static void deliver(line_cache *c, cache_list *list, ls_cycle now)
{
    while (list->first != STORE_NONE && c->nodes[list->first].at <= now) {
        uint32_t i = list->first;
        cache_node *node = &c->nodes[i];
        if (node->m.kind == LINE_READ || node->m.kind == LINE_ATOMIC) {
            c->n.answers++;
            c->n.latency_cycles += now - node->taken;
        }
        node->m.token = node->token;
        node->m.source = node->source;
        const cache_client *client = &c->clients[node->client];
        client->ops->reply(client->self, &node->m, now);
        list->first = node->next;
        node_give(c, i);
    }
}

static void call_waiters(line_cache *c, ls_cycle now)
{
    for (uint32_t left = c->wait_count; left > 0; left--) {
        cache_waiter waiter = c->waiters[c->wait_head++ % CACHE_CLIENTS_MAX];
        cache_client *client = &c->clients[waiter.client];
        c->wait_count--;
        client->waiting = false;
        client->ops->retry(client->self, now);
        if (client->waiting) /* again: it keeps its age */
            c->waiters[(c->wait_head + c->wait_count - 1) % CACHE_CLIENTS_MAX].since = waiter.since;
    }
}

void line_cache_event(void *self, ls_cycle now)
{
    line_cache *c = self;
    c->stepping = true;
    c->again = LS_CYCLE_MAX;
    if (!c->below_refused)
        send_below(c, now);
    deliver(c, &c->hits, now);
    deliver(c, &c->fills, now);
    if (c->flush_node != STORE_NONE)
        go_on_flushing(c, now);
    if (c->wait_count > 0)
        call_waiters(c, now);
    c->stepping = false;
    ls_cycle next = c->again;
    if (!c->below_refused && c->send_head != c->send_tail && c->sends[c->send_head & c->send_mask].at < next)
        next = c->sends[c->send_head & c->send_mask].at;
    if (c->hits.first != STORE_NONE && c->nodes[c->hits.first].at < next)
        next = c->nodes[c->hits.first].at;
    if (c->fills.first != STORE_NONE && c->nodes[c->fills.first].at < next)
        next = c->nodes[c->fills.first].at;
    if (next != LS_CYCLE_MAX)
        arm(c, next < now ? now : next);
}

void line_cache_waits(const void *self, ls_wait_sink *sink)
{
    const line_cache *c = self;
    char detail[128];
    if (c->fetch_count + c->forwarded + c->wait_count + (c->flush_node != STORE_NONE) == 0)
        return;
    snprintf(detail, sizeof detail, "%u lines and %u requests below, %u to send, %u requesters refused%s",
             c->fetch_count, c->forwarded, c->send_tail - c->send_head, c->wait_count,
             c->flush_node != STORE_NONE ? ", a flush" : "");
    ls_wait_report(sink, c->name, "the level below", detail);
}

static ls_status cache_attach(void *self, const line_client_ops *ops, void *client, line_port *out,
                              ls_error *err)
{
    line_cache *c = self;
    if (c->client_count == CACHE_CLIENTS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "%s: more than %d requesters", c->name, CACHE_CLIENTS_MAX);
    c->clients[c->client_count] = (cache_client){ .ops = ops, .self = client };
    *out = (line_port){
        .ops = &line_cache_memory, .self = c, .client = c->client_count++, .line_bytes = c->store.line_bytes
    };
    return LS_OK;
}

const line_memory_ops line_cache_memory = { .request = cache_request, .attach = cache_attach };
const line_client_ops line_cache_client = { .reply = below_reply, .retry = below_retry };

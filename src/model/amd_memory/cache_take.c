/* cache_take.c: takes or refuses a request of a cache, and decides its path. Touches the cache's own state;
 * answers and messages below leave later (cache.c).
 *
 * While a line is on its way, all requests for it wait in order at its fetch. Writes wait too, although they
 * are answered at once: an earlier read must not see them. Writes of a write-through cache go below at once
 * and also wait here, to be merged into the line that they overtook. An atomic below, a read that misses on
 * purpose or an invalidation makes the line on its way too old. Then its fetch is closed: later requests go
 * below past it, and the line is not kept. */
#include "model/amd_memory/cache_state.h"

#include "model/amd_memory/atomic.h"

#define STARVING_CYCLES 64  /* a refused requester that waited so long goes first */
#define NODES_PER_REQUEST 3 /* it takes at most: itself, its copy for a line on its way, a line that goes */

/* Sends the requester's own message below; its answer goes back to the requester. The caller has looked for
 * room. */
static bool forward(line_cache *c, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    uint32_t node = cache_new_node(c, client, m, now, ls_line_request_data(m, c->store.line_bytes));
    c->nodes[node].m.token = node;
    c->forwarded++;
    c->writes_out += m->kind == LS_LINE_WRITE || m->kind == LS_LINE_ATOMIC;
    c->taken++;
    cache_send_below(c, node, 0, now);
    return true;
}

/* Finds a place for an address and empties it; STORE_NONE if every way waits for a fetch. Needs room for a
 * write-back. */
static inline uint32_t make_place(line_cache *c, uint64_t address, ls_cycle now)
{
    uint32_t line = store_victim(&c->store, cache_set_of(c, address));
    if (line == STORE_NONE)
        return STORE_NONE;
    if (!store_is_empty(&c->store, line)) {
        c->n.evictions++;
        if (store_is_dirty(&c->store, line))
            cache_write_back(c, line, now);
    }
    store_place(&c->store, line, address);
    return line;
}

/* --- fetches --- */

/* first_target INDEX_NONE: a prefetch. */
static inline void begin_fetch(line_cache *c, uint32_t line, uint32_t first_target, uint16_t flags,
                               ls_cycle now)
{
    uint32_t i = index_pool_take(&c->fetch_pool, INDEX_LINKS(c->fetches, next));
    cache_fetch *fetch = &c->fetches[i];
    c->fetch_count++;
    fetch->targets.first = INDEX_NONE;
    fetch->count = first_target != INDEX_NONE;
    fetch->line = line;
    fetch->flags =
        flags & (LS_LINE_GLC | LS_LINE_DLC | LS_LINE_SLC | LS_LINE_CODE | LS_LINE_SCALAR | LS_LINE_SYSTEM);
    fetch->closed = false;
    if (first_target != INDEX_NONE)
        cache_list_put(c, &fetch->targets, first_target);
    store_keep(&c->store, line, i);
    cache_send_below(c, INDEX_NONE, i, now);
}

static inline bool can_join(const line_cache *c, const cache_fetch *fetch)
{
    return fetch->count < c->spec->mshr_targets;
}

static inline void join(line_cache *c, cache_fetch *fetch, uint32_t node)
{
    fetch->count++;
    cache_list_put(c, &fetch->targets, node);
}

/* The line, present or on its way, is too old for everybody who comes from now on. */
static void make_old(line_cache *c, uint32_t line)
{
    if (c->store.lines[line].mshr != STORE_NONE)
        c->fetches[c->store.lines[line].mshr].closed = true;
    else
        store_drop(&c->store, line);
}

/* --- prefetches --- */

/* One line, if it is not here and there is room. Requests keep a quarter of the MSHRs. */
static void fetch_ahead(line_cache *c, uint64_t address, uint16_t flags, ls_cycle now)
{
    if (store_find(&c->store, address) == STORE_NONE &&
        (c->memory == NULL || (memory_state(c->memory, address) & LS_PAGE_READ) != 0)) {
        uint32_t line = STORE_NONE;
        if (c->fetch_count < c->spec->mshr_entries - c->spec->mshr_entries / 4 && cache_sends_free(c, 2) &&
            c->nodes_left >= NODES_PER_REQUEST)
            line = make_place(c, address, now);
        if (line != STORE_NONE) {
            c->store.lines[line].prefetched = true;
            begin_fetch(c, line, INDEX_NONE, flags & (LS_LINE_CODE | LS_LINE_SCALAR), now);
            c->n.prefetch.issued++;
        } else {
            c->n.prefetch.dropped++;
        }
    }
}

/* After a read that missed, or that was the first of a prefetched line. */
static __attribute__((noinline)) void train_prefetch(line_cache *c, const ls_line_message *m, ls_cycle now)
{
    uint64_t lines[PREFETCH_DEGREE_MAX];
    uint32_t shift = c->store.line_shift;
    uint32_t count = prefetch_train(c->prefetch, cache_address_index(c, m->address) >> shift, lines);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t index = lines[i] << shift, address = index;
        if (c->mapped) {
            ls_sector_place place = mem_map_place(&c->map, m->address);
            place.local = index;
            address = mem_map_address(&c->map, &place);
        }
        if (address != MEM_NO_ADDRESS)
            fetch_ahead(c, address, m->flags, now);
    }
}

static __attribute__((noinline)) void use_prefetched(line_cache *c, const ls_line_message *m, uint32_t line,
                                                     ls_cycle now)
{
    c->store.lines[line].prefetched = false;
    c->n.prefetch.useful++;
    train_prefetch(c, m, now);
}

/* --- requests, by kind. Each returns whether it was taken; `line` is the line or STORE_NONE --- */

static inline void count_read(line_cache *c, const ls_line_message *m, bool hit)
{
    c->n.reads++;
    c->n.read_hits += hit;
    if ((m->flags & (LS_LINE_CODE | LS_LINE_SCALAR)) == 0)
        return;
    bool code = (m->flags & LS_LINE_CODE) != 0;
    c->n.code_reads += code;
    c->n.code_hits += code && hit;
    c->n.scalar_reads += !code;
    c->n.scalar_hits += !code && hit;
}

/* Goes below, past this cache; the copy here, if there is one, is too old afterwards. */
static bool take_past(line_cache *c, uint32_t client, const ls_line_message *m, uint32_t line, ls_cycle now)
{
    if (!cache_sends_free(c, 2) || c->forwarded >= c->spec->pending)
        return cache_refuse(c, client, &c->n.refused_room, now, 0);
    if (line != STORE_NONE) {
        bool waits = c->store.lines[line].mshr != STORE_NONE;
        if (c->policy == WRITE_BACK && waits)
            return cache_refuse(c, client, &c->n.refused_line, now,
                                0); /* bytes written here may wait for it */
        if (store_is_dirty(&c->store, line))
            cache_write_back(c, line, now);
        make_old(c, line);
    }
    if (m->kind == LS_LINE_READ) {
        count_read(c, m, false);
        c->n.read_misses++;
        c->n.passed_reads++;
    } else if (m->kind == LS_LINE_WRITE) {
        c->n.writes++;
        c->n.write_misses++;
    } else {
        c->n.atomics++;
    }
    return forward(c, client, m, now);
}

/* A read, or an atomic at home, that needs the line from below. */
static inline __attribute__((always_inline)) bool take_miss(line_cache *c, uint32_t client,
                                                            const ls_line_message *m, uint32_t line,
                                                            uint32_t data_bytes, ls_cycle now)
{
    if (c->fetch_count == c->spec->mshr_entries)
        return cache_refuse(c, client, &c->n.refused_mshr, now, 0);
    if (!cache_sends_free(c, 2))
        return cache_refuse(c, client, &c->n.refused_room, now, 0);
    if (line == STORE_NONE) {
        line = make_place(c, m->address, now);
        if (line == STORE_NONE)
            return cache_refuse(c, client, &c->n.refused_line, now, 0);
    } else {
        store_touch(&c->store, line);
    }
    begin_fetch(c, line, cache_new_node(c, client, m, now, data_bytes), m->flags, now);
    c->taken++;
    return true;
}

static inline bool passes(const line_cache *c, const ls_line_message *m)
{
    return ((m->flags | LINE_PASS_ALL) & c->passing) != 0;
}

static inline bool take_read(line_cache *c, uint32_t client, const ls_line_message *m, uint32_t line,
                             ls_cycle now)
{
    if (passes(c, m))
        return take_past(c, client, m, line, now);
    if (line != STORE_NONE && c->store.lines[line].mshr != STORE_NONE) {
        cache_fetch *fetch = &c->fetches[c->store.lines[line].mshr];
        if (fetch->closed)
            return take_past(c, client, m, line, now);
        if (!can_join(c, fetch))
            return cache_refuse(c, client, &c->n.refused_mshr, now, 0);
        count_read(c, m, false);
        c->n.read_mshr_hits++;
        join(c, fetch, cache_new_node(c, client, m, now, 0));
        c->taken++;
        if (LS_UNLIKELY(c->store.lines[line].prefetched))
            use_prefetched(c, m, line, now);
        return true;
    }
    if (line == STORE_NONE || !store_is_full(&c->store, line)) {
        if (!take_miss(c, client, m, line, 0, now))
            return false;
        count_read(c, m, false);
        c->n.read_misses++;
        if (LS_UNLIKELY(c->prefetch != NULL))
            train_prefetch(c, m, now);
        return true;
    }
    count_read(c, m, true);
    uint32_t node = cache_new_node(c, client, m, now, 0);
    ls_line_copy_data(c->nodes[node].m.data, store_bytes(&c->store, line), c->store.line_bytes);
    c->nodes[node].m.flags |= c->hit_flags;
    store_touch(&c->store, line);
    if ((m->flags & LS_LINE_SLC) != 0)
        store_age(&c->store, line);
    c->taken++;
    cache_answer_hit(c, node, now, 0);
    if (LS_UNLIKELY(c->store.lines[line].prefetched))
        use_prefetched(c, m, line, now);
    return true;
}

static bool take_write_back(line_cache *c, uint32_t client, const ls_line_message *m, uint32_t line,
                            ls_cycle now)
{
    if (LS_UNLIKELY(passes(c, m)))
        return take_past(c, client, m, line, now);
    uint32_t line_bytes = c->store.line_bytes;
    bool hit = line != STORE_NONE, waits = hit && c->store.lines[line].mshr != STORE_NONE;
    if (waits) {
        cache_fetch *fetch = &c->fetches[c->store.lines[line].mshr];
        if (fetch->closed || !can_join(c, fetch))
            return cache_refuse(c, client, &c->n.refused_mshr, now, 0);
        join(c, fetch, cache_new_node(c, client, m, now, line_bytes));
        c->n.write_mshr_hits++;
    } else {
        if (!hit) {
            if (!cache_sends_free(c, 1))
                return cache_refuse(c, client, &c->n.refused_room, now, 0);
            line = make_place(c, m->address, now);
            if (line == STORE_NONE)
                return cache_refuse(c, client, &c->n.refused_line, now, 0);
            c->n.write_misses++;
        } else {
            c->n.write_hits++;
            store_touch(&c->store, line);
        }
        store_write(&c->store, line, m->data, m->mask, true);
        if ((m->flags & LS_LINE_SLC) != 0)
            store_age(&c->store, line);
    }
    c->n.writes++;
    c->taken++;
    cache_answer_hit(c, cache_new_node(c, client, m, now, 0), now, 0);
    return true;
}

static bool take_write_below(line_cache *c, uint32_t client, const ls_line_message *m, uint32_t line,
                             ls_cycle now)
{
    if (!cache_sends_free(c, 2) || c->forwarded >= c->spec->pending)
        return cache_refuse(c, client, &c->n.refused_room, now, 0);
    c->n.writes++;
    if (line == STORE_NONE) {
        c->n.write_misses++;
        if (c->policy == WRITE_THROUGH)
            line = make_place(c, m->address, now);
        if (line != STORE_NONE)
            store_write(&c->store, line, m->data, m->mask, false);
    } else if (c->policy == WRITE_EVICT) {
        c->n.write_hits++;
        make_old(c, line);
    } else if (c->store.lines[line].mshr != STORE_NONE) {
        cache_fetch *fetch = &c->fetches[c->store.lines[line].mshr];
        c->n.write_mshr_hits++;
        if (!fetch->closed && can_join(c, fetch))
            join(c, fetch, cache_new_node(c, client, m, now, c->store.line_bytes));
        else
            fetch->closed = true;
    } else {
        c->n.write_hits++;
        store_write(&c->store, line, m->data, m->mask, false);
        store_touch(&c->store, line);
    }
    return forward(c, client, m, now);
}

/* Lines go to banks in turn; where sets are hashed, sets do. */
static inline ls_cycle *bank_of(line_cache *c, uint64_t address)
{
    uint64_t number = c->store.tags.hash != NULL ? cache_set_of(c, address) : address >> c->store.line_shift;
    return &c->bank_free[number & c->bank_mask];
}

static void reserve_bank(line_cache *c, uint64_t address, ls_cycle until)
{
    if (c->spec->banks != 0)
        *bank_of(c, address) = until;
    else
        c->busy_until = until;
}

static bool take_atomic(line_cache *c, uint32_t client, const ls_line_message *m, uint32_t line, ls_cycle now)
{
    if (!c->home)
        return take_past(c, client, m, line, now);
    if (line != STORE_NONE && c->store.lines[line].mshr != STORE_NONE) {
        cache_fetch *fetch = &c->fetches[c->store.lines[line].mshr];
        if (!can_join(c, fetch))
            return cache_refuse(c, client, &c->n.refused_mshr, now, 0);
        join(c, fetch, cache_new_node(c, client, m, now, LS_LINE_BYTES_MAX));
        c->n.atomics++;
        c->taken++;
        return true;
    }
    if (line == STORE_NONE || !store_is_full(&c->store, line)) {
        if (!take_miss(c, client, m, line, LS_LINE_BYTES_MAX, now))
            return false;
        c->n.atomics++;
        return true;
    }
    uint32_t node = cache_new_node(c, client, m, now, LS_LINE_BYTES_MAX);
    uint64_t cycles =
        c->spec->atomic_cycles * line_atomic_apply(&c->nodes[node].m, store_bytes(&c->store, line));
    for (uint32_t i = 0; i < 2; i++)
        c->store.lines[line].dirty[i] |= m->mask[i];
    store_touch(&c->store, line);
    c->n.atomics++;
    c->taken++;
    c->nodes[node].m.flags |= c->hit_flags;
    if (cycles > 1)
        reserve_bank(c, m->address, now + cycles);
    cache_answer_hit(c, node, now, cycles);
    return true;
}

/* Clean bytes go. Of a cache that is no home, a line on its way is too old as well. */
static void empty_line(line_cache *c, uint32_t line)
{
    store_line *l = &c->store.lines[line];
    if (l->mshr != STORE_NONE) {
        if (!c->home)
            c->fetches[l->mshr].closed = true;
    } else if (store_is_dirty(&c->store, line)) {
        store_keep_dirty(&c->store, line);
    } else {
        store_drop(&c->store, line);
    }
}

bool line_cache_probe(ls_block *cache, uint64_t address)
{
    line_cache *c = ls_block_state(cache);
    uint32_t line = store_find(&c->store, address);
    if (line != STORE_NONE)
        empty_line(c, line);
    return line != STORE_NONE;
}

/* The lines of a range: those that are here, or those that the range has, whichever are fewer. */
static __attribute__((noinline)) void empty_range(line_cache *c, uint64_t address, uint64_t bytes)
{
    if (bytes >> c->store.line_shift < c->store.tags.present) {
        for (uint64_t at = address; at - address < bytes; at += c->store.line_bytes) {
            uint32_t line = store_find(&c->store, at);
            if (line != STORE_NONE)
                empty_line(c, line);
        }
        return;
    }
    for (uint32_t line = 0, left = c->store.tags.present; left > 0; line++) {
        if (store_is_empty(&c->store, line))
            continue;
        left--;
        if (store_address(&c->store, line) - address < bytes)
            empty_line(c, line);
    }
}

static void empty(line_cache *c, const ls_line_message *m)
{
    c->n.invalidates++;
    if (LS_UNLIKELY((m->flags & LS_LINE_PAGE) != 0)) {
        empty_range(c, m->address, m->mask[1]);
        return;
    }
    for (uint32_t line = 0, left = c->store.tags.present; left > 0; line++) {
        if (store_is_empty(&c->store, line))
            continue;
        left--;
        empty_line(c, line);
    }
}

static bool take_invalidate(line_cache *c, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    empty(c, m);
    c->taken++;
    cache_answer_hit(c, cache_new_node(c, client, m, now, 0), now, 0);
    return true;
}

static bool take_flush(line_cache *c, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    if (c->flush_node != INDEX_NONE)
        return cache_refuse(c, client, &c->n.refused_room, now, 0);
    c->flush_node = cache_new_node(c, client, m, now, 0);
    c->flush_next = c->policy == WRITE_BACK ? 0 : store_count(&c->store);
    c->n.flushes++;
    c->taken++;
    cache_arm(c, now, now);
    return true;
}

static bool answer_fault(line_cache *c, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    uint32_t i = cache_new_node(c, client, m, now, 0);
    cache_node *node = &c->nodes[i];
    node->m.flags |= LS_LINE_FAULT | (memory_state(c->memory, m->address) != 0 ? LS_LINE_READ_ONLY : 0);
    memset(node->m.data, 0, c->store.line_bytes);
    c->n.faults++;
    c->taken++;
    cache_answer_hit(c, i, now, 0);
    return true;
}

static inline bool page_allows(const line_cache *c, const ls_line_message *m)
{
    uint32_t state = memory_state(c->memory, m->address);
    uint32_t needs = m->kind == LS_LINE_READ ? LS_PAGE_READ : LS_PAGE_WRITE;
    return (state & needs) != 0 || (state != 0 && (m->flags & LS_LINE_SYSTEM) != 0);
}

/* Room for the request: no older requester, nodes, a bank. */
static inline bool open_to(line_cache *c, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    if (c->wait_count > 0 && !c->stepping) {
        const cache_waiter *first = &c->waiters[c->wait_head & c->client_mask];
        if (first->client != client && now - first->since > STARVING_CYCLES)
            return cache_refuse(c, client, &c->n.refused_port, now, now + 1);
    }
    if (c->nodes_left < NODES_PER_REQUEST)
        return cache_refuse(c, client, &c->n.refused_room, now, 0);
    if (c->spec->banks != 0) {
        ls_cycle *bank = bank_of(c, m->address);
        if (*bank > now)
            return cache_refuse(c, client, &c->n.refused_bank, now, *bank);
        *bank = now + 1;
    }
    return true;
}

static __attribute__((noinline)) bool take_sweep(line_cache *c, uint32_t client, const ls_line_message *m,
                                                 ls_cycle now)
{
    bool is_own = m->atomic == 0, empties = m->kind == LS_LINE_INVALIDATE;
    if (is_own && !(empties && c->passes_invalidates))
        return empties ? take_invalidate(c, client, m, now) : take_flush(c, client, m, now);
    /* An instruction cache has no key for passing requests: it passes one at a time. */
    if (!cache_sends_free(c, 1) || (c->forwarded > 0 && c->forwarded >= c->spec->pending))
        return cache_refuse(c, client, &c->n.refused_room, now, 0);
    ls_line_message deeper;
    ls_line_copy_head(&deeper, m);
    if (is_own)
        empty(c, m);
    else
        deeper.atomic--;
    return forward(c, client, &deeper, now);
}

/* The port has room. */
static __attribute__((noinline)) bool take_now(line_cache *c, uint32_t client, const ls_line_message *m,
                                               ls_cycle now)
{
    if (!open_to(c, client, m, now))
        return false;
    c->lead = c->clients[client].delay;
    if (LS_UNLIKELY(m->kind == LS_LINE_INVALIDATE || m->kind == LS_LINE_FLUSH))
        return take_sweep(c, client, m, now);
    if (c->memory != NULL && LS_UNLIKELY(!page_allows(c, m)))
        return answer_fault(c, client, m, now);
    uint32_t line = store_find(&c->store, m->address);
    switch (m->kind) {
    case LS_LINE_READ:
        return take_read(c, client, m, line, now);
    case LS_LINE_WRITE:
        return c->policy == WRITE_BACK ? take_write_back(c, client, m, line, now)
                                       : take_write_below(c, client, m, line, now);
    default:
        return take_atomic(c, client, m, line, now);
    }
}

static __attribute__((noinline)) bool take_and_tell(line_cache *c, uint32_t client, const ls_line_message *m,
                                                    ls_cycle now)
{
    uint64_t missed = c->n.read_misses + c->n.write_misses,
             joined = c->n.read_mshr_hits + c->n.write_mshr_hits;
    if (!take_now(c, client, m, now))
        return false;
    bool misses = c->n.read_misses + c->n.write_misses != missed;
    bool joins = c->n.read_mshr_hits + c->n.write_mshr_hits != joined;
    line_tap(c->tap, c->region, m, joins ? LS_STEP_MSHR : misses ? LS_STEP_MISS : LS_STEP_TAG);
    return true;
}

static __attribute__((noinline)) bool refuse_port(line_cache *c, uint32_t client, ls_cycle now)
{
    return cache_refuse(c, client, &c->n.refused_port, now, c->busy_until > now ? c->busy_until : now + 1);
}

/* A requester with several lines sends until the port is taken, so this call often fails. */
bool line_cache_take(void *self, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    line_cache *c = self;
    if (c->cycle != now) {
        c->cycle = now;
        c->taken = 0;
    }
    if (c->taken == c->width || c->busy_until > now)
        return refuse_port(c, client, now);
    if (c->line_cost == 0)
        return LS_LIKELY(m->number == 0) ? take_now(c, client, m, now) : take_and_tell(c, client, m, now);
    if (!take_and_tell(c, client, m, now))
        return false;
    uint64_t from = now << CACHE_FRACTION;
    c->port_time = (c->port_time > from ? c->port_time : from) + c->line_cost;
    ls_cycle until = c->port_time >> CACHE_FRACTION;
    c->busy_until = until > c->busy_until ? until : c->busy_until;
    return true;
}

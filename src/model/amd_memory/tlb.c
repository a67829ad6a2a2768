/* tlb.c: an L1 TLB in front of a cache. A hit passes in the cycle in which it comes (or latency_cycles later).
 * Requests for an unknown page wait, in order, until the MMU has answered, while others pass. Requests that
 * have their page but found the cache busy leave in order, before all that come later. */
#include "model/amd_memory/tlb_impl.h"

#include "model/cache/tag_store_state.h"

#include <stdio.h>

/* --- nodes --- */

/* The caller has looked for room. */
void tlb_keep(tlb *t, index_list *list, uint32_t client, const ls_line_message *m, ls_cycle at)
{
    uint32_t i = index_pool_take(&t->node_pool, INDEX_LINKS(t->nodes, next));
    tlb_node *node = &t->nodes[i];
    t->inside++;
    node->client = client;
    node->at = at;
    ls_line_copy(&node->m, m, ls_line_request_data(m, t->clients[client].below.line_bytes));
    tlb_put(t, list, i);
}

bool tlb_refuse(tlb *t, uint32_t client)
{
    t->n.refused++;
    t->clients[client].refused = true;
    return false;
}

/* --- the cache below --- */

void tlb_arm(tlb *t, ls_cycle at)
{
    if (ls_event_scheduled(&t->event)) {
        if (t->event.cycle <= at)
            return;
        ls_cancel(&t->event);
    }
    ls_schedule(t->region, &t->event, at - ls_region_now(t->region));
}

void tlb_call_refused(tlb *t, ls_cycle now)
{
    uint32_t first = t->turn++;
    for (uint32_t i = 0; i < t->client_count; i++) {
        tlb_client *client = &t->clients[(first + i) % t->client_count];
        if (client->refused) {
            client->refused = false;
            client->ops->retry(client->self, now);
        }
    }
}

/* Sends what has its page; true if that made room, and requesters were called. */
bool tlb_drain(tlb *t, ls_cycle now)
{
    uint32_t before = t->inside;
    while (!t->cache_refused && !index_list_empty(&t->ready)) {
        uint32_t i = t->ready.first;
        tlb_node *node = &t->nodes[i];
        if (node->at > now) {
            tlb_arm(t, node->at);
            break;
        }
        t->cache_refused = !ls_line_request(&t->clients[node->client].below, &node->m, now);
        if (t->cache_refused)
            break;
        (void)index_list_pop(&t->ready, INDEX_LINKS(t->nodes, next));
        index_pool_give(&t->node_pool, INDEX_LINKS(t->nodes, next), i);
        t->inside--;
    }
    if (t->inside == before)
        return false;
    tlb_call_refused(t, now);
    return true;
}

static void tlb_event(void *self, ls_cycle now)
{
    (void)tlb_drain(self, now);
}

static void cache_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    tlb_client *c = self;
    c->ops->reply(c->self, m, now);
}

void tlb_cache_retry(void *self, ls_cycle now)
{
    tlb_client *c = self;
    tlb *t = c->tlb;
    if (t->cache_refused) {
        t->cache_refused = false;
        (void)tlb_drain(t, now);
    }
    if (index_list_empty(&t->ready) && c->refused) {
        c->refused = false;
        c->ops->retry(c->self, now);
    }
}

static const ls_line_client_ops cache_client = { .reply = cache_reply, .retry = tlb_cache_retry };

/* --- pages --- */

static inline bool find_page(tlb *t, uint64_t page)
{
    if (page == t->last_page)
        return true;
    uint32_t at = tag_store_find(&t->l1, page);
    if (at == TAG_STORE_NONE)
        return false;
    t->last_page = page;
    t->last_physical = t->physical[at];
    return true;
}

void tlb_forget_miss(tlb *t, uint32_t number)
{
    tlb_miss *miss = &t->misses[number];
    uint32_t *link = tlb_head_of(t, miss->page);
    while (*link != number + 1)
        link = &t->misses[*link - 1].chain;
    *link = miss->chain;
    index_pool_give(&t->miss_pool, INDEX_LINKS(t->misses, next), number);
    t->miss_count--;
}

void tlb_send_requests(tlb *t)
{
    if (LS_UNLIKELY(t->moves != NULL) && !tlb_moves_send(t))
        return;
    while (!index_list_empty(&t->unsent)) {
        uint32_t i = t->unsent.first;
        ls_page_walk *walk = ls_link_send(t->to_mmu, sizeof *walk);
        if (walk == NULL) {
            if (!t->link_waits)
                ls_link_wait(t->to_mmu, &t->link_event);
            t->link_waits = true;
            return;
        }
        *walk = (ls_page_walk){ .address = t->misses[i].address,
                                .page = { .gpu = t->misses[i].number },
                                .token = i,
                                .flags = t->misses[i].flags };
        (void)index_list_pop(&t->unsent, INDEX_LINKS(t->misses, next));
    }
}

static void link_ready(void *self, ls_cycle now)
{
    tlb *t = self;
    (void)now;
    t->link_waits = false;
    tlb_send_requests(t);
}

tlb_miss *tlb_new_miss(tlb *t, uint64_t page, ls_cycle now)
{
    const index_links next = INDEX_LINKS(t->misses, next);
    uint32_t i = index_pool_take(&t->miss_pool, next), *head = tlb_head_of(t, page);
    tlb_miss *miss = &t->misses[i];
    *miss = (tlb_miss){ .page = page,
                        .address = page << t->page_shift,
                        .asked = now,
                        .waiting = INDEX_LIST_EMPTY,
                        .chain = *head };
    *head = i + 1;
    t->miss_count++;
    index_list_append(&t->unsent, next, i);
    return miss;
}

static __attribute__((noinline)) bool take_miss(tlb *t, uint32_t client, const ls_line_message *m,
                                                uint64_t page, ls_cycle now)
{
    if (tlb_is_full(t))
        return tlb_refuse(t, client);
    tlb_miss *miss = tlb_find_miss(t, page);
    if (miss != NULL) {
        tlb_keep(t, &miss->waiting, client, m, 0);
        line_tap(t->tap, t->region, m, LS_STEP_TRANSLATE);
        t->n.accesses++;
        t->n.mshr_hits++;
        return true;
    }
    if (t->miss_count == t->spec->mshr_entries)
        return tlb_refuse(t, client);
    miss = tlb_new_miss(t, page, now);
    miss->number = m->number;
    line_tap(t->tap, t->region, m, LS_STEP_TRANSLATE);
    tlb_keep(t, &miss->waiting, client, m, 0);
    t->n.accesses++;
    t->n.misses++;
    tlb_send_requests(t);
    return true;
}

static void tlb_receive(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    tlb *t = state;
    const ls_page_walk *walk = payload;
    if (t->moves != NULL) {
        tlb_moves_receive(t, link, walk, now);
        return;
    }
    tlb_miss *miss = &t->misses[walk->token];
    uint32_t at = tag_store_insert(&t->l1, miss->page);
    t->physical[at] = walk->page.physical;
    t->last_page = UINT64_MAX; /* it may have gone for this one */
    t->n.walk_cycles += now - miss->asked;
    for (uint32_t i = miss->waiting.first; i != INDEX_NONE;) {
        tlb_node *node = &t->nodes[i];
        uint32_t next = node->next;
        t->ready_last = now > t->ready_last ? now : t->ready_last;
        node->at = t->ready_last;
        node->m.address = walk->page.physical | (node->m.address & ((UINT64_C(1) << t->page_shift) - 1));
        line_tap(t->tap, t->region, &node->m, LS_STEP_QUEUE);
        tlb_put(t, &t->ready, i);
        i = next;
    }
    tlb_forget_miss(t, walk->token);
    ls_link_release(link, 1);
    if (!tlb_drain(t, now))
        tlb_call_refused(t, now); /* a miss entry is free */
}

/* --- requests --- */

static bool pass(tlb *t, uint32_t client, const ls_line_message *m, uint64_t address, ls_cycle now)
{
    if (index_list_empty(&t->ready) && t->latency == 0) {
        bool taken;
        if (LS_LIKELY(address == m->address)) {
            taken = ls_line_request(&t->clients[client].below, m, now);
        } else {
            ls_line_message there;
            ls_line_copy(&there, m, ls_line_request_data(m, t->clients[client].below.line_bytes));
            there.address = address;
            taken = ls_line_request(&t->clients[client].below, &there, now);
        }
        t->clients[client].refused = !taken;
        return taken;
    }
    ls_cycle at = now + t->latency;
    t->ready_last = at > t->ready_last ? at : t->ready_last;
    bool first = index_list_empty(&t->ready);
    if (tlb_is_full(t))
        return tlb_refuse(t, client);
    tlb_keep(t, &t->ready, client, m, t->ready_last);
    t->nodes[t->ready.last].m.address = address;
    if (first)
        tlb_arm(t, t->ready_last);
    return true;
}

static bool tlb_request(void *self, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    tlb *t = self;
    if (LS_UNLIKELY(m->kind == LS_LINE_INVALIDATE || m->kind == LS_LINE_FLUSH))
        return pass(t, client, m, m->address, now);
    uint64_t page = m->address >> t->page_shift;
    if (LS_UNLIKELY(!find_page(t, page)))
        return take_miss(t, client, m, page, now);
    if (!pass(t, client, m, t->last_physical | (m->address & ((UINT64_C(1) << t->page_shift) - 1)), now))
        return false;
    t->n.accesses++;
    t->n.hits++;
    return true;
}

static ls_status tlb_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                            ls_error *err);

static const ls_line_memory_ops tlb_memory = { .request = tlb_request, .attach = tlb_attach };
static const ls_line_memory_ops moves_memory = { .request = tlb_moves_request, .attach = tlb_attach };

static ls_status tlb_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                            ls_error *err)
{
    tlb *t = self;
    if (t->client_count == TLB_CLIENTS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "%s: more than %d requesters", t->name, TLB_CLIENTS_MAX);
    if (t->cache == NULL)
        return ls_fail(err, LS_ERR_USAGE, "%s: there is no cache below it yet", t->name);
    tlb_client *c = &t->clients[t->client_count];
    *c = (tlb_client){ .ops = ops, .self = client, .tlb = t };
    ls_status status =
        ls_line_join(t->cache, t->moves != NULL ? &tlb_moves_client : &cache_client, c, &c->below, err);
    if (status != LS_OK)
        return status;
    if (c->below.ops->delay != NULL)
        c->below.ops->delay(c->below.self, c->below.client, (uint32_t)t->spec->latency_cycles);
    else
        t->latency = t->spec->latency_cycles;
    *out = (ls_line_port){ .ops = t->moves != NULL ? &moves_memory : &tlb_memory,
                           .self = t,
                           .client = t->client_count++,
                           .line_bytes = c->below.line_bytes };
    return LS_OK;
}

/* --- set-up --- */

static ls_status tlb_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    tlb *t = state;
    t->spec = spec;
    t->name = ls_block_name(block);
    t->tap = ls_block_tap(block);
    t->region = ls_block_region(block);
    ls_domain *domain = ls_region_domain(t->region);
    uint64_t page = t->spec->page_kib * 1024;
    if ((page & (page - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "%s: page_kib is %llu, it must be a power of two", t->name,
                       (unsigned long long)t->spec->page_kib);
    if (t->spec->entries % t->spec->ways != 0)
        return ls_fail(err, LS_ERR_INPUT, "%s: %llu entries are no multiple of %llu ways", t->name,
                       (unsigned long long)t->spec->entries, (unsigned long long)t->spec->ways);
    t->page_shift = (uint32_t)__builtin_ctzll(page);
    t->last_page = UINT64_MAX;
    t->ready = t->unsent = INDEX_LIST_EMPTY;
    t->node_pool = t->miss_pool = INDEX_POOL_NEW;
    t->physical = ls_domain_alloc(domain, t->spec->entries * sizeof *t->physical);
    t->misses = ls_domain_alloc(domain, t->spec->mshr_entries * sizeof *t->misses);
    t->nodes = ls_domain_alloc(domain, t->spec->queue_entries * sizeof *t->nodes);
    t->head_mask = 15;
    while (t->head_mask < 2 * t->spec->mshr_entries)
        t->head_mask = 2 * t->head_mask + 1;
    t->heads = ls_domain_alloc(domain, (t->head_mask + 1) * sizeof *t->heads);
    if (t->physical == NULL || t->misses == NULL || t->nodes == NULL || t->heads == NULL ||
        tag_store_init_plain(&t->l1, t->spec->entries / t->spec->ways, t->spec->ways, domain, NULL) != LS_OK)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", t->name);
    ls_event_init(&t->event, tlb_event, t);
    ls_event_init(&t->link_event, link_ready, t);
    return LS_OK;
}

/* Model "none" has nothing but the cache it stands for. */
typedef struct tlb_none {
    ls_block *cache;
} tlb_none;

static ls_status none_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                             ls_error *err)
{
    const tlb_none *t = self;
    if (t->cache == NULL)
        return ls_fail(err, LS_ERR_USAGE, "a translation has no cache below it yet");
    return ls_line_join(t->cache, ops, client, out, err);
}

static const ls_line_memory_ops none_memory = { .attach = none_attach };

static ls_status none_set_below(void *self, ls_block *cache, ls_error *err)
{
    (void)err;
    ((tlb_none *)self)->cache = cache;
    return LS_OK;
}

static void none_describe(const void *self, ls_tlb_shape *out)
{
    (void)self;
    *out = (ls_tlb_shape){ 0 };
}

static void none_set_mmu(void *self, ls_link *link)
{
    (void)self, (void)link;
}

static void none_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self, (void)link, (void)payload, (void)now;
}

static void none_discard(void *self, uint64_t address, uint64_t bytes)
{
    (void)self, (void)address, (void)bytes;
}

static const ls_tlb_ops none_ops = { .set_below = none_set_below,
                                     .describe = none_describe,
                                     .set_mmu = none_set_mmu,
                                     .receive = none_receive,
                                     .discard = none_discard };

static ls_status tlb_set_below(void *self, ls_block *cache, ls_error *err)
{
    (void)err;
    ((tlb *)self)->cache = cache;
    return LS_OK;
}

static void tlb_describe(const void *self, ls_tlb_shape *out)
{
    const tlb *t = self;
    *out =
        (ls_tlb_shape){ .questions = (uint32_t)t->spec->mshr_entries, .page_bytes = t->spec->page_kib * 1024 };
}

static void tlb_set_mmu(void *self, ls_link *link)
{
    ((tlb *)self)->to_mmu = link;
}

static void tlb_discard(void *self, uint64_t address, uint64_t bytes)
{
    tlb *t = self;
    t->last_page = UINT64_MAX;
    if (t->moves != NULL && bytes != 0)
        page_tags_forget(&t->moves->known, address, bytes);
    else if (bytes != 0)
        tag_store_forget(&t->l1, address >> t->page_shift, (address + bytes - 1) >> t->page_shift);
}

static const ls_tlb_ops tlb_ops = { .set_below = tlb_set_below,
                                    .describe = tlb_describe,
                                    .set_mmu = tlb_set_mmu,
                                    .receive = tlb_receive,
                                    .discard = tlb_discard,
                                    .set_shootdowns = tlb_set_shootdowns };

static void tlb_waits(const void *self, ls_wait_sink *sink)
{
    const tlb *t = self;
    char detail[96];
    if (t->moves != NULL)
        tlb_moves_waits(t, sink);
    if (t->inside == 0)
        return;
    snprintf(detail, sizeof detail, "%u requests wait, %u pages on their way", t->inside, t->miss_count);
    ls_wait_report(sink, t->name, t->miss_count > 0 ? "the MMU" : ls_block_name(t->cache), detail);
}

static const ls_param params[] = {
    LS_PARAM_UINT(line_tlb_spec, entries, "pages", 64, 1, 65536, "pages it knows"),
    LS_PARAM_UINT(line_tlb_spec, ways, "pages", 64, 1, 1024, "per set"),
    LS_PARAM_UINT(line_tlb_spec, page_kib, "KiB", 4, 4, 2048, "size of a page (a power of two)"),
    LS_PARAM_UINT(line_tlb_spec, latency_cycles, "cycles", 0, 0, 1000, "that it adds to each request"),
    LS_PARAM_UINT(line_tlb_spec, mshr_entries, "pages", 16, 1, 1024, "pages on their way"),
    LS_PARAM_UINT(line_tlb_spec, queue_entries, "requests", 64, 1, 4096, "waiting for pages or for the cache"),
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(line_tlb_counters, accesses, "requests", "hits + misses + mshr_hits"),
    LS_METRIC_COUNTER(line_tlb_counters, hits, "requests", "pages it knew"),
    LS_METRIC_COUNTER(line_tlb_counters, misses, "requests", "pages it asked for"),
    LS_METRIC_COUNTER(line_tlb_counters, mshr_hits, "requests", "pages it had asked for already"),
    LS_METRIC_COUNTER(line_tlb_counters, refused, "tries", "no miss entry or no room"),
    LS_METRIC_COUNTER(line_tlb_counters, walk_cycles, "cycles", "from questions to answers"),
    LS_METRIC_COUNTER(line_tlb_counters, again, "requests",
                      "a page did not allow a write or was smaller: asked for again"),
    LS_METRIC_COUNTER(line_tlb_counters, shootdowns, "pages", "forgotten because they move"),
    LS_METRIC_COUNTER(line_tlb_counters, drain_cycles, "cycles",
                      "from shootdowns until no request to the page was in flight"),
    LS_METRIC_RATIO(line_tlb_counters, "hit_rate", hits, accesses, "", "hits / accesses"),
};

static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &tlb_memory },
    { .name = LS_TLB_PORT, .interface = LS_TLB_INTERFACE, .ops = &tlb_ops },
};

static const ls_port_decl none_ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &none_memory },
    { .name = LS_TLB_PORT, .interface = LS_TLB_INTERFACE, .ops = &none_ops },
};

static uint64_t entry_count(const void *self)
{
    return ((const tlb *)self)->spec->entries;
}

static uint64_t miss_count(const void *self)
{
    return ((const tlb *)self)->spec->mshr_entries;
}

static uint64_t head_count(const void *self)
{
    return (uint64_t)((const tlb *)self)->head_mask + 1;
}

static uint64_t node_count(const void *self)
{
    return ((const tlb *)self)->spec->queue_entries;
}

static uint64_t moves_count(const void *self)
{
    return ((const tlb *)self)->moves != NULL;
}

static const ls_state_row client_rows[] = {
    LS_STATE_FIXED_SPAN(tlb_client, ops, below),
    LS_STATE_DATA(tlb_client, refused),
};

static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(tlb, spec, region),
    LS_STATE_DATA(tlb, n),
    LS_STATE_FIXED_SPAN(tlb, cache, to_mmu),
    LS_STATE_DATA_SPAN(tlb, page_shift, latency),
    LS_STATE_PART(tlb, l1, tag_store_rows),
    LS_STATE_ARRAY(tlb, physical, entry_count),
    LS_STATE_DATA_SPAN(tlb, last_page, last_physical),
    LS_STATE_ARRAY(tlb, misses, miss_count),
    LS_STATE_ARRAY(tlb, heads, head_count),
    LS_STATE_DATA_SPAN(tlb, head_mask, unsent),
    LS_STATE_ARRAY(tlb, nodes, node_count),
    LS_STATE_DATA_SPAN(tlb, node_pool, cache_refused),
    LS_STATE_EVENT(tlb, event),
    LS_STATE_EVENT(tlb, link_event),
    LS_STATE_DATA(tlb, link_waits),
    LS_STATE_ARRAY_OF(tlb, moves, moves_count, tlb_moves_rows),
    LS_STATE_PARTS(tlb, clients, client_rows),
};

static const ls_state_row none_rows[] = {
    LS_STATE_FIXED(tlb_none, cache),
};

static const ls_block_type tlb_cycle = {
    .abi = LS_ABI_VERSION,
    .slot = LS_TLB_SLOT,
    .name = "cycle",
    .help = "an L1 TLB that asks the MMU over links",
    .spec_size = sizeof(line_tlb_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .state_size = sizeof(tlb),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(tlb, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
    .init = tlb_init,
    .waits = tlb_waits,
};
LS_REGISTER_BLOCK(tlb_cycle);

static const ls_block_type tlb_off = {
    .abi = LS_ABI_VERSION,
    .slot = LS_TLB_SLOT,
    .name = "none",
    .help = "addresses are not translated, which costs nothing",
    .state_size = sizeof(tlb_none),
    .rows = none_rows,
    .row_count = LS_COUNT_OF(none_rows),
    .ports = none_ports,
    .port_count = LS_COUNT_OF(none_ports),
};
LS_REGISTER_BLOCK(tlb_off);

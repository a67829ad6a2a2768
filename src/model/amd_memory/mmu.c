/* mmu.c: the L2 TLB and page-table walkers of a GPU. A request is looked up when its latency is over. A miss
 * takes a walker, or waits for one. Requests for a page with a walk in progress wait for that walk. */
#include "model/amd_memory/mmu_impl.h"

#include "model/cache/tag_store_state.h"

#include <stdio.h>
#include <string.h>

static void put(mmu *m, index_list *list, uint32_t i)
{
    index_list_append(list, INDEX_LINKS(m->nodes, next), i);
}

void mmu_arm(mmu *m, ls_cycle at)
{
    if (ls_event_scheduled(&m->event)) {
        if (m->event.cycle <= at)
            return;
        ls_cancel(&m->event);
    }
    ls_schedule(m->region, &m->event, at - ls_region_now(m->region));
}

static void mmu_receive(void *receiver, ls_link *link, const void *payload, ls_cycle now)
{
    mmu_link *l = receiver;
    mmu *m = l->mmu;
    if (LS_UNLIKELY(((const ls_page_walk *)payload)->kind == LS_WALK_SHOT)) {
        mmu_host_shot(m, payload);
        ls_link_release(link, 1);
        return;
    }
    uint32_t i = index_pool_take(&m->pool, INDEX_LINKS(m->nodes, next));
    mmu_node *node = &m->nodes[i];
    node->walk = *(const ls_page_walk *)payload;
    node->link = (uint32_t)(l - m->links);
    node->at = now + m->spec->latency_cycles;
    put(m, &m->arrived, i);
    mmu_tell(m, &node->walk, LS_STEP_L2_TLB);
    m->n.requests++;
    ls_link_release(link, 1);
    if (!m->blocked)
        mmu_arm(m, node->at);
}

static void send_answers(mmu *m, mmu_link *l)
{
    while (!index_list_empty(&l->answers)) {
        uint32_t i = l->answers.first;
        ls_page_walk *slot = ls_link_send(l->out, sizeof *slot);
        if (slot == NULL) {
            ls_link_wait(l->out, &l->event);
            return;
        }
        *slot = m->nodes[i].walk;
        (void)index_list_pop(&l->answers, INDEX_LINKS(m->nodes, next));
        index_pool_give(&m->pool, INDEX_LINKS(m->nodes, next), i);
    }
}

static void out_ready(void *self, ls_cycle now)
{
    mmu_link *l = self;
    (void)now;
    send_answers(l->mmu, l);
}

void mmu_answer(mmu *m, uint32_t i)
{
    mmu_link *l = &m->links[m->nodes[i].link];
    bool waits = !index_list_empty(&l->answers);
    put(m, &l->answers, i);
    if (!waits)
        send_answers(m, l);
}

static void answer(mmu *m, uint32_t i)
{
    m->nodes[i].walk.page = m->pages.look(m->pages.self, m->nodes[i].walk.address);
    mmu_answer(m, i);
}

static void start_walks(mmu *m, ls_cycle now)
{
    while (m->walking < m->spec->walkers && m->miss_head + m->walking != m->miss_tail) {
        mmu_miss *miss = &m->misses[(m->miss_head + m->walking++) & m->miss_mask];
        miss->done = now + m->spec->walk_latency_cycles;
        m->n.walk_wait_cycles += now - miss->begun;
        m->n.walk_cycles += m->spec->walk_latency_cycles;
        m->n.walks++;
    }
}

/* False if there is no miss entry for it. */
static bool look_up(mmu *m, uint32_t i, ls_cycle now)
{
    uint64_t address = m->nodes[i].walk.address;
    if (m->spec->entries != 0 && tag_store_find(&m->l2.tags, address >> m->page_shift) != TAG_STORE_NONE) {
        m->n.hits++;
        answer(m, i);
        return true;
    }
    for (uint32_t k = m->miss_head; k != m->miss_tail; k++)
        if (m->misses[k & m->miss_mask].address == address) {
            m->n.mshr_hits++;
            mmu_tell(m, &m->nodes[i].walk, LS_STEP_WALK);
            put(m, &m->misses[k & m->miss_mask].waiting, i);
            return true;
        }
    if (m->miss_tail - m->miss_head == m->spec->mshr_entries)
        return false;
    mmu_miss *miss = &m->misses[m->miss_tail++ & m->miss_mask];
    *miss = (mmu_miss){ .address = address, .begun = now, .waiting = INDEX_LIST_EMPTY };
    m->n.misses++;
    mmu_tell(m, &m->nodes[i].walk, LS_STEP_WALK);
    put(m, &miss->waiting, i);
    return true;
}

static void end_walks(mmu *m, ls_cycle now)
{
    while (m->walking > 0 && m->misses[m->miss_head & m->miss_mask].done <= now) {
        mmu_miss *miss = &m->misses[m->miss_head++ & m->miss_mask];
        if (m->spec->entries != 0)
            (void)tag_store_insert(&m->l2.tags, miss->address >> m->page_shift);
        for (uint32_t i = miss->waiting.first; i != INDEX_NONE;) {
            uint32_t next = m->nodes[i].next;
            answer(m, i);
            i = next;
        }
        m->walking--;
        m->blocked = false;
    }
}

static void mmu_event(void *self, ls_cycle now)
{
    mmu *m = self;
    bool own = m->host == NULL;
    if (own)
        end_walks(m, now);
    while (!m->blocked && !index_list_empty(&m->arrived) && m->nodes[m->arrived.first].at <= now) {
        uint32_t i = m->arrived.first, next = m->nodes[i].next;
        m->blocked = !(own ? look_up(m, i, now) : mmu_host_look_up(m, i, now));
        if (!m->blocked)
            m->arrived.first = next;
        else
            m->n.queued++;
    }
    if (own)
        start_walks(m, now);
    ls_cycle next = own && m->walking > 0 ? m->misses[m->miss_head & m->miss_mask].done : LS_CYCLE_MAX;
    if (!m->blocked && !index_list_empty(&m->arrived) && m->nodes[m->arrived.first].at < next)
        next = m->nodes[m->arrived.first].at;
    if (next != LS_CYCLE_MAX)
        mmu_arm(m, next > now ? next : now + 1);
}

/* --- set-up --- */

static ls_status mmu_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    mmu *m = state;
    m->spec = spec;
    m->name = ls_block_name(block);
    m->tap = ls_block_tap(block);
    m->region = ls_block_region(block);
    ls_domain *domain = ls_region_domain(m->region);
    uint64_t page = m->spec->page_kib * 1024;
    if ((page & (page - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "%s: page_kib is %llu, it must be a power of two", m->name,
                       (unsigned long long)m->spec->page_kib);
    if (m->spec->entries % m->spec->ways != 0)
        return ls_fail(err, LS_ERR_INPUT, "%s: %llu entries are no multiple of %llu ways", m->name,
                       (unsigned long long)m->spec->entries, (unsigned long long)m->spec->ways);
    m->page_shift = (uint32_t)__builtin_ctzll(page);
    m->arrived = INDEX_LIST_EMPTY;
    uint32_t misses = 1;
    while (misses < m->spec->mshr_entries)
        misses *= 2;
    m->miss_mask = misses - 1;
    m->misses = ls_domain_alloc(domain, misses * sizeof *m->misses);
    bool ok = m->spec->entries == 0 ||
              page_tags_init(&m->l2, m->page_shift, m->spec->entries, m->spec->ways, domain) == LS_OK;
    if (!ok || m->misses == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", m->name);
    ls_event_init(&m->event, mmu_event, m);
    return LS_OK;
}

static ls_status mmu_attach(void *self, const ls_pages *pages, uint32_t links, uint32_t questions,
                            ls_error *err)
{
    mmu *m = self;
    ls_domain *domain = ls_region_domain(m->region);
    m->pages = *pages;
    m->link_count = links;
    m->links = ls_domain_alloc(domain, links * sizeof *m->links);
    m->node_count = links * questions;
    m->nodes = ls_domain_alloc(domain, m->node_count * sizeof *m->nodes);
    if (m->links == NULL || m->nodes == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", m->name);
    m->pool = INDEX_POOL_NEW;
    for (uint32_t i = 0; i < links; i++) {
        m->links[i] = (mmu_link){ .mmu = m, .answers = INDEX_LIST_EMPTY };
        ls_event_init(&m->links[i].event, out_ready, &m->links[i]);
    }
    return LS_OK;
}

static void *mmu_receiver(void *self, uint32_t i)
{
    mmu *m = self;
    return &m->links[i];
}

static void mmu_set_reply(void *self, uint32_t i, ls_link *link)
{
    mmu *m = self;
    m->links[i].out = link;
}

static uint64_t mmu_page_bytes(const void *self)
{
    const mmu *m = self;
    return m->spec->page_kib * 1024;
}

static void mmu_discard(void *self, uint64_t address, uint64_t bytes)
{
    mmu *m = self;
    if (m->spec->entries == 0 || bytes == 0)
        return;
    if (m->host != NULL)
        page_tags_forget(&m->l2, address, bytes);
    else
        tag_store_forget(&m->l2.tags, address >> m->page_shift, (address + bytes - 1) >> m->page_shift);
}

static void mmu_waits(const void *self, ls_wait_sink *sink)
{
    const mmu *m = self;
    char detail[96];
    uint32_t shootdowns = 0;
    for (uint32_t i = 0; i < MMU_SHOOTDOWNS; i++)
        shootdowns += m->shootdowns[i].left > 0;
    if (shootdowns > 0) {
        snprintf(detail, sizeof detail, "%u pages are not forgotten by all TLBs", shootdowns);
        ls_wait_report(sink, m->name, "the TLBs", detail);
    }
    if (m->walking == 0 && index_list_empty(&m->arrived))
        return;
    snprintf(detail, sizeof detail, "%u page-table walks%s", m->walking,
             m->blocked ? ", more wait for a miss entry" : "");
    ls_wait_report(sink, m->name, m->host != NULL ? "the host" : "page tables", detail);
}

static bool mmu_walks_host(const void *self)
{
    return ((const mmu *)self)->spec->walks == MMU_WALKS_HOST;
}

static ls_page identity(void *self, uint64_t address)
{
    (void)self;
    return (ls_page){ .physical = address };
}

ls_pages line_pages_identity(void)
{
    return (ls_pages){ .look = identity };
}

static const ls_mmu_ops mmu_ops = { .attach = mmu_attach,
                                    .receiver = mmu_receiver,
                                    .receive = mmu_receive,
                                    .set_reply = mmu_set_reply,
                                    .page_bytes = mmu_page_bytes,
                                    .discard = mmu_discard,
                                    .walks_host = mmu_walks_host,
                                    .set_host = mmu_set_host,
                                    .receive_host = mmu_receive_host };

static const ls_port_decl ports[] = {
    { .name = LS_MMU_PORT, .interface = LS_MMU_INTERFACE, .ops = &mmu_ops },
};

static const char *const walks_names[] = { "gpu", "host", NULL };

static const ls_param params[] = {
    LS_PARAM_CHOICE(line_mmu_spec, walks, "walks", "gpu", walks_names,
                    "where page tables are walked: gpu, or host: misses of the L2 TLB cross the fabric"),
    LS_PARAM_UINT(line_mmu_spec, entries, "pages", 1024, 0, 1048576,
                  "of the L2 TLB; 0: none, every miss walks"),
    LS_PARAM_UINT(line_mmu_spec, ways, "pages", 16, 1, 1024, "per set"),
    LS_PARAM_UINT(line_mmu_spec, page_kib, "KiB", 4, 4, 2048, "size of a page (a power of two)"),
    LS_PARAM_UINT(line_mmu_spec, latency_cycles, "cycles", 4, 0, 10000, "of the L2 TLB"),
    LS_PARAM_UINT(line_mmu_spec, walk_latency_cycles, "cycles", 100, 1, 100000, "of a page-table walk"),
    LS_PARAM_UINT(line_mmu_spec, walkers, "walks", 16, 1, 1024, "page-table walks at once"),
    LS_PARAM_UINT(line_mmu_spec, mshr_entries, "pages", 64, 1, 1024,
                  "pages walked for or waiting for a walker"),
};

static const ls_need needs[] = {
    { "*", "/tlb.model!=none" },
    { "ways", "entries!=0" },
    { "latency_cycles", "entries!=0" },
    { "walks", "//fabric.model!=none //migrate.model=none" },
    { "walk_latency_cycles", "walks!=host //migrate.model=none" },
    { "walkers", "walks!=host //migrate.model=none" },
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(line_mmu_counters, requests, "requests", "misses of L1 TLBs"),
    LS_METRIC_COUNTER(line_mmu_counters, hits, "requests", "pages in the L2 TLB"),
    LS_METRIC_COUNTER(line_mmu_counters, misses, "requests", "pages that need a walk"),
    LS_METRIC_COUNTER(line_mmu_counters, mshr_hits, "requests", "pages that are walked for already"),
    LS_METRIC_COUNTER(line_mmu_counters, walks, "walks", "page-table walks"),
    LS_METRIC_COUNTER(line_mmu_counters, walk_cycles, "cycles", "of all walks"),
    LS_METRIC_COUNTER(line_mmu_counters, walk_wait_cycles, "cycles", "before walks, for a free walker"),
    LS_METRIC_COUNTER(line_mmu_counters, queued, "times", "all miss entries were taken"),
    LS_METRIC_COUNTER(line_mmu_counters, again, "requests",
                      "pages that did not allow a write, or were smaller: asked for again"),
    LS_METRIC_COUNTER(line_mmu_counters, shootdowns, "pages", "forgotten by all TLBs because they move"),
    LS_METRIC_RATIO(line_mmu_counters, "hit_rate", hits, requests, "", "hits / requests"),
};

static uint64_t link_count(const void *self)
{
    return ((const mmu *)self)->link_count;
}

static uint64_t node_count(const void *self)
{
    return ((const mmu *)self)->node_count;
}

static uint64_t miss_length(const void *self)
{
    return (uint64_t)((const mmu *)self)->miss_mask + 1;
}

static uint64_t frame_count(const void *self)
{
    return ((const mmu *)self)->frames != NULL ? ((const mmu *)self)->spec->entries : 0;
}

static uint64_t out_length(const void *self)
{
    return ((const mmu *)self)->out_size;
}

static const ls_state_row link_rows[] = {
    LS_STATE_FIXED_SPAN(mmu_link, mmu, out),
    LS_STATE_EVENT(mmu_link, event),
    LS_STATE_DATA(mmu_link, answers),
};

/* The page table belongs to the host. */
static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(mmu, spec, region),
    LS_STATE_DATA(mmu, n),
    LS_STATE_FIXED_SPAN(mmu, pages, link_count),
    LS_STATE_ARRAY_OF(mmu, links, link_count, link_rows),
    LS_STATE_ARRAY(mmu, nodes, node_count),
    LS_STATE_DATA_SPAN(mmu, node_count, arrived),
    LS_STATE_ARRAY(mmu, misses, miss_length),
    LS_STATE_DATA_SPAN(mmu, miss_head, blocked),
    LS_STATE_PART(mmu, l2, page_tags_rows),
    LS_STATE_EVENT(mmu, event),
    LS_STATE_FIXED(mmu, host),
    LS_STATE_ARRAY(mmu, frames, frame_count),
    LS_STATE_DATA(mmu, miss_pool),
    LS_STATE_ARRAY(mmu, out, out_length),
    LS_STATE_DATA_SPAN(mmu, out_head, out_size),
    LS_STATE_EVENT(mmu, host_event),
    LS_STATE_DATA_SPAN(mmu, host_waits, shootdowns),
};

static const ls_block_type mmu_type = {
    .abi = LS_ABI_VERSION,
    .slot = LS_MMU_SLOT,
    .name = "cycle",
    .help = "an L2 TLB and page-table walkers",
    .spec_size = sizeof(line_mmu_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .state_size = sizeof(mmu),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(mmu, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
    .init = mmu_init,
    .waits = mmu_waits,
};
LS_REGISTER_BLOCK(mmu_type);

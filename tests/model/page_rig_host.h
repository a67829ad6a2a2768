/* page_rig_host.h: the directory of page_rig.h, and the machine around it. A page has a new frame after each shootdown, so
 * a request that used an old translation is seen. */
#ifndef TESTS_MODEL_PAGE_RIG_HOST_H
#define TESTS_MODEL_PAGE_RIG_HOST_H

#include "page_rig.h"

typedef struct prig_page {
    uint32_t generation, open; /* open: grants that are not taken */
    uint8_t size_log2, writable, shooting, unused;
    uint16_t limit, far; /* far: it lies in another GPU's memory, and `limit` accesses are to be reported */
} prig_page;

typedef struct prig_shoot {
    ls_cycle at, sent, answered;
    uint32_t page, flags; /* MIGRATE_FORGET, MIGRATE_SEND */
    uint32_t old_frame, unused;
    uint64_t offset; /* in the block of the page */
} prig_shoot;

typedef struct prig_ask {
    ls_cycle at;
    uint64_t address;
    uint32_t token;
    uint8_t flags, unused[3];
} prig_ask;

typedef struct prig_host {
    ls_fabric_end end;
    ls_region *region;
    ls_link *links[LS_FABRIC_CLASSES]; /* to the agent */
    uint32_t grant_cycles;
    ls_event event;
    uint32_t ask_head, ask_tail, taken, shoot_count, shoot_next, shots, pieces, arrived, counted;
    uint32_t piece_errors, push_count, pushed, waiting;
    uint64_t counted_address;
    prig_page pages[PRIG_PAGES];
    prig_ask asks[PRIG_LOG];
    uint8_t granted[PRIG_LOG];
    prig_shoot shoots[PRIG_LOG];
} prig_host;

typedef struct prig {
    ls_engine *engine;
    ls_fabric_end end; /* the agent's */
    ls_block *agent, *mmu, *tlbs[PRIG_TLBS];
    prig_memory *caches[PRIG_TLBS], *memory;
    prig_client *clients[PRIG_TLBS];
    prig_host *host;
} prig;

static inline uint64_t prig_address(uint32_t page, uint64_t offset)
{
    return PRIG_BASE + ((uint64_t)page << PRIG_BLOCK_LOG2) + offset;
}

static inline uint64_t prig_frame(uint32_t page, uint32_t generation)
{
    return PRIG_FRAMES + ((uint64_t)(page * PRIG_GENERATIONS + generation) << PRIG_BLOCK_LOG2);
}

static inline void prig_send(prig_host *h, ls_fabric_class class, uint32_t kind, uint32_t token,
                             const void *body, size_t bytes)
{
    ls_fabric_message *slot = ls_link_send(h->links[class], 1);
    assert_non_null(slot);
    slot->from = 1;
    slot->to = 0;
    slot->class_index = (uint8_t) class;
    slot->kind = (uint8_t)kind;
    slot->token = token;
    slot->body_bytes = (uint16_t)bytes;
    memcpy(slot->body, body, bytes);
}

static inline void prig_grant(prig_host *h, uint32_t i)
{
    const prig_ask *ask = &h->asks[i];
    uint32_t number = (uint32_t)((ask->address - PRIG_BASE) >> PRIG_BLOCK_LOG2);
    prig_page *p = &h->pages[number];
    uint64_t first = ask->address >> p->size_log2 << p->size_log2;
    uint64_t frame = prig_frame(number, p->generation) + (first - prig_address(number, 0));
    bool writable = p->writable || (ask->flags & MIGRATE_WRITE) != 0;
    const migrate_body body = { .address = first,
                                .frame = p->far ? mem_place_physical(0, 5, frame) : frame,
                                .token = ask->token,
                                .to = p->limit,
                                .size_log2 = p->size_log2,
                                .flags = (uint8_t)(MIGRATE_MANAGED | (writable ? MIGRATE_WRITE : 0)) };
    p->open++;
    h->granted[i] = 1;
    prig_send(h, LS_FABRIC_WALK, MIGRATE_GRANT, i, &body, sizeof body);
}

static inline bool prig_begin_shoot(prig_host *h, uint32_t i, ls_cycle now)
{
    prig_shoot *s = &h->shoots[i];
    prig_page *p = &h->pages[s->page];
    if (p->open > 0 || p->shooting)
        return false;
    const migrate_body body = { .address = prig_address(s->page, s->offset),
                                .frame = prig_frame(s->page, p->generation) + s->offset,
                                .to_frame = UINT64_C(0x7000000),
                                .to = 1,
                                .size_log2 = p->size_log2,
                                .flags = (uint8_t)s->flags };
    s->old_frame = prig_frame_number(body.frame);
    s->sent = now;
    p->shooting = 1;
    prig_send(h, LS_FABRIC_INVALIDATE, MIGRATE_SHOOT, i, &body, sizeof body);
    return true;
}

/* A line of a page that comes to the GPU: PRIG_MEMORY / 16 is its frame. */
static inline void prig_push(prig_host *h)
{
    ls_line_message m;
    memset(&m, 0, sizeof m);
    m.kind = LS_LINE_WRITE;
    m.address = PRIG_FRAMES + PRIG_MEMORY / 16 + h->pushed * PRIG_LINE;
    m.token = h->push_count;
    memset(m.data, (int)(0x40 + h->pushed), PRIG_LINE);
    prig_send(h, LS_FABRIC_MIGRATE, MIGRATE_PIECE, 900, &m, LS_LINE_HEAD_BYTES + PRIG_LINE);
    h->pushed++;
}

static inline void prig_host_event(void *self, ls_cycle now)
{
    prig_host *h = self;
    bool later = h->pushed < h->push_count;
    if (later && ls_link_ready(h->links[LS_FABRIC_MIGRATE]))
        prig_push(h);
    for (uint32_t i = h->ask_head; i != h->ask_tail; i++) {
        uint32_t page = (uint32_t)((h->asks[i].address - PRIG_BASE) >> PRIG_BLOCK_LOG2);
        if (!h->granted[i] && h->asks[i].at + h->grant_cycles <= now && !h->pages[page].shooting)
            prig_grant(h, i);
        later = later || !h->granted[i];
    }
    while (h->ask_head != h->ask_tail && h->granted[h->ask_head])
        h->ask_head++;
    while (h->shoot_next < h->shoot_count && h->shoots[h->shoot_next].at <= now &&
           prig_begin_shoot(h, h->shoot_next, now))
        h->shoot_next++;
    later = later || h->shoot_next < h->shoot_count;
    if (later && !ls_event_scheduled(&h->event))
        ls_schedule(h->region, &h->event, 1);
}

static inline void prig_take_piece(prig_host *h, const ls_fabric_message *message)
{
    const ls_line_message *m = (const ls_line_message *)(const void *)message->body;
    const prig_shoot *shoot = &h->shoots[message->token];
    uint64_t offset = m->address - UINT64_C(0x7000000);
    uint64_t from = PRIG_FRAMES + ((uint64_t)shoot->old_frame << PRIG_BLOCK_LOG2);
    h->pieces++;
    /* A byte of memory is the number of its line: prig_open(). */
    h->piece_errors += m->data[5] != (uint8_t)((from + offset) % PRIG_MEMORY / PRIG_LINE) ||
                       m->kind != LS_LINE_WRITE || m->token != 1u << (h->pages[shoot->page].size_log2 - 6);
}

static inline void prig_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    prig_host *h = self;
    const ls_fabric_message *message = payload;
    const migrate_body *body = (const migrate_body *)(const void *)message->body;
    switch (message->kind) {
    case MIGRATE_ASK:
        assert_true(h->ask_tail < PRIG_LOG);
        h->asks[h->ask_tail++] =
            (prig_ask){ .at = now, .address = body->address, .token = body->token, .flags = body->flags };
        break;
    case MIGRATE_TAKEN:
        h->taken++;
        h->pages[(h->asks[message->token].address - PRIG_BASE) >> PRIG_BLOCK_LOG2].open--;
        break;
    case MIGRATE_SHOT: {
        prig_shoot *s = &h->shoots[message->token];
        s->answered = now;
        h->shots++;
        h->pages[s->page].shooting = 0;
        h->pages[s->page].generation += (s->flags & MIGRATE_FORGET) != 0;
        assert_true(h->pages[s->page].generation < PRIG_GENERATIONS);
        break;
    }
    case MIGRATE_PIECE:
        prig_take_piece(h, message);
        break;
    case MIGRATE_COUNTED:
        h->counted++;
        h->counted_address = body->address;
        break;
    default:
        assert_int_equal(message->kind, MIGRATE_ARRIVED);
        assert_int_equal(message->token, 900);
        h->arrived++;
        break;
    }
    ls_link_release(link, 1);
    if (!ls_event_scheduled(&h->event))
        ls_schedule(h->region, &h->event, 0);
}

static const ls_state_row prig_host_rows[] = {
    LS_STATE_FIXED_SPAN(prig_host, end, grant_cycles),
    LS_STATE_EVENT(prig_host, event),
    LS_STATE_DATA_SPAN(prig_host, ask_head, shoots),
};
static const ls_block_type prig_host_type = { .abi = LS_ABI_VERSION,
                                              .slot = "test",
                                              .name = "directory",
                                              .state_size = sizeof(prig_host),
                                              .rows = prig_host_rows,
                                              .row_count = LS_COUNT_OF(prig_host_rows) };

/* ------------------------------------------------------------------------------------------------- machine */

static const line_tlb_spec prig_tlb = {
    .entries = 8, .ways = 4, .page_kib = 4, .mshr_entries = 4, .queue_entries = 16
};
static const line_mmu_spec prig_mmu = { .walks = 1,
                                        .entries = 16,
                                        .ways = 4,
                                        .page_kib = 4,
                                        .latency_cycles = 5,
                                        .walk_latency_cycles = 1,
                                        .walkers = 1,
                                        .mshr_entries = 6 };

static inline ls_region *prig_region(prig *r, const char *name)
{
    ls_clock clock;
    ls_domain *domain;
    PRIG_OK(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), err));
    PRIG_OK(ls_domain_create(r->engine, name, clock, &domain, err));
    return ls_domain_region(domain, 0);
}

static inline ls_link *prig_link(prig *r, const char *name, ls_region *from, ls_region *to, uint32_t credits,
                                 uint32_t bytes, ls_receive_fn receive, void *receiver)
{
    ls_link *link;
    const ls_link_spec spec = { .name = name,
                                .from = from,
                                .to = to,
                                .latency_cycles = PRIG_LINK,
                                .credits = credits,
                                .payload_bytes = bytes,
                                .receive = receive,
                                .receiver = receiver };
    PRIG_OK(ls_link_create(r->engine, &spec, &link, err));
    return link;
}

static inline prig_memory *prig_new_memory(ls_region *region, const char *name, uint32_t latency,
                                           ls_block **block)
{
    PRIG_OK(ls_block_create(region, name, &prig_memory_type, NULL, block, err));
    prig_memory *s = ls_block_state(*block);
    s->region = region;
    s->latency = latency;
    s->room = 40;
    ls_event_init(&s->event, prig_memory_event, s);
    return s;
}

static inline void prig_build_tlb(prig *r, uint32_t i, ls_region *mmu_region, uint32_t latency)
{
    char name[32];
    ls_block *cache, *client;
    snprintf(name, sizeof name, "cluster%u", i);
    ls_region *region = prig_region(r, name);
    snprintf(name, sizeof name, "cache%u", i);
    r->caches[i] = prig_new_memory(region, name, latency, &cache);
    snprintf(name, sizeof name, "tlb%u", i);
    PRIG_OK(ls_block_create(region, name, ls_registry_find_block(LS_TLB_SLOT, "cycle"), &prig_tlb, &r->tlbs[i],
                            err));
    PRIG_OK(line_tlb_set_below(r->tlbs[i], cache, err));
    PRIG_OK(line_tlb_set_shootdowns(r->tlbs[i], i == PRIG_STAY ? 0 : 2, i == PRIG_STAY ? LS_WALK_STAY : 0,
                                    err));
    snprintf(name, sizeof name, "client%u", i);
    PRIG_OK(ls_block_create(region, name, &prig_client_type, NULL, &client, err));
    prig_client *c = r->clients[i] = ls_block_state(client);
    c->region = region;
    ls_event_init(&c->event, prig_go, c);
    PRIG_OK(ls_line_join(r->tlbs[i], &prig_client_ops, c, &c->port, err));
    snprintf(name, sizeof name, "walk%u", i);
    line_tlb_set_mmu(r->tlbs[i], prig_link(r, name, region, mmu_region, 2, sizeof(ls_page_walk),
                                           line_mmu_ops(r->mmu)->receive, line_mmu_receiver(r->mmu, i)));
    snprintf(name, sizeof name, "page%u", i);
    line_mmu_set_reply(r->mmu, i,
                       prig_link(r, name, mmu_region, region, 2, sizeof(ls_page_walk),
                                 line_tlb_ops(r->tlbs[i])->receive, ls_block_state(r->tlbs[i])));
}

static inline void prig_build_host(prig *r, ls_region *agent_region)
{
    static const ls_fabric_class classes[] = { LS_FABRIC_WALK, LS_FABRIC_INVALIDATE, LS_FABRIC_MIGRATE };
    char name[32];
    ls_block *host;
    ls_region *region = prig_region(r, "host");
    PRIG_OK(ls_block_create(region, "host", &prig_host_type, NULL, &host, err));
    prig_host *h = r->host = ls_block_state(host);
    h->region = region;
    h->grant_cycles = 30;
    ls_event_init(&h->event, prig_host_event, h);
    for (uint32_t i = 0; i < PRIG_PAGES; i++)
        h->pages[i] = (prig_page){ .size_log2 = 12, .writable = 1 };
    r->end = (ls_fabric_end){ .number = 0, .region = agent_region, .ends = 2 };
    for (uint32_t i = 0; i < LS_COUNT_OF(classes); i++) {
        snprintf(name, sizeof name, "in%u", i);
        h->links[classes[i]] =
            prig_link(r, name, region, agent_region, page_agent_credits(r->agent, classes[i]),
                      sizeof(ls_fabric_message), page_agent_receive, ls_block_state(r->agent));
        snprintf(name, sizeof name, "out%u", i);
        r->end.send[classes[i]] =
            prig_link(r, name, agent_region, region, 3, sizeof(ls_fabric_message), prig_receive, h);
    }
}

static inline void prig_open(prig *r, uint32_t latency)
{
    static const page_agent_spec spec = {
        .lines_in_flight = 5, .buffer_pieces = 7, .counters = 16, .moves = true
    };
    ls_pages pages = line_pages_identity();
    ls_block *memory;
    uint32_t walks = 0;
    memset(r, 0, sizeof *r);
    PRIG_OK(ls_engine_create(1, &r->engine, err));
    ls_region *mmu_region = prig_region(r, "mmu"), *agent_region = prig_region(r, "agent");
    PRIG_OK(ls_block_create(mmu_region, "mmu0", ls_registry_find_block(LS_MMU_SLOT, "cycle"), &prig_mmu,
                            &r->mmu, err));
    PRIG_OK(line_mmu_attach(r->mmu, &pages, PRIG_TLBS, (uint32_t)prig_tlb.mshr_entries, err));
    for (uint32_t i = 0; i < PRIG_TLBS; i++)
        prig_build_tlb(r, i, mmu_region, latency);
    PRIG_OK(page_agent_create(agent_region, "agent0", &spec, &r->agent, err));
    r->memory = prig_new_memory(agent_region, "memory", 20, &memory);
    r->memory->room = 6;
    for (uint32_t i = 0; i < PRIG_MEMORY; i++)
        r->memory->bytes[i] = (uint8_t)(i / PRIG_LINE);
    prig_build_host(r, agent_region);
    PRIG_OK(line_mmu_set_host(r->mmu,
                              prig_link(r, "ask", mmu_region, agent_region, 3, sizeof(ls_page_walk),
                                        page_agent_receive_mmu, ls_block_state(r->agent)),
                              &walks, err));
    const page_agent_wiring wiring = {
        .line_bytes = PRIG_LINE,
        .walks = walks,
        .end = &r->end,
        .mmu = prig_link(r, "answer", agent_region, mmu_region, 3, sizeof(ls_page_walk),
                         line_mmu_ops(r->mmu)->receive_host, ls_block_state(r->mmu)),
        .memory = memory
    };
    PRIG_OK(page_agent_attach(r->agent, &wiring, err));
}

static inline prig_op *prig_add(prig *r, uint32_t client, ls_cycle at, uint32_t kind, uint32_t page,
                                uint64_t offset)
{
    prig_client *c = r->clients[client];
    assert_true(c->count < PRIG_OPS);
    prig_op *op = &c->ops[c->count++];
    *op = (prig_op){ .at = at, .address = prig_address(page, offset), .kind = (uint8_t)kind };
    return op;
}

static inline prig_shoot *prig_add_shoot(prig *r, ls_cycle at, uint32_t page, uint32_t flags)
{
    assert_true(r->host->shoot_count < PRIG_LOG);
    prig_shoot *s = &r->host->shoots[r->host->shoot_count++];
    *s = (prig_shoot){ .at = at, .page = page, .flags = flags };
    return s;
}

static inline void prig_start(prig *r)
{
    for (uint32_t i = 0; i < PRIG_TLBS; i++)
        if (r->clients[i]->count > 0)
            ls_schedule_at(r->clients[i]->region, &r->clients[i]->event, 1);
    ls_schedule_at(r->host->region, &r->host->event, 1);
}

/* Every request is answered, every shootdown too, and no request used a frame after its page was shot down. */
static inline void prig_check(const prig *r)
{
    const prig_host *h = r->host;
    for (uint32_t i = 0; i < PRIG_TLBS; i++)
        assert_int_equal(r->clients[i]->answered, r->clients[i]->count);
    assert_int_equal(h->ask_head, h->ask_tail);
    assert_int_equal(h->taken, h->ask_tail);
    assert_int_equal(h->shots, h->shoot_count);
    assert_int_equal(h->piece_errors, 0);
    for (uint32_t i = 0; i < h->shoot_count; i++)
        for (uint32_t k = 0; k < PRIG_TLBS && (h->shoots[i].flags & MIGRATE_FORGET) != 0; k++)
            assert_true(r->caches[k]->last[h->shoots[i].old_frame] + 3 * PRIG_LINK <= h->shoots[i].answered);
}

static inline void prig_run(prig *r, uint32_t threads)
{
    prig_start(r);
    PRIG_OK(ls_run(r->engine, &(ls_run_options){ .threads = threads }, NULL, err));
    prig_check(r);
}

static inline void prig_close(prig *r)
{
    ls_engine_destroy(r->engine);
}

static inline const void *prig_counters(const ls_block *block)
{
    return (const char *)ls_block_state((ls_block *)(uintptr_t)block) +
           ls_block_type_of(block)->counters_offset;
}

#endif

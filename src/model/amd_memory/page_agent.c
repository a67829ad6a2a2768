/* page_agent.c: see page_agent.h. Messages of the MMU and of the host pass through without time of their own. The host
 * has room for a share of its walk queue of each GPU; more walks wait here. So LS_WALK_TAKEN, for which pages of others may
 * wait, always reaches the host. */
#include "model/amd_memory/page_agent_impl.h"

#include "model/amd_memory/mmu_impl.h"
#include "model/fabric/host.h"

#include <string.h>

static index_links message_links(const agent *a)
{
    return INDEX_LINKS(a->messages, next);
}

static index_links shootdown_links(agent *a)
{
    return INDEX_LINKS(a->shootdowns, next);
}

static void pending(agent *a, int64_t delta)
{
    ls_domain_pending(ls_region_domain(a->region), delta);
}

/* ------------------------------------------------------------------------------------------------ to the host */

ls_fabric_message *agent_slot(agent *a, ls_fabric_class class, uint32_t wire_bytes)
{
    agent_way *way = &a->ways[class];
    if (way->waits)
        return NULL;
    ls_fabric_message *slot = ls_link_send(a->end->send[class], wire_bytes);
    if (slot == NULL) {
        a->n.fabric_waits++;
        way->waits = true;
        ls_link_wait(a->end->send[class], &way->ready);
        return NULL;
    }
    slot->from = (uint16_t)a->end->number;
    slot->class_index = (uint8_t) class;
    slot->wire_bytes = (uint16_t)wire_bytes;
    return slot;
}

static void send_messages(agent *a, agent_way *way)
{
    while (!index_list_empty(&way->messages)) {
        uint32_t i = way->messages.first;
        const agent_message *m = &a->messages[i];
        ls_fabric_message *slot = agent_slot(a, way->class_index, MIGRATE_BODY_WIRE_BYTES);
        if (slot == NULL)
            return;
        slot->to = (uint16_t)(a->end->ends - 1);
        slot->kind = m->kind;
        slot->data_bytes = 0;
        slot->body_bytes = sizeof m->body;
        slot->token = m->token;
        slot->address = m->body.address;
        memcpy(slot->body, &m->body, sizeof m->body);
        a->counted_open -= m->kind == MIGRATE_COUNTED;
        (void)index_list_pop(&way->messages, message_links(a));
        index_pool_give(&a->message_pool, message_links(a), i);
    }
}

void agent_send(agent *a, ls_fabric_class class, migrate_kind kind, uint32_t token, const migrate_body *body)
{
    uint32_t i = index_pool_take(&a->message_pool, message_links(a));
    agent_message *m = &a->messages[i];
    m->token = token;
    m->class_index = (uint8_t) class;
    m->kind = (uint8_t)kind;
    m->body = *body;
    index_list_append(&a->ways[class].messages, message_links(a), i);
    send_messages(a, &a->ways[class]);
}

void agent_way_ready(void *self, ls_cycle now)
{
    agent_way *way = self;
    agent *a = way->agent;
    way->waits = false;
    send_messages(a, way);
    if (way->class_index == LS_FABRIC_MIGRATE && !way->waits)
        agent_send_pieces(a, now);
}

/* ------------------------------------------------------------------------------------------------ to the MMU */

void agent_mmu_ready(void *self, ls_cycle now)
{
    agent *a = self;
    (void)now;
    a->mmu_waits = false;
    for (; a->out_head != a->out_tail; a->out_head++) {
        ls_page_walk *slot = ls_link_send(a->mmu, sizeof *slot);
        if (slot == NULL) {
            a->mmu_waits = true;
            ls_link_wait(a->mmu, &a->mmu_event);
            return;
        }
        *slot = a->out[a->out_head % a->out_size];
    }
}

static void send_mmu(agent *a, const ls_page_walk *walk)
{
    a->out[a->out_tail++ % a->out_size] = *walk;
    if (!a->mmu_waits)
        agent_mmu_ready(a, 0);
}

/* ------------------------------------------------------------------------------------------------------ walks */

static void find_share(agent *a)
{
    const host_part *host = ls_engine_part(ls_domain_engine(ls_region_domain(a->region)), HOST_PART, 0);
    uint32_t gpus = a->end->ends - 1,
             all = host != NULL ? host->end->receive_credits[LS_FABRIC_WALK] : UINT32_MAX;
    a->walks_max = all / gpus > 1 ? all / gpus - 1 : 1;
}

static void ask_host(agent *a, uint32_t token)
{
    const ls_page_walk *question = &a->walks[token].question;
    const migrate_body body = { .address = question->address,
                                .token = token,
                                .size_log2 = question->page.size_log2,
                                .flags = (uint8_t)((question->flags & LS_WALK_WRITE ? MIGRATE_WRITE : 0) |
                                                   (question->flags & LS_WALK_STAY ? MIGRATE_STAY : 0)) };
    a->walks_open++;
    a->n.walks_peak = a->walks_open > a->n.walks_peak ? a->walks_open : a->n.walks_peak;
    agent_send(a, LS_FABRIC_WALK, MIGRATE_ASK, token, &body);
}

static void take_question(agent *a, const ls_page_walk *walk, ls_cycle now)
{
    agent_walk *w = &a->walks[walk->token];
    w->question = *walk;
    w->begun = now;
    a->n.walks++;
    pending(a, 1);
    if (LS_UNLIKELY(a->walks_max == 0))
        find_share(a);
    if (a->walks_open < a->walks_max) {
        ask_host(a, walk->token);
        return;
    }
    a->n.walk_waits++;
    index_list_append(&a->held, INDEX_LINKS(a->walks, next), walk->token);
}

/* A page of another memory: its accesses are counted from now on. */
static void count_accesses(agent *a, const migrate_body *body)
{
    if (a->counters == NULL || body->to == 0 || !mem_place_is_remote(body->frame) ||
        (a->walks[body->token].question.flags & LS_WALK_STAY) != 0)
        return;
    agent_counter *c = &a->counters[page_tags_insert(&a->remote, body->frame, body->size_log2)];
    if (c->address != body->address || c->limit != body->to)
        *c = (agent_counter){ .address = body->address, .limit = body->to };
}

static void take_grant(agent *a, const ls_fabric_message *message, ls_cycle now)
{
    migrate_body body;
    memcpy(&body, message->body, sizeof body);
    agent_walk *w = &a->walks[body.token];
    bool remote = mem_place_is_remote(body.frame);
    w->grant = message->token;
    a->n.walk_cycles += now - w->begun;
    a->walks_open--;
    pending(a, -1);
    count_accesses(a, &body);
    send_mmu(a, &(ls_page_walk){
                    .address = body.address,
                    .page = { .physical = body.frame,
                              .gpu = remote ? mem_place_of(body.frame) : a->end->number,
                              .size_log2 = body.size_log2,
                              .read_only = (body.flags & MIGRATE_WRITE) == 0 },
                    .token = body.token,
                    .flags = (body.flags & MIGRATE_MANAGED) != 0 ? LS_WALK_MANAGED : 0,
                });
    if (!index_list_empty(&a->held))
        ask_host(a, index_list_pop(&a->held, INDEX_LINKS(a->walks, next)));
}

/* ------------------------------------------------------------------------------------------------- shootdowns */

static void forget_counters(agent *a, const migrate_body *body)
{
    if (a->counters == NULL)
        return;
    uint64_t bytes = UINT64_C(1) << body->size_log2;
    for (uint32_t i = 0; i < tag_store_count(&a->remote.tags); i++) {
        if (!tag_store_has(&a->remote.tags, i))
            continue;
        uint64_t size = UINT64_C(1) << page_tags_size_log2(&a->remote, i), first = a->counters[i].address;
        if (first < body->address + bytes && body->address < first + size)
            page_tags_forget(&a->remote, page_tags_address(&a->remote, i), 1);
    }
}

static void shoot_next(agent *a)
{
    while (a->at_mmu < MMU_SHOOTDOWNS && !index_list_empty(&a->shooting)) {
        uint32_t i = index_list_pop(&a->shooting, shootdown_links(a));
        const migrate_body *body = &a->shootdowns[i].body;
        a->at_mmu++;
        send_mmu(a, &(ls_page_walk){ .address = body->address,
                                     .page = { .physical = body->frame, .size_log2 = body->size_log2 },
                                     .token = i,
                                     .kind = LS_WALK_SHOOT });
    }
}

static void take_shootdown(agent *a, ls_link *link, const ls_fabric_message *message, ls_cycle now)
{
    uint32_t i = index_pool_take(&a->shootdown_pool, shootdown_links(a));
    agent_shootdown *s = &a->shootdowns[i];
    *s = (agent_shootdown){ .link = link, .begun = now, .token = message->token };
    memcpy(&s->body, message->body, sizeof s->body);
    pending(a, 1);
    a->shootdowns_open++;
    a->n.shootdowns_peak =
        a->shootdowns_open > a->n.shootdowns_peak ? a->shootdowns_open : a->n.shootdowns_peak;
    if ((s->body.flags & MIGRATE_FORGET) == 0) {
        agent_begin_send(a, i, now);
        return;
    }
    a->n.shootdowns++;
    forget_counters(a, &s->body);
    index_list_append(&a->shooting, shootdown_links(a), i);
    shoot_next(a);
}

void agent_end_shootdown(agent *a, uint32_t i)
{
    agent_shootdown *s = &a->shootdowns[i];
    agent_send(a, LS_FABRIC_INVALIDATE, MIGRATE_SHOT, s->token, &s->body);
    ls_link_release(s->link, 1);
    index_pool_give(&a->shootdown_pool, shootdown_links(a), i);
    a->shootdowns_open--;
    pending(a, -1);
}

static void take_shot(agent *a, uint32_t i, ls_cycle now)
{
    a->at_mmu--;
    a->n.shootdown_cycles += now - a->shootdowns[i].begun;
    if ((a->shootdowns[i].body.flags & MIGRATE_SEND) != 0)
        agent_begin_send(a, i, now);
    else
        agent_end_shootdown(a, i);
    shoot_next(a);
}

/* --------------------------------------------------------------------------------------------------- messages */

void page_agent_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    agent *a = self;
    const ls_fabric_message *message = payload;
    switch (message->kind) {
    case MIGRATE_GRANT:
        take_grant(a, message, now);
        break;
    case MIGRATE_SHOOT:
        take_shootdown(a, link, message, now);
        return;
    case MIGRATE_PIECE:
        agent_take_piece(a, link, message, now);
        return;
    default:
        ls_domain_fail(ls_region_domain(a->region), "a page agent got a message that is for the host");
        break;
    }
    ls_link_release(link, 1);
}

void page_agent_receive_mmu(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    agent *a = self;
    const ls_page_walk *walk = payload;
    switch (walk->kind) {
    case LS_WALK_TAKEN: {
        const migrate_body body = { .address = walk->address, .token = walk->token };
        a->n.taken++;
        agent_send(a, LS_FABRIC_WALK, MIGRATE_TAKEN, a->walks[walk->token].grant, &body);
        break;
    }
    case LS_WALK_SHOT:
        take_shot(a, walk->token, now);
        break;
    default:
        take_question(a, walk, now);
        break;
    }
    ls_link_release(link, 1);
}

void page_agent_used(void *self, uint64_t physical)
{
    agent *a = self;
    uint32_t i = a->counters != NULL ? page_tags_find(&a->remote, physical) : TAG_STORE_NONE;
    if (i == TAG_STORE_NONE)
        return;
    agent_counter *c = &a->counters[i];
    if (++c->count < c->limit || a->counted_open == AGENT_COUNTED)
        return;
    c->count = 0;
    a->counted_open++;
    a->n.counted++;
    const migrate_body body = { .address = c->address,
                                .frame = page_tags_address(&a->remote, i),
                                .size_log2 = (uint8_t)page_tags_size_log2(&a->remote, i) };
    agent_send(a, LS_FABRIC_WALK, MIGRATE_COUNTED, 0, &body);
}

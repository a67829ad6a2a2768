/* tlb_moves.c: an L1 TLB where pages move. Pages have any size, and some may only be read: a write to such a page asks
 * again. Every request in flight below is known by its virtual address. A shootdown forgets a page, waits until the
 * requests in flight to it are answered, has the caches below forget its lines, and answers.
 *
 * While a question for a page of the usual size is open, all requests for that page wait for it in their order: a read
 * never passes a write that waits for its permission. */
#include "lockstep/state.h"
#include "model/amd_memory/tlb_impl.h"
#include "model/memory/place.h"

#include <stdio.h>
#include <string.h>

#define FLIGHTS_MAX 1024u /* requests in flight below, beside those that waited for a page */
#define NO_PAGE UINT64_MAX

/* ------------------------------------------------------------------------------------------------- shootdowns */

bool tlb_moves_send(tlb *t)
{
    tlb_moves *v = t->moves;
    while (v->acks != 0) {
        uint32_t i = (uint32_t)__builtin_ctz(v->acks);
        ls_page_walk *walk = ls_link_send(t->to_mmu, sizeof *walk);
        if (walk == NULL) {
            if (!t->link_waits)
                ls_link_wait(t->to_mmu, &t->link_event);
            t->link_waits = true;
            return false;
        }
        *walk = (ls_page_walk){ .address = v->shootdowns[i].address, .token = i, .kind = LS_WALK_SHOT };
        v->acks &= v->acks - 1;
    }
    return true;
}

/* The lowest cache first, so that nothing old comes up again. */
static void invalidate(tlb *t, uint32_t i, ls_cycle now)
{
    tlb_moves *v = t->moves;
    tlb_shootdown *s = &v->shootdowns[i];
    s->waits = false;
    if (s->step == s->steps) {
        s->is_open = false;
        v->open--;
        v->acks |= 1u << i;
        tlb_send_requests(t);
        return;
    }
    ls_line_message m;
    memset(&m, 0, LS_LINE_HEAD_BYTES);
    m.kind = LS_LINE_INVALIDATE;
    m.flags = LS_LINE_PAGE;
    m.address = s->physical[s->step / v->levels];
    m.mask[1] = s->bytes;
    m.atomic = (uint8_t)(v->levels - 1 - s->step % v->levels);
    m.token = i;
    s->waits = !ls_line_request(&v->cache, &m, now);
}

static void invalidated(void *self, const ls_line_message *m, ls_cycle now)
{
    tlb_moves *v = self;
    v->shootdowns[m->token].step++;
    invalidate(v->tlb, m->token, now);
}

static void invalidate_again(void *self, ls_cycle now)
{
    tlb_moves *v = self;
    for (uint32_t i = 0; i < MMU_SHOOTDOWNS; i++)
        if (v->shootdowns[i].is_open && v->shootdowns[i].waits)
            invalidate(v->tlb, i, now);
}

static const ls_line_client_ops invalidate_client = { .reply = invalidated, .retry = invalidate_again };

static bool covers(const tlb_shootdown *s, const tlb_flight *f)
{
    return f->address - s->address < s->bytes && f->sequence < s->sequence;
}

static void end_drain(tlb *t, uint32_t i, ls_cycle now)
{
    t->n.drain_cycles += now - t->moves->shootdowns[i].begun;
    invalidate(t, i, now);
}

/* Lines may also lie where a translation that is still known says. */
static void find_frames(tlb_moves *v, tlb_shootdown *s, uint64_t physical)
{
    uint32_t at = page_tags_find(&v->known, s->address), frames = 1;
    s->physical[0] = physical;
    if (at != TAG_STORE_NONE) {
        uint64_t size = UINT64_C(1) << page_tags_size_log2(&v->known, at);
        uint64_t other = v->frames[at].physical + (s->address & (size - 1));
        if (other != physical)
            s->physical[frames++] = other;
    }
    s->steps = (uint8_t)(frames * v->levels);
}

static void shoot(tlb *t, const ls_page_walk *walk, ls_cycle now)
{
    tlb_moves *v = t->moves;
    tlb_shootdown *s = &v->shootdowns[walk->token];
    *s = (tlb_shootdown){ .address = walk->address,
                          .bytes = UINT64_C(1) << walk->page.size_log2,
                          .sequence = v->sequence,
                          .begun = now,
                          .is_open = true };
    find_frames(v, s, walk->page.physical);
    page_tags_forget(&v->known, s->address, s->bytes);
    v->open++;
    t->n.shootdowns++;
    for (uint32_t i = 0; i < v->flight_pool.fresh; i++)
        s->left += covers(s, &v->flights[i]);
    if (s->left == 0)
        end_drain(t, walk->token, now);
}

/* ---------------------------------------------------------------------------------------- requests in flight */

static uint32_t begin_flight(tlb_moves *v, uint64_t address, uint32_t token)
{
    uint32_t i = index_pool_take(&v->flight_pool, INDEX_LINKS(v->flights, next));
    v->flights[i] = (tlb_flight){ .address = address, .sequence = v->sequence++, .token = token };
    v->in_flight++;
    return i;
}

static void end_flight(tlb_moves *v, uint32_t i)
{
    v->flights[i].address = NO_PAGE;
    index_pool_give(&v->flight_pool, INDEX_LINKS(v->flights, next), i);
    v->in_flight--;
}

static void note_drained(tlb *t, const tlb_flight *flight, ls_cycle now)
{
    for (uint32_t i = 0; i < MMU_SHOOTDOWNS; i++) {
        tlb_shootdown *s = &t->moves->shootdowns[i];
        if (s->is_open && s->left > 0 && covers(s, flight) && --s->left == 0)
            end_drain(t, i, now);
    }
}

static void moves_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    tlb_client *c = self;
    tlb *t = c->tlb;
    tlb_moves *v = t->moves;
    tlb_flight flight = v->flights[m->token];
    ls_line_message back;
    ls_line_copy(&back, m, ls_line_reply_data(m, c->below.line_bytes));
    back.token = flight.token;
    end_flight(v, m->token);
    c->ops->reply(c->self, &back, now);
    if (v->open > 0)
        note_drained(t, &flight, now);
    if (v->starved) {
        v->starved = false;
        tlb_call_refused(t, now);
    }
}

const ls_line_client_ops tlb_moves_client = { .reply = moves_reply, .retry = tlb_cache_retry };

static bool pass(tlb *t, uint32_t client, const ls_line_message *m, uint64_t page_address, uint64_t physical,
                 ls_cycle now)
{
    tlb_moves *v = t->moves;
    ls_line_message there;
    if (v->in_flight >= FLIGHTS_MAX) {
        v->starved = true;
        return tlb_refuse(t, client);
    }
    bool at_once = index_list_empty(&t->ready) && t->latency == 0;
    if (!at_once && tlb_is_full(t))
        return tlb_refuse(t, client);
    ls_line_copy(&there, m, ls_line_request_data(m, t->clients[client].below.line_bytes));
    there.address = physical;
    there.token = begin_flight(v, page_address, m->token);
    if (at_once) {
        bool taken = ls_line_request(&t->clients[client].below, &there, now);
        t->clients[client].refused = !taken;
        if (!taken)
            end_flight(v, there.token);
        return taken;
    }
    ls_cycle at = now + t->latency;
    t->ready_last = at > t->ready_last ? at : t->ready_last;
    bool first = index_list_empty(&t->ready);
    tlb_keep(t, &t->ready, client, &there, t->ready_last);
    if (first)
        tlb_arm(t, t->ready_last);
    return true;
}

/* -------------------------------------------------------------------------------------------------- questions */

static bool writes(const ls_line_message *m)
{
    return m->kind == LS_LINE_WRITE || m->kind == LS_LINE_ATOMIC;
}

static void ask(tlb *t, tlb_miss *miss, const ls_line_message *m)
{
    miss->address = m->address;
    miss->number = m->number;
    miss->flags = (uint8_t)(t->moves->flags | (writes(m) ? LS_WALK_WRITE : 0));
}

static bool take_miss(tlb *t, uint32_t client, const ls_line_message *m, tlb_miss *miss, ls_cycle now)
{
    if (tlb_is_full(t) || (miss == NULL && t->miss_count == t->spec->mshr_entries))
        return tlb_refuse(t, client);
    bool is_new = miss == NULL;
    if (is_new) {
        miss = tlb_new_miss(t, m->address >> t->page_shift, now);
        ask(t, miss, m);
    }
    line_tap(t->tap, t->region, m, LS_STEP_TRANSLATE);
    tlb_keep(t, &miss->waiting, client, m, 0);
    t->n.accesses++;
    t->n.misses += is_new;
    t->n.mshr_hits += !is_new;
    if (is_new)
        tlb_send_requests(t);
    return true;
}

bool tlb_moves_request(void *self, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    tlb *t = self;
    tlb_moves *v = t->moves;
    if (LS_UNLIKELY(m->kind == LS_LINE_INVALIDATE || m->kind == LS_LINE_FLUSH))
        return pass(t, client, m, NO_PAGE, m->address, now);
    /* A copy engine has physical addresses of host memory; no virtual address looks like one. */
    if ((v->flags & LS_WALK_STAY) != 0 && m->address >> MEM_PLACE_SHIFT == MEM_PLACE_HOST + 1)
        return pass(t, client, m, NO_PAGE, m->address, now);
    tlb_miss *miss = t->miss_count > 0 ? tlb_find_miss(t, m->address >> t->page_shift) : NULL;
    if (miss != NULL)
        return take_miss(t, client, m, miss, now);
    uint32_t at = page_tags_find(&v->known, m->address);
    if (at == TAG_STORE_NONE || (v->frames[at].read_only && writes(m)))
        return take_miss(t, client, m, NULL, now);
    uint64_t offset = m->address & ((UINT64_C(1) << page_tags_size_log2(&v->known, at)) - 1);
    if (!pass(t, client, m, m->address, v->frames[at].physical + offset, now))
        return false;
    t->n.accesses++;
    t->n.hits++;
    return true;
}

/* Requests that the answer serves are ready; from the first one that it does not serve on, all ask again. */
static void take_page(tlb *t, const ls_page_walk *walk, ls_cycle now)
{
    tlb_moves *v = t->moves;
    tlb_miss *miss = &t->misses[walk->token];
    const ls_page *page = &walk->page;
    uint64_t size = UINT64_C(1) << page->size_log2, first = miss->address & ~(size - 1), number = miss->page;
    index_list waiting = miss->waiting;
    v->frames[page_tags_insert(&v->known, first, page->size_log2)] = *page;
    t->n.walk_cycles += now - miss->asked;
    t->ready_last = now > t->ready_last ? now : t->ready_last;
    tlb_forget_miss(t, walk->token);
    miss = NULL;
    for (uint32_t i = waiting.first, next; i != INDEX_NONE; i = next) {
        tlb_node *node = &t->nodes[i];
        uint64_t offset = node->m.address - first;
        next = node->next;
        if (miss != NULL || offset >= size || (page->read_only && writes(&node->m))) {
            if (miss == NULL) {
                miss = tlb_new_miss(t, number, now);
                ask(t, miss, &node->m);
            }
            t->n.again++;
            tlb_put(t, &miss->waiting, i);
            continue;
        }
        node->at = t->ready_last;
        node->m.token = begin_flight(v, node->m.address, node->m.token);
        node->m.address = page->physical + offset;
        line_tap(t->tap, t->region, &node->m, LS_STEP_QUEUE);
        tlb_put(t, &t->ready, i);
    }
}

void tlb_moves_receive(tlb *t, ls_link *link, const ls_page_walk *walk, ls_cycle now)
{
    ls_link_release(link, 1);
    if (walk->kind == LS_WALK_SHOOT) {
        shoot(t, walk, now);
        return;
    }
    take_page(t, walk, now);
    tlb_send_requests(t);
    if (!tlb_drain(t, now))
        tlb_call_refused(t, now); /* a miss entry is free */
}

/* ----------------------------------------------------------------------------------------------------- set-up */

ls_status tlb_set_shootdowns(void *self, uint32_t levels, uint32_t flags, ls_error *err)
{
    tlb *t = self;
    ls_domain *domain = ls_region_domain(t->region);
    tlb_moves *v = ls_domain_alloc(domain, sizeof *v);
    uint32_t flights = FLIGHTS_MAX + (uint32_t)t->spec->queue_entries;
    if (v == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", t->name);
    *v = (tlb_moves){ .tlb = t, .levels = levels, .flags = flags, .flight_count = flights };
    v->flight_pool = INDEX_POOL_NEW;
    v->frames = ls_domain_alloc(domain, t->spec->entries * sizeof *v->frames);
    v->flights = ls_domain_alloc(domain, flights * sizeof *v->flights);
    if (v->frames == NULL || v->flights == NULL ||
        page_tags_init(&v->known, t->page_shift, t->spec->entries, t->spec->ways, domain) != LS_OK)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", t->name);
    t->moves = v;
    return levels > 0 ? ls_line_join(t->cache, &invalidate_client, v, &v->cache, err) : LS_OK;
}

void tlb_moves_waits(const tlb *t, ls_wait_sink *sink)
{
    char detail[96];
    for (uint32_t i = 0; i < MMU_SHOOTDOWNS; i++) {
        const tlb_shootdown *s = &t->moves->shootdowns[i];
        if (!s->is_open)
            continue;
        snprintf(detail, sizeof detail, "shootdown of the page at 0x%llx: %u requests in flight",
                 (unsigned long long)s->address, s->left);
        ls_wait_report(sink, t->name, ls_block_name(t->cache), detail);
    }
}

static uint64_t frame_count(const void *self)
{
    return ((const tlb_moves *)self)->tlb->spec->entries;
}

static uint64_t flight_count(const void *self)
{
    return ((const tlb_moves *)self)->flight_count;
}

const ls_state_row tlb_moves_rows[TLB_MOVES_ROWS] = {
    LS_STATE_FIXED_SPAN(tlb_moves, tlb, flags),        LS_STATE_PART(tlb_moves, known, page_tags_rows),
    LS_STATE_ARRAY(tlb_moves, frames, frame_count),    LS_STATE_ARRAY(tlb_moves, flights, flight_count),
    LS_STATE_DATA_SPAN(tlb_moves, flight_count, acks), LS_STATE_DATA(tlb_moves, shootdowns),
};

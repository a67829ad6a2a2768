/* partition_half.c: slices as one half of an L2 of two. Each address is at home in one half. A core sends its requests to the
 * half that is near; that keeps copies of sectors that are at home in the other one.
 *
 *   read, home far     looked up here; a miss asks the home, whose answer fills a copy and is passed on
 *   other, home far    passed to the home, which answers the core; a copy here is forgotten
 *   write, home here   a copy that the other half may have is forgotten there
 *
 * Neither half can wait for the other for ever. Asked reads have entries for all that can be under way, and at most half
 * of the MSHRs wait for the other half. Requests of the other half have a queue of their own, before that of the
 * cores, and need nothing of the other half but room on the way of answers, which are taken at once. */
#include "engine/link_receiver.h"
#include "model/memory/partition_impl.h"

#define BLOCKS_OF_CORE 32u /* thread blocks, each of which may wait for a semaphore at the home */
#define SPARE 64u

static bool send(partition *p, partition_half_way way, const ls_sector_message *message)
{
    ls_sector_message *slot = ls_link_send(p->ways[way], 1);
    if (slot == NULL)
        return false;
    *slot = *message;
    return true;
}

/* Forgets the sectors of a message. */
static void drop(slice *s, const ls_sector_message *m)
{
    uint32_t dirty;
    if (m->sectors == 0)
        (void)sector_cache_drop(&s->l2, m->address, &dirty);
    for (uint32_t left = sector_cache_has_line(&s->l2, m->address) ? m->sectors : 0; left != 0;
         left &= left - 1)
        (void)sector_cache_drop(&s->l2, m->address + (uint64_t)(uint32_t)__builtin_ctz(left) * SECTOR_BYTES,
                                &dirty);
}

/* --------------------------------------------------------------------------------------------- going there */

static half_step pass(partition *p, slice *s, uint32_t i)
{
    pending_request *r = &p->requests[i];
    const index_links links = INDEX_LINKS(p->requests, next);
    ls_sector_message message = r->message;
    message.away = false;
    if (!send(p, PARTITION_HALF_PASS, &message))
        return HALF_WAIT;
    if (message.kind != LS_SECTOR_READ)
        drop(s, &message);
    (void)partition_take(p, &s->input);
    ls_link_release(r->link, 1);
    index_pool_give(&p->request_pool, links, i);
    ls_domain_pending(p->domain, -1);
    p->n.far_others += ls_sector_count(&message);
    return HALF_GONE;
}

half_step partition_half_step(partition *p, slice *s, uint32_t i)
{
    const ls_sector_message *m = &p->requests[i].message;
    if (m->away && (m->kind != LS_SECTOR_READ || m->semaphore))
        return pass(p, s, i);
    if (m->away)
        return s->away_reads < p->away_most ? HALF_HERE : HALF_WAIT;
    uint8_t *copied = partition_copied(p, s, m->address);
    if (m->half) {
        *copied = 1;
    } else if (m->kind != LS_SECTOR_READ && *copied != 0) {
        const ls_sector_message forget = {
            .address = m->address, .slice = m->slice, .sectors = m->sectors, .kind = LS_SECTOR_WRITE
        };
        if (!send(p, PARTITION_HALF_ANSWER, &forget))
            return HALF_WAIT;
        *copied = 0;
        p->n.far_drops += ls_sector_count(m);
    }
    return HALF_HERE;
}

bool partition_half_ask(partition *p, slice *s, const sector_cache_miss *miss)
{
    const ls_sector_message *first =
        &p->requests[miss->token].message; /* the request that missed, and waits */
    if (!first->away)
        return false;
    const ls_sector_message ask = { .address = miss->address,
                                    .local = first->local,
                                    .slice = LS_SECTOR_SLICE(s - p->slices),
                                    .sectors = miss->sectors & 0xfu,
                                    .kind = LS_SECTOR_READ,
                                    .global = true,
                                    .half = true };
    if (!send(p, PARTITION_HALF_ASK, &ask)) /* there is an entry for each */
        ls_domain_fail(p->domain, "the way to the other half of L2 is full");
    p->n.far_reads += ls_sector_count(&ask);
    return true;
}

/* -------------------------------------------------------------------------------------------- coming here */

static void receive_request(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    partition *p = self;
    const index_links links = INDEX_LINKS(p->requests, next);
    uint32_t i = index_pool_take(&p->request_pool, links);
    pending_request *r = &p->requests[i];
    r->message = *(const ls_sector_message *)payload;
    r->link = link;
    r->ready = now;
    r->entry = COALESCE_NONE;
    slice *s = p->slice_of[r->message.slice];
    partition_put(p, &s->home, i);
    ls_domain_pending(p->domain, 1);
    partition_wake_now(p, s);
}

/* A sector that was asked for, or a copy to forget. */
static void receive_answer(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    partition *p = self;
    const ls_sector_message *m = payload;
    slice *s = p->slice_of[m->slice];
    (void)link, (void)now; /* no buffer entry is kept */
    if (m->kind == LS_SECTOR_WRITE) {
        drop(s, m);
        return;
    }
    s->away_reads -= ls_sector_count(m);
    s->fills[ring_push(&s->fill_ring)] =
        partition_fill_of(m->address, m->sectors) | m->level; /* there is room for all */
    partition_wake_now(p, s);
}

/* -------------------------------------------------------------------------------------------------- set-up */

static uint32_t credits(const void *self, partition_half_way way, uint32_t cores, uint32_t slices)
{
    const partition *p = self;
    uint32_t reads = slices * (uint32_t)(p->spec->l2.mshr_entries / 2 + 1);
    return way == PARTITION_HALF_ASK    ? reads
           : way == PARTITION_HALF_PASS ? SPARE + cores * BLOCKS_OF_CORE
                                        : reads + SPARE;
}

static ls_status join(void *self, ls_link *const ways[PARTITION_HALF_WAYS], ls_error *err)
{
    partition *p = self;
    uint32_t lines = 1;
    while (lines < p->spec->l2.sets * p->spec->l2.ways)
        lines *= 2;
    p->copied_mask = lines - 1;
    for (uint32_t i = 0; i < PARTITION_HALF_WAYS; i++)
        p->ways[i] = ways[i];
    for (uint32_t i = 0; i < p->slice_count; i++) {
        slice *s = &p->slices[i];
        s->copied = ls_domain_alloc(p->domain, lines);
        if (s->copied == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for memory partition '%s'",
                           ls_domain_name(p->domain));
        if (s->l2.prefetch != NULL)
            return ls_fail(err, LS_ERR_UNSUPPORTED, "l2.prefetch does not work with memory.halves");
    }
    return link_receiver_frees(ls_domain_engine(p->domain), receive_answer, err);
}

const partition_half_ops partition_half = {
    .credits = credits,
    .join = join,
    .receive = { [PARTITION_HALF_ASK] = receive_request,
                 [PARTITION_HALF_PASS] = receive_request,
                 [PARTITION_HALF_ANSWER] = receive_answer },
};

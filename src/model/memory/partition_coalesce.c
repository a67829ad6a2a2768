/* partition_coalesce.c: reads of one sector meet in front of a slice (Accel-Sim 2.0's L2 request coalescer). The first has an
 * entry and goes to the cache. Others join it until the entry is full, and are answered after it; the next one then has
 * an entry of its own. Without a free entry a read waits, and so do all requests behind it. */
#include "model/memory/partition_impl.h"

static index_links entry_links(const slice *s)
{
    return (index_links){ .first = &s->coalesce[0].next, .stride = sizeof *s->coalesce };
}

static uint32_t *head_of(const partition *p, const slice *s, uint64_t address)
{
    return &s->coalesce_heads[(uint32_t)(address / SECTOR_BYTES * UINT64_C(0x9e3779b97f4a7c15) >> 40) &
                              p->coalesce_mask];
}

bool partition_coalesce_init(partition *p, slice *s)
{
    uint32_t entries = (uint32_t)p->spec->coalesce_entries, heads = 1;
    if (entries == 0)
        return true;
    while (heads < 2 * entries)
        heads *= 2;
    p->coalesce_mask = heads - 1;
    s->coalesce_pool = INDEX_POOL_NEW;
    s->coalesce = ls_domain_alloc(p->domain, entries * sizeof *s->coalesce);
    s->coalesce_heads = ls_domain_alloc(p->domain, heads * sizeof *s->coalesce_heads);
    return s->coalesce != NULL && s->coalesce_heads != NULL;
}

static void append(partition *p, queue *q, uint32_t i)
{
    index_list_append(&q->list, INDEX_LINKS(p->requests, next), i);
    q->count++;
}

/* An entry for a read; false if there is none. */
static bool lead(partition *p, slice *s, uint32_t i)
{
    pending_request *r = &p->requests[i];
    if (s->coalesce_used == p->spec->coalesce_entries)
        return false;
    uint32_t at = index_pool_take(&s->coalesce_pool, entry_links(s)),
             *head = head_of(p, s, r->message.address);
    s->coalesce[at] = (coalesce_entry){
        .address = r->message.address, .members = INDEX_LIST_EMPTY, .count = 1, .next = *head
    };
    *head = at + 1;
    s->coalesce_used++;
    r->entry = at;
    return true;
}

static bool join(partition *p, slice *s, uint32_t i)
{
    pending_request *r = &p->requests[i];
    for (uint32_t at = *head_of(p, s, r->message.address); at != 0; at = s->coalesce[at - 1].next) {
        coalesce_entry *e = &s->coalesce[at - 1];
        if (e->address != r->message.address || e->count == p->spec->coalesce_requests)
            continue;
        index_list_append(&e->members, INDEX_LINKS(p->requests, next), i);
        e->count++;
        ls_link_release(r->link, 1);
        p->n.coalesced++;
        return true;
    }
    return false;
}

/* Semaphores have values, and the other half of L2 merges its own. */
static bool is_plain_read(const ls_sector_message *m)
{
    return m->kind == LS_SECTOR_READ && !m->semaphore;
}

bool partition_coalesce(partition *p, slice *s, uint32_t i)
{
    const ls_sector_message *m = &p->requests[i].message;
    p->requests[i].entry = COALESCE_NONE;
    if (s->held.count == 0) {
        if (!is_plain_read(m))
            return true;
        if (join(p, s, i))
            return false;
        if (lead(p, s, i))
            return true;
    }
    p->n.coalesce_stalls++;
    s->chores = true;
    append(p, &s->held, i);
    return false;
}

uint32_t partition_coalesce_next(partition *p, slice *s)
{
    while (s->held.count > 0) {
        uint32_t i = s->held.list.first;
        const ls_sector_message *m = &p->requests[i].message;
        bool plain = is_plain_read(m), room = s->coalesce_used < p->spec->coalesce_entries;
        uint32_t at = plain ? *head_of(p, s, m->address) : 0;
        while (at != 0 && (s->coalesce[at - 1].address != m->address ||
                           s->coalesce[at - 1].count == p->spec->coalesce_requests))
            at = s->coalesce[at - 1].next;
        if (plain && at == 0 && !room)
            return COALESCE_NONE;
        (void)index_list_pop(&s->held.list, INDEX_LINKS(p->requests, next));
        s->held.count--;
        if (plain && join(p, s, i))
            continue;
        if (plain)
            (void)lead(p, s, i);
        return i;
    }
    return COALESCE_NONE;
}

void partition_coalesce_answer(partition *p, slice *s, uint32_t i)
{
    uint32_t at = p->requests[i].entry;
    coalesce_entry *e = &s->coalesce[at];
    uint32_t *link = head_of(p, s, e->address);
    while (*link != at + 1)
        link = &s->coalesce[*link - 1].next;
    *link = e->next;
    for (uint32_t left = e->count - 1; left > 0; left--) {
        uint32_t member = index_list_pop(&e->members, INDEX_LINKS(p->requests, next));
        p->requests[member].message.level = p->requests[i].message.level;
        append(p, &s->output, member);
    }
    p->requests[i].entry = COALESCE_NONE;
    index_pool_give(&s->coalesce_pool, entry_links(s), at);
    s->coalesce_used--;
}

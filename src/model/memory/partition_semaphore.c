/* partition_semaphore.c: semaphores in global memory (lockstep/stream.h): their values, and the reads that wait for them at
 * the slice. A read that waits takes no other resource, and is looked up when the value has come. */
#include "model/memory/partition_impl.h"

bool partition_semaphore_init(partition *p)
{
    p->semaphores = ls_domain_alloc(p->domain, SEMAPHORES_MAX * sizeof *p->semaphores);
    return p->semaphores != NULL;
}

static semaphore *find(partition *p, uint64_t address)
{
    uint32_t at = (uint32_t)(address / SECTOR_BYTES % SEMAPHORES_MAX);
    while (p->semaphores[at].address != 0 && p->semaphores[at].address != address + 1)
        at = at + 1 == SEMAPHORES_MAX ? 0 : at + 1;
    semaphore *found = &p->semaphores[at];
    if (found->address == 0) {
        if (p->semaphore_count + 1 == SEMAPHORES_MAX) { /* one place stays free, so that searches end */
            ls_domain_fail(p->domain, "a memory channel has more than 1,019 semaphores");
            return NULL;
        }
        p->semaphore_count++;
        found->address = address + 1;
    }
    return found;
}

/* A request is the youngest for the tags, before those in the delay. */
static void append_input(partition *p, slice *s, uint32_t i)
{
    const index_links links = INDEX_LINKS(p->requests, next);
    index_link_set(links, i, s->delay_first);
    if (s->input.count == 0)
        s->input.list.first = i;
    else
        index_link_set(links, s->input_last, i);
    if (s->delay_count == 0)
        s->input.list.last = i;
    s->input_last = i;
    s->input.count++;
}

/* Those whose value has come go to the end of the input, in the order in which they came. */
static void wake(partition *p, slice *s, uint64_t address, uint64_t value)
{
    if (!s->crowded)
        partition_end_delays(p, s, p->now); /* they have come before */
    for (uint32_t left = s->parked.count; left > 0; left--) {
        uint32_t i = partition_take(p, &s->parked);
        const ls_sector_message *m = &p->requests[i].message;
        if (m->address == address && m->byte_mask <= value)
            append_input(p, s, i);
        else
            partition_put(p, &s->parked, i);
    }
}

bool partition_semaphore(partition *p, slice *s, queue *from, uint32_t i)
{
    const ls_sector_message *m = &p->requests[i].message;
    semaphore *at = find(p, m->address);
    if (at == NULL)
        return true;
    if (m->kind == LS_SECTOR_READ) {
        if (m->byte_mask <= at->value)
            return true;
        (void)partition_take(p, from);
        partition_put(p, &s->parked, i);
        p->n.parked++;
        return false;
    }
    at->value = m->kind == LS_SECTOR_WRITE ? m->byte_mask : at->value + m->byte_mask;
    wake(p, s, m->address, at->value);
    return true;
}

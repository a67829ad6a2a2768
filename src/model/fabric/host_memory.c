/* host_memory.c: CPU memory of the host: a latency and a bandwidth, and the bytes of lines. */
#include "model/fabric/host_impl.h"

static uint64_t bytes_of(const host *h, const ls_line_message *m)
{
    if (m->kind == LS_LINE_READ)
        return h->line_bytes;
    return (uint64_t)(__builtin_popcountll(m->mask[0]) + __builtin_popcountll(m->mask[1]));
}

static void access_bytes(host *h, ls_line_message *m)
{
    ls_host_access(h->memory, m, h->line_bytes);
    h->n.faults += (m->flags & LS_LINE_FAULT) != 0;
    h->n.reads += m->kind == LS_LINE_READ;
    h->n.writes += m->kind == LS_LINE_WRITE;
    h->n.atomics += m->kind == LS_LINE_ATOMIC;
    if (m->kind == LS_LINE_READ)
        h->n.read_bytes += h->line_bytes;
    else if (m->kind == LS_LINE_WRITE)
        h->n.write_bytes += bytes_of(h, m);
}

void host_memory_event(void *self, ls_cycle now)
{
    host *h = self;
    while (!index_list_empty(&h->accesses) && h->jobs[h->accesses.first].ready <= now) {
        uint32_t i = index_list_pop(&h->accesses, host_links(h));
        h->n.memory_cycles += now - h->jobs[i].taken;
        access_bytes(h, &h->jobs[i].body.line);
        host_answer(h, i);
    }
    if (!index_list_empty(&h->accesses))
        host_arm(h, &h->access_event, h->jobs[h->accesses.first].ready);
}

/* The memory serves accesses one after another at its bandwidth; each ends one latency after its bytes have passed. */
static ls_cycle take_turn(host *h, uint64_t bytes, ls_cycle now)
{
    uint64_t start = now << 32, span = bytes * h->byte_time;
    start = start < h->memory_free ? h->memory_free : start;
    h->memory_free = start + span;
    h->n.memory_busy_cycles += (h->memory_free >> 32) - (start >> 32);
    return ((h->memory_free + UINT32_MAX) >> 32) + h->memory_latency;
}

void host_memory_begin(host *h, uint32_t i, ls_cycle now)
{
    host_job *job = &h->jobs[i];
    job->ready = take_turn(h, bytes_of(h, &job->body.line), now);
    index_list_append(&h->accesses, host_links(h), i);
    host_arm(h, &h->access_event, job->ready);
}

ls_cycle host_take_turn(void *self, uint64_t bytes, ls_cycle now)
{
    return take_turn(self, bytes, now);
}

void host_access_line(void *self, ls_line_message *line)
{
    access_bytes(self, line);
}

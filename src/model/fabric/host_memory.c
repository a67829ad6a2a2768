/* host_memory.c: CPU memory of the host: a latency and a bandwidth, and the bytes of lines. */
#include "model/amd_memory/place_memory.h"
#include "model/fabric/host_impl.h"

static uint64_t bytes_of(const host *h, const ls_line_message *m)
{
    if (m->kind == LS_LINE_READ)
        return h->spec->line_bytes;
    return (uint64_t)(__builtin_popcountll(m->mask[0]) + __builtin_popcountll(m->mask[1]));
}

/* Performs the access on the bytes. */
static void access_bytes(host *h, ls_line_message *m)
{
    uint32_t bytes = (uint32_t)h->spec->line_bytes;
    uint32_t state = memory_state(h->memory, m->address);
    bool writes = m->kind != LS_LINE_READ, may = (state & (writes ? LS_PAGE_WRITE : LS_PAGE_READ)) != 0;
    may |= state != 0 && (m->flags & LS_LINE_SYSTEM) != 0;
    m->flags |= may ? 0 : LS_LINE_FAULT;
    m->flags |= state != 0 && !may ? LS_LINE_READ_ONLY : 0;
    h->n.faults += !may;
    if (m->kind == LS_LINE_READ) {
        h->n.reads++;
        h->n.read_bytes += bytes;
        ls_memory_read_line(h->memory, m->address, m->data, bytes);
    } else if (m->kind == LS_LINE_WRITE) {
        h->n.writes++;
        h->n.write_bytes += bytes_of(h, m);
        if (may)
            ls_memory_write_line(h->memory, m->address, m->data, m->mask);
    } else if (m->kind == LS_LINE_ATOMIC) {
        static const uint64_t whole[2] = { UINT64_MAX, UINT64_MAX }, half[2] = { UINT64_MAX, 0 };
        uint8_t line[LS_LINE_BYTES_MAX];
        h->n.atomics++;
        if (!may)
            return;
        ls_memory_read_line(h->memory, m->address, line, bytes);
        ls_line_atomic(m, line);
        ls_memory_write_line(h->memory, m->address, line, bytes == LS_LINE_BYTES_MAX ? whole : half);
    }
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

ls_cycle host_memory_time(ls_block *block, uint64_t bytes, ls_cycle now)
{
    return take_turn(ls_block_state(block), bytes, now);
}

void host_memory_line(ls_block *block, ls_line_message *line)
{
    access_bytes(ls_block_state(block), line);
}

uint32_t host_line_bytes(ls_block *block)
{
    return (uint32_t)((const host *)ls_block_state(block))->spec->line_bytes;
}

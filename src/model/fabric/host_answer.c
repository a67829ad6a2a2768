/* host_answer.c: services for models of slot `host` (lockstep/host.h): accesses to the bytes of host memory, and page
 * walks by the table of a GPU. */
#include "lockstep/host.h"
#include "model/amd_memory/place_memory.h"
#include "model/fabric/host.h"
#include "model/memory/place.h"

#define PAGE_LOG2 12u /* of a question without a size */

bool ls_host_is_own(const ls_fabric_message *m)
{
    return m->class_index == LS_FABRIC_REQUEST || m->class_index == LS_FABRIC_COPY ||
           (m->class_index == LS_FABRIC_WALK && m->kind == MIGRATE_ASK);
}

void ls_host_access(ls_memory *memory, ls_line_message *m, uint32_t line_bytes)
{
    uint32_t state = memory_state(memory, m->address);
    bool writes = m->kind != LS_LINE_READ, may = (state & (writes ? LS_PAGE_WRITE : LS_PAGE_READ)) != 0;
    may |= state != 0 && (m->flags & LS_LINE_SYSTEM) != 0;
    m->flags |= may ? 0 : LS_LINE_FAULT;
    m->flags |= state != 0 && !may ? LS_LINE_READ_ONLY : 0;
    if (m->kind == LS_LINE_READ) {
        ls_memory_read_line(memory, m->address, m->data, line_bytes);
    } else if (m->kind == LS_LINE_WRITE) {
        if (may)
            ls_memory_write_line(memory, m->address, m->data, m->mask);
    } else if (m->kind == LS_LINE_ATOMIC && may) {
        static const uint64_t whole[2] = { UINT64_MAX, UINT64_MAX }, half[2] = { UINT64_MAX, 0 };
        uint8_t line[LS_LINE_BYTES_MAX];
        ls_memory_read_line(memory, m->address, line, line_bytes);
        ls_line_atomic(m, line);
        ls_memory_write_line(memory, m->address, line, line_bytes == LS_LINE_BYTES_MAX ? whole : half);
    }
}

void host_grant(const ls_pages *pages, uint32_t gpu, migrate_body *b)
{
    b->size_log2 = b->size_log2 != 0 ? b->size_log2 : PAGE_LOG2;
    b->address &= ~((UINT64_C(1) << b->size_log2) - 1);
    b->frame = pages->look != NULL ? pages->look(pages->self, b->address).physical
                                   : mem_place_at_home(gpu, b->address);
    b->flags = MIGRATE_WRITE;
}

ls_fabric_class ls_host_answer(const ls_host_wiring *host, const ls_pages *pages, ls_fabric_message *m)
{
    uint16_t from = m->to;
    m->to = m->from;
    m->from = from;
    if (m->class_index == LS_FABRIC_WALK) {
        host_grant(pages, m->to, (migrate_body *)(void *)m->body);
        m->kind = MIGRATE_GRANT;
        m->data_bytes = 0;
        m->wire_bytes = MIGRATE_BODY_WIRE_BYTES;
        m->body_bytes = sizeof(migrate_body);
        return LS_FABRIC_WALK;
    }
    ls_line_message *line = (ls_line_message *)(void *)m->body;
    ls_host_access(host->memory, line, host->line_bytes);
    m->data_bytes = (uint16_t)ls_line_reply_data(line, host->line_bytes);
    m->wire_bytes = (uint16_t)(m->data_bytes + LS_HOST_ANSWER_BYTES);
    m->body_bytes = (uint16_t)(LS_LINE_HEAD_BYTES + m->data_bytes);
    if (m->class_index == LS_FABRIC_REQUEST)
        m->class_index = LS_FABRIC_DATA;
    return (ls_fabric_class)m->class_index;
}

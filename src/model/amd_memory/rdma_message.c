/* rdma_message.c: the messages of RDMA engines (lockstep/rdma.h): classes, sizes and bodies, for all models. */
#include "lockstep/rdma.h"
#include "model/amd_memory/atomic.h"
#include "model/amd_memory/rdma.h"
#include "model/memory/place.h"

#define COPY_REQUEST 0x80u /* of ls_fabric_message.kind: a message of class COPY that is a request to a GPU */

ls_fabric_end ls_rdma_make_end(const ls_rdma_wiring *wiring, uint32_t messages, ls_receive_fn receive,
                               void *self)
{
    ls_fabric_end end = { .name = wiring->name,
                          .number = wiring->number,
                          .region = wiring->region,
                          .line_bytes = wiring->line_bytes,
                          .receive = receive,
                          .receiver = self };
    for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++)
        end.receive_credits[c] = wiring->agent.credits[c];
    end.receive_credits[LS_FABRIC_REQUEST] = end.receive_credits[LS_FABRIC_DATA] =
        end.receive_credits[LS_FABRIC_COPY] = messages;
    return end;
}

void ls_rdma_fault(ls_line_message *line, uint32_t line_bytes)
{
    line->flags |= LS_LINE_FAULT;
    memset(line->data, 0, line_bytes);
}

uint32_t ls_rdma_end_of(const ls_fabric_end *end, uint64_t address)
{
    uint32_t place = mem_place_of(address);
    bool is_host = place == MEM_PLACE_HOST;
    uint32_t number = is_host ? end->ends - 1 : place;
    if (number >= end->ends || number == end->number || end->all == NULL || end->all[number] == NULL ||
        (end->all[number]->number == LS_FABRIC_HOST) != is_host)
        return UINT32_MAX;
    return number;
}

ls_fabric_class ls_rdma_request_class(const ls_fabric_end *end, const ls_line_message *line)
{
    (void)end;
    bool is_copy = (line->flags & LS_LINE_SYSTEM) != 0;
    return is_copy && mem_place_of(line->address) == MEM_PLACE_HOST ? LS_FABRIC_COPY : LS_FABRIC_REQUEST;
}

ls_fabric_class ls_rdma_answer_class(const ls_line_message *line)
{
    return (line->flags & LS_LINE_SYSTEM) != 0 ? LS_FABRIC_COPY : LS_FABRIC_DATA;
}

bool ls_rdma_is_request(const ls_fabric_message *message)
{
    return message->class_index == LS_FABRIC_REQUEST ||
           (message->class_index == LS_FABRIC_COPY && (message->kind & COPY_REQUEST) != 0);
}

void ls_rdma_take_answer(ls_line_message *request, const ls_line_message *answer, uint32_t line_bytes)
{
    uint32_t data_bytes = ls_line_reply_data(answer, line_bytes);
    if (data_bytes != 0)
        ls_line_copy_data(request->data, answer->data, data_bytes);
    request->flags = answer->flags | LS_LINE_FROM_REMOTE;
}

/* ---------------------------------------------------------------------------------------------------- sizes */

/* From the first written byte to the last, in words of four. */
static uint32_t span_of(const uint64_t mask[2])
{
    if ((mask[0] | mask[1]) == 0)
        return 0;
    uint32_t first = (uint32_t)(mask[0] != 0 ? __builtin_ctzll(mask[0]) : 64 + __builtin_ctzll(mask[1]));
    uint32_t last = (uint32_t)(mask[1] != 0 ? 127 - __builtin_clzll(mask[1]) : 63 - __builtin_clzll(mask[0]));
    return (last / 4 - first / 4 + 1) * 4;
}

static uint32_t request_bytes(const ls_line_message *m)
{
    if (m->kind == LS_LINE_READ)
        return 0;
    uint32_t bytes = span_of(m->mask);
    return m->kind == LS_LINE_ATOMIC && line_atomic_is_pair(m->atomic) ? 2 * bytes : bytes;
}

static uint32_t answer_bytes(const ls_line_message *m, uint32_t line_bytes)
{
    if (m->kind == LS_LINE_READ)
        return line_bytes;
    return ls_line_reply_data(m, line_bytes) != 0 ? span_of(m->mask) : 0;
}

/* -------------------------------------------------------------------------------------------------- messages */

/* Of the class of the link that it leaves on; copy_bytes of the line's data are in use. */
static uint32_t fill(ls_fabric_message *out, ls_fabric_class class, const ls_line_message *m,
                     uint32_t data_bytes, uint32_t head_bytes, uint32_t copy_bytes)
{
    bool is_copy = (m->flags & LS_LINE_SYSTEM) != 0;
    out->class_index = (uint8_t)(is_copy ? LS_FABRIC_COPY : class);
    out->kind = (uint8_t)(m->kind | (is_copy && class == LS_FABRIC_REQUEST ? COPY_REQUEST : 0));
    out->data_bytes = (uint16_t)data_bytes;
    out->wire_bytes = (uint16_t)(head_bytes + data_bytes);
    out->body_bytes = (uint16_t)(LS_LINE_HEAD_BYTES + copy_bytes);
    out->address = mem_place_frame(m->address);
    ls_line_message *body = (ls_line_message *)(void *)out->body;
    ls_line_copy(body, m, copy_bytes);
    body->address = out->address;
    return out->wire_bytes;
}

uint32_t ls_rdma_fill_request(ls_fabric_message *out, const ls_fabric_end *from, uint32_t to, uint32_t token,
                              const ls_line_message *line, uint32_t line_bytes)
{
    out->from = (uint16_t)from->number;
    out->to = (uint16_t)to;
    out->token = token;
    return fill(out, ls_rdma_request_class(from, line), line, request_bytes(line), LINE_RDMA_REQUEST_BYTES,
                ls_line_request_data(line, line_bytes));
}

uint32_t ls_rdma_fill_answer(ls_fabric_message *out, const ls_fabric_end *from, uint32_t to, uint32_t token,
                             const ls_line_message *line, uint32_t line_bytes)
{
    out->from = (uint16_t)from->number;
    out->to = (uint16_t)to;
    out->token = token;
    return fill(out, ls_rdma_answer_class(line), line, answer_bytes(line, line_bytes), LINE_RDMA_ANSWER_BYTES,
                ls_line_reply_data(line, line_bytes));
}

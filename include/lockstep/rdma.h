/* rdma.h: the slot `rdma` of machine `amd`: the RDMA engine of a GPU in a system with a fabric. It is the GPU's end of the
 * fabric (lockstep/fabric.h).
 *
 * A model is a block of slot "rdma" that provides the ports "memory" (lockstep/line.h) and "rdma". Requests for memory of
 * other GPUs and of the host come in by the port "memory". Each one crosses the fabric, its owner performs it, and the
 * answer comes back. Requests of other GPUs go to the own L2 slices, through the block `memory` of the wiring.
 *
 * Two rules keep engines from waiting for each other: answers never wait for requests, and no more copies are open to the
 * host than ls_fabric_end.copies of its end says. */
#ifndef LOCKSTEP_RDMA_H
#define LOCKSTEP_RDMA_H

#include "lockstep/fabric.h"
#include "lockstep/line.h"

#define LS_RDMA_SLOT "rdma"
#define LS_RDMA_PORT "rdma"
#define LS_RDMA_INTERFACE "line-rdma/2"

/* The agent for pages whose walks go to the host: it takes messages of the classes WALK, INVALIDATE and MIGRATE. */
typedef struct ls_page_agent {
    void (*receive)(void *self, ls_link *link, const void *payload,
                    ls_cycle now); /* NULL: there is no agent */
    /* A program's request (not LS_LINE_SYSTEM) for a line of another memory goes out. */
    void (*used)(void *self, uint64_t address);
    void *self;
    uint32_t credits[LS_FABRIC_CLASSES]; /* that the end has for it */
} ls_page_agent;

typedef struct ls_rdma_wiring {
    ls_region *region;   /* of the block */
    const char *name;    /* of the block */
    uint32_t number;     /* of the GPU: its end of the fabric */
    uint32_t line_bytes; /* of its caches */
    ls_block *memory;    /* where requests of other GPUs go: ls_line_join() */
    ls_page_agent agent;
} ls_rdma_wiring;

typedef struct ls_rdma_ops {
    /* Before the run, and before requesters join its port "memory". */
    ls_status (*attach)(void *self, const ls_rdma_wiring *wiring, ls_error *err);
    /* The end of the fabric, after attach(). It takes REQUEST, DATA and COPY, and the classes of the agent. */
    ls_fabric_end *(*end)(void *self);
} ls_rdma_ops;

/* --- messages: the same for all models, so that GPUs with different engines understand each other --- */

/* The end of an engine that has room for so many messages of each class of its own; those of the agent come on top. */
LS_API ls_fabric_end ls_rdma_make_end(const ls_rdma_wiring *wiring, uint32_t messages, ls_receive_fn receive,
                                      void *self);
/* The answer to a request for an address that no end has. */
LS_API void ls_rdma_fault(ls_line_message *line, uint32_t line_bytes);
/* The end that has the memory of an address; UINT32_MAX: none. */
LS_API uint32_t ls_rdma_end_of(const ls_fabric_end *end, uint64_t address);
/* The class in which a request leaves: COPY for lines of DMA engines in host memory, else REQUEST. The class of its
 * answer: COPY for all lines of DMA engines, else DATA. */
LS_API ls_fabric_class ls_rdma_request_class(const ls_fabric_end *end, const ls_line_message *line);
LS_API ls_fabric_class ls_rdma_answer_class(const ls_line_message *line);
/* Fills in a message of end `from`; returns its bytes with their header. token: comes back with the answer. */
LS_API uint32_t ls_rdma_fill_request(ls_fabric_message *out, const ls_fabric_end *from, uint32_t to,
                                     uint32_t token, const ls_line_message *line, uint32_t line_bytes);
LS_API uint32_t ls_rdma_fill_answer(ls_fabric_message *out, const ls_fabric_end *from, uint32_t to,
                                    uint32_t token, const ls_line_message *line, uint32_t line_bytes);
/* Puts such a message on the fabric. False: its link has no room, and `retry` runs when it has. */
static inline bool ls_rdma_send_request(const ls_fabric_end *from, uint32_t to, uint32_t token,
                                        const ls_line_message *line, uint32_t line_bytes, ls_event *retry)
{
    ls_link *link = from->send[ls_rdma_request_class(from, line)];
    ls_fabric_message *slot = (ls_fabric_message *)ls_link_send(link, 1);
    if (slot != NULL)
        (void)ls_rdma_fill_request(slot, from, to, token, line, line_bytes);
    else
        ls_link_wait(link, retry);
    return slot != NULL;
}
static inline bool ls_rdma_send_answer(const ls_fabric_end *from, uint32_t to, uint32_t token,
                                       const ls_line_message *line, uint32_t line_bytes, ls_event *retry)
{
    ls_link *link = from->send[ls_rdma_answer_class(line)];
    ls_fabric_message *slot = (ls_fabric_message *)ls_link_send(link, 1);
    if (slot != NULL)
        (void)ls_rdma_fill_answer(slot, from, to, token, line, line_bytes);
    else
        ls_link_wait(link, retry);
    return slot != NULL;
}
/* Whether a message of class REQUEST, DATA or COPY is a request of another GPU; else it is an answer. */
LS_API bool ls_rdma_is_request(const ls_fabric_message *message);
/* The line of a message. */
static inline const ls_line_message *ls_rdma_line(const ls_fabric_message *message)
{
    return (const ls_line_message *)(const void *)message->body;
}
/* Brings the answer of a message into the request: data and flags. */
LS_API void ls_rdma_take_answer(ls_line_message *request, const ls_line_message *answer, uint32_t line_bytes);

#endif

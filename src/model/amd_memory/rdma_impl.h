/* rdma_impl.h: the state of an RDMA engine, for rdma.c (messages) and rdma_type.c (set-up, keys and counters). */
#ifndef MODEL_AMD_MEMORY_RDMA_IMPL_H
#define MODEL_AMD_MEMORY_RDMA_IMPL_H

#include "base/list.h"
#include "model/amd_memory/rdma.h"

/* A request of this GPU. The message has the request until it leaves, and then its answer. */
typedef struct rdma_ask {
    ls_cycle at, taken; /* at: the end of its latency */
    uint32_t next, client;
    uint32_t to; /* end of the fabric */
    bool is_host_copy;
    ls_line_message m;
} rdma_ask;

/* A request of another GPU, likewise. */
typedef struct rdma_serve {
    ls_cycle at, taken;
    ls_link *link; /* that it came over */
    uint32_t next;
    uint32_t token; /* the other engine's */
    uint32_t from;  /* its end of the fabric */
    uint32_t unused;
    ls_line_message m;
} rdma_serve;

typedef struct rdma_client {
    const ls_line_client_ops *ops;
    void *self;
    bool waiting;
} rdma_client;

/* Messages of one class on their way to the fabric. */
typedef struct rdma_way {
    struct rdma *rdma;
    ls_event ready; /* while a message waits for its link */
    bool waits;
} rdma_way;

typedef struct rdma {
    const line_rdma_spec *spec;
    const char *name;
    ls_region *region;
    ls_line_port memory;
    ls_fabric_end end;
    ls_page_agent agent;
    uint32_t line_bytes, client_count;
    rdma_client *clients;
    rdma_ask *asks;
    rdma_serve *serves;
    uint32_t ask_total, serve_total;

    index_pool ask_pool, serve_pool;
    index_list requests, answers;  /* to the fabric: of asks, of serves */
    index_list copies, copied;     /* the same of copies: of asks for the host, of serves */
    index_list incoming, answered; /* from the fabric: of serves, of asks */
    uint32_t in_flight, serving;   /* own requests without an answer; others' without one that has left */
    uint32_t host_copies;          /* that the host has not answered */
    uint32_t out_turn, in_turn;    /* the queue that comes first */
    uint32_t turn;                 /* the client to call first */
    bool memory_refused;
    bool host_known, has_host;
    uint32_t host_copies_max; /* that the host has room for */
    ls_cycle next_step;       /* the first cycle in which messages may pass again */
    ls_event event;
    rdma_way ways[LS_FABRIC_CLASSES];
    line_rdma_counters n;
} rdma;

/* rdma.c */
bool rdma_request(void *self, uint32_t client, const ls_line_message *m, ls_cycle now);
void rdma_receive(void *self, ls_link *link, const void *payload, ls_cycle now);
void rdma_step(void *self, ls_cycle now);
void rdma_link_ready(void *self, ls_cycle now);
extern const ls_line_client_ops rdma_memory_client; /* of the own memory, for requests of other GPUs */

#endif

/* rdma.h: the RDMA engine of a GPU on a fabric: model "line" of slot "rdma". It is the GPU's end of the fabric.
 *
 * Requests for memory of other GPUs (model/memory/place.h) come in by LS_LINE_MEMORY_PORT. Each one crosses the fabric
 * as one message, the owner performs it in its L2, and the answer comes back. Requests of other GPUs go to the own L2
 * slices through a hub of their own. */
#ifndef MODEL_AMD_MEMORY_RDMA_H
#define MODEL_AMD_MEMORY_RDMA_H

#include "lockstep/line.h"
#include "model/fabric/fabric.h"

#define LINE_RDMA_SLOT "rdma"
#define LINE_RDMA_PORT "rdma"
#define LINE_RDMA_INTERFACE "line-rdma/1"

/* Bytes of a message beside its data: akita, mem/mem/protocol.go. */
#define LINE_RDMA_REQUEST_BYTES 12u
#define LINE_RDMA_ANSWER_BYTES 4u

typedef struct line_rdma_wiring {
    uint32_t number;     /* of the GPU: its end of the fabric */
    uint32_t line_bytes; /* of its caches */
    ls_block *memory;    /* where requests of other GPUs go */
    ls_block *agent;     /* page_agent.h: takes messages of the other classes; NULL: none come */
} line_rdma_wiring;

typedef struct line_rdma_ops {
    /* Before the run, and before requesters join its port. */
    ls_status (*attach)(void *self, const line_rdma_wiring *wiring, ls_error *err);
    /* To be offered to the fabric, as FABRIC_END_PART. */
    fabric_end *(*end)(void *self);
} line_rdma_ops;

typedef struct line_rdma_spec {
    uint64_t in_flight, served_in_flight, buffer_messages, latency_cycles, messages_per_cycle;
} line_rdma_spec;

typedef struct line_rdma_counters {
    uint64_t reads, writes, atomics; /* of this GPU in other memories */
    uint64_t faults;                 /* answers that say so */
    uint64_t answers, latency_cycles;
    uint64_t served_reads, served_writes, served_atomics, served_latency_cycles;
    uint64_t bytes_out, bytes_in; /* of messages with their headers, to and from GPUs */
    uint64_t host_bytes_out, host_bytes_in;
    uint64_t data_bytes_out, data_bytes_in;
    uint64_t refused, fabric_waits;
    uint64_t in_flight_peak, served_peak;
} line_rdma_counters;

/* For any model of the slot. */
ls_status line_rdma_attach(ls_block *rdma, const line_rdma_wiring *wiring, ls_error *err);
fabric_end *line_rdma_end(ls_block *rdma);

#endif

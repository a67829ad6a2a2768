/* rdma.h: model "line" of slot "rdma" (lockstep/rdma.h), and calls of any model of it.
 *
 * Requests for memory of other GPUs (model/memory/place.h) cross the fabric as one message each. Requests of other GPUs
 * go to the own L2 slices through a hub of their own. */
#ifndef MODEL_AMD_MEMORY_RDMA_H
#define MODEL_AMD_MEMORY_RDMA_H

#include "lockstep/rdma.h"
#include "engine/fabric_ends.h"

/* Bytes of a message beside its data: akita, mem/mem/protocol.go. */
#define LINE_RDMA_REQUEST_BYTES 12u
#define LINE_RDMA_ANSWER_BYTES 4u

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
ls_status line_rdma_attach(ls_block *rdma, const ls_rdma_wiring *wiring, ls_error *err);
ls_fabric_end *line_rdma_end(ls_block *rdma);

#endif

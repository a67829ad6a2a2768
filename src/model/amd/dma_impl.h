/* dma_impl.h: the state of a DMA engine, for dma.c and dma_type.c (keys, counters and saved state). */
#ifndef MODEL_AMD_DMA_IMPL_H
#define MODEL_AMD_DMA_IMPL_H

#include "base/list.h"
#include "lockstep/dma.h"

#define FLIGHT_MAX 1024u
#define STAGES 4u
#define STAGE_LINES 1024u

typedef struct dma_spec {
    uint64_t in_flight;
    uint64_t copy_in_cycles, copy_out_cycles, copy_cycles;
    uint64_t host_latency_cycles, host_packet_bytes;
    ls_ratio host_bytes_per_cycle;
} dma_spec;

typedef struct dma_counters {
    uint64_t copies_in, copies_out, copies, fills;
    uint64_t bytes_in, bytes_out, bytes_copied, bytes_filled;
    uint64_t lines_read, lines_written;
    uint64_t busy_cycles;
} dma_counters;

/* A requested line. */
typedef struct dma_flight {
    ls_dma_job *job; /* NULL: it is free */
    uint64_t offset; /* of its first wanted byte in the transfer */
    uint16_t first, bytes;
    uint32_t next;    /* of the free ones, or of those that have been read */
    uint16_t written; /* of a stream: bytes that are on their way to the other memory, in so many writes */
    uint8_t open;
    bool is_writing; /* of a stream: it was read */
} dma_flight;

typedef struct dma {
    const dma_spec *spec;
    const char *name;
    ls_region *region;
    ls_dma_job *head, *tail; /* in progress, linked in the clients' memory; the first has the next turn */
    dma_flight flight[FLIGHT_MAX];
    index_pool flight_pool;
    uint32_t flying;
    index_list held;  /* lines of streams that were read and not written */
    uint32_t writing; /* lines of streams that are being written */
    uint32_t holding; /* of the list */
    uint8_t *lines;   /* [flight] */
    uint8_t *stage[STAGES];
    uint32_t stages_free;       /* mask */
    uint64_t in_free, out_free; /* when the host link is free again, in 1 / 2^FRACTION cycles */
    uint64_t byte_cost;         /* of the host link, in 1 / 2^FRACTION cycles */
    ls_dma_job *arriving;       /* its next packet is on the host link */
    uint64_t arriving_bytes;
    ls_cycle busy_since;
    ls_ticker ticker;
    ls_event arrival, later; /* the packet on the host link is here; a transfer may begin */
    bool refused;            /* a request; retry() will follow */
    dma_counters n;
    ls_block *memory; /* the path to L2 */
    ls_line_port port;
    ls_line_message message;
} dma;

ls_status dma_init(ls_block *block, void *state, const void *spec, ls_error *err);
void dma_waits(const void *state, ls_wait_sink *sink);
extern const ls_dma_ops dma_ops;

#endif

/* partition_impl.h: the state of the L2 slices of a channel, for partition.c and partition_state.c only. */
#ifndef MODEL_PARTITION_IMPL_H
#define MODEL_PARTITION_IMPL_H

#include "model/memory/partition.h"

#include "base/list.h"
#include "base/ring.h"
#include "lockstep/l2.h"
#include "lockstep/state.h"
#include "model/cache/sector_cache_state.h"
#include "model/dram/dram.h"
#include "model/memory/mem.h"

#define SLICES_MAX 4

typedef struct partition_counters {
    uint64_t requests, replies;
    uint64_t input_stalls;  /* cycles in which an aged request found the input queue full */
    uint64_t output_stalls; /* cycles in which an answer could not enter the network */
    uint64_t dram_stalls;   /* cycles in which a miss could not go to DRAM */
    sector_cache_counters l2;
} partition_counters;

typedef struct pending_request {
    ls_sector_message message;
    ls_link *link; /* the link whose buffer entry it holds */
    ls_cycle ready;
    uint32_t next;
} pending_request;

typedef struct queue {
    index_list list; /* of pending requests */
    uint32_t count;
} queue;

typedef struct slice {
    queue delay, input, output;
    ls_cycle last_arrival; /* of the output port of the crossbar, which lets `width` through per cycle */
    uint32_t arrived;      /* of them in that cycle */
    ls_cycle next;         /* nothing to do before this cycle */
    uint64_t port_free; /* in hundredths of cycles: when the way out has room for the next answer; port_cost */
    index_ring fill_ring;
    uint64_t *fills; /* sectors that DRAM has brought */
    sector_cache l2;
    ls_event output_event;
    bool output_waiting;
    struct partition *owner;
} slice;

typedef struct partition {
    const partition_spec *spec;
    ls_region *region;
    ls_domain *domain;
    ls_port dram;
    ls_ticker ticker;
    ls_event timer;
    ls_cycle now;
    bool awake; /* it ticks; else the timer stands at the first of the slices' next cycles, if there is any */
    uint32_t width;
    uint32_t
        port_cost; /* hundredths of a cycle that an answer takes of the way out; 0: width is all that counts */
    partition_counters n;
    mem_map map;
    uint32_t slice_count;
    bool line_in_row; /* all sectors of a line are in one row of one bank */
    slice slices[SLICES_MAX];
    ls_link **to_core;
    pending_request *requests;
    uint32_t request_count;
    index_pool request_pool;
    uint64_t *dram_reads; /* by token: the sector that is read */
    uint32_t *dram_next;
    index_pool dram_pool; /* tokens without a read */
    uint32_t dram_tokens;
    const ls_tap *tap;
    struct partition_told *told; /* requests that wait for DRAM; NULL while nobody listens */
} partition;

/* partition_state.c: the state table of the block. */
#define PARTITION_ROWS 16
extern const ls_state_row partition_rows[PARTITION_ROWS];

#endif

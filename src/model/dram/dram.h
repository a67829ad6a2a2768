/* dram.h: the place of a memory channel below the L2 slices, and what its models share.
 *
 * A DRAM block lives in the DRAM clock's region of a memory partition's domain. The partition calls it through the
 * port "dram" from the L2 clock's region; it calls back through its used port "reply". Each request moves one atom of 32
 * bytes. */
#ifndef MODEL_DRAM_H
#define MODEL_DRAM_H

#include "lockstep/block.h"

typedef struct dram_request {
    uint32_t bank, row, column;
    uint32_t token; /* the partition's: given back with the answer */
    bool write;
} dram_request;

/* Provided port, interface "dram/1". */
typedef struct dram_ops {
    /* Can another request be taken now? */
    bool (*ready)(void *self, bool write);
    /* Takes it; only when ready. The DRAM block wakes itself up. */
    void (*push)(void *self, const dram_request *request);
} dram_ops;

/* Used port "reply", interface "dram-reply/1". */
typedef struct dram_reply_ops {
    /* Is there room for one more answer? Asked before each. */
    bool (*ready)(void *self, uint32_t token);
    /* The data of a read is here, or a write is done. Called from the DRAM clock's region. */
    void (*done)(void *self, uint32_t token, bool write);
} dram_reply_ops;

#define DRAM_INTERFACE "dram/1"
#define DRAM_REPLY_INTERFACE "dram-reply/1"

typedef struct dram_counters {
    uint64_t reads, writes;                     /* atoms */
    uint64_t row_hits, row_misses, row_conflicts; /* open row; bank idle; other row open */
    uint64_t activates, precharges, refreshes;
    uint64_t busy_cycles;  /* cycles in which data was on the bus */
    uint64_t active_cycles; /* cycles with a request in the channel */
    uint64_t queue_peak;
    ls_histogram latency; /* DRAM cycles from push to done */
} dram_counters;

#endif

/* dram.h: the place of a memory channel below the L2 slices, and what its models share.
 *
 * A DRAM block lives in the DRAM clock's region of a memory partition's domain. The partition calls it
 * through the port "dram" from the L2 clock's region; it calls back through its used port "reply". A
 * request moves one or more atoms of 32 bytes of one row. Models: `bank` (bank.c: commands, banks and their
 * timing), `fixed` (fixed.c: latency and bandwidth). */
#ifndef MODEL_DRAM_H
#define MODEL_DRAM_H

#include "lockstep/block.h"

#define DRAM_ATOM_BYTES 32u

typedef struct dram_request {
    uint32_t bank, row, column;
    uint32_t token; /* the partition's: given back with the answer */
    bool write;
    uint8_t atoms; /* 0 counts as 1; one queue entry and one answer, one column command for each */
} dram_request;

/* Provided port, interface "dram/1". */
typedef struct dram_ops {
    /* Can another request be taken now? */
    bool (*ready)(void *self, bool write);
    /* Takes it; only when ready. It reaches the channel at the next edge of the DRAM clock, one per cycle.
     * The DRAM block wakes itself up. */
    void (*push)(void *self, const dram_request *request);
} dram_ops;

/* Used port "reply", interface "dram-reply/1". */
typedef struct dram_reply_ops {
    /* Is there room for the data of this read? Asked before each; asked again in the next DRAM cycle if
     * not. The answer to a write needs no room and does not ask. */
    bool (*ready)(void *self, uint32_t token);
    /* The data of a read is here, or a write is done. Called from the DRAM clock's region. */
    void (*done)(void *self, uint32_t token, bool write);
} dram_reply_ops;

/* Books the cycles up to `to` as active: from the first request after a pause on, whenever something moves. A channel that
 * is still busy when it is looked at is so no worse off than one that has come to rest. */
static inline void dram_active_until(uint64_t *active_cycles, ls_cycle *since, ls_cycle to)
{
    if (to > *since) {
        *active_cycles += to - *since;
        *since = to;
    }
}

#define DRAM_INTERFACE "dram/1"
#define DRAM_REPLY_INTERFACE "dram-reply/1"

typedef struct dram_counters {
    uint64_t requests;
    uint64_t reads, writes;                       /* atoms */
    uint64_t row_hits, row_misses, row_conflicts; /* requests: row open; bank idle; other row open */
    uint64_t activates, precharges, refreshes;
    uint64_t busy_cycles;   /* cycles in which data was on the bus */
    uint64_t active_cycles; /* cycles with a request in the channel, as far as it has been run */
    uint64_t queue_peak;
    ls_histogram latency; /* DRAM cycles from push to done */
} dram_counters;

/* The counters that every model has, for its table. */
#define DRAM_METRICS                                                                                          \
    LS_METRIC_COUNTER(dram_counters, requests, "requests", "requests taken"),                                 \
        LS_METRIC_COUNTER(dram_counters, reads, "atoms", "atoms of 32 bytes read"),                           \
        LS_METRIC_COUNTER(dram_counters, writes, "atoms", "atoms of 32 bytes written"),                       \
        LS_METRIC_COUNTER(dram_counters, busy_cycles, "cycles", "DRAM cycles with data on the bus"),          \
        LS_METRIC_COUNTER(dram_counters, active_cycles, "cycles", "DRAM cycles with a request inside"),       \
        LS_METRIC_RATIO(dram_counters, "efficiency", busy_cycles, active_cycles, "",                          \
                        "busy_cycles / active_cycles"),                                                       \
        LS_METRIC_PEAK(dram_counters, queue_peak, "requests", "most requests waiting at once"),               \
        LS_METRIC_HISTOGRAM(dram_counters, latency, "cycles", "DRAM cycles from arrival to answer")

#endif

/* dram.h: memory channels, below the L2 slices of a memory partition.
 *
 * A model is a block of slot "dram" that provides the port "dram" and uses the port "reply". It lives in the
 * DRAM clock's region of the partition's domain; the partition calls it from the L2 clock's region, and it
 * calls back. A request moves one or more atoms of 32 bytes of one row. docs/add-a-block.md builds one from
 * nothing. */
#ifndef LOCKSTEP_DRAM_H
#define LOCKSTEP_DRAM_H

#include "lockstep/block.h"

#include <stdbool.h>

#define LS_DRAM_SLOT "dram"
#define LS_DRAM_PORT "dram"
#define LS_DRAM_INTERFACE "dram/1"
#define LS_DRAM_REPLY_PORT "reply"
#define LS_DRAM_REPLY_INTERFACE "dram-reply/1"
#define LS_DRAM_ATOM_BYTES 32u

typedef struct ls_dram_request {
    uint32_t bank, row, column;
    uint32_t token; /* the partition's: given back with the answer */
    bool write;
    uint8_t atoms; /* 0 counts as 1; one queue entry and one answer for all of them */
} ls_dram_request;

/* Provided port. */
typedef struct ls_dram_ops {
    /* Can another request be taken now? */
    bool (*ready)(void *self, bool write);
    /* Takes it; only when ready. It reaches the channel at the next edge of the DRAM clock. The block wakes
     * itself up. */
    void (*push)(void *self, const ls_dram_request *request);
    /* Takes up to `count` reads of one atom of the row of `request`, which have its token, as if they were pushed one by
     * one. They are answered once, with the last that was taken. Returns how many were taken; 0: none has room.
     * NULL: the model takes them one by one. */
    uint32_t (*push_several)(void *self, const ls_dram_request *request, uint32_t count);
} ls_dram_ops;

/* Used port. */
typedef struct ls_dram_reply_ops {
    /* True if there is room for the data of this read. Called before each; if not, call again in the next DRAM
     * cycle. The answer to a write needs no room. Nothing but done() takes room away. */
    bool (*ready)(void *self, uint32_t token);
    /* The data of a read is here, or a write is done. Called from the DRAM clock's region. */
    void (*done)(void *self, uint32_t token, bool write);
} ls_dram_reply_ops;

/* Counters of every model: reports and `--stats accelsim` look for these. */
typedef struct ls_dram_counters {
    uint64_t requests;
    uint64_t reads, writes;                       /* atoms */
    uint64_t row_hits, row_misses, row_conflicts; /* requests: row open; bank idle; other row open */
    uint64_t activates, precharges, refreshes;
    uint64_t busy_cycles;   /* cycles in which data was on the bus */
    uint64_t active_cycles; /* cycles with a request in the channel, as far as it has been run */
    uint64_t queue_peak;
    ls_histogram latency; /* DRAM cycles from push to done */
} ls_dram_counters;

/* For the table of a model whose counters are an ls_dram_counters; models with rows add theirs. */
#define LS_DRAM_METRICS                                                                                       \
    LS_METRIC_COUNTER(ls_dram_counters, requests, "requests", "requests taken"),                              \
        LS_METRIC_COUNTER(ls_dram_counters, reads, "atoms", "atoms of 32 bytes read"),                        \
        LS_METRIC_COUNTER(ls_dram_counters, writes, "atoms", "atoms of 32 bytes written"),                    \
        LS_METRIC_COUNTER(ls_dram_counters, busy_cycles, "cycles", "DRAM cycles with data on the bus"),       \
        LS_METRIC_COUNTER(ls_dram_counters, active_cycles, "cycles", "DRAM cycles with a request inside"),    \
        LS_METRIC_RATIO(ls_dram_counters, "efficiency", busy_cycles, active_cycles, "",                       \
                        "busy_cycles / active_cycles"),                                                       \
        LS_METRIC_PEAK(ls_dram_counters, queue_peak, "requests", "most requests waiting at once"),            \
        LS_METRIC_HISTOGRAM(ls_dram_counters, latency, "cycles", "DRAM cycles from arrival to answer")

#endif

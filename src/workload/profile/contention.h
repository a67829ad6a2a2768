/* contention.h: contention of cores at L2: requests of an epoch whose sector is already on its way to a slice
 * of L2. An MSHR holds a limited number of them; one more stalls the slice until DRAM has answered. The stall
 * time of slices comes from a replay of the epoch's requests with time. In it cores send a sector per cycle, a
 * slice serves one request after another, and DRAM answers after its latency. Slices are independent within an
 * epoch, so a thread of its own can settle each part of L2. */
#ifndef PROFILE_CONTENTION_H
#define PROFILE_CONTENTION_H

#include "workload/profile/sent.h"

#include <stdbool.h>

#define CONTENTION_ONE 256u /* a slice has stood still for as long as DRAM takes */

typedef struct contention_line {
    uint32_t epoch;
    uint32_t fill[4];   /* cycles from the start of the epoch; 0: not requested */
    uint32_t merged[4]; /* requests that wait */
} contention_line;

/* Results of one part of L2 for each core. */
typedef struct contention_core {
    size_t next;   /* of its list */
    uint64_t done; /* time at which it has all sectors that it requested from this part */
} contention_core;

typedef struct contention {
    uint32_t cores, slices, parts;
    /* By core: the cycle of the epoch in which it sends its first sector, after all earlier ones have arrived.
     * And the cycle in which it has all sectors of this epoch. */
    uint64_t *begin, *done;
    uint64_t *time;         /* by slice: cycles from the start of the epoch, in RATES_ONE */
    contention_line *lines; /* of L2 */
    contention_core *of;    /* [part * cores + core] */
} contention;

typedef struct contention_rules {
    uint32_t latency_cycles; /* of DRAM, in cycles of the core */
    uint32_t slice_cycle;    /* a slice serves a sector, in RATES_ONE */
    uint32_t merge;          /* requests that an MSHR holds */
    uint32_t set_bits;       /* of sent_request.set, below the slice */
} contention_rules;

/* false: the host has no memory left; contention_fini() is due in every case. */
bool contention_init(contention *m, uint32_t cores, uint32_t slices, uint32_t lines);
void contention_fini(contention *m);
bool contention_divide(contention *m, uint32_t parts); /* 1 at first; as contention_init() */

/* An epoch in which a sector on its way is requested again. All parts are settled between these two calls, by
 * any threads. Epochs are numbered from 1. */
void contention_begin(contention *m, const sent_list *sent);
/* How many cycles the slices of the part stood still, all of them together. */
uint64_t contention_settle(contention *m, uint32_t part, const sent_list *sent, const contention_rules *rules,
                           uint32_t epoch);
void contention_end(contention *m);

#endif

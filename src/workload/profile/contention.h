/* contention.h: contention of cores at L2: requests of an epoch that find their sector on its way to a slice of L2. An
 * MSHR holds only so many of them; one more, and the slice does nothing until DRAM has answered. How long
 * slices stand still is found by letting the requests of an epoch pass with time: cores send a sector per
 * cycle, a slice serves one after the other, DRAM answers after its latency. Slices know nothing of each
 * other within an epoch, so each part of L2 can be settled by a thread of its own. */
#ifndef PROFILE_CONTENTION_H
#define PROFILE_CONTENTION_H

#include "workload/profile/sent.h"

#include <stdbool.h>

#define MEET_ONE 256u /* a slice has stood still for as long as DRAM takes */

typedef struct contention_line {
    uint32_t epoch;
    uint32_t fill[4];   /* cycles from the start of the epoch; 0: nobody has asked */
    uint32_t merged[4]; /* requests that wait */
} contention_line;

/* What one part of L2 finds of each core. */
typedef struct contention_core {
    size_t next;   /* of its list */
    uint64_t done; /* when it has all that it asked this part for */
} contention_core;

typedef struct contention {
    uint32_t cores, slices, parts;
    /* By core: cycle of the epoch in which it sends the first sector, because it has all it asked for before;
     * when it has all of this epoch. */
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

/* An epoch in which a sector on its way is asked for again: all parts are settled between these two, by
 * whatever threads. Epochs are numbered from 1. */
void contention_begin(contention *m, const sent_list *sent);
/* How many cycles the slices of the part stood still, all of them together. */
uint64_t contention_settle(contention *m, uint32_t part, const sent_list *sent, const contention_rules *rules,
                           uint32_t epoch);
void contention_end(contention *m);

#endif

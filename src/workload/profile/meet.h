/* meet.h: where cores meet: requests of an epoch that find their sector on its way to a slice of L2. An
 * MSHR holds only so many of them; one more, and the slice does nothing until DRAM has answered. How long
 * slices stand still is found by letting the requests of an epoch pass with time: cores send a sector per
 * cycle, a slice serves one after the other, DRAM answers after its latency. */
#ifndef PROFILE_MEET_H
#define PROFILE_MEET_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define MEET_ONE 256u /* a slice has stood still for as long as DRAM takes */

typedef struct meet_request {
    uint32_t line, slice;     /* line: its number in the level */
    uint32_t at;              /* sectors that the core has sent before */
    uint8_t sectors, pending; /* a bit each; of these, those that were not in L2 before the epoch */
} meet_request;

typedef struct meet_list {
    LS_VEC(meet_request) requests;
    size_t next;
    uint32_t sent;  /* sectors */
    uint64_t begin; /* cycle of the epoch in which it sends the first one: it has all it asked for before */
    uint64_t done;  /* when it has all of this epoch */
} meet_list;

typedef struct meet_line {
    uint32_t epoch;
    uint32_t fill[4];   /* cycles from the start of the epoch; 0: nobody has asked */
    uint32_t merged[4]; /* requests that wait */
} meet_line;

typedef struct meet {
    uint32_t cores, slices;
    meet_list *of;    /* by core */
    uint64_t *time;   /* by slice: cycles from the start of the epoch, in RATES_ONE */
    meet_line *lines; /* of L2 */
    bool shared;      /* a sector of this epoch has been asked for twice while on its way */
} meet;

typedef struct meet_rules {
    uint32_t latency_cycles; /* of DRAM, in cycles of the core */
    uint32_t slice_cycle;    /* a slice serves a sector, in RATES_ONE */
    uint32_t merge;          /* requests that an MSHR holds */
} meet_rules;

/* false: the host has no memory left; meet_fini() is due in every case. */
bool meet_init(meet *m, uint32_t cores, uint32_t slices, uint32_t lines);
void meet_fini(meet *m);
/* A core sends a request; false without memory. */
bool meet_add(meet *m, uint32_t core, meet_request request);
/* Ends the epoch: how long slices stood still in it, all of them together, in MEET_ONE. Epochs are
 * numbered from 1. */
uint64_t meet_settle(meet *m, const meet_rules *rules, uint32_t epoch);

#endif

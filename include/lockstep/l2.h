/* l2.h: the L2 slices of one memory channel, between the cores and DRAM.
 *
 * A model is a block of slot "l2" that provides the port "l2" of this interface, uses the port "dram" and
 * provides the port "reply", both of lockstep/dram.h. It lives in the region of the L2 clock in its channel's
 * domain; DRAM lives in the other region of the domain. docs/add-a-block.md builds one from nothing. */
#ifndef LOCKSTEP_L2_H
#define LOCKSTEP_L2_H

#include "lockstep/dram.h"
#include "lockstep/sector.h"

#define LS_L2_SLOT "l2"
#define LS_L2_PORT "l2"
#define LS_L2_INTERFACE "l2/1"

typedef struct ls_l2_wiring {
    uint32_t channel;
    uint32_t slices;           /* of the channel: ls_sector_message.slice is below */
    const ls_address_map *map; /* outlives the block */
    ls_link *const *to_core;   /* by core; payload: ls_sector_message */
    uint32_t core_count;
    uint32_t requests_max; /* that all links together can deliver before a buffer entry is released */
    bool halves;           /* these slices are part of one half of an L2 of two (memory.halves) */
} ls_l2_wiring;

/* Provided port. */
typedef struct ls_l2_ops {
    /* Once, before the run; not at all if cores send no requests. The arrays of the wiring
     * outlive the block. */
    ls_status (*attach)(void *self, const ls_l2_wiring *wiring, ls_error *err);
    /* A request: its link's buffer entry is released now or later, and an answer goes to its core. */
    void (*receive)(void *self, ls_link *link, const void *payload, ls_cycle now);
    /* Before and between runs: the sector is valid from now on, without time. Memory copies of a trace. */
    void (*warm)(void *self, uint64_t address);
    /* Whether it takes requests for several sectors of a line (ls_sector_message.sectors), before attach(). NULL: it gets none. */
    bool (*takes_lines)(const void *self);
} ls_l2_ops;

#endif

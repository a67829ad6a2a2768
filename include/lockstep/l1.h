/* l1.h: the L1 data cache of one core, between its load/store unit and the network.
 *
 * A model is a block of slot "core.l1" that provides the port "l1" of this interface. It lives in the region of its
 * core. The load/store unit splits accesses into sectors and puts each into the queue of its bank. `latency_cycles`
 * later it looks the sector up, in order within the bank. Requests that the model makes enter the core's queue to
 * the network, and their answers come back through fill(). docs/add-a-block.md builds a block from nothing. */
#ifndef LOCKSTEP_L1_H
#define LOCKSTEP_L1_H

#include "lockstep/block.h"
#include "lockstep/sector.h"

#define LS_L1_SLOT "core.l1"
#define LS_L1_PORT "l1"
#define LS_L1_INTERFACE "l1/1"
#define LS_L1_BANKS 8         /* most banks */
#define LS_L1_LATENCY 512     /* most cycles from the unit to a look-up */
#define LS_L1_NONE UINT32_MAX /* no token */

typedef struct ls_l1_shape {
    uint32_t banks;          /* each takes one sector per cycle: 1 to LS_L1_BANKS */
    uint32_t latency_cycles; /* from the unit to the look-up: 1 to LS_L1_LATENCY */
} ls_l1_shape;

/* The core around it. */
typedef struct ls_l1_wiring {
    uint64_t shared_kib;         /* shared memory that kernels can use */
    uint64_t unified_kib;        /* L1 and shared memory together; 0: L1 has a size of its own */
    ls_uints shared_options_kib; /* sizes that shared memory can be given */
} ls_l1_wiring;

/* One sector of a load or store. */
typedef struct ls_l1_access {
    uint64_t address;   /* of the sector */
    uint32_t byte_mask; /* bytes that a store writes */
    uint32_t token;     /* names the access in answers and requests; never LS_L1_NONE */
    bool store;
    bool global; /* to global memory, else to local memory */
} ls_l1_access;

typedef enum ls_l1_outcome {
    LS_L1_HIT,  /* the access is complete */
    LS_L1_MISS, /* a load waits for answer(), a store for the answer of L2 to its request */
    LS_L1_FAIL, /* not in this cycle: the unit looks it up again in the next one */
} ls_l1_outcome;

/* A sector request for L2. */
typedef struct ls_l1_request {
    uint64_t address;
    uint32_t byte_mask; /* of a write */
    /* Of a read: LS_L1_NONE, and its answer goes to fill(); or the token of a load, which it completes without this
     * cache. Of a write: the token of its store, or LS_L1_NONE for a line that is written back. */
    uint32_t token;
    bool write, global;
} ls_l1_request;

/* Provided port. `now` is the core's cycle. */
typedef struct ls_l1_ops {
    /* Before attach(). */
    void (*describe)(const void *self, ls_l1_shape *out);
    /* Once, before the run. The arrays of the wiring outlive the block. */
    ls_status (*attach)(void *self, const ls_l1_wiring *wiring, ls_error *err);
    ls_l1_outcome (*access)(void *self, const ls_l1_access *access, ls_cycle now);
    /* Takes the oldest request for L2; false: there is none. Called while the core's queue has room. */
    bool (*request)(void *self, ls_l1_request *out, ls_cycle now);
    /* A sector that a read asked for is here. */
    void (*fill)(void *self, uint64_t address, ls_cycle now);
    /* Takes the token of one load that missed and is complete now; false: there is none. The unit asks for one per
     * cycle at least while next() says so. */
    bool (*answer)(void *self, uint32_t *token, ls_cycle now);
    /* The first cycle after `now` in which request() or answer() has something, if nothing else happens before.
     * LS_CYCLE_MAX: there is none. */
    ls_cycle (*next)(const void *self, ls_cycle now);
    /* The first thread block comes to an empty core: kernels use so much shared memory from now on. */
    void (*begin)(void *self, uint64_t shared_bytes);
    /* The last thread block has ended. */
    void (*end)(void *self);
} ls_l1_ops;

#endif

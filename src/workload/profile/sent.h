/* sent.h: requests that the cores of a profile have sent to L2 in an epoch. Cores write their lists, parts of
 * L2 answer in them, cores read the answers. In each of these three steps threads touch disjoint data. */
#ifndef PROFILE_SENT_H
#define PROFILE_SENT_H

#include "base/vec.h"

#include <stdint.h>

enum {
    SENT_WRITE = 1,
    SENT_ATOMIC = 2,
    SENT_BYPASS = 4, /* past L1, and one by one: contention.h ignores it */
    SENT_FETCH = 8,  /* for a line of L1 */
    SENT_FIRST = 16, /* the first sectors that the line fetches in this epoch */
    SENT_WAIT = 32   /* no request: `sectors` of a line of L1 are on their way already */
};

/* Sectors of one line. */
typedef struct sent_request {
    uint64_t line;     /* address / 128 */
    uint32_t set;      /* of L2: slice << bits of a set | set in it */
    uint32_t l1;       /* number of the line in L1 */
    uint32_t at;       /* sectors that the core has sent before; not of SENT_BYPASS */
    uint16_t requests; /* sectors, or transactions of an atomic */
    uint8_t sectors;   /* a bit each */
    uint8_t full;      /* of a store: sectors that are written in all their bytes */
    uint8_t flags;
    /* The answer: */
    uint8_t dram;    /* sectors that DRAM moved for it */
    uint8_t deep;    /* a bit each: came from DRAM, or are on their way from there */
    uint8_t pending; /* a bit each: were not in L2 before the epoch */
    uint32_t l2;     /* number of the line in L2 */
} sent_request;
_Static_assert(sizeof(sent_request) == 32, "lists of requests are what a walk touches most");

/* Of one core. */
typedef struct sent_list {
    LS_VEC(sent_request) requests;
    uint32_t *slots;       /* not its own; by slot of a warp, and one more: requests before its own */
    LS_VEC(uint32_t) * to; /* by part of L2: numbers of requests, ascending */
    uint32_t sectors;      /* sent so far; without those of SENT_BYPASS */
} sent_list;

#endif

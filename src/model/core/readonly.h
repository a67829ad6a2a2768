/* readonly.h: two levels of read-only cache in a core and their path to L2, for instruction caches and
 * constant caches.
 *
 * The first level has one or more caches (one per sub-core for instructions), each with its own miss entries.
 * The second is one per core. It takes one look-up per cycle, with a result `l1_latency_cycles` later. A line
 * that is in neither is read from L2 by sectors, through the core's network port. Lines enter both levels. */
#ifndef MODEL_READONLY_H
#define MODEL_READONLY_H

#include "base/list.h"
#include "base/ring.h"
#include "model/cache/tag_store.h"

#define READONLY_MISSES_MAX 64 /* per first-level cache */
/* Tokens of requests in the core's network from here on belong to read-only caches; below: loads. */
#define READONLY_TOKEN 0x40000000u
/* Code and constants have address spaces of their own in L2, far from the addresses of traces. */
#define READONLY_CODE_SPACE (UINT64_C(1) << 56)
#define READONLY_CONST_SPACE (UINT64_C(2) << 56)

struct core;

typedef struct readonly_spec {
    uint64_t l0_bytes, l0_ways, l1_bytes, l1_ways;
    uint64_t line_bytes; /* of both levels: a power of two */
    uint64_t l1_latency_cycles;
    uint64_t miss_entries;   /* lines on their way, per first-level cache */
    uint64_t prefetch_lines; /* lines prefetched after a missed line */
} readonly_spec;

typedef struct readonly_counters {
    uint64_t l0_hits, l0_misses, l0_pending; /* pending: the line was on its way */
    uint64_t l1_hits, l1_misses, l1_pending;
    uint64_t prefetches;
} readonly_counters;

/* A line on its way to a first-level cache. */
typedef struct readonly_miss {
    uint64_t line;
    ls_cycle ready;     /* when the second level answers */
    uint64_t warps;     /* that wait: instructions */
    index_list waiting; /* flights: constants */
    uint8_t cache;
    bool used, below; /* below: the second level missed, it comes from L2 */
    bool prefetch;    /* not requested yet */
} readonly_miss;

/* A line on its way from L2. */
typedef struct readonly_fill {
    uint64_t line;
    uint8_t sent, arrived; /* sectors */
    bool used;
} readonly_fill;

typedef struct readonly {
    const readonly_spec *spec;
    readonly_counters *n;
    uint32_t caches, number; /* number: of this pair of levels in the core */
    uint32_t line_shift, sectors;
    tag_store l0[4], l1;
    bool *prefetched[4];   /* by entry of l0, and not used yet */
    readonly_miss *misses; /* [cache * miss_entries] */
    readonly_fill *fills;  /* as many */
    uint32_t total;
    index_ring look_ring, send_ring; /* misses that the second level looks up; fills with sectors to send */
    uint16_t *looks, *sends;
    ls_cycle look_free; /* first cycle in which the second level takes another look-up */
    /* The line has arrived: its waiters continue. The entry is free afterwards. */
    void (*filled)(struct core *c, readonly_miss *miss);
} readonly;

typedef enum readonly_outcome { READONLY_HIT, READONLY_WAIT, READONLY_FULL } readonly_outcome;

/* For messages: the prefix of the keys, and their names of the levels. */
ls_status readonly_check(const readonly_spec *spec, const char *prefix, const char *first, const char *second,
                         ls_error *err);
bool readonly_init(readonly *r, const readonly_spec *spec, readonly_counters *counters, uint32_t caches,
                   uint32_t number, ls_domain *domain);
/* A kernel's place in one of the address spaces: launches of one function share it. */
uint64_t readonly_base(uint64_t space, const char *kernel_name);
/* READONLY_WAIT: *miss is the entry to wait in; READONLY_FULL: no entry, try again after the next
 * filled(). */
readonly_outcome readonly_access(struct core *c, readonly *r, uint32_t which, uint64_t address,
                                 readonly_miss **miss);
void readonly_cycle(struct core *c, readonly *r);
void readonly_reply(struct core *c, readonly *r, uint32_t token);
ls_cycle readonly_next(const struct core *c, const readonly *r); /* as ldst_next() */

#endif

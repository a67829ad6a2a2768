/* tlb.h: address translation of one core: an L1 TLB, the core's view of an L2 TLB, and page-table walkers.
 *
 * Only time is modelled: pages lie where their addresses say. Latencies are fixed and walkers are few. So the
 * end of a translation is known when it is requested, and a TLB needs no clock of its own. Entries that other
 * cores bring into a real shared L2 TLB are not modelled: shared state of two cores would have to travel over
 * links. */
#ifndef MODEL_TLB_H
#define MODEL_TLB_H

#include "model/cache/tag_store.h"

#define TLB_MISSES_MAX 256
#define TLB_WALKERS_MAX 64

typedef struct tlb_spec {
    uint64_t entries, ways;
    uint64_t page_kib;            /* a power of two */
    uint64_t miss_entries;        /* pages that can be on their way */
    uint64_t l2_entries, l2_ways; /* 0 entries: none, every miss walks */
    uint64_t l2_latency_cycles, walk_latency_cycles;
    uint64_t walkers; /* page-table walks at once */
} tlb_spec;

typedef struct tlb_counters {
    uint64_t accesses; /* hits + misses + pending_hits */
    uint64_t hits, misses, pending_hits;
    uint64_t full; /* tries that found no free miss entry */
    uint64_t l2_hits, walks;
    uint64_t walk_cycles;      /* of all walks together */
    uint64_t walk_wait_cycles; /* before them, for a free walker */
} tlb_counters;

typedef enum tlb_outcome {
    TLB_HIT,
    TLB_WAIT, /* known at *ready */
    TLB_FULL, /* no miss entry: try again at *ready */
} tlb_outcome;

typedef struct tlb_miss {
    uint64_t page;
    ls_cycle ready;
} tlb_miss;

typedef struct tlb {
    const tlb_spec *spec;
    tlb_counters *n;
    uint32_t page_shift;
    tag_store l1, l2;
    uint32_t miss_count;
    tlb_miss misses[TLB_MISSES_MAX]; /* in the order of their beginning */
    ls_cycle walker_free[TLB_WALKERS_MAX];
} tlb;

/* Checks that ranges of single keys cannot express: multiples and powers of two. */
ls_status tlb_check(const tlb_spec *spec, ls_error *err);
/* spec and counters outlive the TLB; false when the host has no memory left. */
bool tlb_init(tlb *t, const tlb_spec *spec, tlb_counters *counters, ls_domain *domain);
/* now never decreases from call to call. */
tlb_outcome tlb_translate(tlb *t, uint64_t address, ls_cycle now, ls_cycle *ready);

#endif

/* sector_cache.h: a sectored, set-associative cache with miss-status registers: tags, replacement, write
 * policies, and the list of requests to send below. L1 and L2 are both made of it; time and ports are their
 * owners' business.
 *
 * The rules of lines and sectors follow the caches of GPGPU-Sim 4 (formats/accelsim.md, sections "L1D" and "L2
 * slice"). A miss allocates, each 32-byte sector has its own MSHR, and partially written sectors are
 * unreadable until fetched. */
#ifndef MODEL_SECTOR_CACHE_H
#define MODEL_SECTOR_CACHE_H

#include "base/list.h"
#include "lockstep/engine.h"
#include "lockstep/metric.h"
#include "lockstep/param.h"
#include "model/cache/tag_store.h"
#include "model/policy/prefetch.h"
#include "model/policy/write_policy.h"

#include <stdbool.h>
#include <stdint.h>

#define SECTOR_CACHE_LINE_BYTES 128u
#define SECTOR_BYTES 32u
#define SECTOR_CACHE_NONE UINT32_MAX

/* A read of a sector on its way whose MSHR is full of requests. Either it fails and is tried again, so that
 * all later requests wait too (Accel-Sim), or it alone waits at the MSHR. */
typedef enum sector_cache_merge_stall {
    SECTOR_CACHE_STALL_QUEUE,
    SECTOR_CACHE_STALL_REQUEST
} sector_cache_merge_stall;

typedef struct sector_cache_spec {
    uint64_t sets, ways; /* sets: a power of two */
    uint64_t mshr_entries, mshr_merge;
    uint64_t miss_queue;
    uint64_t dirty_limit_percent; /* dirty lines are spared while fewer than this are dirty */
    uint32_t write_policy;
    uint32_t replacement; /* replacement_kind, or a plug-in's number */
    set_hash_spec hash;
    prefetch_spec prefetch;
    uint32_t merge_stall; /* sector_cache_merge_stall */
} sector_cache_spec;

/* Of one kind of access: reads and writes apart. */
typedef struct sector_cache_split {
#define COUNTER(name_, unit_, help_)
#define SPLIT(name_, help_) uint64_t name_;
#define PREFETCHES(name_)
#include "model/cache/sector_cache_counters.def"
} sector_cache_split;

/* accesses = hits + misses + sector_misses + pending_hits. */
typedef struct sector_cache_counters {
#define COUNTER(name_, unit_, help_) uint64_t name_;
#define SPLIT(name_, help_)
#define PREFETCHES(name_) prefetch_counters name_; /* in sectors */
#include "model/cache/sector_cache_counters.def"
    /* The same accesses by purpose: global memory, or the rest (local memory, instructions and so on). */
    sector_cache_split global, other;
} sector_cache_counters;

typedef enum sector_cache_outcome {
    SECTOR_CACHE_HIT,
    SECTOR_CACHE_MISS,    /* a request for the sector is in the miss queue */
    SECTOR_CACHE_PENDING, /* waits for a fill that is on its way */
    SECTOR_CACHE_FAIL,    /* no line, MSHR or queue entry: try again */
    SECTOR_CACHE_STALLED, /* kept: sector_cache_has_retry() gives it back when its sector's MSHR is free */
} sector_cache_outcome;

typedef enum sector_cache_miss_kind {
    SECTOR_CACHE_MISS_READ,
    SECTOR_CACHE_MISS_WRITE,
    SECTOR_CACHE_MISS_WRITEBACK
} sector_cache_miss_kind;

/* Something to send to the level below. */
typedef struct sector_cache_miss {
    uint64_t address; /* of the sector, or of the line for a write-back */
    uint32_t byte_mask;
    uint32_t token;
    uint8_t kind; /* sector_cache_miss_kind */
    uint8_t
        sectors; /* of a write-back, and of a read of several sectors; then the address is that of the line */
} sector_cache_miss;

/* The payload of an entry of the tag store. */
typedef struct sector_cache_line {
    uint8_t valid, pending, dirty, readable; /* a bit per sector */
    uint8_t modified_on_fill, readable_on_fill;
    uint8_t prefetched; /* and not read yet */
    uint32_t dirty_bytes[4];
    uint32_t mshr;   /* that was last taken for sectors of it; another's by now if none of these is pending */
    uint32_t unused; /* a size that is a power of two: one shift finds a line */
} sector_cache_line;

typedef struct sector_cache_mshr {
    uint64_t address;                     /* of the sector; of several, of the first */
    uint32_t first, last;                 /* waiting requests; none while only a prefetch waits */
    uint32_t stalled_first, stalled_last; /* requests that found it full, oldest first */
    uint32_t count;
    uint32_t line;
    uint32_t next;   /* in the list of ready ones, or of free ones */
    uint32_t chain;  /* the next of its hash, + 1 */
    uint8_t atomic;  /* sectors that an atomic waits for, a bit each */
    uint8_t level;   /* of the answer that filled it, as its owner numbers them */
    uint8_t sectors; /* that are fetched together, a bit each; 0: one */
    uint8_t more;    /* sectors after the first: each counts as an entry */
} sector_cache_mshr;

typedef struct sector_cache_waiter {
    uint32_t token, next;
} sector_cache_waiter;

/* A read that found no MSHR: it is tried again in every cycle, in vain until something changes. */
typedef struct sector_cache_starved {
    uint64_t address; /* + 1 */
    uint64_t changes; /* at that time */
} sector_cache_starved;
#define SECTOR_CACHE_STARVED 8u /* a power of two */

/* The address of an index address near that of another one: where the two differ, the cache's owner knows how.
 * UINT64_MAX: there is none. */
typedef uint64_t (*sector_cache_address_fn)(void *owner, uint64_t index_address, uint64_t near_address);

typedef struct sector_cache {
    const sector_cache_spec *spec;
    sector_cache_counters *counters;
    sector_cache_split *split; /* of the counters: the purpose of the next access
                                * (sector_cache_set_global()) */
    tag_store tags;            /* keys are addresses of lines */
    sector_cache_line *lines;  /* by entry */
    uint32_t line_count, dirty_lines;
    uint64_t changes;      /* after which a read that found no MSHR may do better; they are counted */
    uint64_t starved_last; /* changes when the last of them failed */
    sector_cache_starved starved[SECTOR_CACHE_STARVED]; /* by the address of the sector */
    uint32_t last_line;                                 /* the line that was last found; else any line */
    sector_cache_mshr *mshrs;
    uint32_t *mshr_index; /* hash of sector addresses -> mshr + 1, the first of a chain */
    uint32_t mshr_index_mask, mshr_count;
    index_pool mshr_pool;
    uint32_t ready_first, ready_last; /* filled MSHRs whose requests still have to be answered */
    sector_cache_waiter *waiters;
    index_pool waiter_pool;
    uint32_t waiter_count;
    uint32_t retry_first, retry_last; /* stalled requests whose MSHR is free again, oldest first */
    uint32_t stalled_count;           /* requests that wait at full MSHRs */
    sector_cache_miss *misses;        /* ring */
    uint32_t (*miss_bytes)[4];        /* of the write-backs in it: which bytes of each sector */
    uint32_t miss_head, miss_tail, miss_mask;
    prefetcher *prefetch; /* NULL: none */
    sector_cache_address_fn address_of;
    void *address_owner;
    bool touched;
    bool spares_way;  /* during a read: its line may not take the last way of a set that waits for nothing */
    bool empty_later; /* sector_cache_invalidate() when the prefetches on their way are here */
} sector_cache;

/* Requests that can wait for fills at a time, merged and stalled. */
uint32_t sector_cache_waiters_max(const sector_cache_spec *spec);
/* Memory comes from the domain, once. counters outlives the cache. Fails when the host has no memory left, or for a
 * policy that cannot be. */
ls_status sector_cache_init(sector_cache *c, const sector_cache_spec *spec, sector_cache_counters *counters,
                            ls_domain *domain, ls_error *err);
/* Uses only the first `ways` ways of each set from now on; the cache must be empty of pending fills. */
void sector_cache_set_ways(sector_cache *c, uint32_t ways);
/* Forgets everything; dirty data too. No fill may be pending. */
void sector_cache_invalidate(sector_cache *c);
/* The same as soon as prefetches on their way have come. */
void sector_cache_invalidate_later(sector_cache *c);
/* For a cache whose index addresses are not its addresses, if it prefetches. */
void sector_cache_set_addresses(sector_cache *c, sector_cache_address_fn address_of, void *owner);
/* Puts dirty lines into the miss queue until it is full, from line *cursor on (0 at first), and leaves them
 * clean. False when none is left. */
bool sector_cache_clean(sector_cache *c, uint32_t *cursor);

/* Whether a line, or a part of it, is here or on its way. */
static inline bool sector_cache_has_line(const sector_cache *c, uint64_t line_address)
{
    return tag_store_look(&c->tags, line_address) != TAG_STORE_NONE;
}
/* Forgets one sector. False: its fill is on its way, nothing is done. *dirty_bytes: what was written here and is lost unless
 * the owner writes it below. */
bool sector_cache_drop(sector_cache *c, uint64_t address, uint32_t *dirty_bytes);

/* Whether the accesses from here on are to global memory; they are at first. */
static inline void sector_cache_set_global(sector_cache *c, bool global)
{
    c->split = global ? &c->counters->global : &c->counters->other;
}

/* One sector. index_address: the address that picks the set (L2 slices strip the channel bits), tag_address
 * the real one. An atomic read leaves the sector dirty. A read that does not hit is answered by
 * sector_cache_next_ready() after its fill. */
sector_cache_outcome sector_cache_read(sector_cache *c, uint64_t tag_address, uint64_t index_address,
                                       uint32_t token, bool atomic);
/* byte_mask: which of the 32 bytes are written. SECTOR_CACHE_HIT and SECTOR_CACHE_MISS both mean that it is done. */
sector_cache_outcome sector_cache_write(sector_cache *c, uint64_t tag_address, uint64_t index_address,
                                        uint32_t byte_mask, uint32_t token);
/* Several sectors of one line, a bit each. A read that does not hit is answered by sector_cache_next_ready() `waits` times, once for each
 * MSHR that it waits for. All sectors that it fetches have one MSHR and one entry of the miss queue. Not for caches that prefetch. */
typedef struct sector_cache_part {
    uint32_t waits;
    uint32_t missed; /* sectors that it fetches, a bit each */
} sector_cache_part;
sector_cache_outcome sector_cache_read_part(sector_cache *c, uint64_t line_address, uint64_t index_address,
                                            uint32_t sectors, uint32_t token, sector_cache_part *out);
/* Writes whole sectors of one line at once. False: it has done nothing, and they have to be written one by one. */
bool sector_cache_write_part(sector_cache *c, uint64_t line_address, uint64_t index_address, uint32_t sectors);
/* The sectors of such an entry of the miss queue came from below. */
void sector_cache_fill_part(sector_cache *c, uint64_t line_address, uint32_t sectors, uint8_t level);

/* The data of a sector came from below. */
void sector_cache_fill_from(sector_cache *c, uint64_t address, uint8_t level);
static inline void sector_cache_fill(sector_cache *c, uint64_t address)
{
    sector_cache_fill_from(c, address, 0);
}
static inline bool sector_cache_has_ready(const sector_cache *c)
{
    return c->ready_first != SECTOR_CACHE_NONE;
}
/* The owner has taken all requests of the first filled MSHR. */
void sector_cache_end_ready(sector_cache *c);
/* One answered request per call; false if there is none. */
bool sector_cache_next_ready(sector_cache *c, uint32_t *token);
/* Of the request that sector_cache_next_ready() would give; there must be one. */
static inline uint8_t sector_cache_ready_level(const sector_cache *c)
{
    return c->mshrs[c->ready_first].level;
}
static inline uint32_t sector_cache_peek_ready(const sector_cache *c)
{
    return c->waiters[c->mshrs[c->ready_first].first].token;
}
/* With SECTOR_CACHE_STALL_REQUEST: stalled requests that are to be looked up again, before any younger request. The
 * owner looks the first one up with its old token; unless that fails, it calls sector_cache_pop_retry(). */
static inline bool sector_cache_has_retry(const sector_cache *c)
{
    return c->retry_first != SECTOR_CACHE_NONE;
}
static inline uint32_t sector_cache_peek_retry(const sector_cache *c)
{
    return c->waiters[c->retry_first].token;
}
void sector_cache_pop_retry(sector_cache *c);
/* A write whose sector has stalled requests must wait after them, so that the order per address is kept:
 * SECTOR_CACHE_STALLED or SECTOR_CACHE_FAIL. SECTOR_CACHE_HIT: there are none, nothing is done. */
sector_cache_outcome sector_cache_stall_write(sector_cache *c, uint64_t address, uint32_t token);
/* Marks a sector valid without any request: warm-up. */
void sector_cache_warm(sector_cache *c, uint64_t tag_address, uint64_t index_address);

static inline bool sector_cache_has_miss(const sector_cache *c)
{
    return c->miss_head != c->miss_tail;
}
static inline const sector_cache_miss *sector_cache_front_miss(const sector_cache *c)
{
    return c->miss_head == c->miss_tail ? NULL : &c->misses[c->miss_head & c->miss_mask];
}
/* Of a write-back at the front: takes its next sector, and says which of its bytes are dirty; the line leaves
 * the queue with its last sector. */
uint64_t sector_cache_pop_sector(sector_cache *c, uint32_t *byte_mask);
static inline void sector_cache_pop_miss(sector_cache *c)
{
    c->miss_head++;
}
static inline uint32_t sector_cache_pending_fills(const sector_cache *c)
{
    return c->mshr_count;
}

/* The keys of a cache's policies, for the tables of the blocks that have a sector_cache_spec as `field`. */
/* clang-format off */
#define SECTOR_CACHE_POLICY_PARAMS(spec_, field, prefix, hash_)                                                       \
    REPLACEMENT_PARAM(spec_, field.replacement, prefix),                                                      \
    SET_HASH_PARAMS(spec_, field.hash, prefix, hash_),                                                        \
    PREFETCH_PARAMS(spec_, field.prefetch, prefix)
/* simulated: the condition under which the cache is simulated at all. */
#define SECTOR_CACHE_POLICY_NEEDS(prefix, simulated)                                                                 \
    { prefix "hash_masks", prefix "hash=bits" }, { prefix "prefetch*", simulated }, PREFETCH_NEEDS(prefix)
/* clang-format on */

#endif

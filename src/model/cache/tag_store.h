/* tag_store.h: the tags of every set-associative structure: the caches of both vendors, their TLBs and MMU, read-only
 * caches and the levels of profiles. It maps keys (addresses, pages, line numbers) to entries, picks sets, and orders
 * the entries of a set by the policies of model/policy. The owner keeps its payload (sectors, bytes, frames) in arrays
 * of its own, by the number of the entry. Knows nothing about time.
 *
 * Keys are found by hash and LRU is a list, so that 256 ways cost what 4 do. Entries of one way lie side by side: neighbouring
 * lines of memory are in neighbouring sets, so a cache that is filled a little touches few pages of the host. */
#ifndef MODEL_CACHE_TAG_STORE_H
#define MODEL_CACHE_TAG_STORE_H

#include "base/list.h"
#include "lockstep/engine.h"
#include "model/policy/replacement.h"
#include "model/policy/set_hash.h"

#include <stdbool.h>
#include <stdint.h>

#define TAG_STORE_NONE INDEX_NONE

typedef struct tag_store_spec {
    uint32_t sets, ways;
    uint32_t replacement;      /* replacement_kind, or a plug-in's number */
    const set_hash_spec *hash; /* NULL: none */
    uint32_t line_bytes;       /* for hashes by masks of address bits */
    bool accelsim;             /* as in set_hash_fill() */
} tag_store_spec;

typedef struct tag_store_entry {
    uint64_t tag;          /* its key + 1; 0: empty */
    uint32_t chain;        /* the next entry of its hash, + 1; 0: none */
    uint32_t older, newer; /* in its set, unless it is empty */
    uint32_t set;          /* likewise */
} tag_store_entry;

typedef struct tag_store_set {
    index_order order; /* of its keys: by use (LRU), otherwise by arrival */
    uint32_t used;     /* ways [0, used) have had a key */
    uint32_t dropped;  /* of these, empty ones */
} tag_store_set;

/* Invariants: each entry with a tag is in the order of its set and in the chain of its hash, an empty one in neither.
 * Entries in memory of the host are defined from their first use on. */
typedef struct tag_store {
    tag_store_entry *entries; /* by tag_store_at() */
    tag_store_set *sets;
    uint32_t *heads;              /* by hash: entry + 1 */
    uint32_t (*hash)[256];        /* set_hash.h; NULL: the lowest bits of a number are its set */
    set_hash_plugin *hash_plugin; /* asked instead of the table, which is there but empty; NULL: none */
    uint32_t set_count, ways, head_shift;
    uint32_t set_mask; /* TAG_STORE_NONE: sets are no power of two */
    uint32_t kind;     /* replacement_kind, or a plug-in's number */
    uint32_t limit;    /* ways that are used */
    uint32_t present;  /* entries with a key */
    replacement policy;
} tag_store;

/* Memory comes from the domain. Without one it comes from the host (LRU and FIFO only, no hash of a plug-in), and tag_store_fini() is due in
 * every case. Fails when the host has no memory left, or for policies that cannot be. */
ls_status tag_store_init(tag_store *s, const tag_store_spec *spec, ls_domain *domain, ls_error *err);
void tag_store_fini(tag_store *s);
/* LRU, and the lowest bits pick the set. */
ls_status tag_store_init_plain(tag_store *s, uint64_t sets, uint64_t ways, ls_domain *domain, ls_error *err);
/* Forgets all keys. */
void tag_store_clear(tag_store *s);

/* ------------------------------------------------------------------------------------------ sets and look-ups */

/* The set of a line or page by its number. */
static inline uint32_t tag_store_set_of(const tag_store *s, uint64_t number)
{
    if (s->hash != NULL)
        number = LS_LIKELY(s->hash_plugin == NULL) ? set_hash_of(s->hash, number)
                                                   : set_hash_ask(s->hash_plugin, number);
    return LS_LIKELY(s->set_mask != TAG_STORE_NONE) ? (uint32_t)number & s->set_mask
                                                    : (uint32_t)(number % s->set_count);
}

static inline uint32_t tag_store_head(const tag_store *s, uint64_t tag)
{
    return (uint32_t)((tag * UINT64_C(0x9e3779b97f4a7c15)) >> s->head_shift);
}

static inline uint32_t tag_store_count(const tag_store *s)
{
    return s->set_count * s->ways;
}

/* The entry of a way of a set. Entries of one set are ordered as their ways. */
static inline uint32_t tag_store_at(const tag_store *s, uint32_t set, uint32_t way)
{
    return way * s->set_count + set;
}

/* The set and the way of an entry, which may be empty. */
static inline uint32_t tag_store_set_at(const tag_store *s, uint32_t entry)
{
    return LS_LIKELY(s->set_mask != TAG_STORE_NONE) ? entry & s->set_mask : entry % s->set_count;
}

static inline uint32_t tag_store_way_at(const tag_store *s, uint32_t entry)
{
    return entry / s->set_count;
}

/* For walks over all entries, by set and then by way: the first entry from the cursor on that may have a key, with the cursor at it.
 * TAG_STORE_NONE: there is none. The next step begins at the cursor + 1. */
static inline uint32_t tag_store_walk(const tag_store *s, uint32_t *cursor)
{
    uint32_t set = *cursor / s->ways, way = *cursor - set * s->ways;
    for (; set < s->set_count; set++, way = 0)
        if (way < s->sets[set].used) {
            *cursor = set * s->ways + way;
            return tag_store_at(s, set, way);
        }
    *cursor = tag_store_count(s);
    return TAG_STORE_NONE;
}

static inline bool tag_store_has(const tag_store *s, uint32_t entry)
{
    return s->entries[entry].tag != 0;
}

static inline uint64_t tag_store_key(const tag_store *s, uint32_t entry) /* it is not empty */
{
    return s->entries[entry].tag - 1;
}

/* The entry of a key, which keeps its age; TAG_STORE_NONE if it is not known. */
static inline uint32_t tag_store_look(const tag_store *s, uint64_t key)
{
    uint64_t tag = key + 1;
    uint32_t i = s->heads[tag_store_head(s, tag)];
    while (i != 0 && s->entries[i - 1].tag != tag)
        i = s->entries[i - 1].chain;
    return i - 1;
}

/* --------------------------------------------------------------------------------------------------- the order */

/* Makes it the newest of its set under any policy. */
static inline void tag_store_renew(tag_store *s, uint32_t entry)
{
    tag_store_set *set = &s->sets[s->entries[entry].set];
    if (set->order.newest != entry)
        index_order_renew(&set->order, INDEX_LINKS(s->entries, older), INDEX_LINKS(s->entries, newer), entry);
}

/* For policies that are no order (replacement.h). Apart, so that LRU has no call in its way. */
void tag_store_policy_use(tag_store *s, uint32_t entry);
uint32_t tag_store_choose(tag_store *s, uint32_t set, const uint64_t *allowed);

static inline void tag_store_use(tag_store *s, uint32_t entry)
{
    if (LS_LIKELY(s->kind == REPLACEMENT_LRU))
        tag_store_renew(s, entry);
    else if (!replacement_is_order(s->kind))
        tag_store_policy_use(s, entry);
}

/* The next to go, unless its owner keeps it; then tag_store_newer() is the next. */
static inline uint32_t tag_store_oldest(const tag_store *s, uint32_t set)
{
    return s->sets[set].order.oldest;
}

static inline uint32_t tag_store_newer(const tag_store *s, uint32_t entry)
{
    return s->entries[entry].newer;
}

/* The first of the empty entries that had a key; there is one. */
uint32_t tag_store_dropped(const tag_store *s, uint32_t set);

/* The first empty entry of a set; TAG_STORE_NONE: it is full. */
static inline uint32_t tag_store_empty(tag_store *s, uint32_t set)
{
    const tag_store_set *at = &s->sets[set];
    if (LS_UNLIKELY(at->dropped != 0))
        return tag_store_dropped(s, set);
    if (at->used >= s->limit)
        return TAG_STORE_NONE;
    uint32_t i = tag_store_at(s, set, at->used);
    s->entries[i].tag = 0; /* memory of the host is not cleared */
    return i;
}

/* The entry that a new key would take. */
uint32_t tag_store_victim(tag_store *s, uint32_t set);

/* ------------------------------------------------------------------------------------------------------ changes */

/* Gives the entry, empty or not, to a key that is not known. The key becomes the newest of its set. */
void tag_store_place(tag_store *s, uint32_t entry, uint64_t key);
/* Forgets the key of an entry, which is not empty. */
void tag_store_drop(tag_store *s, uint32_t entry);
/* Makes it the next to go, or the next after entry `after`, which is older. */
void tag_store_age(tag_store *s, uint32_t entry, uint32_t after);

/* -------------------------------------------------------------------- for owners whose keys are also the numbers */

/* The entry of a key, used now; TAG_STORE_NONE if it is not known. */
static inline uint32_t tag_store_find(tag_store *s, uint64_t key)
{
    uint32_t i = tag_store_look(s, key);
    if (i != TAG_STORE_NONE)
        tag_store_use(s, i);
    return i;
}

/* Notes a key that is not known, in place of another one of its set. Returns its entry. */
uint32_t tag_store_insert(tag_store *s, uint64_t key);
/* The entry of a key, noted if it is not known, and used now. */
static inline uint32_t tag_store_enter(tag_store *s, uint64_t key)
{
    uint32_t i = tag_store_find(s, key);
    return i != TAG_STORE_NONE ? i : tag_store_insert(s, key);
}
/* Forgets keys from first to last. */
void tag_store_forget(tag_store *s, uint64_t first, uint64_t last);

#endif

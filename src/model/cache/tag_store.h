/* tag_store.h: the keys that a set-associative structure knows: the TLBs and MMU of both vendors, read-only caches. LRU
 * replacement; keys are found by hash, so that 64 ways cost what 4 do. Knows nothing about time. */
#ifndef MODEL_CACHE_TAG_STORE_H
#define MODEL_CACHE_TAG_STORE_H

#include "lockstep/engine.h"

#include <stdbool.h>
#include <stdint.h>

#define TAG_STORE_NONE UINT32_MAX

typedef struct tag_store_entry {
    uint64_t key;
    uint32_t chain;        /* the next of its hash; TAG_STORE_NONE */
    uint32_t newer, older; /* in its set */
    bool used;
    uint8_t mark; /* the owner's; 0 for a new key */
} tag_store_entry;

typedef struct tag_store_set {
    uint32_t newest, oldest, count; /* ways that were ever used */
} tag_store_set;

typedef struct tag_store {
    tag_store_entry *entries; /* [set * ways + way] */
    tag_store_set *sets;
    uint32_t *heads; /* by hash: entry + 1 */
    uint32_t set_count, ways, head_mask;
} tag_store;

/* Memory comes from the domain; false when the host has none left. */
bool tag_store_init(tag_store *b, uint32_t sets, uint32_t ways, ls_domain *domain);

static inline uint32_t tag_store_hash(const tag_store *b, uint64_t key)
{
    return (uint32_t)(key ^ key >> 11 ^ key >> 23) & b->head_mask;
}

void tag_store_use(tag_store *b, uint32_t entry); /* makes it the newest of its set */

/* The entry of a key, which keeps its age; TAG_STORE_NONE if it is not known. */
static inline uint32_t tag_store_look(const tag_store *b, uint64_t key)
{
    uint32_t i = b->heads[tag_store_hash(b, key)] - 1;
    while (i != TAG_STORE_NONE && b->entries[i].key != key)
        i = b->entries[i].chain;
    return i;
}

/* The entry of a key, which becomes the newest of its set; TAG_STORE_NONE if it is not known. */
static inline uint32_t tag_store_find(tag_store *b, uint64_t key)
{
    uint32_t i = tag_store_look(b, key);
    if (i != TAG_STORE_NONE)
        tag_store_use(b, i);
    return i;
}

/* Notes a key that is not known, in place of the oldest of its set. Returns its entry. */
uint32_t tag_store_insert(tag_store *b, uint64_t key);
/* The entry of a key, noted if it is not known; it becomes the newest of its set. */
static inline uint32_t tag_store_enter(tag_store *b, uint64_t key)
{
    uint32_t i = tag_store_find(b, key);
    return i != TAG_STORE_NONE ? i : tag_store_insert(b, key);
}
/* Forgets keys from first to last. */
void tag_store_forget(tag_store *b, uint64_t first, uint64_t last);

#endif

/* tlb_tags.h: which pages a TLB knows: sets of many ways with LRU replacement, found by hash, so that 64 ways
 * cost what 4 do. Knows nothing about time. */
#ifndef MODEL_AMD_MEMORY_TLB_TAGS_H
#define MODEL_AMD_MEMORY_TLB_TAGS_H

#include "lockstep/engine.h"

#include <stdbool.h>
#include <stdint.h>

#define TLB_TAGS_NONE UINT32_MAX

typedef struct tlb_tags_entry {
    uint64_t key;
    uint32_t chain;        /* the next of its hash; TLB_TAGS_NONE */
    uint32_t newer, older; /* in its set */
    bool used;
} tlb_tags_entry;

typedef struct tlb_tags_set {
    uint32_t newest, oldest, count; /* ways that were ever used */
} tlb_tags_set;

typedef struct tlb_tags {
    tlb_tags_entry *entries; /* [set * ways + way] */
    tlb_tags_set *sets;
    uint32_t *heads; /* by hash: entry + 1 */
    uint32_t set_count, ways, head_mask;
} tlb_tags;

/* Memory comes from the domain; false when the host has none left. */
bool tlb_tags_init(tlb_tags *b, uint32_t sets, uint32_t ways, ls_domain *domain);

static inline uint32_t tlb_tags_hash(const tlb_tags *b, uint64_t key)
{
    return (uint32_t)(key ^ key >> 11 ^ key >> 23) & b->head_mask;
}

void tlb_tags_use(tlb_tags *b, uint32_t entry); /* makes it the newest of its set */

/* The entry of a key, which becomes the newest of its set; TLB_TAGS_NONE if it is not known. */
static inline uint32_t tlb_tags_find(tlb_tags *b, uint64_t key)
{
    for (uint32_t i = b->heads[tlb_tags_hash(b, key)] - 1; i != TLB_TAGS_NONE; i = b->entries[i].chain)
        if (b->entries[i].key == key) {
            tlb_tags_use(b, i);
            return i;
        }
    return TLB_TAGS_NONE;
}

/* Notes a key that is not known, in place of the oldest of its set. Returns its entry. */
uint32_t tlb_tags_insert(tlb_tags *b, uint64_t key);
/* Forgets keys from first to last. */
void tlb_tags_forget(tlb_tags *b, uint64_t first, uint64_t last);

#endif

/* book.h: which pages a TLB knows: sets of many ways with LRU replacement, found by hash, so that 64 ways
 * cost what 4 do. Knows nothing about time. */
#ifndef MODEL_LINE_BOOK_H
#define MODEL_LINE_BOOK_H

#include "lockstep/engine.h"

#include <stdbool.h>
#include <stdint.h>

#define BOOK_NONE UINT32_MAX

typedef struct book_entry {
    uint64_t key;
    uint32_t chain;        /* the next of its hash; BOOK_NONE */
    uint32_t newer, older; /* in its set */
    bool used;
} book_entry;

typedef struct book_set {
    uint32_t newest, oldest, count; /* ways that were ever used */
} book_set;

typedef struct book {
    book_entry *entries; /* [set * ways + way] */
    book_set *sets;
    uint32_t *heads; /* by hash: entry + 1 */
    uint32_t set_count, ways, head_mask;
} book;

/* Memory comes from the domain; false when the host has none left. */
bool book_init(book *b, uint32_t sets, uint32_t ways, ls_domain *domain);

static inline uint32_t book_hash(const book *b, uint64_t key)
{
    return (uint32_t)(key ^ key >> 11 ^ key >> 23) & b->head_mask;
}

void book_use(book *b, uint32_t entry); /* makes it the newest of its set */

/* The entry of a key, which becomes the newest of its set; BOOK_NONE if it is not known. */
static inline uint32_t book_find(book *b, uint64_t key)
{
    for (uint32_t i = b->heads[book_hash(b, key)] - 1; i != BOOK_NONE; i = b->entries[i].chain)
        if (b->entries[i].key == key) {
            book_use(b, i);
            return i;
        }
    return BOOK_NONE;
}

/* Notes a key that is not known, in place of the oldest of its set. Returns its entry. */
uint32_t book_insert(book *b, uint64_t key);
/* Forgets keys from first to last. */
void book_forget(book *b, uint64_t first, uint64_t last);

#endif

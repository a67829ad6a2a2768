/* tags.h: the tags of a set-associative structure with LRU replacement, and nothing else: which keys are
 * present. For read-only caches and TLBs, whose lines have no state of their own. */
#ifndef MODEL_TAGS_H
#define MODEL_TAGS_H

#include "lockstep/engine.h"

#include <stdbool.h>
#include <stdint.h>

#define TAGS_NONE UINT32_MAX

typedef struct tags {
    uint64_t *key;  /* [set * ways + way] */
    uint64_t *used; /* when, by `clock`; 0: the way is empty */
    uint8_t *mark;  /* the owner's; 0 for a new key */
    uint64_t clock;
    uint32_t sets, ways;
} tags;

/* sets need not be a power of two. Memory comes from the domain; false when the host has none left. */
bool tags_init(tags *t, uint32_t sets, uint32_t ways, ls_domain *domain);
/* Where the key is, which makes it the newest of its set; TAGS_NONE if it is absent. */
uint32_t tags_find(tags *t, uint64_t key);
bool tags_has(const tags *t, uint64_t key); /* without using it */
/* Makes the key present and the newest, in place of the oldest of its set. Returns where. */
uint32_t tags_insert(tags *t, uint64_t key);

#endif

/* replacement.h: which line of a set goes when a new one comes: the policies of the caches of both vendors.
 *
 * LRU and FIFO are orders of lines, which the tag store keeps (model/cache/tag_store.h).
 * All other policies live here. Their functions are called only when one of them was chosen
 * (replacement_is_order()). */
#ifndef MODEL_POLICY_REPLACEMENT_H
#define MODEL_POLICY_REPLACEMENT_H

#include "model/policy/policy.h"

#include <stdbool.h>

typedef enum replacement_kind {
    REPLACEMENT_LRU,
    REPLACEMENT_FIFO,
    REPLACEMENT_RANDOM, /* any line that may go, evenly */
    REPLACEMENT_PLRU,   /* a binary tree per set: each node points away from the half that was used last */
    REPLACEMENT_SRRIP,  /* two bits per line: the expected distance of its next use */
    REPLACEMENT_KINDS   /* from here on: types of slot "replacement", in the order of the registry */
} replacement_kind;

extern const char *const replacement_names[]; /* in the order of replacement_kind, then NULL */
#define REPLACEMENT_HELP                                                                                         \
    "which line goes: the least recently used, the first that came, a random one, by a tree of bits (plru), by " \
    "predicted distance (srrip), or as a plug-in says"

#define REPLACEMENT_WAYS_MAX 1024u
#define REPLACEMENT_WORDS (REPLACEMENT_WAYS_MAX / 64)

typedef struct replacement {
    uint32_t kind, ways, leaves; /* leaves of the tree: the power of two from `ways` on */
    uint8_t *distance;           /* srrip: [set * ways + way], 0 (soon) to 3 (far) */
    uint64_t *tree;              /* plru: `words` per set; node n has children 2n and 2n + 1, the root is 1 */
    uint64_t random;
    const ls_replacement_ops *ops; /* of a plug-in */
    uint8_t *sets;                 /* its states: set_bytes each */
    size_t set_bytes, set_count, words;
    const char *failure; /* for ls_domain_fail(): the plug-in chose a line that may not go */
    ls_domain *domain;
} replacement;

static inline bool replacement_is_order(uint32_t kind)
{
    return kind <= REPLACEMENT_FIFO;
}

/* For every kind; LRU and FIFO need no memory. Fails when the host has none left, or for a plug-in whose table is
 * not whole, which the error names. */
ls_status replacement_init(replacement *r, uint32_t kind, uint32_t sets, uint32_t ways, ls_domain *domain,
                           ls_error *err);
/* All sets are empty again. */
void replacement_clear(replacement *r);

/* Not for LRU and FIFO. A new line; a line that was used; a line that is to go next (a streaming access). */
void replacement_insert(replacement *r, uint32_t set, uint32_t way);
void replacement_use(replacement *r, uint32_t set, uint32_t way);
void replacement_age(replacement *r, uint32_t set, uint32_t way);
/* The victim, one of the allowed ways (a bit each; at least one is). `ways`: the number of ways in use. */
uint32_t replacement_victim(replacement *r, uint32_t set, uint32_t ways, const uint64_t *allowed);

/* clang-format off */
#define REPLACEMENT_PARAM(spec_, field, prefix)                                                               \
    POLICY_PARAM(spec_, field, prefix "replacement", "lru", replacement_names, LS_REPLACEMENT_SLOT, REPLACEMENT_HELP)
/* clang-format on */

#endif

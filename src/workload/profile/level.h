/* level.h: one level of cache without time: which sectors of a line are there. Two ways to know: the cache
 * itself with its sets and replacement, or the reuse distance of the line (reuse.h). Lines have 128 bytes and
 * four sectors. */
#ifndef PROFILE_LEVEL_H
#define PROFILE_LEVEL_H

#include "base/bytes.h"
#include "model/cache/sector_cache.h"
#include "model/cache/tag_store.h"
#include "workload/profile/reuse.h"

#include <stdbool.h>
#include <stdint.h>

/* The payload of an entry of the tag store. */
typedef struct level_line {
    uint32_t stamp;       /* the epoch that `fresh` and `deep` are about */
    uint8_t valid, dirty; /* a bit per sector */
    uint8_t fresh, deep;  /* fetched in epoch `stamp`; of these, from DRAM */
    uint32_t asked;       /* L2: accesses past L1 that wait for fresh sectors */
    uint32_t filled;      /* L2: number of the slice's waits for DRAM when the line was fetched */
} level_line;

/* The line that was evicted for a new one. */
typedef struct level_victim {
    uint64_t line;
    uint8_t dirty; /* sectors to write back; 0: nothing */
} level_victim;

typedef struct level {
    tag_store tags;      /* keys: address / 128. FIFO if the cache is, everything else counts as LRU */
    level_line *lines;   /* by entry */
    uint32_t line_count; /* of the cache, or the number that reuse distances need */
    reuse *distance;     /* NULL: the cache itself */
    uint32_t draws;
    bool full;        /* see level_fill() */
    uint32_t *filled; /* lines of each set when it was called */
} level;

/* How lines pick one of 1 << bits sets. */
typedef struct level_index {
    uint32_t bits;
    bool hashed; /* else the lowest bits are the set */
    set_hash_table table;
} level_index;

/* false when the host has no memory left; level_fini() is due in every case. `by_reuse`: hits follow from
 * distances. */
bool level_init(level *l, uint32_t sets, uint32_t ways, bool fifo, bool by_reuse);
void level_fini(level *l);
/* Empties the cache; dirty data is dropped. */
void level_clear(level *l);

/* The line, made the newest of its set. If it is absent, `allocate` decides: with it a new line without valid
 * sectors is made and *victim is the evicted line; without it NULL. */
level_line *level_look(level *l, uint32_t set, uint64_t line, bool allocate, level_victim *victim);

/* From now on every set is full: a new line evicts a copy of a line of its set, the oldest first. A copy is
 * LEVEL_COPY lines away and as dirty as its original. Not for reuse distances. */
void level_fill(level *l);
#define LEVEL_COPY (UINT64_C(1) << 36)

/* For checkpoints. Loading is for a level of the same sets and ways; in->failed: it is another one. Not for reuse distances. */
void level_save(const level *l, bytes_out *out);
void level_load(level *l, bytes_in *in);

/* The same index as in the cache of that spec; a cache has already accepted the spec. */
void level_index_init(level_index *x, const set_hash_spec *hash, uint64_t sets);

/* The set of a line; index_line: the address that picks it, / 128. */
static inline uint32_t level_set(const level_index *x, uint64_t index_line)
{
    uint32_t mask = (1u << x->bits) - 1;
    if (!x->hashed)
        return (uint32_t)index_line & mask;
    return set_hash_of((uint32_t(*)[256])(uintptr_t)x->table, index_line) & mask;
}

#endif

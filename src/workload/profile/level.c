/* level.c: see level.h. Touches nothing outside of the level. */
#include "workload/profile/level.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* Distances beyond this multiple of the capacity are always misses. */
#define REUSE_CAPACITIES 4u

bool level_init(level *l, uint32_t sets, uint32_t ways, bool fifo, bool by_reuse)
{
    *l = (level){ .sets = by_reuse ? 1 : sets, .ways = ways, .fifo = fifo };
    uint32_t capacity = sets * ways;
    l->line_count = by_reuse ? REUSE_CAPACITIES * capacity : capacity;
    uint32_t size = 16;
    while (size < 2 * l->line_count)
        size *= 2;
    l->index_mask = size - 1;
    l->lines = malloc(l->line_count * sizeof *l->lines);
    l->index = calloc(size, sizeof *l->index);
    l->order = malloc(l->sets * sizeof *l->order);
    l->used = malloc(l->sets * sizeof *l->used);
    l->filled = malloc(l->sets * sizeof *l->filled);
    if (l->lines == NULL || l->index == NULL || l->order == NULL || l->used == NULL || l->filled == NULL)
        return false;
    if (by_reuse) {
        l->distance = reuse_create(l->line_count, sets, ways);
        if (l->distance == NULL)
            return false;
    }
    level_clear(l);
    return true;
}

void level_fini(level *l)
{
    free(l->lines);
    free(l->index);
    free(l->order);
    free(l->used);
    free(l->filled);
    reuse_destroy(l->distance);
    *l = (level){ 0 };
}

void level_clear(level *l)
{
    memset(l->index, 0, ((size_t)l->index_mask + 1) * sizeof *l->index);
    for (uint32_t set = 0; set < l->sets; set++) {
        l->order[set] = INDEX_ORDER_EMPTY;
        l->used[set] = 0;
    }
    l->full = false;
    if (l->distance != NULL)
        reuse_clear(l->distance);
}

void level_index_init(level_index *x, const set_hash_spec *hash, uint64_t sets)
{
    *x = (level_index){ .bits = 63 - (uint32_t)__builtin_clzll(sets == 0 ? 1 : sets) };
    x->hashed = hash->kind != SET_HASH_NONE && sets > 1 &&
                set_hash_fill(x->table, hash, (uint32_t)sets, SECTOR_CACHE_LINE_BYTES, true, NULL) == LS_OK;
}

/* ---------------------------------------------------------------------------------------------- the index */

static inline uint32_t home_of(const level *l, uint64_t line)
{
    return (uint32_t)((line * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & l->index_mask;
}

static uint32_t find(const level *l, uint64_t line)
{
    for (uint32_t at = home_of(l, line);; at = (at + 1) & l->index_mask) {
        uint32_t i = l->index[at];
        if (i == 0 || l->lines[i - 1].line == line)
            return i - 1; /* NONE for an empty place */
    }
}

static void index_add(level *l, uint32_t i)
{
    uint32_t at = home_of(l, l->lines[i].line);
    while (l->index[at] != 0)
        at = (at + 1) & l->index_mask;
    l->index[at] = i + 1;
}

/* Moves entries after the hole into it if their search path crosses it. */
static void index_remove(level *l, uint32_t i)
{
    uint32_t hole = home_of(l, l->lines[i].line);
    while (l->index[hole] != i + 1)
        hole = (hole + 1) & l->index_mask;
    for (uint32_t at = (hole + 1) & l->index_mask; l->index[at] != 0; at = (at + 1) & l->index_mask) {
        uint32_t home = home_of(l, l->lines[l->index[at] - 1].line);
        if (((at - home) & l->index_mask) >= ((at - hole) & l->index_mask)) {
            l->index[hole] = l->index[at];
            hole = at;
        }
    }
    l->index[hole] = 0;
}

/* ---------------------------------------------------------------------------------------------- the order */

static void unlink_line(level *l, uint32_t set, uint32_t i)
{
    index_order_remove(&l->order[set], INDEX_LINKS(l->lines, older), INDEX_LINKS(l->lines, newer), i);
}

static void make_newest(level *l, uint32_t set, uint32_t i)
{
    index_order_append(&l->order[set], INDEX_LINKS(l->lines, older), INDEX_LINKS(l->lines, newer), i);
}

/* Decides by distance whether a line that was used before is still there: as often as its probability
 * says. */
static void age(level *l, uint32_t i, level_victim *victim)
{
    level_line *line = &l->lines[i];
    uint32_t hit = reuse_hit(l->distance, reuse_touch(l->distance, i));
    uint32_t x = (++l->draws * 2654435769u) >> 16;
    if (x < hit)
        return;
    *victim = (level_victim){ .line = line->line, .dirty = line->dirty };
    line->valid = line->dirty = line->fresh = line->deep = 0;
}

/* The victim of a line that takes a place of a full level. */
static void drive_out_copy(const level *l, uint32_t set, level_victim *victim)
{
    if (l->filled[set] == 0)
        return;
    uint32_t i = (l->used[set] - l->filled[set]) % l->filled[set];
    const level_line *line = &l->lines[set * l->ways + i];
    *victim = (level_victim){ .line = line->line + LEVEL_COPY, .dirty = line->dirty };
}

level_line *level_look(level *l, uint32_t set, uint64_t number, bool allocate, level_victim *victim)
{
    victim->dirty = 0;
    if (l->distance != NULL)
        set = 0;
    uint32_t i = find(l, number);
    if (i != NONE) {
        if (l->order[set].newest != i && !l->fifo) {
            unlink_line(l, set, i);
            make_newest(l, set, i);
        }
        if (l->distance != NULL)
            age(l, i, victim);
        return &l->lines[i];
    }
    if (!allocate)
        return NULL;
    uint32_t ways = l->distance != NULL ? l->line_count : l->ways;
    if (l->used[set] < ways) {
        if (l->full)
            drive_out_copy(l, set, victim);
        i = set * ways + l->used[set]++;
    } else {
        i = l->order[set].oldest;
        *victim = (level_victim){ .line = l->lines[i].line, .dirty = l->lines[i].dirty };
        unlink_line(l, set, i);
        index_remove(l, i);
        if (l->distance != NULL)
            reuse_forget(l->distance, i);
    }
    l->lines[i] = (level_line){ .line = number };
    make_newest(l, set, i);
    index_add(l, i);
    if (l->distance != NULL)
        (void)reuse_touch(l->distance, i);
    return &l->lines[i];
}

void level_fill(level *l)
{
    if (l->full || l->distance != NULL)
        return;
    l->full = true;
    memcpy(l->filled, l->used, l->sets * sizeof *l->filled);
}

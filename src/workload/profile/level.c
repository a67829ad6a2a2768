/* level.c: see level.h. Touches nothing outside of the level. */
#include "workload/profile/level.h"

#include <stdlib.h>

/* Distances beyond this multiple of the capacity are always misses. */
#define REUSE_CAPACITIES 4u

bool level_init(level *l, uint32_t sets, uint32_t ways, bool fifo, bool by_reuse)
{
    uint32_t capacity = sets * ways;
    *l = (level){ .line_count = by_reuse ? REUSE_CAPACITIES * capacity : capacity };
    const tag_store_spec spec = { .sets = by_reuse ? 1 : sets,
                                  .ways = by_reuse ? l->line_count : ways,
                                  .replacement = fifo ? REPLACEMENT_FIFO : REPLACEMENT_LRU };
    l->lines = malloc(l->line_count * sizeof *l->lines);
    l->filled = malloc(spec.sets * sizeof *l->filled);
    if (tag_store_init(&l->tags, &spec, NULL, NULL) != LS_OK || l->lines == NULL || l->filled == NULL)
        return false;
    if (by_reuse) {
        l->distance = reuse_create(l->line_count, sets, ways);
        if (l->distance == NULL)
            return false;
    }
    return true;
}

void level_fini(level *l)
{
    tag_store_fini(&l->tags);
    free(l->lines);
    free(l->filled);
    reuse_destroy(l->distance);
    *l = (level){ 0 };
}

void level_clear(level *l)
{
    tag_store_clear(&l->tags);
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

/* Decides by distance whether a line that was used before is still there: as often as its probability
 * says. */
static void age(level *l, uint32_t i, level_victim *victim)
{
    level_line *line = &l->lines[i];
    uint32_t hit = reuse_hit(l->distance, reuse_touch(l->distance, i));
    uint32_t x = (++l->draws * 2654435769u) >> 16;
    if (x < hit)
        return;
    *victim = (level_victim){ .line = tag_store_key(&l->tags, i), .dirty = line->dirty };
    line->valid = line->dirty = line->fresh = line->deep = 0;
}

/* The victim of a line that takes a place of a full level. */
static void drive_out_copy(const level *l, uint32_t set, level_victim *victim)
{
    if (l->filled[set] == 0)
        return;
    uint32_t way = (l->tags.sets[set].used - l->filled[set]) % l->filled[set];
    uint32_t i = tag_store_at(&l->tags, set, way);
    *victim = (level_victim){ .line = tag_store_key(&l->tags, i) + LEVEL_COPY, .dirty = l->lines[i].dirty };
}

level_line *level_look(level *l, uint32_t set, uint64_t number, bool allocate, level_victim *victim)
{
    victim->dirty = 0;
    if (l->distance != NULL)
        set = 0;
    uint32_t i = tag_store_find(&l->tags, number);
    if (i != TAG_STORE_NONE) {
        if (l->distance != NULL)
            age(l, i, victim);
        return &l->lines[i];
    }
    if (!allocate)
        return NULL;
    i = tag_store_victim(&l->tags, set);
    if (tag_store_has(&l->tags, i)) {
        *victim = (level_victim){ .line = tag_store_key(&l->tags, i), .dirty = l->lines[i].dirty };
        if (l->distance != NULL)
            reuse_forget(l->distance, i);
    } else if (l->full) {
        drive_out_copy(l, set, victim);
    }
    tag_store_place(&l->tags, i, number);
    l->lines[i] = (level_line){ 0 };
    if (l->distance != NULL)
        (void)reuse_touch(l->distance, i);
    return &l->lines[i];
}

void level_fill(level *l)
{
    if (l->full || l->distance != NULL)
        return;
    l->full = true;
    for (uint32_t set = 0; set < l->tags.set_count; set++)
        l->filled[set] = l->tags.sets[set].used;
}

/* Entries and lines are defined from their first use on: those of a set before `used`. Hence both go way by way. */
void level_save(const level *l, bytes_out *out)
{
    const tag_store *s = &l->tags;
    bytes_put64(out, s->set_count);
    bytes_put64(out, s->ways);
    bytes_put64(out, s->present);
    bytes_put64(out, l->full);
    bytes_put64(out, l->draws);
    for (uint32_t set = 0; set < s->set_count; set++) {
        bytes_put(out, &s->sets[set], sizeof s->sets[set]);
        for (uint32_t way = 0; way < s->sets[set].used; way++) {
            uint32_t i = tag_store_at(s, set, way);
            bytes_put(out, &s->entries[i], sizeof s->entries[i]);
            bytes_put(out, &l->lines[i], sizeof l->lines[i]);
        }
    }
    if (l->full)
        bytes_put(out, l->filled, s->set_count * sizeof *l->filled);
    bytes_put(out, s->heads, sizeof *s->heads << (64 - s->head_shift));
}

void level_load(level *l, bytes_in *in)
{
    tag_store *s = &l->tags;
    in->failed |= bytes_get64(in) != s->set_count;
    in->failed |= bytes_get64(in) != s->ways;
    s->present = (uint32_t)bytes_get64(in);
    l->full = bytes_get64(in) != 0;
    l->draws = (uint32_t)bytes_get64(in);
    for (uint32_t set = 0; set < s->set_count && !in->failed; set++) {
        bytes_get(in, &s->sets[set], sizeof s->sets[set]);
        in->failed |= s->sets[set].used > s->ways;
        if (in->failed)
            return;
        for (uint32_t way = 0; way < s->sets[set].used; way++) {
            uint32_t i = tag_store_at(s, set, way);
            bytes_get(in, &s->entries[i], sizeof s->entries[i]);
            bytes_get(in, &l->lines[i], sizeof l->lines[i]);
        }
    }
    if (l->full)
        bytes_get(in, l->filled, s->set_count * sizeof *l->filled);
    bytes_get(in, s->heads, sizeof *s->heads << (64 - s->head_shift));
}

/* map.h: a hash map from byte strings to pointers, in insertion order when walked (so that nothing that is
 * printed depends on a hash). Set-up code only. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ls_map_entry {
    const char *key; /* copied, terminated */
    size_t key_bytes;
    void *value;
    uint64_t hash;
} ls_map_entry;

/* All zero is a valid empty map. */
typedef struct ls_map {
    ls_map_entry *entries; /* in insertion order */
    uint32_t *slots;       /* index + 1 into entries, 0 = free; open addressing, power of two */
    size_t count, capacity, slot_count;
} ls_map;

void ls_map_fini(ls_map *map);
/* NULL if there is none; ls_map_has() tells a NULL value from a missing key. */
void *ls_map_get(const ls_map *map, const char *key);
bool ls_map_has(const ls_map *map, const char *key);
/* Inserts or replaces; false when the host has no memory left. */
bool ls_map_put(ls_map *map, const char *key, void *value);
void *ls_map_getn(const ls_map *map, const char *key, size_t key_bytes);
bool ls_map_putn(ls_map *map, const char *key, size_t key_bytes, void *value);

#endif

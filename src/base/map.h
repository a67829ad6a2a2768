/* map.h: a hash map from byte strings to pointers, in insertion order when walked (so that nothing that is
 * printed depends on a hash). Set-up code only. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct map_entry {
    const char *key; /* copied, terminated */
    size_t key_bytes;
    void *value;
    uint64_t hash;
} map_entry;

/* All zero is a valid empty map. */
typedef struct string_map {
    map_entry *entries; /* in insertion order */
    uint32_t *slots;    /* index + 1 into entries, 0 = free; open addressing, power of two */
    size_t count, capacity, slot_count;
} string_map;

void map_fini(string_map *map);
/* NULL if there is none; map_has() distinguishes a NULL value from a missing key. */
void *map_get(const string_map *map, const char *key);
bool map_has(const string_map *map, const char *key);
/* Inserts or replaces; false when the host has no memory left. */
bool map_put(string_map *map, const char *key, void *value);
void *map_getn(const string_map *map, const char *key, size_t key_bytes);
bool map_putn(string_map *map, const char *key, size_t key_bytes, void *value);

#endif

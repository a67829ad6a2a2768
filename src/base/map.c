/* map.c: open addressing with linear probing over indices into an array of entries. Nothing is ever removed,
 * so the array stays in insertion order and needs no tombstones. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FIRST_SLOTS = 16 };

void map_fini(string_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        free((void *)(uintptr_t)map->entries[i].key);
    free(map->entries);
    free(map->slots);
    *map = (string_map){ 0 };
}

/* The slot that holds the key, or the free one where it belongs. The table is never full. */
static size_t find_slot(const string_map *map, const char *key, size_t key_bytes, uint64_t hash)
{
    size_t mask = map->slot_count - 1;
    for (size_t slot = (size_t)hash & mask;; slot = (slot + 1) & mask) {
        if (map->slots[slot] == 0)
            return slot;
        const map_entry *entry = &map->entries[map->slots[slot] - 1];
        if (entry->hash == hash && entry->key_bytes == key_bytes && memcmp(entry->key, key, key_bytes) == 0)
            return slot;
    }
}

static const map_entry *find(const string_map *map, const char *key, size_t key_bytes)
{
    if (map->count == 0)
        return NULL;
    uint32_t index = map->slots[find_slot(map, key, key_bytes, XXH3_64bits(key, key_bytes))];
    return index != 0 ? &map->entries[index - 1] : NULL;
}

/* Doubles the table while it is more than two thirds full. */
static bool grow_slots(string_map *map)
{
    if (map->slot_count != 0 && (map->count + 1) * 3 <= map->slot_count * 2)
        return true;
    size_t slot_count = map->slot_count == 0 ? FIRST_SLOTS : map->slot_count * 2;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < map->count; i++) {
        size_t slot = (size_t)map->entries[i].hash & (slot_count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (slot_count - 1);
        slots[slot] = (uint32_t)(i + 1);
    }
    free(map->slots);
    map->slots = slots;
    map->slot_count = slot_count;
    return true;
}

static bool grow_entries(string_map *map)
{
    if (map->count < map->capacity)
        return true;
    if (map->count >= UINT32_MAX - 1)
        return false;
    size_t capacity = map->capacity == 0 ? FIRST_SLOTS : map->capacity * 2;
    map_entry *entries = realloc(map->entries, capacity * sizeof *entries);
    if (entries == NULL)
        return false;
    map->entries = entries;
    map->capacity = capacity;
    return true;
}

void *map_getn(const string_map *map, const char *key, size_t key_bytes)
{
    const map_entry *entry = find(map, key, key_bytes);
    return entry != NULL ? entry->value : NULL;
}

bool map_putn(string_map *map, const char *key, size_t key_bytes, void *value)
{
    if (key_bytes == SIZE_MAX || !grow_slots(map) || !grow_entries(map))
        return false;
    uint64_t hash = XXH3_64bits(key, key_bytes);
    size_t slot = find_slot(map, key, key_bytes, hash);
    if (map->slots[slot] != 0) {
        map->entries[map->slots[slot] - 1].value = value;
        return true;
    }
    char *copy = malloc(key_bytes + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, key, key_bytes);
    copy[key_bytes] = '\0';
    map->entries[map->count++] = (map_entry){ copy, key_bytes, value, hash };
    map->slots[slot] = (uint32_t)map->count;
    return true;
}

void *map_get(const string_map *map, const char *key)
{
    return map_getn(map, key, strlen(key));
}

bool map_has(const string_map *map, const char *key)
{
    return find(map, key, strlen(key)) != NULL;
}

bool map_put(string_map *map, const char *key, void *value)
{
    return map_putn(map, key, strlen(key), value);
}

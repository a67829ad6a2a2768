/* arena.h: memory that is given back all at once. One arena per run, per kernel, per domain. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/huge_arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Grows by chunks of doubling size; never moves what it gave out. All zero is a valid empty arena. */
typedef struct mem_arena {
    struct arena_chunk *chunks; /* newest first */
    size_t used, size;          /* of the newest chunk */
    size_t total_bytes;         /* taken from the host */
    huge_memory *huge_arena;    /* where small chunks come from; NULL: each from the host on its own */
} mem_arena;

void arena_fini(mem_arena *arena);
/* Zeroed, aligned to 16 bytes; NULL when the host has no memory left (or bytes overflows). */
void *arena_alloc(mem_arena *arena, size_t bytes);
/* align: a power of two up to 4096. */
void *arena_alloc_aligned(mem_arena *arena, size_t bytes, size_t align);
/* count * size, checked for overflow. */
void *arena_array(mem_arena *arena, size_t count, size_t size);
char *arena_strdup(mem_arena *arena, const char *text);
char *arena_strndup(mem_arena *arena, const char *text, size_t length);
/* Formats into the arena. */
char *arena_printf(mem_arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

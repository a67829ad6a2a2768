/* arena.h: memory that is given back all at once. One arena per run, per kernel, per domain. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/huge_arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Grows by chunks of doubling size; never moves what it gave out. All zero is a valid empty arena. */
typedef struct ls_arena {
    struct ls_arena_chunk *chunks; /* newest first */
    size_t used, size;             /* of the newest chunk */
    size_t total_bytes;            /* taken from the host */
    ls_huge_arena *huge_arena;     /* where small chunks come from; NULL: each from the host on its own */
} ls_arena;

void ls_arena_fini(ls_arena *arena);
/* Zeroed, aligned to 16 bytes; NULL when the host has no memory left (or bytes overflows). */
void *ls_arena_alloc(ls_arena *arena, size_t bytes);
/* align: a power of two up to 4096. */
void *ls_arena_alloc_aligned(ls_arena *arena, size_t bytes, size_t align);
/* count * size, checked for overflow. */
void *ls_arena_array(ls_arena *arena, size_t count, size_t size);
char *ls_arena_strdup(ls_arena *arena, const char *text);
char *ls_arena_strndup(ls_arena *arena, const char *text, size_t length);
/* Formats into the arena. */
char *ls_arena_printf(ls_arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

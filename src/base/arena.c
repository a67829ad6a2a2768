/* arena.c: chunks of doubling size, given back together. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* AddressSanitizer sees an arena as one block and would miss every overrun inside it. So in its builds the
 * unused bytes are poisoned and a red zone follows each allocation. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define RED_ZONE_BYTES 16
#else
#define RED_ZONE_BYTES 0
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

enum {
    FIRST_CHUNK_BYTES = 32 << 10,
    MAPPED_CHUNK_BYTES = 4 << 10,
    LARGEST_CHUNK_BYTES = 16 << 20, /* doubling stops here; a larger request gets a chunk of its own size */
    HUGE_CHUNK_BYTES = 16 << 10,    /* in a huge arena a chunk costs nothing, so it need not be large */
    HUGE_LARGEST_BYTES = 72 << 10,  /* larger tables are often touched here and there only: ordinary pages */
    DEFAULT_ALIGN = 16,
    LARGEST_ALIGN = 4096
};

typedef enum { FROM_HEAP, FROM_KERNEL, FROM_HUGE } chunk_source;

/* `size` counts the bytes after the header. Memory comes from calloc or, if it is large, from the kernel. So
 * allocations are already zero, and untouched pages of a large chunk cost nothing. */
typedef struct arena_chunk {
    alignas(DEFAULT_ALIGN) struct arena_chunk *next;
    size_t size;
    chunk_source from;
} chunk;

static char *chunk_data(chunk *c)
{
    return (char *)(c + 1);
}

static chunk *chunk_create(mem_arena *arena, size_t size)
{
    if (size > PTRDIFF_MAX - sizeof(chunk))
        return NULL;
    /* Large ones from the kernel: malloc would clear a block that has been used and freed before. */
    chunk_source from = size >= MAPPED_CHUNK_BYTES ? FROM_KERNEL : FROM_HEAP;
    if (arena->huge_arena != NULL && size <= HUGE_LARGEST_BYTES)
        from = FROM_HUGE;
    chunk *c;
    if (from == FROM_HUGE) {
        c = huge_arena_take(arena->huge_arena, sizeof *c + size);
    } else if (from == FROM_KERNEL) {
        c = mmap(NULL, sizeof *c + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        c = c == MAP_FAILED ? NULL : c;
    } else {
        c = calloc(1, sizeof *c + size);
    }
    if (c == NULL)
        return NULL;
    c->size = size;
    c->from = from;
    arena->total_bytes += sizeof *c + size;
    ASAN_POISON_MEMORY_REGION(chunk_data(c), size);
    return c;
}

static size_t padding_at(const char *at, size_t align)
{
    return (size_t)(-(uintptr_t)at & (align - 1));
}

void arena_fini(mem_arena *arena)
{
    for (chunk *c = arena->chunks; c != NULL;) {
        chunk *next = c->next;
        ASAN_UNPOISON_MEMORY_REGION(chunk_data(c), c->size);
        if (c->from == FROM_KERNEL)
            munmap(c, sizeof *c + c->size);
        else if (c->from == FROM_HEAP)
            free(c);
        c = next;
    }
    *arena = (mem_arena){ 0 };
}

/* A request that does not fit into the newest chunk. */
static __attribute__((noinline)) void *alloc_slow(mem_arena *arena, size_t bytes, size_t align)
{
    size_t slack = align > DEFAULT_ALIGN ? align : 0;
    if (bytes > PTRDIFF_MAX - slack - RED_ZONE_BYTES)
        return NULL;
    size_t need = bytes + slack + RED_ZONE_BYTES;
    size_t next_size = arena->size == 0 ? FIRST_CHUNK_BYTES - sizeof(chunk)
                                        : (arena->size + sizeof(chunk)) * 2 - sizeof(chunk);
    if (next_size > LARGEST_CHUNK_BYTES)
        next_size = LARGEST_CHUNK_BYTES;
    if (arena->huge_arena != NULL)
        next_size = HUGE_CHUNK_BYTES - sizeof(chunk);

    bool own = arena->chunks != NULL && need > next_size / 2;
    chunk *c = chunk_create(arena, own || need > next_size ? need : next_size);
    if (c == NULL)
        return NULL;
    size_t padding = padding_at(chunk_data(c), align);
    if (own) {
        /* After the newest chunk, whose free rest stays in use. */
        c->next = arena->chunks->next;
        arena->chunks->next = c;
    } else {
        c->next = arena->chunks;
        arena->chunks = c;
        arena->size = c->size;
        arena->used = padding + bytes + RED_ZONE_BYTES;
    }
    void *at = chunk_data(c) + padding;
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
    return at;
}

/* A request with a valid alignment. Inlined, so that a constant one costs nothing. */
static inline void *take(mem_arena *arena, size_t bytes, size_t align)
{
    if (bytes == 0)
        bytes = 1; /* every allocation has an address of its own */
    size_t room = arena->size - arena->used;
    if (arena->chunks != NULL && bytes <= room) {
        char *free_at = chunk_data(arena->chunks) + arena->used;
        size_t padding = padding_at(free_at, align);
        if (padding + RED_ZONE_BYTES <= room - bytes) {
            arena->used += padding + bytes + RED_ZONE_BYTES;
            ASAN_UNPOISON_MEMORY_REGION(free_at + padding, bytes);
            return free_at + padding;
        }
    }
    return alloc_slow(arena, bytes, align);
}

void *arena_alloc_aligned(mem_arena *arena, size_t bytes, size_t align)
{
    if (align < DEFAULT_ALIGN)
        align = DEFAULT_ALIGN;
    if (align > LARGEST_ALIGN || (align & (align - 1)) != 0)
        return NULL;
    return take(arena, bytes, align);
}

void *arena_alloc(mem_arena *arena, size_t bytes)
{
    return take(arena, bytes, DEFAULT_ALIGN);
}

void *arena_array(mem_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return take(arena, bytes, DEFAULT_ALIGN);
}

char *arena_strndup(mem_arena *arena, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? take(arena, length + 1, DEFAULT_ALIGN) : NULL;
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(mem_arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(mem_arena *arena, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, fmt, args);
    char *out = length >= 0 ? arena_alloc(arena, (size_t)length + 1) : NULL;
    if (out != NULL)
        vsnprintf(out, (size_t)length + 1, fmt, again);
    va_end(again);
    va_end(args);
    return out;
}

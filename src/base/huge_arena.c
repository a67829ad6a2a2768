/* huge_arena.c: pieces of whole huge pages from the kernel, handed out front to back. */
#include "base/huge_arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#define HUGE_BYTES ((size_t)2 << 20)
#define PIECE_BYTES ((size_t)32 << 20) /* of address space: untouched pages stay with the kernel */
#define LINE_BYTES ((size_t)128)       /* two lines: neighbours are fetched in pairs */

/* At the start of its own piece. */
typedef struct huge_arena_piece {
    struct huge_arena_piece *next;
    void *mapped;
    size_t mapped_bytes;
} piece;

static size_t up(size_t bytes, size_t step)
{
    return (bytes + step - 1) & ~(step - 1);
}

void huge_arena_init(huge_memory *huge_arena)
{
    *huge_arena = (huge_memory){ 0 };
    pthread_mutex_init(&huge_arena->lock, NULL);
}

void huge_arena_fini(huge_memory *huge_arena)
{
    for (piece *p = huge_arena->pieces; p != NULL;) {
        piece *next = p->next;
        munmap(p->mapped, p->mapped_bytes);
        p = next;
    }
    pthread_mutex_destroy(&huge_arena->lock);
    *huge_arena = (huge_memory){ 0 };
}

static bool add_piece(huge_memory *huge_arena, size_t bytes)
{
    size_t size = up(bytes + LINE_BYTES, PIECE_BYTES);
    size_t mapped_bytes = size + HUGE_BYTES; /* room to start on a huge page */
    char *mapped =
        mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return false;
    char *start = (char *)up((uintptr_t)mapped, HUGE_BYTES);
    madvise(start, size, MADV_HUGEPAGE); /* a wish: without huge pages everything works the same */
    piece *p = (piece *)start;
    *p = (piece){ .next = huge_arena->pieces, .mapped = mapped, .mapped_bytes = mapped_bytes };
    huge_arena->pieces = p;
    huge_arena->at = start + LINE_BYTES;
    huge_arena->end = start + size;
    return true;
}

void *huge_arena_take(huge_memory *huge_arena, size_t bytes)
{
    if (bytes > PTRDIFF_MAX / 2)
        return NULL;
    bytes = up(bytes, LINE_BYTES);
    pthread_mutex_lock(&huge_arena->lock);
    void *at = NULL;
    if (bytes <= (size_t)(huge_arena->end - huge_arena->at) || add_piece(huge_arena, bytes)) {
        at = huge_arena->at;
        huge_arena->at += bytes;
    }
    pthread_mutex_unlock(&huge_arena->lock);
    return at;
}

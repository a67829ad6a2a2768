/* ground.c: pieces of whole huge pages from the kernel, handed out front to back. */
#include "base/ground.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#define HUGE_BYTES ((size_t)2 << 20)
#define PIECE_BYTES ((size_t)32 << 20) /* of address space: what is never touched stays with the kernel */
#define LINE_BYTES ((size_t)128)       /* two lines: neighbours are fetched in pairs */

/* At the start of its own piece. */
typedef struct ls_ground_piece {
    struct ls_ground_piece *next;
    void *mapped;
    size_t mapped_bytes;
} piece;

static size_t up(size_t bytes, size_t step)
{
    return (bytes + step - 1) & ~(step - 1);
}

void ls_ground_init(ls_ground *ground)
{
    *ground = (ls_ground){ 0 };
    pthread_mutex_init(&ground->lock, NULL);
}

void ls_ground_fini(ls_ground *ground)
{
    for (piece *p = ground->pieces; p != NULL;) {
        piece *next = p->next;
        munmap(p->mapped, p->mapped_bytes);
        p = next;
    }
    pthread_mutex_destroy(&ground->lock);
    *ground = (ls_ground){ 0 };
}

static bool add_piece(ls_ground *ground, size_t bytes)
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
    *p = (piece){ .next = ground->pieces, .mapped = mapped, .mapped_bytes = mapped_bytes };
    ground->pieces = p;
    ground->at = start + LINE_BYTES;
    ground->end = start + size;
    return true;
}

void *ls_ground_take(ls_ground *ground, size_t bytes)
{
    if (bytes > PTRDIFF_MAX / 2)
        return NULL;
    bytes = up(bytes, LINE_BYTES);
    pthread_mutex_lock(&ground->lock);
    void *at = NULL;
    if (bytes <= (size_t)(ground->end - ground->at) || add_piece(ground, bytes)) {
        at = ground->at;
        ground->at += bytes;
    }
    pthread_mutex_unlock(&ground->lock);
    return at;
}

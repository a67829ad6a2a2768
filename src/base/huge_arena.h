/* huge_arena.h: the land that the arenas of one machine stand on: few large pieces of host memory, in huge pages
 * where the host has them. A machine of thousands of small parts then costs tens of page faults to build, not
 * thousands, and its parts share far fewer entries of the host's TLB. */
#ifndef BASE_HUGE_ARENA_H
#define BASE_HUGE_ARENA_H

#include <pthread.h>
#include <stddef.h>

typedef struct huge_memory {
    pthread_mutex_t lock; /* arenas of several threads may grow at the same time */
    char *at;             /* free bytes of the newest piece: at .. end */
    char *end;
    struct huge_arena_piece *pieces; /* newest first */
} huge_memory;

void huge_arena_init(huge_memory *huge_arena);
/* Frees everything at once; memory of the arena must not be used afterwards. */
void huge_arena_fini(huge_memory *huge_arena);
/* Zeroed and on cache lines of its own; NULL when the host has no memory left. */
void *huge_arena_take(huge_memory *huge_arena, size_t bytes);

#endif

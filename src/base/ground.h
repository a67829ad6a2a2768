/* ground.h: the land that the arenas of one machine stand on: few large pieces of host memory, in huge pages
 * where the host has them. A machine of thousands of small parts then costs tens of page faults to build, not
 * thousands, and its parts share far fewer entries of the host's TLB. */
#ifndef BASE_GROUND_H
#define BASE_GROUND_H

#include <pthread.h>
#include <stddef.h>

typedef struct ls_ground {
    pthread_mutex_t lock; /* arenas of several threads may grow at the same time */
    char *at;             /* free bytes of the newest piece: at .. end */
    char *end;
    struct ls_ground_piece *pieces; /* newest first */
} ls_ground;

void ls_ground_init(ls_ground *ground);
/* Gives everything back at once; nothing that stands on it may be used any more. */
void ls_ground_fini(ls_ground *ground);
/* Zeroed and on cache lines of its own; NULL when the host has no memory left. */
void *ls_ground_take(ls_ground *ground, size_t bytes);

#endif

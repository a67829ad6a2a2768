/* sharing.h: decides whether threads go on sharing work on a machine where another program computes too.
 *
 * A thread that the host has put aside keeps all others waiting at the barrier. Time that is lost there makes sharing
 * suspect. Then one thread works alone for a trial, and the faster way is kept for a while. The next trial comes after
 * a pause that doubles as long as the choice stays the same. The logic has no clock of its own: the caller brings the
 * time, and the work that was done. No result depends on it. */
#ifndef BASE_SHARING_H
#define BASE_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#define SHARING_TRIAL_NS UINT64_C(24000000)       /* some time slices of a busy Linux host */
#define SHARING_HOLD_NS UINT64_C(96000000)        /* how long the first choice holds */
#define SHARING_HOLD_MOST_NS UINT64_C(1536000000) /* a change of the host is noticed after this time */
#define SHARING_SUSPECT 0.2 /* fraction of a waiter's time; unequal shares alone lose a quarter of it */
#define SHARING_MARGIN 1.02 /* working alone must be so much faster */

typedef struct sharing {
    bool alone;           /* one thread does all the work at present */
    bool on_trial;        /* the present way is compared with the other one when the trial ends */
    double waiters;       /* threads - 1 */
    double work;          /* done since since_ns, in any unit */
    double speed[2];      /* work per ns, as last measured: shared, alone */
    uint64_t since_ns;    /* the measurement began */
    uint64_t until_ns;    /* the choice holds until then */
    uint64_t lost_before; /* time lost when it began */
    uint64_t hold_ns;     /* length of the next hold */
} sharing;

void sharing_init(sharing *s, uint32_t threads, uint64_t now_ns);
/* Now and then between pieces of work: lost_ns is the time that all waiters together have lost so far
 * (barrier_lost_ns). */
void sharing_look(sharing *s, uint64_t now_ns, uint64_t lost_ns);

static inline void sharing_add(sharing *s, double work)
{
    s->work += work;
}

static inline bool sharing_pauses(const sharing *s)
{
    return s->alone;
}

#endif

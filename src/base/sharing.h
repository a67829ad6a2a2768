/* sharing.h: decides whether threads go on sharing work on a machine where another program computes too.
 *
 * A thread that the host has put aside keeps all others waiting at the barrier. If they lose so much time that one
 * thread alone would be as fast, the team stops sharing for a while and then tries again. The logic has no clock of
 * its own: the caller brings the time. No result depends on it. */
#ifndef BASE_SHARING_H
#define BASE_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#define SHARING_TRIAL_NS UINT64_C(12000000) /* three time slices of a busy Linux host */
#define SHARING_HOLD_NS                                                                                    \
    UINT64_C(40000000) /* the first pause from sharing; each further one is twice as long */
#define SHARING_HOLD_MOST_NS UINT64_C(1280000000) /* a host that is free again is noticed after this time */

typedef struct sharing {
    double limit;         /* fraction of a waiter's time; a team that loses more is not worth having */
    double waiters;       /* threads - 1 */
    uint64_t since_ns;    /* the trial began */
    uint64_t lost_before; /* time lost until then */
    uint64_t hold_ns;     /* length of the next pause */
    uint64_t until_ns;    /* end of the pause; 0: the team shares */
} sharing;

void sharing_init(sharing *c, uint32_t threads, uint64_t now_ns);
/* While the team shares: lost_ns is the time that all waiters together have lost so far (barrier_lost_ns). */
void sharing_look(sharing *c, uint64_t now_ns, uint64_t lost_ns);
/* During a pause: ends it when its time has come. The trial that follows begins now. */
void sharing_tick(sharing *c, uint64_t now_ns, uint64_t lost_ns);

/* One thread does all the work at present. */
static inline bool sharing_pauses(const sharing *c)
{
    return c->until_ns != 0;
}

#endif

/* sharing.c: see sharing.h. */
#include "base/sharing.h"

/* A team of n threads that loses no time does the work of 0.8 n threads: barriers and unequal shares take the rest. */
#define TEAM_EFFICIENCY 0.8

static void begin_trial(sharing *c, uint64_t now_ns, uint64_t lost_ns)
{
    c->since_ns = now_ns;
    c->lost_before = lost_ns;
    c->until_ns = 0;
}

void sharing_init(sharing *c, uint32_t threads, uint64_t now_ns)
{
    double team = TEAM_EFFICIENCY * (double)threads;
    *c = (sharing){ .limit = team > 1 ? 1 - 1 / team : 0,
                       .waiters = threads > 1 ? (double)(threads - 1) : 1,
                       .hold_ns = SHARING_HOLD_NS };
    begin_trial(c, now_ns, 0);
}

void sharing_look(sharing *c, uint64_t now_ns, uint64_t lost_ns)
{
    uint64_t passed = now_ns - c->since_ns;
    if (passed < SHARING_TRIAL_NS)
        return;
    double lost = (double)(lost_ns - c->lost_before) / c->waiters;
    if (lost <= c->limit * (double)passed) {
        c->hold_ns = SHARING_HOLD_NS;
        begin_trial(c, now_ns, lost_ns);
        return;
    }
    c->until_ns = now_ns + c->hold_ns;
    c->hold_ns = c->hold_ns * 2 < SHARING_HOLD_MOST_NS ? c->hold_ns * 2 : SHARING_HOLD_MOST_NS;
}

void sharing_tick(sharing *c, uint64_t now_ns, uint64_t lost_ns)
{
    if (sharing_pauses(c) && now_ns >= c->until_ns)
        begin_trial(c, now_ns, lost_ns);
}

/* pace.c: see pace.h. */
#include "base/pace.h"

void pace_init(pace *p, uint64_t now_ns, uint64_t switches)
{
    *p = (pace){ .began_ns = now_ns, .slice_ns = PACE_SLICE_MOST_NS, .switches = switches };
}

bool pace_end(pace *p, uint64_t now_ns, uint64_t switches)
{
    p->is_crowded = p->is_crowded || switches != p->switches;
    pace_wait(p, now_ns, switches);
    return p->is_crowded;
}

void pace_wait(pace *p, uint64_t now_ns, uint64_t switches)
{
    p->began_ns = now_ns;
    p->switches = switches;
}

/* A thread that takes less time than the other program is never the one whose turn is over. */
void pace_begin(pace *p, uint64_t now_ns, uint64_t gave_ns, uint64_t switches)
{
    p->is_crowded = gave_ns >= PACE_GAVE_NS;
    uint64_t slice = gave_ns - gave_ns / 4;
    if (p->is_crowded)
        p->slice_ns = slice < PACE_SLICE_LEAST_NS  ? PACE_SLICE_LEAST_NS
                      : slice > PACE_SLICE_MOST_NS ? PACE_SLICE_MOST_NS
                                                   : slice;
    pace_wait(p, now_ns, switches);
}

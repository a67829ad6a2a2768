/* sharing.c: see sharing.h. */
#include "base/sharing.h"

static void begin(sharing *s, bool alone, bool on_trial, uint64_t now_ns, uint64_t lost_ns)
{
    s->alone = alone;
    s->on_trial = on_trial;
    s->work = 0;
    s->since_ns = now_ns;
    s->lost_before = lost_ns;
}

void sharing_init(sharing *s, uint32_t threads, uint64_t now_ns)
{
    *s = (sharing){ .waiters = threads > 1 ? (double)(threads - 1) : 1, .hold_ns = SHARING_HOLD_NS };
    begin(s, false, false, now_ns, 0);
}

/* Both ways have been measured, the one on trial just now. */
static void choose(sharing *s, uint64_t now_ns, uint64_t lost_ns)
{
    bool before = !s->alone, alone = s->speed[1] > SHARING_MARGIN * s->speed[0];
    uint64_t twice = s->hold_ns * 2;
    if (alone != before)
        s->hold_ns = SHARING_HOLD_NS;
    s->until_ns = now_ns + s->hold_ns;
    if (alone == before)
        s->hold_ns = twice < SHARING_HOLD_MOST_NS ? twice : SHARING_HOLD_MOST_NS;
    begin(s, alone, false, now_ns, lost_ns);
}

void sharing_look(sharing *s, uint64_t now_ns, uint64_t lost_ns)
{
    uint64_t passed = now_ns - s->since_ns;
    if (passed < SHARING_TRIAL_NS || (!s->on_trial && s->alone && now_ns < s->until_ns))
        return;
    s->speed[s->alone] = s->work / (double)passed;
    if (s->on_trial) {
        choose(s, now_ns, lost_ns);
        return;
    }
    /* A team that loses no time is not compared with anything: on a free host there are no trials. */
    double lost = (double)(lost_ns - s->lost_before) / s->waiters;
    bool suspect = lost > SHARING_SUSPECT * (double)passed;
    bool compare = s->alone || (suspect && now_ns >= s->until_ns);
    if (!s->alone && !suspect && now_ns >= s->until_ns)
        s->hold_ns = SHARING_HOLD_NS;
    begin(s, compare ? !s->alone : s->alone, compare, now_ns, lost_ns);
}

/* run.h: the state of one ls_run(), shared by plan.c (which window is next) and run.c (threads). */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "base/sharing.h"
#include "base/pool.h"
#include "engine/state.h"

#define PROGRESS_INTERVAL_NS UINT64_C(100000000)

typedef struct worker {
    _Alignas(LS_CACHE_LINE) atomic_uint cursor; /* next domain of its queue to take */
    uint32_t count;
    ls_domain **queue;
} worker;

/* How the threads share the work between two barriers. */
typedef enum share_kind {
    SHARE_NOTHING, /* the planner did it all */
    SHARE_DOMAINS, /* the domains of one window of each group */
    SHARE_GROUPS,  /* whole groups, each for a whole meeting */
    SHARE_ALONE,   /* one thread plans and runs windows until sharing is tried again */
} share_kind;

typedef struct run {
    ls_engine *engine;
    const ls_run_options *options;
    uint32_t threads;
    bool grouped;         /* several groups have domains */
    ls_time until;        /* options.until, or an earlier stop */
    ls_time deadline;     /* when the watchdog looks; LS_TIME_MAX without */
    ls_time sample_at;    /* when the sampler looks; LS_TIME_MAX without */
    ls_time pause_at;     /* when the caller wants a pause; LS_TIME_MAX without */
    ls_time horizon;      /* the earliest of the four: no window goes beyond */
    ls_domain **runnable; /* of the window, of all groups that take part */
    size_t runnable_count;
    uint32_t *owner; /* by domain id */
    worker *workers;
    thread_barrier barrier;
    bool finished;
    ls_status status;
    ls_time present; /* where it ended: every cycle before has been run, no cycle from it on */
    ls_error *err;
    bool partial, limited;
    bool paused;           /* options.pause is due; the run goes on after it */
    share_kind shared;     /* the kind of work that runs between the barriers */
    double ns_per_cycle;   /* of a region, on this host */
    sharing sharing;       /* whether that brings anything at present */
    uint32_t alone_thread; /* SHARE_ALONE: who */
    bool window_is_long;   /* a look at the clock costs nothing beside it */
    uint32_t shared_count; /* windows since the last look at it */
    uint64_t windows;      /* windows, and meetings if there are several groups: host side */

    /* Several groups: the meeting. */
    ls_time meeting_fs; /* how long groups may run without meeting */
    ls_group **active;  /* groups that still have windows to run in this meeting */
    size_t active_count;
    atomic_uint group_cursor; /* SHARE_GROUPS: the next to take */

    /* watchdog */
    bool watching; /* a period was begun */
    uint64_t progress_seen;
    /* progress */
    uint64_t next_callback_ns, looked_ns, look_mask;
} run;

/* plan.c. All return false when the run is finished, or plan_group() and plan_round() the meeting. */
uint64_t plan_total_progress(const ls_engine *engine);
void plan_set_horizon(run *r);
/* The times that samplers have chosen, and the horizon from them. */
void plan_read_samplers(run *r);
/* The same for the pause. */
void plan_read_pause(run *r);
/* One group: sets its next window and the list of domains that have something to do in it. */
bool plan_window(run *r);
/* Several groups: begins the next meeting and lists the groups that have something to do in it. */
bool plan_meeting(run *r);
/* The next window of one group inside the meeting. */
bool plan_group(const run *r, ls_group *group, ls_time limit);
/* The next window of every active group; r->runnable lists their domains. */
bool plan_round(run *r);

#endif

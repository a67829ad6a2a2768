/* run.h: the state of one ls_run(), shared by plan.c (which window is next), run.c (one thread) and team.c
 * (several). */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "base/pace.h"
#include "base/pool.h"
#include "base/sharing.h"
#include "engine/state.h"

#define PROGRESS_INTERVAL_NS UINT64_C(100000000)

/* A thread of a team. The pieces of a round are dealt to all workers; a worker whose own are taken helps others. */
typedef struct worker {
    _Alignas(LS_CACHE_LINE) atomic_int left; /* pieces that nobody has taken; below 0: threads came in vain */
    uint32_t count;                          /* pieces of this round */
    ls_domain **queue;                       /* SHARE_DOMAINS */
    ls_group **groups;                       /* SHARE_GROUPS */
    uint64_t load;                           /* expected cycles of these */
    _Alignas(LS_CACHE_LINE) pace pace;       /* from here on its own thread's only */
    uint64_t looked_ns;                      /* at the clock */
    uint32_t stride, until_look;             /* pieces between two looks, and to the next one */
} worker;

/* The work of a round. */
typedef enum share_kind {
    SHARE_NOTHING, /* none: the run is finished */
    SHARE_DOMAINS, /* the domains of one window of each group */
    SHARE_GROUPS,  /* whole groups, each for a whole meeting */
    SHARE_PLAN,    /* another thread goes on with planning, if it can: this one gives its CPU away */
    SHARE_ALONE,   /* another thread goes on with planning, and runs all windows for a while */
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
    _Alignas(LS_CACHE_LINE)
        atomic_uint undone;   /* pieces of the round; the thread that does the last one plans */
    atomic_bool plan_is_free; /* any thread may plan */
    atomic_bool is_over;      /* all threads end */
    worker *planner;          /* the thread that plans at present */
    bool finished;
    ls_status status;
    ls_time present; /* where it ended: every cycle before has been run, no cycle from it on */
    ls_error *err;
    bool partial, limited;
    bool paused;           /* options.pause is due; the run goes on after it */
    bool is_stopping;      /* several ranks: a domain of any rank has asked for a stop */
    share_kind shared;     /* the kind of work of the round */
    double ns_per_cycle;   /* of a region, on this host */
    sharing sharing;       /* whether that brings anything at present */
    bool window_is_long;   /* a look at the clock costs nothing beside it */
    uint32_t shared_count; /* windows since the last look at it */
    uint64_t windows;      /* windows, and meetings if there are several groups: host side */

    /* Several groups: the meeting. */
    ls_time meeting_fs; /* how long groups may run without meeting */
    ls_group **active;  /* groups that still have windows to run in this meeting */
    size_t active_count;

    /* watchdog */
    bool watching; /* a period was begun */
    uint64_t progress_seen;
    /* progress */
    uint64_t next_callback_ns, looked_ns, look_mask;
} run;

static inline void run_domain(const run *r, ls_domain *domain)
{
    if (LS_LIKELY(!r->options->scaling)) {
        domain_run_window(domain);
        return;
    }
    uint64_t start = host_clock_ns();
    domain_run_window(domain);
    domain->host_ns = host_clock_ns() - start;
}

/* run.c */
void run_window(run *r);                       /* of r->runnable, of one group or of several */
void run_close_windows(run *r);                /* after r->runnable ran */
void run_group(const run *r, ls_group *group); /* all windows of a group up to the end of the meeting */
void run_meeting(run *r);                      /* the same of all groups */
void run_close_meeting(const run *r); /* the meeting that was planned last has run, if there was one */

/* team.c: all windows, with r->threads > 1. */
void team_run(run *r, thread_pool *pool);

/* plan.c. All return false when the run is finished, or plan_group() and plan_round() the meeting. */
uint64_t plan_total_progress(const ls_engine *engine);
/* All cycles before `present` have run: the counters of all blocks show them. */
void plan_settle(const ls_engine *engine, ls_time present);
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

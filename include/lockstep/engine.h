/* engine.h: time, domains, events, links and the run: everything that a hardware block uses.
 *
 *   engine   the whole simulation
 *   domain   simulated serially; owns its memory, its random stream and its regions. Domains run in parallel
 *   group    domains that share windows: a GPU, the host, a switch. One group unless the machine makes more
 *   region   the part of a domain that runs on one clock: an event wheel and the blocks that tick. Most
 *            domains have one region; a memory partition has two (L2 clock, DRAM clock)
 *   event    a call at a given cycle of a region
 *   ticker   a block that runs every cycle while it has work, and costs nothing while it has none
 *   link     the only way between domains: one direction, latency, width, credits
 *
 * The order inside one cycle of a region is fixed. First come arrivals from links by (arrival time, link
 * number, sequence number). Then come events in the order of scheduling, then tickers in the order in which
 * they were added. Last come events that tickers scheduled for this cycle; a ticker that these wake runs in
 * the next cycle. Regions of a domain that have an edge at the same femtosecond run in the order of their
 * creation. Nothing else decides order, so results cannot depend on threads, windows or assignment.
 *
 * During the run, calls that take a region or ticker may be made only from inside its own domain. Calls that
 * take a link may be made only from its `from` region (sender) or `to` region (receiver). An event that is
 * scheduled on another region of the same domain counts from that region's last edge. It runs at that region's
 * next edge at the soonest. This is how data crosses from one clock to another inside a domain. */
#ifndef LOCKSTEP_ENGINE_H
#define LOCKSTEP_ENGINE_H

#include "lockstep/random.h"
#include "lockstep/time.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>

typedef struct ls_engine ls_engine;
typedef struct ls_group ls_group;
typedef struct ls_domain ls_domain;
typedef struct ls_region ls_region;
typedef struct ls_link ls_link;

/* ---------------------------------------------------------------------------------------------- engine */

LS_API ls_status ls_engine_create(uint64_t seed, ls_engine **out, ls_error *err);
LS_API void ls_engine_destroy(ls_engine *engine);

/* Memory that lives as long as the engine, zeroed; NULL when the host has none left. Before the run only. */
LS_API void *ls_engine_alloc(ls_engine *engine, size_t bytes);
/* A builder's description of its machine: a struct with its blocks, by kind ("gpu") and in the order of
 * building. It is not freed. ls_engine_part() is NULL past the last. */
LS_API ls_status ls_engine_add_part(ls_engine *engine, const char *kind, void *part, ls_error *err);
LS_API void *ls_engine_part(const ls_engine *engine, const char *kind, uint32_t index);

/* --------------------------------------------------------------------------------------- domain, region */

/* A domain with one region on `clock`. The name must be unique in the engine. */
LS_API ls_status ls_domain_create(ls_engine *engine, const char *name, ls_clock clock, ls_domain **out,
                                  ls_error *err);
/* One more region on another clock. */
LS_API ls_status ls_domain_add_region(ls_domain *domain, ls_clock clock, ls_region **out, ls_error *err);
LS_API ls_region *ls_domain_region(ls_domain *domain, uint32_t index); /* NULL past the end */
LS_API const char *ls_domain_name(const ls_domain *domain);
LS_API uint32_t ls_domain_id(const ls_domain *domain);
/* Among the domains of its machine: the same however many machines stand in the engine. */
LS_API uint32_t ls_domain_place(const ls_domain *domain);
LS_API ls_engine *ls_domain_engine(const ls_domain *domain);
LS_API ls_random *ls_domain_random(ls_domain *domain);
/* True if any block has requested a random stream; otherwise the seed has no effect. */
LS_API bool ls_engine_draws(const ls_engine *engine);
/* Memory of the domain, zeroed, cache-line aligned; NULL when the host has none left. */
LS_API void *ls_domain_alloc(ls_domain *domain, size_t bytes);

LS_API ls_domain *ls_region_domain(const ls_region *region);
LS_API const ls_clock *ls_region_clock(const ls_region *region);
/* The cycle being run (before the run: 0). */
LS_API ls_cycle ls_region_now(ls_region *region);
LS_API ls_time ls_region_time(ls_region *region);

/* Every domain begins with this. */
typedef struct ls_domain_tally {
    int64_t pending;
    uint64_t progress;
} ls_domain_tally;

/* Pending work that no event shows (a resident warp, a queued request). A run that comes to rest with work
 * pending is a deadlock; one without is complete. delta may be negative; the sum never is. */
static inline void ls_domain_pending(ls_domain *domain, int64_t delta)
{
    ls_domain_tally *tally = (ls_domain_tally *)domain;
    tally->pending += delta;
    assert(tally->pending >= 0);
}

/* Says that real work was done; the watchdog watches this. Deliveries count by themselves. */
static inline void ls_domain_progress(ls_domain *domain)
{
    ((ls_domain_tally *)domain)->progress++;
}
/* Ends the whole run one stop delay from now: every domain runs exactly its cycles before that time,
 * independent of windows, threads and groups. */
LS_API void ls_domain_stop(ls_domain *domain);
/* The same for a run that cannot go on: ls_run() returns LS_ERR_INPUT with this reason, which is not copied. The
 * first reason of a domain counts, and that of the first domain that has one. */
LS_API void ls_domain_fail(ls_domain *domain, const char *reason);
/* How long a stop takes to reach every domain. The default is the lookahead, and 10 us where links are longer or
 * there are none. No window and no meeting of groups is longer than the stop delay, so a machine of several
 * groups sets it to about the shortest link between them. 1 fs to 10 us; before the run only. */
LS_API ls_status ls_engine_set_stop_delay(ls_engine *engine, ls_time delay_fs, ls_error *err);
LS_API ls_time ls_engine_stop_delay(const ls_engine *engine);

/* ---------------------------------------------------------------------------------------------- groups */

/* A group's windows are as long as its shortest link inside. Groups synchronise at meetings, which are as long
 * as the shortest link between groups. Results do not depend on groups; they decide only how long domains may
 * run without synchronisation. Every domain starts in group 0, named "machine". Names are unique. */
LS_API ls_status ls_group_create(ls_engine *engine, const char *name, ls_group **out, ls_error *err);
/* Before the first run. */
LS_API ls_status ls_domain_set_group(ls_domain *domain, ls_group *group, ls_error *err);
LS_API ls_group *ls_domain_group(const ls_domain *domain);
LS_API uint32_t ls_group_count(const ls_engine *engine);
LS_API ls_group *ls_group_at(const ls_engine *engine, uint32_t index); /* NULL past the end */
LS_API const char *ls_group_name(const ls_group *group);
/* The shortest link inside the group; LS_TIME_MAX without links. *limiting may be NULL, as below. */
LS_API ls_time ls_group_lookahead(const ls_group *group, const ls_link **limiting);
/* The shortest link between two groups; LS_TIME_MAX without. */
LS_API ls_time ls_engine_cross_lookahead(const ls_engine *engine, const ls_link **limiting);

/* ----------------------------------------------------------------------------------------------- events */

typedef void (*ls_event_fn)(void *self, ls_cycle now);

/* Embedded in a block's state; plain data, reusable at once after it ran or was cancelled. */
typedef struct ls_event {
    struct ls_event *next, *prev; /* neighbours in its bucket; engine only */
    ls_event_fn fn;
    void *self;
    ls_cycle cycle;    /* when it runs, while scheduled */
    ls_region *region; /* where it is scheduled, NULL while it is not; engine only */
    uint64_t place;    /* heap index while it is beyond the wheel; engine only */
} ls_event;

static inline void ls_event_init(ls_event *event, ls_event_fn fn, void *self)
{
    *event = (ls_event){ .fn = fn, .self = self };
}

static inline bool ls_event_scheduled(const ls_event *event)
{
    return event->region != NULL;
}

/* Runs event->fn in `delay` cycles; 0 means later in this cycle. The event must not be scheduled already. */
LS_API void ls_schedule(ls_region *region, ls_event *event, uint64_t delay_cycles);
/* The same with an absolute cycle, not before now. */
LS_API void ls_schedule_at(ls_region *region, ls_event *event, ls_cycle cycle);
/* Takes it back; nothing happens if it is not scheduled. */
LS_API void ls_cancel(ls_event *event);

/* ---------------------------------------------------------------------------------------------- tickers */

/* Returns true to run again next cycle, false to sleep until woken. */
typedef bool (*ls_tick_fn)(void *self, ls_cycle now);

typedef struct ls_ticker {
    ls_tick_fn fn;
    void *self;
    ls_region *region; /* engine only, as are the rest */
    uint32_t index;
} ls_ticker;

LS_API ls_status ls_ticker_add(ls_region *region, ls_ticker *ticker, ls_tick_fn fn, void *self, ls_error *err);
/* From an arrival, an event or a ticker added earlier: it runs in this cycle. From itself or from a ticker
 * added later: in the next one. */
LS_API void ls_ticker_wake(ls_ticker *ticker);

/* ------------------------------------------------------------------------------------------------ links */

/* The payload is valid during the call only: copy what is needed. The buffer entry stays taken until
 * ls_link_release(). */
typedef void (*ls_receive_fn)(void *self, ls_link *link, const void *payload, ls_cycle now);

typedef struct ls_link_spec {
    const char *name;
    ls_region *from, *to;
    const char *from_name, *to_name; /* names of the sender and of the buffer's owner, for reports; NULL: the
                                      * domain */
    uint32_t latency_cycles; /* of `from`'s clock, from send to arrival; >= 1 cycle of the slower side */
    uint32_t width_bytes;    /* bytes per width_cycles cycles of `from`'s clock; 0: no limit */
    uint32_t width_cycles;   /* 0 counts as 1 */
    uint32_t flit_bytes;     /* a message takes whole flits of wire; 0: width_bytes */
    uint32_t credits;        /* buffer entries at the receiver, 1 to 65536 */
    uint32_t credit_latency_cycles; /* of `to`'s clock; 0: the time of latency_cycles, rounded up */
    uint32_t payload_bytes;         /* size of a message in host memory */
    ls_receive_fn receive;
    void *receiver;
} ls_link_spec;

LS_API ls_status ls_link_create(ls_engine *engine, const ls_link_spec *spec, ls_link **out, ls_error *err);
LS_API uint32_t ls_link_id(const ls_link *link);
LS_API const char *ls_link_name(const ls_link *link);
/* Enumerates links with the names of their ends: false past the last. */
LS_API bool ls_engine_link_at(const ls_engine *engine, uint32_t index, const char **name, const char **from,
                              const char **to);

/* Sender. True if ls_link_send() would succeed in this cycle. */
LS_API bool ls_link_ready(ls_link *link);
/* Sender. Takes a credit and wire time for wire_bytes (0 counts as 1). Returns the payload to fill in before
 * the handler returns; it is not zeroed. NULL if the link is not ready. The message arrives latency_cycles
 * after its last flit has left. */
LS_API void *ls_link_send(ls_link *link, uint32_t wire_bytes);
/* Sender. Runs `event` (which must be idle) among the arrivals of the first later cycle in which the link is
 * ready. If it is ready now, `event` runs among the events of this cycle. Waiting events of a link are served
 * in order, each only while the link is still ready, so that its send succeeds. A waiting event must not be
 * scheduled or cancelled. */
LS_API void ls_link_wait(ls_link *link, ls_event *event);
/* Receiver. Gives `entries` buffer entries back. */
LS_API void ls_link_release(ls_link *link, uint32_t entries);
/* Sender. Credits that have come home; for reports and tests. */
LS_API uint32_t ls_link_credits(const ls_link *link);

/* All links, in the order of their creation. */
LS_API uint32_t ls_engine_link_count(const ls_engine *engine);
LS_API ls_link *ls_engine_link(const ls_engine *engine, uint32_t index); /* NULL past the end */
/* How full a link's buffer is; between windows only. */
typedef struct ls_link_use {
    const char *name, *from, *to; /* of the link, of the sender, of the buffer's owner */
    uint64_t messages;            /* sent so far */
    uint32_t used, entries;       /* buffer entries: taken or promised; all */
    bool waits;                   /* a sender waits for the link */
} ls_link_use;
LS_API void ls_link_get_use(const ls_link *link, ls_link_use *out);

/* ------------------------------------------------------------------------------------------------ hooks */

typedef struct ls_hook_args {
    ls_domain *domain; /* where it happened; the subscriber runs on this domain's thread */
    ls_time time;
    const char *source; /* block or link name */
    uint64_t value[3];  /* meaning stated in the hook's help */
    const void *data;   /* likewise; valid during the call */
} ls_hook_args;

typedef void (*ls_hook_fn)(void *self, const ls_hook_args *args);

/* A named observation point. `subscribers` is read inline: an unused hook costs one predicted branch. */
typedef struct ls_hook {
    uint32_t subscribers;
    uint32_t id;
} ls_hook;

/* Defines a hook, or finds the one of that name. Engine's own: "link.send" and "link.deliver" (value: link
 * id, sequence number, wire bytes; data: the payload, for deliver). */
LS_API ls_status ls_hook_define(ls_engine *engine, const char *name, const char *help, const ls_hook **out,
                                ls_error *err);
/* Before the run. A subscriber that keeps state across domains must keep it per domain (ls_domain_id). */
LS_API ls_status ls_hook_subscribe(ls_engine *engine, const char *name, ls_hook_fn fn, void *self,
                                   ls_error *err);
LS_API void ls_hook_fire(ls_engine *engine, const ls_hook *hook, const ls_hook_args *args);
/* Enumerates: false past the end. */
LS_API bool ls_hook_at(const ls_engine *engine, uint32_t index, const char **name, const char **help);

/* ---------------------------------------------------------------------------------------------- waiters */

/* Waiters and their blockers. Each block reports its own when a run is stuck or the user requests a report. */
typedef struct ls_wait_sink ls_wait_sink;
typedef void (*ls_wait_fn)(const void *self, ls_wait_sink *sink);

/* Calls fn for a report. Links report their own waiting senders. */
LS_API ls_status ls_waits_register(ls_engine *engine, const char *name, ls_wait_fn fn, const void *self,
                                   ls_error *err);
/* `waiter` (a block's name) waits for `holder` (another's name); detail: "warp 3, pc 0x40: MSHR entry". */
LS_API void ls_wait_report(ls_wait_sink *sink, const char *waiter, const char *holder, const char *detail);

/* --------------------------------------------------------------------------------------------- warnings */

/* Something that a reader of the results must know: a key without effect, a feature that is not modelled, an
 * assumption. The list goes into every form of results. */
typedef struct ls_warning {
    const char *kind; /* one word of a fixed set, in docs/metrics.md: "key", "unmodelled", "assumption", ... */
    const char *text; /* one sentence without a full stop; it names its cause */
} ls_warning;

/* Adds a warning; equal ones are kept once. Before, between and after runs, never while windows run: a block
 * counts there, and the caller of ls_run() turns the counter into a warning. Without memory the warning is
 * lost and LS_ERR_NOMEM returned. */
LS_API ls_status ls_engine_warn(ls_engine *engine, const char *kind, const char *fmt, ...) LS_PRINTF(3, 4);
/* The list, in the order of the calls. *count may not be NULL. */
LS_API const ls_warning *ls_engine_warnings(const ls_engine *engine, size_t *count);

/* -------------------------------------------------------------------------------------------------- run */

/* Flags that another thread or a signal handler may set while the run goes on. */
typedef struct ls_run_control {
    atomic_int stop; /* end at the next window; the result is partial */
    atomic_int dump; /* write the status to dump_to at the next window */
} ls_run_control;

typedef struct ls_run_progress {
    ls_time now;
    uint64_t windows, events, messages;
} ls_run_progress;

/* Looks at the machine at times of its own choice, between windows, while no domain runs. At `next` every cycle before
 * that time has run and none from it on, for any window and any number of threads. */
typedef struct ls_run_sampler {
    ls_time next; /* LS_TIME_MAX: never (again) */
    /* At now == next. `pending` is the time of the earliest work left: nothing changes before it, but blocks that wait
     * may count cycles. The function sets next to a time after `now`; a time up to it counts as never. */
    void (*look)(struct ls_run_sampler *sampler, ls_time now, ls_time pending);
    struct ls_run_sampler *also; /* another one; NULL: none */
} ls_run_sampler;

/* Interrupts a run between two windows, as if it had been two runs: ls_engine_save() may be called then. The run goes on
 * after it. No result depends on pauses. */
typedef struct ls_run_pause {
    ls_time at;     /* a simulated time: every cycle before it has run, none from it on; LS_TIME_MAX: none */
    atomic_int now; /* by any thread and by progress(): before the next window */
    /* `at` and `now` are cleared before the call, which may set them again. A status other than LS_OK ends the run with it.
     * While a stop of a domain (ls_domain_stop) is on its way, the pause waits for it, if need be until the next run. */
    ls_status (*take)(struct ls_run_pause *pause, ls_error *err);
} ls_run_pause;

typedef enum ls_assignment {
    LS_ASSIGN_STATIC,  /* assigned to the threads in turn, in small groups of neighbours; idle threads steal */
    LS_ASSIGN_FIXED,   /* as static, without stealing */
    LS_ASSIGN_DYNAMIC, /* every domain is taken from one shared list */
    LS_ASSIGN_SHUFFLED /* static over a random permutation (shuffle_seed): for tests */
} ls_assignment;

typedef struct ls_run_options {
    uint32_t threads;  /* 0 counts as 1 */
    ls_time until;     /* cycles at or after this time are not run; 0: no limit */
    ls_time window_fs; /* upper bound of windows and meetings; 0: as long as links allow */
    ls_assignment assignment;
    uint64_t shuffle_seed;
    /* No progress for so long with work pending is a deadlock, unless nothing is due for as long again: that is a
     * timer, not polling. 0: only a machine at rest is a deadlock. */
    ls_time watchdog_fs;
    bool scaling; /* measure the work per domain and window (ls_scaling_report) */
    ls_run_control *control;
    FILE *dump_to;
    void (*progress)(void *self, const ls_run_progress *progress); /* about ten times a second */
    void *progress_self;
    ls_run_sampler *sampler; /* may be NULL; progress() may set the times of samplers, too */
    /* Between windows (meetings of groups), while no domain runs: every cycle before has been run. A status other than
     * LS_OK ends the run with it. How often it is called depends on the windows. */
    ls_status (*between)(void *self, ls_error *err);
    void *between_self;
    ls_run_pause *pause; /* may be NULL */
} ls_run_options;

typedef struct ls_run_result {
    ls_time end_time; /* of the last cycle run */
    /* Of all runs so far. region_cycles: cycles with work, summed over regions: the engine's steps, no time. */
    uint64_t events, messages, ticks, region_cycles;
    uint64_t windows; /* of this run, summed over groups; host side: depends on the window size */
    ls_time lookahead_fs;
    bool partial; /* stopped by control->stop */
    bool limited; /* stopped by options.until: something is scheduled at or after that time */
} ls_run_result;

/* Runs until nothing is pending, `until`, ls_domain_stop() or control->stop. May be called again to continue.
 * Events scheduled in between start at the time where the run ended, in every domain. LS_ERR_DEADLOCK names
 * the cycle of waiters in err and leaves the whole report in ls_engine_report(). */
LS_API ls_status ls_run(ls_engine *engine, const ls_run_options *options, ls_run_result *result,
                        ls_error *err);

/* The text of the last deadlock report; "" if there is none. */
LS_API const char *ls_engine_report(const ls_engine *engine);
/* Writes what every domain is doing and who waits for whom. */
LS_API void ls_engine_dump(ls_engine *engine, FILE *to);

/* The smallest link latency of all groups, LS_TIME_MAX without links; *limiting: the link to blame (may be
 * NULL). */
LS_API ls_time ls_engine_lookahead(const ls_engine *engine, const ls_link **limiting);
/* Fails, naming the link (and its group, if there are several), if the lookahead is below `minimum`. */
LS_API ls_status ls_engine_require_lookahead(const ls_engine *engine, ls_time minimum, ls_error *err);

/* Predicted times on other hosts, of all runs with options.scaling together. */
#define LS_SCALING_POINTS 6
typedef struct ls_scaling {
    uint64_t windows;                    /* with several groups: meetings */
    double work_seconds;                 /* summed over domains */
    double span_seconds;                 /* sum over windows of the longest domain: no machine is faster */
    double barrier_seconds;              /* measured cost of one window's barrier, 0 with one thread */
    uint32_t threads[LS_SCALING_POINTS]; /* 2, 4, 8, 16, 32, 64 */
    double speedup[LS_SCALING_POINTS];
} ls_scaling;
LS_API bool ls_scaling_report(const ls_engine *engine, ls_scaling *out);

/* The part of one group in that run. */
typedef struct ls_scaling_group {
    const char *name;
    uint32_t domains;
    uint64_t windows;
    ls_time window_fs;                 /* their length, at most */
    double work_seconds, span_seconds; /* as above */
} ls_scaling_group;
/* False past the end and for a run that measured nothing. */
LS_API bool ls_scaling_report_group(const ls_engine *engine, uint32_t index, ls_scaling_group *out);

/* A network between ranks (processes that share the groups of a machine). A meeting costs the latency of one message and
 * of a reduction, which takes log2(ranks) messages, and the time of the bytes that the busiest rank sends. */
#define LS_SCALING_NETWORKS 3
typedef struct ls_scaling_network {
    const char *name;
    double latency_seconds, bytes_per_second;
} ls_scaling_network;
LS_API extern const ls_scaling_network ls_scaling_networks[LS_SCALING_NETWORKS];

/* Predicted times on `ranks` processes with one thread each. */
typedef struct ls_scaling_ranks {
    uint32_t ranks;      /* 2, 4, 8, 16, 32, 64 */
    double busy_seconds; /* sum over meetings of the longest rank: no network is faster */
    uint64_t bytes;      /* between ranks, in all */
    double speedup[LS_SCALING_NETWORKS];
} ls_scaling_ranks;
/* False past the end: more ranks than groups; and for a run that measured nothing. */
LS_API bool ls_scaling_report_ranks(const ls_engine *engine, uint32_t index, ls_scaling_ranks *out);

#endif

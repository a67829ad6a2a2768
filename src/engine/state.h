/* state.h: the engine's own structs, for the files of src/engine only.
 *
 * Reading order: ls_region and its wheel (wheel.c), ls_link (link.c), ls_domain (domain.c), ls_engine (plan.c,
 * run.c).
 *
 * Ownership while windows run: a domain and its regions belong to the thread that runs the domain in this
 * window. A link has a sender half (the domain of `from`) and a receiver half (the domain of `to`). The
 * receiver reads the sender's messages one window later, with a barrier in between, from the mailboxes of the other
 * parity; a thread that runs all domains of a group writes into their wheels. Only credits may be looked at in the window in which they were given: each says from which cycle on
 * it counts, which is never one of that window. The planner alone writes to ls_engine, while all other threads
 * wait. With several groups, a group belongs to its planner during a meeting, and links between groups are
 * exchanged between meetings, by the engine's planner. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "lockstep/timeline.h"

#include <assert.h>

#define LS_CACHE_LINE 64

/* Invariants on the hottest paths are checked in the debug and sanitizer builds only. */
#ifdef LS_CHECKED
#define hot_assert(condition) assert(condition)
#else
#define hot_assert(condition) ((void)0)
#endif
#define COLD __attribute__((noinline, cold))

/* The wheel covers this many cycles from now; later ones wait in a heap. A bit per bucket, and a byte per word of these,
 * find the next bucket. Latencies in GPUs are tens to several hundred cycles, so the heap sees launch delays and idle
 * timers only. */
#define WHEEL_BITS 10
#define WHEEL_SIZE (1u << WHEEL_BITS)
#define WHEEL_WORDS (WHEEL_SIZE / 64)
_Static_assert(WHEEL_WORDS == 16, "two words have the bytes of all words");

/* On one clock of a domain: 64 words of 64 bits, the range of one summary word. */
#define TICKERS_MAX 4096u

/* A window without links would never end: bound it, so that signals, stops and progress are seen. 10 us is
 * some ten thousand cycles. */
#define WINDOW_MAX_FS UINT64_C(10000000000)

/* ----------------------------------------------------------------------------------------------- region */

/* An entry of a region's wheel: a message, whose slot begins with it, or the waiting senders of a link, which becomes
 * ready. Neither needs a pool. */
typedef struct arrival {
    ls_cycle cycle;       /* of the region's clock */
    ls_time early_fs;     /* how long before the edge of `cycle` it comes: decides the order among clocks */
    uint32_t wire_bytes;  /* of a message */
    uint32_t order;       /* link id * 2; for waiting senders 1 more */
    struct arrival *next; /* in its bucket */
} arrival;
#define ARRIVAL_IS_WAKE 1u /* bit of `order` */

/* Lists by pointer, not those of base/list.h: events and arrivals are members of blocks and links, not elements of one
 * array, so that they have no index. */
typedef struct bucket {
    ls_event *events;  /* the newest of a circular list: events->next is the oldest */
    arrival *arrivals; /* the last of a circular list sorted by (early_fs down, order up) */
} bucket;

/* An event or arrival beyond the wheel. */
typedef struct far_entry {
    ls_cycle cycle;
    uint64_t sequence; /* keeps the order of scheduling among equals */
    ls_event *event;   /* one of the two is set */
    arrival *arrival;  /* of a message: all later ones of its link wait behind it */
} far_entry;

/* Messages that one thread has sent to a region in a window, in the order of sending. They are in no order of time: the
 * region's wheel puts them into it. */
typedef struct mailbox {
    arrival *first;
    arrival **end; /* where the next goes: &first, or `next` of the last */
} mailbox;

/* The mailboxes that a thread fills, by parity of the window and by place of the region. */
typedef struct thread_mail {
    mailbox *boxes[2];
} thread_mail;

/* The conversions of time.h without a call, for the windows' loop. */
static inline ls_time clock_time(const ls_clock *clock, ls_cycle cycle)
{
    uint64_t product;
    if (LS_UNLIKELY(__builtin_mul_overflow(cycle, clock->period_num, &product)))
        return ls_clock_time(clock, cycle);
    return product / clock->period_den;
}

static inline ls_cycle clock_cycle_at(const ls_clock *clock, ls_time time)
{
    uint64_t product;
    if (LS_UNLIKELY(__builtin_mul_overflow(time, clock->period_den, &product)))
        return ls_clock_cycle_at(clock, time);
    uint64_t cycle = product / clock->period_num;
    return cycle + (cycle * clock->period_num != product);
}

struct ls_region {
    /* Invariants: now < floor, or both are 0 before the first cycle. Every queued cycle is >= floor, or == now
     * while cycle now is running. Cycles in the wheel are < now + WHEEL_SIZE, cycles in the heap are not. */
    ls_cycle now;            /* the cycle that is running or ran last */
    ls_cycle floor;          /* the first cycle that has not run; while running that follows from `now` */
    bucket *wheel;           /* WHEEL_SIZE */
    uint64_t active_summary; /* bit w: active[w] != 0; of a single ticker 1: it has work */
    size_t far_count;
    ls_cycle sent_min; /* earliest arrival, in this clock, of messages sent in this window */
    uint64_t reach;    /* how far ls_schedule() may go the short way: WHEEL_SIZE in a cycle of it, else 0 */
    mailbox *out;      /* by place: of this thread, for messages of the window; NULL: no other thread runs */
    _Atomic uint8_t *out_mail;    /* by place of the receiver's domain: there is mail of the window */
    uint8_t summary[WHEEL_WORDS]; /* occupied[w] != 0 */
    uint64_t occupied[WHEEL_WORDS];
    uint64_t events_run, messages_in, ticks_run, cycles_run;
    ls_link *const *links; /* of the engine, by id; set at the first run */

    uint64_t active[TICKERS_MAX / 64]; /* several tickers: those with work, a bit each */
    uint32_t ticker_count, ticker_capacity;
    ls_ticker **tickers;
    ls_ticker *single; /* the only one; NULL: there are none or several */
    far_entry *far;    /* binary heap by (cycle, sequence) */
    size_t far_capacity;
    uint64_t far_sequence;

    ls_domain *domain;
    ls_clock clock;
    uint32_t clock_id;    /* index into the engine's list of different clocks */
    ls_cycle idle_floor;  /* where the last run left floor: no cycle was run since, if it is still there */
    uint32_t index;       /* in its domain */
    uint32_t place;       /* among all regions; set at the first run */
    const char *end_name; /* of the last link that ends here under a name of its own; NULL: none */
    ls_cycle
        next_cycle; /* its next cycle with work, in domains with several regions: decides whose turn is next */
    ls_time next_fs;              /* and its time */
    const ls_region *synced_with; /* region_sync() was last called in this cycle of this region */
    ls_cycle synced_at;
};

/* `now` is the present. */
static inline bool region_runs(const ls_region *region)
{
    return region->reach != 0;
}

/* ------------------------------------------------------------------------------------------------- link */

/* Before each payload of a link is its arrival. */
#define SLOT_HEADER_BYTES 32
_Static_assert(sizeof(arrival) == SLOT_HEADER_BYTES, "slot header");

struct ls_link {
    /* Set once. */
    ls_region *from, *to;
    /* Rings, NULL until the first use: the slots, which messages take in turn; of each credit that returned, from which cycle
     * of the sender's clock on it can be used. */
    arrival **slots;
    ls_cycle *credit_ring;
    uint32_t ring_mask, slot_bytes; /* ring_mask: a place for each credit */
    uint32_t latency_cycles, credit_latency_cycles;
    uint32_t quick_end;   /* messages of fewer bytes take one flit and have nothing special */
    uint32_t flit_cycles; /* an even wire is busy for so long with a flit: 1, without a limit 0 */
    uint32_t width_units; /* wire units per cycle: width_bytes; 0: no limit */
    uint32_t flit_units;  /* wire units of one flit: flit_bytes * width_cycles */
    uint32_t flit_bytes;  /* UINT32_MAX without a limit: everything is one flit */
    uint32_t id;
    uint32_t to_place, to_domain; /* places of the receiver's region and of its domain; set at the first run */
    bool even;    /* a flit takes exactly the wire of one cycle, or the width has no limit: no fractions */
    bool special; /* clocks or groups differ, or a hook is set: take the slow path */
    bool same_clock;
    bool
        frees_at_once; /* each message's buffer entry is free when it arrives: its slot says when the credit is home */
    bool frees_behind; /* the same, but the engine releases the entry: between clocks or groups */
    ls_receive_fn receive;
    ls_receive_fn deliver; /* receive, or a call around it: with hooks, and to release the entry */
    void *receiver;

    /* Sender's half. Invariant: home <= released <= head <= tail, and tail - home <= slot_limit: messages of which the
     * credits came home, were released, were delivered, were sent. Those of 32 bits wrap. */
    _Alignas(LS_CACHE_LINE) uint64_t tail; /* messages sent */
    ls_cycle wire_cycle;                   /* the first cycle in which the wire has room */
    uint64_t wire_free; /* first free wire unit (unit u is in cycle u / width_units); not even */
    uint32_t home;
    uint32_t slot_mask;    /* of the ring of slots: their number is a power of two */
    uint32_t slot_limit;   /* as many messages find slots: at most credit_total */
    uint32_t slots_end;    /* all before this one find slots: at most home + slot_limit */
    ls_event *waiters;     /* newest of a circular list */
    ls_link *next_looking; /* of the domain's */
    bool looks;            /* is one of them */
    bool serving;          /* waiters are being run */
    bool wake_queued;      /* is in the sender's wheel */
    ls_event serve;        /* runs waiters that came while the link was ready */
    arrival wake;

    /* Receiver's half. */
    _Alignas(LS_CACHE_LINE) uint64_t head; /* messages delivered */
    uint32_t quick_entries;    /* so many entries return the short way: 1, or UINT32_MAX: none do */
    uint64_t seen;             /* between groups: messages that came to the receiver's region */
    _Atomic uint32_t released; /* position in credit_ring: the sender may look up to here at any time */
    arrival *far_last; /* the last of a circular list of messages beyond the wheel: the first is in the heap */

    ls_engine *engine;
    uint8_t *cross_news; /* NULL inside a group */
    uint32_t credit_total;
    ls_time lookahead; /* the shorter of a message's and a credit's way */
    const char *name, *from_name, *to_name;
};

/* ----------------------------------------------------------------------------------------------- domain */

struct ls_domain {
    ls_domain_tally tally; /* first: see lockstep/engine.h */
    ls_engine *engine;
    ls_group *group;
    uint32_t id, region_count;
    uint32_t machine_place; /* among the domains of its machine */
    uint32_t
        place; /* in the engine's arrays, where the domains of a group are neighbours; set at the first run */
    ls_region **regions;
    ls_region *current;         /* the region whose cycle is running; NULL outside of a window */
    bool touched;               /* a region that is not running may have got or lost work */
    ls_link *looking;           /* outgoing links that look for credits in the next window */
    uint64_t window;            /* the last window that it ran in; 0: none yet */
    uint64_t work;              /* cycles run in the last window it ran: the planner's estimate */
    uint64_t host_ns;           /* of this window, while measuring */
    ls_time sent_min;           /* earliest arrival of messages sent in the last window that it ran */
    ls_time stop_time;          /* LS_TIME_MAX, or when ls_domain_stop() takes effect */
    const char *failure;        /* of ls_domain_fail(); NULL: none */
    struct ls_tap_log *tap_log; /* NULL: nobody listens to its blocks */
    ls_random random;
    mem_arena arena;
    const char *name;
};
_Static_assert(offsetof(struct ls_domain, tally) == 0, "lockstep/engine.h finds it there");

/* ------------------------------------------------------------------------------------------------ group */

/* Domains that share windows. Its planner is one thread at a time: the last one at a barrier, or the thread that
 * runs the whole group. */
struct ls_group {
    ls_engine *engine;
    const char *name;
    uint32_t id;
    uint32_t first, count; /* its domains' places; set at the first run */
    bool is_away;          /* another rank runs it (ranks.h); it stands still here */
    ls_time lookahead;     /* shortest link inside; LS_TIME_MAX without links */
    const ls_link *limiting_link;

    /* The window being run. */
    uint64_t window_index; /* from 1; parity: window_index & 1 */
    ls_time window_end;
    ls_cycle *limits; /* per clock: the first cycle that is not in the window */

    /* Of this run. */
    ls_time window_start, window_fs;
    ls_domain **runnable; /* of the window, in the order of assignment */
    size_t runnable_count;
    uint32_t *order;     /* places of its domains in the order of assignment */
    ls_time sent_before; /* earliest arrival of messages that the last window of an earlier run sent */
    ls_time next_start;  /* when it next has work, if that is not before the end of the meeting */
    uint64_t windows, windows_before; /* before: when the meeting began */
    uint64_t work;                    /* region cycles in this meeting */
    bool mailed; /* threads shared its last window: what was sent in it lies in mailboxes */
    uint64_t last_work, last_windows; /* of the meeting before: estimates */
    uint32_t thread;                  /* that runs it if threads take whole groups */
    struct scaling_group *scaling;    /* NULL unless the run measures itself */
};

/* ----------------------------------------------------------------------------------------------- engine */

typedef struct hook_entry {
    ls_hook *hook;
    const char *name, *help;
    LS_VEC(struct hook_subscriber {
        ls_hook_fn fn;
        void *self;
    })
    subscribers;
} hook_entry;

typedef struct wait_source {
    const char *name;
    ls_wait_fn fn;
    const void *self;
} wait_source;

struct ls_block {
    const ls_block_type *type;
    ls_region *region;
    const char *name;
    void *state;
    const void *spec;
    ls_tap tap;
};

typedef struct engine_part {
    const char *kind;
    void *part;
} engine_part;

/* Follow from the latencies of a link and its clocks. */
typedef struct link_times {
    uint32_t credit_cycles; /* a credit's way back, in cycles of the receiver */
    bool same_clock;
    ls_time lookahead;
} link_times;

struct ls_engine {
    huge_memory huge_arena; /* of the arenas of the domains and of its own */
    mem_arena arena;
    ls_random random;
    LS_VEC(ls_domain *) domains;
    LS_VEC(ls_group *) groups; /* the first is the default */
    LS_VEC(ls_link *) links;
    LS_VEC(ls_link *) cross;       /* links between groups; found at the first run */
    LS_VEC(ls_receive_fn) freeing; /* receivers that keep no buffer entry */
    ls_time cross_lookahead;       /* the shortest of them; likewise */
    LS_VEC(ls_clock) clocks;       /* the different ones */
    LS_VEC(ls_block *) blocks;
    LS_VEC(engine_part) parts;
    uint32_t machine_first; /* domain of the machine that is being built */
    LS_VEC(wait_source) wait_sources;
    LS_VEC(hook_entry) hooks;
    LS_VEC(ls_warning) warnings; /* texts in the arena */
    string_map domain_names, block_names;
    ls_hook *hook_send, *hook_deliver;
    ls_time lookahead; /* shortest of all links */
    const ls_link *limiting_link;
    ls_time stop_delay; /* 0: the lookahead */
    /* Of the last link that was checked; its names, receiver and regions are not used. */
    ls_link_spec link_checked;
    uint32_t link_clock_ids[2];
    link_times link_times;

    /* The window being run; with several groups the meeting, in which every group runs windows of its own. */
    uint64_t window_index;
    ls_time window_start, window_end;
    ls_domain **at_place;        /* by place */
    ls_time *next_time;          /* by place: the domain's next cycle with work */
    _Atomic uint8_t *mail[2];    /* by parity of the group's window, by place: it has to look */
    LS_VEC(thread_mail) mail_of; /* by thread */
    uint32_t region_count;
    uint8_t *cross_news;        /* per link between groups: it was sent to or is waited for in this meeting */
    _Atomic uint8_t cross_mail; /* some of them has news */

    ls_time last_cycle; /* time of the last cycle of the runs before this one */
    text_buffer report;
    struct scaling_state *scaling;
    struct rank_state *ranks; /* NULL: this process runs all groups */
    atomic_bool draws;        /* some block has requested a random stream */
    bool started;             /* the first run began: nothing can be added after that */
    bool links_hooked;        /* the links know that a hook is set */
    atomic_bool stop_requested;
    atomic_bool out_of_memory; /* set by a domain that could not grow its heap: the run ends with an error */
};

/* wheel.c */
ls_status wheel_init(ls_region *region, ls_error *err);
void wheel_fini(ls_region *region);
void wheel_add_arrival(ls_region *region, arrival *a);
bool wheel_add_far(ls_region *region, arrival *a); /* beyond the wheel; false: no memory */
/* The first cycle with an event or arrival, if no bucket of the word of `cycle` is occupied from there on. */
ls_cycle wheel_search_words(const ls_region *region, ls_cycle cycle);
void wheel_move_far_in(ls_region *region); /* from the heap, what the wheel reaches now */
void region_sync(ls_region *region);       /* brings now and floor to the present of its domain */
void region_move_up(ls_region *region, ls_time present); /* the same between runs: all before it is past */

/* For saving and loading. The events in the order in which they will run, into `out` (NULL: only counts them). */
size_t wheel_list(const ls_region *region, ls_event **out);
void wheel_clear(ls_region *region); /* unschedules every event of a machine that has not run */
void wheel_reset(ls_region *region); /* the same of a region that stands still on this rank, with arrivals */
bool wheel_put(ls_region *region, ls_event *event, ls_cycle cycle); /* not before now; false: no memory */

/* cycle.c */
ls_cycle region_run(ls_region *region, ls_cycle limit); /* returns the region's next cycle */
/* All regions of a domain, until `end`. Returns when they next have work. */
ls_time regions_run(ls_domain *domain, ls_time end);

/* link.c */
/* Calls the hook for a message's delivery and the receiver, and releases the buffer entry if that is the engine's part. */
void link_deliver_around(void *receiver, ls_link *link, const void *payload, ls_cycle now);
void link_hold_far(ls_link *link, arrival *message); /* a message beyond the receiver's wheel */
void link_come_near(ls_link *link);                  /* the first of these has come into the wheel's reach */
void link_wake(ls_link *link, ls_cycle now);
void link_serve(void *self, ls_cycle now); /* the event that runs waiters */
/* Make a ring of a link unless it has it; false when the host has no memory left. */
bool link_make_slots(ls_link
                         *link); /* a place for each credit, without slots: the sender is on another rank */
bool link_make_credits(ls_link *link);
bool link_add_slots(ls_link *link); /* the first ones, or twice as many; false likewise */
void link_exchange(ls_domain *domain, unsigned parity);
/* The same between groups, with all threads at rest. */
void link_exchange_cross(ls_link *link);
/* Between ranks, before that: a message or a credit that the rank of the other end has sent. `slot` has
 * slot_bytes bytes. False: no memory. */
bool link_take_message(ls_link *link, const void *slot);
bool link_take_credit(ls_link *link, ls_cycle cycle);
/* For loading. link_add_waiter(): one more event waits for the link. link_resume(), after the rest of the
 * link's state is set: puts its messages into the receiver's wheel. A waiting sender goes into its own wheel
 * at wake_cycle, or not, if that is LS_CYCLE_MAX. */
void link_add_waiter(ls_link *link, ls_event *event);
void link_resume(ls_link *link, ls_cycle wake_cycle);
void links_prepare(ls_engine *engine); /* before a run: hooks may have got subscribers */
void link_set_special(ls_link *link, bool hooked);
static inline arrival *link_slot(const ls_link *link, uint64_t position)
{
    return link->slots[position & link->slot_mask];
}
/* Between windows: the messages of which the buffer entries were released. */
static inline uint32_t link_released(const ls_link *link)
{
    return link->frees_at_once ? (uint32_t)link->head
                               : atomic_load_explicit(&link->released, memory_order_relaxed);
}
/* Buffer entries that the receiver has not released. */
static inline uint32_t link_held(const ls_link *link)
{
    return (uint32_t)link->head - link_released(link);
}

/* domain.c */
ls_time engine_last_cycle(const ls_engine *engine); /* time of the last cycle run; the same for every window */
ls_time domain_next_time(const ls_domain *domain);
void domain_run_window(ls_domain *domain);

/* mail.c */
/* What the domain sends goes into mailboxes of this thread; NULL: into the wheels, while no other thread runs domains. */
void mail_set_out(ls_domain *domain, const thread_mail *mail);
ls_status mail_prepare(ls_engine *engine, uint32_t threads, ls_error *err);  /* before each run */
void mail_take(const ls_engine *engine, ls_region *region, unsigned parity); /* into the region's wheel */
/* The mail of the window before of domains of which one thread is about to run a window: what is sent in that window goes
 * behind it. */
void mail_take_before(ls_domain *const *domains, size_t count);
void mail_take_all(const ls_engine *engine); /* of all regions, with all threads at rest */

/* run.c */
ls_status engine_prepare(ls_engine *engine, ls_error *err); /* once, before the first run */

/* waits.c */
ls_status waits_deadlock(ls_engine *engine, const char *reason, ls_error *err);
bool waits_any(const ls_engine *engine);

/* group.c */
ls_status groups_init(ls_engine *engine, ls_error *err);
ls_status groups_prepare(ls_engine *engine, ls_error *err); /* at the first run */

/* scaling.c */
ls_status scaling_start(ls_engine *engine, ls_error *err);
/* A window of one group ran; then, after every group's windows, the meeting ends. */
void scaling_window(ls_group *group, ls_domain *const *domains, size_t count);
void scaling_meeting(ls_engine *engine);
void scaling_free(ls_engine *engine);

/* hook.c */
ls_status hooks_init(ls_engine *engine, ls_error *err);
void hooks_fini(ls_engine *engine);

#endif

/* cycle.c: the running of cycles: of one region, and of the regions of a domain in turn. */
#include "engine/wheel.h"

static inline void deliver(ls_region *region, ls_link *link, const arrival *message, ls_cycle now)
{
    link->head++;
    region->messages_in++;
    link->deliver(link->receiver, link, message + 1, now);
}

/* Nothing that runs in a cycle adds arrivals to it. */
static inline void run_arrivals(ls_region *region, bucket *b, ls_cycle now)
{
    arrival *last = b->arrivals, *next, *a;
    if (last == NULL)
        return;
    b->arrivals = NULL;
    next = last->next;
    do {
        a = next;
        next = a->next;
        ls_link *link = arrival_link(region, a);
        if (LS_LIKELY((a->order & ARRIVAL_IS_WAKE) == 0)) {
            deliver(region, link, a, now);
        } else {
            link->wake_queued = false;
            link_wake(link, now);
        }
    } while (a != last);
}

static inline void run_events(ls_region *region, bucket *b, ls_cycle now)
{
    ls_event *newest;
    while ((newest = b->events) != NULL) {
        ls_event *oldest = newest->next;
        if (oldest == newest) {
            b->events = NULL;
        } else {
            newest->next = oldest->next;
            oldest->next->prev = newest;
        }
        oldest->region = NULL;
        region->events_run++;
        oldest->fn(oldest->self, now);
    }
}

/* The mask is read again after every call: a ticker woken meanwhile runs now if its turn is still to come. */
static inline void run_ticker_word(ls_region *region, uint32_t word, ls_cycle now)
{
    ls_ticker *const *tickers = region->tickers + (size_t)word * 64;
    uint64_t *active = region->active + word;
    uint64_t due = *active;
    while (due != 0) {
        uint64_t bit = due & (~due + 1);
        ls_ticker *ticker = tickers[__builtin_ctzll(due)];
        *active &= ~bit;
        region->ticks_run++;
        bool again = ticker->fn(ticker->self, now);
        uint64_t left = *active | (again ? bit : 0);
        *active = left;
        due = left & ~(bit | (bit - 1));
    }
}

static COLD void run_many_tickers(ls_region *region, ls_cycle now)
{
    uint32_t words = (region->ticker_count + 63) / 64;
    for (uint32_t word = 0; word < words; word++) {
        run_ticker_word(region, word, now);
        if (region->active[word] != 0)
            region->active_summary |= UINT64_C(1) << word;
        else
            region->active_summary &= ~(UINT64_C(1) << word);
    }
}

static __attribute__((noinline)) void run_several_tickers(ls_region *region, ls_cycle now)
{
    if (region->ticker_count <= 64) {
        run_ticker_word(region, 0, now);
        region->active_summary = region->active[0] != 0;
    } else {
        run_many_tickers(region, now);
    }
}

/* Most regions have one ticker, of which active_summary says all. True if there is work in the next cycle. */
static inline bool run_tickers(ls_region *region, ls_ticker *single, ls_cycle now)
{
    if (LS_UNLIKELY(single == NULL)) {
        run_several_tickers(region, now);
        return region->active_summary != 0;
    }
    region->active_summary = 0;
    region->ticks_run++;
    if (!single->fn(single->self, now))
        return region->active_summary != 0;
    region->active_summary = 1;
    return true;
}

static COLD void run_late_events(ls_region *region, bucket *b, ls_cycle cycle)
{
    run_events(region, b, cycle);
    (void)bucket_unmark(region, cycle);
}

/* Runs a cycle; returns the next one with work. */
static inline ls_cycle step(ls_region *region, ls_ticker *single, ls_cycle cycle)
{
    region->now = cycle;
    region->cycles_run++;
    if (LS_UNLIKELY(region->far_count > 0))
        wheel_move_far_in(region);
    bucket *b = &region->wheel[cycle & WHEEL_MASK];
    if (b->arrivals != NULL || b->events != NULL) {
        run_arrivals(region, b, cycle);
        run_events(region, b, cycle);
        uint64_t later = bucket_unmark(region, cycle) >> cycle % 64;
        if (region->active_summary == 0)
            return LS_LIKELY(later != 0) ? cycle + (uint64_t)__builtin_ctzll(later)
                                         : wheel_search_words(region, cycle);
    }
    if (region->active_summary != 0) {
        bool again = run_tickers(region, single, cycle);
        if (LS_UNLIKELY(b->events != NULL)) { /* scheduled by a ticker for this same cycle */
            run_late_events(region, b, cycle);
            again = region->active_summary != 0;
        }
        if (again)
            return cycle + 1;
    }
    return wheel_search(region, cycle);
}

static inline void begin_turn(ls_region *region)
{
    region->reach = WHEEL_SIZE;
}

static inline void end_turn(ls_region *region)
{
    region->floor = region->now + 1;
    region->reach = 0;
}

ls_cycle region_run(ls_region *region, ls_cycle limit)
{
    ls_ticker *single = region->single;
    ls_cycle cycle = wheel_next(region);
    if (LS_UNLIKELY(cycle >= limit))
        return cycle;
    begin_turn(region);
    do
        cycle = step(region, single, cycle);
    while (cycle < limit);
    end_turn(region);
    return cycle;
}

/* ----------------------------------------------------------------------------------------- regions in turn */

/* Notes when a region is next in turn. */
static inline void note_turn(ls_region *region, ls_cycle cycle)
{
    region->next_cycle = cycle;
    region->next_fs = clock_time(&region->clock, cycle); /* LS_TIME_MAX for LS_CYCLE_MAX */
}

/* From the region's next cycle on, while that comes before `end` and no other region may have got or lost work. */
static inline void run_turn(ls_region *region, ls_time end)
{
    ls_domain *domain = region->domain;
    ls_cycle cycle = region->next_cycle, limit = clock_cycle_at(&region->clock, end);
    domain->current = region;
    domain->touched = false;
    ls_ticker *single = region->single;
    begin_turn(region);
    do
        cycle = step(region, single, cycle);
    while (cycle < limit && !domain->touched);
    end_turn(region);
    note_turn(region, cycle);
}

/* The two regions that are next in turn, the first created first among equals. */
typedef struct turns {
    ls_region *first, *second;
} turns;

static turns next_turns(const ls_domain *domain)
{
    ls_region **regions = domain->regions;
    turns next = { regions[0], regions[1] };
    if (regions[1]->next_fs < regions[0]->next_fs)
        next = (turns){ regions[1], regions[0] };
    for (uint32_t i = 2; i < domain->region_count; i++) {
        if (regions[i]->next_fs < next.first->next_fs)
            next = (turns){ regions[i], next.first };
        else if (regions[i]->next_fs < next.second->next_fs)
            next.second = regions[i];
    }
    return next;
}

static void note_turns(const ls_domain *domain)
{
    for (uint32_t i = 0; i < domain->region_count; i++)
        note_turn(domain->regions[i], wheel_next(domain->regions[i]));
}

/* Several clocks: always the region with the earliest edge. It goes on as long as it stays the earliest. */
ls_time regions_run(ls_domain *domain, ls_time end)
{
    note_turns(domain);
    turns next = next_turns(domain);
    while (next.first->next_fs < end) {
        ls_region *first = next.first, *second = next.second;
        bool is_before = first->index < second->index;
        run_turn(first, second->next_fs < end ? second->next_fs + is_before : end);
        if (LS_UNLIKELY(domain->touched))
            note_turns(domain);
        else if (LS_LIKELY(domain->region_count == 2 && second->next_fs < end)) {
            next = (turns){ second, first };
            continue;
        }
        next = next_turns(domain);
    }
    return next.first->next_fs;
}

/* wheel.c: the event wheel of a region.
 *
 * A ring of buckets, one per cycle, with a two-level bit map to find the next occupied one. Events beyond the
 * ring wait in a heap. They move into the ring before any event can be scheduled directly for their cycle, so
 * events always run in the order of scheduling. */
#include "engine/wheel.h"

#include <stdlib.h>
#include <string.h>

ls_status wheel_init(ls_region *region, ls_error *err)
{
    region->wheel = ls_domain_alloc(region->domain, WHEEL_SIZE * sizeof(bucket));
    region->sent_min = LS_CYCLE_MAX;
    if (region->wheel == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the event wheel of domain '%s'",
                       region->domain->name);
    return LS_OK;
}

void wheel_fini(ls_region *region)
{
    free(region->far);
    free(region->tickers);
}

/* ------------------------------------------------------------------------------------------------- heap */

static inline bool far_before(const far_entry *a, const far_entry *b)
{
    return a->cycle < b->cycle || (a->cycle == b->cycle && a->sequence < b->sequence);
}

static inline void far_place(ls_region *region, size_t i, far_entry entry)
{
    region->far[i] = entry;
    if (entry.event != NULL)
        entry.event->place = i;
}

static void far_sift_up(ls_region *region, size_t i, far_entry entry)
{
    while (i > 0 && far_before(&entry, &region->far[(i - 1) / 2])) {
        far_place(region, i, region->far[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    far_place(region, i, entry);
}

static void far_remove(ls_region *region, size_t i)
{
    far_entry last = region->far[--region->far_count];
    if (i == region->far_count)
        return;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= region->far_count)
            break;
        if (child + 1 < region->far_count && far_before(&region->far[child + 1], &region->far[child]))
            child++;
        if (!far_before(&region->far[child], &last))
            break;
        far_place(region, i, region->far[child]);
        i = child;
    }
    far_sift_up(region, i, last);
}

static bool far_add(ls_region *region, far_entry entry)
{
    if (region->far_count == region->far_capacity) {
        /* Growth doubles, so a run reaches its size in its first moments and does not allocate later. */
        size_t capacity = region->far_capacity == 0 ? 64 : 2 * region->far_capacity;
        far_entry *far = realloc(region->far, capacity * sizeof *far);
        if (far == NULL) {
            /* The host has no memory for a few more pointers: there is no state to go on with. */
            ls_domain_stop(region->domain);
            atomic_store_explicit(&region->domain->engine->out_of_memory, true, memory_order_relaxed);
            return false;
        }
        region->far = far;
        region->far_capacity = capacity;
    }
    entry.sequence = region->far_sequence++;
    far_sift_up(region, region->far_count++, entry);
    return true;
}

/* --------------------------------------------------------------------------------------------- inserting */

static inline void bucket_add_event(ls_region *region, ls_event *event, ls_cycle cycle)
{
    uint32_t i = (uint32_t)cycle & WHEEL_MASK;
    bucket *b = &region->wheel[i];
    ls_event *newest = b->events;
    event->cycle = cycle;
    event->region = region;
    b->events = event;
    if (newest == NULL) {
        event->next = event;
        event->prev = event;
        bucket_mark(region, i);
    } else {
        /* The order matters. Between the two stores to event stands a store that the compiler cannot move them
         * over. Otherwise it would join them through a vector register, which takes twice as many
         * instructions. */
        ls_event *oldest = newest->next;
        event->next = oldest;
        oldest->prev = event;
        event->prev = newest;
        newest->next = event;
    }
}

bool wheel_add_far(ls_region *region, arrival *a)
{
    return far_add(region, (far_entry){ .cycle = a->cycle, .arrival = a });
}

void wheel_add_arrival(ls_region *region, arrival *a)
{
    hot_assert(a->cycle >= (region_runs(region) ? region->now : region->floor));
    if (LS_UNLIKELY(a->cycle - region->now >= WHEEL_SIZE))
        (void)wheel_add_far(region, a); /* without memory the run ends */
    else
        bucket_add_arrival(region, a);
}

/* From outside of the region's own cycle, or for a cycle beyond the wheel. */
static COLD void schedule_slow(ls_region *region, ls_event *event, ls_cycle cycle)
{
    assert(event->region == NULL && event->fn != NULL);
    if (!region_runs(region) && cycle < region->floor)
        cycle = region->floor;
    assert(cycle >= region->now);
    if (cycle - region->now < WHEEL_SIZE) {
        bucket_add_event(region, event, cycle);
    } else {
        event->cycle = cycle;
        event->region = far_add(region, (far_entry){ .cycle = cycle, .event = event }) ? region : NULL;
    }
}

static COLD void schedule_at_slow(ls_region *region, ls_event *event, ls_cycle cycle)
{
    if (!region_runs(region)) {
        region->domain->touched = true;
        region_sync(region);
    }
    schedule_slow(region, event, cycle);
}

static COLD void schedule_from_outside(ls_region *region, ls_event *event, uint64_t delay_cycles)
{
    if (!region_runs(region)) {
        region->domain->touched = true;
        region_sync(region);
    }
    schedule_slow(region, event, region->now + delay_cycles);
}

/* From inside of the region's own cycle, and into the wheel: the common way. */
void ls_schedule_at(ls_region *region, ls_event *event, ls_cycle cycle)
{
    if (LS_UNLIKELY(cycle - region->now >= region->reach)) {
        schedule_at_slow(region, event, cycle);
        return;
    }
    hot_assert(event->region == NULL);
    bucket_add_event(region, event, cycle);
}

void ls_schedule(ls_region *region, ls_event *event, uint64_t delay_cycles)
{
    if (LS_UNLIKELY(delay_cycles >= region->reach)) {
        schedule_from_outside(region, event, delay_cycles);
        return;
    }
    hot_assert(event->region == NULL);
    bucket_add_event(region, event, region->now + delay_cycles);
}

void ls_cancel(ls_event *event)
{
    ls_region *region = event->region;
    if (region == NULL)
        return;
    event->region = NULL;
    if (!region_runs(region))
        region->domain->touched = true;
    if (event->cycle - region->now >= WHEEL_SIZE) {
        far_remove(region, event->place);
        return;
    }
    uint32_t i = (uint32_t)event->cycle & WHEEL_MASK;
    bucket *b = &region->wheel[i];
    if (event->next == event) {
        b->events = NULL;
        if (b->arrivals == NULL)
            (void)bucket_unmark(region, event->cycle);
    } else {
        event->prev->next = event->next;
        event->next->prev = event->prev;
        if (b->events == event)
            b->events = event->prev;
    }
}

/* ------------------------------------------------------------------------------------------- moving up */

void wheel_move_far_in(ls_region *region)
{
    while (region->far_count > 0 && region->far[0].cycle - region->now < WHEEL_SIZE) {
        far_entry entry = region->far[0];
        far_remove(region, 0);
        if (entry.event != NULL)
            bucket_add_event(region, entry.event, entry.cycle);
        else if ((entry.arrival->order & ARRIVAL_IS_WAKE) != 0)
            bucket_add_arrival(region, entry.arrival);
        else
            link_come_near(arrival_link(region, entry.arrival));
    }
}

/* Everything queued lies at or after the new floor. */
static inline void move_up(ls_region *region, ls_cycle floor)
{
    if (floor > region->floor) {
        region->floor = floor;
        region->now = floor - 1;
        if (LS_UNLIKELY(region->far_count > 0))
            wheel_move_far_in(region);
    }
}

static __attribute__((noinline)) void sync_with(ls_region *region, const ls_region *current)
{
    region->synced_with = current;
    region->synced_at = current->now;
    ls_time present = clock_time(&current->clock, current->now);
    ls_cycle floor = clock_cycle_at(&region->clock, present);
    if (region->index < current->index && clock_time(&region->clock, floor) == present)
        floor++; /* at equal times the lower region has had its turn */
    move_up(region, floor);
}

/* Another region of the domain is running, and this one, having had no work, still stands at an old cycle:
 * its clock is moved up to the present. */
void region_sync(ls_region *region)
{
    const ls_region *current = region->domain->current;
    if (current == NULL || current == region)
        return;
    if (region->synced_with != current || region->synced_at != current->now)
        sync_with(region, current);
}

void region_move_up(ls_region *region, ls_time present)
{
    move_up(region, ls_clock_cycle_at(&region->clock, present));
    region->idle_floor = region->floor;
}

/* Words after that of `cycle`, then round to its low bits. */
ls_cycle wheel_search_words(const ls_region *region, ls_cycle cycle)
{
    uint64_t halves[2]; /* a byte is 0 or 1 */
    memcpy(halves, region->summary, sizeof halves);
    if ((halves[0] | halves[1]) == 0)
        return region->far_count > 0 ? region->far[0].cycle : LS_CYCLE_MAX;
    const uint32_t from = (uint32_t)cycle & WHEEL_MASK, own = from >> 6, half = own / 8;
    uint64_t later = halves[half] & (~UINT64_C(0xff) << own % 8 * 8);
    uint32_t base = half * 8;
    if (later == 0) {
        later = halves[half ^ 1];
        base ^= 8;
    }
    if (later == 0) {
        later = halves[half];
        base ^= 8;
    }
    uint32_t found = base + (uint32_t)__builtin_ctzll(later) / 8;
    uint32_t index = found * 64 + (uint32_t)__builtin_ctzll(region->occupied[found]);
    return cycle + ((index - from) & WHEEL_MASK);
}

/* ------------------------------------------------------------------------------------ saving and loading */

static int by_turn(const void *a, const void *b)
{
    const far_entry *x = a, *y = b;
    return far_before(x, y) ? -1 : far_before(y, x);
}

size_t wheel_list(const ls_region *region, ls_event **out)
{
    size_t count = 0;
    for (uint32_t i = 0; i < WHEEL_SIZE; i++) {
        ls_event *newest = region->wheel[(region->now + i) & WHEEL_MASK].events;
        for (ls_event *event = newest; event != NULL; event = event->next == newest ? NULL : event->next) {
            if (out != NULL)
                out[count] = event->next; /* the newest comes last */
            count++;
        }
    }
    /* Sorting a heap leaves a heap. */
    if (region->far_count > 1)
        qsort(region->far, region->far_count, sizeof *region->far, by_turn);
    for (size_t i = 0; i < region->far_count; i++) {
        if (region->far[i].event == NULL)
            continue;
        region->far[i].event->place = i;
        if (out != NULL)
            out[count] = region->far[i].event;
        count++;
    }
    return count;
}

void wheel_clear(ls_region *region)
{
    for (uint32_t i = 0; i < WHEEL_SIZE; i++) {
        bucket *b = &region->wheel[i];
        assert(b->arrivals == NULL);
        while (b->events != NULL)
            ls_cancel(b->events);
    }
    while (region->far_count > 0)
        ls_cancel(region->far[0].event);
}

void wheel_reset(ls_region *region)
{
    for (uint32_t i = 0; i < WHEEL_SIZE; i++) {
        region->wheel[i].arrivals = NULL;
        while (region->wheel[i].events != NULL)
            ls_cancel(region->wheel[i].events);
    }
    for (size_t i = region->far_count; i-- > 0;)
        if (region->far[i].event != NULL)
            region->far[i].event->region = NULL;
    region->far_count = 0;
    memset(region->occupied, 0, sizeof region->occupied);
    memset(region->summary, 0, sizeof region->summary);
}

bool wheel_put(ls_region *region, ls_event *event, ls_cycle cycle)
{
    schedule_slow(region, event, cycle);
    return event->region != NULL;
}

/* ---------------------------------------------------------------------------------------------- tickers */

ls_status ls_ticker_add(ls_region *region, ls_ticker *ticker, ls_tick_fn fn, void *self, ls_error *err)
{
    if (region->ticker_count == TICKERS_MAX)
        return ls_fail(err, LS_ERR_USAGE, "domain '%s' has more than %u tickers on one clock",
                       region->domain->name, TICKERS_MAX);
    if (region->ticker_count == region->ticker_capacity) {
        uint32_t capacity = region->ticker_capacity == 0 ? 64 : 2 * region->ticker_capacity;
        ls_ticker **tickers = realloc(region->tickers, capacity * sizeof *tickers);
        if (tickers != NULL)
            region->tickers = tickers;
        if (tickers == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the tickers of domain '%s'",
                           region->domain->name);
        region->ticker_capacity = capacity;
    }
    *ticker = (ls_ticker){ .fn = fn, .self = self, .region = region, .index = region->ticker_count };
    region->tickers[region->ticker_count++] = ticker;
    region->single = region->ticker_count == 1 ? ticker : NULL;
    return LS_OK;
}

/* A region with one ticker keeps its state in active_summary alone. */
static inline void set_active(ls_region *region, uint32_t index)
{
    if (LS_UNLIKELY(region->single == NULL))
        region->active[index >> 6] |= UINT64_C(1) << (index & 63);
    region->active_summary |= UINT64_C(1) << (index >> 6);
}

static __attribute__((noinline)) void wake_from_outside(ls_ticker *ticker)
{
    ls_region *region = ticker->region;
    region->domain->touched = true;
    region_sync(region);
    set_active(region, ticker->index);
}

void ls_ticker_wake(ls_ticker *ticker)
{
    ls_region *region = ticker->region;
    /* A region with work already stands at the present: its next cycle is the one to come. */
    if (LS_UNLIKELY(!region_runs(region)) && region->active_summary == 0) {
        wake_from_outside(ticker);
        return;
    }
    if (LS_LIKELY(region->single != NULL))
        region->active_summary = 1;
    else
        set_active(region, ticker->index);
}

/* wheel.h: entries of a region's buckets, for the hot loops of wheel.c and link.c. */
#ifndef ENGINE_WHEEL_H
#define ENGINE_WHEEL_H

#include "engine/state.h"

#define WHEEL_MASK (WHEEL_SIZE - 1)

/* i: the index of a bucket. */
static inline void bucket_mark(ls_region *region, uint32_t i)
{
    region->occupied[i >> 6] |= UINT64_C(1) << (i & 63);
    region->summary[i >> 6] = 1;
}

/* The word of the bit map that has the bucket of a cycle. */
static inline uint32_t wheel_word(ls_cycle cycle)
{
    return (uint32_t)(cycle / 64) % WHEEL_WORDS;
}

/* Returns what is left of the word of the cycle. */
static inline uint64_t bucket_unmark(ls_region *region, ls_cycle cycle)
{
    uint64_t *word = &region->occupied[wheel_word(cycle)], left = *word & ~(UINT64_C(1) << cycle % 64);
    *word = left;
    if (left == 0)
        region->summary[wheel_word(cycle)] = 0;
    return left;
}

static inline ls_link *arrival_link(const ls_region *region, const arrival *a)
{
    return region->links[a->order / 2];
}

static inline bool arrives_before(const arrival *a, const arrival *b)
{
    return a->early_fs > b->early_fs || (a->early_fs == b->early_fs && a->order < b->order);
}

/* Behind its equals: they are messages of one link. */
static inline void bucket_add_arrival(ls_region *region, arrival *a)
{
    uint32_t i = (uint32_t)a->cycle & WHEEL_MASK;
    bucket *b = &region->wheel[i];
    arrival *last = b->arrivals;
    if (last == NULL) {
        a->next = a;
        b->arrivals = a;
        bucket_mark(region, i);
    } else if (LS_LIKELY(!arrives_before(a, last))) {
        a->next = last->next;
        last->next = a;
        b->arrivals = a;
    } else {
        arrival *before = last;
        while (!arrives_before(a, before->next))
            before = before->next;
        a->next = before->next;
        before->next = a;
    }
}

/* A message that other domains have sent. */
static inline void region_take_message(ls_region *region, arrival *message)
{
    hot_assert(message->cycle >= (region_runs(region) ? region->now : region->floor));
    if (LS_UNLIKELY(message->cycle - region->now >= WHEEL_SIZE))
        link_hold_far(arrival_link(region, message), message);
    else
        bucket_add_arrival(region, message);
}

/* The first cycle from `cycle` on with an event or arrival. Everything that is queued comes then or later. */
static inline ls_cycle wheel_search(const ls_region *region, ls_cycle cycle)
{
    uint64_t bits = region->occupied[wheel_word(cycle)] >> cycle % 64;
    return LS_LIKELY(bits != 0) ? cycle + (uint64_t)__builtin_ctzll(bits) : wheel_search_words(region, cycle);
}

/* The next cycle with work; LS_CYCLE_MAX if there is none. */
static inline ls_cycle wheel_next(const ls_region *region)
{
    return region->active_summary != 0 ? region->floor : wheel_search(region, region->floor);
}

#endif

/* wheel.h: entries of a region's buckets, for the hot loops of wheel.c and link.c. */
#ifndef ENGINE_WHEEL_H
#define ENGINE_WHEEL_H

#include "engine/state.h"

#define WHEEL_MASK (WHEEL_SIZE - 1)

/* i: the index of a bucket. */
static inline void bucket_mark(ls_region *region, uint32_t i)
{
    region->occupied[i >> 6] |= UINT64_C(1) << (i & 63);
    region->summary |= UINT64_C(1) << (i >> 6);
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

#endif

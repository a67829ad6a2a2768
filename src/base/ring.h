/* ring.h: a bounded queue of fixed-size elements in memory that the owner provides: hardware queues. */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* Rings stand on the hottest paths: overruns are looked for in the debug and sanitizer builds. */
#ifdef LS_CHECKED
#define LS_RING_ASSERT(condition) assert(condition)
#else
#define LS_RING_ASSERT(condition) ((void)0)
#endif

/* Positions run freely and are reduced to indices: count == tail - head, full at `limit`. Use with an array
 * of `size` elements, size a power of two >= limit:  q->at[ring_push(&q->ring)] = x; */
typedef struct index_ring {
    uint32_t head, tail;
    uint32_t mask;  /* size - 1 */
    uint32_t limit; /* most elements at once */
} index_ring;

static inline uint32_t ring_size_for(uint32_t limit) /* the array size to provide */
{
    uint32_t size = 1;
    while (size < limit)
        size <<= 1;
    return size;
}
static inline void ring_init(index_ring *r, uint32_t limit)
{
    *r = (index_ring){ .mask = ring_size_for(limit) - 1, .limit = limit };
}
static inline uint32_t ring_count(const index_ring *r)
{
    return r->tail - r->head;
}
static inline bool ring_empty(const index_ring *r)
{
    return r->tail == r->head;
}
static inline bool ring_full(const index_ring *r)
{
    return ring_count(r) >= r->limit;
}
static inline uint32_t ring_push(index_ring *r) /* the index to fill */
{
    LS_RING_ASSERT(!ring_full(r));
    return r->tail++ & r->mask;
}
static inline uint32_t ring_front(const index_ring *r) /* the index of the oldest */
{
    LS_RING_ASSERT(!ring_empty(r));
    return r->head & r->mask;
}
static inline uint32_t ring_pop(index_ring *r) /* the index that was the oldest */
{
    LS_RING_ASSERT(!ring_empty(r));
    return r->head++ & r->mask;
}
static inline uint32_t ring_at(const index_ring *r, uint32_t i) /* i-th oldest */
{
    LS_RING_ASSERT(i < ring_count(r));
    return (r->head + i) & r->mask;
}

#endif

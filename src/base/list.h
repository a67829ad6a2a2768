/* list.h: queues, pools and orders of the elements of one array. Elements are linked by their index in a member
 * of theirs, so nothing is allocated and a copy of the array keeps its links. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX
#define INDEX_NONE_16 UINT16_MAX /* the same in a link of 16 bits */
#define INDEX_16_MAX INT16_MAX   /* elements of an array with such links */

/* Where the links of an array are: members of 32 or 16 bits. The compiler sees the constants, and nothing of this is
 * left. */
typedef struct index_links {
    void *first;   /* of element 0 */
    size_t stride; /* bytes */
    bool is_16;
} index_links;

#define INDEX_LINKS(array, member)                                                                            \
    ((index_links){ &(array)->member, sizeof *(array), sizeof(array)->member == sizeof(uint16_t) })

static inline uint32_t index_link(index_links links, uint32_t i)
{
    const void *at = (const char *)links.first + i * links.stride;
    if (!links.is_16)
        return *(const uint32_t *)at;
    int32_t to = *(const int16_t *)at; /* the sign makes INDEX_NONE of INDEX_NONE_16 */
    return (uint32_t)to;
}

static inline void index_link_set(index_links links, uint32_t i, uint32_t to)
{
    void *at = (char *)links.first + i * links.stride;
    if (links.is_16)
        *(uint16_t *)at = (uint16_t)to;
    else
        *(uint32_t *)at = to;
}

/* --------------------------------------------------------------------------------------------------- lists */

/* First in, first out. */
typedef struct index_list {
    uint32_t first; /* INDEX_NONE: the list is empty */
    uint32_t last;  /* valid if there is a first */
} index_list;

#define INDEX_LIST_EMPTY ((index_list){ INDEX_NONE, INDEX_NONE })

static inline bool index_list_empty(const index_list *list)
{
    return list->first == INDEX_NONE;
}

static inline void index_list_append(index_list *list, index_links next, uint32_t i)
{
    index_link_set(next, i, INDEX_NONE);
    if (list->first == INDEX_NONE)
        list->first = i;
    else
        index_link_set(next, list->last, i);
    list->last = i;
}

static inline uint32_t index_list_pop(index_list *list, index_links next) /* the list is not empty */
{
    uint32_t i = list->first;
    list->first = index_link(next, i);
    return i;
}

/* From anywhere: it is looked for from the first on. */
static inline void index_list_remove(index_list *list, index_links next, uint32_t i)
{
    uint32_t before = INDEX_NONE, after = index_link(next, i);
    for (uint32_t at = list->first; at != i; at = index_link(next, at))
        before = at;
    if (before == INDEX_NONE)
        list->first = after;
    else
        index_link_set(next, before, after);
    if (list->last == i)
        list->last = before;
}

/* --------------------------------------------------------------------------------------------------- pools */

/* Elements that nobody uses: the one given back last is taken first, then those that were never used. */
typedef struct index_pool {
    uint32_t free;  /* given back; INDEX_NONE: none */
    uint32_t fresh; /* this one and all after it were never used */
} index_pool;

#define INDEX_POOL_NEW ((index_pool){ INDEX_NONE, 0 })

static inline bool index_pool_empty(const index_pool *pool, uint32_t count) /* of an array of `count` */
{
    return pool->free == INDEX_NONE && pool->fresh == count;
}

static inline uint32_t index_pool_take(index_pool *pool, index_links next) /* the pool is not empty */
{
    uint32_t i = pool->free;
    if (i == INDEX_NONE)
        return pool->fresh++;
    pool->free = index_link(next, i);
    return i;
}

/* The one that the next call of index_pool_take() gives; the pool is not empty. */
static inline uint32_t index_pool_next(const index_pool *pool)
{
    return pool->free == INDEX_NONE ? pool->fresh : pool->free;
}

static inline void index_pool_give(index_pool *pool, index_links next, uint32_t i)
{
    index_link_set(next, i, pool->free);
    pool->free = i;
}

/* -------------------------------------------------------------------------------------------------- orders */

/* From the oldest to the newest; elements may leave from anywhere. */
typedef struct index_order {
    uint32_t oldest, newest; /* INDEX_NONE: the order is empty */
} index_order;

#define INDEX_ORDER_EMPTY ((index_order){ INDEX_NONE, INDEX_NONE })

/* Behind element `after`; INDEX_NONE: as the oldest. */
static inline void index_order_insert(index_order *order, index_links older, index_links newer, uint32_t i,
                                      uint32_t after)
{
    uint32_t before = after == INDEX_NONE ? order->oldest : index_link(newer, after);
    index_link_set(older, i, after);
    index_link_set(newer, i, before);
    if (after == INDEX_NONE)
        order->oldest = i;
    else
        index_link_set(newer, after, i);
    if (before == INDEX_NONE)
        order->newest = i;
    else
        index_link_set(older, before, i);
}

static inline void index_order_append(index_order *order, index_links older, index_links newer, uint32_t i)
{
    uint32_t last = order->newest;
    index_link_set(newer, i, INDEX_NONE);
    index_link_set(older, i, last);
    if (last != INDEX_NONE)
        index_link_set(newer, last, i);
    else
        order->oldest = i;
    order->newest = i;
}

/* An element that is not the newest becomes it. */
static inline void index_order_renew(index_order *order, index_links older, index_links newer, uint32_t i)
{
    uint32_t after = index_link(older, i), before = index_link(newer, i), last = order->newest;
    index_link_set(older, before, after);
    if (after != INDEX_NONE)
        index_link_set(newer, after, before);
    else
        order->oldest = before;
    index_link_set(older, i, last);
    index_link_set(newer, i, INDEX_NONE);
    index_link_set(newer, last, i);
    order->newest = i;
}

static inline void index_order_remove(index_order *order, index_links older, index_links newer, uint32_t i)
{
    uint32_t after = index_link(older, i), before = index_link(newer, i);
    if (before != INDEX_NONE)
        index_link_set(older, before, after);
    else
        order->newest = after;
    if (after != INDEX_NONE)
        index_link_set(newer, after, before);
    else
        order->oldest = before;
}

#endif

/* tags.c: set-associative tags with LRU replacement. */
#include "model/cache/tags.h"

bool tags_init(tags *t, uint32_t sets, uint32_t ways, ls_domain *domain)
{
    size_t count = (size_t)sets * ways;
    *t = (tags){ .sets = sets, .ways = ways };
    t->key = ls_domain_alloc(domain, count * sizeof *t->key);
    t->used = ls_domain_alloc(domain, count * sizeof *t->used);
    t->mark = ls_domain_alloc(domain, count * sizeof *t->mark);
    return t->key != NULL && t->used != NULL && t->mark != NULL;
}

static uint32_t first_way(const tags *t, uint64_t key)
{
    return (uint32_t)(key % t->sets) * t->ways;
}

static uint32_t locate(const tags *t, uint64_t key)
{
    uint32_t first = first_way(t, key);
    for (uint32_t i = first; i < first + t->ways; i++)
        if (t->used[i] != 0 && t->key[i] == key)
            return i;
    return TAGS_NONE;
}

bool tags_has(const tags *t, uint64_t key)
{
    return locate(t, key) != TAGS_NONE;
}

uint32_t tags_find(tags *t, uint64_t key)
{
    uint32_t i = locate(t, key);
    if (i != TAGS_NONE)
        t->used[i] = ++t->clock;
    return i;
}

uint32_t tags_insert(tags *t, uint64_t key)
{
    uint32_t at = tags_find(t, key);
    if (at != TAGS_NONE)
        return at;
    uint32_t first = first_way(t, key);
    at = first;
    for (uint32_t i = first; i < first + t->ways; i++)
        if (t->used[i] < t->used[at])
            at = i;
    t->key[at] = key;
    t->used[at] = ++t->clock;
    t->mark[at] = 0;
    return at;
}

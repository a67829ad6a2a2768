/* tag_store.c: see tag_store.h. */
#include "model/cache/tag_store.h"

bool tag_store_init(tag_store *b, uint32_t sets, uint32_t ways, ls_domain *domain)
{
    size_t count = (size_t)sets * ways, heads = 16;
    while (heads < 2 * count)
        heads *= 2;
    *b = (tag_store){ .set_count = sets, .ways = ways, .head_mask = (uint32_t)heads - 1 };
    b->entries = ls_domain_alloc(domain, count * sizeof *b->entries);
    b->sets = ls_domain_alloc(domain, sets * sizeof *b->sets);
    b->heads = ls_domain_alloc(domain, heads * sizeof *b->heads);
    return b->entries != NULL && b->sets != NULL && b->heads != NULL;
}

static void unlink_entry(tag_store *b, tag_store_set *set, uint32_t i)
{
    tag_store_entry *e = &b->entries[i];
    if (i == set->newest)
        set->newest = e->older;
    else
        b->entries[e->newer].older = e->older;
    if (i == set->oldest)
        set->oldest = e->newer;
    else
        b->entries[e->older].newer = e->newer;
}

static void link_newest(tag_store *b, tag_store_set *set, uint32_t i)
{
    b->entries[i].older = set->newest;
    b->entries[set->newest].newer = i;
    set->newest = i;
}

void tag_store_use(tag_store *b, uint32_t i)
{
    tag_store_set *set = &b->sets[b->set_count == 1 ? 0 : i / b->ways];
    if (i == set->newest)
        return;
    unlink_entry(b, set, i);
    link_newest(b, set, i);
}

static void unchain(tag_store *b, uint32_t i)
{
    uint32_t *head = &b->heads[tag_store_hash(b, b->entries[i].key)];
    if (*head - 1 == i) {
        *head = b->entries[i].chain + 1;
        return;
    }
    uint32_t at = *head - 1;
    while (b->entries[at].chain != i)
        at = b->entries[at].chain;
    b->entries[at].chain = b->entries[i].chain;
}

uint32_t tag_store_insert(tag_store *b, uint64_t key)
{
    uint32_t number = (uint32_t)(key % b->set_count);
    tag_store_set *set = &b->sets[number];
    uint32_t i = set->oldest;
    if (set->count < b->ways) {
        i = number * b->ways + set->count++;
        if (set->count == 1)
            set->newest = set->oldest = i;
        else
            link_newest(b, set, i);
    } else {
        if (b->entries[i].used)
            unchain(b, i);
        tag_store_use(b, i);
    }
    uint32_t *head = &b->heads[tag_store_hash(b, key)];
    b->entries[i].key = key;
    b->entries[i].used = true;
    b->entries[i].mark = 0;
    b->entries[i].chain = *head - 1;
    *head = i + 1;
    return i;
}

void tag_store_forget(tag_store *b, uint64_t first, uint64_t last)
{
    for (uint32_t i = 0; i < b->set_count * b->ways; i++) {
        tag_store_entry *e = &b->entries[i];
        if (!e->used || e->key < first || e->key > last)
            continue;
        unchain(b, i);
        e->used = false;
        tag_store_set *set = &b->sets[i / b->ways];
        if (i == set->oldest)
            continue;
        unlink_entry(b, set, i);
        e->newer = set->oldest;
        b->entries[set->oldest].older = i;
        set->oldest = i;
    }
}

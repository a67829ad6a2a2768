/* tag_store.c: see tag_store.h. */
#include "model/cache/tag_store.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ set-up */

static void *take_memory(ls_domain *domain, size_t bytes)
{
    return domain != NULL ? ls_domain_alloc(domain, bytes) : calloc(1, bytes);
}

static void empty_sets(tag_store *s)
{
    for (uint32_t set = 0; set < s->set_count; set++)
        s->sets[set] = (tag_store_set){ .order = INDEX_ORDER_EMPTY };
    s->present = 0;
}

ls_status tag_store_init(tag_store *s, const tag_store_spec *spec, ls_domain *domain, ls_error *err)
{
    size_t count = (size_t)spec->sets * spec->ways;
    uint32_t bits = 4;
    while (((size_t)1 << bits) < 2 * count)
        bits++;
    *s = (tag_store){ .set_count = spec->sets,
                      .ways = spec->ways,
                      .head_shift = 64 - bits,
                      .set_mask = (spec->sets & (spec->sets - 1)) == 0 ? spec->sets - 1 : TAG_STORE_NONE,
                      .kind = spec->replacement,
                      .limit = spec->ways };
    s->entries = domain != NULL ? ls_domain_alloc(domain, count * sizeof *s->entries)
                                : malloc(count * sizeof *s->entries);
    s->sets = take_memory(domain, spec->sets * sizeof *s->sets);
    s->heads = take_memory(domain, sizeof *s->heads << bits);
    bool hashes = spec->hash != NULL && spec->hash->kind != SET_HASH_NONE && spec->sets > 1;
    if (hashes)
        s->hash = take_memory(domain, sizeof(set_hash_table));
    if (s->entries == NULL || s->sets == NULL || s->heads == NULL || (hashes && s->hash == NULL))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the tags of %zu lines", count);
    empty_sets(s);
    if (hashes) {
        ls_status status =
            spec->hash->kind >= SET_HASH_KINDS
                ? set_hash_find(spec->hash->kind, spec->sets, domain, &s->hash_plugin, err)
                : set_hash_fill(s->hash, spec->hash, spec->sets, spec->line_bytes, spec->accelsim, err);
        if (status != LS_OK)
            return status;
    }
    return replacement_init(&s->policy, spec->replacement, spec->sets, spec->ways, domain, err);
}

ls_status tag_store_init_plain(tag_store *s, uint64_t sets, uint64_t ways, ls_domain *domain, ls_error *err)
{
    const tag_store_spec spec = { .sets = (uint32_t)sets, .ways = (uint32_t)ways };
    return tag_store_init(s, &spec, domain, err);
}

void tag_store_fini(tag_store *s)
{
    free(s->entries);
    free(s->sets);
    free(s->heads);
    free(s->hash);
    *s = (tag_store){ 0 };
}

/* ------------------------------------------------------------------------------------------------ hash and order */

static inline void chain(tag_store *s, uint32_t i)
{
    uint32_t *head = &s->heads[tag_store_head(s, s->entries[i].tag)];
    s->entries[i].chain = *head;
    *head = i + 1;
}

static inline void unchain(tag_store *s, uint32_t i)
{
    uint32_t *at = &s->heads[tag_store_head(s, s->entries[i].tag)];
    while (*at != i + 1)
        at = &s->entries[*at - 1].chain;
    *at = s->entries[i].chain;
}

static inline void unlink_entry(tag_store *s, tag_store_set *set, uint32_t i)
{
    index_order_remove(&set->order, INDEX_LINKS(s->entries, older), INDEX_LINKS(s->entries, newer), i);
}

/* Chains are emptied one by one where few keys are known. */
void tag_store_clear(tag_store *s)
{
    size_t heads = (size_t)1 << (64 - s->head_shift);
    bool few = (size_t)s->present * 16 < heads;
    for (uint32_t set = 0; set < s->set_count; set++)
        for (uint32_t way = 0, i = set; way < s->sets[set].used; way++, i += s->set_count) {
            if (few && s->entries[i].tag != 0)
                unchain(s, i);
            s->entries[i].tag = 0;
        }
    if (!few)
        memset(s->heads, 0, heads * sizeof *s->heads);
    empty_sets(s);
    replacement_clear(&s->policy);
}

/* ------------------------------------------------------------------------------------------------------- victims */

void tag_store_policy_use(tag_store *s, uint32_t entry)
{
    uint32_t set = s->entries[entry].set;
    replacement_use(&s->policy, set, tag_store_way_at(s, entry));
}

uint32_t tag_store_choose(tag_store *s, uint32_t set, const uint64_t *allowed)
{
    return tag_store_at(s, set, replacement_victim(&s->policy, set, s->limit, allowed));
}

uint32_t tag_store_dropped(const tag_store *s, uint32_t set)
{
    uint32_t i = set;
    while (s->entries[i].tag != 0)
        i += s->set_count;
    return i;
}

uint32_t tag_store_victim(tag_store *s, uint32_t set)
{
    uint32_t i = tag_store_empty(s, set);
    if (i != TAG_STORE_NONE)
        return i;
    if (LS_LIKELY(replacement_is_order(s->kind)))
        return s->sets[set].order.oldest;
    uint64_t allowed[REPLACEMENT_WORDS] = { 0 };
    for (uint32_t way = 0; way < s->limit; way++)
        allowed[way / 64] |= UINT64_C(1) << way % 64;
    return tag_store_choose(s, set, allowed);
}

/* ------------------------------------------------------------------------------------------------------- changes */

void tag_store_place(tag_store *s, uint32_t i, uint64_t key)
{
    tag_store_entry *e = &s->entries[i];
    tag_store_set *set;
    if (e->tag != 0) {
        set = &s->sets[e->set];
        unchain(s, i);
        unlink_entry(s, set, i);
    } else {
        e->set = tag_store_set_at(s, i);
        set = &s->sets[e->set];
        uint32_t way = tag_store_way_at(s, i);
        if (way < set->used)
            set->dropped--;
        else
            set->used = way + 1;
        s->present++;
    }
    e->tag = key + 1;
    chain(s, i);
    index_order_append(&set->order, INDEX_LINKS(s->entries, older), INDEX_LINKS(s->entries, newer), i);
    if (LS_UNLIKELY(!replacement_is_order(s->kind)))
        replacement_insert(&s->policy, e->set, tag_store_way_at(s, i));
}

void tag_store_drop(tag_store *s, uint32_t i)
{
    tag_store_set *set = &s->sets[s->entries[i].set];
    unchain(s, i);
    unlink_entry(s, set, i);
    s->entries[i].tag = 0;
    set->dropped++;
    s->present--;
}

void tag_store_age(tag_store *s, uint32_t i, uint32_t after)
{
    uint32_t set = s->entries[i].set;
    unlink_entry(s, &s->sets[set], i);
    index_order_insert(&s->sets[set].order, INDEX_LINKS(s->entries, older), INDEX_LINKS(s->entries, newer), i,
                       after);
    if (!replacement_is_order(s->kind))
        replacement_age(&s->policy, set, tag_store_way_at(s, i));
}

uint32_t tag_store_insert(tag_store *s, uint64_t key)
{
    uint32_t i = tag_store_victim(s, tag_store_set_of(s, key));
    tag_store_place(s, i, key);
    return i;
}

void tag_store_forget(tag_store *s, uint64_t first, uint64_t last)
{
    for (uint32_t cursor = 0, i; (i = tag_store_walk(s, &cursor)) != TAG_STORE_NONE; cursor++)
        if (s->entries[i].tag != 0 && tag_store_key(s, i) >= first && tag_store_key(s, i) <= last)
            tag_store_drop(s, i);
}

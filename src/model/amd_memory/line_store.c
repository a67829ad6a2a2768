/* line_store.c: lines of a cache: the order in which they go, and their bytes. */
#include "model/amd_memory/line_store.h"

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for the lines of a cache");
}

ls_status store_init(store *s, uint32_t sets, uint32_t ways, uint32_t line_bytes, uint32_t policy,
                     const set_hash_spec *hash, ls_domain *domain, ls_error *err)
{
    size_t count = (size_t)sets * ways;
    *s = (store){ .sets = sets,
                  .ways = ways,
                  .line_count = (uint32_t)count,
                  .mark_words = (ways + 7) / 8,
                  .line_bytes = line_bytes,
                  .line_shift = (uint32_t)__builtin_ctz(line_bytes),
                  .mark_shift = (uint32_t)__builtin_ctz(line_bytes) + 32u - (uint32_t)__builtin_clz(sets) - 1u,
                  .replacement = policy,
                  .set_mask = (sets & (sets - 1)) == 0 ? sets - 1 : 0,
                  .full = { UINT64_MAX, line_bytes > 64 ? UINT64_MAX : 0 } };
    s->tags =
        ls_domain_alloc(domain, (count + 8) * sizeof *s->tags); /* store_find() looks at eight at a time */
    s->marks = ls_domain_alloc(domain, (size_t)sets * s->mark_words * sizeof *s->marks);
    s->lines = ls_domain_alloc(domain, count * sizeof *s->lines);
    s->stamps = ls_domain_alloc(domain, count * sizeof *s->stamps);
    s->bytes = ls_domain_alloc(domain, count * line_bytes);
    if (s->tags == NULL || s->marks == NULL || s->lines == NULL || s->stamps == NULL || s->bytes == NULL)
        return no_memory(err);
    if (hash->kind != SET_HASH_NONE && sets > 1) {
        s->hash = ls_domain_alloc(domain, SET_HASH_BYTES * sizeof *s->hash);
        if (s->hash == NULL)
            return no_memory(err);
        ls_status status = set_hash_fill(s->hash, hash, sets, line_bytes, false, err);
        if (status != LS_OK)
            return status;
    }
    return replacement_init(&s->policy, policy, sets, ways, domain, err);
}

/* --- who goes --- */

void store_rewind(store *s)
{
    for (uint32_t first = 0; first < s->line_count; first += s->ways) {
        uint32_t ranks[256] = { 0 };
        uint32_t *stamps = &s->stamps[first];
        for (uint32_t way = 0; way < s->ways; way++) {
            ranks[way] = stamps[way];
            if (stamps[way] <= 1 || stamps[way] == STORE_KEPT)
                continue;
            ranks[way] = 2;
            for (uint32_t other = 0; other < s->ways; other++)
                ranks[way] += stamps[other] > 1 && stamps[other] < stamps[way];
        }
        memcpy(stamps, ranks, s->ways * sizeof *stamps);
    }
    s->clock = s->ways + 2;
}

/* Every line of the set is taken, and not all are kept. */
static uint32_t policy_victim(store *s, uint32_t first)
{
    uint64_t allowed[REPLACEMENT_WORDS] = { 0 };
    for (uint32_t way = 0; way < s->ways; way++)
        allowed[way / 64] |= (uint64_t)(s->stamps[first + way] != STORE_KEPT) << way % 64;
    return first + replacement_victim(&s->policy, first / s->ways, s->ways, allowed);
}

void store_policy_use(store *s, uint32_t line)
{
    replacement_use(&s->policy, line / s->ways, line % s->ways);
}

void store_policy_age(store *s, uint32_t line)
{
    replacement_age(&s->policy, line / s->ways, line % s->ways);
}

void store_policy_insert(store *s, uint32_t line)
{
    replacement_insert(&s->policy, line / s->ways, line % s->ways);
}

uint32_t store_choose(store *s, uint32_t first)
{
    const uint32_t *stamps = &s->stamps[first];
    uint32_t oldest = stamps[0], found = 0;
    for (uint32_t way = 1; way < s->ways && oldest != 0; way++) {
        found = stamps[way] < oldest ? way : found;
        oldest = stamps[way] < oldest ? stamps[way] : oldest;
    }
    if (oldest == STORE_KEPT)
        return STORE_NONE;
    return replacement_is_order(s->replacement) || oldest == 0 ? first + found : policy_victim(s, first);
}

/* --- bytes --- */

static inline void merge_word(uint8_t *to, const uint8_t *from, uint64_t mask)
{
    if (mask == UINT64_MAX) {
        memcpy(to, from, 64);
        return;
    }
    while (mask != 0) {
        unsigned start = (unsigned)__builtin_ctzll(mask);
        uint64_t rest = ~(mask >> start);
        unsigned length = rest == 0 ? 64 : (unsigned)__builtin_ctzll(rest);
        if (length == 4)
            memcpy(to + start, from + start, 4);
        else
            memcpy(to + start, from + start, length);
        if (start + length == 64)
            return;
        mask &= UINT64_MAX << (start + length);
    }
}

void store_merge_bytes(uint8_t *to, const uint8_t *from, const uint64_t mask[2])
{
    merge_word(to, from, mask[0]);
    if (mask[1] != 0)
        merge_word(to + 64, from + 64, mask[1]);
}

void store_write(store *s, uint32_t line, const uint8_t *data, const uint64_t mask[2], bool dirty)
{
    store_line *l = &s->lines[line];
    store_merge_bytes(store_bytes(s, line), data, mask);
    for (uint32_t i = 0; i < 2; i++) {
        l->valid[i] |= mask[i];
        l->dirty[i] |= dirty ? mask[i] : 0;
    }
}

void store_fill(store *s, uint32_t line, const uint8_t *data)
{
    store_line *l = &s->lines[line];
    if ((l->valid[0] | l->valid[1]) == 0) {
        ls_line_copy_data(store_bytes(s, line), data, s->line_bytes);
    } else {
        uint64_t missing[2] = { s->full[0] & ~l->valid[0], s->full[1] & ~l->valid[1] };
        store_merge_bytes(store_bytes(s, line), data, missing);
    }
    l->valid[0] = s->full[0];
    l->valid[1] = s->full[1];
}

/* line_store.c: lines of a cache: the order in which they go, and their bytes. */
#include "model/amd_memory/line_store.h"

bool store_init(store *s, uint32_t sets, uint32_t ways, uint32_t line_bytes, store_order order,
                ls_domain *domain)
{
    size_t count = (size_t)sets * ways;
    *s = (store){ .sets = sets,
                  .ways = ways,
                  .line_count = (uint32_t)count,
                  .mark_words = (ways + 7) / 8,
                  .line_bytes = line_bytes,
                  .line_shift = (uint32_t)__builtin_ctz(line_bytes),
                  .mark_shift = (uint32_t)__builtin_ctz(line_bytes) + 32u - (uint32_t)__builtin_clz(sets) - 1u,
                  .replacement = order,
                  .set_mask = (sets & (sets - 1)) == 0 ? sets - 1 : 0,
                  .full = { UINT64_MAX, line_bytes > 64 ? UINT64_MAX : 0 },
                  .random = UINT64_C(0x9e3779b97f4a7c15) };
    s->tags =
        ls_domain_alloc(domain, (count + 8) * sizeof *s->tags); /* store_find() looks at eight at a time */
    s->marks = ls_domain_alloc(domain, (size_t)sets * s->mark_words * sizeof *s->marks);
    s->lines = ls_domain_alloc(domain, count * sizeof *s->lines);
    s->stamps = ls_domain_alloc(domain, count * sizeof *s->stamps);
    s->bytes = ls_domain_alloc(domain, count * line_bytes);
    return s->tags != NULL && s->marks != NULL && s->lines != NULL && s->stamps != NULL && s->bytes != NULL;
}

bool store_hash_sets(store *s, ls_domain *domain)
{
    if (s->sets == 1)
        return true;
    s->hash = ls_domain_alloc(domain, SET_HASH_BYTES * sizeof *s->hash);
    if (s->hash == NULL)
        return false;
    set_hash_init(s->hash, s->sets);
    return true;
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

static uint32_t random_victim(store *s, uint32_t first)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    uint32_t start = (uint32_t)((s->random >> 32) % s->ways);
    for (uint32_t i = 0; i < s->ways; i++) {
        uint32_t line = first + (start + i) % s->ways;
        if (s->stamps[line] != STORE_KEPT)
            return line;
    }
    return STORE_NONE;
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
    return s->replacement == STORE_RANDOM && oldest != 0 ? random_victim(s, first) : first + found;
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
        line_copy_data(store_bytes(s, line), data, s->line_bytes);
    } else {
        uint64_t missing[2] = { s->full[0] & ~l->valid[0], s->full[1] & ~l->valid[1] };
        store_merge_bytes(store_bytes(s, line), data, missing);
    }
    l->valid[0] = s->full[0];
    l->valid[1] = s->full[1];
}

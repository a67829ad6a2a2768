/* store.c: lines of a cache and their bytes. */
#include "model/line/store.h"

bool store_init(store *s, uint32_t sets, uint32_t ways, uint32_t line_bytes, store_order order,
                ls_domain *domain)
{
    size_t count = (size_t)sets * ways;
    *s = (store){ .sets = sets,
                  .ways = ways,
                  .line_count = (uint32_t)count,
                  .line_bytes = line_bytes,
                  .line_shift = (uint32_t)__builtin_ctz(line_bytes),
                  .order = order,
                  .set_mask = (sets & (sets - 1)) == 0 ? sets - 1 : 0,
                  .full = { UINT64_MAX, line_bytes > 64 ? UINT64_MAX : 0 },
                  .random = UINT64_C(0x9e3779b97f4a7c15) };
    s->tags = ls_domain_alloc(domain, count * sizeof *s->tags);
    s->lines = ls_domain_alloc(domain, count * sizeof *s->lines);
    s->recent = ls_domain_alloc(domain, sets);
    s->bytes = ls_domain_alloc(domain, count * line_bytes);
    return s->tags != NULL && s->lines != NULL && s->recent != NULL && s->bytes != NULL;
}

/* Lines of an empty set are all zero, and mshr 0 would be a fetch: only used lines have a valid note. */
static inline bool can_go(const store *s, uint32_t line)
{
    return s->lines[line].mshr == STORE_NONE;
}

uint32_t store_victim(store *s, uint64_t index)
{
    uint32_t first = store_set(s, index) * s->ways, found = STORE_NONE;
    uint64_t oldest = UINT64_MAX;
    for (uint32_t line = first; line < first + s->ways; line++) {
        if (s->tags[line] == 0)
            return line;
        if (s->lines[line].used < oldest && can_go(s, line)) {
            oldest = s->lines[line].used;
            found = line;
        }
    }
    if (s->order != STORE_RANDOM || found == STORE_NONE)
        return found;
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    uint32_t start = (uint32_t)((s->random >> 32) % s->ways);
    for (uint32_t i = 0; i < s->ways; i++) {
        uint32_t line = first + (start + i) % s->ways;
        if (can_go(s, line))
            return line;
    }
    return STORE_NONE;
}

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

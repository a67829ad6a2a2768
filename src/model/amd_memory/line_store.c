/* line_store.c: lines of a cache: the order in which they go, and their bytes. */
#include "model/amd_memory/line_store.h"

ls_status store_init(store *s, uint32_t sets, uint32_t ways, uint32_t line_bytes, uint32_t policy,
                     const set_hash_spec *hash, ls_domain *domain, ls_error *err)
{
    size_t count = (size_t)sets * ways;
    const tag_store_spec tags = {
        .sets = sets, .ways = ways, .replacement = policy, .hash = hash, .line_bytes = line_bytes
    };
    *s = (store){ .line_bytes = line_bytes,
                  .line_shift = (uint32_t)__builtin_ctz(line_bytes),
                  .full = { UINT64_MAX, line_bytes > 64 ? UINT64_MAX : 0 } };
    s->lines = ls_domain_alloc(domain, count * sizeof *s->lines);
    s->bytes = ls_domain_alloc(domain, count * line_bytes);
    if (s->lines == NULL || s->bytes == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the lines of a cache");
    return tag_store_init(&s->tags, &tags, domain, err);
}

/* --- the line that goes --- */

uint32_t store_choose(store *s, uint32_t set)
{
    uint64_t allowed[REPLACEMENT_WORDS] = { 0 };
    bool any = false;
    for (uint32_t way = 0; way < s->tags.ways; way++) {
        bool may_go = s->lines[tag_store_at(&s->tags, set, way)].mshr == STORE_NONE;
        allowed[way / 64] |= (uint64_t)may_go << way % 64;
        any |= may_go;
    }
    return any ? tag_store_choose(&s->tags, set, allowed) : STORE_NONE;
}

/* Of several such lines the one of the lowest way goes first. */
void store_age(store *s, uint32_t line)
{
    uint32_t after = STORE_NONE, next = tag_store_oldest(&s->tags, s->tags.entries[line].set);
    while (next < line && s->lines[next].aged) {
        after = next;
        next = tag_store_newer(&s->tags, next);
    }
    s->lines[line].aged = true;
    tag_store_age(&s->tags, line, after);
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

/* line_store.h: the lines of a cache: its tags (model/cache/tag_store.h), bytes, masks of valid and dirty bytes.
 * Independent of time and messages. */
#ifndef MODEL_AMD_MEMORY_LINE_STORE_H
#define MODEL_AMD_MEMORY_LINE_STORE_H

#include "lockstep/line.h"
#include "model/cache/tag_store.h"

#define STORE_NONE TAG_STORE_NONE

/* The payload of an entry of the tag store. One bit per byte; a line of 64 bytes uses the first word only. dirty is a
 * subset of valid. */
typedef struct store_line {
    uint64_t valid[2], dirty[2];
    uint32_t mshr;   /* the fetch that is on its way (store_keep()); the line does not go then */
    bool prefetched; /* the owner's note: it was never read */
    bool aged;       /* store_age() */
} store_line;

typedef struct store {
    tag_store tags; /* keys are addresses */
    store_line *lines;
    uint8_t *bytes;
    uint32_t line_bytes, line_shift;
    uint64_t full[2]; /* valid[] of a whole line */
} store;

/* Memory comes from the domain. ways up to 256. policy: replacement_kind, or a plug-in's number. Fails when the
 * host has no memory left, or for policies that cannot be. */
ls_status store_init(store *s, uint32_t sets, uint32_t ways, uint32_t line_bytes, uint32_t policy,
                     const set_hash_spec *hash, ls_domain *domain, ls_error *err);

static inline uint32_t store_set_of(const store *s, uint64_t index)
{
    return tag_store_set_of(&s->tags, index >> s->line_shift);
}

/* The line of an address, or STORE_NONE. */
static inline uint32_t store_find(const store *s, uint64_t address)
{
    return tag_store_look(&s->tags, address);
}

/* The same for policies that are no order of lines (replacement.h). */
uint32_t store_choose(store *s, uint32_t set);

/* The line that a new address would take: an empty one or the one to go; STORE_NONE if all are waiting for a
 * fetch. */
static inline uint32_t store_victim(store *s, uint32_t set)
{
    uint32_t line = tag_store_empty(&s->tags, set);
    if (line != STORE_NONE)
        return line;
    if (LS_UNLIKELY(!replacement_is_order(s->tags.kind)))
        return store_choose(s, set);
    line = tag_store_oldest(&s->tags, set);
    while (line != STORE_NONE && s->lines[line].mshr != STORE_NONE)
        line = tag_store_newer(&s->tags, line);
    return line;
}

static inline bool store_is_empty(const store *s, uint32_t line)
{
    return !tag_store_has(&s->tags, line);
}

static inline uint32_t store_count(const store *s)
{
    return tag_store_count(&s->tags);
}

static inline uint64_t store_address(const store *s, uint32_t line)
{
    return tag_store_key(&s->tags, line);
}

static inline bool store_is_dirty(const store *s, uint32_t line)
{
    return (s->lines[line].dirty[0] | s->lines[line].dirty[1]) != 0;
}

static inline bool store_is_full(const store *s, uint32_t line)
{
    return s->lines[line].valid[0] == s->full[0] && s->lines[line].valid[1] == s->full[1];
}

/* Of its bytes only those that were written here stay valid. */
static inline void store_keep_dirty(store *s, uint32_t line)
{
    s->lines[line].valid[0] = s->lines[line].dirty[0];
    s->lines[line].valid[1] = s->lines[line].dirty[1];
}

static inline uint8_t *store_bytes(const store *s, uint32_t line)
{
    return s->bytes + (size_t)line * s->line_bytes;
}

/* Marks the line as used. Not for kept lines, nor for a line that was placed for the same request. */
static inline void store_touch(store *s, uint32_t line)
{
    tag_store_use(&s->tags, line);
    s->lines[line].aged &= s->tags.kind != REPLACEMENT_LRU;
}

/* Makes it the next to go. */
void store_age(store *s, uint32_t line);

/* A fetch for it begins, and ends: in between it does not go. */
static inline void store_keep(store *s, uint32_t line, uint32_t mshr)
{
    s->lines[line].mshr = mshr;
    s->lines[line].aged = false;
    tag_store_renew(&s->tags, line);
}

static inline void store_release(store *s, uint32_t line)
{
    s->lines[line].mshr = STORE_NONE;
    tag_store_renew(&s->tags, line);
}

static inline void store_drop(store *s, uint32_t line)
{
    tag_store_drop(&s->tags, line);
}

/* Takes the line, a victim, for an address; the old line is dropped. No byte is valid. */
static inline void store_place(store *s, uint32_t line, uint64_t address)
{
    tag_store_place(&s->tags, line, address);
    s->lines[line] = (store_line){ .mshr = STORE_NONE };
}

/* Copies the bytes of the mask. */
void store_merge_bytes(uint8_t *to, const uint8_t *from, const uint64_t mask[2]);
/* Bytes of the mask become valid, and dirty if `dirty`. */
void store_write(store *s, uint32_t line, const uint8_t *data, const uint64_t mask[2], bool dirty);
/* A whole line came from below: bytes that are valid here are newer and stay. */
void store_fill(store *s, uint32_t line, const uint8_t *data);

#endif

/* line_store.h: the lines of a cache: tags, bytes, masks of valid and dirty bytes, and the choice of victims.
 * Independent of time and messages. */
#ifndef MODEL_AMD_MEMORY_LINE_STORE_H
#define MODEL_AMD_MEMORY_LINE_STORE_H

#include "lockstep/line.h"
#include "model/policy/replacement.h"
#include "model/policy/set_hash.h"

#define STORE_NONE UINT32_MAX

/* One bit per byte; a line of 64 bytes uses the first word only. dirty is a subset of valid. */
typedef struct store_line {
    uint64_t valid[2], dirty[2];
    uint32_t mshr;       /* the owner's note: which fetch is on its way (store_keep()) */
    uint32_t prefetched; /* the owner's note: it was never read */
} store_line;

typedef struct store {
    uint64_t *tags;  /* address | 1; 0: empty. [set * ways + way] */
    uint64_t *marks; /* a byte per way, from its tag: eight are compared at once */
    store_line *lines;
    uint32_t *stamps; /* by line: of its last use, or otherwise of its beginning; 0: empty; STORE_KEPT */
    uint8_t *bytes;
    uint32_t sets, ways, line_count, mark_words; /* mark_words: per set */
    uint32_t present;                            /* lines that are not empty */
    uint32_t line_bytes, line_shift, mark_shift, replacement;
    uint32_t set_mask;     /* 0: sets are not a power of two, or there is one */
    uint32_t (*hash)[256]; /* set_hash.h; NULL: the lowest bits of a line's number are its set */
    uint64_t full[2];      /* valid[] of a whole line */
    uint32_t clock;
    struct replacement policy; /* unless it is LRU or FIFO */
} store;

#define STORE_KEPT UINT32_MAX /* does not go */

/* Memory comes from the domain. ways up to 256. policy: replacement_kind, or a plug-in's number. Fails when the
 * host has no memory left, or for policies that cannot be. */
ls_status store_init(store *s, uint32_t sets, uint32_t ways, uint32_t line_bytes, uint32_t policy,
                     const set_hash_spec *hash, ls_domain *domain, ls_error *err);

static inline uint32_t store_set_of(const store *s, uint64_t index)
{
    uint64_t number = index >> s->line_shift;
    if (s->hash != NULL)
        number = set_hash_of(s->hash, number);
    return (uint32_t)(s->set_mask != 0 ? number & s->set_mask : number % s->sets);
}

static inline uint64_t store_mark(const store *s, uint64_t address)
{
    return address >> s->mark_shift & 0xff;
}

/* Sets of so few ways have no marks. */
#define STORE_FEW_WAYS 4u

/* The line of an address, which belongs to that set, or STORE_NONE. */
static inline uint32_t store_find(const store *s, uint32_t set, uint64_t address)
{
    const uint64_t low = UINT64_C(0x0101010101010101), high = low << 7;
    uint64_t tag = address | 1;
    uint32_t first = set * s->ways;
    const uint64_t *tags = &s->tags[first];
    if (s->ways == STORE_FEW_WAYS) {
        uint32_t way = tags[0] == tag ? 0 : tags[1] == tag ? 1 : tags[2] == tag ? 2 : tags[3] == tag ? 3 : 4;
        return way < STORE_FEW_WAYS ? first + way : STORE_NONE;
    }
    if (s->ways < STORE_FEW_WAYS) {
        for (uint32_t way = 0; way < s->ways; way++)
            if (tags[way] == tag)
                return first + way;
        return STORE_NONE;
    }
    uint64_t mark = store_mark(s, address) * low;
    const uint64_t *marks = &s->marks[(size_t)set * s->mark_words];
    uint32_t word = 0;
    do {
        uint64_t differ = marks[word] ^ mark;
        /* The lowest zero byte is marked exactly. Bytes above it may be marked in error; the comparison of the
         * tag detects that. (After the last way of a set the tag is another set's.) */
        for (uint64_t hit = (differ - low) & ~differ & high; hit != 0; hit &= hit - 1) {
            uint32_t way = word * 8 + (uint32_t)__builtin_ctzll(hit) / 8;
            if (tags[way] == tag)
                return first + way;
        }
    } while (++word < s->mark_words);
    return STORE_NONE;
}

uint32_t store_choose(store *s,
                      uint32_t first); /* the same for any number of ways, from a set's first line on */

/* The line that a new address would take: an empty one or the one to go; STORE_NONE if all are waiting for a
 * fetch. */
static inline uint32_t store_victim(store *s, uint32_t set)
{
    uint32_t first = set * s->ways;
    if (s->ways != STORE_FEW_WAYS || !replacement_is_order(s->replacement))
        return store_choose(s, first);
    const uint32_t *stamps = &s->stamps[first];
    uint32_t low = stamps[1] < stamps[0], high = 2u + (stamps[3] < stamps[2]);
    uint32_t found = stamps[high] < stamps[low] ? high : low;
    return stamps[found] != STORE_KEPT ? first + found : STORE_NONE;
}

static inline uint64_t store_address(const store *s, uint32_t line)
{
    return s->tags[line] & ~UINT64_C(1);
}

static inline bool store_is_dirty(const store *s, uint32_t line)
{
    return (s->lines[line].dirty[0] | s->lines[line].dirty[1]) != 0;
}

static inline bool store_is_full(const store *s, uint32_t line)
{
    return s->lines[line].valid[0] == s->full[0] && s->lines[line].valid[1] == s->full[1];
}

static inline uint8_t *store_bytes(const store *s, uint32_t line)
{
    return s->bytes + (size_t)line * s->line_bytes;
}

/* Gives the lines of each set new stamps in the same order: once in 2^32 uses. */
void store_rewind(store *s);

static inline uint32_t store_stamp(store *s)
{
    if (LS_UNLIKELY(++s->clock == STORE_KEPT))
        store_rewind(s);
    return s->clock;
}

/* The same for policies that are no order of lines (replacement.h). */
void store_policy_use(store *s, uint32_t line);
void store_policy_age(store *s, uint32_t line);
void store_policy_insert(store *s, uint32_t line);

/* Marks the line as used. Not for kept lines, nor for a line that was placed for the same request. */
static inline void store_touch(store *s, uint32_t line)
{
    if (LS_LIKELY(s->replacement == REPLACEMENT_LRU))
        s->stamps[line] = store_stamp(s);
    else if (!replacement_is_order(s->replacement))
        store_policy_use(s, line);
}

/* Makes it the next to go. */
static inline void store_age(store *s, uint32_t line)
{
    s->stamps[line] = 1;
    if (LS_UNLIKELY(!replacement_is_order(s->replacement)))
        store_policy_age(s, line);
}

/* A fetch for it begins, and ends: in between it does not go. */
static inline void store_keep(store *s, uint32_t line, uint32_t mshr)
{
    s->lines[line].mshr = mshr;
    s->stamps[line] = STORE_KEPT;
}

static inline void store_release(store *s, uint32_t line)
{
    s->lines[line].mshr = STORE_NONE;
    s->stamps[line] = store_stamp(s);
}

static inline void store_drop(store *s, uint32_t line)
{
    s->present--;
    s->tags[line] = 0;
    s->stamps[line] = 0;
}

/* Takes the line, a victim of that set, for an address; the old line is dropped. No byte is valid. */
static inline void store_place(store *s, uint32_t line, uint32_t set, uint64_t address)
{
    s->present += s->tags[line] == 0;
    s->tags[line] = address | 1;
    s->lines[line] = (store_line){ .mshr = STORE_NONE };
    s->stamps[line] = store_stamp(s);
    if (LS_UNLIKELY(!replacement_is_order(s->replacement)))
        store_policy_insert(s, line);
    if (s->ways <= STORE_FEW_WAYS)
        return;
    uint32_t way = line - set * s->ways;
    uint64_t *marks = &s->marks[(size_t)set * s->mark_words + way / 8];
    *marks = (*marks & ~(UINT64_C(0xff) << way % 8 * 8)) | store_mark(s, address) << way % 8 * 8;
}

/* Copies the bytes of the mask. */
void store_merge_bytes(uint8_t *to, const uint8_t *from, const uint64_t mask[2]);
/* Bytes of the mask become valid, and dirty if `dirty`. */
void store_write(store *s, uint32_t line, const uint8_t *data, const uint64_t mask[2], bool dirty);
/* A whole line came from below: bytes that are valid here are newer and stay. */
void store_fill(store *s, uint32_t line, const uint8_t *data);

#endif

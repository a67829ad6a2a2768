/* store.h: the lines of a cache: tags, bytes, which bytes are valid and which are dirty, and who has to go. Knows
 * nothing about time or messages. */
#ifndef MODEL_LINE_STORE_H
#define MODEL_LINE_STORE_H

#include "model/line/line.h"

#define STORE_NONE UINT32_MAX

typedef enum store_order { STORE_LRU, STORE_FIFO, STORE_RANDOM } store_order;

/* One bit per byte; a line of 64 bytes uses the first word only. dirty is a subset of valid. */
typedef struct store_line {
    uint64_t valid[2], dirty[2];
    uint64_t used; /* when, by `clock`: of the last use, or for FIFO of the beginning */
    uint32_t mshr; /* the owner's note: a fetch is on its way; such a line does not go */
    uint32_t unused;
} store_line;

typedef struct store {
    uint64_t *tags; /* address | 1; 0: empty. [set * ways + way] */
    store_line *lines;
    uint8_t *bytes;
    uint8_t *recent; /* per set: the way that was found last */
    uint32_t sets, ways, line_count;
    uint32_t line_bytes, line_shift, order;
    uint32_t set_mask; /* 0: sets are not a power of two */
    uint64_t full[2];  /* valid[] of a whole line */
    uint64_t clock, random;
} store;

/* Memory comes from the domain; false when the host has none left. ways up to 256. */
bool store_init(store *s, uint32_t sets, uint32_t ways, uint32_t line_bytes, store_order order,
                ls_domain *domain);

static inline uint32_t store_set(const store *s, uint64_t index)
{
    uint64_t number = index >> s->line_shift;
    return (uint32_t)(s->set_mask != 0 || s->sets == 1 ? number & s->set_mask : number % s->sets);
}

/* The line of an address, or STORE_NONE; index: the address that picks the set. */
static inline uint32_t store_find(store *s, uint64_t address, uint64_t index)
{
    uint32_t set = store_set(s, index), first = set * s->ways;
    uint64_t tag = address | 1;
    uint32_t guess = first + s->recent[set];
    if (s->tags[guess] == tag)
        return guess;
    for (uint32_t way = 0; way < s->ways; way++)
        if (s->tags[first + way] == tag) {
            s->recent[set] = (uint8_t)way;
            return first + way;
        }
    return STORE_NONE;
}

/* The line that a new address would take: an empty one or the one to go; STORE_NONE if all are waiting for a fetch. */
uint32_t store_victim(store *s, uint64_t index);

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

static inline void store_touch(store *s, uint32_t line)
{
    if (s->order == STORE_LRU)
        s->lines[line].used = ++s->clock;
}

/* Makes it the next to go. */
static inline void store_age(store *s, uint32_t line)
{
    s->lines[line].used = 0;
}

static inline void store_drop(store *s, uint32_t line)
{
    s->tags[line] = 0;
    s->lines[line] = (store_line){ .mshr = STORE_NONE };
}

/* Takes the line for an address; what was there is forgotten. No byte is valid. */
static inline void store_place(store *s, uint32_t line, uint64_t address)
{
    s->tags[line] = address | 1;
    s->lines[line] = (store_line){ .used = ++s->clock, .mshr = STORE_NONE };
}

/* Copies the bytes of the mask. */
void store_merge_bytes(uint8_t *to, const uint8_t *from, const uint64_t mask[2]);
/* Bytes of the mask become valid, and dirty if said so. */
void store_write(store *s, uint32_t line, const uint8_t *data, const uint64_t mask[2], bool dirty);
/* A whole line came from below: bytes that are valid here are newer and stay. */
void store_fill(store *s, uint32_t line, const uint8_t *data);

#endif

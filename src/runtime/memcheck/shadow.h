/* shadow.h: for each byte of simulated memory its last known value, the segment that wrote it last, and the last
 * segments of two waves that read it. Writers and readers are kept per dword; a page in which an access is smaller,
 * or lies across dwords, keeps them per byte from then on. Segments are numbers that mean something to the user
 * (memcheck.h); 0 is none. */
#ifndef RUNTIME_MEMCHECK_SHADOW_H
#define RUNTIME_MEMCHECK_SHADOW_H

#include "base/address_space.h"

/* Of a unit. The bits above are the operation of the last atomic. */
#define SHADOW_RACED 1u     /* writes without order: its value is not judged before another write */
#define SHADOW_ATOMIC 2u    /* the last writer was an atomic */
#define SHADOW_CONTENDED 4u /* atomics without order: its value is judged when all of them are over */
#define SHADOW_ATOMIC_SHIFT 3u

/* A dword or a byte. */
typedef struct shadow_unit {
    uint32_t writer, reader[2];
    uint32_t writer_pc, reader_pc; /* offsets in the code of the segment */
    uint32_t flags;
} shadow_unit;

typedef struct shadow_page {
    uint64_t number;          /* address >> LS_PAGE_SHIFT */
    struct shadow_page *next; /* of the same bucket */
    uint32_t shift;           /* log2 of the bytes of a unit: 2 or 0 */
    uint32_t race_stamp;      /* when a unit was last marked as raced or contended; the user's time */
    bool has_sync;            /* words of it synchronise waves */
    shadow_unit *units;
    uint64_t known[LS_PAGE_BYTES / 64]; /* bit per byte: its value is known */
    uint8_t value[LS_PAGE_BYTES];
} shadow_page;

typedef struct shadow {
    shadow_page **buckets;
    size_t bucket_count, page_count;
    shadow_page *last; /* that was looked for */
    uint64_t bytes;    /* of the host, in use */
} shadow;

/* All zero is empty. */
void shadow_fini(shadow *s);
/* The page of an address; NULL: there is none, or no memory. */
shadow_page *shadow_find(shadow *s, uint64_t address, bool create);
/* Units of a byte from now on. */
bool shadow_refine(shadow *s, shadow_page *page);
/* Nothing is known any more of a range. */
void shadow_forget(shadow *s, uint64_t address, uint64_t bytes);

static inline shadow_unit *shadow_at(shadow_page *page, uint64_t address)
{
    return &page->units[(address & (LS_PAGE_BYTES - 1)) >> page->shift];
}

/* Bytes from an address on that are in its unit, at most `bytes`. */
static inline unsigned shadow_run(const shadow_page *page, uint64_t address, uint64_t bytes)
{
    unsigned room = (1u << page->shift) - (unsigned)(address & ((1u << page->shift) - 1));
    return bytes < room ? (unsigned)bytes : room;
}

static inline bool shadow_is_known(const shadow_page *page, uint64_t address)
{
    unsigned at = address & (LS_PAGE_BYTES - 1);
    return page->known[at / 64] >> at % 64 & 1;
}

static inline uint8_t shadow_value(const shadow_page *page, uint64_t address)
{
    return page->value[address & (LS_PAGE_BYTES - 1)];
}

static inline void shadow_set(shadow_page *page, uint64_t address, uint8_t value)
{
    unsigned at = address & (LS_PAGE_BYTES - 1);
    page->known[at / 64] |= 1ull << at % 64;
    page->value[at] = value;
}

static inline void shadow_unknow(shadow_page *page, uint64_t address)
{
    unsigned at = address & (LS_PAGE_BYTES - 1);
    page->known[at / 64] &= ~(1ull << at % 64);
}

#endif

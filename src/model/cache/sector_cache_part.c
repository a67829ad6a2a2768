/* sector_cache_part.c: reads of several sectors of one line: one look-up of the tags, one MSHR for all sectors that are fetched
 * together, one fill (sector_cache.h). */
#include "model/cache/sector_cache_part.h"

#include <assert.h>

#define SECTORS 4u

static inline uint32_t count_of(uint32_t sectors)
{
    return ls_sector_bits(sectors);
}

/* The address of the first of some sectors of a line. */
static inline uint64_t first_of(uint64_t line_address, uint32_t sectors)
{
    return line_address + (uint64_t)(uint32_t)__builtin_ctz(sectors) * SECTOR_BYTES;
}

/* The sectors of an MSHR, a bit each. */
static inline uint32_t sectors_of(const sector_cache_mshr *mshr)
{
    return mshr->sectors != 0 ? mshr->sectors : 1u << (mshr->address / SECTOR_BYTES & (SECTORS - 1));
}

uint32_t sector_cache_find_part(const sector_cache *c, uint64_t sector_address)
{
    uint64_t line_address = sector_address & ~(uint64_t)(SECTOR_CACHE_LINE_BYTES - 1);
    uint32_t sector = (uint32_t)(sector_address / SECTOR_BYTES) & (SECTORS - 1);
    for (uint32_t first = sector + 1; first-- > 0;) {
        uint32_t m = find_mshr(c, line_address + (uint64_t)first * SECTOR_BYTES);
        if (m != SECTOR_CACHE_NONE && (sectors_of(&c->mshrs[m]) >> sector & 1) != 0)
            return m;
    }
    return SECTOR_CACHE_NONE;
}

static bool has_waiters(const sector_cache *c, uint32_t wanted)
{
    uint32_t fresh = c->waiter_count - c->waiter_pool.fresh;
    for (uint32_t w = c->waiter_pool.free; fresh < wanted && w != INDEX_NONE; w = c->waiters[w].next)
        fresh++;
    return fresh >= wanted;
}

/* The MSHRs of sectors on their way. SECTOR_CACHE_HIT: the request can wait at all of them. */
static sector_cache_outcome find_all(sector_cache *c, uint64_t line_address, uint32_t pending, uint32_t token,
                                     uint32_t mshrs[SECTORS], uint32_t *count)
{
    while (pending != 0) {
        uint32_t m = sector_cache_find_part(c, first_of(line_address, pending));
        assert(m != SECTOR_CACHE_NONE);
        if (c->mshrs[m].count >= c->spec->mshr_merge) {
            if (c->spec->merge_stall == SECTOR_CACHE_STALL_REQUEST)
                return sector_cache_stall(c, m, token);
            c->counters->fail_merge++;
            return SECTOR_CACHE_FAIL;
        }
        mshrs[(*count)++] = m;
        pending &= ~sectors_of(&c->mshrs[m]);
    }
    return SECTOR_CACHE_HIT;
}

/* Room for sectors that are not there. One that still has an MSHR, whose requests are being answered, waits for their end. */
static bool can_fetch(sector_cache *c, uint64_t line_address, uint32_t missing)
{
    if (miss_count(c) + 1 >= c->spec->miss_queue) {
        c->counters->fail_queue++;
        return false;
    }
    if (c->mshr_count + count_of(missing) > c->spec->mshr_entries) {
        c->counters->fail_mshr++;
        return false;
    }
    for (uint32_t left = missing; c->ready_first != SECTOR_CACHE_NONE && left != 0; left &= left - 1)
        if (sector_cache_find_part(c, first_of(line_address, left)) != SECTOR_CACHE_NONE) {
            c->counters->fail_merge++;
            return false;
        }
    return true;
}

/* Of `sectors`, some wait for fills, some are fetched, and the others are there. */
static void count_read(sector_cache *c, uint32_t sectors, uint32_t pending, uint32_t missing)
{
    sector_cache_counters *n = c->counters;
    uint32_t all = count_of(sectors), merged = count_of(pending), missed = count_of(missing);
    n->reads += all;
    n->accesses += all;
    n->hits += all - merged - missed;
    c->split->read_hits += all - merged - missed;
    n->pending_hits += merged;
    n->mshr_merges += merged;
    c->split->read_pending_hits += merged;
    c->split->read_merges += merged;
    n->sector_misses += missed;
    c->split->read_sector_misses += missed;
}

/* Bytes written before the fetch stay dirty after it, and can be read then. */
static void keep_written(sector_cache *c, sector_cache_line *line, uint8_t missing)
{
    uint8_t written = line->dirty & missing;
    line->modified_on_fill = (uint8_t)((line->modified_on_fill & ~missing) | written);
    line->readable_on_fill |= written;
    if (written != 0) {
        line->dirty &= (uint8_t)~written;
        c->dirty_lines -= line->dirty == 0;
    }
    line->valid &= (uint8_t)~missing;
}

static inline void fetch(sector_cache *c, uint32_t i, uint64_t line_address, uint32_t missing, uint32_t token)
{
    sector_cache_line *line = &c->lines[i];
    uint8_t bits = (uint8_t)missing;
    line->pending |= bits;
    line->readable |= bits;
    push_miss(c,
              (sector_cache_miss){
                  .address = line_address, .kind = SECTOR_CACHE_MISS_READ, .sectors = bits, .token = token });
    uint32_t m = take_mshr(c, first_of(line_address, missing), i, new_waiter(c, token));
    sector_cache_mshr *mshr = &c->mshrs[m];
    mshr->count = 1;
    mshr->sectors = bits;
    mshr->more = (uint8_t)(count_of(missing) - 1);
    c->mshr_count += mshr->more;
}

/* Of a line that is not there. */
static sector_cache_outcome read_new_line(sector_cache *c, uint64_t line_address, uint64_t index_address,
                                          uint32_t sectors, uint32_t token, sector_cache_part *out)
{
    sector_cache_counters *n = c->counters;
    uint32_t victim = sector_cache_victim(c, set_of(c, index_address)), all = count_of(sectors);
    if (victim == SECTOR_CACHE_NONE) {
        n->fail_line++;
        return SECTOR_CACHE_FAIL;
    }
    if (!can_fetch(c, line_address, sectors))
        return SECTOR_CACHE_FAIL;
    if (no_waiter_left(c)) {
        n->fail_merge++;
        return SECTOR_CACHE_FAIL;
    }
    n->reads += all;
    n->accesses += all;
    n->misses++;
    c->split->read_misses++;
    n->sector_misses += all - 1;
    c->split->read_sector_misses += all - 1;
    sector_cache_allocate(c, victim, line_address);
    fetch(c, victim, line_address, sectors, token);
    *out = (sector_cache_part){ .waits = 1, .missed = sectors };
    return SECTOR_CACHE_MISS;
}

sector_cache_outcome sector_cache_read_some(sector_cache *c, uint32_t i, uint64_t line_address,
                                            uint64_t index_address, uint32_t sectors, uint32_t token,
                                            sector_cache_part *out)
{
    if (LS_LIKELY(i == SECTOR_CACHE_NONE))
        return read_new_line(c, line_address, index_address, sectors, token, out);
    sector_cache_line *line = &c->lines[i];
    uint32_t pending = line->pending & sectors, missing = sectors & ~readable_of(line, sectors) & ~pending;
    uint32_t count = 0, mshrs[SECTORS];
    sector_cache_outcome outcome = find_all(c, line_address, pending, token, mshrs, &count);
    if (outcome != SECTOR_CACHE_HIT)
        return outcome;
    if (missing != 0 && !can_fetch(c, line_address, missing))
        return SECTOR_CACHE_FAIL;
    if (!has_waiters(c, count + (missing != 0))) {
        c->counters->fail_merge++;
        return SECTOR_CACHE_FAIL;
    }
    count_read(c, sectors, pending, missing);
    tag_store_use(&c->tags, i);
    for (uint32_t k = 0; k < count; k++) {
        add_waiter(c, mshrs[k], new_waiter(c, token));
        c->mshrs[mshrs[k]].count++;
    }
    if (missing != 0) {
        keep_written(c, line, (uint8_t)missing);
        fetch(c, i, line_address, missing, token);
    }
    *out = (sector_cache_part){ .waits = count + (missing != 0), .missed = missing };
    return missing != 0 ? SECTOR_CACHE_MISS : SECTOR_CACHE_PENDING;
}

sector_cache_outcome sector_cache_read_part(sector_cache *c, uint64_t line_address, uint64_t index_address,
                                            uint32_t sectors, uint32_t token, sector_cache_part *out)
{
    uint32_t line = find_line(c, line_address);
    sector_cache_outcome outcome = sector_cache_read_quick(c, line, sectors, token);
    *out = (sector_cache_part){ .waits = outcome == SECTOR_CACHE_PENDING };
    if (outcome == SECTOR_CACHE_FAIL)
        outcome = sector_cache_read_some(c, line, line_address, index_address, sectors, token, out);
    return outcome;
}

bool sector_cache_write_part(sector_cache *c, uint64_t line_address, uint64_t index_address, uint32_t sectors)
{
    sector_cache_counters *n = c->counters;
    /* Room for a write-back, in any case. */
    if (c->stalled_count != 0 || c->spec->write_policy != WRITE_BACK || c->tags.kind != REPLACEMENT_LRU ||
        miss_count(c) + 1 >= c->spec->miss_queue)
        return false;
    uint32_t i = find_line_again(c, line_address), all = count_of(sectors);
    if (i == SECTOR_CACHE_NONE) {
        i = sector_cache_victim(c, set_of(c, index_address));
        if (i == SECTOR_CACHE_NONE)
            return false;
        sector_cache_allocate(c, i, line_address);
        n->misses++;
        c->split->write_misses++;
        n->sector_misses += all - 1;
        c->split->write_sector_misses += all - 1;
    } else {
        uint32_t hits = c->lines[i].valid & sectors, pending = c->lines[i].pending & sectors & ~hits;
        uint32_t hit = count_of(hits), merged = count_of(pending);
        n->hits += hit;
        c->split->write_hits += hit;
        n->pending_hits += merged;
        c->split->write_pending_hits += merged;
        n->sector_misses += all - hit - merged;
        c->split->write_sector_misses += all - hit - merged;
        tag_store_use(&c->tags, i);
    }
    n->writes += all;
    n->accesses += all;
    sector_cache_line *line = &c->lines[i];
    uint8_t bits = (uint8_t)sectors, pending = line->pending & bits;
    c->changes++;
    c->dirty_lines += line->dirty == 0;
    line->dirty |= bits;
    line->valid |= bits;
    line->readable |= bits;
    line->modified_on_fill |= pending;
    line->readable_on_fill |= pending;
    for (uint32_t left = sectors; left != 0; left &= left - 1)
        line->dirty_bytes[__builtin_ctz(left)] = UINT32_MAX;
    return true;
}

void sector_cache_fill_part(sector_cache *c, uint64_t line_address, uint32_t sectors, uint8_t level)
{
    uint32_t m = find_mshr(c, first_of(line_address, sectors));
    assert(m != SECTOR_CACHE_NONE && c->mshrs[m].sectors == sectors);
    sector_cache_line *line = &c->lines[c->mshrs[m].line];
    uint8_t bits = (uint8_t)sectors, written = (line->modified_on_fill | c->mshrs[m].atomic) & bits;
    c->counters->fills += count_of(sectors);
    line->valid |= bits;
    line->pending &= (uint8_t)~bits;
    if (written != 0) {
        c->dirty_lines += line->dirty == 0;
        line->dirty |= written;
    }
    line->readable |= line->readable_on_fill & bits;
    line->modified_on_fill &= (uint8_t)~bits;
    line->readable_on_fill &= (uint8_t)~bits;
    add_ready(c, m, level);
}

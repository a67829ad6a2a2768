/* sector_cache.c: accesses to a sector cache: hits, misses, victims, fills (sector_cache.h). tag_store.h finds lines and
 * orders them. sector_cache_setup.c builds and empties caches, sector_cache_prefetch.c fetches ahead. */
#include "model/cache/sector_cache_parts.h"

#include <assert.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- sets */

static inline bool evictable(const sector_cache *c, const sector_cache_line *line)
{
    if (line->pending != 0)
        return false;
    return line->dirty == 0 || (uint64_t)c->dirty_lines * 100 >= c->spec->dirty_limit_percent * c->line_count;
}

/* The same for policies that are no order of lines. */
static __attribute__((noinline)) uint32_t choose_victim(sector_cache *c, uint32_t set)
{
    uint32_t ways = c->tags.limit;
    uint64_t allowed[REPLACEMENT_WORDS] = { 0 };
    bool pending = false, any = false;
    for (uint32_t w = 0; w < ways; w++) {
        const sector_cache_line *line = &c->lines[tag_store_at(&c->tags, set, w)];
        bool may_go = evictable(c, line);
        allowed[w / 64] |= (uint64_t)may_go << w % 64;
        any |= may_go;
        pending |= line->pending != 0;
    }
    if (!any && pending)
        return SECTOR_CACHE_NONE;
    for (uint32_t w = 0; w < ways && !any; w++)
        allowed[w / 64] |= UINT64_C(1) << w % 64;
    return tag_store_choose(&c->tags, set, allowed);
}

/* Where all lines are dirty and none waits for its fill, nothing would ever change in this set however few lines
 * are dirty elsewhere: the oldest goes. */
/* Two ways of the set at least wait for nothing. */
static __attribute__((noinline)) bool has_spare_way(const sector_cache *c, uint32_t set)
{
    const uint32_t used = c->tags.sets[set].used;
    uint32_t spare = c->tags.limit - used;
    for (uint32_t w = 0; w < used && spare < 2; w++)
        spare += c->lines[tag_store_at(&c->tags, set, w)].pending == 0;
    return spare >= 2;
}

uint32_t sector_cache_victim(sector_cache *c, uint32_t set)
{
    if (LS_UNLIKELY(c->spares_way) && !has_spare_way(c, set))
        return SECTOR_CACHE_NONE;
    uint32_t empty = tag_store_empty(&c->tags, set);
    bool pending = false;
    if (empty != TAG_STORE_NONE)
        return empty;
    if (LS_UNLIKELY(!replacement_is_order(c->tags.kind)))
        return choose_victim(c, set);
    for (uint32_t i = tag_store_oldest(&c->tags, set); i != TAG_STORE_NONE; i = tag_store_newer(&c->tags, i)) {
        if (evictable(c, &c->lines[i]))
            return i;
        pending |= c->lines[i].pending != 0;
    }
    return pending ? SECTOR_CACHE_NONE : tag_store_oldest(&c->tags, set);
}

static void push_write_back(sector_cache *c, uint32_t i)
{
    const sector_cache_line *line = &c->lines[i];
    c->counters->writebacks++;
    memcpy(c->miss_bytes[c->miss_tail & c->miss_mask], line->dirty_bytes, sizeof line->dirty_bytes);
    push_miss(c, (sector_cache_miss){ .address = tag_store_key(&c->tags, i),
                                      .kind = SECTOR_CACHE_MISS_WRITEBACK,
                                      .sectors = line->dirty,
                                      .token = SECTOR_CACHE_NONE });
}

uint64_t sector_cache_pop_sector(sector_cache *c, uint32_t *byte_mask)
{
    sector_cache_miss *miss = &c->misses[c->miss_head & c->miss_mask];
    uint32_t sector = (uint32_t)__builtin_ctz(miss->sectors);
    uint64_t address = miss->address + (uint64_t)sector * SECTOR_BYTES;
    *byte_mask = c->miss_bytes[c->miss_head & c->miss_mask][sector];
    miss->sectors &= (uint8_t)(miss->sectors - 1);
    if (miss->sectors == 0)
        c->miss_head++;
    return address;
}

bool sector_cache_clean(sector_cache *c, uint32_t *cursor)
{
    for (uint32_t i; c->dirty_lines != 0 && (i = tag_store_walk(&c->tags, cursor)) != TAG_STORE_NONE;
         ++*cursor) {
        sector_cache_line *line = &c->lines[i];
        if (line->dirty == 0)
            continue;
        if (miss_count(c) >= c->spec->miss_queue)
            return true;
        push_write_back(c, i);
        line->valid &= (uint8_t)(~line->dirty | line->readable);
        line->dirty = 0;
        memset(line->dirty_bytes, 0, sizeof line->dirty_bytes);
        c->dirty_lines--;
    }
    return false;
}

void sector_cache_allocate(sector_cache *c, uint32_t victim, uint64_t line_address)
{
    if (tag_store_has(&c->tags, victim)) {
        c->counters->evictions++;
        if (c->lines[victim].dirty != 0) {
            c->dirty_lines--;
            if (c->spec->write_policy == WRITE_BACK)
                push_write_back(c, victim);
        }
    }
    tag_store_place(&c->tags, victim, line_address);
    c->lines[victim] = (sector_cache_line){ 0 };
    c->changes++;
    c->touched = true;
}

static inline void set_dirty(sector_cache *c, sector_cache_line *line, uint32_t sector)
{
    c->changes++;
    if (line->dirty == 0)
        c->dirty_lines++;
    line->dirty |= (uint8_t)(1u << sector);
    line->valid |= (uint8_t)(1u << sector);
}

/* ------------------------------------------------------------------------------------------------- access */

/* Adds a waiting request to the MSHR of the sector, taking a new one if there is none. */
static void wait_for(sector_cache *c, uint32_t mshr, uint64_t sector_address, uint32_t line, uint32_t token,
                     bool atomic)
{
    uint32_t waiter = new_waiter(c, token);
    if (mshr == SECTOR_CACHE_NONE)
        mshr = take_mshr(c, sector_address, line, waiter);
    else
        add_waiter(c, mshr, waiter);
    c->mshrs[mshr].count++;
    if (atomic)
        c->mshrs[mshr].atomic |= (uint8_t)(1u << (sector_address / SECTOR_BYTES & 3));
}

sector_cache_outcome sector_cache_stall(sector_cache *c, uint32_t m, uint32_t token)
{
    sector_cache_mshr *mshr = &c->mshrs[m];
    if (no_waiter_left(c)) {
        c->counters->fail_merge++;
        return SECTOR_CACHE_FAIL;
    }
    uint32_t waiter = new_waiter(c, token);
    if (mshr->stalled_first == SECTOR_CACHE_NONE)
        mshr->stalled_first = waiter;
    else
        c->waiters[mshr->stalled_last].next = waiter;
    mshr->stalled_last = waiter;
    c->stalled_count++;
    c->counters->merge_stalls++;
    return SECTOR_CACHE_STALLED;
}

sector_cache_outcome sector_cache_stall_write(sector_cache *c, uint64_t address, uint32_t token)
{
    if (LS_LIKELY(c->stalled_count == 0))
        return SECTOR_CACHE_HIT;
    uint32_t m = sector_cache_find_part(c, address & ~(uint64_t)(SECTOR_BYTES - 1));
    if (m == SECTOR_CACHE_NONE || c->mshrs[m].stalled_first == SECTOR_CACHE_NONE)
        return SECTOR_CACHE_HIT;
    return sector_cache_stall(c, m, token);
}

void sector_cache_pop_retry(sector_cache *c)
{
    uint32_t waiter = c->retry_first;
    c->retry_first = c->waiters[waiter].next;
    if (c->retry_first == SECTOR_CACHE_NONE)
        c->retry_last = SECTOR_CACHE_NONE;
    index_pool_give(&c->waiter_pool, INDEX_LINKS(c->waiters, next), waiter);
}

/* The MSHR is free: its stalled requests are next in line. */
static __attribute__((noinline)) void retry_stalled(sector_cache *c, const sector_cache_mshr *mshr)
{
    for (uint32_t w = mshr->stalled_first; w != SECTOR_CACHE_NONE; w = c->waiters[w].next)
        c->stalled_count--;
    if (c->retry_last == SECTOR_CACHE_NONE)
        c->retry_first = mshr->stalled_first;
    else
        c->waiters[c->retry_last].next = mshr->stalled_first;
    c->retry_last = mshr->stalled_last;
}

static inline sector_cache_starved *starved_at(sector_cache *c, uint64_t address)
{
    return &c->starved[address / SECTOR_BYTES & (SECTOR_CACHE_STARVED - 1)];
}

static inline bool is_starved(sector_cache *c, uint64_t address)
{
    const sector_cache_starved *at = starved_at(c, address);
    return at->address == address + 1 && at->changes == c->changes;
}

static inline void note_starved(sector_cache *c, uint64_t address)
{
    c->starved_last = c->changes;
    *starved_at(c, address) = (sector_cache_starved){ .address = address + 1, .changes = c->changes };
}

/* A read that does not hit and found room in the miss queue. i: its line, SECTOR_CACHE_NONE if that is not there yet
 * and gets `victim`. */
static __attribute__((noinline)) sector_cache_outcome read_below(sector_cache *c, uint64_t tag_address,
                                                                 uint32_t i, uint32_t victim, uint32_t token,
                                                                 bool atomic)
{
    sector_cache_counters *n = c->counters;
    uint64_t sector_address = tag_address & ~(uint64_t)(SECTOR_BYTES - 1);
    uint8_t bit = (uint8_t)(1u << ((tag_address / SECTOR_BYTES) & 3));
    bool pending = i != SECTOR_CACHE_NONE && (c->lines[i].pending & bit) != 0;
    /* A sector that is not on its way has an MSHR only while the requests of the last time are being
     * answered. */
    uint32_t mshr =
        pending || c->ready_first != SECTOR_CACHE_NONE ? find_mshr(c, sector_address) : SECTOR_CACHE_NONE;
    if (LS_UNLIKELY(mshr == SECTOR_CACHE_NONE && pending))
        mshr = sector_cache_find_part(c, sector_address);
    if (mshr != SECTOR_CACHE_NONE ? c->mshrs[mshr].count >= c->spec->mshr_merge
                                  : c->mshr_count >= c->spec->mshr_entries) {
        if (mshr != SECTOR_CACHE_NONE && c->spec->merge_stall == SECTOR_CACHE_STALL_REQUEST)
            return sector_cache_stall(c, mshr, token);
        *(mshr != SECTOR_CACHE_NONE ? &n->fail_merge : &n->fail_mshr) += 1;
        /* Other policies may want to choose a victim each time. */
        if (mshr == SECTOR_CACHE_NONE && replacement_is_order(c->tags.kind))
            note_starved(c, tag_address);
        return SECTOR_CACHE_FAIL;
    }
    if (no_waiter_left(c)) {
        n->fail_merge++;
        return SECTOR_CACHE_FAIL;
    }
    n->reads++;
    n->accesses++;
    n->mshr_merges += mshr != SECTOR_CACHE_NONE;
    c->split->read_merges += mshr != SECTOR_CACHE_NONE;
    if (pending)
        n->pending_hits++, c->split->read_pending_hits++;
    else if (i != SECTOR_CACHE_NONE)
        n->sector_misses++, c->split->read_sector_misses++;
    else
        n->misses++, c->split->read_misses++;
    if (i == SECTOR_CACHE_NONE)
        sector_cache_allocate(c, victim, tag_address & ~(uint64_t)(SECTOR_CACHE_LINE_BYTES - 1));
    else
        tag_store_use(&c->tags, victim);
    sector_cache_line *line = &c->lines[victim];
    if (mshr == SECTOR_CACHE_NONE) { /* and so it is not on its way */
        /* Bytes written before the fetch stay dirty after it, and can be read then. */
        if (line->dirty & bit) {
            line->modified_on_fill |= bit;
            line->readable_on_fill |= bit;
            line->dirty &= (uint8_t)~bit;
            c->dirty_lines -= line->dirty == 0;
        } else {
            line->modified_on_fill &= (uint8_t)~bit;
        }
        line->pending |= bit;
        line->valid &= (uint8_t)~bit;
        line->readable |= bit;
        push_miss(c, (sector_cache_miss){
                         .address = sector_address, .kind = SECTOR_CACHE_MISS_READ, .token = token });
    } else if (!pending) {
        /* The line was replaced, or written in part, while the MSHR's requests are still being answered: the
         * data is here, and no fill follows that could end a wait. */
        line->valid |= bit;
        line->readable |= bit;
        if (atomic)
            set_dirty(c, line, (uint32_t)(tag_address / SECTOR_BYTES) & 3);
    }
    wait_for(c, mshr, sector_address, victim, token, atomic);
    return pending || mshr != SECTOR_CACHE_NONE ? SECTOR_CACHE_PENDING : SECTOR_CACHE_MISS;
}

/* The short paths come first: a hit, and no MSHR or no room in the miss queue, which many requests check every cycle. */
sector_cache_outcome sector_cache_read(sector_cache *c, uint64_t tag_address, uint64_t index_address,
                                       uint32_t token, bool atomic)
{
    if (c->starved_last == c->changes && is_starved(c, tag_address)) {
        c->counters->fail_mshr++;
        return SECTOR_CACHE_FAIL;
    }
    uint32_t i = find_line_again(c, tag_address & ~(uint64_t)(SECTOR_CACHE_LINE_BYTES - 1));
    uint32_t victim = i;
    if (i != SECTOR_CACHE_NONE) {
        sector_cache_line *line = &c->lines[i];
        uint32_t sector = (uint32_t)(tag_address / SECTOR_BYTES) & 3;
        uint32_t ready = line->valid & ~(uint32_t)line->pending & (~(uint32_t)line->dirty | line->readable);
        if ((ready >> sector & 1) != 0) {
            sector_cache_counters *n = c->counters;
            n->reads++;
            n->accesses++;
            n->hits++;
            c->split->read_hits++;
            tag_store_use(&c->tags, i);
            if (atomic)
                set_dirty(c, line, sector);
            if (LS_UNLIKELY((line->prefetched >> sector & 1) != 0))
                sector_cache_use_prefetched(c, line, tag_address, index_address);
            return SECTOR_CACHE_HIT;
        }
    } else {
        victim = sector_cache_victim(c, set_of(c, index_address));
        if (LS_UNLIKELY(victim == SECTOR_CACHE_NONE)) {
            c->counters->fail_line++;
            return SECTOR_CACHE_FAIL;
        }
    }
    if (miss_count(c) + 1 >= c->spec->miss_queue) {
        c->counters->fail_queue++;
        return SECTOR_CACHE_FAIL;
    }
    sector_cache_outcome outcome = read_below(c, tag_address, i, victim, token, atomic);
    if (LS_UNLIKELY(c->prefetch != NULL) && outcome != SECTOR_CACHE_FAIL && outcome != SECTOR_CACHE_STALLED)
        sector_cache_prefetch_after(c, outcome, tag_address, index_address);
    return outcome;
}

static void write_bytes(sector_cache *c, sector_cache_line *line, uint32_t sector, uint32_t byte_mask,
                        bool fresh)
{
    uint8_t bit = (uint8_t)(1u << sector);
    bool was_pending = (line->pending & bit) != 0;
    if (fresh)
        line->readable &= (uint8_t)~bit;
    set_dirty(c, line, sector);
    line->dirty_bytes[sector] |= byte_mask;
    if (line->dirty_bytes[sector] == UINT32_MAX)
        line->readable |= bit;
    if (was_pending) {
        line->modified_on_fill |= bit;
        line->readable_on_fill |= bit;
    }
}

sector_cache_outcome sector_cache_write(sector_cache *c, uint64_t tag_address, uint64_t index_address,
                                        uint32_t byte_mask, uint32_t token)
{
    sector_cache_counters *n = c->counters;
    uint64_t line_address = tag_address & ~(uint64_t)(SECTOR_CACHE_LINE_BYTES - 1);
    uint32_t sector = (uint32_t)(tag_address / SECTOR_BYTES) & 3;
    uint8_t bit = (uint8_t)(1u << sector);
    uint32_t policy = c->spec->write_policy;
    uint32_t i = find_line_again(c, line_address);
    bool allocates = policy == WRITE_THROUGH || policy == WRITE_BACK;
    uint32_t victim = i;
    if (i == SECTOR_CACHE_NONE && allocates) {
        victim = sector_cache_victim(c, set_of(c, index_address));
        if (victim == SECTOR_CACHE_NONE) {
            n->fail_line++;
            return SECTOR_CACHE_FAIL;
        }
    }
    bool needs_queue = policy != WRITE_BACK || i == SECTOR_CACHE_NONE || (c->lines[i].valid & bit) == 0;
    if (needs_queue && miss_count(c) >= c->spec->miss_queue) {
        n->fail_queue++;
        return SECTOR_CACHE_FAIL;
    }
    n->writes++;
    n->accesses++;
    sector_cache_miss through = { .address = tag_address & ~(uint64_t)(SECTOR_BYTES - 1),
                                  .byte_mask = byte_mask,
                                  .kind = SECTOR_CACHE_MISS_WRITE,
                                  .token = token };
    bool hit = i != SECTOR_CACHE_NONE && (c->lines[i].valid & bit) != 0;
    bool pending = i != SECTOR_CACHE_NONE && (c->lines[i].pending & bit) != 0;
    if (hit)
        n->hits++, c->split->write_hits++;
    else if (pending)
        n->pending_hits++, c->split->write_pending_hits++;
    else if (i != SECTOR_CACHE_NONE)
        n->sector_misses++, c->split->write_sector_misses++;
    else
        n->misses++, c->split->write_misses++;
    if (policy != WRITE_BACK)
        push_miss(c, through);
    if (!allocates) {
        /* Around: the line stays as it was. Evict: it goes. */
        if (policy == WRITE_EVICT && hit)
            c->lines[i].valid &= (uint8_t)~bit;
        return hit ? SECTOR_CACHE_HIT : SECTOR_CACHE_MISS;
    }
    if (i == SECTOR_CACHE_NONE)
        sector_cache_allocate(c, victim, line_address);
    else
        tag_store_use(&c->tags, victim);
    write_bytes(c, &c->lines[victim], sector, byte_mask, !hit);
    return hit ? SECTOR_CACHE_HIT : SECTOR_CACHE_MISS;
}

void sector_cache_fill_from(sector_cache *c, uint64_t address, uint8_t level)
{
    uint32_t m = find_mshr(c, address & ~(uint64_t)(SECTOR_BYTES - 1));
    assert(m != SECTOR_CACHE_NONE);
    sector_cache_mshr *mshr = &c->mshrs[m];
    sector_cache_line *line = &c->lines[mshr->line];
    uint32_t sector = (uint32_t)(address / SECTOR_BYTES) & 3;
    uint8_t bit = (uint8_t)(1u << sector);
    c->counters->fills++;
    line->valid |= bit;
    line->pending &= (uint8_t)~bit;
    if ((line->modified_on_fill & bit) != 0 || mshr->atomic != 0)
        set_dirty(c, line, sector);
    if (line->readable_on_fill & bit)
        line->readable |= bit;
    line->modified_on_fill &= (uint8_t)~bit;
    line->readable_on_fill &= (uint8_t)~bit;
    if (LS_UNLIKELY(mshr->first == SECTOR_CACHE_NONE)) { /* a prefetch without waiters */
        give_mshr(c, m);
        if (c->empty_later && c->mshr_count == 0)
            sector_cache_invalidate(c);
        return;
    }
    add_ready(c, m, level);
}

/* All requests of the first filled MSHR are answered. */
static inline void end_ready(sector_cache *c)
{
    uint32_t m = c->ready_first;
    const sector_cache_mshr *mshr = &c->mshrs[m];
    c->ready_first = mshr->next;
    if (c->ready_first == SECTOR_CACHE_NONE)
        c->ready_last = SECTOR_CACHE_NONE;
    if (LS_UNLIKELY(mshr->stalled_first != SECTOR_CACHE_NONE))
        retry_stalled(c, mshr);
    give_mshr(c, m);
}

bool sector_cache_next_ready(sector_cache *c, uint32_t *token)
{
    if (!sector_cache_has_ready(c))
        return false;
    sector_cache_mshr *mshr = &c->mshrs[c->ready_first];
    uint32_t waiter = mshr->first;
    *token = c->waiters[waiter].token;
    mshr->first = c->waiters[waiter].next;
    index_pool_give(&c->waiter_pool, INDEX_LINKS(c->waiters, next), waiter);
    if (mshr->first == SECTOR_CACHE_NONE)
        end_ready(c);
    return true;
}

void sector_cache_end_ready(sector_cache *c)
{
    end_ready(c);
}

void sector_cache_warm(sector_cache *c, uint64_t tag_address, uint64_t index_address)
{
    uint64_t line_address = tag_address & ~(uint64_t)(SECTOR_CACHE_LINE_BYTES - 1);
    uint32_t i = find_line(c, line_address);
    if (i == SECTOR_CACHE_NONE) {
        i = sector_cache_victim(c, set_of(c, index_address));
        if (i == SECTOR_CACHE_NONE)
            return;
        sector_cache_allocate(c, i, line_address);
        c->miss_head = c->miss_tail; /* a write-back of warm-up has nowhere to go */
    } else {
        tag_store_use(&c->tags, i);
    }
    uint8_t bit = (uint8_t)(1u << ((tag_address / SECTOR_BYTES) & 3));
    c->lines[i].valid |= bit;
    c->lines[i].readable |= bit;
    c->changes++;
}

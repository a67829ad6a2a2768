/* readonly.c: two levels of read-only cache and their requests to L2. */
#include "model/core/readonly.h"

#include "base/hash.h"
#include "model/core/core.h"

#include <string.h>
#include <assert.h>

/* ------------------------------------------------------------------------------------------------- set-up */

static ls_status check_level(const char *prefix, const char *level, uint64_t bytes, uint64_t ways,
                             uint64_t line, ls_error *err)
{
    if (bytes == 0 || bytes % (ways * line) != 0)
        return ls_fail(err, LS_ERR_INPUT, "%s.%s_bytes (%llu) is no multiple of %llu ways of %llu bytes",
                       prefix, level, (unsigned long long)bytes, (unsigned long long)ways,
                       (unsigned long long)line);
    return LS_OK;
}

ls_status readonly_check(const readonly_spec *spec, const char *prefix, const char *first, const char *second,
                         ls_error *err)
{
    if ((spec->line_bytes & (spec->line_bytes - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "%s.line_bytes is %llu, it must be a power of two", prefix,
                       (unsigned long long)spec->line_bytes);
    ls_status status = check_level(prefix, first, spec->l0_bytes, spec->l0_ways, spec->line_bytes, err);
    if (status != LS_OK)
        return status;
    return check_level(prefix, second, spec->l1_bytes, spec->l1_ways, spec->line_bytes, err);
}

bool readonly_init(readonly *r, const readonly_spec *spec, readonly_counters *counters, uint32_t caches,
                   uint32_t number, ls_domain *domain)
{
    void (*filled)(struct core *, readonly_miss *) = r->filled;
    *r = (readonly){ .spec = spec, .n = counters, .caches = caches, .number = number, .filled = filled };
    r->line_shift = (uint32_t)__builtin_ctzll(spec->line_bytes);
    r->sectors = (uint32_t)(spec->line_bytes / SECTOR_BYTES);
    r->total = caches * (uint32_t)spec->miss_entries;
    ring_init(&r->look_ring, r->total);
    ring_init(&r->send_ring, r->total);
    uint32_t size = ring_size_for(r->total);
    r->misses = ls_domain_alloc(domain, r->total * sizeof *r->misses);
    r->fills = ls_domain_alloc(domain, r->total * sizeof *r->fills);
    r->looks = ls_domain_alloc(domain, size * sizeof *r->looks);
    r->sends = ls_domain_alloc(domain, size * sizeof *r->sends);
    bool ok = r->misses != NULL && r->fills != NULL && r->looks != NULL && r->sends != NULL;
    uint64_t l0_sets = spec->l0_bytes / (spec->l0_ways * spec->line_bytes);
    uint64_t l1_sets = spec->l1_bytes / (spec->l1_ways * spec->line_bytes);
    for (uint32_t i = 0; i < caches && ok; i++)
        ok = tag_store_init_plain(&r->l0[i], l0_sets, spec->l0_ways, domain, NULL) == LS_OK &&
             (r->prefetched[i] = ls_domain_alloc(domain, l0_sets * spec->l0_ways)) != NULL;
    return ok && tag_store_init_plain(&r->l1, l1_sets, spec->l1_ways, domain, NULL) == LS_OK;
}

uint64_t readonly_base(uint64_t space, const char *kernel_name)
{
    const char *name = kernel_name != NULL ? kernel_name : "";
    return space | (hash128_of(name, strlen(name)).low & ((UINT64_C(1) << 40) - 1)) << 8;
}

/* -------------------------------------------------------------------------------------------- first level */

static readonly_miss *find_miss(readonly *r, uint32_t which, uint64_t line, readonly_miss **free_one)
{
    readonly_miss *all = &r->misses[which * r->spec->miss_entries];
    *free_one = NULL;
    for (uint64_t i = 0; i < r->spec->miss_entries; i++) {
        if (all[i].used && all[i].line == line)
            return &all[i];
        if (!all[i].used && *free_one == NULL)
            *free_one = &all[i];
    }
    return NULL;
}

static void begin_miss(const core *c, readonly *r, readonly_miss *miss, uint32_t which, uint64_t line,
                       bool prefetch)
{
    ls_cycle begin = r->look_free > c->now ? r->look_free : c->now;
    r->look_free = begin + 1;
    *miss = (readonly_miss){ .line = line,
                             .ready = begin + r->spec->l1_latency_cycles,
                             .waiting = INDEX_LIST_EMPTY,
                             .cache = (uint8_t)which,
                             .used = true,
                             .prefetch = prefetch };
    r->looks[ring_push(&r->look_ring)] = (uint16_t)(miss - r->misses);
}

/* Requests lines [from, to) that are neither present nor on their way, while entries are free. */
static void prefetch(const core *c, readonly *r, uint32_t which, uint64_t from, uint64_t to)
{
    for (uint64_t line = from; line < to; line++) {
        readonly_miss *free_one;
        if (tag_store_look(&r->l0[which], line) != TAG_STORE_NONE ||
            find_miss(r, which, line, &free_one) != NULL)
            continue;
        if (free_one == NULL)
            return;
        begin_miss(c, r, free_one, which, line, true);
        r->n->prefetches++;
    }
}

readonly_outcome readonly_access(core *c, readonly *r, uint32_t which, uint64_t address, readonly_miss **miss)
{
    uint64_t line = address >> r->line_shift, ahead = r->spec->prefetch_lines;
    uint32_t at = tag_store_find(&r->l0[which], line);
    if (at != TAG_STORE_NONE) {
        r->n->l0_hits++;
        if (r->prefetched[which][at]) { /* the first use of a prefetched line keeps the stream going */
            r->prefetched[which][at] = false;
            prefetch(c, r, which, line + 1, line + 1 + ahead);
        }
        return READONLY_HIT;
    }
    readonly_miss *free_one;
    *miss = find_miss(r, which, line, &free_one);
    if (*miss != NULL) {
        bool first_use = (*miss)->prefetch;
        (*miss)->prefetch = false;
        r->n->l0_pending++;
        if (first_use)
            prefetch(c, r, which, line + 1, line + 1 + ahead);
        return READONLY_WAIT;
    }
    if (free_one == NULL)
        return READONLY_FULL;
    *miss = free_one;
    r->n->l0_misses++;
    begin_miss(c, r, free_one, which, line, false);
    if (ahead > 0)
        prefetch(c, r, which, line + 1, line + 1 + ahead);
    return READONLY_WAIT;
}

static void fill_first(core *c, readonly *r, readonly_miss *miss)
{
    uint32_t at = tag_store_enter(&r->l0[miss->cache], miss->line);
    r->prefetched[miss->cache][at] = miss->prefetch;
    /* A waiter may request another line at once: the entry is freed before. */
    readonly_miss filled = *miss;
    miss->used = false;
    r->filled(c, &filled);
}

/* ------------------------------------------------------------------------------------------- second level */

static void look_up(core *c, readonly *r, readonly_miss *miss)
{
    if (tag_store_find(&r->l1, miss->line) != TAG_STORE_NONE) {
        r->n->l1_hits++;
        fill_first(c, r, miss);
        return;
    }
    miss->below = true;
    readonly_fill *free_one = NULL;
    for (uint32_t i = 0; i < r->total; i++) {
        if (r->fills[i].used && r->fills[i].line == miss->line) {
            r->n->l1_pending++;
            return;
        }
        if (!r->fills[i].used && free_one == NULL)
            free_one = &r->fills[i];
    }
    /* There are as many entries as first-level misses; each miss needs at most one. */
    assert(free_one != NULL);
    r->n->l1_misses++;
    *free_one = (readonly_fill){ .line = miss->line, .used = true };
    r->sends[ring_push(&r->send_ring)] = (uint16_t)(free_one - r->fills);
}

void readonly_cycle(core *c, readonly *r)
{
    while (!ring_empty(&r->look_ring)) {
        readonly_miss *miss = &r->misses[r->looks[ring_front(&r->look_ring)]];
        if (miss->ready > c->now)
            break;
        (void)ring_pop(&r->look_ring);
        look_up(c, r, miss);
    }
    while (!ring_empty(&r->send_ring)) {
        uint16_t index = r->sends[ring_front(&r->send_ring)];
        readonly_fill *fill = &r->fills[index];
        uint64_t address = (fill->line << r->line_shift) + (uint64_t)fill->sent * SECTOR_BYTES;
        if (!ldst_request(c, address, READONLY_TOKEN | r->number << 16 | index))
            return;
        if (++fill->sent == r->sectors)
            (void)ring_pop(&r->send_ring);
    }
}

void readonly_reply(core *c, readonly *r, uint32_t token)
{
    readonly_fill *fill = &r->fills[token & 0xffff];
    if (++fill->arrived < r->sectors)
        return;
    fill->used = false;
    (void)tag_store_enter(&r->l1, fill->line);
    for (uint32_t i = 0; i < r->total; i++)
        if (r->misses[i].used && r->misses[i].below && r->misses[i].line == fill->line)
            fill_first(c, r, &r->misses[i]);
}

ls_cycle readonly_next(const core *c, const readonly *r)
{
    if (!ring_empty(&r->send_ring) && !ring_full(&c->ldst.out_ring))
        return c->now + 1;
    return ring_empty(&r->look_ring) ? LS_CYCLE_MAX : r->misses[r->looks[ring_front(&r->look_ring)]].ready;
}

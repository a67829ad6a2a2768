/* test_sector_cache.c: the sectored cache: outcomes one by one, and long random runs against a model that is too
 * simple to be wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/cache/sector_cache.h"

#include <stdlib.h>
#include <string.h>

typedef struct rig {
    ls_engine *engine;
    ls_domain *domain;
    sector_cache_spec spec;
    sector_cache_counters counters;
    sector_cache cache;
} rig;

static void rig_init(rig *r, sector_cache_spec spec)
{
    ls_error err;
    ls_clock clock;
    memset(r, 0, sizeof *r);
    r->spec = spec;
    assert_int_equal(ls_engine_create(1, &r->engine, &err), LS_OK);
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), &err), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, "d", clock, &r->domain, &err), LS_OK);
    assert_int_equal(sector_cache_init(&r->cache, &r->spec, &r->counters, r->domain, &err), LS_OK);
}

static const sector_cache_spec small = {
    .sets = 4, .ways = 2, .mshr_entries = 4, .mshr_merge = 2, .miss_queue = 8, .write_policy = WRITE_BACK
};

static sector_cache_outcome read_at(rig *r, uint64_t address, uint32_t token)
{
    return sector_cache_read(&r->cache, address, address, token, false);
}

static void drain_misses(rig *r)
{
    while (sector_cache_front_miss(&r->cache) != NULL)
        sector_cache_pop_miss(&r->cache);
}

/* Fills a sector and answers everybody who waited. */
static uint32_t fill_at(rig *r, uint64_t address)
{
    uint32_t token, answered = 0;
    sector_cache_fill(&r->cache, address);
    while (sector_cache_next_ready(&r->cache, &token))
        answered++;
    return answered;
}

static void test_miss_merge_fill_hit(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, small);
    assert_int_equal(read_at(&r, 0x1000, 7), SECTOR_CACHE_MISS);
    assert_int_equal(read_at(&r, 0x1004, 8), SECTOR_CACHE_PENDING); /* same sector */
    assert_int_equal(read_at(&r, 0x1008, 9), SECTOR_CACHE_FAIL);    /* two merged requests at most */
    assert_int_equal(r.counters.fail_merge, 1);
    const sector_cache_miss *miss = sector_cache_front_miss(&r.cache);
    assert_non_null(miss);
    assert_int_equal(miss->kind, SECTOR_CACHE_MISS_READ);
    assert_int_equal(miss->address, 0x1000);
    sector_cache_pop_miss(&r.cache);
    assert_null(sector_cache_front_miss(&r.cache)); /* the second sent no request */

    uint32_t token;
    assert_false(sector_cache_next_ready(&r.cache, &token));
    sector_cache_fill(&r.cache, 0x1000);
    assert_true(sector_cache_next_ready(&r.cache, &token));
    assert_int_equal(token, 7);
    assert_true(sector_cache_next_ready(&r.cache, &token));
    assert_int_equal(token, 8);
    assert_false(sector_cache_next_ready(&r.cache, &token));
    assert_int_equal(read_at(&r, 0x101f, 1), SECTOR_CACHE_HIT);
    assert_int_equal(read_at(&r, 0x1020, 1), SECTOR_CACHE_MISS); /* the next sector of the line */
    assert_int_equal(r.counters.sector_misses, 1);
    assert_int_equal(r.counters.misses, 1);
    assert_int_equal(r.counters.pending_hits, 1);
    assert_int_equal(r.counters.hits, 1);
    assert_int_equal(r.counters.accesses, 4);
    ls_engine_destroy(r.engine);
}

/* A full MSHR stalls the request, not the queue: others go on, and the order per address is kept. */
static void test_full_merge_list_stalls_the_request(void **state)
{
    (void)state;
    rig r;
    sector_cache_spec spec = small;
    spec.merge_stall = SECTOR_CACHE_STALL_REQUEST;
    rig_init(&r, spec);
    assert_int_equal(read_at(&r, 0x1000, 1), SECTOR_CACHE_MISS);
    assert_int_equal(read_at(&r, 0x1000, 2), SECTOR_CACHE_PENDING);
    assert_int_equal(read_at(&r, 0x1000, 3), SECTOR_CACHE_STALLED);
    assert_int_equal(sector_cache_stall_write(&r.cache, 0x1000, 4), SECTOR_CACHE_STALLED); /* after the read */
    assert_int_equal(read_at(&r, 0x1000, 5), SECTOR_CACHE_STALLED);
    assert_int_equal(sector_cache_stall_write(&r.cache, 0x1020, 6),
                     SECTOR_CACHE_HIT); /* another sector: not held up */
    assert_int_equal(read_at(&r, 0x1020, 6), SECTOR_CACHE_MISS);
    assert_int_equal(read_at(&r, 0x1080, 7), SECTOR_CACHE_MISS);
    assert_int_equal(r.counters.merge_stalls, 3);
    assert_int_equal(r.counters.fail_merge, 0);
    assert_int_equal(r.counters.accesses, 4); /* a stalled request counts when it is served */
    assert_false(sector_cache_has_retry(&r.cache));
    drain_misses(&r);
    assert_int_equal(fill_at(&r, 0x1080), 1);
    assert_false(sector_cache_has_retry(&r.cache)); /* not their sector */
    assert_int_equal(fill_at(&r, 0x1000), 2);

    const uint32_t order[] = { 3, 4, 5 };
    for (size_t i = 0; i < LS_COUNT_OF(order); i++) {
        assert_true(sector_cache_has_retry(&r.cache));
        assert_int_equal(sector_cache_peek_retry(&r.cache), order[i]);
        if (order[i] == 4) {
            assert_int_equal(sector_cache_stall_write(&r.cache, 0x1000, 4), SECTOR_CACHE_HIT);
            assert_int_equal(sector_cache_write(&r.cache, 0x1000, 0x1000, 0xf, 4), SECTOR_CACHE_HIT);
        } else {
            assert_int_equal(read_at(&r, 0x1000, order[i]), SECTOR_CACHE_HIT);
        }
        sector_cache_pop_retry(&r.cache);
    }
    assert_false(sector_cache_has_retry(&r.cache));
    ls_engine_destroy(r.engine);
}

/* Sectors that leave before their stalled requests are looked up again: these wait for the next fill, in
 * their order. */
static void test_stalled_requests_of_a_sector_that_left(void **state)
{
    (void)state;
    rig r;
    sector_cache_spec spec = small;
    spec.merge_stall = SECTOR_CACHE_STALL_REQUEST;
    spec.mshr_merge = 1;
    rig_init(&r, spec);
    assert_int_equal(read_at(&r, 0x0000, 1), SECTOR_CACHE_MISS);
    for (uint32_t token = 2; token < 5; token++)
        assert_int_equal(read_at(&r, 0x0000, token), SECTOR_CACHE_STALLED);
    drain_misses(&r);
    assert_int_equal(fill_at(&r, 0x0000), 1);
    for (uint64_t line = 1; line < 3; line++) { /* two ways of set 0: the line leaves */
        assert_int_equal(read_at(&r, 0x200 * line, 9), SECTOR_CACHE_MISS);
        drain_misses(&r);
        assert_int_equal(fill_at(&r, 0x200 * line), 1);
    }
    for (uint32_t token = 2; token < 5; token++) {
        assert_int_equal(sector_cache_peek_retry(&r.cache), token);
        assert_int_equal(read_at(&r, 0x0000, token), token == 2 ? SECTOR_CACHE_MISS : SECTOR_CACHE_STALLED);
        sector_cache_pop_retry(&r.cache);
    }
    assert_false(sector_cache_has_retry(&r.cache));
    drain_misses(&r);
    assert_int_equal(fill_at(&r, 0x0000), 1);
    assert_int_equal(sector_cache_peek_retry(&r.cache), 3);
    ls_engine_destroy(r.engine);
}

static void test_no_line_while_all_pending(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, small);
    /* Set 0 has two ways: lines 0x0000, 0x0200, 0x0400 map to it. */
    assert_int_equal(read_at(&r, 0x0000, 1), SECTOR_CACHE_MISS);
    assert_int_equal(read_at(&r, 0x0200, 2), SECTOR_CACHE_MISS);
    assert_int_equal(read_at(&r, 0x0400, 3), SECTOR_CACHE_FAIL);
    assert_int_equal(r.counters.fail_line, 1);
    drain_misses(&r);
    assert_int_equal(fill_at(&r, 0x0000), 1);
    assert_int_equal(read_at(&r, 0x0400, 3), SECTOR_CACHE_MISS);
    assert_int_equal(r.counters.evictions, 1);
    ls_engine_destroy(r.engine);
}

static void test_mshr_and_queue_limits(void **state)
{
    (void)state;
    rig r;
    sector_cache_spec spec = small;
    spec.ways = 8;
    rig_init(&r, spec);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(read_at(&r, 0x80 * i, i), SECTOR_CACHE_MISS);
    drain_misses(&r);
    assert_int_equal(read_at(&r, 0x1000, 9), SECTOR_CACHE_FAIL);
    assert_int_equal(r.counters.fail_mshr, 1);
    ls_engine_destroy(r.engine);

    spec.mshr_entries = 64;
    spec.miss_queue = 4;
    rig_init(&r, spec);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(read_at(&r, 0x80 * i, i), SECTOR_CACHE_MISS);
    assert_int_equal(read_at(&r, 0x1000, 9), SECTOR_CACHE_FAIL); /* one place is kept for a write-back */
    assert_int_equal(r.counters.fail_queue, 1);
    ls_engine_destroy(r.engine);
}

/* Reads that find no MSHR are tried again and again: each try counts, and whatever lets one of them go on is seen. */
static void test_reads_without_mshr(void **state)
{
    (void)state;
    rig r;
    uint32_t dirty;
    rig_init(&r, small);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(read_at(&r, 0x1000 + i * 0x80, i), SECTOR_CACHE_MISS);
    drain_misses(&r);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(read_at(&r, 0x2000, 10), SECTOR_CACHE_FAIL);
        assert_int_equal(read_at(&r, 0x2100, 11), SECTOR_CACHE_FAIL);
        assert_int_equal(r.counters.fail_mshr, 2 * (i + 1));
    }
    /* A write brings the sector of the one. */
    assert_int_equal(sector_cache_write(&r.cache, 0x2000, 0x2000, UINT32_MAX, 12), SECTOR_CACHE_MISS);
    assert_int_equal(read_at(&r, 0x2000, 10), SECTOR_CACHE_HIT);
    assert_int_equal(read_at(&r, 0x2100, 11), SECTOR_CACHE_FAIL);
    assert_int_equal(r.counters.fail_mshr, 7);
    /* It is forgotten again: no MSHR. The MSHR that gets free is for one of both. */
    assert_true(sector_cache_drop(&r.cache, 0x2000, &dirty));
    assert_int_equal(read_at(&r, 0x2000, 10), SECTOR_CACHE_FAIL);
    assert_int_equal(fill_at(&r, 0x1000), 1);
    assert_int_equal(read_at(&r, 0x2100, 11), SECTOR_CACHE_MISS);
    assert_int_equal(read_at(&r, 0x2000, 10), SECTOR_CACHE_FAIL);
    assert_int_equal(r.counters.fail_mshr, 9);
    ls_engine_destroy(r.engine);
}

static void test_write_back(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, small);
    assert_int_equal(sector_cache_write(&r.cache, 0x0000, 0x0000, UINT32_MAX, 1), SECTOR_CACHE_MISS);
    assert_null(sector_cache_front_miss(&r.cache)); /* no fetch for a whole sector, nor for a part */
    assert_int_equal(read_at(&r, 0x0000, 2), SECTOR_CACHE_HIT);
    assert_int_equal(sector_cache_write(&r.cache, 0x0020, 0x0020, 0xff, 1), SECTOR_CACHE_MISS);
    /* A partly written sector has to be fetched before it can be read, and stays dirty. */
    assert_int_equal(read_at(&r, 0x0020, 3), SECTOR_CACHE_MISS);
    drain_misses(&r);
    assert_int_equal(fill_at(&r, 0x0020), 1);
    assert_int_equal(read_at(&r, 0x0020, 4), SECTOR_CACHE_HIT);
    /* Eviction writes both dirty sectors back. */
    assert_int_equal(read_at(&r, 0x0200, 5), SECTOR_CACHE_MISS);
    drain_misses(&r);
    fill_at(&r, 0x0200);
    assert_int_equal(read_at(&r, 0x0400, 6), SECTOR_CACHE_MISS);
    const sector_cache_miss *miss = sector_cache_front_miss(&r.cache);
    assert_non_null(miss);
    assert_int_equal(miss->kind, SECTOR_CACHE_MISS_WRITEBACK);
    assert_int_equal(miss->address, 0x0000);
    assert_int_equal(miss->sectors, 3);
    assert_int_equal(r.counters.writebacks, 1);
    ls_engine_destroy(r.engine);
}

static void test_write_policies(void **state)
{
    (void)state;
    rig r;
    sector_cache_spec spec = small;
    spec.write_policy = WRITE_THROUGH;
    rig_init(&r, spec);
    assert_int_equal(sector_cache_write(&r.cache, 0x0000, 0x0000, UINT32_MAX, 5), SECTOR_CACHE_MISS);
    assert_int_equal(sector_cache_front_miss(&r.cache)->kind, SECTOR_CACHE_MISS_WRITE);
    assert_int_equal(sector_cache_front_miss(&r.cache)->token, 5);
    drain_misses(&r);
    assert_int_equal(read_at(&r, 0x0000, 1), SECTOR_CACHE_HIT); /* it allocates */
    ls_engine_destroy(r.engine);

    spec.write_policy = WRITE_EVICT;
    rig_init(&r, spec);
    assert_int_equal(read_at(&r, 0x0000, 1), SECTOR_CACHE_MISS);
    drain_misses(&r);
    fill_at(&r, 0x0000);
    assert_int_equal(sector_cache_write(&r.cache, 0x0000, 0x0000, 1, 5), SECTOR_CACHE_HIT);
    drain_misses(&r);
    assert_int_equal(read_at(&r, 0x0000, 1), SECTOR_CACHE_MISS); /* it is gone */
    ls_engine_destroy(r.engine);

    spec.write_policy = WRITE_AROUND;
    rig_init(&r, spec);
    assert_int_equal(sector_cache_write(&r.cache, 0x0000, 0x0000, 1, 5), SECTOR_CACHE_MISS);
    drain_misses(&r);
    assert_int_equal(read_at(&r, 0x0000, 1), SECTOR_CACHE_MISS); /* it was not allocated */
    ls_engine_destroy(r.engine);
}

static void test_dirty_limit(void **state)
{
    (void)state;
    rig r;
    sector_cache_spec spec = small;
    spec.write_policy = WRITE_THROUGH;
    spec.dirty_limit_percent = 25; /* 2 of 8 lines */
    rig_init(&r, spec);
    assert_int_equal(sector_cache_write(&r.cache, 0x0000, 0x0000, 1, 0), SECTOR_CACHE_MISS);
    drain_misses(&r);
    read_at(&r, 0x0200, 1);
    drain_misses(&r);
    fill_at(&r, 0x0200);
    /* The written line is older but spared: the clean one goes. */
    assert_int_equal(read_at(&r, 0x0400, 2), SECTOR_CACHE_MISS);
    drain_misses(&r);
    fill_at(&r, 0x0400);
    assert_int_equal(sector_cache_write(&r.cache, 0x0000, 0x0000, 2, 0), SECTOR_CACHE_HIT);
    drain_misses(&r);
    assert_int_equal(read_at(&r, 0x0200, 3), SECTOR_CACHE_MISS);
    ls_engine_destroy(r.engine);
}

/* A set full of dirty lines, far below the limit of the whole cache: the oldest goes all the same. While one
 * of them is being fetched, the next access waits for that. */
static void test_dirty_set_gives_way(void **state)
{
    (void)state;
    static const uint32_t replacements[] = { REPLACEMENT_LRU, REPLACEMENT_FIFO, REPLACEMENT_RANDOM,
                                             REPLACEMENT_PLRU, REPLACEMENT_SRRIP };
    for (size_t k = 0; k < LS_COUNT_OF(replacements); k++) {
        rig r;
        sector_cache_spec spec = small;
        spec.dirty_limit_percent = 100;
        spec.replacement = replacements[k];
        rig_init(&r, spec);
        for (uint64_t a = 0; a < 0x400; a += 0x200)
            assert_int_equal(sector_cache_write(&r.cache, a, a, UINT32_MAX, 1), SECTOR_CACHE_MISS);
        assert_int_equal(r.cache.dirty_lines, 2);
        assert_int_equal(read_at(&r, 0x400, 2), SECTOR_CACHE_MISS);
        assert_int_equal(r.counters.evictions, 1);
        assert_int_equal(r.counters.writebacks, 1);
        assert_int_equal(r.cache.dirty_lines, 1);
        uint64_t gone = sector_cache_front_miss(&r.cache)->address;
        if (spec.replacement != REPLACEMENT_RANDOM)
            assert_int_equal(gone, 0);
        assert_int_equal(sector_cache_front_miss(&r.cache)->kind, SECTOR_CACHE_MISS_WRITEBACK);
        drain_misses(&r);
        assert_int_equal(sector_cache_write(&r.cache, 0x600, 0x600, UINT32_MAX, 3), SECTOR_CACHE_FAIL);
        assert_int_equal(r.counters.fail_line, 1);
        fill_at(&r, 0x400);
        assert_int_equal(sector_cache_write(&r.cache, 0x600, 0x600, UINT32_MAX, 3), SECTOR_CACHE_MISS);
        /* The clean line went, the dirty one was spared. */
        assert_int_equal(r.counters.writebacks, 1);
        assert_int_equal(sector_cache_write(&r.cache, 0x800, 0x800, UINT32_MAX, 4), SECTOR_CACHE_MISS);
        assert_int_equal(r.counters.writebacks, 2);
        ls_engine_destroy(r.engine);
    }
}

/* A line is replaced, or written in part, between its fill and the last answer of it. A later read of it is
 * answered with the others, and the line does not wait for a second fill, which was never requested. */
static void test_read_between_fill_and_answers(void **state)
{
    (void)state;
    rig r;
    uint32_t token;
    sector_cache_spec spec = small;
    spec.ways = 1;
    spec.mshr_merge = 4;
    rig_init(&r, spec);
    assert_int_equal(read_at(&r, 0x0, 1), SECTOR_CACHE_MISS);
    drain_misses(&r);
    sector_cache_fill(&r.cache, 0x0);
    assert_int_equal(sector_cache_write(&r.cache, 0x200, 0x200, UINT32_MAX, 2), SECTOR_CACHE_MISS);
    assert_int_equal(read_at(&r, 0x0, 3), SECTOR_CACHE_PENDING);
    assert_int_equal(sector_cache_front_miss(&r.cache)->kind, SECTOR_CACHE_MISS_WRITEBACK);
    drain_misses(&r);
    assert_true(sector_cache_next_ready(&r.cache, &token));
    assert_int_equal(token, 1);
    assert_true(sector_cache_next_ready(&r.cache, &token));
    assert_int_equal(token, 3);
    assert_false(sector_cache_has_ready(&r.cache));
    assert_int_equal(sector_cache_pending_fills(&r.cache), 0);
    assert_int_equal(read_at(&r, 0x0, 4), SECTOR_CACHE_HIT);
    assert_int_equal(read_at(&r, 0x200, 5), SECTOR_CACHE_MISS);
    drain_misses(&r);

    /* An atomic that comes in between leaves the sector dirty. */
    sector_cache_fill(&r.cache, 0x200);
    assert_int_equal(sector_cache_write(&r.cache, 0x0, 0x0, UINT32_MAX, 6), SECTOR_CACHE_MISS);
    assert_int_equal(sector_cache_read(&r.cache, 0x200, 0x200, 7, true), SECTOR_CACHE_PENDING);
    drain_misses(&r);
    while (sector_cache_next_ready(&r.cache, &token))
        continue;
    assert_int_equal(token, 7);
    assert_int_equal(r.cache.dirty_lines, 1);
    assert_int_equal(read_at(&r, 0x200, 8), SECTOR_CACHE_HIT);
    assert_int_equal(read_at(&r, 0x0, 9), SECTOR_CACHE_MISS);
    assert_int_equal(sector_cache_front_miss(&r.cache)->kind, SECTOR_CACHE_MISS_WRITEBACK);
    ls_engine_destroy(r.engine);
}

/* Two dirty lines, one with half a sector, leave through a queue that has room for one. */
static void test_clean(void **state)
{
    (void)state;
    rig r;
    sector_cache_spec spec = small;
    uint32_t cursor = 0, bytes = 0;
    spec.miss_queue = 2;
    rig_init(&r, spec);
    assert_int_equal(sector_cache_write(&r.cache, 0x000, 0x000, UINT32_MAX, 1), SECTOR_CACHE_MISS);
    assert_int_equal(sector_cache_write(&r.cache, 0x060, 0x060, 0xffff, 1), SECTOR_CACHE_MISS);
    assert_int_equal(sector_cache_write(&r.cache, 0x100, 0x100, 0xf, 1), SECTOR_CACHE_MISS);
    assert_int_equal(sector_cache_write(&r.cache, 0x180, 0x180, 0xf, 1), SECTOR_CACHE_MISS);
    assert_true(sector_cache_clean(&r.cache, &cursor));
    assert_int_equal(r.cache.dirty_lines, 1);
    assert_int_equal(sector_cache_pop_sector(&r.cache, &bytes), 0x000);
    assert_int_equal(bytes, UINT32_MAX);
    assert_int_equal(sector_cache_pop_sector(&r.cache, &bytes), 0x060);
    assert_int_equal(bytes, 0xffff);
    assert_false(sector_cache_clean(&r.cache, &cursor));
    assert_int_equal(sector_cache_pop_sector(&r.cache, &bytes), 0x100);
    assert_int_equal(sector_cache_pop_sector(&r.cache, &bytes), 0x180);
    assert_int_equal(bytes, 0xf);
    assert_null(sector_cache_front_miss(&r.cache));
    assert_int_equal(r.counters.writebacks, 3);
    /* A whole sector can still be read, half a one has to be fetched. */
    assert_int_equal(read_at(&r, 0x000, 2), SECTOR_CACHE_HIT);
    assert_int_equal(read_at(&r, 0x060, 3), SECTOR_CACHE_MISS);
    ls_engine_destroy(r.engine);
}

static void test_ways_and_invalidate(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, small);
    read_at(&r, 0x0000, 1);
    drain_misses(&r);
    fill_at(&r, 0x0000);
    assert_int_equal(read_at(&r, 0x0000, 1), SECTOR_CACHE_HIT);
    sector_cache_invalidate(&r.cache);
    assert_int_equal(read_at(&r, 0x0000, 1), SECTOR_CACHE_MISS);
    drain_misses(&r);
    fill_at(&r, 0x0000);
    sector_cache_set_ways(&r.cache, 1);
    assert_int_equal(read_at(&r, 0x0000, 1), SECTOR_CACHE_MISS);
    assert_int_equal(read_at(&r, 0x0200, 1), SECTOR_CACHE_FAIL); /* one way, and it is pending */
    ls_engine_destroy(r.engine);
}

/* IPOLY spreads every power-of-two stride evenly; the three sizes permute: equal high bits, different low
 * bits give different places. */
static void test_ipoly(void **state)
{
    (void)state;
    for (unsigned bits = 4; bits <= 6; bits++) {
        uint32_t places = 1u << bits;
        for (uint64_t high = 0; high < 1000; high++) {
            uint64_t seen = 0;
            for (uint32_t low = 0; low < places; low++) {
                uint32_t at = set_hash_ipoly(high, low, bits);
                assert_true(at < places);
                seen |= UINT64_C(1) << at;
            }
            assert_int_equal(__builtin_popcountll(seen), places);
        }
    }
    assert_int_equal(set_hash_ipoly(0, 5, 5), 5);
    assert_int_equal(set_hash_ipoly(1, 0, 5), 5);        /* a0 is in n0 and n2 */
    assert_int_equal(set_hash_ipoly(1u << 14, 0, 5), 6); /* a14 is in n1 and n2 */
    assert_int_equal(set_hash_ipoly(1, 0, 6), 3);
    assert_int_equal(set_hash_ipoly(1, 0, 4), 3);
}

/* ------------------------------------------------------------------------------------------- prefetches */

/* A read, and everything below at once. */
static sector_cache_outcome read_and_fill(rig *r, uint64_t address)
{
    sector_cache_outcome outcome = read_at(r, address, 1);
    uint32_t token;
    const sector_cache_miss *miss;
    while ((miss = sector_cache_front_miss(&r->cache)) != NULL) {
        uint64_t at = miss->address;
        sector_cache_pop_miss(&r->cache);
        sector_cache_fill(&r->cache, at);
    }
    while (sector_cache_next_ready(&r->cache, &token))
        assert_int_equal(token, 1); /* no request waits for a prefetched sector */
    return outcome;
}

/* Once its stride is known a stream hits; without a prefetcher it never does. */
static void test_stride_prefetch(void **state)
{
    (void)state;
    for (uint32_t kind = PREFETCH_NONE; kind <= PREFETCH_STRIDE; kind++) {
        rig r;
        sector_cache_spec spec = small;
        spec.sets = 16;
        spec.mshr_entries = 8;
        spec.prefetch = (prefetch_spec){ .kind = kind, .degree = 1, .distance = 1 };
        rig_init(&r, spec);
        uint32_t hits = 0;
        for (uint64_t i = 0; i < 10; i++) /* three lines apart, in one page */
            hits += read_and_fill(&r, 0x10000 + i * 384) == SECTOR_CACHE_HIT;
        assert_int_equal(hits, kind == PREFETCH_STRIDE ? 7 : 0);
        assert_int_equal(r.counters.prefetch.useful, hits);
        assert_int_equal(r.counters.prefetch.issued, kind == PREFETCH_STRIDE      ? 8
                                                     : kind == PREFETCH_NEXT_LINE ? 10
                                                                                  : 0);
        assert_int_equal(r.counters.prefetch.dropped, 0);
        assert_int_equal(r.counters.reads, 10);
        ls_engine_destroy(r.engine);
    }
}

/* A request for a sector that is being prefetched waits for it. Demand keeps a quarter of the MSHRs. An
 * emptied cache waits for sectors on their way. */
static void test_prefetch_on_its_way(void **state)
{
    (void)state;
    rig r;
    sector_cache_spec spec = small;
    uint32_t token;
    spec.sets = 16;
    spec.prefetch = (prefetch_spec){ .kind = PREFETCH_NEXT_LINE, .degree = 3, .distance = 1 };
    rig_init(&r, spec);
    assert_int_equal(read_at(&r, 0x1000, 5), SECTOR_CACHE_MISS);
    assert_int_equal(sector_cache_pending_fills(&r.cache), 3); /* of four */
    assert_int_equal(r.counters.prefetch.issued, 2);
    assert_int_equal(r.counters.prefetch.dropped, 1);
    assert_int_equal(read_at(&r, 0x1080, 6), SECTOR_CACHE_PENDING);
    assert_int_equal(r.counters.prefetch.useful, 1);
    drain_misses(&r);
    sector_cache_fill(&r.cache, 0x1080);
    assert_true(sector_cache_next_ready(&r.cache, &token));
    assert_int_equal(token, 6);
    sector_cache_fill(&r.cache, 0x1000);
    assert_true(sector_cache_next_ready(&r.cache, &token));
    assert_int_equal(token, 5);
    sector_cache_invalidate_later(&r.cache);
    assert_int_equal(read_at(&r, 0x1000, 7), SECTOR_CACHE_HIT);
    while (sector_cache_pending_fills(&r.cache) > 0) {
        drain_misses(&r);
        sector_cache_fill(&r.cache, 0x1100);
        assert_false(sector_cache_has_ready(&r.cache));
    }
    assert_int_equal(read_at(&r, 0x1000, 7), SECTOR_CACHE_MISS);
    ls_engine_destroy(r.engine);
}

/* --------------------------------------------------------------------------------- against a simple model */

#define MODEL_LINES 64

typedef struct simple {
    uint64_t line[MODEL_LINES];
    uint8_t sectors[MODEL_LINES];
    uint64_t used[MODEL_LINES];
    uint64_t now;
} simple;

/* LRU, fills at once, reads only: true if the sector was there. */
static bool simple_read(simple *m, uint32_t sets, uint32_t ways, uint64_t address)
{
    uint64_t line = address / 128;
    uint32_t set = (uint32_t)line % sets, victim = set * ways;
    uint8_t bit = (uint8_t)(1u << (address / 32 % 4));
    m->now++;
    for (uint32_t i = set * ways; i < (set + 1) * ways; i++) {
        if (m->sectors[i] != 0 && m->line[i] == line) {
            bool hit = (m->sectors[i] & bit) != 0;
            m->sectors[i] |= bit;
            m->used[i] = m->now;
            return hit;
        }
        if (m->sectors[victim] != 0 && (m->sectors[i] == 0 || m->used[i] < m->used[victim]))
            victim = i;
    }
    m->line[victim] = line;
    m->sectors[victim] = bit;
    m->used[victim] = m->now;
    return false;
}

static void test_random_reads(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = { { 1, 64 }, { 4, 16 }, { 16, 4 }, { 64, 1 }, { 8, 3 } };
    for (size_t s = 0; s < LS_COUNT_OF(shapes); s++) {
        rig r;
        sector_cache_spec spec = small;
        spec.sets = shapes[s][0];
        spec.ways = shapes[s][1];
        rig_init(&r, spec);
        simple *m = calloc(1, sizeof *m);
        assert_non_null(m);
        ls_random random;
        ls_random_init(&random, 99 + s);
        for (int i = 0; i < 20000; i++) {
            uint64_t address = ls_random_below(&random, 64 * 128 * 2);
            bool expected = simple_read(m, shapes[s][0], shapes[s][1], address);
            sector_cache_outcome outcome = read_at(&r, address, (uint32_t)i);
            assert_int_equal(outcome, expected ? SECTOR_CACHE_HIT : SECTOR_CACHE_MISS);
            drain_misses(&r);
            if (!expected)
                assert_int_equal(fill_at(&r, address), 1);
        }
        assert_int_equal(r.counters.accesses, 20000);
        assert_int_equal(r.counters.hits + r.counters.misses + r.counters.sector_misses, 20000);
        assert_int_equal(r.counters.fills, 20000 - r.counters.hits);
        free(m);
        ls_engine_destroy(r.engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_miss_merge_fill_hit),
        cmocka_unit_test(test_full_merge_list_stalls_the_request),
        cmocka_unit_test(test_stalled_requests_of_a_sector_that_left),
        cmocka_unit_test(test_no_line_while_all_pending),
        cmocka_unit_test(test_mshr_and_queue_limits),
        cmocka_unit_test(test_reads_without_mshr),
        cmocka_unit_test(test_write_back),
        cmocka_unit_test(test_write_policies),
        cmocka_unit_test(test_dirty_limit),
        cmocka_unit_test(test_dirty_set_gives_way),
        cmocka_unit_test(test_read_between_fill_and_answers),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_ways_and_invalidate),
        cmocka_unit_test(test_ipoly),
        cmocka_unit_test(test_stride_prefetch),
        cmocka_unit_test(test_prefetch_on_its_way),
        cmocka_unit_test(test_random_reads),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}

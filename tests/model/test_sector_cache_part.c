/* test_sector_cache_part.c: reads of several sectors of a line: one look-up, one MSHR, one fill; beside reads, writes and atomics
 * of single sectors; and long random runs in which every request is answered when its last sector is there. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/cache/sector_cache.h"

#include <stdlib.h>
#include <string.h>

#define LINE UINT64_C(0x1000)

typedef struct rig {
    ls_engine *engine;
    sector_cache_spec spec;
    sector_cache_counters counters;
    sector_cache cache;
    sector_cache_part part; /* of the last read */
} rig;

static const sector_cache_spec small = { .sets = 4,
                                         .ways = 2,
                                         .mshr_entries = 8,
                                         .mshr_merge = 2,
                                         .miss_queue = 8,
                                         .write_policy = WRITE_BACK,
                                         .merge_stall = SECTOR_CACHE_STALL_REQUEST };

static void rig_init(rig *r, sector_cache_spec spec)
{
    ls_error err;
    ls_clock clock;
    ls_domain *domain;
    memset(r, 0, sizeof *r);
    r->spec = spec;
    assert_int_equal(ls_engine_create(1, &r->engine, &err), LS_OK);
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), &err), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, "d", clock, &domain, &err), LS_OK);
    assert_int_equal(sector_cache_init(&r->cache, &r->spec, &r->counters, domain, &err), LS_OK);
}

static sector_cache_outcome read_part(rig *r, uint64_t line, uint32_t sectors, uint32_t token)
{
    return sector_cache_read_part(&r->cache, line, line, sectors, token, &r->part);
}

static uint32_t answers(rig *r, uint32_t tokens[16])
{
    uint32_t count = 0;
    while (sector_cache_next_ready(&r->cache, &tokens[count]))
        count++;
    return count;
}

/* The only entry of the miss queue. */
static void expect_miss(rig *r, uint64_t address, uint32_t sectors)
{
    const sector_cache_miss *miss = sector_cache_front_miss(&r->cache);
    assert_non_null(miss);
    assert_int_equal(miss->kind, SECTOR_CACHE_MISS_READ);
    assert_int_equal(miss->address, address);
    assert_int_equal(miss->sectors, sectors);
    sector_cache_pop_miss(&r->cache);
    assert_null(sector_cache_front_miss(&r->cache));
}

static void test_one_fetch_for_all(void **state)
{
    (void)state;
    rig r;
    uint32_t tokens[16];
    rig_init(&r, small);
    assert_int_equal(read_part(&r, LINE, 0xf, 7), SECTOR_CACHE_MISS);
    assert_int_equal(r.part.waits, 1);
    assert_int_equal(r.part.missed, 0xf);
    expect_miss(&r, LINE, 0xf);
    assert_int_equal(sector_cache_pending_fills(&r.cache), 4); /* a sector is an entry */
    assert_int_equal(read_part(&r, LINE, 0x6, 8), SECTOR_CACHE_PENDING);
    assert_int_equal(r.part.waits, 1);
    assert_null(sector_cache_front_miss(&r.cache));
    sector_cache_fill_part(&r.cache, LINE, 0xf, 1);
    assert_int_equal(sector_cache_ready_level(&r.cache), 1);
    assert_int_equal(answers(&r, tokens), 2);
    assert_int_equal(tokens[0], 7);
    assert_int_equal(tokens[1], 8);
    assert_int_equal(sector_cache_pending_fills(&r.cache), 0);
    assert_int_equal(read_part(&r, LINE, 0xf, 9), SECTOR_CACHE_HIT);
    assert_int_equal(r.part.waits, 0);
    assert_int_equal(sector_cache_read(&r.cache, LINE + 96, LINE + 96, 1, false), SECTOR_CACHE_HIT);
    assert_int_equal(r.counters.accesses, 11);
    assert_int_equal(r.counters.hits, 5);
    assert_int_equal(r.counters.pending_hits, 2);
    assert_int_equal(r.counters.misses, 1);
    assert_int_equal(r.counters.sector_misses, 3);
    assert_int_equal(r.counters.fills, 4);
    ls_engine_destroy(r.engine);
}

/* Sectors that are there, on their way and missing in one read: it waits for both MSHRs. */
static void test_parts_of_a_line(void **state)
{
    (void)state;
    rig r;
    uint32_t tokens[16];
    rig_init(&r, small);
    sector_cache_warm(&r.cache, LINE, LINE);
    assert_int_equal(sector_cache_read(&r.cache, LINE + 64, LINE + 64, 1, false), SECTOR_CACHE_MISS);
    expect_miss(&r, LINE + 64, 0);
    assert_int_equal(read_part(&r, LINE, 0xf, 2), SECTOR_CACHE_MISS);
    assert_int_equal(r.part.waits, 2);
    assert_int_equal(r.part.missed, 0xa);
    expect_miss(&r, LINE, 0xa);
    sector_cache_fill(&r.cache, LINE + 64);
    assert_int_equal(answers(&r, tokens), 2); /* the first, and once for the second */
    assert_int_equal(read_part(&r, LINE, 0x5, 3), SECTOR_CACHE_HIT);
    assert_int_equal(read_part(&r, LINE, 0x8, 4), SECTOR_CACHE_PENDING);
    sector_cache_fill_part(&r.cache, LINE, 0xa, 0);
    assert_int_equal(answers(&r, tokens), 2);
    assert_int_equal(tokens[0], 2);
    assert_int_equal(tokens[1], 4);
    ls_engine_destroy(r.engine);
}

/* A line whose sectors come with several MSHRs, one after another and with the same ones again: each read waits for the right ones. */
static void test_fetches_of_a_line(void **state)
{
    (void)state;
    rig r;
    uint32_t tokens[16], dirty;
    rig_init(&r, small);
    assert_int_equal(read_part(&r, LINE, 0x3, 1), SECTOR_CACHE_MISS);
    expect_miss(&r, LINE, 0x3);
    assert_int_equal(read_part(&r, LINE, 0xc, 2), SECTOR_CACHE_MISS);
    expect_miss(&r, LINE, 0xc);
    assert_int_equal(read_part(&r, LINE, 0x3, 3), SECTOR_CACHE_PENDING);
    sector_cache_fill_part(&r.cache, LINE, 0x3, 0);
    assert_int_equal(answers(&r, tokens), 2);
    assert_int_equal(tokens[0], 1);
    assert_int_equal(tokens[1], 3);
    assert_int_equal(read_part(&r, LINE, 0x3, 4), SECTOR_CACHE_HIT);
    assert_int_equal(read_part(&r, LINE, 0xf, 5), SECTOR_CACHE_PENDING);
    assert_int_equal(r.part.waits, 1);
    sector_cache_fill_part(&r.cache, LINE, 0xc, 0);
    assert_int_equal(answers(&r, tokens), 2);
    assert_int_equal(tokens[1], 5);
    /* Its MSHR is another line's by then. */
    assert_true(sector_cache_drop(&r.cache, LINE + 64, &dirty));
    assert_int_equal(read_part(&r, 2 * LINE, 0xf, 6), SECTOR_CACHE_MISS);
    expect_miss(&r, 2 * LINE, 0xf);
    assert_int_equal(sector_cache_read(&r.cache, LINE + 64, LINE + 64, 7, false), SECTOR_CACHE_MISS);
    assert_int_equal(read_part(&r, LINE, 0x4, 8), SECTOR_CACHE_PENDING);
    sector_cache_fill_part(&r.cache, 2 * LINE, 0xf, 0);
    assert_int_equal(answers(&r, tokens), 1);
    assert_int_equal(tokens[0], 6);
    sector_cache_fill(&r.cache, LINE + 64);
    assert_int_equal(answers(&r, tokens), 2);
    assert_int_equal(tokens[0], 7);
    assert_int_equal(tokens[1], 8);
    ls_engine_destroy(r.engine);
}

/* A read, an atomic and a write of one sector that is fetched with others. */
static void test_single_sectors_join(void **state)
{
    (void)state;
    rig r;
    uint32_t tokens[16];
    rig_init(&r, small);
    r.spec.mshr_merge = 3;
    assert_int_equal(read_part(&r, LINE, 0xe, 1), SECTOR_CACHE_MISS);
    expect_miss(&r, LINE, 0xe);
    assert_int_equal(sector_cache_read(&r.cache, LINE + 96, LINE + 96, 2, true), SECTOR_CACHE_PENDING);
    assert_int_equal(sector_cache_read(&r.cache, LINE + 64, LINE + 64, 3, false), SECTOR_CACHE_PENDING);
    assert_null(sector_cache_front_miss(&r.cache));
    assert_int_equal(sector_cache_write(&r.cache, LINE + 32, LINE + 32, 0xff, 4), SECTOR_CACHE_MISS);
    sector_cache_fill_part(&r.cache, LINE, 0xe, 0);
    assert_int_equal(answers(&r, tokens), 3);
    /* The written sector and the atomic's are dirty, the other is not. */
    assert_int_equal(r.cache.dirty_lines, 1);
    uint32_t cursor = 0;
    assert_false(sector_cache_clean(&r.cache, &cursor));
    assert_int_equal(sector_cache_front_miss(&r.cache)->sectors, 0xa);
    ls_engine_destroy(r.engine);
}

/* Full MSHRs: of requests, and of all sectors. */
static void test_limits(void **state)
{
    (void)state;
    rig r;
    uint32_t tokens[16];
    rig_init(&r, small);
    assert_int_equal(read_part(&r, LINE, 0xf, 1), SECTOR_CACHE_MISS);
    assert_int_equal(read_part(&r, LINE, 0xf, 2), SECTOR_CACHE_PENDING);
    assert_int_equal(read_part(&r, LINE, 0xf, 3), SECTOR_CACHE_STALLED);
    assert_int_equal(sector_cache_stall_write(&r.cache, LINE + 96, 4), SECTOR_CACHE_STALLED);
    assert_int_equal(read_part(&r, 2 * LINE, 0x7, 5), SECTOR_CACHE_MISS);
    assert_int_equal(read_part(&r, 3 * LINE + 128, 0x3, 6), SECTOR_CACHE_FAIL); /* 7 of 8 entries are taken */
    assert_int_equal(r.counters.fail_mshr, 1);
    assert_int_equal(read_part(&r, 3 * LINE + 128, 0x2, 6), SECTOR_CACHE_MISS);
    sector_cache_fill_part(&r.cache, LINE, 0xf, 0);
    assert_int_equal(answers(&r, tokens), 2);
    assert_true(sector_cache_has_retry(&r.cache));
    assert_int_equal(sector_cache_peek_retry(&r.cache), 3);
    sector_cache_pop_retry(&r.cache);
    assert_int_equal(sector_cache_peek_retry(&r.cache), 4);
    assert_int_equal(read_part(&r, LINE, 0xf, 3), SECTOR_CACHE_HIT);
    ls_engine_destroy(r.engine);
}

#define REQUESTS 4000u
#define IN_FLIGHT 64u

/* Each request is answered as often as it waits, and all of its sectors are valid then. */
static void test_random(void **state)
{
    (void)state;
    rig r;
    sector_cache_spec spec = small;
    spec.mshr_entries = 24;
    spec.mshr_merge = 4;
    spec.miss_queue = 16;
    rig_init(&r, spec);
    struct {
        uint64_t line;
        uint32_t sectors;
    } flight[IN_FLIGHT];
    uint32_t head = 0, tail = 0, waits[REQUESTS] = { 0 }, random = 1, done = 0, wanted = 0;
    for (uint32_t token = 0; token < REQUESTS;) {
        random = random * 1664525u + 1013904223u;
        uint64_t line = LINE + (random >> 8) % 12 * 128;
        uint32_t sectors = (random >> 16) % 15 + 1, answered;
        sector_cache_outcome outcome = read_part(&r, line, sectors, token);
        if (outcome == SECTOR_CACHE_MISS || outcome == SECTOR_CACHE_PENDING) {
            waits[token++] = r.part.waits;
            wanted += r.part.waits;
        } else if (outcome != SECTOR_CACHE_FAIL) {
            token++;
        }
        for (const sector_cache_miss *miss; (miss = sector_cache_front_miss(&r.cache)) != NULL;) {
            assert_int_not_equal(miss->sectors, 0);
            flight[tail % IN_FLIGHT].line = miss->address;
            flight[tail++ % IN_FLIGHT].sectors = miss->sectors;
            sector_cache_pop_miss(&r.cache);
        }
        while (sector_cache_has_retry(&r.cache))
            sector_cache_pop_retry(&r.cache); /* these are not asked for again */
        if (head != tail && (outcome == SECTOR_CACHE_FAIL || (random >> 28) < 6)) {
            sector_cache_fill_part(&r.cache, flight[head % IN_FLIGHT].line, flight[head % IN_FLIGHT].sectors,
                                   0);
            head++;
        }
        while ((random >> 24 & 3) != 0 && sector_cache_next_ready(&r.cache, &answered)) {
            assert_true(waits[answered] > 0);
            waits[answered]--;
            done++;
        }
    }
    for (; head != tail; head++)
        sector_cache_fill_part(&r.cache, flight[head % IN_FLIGHT].line, flight[head % IN_FLIGHT].sectors, 0);
    for (uint32_t answered; sector_cache_next_ready(&r.cache, &answered); done++)
        waits[answered]--;
    assert_int_equal(done, wanted);
    assert_int_equal(sector_cache_pending_fills(&r.cache), 0);
    for (uint32_t i = 0; i < REQUESTS; i++)
        assert_int_equal(waits[i], 0);
    assert_int_equal(r.counters.accesses,
                     r.counters.hits + r.counters.misses + r.counters.sector_misses + r.counters.pending_hits);
    ls_engine_destroy(r.engine);
}

/* As partition_line.c does: at once if the cache can, else one by one. */
static void write_line(rig *r, uint64_t line, uint32_t sectors, bool at_once)
{
    if (at_once && sector_cache_write_part(&r->cache, line, line, sectors))
        return;
    for (; sectors != 0; sectors &= sectors - 1) {
        uint64_t at = line + (uint64_t)(uint32_t)__builtin_ctz(sectors) * SECTOR_BYTES;
        if (sector_cache_stall_write(&r->cache, at, 0) == SECTOR_CACHE_HIT)
            (void)sector_cache_write(&r->cache, at, at, UINT32_MAX, 0);
    }
}

static void test_a_line_is_written_at_once(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, small);
    assert_int_equal(read_part(&r, LINE, 0x1, 1), SECTOR_CACHE_MISS);
    assert_true(sector_cache_write_part(&r.cache, LINE, LINE, 0x7));
    assert_int_equal(r.counters.writes, 3);
    assert_int_equal(r.counters.pending_hits, 1);
    assert_int_equal(r.counters.sector_misses, 2);
    assert_true(sector_cache_write_part(&r.cache, 2 * LINE, 2 * LINE, 0xf));
    assert_int_equal(r.counters.misses, 2);
    assert_int_equal(r.counters.sector_misses, 5);
    assert_int_equal(r.cache.dirty_lines, 2);
    ls_engine_destroy(r.engine);
}

/* Two caches with the same reads, fills and writes, of which one writes line by line and the other sector by sector. */
static void test_writes_are_as_one_by_one(void **state)
{
    (void)state;
    rig r[2];
    struct {
        uint64_t line;
        uint32_t sectors;
    } flight[IN_FLIGHT];
    uint32_t head = 0, tail = 0, random = 7;
    rig_init(&r[0], small);
    rig_init(&r[1], small);
    for (uint32_t token = 0; token < REQUESTS; token++) {
        random = random * 1664525u + 1013904223u;
        uint64_t line = LINE + (random >> 8) % 20 * 128;
        uint32_t sectors = (random >> 16) % 15 + 1, answered, step = random >> 28;
        for (uint32_t k = 0; k < 2; k++) {
            if (step < 8)
                write_line(&r[k], line, sectors, k == 0);
            else
                (void)read_part(&r[k], line, sectors, token);
        }
        for (const sector_cache_miss *miss;
             step != 12 && (miss = sector_cache_front_miss(&r[0].cache)) != NULL;) {
            const sector_cache_miss *other = sector_cache_front_miss(&r[1].cache);
            assert_int_equal(miss->address, other->address);
            assert_int_equal(miss->kind, other->kind);
            assert_int_equal(miss->sectors, other->sectors);
            if (miss->kind == SECTOR_CACHE_MISS_READ) {
                flight[tail % IN_FLIGHT].line = miss->address;
                flight[tail++ % IN_FLIGHT].sectors = miss->sectors;
            }
            sector_cache_pop_miss(&r[0].cache);
            sector_cache_pop_miss(&r[1].cache);
        }
        bool fills = head != tail && step % 3 == 0;
        for (uint32_t k = 0; k < 2 && fills; k++) {
            sector_cache_fill_part(&r[k].cache, flight[head % IN_FLIGHT].line,
                                   flight[head % IN_FLIGHT].sectors, 0);
            while (sector_cache_next_ready(&r[k].cache, &answered)) {
            }
            while (sector_cache_has_retry(&r[k].cache))
                sector_cache_pop_retry(&r[k].cache);
        }
        head += fills;
        assert_memory_equal(&r[0].counters, &r[1].counters, sizeof r[0].counters);
        assert_int_equal(r[0].cache.dirty_lines, r[1].cache.dirty_lines);
        assert_memory_equal(r[0].cache.lines, r[1].cache.lines,
                            r[0].cache.line_count * sizeof *r[0].cache.lines);
    }
    assert_true(r[0].counters.hits > 100 && r[0].counters.pending_hits > 100);
    ls_engine_destroy(r[0].engine);
    ls_engine_destroy(r[1].engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_fetch_for_all),
        cmocka_unit_test(test_parts_of_a_line),
        cmocka_unit_test(test_fetches_of_a_line),
        cmocka_unit_test(test_single_sectors_join),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_a_line_is_written_at_once),
        cmocka_unit_test(test_writes_are_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_tlb.c: tags and TLBs alone: how many misses a walk over pages has, and when translations are known. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/tlb/tlb.h"

#include <string.h>

#define PAGE 4096u

typedef struct rig {
    ls_engine *engine;
    ls_domain *domain;
    tlb_spec spec;
    tlb_counters n;
    tlb tlb;
    ls_cycle now;
} rig;

static const tlb_spec usual = { .entries = 8,
                                .ways = 8,
                                .page_kib = 4,
                                .miss_entries = 4,
                                .l2_entries = 64,
                                .l2_ways = 4,
                                .l2_latency_cycles = 80,
                                .walk_latency_cycles = 500,
                                .walkers = 2 };

static void rig_init(rig *r, tlb_spec spec)
{
    ls_error err;
    ls_clock clock;
    memset(r, 0, sizeof *r);
    r->spec = spec;
    assert_int_equal(ls_engine_create(1, &r->engine, &err), LS_OK);
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), &err), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, "d", clock, &r->domain, &err), LS_OK);
    assert_int_equal(tlb_check(&r->spec, &err), LS_OK);
    assert_true(tlb_init(&r->tlb, &r->spec, &r->n, r->domain));
}

/* Requests a page and waits for it; returns the cycles that it took. */
static ls_cycle visit(rig *r, uint64_t page)
{
    ls_cycle ready;
    tlb_outcome outcome = tlb_translate(&r->tlb, page * PAGE + 12, r->now, &ready);
    assert_int_not_equal(outcome, TLB_FULL);
    ls_cycle took = ready - r->now;
    assert_int_equal(outcome == TLB_HIT, took == 0);
    r->now = ready + 1;
    return took;
}

static void walks_of_pages_miss_as_lru_does(void **state)
{
    (void)state;
    for (uint64_t pages = 1; pages <= 16; pages++) {
        rig r;
        rig_init(&r, usual);
        for (int pass = 0; pass < 3; pass++)
            for (uint64_t page = 0; page < pages; page++)
                visit(&r, page);
        /* All fit, or each one has been replaced when its turn comes again. */
        assert_int_equal(r.n.misses, pages <= 8 ? pages : 3 * pages);
        assert_int_equal(r.n.hits, 3 * pages - r.n.misses);
        assert_int_equal(r.n.walks, pages);
        assert_int_equal(r.n.l2_hits, r.n.misses - pages);
        assert_int_equal(r.n.walk_cycles, 500 * pages);
        assert_int_equal(r.n.accesses, 3 * pages);
        ls_engine_destroy(r.engine);
    }
}

static void sets_are_walked_apart(void **state)
{
    (void)state;
    rig r;
    tlb_spec spec = usual;
    spec.ways = 2; /* 4 sets: pages 0, 4 and 8 share one, page 1 is elsewhere */
    rig_init(&r, spec);
    static const uint64_t pages[] = { 0, 4, 1, 8, 0, 1 };
    for (size_t i = 0; i < LS_COUNT_OF(pages); i++)
        visit(&r, pages[i]);
    assert_int_equal(r.n.misses, 5);
    assert_int_equal(r.n.hits, 1);
    ls_engine_destroy(r.engine);
}

static void latencies_are_as_stated(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, usual);
    assert_int_equal(visit(&r, 0), 580);
    assert_int_equal(visit(&r, 0), 0);
    for (uint64_t page = 1; page <= 8; page++)
        visit(&r, page);
    assert_int_equal(visit(&r, 0), 80); /* replaced in L1, present in L2 */
    ls_engine_destroy(r.engine);

    tlb_spec spec = usual;
    spec.l2_entries = 0;
    rig_init(&r, spec);
    assert_int_equal(visit(&r, 0), 500);
    assert_int_equal(r.n.l2_hits, 0);
    ls_engine_destroy(r.engine);
}

static void walkers_are_few(void **state)
{
    (void)state;
    rig r;
    ls_cycle ready;
    rig_init(&r, usual);
    static const ls_cycle expected[] = { 580, 580, 1080, 1080 };
    for (uint64_t page = 0; page < 4; page++) {
        assert_int_equal(tlb_translate(&r.tlb, page * PAGE, 0, &ready), TLB_WAIT);
        assert_int_equal(ready, expected[page]);
    }
    assert_int_equal(r.n.walk_wait_cycles, 1000);
    /* No entry for a fifth page, but the pages on their way can be waited for. */
    assert_int_equal(tlb_translate(&r.tlb, 4 * PAGE, 1, &ready), TLB_FULL);
    assert_int_equal(ready, 580);
    assert_int_equal(tlb_translate(&r.tlb, 2 * PAGE, 1, &ready), TLB_WAIT);
    assert_int_equal(ready, 1080);
    assert_int_equal(r.n.pending_hits, 1);
    assert_int_equal(r.n.misses, 4);
    assert_int_equal(r.n.full, 1);
    assert_int_equal(r.n.accesses, 5);
    /* One cycle before, and when it has come. */
    assert_int_equal(tlb_translate(&r.tlb, 0, 579, &ready), TLB_WAIT);
    assert_int_equal(tlb_translate(&r.tlb, 0, 580, &ready), TLB_HIT);
    assert_int_equal(tlb_translate(&r.tlb, 4 * PAGE, 580, &ready), TLB_WAIT);
    assert_int_equal(ready, 580 + 80 + 500 + 420); /* a walker is free from 1080 on */
    ls_engine_destroy(r.engine);
}

static void impossible_shapes_are_refused(void **state)
{
    (void)state;
    ls_error err;
    tlb_spec spec = usual;
    spec.page_kib = 6;
    assert_int_equal(tlb_check(&spec, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "tlb.page_kib"));
    spec = usual;
    spec.ways = 3;
    assert_int_equal(tlb_check(&spec, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "tlb.entries"));
    spec = usual;
    spec.l2_ways = 48;
    assert_int_equal(tlb_check(&spec, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "tlb.l2_entries"));
}

static bool known(const tag_store *t, uint64_t key)
{
    return tag_store_look(t, key) != TAG_STORE_NONE;
}

static void tags_keep_the_newest(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, usual);
    tag_store t;
    assert_int_equal(tag_store_init_plain(&t, 3, 2, r.domain, NULL),
                     LS_OK); /* sets need not be a power of two */
    tag_store_insert(&t, 0);
    tag_store_insert(&t, 3);
    uint32_t three = tag_store_find(&t, 3);
    assert_true(known(&t, 0)); /* a look, no use: 0 stays the oldest ... */
    tag_store_insert(&t, 6);
    assert_false(known(&t, 0)); /* ... and goes */
    assert_int_equal(tag_store_find(&t, 3), three);
    assert_int_not_equal(tag_store_insert(&t, 9), three); /* takes the place of 6, which 3 is newer than */
    assert_false(known(&t, 6));
    assert_true(known(&t, 3));
    assert_int_equal(tag_store_find(&t, 1), TAG_STORE_NONE);
    ls_engine_destroy(r.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_of_pages_miss_as_lru_does), cmocka_unit_test(sets_are_walked_apart),
        cmocka_unit_test(latencies_are_as_stated),         cmocka_unit_test(walkers_are_few),
        cmocka_unit_test(impossible_shapes_are_refused),   cmocka_unit_test(tags_keep_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

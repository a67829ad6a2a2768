/* test_tag_store.c: empty ways, limits, policies and clearing of the tag store. test_line_store.c and test_tlb.c test its
 * LRU order against plain lists. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "model/cache/tag_store.h"

static ls_engine *engine;
static ls_domain *domain;

static int set_up(void **state)
{
    ls_clock clock;
    (void)state;
    return ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL) != LS_OK ||
           ls_engine_create(1, &engine, NULL) != LS_OK ||
           ls_domain_create(engine, "d", clock, &domain, NULL) != LS_OK;
}

static int tear_down(void **state)
{
    (void)state;
    ls_engine_destroy(engine);
    return 0;
}

static tag_store make(uint32_t sets, uint32_t ways, uint32_t policy)
{
    const tag_store_spec spec = { .sets = sets, .ways = ways, .replacement = policy };
    tag_store s;
    assert_int_equal(tag_store_init(&s, &spec, domain, NULL), LS_OK);
    return s;
}

static void empty_ways_come_first_and_in_order(void **state)
{
    (void)state;
    tag_store s = make(2, 4, REPLACEMENT_LRU);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(tag_store_insert(&s, 1 + 2 * i), tag_store_at(&s, 1, i));
    assert_int_equal(tag_store_empty(&s, 1), TAG_STORE_NONE);
    assert_int_equal(tag_store_empty(&s, 0), 0);
    tag_store_drop(&s, tag_store_at(&s, 1, 3));
    tag_store_drop(&s, tag_store_at(&s, 1, 1));
    assert_int_equal(s.present, 2);
    assert_false(tag_store_has(&s, tag_store_at(&s, 1, 1)));
    assert_int_equal(tag_store_look(&s, 3), TAG_STORE_NONE);
    assert_int_equal(tag_store_look(&s, 5), tag_store_at(&s, 1, 2));
    assert_int_equal(tag_store_insert(&s, 9), tag_store_at(&s, 1, 1));
    assert_int_equal(tag_store_insert(&s, 11), tag_store_at(&s, 1, 3));
    assert_int_equal(tag_store_insert(&s, 13), tag_store_at(&s, 1, 0)); /* none is empty: the oldest goes */
    assert_int_equal(s.present, 4);
}

/* Lines that are neighbours in memory are neighbours in the arrays of the owner. */
static void entries_lie_way_by_way(void **state)
{
    (void)state;
    static const uint32_t sets[] = { 8, 6 }; /* a power of two, and none */
    for (size_t k = 0; k < LS_COUNT_OF(sets); k++) {
        tag_store s = make(sets[k], 3, REPLACEMENT_LRU);
        for (uint32_t i = 0; i < 3 * sets[k]; i++) {
            assert_int_equal(tag_store_insert(&s, i), i);
            assert_int_equal(tag_store_set_at(&s, i), i % sets[k]);
            assert_int_equal(tag_store_way_at(&s, i), i / sets[k]);
        }
    }
}

/* By set, then by way, without ways that never had a key; a walk can stop and go on. */
static void walks_go_by_sets(void **state)
{
    (void)state;
    static const uint64_t keys[] = { 5, 1, 9, 13, 3 }; /* sets 1, 1, 1, 1 and 3 of 4 */
    tag_store s = make(4, 5, REPLACEMENT_LRU);
    uint32_t cursor = 0, seen = 0;
    assert_int_equal(tag_store_walk(&s, &cursor), TAG_STORE_NONE);
    assert_int_equal(cursor, 20);
    for (size_t i = 0; i < LS_COUNT_OF(keys); i++)
        tag_store_insert(&s, keys[i]);
    cursor = 0;
    for (uint32_t i; (i = tag_store_walk(&s, &cursor)) != TAG_STORE_NONE; cursor++, seen++) {
        assert_true(seen < LS_COUNT_OF(keys));
        assert_int_equal(tag_store_key(&s, i), keys[seen]);
        assert_int_equal(cursor, seen < 4 ? 5 + seen : 15);
        assert_int_equal(tag_store_walk(&s, &cursor), i); /* it stays where it is */
    }
    assert_int_equal(seen, LS_COUNT_OF(keys));
    tag_store_drop(&s, tag_store_look(&s, 1)); /* entries that had a key are shown: they may be empty */
    cursor = 6;
    assert_false(tag_store_has(&s, tag_store_walk(&s, &cursor)));
    assert_int_equal(cursor, 6);
}

static void aged_entries_go_before_older_ones(void **state)
{
    (void)state;
    tag_store s = make(1, 4, REPLACEMENT_LRU);
    for (uint32_t i = 0; i < 4; i++)
        tag_store_insert(&s, i);
    tag_store_age(&s, 2, TAG_STORE_NONE);
    tag_store_age(&s, 3, 2);
    static const uint32_t order[] = { 2, 3, 0, 1 };
    uint32_t i = tag_store_oldest(&s, 0);
    for (uint32_t k = 0; k < 4; k++, i = tag_store_newer(&s, i))
        assert_int_equal(i, order[k]);
    assert_int_equal(i, TAG_STORE_NONE);
    tag_store_renew(&s, 2);
    assert_int_equal(tag_store_victim(&s, 0), 3);
}

static void policies_choose_victims(void **state)
{
    (void)state;
    tag_store fifo = make(1, 4, REPLACEMENT_FIFO), plru = make(1, 4, REPLACEMENT_PLRU);
    for (uint32_t i = 0; i < 4; i++) {
        tag_store_insert(&fifo, i);
        tag_store_insert(&plru, i);
    }
    tag_store_find(&fifo, 0);
    tag_store_find(&plru, 0);
    assert_int_equal(tag_store_victim(&fifo, 0), 0);
    tag_store_renew(&fifo, 0); /* under any policy */
    assert_int_equal(tag_store_victim(&fifo, 0), 1);
    assert_int_equal(tag_store_victim(&plru, 0), 2); /* the tree points away from 0, then from 3 */
    tag_store_age(&plru, 1, TAG_STORE_NONE);
    assert_int_equal(tag_store_victim(&plru, 0), 1);
    const uint64_t allowed = 1u << 3;
    assert_int_equal(tag_store_choose(&plru, 0, &allowed), 3);
}

static void fewer_ways_are_used(void **state)
{
    (void)state;
    tag_store s = make(1, 8, REPLACEMENT_LRU);
    s.limit = 3;
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(tag_store_insert(&s, i), i % 3);
    assert_int_equal(s.present, 3);
}

/* A store with few keys is emptied key by key, one with many at once. */
static void cleared_stores_are_as_new(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 3, 256 };
    for (size_t k = 0; k < LS_COUNT_OF(counts); k++) {
        tag_store s = make(64, 4, REPLACEMENT_LRU);
        for (uint32_t i = 0; i < counts[k]; i++)
            tag_store_insert(&s, i * 7);
        tag_store_drop(&s, tag_store_look(&s, 7));
        tag_store_clear(&s);
        assert_int_equal(s.present, 0);
        for (uint32_t i = 0; i < counts[k]; i++)
            assert_int_equal(tag_store_look(&s, i * 7), TAG_STORE_NONE);
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(tag_store_insert(&s, i), i);
    }
}

static void memory_of_the_host_is_enough(void **state)
{
    (void)state;
    const tag_store_spec spec = { .sets = 3, .ways = 5, .replacement = REPLACEMENT_FIFO };
    tag_store s;
    assert_int_equal(tag_store_init(&s, &spec, NULL, NULL), LS_OK);
    for (uint32_t i = 0; i < 30; i++)
        tag_store_insert(&s, i);
    for (uint32_t i = 0; i < 30; i++)
        assert_int_equal(tag_store_look(&s, i) == TAG_STORE_NONE, i < 15);
    tag_store_forget(&s, 20, 22);
    assert_int_equal(s.present, 12);
    tag_store_fini(&s);
}

/* A third of the line, so that no hash of bits does the same; of 7 sets it names one that is not there. */
static uint32_t third(uint64_t line, uint32_t sets)
{
    return sets == 7 ? 7 : (uint32_t)(line / 3 % sets);
}

static const ls_hash_ops third_ops = { .set = third };
static const ls_port_decl third_ports[] = {
    { .name = LS_HASH_PORT, .interface = LS_HASH_INTERFACE, .ops = &third_ops },
};
static const ls_block_type third_type = { .abi = LS_ABI_VERSION,
                                          .slot = LS_HASH_SLOT,
                                          .name = "third",
                                          .help = "for the test",
                                          .ports = third_ports,
                                          .port_count = 1 };
LS_REGISTER_BLOCK(third_type);

static void a_hash_of_a_plugin_picks_sets(void **state)
{
    (void)state;
    const set_hash_spec hash = { .kind = SET_HASH_KINDS }, none = { .kind = SET_HASH_KINDS + 1 };
    tag_store_spec spec = { .sets = 6, .ways = 2, .hash = &hash, .line_bytes = 64 };
    tag_store s;
    ls_error err;
    ls_engine *other;
    ls_domain *place;
    ls_clock clock;
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL), LS_OK);
    assert_int_equal(ls_engine_create(1, &other, NULL), LS_OK);
    assert_int_equal(ls_domain_create(other, "slice0", clock, &place, NULL), LS_OK);
    assert_int_equal(tag_store_init(&s, &spec, place, &err), LS_OK);
    for (uint64_t line = 0; line < 100; line++)
        assert_int_equal(tag_store_set_of(&s, line), line / 3 % 6);
    spec.sets = 7;
    assert_int_equal(tag_store_init(&s, &spec, place, &err), LS_OK);
    assert_int_equal(tag_store_set_of(&s, 5), 0);
    assert_int_equal(ls_run(other, NULL, NULL, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, "slice0: hash 'third' named a set that is not there");
    spec.hash = &none;
    assert_int_equal(tag_store_init(&s, &spec, place, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, "there is no such hash");
    ls_engine_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_ways_come_first_and_in_order),
        cmocka_unit_test(entries_lie_way_by_way),
        cmocka_unit_test(walks_go_by_sets),
        cmocka_unit_test(aged_entries_go_before_older_ones),
        cmocka_unit_test(policies_choose_victims),
        cmocka_unit_test(fewer_ways_are_used),
        cmocka_unit_test(cleared_stores_are_as_new),
        cmocka_unit_test(memory_of_the_host_is_enough),
        cmocka_unit_test(a_hash_of_a_plugin_picks_sets),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

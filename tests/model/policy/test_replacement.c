/* Replacement policies against models that do the same in the plainest way. */
#include "model/policy/replacement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* after the others: cmocka uses what they define */
#include <cmocka.h>

static ls_engine *engine;
static ls_domain *domain;

static int set_up(void **state)
{
    ls_clock clock;
    (void)state;
    return ls_engine_create(1, &engine, NULL) != LS_OK ||
           ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL) != LS_OK ||
           ls_domain_create(engine, "d", clock, &domain, NULL) != LS_OK;
}

static int tear_down(void **state)
{
    (void)state;
    ls_engine_destroy(engine);
    return 0;
}

static bool is_allowed(const uint64_t *allowed, uint32_t way)
{
    return (allowed[way / 64] >> way % 64 & 1) != 0;
}

/* ----------------------------------------------------------------------------------------- naive models */

/* PLRU: a node is a range of leaves; it remembers which half was used last. */
typedef struct naive_node {
    bool upper_used;
} naive_node;

static naive_node nodes[4096]; /* by number: node n has the children 2n + 1 and 2n + 2 */

static void naive_tree_use(uint32_t node, uint32_t first, uint32_t count, uint32_t way, bool away)
{
    if (count == 1)
        return;
    bool upper = way >= first + count / 2;
    nodes[node].upper_used = away ? upper : !upper;
    naive_tree_use(2 * node + 1 + upper, first + (upper ? count / 2 : 0), count / 2, way, away);
}

static uint32_t naive_tree_victim(uint32_t node, uint32_t first, uint32_t count, uint32_t ways,
                                  const uint64_t *allowed)
{
    if (count == 1)
        return first;
    bool upper = !nodes[node].upper_used, found = false;
    for (uint32_t way = first + (upper ? count / 2 : 0), i = 0; i < count / 2; i++, way++)
        found |= way < ways && is_allowed(allowed, way);
    upper = found ? upper : !upper;
    return naive_tree_victim(2 * node + 1 + upper, first + (upper ? count / 2 : 0), count / 2, ways, allowed);
}

/* SRRIP: one step after the other. */
static uint32_t naive_far_victim(uint32_t *distance, uint32_t ways, const uint64_t *allowed)
{
    for (;;) {
        for (uint32_t way = 0; way < ways; way++)
            if (is_allowed(allowed, way) && distance[way] == 3)
                return way;
        for (uint32_t way = 0; way < ways; way++)
            distance[way] += distance[way] < 3;
    }
}

/* Some ways may not go; at least one may. */
static void draw_allowed(ls_random *random, uint32_t ways, uint64_t *allowed)
{
    memset(allowed, 0, REPLACEMENT_WORDS * sizeof *allowed);
    for (uint32_t way = 0; way < ways; way++)
        allowed[way / 64] |= (uint64_t)(ls_random_below(random, 8) != 0) << way % 64;
    uint32_t one = (uint32_t)ls_random_below(random, ways);
    allowed[one / 64] |= UINT64_C(1) << one % 64;
}

static const uint32_t shapes[] = { 1, 2, 3, 4, 5, 8, 12, 16, 20, 64, 100, 256, 1024 };

static void test_plru(void **state)
{
    (void)state;
    for (size_t k = 0; k < LS_COUNT_OF(shapes); k++) {
        uint32_t ways = shapes[k], leaves = 1;
        uint64_t allowed[REPLACEMENT_WORDS];
        replacement r;
        ls_random random;
        while (leaves < ways)
            leaves *= 2;
        memset(nodes, 0, sizeof nodes);
        for (size_t i = 0; i < LS_COUNT_OF(nodes); i++)
            nodes[i].upper_used = true; /* a fresh tree points to the lower half */
        ls_random_init(&random, k + 1);
        assert_int_equal(replacement_init(&r, REPLACEMENT_PLRU, 3, ways, domain, NULL), LS_OK);
        for (uint32_t step = 0; step < 3000; step++) {
            uint32_t way = (uint32_t)ls_random_below(&random, ways);
            uint32_t what = (uint32_t)ls_random_below(&random, 10);
            if (what < 5) {
                replacement_use(&r, 1, way);
                naive_tree_use(0, 0, leaves, way, true);
            } else if (what == 5) {
                replacement_age(&r, 1, way);
                naive_tree_use(0, 0, leaves, way, false);
            } else {
                draw_allowed(&random, ways, allowed);
                uint32_t victim = replacement_victim(&r, 1, ways, allowed);
                assert_true(victim < ways && is_allowed(allowed, victim));
                assert_int_equal(victim, naive_tree_victim(0, 0, leaves, ways, allowed));
                replacement_insert(&r, 1, victim);
                naive_tree_use(0, 0, leaves, victim, true);
            }
            replacement_use(&r, 0, way); /* other sets have trees of their own */
            replacement_use(&r, 2, ways - 1 - way);
        }
    }
}

static void test_srrip(void **state)
{
    (void)state;
    for (size_t k = 0; k < LS_COUNT_OF(shapes); k++) {
        uint32_t ways = shapes[k], distance[REPLACEMENT_WAYS_MAX] = { 0 };
        uint64_t allowed[REPLACEMENT_WORDS];
        replacement r;
        ls_random random;
        ls_random_init(&random, k + 1);
        assert_int_equal(replacement_init(&r, REPLACEMENT_SRRIP, 2, ways, domain, NULL), LS_OK);
        for (uint32_t step = 0; step < 3000; step++) {
            uint32_t way = (uint32_t)ls_random_below(&random, ways);
            uint32_t what = (uint32_t)ls_random_below(&random, 10);
            if (what < 5) {
                replacement_use(&r, 1, way);
                distance[way] = 0;
            } else if (what == 5) {
                replacement_age(&r, 1, way);
                distance[way] = 3;
            } else {
                draw_allowed(&random, ways, allowed);
                uint32_t victim = replacement_victim(&r, 1, ways, allowed);
                assert_int_equal(victim, naive_far_victim(distance, ways, allowed));
                replacement_insert(&r, 1, victim);
                distance[victim] = 2;
            }
        }
    }
}

/* A line that was used survives a scan of lines that are not: the point of SRRIP. */
static void test_srrip_resists_a_scan(void **state)
{
    (void)state;
    const uint64_t all[REPLACEMENT_WORDS] = { 0xf };
    replacement r;
    assert_int_equal(replacement_init(&r, REPLACEMENT_SRRIP, 1, 4, domain, NULL), LS_OK);
    for (uint32_t way = 0; way < 4; way++)
        replacement_insert(&r, 0, way);
    replacement_use(&r, 0, 2);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t victim = replacement_victim(&r, 0, 4, all);
        assert_int_not_equal(victim, 2);
        replacement_insert(&r, 0, victim);
    }
}

static void test_random_is_even(void **state)
{
    (void)state;
    const uint64_t allowed[REPLACEMENT_WORDS] = { 0, 0x15, UINT64_C(1) << 63 }; /* four ways */
    uint32_t seen[256] = { 0 };
    replacement r;
    assert_int_equal(replacement_init(&r, REPLACEMENT_RANDOM, 1, 192, domain, NULL), LS_OK);
    for (uint32_t i = 0; i < 4000; i++)
        seen[replacement_victim(&r, 0, 192, allowed)]++;
    assert_int_equal(seen[64] + seen[66] + seen[68] + seen[191], 4000);
    assert_in_range(seen[64], 850, 1150);
    assert_in_range(seen[66], 850, 1150);
    assert_in_range(seen[191], 850, 1150);
}

static void test_clear(void **state)
{
    (void)state;
    const uint64_t all[REPLACEMENT_WORDS] = { 0xff };
    static const uint32_t kinds[] = { REPLACEMENT_PLRU, REPLACEMENT_SRRIP };
    for (size_t k = 0; k < LS_COUNT_OF(kinds); k++) {
        replacement r;
        assert_int_equal(replacement_init(&r, kinds[k], 1, 8, domain, NULL), LS_OK);
        uint32_t fresh = replacement_victim(&r, 0, 8, all);
        replacement_clear(&r);
        replacement_use(&r, 0, fresh);
        replacement_insert(&r, 0, 5);
        assert_int_not_equal(replacement_victim(&r, 0, 8, all), fresh);
        replacement_clear(&r);
        assert_int_equal(replacement_victim(&r, 0, 8, all), fresh);
    }
}

/* --------------------------------------------------------------------------------------------- plug-ins */

static size_t one_byte(uint32_t ways)
{
    (void)ways;
    return 1;
}

static void note(void *set, uint32_t ways, uint32_t way)
{
    (void)ways;
    *(uint8_t *)set = (uint8_t)way;
}

/* The line that was touched last. */
static uint32_t last(void *set, uint32_t ways, const uint64_t *allowed)
{
    (void)ways;
    (void)allowed;
    return *(uint8_t *)set;
}

static const ls_replacement_ops mru_ops = {
    .set_bytes = one_byte, .insert = note, .use = note, .victim = last
};
static const ls_port_decl mru_ports[] = {
    { .name = LS_REPLACEMENT_PORT, .interface = LS_REPLACEMENT_INTERFACE, .ops = &mru_ops },
};
static const ls_block_type mru = { .abi = LS_ABI_VERSION,
                                   .slot = LS_REPLACEMENT_SLOT,
                                   .name = "a-mru",
                                   .help = "the newest line",
                                   .ports = mru_ports,
                                   .port_count = 1 };
LS_REGISTER_BLOCK(mru);
static const ls_replacement_ops half_ops = { .set_bytes = one_byte, .insert = note, .use = note };
static const ls_port_decl half_ports[] = {
    { .name = LS_REPLACEMENT_PORT, .interface = LS_REPLACEMENT_INTERFACE, .ops = &half_ops },
};
static const ls_block_type half = { .abi = LS_ABI_VERSION,
                                    .slot = LS_REPLACEMENT_SLOT,
                                    .name = "b-half",
                                    .help = "not whole",
                                    .ports = half_ports,
                                    .port_count = 1 };
LS_REGISTER_BLOCK(half);
static const ls_block_type bare = {
    .abi = LS_ABI_VERSION, .slot = LS_REPLACEMENT_SLOT, .name = "c-bare", .help = "no port"
};
LS_REGISTER_BLOCK(bare);

static void test_plugin(void **state)
{
    (void)state;
    const uint64_t all[REPLACEMENT_WORDS] = { 0xff };
    replacement r;
    ls_error err;
    assert_int_equal(replacement_init(&r, REPLACEMENT_KINDS, 4, 8, domain, &err), LS_OK);
    replacement_insert(&r, 2, 5);
    replacement_insert(&r, 3, 1);
    assert_int_equal(replacement_victim(&r, 2, 8, all), 5);
    assert_int_equal(replacement_victim(&r, 3, 8, all), 1);
    assert_int_equal(replacement_init(&r, REPLACEMENT_KINDS + 1, 4, 8, domain, &err), LS_ERR_UNSUPPORTED);
    assert_string_equal(err.what, "replacement policy 'b-half' leaves out the function 'victim'");
    assert_int_equal(replacement_init(&r, REPLACEMENT_KINDS + 2, 4, 8, domain, &err), LS_ERR_UNSUPPORTED);
    assert_string_equal(err.what, "replacement policy 'c-bare' provides no port of interface 'replacement/1'");
}

/* A line that may not go: the run ends with the policy's name. */
static void test_plugin_that_errs(void **state)
{
    (void)state;
    const uint64_t first[REPLACEMENT_WORDS] = { 1 };
    replacement r;
    ls_error err;
    ls_engine *other;
    ls_domain *place;
    ls_clock clock;
    assert_int_equal(ls_engine_create(1, &other, NULL), LS_OK);
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL), LS_OK);
    assert_int_equal(ls_domain_create(other, "slice0", clock, &place, NULL), LS_OK);
    assert_int_equal(replacement_init(&r, REPLACEMENT_KINDS, 1, 8, place, &err), LS_OK);
    replacement_insert(&r, 0, 5);
    assert_int_equal(replacement_victim(&r, 0, 8, first), 0);
    assert_int_equal(ls_run(other, NULL, NULL, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, "slice0: replacement policy 'a-mru' chose a line that may not go");
    ls_engine_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plru),
        cmocka_unit_test(test_srrip),
        cmocka_unit_test(test_srrip_resists_a_scan),
        cmocka_unit_test(test_random_is_even),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_plugin),
        cmocka_unit_test(test_plugin_that_errs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* test_noc_random.c: random traffic through small buffers. Every message arrives once and in order, at the
 * same cycle for every number of threads and every division into domains. A network that can deadlock names
 * the waiters. */
#include "noc_rig.h"

typedef struct shape {
    const char *name;
    uint32_t columns, rows; /* rows 0: a ring */
    uint32_t hop, buffer, vcs, lanes, max_flits;
    bool answers;
    noc_arbitration arbitration;
} shape;

static uint32_t max_flits;

static bool any(rig_end *end, ls_cycle now, rig_message *m)
{
    (void)now;
    m->destination = (uint16_t)ls_random_below(&end->random, end->rig->ends);
    m->flits = (uint16_t)(1 + ls_random_below(&end->random, max_flits));
    m->class_index = end->rig->answers ? 0 : (uint8_t)ls_random_below(&end->random, 2);
    return ls_random_below(&end->random, 8) != 0;
}

static void open_shape(rig *r, const shape *s, uint32_t groups, bool shuffled)
{
    *r = (rig){ .next = any,
                .quota = 150,
                .classes = 2,
                .buffer_flits = s->buffer,
                .virtual_channels = s->vcs,
                .lanes = s->lanes,
                .answers = s->answers,
                .groups = groups,
                .out_credits = 3,
                .arbitration = s->arbitration };
    uint32_t switches = s->columns * (s->rows != 0 ? s->rows : 1);
    ls_error err = { 0 };
    r->ends = switches + switches / 2;
    max_flits = s->max_flits;
    rig_open(r);
    if (s->rows != 0)
        assert_int_equal(noc_graph_mesh(&r->graph, r->engine, s->columns, s->rows, s->hop, NULL), LS_OK);
    else
        assert_int_equal(noc_graph_ring(&r->graph, r->engine, s->columns, s->hop, true, NULL), LS_OK);
    for (uint32_t i = 0; i < r->ends; i++)
        r->at_switch[i] = (uint16_t)(i % switches);
    for (uint32_t i = 0; i < switches; i++)
        r->group_of[i] = (uint16_t)(shuffled ? i % groups : i * groups / switches);
    rig_build(r, &err);
}

/* To the last message; a number for all arrivals and counters. */
static uint64_t finish(rig *r, const shape *s, uint32_t threads)
{
    ls_error err = { 0 };
    uint32_t groups = r->groups != 0 ? r->groups : 1;
    if (rig_run(r, threads, 0, &err) != LS_OK)
        fail_msg("%s with %u threads, %u groups: %s", s->name, threads, groups, err.what);
    assert_false(r->lost_order);
    assert_int_equal(rig_received(r), r->ends * r->quota * (s->answers ? 2 : 1));
    uint64_t hash = rig_hash(r);
    for (uint32_t i = 0; i < r->graph.edge_count; i++) {
        const noc_link_counters *n = ls_block_state(r->net.edges[i]);
        hash = (hash ^ n->flits[0] ^ n->flits[1] << 16 ^ n->stall_cycles[0] << 32 ^ n->stall_cycles[1] << 40) *
               UINT64_C(0x100000001b3);
    }
    for (uint32_t k = 0; k < groups; k++) {
        const noc_group *g = ls_block_state(r->net.groups[k]);
        assert_int_equal(g->live, 0);
    }
    rig_close(r);
    return hash;
}

static uint64_t run(const shape *s, uint32_t threads, uint32_t groups, bool shuffled)
{
    rig r;
    open_shape(&r, s, groups, shuffled);
    return finish(&r, s, threads);
}

static const shape shapes[] = {
    { "mesh, one flit of buffer", 4, 4, 1, 1, 1, 1, 5, false, NOC_ROUND_ROBIN },
    { "mesh with requests and replies", 4, 4, 2, 2, 2, 1, 4, true, NOC_OLDEST },
    { "flat mesh with lanes", 6, 2, 3, 3, 1, 2, 3, true, NOC_ROUND_ROBIN },
    { "ring, one flit of buffer", 8, 0, 1, 1, 1, 1, 6, false, NOC_OLDEST },
    { "ring with requests and replies", 9, 0, 2, 2, 2, 1, 4, true, NOC_ROUND_ROBIN },
    { "ring of two", 2, 0, 1, 2, 1, 2, 3, true, NOC_ROUND_ROBIN },
    { "row", 5, 1, 4, 4, 3, 1, 2, false, NOC_ROUND_ROBIN },
    { "one switch", 1, 1, 1, 1, 1, 1, 9, true, NOC_ROUND_ROBIN },
};

static void test_everything_arrives_for_any_threads(void **state)
{
    (void)state;
    static const uint32_t threads[] = { 2, 3, 8 };
    for (size_t i = 0; i < LS_COUNT_OF(shapes); i++) {
        uint64_t first = run(&shapes[i], 1, 1, false);
        for (size_t t = 0; t < LS_COUNT_OF(threads); t++)
            assert_int_equal(run(&shapes[i], threads[t], 1, false), first);
    }
}

/* The hop over a link of the engine takes as long as the one inside a domain: no result changes. */
static void test_domains_change_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(shapes); i++) {
        uint32_t switches = shapes[i].columns * (shapes[i].rows != 0 ? shapes[i].rows : 1);
        uint64_t first = run(&shapes[i], 1, 1, false);
        for (uint32_t groups = 2; groups <= switches; groups += groups < 4 ? 1 : switches - 4) {
            assert_int_equal(run(&shapes[i], 1, groups, false), first);
            assert_int_equal(run(&shapes[i], 3, groups, true), first);
            if (groups == switches)
                break;
        }
    }
}

/* Random small meshes and rings: 60 of them, each to the last message. */
static void test_random_networks(void **state)
{
    (void)state;
    ls_random random;
    ls_random_init(&random, 14);
    for (uint32_t i = 0; i < 60; i++) {
        shape s = { .name = "random network",
                    .columns = 1 + (uint32_t)ls_random_below(&random, 6),
                    .rows = (uint32_t)ls_random_below(&random, 4),
                    .hop = 1 + (uint32_t)ls_random_below(&random, 4),
                    .buffer = 1 + (uint32_t)ls_random_below(&random, 4),
                    .vcs = 1 + (uint32_t)ls_random_below(&random, 3),
                    .lanes = 1 + (uint32_t)ls_random_below(&random, 2),
                    .max_flits = 1 + (uint32_t)ls_random_below(&random, 7),
                    .answers = ls_random_below(&random, 2) != 0,
                    .arbitration = ls_random_below(&random, 2) != 0 ? NOC_OLDEST : NOC_ROUND_ROBIN };
        (void)run(&s, 1, 1, false);
    }
}

/* A network that is saved with messages inside goes on in another engine as if nothing had happened. */
static void test_saved_networks_go_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(shapes); i++)
        for (uint32_t groups = 1; groups <= 2 && groups <= shapes[i].columns; groups++) {
            uint64_t first = run(&shapes[i], 1, groups, false);
            for (ls_cycle at = 37; at < 1000; at += 331) {
                rig r, later;
                ls_error err = { 0 };
                void *saved;
                size_t bytes;
                open_shape(&r, &shapes[i], groups, false);
                assert_int_equal(rig_run(&r, 1, at, &err), LS_OK);
                if (ls_engine_save(r.engine, &saved, &bytes, &err) != LS_OK)
                    fail_msg("%s: %s", shapes[i].name, err.what);
                rig_close(&r);
                open_shape(&later, &shapes[i], groups, false);
                if (ls_engine_load(later.engine, saved, bytes, &err) != LS_OK)
                    fail_msg("%s: %s", shapes[i].name, err.what);
                free(saved);
                assert_int_equal(finish(&later, &shapes[i], 3), first);
            }
        }
}

static bool round_the_ring(rig_end *end, ls_cycle now, rig_message *m)
{
    (void)now;
    m->destination = (uint16_t)((end->id + 3) % 6);
    m->flits = 12;
    return true;
}

/* Without a dateline the messages of a full ring wait for each other; with it they arrive. */
static void test_dateline_breaks_the_cycle(void **state)
{
    (void)state;
    for (int dateline = 0; dateline < 2; dateline++) {
        rig r = { .ends = 6, .next = round_the_ring, .quota = 20, .buffer_flits = 2 };
        ls_error err = { 0 };
        rig_open(&r);
        assert_int_equal(noc_graph_ring(&r.graph, r.engine, 6, 1, dateline != 0, NULL), LS_OK);
        for (uint16_t i = 0; i < 6; i++)
            r.at_switch[i] = i;
        rig_build(&r, &err);
        ls_status status = rig_run(&r, 1, 0, &err);
        if (dateline != 0) {
            assert_int_equal(status, LS_OK);
            assert_int_equal(rig_received(&r), 120);
        } else {
            assert_int_equal(status, LS_ERR_DEADLOCK);
            assert_non_null(strstr(err.what, "net.s0.clockwise"));
        }
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_arrives_for_any_threads),
        cmocka_unit_test(test_domains_change_nothing),
        cmocka_unit_test(test_random_networks),
        cmocka_unit_test(test_saved_networks_go_on),
        cmocka_unit_test(test_dateline_breaks_the_cycle),
    };
    return cmocka_run_group_tests_name("noc_random", tests, NULL, NULL);
}

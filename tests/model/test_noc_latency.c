/* test_noc_latency.c: graphs, routes and the time of a single message, in closed form. */
#include "noc_rig.h"

static void test_mesh_routes_are_minimal(void **state)
{
    (void)state;
    rig r = { 0 };
    rig_open(&r);
    assert_int_equal(noc_graph_mesh(&r.graph, r.engine, 5, 3, 1, NULL), LS_OK);
    assert_int_equal(r.graph.edge_count, 2 * (4 * 3 + 5 * 2));
    for (uint32_t a = 0; a < 15; a++)
        for (uint32_t b = 0; b < 15; b++) {
            int dx = (int)(a % 5) - (int)(b % 5), dy = (int)(a / 5) - (int)(b / 5);
            assert_int_equal(noc_graph_hops(&r.graph, a, b), abs(dx) + abs(dy));
        }
    rig_close(&r);
}

static void test_ring_takes_the_shorter_way(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 9; n++) {
        rig r = { 0 };
        rig_open(&r);
        assert_int_equal(noc_graph_ring(&r.graph, r.engine, n, 1, true, NULL), LS_OK);
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++) {
                uint32_t way = (b + n - a) % n;
                assert_int_equal(noc_graph_hops(&r.graph, a, b), way < n - way ? way : n - way);
            }
        rig_close(&r);
    }
}

static void test_places_spread_memories(void **state)
{
    (void)state;
    uint16_t cores[46], memories[16];
    uint32_t seen[64] = { 0 };
    uint32_t in_row[8] = { 0 }, in_column[8] = { 0 };
    noc_place(64, 8, 46, 16, cores, memories);
    for (uint32_t i = 0; i < 16; i++) {
        in_row[memories[i] / 8]++;
        in_column[memories[i] % 8]++;
        seen[memories[i]]++;
    }
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(in_row[i], 2);
        assert_int_equal(in_column[i], 2);
    }
    for (uint32_t i = 0; i < 46; i++)
        seen[cores[i]]++;
    for (uint32_t i = 0; i < 64; i++)
        assert_true(seen[i] <= 1);
    noc_place(4, 2, 8, 4, cores, memories); /* more end points than switches: shared evenly */
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(cores[i], i % 4);
}

static uint32_t one_to;
static uint16_t one_flits;
static bool send_one(rig_end *end, ls_cycle now, rig_message *m)
{
    (void)now;
    m->destination = (uint16_t)one_to;
    m->flits = one_flits;
    return end->id == 0;
}

static ls_cycle measure(bool ring, uint32_t hop_cycles, uint32_t from, uint32_t to, uint16_t flits,
                        uint32_t buffer_flits)
{
    rig r = { .ends = 2, .quota = 1, .next = send_one, .buffer_flits = buffer_flits };
    rig_open(&r);
    if (ring)
        assert_int_equal(noc_graph_ring(&r.graph, r.engine, 7, hop_cycles, true, NULL), LS_OK);
    else
        assert_int_equal(noc_graph_mesh(&r.graph, r.engine, 4, 4, hop_cycles, NULL), LS_OK);
    r.at_switch[0] = (uint16_t)from;
    r.at_switch[1] = (uint16_t)to;
    one_to = 1;
    one_flits = flits;
    ls_error err = { 0 };
    rig_build(&r, &err);
    r.end[1].sent = 1; /* end point 1 only listens */
    if (rig_run(&r, 1, 0, &err) != LS_OK)
        fail_msg("%s", err.what);
    assert_int_equal(r.end[1].received, 1);
    ls_cycle latency = r.end[1].last_latency;
    const noc_group *g = ls_block_state(r.net.groups[0]);
    uint32_t hops = noc_graph_hops(&r.graph, from, to);
    assert_int_equal(g->n.messages[0], 1);
    assert_int_equal(g->n.hops[0], hops * flits);
    assert_int_equal(g->live, 0);
    rig_close(&r);
    return latency;
}

/* Without load: the links of both end points, the hops, and one cycle for each flit after the first. */
static void test_zero_load_latency(void **state)
{
    (void)state;
    static const uint32_t pairs[][3] = { { 0, 0, 0 }, { 0, 1, 1 }, { 0, 3, 3 }, { 0, 15, 6 }, { 6, 9, 2 } };
    for (size_t i = 0; i < LS_COUNT_OF(pairs); i++)
        for (uint32_t hop = 1; hop <= 5; hop += 2)
            for (uint16_t flits = 1; flits <= 9; flits += 4)
                assert_int_equal(measure(false, hop, pairs[i][0], pairs[i][1], flits, 16),
                                 2 * RIG_LATENCY + pairs[i][2] * hop + flits - 1u);
    assert_int_equal(measure(true, 3, 5, 1, 4, 8), 2 * RIG_LATENCY + 3 * 3 + 3);
    assert_int_equal(measure(true, 100, 0, 4, 1, 8), 2 * RIG_LATENCY + 3 * 100); /* beyond the wake-up wheel */
}

/* A buffer smaller than the round trip of a credit: `buffer` flits pass in each 2 * hop cycles. */
static void test_small_buffers_limit_the_rate(void **state)
{
    (void)state;
    uint32_t hop = 4, buffer = 2, flits = 16;
    ls_cycle full = measure(false, hop, 0, 1, (uint16_t)flits, 8);
    ls_cycle small = measure(false, hop, 0, 1, (uint16_t)flits, buffer);
    assert_int_equal(full, 2 * RIG_LATENCY + hop + flits - 1);
    assert_int_equal(small, 2 * RIG_LATENCY + hop + (flits / buffer - 1) * 2 * hop + buffer - 1);
}

static void test_bad_networks_are_refused(void **state)
{
    (void)state;
    rig r = { 0 };
    ls_error err = { 0 };
    noc_network net;
    rig_open(&r);
    assert_int_equal(noc_graph_mesh(&r.graph, r.engine, 2, 2, 1, NULL), LS_OK);
    noc_endpoint end = { .at_switch = 4, .name = "far away" };
    noc_network_spec spec = { .name = "net",
                              .graph = &r.graph,
                              .classes = 2,
                              .virtual_channels = 17,
                              .buffer_flits = 4,
                              .flit_bytes = 32 };
    assert_int_equal(noc_network_create(r.engine, &spec, &net, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "34 virtual channels"));
    spec.virtual_channels = 1;
    spec.endpoints = &end;
    spec.endpoint_count = 1;
    assert_int_equal(noc_network_create(r.engine, &spec, &net, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "'far away' is at switch 4 of 4"));
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mesh_routes_are_minimal),      cmocka_unit_test(test_ring_takes_the_shorter_way),
        cmocka_unit_test(test_places_spread_memories),       cmocka_unit_test(test_zero_load_latency),
        cmocka_unit_test(test_small_buffers_limit_the_rate), cmocka_unit_test(test_bad_networks_are_refused),
    };
    return cmocka_run_group_tests_name("noc_latency", tests, NULL, NULL);
}

/* test_noc_throughput.c: throughput of a loaded network against the limit of its wires, and the shares of
 * senders. */
#include "noc_rig.h"

#define CYCLES 4000u

static const noc_link_counters *edge_of(const rig *r, uint32_t from, const char *direction)
{
    for (uint32_t i = 0; i < r->graph.edge_count; i++)
        if (r->graph.edges[i].from == from && strcmp(r->graph.edges[i].direction, direction) == 0)
            return ls_block_state(r->net.edges[i]);
    fail_msg("no edge %s of switch %u", direction, from);
    return NULL;
}

static void run(rig *r)
{
    ls_error err = { 0 };
    rig_build(r, &err);
    if (rig_run(r, 1, CYCLES, &err) != LS_OK)
        fail_msg("%s", err.what);
    assert_false(r->lost_order);
}

static bool all_across(rig_end *end, ls_cycle now, rig_message *m)
{
    (void)now;
    m->destination = (uint16_t)(end->id % 8 < 4 ? end->id + 4 : end->id - 4);
    m->flits = 4;
    return true;
}

/* Every message crosses the middle of an 8 x 8 mesh: each row has one wire for each direction, and these are full. */
static void test_bisection_limit(void **state)
{
    (void)state;
    rig r = { .ends = 64, .next = all_across };
    rig_open(&r);
    assert_int_equal(noc_graph_mesh(&r.graph, r.engine, 8, 8, 2, NULL), LS_OK);
    for (uint16_t i = 0; i < 64; i++)
        r.at_switch[i] = i;
    run(&r);
    for (uint32_t row = 0; row < 8; row++) {
        const noc_link_counters *east = edge_of(&r, row * 8 + 3, "east"),
                                *west = edge_of(&r, row * 8 + 4, "west");
        assert_in_range(east->flits[0], CYCLES - 60, CYCLES - RIG_LATENCY);
        assert_in_range(west->flits[0], CYCLES - 60, CYCLES - RIG_LATENCY);
        assert_int_equal(east->busy_cycles, east->flits[0]);
        /* Always one message at the front of the other input waits. */
        assert_in_range(east->stall_cycles[0], CYCLES * 9 / 10, CYCLES);
    }
    rig_close(&r);
}

static bool uniform(rig_end *end, ls_cycle now, rig_message *m)
{
    (void)now;
    m->destination = (uint16_t)ls_random_below(&end->random, end->rig->ends);
    m->flits = 1;
    return true;
}

static double uniform_rate(uint32_t columns, uint32_t vcs, bool ring, noc_arbitration arbitration)
{
    rig r = { .arbitration = arbitration,
              .ends = columns * (ring ? 1 : columns),
              .next = uniform,
              .virtual_channels = vcs,
              .buffer_flits = 16 };
    rig_open(&r);
    if (ring)
        assert_int_equal(noc_graph_ring(&r.graph, r.engine, columns, 1, true, NULL), LS_OK);
    else
        assert_int_equal(noc_graph_mesh(&r.graph, r.engine, columns, columns, 1, NULL), LS_OK);
    for (uint32_t i = 0; i < r.ends; i++)
        r.at_switch[i] = (uint16_t)i;
    run(&r);
    double rate = (double)rig_received(&r) / r.ends / CYCLES;
    rig_close(&r);
    return rate;
}

/* Uniform random traffic in a k x k mesh: half of it crosses the middle, so wires allow 4/k flits per node and
 * cycle (k = 8: 0.5). One queue in front of each input reaches some 60 % of it because its head blocks later
 * messages; more virtual channels come closer. */
static void test_uniform_saturation(void **state)
{
    (void)state;
    double one = uniform_rate(8, 1, false, NOC_ROUND_ROBIN), four = uniform_rate(8, 4, false, NOC_ROUND_ROBIN);
    double old = uniform_rate(8, 4, false, NOC_OLDEST);
    double ring = uniform_rate(16, 4, true, NOC_ROUND_ROBIN), ring_old = uniform_rate(16, 4, true, NOC_OLDEST);
    print_message(
        "8 x 8 mesh: %.3f with 1 virtual channel, %.3f with 4, %.3f oldest first (wires allow 0.5)\n", one,
        four, old);
    print_message("ring of 16: %.3f, %.3f oldest first (wires allow 0.5)\n", ring, ring_old);
    assert_true(one > 0.55 * 0.5 && one < 0.5);
    assert_true(four > 0.80 * 0.5 && four < 0.5);
    assert_true(four > one);
    assert_true(old > 0.85 * 0.5 && old < 0.5);
    /* A ring of n: n / 4 hops on average over 2 n wires allow 8 / n. Past saturation, senders that take every gap
     * in turn with passing traffic jam a ring; older messages first keep it moving. */
    assert_true(ring_old > 0.8 * 0.5 && ring_old < 0.5);
    assert_true(ring > 0.1 && ring < 0.6 * ring_old);
}

static uint32_t senders, sink;
static bool to_sink(rig_end *end, ls_cycle now, rig_message *m)
{
    (void)now;
    m->destination = (uint16_t)sink;
    m->flits = 2;
    return end->id < senders;
}

/* One switch: equal shares of the output, to the message. */
static void test_one_switch_is_fair(void **state)
{
    (void)state;
    rig r = { .ends = 6, .next = to_sink };
    senders = sink = 5;
    rig_open(&r);
    assert_int_equal(noc_graph_mesh(&r.graph, r.engine, 1, 1, 1, NULL), LS_OK);
    run(&r);
    uint64_t each = r.end[5].received / 5;
    assert_in_range(r.end[5].received_flits, CYCLES - 2 * RIG_LATENCY - 8, CYCLES - 2 * RIG_LATENCY);
    for (uint32_t i = 0; i < 5; i++)
        assert_in_range(r.end[5].received_from[i], each - 1, each + 1);
    rig_close(&r);
}

static void shares_of_a_row(noc_arbitration arbitration, const double share[3], double tolerance)
{
    rig r = { .ends = 4, .next = to_sink, .arbitration = arbitration };
    senders = sink = 3;
    rig_open(&r);
    assert_int_equal(noc_graph_mesh(&r.graph, r.engine, 4, 1, 1, NULL), LS_OK);
    for (uint16_t i = 0; i < 4; i++)
        r.at_switch[i] = i;
    run(&r);
    for (uint32_t i = 0; i < 3; i++) {
        double got = (double)r.end[3].received_from[i] / (double)r.end[3].received;
        assert_true(got > share[i] - tolerance && got < share[i] + tolerance);
    }
    rig_close(&r);
}

/* A row of switches that all send to its end. In turn, each switch divides equally between upstream messages
 * and its own, so the shares are 1/4, 1/4, 1/2. Oldest first, all get about the same. */
static void test_shares_of_a_row(void **state)
{
    (void)state;
    shares_of_a_row(NOC_ROUND_ROBIN, (const double[]){ 0.25, 0.25, 0.5 }, 0.01);
    shares_of_a_row(NOC_OLDEST, (const double[]){ 1 / 3.0, 1 / 3.0, 1 / 3.0 }, 0.03);
}

static bool two_classes(rig_end *end, ls_cycle now, rig_message *m)
{
    m->destination = 1;
    m->flits = 1;
    m->class_index = (uint8_t)(now & 1);
    return end->id == 0;
}

/* An end point with two lanes takes two messages per cycle from two sources. */
static void test_lanes_widen_an_end_point(void **state)
{
    (void)state;
    for (uint32_t lanes = 1; lanes <= 2; lanes++) {
        rig r = { .ends = 3, .next = to_sink, .lanes = lanes, .out_credits = 200 };
        senders = sink = 2;
        rig_open(&r);
        assert_int_equal(noc_graph_mesh(&r.graph, r.engine, 1, 1, 1, NULL), LS_OK);
        run(&r);
        assert_in_range(r.end[2].received_flits, lanes * (CYCLES - 2 * RIG_LATENCY - 8),
                        lanes * (CYCLES - 2 * RIG_LATENCY));
        rig_close(&r);
    }
}

/* Classes share a wire but count apart. */
static void test_counters_by_class(void **state)
{
    (void)state;
    rig r = { .ends = 2, .next = two_classes, .classes = 2, .quota = 101 };
    rig_open(&r);
    assert_int_equal(noc_graph_mesh(&r.graph, r.engine, 2, 1, 1, NULL), LS_OK);
    r.at_switch[1] = 1;
    run(&r);
    const noc_link_counters *east = edge_of(&r, 0, "east");
    assert_int_equal(east->flits[0], 51);
    assert_int_equal(east->flits[1], 50);
    assert_int_equal(east->stall_cycles[0] + east->stall_cycles[1], 0);
    assert_int_equal(edge_of(&r, 1, "west")->busy_cycles, 0);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bisection_limit),          cmocka_unit_test(test_uniform_saturation),
        cmocka_unit_test(test_one_switch_is_fair),       cmocka_unit_test(test_shares_of_a_row),
        cmocka_unit_test(test_lanes_widen_an_end_point), cmocka_unit_test(test_counters_by_class),
    };
    return cmocka_run_group_tests_name("noc_throughput", tests, NULL, NULL);
}

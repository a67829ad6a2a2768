/* test_fabric_shapes.c: fabrics of a fixed shape: latency without load and bandwidth against closed forms, counters,
 * groups and windows. */
#include "fabric_rig.h"

#define CYCLES 6000u
#define PORT 20u /* default of port_latency_ns, at 1 GHz */

static uint32_t only_from, only_to;
static uint16_t bytes_each;

/* One message. */
static bool one(frig_end *end, ls_cycle now, ls_fabric_message *m)
{
    (void)now;
    m->to = (uint16_t)only_to;
    m->class_index = LS_FABRIC_DATA;
    m->data_bytes = bytes_each;
    m->wire_bytes = (uint16_t)(bytes_each + 4);
    return end->id == only_from && end->sent == 0;
}

static ls_cycle latency(const char *model, uint32_t gpus, const char *const *sets, uint32_t from, uint32_t to,
                        uint16_t bytes)
{
    frig r = { .gpus = gpus, .has_host = true, .next = one, .stop = 2 };
    ls_error err = { 0 };
    only_from = from;
    only_to = to;
    bytes_each = bytes;
    frig_open(&r);
    if (frig_build(&r, model, sets, &err) != LS_OK)
        fail_msg("%s", err.what);
    frig_run_ok(&r, 1, 0);
    frig_at_rest(&r);
    assert_int_equal(frig_end_at(&r, to)->received, 1);
    ls_cycle result = frig_end_at(&r, to)->last_latency;
    frig_close(&r);
    return result;
}

/* PCI Express 3 x16 at 1 GHz has flits of 17 bytes. A line of 64 bytes with its header of 4 and 25 % is 85 bytes: 5
 * flits. Each switch takes 140 cycles. */
static void test_pcie_latency(void **state)
{
    (void)state;
    assert_int_equal(latency("pcie", 4, NULL, 0, 1, 64), 2 * PORT + 140 + 4);
    assert_int_equal(latency("pcie", 4, NULL, 0, 2, 64), 2 * PORT + 3 * 140 + 4);
    assert_int_equal(latency("pcie", 4, NULL, 3, 4, 64),
                     2 * PORT + 2 * 140 + 4);                            /* the host, at the root complex */
    assert_int_equal(latency("pcie", 4, NULL, 0, 1, 0), 2 * PORT + 140); /* 5 bytes: one flit */
    /* Version 4 has flits of 34 bytes. */
    const char *const four[] = { "generation=4", NULL };
    assert_int_equal(latency("pcie", 4, four, 0, 1, 64), 2 * PORT + 140 + 2);
    const char *const eight[] = { "lanes=8", "link_latency_ns=10", NULL };
    assert_int_equal(latency("pcie", 4, eight, 0, 3, 64), 2 * PORT + 3 * 140 + 4 * 10 + 9);
}

static void test_direct_latency(void **state)
{
    (void)state;
    /* 64 bytes and a header of 32 are 6 flits of 16. 25 GB/s carry a flit in 0.64 cycles: the last one is 3.2 cycles
     * behind the first. */
    assert_int_equal(latency("ring", 8, NULL, 0, 1, 64), 2 * PORT + 250 + 4);
    assert_int_equal(latency("ring", 8, NULL, 0, 4, 64), 2 * PORT + 4 * 250 + 4);
    assert_int_equal(latency("ring", 8, NULL, 1, 7, 64), 2 * PORT + 2 * 250 + 4);
    assert_int_equal(latency("full", 8, NULL, 1, 7, 64), 2 * PORT + 250 + 4);
    const char *const planes[] = { "planes=6", "links=2", NULL };
    assert_int_equal(latency("switch", 8, planes, 1, 7, 64), 2 * PORT + 300 + 4);
    /* The host has a link of its own with each GPU: 280 ns and 16 GB/s. */
    assert_int_equal(latency("switch", 8, planes, 8, 7, 64), 2 * PORT + 280 + 5);
    assert_int_equal(latency("ring", 8, NULL, 3, 8, 64), 2 * PORT + 280 + 5);
}

/* A message that goes from a slow link to a fast one leaves when its last flit comes in time. */
static void test_rates_that_differ(void **state)
{
    (void)state;
    const char *const slow[] = { "host_gb_s=1", "host_latency_ns=100", NULL };
    /* 6 flits of 16 bytes at 1 GB/s: the last one is 80 cycles behind. */
    assert_int_equal(latency("full", 2, slow, 2, 0, 64), 2 * PORT + 100 + 80);
}

/* ----------------------------------------------------------------------------------------------- bandwidth */

static bool stream(frig_end *end, ls_cycle now, ls_fabric_message *m)
{
    (void)now;
    m->to = (uint16_t)only_to;
    m->class_index = LS_FABRIC_DATA;
    m->data_bytes = bytes_each;
    m->wire_bytes = (uint16_t)(bytes_each + 4);
    m->address = end->sent * bytes_each;
    return end->id == only_from;
}

/* GB/s of data that each of `ends` ends gets in the steady state; the ends send a message per cycle of their clock. */
static uint64_t end_mhz = 1000;
static double bandwidth(const char *model, uint32_t gpus, const char *const *sets, frig_next_fn next,
                        uint32_t ends)
{
    frig r = { .gpus = gpus, .next = next, .credits = 1024, .clock_mhz = end_mhz, .any_address = true };
    ls_error err = { 0 };
    uint64_t before = 0, after = 0;
    frig_open(&r);
    if (frig_build(&r, model, sets, &err) != LS_OK)
        fail_msg("%s", err.what);
    for (uint32_t part = 1; part <= 2; part++) {
        frig_run_ok(&r, 1, part * CYCLES);
        for (uint32_t i = 0; i < gpus; i++)
            *(part == 1 ? &before : &after) += frig_end_at(&r, i)->received_data;
    }
    frig_close(&r);
    return (double)(after - before) / CYCLES / ends;
}

static void about(double got, double wanted)
{
    if (got < wanted * 0.995 || got > wanted * 1.005)
        fail_msg("%.4f GB/s, expected %.4f", got, wanted);
}

static void test_link_saturation(void **state)
{
    (void)state;
    only_from = 0;
    only_to = 1;
    bytes_each = 64;
    /* 64 bytes in 5 cycles (version 3) or 3 (version 4). */
    about(bandwidth("pcie", 2, NULL, stream, 1), 64 / 5.0);
    const char *const four[] = { "generation=4", NULL };
    about(bandwidth("pcie", 2, four, stream, 1), 64 / 3.0);
    /* Packets: 15.754 GB/s less a header of 24 bytes for 64; flits of 4 bytes fit exactly. */
    const char *const packet[] = { "framing=packet", "flit_bytes=4", NULL };
    about(bandwidth("pcie", 2, packet, stream, 1), 16.0 * 128 / 130 * 64 / 88);
    /* NVLink: 128 bytes of data and 32 of overhead: 80 % of 25 GB/s. */
    bytes_each = 128;
    about(bandwidth("full", 2, NULL, stream, 1), 20);
    /* Credits limit: 8 buffers per 2 * 250 cycles. */
    const char *const few[] = { "buffer_messages=8", NULL };
    about(bandwidth("full", 2, few, stream, 1), 8 * 128 / 500.0);
}

/* A stream spreads evenly over planes and links: 12 links of 25 GB/s give 240. The end itself sends one message per
 * cycle (128 GB/s) at most, so it has half of the links here. */
static void test_planes_share(void **state)
{
    (void)state;
    only_from = 2;
    only_to = 5;
    bytes_each = 128;
    const char *const planes[] = { "planes=3", "links=2", NULL };
    about(bandwidth("switch", 8, planes, stream, 1), 120);
}

/* Measured anchors of real links: one GPU writes to another one. */
static void test_anchors(void **state)
{
    (void)state;
    only_from = 2;
    only_to = 5;
    bytes_each = 128;
    end_mhz = 4000;
    /* A100: 12 links of 25 GB/s over six switches: 240 GB/s expected, about 230 reached by NCCL (nccl-tests#149). */
    const char *const a100[] = { "planes=6", "links=2", "queue_messages=1024", NULL };
    about(bandwidth("switch", 8, a100, stream, 1), 240);
    /* H100: 18 links: 360 GB/s; measured 371 to 377 (nccl#1264), 365 to 370 (nccl#1455). */
    const char *const h100[] = { "planes=6", "links=3", "queue_messages=1024", NULL };
    about(bandwidth("switch", 8, h100, stream, 1), 360);
    /* PCI Express 5 x16, pieces of 256 bytes: 57.6 GB/s; measured 56.3 to 57.8 (ik_llama.cpp#1022). */
    bytes_each = 256;
    const char *const five[] = { "generation=5", "framing=packet", "flit_bytes=8", NULL };
    about(bandwidth("pcie", 8, five, stream, 1), 64.0 * 128 / 130 * 256 / 280);
    /* MI300X: 64 GB/s each way, about 48 usable: 21 bytes of overhead for 64 are fitted to that. */
    const char *const mi300x[] = { "link_gb_s=64",        "packet_header_bytes=21", "packet_payload_bytes=64",
                                   "queue_messages=1024", "flit_bytes=1",           NULL };
    bytes_each = 128;
    about(bandwidth("full", 8, mi300x, stream, 1), 64.0 * 64 / 85);
    end_mhz = 1000;
}

static bool uniform(frig_end *end, ls_cycle now, ls_fabric_message *m)
{
    (void)now;
    m->to = (uint16_t)((end->id + 1 + ls_random_below(&end->random, 7)) % 8);
    m->class_index = LS_FABRIC_DATA;
    m->data_bytes = 128;
    m->wire_bytes = 132;
    m->address = ls_random_below(&end->random, 1 << 20) << 7;
    return true;
}

/* All to all at random over one switch: messages behind one for a busy output wait, unless they have another channel. */
static void test_uniform(void **state)
{
    (void)state;
    static const char *const channels[] = { "virtual_channels=1", "virtual_channels=2", "virtual_channels=5" };
    double reached[3];
    for (uint32_t i = 0; i < 3; i++) {
        const char *const sets[] = { channels[i], NULL };
        reached[i] = bandwidth("switch", 8, sets, uniform, 8) / 20;
        print_message("%s: %.3f of the links\n", channels[i], reached[i]);
    }
    assert_true(reached[0] > 0.58 && reached[0] < 0.80);
    assert_true(reached[1] > reached[0] && reached[2] > reached[1] && reached[2] < 1);
}

static bool across(frig_end *end, ls_cycle now, ls_fabric_message *m)
{
    (void)now;
    m->to = (uint16_t)(end->id ^ 2);
    m->class_index = LS_FABRIC_REQUEST;
    m->data_bytes = 64;
    m->wire_bytes = 68;
    m->address = end->sent * 64;
    return true;
}

/* PCI Express, 4 GPUs: all traffic crosses the two links of the root complex: two GPUs share one. */
static void test_bisection(void **state)
{
    (void)state;
    about(bandwidth("pcie", 4, NULL, across, 4), 64 / 5.0 / 2);
    /* A ring of 4: the opposite GPU is two links away, and all go clockwise: 4 streams over 4 links, two links each. */
    bytes_each = 64;
    about(bandwidth("ring", 4, NULL, across, 4), 25.0 * 64 / 96 / 2);
}

/* ---------------------------------------------------------------------------------------- counters and groups */

static void test_counters_of_links(void **state)
{
    (void)state;
    frig r = { .gpus = 4, .has_host = true, .next = across, .quota = 100 };
    ls_error err = { 0 };
    frig_open(&r);
    assert_int_equal(frig_build(&r, "pcie", NULL, &err), LS_OK);
    frig_end_at(&r, 4)->sent = 100; /* the host is quiet */
    frig_run_ok(&r, 1, 0);
    const noc_link_counters *up = frig_link(&r, "fabric.gpu0-switch0"),
                            *root = frig_link(&r, "fabric.switch0-root"),
                            *down = frig_link(&r, "fabric.switch1-gpu2"),
                            *host = frig_link(&r, "fabric.root-host");
    assert_int_equal(up->flits[LS_FABRIC_REQUEST], 500);
    assert_int_equal(up->bytes[LS_FABRIC_REQUEST], 8500);
    assert_int_equal(up->flits[LS_FABRIC_DATA], 0);
    assert_int_equal(up->busy_cycles, 500);
    assert_int_equal(root->flits[LS_FABRIC_REQUEST], 1000);
    assert_int_equal(root->busy_cycles, 1000);
    assert_true(root->stall_cycles[LS_FABRIC_REQUEST] > 0);
    assert_int_equal(down->flits[LS_FABRIC_REQUEST], 500);
    assert_int_equal(host->busy_cycles, 0);
    const noc_group *port = ls_block_state(ls_engine_find_block(r.engine, "fabric.gpu0"));
    assert_int_equal(port->n.messages[LS_FABRIC_REQUEST], 100);
    frig_close(&r);
}

/* Ports belong to the groups of their GPUs; links between groups are as long as links of the fabric. */
static void test_groups(void **state)
{
    (void)state;
    frig r = { .gpus = 4, .has_host = true, .next = across };
    ls_error err = { 0 };
    frig_open(&r);
    assert_int_equal(frig_build(&r, "pcie", NULL, &err), LS_OK);
    assert_int_equal(ls_group_count(r.engine), 1 + 5 + 3);
    assert_string_equal(ls_group_name(ls_group_at(r.engine, 6)), "fabric.root");
    const ls_link *limiting;
    assert_int_equal(ls_engine_cross_lookahead(r.engine, &limiting), 70 * UINT64_C(1000000));
    assert_int_equal(ls_group_lookahead(ls_group_at(r.engine, 1), NULL), PORT * UINT64_C(1000000));
    frig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pcie_latency),      cmocka_unit_test(test_direct_latency),
        cmocka_unit_test(test_rates_that_differ), cmocka_unit_test(test_link_saturation),
        cmocka_unit_test(test_anchors),           cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_planes_share),      cmocka_unit_test(test_bisection),
        cmocka_unit_test(test_counters_of_links), cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

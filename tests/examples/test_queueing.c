/* test_queueing.c: the queueing machine against theory, exactly. Latency agrees to the femtosecond, throughput
 * to the byte, and nothing is lost. Counters are the same on any number of threads, and a deadlock is
 * named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "closed_form.h"
#include "queueing.h"
#include "rig.h"

#include <stdio.h>
#include <string.h>

#define FOLDER LS_SOURCE_DIR "/examples/queueing"

static void must(ls_status status, const ls_error *err)
{
    char text[512];
    if (status)
        fail_msg("%s", ls_error_text(err, text, sizeof text));
}

static rig open_rig(const char *file, const char *sets)
{
    rig r;
    ls_error err;
    must(rig_open(&r, FOLDER, file, sets, &err), &err);
    return r;
}

static void run_until(rig *r, ls_time until)
{
    ls_error err;
    must(ls_run(r->engine, &(ls_run_options){ .threads = 1, .until = until }, NULL, &err), &err);
}

static uint64_t hash_now(const rig *r)
{
    uint64_t hash;
    ls_error err;
    must(rig_hash(r, &hash, &err), &err);
    return hash;
}

static const exact_clock mhz_1000 = { 1000, 1 }, mhz_2000 = { 2000, 1 };

/* ------------------------------------------------------------------------------------------------ latency */

typedef struct clock_pair {
    exact_clock client, server;
    const char *sets;
} clock_pair;

static const clock_pair pairs[] = {
    { { 1000, 1 }, { 1000, 1 }, "clocks.client_mhz=1000 clocks.server_mhz=1000" },
    { { 1365, 1 }, { 7001, 2 }, "clocks.client_mhz=1365 clocks.server_mhz=3500.5" },
    { { 7001, 2 }, { 1365, 1 }, "clocks.client_mhz=3500.5 clocks.server_mhz=1365" },
    { { 1695, 1 }, { 7001, 4 }, "clocks.client_mhz=1695 clocks.server_mhz=1750.25" },
    { { 100000001, 100000 }, { 1000, 1 }, "clocks.client_mhz=1000.00001 clocks.server_mhz=1000" },
    { { 1, 8 }, { 997, 1000 }, "clocks.client_mhz=0.125 clocks.server_mhz=0.997" },
};

/* Messages of one and of several flits, services of none, one and many cycles, long and short wires. */
static void test_latency(void **state)
{
    (void)state;
    static const struct {
        uint64_t request, reply, bytes, reply_bytes, service, think;
    } shapes[] = {
        { 20, 40, 32, 32, 17, 1 }, { 8, 9, 32, 32, 0, 1 },     { 9, 100, 128, 33, 1, 7 },
        { 333, 8, 1, 4096, 5, 2 }, { 17, 23, 64, 96, 211, 3 },
    };
    for (size_t p = 0; p < LS_COUNT_OF(pairs); p++)
        for (size_t s = 0; s < LS_COUNT_OF(shapes); s++) {
            char sets[512];
            snprintf(
                sets, sizeof sets,
                "%s request.latency_cycles=%d reply.latency_cycles=%d client.bytes=%d client.reply_bytes=%d "
                "server.service_cycles=%d client.think_cycles=%d client.messages=300",
                pairs[p].sets, (int)shapes[s].request, (int)shapes[s].reply, (int)shapes[s].bytes,
                (int)shapes[s].reply_bytes, (int)shapes[s].service, (int)shapes[s].think);
            rig r = open_rig("ping.yaml", sets);
            run_until(&r, 0);
            ls_histogram fs = rig_histogram(&r, "queueing.client", NULL, "round_trip_fs");
            ls_histogram cycles = rig_histogram(&r, "queueing.client", NULL, "round_trip");
            exact_round_trip exact = exact_ping_round_trip(&(exact_ping){
                .client = pairs[p].client,
                .server = pairs[p].server,
                .request_latency = shapes[s].request,
                .reply_latency = shapes[s].reply,
                .request_flits = (shapes[s].bytes + 31) / 32,
                .reply_flits = (shapes[s].reply_bytes + 31) / 32,
                .service = shapes[s].service,
                .think = shapes[s].think,
                .count = 300,
            });
            assert_int_equal(fs.count, 300);
            assert_int_equal(fs.sum, exact.sum_fs);
            assert_int_equal(fs.min, exact.min_fs);
            assert_int_equal(fs.max, exact.max_fs);
            assert_int_equal(cycles.sum, exact.sum_cycles);
            ls_histogram grant_wait = rig_histogram(&r, "queueing.input", NULL, "grant_wait");
            assert_int_equal(grant_wait.count, 600);
            assert_int_equal(grant_wait.max, 0);
            rig_close(&r);
        }
}

/* The formulas themselves, against numbers worked out by hand. */
static void test_closed_form(void **state)
{
    (void)state;
    /* Same clock: 20 out, 17 served, 3 more flits and 40 back, all at 1 ns. */
    exact_round_trip trip = exact_ping_round_trip(&(exact_ping){ .client = mhz_1000,
                                                                 .server = mhz_1000,
                                                                 .request_latency = 20,
                                                                 .reply_latency = 40,
                                                                 .request_flits = 1,
                                                                 .reply_flits = 4,
                                                                 .service = 17,
                                                                 .think = 1,
                                                                 .count = 10 });
    assert_int_equal(trip.min_fs, 80000000);
    assert_int_equal(trip.max_fs, 80000000);
    assert_int_equal(trip.sum_cycles, 800);
    /* 1365 MHz: 732600.7326... fs. */
    assert_int_equal(exact_edge_fs((exact_clock){ 1365, 1 }, 1), 732600);
    assert_int_equal(exact_edge_fs((exact_clock){ 1365, 1 }, 1365), 1000000000);
    assert_int_equal(exact_edge_at((exact_clock){ 1365, 1 }, 732600), 1);
    assert_int_equal(exact_edge_at((exact_clock){ 1365, 1 }, 732601), 2);
    assert_int_equal(exact_common_cycles((exact_clock){ 1365, 1 }, (exact_clock){ 7001, 2 }), 2730);
    assert_int_equal(exact_common_cycles(mhz_1000, mhz_2000), 1);
}

/* --------------------------------------------------------------------------------------------- saturation */

/* Messages received by all servers between two edges of the client's clock. */
static uint64_t messages_between(rig *r, exact_clock client, uint64_t from, uint64_t to)
{
    run_until(r, exact_edge_fs(client, from));
    uint64_t before = rig_count(r, "queueing.input", "server*", "received");
    run_until(r, exact_edge_fs(client, to));
    return rig_count(r, "queueing.input", "server*", "received") - before;
}

static void test_saturation_is_the_width(void **state)
{
    (void)state;
    static const struct {
        uint64_t width, cycles, flit, bytes;
        uint64_t messages, per_cycles; /* the effective width for messages of this size */
    } widths[] = {
        { 32, 1, 0, 32, 1, 1 }, { 64, 1, 0, 64, 1, 1 },   { 32, 1, 0, 128, 1, 4 }, { 96, 5, 32, 32, 3, 5 },
        { 7, 3, 0, 7, 1, 3 },   { 128, 7, 64, 64, 2, 7 }, { 31, 7, 1, 62, 1, 14 }, { 1, 1, 0, 5, 1, 5 },
        { 96, 5, 0, 32, 1, 5 }, /* a flit as wide as the link: two thirds of it are lost */
    };
    for (size_t p = 0; p < LS_COUNT_OF(pairs); p++)
        for (size_t w = 0; w < LS_COUNT_OF(widths); w++) {
            uint64_t common = exact_common_cycles(pairs[p].client, pairs[p].server);
            if (common > 10000)
                continue; /* the edges of these two coincide only after a hundred thousand cycles */
            char sets[512];
            snprintf(sets, sizeof sets,
                     "%s request.width_bytes=%d request.width_cycles=%d request.flit_bytes=%d client.bytes=%d "
                     "request.credits=4096",
                     pairs[p].sets, (int)widths[w].width, (int)widths[w].cycles, (int)widths[w].flit,
                     (int)widths[w].bytes);
            if (pairs[p].server.mhz_num * pairs[p].client.mhz_den * widths[w].per_cycles <
                pairs[p].client.mhz_num * pairs[p].server.mhz_den * widths[w].messages)
                continue; /* the server takes one message per cycle of its own */
            rig r = open_rig("saturation.yaml", sets);
            uint64_t window = common * widths[w].per_cycles;
            uint64_t start = (1000 / window + 1) * window; /* long after the first arrivals */
            uint64_t got = messages_between(&r, pairs[p].client, start, start + 3 * window);
            assert_int_equal(got, 3 * common * widths[w].messages);
            rig_close(&r);
        }
}

/* With few credits: as many messages per round trip of a credit as there are credits. */
static void test_saturation_is_credits_per_round_trip(void **state)
{
    (void)state;
    static const struct {
        uint64_t latency, credit_latency, flits;
        exact_clock server;
    } wires[] = {
        { 20, 20, 1, { 1000, 1 } },
        { 9, 13, 1, { 1000, 1 } },
        { 20, 31, 4, { 1000, 1 } },
        { 5, 16, 1, { 2000, 1 } }, /* 16 server cycles are 8 of the client's */
    };
    static const uint64_t credits[] = { 1, 2, 3, 7, 12, 13, 22, 39, 40, 41, 100 };
    for (size_t w = 0; w < LS_COUNT_OF(wires); w++)
        for (size_t c = 0; c < LS_COUNT_OF(credits); c++) {
            char sets[512];
            snprintf(sets, sizeof sets,
                     "clocks.client_mhz=1000 clocks.server_mhz=%d request.latency_cycles=%d "
                     "request.credit_latency_cycles=%d request.width_bytes=32 request.width_cycles=1 "
                     "client.bytes=%d request.credits=%d",
                     (int)wires[w].server.mhz_num, (int)wires[w].latency, (int)wires[w].credit_latency,
                     (int)(wires[w].flits * 32), (int)credits[c]);
            rig r = open_rig("saturation.yaml", sets);
            uint64_t back = wires[w].credit_latency * 1000 / wires[w].server.mhz_num;
            uint64_t round_trip = wires[w].latency + (wires[w].flits - 1) + back;
            uint64_t window = round_trip * wires[w].flits;
            uint64_t got = messages_between(&r, mhz_1000, 10 * window, 20 * window);
            uint64_t by_credits = 10 * wires[w].flits * credits[c], by_width = 10 * round_trip;
            assert_int_equal(got, by_credits < by_width ? by_credits : by_width);
            rig_close(&r);
        }
}

/* Four clients want one server: its output of 19.2 bytes per cycle is shared to the message. */
static void test_delivery_limit_is_shared_fairly(void **state)
{
    (void)state;
    rig r = open_rig("saturation.yaml", "clients=4 clocks.client_mhz=1000 clocks.server_mhz=1000 "
                                        "request.deliver_bytes_per_cycle=19.2");
    run_until(&r, exact_edge_fs(mhz_1000, 2000));
    uint64_t before[4], total_before = rig_count(&r, "queueing.server", NULL, "served_bytes");
    static const char *const names[] = { "client0", "client1", "client2", "client3" };
    for (int i = 0; i < 4; i++)
        before[i] = rig_count(&r, "queueing.client", names[i], "sent");
    run_until(&r, exact_edge_fs(mhz_1000, 4000));
    assert_int_equal(rig_count(&r, "queueing.server", NULL, "served_bytes") - total_before, 38400);
    for (int i = 0; i < 4; i++)
        assert_int_equal(rig_count(&r, "queueing.client", names[i], "sent") - before[i], 38400 / 32 / 4);
    rig_close(&r);
}

/* One client sends to four servers in turn: each gets a quarter of its injection limit of 12.8 bytes per
 * cycle. */
static void test_injection_limit(void **state)
{
    (void)state;
    rig r = open_rig("saturation.yaml", "servers=4 clocks.client_mhz=1000 clocks.server_mhz=1000 "
                                        "client.rotate=true request.inject_bytes_per_cycle=12.8");
    run_until(&r, exact_edge_fs(mhz_1000, 1000));
    uint64_t total = rig_count(&r, "queueing.server", NULL, "served_bytes");
    uint64_t third = rig_count(&r, "queueing.server", "server2", "served_bytes");
    run_until(&r, exact_edge_fs(mhz_1000, 3000));
    assert_int_equal(rig_count(&r, "queueing.server", NULL, "served_bytes") - total, 25600);
    assert_int_equal(rig_count(&r, "queueing.server", "server2", "served_bytes") - third, 6400);
    rig_close(&r);
}

/* A bounded queue in front of a slow server: one message per service time, however hard four clients push. */
static void test_back_pressure(void **state)
{
    (void)state;
    rig r = open_rig("saturation.yaml", "clients=4 clocks.client_mhz=1000 clocks.server_mhz=1000 "
                                        "request.credits=2 server.service_cycles=10 server.queue_messages=3 "
                                        "client.messages=1000");
    assert_int_equal(messages_between(&r, mhz_1000, 10000, 20000), 1000);
    assert_int_equal(rig_count(&r, "queueing.server", NULL, "queue_peak"), 3);
    assert_in_range(rig_count(&r, "queueing.input", "server0.in", "waiting_peak"), 1, 8);
    assert_in_range(rig_histogram(&r, "queueing.input", "server0.in", "grant_wait").max, 10, 80);
    run_until(&r, 0);
    assert_int_equal(rig_count(&r, "queueing.server", NULL, "served"), 4000);
    assert_int_equal(rig_count(&r, "queueing.server", NULL, "queued"), 0);
    assert_int_equal(rig_count(&r, "queueing.server", NULL, "busy_cycles"), 40000);
    rig_close(&r);
}

/* ------------------------------------------------------------------------------------------- conservation */

typedef struct traffic {
    uint64_t sent[64], delivered[64]; /* by domain: subscribers run on the domain's thread */
} traffic;

static void count_sent(void *self, const ls_hook_args *args)
{
    ((traffic *)self)->sent[ls_domain_id(args->domain)]++;
}

static void count_delivered(void *self, const ls_hook_args *args)
{
    ((traffic *)self)->delivered[ls_domain_id(args->domain)]++;
}

static uint64_t sum(const uint64_t *values, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += values[i];
    return total;
}

/* The engine's hooks are the second witness beside the blocks' own counters. Returns what is on the wires. */
static uint64_t check_balance(const rig *r, const traffic *t)
{
    uint64_t sent = rig_count(r, "queueing.output", NULL, "sent");
    uint64_t received = rig_count(r, "queueing.input", NULL, "received");
    uint64_t granted = rig_count(r, "queueing.input", NULL, "granted");
    assert_int_equal(sent, sum(t->sent, 64));
    assert_int_equal(received, sum(t->delivered, 64));
    assert_true(sent >= received);
    assert_int_equal(received, granted + rig_count(r, "queueing.input", NULL, "waiting"));

    uint64_t requests = rig_count(r, "queueing.client", NULL, "sent");
    uint64_t replies = rig_count(r, "queueing.client", NULL, "replies");
    assert_int_equal(requests, rig_count(r, "queueing.output", "client*", "sent"));
    assert_int_equal(replies, rig_count(r, "queueing.input", "client*", "granted"));
    assert_int_equal(requests, replies + rig_count(r, "queueing.client", NULL, "in_flight"));

    /* Requests inside servers: queued, or in one of the eight service units. */
    uint64_t served = rig_count(r, "queueing.server", NULL, "served");
    uint64_t inside = rig_count(r, "queueing.input", "server*", "granted") - served;
    uint64_t queued = rig_count(r, "queueing.server", NULL, "queued");
    assert_true(inside >= queued && inside <= queued + 8);
    assert_int_equal(served, rig_count(r, "queueing.output", "server*", "sent"));
    return sent - received;
}

static void test_conservation(void **state)
{
    (void)state;
    traffic t = { 0 };
    ls_error err;
    rig r = open_rig("busy.yaml", "client.messages=2000");
    must(ls_hook_subscribe(r.engine, "link.send", count_sent, &t, &err), &err);
    must(ls_hook_subscribe(r.engine, "link.deliver", count_delivered, &t, &err), &err);

    uint64_t most = 0;
    for (ls_time time = 1; time <= 20; time++) {
        must(ls_run(r.engine, &(ls_run_options){ .threads = 2, .until = time * 411111111 }, NULL, &err), &err);
        uint64_t on_the_wire = check_balance(&r, &t);
        most = on_the_wire > most ? on_the_wire : most;
    }
    assert_true(most > 100);

    must(ls_run(r.engine, &(ls_run_options){ .threads = 2 }, NULL, &err), &err);
    assert_int_equal(check_balance(&r, &t), 0);
    assert_int_equal(rig_count(&r, "queueing.client", NULL, "replies"), 16 * 2000);
    assert_int_equal(rig_count(&r, "queueing.client", NULL, "in_flight"), 0);
    assert_true(rig_count(&r, "queueing.output", NULL, "credit_stalls") > 0);
    assert_true(rig_count(&r, "queueing.output", NULL, "inject_stalls") > 0);
    assert_true(rig_count(&r, "queueing.input", NULL, "sink_stalls") > 0);

    /* Every credit is home. */
    uint32_t links = 0;
    for (uint32_t i = 0; i < ls_engine_block_count(r.engine); i++) {
        ls_block *block = ls_engine_block(r.engine, i);
        if (strcmp(ls_block_type_of(block)->slot, "queueing.output") != 0)
            continue;
        uint32_t total = strncmp(ls_block_name(block), "client", 6) == 0 ? 8 : 16;
        for (uint32_t d = 0; queueing_output_link(block, d); d++, links++)
            assert_int_equal(ls_link_credits(queueing_output_link(block, d)), total);
    }
    assert_int_equal(links, 2 * 16 * 8);
    rig_close(&r);
}

/* -------------------------------------------------------------------------------------------- determinism */

static uint64_t hash_of(const ls_run_options *options, ls_run_result *result)
{
    ls_error err;
    rig r = open_rig("busy.yaml", "client.messages=1000");
    must(ls_run(r.engine, options, result, &err), &err);
    assert_int_equal(rig_count(&r, "queueing.client", NULL, "replies"), 16000);
    uint64_t hash = hash_now(&r);
    rig_close(&r);
    return hash;
}

static void test_same_bits(void **state)
{
    (void)state;
    ls_run_result first, other;
    uint64_t hash = hash_of(&(ls_run_options){ .threads = 1 }, &first);
    static const ls_run_options all[] = {
        { .threads = 1 },
        { .threads = 2 },
        { .threads = 3 },
        { .threads = 5 },
        { .threads = 8 },
        { .threads = 1, .window_fs = 1 },
        { .threads = 2, .window_fs = 5000000 },
        { .threads = 2, .assignment = LS_ASSIGN_FIXED },
        { .threads = 3, .assignment = LS_ASSIGN_DYNAMIC },
        { .threads = 2, .assignment = LS_ASSIGN_SHUFFLED, .shuffle_seed = 1 },
        { .threads = 3, .assignment = LS_ASSIGN_SHUFFLED, .shuffle_seed = 2 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(all); i++) {
        assert_int_equal(hash_of(&all[i], &other), hash);
        assert_int_equal(other.events, first.events);
        assert_int_equal(other.messages, first.messages);
        assert_int_equal(other.ticks, first.ticks);
        assert_int_equal(other.region_cycles, first.region_cycles);
        assert_int_equal(other.end_time, first.end_time);
    }
}

static void test_hash_sees_a_difference(void **state)
{
    (void)state;
    rig a = open_rig("ping.yaml", ""), b = open_rig("ping.yaml", "server.service_cycles=18");
    assert_int_equal(hash_now(&a), hash_now(&b));
    run_until(&a, 0);
    run_until(&b, 0);
    assert_int_not_equal(hash_now(&a), hash_now(&b));
    rig_close(&a);
    rig_close(&b);
}

/* ----------------------------------------------------------------------------------------------- deadlock */

static void test_deadlock_is_named(void **state)
{
    (void)state;
    char first[4096] = "";
    for (uint32_t threads = 1; threads <= 3; threads++) {
        ls_error err;
        rig r = open_rig("deadlock.yaml", "");
        assert_int_equal(ls_run(r.engine, &(ls_run_options){ .threads = threads }, NULL, &err),
                         LS_ERR_DEADLOCK);
        assert_non_null(strstr(err.what, "; cycle: server0.in -> server0 -> server1.in -> server1 -> "
                                         "server2.in -> server2 -> server0.in"));
        const char *report = ls_engine_report(r.engine);
        assert_non_null(strstr(report,
                               "server0 -> server1.in (link 'ring:server0-server1': none of 1 credits is "
                               "home, the receiver holds 1)"));
        assert_non_null(strstr(report, "server1.in -> server1 (no room for the 4 waiting)"));
        if (threads == 1)
            snprintf(first, sizeof first, "%s", report);
        assert_string_equal(report, first);
        rig_close(&r);
    }
}

/* Without the ring, or with less in it than it holds, the same machine answers every request. */
static void test_no_deadlock(void **state)
{
    (void)state;
    static const char *const harmless[] = { "server.visits=1", "client.messages=1", "ring.credits=300" };
    for (size_t i = 0; i < LS_COUNT_OF(harmless); i++) {
        rig r = open_rig("deadlock.yaml", harmless[i]);
        run_until(&r, 0);
        uint64_t sent = rig_count(&r, "queueing.client", NULL, "sent");
        assert_int_equal(rig_count(&r, "queueing.client", NULL, "replies"), sent);
        assert_int_equal(rig_count(&r, "queueing.server", NULL, "served"), sent);
        uint64_t visits = i == 0 ? 0 : 2;
        assert_int_equal(rig_count(&r, "queueing.server", NULL, "forwarded"), visits * sent);
        rig_close(&r);
    }
}

/* Clients that wait for a reply say for which, and from whom. */
static void test_missing_reply_is_named(void **state)
{
    (void)state;
    ls_error err;
    rig r = open_rig("deadlock.yaml", "client.model=ping clients=12");
    assert_int_equal(ls_run(r.engine, NULL, NULL, &err), LS_ERR_DEADLOCK);
    const char *report = ls_engine_report(r.engine);
    assert_non_null(strstr(report, "client0 waits for server1: the reply to request 1\n"));
    assert_non_null(strstr(report, "client11 waits for server0: the reply to request 0\n"));
    rig_close(&r);
}

/* A run that is cut into pieces is the run. */
static void test_run_goes_on(void **state)
{
    (void)state;
    rig whole = open_rig("busy.yaml", "client.messages=200"),
        pieces = open_rig("busy.yaml", "client.messages=200");
    run_until(&whole, 0);
    for (ls_time time = 1; time <= 300; time++)
        run_until(&pieces, time * 3333333);
    assert_int_equal(rig_count(&pieces, "queueing.client", NULL, "in_flight") > 0, 1);
    run_until(&pieces, 0);
    assert_int_equal(hash_now(&pieces), hash_now(&whole));
    rig_close(&whole);
    rig_close(&pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_form),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_saturation_is_the_width),
        cmocka_unit_test(test_saturation_is_credits_per_round_trip),
        cmocka_unit_test(test_delivery_limit_is_shared_fairly),
        cmocka_unit_test(test_injection_limit),
        cmocka_unit_test(test_back_pressure),
        cmocka_unit_test(test_conservation),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_hash_sees_a_difference),
        cmocka_unit_test(test_deadlock_is_named),
        cmocka_unit_test(test_no_deadlock),
        cmocka_unit_test(test_missing_reply_is_named),
        cmocka_unit_test(test_run_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

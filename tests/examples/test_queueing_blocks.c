/* test_queueing_blocks.c: the parts of the queueing machine one by one (arbiters, pace, parameters), and
 * statistical properties: M/D/1 and M/M/1 waiting times, the arrival process and the choice of servers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "closed_form.h"
#include "queueing.h"
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOLDER LS_SOURCE_DIR "/examples/queueing"

static rig run_rig(const char *file, const char *sets)
{
    rig r;
    ls_error err;
    char text[512];
    if (rig_open(&r, FOLDER, file, sets, &err) || ls_run(r.engine, NULL, NULL, &err))
        fail_msg("%s", ls_error_text(&err, text, sizeof text));
    return r;
}

/* ---------------------------------------------------------------------------------------------- arbiters */

typedef struct arbiter {
    ls_engine *engine;
    const queueing_arbiter_ops *ops;
    void *state;
} arbiter;

static arbiter make_arbiter(const char *model)
{
    const ls_block_type *type = ls_registry_find_block("queueing.arbiter", model);
    assert_non_null(type);
    arbiter a = { .ops = type->ports[0].ops };
    ls_domain *domain;
    ls_block *block;
    ls_clock clock;
    assert_int_equal(ls_engine_create(1, &a.engine, NULL), LS_OK);
    assert_int_equal(ls_clock_init(&clock, (ls_ratio){ 1000000, 1 }, NULL), LS_OK);
    assert_int_equal(ls_domain_create(a.engine, "d", clock, &domain, NULL), LS_OK);
    assert_int_equal(ls_block_create(ls_domain_region(domain, 0), "a", type, NULL, &block, NULL), LS_OK);
    a.state = ls_block_state(block);
    return a;
}

static void test_round_robin(void **state)
{
    (void)state;
    static const ls_time born_fs[QUEUEING_MAX_PEERS];
    arbiter a = make_arbiter("round-robin");
    for (uint32_t turn = 0; turn < 6; turn++)
        assert_int_equal(a.ops->pick(a.state, 0x7, born_fs), turn % 3);
    assert_int_equal(a.ops->pick(a.state, 0x4, born_fs), 2);
    assert_int_equal(a.ops->pick(a.state, 0x4, born_fs), 2);
    assert_int_equal(a.ops->pick(a.state, UINT64_C(1) << 63 | 0x5, born_fs), 63);
    assert_int_equal(a.ops->pick(a.state, UINT64_C(1) << 63 | 0x5, born_fs), 0);
    assert_int_equal(a.ops->pick(a.state, UINT64_C(1) << 63 | 0x5, born_fs), 2);
    ls_engine_destroy(a.engine);
}

static void test_oldest(void **state)
{
    (void)state;
    ls_time born_fs[QUEUEING_MAX_PEERS] = { 50, 40, 40, 10 };
    born_fs[63] = 20;
    arbiter a = make_arbiter("oldest");
    assert_int_equal(a.ops->pick(a.state, 0xf, born_fs), 3);
    assert_int_equal(a.ops->pick(a.state, 0x7, born_fs), 1); /* of equals the first */
    assert_int_equal(a.ops->pick(a.state, UINT64_C(1) << 63 | 0x7, born_fs), 63);
    assert_int_equal(a.ops->pick(a.state, 0x1, born_fs), 0);
    ls_engine_destroy(a.engine);
}

/* -------------------------------------------------------------------------------------------------- pace */

/* Moves messages of `bytes` as fast as possible from cycle `now` on; returns how many fit into `cycles`. */
static uint64_t move(queueing_pace *pace, uint32_t bytes, ls_cycle now, uint64_t cycles)
{
    uint64_t count = 0;
    for (ls_cycle end = now + cycles; now < end; now++)
        if (queueing_pace_ready(pace, now)) {
            queueing_pace_take(pace, bytes, now);
            count++;
        }
    return count;
}

static void test_pace(void **state)
{
    (void)state;
    queueing_pace pace;
    assert_int_equal(queueing_pace_init(&pace, (ls_ratio){ 0, 1 }, NULL), LS_OK);
    assert_int_equal(move(&pace, 1000, 0, 100), 100); /* no width: one message per cycle */
    assert_int_equal(queueing_pace_init(&pace, (ls_ratio){ 96, 5 }, NULL), LS_OK);
    assert_int_equal(move(&pace, 32, 0, 5000), 3000);       /* 19.2 bytes per cycle */
    assert_int_equal(move(&pace, 32, 1000000, 5000), 3000); /* idle time earns nothing */
    assert_int_equal(queueing_pace_init(&pace, (ls_ratio){ 1, 3 }, NULL), LS_OK);
    assert_int_equal(move(&pace, 10, 0, 3000), 100);
    assert_int_equal(queueing_pace_init(&pace, (ls_ratio){ 64, 1 }, NULL), LS_OK);
    assert_int_equal(move(&pace, 32, 0, 100), 100); /* never two in one cycle */
    ls_error err;
    assert_int_equal(queueing_pace_init(&pace, (ls_ratio){ 1, UINT64_C(10000000000) }, &err), LS_ERR_INPUT);
}

/* -------------------------------------------------------------------------------------------- parameters */

static void test_errors_have_names(void **state)
{
    (void)state;
    static const struct {
        const char *file, *sets, *text;
    } wrong[] = {
        { "md1.yaml", "client.lod=0.1", "client.lod" },
        { "md1.yaml", "client.think_cycles=3", "client.think_cycles" }, /* ping's, not poisson's */
        { "md1.yaml", "clients=65", "clients" },
        { "md1.yaml", "server.model=fixd", "fixd" },
        { "md1.yaml", "request.inject_bytes_per_cycle=0.00000000001", "too many digits" },
        { "deadlock.yaml", "clients=64", "server1.in: more than 64 links" },
        { "ping.yaml", "clocks.client_mhz=1000 clocks.server_mhz=10", "link 'request:client0-server0'" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(wrong); i++) {
        rig r;
        ls_error err;
        char text[512];
        assert_int_not_equal(rig_open(&r, FOLDER, wrong[i].file, wrong[i].sets, &err), LS_OK);
        assert_non_null(strstr(ls_error_text(&err, text, sizeof text), wrong[i].text));
    }
}

/* -------------------------------------------------------------------------------------------- statistics */

static double mean(ls_histogram h)
{
    return (double)h.sum / (double)h.count;
}

static void test_md1_wait(void **state)
{
    (void)state;
    rig r = run_rig("md1.yaml", "");
    ls_histogram wait = rig_histogram(&r, "queueing.server", NULL, "wait");
    assert_int_equal(wait.count, 1000000);
    double exact = md1_wait(0.5) * 1000;
    assert_true(fabs(mean(wait) - exact) < 0.01 * exact);
    assert_int_equal(rig_count(&r, "queueing.server", NULL, "busy_cycles"), UINT64_C(1000000000));
    /* No wait at all with probability 1 - rho. */
    assert_true(fabs((double)wait.bucket[0] / 1e6 - 0.5) < 0.005);
    rig_close(&r);
}

static void test_mm1_wait(void **state)
{
    (void)state;
    rig r = run_rig("md1.yaml", "server.model=exponential");
    ls_histogram wait = rig_histogram(&r, "queueing.server", NULL, "wait");
    double exact = mm1_wait(0.5) * 1000;
    assert_int_equal(wait.count, 1000000);
    assert_true(fabs(mean(wait) - exact) < 0.02 * exact);
    assert_true(fabs((double)rig_count(&r, "queueing.server", NULL, "busy_cycles") / 1e9 - 1) < 0.005);
    rig_close(&r);
}

/* Every server gets its share, and requests leave soon after they are made although credits run out. */
static void test_poisson_client(void **state)
{
    (void)state;
    rig r = run_rig("md1.yaml", "clients=1 client.messages=160000 client.load=0.25 client.reply_bytes=32 "
                                "server.service_cycles=1 request.credits=4 request.latency_cycles=20");
    for (int i = 0; i < 16; i++) {
        char name[32];
        snprintf(name, sizeof name, "server%d", i);
        double share = (double)rig_count(&r, "queueing.server", name, "served");
        assert_true(fabs(share - 10000) < 400); /* four standard deviations */
    }
    ls_histogram source_wait = rig_histogram(&r, "queueing.client", NULL, "source_wait");
    ls_histogram response = rig_histogram(&r, "queueing.client", NULL, "response_fs");
    assert_int_equal(source_wait.count, 160000);
    assert_true(source_wait.max > 0 && mean(source_wait) < 1);
    assert_int_equal(response.count, 160000);
    assert_true(response.min >= 61000000); /* 20 out, 1 served, 40 back, at 1 ns */
    assert_int_equal(rig_count(&r, "queueing.client", NULL, "sent"), 160000);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_robin),    cmocka_unit_test(test_oldest),
        cmocka_unit_test(test_pace),           cmocka_unit_test(test_errors_have_names),
        cmocka_unit_test(test_md1_wait),       cmocka_unit_test(test_mm1_wait),
        cmocka_unit_test(test_poisson_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

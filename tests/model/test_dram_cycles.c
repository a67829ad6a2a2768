/* test_dram_cycles.c: random traffic: the model, which looks only where something can happen, and the naive
 * one, which looks everywhere, answer every request in the same cycle. */
#include "dram_naive.h"

#include "lockstep/random.h"

typedef struct pattern {
    uint64_t seed, period, share; /* room in `share` of 8 periods */
} pattern;

static bool pattern_room(const void *self, ls_cycle now)
{
    const pattern *p = self;
    uint64_t x = (now / p->period + p->seed) * UINT64_C(0x9e3779b97f4a7c15);
    return (x >> 61) < p->share;
}

static uint64_t below(ls_random *random, uint64_t bound)
{
    return ls_random_below(random, bound);
}

/* How close, how local, how many writes: drawn once per case. */
static void make_traffic(ls_random *random, rig_request *r, size_t count)
{
    static const uint64_t gaps[] = { 1, 2, 6, 20, 150 };
    uint64_t gap = gaps[below(random, LS_COUNT_OF(gaps))];
    uint64_t banks = UINT64_C(1) << below(random, 5), rows = 1 + below(random, 6), writes = below(random, 5);
    uint64_t pause = 20 + below(random, 200);
    ls_cycle at = below(random, 50);
    for (size_t i = 0; i < count; i++) {
        at += below(random, gap + 1);
        if (below(random, pause) == 0)
            at += below(random, 3000);
        r[i] = (rig_request){ .at = at,
                              .bank = (uint32_t)below(random, banks) * (banks < 16 ? 3 : 1),
                              .row = (uint32_t)below(random, rows),
                              .write = below(random, 8) < writes };
        r[i].atoms = (uint8_t)(r[i].write ? below(random, 5) : 0);
    }
}

static bank_spec make_spec(ls_random *random, uint32_t features)
{
    static const char *const timings[] = { "accelsim-gddr6", "accelsim-hbm2", "gddr5", "gddr5x",
                                           "gddr6",          "hbm",           "hbm2e", "hbm3" };
    bank_spec spec = rig_spec(timings[below(random, LS_COUNT_OF(timings))]);
    spec.command_bus = (uint32_t)below(random, 3);
    spec.group_bits = (uint32_t)below(random, 2);
    spec.queue_entries = below(random, 2) ? 64 : 1 + below(random, 12);
    spec.request_limit = NAIVE_REQUESTS;
    spec.turnaround = below(random, 6) != 0;
    if (features & 1 && below(random, 2)) {
        spec.refresh = true;
        spec.keys.refi = 700 + below(random, 900);
        spec.keys.rfc = 100 + below(random, 250);
    }
    if (features & 2)
        switch (below(random, 3)) {
        case 0:
            spec.scheduler = BANK_FCFS;
            break;
        case 1:
            spec.scheduler = BANK_FRFCFS_CAP;
            spec.scheduler_cap = 1 + below(random, 4);
            break;
        default:
            spec.write_queue_entries = 4 + below(random, 20);
            spec.write_high = 1 + below(random, spec.write_queue_entries);
            spec.write_low = 1 + below(random, spec.write_high);
            break;
        }
    if (features & 4)
        spec.front_latency_cycles = below(random, 2) ? below(random, 10) : below(random, 300);
    return spec;
}

#define REQUESTS 250u
static naive expected; /* too large for a stack */
static rig_request requests[REQUESTS];

/* block: the return queue is short and there is not always room above it. ask: a full queue refuses requests,
 * else they wait in front of it. */
static void compare(uint64_t seed, uint32_t features, bool block, bool ask)
{
    ls_random random;
    ls_random_init(&random, seed);
    bank_spec spec = make_spec(&random, features);
    pattern p = { .seed = seed, .period = 1 + below(&random, 40), .share = 1 + below(&random, 7) };
    if (block)
        spec.return_entries = 1 + below(&random, 20);
    make_traffic(&random, requests, REQUESTS);
    naive_run(&expected, &spec, requests, REQUESTS, block ? pattern_room : NULL, &p, ask);
    rig_driver driver = { .room = block ? pattern_room : NULL, .room_self = &p, .ask = ask, .force = !ask };
    ls_dram_counters n = rig_run_model("bank", &spec, driver, requests, REQUESTS);
    for (size_t i = 0; i < REQUESTS; i++)
        if (requests[i].done != expected.done[i] || requests[i].pushed != expected.pushed[i])
            fail_msg(
                "seed %llu: request %zu came in cycle %llu and was answered in %llu, expected %llu and %llu",
                (unsigned long long)seed, i, (unsigned long long)requests[i].pushed,
                (unsigned long long)requests[i].done, (unsigned long long)expected.pushed[i],
                (unsigned long long)expected.done[i]);
    assert_int_equal(n.activates, expected.activates);
    if (!spec.refresh) /* the effect of a last refresh may be invisible */
        assert_int_equal(n.precharges, expected.precharges);
    assert_int_equal(n.reads, expected.reads);
    assert_int_equal(n.writes, expected.writes);
    assert_int_equal(n.requests, REQUESTS);
    assert_int_equal(n.row_hits + n.row_misses + n.row_conflicts, REQUESTS);
    assert_int_equal(n.latency.count, REQUESTS);
}

#define CASES 8u

static void test_plain(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2 * CASES; seed++)
        compare(seed, 0, false, false);
}

static void test_refresh(void **state)
{
    (void)state;
    for (uint64_t seed = 1000; seed < 1000 + CASES; seed++)
        compare(seed, 1, false, false);
}

static void test_schedulers(void **state)
{
    (void)state;
    for (uint64_t seed = 2000; seed < 2000 + 2 * CASES; seed++)
        compare(seed, 2, false, false);
}

static void test_front(void **state)
{
    (void)state;
    for (uint64_t seed = 3000; seed < 3000 + CASES; seed++)
        compare(seed, 4, false, false);
}

static void test_no_room_above(void **state)
{
    (void)state;
    for (uint64_t seed = 4000; seed < 4000 + CASES; seed++)
        compare(seed, 0, true, false);
}

static void test_full_queue(void **state)
{
    (void)state;
    for (uint64_t seed = 5000; seed < 5000 + CASES; seed++)
        compare(seed, 0, false, true);
}

static void test_everything(void **state)
{
    (void)state;
    for (uint64_t seed = 6000; seed < 6000 + 2 * CASES; seed++)
        compare(seed, 7, true, false);
    for (uint64_t seed = 7000; seed < 7000 + 2 * CASES; seed++)
        compare(seed, 7, false, true);
}

/* Up to eight reads of a row at a time, and single requests. */
static void make_lines(ls_random *random, rig_request *r, size_t count)
{
    make_traffic(random, r, count);
    for (size_t i = 0; i < count; i++) {
        size_t several = r[i].write ? 1 : 1 + below(random, 8);
        several = several < count - i ? several : count - i;
        for (size_t k = 1; k < several; k++)
            r[i + k] = r[i];
        r[i].several = (uint8_t)(several > 1 ? several : 0);
        i += several - 1;
    }
    for (size_t i = 1; i < count; i++)
        r[i].at = r[i].at > r[i - 1].at ? r[i].at : r[i - 1].at;
}

static bool open_from(const void *self, ls_cycle now)
{
    return now >= *(const ls_cycle *)self;
}

/* With features of bank_spec that the naive model does not have. In most cases the columns of a request may be decided at
 * once. */
static bank_spec make_spec_of_several(ls_random *random, uint32_t features, bool ask)
{
    bank_spec spec = make_spec(random, features);
    if (below(random, 3) != 0) {
        spec.scheduler = BANK_FRFCFS;
        spec.command_bus = BANK_BUS_DUAL;
        spec.write_queue_entries = spec.write_high = spec.write_low = 0;
    }
    if (below(random, 3) == 0) {
        spec.refresh = true;
        spec.refresh_banks = BANK_REFRESH_ONE;
        spec.keys.refi = 2000;
        spec.keys.rfcb = 200;
    }
    if (below(random, 3) == 0)
        spec.return_entries = 1 + below(random, 20);
    if (below(random, 2) == 0) {
        spec.front_latency_cycles = below(random, 300);
        /* Half of these clocks come back to the phase of DRAM within a table of delays, the others never do. */
        spec.front_clock = ls_ratio_make(RIG_HZ / 1000 * (100 + below(random, 1900)) + below(random, 2), 1);
    }
    if (ask && below(random, 3) == 0)
        spec.request_limit = 20 + below(random, 100);
    if (!ask) {
        spec.queue_entries = REQUESTS;
        spec.write_queue_entries = spec.write_queue_entries != 0 ? REQUESTS : 0;
    }
    return spec;
}

/* Reads that are pushed together are served and counted as if they were pushed one by one, and answered with the last. The
 * counters are the same at any time. until: as rig_driver.until. */
static void compare_several(uint64_t seed, bool ask, ls_cycle until)
{
    static rig_request single[REQUESTS];
    ls_random random;
    ls_random_init(&random, seed);
    bank_spec spec = make_spec_of_several(&random, (uint32_t)below(&random, 8), ask);
    ls_cycle open_at = below(&random, 2) * below(&random, 3000);
    make_lines(&random, requests, REQUESTS);
    memcpy(single, requests, sizeof single);
    for (size_t i = 0; i < REQUESTS; i++)
        single[i].several = 0;
    rig_driver driver = { .room = open_from, .room_self = &open_at, .ask = ask, .until = until };
    ls_dram_counters n = rig_run_model("bank", &spec, driver, requests, REQUESTS);
    ls_dram_counters wanted = rig_run_model("bank", &spec, driver, single, REQUESTS);
    for (size_t i = 0; i < REQUESTS && until == 0; i += requests[i].taken) {
        const rig_request *last = &requests[i + requests[i].taken - 1], *as = &single[last - requests];
        if (last->done != as->done || last->pushed != as->pushed)
            fail_msg("seed %llu: request %zu was answered in cycle %llu, expected %llu",
                     (unsigned long long)seed, i, (unsigned long long)last->done,
                     (unsigned long long)as->done);
    }
    assert_memory_equal(&n, &wanted, sizeof n);
}

static void test_several(void **state)
{
    (void)state;
    for (uint64_t seed = 8000; seed < 8000 + 40 * CASES; seed++)
        compare_several(seed, seed % 3 != 0, 0);
    for (uint64_t seed = 9000; seed < 9000 + 8 * CASES; seed++)
        for (ls_cycle until = 150 + seed % 100; until < 700; until += 97)
            compare_several(seed, seed % 3 != 0, until);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),         cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_schedulers),    cmocka_unit_test(test_front),
        cmocka_unit_test(test_no_room_above), cmocka_unit_test(test_full_queue),
        cmocka_unit_test(test_everything),    cmocka_unit_test(test_several),
    };
    return cmocka_run_group_tests_name("dram_cycles", tests, NULL, NULL);
}

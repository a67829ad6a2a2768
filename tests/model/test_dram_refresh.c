/* test_dram_refresh.c: refreshes come when they are due and take exactly their cycles. The way of a request to
 * the queue takes its time in a clock of its own. */
#include "dram_rig.h"

static uint64_t max2(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static const char *const refreshed[] = { "gddr5", "gddr5x", "gddr6", "hbm", "hbm2", "hbm2e", "hbm3" };

static bank_spec refreshing(const char *timing)
{
    bank_spec spec = rig_spec(timing);
    spec.refresh = true;
    return spec;
}

/* Reads of one row without a pause over many refreshes: the recursion of the rules gives every read's
 * cycle. */
#define READS 5000u
static void test_a_stream_with_refreshes(void **state)
{
    (void)state;
    static rig_request r[READS];
    for (size_t m = 0; m < LS_COUNT_OF(refreshed); m++) {
        bank_spec spec = refreshing(refreshed[m]);
        spec.queue_entries = READS;
        dram_timing t = rig_times(&spec);
        uint64_t burst = t.burst / t.rate;
        for (uint32_t i = 0; i < READS; i++)
            r[i] = (rig_request){ .at = 10 + i, .bank = 6, .row = 3 };
        ls_dram_counters n = rig_run(&spec, r, READS);
        uint64_t act = 10 + RIG_ENTER, read = act + t.rcd, due = t.refi, count = 0, lost = 0;
        for (uint32_t i = 0; i < READS; i++) {
            assert_int_equal(r[i].done, read + t.cl + 1);
            uint64_t next = read + t.ccdl;
            if (next >= due) { /* the row is closed, everything is refreshed, the row is opened again */
                uint64_t pre = max2(max2(due, act + t.ras), read + max2(burst, t.rtpl));
                act = pre + t.rp + t.rfc;
                lost += act + t.rcd - next;
                next = act + t.rcd;
                due += t.refi;
                count += i + 1 < READS;
            }
            read = next;
        }
        assert_int_equal(n.refreshes, count);
        assert_true(count >= 1);
        assert_int_equal(n.activates, count + 1);
        assert_int_equal(n.precharges, count);
        /* The share of time: precharge, refresh and activate per interval. */
        assert_true(lost >= count * (t.rp + t.rfc + t.rcd - t.ccdl) &&
                    lost <= (count + 1) * (t.rp + t.rfc + t.rcd + t.ras));
    }
}

/* A single read long after the last request: rows were closed by a refresh, and those missed are counted. */
static void test_refreshes_of_idle_time(void **state)
{
    (void)state;
    for (size_t m = 0; m < LS_COUNT_OF(refreshed); m++) {
        bank_spec spec = refreshing(refreshed[m]);
        dram_timing t = rig_times(&spec);
        rig_request r[] = {
            { .at = 10, .bank = 1, .row = 1 },
            { .at = 20 * t.refi + t.refi / 2, .bank = 1, .row = 1 },    /* between two refreshes */
            { .at = 40 * t.refi + t.rfc / 2, .bank = 1, .row = 1 },     /* in the middle of one */
            { .at = 60 * t.refi - RIG_ENTER, .bank = 1, .row = 1 },     /* with one */
            { .at = 80 * t.refi - RIG_ENTER - 1, .bank = 1, .row = 1 }, /* the activate is just before it */
        };
        ls_dram_counters n = rig_run(&spec, r, LS_COUNT_OF(r));
        uint64_t latency = t.rcd + t.cl + 1;
        assert_int_equal(r[1].done, r[1].at + RIG_ENTER + latency);
        assert_int_equal(r[2].done, 40 * t.refi + t.rfc + latency);
        assert_int_equal(r[3].done, 60 * t.refi + t.rfc + latency);
        uint64_t act = 80 * t.refi - 1;
        assert_int_equal(r[4].done, act + t.ras + t.rp + t.rfc + latency); /* opened in vain */
        assert_int_equal(n.refreshes, 80);
        assert_int_equal(n.row_misses, 5);
    }
}

static void test_refresh_can_be_left_out(void **state)
{
    (void)state;
    bank_spec spec = rig_spec("hbm2");
    dram_timing t = rig_times(&spec);
    rig_request r[] = { { .at = 10, .bank = 1, .row = 1 }, { .at = 50 * t.refi, .bank = 1, .row = 1 } };
    ls_dram_counters n = rig_run(&spec, r, 2);
    assert_int_equal(n.refreshes, 0);
    assert_int_equal(n.row_hits, 1);
    /* A set without numbers for it does not refresh either. */
    spec = refreshing("accelsim-gddr6");
    n = rig_run(&spec, r, 2);
    assert_int_equal(n.refreshes, 0);
    assert_int_equal(n.row_hits, 1);
}

/* -------------------------------------------------------------------------------------------------- front */

/* Row hits, far apart: all that differs is when they leave the front. The edges of both clocks are counted:
 * edge k of the front clock is before edge d of the DRAM's if k / front < d / dram. */
static void front_case(uint64_t front_hz, uint64_t latency)
{
    bank_spec spec = rig_spec("hbm2");
    spec.front_latency_cycles = latency;
    spec.front_clock = ls_ratio_make(front_hz, 1);
    dram_timing t = rig_times(&spec);
    rig_request r[24] = { { .at = 3, .bank = 1 } };
    for (uint32_t i = 1; i < LS_COUNT_OF(r); i++)
        r[i] = (rig_request){ .at = r[i - 1].at + 2000 + i, .bank = 1 };
    rig_run(&spec, r, LS_COUNT_OF(r));
    for (uint32_t i = 1; i < LS_COUNT_OF(r); i++) {
        uint64_t stamp = r[i].at + 1, edge = 0;
        while (edge * RIG_HZ < stamp * front_hz)
            edge++; /* edges before it */
        uint64_t leave = stamp;
        while (edge + latency > 0 && (edge + latency - 1) * RIG_HZ >= leave * front_hz)
            leave++;
        assert_int_equal(r[i].done, leave + 1 + t.cl + 1);
    }
}

static void test_front_latency_in_another_clock(void **state)
{
    (void)state;
    static const uint64_t clocks[] = { 323381000, 1000000000, 500000000, 1331764706, 3000000000 };
    static const uint64_t latencies[] = { 0, 1, 2, 7, 100, 254 };
    for (size_t c = 0; c < LS_COUNT_OF(clocks); c++)
        for (size_t l = 0; l < LS_COUNT_OF(latencies); l++)
            front_case(clocks[c], latencies[l]);
}

static void test_front_latency_in_the_dram_clock(void **state)
{
    (void)state;
    bank_spec spec = rig_spec("hbm2");
    dram_timing t = rig_times(&spec);
    rig_request r[] = { { .at = 10, .bank = 1 } };
    rig_run(&spec, r, 1);
    uint64_t without = r[0].done;
    assert_int_equal(without, 10 + RIG_ENTER + t.rcd + t.cl + 1);
    spec.front_latency_cycles = 123;
    rig_run(&spec, r, 1);
    assert_int_equal(r[0].done, without + 123);
}

/* Reads of one row of bank 1 while the banks are refreshed one by one: only its own refreshes stop it. */
static void test_banks_refreshed_one_by_one(void **state)
{
    (void)state;
    static rig_request r[READS];
    for (size_t m = 0; m < LS_COUNT_OF(refreshed); m++) {
        bank_spec spec = refreshing(refreshed[m]);
        spec.refresh_banks = BANK_REFRESH_ONE;
        spec.queue_entries = READS;
        dram_timing t = rig_times(&spec);
        uint64_t burst = t.burst / t.rate, step = t.refi / t.banks;
        for (uint32_t i = 0; i < READS; i++)
            r[i] = (rig_request){ .at = 10 + i, .bank = 1, .row = 3 };
        ls_dram_counters n = rig_run(&spec, r, READS);
        uint64_t act = 10 + RIG_ENTER, read = act + t.rcd, due = t.refi + step, count = 0;
        for (uint32_t i = 0; i < READS; i++) {
            assert_int_equal(r[i].done, read + t.cl + 1);
            uint64_t next = read + t.ccdl;
            if (next >= due) {
                uint64_t pre = max2(max2(due, act + t.ras), read + max2(burst, t.rtpl));
                act = pre + t.rp + t.rfcb;
                next = act + t.rcd;
                due += t.banks * step;
                count += i + 1 < READS;
            }
            read = next;
        }
        assert_true(count >= 1);
        assert_int_equal(n.activates, count + 1);
        assert_int_equal(n.precharges, count);
        assert_true(n.refreshes >= (count - 1) * t.banks && n.refreshes <= (count + 1) * t.banks);
    }
}

/* After a long pause all banks are closed and every refresh of it is counted. */
static void test_one_by_one_over_idle_time(void **state)
{
    (void)state;
    bank_spec spec = refreshing("hbm2");
    spec.refresh_banks = BANK_REFRESH_ONE;
    dram_timing t = rig_times(&spec);
    uint64_t step = t.refi / t.banks, round = step * t.banks;
    rig_request r[] = {
        { .at = 10, .bank = 1, .row = 1 },
        { .at = t.refi + 100 * round + 9 * step + step / 2,
          .bank = 1,
          .row = 1 }, /* long after bank 1's turn */
    };
    ls_dram_counters n = rig_run(&spec, r, LS_COUNT_OF(r));
    assert_int_equal(r[1].done, r[1].at + RIG_ENTER + t.rcd + t.cl + 1);
    assert_int_equal(n.row_misses, 2);
    assert_int_equal(n.refreshes, 100 * t.banks + 10);
}

/* A channel at work has at most as many busy as active cycles; at rest the active ones are those from the
 * first push to the last answer. */
static void test_active_cycles(void **state)
{
    (void)state;
    static rig_request r[400];
    bank_spec spec = rig_spec("hbm2");
    spec.queue_entries = 400;
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++)
        r[i] = (rig_request){ .at = 10 + i, .bank = i / 16 % 16, .row = 1, .write = true };
    for (ls_cycle until = 50; until < 1500; until += 37) {
        ls_dram_counters n = rig_run_model("bank", &spec, (rig_driver){ .until = until }, r, LS_COUNT_OF(r));
        assert_true(n.busy_cycles <= n.active_cycles);
        assert_true(n.active_cycles <= until);
    }
    ls_dram_counters n = rig_run(&spec, r, LS_COUNT_OF(r));
    uint64_t last = 0;
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++)
        last = max2(last, r[i].done);
    assert_int_equal(n.active_cycles, last - 10);
    assert_true(n.busy_cycles * 10 > n.active_cycles * 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_with_refreshes),
        cmocka_unit_test(test_refreshes_of_idle_time),
        cmocka_unit_test(test_refresh_can_be_left_out),
        cmocka_unit_test(test_banks_refreshed_one_by_one),
        cmocka_unit_test(test_one_by_one_over_idle_time),
        cmocka_unit_test(test_active_cycles),
        cmocka_unit_test(test_front_latency_in_another_clock),
        cmocka_unit_test(test_front_latency_in_the_dram_clock),
    };
    return cmocka_run_group_tests_name("dram_refresh", tests, NULL, NULL);
}

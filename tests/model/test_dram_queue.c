/* test_dram_queue.c: which request is next: FR-FCFS and its bound, FIFO, writes that wait apart; effects of a
 * full queue and a full return queue. */
#include "dram_rig.h"

#define LONG 5000u

static bank_spec gddr6(void)
{
    return rig_spec("accelsim-gddr6");
}

/* --------------------------------------------------------------------------------------------- scheduling */

/* Row 1 is open. A request for row 2 comes first, then four for row 1: the hits overtake it. */
static void test_row_hits_go_first(void **state)
{
    (void)state;
    bank_spec spec = gddr6();
    rig_request r[] = {
        { .at = 10,
          .bank = 2,
          .row = 1,
          .write = true,
          .atoms = 4 }, /* keeps the bank while the others come */
        { .at = 11, .bank = 2, .row = 2 },
        { .at = 12, .bank = 2, .row = 1 },
        { .at = 13, .bank = 2, .row = 1 },
        { .at = 14, .bank = 2, .row = 3 },
        { .at = 15, .bank = 2, .row = 1 },
    };
    ls_dram_counters n = rig_run(&spec, r, LS_COUNT_OF(r));
    assert_true(r[0].done < r[2].done && r[2].done < r[3].done && r[3].done < r[5].done);
    assert_true(r[5].done < r[1].done && r[1].done < r[4].done);
    assert_int_equal(n.row_hits, 3);
    assert_int_equal(n.row_conflicts, 2);
    assert_int_equal(n.activates, 3);
    assert_int_equal(n.queue_peak, 5);
}

static void test_fcfs_keeps_the_order(void **state)
{
    (void)state;
    bank_spec spec = gddr6();
    spec.scheduler = BANK_FCFS;
    rig_request r[] = {
        { .at = 10, .bank = 2, .row = 1 },
        { .at = 11, .bank = 2, .row = 2 },
        { .at = 12, .bank = 2, .row = 1 },
        { .at = 13, .bank = 5, .row = 1 }, /* another bank, but after the others */
    };
    ls_dram_counters n = rig_run(&spec, r, LS_COUNT_OF(r));
    assert_true(r[0].done < r[1].done && r[1].done < r[2].done);
    assert_int_equal(n.row_conflicts, 2);
    /* Bank 5 is activated when the third request has got its bank, which is when the second has been read. */
    dram_timing t = rig_times(&spec);
    uint64_t second_read = r[1].done - 1 - t.cl;
    assert_int_equal(r[3].done, second_read + 2 + t.rcd + t.cl + 1);
}

/* Hits without end: a new one for the open row every ccdl cycles, and one request for another row that
 * waits. */
#define HITS 300u
static uint64_t wait_among_hits(uint64_t cap)
{
    static rig_request r[HITS + 1];
    bank_spec spec = gddr6();
    spec.scheduler = cap != 0 ? BANK_FRFCFS_CAP : BANK_FRFCFS;
    spec.scheduler_cap = cap;
    dram_timing t = rig_times(&spec);
    uint32_t stranger = 4;
    for (uint32_t i = 0, hit = 0; i <= HITS; i++) {
        r[i] = (rig_request){ .at = 10 + hit * t.ccdl, .bank = 1, .row = i == stranger ? 9 : 1 };
        hit += i != stranger;
    }
    rig_run(&spec, r, LS_COUNT_OF(r));
    uint32_t before = 0;
    for (uint32_t i = stranger + 1; i <= HITS; i++)
        before += r[i].done < r[stranger].done;
    return before;
}

static void test_hits_cannot_starve_others(void **state)
{
    (void)state;
    /* Without a bound every request for the row overtakes; with a bound, exactly that many do. Requests that
     * came before the stranger are served from the row while it waits, too. */
    assert_int_equal(wait_among_hits(0), HITS - 4);
    uint64_t before[] = { wait_among_hits(8), wait_among_hits(16), wait_among_hits(64) };
    assert_true(before[0] <= 8 && before[1] <= 16 && before[2] <= 64);
    assert_true(before[0] + 8 == before[1] && before[1] + 48 == before[2]);
}

/* --------------------------------------------------------------------------------- writes that wait apart */

static void test_writes_wait_for_their_time(void **state)
{
    (void)state;
    bank_spec spec = gddr6();
    spec.write_queue_entries = 8;
    spec.write_high = 6;
    spec.write_low = 2;
    rig_request r[64];
    uint32_t count = 0;
    /* Reads of bank 0 without a pause, and now and then a write to bank 1. */
    for (uint32_t i = 0; i < 40; i++) {
        r[count++] = (rig_request){ .at = 10 + 6 * i, .bank = 0 };
        if (i % 4 == 3 && i < 24)
            r[count++] = (rig_request){ .at = 10 + 6 * i, .bank = 1, .write = true };
    }
    rig_run(&spec, r, count);
    /* The sixth write comes in cycle 10 + 6 * 23 and starts the draining; none was done before. */
    uint32_t early = 0, drained = 0;
    ls_cycle last_read = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!r[i].write)
            last_read = r[i].done > last_read ? r[i].done : last_read;
    for (uint32_t i = 0; i < count; i++)
        if (r[i].write) {
            early += r[i].done < 10 + 6 * 23;
            drained += r[i].done < last_read;
        }
    assert_int_equal(early, 0);
    assert_int_equal(drained, 5); /* until fewer than two are left: the last waits for the reads to end */
}

static void test_writes_go_when_there_are_no_reads(void **state)
{
    (void)state;
    bank_spec spec = gddr6();
    spec.write_queue_entries = 64;
    spec.write_high = 60;
    spec.write_low = 30;
    dram_timing t = rig_times(&spec);
    rig_request r[] = { { .at = 10, .bank = 1, .write = true } };
    rig_run(&spec, r, 1);
    assert_int_equal(r[0].done, 10 + RIG_ENTER + t.rcdwr + t.wl);
}

/* ------------------------------------------------------------------------------------------------- limits */

/* All in one bank, another row each, one per cycle. One is served and four wait. Requests that came before the
 * fourth had joined the queue are on their way to it. The others come when the bank takes one of the four. */
static void test_full_queue(void **state)
{
    (void)state;
    bank_spec spec = gddr6();
    spec.queue_entries = 4;
    dram_timing t = rig_times(&spec);
    rig_request r[12];
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++)
        r[i] = (rig_request){ .at = 10 + i, .bank = 0, .row = i };
    ls_dram_counters n = rig_run_model("bank", &spec, (rig_driver){ .ask = true }, r, LS_COUNT_OF(r));
    assert_int_equal(n.queue_peak, 4);
    uint32_t at_once = 0;
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++)
        at_once += r[i].pushed == r[i].at;
    assert_int_equal(at_once, 1 + 4 + (RIG_ENTER - 1));
    assert_int_equal(r[at_once].pushed,
                     10 + RIG_ENTER + t.rcd + 1); /* the second is taken after the first read */
}

static void test_request_limit(void **state)
{
    (void)state;
    bank_spec spec = gddr6();
    spec.request_limit = 3;
    rig_request r[9];
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++)
        r[i] = (rig_request){ .at = 10, .bank = i };
    rig_run_model("bank", &spec, (rig_driver){ .ask = true }, r, LS_COUNT_OF(r));
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++) {
        uint32_t inside = 0; /* when it came */
        for (uint32_t other = 0; other < i; other++)
            inside += r[other].done > r[i].pushed;
        assert_true(inside < 3);
    }
}

static bool after_a_while(const void *self, ls_cycle now)
{
    return now >= *(const ls_cycle *)self;
}

/* No room above until LONG: reads fill the return queue and the pipe, then reading stops. Writes are not held
 * up before the pipe stalls. Then one read leaves per cycle. */
static void test_full_return_queue(void **state)
{
    (void)state;
    bank_spec spec = gddr6();
    spec.return_entries = 5;
    dram_timing t = rig_times(&spec);
    ls_cycle open_at = LONG;
    rig_request r[40];
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++)
        r[i] = (rig_request){ .at = 10 + i, .bank = i % 4, .write = i == 0 };
    ls_dram_counters n =
        rig_run_model("bank", &spec, (rig_driver){ .room = after_a_while, .room_self = &open_at }, r,
                      LS_COUNT_OF(r));
    assert_int_equal(r[0].done, 10 + RIG_ENTER + t.rcdwr + t.wl);
    for (uint32_t i = 0; i < 5; i++) /* those in the return queue, one per cycle */
        assert_true(r[1 + i].done >= LONG && r[1 + i].done < LONG + 40);
    uint32_t early = 0;
    for (uint32_t i = 1; i < LS_COUNT_OF(r); i++)
        early += r[i].done < LONG + 5;
    assert_int_equal(early, 5);
    assert_int_equal(n.reads, 39);
}

/* Every request is answered once and every atom counted, with any limits. */
static void test_conservation(void **state)
{
    (void)state;
    static rig_request r[3000];
    ls_random random;
    ls_random_init(&random, 42);
    bank_spec spec = gddr6();
    spec.queue_entries = 7;
    spec.return_entries = 3;
    uint64_t reads = 0, writes = 0;
    for (uint32_t i = 0; i < LS_COUNT_OF(r); i++) {
        r[i] = (rig_request){ .at = i,
                              .bank = (uint32_t)ls_random_below(&random, 16),
                              .row = (uint32_t)ls_random_below(&random, 3),
                              .write = ls_random_below(&random, 3) == 0,
                              .atoms = (uint8_t)(1 + ls_random_below(&random, 4)) };
        if (r[i].write)
            writes += r[i].atoms;
        else
            reads += r[i].atoms;
    }
    ls_dram_counters n = rig_run_model("bank", &spec, (rig_driver){ .ask = true }, r, LS_COUNT_OF(r));
    dram_timing t = rig_times(&spec);
    assert_int_equal(n.requests, LS_COUNT_OF(r));
    assert_int_equal(n.latency.count, LS_COUNT_OF(r));
    assert_int_equal(n.reads, reads);
    assert_int_equal(n.writes, writes);
    assert_int_equal(n.row_hits + n.row_misses + n.row_conflicts, LS_COUNT_OF(r));
    assert_int_equal(n.busy_cycles, (reads + writes) * t.burst / t.rate);
    assert_true(n.busy_cycles <= n.active_cycles);
    /* Each miss opens a row; each conflict closes one and opens one. */
    assert_int_equal(n.activates, n.row_misses + n.row_conflicts);
    assert_int_equal(n.precharges, n.row_conflicts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row_hits_go_first),
        cmocka_unit_test(test_fcfs_keeps_the_order),
        cmocka_unit_test(test_hits_cannot_starve_others),
        cmocka_unit_test(test_writes_wait_for_their_time),
        cmocka_unit_test(test_writes_go_when_there_are_no_reads),
        cmocka_unit_test(test_full_queue),
        cmocka_unit_test(test_request_limit),
        cmocka_unit_test(test_full_return_queue),
        cmocka_unit_test(test_conservation),
    };
    return cmocka_run_group_tests_name("dram_queue", tests, NULL, NULL);
}

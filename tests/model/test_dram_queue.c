/* test_dram_queue.c: which request is next: FR-FCFS and its bound, FIFO, writes that wait apart; effects of a
 * full queue and a full return queue. */
#include "dram_rig.h"

#include "lockstep/random.h"

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

/* --------------------------------------------------------------------------------------------- plug-ins */

static size_t one_word(uint32_t banks)
{
    (void)banks;
    return sizeof(uint64_t);
}

/* FR-FCFS: the first of the open row, else the first. */
static uint32_t open_row_first(void *state, const ls_dram_waiting *requests, uint32_t count)
{
    (void)state;
    for (uint32_t i = 0; i < count; i++)
        if (requests[i].row_hit)
            return i;
    return 0;
}

/* Reads before writes; whoever waited longest is first in the array. */
static uint32_t newest_read(void *state, const ls_dram_waiting *requests, uint32_t count)
{
    uint32_t best = count - 1;
    ++*(uint64_t *)state;
    for (uint32_t i = 1; i < count; i++)
        assert_true(requests[i].waited_cycles <= requests[i - 1].waited_cycles);
    while (best > 0 && requests[best].write)
        best--;
    return best;
}

static uint32_t nobody(void *state, const ls_dram_waiting *requests, uint32_t count)
{
    (void)state;
    (void)requests;
    return count;
}

#define SCHEDULER(variable_, name_, ...)                                                                      \
    static const ls_dram_scheduler_ops variable_##_ops = { __VA_ARGS__ };                                     \
    static const ls_port_decl variable_##_ports[] = {                                                         \
        { .name = LS_DRAM_SCHEDULER_PORT,                                                                     \
          .interface = LS_DRAM_SCHEDULER_INTERFACE,                                                           \
          .ops = &variable_##_ops },                                                                          \
    };                                                                                                        \
    static const ls_block_type variable_ = { .abi = LS_ABI_VERSION,                                           \
                                             .slot = LS_DRAM_SCHEDULER_SLOT,                                  \
                                             .name = name_,                                                   \
                                             .help = "for the test",                                          \
                                             .ports = variable_##_ports,                                      \
                                             .port_count = 1 };                                               \
    LS_REGISTER_BLOCK(variable_)

SCHEDULER(open_rows, "a-open-rows", .state_bytes = one_word, .choose = open_row_first);
SCHEDULER(newest, "b-newest", .state_bytes = one_word, .choose = newest_read);
SCHEDULER(nonsense, "c-nonsense", .state_bytes = one_word, .choose = nobody);
SCHEDULER(half, "d-half", .state_bytes = one_word);

/* One bank: there is no turn among banks, so a plug-in that does what the built-in one does has the same times. */
static void test_plugin_as_built_in(void **state)
{
    (void)state;
    bank_spec spec = gddr6(), own = spec;
    rig_request r[200] = { 0 }, p[200];
    ls_random random;
    uint64_t at = 10;
    own.scheduler = BANK_SCHEDULERS;
    ls_random_init(&random, 7);
    for (size_t i = 0; i < LS_COUNT_OF(r); i++) {
        r[i] = (rig_request){ .at = at,
                              .bank = 3,
                              .row = (uint32_t)ls_random_below(&random, 4),
                              .write = ls_random_below(&random, 4) == 0,
                              .atoms = (uint8_t)(1 + ls_random_below(&random, 4)) };
        at += ls_random_below(&random, 30);
    }
    memcpy(p, r, sizeof p);
    ls_dram_counters n = rig_run_model("bank", &spec, (rig_driver){ .ask = true }, r, LS_COUNT_OF(r));
    ls_dram_counters m = rig_run_model("bank", &own, (rig_driver){ .ask = true }, p, LS_COUNT_OF(p));
    for (size_t i = 0; i < LS_COUNT_OF(r); i++)
        assert_int_equal(r[i].done, p[i].done);
    assert_memory_equal(&n, &m, sizeof n);
}

/* While bank 2 is busy, requests of two banks wait. The plug-in chooses the newest read whose bank is free. */
static void test_plugin_chooses(void **state)
{
    (void)state;
    bank_spec spec = gddr6();
    spec.scheduler = BANK_SCHEDULERS + 1;
    rig_request r[] = {
        { .at = 10, .bank = 2, .row = 1, .write = true, .atoms = 4 },
        { .at = 11, .bank = 2, .row = 1 },
        { .at = 12, .bank = 2, .row = 2 },
        { .at = 13, .bank = 2, .row = 3 },
        { .at = 14, .bank = 2, .row = 1, .write = true },
        { .at = 15, .bank = 5, .row = 9 }, /* its bank is free: it waits for nobody */
    };
    ls_dram_counters n = rig_run(&spec, r, LS_COUNT_OF(r));
    assert_true(r[5].done < r[3].done && r[3].done < r[2].done && r[2].done < r[1].done);
    assert_true(r[1].done < r[4].done);
    assert_int_equal(n.requests, LS_COUNT_OF(r));
}

/* Many requests for few banks: a plug-in never sees one whose bank is busy, so each is served once, after it came. */
static void test_plugin_sees_free_banks(void **state)
{
    (void)state;
    bank_spec spec = gddr6();
    rig_request r[300] = { 0 };
    ls_random random;
    spec.scheduler = BANK_SCHEDULERS + 1;
    ls_random_init(&random, 11);
    for (size_t i = 0; i < LS_COUNT_OF(r); i++)
        r[i] = (rig_request){ .at = 10 + 3 * i,
                              .bank = (uint32_t)ls_random_below(&random, 3),
                              .row = (uint32_t)ls_random_below(&random, 5),
                              .atoms = (uint8_t)(1 + ls_random_below(&random, 4)) };
    ls_dram_counters n = rig_run_model("bank", &spec, (rig_driver){ .ask = true }, r, LS_COUNT_OF(r));
    for (size_t i = 0; i < LS_COUNT_OF(r); i++)
        assert_true(r[i].done > r[i].at);
    assert_int_equal(n.requests, LS_COUNT_OF(r));
}

static ls_status try_scheduler(uint32_t scheduler, ls_error *err)
{
    ls_engine *engine;
    ls_domain *domain;
    ls_block *dram = NULL, *driver = NULL;
    ls_clock clock;
    bank_spec spec = gddr6();
    rig_request r[] = { { .at = 10, .bank = 2, .row = 1 } };
    spec.scheduler = scheduler;
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(RIG_HZ, 1), NULL), LS_OK);
    assert_int_equal(ls_engine_create(1, &engine, NULL), LS_OK);
    assert_int_equal(ls_domain_create(engine, "channel", clock, &domain, NULL), LS_OK);
    ls_region *region = ls_domain_region(domain, 0);
    ls_status status =
        ls_block_create(region, "dram", ls_registry_find_block("dram", "bank"), &spec, &dram, err);
    if (status == LS_OK) {
        assert_int_equal(ls_block_create(region, "driver", &rig_driver_type, NULL, &driver, NULL), LS_OK);
        assert_int_equal(ls_block_connect(driver, "dram", dram, "dram", NULL), LS_OK);
        assert_int_equal(ls_block_connect(dram, "reply", driver, "reply", NULL), LS_OK);
        rig_driver *d = ls_block_state(driver);
        d->region = d->channel_region = region;
        d->requests = r;
        d->count = 1;
        r[0].done = LS_CYCLE_MAX;
        ls_event_init(&d->event, rig_push, d);
        ls_schedule_at(region, &d->event, 10);
        status = ls_run(engine, NULL, NULL, err);
    }
    ls_engine_destroy(engine);
    return status;
}

static void test_plugin_that_errs(void **state)
{
    (void)state;
    ls_error err;
    assert_int_equal(try_scheduler(BANK_SCHEDULERS + 2, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, "channel: DRAM scheduler 'c-nonsense' chose a request that is not there");
    assert_int_equal(try_scheduler(BANK_SCHEDULERS + 3, &err), LS_ERR_UNSUPPORTED);
    assert_string_equal(err.what, "dram: DRAM scheduler 'd-half' leaves out the function 'choose'");
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
        cmocka_unit_test(test_plugin_as_built_in),
        cmocka_unit_test(test_plugin_chooses),
        cmocka_unit_test(test_plugin_sees_free_banks),
        cmocka_unit_test(test_plugin_that_errs),
    };
    return cmocka_run_group_tests_name("dram_queue", tests, NULL, NULL);
}

/* test_dram_bank.c: one or a few requests on an otherwise idle channel: the cost of each timing rule is the
 * closed form of its numbers, for every memory, to the cycle. */
#include "dram_rig.h"

/* Long enough for every rule to have run out. */
#define LONG 5000u

/* Runs a body for each timing set: `spec` without refresh, `t` its numbers, `burst` the data's cycles. */
typedef void (*each_fn)(const bank_spec *spec, const dram_timing *t, uint64_t burst);

static void for_each_memory(each_fn body)
{
    for (uint32_t i = 0; strcmp(dram_timing_names[i], "custom") != 0; i++)
        for (uint32_t bus = BANK_BUS_SINGLE; bus <= BANK_BUS_ACCELSIM; bus++) {
            bank_spec spec = rig_spec(dram_timing_names[i]);
            spec.command_bus = bus;
            dram_timing t = rig_times(&spec);
            body(&spec, &t, t.burst / t.rate);
        }
}

static uint64_t max2(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The cycle of the column command that an answer belongs to. */
static uint64_t column_of(const rig_request *r, const dram_timing *t)
{
    return r->write ? r->done - t->wl : r->done - 1 - t->cl;
}

/* -------------------------------------------------------------------------------------------- one request */

static void idle_latencies(const bank_spec *spec, const dram_timing *t, uint64_t burst)
{
    (void)burst;
    rig_request r[] = {
        { .at = 10, .bank = 3, .row = 7 },                           /* bank closed */
        { .at = 10 + LONG, .bank = 3, .row = 7 },                    /* row open */
        { .at = 10 + 2 * LONG, .bank = 3, .row = 8 },                /* other row open */
        { .at = 10 + 3 * LONG, .bank = 3, .row = 8, .write = true }, /* the same for writes */
        { .at = 10 + 4 * LONG, .bank = 3, .row = 9, .write = true },
        { .at = 10 + 5 * LONG, .bank = 5, .row = 9, .write = true },
    };
    ls_dram_counters n = rig_run(spec, r, LS_COUNT_OF(r));
    assert_int_equal(r[0].done - r[0].at, RIG_ENTER + t->rcd + t->cl + 1);
    assert_int_equal(r[1].done - r[1].at, RIG_ENTER + t->cl + 1);
    assert_int_equal(r[2].done - r[2].at, RIG_ENTER + t->rp + t->rcd + t->cl + 1);
    assert_int_equal(r[3].done - r[3].at, RIG_ENTER + t->wl);
    assert_int_equal(r[4].done - r[4].at, RIG_ENTER + t->rp + t->rcdwr + t->wl);
    assert_int_equal(r[5].done - r[5].at, RIG_ENTER + t->rcdwr + t->wl);
    assert_int_equal(n.requests, 6);
    assert_int_equal(n.reads, 3);
    assert_int_equal(n.writes, 3);
    assert_int_equal(n.row_hits, 2);
    assert_int_equal(n.row_misses, 2);
    assert_int_equal(n.row_conflicts, 2);
    assert_int_equal(n.activates, 4);
    assert_int_equal(n.precharges, 2);
    assert_int_equal(n.latency.count, 6);
    assert_int_equal(n.latency.max, RIG_ENTER + t->rp + t->rcd + t->cl + 1);
    uint64_t active = 0;
    for (size_t i = 0; i < LS_COUNT_OF(r); i++)
        active += r[i].done - r[i].at;
    assert_int_equal(n.active_cycles, active);
    assert_int_equal(n.busy_cycles, 6 * t->ccd);
    assert_int_equal(n.latency.sum, active);
    assert_int_equal(n.queue_peak, 1);
}

static void test_idle_latencies(void **state)
{
    (void)state;
    for_each_memory(idle_latencies);
}

/* A request of n atoms: n column commands, one answer after the last. */
static void atoms(const bank_spec *spec, const dram_timing *t, uint64_t burst)
{
    (void)burst;
    rig_request r[] = {
        { .at = 10, .bank = 1, .row = 2, .write = true, .atoms = 4 },
        { .at = 10 + LONG, .bank = 1, .row = 2, .atoms = 3 },
    };
    ls_dram_counters n = rig_run(spec, r, LS_COUNT_OF(r));
    assert_int_equal(r[0].done - r[0].at, RIG_ENTER + t->rcdwr + 3 * t->ccdl + t->wl);
    assert_int_equal(r[1].done - r[1].at, RIG_ENTER + 2 * t->ccdl + t->cl + 1);
    assert_int_equal(n.requests, 2);
    assert_int_equal(n.writes, 4);
    assert_int_equal(n.reads, 3);
    assert_int_equal(n.busy_cycles, 7 * t->ccd);
}

static void test_atoms(void **state)
{
    (void)state;
    for_each_memory(atoms);
}

/* ------------------------------------------------------------------------------------- rows and activates */

/* Two rows of one bank in turn: ACT, READ, PRE, ACT, READ as early as all rules together allow. */
static void row_cycle(const bank_spec *spec, const dram_timing *t, uint64_t burst)
{
    rig_request r[] = { { .at = 10, .bank = 4, .row = 1 }, { .at = 11, .bank = 4, .row = 2 } };
    rig_run(spec, r, 2);
    uint64_t act = 10 + RIG_ENTER, read = act + t->rcd;
    uint64_t pre = max2(max2(act + t->ras, read + 1), read + max2(burst, t->rtpl));
    uint64_t act2 = max2(pre + t->rp, act + t->rc);
    assert_int_equal(r[0].done, read + t->cl + 1);
    assert_int_equal(r[1].done, act2 + t->rcd + t->cl + 1);

    /* The same with a write first: precharge waits for the data to be written. */
    rig_request w[] = { { .at = 10, .bank = 4, .row = 1, .write = true }, { .at = 11, .bank = 4, .row = 2 } };
    rig_run(spec, w, 2);
    uint64_t write = act + t->rcdwr;
    pre = max2(act + t->ras, write + t->wl + burst + t->wr);
    act2 = max2(pre + t->rp, act + t->rc);
    assert_int_equal(w[0].done, write + t->wl);
    assert_int_equal(w[1].done, max2(act2 + t->rcd, write + t->wl + burst + t->cdlrl) + t->cl + 1);
}

static void test_row_cycle(void **state)
{
    (void)state;
    for_each_memory(row_cycle);
}

/* Closed banks in sequence: groups are the low bits, so banks 0 to 3 are in four groups and 0 and 4 in one. */
static void activate_spacing(const bank_spec *spec, const dram_timing *t, uint64_t burst)
{
    (void)burst;
    rig_request other[] = { { .at = 10, .bank = 0 }, { .at = 10, .bank = 1 } };
    rig_run(spec, other, 2);
    uint64_t first = 10 + RIG_ENTER + t->rcd;
    assert_int_equal(column_of(&other[0], t), first);
    assert_int_equal(column_of(&other[1], t), first + max2(t->rrd, t->ccd));

    rig_request same[] = { { .at = 10, .bank = 0 }, { .at = 10, .bank = 4 } };
    rig_run(spec, same, 2);
    assert_int_equal(column_of(&same[1], t) - column_of(&same[0], t), max2(t->rrdl, t->ccdl));

    /* The fifth waits for the window of the first to end. With one bus, reads would stand in the way. */
    if (spec->command_bus != BANK_BUS_DUAL)
        return;
    rig_request five[] = {
        { .at = 10, .bank = 0 }, { .at = 10, .bank = 1 }, { .at = 10, .bank = 2 },
        { .at = 10, .bank = 3 }, { .at = 10, .bank = 4 },
    };
    ls_dram_counters n = rig_run(spec, five, 5);
    assert_int_equal(n.activates, 5);
    uint64_t column[5]; /* in the order of time: banks come by turns */
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t at = i;
        for (; at > 0 && column[at - 1] > column_of(&five[i], t); at--)
            column[at] = column[at - 1];
        column[at] = column_of(&five[i], t);
    }
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(column[i], first + i * t->rrd);
    assert_int_equal(column[4], first + max2(4 * t->rrd, t->faw));
}

static void test_activate_spacing(void **state)
{
    (void)state;
    for_each_memory(activate_spacing);
}

/* ------------------------------------------------------------------------------------------------ columns */

/* Opens one row in each of two banks, then pushes one request to each, the second in the cycle after the
 * first. */
static uint64_t column_distance(const bank_spec *spec, const dram_timing *t, uint32_t one, uint32_t other,
                                bool first_writes, bool second_writes)
{
    rig_request r[] = {
        { .at = 10, .bank = one },
        { .at = 10, .bank = other },
        { .at = 10 + LONG, .bank = one, .write = first_writes },
        { .at = 11 + LONG, .bank = other, .write = second_writes },
    };
    rig_run(spec, r, 4);
    assert_int_equal(column_of(&r[2], t), r[2].at + RIG_ENTER);
    return column_of(&r[3], t) - column_of(&r[2], t);
}

static void column_spacing(const bank_spec *spec, const dram_timing *t, uint64_t burst)
{
    enum { READ, WRITE };
    /* Banks 0 and 1: two groups. Banks 0 and 4: one group. */
    assert_int_equal(column_distance(spec, t, 0, 1, READ, READ), t->ccd);
    assert_int_equal(column_distance(spec, t, 0, 1, WRITE, WRITE), t->ccd);
    assert_int_equal(column_distance(spec, t, 0, 4, READ, READ), t->ccdl);
    assert_int_equal(column_distance(spec, t, 0, 4, WRITE, WRITE), t->ccdl);
    /* The bus turns: the last data of a read leaves it two cycles before the first of a write enters. */
    uint64_t rtw = t->cl + burst + 2 - t->wl;
    assert_int_equal(column_distance(spec, t, 0, 1, READ, WRITE), max2(rtw, t->ccd));
    assert_int_equal(column_distance(spec, t, 0, 4, READ, WRITE), max2(rtw, t->ccdl));
    assert_int_equal(column_distance(spec, t, 0, 1, WRITE, READ), t->wl + burst + t->cdlr);
    assert_int_equal(column_distance(spec, t, 0, 4, WRITE, READ), t->wl + burst + t->cdlrl);

    bank_spec free_turn = *spec;
    free_turn.turnaround = false;
    assert_int_equal(column_distance(&free_turn, t, 0, 1, WRITE, READ), t->ccd);
    /* Data stays in order: the write's follows that of the read through the pipe. */
    assert_int_equal(column_distance(&free_turn, t, 0, 1, READ, WRITE) + t->wl,
                     max2(t->cl + 1, t->ccd + t->wl));

    /* With the group in the high bits banks 0 and 1 share it, 0 and 4 do not. */
    bank_spec high = *spec;
    high.group_bits = BANK_GROUP_HIGH;
    assert_int_equal(column_distance(&high, t, 0, 1, READ, READ), t->ccdl);
    assert_int_equal(column_distance(&high, t, 0, 4, READ, READ), t->ccd);
}

static void test_column_spacing(void **state)
{
    (void)state;
    for_each_memory(column_spacing);
}

/* A long stream over open rows of all groups: one burst follows the other, the bus is never idle. */
#define STREAM 400u
static void peak_bandwidth(const bank_spec *spec, const dram_timing *t, uint64_t burst)
{
    static rig_request r[4 + 2 * STREAM];
    bank_spec roomy = *spec;
    roomy.queue_entries = 4 * STREAM;
    assert_int_equal(burst, t->ccd);
    for (uint32_t i = 0; i < 4; i++)
        r[i] = (rig_request){ .at = 10, .bank = i };
    for (uint32_t i = 0; i < STREAM; i++) /* all groups by turns */
        r[4 + i] = (rig_request){ .at = LONG + i, .bank = i % 4 };
    for (uint32_t i = 0; i < STREAM; i++) /* one bank alone */
        r[4 + STREAM + i] = (rig_request){ .at = 2 * LONG + i, .bank = 0 };
    ls_dram_counters n = rig_run(&roomy, r, LS_COUNT_OF(r));
    assert_int_equal(n.row_hits, 2 * STREAM);
    assert_int_equal(r[4 + STREAM - 1].done - r[4].done, (STREAM - 1) * t->ccd);
    assert_int_equal(r[4 + 2 * STREAM - 1].done - r[4 + STREAM].done, (STREAM - 1) * t->ccdl);
    assert_int_equal(n.busy_cycles, (4 + 2 * STREAM) * burst);
}

static void test_peak_bandwidth(void **state)
{
    (void)state;
    for_each_memory(peak_bandwidth);
}

/* --------------------------------------------------------------------------------------------- commands */

/* Two banks take requests in neighbouring cycles so that a row command and a column command are ready in
 * one cycle. */
static uint64_t collision(uint32_t bus, uint32_t row_bank, uint32_t column_bank, uint64_t *row_done)
{
    bank_spec spec = rig_spec("accelsim-gddr6");
    spec.command_bus = bus;
    dram_timing t = rig_times(&spec);
    /* The read of bank `column_bank` waits ccd cycles after another read; bank `row_bank` becomes ready in
     * between. */
    rig_request r[] = {
        { .at = 10, .bank = column_bank },
        { .at = 200, .bank = 15 },
        { .at = LONG, .bank = 15 },              /* read in LONG + 2 */
        { .at = LONG + 1, .bank = column_bank }, /* ready in LONG + 3, may go in LONG + 6 */
        { .at = LONG + 4, .bank = row_bank },    /* activate may go in LONG + 6 */
    };
    rig_run(&spec, r, LS_COUNT_OF(r));
    *row_done = r[4].done - t.cl - 1 - t.rcd - LONG; /* cycle of the activate */
    return column_of(&r[3], &t) - LONG;
}

static void test_one_bus_or_two(void **state)
{
    (void)state;
    uint64_t activate;
    /* With two buses both leave in cycle 6. */
    assert_int_equal(collision(BANK_BUS_DUAL, 4, 9, &activate), 6);
    assert_int_equal(activate, 6);
    assert_int_equal(collision(BANK_BUS_DUAL, 9, 4, &activate), 6);
    assert_int_equal(activate, 6);
    /* With one bus the first bank in turn sends. The turn is at bank 3: after bank 15 following its row
     * command, and one further for each of three requests taken. So bank 4 is before bank 9. */
    assert_int_equal(collision(BANK_BUS_SINGLE, 4, 9, &activate), 7);
    assert_int_equal(activate, 6);
    assert_int_equal(collision(BANK_BUS_SINGLE, 9, 4, &activate), 6);
    assert_int_equal(activate, 7);
    /* As in Accel-Sim, a column command may follow the row command in the same cycle. But the bank after that
     * of the row command is skipped, and one more for each bank before it. */
    assert_int_equal(collision(BANK_BUS_ACCELSIM, 4, 9, &activate), 6);
    assert_int_equal(activate, 6);
    assert_int_equal(collision(BANK_BUS_ACCELSIM, 4, 6, &activate), 7);
    assert_int_equal(activate, 6);
    assert_int_equal(collision(BANK_BUS_ACCELSIM, 9, 4, &activate), 6);
    assert_int_equal(activate, 7);
}

/* --------------------------------------------------------------------------------------------------- bank */

static void test_bank_hash(void **state)
{
    (void)state;
    /* Rows 0 and 1 of bank 0: with a hash they are in two banks, so the second is no conflict. */
    static const uint32_t hashes[] = { BANK_HASH_NONE, BANK_HASH_XOR, BANK_HASH_IPOLY };
    for (size_t i = 0; i < LS_COUNT_OF(hashes); i++) {
        bank_spec spec = rig_spec("gddr6");
        spec.hash = hashes[i];
        rig_request r[] = { { .at = 10, .row = 0 }, { .at = LONG, .row = 1 } };
        ls_dram_counters n = rig_run(&spec, r, 2);
        assert_int_equal(n.row_conflicts, hashes[i] == BANK_HASH_NONE ? 1 : 0);
        assert_int_equal(n.row_misses, hashes[i] == BANK_HASH_NONE ? 1 : 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_latencies), cmocka_unit_test(test_atoms),
        cmocka_unit_test(test_row_cycle),      cmocka_unit_test(test_activate_spacing),
        cmocka_unit_test(test_column_spacing), cmocka_unit_test(test_peak_bandwidth),
        cmocka_unit_test(test_one_bus_or_two), cmocka_unit_test(test_bank_hash),
    };
    return cmocka_run_group_tests_name("dram_bank", tests, NULL, NULL);
}

/* test_dram_timing.c: the table of timing sets says what memories can do, and keys of a platform file go
 * before it. */
#include "dram_rig.h"

static void test_sets_have_names_and_sources(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        "gddr5", "gddr5x", "gddr6", "gddr6x", "hbm", "hbm2", "hbm2e", "hbm3"
    };
    for (size_t i = 0; i < LS_COUNT_OF(wanted); i++)
        assert_non_null(dram_timing_of(rig_timing(wanted[i])));
    uint32_t count = 0;
    for (; dram_timing_names[count] != NULL; count++) {
        assert_string_equal(dram_timing_of(count)->name, dram_timing_names[count]);
        assert_true(strlen(dram_timing_of(count)->source) > 0);
    }
    assert_string_equal(dram_timing_names[count - 1], "custom");
    assert_null(dram_timing_of(count));
}

/* Bits per second and pin, and bytes per second of a channel, follow from the numbers. */
static void test_peak_bandwidth_is_that_of_the_memory(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t mbit_per_pin, mbyte_per_channel;
    } known[] = {
        { "gddr5", 6000, 24000 },         { "gddr5x", 12000, 24000 }, { "gddr6", 14000, 28000 },
        { "gddr6x", 19000, 38000 },       { "hbm", 1000, 16000 },     { "hbm2", 2000, 16000 },
        { "hbm2e", 2400, 19200 },         { "hbm3", 6400, 25600 },    { "accelsim-gddr6", 14002, 28004 },
        { "accelsim-hbm2", 1700, 27200 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(known); i++) {
        const dram_timing_set *set = dram_timing_of(rig_timing(known[i].name));
        const dram_timing *t = &set->timing;
        assert_int_equal(t->bus_bytes * t->burst, LS_DRAM_ATOM_BYTES);
        assert_int_equal(t->burst / t->rate, t->ccd); /* back to back bursts fill the bus */
        double mbit = set->clock_mhz * (double)t->rate;
        assert_int_equal((uint64_t)(mbit + 0.5), known[i].mbit_per_pin);
        assert_int_equal((uint64_t)(mbit * (double)t->bus_bytes + 0.5), known[i].mbyte_per_channel);
    }
}

static void test_numbers_are_plausible(void **state)
{
    (void)state;
    for (uint32_t i = 0; strcmp(dram_timing_names[i], "custom") != 0; i++) {
        dram_timing t = dram_timing_resolve(i, &(dram_timing){ 0 });
        assert_true(t.banks == 16 && t.groups == 4);
        assert_true(t.rc >= t.ras && t.rc <= t.ras + t.rp + 1); /* sources round each for itself */
        assert_true(t.rcdwr < t.rcd && t.rcdwr > 0);
        assert_true(t.wl < t.cl);
        assert_true(t.ccdl >= t.ccd && t.rrdl >= t.rrd && t.cdlrl >= t.cdlr);
        assert_true(t.faw == 0 || t.faw >= 3 * t.rrd);
        assert_true(t.refi == 0 || t.refi > 10 * t.rfc);
    }
}

static void test_keys_go_before_the_set(void **state)
{
    (void)state;
    uint32_t gddr6 = rig_timing("gddr6"), custom = rig_timing("custom");
    dram_timing t = dram_timing_resolve(gddr6, &(dram_timing){ .cl = 31, .rrd = 20 });
    assert_int_equal(t.cl, 31);
    assert_int_equal(t.rrd, 20);
    assert_int_equal(t.rrdl, 20); /* not below rrd */
    assert_int_equal(t.rcd, 27);
    assert_int_equal(t.rc, 79);

    /* Values that follow from others. */
    t = dram_timing_resolve(custom,
                            &(dram_timing){ .ccd = 4, .rcd = 24, .ras = 55, .rp = 24, .wl = 8, .cdlr = 10 });
    assert_int_equal(t.groups, 1);
    assert_int_equal(t.ccdl, 4);
    assert_int_equal(t.cdlrl, 10);
    assert_int_equal(t.rc, 79);
    assert_int_equal(t.rcdwr, 24 - 9);
    assert_int_equal(t.faw, 0);
    assert_int_equal(t.refi, 0);
    t = dram_timing_resolve(custom, &(dram_timing){ .rcd = 4, .wl = 8 });
    assert_int_equal(t.rcdwr, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_have_names_and_sources),
        cmocka_unit_test(test_peak_bandwidth_is_that_of_the_memory),
        cmocka_unit_test(test_numbers_are_plausible),
        cmocka_unit_test(test_keys_go_before_the_set),
    };
    return cmocka_run_group_tests_name("dram_timing", tests, NULL, NULL);
}

/* test_dram_setup.c: valid parameters of a DRAM channel, and the errors for nonsense. */
#include "dram_rig.h"

static void expect_error(const bank_spec *spec, ls_status status, const char *part)
{
    ls_engine *engine = NULL;
    ls_domain *domain = NULL;
    ls_block *dram = NULL;
    ls_clock clock;
    ls_error err = { 0 };
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(RIG_HZ, 1), NULL), LS_OK);
    assert_int_equal(ls_engine_create(1, &engine, NULL), LS_OK);
    assert_int_equal(ls_domain_create(engine, "channel", clock, &domain, NULL), LS_OK);
    ls_status result = ls_block_create(ls_domain_region(domain, 0), "mem7",
                                       ls_registry_find_block("dram", "bank"), spec, &dram, &err);
    ls_engine_destroy(engine);
    assert_int_equal(result, status);
    if (strstr(err.what, part) == NULL || strncmp(err.what, "mem7: ", 6) != 0)
        fail_msg("'%s' does not say '%s'", err.what, part);
}

static const dram_timing whole = {
    .banks = 16,
    .groups = 4,
    .bus_bytes = 2,
    .burst = 16,
    .rate = 4,
    .ccd = 4,
    .ccdl = 6,
    .rrd = 12,
    .rcd = 24,
    .ras = 55,
    .rp = 24,
    .rc = 78,
    .cl = 24,
    .wl = 8,
    .cdlr = 10,
    .wr = 24,
    .rtpl = 4,
};

/* A custom set with the numbers of a named one is the named one. */
static void test_custom_equals_named(void **state)
{
    (void)state;
    bank_spec named = rig_spec("accelsim-gddr6"), custom = rig_spec("custom");
    custom.keys = whole;
    static rig_request a[200], b[200];
    for (uint32_t i = 0; i < LS_COUNT_OF(a); i++)
        a[i] = b[i] = (rig_request){ .at = 5 * i, .bank = i * 7 % 16, .row = i / 16 % 3, .write = i % 5 == 0 };
    ls_dram_counters first = rig_run(&named, a, LS_COUNT_OF(a)), second = rig_run(&custom, b, LS_COUNT_OF(b));
    for (uint32_t i = 0; i < LS_COUNT_OF(a); i++)
        assert_int_equal(a[i].done, b[i].done);
    assert_memory_equal(&first, &second, sizeof first);
}

static void test_custom_needs_its_numbers(void **state)
{
    (void)state;
    bank_spec spec = rig_spec("custom");
    expect_error(&spec, LS_ERR_INPUT, "with timing 'custom' the key 'banks' needs a value");
    spec.keys = whole;
    spec.keys.cl = 0;
    expect_error(&spec, LS_ERR_INPUT, "'cl_cycles' needs a value");
    spec.keys = whole;
    spec.keys.rate = 0;
    expect_error(&spec, LS_ERR_INPUT, "'data_rate' needs a value");
}

static void test_shapes(void **state)
{
    (void)state;
    bank_spec spec = rig_spec("gddr6");
    spec.keys.banks = 12;
    expect_error(&spec, LS_ERR_INPUT, "banks is 12, it must be a power of two");
    spec = rig_spec("gddr6");
    spec.keys.groups = 3;
    expect_error(&spec, LS_ERR_INPUT, "bank_groups is 3");
    spec.keys.banks = 4;
    spec.keys.groups = 8;
    expect_error(&spec, LS_ERR_INPUT, "not more than the 4 banks");
    spec = rig_spec("gddr6");
    spec.keys.burst = 8;
    expect_error(&spec, LS_ERR_INPUT,
                 "bus_bytes 2 * burst_length 8 is 16 bytes per column command, it must be 32");
    spec = rig_spec("gddr6");
    spec.refresh = true;
    spec.keys.rfc = 4000;
    expect_error(&spec, LS_ERR_INPUT, "refi_cycles is 3333, but a refresh takes rp + rfc = 4027 cycles");
    spec = rig_spec("gddr6");
    spec.keys.banks = 8;
    spec.hash = BANK_HASH_IPOLY;
    expect_error(&spec, LS_ERR_UNSUPPORTED, "bank_hash 'ipoly' needs 16, 32 or 64 banks, not 8");
}

static void test_queues(void **state)
{
    (void)state;
    bank_spec spec = rig_spec("gddr6");
    spec.write_high = 3;
    expect_error(&spec, LS_ERR_INPUT, "need write_queue_entries");
    spec = rig_spec("gddr6");
    spec.write_queue_entries = 16;
    spec.write_high = 4;
    spec.write_low = 5;
    expect_error(&spec, LS_ERR_INPUT,
                 "write_queue_low 5, write_queue_high 4 and write_queue_entries 16 must ascend");
    spec.write_high = 20;
    expect_error(&spec, LS_ERR_INPUT, "must ascend");
    spec = rig_spec("gddr6");
    spec.scheduler = BANK_FCFS;
    spec.write_queue_entries = 16;
    expect_error(&spec, LS_ERR_UNSUPPORTED, "scheduler 'fcfs' has no write queue");
}

/* Tables that the platform reader relies on. */
static void test_tables(void **state)
{
    (void)state;
    static const char *const models[] = { "bank", "fixed" };
    for (size_t m = 0; m < LS_COUNT_OF(models); m++) {
        const ls_block_type *type = ls_registry_find_block("dram", models[m]);
        assert_non_null(type);
        for (size_t i = 0; i < type->param_count; i++) {
            const ls_param *p = &type->params[i];
            assert_non_null(p->default_text);
            assert_true(p->offset < type->spec_size);
            assert_true(strlen(p->help) > 0 && p->help[strlen(p->help) - 1] != '.');
            for (size_t other = 0; other < i; other++) {
                assert_string_not_equal(type->params[other].name, p->name);
                assert_true(type->params[other].offset != p->offset);
            }
        }
        for (size_t i = 0; i < type->metric_count; i++)
            for (size_t other = 0; other < i; other++)
                assert_string_not_equal(type->metrics[other].name, type->metrics[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_custom_equals_named),
        cmocka_unit_test(test_custom_needs_its_numbers),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_queues),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests_name("dram_setup", tests, NULL, NULL);
}

/* test_config.c: the contents of a resolved configuration: values, types, origins, inheritance, text, hash. */
#include "platform/load.h"
#include "platform/tiny.h"

static bool same_hash(const platform_config *a, const platform_config *b)
{
    return hash_same(config_hash_of(a), config_hash_of(b));
}

static platform_config *load_path(const char *platform, const char *set)
{
    const char *sets[] = { set, NULL };
    config_request request = { .platform = platform, .sets = sets, .set_count = set ? 1 : 0 };
    platform_config *config;
    ls_error error = { .status = LS_OK };
    char line[1024];
    if (config_load(&request, &config, NULL, &error) != LS_OK)
        fail_msg("%s", ls_error_text(&error, line, sizeof line));
    return config;
}

static void test_defaults_in_schema_order(void **state)
{
    (void)state;
    platform_config *config = load_text(TINY_MINIMAL, NULL);
    assert_string_equal(config_yaml(config), "machine: tiny\n"
                                             "sms: 4\n"
                                             "clock.core_mhz: 1365\n"
                                             "scale: 1.5\n"
                                             "label: \"none\"\n"
                                             "ways: [1, 2, 4]\n"
                                             "dram.model: bank\n"
                                             "dram.tRCD: 12\n"
                                             "dram.banks: 16\n"
                                             "dram.policy: open\n"
                                             "core.l1.model: cycle\n"
                                             "core.l1.size_kib: 64\n"
                                             "core.l1.write_back: true\n"
                                             "net.model: ideal\n");
    assert_int_equal(config_value_count(config), 13);
    assert_string_equal(config_name(config), "t");
    assert_string_equal(config_title(config), "");
    assert_ptr_equal(config_machine(config), &tiny_machine);
    assert_ptr_equal(config_model(config, "dram"), &tiny_dram_bank);
    assert_ptr_equal(config_model(config, "net"), &tiny_net_ideal);
    assert_null(config_model(config, "dramm"));
    assert_null(config_find(config, "dram.latency_cycles"));
    config_destroy(config);
}

static void test_values_are_typed_and_exact(void **state)
{
    (void)state;
    platform_config *config =
        load_text(TINY_MINIMAL "clock.core_mhz: 3500.5\n"
                               "scale: -2.5e-1\n"
                               "label: \"a \\\"b\\\"\"\n"
                               "ways: [0x10, 1_000, 0]\n"
                               "dram: {model: fixed, latency_cycles: 0x1F, bandwidth_gbps: 19.25}\n"
                               "core.l1.write_back: false\n",
                  NULL);
    tiny_spec spec;
    assert_int_equal(config_spec(config, NULL, &spec, sizeof spec, NULL), LS_OK);
    assert_int_equal(spec.sms, 4);
    assert_int_equal(spec.core_clock.num, 3500500000);
    assert_int_equal(spec.core_clock.den, 1);
    assert_true(spec.scale == -0.25);
    assert_string_equal(spec.label, "a \"b\"");
    assert_int_equal(spec.ways.count, 3);
    assert_int_equal(spec.ways.at[0], 16);
    assert_int_equal(spec.ways.at[1], 1000);
    assert_int_equal(spec.ways.at[2], 0);

    tiny_fixed dram;
    assert_int_equal(config_spec(config, "dram", &dram, sizeof dram, NULL), LS_OK);
    assert_int_equal(dram.latency_cycles, 31);
    assert_int_equal(dram.bandwidth.num, 77);
    assert_int_equal(dram.bandwidth.den, 4);
    tiny_cache cache;
    assert_int_equal(config_spec(config, "core.l1", &cache, sizeof cache, NULL), LS_OK);
    assert_int_equal(cache.size_kib, 64);
    assert_false(cache.write_back);

    value_is(config, "clock.core_mhz", "3500.5");
    value_is(config, "scale", "-0.25");
    value_is(config, "ways", "[16, 1000, 0]");
    value_is(config, "dram.latency_cycles", "31");
    config_destroy(config);
}

static void test_choices_and_zeros(void **state)
{
    (void)state;
    static const char *const names[] = { "open", "closed", "adaptive" };
    for (uint32_t i = 0; i < LS_COUNT_OF(names); i++) {
        char set[40];
        snprintf(set, sizeof set, "dram.policy=%s", names[i]);
        const char *sets[] = { set, "scale=-0.0", NULL };
        platform_config *config = load_text(TINY_MINIMAL, sets);
        tiny_bank dram;
        assert_int_equal(config_spec(config, "dram", &dram, sizeof dram, NULL), LS_OK);
        assert_int_equal(dram.policy, i);
        value_is(config, "dram.policy", names[i]);
        value_is(config, "scale", "0"); /* equal values are written alike */
        config_destroy(config);
    }
}

static void test_odd_frequencies_stay_exact(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        uint64_t num, den;
    } cases[] = { { "clock.core_mhz=0.001", 1000, 1 },
                  { "clock.core_mhz=1000000", 1000000000000, 1 },
                  { "clock.core_mhz=1365.0000000", 1365000000, 1 },
                  { "clock.core_mhz=1365.123456789012", 341280864197253, 250000 },
                  { "clock.core_mhz=0.00100000000001", 100000000001, 100000000 } };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        const char *sets[] = { cases[i].set, NULL };
        platform_config *config = load_text(TINY_MINIMAL, sets);
        tiny_spec spec;
        assert_int_equal(config_spec(config, NULL, &spec, sizeof spec, NULL), LS_OK);
        assert_int_equal(spec.core_clock.num, cases[i].num);
        assert_int_equal(spec.core_clock.den, cases[i].den);
        config_destroy(config);
    }
}

static void test_spec_refuses_wrong_questions(void **state)
{
    (void)state;
    platform_config *config = load_text(TINY_MINIMAL, NULL);
    tiny_bank dram;
    ls_error error;
    char line[512];
    assert_int_equal(config_spec(config, "drom", &dram, sizeof dram, &error), LS_ERR_INTERNAL);
    assert_string_equal(ls_error_text(&error, line, sizeof line),
                        "machine 'tiny' has no section 'drom' (nearest: dram)");
    assert_int_equal(config_spec(config, "dram", &dram, 1, &error), LS_ERR_INTERNAL);
    config_destroy(config);
}

static void test_nested_equals_dotted(void **state)
{
    (void)state;
    platform_config *nested = load_text("machine: tiny\nsms: 4\nnet: {model: ideal}\n"
                                        "core: {l1: {size_kib: 32, write_back: false}}\n",
                                        NULL);
    platform_config *dotted =
        load_text("core.l1.write_back: false\ncore.l1.size_kib: 32\n" TINY_MINIMAL, NULL);
    assert_string_equal(config_yaml(nested), config_yaml(dotted));
    assert_true(same_hash(nested, dotted));
    config_destroy(nested);
    config_destroy(dotted);
}

static void test_hash_is_of_values_only(void **state)
{
    (void)state;
    platform_config *plain = load_text(TINY_MINIMAL, NULL);
    static const char *const alike[] = {
        "# a comment\n" TINY_MINIMAL,
        "title: Tiny\nsource: nobody\n" TINY_MINIMAL,
        "machine: tiny\nsms: 0x4 # a source\nnet.model: \"ideal\"\n",
        TINY_MINIMAL "core.l1.size_kib: 64\n", /* the default, written explicitly */
        TINY_MINIMAL "scale: 1.50\nclock.core_mhz: 1365.0\n",
    };
    for (size_t i = 0; i < LS_COUNT_OF(alike); i++) {
        platform_config *other = load_text(alike[i], NULL);
        assert_true(same_hash(plain, other));
        config_destroy(other);
    }
    static const char *const sets[][2] = { { "sms=4", NULL }, { "sms=5", NULL }, { "label=none ", NULL } };
    for (size_t i = 0; i < LS_COUNT_OF(sets); i++) {
        platform_config *other = load_text(TINY_MINIMAL, sets[i]);
        assert_int_equal(same_hash(plain, other), i == 0);
        config_destroy(other);
    }
    /* Fixed for all hosts and versions, as long as the tiny machine stays as it is. */
    char text[LS_HASH_TEXT_BYTES];
    hash128_text(config_hash_of(plain), text);
    assert_string_equal(text, "c5b09c1a556d7d3775ec52c45a5f1eb3");
    config_destroy(plain);
}

static void test_canonical_text_is_a_platform_file(void **state)
{
    (void)state;
    platform_config *config =
        load_text(TINY_MINIMAL "label: \"odd: # \\u2028 'x' \\n\"\nways: []\nscale: 1e-300\n"
                               "dram: {model: hbm}\n",
                  NULL);
    platform_config *again = load_text(config_yaml(config), NULL);
    assert_string_equal(config_yaml(config), config_yaml(again));
    assert_true(same_hash(config, again));
    value_is(again, "label", "odd: # \xe2\x80\xa8 'x' \n");
    config_destroy(config);
    config_destroy(again);
}

static void test_sets_override(void **state)
{
    (void)state;
    const char *sets[] = {
        "sms=8", "dram=fixed", "dram.latency_cycles=7", "ways=3,5", "label=", "sms=9", NULL
    };
    platform_config *config = load_text(TINY_MINIMAL, sets);
    value_is(config, "sms", "9");
    value_is(config, "ways", "[3, 5]");
    value_is(config, "label", "");
    value_is(config, "dram.latency_cycles", "7");
    const config_value *sms = config_find(config, "sms");
    assert_int_equal(sms->origin_count, 3);
    origin_is(&sms->origins[0], "--set", "9");
    origin_is(&sms->origins[1], "--set", "8");
    origin_is(&sms->origins[2], "t.yaml:2", "4");
    config_destroy(config);
    static const char *const lists[] = { "ways=[]", "ways=[ 3 , 5 ]", "ways=7" };
    static const char *const expected[] = { "[]", "[3, 5]", "[7]" };
    for (size_t i = 0; i < LS_COUNT_OF(lists); i++) {
        const char *one[] = { lists[i], NULL };
        config = load_text(TINY_MINIMAL, one);
        value_is(config, "ways", expected[i]);
        config_destroy(config);
    }
}

static void test_inheritance_and_history(void **state)
{
    (void)state;
    write_file("family.yaml",
               "title: Family\nmachine: tiny\nsms: 1  # whitepaper\nnet.model: ideal\nscale: 3\n");
    write_file("middle.yaml", "base: family\nsms: 2 # measured\ncore: {l1: {size_kib: 8}}\n");
    write_file("leaf.yaml", "title: Leaf\nsource: datasheet\nbase: ./middle.yaml\nsms: 3\n");
    platform_config *config = load_path("leaf.yaml", "sms=5");
    value_is(config, "sms", "5");
    value_is(config, "scale", "3");
    value_is(config, "core.l1.size_kib", "8");
    const config_value *sms = config_find(config, "sms");
    assert_int_equal(sms->origin_count, 4);
    origin_is(&sms->origins[0], "--set", "5");
    origin_is(&sms->origins[1], "leaf.yaml:4", "3");
    origin_is(&sms->origins[2], "./middle.yaml:2", "2");
    origin_is(&sms->origins[3], "family.yaml:3", "1");
    assert_string_equal(sms->origins[2].comment, "measured");
    assert_string_equal(sms->origins[3].comment, "whitepaper");
    const config_value *scale = config_find(config, "scale");
    assert_int_equal(scale->origin_count, 2);
    origin_is(&scale->origins[1], "default", "1.5");
    assert_string_equal(config_title(config), "Leaf");
    assert_string_equal(config_source(config), "datasheet");
    assert_string_equal(config_file(config, 2), "family.yaml");
    assert_null(config_file(config, 3));
    config_destroy(config);
    config = load_path("./middle.yaml", NULL);
    assert_string_equal(config_title(config), ""); /* a title is not inherited */
    config_destroy(config);
}

static void test_base_may_serve_several_models(void **state)
{
    (void)state;
    write_file("family.yaml",
               TINY_MINIMAL "dram: {model: bank, tRCD: 14, latency_cycles: 100, channels: 4}\n");
    write_file("leaf.yaml", "base: family\ndram: fixed\n");
    platform_config *config = load_path("leaf.yaml", NULL);
    value_is(config, "dram.latency_cycles", "100");
    assert_null(config_find(config, "dram.tRCD"));
    assert_int_equal(config_dropped_count(config), 2);
    const config_drop *drop = config_dropped(config, 0);
    assert_string_equal(drop->key->path, "dram.tRCD");
    assert_ptr_equal(drop->key->model, &tiny_dram_bank);
    origin_is(&drop->origin, "family.yaml:4", "14");
    config_destroy(config);
}

static void test_set_model_drops_the_files_keys(void **state)
{
    (void)state;
    const char *sets[] = { "dram.model=hbm", NULL };
    platform_config *config = load_text(TINY_MINIMAL "dram: {model: bank, tRCD: 14, banks: 8}\n", sets);
    value_is(config, "dram.tRCD", "14"); /* both models know it */
    assert_null(config_find(config, "dram.banks"));
    assert_int_equal(config_dropped_count(config), 1);
    assert_string_equal(config_dropped(config, 0)->key->path, "dram.banks");
    config_destroy(config);
}

static void test_search_order(void **state)
{
    test_dir *dir = *state;
    char variable[256];
    assert_int_equal(system("mkdir -p one two platforms given"), 0);
    static const char *const dirs[] = { "platforms", "two", "one", "given" };
    for (size_t i = 0; i < LS_COUNT_OF(dirs); i++) {
        char path[64], text[128];
        snprintf(path, sizeof path, "%s/p.yaml", dirs[i]);
        snprintf(text, sizeof text, TINY_MINIMAL "label: %s\n", dirs[i]);
        write_file(path, text);
    }
    snprintf(variable, sizeof variable, "%s/one::%s/two", dir->path, dir->path);
    const char *given[] = { "given" };
    config_request request = { .platform = "p", .platform_dirs = given, .platform_dir_count = 1 };
    static const char *const expected[] = { "given", "one", "two", "platforms" };
    for (size_t i = 0; i < LS_COUNT_OF(expected); i++) {
        setenv("LOCKSTEP_PLATFORM_PATH", variable, 1);
        platform_config *config;
        assert_int_equal(config_load(&request, &config, NULL, NULL), LS_OK);
        value_is(config, "label", expected[i]);
        assert_string_equal(config_name(config), "p");
        config_destroy(config);
        char path[64];
        snprintf(path, sizeof path, "%s/p.yaml", expected[i]);
        assert_int_equal(unlink(path), 0);
    }
    unsetenv("LOCKSTEP_PLATFORM_PATH");
}

int main(void)
{
#define IN_DIR(name) cmocka_unit_test_setup_teardown(name, test_dir_enter, test_dir_leave)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_in_schema_order),
        cmocka_unit_test(test_values_are_typed_and_exact),
        cmocka_unit_test(test_choices_and_zeros),
        cmocka_unit_test(test_odd_frequencies_stay_exact),
        cmocka_unit_test(test_spec_refuses_wrong_questions),
        cmocka_unit_test(test_nested_equals_dotted),
        cmocka_unit_test(test_hash_is_of_values_only),
        cmocka_unit_test(test_canonical_text_is_a_platform_file),
        cmocka_unit_test(test_sets_override),
        IN_DIR(test_inheritance_and_history),
        IN_DIR(test_base_may_serve_several_models),
        cmocka_unit_test(test_set_model_drops_the_files_keys),
        IN_DIR(test_search_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

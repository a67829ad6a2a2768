/* test_errors.c: every way in which a platform can be wrong, with its exact error line. */
#include "platform/load.h"
#include "platform/tiny.h"

#include <sys/stat.h>

static void expect_path_error(const char *platform, ls_status expected_status, const char *expected)
{
    config_request request = { .platform = platform };
    platform_config *config;
    ls_error error;
    char line[1024];
    ls_status status = config_load(&request, &config, NULL, &error);
    assert_string_equal(ls_error_text(&error, line, sizeof line), expected);
    assert_int_equal(status, expected_status);
    assert_int_equal(ls_status_exit_code(status), 2);
    assert_null(config);
}

static void test_unknown_keys(void **state)
{
    (void)state;
    expect_error(TINY_MINIMAL "core: {l1: {size_kb: 3}}\n",
                 "t.yaml:4:13: unknown key 'core.l1.size_kb' for machine 'tiny' (nearest: core.l1.size_kib)");
    expect_error(TINY_MINIMAL "size_kib: 3\n",
                 "t.yaml:4:1: unknown key 'size_kib' for machine 'tiny' (nearest: core.l1.size_kib)");
    expect_error(TINY_MINIMAL "tilte: x\n",
                 "t.yaml:4:1: unknown key 'tilte' for machine 'tiny' (nearest: title)");
    expect_error(TINY_MINIMAL "zzzzzzzzzzzz: x\n",
                 "t.yaml:4:1: unknown key 'zzzzzzzzzzzz' for machine 'tiny'");
    expect_error(TINY_MINIMAL "dram: 3\n",
                 "t.yaml:4:7: 'dram.model' is '3', but must be one of bank, fixed, hbm");
    expect_error(TINY_MINIMAL "core: 3\n",
                 "t.yaml:4:1: 'core' is a section, not a value (nearest: core.l1.model)");
    expect_error(TINY_MINIMAL "scale: {x: 3}\n",
                 "t.yaml:4:9: 'scale' is a value, so there is no key 'scale.x'");
    expect_error(TINY_MINIMAL "core:\n", "t.yaml:4:6: 'core' has no value");
    expect_error(TINY_MINIMAL "sms.a: 1\nmachine.x: 2\n",
                 "t.yaml:4:1: 'sms' is a value, so there is no key 'sms.a'");
}

static void test_wrong_types(void **state)
{
    (void)state;
    expect_error(
        TINY_MINIMAL "core.l1.size_kib: big\n",
        "t.yaml:4:19: 'core.l1.size_kib': 'big' is not a whole number: unexpected 'b' at character 1");
    expect_error(
        TINY_MINIMAL "core.l1.size_kib: 6.5\n",
        "t.yaml:4:19: 'core.l1.size_kib': '6.5' is not a whole number: unexpected '.' at character 2");
    expect_error(TINY_MINIMAL "core.l1.size_kib: -1\n",
                 "t.yaml:4:19: 'core.l1.size_kib': '-1' must not be negative");
    expect_error(TINY_MINIMAL "core.l1.size_kib: 99999999999999999999\n",
                 "t.yaml:4:19: 'core.l1.size_kib': '99999999999999999999' is too large: the largest number is "
                 "18446744073709551615");
    expect_error(TINY_MINIMAL "core.l1.size_kib: \"64\"\n",
                 "t.yaml:4:19: 'core.l1.size_kib' needs a whole number without quotes, got \"64\"");
    expect_error(TINY_MINIMAL "core.l1.size_kib: [64]\n",
                 "t.yaml:4:20: 'core.l1.size_kib' needs a whole number, got a list");
    expect_error(TINY_MINIMAL "core.l1.write_back: yes\n",
                 "t.yaml:4:21: 'core.l1.write_back': 'yes' is neither true nor false (nearest: true)");
    expect_error(TINY_MINIMAL "scale: fast\n",
                 "t.yaml:4:8: 'scale': 'fast' is not a number: unexpected 'f' at character 1");
    expect_error(TINY_MINIMAL "clock: {core_mhz: 1365 MHz}\n",
                 "t.yaml:4:19: 'clock.core_mhz': '1365 MHz' is not a number: unexpected ' ' at character 5");
    expect_error(TINY_MINIMAL "ways: 4\n",
                 "t.yaml:4:7: 'ways' needs a list of whole numbers such as [1, 2], got '4'");
    expect_error(TINY_MINIMAL "ways: [1,\n  x]\n",
                 "t.yaml:5:3: 'ways': 'x' is not a whole number: unexpected 'x' at character 1");
    expect_error(TINY_MINIMAL "title: [a]\n", "t.yaml:4:1: 'title' needs a text, got a list");
}

static void test_ranges(void **state)
{
    (void)state;
    expect_error(TINY_MINIMAL "core.l1.size_kib: 0\n",
                 "t.yaml:4:19: 'core.l1.size_kib' is 0, but must be from 1 to 65536 KiB");
    expect_error(TINY_MINIMAL "scale: -10.5\n", "t.yaml:4:8: 'scale' is -10.5, but must be from -10 to 10");
    expect_error(TINY_MINIMAL "clock.core_mhz: 0\n",
                 "t.yaml:4:17: 'clock.core_mhz' is 0, but must be from 0.001 to 1000000 MHz");
    expect_error(TINY_MINIMAL "ways: [1, 2000]\n",
                 "t.yaml:4:11: 'ways' is 2000, but must be from 0 to 1000 ways");
    expect_error(TINY_MINIMAL "dram: {model: fixed, latency_cycles: 1, bandwidth_gbps: 0.05}\n",
                 "t.yaml:4:57: 'dram.bandwidth_gbps' is 0.05, but must be from 0.1 to 5000 GB/s");
}

static void test_choices_and_models(void **state)
{
    (void)state;
    expect_error(TINY_MINIMAL "dram.policy: closd\n",
                 "t.yaml:4:14: 'dram.policy' is 'closd', but must be one of open, closed, adaptive (nearest: "
                 "closed)");
    expect_error(TINY_MINIMAL "dram.model: bnak\ndram.tRCD: 3\n",
                 "t.yaml:4:13: 'dram.model' is 'bnak', but must be one of bank, fixed, hbm (nearest: bank)");
    expect_error("machine: tyni\nsms: 4\n", "t.yaml:1:10: there is no machine 'tyni' (nearest: tiny)");
    expect_error("machine: [tiny]\n", "t.yaml:1:1: 'machine' needs a text, got a list");
}

static void test_keys_of_another_model(void **state)
{
    (void)state;
    expect_error(TINY_MINIMAL "dram: {model: fixed, latency_cycles: 3, banks: 4}\n",
                 "t.yaml:4:41: 'dram.banks' belongs to model 'bank', but dram.model is 'fixed'");
    expect_error(TINY_MINIMAL "dram: {model: fixed, latency_cycles: 3, tRCD: 4}\n",
                 "t.yaml:4:41: 'dram.tRCD' belongs to model 'bank' or 'hbm', but dram.model is 'fixed'");
    expect_set_error(TINY_MINIMAL, "dram.channels=4",
                     "--set: 'dram.channels' belongs to model 'hbm', but dram.model is 'bank'");
}

static void test_missing_keys(void **state)
{
    (void)state;
    expect_error("sms: 4\n", "t.yaml: required key 'machine' is missing");
    expect_error("machine: tiny\nnet.model: ideal\n",
                 "t.yaml: required key 'sms' is missing: streaming multiprocessors (SMs)");
    expect_error("machine: tiny\nsms: 4\n", "t.yaml: required key 'net.model' is missing: the network");
    expect_set_error(TINY_MINIMAL, "dram.model=fixed",
                     "t.yaml: required key 'dram.latency_cycles' is missing: time of an access (cycles)");
}

static void test_sets(void **state)
{
    (void)state;
    expect_set_error(TINY_MINIMAL, "smss=3", "--set: unknown key 'smss' for machine 'tiny' (nearest: sms)");
    expect_set_error(TINY_MINIMAL, "sms=300", "--set: 'sms' is 300, but must be from 1 to 256 SMs");
    expect_set_error(TINY_MINIMAL, "sms=", "--set: 'sms' has no value");
    expect_set_error(TINY_MINIMAL, "sms", "--set: 'sms' is not KEY=VALUE");
    expect_set_error(TINY_MINIMAL, "=3", "--set: '=3' is not KEY=VALUE");
    expect_set_error(TINY_MINIMAL, "machine=tiny", "--set: 'machine' can be set in a platform file only");
    expect_set_error(TINY_MINIMAL, "ways=[1, x]",
                     "--set: 'ways': 'x' is not a whole number: unexpected 'x' at character 1");
    expect_set_error(TINY_MINIMAL, "ways=1,", "--set: 'ways': '' is not a whole number: it is empty");
    expect_set_error(TINY_MINIMAL, "label=\xff", "--set: the text of 'label' is not UTF-8");
    expect_set_error(TINY_MINIMAL, "dram=3",
                     "--set: 'dram.model' is '3', but must be one of bank, fixed, hbm");
}

static void test_files(void **state)
{
    (void)state;
    write_file("t.yaml", TINY_MINIMAL);
    expect_path_error("u.yaml", LS_ERR_IO,
                      "u.yaml: cannot open the file: No such file or directory (nearest: t.yaml)");
    assert_int_equal(mkdir("d.yaml", 0700), 0);
    expect_path_error("d.yaml", LS_ERR_IO, "d.yaml: cannot read the file: Is a directory");
    expect_path_error("", LS_ERR_INPUT, "the name of a platform is empty");
    write_file("empty.yaml", "");
    expect_path_error("empty.yaml", LS_ERR_INPUT, "empty.yaml:1:1: the file is empty");
}

static void test_unknown_platform(void **state)
{
    (void)state;
    assert_int_equal(mkdir("platforms", 0700), 0);
    write_file("platforms/turing.yaml", TINY_MINIMAL);
    config_request request = { .platform = "turin" };
    platform_config *config;
    ls_error error;
    assert_int_equal(config_load(&request, &config, NULL, &error), LS_ERR_INPUT);
    assert_string_equal(error.nearest, "turing");
    assert_ptr_equal(strstr(error.what, "there is no platform 'turin' (looked in "), error.what);
    assert_non_null(strstr(error.what, "platforms)"));
}

static void test_bases(void **state)
{
    (void)state;
    write_file("a.yaml", "base: b\nsms: 1\n");
    write_file("b.yaml", "sms: 1\nbase: ./c.yaml\n");
    write_file("c.yaml", "base: a.yaml\n");
    expect_path_error("a.yaml", LS_ERR_INPUT,
                      "./c.yaml:1:7: the bases form a cycle: a.yaml -> b.yaml -> ./c.yaml -> a.yaml");
    write_file("self.yaml", "base: self\n");
    expect_path_error("self.yaml", LS_ERR_INPUT,
                      "self.yaml:1:7: the bases form a cycle: self.yaml -> self.yaml");
    write_file("m.yaml", "sms: 3\nbase: nowhere.yaml\n");
    expect_path_error("m.yaml", LS_ERR_IO,
                      "m.yaml:2:7: base 'nowhere.yaml': cannot open the file: No such file or directory");
    write_file("n.yaml", "base: [a]\n");
    expect_path_error("n.yaml", LS_ERR_INPUT, "n.yaml:1:1: 'base' needs a text, got a list");
    write_file("bad.yaml", TINY_MINIMAL "smss: 3\n");
    write_file("o.yaml", "base: bad\n");
    expect_path_error("o.yaml", LS_ERR_INPUT,
                      "bad.yaml:4:1: unknown key 'smss' for machine 'tiny' (nearest: sms)");
    write_file("dropped.yaml", TINY_MINIMAL "dram.channels: 99\n");
    write_file("p.yaml", "base: dropped\n");
    expect_path_error("p.yaml", LS_ERR_INPUT,
                      "dropped.yaml:4:16: 'dram.channels' is 99, but must be from 1 to 32 channels");
}

static void test_long_chain(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        char path[32], text[64];
        snprintf(path, sizeof path, "f%d.yaml", i);
        snprintf(text, sizeof text, "base: f%d\n", i + 1);
        write_file(path, text);
    }
    expect_path_error("f0.yaml", LS_ERR_INPUT, "f15.yaml:1:7: a chain of bases has more than 16 files");
}

/* A key of 10 MB: refused by the size of the file, before anything looks at it. */
static void test_ten_megabyte_key(void **state)
{
    (void)state;
    FILE *file = fopen("big.yaml", "w");
    assert_non_null(file);
    char block[4096];
    memset(block, 'k', sizeof block);
    for (int i = 0; i < 2560; i++)
        fwrite(block, 1, sizeof block, file);
    fputs(": 1\n", file);
    fclose(file);
    expect_path_error("big.yaml", LS_ERR_INPUT, "big.yaml: the file has more than 1,048,576 bytes, the limit");
}

static void test_all_problems_in_order(void **state)
{
    (void)state;
    static const char text[] = "machine: tiny\n"
                               "sms: 0\n"
                               "dram: {model: fixed, banks: 3}\n"
                               "scale: &a 1\n"
                               "unknwn: 1\n"
                               "sms: 3\n";
    static const char *const expected[] = {
        "t.yaml:2:6: 'sms' is 0, but must be from 1 to 256 SMs",
        "t.yaml:3:22: 'dram.banks' belongs to model 'bank', but dram.model is 'fixed'",
        "t.yaml:4:8: anchors are not allowed in a platform file: '&a'",
        "t.yaml:5:1: unknown key 'unknwn' for machine 'tiny'",
        "t.yaml:6:1: duplicate key 'sms', first set on line 2",
        "--set: unknown key 'sc' for machine 'tiny'",
        "t.yaml: required key 'dram.latency_cycles' is missing: time of an access (cycles)",
        "t.yaml: required key 'net.model' is missing: the network",
    };
    const char *sets[] = { "sc=1", NULL };
    config_problems problems = { 0 };
    platform_config *config;
    ls_error error;
    assert_int_equal(load_with(text, strlen(text), sets, &config, &problems, &error), LS_ERR_INPUT);
    assert_int_equal(problems.count, LS_COUNT_OF(expected));
    for (size_t i = 0; i < problems.count; i++) {
        char line[1024];
        assert_string_equal(ls_error_text(&problems.at[i].error, line, sizeof line), expected[i]);
    }
    problems_fini(&problems);
}

/* Every file of data/ whose name starts with "bad-" is refused with exit code 2; the others load. */
static void test_data_files(void **state)
{
    (void)state;
    static const struct {
        const char *name, *expected;
    } files[] = {
        { "bad-truncated.yaml",
          "bad-truncated.yaml:6:1: not valid YAML: the file ends too early: did not find expected ',' or '}' "
          "(while parsing a flow mapping from line 5 on)" },
        { "bad-cycle-a.yaml", "bad-cycle-b.yaml:2:7: the bases form a cycle: bad-cycle-a.yaml -> "
                              "bad-cycle-b.yaml -> bad-cycle-a.yaml" },
        { "bad-nul.yaml", "bad-nul.yaml:3:8: the file contains a NUL byte" },
        { "bad-utf8.yaml", "bad-utf8.yaml:3:9: the file is not UTF-8 (byte 0xe9)" },
        { "bad-alias.yaml", "bad-alias.yaml:3:6: anchors are not allowed in a platform file: '&count'" },
        { "bad-documents.yaml", "bad-documents.yaml:5:1: a platform file must hold one document only" },
        { "bad-deep.yaml", "bad-deep.yaml:2:64: nested more than 16 levels deep" },
        { "bad-empty.yaml", "bad-empty.yaml:1:1: the file is empty" },
        { "bad-base.yaml", NULL } /* names every directory looked in */,
        { "good.yaml", NULL },
    };
    assert_int_equal(chdir(LS_SOURCE_DIR "/tests/platform/data"), 0);
    for (size_t i = 0; i < LS_COUNT_OF(files); i++) {
        config_request request = { .platform = files[i].name };
        platform_config *config;
        ls_error error = { .status = LS_OK };
        char line[1024];
        ls_status status = config_load(&request, &config, NULL, &error);
        if (files[i].expected)
            assert_string_equal(ls_error_text(&error, line, sizeof line), files[i].expected);
        assert_int_equal(ls_status_exit_code(status), strncmp(files[i].name, "bad-", 4) == 0 ? 2 : 0);
        config_destroy(config);
    }
}

int main(void)
{
#define IN_DIR(name) cmocka_unit_test_setup_teardown(name, test_dir_enter, test_dir_leave)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_choices_and_models),
        cmocka_unit_test(test_keys_of_another_model),
        cmocka_unit_test(test_missing_keys),
        cmocka_unit_test(test_sets),
        IN_DIR(test_files),
        IN_DIR(test_unknown_platform),
        IN_DIR(test_bases),
        IN_DIR(test_long_chain),
        IN_DIR(test_ten_megabyte_key),
        cmocka_unit_test(test_all_problems_in_order),
        IN_DIR(test_data_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

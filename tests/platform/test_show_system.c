/* test_show_system.c: what people read about a system: one row for GPUs that agree, to the letter. */
#include "platform/load.h"
#include "platform/tiny.h"

#include "platform/show.h"

#define SYSTEM "machine: system\ngpus: [{platform: a, count: 3, name: left}]\n"

static const ls_machine_type bare_machine = { .abi = LS_ABI_VERSION,
                                              .name = "bare",
                                              .help = "a machine without keys" };
LS_REGISTER_MACHINE(bare_machine);

static int enter(void **state)
{
    int failed = test_dir_enter(state);
    write_file("a.yaml", "machine: tiny\nnet.model: ideal\nsms: 7  # measured\n");
    return failed;
}

/* Prints with `how`; the text is the caller's. */
static char *printed(ls_status (*how)(FILE *out, const platform_config *a, const void *more), const char *text,
                     const char *const *sets, const void *more)
{
    char *out = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&out, &bytes);
    platform_config *config = load_text(text, sets);
    assert_non_null(stream);
    assert_int_equal(how(stream, config, more), LS_OK);
    fclose(stream);
    config_destroy(config);
    return out;
}

static ls_status as_table(FILE *out, const platform_config *config, const void *more)
{
    (void)more;
    return show_config(out, config, LS_SHOW_TABLE, NULL);
}

static ls_status as_yaml(FILE *out, const platform_config *config, const void *more)
{
    (void)more;
    return show_config(out, config, LS_SHOW_YAML, NULL);
}

static ls_status as_json(FILE *out, const platform_config *config, const void *more)
{
    (void)more;
    return show_config(out, config, LS_SHOW_JSON, NULL);
}

static ls_status as_key(FILE *out, const platform_config *config, const void *path)
{
    return show_key(out, path, config, NULL);
}

static ls_status as_diff(FILE *out, const platform_config *config, const void *text)
{
    size_t differences;
    platform_config *other = load_text(text, NULL);
    ls_status status = show_diff(out, config, other, &differences, NULL);
    config_destroy(other);
    return status;
}

static void has(const char *text, const char *line)
{
    if (!strstr(text, line))
        fail_msg("no '%s' in:\n%s", line, text);
}

static void a_table_has_a_row_for_gpus_that_agree(void **state)
{
    (void)state;
    char *text = printed(as_table, SYSTEM "gpu1.sms: 9\ngpu1-2.label: x\n", NULL, NULL);
    has(text, "\ngpu0      a, machine tiny, hash ");
    has(text, ", name left\ngpu1 ");
    has(text, "\ngpu0.sms                 7          SMs     a.yaml:3           measured\n"
              "gpu1.sms                 9          SMs     t.yaml:3 (gpu1)\n"
              "gpu2.sms                 7          SMs     a.yaml:3           measured\n"
              "gpus.clock.core_mhz      1365       MHz     default\n");
    has(text, "\ngpu0.label               \"none\"             default\n"
              "gpu1-2.label             \"x\"                t.yaml:4 (gpu1-2)\n");
    free(text);
}

static void yaml_is_a_platform_of_the_same_hash(void **state)
{
    (void)state;
    char *text = printed(as_yaml, SYSTEM, (const char *const[]){ "gpu2.sms=5", NULL }, NULL);
    platform_config *config = load_text(SYSTEM "gpu2.sms: 5\n", NULL), *again = load_text(text, NULL);
    has(text,
        "gpus:\n  - count: 2  # a\n    name: left\n    machine: tiny\n    sms: 7  # SMs; a.yaml:3; measured\n");
    has(text, "    sms: 5  # SMs; --set (gpu2)\n");
    assert_true(hash_same(config_hash_of(config), config_hash_of(again)));
    config_destroy(config);
    config_destroy(again);
    free(text);
}

static void json_has_gpus_and_all_keys(void **state)
{
    (void)state;
    char *text =
        printed(as_json, SYSTEM, (const char *const[]){ "gpus.dram=hbm", "gpu2.dram=bank", NULL }, NULL);
    has(text, "\"gpus\": [\n    {\"name\": \"left\", \"platform\": \"a\"");
    has(text, "{\"key\": \"gpu1.dram.model\", \"value\": \"hbm\", \"text\": \"hbm\", \"type\": \"choice\", "
              "\"from\": \"set\", \"for\": \"gpus\"");
    has(text, "\"key\": \"gpu2.dram.banks\"");
    assert_null(strstr(text, "\"key\": \"gpu1.dram.banks\""));
    free(text);
}

static void a_difference_says_of_which_gpu(void **state)
{
    (void)state;
    char *text = printed(as_diff, "base: a\n", NULL, SYSTEM);
    assert_string_equal(text, "KEY      t     t       UNIT\n"
                              "machine  tiny  system\n"
                              "gpus     1     3\n");
    free(text);
    text = printed(as_diff, "base: a\nsms: 8\n", NULL, SYSTEM "gpu1.sms: 9\n");
    assert_string_equal(text, "KEY       t     t       UNIT\n"
                              "machine   tiny  system\n"
                              "gpus      1     3\n"
                              "gpu0.sms  8     7       SMs\n"
                              "gpu1.sms  8     9       SMs\n"
                              "gpu2.sms  8     7       SMs\n");
    free(text);
    text = printed(as_diff, SYSTEM, NULL,
                   "machine: system\ngpus: [{platform: a, count: 5, sms: 8}]\ngpu4.sms: 1\n");
    assert_string_equal(text, "KEY          t     t  UNIT\n"
                              "gpus         3     5\n"
                              "gpu0-2.sms   7     8  SMs\n"
                              "gpu0-2.name  left\n"
                              "gpu3         -     a\n"
                              "gpu4         -     a\n");
    free(text);
    text = printed(as_diff, SYSTEM "gpus.sms: 1\n", NULL, SYSTEM);
    assert_string_equal(text, "KEY       t  t  UNIT\n"
                              "gpus.sms  1  7  SMs\n");
    free(text);
    text = printed(as_diff, "machine: system\ngpus: [a, a]\n", NULL,
                   "machine: system\ngpus: [a, {machine: bare}]\n");
    assert_string_equal(text, "KEY            t     t     UNIT\n"
                              "gpu1.platform  a     bare\n"
                              "gpu1.machine   tiny  bare\n");
    free(text);
    text = printed(as_diff, SYSTEM, NULL, SYSTEM);
    assert_string_equal(text, "no differences\n");
    free(text);
}

static void a_key_is_explained_for_its_gpus(void **state)
{
    (void)state;
    char *text = printed(as_key, SYSTEM "gpu1.sms: 9\n", NULL, "gpus.sms");
    assert_string_equal(text, "sms: streaming multiprocessors\n"
                              "  of       machine 'tiny'\n"
                              "  type     uint\n"
                              "  unit     SMs\n"
                              "  range    1 to 256 SMs\n"
                              "  default  none: the key is required\n"
                              "in gpu0 (a):\n"
                              "  value  7  a.yaml:3  measured\n"
                              "in gpu1 (a):\n"
                              "  value      9  t.yaml:3 (gpu1)\n"
                              "  overrides  7  a.yaml:3         measured\n"
                              "in gpu2 (a):\n"
                              "  value  7  a.yaml:3  measured\n");
    free(text);
    text = printed(as_key, SYSTEM "gpu1.sms: 9\n", NULL, "gpu2.sms");
    assert_null(strstr(text, "in gpu1"));
    has(text, "in gpu2 (a):\n");
    free(text);
    text = printed(as_key, SYSTEM, NULL, "left.dram");
    has(text, "dram: a section of machine 'tiny'\n");
    free(text);
    platform_config *config = load_text(SYSTEM, NULL);
    ls_error error;
    assert_int_equal(show_key(stderr, "gpu1.smz", config, &error), LS_ERR_INPUT);
    assert_string_equal(error.what, "unknown key 'gpu1.smz' for gpu1 of platform 't'");
    assert_string_equal(error.nearest, "gpu1.sms");
    assert_int_equal(show_key(stderr, "gpu7.sms", config, &error), LS_ERR_INPUT);
    assert_string_equal(error.what, "there is no 'gpu7': platform 't' has 3 GPUs");
    config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_a_row_for_gpus_that_agree),
        cmocka_unit_test(yaml_is_a_platform_of_the_same_hash),
        cmocka_unit_test(json_has_gpus_and_all_keys),
        cmocka_unit_test(a_difference_says_of_which_gpu),
        cmocka_unit_test(a_key_is_explained_for_its_gpus),
    };
    return cmocka_run_group_tests(tests, enter, test_dir_leave);
}

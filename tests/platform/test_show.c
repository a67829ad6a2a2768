/* test_show.c: the printed forms of a configuration, to the letter. */
#include "platform/load.h"
#include "platform/tiny.h"

#include "platform/show.h"
#include "platform/table.h"

typedef struct capture {
    char *text;
    size_t bytes;
    FILE *stream;
} capture;

static void capture_open(capture *c)
{
    *c = (capture){ 0 };
    c->stream = open_memstream(&c->text, &c->bytes);
    assert_non_null(c->stream);
}

static void capture_is(capture *c, const char *expected)
{
    fclose(c->stream);
    assert_string_equal(c->text, expected);
    free(c->text);
}

static const char platform_text[] = "title: A tiny\n"
                                    "machine: tiny\n"
                                    "sms: 4  # whitepaper\n"
                                    "net.model: ideal\n"
                                    "clock.core_mhz: 3500.5\n";

static void test_table(void **state)
{
    (void)state;
    const char *sets[] = { "label=two words", "dram.model=hbm", NULL };
    platform_config *config = load_text(platform_text, sets);
    char hash[LS_HASH_TEXT_BYTES], expected[2048];
    hash128_text(config_hash_of(config), hash);
    snprintf(expected, sizeof expected,
             "platform  t (t.yaml)\n"
             "title     A tiny\n"
             "machine   tiny\n"
             "hash      %s\n"
             "\n"
             "KEY                 VALUE        UNIT      FROM      SOURCE\n"
             "sms                 4            SMs       t.yaml:3  whitepaper\n"
             "clock.core_mhz      3500.5       MHz       t.yaml:5\n"
             "scale               1.5                    default\n"
             "label               \"two words\"            --set\n"
             "ways                [1, 2, 4]    ways      default\n"
             "dram.model          hbm                    --set\n"
             "dram.tRCD           20           cycles    default\n"
             "dram.channels       8            channels  default\n"
             "core.l1.model       cycle                  default\n"
             "core.l1.size_kib    64           KiB       default\n"
             "core.l1.write_back  true                   default\n"
             "net.model           ideal                  t.yaml:4\n",
             hash);
    capture c;
    capture_open(&c);
    assert_int_equal(show_config(c.stream, config, LS_SHOW_TABLE, NULL), LS_OK);
    capture_is(&c, expected);
    config_destroy(config);
}

static void test_yaml_reads_back(void **state)
{
    (void)state;
    const char *sets[] = { "label=x # \"y\"\n", "scale=-0.1", NULL };
    platform_config *config = load_text(platform_text, sets);
    capture c;
    capture_open(&c);
    assert_int_equal(show_config(c.stream, config, LS_SHOW_YAML, NULL), LS_OK);
    fclose(c.stream);
    assert_non_null(strstr(c.text, "\nsms: 4  # SMs; t.yaml:3; whitepaper\n"));
    assert_non_null(strstr(c.text, "\nscale: -0.1  # --set\n"));
    platform_config *again = load_text(c.text, NULL);
    assert_true(hash_same(config_hash_of(config), config_hash_of(again)));
    assert_string_equal(config_title(again), "A tiny");
    free(c.text);
    config_destroy(config);
    config_destroy(again);
}

static void test_json(void **state)
{
    (void)state;
    const char *sets[] = { "sms=5", NULL };
    platform_config *config = load_text(platform_text, sets);
    capture c;
    capture_open(&c);
    assert_int_equal(show_config(c.stream, config, LS_SHOW_JSON, NULL), LS_OK);
    fclose(c.stream);
    static const char sms[] =
        "{\"key\": \"sms\", \"value\": 5, \"text\": \"5\", \"type\": \"uint\", \"unit\": \"SMs\", \"from\": "
        "\"set\", \"help\": \"streaming multiprocessors\", \"overrides\": [{\"text\": \"4\", "
        "\"from\": \"file\", \"file\": \"t.yaml\", \"line\": 3, \"column\": 6, \"source\": \"whitepaper\"}]}";
    static const char *const parts[] = {
        "\"platform\": \"t\"",
        "\"machine\": \"tiny\"",
        sms,
        "{\"key\": \"clock.core_mhz\", \"value\": 3500.5, \"text\": \"3500.5\", \"type\": \"frequency\"",
        "{\"key\": \"ways\", \"value\": [1, 2, 4], \"text\": \"[1, 2, 4]\", \"type\": \"uint list\"",
        "{\"key\": \"core.l1.write_back\", \"value\": true,",
        "{\"key\": \"dram.policy\", \"value\": \"open\",",
    };
    for (size_t i = 0; i < LS_COUNT_OF(parts); i++)
        if (!strstr(c.text, parts[i]))
            fail_msg("missing %s in %s", parts[i], c.text);
    free(c.text);
    config_destroy(config);
}

static void test_diff(void **state)
{
    (void)state;
    const char *sets_a[] = { "sms=5", NULL }, *sets_b[] = { "dram.model=hbm", NULL };
    platform_config *a = load_text(platform_text, sets_a), *b = load_text(platform_text, sets_b);
    size_t differences;
    capture c;
    capture_open(&c);
    assert_int_equal(show_diff(c.stream, a, b, &differences, NULL), LS_OK);
    capture_is(&c, "KEY            t     t    UNIT\n"
                   "sms            5     4    SMs\n"
                   "dram.model     bank  hbm\n"
                   "dram.tRCD      12    20   cycles\n"
                   "dram.banks     16    -    banks\n"
                   "dram.policy    open  -\n"
                   "dram.channels  -     8    channels\n");
    assert_int_equal(differences, 6);
    capture_open(&c);
    assert_int_equal(show_diff(c.stream, a, a, &differences, NULL), LS_OK);
    capture_is(&c, "no differences\n");
    assert_int_equal(differences, 0);
    config_destroy(a);
    config_destroy(b);
}

static void test_explain_everywhere(void **state)
{
    (void)state;
    capture c;
    capture_open(&c);
    assert_int_equal(show_key(c.stream, "dram.tRCD", NULL, NULL), LS_OK);
    capture_is(&c, "dram.tRCD: activate to column command\n"
                   "  of       machine 'tiny', section 'dram', model 'bank' of slot 'tiny.dram'\n"
                   "  type     uint\n"
                   "  unit     cycles\n"
                   "  range    1 to 100 cycles\n"
                   "  default  12\n"
                   "\n"
                   "dram.tRCD: activate to column command\n"
                   "  of       machine 'tiny', section 'dram', model 'hbm' of slot 'tiny.dram'\n"
                   "  type     uint\n"
                   "  unit     cycles\n"
                   "  range    1 to 1000 cycles\n"
                   "  default  20\n");
    capture_open(&c);
    assert_int_equal(show_key(c.stream, "dram.model", NULL, NULL), LS_OK);
    capture_is(&c, "dram.model: the memory\n"
                   "  of       machine 'tiny', chooses the model of slot 'tiny.dram'\n"
                   "  type     choice\n"
                   "  choices  bank: command level\n"
                   "           fixed: latency and bandwidth\n"
                   "           hbm: stacked\n"
                   "  default  bank\n");
    capture_open(&c);
    assert_int_equal(show_key(c.stream, "core", NULL, NULL), LS_OK);
    capture_is(&c, "core: a section of machine 'tiny'\n"
                   "  core.l1.model       cycle              the cache of an SM\n"
                   "  core.l1.size_kib    64     KiB  cycle  capacity\n"
                   "  core.l1.write_back  true        cycle  write back instead of through\n");
    ls_error error;
    char line[256];
    capture_open(&c);
    assert_int_equal(show_key(c.stream, "dram.tRDC", NULL, &error), LS_ERR_INPUT);
    assert_string_equal(ls_error_text(&error, line, sizeof line),
                        "unknown key 'dram.tRDC' (nearest: dram.tRCD)");
    capture_is(&c, "");
}

static void test_explain_history(void **state)
{
    (void)state;
    const char *sets[] = { "clock.core_mhz=1", "dram.model=hbm", NULL };
    platform_config *config = load_text("machine: tiny\nsms: 4\nnet.model: ideal\n"
                                        "clock: {core_mhz: 2}  # a source\ndram.banks: 8 # b\n",
                                        sets);
    capture c;
    capture_open(&c);
    assert_int_equal(show_key(c.stream, "clock.core_mhz", config, NULL), LS_OK);
    capture_is(&c, "clock.core_mhz: the core clock\n"
                   "  of       machine 'tiny'\n"
                   "  type     frequency\n"
                   "  unit     MHz\n"
                   "  range    0.001 to 1000000 MHz\n"
                   "  default  1365\n"
                   "in t:\n"
                   "  value      1     --set\n"
                   "  overrides  2     t.yaml:4  a source\n"
                   "  overrides  1365  default\n");
    capture_open(&c);
    assert_int_equal(show_key(c.stream, "dram.banks", config, NULL), LS_OK);
    capture_is(&c, "dram.banks: banks of a channel\n"
                   "  of       machine 'tiny', section 'dram', model 'bank' of slot 'tiny.dram'\n"
                   "  type     uint\n"
                   "  unit     banks\n"
                   "  range    1 to 64 banks\n"
                   "  default  16\n"
                   "in t:\n"
                   "  not used  8  t.yaml:5  b\n"
                   "  not in force: dram.model is 'hbm'\n");
    config_destroy(config);
}

static void test_catalog(void **state)
{
    (void)state;
    write_file("one.yaml", "title: Number one\nbase: two\n");
    write_file("two.yaml", "machine: tiny\n");
    write_file("three.yaml", "a: {\n");
    write_file(".hidden.yaml", "a: {\n");
    write_file("readme.txt", "a: {\n");
    const char *dirs[] = { "." };
    mem_arena arena = { 0 };
    platform_entry *platforms;
    size_t count;
    assert_int_equal(catalog_platforms(&arena, dirs, 1, &platforms, &count, NULL), LS_OK);
    assert_int_equal(count, 3);
    assert_string_equal(platforms[0].name, "one");
    assert_string_equal(platforms[0].title, "Number one");
    assert_string_equal(platforms[0].machine, "tiny");
    assert_int_equal(platforms[0].error.status, LS_OK);
    assert_string_equal(platforms[1].name, "three");
    assert_int_equal(platforms[1].error.status, LS_ERR_INPUT);
    capture c;
    capture_open(&c);
    assert_int_equal(show_catalog(c.stream, platforms, count, NULL), LS_OK);
    capture_is(&c, "Platforms\n"
                   "  one    tiny  Number one\n"
                   "  three  -     ./three.yaml:2:1: not valid YAML: the file ends too early: did not find "
                   "expected node content (while parsing a flow node from line 2 on)\n"
                   "  two    tiny\n"
                   "Machines\n"
                   "  system  several GPUs, each with a platform of its own\n"
                   "  tiny    a machine for tests\n"
                   "Models\n"
                   "  fabric      none   the GPUs are not connected\n"
                   "  host        none   a system without a host\n"
                   "  migrate     none   pages stay where the program put them\n"
                   "  tiny.cache  cycle  cycle level\n"
                   "  tiny.dram   bank   command level\n"
                   "              fixed  latency and bandwidth\n"
                   "              hbm    stacked\n"
                   "  tiny.net    ideal  no contention\n");
    arena_fini(&arena);
}

static void test_columns(void **state)
{
    (void)state;
    key_table table = { 0 };
    table_add(&table, "a", "", "c");
    table_add(&table, "\xc3\xbc\xc3\xbc\xc3\xbc", "", "");
    table_add(&table, "b", "", "", "d");
    capture c;
    capture_open(&c);
    assert_int_equal(table_print(&table, c.stream, "> ", NULL), LS_OK);
    capture_is(&c, "> a    c\n> \xc3\xbc\xc3\xbc\xc3\xbc\n> b       d\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_yaml_reads_back),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_diff),
        cmocka_unit_test(test_explain_everywhere),
        cmocka_unit_test(test_explain_history),
        cmocka_unit_test_setup_teardown(test_catalog, test_dir_enter, test_dir_leave),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

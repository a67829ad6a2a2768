/* test_schema.c: the keys of a machine, and tables that contradict themselves. */
#include "platform/load.h"
#include "platform/tiny.h"

#include "platform/schema.h"

typedef struct fixture {
    mem_arena arena;
    machine_schema schema;
} fixture;

static int set_up(void **state)
{
    *state = calloc(1, sizeof(fixture));
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    arena_fini(&((fixture *)*state)->arena);
    free(*state);
    return 0;
}

static void test_keys(void **state)
{
    fixture *f = *state;
    assert_int_equal(schema_create(&f->arena, &tiny_machine, &f->schema, NULL), LS_OK);
    assert_int_equal(f->schema.count, 5 + 1 + 7 + 1 + 2 + 1);
    assert_int_equal(f->schema.sorted_count, f->schema.count - 1); /* tRCD is of two models */
    const config_key *model = schema_find(&f->schema, "dram.model");
    assert_non_null(model);
    assert_true(key_is_model(model));
    assert_string_equal(model->param->default_text, "bank");
    assert_string_equal(model->param->choices[2], "hbm");
    assert_null(model->param->choices[3]);
    const config_key *key = schema_find(&f->schema, "dram.tRCD");
    assert_ptr_equal(key->model, &tiny_dram_bank);
    assert_ptr_equal(key->same->model, &tiny_dram_hbm);
    assert_null(key->same->same);
    assert_null(schema_find(&f->schema, "dram.tRC"));
    assert_null(schema_find(&f->schema, "dram"));
    assert_true(schema_is_section(&f->schema, "core"));
    assert_true(schema_is_section(&f->schema, "core.l1"));
    assert_false(schema_is_section(&f->schema, "cor"));
    assert_false(schema_is_section(&f->schema, "sms"));
}

typedef struct one {
    uint64_t a;
} one;

static void expect_schema_error(fixture *f, const ls_param *params, size_t count, const ls_section *section,
                                ls_status expected_status, const char *expected)
{
    const ls_machine_type machine = { .abi = LS_ABI_VERSION,
                                      .name = "m",
                                      .help = "",
                                      .spec_size = sizeof(one),
                                      .params = params,
                                      .param_count = count,
                                      .sections = section,
                                      .section_count = section ? 1 : 0 };
    ls_error error;
    char line[512];
    assert_int_equal(schema_create(&f->arena, &machine, &f->schema, &error), expected_status);
    assert_string_equal(ls_error_text(&error, line, sizeof line), expected);
}

static void expect_table_error(fixture *f, ls_param param, const char *expected)
{
    expect_schema_error(f, &param, 1, NULL, LS_ERR_INTERNAL, expected);
}

static void test_wrong_tables(void **state)
{
    fixture *f = *state;
    const ls_param good = LS_PARAM_UINT(one, a, "", 1, 1, 9, "");
    ls_param p = good;
    p.default_text = "10";
    expect_table_error(f, p, "machine 'm': the default is not valid: 'a' is 10, but must be from 1 to 9");
    p = good;
    p.offset = 1;
    expect_table_error(f, p, "machine 'm': the field of 'a' lies outside its spec");
    p = good;
    p.name = "base";
    expect_table_error(f, p, "machine 'm': the key 'base' is reserved");
    p.name = "title.x";
    expect_table_error(f, p, "machine 'm': the key 'title' is reserved");
    p.name = "a b";
    expect_table_error(f, p, "machine 'm': 'a b' is not a valid name for a key");
    p = good;
    p.type = LS_PARAM_TYPE_CHOICE;
    expect_table_error(f, p, "machine 'm': the declaration of 'a' has no choices");
    p.type = (ls_param_type)77;
    expect_table_error(f, p, "machine 'm': the declaration of 'a' has no valid type");
    p = good;
    p.help = NULL;
    expect_table_error(f, p, "machine 'm': the declaration of 'a' has no unit or help");
    const ls_param twice[] = { good, good };
    expect_schema_error(f, twice, 2, NULL, LS_ERR_INTERNAL, "machine 'm': the key 'a' is declared twice");
    ls_param both[] = { good, good };
    both[1].name = "a.b";
    expect_schema_error(f, both, 2, NULL, LS_ERR_INTERNAL,
                        "machine 'm': the key 'a' is declared as a value and as a section");
}

static void test_wrong_sections(void **state)
{
    fixture *f = *state;
    const ls_section no_models = { .path = "x", .slot = "nothing", .help = "" };
    expect_schema_error(f, NULL, 0, &no_models, LS_ERR_UNSUPPORTED,
                        "machine 'm': section 'x' needs slot 'nothing', for which no model is registered");
    const ls_section no_default = { .path = "x", .slot = "tiny.dram", .default_model = "bnk", .help = "" };
    expect_schema_error(
        f, NULL, 0, &no_default, LS_ERR_UNSUPPORTED,
        "machine 'm': section 'x' wants model 'bnk' of slot 'tiny.dram', which is not registered "
        "(nearest: bank)");
    const ls_param clash[] = { { .name = "x.model",
                                 .type = LS_PARAM_TYPE_UINT,
                                 .default_text = "1",
                                 .min = 1,
                                 .max = 0,
                                 .unit = "",
                                 .help = "" } };
    const ls_section section = { .path = "x", .slot = "tiny.net", .default_model = "ideal", .help = "" };
    expect_schema_error(f, clash, 1, &section, LS_ERR_INTERNAL,
                        "machine 'm': the key 'x.model' is declared twice");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = { TEST(test_keys), TEST(test_wrong_tables), TEST(test_wrong_sections) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_registry_twice.c: a program that registers one name twice gets an error, at every call and in any order
 * of calls. */
#include "engine/fixture.h"

static const ls_block_type one = { .abi = LS_ABI_VERSION, .slot = "toy", .name = "same", .help = "1" };
LS_REGISTER_BLOCK(one);
static const ls_block_type two = { .abi = LS_ABI_VERSION, .slot = "toy", .name = "same", .help = "2" };
LS_REGISTER_BLOCK(two);

static void test_told_every_time(void **state)
{
    (void)state;
    assert_int_equal(ls_registry_block_count(), 0); /* has no error to return */
    assert_null(ls_registry_find_block("toy", "same"));
    for (int i = 0; i < 3; i++) {
        ls_error err = { 0 };
        assert_int_equal(ls_registry_check(&err), LS_ERR_USAGE);
        assert_string_equal(err.what, "block 'toy/same' is registered twice");
    }
    ls_error err = { 0 };
    assert_int_equal(ls_plugin_load("x.so", &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "block 'toy/same' is registered twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_told_every_time) };
    return cmocka_run_group_tests_name("registry, twice", tests, NULL, NULL);
}

/* test_map.c: keys are found, replaced, distinguished, and walked in insertion order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"

#include <stdio.h>
#include <string.h>

static void *value_of(uintptr_t n)
{
    return (void *)n;
}

static void empty(void **state)
{
    (void)state;
    string_map map = { 0 };
    assert_null(map_get(&map, "x"));
    assert_false(map_has(&map, "x"));
    map_fini(&map);
}

static void hundred_thousand_keys(void **state)
{
    (void)state;
    enum { KEYS = 100000 };
    string_map map = { 0 };
    char key[32];
    for (uintptr_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "core%zu.l1.bank%zu", (size_t)i / 16, (size_t)i % 16);
        assert_true(map_put(&map, key, value_of(i + 1)));
    }
    assert_int_equal(map.count, KEYS);
    for (uintptr_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "core%zu.l1.bank%zu", (size_t)i / 16, (size_t)i % 16);
        assert_ptr_equal(map_get(&map, key), value_of(i + 1));
        assert_string_equal(map.entries[i].key, key); /* insertion order */
        key[0] = 'C';
        assert_false(map_has(&map, key));
    }
    map_fini(&map);
    assert_int_equal(map.count, 0);
}

static void replace_keeps_the_place(void **state)
{
    (void)state;
    string_map map = { 0 };
    assert_true(map_put(&map, "a", value_of(1)));
    assert_true(map_put(&map, "b", value_of(2)));
    assert_true(map_put(&map, "a", value_of(3)));
    assert_int_equal(map.count, 2);
    assert_ptr_equal(map_get(&map, "a"), value_of(3));
    assert_string_equal(map.entries[0].key, "a");
    map_fini(&map);
}

static void null_value_is_not_missing(void **state)
{
    (void)state;
    string_map map = { 0 };
    assert_true(map_put(&map, "a", NULL));
    assert_null(map_get(&map, "a"));
    assert_true(map_has(&map, "a"));
    assert_false(map_has(&map, "b"));
    map_fini(&map);
}

static void keys_are_bytes(void **state)
{
    (void)state;
    string_map map = { 0 };
    char key[] = "a\0b";
    assert_true(map_putn(&map, key, 3, value_of(1)));
    assert_true(map_putn(&map, key, 1, value_of(2)));
    assert_true(map_putn(&map, key, 0, value_of(3)));
    key[0] = 'z'; /* keys are copied */
    assert_ptr_equal(map_getn(&map, "a\0b", 3), value_of(1));
    assert_ptr_equal(map_get(&map, "a"), value_of(2));
    assert_ptr_equal(map_get(&map, ""), value_of(3));
    assert_int_equal(map.entries[0].key_bytes, 3);
    assert_int_equal(map.entries[0].key[3], '\0');
    map_fini(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty),
        cmocka_unit_test(hundred_thousand_keys),
        cmocka_unit_test(replace_keeps_the_place),
        cmocka_unit_test(null_value_is_not_missing),
        cmocka_unit_test(keys_are_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

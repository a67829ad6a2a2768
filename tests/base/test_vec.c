/* test_vec.c: growth, reuse, and refusal of sizes that overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"

#include <string.h>

typedef struct wide {
    uint64_t a[5];
} wide;

static void push_and_read_back(void **state)
{
    (void)state;
    LS_VEC(int) numbers = { 0 };
    for (int i = 0; i < 10000; i++)
        assert_true(vec_push(&numbers, i * 3));
    assert_int_equal(numbers.count, 10000);
    assert_in_range(numbers.capacity, 10000, 20000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(numbers.at[i], i * 3);
    size_t capacity = numbers.capacity;
    vec_clear(&numbers);
    assert_int_equal(numbers.count, 0);
    assert_int_equal(numbers.capacity, capacity);
    vec_fini(&numbers);
    assert_null(numbers.at);
    assert_int_equal(numbers.capacity, 0);
    assert_true(vec_push(&numbers, 1));
    vec_fini(&numbers);
}

static void any_type(void **state)
{
    (void)state;
    LS_VEC(const char *) names = { 0 };
    LS_VEC(wide) structs = { 0 };
    for (uint64_t i = 0; i < 100; i++) {
        assert_true(vec_push(&names, i % 2 ? "odd" : "even"));
        wide w = { { i, i, i, i, i } };
        assert_true(vec_push(&structs, w));
    }
    assert_string_equal(names.at[41], "odd");
    assert_int_equal(structs.at[99].a[4], 99);
    vec_fini(&names);
    vec_fini(&structs);
}

static void reserve_once(void **state)
{
    (void)state;
    LS_VEC(char) bytes = { 0 };
    assert_true(vec_reserve(&bytes, 1000));
    char *at = bytes.at;
    for (int i = 0; i < 1000; i++)
        assert_true(vec_push(&bytes, 'x'));
    assert_ptr_equal(bytes.at, at);
    assert_true(vec_reserve(&bytes, 0));
    assert_ptr_equal(bytes.at, at);
    vec_fini(&bytes);
}

static void overflow_changes_nothing(void **state)
{
    (void)state;
    LS_VEC(wide) structs = { 0 };
    wide w = { { 7 } };
    assert_true(vec_push(&structs, w));
    wide *at = structs.at;
    assert_false(vec_reserve(&structs, SIZE_MAX));
    assert_false(vec_reserve(&structs, SIZE_MAX / sizeof(wide)));
    assert_false(vec_reserve(&structs, PTRDIFF_MAX / sizeof(wide) + 1));
    assert_ptr_equal(structs.at, at);
    assert_int_equal(structs.count, 1);
    assert_int_equal(structs.at[0].a[0], 7);
    vec_fini(&structs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(push_and_read_back),
        cmocka_unit_test(any_type),
        cmocka_unit_test(reserve_once),
        cmocka_unit_test(overflow_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

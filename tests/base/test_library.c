/* test_library.c: libraries that are loaded on first use: found, absent, and without a function that is wanted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/library.h"

static double (*cosine)(double);
static void (*missing)(void);

static void found(void **state)
{
    (void)state;
    const library_call calls[] = { { "cos", &cosine } };
    assert_true(library_load("libm.so.6", calls, 1));
    assert_true(cosine(0) == 1.0);
}

static void absent(void **state)
{
    (void)state;
    const library_call calls[] = { { "cos", &cosine } };
    assert_false(library_load("liblockstep-of-another-world.so.1", calls, 1));
}

static void without_a_function(void **state)
{
    (void)state;
    const library_call calls[] = { { "cos", &cosine }, { "cos_of_another_world", &missing } };
    assert_false(library_load("libm.so.6", calls, 2));
    assert_null(missing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found),
        cmocka_unit_test(absent),
        cmocka_unit_test(without_a_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

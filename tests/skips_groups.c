/* skips_groups.c ALL|SOME|NONE|FAIL: groups of tests for test_skips.sh. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static void passes(void **state)
{
    (void)state;
}

static void skips(void **state)
{
    (void)state;
    skip();
}

static void fails(void **state)
{
    (void)state;
    fail();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(skips), cmocka_unit_test(skips) };
    const struct CMUnitTest some[] = { cmocka_unit_test(passes), cmocka_unit_test(skips) };
    const struct CMUnitTest none[] = { cmocka_unit_test(passes) };
    const struct CMUnitTest failing[] = { cmocka_unit_test(skips), cmocka_unit_test(fails) };
    const char *group = argc > 1 ? argv[1] : "";
    if (strcmp(group, "ALL") == 0)
        return cmocka_run_group_tests(all, NULL, NULL);
    if (strcmp(group, "SOME") == 0)
        return cmocka_run_group_tests(some, NULL, NULL);
    if (strcmp(group, "NONE") == 0)
        return cmocka_run_group_tests(none, NULL, NULL);
    return cmocka_run_group_tests(failing, NULL, NULL);
}

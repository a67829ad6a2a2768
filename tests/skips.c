/* skips.c: linked into every cmocka program in front of cmocka's own runner, so that a skipped test shows in
 * ctest.
 *
 * cmocka returns 0 for a group whose tests were all skipped. Here that is 77, which ctest shows as skipped.
 * Where only some tests were skipped, their places are written to the file $LOCKSTEP_SKIPS, which the test
 * NAME/parts reads. Without the variable the whole program counts as skipped: it is never silent. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

enum { SKIPPED = 77 };

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
void __real__skip(const char *file, int line);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
void __wrap__skip(const char *file, int line);

static size_t skips;

void __wrap__skip(const char *file, int line)
{
    const char *path = getenv("LOCKSTEP_SKIPS");
    FILE *list = path ? fopen(path, "a") : NULL;
    skips++;
    if (list) {
        fprintf(list, "%s:%d\n", file, line);
        fclose(list);
    }
    __real__skip(file, line);
}

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown)
{
    const char *path = getenv("LOCKSTEP_SKIPS");
    FILE *list = path ? fopen(path, "w") : NULL;
    if (path && !list) {
        perror(path);
        return 1;
    }
    if (list)
        fclose(list);
    int failures = __real__cmocka_run_group_tests(name, tests, count, setup, teardown);
    if (failures != 0)
        return 1; /* never 77 */
    if (skips > 0)
        printf("%zu of %zu tests were skipped\n", skips, count);
    return skips >= count || (skips > 0 && !path) ? SKIPPED : 0;
}

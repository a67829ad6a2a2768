/* The identity of a trace is its content: not its place, not its age. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "workload/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char dir[] = P_tmpdir "/lockstep-identity-XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[2][256];
    static unsigned next;
    char *out = path[next++ % 2];
    snprintf(out, sizeof path[0], "%s/%s", dir, name);
    return out;
}

static void put(const char *name, const char *text)
{
    assert_int_equal(file_write(in_dir(name), text, strlen(text), NULL), LS_OK);
}

static hash128 of(const char *path)
{
    hash128 hash;
    assert_int_equal(trace_identity(path, &hash, NULL), LS_OK);
    return hash;
}

static void test_content(void **state)
{
    (void)state;
    mkdir(in_dir("a"), 0755);
    mkdir(in_dir("b"), 0755);
    put("a/kernelslist.g", "kernel-1.traceg\n");
    put("b/kernelslist.g", "kernel-1.traceg\n");
    put("a/kernel-1.traceg", "x");
    put("b/kernel-1.traceg", "x");
    assert_true(hash_same(of(in_dir("a")), of(in_dir("b"))));
    assert_true(hash_same(of(in_dir("a/kernelslist.g")), of(in_dir("b"))));
    put("b/kernel-1.traceg", "y");
    assert_false(hash_same(of(in_dir("a")), of(in_dir("b"))));
    put("b/kernel-1.traceg", "x");
    put("b/kernel-2.traceg", "");
    assert_false(hash_same(of(in_dir("a")), of(in_dir("b"))));
    assert_true(hash_same(of(in_dir("a/kernel-1.traceg")), of(in_dir("b/kernel-1.traceg"))));
    assert_false(hash_same(of("synth:gemm"), of("synth:gemm,m=64")));
    hash128 hash;
    ls_error err;
    assert_int_equal(trace_identity(in_dir("none"), &hash, &err), LS_ERR_IO);
    assert_non_null(strstr(err.where, "none"));
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_content) };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}

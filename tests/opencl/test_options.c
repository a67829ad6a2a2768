/* Build options: words, quotes, which stage takes which; and the cache of results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opencl/compile.h"
#include "client/settings.h"
#include "opencl/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void assert_words(ocl_stage stage, const char *options, const char *expected)
{
    char joined[256] = "";
    ocl_words words;
    ls_error err;
    assert_int_equal(ocl_options_split(stage, options, &words, &err), LS_OK);
    for (size_t i = 0; i < words.count; i++) {
        strcat(joined, words.at[i]);
        strcat(joined, "|");
    }
    assert_null(words.at[words.count]);
    assert_string_equal(joined, expected);
    free(words.at);
}

static void assert_refused(ocl_stage stage, const char *options, const char *text, const char *nearest)
{
    ocl_words words;
    ls_error err;
    assert_int_equal(ocl_options_split(stage, options, &words, &err), LS_ERR_USAGE);
    assert_non_null(strstr(err.what, text));
    if (nearest)
        assert_string_equal(err.nearest, nearest);
    assert_null(words.at);
}

static void test_words(void **state)
{
    (void)state;
    assert_words(OCL_BUILD, "", "");
    assert_words(OCL_BUILD, " \t-w  ", "-w|");
    assert_words(OCL_BUILD, "-D A -DB=1 -I dir", "-D|A|-DB=1|-I|dir|");
    assert_words(OCL_BUILD, "-D 'A=x y' -DB=\"1 2\" -DC=a\\ b", "-D|A=x y|-DB=1 2|-DC=a b|");
    assert_words(OCL_BUILD, "-cl-kernel-arg-info -cl-std=CL1.2", "-cl-std=CL1.2|");
    assert_words(OCL_LINK, "-create-library -cl-fast-relaxed-math", "-cl-fast-relaxed-math|");
}

static void test_refused(void **state)
{
    ocl_words words;
    (void)state;
    assert_refused(OCL_BUILD, "-w -cl-mad-enabled", "-cl-mad-enabled", "-cl-mad-enable");
    assert_refused(OCL_BUILD, "-cl-std=CL2.1", "-cl-std=CL2.1", "-cl-std=");
    assert_refused(OCL_BUILD, "-o out", "'-o'", NULL);
    assert_refused(OCL_BUILD, "-save-temps", "-save-temps", NULL);
    assert_refused(OCL_COMPILE, "-create-library", "-create-library", NULL);
    assert_refused(OCL_LINK, "-D A", "'-D'", NULL);
    assert_int_equal(ocl_options_split(OCL_LINK, "-create-library", &words, NULL), LS_OK);
    assert_true(words.is_library);
    free(words.at);
}

static void test_cache(void **state)
{
    const ocl_cache_key key = { "0123" }, other = { "4567" }, none = { "" };
    char folder[] = P_tmpdir "/lockstep-test-XXXXXX", path[64], command[96];
    unsigned char data[] = "\0binary";
    const ocl_blob blob = { data, sizeof data };
    ocl_blob back = { 0 };
    text_buffer log = { 0 };
    FILE *file;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a/b", folder); /* made when it is needed */
    setenv("LOCKSTEP_CACHE_DIR", path, 1);
    assert_false(ocl_cache_load(&key, &back, &log));
    ocl_cache_store(&key, &blob, "a warning");
    assert_true(ocl_cache_load(&key, &back, &log));
    assert_int_equal(back.bytes, sizeof data);
    assert_memory_equal(back.at, data, sizeof data);
    assert_string_equal(text_get(&log), "a warning");
    free(back.at);
    ocl_cache_store(&none, &blob, "");
    assert_false(ocl_cache_load(&none, &back, &log));
    /* A file that is not one of ours, or cut off, is not used. */
    snprintf(path, sizeof path, "%s/a/b/4567.lscl", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("LSCLC1\n_this is no entry of the cache", file);
    fclose(file);
    assert_false(ocl_cache_load(&other, &back, &log));
    text_fini(&log);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void test_tool(void **state)
{
    static const char *const cats[] = { "no-such-cat", "cat", NULL };
    char path[256];
    ocl_tool tool;
    ocl_blob out;
    text_buffer log = { 0 };
    ls_error err;
    (void)state;
    unsetenv("LOCKSTEP_TEST_TOOL");
    assert_true(ocl_tool_find("LOCKSTEP_TEST_TOOL", cats, path, sizeof path));
    ocl_tool_init(&tool);
    assert_int_equal(ocl_tool_input(&tool, "file", 4, &err), LS_OK);
    {
        const char *const args[] = { path, "-", ocl_tool_path(&tool, 0), NULL };
        assert_int_equal(ocl_tool_run(&tool, args, "stdin,", 6, &out, &log, &err), LS_OK);
    }
    assert_int_equal(out.bytes, 10);
    assert_memory_equal(out.at, "stdin,file", 10);
    free(out.at);
    {
        const char *const args[] = { path, "/no/such/file", NULL };
        assert_int_equal(ocl_tool_run(&tool, args, NULL, 0, &out, &log, &err), LS_ERR_INPUT);
    }
    assert_null(out.at);
    assert_non_null(strstr(text_get(&log), "/no/such/file"));
    text_fini(&log);
    ocl_tool_fini(&tool);
    setenv("LOCKSTEP_TEST_TOOL", "/no/such/tool", 1);
    assert_false(ocl_tool_find("LOCKSTEP_TEST_TOOL", cats, path, sizeof path));
}

static void test_settings(void **state)
{
    client_settings s;
    ls_error err;
    (void)state;
    setenv("LOCKSTEP_GPU", "gfx803, gfx1010", 1);
    setenv("LOCKSTEP_GPUS", "2", 1);
    setenv("LOCKSTEP_MEMORY", "3G", 1);
    setenv("LOCKSTEP_THREADS", "4", 1);
    assert_int_equal(client_settings_read(&s, &err), LS_OK);
    assert_int_equal(s.gpu_count, 4);
    assert_string_equal(s.gpus[1], "gfx1010");
    assert_string_equal(s.gpus[2], "gfx803");
    assert_int_equal(s.memory_bytes, (uint64_t)3 << 30);
    assert_int_equal(s.threads, 4);
    setenv("LOCKSTEP_GPUS", "9", 1);
    assert_int_equal(client_settings_read(&s, &err), LS_ERR_USAGE);
    setenv("LOCKSTEP_GPUS", "two", 1);
    assert_int_not_equal(client_settings_read(&s, &err), LS_OK);
    assert_string_equal(err.where, "LOCKSTEP_GPUS");
    unsetenv("LOCKSTEP_GPUS");
    setenv("LOCKSTEP_MEMORY", "3T", 1);
    assert_int_not_equal(client_settings_read(&s, &err), LS_OK);
    assert_string_equal(err.where, "LOCKSTEP_MEMORY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words), cmocka_unit_test(test_refused),  cmocka_unit_test(test_cache),
        cmocka_unit_test(test_tool),  cmocka_unit_test(test_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* load.h: loads a platform from a text and compares what comes out, for the tests of src/platform. */
#ifndef TESTS_PLATFORM_LOAD_H
#define TESTS_PLATFORM_LOAD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "platform/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SETS 8

/* sets: up to MAX_SETS texts, ended by NULL; NULL itself for none. */
static inline ls_status load_with(const char *text, size_t bytes, const char *const *sets,
                                  platform_config **config, config_problems *problems, ls_error *error)
{
    config_request request = { .platform = "t.yaml", .text = text, .text_bytes = bytes, .sets = sets };
    while (sets && sets[request.set_count])
        request.set_count++;
    return config_load(&request, config, problems, error);
}

static inline platform_config *load_text(const char *text, const char *const *sets)
{
    platform_config *config;
    ls_error error = { .status = LS_OK };
    char line[1024];
    if (load_with(text, strlen(text), sets, &config, NULL, &error) != LS_OK)
        fail_msg("%s", ls_error_text(&error, line, sizeof line));
    return config;
}

/* The whole error line must be `expected`, and the exit code 2. */
static inline void expect_error_bytes(const char *text, size_t bytes, const char *const *sets,
                                      const char *expected)
{
    platform_config *config;
    ls_error error;
    char line[1024];
    ls_status status = load_with(text, bytes, sets, &config, NULL, &error);
    assert_string_equal(ls_error_text(&error, line, sizeof line), expected);
    assert_int_equal(ls_status_exit_code(status), 2);
    assert_int_equal(status, error.status);
    assert_null(config);
}

static inline void expect_error(const char *text, const char *expected)
{
    expect_error_bytes(text, strlen(text), NULL, expected);
}

static inline void expect_set_error(const char *text, const char *set, const char *expected)
{
    const char *sets[] = { set, NULL };
    expect_error_bytes(text, strlen(text), sets, expected);
}

static inline void value_is(const platform_config *config, const char *path, const char *expected)
{
    const config_value *value = config_find(config, path);
    if (!value)
        fail_msg("no key '%s'", path);
    else
        assert_string_equal(value->text, expected);
}

static inline void origin_is(const value_origin *origin, const char *where, const char *text)
{
    char line[512];
    assert_string_equal(origin_text(origin, line, sizeof line), where);
    assert_string_equal(origin->text, text);
}

/* A directory of the test's own; the test changes into it so that file names in messages are short. */
typedef struct test_dir {
    char path[64], old[4096];
} test_dir;

static inline int test_dir_enter(void **state)
{
    test_dir *dir = calloc(1, sizeof *dir);
    if (!dir || !getcwd(dir->old, sizeof dir->old))
        return -1;
    strcpy(dir->path, P_tmpdir "/lockstep-test-XXXXXX");
    *state = dir;
    return mkdtemp(dir->path) && chdir(dir->path) == 0 ? 0 : -1;
}

static inline int test_dir_leave(void **state)
{
    test_dir *dir = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir->path);
    int failed = chdir(dir->old) | system(command);
    free(dir);
    return failed;
}

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#endif

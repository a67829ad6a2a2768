/* temp_dir.h: a directory for one test program, and files in it. */
#ifndef TESTS_WORKLOAD_TEMP_DIR_H
#define TESTS_WORKLOAD_TEMP_DIR_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char temp_dir[64];

/* Group set-up and tear-down; everything happens inside the directory. */
static inline int temp_dir_enter(void **state)
{
    (void)state;
    strcpy(temp_dir, P_tmpdir "/lockstep-test-XXXXXX");
    return mkdtemp(temp_dir) && chdir(temp_dir) == 0 ? 0 : -1;
}

static inline int temp_dir_remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static inline int temp_dir_leave(void **state)
{
    (void)state;
    return chdir("/") == 0 ? nftw(temp_dir, temp_dir_remove_one, 8, FTW_DEPTH | FTW_PHYS) : -1;
}

static inline void write_bytes(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

#endif

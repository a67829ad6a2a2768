/* test_temp.c: temporary files beside their target: orphans of killed processes go, live ones stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct place {
    mem_arena arena;
    char dir[64];
    const char *target;
} place;

static int enter(void **state)
{
    place *p = calloc(1, sizeof *p);
    if (p == NULL)
        return -1;
    strcpy(p->dir, P_tmpdir "/lockstep-temp-XXXXXX");
    *state = p;
    if (mkdtemp(p->dir) == NULL)
        return -1;
    p->target = path_join(&p->arena, p->dir, "result.json");
    return 0;
}

static int leave(void **state)
{
    place *p = *state;
    unlink(p->target);
    int failed = rmdir(p->dir); /* fails if anything else is left */
    arena_fini(&p->arena);
    free(p);
    return failed;
}

/* A process makes a temporary file or directory and is killed. Returns the name it had. */
static char *orphan(place *p, temp_kind kind)
{
    int ends[2];
    char name[512] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        temp_file temp;
        if (!temp_create(&temp, p->target, kind))
            _exit(1);
        if (kind == LS_TEMP_DIR)
            close(openat(temp.fd, "kernel-1.traceg", O_CREAT | O_WRONLY, 0666));
        if (write(ends[1], temp.path, strlen(temp.path)) < 0)
            _exit(1);
        raise(SIGKILL);
    }
    close(ends[1]);
    assert_true(read(ends[0], name, sizeof name - 1) > 0);
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_true(file_exists(name));
    return arena_strdup(&p->arena, name);
}

static void orphans_are_removed(void **state)
{
    place *p = *state;
    const char *file = orphan(p, LS_TEMP_FILE), *dir = NULL;
    temp_file temp;
    dir = orphan(p, LS_TEMP_DIR); /* it has removed the file of the one before */
    assert_false(file_exists(file));
    assert_true(temp_create(&temp, p->target, LS_TEMP_FILE));
    assert_false(file_exists(dir));
    temp_discard(&temp);
}

static void live_files_stay(void **state)
{
    place *p = *state;
    temp_file mine, other;
    assert_true(temp_create(&mine, p->target, LS_TEMP_FILE));
    assert_true(temp_create(&other, p->target, LS_TEMP_FILE));
    assert_true(file_exists(mine.path));
    pid_t pid = fork();
    if (pid == 0) {
        temp_file third;
        bool good =
            temp_create(&third, p->target, LS_TEMP_FILE) && file_exists(mine.path) && file_exists(other.path);
        temp_discard(&third);
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(file_exists(mine.path) && file_exists(other.path));
    temp_discard(&mine);
    temp_discard(&other);
}

/* Files whose names only look alike are left alone. */
static void other_names_stay(void **state)
{
    place *p = *state;
    static const char *const names[] = { ".result.json.1-2.tmpx",    ".result.json.1.tmp",
                                         ".result.json.x-2.tmp",     ".result.jso.1-2.tmp",
                                         ".result.json.old.1-2.tmp", "result.json.1-2.tmp" };
    temp_file temp;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        close(open(path_join(&p->arena, p->dir, names[i]), O_CREAT | O_WRONLY, 0666));
    assert_true(temp_create(&temp, p->target, LS_TEMP_FILE));
    temp_discard(&temp);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(unlink(path_join(&p->arena, p->dir, names[i])), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(orphans_are_removed, enter, leave),
        cmocka_unit_test_setup_teardown(live_files_stay, enter, leave),
        cmocka_unit_test_setup_teardown(other_names_stay, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

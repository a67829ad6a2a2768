/* test_file.c: whole files in; whole files or nothing out. Each test works in a fresh directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "lockstep/version.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct place {
    mem_arena arena;
    char dir[64];
} place;

static int enter(void **state)
{
    place *p = calloc(1, sizeof *p);
    if (p == NULL)
        return -1;
    strcpy(p->dir, P_tmpdir "/lockstep-test-XXXXXX");
    *state = p;
    return mkdtemp(p->dir) != NULL ? 0 : -1;
}

static char *in(place *p, const char *name)
{
    return path_join(&p->arena, p->dir, name);
}

static size_t files_in(const char *dir)
{
    DIR *listing = opendir(dir);
    size_t count = 0;
    for (struct dirent *e; listing != NULL && (e = readdir(listing)) != NULL;)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (listing != NULL)
        closedir(listing);
    return count;
}

static int leave(void **state)
{
    place *p = *state;
    DIR *listing = opendir(p->dir);
    for (struct dirent *e; listing != NULL && (e = readdir(listing)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove(in(p, e->d_name));
    if (listing != NULL)
        closedir(listing);
    int failed = rmdir(p->dir);
    arena_fini(&p->arena);
    free(p);
    return failed;
}

static void write_text(const char *path, const char *text)
{
    assert_int_equal(file_write(path, text, strlen(text), NULL), LS_OK);
}

static void assert_content(place *p, const char *path, const char *expected)
{
    char *data;
    size_t bytes;
    assert_int_equal(file_read(&p->arena, path, 1 << 20, &data, &bytes, NULL), LS_OK);
    assert_int_equal(bytes, strlen(expected));
    assert_string_equal(data, expected);
}

/* ------------------------------------------------------------------------------------------------- read */

static void reads_back(void **state)
{
    place *p = *state;
    char *path = in(p, "a"), *data;
    size_t bytes;
    write_text(path, "one\ntwo\n");
    assert_content(p, path, "one\ntwo\n");
    write_text(path, "");
    assert_content(p, path, "");
    static const char binary[] = "\0\xFF\0x";
    assert_int_equal(file_write(path, binary, 4, NULL), LS_OK);
    assert_int_equal(file_read(&p->arena, path, 4, &data, &bytes, NULL), LS_OK);
    assert_int_equal(bytes, 4);
    assert_memory_equal(data, binary, 5); /* with the terminator */
}

static void read_limit(void **state)
{
    place *p = *state;
    char *path = in(p, "a"), *data = NULL;
    size_t bytes = 99;
    ls_error err;
    write_text(path, "12345");
    assert_int_equal(file_read(&p->arena, path, 5, &data, &bytes, &err), LS_OK);
    data = NULL;
    assert_int_equal(file_read(&p->arena, path, 4, &data, &bytes, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, "the file has more than 4 bytes, the limit");
    assert_string_equal(err.where, path);
    assert_null(data);
    /* A file of unknown size. */
    assert_int_equal(file_read(&p->arena, "/proc/self/status", 10, &data, &bytes, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, "the file has more than 10 bytes, the limit");
    write_text(path, "");
    assert_int_equal(file_read(&p->arena, path, 0, &data, &bytes, &err), LS_OK);
    assert_int_equal(bytes, 0);
    assert_string_equal(data, "");
}

static void read_refusals(void **state)
{
    place *p = *state;
    char *data;
    size_t bytes;
    ls_error err;
    assert_int_equal(file_read(&p->arena, p->dir, 100, &data, &bytes, &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot read the file: Is a directory");
    assert_int_equal(file_read(&p->arena, in(p, "no/such/file"), 100, &data, &bytes, &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot open the file: No such file or directory");
    assert_string_equal(err.nearest, "");
    assert_int_equal(file_read(&p->arena, "", 100, &data, &bytes, &err), LS_ERR_IO);
}

static void no_permission(void **state)
{
    place *p = *state;
    char *data;
    size_t bytes;
    ls_error err;
    if (geteuid() == 0) {
        print_message("root may read everything\n");
        skip();
    }
    write_text(in(p, "secret"), "x");
    chmod(in(p, "secret"), 0);
    assert_int_equal(file_read(&p->arena, in(p, "secret"), 100, &data, &bytes, &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot open the file: Permission denied");
}

/* Anything but a regular file is refused with its kind, and no call waits for a writer. */
static void refuses_what_is_no_file(void **state)
{
    place *p = *state;
    char *data, *link = in(p, "link");
    size_t bytes;
    int fd;
    ls_error err;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", in(p, "socket"));
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    close(listener);
    assert_int_equal(mkfifo(in(p, "fifo"), 0600), 0);
    assert_int_equal(symlink(in(p, "fifo"), link), 0);
    const struct {
        const char *path, *what;
    } cases[] = {
        { in(p, "fifo"), "cannot read the file: it is a pipe, not a regular file" },
        { link, "cannot read the file: it is a pipe, not a regular file" },
        { in(p, "socket"), "cannot read the file: it is a socket, not a regular file" },
        { "/dev/zero", "cannot read the file: it is a device, not a regular file" },
        { p->dir, "cannot read the file: Is a directory" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(file_read(&p->arena, cases[i].path, 100, &data, &bytes, &err), LS_ERR_IO);
        assert_string_equal(err.what, cases[i].what);
        assert_string_equal(err.where, cases[i].path);
        assert_int_equal(file_open(cases[i].path, &fd, NULL, &err), LS_ERR_IO);
        assert_string_equal(err.what, cases[i].what);
        assert_int_equal(file_check_input(cases[i].path, &err), LS_ERR_IO);
        assert_string_equal(err.what, cases[i].what);
    }
    uint64_t size;
    write_text(in(p, "a"), "12345");
    assert_int_equal(file_check_input(in(p, "a"), &err), LS_OK);
    assert_int_equal(file_check_input(in(p, "none"), &err), LS_OK);
    assert_int_equal(file_open(in(p, "a"), &fd, &size, &err), LS_OK);
    assert_int_equal(size, 5);
    close(fd);
}

static void missing_file_names_the_nearest(void **state)
{
    place *p = *state;
    char *data;
    size_t bytes;
    ls_error err;
    write_text(in(p, "rtx2060.yaml"), "");
    write_text(in(p, "rtx3060.yaml"), "");
    assert_int_equal(file_read(&p->arena, in(p, "rtx206.yaml"), 100, &data, &bytes, &err), LS_ERR_IO);
    assert_string_equal(err.nearest, in(p, "rtx2060.yaml"));
}

typedef struct feeder {
    int fd;
    size_t bytes;
} feeder;

static void *feed(void *self)
{
    feeder *f = self;
    for (size_t done = 0; done < f->bytes; done++)
        if (write(f->fd, "p", 1) != 1)
            break;
    close(f->fd);
    return NULL;
}

static void reads_a_pipe(void **state)
{
    place *p = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    feeder f = { ends[1], 100000 };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, feed, &f), 0);
    char *data, *path = arena_printf(&p->arena, "/dev/fd/%d", ends[0]);
    size_t bytes;
    assert_int_equal(file_read(&p->arena, path, 1 << 20, &data, &bytes, NULL), LS_OK);
    pthread_join(thread, NULL);
    close(ends[0]);
    assert_int_equal(bytes, 100000);
    assert_int_equal(strlen(data), 100000);
}

static void reads_a_file_without_a_size(void **state)
{
    place *p = *state;
    char *data;
    size_t bytes;
    assert_int_equal(file_read(&p->arena, "/proc/self/status", 1 << 20, &data, &bytes, NULL), LS_OK);
    assert_true(bytes > 0);
    assert_memory_equal(data, "Name:", 5);
}

/* ------------------------------------------------------------------------------------------------ write */

static void appears_only_when_committed(void **state)
{
    place *p = *state;
    char *path = in(p, "result.json");
    file_writer w;
    assert_int_equal(file_writer_open(&w, path, NULL), LS_OK);
    fputs("new", w.stream);
    fflush(w.stream);
    assert_false(file_exists(path));
    assert_int_equal(file_writer_commit(&w, NULL), LS_OK);
    assert_null(w.stream);
    assert_content(p, path, "new");
    assert_int_equal(files_in(p->dir), 1);
}

static void abort_keeps_the_old_file(void **state)
{
    place *p = *state;
    char *path = in(p, "a");
    write_text(path, "old");
    file_writer w;
    assert_int_equal(file_writer_open(&w, path, NULL), LS_OK);
    fputs("half of the new", w.stream);
    file_writer_abort(&w);
    assert_content(p, path, "old");
    assert_int_equal(files_in(p->dir), 1);
}

static void failed_writes_leave_nothing(void **state)
{
    place *p = *state;
    ls_error err;
    assert_int_equal(file_write("/dev/full", "x", 1, &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot write the file: No space left on device");
    assert_string_equal(err.where, "/dev/full");
    struct stat st;
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));

    char *missing = in(p, "no/such/file");
    assert_int_equal(file_write(missing, "x", 1, &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot write the file: its directory does not exist");
    assert_string_equal(err.where, missing);

    assert_int_equal(file_write(p->dir, "x", 1, &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot write the file: Is a directory");
    assert_int_equal(file_write("", "x", 1, &err), LS_ERR_IO);
    assert_int_equal(file_write(in(p, "name/"), "x", 1, &err), LS_ERR_IO);
    assert_int_equal(files_in(p->dir), 0);
}

/* More than the stream's buffer, so that a write fails before the commit does. */
static void early_failure_is_not_forgotten(void **state)
{
    (void)state;
    file_writer w;
    ls_error err;
    assert_int_equal(file_writer_open(&w, "/dev/full", &err), LS_OK);
    for (unsigned i = 0; i < 100000; i++)
        fputs("0123456789", w.stream);
    assert_int_equal(file_writer_commit(&w, &err), LS_ERR_IO);
    assert_string_equal(err.where, "/dev/full");
}

/* The same in one call, with more than the buffer. */
static void large_write_fails_at_once(void **state)
{
    place *p = *state;
    ls_error err;
    char *data = arena_alloc(&p->arena, 1 << 20);
    assert_non_null(data);
    assert_int_equal(file_write("/dev/full", data, 1 << 20, &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot write the file: No space left on device");
}

/* The name is taken by a directory between open and commit. */
static void failed_rename_leaves_nothing(void **state)
{
    place *p = *state;
    char *path = in(p, "a");
    file_writer w;
    ls_error err;
    assert_int_equal(file_writer_open(&w, path, NULL), LS_OK);
    fputs("x", w.stream);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(file_writer_commit(&w, &err), LS_ERR_IO);
    assert_int_equal(files_in(p->dir), 1);
    assert_true(file_is_dir(path));
}

static void commit_of_a_closed_writer(void **state)
{
    (void)state;
    file_writer w = { 0 };
    assert_int_equal(file_writer_commit(&w, NULL), LS_ERR_INTERNAL);
    file_writer_abort(&w);
}

static void links_and_permissions_stay(void **state)
{
    place *p = *state;
    char *target = in(p, "target"), *link = in(p, "link");
    struct stat st;
    write_text(target, "old");
    chmod(target, 0640);
    assert_int_equal(symlink("target", link), 0);
    write_text(link, "new");
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_content(p, target, "new");
    assert_int_equal(stat(target, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(files_in(p->dir), 2);
    mode_t mask = umask(027);
    write_text(in(p, "fresh"), "x");
    umask(mask);
    assert_int_equal(stat(in(p, "fresh"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void longest_name(void **state)
{
    place *p = *state;
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    write_text(in(p, name), "x");
    assert_content(p, in(p, name), "x");
}

static void standard_output(void **state)
{
    (void)state;
    file_writer w;
    assert_int_equal(file_writer_open(&w, "-", NULL), LS_OK);
    assert_ptr_equal(w.stream, stdout);
    assert_null(w.out);
    assert_int_equal(file_writer_commit(&w, NULL), LS_OK);
}

/* A file of another library appears under its name only if no file has that name. */
static void published_once(void **state)
{
    place *p = *state;
    char *path = in(p, "a.db");
    temp_file first, second;
    ls_error err;
    bool existed = true;
    assert_int_equal(file_temp_open(&first, path, &err), LS_OK);
    assert_int_equal(file_temp_open(&second, path, &err), LS_OK);
    assert_string_not_equal(first.path, second.path);
    assert_false(file_exists(path));
    assert_int_equal(write(first.fd, "first", 5), 5);
    assert_int_equal(write(second.fd, "second", 6), 6);
    assert_int_equal(file_temp_publish(&second, path, &existed, &err), LS_OK);
    assert_false(existed);
    assert_int_equal(file_temp_publish(&first, path, &existed, &err), LS_OK);
    assert_true(existed);
    assert_content(p, path, "second");
    assert_int_equal(files_in(p->dir), 1);

    assert_int_equal(file_temp_open(&first, path, &err), LS_OK);
    assert_int_equal(file_temp_publish(&first, in(p, "no/such"), &existed, &err), LS_ERR_IO);
    assert_int_equal(file_temp_open(&first, p->dir, &err), LS_ERR_IO);
    assert_int_equal(file_temp_open(&first, "/dev/null", &err), LS_ERR_IO);
    assert_int_equal(file_temp_open(&first, "", &err), LS_ERR_IO);
    assert_int_equal(file_temp_open(&first, in(p, "no/such"), &err), LS_ERR_IO);
    assert_null(first.path);
    assert_int_equal(files_in(p->dir), 1);
}

/* The reason of the first failed write is reported, even if more is written after it. */
static void a_limit_names_its_reason(void **state)
{
    place *p = *state;
    char *path = in(p, "large");
    struct rlimit old, small = { .rlim_cur = 100000, .rlim_max = RLIM_INFINITY };
    char block[4096] = { 0 };
    file_writer w;
    ls_error err;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(file_writer_open(&w, path, &err), LS_OK);
    for (int i = 0; i < 100; i++)
        fwrite(block, 1, sizeof block, w.stream);
    assert_int_equal(file_writer_commit(&w, &err), LS_ERR_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_string_equal(err.what, "cannot write the file: File too large");
    assert_int_equal(files_in(p->dir), 0);
}

/* ------------------------------------------------------------------------------------------------ paths */

static void paths(void **state)
{
    place *p = *state;
    static const struct {
        const char *path, *dir, *base;
    } cases[] = {
        { "a", ".", "a" },    { "a/b", "a", "b" }, { "/a", "/", "a" },  { "a/", "a", "" },   { "/", "/", "" },
        { "a//b", "a", "b" }, { "", ".", "" },     { "./a", ".", "a" }, { "//a", "/", "a" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        assert_string_equal(path_dir(&p->arena, cases[i].path), cases[i].dir);
        assert_string_equal(path_base(cases[i].path), cases[i].base);
    }
    assert_string_equal(path_join(&p->arena, "a", "b"), "a/b");
    assert_string_equal(path_join(&p->arena, "a/", "b"), "a/b");
    assert_string_equal(path_join(&p->arena, "", "b"), "b");
    assert_string_equal(path_join(&p->arena, "a", "/b"), "/b");
    assert_true(file_is_dir(p->dir));
    assert_true(file_exists(p->dir));
    assert_false(file_is_dir("/dev/null"));
    assert_false(file_exists(in(p, "none")));
}

static void own_directory(void **state)
{
    place *p = *state;
    char *dir = NULL;
    assert_int_equal(path_of_library(&p->arena, &dir, NULL), LS_OK);
    assert_null(dir); /* this code is part of the program */
    assert_int_equal(path_of_executable(&p->arena, &dir, NULL), LS_OK);
    assert_true(file_exists(path_join(&p->arena, dir, "base_test_file")));
}

static void writable_before_it_is_written(void **state)
{
    place *p = *state;
    ls_error err;
    assert_int_equal(file_check_writable(in(p, "new"), &err), LS_OK);
    assert_int_equal(file_check_writable("/dev/full", &err), LS_OK); /* room is another question */
    char *missing = in(p, "no/such/file");
    assert_int_equal(file_check_writable(missing, &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot write the file: its directory does not exist");
    assert_string_equal(err.where, missing);
    assert_int_equal(file_check_writable(p->dir, &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot write the file: Is a directory");
    assert_int_equal(files_in(p->dir), 0);
}

#define IN_A_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_DIRECTORY(reads_back),
        IN_A_DIRECTORY(read_limit),
        IN_A_DIRECTORY(read_refusals),
        IN_A_DIRECTORY(no_permission),
        IN_A_DIRECTORY(refuses_what_is_no_file),
        IN_A_DIRECTORY(missing_file_names_the_nearest),
        IN_A_DIRECTORY(reads_a_pipe),
        IN_A_DIRECTORY(reads_a_file_without_a_size),
        IN_A_DIRECTORY(appears_only_when_committed),
        IN_A_DIRECTORY(abort_keeps_the_old_file),
        IN_A_DIRECTORY(failed_writes_leave_nothing),
        IN_A_DIRECTORY(early_failure_is_not_forgotten),
        IN_A_DIRECTORY(large_write_fails_at_once),
        IN_A_DIRECTORY(failed_rename_leaves_nothing),
        IN_A_DIRECTORY(commit_of_a_closed_writer),
        IN_A_DIRECTORY(links_and_permissions_stay),
        IN_A_DIRECTORY(longest_name),
        IN_A_DIRECTORY(standard_output),
        IN_A_DIRECTORY(published_once),
        IN_A_DIRECTORY(a_limit_names_its_reason),
        IN_A_DIRECTORY(paths),
        IN_A_DIRECTORY(own_directory),
        IN_A_DIRECTORY(writable_before_it_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

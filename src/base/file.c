/* file.c: whole files in, whole files or nothing out. Paths are in path.c. */
#include "base/file.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_READ_BYTES = 64 << 10, /* of a file that does not tell its size */
    LARGEST_LISTING = 10000,     /* directory entries looked at for the nearest name */
    TEMP_TRIES = 100
};

static ls_status fail_file(ls_error *err, const char *path, const char *action, int reason)
{
    ls_fail(err, reason == ENOMEM ? LS_ERR_NOMEM : LS_ERR_IO, "cannot %s: %s", action, strerror(reason));
    return ls_error_at(err, path, 0, 0);
}

static ls_status fail_nomem(ls_error *err, const char *path)
{
    ls_fail(err, LS_ERR_NOMEM, "no memory left for the file");
    return ls_error_at(err, path, 0, 0);
}

/* ------------------------------------------------------------------------------------------- the nearest */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names the file of the directory that a missing one may have meant. Sorted first: the order in which a
 * directory lists its files differs between hosts. Any failure just leaves the help out. */
static void add_nearest_file(ls_error *err, const char *path)
{
    if (err == NULL)
        return;
    ls_arena arena = { 0 };
    char *dir = ls_path_dir(&arena, path);
    DIR *listing = dir != NULL ? opendir(dir) : NULL;
    char **names = listing != NULL ? calloc(LARGEST_LISTING, sizeof *names) : NULL;
    size_t count = 0;
    for (struct dirent *entry;
         names != NULL && count < LARGEST_LISTING && (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        names[count] = ls_arena_strdup(&arena, entry->d_name);
        count += names[count] != NULL;
    }
    if (count > 0) {
        qsort(names, count, sizeof *names, by_name);
        const char *nearest = ls_nearest_of(ls_path_base(path), (const char *const *)names, count);
        char *full =
            nearest != NULL ? ls_path_join(&arena, strchr(path, '/') != NULL ? dir : "", nearest) : NULL;
        ls_error_nearest(err, full);
    }
    free(names);
    if (listing != NULL)
        closedir(listing);
    ls_arena_fini(&arena);
}

/* ------------------------------------------------------------------------------------------------- read */

/* Fills up to `bytes` from fd; fewer only at the end of the file. False sets errno. */
static bool read_fully(int fd, char *data, size_t bytes, size_t *done)
{
    for (*done = 0; *done < bytes;) {
        ssize_t got = read(fd, data + *done, bytes - *done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            return true;
        *done += (size_t)got;
    }
    return true;
}

static ls_status fail_limit(ls_error *err, const char *path, size_t limit)
{
    char text[LS_FORMAT_BYTES];
    ls_fail(err, LS_ERR_INPUT, "the file has more than %s bytes, the limit",
            ls_format_count(limit, text, sizeof text));
    return ls_error_at(err, path, 0, 0);
}

/* A regular file of known size goes straight into the arena. */
static ls_status read_sized(int fd, ls_arena *arena, const char *path, size_t size, char **data, size_t *bytes,
                            ls_error *err)
{
    char *at = ls_arena_alloc(arena, size + 1);
    if (at == NULL)
        return fail_nomem(err, path);
    size_t done;
    /* One byte more than promised shows a file that grows. */
    if (!read_fully(fd, at, size + 1, &done))
        return fail_file(err, path, "read the file", errno);
    if (done > size) {
        ls_fail(err, LS_ERR_IO, "the file changed while it was read");
        return ls_error_at(err, path, 0, 0);
    }
    at[done] = '\0';
    *data = at;
    *bytes = done;
    return LS_OK;
}

/* Pipes, devices and files of /proc: read until they end. */
static ls_status read_stream(int fd, ls_arena *arena, const char *path, size_t limit, char **data,
                             size_t *bytes, ls_error *err)
{
    char *buffer = NULL, *at = NULL;
    size_t count = 0, capacity = 0, done = 0;
    ls_status status = LS_OK;
    do {
        capacity = capacity == 0 ? FIRST_READ_BYTES : capacity * 2;
        if (limit < capacity - 1)
            capacity = limit + 1;
        char *larger = realloc(buffer, capacity);
        if (larger == NULL) {
            status = fail_nomem(err, path);
            goto out;
        }
        buffer = larger;
        if (!read_fully(fd, buffer + count, capacity - count, &done)) {
            status = fail_file(err, path, "read the file", errno);
            goto out;
        }
        count += done;
        if (count > limit) {
            status = fail_limit(err, path, limit);
            goto out;
        }
    } while (count == capacity);
    at = ls_arena_strndup(arena, buffer, count);
    if (at == NULL) {
        status = fail_nomem(err, path);
        goto out;
    }
    *data = at;
    *bytes = count;
out:
    free(buffer);
    return status;
}

ls_status ls_file_read(ls_arena *arena, const char *path, size_t limit, char **data, size_t *bytes,
                       ls_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        int reason = errno;
        ls_status status = fail_file(err, path, "open the file", reason);
        if (reason == ENOENT)
            add_nearest_file(err, path);
        return status;
    }
    ls_status status;
    struct stat st;
    if (fstat(fd, &st) != 0)
        status = fail_file(err, path, "read the file", errno);
    else if (S_ISDIR(st.st_mode))
        status = fail_file(err, path, "read the file", EISDIR);
    else if (!S_ISREG(st.st_mode) || st.st_size == 0)
        status = read_stream(fd, arena, path, limit, data, bytes, err);
    else if ((uintmax_t)st.st_size > limit)
        status = fail_limit(err, path, limit);
    else
        status = read_sized(fd, arena, path, (size_t)st.st_size, data, bytes, err);
    close(fd);
    return status;
}

/* ------------------------------------------------------------------------------------------------ write */

/* Where a write to `path` really goes: through symbolic links, so that a link stays one. malloc'd; NULL
 * without memory. */
static char *resolve_target(const char *path)
{
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
        char *real = realpath(path, NULL);
        if (real != NULL || errno == ENOMEM)
            return real;
    }
    return strdup(path);
}

/* "dir/.name.PID-N.tmp": hidden, beside the target, different for every call of every process. malloc'd. */
static char *temp_beside(const char *target)
{
    static atomic_uint serial;
    unsigned n = atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed);
    const char *base = ls_path_base(target);
    int dir_length = (int)(base - target);
    char *temp = NULL;
    /* The name is cut so that the whole stays below the 255 bytes of a file name. */
    if (asprintf(&temp, "%.*s.%.200s.%ld-%u.tmp", dir_length, target, base, (long)getpid(), n) < 0)
        return NULL;
    return temp;
}

static ls_status fail_write(ls_error *err, const char *path, int reason)
{
    if (reason != ENOENT)
        return fail_file(err, path, "write the file", reason);
    ls_fail(err, LS_ERR_IO, "cannot write the file: its directory does not exist");
    return ls_error_at(err, path, 0, 0);
}

/* Devices and pipes are written in place: a rename would replace them by a file. */
static bool written_in_place(const struct stat *st)
{
    return !S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode);
}

ls_status ls_file_check_writable(const char *path, ls_error *err)
{
    ls_arena arena = { 0 };
    struct stat st;
    bool exists = stat(path, &st) == 0;
    const char *dir = ls_path_dir(&arena, path);
    if (dir == NULL) {
        ls_arena_fini(&arena);
        return fail_nomem(err, path);
    }
    ls_status status = LS_OK;
    if (exists && S_ISDIR(st.st_mode))
        status = fail_write(err, path, EISDIR);
    else if (exists && written_in_place(&st))
        status = access(path, W_OK) == 0 ? LS_OK : fail_write(err, path, errno);
    else if (!ls_file_is_dir(dir))
        status = fail_write(err, path, ENOENT);
    else if (access(dir, W_OK | X_OK) != 0)
        status = fail_write(err, path, errno);
    ls_arena_fini(&arena);
    return status;
}

static ls_status open_temp(ls_file_writer *w, const char *path, const struct stat *old, ls_error *err)
{
    int fd = -1;
    for (int i = 0; i < TEMP_TRIES && fd < 0; i++) {
        free(w->temp_path);
        w->temp_path = temp_beside(w->path);
        if (w->temp_path == NULL)
            return fail_nomem(err, path);
        fd = open(w->temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        int reason = errno;
        free(w->temp_path);
        w->temp_path = NULL;
        return fail_write(err, path, reason);
    }
    /* A file that is replaced keeps its permissions; if that is not allowed, the new ones are as good. */
    if (old != NULL && fchmod(fd, old->st_mode & 0777) != 0)
        errno = 0;
    w->stream = fdopen(fd, "wb");
    if (w->stream == NULL) {
        close(fd);
        unlink(w->temp_path);
        return fail_nomem(err, path);
    }
    return LS_OK;
}

static void writer_forget(ls_file_writer *w)
{
    free(w->path);
    free(w->temp_path);
    *w = (ls_file_writer){ 0 };
}

ls_status ls_file_writer_open(ls_file_writer *w, const char *path, ls_error *err)
{
    *w = (ls_file_writer){ 0 };
    if (path[0] == '\0')
        return ls_fail(err, LS_ERR_IO, "cannot write a file without a name");
    bool to_stdout = strcmp(path, "-") == 0;
    w->path = to_stdout ? strdup("standard output") : resolve_target(path);
    if (w->path == NULL)
        return fail_nomem(err, path);
    if (to_stdout) {
        w->stream = stdout;
        return LS_OK;
    }
    struct stat st;
    bool exists = stat(w->path, &st) == 0;
    ls_status status = LS_OK;
    if (exists && S_ISDIR(st.st_mode))
        status = fail_write(err, path, EISDIR);
    else if (exists && written_in_place(&st)) {
        w->stream = fopen(w->path, "wbe");
        if (w->stream == NULL)
            status = fail_write(err, path, errno);
    } else
        status = open_temp(w, path, exists ? &st : NULL, err);
    if (status != LS_OK)
        writer_forget(w);
    return status;
}

void ls_file_writer_abort(ls_file_writer *w)
{
    if (w->stream != NULL && w->stream != stdout)
        fclose(w->stream);
    if (w->temp_path != NULL)
        unlink(w->temp_path);
    writer_forget(w);
}

ls_status ls_file_writer_commit(ls_file_writer *w, ls_error *err)
{
    if (w->stream == NULL) {
        writer_forget(w);
        return ls_fail(err, LS_ERR_INTERNAL, "a file writer was committed that is not open");
    }
    /* An earlier failed write has left its mark in the stream but not in errno. */
    bool failed = ferror(w->stream) != 0;
    errno = 0;
    failed |= fflush(w->stream) != 0;
    if (!failed && w->temp_path != NULL)
        failed = fsync(fileno(w->stream)) != 0;
    int reason = errno;
    if (w->stream == stdout) {
        clearerr(stdout);
    } else {
        if (fclose(w->stream) != 0 && !failed) {
            failed = true;
            reason = errno;
        }
        w->stream = NULL;
    }
    if (!failed && w->temp_path != NULL && rename(w->temp_path, w->path) != 0) {
        failed = true;
        reason = errno;
    }
    ls_status status = failed ? fail_write(err, w->path, reason != 0 ? reason : EIO) : LS_OK;
    if (failed && w->temp_path != NULL)
        unlink(w->temp_path);
    writer_forget(w);
    return status;
}

ls_status ls_file_write(const char *path, const void *data, size_t bytes, ls_error *err)
{
    ls_file_writer w;
    ls_status status = ls_file_writer_open(&w, path, err);
    if (status != LS_OK)
        return status;
    if (bytes > 0 && fwrite(data, 1, bytes, w.stream) != bytes) {
        status = fail_write(err, path, errno);
        ls_file_writer_abort(&w);
        return status;
    }
    return ls_file_writer_commit(&w, err);
}

ls_status ls_file_temp_name(ls_arena *arena, const char *path, char **temp, ls_error *err)
{
    if (path[0] == '\0')
        return ls_fail(err, LS_ERR_IO, "cannot write a file without a name");
    char *target = resolve_target(path);
    if (target == NULL)
        return fail_nomem(err, path);
    struct stat st;
    bool exists = stat(target, &st) == 0;
    char *dir = ls_path_dir(arena, target);
    ls_status status = LS_OK;
    *temp = NULL;
    if (dir == NULL)
        status = fail_nomem(err, path);
    else if (exists && S_ISDIR(st.st_mode))
        status = fail_write(err, path, EISDIR);
    else if (exists && written_in_place(&st)) {
        ls_fail(err, LS_ERR_IO, "cannot write the file: it is a device or a pipe");
        status = ls_error_at(err, path, 0, 0);
    } else if (access(dir, W_OK | X_OK) != 0)
        status = fail_write(err, path, errno);
    for (int i = 0; i < TEMP_TRIES && status == LS_OK && *temp == NULL; i++) {
        char *name = temp_beside(target);
        if (name == NULL || (lstat(name, &st) != 0 && (*temp = ls_arena_strdup(arena, name)) == NULL))
            status = fail_nomem(err, path);
        free(name);
    }
    if (status == LS_OK && *temp == NULL)
        status = fail_write(err, path, EEXIST);
    free(target);
    return status;
}

ls_status ls_file_rename(const char *temp, const char *path, ls_error *err)
{
    char *target = resolve_target(path);
    if (target == NULL) {
        unlink(temp);
        return fail_nomem(err, path);
    }
    ls_status status = LS_OK;
    if (rename(temp, target) != 0) {
        status = fail_write(err, path, errno);
        unlink(temp);
    }
    free(target);
    return status;
}

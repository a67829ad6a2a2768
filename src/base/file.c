/* file.c: whole files in, whole files or nothing out. Paths are in path.c. */
#include "base/file.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_READ_BYTES = 64 << 10, /* of a file of unknown size */
    LARGEST_LISTING = 10000,     /* directory entries looked at for the nearest name */
    WRITE_BUFFER_BYTES = 64 << 10
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
    mem_arena arena = { 0 };
    char *dir = path_dir(&arena, path);
    DIR *listing = dir != NULL ? opendir(dir) : NULL;
    char **names = listing != NULL ? calloc(LARGEST_LISTING, sizeof *names) : NULL;
    size_t count = 0;
    for (struct dirent *entry;
         names != NULL && count < LARGEST_LISTING && (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        names[count] = arena_strdup(&arena, entry->d_name);
        count += names[count] != NULL;
    }
    if (count > 0) {
        qsort(names, count, sizeof *names, by_name);
        const char *nearest = nearest_of(path_base(path), (const char *const *)names, count);
        char *full = nearest != NULL ? path_join(&arena, strchr(path, '/') != NULL ? dir : "", nearest) : NULL;
        ls_error_nearest(err, full);
    }
    free(names);
    if (listing != NULL)
        closedir(listing);
    arena_fini(&arena);
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
            format_count(limit, text, sizeof text));
    return ls_error_at(err, path, 0, 0);
}

/* A regular file of known size goes straight into the arena. */
static ls_status read_sized(int fd, mem_arena *arena, const char *path, size_t size, char **data,
                            size_t *bytes, ls_error *err)
{
    char *at = arena_alloc(arena, size + 1);
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

/* Pipes and files of /proc: read until they end. */
static ls_status read_stream(int fd, mem_arena *arena, const char *path, size_t limit, char **data,
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
    at = arena_strndup(arena, buffer, count);
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

/* The kind of an entry that is no regular file; NULL: a regular file. */
static const char *kind_of(const struct stat *st)
{
    return S_ISREG(st->st_mode)    ? NULL
           : S_ISDIR(st->st_mode)  ? "a directory"
           : S_ISFIFO(st->st_mode) ? "a pipe"
           : S_ISSOCK(st->st_mode) ? "a socket"
                                   : "a device";
}

/* Pipes without a name are all on one device of the kernel. */
static bool is_unnamed_pipe(const struct stat *st)
{
    int ends[2];
    struct stat own;
    if (!S_ISFIFO(st->st_mode) || pipe(ends) != 0)
        return false;
    bool is = fstat(ends[0], &own) == 0 && own.st_dev == st->st_dev;
    close(ends[0]);
    close(ends[1]);
    return is;
}

static ls_status refuse_kind(const struct stat *st, const char *path, bool pipes, ls_error *err)
{
    const char *kind = kind_of(st);
    if (kind == NULL || (pipes && is_unnamed_pipe(st)))
        return LS_OK;
    if (S_ISDIR(st->st_mode))
        return fail_file(err, path, "read the file", EISDIR);
    ls_fail(err, LS_ERR_IO, "cannot read the file: it is %s, not a regular file", kind);
    return ls_error_at(err, path, 0, 0);
}

/* Looked at before it is opened, as that may wait or do something, and again afterwards. */
static ls_status open_input(const char *path, bool pipes, int *out, struct stat *st, ls_error *err)
{
    ls_status status;
    int fd = -1;
    *out = -1;
    if (stat(path, st) == 0 && (status = refuse_kind(st, path, pipes, err)) != LS_OK)
        return status;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        int reason = errno;
        status = fail_file(err, path, "open the file", reason);
        if (reason == ENOENT)
            add_nearest_file(err, path);
        return status;
    }
    if (fstat(fd, st) != 0 || fcntl(fd, F_SETFL, 0) != 0) /* from here on it waits for data */
        status = fail_file(err, path, "read the file", errno);
    else
        status = refuse_kind(st, path, pipes, err);
    if (status == LS_OK)
        *out = fd;
    else
        close(fd);
    return status;
}

ls_status file_open(const char *path, int *fd, uint64_t *size, ls_error *err)
{
    struct stat st;
    ls_status status = open_input(path, false, fd, &st, err);
    if (status == LS_OK && size != NULL)
        *size = (uint64_t)st.st_size;
    return status;
}

ls_status file_check_input(const char *path, ls_error *err)
{
    struct stat st;
    return stat(path, &st) == 0 ? refuse_kind(&st, path, false, err) : LS_OK;
}

ls_status file_read(mem_arena *arena, const char *path, size_t limit, char **data, size_t *bytes,
                    ls_error *err)
{
    int fd;
    struct stat st;
    ls_status status = open_input(path, true, &fd, &st, err);
    if (status != LS_OK)
        return status;
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
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

ls_status file_check_writable(const char *path, ls_error *err)
{
    mem_arena arena = { 0 };
    struct stat st;
    bool exists = stat(path, &st) == 0;
    const char *dir = path_dir(&arena, path);
    if (dir == NULL) {
        arena_fini(&arena);
        return fail_nomem(err, path);
    }
    ls_status status = LS_OK;
    if (exists && S_ISDIR(st.st_mode))
        status = fail_write(err, path, EISDIR);
    else if (exists && written_in_place(&st))
        status = access(path, W_OK) == 0 ? LS_OK : fail_write(err, path, errno);
    else if (!file_is_dir(dir))
        status = fail_write(err, path, ENOENT);
    else if (access(dir, W_OK | X_OK) != 0)
        status = fail_write(err, path, errno);
    arena_fini(&arena);
    return status;
}

/* The state below a writer's stream. The first failed write leaves its reason here: the stream itself keeps
 * only the fact. */
struct file_out {
    char *target;   /* the file itself, through symbolic links */
    temp_file temp; /* path NULL: written in place */
    int fd;
    int reason; /* errno of the first failed write; 0: none failed */
    char buffer[WRITE_BUFFER_BYTES];
};

static ssize_t out_write(void *self, const char *data, size_t bytes)
{
    struct file_out *out = self;
    size_t done = 0;
    while (done < bytes && out->reason == 0) {
        ssize_t count = write(out->fd, data + done, bytes - done);
        if (count >= 0)
            done += (size_t)count;
        else if (errno != EINTR)
            out->reason = errno;
    }
    errno = out->reason;
    return out->reason == 0 ? (ssize_t)bytes : 0;
}

/* The stream on top of w->out, which is open. */
static bool open_stream(file_writer *w)
{
    w->stream = fopencookie(w->out, "wb", (cookie_io_functions_t){ .write = out_write });
    return w->stream != NULL && setvbuf(w->stream, w->out->buffer, _IOFBF, sizeof w->out->buffer) == 0;
}

static ls_status open_out(file_writer *w, const char *path, ls_error *err)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    w->out = malloc(sizeof *w->out);
    if (w->out == NULL)
        return fail_nomem(err, path);
    w->out->target = resolve_target(path);
    w->out->temp = (temp_file){ 0 };
    w->out->fd = -1;
    w->out->reason = 0;
    if (w->out->target == NULL)
        return fail_nomem(err, path);
    if (exists && S_ISDIR(st.st_mode))
        return fail_write(err, path, EISDIR);
    if (exists && written_in_place(&st)) {
        w->out->fd = open(w->out->target, O_WRONLY | O_CLOEXEC);
        if (w->out->fd < 0)
            return fail_write(err, path, errno);
    } else {
        if (!temp_create(&w->out->temp, w->out->target, LS_TEMP_FILE))
            return fail_write(err, path, errno);
        w->out->fd = w->out->temp.fd;
        /* A file that is replaced keeps its permissions; if that is not allowed, the new ones are as good. */
        if (exists && fchmod(w->out->fd, st.st_mode & 0777) != 0)
            errno = 0;
    }
    return open_stream(w) ? LS_OK : fail_nomem(err, path);
}

/* Closes all open files and removes unpublished ones. Returns zero or the errno of a failed close. */
static int writer_close(file_writer *w)
{
    int reason = 0;
    if (w->stream != NULL && w->stream != stdout)
        fclose(w->stream);
    if (w->out != NULL && w->out->temp.path != NULL)
        temp_discard(&w->out->temp);
    else if (w->out != NULL && w->out->fd >= 0 && close(w->out->fd) != 0)
        reason = errno;
    if (w->out != NULL)
        free(w->out->target);
    free(w->out);
    free(w->path);
    *w = (file_writer){ 0 };
    return reason;
}

ls_status file_writer_open(file_writer *w, const char *path, ls_error *err)
{
    *w = (file_writer){ 0 };
    if (path[0] == '\0')
        return ls_fail(err, LS_ERR_IO, "cannot write a file without a name");
    bool to_stdout = strcmp(path, "-") == 0;
    w->path = strdup(to_stdout ? "standard output" : path);
    if (w->path == NULL)
        return fail_nomem(err, path);
    if (to_stdout) {
        w->stream = stdout;
        return LS_OK;
    }
    ls_status status = open_out(w, path, err);
    if (status != LS_OK)
        writer_close(w);
    return status;
}

void file_writer_abort(file_writer *w)
{
    writer_close(w);
}

/* Everything to the disk and under its name. Zero, or why it failed. */
static int publish(file_writer *w)
{
    struct file_out *out = w->out;
    /* Standard output is not ours: an earlier failed write has left its mark in it but no reason. */
    bool failed = ferror(w->stream) != 0;
    errno = 0;
    failed |= fflush(w->stream) != 0;
    int reason = errno != 0 ? errno : EIO;
    if (out == NULL) {
        clearerr(stdout);
        return failed ? reason : 0;
    }
    if (failed || out->reason != 0)
        return out->reason != 0 ? out->reason : reason;
    if (out->temp.path == NULL)
        return 0;
    if (fsync(out->fd) != 0 || rename(out->temp.path, out->target) != 0)
        return errno;
    temp_release(&out->temp);
    out->fd = -1;
    return 0;
}

ls_status file_writer_commit(file_writer *w, ls_error *err)
{
    if (w->stream == NULL) {
        writer_close(w);
        return ls_fail(err, LS_ERR_INTERNAL, "a file writer was committed that is not open");
    }
    char *path = w->path;
    int reason = publish(w);
    w->path = NULL;
    int closing = writer_close(w);
    ls_status status = reason || closing ? fail_write(err, path, reason ? reason : closing) : LS_OK;
    free(path);
    return status;
}

ls_status file_write(const char *path, const void *data, size_t bytes, ls_error *err)
{
    file_writer w;
    ls_status status = file_writer_open(&w, path, err);
    if (status != LS_OK)
        return status;
    if (bytes > 0)
        fwrite(data, 1, bytes, w.stream); /* the commit finds a failure and its reason */
    return file_writer_commit(&w, err);
}

/* --------------------------------------------------------------------------------- files of other libraries */

ls_status file_temp_open(temp_file *temp, const char *path, ls_error *err)
{
    *temp = (temp_file){ 0 };
    if (path[0] == '\0')
        return ls_fail(err, LS_ERR_IO, "cannot write a file without a name");
    char *target = resolve_target(path);
    if (target == NULL)
        return fail_nomem(err, path);
    struct stat st;
    bool exists = stat(target, &st) == 0;
    ls_status status = LS_OK;
    if (exists && S_ISDIR(st.st_mode))
        status = fail_write(err, path, EISDIR);
    else if (exists && written_in_place(&st)) {
        ls_fail(err, LS_ERR_IO, "cannot write the file: it is a device or a pipe");
        status = ls_error_at(err, path, 0, 0);
    } else if (!temp_create(temp, target, LS_TEMP_FILE))
        status = fail_write(err, path, errno);
    free(target);
    return status;
}

ls_status file_temp_publish(temp_file *temp, const char *path, bool *existed, ls_error *err)
{
    char *target = resolve_target(path);
    ls_status status = LS_OK;
    *existed = false;
    /* link() fails if the file exists. On file systems without links, renameat2() can do the same. */
    if (target == NULL)
        status = fail_nomem(err, path);
    else if (link(temp->path, target) != 0 &&
             renameat2(AT_FDCWD, temp->path, AT_FDCWD, target, RENAME_NOREPLACE) != 0) {
        *existed = errno == EEXIST;
        if (!*existed)
            status = fail_write(err, path, errno);
    }
    temp_discard(temp);
    free(target);
    return status;
}

const char *file_write_reason(FILE *stream, int code)
{
    struct statvfs disk;
    if (code == 0)
        code = fstatvfs(fileno(stream), &disk) == 0 && disk.f_blocks > 0 && disk.f_bavail == 0 ? ENOSPC : EIO;
    return strerror(code);
}

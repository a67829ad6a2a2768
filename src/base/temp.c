/* temp.c: see temp.h. */
#include "base/temp.h"

#include "base/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TRIES = 100,
    NAME_BYTES = 200 /* of the target's name; the whole name must stay below 255 bytes */
};

/* ------------------------------------------------------------------------------------------------ orphans */

/* Whether the entry of a directory is ".NAME.PID-N.tmp" for this NAME. */
static bool is_temp_of(const char *entry, const char *name)
{
    size_t bytes = strnlen(name, NAME_BYTES);
    if (entry[0] != '.' || strncmp(entry + 1, name, bytes) != 0 || entry[bytes + 1] != '.')
        return false;
    const char *at = entry + bytes + 2;
    for (int part = 0; part < 2; part++) {
        if (!isdigit((unsigned char)*at))
            return false;
        while (isdigit((unsigned char)*at))
            at++;
        if (part == 0 && *at++ != '-')
            return false;
    }
    return strcmp(at, ".tmp") == 0;
}

/* A file, or a directory of files. */
static void remove_at(int dir_fd, const char *name)
{
    if (unlinkat(dir_fd, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    if (listing == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        unlinkat(fd, entry->d_name, 0);
    closedir(listing);
    unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* Any failure just leaves the orphans where they are. */
static void remove_orphans(const char *target)
{
    mem_arena arena = { 0 };
    char *dir = path_dir(&arena, target);
    DIR *listing = dir != NULL ? opendir(dir) : NULL;
    const char *name = path_base(target);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        if (!is_temp_of(entry->d_name, name))
            continue;
        int fd = openat(dirfd(listing), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            remove_at(dirfd(listing), entry->d_name);
        close(fd);
    }
    if (listing != NULL)
        closedir(listing);
    arena_fini(&arena);
}

/* ------------------------------------------------------------------------------------------------- making */

/* A name that is different for every call of every process. malloc'd. */
static char *name_beside(const char *target)
{
    static atomic_uint serial;
    unsigned n = atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed);
    const char *base = path_base(target);
    char *name = NULL;
    if (asprintf(&name, "%.*s.%.*s.%ld-%u.tmp", (int)(base - target), target, NAME_BYTES, base, (long)getpid(),
                 n) < 0)
        return NULL;
    return name;
}

static int make(const char *path, temp_kind kind)
{
    if (kind == LS_TEMP_FILE)
        return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return mkdir(path, 0777) == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* Between its making and its lock another process may have taken it for an orphan. A file system without locks
 * keeps its orphans. */
static bool lock(int fd)
{
    struct stat st;
    while (flock(fd, LOCK_EX) != 0)
        if (errno != EINTR)
            return true;
    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

bool temp_create(temp_file *temp, const char *target, temp_kind kind)
{
    *temp = (temp_file){ 0 };
    remove_orphans(target);
    for (int i = 0; i < TRIES; i++) {
        char *path = name_beside(target);
        int fd = path != NULL ? make(path, kind) : -1;
        if (path == NULL) {
            errno = ENOMEM;
            return false;
        }
        if (fd >= 0 && lock(fd)) {
            *temp = (temp_file){ .path = path, .fd = fd };
            return true;
        }
        int reason = fd >= 0 ? EEXIST : errno;
        if (fd >= 0)
            close(fd);
        free(path);
        errno = reason;
        if (reason != EEXIST)
            return false;
    }
    return false;
}

void temp_release(temp_file *temp)
{
    if (temp->path == NULL)
        return;
    close(temp->fd);
    free(temp->path);
    *temp = (temp_file){ 0 };
}

void temp_discard(temp_file *temp)
{
    if (temp->path != NULL)
        remove_at(AT_FDCWD, temp->path);
    temp_release(temp);
}

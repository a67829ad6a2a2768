/* cache.c: compiled programs on the disk, in the user's cache folder. A file is complete or absent. When the
 * folder is too large, the least recently used files are removed. */
#include "opencl/compile.h"

#include "base/file.h"
#include "base/vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CACHE_MAGIC "LSCLC1\n"
#define CACHE_BYTES_MAX ((uint64_t)256 << 20)
#define CACHE_FILE_MAX ((size_t)64 << 20)
#define CACHE_SUFFIX ".lscl"

typedef struct cache_head {
    char magic[8];
    uint64_t blob_bytes, log_bytes;
} cache_head;

/* The folder, made if it is not there; false if there is none. */
static bool find_folder(char *out, size_t room)
{
    const char *own = getenv("LOCKSTEP_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;
    if (own && *own)
        n = snprintf(out, room, "%s", own);
    else if (xdg && *xdg == '/')
        n = snprintf(out, room, "%s/lockstep/opencl", xdg);
    else if (home && *home == '/')
        n = snprintf(out, room, "%s/.cache/lockstep/opencl", home);
    else
        return false;
    if (n < 0 || (size_t)n >= room)
        return false;
    for (char *p = out + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            mkdir(out, 0700);
            *p = '/';
        }
    return mkdir(out, 0700) == 0 || file_is_dir(out);
}

static bool find_file(const ocl_cache_key *key, char *out, size_t room)
{
    char folder[3072];
    int n;
    if (!*key->name || !find_folder(folder, sizeof folder))
        return false;
    n = snprintf(out, room, "%s/%s" CACHE_SUFFIX, folder, key->name);
    return n > 0 && (size_t)n < room;
}

bool ocl_cache_load(const ocl_cache_key *key, ocl_blob *out, text_buffer *log)
{
    char path[4096];
    mem_arena arena = { 0 };
    cache_head head;
    char *data;
    size_t bytes;
    bool ok = false;
    if (!find_file(key, path, sizeof path) || !file_exists(path))
        return false;
    if (file_read(&arena, path, CACHE_FILE_MAX, &data, &bytes, NULL) == LS_OK && bytes > sizeof head) {
        memcpy(&head, data, sizeof head);
        ok = memcmp(head.magic, CACHE_MAGIC, sizeof head.magic) == 0 && head.blob_bytes <= bytes &&
             head.log_bytes <= bytes && head.blob_bytes + head.log_bytes + sizeof head == bytes;
    }
    if (ok) {
        out->bytes = (size_t)head.blob_bytes;
        out->at = malloc(out->bytes + 1);
        ok = out->at != NULL;
    }
    if (ok) {
        memcpy(out->at, data + sizeof head, out->bytes);
        text_addn(log, data + sizeof head + out->bytes, (size_t)head.log_bytes);
        utimensat(AT_FDCWD, path, NULL, 0); /* used now */
    }
    arena_fini(&arena);
    return ok;
}

/* ----------------------------------------------------------------------------------------------- evicting */

typedef struct cache_entry {
    struct timespec used;
    uint64_t bytes;
    char name[80];
} cache_entry;

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const cache_entry *)a)->used, *y = &((const cache_entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static void make_room(const char *folder)
{
    LS_VEC(cache_entry) entries = { 0 };
    DIR *dir = opendir(folder);
    uint64_t all = 0;
    for (struct dirent *d; dir && (d = readdir(dir)) != NULL;) {
        cache_entry entry;
        struct stat st;
        if (!ends_with(d->d_name, CACHE_SUFFIX) || strlen(d->d_name) >= sizeof entry.name ||
            fstatat(dirfd(dir), d->d_name, &st, 0) != 0)
            continue;
        entry.used = st.st_mtim;
        entry.bytes = (uint64_t)st.st_size;
        strcpy(entry.name, d->d_name);
        all += entry.bytes;
        if (!vec_reserve(&entries, 1))
            break;
        entries.at[entries.count++] = entry;
    }
    if (all > CACHE_BYTES_MAX) {
        qsort(entries.at, entries.count, sizeof *entries.at, by_age);
        for (size_t i = 0; i < entries.count && all > CACHE_BYTES_MAX * 3 / 4; i++) {
            unlinkat(dirfd(dir), entries.at[i].name, 0);
            all -= entries.at[i].bytes;
        }
    }
    if (dir)
        closedir(dir);
    vec_fini(&entries);
}

/* ------------------------------------------------------------------------------------------------ storing */

static bool write_entry(FILE *stream, const cache_head *head, const ocl_blob *blob, const char *log)
{
    return fwrite(head, sizeof *head, 1, stream) == 1 &&
           fwrite(blob->at, 1, blob->bytes, stream) == blob->bytes &&
           fwrite(log, 1, (size_t)head->log_bytes, stream) == head->log_bytes && fflush(stream) == 0;
}

/* The file has no name until it is complete: a killed process leaves no file. False if the folder's file
 * system does not support unnamed files. */
static bool store_unnamed(const char *folder, const char *path, const cache_head *head, const ocl_blob *blob,
                          const char *log)
{
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "wb");
    char link[64];
    if (!stream) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (write_entry(stream, head, blob, log)) /* if it is there by now, it is the same */
        (void)!linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    fclose(stream);
    return true;
}

static void store_named(const char *path, const cache_head *head, const ocl_blob *blob, const char *log)
{
    file_writer writer;
    if (file_writer_open(&writer, path, NULL) != LS_OK)
        return;
    if (write_entry(writer.stream, head, blob, log))
        file_writer_commit(&writer, NULL);
    else
        file_writer_abort(&writer);
}

/* A cache that cannot be written is slow, not wrong. */
void ocl_cache_store(const ocl_cache_key *key, const ocl_blob *blob, const char *log)
{
    cache_head head = { .magic = CACHE_MAGIC, .blob_bytes = blob->bytes, .log_bytes = strlen(log) };
    char path[4096], folder[4096];
    if (blob->bytes + head.log_bytes + sizeof head > CACHE_FILE_MAX || !find_file(key, path, sizeof path))
        return;
    strcpy(folder, path);
    *strrchr(folder, '/') = '\0';
    if (!store_unnamed(folder, path, &head, blob, log))
        store_named(path, &head, blob, log);
    make_room(folder);
}

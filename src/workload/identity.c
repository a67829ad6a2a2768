/* identity.c: names and contents of a trace's files, hashed in the order of their names. */
#include "workload/identity.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1 << 20)

typedef struct identity {
    mem_arena arena;
    hash_stream *hasher;
    char *piece; /* PIECE_BYTES */
} identity;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left to read the trace");
}

static ls_status fail_file(const char *path, ls_error *err)
{
    ls_fail(err, LS_ERR_IO, "cannot read: %s", strerror(errno));
    return ls_error_at(err, path, 0, 0);
}

static ls_status add_file(identity *id, const char *path, ls_error *err)
{
    int fd;
    ls_status status = file_open(path, &fd, NULL, err);
    if (status != LS_OK)
        return status;
    uint64_t total = 0;
    for (;;) {
        ssize_t bytes = read(fd, id->piece, PIECE_BYTES);
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes < 0)
            status = fail_file(path, err);
        if (bytes <= 0)
            break;
        hasher_add(id->hasher, id->piece, (size_t)bytes);
        total += (uint64_t)bytes;
    }
    close(fd);
    hasher_add(id->hasher, &total, sizeof total); /* where it ends */
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static ls_status add_directory(identity *id, const char *path, ls_error *err)
{
    DIR *dir = opendir(path);
    if (!dir)
        return fail_file(path, err);
    LS_VEC(const char *) names = { 0 };
    ls_status status = LS_OK;
    for (struct dirent *entry; status == LS_OK && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        const char *name = arena_strdup(&id->arena, entry->d_name);
        if (!name || !vec_push(&names, name))
            status = no_memory(err);
    }
    closedir(dir);
    if (names.count)
        qsort(names.at, names.count, sizeof *names.at, by_name);
    for (size_t i = 0; i < names.count && status == LS_OK; i++) {
        const char *file = path_join(&id->arena, path, names.at[i]);
        struct stat info;
        if (!file)
            status = no_memory(err);
        else if (stat(file, &info) == 0 && S_ISREG(info.st_mode)) {
            hasher_add_field(id->hasher, names.at[i], strlen(names.at[i]));
            status = add_file(id, file, err);
        }
    }
    vec_fini(&names);
    return status;
}

ls_status trace_identity(const char *path, hash128 *out, ls_error *err)
{
    if (starts_with(path, "synth:")) {
        *out = hash128_of(path, strlen(path));
        return LS_OK;
    }
    identity id = { .piece = malloc(PIECE_BYTES) };
    ls_status status = id.piece ? hasher_create(&id.hasher, err) : no_memory(err);
    if (status == LS_OK) {
        bool is_dir = file_is_dir(path), is_list = starts_with(path_base(path), "kernelslist");
        const char *from = is_list && !is_dir ? path_dir(&id.arena, path) : path;
        if (!from)
            status = no_memory(err);
        else
            status = is_dir || is_list ? add_directory(&id, from, err) : add_file(&id, from, err);
    }
    if (status == LS_OK)
        *out = hasher_get(id.hasher);
    hasher_destroy(id.hasher);
    free(id.piece);
    arena_fini(&id.arena);
    return status;
}

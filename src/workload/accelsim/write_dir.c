/* write_dir.c: a trace as a directory: kernelslist.g and one file per kernel. Everything is written into a
 * fresh directory beside the final one, which is then renamed: a trace is there whole or not at all. (Nobody
 * waits for the disk: what a power cut takes can be unpacked again.) */
#include "workload/accelsim/write.h"

#include "base/file.h"
#include "base/map.h"
#include "workload/accelsim/write_zip.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_NAME "kernelslist.g"
#define FLUSH_BYTES 262144 /* text of a block that is collected before it goes to the compressor */

typedef struct dir_sink {
    ls_sink base;
    ls_compression compression;
    ls_arena arena;
    char *path;   /* the directory's final name */
    ls_temp temp; /* the directory while it is written */
    ls_map files; /* names that were written, so that a kernel that is launched twice is written once */
    ls_text list, text;
    ls_zip_writer *zip; /* of the kernel that is being written, or NULL */
    bool first;         /* no block of the kernel was written yet */
} dir_sink;

static ls_status fail_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ------------------------------------------------------------------------------------------ the directory */

/* Fails if something stands at path that a rename would not replace. */
static ls_status check_free(const char *path, ls_error *err)
{
    struct stat status;
    if (lstat(path, &status) != 0) {
        if (errno == ENOENT)
            return LS_OK;
        return ls_fail(err, LS_ERR_IO, "cannot look at '%s': %s", path, strerror(errno));
    }
    if (!S_ISDIR(status.st_mode))
        return ls_fail(err, LS_ERR_USAGE, "'%s' exists and is not a directory", path);
    DIR *dir = opendir(path);
    if (!dir)
        return ls_fail(err, LS_ERR_IO, "cannot read directory '%s': %s", path, strerror(errno));
    bool empty = true;
    for (const struct dirent *entry; (entry = readdir(dir));)
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
    closedir(dir);
    if (!empty)
        return ls_fail(err, LS_ERR_USAGE, "directory '%s' exists and is not empty", path);
    return LS_OK;
}

static void destroy(dir_sink *sink)
{
    ls_zip_abort(sink->zip);
    ls_map_fini(&sink->files);
    ls_text_fini(&sink->list);
    ls_text_fini(&sink->text);
    ls_arena_fini(&sink->arena);
    free(sink);
}

static void dir_abort(ls_sink *base)
{
    dir_sink *sink = (dir_sink *)base;
    ls_zip_abort(sink->zip);
    sink->zip = NULL;
    ls_temp_discard(&sink->temp);
    destroy(sink);
}

/* ------------------------------------------------------------------------------------------------ kernels */

/* The name in the list and the file: the given one with the suffix of the chosen compression. */
static ls_status file_name(dir_sink *sink, const char *name, const char **out, ls_error *err)
{
    char quoted[80];
    if (!ls_starts_with(name, "kernel") || strchr(name, '/') || strlen(name) > NAME_MAX - 8)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "'%s' cannot be the file of a kernel: it must start with 'kernel' and have no '/'",
                       ls_quote(name, strlen(name), quoted, sizeof quoted));
    ls_compression old = ls_zip_of_name(name);
    size_t stem = strlen(name) - strlen(ls_zip_suffix(old));
    ls_compression compression = sink->compression == LS_COMPRESS_SAME ? old : sink->compression;
    *out = ls_arena_printf(&sink->arena, "%.*s%s", (int)stem, name, ls_zip_suffix(compression));
    return *out ? LS_OK : fail_memory(err);
}

static ls_status dir_command(ls_sink *base, const ls_command *command, ls_error *err)
{
    dir_sink *sink = (dir_sink *)base;
    ls_text_add(&sink->list, command->text);
    ls_text_add(&sink->list, "\n");
    return sink->list.failed ? fail_memory(err) : LS_OK;
}

static ls_status dir_begin(ls_sink *base, const ls_sink_kernel *kernel, bool *known, ls_error *err)
{
    dir_sink *sink = (dir_sink *)base;
    const char *name = NULL;
    ls_status status = file_name(sink, kernel->name, &name, err);
    if (!name)
        return status;
    ls_text_add(&sink->list, name);
    ls_text_add(&sink->list, "\n");
    *known = ls_map_has(&sink->files, name);
    if (*known)
        return sink->list.failed ? fail_memory(err) : LS_OK;
    char *path = ls_path_join(&sink->arena, sink->temp.path, name);
    if (!path || !ls_map_put(&sink->files, name, NULL))
        return fail_memory(err);
    status = ls_zip_create(path, ls_zip_of_name(name), &sink->zip, err);
    if (status != LS_OK)
        return status;
    sink->first = true;
    return ls_zip_write(sink->zip, kernel->header, kernel->header_bytes, err);
}

static ls_status flush(dir_sink *sink, ls_error *err)
{
    ls_status status = ls_zip_write(sink->zip, ls_text_get(&sink->text), sink->text.count, err);
    ls_text_clear(&sink->text);
    return status;
}

static ls_status dir_cta(ls_sink *base, const ls_sink_kernel *kernel, const ls_cta *cta, ls_error *err)
{
    dir_sink *sink = (dir_sink *)base;
    ls_status status = ls_write_cta(&sink->text, kernel->kernel, kernel->info, cta, sink->first, err);
    sink->first = false;
    return status == LS_OK && sink->text.count >= FLUSH_BYTES ? flush(sink, err) : status;
}

static ls_status dir_end(ls_sink *base, const ls_sink_kernel *kernel, ls_error *err)
{
    (void)kernel;
    dir_sink *sink = (dir_sink *)base;
    ls_status status = flush(sink, err);
    if (status != LS_OK)
        return status;
    ls_zip_writer *zip = sink->zip;
    sink->zip = NULL;
    return ls_zip_finish(zip, err);
}

/* ------------------------------------------------------------------------------------------------ the end */

static ls_status dir_finish(ls_sink *base, ls_error *err)
{
    dir_sink *sink = (dir_sink *)base;
    char *list = ls_path_join(&sink->arena, sink->temp.path, LIST_NAME);
    ls_zip_writer *zip = NULL;
    ls_status status = list ? ls_zip_create(list, LS_COMPRESS_NONE, &zip, err) : fail_memory(err);
    if (status == LS_OK)
        status = ls_zip_write(zip, ls_text_get(&sink->list), sink->list.count, err);
    if (status == LS_OK)
        status = ls_zip_finish(zip, err);
    else
        ls_zip_abort(zip);
    if (status == LS_OK && rename(sink->temp.path, sink->path) != 0)
        status = ls_fail(err, LS_ERR_IO, "cannot create '%s': %s", sink->path, strerror(errno));
    if (status != LS_OK) {
        dir_abort(base);
        return status;
    }
    ls_temp_release(&sink->temp);
    destroy(sink);
    return LS_OK;
}

static const ls_sink_ops dir_ops = {
    .command = dir_command,
    .begin = dir_begin,
    .cta = dir_cta,
    .end = dir_end,
    .finish = dir_finish,
    .abort = dir_abort,
};

static ls_status make_temp(dir_sink *sink, ls_error *err)
{
    if (ls_temp_create(&sink->temp, sink->path, LS_TEMP_DIR))
        return LS_OK;
    if (errno == ENOENT)
        return ls_fail(err, LS_ERR_IO, "cannot create the directory '%s': the one around it does not exist",
                       sink->path);
    return ls_fail(err, LS_ERR_IO, "cannot create a directory beside '%s': %s", sink->path, strerror(errno));
}

ls_status ls_write_dir_create(const char *path, ls_compression compression, ls_sink **out, ls_error *err)
{
    *out = NULL;
    ls_status status = check_free(path, err);
    if (status != LS_OK)
        return status;
    dir_sink *sink = calloc(1, sizeof *sink);
    if (!sink)
        return fail_memory(err);
    sink->base.ops = &dir_ops;
    sink->compression = compression;
    size_t bytes = strlen(path);
    while (bytes > 1 && path[bytes - 1] == '/')
        bytes--;
    sink->path = ls_arena_strndup(&sink->arena, path, bytes);
    status = sink->path ? make_temp(sink, err) : fail_memory(err);
    if (status != LS_OK) {
        dir_abort(&sink->base);
        return status;
    }
    *out = &sink->base;
    return LS_OK;
}

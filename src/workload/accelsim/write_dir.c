/* write_dir.c: a trace as a directory: kernelslist.g and one file per kernel. Everything is written into a
 * fresh directory beside the final one, which is then renamed: a trace exists whole or not at all. (The files
 * are not synced to the disk: after a power cut the trace can be unpacked again.) */
#include "workload/accelsim/write.h"

#include "base/file.h"
#include "base/map.h"
#include "workload/accelsim/tracez.h"
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
    trace_sink base;
    text_compression compression;
    mem_arena arena;
    char *path;       /* the directory's final name */
    temp_file temp;   /* the directory while it is written */
    string_map files; /* names that were written, so that a kernel that is launched twice is written once */
    text_buffer list, text;
    zip_writer *zip;      /* of the kernel that is being written, or NULL */
    tracez_writer *pages; /* the same for a .tracez file */
    bool first;           /* no block of the kernel was written yet */
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
    zip_abort(sink->zip);
    tracez_abort(sink->pages);
    map_fini(&sink->files);
    text_fini(&sink->list);
    text_fini(&sink->text);
    arena_fini(&sink->arena);
    free(sink);
}

static void dir_abort(trace_sink *base)
{
    dir_sink *sink = (dir_sink *)base;
    zip_abort(sink->zip);
    tracez_abort(sink->pages);
    sink->zip = NULL;
    sink->pages = NULL;
    temp_discard(&sink->temp);
    destroy(sink);
}

/* ------------------------------------------------------------------------------------------------ kernels */

/* The name in the list and the file: the given one with the suffix of the chosen compression. */
static ls_status file_name(dir_sink *sink, const char *name, const char **out, ls_error *err)
{
    char quoted[80];
    if (!starts_with(name, "kernel") || strchr(name, '/') || strlen(name) > NAME_MAX - 8)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "'%s' cannot be the file of a kernel: it must start with 'kernel' and have no '/'",
                       quote_text(name, strlen(name), quoted, sizeof quoted));
    static const char text_suffix[] = ".traceg";
    text_compression old = zip_of_name(name);
    size_t stem = strlen(name) - strlen(zip_suffix(old));
    text_compression compression = sink->compression == LS_COMPRESS_SAME ? old : sink->compression;
    bool from = old == LS_COMPRESS_TRACEZ, to = compression == LS_COMPRESS_TRACEZ;
    if (to && !from && stem >= sizeof text_suffix - 1 &&
        memcmp(name + stem - (sizeof text_suffix - 1), text_suffix, sizeof text_suffix - 1) == 0)
        stem -= sizeof text_suffix - 1; /* .tracez stands for .traceg and a compression */
    *out = arena_printf(&sink->arena, "%.*s%s%s", (int)stem, name, from && !to ? text_suffix : "",
                        zip_suffix(compression));
    return *out ? LS_OK : fail_memory(err);
}

static ls_status dir_command(trace_sink *base, const trace_cmd *command, ls_error *err)
{
    dir_sink *sink = (dir_sink *)base;
    text_add(&sink->list, command->text);
    text_add(&sink->list, "\n");
    return sink->list.failed ? fail_memory(err) : LS_OK;
}

static ls_status dir_begin(trace_sink *base, const sink_kernel *kernel, bool *known, ls_error *err)
{
    dir_sink *sink = (dir_sink *)base;
    const char *name = NULL;
    ls_status status = file_name(sink, kernel->name, &name, err);
    if (!name)
        return status;
    text_add(&sink->list, name);
    text_add(&sink->list, "\n");
    *known = map_has(&sink->files, name);
    if (*known)
        return sink->list.failed ? fail_memory(err) : LS_OK;
    char *path = path_join(&sink->arena, sink->temp.path, name);
    if (!path || !map_put(&sink->files, name, NULL))
        return fail_memory(err);
    sink->first = true;
    if (zip_of_name(name) == LS_COMPRESS_TRACEZ)
        return tracez_create(path, kernel->header, kernel->header_bytes, &sink->pages, err);
    status = zip_create(path, zip_of_name(name), &sink->zip, err);
    if (status != LS_OK)
        return status;
    return zip_write(sink->zip, kernel->header, kernel->header_bytes, err);
}

static ls_status flush(dir_sink *sink, ls_error *err)
{
    ls_status status = zip_write(sink->zip, text_get(&sink->text), sink->text.count, err);
    text_clear(&sink->text);
    return status;
}

static ls_status dir_cta(trace_sink *base, const sink_kernel *kernel, const ls_cta *cta, ls_error *err)
{
    dir_sink *sink = (dir_sink *)base;
    if (sink->pages)
        return tracez_add(sink->pages, kernel->kernel, kernel->info, cta, err);
    ls_status status = write_cta(&sink->text, kernel->kernel, kernel->info, cta, sink->first, err);
    sink->first = false;
    return status == LS_OK && sink->text.count >= FLUSH_BYTES ? flush(sink, err) : status;
}

static ls_status dir_end(trace_sink *base, const sink_kernel *kernel, ls_error *err)
{
    (void)kernel;
    dir_sink *sink = (dir_sink *)base;
    if (sink->pages) {
        tracez_writer *pages = sink->pages;
        sink->pages = NULL;
        return tracez_finish(pages, err);
    }
    ls_status status = flush(sink, err);
    if (status != LS_OK)
        return status;
    zip_writer *zip = sink->zip;
    sink->zip = NULL;
    return zip_finish(zip, err);
}

/* ------------------------------------------------------------------------------------------------ the end */

static ls_status dir_finish(trace_sink *base, ls_error *err)
{
    dir_sink *sink = (dir_sink *)base;
    char *list = path_join(&sink->arena, sink->temp.path, LIST_NAME);
    zip_writer *zip = NULL;
    ls_status status = list ? zip_create(list, LS_COMPRESS_NONE, &zip, err) : fail_memory(err);
    if (status == LS_OK)
        status = zip_write(zip, text_get(&sink->list), sink->list.count, err);
    if (status == LS_OK)
        status = zip_finish(zip, err);
    else
        zip_abort(zip);
    if (status == LS_OK && rename(sink->temp.path, sink->path) != 0)
        status = ls_fail(err, LS_ERR_IO, "cannot create '%s': %s", sink->path, strerror(errno));
    if (status != LS_OK) {
        dir_abort(base);
        return status;
    }
    temp_release(&sink->temp);
    destroy(sink);
    return LS_OK;
}

static const sink_ops dir_ops = {
    .command = dir_command,
    .begin = dir_begin,
    .cta = dir_cta,
    .end = dir_end,
    .finish = dir_finish,
    .abort = dir_abort,
};

static ls_status make_temp(dir_sink *sink, ls_error *err)
{
    if (temp_create(&sink->temp, sink->path, LS_TEMP_DIR))
        return LS_OK;
    if (errno == ENOENT)
        return ls_fail(err, LS_ERR_IO, "cannot create the directory '%s': the one around it does not exist",
                       sink->path);
    return ls_fail(err, LS_ERR_IO, "cannot create a directory beside '%s': %s", sink->path, strerror(errno));
}

ls_status write_dir_create(const char *path, text_compression compression, trace_sink **out, ls_error *err)
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
    sink->path = arena_strndup(&sink->arena, path, bytes);
    status = sink->path ? make_temp(sink, err) : fail_memory(err);
    if (status != LS_OK) {
        dir_abort(&sink->base);
        return status;
    }
    *out = &sink->base;
    return LS_OK;
}

/* file.h: read whole files with a size limit; write whole files or nothing. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/arena.h"
#include "base/temp.h"
#include "lockstep/status.h"

#include <stdbool.h>
#include <stdio.h>

/* Opens a regular file for reading. Everything else is refused at once with the word for it (a directory, a
 * named pipe, a socket, a device): opening a pipe would wait for a writer. size may be NULL. */
ls_status file_open(const char *path, int *fd, uint64_t *size, ls_error *err);
/* The same refusal for files that another library opens. A file that does not exist is left to that. */
ls_status file_check_input(const char *path, ls_error *err);

/* Reads the whole file into the arena, with a terminating NUL after *bytes. A regular file, or a pipe that has
 * no name, as a shell makes it: <(command), /dev/stdin. Everything else, a missing file (with the nearest name
 * of its directory), no permission, and more than limit bytes are each an error with a clear line. */
ls_status file_read(mem_arena *arena, const char *path, size_t limit, char **data, size_t *bytes,
                    ls_error *err);

/* A file that appears under its name only when it is complete: written to a temporary file beside it, flushed
 * to the disk, then renamed. A symbolic link stays one; a replaced file keeps its permissions. path "-" is
 * standard output; that, devices and pipes are written in place. */
typedef struct file_writer {
    FILE *stream;         /* write here */
    char *path;           /* as the user named it */
    struct file_out *out; /* below the stream; NULL: the stream is standard output */
} file_writer;

ls_status file_writer_open(file_writer *w, const char *path, ls_error *err);
/* Checks for write errors and renames. The writer is closed in every case; on failure nothing is left. */
ls_status file_writer_commit(file_writer *w, ls_error *err);
void file_writer_abort(file_writer *w);

ls_status file_write(const char *path, const void *data, size_t bytes, ls_error *err); /* atomic */
/* Whether a file could be written there, before hours of work end in a typing mistake. Nothing is created. */
ls_status file_check_writable(const char *path, ls_error *err);

/* For libraries that open the file themselves (SQLite): an empty temporary file beside path. */
ls_status file_temp_open(temp_file *temp, const char *path, ls_error *err);
/* Gives it the name path if no file has that name yet; *existed says that one has, and nothing is changed. The
 * temporary name is gone in every case. */
ls_status file_temp_publish(temp_file *temp, const char *path, bool *existed, ls_error *err);

bool file_exists(const char *path);
bool file_is_dir(const char *path);
/* "dir/name", "name" if it is absolute or dir is empty. */
char *path_join(mem_arena *arena, const char *dir, const char *name);
char *path_dir(mem_arena *arena, const char *path); /* "." if there is no '/' */
const char *path_base(const char *path);            /* after the last '/' */
/* Where the running program lies, for files that are installed beside it. */
ls_status path_of_executable(mem_arena *arena, char **dir, ls_error *err);
/* Where the shared library lies that this code is part of; *dir is NULL if it is part of the program
 * itself. */
ls_status path_of_library(mem_arena *arena, char **dir, ls_error *err);

/* Why writing to a stream failed. code: errno of the last call, or 0 if the stream keeps an older error whose
 * reason is gone: then a full disk is distinguished from other failures. */
const char *file_write_reason(FILE *stream, int code);

#endif

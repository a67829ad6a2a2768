/* tool.c: a child process with memory files as its standard streams. It inherits nothing else of ours. */
#include "opencl/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN_FDS 200 /* ours lie above, so that moving them in the child never overwrites one */

extern char **environ;

static ls_status system_failure(const char *what, ls_error *err)
{
    char reason[128];
    return ls_fail(err, LS_ERR_IO, "%s: %s", what, strerror_r(errno, reason, sizeof reason));
}

static bool write_all(int fd, const char *data, size_t bytes)
{
    for (ssize_t n; bytes > 0; data += n, bytes -= (size_t)n) {
        n = write(fd, data, bytes);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            return false;
    }
    return true;
}

/* A file in memory with the data in it, at its beginning; -1: failed. */
static int memory_file(const void *data, size_t bytes)
{
    int low = memfd_create("lockstep", MFD_CLOEXEC), fd;
    if (low < 0)
        return -1;
    fd = fcntl(low, F_DUPFD_CLOEXEC, OWN_FDS);
    close(low);
    if (fd >= 0 && (!write_all(fd, data, bytes) || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool read_file(int fd, ocl_blob *out)
{
    struct stat st;
    size_t got = 0;
    if (fstat(fd, &st) != 0)
        return false;
    out->at = malloc((size_t)st.st_size + 1);
    if (!out->at)
        return false;
    while (got < (size_t)st.st_size) {
        ssize_t n = pread(fd, out->at + got, (size_t)st.st_size - got, (off_t)got);
        if (n <= 0 && errno != EINTR)
            break;
        got += n > 0 ? (size_t)n : 0;
    }
    out->at[got] = '\0';
    out->bytes = got;
    return true;
}

/* ------------------------------------------------------------------------------------------------- inputs */

void ocl_tool_init(ocl_tool *tool)
{
    tool->count = 0;
}

void ocl_tool_fini(ocl_tool *tool)
{
    while (tool->count > 0)
        close(tool->fds[--tool->count]);
}

ls_status ocl_tool_input(ocl_tool *tool, const void *data, size_t bytes, ls_error *err)
{
    int fd;
    if (tool->count == OCL_TOOL_INPUTS_MAX)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "more than %d files for one compilation", OCL_TOOL_INPUTS_MAX);
    fd = memory_file(data, bytes);
    if (fd < 0)
        return system_failure("cannot make a file in memory", err);
    snprintf(tool->paths[tool->count], sizeof *tool->paths, OCL_TOOL_PATH_FORMAT,
             OCL_TOOL_FIRST_FD + (int)tool->count);
    tool->fds[tool->count++] = fd;
    return LS_OK;
}

const char *ocl_tool_path(const ocl_tool *tool, size_t input)
{
    return tool->paths[input];
}

/* ------------------------------------------------------------------------------------------------ running */

static int spawn(const ocl_tool *tool, const char *const *args, const int streams[3], pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawnattr_init(&attributes);
    if (code != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    for (int i = 0; i < 3 && code == 0; i++)
        code = posix_spawn_file_actions_adddup2(&actions, streams[i], i);
    for (size_t i = 0; i < tool->count && code == 0; i++)
        code = posix_spawn_file_actions_adddup2(&actions, tool->fds[i], OCL_TOOL_FIRST_FD + (int)i);
    /* The host's blocked signals are not the compiler's. */
    sigemptyset(&none);
    if (code == 0)
        code = posix_spawnattr_setsigmask(&attributes, &none);
    if (code == 0)
        code = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (code == 0)
        code = posix_spawn(child, args[0], &actions, &attributes, (char *const *)(uintptr_t)args, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* A host that collects all its children may have taken ours: then the output must speak for itself. */
static bool wait_for(pid_t child, bool *is_known)
{
    int state = 0;
    pid_t got;
    do
        got = waitpid(child, &state, 0);
    while (got < 0 && errno == EINTR);
    *is_known = got == child;
    return got == child && WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

ls_status ocl_tool_run(const ocl_tool *tool, const char *const *args, const void *input, size_t input_bytes,
                       ocl_blob *out, text_buffer *log, ls_error *err)
{
    int streams[3] = { memory_file(input, input_bytes), memory_file(NULL, 0), memory_file(NULL, 0) };
    ocl_blob messages = { 0 };
    ls_status status = LS_OK;
    bool is_known = true, is_good = false;
    pid_t child = -1;
    *out = (ocl_blob){ 0 };
    if (streams[0] < 0 || streams[1] < 0 || streams[2] < 0)
        status = system_failure("cannot make a file in memory", err);
    if (status == LS_OK && (errno = spawn(tool, args, streams, &child)) != 0)
        status = system_failure(args[0], err);
    if (status == LS_OK) {
        is_good = wait_for(child, &is_known);
        if (!read_file(streams[1], out) || !read_file(streams[2], &messages))
            status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    if (messages.at)
        text_addn(log, (const char *)messages.at, messages.bytes);
    if (status == LS_OK && !(is_known ? is_good : out->bytes > 0 && messages.bytes == 0))
        status = ls_fail(err, LS_ERR_INPUT, "%s failed", args[0]);
    for (int i = 0; i < 3; i++)
        if (streams[i] >= 0)
            close(streams[i]);
    free(messages.at);
    if (status != LS_OK) {
        free(out->at);
        *out = (ocl_blob){ 0 };
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ finding */

static bool find_in_path(const char *name, char *out, size_t room)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/'))
        return snprintf(out, room, "%s", name) < (int)room && access(out, X_OK) == 0;
    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (length > 0 && snprintf(out, room, "%.*s/%s", (int)length, path, name) < (int)room &&
            access(out, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

bool ocl_tool_find(const char *variable, const char *const *names, char *out, size_t room)
{
    const char *given = getenv(variable);
    if (given && *given)
        return find_in_path(given, out, room);
    for (; *names; names++)
        if (find_in_path(*names, out, room))
            return true;
    return false;
}

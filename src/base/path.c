/* path.c: the questions about paths that need no open file. */
#include "base/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

bool file_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *path_join(mem_arena *arena, const char *dir, const char *name)
{
    size_t length = strlen(dir);
    if (length == 0 || name[0] == '/')
        return arena_strdup(arena, name);
    return arena_printf(arena, "%s%s%s", dir, dir[length - 1] == '/' ? "" : "/", name);
}

char *path_dir(mem_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return arena_strdup(arena, ".");
    while (slash > path && slash[-1] == '/')
        slash--;
    if (slash == path)
        return arena_strdup(arena, "/");
    return arena_strndup(arena, path, (size_t)(slash - path));
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Without /proc, as in a bare chroot: the name under which the kernel started the program. */
static ls_status executable_dir_from_kernel(mem_arena *arena, char **dir, ls_error *err)
{
    const char *name = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
    char *path = name != NULL ? realpath(name, NULL) : NULL;
    if (path == NULL)
        return ls_fail(err, LS_ERR_IO, "cannot find the path of the program: %s", strerror(errno));
    *dir = path_dir(arena, path);
    free(path);
    return *dir != NULL ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory left for a path");
}

ls_status path_of_executable(mem_arena *arena, char **dir, ls_error *err)
{
    /* The length of the link is not known; a result that fills the buffer may be truncated. */
    for (size_t size = 1024; size <= 1 << 20; size *= 4) {
        char *path = arena_alloc(arena, size);
        if (path == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory left for a path");
        ssize_t length = readlink("/proc/self/exe", path, size - 1);
        if (length < 0)
            return executable_dir_from_kernel(arena, dir, err);
        if ((size_t)length < size - 1) {
            *dir = path_dir(arena, path);
            return *dir != NULL ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory left for a path");
        }
    }
    return ls_fail(err, LS_ERR_IO, "the path of the program is too long");
}

ls_status path_of_library(mem_arena *arena, char **dir, ls_error *err)
{
    static const char here = 0; /* any address inside of this code's file */
    Dl_info info;
    *dir = NULL;
    if (dladdr(&here, &info) == 0 || info.dli_fname == NULL ||
        strstr(path_base(info.dli_fname), ".so") == NULL)
        return LS_OK;
    char *path = realpath(info.dli_fname, NULL);
    if (path == NULL)
        return LS_OK; /* moved since it was loaded: its path is of no use */
    *dir = path_dir(arena, path);
    free(path);
    return *dir != NULL ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory left for a path");
}

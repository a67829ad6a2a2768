/* kfd_present.c: rocminfo asks lsmod and /dev/kfd for AMD's kernel driver before it asks the HSA runtime. `lockstep exec`
 * loads this library before it (LD_PRELOAD), and only before it: the driver seems to be there. Nothing else changes. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#pragma GCC visibility push(default)

FILE *popen(const char *command, const char *mode)
{
    FILE *(*real)(const char *, const char *);
    *(void **)&real = dlsym(RTLD_NEXT, "popen");
    return real(strstr(command, "lsmod") ? "echo amdgpu" : command, mode);
}

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...);
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    *(void **)&real = dlsym(RTLD_NEXT, "open");
    return real(strcmp(path, "/dev/kfd") == 0 ? "/dev/null" : path, flags, mode);
}

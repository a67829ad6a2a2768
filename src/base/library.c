/* library.c: see library.h. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

bool library_load(const char *name, const library_call *calls, size_t count)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    bool all = library != NULL;
    for (size_t i = 0; i < count && all; i++) {
        void *found = dlsym(library, calls[i].name);
        /* POSIX lets a pointer to data stand for a function; C does not, so it is copied. */
        memcpy(calls[i].pointer, &found, sizeof found);
        all = found != NULL;
    }
    return all;
}

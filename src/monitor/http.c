/* http.c: see http.h. */
#include "monitor/http.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define LIBRARY "libmicrohttpd.so.12" /* the name of its interface since 2015 */

http_calls http;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;

/* POSIX lets a pointer to data stand for a function; C does not, so it is copied. */
static bool find(void *library, const char *name, void *call)
{
    void *found = dlsym(library, name);
    memcpy(call, &found, sizeof found);
    return found != NULL;
}

static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    bool all = library != NULL;
#define X(name) all = all && find(library, "MHD_" #name, &http.name);
    HTTP_CALLS(X)
#undef X
    loaded = all;
}

ls_status http_load(ls_error *err)
{
    pthread_once(&once, load);
    return loaded ? LS_OK
                  : ls_fail(err, LS_ERR_UNSUPPORTED,
                            "a monitor needs libmicrohttpd, and its library (%s) cannot be loaded", LIBRARY);
}

/* sqlite.c: see sqlite.h. */
#include "report/sqlite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define LIBRARY "libsqlite3.so.0" /* the name of its interface since 2004 */

sqlite_calls sqlite;

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
#define X(name) all = all && find(library, "sqlite3_" #name, &sqlite.name);
    SQLITE_CALLS(X)
#undef X
    loaded = all; /* it stays until the program ends */
}

ls_status sqlite_load(ls_error *err)
{
    pthread_once(&once, load);
    if (loaded)
        return LS_OK;
    return ls_fail(err, LS_ERR_UNSUPPORTED, "databases need SQLite, and its library (%s) cannot be loaded",
                   LIBRARY);
}

/* http.c: see http.h. */
#include "monitor/http.h"

#include "base/library.h"

#include <pthread.h>
#include <stdbool.h>

#define LIBRARY "libmicrohttpd.so.12" /* the name of its interface since 2015 */

http_calls http;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;

static void load(void)
{
#define X(name) { "MHD_" #name, &http.name },
    static const library_call calls[] = { HTTP_CALLS(X) };
#undef X
    loaded = library_load(LIBRARY, calls, sizeof calls / sizeof *calls);
}

ls_status http_load(ls_error *err)
{
    pthread_once(&once, load);
    return loaded ? LS_OK
                  : ls_fail(err, LS_ERR_UNSUPPORTED,
                            "a monitor needs libmicrohttpd, and its library (%s) cannot be loaded", LIBRARY);
}

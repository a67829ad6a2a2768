/* sqlite.c: see sqlite.h. */
#include "report/sqlite.h"

#include "base/library.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libsqlite3.so.0" /* the name of its interface since 2004 */

sqlite_calls sqlite;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;

static void load(void)
{
#define X(name) { "sqlite3_" #name, &sqlite.name },
    static const library_call calls[] = { SQLITE_CALLS(X) };
#undef X
    loaded = library_load(LIBRARY, calls, sizeof calls / sizeof *calls);
}

ls_status sqlite_load(ls_error *err)
{
    pthread_once(&once, load);
    if (loaded)
        return LS_OK;
    return ls_fail(err, LS_ERR_UNSUPPORTED, "databases need SQLite, and its library (%s) cannot be loaded",
                   LIBRARY);
}

/* ------------------------------------------------------------------------------------------------ waiting */

/* Sleeps 1 to 10 ms, longer the longer it waits; different in each process, so that they do not stay in step. */
static int on_busy(void *self, int tries)
{
    sqlite_wait *wait = self;
    uint64_t now = host_clock_ns();
    if (tries == 0)
        wait->until_ns = now + (uint64_t)wait->limit_ms * 1000000u;
    if (now >= wait->until_ns)
        return 0;
    long ms = tries < 9 ? tries + 1 : 10;
    struct timespec pause = { .tv_nsec = ms * 900000 + getpid() % 16 * 20000 };
    nanosleep(&pause, NULL);
    return 1;
}

void sqlite_wait_for_locks(sqlite3 *db, sqlite_wait *wait, unsigned limit_ms)
{
    wait->limit_ms = limit_ms;
    sqlite.busy_handler(db, on_busy, wait);
}

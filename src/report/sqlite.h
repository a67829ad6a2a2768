/* sqlite.h: SQLite, loaded when the first database is opened. Most runs write none, and binding this one
 * library took the dynamic linker three times as long as all others together. */
#ifndef REPORT_SQLITE_H
#define REPORT_SQLITE_H

#include "lockstep/status.h"

#include <sqlite3.h>
#include <stdint.h>

/* How long a writer waits for the others before it gives up: the results of a long run are worth it. */
#define SQLITE_LOCK_WAIT_MS 300000

/* Lets db wait this long for locks of other programs; `wait` must live as long as db is open. SQLite's own
 * waiting sleeps up to 100 ms at a time, which is mostly wasted with many short writers. */
typedef struct sqlite_wait {
    uint64_t until_ns; /* of the wait that goes on */
    unsigned limit_ms;
} sqlite_wait;
void sqlite_wait_for_locks(sqlite3 *db, sqlite_wait *wait, unsigned limit_ms);

/* The functions of SQLite that are used here. */
#define SQLITE_CALLS(X)                                                                                       \
    X(bind_double)                                                                                            \
    X(bind_int64)                                                                                             \
    X(bind_null)                                                                                              \
    X(bind_text)                                                                                              \
    X(busy_handler)                                                                                           \
    X(close)                                                                                                  \
    X(column_count)                                                                                           \
    X(column_double)                                                                                          \
    X(column_int)                                                                                             \
    X(column_int64)                                                                                           \
    X(column_text)                                                                                            \
    X(column_type)                                                                                            \
    X(errcode)                                                                                                \
    X(errmsg)                                                                                                 \
    X(exec)                                                                                                   \
    X(file_control)                                                                                           \
    X(finalize)                                                                                               \
    X(last_insert_rowid)                                                                                      \
    X(open_v2)                                                                                                \
    X(prepare_v2)                                                                                             \
    X(reset)                                                                                                  \
    X(step)

typedef struct sqlite_calls {
#define X(name) __typeof__(&sqlite3_##name) name;
    SQLITE_CALLS(X)
#undef X
} sqlite_calls;

/* Fills sqlite, once; before any use of it. */
ls_status sqlite_load(ls_error *err);
extern sqlite_calls sqlite;

#endif

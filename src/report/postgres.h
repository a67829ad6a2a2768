/* postgres.h: PostgreSQL's client library, loaded when the first server is named. It is optional at build time and at
 * run time: without it a URL is refused with one line. */
#ifndef REPORT_POSTGRES_H
#define REPORT_POSTGRES_H

#include "base/arena.h"
#include "lockstep/status.h"

#include <stdbool.h>
#include <stdint.h>

/* "postgresql://..." or "postgres://...". */
bool postgres_is_url(const char *path);
/* The same URL without its password, for messages and results. A path that is no URL stays as it is. NULL without
 * memory. */
const char *postgres_public_url(mem_arena *arena, const char *url);
/* Whether the URL itself has a password, as opposed to ~/.pgpass or PGPASSWORD. */
bool postgres_has_password(const char *url);
/* "db" of "postgresql://user@host/db?options", for the names of files that go with it; "sweep" if it names none. */
const char *postgres_database(mem_arena *arena, const char *url);

#ifdef LOCKSTEP_LIBPQ
#include <libpq-fe.h>

/* The functions of libpq that are used here. */
#define POSTGRES_CALLS(X)                                                                                     \
    X(PQclear)                                                                                                \
    X(PQconnectdbParams)                                                                                      \
    X(PQconninfoFree)                                                                                         \
    X(PQconninfoParse)                                                                                        \
    X(PQerrorMessage)                                                                                         \
    X(PQexec)                                                                                                 \
    X(PQexecParams)                                                                                           \
    X(PQfinish)                                                                                               \
    X(PQfreemem)                                                                                              \
    X(PQftype)                                                                                                \
    X(PQgetResult)                                                                                            \
    X(PQgetisnull)                                                                                            \
    X(PQgetvalue)                                                                                             \
    X(PQnfields)                                                                                              \
    X(PQntuples)                                                                                              \
    X(PQputCopyData)                                                                                          \
    X(PQputCopyEnd)                                                                                           \
    X(PQresultErrorField)                                                                                     \
    X(PQresultStatus)                                                                                         \
    X(PQserverVersion)                                                                                        \
    X(PQsetNoticeProcessor)                                                                                   \
    X(PQstatus)

typedef struct postgres_calls {
#define X(name) __typeof__(&name) name;
    POSTGRES_CALLS(X)
#undef X
} postgres_calls;

extern postgres_calls postgres;
#endif

/* Fills postgres, once; before any use of it. */
ls_status postgres_load(ls_error *err);

#endif

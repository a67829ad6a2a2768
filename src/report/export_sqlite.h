/* export_sqlite.h: declarations of the two halves of the SQLite exporter: export_sqlite.c (the database, runs,
 * kernels) and export_sqlite_types.c (a table per type of block, and the views). Only these include it. */
#ifndef REPORT_EXPORT_SQLITE_H
#define REPORT_EXPORT_SQLITE_H

#include "base/vec.h"
#include "base/text.h"
#include "report/export_impl.h"
#include "report/sqlite.h"

#include <inttypes.h>

#define SQLITE_SCHEMA_VERSION 3 /* as JSON_SCHEMA; also of a server's tables */

typedef struct sqlite_out {
    sqlite3 *db;
    sqlite_wait wait;
    const char *path; /* as the user named it */
    bool is_new;      /* no other run is there, nor any table of a type */
    sqlite3_int64 run;
    sqlite3_int64 *metric_base; /* per type: the key of its first metric */
    sqlite3_int64 block_base;   /* the key of the first block of this run */
    sqlite3_int64 scope_base;   /* of the run as a whole; kernel i has the key scope_base + 1 + i */
} sqlite_out;

/* Says why a call of SQLite failed. */
ls_status sqlite_fail(const sqlite_out *o, int code, ls_error *err);
ls_status sqlite_run_sql(const sqlite_out *o, const char *sql, ls_error *err);
ls_status sqlite_prepare(const sqlite_out *o, const char *sql, sqlite3_stmt **out, ls_error *err);
/* The one number that a query gives. */
ls_status sqlite_query(const sqlite_out *o, const char *sql, sqlite3_int64 *out, ls_error *err);

/* Binds a number; above 2^63 - 1, which SQLite does not have, as decimal text. */
static inline int sqlite_bind_u64(sqlite3_stmt *s, int column, uint64_t value)
{
    if (value <= INT64_MAX)
        return sqlite.bind_int64(s, column, (sqlite3_int64)value);
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return sqlite.bind_text(s, column, text, -1, SQLITE_TRANSIENT);
}

/* Makes the tables of the run's types, or adds the columns that an earlier run did not have, and renews the views if
 * anything changed. After the run's rows in `metrics`. */
ls_status sqlite_types_prepare(const sqlite_out *o, const metric_store *m, ls_error *err);
/* The values of all scopes. */
ls_status sqlite_types_fill(const sqlite_out *o, const metric_store *m, bool per_block, ls_error *err);

/* The first columns of a type's tables: rows of a scope, and of a scope and a block. */
#define SQLITE_TYPE_TABLE_HEAD "(scope INTEGER PRIMARY KEY REFERENCES scopes(scope)"
#define SQLITE_BLOCKS_TABLE_HEAD                                                                              \
    "(scope INTEGER NOT NULL REFERENCES scopes(scope), block INTEGER NOT NULL REFERENCES blocks(block)"
/* A column of such a table. A quotient is computed from two others (above is not NULL). Zero is the default in a new
 * table of totals. An added column has none: earlier rows have no value of it. */
void sqlite_add_definition(text_buffer *sql, const char *name, bool is_extreme, const char *above,
                           const char *below, bool has_default);

/* --- export_sqlite_views.c --- */

#define SQLITE_BLOCKS_SUFFIX ".blocks" /* of a type's table of single blocks */

/* A name in double quotes, a text in single ones; quotes inside are doubled. */
void sqlite_add_quoted(text_buffer *sql, char quote, const char *name, const char *suffix);
/* Runs the text and empties it. */
ls_status sqlite_run_text(const sqlite_out *o, text_buffer *sql, ls_error *err);
/* Makes the views, for the types that the database has. */
ls_status sqlite_types_views(const sqlite_out *o, ls_error *err);

#endif
